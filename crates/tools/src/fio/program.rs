//! The programs of `ioengine=exec`: each runs alongside the jobs of its case, until its time is over.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result};
use blocklab_console::terminal;
use blocklab_fio::{CloneFacts, Program};
use blocklab_units::Nanos;
use rustix::process::{Pid, Signal, kill_process};

use super::clock::now;
use blocklab_results::output::{self, Over};

/// How often a program is looked after.
const LOOK: Duration = Duration::from_millis(10);

/// Those of the case under way. They end with it.
#[derive(Default)]
pub struct Programs {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Programs {
    /// Starts those of these clones.
    pub fn start<'a>(clones: impl Iterator<Item = &'a CloneFacts>) -> Self {
        let mut programs = Self::default();
        for clone in clones {
            let Some(program) = clone.program.clone() else {
                continue;
            };
            let (name, over) = (clone.name.clone(), Arc::clone(&programs.over));
            let run = move || {
                if let Err(error) = run(&name, &program, &over) {
                    terminal::warn(&format!("job {name}: {error:#}"));
                }
            };
            programs.threads.push(thread::spawn(run));
        }
        programs
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // One that panicked has no result.
            let _ = thread.join();
        }
    }
}

fn run(name: &str, program: &Program, over: &AtomicBool) -> Result<()> {
    if !waits(program.delay, || over.load(Ordering::Relaxed)) {
        return Ok(());
    }
    let mut child = spawn(name, program)
        .with_context(|| format!("cannot start the program {}", program.path))?;
    let mut failure = None;
    let mut is_over = || match child.try_wait() {
        Ok(None) => over.load(Ordering::Relaxed),
        Ok(Some(_)) => true,
        Err(error) => {
            failure = Some(error);
            true
        }
    };
    waits(program.limit, &mut is_over);
    match failure {
        Some(error) => Err(error).context("cannot wait for its program"),
        None => end(&mut child, program.grace).context("its program does not end"),
    }
}

/// Waits for so long, or until it is over. Whether it is not.
fn waits(time: Nanos, mut is_over: impl FnMut() -> bool) -> bool {
    let begun = now();
    while begun.elapsed() < Duration::from_nanos(time.0) {
        if is_over() {
            return false;
        }
        thread::sleep(LOOK);
    }
    true
}

fn spawn(name: &str, program: &Program) -> Result<Child> {
    let mut command = Command::new(&program.path);
    command.args(&program.arguments).stdin(Stdio::null());
    if program.redirects {
        let own = name.replace('/', "_");
        let file = |end: &str| output::create(Path::new(&format!("{own}.{end}")), Over::Files);
        command.stdout(file("stdout")?).stderr(file("stderr")?);
    }
    // SAFETY: between fork and exec one system call is made, which takes no memory.
    unsafe {
        command.pre_exec(|| {
            // It does not outlive the thread that looks after it, however that ends.
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
            Ok(())
        });
    }
    Ok(command.spawn()?)
}

/// Asks it to end, and ends it where it has not done so in time.
fn end(child: &mut Child, grace: Nanos) -> io::Result<()> {
    if child.try_wait()?.is_some() {
        return Ok(());
    }
    // The child was not waited for, so the number is its own.
    let _ = kill_process(Pid::from_child(child), Signal::TERM);
    let is_gone = || !matches!(child.try_wait(), Ok(None));
    if waits(grace, is_gone) {
        child.kill()?;
    }
    child.wait().map(|_| ())
}
