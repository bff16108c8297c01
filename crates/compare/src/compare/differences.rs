//! What else differs between runs: machine, target, tool, time and temperature.

use std::collections::{BTreeMap, BTreeSet};

use blocklab_device::LimitKind;
use blocklab_record::{Record, Stopped, TargetFacts, TargetKind};
use blocklab_stats::mean;
use blocklab_units::{latency, stated};
use serde::Serialize;

/// Something around the loads that is not the same in all runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// `origin`, `target`, `kernel`.
    pub what: &'static str,
    /// The value of each run, in the order given.
    pub values: Vec<String>,
    /// Why this alone may make figures differ; `None`: it is worth knowing, but no warning.
    pub warning: Option<&'static str>,
}

/// The name of an aspect, its warning, and a function that gives its value for a run.
type Aspect = (&'static str, Option<&'static str>, fn(&Record) -> String);

const LIMITS: Option<&str> = Some("the machine has limits of its own.");

const ASPECTS: [Aspect; 11] = [
    (
        "status",
        Some("a run did not end as planned: it may lack passes or cases."),
        |record| record.status.name().to_owned(),
    ),
    (
        "origin",
        Some("a difference may be that of a model or of another tool."),
        |record| record.origin.name().to_owned(),
    ),
    (
        "target",
        Some("what is compared are the targets, if nothing else differs."),
        targets,
    ),
    (
        "size",
        Some("the span that is worked on decides how much a cache can hold."),
        |record| {
            each(record, |target| {
                known(target.size_bytes.0, target.size_bytes)
            })
        },
    ),
    (
        "latency",
        Some("where latency decides, who wins or loses rests on an assumption."),
        assumed_latency,
    ),
    ("instance", LIMITS, |record| {
        record.environment.instance.clone().unwrap_or_default()
    }),
    ("processor", LIMITS, |record| {
        let processor = &record.environment.processor;
        let governor = processor.governor.iter();
        let governor: String = governor.map(|governor| format!(", {governor}")).collect();
        let text = format!("{} x {}{governor}", processor.count, processor.model);
        known(processor.count.into(), text)
    }),
    ("kernel", None, |record| record.environment.kernel.clone()),
    ("file system", None, |record| {
        each(record, |target| {
            let system = target.file_system.as_ref();
            system.map_or_else(String::new, |system| system.kind.clone())
        })
    }),
    ("scheduler", None, |record| {
        each(record, |target| {
            let scheduler = target
                .devices
                .first()
                .and_then(|device| device.scheduler.clone());
            scheduler.unwrap_or_default()
        })
    }),
    ("tool", None, |record| record.tool.clone()),
];

/// A text on a number; empty where that is 0, as another program did not report it.
fn known(number: u64, text: impl ToString) -> String {
    match number {
        0 => String::new(),
        _ => text.to_string(),
    }
}

/// Every aspect of a run: its name and its value.
pub(crate) fn aspects(record: &Record) -> impl Iterator<Item = (&'static str, String)> {
    ASPECTS
        .into_iter()
        .map(|(what, _, value)| (what, value(record)))
}

/// Every aspect that is not the same in all runs; those with a warning come first.
pub(super) fn all(records: &[&Record]) -> Vec<Difference> {
    let mut found: Vec<_> = ASPECTS
        .into_iter()
        .map(|(what, warning, value)| Difference {
            what,
            values: records.iter().map(|record| value(record)).collect(),
            warning,
        })
        .filter(|difference| {
            difference
                .values
                .iter()
                .any(|value| *value != difference.values[0])
        })
        .collect();
    found.extend(measured_time(records));
    found.extend(temperature(records));
    found.sort_by_key(|difference| difference.warning.is_none());
    found
}

/// Times within this factor count as equal: a pass ends with its last operation, a little after its
/// planned time.
const SAME_TIME: f64 = 1.05;

/// How long a pass was measured on average. Only jobs that ended by their runtime count: for a job
/// that ends after a number of bytes, the time is a result and not a setting.
fn measured_time(records: &[&Record]) -> Option<Difference> {
    let cases = shared_cases(records);
    let times = records.iter().map(|record| mean_time_ns(record, &cases));
    let times: Vec<f64> = times.collect();
    let most = times.iter().copied().fold(f64::MIN, f64::max);
    let least = times.iter().copied().fold(f64::MAX, f64::min);
    (most > least * SAME_TIME).then(|| Difference {
        what: "measured time",
        values: times.iter().map(|ns| per_pass(*ns)).collect(),
        warning: Some("in a longer pass more of caches, credits and heat shows."),
    })
}

/// Disks whose temperatures at the start differ by less count as equally warm.
const SAME_CELSIUS: i32 = 5;

/// The temperature of the warmest device at the start, where every run has it.
fn temperature(records: &[&Record]) -> Option<Difference> {
    let all: Vec<i32> = records
        .iter()
        .map(|record| {
            let devices = record.targets.iter().flat_map(|target| &target.devices);
            // The hottest disk is the one that throttles itself first.
            devices
                .filter_map(|device| device.health.as_ref())
                .filter_map(|health| health.temperature_celsius)
                .max()
        })
        .collect::<Option<_>>()?;
    let (least, most) = (all.iter().min()?, all.iter().max()?);
    (most - least >= SAME_CELSIUS).then(|| Difference {
        what: "temperature",
        values: all.iter().map(|celsius| format!("{celsius} °C")).collect(),
        warning: Some("a disk that is hot slows itself down."),
    })
}

