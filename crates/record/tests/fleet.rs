//! The runs of several hosts as one, with literal times and counts.

#[allow(dead_code)]
mod sketch;

use blocklab_record::{HostRun, ModelUse, NoFleet, Record, Status, TargetUse, merge as merge_runs};
use blocklab_stats::Histogram;
use sketch::{Sketch, record};

const SECOND: u64 = 1_000_000_000;

/// A host that began this many microseconds after the others, with these rates in each pass.
fn host(name: &str, late_us: u64, iops: f64) -> Record {
    let mut run = record(&[Sketch::of_rates(&[iops; 2])]);
    run.id = format!("run-of-{name}");
    run.environment.host_name = Some(name.to_owned());
    for (pass, measurement) in run.measurements.iter_mut().enumerate() {
        let begin = 1_800_000_000_000_000 + pass as u64 * 20_000_000;
        measurement.started_unix_us = Some(begin + late_us);
        measurement.elapsed_ns = 10 * SECOND;
    }
    run
}

/// The runs of hosts that are known by their Records only.
fn merge(records: &[Record]) -> Result<Record, NoFleet> {
    let runs: Vec<HostRun> = records.iter().cloned().map(HostRun::unnamed).collect();
    merge_runs(&runs, &[])
}

#[test]
fn what_is_merged_is_what_all_hosts_did() {
    let hosts = [
        host("a", 0, 1000.0),
        host("b", 500, 2000.0),
        host("c", 1_000_000, 3000.0),
    ];
    let merged = merge(&hosts).expect("one load on three hosts");
    let [first, ..] = &merged.measurements[..] else {
        panic!("two passes");
    };
    assert_eq!(merged.measurements.len(), 2);
    let names: Vec<_> = first
        .jobs
        .iter()
        .filter_map(|job| job.host.as_deref())
        .collect();
    assert_eq!(names, ["a", "b", "c"]);
    let fleet = merged.fleet.as_ref().expect("hosts");
    let pass = &fleet.passes[0];
    assert_eq!(pass.start_skew_ns, Some(SECOND));
    assert_eq!(pass.end_skew_ns, Some(SECOND));
    // From c's start to a's end: nine of ten seconds.
    assert_eq!(pass.window_ns, Some(9 * SECOND));
    assert_eq!(pass.window_percent, Some(90.0));
    let iops = pass.iops.expect("slices");
    assert!((iops - 6000.0).abs() < 10.0, "{iops}");
    assert_eq!(merged.targets[2].path, "c:/data/scratch");
    assert_eq!(merged.status, Status::Complete);
}

/// Percentiles were averaged by every tool that users complain of.
#[test]
fn histograms_are_those_of_all_operations() {
    let hosts = [host("a", 0, 1000.0), host("b", 0, 50.0)];
    let merged = merge(&hosts).expect("one load on two hosts");
    let all = |run: &Record| {
        let mut all = Histogram::new();
        for job in run.jobs() {
            for result in job.directions.values() {
                all.merge(&result.service.histogram().expect("a histogram"));
            }
        }
        all
    };
    let mut concatenated = all(&hosts[0]);
    concatenated.merge(&all(&hosts[1]));
    assert_eq!(all(&merged).counts(), concatenated.counts());
}

#[test]
fn a_host_that_broke_off_is_named_and_its_figures_stay() {
    let mut broken = host("b", 0, 2000.0);
    broken.status = Status::Failed;
    broken.failure = Some("the device does not answer".to_owned());
    broken.measurements.truncate(1);
    let merged = merge(&[host("a", 0, 1000.0), broken]).expect("a pass of both");
    assert_eq!(merged.status, Status::Failed);
    assert_eq!(
        merged.failure.as_deref(),
        Some("b: the device does not answer")
    );
    let fleet = merged.fleet.expect("hosts");
    let hosts: Vec<u32> = fleet.passes.iter().map(|pass| pass.hosts).collect();
    assert_eq!(hosts, [2, 1]);
    // The second one has no rate "in which all had" it.
    let whole: Vec<u32> = (fleet.whole_passes(&fleet.passes[0].case))
        .map(|pass| pass.pass)
        .collect();
    assert_eq!(whole, [fleet.passes[0].pass]);
    // The second pass would have the rate of one host beside a first one with that of both.
    assert_eq!(merged.measurements.len(), 1);
    let note = merged.notes.last().expect("a note");
    assert_eq!(
        note.text,
        "pass 2 was measured by 1 of 2 hosts, so it is in no figure"
    );
}

/// The story: a host broke off after a discarded pass, and "pass 0 was measured by 3 of 2 hosts, so it is
/// in no figure".
#[test]
fn a_host_that_is_lost_after_a_discarded_pass_leaves_the_others_whole() {
    let mut hosts = [
        host("a", 0, 1000.0),
        host("b", 0, 2000.0),
        host("c", 0, 3000.0),
    ];
    for host in &mut hosts {
        host.measurements[0].pass = 0;
    }
    hosts[2].status = Status::Failed;
    hosts[2].measurements.truncate(1);
    let merged = merge(&hosts).expect("a pass of two");
    assert_eq!(merged.measurements.len(), 2);
    let mut notes = merged.notes.iter();
    assert!(!notes.any(|note| note.text.contains("is in no figure")));
}

