//! `--trigger-file` and `--trigger-timeout`: all jobs end, what they wrote is left in their state
//! files, and the command of `--trigger` is run. Only a command line has one, never a job file.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use blocklab_console::terminal;
use blocklab_fio::{General, Prepared};
use blocklab_units::Nanos;

/// Ends the jobs and runs a command, once.
pub struct Trigger<'a> {
    file: Option<&'a Path>,
    after: Option<Nanos>,
    command: Option<&'a str>,
    /// What ends the jobs, as a signal does.
    interrupted: &'a AtomicBool,
    is_pulled: bool,
}

impl<'a> Trigger<'a> {
    /// The one that the command line asks for.
    pub fn new(general: &'a General, interrupted: &'a AtomicBool) -> Option<Self> {
        let (file, after) = (general.trigger_file.as_deref(), general.trigger_timeout);
        (file.is_some() || after.is_some()).then_some(Self {
            file: file.map(Path::new),
            after: after.map(Nanos),
            command: general.trigger.as_deref(),
            interrupted,
            is_pulled: false,
        })
    }

    /// Ends the jobs, where the file is there or the time has come. The file is removed.
    pub fn look(&mut self, elapsed: Nanos) {
        if self.is_pulled {
            return;
        }
        let is_late = self.after.is_some_and(|after| elapsed >= after);
        let is_there = self.file.filter(|file| file.exists());
        if let Some(file) = is_there
            && let Err(error) = fs::remove_file(file)
        {
            terminal::warn(&format!("--trigger-file={}: {error}", file.display()));
        }
        if is_late || is_there.is_some() {
            self.is_pulled = true;
            self.interrupted.store(true, Ordering::Relaxed);
        }
    }

    /// Whether it has ended the jobs.
    pub const fn is_pulled(&self) -> bool {
        self.is_pulled
    }

    /// Runs the command, when the state files are left: they outlive a machine that it switches off.
    pub fn run(&self, prepared: &Prepared) {
        let Some(command) = self.command.filter(|_| self.is_pulled) else {
            return;
        };
        for path in prepared
            .clones
            .iter()
            .filter_map(|clone| clone.state.as_ref())
        {
            // One that was not written has nothing to outlive.
            let _ = File::open(path).and_then(|file| file.sync_all());
        }
        let failed = match Command::new("sh").args(["-c", command]).status() {
            Ok(status) if status.success() => return,
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        terminal::inform(&format!(
            "fio: failed executing {command} trigger: {failed}"
        ));
    }
}
