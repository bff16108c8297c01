//! Lets the command end although a thread of it cannot.
//!
//! A thread in an uninterruptible wait for a slow or dead device cannot be ended by anybody, and
//! its process stays until the device answers. So the work is done in a child, and the parent
//! leaves as soon as the child has reported how it ended:
//!
//! ```text
//!   parent: waits ──────────────────────────▶ reads the exit code, reaps the child if it can
//!   child:  measures, keeps, prints, removes ──▶ writes the exit code ──▶ exits, or hangs in the kernel
//! ```
//!
//! A child that is left behind holds no output of the command, so that a pipe behind it ends. It
//! learns of that, and of the parent's death, by a second pipe, which a thread of its own
//! holds: the thread that measures may already hang.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::thread::Builder;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use blocklab_host::MemoryKills;
use rustix::io::retry_on_intr;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitOptions, getpid, getrlimit, kill_process, setrlimit, waitpid,
};

use crate::killed;
use crate::signals::ENDING;

/// Runs `work` in a child and gives its exit code. `work` must print everything itself, except an
/// error: that is printed here, and `code_of` has the exit code of it.
///
/// It must be called while there is one thread: a forked copy of several is not sound.
pub fn supervise(
    work: impl FnOnce() -> Result<u8>,
    code_of: impl Fn(&anyhow::Error) -> u8,
) -> Result<ExitCode> {
    let pipe = |flags| pipe_with(PipeFlags::CLOEXEC | flags).context("cannot make a pipe");
    let (reader, writer) = pipe(PipeFlags::empty())?;
    let (names, namer) = pipe(PipeFlags::NONBLOCK)?;
    let (end_request, end_sender) = pipe(PipeFlags::empty())?;
    let before = MemoryKills::now();
    forward_signals();
    // SAFETY: this is the only thread, so the child's copy of the process is whole.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()).context("cannot start a process"),
        0 => {
            drop((reader, names, end_sender));
            // The first and only time.
            let _ = KEPT.set(File::from(namer));
            set_handlers(libc::SIG_DFL, 0);
            allow_many_files();
            let waiting = await_end_request(end_request).context("cannot start a thread");
            let waiting = waiting.map_err(|error| (crate::status::FAILED, error));
            let done = waiting.and_then(|()| work().map_err(|error| (code_of(&error), error)));
            let code = done.unwrap_or_else(|(code, error)| {
                crate::terminal::complain(&error);
                code
            });
            let_go_of_output();
            // A parent that is gone needs no word.
            let _ = File::from(writer).write_all(&[code]);
            leave(i32::from(code))
        }
        child => {
            CHILD.store(child, Ordering::Relaxed);
            pass_on_early(child);
            let child = Pid::from_raw(child).expect("a child's number");
            drop((writer, namer, end_request));
            let ended = await_child(child, File::from(reader), File::from(end_sender));
            Ok(ended.unwrap_or_else(|| reap(child, before, File::from(names))))
        }
    }
}

/// Waits at the child's end of the pipe. A byte means that the child is left behind; an end without
/// one, that the parent was killed, and the child is to end as by a signal of its own.
fn await_end_request(end_request: OwnedFd) -> io::Result<()> {
    let wait = move || match File::from(end_request).read(&mut [0]) {
        Ok(1) => let_go_of_output(),
        _ => drop(kill_process(getpid(), Signal::TERM)),
    };
    Builder::new().name("end-request".to_owned()).spawn(wait)?;
    Ok(())
}

/// Whoever reads what the command prints waits until the last process that could print is gone, and
/// a child that hangs may never go.
fn let_go_of_output() {
    let Ok(nowhere) = OpenOptions::new().read(true).write(true).open("/dev/null") else {
        return;
    };
    for standard in [libc::STDIN_FILENO, libc::STDOUT_FILENO, libc::STDERR_FILENO] {
        // SAFETY: only numbers are passed; what was open under the second one is closed.
        unsafe { libc::dup2(nowhere.as_raw_fd(), standard) };
    }
}

