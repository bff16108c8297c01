//! In: a measurement. Out: its manifest: a claim for a volume, and a job that measures it.

use blocklab_units::{Bytes, Nanos};
use serde_json::{Value, json};

use crate::{Mistake, yaml};

/// User and group of the container image; they own nothing else.
const USER: u32 = 65_532;

/// Where a volume with a file system is mounted.
const FOLDER: &str = "/data";

/// Where a volume without a file system appears.
const DEVICE: &str = "/dev/blocklab";

/// Most characters of a DNS label, as the name of a namespace is one.
const LONGEST_LABEL: usize = 63;

/// Most characters of a DNS subdomain, as the name of a storage class is one.
const LONGEST_SUBDOMAIN: usize = 253;

/// Most characters of a job's name: its pods and their host names are labels that begin with it, and
/// Kubernetes puts up to 11 characters behind it.
const LONGEST_NAME: usize = LONGEST_LABEL - 11;

/// How long Kubernetes keeps a finished job and its log.
const LOG_STAYS_S: u32 = 86_400;

/// What to measure, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// Name of the job and the claim.
    pub name: String,
    /// Their namespace; `None`: the current one of kubectl.
    pub namespace: Option<String>,
    /// Storage class of the volume; `None`: the default class.
    pub storage_class: Option<String>,
    /// Size of the volume.
    pub size: Bytes,
    /// A raw device instead of a file system.
    pub block: bool,
    /// Run as root, for runtimes that give raw devices to root only.
    pub as_root: bool,
    /// The container image.
    pub image: String,
    /// Labels that the node must have.
    pub node: Vec<(String, String)>,
    /// Processors, both as request and as limit.
    pub processors: u32,
    /// Memory, both as request and as limit.
    pub memory: Bytes,
    /// Kubernetes ends the job after this time, rounded up to seconds.
    pub deadline: Nanos,
    /// Pods that run at the same time, each on a node and a volume of its own.
    pub hosts: u32,
    /// Arguments of `blocklab run`, without target and output.
    pub arguments: Vec<String>,
    /// The address of what the class promises on the node, if that is known.
    pub expected: Option<String>,
}

/// The text for `kubectl apply -f -`: comments on how to use it, the claim, the job.
///
/// The pod meets the security standard *restricted*
/// (<https://kubernetes.io/docs/concepts/security/pod-security-standards/>), unless it runs as root;
/// its requests equal its limits, so its quality of service is *Guaranteed*.
///
/// # Errors
/// A name that Kubernetes would refuse.
pub fn manifest(measurement: &Measurement) -> Result<String, Mistake> {
    let name = &measurement.name;
    check_name("--name", name, LONGEST_NAME, is_label(name))?;
    if let Some(namespace) = &measurement.namespace {
        check_name("--namespace", namespace, LONGEST_LABEL, is_label(namespace))?;
    }
    if let Some(class) = &measurement.storage_class {
        let is_subdomain = class.split('.').all(is_label);
        check_name("--storage-class", class, LONGEST_SUBDOMAIN, is_subdomain)?;
    }
    if measurement.as_root && !measurement.block {
        return Err(Mistake(
            "--as-root is for --block: a file system is handed to the user of the pod by its group"
                .to_owned(),
        ));
    }
    let mut documents = vec![job(measurement)];
    // Several pods each bring the claim for a volume of their own.
    if !measurement.has_several_pods() {
        documents.insert(0, claim(measurement));
    }
    let documents: Vec<String> = documents.iter().map(yaml::text).collect();
    Ok(format!(
        "{}---\n{}",
        comments(measurement),
        documents.join("---\n")
    ))
}

impl Measurement {
    const fn has_several_pods(&self) -> bool {
        self.hosts > 1
    }

    /// The deadline in seconds: one that is begun counts as a whole one.
    const fn deadline_s(&self) -> u64 {
        self.deadline.0.div_ceil(1_000_000_000)
    }
}

