use super::*;
use crate::testing::model::volume_iops;
use crate::testing::model::{credits, gp3, instance_throughput, limit, rate, reads, simulated};
use crate::testing::{Sketch, found, silent, the};
use blocklab_device::{Limit, LimitUnit};
use blocklab_workload::{Case, Direction, Job, Plan};

fn statement(record: &Record, rule: &str) -> String {
    the(record, rule).statement
}

#[test]
fn the_limit_has_a_name_and_an_origin() {
    let by_iops = simulated(&[gp3(0.875, 0.0)], &[reads("rand4k-q32", 5990.0, 4, 32)]);
    assert_eq!(
        statement(&by_iops, "at-limit"),
        "rand4k-q32: 6,000 IOPS is the limit, documented for gp3: volume IOPS; the rate is \
         100 % of it; 5 in flight would do, 32 only wait longer."
    );
    let by_bytes = simulated(&[gp3(0.0, 0.2)], &[reads("rand128k-q5", 4000.0, 128, 5)]);
    assert_eq!(
        statement(&by_bytes, "at-limit"),
        "rand128k-q5: 500 MiB/s is the limit, documented for gp3: volume throughput; the \
         rate is 100 % of it."
    );
}

/// The story: whatever rate came within 2.5 % of a limit was called "at" it, also one that its
/// latency had brought there. Then "about 4 in flight would reach 6,000 IOPS" was the advice to a case
/// that had just these.
#[test]
fn the_rate_of_a_limit_without_a_wait_is_chance() {
    let record = simulated(&[gp3(0.0, 0.0)], &[reads("q4", 6000.0, 4, 4)]);
    silent(&record, "at-limit");
    assert_eq!(
        statement(&record, "latency-bound"),
        "q4: latency is the limit: 4 in flight, 667 µs each, gives 6,000 IOPS; that is 100 % of \
         6,000 IOPS, documented for gp3: volume IOPS, so more in flight gives no more."
    );
    let advice = the(&record, "latency-bound").advice;
    assert!(advice.is_some_and(|advice| advice.contains("both: more operations in flight")));
    // On both sides of [`NEAR`].
    let below = simulated(&[gp3(0.0, 0.0)], &[reads("q4", 5800.0, 4, 4)]);
    assert!(
        statement(&below, "latency-bound")
            .ends_with("it takes at least 5 in flight to reach 6,000 IOPS.")
    );
}

/// The story: 9,000 IOPS were requested of a disk that gives 20,000, and depth 4 gave 3,983. The
/// advice was the depth for all 20,000, more than twice what the request needs.
#[test]
fn the_depth_that_is_advised_reaches_the_requested_rate_and_no_more() {
    let requested = |iops: f64| {
        let mut record = simulated(&[gp3(0.0, 0.0)], &[reads("q4", 3000.0, 4, 4)]);
        for pass in &mut record.measurements {
            pass.jobs[0].requested_iops = Some(iops);
        }
        statement(&record, "latency-bound")
    };
    assert!(requested(4500.0).ends_with("at least 6 in flight to reach the 4,500 IOPS requested."));
    assert!(requested(9000.0).ends_with("at least 8 in flight to reach 6,000 IOPS."));
}

/// The story: with 64 KiB, 3,000 IOPS and 188 MiB/s are one limit. The finding named the operations and
/// advised larger blocks, which give nothing.
#[test]
fn a_limit_right_behind_the_first_is_named_with_it() {
    let record = |iops| simulated(&[gp3(0.8, 0.0)], &[reads("a", iops, 85, 32)]);
    let found = the(&record(6000.0), "at-limit");
    assert_eq!(
        found.statement,
        "a: 6,000 IOPS is the limit, documented for gp3: volume IOPS; the rate is 100 % of it; \
         next is gp3: volume throughput, used to 100 %; 7 in flight would do, 32 only wait longer."
    );
    assert!(
        found
            .advice
            .is_some_and(|advice| advice.contains("both limits are higher"))
    );
    // On both sides of [`CLOSE`]: 91 and 89 % of the throughput.
    let close = |kib| {
        let record = simulated(&[gp3(0.8, 0.0)], &[reads("a", 6000.0, kib, 32)]);
        statement(&record, "at-limit").contains("next is")
    };
    assert!(close(78) && !close(76));
}

