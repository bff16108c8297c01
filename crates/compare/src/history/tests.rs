//! Histories of sketched runs.

use blocklab_findings::assess;
use blocklab_record::{Origin, PaceKind, Record, Status};
use blocklab_units::Nanos;
use blocklab_workload::{Case, Direction, Job, Plan};

use super::*;
use crate::compare::Verdict;
use crate::gate::{Answer, Condition, Evidence, answer};
use crate::testing::run;

fn id(number: usize) -> String {
    format!("20261120-19{:02}{:02}-k3f", number / 60, number % 60)
}

/// The runs of these Records, one a minute.
fn runs(records: &[Record]) -> Vec<HistoryRun> {
    let run = |(number, record): (usize, &Record)| HistoryRun {
        id: id(number),
        started_at: format!("2026-11-20T19:{number:02}:00Z"),
        digest: Digest::new(record, &assess(record)),
        by_hand: None,
    };
    records.iter().enumerate().map(run).collect()
}

/// Scatter of a per cent, the same for the same number.
fn scattered(level: f64, number: usize) -> Record {
    run(&[level * (1.0 + 0.01 * ((number * 7 % 5) as f64 - 2.0) / 2.0)])
}

fn records(levels: &[(f64, usize)]) -> Vec<Record> {
    let all = levels
        .iter()
        .flat_map(|(level, count)| vec![*level; *count]);
    all.enumerate()
        .map(|(number, level)| scattered(level, number))
        .collect()
}

/// The series of the rate.
fn rate(records: &[Record]) -> Series {
    let found = history(&runs(records));
    let mut rates = found.series.into_iter().filter(|series| series.is_headline);
    let rate = rates.next().expect("a series");
    assert_eq!(rates.next(), None, "one load");
    rate
}

#[test]
fn since_when_it_is_slower_by_how_much_and_what_else_changed() {
    let mut records = records(&[(10_000.0, 20), (9_000.0, 8)]);
    records[..20]
        .iter_mut()
        .for_each(|record| record.environment.kernel = "6.1".to_owned());
    records[20..]
        .iter_mut()
        .for_each(|record| record.environment.kernel = "6.8".to_owned());
    let found = rate(&records);
    assert_eq!(found.verdict, SeriesVerdict::Regressed);
    let [change] = &found.changes[..] else {
        panic!("one change: {:?}", found.changes)
    };
    assert_eq!((&change.run, &change.last_before), (&id(20), &id(19)));
    assert_eq!((change.place, change.runs), (20, [20, 8]));
    assert!((change.change_percent + 10.0).abs() < 1.0, "{change:?}");
    let low = change.ci95_low_percent.expect("long enough");
    let high = change.ci95_high_percent.expect("long enough");
    assert!(low < -10.0 && -10.0 < high && high < -8.0, "{low} {high}");
    let kernel = Changed {
        what: "kernel".to_owned(),
        before: "6.1".to_owned(),
        after: "6.8".to_owned(),
    };
    assert_eq!(change.changed, [kernel]);
    let levels = found.levels.iter();
    let places: Vec<_> = levels
        .map(|level| (level.from_place, level.to_place))
        .collect();
    assert_eq!(places, [(0, 19), (20, 27)]);
    let medians: Vec<f64> = found.levels.iter().map(|level| level.median).collect();
    assert_eq!(medians, [change.before, change.after]);
    assert_eq!(found.points[20].changed, change.changed);
    assert!(found.points[21].changed.is_empty());
}

#[test]
fn faster_again_is_improved_and_less_latency_is_better() {
    let records = records(&[(10_000.0, 10), (8_000.0, 10), (10_000.0, 10)]);
    let found = history(&runs(&records));
    for series in &found.series {
        let verdicts: Vec<SeriesVerdict> =
            series.changes.iter().map(|change| change.verdict).collect();
        let expected = [SeriesVerdict::Regressed, SeriesVerdict::Improved];
        assert_eq!(verdicts, expected, "{}", series.quantity.name());
        assert_eq!(series.verdict, SeriesVerdict::Improved);
    }
    assert_eq!((found.series.len(), found.tested), (3, 3));
}

