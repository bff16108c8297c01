//! Records made by hand: what is refused, and what the figures of known distributions give.

use blocklab_device::{Covers, Service};
use blocklab_record::{Origin, Record, Status};
use proptest::prelude::*;

use super::{Calibration, CannotCalibrate, calibrate, is_usable, residuals};

#[path = "../../record/tests/sketch/mod.rs"]
#[allow(dead_code, reason = "no case here has its rates alone")]
mod sketch;
use sketch::{Sketch, record};

/// A disk of 100 µs + 2 µs/KiB for one operation, limited to 20,000 operations a second: IOPS of
/// operations of `kib` KiB at this depth.
fn iops(kib: u64, depth: u32) -> f64 {
    (f64::from(depth) * 1e9 / (100_000.0 + 2000.0 * kib as f64)).min(20_000.0)
}

fn sketch(direction: &'static str, kib: u64, depth: u32) -> Sketch {
    Sketch {
        direction,
        block: kib << 10,
        depth,
        iops: vec![iops(kib, depth); 2],
        ..Sketch::named(&format!("{direction}-{kib}-{depth}"))
    }
}

fn sweep(directions: &[&'static str], sizes: &[u64], depths: &[u32]) -> Record {
    let mut sketches = Vec::new();
    for direction in directions {
        for kib in sizes {
            sketches.extend(depths.iter().map(|depth| sketch(direction, *kib, *depth)));
        }
    }
    record(&sketches)
}

#[test]
fn a_latency_line_and_a_cap_are_found() {
    let record = sweep(&["read", "write"], &[4, 16, 64], &[1, 4, 16, 64, 128]);
    let fitted = calibrate(&[&record], false).expect("a fit");
    let volume = &fitted.device.volumes[0];
    let caps: Vec<_> = volume
        .caps
        .iter()
        .map(|cap| (cap.covers, cap.rate.per_second()))
        .collect();
    assert_eq!(caps, [(Covers::All, 20_000.0)]);
    let service = volume.service.as_ref().expect("a medium");
    assert!(
        (service.read.base.0 as f64 / 100_000.0 - 1.0).abs() < 0.001,
        "{service:?}"
    );
    assert!(
        (service.read.per_kib_ns / 2000.0 - 1.0).abs() < 0.001,
        "{service:?}"
    );
    assert_eq!(service.saturation, None);
    assert!(
        service.read.origin.to_string().contains("run t3st"),
        "{service:?}"
    );
    let about_shares = fitted
        .unknown
        .iter()
        .any(|sentence| sentence.contains("share a cap"));
    assert!(
        about_shares,
        "no cell mixes reads and writes: {:?}",
        fitted.unknown
    );
}

/// A disk whose limit lies just above what one operation in flight reaches: no cell of depth 1 was left
/// that shows its latency, so a medium with one channel was found instead of the limit, and flash
/// programs of 9 ms behind which the reads of the simulation never came back.
#[test]
fn a_cap_just_above_depth_one_is_a_cap() {
    let mut sketches = Vec::new();
    for direction in ["read", "write"] {
        for kib in [4, 16, 64] {
            let alone = 1e9 / (100_000.0 + 200.0 * kib as f64);
            let bytes = 500.0 * 1024.0 / kib as f64;
            sketches.extend([1, 4, 16, 64].map(|depth| Sketch {
                iops: vec![(f64::from(depth) * alone).min(10_500.0).min(bytes); 2],
                ..sketch(direction, kib, depth)
            }));
        }
    }
    let fitted = calibrate(&[&record(&sketches)], false).expect("a fit");
    let volume = &fitted.device.volumes[0];
    let operations = volume.caps.iter().find(|cap| !cap.rate.counts_bytes());
    let operations = operations.expect("a limit of operations");
    assert_eq!(operations.covers, Covers::All);
    assert!((operations.rate.per_second() - 10_500.0).abs() < 1.0);
    let service = volume.service.as_ref().expect("a medium");
    assert!(service.saturation.is_none() && service.programs.is_none());
    assert!((service.read.base.0 as f64 / 100_000.0 - 1.0).abs() < 0.01);
}

/// The medium of a fit that has these caps, in operations and bytes a second, and no maximum of its own.
#[track_caller]
fn medium_behind_caps(fitted: &Calibration, expected: [f64; 2]) -> &Service {
    let volume = &fitted.device.volumes[0];
    let caps = volume.caps.iter().map(|cap| cap.rate.per_second());
    assert_eq!(caps.collect::<Vec<_>>(), expected);
    let service = volume.service.as_ref().expect("a medium");
    assert!(
        service.saturation.is_none() && service.programs.is_none(),
        "{service:?}"
    );
    service
}

/// A disk of 6,000 operations and 60 MiB a second, which one operation in flight reaches at every size: no
/// cell was left that shows its latency, so the limit of operations became a medium with one channel, and
/// reads waited behind flash programs that it does not have.
#[test]
fn caps_that_one_operation_reaches_are_caps() {
    for (most, mib, alone_ns) in [(6000.0, 60.0, 100e3), (3000.0, 40.0, 150e3)] {
        let mut sketches = Vec::new();
        for direction in ["read", "write"] {
            for kib in [4, 16, 64, 256] {
                let alone = 1e9 / (alone_ns + 200.0 * kib as f64);
                let bytes = mib * 1024.0 / kib as f64;
                sketches.extend([1, 4, 16, 64].map(|depth| Sketch {
                    iops: vec![(f64::from(depth) * alone).min(most).min(bytes); 2],
                    ..sketch(direction, kib, depth)
                }));
            }
        }
        let fitted = calibrate(&[&record(&sketches)], false).expect("a fit");
        let service = medium_behind_caps(&fitted, [most, mib * 1_048_576.0]);
        assert!((service.read.base.0 as f64) < 1e9 / most);
        assert!(service.read.origin.is_assumed(), "{service:?}");
        let unknown = fitted.unknown.iter();
        let about_latency = unknown.filter(|sentence| sentence.contains("lies at a cap"));
        assert_eq!(about_latency.count(), 2, "{:?}", fitted.unknown);
    }
}

/// A disk of 3,000 operations and 125 MiB a second whose latencies scatter: where one operation in flight
/// comes near a limit that saves nothing up, the time that a quick operation leaves is lost. The closed form
/// does not know that, so a medium that works on 1.2 operations at a time explained the rates better.
#[test]
fn a_cap_that_quick_operations_wait_for_is_a_cap() {
    let alone = [
        (4, 2366.0),
        (16, 2317.0),
        (64, 1854.0),
        (256, 500.0),
        (1024, 125.0),
    ];
    let mut sketches = Vec::new();
    for direction in ["read", "write"] {
        for (kib, first) in alone {
            let most = f64::min(3000.0, 125.0 * 1024.0 / kib as f64);
            sketches.extend([1, 4, 16, 64].map(|depth| Sketch {
                iops: vec![if depth == 1 { first } else { most }; 2],
                spread: &[(0.74, 0.17), (1.0, 0.65), (1.35, 0.18)],
                ..sketch(direction, kib, depth)
            }));
        }
    }
    let fitted = calibrate(&[&record(&sketches)], false).expect("a fit");
    medium_behind_caps(&fitted, [3000.0, 125.0 * 1_048_576.0]);
}

/// The story: on a disk of 6,000 operations a second that depth 4 nearly reaches, operations wait for each
/// other there before the cap is full. A physical maximum of 27,000 stood beside the right cap, as if the
/// medium had caused that.
#[test]
fn what_a_cap_costs_near_its_depth_is_no_maximum() {
    let measured = [
        (4, [1660.0, 5652.0, 6000.0, 6000.0]),
        (16, [1628.0, 5593.0, 6000.0, 6000.0]),
        (64, [1508.0, 5334.0, 6000.0, 6000.0]),
        (256, [1175.0, 4375.0, 6000.0, 6000.0]),
        (1024, [617.0, 2428.0, 6000.0, 6000.0]),
    ];
    let mut sketches = Vec::new();
    for direction in ["read", "write"] {
        for (kib, rates) in measured {
            sketches.extend(
                [1, 4, 16, 64]
                    .into_iter()
                    .zip(rates)
                    .map(|(depth, iops)| Sketch {
                        iops: vec![iops; 2],
                        ..sketch(direction, kib, depth)
                    }),
            );
        }
    }
    let fitted = calibrate(&[&record(&sketches)], false).expect("a fit");
    let volume = &fitted.device.volumes[0];
    let caps = volume.caps.iter().map(|cap| cap.rate.per_second());
    assert_eq!(caps.collect::<Vec<_>>(), [6000.0]);
    let service = volume.service.as_ref().expect("a medium");
    assert_eq!(service.saturation, None);
}

/// A disk that stopped altogether in the middle of one load: a rate of zero is infinitely far from any
/// that a model predicts, so all candidates for reads were equally bad, and the first, without limits, won.
#[test]
fn a_load_that_came_to_a_stop_does_not_hide_a_cap() {
    let mut record = sweep(&["read", "write"], &[4, 16, 64], &[1, 4, 16, 64, 128]);
    let stopped = record.measurements.iter_mut();
    for measurement in stopped.filter(|measurement| measurement.case == "read-4-64") {
        for slice in &mut measurement.series[5..] {
            slice.read.ios = 0;
        }
    }
    let fitted = calibrate(&[&record], false).expect("a fit");
    let caps = fitted.device.volumes[0].caps.iter();
    let caps: Vec<_> = caps
        .map(|cap| (cap.covers, cap.rate.per_second()))
        .collect();
    assert_eq!(caps, [(Covers::All, 20_000.0)]);
}

#[test]
fn a_model_that_fails_is_not_called_a_run() {
    let disk = sweep(&["read"], &[4, 64], &[1, 8]);
    let mut model = disk.clone();
    model.id = "t3st-model".to_owned();
    model.status = Status::Failed;
    let refusal = residuals(&[&disk], &[&model]).expect_err("a refusal");
    let text = refusal.to_string();
    assert!(
        text.contains("no model carries") && !text.contains("t3st"),
        "{text}"
    );
}

#[test]
fn the_same_records_give_the_same_device() {
    let record = sweep(&["read"], &[4, 64], &[1, 8, 64, 128]);
    assert_eq!(calibrate(&[&record], false), calibrate(&[&record], false));
}

#[test]
fn one_direction_stands_for_the_other_as_an_assumption() {
    let record = sweep(&["read"], &[4, 64], &[1, 8, 64, 128]);
    let fitted = calibrate(&[&record], false).expect("a fit");
    let service = fitted.device.volumes[0].service.as_ref().expect("a medium");
    assert!(service.write.origin.is_assumed() && !service.read.origin.is_assumed());
    let mut unknown = fitted.unknown.iter();
    assert!(unknown.any(|sentence| sentence.contains("random writes were not measured")));
}

#[test]
fn a_record_against_itself_has_no_error() {
    let record = sweep(&["read"], &[4, 64], &[1, 8]);
    let same = residuals(&[&record], &[&record]).expect("cells");
    assert_eq!(same.cells.len(), 4);
    assert_eq!(same.iops.map(|iop| iop.worst.error_percent), Some(0.0));
    assert_eq!(same.quality, super::Quality::Good);
    assert_eq!(same.passes_differ_percent, Some(0.0));
}

/// A disk that was slow for 4 s while it was measured: one of 20 loads was off by 70 %, and the fit
/// was called good.
#[test]
fn an_episode_is_no_good_fit() {
    let sizes = [4, 8, 16, 32, 64];
    let disk = sweep(&["read"], &sizes, &[1, 4, 16, 64]);
    let mut sketches: Vec<Sketch> = Vec::new();
    for kib in sizes {
        sketches.extend([1, 4, 16, 64].map(|depth| sketch("read", kib, depth)));
    }
    sketches[7].iops.iter_mut().for_each(|iops| *iops *= 0.3);
    let disturbed = record(&sketches);
    let fit = residuals(&[&disturbed], &[&disk]).expect("cells");
    assert_eq!(fit.quality, super::Quality::Fair);
}

/// The refusal of these records has these words.
#[track_caller]
fn check(records: &[Record], words: &[&str]) {
    let records: Vec<&Record> = records.iter().collect();
    let refusal = calibrate(&records, false)
        .expect_err("a refusal")
        .to_string();
    for word in words {
        assert!(refusal.contains(word), "{refusal}");
    }
}

const STUDY: &str = "blocklab run calibrate --target";

#[test]
fn what_cannot_be_fitted_is_refused_with_what_to_measure() {
    let whole = || sweep(&["read"], &[4, 64], &[1, 8]);
    check(&[], &["no run", STUDY]);
    check(
        &[sweep(&["read"], &[4], &[1, 8])],
        &["only one block size (4 KiB)", "64KiB", STUDY],
    );
    check(
        &[sweep(&["read"], &[4, 64], &[8, 32])],
        &["no random read cell of depth 1", "depths: 8, 32", STUDY],
    );
    let failed = Record {
        status: Status::Failed,
        failure: Some("EIO on read".to_owned()),
        ..whole()
    };
    check(&[failed], &["run t3st failed (EIO on read)", STUDY]);
    // The figures were called such as no device can have.
    let mut busy = whole();
    for measurement in &mut busy.measurements {
        measurement.cpu.busiest_thread_percent = 100;
    }
    check(
        &[busy],
        &["used a whole processor", "leave out polling", STUDY],
    );
    // `calibrate latest latest` counted each pass twice: "the disk's own passes differ by 0 %".
    check(&[whole(), whole()], &["t3st is named twice"]);
    let simulated = Record {
        origin: Origin::Simulated,
        ..whole()
    };
    check(&[simulated], &["was simulated", "--allow-simulated"]);
    let mut other = whole();
    other.targets[0].devices[0].name = "sdb".to_owned();
    check(
        &[whole(), other],
        &["nvme0n1 and sdb are different targets"],
    );
    let buffered = Sketch {
        direct: false,
        ..sketch("read", 4, 1)
    };
    check(
        &[record(&[buffered])],
        &["none of 2 cells", "page cache", STUDY],
    );
}

#[test]
fn cells_that_show_something_else_are_left_out_and_counted() {
    let mut record = sweep(&["read"], &[4, 64], &[1, 8, 64, 128]);
    record.measurements[0].jobs[0].think = true;
    record.measurements[1].disks[0].read_merges = u64::MAX / 4;
    record.measurements[2].pass = 0;
    let usable = record
        .measurements
        .iter()
        .filter(|measurement| is_usable(measurement))
        .count();
    assert_eq!(usable, record.measurements.len() - 3);
    let fitted = calibrate(&[&record], false).expect("a fit");
    let left_out: Vec<_> = fitted
        .left_out
        .iter()
        .map(|left_out| (&left_out.reason[..10], left_out.measurements))
        .collect();
    assert_eq!(left_out, [("paced: the", 1), ("the kernel", 1)]);
}

#[test]
fn a_thread_without_a_moment_to_spare_is_no_disk() {
    let mut record = sweep(&["read"], &[4, 64], &[1, 8, 64, 128]);
    for measurement in record
        .measurements
        .iter_mut()
        .filter(|measurement| measurement.jobs[0].depth == 128)
    {
        measurement.cpu.busiest_thread_percent = 100;
    }
    let fitted = calibrate(&[&record], false).expect("a fit");
    assert!(
        fitted
            .unknown
            .iter()
            .any(|sentence| sentence.contains("a thread of blocklab")),
        "{:?}",
        fitted.unknown
    );
}

#[test]
fn a_record_of_nothing_is_no_panic() {
    let mut empty = record(&[]);
    assert!(matches!(
        calibrate(&[&empty], false),
        Err(CannotCalibrate::NothingUsable { .. })
    ));
    empty.targets.clear();
    assert!(calibrate(&[&empty], false).is_err());
}

proptest! {
    /// Whatever the figures are: no panic, and a device that can be.
    #[test]
    fn any_record_is_fitted_or_refused(
        cells in prop::collection::vec((0usize..2, 0usize..4, 0usize..4, figure()), 1..24),
    ) {
        let sketches = cells.into_iter().map(|(direction, size, depth, iops)| {
            let (kib, depth) = ([4, 16, 64, 1024][size], [1, 4, 64, 128][depth]);
            Sketch { iops: vec![iops], ..sketch(["read", "write"][direction], kib, depth) }
        });
        let record = record(&sketches.collect::<Vec<_>>());
        if let Ok(fitted) = calibrate(&[&record], false) {
            prop_assert_eq!(fitted.device.check(), Ok(()));
            prop_assert!(residuals(&[&record], &[&record]).is_ok());
        }
    }
}

fn figure() -> impl Strategy<Value = f64> {
    prop_oneof![2.0..10.0, 10.0..1e6, 1e6..1e8]
}