/// Makes the operations limit count this many units for each operation.
fn charged(mut record: Record, units: f64) -> Record {
    for pass in &mut record.measurements {
        let limits = &mut pass.model.as_mut().expect("simulated").limits;
        limits[0].units = (limits[0].units as f64 * units) as u64;
    }
    record
}

/// The story: an io2 of 1,000 IOPS took 250 operations of 1 MiB a second, "1,000 IOPS is the limit; the
/// rate is 100 % of it", and the advice was larger blocks, which count for as much more.
#[test]
fn operations_that_count_otherwise_are_shown_as_they_count() {
    let advice = |record: &Record| the(record, "at-limit").advice.expect("an advice");
    let of = |iops| simulated(&[gp3(0.8, 0.0)], &[reads("a", iops, 4, 32)]);
    let split = charged(of(1500.0), 4.0);
    assert!(
        statement(&split, "at-limit")
            .contains("100 % of it; it counts 6,000 for 1,500 operations a second; "),
        "{}",
        statement(&split, "at-limit")
    );
    assert!(!advice(&split).contains("Larger blocks"));
    let merged = charged(of(48_000.0), 0.125);
    assert!(
        statement(&merged, "at-limit").contains("it counts 6,000 for 48,000 operations a second"),
        "{}",
        statement(&merged, "at-limit")
    );
    assert!(!statement(&of(6000.0), "at-limit").contains("counts"));
    assert!(advice(&of(6000.0)).contains("Larger blocks"));
}

/// The story: random reads of a part that lies on one of four volumes: "12,000 IOPS is the limit, given
/// for 4 x volume: IOPS; the rate is 25 % of it".
#[test]
fn one_volume_of_several_at_its_limit_is_told_from_all_of_them() {
    let four = limit("gp3", Some(4), rate("volume IOPS"), 3000.0, LimitUnit::Iops);
    let record = |iops: f64, busiest: f64| {
        let shares = vec![(four.clone(), 0.8)];
        let mut record = simulated(&[shares], &[reads("a", iops, 4, 64)]);
        for pass in &mut record.measurements {
            let used = &mut pass.model.as_mut().expect("simulated").limits[0];
            used.busiest_units = Some((used.units as f64 * busiest) as u64);
        }
        record
    };
    let found = the(&record(3300.0, 0.91), "at-limit");
    assert_eq!(
        found.statement,
        "a: 3,000 IOPS is the limit of the busiest of 4 volumes, documented for gp3: volume IOPS; its \
         rate is 100 % of it, and all together use 28 % of 12,000 IOPS."
    );
    assert!(
        found
            .advice
            .is_some_and(|advice| advice.contains("spread over all volumes"))
    );
    let even = statement(&record(12_000.0, 0.25), "at-limit");
    assert!(even.starts_with("a: 12,000 IOPS is the limit, "), "{even}");
    // The story: four volumes of which the busiest was full used 97 % of their limit, and a load spread over
    // all of them was to get more. On both sides of [`UNEVEN`](crate::held).
    let nearly_even = statement(&record(11_000.0, 0.27), "at-limit");
    assert!(!nearly_even.contains("busiest"), "{nearly_even}");
    assert!(statement(&record(10_700.0, 0.28), "at-limit").contains("busiest"));
}

/// The story: a device that was slow for half of a run was at its limit in the other half: "12,000 IOPS is
/// the limit; the rate is 60 % of it".
#[test]
fn a_limit_that_held_for_a_part_of_the_time_says_so() {
    let found = |iops| {
        let record = simulated(&[gp3(0.45, 0.0)], &[reads("a", iops, 4, 32)]);
        statement(&record, "at-limit")
    };
    let partly = found(3600.0);
    assert!(
        partly.starts_with(
            "a: 6,000 IOPS is the limit for a part of the time, documented for gp3: volume IOPS; the \
             rate is 60 % of it"
        ),
        "{partly}"
    );
    // On both sides of [`PARTLY`].
    assert!(found(5300.0).contains("for a part") && !found(5500.0).contains("for a part"));
}

