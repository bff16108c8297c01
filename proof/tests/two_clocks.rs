//! A load in real time and in virtual time gives the same figures on a modelled volume.
//!
//! The model, the worker and the accounting are the same on both; what differs is the clock and
//! the driver. The volume is so slow that it does not matter how late this machine wakes a thread:
//! one operation alone takes 100 ms, and of 128 at a time the volume has a third of a second of
//! work in its queue, so that its limit alone sets the rate, and the rate the median latency.

use blocklab_proof::Lab;
use blocklab_record::{DirectionResult, Record};

const STUDY: &str = r#"
name = "two-clocks"
seed = 5
[defaults]
runtime = "2s"
ramp = "500ms"
engine = "io_uring"
pattern = "random"
[[case]]
name = "alone"
depth = 1
[[case]]
name = "deep"
depth = 128
[[case]]
name = "mixed"
depth = 128
mix = { read = 50, write = 50 }
block_size = "64KiB"
"#;

/// A volume that does this many operations a second.
fn volume(iops: u32) -> String {
    format!(
        r#"
        [[volume]]
        capacity = "1GiB"
        [[volume.cap]]
        name = "operations"
        rate = "{iops} IOPS"
        bucket = "100ms"
        [[volume.cap]]
        name = "throughput"
        rate = "20 MiB/s"
        bucket = "100ms"
        [volume.service]
        read = {{ base = "100ms", per_kib = "0us" }}
        write = {{ base = "100ms", per_kib = "0us" }}
        spread = {{ sigma = 0.1 }}
        "#
    )
}

fn lab() -> Lab {
    let lab = Lab::new();
    lab.write("load.toml", STUDY);
    lab.write("slow.toml", volume(400));
    lab.write("other.toml", volume(480));
    lab
}

/// What a run left in a store of its own, where no other can be the latest.
fn record(target: &str) -> Record {
    let lab = lab();
    let run = lab.blocklab(["run", "load.toml", "--quiet", "--target", target]);
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    lab.store().load("latest").expect("a kept run").record
}

/// Figures of a case that must agree: name, value, tolerance.
fn figures(direction: &DirectionResult, elapsed_ns: u64) -> [(&'static str, f64, f64); 2] {
    let iops = direction.ios as f64 * 1e9 / elapsed_ns as f64;
    let p50 = direction.service.p50_ns as f64;
    [("IOPS", iops, 0.05), ("p50", p50, 0.10)]
}

fn disagreements(emulated: &Record, simulated: &Record) -> Vec<String> {
    let mut found = Vec::new();
    for (real, virtual_) in emulated.measurements.iter().zip(&simulated.measurements) {
        let (real_job, virtual_job) = (&real.jobs[0], &virtual_.jobs[0]);
        for (name, direction) in &real_job.directions {
            let ours = figures(direction, real_job.elapsed_ns);
            let theirs = figures(&virtual_job.directions[name], virtual_job.elapsed_ns);
            for ((what, a, tolerance), (_, b, _)) in ours.into_iter().zip(theirs) {
                if (a / b - 1.0).abs() > tolerance {
                    found.push(format!(
                        "{} {name} {what}: {a:.0} emulated, {b:.0} simulated",
                        real.case
                    ));
                }
            }
        }
    }
    found
}

/// How often a machine may be too busy to wake a thread within tens of milliseconds.
const ATTEMPTS: usize = 5;

#[test]
fn real_and_virtual_time_agree() {
    let simulated = record("sim:./slow.toml");
    let mut last = Vec::new();
    for _ in 0..ATTEMPTS {
        let emulated = record("emu:./slow.toml");
        last = disagreements(&emulated, &simulated);
        if last.is_empty() {
            return;
        }
        println!("another try, for a machine that was busy meanwhile: {last:?}");
    }
    panic!("the two clocks disagree, {ATTEMPTS} times: {last:#?}");
}

/// A volume that is a fifth faster is told from this one: the agreement above says something.
#[test]
fn another_volume_disagrees() {
    let (slow, other) = (record("sim:./slow.toml"), record("sim:./other.toml"));
    let found = disagreements(&other, &slow);
    assert!(
        ["deep read IOPS", "deep read p50"]
            .iter()
            .all(|figure| found.iter().any(|words| words.starts_with(figure))),
        "{found:?}"
    );
}

/// A record is the same whenever and wherever it is simulated, but for its name and its date.
#[test]
fn simulated_figures_are_the_same_every_time() {
    let target = "sim:2xst1:2TiB@m5.2xlarge";
    let (first, second) = (record(target), record(target));
    assert_eq!(first.measurements, second.measurements);
    assert!(
        first.targets[0]
            .limits
            .iter()
            .any(|limit| limit.origin.how() == "documented")
    );
}