#[test]
fn another_machine_target_load_or_origin_is_another_series() {
    let change: [fn(&mut Record); 5] = [
        |record| record.environment.processor.model = "another".to_owned(),
        |record| record.environment.instance = Some("m5.large".to_owned()),
        |record| record.targets[0].devices[0].serial = Some("another".to_owned()),
        |record| record.origin = Origin::Emulated,
        |record| {
            let jobs = record.measurements.iter_mut().flat_map(|m| &mut m.jobs);
            jobs.for_each(|job| job.threads += 1);
        },
    ];
    for change in change {
        let mut records = records(&[(10_000.0, 10), (5_000.0, 10)]);
        records[10..].iter_mut().for_each(change);
        let found = history(&runs(&records));
        let rates = found.series.iter().filter(|series| series.is_headline);
        let verdicts: Vec<SeriesVerdict> = rates.map(|series| series.verdict).collect();
        assert_eq!(verdicts, [SeriesVerdict::NoChangeShown; 2]);
    }
}

/// A disk that the kernel calls otherwise after a start is the same disk, and its new firmware is
/// what changed.
#[test]
fn a_disk_is_known_by_its_serial_number() {
    let mut records = records(&[(10_000.0, 10), (9_000.0, 10)]);
    for record in &mut records {
        let device = &mut record.targets[0].devices[0];
        (device.serial, device.model) = (Some("S1".to_owned()), None);
    }
    for record in &mut records[10..] {
        let device = &mut record.targets[0].devices[0];
        device.name = "nvme7n1".to_owned();
        device.firmware = Some("3.1".to_owned());
    }
    let found = rate(&records);
    let changed = &found.changes[0].changed;
    assert_eq!(changed.len(), 1, "{changed:?}");
    assert!(changed[0].what == "target" && changed[0].after.ends_with("3.1"));
    // The story: a load was "read on 20266379102040295".
    assert_eq!(found.conditions.target, "serial S1");
}

fn interrupt(record: &mut Record) {
    record.status = Status::Interrupted;
}

#[test]
fn doubtful_runs_are_left_out_of_the_test() {
    let mut records = records(&[(10_000.0, 20), (5_000.0, 4), (10_000.0, 6)]);
    records[20..24].iter_mut().for_each(interrupt);
    let found = rate(&records);
    assert_eq!(
        found.verdict,
        SeriesVerdict::NoChangeShown,
        "{:?}",
        found.changes
    );
    let left_out = found.points.iter().filter(|point| point.is_left_out);
    assert_eq!(left_out.count(), 4);
    assert_eq!(found.points[20].doubts, ["interrupted"]);
    assert!(found.usual_doubts.is_empty());
}

/// The story: on a machine that others always keep busy, all forty runs were left out, and a device
/// that had lost an eighth of its rate was "not comparable".
#[test]
fn what_doubts_nearly_all_runs_sets_none_apart() {
    let mut records = records(&[(10_000.0, 20), (9_000.0, 8)]);
    records[2..].iter_mut().for_each(interrupt);
    let found = rate(&records);
    assert_eq!(found.usual_doubts, ["interrupted"]);
    assert_eq!(found.verdict, SeriesVerdict::Regressed);
}

/// The user knows what no finding does: that a run was measured while a backup went on, or that what
/// a finding doubts does not matter here.
#[test]
fn a_run_is_left_out_or_kept_by_hand() {
    let mut records = records(&[(10_000.0, 20), (9_000.0, 8)]);
    interrupt(&mut records[4]);
    let mut all = runs(&records);
    all[3].by_hand = ByHand::of_tags(&["history-out".to_owned(), "history-in".to_owned()]);
    all[4].by_hand = ByHand::of_tags(&["history-in".to_owned()]);
    all[5].by_hand = ByHand::of_tags(&["baseline".to_owned()]);
    let found = history(&all);
    let points = &found.series[0].points;
    let left_out: Vec<bool> = points[3..6].iter().map(|point| point.is_left_out).collect();
    assert_eq!(left_out, [true, false, false]);
    assert_eq!(points[4].doubts, ["interrupted"]);
    assert_eq!(found.series[0].levels[0].runs, 19);
}