/// The cases that all runs have, since one that a run lacks may have a time of its own; all cases where
/// the runs have none in common.
fn shared_cases<'r>(records: &[&'r Record]) -> BTreeSet<&'r str> {
    let mut runs = records.iter().map(|record| {
        let cases = record.measurements.iter().map(|one| &*one.case);
        cases.collect::<BTreeSet<&str>>()
    });
    let mut all = runs.next().unwrap_or_default();
    let mut shared = all.clone();
    for mut cases in runs {
        shared.retain(|case| cases.contains(case));
        all.append(&mut cases);
    }
    if shared.is_empty() { all } else { shared }
}

/// The mean measured time of the timed jobs of these cases, in nanoseconds, whose numbers of passes may
/// differ; 0 where no job ended by its runtime.
fn mean_time_ns(record: &Record, cases: &BTreeSet<&str>) -> f64 {
    let mut times: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let passes = record.measurements.iter().filter(|pass| pass.pass > 0);
    for pass in passes.filter(|pass| cases.contains(&*pass.case)) {
        let jobs = pass.jobs.iter();
        for job in jobs.filter(|job| job.stopped == Stopped::Runtime) {
            let of_case = times.entry(&pass.case).or_default();
            of_case.push(job.elapsed_ns as f64);
        }
    }
    let means: Vec<f64> = times.values().map(|times| mean(times)).collect();
    mean(&means)
}

/// `2.0 s a pass`; empty where no job ended by its runtime.
fn per_pass(ns: f64) -> String {
    if ns > 0.0 {
        format!("{} a pass", latency(ns))
    } else {
        String::new()
    }
}

/// The text of each target, joined by commas; targets in a row with the same text share it.
pub(crate) fn each(record: &Record, text: impl Fn(&TargetFacts) -> String) -> String {
    let mut values: Vec<String> = record.targets.iter().map(text).collect();
    values.dedup();
    values.join(", ")
}

/// `io2: 464.8 µs assumed`: the latency that a model assumes without a measurement or a document;
/// `not assumed` for a disk, and for a model that has a source for it.
fn assumed_latency(record: &Record) -> String {
    each(record, |target| {
        let limits = target.limits.iter();
        let assumed = limits.filter(|limit| limit.origin.is_assumed());
        let mut latencies =
            assumed.filter(|assumed| matches!(assumed.name.kind, LimitKind::Latency { .. }));
        match latencies.next() {
            Some(latency) => format!(
                "{}: {} {} assumed",
                latency.name.owner,
                stated(latency.value),
                latency.unit.text()
            ),
            None => "not assumed".to_owned(),
        }
    })
}

/// Each target by what stays the same between runs: its device, else its lasting path.
fn targets(record: &Record) -> String {
    each(record, |target| match target.devices.first() {
        Some(device) => {
            // The kernel pads some of these strings with blanks.
            let identity: Vec<&str> = [&device.model, &device.serial, &device.firmware]
                .into_iter()
                .flatten()
                .map(|text| text.trim())
                .collect();
            format!("{} {}", device.name, identity.join(" "))
                .trim_end()
                .to_owned()
        }
        None => lasting_path(target).to_owned(),
    })
}

/// The mount point of a scratch file, whose name is new in every run, else the path of the target.
pub(crate) fn lasting_path(target: &TargetFacts) -> &str {
    match (&target.file_system, target.kind) {
        (Some(system), TargetKind::Scratch) => &system.mount_point,
        _ => &target.path,
    }
}

#[cfg(test)]
mod tests {
    use blocklab_device::{Limit, LimitName, LimitUnit, Operation, Origin};
    use blocklab_record::DeviceHealth;
    use blocklab_units::Bytes;

    use super::*;
    use crate::testing::{Sketch, record};

    #[test]
    fn what_warns_comes_first() {
        let one = record(&[Sketch::default()]);
        let mut other = one.clone();
        other.origin = blocklab_record::Origin::Simulated;
        other.environment.kernel = "7.0".to_owned();
        let found = all(&[&one, &other]);
        let names: Vec<_> = found.iter().map(|difference| difference.what).collect();
        assert_eq!(names, ["origin", "kernel"]);
        assert_eq!(found[0].values, ["measured", "simulated"]);
        assert!(found[0].warning.is_some() && found[1].warning.is_none());
        assert_eq!(all(&[&one, &one]), []);
    }

