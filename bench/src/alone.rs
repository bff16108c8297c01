//! What has no peer: studies and loads in virtual time, and commands over many stored runs.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::{median, process};

/// Stored runs that the commands over many of them are given.
const RUNS: usize = 1000;

/// A command and the seconds of one processor that it may take.
struct Task {
    name: String,
    arguments: String,
    /// Whether the stored runs follow its arguments.
    over_stored: bool,
    bar_s: f64,
}

/// Runs of a tiny study in a store of their own, removed in the end.
struct Stock(PathBuf);

impl Drop for Stock {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs each task `repeats` times on one processor and prints what it took of it. Only those whose names hold
/// one of the words, where there are any.
pub fn run(program: &Path, filter: &[String], repeats: usize) -> Result<()> {
    let stock = Stock(std::env::temp_dir().join(format!("blocklab-stock-{}", std::process::id())));
    println!(
        "{:<32} {:>6} {:>9}  min … max",
        "work, processor time", "bar, s", "median, s"
    );
    for task in tasks() {
        let wanted = |word: &String| task.name.contains(word.as_str());
        if !filter.is_empty() && !filter.iter().any(wanted) {
            continue;
        }
        let stored = if task.over_stored {
            fill(program, &stock.0)?
        } else {
            Vec::new()
        };
        let mut seconds = Vec::new();
        for _ in 0..repeats {
            let mut command = Command::new("taskset");
            command.args(["--cpu-list", "0"]).arg(program);
            command.env("BLOCKLAB_STORE", &stock.0);
            command.args(task.arguments.split(' ')).args(&stored);
            seconds.push(process::measure(command)?.1.cpu_s);
        }
        let middle = median(&mut seconds);
        let mark = if middle <= task.bar_s { ' ' } else { '!' };
        println!(
            "{:<32} {:>6} {middle:>9.2}{mark} {:.2} … {:.2}",
            task.name,
            task.bar_s,
            seconds[0],
            seconds[seconds.len() - 1],
        );
    }
    Ok(())
}

fn tasks() -> Vec<Task> {
    let studies = ["i3-vs-i2", "ebs-hdd", "i3-metal", "r5d-vs-gp3", "im4gn"];
    let studies = studies.into_iter().map(|study| Task {
        name: format!("study {study}"),
        arguments: format!("run {study} --target sim --quiet --no-save"),
        over_stored: false,
        bar_s: 20.0,
    });
    // Ten million operations each; a second is 10 million a second.
    let simulated = [
        ("gp3", "gp3:1TiB,iops=16000@m5.8xlarge", 624, 1.0),
        ("dies of i3", "local@i3.2xlarge", 81, 1.0),
        ("dies of i3en", "local@i3en.3xlarge", 63, 1.0),
        ("thirty gp3", "30xgp3:1TiB@i3.metal", 190, 1.3),
    ];
    let simulated = simulated.map(|(what, address, seconds, bar_s)| Task {
        name: format!("virtual time, {what}"),
        arguments: format!(
            "run --rw randrw --reads 70 --depth 32 --runtime {seconds}s --repeat 1 \
             --target sim:{address} --quiet --no-save"
        ),
        over_stored: false,
        bar_s,
    });
    let commands = ["compare", "diagnose"].into_iter().map(|command| Task {
        name: format!("{command} {RUNS} runs"),
        arguments: format!("{command} --json"),
        over_stored: true,
        bar_s: 2.0,
    });
    studies.chain(simulated).chain(commands).collect()
}

/// Fills the store, once, and names its runs.
fn fill(program: &Path, store: &Path) -> Result<Vec<PathBuf>> {
    if !store.exists() {
        make(program, store)?;
    }
    let entries = std::fs::read_dir(store).context("cannot read the store")?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut runs: Vec<PathBuf> = paths.collect::<Result<_, _>>()?;
    runs.retain(|path| path.is_dir());
    runs.sort();
    Ok(runs)
}

fn make(program: &Path, store: &Path) -> Result<()> {
    std::fs::create_dir_all(store).context("cannot make a store")?;
    let study = store.with_extension("toml");
    std::fs::write(
        &study,
        "[[case]]\nname = \"a\"\ndepth = 4\nruntime = \"50ms\"\n",
    )?;
    for seed in 0..RUNS {
        let mut command = Command::new(program);
        command.env("BLOCKLAB_STORE", store).arg("run").arg(&study);
        command.args(["--target", "sim:gp3,size=100GiB", "--quiet", "--seed"]);
        command.arg(seed.to_string());
        process::measure(command)?;
    }
    std::fs::remove_file(study)?;
    Ok(())
}
