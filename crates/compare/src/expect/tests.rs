//! Each rule made to speak, and kept silent, by figures of devices that the catalog knows.

mod bought;
mod bursts;

use std::ops::Range;

use blocklab_catalog::{Catalog, resolve};
use blocklab_device::LimitName;
use blocklab_record::{LimitUse, ModelUse, Origin, Record, TargetUse};
use blocklab_workload::Address;
use blocklab_workload::{Direction, Mix, Pattern};

use super::*;
use crate::testing::{Sketch, record};
use blocklab_findings::Severity;

fn resolved(address: &str) -> blocklab_catalog::Resolved {
    let address: Address = address.parse().expect("an address");
    resolve(&address, &Catalog::embedded()).expect("something sold")
}

pub(super) fn against(record: &Record, address: &str) -> Diagnosis {
    let catalog = Catalog::embedded();
    let resolved = resolved(address);
    let expectation = Expectation {
        resolved: &resolved,
        catalog: &catalog,
        priced: None,
        target: None,
        together: &[],
    };
    diagnose(record, Some(expectation))
}

/// A case of this many KiB, with 256 in flight, for a minute.
fn case(kib: u64, iops: f64) -> Sketch {
    Sketch {
        case: format!("{kib}k"),
        block: kib * 1024,
        depth: 256,
        seconds: 60,
        iops: vec![iops; 3],
        ..Sketch::default()
    }
}

fn writes(kib: u64, iops: f64) -> Sketch {
    Sketch {
        direction: "write",
        ..case(kib, iops)
    }
}

pub(super) fn rule<'a>(diagnosis: &'a Diagnosis, rule: &str) -> Option<&'a Finding> {
    let mut found = diagnosis.assessment.findings.iter();
    found.find(|finding| finding.rule == rule)
}

/// The rule has a finding with these words.
#[track_caller]
fn speaks(sketch: Sketch, address: &str, name: &str, words: &str) -> Finding {
    let diagnosis = against(&record(&[sketch]), address);
    let finding = rule(&diagnosis, name).unwrap_or_else(|| panic!("{name}: {diagnosis:#?}"));
    assert!(finding.statement.contains(words), "{}", finding.statement);
    finding.clone()
}

#[track_caller]
fn silent(sketch: Sketch, address: &str, name: &str) {
    let diagnosis = against(&record(&[sketch]), address);
    assert_eq!(rule(&diagnosis, name), None);
}

const GP3: &str = "gp3:1TiB,iops=6000@r5d.xlarge";
const LARGE: &str = "gp3:1TiB,iops=6000@m5.24xlarge";

/// Limits that no document promises were called documented.
#[test]
fn a_limit_that_was_measured_is_not_called_documented() {
    let local = "local@i7i.xlarge";
    let words = "what is measured as local NVMe: disk IOPS (reads) is delivered";
    speaks(case(4, 150_061.0), local, "at-documented-limit", words);
    let words = "of what is measured as local NVMe: disk IOPS (reads)";
    speaks(case(4, 75_000.0), local, "below-documented-limit", words);
}

#[test]
fn what_is_documented_is_delivered() {
    let words = "what is documented as gp3: volume IOPS is delivered: 100 % of it";
    speaks(case(4, 6000.0), LARGE, "at-documented-limit", words);
    silent(case(4, 4000.0), LARGE, "at-documented-limit");
    // The smaller one of volume (MiB/s) and instance (MB/s) binds.
    let words = "r5d.xlarge: EBS throughput (burst)";
    let fast = "gp3:1TiB,iops=16000,throughput=1000@r5d.xlarge";
    speaks(
        case(128, 593.75e6 / 131_072.0),
        fast,
        "at-documented-limit",
        words,
    );
}

#[test]
fn a_setting_that_is_not_in_effect() {
    let words = "3,000 IOPS are what the type gives without settings (gp3: volume IOPS), and";
    let finding = speaks(case(4, 3000.0), GP3, "setting-not-in-effect", words);
    assert_eq!(finding.severity, Severity::Warning);
    silent(case(4, 6000.0), GP3, "setting-not-in-effect");
    silent(
        case(4, 3000.0),
        "gp3:1TiB@r5d.xlarge",
        "setting-not-in-effect",
    );
}

