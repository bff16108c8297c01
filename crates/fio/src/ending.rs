//! When operations begin and when a job ends.

use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{
    Flow, LatencyTarget, Limit, MinRate, Pace, Rate, Steady, SteadyVariable, Stop, Think,
    ThinkStyle,
};

use super::engine;
use super::number::{Clock, Scale, amount, evenly_spread};
use super::options::Options;
use super::pass::Pass;
use super::pattern::ReadWrite;
use super::spec::Spec;
use super::value::{RANGE, Sizes, nonzero, time_of_job};
use blocklab_syntax::Mistake;

/// Rates of the directions that occur.
fn rates(rw: ReadWrite, bytes: Sizes, iops: Sizes) -> [Option<Rate>; 3] {
    let occurs = [rw.reads, rw.writes, rw.trims];
    std::array::from_fn(|index| match (occurs[index], iops[index], bytes[index]) {
        (false, ..) | (_, 0, 0) => None,
        (_, 0, bytes) => Some(Rate::Bytes(bytes as f64)),
        (_, iops, _) => Some(Rate::Iops(iops as f64)),
    })
}

/// `rate`, `rate_iops`: each direction keeps a schedule of its own.
pub(super) fn pace(spec: &Spec, rw: ReadWrite, block: u64) -> Result<Pace, Mistake> {
    let options = &spec.options;
    let rates = rates(rw, options.rate, options.rate_iops);
    if rates == [None; 3] {
        return Ok(Pace::Closed);
    }
    for rate in rates.iter().flatten() {
        if matches!(rate, Rate::Bytes(bytes) if *bytes < block as f64 / 3600.0) {
            let wrong = "not one block in an hour: the unit may be missing, as in rate=10m";
            return Err(spec.mistake("rate", wrong));
        }
    }
    Ok(Pace::ByDirection {
        rates,
        poisson: options.rate_process == "poisson",
    })
}

/// fio does not judge the rate of a job's first two seconds.
const SETTLE: Nanos = Nanos::from_secs(2);

/// `rate_min`, `rate_iops_min`: rates below which the job ends.
pub(super) fn min_rate(options: &Options, rw: ReadWrite) -> Option<MinRate> {
    let rates = rates(rw, options.rate_min, options.rate_iops_min);
    (rates != [None; 3]).then(|| MinRate {
        rates,
        cycle: Nanos::from_millis(nonzero(options.rate_cycle).unwrap_or(1000).into()),
        settle: SETTLE,
    })
}

/// `flow`: the job's part of a ratio that jobs of one `flow_id` keep.
pub(super) fn flow(options: &Options) -> Option<Flow> {
    nonzero(options.flow).map(|weight| Flow {
        group: options.flow_id,
        weight,
        pause: Nanos(u64::from(options.flow_sleep) * 1000),
    })
}

/// `latency_target`: the search for the depth at which a share of the operations keeps a latency.
pub(super) fn latency_target(options: &Options) -> Option<LatencyTarget> {
    let share = options.latency_percentile.first();
    nonzero(options.latency_target).map(|limit| LatencyTarget {
        limit,
        window: nonzero(options.latency_window).unwrap_or(Nanos::from_secs(1)),
        percentile: share.map_or(100.0, |share| share.clamp(0.001, 100.0)),
        go_on: options.latency_run,
    })
}

/// `5`, or `1-5`: each clone has its own part of the range.
pub(super) fn start_delay(spec: &Spec, number: u32) -> Result<Nanos, Mistake> {
    let text = &*spec.options.startdelay;
    let (shortest, longest) = text.split_once(RANGE).unwrap_or((text, text));
    let delay =
        |text| time_of_job(text, Clock::Seconds).map_err(|why| spec.mistake("startdelay", why));
    let (shortest, longest) = (delay(shortest)?, delay(longest)?);
    let share = evenly_spread(number.into());
    Ok(shortest + Nanos((longest.since(shortest).0 as f64 * share) as u64))
}

/// `thinktime`: the pauses between operations.
pub(super) fn think(options: &Options) -> Option<Think> {
    let every = match options.thinktime_blocks {
        // The time between pauses alone decides, so the count must never be reached.
        None | Some(0) if options.thinktime_iotime > Nanos::ZERO => u32::MAX,
        every => every.unwrap_or(1).max(1),
    };
    nonzero(options.thinktime).map(|pause| Think { pause, every })
}