/// The story: a load with `iodepth_low` let its queue run down to 8 of 32, and got 75 % of what a full queue
/// gets: "More load only adds latency; more operations take a volume with a higher limit".
#[test]
fn a_queue_that_runs_down_shall_be_kept_full() {
    let run = |lows: &[u32], iops: f64, waited: f64| {
        let mut record = simulated(&[gp3(waited, 0.0)], &[reads("a", iops, 4, 32)]);
        let jobs = lows.iter().map(|low| {
            let mut job = Job {
                depth: 32,
                ..Job::default()
            };
            job.batch.low = *low;
            job
        });
        let case = Case::new("a".to_owned(), 0, jobs.collect());
        record.requested.plan = Some(Plan::once("study", "", vec![case]));
        record
    };
    let advice = |lows: &[u32], iops| {
        let finding = the(&run(lows, iops, 0.45), "at-limit");
        finding.advice.expect("an advice")
    };
    assert!(advice(&[8], 4500.0).contains("kept full gives more"));
    assert!(!advice(&[0], 4500.0).contains("kept full"));
    // At the limit for the whole time, a fuller queue gives nothing.
    assert!(!advice(&[8], 6000.0).contains("kept full"));
    // Beside jobs that keep their queues full, one that does not gave 15 % less with a full one.
    assert!(!advice(&[8, 0], 4500.0).contains("kept full"));
    // The story: 2 in flight that ran down to 1 were to reach 20,000 IOPS with 12, and gave 13,870.
    let below = |low| statement(&run(&[low], 600.0, 0.0), "latency-bound");
    assert!(below(0).contains("to reach") && !below(8).contains("to reach"));
}

/// The story: 256 reads in flight on a medium of 55,000 a second: "5 in flight would do". Five gave 37,000,
/// because they do not meet all of its channels.
#[test]
fn a_medium_is_not_said_to_be_full_with_what_it_serves() {
    let kind = blocklab_device::LimitKind::PhysicalMaximum {
        covers: blocklab_device::Covers::Reads,
    };
    let maximum = limit("disk", Some(1), kind, 55_000.0, LimitUnit::Iops);
    let record = simulated(&[vec![(maximum, 0.9)]], &[reads("a", 55_000.0, 4, 256)]);
    assert_eq!(
        statement(&record, "at-limit"),
        "a: 55,000 IOPS is the limit, documented for disk: physical maximum (reads); the rate is \
         100 % of it."
    );
}

/// The story: a job that began ten seconds after the other had its 4,949 IOPS in the twenty seconds after,
/// and the sum was "109 % of it, by the second that it had saved up".
#[test]
fn more_than_a_second_can_save_up_is_not_called_that() {
    let found = |iops| {
        let sketch = Sketch {
            seconds: 30,
            ..reads("a", iops, 4, 32)
        };
        statement(&simulated(&[gp3(0.8, 0.0)], &[sketch]), "at-limit")
    };
    assert!(found(6300.0).contains("105 % of it, by the second that it had saved up"));
    assert!(
        found(6540.0).contains("109 % of it; 7 in flight"),
        "{}",
        found(6540.0)
    );
}

/// The story: 16 in flight whose completions were handled 16 at a time waited for the slowest of them. The
/// device had half of them on average, and no finding said that latency was the limit.
#[test]
fn a_slot_is_full_until_its_completion_is_handled() {
    let mut record = simulated(&[gp3(0.0, 0.0)], &[reads("a", 3000.0, 4, 16)]);
    for pass in &mut record.measurements {
        let model = pass.model.as_mut().expect("simulated");
        model.targets[0].in_device_ns /= 2;
    }
    let found = statement(&record, "latency-bound");
    assert!(
        found.starts_with("a: latency is the limit: 16 in flight, 5.33 ms each"),
        "{found}"
    );
}

/// The story: a trace of 60,000 operations overran its volume: "2 in flight would do, 60,000 only wait
/// longer". An open load chooses no depth.
#[test]
fn an_open_load_is_not_told_how_many_in_flight_would_do() {
    use blocklab_record::PaceKind;
    for (pace, told) in [(PaceKind::Closed, true), (PaceKind::Recorded, false)] {
        let mut record = simulated(&[gp3(0.875, 0.0)], &[reads("a", 6000.0, 4, 32)]);
        for pass in &mut record.measurements {
            pass.jobs[0].pace = pace;
        }
        let found = statement(&record, "at-limit");
        assert_eq!(found.contains("would do"), told, "{found}");
    }
}

