//! Waiting for a descriptor, a bell or a moment, whichever comes first.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// Wakes one thread from another.
#[derive(Debug)]
pub struct Bell(OwnedFd);

impl Bell {
    /// A bell that nobody rang.
    ///
    /// # Errors
    /// When no more descriptors are allowed.
    pub fn new() -> io::Result<Self> {
        // SAFETY: only numbers are passed; the descriptor belongs to nobody else.
        unsafe {
            match libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) {
                -1 => Err(io::Error::last_os_error()),
                fd => Ok(Self(OwnedFd::from_raw_fd(fd))),
            }
        }
    }

    /// The thread that waits with it wakes, now or when it waits next.
    pub fn ring(&self) {
        let one = 1u64;
        // SAFETY: eight bytes that live through the call. A counter that is full has rung.
        unsafe { libc::write(self.0.as_raw_fd(), (&raw const one).cast(), 8) };
    }

    fn hush(&self) {
        let mut count = 0u64;
        // SAFETY: eight bytes that live through the call.
        unsafe { libc::read(self.0.as_raw_fd(), (&raw mut count).cast(), 8) };
    }
}

/// What is wanted of a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interest {
    /// Something to read.
    pub read: bool,
    /// Room to write.
    pub write: bool,
}

/// What there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ready {
    /// Something to read, the end, or an error.
    pub read: bool,
    /// Room to write, or an error.
    pub write: bool,
    /// The bell rang.
    pub rung: bool,
    /// Nothing: the time is over.
    pub timed_out: bool,
}

/// Waits at most `limit`; nothing: as long as it takes.
///
/// # Errors
/// The kernel's.
pub fn wait(
    fd: BorrowedFd<'_>,
    interest: Interest,
    bell: &Bell,
    limit: Option<Duration>,
) -> io::Result<Ready> {
    let mut events = 0;
    if interest.read {
        events |= libc::POLLIN | libc::POLLRDHUP;
    }
    if interest.write {
        events |= libc::POLLOUT;
    }
    // An entry without a wish still reports a hang-up, again and again: it is left out.
    let watched = if events == 0 { -1 } else { fd.as_raw_fd() };
    let poll = |fd, events| libc::pollfd {
        fd,
        events,
        revents: 0,
    };
    let mut asked = [
        poll(watched, events),
        poll(bell.0.as_raw_fd(), libc::POLLIN),
    ];
    let limit = limit.map(|left| libc::timespec {
        tv_sec: left.as_secs() as libc::time_t,
        tv_nsec: left.subsec_nanos().into(),
    });
    let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: two valid entries, and a limit that lives as long as the call.
    let found = unsafe { libc::ppoll(asked.as_mut_ptr(), 2, limit, std::ptr::null()) };
    if found < 0 {
        let error = io::Error::last_os_error();
        return match error.kind() {
            io::ErrorKind::Interrupted => Ok(Ready::default()),
            _ => Err(error),
        };
    }
    let [socket, rung] = asked.map(|it| it.revents);
    if rung != 0 {
        bell.hush();
    }
    let broken = libc::POLLERR | libc::POLLHUP | libc::POLLNVAL;
    Ok(Ready {
        read: socket & (libc::POLLIN | libc::POLLRDHUP | broken) != 0,
        write: socket & (libc::POLLOUT | broken) != 0,
        rung: rung != 0,
        timed_out: found == 0,
    })
}

/// Timers of this thread end as soon as the kernel can: the usual slack of 50 microseconds would
/// be half the latency of a local disk.
pub fn precise_timers() {
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
        let bell = Bell::new().expect("a bell");
        let read = Interest {
            read: true,
            write: false,
        };
        let wait = |limit| wait(here.as_fd(), read, &bell, Some(limit)).expect("poll");
        bell.ring();
        assert!(wait(Duration::from_secs(60)).rung);
        assert!(wait(Duration::ZERO).timed_out);
        drop(there);
        assert!(wait(Duration::from_secs(60)).read);
    }
}
