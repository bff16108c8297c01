//! Waits for a descriptor, a waker or a timer, whichever comes first.
//!
//! A wait that a request ends leaves its timer set: the reply it is set for is still due, and
//! setting it anew at each wait costs about an eighth of the processor time. What is waited for stays
//! registered with the kernel from one wait to the next: `ppoll`, which registers it anew each time,
//! costs another eighth.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use blocklab_units::Nanos;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

use crate::SleepPlan;

/// Wakes one thread from another.
#[derive(Debug)]
pub(crate) struct Waker(OwnedFd);

impl Waker {
    /// A waker that was not triggered yet.
    pub(crate) fn new() -> io::Result<Self> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        Ok(Self(eventfd(0, flags)?))
    }

    /// The thread that waits with it wakes, now or when it waits next.
    pub(crate) fn wake(&self) {
        // A full counter is a trigger already.
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }
}

/// Events of a descriptor to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interest {
    /// Something to read.
    pub read: bool,
    /// Room to write.
    pub write: bool,
}

impl Interest {
    /// Nothing but something to read.
    pub(crate) const READ: Self = Self {
        read: true,
        write: false,
    };
    /// No event of the descriptor.
    pub(crate) const NOTHING: Self = Self {
        read: false,
        write: false,
    };

    fn events(self) -> EventFlags {
        let mut events = EventFlags::empty();
        events.set(EventFlags::IN | EventFlags::RDHUP, self.read);
        events.set(EventFlags::OUT, self.write);
        events
    }
}

/// Events that ended a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Ready {
    /// Something to read, the end, or an error.
    pub read: bool,
    /// Room to write, or an error.
    pub write: bool,
    /// The waker was triggered.
    pub woken: bool,
    /// A timer ended.
    pub due: bool,
    /// Nothing happened up to the limit of the wait.
    pub timed_out: bool,
}

/// The timers of one thread, for the next two replies that are due.
///
/// To set the earliest timer of a processor programs its hardware, which is an exit to the hypervisor
/// on a virtual machine. The second reply's timer is set while the first one still comes before it,
/// and so costs a system call only.
#[derive(Debug)]
pub(crate) struct Timers {
    timers: [Timer; 2],
    /// A timer has ended since that of the second reply was set.
    has_ended: bool,
    plan: SleepPlan,
}

#[derive(Debug)]
struct Timer {
    timer: OwnedFd,
    /// What it is set for; `None`: it is not set, or has ended.
    alarm: Option<Alarm>,
}

/// What a timer is set for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Alarm {
    /// When the reply is due.
    due: Nanos,
    /// When the thread is to wake for it.
    wake_at: Nanos,
}

impl Timer {
    fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        Ok(Self { timer, alarm: None })
    }

    fn is_for(&self, due: Nanos) -> bool {
        self.alarm.is_some_and(|alarm| alarm.due == due)
    }

    /// The moment to wake at, if it is not later than `now`: the timer has ended then.
    fn take_past(&mut self, now: Nanos) -> Option<Nanos> {
        let past = self.alarm.take_if(|alarm| alarm.wake_at <= now)?;
        Some(past.wake_at)
    }

    /// Sets the timer to end after `sleep`, for a reply that is due at `due`.
    fn set(&mut self, now: Nanos, due: Nanos, sleep: Nanos) -> io::Result<()> {
        let value = Itimerspec {
            it_interval: Timespec::default(),
            it_value: timespec(sleep.into()),
        };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &value)?;
        self.alarm = Some(Alarm {
            due,
            wake_at: now.saturating_add(sleep),
        });
        Ok(())
    }
}

impl Timers {
    /// Two timers that are not set, registered with the waiter whose waits they are to end.
    ///
    /// # Errors
    /// When no more descriptors are allowed.
    pub(crate) fn new(plan: SleepPlan, waiter: &Waiter) -> io::Result<Self> {
        let timers = [Timer::new()?, Timer::new()?];
        for timer in &timers {
            waiter.add(&timer.timer, Source::Timer)?;
        }
        Ok(Self {
            timers,
            // No reply has a timer yet, so the first `set` may set one.
            has_ended: true,
            plan,
        })
    }

    /// When a sleep has to end, and how late it usually does.
    pub(crate) const fn plan(&self) -> &SleepPlan {
        &self.plan
    }