/// The story: 16 in flight on an io2 of 64,000 gave 32,000, and the run was called good
/// without a word on the half that was paid for and not used.
#[test]
fn below_every_limit_latency_is_the_limit() {
    for depth in [1, 2, 3, 4, 8, 16] {
        let iops = f64::from(depth) * 2000.0;
        let volume = vec![(volume_iops(64_000.0), 0.0)];
        let record = simulated(&[volume], &[reads("io2", iops, 16, depth)]);
        let statement = statement(&record, "latency-bound");
        assert!(statement.contains("latency is the limit"), "{statement}");
        assert!(
            statement.ends_with("at least 32 in flight to reach 64,000 IOPS."),
            "{statement}"
        );
    }
}

/// On both sides of [`TOUCHED`](crate::held) and of [`HELD`](crate::held): at the rate of a limit
/// a hundredth of the time shows that it holds; elsewhere it takes a quarter.
#[test]
fn a_limit_holds_from_a_share_of_the_time_on() {
    let held = |iops, share| {
        let record = simulated(&[gp3(share, 0.0)], &[reads("a", iops, 4, 8)]);
        !found(&record, "at-limit").is_empty()
    };
    assert!(held(6000.0, 0.02));
    assert!(!held(6000.0, 0.005));
    assert!(held(3000.0, 0.3));
    assert!(!held(3000.0, 0.2));
    // On both sides of [`NEAR`].
    assert!(held(5900.0, 0.02));
    assert!(!held(5800.0, 0.02));
}

/// The story: limits were judged for the only target of a run, so two volumes that were both at
/// their 3,000 IOPS were called good.
#[test]
fn every_target_has_its_limits() {
    let volume = |iops, share| vec![(volume_iops(iops), share)];
    let load = [reads("a", 6000.0, 4, 64)];
    let each = simulated(&[volume(3000.0, 0.9), volume(3000.0, 0.9)], &load);
    assert!(
        statement(&each, "at-limit").starts_with(
            "a: 3,000 IOPS is the limit of each of 2 targets, documented for gp3: volume IOPS; \
             the rate is 100 % of it"
        ),
        "{}",
        statement(&each, "at-limit")
    );
    let one = simulated(&[volume(3000.0, 0.9), volume(16_000.0, 0.0)], &load);
    assert!(
        statement(&one, "at-limit").starts_with("a: 3,000 IOPS is the limit of gp3:1TiB, "),
        "{}",
        statement(&one, "at-limit")
    );
}

#[test]
fn targets_on_one_instance_share_its_limit() {
    let target = || vec![(volume_iops(6000.0), 0.0), (instance_throughput(), 0.9)];
    let iops = 593.75e6 / 262_144.0;
    let record = simulated(&[target(), target()], &[reads("a", iops, 256, 64)]);
    assert!(
        statement(&record, "at-limit").starts_with(
            "a: 593.75 MB/s is the limit of 2 targets together, documented for m5.4xlarge: EBS \
             throughput; the rate is 100 % of it"
        ),
        "{}",
        statement(&record, "at-limit")
    );
}

/// The story: two machines of one type, each at its limit with two volumes, had "the limit of each of 4
/// targets", which is that of two volumes together.
#[test]
fn machines_of_one_type_each_bind_their_own_targets() {
    let mut record = simulated(&[gp3(0.9, 0.0)], &[reads("a", 6000.0, 4, 64)]);
    record.targets = vec![record.targets[0].clone(); 4];
    let limit = instance_throughput();
    let groups: [[u32; 2]; 2] = [[0, 1], [2, 3]];
    let alike = groups.each_ref().map(|targets| UsedLimit {
        limit: &limit,
        targets,
        rate: 593.75,
        busiest: None,
        waited_share: 0.9,
        level: Level::Steady,
        emptied: Vec::new(),
    });
    assert_eq!(whose_of(&record, &alike), " of each of 2 groups of targets");
}

/// The story: the volumes of two hosts of a fleet were "sim:gp3:1TiB and sim:gp3:1TiB": what stood before
/// the first colon, the host, was taken for the clock.
#[test]
fn volumes_of_a_fleet_are_named_with_their_hosts() {
    let mut record = simulated(&[gp3(0.9, 0.0)], &[reads("a", 6000.0, 4, 64)]);
    let target = record.targets[0].clone();
    record.targets = ["h1", "h2", "h3", "h4"]
        .map(|host| blocklab_record::TargetFacts {
            path: format!("{host}:sim:gp3:1TiB@m5.4xlarge"),
            ..target.clone()
        })
        .to_vec();
    let limit = volume_iops(6000.0);
    let targets: [[u32; 1]; 3] = [[0], [1], [3]];
    let alike = targets.each_ref().map(|targets| UsedLimit {
        limit: &limit,
        targets,
        rate: 6000.0,
        busiest: None,
        waited_share: 0.9,
        level: Level::Steady,
        emptied: Vec::new(),
    });
    assert_eq!(
        whose_of(&record, &alike),
        " of h1:gp3:1TiB, h2:gp3:1TiB and h4:gp3:1TiB"
    );
}

