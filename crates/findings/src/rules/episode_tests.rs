//! Standstills and slow episodes, found in passes that have them and in none that has not.

use blocklab_record::{PaceKind, Record};

use super::*;
use crate::testing::{Sketch, record, silent, the};

/// Two passes of 15 s; the seconds of the second one are changed.
fn passes(change: impl Fn(usize, &mut Interval)) -> Record {
    let mut record = record(&[Sketch {
        seconds: 15,
        iops: vec![3000.0; 2],
        ..Sketch::default()
    }]);
    for (pass, measurement) in record.measurements.iter_mut().enumerate() {
        for (second, slice) in measurement.series.iter_mut().enumerate() {
            let even = 600_000 + 10_000 * (second as u64 % 3);
            (slice.read.mean_ns, slice.read.max_ns) = (even, 4_000_000);
            if pass == 1 {
                change(second, slice);
            }
        }
    }
    record
}

fn still(second: usize, slice: &mut Interval) {
    match second {
        6 => slice.read.ios = 1500,
        7 | 8 => slice.read.ios = 0,
        9 => (slice.read.ios, slice.read.max_ns) = (1500, 3_000_000_000),
        _ => (),
    }
}

/// A volume stood still for three seconds of fifteen: the diagnosis called it 90 % of what is
/// documented, and inside the vendor's promise.
#[test]
fn a_pause_has_a_beginning_and_a_length() {
    let finding = the(&passes(still), "standstill");
    assert_eq!(
        finding.statement,
        "rand4k-q32-read: nothing completed for 3.0 s, from 6.5 s of pass 2 on."
    );
    silent(&passes(still), "slow-episode");
    silent(&passes(still), "drift-within");
    silent(&passes(|_, _| ()), "standstill");
    // The story: of a model in real time, too, the kernel's log was to show why.
    let mut modelled = passes(still);
    modelled.origin = blocklab_record::Origin::Emulated;
    let advice = the(&modelled, "standstill").advice;
    assert!(advice.is_some_and(|advice| advice.starts_with("The device is described")));
}

/// The story: a volume that stood still for most of a pass left no median rate, and so no finding: the run
/// was called sound.
#[test]
fn a_pause_may_be_most_of_the_pass() {
    let found = passes(|second, slice| match second {
        3..=11 => slice.read.ios = 0,
        12 => slice.read.max_ns = 9_000_000_000,
        _ => (),
    });
    let statement = the(&found, "standstill").statement;
    assert!(statement.contains("for 9.0 s, from 3.0 s"), "{statement}");
    // A slow target answers now and then.
    let slow = passes(|second, slice| slice.read.ios = u64::from(second % 5 == 0));
    silent(&slow, "standstill");
}

/// The story: thousands of buffered writes took a moment and the flush after them three seconds, in which
/// "nothing completed".
#[test]
fn flushes_that_take_most_of_the_pass_are_no_pause() {
    let mut flushing = passes(|second, slice| {
        if second % 4 != 0 {
            slice.read.ios = 0;
        }
    });
    the(&flushing, "standstill");
    for pass in &mut flushing.measurements {
        let directions = &mut pass.jobs[0].directions;
        let flushes = directions[&Direction::Read].clone();
        directions.insert(Direction::Sync, flushes);
    }
    silent(&flushing, "standstill");
}

/// The story: a load wrote for three seconds, and each flush after that took one and more, in which
/// "nothing completed": the kernel's log was to show why. A flush that takes several times as long as the
/// others is a pause as before.
#[test]
fn a_flush_that_takes_as_long_as_others_is_no_pause() {
    let flushing = |mean_ns: f64| {
        let mut record = passes(|second, slice| {
            if second % 5 == 4 {
                slice.read.ios = 0;
            }
        });
        for pass in &mut record.measurements {
            let directions = &mut pass.jobs[0].directions;
            let mut flushes = directions[&Direction::Read].clone();
            flushes.service.mean_ns = mean_ns;
            directions.insert(Direction::Sync, flushes);
        }
        record
    };
    silent(&flushing(1.1e9), "standstill");
    the(&flushing(0.2e9), "standstill");
}

