//! The requests that one thread has in flight: it sleeps until the next of them is due.

use std::io;
use std::ops::Deref;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;

use blocklab_targets::Clock;
use blocklab_units::Nanos;

use crate::wait::{Interest, Ready, Timers, Waiter};
use crate::{Failure, Schedule, Settled, SleepPlan, Spin, Ticket, Volume};

/// A request that a volume has admitted, with what its reply needs.
#[derive(Debug)]
pub(crate) struct Pending<V, W> {
    pub volume: V,
    pub ticket: Ticket,
    /// The outcome of its data transfer.
    pub own: Result<(), Failure>,
    pub work: W,
}

impl<V: Deref<Target = Volume>, W> Pending<V, W> {
    /// Whether nothing has failed so far.
    pub(crate) const fn is_sound(&self) -> bool {
        self.ticket.is_sound() && self.own.is_ok()
    }

    /// Its outcome at its moment.
    #[inline]
    pub(crate) fn settle(&mut self, now: Nanos) -> Settled {
        self.volume.settle(&mut self.ticket, now, self.own)
    }
}

/// The requests of one thread by the moments at which they are due, and what it waits with.
pub(crate) struct InFlight<V: Deref<Target = Volume>, W> {
    schedule: Schedule<Pending<V, W>>,
    clock: Clock,
    timers: Timers,
    waiter: Waiter,
    /// How long the request just read waits for threads to wake: for this one, and for its client's.
    waking: Nanos,
}

impl<V: Deref<Target = Volume>, W> InFlight<V, W> {
    /// No request yet, for a thread that serves these volumes.
    ///
    /// # Errors
    /// When no more descriptors are allowed.
    ///
    /// # Panics
    /// Without a volume.
    pub(crate) fn new<'a>(
        volumes: impl IntoIterator<Item = &'a Arc<Volume>>,
        spin: Spin,
    ) -> io::Result<Self> {
        let waiter = Waiter::new()?;
        let mut clock = None;
        for volume in volumes {
            volume.register(waiter.waker());
            // The volumes of a server have the same clock.
            clock = Some(volume.clock());
        }
        Ok(Self {
            clock: clock.expect("a thread serves a volume"),
            schedule: Schedule::default(),
            timers: Timers::new(SleepPlan::new(spin.is_on()), &waiter)?,
            waiter,
            waking: Nanos::ZERO,
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.schedule.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.schedule.len()
    }

    pub(crate) fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// Reads requests. `asleep`: with nothing in flight, so that the thread sleeps until one comes.
    /// Otherwise a sleep was for another request, and how long this one has waited is not known.
    pub(crate) fn read<T>(
        &mut self,
        asleep: bool,
        read: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        if !asleep {
            self.waking = Nanos::ZERO;
            return read();
        }
        let began = self.now();
        let received = read()?;
        let waited = self.now().since(began);
        self.waking = self.timers.plan().wake_ups(waited);
        Ok(received)
    }

    /// A request that was admitted. Its reply is due earlier by the time that threads took to wake.
    pub(crate) fn pending(
        &self,
        volume: V,
        ticket: Ticket,
        own: Result<(), Failure>,
        work: W,
    ) -> Pending<V, W> {
        Pending {
            volume,
            ticket: ticket.sent_earlier(self.waking),
            own,
            work,
        }
    }

    /// Holds a request until it is due.
    pub(crate) fn hold(&mut self, pending: Pending<V, W>) {
        self.schedule.push(pending.ticket.due, pending);
    }

    /// Takes the next request whose reply is sent at `now`.
    pub(crate) fn next_due(&mut self, now: Nanos) -> Option<Pending<V, W>> {
        self.schedule.pop(self.timers.plan().horizon(now))
    }

    /// Sleeps until something of interest happens to the descriptor, or the next request is due. `None`:
    /// it is due now, or too soon for a sleep.
    pub(crate) fn sleep(
        &mut self,
        fd: BorrowedFd<'_>,
        interest: Interest,
    ) -> io::Result<Option<Ready>> {
        let now = self.now();
        let horizon = self.timers.plan().horizon(now);
        let due = self.schedule.next_two();
        if due[0].is_none_or(|due| due <= horizon) {
            return Ok(None);
        }
        if !self.timers.set(now, due)? {
            std::hint::spin_loop();
            return Ok(None);
        }
        let ready = self.waiter.wait(fd, interest, None)?;
        if ready.due {
            self.timers.ended(self.now());
        }
        self.reschedule_if_woken(ready);
        Ok(Some(ready))
    }

    /// Waits for the descriptor alone, whatever is due meanwhile; for at most `limit`.
    pub(crate) fn wait(
        &mut self,
        fd: BorrowedFd<'_>,
        interest: Interest,
        limit: Option<Duration>,
    ) -> io::Result<Ready> {
        let ready = self.waiter.wait(fd, interest, limit)?;
        self.reschedule_if_woken(ready);
        Ok(ready)
    }

    /// What wakes a thread may have changed the moments of all its requests.
    fn reschedule_if_woken(&mut self, ready: Ready) {
        if !ready.woken {
            return;
        }
        let now = self.now();
        for mut pending in self.schedule.drain() {
            pending.ticket.due = pending.volume.due(&pending.ticket, now);
            self.hold(pending);
        }
    }
}

impl<V: Deref<Target = Volume>, W> Drop for InFlight<V, W> {
    fn drop(&mut self) {
        for Pending { volume, ticket, .. } in self.schedule.drain() {
            volume.abandon(ticket);
        }
    }
}
