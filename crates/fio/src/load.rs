//! One clone as a job of the house: road, pattern, content.

use std::sync::Arc;

use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{
    Access, Advice, Batch, Content, Direction, Durability, EndsOthers, Engine, ErrorPolicy, Flush,
    Hints, Job, Lifetime, Measure, MovingWindow, Region, Runs, SizeDraw, Spread, TargetOrder,
    Verify, errno,
};

use super::ending;
use super::engine;
use super::files::Ground;
use super::mistake::Mistake;
use super::pass::Pass;
use super::pattern::{self, Way};
use super::priority;
use super::spec::Spec;
use super::terms::Terms;
use super::value::Share;

/// The load of clone `number`.
pub(super) fn load(
    spec: &Spec,
    way: Way,
    ground: &Ground,
    name: &str,
    number: u32,
    terms: &Terms<'_>,
) -> Result<Job, Mistake> {
    let outline = outline(spec, way, ground, name)?;
    let block = pattern::largest_block(&outline.sizes, way);
    let pass = Pass::new(spec, way, ground, &outline);
    let (again, drop_cache_every) = (pass.again(), pass.drop_cache_every());
    let stop = ending::stop(spec, &pass)?;
    let engine = engine::engine(spec)?;
    let depth = spec.values.number("iodepth").unwrap_or(1).clamp(1, 32768) as u32;
    let (target_order, target_turn) = order(spec)?;
    let think = ending::think(spec);
    let job = Job {
        targets: match engine {
            // No device is opened.
            Engine::Null => vec!["null".to_owned()],
            _ => ground.targets.clone(),
        },
        target_order,
        target_turn,
        engine,
        access: access(spec),
        durability: durability(spec),
        hints: hints(spec),
        depth,
        batch: batch(spec, depth),
        pin: processors(spec, number, terms)?,
        priority: priority::priority(spec),
        priority_shares: priority::shares(spec, engine)?,
        credentials: super::credentials::credentials(spec, terms),
        region: region(ground),
        runs: runs(spec, way),
        window: window(spec, block)?,
        per_direction_position: !way.random && way.reads && way.writes,
        no_overlap: spec.values.flag("serialize_overlap"),
        verify: super::verify::verify(spec, way, terms.bytes_of)?.map(|verify| Verify {
            pass: again,
            ..verify
        }),
        content: content(spec),
        fill: fill(spec, terms)?,
        content_unit: content_unit(spec),
        pace: ending::pace(spec, way, block)?,
        min_rate: ending::min_rate(spec, way),
        flow: ending::flow(spec),
        latency_target: ending::latency_target(spec),
        think_style: think.map_or_else(Default::default, |_| ending::think_style(spec)),
        think,
        start_delay: ending::start_delay(spec, number)?,
        stop,
        ramp: ramp(spec),
        flush: flush(spec, way)?,
        on_error: on_error(spec)?,
        drop_cache_every,
        ends_others: ends_others(spec),
        max_latency: spec
            .values
            .time("max_latency")
            .filter(|limit| *limit > 0)
            .map(Nanos),
        ignored_errors: ignored_errors(spec)?,
        stop_on_enospc: spec.values.flag("fill_device"),
        measure: measure(spec),
        submit_latency: is_asynchronous(engine, depth)
            && !spec.values.flag("disable_slat")
            && !spec.values.flag("gtod_reduce"),
        ..outline
    };
    Ok(job)
}

fn durability(spec: &Spec) -> Durability {
    match spec.values.text("sync") {
        Some("1" | "sync") => Durability::Sync,
        Some("dsync") => Durability::Dsync,
        _ => Durability::None,
    }
}

fn region(ground: &Ground) -> Region {
    Region {
        offset: Bytes(ground.offset),
        size: ground.size.map(Bytes),
        spread: Spread::Same,
    }
}

fn runs(spec: &Spec, way: Way) -> Option<Runs> {
    way.run.map(|length| Runs {
        length,
        same: spec.values.text("rw_sequencer") == Some("identical"),
        ..Runs::default()
    })
}

/// That of the job and that of its steady state.
fn ramp(spec: &Spec) -> Nanos {
    let time = |name: &str| spec.values.time(name).unwrap_or(0);
    Nanos(time("ramp_time").saturating_add(time("steadystate_ramp_time")))
}