#[test]
fn one_or_two_runs_are_suspected_and_few_are_not_comparable() {
    for last in [1, 2] {
        let found = rate(&records(&[(10_000.0, 20), (8_000.0, last)]));
        assert_eq!(found.verdict, SeriesVerdict::Suspected);
        let suspicion = found.suspicion.expect("suspected");
        assert_eq!(
            (suspicion.run, suspicion.verdict),
            (id(20), SeriesVerdict::Regressed)
        );
        assert_eq!(found.why, "two more runs will tell");
        let last = found.levels.last().expect("a level");
        assert_eq!((last.from_place, last.is_suspected), (20, true));
    }
    let found = rate(&records(&[(10_000.0, 3), (5_000.0, 2)]));
    assert_eq!(found.verdict, SeriesVerdict::NotComparable);
    assert_eq!(found.why, "5 of the 6 runs that are needed");
    assert_eq!(found.levels, []);
}

#[test]
fn figures_of_a_simulation_are_compared_exactly() {
    let mut records = vec![run(&[10_000.0]), run(&[10_000.0]), run(&[10_001.0])];
    records
        .iter_mut()
        .for_each(|record| record.origin = Origin::Simulated);
    let found = rate(&records);
    assert_eq!(found.verdict, SeriesVerdict::Improved);
    let change = &found.changes[0];
    assert_eq!((change.place, change.probability), (2, None));
    assert_eq!(found.suspicion, None);
    // With another seed it is another load.
    records[2].requested.seed = "7".to_owned();
    assert!(changes_nowhere(&records));
    records.truncate(2);
    assert_eq!(rate(&records).verdict, SeriesVerdict::NoChangeShown);
}

fn changes_nowhere(records: &[Record]) -> bool {
    let found = history(&runs(records));
    found.series.iter().all(|series| series.changes.is_empty())
}

/// The story: a simulation of 20 s and then of 60 s with one seed was "regressed, −0.03 %", and "nothing
/// else that is known changed there". A simulation is the same to the last digit only if its cases, passes
/// and times are the same.
#[test]
fn simulations_of_other_lengths_are_not_compared() {
    let simulated = |runtime_s: u64, passes: u32, case: &str| {
        let mut record = run(&[10_000.0 + runtime_s as f64 + f64::from(passes)]);
        record.origin = Origin::Simulated;
        record.requested.passes = passes;
        let mut job = Job::default();
        job.stop.runtime = Some(Nanos::from_secs(runtime_s));
        let plan = Plan::once("quick", "", vec![Case::new(case, 1, vec![job])]);
        record.requested.plan = Some(plan);
        record
    };
    let base = [simulated(20, 5, "c"), simulated(20, 5, "c")];
    for other in [
        simulated(60, 5, "c"),
        simulated(20, 3, "c"),
        simulated(20, 5, "d"),
    ] {
        assert!(changes_nowhere(&[base.to_vec(), vec![other]].concat()));
    }
    let mut faster = base.to_vec();
    faster.push(run(&[10_026.0]));
    faster[2].origin = Origin::Simulated;
    faster[2].requested = faster[0].requested.clone();
    assert!(!changes_nowhere(&faster), "the same schedule is compared");
}

/// The story: a pause between the passes, in which burst credits came back, made the same load "1 faster".
#[test]
fn simulations_of_another_order_or_pause_are_not_compared() {
    let simulated = |iops: f64, edit: fn(&mut Plan)| {
        let mut record = run(&[iops]);
        record.origin = Origin::Simulated;
        let mut plan = Plan::once("quick", "", vec![Case::new("c", 1, vec![Job::default()])]);
        edit(&mut plan);
        record.requested.plan = Some(plan);
        record
    };
    let edits: [fn(&mut Plan); 3] = [
        |plan| plan.pause = Nanos::from_secs(3600),
        |plan| plan.order = blocklab_workload::Order::Interleaved,
        |plan| plan.discard = 1,
    ];
    for edit in edits {
        let base = [simulated(10_000.0, |_| {}), simulated(10_000.0, |_| {})];
        assert!(changes_nowhere(
            &[&base[..], &[simulated(11_000.0, edit)]].concat()
        ));
        assert!(!changes_nowhere(
            &[&base[..], &[simulated(11_000.0, |_| {})]].concat()
        ));
    }
}

