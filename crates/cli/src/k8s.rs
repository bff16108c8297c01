//! `blocklab k8s`: a manifest that measures a storage class, and what the class promises.

use std::io;
use std::path::Path;

use anyhow::{Context, Result, bail};
use blocklab_catalog::resolve_text;
use blocklab_console::{place, terminal};
use blocklab_host::{read_at_most, read_input};
use blocklab_kubernetes::{Measurement, address, manifest};
use blocklab_units::Bytes;

use blocklab_args::{K8sArgs, K8sCommand, K8sManifestArgs};

/// Prints a manifest, or the address that a storage class promises.
pub fn k8s(args: &K8sArgs) -> Result<()> {
    match &args.command {
        K8sCommand::Manifest(args) => terminal::print(manifest(&measurement(args)?)?),
        K8sCommand::Expect(args) => {
            let address = expected(&args.class_json, args.node_json.as_deref(), args.size)?;
            terminal::print(address + "\n")
        }
    }
}

/// What the manifest measures and with which resources.
fn measurement(args: &K8sManifestArgs) -> Result<Measurement> {
    let expected = match &args.class_json {
        Some(class) => Some(expected(class, args.node_json.as_deref(), args.size)?),
        None => None,
    };
    Ok(Measurement {
        name: args.name.clone(),
        namespace: args.namespace.clone(),
        storage_class: args.storage_class.clone(),
        size: args.size,
        block: args.block,
        as_root: args.as_root,
        image: args.image.clone(),
        node: args.node_label.clone(),
        processors: args.cpus.get(),
        memory: args.memory,
        deadline: args.deadline,
        hosts: args.hosts.get(),
        arguments: args.arguments.clone(),
        expected,
    })
}

/// The address of the volume that a class (and a node) promises, if the catalog knows it.
fn expected(class: &Path, node: Option<&Path>, size: Bytes) -> Result<String> {
    // Standard input can be read only once.
    if class == Path::new("-") && node == Some(class) {
        bail!("the standard input is either the class or the node; put one of them into a file");
    }
    let class_text = read(class)?;
    let node_text = node.map(read).transpose()?;
    let names = match node {
        Some(node) => format!("{} and {}", class.display(), node.display()),
        None => class.display().to_string(),
    };
    let found = address(&class_text, node_text.as_deref(), size).with_context(|| names.clone())?;
    // The error marks places in the address by position, so its text starts on a line of its own.
    resolve_text(&found, &place::load_catalog()?)
        .map_err(|error| anyhow::anyhow!("the catalog refuses the address of {names}:\n{error}"))?;
    Ok(found)
}

/// More than kubectl prints of one object.
const LARGEST: Bytes = Bytes(16 << 20);

/// The text of a file, or of the standard input (`-`).
fn read(path: &Path) -> Result<String> {
    let name = path.display();
    let bytes = if path == Path::new("-") {
        read_at_most(io::stdin().lock(), LARGEST)
    } else {
        read_input(path, LARGEST)
    };
    let bytes = bytes.with_context(|| format!("cannot read {name}"))?;
    String::from_utf8(bytes).with_context(|| format!("cannot read {name}"))
}