/// The story: of two passes of 1,000 and 6,000 IOPS a gate said that between -28,266 and 35,266 IOPS
/// were delivered.
#[test]
fn no_rate_below_zero_is_delivered() {
    let sketch = Sketch {
        iops: vec![1000.0, 6000.0],
        ..case(4, 0.0)
    };
    let diagnosis = against(&record(&[sketch]), LARGE);
    let limits = diagnosis.expected.expect("it was expected").limits;
    let mut lows = limits.iter().map(|limit| limit.delivered_ci95_low);
    assert!(lows.any(|low| low == Some(0.0)), "{limits:#?}");
}

#[test]
fn more_in_flight_than_the_limit_takes() {
    let name = "more-than-the-limit-takes";
    speaks(
        case(4, 6000.0),
        LARGE,
        name,
        "queue depth 256, and about 4 already reach",
    );
    let few = Sketch {
        depth: 6,
        ..case(4, 6000.0)
    };
    silent(few, LARGE, name);
}

#[test]
fn a_hard_disk_pays_a_mebibyte_for_every_random_operation() {
    let words = "66 random operations a second costs a whole MiB";
    speaks(case(16, 65.5), "st1:250GiB", "hdd-random-credit", words);
    silent(case(1024, 65.5), "st1:250GiB", "hdd-random-credit");
}

#[test]
fn a_burst_ends() {
    let words = "after 33 min 20 s of this load 300 IOPS remain, by gp2: burst credits (baseline)";
    let finding = speaks(case(4, 3000.0), "gp2:100GiB", "documented-burst", words);
    assert_eq!(finding.severity, Severity::Info);
    silent(case(4, 3000.0), "gp3:100GiB", "documented-burst");
}

/// A gp2 volume without credits delivered its 300 IOPS, which were called as expected, and nothing
/// warned that the 3,000 of yesterday were a burst.
#[test]
fn a_burst_has_ended() {
    let words = "300 IOPS are what gp2: burst credits (baseline) leaves once the burst is used up; \
                 rested, it allows 3,000 for 33 min 20 s";
    let finding = speaks(case(4, 300.0), "gp2:100GiB", "burst-used-up", words);
    // The burst that is documented was missed: a banner that is green would deny that.
    assert_eq!(finding.severity, Severity::Warning);
    silent(case(4, 3000.0), "gp2:100GiB", "burst-used-up");
    silent(case(4, 3000.0), "gp2:1000GiB", "burst-used-up");
}

/// N operations against rate r and a second of it saved: r (T + 1) / T.
#[test]
fn a_short_test_spreads_what_the_limiter_saved() {
    let short = Sketch {
        seconds: 10,
        ..case(4, 3300.0)
    };
    let words = "10 % above gp3: volume IOPS because the limiter had saved up";
    speaks(short, "gp3:1TiB", "bucket-amortised", words);
    silent(case(4, 3000.0), "gp3:1TiB", "bucket-amortised");
}

#[test]
fn twenty_volumes_and_one_instance() {
    let many = "20xgp2:1TB@m5.2xlarge";
    let bound = against(&record(&[case(4, 18_750.0)]), many);
    let finding = rule(&bound, "instance-binds-the-sum").expect("the rule speaks");
    assert!(
        finding.statement.contains("60,000 IOPS"),
        "{}",
        finding.statement
    );
    silent(
        case(4, 3000.0),
        "gp2:1000GiB@m5.2xlarge",
        "instance-binds-the-sum",
    );
}

/// The published story: i3.xlarge wrote 18,750 a second in 2017, and 70,000 are documented later.
#[test]
fn the_limits_of_another_day() {
    let words = "fit the limits as they were on 20";
    let today = "local@i3.xlarge";
    speaks(writes(4, 18_750.0), today, "limit-of-another-date", words);
    let then = "local,as-of=2017-02-27@i3.xlarge";
    silent(writes(4, 18_750.0), then, "limit-of-another-date");
}

#[test]
fn nobody_promises_anything_of_a_best_effort_type() {
    let found = against(&record(&[case(4, 90.0)]), "standard:100GiB");
    assert!(rule(&found, "best-effort").is_some());
    assert!(found.expected.expect("a comparison").limits.is_empty());
    silent(case(4, 3000.0), "gp3:1TiB", "best-effort");
}

