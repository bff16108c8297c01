//! Served volumes against nbdkit and qemu-nbd: the same client, in turns.
//!
//! Latencies are `lat` of fio: its NBD engine tells a `clat` that is far too small, because a reply
//! is often read within the call that submits.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::bare_timer::Lateness;
use crate::{median, process, shown};

/// Who serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Server {
    Ours,
    Nbdkit,
    Qemu,
}

/// What is compared.
struct Work {
    name: &'static str,
    /// Against whom.
    peer: Server,
    figures: &'static [Figure],
    depth: u32,
    jobs: u32,
    on_one_core: bool,
}

/// A figure of a run, and the ratio to reach.
#[derive(Debug, Clone, Copy)]
pub enum Figure {
    /// Operations per second: at least this many times the peer's.
    Rate(f64),
    /// A percentile of the latency beyond the modelled one, by the name that fio gives it: at most
    /// this many times the peer's.
    Excess(&'static str, f64),
}

const WORKS: [Work; 4] = [
    Work {
        name: "4 KiB reads, depth 1, all on one core",
        peer: Server::Nbdkit,
        figures: &[Figure::Rate(1.5)],
        depth: 1,
        jobs: 1,
        on_one_core: true,
    },
    Work {
        name: "4 KiB reads, depth 32",
        peer: Server::Nbdkit,
        figures: &[Figure::Rate(1.5)],
        depth: 32,
        jobs: 1,
        on_one_core: false,
    },
    Work {
        name: "4 KiB reads, depth 32, four connections",
        peer: Server::Nbdkit,
        figures: &[Figure::Rate(2.0)],
        depth: 32,
        jobs: 4,
        on_one_core: false,
    },
    Work {
        name: "3,000 IOPS volume, depth 8: excess",
        peer: Server::Qemu,
        figures: &[
            Figure::Excess("99.000000", 0.25),
            Figure::Excess("99.900000", 0.5),
        ],
        depth: 8,
        jobs: 1,
        on_one_core: false,
    },
];

/// Thirty operations are beyond p99.9 then; in two seconds there are six, whose excess is chance.
const LEAST_SECONDS_OF_EXCESS: u64 = 10;

impl Work {
    fn is_paced(&self) -> bool {
        matches!(self.figures.first(), Some(Figure::Excess(..)))
    }
}

impl Figure {
    fn is_met(self, ratio: f64) -> bool {
        match self {
            Self::Rate(bar) => ratio >= bar,
            Self::Excess(_, bar) => ratio <= bar,
        }
    }

    const fn bar(self) -> f64 {
        match self {
            Self::Rate(bar) | Self::Excess(_, bar) => bar,
        }
    }

    fn name(self, work: &Work) -> String {
        match self {
            Self::Rate(_) => work.name.to_owned(),
            Self::Excess(..) => format!("{}{}", work.name, self.percentile()),
        }
    }

    /// ` of p99.9`
    fn percentile(self) -> String {
        match self {
            Self::Rate(_) => String::new(),
            Self::Excess(percentile, _) => {
                let percentile = percentile.trim_end_matches('0').trim_end_matches('.');
                format!(" of p{percentile}")
            }
        }
    }

    /// Operations per second, or nanoseconds beyond the model.
    fn of(self, reads: &serde_json::Value) -> Result<f64> {
        let found = match self {
            Self::Rate(_) => reads["iops"].as_f64(),
            Self::Excess(percentile, _) => {
                let ns = reads["lat_ns"]["percentile"][percentile].as_f64();
                ns.map(|ns| (ns - MODELLED_NS).max(1.0))
            }
        };
        found.context("fio tells no such figure")
    }
}

/// 3,000 IOPS, a millisecond, and no bucket: eight operations in flight take 8 / 3,000 s.
const VOLUME: &str = r#"
name = "3,000 IOPS"
[[volume]]
kind = "bench"
capacity = "1GiB"
[[volume.cap]]
name = "volume IOPS"
rate = "3000 IOPS"
[volume.service]
read = { base = "1ms" }
write = { base = "1ms" }
spread = { sigma = 0.0 }
"#;
const IOPS: u32 = 3000;
const MODELLED_NS: f64 = 8.0 / IOPS as f64 * 1e9;

/// A server that ends with this.
pub struct Serving {
    child: Child,
    socket: PathBuf,
}

impl Serving {
    /// Clients can connect when this returns.
    fn start(mut command: Command, socket: PathBuf) -> Result<Self> {
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let name = shown(&command);
        let child = command.spawn();
        let child = child.with_context(|| format!("{name} cannot be started"))?;
        let serving = Self { child, socket };
        process::wait_for(&name, || serving.socket.exists())?;
        Ok(serving)
    }