#[test]
fn runs_that_are_no_fleet_are_refused() {
    let a = host("a", 0, 1000.0);
    assert_eq!(merge(std::slice::from_ref(&a)), Err(NoFleet::TooFew));
    let twice = merge(&[a.clone(), a.clone()]);
    assert_eq!(twice, Err(NoFleet::Twice("run-of-a".to_owned())));
    let mut other = host("b", 0, 1000.0);
    other.measurements[0].jobs[0].depth = 1;
    assert!(matches!(
        merge(&[a.clone(), other]),
        Err(NoFleet::Loads { .. })
    ));
    let merged = merge(&[a.clone(), host("b", 0, 1.0)]).expect("two hosts");
    let again = merge(&[merged, host("c", 0, 1.0)]);
    assert!(matches!(again, Err(NoFleet::IsFleet { .. })), "{again:?}");
}

#[test]
fn two_runs_of_one_host_have_two_names() {
    let mut second = host("a", 0, 1000.0);
    second.id = "another".to_owned();
    let mut unknown = host("x", 0, 1000.0);
    unknown.environment.host_name = None;
    let merged = merge(&[host("a", 0, 1000.0), second, unknown]).expect("three runs");
    let fleet = merged.fleet.expect("hosts");
    let names: Vec<&str> = fleet.hosts.iter().map(|host| &*host.name).collect();
    assert_eq!(names, ["a", "a#2", "host3"]);
}

/// Records from elsewhere go into tickets: the names of machines are somebody's.
#[test]
fn an_anonymous_fleet_names_no_host() {
    let named = |name, id: &str| Record {
        id: id.to_owned(),
        ..host(name, 0, 1000.0)
    };
    let merged = merge(&[named("prod-db-1", "k3f"), named("prod-db-2", "012")]);
    let bare = merged.expect("two hosts").anonymous(true, |_| true);
    let text = bare.to_json();
    assert!(!text.contains("prod-db"), "{text}");
    let fleet = bare.fleet.expect("hosts");
    assert_eq!(fleet.hosts[1].name, "host2");
    assert_eq!(bare.measurements[0].jobs[1].host.as_deref(), Some("host2"));
}

/// The story: the jobs and the measurements of an anonymous run had other names, and the list of its passes
/// still had those that its author had given to the cases. No pass was found by its case any more.
#[test]
fn the_passes_of_an_anonymous_fleet_have_the_new_names_of_its_cases() {
    let merged = merge(&[host("a", 0, 1000.0), host("b", 0, 1000.0)]).expect("two hosts");
    let case = merged.measurements[0].case.clone();
    let bare = merged.anonymous(false, |_| false);
    let text = bare.to_json();
    assert!(!text.contains(&case), "{case} is in {text}");
    let fleet = bare.fleet.expect("hosts");
    let passes = fleet.whole_passes(&bare.measurements[0].case);
    assert_eq!(passes.count(), 2);
}

/// The story: a host that was stopped within its ramp made the measured time of a pass 584 years long: the
/// slices of a ramp may last a little longer than the pass that they belong to.
#[test]
fn a_pass_that_was_stopped_in_its_ramp_has_no_measured_time() {
    let stopped = |name| {
        let mut run = host(name, 0, 1000.0);
        for measurement in &mut run.measurements {
            measurement.elapsed_ns = 10 * SECOND - 1;
            for slice in &mut measurement.series {
                slice.ramp = true;
            }
        }
        run
    };
    let merged = merge(&[stopped("a"), stopped("b")]).expect("two hosts");
    let fleet = merged.fleet.expect("hosts");
    assert_eq!(fleet.passes[0].window_percent, None);
}

/// The story: two hosts on a simulated gp3 each were at its 3,000 IOPS, and the merged run said that
/// latency may be the limit: what the models counted was left out, so the reason was guessed.
#[test]
fn what_models_counted_is_kept_by_the_targets_of_all_hosts() {
    let modelled = |name: &str| {
        let mut run = host(name, 0, 3000.0);
        for measurement in &mut run.measurements {
            measurement.model = Some(Box::new(ModelUse {
                targets: vec![TargetUse {
                    target: 0,
                    ios: 30_000,
                    bytes: 30_000 * 4096,
                    in_device_ns: 40 * SECOND,
                }],
                limits: Vec::new(),
            }));
        }
        run
    };
    let merged = merge(&[modelled("a"), modelled("b")]).expect("one load on two hosts");
    for measurement in &merged.measurements {
        let model = measurement.model.as_deref().expect("both have a model");
        let places: Vec<u32> = model.targets.iter().map(|used| used.target).collect();
        assert_eq!(places, [0, 1]);
    }
    // Of a real disk nothing is known, so that nothing is said of both.
    let mixed = merge(&[modelled("a"), host("b", 0, 3000.0)]).expect("one load on two hosts");
    assert!(mixed.measurements.iter().all(|one| one.model.is_none()));
}
