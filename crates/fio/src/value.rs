//! The values of options: the text after `=` is read by the kind of the option, and converted to the
//! type of its field.

use blocklab_units::Nanos;
use blocklab_workload::errno;

use super::number::{Clock, Scale, amount, no_share, read_prefix, read_prefix_of_time, time};
use super::option::{Kind, Opt};

/// Bytes, or a share of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Share {
    Bytes(u64),
    /// Of the whole, which is 100; up to a million.
    Percent(f64),
    /// Zones of `zonesize`, written `4z`.
    Zones(u64),
}

impl Default for Share {
    fn default() -> Self {
        Self::Bytes(0)
    }
}

impl Share {
    /// How much of `whole` it is.
    pub(super) fn bytes_of(self, whole: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Percent(percent) => (whole as f64 * percent / 100.0) as u64,
            // Without zones, a number of them is no amount.
            Self::Zones(_) => 0,
        }
    }

    /// The same share with a number of zones, of this size, as bytes; `None` without a size of zones, as
    /// with fio.
    pub(super) fn with_zones_as_bytes(self, zone: Option<u64>) -> Option<Self> {
        match self {
            Self::Zones(zones) => Some(Self::Bytes(zones.saturating_mul(zone?))),
            other => Some(other),
        }
    }
}

/// Sizes of reads, writes and trims; 0: none.
pub(super) type Sizes = [u64; 3];
/// Ranges for reads, writes and trims: from and to.
pub(super) type Ranges = [(u64, u64); 3];
/// One of the words of an option; empty where the option has none.
pub(super) type Word = &'static str;

/// What an option was given.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Text(String),
    Names(Vec<String>),
    Word(Word),
    Number(i64),
    Share(Share),
    Sizes(Sizes),
    Ranges(Ranges),
    Floats(Vec<f64>),
    Time(Nanos),
}

/// A type that an option of a job can have, made of the [`Value`] that was read.
pub(super) trait OptionType: Default {
    /// # Panics
    /// If the value is of another kind: then a row of the table has a type that does not fit.
    fn from_value(value: Value) -> Self;

    /// The value of an option that was given or not. An `Option` is `None` where nothing is
    /// given, whatever holds then; all others have the default of the table.
    fn from_given(option: &Opt, given: Option<&Value>) -> Self {
        match (given, option.default) {
            (Some(value), "-") => Self::from_value(value.clone()),
            (Some(value), _) => Self::from_value(value.clone().over(&Value::default_of(option))),
            (None, "-") => Self::default(),
            (None, _) => Self::from_value(Value::default_of(option)),
        }
    }
}

/// One line a type: the kind of value that it is made of, and how.
macro_rules! option_types {
    ($($type:ty: $kind:ident($value:ident) => $made:expr;)*) => {
        $(impl OptionType for $type {
            fn from_value(value: Value) -> Self {
                match value {
                    Value::$kind($value) => $made,
                    other => panic!("{other:?} is no {}", stringify!($type)),
                }
            }
        })*
    };
}

option_types! {
    String: Text(text) => text;
    Word: Word(word) => word;
    bool: Number(number) => number != 0;
    i64: Number(number) => number;
    u64: Number(number) => number.max(0) as Self;
    u32: Number(number) => number.clamp(0, Self::MAX.into()) as Self;
    Share: Share(share) => share;
    Sizes: Sizes(sizes) => sizes;
    Ranges: Ranges(ranges) => ranges;
    Vec<f64>: Floats(list) => list;
    Vec<String>: Names(names) => names;
    Nanos: Time(time) => time;
}

impl<T: OptionType> OptionType for Option<T> {
    fn from_value(value: Value) -> Self {
        Some(T::from_value(value))
    }

    fn from_given(_: &Opt, given: Option<&Value>) -> Self {
        given.cloned().map(T::from_value)
    }
}

/// The value; `None` for 0, by which fio means that there is none.
pub(super) fn nonzero<T: PartialOrd + Default>(value: T) -> Option<T> {
    (value > T::default()).then_some(value)
}