    /// Sets timers for the next reply, and for the one after it. Returns whether there is time to
    /// sleep at all.
    ///
    /// A request that is due between the two gets no timer before the first of them has ended: the
    /// second one's would have to be set again.
    pub(crate) fn set(&mut self, now: Nanos, due: [Option<Nanos>; 2]) -> io::Result<bool> {
        // A timer that ended while the thread was at work ends no sleep.
        for timer in &mut self.timers {
            self.has_ended |= timer.take_past(now).is_some();
        }
        let [first, second] = due;
        let wanted = [first, second.filter(|_| self.has_ended)];
        self.has_ended &= second.is_none();
        for moment in wanted.into_iter().flatten() {
            if self.timers.iter().any(|timer| timer.is_for(moment)) {
                continue;
            }
            let sleep = self.plan.sleep(now, moment);
            // Too soon for a sleep. For the next reply, the thread spins; for the one after it, it
            // sleeps until the next one, and comes here again.
            if sleep == Nanos::ZERO {
                return Ok(Some(moment) != first);
            }
            let unused = self
                .timers
                .iter_mut()
                .filter(|timer| !wanted.iter().flatten().any(|due| timer.is_for(*due)));
            let timer = unused
                // A reply that comes later may still be the next one after this.
                .max_by_key(|timer| timer.alarm.map_or(Nanos::MAX, |alarm| alarm.due))
                .expect("two timers for two moments");
            timer.set(now, moment, sleep)?;
        }
        Ok(true)
    }

    /// A timer has ended a wait.
    pub(crate) fn ended(&mut self, now: Nanos) {
        self.has_ended = true;
        let past = self
            .timers
            .iter_mut()
            .filter_map(|timer| timer.take_past(now));
        if let Some(wanted) = past.min() {
            self.plan.woke(wanted, now);
        }
    }
}

fn timespec(time: Duration) -> Timespec {
    Timespec::try_from(time).expect("the kernel's seconds are of 64 bits")
}

/// From which of the registered descriptors an event comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Descriptor,
    Waker,
    Timer,
}

impl Source {
    const fn data(self) -> EventData {
        EventData::new_u64(self as u64)
    }
}

/// What one thread waits with: for its waker, its timers, and one descriptor.
#[derive(Debug)]
pub(crate) struct Waiter {
    epoll: OwnedFd,
    waker: Arc<Waker>,
    /// What the descriptor is registered for; with nothing, it is not registered.
    watched: EventFlags,
}

impl Waiter {
    /// # Errors
    /// When no more descriptors are allowed.
    pub(crate) fn new() -> io::Result<Self> {
        let waiter = Self {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            waker: Arc::new(Waker::new()?),
            watched: EventFlags::empty(),
        };
        waiter.add(&waiter.waker.0, Source::Waker)?;
        Ok(waiter)
    }

    /// Ends its waits from another thread.
    pub(crate) const fn waker(&self) -> &Arc<Waker> {
        &self.waker
    }

    /// Each of its events is reported once (edge-triggered), so it need not be read to be cleared.
    fn add(&self, fd: impl AsFd, source: Source) -> io::Result<()> {
        let events = EventFlags::IN | EventFlags::ET;
        Ok(epoll::add(&self.epoll, fd, source.data(), events)?)
    }

    /// A descriptor without an interest still reports a hang-up, again and again: it is left out.
    fn watch(&mut self, fd: BorrowedFd<'_>, wanted: EventFlags) -> io::Result<()> {
        let data = Source::Descriptor.data();
        match (self.watched.is_empty(), wanted.is_empty()) {
            _ if wanted == self.watched => {}
            (true, _) => epoll::add(&self.epoll, fd, data, wanted)?,
            (_, true) => epoll::delete(&self.epoll, fd)?,
            (false, false) => epoll::modify(&self.epoll, fd, data, wanted)?,
        }
        self.watched = wanted;
        Ok(())
    }

    /// Waits for at most `limit`, in whole milliseconds; `None`: for ever. A waiter is always given
    /// the same descriptor.
    ///
    /// # Errors
    /// The kernel's.
    pub(crate) fn wait(
        &mut self,
        fd: BorrowedFd<'_>,
        interest: Interest,
        limit: Option<Duration>,
    ) -> io::Result<Ready> {
        self.watch(fd, interest.events())?;
        let nothing = Event {
            flags: EventFlags::empty(),
            data: EventData::new_u64(0),
        };
        // One descriptor, one waker, two timers.
        let mut events = [nothing; 4];
        let found = match epoll::wait(&self.epoll, &mut events, limit.map(timespec).as_ref()) {
            // A signal: the caller looks what is due and waits again.
            Err(Errno::INTR) => return Ok(Ready::default()),
            found => found?,
        };
        let mut ready = Ready {
            timed_out: found == 0,
            ..Ready::default()
        };
        for event in &events[..found] {
            let (source, happened) = (event.data, event.flags);
            match source {
                _ if source == Source::Waker.data() => ready.woken = true,
                _ if source == Source::Timer.data() => ready.due = true,
                _ => {
                    let broken = EventFlags::ERR | EventFlags::HUP;
                    let read = EventFlags::IN | EventFlags::RDHUP | broken;
                    ready.read |= happened.intersects(read);
                    ready.write |= happened.intersects(EventFlags::OUT | broken);
                }
            }
        }
        Ok(ready)
    }
}

