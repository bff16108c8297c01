//! In: the time and the operations of a worker. Out: whether the next one may be issued, by the rules
//! that few jobs have: replay, rates by direction, search for a depth, flows, no overlap.

use blocklab_units::Nanos;
use blocklab_workload::{Direction, Invalid, Job, Request, Requests};

use crate::bounds::pass;
use crate::depth_search::{DepthSearch, FoundDepth};
use crate::direction_pacers::DirectionPacers;
use crate::flows::{FlowMember, Flows};
use crate::in_flight::InFlight;
use crate::missed::Missed;
use crate::overlaps::Overlaps;
use crate::pace::Due;
use crate::recorder::Recorder;
use crate::replay_cursor::ReplayCursor;
use crate::verifier::Verifier;

/// The rules of one worker; most jobs have none.
#[derive(Debug)]
pub(crate) struct IssueRules {
    /// Nothing is issued before this moment.
    begin: Nanos,
    /// Once the queue has been full, it is refilled only when no more than this many operations are
    /// in flight; `draining` until then. 0: it is refilled at every opportunity.
    low: usize,
    draining: bool,
    ios_left: u64,
    /// What is issued in the ramp counts for the end of the job, too.
    counts_ramp: bool,
    pieces: Option<Pieces>,
    pub(crate) pacers: Option<DirectionPacers>,
    pub(crate) replay: Option<Replaying>,
    pub(crate) depth_search: Option<DepthSearch>,
    flow: Option<FlowMember>,
    no_overlap: bool,
    /// A request that overlaps one in flight and waits for it.
    held: Option<Request>,
    /// When the request that was drawn last was due.
    due: Nanos,
    max_latency: Nanos,
}

/// What the rules know of a replay.
#[derive(Debug)]
pub(crate) struct Replaying {
    cursor: ReplayCursor,
    overlaps: Overlaps,
    begin: Nanos,
    /// The latest moment that an issued operation was due at.
    latest: Nanos,
    /// When the last operation completed that had taken the last room in flight.
    room_at: Nanos,
}

impl Replaying {
    fn new(cursor: ReplayCursor) -> Self {
        Self {
            cursor,
            overlaps: Overlaps::default(),
            begin: Nanos::ZERO,
            latest: Nanos::ZERO,
            room_at: Nanos::ZERO,
        }
    }

    /// Counts an issued operation.
    fn issued(&mut self, issue: &Issue<'_>, due: Nanos, recorder: &Recorder) {
        self.cursor.went_out(issue.slot);
        if self.overlaps.begins(issue.request, issue.slot) {
            recorder.conflicts.add(1);
        }
        let Some(times) = &recorder.issue_times else {
            return;
        };
        if due < self.latest {
            recorder.reordered.add(1);
        }
        self.latest = self.latest.max(due);
        let had_no_room = due < self.room_at;
        times.count(
            due.since(self.begin),
            issue.now.since(self.begin),
            had_no_room,
        );
    }
}

/// An operation that was issued.
pub(crate) struct Issue<'a> {
    pub(crate) request: &'a Request,
    pub(crate) slot: usize,
    pub(crate) now: Nanos,
    /// It has taken the last room in flight.
    pub(crate) is_full: bool,
    /// It is not one of the ramp.
    pub(crate) measured: bool,
}

/// Whether an operation may be issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IssueDecision {
    Now,
    /// Not before the next completion.
    AfterCompletion,
    /// Not before this moment or the next completion, whichever comes first.
    At(Nanos),
}