/// The story: a mixed load on striped disks met the maximum of its reads and waited a little longer for another
/// limit that it did not meet: "977 IOPS were requested and 327 delivered: held back by ;".
#[test]
fn a_limit_at_its_rate_is_named_where_another_was_waited_for_longer() {
    let mut record = simulated(&[gp3(0.05, 0.2)], &[reads("a", 6000.0, 4, 32)]);
    let jobs = record
        .measurements
        .iter_mut()
        .flat_map(|pass| &mut pass.jobs);
    jobs.for_each(|job| job.requested_iops = Some(20_000.0));
    let missed = the(&record, "rate-missed").statement;
    let named = "held back by gp3: volume IOPS, 6,000 IOPS (documented)";
    assert!(missed.contains(named), "{missed}");
}

/// The story: a load with a rate was advised to go deeper, where the volume gave no more.
#[test]
fn a_missed_rate_names_its_limit_and_a_met_one_none() {
    let requested = |iops: f64, share| {
        let mut record = simulated(&[gp3(share, 0.0)], &[reads("a", 6000.0, 4, 32)]);
        for job in record
            .measurements
            .iter_mut()
            .flat_map(|pass| &mut pass.jobs)
        {
            job.requested_iops = Some(iops);
        }
        record
    };
    let missed = the(&requested(20_000.0, 0.8), "rate-missed");
    assert!(
        missed
            .statement
            .contains("held back by gp3: volume IOPS, 6,000 IOPS (documented)"),
        "{}",
        missed.statement
    );
    assert!(
        missed
            .advice
            .is_some_and(|advice| advice.contains("more depth cannot help"))
    );
    let too_few = the(&requested(20_000.0, 0.0), "rate-missed");
    assert!(
        too_few
            .advice
            .is_some_and(|advice| advice.contains("give it more depth"))
    );
    for rule in ["at-limit", "latency-bound", "rate-missed"] {
        silent(&requested(6000.0, 0.8), rule);
    }
}

/// The published r5d.xlarge: 593.75 MB/s for half an hour, 143.75 MB/s after it.
#[test]
fn a_burst_tells_what_it_leaves_and_when() {
    let credits = credits(
        "r5d.xlarge",
        None,
        [143.75, 593.75, 810e9],
        LimitUnit::MbPerS,
    );
    let shares = credits.into_iter().zip([0.0, 0.5, 0.0]).collect();
    let record = simulated(
        &[shares],
        &[reads("rand128k", 593.75e6 / 131_072.0, 128, 4)],
    );
    let finding = the(&record, "at-limit");
    assert_eq!(
        finding.statement,
        "rand128k: 593.75 MB/s is the limit, documented for r5d.xlarge: credits (burst); the \
         rate is 100 % of it; a full bucket lasts 30 min at this limit and leaves 143.75 MB/s."
    );
    let lasts = finding.evidence.iter().find(|e| e.unit == "s").unwrap();
    assert_eq!(lasts.value, 1800.0);
}

