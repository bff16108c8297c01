//! `verify` and the options that go with it.

use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{Checksum, Trims, Verify, When, errno};

use super::bytes::{Reader, parts};
use super::options::Options;
use super::pattern::{ReadWrite, block_sizes, mix};
use super::spec::Spec;
use super::value::{error_number, nonzero};
use blocklab_syntax::Mistake;

const CHECKSUMS: [(&str, Checksum); 19] = [
    ("md5", Checksum::Md5),
    ("crc64", Checksum::Crc64),
    ("crc32", Checksum::Crc32),
    ("crc32c-intel", Checksum::Crc32c),
    ("crc32c", Checksum::Crc32c),
    ("crc16", Checksum::Crc16),
    ("crc7", Checksum::Crc7),
    ("sha1", Checksum::Sha1),
    ("sha256", Checksum::Sha256),
    ("sha512", Checksum::Sha512),
    ("sha3-224", Checksum::Sha3_224),
    ("sha3-256", Checksum::Sha3_256),
    ("sha3-384", Checksum::Sha3_384),
    ("sha3-512", Checksum::Sha3_512),
    ("xxhash", Checksum::Xxhash),
    ("meta", Checksum::Header),
    ("pattern", Checksum::Pattern),
    ("pattern_hdr", Checksum::PatternHeader),
    ("null", Checksum::Null),
];

/// What is verified and how; `None` where nothing is.
pub(super) fn verify(
    spec: &Spec,
    rw: ReadWrite,
    is_asynchronous: bool,
    read: Reader<'_>,
) -> Result<Option<Verify>, Mistake> {
    let options = &spec.options;
    let Some(word) = method(options) else {
        return Ok(None);
    };
    // Of a job of both directions, fio checks what the job itself has written.
    if rw.reads && rw.writes && mix(options, rw).write == 0 {
        return Ok(None);
    }
    let known = CHECKSUMS.iter().find(|(name, _)| *name == word);
    let Some((_, checksum)) = known else {
        let names = CHECKSUMS.map(|(name, _)| name);
        let wrong = format!("`{word}` is none of 0, {}", names.join(", "));
        return Err(spec.mistake("verify", wrong));
    };
    let pattern = options
        .verify_pattern
        .as_deref()
        .map(|text| parts(text, read))
        .transpose()
        .map_err(|why| spec.mistake("verify_pattern", why))?;
    let trims = trims(options);
    Ok(Some(Verify {
        interval: interval(spec)?,
        offset: Bytes(options.verify_offset),
        pattern: pattern.map(Into::into),
        pattern_interval: nonzero(options.verify_pattern_interval).map(Bytes),
        any_write: is_timed(options) && !rw.reads
            || !options.verify_write_sequence && !compares_seeds(options, rw),
        same_seed: options.verify_header_seed == Some(true),
        when: when(options, rw, is_asynchronous),
        in_time: true,
        fatal: options.verify_fatal || !continues_after_flaw(options),
        keep: KEPT,
        trimmed_zero: (rw.trims || trims.is_some()) && options.trim_verify_zero,
        trims,
        // With `verify_only` alone, offsets are drawn, and nothing is written or compared.
        first: (options.verify_only && !options.do_verify).then_some(0),
        ..Verify::new(*checksum)
    }))
}

/// Bytes under one header; `None`: a whole block. As in fio they divide each block that is written, so
/// that blocks of other sizes find whole ones, unless blocks have any length.
fn interval(spec: &Spec) -> Result<Option<Bytes>, Mistake> {
    let sizes = block_sizes(spec)?.write;
    let (smallest, divisor) = (sizes.smallest().0, sizes.divisor().0);
    let varies = smallest < sizes.largest().0;
    let given = nonzero(spec.options.verify_interval).or(varies.then_some(smallest));
    let given = given.filter(|_| !spec.options.bs_unaligned);
    Ok(given.map(|given| {
        let interval = given.min(smallest);
        let divides = divisor.is_multiple_of(interval);
        Bytes(if divides { interval } else { divisor })
    }))
}

