//! A volume that a test serves.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use blocklab_proof::Lab;

use super::{is_root, skip, tool};

/// `blocklab emulate` at work. It is killed with the value, if it was not ended.
pub struct Served {
    child: Child,
    /// What `--block` made.
    pub device: Option<String>,
    /// What was told before it served.
    pub printed: String,
}

impl Served {
    /// Clients find it when this returns.
    pub fn start(lab: &Lab, arguments: &[&str]) -> Self {
        let mut command = lab.command();
        command.arg("emulate").args(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let mut words = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut printed = String::new();
        while !printed.contains("Serving") {
            let len = words.read_line(&mut printed).expect("text");
            assert!(len > 0, "it does not serve: {printed}");
        }
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let device = arguments.contains(&"--block").then(|| {
            let mut line = String::new();
            output.read_line(&mut line).expect("text");
            line.trim_end().to_owned()
        });
        // What it says later must find somebody who listens.
        std::thread::spawn(move || words.read_to_end(&mut Vec::new()));
        std::thread::spawn(move || output.read_to_end(&mut Vec::new()));
        Self {
            child,
            device,
            printed,
        }
    }

    /// One that the test has started by itself.
    pub fn started(child: Child) -> Self {
        Self {
            child,
            device: None,
            printed: String::new(),
        }
    }

    /// What it listens to signals by.
    pub fn pid(&self) -> String {
        self.child.id().to_string()
    }

    /// The exit code of one that ends by itself.
    pub fn ended(mut self) -> Option<i32> {
        self.child.wait().expect("our child").code()
    }

    pub fn device(&self) -> &str {
        self.device.as_deref().expect("a block device")
    }

    /// By a signal, as its user does; gives the exit code.
    pub fn end(self) -> Option<i32> {
        tool("kill", &["-INT", &self.pid()]).expect("our child runs");
        self.ended()
    }

    /// As a machine out of memory does: it has no time to undo anything.
    pub fn kill(mut self) {
        self.child.kill().expect("our child runs");
        self.child.wait().expect("our child");
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // One that has ended cannot be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether files and block devices can be served here; what is skipped otherwise is reported.
pub fn can_serve_files(what: &str, block: bool) -> bool {
    if !is_root(what) {
        return false;
    }
    let needed = ["/dev/fuse", "/dev/loop-control"];
    let missing = needed[..if block { 2 } else { 1 }]
        .iter()
        .find(|path| fs::File::options().read(true).open(path).is_err());
    if let Some(path) = missing {
        skip(what, &format!("{path} cannot be opened"));
    }
    missing.is_none()
}

/// Lines about a path or a device: of mounts, and of files behind loop devices.
pub fn traces(of: &str) -> Vec<String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").expect("mounts");
    let mut found: Vec<_> = mounts.lines().map(str::to_owned).collect();
    for entry in fs::read_dir("/sys/block").expect("disks").flatten() {
        let behind = fs::read_to_string(entry.path().join("loop/backing_file"));
        let name = entry.file_name().to_string_lossy().into_owned();
        found.extend(behind.map(|file| format!("/dev/{name} {file}")));
    }
    found.retain(|line| line.contains(of));
    found
}

/// An empty folder in the lab.
pub fn empty_folder(lab: &Lab, name: &str) -> PathBuf {
    let path: &Path = lab.path();
    let path = path.join(name);
    fs::create_dir(&path).expect("a new folder");
    path
}
