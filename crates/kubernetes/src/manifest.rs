//! The manifest: a claim for a volume, and a job that measures it.

use blocklab_units::{Bytes, Nanos};
use serde_json::{Value, json};

use crate::{Mistake, yaml};

/// User and group of the container image, which own nothing else.
const USER: u32 = 65_532;

/// Where a volume with a file system is mounted.
const FOLDER: &str = "/data";

/// Where a volume without one appears.
const DEVICE: &str = "/dev/blocklab";

/// How long a finished job and its log stay.
const LOG_STAYS_S: u32 = 86_400;

/// What is to be measured, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// Name of the job and the claim.
    pub name: String,
    /// Where they are made; `None`: where kubectl points to.
    pub namespace: Option<String>,
    /// Its volume is claimed; `None`: the default class.
    pub storage_class: Option<String>,
    /// Size of the volume.
    pub size: Bytes,
    /// A raw device instead of a file system.
    pub block: bool,
    /// Run as root, where the runtime gives raw devices to nobody else.
    pub as_root: bool,
    /// The container image.
    pub image: String,
    /// Labels that the node must have.
    pub node: Vec<(String, String)>,
    /// Processors and memory, asked for and never exceeded.
    pub processors: u32,
    /// See `processors`.
    pub memory: Bytes,
    /// The job is ended after so long.
    pub deadline: Nanos,
    /// Arguments of `blocklab run`, ahead of target and output.
    pub arguments: Vec<String>,
    /// What the class promises on the node, where that is known: an address.
    pub expected: Option<String>,
}

/// The text for `kubectl apply -f -`: comments on how to use it, the claim, the job.
///
/// The pod keeps the security standard *restricted*
/// (<https://kubernetes.io/docs/concepts/security/pod-security-standards/>), unless it runs as root;
/// its requests equal its limits, so its quality of service is *Guaranteed*.
///
/// # Errors
/// Names that Kubernetes does not take.
pub fn manifest(of: &Measurement) -> Result<String, Mistake> {
    check("--name", &of.name, 52, false)?;
    for (option, name) in [
        ("--namespace", &of.namespace),
        ("--storage-class", &of.storage_class),
    ] {
        if let Some(name) = name {
            check(option, name, 253, option == "--storage-class")?;
        }
    }
    if of.as_root && !of.block {
        return Err(Mistake(
            "--as-root is for --block: a file system is handed to the user of the pod by its group"
                .to_owned(),
        ));
    }
    let documents = [claim(of), job(of)].map(|document| yaml::text(&document));
    Ok(format!("{}---\n{}", comments(of), documents.join("---\n")))
}

/// RFC 1123: what names of Kubernetes are made of.
fn check(option: &str, name: &str, longest: usize, dots: bool) -> Result<(), Mistake> {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let fits = !name.is_empty()
        && name.len() <= longest
        && name.starts_with(inner)
        && name.ends_with(inner)
        && name
            .chars()
            .all(|c| inner(c) || c == '-' || (dots && c == '.'));
    if fits {
        Ok(())
    } else {
        Err(Mistake(format!(
            "{option} {name:?}: names of Kubernetes have lower-case letters, digits and hyphens, \
             begin and end with a letter or digit, and are at most {longest} long"
        )))
    }
}

fn comments(of: &Measurement) -> String {
    let class = match &of.storage_class {
        Some(class) => format!("storage class {class}"),
        None => "the default storage class".to_owned(),
    };
    let space = match &of.namespace {
        Some(namespace) => format!(" -n {namespace}"),
        None => String::new(),
    };
    let (name, size, limit) = (&of.name, of.size, of.deadline.0 / 1_000_000_000);
    let mut lines = vec![
        format!("Measures a volume of {size} of {class} with blocklab."),
        String::new(),
        format!("  kubectl wait{space} --for=condition=complete --timeout={limit}s job/{name}"),
        format!("  kubectl logs{space} job/{name} | blocklab import record -"),
    ];
    lines.extend(
        of.expected
            .as_ref()
            .map(|address| format!("  blocklab diagnose latest --expect '{address}'")),
    );
    lines.push(format!(
        "  kubectl delete{space} job,pvc -l app.kubernetes.io/instance={name}     removes it all, the volume too"
    ));
    if of.block {
        lines.push(String::new());
        lines.extend(
            about_ownership(of.as_root)
                .iter()
                .map(|text| (*text).to_owned()),
        );
    }
    let comment = |line: &String| format!("# {line}").trim_end().to_owned() + "\n";
    lines.iter().map(comment).collect()
}

