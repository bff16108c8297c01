//! Every engine against real files: what it moves, what it counts, how it fails.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use blocklab_driver::{Control, Error, Event, Observer, Outcome, Questions, Run, TargetFile, run};
use blocklab_record::{ErrorKind, JobResult, Stopped};
use blocklab_targets::Clock;
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::Direction;
use blocklab_workload::{
    Access, Batch, BlockSizes, CallFlags, Content, Engine, ErrorPolicy, Flush, Job, Measure, Mix,
    Pace, Pattern, Rate, Replay, Replayed, Spread, Stop, UringOptions, Workload,
};

const MIB: u64 = 1 << 20;

/// All engines that this machine has; io_uring may be forbidden in a container.
fn engines() -> Vec<Engine> {
    let pvsync2 = Engine::Pvsync2(CallFlags::default());
    let mut engines = vec![
        Engine::Sync,
        Engine::Psync,
        Engine::Vsync,
        Engine::Pvsync,
        Engine::PosixAio,
        Engine::Splice,
        pvsync2,
        Engine::Mmap,
        Engine::Libaio,
    ];
    match blocklab_targets::io_uring_is_available() {
        Ok(()) => {
            let plain = UringOptions {
                fixed_buffers: false,
                fixed_files: false,
                ..UringOptions::default()
            };
            let polled = UringOptions {
                sqpoll: true,
                ..UringOptions::default()
            };
            engines.extend([UringOptions::default(), plain, polled].map(Engine::IoUring));
        }
        Err(error) => println!("skipped: io_uring, which this machine does not offer ({error})"),
    }
    engines
}

fn target(path: &Path, size: u64) -> TargetFile {
    TargetFile::file(path.to_owned(), size, true)
}

fn start(job: Job, file: TargetFile) -> Result<Outcome, Error> {
    let never = AtomicBool::new(false);
    start_with(job, file, Control::new(&never), &mut ())
}

fn start_with(
    job: Job,
    file: TargetFile,
    control: Control<'_>,
    observer: &mut dyn Observer,
) -> Result<Outcome, Error> {
    let workload = Workload {
        seed: 7,
        jobs: vec![job],
    };
    let targets = [vec![file]];
    run(
        Run {
            workload: &workload,
            targets: &targets,
            clock: Clock::start(),
        },
        control,
        observer,
    )
}

fn result(job: Job, file: TargetFile) -> JobResult {
    start(job, file).unwrap().measurement.jobs.remove(0)
}

/// One MiB in blocks of 4 KiB through the page cache.
fn job(engine: Engine, mix: Mix) -> Job {
    let depth = if engine.is_asynchronous() { 8 } else { 1 };
    let stop = Stop::after_bytes(Bytes(MIB));
    Job {
        engine,
        mix,
        depth,
        stop,
        access: Access::Buffered,
        ..Job::new("test")
    }
}

fn file_of(byte: u8, len: u64) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::write(file.path(), vec![byte; len as usize]).unwrap();
    file
}

#[test]
fn every_engine_reads_what_was_requested() {
    let file = file_of(7, 4 * MIB);
    for engine in engines() {
        let result = result(job(engine, Mix::READ), target(file.path(), 4 * MIB));
        let reads = &result.directions[&Direction::Read];
        assert_eq!((reads.ios, reads.bytes), (256, MIB), "{engine:?}");
        assert_eq!(reads.service.count, 256, "{engine:?}");
        assert!(
            result.accounting.balances() && result.accounting.failed == 0,
            "{engine:?}"
        );
        assert_eq!(result.stopped, Stopped::Bytes, "{engine:?}");
    }
}

/// The story: a job that only reads, with an fsync at its end, opened its file for writing, and did not
/// begin where it may not write.
#[test]
fn a_job_that_only_reads_opens_nothing_for_writing() {
    // The kernel lets no user write to a program that runs, root included.
    let program = std::env::current_exe().unwrap();
    let mut job = job(Engine::Psync, Mix::READ);
    job.flush.at_end = true;
    let result = result(job, TargetFile::file(program, MIB, false));
    assert_eq!(result.directions[&Direction::Read].ios, 256);
}

