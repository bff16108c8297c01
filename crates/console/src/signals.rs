//! In: Ctrl-C and other signals to end, in the process that measures. Out: a flag that requests an
//! orderly end, or an immediate exit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::status::INTERRUPTED;

/// The signals with which users end a run.
pub(crate) const ENDING: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Whether a signal to end stays ignored: a hangup under `nohup`, which a handler set here would undo. An
/// interrupt ends a run although it was ignored: shells ignore it for every command in the background
/// (`&`), and whoever sends one to the process means it.
pub(crate) fn stays_ignored(signal: i32) -> bool {
    if signal != libc::SIGHUP {
        return false;
    }
    // SAFETY: the kernel fills the structure, which lives through the call, and changes no handler.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut now) == 0
            && now.sa_sigaction == libc::SIG_IGN
    }
}

/// Lets Ctrl-C end a server, and tells the user. A script that starts it in the background has the signal
/// ignored, and neither its own Ctrl-C nor `kill -INT` would end the server then.
pub fn end_by_interrupt() {
    // SAFETY: the default is no handler that could be unsafe.
    unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
    crate::terminal::inform("Ctrl-C ends it.");
}

/// Signals within this time after the first one count as the same request.
///
/// `timeout`, `systemctl stop` and a closing terminal signal all processes of a command, and the
/// parent forwards its own signal as well, so the process that measures gets two or three for one.
const ECHO: Duration = Duration::from_millis(500);

/// The first Ctrl-C or SIGTERM requests an orderly end, a later one ends at once.
pub fn listen() -> Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let first = Arc::new(AtomicU64::new(0));
    let signals = ENDING.into_iter().filter(|signal| !stays_ignored(*signal));
    for signal in signals {
        let (interrupted, first) = (Arc::clone(&interrupted), Arc::clone(&first));
        // SAFETY: `request_end` uses atomics, reads a clock, and may call _exit: all of that is
        // async-signal-safe.
        unsafe {
            signal_hook::low_level::register(signal, move || request_end(&interrupted, &first))
        }
        .context("cannot listen for signals")?;
    }
    Ok(interrupted)
}

fn request_end(interrupted: &AtomicBool, first: &AtomicU64) {
    interrupted.store(true, Ordering::Relaxed);
    if is_another(first, now()) {
        signal_hook::low_level::exit(i32::from(INTERRUPTED));
    }
}

/// Whether a signal at `now` is a second request and not an echo of the first. `first`: when that came; 0:
/// there was none. Both are in nanoseconds.
fn is_another(first: &AtomicU64, now: u64) -> bool {
    match first.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => false,
        Err(first) => now.saturating_sub(first) > ECHO.as_nanos() as u64,
    }
}

/// Nanoseconds of the monotonic clock.
fn now() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the kernel fills the structure, which lives through the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn echoes_are_no_second_request() {
        let first = AtomicU64::new(0);
        let at = |millis: u64| is_another(&first, (10_000 + millis) * 1_000_000);
        assert_eq!([0, 0, 3, 499].map(at), [false; 4]);
        assert!(at(501));
    }
}
