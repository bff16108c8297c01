//! What was written comes back, or a miscompare is reported.

use blocklab_record::ErrorKind;
use blocklab_workload::Direction;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use blocklab_driver::{Control, Outcome, Run, TargetFile, run};
use blocklab_record::Stopped;
use blocklab_targets::Clock;
use blocklab_units::Bytes;
use blocklab_verify::MiscompareKind;
use blocklab_workload::{
    Access, BlockSizes, Checksum, Engine, Job, Mix, Pattern, PatternPart, SizeMix, Stop, Trims,
    UringOptions, Verify, When, Workload,
};

const MIB: u64 = 1 << 20;

fn play(job: &Job, path: &Path) -> Outcome {
    let workload = Workload {
        seed: 7,
        jobs: vec![job.clone()],
    };
    let targets = [vec![TargetFile::file(path.to_owned(), MIB, true)]];
    let never = AtomicBool::new(false);
    let run_on = Run {
        workload: &workload,
        targets: &targets,
        clock: Clock::start(),
    };
    job.check().unwrap();
    run(run_on, Control::new(&never), &mut ()).unwrap()
}

fn empty_file() -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::write(file.path(), vec![0; MIB as usize]).unwrap();
    file
}

fn engines() -> Vec<Engine> {
    let mut engines = vec![Engine::Psync, Engine::Libaio, Engine::Mmap];
    match blocklab_targets::io_uring_is_available() {
        Ok(()) => engines.push(Engine::IoUring(UringOptions::default())),
        Err(error) => println!("skipped: io_uring, which this machine does not offer ({error})"),
    }
    engines
}

/// One MiB in blocks of 4 KiB, every block once.
fn writing(verify: Verify) -> Job {
    Job {
        engine: Engine::Libaio,
        access: Access::Buffered,
        depth: 8,
        mix: Mix::WRITE,
        pattern: Pattern::RANDOM_ONCE,
        stop: Stop::after_bytes(Bytes(MIB)),
        verify: Some(verify),
        ..Job::new("verify")
    }
}

/// (blocks compared, miscompared, kind of the first miscompare)
fn verdict(outcome: &Outcome) -> (u64, u64, Option<MiscompareKind>) {
    let verified = outcome.measurement.jobs[0].verified.unwrap();
    let first = outcome
        .miscompares
        .first()
        .map(|(_, block)| block.miscompare.kind.clone());
    (verified.blocks, verified.miscompared, first)
}

#[test]
fn what_every_engine_wrote_is_read_back_and_sound() {
    for engine in engines() {
        let file = empty_file();
        let job = Job {
            engine,
            ..writing(Verify::new(Checksum::Crc32c))
        };
        let outcome = play(&job, file.path());
        assert_eq!(verdict(&outcome), (256, 0, None), "{engine:?}");
        let result = &outcome.measurement.jobs[0];
        assert_eq!(result.directions[&Direction::Write].ios, 256);
        assert_eq!(
            result.directions[&Direction::Read].ios,
            256,
            "the pass after the writes"
        );
        assert_eq!(result.stopped, Stopped::Bytes);
    }
}

#[test]
fn every_checksum_and_interval_survives_the_way() {
    for checksum in [
        Checksum::Md5,
        Checksum::Crc7,
        Checksum::Sha3_512,
        Checksum::Null,
    ] {
        let file = empty_file();
        let verify = Verify {
            interval: Some(Bytes(512)),
            offset: Bytes(16),
            ..Verify::new(checksum)
        };
        assert_eq!(
            verdict(&play(&writing(verify), file.path())),
            (256, 0, None)
        );
    }
}

#[test]
fn blocks_that_are_written_again_hold_the_last_write() {
    let file = empty_file();
    let mut job = writing(Verify::new(Checksum::Xxhash));
    job.pattern = Pattern::RANDOM;
    job.sizes = BlockSizes {
        write: SizeMix(vec![(Bytes(4096), 1), (Bytes(16384), 1)]),
        ..BlockSizes::fixed(Bytes(4096))
    };
    job.stop.bytes = Some(Bytes(4 * MIB));
    let (blocks, flawed, first) = verdict(&play(&job, file.path()));
    assert_eq!((flawed, first), (0, None));
    assert!(blocks > 50, "{blocks}");
}

/// Strides shorter than the blocks, or blocks of several sizes backwards, were many writes to one place in
/// flight at once. It was not known which of them came last, and a sound device was found wrong.
#[test]
fn writes_in_flight_do_not_overlap() {
    for pattern in [
        Pattern::Strided {
            stride: Bytes(8192),
        },
        Pattern::Backward { back: Bytes(8192) },
    ] {
        let file = empty_file();
        let mut job = writing(Verify::new(Checksum::Crc32c));
        job.pattern = pattern.clone();
        job.depth = 64;
        job.sizes.write = SizeMix(vec![(Bytes(4096), 1), (Bytes(65536), 1)]);
        job.stop.bytes = Some(Bytes(16 * MIB));
        let (_, flawed, first) = verdict(&play(&job, file.path()));
        assert_eq!((flawed, first), (0, None), "{pattern:?}");
    }
}