fn measure(spec: &Spec) -> Measure {
    Measure {
        depths: true,
        bandwidth_every: sample(spec, "bwavgtime"),
        iops_every: sample(spec, "iopsavgtime"),
    }
}

/// Where operations go, how big they are, which way.
fn outline(spec: &Spec, way: Way, ground: &Ground, name: &str) -> Result<Job, Mistake> {
    let sizes = pattern::block_sizes(spec)?;
    Ok(Job {
        pattern: pattern::pattern(spec, way, &sizes, ground.space)?,
        mix: pattern::mix(spec, way),
        size_draw: match spec.values.is_given("bsrange") && !spec.values.is_given("bssplit") {
            true if spec.values.flag("bs_unaligned") => SizeDraw::AnyByte,
            true => SizeDraw::Multiples,
            false => SizeDraw::Listed,
        },
        align: align(spec).filter(|_| pattern::shifts_blocks(spec, &sizes)),
        trim_first: way.writes && way.trims,
        sizes,
        ..Job::new(name)
    })
}

/// The null engine waits for each operation where there is only one at a time.
pub(super) fn is_asynchronous(engine: Engine, depth: u32) -> bool {
    engine.is_asynchronous() && (engine != Engine::Null || depth > 1)
}

/// Milliseconds between samples.
fn sample(spec: &Spec, name: &str) -> Option<Nanos> {
    let ms = spec.values.number(name).unwrap_or(500);
    // Seven weeks are as good as never, and more is no time that can be counted.
    let ms = ms.clamp(0, u32::MAX.into()) as u64;
    (ms > 0).then(|| Nanos::from_millis(ms))
}

fn access(spec: &Spec) -> Access {
    let direct = spec.values.flag("direct")
        || spec.values.flag("atomic")
        || spec.values.number("buffered") == Some(0);
    if direct {
        Access::Direct
    } else {
        Access::Buffered
    }
}

fn hints(spec: &Spec) -> Hints {
    Hints {
        advice: match spec.values.text("fadvise_hint") {
            Some("0") => Advice::None,
            Some("random") => Advice::Random,
            Some("sequential") => Advice::Sequential,
            _ => Advice::ByPattern,
        },
        lifetime: match spec.values.text("write_hint") {
            Some("none") => Some(Lifetime::None),
            Some("short") => Some(Lifetime::Short),
            Some("medium") => Some(Lifetime::Medium),
            Some("long") => Some(Lifetime::Long),
            Some("extreme") => Some(Lifetime::Extreme),
            _ => None,
        },
    }
}

/// `zipf:1.2`, `random:8`: the order, and behind the last `:` the operations before the next file.
fn order(spec: &Spec) -> Result<(TargetOrder, u32), Mistake> {
    let text = spec
        .values
        .text("file_service_type")
        .unwrap_or("roundrobin");
    let mut parts = text.split(':');
    let word = parts.next().unwrap_or_default();
    let number = parts.next().filter(|text| !text.is_empty());
    let number = number.map(str::parse::<f64>).transpose();
    let number =
        number.map_err(|_| spec.mistake("file_service_type", "no number follows the `:`"))?;
    let turn = number.unwrap_or(1.0).clamp(1.0, 1e6) as u32;
    Ok(match word {
        "roundrobin" => (TargetOrder::RoundRobin, turn),
        "random" => (TargetOrder::Random, turn),
        "sequential" => (TargetOrder::OneByOne, 1),
        "zipf" => (
            TargetOrder::Zipf {
                theta: number.unwrap_or(1.1),
            },
            1,
        ),
        "pareto" => (
            TargetOrder::Pareto {
                h: number.unwrap_or(0.2),
            },
            1,
        ),
        "normal" | "gauss" => {
            let deviation_percent = number.unwrap_or(20.0);
            (TargetOrder::Normal { deviation_percent }, 1)
        }
        other => {
            let wrong = format!(
                "`{other}` is none of random, zipf, pareto, normal, roundrobin, sequential"
            );
            return Err(spec.mistake("file_service_type", wrong));
        }
    })
}

fn batch(spec: &Spec, depth: u32) -> Batch {
    let submit = spec
        .values
        .number("iodepth_batch")
        .map(|batch| match batch {
            0 => depth,
            batch => batch.clamp(1, depth.into()) as u32,
        });
    let complete = spec
        .values
        .number("iodepth_batch_complete_min")
        .unwrap_or(1);
    Batch {
        submit: submit.unwrap_or(0),
        complete: complete.clamp(1, depth.into()) as u32,
        low: spec.count("iodepth_low").min(depth - 1),
    }
}

