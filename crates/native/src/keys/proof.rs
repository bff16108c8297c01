//! Keys of a job: whether its data comes back, what else it keeps, and with whom it shares.

use std::sync::Arc;

use blocklab_units::Bytes;
use blocklab_workload::{
    Checksum, Hits, Job, Log, MostErrors, PatternPart, Pooled, Share, Trims, Verify, When,
};

use super::super::error::Complaint;
use super::super::value::{Value, Word};
use super::finer::{hex, shown_hex};
use super::words::{names, number, shown_table, size, spoken, time};
use super::{Allowed, Key, Section, put, quoted};

const CHECKSUMS: [Word<Checksum>; 18] = [
    ("crc32c", Checksum::Crc32c),
    ("xxhash", Checksum::Xxhash),
    ("crc7", Checksum::Crc7),
    ("crc16", Checksum::Crc16),
    ("crc32", Checksum::Crc32),
    ("crc64", Checksum::Crc64),
    ("md5", Checksum::Md5),
    ("sha1", Checksum::Sha1),
    ("sha256", Checksum::Sha256),
    ("sha512", Checksum::Sha512),
    ("sha3-224", Checksum::Sha3_224),
    ("sha3-256", Checksum::Sha3_256),
    ("sha3-384", Checksum::Sha3_384),
    ("sha3-512", Checksum::Sha3_512),
    ("header", Checksum::Header),
    ("pattern", Checksum::Pattern),
    ("pattern-header", Checksum::PatternHeader),
    ("null", Checksum::Null),
];

const WHENS: [Word<When>; 4] = [
    ("after-writes", When::AfterWrites),
    ("never", When::Never),
    ("only", When::Only),
    ("only-places", When::OnlyPlaces),
];

pub const PROOF: Section<Job> = Section {
    title: "Whether data comes back, and what else is kept",
    keys: &[
        Key {
            name: "verify",
            kind: "word or table",
            meaning: "What is written is sealed, and compared when it is read back. A table: \
                      `checksum`; `interval` (bytes that a header covers) and `offset` of the \
                      header; `pattern` (hexadecimal bytes and the word `offset`); `when` \
                      (after-writes, never, or { every, batch } writes; only: what an \
                      earlier run of this job wrote; only-places: what any job wrote there); `pass` (bytes after which \
                      it is read back, too); `fatal` (the first \
                      flaw ends the job); `in_time` (what is not read back when the time is over \
                      never is); `keep` the bytes of so many flawed blocks; `first` so \
                      many writes alone; `trimmed_zero`; `trims` { percent, every, batch } \
                      of the writes before they are read back.",
            allowed: Allowed::WordsOr(&names(&CHECKSUMS), "a table, or \"none\""),
            default: Some("none"),
            example: "\"crc32c\"",
            elsewhere: &[
                "verify_interval",
                "verify_fatal",
                "do_verify",
                "verify_backlog",
            ],
            set: |job, value| put(&mut job.verify, value.unless_none(verify)),
            show: |job| job.verify.as_ref().map(shown_verify),
            ..Key::ROW
        },
        Key {
            name: "measure_depths",
            kind: "true or false",
            meaning: "Counts how many operations were in flight at each issue, and how many each \
                      call moved.",
            default: Some("false"),
            example: "true",
            set: |job, value| put(&mut job.measure.depths, value.flag()),
            show: |job| job.measure.depths.then(|| "true".to_owned()),
            ..Key::ROW
        },
        Key {
            name: "sample_bandwidth",
            kind: "time",
            meaning: "Samples the bandwidth of each direction at this distance.",
            allowed: Allowed::Said("from 1 ms, or \"none\""),
            default: Some("none"),
            example: "\"500ms\"",
            elsewhere: &["bwavgtime"],
            set: |job, value| {
                put(
                    &mut job.measure.bandwidth_every,
                    value.unless_none(|time| time.time()),
                )
            },
            show: |job| job.measure.bandwidth_every.map(time),
            ..Key::ROW
        },
        Key {
            name: "sample_iops",
            kind: "time",
            meaning: "Samples the operations per second of each direction at this distance.",
            allowed: Allowed::Said("from 1 ms, or \"none\""),
            default: Some("none"),
            example: "\"500ms\"",
            elsewhere: &["iopsavgtime"],
            set: |job, value| {
                put(
                    &mut job.measure.iops_every,
                    value.unless_none(|time| time.time()),
                )
            },
            show: |job| job.measure.iops_every.map(time),
            ..Key::ROW
        },
        Key {
            name: "log",
            kind: "table",
            meaning: "Keeps operations one by one (`entries`), sums over spans (`average`), and \
                      a histogram of the latency for each span (`histogram`).",
            allowed: Allowed::Said("a flag and times, or \"none\""),
            default: Some("none"),
            example: "{ average = \"1s\" }",
            elsewhere: &["log_avg_msec", "write_lat_log"],
            set: |job, value| put(&mut job.log, value.unless_none(log)),
            show: |job| job.log.map(shown_log),
            ..Key::ROW
        },
        Key {
            name: "pool",
            kind: "table",
            meaning: "The job shares the operations in flight of the pool `name` with others: one \
                      thread drives all of them on the same targets. `depth` of the pool; `rank` \
                      (the lowest is served first); `queue`: arrivals that wait at most; \
                      `uniform` distances between arrivals; `share` { group, weight } of what \
                      several jobs do; `hits` { read, write, offset, len }: a part that is hit \
                      again and again by so many per cent; `bursts`: pairs of a rate and seconds \
                      that take turns; `most_errors`: failed operations and wrong blocks that end \
                      the pool.",
            allowed: Allowed::Said("a table, or \"none\""),
            default: Some("none"),
            example: "{ name = \"one\", depth = 32 }",
            set: |job, value| put(&mut job.pool, value.unless_none(pool)),
            show: |job| job.pool.as_ref().map(shown_pool),
            ..Key::ROW
        },
    ],
};