impl Value {
    /// Reads what was written after `=`.
    pub(super) fn read(option: &Opt, text: Option<&str>, scale: Scale) -> Result<Self, String> {
        let text = match text {
            Some(text) if !text.is_empty() => text,
            _ if option.value.kind == Kind::Name => return Ok(Self::Text(String::new())),
            None if option.value.kind == Kind::Flag => return Ok(Self::Number(1)),
            _ => return Err(format!("option {} requires an argument", option.name)),
        };
        let text = effective(option, text);
        let between = |low: i64, high: i64| match amount(text, scale)? {
            value if (low..=high).contains(&value) => Ok(Self::Number(value)),
            value if high == i64::MAX => Err(format!("{value} is out of range: at least {low}")),
            value => Err(format!("{value} is out of range: {low} to {high}")),
        };
        match option.value.kind {
            // The quotation marks of a pattern tell text from numbers; those of a description are
            // printed.
            Kind::Text if option.name.ends_with("_pattern") || option.name == "description" => {
                Ok(Self::Text(text.to_owned()))
            }
            Kind::Text | Kind::Name => Ok(Self::Text(unquoted(text))),
            Kind::Names => Ok(Self::Names(vec![unquoted(text)])),
            Kind::Flag => match amount(text, scale) {
                Ok(value) => Ok(Self::Number(i64::from(value != 0))),
                Err(_) => Err(format!("`{text}` is neither 0 nor 1")),
            },
            Kind::Bool => between(0, 1),
            Kind::Int(low, high) => between(low, high),
            Kind::Size => Ok(Self::Number(bytes(text, scale)? as i64)),
            // fio reads `10%` between zones as -11 bytes.
            Kind::Share if option.name == "zoneskip" && text.ends_with('%') => Err(no_share(text)),
            Kind::Share => share(text, scale).map(Self::Share),
            Kind::Sizes(least) => {
                in_order(&numbers(text), |part| bytes_from(part, scale, least)).map(Self::Sizes)
            }
            Kind::Ranges(_) if option.name == "bsrange" && is_single(text) => {
                Err(format!("`{text}` is no range such as 4k-16k"))
            }
            Kind::Ranges(least) => {
                by_direction(text, |part| range(part, scale, least)).map(Self::Ranges)
            }
            Kind::Floats => floats(text).map(Self::Floats),
            Kind::FloatsTo(most) => match floats(text)? {
                list if list
                    .iter()
                    .all(|share| (0.0..=f64::from(most)).contains(share)) =>
                {
                    Ok(Self::Floats(list))
                }
                _ => Err(format!("`{text}` is out of range: 0 to {most}")),
            },
            Kind::Seconds => time_of_job(text, Clock::Seconds).map(Self::Time),
            Kind::Micros => time_of_job(text, Clock::Micros).map(Self::Time),
            Kind::Word(choices) => word(text, choices),
        }
    }

    fn default_of(option: &Opt) -> Self {
        Self::read(option, Some(option.default), Scale::default()).expect(option.default)
    }

    /// This value, given after another one: a direction that is left out keeps what it had, and
    /// names add up.
    pub(super) fn over(self, old: &Self) -> Self {
        fn kept<T: Copy + PartialEq>(new: [T; 3], old: &[T; 3], none: T) -> [T; 3] {
            std::array::from_fn(|at| if new[at] == none { old[at] } else { new[at] })
        }
        match (self, old) {
            (Self::Sizes(new), Self::Sizes(old)) => Self::Sizes(kept(new, old, 0)),
            (Self::Ranges(new), Self::Ranges(old)) => Self::Ranges(kept(new, old, (0, 0))),
            (Self::Names(new), Self::Names(old)) => Self::Names([old.clone(), new].concat()),
            (new, _) => new,
        }
    }

    /// Whether it asks for nothing: the option need not be noted or refused then.
    pub(super) fn is_off(&self, option: &Opt) -> bool {
        match self {
            Self::Number(number) => {
                *number == amount(option.default, Scale::default()).unwrap_or(0)
            }
            Self::Text(text) => text == option.default,
            Self::Word(word) => *word == option.default,
            Self::Time(time) => *time == Nanos::ZERO,
            Self::Share(share) => *share == Share::Bytes(0),
            Self::Names(_) | Self::Sizes(_) | Self::Ranges(_) | Self::Floats(_) => false,
        }
    }
}

