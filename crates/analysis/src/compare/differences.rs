use blocklab_record::{Record, Status, TargetKind};
use serde::Serialize;

/// Something around the loads that is not the same in all runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// `origin`, `target`, `kernel`.
    pub what: &'static str,
    /// One a run, in the order given.
    pub values: Vec<String>,
    /// Why figures may differ for this reason alone; `None`: it is only told.
    pub warning: Option<&'static str>,
}

struct Aspect {
    what: &'static str,
    warning: Option<&'static str>,
    of: fn(&Record) -> String,
}

const ASPECTS: [Aspect; 10] = [
    Aspect {
        what: "status",
        warning: Some("a run did not end as planned: it may lack passes or cases."),
        of: |record| {
            let status = match record.status {
                Status::Complete => "complete",
                Status::Interrupted => "interrupted",
                Status::Failed => "failed",
            };
            status.to_owned()
        },
    },
    Aspect {
        what: "origin",
        warning: Some(
            "predictions stand beside measurements: a difference may be the model's error.",
        ),
        of: |record| {
            let origin = record.origin.name();
            origin.to_owned()
        },
    },
    Aspect {
        what: "target",
        warning: Some("what is compared are the targets, if nothing else differs."),
        of: targets,
    },
    Aspect {
        what: "size",
        warning: Some("the span that is worked on decides how much a cache can hold."),
        of: |record| each(record, |target| target.size_bytes.to_string()),
    },
    Aspect {
        what: "instance",
        warning: Some("the machine has limits of its own."),
        of: |record| record.environment.instance.clone().unwrap_or_default(),
    },
    Aspect {
        what: "processor",
        warning: Some("the machine has limits of its own."),
        of: |record| {
            let of = &record.environment.processor;
            format!("{} x {}", of.count, of.model)
        },
    },
    Aspect {
        what: "kernel",
        warning: None,
        of: |record| record.environment.kernel.clone(),
    },
    Aspect {
        what: "file system",
        warning: None,
        of: |record| {
            each(record, |target| {
                let system = target.file_system.as_ref();
                system.map_or_else(String::new, |it| it.kind.clone())
            })
        },
    },
    Aspect {
        what: "scheduler",
        warning: None,
        of: |record| {
            each(record, |target| {
                let device = target.devices.first();
                device
                    .and_then(|it| it.scheduler.clone())
                    .unwrap_or_default()
            })
        },
    },
    Aspect {
        what: "tool",
        warning: None,
        of: |record| record.tool.clone(),
    },
];

/// Everything of note that is not the same in all runs, what warns first.
pub(super) fn all(records: &[&Record]) -> Vec<Difference> {
    let of = |aspect: &Aspect| Difference {
        what: aspect.what,
        values: records.iter().map(|record| (aspect.of)(record)).collect(),
        warning: aspect.warning,
    };
    let differs = |it: &Difference| it.values.iter().any(|value| *value != it.values[0]);
    let mut found: Vec<_> = ASPECTS.iter().map(of).filter(differs).collect();
    found.sort_by_key(|it| it.warning.is_none());
    found
}

fn each(record: &Record, of: impl Fn(&blocklab_record::TargetFacts) -> String) -> String {
    let mut values: Vec<String> = record.targets.iter().map(of).collect();
    values.dedup();
    values.join(", ")
}

/// The device where there is one: scratch files have a new name in every run.
fn targets(record: &Record) -> String {
    each(record, |target| match target.devices.first() {
        Some(device) => {
            let of = [&device.model, &device.serial].into_iter().flatten();
            let of: Vec<&str> = of.map(|text| text.trim()).collect();
            format!("{} {}", device.name, of.join(" "))
                .trim_end()
                .to_owned()
        }
        None => match (&target.file_system, target.kind) {
            (Some(system), TargetKind::Scratch) => system.mount_point.clone(),
            _ => target.path.clone(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Sketch, record};

    #[test]
    fn what_warns_comes_first() {
        let one = record(&[Sketch::default()]);
        let mut other = one.clone();
        other.origin = blocklab_record::Origin::Simulated;
        other.environment.kernel = "7.0".to_owned();
        let found = all(&[&one, &other]);
        let told: Vec<_> = found.iter().map(|it| it.what).collect();
        assert_eq!(told, ["origin", "kernel"]);
        assert_eq!(found[0].values, ["measured", "simulated"]);
        assert!(found[0].warning.is_some() && found[1].warning.is_none());
        assert_eq!(all(&[&one, &one]), []);
    }

    #[test]
    fn a_new_scratch_file_is_no_other_target() {
        let one = record(&[Sketch::default()]);
        let mut other = one.clone();
        other.targets[0].path = "/data/scratch-2".to_owned();
        assert_eq!(all(&[&one, &other]), []);
    }
}