/// The story: when the credits of a volume ran out in mid-run, the finding guessed at "burst
/// credits, a write cache or the cooling" and named neither the bucket nor the limit; when it
/// happened twice, there was no finding.
#[test]
fn credits_that_run_out_are_named_with_their_moment() {
    let credits = credits("gp2", Some(1), [300.0, 3000.0, 5.4e6], LimitUnit::Iops);
    let shares = credits.into_iter().zip([0.6, 0.3, 0.0]).collect::<Vec<_>>();
    let long = Sketch {
        seconds: 60,
        ..reads("a", 1000.0, 4, 32)
    };
    let emptied = |seconds: &[u64]| {
        let mut record = simulated(std::slice::from_ref(&shares), std::slice::from_ref(&long));
        for pass in record.measurements.iter_mut().take(1) {
            let model = pass.model.as_mut().expect("simulated");
            model.limits[0].emptied_at_ns = seconds.iter().map(|s| s * 1_000_000_000).collect();
        }
        record
    };
    let once = emptied(&[20]);
    assert_eq!(
        statement(&once, "credits-used-up"),
        "a: credits were used up after 20.0 s of pass 1: 1,000 IOPS before, and then 300 IOPS, \
         documented for gp2: credits (baseline)."
    );
    for rule in ["at-limit", "level-fell"] {
        silent(&once, rule);
    }
    assert!(statement(&emptied(&[20, 40]), "credits-used-up").contains("2 times in all"));
    // The story: the bucket of an instance is refilled each day. In 80 hours it ran empty four times, the
    // first time in the first fiftieth, and the rate was "by the second that it had saved up".
    the(&emptied(&[1, 20, 40]), "credits-used-up");
    // On both sides of [`SOON`] and of [`NEARLY_ALL`].
    the(&emptied(&[2]), "credits-used-up");
    silent(&emptied(&[1]), "credits-used-up");
    the(&emptied(&[58]), "credits-used-up");
    silent(&emptied(&[59]), "credits-used-up");
}

/// The story: "credits were used up after 500 ms of pass 1: 0.00 IOPS before". The slice in which they
/// ran empty was the first one, so that no whole slice lay before that moment.
#[test]
fn credits_that_end_in_the_first_slice_have_no_rate_before() {
    let credits = credits("gp2", Some(1), [300.0, 3000.0, 5.4e6], LimitUnit::Iops);
    let shares = credits.into_iter().zip([0.6, 0.3, 0.0]).collect();
    let mut record = simulated(&[shares], &[reads("a", 1000.0, 4, 32)]);
    let model = record.measurements[0].model.as_mut().expect("simulated");
    model.limits[0].emptied_at_ns = vec![500_000_000];
    let finding = the(&record, "credits-used-up");
    assert_eq!(
        finding.statement,
        "a: credits were used up after 0.5 s of pass 1: 300 IOPS since then, documented for gp2: \
         credits (baseline)."
    );
    assert!(
        finding
            .evidence
            .iter()
            .all(|figure| figure.name != "before")
    );
}

/// The story: "0.00 IOPS before" of a load that trims, since only reads and writes were counted.
#[test]
fn trims_count_in_the_rate_before_credits_ended() {
    let credits = credits("gp2", Some(1), [300.0, 3000.0, 5.4e6], LimitUnit::Iops);
    let shares = credits.into_iter().zip([0.6, 0.3, 0.0]).collect();
    let sketch = Sketch {
        direction: "trim",
        ..reads("a", 1000.0, 4, 32)
    };
    let mut record = simulated(&[shares], &[sketch]);
    for slice in &mut record.measurements[0].series {
        slice.trim = std::mem::take(&mut slice.write);
    }
    let model = record.measurements[0].model.as_mut().expect("simulated");
    model.limits[0].emptied_at_ns = vec![5_000_000_000];
    let found = statement(&record, "credits-used-up");
    assert!(found.contains("1,000 IOPS before"), "{found}");
}

/// The story: "85.9 IOPS before, and then 12.88 MiB/s": nobody sees from two units how deep the fall
/// is.
#[test]
fn the_rate_before_credits_ended_is_in_the_unit_of_their_limit() {
    let credits = credits("sc1", Some(1), [12.0, 80.0, 1e10], LimitUnit::MibPerS);
    let shares = credits.into_iter().zip([0.6, 0.3, 0.0]).collect();
    let sketch = Sketch {
        seconds: 60,
        ..reads("a", 40.0, 1024, 8)
    };
    let mut record = simulated(&[shares], &[sketch]);
    let model = record.measurements[0].model.as_mut().expect("simulated");
    model.limits[0].emptied_at_ns = vec![20_000_000_000];
    assert_eq!(
        statement(&record, "credits-used-up"),
        "a: credits were used up after 20.0 s of pass 1: 40.0 MiB/s before, and then 12 MiB/s, \
         documented for sc1: credits (baseline)."
    );
}

#[test]
fn equal_volumes_add_up_and_directions_have_their_own() {
    let thirty = limit(
        "gp3",
        Some(30),
        rate("volume IOPS"),
        3000.0,
        LimitUnit::Iops,
    );
    let record = simulated(&[vec![(thirty, 0.5)]], &[reads("a", 90_000.0, 4, 256)]);
    let found = statement(&record, "at-limit");
    assert!(found.contains("90,000 IOPS is the limit"), "{found}");
}