const fn about_ownership(as_root: bool) -> &'static [&'static str] {
    if as_root {
        &[
            "The pod runs as root, so that it may open the raw device: namespaces that enforce the",
            "security standard `restricted` refuse it.",
        ]
    } else {
        &[
            "The pod does not run as root. It may open the raw device only where the container",
            "runtime gives devices to the user of the pod (containerd and CRI-O:",
            "device_ownership_from_security_context = true); elsewhere: --as-root.",
        ]
    }
}

fn metadata(of: &Measurement) -> Value {
    let mut metadata = json!({ "name": of.name, "labels": labels(of) });
    if let Some(namespace) = &of.namespace {
        metadata["namespace"] = json!(namespace);
    }
    metadata
}

fn labels(of: &Measurement) -> Value {
    json!({
        "app.kubernetes.io/name": "blocklab",
        "app.kubernetes.io/instance": of.name,
    })
}

fn claim(of: &Measurement) -> Value {
    let mut spec = json!({
        "accessModes": ["ReadWriteOnce"],
        "volumeMode": if of.block { "Block" } else { "Filesystem" },
        "resources": { "requests": { "storage": quantity(of.size) } },
    });
    if let Some(class) = &of.storage_class {
        spec["storageClassName"] = json!(class);
    }
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata(of),
        "spec": spec,
    })
}

fn job(of: &Measurement) -> Value {
    let mut pod = json!({
        "restartPolicy": "Never",
        "automountServiceAccountToken": false,
        "securityContext": security(of),
        "containers": [container(of)],
        "volumes": [
            { "name": "volume", "persistentVolumeClaim": { "claimName": of.name } },
            // Runs are kept here until the log is read.
            { "name": "runs", "emptyDir": {} },
            { "name": "tmp", "emptyDir": {} },
        ],
    });
    if !of.node.is_empty() {
        let labels = of
            .node
            .iter()
            .map(|(key, value)| (key.clone(), json!(value)));
        pod["nodeSelector"] = Value::Object(labels.collect());
    }
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata(of),
        "spec": {
            "backoffLimit": 0,
            "activeDeadlineSeconds": of.deadline.0.div_ceil(1_000_000_000),
            "ttlSecondsAfterFinished": LOG_STAYS_S,
            "template": { "metadata": { "labels": labels(of) }, "spec": pod },
        },
    })
}

fn security(of: &Measurement) -> Value {
    let user = if of.as_root { 0 } else { USER };
    json!({
        "runAsNonRoot": !of.as_root,
        "runAsUser": user,
        "runAsGroup": user,
        "fsGroup": user,
        "seccompProfile": { "type": "RuntimeDefault" },
    })
}

fn container(of: &Measurement) -> Value {
    let target = if of.block { DEVICE } else { FOLDER };
    let mut arguments = vec!["run".to_owned()];
    arguments.extend(of.arguments.iter().cloned());
    arguments.extend(["--target", target, "--quiet", "--json-lines"].map(str::to_owned));
    let resources = json!({ "cpu": of.processors.to_string(), "memory": quantity(of.memory) });
    let mut container = json!({
        "name": "blocklab",
        "image": of.image,
        "args": arguments,
        "resources": { "requests": resources, "limits": resources },
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "capabilities": { "drop": ["ALL"] },
        },
        "volumeMounts": [
            { "name": "runs", "mountPath": "/runs" },
            { "name": "tmp", "mountPath": "/tmp" },
        ],
    });
    if of.block {
        container["volumeDevices"] = json!([{ "name": "volume", "devicePath": DEVICE }]);
    } else {
        let mount = json!({ "name": "volume", "mountPath": FOLDER });
        let mounts = container["volumeMounts"].as_array_mut().expect("a list");
        mounts.insert(0, mount);
    }
    container
}

/// `100Gi`; what is no whole number of GiB, in bytes.
fn quantity(bytes: Bytes) -> String {
    match bytes.0 {
        gib if gib > 0 && gib.is_multiple_of(1 << 30) => format!("{}Gi", gib >> 30),
        mib if mib > 0 && mib.is_multiple_of(1 << 20) => format!("{}Mi", mib >> 20),
        bytes => bytes.to_string(),
    }
}

#[cfg(test)]
#[path = "manifest_tests.rs"]
mod tests;
