//! In: the work of a command. Out: its exit code, also if a thread of the work cannot end.
//!
//! A thread in an uninterruptible wait for a slow or dead device cannot be killed, and its process
//! stays until the device answers. So the work is done in a child, and the parent exits as soon as
//! the child has reported its exit code:
//!
//! ```text
//!   parent: waits ──────────────────────────▶ reads the exit code, reaps the child if it can
//!   child:  measures, keeps, prints, removes ──▶ writes the exit code ──▶ exits, or hangs in the kernel
//! ```
//!
//! A child that is left behind closes the command's output, so that readers of it see the end. It
//! learns that it is left behind, or that the parent died, from a second pipe. A thread of its own
//! reads that pipe, because the thread that measures may already hang.

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
use crate::signals::{ENDING, stays_ignored};

/// Runs `work` in a child and returns its exit code. `work` must print everything itself, except an
/// error: that is printed here, and `code_of` gives its exit code.
///
/// Must be called while the process has one thread, because a fork copies only the calling one.
pub fn supervise(
    work: impl FnOnce() -> Result<u8>,
    code_of: impl Fn(&anyhow::Error) -> u8,
) -> Result<ExitCode> {
    let (reader, writer) = pipe(PipeFlags::empty())?;
    let (kept_ids, kept_ids_writer) = pipe(PipeFlags::NONBLOCK)?;
    let (end_request, end_sender) = pipe(PipeFlags::empty())?;
    let before = MemoryKills::now();
    learn_of_children();
    forward_signals();
    // SAFETY: this is the only thread, so the child's copy of the process is whole.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()).context("cannot start a process"),
        0 => {
            // The parent's ends of the pipes: if the child kept them, neither would see the other end.
            drop((reader, kept_ids, end_sender));
            // Fails only if it is set already, which only this line does.
            let _ = KEPT.set(File::from(kept_ids_writer));
            set_handlers(libc::SIG_DFL, 0);
            allow_many_files();
            let code = await_end_request(end_request)
                .context("cannot start a thread")
                .map_err(|error| (crate::status::FAILED, error))
                .and_then(|()| work().map_err(|error| (code_of(&error), error)))
                .unwrap_or_else(|(code, error)| {
                    crate::terminal::complain(&error);
                    code
                });
            let_go_of_output();
            // If the parent is gone, no one reads the code.
            let _ = File::from(writer).write_all(&[code]);
            leave(i32::from(code))
        }
        child => {
            CHILD.store(child, Ordering::Relaxed);
            pass_on_early(child);
            let child = Pid::from_raw(child).expect("a child's number");
            drop((writer, kept_ids_writer, end_request));
            let ended = await_child(child, File::from(reader), File::from(end_sender));
            Ok(ended.unwrap_or_else(|| reap(child, before, File::from(kept_ids))))
        }
    }
}

