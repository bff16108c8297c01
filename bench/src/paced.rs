//! A served volume against the model that it follows: 24 loads of a volume with 3,000 IOPS and
//! 125 MiB/s by fio over NBD, beside the same loads of `sim:` of the same address.

use std::path::Path;

use anyhow::{Context, Result};

use crate::nbd::{self, Serving};
use crate::{median, parse, process};

/// 3,000 IOPS and 125 MiB/s, in units of 256 KiB.
const ADDRESS: &str = "gp3:100GiB";
const SIZES: [&str; 4] = ["4k", "16k", "64k", "256k"];
const KINDS: [&str; 3] = ["randread", "randwrite", "randrw"];
const DEPTHS: [u32; 2] = [8, 32];

/// The model's limiter holds a second of its rate, which is spent by then.
const RAMP: u64 = 2;

/// One load, on the first GiB: where more is used, fewer operations follow one another by chance,
/// which the volume takes together.
#[derive(Debug, Clone, Copy)]
struct Load {
    kind: &'static str,
    size: &'static str,
    depth: u32,
    ramp: u64,
    seconds: u64,
}

/// What became of it.
#[derive(Debug, Clone, Copy)]
struct Found {
    iops: f64,
    /// Of the direction with the most operations.
    p50_ns: f64,
}

impl Load {
    const fn new(kind: &'static str, size: &'static str, depth: u32) -> Self {
        Self {
            kind,
            size,
            depth,
            ramp: 0,
            seconds: 10,
        }
    }

    /// In virtual time.
    fn modelled(&self, ours: &Path, folder: &Path) -> Result<Found> {
        let mix = match self.kind {
            "randread" => "mix = \"read\"",
            "randwrite" => "mix = \"write\"",
            _ => "read_percent = 50",
        };
        let Self {
            size,
            depth,
            ramp,
            seconds,
            ..
        } = self;
        let study = format!(
            "name = \"paced\"\n[[case]]\nname = \"paced\"\npattern = \"random\"\n{mix}\n\
             block_size = \"{size}\"\ndepth = {depth}\nsize = \"1GiB\"\nramp = \"{ramp}s\"\n\
             runtime = \"{seconds}s\"\n"
        );
        let file = folder.join("paced.toml");
        std::fs::write(&file, study)?;
        let mut command = std::process::Command::new(ours);
        command.arg("run").arg(&file);
        command.args(["--target", &format!("sim:{ADDRESS}")]);
        command.args(["--json", "--no-save", "--quiet"]);
        let (text, _) = process::measure(command)?;
        let json = parse(&text, "blocklab")?;
        let rows = json["rows"].as_array().context("no rows")?.iter();
        let found = rows.map(|row| {
            let iops = row["iops"]["value"].as_f64();
            (iops.unwrap_or(0.0), row["service_p50_ns"].as_f64())
        });
        sum(found)
    }

    /// By fio on a served volume.
    fn served(&self, serving: &Serving) -> Result<Found> {
        let load = [
            format!("--rw={}", self.kind),
            format!("--bs={}", self.size),
            format!("--iodepth={}", self.depth),
            "--time_based".to_owned(),
            format!("--ramp_time={}", self.ramp),
            format!("--runtime={}", self.seconds),
        ];
        let json = nbd::fio(false, &serving.uri(), &load)?;
        let found = ["read", "write"].iter().map(|direction| {
            let told = &json["jobs"][0][direction];
            let p50 = told["lat_ns"]["percentile"]["50.000000"].as_f64();
            (told["iops"].as_f64().unwrap_or(0.0), p50)
        });
        sum(found)
    }
}

fn sum(directions: impl Iterator<Item = (f64, Option<f64>)>) -> Result<Found> {
    let mut all: Vec<_> = directions.filter(|(iops, _)| *iops > 0.0).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (_, p50) = all.last().context("a run without operations")?;
    Ok(Found {
        iops: all.iter().map(|(iops, _)| iops).sum(),
        p50_ns: p50.context("a run without latencies")?,
    })
}

fn off(found: f64, modelled: f64) -> f64 {
    (found / modelled - 1.0) * 100.0
}

