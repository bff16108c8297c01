//! The words for a run compared with documents, the same in text and on a page.

use blocklab_compare::expect::{CaseCheck, Compared, HowToTest, LimitCheck, State, Why};
use blocklab_findings::Obstacle;
use blocklab_units::{Bytes, count, plural, stated};

use crate::words::facts;

/// The name of a row, with its target if several have addresses of their own.
pub fn row_name(name: &str, target: Option<&String>) -> String {
    match target {
        Some(target) => format!("{name} on {target}"),
        None => name.to_owned(),
    }
}

/// Titles of [`limit_cells`].
pub const LIMIT_TITLES: [&str; 4] = ["documented", "delivered", "share", "verdict"];
/// Titles of [`case_cells`].
pub const CASE_TITLES: [&str; 4] = ["delivered IOPS", "expected IOPS", "share", "it is"];

/// A cell for each of [`LIMIT_TITLES`].
pub fn limit_cells(check: &LimitCheck) -> [String; 4] {
    let share = check
        .delivered
        .map(|delivered| delivered / check.value * 100.0);
    [
        format!("{} {}", stated(check.value), check.unit),
        check.delivered.map_or_else(dash, |delivered| {
            format!("{} {}", facts::fine_rate(delivered), check.unit)
        }),
        share.map_or_else(dash, |share| format!("{} %", count(share))),
        facts::word(check.state),
    ]
}

/// The case that reached the limit, or the load that would; empty if neither is known.
pub fn limit_how(check: &LimitCheck) -> String {
    match (&check.how_to_test, &check.case) {
        (Some(HowToTest::Not(why)), _) => why.clone(),
        (Some(HowToTest::By(how)), _) => format!("to test it: {how}"),
        (None, Some(case)) => format!("by {case}"),
        (None, None) => String::new(),
    }
}

/// What [`limit_how`] says, and the source of the limit.
pub fn limit_words(check: &LimitCheck) -> String {
    let how = limit_how(check);
    if how.is_empty() {
        check.origin.clone()
    } else {
        format!("{how}; {}", check.origin)
    }
}

/// Below this share of the rate of a rested device, in per cent, "as expected" would puzzle a
/// reader.
const LEAST: f64 = 95.0;

/// A cell for each of [`CASE_TITLES`].
pub fn case_cells(check: &CaseCheck) -> [String; 4] {
    let share = check
        .expected_iops
        .map(|expected| check.iops / expected * 100.0);
    // As expected, but by the rate that remains without credits.
    let why = match share {
        Some(share) if share < LEAST && check.why == Why::AsExpected => {
            let binding = check.binding.as_deref().unwrap_or_default();
            format!(
                "as expected, bound by {binding}; a rested device begins with what it has saved up"
            )
        }
        _ => why(check),
    };
    [
        facts::iops(check.iops),
        check.expected_iops.map_or_else(dash, facts::iops),
        share.map_or_else(dash, |share| format!("{} %", count(share))),
        why,
    ]
}

/// Why the case delivered its rate, in a few words.
fn why(check: &CaseCheck) -> String {
    let binding = check.binding.as_deref().unwrap_or_default();
    match &check.why {
        Why::AsExpected => format!("as expected, bound by {binding}"),
        Why::SharedInstance => "as expected, the instance holds its volumes together".to_owned(),
        Why::DefaultSettings => "as by default: settings not in effect".to_owned(),
        Why::Interrupted => format!("as expected, bound by {binding}, but interrupted"),
        Why::OtherType(kind) => format!("another type of volume: {kind}"),
        Why::OtherInstance(names) => format!("another instance: {}", names.join(", ")),
        Why::OtherSize(gib) => format!("another size: about {}", Bytes(gib << 30)),
        Why::FewerVolumes(fewer) => format!("as {fewer} of the volumes"),
        Why::OtherSetting {
            limit,
            recorded,
            unit,
            ..
        } => {
            format!(
                "held by {limit}, set to {}",
                facts::quantity(*recorded, unit)
            )
        }
        Why::AnotherDay(day) => format!("as the limits of {day}"),
        Why::UnitSlip(units) => format!("as expected, off by the factor of {units}"),
        Why::Quicker => "quicker than any that was published".to_owned(),
        Why::Slower => "slower than any that was published".to_owned(),
        Why::SlowerThanModel => "far slower than the model of its type".to_owned(),
        Why::Above => format!("above {binding}"),
        Why::Below => format!("below {binding}"),
        Why::Latency => "latency-bound (no documented limit)".to_owned(),
        Why::NotComparable => match check.obstacle {
            Some(obstacle) => format!("not compared: {}", hindered(obstacle)),
            None => "not compared with documents".to_owned(),
        },
    }
}

/// What keeps a case from being compared with documents.
fn hindered(obstacle: Obstacle) -> &'static str {
    match obstacle {
        Obstacle::Nothing => "no operation was completed",
        Obstacle::NoIo => "the engine does no I/O",
        Obstacle::PageCache => "the page cache may have answered",
        Obstacle::Paced => "a rate or pauses were requested",
        Obstacle::Shares => "its jobs kept to shares",
        Obstacle::Processor => "the processor was the limit",
        Obstacle::NotCounted => "not counted for each target",
        Obstacle::SeveralPatterns => "its jobs have several patterns",
        Obstacle::OtherOperations => "it flushed or trimmed as well",
        Obstacle::Pattern => "no prediction for its pattern",
        Obstacle::NothingPromised => "nothing is promised for it",
    }
}

/// How many limits are in which state: `7 limits of gp3:…: 2 met, 5 not tested.`
pub fn outcome(compared: &Compared) -> String {
    use State::{Exceeded, Interrupted, Met, Missed, NotTested, Undecided};
    let all = [Exceeded, Missed, Interrupted, Undecided, Met, NotTested];
    let states = facts::tally(&all, compared.limits.iter().map(|limit| limit.state));
    match compared.limits.len() {
        0 => format!("{}: no limit is documented.", compared.address),
        n => format!("{} of {}: {states}.", plural(n, "limit"), compared.address),
    }
}

fn dash() -> String {
    "–".to_owned()
}