pub(super) fn think_style(options: &Options) -> ThinkStyle {
    ThinkStyle {
        spin: options.thinktime_spin,
        on_completion: options.thinktime_blocks_type != "issue",
        work: nonzero(options.thinktime_iotime),
        shifts_schedule: options.rate_ignore_thinktime,
    }
}

/// When the job ends, by time, bytes, operations or passes.
pub(super) fn stop(spec: &Spec, pass: &Pass<'_>) -> Result<Stop, Mistake> {
    let options = &spec.options;
    let runtime = nonzero(options.runtime).or_else(|| engine::endless(options));
    let steady = steady(spec)?;
    // What is only read back was written in one pass, however long that took.
    let in_time = options.time_based && runtime.is_some() && !pass.only_reads_back();
    let (once, passes) = pass.amount();
    let once = Some(once).filter(|once| !in_time && *once > 0);
    let ends_with_its_map = pass.ends_with_its_map();
    if runtime.is_none() && once.is_none() {
        let wrong = format!(
            "job {}: it would never end; runtime=30 or size=1g would end it",
            spec.name
        );
        return Err(Mistake::here(&spec.at, wrong));
    }
    Ok(Stop {
        runtime,
        bytes: once
            .filter(|_| !ends_with_its_map)
            .map(|once| Bytes(once.saturating_mul(passes))),
        ios: nonzero(
            options
                .number_ios
                .saturating_mul(pass.operations_per_block()),
        )
        .filter(|_| !in_time)
        .map(|ios| ios.saturating_mul(options.loops.max(1))),
        loops: once
            .filter(|_| ends_with_its_map || pass.ends_with_its_files())
            .map(|_| passes.min(u32::MAX.into()) as u32),
        steady,
        steady_after: options.steadystate_ramp_time,
    })
}

/// The most rounds of a window, whose values are all kept: a day of seconds.
const MOST_ROUNDS: u64 = 86_400;

/// `iops:10%`, `iops_slope:0.3%`, `bw:…`.
fn steady(spec: &Spec) -> Result<Option<Steady>, Mistake> {
    let duration = spec.options.steadystate_duration;
    let Some(text) = &spec.options.steadystate else {
        return Ok(None);
    };
    let (word, limit) = match text.split_once(':') {
        Some((word, limit)) => (word, Some(limit)),
        None => (text.as_str(), None),
    };
    let variable = match word {
        "iops" | "iops_slope" => SteadyVariable::Iops,
        "bw" | "bw_slope" => SteadyVariable::Bandwidth,
        "lat" | "lat_slope" => SteadyVariable::Latency,
        _ => {
            let wrong =
                format!("`{word}` is none of iops, iops_slope, bw, bw_slope, lat, lat_slope");
            return Err(spec.mistake("steadystate", wrong));
        }
    };
    let Some(limit) = limit else {
        let missing = format!("it lacks a limit, as in `{word}:2%`");
        return Err(spec.mistake("steadystate", missing));
    };
    let percent = limit.split_once('%').map(|(percent, _)| percent);
    let number = match percent {
        // As with fio, `k` is 1024 here whatever `kb_base` is.
        None if variable == SteadyVariable::Bandwidth => amount(limit, Scale::default())
            .ok()
            .map(|bytes_per_s| bytes_per_s as f64),
        _ => percent.unwrap_or(limit).parse::<f64>().ok(),
    };
    // Below a negative limit or `nan` nothing ever is, and all is below `inf`.
    let number = number.filter(|number| number.is_finite() && *number >= 0.0);
    let number =
        number.ok_or_else(|| spec.mistake("steadystate", "the limit is no number from 0 on"))?;
    let limit = if percent.is_some() {
        Limit::Percent(number)
    } else {
        Limit::Absolute(number)
    };
    if duration == Nanos::ZERO {
        // Over no time nothing is judged.
        return Ok(None);
    }
    let round = nonzero(spec.options.steadystate_check_interval).unwrap_or(Nanos::from_secs(1));
    let rounds = duration.0 / round.0;
    Ok(Some(if word.ends_with("_slope") {
        Steady::Slope {
            variable,
            round,
            // A line through two always fits.
            rounds: rounds.clamp(3, MOST_ROUNDS) as u32,
            limit,
        }
    } else {
        Steady::Deviation {
            variable,
            round,
            rounds: rounds.clamp(1, MOST_ROUNDS) as u32,
            limit,
        }
    }))
}
