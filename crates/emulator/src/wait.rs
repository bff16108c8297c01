//! Waits for a descriptor, a waker or a timer, whichever comes first.
//!
//! A wait that a request ends leaves its timer set: the reply it is set for is still due, and
//! setting it anew at each wait costs about an eighth of the processor time. What is waited for stays
//! registered with the kernel from one wait to the next: `ppoll`, which registers it anew each time,
//! costs another eighth.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::time::Duration;

use blocklab_units::Nanos;

use crate::SleepPlan;

/// Wakes one thread from another.
#[derive(Debug)]
pub(crate) struct Waker(OwnedFd);

impl Waker {
    /// A waker that was not triggered yet.
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: only numbers are passed; the descriptor belongs to nobody else.
        unsafe {
            match libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) {
                -1 => Err(io::Error::last_os_error()),
                fd => Ok(Self(OwnedFd::from_raw_fd(fd))),
            }
        }
    }

    /// The thread that waits with it wakes, now or when it waits next.
    pub(crate) fn wake(&self) {
        let one = 1u64;
        // SAFETY: eight bytes that live through the call. A full counter is a trigger already.
        unsafe { libc::write(self.0.as_raw_fd(), (&raw const one).cast(), 8) };
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

    const fn events(self) -> i32 {
        let read = libc::EPOLLIN | libc::EPOLLRDHUP;
        match (self.read, self.write) {
            (true, true) => read | libc::EPOLLOUT,
            (true, false) => read,
            (false, true) => libc::EPOLLOUT,
            (false, false) => 0,
        }
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
    /// The reply's moment, and the one at which the thread is to wake for it.
    set: Option<(Nanos, Nanos)>,
}

impl Timer {
    fn new() -> io::Result<Self> {
        let flags = libc::TFD_CLOEXEC | libc::TFD_NONBLOCK;
        // SAFETY: only numbers are passed; the descriptor belongs to nobody else.
        let timer = unsafe {
            match libc::timerfd_create(libc::CLOCK_MONOTONIC, flags) {
                -1 => return Err(io::Error::last_os_error()),
                fd => OwnedFd::from_raw_fd(fd),
            }
        };
        Ok(Self { timer, set: None })
    }

    fn is_for(&self, due: Nanos) -> bool {
        self.set.is_some_and(|(known, _)| known == due)
    }

    /// The moment to wake at, if it is not later than `now`: the timer has ended then.
    fn take_past(&mut self, now: Nanos) -> Option<Nanos> {
        let past = self.set.take_if(|(_, wanted)| *wanted <= now)?;
        Some(past.1)
    }

    fn set(&mut self, now: Nanos, due: Nanos, sleep: Nanos) -> io::Result<()> {
        let value = libc::itimerspec {
            it_interval: timespec(Duration::ZERO),
            it_value: timespec(sleep.into()),
        };
        let no_old = std::ptr::null_mut();
        // SAFETY: the value lives through the call; the old one is not wanted.
        match unsafe { libc::timerfd_settime(self.timer.as_raw_fd(), 0, &raw const value, no_old) }
        {
            0 => {
                self.set = Some((due, now.saturating_add(sleep)));
                Ok(())
            }
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Timers {
    /// They end the waits of this waiter.
    ///
    /// # Errors
    /// When no more descriptors are allowed.
    pub(crate) fn new(plan: SleepPlan, waiter: &Waiter) -> io::Result<Self> {
        let timers = [Timer::new()?, Timer::new()?];
        for timer in &timers {
            waiter.add(timer.timer.as_raw_fd(), Source::Timer)?;
        }
        Ok(Self {
            timers,
            has_ended: true,
            plan,
        })
    }

    /// When a sleep has to end, and how late it usually does.
    pub(crate) const fn plan(&self) -> &SleepPlan {
        &self.plan
    }

    /// Sets timers for the next reply, and for the one after it. Whether there is time to sleep at
    /// all.
    ///
    /// A request that is due between the two gets no timer before the first of them has ended: the
    /// second one's would have to be set again.
    pub(crate) fn set(&mut self, now: Nanos, due: [Option<Nanos>; 2]) -> io::Result<bool> {
        // A timer that ended while the thread was at work ends no sleep.
        for timer in &mut self.timers {
            self.has_ended |= timer.take_past(now).is_some();
        }
        let [first, second] = due;
        let due = [first, second.filter(|_| self.has_ended)];
        self.has_ended &= second.is_none();
        for moment in due.into_iter().flatten() {
            if self.timers.iter().any(|timer| timer.is_for(moment)) {
                continue;
            }
            let sleep = self.plan.sleep(now, moment);
            if sleep == Nanos::ZERO {
                return Ok(Some(moment) != due[0]);
            }
            let wanted = |timer: &Timer| due.iter().flatten().any(|it| timer.is_for(*it));
            let unused = self.timers.iter_mut().filter(|timer| !wanted(timer));
            // A reply that comes later may still be the next one after this.
            let timer = unused.max_by_key(|timer| timer.set.map_or(Nanos::MAX, |(due, _)| due));
            let timer = timer.expect("two timers for two moments");
            timer.set(now, moment, sleep)?;
        }
        Ok(true)
    }

    /// A timer has ended a wait.
    pub(crate) fn ended(&mut self, now: Nanos) {
        self.has_ended = true;
        let past = self.timers.iter_mut().filter_map(|it| it.take_past(now));
        if let Some(wanted) = past.min() {
            self.plan.woke(wanted, now);
        }
    }
}

const fn timespec(time: Duration) -> libc::timespec {
    libc::timespec {
        tv_sec: time.as_secs() as libc::time_t,
        tv_nsec: time.subsec_nanos() as libc::c_long,
    }
}

/// What the kernel reports with an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Descriptor,
    Waker,
    Timer,
}

/// What one thread waits with: for its waker, its timers, and one descriptor.
#[derive(Debug)]
pub(crate) struct Waiter {
    epoll: OwnedFd,
    waker: Arc<Waker>,
    /// The registered descriptor, and what it is registered for.
    watched: Option<(RawFd, Interest)>,
}

impl Waiter {
    /// # Errors
    /// When no more descriptors are allowed.
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: only numbers are passed; the descriptor belongs to nobody else.
        let epoll = unsafe {
            match libc::epoll_create1(libc::EPOLL_CLOEXEC) {
                -1 => return Err(io::Error::last_os_error()),
                fd => OwnedFd::from_raw_fd(fd),
            }
        };
        let waiter = Self {
            epoll,
            waker: Arc::new(Waker::new()?),
            watched: None,
        };
        waiter.add(waiter.waker.0.as_raw_fd(), Source::Waker)?;
        Ok(waiter)
    }

    /// Ends its waits from another thread.
    pub(crate) const fn waker(&self) -> &Arc<Waker> {
        &self.waker
    }

    /// Each of its events is reported once, so that nobody has to read it.
    fn add(&self, fd: RawFd, source: Source) -> io::Result<()> {
        self.control(
            libc::EPOLL_CTL_ADD,
            fd,
            libc::EPOLLIN | libc::EPOLLET,
            source,
        )
    }

    fn control(&self, change: i32, fd: RawFd, events: i32, source: Source) -> io::Result<()> {
        let mut event = libc::epoll_event {
            events: events as u32,
            u64: source as u64,
        };
        // SAFETY: the event lives through the call.
        match unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), change, fd, &raw mut event) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// A descriptor without an interest still reports a hang-up, again and again: it is left out.
    fn watch(&mut self, fd: RawFd, interest: Interest) -> io::Result<()> {
        let wanted = (interest.events() != 0).then_some((fd, interest));
        if wanted == self.watched {
            return Ok(());
        }
        let change = match (self.watched, wanted) {
            (Some((before, _)), Some((after, _))) if before == after => libc::EPOLL_CTL_MOD,
            (before, _) => {
                if let Some((fd, _)) = before {
                    self.control(libc::EPOLL_CTL_DEL, fd, 0, Source::Descriptor)?;
                }
                libc::EPOLL_CTL_ADD
            }
        };
        self.watched = None;
        if let Some((fd, interest)) = wanted {
            self.control(change, fd, interest.events(), Source::Descriptor)?;
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
        self.watch(fd.as_raw_fd(), interest)?;
        let limit = limit.map_or(-1, |it| {
            i32::try_from(it.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX)
        });
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 4];
        let (epoll, room) = (self.epoll.as_raw_fd(), events.len() as i32);
        // SAFETY: so many events have room and live through the call.
        let found = unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), room, limit) };
        let Ok(found) = usize::try_from(found) else {
            let error = io::Error::last_os_error();
            return match error.kind() {
                io::ErrorKind::Interrupted => Ok(Ready::default()),
                _ => Err(error),
            };
        };
        let mut ready = Ready {
            timed_out: found == 0,
            ..Ready::default()
        };
        for event in &events[..found] {
            let (source, happened) = (event.u64, event.events as i32);
            match source {
                _ if source == Source::Waker as u64 => ready.woken = true,
                _ if source == Source::Timer as u64 => ready.due = true,
                _ => {
                    let broken = libc::EPOLLERR | libc::EPOLLHUP;
                    ready.read |= happened & (libc::EPOLLIN | libc::EPOLLRDHUP | broken) != 0;
                    ready.write |= happened & (libc::EPOLLOUT | broken) != 0;
                }
            }
        }
        Ok(ready)
    }
}

/// Timers of this thread end as soon as the kernel can: the usual slack of 50 microseconds would
/// be half the latency of a local disk.
pub(crate) fn precise_timers() {
    // SAFETY: only numbers are passed; a kernel that refuses leaves the usual slack.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
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
        let set = timers.timers.each_ref().map(|it| it.set);
        assert!(timers.set(Nanos::from_millis(3), due).expect("set"));
        let now = timers.timers.each_ref().map(|it| it.set);
        assert_eq!(now, set, "nothing to be done");
        let nothing = Interest {
            read: false,
            write: false,
        };
        let ready = waiter.wait(here.as_fd(), nothing, None).expect("epoll");
        assert!(ready.due && !ready.read);
        timers.ended(Nanos::from_millis(100));
        assert!(timers.timers.iter().all(|timer| timer.set.is_none()));
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
        let due = due.map(|it| (it > 0).then_some(at(it)));
        timers.set(at(now), due).expect("set");
        let set = timers.timers.iter().filter_map(|it| it.set);
        let mut set: Vec<u64> = set.map(|(due, _)| due.0 / 1_000_000_000).collect();
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
