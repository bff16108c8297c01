//! What makes a job impossible to run.

use blocklab_units::{Bytes, Nanos};

use super::{Invalid, Job, Pace, Pattern, Rate, SizeMix, Zone};

/// Sampling is done by the thread that looks on, which sleeps in between.
const SHORTEST_SAMPLE: Nanos = Nanos::from_millis(1);

pub(super) fn rules(job: &Job) -> Result<(), Invalid> {
    let rule = |holds: bool, field, message: &str| match holds {
        true => Ok(()),
        false => Err(Invalid {
            field,
            message: message.to_owned(),
        }),
    };
    rule(
        job.threads >= 1 && job.threads <= 4096,
        "threads",
        "threads must be 1 to 4096",
    )?;
    rule(
        job.depth >= 1 && job.depth <= 32768,
        "depth",
        "depth must be 1 to 32768",
    )?;
    rule(
        job.batch.complete >= 1 && job.batch.complete <= job.depth,
        "batch_complete",
        "batch_complete must be at least 1 and at most the depth: a wait for more would never end",
    )?;
    let total = u32::from(job.mix.read) + u32::from(job.mix.write) + u32::from(job.mix.trim);
    rule(
        total == 100,
        "mix",
        "read, write and trim shares must add up to 100",
    )?;
    let sizes = [&job.sizes.read, &job.sizes.write, &job.sizes.trim];
    let sound = |mix: &&SizeMix| {
        !mix.0.is_empty() && mix.0.iter().all(|(size, weight)| size.0 > 0 && *weight > 0)
    };
    rule(
        sizes.iter().all(sound),
        "block_size",
        "block sizes and their weights must be above 0",
    )?;
    rule(
        job.sizes.largest() <= Bytes::GIB,
        "block_size",
        "a block may be at most 1 GiB",
    )?;
    let stop = &job.stop;
    rule(
        stop.runtime.is_some() || stop.bytes.is_some() || stop.loops.is_some(),
        "runtime",
        "one of runtime, stop_bytes or loops must be given, else the job never ends",
    )?;
    rule(
        stop.runtime != Some(Nanos::ZERO),
        "runtime",
        "runtime must be above 0",
    )?;
    rule(
        stop.bytes != Some(Bytes::ZERO),
        "stop_bytes",
        "stop_bytes must be above 0",
    )?;
    rule(stop.loops != Some(0), "loops", "loops must be above 0")?;
    if let Some(think) = job.think {
        rule(
            think.every >= 1,
            "think_every",
            "think_every must be at least 1",
        )?;
    }
    let every = [job.measure.bandwidth_every, job.measure.iops_every];
    rule(
        every
            .iter()
            .flatten()
            .all(|every| *every >= SHORTEST_SAMPLE),
        "sample_every",
        "samples must be at least 1 ms apart",
    )?;
    pattern_rules(&job.pattern)?;
    pace_rules(job.pace)
}

fn pattern_rules(pattern: &Pattern) -> Result<(), Invalid> {
    let invalid = |field, message: &str| {
        Err(Invalid {
            field,
            message: message.to_owned(),
        })
    };
    match pattern {
        Pattern::PercentRandom(percent) if *percent > 100 => {
            invalid("percent_random", "percent_random must be 0 to 100")
        }
        Pattern::Strided { stride } if stride.0 == 0 => invalid("stride", "stride must be above 0"),
        Pattern::Zipf { theta } if !(*theta > 0.0 && *theta < 100.0 && *theta != 1.0) => invalid(
            "theta",
            "zipf needs a theta above 0 that is not 1, such as 1.2",
        ),
        Pattern::Pareto { h } if !(*h > 0.0 && *h < 1.0) => {
            invalid("h", "pareto needs h between 0 and 1, such as 0.2")
        }
        Pattern::Normal {
            deviation_percent: d,
        } if !(*d > 0.0 && *d <= 100.0) => invalid(
            "deviation",
            "normal needs a deviation above 0 and at most 100 per cent",
        ),
        Pattern::Zones(zones) if !zones_add_up(zones) => invalid(
            "zones",
            "the access shares of the zones and their space shares must each add up to 100",
        ),
        _ => Ok(()),
    }
}

fn zones_add_up(zones: &[Zone]) -> bool {
    let near_hundred = |sum: f64| (sum - 100.0).abs() < 0.01;
    zones
        .iter()
        .all(|z| z.access_percent >= 0.0 && z.space_percent > 0.0)
        && near_hundred(zones.iter().map(|z| z.access_percent).sum())
        && near_hundred(zones.iter().map(|z| z.space_percent).sum())
}

fn pace_rules(pace: Pace) -> Result<(), Invalid> {
    let (Pace::Capped(rate) | Pace::OpenFixed(rate) | Pace::OpenPoisson(rate)) = pace else {
        return Ok(());
    };
    let (Rate::Iops(value) | Rate::Bytes(value)) = rate;
    if value.is_finite() && value > 0.0 && value < 1e12 {
        return Ok(());
    }
    Err(Invalid {
        field: "rate",
        message: "a rate must be above 0 and below 1e12".to_owned(),
    })
}