/// The story: a described volume was called `2 x ssd`, and its 3,000 IOPS were taken for those
/// of two volumes; a cap was called `volume IOPS (peak)`, and was taken for no limit at all.
/// The finding vanished both times, because names for people were read back.
#[test]
fn no_name_changes_what_a_limit_is() {
    let named = [
        ("2 x ssd", "volume IOPS"),
        ("ssd", "volume IOPS (peak)"),
        ("ssd", "volume IOPS (writes)"),
        ("ssd", "volume IOPS (burst)"),
    ];
    for (owner, limiter) in named {
        let limit = limit(owner, Some(1), rate(limiter), 3e3, LimitUnit::Iops);
        let record = simulated(&[vec![(limit, 0.5)]], &[reads("a", 3000.0, 4, 32)]);
        let start =
            format!("a: 3,000 IOPS is the limit, documented for {owner}: {limiter}; the rate");
        let found = statement(&record, "at-limit");
        assert!(found.starts_with(&start), "{found}");
    }
}

#[test]
fn cases_at_the_same_limit_share_a_finding() {
    let sketches = [reads("a", 6000.0, 4, 32), reads("b", 6000.0, 16, 32)];
    let record = simulated(&[gp3(0.8, 0.0)], &sketches);
    let subjects = found(&record, "at-limit").into_iter().map(|f| f.subject);
    assert_eq!(subjects.collect::<Vec<_>>(), [vec!["a", "b"]]);
    // What is known is not guessed as well.
    silent(&record, "iops-cap");
}

/// 6,902 reads a second on a volume of 6,000 that had rested: two seconds do not spend what
/// it had saved up. At 105 %, as of a run of twenty seconds, it is at the limit.
#[test]
fn a_short_run_spends_what_the_limiter_saved_up() {
    let lasting = |seconds, iops| {
        let sketch = Sketch {
            seconds,
            ..reads("rand4k", iops, 4, 32)
        };
        simulated(&[gp3(0.5, 0.0)], &[sketch])
    };
    let found = statement(&lasting(2, 6900.0), "above-limit");
    assert!(
        found.starts_with(
            "rand4k: the rate is 115 % of a limit of 6,000 IOPS, documented for gp3: volume IOPS"
        ),
        "{found}"
    );
    silent(&lasting(20, 6300.0), "above-limit");
    let found = statement(&lasting(20, 6300.0), "at-limit");
    assert!(
        found.contains("the rate is 105 % of it, by the second that it had saved up"),
        "{found}"
    );
    // More than a second can explain is something else.
    silent(&lasting(10, 6900.0), "above-limit");
    silent(&lasting(10, 6000.0), "above-limit");
}

/// The story: "In 13 of 28 cases, the rate is 105 to 150 % of a limit of 125 to 6,000 MiB/s":
/// the 6,000 were operations a second of another limit.
#[test]
fn only_cases_above_the_same_limit_share_a_finding() {
    let lasting = |case: &str, iops, kib| Sketch {
        seconds: 2,
        ..reads(case, iops, kib, 32)
    };
    let sketches = [
        lasting("small", 6900.0, 4),
        lasting("smaller", 7500.0, 4),
        lasting("large", 700.0, 1024),
    ];
    let findings = found(&simulated(&[gp3(0.1, 0.1)], &sketches), "above-limit");
    let statements: Vec<_> = findings.iter().map(|finding| &*finding.statement).collect();
    let [large, small] = statements[..] else {
        panic!("{statements:?}");
    };
    assert!(
        large.starts_with("large: the rate is 140 % of a limit of 500 MiB/s,"),
        "{large}"
    );
    assert!(
        small.starts_with("small and smaller: the rate is 115 to 125 % of a limit of 6,000 IOPS,")
            && small.ends_with("; worst in smaller."),
        "{small}"
    );
}

/// As many flushes as other operations, which no limit counts.
fn with_flushes(mut record: Record) -> Record {
    for pass in &mut record.measurements {
        let job = &mut pass.jobs[0];
        let flushes = job.directions[&Direction::Read].clone();
        job.directions.insert(Direction::Sync, flushes);
        pass.model.as_mut().expect("simulated").targets[0].ios *= 2;
    }
    record
}

