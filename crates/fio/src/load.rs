//! From one clone's options to a job of the plan: engine, access, pattern and content.

use std::sync::Arc;

use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{
    Access, Advice, Batch, BlockSizes, Content, Credentials, Direction, Durability, EndsOthers,
    Engine, ErrorPolicy, Flush, Hints, Job, Lifetime, Measure, MovingWindow, OperationFlags,
    Pattern, Region, Runs, SizeDraw, Spread, Target, TargetOrder, Verify,
};

use super::context::{PlanContext, control_group};
use super::fault::Fault;
use super::files::WorkingSet;
use super::pass::Pass;
use super::pattern::{self, ReadWrite};
use super::spec::Spec;
use super::value::{Sizes, error_number, nonzero};
use super::{ending, engine, priority, verify};
use blocklab_syntax::Mistake;
use blocklab_syntax::number::processor_list;

/// The most operations in flight of a job: the largest submission ring of io_uring.
pub(super) const MOST_DEPTH: u32 = 32_768;

/// The load of clone `number`.
pub(super) fn load(
    spec: &Spec,
    rw: ReadWrite,
    working_set: &WorkingSet,
    name: &str,
    number: u32,
    context: &PlanContext<'_>,
) -> Result<Job, Fault> {
    let options = &spec.options;
    let engine = engine::engine(spec, context.only_parsed)?;
    let outline = outline(spec, rw, working_set, name)?;
    let block = pattern::largest_block(&outline.sizes, rw);
    let pass = Pass::new(spec, rw, working_set, &outline);
    let (again, drop_cache_every) = (pass.restarts_after(), pass.drop_cache_every());
    let stop = ending::stop(spec, &pass)?;
    let depth = options.iodepth.clamp(1, MOST_DEPTH);
    let (target_order, target_turn) = order(spec)?;
    let [takes_submission, ..] = options.taken_latencies();
    let think = engine::pause(options).or_else(|| ending::think(options));
    let job = Job {
        targets: if engine.needs_target() {
            working_set.targets.clone()
        } else {
            // No file is opened, but each operation has the number of its own.
            vec![Target::Null.to_string(); working_set.targets.len()]
        },
        center: center(spec, "random_distribution", &options.random_distribution)?,
        target_order,
        target_turn,
        target_center: center(spec, "file_service_type", &options.file_service_type)?,
        open_targets: open_targets(spec, &working_set.targets)?,
        engine,
        depth,
        batch: batch(spec, depth),
        pin: processors(spec, number, context)?,
        priority_shares: priority::shares(spec, engine)?,
        credentials: Credentials {
            user: options.uid,
            group: options.gid,
            control_group: control_group(options, context).map(|group| group.path),
        },
        window: zone_window(spec, rw, &outline.sizes, working_set, context)?,
        verify: verify::verify(spec, rw, is_asynchronous(engine, depth), context.bytes_of)?.map(
            |verify| Verify {
                pass: again,
                ..verify
            },
        ),
        fill: fill(spec, context)?,
        pace: ending::pace(spec, rw, block)?,
        think_style: think.map_or_else(Default::default, |_| ending::think_style(options)),
        think,
        start_delay: ending::start_delay(spec, number)?,
        stop,
        flush: flush(spec, rw)?,
        on_error: on_error(spec)?,
        drop_cache_every,
        ignored_errors: ignored_errors(spec)?,
        submit_latency: is_asynchronous(engine, depth) && takes_submission,
        ..add_single_options(spec, rw, working_set, outline)
    };
    Ok(job)
}

