//! Two roads to the same figures: a modelled volume paced in real time, and in virtual time.
//!
//! The model, the worker and the accounting are the same on both; what differs is the clock and
//! the driver. A machine that is too busy to wake a thread in time cannot pace, which the test
//! finds out first and says.

use std::time::{Duration, Instant};

use blocklab_proof::Lab;
use blocklab_record::{DirectionResult, Record};

const STUDY: &str = r#"
name = "roads"
seed = 5
[defaults]
runtime = "3s"
ramp = "1500ms"
engine = "io_uring"
[[case]]
name = "deep"
depth = 32
[[case]]
name = "mixed"
depth = 16
mix = { read = 50, write = 50 }
block_size = "64KiB"
"#;

/// A thousand sleeps of a millisecond would take a second; fifty tell enough.
fn lateness() -> Duration {
    let late = |_| {
        let asked = Duration::from_millis(1);
        let begin = Instant::now();
        std::thread::sleep(asked);
        begin.elapsed() - asked
    };
    let mut late: Vec<Duration> = (0..50).map(late).collect();
    late.sort();
    late[45]
}

fn record(lab: &Lab, target: &str) -> Record {
    let said = lab.blocklab(["run", "roads.toml", "--quiet", "--target", target]);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    lab.store().load("latest").expect("a kept run").record
}

/// Figures of a case that must agree: name, value, tolerance.
fn figures(direction: &DirectionResult, elapsed_ns: u64) -> [(&'static str, f64, f64); 3] {
    let iops = direction.ios as f64 * 1e9 / elapsed_ns as f64;
    let service = &direction.service;
    [
        ("IOPS", iops, 0.03),
        ("p50", service.p50_ns as f64, 0.03),
        ("p99", service.p99_ns as f64, 0.10),
    ]
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

/// What other programs used of the machine's processors meanwhile, at most, in per cent.
fn others_percent(record: &Record) -> u64 {
    let processors = u64::from(record.environment.processor.count.max(1));
    let others = record.measurements.iter().map(|measurement| {
        let cpu = &measurement.cpu;
        let own = (cpu.user_ns + cpu.system_ns) * 100 / measurement.elapsed_ns.max(1) / processors;
        u64::from(cpu.machine_busy_percent).saturating_sub(own)
    });
    others.max().unwrap_or(0)
}

#[test]
fn real_and_virtual_time_agree() {
    let lab = Lab::new();
    std::fs::write(lab.path().join("roads.toml"), STUDY).expect("written");
    let address = "gp3:1TiB,iops=3000,throughput=125@r5d.xlarge";
    let simulated = record(&lab, &format!("sim:{address}"));
    let (mut last, mut busy_with_others) = (Vec::new(), false);
    for _ in 0..3 {
        let late = lateness();
        if late > Duration::from_micros(300) {
            println!("skipped: this machine wakes threads {late:?} late; it cannot pace a volume");
            return;
        }
        let emulated = record(&lab, &format!("emu:{address}"));
        last = disagreements(&emulated, &simulated);
        busy_with_others = others_percent(&emulated) > 20;
        if last.is_empty() {
            return;
        }
        println!("another try, for a machine that was busy meanwhile: {last:?}");
    }
    let late = lateness();
    if late > Duration::from_micros(300) || busy_with_others {
        println!("skipped: this machine is too busy to pace a volume ({late:?} late): {last:?}");
        return;
    }
    panic!("the two roads disagree: {last:#?}");
}

/// A record is the same whenever and wherever it is simulated, but for its name and its date.
#[test]
fn simulated_figures_are_the_same_every_time() {
    let lab = Lab::new();
    std::fs::write(lab.path().join("roads.toml"), STUDY).expect("written");
    let target = "sim:2xst1:2TiB@m5.2xlarge";
    let (first, second) = (record(&lab, target), record(&lab, target));
    assert_eq!(first.measurements, second.measurements);
    assert!(
        first.targets[0]
            .limits
            .iter()
            .any(|limit| limit.origin.contains("documented"))
    );
}
