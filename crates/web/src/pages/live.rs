//! The page of a running run: what its spool holds, in words and as frames for the page's script.

use blocklab_findings::assess;
use blocklab_record::{LimitUse, Measurement, ModelUse, Record};
use blocklab_report::observed::amount_left;
use blocklab_report::prometheus::prometheus;
use blocklab_report::words::facts;
use blocklab_store::spool::{Current, Follower, Frame, Progress, SpoolError};
use blocklab_units::{Nanos, agreeing, count, plural};
use maud::html;
use serde::Serialize;

use super::Page;
use crate::layout::{live_script, navigation, page};
use crate::stored_runs::StoredRuns;

/// What a running run has got since the client last looked.
#[derive(Debug, Serialize)]
pub struct State {
    live_format: u32,
    /// Whether a process still holds the lock of the spool.
    pub is_running: bool,
    /// Number of the measurement, from 0.
    pub step: usize,
    /// Whether `frames` begins with the measurement's first frame, so that the page drops those that
    /// it has.
    pub is_whole: bool,
    /// The frames that are new to the client.
    pub frames: Vec<LiveFrame>,
    /// The texts of the page.
    pub words: Words,
}

/// One second of a measurement, as the page's script gets it.
#[derive(Debug, Serialize)]
pub struct LiveFrame {
    /// Its number in the measurement, from 1.
    pub number: u64,
    elapsed_ns: u64,
    in_flight: u64,
    slices: Vec<blocklab_record::Interval>,
    credits: Vec<blocklab_store::spool::Credit>,
}

/// The figures of the last second as text. Each field has the name of the HTML id where it is shown.
#[derive(Debug, Default, Serialize)]
pub struct Words {
    state: String,
    figures: String,
    in_flight: String,
    credits: String,
    limit: String,
}

/// The last frame that a client has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// Number of the measurement, from 0.
    pub step: usize,
    /// Number of the frame in the measurement, from 1; 0: none of it yet.
    pub frame: u64,
}

/// Reads the spool on and gives what comes after `seen`; `None`: the run has ended.
///
/// # Errors
/// When its spool cannot be read.
pub fn look(follower: &mut Follower, seen: Option<Seen>) -> Result<Option<State>, SpoolError> {
    if !follower.look()? {
        return Ok(None);
    }
    let is_running = follower.is_held();
    Ok(Some(state(follower.progress(), is_running, seen)))
}

/// What is new since `seen`, with the texts of the page.
fn state(progress: &Progress, is_running: bool, seen: Option<Seen>) -> State {
    let current = progress.current();
    let step = current.map_or(0, |current| current.begun.step);
    // Frames are counted anew in each measurement: a number of an earlier one says nothing here.
    let after = seen.filter(|seen| seen.step == step).map(|seen| seen.frame);
    let frames = current.map_or(&[][..], |current| &current.frames);
    let new = frames
        .iter()
        .filter(|frame| after.is_none_or(|after| frame.number > after));
    State {
        live_format: 1,
        is_running,
        step,
        is_whole: after.is_none(),
        frames: new.map(LiveFrame::new).collect(),
        words: words(progress.record(), current),
    }
}

impl LiveFrame {
    fn new(frame: &Frame) -> Self {
        Self {
            number: frame.number,
            elapsed_ns: frame.elapsed_ns,
            in_flight: frame.in_flight,
            slices: frame.slices.clone(),
            credits: frame.credits.clone(),
        }
    }
}

/// The texts; without a current measurement only how many are done.
fn words(record: Option<&Record>, current: Option<&Current>) -> Words {
    let done = record.map_or(0, |record| record.measurements.len());
    let Some(current) = current else {
        return Words {
            state: format!(
                "{} {} done; the next one begins",
                plural(done, "measurement"),
                agreeing(done, "is", "are")
            ),
            ..Words::default()
        };
    };
    let begun = &current.begun;
    let last = current.frames.last();
    let elapsed = last.map_or(Nanos::ZERO, |frame| Nanos(frame.elapsed_ns));
    let planned = begun
        .planned_ns
        .map(|planned| format!(" of {}", whole_seconds(Nanos(planned))));
    let slice = last.and_then(|frame| frame.slices.last());
    let moved = slice.map(|slice| facts::moved_figures(slice, ", ").join("; "));
    Words {
        state: format!(
            "{}, {}: {}{}; measurement {} of {}",
            begun.case,
            pass_name(begun.pass),
            whole_seconds(elapsed),
            planned.unwrap_or_default(),
            begun.step + 1,
            begun.steps
        ),
        figures: moved
            .filter(|text| !text.is_empty())
            .unwrap_or_else(|| "no operation completed".to_owned()),
        in_flight: last.map_or_else(String::new, |frame| count(frame.in_flight as f64)),
        credits: credits(current),
        limit: binding_limit(current),
    }
}

