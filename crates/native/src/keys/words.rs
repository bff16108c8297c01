//! The closed lists of words, and quantities as the format writes them.

use std::fmt::Display;
use std::ops::RangeInclusive;

use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{
    Access, Advice, Aggregate, Checksum, Content, Direction, Durability, EndsOthers, Engine,
    ErrorPolicy, Lifetime, Mix, Order, Pattern, PauseBefore, SizeDraw, SizeMix, Spread,
    SteadyVariable, TargetOrder, UringOptions, When,
};

use super::super::value::{Value, Word};
use blocklab_syntax::toml_tree::Complaint;

/// The words alone, for hints and tables.
pub const fn names<T: Copy, const N: usize>(words: &[Word<T>; N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut index = 0;
    while index < N {
        names[index] = words[index].0;
        index += 1;
    }
    names
}

/// The word for a value, in quotes.
pub fn word_for<T: PartialEq>(words: &[Word<T>], value: &T) -> Option<String> {
    let found = words.iter().find(|(_, meant)| meant == value);
    found.map(|(word, _)| format!("\"{word}\""))
}

/// Tables of words, each with its value.
macro_rules! words {
    ($($(#[$doc:meta])* $table:ident: $of:ty { $($word:literal = $meant:expr),* })*) => {
        $($(#[$doc])* pub const $table: [Word<$of>; [$($word),*].len()] = [$(($word, $meant)),*];)*
    };
}

words! {
    AGGREGATES: Aggregate { "mean" = Aggregate::Mean, "median" = Aggregate::Median, "best" = Aggregate::Best }
    ORDERS: Order { "interleaved" = Order::Interleaved, "grouped" = Order::Grouped }
    PAUSES: PauseBefore { "measurement" = PauseBefore::Measurement, "case" = PauseBefore::Case }
    TARGET_ORDERS: TargetOrder {
        "round-robin" = TargetOrder::RoundRobin, "random" = TargetOrder::Random,
        "per-thread" = TargetOrder::PerThread, "one-by-one" = TargetOrder::OneByOne
    }
    SPREADS: Spread {
        "staggered" = Spread::Staggered, "same" = Spread::Same, "sliced" = Spread::Sliced,
        "shared" = Spread::Shared
    }
    ACCESSES: Access { "direct" = Access::Direct, "buffered" = Access::Buffered, "auto" = Access::DirectIfPossible }
    ADVICE: Advice {
        "by-pattern" = Advice::ByPattern, "none" = Advice::None, "random" = Advice::Random,
        "sequential" = Advice::Sequential, "no-reuse" = Advice::NoReuse
    }
    LIFETIMES: Option<Lifetime> {
        "not-set" = None, "none" = Some(Lifetime::None), "short" = Some(Lifetime::Short),
        "medium" = Some(Lifetime::Medium), "long" = Some(Lifetime::Long), "extreme" = Some(Lifetime::Extreme)
    }
    DURABILITIES: Durability { "none" = Durability::None, "dsync" = Durability::Dsync, "sync" = Durability::Sync }
    CONTENTS: Content {
        "zero" = Content::Zero, "random" = Content::Random, "same" = Content::Same, "fresh" = Content::Fresh
    }
    ARRIVALS: Arrivals { "closed" = Arrivals::Closed, "fixed" = Arrivals::Fixed, "poisson" = Arrivals::Poisson }
    RULES: Rule { "snia" = Rule::Snia, "slope" = Rule::Slope, "deviation" = Rule::Deviation }
    VARIABLES: SteadyVariable {
        "iops" = SteadyVariable::Iops, "bandwidth" = SteadyVariable::Bandwidth,
        "latency" = SteadyVariable::Latency
    }
    POLICIES: ErrorPolicy { "stop" = ErrorPolicy::Stop, "continue" = ErrorPolicy::Continue }
    MIXES: Mix { "read" = Mix::READ, "write" = Mix::WRITE, "trim" = Mix::TRIM }
    SIZE_DRAWS: SizeDraw {
        "listed" = SizeDraw::Listed, "multiples" = SizeDraw::Multiples, "any-byte" = SizeDraw::AnyByte
    }
    /// By their numbers in the kernel.
    CLASSES: u8 { "realtime" = 1, "best-effort" = 2, "idle" = 3 }
    DIRECTIONS: Direction {
        "read" = Direction::Read, "write" = Direction::Write, "trim" = Direction::Trim, "sync" = Direction::Sync
    }
    ENDS: EndsOthers { "never" = EndsOthers::Never, "on-error" = EndsOthers::OnError, "always" = EndsOthers::Always }
    /// Kinds of failures, by their places in [`ErrorPolicy::ContinueOn`].
    KINDS: usize { "read" = 0, "write" = 1, "verify" = 2 }
    /// By the numbers of SYNC_FILE_RANGE_* in the kernel.
    SYNC_RANGES: u32 { "wait-before" = 1, "write" = 2, "wait-after" = 4 }
    CHECKSUMS: Checksum {
        "crc32c" = Checksum::Crc32c, "xxhash" = Checksum::Xxhash, "crc7" = Checksum::Crc7,
        "crc16" = Checksum::Crc16, "crc32" = Checksum::Crc32, "crc64" = Checksum::Crc64, "md5" = Checksum::Md5,
        "sha1" = Checksum::Sha1, "sha256" = Checksum::Sha256, "sha512" = Checksum::Sha512,
        "sha3-224" = Checksum::Sha3_224, "sha3-256" = Checksum::Sha3_256, "sha3-384" = Checksum::Sha3_384,
        "sha3-512" = Checksum::Sha3_512, "header" = Checksum::Header
    }
    WHENS: When { "after-writes" = When::AfterWrites, "never" = When::Never, "only" = When::Only }
}

/// As `UringOptions::default`, which cannot be called here.
pub const URING: UringOptions = UringOptions::USUAL;

pub const ENGINES: [Word<Engine>; Engine::ALL.len()] = Engine::ALL;

/// Patterns with their details still open: the keys after `pattern` fill them in.
pub const PATTERNS: [Word<fn() -> Pattern>; 10] = [
    ("sequential", || Pattern::Sequential),
    ("random", || Pattern::RANDOM),
    ("random-once", || Pattern::RANDOM_ONCE),
    ("strided", || Pattern::Strided {
        stride: Bytes::ZERO,
    }),
    ("backward", || Pattern::Backward { back: Bytes::ZERO }),
    ("percent-random", || Pattern::PercentRandom(0)),
    ("zipf", || Pattern::Zipf { theta: 0.0 }),
    ("pareto", || Pattern::Pareto { h: 0.0 }),
    ("normal", || Pattern::Normal {
        deviation_percent: 0.0,
    }),
    ("zones", || Pattern::Zones(Vec::new())),
];

pub const fn pattern_name(pattern: &Pattern) -> &'static str {
    match pattern {
        Pattern::Sequential => "sequential",
        Pattern::Strided { .. } => "strided",
        Pattern::Backward { .. } => "backward",
        Pattern::Random {
            every_block_once: false,
        } => "random",
        Pattern::Random {
            every_block_once: true,
        } => "random-once",
        Pattern::PercentRandom(_) => "percent-random",
        Pattern::Zipf { .. } => "zipf",
        Pattern::Pareto { .. } => "pareto",
        Pattern::Normal { .. } => "normal",
        Pattern::Zones(_) => "zones",
        Pattern::Listed { .. } => "listed",
        Pattern::Preconditioning { .. } => "preconditioning",
    }
}

/// How operations arrive, before a rate is known.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Arrivals {
    Closed,
    Fixed,
    Poisson,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    Snia,
    Slope,
    Deviation,
}

/// A number or a flag.
pub fn plain(value: impl Display) -> String {
    value.to_string()
}

/// The largest unit that divides evenly: `"64KiB"`, else plain bytes: `4097`.
pub fn size(bytes: Bytes) -> String {
    let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    for (shift, unit) in units {
        let whole = bytes.0 >> shift;
        if whole > 0 && whole << shift == bytes.0 {
            return format!("\"{whole}{unit}\"");
        }
    }
    bytes.0.to_string()
}

/// The largest unit that divides evenly: `"2s"`, `"300ms"`.
pub fn time(nanos: Nanos) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    for (factor, unit) in units {
        if nanos.0.is_multiple_of(factor) {
            return format!("\"{}{unit}\"", nanos.0 / factor);
        }
    }
    format!("\"{}ns\"", nanos.0)
}

/// A float that reads back as the same: `1.2`, `70.0`.
pub fn number(value: f64) -> String {
    format!("{value:?}")
}

/// `"4KiB"`, or `[["4KiB", 60], ["64KiB", 40]]`.
pub fn size_mix(mix: &SizeMix) -> String {
    if let [(only, 1)] = mix.0[..] {
        return size(only);
    }
    let pairs = list(&mix.0, |(bytes, weight)| {
        pair(size(*bytes), weight.to_string())
    });
    pairs.unwrap_or_else(|| "[]".to_owned())
}

/// `{ one = 1, two = "x" }` of the fields that are given.
pub fn shown_table(fields: &[(&str, Option<String>)]) -> String {
    let given: Vec<String> = fields
        .iter()
        .filter_map(|(name, value)| Some(format!("{name} = {}", value.as_ref()?)))
        .collect();
    format!("{{ {} }}", given.join(", "))
}

/// `[1, 2]`; `None` for an empty list.
pub fn list<T>(values: &[T], shown: impl Fn(&T) -> String) -> Option<String> {
    let shown: Vec<String> = values.iter().map(shown).collect();
    (!shown.is_empty()).then(|| format!("[{}]", shown.join(", ")))
}

/// `[1, 2]` of two.
pub fn pair(one: String, other: String) -> String {
    format!("[{one}, {other}]")
}

/// A whole number within these limits.
pub fn within(value: Value<'_>, limits: RangeInclusive<u32>) -> Result<u32, Complaint> {
    let number = value.whole()?;
    let small = u32::try_from(number).ok();
    small.filter(|known| limits.contains(known)).ok_or_else(|| {
        let (least, most) = limits.into_inner();
        value.complaint(format!("`{number}` is not from {least} to {most}"))
    })
}

/// The value of a field of a small table, or the default if it is not given.
pub fn or<'v, T>(
    field: Option<Value<'v>>,
    read: impl Fn(Value<'v>) -> Result<T, Complaint>,
    default: T,
) -> Result<T, Complaint> {
    field.map_or(Ok(default), read)
}