/// Adds to the outline of a job the settings that follow from single options.
fn add_single_options(spec: &Spec, rw: ReadWrite, working_set: &WorkingSet, outline: Job) -> Job {
    let options = &spec.options;
    Job {
        access: if options.direct || options.atomic || !options.buffered {
            Access::Direct
        } else {
            Access::Buffered
        },
        durability: match options.sync {
            "1" | "sync" => Durability::Sync,
            "dsync" => Durability::Dsync,
            _ => Durability::None,
        },
        operation_flags: OperationFlags {
            // pvsync2 has it among its own.
            nowait: options.nowait && matches!(&*options.ioengine, "libaio" | "io_uring"),
            atomic: options.atomic && rw.writes,
        },
        hints: hints(spec),
        priority: priority::priority(options),
        region: Region {
            offset: Bytes(working_set.offset),
            size: working_set.size.map(Bytes),
            spread: Spread::Same,
        },
        runs: rw.run.map(|length| Runs {
            length,
            same: options.rw_sequencer == "identical",
            ..Runs::default()
        }),
        // A direction that goes on where its last operation ended knows nothing of the others.
        per_direction_position: (outline.pattern.is_sequential()
            || rw.run.is_some()
            || matches!(outline.pattern, Pattern::PercentRandom(_))
            || outline.random_percent.is_some())
            && rw.reads
            && rw.writes,
        no_overlap: options.serialize_overlap,
        content: content(spec),
        content_unit: match options.buffer_compress_chunk.filter(|unit| *unit >= 512) {
            Some(unit) => Bytes(unit),
            None => outline.content_unit,
        },
        min_rate: ending::min_rate(options, rw),
        flow: ending::flow(options),
        latency_target: ending::latency_target(options),
        ramp: options.ramp_time,
        ends_others: match (options.exitall, options.exitall_on_error) {
            (true, _) => EndsOthers::Always,
            (false, true) => EndsOthers::OnError,
            (false, false) => EndsOthers::Never,
        },
        max_latency: nonzero(options.max_latency),
        stop_on_enospc: options.fill_device,
        measure: Measure {
            depths: true,
            bandwidth_every: sample_interval(options.bwavgtime),
            iops_every: sample_interval(options.iopsavgtime),
        },
        ..outline
    }
}

/// A placeholder for a job that cannot begin: it opens nothing.
pub(super) fn unfit(spec: &Spec, rw: ReadWrite, name: &str) -> Result<Job, Mistake> {
    Ok(Job {
        targets: vec![Target::Null.to_string()],
        engine: Engine::Null,
        mix: pattern::mix(&spec.options, rw),
        sizes: pattern::block_sizes(spec)?,
        ..Job::new(name)
    })
}

/// The pattern, the block sizes and the directions of a job.
fn outline(
    spec: &Spec,
    rw: ReadWrite,
    working_set: &WorkingSet,
    name: &str,
) -> Result<Job, Mistake> {
    let options = &spec.options;
    let size_draw = if options.bsrange.is_none() || pattern::has_split(options, rw) {
        SizeDraw::Listed
    } else if options.bs_unaligned {
        SizeDraw::AnyByte
    } else {
        SizeDraw::Multiples
    };
    let given = pattern::block_sizes(spec)?;
    let room = working_set.bytes_per_target();
    let sizes = if working_set.has_equal_parts() {
        pattern::fitting(given, size_draw, room)
    } else {
        given
    };
    let shifted = align(options.ba).filter(|_| pattern::shifts_blocks(options, &sizes));
    let (pattern, random_percent) = pattern::pattern(spec, rw, &sizes, working_set.space)?;
    Ok(Job {
        pattern,
        random_percent,
        mix: pattern::mix(options, rw),
        size_draw,
        align: shifted.or_else(|| pattern::own_multiples(options, rw, &sizes)),
        trim_first: rw.writes && rw.trims,
        sizes,
        ..Job::new(name)
    })
}

/// The null engine waits for each operation where there is only one at a time.
pub(super) fn is_asynchronous(engine: Engine, depth: u32) -> bool {
    engine.is_asynchronous() && (engine != Engine::Null || depth > 1)
}

/// The time between two samples; `None`: none are taken.
fn sample_interval(ms: u32) -> Option<Nanos> {
    nonzero(Nanos::from_millis(ms.into()))
}