/// Refuses a name that is too long or does not have its form.
fn check_name(option: &str, name: &str, longest: usize, has_form: bool) -> Result<(), Mistake> {
    if has_form && name.len() <= longest {
        Ok(())
    } else {
        Err(Mistake(format!(
            "{option} {name:?}: a name in Kubernetes has lower-case letters, digits and hyphens, \
             begins and ends with a letter or digit, and is at most {longest} characters long"
        )))
    }
}

/// Whether a text has the form of a DNS label (RFC 1123): letters, digits, and hyphens between them.
fn is_label(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with('-')
        && !text.ends_with('-')
        && text.chars().all(|c| is_lower_or_digit(c) || c == '-')
}

const fn is_lower_or_digit(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit()
}

/// The comments at the beginning: what is measured, and the commands that read the result and remove
/// everything.
fn comments(measurement: &Measurement) -> String {
    let class = match &measurement.storage_class {
        Some(class) => format!("storage class {class}"),
        None => "the default storage class".to_owned(),
    };
    let namespace = match &measurement.namespace {
        Some(namespace) => format!(" -n {namespace}"),
        None => String::new(),
    };
    let (name, size, limit) = (
        &measurement.name,
        measurement.size,
        measurement.deadline_s(),
    );
    let wait =
        format!("  kubectl wait{namespace} --for=condition=complete --timeout={limit}s job/{name}");
    let mut lines = if measurement.has_several_pods() {
        let opening = format!(
            "Measures {} volumes of {size} of {class} at once, each on a node of its own.",
            measurement.hosts
        );
        [
            vec![opening, String::new(), wait],
            for_each_pod(measurement, &namespace),
        ]
        .concat()
    } else {
        vec![
            format!("Measures a volume of {size} of {class} with blocklab."),
            String::new(),
            wait,
            format!("  kubectl logs{namespace} job/{name} | blocklab import record -"),
        ]
    };
    lines.extend(
        measurement
            .expected
            .as_ref()
            .map(|address| format!("  blocklab diagnose latest --expect '{address}'")),
    );
    lines.push(format!(
        "  kubectl delete{namespace} job,pvc -l app.kubernetes.io/instance={name}     removes the job and the volume"
    ));
    if measurement.block {
        lines.push(String::new());
        lines.extend(
            about_ownership(measurement.as_root)
                .iter()
                .map(|text| (*text).to_owned()),
        );
    }
    lines
        .iter()
        .map(|line| format!("# {line}").trim_end().to_owned() + "\n")
        .collect()
}

/// How the runs of several pods are read and merged, and how they begin together. `namespace`: the option of
/// kubectl for it, or nothing.
fn for_each_pod(measurement: &Measurement, namespace: &str) -> Vec<String> {
    let Measurement { name, hosts, .. } = measurement;
    let last = hosts - 1;
    let pod =
        format!("-l app.kubernetes.io/instance={name},batch.kubernetes.io/job-completion-index=$i");
    let mut lines = vec![
        format!("  for i in $(seq 0 {last}); do"),
        format!("    kubectl logs{namespace} --tail=-1 {pod} |"),
        format!("      blocklab import record - --name {name}-$i"),
        "  done".to_owned(),
        format!("  blocklab merge $(seq -f '{name}-%g' 0 {last}) --name {name}"),
    ];
    if !measurement
        .arguments
        .iter()
        .any(|one| one.starts_with("--start-at"))
    {
        lines.push(String::new());
        lines.push(
            "Pods begin when their nodes are ready. Behind `-- quick --start-at TIME`, with a moment"
                .to_owned(),
        );
        lines.push("at which all of them are, they begin together.".to_owned());
        lines.push(String::new());
    }
    lines
}

/// The comment in the manifest on who may open the raw device.
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

fn metadata(measurement: &Measurement) -> Value {
    let mut metadata = json!({ "name": measurement.name, "labels": labels(measurement) });
    if let Some(namespace) = &measurement.namespace {
        metadata["namespace"] = json!(namespace);
    }
    metadata
}

