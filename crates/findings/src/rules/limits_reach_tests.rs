//! What a limit has to do with the rate of a case: jobs that run at other times, writes that pass it later,
//! and how much more there would be without it.

use super::*;
use crate::testing::model::{credits, gp3, limit, rate, reads, simulated, volume_iops};
use crate::testing::{Sketch, found, silent, the};
use blocklab_device::{Covers, LimitKind, LimitUnit};

fn statement(record: &Record, rule: &str) -> String {
    the(record, rule).statement
}

/// The story: a job that began 24 s after the other met the limit for 6 s, and each job had its rate over
/// its own time: "2,000 IOPS is the limit; the rate is 131 % of it".
#[test]
fn the_rate_of_jobs_at_different_times_is_that_of_all_the_time() {
    let mut record = simulated(&[gp3(0.8, 0.0)], &[reads("a", 3000.0, 4, 32)]);
    for pass in &mut record.measurements {
        let mut late = pass.jobs[0].clone();
        late.name = "late".to_owned();
        late.elapsed_ns /= 2;
        pass.jobs.push(late);
        let model = pass.model.as_mut().expect("simulated");
        model.targets[0].ios *= 2;
        model.limits[0].units *= 2;
    }
    let found = statement(&record, "at-limit");
    assert!(found.contains("; the rate is 100 % of it"), "{found}");
    assert!(!found.contains("it counts"), "{found}");
    // One that begins when half of the time of the other is over lasts as long beyond its end.
    for pass in &mut record.measurements {
        let mut beyond = pass.series.clone();
        beyond.truncate(pass.series.len() / 2);
        pass.series.extend(beyond);
        pass.jobs[1].elapsed_ns *= 2;
        for moved in pass.jobs[1].directions.values_mut() {
            moved.ios *= 2;
        }
        let model = pass.model.as_mut().expect("simulated");
        model.targets[0].ios = model.targets[0].ios / 2 * 3;
        model.limits[0].units = model.limits[0].units / 2 * 3;
    }
    let found = statement(&record, "at-limit");
    assert!(found.contains("; the rate is 100 % of it"), "{found}");
}

/// The story: three jobs, of which one began 3 s after the others, gave 89,597 IOPS, each over its own time, and
/// "about 76 in flight would reach 80,000 IOPS", of all the time.
#[test]
fn jobs_at_different_times_are_not_told_what_more_in_flight_reaches() {
    let is_told = |times_as_short: u64| {
        let mut record = simulated(&[gp3(0.0, 0.0)], &[reads("a", 1000.0, 4, 32)]);
        for pass in &mut record.measurements {
            let mut late = pass.jobs[0].clone();
            late.name = "late".to_owned();
            late.elapsed_ns /= times_as_short;
            pass.jobs.push(late);
            let model = pass.model.as_mut().expect("simulated");
            model.targets[0].ios *= 2;
            model.limits[0].units *= 2;
        }
        statement(&record, "latency-bound").contains("in flight to reach")
    };
    assert!(is_told(1) && !is_told(2));
}

/// The story: two in flight gave 6,180 of 6,000 IOPS, and "more operations take a volume with a higher
/// limit". A limit three times as high gave 6,420.
#[test]
fn just_enough_in_flight_gets_hardly_more_from_a_higher_limit() {
    let found = |waited| {
        let record = simulated(&[gp3(waited, 0.0)], &[reads("a", 6000.0, 4, 4)]);
        the(&record, "at-limit")
    };
    let just_enough = found(0.05);
    assert_eq!(
        just_enough.statement,
        "a: 6,000 IOPS is the limit, documented for gp3: volume IOPS; the rate is 100 % of it; \
         without it, 4 in flight would give 6,316 IOPS at most."
    );
    let advice = just_enough.advice.expect("an advice");
    assert!(
        advice.ends_with("and more operations in flight."),
        "{advice}"
    );
    // On both sides of [`CLOSE`].
    assert!(found(0.09).statement.contains("without it"));
    assert!(!found(0.11).statement.contains("without it"));
    // A load with a rate keeps as many in flight as it takes.
    let mut paced = simulated(&[gp3(0.05, 0.0)], &[reads("a", 6000.0, 4, 4)]);
    for pass in &mut paced.measurements {
        pass.jobs[0].requested_iops = Some(9000.0);
    }
    assert!(!statement(&paced, "at-limit").contains("without it"));
}