/// The story: a job that read back what it wrote stood still for three seconds, and no finding said so, as its
/// two rates are not compared.
#[test]
fn a_job_that_reads_back_can_stand_still() {
    let verified = |change: fn(usize, &mut Interval)| {
        let mut record = passes(change);
        for job in record.measurements.iter_mut().flat_map(|m| &mut m.jobs) {
            let moved = job.directions[&Direction::Read].clone();
            job.directions.insert(Direction::Write, moved);
            job.verified = Some(Default::default());
        }
        record
    };
    the(&verified(still), "standstill");
    // It may take longer to read than to write.
    let reads = |second: usize, slice: &mut Interval| {
        if (8..12).contains(&second) {
            slice.read.mean_ns = 20_600_000;
        }
    };
    the(&passes(reads), "slow-episode");
    silent(&verified(reads), "slow-episode");
}

/// The story: a job began 20 s after another one had ended, and "nothing completed for 19.0 s".
#[test]
fn the_time_between_two_jobs_is_no_pause() {
    let mut record = passes(|second, slice| {
        if (6..9).contains(&second) {
            slice.read.ios = 0;
        }
    });
    the(&record, "standstill");
    for measurement in &mut record.measurements {
        measurement.jobs[0].elapsed_ns = 6_000_000_000;
        measurement.jobs.push(measurement.jobs[0].clone());
    }
    silent(&record, "standstill");
}

/// Half of two neighbours is missing, and an operation waited just as long.
#[test]
fn a_pause_may_leave_no_slice_empty() {
    let short = |second: usize, slice: &mut Interval| match second {
        6 => slice.read.ios = 1000,
        7 => (slice.read.ios, slice.read.max_ns) = (1400, 1_200_000_000),
        _ => (),
    };
    let finding = the(&passes(short), "standstill");
    assert!(finding.statement.contains("for 1.2 s"), "{finding:?}");
    let slow = |second: usize, slice: &mut Interval| {
        if [6, 7].contains(&second) {
            slice.read.ios = 1000;
        }
    };
    silent(&passes(slow), "standstill");
}

#[test]
fn a_pause_of_the_load_or_of_the_program_is_none_of_the_target() {
    let mut stopped = passes(still);
    stopped.measurements[1].stood_still_ns = Some(3_000_000_000);
    silent(&stopped, "standstill");
    let mut thinking = passes(still);
    thinking.measurements[1].jobs[0].think = true;
    silent(&thinking, "standstill");
    // Three operations a second stay out for two seconds by chance.
    let rare = |second: usize, slice: &mut Interval| {
        slice.read.ios = if [7, 8].contains(&second) { 0 } else { 3 };
    };
    let mut rare = passes(rare);
    rare.measurements.remove(0);
    silent(&rare, "standstill");
}

/// A recording of a database began with a second of rest, and had a burst of large writes: the
/// model of its volume was said to stand still, and to be "described with a fault at that moment".
#[test]
fn rests_and_bursts_of_a_recording_are_none_of_the_target() {
    let replayed = |change: fn(usize, &mut Interval)| {
        let mut record = passes(change);
        for measurement in &mut record.measurements {
            measurement.jobs[0].pace = PaceKind::Recorded;
        }
        record
    };
    let rest = |second: usize, slice: &mut Interval| {
        if second == 7 {
            slice.read.ios = 0;
        }
    };
    the(&passes(rest), "standstill");
    silent(&replayed(rest), "standstill");
    // An operation waited through it.
    the(&replayed(still), "standstill");
    let burst = |second: usize, slice: &mut Interval| {
        if (8..12).contains(&second) {
            slice.read.bytes *= 2;
            slice.read.mean_ns = 20_600_000;
        }
    };
    the(&passes(burst), "slow-episode");
    silent(&replayed(burst), "slow-episode");
    let slow = |second: usize, slice: &mut Interval| {
        if (8..12).contains(&second) {
            slice.read.mean_ns = 20_600_000;
        }
    };
    the(&replayed(slow), "slow-episode");
}