/// Under a given rate the device can only show in latencies.
#[test]
fn a_paced_load_is_judged_by_its_latency() {
    let mut records = records(&[(10_000.0, 10), (9_000.0, 10)]);
    for record in &mut records {
        let jobs = record.measurements.iter_mut().flat_map(|m| &mut m.jobs);
        jobs.for_each(|job| job.pace = PaceKind::OpenFixed);
    }
    let found = rate(&records);
    assert!(found.quantity.is_mean_latency());
    assert_eq!(found.verdict, SeriesVerdict::Regressed);
}

/// What chance does once in a thousand series is no change among hundreds of them.
#[test]
fn of_many_series_a_weak_change_is_only_suspected() {
    let step = records(&[(10_000.0, 24), (9_000.0, 3)]);
    let alone = rate(&step);
    assert_eq!(alone.verdict, SeriesVerdict::Regressed);
    let mut all = runs(&step);
    let steady = runs(&records(&[(10_000.0, 27)]));
    for (run, steady) in all.iter_mut().zip(&steady) {
        let others = (0..40).map(|number| LoadDigest {
            case: format!("other-{number}"),
            ..steady.digest.loads[0].clone()
        });
        run.digest.loads.extend(others);
    }
    let found = history(&all);
    assert_eq!(found.tested, 123);
    let series = found
        .series
        .iter()
        .find(|series| series.is_headline)
        .expect("the rate");
    assert_eq!(series.verdict, SeriesVerdict::Suspected, "{series:?}");
    assert_eq!(series.suspicion.as_ref().map(|of| of.place), Some(24));
}

/// The story: `list` showed the rate of the reads alone of a mixed load, 2,192 IOPS, and `show` began with
/// 3,136 IOPS at most.
#[test]
fn the_rate_in_a_list_is_that_of_all_directions() {
    let mut record = run(&[2_000.0]);
    let job = &mut record.measurements[0].jobs[0];
    let read = job.directions[&Direction::Read].clone();
    job.directions.insert(Direction::Write, read);
    let fastest = derive(&record).0.fastest.expect("a load");
    assert!((fastest.iops - 4_000.0).abs() < 1.0, "{fastest:?}");
    assert_eq!(fastest.direction, "mixed");
}

#[test]
fn what_the_index_remembers_is_what_was_derived() {
    let record = run(&[10_000.0, 10_100.0, 9_900.0]);
    let (head, text) = derive(&record);
    let fastest = head.fastest.expect("a load");
    assert!((fastest.iops - 10_000.0).abs() < 1.0 && fastest.direction == "read");
    assert!(
        !text.contains('\n') && text.len() < 1_500,
        "{} bytes",
        text.len()
    );
    let read: Digest = serde_json::from_str(&text).expect("a digest");
    assert_eq!(read, Digest::new(&record, &assess(&record)));
    let course: Course = serde_json::from_str(&text).expect("a course");
    assert!(course.course_iops.len() <= 32, "{course:?}");
    // The story: a pass that was run to be thrown away was a part of the course.
    let mut discarded = record.clone();
    discarded.measurements[0].pass = 0;
    let (_, text) = derive(&discarded);
    let of_two: Course = serde_json::from_str(&text).expect("a course");
    assert!(of_two.course_iops.len() < course.course_iops.len());
    let load = &read.loads[0];
    let names: Vec<&str> = load
        .figures
        .iter()
        .map(|figure| &*figure.quantity)
        .collect();
    assert_eq!(names, ["iops", "service_mean_ns", "service_p99_ns"]);
    let (low, high) = load.figures[0].interval.expect("three passes");
    assert!(low < 10_000.0 && 10_000.0 < high);
}

/// The last of these runs against the others.
fn against(records: &[Record]) -> AgainstHistory {
    let mut all = runs(records);
    let last = all.pop().expect("a run");
    against_history(&last, &all, 0.0)
}

fn asked(percent: f64, records: &[Record]) -> Answer {
    let against = against(records);
    let record = records.last().expect("a run");
    let condition = Condition::Slower {
        percent: Some(percent),
    };
    let evidence = Evidence {
        runs: &[(record, &[])],
        comparison: None,
        history: Some(&against),
        compared: None,
    };
    answer(&[condition.into()], evidence).expect("asked").answer
}