/// The story: a volume that was slow for its first 15 s met its limit in the 45 s after: "13 in flight would
/// do", on average. 13 gave 83 % of it, as the slow time took all of the 64.
#[test]
fn what_is_in_service_on_average_is_enough_for_a_steady_limit_only() {
    let would_do = |iops| {
        let record = simulated(&[gp3(0.9, 0.0)], &[reads("a", iops, 4, 32)]);
        statement(&record, "at-limit").contains("would do")
    };
    // On both sides of [`NEAR`].
    assert!(would_do(5900.0));
    assert!(!would_do(5800.0));
}

/// The story: reads beside writes at the limit of a local disk: "1 in flight would do". One gave 81 % of it, as
/// it was away for 0.9 of the time.
#[test]
fn what_would_do_keeps_the_limit_busy() {
    let found = |waited| {
        let record = simulated(&[gp3(waited, 0.0)], &[reads("a", 6000.0, 4, 10)]);
        statement(&record, "at-limit")
    };
    assert!(found(0.91).contains("; 2 in flight would do, 10 only wait longer"));
    assert!(found(0.96).contains("; 1 in flight would do"));
}

/// The story: half of a load waited for its limit of writes, and nearly all the rest for flash under them: "10 in
/// flight would do, 116 only wait longer". Ten gave less than half.
#[test]
fn what_waits_elsewhere_as_well_is_not_told_how_many_would_do() {
    let would_do = |here, elsewhere| {
        let record = simulated(&[gp3(here, elsewhere)], &[reads("a", 6000.0, 4, 64)]);
        statement(&record, "at-limit").contains("would do")
    };
    // On both sides of [`CLOSE`].
    assert!(would_do(0.82, 0.08) && !would_do(0.78, 0.12));
}

/// The story: of 68 in flight, 51 waited for a limit and 5 for flash under writes, and "13 in flight would do".
/// Thirteen gave 78 % of it, as they waited for the flash as well.
#[test]
fn what_would_do_waits_elsewhere_as_well() {
    let record = simulated(&[gp3(0.8, 0.08)], &[reads("a", 6000.0, 4, 100)]);
    let found = statement(&record, "at-limit");
    assert!(
        found.contains("; 21 in flight would do, 100 only"),
        "{found}"
    );
}

/// The story: a job at a limit of its writes beside readers that hardly waited: "without it, 83 in flight would
/// give 68,973 IOPS at most". They gave 108,897.
#[test]
fn beside_another_job_no_most_is_told() {
    let mut record = simulated(&[gp3(0.05, 0.0)], &[reads("a", 3000.0, 4, 4)]);
    for pass in &mut record.measurements {
        let beside = pass.jobs[0].clone();
        pass.jobs.push(beside);
        let model = pass.model.as_mut().expect("simulated");
        model.targets[0].ios *= 2;
        model.limits[0].units *= 2;
    }
    let found = statement(&record, "at-limit");
    assert!(!found.contains("without it"), "{found}");
}

/// The story: a write-back cache of 400 MB/s in front of a disk of 1,000 IOPS: "1,000 IOPS is the limit; the
/// rate is 305 % of it", and more took a disk with a higher limit. What the cache wrote in the background
/// passed the limit of the disk later.
#[test]
fn a_limit_that_is_passed_later_holds_nothing_back() {
    // 17,000 of the 6,000 IOPS, and all of the 500 MiB/s.
    let record = simulated(&[gp3(0.0, 0.5)], &[reads("a", 17_000.0, 30, 32)]);
    let found = statement(&record, "at-limit");
    assert!(found.starts_with("a: 500 MiB/s is the limit"), "{found}");
    assert!(!found.contains("next is"), "{found}");
    let shallow = simulated(&[gp3(0.0, 0.0)], &[reads("a", 12_000.0, 4, 2)]);
    let found = statement(&shallow, "latency-bound");
    assert!(found.contains("in flight to reach 500 MiB/s"), "{found}");
}

