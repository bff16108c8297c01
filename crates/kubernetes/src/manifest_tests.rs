//! Manifests are read back as typed objects in which every field that is not of Kubernetes's
//! interface is an error (<https://kubernetes.io/docs/reference/kubernetes-api/>).

#![allow(dead_code, reason = "fields are there to be parsed")]

use std::collections::BTreeMap;

use serde::Deserialize;

use super::*;

type Labels = BTreeMap<String, String>;

#[derive(Deserialize)]
#[serde(tag = "kind", deny_unknown_fields)]
enum Object {
    PersistentVolumeClaim {
        #[serde(rename = "apiVersion")]
        version: String,
        metadata: Metadata,
        spec: ClaimSpec,
    },
    Job {
        #[serde(rename = "apiVersion")]
        version: String,
        metadata: Metadata,
        spec: JobSpec,
    },
}

macro_rules! object {
    ($name:ident { $($field:ident: $type:ty),* $(,)? }) => {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields, rename_all = "camelCase")]
        struct $name { $($field: $type),* }
    };
}

object!(Metadata { name: String, namespace: Option<String>, labels: Labels });
object!(ClaimSpec {
    access_modes: Vec<String>,
    volume_mode: String,
    resources: ClaimResources,
    storage_class_name: Option<String>,
});
object!(ClaimResources { requests: Labels });
object!(JobSpec {
    backoff_limit: u32,
    active_deadline_seconds: u64,
    ttl_seconds_after_finished: u32,
    template: Template,
});
object!(Template {
    metadata: TemplateMetadata,
    spec: PodSpec
});
object!(TemplateMetadata { labels: Labels });
object!(PodSpec {
    restart_policy: String,
    automount_service_account_token: bool,
    security_context: PodSecurity,
    containers: Vec<Container>,
    volumes: Vec<Volume>,
    node_selector: Option<Labels>,
});
object!(PodSecurity {
    run_as_non_root: bool,
    run_as_user: u32,
    run_as_group: u32,
    fs_group: u32,
    seccomp_profile: Profile,
});
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Profile {
    r#type: String,
}
object!(Container {
    name: String,
    image: String,
    args: Vec<String>,
    resources: Resources,
    security_context: Security,
    volume_mounts: Vec<Mount>,
    volume_devices: Option<Vec<Raw>>,
});
object!(Resources {
    requests: Labels,
    limits: Labels
});
object!(Security {
    allow_privilege_escalation: bool,
    read_only_root_filesystem: bool,
    capabilities: Capabilities,
});
object!(Capabilities { drop: Vec<String> });
object!(Mount {
    name: String,
    mount_path: String
});
object!(Raw {
    name: String,
    device_path: String
});
object!(Volume {
    name: String,
    persistent_volume_claim: Option<Claimed>,
    empty_dir: Option<BTreeMap<String, String>>,
});
object!(Claimed { claim_name: String });

fn measurement() -> Measurement {
    Measurement {
        name: "disk".to_owned(),
        namespace: None,
        storage_class: Some("gp3".to_owned()),
        size: Bytes(100 << 30),
        block: false,
        as_root: false,
        image: "blocklab:0.1.0".to_owned(),
        node: Vec::new(),
        processors: 2,
        memory: Bytes::GIB,
        deadline: Nanos::from_secs(3600),
        hosts: 1,
        arguments: Vec::new(),
        expected: None,
    }
}

#[track_caller]
fn objects(given: &Measurement) -> (ClaimSpec, JobSpec, String) {
    let text = manifest(given).expect("it can be made");
    let documents = serde_yaml_ng::Deserializer::from_str(&text);
    // Ahead of the first `---` there are comments alone.
    let values =
        documents.map(|document| serde_yaml_ng::Value::deserialize(document).expect("YAML"));
    let objects = values.filter(|value| !value.is_null());
    let parsed: Vec<Object> = objects
        .map(|object| serde_yaml_ng::from_value(object).unwrap_or_else(|e| panic!("{e}: {text}")))
        .collect();
    match <[Object; 2]>::try_from(parsed) {
        Ok(
            [
                Object::PersistentVolumeClaim { spec: claim, .. },
                Object::Job { spec: job, .. },
            ],
        ) => (claim, job, text),
        _ => panic!("a claim and a job: {text}"),
    }
}

#[test]
fn the_pod_keeps_the_restricted_standard() {
    let (claim, job, _) = objects(&measurement());
    assert_eq!(claim.resources.requests["storage"], "100Gi");
    assert_eq!(claim.volume_mode, "Filesystem");
    let pod = job.template.spec;
    assert!(pod.security_context.run_as_non_root);
    assert_eq!(
        pod.security_context.seccomp_profile.r#type,
        "RuntimeDefault"
    );
    let container = &pod.containers[0];
    assert!(!container.security_context.allow_privilege_escalation);
    assert_eq!(container.security_context.capabilities.drop, ["ALL"]);
    assert_eq!(container.resources.requests, container.resources.limits);
    assert_eq!(container.volume_mounts[0].mount_path, FOLDER);
    assert_eq!(
        container.args,
        ["run", "--target", "/data", "--quiet", "--json-lines"]
    );
}

