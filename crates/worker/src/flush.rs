//! In: the writes of a worker. Out: the flushes that are due: after a number of writes, and once for
//! each file at the end.

use std::ops::Range;

use blocklab_workload::{Flush, Request, SyncKind};

/// Counts writes and decides when a flush is due.
#[derive(Debug, Default)]
pub(crate) struct Flusher {
    rule: Flush,
    files: u32,
    since_fsync: u32,
    since_fdatasync: u32,
    since_range: u32,
    last_file: u32,
    /// The range of each file that was written since its last flush; empty if the job never flushes
    /// ranges.
    written: Vec<Option<Range<u64>>>,
    /// Files that the final flush has not reached yet.
    remaining: u32,
    has_written: bool,
    due: bool,
    /// The flush that is due repeats the last one.
    again: bool,
}

impl Flusher {
    pub(crate) fn new(rule: Flush, files: u32) -> Self {
        let ranges = if rule.range_every > 0 { files } else { 0 };
        Self {
            rule,
            files,
            written: vec![None; ranges as usize],
            ..Self::default()
        }
    }

    /// Whether there is no flush between the operations.
    pub(crate) const fn is_only_at_the_end(&self) -> bool {
        let Flush {
            fsync_every,
            fdatasync_every,
            range_every,
            ..
        } = self.rule;
        fsync_every == 0 && fdatasync_every == 0 && range_every == 0
    }

    #[inline]
    pub(crate) const fn is_due(&self) -> bool {
        self.due
    }

    /// Counts a write to a file, after which a flush may be due.
    #[inline]
    pub(crate) fn written(&mut self, file: u32) {
        self.has_written = true;
        self.last_file = file;
        self.since_fsync += 1;
        self.since_fdatasync += 1;
        self.since_range += 1;
        self.due = self.reaches_fsync()
            || self.reaches_fdatasync()
            || is_reached(self.rule.range_every, self.since_range);
    }

    /// As [`Flusher::written`], for a worker that may flush ranges.
    pub(crate) fn written_at(&mut self, request: &Request) {
        self.written(request.target);
        if let Some(range) = self.written.get_mut(request.target as usize) {
            let end = request.offset + u64::from(request.len);
            let before = range.take().unwrap_or(request.offset..end);
            *range = Some(before.start.min(request.offset)..before.end.max(end));
        }
    }

    /// An operation other than a write was issued, after which the last flush may have to be repeated.
    pub(crate) fn issued_other(&mut self) {
        let Flush {
            fsync_every,
            fdatasync_every,
            ..
        } = self.rule;
        // The count is 0 while the last write has been flushed.
        let flushed = fsync_every > 0 && self.since_fsync == 0
            || fdatasync_every > 0 && self.since_fdatasync == 0;
        self.again = self.rule.after_reads && self.has_written && flushed;
        self.due |= self.again;
    }

    /// No write will follow. The final flush replaces one that is due already, and a flush of a range
    /// is dropped: it would only make room for writes that follow.
    pub(crate) fn ending(&mut self) {
        self.since_range = 0;
        self.due &= self.again || self.reaches_fsync() || self.reaches_fdatasync();
        let wanted = self.rule.at_end && self.has_written;
        self.remaining = if wanted { self.files } else { 0 };
        self.due |= self.remaining > 0;
    }

    #[inline]
    const fn reaches_fsync(&self) -> bool {
        is_reached(self.rule.fsync_every, self.since_fsync)
    }

    #[inline]
    const fn reaches_fdatasync(&self) -> bool {
        is_reached(self.rule.fdatasync_every, self.since_fdatasync)
    }

    /// The range of a file that the flush about to be issued covers; `None` if nothing was written there
    /// since the last one, or if the job never flushes ranges.
    pub(crate) fn take_range(&mut self, file: u32) -> Option<Range<u64>> {
        self.written.get_mut(file as usize)?.take()
    }

    /// Takes the flush that is due: the index of its file, and its kind.
    pub(crate) fn take(&mut self) -> (u32, SyncKind) {
        // The final flushes, from the last file to the first.
        if self.remaining > 0 {
            self.remaining -= 1;
            self.due = self.remaining > 0;
            return (self.remaining, SyncKind::Whole);
        }
        self.due = false;
        let again = std::mem::take(&mut self.again);
        let whole =
            self.reaches_fsync() || again && self.rule.fsync_every > 0 && self.since_fsync == 0;
        // Each kind has its own count; a flush also does the work of the lesser kinds.
        if whole {
            self.since_fsync = 0;
        }
        let data = again || self.reaches_fdatasync();
        self.since_range = 0;
        if !whole && !data {
            return (self.last_file, SyncKind::Range(self.rule.range_flags));
        }
        self.since_fdatasync = 0;
        let kind = if whole {
            SyncKind::Whole
        } else {
            SyncKind::DataOnly
        };
        (self.last_file, kind)
    }
}

#[inline]
const fn is_reached(every: u32, since: u32) -> bool {
    every > 0 && since >= every
}

#[cfg(test)]
mod tests {
    use super::*;
    use blocklab_workload::Direction;

    /// Which of these operations a flush follows; `w` writes, all others do not.
    #[track_caller]
    fn check(rule: Flush, operations: &str, flushed: &str) {
        let mut flusher = Flusher::new(rule, 1);
        let follows = operations.chars().map(|operation| {
            match operation {
                'w' => flusher.written(0),
                _ => flusher.issued_other(),
            }
            let due = flusher.is_due();
            if due {
                flusher.take();
            }
            if due { '!' } else { '.' }
        });
        assert_eq!(follows.collect::<String>(), flushed, "{operations}");
    }

    #[test]
    fn a_flush_follows_writes_and_on_request_the_reads_after_it() {
        let second = Flush {
            fsync_every: 2,
            ..Flush::default()
        };
        check(second, "rwrwrrwwr", "...!...!.");
        let as_fio = Flush {
            after_reads: true,
            ..second
        };
        check(as_fio, "rwrwrrwrwr", "...!!!..!!");
        let data_only = Flush {
            fsync_every: 0,
            fdatasync_every: 1,
            ..as_fio
        };
        check(data_only, "rwrwr", ".!!!!");
    }

    /// Each flush covered the whole file, and one more followed the last write.
    #[test]
    fn a_flush_of_a_range_covers_the_writes_before_it_and_has_others_behind_it() {
        let rule = Flush {
            range_every: 2,
            range_flags: 2,
            ..Flush::default()
        };
        let mut flusher = Flusher::new(rule, 2);
        let mut covered = Vec::new();
        for (target, block) in [(0, 3), (0, 1), (1, 7), (0, 9), (0, 5), (0, 4)] {
            flusher.written_at(&Request {
                target,
                direction: Direction::Write,
                offset: block * 4096,
                len: 4096,
            });
            if block == 4 {
                flusher.ending();
            }
            if flusher.is_due() {
                let (file, _) = flusher.take();
                let range = flusher.take_range(file).expect("written");
                covered.push((file, range.start / 4096..range.end / 4096));
            }
        }
        assert_eq!(covered, [(0, 1..4), (0, 9..10)]);
    }
}
