//! When a worker flushes its writes: every so many operations, and once for each file at the end.

use blocklab_workload::{Flush, SyncKind};

/// Counts writes and decides when a flush is due.
#[derive(Debug, Default)]
pub(crate) struct Flusher {
    rule: Flush,
    files: u32,
    since_fsync: u32,
    since_fdatasync: u32,
    since_range: u32,
    last_file: u32,
    /// Files that the final flush has still to visit.
    remaining: u32,
    has_written: bool,
    due: bool,
    /// The flush that is due repeats the last one.
    again: bool,
}

impl Flusher {
    pub(crate) fn new(rule: Flush, files: u32) -> Self {
        Self {
            rule,
            files,
            ..Self::default()
        }
    }

    /// Whether no flush comes between the operations.
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

    #[inline]
    pub(crate) fn written(&mut self, file: u32) {
        self.has_written = true;
        self.last_file = file;
        self.since_fsync += 1;
        self.since_fdatasync += 1;
        self.since_range += 1;
        let reached = |every: u32, since: u32| every > 0 && since >= every;
        self.due = reached(self.rule.fsync_every, self.since_fsync)
            || reached(self.rule.fdatasync_every, self.since_fdatasync)
            || reached(self.rule.range_every, self.since_range);
    }

    /// An operation that writes nothing was issued.
    pub(crate) fn passed(&mut self) {
        let Flush {
            fsync_every,
            fdatasync_every,
            ..
        } = self.rule;
        let flushed = fsync_every > 0 && self.since_fsync == 0
            || fdatasync_every > 0 && self.since_fdatasync == 0;
        self.again = self.rule.after_reads && self.has_written && flushed;
        self.due |= self.again;
    }

    /// No write will follow. The final flush covers one that is due already.
    pub(crate) fn ending(&mut self) {
        let wanted = self.rule.at_end && self.has_written;
        self.remaining = if wanted { self.files } else { 0 };
        self.due |= self.remaining > 0;
    }

    /// File and kind of the flush that is due.
    pub(crate) fn take(&mut self) -> (u32, SyncKind) {
        if self.remaining > 0 {
            self.remaining -= 1;
            self.due = self.remaining > 0;
            return (self.remaining, SyncKind::Whole);
        }
        self.due = false;
        let reached = |every: u32, since: u32| every > 0 && since >= every;
        let again = std::mem::take(&mut self.again);
        let whole = reached(self.rule.fsync_every, self.since_fsync)
            || again && self.rule.fsync_every > 0 && self.since_fsync == 0;
        if whole {
            self.since_fsync = 0;
        }
        let data = again || reached(self.rule.fdatasync_every, self.since_fdatasync);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of these operations a flush follows; `w` writes, all others do not.
    #[track_caller]
    fn check(rule: Flush, operations: &str, flushed: &str) {
        let mut flusher = Flusher::new(rule, 1);
        let follows = operations.chars().map(|operation| {
            match operation {
                'w' => flusher.written(0),
                _ => flusher.passed(),
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
}