#[test]
fn a_little_and_far_below_a_limit() {
    let finding = speaks(
        case(4, 5700.0),
        LARGE,
        "under-delivery",
        "5,700 IOPS are 95 %",
    );
    assert_eq!(finding.severity, Severity::Info);
    let finding = speaks(
        case(4, 4500.0),
        LARGE,
        "below-documented-limit",
        "are 75 % of",
    );
    assert_eq!(finding.severity, Severity::Warning);
    silent(case(4, 6000.0), LARGE, "under-delivery");
    silent(case(4, 6000.0), LARGE, "below-documented-limit");
}

#[test]
fn above_everything_is_an_anomaly() {
    let name = "above-every-limit";
    let finding = speaks(case(4, 20_000.0), LARGE, name, "20,000 IOPS are 3");
    assert_eq!(finding.severity, Severity::Warning);
    silent(case(4, 6000.0), LARGE, name);
}

#[test]
fn units_that_were_confused() {
    // 125 MiB/s paid for, and eight times as many bits counted as bytes.
    let words = "bits against bytes";
    speaks(case(128, 125.0), "gp3:1TiB@m5.24xlarge", "unit-slip", words);
    silent(case(128, 1000.0), "gp3:1TiB@m5.24xlarge", "unit-slip");
}

/// The story: a volume of 6,000 IOPS that stood still for 2 s of a run delivered 5,588, "but for GiB against
/// GB". Operations have no such prefix.
#[test]
fn no_units_of_bytes_are_confused_in_operations() {
    let prefix = |kib, iops: f64| why(&record(&[case(kib, iops)]), LARGE);
    assert_eq!(prefix(4, 6000.0 / 1.073_741_824), Why::Below);
    let of_bytes = prefix(128, 1000.0 / 1.048_576);
    assert_eq!(of_bytes, Why::UnitSlip("MiB against MB"));
}

#[test]
fn a_physical_disk_does_what_its_siblings_can() {
    let catalog = Catalog::embedded();
    let found = against(&record(&[case(4, 60_000.0)]), "local@i3.large");
    let _ = catalog;
    assert_eq!(
        rule(&found, "physical-not-contractual"),
        None,
        "below its own limit"
    );
    let name = "physical-not-contractual";
    speaks(
        case(4, 150_000.0),
        "local@i3.large",
        name,
        "the disk is physical",
    );
}

#[test]
fn every_limit_has_a_verdict() {
    let diagnosis = against(&record(&[case(4, 6000.0)]), LARGE);
    let compared = diagnosis.expected.expect("a comparison");
    let states: Vec<_> = compared
        .limits
        .iter()
        .map(|limit| (limit.limit.as_str(), limit.state))
        .collect();
    assert_eq!(states[0], ("gp3: volume IOPS", State::Met));
    assert_eq!(states[1], ("gp3: volume throughput", State::NotTested));
    let Some(HowToTest::By(how)) = &compared.limits[1].how_to_test else {
        panic!("{:?}", compared.limits[1]);
    };
    assert!(
        how.starts_with("random reads of ") && how.contains("in flight"),
        "{how}"
    );
    let instance = compared
        .limits
        .iter()
        .find(|limit| limit.limit.contains("EBS IOPS"));
    let how = instance.expect("the instance's").how_to_test.clone();
    let why = "no load can: gp3: volume IOPS binds first";
    assert_eq!(how, Some(HowToTest::Not(why.to_owned())));

    let missed = against(&record(&[case(4, 3000.0)]), LARGE).expected;
    assert_eq!(missed.expect("a comparison").limits[0].state, State::Missed);
    let above = against(&record(&[case(4, 20_000.0)]), LARGE).expected;
    assert_eq!(
        above.expect("a comparison").limits[0].state,
        State::Exceeded
    );
}