#[test]
fn a_backlog_is_read_back_while_the_writes_go_on() {
    let file = empty_file();
    let when = When::Backlog {
        every: 32,
        batch: 16,
    };
    let verify = Verify {
        when,
        ..Verify::new(Checksum::Crc32)
    };
    assert_eq!(
        verdict(&play(&writing(verify), file.path())),
        (256, 0, None)
    );
}

/// The path of a lost write: the first run writes, something overwrites one block with an older
/// state of it, and both kinds of later check name the block.
#[test]
fn a_block_that_changed_is_reported_by_a_later_run() {
    let file = empty_file();
    let leave = Verify {
        when: When::Never,
        ..Verify::new(Checksum::Crc32c)
    };
    let written = play(&writing(leave.clone()), file.path());
    assert_eq!(verdict(&written), (0, 0, None));
    let damaged = File::options().write(true).open(file.path()).unwrap();
    damaged.write_all_at(b"?", 40 * 4096 + 2000).unwrap();
    damaged.write_all_at(&[0; 4096], 41 * 4096).unwrap();

    let reading = Job {
        mix: Mix::READ,
        pattern: Pattern::Sequential,
        depth: 1,
        ..writing(Verify {
            keep: 1,
            ..leave.clone()
        })
    };
    let outcome = play(&reading, file.path());
    assert_eq!(verdict(&outcome), (256, 2, Some(MiscompareKind::Checksum)));
    assert_eq!(
        (
            outcome.miscompares[0].1.offset,
            outcome.miscompares[0].1.bytes[2000]
        ),
        (40 * 4096, b'?')
    );
    assert_eq!(
        outcome.miscompares[1].1.miscompare.kind,
        MiscompareKind::NoHeader
    );
    assert!(
        outcome.miscompares[1].1.bytes.is_empty(),
        "one was to be kept"
    );
    let errors = &outcome.measurement.jobs[0].errors;
    assert_eq!((errors[0].kind, errors[0].count), (ErrorKind::Verify, 2));

    let only = Verify {
        when: When::Only,
        fatal: true,
        ..leave
    };
    let outcome = play(&writing(only), file.path());
    let result = &outcome.measurement.jobs[0];
    assert!(
        !result.directions.contains_key(&Direction::Write),
        "nothing was written"
    );
    assert_eq!(result.stopped, Stopped::Error, "the first flaw was fatal");
    assert!((1..=2).contains(&verdict(&outcome).1));
}

#[test]
fn a_pattern_with_the_offset_in_it_is_compared_byte_by_byte() {
    let file = empty_file();
    let verify = Verify {
        pattern: Some(Arc::from(vec![
            PatternPart::Bytes(b"abcd".to_vec()),
            PatternPart::Offset,
        ])),
        ..Verify::new(Checksum::Pattern)
    };
    assert_eq!(
        verdict(&play(&writing(verify), file.path())),
        (256, 0, None)
    );
    let stored = fs::read(file.path()).unwrap();
    assert_eq!(stored[4096..4108], *b"abcd\x00\x10\x00\x00\x00\x00\x00\x00");
}

/// What was trimmed between the writes must be known to the reads that follow.
#[test]
fn a_share_of_what_is_written_is_trimmed_and_reads_as_zeros() {
    for when in [
        When::AfterWrites,
        When::Backlog {
            every: 40,
            batch: 10,
        },
    ] {
        let file = empty_file();
        let trims = Trims {
            percent: 50,
            every: 16,
            batch: 8,
        };
        let job = writing(Verify {
            when,
            trimmed_zero: true,
            trims: Some(trims),
            ..Verify::new(Checksum::Crc32c)
        });
        let outcome = play(&job, file.path());
        assert_eq!(verdict(&outcome).1, 0, "{when:?}");
        let trimmed = outcome.measurement.jobs[0].directions[&Direction::Trim].ios;
        assert!((40..=128).contains(&trimmed), "{when:?}: {trimmed}");
        let stored = fs::read(file.path()).unwrap();
        let zeros = stored
            .chunks(4096)
            .filter(|block| block.iter().all(|byte| *byte == 0));
        assert_eq!(zeros.count() as u64, trimmed, "{when:?}");
    }
}

#[test]
fn trimmed_ranges_read_as_zeros() {
    let file = empty_file();
    let job = Job {
        mix: Mix {
            read: 0,
            write: 50,
            trim: 50,
        },
        ..writing(Verify {
            trimmed_zero: true,
            ..Verify::new(Checksum::Crc32c)
        })
    };
    assert_eq!(verdict(&play(&job, file.path())), (256, 0, None));
}
