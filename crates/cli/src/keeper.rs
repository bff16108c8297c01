//! Lets the command end although a thread of it cannot.
//!
//! A thread in an uninterruptible wait for a slow or dead device cannot be ended by anybody, and
//! its process stays until the device answers. So the work is done in a child, and the parent
//! leaves as soon as the child has said how it ended:
//!
//! ```text
//!   parent: waits ──────────────────────────▶ reads the exit code, reaps the child if it can
//!   child:  measures, keeps, prints, removes ──▶ writes the exit code ──▶ exits, or hangs in the kernel
//! ```

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};

use crate::killed::{self, MemoryKills};

/// Runs `work` in a child and gives its exit code. `work` must print everything itself.
///
/// It must be called while there is one thread: a forked copy of several is not sound.
pub fn keep(work: impl FnOnce() -> u8) -> Result<ExitCode> {
    let (reader, writer) = pipe(libc::O_CLOEXEC).context("cannot make a pipe")?;
    let (names, namer) = pipe(libc::O_CLOEXEC | libc::O_NONBLOCK).context("cannot make a pipe")?;
    let before = MemoryKills::now();
    forward_signals();
    // SAFETY: this is the only thread, so the child's copy of the process is whole.
    match unsafe { libc::fork() } {
        -1 => Err(std::io::Error::last_os_error()).context("cannot start a process"),
        0 => {
            drop((reader, names));
            // The first and only time.
            let _ = KEPT.set(File::from(namer));
            become_child();
            allow_many_files();
            let code = work();
            // A parent that is gone needs no word.
            let _ = File::from(writer).write_all(&[code]);
            leave(i32::from(code))
        }
        child => {
            CHILD.store(child, Ordering::Relaxed);
            drop((writer, namer));
            let ended = await_child(child, File::from(reader));
            Ok(ended.unwrap_or_else(|| reap(child, before, File::from(names))))
        }
    }
}

/// The child, for the signal handler.
static CHILD: AtomicI32 = AtomicI32::new(0);
/// Whether a signal to end has come.
static SIGNALLED: AtomicBool = AtomicBool::new(false);

/// Takes the id of the run of which something is kept, to the parent: it tells of it when the child
/// is killed.
static KEPT: OnceLock<File> = OnceLock::new();

/// Something of this run is kept from now on.
pub fn kept(id: &str) {
    if let Some(mut parent) = KEPT.get() {
        // A pipe that is full names the run already.
        let _ = parent.write_all(format!("{id}\n").as_bytes());
    }
}

fn pipe(flags: i32) -> std::io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: the kernel fills both numbers, which then belong to nobody else.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), flags) != 0 {
            return Err(std::io::Error::last_os_error());
        }
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

const SIGNALS: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Passes on what was sent to the parent alone. A Ctrl-C reaches both, and the child must not
/// count it twice.
fn forward_signals() {
    extern "C" fn forward(signal: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
        SIGNALLED.fetch_or(SIGNALS.contains(&signal), Ordering::Relaxed);
        let child = CHILD.load(Ordering::Relaxed);
        // SAFETY: the kernel passes a valid siginfo; kill is async-signal-safe, and the child is
        // ours and not yet reaped.
        unsafe {
            let sent_by_a_process = (*info).si_code <= 0;
            if child > 0 && sent_by_a_process {
                libc::kill(child, signal);
            }
        }
    }
    let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) = forward;
    set_handlers(handler as *const () as usize, libc::SA_SIGINFO);
}

/// Asks for results so far.
const ASKING: i32 = libc::SIGUSR1;

/// The child handles signals itself, and ends with a parent that is killed.
fn become_child() {
    set_handlers(libc::SIG_DFL, 0);
    // SAFETY: sets a number of the calling process.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) };
}

/// Targets are held open from the look at them to the end of the run, beside what the workers
/// open: as many as the hard limit allows, where the usual soft one is 1,024.
fn allow_many_files() {
    // SAFETY: the kernel fills the structure, and reads it again; it lives through both calls.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            // A run with few files needs no more than it has.
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

fn set_handlers(handler: usize, flags: i32) {
    for signal in SIGNALS.into_iter().chain([ASKING]) {
        // SAFETY: the structure is fully set.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler;
            action.sa_flags = flags;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the child must not return into the parent's main"
)]
fn leave(code: i32) -> ! {
    std::process::exit(code)
}

/// How long a child that has reported may take to go before it is left behind.
const PATIENCE: Duration = Duration::from_millis(300);
/// How long a child may take to end in an orderly way after a signal. It gives up what is in
/// flight after a second and a half itself; only one that hangs before it measures needs this.
const GRACE: Duration = Duration::from_millis(1900);
const PIECE: Duration = Duration::from_millis(10);

/// The exit code; `None` when the child ended without a word.
fn await_child(child: i32, mut reader: File) -> Option<ExitCode> {
    let mut left = GRACE;
    let mut code = [0];
    while !has_word(&reader) {
        if SIGNALLED.load(Ordering::Relaxed) {
            left = left.saturating_sub(WORD);
        }
        if left.is_zero() {
            crate::terminal::warn(
                "interrupted; the target did not answer, and a process is left that waits for it",
            );
            return Some(ExitCode::from(crate::status::INTERRUPTED));
        }
    }
    match reader.read(&mut code) {
        Ok(1) => {}
        _ => return None,
    }
    let mut waited = Duration::ZERO;
    while waited < PATIENCE {
        // SAFETY: our own child; no memory is passed.
        if unsafe { libc::waitpid(child, std::ptr::null_mut(), libc::WNOHANG) } != 0 {
            break;
        }
        std::thread::sleep(PIECE);
        waited += PIECE;
    }
    Some(ExitCode::from(code[0]))
}

/// How long one look for the child's word takes, once a signal has come.
const WORD: Duration = Duration::from_millis(50);

/// Whether the pipe can be read. Without a signal it waits as long as it takes.
fn has_word(reader: &File) -> bool {
    let signalled = SIGNALLED.load(Ordering::Relaxed);
    let mut ask = libc::pollfd {
        fd: reader.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // A signal between the look above and the call only delays the next look by a second.
    let timeout = if signalled {
        WORD.as_millis() as i32
    } else {
        1000
    };
    // SAFETY: one valid entry.
    unsafe { libc::poll(&raw mut ask, 1, timeout) > 0 }
}

/// The exit code of a child that ended without a word, and what killed it.
fn reap(child: i32, before: MemoryKills, names: File) -> ExitCode {
    let mut status = 0;
    loop {
        // SAFETY: our own child; the kernel fills `status`.
        let answer = unsafe { libc::waitpid(child, &raw mut status, 0) };
        let interrupted = std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted;
        if answer >= 0 || !interrupted {
            break;
        }
    }
    match libc::WIFEXITED(status) {
        true => ExitCode::from(libc::WEXITSTATUS(status) as u8),
        false => {
            let signal = libc::WTERMSIG(status);
            tell(signal, before, names);
            ExitCode::from(128u8.wrapping_add(signal as u8))
        }
    }
}

fn tell(signal: i32, before: MemoryKills, mut names: File) {
    let mut kept = Vec::new();
    // What cannot be read any more was not written.
    let _ = names.read_to_end(&mut kept);
    let kept = String::from_utf8_lossy(&kept);
    if let Some(words) = killed::words(signal, before, kept.lines().last()) {
        crate::terminal::complain(&anyhow!(words));
    }
}