fn hints(spec: &Spec) -> Hints {
    Hints {
        advice: match spec.options.fadvise_hint {
            "0" => Advice::None,
            "random" => Advice::Random,
            "sequential" => Advice::Sequential,
            "noreuse" => Advice::NoReuse,
            _ => Advice::ByPattern,
        },
        lifetime: match spec.options.write_hint {
            "none" => Some(Lifetime::None),
            "short" => Some(Lifetime::Short),
            "medium" => Some(Lifetime::Medium),
            "long" => Some(Lifetime::Long),
            "extreme" => Some(Lifetime::Extreme),
            _ => None,
        },
    }
}

fn center(spec: &Spec, option: &str, text: &str) -> Result<Option<f64>, Mistake> {
    pattern::center(text).map_err(|why| spec.mistake(option, why))
}

/// 0, and more than there are, mean all.
fn open_targets(spec: &Spec, targets: &[String]) -> Result<Option<u32>, Mistake> {
    let most = spec.options.openfiles.unwrap_or(0);
    if !(1..targets.len() as u64).contains(&most) {
        return Ok(None);
    }
    if spec.options.sqthread_poll {
        let wrong = "a kernel thread that polls (sqthread_poll) takes registered files, which all \
                     stay open; without openfiles it would work";
        return Err(spec.mistake("openfiles", wrong));
    }
    Ok(Some(most as u32))
}

/// `zipf:1.2`, `random:8`: the order in which files take turns, and how many operations a turn has.
fn order(spec: &Spec) -> Result<(TargetOrder, u32), Mistake> {
    let mut parts = spec.options.file_service_type.split(':');
    let word = parts.next().unwrap_or_default();
    let text = parts.next().filter(|text| !text.is_empty());
    let number = text
        .map(|text| {
            // `nan` and `inf` are numbers to the parser, and neither counts nor shapes anything.
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
            number.ok_or_else(|| spec.mistake("file_service_type", "no number follows the `:`"))
        })
        .transpose()?;
    let order = match word {
        "roundrobin" => TargetOrder::RoundRobin,
        "random" => TargetOrder::Random,
        "sequential" => TargetOrder::OneByOne,
        "zipf" => TargetOrder::Zipf {
            theta: number.unwrap_or(1.1),
        },
        "pareto" => TargetOrder::Pareto {
            h: number.unwrap_or(0.2),
        },
        "normal" | "gauss" => TargetOrder::Normal {
            deviation_percent: number.unwrap_or(20.0),
        },
        other => {
            let wrong = format!(
                "`{other}` is none of random, zipf, pareto, normal, roundrobin, sequential"
            );
            return Err(spec.mistake("file_service_type", wrong));
        }
    };
    // For these two the number counts operations. The bound keeps it within 32 bits, and is more
    // operations than a turn ever needs.
    let turn = match order {
        TargetOrder::RoundRobin | TargetOrder::Random => number.unwrap_or(1.0).clamp(1.0, 1e6),
        _ => 1.0,
    };
    Ok((order, turn as u32))
}

/// How many operations are submitted and awaited at a time.
fn batch(spec: &Spec, depth: u32) -> Batch {
    let options = &spec.options;
    let (submit, min) = (options.iodepth_batch, options.iodepth_batch_complete_min);
    let most = options.iodepth_batch_complete_max;
    let low = options.iodepth_low.min(depth - 1);
    if (submit, min, most) == (None, None, None) {
        return Batch {
            low,
            ..Batch::default()
        };
    }
    // Where one of the three is given, the others have fio's defaults; where none is, ours.
    let complete = min.unwrap_or(1).clamp(1, depth);
    Batch {
        submit: match submit.unwrap_or(1) {
            0 => depth,
            batch => batch.min(depth),
        },
        complete,
        take: most.unwrap_or(1).max(complete),
        low,
    }
}