impl IssueRules {
    /// The rules of one thread of a job; `None`: it issues an operation whenever a slot is free.
    ///
    /// # Errors
    /// [`Invalid`] when a replay does not fit the targets of these sizes.
    pub(crate) fn new(
        job: &Job,
        seed: u64,
        thread: u32,
        sizes: &[u64],
        flows: &Flows,
    ) -> Result<Option<Box<Self>>, Invalid> {
        let cursor = ReplayCursor::for_job(job, sizes)?;
        let pacers = DirectionPacers::for_job(job, seed, thread);
        let depth = job.effective_depth();
        let pieces = Pieces::for_job(job, thread, sizes)?;
        // A job that none of the rules concerns has no `IssueRules`, and issuing checks one `None`.
        let is_needed = pacers.is_some()
            || cursor.is_some()
            || job.latency_target.is_some()
            || job.flow.is_some()
            || job.max_latency.is_some()
            || job.no_overlap
            || Verifier::needs_order(job)
            || job.batch.low > 0
            || job.stop.ios.is_some()
            || pieces.is_some()
            || job.start_delay > Nanos::ZERO;
        Ok(is_needed.then(|| {
            Box::new(Self {
                begin: Nanos::ZERO,
                low: job.batch.low as usize,
                draining: false,
                ios_left: job.stop.ios.unwrap_or(u64::MAX),
                // Its number is that of the writes which an earlier run has left at least.
                counts_ramp: job.verify.is_some() && !job.writes(),
                pieces,
                pacers,
                replay: cursor.map(Replaying::new),
                depth_search: job
                    .latency_target
                    .map(|target| DepthSearch::new(target, depth, job.last_window().is_some())),
                flow: flows.join(job),
                no_overlap: job.no_overlap || Verifier::needs_order(job),
                held: None,
                due: Nanos::ZERO,
                max_latency: job.max_latency.unwrap_or(Nanos::MAX),
            })
        }))
    }

    /// Sets the start of all pacers and replays.
    pub(crate) fn begin(&mut self, start: Nanos, measure_from: Nanos) {
        self.begin = start;
        if let Some(pacers) = &mut self.pacers {
            pacers.begin(start);
        }
        if let Some(replay) = &mut self.replay {
            replay.begin = start;
            replay.cursor.begin(start);
        }
        self.measure_from(measure_from);
    }

    pub(crate) const fn measure_from(&mut self, moment: Nanos) {
        if let Some(depth_search) = &mut self.depth_search {
            depth_search.begin(moment);
        }
    }

    /// Whether an operation may be issued now, with this many in flight.
    pub(crate) fn decide(&mut self, now: Nanos, in_flight: usize) -> IssueDecision {
        if now < self.begin {
            return IssueDecision::At(self.begin);
        }
        // Once the queue has been full, it drains down to the low mark before it is filled again.
        self.draining &= in_flight > self.low;
        let allowed = self
            .depth_search
            .as_ref()
            .map_or(usize::MAX, DepthSearch::depth);
        if self.draining || in_flight >= allowed {
            return IssueDecision::AfterCompletion;
        }
        match &mut self.flow {
            Some(member) if member.is_ahead() => {
                IssueDecision::At(now.saturating_add(member.pause))
            }
            _ => IssueDecision::Now,
        }
    }

    /// When the next operation is due by a replay or by the pacers of the directions.
    pub(crate) fn due(&mut self, now: Nanos, requests: &mut Requests) -> Due {
        let due = match (&mut self.pacers, &mut self.replay) {
            // It was due when it was drawn, and keeps that moment.
            _ if self.held.is_some() => Due::Now(self.due),
            (_, Some(replay)) => replay.cursor.due(now),
            (Some(pacers), None) => pacers.due(now, requests),
            (None, None) => Due::Now(now),
        };
        if let Due::Now(moment) = due {
            self.due = moment;
        }
        due
    }