/// Lets this process learn how its child ends. A program that ignores SIGCHLD, as some that start services
/// do, passes that on to those that it starts, and the kernel then keeps no exit status of their children.
fn learn_of_children() {
    // SAFETY: the default is no handler that could be unsafe.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// The end that reads and the end that writes.
fn pipe(flags: PipeFlags) -> Result<(OwnedFd, OwnedFd)> {
    pipe_with(PipeFlags::CLOEXEC | flags).context("cannot make a pipe")
}

/// Starts a thread that waits at the child's end of the pipe. A byte means that the child is left
/// behind. The end of the pipe without a byte means that the parent was killed, and the child ends
/// as if it had got a signal itself.
fn await_end_request(end_request: OwnedFd) -> io::Result<()> {
    Builder::new()
        .name("end-request".to_owned())
        .spawn(move || match File::from(end_request).read_exact(&mut [0]) {
            Ok(()) => let_go_of_output(),
            Err(_) => drop(kill_process(getpid(), Signal::TERM)),
        })?;
    Ok(())
}

/// Closes standard input and output. A reader of the command's output waits until the last process
/// that has it open is gone, and a child that hangs may never go.
fn let_go_of_output() {
    let Ok(nowhere) = OpenOptions::new().read(true).write(true).open("/dev/null") else {
        return;
    };
    for standard in [libc::STDIN_FILENO, libc::STDOUT_FILENO, libc::STDERR_FILENO] {
        // SAFETY: only numbers are passed; what was open under the second one is closed.
        unsafe { libc::dup2(nowhere.as_raw_fd(), standard) };
    }
}

/// Process id of the child, for the signal handler; 0 before the fork.
static CHILD: AtomicI32 = AtomicI32::new(0);
/// Signals that came before [`CHILD`] was set, as bits: the child may run, and its output may make
/// somebody send a signal, before `fork` returns in the parent.
static EARLY: AtomicU32 = AtomicU32::new(0);
/// Whether a signal to end has come.
static SIGNALLED: AtomicBool = AtomicBool::new(false);

/// In the child, the pipe through which the parent learns the ids of runs of which something is kept, to
/// report the last one if the child is killed.
static KEPT: OnceLock<File> = OnceLock::new();

/// Tells the parent that something of this run is kept from now on. `id`: as `blocklab show` takes it,
/// with the option that names a store other than the usual one.
pub fn note_kept(id: &str) {
    if let Some(mut parent) = KEPT.get() {
        // If the pipe is full, of thousands of runs, one of those before is reported.
        let _ = parent.write_all(format!("{id}\n").as_bytes());
    }
}

/// Forwards signals that a process sent to the parent alone. The kernel sends a Ctrl-C to both, and
/// the child must not count it twice.
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

/// Forwards the signals that came before the handler knew the child.
fn pass_on_early(child: i32) {
    let early = EARLY.swap(0, Ordering::Relaxed);
    for signal in ENDING.into_iter().chain([STATUS_REQUEST]) {
        if early & (1 << signal) != 0 {
            // SAFETY: only numbers are passed; the child is ours and not yet reaped.
            unsafe { libc::kill(child, signal) };
        }
    }
}

/// The signal that requests the results so far.
const STATUS_REQUEST: i32 = libc::SIGUSR1;

/// Raises the limit of open files to the hard limit; the usual soft one is 1,024. Targets are held
/// open from the first check to the end of the run, in addition to those that the workers open.
fn allow_many_files() {
    // The default of fs.nr_open, to which root may raise the hard limit.
    const NR_OPEN: u64 = 1 << 20;
    let hard = getrlimit(Resource::Nofile).maximum;
    // Both may fail: a run with few files does not need more than it has.
    let _ = set_file_limit(hard.map(|hard| hard.max(NR_OPEN))).or_else(|_| set_file_limit(hard));
}

/// Sets the soft and the hard limit of open files; `None`: no limit.
fn set_file_limit(files: Option<u64>) -> rustix::io::Result<()> {
    let limit = Rlimit {
        current: files,
        maximum: files,
    };
    setrlimit(Resource::Nofile, limit)
}

/// Sets the handler of all signals that a user sends; those that stay ignored are left out.
fn set_handlers(handler: usize, flags: i32) {
    let signals = ENDING.into_iter().chain([STATUS_REQUEST]);
    for signal in signals.filter(|signal| !stays_ignored(*signal)) {
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

/// How long a child that has reported its code may take to exit before it is left behind.
const EXIT_TIMEOUT: Duration = Duration::from_millis(300);
/// How long the whole end may take after a signal. The child itself gives up operations in flight
/// after three quarters of a second, so only one that hangs elsewhere needs all of this.
const GRACE: Duration = Duration::from_millis(1400);
/// How often the parent looks whether the child is gone.
const LOOK: Duration = Duration::from_millis(10);

/// The exit code; `None` if the child ended without reporting one.
fn await_child(child: Pid, mut reader: File, end_sender: File) -> Option<ExitCode> {
    let Some(signalled) = await_report(&reader) else {
        return Some(leave_behind(end_sender));
    };
    let mut code = [0];
    let Ok(1) = reader.read(&mut code) else {
        return None;
    };
    let mut until = Instant::now() + EXIT_TIMEOUT;
    if let Signalled::At(moment) = signalled {
        until = until.min(moment + GRACE);
    }
    while matches!(waitpid(Some(child), WaitOptions::NOHANG), Ok(None)) && Instant::now() < until {
        std::thread::sleep(LOOK);
    }
    Some(ExitCode::from(code[0]))
}

/// Exits without waiting for a child that has not ended in time, and tells it so. A target that does not
/// answer keeps it most often, but a long simulation or a slow disk of the store can, too.
fn leave_behind(mut end_sender: File) -> ExitCode {
    // Fails if the child is gone after all, which is just as well.
    let _ = end_sender.write_all(&[0]);
    crate::terminal::warn(
        "interrupted; the run has not ended in time, probably because its target does not answer. A \
         background process waits for it and will keep the run if it can",
    );
    ExitCode::from(crate::status::INTERRUPTED)
}

/// Whether a signal has come, and when that was seen.
#[derive(Clone, Copy)]
enum Signalled {
    Not,
    At(Instant),
}

/// Waits until the child's exit code, or its end, can be read from the pipe, and returns whether a signal has
/// come. `None` if neither comes in time after a signal.
fn await_report(reader: &File) -> Option<Signalled> {
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

/// Blocks signals except while it sleeps, so that none can come between the check for a signal and
/// the sleep that the signal should end.
struct SignalsOnlyInSleep {
    /// The signals that were blocked before, which are those that are blocked in the sleep.
    before: libc::sigset_t,
}

impl SignalsOnlyInSleep {
    fn begin() -> Self {
        // SAFETY: the sets are filled before they are read.
        unsafe {
            let mut blocked: libc::sigset_t = std::mem::zeroed();
            let mut before: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut blocked);
            for signal in ENDING {
                libc::sigaddset(&raw mut blocked, signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const blocked, &raw mut before);
            Self { before }
        }
    }

    /// Whether the pipe can be read before the time is over or a signal comes; `None` sets no limit.
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
        let pointer = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: one valid entry, and a limit and a set that live as long as the call.
        unsafe { libc::ppoll(&raw mut poll, 1, pointer, &raw const self.before) > 0 }
    }
}

impl Drop for SignalsOnlyInSleep {
    fn drop(&mut self) {
        // SAFETY: the set was filled by the kernel.
        unsafe {
            libc::pthread_sigmask(
                libc::SIG_SETMASK,
                &raw const self.before,
                std::ptr::null_mut(),
            );
        }
    }
}

/// Waits for a child that ended without reporting an exit code, prints why it ended, and gives the code for
/// that. `before`: the counters when it began; `kept_ids`: the pipe with the ids of runs that are kept.
fn reap(child: Pid, before: MemoryKills, kept_ids: File) -> ExitCode {
    let ended = retry_on_intr(|| waitpid(Some(child), WaitOptions::empty()));
    let Ok(Some((_, status))) = ended else {
        // It was reaped before, which nothing here does. An unknown end is no success.
        return ExitCode::from(crate::status::FAILED);
    };
    let status = status.as_raw();
    if libc::WIFEXITED(status) {
        let code = libc::WEXITSTATUS(status) as u8;
        if code == crate::status::INTERRUPTED {
            let kept = killed::what_is_kept(last(kept_ids).as_deref());
            crate::terminal::warn(&format!("ended at once by a second signal. {kept}"));
        }
        ExitCode::from(code)
    } else {
        let signal = libc::WTERMSIG(status);
        // A signal with which users end a run needs no explanation.
        if let Some(words) = killed::words(signal, before, last(kept_ids).as_deref()) {
            crate::terminal::complain(&anyhow!(words));
        }
        // The code that a shell gives for a program that was killed by this signal.
        ExitCode::from(128u8.wrapping_add(signal as u8))
    }
}

/// The id of the last run of which something is kept.
fn last(mut kept_ids: File) -> Option<String> {
    let mut kept = Vec::new();
    // An error means that there is nothing more to read: the pipe does not block.
    let _ = kept_ids.read_to_end(&mut kept);
    String::from_utf8_lossy(&kept)
        .lines()
        .last()
        .map(str::to_owned)
}
