//! In: words of a command line. Out: what the program answers, run in an empty folder with a store of
//! its own.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use blocklab_record::Record;
use blocklab_store::Store;
use serde_json::Value;
use tempfile::TempDir;

/// The root of the source tree.
#[must_use]
pub fn root() -> &'static Path {
    let proof = Path::new(env!("CARGO_MANIFEST_DIR"));
    proof.parent().expect("this package has a parent")
}

/// An empty place with a store of its own, in which the program is run.
pub struct Lab {
    folder: TempDir,
}

/// The outcome of a run of the program.
#[derive(Debug)]
pub struct Printed {
    /// Its exit code; `None`: killed by a signal.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Lab {
    /// A fresh one; it is removed with the value.
    ///
    /// # Panics
    /// When no temporary folder can be made.
    #[must_use]
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    /// The folder in which the program runs.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Its store.
    #[must_use]
    pub fn store(&self) -> Store {
        Store::open(self.path().join("runs"))
    }

    /// Keeps a run in the store.
    ///
    /// # Panics
    /// When the store refuses it.
    pub fn keep(&self, record: &Record) {
        self.store().save(record).expect("a new run is kept");
    }

    /// The program, ready to run here: no colours, no terminal, nothing of the user's settings.
    #[must_use]
    pub fn command(&self) -> Command {
        self.prepared(program())
    }

    /// Any program, ready to run here in the same way.
    fn prepared(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.path())
            .env("BLOCKLAB_STORE", self.path().join("runs"))
            // The user's own catalog would change figures.
            .env("HOME", self.path().join("home"))
            .env_remove("XDG_DATA_HOME")
            // Help is as wide as this says.
            .env_remove("COLUMNS")
            .stdin(Stdio::null());
        command
    }

    /// Runs `blocklab ARGS` here to its end.
    ///
    /// # Panics
    /// When the program cannot be started or does not speak UTF-8.
    #[must_use]
    pub fn blocklab<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Printed {
        printed(self.command().args(args).output().expect("it starts"))
    }

    /// Runs a command that must be refused as a user's mistake: exit code 2, nothing on standard
    /// output, and an error with all of these words.
    ///
    /// # Panics
    /// When it is not refused, or in other words.
    #[track_caller]
    pub fn refused<'a>(&self, args: impl IntoIterator<Item = &'a str>, words: &[&str]) {
        let args: Vec<&str> = args.into_iter().collect();
        let ran = self.blocklab(args.iter().copied());
        let context = format!("{args:?}: {}", ran.err);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{context}");
        assert!(ran.err.starts_with("error: "), "{context}");
        assert!(!ran.err.contains("panicked"), "{context}");
        for word in words {
            assert!(ran.err.contains(word), "no `{word}` in {context}");
        }
    }

    /// Writes a file into the folder in which the program runs.
    ///
    /// # Panics
    /// When it cannot be written.
    #[track_caller]
    pub fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        fs::write(self.path().join(name), content)
            .expect("the folder of the lab can be written to");
    }

    /// The text of a file in that folder.
    ///
    /// # Panics
    /// When there is no such file, or it is no text.
    #[must_use]
    #[track_caller]
    pub fn read(&self, name: impl AsRef<Path>) -> String {
        let path = self.path().join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Runs a line as somebody types it here, with `blocklab` on the path.
    ///
    /// # Panics
    /// When there is no shell, or the program does not speak UTF-8.
    #[must_use]
    pub fn shell(&self, line: &str) -> Printed {
        let folder = program().parent().expect("a program lies in a folder");
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", folder.display());
        let mut shell = self.prepared("sh");
        let output = shell.args(["-c", line]).env("PATH", path).output();
        printed(output.expect("a shell"))
    }
}

impl Default for Lab {
    fn default() -> Self {
        Self::new()
    }
}

fn printed(output: Output) -> Printed {
    Printed {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("UTF-8"),
        err: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// The program, built once for each test binary: Cargo tells the path only to tests of the
/// program's own package, and an old one must not be tested by mistake.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        built("blocklab", "--package blocklab")
            .unwrap_or_else(|words| panic!("blocklab does not build:\n{words}"))
    })
}

/// The folder of the programs to test, where whoever starts the tests has just built them.
const BUILT: &str = "BLOCKLAB_BUILT";

/// A program of the workspace, or what Cargo said where it could not be built with these words.
pub(crate) fn built(name: &str, words: &str) -> Result<PathBuf, String> {
    let built = std::env::var_os(BUILT).map(|folder| Path::new(&folder).join(name));
    if let Some(program) = built.filter(|program| program.is_file()) {
        return Ok(program);
    }
    let mut build = Command::new(env!("CARGO"));
    build.current_dir(root()).args(["build", "--quiet"]);
    build.args(words.split(' '));
    if !cfg!(debug_assertions) {
        build.arg("--release");
    }
    let output = build.output().expect("cargo starts");
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let test = std::env::current_exe().expect("this test has a path");
    let deps = test.parent().expect("a test lies in a folder");
    Ok(deps.with_file_name(name))
}

/// Whether Debian's fio can be asked; where not, the test says that it was skipped.
pub fn fio_is_there() -> bool {
    is_there("fio", "--version")
}

/// Whether system calls can be traced; where not, the test says that it was skipped.
pub fn strace_is_there() -> bool {
    is_there("strace", "-V")
}

fn is_there(program: &str, version: &str) -> bool {
    let there = Command::new(program).arg(version).output().is_ok();
    if !there {
        println!("skipped: {program} is not installed");
    }
    there
}

/// What fio prints for these words, in the lab's folder.
///
/// # Panics
/// When it fails.
#[track_caller]
pub fn fio(lab: &Lab, words: &[&str]) -> String {
    let mut command = Command::new("fio");
    let output = command.current_dir(lab.path()).args(words).output();
    let output = output.expect("fio starts");
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// The standard output of a command that must succeed without a complaint.
///
/// # Panics
/// When it failed or complained.
#[track_caller]
pub fn good(printed: Printed) -> String {
    let received = (printed.code, printed.err.as_str());
    assert_eq!(received, (Some(0), ""), "{}", printed.out);
    printed.out
}

/// A text that is JSON.
///
/// # Panics
/// When it is none.
#[must_use]
#[track_caller]
pub fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|why| panic!("no JSON ({why}): {text}"))
}