/// Options whose text begins with a word that fio knows.
const WITH_WORDS: &str = "rw ioengine verify random_distribution file_service_type steadystate \
    continue_on_error sync_file_range mem buffer_pattern verify_pattern";

/// The value of an option without the blanks in front of it.
///
/// # Errors
/// If fio takes the value for another one because of them: it then knows no word and no unit.
pub(super) fn behind_blanks<'a>(option: &Opt, text: &'a str) -> Result<&'a str, String> {
    let value = text.trim_start();
    if value.len() == text.len() || value.is_empty() {
        return Ok(value);
    }
    let is_word = match option.value.kind {
        Kind::Word(_) => true,
        Kind::Text => WITH_WORDS
            .split_whitespace()
            .any(|name| name == option.name),
        _ => false,
    };
    if is_word {
        return Err(format!("behind `=`, fio takes no blank before `{value}`"));
    }
    let is_number = !matches!(option.value.kind, Kind::Text | Kind::Name | Kind::Names);
    let behind_digits = value.trim_start_matches(|c: char| c.is_ascii_digit());
    if is_number && behind_digits.starts_with(|c: char| c.is_ascii_alphabetic()) {
        let digits = &value[..value.len() - behind_digits.len()];
        return Err(format!(
            "of `{value}` behind a blank, fio reads {digits} alone; {}={value} is the whole number",
            option.name
        ));
    }
    Ok(value)
}

/// Notes on the first number in the value of an option of which fio reads only the beginning; `None` if
/// it reads all of them.
pub(super) fn dropped(option: &Opt, text: &str) -> Option<String> {
    let text = effective(option, text);
    match option.value.kind {
        Kind::Int(..) | Kind::Size | Kind::Share if !text.ends_with('%') => dropped_from(text),
        Kind::Seconds | Kind::Micros => dropped_from_time(text),
        Kind::Text if option.name == "startdelay" => text.split(RANGE).find_map(dropped_from_time),
        Kind::Sizes(_) => numbers(text).into_iter().find_map(dropped_from),
        Kind::Ranges(_) => text
            .split(',')
            .find_map(|part| match part.split_once(RANGE) {
                Some((low, high)) => dropped_from(low).or_else(|| dropped_from(high)),
                None => dropped_from(part),
            }),
        _ => None,
    }
}

fn dropped_from(number: &str) -> Option<String> {
    let number = number.trim();
    read_prefix(number).map(|prefix| note_on_prefix(number, prefix))
}

fn dropped_from_time(time: &str) -> Option<String> {
    let time = time.trim();
    read_prefix_of_time(time).map(|prefix| note_on_prefix(time, prefix))
}

fn note_on_prefix(number: &str, prefix: &str) -> String {
    format!("of `{number}`, `{prefix}` counts, as with fio")
}

/// What separates the two ends of a range.
pub(super) const RANGE: [char; 2] = ['-', ':'];

/// The time that an option of a job was given. [`dropped`] notes what does not count.
pub(super) fn time_of_job(text: &str, clock: Clock) -> Result<Nanos, String> {
    let text = text.trim();
    time(read_prefix_of_time(text).unwrap_or(text), clock)
}

fn unquoted(text: &str) -> String {
    let inner = text
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    inner.unwrap_or(text).to_owned()
}

/// A number of bytes, which is not below 0.
pub(super) fn bytes(text: &str, scale: Scale) -> Result<u64, String> {
    u64::try_from(amount(text, scale)?).map_err(|_| format!("`{text}` is below 0"))
}

fn bytes_from(text: &str, scale: Scale, least: u64) -> Result<u64, String> {
    match bytes(text, scale)? {
        bytes if bytes < least => Err(format!("{bytes} is out of range: at least {least}")),
        bytes => Ok(bytes),
    }
}