    /// A volume of this address.
    pub fn ours(ours: &Path, address: &str, socket: &Path) -> Result<Self> {
        let mut command = Command::new(ours);
        command.args(["emulate", address, "--quiet", "--no-save", "--nbd"]);
        command.arg(format!("unix:{}", socket.display()));
        Self::start(command, socket.to_owned())
    }

    /// For fio.
    pub fn uri(&self) -> String {
        format!("--uri=nbd+unix:///?socket={}", self.socket.display())
    }

    /// User and system time of the server so far.
    pub fn processor_seconds(&self) -> Result<f64> {
        let path = format!("/proc/{}/stat", self.child.id());
        let text = std::fs::read_to_string(path)?;
        // The name, in brackets, may hold anything; user time is the twelfth word behind it.
        let (_, words) = text.rsplit_once(')').context("no statistics")?;
        let words = words.split_whitespace().skip(11).take(2);
        let ticks: f64 = words.filter_map(|word| word.parse::<f64>().ok()).sum();
        // SAFETY: only a number is passed.
        Ok(ticks / unsafe { libc::sysconf(libc::_SC_CLK_TCK) } as f64)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // SAFETY: our own child, which nobody has waited for.
        unsafe { libc::kill(self.child.id() as i32, libc::SIGINT) };
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.socket);
    }
}

