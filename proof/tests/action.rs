//! `action.yml` and its script, run as GitHub runs them: in a folder with the files of a job.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use blocklab_proof::{Lab, good, root};

/// A job: its folder, and what its variables are.
struct Job {
    lab: Lab,
    inputs: BTreeMap<&'static str, String>,
}

/// What a step left.
struct Step {
    code: Option<i32>,
    log: String,
    summary: String,
    outputs: BTreeMap<String, String>,
}

const LOAD: &str = "--rw randread --bs 8k --depth 4 --runtime 1s --repeat 3 --seed 7";

impl Job {
    /// One load of a simulated volume, by the program that was just built.
    fn new() -> Self {
        let lab = Lab::new();
        good(lab.blocklab(["--version"]));
        let binary = good(lab.shell("command -v blocklab"));
        let inputs = [
            ("INPUT_BINARY", binary.trim()),
            ("INPUT_TARGET", "sim:gp3:1TiB@m5.xlarge"),
            ("INPUT_ARGUMENTS", LOAD),
        ];
        let inputs = inputs.map(|(name, value)| (name, value.to_owned()));
        Self {
            lab,
            inputs: inputs.into(),
        }
    }

    fn with(mut self, input: &'static str, value: &str) -> Self {
        self.inputs.insert(input, value.to_owned());
        self
    }

    /// A program of the runner that is not the real one.
    fn fake(&self, name: &str, script: &str) {
        let folder = self.lab.path().join("bin");
        fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join(name);
        fs::write(&file, format!("#!/bin/bash\n{script}\n")).expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("a program");
    }

    fn run(&self) -> Step {
        let place = |name: &str| self.lab.path().join(name);
        let (summary, outputs) = (place("summary"), place("outputs"));
        fs::write(&summary, "").expect("written");
        fs::write(&outputs, "").expect("written");
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("bash");
        command
            .arg(root().join("scripts/action"))
            .current_dir(self.lab.path())
            .env("PATH", format!("{}:{path}", place("bin").display()))
            .env("RUNNER_TEMP", place("temp"))
            .env("GITHUB_STEP_SUMMARY", &summary)
            .env("GITHUB_OUTPUT", &outputs)
            .env("GITHUB_REPOSITORY", "acme/storage")
            .env("INPUT_VERSION", "9.9.9")
            .envs(&self.inputs);
        let ran = command.output().expect("bash starts");
        let text = |file| fs::read_to_string(file).expect("text");
        let outputs = text(&outputs);
        let pairs = outputs.lines().filter_map(|line| line.split_once('='));
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Step {
            code: ran.status.code(),
            log: String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned(),
            summary: text(&summary),
            outputs: pairs.collect(),
        }
    }
}

/// A run that is judged leaves its page, its record, its tests and a summary, and the status that ends
/// the job is an output, so that the files are kept first.
#[test]
fn a_job_keeps_its_files_and_then_fails() {
    let job = Job::new().with("INPUT_FAIL_ON", "iops<100,p99>100us");
    let step = job.run();
    assert_eq!(step.code, Some(0), "{}", step.log);
    assert_eq!(step.outputs["status"], "4", "{}", step.log);
    let error = "::error title=blocklab::blocklab: a condition failed";
    assert!(step.log.contains(error), "{}", step.log);
    for part in [
        "### blocklab\n",
        "rand-8KiB-q4-read |",
        "**p99\\>100us: fail**\n  - rand",
    ] {
        assert!(step.summary.contains(part), "{part}: {}", step.summary);
    }
    let folder = std::path::Path::new(&step.outputs["folder"]);
    for (file, begins) in [
        ("page.html", "<!DOCTYPE html>"),
        ("run.xml", "<?xml"),
        ("record.json", "{\n  \"format\""),
    ] {
        let text = fs::read_to_string(folder.join(file)).expect(file);
        assert!(text.starts_with(begins), "{file}");
    }
    assert_eq!(
        step.outputs["record"],
        folder.join("record.json").display().to_string()
    );
}

/// A and B in one job: the second step compares itself with the record of the first.
#[test]
fn a_later_step_is_compared_with_the_record_of_an_earlier_one() {
    let job = Job::new().with("INPUT_NAME", "a");
    let first = job.run();
    assert_eq!(first.outputs["status"], "0", "{}", first.log);
    let second = job
        .with("INPUT_NAME", "b")
        .with("INPUT_BASELINE", &first.outputs["record"]);
    let same = second.run();
    assert_eq!(same.outputs["status"], "0", "{}", same.log);
    assert!(same.summary.contains("### Comparison"), "{}", same.summary);
    assert!(same.summary.contains("slower:5%: pass"), "{}", same.summary);
    // sc1 has a few dozen random reads a second.
    let lost = second.with("INPUT_TARGET", "sim:sc1:1TiB@m5.xlarge").run();
    assert_eq!(lost.outputs["status"], "4", "{}", lost.log);
    assert!(lost.summary.contains("slower:5%: fail"), "{}", lost.summary);
}

