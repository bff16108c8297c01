//! What `verify` and its kin ask for.

use blocklab_units::Bytes;
use blocklab_workload::{Checksum, Trims, Verify, When};

use super::bytes::{Reader, parts};
use super::mistake::Mistake;
use super::pattern::{Way, mix};
use super::spec::Spec;

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

/// Nothing where nothing is verified.
pub(super) fn verify(spec: &Spec, way: Way, read: Reader<'_>) -> Result<Option<Verify>, Mistake> {
    let text = spec.values.text("verify_pattern");
    let word = match spec.values.text("verify") {
        None | Some("0") if text.is_none() => return Ok(None),
        // A pattern by itself is verified as one.
        None | Some("0") => "pattern",
        Some(word) => word,
    };
    let known = CHECKSUMS.iter().find(|(name, _)| *name == word);
    let Some((_, checksum)) = known else {
        let names = CHECKSUMS.map(|(name, _)| name);
        let wrong = format!("`{word}` is none of 0, {}", names.join(", "));
        return Err(spec.mistake("verify", wrong));
    };
    let pattern = text.map(|text| parts(text, read)).transpose();
    let pattern = pattern.map_err(|why| spec.mistake("verify_pattern", why))?;
    let trims = trims(spec);
    let bytes = |name| spec.values.number(name).filter(|bytes| *bytes > 0);
    Ok(Some(Verify {
        interval: bytes("verify_interval").map(|bytes| Bytes(bytes as u64)),
        offset: Bytes(bytes("verify_offset").unwrap_or(0) as u64),
        pattern: pattern.map(Into::into),
        when: when(spec, way),
        in_time: true,
        fatal: spec.values.flag("verify_fatal") || !goes_on(spec),
        keep: KEPT,
        trimmed_zero: (way.trims || trims.is_some())
            && spec.values.number("trim_verify_zero") != Some(0),
        trims,
        // Only the places are drawn then.
        first: (spec.values.flag("verify_only") && !asks(spec)).then_some(0),
        ..Verify::new(*checksum)
    }))
}

/// Flawed blocks whose bytes are kept.
const KEPT: u32 = 100;

/// Whether a flawed block is no reason to end the job.
fn goes_on(spec: &Spec) -> bool {
    let text = spec.values.text("continue_on_error").unwrap_or_default();
    let mut words = text.split(',');
    words.any(|word| ["verify", "all", "1"].contains(&word))
}

/// Nothing without `trim_backlog`: fio chooses what to trim, then, and never does it.
fn trims(spec: &Spec) -> Option<Trims> {
    let number = |option| spec.values.number(option).filter(|number| *number > 0);
    let percent = number("trim_percentage")?;
    let every = number("trim_backlog")?;
    Some(Trims {
        percent: u8::try_from(percent).unwrap_or(100),
        every: every as u64,
        batch: number("trim_backlog_batch").unwrap_or(every) as u64,
    })
}

/// Whether what was written is to be read back.
fn asks(spec: &Spec) -> bool {
    spec.values.number("do_verify") != Some(0)
}

pub(super) fn is_asked_for(spec: &Spec) -> bool {
    !matches!(spec.values.text("verify"), None | Some("0"))
}

/// How often a job with `verify` that is given more bytes than its files hold goes through them:
/// what it reads back counts, too. Nothing where each of these bytes is written or read.
pub(super) fn passes(spec: &Spec, way: Way, bytes: u64, pass: u64) -> Option<u64> {
    if !is_asked_for(spec) || bytes <= pass || pass == 0 {
        return None;
    }
    if !way.writes || !asks(spec) {
        return Some(1);
    }
    let written = if way.reads { mix(spec, way).write } else { 100 };
    let moved = u128::from(pass) * u128::from(100 + u32::from(written));
    Some((u128::from(bytes) * 100).div_ceil(moved) as u64)
}

/// Whether the writes take all of the time, so that none is left to read them back.
pub(super) fn leaves_no_time(spec: &Spec, way: Way) -> bool {
    let timed = spec.values.time("runtime").unwrap_or(0) > 0 && spec.values.flag("time_based");
    let backlog = spec.values.number("verify_backlog").unwrap_or(0) > 0;
    timed && asks(spec) && !backlog && (way.writes || way.trims)
}

fn when(spec: &Spec, way: Way) -> When {
    let backlog = spec
        .values
        .number("verify_backlog")
        .filter(|every| *every > 0);
    if spec.values.flag("verify_only") {
        When::OnlyPlaces
    } else if !asks(spec) || leaves_no_time(spec, way) {
        When::Never
    } else if let Some(every) = backlog {
        let batch = spec
            .values
            .number("verify_backlog_batch")
            .filter(|batch| *batch > 0);
        When::Backlog {
            every: every as u64,
            batch: batch.unwrap_or(every) as u64,
        }
    } else {
        When::AfterWrites
    }
}
