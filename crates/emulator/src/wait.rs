//! Waits for a descriptor, a waker or a timer, whichever comes first.
//!
//! A wait that a request ends leaves its timer set: the reply it is set for is still due, and
//! setting it anew at each wait costs about an eighth of the processor time.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
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

    fn reset(&self) {
        let mut count = 0u64;
        // SAFETY: eight bytes that live through the call.
        unsafe { libc::read(self.0.as_raw_fd(), (&raw mut count).cast(), 8) };
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

/// Events that ended a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Ready {
    /// Something to read, the end, or an error.
    pub read: bool,
    /// Room to write, or an error.
    pub write: bool,
    /// The waker was triggered.
    pub woken: bool,
    /// The timer ended, or the limit of the wait.
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
    /// # Errors
    /// When no more descriptors are allowed.
    pub(crate) fn new(plan: SleepPlan) -> io::Result<Self> {
        let timers = [Timer::new()?, Timer::new()?];
        Ok(Self { timers, plan })
    }

    /// When a sleep has to end, and how late it usually does.
    pub(crate) const fn plan(&self) -> &SleepPlan {
        &self.plan
    }

    /// Sets timers for the next reply, and for the one after it. Whether there is time to sleep at
    /// all.
    pub(crate) fn set(&mut self, now: Nanos, due: [Option<Nanos>; 2]) -> io::Result<bool> {
        // A timer that ended while the thread was at work ends no sleep.
        for timer in &mut self.timers {
            timer.take_past(now);
        }
        for moment in due.into_iter().flatten() {
            if self.timers.iter().any(|timer| timer.is_for(moment)) {
                continue;
            }
            let sleep = self.plan.sleep(now, moment);
            if sleep == Nanos::ZERO {
                return Ok(Some(moment) != due[0]);
            }
            let wanted = |timer: &Timer| due.iter().flatten().any(|it| timer.is_for(*it));
            let mut unused = self.timers.iter_mut().filter(|timer| !wanted(timer));
            let timer = unused.next().expect("two timers for two moments");
            timer.set(now, moment, sleep)?;
        }
        Ok(true)
    }

    /// A timer has ended a wait.
    pub(crate) fn ended(&mut self, now: Nanos) {
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

/// Waits for at most `limit`; `None`: for ever.
///
/// # Errors
/// The kernel's.
pub(crate) fn wait(
    fd: BorrowedFd<'_>,
    interest: Interest,
    waker: &Waker,
    limit: Option<Duration>,
) -> io::Result<Ready> {
    poll(fd, interest, waker, None, limit)
}

/// Waits until a timer ends.
///
/// # Errors
/// The kernel's.
pub(crate) fn wait_until_due(
    fd: BorrowedFd<'_>,
    interest: Interest,
    waker: &Waker,
    timers: &Timers,
) -> io::Result<Ready> {
    poll(fd, interest, waker, Some(timers), None)
}

fn poll(
    fd: BorrowedFd<'_>,
    interest: Interest,
    waker: &Waker,
    timers: Option<&Timers>,
    limit: Option<Duration>,
) -> io::Result<Ready> {
    /// An entry that the kernel skips.
    const NOTHING: RawFd = -1;
    let mut events = 0;
    if interest.read {
        events |= libc::POLLIN | libc::POLLRDHUP;
    }
    if interest.write {
        events |= libc::POLLOUT;
    }
    // An entry without events still reports a hang-up, again and again: it is left out.
    let watched = if events == 0 { NOTHING } else { fd.as_raw_fd() };
    let timer = |nth: usize| {
        let timer = &timers?.timers[nth];
        timer.set.map(|_| timer.timer.as_raw_fd())
    };
    let entry = |fd, events| libc::pollfd {
        fd,
        events,
        revents: 0,
    };
    let mut entries = [
        entry(watched, events),
        entry(waker.0.as_raw_fd(), libc::POLLIN),
        entry(timer(0).unwrap_or(NOTHING), libc::POLLIN),
        entry(timer(1).unwrap_or(NOTHING), libc::POLLIN),
    ];
    let limit = limit.map(timespec);
    let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let count = entries.len() as libc::nfds_t;
    // SAFETY: so many valid entries, and a limit that lives as long as the call.
    let found = unsafe { libc::ppoll(entries.as_mut_ptr(), count, limit, std::ptr::null()) };
    if found < 0 {
        let error = io::Error::last_os_error();
        return match error.kind() {
            io::ErrorKind::Interrupted => Ok(Ready::default()),
            _ => Err(error),
        };
    }
    let [socket, woken, first, second] = entries.map(|it| it.revents);
    if woken != 0 {
        waker.reset();
    }
    let broken = libc::POLLERR | libc::POLLHUP | libc::POLLNVAL;
    Ok(Ready {
        read: socket & (libc::POLLIN | libc::POLLRDHUP | broken) != 0,
        write: socket & (libc::POLLOUT | broken) != 0,
        woken: woken != 0,
        timed_out: found == 0 || first != 0 || second != 0,
    })
}

/// Timers of this thread end as soon as the kernel can: the usual slack of 50 microseconds would
/// be half the latency of a local disk.
pub(crate) fn precise_timers() {
    // SAFETY: only numbers are passed; a kernel that refuses leaves the usual slack.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_waker_wakes_once_and_an_end_is_something_to_read() {
        let (here, there) = UnixStream::pair().expect("a pair");
        let waker = Waker::new().expect("a waker");
        let read = Interest {
            read: true,
            write: false,
        };
        let wait = |limit| wait(here.as_fd(), read, &waker, Some(limit)).expect("poll");
        waker.wake();
        assert!(wait(Duration::from_secs(60)).woken);
        assert!(wait(Duration::ZERO).timed_out);
        drop(there);
        assert!(wait(Duration::from_secs(60)).read);
    }

    /// A wait that a request ended set its timer anew for the same reply, twice for each operation:
    /// an eighth of the server's processor time at 3,000 IOPS.
    #[test]
    fn a_timer_stays_set_for_its_reply_until_it_ends() {
        let (here, mut there) = UnixStream::pair().expect("a pair");
        let waker = Waker::new().expect("a waker");
        let read = Interest {
            read: true,
            write: false,
        };
        let mut timers = Timers::new(SleepPlan::new(false)).expect("timers");
        let due = [Some(Nanos::from_millis(100)), None];
        assert!(timers.set(Nanos::ZERO, due).expect("set"));
        std::io::Write::write_all(&mut there, b"request").expect("sent");
        let ready = wait_until_due(here.as_fd(), read, &waker, &timers).expect("poll");
        assert!(ready.read && !ready.timed_out);
        let set = timers.timers[0].set;
        assert!(timers.set(Nanos::from_millis(3), due).expect("set"));
        assert_eq!(timers.timers[0].set, set, "nothing to be done");
        let nothing = Interest {
            read: false,
            write: false,
        };
        let ready = wait_until_due(here.as_fd(), nothing, &waker, &timers).expect("poll");
        assert!(ready.timed_out && !ready.read);
        timers.ended(Nanos::from_millis(100));
        assert!(timers.timers.iter().all(|timer| timer.set.is_none()));
    }

    #[test]
    fn the_timer_of_the_second_reply_stays_set_when_the_first_one_ends() {
        let mut timers = Timers::new(SleepPlan::new(false)).expect("timers");
        let at = |seconds| Nanos::from_secs(seconds);
        let moments = |timers: &Timers| {
            let set = timers.timers.each_ref().map(|it| it.set);
            set.map(|it| it.map(|(due, _)| due))
        };
        timers
            .set(Nanos::ZERO, [Some(at(100)), Some(at(200))])
            .expect("set");
        assert_eq!(moments(&timers), [Some(at(100)), Some(at(200))]);
        timers.ended(at(100));
        timers
            .set(at(100), [Some(at(200)), Some(at(300))])
            .expect("set");
        assert_eq!(moments(&timers), [Some(at(300)), Some(at(200))]);
        // An earlier one takes the place of the later one, and none is set for one that has passed.
        timers
            .set(at(101), [Some(at(150)), Some(at(200))])
            .expect("set");
        assert_eq!(moments(&timers), [Some(at(150)), Some(at(200))]);
        timers.set(at(170), [Some(at(200)), None]).expect("set");
        assert_eq!(moments(&timers), [None, Some(at(200))]);
    }
}