/// Operations took 20 ms more for four seconds: it was called scatter of the passes, and burst
/// credits that were left over.
#[test]
fn an_episode_has_an_interval() {
    let found = passes(|second, slice| {
        if (8..12).contains(&second) {
            (slice.read.ios, slice.read.mean_ns) = (90, 20_600_000);
        }
    });
    let finding = the(&found, "slow-episode");
    let words = "for 4.0 s, from 8.0 s to 12.0 s of pass 2: 20.6 ms instead of 610 µs";
    assert!(finding.statement.contains(words), "{finding:?}");
    silent(&found, "standstill");
    silent(&passes(|_, _| ()), "slow-episode");
    let at_once = |second: usize, slice: &mut Interval| {
        if second == 8 {
            slice.read.mean_ns = 20_600_000;
        }
    };
    silent(&passes(at_once), "slow-episode");
}

/// The story: a fault of 24 s in a pass of 30 s was no episode, because the median was its own, and
/// no change of level, because the rate came back: nothing was said.
#[test]
fn an_episode_may_be_longer_than_the_rest_of_its_pass() {
    let lasting = |from: usize, until: usize, latency_ns: u64| {
        let mut record = record(&[Sketch {
            seconds: 30,
            iops: vec![3000.0; 2],
            ..Sketch::default()
        }]);
        for (second, slice) in record.measurements[1].series.iter_mut().enumerate() {
            slice.read.mean_ns = 600_000 + 10_000 * (second as u64 % 3);
            if (from..until).contains(&second) {
                slice.read.ios = 1000;
                slice.read.mean_ns = latency_ns + 30_000 * (second as u64 % 5);
            }
        }
        record
    };
    let found = lasting(3, 27, 3_000_000);
    let finding = the(&found, "slow-episode");
    let words = "for 24.0 s, from 3.0 s to 27.0 s of pass 2: 3.06 ms instead of 610 µs";
    assert!(finding.statement.contains(words), "{finding:?}");
    for level in ["level-fell", "level-rose", "drift-within"] {
        silent(&found, level);
    }
    // Less than half as long again, or no usual time at one of the ends.
    silent(&lasting(3, 27, 800_000), "slow-episode");
    silent(&lasting(0, 24, 3_000_000), "slow-episode");
    silent(&lasting(6, 29, 3_000_000), "slow-episode");
}

/// The story: flushes that take long by themselves counted for the scatter of the reads, and four seconds
/// in which those took four times as long were chance.
#[test]
fn flushes_hide_no_episode_of_the_other_operations() {
    let slow = |second: usize, slice: &mut Interval| {
        if (8..12).contains(&second) {
            slice.read.mean_ns = 2_600_000;
        }
    };
    let mut found = passes(slow);
    the(&found, "slow-episode");
    let flushing = record(&[Sketch {
        latency_ns: Some(500e6),
        ..Sketch::default()
    }]);
    let flushes = &flushing.measurements[0].jobs[0].directions[&Direction::Read];
    for pass in &mut found.measurements {
        let directions = &mut pass.jobs[0].directions;
        directions.insert(Direction::Sync, flushes.clone());
    }
    the(&found, "slow-episode");
}

#[test]
fn what_lasts_to_the_end_is_a_level() {
    let to_the_end = |second: usize, slice: &mut Interval| {
        if second >= 10 {
            slice.read.mean_ns = 20_600_000;
        }
    };
    silent(&passes(to_the_end), "slow-episode");
}

/// A neighbour was noisy for a second in every three, and for one and a half: a third of the
/// time everything took five times as long, and the run was called good.
#[test]
fn episodes_that_come_again_are_told_together() {
    for (share, times) in [(1.0, "4.9 times"), (0.5, "3.0 times")] {
        let again = |second: usize, slice: &mut Interval| {
            if second % 3 == 1 {
                slice.read.mean_ns = 600_000 + (2_400_000.0 * share) as u64;
            }
        };
        let finding = the(&passes(again), "slow-episode");
        assert!(finding.statement.contains(times), "{finding:?}");
        let words = "for 5.0 s in all, 5 times from 1.0 s to 14.0 s of pass 2";
        assert!(finding.statement.contains(words), "{finding:?}");
    }
    let half_of_the_time = |second: usize, slice: &mut Interval| {
        if second % 2 == 1 {
            slice.read.mean_ns = 3_000_000;
        }
    };
    the(&passes(half_of_the_time), "slow-episode");
}

