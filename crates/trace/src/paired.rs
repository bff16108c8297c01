//! In: issues and completions of requests, as the kernel reports them. Out: operations with their
//! latency, in the order of their issue.
//!
//! A completion belongs to the oldest open issue of the same device and [`Request`]. If a completion was
//! lost, its issue is given without a latency once it is older than [`TIMEOUT`], or [`MAX_HELD`]
//! operations wait behind it.

use std::collections::{HashMap, VecDeque};

use blocklab_units::{Nanos, agreeing, count, plural};

use crate::operation::Raw;

/// How long a completion is waited for. The kernel itself times a request out after 30 s.
const TIMEOUT: Nanos = Nanos::from_secs(60);
/// Most operations that are held back.
const MAX_HELD: usize = 1 << 17;

/// What the issue and the completion of a request have in common, besides the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Request {
    /// One that moves or discards data, by its first sector.
    Data(u64),
    /// A flush that the kernel itself issues.
    Flush,
    /// A write without data, by which an application asks for a flush.
    EmptyWrite,
}

/// An operation that was issued.
#[derive(Debug)]
struct Issue {
    request: Request,
    raw: Raw,
    is_complete: bool,
}

/// The operations that are held back, because they or one before them are not complete.
#[derive(Debug, Default)]
pub(crate) struct Paired {
    /// By device and request: the numbers of the open issues, the oldest first.
    open: HashMap<(u32, Request), VecDeque<u64>>,
    /// By device and request: how many of the open issues the driver gave back, to be issued again.
    requeued: HashMap<(u32, Request), usize>,
    /// All that are held back, in the order of their issue.
    issued: VecDeque<Issue>,
    /// The number of the first of them.
    first: u64,
    /// The time of the latest event.
    now: Nanos,
    /// Whether all events have come: from then on, no completion is waited for.
    pub(crate) is_over: bool,
    /// Number of completions without an issue.
    unmatched: u64,
    /// Number of issues without a completion.
    unfinished: u64,
}

impl Paired {
    /// Adds an operation that is issued, unless it was requeued: then it is the same one again.
    pub(crate) fn issue(&mut self, request: Request, raw: Raw) {
        self.now = self.now.max(raw.at);
        if let Some(count) = self.requeued.get_mut(&(raw.target, request))
            && *count > 0
        {
            *count -= 1;
            return;
        }
        let number = self.first + self.issued.len() as u64;
        let numbers = self.open.entry((raw.target, request)).or_default();
        numbers.push_back(number);
        self.issued.push_back(Issue {
            request,
            raw,
            is_complete: false,
        });
    }

    /// Notes that the driver gave an issued request back, because it had no room. It will be issued again.
    pub(crate) fn requeue(&mut self, target: u32, request: Request) {
        let key = (target, request);
        if let Some(numbers) = self.open.get(&key) {
            let count = self.requeued.entry(key).or_default();
            *count = numbers.len().min(*count + 1);
        }
    }

    /// Completes the oldest open operation of this device and request.
    pub(crate) fn complete(&mut self, target: u32, request: Request, at: Nanos) {
        self.now = self.now.max(at);
        let Some(number) = self.take_oldest(target, request) else {
            // The kernel's flush and the empty write that asked for it both complete, and only one of
            // them counts as an arrival.
            self.unmatched += u64::from(matches!(request, Request::Data(_)));
            return;
        };
        // An issue that is no longer waited for was removed from `open`, so this one is still held.
        if let Some(issue) = self.issued.get_mut((number - self.first) as usize) {
            issue.raw.took = Some(at.since(issue.raw.at));
            issue.is_complete = true;
        }
    }

    /// Removes the oldest open issue of a device and request, and gives its number.
    fn take_oldest(&mut self, target: u32, request: Request) -> Option<u64> {
        let numbers = self.open.get_mut(&(target, request))?;
        let number = numbers.pop_front();
        if numbers.is_empty() {
            self.open.remove(&(target, request));
            self.requeued.remove(&(target, request));
        }
        number
    }

    /// The next operation, if it is complete or no longer waited for.
    pub(crate) fn ready(&mut self) -> Option<Raw> {
        let front = self.issued.front()?;
        let is_complete = front.is_complete;
        let is_given_up =
            self.is_over || self.issued.len() > MAX_HELD || self.now.since(front.raw.at) > TIMEOUT;
        if !is_complete && !is_given_up {
            return None;
        }
        let issue = self.issued.pop_front()?;
        if !is_complete {
            self.unfinished += 1;
            // It is the oldest of all, so also the oldest of its device and request.
            self.take_oldest(issue.raw.target, issue.request);
        }
        self.first += 1;
        Some(issue.raw)
    }

    /// What could not be paired, in sentences.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.unfinished > 0 {
            remarks.push(format!(
                "{} {} no completion in the trace: how long {} took is not known",
                plural(self.unfinished as usize, "operation"),
                agreeing(self.unfinished as usize, "has", "have"),
                agreeing(self.unfinished as usize, "it", "they")
            ));
        }
        if self.unmatched > 0 {
            let operations = match self.unmatched {
                1 => "completion belongs to an operation that was",
                _ => "completions belong to operations that were",
            };
            remarks.push(format!(
                "{} {operations} issued before the trace began, or whose issue was lost: {} left out",
                count(self.unmatched as f64),
                agreeing(self.unmatched as usize, "it is", "they are")
            ));
        }
        remarks
    }
}

/// What a recorder tells of events that it lost, where it lost any.
pub(crate) fn remark_on_lost(lost: u64) -> Option<String> {
    let events = plural(lost as usize, "event");
    let verb = agreeing(lost as usize, "was", "were");
    (lost > 0).then(|| format!("{events} {verb} lost while recording"))
}