/// Credits that run empty for writes in the background have no effect on a run that ends before the cache
/// is full.
#[test]
fn credits_for_which_nothing_waited_were_not_used_up() {
    let used_up = |waited: f64, requested: Option<f64>| {
        let credits = credits("gp2", Some(1), [300.0, 3000.0, 5.4e6], LimitUnit::Iops);
        let shares = credits.into_iter().zip([waited, 0.0, 0.0]).collect();
        let long = Sketch {
            seconds: 60,
            ..reads("a", 1000.0, 4, 32)
        };
        let mut record = simulated(&[shares], &[long]);
        record.measurements.truncate(1);
        record.measurements[0].jobs[0].requested_iops = requested;
        let model = record.measurements[0].model.as_mut().expect("simulated");
        model.limits[0].emptied_at_ns = vec![20_000_000_000];
        record
    };
    the(&used_up(0.6, None), "credits-used-up");
    silent(&used_up(0.0, None), "credits-used-up");
    // The story: 965 IOPS were requested and delivered, and a warning told to use a lower level.
    silent(&used_up(0.6, Some(1000.0)), "credits-used-up");
    the(&used_up(0.6, Some(1100.0)), "credits-used-up");
}

/// The story: readers at 3,000 IOPS of reads and writers at 1,500 of writes had the limit of writes alone, next
/// to which the reads were used up, and more was to take both.
#[test]
fn limits_that_hold_different_operations_are_both_named() {
    let held = |other: f64| {
        let record = simulated(&[gp3(0.45, other)], &[reads("a", 6000.0, 85, 64)]);
        found(&record, "at-limit")
    };
    let both = held(0.3);
    assert_eq!(both.len(), 2, "{both:?}");
    assert!(both.iter().all(|one| !one.statement.contains("next is")));
    let advice = both[0].advice.as_deref();
    assert!(advice.is_some_and(|advice| !advice.contains("both limits")));
    // On both sides of [`HELD`](crate::held): one that hardly holds is next.
    let [one] = &held(0.2)[..] else {
        panic!("one limit");
    };
    assert!(one.statement.contains("next is"), "{}", one.statement);
}

/// The story: writes came to their machine all at once and waited longest for it, of which they used 22 %, and
/// their volumes were used to 99 %: "303 MiB/s is the limit for a part of the time". Twice as much gave nothing.
#[test]
fn a_limit_that_holds_throughout_leaves_nothing_to_one_that_holds_for_a_while() {
    let named = |kib| {
        let record = simulated(&[gp3(0.6, 0.1)], &[reads("a", 3000.0, kib, 32)]);
        statement(&record, "at-limit")
    };
    assert!(named(170).starts_with("a: 500 MiB/s is the limit, "));
    // On both sides of [`NEAR`].
    assert!(named(165).starts_with("a: 6,000 IOPS is the limit for a part of the time, "));
    // What one of them does not count may wait for the other.
    let named = |covers| {
        let of = |limiter: &str, covers, value| {
            let limiter = limiter.to_owned();
            let kind = LimitKind::Rate { limiter, covers };
            limit("disk", Some(1), kind, value, LimitUnit::Iops)
        };
        let throughout = (of("first", Covers::Reads, 3000.0), 0.1);
        let for_a_while = (of("second", covers, 6000.0), 0.6);
        let record = simulated(
            &[vec![throughout, for_a_while]],
            &[reads("a", 3000.0, 4, 32)],
        );
        statement(&record, "at-limit")
    };
    assert!(named(Covers::All).starts_with("a: 3,000 IOPS is the limit, "));
    assert!(named(Covers::Writes).starts_with("a: 6,000 IOPS is the limit for a part"));
}