/// The story: 32 jobs that flushed after each write were at their limit, and "the rate is 51 % of
/// it": what the model had counted held the flushes, and the rate did not. With one in flight, 601 µs
/// each gave 832 IOPS, and 39 in flight were to reach what 20 do.
#[test]
fn flushes_are_no_part_of_the_rate_of_a_limit() {
    let at_limit = simulated(&[gp3(0.8, 0.0)], &[reads("a", 6000.0, 4, 32)]);
    let found = statement(&with_flushes(at_limit), "at-limit");
    assert!(found.contains("the rate is 100 % of it"), "{found}");
    let one = simulated(&[gp3(0.0, 0.0)], &[reads("a", 1500.0, 4, 1)]);
    assert_eq!(
        statement(&with_flushes(one), "latency-bound"),
        "a: latency is the limit: 1 in flight, 667 µs each, gives 1,500 IOPS beside its flushes; \
         it takes at least 4 in flight to reach 6,000 IOPS."
    );
    // The story: of 12 in flight that flushed now and then, "about 57 in flight would reach 12,654 IOPS".
    // They gave 2.8 times as much and not twice as much as that: a flush waits for all of its thread.
    let deep = simulated(&[gp3(0.0, 0.0)], &[reads("a", 3000.0, 4, 2)]);
    let found = statement(&with_flushes(deep), "latency-bound");
    assert!(found.ends_with("IOPS beside its flushes."), "{found}");
}

/// The story: "2 in flight gives 3,271 IOPS; about 4 in flight would reach 3,000 IOPS": those were of
/// each of two volumes.
#[test]
fn what_more_in_flight_reaches_tells_of_which_targets() {
    let record = simulated(&[gp3(0.0, 0.0), gp3(0.0, 0.0)], &[reads("a", 6400.0, 4, 4)]);
    let found = statement(&record, "latency-bound");
    assert!(
        found.ends_with("at least 8 in flight to reach 6,000 IOPS of each of 2 targets."),
        "{found}"
    );
}

/// The story: a case had the burst in its first two passes, and another one used the credits up
/// between them: "100 IOPS is the limit; the rate is 1,550 % of it, by the second that it had saved
/// up", and that the passes scatter.
#[test]
fn credits_that_other_cases_used_up_are_named_with_the_pass() {
    let credits = credits("gp2", Some(1), [100.0, 3000.0, 5.4e6], LimitUnit::Iops);
    let shares = credits.into_iter().zip([0.0, 0.9, 0.0]).collect::<Vec<_>>();
    let sketch = Sketch {
        iops: vec![3000.0, 3000.0, 100.0, 100.0],
        ..reads("a", 3000.0, 4, 32)
    };
    let mut record = simulated(std::slice::from_ref(&shares), &[sketch]);
    for pass in record.measurements.iter_mut().skip(2) {
        let model = pass.model.as_mut().expect("simulated");
        let [baseline, burst] = &mut model.limits[..] else {
            panic!("two rates")
        };
        std::mem::swap(&mut baseline.waited_ns, &mut burst.waited_ns);
    }
    assert_eq!(
        statement(&record, "credits-used-up"),
        "a: credits were used up before pass 3: 3,000 IOPS in the pass before, and then 100 IOPS, \
         documented for gp2: credits (baseline)."
    );
    for rule in ["at-limit", "scatter", "drift-over-passes", "outlier-pass"] {
        silent(&record, rule);
    }
    // What held in every pass is a level.
    let baseline = simulated(&[shares_of_baseline()], &[reads("a", 100.0, 4, 32)]);
    silent(&baseline, "credits-used-up");
    the(&baseline, "at-limit");
}

fn shares_of_baseline() -> Vec<(Limit, f64)> {
    let credits = credits("gp2", Some(1), [100.0, 3000.0, 5.4e6], LimitUnit::Iops);
    credits.into_iter().zip([0.9, 0.0, 0.0]).collect()
}

/// The story: Ctrl-C came before the first completion on an emulated volume, when all slots were in
/// the device: "latency is the limit: 4 in flight, -0 ns each, gives 0 IOPS".
#[test]
fn nothing_limits_a_run_without_a_completion() {
    for waits in [0.0, 0.9] {
        let mut record = simulated(&[gp3(waits, 0.0)], &[reads("q4", 6000.0, 4, 4)]);
        for pass in &mut record.measurements {
            pass.jobs[0].directions.clear();
        }
        for rule in ["latency-bound", "at-limit"] {
            silent(&record, rule);
        }
    }
}