/// The story: a fault that began after half of a pass at a fixed rate and lasted to its end made the
/// reads four times as slow, and nothing was said of it: the rate stayed, and with no usual second after
/// it the episode counted as a change of level.
#[test]
fn an_episode_may_last_to_the_end_of_a_load_with_a_rate() {
    let with_rate = |pace, change: &dyn Fn(usize, &mut Interval)| {
        let mut record = passes(change);
        for pass in &mut record.measurements {
            pass.jobs[0].pace = pace;
        }
        record
    };
    let late = |second: usize, slice: &mut Interval| {
        if second >= 8 {
            slice.read.mean_ns = 2_600_000 + 10_000 * (second as u64 % 3);
        }
    };
    for pace in [PaceKind::Capped, PaceKind::OpenFixed, PaceKind::OpenPoisson] {
        let finding = the(&with_rate(pace, &late), "slow-episode");
        let words = "4.3 times as long as in the rest of the pass for 7.0 s, from 8.0 s to 15.0 s of \
                     pass 2: 2.61 ms instead of 609 µs";
        assert!(finding.statement.contains(words), "{finding:?}");
    }
    let early = |second: usize, slice: &mut Interval| late(14 - second, slice);
    let finding = the(&with_rate(PaceKind::Capped, &early), "slow-episode");
    assert!(
        finding.statement.contains("from 0.0 s to 7.0 s of pass 2"),
        "{finding:?}"
    );
    // The story: 3,500 operations a second were requested of a volume of 3,000, and filled the depth
    // after 4 s: "operations took 35.3 times as long …: the device is described with a fault".
    let mut overloaded = with_rate(PaceKind::OpenPoisson, &late);
    for pass in &mut overloaded.measurements {
        pass.jobs[0].requested_iops = Some(3500.0);
    }
    silent(&overloaded, "slow-episode");
    // Neither a load without a rate, nor one that could not keep it, nor a drift, nor scatter.
    silent(&with_rate(PaceKind::Closed, &late), "slow-episode");
    let not_kept = |second: usize, slice: &mut Interval| {
        late(second, slice);
        if second >= 8 {
            slice.read.ios = 1000;
        }
    };
    silent(&with_rate(PaceKind::Capped, &not_kept), "slow-episode");
    let drift = |second: usize, slice: &mut Interval| {
        slice.read.mean_ns = 600_000 + 200_000 * second as u64;
    };
    silent(&with_rate(PaceKind::Capped, &drift), "slow-episode");
    let scatter = |second: usize, slice: &mut Interval| {
        slice.read.mean_ns = [600_000, 2_000_000, 900_000, 1_400_000][second * 7 % 4];
    };
    silent(&with_rate(PaceKind::Capped, &scatter), "slow-episode");
}

/// The story: sixteen reads a second for two hours, of which two in a thousand take twelve times as
/// long by themselves: some seconds of 7,200 had two of them, and those were an episode, "1.8 times
/// as long, 5 times".
#[test]
fn two_slow_operations_in_one_slice_are_chance() {
    let longest = |max_ns| {
        let mut record = record(&[Sketch {
            seconds: 600,
            iops: vec![16.0],
            latency_ns: Some(1e6),
            spread: &[(0.978, 0.998), (12.0, 0.002)],
            ..Sketch::default()
        }]);
        record.origin = blocklab_record::Origin::Simulated;
        let series = &mut record.measurements[0].series;
        for (second, slice) in series.iter_mut().enumerate() {
            slice.read.mean_ns = 1_000_000 + 10_000 * (second as u64 % 3);
            slice.read.max_ns = 1_300_000;
            if [100, 300, 500].contains(&second) {
                (slice.read.mean_ns, slice.read.max_ns) = (1_900_000, max_ns);
            }
        }
        record
    };
    silent(&longest(12_000_000), "slow-episode");
    // All sixteen are slow.
    the(&longest(2_500_000), "slow-episode");
}