/// `10%`, `4z` (zones) or a number of bytes.
fn share(text: &str, scale: Scale) -> Result<Share, String> {
    if let Some(zones) = text.strip_suffix(['z', 'Z']) {
        let zones = zones.trim().parse();
        return zones
            .map(Share::Zones)
            .map_err(|_| format!("`{text}` is no number of zones"));
    }
    let Some(percent) = text.strip_suffix('%') else {
        return bytes(text, scale).map(Share::Bytes);
    };
    match percent.trim().parse::<f64>() {
        Ok(percent) if (0.0..=1e6).contains(&percent) => Ok(Share::Percent(percent)),
        _ => Err(format!("`{text}` is no share in per cent")),
    }
}

/// Whether a part of a list of ranges is a single size.
fn is_single(text: &str) -> bool {
    let mut parts = text.split(',').filter(|part| !part.trim().is_empty());
    parts.any(|part| !part.contains(RANGE))
}

/// The smallest and the largest size of `4k-64k`, in whichever order they are given; of `4k`, that twice.
fn range(text: &str, scale: Scale, least: u64) -> Result<(u64, u64), String> {
    let (low, high) = text.split_once(RANGE).unwrap_or((text, text));
    let low = bytes_from(low, scale, least)?;
    let high = bytes_from(high, scale, least)?;
    Ok((low.min(high), low.max(high)))
}

/// The numbers of a list, as fio separates them: at each comma; behind the last comma at each colon; and
/// behind the last colon at each hyphen. `4k-8k` is two numbers, and of `4k-8k,16k` the first is
/// `4k-8k`, of which `4k` counts. Arithmetic in parentheses may contain a hyphen, so it is separated
/// at commas only.
pub(super) fn numbers(text: &str) -> Vec<&str> {
    // A hyphen in front of everything is a sign.
    let separators: &[char] = if text.contains('(') || text.starts_with('-') {
        &[',']
    } else {
        &[',', ':', '-']
    };
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((part, behind)) = separators
        .iter()
        .find_map(|separator| rest.split_once(*separator))
    {
        parts.push(part.trim());
        rest = behind;
    }
    // What ends in a colon or a hyphen has no number behind it.
    if !rest.is_empty() || text.ends_with(',') || parts.is_empty() {
        parts.push(rest.trim());
    }
    parts
}

/// The number of a list that counts for an option with one value. For most it is the first, and
/// [`amount`] drops the rest; shares of a file and of a mix are set anew by each number.
fn effective<'a>(option: &Opt, text: &'a str) -> &'a str {
    let sets_anew =
        option.value.kind == Kind::Share || matches!(option.name, "rwmixread" | "rwmixwrite");
    if sets_anew {
        // A remark such as `// a half, or less` may contain what separates numbers.
        let number = text.split("//").next().unwrap_or(text).trim();
        numbers(number).last().copied().unwrap_or(number)
    } else {
        text
    }
}

