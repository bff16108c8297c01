//! In: issues and completions as a kernel reports them. Out: operations with how long they took, in
//! the order of their issue.
//!
//! A completion belongs to the oldest issue of the same device and sector that is open. An issue
//! whose completion was lost is given without how long it took, once it is older than
//! [`LONGEST_OPEN`] or [`MOST_HELD`] operations wait behind it.

use std::collections::{HashMap, VecDeque};

use blocklab_units::Nanos;

use crate::operation::Raw;

/// The kernel's own timeout of a request is 30 s.
const LONGEST_OPEN: Nanos = Nanos::from_secs(60);
/// Operations that are held back.
const MOST_HELD: usize = 1 << 17;

#[derive(Debug)]
struct Issue {
    sector: u64,
    raw: Raw,
    is_complete: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Paired {
    /// By device and sector, the numbers of what is open.
    open: HashMap<(u32, u64), VecDeque<u64>>,
    issued: VecDeque<Issue>,
    /// The number of the first of them.
    first: u64,
    now: Nanos,
    is_over: bool,
    unmatched: u64,
    unfinished: u64,
}

impl Paired {
    pub(crate) fn issue(&mut self, sector: u64, raw: Raw) {
        let number = self.first + self.issued.len() as u64;
        let numbers = self.open.entry((raw.target, sector)).or_default();
        numbers.push_back(number);
        self.now = self.now.max(raw.at);
        self.issued.push_back(Issue {
            sector,
            raw,
            is_complete: false,
        });
    }

    pub(crate) fn complete(&mut self, target: u32, sector: u64, at: Nanos) {
        self.now = self.now.max(at);
        let Some(number) = self.close(target, sector, VecDeque::pop_front) else {
            self.unmatched += 1;
            return;
        };
        // What was given up has left `open` with it, so the number is that of one that is held.
        if let Some(issue) = self.issued.get_mut((number - self.first) as usize) {
            issue.raw.took = Some(at.since(issue.raw.at));
            issue.is_complete = true;
        }
    }

    fn close(
        &mut self,
        target: u32,
        sector: u64,
        take: impl FnOnce(&mut VecDeque<u64>) -> Option<u64>,
    ) -> Option<u64> {
        let numbers = self.open.get_mut(&(target, sector))?;
        let number = take(numbers);
        if numbers.is_empty() {
            self.open.remove(&(target, sector));
        }
        number
    }

    /// The next operation, if it is complete or no longer waited for.
    pub(crate) fn ready(&mut self) -> Option<Raw> {
        let front = self.issued.front()?;
        let is_complete = front.is_complete;
        let is_given_up = self.is_over
            || self.issued.len() > MOST_HELD
            || self.now.since(front.raw.at) > LONGEST_OPEN;
        if !is_complete && !is_given_up {
            return None;
        }
        let issue = self.issued.pop_front()?;
        if !is_complete {
            self.unfinished += 1;
            // It is the oldest of its place.
            self.close(issue.raw.target, issue.sector, VecDeque::pop_front);
        }
        self.first += 1;
        Some(issue.raw)
    }

    /// After the last event: what is still open is given as well.
    pub(crate) const fn end(&mut self) {
        self.is_over = true;
    }

    pub(crate) fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.unfinished > 0 {
            remarks.push(format!(
                "{} operations have no completion in the trace: how long they took is not known",
                self.unfinished
            ));
        }
        if self.unmatched > 0 {
            remarks.push(format!(
                "{} completions belong to operations that were issued before the trace began, or \
                 whose issue was lost: they are left out",
                self.unmatched
            ));
        }
        remarks
    }
}