/// The story: a file on a local disk was held against a gp3, and its 485 % of the volume's throughput
/// were "not tested", with a load that would test it.
#[test]
fn a_limit_that_is_exceeded_by_far_is_not_called_untested() {
    let states = |iops: f64, address: &str| -> Vec<(String, State)> {
        let compared = against(&record(&[case(16, iops)]), address).expected;
        let limits = compared.expect("a comparison").limits.into_iter();
        limits.map(|limit| (limit.limit, limit.state)).collect()
    };
    // 625 MiB/s of 125, where 6,000 operations of 16 KiB would be 94: the rate binds first.
    let far = states(40_000.0, "gp3:1TiB,iops=6000@r5d.xlarge");
    let all_are = |state| far.iter().all(|(_, found)| *found == state);
    assert!(all_are(State::Exceeded), "{far:?}");
    // A burst of the machine explains what is beyond its baseline.
    let burst = states(12_000.0, "gp3:1TiB,iops=10000,throughput=500@r5d.xlarge");
    let machine = burst
        .iter()
        .find(|(name, _)| name == "r5d.xlarge: EBS IOPS (baseline)");
    assert_eq!(
        machine.expect("it has one").1,
        State::NotTested,
        "{burst:?}"
    );
}

/// The story: "no load can: t3.small: EBS IOPS (baseline) binds first" stood beside the burst of a
/// machine, whose baseline binds when its credits are spent, after hours. From full credits it is the
/// volume that binds first. And a baseline was to be waited for with one operation in flight, for
/// 8 h 24 min, where four reach it in 2 h 41 min.
#[test]
fn what_binds_first_is_what_binds_a_device_at_rest() {
    let how_at = |iops: f64, address: &str, limit: &str| {
        let compared = against(&record(&[case(4, iops)]), address).expected;
        let limits = compared.expect("a comparison").limits;
        let found = limits.into_iter().find(|check| check.limit == limit);
        found.expect(limit).how_to_test.expect("not tested")
    };
    let (small, burst) = ("gp3:100GiB@t3.small", "t3.small: EBS IOPS (burst)");
    let why = "no load can: gp3: volume IOPS binds first";
    assert_eq!(how_at(3000.0, small, burst), HowToTest::Not(why.to_owned()));
    let why = "no load can: t3.small: EBS throughput (burst) binds first";
    let large = "gp3:1TiB,iops=16000,throughput=1000@t3.small";
    let found = how_at(3000.0, large, "gp3: volume throughput");
    assert_eq!(found, HowToTest::Not(why.to_owned()));
    // Of empty credits nothing but the baseline is left.
    let why = "no load can: gp2: burst credits (baseline) binds first";
    let found = how_at(300.0, "gp2:100GiB,credits=0%", "gp2: burst credits (burst)");
    assert_eq!(found, HowToTest::Not(why.to_owned()));
    let soon = "random reads of 4 KiB, 4 in flight, for longer than 2 h 41 min";
    let found = how_at(3000.0, small, "t3.small: EBS IOPS (baseline)");
    assert_eq!(found, HowToTest::By(soon.to_owned()));
}

/// A false alarm costs more trust than a silence: what is as documented gets no warning.
#[test]
fn a_healthy_volume_gets_no_scary_finding() {
    for (sketch, address) in [
        (case(4, 6000.0), LARGE),
        (case(4, 6000.0), GP3),
        (case(128, 1000.0), "gp3:1TiB"),
        (case(4, 3000.0), "gp2:100GiB"),
        (writes(4, 18_750.0), "local,as-of=2017-02-27@i3.xlarge"),
    ] {
        let diagnosis = against(&record(&[sketch]), address);
        let severe = diagnosis
            .assessment
            .findings
            .iter()
            .find(|finding| finding.severity > Severity::Info);
        assert_eq!(severe, None, "{address}");
    }
}

#[test]
fn nothing_is_compared_that_cannot_be() {
    let cached = Sketch {
        direct: false,
        ..case(4, 900_000.0)
    };
    let diagnosis = against(&record(&[cached]), GP3);
    let compared = diagnosis.expected.expect("a comparison");
    assert_eq!(compared.cases[0].why, Why::NotComparable);
    assert_eq!(compared.cases[0].obstacle, Some(Obstacle::PageCache));
    assert!(
        compared
            .limits
            .iter()
            .all(|limit| limit.state == State::NotTested)
    );
    assert!(diagnose(&record(&[]), None).expected.is_none());
}