/// Values for reads, writes and trims from a list such as `4k`, `4k,8k` or `,8k`.
fn by_direction<T: Copy + Default>(
    text: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<[T; 3], String> {
    in_order(&text.split(',').map(str::trim).collect::<Vec<_>>(), read)
}

/// Values for reads, writes and trims from these parts. The last value applies to the directions after
/// it, too; an empty part gives the type's default.
pub(super) fn in_order<T: Copy + Default>(
    parts: &[&str],
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<[T; 3], String> {
    let mut values = [T::default(); 3];
    for (index, value) in values.iter_mut().enumerate() {
        match parts.get(index).or(parts.last()) {
            Some(part) if !part.is_empty() => *value = read(part)?,
            _ => {}
        }
    }
    Ok(values)
}

/// The number of an error that is given so, or by its name.
pub(super) fn error_number(word: &str) -> Option<i32> {
    word.parse().ok().or_else(|| errno::number(word))
}

fn floats(text: &str) -> Result<Vec<f64>, String> {
    let parts = text.split(':').map(|part| part.trim().parse::<f64>());
    match parts.collect::<Result<Vec<f64>, _>>() {
        Ok(values) if values.iter().all(|value| value.is_finite()) => Ok(values),
        _ => Err(format!(
            "`{text}` is no list of numbers with `:` between them"
        )),
    }
}

fn word(text: &str, choices: &'static str) -> Result<Value, String> {
    let known = choices.split(' ').find(|choice| *choice == text);
    known.map(Value::Word).ok_or_else(|| {
        let choices = choices.replace(' ', ", ");
        format!("`{text}` is none of {choices}")
    })
}

#[cfg(test)]
mod tests {
    use blocklab_units::{Bytes, Nanos};

    use crate::tests::planned;

    /// Scripts give a range to `bs`, as in `bs=4k-64k`: it was taken for its first size in all
    /// directions, with a note that this was as with fio, which takes it for sizes of reads and writes.
    /// `rate=1m:2m` limited writes to the rate of the reads.
    #[test]
    fn colons_and_hyphens_separate_the_directions_as_commas_do() {
        #[track_caller]
        fn check(given: &str, sizes: [u64; 3]) {
            let text = format!("[a]\nrw=randrw\nsize=1m\nioengine=null\n{given}\n");
            let prepared = planned(&text).unwrap();
            let found = prepared.clones[0].blocks.map(|(smallest, _)| smallest);
            assert_eq!(found, sizes.map(|kib| kib << 10), "{given}");
        }
        check("bs=4k-64k", [4, 64, 64]);
        check("bs=4k:64k", [4, 64, 64]);
        check("bs=4k:8k-16k", [4, 8, 16]);
        check("bs=4k,8k-16k", [4, 8, 16]);
        // Behind the last comma alone.
        check("bs=4k-64k,8k", [4, 8, 8]);
        check("bs=4k-8k,16k-32k", [4, 16, 32]);
        check("bs=8k-", [8, 8, 8]);
        check("bs=8k:", [8, 8, 8]);
        check("bs=(16k-8k)", [8, 8, 8]);
    }

    /// A remark with a comma behind a size was taken for another size, and refused the job file.
    #[test]
    fn a_remark_behind_a_size_may_have_commas() {
        let size = |size: &str| {
            let text = format!("[a]\nioengine=null\nsize={size}\n");
            let prepared = planned(&text).expect(size);
            prepared.plan.cases[0].workload.jobs[0].stop.bytes
        };
        assert_eq!(size("2m    // all of it, or less"), Some(Bytes(2 << 20)));
        assert_eq!(size("2m // half-full: a, b"), Some(Bytes(2 << 20)));
    }

    /// Of `size=64k:128k`, 64 KiB were moved, and of `rwmixread=70:30` 70 per cent were reads; fio
    /// takes the last number of both, and the first one of `numjobs=1:2`.
    #[test]
    fn the_last_of_several_shares_counts() {
        let text = "[a]\nrw=randrw\nioengine=null\nsize=64k:128k\nrwmixread=70:30\nnumjobs=1:2\n";
        let prepared = planned(text).unwrap();
        let jobs = &prepared.plan.cases[0].workload.jobs;
        assert_eq!(jobs.len(), 1);
        assert_eq!(jobs[0].stop.bytes.unwrap().0, 128 << 10);
        assert_eq!(jobs[0].mix.read, 30);
    }

    /// `runtime=1.5` ran for 1.5 s and `thinktime=1.5ms` paused for 1500 us, where fio takes 1 s and
    /// 1 us, and reads whole numbers alone; `runtime=2-1` was one second.
    #[test]
    fn of_a_time_the_whole_number_counts_with_a_note() {
        #[track_caller]
        fn check(setting: &str, expected: [Nanos; 3], note: &str) {
            let text = format!("[a]\nioengine=null\nsize=4k\n{setting}\n");
            let prepared = planned(&text).unwrap();
            let job = &prepared.plan.cases[0].workload.jobs[0];
            let think = job.think.map_or(Nanos::ZERO, |think| think.pause);
            let found = [
                job.stop.runtime.unwrap_or(Nanos::ZERO),
                think,
                job.start_delay,
            ];
            assert_eq!(found, expected, "{setting}");
            let notes: Vec<&str> = prepared.notes.iter().map(|note| &*note.text).collect();
            assert!(notes.contains(&note), "{notes:?}");
        }
        let (second, none) = (Nanos::from_secs(1), Nanos::ZERO);
        check(
            "runtime=1.5",
            [second, none, none],
            "of `1.5`, `1` counts, as with fio",
        );
        check(
            "thinktime=1.5ms",
            [none, Nanos(1000), none],
            "of `1.5ms`, `1` counts, as with fio",
        );
        check(
            "runtime=1-2",
            [second, none, none],
            "of `1-2`, `1` counts, as with fio",
        );
        check(
            "startdelay=1.5-2",
            [none, none, second],
            "of `1.5`, `1` counts, as with fio",
        );
        let wrong = planned("[a]\nsize=4k\nruntime=1m30s\n")
            .unwrap_err()
            .to_string();
        assert!(wrong.contains("one whole number with a unit"), "{wrong}");
    }

    /// A job with this setting is refused with these words.
    #[track_caller]
    fn refused(setting: &str, words: &str) {
        let text = format!("[a]\nioengine=null\nsize=64k\n{setting}\n");
        let mistake = planned(&text).map(|_| ()).unwrap_err().to_string();
        assert!(mistake.contains(words), "{setting}: {mistake}");
    }

    /// Files that some program wrote have `rw = read` and `bs = 8k`. All of them were read as if the
    /// blanks were not there; fio refuses the first and takes blocks of 8 bytes for the second.
    #[test]
    fn a_blank_in_front_of_a_value_is_no_part_of_a_word_or_of_a_unit() {
        refused("rw = read", "no blank before `read`");
        refused("ioengine= psync", "no blank before `psync`");
        refused("verify =\tmd5", "no blank before `md5`");
        refused("bs = 8k", "fio reads 8 alone");
        refused("rate= 1m,2m", "rate=1m,2m is the whole number");
        // Numbers without a unit and free text mean the same.
        let settings = "iodepth = 4\nrwmixread= 70\nfilename = f\nbssplit= 4k/50:8k/50\nrw =read\n";
        let prepared = planned(&format!("[a]\nsize=64k\nioengine=libaio\n{settings}")).unwrap();
        let job = &prepared.plan.cases[0].workload.jobs[0];
        assert_eq!((job.depth, &*job.targets[0]), (4, "f"));
    }

    /// fio 3.33 refuses these or makes nonsense of them. Here headers of one byte overlapped, logs
    /// were compressed in chunks of a byte, `ba=0` had no effect and `10%` was 10, as with fio, said the
    /// note.
    #[test]
    fn what_is_out_of_the_range_of_an_option_is_refused() {
        refused("verify_interval=79", "at least 80");
        refused("verify_offset=39", "at least 40");
        refused("log_compression=1023", "1024 to 536870912");
        refused("log_compression=513m", "1024 to 536870912");
        refused("zone_reset_threshold=1.1", "0 to 1");
        refused("zone_reset_frequency=-1", "0 to 1");
        refused("replay_align=0", "no power of two");
        refused("replay_align=3", "no power of two");
        for setting in [
            "bs=0",
            "bs=4k,0",
            "ba=0",
            "ba=4k,0",
            "filesize=0",
            "filesize=0-4k",
        ] {
            refused(setting, "0 is out of range: at least 1");
        }
        for setting in [
            "iodepth=10%",
            "significant_figures=10%",
            "bs=10%",
            "rwmixread=10%",
            // The story: it was taken for 0, so zones followed each other without a gap.
            "zoneskip=10%",
        ] {
            refused(setting, "without `%`");
        }
        refused("uid=4294967295", "0 to 4294967294");
        planned("[a]\nioengine=null\nsize=64k\nbsrange=0-8k\nrate=0\n").expect("as with fio");
    }

    /// `--write_bw_log=`, as a script writes it whose variable is empty, left a log called after the
    /// job. In a job file the name may be left out, as with fio.
    #[test]
    fn a_name_on_the_command_line_is_given() {
        let arguments = ["--name=a", "--write_bw_log="].map(str::to_owned);
        let command = crate::parse_command(&arguments).unwrap();
        let [crate::Input::Job(section)] = &command.inputs[..] else {
            panic!("a job: {command:?}");
        };
        let wrong = crate::resolve(std::slice::from_ref(section), &[]).unwrap_err();
        assert!(
            wrong
                .to_string()
                .contains("write_bw_log requires an argument"),
            "{wrong}"
        );
        for name in ["write_bw_log", "write_bw_log="] {
            planned(&format!("[a]\nioengine=null\nsize=64k\n{name}\n")).expect(name);
        }
    }
}