#[test]
fn every_engine_writes_every_block_once() {
    for engine in engines() {
        let file = file_of(0, MIB);
        let pattern = Pattern::RANDOM_ONCE;
        let job = Job {
            pattern,
            ..job(engine, Mix::WRITE)
        };
        let result = result(job, target(file.path(), MIB));
        assert_eq!(result.directions[&Direction::Write].ios, 256, "{engine:?}");
        let bytes = fs::read(file.path()).unwrap();
        let mut blocks: Vec<&[u8]> = bytes.chunks(4096).collect();
        let untouched = blocks
            .iter()
            .filter(|block| block.iter().all(|byte| *byte == 0))
            .count();
        assert_eq!(untouched, 0, "{engine:?}: blocks that no write reached");
        blocks.sort_unstable();
        blocks.dedup();
        assert_eq!(
            blocks.len(),
            256,
            "{engine:?}: each block has content of its own"
        );
    }
}

#[test]
fn direct_access_works_where_the_file_system_has_it() {
    let file = file_of(7, 4 * MIB);
    let mix = Mix::reads(50);
    for engine in engines()
        .into_iter()
        .filter(|engine| *engine != Engine::Mmap)
    {
        let job = Job {
            access: Access::Direct,
            ..job(engine, mix)
        };
        match start(job, target(file.path(), 4 * MIB)) {
            Ok(outcome) => {
                let result = &outcome.measurement.jobs[0];
                assert_eq!(result.direct, Some(true), "{engine:?}");
                assert_eq!(result.accounting.failed, 0, "{engine:?}");
            }
            Err(error) => {
                println!("skipped: direct access, which the file system here refuses");
                assert!(error.to_string().contains("access = \"auto\""), "{error}");
                return;
            }
        }
    }
}

#[test]
fn where_there_is_no_direct_access_it_says_so() {
    let zero = || target(Path::new("/dev/zero"), MIB);
    let requested = |access| Job {
        access,
        ..job(Engine::Psync, Mix::READ)
    };
    let outcome = start(requested(Access::DirectIfPossible), zero()).unwrap();
    assert_eq!(outcome.measurement.jobs[0].direct, Some(false));
    assert!(
        outcome.notes[0]
            .text
            .contains("went through the page cache")
    );
    let error = start(requested(Access::Direct), zero())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("cannot open /dev/zero (for direct reads)"),
        "{error}"
    );
}

/// Another program cuts a file short while it is read: calls come back short at its end, and a
/// mapping gives SIGBUS, which used to be the end of the whole process.
#[test]
fn a_file_that_shrinks_is_a_failure_of_the_device() {
    let file = file_of(7, MIB);
    for engine in engines() {
        let job = Job {
            on_error: ErrorPolicy::Continue,
            ..job(engine, Mix::READ)
        };
        let result = result(job, target(file.path(), 2 * MIB));
        let expected = if engine == Engine::Mmap {
            ErrorKind::Errno(libc::EIO)
        } else {
            ErrorKind::Short
        };
        assert_eq!(result.errors[0].kind, expected, "{engine:?}");
        assert!(result.accounting.balances(), "{engine:?}");
        let failed = result.accounting.failed as f64 / result.accounting.issued as f64;
        assert!(
            (0.35..0.65).contains(&failed),
            "{engine:?}: half of it is gone: {failed}"
        );
    }
}

#[test]
fn a_full_device_ends_the_job_with_its_reason() {
    for engine in [Engine::Sync, Engine::Psync] {
        let full = Job {
            pattern: Pattern::Sequential,
            ..job(engine, Mix::WRITE)
        };
        let result = result(full, target(Path::new("/dev/full"), MIB));
        assert_eq!(result.stopped, Stopped::Error);
        let error = &result.errors[0];
        assert_eq!(
            (error.kind, error.direction),
            (ErrorKind::Errno(libc::ENOSPC), Direction::Write)
        );
        assert_eq!((error.count, error.first_offset), (1, 0));
    }
}

