//! `--cpuclock-test`: whether the processor's counter runs steadily, and alike on all processors.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::{fs, process, thread};

use anyhow::Result;

use super::now;
use crate::fio::processor;
use blocklab_console::{status, terminal};

/// Measurements of the counter against the kernel's clock.
const ROUNDS: usize = 50;
/// Readings of each processor.
const READINGS: usize = 50_000;

/// A reading, and which one it was of all.
type Reading = (u64, u64);

pub(super) fn run() -> Result<u8> {
    if !is_steady() {
        terminal::print("cs: reliable_tsc: no\ncs: Fail!\n")?;
        return Ok(status::FAILED);
    }
    terminal::print("cs: reliable_tsc: yes\n")?;
    terminal::print(calibration(&rounds()))?;
    let processors = processor::allowed();
    terminal::print(format!("cs: Testing {} CPUs\n", processors.len()))?;
    let mut all = Vec::new();
    for (processor, readings) in processors.iter().zip(readings(&processors)) {
        let first = readings.first().map_or(0, |(_, ticks)| *ticks);
        let last = readings.last().map_or(0, |(_, ticks)| *ticks);
        let seen = last.saturating_sub(first);
        terminal::print(format!(
            "cs: cpu {processor:2}: {seen} clocks seen, first {first}\n"
        ))?;
        all.extend(readings);
    }
    let back = backwards(&mut all);
    if back > 0 {
        terminal::print(format!(
            "cs: {back} readings lie before an earlier one\ncs: Fail!\n"
        ))?;
        return Ok(status::FAILED);
    }
    terminal::print("cs: Pass!\n")?;
    Ok(status::DONE)
}

/// Whether the processor says that its counter neither stops nor changes its pace.
fn is_steady() -> bool {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = text.lines().find(|line| line.starts_with("flags"));
    let flags: Vec<&str> = flags.unwrap_or_default().split(' ').collect();
    cfg!(target_arch = "x86_64")
        && ["constant_tsc", "nonstop_tsc"]
            .iter()
            .all(|flag| flags.contains(flag))
}

/// Ticks in a millisecond, measured again and again.
fn rounds() -> Vec<f64> {
    let round = || {
        let (begun, first) = (now(), ticks());
        while begun.elapsed() < Duration::from_millis(1) {}
        let ticks = ticks() - first;
        ticks as f64 / begun.elapsed().as_secs_f64() / 1e3
    };
    (0..ROUNDS).map(|_| round()).collect()
}

fn calibration(rounds: &[f64]) -> String {
    let head = format!("time     {:<5}", process::id());
    let lines = rounds.iter().enumerate();
    let mut text: String = lines
        .map(|(index, ticks)| format!("{head}  cycles[{index}]={ticks:.0}\n"))
        .collect();
    let count = rounds.len() as f64;
    let mean = rounds.iter().sum::<f64>() / count;
    let squares: f64 = rounds.iter().map(|ticks| (ticks - mean).powi(2)).sum();
    let deviation = (squares / (count - 1.0)).sqrt();
    let min = rounds.iter().copied().fold(f64::INFINITY, f64::min);
    let max = rounds.iter().copied().fold(0.0, f64::max);
    text.push_str(&format!(
        "{head}  min={min:.0}, max={max:.0}, mean={mean:.6}, S={deviation:.6}, N={}\n",
        rounds.len()
    ));
    let near: Vec<f64> = rounds
        .iter()
        .copied()
        .filter(|ticks| (ticks - mean).abs() <= deviation)
        .collect();
    let trimmed = near.iter().sum::<f64>() / near.len().max(1) as f64;
    text.push_str(&format!(
        "{head}  trimmed mean={trimmed:.0}, N={}\n",
        near.len()
    ));
    text
}

/// What a thread on each of the processors read, all at the same time.
fn readings(processors: &[usize]) -> Vec<Vec<Reading>> {
    let (turn, barrier) = (AtomicU64::new(0), Barrier::new(processors.len()));
    let read = |number: usize| {
        processor::stay_on(number);
        let mut readings = Vec::with_capacity(READINGS);
        barrier.wait();
        readings.extend((0..READINGS).map(|_| read_in_turn(&turn)));
        readings
    };
    thread::scope(|scope| {
        let threads: Vec<_> = processors
            .iter()
            .map(|number| scope.spawn(|| read(*number)))
            .collect();
        let ended = threads.into_iter().map(|thread| thread.join());
        ended.map(Result::unwrap_or_default).collect()
    })
}

/// A reading between two turns of others: whoever has a later turn has read later.
fn read_in_turn(turn: &AtomicU64) -> Reading {
    loop {
        let mine = turn.load(Ordering::SeqCst);
        let ticks = ticks();
        let taken = turn.compare_exchange(mine, mine + 1, Ordering::SeqCst, Ordering::SeqCst);
        if taken.is_ok() {
            return (mine, ticks);
        }
    }
}

/// How many readings are less than that of the turn before.
fn backwards(readings: &mut [Reading]) -> usize {
    readings.sort_unstable();
    let pairs = readings.windows(2);
    pairs.filter(|pair| pair[1].1 < pair[0].1).count()
}

#[cfg(target_arch = "x86_64")]
fn ticks() -> u64 {
    use core::arch::x86_64::{_mm_lfence, _rdtsc};
    // SAFETY: reads a counter; every x86-64 processor has the instructions. Without the fences the
    // processor may read it before what stands above, or after what stands below.
    unsafe {
        _mm_lfence();
        let ticks = _rdtsc();
        _mm_lfence();
        ticks
    }
}

/// Never asked: such a counter is not said to be steady.
#[cfg(not(target_arch = "x86_64"))]
fn ticks() -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_lags_on_one_processor_is_found() {
        let mut readings = vec![(0, 100), (2, 120), (1, 110), (3, 119), (4, 130)];
        assert_eq!(backwards(&mut readings), 1);
        readings[3].1 = 121;
        assert_eq!(backwards(&mut readings), 0);
    }

    #[test]
    fn what_lies_far_off_is_left_out_of_the_trimmed_mean() {
        let text = calibration(&[100.0, 100.0, 100.0, 100.0, 200.0]);
        assert!(text.contains("min=100, max=200, mean=120.000000"), "{text}");
        assert!(text.ends_with("trimmed mean=100, N=4\n"), "{text}");
    }
}