/// R5d.xlarge did 58,016 of 4 KiB, half of them writes: 29,000 writes are documented.
#[test]
fn reads_and_writes_have_budgets_of_their_own() {
    let local = "local,as-of=2021-01-01@r5d.xlarge";
    let half = |iops: f64| half_writes(iops, 16);
    let found = against(&half(58_000.0), local);
    let finding = rule(&found, "separate-budgets").expect("the rule speaks");
    let words = "budgets of their own";
    assert!(finding.statement.contains(words), "{}", finding.statement);
    assert!(finding.statement.contains("50 %"), "{}", finding.statement);
    let below = against(&half(20_000.0), local);
    assert_eq!(rule(&below, "separate-budgets"), None, "below the budget");
    let one = against(&record(&[case(4, 59_000.0)]), local);
    assert_eq!(rule(&one, "separate-budgets"), None, "reads alone");
}

/// A record whose operations of 4 KiB are reads and writes in equal parts.
fn half_writes(iops: f64, depth: u32) -> Record {
    let mut record = record(&[Sketch {
        depth,
        ..case(4, iops / 2.0)
    }]);
    for job in record
        .measurements
        .iter_mut()
        .flat_map(|measurement| &mut measurement.jobs)
    {
        let reads = job.directions[&Direction::Read].clone();
        job.accounting.issued *= 2;
        job.accounting.completed *= 2;
        job.directions.insert(Direction::Write, reads);
        job.mix = Some(Mix::reads(50));
    }
    record
}

/// A month of the address over what was delivered, with region, day and both inputs.
#[test]
fn the_price_of_what_was_delivered_is_recomputed() {
    let catalog = Catalog::embedded();
    let text = "gp3:1TiB,iops=6000,region=ap-northeast-1@r5d.xlarge";
    let record = record(&[case(4, 5000.0)]);
    let rows = blocklab_findings::assess(&record).rows;
    let output = blocklab_findings::best_output(&rows, "measured");
    let bought = blocklab_catalog::unit_price::Bought::find(text, None, &catalog).expect("sold");
    let priced = blocklab_catalog::unit_price::price("run", &[bought], Some(&output));
    let address: Address = text.parse().expect("an address");
    let resolved = resolve(&address, &catalog).expect("sold");
    let audit = |priced| {
        let expectation = Expectation {
            resolved: &resolved,
            catalog: &catalog,
            priced,
            target: None,
            together: &[],
        };
        diagnose(&record, Some(expectation))
    };
    let found = audit(Some(&priced));
    let finding = rule(&found, "price-audit").expect("the rule speaks");
    // 1,024 GiB x .096 + 3,000 IOPS x .006 + 730 h x .348, by hand.
    let month = 98.304 + 18.0 + 254.04;
    let evidence = |name: &str| {
        let mut all = finding.evidence.iter();
        all.find(|evidence| evidence.name == name)
            .expect(name)
            .value
    };
    assert!((evidence("USD a month") - month).abs() < 1e-9);
    assert!((evidence("USD per 1,000 IOPS") - month / 5.0).abs() < 1e-9);
    assert!(
        finding.statement.contains("ap-northeast-1"),
        "{}",
        finding.statement
    );
    assert_eq!(rule(&audit(None), "price-audit"), None, "no price is known");
    // The story: of a region in China, amounts in CNY were called USD.
    let in_china = blocklab_catalog::unit_price::Priced {
        money: "CNY",
        ..priced.clone()
    };
    let found = audit(Some(&in_china));
    let finding = rule(&found, "price-audit").expect("the rule speaks");
    let statement = &finding.statement;
    assert!(statement.contains(" CNY per IOPS"), "{statement}");
    assert!(!statement.contains("USD"), "{statement}");
}

/// Lets nothing complete in these seconds, and `ios` reads in each of the others.
fn stall(record: &mut Record, seconds: Range<usize>, ios: u64) {
    for measurement in &mut record.measurements {
        for (second, slice) in measurement.series.iter_mut().enumerate() {
            slice.read.ios = if seconds.contains(&second) { 0 } else { ios };
            slice.read.max_ns = 3_000_000_000;
        }
    }
}