/// Whether the seed of a header is compared: by itself where one job writes each block once, and
/// reads all of them back after the writes.
fn compares_seeds(options: &Options, rw: ReadWrite) -> bool {
    let overlaps = options.norandommap || rw.gap != 0 || rw.run.is_some();
    let by_itself = rw.writes && !options.verify_only && options.verify_backlog == 0 && !overlaps;
    options.verify_header_seed.unwrap_or(by_itself)
}

/// Most wrong blocks whose bytes are kept for messages and dumps.
const KEPT: u32 = 100;

/// Whether the job continues after a miscompare: by `continue_on_error`, or by the third list of
/// `ignore_error`, that of verification.
pub(super) fn continues_after_flaw(options: &Options) -> bool {
    let mut words = options.continue_on_error.split(',');
    let lists = options.ignore_error.as_deref().unwrap_or_default();
    let ignored = lists.split(',').nth(2).unwrap_or_default();
    words.any(|word| ["verify", "all", "1"].contains(&word))
        || (ignored.split(':')).any(|word| error_number(word) == Some(errno::EILSEQ))
}

/// The trims of written blocks. `None` without `trim_backlog`: fio then chooses blocks and never
/// trims them.
fn trims(options: &Options) -> Option<Trims> {
    let percent = nonzero(options.trim_percentage)?;
    let every = nonzero(options.trim_backlog)?;
    Some(Trims {
        percent: u8::try_from(percent).unwrap_or(100),
        every,
        batch: nonzero(options.trim_backlog_batch).unwrap_or(every),
    })
}

/// How a job verifies: the word of `verify`, or a header before a pattern that is given alone, as in
/// fio. `None`: it does not.
pub(super) fn method(options: &Options) -> Option<&str> {
    match (options.verify.as_deref(), &options.verify_pattern) {
        (None, Some(_)) => Some("pattern_hdr"),
        (None | Some("0"), _) => None,
        (Some(word), _) => Some(word),
    }
}

/// Whether fio fills the blocks that are verified with random bytes, whatever other options ask for.
pub(super) fn fills_at_random(options: &Options) -> bool {
    options.verify_pattern.is_none() && !matches!(method(options), None | Some("null"))
}

/// How often a job with `verify` goes through its files when its `io_size`, `bytes`, is more than the
/// `pass` bytes that they hold: once where it writes nothing. The bytes that a mixed job reads back
/// count, too. `None` where the job simply moves all bytes.
pub(super) fn passes(options: &Options, rw: ReadWrite, bytes: u64, pass: u64) -> Option<u64> {
    if method(options).is_none() || bytes <= pass || pass == 0 {
        return None;
    }
    match (rw.reads, rw.writes) {
        (_, false) => Some(1),
        (true, true) if options.do_verify && !options.verify_only => {
            let moved = u128::from(pass) * u128::from(100 + u32::from(mix(options, rw).write));
            Some((u128::from(bytes) * 100).div_ceil(moved) as u64)
        }
        _ => None,
    }
}

/// Whether the writes take the whole runtime, so that no time is left to read them back. fio warns
/// of it with every engine, though an asynchronous one reads back after each pass.
pub(super) fn leaves_no_time(options: &Options, rw: ReadWrite) -> bool {
    is_timed(options) && options.do_verify && options.verify_backlog == 0 && (rw.writes || rw.trims)
}

fn is_timed(options: &Options) -> bool {
    options.time_based && options.runtime > Nanos::ZERO
}

/// A job that goes on for a time reads back after each pass over its files. With a synchronous engine
/// it does not: there fio 3.33 does not count the bytes that end a pass.
fn when(options: &Options, rw: ReadWrite, is_asynchronous: bool) -> When {
    let every = options.verify_backlog;
    if options.verify_only {
        When::OnlyPlaces
    } else if !options.do_verify || leaves_no_time(options, rw) && !is_asynchronous {
        When::Never
    } else if every > 0 {
        When::Backlog {
            every,
            batch: nonzero(options.verify_backlog_batch).unwrap_or(every),
        }
    } else {
        When::AfterWrites
    }
}

#[cfg(test)]
mod tests {
    use blocklab_units::Bytes;
    use blocklab_workload::{Checksum, Verify, When};

    use crate::tests::planned;

