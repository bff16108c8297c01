//! `--trigger-file` and `--trigger-timeout`: when the file appears or the time is over, all jobs end,
//! their state files are written, and the command of `--trigger` runs. Job files cannot set it.

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
    /// Set to end the jobs, as a signal handler does.
    interrupted: &'a AtomicBool,
    /// Whether it has ended the jobs.
    is_pulled: bool,
}

impl<'a> Trigger<'a> {
    /// The trigger that the command line sets up; `None` if it has none.
    pub fn new(general: &'a General, interrupted: &'a AtomicBool) -> Option<Self> {
        let (file, after) = (general.trigger_file.as_deref(), general.trigger_timeout);
        (file.is_some() || after.is_some()).then_some(Self {
            file: file.map(Path::new),
            after,
            command: general.trigger.as_deref(),
            interrupted,
            is_pulled: false,
        })
    }

    /// Ends the jobs if the file is there or the time is over. The file is removed, so that it does not
    /// end the next run, too.
    pub fn check(&mut self, elapsed: Nanos) {
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

    /// Flushes the state files and runs the command, once the trigger is pulled. The command may cut the power,
    /// and the state files must be there after that.
    pub fn run(&self, prepared: &Prepared) {
        let Some(command) = self.command else { return };
        for path in prepared
            .clones
            .iter()
            .filter_map(|clone| clone.state.as_ref())
        {
            // A job that wrote nothing has no state file.
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
