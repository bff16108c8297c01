//! Whether a calibrated model predicts loads that it was not made from: modelled disks, measured by
//! the built-in study `calibrate`, and other loads on disk and model.

use std::fmt::Write as _;

use blocklab_calibrate::calibrate;
use blocklab_catalog::device_file;
use blocklab_findings::assess;
use blocklab_native as native;
use blocklab_stats::median;
use blocklab_workload::Plan;

use crate::accuracy::simulate;
use crate::root;

/// A rested limiter of 3,000 operations, now and then a slow one, and four slow seconds while it is
/// calibrated: the other loads take half a minute.
const DISTURBED: &str = r#"
name = "disturbed"
[[volume]]
kind = "disk"
capacity = "500GiB"
[[volume.cap]]
name = "operations"
rate = "3000 IOPS"
bucket = "1s"
[volume.service]
read = { base = "600us", per_kib = "2.2us" }
write = { base = "600us", per_kib = "2.2us" }
spread = { sigma = 0.3, tail = { share = 0.005, factor = 20, sigma = 0.3 } }
[[fault]]
from = "40s"
until = "44s"
latency = { added = "20ms", read_percent = 100, write_percent = 100 }
"#;

/// The disks.
pub const DISKS: [(&str, &str); 8] = [
    ("gp3 16000/1000", "gp3:1TiB,iops=16000,throughput=1000"),
    ("gp3 3000/125", "gp3:1TiB"),
    ("r5d.xlarge local", "local,as-of=2021-01-01@r5d.xlarge"),
    ("i3.xlarge local 2017", "local,as-of=2017-02-27@i3.xlarge"),
    ("i2.xlarge local", "local@i2.xlarge"),
    ("st1 2 TiB", "st1:2TiB"),
    ("io2 64,000", "io2:2TiB,iops=64000"),
    ("3,000 IOPS, slow 4 s, tail", DISTURBED),
];

/// The first of them meets a rested disk.
const LOADS: &str = r#"
name = "others"
seed = 11
[defaults]
engine = "io_uring"
ramp = "1s"
runtime = "4s"
[[case]]
name = "two seconds of rest"
runtime = "2s"
ramp = "0s"
depth = 128
[[case]]
name = "8 KiB read q8"
block_size = "8KiB"
depth = 8
[[case]]
name = "4 KiB 70/30 q16"
depth = 16
read_percent = 70
[[case]]
name = "32 KiB write q32"
block_size = "32KiB"
depth = 32
mix = "write"
[[case]]
name = "64 KiB stream q4"
block_size = "64KiB"
depth = 4
pattern = "sequential"
[[case]]
name = "16 KiB 50/50 q64"
block_size = "16KiB"
depth = 64
read_percent = 50
"#;

/// What the model of one disk is off by, in per cent.
#[derive(Debug, Clone)]
pub struct Row {
    /// The disk.
    pub disk: &'static str,
    /// By case, both directions together.
    pub iops: Vec<(String, f64)>,
    /// By case and direction.
    pub mean: Vec<(String, f64)>,
    /// By case and direction.
    pub p99: Vec<(String, f64)>,
}

fn plan(text: &str) -> Plan {
    let parsed = native::parse(text, "plan").unwrap_or_else(|error| panic!("{error}"));
    parsed.plan
}

/// Calibrates a model of a disk, and compares the two under the same loads.
///
/// # Panics
/// When the disk cannot be calibrated.
#[must_use]
pub fn row(disk: &'static str, device: &str) -> Row {
    let study = std::fs::read_to_string(root().join("studies/calibrate.toml")).expect("the study");
    let measured = simulate(plan(&format!("seed = 7\n{study}")), device);
    let fitted = calibrate(&[&measured], true).expect("a model");
    let model = device_file::render(&fitted.device);
    let [disk_runs, model_runs] =
        [device, &model].map(|device| assess(&simulate(plan(LOADS), device)).rows);
    let (mut iops, mut mean, mut p99) = (Vec::new(), Vec::new(), Vec::new());
    let off = |disk: f64, model: f64| (model / disk - 1.0) * 100.0;
    for (true_row, row) in disk_runs.iter().zip(&model_runs) {
        let rate = |row: &blocklab_findings::Row| -> f64 {
            row.directions
                .iter()
                .map(|direction| direction.iops.value)
                .sum()
        };
        iops.push((row.case.clone(), off(rate(true_row), rate(row))));
        for (of_disk, of_model) in true_row.directions.iter().zip(&row.directions) {
            let name = format!("{}, {}", row.case, of_model.direction);
            let tails = [of_disk, of_model].map(|direction| direction.service_ns.at("p99") as f64);
            p99.push((name.clone(), off(tails[0], tails[1])));
            mean.push((name, off(of_disk.mean_ns.value, of_model.mean_ns.value)));
        }
    }
    Row {
        disk,
        iops,
        mean,
        p99,
    }
}

/// Median and largest of the absolute errors, and where the largest is.
#[must_use]
pub fn errors(all: &[(String, f64)]) -> (f64, f64, &str) {
    let sizes: Vec<f64> = all.iter().map(|(_, off)| off.abs()).collect();
    let worst = all.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
    let (name, most) = worst.expect("some loads");
    (median(&sizes), most.abs(), name)
}

/// As a table.
#[must_use]
pub fn table(rows: &[Row]) -> String {
    let mut table = String::from(
        "| disk | IOPS median / max | mean latency median / max | p99 median | worst |\n\
         |---|--:|--:|--:|---|\n",
    );
    for row in rows {
        let (iops, mean, p99) = (errors(&row.iops), errors(&row.mean), errors(&row.p99));
        let _ = writeln!(
            table,
            "| {} | {:.1} / {:.1} % | {:.1} / {:.1} % | {:.1} % | {} |",
            row.disk, iops.0, iops.1, mean.0, mean.1, p99.0, mean.2
        );
    }
    table
}