/// A pause of 3 s in 15 s gives 80 %: that is no promise of a vendor's, and no limit of another day.
#[test]
fn an_interruption_explains_what_is_missing() {
    let mut record = record(&[Sketch {
        seconds: 15,
        ..case(4, 4800.0)
    }]);
    stall(&mut record, 6..9, 6000);
    let found = against(&record, LARGE);
    assert!(rule(&found, "standstill").is_some());
    for silent in ["under-delivery", "below-documented-limit", "unit-slip"] {
        assert_eq!(rule(&found, silent), None, "{silent}");
    }
    let compared = found.expected.expect("a comparison");
    assert_eq!(compared.cases[0].why, Why::Interrupted);
}

/// The limits of 2017 were dated to 2012, when I3 was not sold.
#[test]
fn the_day_of_limits_lies_in_the_life_of_the_type() {
    let words = "fit the limits as they were on 2017-02-01";
    let today = "local@i3.xlarge";
    speaks(writes(4, 18_750.0), today, "limit-of-another-date", words);
}

/// A stall of 3 s in 30 s: the case was "as expected, but for an interruption", and the limit that it
/// reached before and after was "missed".
#[test]
fn a_limit_is_interrupted_where_its_case_is() {
    let mut record = record(&[Sketch {
        seconds: 30,
        ..case(4, 2700.0)
    }]);
    stall(&mut record, 10..13, 3000);
    let compared = against(&record, "gp3:100GiB").expected;
    let compared = compared.expect("a comparison");
    assert_eq!(compared.cases[0].why, Why::Interrupted);
    assert_eq!(compared.limits[0].state, State::Interrupted);
}

fn why(record: &Record, address: &str) -> Why {
    let compared = against(record, address).expected;
    compared.expect("a comparison").cases[0].why.clone()
}

/// Gives each pass a model: `ios` operations of `block` bytes with `depth` in flight, which waited for the
/// limit during half of their time in the device.
fn hold_back(record: &mut Record, limit: &LimitName, [ios, block]: [u64; 2], depth: u64) {
    for pass in &mut record.measurements {
        let in_device_ns = pass.elapsed_ns * depth;
        let limits = vec![LimitUse {
            limit: limit.clone(),
            targets: vec![0],
            units: ios,
            busiest_units: None,
            waited_ns: in_device_ns / 2,
            emptied_at_ns: Vec::new(),
        }];
        let targets = vec![TargetUse {
            target: 0,
            ios,
            bytes: ios * block,
            in_device_ns,
        }];
        pass.model = Some(Box::new(ModelUse { targets, limits }));
    }
}

/// A simulated disk of 200 MiB/s, sold as one of 537 of which no latency is published: the record
/// knew that its limit held it back, and the case was "latency-bound".
#[test]
fn what_a_limit_held_back_was_not_held_back_by_latency() {
    let address = "st1:16TiB";
    let mut record = record(&[Sketch {
        depth: 8,
        ..case(1024, 200.0)
    }]);
    let limit = resolved(address).spec.limits()[0].clone();
    record.targets[0].limits = vec![limit.clone()];
    assert_eq!(why(&record, address), Why::Latency);
    hold_back(&mut record, &limit.name, [200 * 60, 1 << 20], 8);
    assert_eq!(why(&record, address), Why::Below);
}

/// The story: a simulated gp3 of 4,000 IOPS was compared with one of 6,000. The record knew what its
/// operations waited for, and the advice was to test with more in flight.
#[test]
fn a_lower_setting_that_a_record_names_explains_its_rate() {
    let mut record = record(&[case(4, 4000.0)]);
    record.targets[0].limits = resolved("gp3:500GiB,iops=4000").spec.limits();
    let limits = record.targets[0].limits.iter();
    let mut by_iops = limits.filter(|limit| limit.name.to_string() == "gp3: volume IOPS");
    let name = by_iops.next().expect("a limit of a gp3").name.clone();
    hold_back(&mut record, &name, [4000 * 60, 4096], 256);
    let why = why(&record, "gp3:500GiB,iops=6000");
    assert!(
        matches!(why, Why::OtherSetting { recorded, promised, .. } if (recorded, promised) == (4000.0, 6000.0)),
        "{why:?}"
    );
}

