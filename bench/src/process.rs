//! One run of a program, with what the kernel charged it for.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::{parse, shown};

/// What a run gave.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// Operations it completed.
    pub ios: f64,
    /// Operations per second, as it says itself.
    pub iops: f64,
    /// User and system time of the process and its children.
    pub cpu_s: f64,
    /// From start to exit.
    pub wall_s: f64,
    /// Largest resident size; of several processes, their proportional sizes added up.
    pub peak_kib: f64,
}

/// Runs blocklab on a study given as text.
pub fn blocklab(program: &Path, (study, arguments): &(String, Vec<String>)) -> Result<Sample> {
    let file = std::env::temp_dir().join(format!("blocklab-bench-{}.toml", std::process::id()));
    std::fs::write(&file, study).context("cannot write the study")?;
    let mut command = Command::new(program);
    command
        .arg("run")
        .arg(&file)
        .args(["--json", "--quiet", "--no-save"])
        .args(arguments);
    let (text, mut sample) = measure(command)?;
    let _ = std::fs::remove_file(&file);
    let json = parse(&text, "blocklab")?;
    for row in json["rows"].as_array().into_iter().flatten() {
        sample.ios += row["ios"].as_f64().unwrap_or(0.0);
        sample.iops += row["iops"]["value"].as_f64().unwrap_or(0.0);
    }
    Ok(sample)
}

/// Runs fio, or blocklab in its place, with these options and JSON output.
pub fn fio(mut command: Command, options: &[String]) -> Result<Sample> {
    command
        .args(["--name=bench", "--output-format=json"])
        .args(options);
    let (json, mut sample) = measure_fio(command)?;
    for job in json["jobs"].as_array().into_iter().flatten() {
        for direction in ["read", "write"] {
            sample.ios += job[direction]["total_ios"].as_f64().unwrap_or(0.0);
            sample.iops += job[direction]["iops"].as_f64().unwrap_or(0.0);
        }
    }
    Ok(sample)
}

/// Runs fio to its end and reads its JSON, before which it may print lines.
pub fn measure_fio(command: Command) -> Result<(serde_json::Value, Sample)> {
    let (text, sample) = measure(command)?;
    let begin = text.find('{').unwrap_or(0);
    Ok((parse(&text[begin..], "fio")?, sample))
}

/// Waits until a server is ready, at most ten seconds.
pub fn wait_for(server: &str, is_ready: impl Fn() -> bool) -> Result<()> {
    let until = Instant::now() + Duration::from_secs(10);
    while !is_ready() {
        if Instant::now() > until {
            bail!("{server} does not serve; is it installed?");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// Runs a command to its end. Returns what it printed and what it cost, without its operations.
pub fn measure(mut command: Command) -> Result<(String, Sample)> {
    let name = shown(&command);
    command
        .stdout(Stdio::piped())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .process_group(0);
    let begin = Instant::now();
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start {name}"))?;
    let mut text = String::new();
    let mut out = child.stdout.take().context("no pipe")?;
    out.read_to_string(&mut text)
        .context("cannot read its output")?;
    let (status, usage) = wait(child.id())?;
    let wall_s = begin.elapsed().as_secs_f64();
    if !libc::WIFEXITED(status) || libc::WEXITSTATUS(status) != 0 {
        bail!("{name} ended with status {status}: {text:.500}");
    }
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    let sample = Sample {
        ios: 0.0,
        iops: 0.0,
        cpu_s: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        wall_s,
        peak_kib: usage.ru_maxrss as f64,
    };
    Ok((text, sample))
}

fn wait(pid: u32) -> Result<(i32, libc::rusage)> {
    let mut status = 0;
    // SAFETY: all-zero is a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: waits for our own child and fills the two places.
    let answer = unsafe { libc::wait4(pid as i32, &raw mut status, 0, &raw mut usage) };
    if answer < 0 {
        bail!(
            "cannot wait for the child: {}",
            std::io::Error::last_os_error()
        );
    }
    Ok((status, usage))
}