/// The processor of the clone with this number, empty where it may run on every one.
/// `numa_cpu_nodes` holds over `cpus_allowed` and `cpumask`, of which only one is left.
fn processors(spec: &Spec, number: u32, context: &PlanContext<'_>) -> Result<Vec<u32>, Mistake> {
    let mut allowed = Vec::new();
    let mut option = "cpus_allowed";
    if let Some(mask) = spec.options.cpumask {
        option = "cpumask";
        if mask == 0 {
            return Err(spec.mistake("cpumask", "it names no processor; 3 names the first two"));
        }
        // The option's value is at most i64::MAX.
        allowed.extend((0..63u32).filter(|bit| mask >> bit & 1 == 1));
    }
    if let Some(list) = &spec.options.cpus_allowed {
        allowed = list_of(list).map_err(|why| spec.mistake(option, why))?;
    }
    let largest = context.processors.saturating_sub(1);
    if let Some(beyond) = allowed.iter().find(|number| **number > largest) {
        let wrong = format!("CPU {beyond} too large (max={largest})");
        return Err(spec.mistake(option, wrong));
    }
    let nodes = spec.options.numa_cpu_nodes.as_deref();
    if let Some(list) = nodes.filter(|list| *list != "all") {
        let nodes = list_of(list).map_err(|why| spec.mistake("numa_cpu_nodes", why))?;
        allowed.clear();
        for node in nodes {
            let of_node = (context.node_processors)(node);
            if of_node.is_empty() {
                let wrong = format!(
                    "this machine has no node {node} with processors; /sys/devices/system/node \
                     lists those that it has"
                );
                return Err(spec.mistake("numa_cpu_nodes", wrong));
            }
            allowed.extend(of_node);
        }
    }
    let turn = number as usize % allowed.len().max(1);
    Ok(allowed.get(turn).copied().into_iter().collect())
}

/// Numbers of processors or nodes: `0,2-4`. A colon separates them as well.
fn list_of(text: &str) -> Result<Vec<u32>, String> {
    let list = text.replace(':', ",");
    processor_list(list.trim_end_matches(','))
        .ok_or_else(|| format!("`{text}` is no list of numbers such as 0,2-4"))
}

/// `ba`; 0 keeps the smallest block.
fn align(given: Sizes) -> Option<[Bytes; 3]> {
    let fallback = given.into_iter().find(|align| *align > 0)?;
    Some(given.map(|align| Bytes(if align > 0 { align } else { fallback })))
}

/// `zonemode=strided`.
fn zone_window(
    spec: &Spec,
    rw: ReadWrite,
    sizes: &BlockSizes,
    working_set: &WorkingSet,
    context: &PlanContext<'_>,
) -> Result<Option<MovingWindow>, Fault> {
    let options = &spec.options;
    match options.zonemode {
        // No window moves over files that hold no block.
        "strided" if working_set.holds_no_block => return Ok(None),
        "strided" => {}
        "zbd" => {
            return if context.only_parsed {
                Ok(None)
            } else {
                let why = spec.mistake("zonemode", "zoned devices are not driven as such");
                Err(Fault::invalid(why))
            };
        }
        _ => return Ok(None),
    }
    if options.zonesize == 0 {
        let wrong = "zonesize= must say how much is moved in a zone";
        return Err(spec.mistake("zonemode", wrong).into());
    }
    let range = nonzero(options.zonerange).unwrap_or(options.zonesize);
    let skip = options.zoneskip.bytes_of(0);
    let block = pattern::largest_block(sizes, rw);
    let over = over_the_end(range, block, rw, sizes);
    // Beyond the end there is the next zone where they lie closer.
    let over = if over <= skip { over } else { 0 };
    let (range, skip) = (range + over, skip - over);
    if range < block {
        let wrong = format!("a zone of {range} bytes holds no block of {block}");
        return Err(Fault::invalid(spec.mistake("zonesize", wrong)));
    }
    Ok(Some(MovingWindow {
        bytes: Bytes(options.zonesize),
        // A zone that reaches beyond the file ends with the file.
        range: Bytes(range.min(working_set.bytes_per_target())),
        skip: Bytes(skip),
    }))
}

