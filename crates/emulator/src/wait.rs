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

/// The timer of one thread, for the next reply that is due.
#[derive(Debug)]
pub(crate) struct Timer {
    timer: OwnedFd,
    plan: SleepPlan,
    /// The reply's moment, and the one at which the thread is to wake for it.
    set: Option<(Nanos, Nanos)>,
}

impl Timer {
    /// # Errors
    /// When no more descriptors are allowed.
    pub(crate) fn new(plan: SleepPlan) -> io::Result<Self> {
        let flags = libc::TFD_CLOEXEC | libc::TFD_NONBLOCK;
        // SAFETY: only numbers are passed; the descriptor belongs to nobody else.
        let timer = unsafe {
            match libc::timerfd_create(libc::CLOCK_MONOTONIC, flags) {
                -1 => return Err(io::Error::last_os_error()),
                fd => OwnedFd::from_raw_fd(fd),
            }
        };
        Ok(Self {
            timer,
            plan,
            set: None,
        })
    }

    /// When a sleep has to end, and how late it usually does.
    pub(crate) const fn plan(&self) -> &SleepPlan {
        &self.plan
    }

    /// Sets the timer for a reply that is due at `due`. Whether there is time to sleep at all.
    pub(crate) fn set(&mut self, now: Nanos, due: Nanos) -> io::Result<bool> {
        if self.set.is_some_and(|(known, _)| known == due) {
            return Ok(true);
        }
        let sleep = self.plan.sleep(now, due);
        if sleep == Nanos::ZERO {
            return Ok(false);
        }
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
                Ok(true)
            }
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// The timer has ended a wait.
    pub(crate) fn ended(&mut self, now: Nanos) {
        if let Some((_, wanted)) = self.set.take() {
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

/// Waits until the timer ends.
///
/// # Errors
/// The kernel's.
pub(crate) fn wait_until_due(
    fd: BorrowedFd<'_>,
    interest: Interest,
    waker: &Waker,
    timer: &Timer,
) -> io::Result<Ready> {
    poll(fd, interest, waker, Some(timer), None)
}

fn poll(
    fd: BorrowedFd<'_>,
    interest: Interest,
    waker: &Waker,
    timer: Option<&Timer>,
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
    let timer = timer.map_or(NOTHING, |timer| timer.timer.as_raw_fd());
    let entry = |fd, events| libc::pollfd {
        fd,
        events,
        revents: 0,
    };
    let mut entries = [
        entry(watched, events),
        entry(waker.0.as_raw_fd(), libc::POLLIN),
        entry(timer, libc::POLLIN),
    ];
    let limit = limit.map(timespec);
    let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: three valid entries, and a limit that lives as long as the call.
    let found = unsafe { libc::ppoll(entries.as_mut_ptr(), 3, limit, std::ptr::null()) };
    if found < 0 {
        let error = io::Error::last_os_error();
        return match error.kind() {
            io::ErrorKind::Interrupted => Ok(Ready::default()),
            _ => Err(error),
        };
    }
    let [socket, woken, ended] = entries.map(|it| it.revents);
    if woken != 0 {
        waker.reset();
    }
    let broken = libc::POLLERR | libc::POLLHUP | libc::POLLNVAL;
    Ok(Ready {
        read: socket & (libc::POLLIN | libc::POLLRDHUP | broken) != 0,
        write: socket & (libc::POLLOUT | broken) != 0,
        woken: woken != 0,
        timed_out: found == 0 || ended != 0,
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
    fn a_bell_wakes_once_and_an_end_is_something_to_read() {
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
        let mut timer = Timer::new(SleepPlan::new(false)).expect("a timer");
        let due = Nanos::from_millis(100);
        assert!(timer.set(Nanos::ZERO, due).expect("set"));
        std::io::Write::write_all(&mut there, b"request").expect("sent");
        let ready = wait_until_due(here.as_fd(), read, &waker, &timer).expect("poll");
        assert!(ready.read && !ready.timed_out);
        let set = timer.set;
        assert!(timer.set(Nanos::from_millis(3), due).expect("set"));
        assert_eq!(timer.set, set, "nothing to be done");
        let nothing = Interest {
            read: false,
            write: false,
        };
        let ready = wait_until_due(here.as_fd(), nothing, &waker, &timer).expect("poll");
        assert!(ready.timed_out && !ready.read);
        timer.ended(due);
        assert_eq!(timer.set, None);
    }
}