/// The story: a gp2 of 300 IOPS took 300 reads of 256 KiB a second, and larger blocks were to move more bytes.
/// Of 512 KiB it took 150.
#[test]
fn blocks_of_the_largest_unit_are_not_made_larger() {
    let advice = |kib| {
        let record = simulated(&[gp3(0.8, 0.0)], &[reads("a", 6000.0, kib, 32)]);
        the(&record, "at-limit").advice.expect("an advice")
    };
    assert!(advice(16).contains("Larger blocks"));
    // On both sides of [`LARGEST_UNIT`].
    assert!(advice(255).contains("Larger blocks"));
    assert!(!advice(256).contains("Larger blocks"));
}

/// The story: reads of 512 KiB on two volumes in stripes of 256 KiB, of which each part waited for its own
/// volume: "1 in flight would do". One gave 867 of 2,033.
#[test]
fn parts_that_wait_at_the_same_time_are_not_counted_as_one() {
    assert!(!would_do_of(2, 2, 0.95, 256));
    assert!(!would_do_of(2, 1, 1.9, 256));
    assert!(would_do_of(2, 1, 0.95, 256));
    // One volume that counts an operation twice has one wait for it.
    assert!(would_do_of(1, 2, 0.95, 64));
}

/// The story: 224 writes in flight on four volumes of 10 MiB/s each: "4 in flight would do". Four gave 65 % of it,
/// as they did not fall evenly on the volumes.
#[test]
fn what_fills_several_volumes_is_more_than_what_is_in_service() {
    // 9 and 8 in flight, of two volumes 9 / 10 and 8 / 9 of all: on both sides of [`CLOSE`].
    assert!(would_do_of(2, 1, 0.9, 82));
    assert!(!would_do_of(2, 1, 0.9, 72));
    assert!(would_do_of(1, 1, 0.9, 72));
}

/// Whether a load at the limit of its volumes is told how many in flight would do. `parts`: of each operation;
/// `waited`: the share of its time for which it waits for the limit.
fn would_do_of(volumes: u32, parts: u64, waited: f64, depth: u32) -> bool {
    let mut limit = volume_iops(3000.0);
    limit.name.volumes = Some(volumes);
    let iops = 3000.0 * f64::from(volumes) / parts as f64;
    let mut record = simulated(&[vec![(limit, waited)]], &[reads("a", iops, 4, depth)]);
    for pass in &mut record.measurements {
        pass.model.as_mut().expect("simulated").limits[0].units *= parts;
    }
    statement(&record, "at-limit").contains("would do")
}

/// The story: a burst of bytes held for the first 20 s, and then another bucket was empty: "48 MiB/s is the
/// limit; the rate is 71 % of it".
#[test]
fn a_burst_that_held_for_a_part_of_the_time_says_so() {
    let partly = |iops| {
        let credits = credits("gp2", Some(1), [300.0, 3000.0, 5.4e6], LimitUnit::Iops);
        let shares = credits.into_iter().zip([0.0, 0.4, 0.0]).collect();
        let record = simulated(&[shares], &[reads("a", iops, 4, 32)]);
        statement(&record, "at-limit").contains("for a part of the time, documented for gp2")
    };
    // On both sides of [`PARTLY`].
    assert!(partly(2600.0) && !partly(2800.0));
}