/// The newest baseline of the default branch comes from the artifacts; where none is kept yet, the job
/// says so and goes on.
#[test]
fn a_baseline_comes_from_the_artifacts() {
    let job = Job::new().with("INPUT_BASELINE", "artifact");
    job.fake("gh", "exit 0");
    let first = job.run();
    assert_eq!(first.outputs["status"], "0", "{}", first.log);
    assert!(
        first.summary.contains("No baseline is kept yet"),
        "{}",
        first.summary
    );
    let kept = job.lab.path().join("kept");
    fs::create_dir(&kept).expect("a folder");
    fs::copy(&first.outputs["record"], kept.join("record.json")).expect("copied");
    let zip = Command::new("zip")
        .args(["-q", "a.zip", "record.json"])
        .current_dir(&kept)
        .status();
    if !zip.is_ok_and(|status| status.success()) {
        println!("skipped: no zip here to make an artifact");
        return;
    }
    let script = format!(
        "case $2 in */zip) cat '{}/a.zip';; *name=blocklab-baseline*) echo 7;; esac",
        kept.display()
    );
    job.fake("gh", &script);
    let second = job.run();
    assert_eq!(second.outputs["status"], "0", "{}", second.log);
    assert!(
        second.summary.contains("slower:5%: pass"),
        "{}",
        second.summary
    );
}

/// A release is used only if its sum is the one that the release names.
#[test]
fn a_download_is_compared_with_its_sum() {
    let job = Job::new();
    let binary = job.inputs["INPUT_BINARY"].clone();
    let job = job.with("INPUT_BINARY", "");
    let site = job.lab.path().join("site");
    fs::create_dir(&site).expect("a folder");
    let machine = std::env::consts::ARCH;
    let name = format!("blocklab-9.9.9-{machine}-unknown-linux-gnu");
    // A link in the place of the program: an archive of a debug build takes its time.
    let pack = format!(
        "mkdir {name} && ln -s {binary} {name}/blocklab && tar -czf site/{name}.tar.gz {name} && \
         cd site && sha256sum {name}.tar.gz > SHA256SUMS"
    );
    good(job.lab.shell(&pack));
    let script = format!(
        "while [ $# -gt 1 ]; do [ \"$1\" = -o ] && to=$2; shift; done\n\
         case $1 in https://github.com/acme/storage/releases/download/v9.9.9/*) ;; *) exit 22;; esac\n\
         cp \"{}/${{1##*/}}\" \"$to\"",
        site.display()
    );
    job.fake("curl", &script);
    let step = job.run();
    assert_eq!(step.outputs["status"], "0", "{}", step.log);
    good(job.lab.shell(&format!("echo more >> site/{name}.tar.gz")));
    let step = job.run();
    assert_eq!(step.code, Some(2), "{}", step.log);
    assert!(step.log.contains("does not have the sum"), "{}", step.log);
    assert_eq!(step.outputs["status"], "2");
    job.fake("curl", "exit 22");
    let step = job.run();
    assert!(
        step.log.contains("is version 9.9.9 released?"),
        "{}",
        step.log
    );
}

#[test]
fn a_mistake_is_named_on_the_job() {
    for (input, value, why) in [
        ("INPUT_NAME", "../a", "letters, digits"),
        ("INPUT_BINARY", "/nowhere", "is no program"),
        ("INPUT_TARGET", "sim:gp9:1TiB", "nothing was measured"),
        ("INPUT_BASELINE", "/nowhere", "no baseline at"),
    ] {
        let step = Job::new().with(input, value).run();
        assert_ne!(step.code, Some(0), "{input}: {}", step.log);
        let error = step
            .log
            .lines()
            .any(|line| line.starts_with("::error title="));
        assert!(error && step.log.contains(why), "{input}: {}", step.log);
        assert!(step.summary.contains(why), "{input}: {}", step.summary);
        assert_ne!(step.outputs["status"], "0", "{input}");
    }
}

/// Every input reaches the script, no input is a part of a script's text, and every action of others is
/// pinned by its commit.
#[test]
fn the_action_and_its_script_fit() {
    let text = fs::read_to_string(root().join("action.yml")).expect("the action");
    let script = fs::read_to_string(root().join("scripts/action")).expect("its script");
    let names = |text: &str| -> BTreeSet<String> {
        let words = text.split(|sign: char| !(sign.is_ascii_uppercase() || sign == '_'));
        let inputs = words.filter(|word| word.len() > 6 && word.starts_with("INPUT_"));
        inputs.map(str::to_owned).collect()
    };
    assert_eq!(names(&text), names(&script));
    for line in text.lines().map(str::trim) {
        if let Some((_, action)) = line.split_once("uses: ") {
            let (_, commit) = action.split_once('@').expect("a commit");
            let commit = commit.split(' ').next().unwrap_or_default();
            let is_commit =
                commit.len() == 40 && commit.chars().all(|sign| sign.is_ascii_hexdigit());
            assert!(is_commit, "{line}");
        }
        assert!(!(line.contains("run:") && line.contains("${{")), "{line}");
    }
}