/// The story: a simulated volume of 4,000 IOPS passed for one of 6,000 as soon as so few operations were
/// in flight that the latency of the address allowed less than 6,000: the case was "latency-bound",
/// although the record knew the limit that its operations waited for.
#[test]
fn a_limit_below_the_rate_of_the_latency_explains_a_shallow_load() {
    let held = |iops: f64, depth: u32, of_limit: f64, address: &str| {
        let mut record = record(&[Sketch {
            depth,
            ..case(4, iops)
        }]);
        let mut limits = resolved("gp3:500GiB,iops=4000").spec.limits();
        limits.retain(|limit| limit.name.to_string() == "gp3: volume IOPS");
        limits[0].value = of_limit;
        let name = limits[0].name.clone();
        record.targets[0].limits = limits;
        let before = why(&record, address);
        hold_back(
            &mut record,
            &name,
            [iops as u64 * 60, 4096],
            u64::from(depth),
        );
        (before, why(&record, address))
    };
    let (unknown, known) = held(4000.0, 3, 4000.0, "gp3:500GiB,iops=6000");
    assert_eq!(unknown, Why::Latency);
    let is_named = matches!(known, Why::OtherSetting { recorded, .. } if recorded == 4000.0);
    assert!(is_named, "{known:?}");
    // A little less than the latency gives, and just what the type gives without settings.
    let (unknown, known) = held(3000.0, 2, 3000.0, "gp3:500GiB,iops=6000");
    assert_eq!((unknown, known), (Why::Latency, Why::DefaultSettings));
    // A device that is quicker than the model meets the limit that was sold.
    let quick = held(16_000.0, 8, 16_000.0, "gp3:1TiB,iops=16000");
    assert_eq!(quick, (Why::Latency, Why::Latency));
}

/// What fio does by default: it hits every block once. Such runs were "not comparable with
/// documents", so that an io1 of 4,000 IOPS passed for one of 5,000.
#[test]
fn random_operations_are_compared_whether_or_not_a_block_is_hit_twice() {
    let mut record = record(&[case(4, 4000.0)]);
    for pass in &mut record.measurements {
        let every_block_once = true;
        pass.jobs[0].pattern = Some(Pattern::Random { every_block_once });
    }
    assert_eq!(why(&record, "io1:500GiB,iops=4000"), Why::AsExpected);
    assert_eq!(why(&record, "io1:500GiB,iops=5000"), Why::Below);
}

/// A case that was not compared did not say what kept it from being.
#[test]
fn what_keeps_a_case_from_being_compared_is_told() {
    let obstacle = |change: fn(&mut Record)| {
        let mut record = record(&[case(4, 3000.0)]);
        change(&mut record);
        let compared = against(&record, "gp3:1TiB").expected;
        compared.expect("a comparison").cases[0].obstacle
    };
    for (change, expected) in [
        ((|_| {}) as fn(&mut Record), None),
        (
            |record| jobs(record).for_each(|job| job.requested_iops = Some(3000.0)),
            Some(Obstacle::Paced),
        ),
        (
            |record| jobs(record).for_each(|job| job.pattern = Some(Pattern::Zipf { theta: 1.2 })),
            None,
        ),
        (
            // A gp3 merges small operations that follow each other.
            |record| jobs(record).for_each(|job| job.pattern = Some(Pattern::PercentRandom(50))),
            Some(Obstacle::Pattern),
        ),
        (
            |record| {
                for pass in &mut record.measurements {
                    let mut log = pass.jobs[0].clone();
                    log.pattern = Some(Pattern::Sequential);
                    pass.jobs.push(log);
                }
            },
            Some(Obstacle::SeveralPatterns),
        ),
        (
            |record| {
                jobs(record).for_each(|job| {
                    let synced = job.directions[&Direction::Read].clone();
                    job.directions.insert(Direction::Sync, synced);
                })
            },
            Some(Obstacle::OtherOperations),
        ),
    ] {
        assert_eq!(obstacle(change), expected);
    }
    // A skewed load prefers one of two volumes.
    let mut skewed = record(&[case(4, 3000.0)]);
    jobs(&mut skewed).for_each(|job| job.pattern = Some(Pattern::Zipf { theta: 1.2 }));
    let compared = against(&skewed, "2xgp3:1TiB")
        .expected
        .expect("a comparison");
    assert_eq!(compared.cases[0].obstacle, Some(Obstacle::Pattern));
    // Azure merges nothing.
    let mut half = record(&[case(4, 5000.0)]);
    jobs(&mut half).for_each(|job| job.pattern = Some(Pattern::PercentRandom(50)));
    assert_eq!(why(&half, "azure/P30@D8s_v3"), Why::AsExpected);
}