fn processors(spec: &Spec, number: u32, terms: &Terms<'_>) -> Result<Vec<u32>, Mistake> {
    let mut allowed = Vec::new();
    if let Some(mask) = spec.values.number("cpumask") {
        if mask == 0 {
            return Err(spec.mistake("cpumask", "it names no processor; 3 names the first two"));
        }
        allowed.extend((0..63u32).filter(|bit| mask >> bit & 1 == 1));
    }
    if let Some(list) = spec.values.text("cpus_allowed") {
        allowed = list_of(list).map_err(|why| spec.mistake("cpus_allowed", why))?;
        let largest = terms.processors.saturating_sub(1);
        if let Some(beyond) = allowed.iter().find(|number| **number > largest) {
            let wrong = format!("CPU {beyond} too large (max={largest})");
            return Err(spec.mistake("cpus_allowed", wrong));
        }
    }
    if let Some(list) = spec
        .values
        .text("numa_cpu_nodes")
        .filter(|list| *list != "all")
    {
        let nodes = list_of(list).map_err(|why| spec.mistake("numa_cpu_nodes", why))?;
        allowed = nodes.into_iter().flat_map(terms.node_processors).collect();
    }
    let turn = number as usize % allowed.len().max(1);
    Ok(allowed.get(turn).copied().into_iter().collect())
}

/// `0,2-4`.
fn list_of(text: &str) -> Result<Vec<u32>, String> {
    let mut list = Vec::new();
    for part in text.split([',', ':']).filter(|part| !part.is_empty()) {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| {
            let parsed = text
                .trim()
                .parse::<u32>()
                .ok()
                .filter(|number| *number < 4096);
            parsed.ok_or_else(|| format!("`{text}` is no processor's or node's number"))
        };
        list.extend(number(low)?..=number(high)?);
    }
    Ok(list)
}

/// `ba`; 0 keeps the smallest block.
fn align(spec: &Spec) -> Option<[Bytes; 3]> {
    let given = spec.values.sizes("ba")?;
    let fallback = given.into_iter().find(|align| *align > 0)?;
    Some(given.map(|align| Bytes(if align > 0 { align } else { fallback })))
}

/// `zonemode=strided`.
fn window(spec: &Spec, block: u64) -> Result<Option<MovingWindow>, Mistake> {
    let bytes = |name| spec.values.number(name).unwrap_or(0).max(0) as u64;
    match spec.values.text("zonemode") {
        Some("strided") => {}
        Some("zbd") => {
            return Err(spec.mistake("zonemode", "zoned devices are not driven as such"));
        }
        _ => return Ok(None),
    }
    let size = bytes("zonesize");
    if size == 0 {
        return Err(spec.mistake("zonemode", "zonesize= must say how much is moved in a zone"));
    }
    let range = Some(bytes("zonerange"))
        .filter(|range| *range > 0)
        .unwrap_or(size);
    if range < block {
        let wrong = format!("a zone of {range} bytes holds no block of {block}");
        return Err(spec.mistake("zonesize", wrong));
    }
    Ok(Some(MovingWindow {
        bytes: Bytes(size),
        range: Bytes(range),
        skip: match spec.values.share("zoneskip") {
            Some(Share::Bytes(skip)) => Bytes(skip),
            _ => Bytes::ZERO,
        },
    }))
}

fn content(spec: &Spec) -> Content {
    let percent = |name| spec.values.number(name).unwrap_or(0).clamp(0, 100) as u8;
    let (compress_percent, dedupe_percent) = (
        percent("buffer_compress_percentage"),
        percent("dedupe_percentage"),
    );
    if spec.values.flag("zero_buffers") {
        Content::Zero
    } else if dedupe_percent > 0 && spec.values.text("dedupe_mode") != Some("working_set") {
        Content::Repeating {
            compress_percent,
            repeat_percent: dedupe_percent,
        }
    } else if compress_percent > 0 || dedupe_percent > 0 {
        Content::Shaped {
            compress_percent,
            dedupe_percent,
        }
    } else if spec.values.flag("refill_buffers") {
        Content::Fresh
    } else if spec.values.number("scramble_buffers") == Some(0) {
        Content::Same
    } else {
        Content::Random
    }
}

