//! Several systems of a study: they take turns, and what was interrupted goes on.

use std::sync::atomic::{AtomicBool, Ordering};

use blocklab_catalog::Catalog;
use blocklab_native as native;
use blocklab_record::{Origin, Record, Status, Stopped};
use blocklab_store::Store;
use blocklab_units::Nanos;

use super::run_parts;
use crate::prepared::resumable;
use crate::system_run::Part;
use crate::{Event, Guard, Observer, Questions, Request, Setting, Study, Until};

const STUDY: &str = r#"
name = "turns"
seed = 3
passes = 2
[defaults]
engine = "null"
stop_bytes = "64KiB"
[[case]]
name = "a"
[[case]]
name = "b"
rate_percent = [50]
"#;

/// Notes what is measured, and pulls the plug after this many measurements.
struct Plug<'a> {
    turns: Vec<(usize, String, u32)>,
    current: usize,
    left: usize,
    interrupted: &'a AtomicBool,
    start_in: Option<Nanos>,
}

impl Questions for Plug<'_> {
    fn start_in(&mut self) -> Option<Nanos> {
        self.start_in
    }
}

impl Observer for Plug<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Turn(part) => self.current = part,
            Event::Begins { case, pass, .. } => {
                self.turns.push((self.current, case.name.clone(), pass));
            }
            Event::Ended(_) => {
                self.left -= 1;
                if self.left == 0 {
                    self.interrupted.store(true, Ordering::Relaxed);
                }
            }
            _ => {}
        }
    }
}

/// Conducts the study on two systems; `before` is what an interruption left of them.
fn conducted(left: usize, before: [Option<Record>; 2]) -> (Vec<Record>, Vec<(usize, String, u32)>) {
    on("null", left, before)
}

/// The same on a target of one's choice.
fn on<const N: usize>(
    target: &str,
    left: usize,
    before: [Option<Record>; N],
) -> (Vec<Record>, Vec<(usize, String, u32)>) {
    begun_in(None, target, left, before)
}

/// The same with the time to the first pass, as the coordinator of a fleet gives it.
fn begun_in<const N: usize>(
    start_in: Option<Nanos>,
    target: &str,
    left: usize,
    before: [Option<Record>; N],
) -> (Vec<Record>, Vec<(usize, String, u32)>) {
    begun_until(None, start_in, target, left, before)
}

/// The same with passes that are added.
fn begun_until<const N: usize>(
    until: Option<Until>,
    start_in: Option<Nanos>,
    target: &str,
    left: usize,
    before: [Option<Record>; N],
) -> (Vec<Record>, Vec<(usize, String, u32)>) {
    let parsed = native::parse(STUDY, "turns.toml").expect("a study");
    let catalog = Catalog::embedded();
    let interrupted = AtomicBool::new(false);
    let guard = Guard::default();
    let setting = Setting {
        store: &Store::open("/nowhere"),
        guard: &guard,
        catalog: &catalog,
        interrupted: &interrupted,
    };
    let study = Study {
        publication: parsed.publication,
        ..Study::of_plan(parsed.plan)
    };
    let request = Request {
        until,
        ..Request::once(study, vec![target.to_owned()])
    };
    let parts = before.into_iter().enumerate().map(|(number, before)| Part {
        system: None,
        id: format!("run{number}"),
        plan: request.study.plan.clone(),
        targets: request.targets.clone(),
        before,
        request: &request,
        setting,
    });
    let parts = parts.collect();
    let mut plug = Plug {
        turns: Vec::new(),
        current: 0,
        left,
        interrupted: &interrupted,
        start_in,
    };
    let records = run_parts(parts, &guard, &mut plug).expect("conducted");
    (records, plug.turns)
}

/// The story: a host of a fleet that heard of the start after its moment was to begin at once. It ended
/// instead, because "the run was to begin" some nanoseconds before.
#[test]
fn a_start_that_has_passed_means_at_once() {
    let (records, _) = begun_in(Some(Nanos::ZERO), "null", usize::MAX, [None]);
    assert_eq!(records[0].status, Status::Complete);
}