    /// How a job of 256 KiB with these options verifies what it writes.
    fn verify_of(options: &str) -> Verify {
        let text = format!("[a]\nsize=256k\nverify=md5\n{options}\n");
        let prepared = planned(&text).unwrap();
        let job = &prepared.plan.cases[0].workload.jobs[0];
        job.verify.clone().expect("a job that verifies")
    }

    /// The story: each block of `bsrange=4k-16k` had one header, so that a read of other blocks, as by
    /// the same job with another seed, called sound data wrong; in fio 3.33 each 4 KiB have one. And
    /// neither tool could check what the other wrote with an interval that does not divide the block.
    #[test]
    fn headers_lie_where_blocks_of_other_sizes_find_them() {
        for (options, expected) in [
            ("bsrange=4k-16k", Some(4096)),
            ("bssplit=4k/50:6k/50\nbs_unaligned", None),
            ("bsrange=3k-8k", Some(1024)),
            ("bs=4k", None),
            ("bs=4k\nverify_interval=1k", Some(1024)),
            ("bs=4k\nverify_interval=3k", Some(4096)),
            ("bs=5k\nverify_interval=2k", Some(5120)),
            ("bs=8k,4k\nverify_interval=6k", Some(4096)),
        ] {
            let verify = verify_of(&format!("rw=write\n{options}"));
            assert_eq!(verify.interval, expected.map(Bytes), "{options}");
        }
    }

    /// Of what a job with `verify_pattern` alone had written, fio found no header in any block, and of
    /// what fio had written, the header was taken for a part of the pattern.
    #[test]
    fn a_pattern_alone_is_written_behind_a_header() {
        let alone = verify_method("verify_pattern=0x42");
        assert_eq!(alone, Some(Checksum::PatternHeader));
        let named = verify_method("verify_pattern=0x42\nverify=pattern");
        assert_eq!(named, Some(Checksum::Pattern));
        // Given as 0, `verify` is not meant.
        assert_eq!(verify_method("verify_pattern=0x42\nverify=0"), None);
        assert_eq!(Checksum::PatternHeader as u16, 17, "its number in fio 3.33");
    }

    fn verify_method(options: &str) -> Option<Checksum> {
        let text = format!("[a]\nsize=256k\nrw=write\n{options}\n");
        let prepared = planned(&text).unwrap();
        let job = &prepared.plan.cases[0].workload.jobs[0];
        job.verify.as_ref().map(|verify| verify.checksum)
    }

    /// A job with `time_based` never read back what it wrote, so that half of its load was missing and
    /// nothing was verified. fio says so in a warning, but with an asynchronous engine it reads back
    /// after each pass; with a synchronous one it never comes to it.
    #[test]
    fn what_is_written_for_a_time_is_read_back_after_each_pass() {
        #[track_caller]
        fn check(options: &str, when: When) {
            let verify = verify_of(&format!("rw=randwrite\n{options}"));
            assert_eq!(verify.when, when, "{options}");
            assert_eq!(verify.pass, Some(Bytes(256 << 10)), "{options}");
        }
        check("ioengine=libaio\ntime_based\nruntime=10", When::AfterWrites);
        check(
            "ioengine=io_uring\ntime_based\nruntime=10",
            When::AfterWrites,
        );
        check("ioengine=psync\ntime_based\nruntime=10", When::Never);
        let unverified = "ioengine=libaio\ntime_based\nruntime=10\ndo_verify=0";
        check(unverified, When::Never);
    }

    /// Two jobs that write and verify one file for a time found the writes of each other and failed.
    /// In such a job fio compares the data with its header, but not which write left it there; a
    /// job that reads besides compares that, too.
    #[test]
    fn a_job_that_writes_for_a_time_may_find_the_writes_of_another() {
        #[track_caller]
        fn check(options: &str, any_write: bool) {
            let verify = verify_of(&format!("ioengine=libaio\n{options}"));
            assert_eq!(verify.any_write, any_write, "{options}");
        }
        check("rw=randwrite\ntime_based\nruntime=10", true);
        check("rw=randwrite\nruntime=10", false);
        check("rw=randrw\ntime_based\nruntime=10", false);
    }
}
