//! When operations begin and when a job ends.

use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{
    Flow, LatencyTarget, Limit, MinRate, Pace, Rate, Steady, SteadyVariable, Stop, Think,
    ThinkStyle,
};

use super::mistake::Mistake;
use super::number::{Clock, Scale, amount, time};
use super::pass::Pass;
use super::pattern::Way;
use super::spec::Spec;

/// Rates of the directions that occur.
fn rates(spec: &Spec, way: Way, bytes: &str, iops: &str) -> [Option<Rate>; 3] {
    let of = |name| spec.values.sizes(name).unwrap_or([0; 3]);
    let (bytes, iops) = (of(bytes), of(iops));
    let occurs = [way.reads, way.writes, way.trims];
    std::array::from_fn(|index| match (occurs[index], iops[index], bytes[index]) {
        (false, ..) | (_, 0, 0) => None,
        (_, 0, bytes) => Some(Rate::Bytes(bytes as f64)),
        (_, iops, _) => Some(Rate::Iops(iops as f64)),
    })
}

/// `rate`, `rate_iops`: each direction keeps a schedule of its own.
pub(super) fn pace(spec: &Spec, way: Way, block: u64) -> Result<Pace, Mistake> {
    let rates = rates(spec, way, "rate", "rate_iops");
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
        poisson: spec.values.text("rate_process") == Some("poisson"),
    })
}

/// fio judges no rate before.
const SETTLE: Nanos = Nanos::from_secs(2);

pub(super) fn min_rate(spec: &Spec, way: Way) -> Option<MinRate> {
    let rates = rates(spec, way, "rate_min", "rate_iops_min");
    let cycle = spec.count("rate_cycle");
    let cycle = if cycle == 0 { 1000 } else { cycle };
    (rates != [None; 3]).then(|| MinRate {
        rates,
        cycle: Nanos::from_millis(cycle.into()),
        settle: SETTLE,
    })
}

pub(super) fn flow(spec: &Spec) -> Option<Flow> {
    let weight = spec.count("flow");
    (weight > 0).then(|| Flow {
        group: spec.count("flow_id"),
        weight,
        pause: Nanos(u64::from(spec.count("flow_sleep")) * 1000),
    })
}

pub(super) fn latency_target(spec: &Spec) -> Option<LatencyTarget> {
    let limit = Nanos(
        spec.values
            .time("latency_target")
            .filter(|limit| *limit > 0)?,
    );
    let window = spec
        .values
        .time("latency_window")
        .filter(|window| *window > 0);
    let percentile = spec
        .values
        .floats("latency_percentile")
        .and_then(|list| list.first());
    Some(LatencyTarget {
        limit,
        window: window.map_or(Nanos::from_secs(1), Nanos),
        percentile: percentile.copied().unwrap_or(100.0).clamp(0.001, 100.0),
        go_on: spec.values.flag("latency_run"),
    })
}

/// `5`, or `1-5`: each clone has its own part of the range.
pub(super) fn start_delay(spec: &Spec, number: u32) -> Result<Nanos, Mistake> {
    let text = spec.values.text("startdelay").unwrap_or("0");
    let (low, high) = text.split_once(['-', ':']).unwrap_or((text, text));
    let span = |text| time(text, Clock::Seconds).map_err(|why| spec.mistake("startdelay", why));
    let (low, high) = (span(low)?, span(high)?);
    // Multiples of the golden ratio are spread evenly, however many there are.
    let share = (f64::from(number) * 0.618_033_988_749_895).fract();
    Ok(Nanos(
        low + (high.saturating_sub(low) as f64 * share) as u64,
    ))
}

pub(super) fn think(spec: &Spec) -> Option<Think> {
    let pause = Nanos(spec.values.time("thinktime").filter(|pause| *pause > 0)?);
    let every = match spec.count("thinktime_blocks") {
        // Time alone calls for the pauses then.
        0 if spec.values.time("thinktime_iotime").unwrap_or(0) > 0 => u32::MAX,
        every => every.max(1),
    };
    Some(Think { pause, every })
}

pub(super) fn think_style(spec: &Spec) -> ThinkStyle {
    ThinkStyle {
        spin: Nanos(spec.values.time("thinktime_spin").unwrap_or(0)),
        on_completion: spec.values.text("thinktime_blocks_type") != Some("issue"),
        work: spec
            .values
            .time("thinktime_iotime")
            .filter(|time| *time > 0)
            .map(Nanos),
    }
}

pub(super) fn stop(spec: &Spec, pass: &Pass<'_>) -> Result<Stop, Mistake> {
    let runtime = spec
        .values
        .time("runtime")
        .filter(|time| *time > 0)
        .map(Nanos);
    let steady = steady(spec)?;
    // What is only read back was written in one pass, however long that took.
    let in_time = spec.values.flag("time_based") && runtime.is_some() && !pass.only_reads_back();
    let once = Some(pass.once()).filter(|once| !in_time && *once > 0);
    if runtime.is_none() && once.is_none() {
        let wrong = format!(
            "job {}: it would never end; runtime=30 or size=1g would end it",
            spec.name
        );
        return Err(Mistake::new(&spec.at, wrong));
    }
    Ok(Stop {
        runtime,
        bytes: once
            .filter(|_| !pass.ends_with_its_map())
            .map(|once| Bytes(once.saturating_mul(pass.passes()))),
        ios: Some(u64::from(spec.count("number_ios")) * pass.each()).filter(|ios| *ios > 0),
        loops: once
            .filter(|_| pass.ends_with_its_map())
            .map(|_| pass.passes().min(u32::MAX.into()) as u32),
        steady,
    })
}

/// `iops:10%`, `iops_slope:0.3%`, `bw:…`.
fn steady(spec: &Spec) -> Result<Option<Steady>, Mistake> {
    let over = spec.values.time("steadystate_duration").unwrap_or(0);
    let Some(text) = spec.values.text("steadystate") else {
        return Ok(None);
    };
    let (word, limit) = text.split_once(':').unwrap_or((text, "0.01%"));
    let variable = match word {
        "iops" | "iops_slope" => SteadyVariable::Iops,
        "bw" | "bw_slope" => SteadyVariable::Bandwidth,
        "lat" | "lat_slope" => SteadyVariable::Latency,
        _ => {
            let wrong = format!("`{word}` is none of iops, iops_slope, bw, bw_slope");
            return Err(spec.mistake("steadystate", wrong));
        }
    };
    let limit = match limit.split_once('%') {
        Some((percent, _)) => percent.parse().map(Limit::Percent).ok(),
        None if variable == SteadyVariable::Bandwidth => amount(limit, Scale::default())
            .ok()
            .map(|bytes| Limit::Absolute(bytes as f64)),
        None => limit.parse().map(Limit::Absolute).ok(),
    };
    let limit = limit.ok_or_else(|| spec.mistake("steadystate", "the limit is no number"))?;
    if over == 0 {
        // Over no time nothing is judged.
        return Ok(None);
    }
    let (round, rounds) = (Nanos::from_secs(1), over / 1_000_000_000);
    Ok(Some(match word.ends_with("_slope") {
        true => Steady::Slope {
            variable,
            round,
            // A line through two always fits.
            rounds: rounds.clamp(3, 86_400) as u32,
            limit,
        },
        false => Steady::Deviation {
            variable,
            round,
            rounds: rounds.clamp(1, 86_400) as u32,
            limit,
        },
    }))
}