/// A device that serves four operations at a time, and a limit of 12,000 IOPS behind that queue; the
/// operations wait for either for these shares of all their time in the device.
fn queued(shares: [f64; 2]) -> Record {
    let queue = limit(
        "disk",
        Some(1),
        blocklab_device::LimitKind::QueueDepth,
        4.0,
        LimitUnit::Operations,
    );
    let cap = limit("disk", Some(1), rate("IOPS"), 12_000.0, LimitUnit::Iops);
    let mut record = simulated(
        &[vec![(cap.clone(), 0.0), (queue.clone(), 0.0)]],
        &[reads("a", 4800.0, 4, 128)],
    );
    for pass in &mut record.measurements {
        let model = pass.model.as_mut().expect("simulated");
        let in_device_ns = model.targets[0].in_device_ns as f64;
        let ios = model.targets[0].ios;
        model.limits = [&cap, &queue]
            .into_iter()
            .zip(shares)
            .map(|(limit, share)| blocklab_record::LimitUse {
                targets: vec![0],
                limit: limit.name.clone(),
                units: ios,
                busiest_units: None,
                waited_ns: (in_device_ns * share) as u64,
                emptied_at_ns: Vec::new(),
            })
            .collect();
    }
    record
}

/// The story: 128 in flight on a device that serves four at a time were told that "latency is the limit;
/// about 345 in flight would reach 12,000 IOPS". They would only wait longer.
#[test]
fn the_queue_of_a_device_is_a_limit() {
    let record = queued([0.0, 0.97]);
    let found = the(&record, "at-limit");
    assert_eq!(
        found.statement,
        "a: 4 operations in service at a time is the limit, documented for disk: queue depth."
    );
    assert!(
        found
            .advice
            .is_some_and(|advice| advice.starts_with("More load only waits"))
    );
    silent(&record, "latency-bound");
    // What waits for the other limit holds its place, and so fills the queue.
    let found = statement(&queued([0.02, 0.97]), "at-limit");
    assert!(found.starts_with("a: 12,000 IOPS is the limit"), "{found}");
}

/// The story: reads of 512 KiB on two volumes in stripes of 256 KiB, each of which serves one operation at a
/// time. The two parts of a read wait at the same time, together for longer than the read takes, and the
/// limit was "1,890 MB/s for a part of the time; the rate is 28 % of it", for which hardly anything waited.
#[test]
fn parts_wait_in_queues_at_the_same_time() {
    let mut record = queued([0.0001, 1.97]);
    for pass in &mut record.measurements {
        pass.model.as_mut().expect("simulated").limits[1].units *= 2;
    }
    let statements: Vec<String> = found(&record, "at-limit")
        .into_iter()
        .map(|one| one.statement)
        .collect();
    assert!(!statements.is_empty());
    for statement in statements {
        assert!(statement.contains("4 operations in service"), "{statement}");
    }
}

/// The story: a volume ran out of credits after 3.5 s and its machine after 5.4 s, from when on the machine
/// held everything back: the finding named the volume, which a higher limit would not have made faster.
#[test]
fn of_two_empty_buckets_the_one_that_held_longer_is_named() {
    let named = |waits: [f64; 2]| {
        let full =
            |owner, volumes| credits(owner, volumes, [300.0, 3000.0, 5.4e6], LimitUnit::Iops);
        let volume = full("gp2", Some(1)).into_iter().zip([waits[0], 0.0, 0.0]);
        let machine = full("m5.large", None).into_iter().zip([waits[1], 0.0, 0.0]);
        let long = Sketch {
            seconds: 60,
            ..reads("a", 1000.0, 4, 32)
        };
        let mut record = simulated(&[volume.chain(machine).collect()], &[long]);
        let model = record.measurements[0].model.as_mut().expect("simulated");
        for (used, seconds) in model.limits.iter_mut().step_by(2).zip([20, 30]) {
            used.emptied_at_ns = vec![seconds * 1_000_000_000];
        }
        statement(&record, "credits-used-up")
    };
    assert!(named([0.6, 0.1]).contains("after 20.0 s"));
    assert!(named([0.1, 0.6]).contains("after 30.0 s"));
}