/// `pass 2`; pass 0 warms the target up, and enters no figure.
fn pass_name(pass: u32) -> String {
    match pass {
        0 => "warm-up pass".to_owned(),
        pass => format!("pass {pass}"),
    }
}

/// Up to two minutes `17 s` without decimals, because the text changes every second; longer times
/// like all others.
fn whole_seconds(time: Nanos) -> String {
    let seconds = time.0 / 1_000_000_000;
    match seconds {
        0..120 => format!("{seconds} s"),
        _ => Nanos::from_secs(seconds).to_string(),
    }
}

/// What is shown in place of a figure that only a model knows.
const NO_MODEL: &str = "unknown: the target is no model";

/// What is left of each burst bucket.
fn credits(current: &Current) -> String {
    let last = current.frames.last();
    let all = last.map_or(&[][..], |frame| &frame.credits);
    if all.is_empty() {
        return match model(current) {
            Some(_) => "none: the volume has no burst".to_owned(),
            None => NO_MODEL.to_owned(),
        };
    }
    let left = all.iter().map(|credit| {
        let amount = amount_left(credit.left, &credit.unit);
        format!("{}: {amount} left", credit.name)
    });
    left.collect::<Vec<_>>().join("; ")
}

/// What the model of the target says of the measurement so far; `None`: it is no model.
fn model(current: &Current) -> Option<&ModelUse> {
    current.so_far().and_then(|so_far| so_far.model.as_deref())
}

/// The limit of the simulated device for which operations waited longest in the last second.
fn binding_limit(current: &Current) -> String {
    let Some(model) = model(current) else {
        return NO_MODEL.to_owned();
    };
    // The waits are totals since the measurement began: the last second is the difference of two.
    let before = current.before.as_deref();
    let waited = model.limits.iter().map(|limit| {
        let then = before.map_or(0, |before| waited_before(before, limit));
        (limit, limit.waited_ns.saturating_sub(then))
    });
    let longest = waited.max_by_key(|(_, waited)| *waited);
    match longest.filter(|(_, waited)| *waited > 0) {
        Some((limit, _)) => limit.limit.to_string(),
        None => "none: the load is below all of them".to_owned(),
    }
}

/// How long operations had waited for the same limit one frame earlier, in ns; 0 when it is new.
fn waited_before(before: &Measurement, limit: &LimitUse) -> u64 {
    let limits = before.model.iter().flat_map(|model| &model.limits);
    let mut same =
        limits.filter(|other| other.limit == limit.limit && other.targets == limit.targets);
    same.next().map_or(0, |other| other.waited_ns)
}

/// The page with everything that is known so far; `None` when the run has ended.
///
/// # Errors
/// When the spool cannot be read.
pub fn live(id: &str, follower: &mut Follower) -> Result<Option<Page>, SpoolError> {
    let Some(state) = look(follower, None)? else {
        return Ok(None);
    };
    let name = follower
        .progress()
        .record()
        .map_or(id, |record| &record.requested.name);
    let words = &state.words;
    let places = [
        ("figures", "In the last second", &words.figures),
        ("in_flight", "In flight", &words.in_flight),
        ("credits", "Burst credits", &words.credits),
        ("limit", "Waits for", &words.limit),
    ];
    let main = html! {
        div id="live" data-run=(id) data-state=(if state.is_running { "running" } else { "done" }) data-frames="0" {
            h1 { (name) }
            p class="answer" id="state" aria-live="polite" {
                (words.state)
                @if !state.is_running { " – the run was killed there" }
            }
            p id="result" hidden[state.is_running] { a href={ "/run/" (id) } { "What was measured" } }
            dl class="now" {
                @for (place, name, text) in places {
                    div { dt { (name) } dd id=(place) class="words" { (text) } }
                }
            }
            div class="card grid-2 needs-script" id="charts" {}
            noscript { p class="card hint" { "The charts need JavaScript; reload for the figures of now." } }
        }
    };
    let more = [(format!("/live/{id}.json"), "JSON")];
    Ok(Some(Page {
        html: page(name, &navigation("", &more), &main, Some(live_script())),
        json: serde_json::to_string_pretty(&state).expect("a form holds no exotic keys") + "\n",
    }))
}

/// The JSON of the last event of a run. `is_kept`: whether its results are in the store.
pub fn end(is_kept: bool) -> String {
    let words = if is_kept {
        "done"
    } else {
        "the run was ended, and nothing is kept of it"
    };
    serde_json::json!({ "words": words, "is_kept": is_kept }).to_string()
}

/// The newest running run in the text format of Prometheus; empty when none is running.
pub fn metrics(runs: &StoredRuns) -> String {
    let record = runs.newest_running();
    let text = record.and_then(|record| prometheus(&record, &assess(&record)).ok());
    text.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: a pass that enters no figure was "pass 0" on the live page.
    #[test]
    fn a_pass_before_the_first_warms_up() {
        assert_eq!([0, 1].map(pass_name), ["warm-up pass", "pass 1"]);
    }
}