#[test]
fn trims_punch_holes() {
    let file = file_of(7, MIB);
    for engine in engines() {
        let mut trim = job(engine, Mix::TRIM);
        trim.sizes = BlockSizes::fixed(Bytes(65536));
        trim.pattern = Pattern::Sequential;
        let result = result(trim, target(file.path(), MIB));
        if result
            .errors
            .first()
            .is_some_and(|error| error.kind == ErrorKind::Errno(libc::EOPNOTSUPP))
        {
            println!("skipped: trims, which the file system here refuses");
            return;
        }
        assert_eq!(result.directions[&Direction::Trim].ios, 16, "{engine:?}");
        assert!(
            fs::read(file.path()).unwrap().iter().all(|byte| *byte == 0),
            "{engine:?}"
        );
        let whole = File::options().write(true).open(file.path()).unwrap();
        whole.write_all_at(&vec![7; MIB as usize], 0).unwrap();
    }
}

#[test]
fn flushes_are_counted_separately() {
    let file = file_of(7, MIB);
    for engine in engines() {
        // The one after the last write and the one at the end are the same.
        for (fsync_every, at_end, expected) in [(64, false, 4), (64, true, 4), (100, true, 3)] {
            let mut flushing = job(engine, Mix::WRITE);
            flushing.flush = Flush {
                fsync_every,
                fdatasync_every: 0,
                at_end,
                ..Flush::default()
            };
            let result = result(flushing, target(file.path(), MIB));
            assert_eq!(
                result.directions[&Direction::Sync].ios,
                expected,
                "{engine:?} {fsync_every}"
            );
            assert_eq!(result.directions[&Direction::Write].ios, 256, "{engine:?}");
        }
    }
}

#[test]
fn a_hundred_and_twenty_eight_threads_lose_nothing() {
    let file = file_of(7, 4 * MIB);
    let mix = Mix::reads(70);
    let job = Job {
        threads: 128,
        ..job(Engine::Psync, mix)
    };
    let result = result(job, target(file.path(), 4 * MIB));
    assert_eq!(result.accounting.issued, 128 * 256);
    assert_eq!(result.accounting.completed, 128 * 256);
}

#[test]
fn an_open_loop_records_both_latencies() {
    let mut open = job(Engine::Null, Mix::READ);
    open.pace = Pace::OpenFixed(Rate::Iops(20_000.0));
    open.stop = Stop::after_bytes(Bytes(4096 * 2000));
    let result = result(open, target(Path::new("null"), MIB));
    let reads = &result.directions[&Direction::Read];
    let response = reads.response.as_ref().unwrap();
    // On a busy machine some of the arrivals come too late to be issued.
    assert_eq!(reads.ios, 2000);
    assert_eq!(response.count, reads.ios + result.accounting.overdue);
    assert!(response.mean_ns >= reads.service.mean_ns);
    assert_eq!(result.requested_iops, Some(20_000.0));
}

#[test]
fn the_submitting_call_is_measured_when_requested() {
    let file = file_of(7, MIB);
    for engine in engines()
        .into_iter()
        .filter(|engine| engine.is_asynchronous())
    {
        let job = Job {
            submit_latency: true,
            ..job(engine, Mix::READ)
        };
        let result = result(job, target(file.path(), MIB));
        let submit = result.directions[&Direction::Read].submit.as_ref().unwrap();
        assert_eq!(submit.count, 256, "{engine:?}");
    }
}

/// Interrupts at the first interval.
struct Interrupter<'a>(&'a AtomicBool);

impl Questions for Interrupter<'_> {}

impl Observer for Interrupter<'_> {
    fn event(&mut self, event: Event<'_>) {
        if matches!(event, Event::Interval { .. }) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// Threads that sleep until the next arrival of a slow schedule, hours ahead.
#[test]
fn an_interruption_wakes_everybody() {
    for engine in [Engine::Null, Engine::Psync, Engine::Libaio] {
        let flag = AtomicBool::new(false);
        let file = file_of(7, MIB);
        let mut slow = Job {
            threads: 16,
            ..job(engine, Mix::READ)
        };
        slow.pace = Pace::OpenFixed(Rate::Iops(0.0002));
        slow.stop = Stop::after(Nanos::from_secs(86_400));
        let file = target(file.path(), MIB);
        let control = Control::new(&flag);
        let outcome = start_with(slow, file, control, &mut Interrupter(&flag)).unwrap();
        assert_eq!(
            outcome.measurement.jobs[0].stopped,
            Stopped::Interrupted,
            "{engine:?}"
        );
        assert!(!outcome.abandoned, "{engine:?}");
    }
}

#[test]
fn what_cannot_be_run_says_why() {
    let file = file_of(7, 8192);
    let too_big = Job {
        sizes: BlockSizes::fixed(Bytes(65536)),
        ..job(Engine::Psync, Mix::READ)
    };
    let error = start(too_big, target(file.path(), 8192))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("holds no whole block of 65536 bytes"),
        "{error}"
    );
    let read_only = TargetFile::file(file.path().to_owned(), 8192, false);
    let error = start(job(Engine::Psync, Mix::WRITE), read_only).unwrap_err();
    assert!(matches!(error, Error::NotPermitted(..)), "{error}");
    let gone = target(Path::new("no/such/file"), 8192);
    let error = start(job(Engine::Psync, Mix::READ), gone)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("cannot open no/such/file (for reads): No such file"),
        "{error}"
    );
}

