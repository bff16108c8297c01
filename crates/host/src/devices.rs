//! All block devices of the machine for `blocklab devices`, each with the verdict that a run would
//! get.

use serde::Serialize;

use crate::block::Node;
use crate::check::{Use, check_device};
use crate::guard::Content;
use crate::machine::Machine;
use crate::memory::Memory;
use crate::mounts::Mount;
use crate::reason::Reason;
use crate::signatures::Signature;

/// Whether blocklab would agree to write to a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// It would, without having to name it.
    pub writes: bool,
    /// Every reason why not, in plain words.
    pub reasons: Vec<String>,
}

/// A block device, what it is made of and used for, and whether it may be written to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Device {
    /// What it is, and what it is made of.
    #[serde(flatten)]
    pub node: Node,
    /// File systems on it that are mounted.
    pub mounts: Vec<Mount>,
    /// In use as swap.
    pub swap: bool,
    /// Marks found on it; also empty where it cannot be read, which the verdict shows.
    pub signatures: Vec<Signature>,
    /// Whether it may be written to.
    pub verdict: Verdict,
}

/// All block devices of the machine: disks by name, each followed by its partitions. Loop devices
/// that show nothing are left out. `memory` knows what earlier runs left on them.
pub fn devices(memory: Option<&Memory>) -> Vec<Device> {
    let machine = Machine::snapshot();
    let nodes = machine.nodes.iter().filter(|node| is_there(node));
    nodes.map(|node| device(&machine, node, memory)).collect()
}

/// Whether a device is worth listing: the kernel keeps a few empty loop and ram devices in stock.
fn is_there(node: &Node) -> bool {
    let in_stock = ["loop", "ram", "nbd"].contains(&node.facts.transport.as_str());
    !in_stock || node.has_capacity() || node.backing_file.is_some()
}

/// A device with what speaks against writing to it.
fn device(machine: &Machine, node: &Node, memory: Option<&Memory>) -> Device {
    let name = &node.facts.name;
    let path = machine.open_path(name);
    let found_reasons = check_device(machine, node, &path, &path, Use::Unknown);
    let reasons = found_reasons.own.iter().chain(&found_reasons.around);
    let mut reasons: Vec<String> = reasons.map(ToString::to_string).collect();
    if found_reasons.own.is_empty()
        && let Content::Data(cause) = Content::found_on(machine, node, &path, memory)
    {
        let subject = node.path.clone();
        reasons.push(Reason { subject, cause }.to_string());
    }
    Device {
        node: node.clone(),
        mounts: machine.mounts_on(name).into_iter().cloned().collect(),
        swap: machine.is_swap(name),
        signatures: found_reasons.signatures,
        verdict: Verdict {
            writes: reasons.is_empty(),
            reasons,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::tree::Tree;

    #[test]
    fn stock_loops_are_left_out_and_used_ones_are_not() {
        let tree = Tree::new();
        tree.disk("loop0", "7:0", 0);
        tree.disk("loop1", "7:1", 1 << 20);
        tree.put("/sys/block/loop1/loop/backing_file", "/var/x.img\n");
        tree.disk("zram0", "253:0", 0);
        let machine = tree.machine();
        let shown: Vec<_> = machine.nodes.iter().filter(|node| is_there(node)).collect();
        let names: Vec<_> = shown.iter().map(|node| node.facts.name.as_str()).collect();
        assert_eq!(names, ["loop1", "zram0"]);
    }

    #[test]
    fn a_device_as_json_is_flat_and_tells_the_verdict() {
        let tree = Tree::new();
        tree.disk("sda", "8:0", 1 << 20);
        tree.write("sda", 0, b"XFSB");
        let machine = tree.machine();
        let json = serde_json::to_value(device(&machine, &machine.nodes[0], None)).unwrap();
        assert_eq!(json["name"], "sda");
        assert_eq!(json["size_bytes"], 1 << 20);
        assert_eq!(json["signatures"][0]["kind"], "xfs");
        assert_eq!(json["verdict"]["writes"], false);
    }

    #[test]
    fn this_machine_is_looked_at_without_harm() {
        let names: Vec<String> = devices(None)
            .into_iter()
            .map(|d| d.node.facts.name)
            .collect();
        let again: Vec<String> = devices(None)
            .into_iter()
            .map(|d| d.node.facts.name)
            .collect();
        assert!(names.iter().all(|name| !name.is_empty()));
        // Other tests attach loop devices meanwhile.
        let fixed = |names: &[String]| -> Vec<String> {
            let kept = names.iter().filter(|name| !name.starts_with("loop"));
            kept.cloned().collect()
        };
        assert_eq!(fixed(&names), fixed(&again));
    }
}
