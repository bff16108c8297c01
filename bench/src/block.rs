//! A served block device against nbdfuse on nbdkit's memory under a loop device: the same client, in
//! turns. Both volumes are there all the time, and the one that is not measured is idle.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::{median, parse, process};

/// What is compared: reads of 4 KiB at this queue depth, and the ratio of rates to reach.
const WORKS: [(u32, f64); 2] = [(1, 1.8), (32, 4.0)];

/// A server, ended with this.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // SAFETY: our own child, which nobody has waited for.
        unsafe { libc::kill(self.0.id() as i32, libc::SIGTERM) };
        let _ = self.0.wait();
    }
}

fn start(command: &mut Command, output: Stdio) -> Result<Server> {
    command.stdout(output).stderr(Stdio::null());
    let name = command.get_program().to_string_lossy().into_owned();
    let child = command.spawn();
    Ok(Server(
        child.with_context(|| format!("{name} cannot be started"))?,
    ))
}

fn output(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program).args(arguments).output();
    let output = output.with_context(|| format!("{program} cannot be started"))?;
    if !output.status.success() {
        bail!("{program}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The peer: ended in the order of the fields.
struct Peer {
    device: LoopDevice,
    _nbdfuse: Server,
    _nbdkit: Server,
}

struct LoopDevice(String);

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = output("losetup", &["--detach", &self.0]);
    }
}

fn until_there(path: &Path) -> Result<()> {
    let until = Instant::now() + Duration::from_secs(10);
    while !path.exists() {
        if Instant::now() > until {
            bail!(
                "{} does not appear; is its program installed?",
                path.display()
            );
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

impl Peer {
    fn start(folder: &Path) -> Result<Self> {
        let socket = folder.join("socket");
        let mut nbdkit = Command::new("nbdkit");
        nbdkit.arg("--foreground").arg("--unix").arg(&socket);
        let nbdkit = start(nbdkit.args(["memory", "1G"]), Stdio::null())?;
        until_there(&socket)?;
        let file = folder.join("volume");
        std::fs::write(&file, b"")?;
        let mut nbdfuse = Command::new("nbdfuse");
        let nbdfuse = nbdfuse.arg(&file).arg("--unix").arg(&socket);
        let nbdfuse = start(nbdfuse, Stdio::null())?;
        let until = Instant::now() + Duration::from_secs(10);
        while std::fs::metadata(&file)?.len() == 0 {
            if Instant::now() > until {
                bail!("nbdfuse does not serve");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let file = file.display().to_string();
        let arguments = ["--find", "--show", "--direct-io=on", &file];
        Ok(Self {
            device: LoopDevice(output("losetup", &arguments)?),
            _nbdfuse: nbdfuse,
            _nbdkit: nbdkit,
        })
    }
}

fn start_ours(ours: &Path) -> Result<(Server, PathBuf)> {
    let mut command = Command::new(ours);
    command.args(["emulate", "null", "--size", "1GiB", "--block"]);
    let mut server = start(command.args(["--quiet", "--no-save"]), Stdio::piped())?;
    let mut line = String::new();
    let words = server.0.stdout.take().context("a pipe")?;
    BufReader::new(words).read_line(&mut line)?;
    match line.trim_end() {
        "" => bail!("{} makes no block device; root can", ours.display()),
        device => Ok((server, PathBuf::from(device))),
    }
}

fn fio(device: &Path, load: &[&str]) -> Result<serde_json::Value> {
    let mut command = Command::new("fio");
    command.args(["--name=bench", "--ioengine=libaio", "--direct=1"]);
    command.args(["--norandommap", "--size=1g", "--output-format=json"]);
    command
        .arg(format!("--filename={}", device.display()))
        .args(load);
    let (text, _) = process::measure(command)?;
    parse(&text[text.find('{').unwrap_or(0)..], "fio")
}

fn iops(device: &Path, depth: u32, seconds: u64) -> Result<f64> {
    let (depth, runtime) = (format!("--iodepth={depth}"), format!("--runtime={seconds}"));
    let load = ["--rw=randread", "--bs=4k", &depth, "--time_based", &runtime];
    let json = fio(device, &load)?;
    let found = json["jobs"][0]["read"]["iops"].as_f64();
    found.context("fio tells no such figure")
}

/// Compares all works.
pub fn run(ours: &Path, pairs: usize, seconds: u64) -> Result<()> {
    let folder = std::env::temp_dir().join(format!("blocklab-block-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let (server, own) = start_ours(ours)?;
    let peer = Peer::start(&folder)?;
    let other = PathBuf::from(&peer.device.0);
    // What was never written costs one side or the other nothing.
    for device in [&own, &other] {
        fio(device, &["--rw=write", "--bs=1M", "--iodepth=4"])?;
    }
    println!(
        "{:<48} {:>5} {:>7}  {:>14}  {:>11} {:>11}",
        "work", "bar", "median", "min … max", "blocklab", "peer"
    );
    for (depth, bar) in WORKS {
        let (mut mine, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for pair in 0..pairs {
            let mut found = [0.0; 2];
            let sides = [&own, &other];
            for side in [pair % 2, 1 - pair % 2] {
                found[side] = iops(sides[side], depth, seconds)?;
            }
            let [own, peer] = found;
            ratios.push(own / peer);
            mine.push(own);
            theirs.push(peer);
        }
        let middle = median(&mut ratios);
        println!(
            "{:<48} {bar:>5} {middle:>7.2}{} {:>6.2} … {:<6.2} {:>11.0} {:>11.0}",
            format!("block device, 4 KiB reads, depth {depth}"),
            if middle >= bar { ' ' } else { '!' },
            ratios[0],
            ratios[ratios.len() - 1],
            median(&mut mine),
            median(&mut theirs),
        );
    }
    drop(peer);
    drop(server);
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
