//! The programs of `ioengine=exec`: each runs alongside the jobs of its case, until its time limit.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use blocklab_console::terminal;
use blocklab_fio::{CloneFacts, Program};
use blocklab_units::Nanos;
use blocklab_workload::Job;
use rustix::process::{Pid, Signal, kill_process};

use blocklab_results::output::{self, Over};

/// How often a program is checked for whether it has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The programs of the current case. Dropping this ends them.
#[derive(Default)]
pub struct Programs {
    /// Set to end them.
    over: Arc<AtomicBool>,
    /// One for each program, which waits for its end.
    threads: Vec<JoinHandle<()>>,
}

impl Programs {
    /// Starts the programs of the clones that have one of these jobs, each with a thread that waits for it.
    pub fn start<'a>(clones: impl Iterator<Item = &'a CloneFacts>, jobs: &[Job]) -> Self {
        let mut programs = Self::default();
        for clone in clones {
            let job = jobs.iter().find(|job| job.name == clone.job);
            let (Some(program), Some(job)) = (clone.program.clone(), job) else {
                continue;
            };
            let (name, over) = (clone.name.clone(), Arc::clone(&programs.over));
            let delay = job.start_delay;
            programs.threads.push(thread::spawn(move || {
                if let Err(error) = run(&name, &program, delay, &over) {
                    terminal::warn(&format!("job {name}: {error:#}"));
                }
            }));
        }
        programs
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // The threads give no result, and a panic has printed its message.
            let _ = thread.join();
        }
    }
}

/// Runs a program after a delay, and ends it at its time limit or when the case is over.
fn run(name: &str, program: &Program, delay: Nanos, over: &AtomicBool) -> Result<()> {
    if !wait_times_out(delay, || over.load(Ordering::Relaxed)) {
        return Ok(());
    }
    let mut child = spawn(name, program)
        .with_context(|| format!("cannot start the program {}", program.path))?;
    let mut failure = None;
    wait_times_out(program.limit, || match child.try_wait() {
        Ok(None) => over.load(Ordering::Relaxed),
        Ok(Some(_)) => true,
        Err(error) => {
            failure = Some(error);
            true
        }
    });
    match failure {
        Some(error) => Err(error).context("cannot wait for its program"),
        None => end(&mut child, program.grace).context("its program does not end"),
    }
}

/// Waits for a time, or until `is_over` returns true. True, if the whole time has passed.
fn wait_times_out(time: Nanos, mut is_over: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_nanos(time.0) {
        if is_over() {
            return false;
        }
        thread::sleep(POLL_INTERVAL);
    }
    true
}

/// Starts a program, with its output in files if that is requested.
fn spawn(name: &str, program: &Program) -> Result<Child> {
    let mut command = Command::new(&program.path);
    command.args(&program.arguments).stdin(Stdio::null());
    if program.redirects {
        let own = name.replace('/', "_");
        let [stdout, stderr] = ["stdout", "stderr"]
            .map(|end| output::create(Path::new(&format!("{own}.{end}")), Over::Files));
        command.stdout(stdout?).stderr(stderr?);
    }
    // SAFETY: between fork and exec one system call is made, which takes no memory.
    unsafe {
        command.pre_exec(|| {
            // The kernel ends the program with the thread that started it, even if blocklab is killed.
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
            Ok(())
        });
    }
    Ok(command.spawn()?)
}

/// Asks the program to end, and kills it when it has not done so after `grace`.
fn end(child: &mut Child, grace: Nanos) -> io::Result<()> {
    if child.try_wait()?.is_some() {
        return Ok(());
    }
    // The child is not reaped yet, so its process id cannot belong to another process. An error means
    // that it has just ended by itself.
    let _ = kill_process(Pid::from_child(child), Signal::TERM);
    if wait_times_out(grace, || !matches!(child.try_wait(), Ok(None))) {
        child.kill()?;
    }
    child.wait().map(|_| ())
}
