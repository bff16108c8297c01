//! In: blocklab, fio, and work that both can be told to do.
//! Out: the median of the ratios of runs in turns, against a stated bar.
//! Never: a part of the product, or a figure of one side alone where there is a peer.
//!
//! Blocklab against fio on the same work: alternating runs, the median of the ratios.
//!
//! Both are whole processes: start-up, statistics and output count. Processor time is what the
//! kernel charged the process for, its io_uring workers included.

mod alone;
mod bare_timer;
mod block;
mod diskspd;
mod nbd;
mod paced;
mod process;
mod vdbench;
mod work;

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Parser;
use process::Sample;
use work::{Bench, Place, Quantity};

/// Runs the benchmarks and prints a table.
#[derive(Debug, Parser)]
#[command(after_help = "Examples:
  cargo run --release -p blocklab-bench                    everything that this machine can run
  cargo run --release -p blocklab-bench -- null zero       only names that hold one of these words
  cargo run --release -p blocklab-bench -- --fio ~/fio/fio against another build of fio
  cargo run --release -p blocklab-bench -- --alone study   the studies on one processor
  cargo run --release -p blocklab-bench -- --nbd           served volumes against nbdkit and qemu
  cargo run --release -p blocklab-bench -- --paced         a served volume against its model
  cargo run --release -p blocklab-bench -- --block         a served block device against nbdfuse")]
struct Arguments {
    /// Only benchmarks whose names hold one of these words
    filter: Vec<String>,
    /// The peer
    #[arg(long, default_value = "fio")]
    fio: PathBuf,
    /// Ours
    #[arg(long, default_value = "target/release/blocklab")]
    blocklab: PathBuf,
    /// Pairs of runs of each benchmark
    #[arg(short = 'n', long, default_value_t = 5)]
    pairs: usize,
    /// Seconds of each run
    #[arg(long, default_value_t = 2)]
    seconds: u64,
    /// Directory on the disk, for the file benchmarks
    #[arg(long, default_value = ".")]
    directory: PathBuf,
    /// A block device whose content may be lost, such as /dev/zram0
    #[arg(long)]
    device: Option<PathBuf>,
    /// What has no peer instead: studies in virtual time, commands over many stored runs
    #[arg(long)]
    alone: bool,
    /// Served volumes instead, against nbdkit and qemu-nbd
    #[arg(long)]
    nbd: bool,
    /// A served volume of 3,000 IOPS instead, against `sim:` of it (words: rates, latency,
    /// processor; 'rates randread' measures a third of the 24 loads)
    #[arg(long)]
    paced: bool,
    /// Served block devices instead, against nbdfuse on nbdkit under a loop device (as root)
    #[arg(long)]
    block: bool,
    /// Seconds of the memory benchmark
    #[arg(long, default_value_t = 600)]
    memory_seconds: u64,
}

fn main() -> std::process::ExitCode {
    match benches() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            std::process::ExitCode::FAILURE
        }
    }
}

fn benches() -> Result<()> {
    let arguments = Arguments::parse();
    if arguments.alone {
        return alone::run(&arguments.blocklab, &arguments.filter, arguments.pairs);
    }
    if arguments.nbd {
        let Arguments { pairs, seconds, .. } = arguments;
        return nbd::run(&arguments.blocklab, &arguments.filter, pairs, seconds);
    }
    if arguments.paced {
        return paced::run(&arguments.blocklab, &arguments.filter, arguments.seconds);
    }
    if arguments.block {
        return block::run(&arguments.blocklab, arguments.pairs, arguments.seconds);
    }
    let place = Place::prepare(&arguments.directory, arguments.device.clone())?;
    println!(
        "{:<44} {:>5} {:>7}  {:>14}  {:>11} {:>11}",
        "work", "bar", "median", "min … max", "blocklab", "fio"
    );
    let mut missed = 0;
    for bench in work::all(arguments.memory_seconds) {
        let wanted = |word: &String| bench.name.contains(word.as_str());
        if !arguments.filter.is_empty() && !arguments.filter.iter().any(wanted) {
            continue;
        }
        if bench.needs_device && place.device.is_none() {
            println!("{:<44} skipped: name a device with --device", bench.name);
            continue;
        }
        missed += u32::from(!compare(&bench, &place, &arguments)?);
    }
    println!("\nFigures: {}.", work::LEGEND);
    if missed > 0 {
        println!("{missed} below the bar.");
    }
    Ok(())
}

/// Runs the pairs and prints a line; returns whether the bar was met.
fn compare(bench: &Bench, place: &Place, arguments: &Arguments) -> Result<bool> {
    let seconds = bench.seconds.unwrap_or(arguments.seconds);
    let mut ratios = Vec::new();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let is_single = bench.seconds.is_some();
    let pairs = if is_single { 0 } else { arguments.pairs };
    for pair in 0..=pairs {
        let mine = || match (bench.parameters(place, seconds), bench.line(place, seconds)) {
            (Some(parameters), _) => vdbench::run(&arguments.blocklab, &parameters),
            (_, Some(line)) => diskspd::run(&arguments.blocklab, &line),
            _ if bench.is_told_to_both() => {
                let mut command = Command::new(&arguments.blocklab);
                command.arg("fio");
                process::fio(command, &bench.theirs(place, seconds))
            }
            _ => process::blocklab(&arguments.blocklab, &bench.ours(place, seconds)),
        };
        let other = || {
            let command = Command::new(&arguments.fio);
            process::fio(command, &bench.theirs(place, seconds))
        };
        // Who goes first changes from pair to pair.
        let (mine, other) = if pair % 2 == 0 {
            let mine = mine()?;
            (mine, other()?)
        } else {
            let other = other()?;
            (mine()?, other)
        };
        // It warms caches.
        if pair == 0 && !is_single {
            continue;
        }
        let (mine, other) = (
            figure(bench.quantity, &mine)?,
            figure(bench.quantity, &other)?,
        );
        ratios.push(mine / other);
        ours.push(mine);
        theirs.push(other);
    }
    let ratio = median(&mut ratios);
    let met = if bench.less_is_better {
        ratio <= bench.bar
    } else {
        ratio >= bench.bar
    };
    println!(
        "{:<44} {}{:>4} {:>6.2}{} {:>6.2} … {:<6.2}  {:>11.0} {:>11.0}",
        bench.name,
        if bench.less_is_better { '≤' } else { '≥' },
        bench.bar,
        ratio,
        if met { ' ' } else { '!' },
        ratios[0],
        ratios[ratios.len() - 1],
        median(&mut ours),
        median(&mut theirs),
    );
    Ok(met)
}

fn figure(quantity: Quantity, sample: &Sample) -> Result<f64> {
    let value = match quantity {
        Quantity::IosPerCpuSecond => sample.ios / sample.cpu_s,
        Quantity::CpuPerIo => sample.cpu_s / sample.ios * 1e9,
        Quantity::Iops => sample.iops,
        Quantity::WallMillis => sample.wall_s * 1e3,
        Quantity::PeakKib => sample.peak_kib,
    };
    if !value.is_finite() || value <= 0.0 {
        bail!("a run gave no figure: {sample:?}");
    }
    Ok(value)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    }
}

/// For errors that name what was run.
fn shown(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(
        command
            .get_args()
            .map(|word| word.to_string_lossy().into_owned()),
    );
    words.join(" ")
}

fn parse(text: &str, what: &str) -> Result<serde_json::Value> {
    serde_json::from_str(text).with_context(|| format!("{what} printed no JSON: {text:.300}"))
}