    /// The story: a result of fio was compared with a run: its size was "0 B", its processor "0 x ", and the
    /// difference may have been "the model's error".
    #[test]
    fn what_another_program_did_not_report_is_not_known() {
        let mut one = record(&[Sketch::default()]);
        one.targets[0].size_bytes = Bytes(1 << 30);
        let mut other = one.clone();
        other.origin = blocklab_record::Origin::Imported;
        other.targets[0].size_bytes = Bytes::ZERO;
        other.environment.processor = Default::default();
        let found = all(&[&one, &other]);
        let names: Vec<_> = found.iter().map(|difference| difference.what).collect();
        assert_eq!(names, ["origin", "size", "processor"]);
        assert_eq!([&found[1].values[1], &found[2].values[1]], ["", ""]);
        assert!(
            !found[0]
                .warning
                .is_some_and(|text| text.contains("the model's"))
        );
    }

    /// The story: an update of a drive's firmware between two runs was not shown.
    #[test]
    fn other_firmware_and_another_governor_are_reported() {
        let record_with = |firmware: &str, governor: &str| {
            let mut run = record(&[Sketch::default()]);
            run.environment.processor.governor = Some(governor.to_owned());
            run.targets[0].devices[0].firmware = Some(firmware.to_owned());
            run
        };
        let found = all(&[
            &record_with("3.0", "performance"),
            &record_with("3.1", "powersave"),
        ]);
        let names: Vec<_> = found.iter().map(|difference| difference.what).collect();
        assert_eq!(names, ["target", "processor"]);
        assert!(
            found[0].values[1].ends_with(" 3.1"),
            "{:?}",
            found[0].values
        );
        assert!(found[1].values[1].ends_with(", powersave"));
    }

    /// The story: runs of 2 s and of 5 s were compared, the longer one had drained the credits, and
    /// nothing on the page showed that the times differ.
    #[test]
    fn passes_of_another_length_are_reported() {
        let record_of_length = |seconds: u32| {
            record(&[Sketch {
                seconds,
                ..Sketch::default()
            }])
        };
        let (short, long) = (record_of_length(2), record_of_length(5));
        let found = all(&[&short, &long]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].what, "measured time");
        assert_eq!(found[0].values, ["2.00 s a pass", "5.00 s a pass"]);
        assert!(found[0].warning.is_some());
        let mut late = short.clone();
        late.measurements[0].jobs[0].elapsed_ns += 20_000_000;
        assert_eq!(all(&[&short, &late]), []);
    }

    /// The story: a study with passes of 10 s and of 60 s was compared with a run of its first case alone,
    /// and "in a longer pass more of caches, credits and heat shows".
    #[test]
    fn a_case_that_a_run_lacks_makes_no_other_length() {
        let case = |name: &str, seconds| Sketch {
            seconds,
            ..Sketch::named(name)
        };
        let whole = record(&[case("a", 10), case("b", 60)]);
        let mut cut = whole.clone();
        cut.measurements.retain(|pass| pass.case == "a");
        assert_eq!(all(&[&whole, &cut]), []);
        let mut fewer_passes = whole.clone();
        fewer_passes
            .measurements
            .retain(|pass| pass.case == "a" || pass.pass == 1);
        assert_eq!(all(&[&whole, &fewer_passes]), []);
    }

    /// The story: io2 was slower than gp3 by an assumed latency, and a database's comparison said so
    /// without a word on that. Then it called gp3's measured latency "not known".
    #[test]
    fn who_wins_by_an_assumption_is_told() {
        let record_limited_by = |owner: &str, origin: Origin| {
            let mut run = record(&[Sketch::default()]);
            run.targets[0].limits = vec![Limit {
                name: LimitName {
                    owner: owner.to_owned(),
                    volumes: Some(1),
                    kind: LimitKind::Latency {
                        operation: Operation::Read,
                    },
                },
                value: 464.8,
                unit: LimitUnit::Micros,
                origin,
            }];
            run
        };
        let measured = record_limited_by("gp3", Origin::measured("a study"));
        let assumed = record_limited_by(
            "io2",
            Origin::assumed("an upper bound, taken as the figure"),
        );
        let found = all(&[&measured, &assumed]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].values, ["not assumed", "io2: 464.8 µs assumed"]);
        assert!(found[0].warning.is_some());
        assert_eq!(all(&[&assumed, &assumed]), []);
        assert_eq!(all(&[&measured, &measured]), []);
    }

    /// The story: a disk of 71 °C was compared with its own run at 38 °C, and the page of each run
    /// showed the temperature, but not the comparison.
    #[test]
    fn a_disk_that_is_warmer_is_reported() {
        let record_at = |celsius: Option<i32>| {
            let mut run = record(&[Sketch::default()]);
            run.targets[0].devices[0].health = Some(DeviceHealth {
                temperature_celsius: celsius,
                ..DeviceHealth::default()
            });
            run
        };
        let found = all(&[&record_at(Some(38)), &record_at(Some(71))]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].values, ["38 °C", "71 °C"]);
        assert_eq!(all(&[&record_at(Some(38)), &record_at(Some(41))]), []);
        assert_eq!(all(&[&record_at(Some(38)), &record_at(None)]), []);
    }

    #[test]
    fn a_new_scratch_file_is_no_other_target() {
        let one = record(&[Sketch::default()]);
        let mut other = one.clone();
        other.targets[0].path = "/data/scratch-2".to_owned();
        assert_eq!(all(&[&one, &other]), []);
    }
}