fn labels(measurement: &Measurement) -> Value {
    json!({
        "app.kubernetes.io/name": "blocklab",
        "app.kubernetes.io/instance": measurement.name,
    })
}

fn claim(measurement: &Measurement) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata(measurement),
        "spec": claim_spec(measurement),
    })
}

/// What the claim of the job, or that of each of several pods, requests.
fn claim_spec(measurement: &Measurement) -> Value {
    let mut spec = json!({
        "accessModes": ["ReadWriteOnce"],
        "volumeMode": if measurement.block { "Block" } else { "Filesystem" },
        "resources": { "requests": { "storage": quantity(measurement.size) } },
    });
    if let Some(class) = &measurement.storage_class {
        spec["storageClassName"] = json!(class);
    }
    spec
}

/// The volume of a pod: the claim of the measurement, or with several pods one that comes and goes with
/// each.
fn volume(measurement: &Measurement) -> Value {
    if !measurement.has_several_pods() {
        let claim = json!({ "claimName": measurement.name });
        return json!({ "name": "volume", "persistentVolumeClaim": claim });
    }
    let template = json!({
        "metadata": { "labels": labels(measurement) },
        "spec": claim_spec(measurement),
    });
    json!({ "name": "volume", "ephemeral": { "volumeClaimTemplate": template } })
}

fn job(measurement: &Measurement) -> Value {
    let mut pod = json!({
        "restartPolicy": "Never",
        "automountServiceAccountToken": false,
        "securityContext": security(measurement),
        "containers": [container(measurement)],
        "volumes": [
            volume(measurement),
            // The run is stored here as well, although the log carries it out of the pod.
            { "name": "runs", "emptyDir": {} },
            { "name": "tmp", "emptyDir": {} },
        ],
    });
    if !measurement.node.is_empty() {
        let labels = measurement
            .node
            .iter()
            .map(|(key, value)| (key.clone(), json!(value)));
        pod["nodeSelector"] = Value::Object(labels.collect());
    }
    if measurement.has_several_pods() {
        // Two pods on one node would share its bandwidth to its volumes.
        pod["topologySpreadConstraints"] = json!([{
            "maxSkew": 1,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": { "matchLabels": labels(measurement) },
        }]);
    }
    let mut spec = json!({
        "backoffLimit": 0,
        "activeDeadlineSeconds": measurement.deadline_s(),
        "ttlSecondsAfterFinished": LOG_STAYS_S,
        "template": { "metadata": { "labels": labels(measurement) }, "spec": pod },
    });
    if measurement.has_several_pods() {
        spec["completionMode"] = json!("Indexed");
        spec["completions"] = json!(measurement.hosts);
        spec["parallelism"] = json!(measurement.hosts);
    }
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata(measurement),
        "spec": spec,
    })
}

fn security(measurement: &Measurement) -> Value {
    let user = if measurement.as_root { 0 } else { USER };
    json!({
        "runAsNonRoot": !measurement.as_root,
        "runAsUser": user,
        "runAsGroup": user,
        "fsGroup": user,
        "seccompProfile": { "type": "RuntimeDefault" },
    })
}

fn container(measurement: &Measurement) -> Value {
    let target = if measurement.block { DEVICE } else { FOLDER };
    let mut arguments = vec!["run".to_owned()];
    arguments.extend(measurement.arguments.iter().cloned());
    arguments.extend(["--target", target, "--quiet", "--json-lines"].map(str::to_owned));
    let resources = json!({ "cpu": measurement.processors.to_string(), "memory": quantity(measurement.memory) });
    let mut container = json!({
        "name": "blocklab",
        "image": measurement.image,
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
    if measurement.block {
        container["volumeDevices"] = json!([{ "name": "volume", "devicePath": DEVICE }]);
    } else {
        let mount = json!({ "name": "volume", "mountPath": FOLDER });
        let mounts = container["volumeMounts"].as_array_mut().expect("a list");
        mounts.insert(0, mount);
    }
    container
}

/// `100Gi` or `512Mi` where that is exact, else bytes.
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