/// Bytes by which the last block of a zone reaches beyond its end, as fio lets those of a sequential job.
fn over_the_end(range: u64, block: u64, rw: ReadWrite, sizes: &BlockSizes) -> u64 {
    let directions = [rw.reads, rw.writes, rw.trims].into_iter();
    let is_one_way = directions.filter(|is_done| *is_done).count() == 1;
    if rw.random || rw.gap != 0 || !is_one_way || sizes.smallest() != sizes.largest() {
        return 0;
    }
    let whole = range.checked_next_multiple_of(block);
    whole.map_or(0, |whole| whole - range)
}

/// What the job writes. Of several options that say it, the first one here holds, as in fio.
fn content(spec: &Spec) -> Content {
    let options = &spec.options;
    let compress_percent = options.buffer_compress_percentage.min(100) as u8;
    let dedupe_percent = options.dedupe_percentage.min(100) as u8;
    if dedupe_percent > 0 && options.dedupe_mode != "working_set" {
        // `dedupe_mode=repeat`: earlier writes come again, not blocks of a fixed set.
        Content::Repeating {
            compress_percent,
            repeat_percent: dedupe_percent,
        }
    } else if compress_percent > 0 || dedupe_percent > 0 {
        Content::Shaped {
            compress_percent,
            dedupe_percent,
        }
    } else if options.zero_buffers {
        Content::Zero
    } else if options.refill_buffers || verify::fills_at_random(options) {
        Content::Fresh
    } else if options.scramble_buffers {
        Content::Random
    } else {
        Content::Same
    }
}

/// `buffer_pattern`: numbers, texts and files in quotes, several in a row. A `verify_pattern` that is
/// not verified is only written.
fn fill(spec: &Spec, context: &PlanContext<'_>) -> Result<Option<Arc<[u8]>>, Mistake> {
    let options = &spec.options;
    let (name, text) = match (&options.verify_pattern, &options.buffer_pattern) {
        (Some(text), _) if verify::method(options).is_none() => ("verify_pattern", text),
        (_, Some(text)) => ("buffer_pattern", text),
        _ => return Ok(None),
    };
    let bytes =
        super::bytes::pattern(text, context.bytes_of).map_err(|why| spec.mistake(name, why))?;
    Ok(Some(bytes.into()))
}

fn flush(spec: &Spec, rw: ReadWrite) -> Result<Flush, Mistake> {
    let (range_flags, range_every) = flush_range(spec)?;
    let options = &spec.options;
    let may_read = rw.reads || verify::method(options).is_some();
    Ok(Flush {
        fsync_every: options.fsync,
        fdatasync_every: options.fdatasync,
        after_reads: may_read && (options.fsync > 0 || options.fdatasync > 0),
        at_end: options.end_fsync || options.end_syncfs || options.fsync_on_close,
        range_every,
        range_flags,
    })
}