#[test]
fn shaped_content_reaches_the_file() {
    let file = file_of(0, MIB);
    let content = Content::Shaped {
        compress_percent: 75,
        dedupe_percent: 0,
    };
    let pattern = Pattern::Sequential;
    let job = Job {
        content,
        pattern,
        ..job(Engine::Psync, Mix::WRITE)
    };
    let result = result(job, target(file.path(), MIB));
    assert_eq!(result.directions[&Direction::Write].ios, 256);
    let bytes = fs::read(file.path()).unwrap();
    let zeros = bytes.iter().filter(|byte| **byte == 0).count() as f64 / bytes.len() as f64;
    assert!((0.74..0.77).contains(&zeros), "{zeros}");
}

/// A replay wrote zeros, with a number in every 4 KiB, as the mix of its job, which it does not follow,
/// has no writes: a device that compresses them looked faster than it is.
#[test]
fn the_writes_of_a_replay_have_the_content_of_the_job() {
    let file = file_of(0, MIB);
    let operations =
        (0..256).map(|step| Replayed::new(Nanos::ZERO, Direction::Write, step * 4096, 4096));
    let replay = Replay {
        operations: operations.collect(),
        ..Replay::default()
    };
    let job = Job {
        replay: Some(Arc::new(replay)),
        stop: Stop::default(),
        ..job(Engine::Psync, Mix::READ)
    };
    let result = result(job, target(file.path(), MIB));
    assert_eq!(result.directions[&Direction::Write].ios, 256);
    let bytes = fs::read(file.path()).unwrap();
    let zeros = bytes.iter().filter(|byte| **byte == 0).count();
    assert!(zeros < bytes.len() / 100, "{zeros}");
}

#[test]
fn space_is_given_and_cut_off() {
    let file = file_of(7, MIB);
    let mut grows = job(Engine::Falloc, Mix::WRITE);
    grows.region.offset = Bytes(MIB);
    grows.pattern = Pattern::Sequential;
    let grown = result(grows, target(file.path(), 2 * MIB));
    assert_eq!(grown.directions[&Direction::Write].ios, 256);
    assert_eq!(fs::metadata(file.path()).unwrap().len(), 2 * MIB);
    let mut cuts = job(Engine::Ftruncate, Mix::WRITE);
    cuts.pattern = Pattern::Sequential;
    result(cuts, target(file.path(), MIB));
    let last = MIB - 4096;
    assert_eq!(
        fs::metadata(file.path()).unwrap().len(),
        last,
        "where the last block began"
    );
}

/// It needs no file, moves no bytes, and is busy for the time in its settings.
#[test]
fn a_processor_is_kept_busy() {
    let chunk = Nanos::from_millis(2);
    let mut burns = job(Engine::Cpuio(chunk), Mix::READ);
    burns.stop = Stop::after_ios(5);
    let result = result(burns, target(Path::new("null"), MIB));
    let reads = &result.directions[&Direction::Read];
    assert_eq!(
        (reads.ios, reads.bytes, result.accounting.failed),
        (5, 0, 0)
    );
    assert!(reads.service.min_ns >= chunk.0, "{:?}", reads.service);
    let used = result.threads_use.expect("it ended");
    assert!(used.user_ns + used.system_ns > 0);
}

/// No bytes ever reach a number of bytes.
#[test]
fn without_bytes_a_number_of_bytes_is_no_end() {
    let burns = job(Engine::Cpuio(Nanos::from_millis(2)), Mix::READ);
    let invalid = burns.check().unwrap_err().to_string();
    assert!(invalid.contains("need a runtime"), "{invalid}");
}