/// The child, for the signal handler.
static CHILD: AtomicI32 = AtomicI32::new(0);
/// Signals that came before the child was known here, as bits: it may run, and report that, before the
/// parent comes to itself after the fork.
static EARLY: AtomicU32 = AtomicU32::new(0);
/// Whether a signal to end has come.
static SIGNALLED: AtomicBool = AtomicBool::new(false);

/// Passes the id of the run that is kept to the parent, which reports it when the child
/// is killed.
static KEPT: OnceLock<File> = OnceLock::new();

/// Something of this run is kept from now on.
pub fn note_kept(id: &str) {
    if let Some(mut parent) = KEPT.get() {
        // A pipe that is full names the run already.
        let _ = parent.write_all(format!("{id}\n").as_bytes());
    }
}

/// Passes on what was sent to the parent alone. A Ctrl-C reaches both, and the child must not
/// count it twice.
fn forward_signals() {
    extern "C" fn forward(signal: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
        SIGNALLED.fetch_or(ENDING.contains(&signal), Ordering::Relaxed);
        let child = CHILD.load(Ordering::Relaxed);
        // SAFETY: the kernel passes a valid siginfo; kill is async-signal-safe, and the child is
        // ours and not yet reaped.
        unsafe {
            let sent_by_a_process = (*info).si_code <= 0;
            if sent_by_a_process && child > 0 {
                libc::kill(child, signal);
            } else if sent_by_a_process {
                EARLY.fetch_or(1 << signal, Ordering::Relaxed);
            }
        }
    }
    let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) = forward;
    set_handlers(handler as *const () as usize, libc::SA_SIGINFO);
}

fn pass_on_early(child: i32) {
    let early = EARLY.swap(0, Ordering::Relaxed);
    for signal in ENDING.into_iter().chain([ASKING]) {
        if early & (1 << signal) != 0 {
            // SAFETY: only numbers are passed; the child is ours and not yet reaped.
            unsafe { libc::kill(child, signal) };
        }
    }
}

/// Asks for results so far.
const ASKING: i32 = libc::SIGUSR1;

/// Targets are held open from the first check to the end of the run, in addition to what the workers
/// open: as many as the hard limit allows, where the usual soft one is 1,024. Root may have more.
fn allow_many_files() {
    // The kernel allows root this many by default (fs.nr_open).
    const MOST: u64 = 1 << 20;
    let allow = |most| {
        let limit = Rlimit {
            current: most,
            maximum: most,
        };
        setrlimit(Resource::Nofile, limit)
    };
    let hard = getrlimit(Resource::Nofile).maximum;
    // A run with few files needs no more than it has.
    let _ = allow(hard.map(|hard| hard.max(MOST))).or_else(|_| allow(hard));
}