#[test]
fn a_raw_device_is_no_mount() {
    let mut given = measurement();
    given.block = true;
    given.node = vec![("kubernetes.io/hostname".to_owned(), "n1".to_owned())];
    given.arguments = vec!["quick".to_owned(), "--runtime".to_owned(), "30s".to_owned()];
    let (claim, job, text) = objects(&given);
    assert_eq!(claim.volume_mode, "Block");
    let pod = job.template.spec;
    let container = &pod.containers[0];
    let devices = container.volume_devices.as_ref().expect("a device");
    assert_eq!(devices[0].device_path, DEVICE);
    assert!(
        container
            .volume_mounts
            .iter()
            .all(|volume_mount| volume_mount.name != "volume")
    );
    assert_eq!(
        pod.node_selector.expect("labels")["kubernetes.io/hostname"],
        "n1"
    );
    assert!(
        text.contains("device_ownership_from_security_context"),
        "{text}"
    );
    given.as_root = true;
    let (_, job, text) = objects(&given);
    assert!(!job.template.spec.security_context.run_as_non_root);
    assert!(text.contains("runs as root"), "{text}");
}

/// One claim could not be mounted by pods of several nodes, and the log of a job is that of one pod.
#[test]
fn several_hosts_are_an_indexed_job_with_a_volume_each() {
    let given = Measurement {
        hosts: 3,
        ..measurement()
    };
    let text = manifest(&given).expect("it can be made");
    let documents = serde_yaml_ng::Deserializer::from_str(&text);
    let values =
        documents.map(|document| serde_yaml_ng::Value::deserialize(document).expect("YAML"));
    let objects: Vec<_> = values.filter(|value| !value.is_null()).collect();
    let [job] = &objects[..] else {
        panic!("a job alone: {text}");
    };
    let spec = &job["spec"];
    assert_eq!(spec["completionMode"], "Indexed");
    assert_eq!(
        (spec["completions"].as_u64(), spec["parallelism"].as_u64()),
        (Some(3), Some(3))
    );
    let pod = &spec["template"]["spec"];
    let claim = &pod["volumes"][0]["ephemeral"]["volumeClaimTemplate"];
    assert_eq!(claim["spec"]["storageClassName"], "gp3");
    // What spreads the pods, and removes their volumes, finds them by these labels.
    let labels = &spec["template"]["metadata"]["labels"];
    assert_eq!(&claim["metadata"]["labels"], labels);
    let spread = &pod["topologySpreadConstraints"][0];
    assert_eq!(&spread["labelSelector"]["matchLabels"], labels);
    assert!(text.contains("# ") && text.contains("seq 0 2") && text.contains("--start-at TIME"));
    let together = Measurement {
        arguments: ["quick", "--start-at", "2026-12-01T12:00:00Z"]
            .map(str::to_owned)
            .to_vec(),
        ..given
    };
    let text = manifest(&together).expect("it can be made");
    assert!(!text.contains("--start-at TIME"), "{text}");
}

/// With `--deadline 500ms`, `kubectl wait` was to give up at once on a job that had a second.
#[test]
fn the_wait_lasts_as_long_as_the_job_may() {
    let given = Measurement {
        deadline: Nanos::from_millis(500),
        ..measurement()
    };
    let (_, job, text) = objects(&given);
    assert_eq!(job.active_deadline_seconds, 1);
    assert!(text.contains("--timeout=1s "), "{text}");
}

/// The text as people see it; BLESS=1 writes it anew.
#[test]
fn the_text_is_the_golden_one() {
    let mut given = measurement();
    given.namespace = Some("bench".to_owned());
    given.expected = Some("gp3:100GiB,iops=6000@m5.large".to_owned());
    let text = manifest(&given).expect("it can be made");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/golden/manifest.yaml");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &text).expect("the golden text");
    }
    assert_eq!(
        text,
        std::fs::read_to_string(path).expect("the golden text")
    );
}

/// A name with a line break would have been a line of the manifest.
#[test]
fn names_that_kubernetes_refuses_are_refused_here() {
    for name in [
        "",
        "Disk",
        "a b",
        "-a",
        "a-",
        "a\nkind: Pod",
        "a.b",
        &"a".repeat(53),
    ] {
        let given = Measurement {
            name: name.to_owned(),
            ..measurement()
        };
        assert!(manifest(&given).is_err(), "{name:?}");
    }
    for (length, fits) in [(63, true), (64, false)] {
        let given = Measurement {
            namespace: Some("n".repeat(length)),
            ..measurement()
        };
        assert_eq!(manifest(&given).is_ok(), fits, "{length}");
    }
    for (class, fits) in [
        ("fast.example-1", true),
        // Kubernetes refuses these, too: each part between dots is a label.
        ("fast..example", false),
        ("fast.-example", false),
        (".fast", false),
    ] {
        let given = Measurement {
            storage_class: Some(class.to_owned()),
            ..measurement()
        };
        assert_eq!(manifest(&given).is_ok(), fits, "{class}");
    }
    let given = Measurement {
        as_root: true,
        ..measurement()
    };
    assert!(manifest(&given).is_err());
}