/// Where volumes are served.
struct Bench<'a> {
    ours: &'a Path,
    folder: &'a Path,
    seconds: u64,
}

/// Runs what is wanted and prints how far each figure is off.
pub fn run(ours: &Path, filter: &[String], seconds: u64) -> Result<()> {
    let folder = std::env::temp_dir().join(format!("blocklab-paced-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let bench = Bench {
        ours,
        folder: &folder,
        seconds,
    };
    let wanted =
        |text: &str| filter.is_empty() || filter.iter().any(|word| text.contains(word.as_str()));
    bench.rates(&wanted)?;
    if wanted("latency") {
        bench.latency()?;
    }
    if wanted("processor") {
        bench.processor()?;
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

impl Bench<'_> {
    /// A volume that nobody has used.
    fn serve(&self) -> Result<Serving> {
        Serving::ours(self.ours, ADDRESS, &self.folder.join("socket"))
    }

    fn modelled(&self, load: &Load) -> Result<Found> {
        load.modelled(self.ours, self.folder)
    }

    /// Of the cells that are wanted: `rates`, or `rates randread` for a third of them.
    fn rates(&self, wanted: &dyn Fn(&str) -> bool) -> Result<()> {
        let seconds = self.seconds;
        let (mut rates, mut firsts) = (Vec::new(), Vec::new());
        let cells = KINDS.iter().flat_map(|kind| {
            let cells = SIZES.map(|size| DEPTHS.map(|depth| (*kind, size, depth)));
            cells.into_iter().flatten()
        });
        let named = |(kind, size, depth): &(_, _, _)| format!("rates {kind} {size} depth {depth}");
        let cells: Vec<_> = cells.filter(|cell| wanted(&named(cell))).collect();
        if cells.is_empty() {
            return Ok(());
        }
        println!("{ADDRESS} served, {seconds} s a load after a ramp of {RAMP} s, against sim:");
        for (kind, size, depth) in cells {
            let first = Load {
                seconds: 1,
                ..Load::new(kind, size, depth)
            };
            let steady = Load {
                ramp: RAMP,
                seconds,
                ..first
            };
            let one = off(
                first.served(&self.serve()?)?.iops,
                self.modelled(&first)?.iops,
            );
            let modelled = self.modelled(&steady)?;
            let found = steady.served(&self.serve()?)?;
            let rate = off(found.iops, modelled.iops);
            let iops = found.iops;
            println!(
                "{kind:<10} {size:>5} depth {depth:>2}: {iops:>6.0} IOPS, {rate:>+6.2} %; \
                 first second {one:>+6.2} %"
            );
            rates.push(rate.abs());
            firsts.push(one.abs());
        }
        for (what, all) in [("rate", &mut rates), ("first second", &mut firsts)] {
            let middle = median(all);
            let worst = all[all.len() - 1];
            println!("{what}: median {middle:.2} %, worst {worst:.2} %");
        }
        Ok(())
    }

    fn latency(&self) -> Result<()> {
        for kind in ["randread", "randwrite"] {
            let load = Load {
                ramp: 1,
                seconds: self.seconds,
                ..Load::new(kind, "4k", 1)
            };
            let found = load.served(&self.serve()?)?;
            let late = (found.p50_ns - self.modelled(&load)?.p50_ns) / 1e3;
            println!("{kind} 4k depth 1: p50 {late:+.0} µs (bar 40)");
        }
        Ok(())
    }

    fn processor(&self) -> Result<()> {
        let serving = self.serve()?;
        let spends = Load {
            seconds: RAMP,
            ..Load::new("randread", "4k", 8)
        };
        spends.served(&serving)?;
        let load = Load {
            seconds: self.seconds,
            ..spends
        };
        let before = serving.processor_seconds()?;
        let iops = load.served(&serving)?.iops;
        let used = serving.processor_seconds()? - before;
        let share = used / self.seconds as f64 * 100.0;
        println!("processor at {iops:.0} IOPS: {share:.1} % of one (bar 15)");
        Ok(())
    }
}