fn set_handlers(handler: usize, flags: i32) {
    for signal in ENDING.into_iter().chain([ASKING]) {
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
/// How long the whole end may take after a signal. The child gives up what is in flight after three
/// quarters of a second itself; only one that hangs somewhere else needs all of this.
const GRACE: Duration = Duration::from_millis(1400);
const PIECE: Duration = Duration::from_millis(10);

/// The exit code; `None` when the child ended without a word.
fn await_child(child: Pid, mut reader: File, end_sender: File) -> Option<ExitCode> {
    let Some(signalled) = await_word(&reader) else {
        return Some(leave_behind(end_sender));
    };
    let mut code = [0];
    let Ok(1) = reader.read(&mut code) else {
        return None;
    };
    let mut until = Instant::now() + PATIENCE;
    if let Signalled::At(moment) = signalled {
        until = until.min(moment + GRACE);
    }
    let runs = || matches!(waitpid(Some(child), WaitOptions::NOHANG), Ok(None));
    while runs() && Instant::now() < until {
        std::thread::sleep(PIECE);
    }
    Some(ExitCode::from(code[0]))
}

fn leave_behind(mut end_sender: File) -> ExitCode {
    // A child that is gone after all needs no word.
    let _ = end_sender.write_all(&[0]);
    crate::terminal::warn(
        "interrupted; the target did not answer, and a process is left that waits for it and keeps \
         the run when it can",
    );
    ExitCode::from(crate::status::INTERRUPTED)
}

/// Whether a signal has come, and when that was seen.
#[derive(Clone, Copy)]
enum Signalled {
    Not,
    At(Instant),
}

/// Waits until the child's word can be read, or its end. Nothing when a signal came and then
/// neither.
fn await_word(reader: &File) -> Option<Signalled> {
    let asleep = SignalsOnlyInSleep::begin();
    let mut signalled = Signalled::Not;
    loop {
        if let (Signalled::Not, true) = (signalled, SIGNALLED.load(Ordering::Relaxed)) {
            signalled = Signalled::At(Instant::now());
        }
        let left = match signalled {
            Signalled::Not => None,
            Signalled::At(moment) => Some(GRACE.checked_sub(moment.elapsed())?),
        };
        if asleep.until_readable(reader, left) {
            return Some(signalled);
        }
    }
}

/// Holds signals back except while it sleeps: none comes between the look whether one has come and
/// the sleep that it is to end.
struct SignalsOnlyInSleep {
    outside: libc::sigset_t,
}

impl SignalsOnlyInSleep {
    fn begin() -> Self {
        // SAFETY: the sets are filled before they are read.
        unsafe {
            let mut held: libc::sigset_t = std::mem::zeroed();
            let mut outside: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut held);
            for signal in ENDING {
                libc::sigaddset(&raw mut held, signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const held, &raw mut outside);
            Self { outside }
        }
    }

    /// Whether the pipe can be read before the time is over or a signal comes; without a limit it
    /// waits as long as it takes.
    fn until_readable(&self, reader: &File, at_most: Option<Duration>) -> bool {
        let mut poll = libc::pollfd {
            fd: reader.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        let limit = at_most.map(|left| libc::timespec {
            tv_sec: left.as_secs() as libc::time_t,
            tv_nsec: left.subsec_nanos().into(),
        });
        let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: one valid entry, and a limit and a set that live as long as the call.
        unsafe { libc::ppoll(&raw mut poll, 1, limit, &raw const self.outside) > 0 }
    }
}

impl Drop for SignalsOnlyInSleep {
    fn drop(&mut self) {
        // SAFETY: the set was filled by the kernel.
        unsafe {
            libc::pthread_sigmask(
                libc::SIG_SETMASK,
                &raw const self.outside,
                std::ptr::null_mut(),
            );
        }
    }
}

/// The exit code of a child that ended without a word, and what killed it.
fn reap(child: Pid, before: MemoryKills, names: File) -> ExitCode {
    let ended = retry_on_intr(|| waitpid(Some(child), WaitOptions::empty()));
    let status = ended
        .ok()
        .flatten()
        .map_or(0, |(_, status)| status.as_raw());
    if libc::WIFEXITED(status) {
        let code = libc::WEXITSTATUS(status) as u8;
        if code == crate::status::INTERRUPTED {
            let kept = killed::what_is_kept(last(names).as_deref());
            crate::terminal::warn(&format!("ended at once by a second signal. {kept}"));
        }
        ExitCode::from(code)
    } else {
        let signal = libc::WTERMSIG(status);
        report(signal, before, names);
        ExitCode::from(128u8.wrapping_add(signal as u8))
    }
}

/// The id of the run of which something is kept.
fn last(mut names: File) -> Option<String> {
    let mut kept = Vec::new();
    // What cannot be read any more was not written.
    let _ = names.read_to_end(&mut kept);
    let kept = String::from_utf8_lossy(&kept);
    kept.lines().last().map(str::to_owned)
}

fn report(signal: i32, before: MemoryKills, names: File) {
    if let Some(words) = killed::words(signal, before, last(names).as_deref()) {
        crate::terminal::complain(&anyhow!(words));
    }
}
