//! A served block device against nbdfuse on nbdkit's memory under a loop device: the same client, in
//! turns. Both volumes are there all the time, and the one that is not measured is idle.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::nbd::{self, Figure};
use crate::process;

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

impl Peer {
    fn start(folder: &Path) -> Result<Self> {
        let socket = folder.join("socket");
        let mut nbdkit = Command::new("nbdkit");
        nbdkit.arg("--foreground").arg("--unix").arg(&socket);
        let nbdkit = start(nbdkit.args(["memory", "1G"]), Stdio::null())?;
        process::wait_for("nbdkit", || socket.exists())?;
        let file = folder.join("volume");
        std::fs::write(&file, b"")?;
        let mut nbdfuse = Command::new("nbdfuse");
        let nbdfuse = nbdfuse.arg(&file).arg("--unix").arg(&socket);
        let nbdfuse = start(nbdfuse, Stdio::null())?;
        let is_mounted = || std::fs::metadata(&file).is_ok_and(|volume| volume.len() > 0);
        process::wait_for("nbdfuse", is_mounted)?;
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
    Ok(process::measure_fio(command)?.0)
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
    let (_server, own) = start_ours(ours)?;
    let peer = Peer::start(&folder)?;
    let other = PathBuf::from(&peer.device.0);
    // What was never written costs one side or the other nothing.
    for device in [&own, &other] {
        fio(device, &["--rw=write", "--bs=1M", "--iodepth=4"])?;
    }
    nbd::print_head();
    for (depth, bar) in WORKS {
        let mut found = [Vec::new(), Vec::new()];
        for pair in 0..pairs {
            let sides = [&own, &other];
            for side in [pair % 2, 1 - pair % 2] {
                found[side].push(vec![iops(sides[side], depth, seconds)?]);
            }
        }
        let name = format!("block device, 4 KiB reads, depth {depth}");
        let [mine, theirs] = &found;
        nbd::print(Figure::Rate(bar), &name, 0, mine, theirs);
    }
    drop(peer);
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