#[test]
fn names_are_created_looked_up_and_deleted() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let files: Vec<TargetFile> = (0..20)
        .map(|number| target(&folder.path().join(number.to_string()), 4096))
        .collect();
    let play = |engine| {
        let mut job = job(engine, Mix::WRITE);
        job.stop.bytes = Some(Bytes(20 * 4096));
        let workload = Workload {
            seed: 7,
            jobs: vec![job],
        };
        let never = AtomicBool::new(false);
        let run_on = Run {
            workload: &workload,
            targets: std::slice::from_ref(&files),
            clock: Clock::start(),
        };
        let outcome = run(run_on, Control::new(&never), &mut ()).unwrap();
        outcome.measurement.jobs[0].directions[&Direction::Write].ios
    };
    let there = || fs::read_dir(folder.path()).unwrap().count();
    assert_eq!((play(Engine::FileCreate), there()), (20, 20));
    assert_eq!((play(Engine::FileStat), there()), (20, 20));
    assert_eq!((play(Engine::FileDelete), there()), (20, 0));
}

/// What was given for the grouping of operations was taken for a hint: eight were handed over where
/// one was requested, and all that was there was answered at once.
#[test]
fn operations_are_grouped_as_requested() {
    let file = file_of(1, MIB);
    // (submit, complete, take): classes of 0, up to 4, 8, 16, ... operations.
    let classes = |batch: Batch| {
        let job = Job {
            batch,
            measure: Measure {
                depths: true,
                ..Measure::default()
            },
            ..job(Engine::Libaio, Mix::READ)
        };
        let found = result(Job { depth: 32, ..job }, target(file.path(), MIB));
        assert_eq!(found.accounting.completed, 256);
        found.depths.expect("depths were requested")
    };
    let one = classes(Batch {
        submit: 1,
        complete: 1,
        take: 1,
        low: 0,
    });
    assert_eq!(one.submitted, [0, 256, 0, 0, 0, 0, 0]);
    assert_eq!(one.completed, [0, 256, 0, 0, 0, 0, 0]);
    let eight = classes(Batch {
        submit: 8,
        complete: 8,
        take: 8,
        low: 0,
    });
    assert_eq!(eight.submitted, [0, 0, 32, 0, 0, 0, 0]);
    assert_eq!(eight.completed, [0, 0, 32, 0, 0, 0, 0]);
}

/// A job of more files than may be open ended before it began. Two places for five files: each block
/// is written once, whatever the engine has in flight when a file is to be closed.
#[test]
fn every_engine_works_on_more_files_than_are_open() {
    // Registered files are all open: such a job is refused.
    let closes = |engine: &Engine| !matches!(engine, Engine::IoUring(it) if it.fixed_files);
    for engine in engines().into_iter().filter(closes) {
        let files: Vec<_> = (0..5).map(|_| file_of(0, 64 << 10)).collect();
        let mut job = job(engine, Mix::WRITE);
        job.open_targets = Some(2);
        job.stop.bytes = Some(Bytes(5 * (64 << 10)));
        (job.flush.fsync_every, job.flush.at_end) = (3, true);
        job.region.spread = Spread::Same;
        job.pattern = Pattern::RANDOM_ONCE;
        let workload = Workload {
            seed: 7,
            jobs: vec![job],
        };
        let opened = files.iter().map(|file| target(file.path(), 64 << 10));
        let never = AtomicBool::new(false);
        let whole = Run {
            workload: &workload,
            targets: &[opened.collect()],
            clock: Clock::start(),
        };
        let outcome = run(whole, Control::new(&never), &mut ()).unwrap();
        let result = &outcome.measurement.jobs[0];
        assert_eq!(result.directions[&Direction::Write].ios, 80, "{engine:?}");
        let accounting = &result.accounting;
        assert!(
            accounting.balances() && accounting.failed == 0,
            "{engine:?}"
        );
        for file in &files {
            let bytes = fs::read(file.path()).unwrap();
            let mut blocks = bytes.chunks(4096);
            assert!(blocks.all(|block| *block != [0; 4096]), "{engine:?}");
        }
    }
}