/// A number, or what stands for none given.
fn or<'v, T>(
    field: Option<Value<'v>>,
    read: impl Fn(Value<'v>) -> Result<T, Complaint>,
    default: T,
) -> Result<T, Complaint> {
    field.map_or(Ok(default), read)
}

fn verify(value: Value<'_>) -> Result<Verify, Complaint> {
    if !value.is_table() {
        return value.word(&CHECKSUMS).map(Verify::new);
    }
    let [
        checksum,
        interval,
        offset,
        pattern,
        when,
        pass,
        fatal,
        in_time,
        keep,
        first,
        trimmed_zero,
        trims,
    ] = value.fields([
        "checksum",
        "interval",
        "offset",
        "pattern",
        "when",
        "pass",
        "fatal",
        "in_time",
        "keep",
        "first",
        "trimmed_zero",
        "trims",
    ])?;
    let Some(checksum) = checksum else {
        return Err(value.complaint("a table of `verify` needs the `checksum`"));
    };
    Ok(Verify {
        checksum: checksum.word(&CHECKSUMS)?,
        interval: interval.map(Value::size).transpose()?,
        offset: or(offset, Value::size, Bytes::ZERO)?,
        pattern: pattern.map(parts).transpose()?,
        when: or(when, read_when, When::AfterWrites)?,
        pass: pass.map(Value::size).transpose()?,
        fatal: or(fatal, Value::flag, false)?,
        in_time: or(in_time, Value::flag, false)?,
        keep: or(keep, Value::count, 0)?,
        first: first.map(Value::whole).transpose()?,
        trimmed_zero: or(trimmed_zero, Value::flag, false)?,
        trims: trims.map(read_trims).transpose()?,
    })
}

fn read_trims(value: Value<'_>) -> Result<Trims, Complaint> {
    let [Some(percent), Some(every), Some(batch)] = value.fields(["percent", "every", "batch"])?
    else {
        return Err(value.complaint("all of `percent`, `every` and `batch` are needed"));
    };
    Ok(Trims {
        percent: percent.percent()?,
        every: every.whole()?,
        batch: batch.whole()?,
    })
}

fn shown_trims(trims: Trims) -> String {
    shown_table(&[
        ("percent", Some(trims.percent.to_string())),
        ("every", Some(trims.every.to_string())),
        ("batch", Some(trims.batch.to_string())),
    ])
}

fn read_when(value: Value<'_>) -> Result<When, Complaint> {
    if !value.is_table() {
        return value.word(&WHENS);
    }
    let [Some(every), Some(batch)] = value.fields(["every", "batch"])? else {
        return Err(value.complaint("both `every` and `batch` are needed"));
    };
    Ok(When::Backlog {
        every: every.whole()?,
        batch: batch.whole()?,
    })
}

fn parts(value: Value<'_>) -> Result<Arc<[PatternPart]>, Complaint> {
    let part = |value: Value<'_>| match value.text()? {
        "offset" => Ok(PatternPart::Offset),
        _ => hex(value).map(|bytes| PatternPart::Bytes(bytes.to_vec())),
    };
    value.list_or_one().into_iter().map(part).collect()
}

fn shown_verify(verify: &Verify) -> String {
    let checksum = spoken(&CHECKSUMS, &verify.checksum);
    if *verify == Verify::new(verify.checksum)
        && let Some(checksum) = checksum
    {
        return checksum;
    }
    let flag = |flag: bool| flag.then(|| "true".to_owned());
    shown_table(&[
        ("checksum", checksum),
        ("interval", verify.interval.map(size)),
        ("offset", (verify.offset.0 > 0).then(|| size(verify.offset))),
        ("pattern", verify.pattern.as_deref().map(shown_parts)),
        ("when", shown_when(verify.when)),
        ("pass", verify.pass.map(size)),
        ("fatal", flag(verify.fatal)),
        ("in_time", flag(verify.in_time)),
        ("keep", (verify.keep > 0).then(|| verify.keep.to_string())),
        ("first", verify.first.map(|first| first.to_string())),
        ("trimmed_zero", flag(verify.trimmed_zero)),
        ("trims", verify.trims.map(shown_trims)),
    ])
}