#[test]
fn systems_take_turns() {
    let (records, turns) = conducted(usize::MAX, [None, None]);
    let first: Vec<_> = turns
        .iter()
        .take(4)
        .map(|(part, case, _)| (*part, &**case))
        .collect();
    assert_eq!(first, [(0, "a"), (1, "a"), (0, "b"), (1, "b")]);
    assert_eq!(turns.len(), 12);
    assert!(
        records
            .iter()
            .all(|record| record.status == Status::Complete && record.measurements.len() == 6)
    );
}

#[test]
fn a_share_is_of_what_was_reached_just_before() {
    let (records, _) = conducted(usize::MAX, [None, None]);
    let measured = |case: &str| {
        let mut all = records[0].measurements.iter();
        all.find(|measurement| measurement.case == case && measurement.pass == 1)
            .expect(case)
    };
    let full = measured("b").jobs[0].iops();
    let requested = measured("b-rate_percent50").jobs[0]
        .requested_iops
        .expect("a rate");
    assert!((requested / full - 0.5).abs() < 1e-9, "{requested} {full}");
    assert!(
        !records[0].requested.native.contains("rate_iops = 1\n"),
        "{}",
        records[0].requested.native
    );
}

#[test]
fn what_was_interrupted_goes_on_where_it_stopped() {
    let (stopped, turns) = conducted(5, [None, None]);
    assert_eq!(turns.len(), 5);
    assert!(
        stopped
            .iter()
            .all(|record| record.status == Status::Interrupted)
    );
    let kept = stopped[0].measurements.clone();
    assert_eq!((kept.len(), stopped[1].measurements.len()), (3, 2));
    let mut stopped = stopped.into_iter().map(Some);
    let before = [stopped.next().flatten(), stopped.next().flatten()];
    let (whole, turns) = conducted(usize::MAX, before);
    assert_eq!(turns.len(), 7, "only what was missing");
    assert_eq!(whole[0].measurements[..3], kept[..]);
    assert!(
        whole
            .iter()
            .all(|record| record.status == Status::Complete && record.measurements.len() == 6)
    );
    assert!(whole[0].notes.iter().any(|note| note.subject == "resumed"));
}

/// The story: a study that was interrupted in a pass that its precision had added was resumed after all
/// passes of its plan, and ended at once, as imprecise as it was.
#[test]
fn passes_are_added_also_after_all_of_the_plan_were_made_before() {
    let (whole, _) = on("null", usize::MAX, [None]);
    let until = Until {
        // No interval is as narrow, not even that of equal rates.
        percent: -1.0,
        limit: Nanos::from_secs(3600),
    };
    let before = whole.into_iter().next();
    let (_, turns) = begun_until(Some(until), None, "null", 3, [before]);
    let passes: Vec<u32> = turns.iter().map(|(.., pass)| *pass).collect();
    assert_eq!(passes, [3; 3]);
}

/// The story: a study that was interrupted in its fifth measurement said that the same command
/// continues 5, and made the fifth again. A measurement of a simulated system was counted as well.
#[test]
fn only_whole_measurements_are_continued() {
    let (mut stopped, _) = conducted(5, [None, None]);
    assert_eq!(resumable(&stopped), 5);
    let last = stopped[0].measurements.last_mut().expect("one");
    last.jobs[0].stopped = Stopped::Interrupted;
    assert_eq!(resumable(&stopped), 4);
    stopped[1].origin = Origin::Simulated;
    assert_eq!(resumable(&stopped), 2);
}

#[test]
fn simulated_systems_at_once_give_what_one_alone_gives() {
    let target = "sim:gp3:20GiB";
    let (alone, _) = on(target, usize::MAX, [None]);
    let (both, turns) = on(target, usize::MAX, [None, None]);
    assert_eq!(turns.len(), 2 * alone[0].measurements.len());
    assert_eq!(turns[0].0, 0, "in order");
    assert_eq!(turns[1].0, 1, "in order");
    for record in &both {
        assert_eq!(record.measurements, alone[0].measurements);
    }
}