    /// The next request; `None` while it overlaps one in flight.
    pub(crate) fn draw<'a>(
        &mut self,
        requests: &mut Requests,
        in_flight: impl Iterator<Item = &'a InFlight>,
    ) -> Option<Request> {
        let drawn = match (self.held.take(), &mut self.replay, &mut self.pacers) {
            (Some(held), ..) => held,
            (None, Some(replay), _) => replay.cursor.draw()?,
            (None, None, Some(pacers)) => requests.request(pacers.take()),
            (None, None, None) => requests.next_request(),
        };
        if self.no_overlap && overlaps(&drawn, in_flight) {
            self.held = Some(drawn);
            return None;
        }
        Some(drawn)
    }

    /// Counts an issued operation. Returns whether it was the last one.
    pub(crate) fn issued(&mut self, issue: &Issue<'_>, recorder: &Recorder) -> bool {
        let request = issue.request;
        self.draining = self.low > 0 && (issue.is_full || self.draining);
        let counts = issue.measured || self.counts_ramp;
        self.ios_left -= u64::from(counts);
        if let Some(pacers) = &mut self.pacers {
            pacers.begun(request.direction, issue.now, request.len);
        }
        if let Some(replay) = &mut self.replay {
            replay.issued(issue, self.due, recorder);
        }
        if let Some(member) = &self.flow {
            member.issued();
        }
        let replay = self.replay.as_ref();
        let played = replay.is_some_and(|replay| replay.cursor.is_over());
        let pieces = self.pieces.as_mut().filter(|_| counts);
        let covered = pieces.is_some_and(|pieces| pieces.count(request));
        self.ios_left == 0 || covered || played
    }

    /// Whether a replay or the pacers of the directions replace the pace of the job.
    pub const fn has_schedule(&self) -> bool {
        self.pacers.is_some() || self.replay.is_some()
    }

    /// An operation has left its slot; `had_no_room`: until now, no slot was free.
    pub(crate) fn leave_slot(&mut self, io: &InFlight, slot: usize, now: Nanos, had_no_room: bool) {
        if let Some(replay) = &mut self.replay {
            replay.overlaps.ends(io, slot);
            replay.cursor.completed(slot, now);
            if had_no_room {
                replay.room_at = now;
            }
        }
    }

    /// Counts a completed operation. Returns the depth if a search ends with it.
    pub(crate) fn completed(&mut self, service: Nanos, now: Nanos) -> Option<FoundDepth> {
        self.depth_search.as_mut()?.completed(service, now)
    }

    /// Whether an operation exceeded the maximum latency of the job.
    pub(crate) fn is_too_slow(&self, service: Nanos) -> bool {
        service > self.max_latency
    }

    /// Nothing more is issued, so other jobs of the flow need not wait.
    pub(crate) fn end(&mut self) {
        self.flow = None;
    }

    /// The operations that were due and never issued, by direction.
    pub(crate) fn overdue(&mut self, end: Nanos) -> [Missed; 3] {
        let pacers = self.pacers.as_mut();
        pacers.map_or_else(Default::default, |pacers| pacers.overdue(end))
    }
}

/// The pieces that are left until all passes are over. A pass with blocks that are cut to pieces may
/// transfer fewer bytes than its region has, so its end is counted in pieces.
#[derive(Debug)]
struct Pieces {
    /// Bytes of a piece.
    piece: u64,
    /// How many are left.
    left: u64,
    trim_first: bool,
}

impl Pieces {
    /// The pieces of a thread; `None`: the job is not divided into pieces, or does not end by
    /// loops.
    fn for_job(job: &Job, thread: u32, sizes: &[u64]) -> Result<Option<Self>, Invalid> {
        let (Some(piece), Some(loops)) = (job.piece(), job.stop.loops) else {
            return Ok(None);
        };
        Ok(Some(Self {
            piece: piece.0,
            left: (pass(job, thread, sizes)? / piece.0).saturating_mul(loops.into()),
            trim_first: job.trim_first,
        }))
    }

    /// Counts the pieces of a request. Returns whether they were the last.
    fn count(&mut self, request: &Request) -> bool {
        if !(self.trim_first && request.direction == Direction::Trim) {
            let pieces = u64::from(request.len).div_ceil(self.piece);
            self.left = self.left.saturating_sub(pieces);
        }
        self.left == 0
    }
}

/// Whether a request shares bytes with one of these operations.
pub(crate) fn overlaps<'a>(
    request: &Request,
    mut others: impl Iterator<Item = &'a InFlight>,
) -> bool {
    let end = request.offset + u64::from(request.len);
    others.any(|other| {
        let moves = other.direction != Direction::Sync;
        let other_end = other.offset + u64::from(other.len);
        moves && other.file == request.target && request.offset < other_end && other.offset < end
    })
}

#[cfg(test)]
mod tests {
    use blocklab_units::Bytes;
    use blocklab_workload::{BlockSizes, Pattern, SizeMix, Stop};

    use super::*;

    /// The story: passes over more pieces than 64 bits count wrapped, and the job ended early.
    #[test]
    fn more_passes_than_can_be_counted_are_as_many_as_there_may_be() {
        let job = Job {
            pattern: Pattern::RANDOM_ONCE,
            sizes: BlockSizes::same(SizeMix(vec![(Bytes(512), 1), (Bytes(4096), 1)])),
            stop: Stop {
                loops: Some(u32::MAX),
                ..Stop::default()
            },
            ..Job::new("pieces")
        };
        let pieces = Pieces::for_job(&job, 0, &[1 << 44]).expect("room for a block");
        assert_eq!(pieces.expect("a job of pieces").left, u64::MAX);
    }
}