/// The story: a volume whose credits were spent before the run was told that 17 in flight would reach its
/// burst, or the next limit beyond. The baseline held from 5 in flight on. And of a load whose credits lasted
/// nearly to its end: "that is 533 % of 300 IOPS, so more in flight gives no more".
#[test]
fn the_baseline_is_the_next_limit_where_credits_are_spent() {
    let next = |iops: f64, emptied: &[u64]| {
        let credits = credits("gp2", Some(1), [300.0, 3000.0, 5.4e6], LimitUnit::Iops);
        let shares = credits.into_iter().zip([0.001, 0.0, 0.0]).collect();
        let mut record = simulated(&[shares], &[reads("a", iops, 4, 2)]);
        for pass in &mut record.measurements {
            let model = pass.model.as_mut().expect("simulated");
            model.limits[0].emptied_at_ns = emptied.to_vec();
        }
        statement(&record, "latency-bound")
    };
    assert!(next(150.0, &[0]).contains("at least 4 in flight to reach 300 IOPS"));
    assert!(next(150.0, &[]).contains("at least 40 in flight to reach 3,000 IOPS"));
    assert!(next(1600.0, &[29_900_000_000]).contains("at least 4 in flight to reach 3,000 IOPS"));
}

/// The story: reads among writes to a local disk waited for flash under programs: "825,000 IOPS is the limit for
/// a part of the time; the rate is 4 % of it". A quarter of the writes gave 2.7 times the reads.
#[test]
fn reads_behind_programs_are_not_at_the_maximum_of_reads() {
    let of_reads = |iops: f64, beside_writes: bool| {
        let kind = blocklab_device::LimitKind::PhysicalMaximum {
            covers: Covers::Reads,
        };
        let medium = limit("local NVMe", Some(1), kind, 100_000.0, LimitUnit::Iops);
        let mut record = simulated(&[vec![(medium, 0.7)]], &[reads("a", iops, 4, 32)]);
        for pass in record.measurements.iter_mut().filter(|_| beside_writes) {
            let job = &mut pass.jobs[0];
            let writes = job.directions[&Direction::Read].clone();
            job.directions.insert(Direction::Write, writes);
            pass.model.as_mut().expect("simulated").targets[0].ios *= 2;
        }
        the(&record, "at-limit")
    };
    let found = of_reads(4000.0, true);
    assert!(
        found.statement.starts_with(
            "a: flash that programs what is written is the limit: reads wait for it for 70 % of the time"
        ),
        "{}",
        found.statement
    );
    assert!(
        found
            .advice
            .is_some_and(|advice| advice.contains("fewer or smaller writes"))
    );
    let alone = of_reads(4000.0, false).statement;
    assert!(alone.starts_with("a: 100,000 IOPS is the limit"), "{alone}");
    // On both sides of [`PLAUSIBLE`].
    assert!(of_reads(69_000.0, true).statement.contains("programs"));
    assert!(!of_reads(71_000.0, true).statement.contains("programs"));
}

/// The story: a joined disk of two unlike volumes, of which one had a queue: what came past it to the other waited
/// for a limit for 0.9 % of the time, which was compared with the time after that queue: "368 MB/s is the limit;
/// the rate is 18 % of it".
#[test]
fn a_queue_is_before_the_limits_of_its_own_volume() {
    let named = |owner: &str| {
        let mut record = queued([0.009, 0.982]);
        record.targets[0].limits[0].name.owner = owner.to_owned();
        for pass in &mut record.measurements {
            let model = pass.model.as_mut().expect("simulated");
            model.limits[0].limit.owner = owner.to_owned();
        }
        statement(&record, "at-limit")
    };
    assert!(named("disk").starts_with("a: 12,000 IOPS is the limit"));
    assert!(named("another").starts_with("a: 4 operations in service at a time"));
}

/// The story: 4 in flight waited a quarter of their time for a limit, which doubled gave a third more, and "latency
/// is the limit" had no word of it.
#[test]
fn a_limit_that_is_felt_is_named_beside_the_latency() {
    let felt = |waited| {
        let record = simulated(&[gp3(0.0, waited)], &[reads("a", 3000.0, 4, 4)]);
        let found = statement(&record, "latency-bound");
        found.contains(" % of the latency is a wait for gp3: volume throughput; it takes")
    };
    // On both sides of [`FELT`](crate::rules::depth).
    assert!(felt(0.11) && !felt(0.09));
}