/// `wait_before,write:8`: what to wait for and what to write, and after how many writes.
fn flush_range(spec: &Spec) -> Result<(u32, u32), Mistake> {
    let Some(text) = &spec.options.sync_file_range else {
        return Ok((0, 0));
    };
    let (mut flags, mut every) = (0, "1");
    for part in text.split(',') {
        // As in fio, the number of the last word counts, which is 1 without one.
        let (word, number) = part.split_once(':').unwrap_or((part, "1"));
        every = number;
        // The bits of sync_file_range(2).
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
    let every = every.parse().map_err(|_| {
        let wrong = format!("`{every}` is no number of writes");
        spec.mistake("sync_file_range", wrong)
    })?;
    Ok((flags, every))
}

/// `continue_on_error`, and what `ignore_error` lets pass of verification.
fn on_error(spec: &Spec) -> Result<ErrorPolicy, Mistake> {
    let options = &spec.options;
    let (mut read, mut write) = (false, false);
    for word in options.continue_on_error.split(',') {
        match word {
            "none" | "0" | "verify" => {}
            "all" | "1" | "io" => (read, write) = (true, true),
            "read" => read = true,
            "write" => write = true,
            other => {
                let wrong = format!("`{other}` is none of none, read, write, io, verify, all");
                return Err(spec.mistake("continue_on_error", wrong));
            }
        }
    }
    let verify = verify::continues_after_flaw(options);
    Ok(if read || write || verify {
        ErrorPolicy::ContinueOn {
            read,
            write,
            verify,
        }
    } else {
        ErrorPolicy::Stop
    })
}

/// `ENOSPC:EIO,28`: of reads, of writes, and of verification; numbers or names.
fn ignored_errors(spec: &Spec) -> Result<Vec<(Direction, i32)>, Mistake> {
    let text = spec.options.ignore_error.as_deref().unwrap_or_default();
    let mut ignored = Vec::new();
    // What is let pass of verification is a part of the policy on errors.
    let lists = [Some(Direction::Read), Some(Direction::Write), None];
    for (index, part) in text.split(',').enumerate() {
        let Some(direction) = lists.get(index) else {
            let wrong = "there are three lists: of reads, of writes and of verification";
            return Err(spec.mistake("ignore_error", wrong));
        };
        for word in part.split(':').filter(|word| !word.is_empty()) {
            let Some(number) = error_number(word) else {
                let wrong = format!("`{word}` is no error's name or number");
                return Err(spec.mistake("ignore_error", wrong));
            };
            ignored.extend(direction.map(|direction| (direction, number)));
        }
    }
    Ok(ignored)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::planned;

    fn job(options: &str) -> Result<Job, Mistake> {
        let text = format!("[a]\nioengine=null\nsize=4k\nrw=write\n{options}\n");
        planned(&text).map(|mut prepared| prepared.plan.cases[0].workload.jobs.remove(0))
    }

    /// The story: of zones of 10k every 16k, fio writes blocks of 4k at 0, 4k and 8k, of which the third
    /// reaches beyond its zone. Here it was written at 0 once more.
    #[test]
    fn the_last_block_of_a_zone_may_reach_beyond_it() {
        let window = |options: &str| {
            let options = options.replace(' ', "\n");
            let job = job(&format!("size=1m\nbs=4k\nzonemode=strided\n{options}"));
            let window = job.unwrap().window.expect("zones");
            [window.range, window.skip].map(|bytes| bytes.0 >> 10)
        };
        assert_eq!(window("zonesize=10k zoneskip=6k"), [12, 4]);
        assert_eq!(window("zonesize=3k zoneskip=5k"), [4, 4]);
        assert_eq!(window("zonesize=8k zoneskip=6k"), [8, 6]);
        // Such a block would lie in the next zone, and a random one never does that.
        assert_eq!(window("zonesize=10k zoneskip=1k"), [10, 1]);
        assert_eq!(window("rw=randwrite zonesize=10k zoneskip=6k"), [10, 6]);
    }

    /// `zero_buffers` wrote zeros and `buffer_pattern` the pattern alone, whatever share was to
    /// compress or to repeat. fio 3.33 takes zeros only where neither is given, and the pattern for
    /// what compresses away.
    #[test]
    fn what_compresses_or_repeats_is_neither_zeros_nor_a_pattern() {
        #[track_caller]
        fn check(options: &str, content: Content, fill: Option<&[u8]>) {
            let job = job(options).unwrap();
            assert_eq!(
                (job.content, job.fill.as_deref()),
                (content, fill),
                "{options}"
            );
        }
        let shaped = Content::Shaped {
            compress_percent: 50,
            dedupe_percent: 0,
        };
        let repeating = Content::Repeating {
            compress_percent: 0,
            repeat_percent: 50,
        };
        check("zero_buffers\nbuffer_compress_percentage=50", shaped, None);
        check("zero_buffers\ndedupe_percentage=50", repeating, None);
        check("zero_buffers\nrefill_buffers", Content::Zero, None);
        // All blocks held the same behind their headers, which lay over what is changed in each.
        check("verify=crc32c", Content::Fresh, None);
        check("verify=0", Content::Random, None);
        let pattern = "buffer_pattern=0x41\nbuffer_compress_percentage=50";
        check(pattern, shaped, Some(&[0x41]));
        check(
            "verify=0\nverify_pattern=0x42",
            Content::Random,
            Some(&[0x42]),
        );
    }

    /// A word behind the number of `sync_file_range` was taken for a part of it, and refused. fio takes
    /// the number of the last word, and 1 where that has none.
    #[test]
    fn a_range_is_flushed_after_as_many_writes_as_the_last_word_says() {
        let flush = |text: &str| {
            let flush = job(&format!("sync_file_range={text}")).expect(text).flush;
            (flush.range_flags, flush.range_every)
        };
        assert_eq!(flush("write"), (2, 1));
        assert_eq!(flush("wait_before,write:8"), (3, 8));
        assert_eq!(flush("write:8,wait_after"), (6, 1));
        assert_eq!(flush("write:8,wait_after:4"), (6, 4));
        assert!(job("sync_file_range=write:x").is_err());
    }

    /// The third list of `ignore_error`, of verification, was dropped without a word: the job ended at
    /// the first miscompare, where fio 3.33 goes on.
    #[test]
    fn a_miscompare_can_be_ignored() {
        let with = |ignored: &str| job(&format!("verify=crc32c\nignore_error={ignored}"));
        let ignores = with("EIO,5,84").unwrap();
        let policy = ErrorPolicy::ContinueOn {
            read: false,
            write: false,
            verify: true,
        };
        assert_eq!(ignores.on_error, policy);
        assert!(ignores.verify.is_some_and(|verify| !verify.fatal));
        let both = [(Direction::Read, 5), (Direction::Write, 5)];
        assert_eq!(ignores.ignored_errors, both);
        assert_eq!(with("84,84").unwrap().on_error, ErrorPolicy::Stop);
        let wrong = with("EIO,EIO,EIO,EIO").unwrap_err().to_string();
        assert!(wrong.contains("three lists"), "{wrong}");
    }

    /// `cpus_allowed=1-0` left a job on all processors, and fio refuses it.
    #[test]
    fn a_list_of_processors_names_some() {
        for list in ["1-0", ",", "0,,1", "x"] {
            for option in ["cpus_allowed", "numa_cpu_nodes"] {
                let wrong = job(&format!("{option}={list}")).unwrap_err().to_string();
                assert!(
                    wrong.contains("no list of numbers"),
                    "{option}={list}: {wrong}"
                );
            }
        }
        assert_eq!(job("cpus_allowed=3:1,").unwrap().pin, [3]);
        // A mask of processors that are not there passed, and the job ran on any.
        for beyond in ["cpus_allowed=8", "cpumask=256", "cpumask=511"] {
            let wrong = job(beyond).unwrap_err().to_string();
            assert!(
                wrong.contains("CPU 8 too large (max=7)"),
                "{beyond}: {wrong}"
            );
        }
    }

    /// Of `cpus_allowed` and `cpumask` the first always held, wherever it stood, and no `disable_clat`
    /// prevailed over a `gtod_reduce` before it.
    #[test]
    fn of_options_that_set_the_same_the_last_holds() {
        let pin = |options: &str| job(options).unwrap().pin;
        assert_eq!(pin("cpus_allowed=2\ncpumask=2"), [1]);
        assert_eq!(pin("cpumask=2\ncpus_allowed=2"), [2]);
        let taken = |options: &str| {
            let text = format!("[a]\nioengine=null\nsize=4k\n{options}\n");
            planned(&text).unwrap().clones[0].style.latencies
        };
        assert_eq!(taken("gtod_reduce=1\ndisable_clat=0"), [false, true, false]);
        assert_eq!(taken("disable_clat=0\ngtod_reduce=1"), [false; 3]);
        assert_eq!(taken("disable_lat=1\ngtod_reduce=0"), [true, true, false]);
    }
}