fn jobs(record: &mut Record) -> impl Iterator<Item = &mut blocklab_record::JobResult> {
    let passes = record.measurements.iter_mut();
    passes.flat_map(|pass| &mut pass.jobs)
}

/// The misses of a cache that the address names were "a heavy tail".
#[test]
fn misses_of_a_cache_that_was_bought_are_no_tail() {
    let record = record(&[Sketch {
        spread: &[(0.5, 0.6), (0.6, 0.38), (25.0, 0.02)],
        ..Sketch::default()
    }]);
    for (address, expected) in [
        ("azure/P30,cache=readonly,hits=80%@D8s_v3", false),
        ("azure/P30@D8s_v3", true),
    ] {
        let has_tail = rule(&against(&record, address), "heavy-tail").is_some();
        assert_eq!(has_tail, expected, "{address}");
    }
}

/// A load that asked for 20,000 IOPS and got the 3,000 of its volume was not compared, since a rate had
/// been requested.
#[test]
fn a_rate_beyond_every_limit_asks_for_all_there_is() {
    let mut record = record(&[case(4, 3000.0)]);
    jobs(&mut record).for_each(|job| job.requested_iops = Some(20_000.0));
    assert_eq!(why(&record, "gp3:1TiB"), Why::AsExpected);
    assert_eq!(why(&record, "gp3:1TiB,iops=6000"), Why::DefaultSettings);
    // This one would have carried more than was asked of it, and was asked for all that it gave.
    let compared = |requested| {
        let mut record = record.clone();
        jobs(&mut record).for_each(|job| job.requested_iops = Some(requested));
        let compared = against(&record, "io2:1TiB,iops=32000").expected;
        let compared = compared.expect("a comparison");
        let [case] = &compared.cases[..] else {
            panic!("{compared:?}");
        };
        (case.obstacle, case.expected_iops)
    };
    assert_eq!(compared(3050.0), (Some(Obstacle::Paced), None));
    // A rate of 5,000 that the address carries and of which 3,000 came was not compared.
    assert_eq!(compared(5000.0), (None, Some(5000.0)));
}

/// The story: a load that asked a volume of 3,000 IOPS for 5,000, and got them, was not compared, since
/// a rate had been requested.
#[test]
fn a_requested_rate_above_every_limit_is_compared_where_it_was_delivered() {
    let compared = |iops: f64, address: &str| {
        let mut record = record(&[case(4, iops)]);
        jobs(&mut record).for_each(|job| job.requested_iops = Some(iops));
        let compared = against(&record, address);
        let expected = compared.expected.as_ref().expect("a comparison");
        let warned = rule(&compared, "above-every-limit").is_some();
        (
            expected.cases[0].why.clone(),
            expected.limits[0].state,
            warned,
        )
    };
    let above = (Why::Above, State::Exceeded, true);
    assert_eq!(compared(5000.0, "gp3:1TiB"), above);
    // Of a rate that the limit allows, or what a burst allows, nothing can be said.
    let untested = (Why::NotComparable, State::NotTested, false);
    assert_eq!(compared(3000.0, "gp3:1TiB"), untested);
    assert_eq!(compared(2000.0, "gp3:1TiB"), untested);
    assert_eq!(compared(2500.0, "gp2:100GiB"), untested);
    // 16,000 of the 16,000 of another type: what was requested names no type.
    let mut record = record(&[case(4, 16_000.0)]);
    jobs(&mut record).for_each(|job| job.requested_iops = Some(16_000.0));
    assert_eq!(why(&record, "gp3:1TiB"), Why::Above);
}