/// Compares all works whose names hold one of the words.
pub fn run(ours: &Path, filter: &[String], pairs: usize, seconds: u64) -> Result<()> {
    let folder = std::env::temp_dir().join(format!("blocklab-served-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let device = folder.join("volume.toml");
    std::fs::write(&device, VOLUME)?;
    print_head();
    let wanted = |work: &&Work| {
        filter.is_empty() || filter.iter().any(|word| work.name.contains(word.as_str()))
    };
    for work in WORKS.iter().filter(wanted) {
        compare(work, ours, &folder, pairs, seconds)?;
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

fn compare(work: &Work, ours: &Path, folder: &Path, pairs: usize, seconds: u64) -> Result<()> {
    let (mut mine, mut theirs, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    for pair in 0..pairs {
        let mut own = || -> Result<()> {
            mine.push(measure(work, Server::Ours, ours, folder, seconds)?);
            Ok(())
        };
        if pair % 2 == 0 {
            own()?;
        }
        theirs.push(measure(work, work.peer, ours, folder, seconds)?);
        if pair % 2 == 1 {
            own()?;
        }
        if work.is_paced() {
            bare.push(machine(work, folder, seconds)?);
        }
    }
    for (nth, figure) in work.figures.iter().enumerate() {
        print(*figure, &figure.name(work), nth, &mine, &theirs);
        if work.is_paced() {
            let name = format!("  a bare timer beside this client{}", figure.percentile());
            print(*figure, &name, nth, &bare, &theirs);
        }
    }
    Ok(())
}

pub fn print_head() {
    println!(
        "{:<48} {:>5} {:>7}  {:>14}  {:>11} {:>11}",
        "work", "bar", "median", "min … max", "blocklab", "peer"
    );
}

/// A line of a figure: pair by pair, against the peer's.
pub fn print(figure: Figure, name: &str, nth: usize, mine: &[Vec<f64>], theirs: &[Vec<f64>]) {
    let pairs = mine.iter().zip(theirs);
    let mut ratios: Vec<f64> = pairs.map(|(own, peer)| own[nth] / peer[nth]).collect();
    let middle = median(&mut ratios);
    let typical =
        |all: &[Vec<f64>]| median(&mut all.iter().map(|row| row[nth]).collect::<Vec<_>>());
    println!(
        "{name:<48} {:>5} {middle:>7.2}{} {:>6.2} … {:<6.2} {:>11.0} {:>11.0}",
        figure.bar(),
        if figure.is_met(middle) { ' ' } else { '!' },
        ratios[0],
        ratios[ratios.len() - 1],
        typical(mine),
        typical(theirs),
    );
}

/// The least excess that this machine allows: how late a bare timer ends, 3,000 times a second, while
/// the same client sends as many requests to a server that answers at once. Where that is beyond the
/// bar, no server can meet it.
fn machine(work: &Work, folder: &Path, seconds: u64) -> Result<Vec<f64>> {
    let at_once = Work {
        figures: &[],
        ..*work
    };
    let serving = serve(&at_once, Server::Nbdkit, Path::new(""), folder)?;
    let seconds = seconds.max(LEAST_SECONDS_OF_EXCESS);
    let mut load = load(work, seconds);
    load.push(format!("--rate_iops={IOPS}"));
    // The start of the client and its ramp do not count for the others either, nor does its end.
    let (from, lasts) = (Duration::from_secs(2), Duration::from_secs(seconds - 1));
    let period = Duration::from_secs(1) / IOPS;
    let bare = std::thread::spawn(move || Lateness::measure(period, from, lasts));
    fio(work.on_one_core, &serving.uri(), &load)?;
    let late = bare.join().expect("a thread that only sleeps");
    let late_ns = |figure: &Figure| match figure {
        Figure::Rate(_) => f64::NAN,
        Figure::Excess(percentile, _) => late.percentile(percentile.parse().unwrap_or(100.0)),
    };
    Ok(work.figures.iter().map(late_ns).collect())
}

/// The figures of one run.
fn measure(
    work: &Work,
    server: Server,
    ours: &Path,
    folder: &Path,
    seconds: u64,
) -> Result<Vec<f64>> {
    let serving = serve(work, server, ours, folder)?;
    let uri = serving.uri();
    let fill = ["--rw=write", "--bs=1M", "--iodepth=4"].map(str::to_owned);
    let seconds = if work.is_paced() {
        seconds.max(LEAST_SECONDS_OF_EXCESS)
    } else {
        // What was never written costs one side or the other nothing.
        fio(work.on_one_core, &uri, &fill)?;
        seconds
    };
    let json = fio(work.on_one_core, &uri, &load(work, seconds))?;
    let reads = &json["jobs"][0]["read"];
    work.figures.iter().map(|figure| figure.of(reads)).collect()
}

fn load(work: &Work, seconds: u64) -> Vec<String> {
    vec![
        "--rw=randread".to_owned(),
        "--bs=4k".to_owned(),
        format!("--iodepth={}", work.depth),
        format!("--numjobs={}", work.jobs),
        "--time_based".to_owned(),
        "--ramp_time=1".to_owned(),
        format!("--runtime={seconds}"),
    ]
}

/// One run of the client; its JSON.
pub fn fio(on_one_core: bool, uri: &str, load: &[String]) -> Result<serde_json::Value> {
    let mut command = on_core(on_one_core, Path::new("fio"));
    command
        .args([
            "--name=bench",
            "--ioengine=nbd",
            "--size=1g",
            "--norandommap",
        ])
        .args([
            "--group_reporting",
            "--lat_percentiles=1",
            "--clat_percentiles=0",
        ])
        .args(["--output-format=json", uri])
        .args(load);
    Ok(process::measure_fio(command)?.0)
}

fn on_core(on_one_core: bool, program: &Path) -> Command {
    if !on_one_core {
        return Command::new(program);
    }
    let mut command = Command::new("taskset");
    command.args(["--cpu-list", "0"]).arg(program);
    command
}

fn serve(work: &Work, server: Server, ours: &Path, folder: &Path) -> Result<Serving> {
    let socket = folder.join("socket");
    let where_to = format!("unix:{}", socket.display());
    let device = folder.join("volume.toml");
    let paced = work.is_paced();
    let command = match server {
        Server::Ours => {
            let mut command = on_core(work.on_one_core, ours);
            if paced {
                command.arg("emulate").arg(device)
            } else {
                command.args(["emulate", "null", "--size", "1GiB"])
            };
            command.args(["--quiet", "--no-save", "--nbd", &where_to]);
            command
        }
        Server::Nbdkit => {
            let mut command = on_core(work.on_one_core, Path::new("nbdkit"));
            command.args(["--foreground", "--unix"]).arg(&socket);
            command.args(["memory", "1G"]);
            command
        }
        Server::Qemu => {
            let mut command = on_core(work.on_one_core, Path::new("qemu-nbd"));
            command
                .args(["--persistent", "--shared=16", "--socket"])
                .arg(&socket)
                .args(["--object", "throttle-group,id=tg,x-iops-total=3000"])
                .arg("--image-opts")
                .arg(
                    "driver=throttle,throttle-group=tg,file.driver=null-co,file.size=1G,\
                     file.latency-ns=1000000",
                );
            command
        }
    };
    Serving::start(command, socket)
}
