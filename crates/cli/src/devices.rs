//! `blocklab devices`: the machine's block devices, and whether a run may write to them.

use blocklab_host::Device;
use blocklab_record::BlockDevice;
use blocklab_store::Store;

use crate::answer;
use blocklab_args::DevicesArgs;
use blocklab_console::place;
use blocklab_report::document::{Column, Document, Part};
use blocklab_report::fields;

/// Shows the machine's block devices, and whether blocklab would write to them.
pub fn run(args: &DevicesArgs, store: Option<&Store>) -> anyhow::Result<()> {
    let memory = store.map(place::memory);
    let devices = blocklab_host::devices(memory.as_ref());
    let fields = fields! { devices_format: 1, devices: &devices };
    answer::print(args.form, &fields, || document(&devices))
}

/// A table of all devices; below it, for each that is not written to, the reasons.
fn document(devices: &[Device]) -> Document {
    let mut parts = Vec::new();
    if devices.is_empty() {
        parts.push(Part::Prose(
            "This machine shows no block devices.".to_owned(),
        ));
    }
    let columns = [
        Column::words("NAME"),
        Column::figure("SIZE"),
        Column::words("MODEL"),
        Column::words("TYPE"),
        Column::words("ROTATIONAL"),
        Column::words("SCHED"),
        Column::words("LOG/PHYS"),
        Column::words("FS/MOUNT"),
        Column::words("WRITE?"),
    ];
    parts.push(Part::table(columns, devices.iter().map(row)));
    let refused = devices.iter().filter(|device| !device.verdict.writes);
    for device in refused.clone() {
        let title = format!("{} is not written to:", device.node.facts.name);
        parts.push(Part::lines(title, &device.verdict.reasons));
    }
    if refused.count() > 0 {
        let way_out = "Reading is always allowed. --destroy-data=NAME-OR-SERIAL allows overwriting a \
                       device.";
        parts.push(Part::Prose(way_out.to_owned()));
    }
    Document {
        name: "Block devices".to_owned(),
        parts,
    }
}

fn row(device: &Device) -> [String; 9] {
    let facts = &device.node.facts;
    let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".into());
    let nested = if device.node.parent.is_some() {
        "  "
    } else {
        ""
    };
    [
        format!("{nested}{}", facts.name),
        facts.size_bytes.to_string(),
        or_dash(&facts.model),
        kind(device),
        rotational(facts),
        or_dash(&facts.scheduler),
        // In bytes: `512/4096`.
        format!(
            "{}/{}",
            facts.logical_block_bytes.0, facts.physical_block_bytes.0
        ),
        content(device),
        yes_no(device.verdict.writes),
    ]
}

fn yes_no(value: bool) -> String {
    if value { "yes" } else { "no" }.to_owned()
}

/// Whether a disk rotates. A virtio disk always says that it does, so nothing is known about it.
fn rotational(facts: &BlockDevice) -> String {
    if facts.transport == "virtio" && facts.rotational {
        "unknown".to_owned()
    } else {
        yes_no(facts.rotational)
    }
}

/// The transport and the cloud service of a device, such as `nvme, ebs`.
fn kind(device: &Device) -> String {
    let facts = &device.node.facts;
    match &facts.cloud {
        Some(cloud) => format!("{}, {cloud}", facts.transport),
        None => facts.transport.clone(),
    }
}

/// What is on a device: mount, swap, or what its signatures show. What is in use comes first.
fn content(device: &Device) -> String {
    if let Some(mount) = device.mounts.first() {
        let more = match device.mounts.len() {
            1 => String::new(),
            all => format!(" +{}", all - 1),
        };
        return format!("{} on {}{more}", mount.kind, mount.point.display());
    }
    if device.swap {
        return "swap, in use".into();
    }
    let mut names: Vec<&str> = Vec::new();
    for signature in &device.signatures {
        if !names.contains(&signature.kind.name()) {
            names.push(signature.kind.name());
        }
    }
    match (names.as_slice(), &device.node.backing_file) {
        ([], Some(file)) => format!("({})", file.display()),
        ([], None) => "-".into(),
        (names, _) => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use blocklab_host::{Mount, Node, Verdict};
    use blocklab_report::document::Form;
    use blocklab_units::{Bytes, Style};

    use super::*;

    fn text(devices: &[Device]) -> String {
        document(devices).print(Form::Text(Style::default()))
    }

    fn volume(name: &str) -> Device {
        Device {
            node: Node {
                facts: BlockDevice {
                    name: name.into(),
                    model: Some("Amazon Elastic Block Store".into()),
                    size_bytes: Bytes(8 << 30),
                    logical_block_bytes: Bytes(512),
                    physical_block_bytes: Bytes(4096),
                    scheduler: Some("none".into()),
                    cloud: Some("ebs".into()),
                    transport: "nvme".into(),
                    ..BlockDevice::default()
                },
                path: format!("/dev/{name}").into(),
                ..Node::default()
            },
            mounts: Vec::new(),
            swap: false,
            signatures: Vec::new(),
            verdict: Verdict {
                writes: true,
                reasons: Vec::new(),
            },
        }
    }

    #[test]
    fn a_table_with_the_reasons_below_it() {
        let mut root = volume("nvme0n1");
        root.mounts = vec![Mount {
            kind: "ext4".into(),
            point: "/".into(),
            options: "rw".into(),
            ..Mount::default()
        }];
        root.verdict = Verdict {
            writes: false,
            reasons: vec!["/dev/nvme0n1 holds a mounted ext4 file system (on /)".into()],
        };
        let expected = "\
NAME      SIZE  MODEL                       TYPE       ROTATIONAL  SCHED  LOG/PHYS  FS/MOUNT   WRITE?
nvme0n1  8 GiB  Amazon Elastic Block Store  nvme, ebs  no          none   512/4096  ext4 on /  no
nvme1n1  8 GiB  Amazon Elastic Block Store  nvme, ebs  no          none   512/4096  -          yes

nvme0n1 is not written to:
  - /dev/nvme0n1 holds a mounted ext4 file system (on /)

Reading is always allowed. --destroy-data=NAME-OR-SERIAL allows overwriting a
device.
";
        assert_eq!(text(&[root, volume("nvme1n1")]), expected);
    }

    /// The story: a cloud volume on flash was listed as a spinning disk, because virtio reports so for
    /// every disk whose host does not know.
    #[test]
    fn what_a_virtual_disk_says_of_its_rotation_is_not_believed() {
        let of = |transport: &str, rotational| {
            let facts = BlockDevice {
                transport: transport.into(),
                rotational,
                ..BlockDevice::default()
            };
            super::rotational(&facts)
        };
        assert_eq!(of("virtio", true), "unknown");
        assert_eq!(of("virtio", false), "no");
        assert_eq!(of("sata", true), "yes");
    }

    #[test]
    fn a_machine_without_devices_says_so() {
        assert_eq!(text(&[]), "This machine shows no block devices.\n");
    }

    #[test]
    fn many_mounts_are_counted_and_one_is_shown() {
        let mut device = volume("sda");
        let mount = |point: &str| Mount {
            kind: "xfs".into(),
            point: point.into(),
            ..Mount::default()
        };
        device.mounts = vec![mount("/srv"), mount("/srv/a")];
        assert_eq!(content(&device), "xfs on /srv +1");
        device.mounts.clear();
        device.swap = true;
        assert_eq!(content(&device), "swap, in use");
    }
}