/// In what units content compresses and repeats: devices work in sectors.
fn content_unit(spec: &Spec) -> Bytes {
    let unit = spec
        .values
        .number("buffer_compress_chunk")
        .filter(|unit| *unit >= 512);
    match unit {
        Some(unit) => Bytes(unit as u64),
        None => Job::new("").content_unit,
    }
}

/// `buffer_pattern`: numbers, texts and files in quotes, several in a row.
fn fill(spec: &Spec, terms: &Terms<'_>) -> Result<Option<Arc<[u8]>>, Mistake> {
    let Some(text) = spec.values.text("buffer_pattern") else {
        return Ok(None);
    };
    let bytes = super::bytes::pattern(text, terms.bytes_of);
    let bytes = bytes.map_err(|why| spec.mistake("buffer_pattern", why))?;
    Ok(Some(bytes.into()))
}

fn flush(spec: &Spec, way: Way) -> Result<Flush, Mistake> {
    let (range_flags, range_every) = range(spec)?;
    let may_read = way.reads || spec.values.is_given("verify");
    let flushes = spec.count("fsync") > 0 || spec.count("fdatasync") > 0;
    Ok(Flush {
        fsync_every: spec.count("fsync"),
        fdatasync_every: spec.count("fdatasync"),
        after_reads: flushes && may_read,
        at_end: spec.values.flag("end_fsync") || spec.values.flag("fsync_on_close"),
        range_every,
        range_flags,
    })
}

/// `wait_before,write:8`: what to wait for, and after how many writes.
fn range(spec: &Spec) -> Result<(u32, u32), Mistake> {
    let Some(text) = spec.values.text("sync_file_range") else {
        return Ok((0, 0));
    };
    let (words, every) = text.split_once(':').unwrap_or((text, "1"));
    let mut flags = 0;
    for word in words.split(',') {
        flags |= match word {
            "wait_before" => 1,
            "write" => 2,
            "wait_after" => 4,
            other => {
                let wrong = format!("`{other}` is none of wait_before, write, wait_after");
                return Err(spec.mistake("sync_file_range", wrong));
            }
        };
    }
    match every.parse() {
        Ok(every) => Ok((flags, every)),
        Err(_) => Err(spec.mistake(
            "sync_file_range",
            format!("`{every}` is no number of writes"),
        )),
    }
}

fn ends_others(spec: &Spec) -> EndsOthers {
    if spec.values.flag("exitall") {
        EndsOthers::Always
    } else if spec.values.flag("exitall_on_error") {
        EndsOthers::OnError
    } else {
        EndsOthers::Never
    }
}

fn on_error(spec: &Spec) -> Result<ErrorPolicy, Mistake> {
    let (mut read, mut write, mut verify) = (false, false, false);
    for word in spec
        .values
        .text("continue_on_error")
        .unwrap_or("none")
        .split(',')
    {
        match word {
            "none" | "0" => return Ok(ErrorPolicy::Stop),
            "all" | "1" => (read, write, verify) = (true, true, true),
            "read" => read = true,
            "write" => write = true,
            "verify" => verify = true,
            "io" => (read, write) = (true, true),
            other => {
                let wrong = format!("`{other}` is none of none, read, write, io, verify, all");
                return Err(spec.mistake("continue_on_error", wrong));
            }
        }
    }
    Ok(ErrorPolicy::ContinueOn {
        read,
        write,
        verify,
    })
}

/// `ENOSPC:EIO,28`: of reads, then of writes; numbers or names.
fn ignored_errors(spec: &Spec) -> Result<Vec<(Direction, i32)>, Mistake> {
    let text = spec.values.text("ignore_error").unwrap_or_default();
    let mut ignored = Vec::new();
    for (direction, part) in [Direction::Read, Direction::Write]
        .into_iter()
        .zip(text.split(','))
    {
        for word in part.split(':').filter(|word| !word.is_empty()) {
            let number = word.parse().ok().or_else(|| errno::number(word));
            let number = number.ok_or_else(|| {
                spec.mistake(
                    "ignore_error",
                    format!("`{word}` is no error's name or number"),
                )
            })?;
            ignored.push((direction, number));
        }
    }
    Ok(ignored)
}
