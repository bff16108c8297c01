//! In: a recorded trace, and the time. Out: its operations one by one, when each is due.

use std::sync::Arc;

use blocklab_units::Nanos;
use blocklab_workload::{Direction, Invalid, Job, Replay, Request};

use crate::pace::Due;

/// The next operation of a replay.
#[derive(Debug)]
pub(crate) struct ReplayCursor {
    replay: Arc<Replay>,
    next: usize,
    start: Nanos,
}

impl ReplayCursor {
    /// # Errors
    /// [`Invalid`] when an operation lies outside its target or is larger than the job's blocks.
    pub(crate) fn for_job(job: &Job, sizes: &[u64]) -> Result<Option<Self>, Invalid> {
        let Some(replay) = &job.replay else {
            return Ok(None);
        };
        let largest = job.sizes.largest().0;
        let outside = replay.operations.iter().find(|op| {
            let end = op.offset.checked_add(u64::from(op.len));
            let size = sizes.get(op.target as usize).copied();
            let fits = end.zip(size).is_some_and(|(end, size)| end <= size);
            op.direction != Direction::Sync && (u64::from(op.len) > largest || !fits)
        });
        if let Some(op) = outside {
            return Err(Invalid {
                field: "replay",
                message: format!(
                    "the replayed {} of {} bytes at offset {} does not fit target {} or the \
                     largest block of {largest} bytes",
                    op.direction.name(),
                    op.len,
                    op.offset,
                    op.target
                ),
            });
        }
        Ok(Some(Self {
            replay: Arc::clone(replay),
            next: 0,
            start: Nanos::ZERO,
        }))
    }

    pub(crate) const fn begin(&mut self, start: Nanos) {
        self.start = start;
    }

    pub(crate) fn due(&self, now: Nanos) -> Due {
        match self.replay.operations.get(self.next) {
            Some(op) if self.replay.keeps_time => {
                let moment = self.start.saturating_add(op.at);
                if now < moment {
                    Due::At(moment)
                } else {
                    Due::Now(moment)
                }
            }
            _ => Due::Now(now),
        }
    }

    pub(crate) fn draw(&mut self) -> Option<Request> {
        let op = self.replay.operations.get(self.next)?;
        self.next += 1;
        Some(Request {
            target: op.target,
            direction: op.direction,
            len: if op.direction == Direction::Sync {
                0
            } else {
                op.len
            },
            offset: op.offset,
        })
    }

    pub(crate) fn is_over(&self) -> bool {
        self.next >= self.replay.operations.len()
    }
}