/// This thread interrupts no other one when it wakes, so that a client that sends several requests in
/// a row has them served together. Only for a volume that delays nothing: a reply that is due would
/// wait for the client, too.
pub(crate) fn wake_in_batches() {
    // SAFETY: zeros are the valid parameter of this policy; a kernel that refuses leaves the usual one.
    unsafe {
        let none: libc::sched_param = std::mem::zeroed();
        libc::sched_setscheduler(0, libc::SCHED_BATCH, &raw const none);
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_waker_wakes_once_and_an_end_is_something_to_read() {
        let (here, there) = UnixStream::pair().expect("a pair");
        let mut waiter = Waiter::new().expect("a waiter");
        let waker = Arc::clone(waiter.waker());
        let mut wait = |limit| {
            let ready = waiter.wait(here.as_fd(), Interest::READ, Some(limit));
            ready.expect("epoll")
        };
        waker.wake();
        assert!(wait(Duration::from_secs(60)).woken);
        assert!(wait(Duration::ZERO).timed_out);
        waker.wake();
        assert!(wait(Duration::from_secs(60)).woken, "again");
        drop(there);
        assert!(wait(Duration::from_secs(60)).read);
    }

    #[test]
    fn a_descriptor_of_no_interest_is_left_out_and_taken_back() {
        let (here, there) = UnixStream::pair().expect("a pair");
        let mut waiter = Waiter::new().expect("a waiter");
        let mut wait = |read, write| {
            let interest = Interest { read, write };
            let ready = waiter.wait(here.as_fd(), interest, Some(Duration::ZERO));
            ready.expect("epoll")
        };
        assert!(wait(true, false).timed_out);
        assert!(wait(true, true).write);
        drop(there);
        assert!(wait(false, false).timed_out, "a hang-up is not reported");
        assert!(wait(true, false).read);
    }

    /// A wait that a request ended set its timer anew for the same reply, twice for each operation:
    /// an eighth of the server's processor time at 3,000 IOPS.
    #[test]
    fn a_timer_stays_set_for_its_reply_until_it_ends() {
        let (here, mut there) = UnixStream::pair().expect("a pair");
        let mut waiter = Waiter::new().expect("a waiter");
        let mut timers = timers(&waiter);
        let due = [Some(Nanos::from_millis(100)), None];
        assert!(timers.set(Nanos::ZERO, due).expect("set"));
        std::io::Write::write_all(&mut there, b"request").expect("sent");
        let ready = waiter
            .wait(here.as_fd(), Interest::READ, None)
            .expect("epoll");
        assert!(ready.read && !ready.due);
        let set = timers.timers.each_ref().map(|timer| timer.alarm);
        assert!(timers.set(Nanos::from_millis(3), due).expect("set"));
        let now = timers.timers.each_ref().map(|timer| timer.alarm);
        assert_eq!(now, set, "nothing to be done");
        let ready = waiter
            .wait(here.as_fd(), Interest::NOTHING, None)
            .expect("epoll");
        assert!(ready.due && !ready.read);
        timers.ended(Nanos::from_millis(100));
        assert!(timers.timers.iter().all(|timer| timer.alarm.is_none()));
    }

    fn timers(waiter: &Waiter) -> Timers {
        Timers::new(SleepPlan::new(false), waiter).expect("timers")
    }

    /// Sets the timers at a moment, at which one of them may have ended, for two replies; all in
    /// seconds. The moments they are set for then.
    fn set(timers: &mut Timers, now: u64, ended: bool, due: [u64; 2]) -> Vec<u64> {
        let at = Nanos::from_secs;
        if ended {
            timers.ended(at(now));
        }
        let due = due.map(|due| (due > 0).then_some(at(due)));
        timers.set(at(now), due).expect("set");
        let set = timers.timers.iter().filter_map(|timer| timer.alarm);
        let mut set: Vec<u64> = set.map(|alarm| alarm.due.0 / 1_000_000_000).collect();
        set.sort_unstable();
        set
    }

    #[test]
    fn the_timer_of_the_second_reply_stays_set_when_the_first_one_ends() {
        let mut timers = timers(&Waiter::new().expect("a waiter"));
        assert_eq!(set(&mut timers, 0, false, [100, 200]), [100, 200]);
        assert_eq!(set(&mut timers, 100, true, [200, 300]), [200, 300]);
        // An earlier one takes the place of the later one, and none is set for one that has passed.
        assert_eq!(set(&mut timers, 101, false, [150, 200]), [150, 200]);
        assert_eq!(set(&mut timers, 170, false, [200, 0]), [200]);
    }

    /// Where latencies scatter, many a request is due before those that came earlier: each took the
    /// timer of the second reply, which was set again when its turn came.
    #[test]
    fn a_reply_between_the_two_gets_the_timer_that_ends_first() {
        let mut timers = timers(&Waiter::new().expect("a waiter"));
        assert_eq!(set(&mut timers, 0, false, [100, 300]), [100, 300]);
        assert_eq!(set(&mut timers, 50, false, [100, 200]), [100, 300]);
        assert_eq!(set(&mut timers, 100, true, [200, 300]), [200, 300]);
    }
}