#[test]
fn a_run_is_compared_with_the_present_level() {
    let same = records(&[(20_000.0, 10), (10_000.0, 10), (10_000.0, 1)]);
    let found = against(&same);
    assert!(found.refused.is_empty(), "{found:?}");
    let pair = &found.pairs[0];
    assert_eq!((pair.runs, &pair.of_runs), (10, &[id(10), id(19)]));
    assert_eq!(pair.verdict, Verdict::NoDifference);
    assert!(pair.ci95_low < pair.ratio && pair.ratio < pair.ci95_high);
    let slower = records(&[(10_000.0, 10), (9_000.0, 1)]);
    let found = against(&slower);
    assert_eq!(found.pairs[0].verdict, Verdict::Slower);
    assert!((found.pairs[0].ratio - 0.9).abs() < 0.02);
}

#[test]
fn the_gate_fails_passes_or_is_open() {
    let run = |level: f64| records(&[(10_000.0, 10), (level, 1)]);
    assert_eq!(asked(5.0, &run(10_000.0)), Answer::Pass);
    assert_eq!(asked(5.0, &run(9_000.0)), Answer::Fail);
    assert_eq!(asked(20.0, &run(9_000.0)), Answer::Pass);
    assert_eq!(asked(10.0, &run(9_000.0)), Answer::Undecided);
    let few = records(&[(10_000.0, 2), (5_000.0, 1)]);
    assert_eq!(asked(5.0, &few), Answer::Undecided);
}

/// What one load alone would lose is no loss among fifty: one of them lies there by chance.
#[test]
fn many_loads_are_judged_together() {
    let step = records(&[(10_000.0, 10), (9_800.0, 1)]);
    let alone = against(&step);
    assert_eq!(alone.pairs[0].verdict, Verdict::Slower, "{alone:?}");
    let mut all = runs(&step);
    let steady = runs(&records(&[(10_000.0, 11)]));
    for (run, steady) in all.iter_mut().zip(&steady) {
        let others = (0..50).map(|number| LoadDigest {
            case: format!("other-{number}"),
            ..steady.digest.loads[0].clone()
        });
        run.digest.loads.extend(others);
    }
    let last = all.pop().expect("a run");
    let found = against_history(&last, &all, 0.0);
    assert_eq!(found.pairs.len(), 51);
    assert_eq!(found.pairs[0].verdict, Verdict::NoDifference);
}

#[test]
fn what_is_not_comparable_is_refused_with_the_reason() {
    let why = |change: fn(&mut Record)| {
        let mut records = records(&[(10_000.0, 10), (5_000.0, 1)]);
        change(&mut records[10]);
        let found = against(&records);
        assert!(found.pairs.is_empty(), "{found:?}");
        assert_eq!(asked(5.0, &records), Answer::Undecided);
        found.refused[0].why.clone()
    };
    let other_target = why(|run| run.targets[0].devices[0].serial = Some("S2".to_owned()));
    assert!(other_target.contains("target differs: "), "{other_target}");
    assert!(other_target.ends_with("S2"), "{other_target}");
    let imported = why(|run| run.origin = Origin::Imported);
    assert!(
        imported.contains("origin differs: measured | imported"),
        "{imported}"
    );
    let renamed = why(|run| {
        run.measurements
            .iter_mut()
            .for_each(|m| m.case = "new".to_owned())
    });
    assert_eq!(renamed, "no earlier run has this case");
    assert_eq!(why(interrupt), "a finding doubts this run: interrupted");
}

#[test]
fn a_simulation_has_no_scatter() {
    let mut records = vec![run(&[10_000.0]), run(&[10_000.0]), run(&[9_000.0])];
    records
        .iter_mut()
        .for_each(|record| record.origin = Origin::Simulated);
    let found = against(&records);
    let pair = &found.pairs[0];
    assert_eq!(pair.verdict, Verdict::Slower);
    assert_eq!((pair.ci95_low, pair.ci95_high), (pair.ratio, pair.ratio));
    assert_eq!(asked(5.0, &records), Answer::Fail);
    assert_eq!(asked(5.0, &records[..2]), Answer::Pass);
}

#[test]
fn holm_makes_the_surest_statements_first() {
    assert_eq!(holm(&[0.04, 0.01, 0.02], 0.05), [true, true, true]);
    assert_eq!(holm(&[0.04, 0.02, 0.03], 0.05), [false; 3]);
    assert_eq!(holm(&[0.5, 0.01], 0.05), [false, true]);
    assert_eq!(holm(&[], 0.05), Vec::<bool>::new());
}
