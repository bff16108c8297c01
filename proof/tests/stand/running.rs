//! A run that is under way.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use blocklab_proof::send;

/// Nothing here may take longer, on whatever machine: a run that does hangs.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A started program in a process group of its own, as a shell starts it.
pub struct Running {
    child: Child,
    progress: BufReader<ChildStderr>,
}

/// How it ended.
pub struct Ended {
    pub status: ExitStatus,
    /// Since it was asked to end.
    pub took: Duration,
    progress: BufReader<ChildStderr>,
}

impl Ended {
    /// What was still to be read of its standard error, to the end of the last process that has
    /// it open.
    pub fn last_words(mut self) -> String {
        patiently("its last words", move || {
            let mut words = String::new();
            self.progress.read_to_string(&mut words).expect("text");
            words
        })
    }
}

/// Does `work` in a thread; fails when it takes for ever.
fn patiently<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, waiting) = mpsc::channel();
    // Nobody waits any more after a failure.
    thread::spawn(move || done.send(work()).ok());
    let answer = waiting.recv_timeout(PATIENCE);
    answer.unwrap_or_else(|_| panic!("{PATIENCE:?}, and still no end of {what}"))
}

impl Running {
    pub fn start(mut command: Command) -> Self {
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.process_group(0).spawn().expect("it starts");
        let progress = child.stderr.take().expect("piped");
        Self {
            child,
            progress: BufReader::new(progress),
        }
    }

    /// Waits for the line of a finished measurement.
    pub fn await_measurement(&mut self) -> String {
        let mut line = String::new();
        self.progress.read_line(&mut line).expect("text");
        assert!(line.contains(" pass "), "no measurement, but: {line:?}");
        line
    }

    /// Waits for a line with these words, which must be the next one.
    pub fn await_words(&mut self, words: &str) {
        let mut line = String::new();
        self.progress.read_line(&mut line).expect("text");
        assert!(line.contains(words), "{line:?}");
    }

    /// Waits until the process that measures has this many threads that do so.
    pub fn await_workers(&self, expected: usize) {
        // One more looks on, one waits for the parent's word, and one keeps what is measured.
        self.await_more("threads", expected as u64 + 3, || self.threads());
    }

    /// Waits until the process that measures has written this many bytes more.
    pub fn await_writes(&self, bytes: u64) {
        let before = self.written();
        self.await_more("bytes written", before + bytes, || self.written());
    }

    fn await_more(&self, what: &str, expected: u64, look: impl Fn() -> u64) {
        let began = Instant::now();
        while look() < expected {
            assert!(began.elapsed() < PATIENCE, "{} {what}", look());
            thread::yield_now();
        }
    }

    fn threads(&self) -> u64 {
        let tasks = fs::read_dir(self.worker_process().join("task"));
        tasks.map_or(0, |tasks| tasks.count() as u64)
    }

    fn written(&self) -> u64 {
        let io = fs::read_to_string(self.worker_process().join("io")).unwrap_or_default();
        let bytes = io.lines().find_map(|line| line.strip_prefix("wchar: "));
        bytes.map_or(0, |bytes| bytes.parse().expect("a number"))
    }

    /// In `/proc`, the child of the process that was started.
    fn worker_process(&self) -> PathBuf {
        let own = format!("{}", self.child.id());
        let is_child = |process: &PathBuf| {
            let stat = fs::read_to_string(process.join("stat")).unwrap_or_default();
            // `PID (any name) STATE PARENT …`
            let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
            fields.split(' ').nth(1) == Some(&own)
        };
        let processes = fs::read_dir("/proc").expect("/proc").flatten();
        let mut paths = processes.map(|process| process.path());
        paths.find(is_child).unwrap_or_default()
    }

    /// Stops the program and all that it started for a while, as Ctrl-Z does.
    pub fn stand_still(&self, time: Duration) {
        let group = format!("-{}", self.child.id());
        send("STOP", &group);
        thread::sleep(time);
        send("CONT", &group);
    }

    /// Sends `signal`, to the process alone as `kill` does, or to all of its group as a terminal
    /// does.
    pub fn signal(&self, signal: &str, whole_group: bool) {
        send(signal, &self.address(whole_group));
    }

    /// As [`Running::signal`], and waits for the end.
    pub fn end_by(self, signal: &str, whole_group: bool) -> Ended {
        let to = self.address(whole_group);
        self.end_to(signal, &to)
    }

    /// As `kill` takes it.
    fn address(&self, whole_group: bool) -> String {
        let pid = self.child.id();
        let to = if whole_group { "-" } else { "" };
        format!("{to}{pid}")
    }

    /// Sends `signal` to the process that measures, and waits for the end of the other.
    pub fn end_worker_by(self, signal: &str) -> Ended {
        let worker = self.worker_process();
        let pid = worker.file_name().and_then(|name| name.to_str());
        let pid = pid.expect("it measures").to_owned();
        self.end_to(signal, &pid)
    }

    fn end_to(mut self, signal: &str, to: &str) -> Ended {
        let requested = Instant::now();
        send(signal, to);
        let status = patiently(&format!("a run after SIG{signal}"), move || {
            self.child.wait().expect("our own child")
        });
        Ended {
            status,
            took: requested.elapsed(),
            progress: self.progress,
        }
    }
}