fn shown_when(when: When) -> Option<String> {
    match when {
        When::AfterWrites => None,
        When::Backlog { every, batch } => Some(shown_table(&[
            ("every", Some(every.to_string())),
            ("batch", Some(batch.to_string())),
        ])),
        When::Never | When::Only | When::OnlyPlaces => spoken(&WHENS, &when),
    }
}

fn shown_parts(parts: &[PatternPart]) -> String {
    let part = |part: &PatternPart| match part {
        PatternPart::Offset => quoted("offset"),
        PatternPart::Bytes(bytes) => quoted(&shown_hex(bytes)),
    };
    format!(
        "[{}]",
        parts.iter().map(part).collect::<Vec<_>>().join(", ")
    )
}

fn log(value: Value<'_>) -> Result<Log, Complaint> {
    let [entries, average, histogram] = value.fields(["entries", "average", "histogram"])?;
    Ok(Log {
        entries: or(entries, Value::flag, false)?,
        average: average.map(Value::time).transpose()?,
        histogram: histogram.map(Value::time).transpose()?,
    })
}

fn shown_log(log: Log) -> String {
    shown_table(&[
        ("entries", log.entries.then(|| "true".to_owned())),
        ("average", log.average.map(time)),
        ("histogram", log.histogram.map(time)),
    ])
}

fn pool(value: Value<'_>) -> Result<Pooled, Complaint> {
    let [
        name,
        depth,
        rank,
        share,
        queue,
        uniform,
        hits,
        bursts,
        errors,
    ] = value.fields([
        "name",
        "depth",
        "rank",
        "share",
        "queue",
        "uniform",
        "hits",
        "bursts",
        "most_errors",
    ])?;
    let (Some(name), Some(depth)) = (name, depth) else {
        return Err(value.complaint("a pool needs a `name` and a `depth`"));
    };
    let plain = Pooled::new(&name.name()?, depth.count()?);
    Ok(Pooled {
        rank: or(rank, Value::count, plain.rank)?,
        share: share.map(read_share).transpose()?,
        queue: or(queue, Value::count, plain.queue)?,
        uniform: or(uniform, Value::flag, false)?,
        hits: hits.map(read_hits).transpose()?,
        bursts: or(bursts, read_bursts, Vec::new())?,
        most_errors: errors
            .map(Value::count)
            .transpose()?
            .map(|most| MostErrors::new(most, 0)),
        ..plain
    })
}

fn read_share(value: Value<'_>) -> Result<Share, Complaint> {
    let [group, weight] = value.fields(["group", "weight"])?;
    Ok(Share {
        group: or(group, Value::count, 0)?,
        weight: or(weight, Value::number, 1.0)?,
    })
}

fn read_hits(value: Value<'_>) -> Result<Hits, Complaint> {
    let [read, write, offset, len] = value.fields(["read", "write", "offset", "len"])?;
    let Some(len) = len else {
        return Err(value.complaint("the part that is hit needs a `len`"));
    };
    Ok(Hits {
        read_percent: or(read, Value::number, 0.0)?,
        write_percent: or(write, Value::number, 0.0)?,
        offset: or(offset, Value::size, Bytes::ZERO)?.0,
        len: len.size()?.0,
    })
}

fn read_bursts(value: Value<'_>) -> Result<Vec<(f64, f64)>, Complaint> {
    let burst = |pair: Value<'_>| {
        let [rate, seconds] = pair.pair()?;
        Ok((rate.number()?, seconds.number()?))
    };
    value.list()?.into_iter().map(burst).collect()
}

fn shown_pool(pool: &Pooled) -> String {
    let plain = Pooled::new(&pool.pool, pool.depth);
    let share = pool.share.map(|share| {
        shown_table(&[
            ("group", Some(share.group.to_string())),
            ("weight", Some(number(share.weight))),
        ])
    });
    let hits = pool.hits.map(|hits| {
        shown_table(&[
            ("read", Some(number(hits.read_percent))),
            ("write", Some(number(hits.write_percent))),
            ("offset", Some(size(Bytes(hits.offset)))),
            ("len", Some(size(Bytes(hits.len)))),
        ])
    });
    let burst = |(rate, seconds): &(f64, f64)| format!("[{}, {}]", number(*rate), number(*seconds));
    let bursts: Vec<String> = pool.bursts.iter().map(burst).collect();
    shown_table(&[
        ("name", Some(quoted(&pool.pool))),
        ("depth", Some(pool.depth.to_string())),
        (
            "rank",
            (pool.rank != plain.rank).then(|| pool.rank.to_string()),
        ),
        ("share", share),
        (
            "queue",
            (pool.queue != plain.queue).then(|| pool.queue.to_string()),
        ),
        ("uniform", pool.uniform.then(|| "true".to_owned())),
        ("hits", hits),
        (
            "bursts",
            (!bursts.is_empty()).then(|| format!("[{}]", bursts.join(", "))),
        ),
        (
            "most_errors",
            pool.most_errors
                .as_ref()
                .map(|errors| errors.most().to_string()),
        ),
    ])
}
