//! How the keywords are read whose values are more than one number or word.

use super::defs::{
    Arrivals, Buckets, DataErrors, LoopKind, OpenFlags, Range, Rd, Repeat, RequestedRate, Seek,
    Xfersize,
};
use super::error::{Mistake, Subject};
use super::value::{Argument, Kind, MAX_RATE, Values};

/// What `journal=` may be other than a directory.
const JOURNAL: &str = "yes, no, recover, only, ignore_pending, maponly, noflush, time, y";
/// What `data_errors=` may be.
const ERRORS: &str = "a number of errors, (n,seconds), remove, (remove,seconds), stop or one \
                      command in quotes would work";
/// The original counts in no more buckets, the last one included.
const MOST_BUCKETS: usize = 64;
/// The largest edge of a bucket in microseconds: eleven days, longer than any operation lasts.
const LARGEST_EDGE: u64 = 1_000_000_000_000;
/// Operations in flight of a storage definition.
const MOST_THREADS: u64 = 32_768;
/// More operations a second than any storage does.
const LARGEST_RATE: f64 = 1e9;

/// General parameters.
impl Argument<'_> {
    pub(super) fn ratio(&self, ratio: f64) -> Result<f64, Mistake> {
        let message = format_args!("a ratio of {ratio}; 1 to 25 would work");
        self.checked(ratio, (1.0..=25.0).contains(&ratio), message)
    }

    /// The ratio of a compression that leaves `percent` of what is written.
    pub(super) fn ratio_of_rest(&self, percent: f64) -> Result<f64, Mistake> {
        let message = format_args!("{percent} per cent are left; 4 to 100 would work");
        self.checked(100.0 / percent, (4.0..=100.0).contains(&percent), message)
    }

    /// The bytes of an operation: whole sectors.
    pub(super) fn sectors(&self, bytes: u64) -> Result<u64, Mistake> {
        let is_whole = bytes > 0 && bytes.is_multiple_of(512);
        let message = format_args!("{bytes} bytes are no multiple of 512");
        self.check(is_whole, message)?;
        let message = format_args!("{bytes} bytes; at most 1g would work");
        self.checked(bytes, bytes <= 1 << 30, message)
    }

    pub(super) fn repeat(&self) -> Result<Repeat, Mistake> {
        repeat(&self.parameter.text()).ok_or_else(|| {
            self.error("a number of times, or a duration such as 60s, 5m or 1h, must follow")
        })
    }

    /// Words as those of -j, or a directory.
    pub(super) fn journal(&self) -> Result<Vec<String>, Mistake> {
        let words = self.words()?;
        let unknown = words.iter().find(|word| {
            !word.contains(['/', '.']) && JOURNAL.split(", ").all(|name| name != *word)
        });
        match unknown {
            None => Ok(words),
            Some(word) => Err(self.error(format_args!(
                "`{word}` is none of {JOURNAL}, nor a directory with a / in it"
            ))),
        }
    }

    /// `5`, `(5,60)`, `stop`, `remove`, `(remove,60)` or `"script $lun"`.
    pub(super) fn data_errors(&self) -> Result<DataErrors, Mistake> {
        let words = self.words()?;
        let (most, command, remove) = match &*words.iter().map(String::as_str).collect::<Vec<_>>() {
            [word] if removes(word) => (1, None, true),
            // The seconds after which storage is used again, or the run ends for good, have no effect.
            [word, seconds] if removes(word) && is_count(seconds) => (1, None, true),
            [most, seconds] if is_count(seconds) => (self.error_number(most)?, None, false),
            ["stop"] => (1, None, false),
            [word] if word.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
                (self.error_number(word)?, None, false)
            }
            [command] if !command.trim().is_empty() => (1, Some((*command).to_owned()), false),
            other => return Err(self.error(format_args!("`{}`: {ERRORS}", other.join(",")))),
        };
        Ok(DataErrors {
            most,
            command,
            remove,
        })
    }

    /// The original ends at the first error with 0 as with 1.
    fn error_number(&self, word: &str) -> Result<u32, Mistake> {
        match word.parse::<u32>() {
            Ok(number) => Ok(number.max(1)),
            Err(_) => Err(self.error(format_args!("`{word}` is no number of errors; {ERRORS}"))),
        }
    }

    /// `(default,20,40,1m,1s)`: the name of the list, then upper edges. A number without a unit is
    /// in microseconds. One that is not above the edge before it is a step: edges at this distance
    /// follow up to the next number. `suppress`, which may be abbreviated, leaves empty ends out.
    pub(super) fn buckets(&self) -> Result<Buckets, Mistake> {
        // Older files have all edges in one pair of quotes.
        let words = self.names()?;
        let words: Vec<&str> = words.iter().flat_map(|word| word.split(',')).collect();
        let Some(("default", rest)) = words.split_first().map(|(name, rest)| (*name, rest)) else {
            return Err(self.error(
                "the first word names the list and must be `default`, as in \
                 histogram=(default,50u,100u,1m,1s)",
            ));
        };
        let (options, numbers): (Vec<&str>, Vec<&str>) = rest
            .iter()
            .copied()
            .partition(|word| !word.is_empty() && "suppress".starts_with(*word));
        let suppress = !options.is_empty();
        let edges = if numbers.is_empty() && suppress {
            Buckets::default().edges
        } else {
            edges(&numbers).map_err(|message| self.error(message))?
        };
        Ok(Buckets { edges, suppress })
    }
}

fn is_count(word: &str) -> bool {
    word.parse::<u32>().is_ok()
}

/// Adds words to those that were given before; `no` comes instead of them.
pub(super) fn add_words(list: &mut Vec<String>, words: Vec<String>) {
    let revokes = (words.first()).is_some_and(|word| matches!(&**word, "no" | "n"));
    if revokes {
        list.clear();
    }
    list.extend(words);
}

/// `rem` to `remove_device`.
fn removes(word: &str) -> bool {
    word.len() > 2 && "remove_device".starts_with(word)
}

/// `10`, `60s`, `5m`, `1h`.
pub(crate) fn repeat(text: &str) -> Option<Repeat> {
    let unit = match text.chars().next_back()? {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        _ => return text.parse().ok().map(Repeat::Times),
    };
    let number: u64 = text[..text.len() - 1].parse().ok()?;
    number.checked_mul(unit).map(Repeat::Seconds)
}

/// The upper edges of the buckets in microseconds, from `100,200,50,400`: a number that does not
/// exceed the edge before it is the step in which the buckets go on to the next edge.
fn edges(words: &[&str]) -> Result<Vec<u64>, String> {
    let mut edges: Vec<u64> = Vec::new();
    let mut step = None;
    for word in words {
        let number = micros(word)?;
        match edges.last().copied() {
            Some(last) if number <= last => step = Some(number),
            Some(last) => {
                if let Some(step) = step.take() {
                    let between = (last..number).step_by(step as usize).skip(1);
                    edges.extend(between.take(MOST_BUCKETS));
                }
                edges.push(number);
            }
            None => edges.push(number),
        }
        if edges.len() >= MOST_BUCKETS {
            return Err(format!("these are more than {MOST_BUCKETS} buckets"));
        }
    }
    match (edges.is_empty(), step) {
        (true, _) => Err("the upper edges of the buckets must follow the name".to_owned()),
        (_, Some(step)) => Err(format!(
            "{step} us is not above the edge before it, so it is a step, and the edge up to which \
             it goes must follow"
        )),
        _ => Ok(edges),
    }
}

/// Without a unit in microseconds, else `u`, `m` (ms) or `s`.
fn micros(word: &str) -> Result<u64, String> {
    let (digits, unit) = match word.chars().next_back() {
        Some('u') => (&word[..word.len() - 1], 1),
        Some('m') => (&word[..word.len() - 1], 1_000),
        Some('s') => (&word[..word.len() - 1], 1_000_000),
        _ => (word, 1),
    };
    let number = digits.parse::<u64>().ok();
    let micros = number.and_then(|number| number.checked_mul(unit));
    match micros {
        Some(micros @ 1..=LARGEST_EDGE) => Ok(micros),
        Some(0) => Err("a bucket cannot end at 0".to_owned()),
        _ => Err(format!(
            "`{word}` is no time; 50 or 50u (microseconds), 1m (milliseconds) and 2s would work"
        )),
    }
}

/// Storage definitions.
impl Argument<'_> {
    /// `size=10g`, or `size=(10g,4)`: a quarter of it.
    pub(super) fn shared_size(&self) -> Result<u64, Mistake> {
        let size = match *self.numbers(Kind::Number)? {
            [size] => self.as_whole(size)?,
            [size, parts] => self.as_whole(size)? / self.as_whole(parts)?.max(1),
            _ => return Err(self.error("a size and into how many parts, as in size=(10g,4)")),
        };
        self.checked(size, size > 0, "a size of 0 holds no block")
    }

    pub(super) fn threads(&self) -> Result<u32, Mistake> {
        self.threads_up_to(MOST_THREADS)
    }

    /// `threads=64`, or `threads=(64,4)`: a quarter of them.
    pub(super) fn shared_threads(&self) -> Result<u32, Mistake> {
        match *self.numbers(Kind::Number)? {
            [threads, parts] => {
                let threads = self.as_whole(threads)? / self.as_whole(parts)?.max(1);
                self.thread_count(threads, MOST_THREADS)
            }
            _ => self.threads(),
        }
    }

    /// This many threads at most.
    pub(super) fn threads_up_to(&self, most: u64) -> Result<u32, Mistake> {
        self.thread_count(self.whole()?, most)
    }

    fn thread_count(&self, threads: u64, most: u64) -> Result<u32, Mistake> {
        let message = format_args!("{threads} threads; 1 to {most} would work");
        self.checked(threads as u32, (1..=most).contains(&threads), message)
    }

    pub(super) fn multiple(&self) -> Result<u64, Mistake> {
        let bytes = self.whole()?;
        let message = format_args!("{bytes} is no multiple of 512");
        self.checked(bytes, bytes % 512 == 0, message)
    }

    pub(super) fn count(&self) -> Result<(i64, u64), Mistake> {
        match *self.numbers(Kind::Number)? {
            [start, n] if (1.0..=10_000.0).contains(&n) && start.abs() < 1e9 => {
                Ok((start as i64, n as u64))
            }
            _ => Err(self.error("a first number and how many are expected, as in count=(1,8)")),
        }
    }

    /// `openflags=(o_direct,o_sync)`.
    pub(super) fn openflags(&self) -> Result<OpenFlags, Mistake> {
        let mut flags = OpenFlags::default();
        for word in self.names()? {
            match &*word.to_lowercase() {
                "o_direct" | "directio" => flags.direct = true,
                // Linux defines O_RSYNC as O_SYNC.
                "o_sync" | "o_rsync" => flags.sync = true,
                "o_dsync" => flags.dsync = true,
                "fsync" => flags.fsync = true,
                // It sets no flag, and takes none back.
                "none" => {}
                other => {
                    return Err(self.error(format_args!(
                        "`{other}` is no flag on Linux; o_direct, directio, o_sync, o_dsync, \
                         o_rsync and fsync are"
                    )));
                }
            }
        }
        Ok(flags)
    }

    /// `range=(10,20)`.
    pub(super) fn range(&self) -> Result<Range, Mistake> {
        match *self.numbers(Kind::Number)? {
            [low, high] if (0.0..=1e18).contains(&low) && (0.0..=1e18).contains(&high) => {
                let message =
                    format_args!("the range ends at {high}, not after its beginning at {low}");
                self.check(low < high, message)?;
                Ok(Range { low, high })
            }
            _ => Err(self.error("a beginning and an end are expected, as in range=(10,20)")),
        }
    }
}

/// Workload definitions.
impl Argument<'_> {
    /// `40` or `40%`.
    pub(super) fn percent(&self) -> Result<f64, Mistake> {
        let number = self.number()?;
        // `skew=40%` is -40 to the scanner.
        let number = if self.parameter.text().ends_with('%') {
            -number
        } else {
            number
        };
        let message = format_args!("{number} is no share; 0 to 100 per cent would work");
        self.checked(number, (0.0..=100.0).contains(&number), message)
    }

    fn whole_sectors(&self, number: f64) -> Result<u64, Mistake> {
        self.sectors(self.as_whole(number)?)
    }

    /// `8k`; `(8k,60,64k,40)`: sizes, each with its share; `(4k,64k,4k)`: min, max, align.
    pub(super) fn xfersize(&self) -> Result<Xfersize, Mistake> {
        let numbers = self.numbers(Kind::Number)?;
        match *numbers {
            [size] => self.whole_sectors(size).map(Xfersize::Fixed),
            [min, max, align] => {
                let (min, max) = (self.as_whole(min)?, self.whole_sectors(max)?);
                let align = self.as_whole(align)?;
                let message = format_args!(
                    "(min,max,align): the largest size {max} is not above the smallest {min}"
                );
                self.check(min < max, message)?;
                let message = format_args!("(min,max,align): {align} is no multiple of 512");
                self.check(align > 0 && align.is_multiple_of(512), message)?;
                Ok(Xfersize::Between {
                    min: min.max(align),
                    max,
                    align,
                })
            }
            _ if numbers.len() % 2 == 0 => {
                let mix: Vec<(u64, f64)> = numbers
                    .chunks(2)
                    .map(|pair| Ok((self.whole_sectors(pair[0])?, pair[1])))
                    .collect::<Result<_, Mistake>>()?;
                let total: f64 = mix.iter().map(|(_, share)| share).sum();
                let message = format_args!("the shares of the sizes add up to {total}, not to 100");
                let is_whole = total.round() == 100.0 && mix.iter().all(|(_, share)| *share >= 0.0);
                self.check(is_whole, message)?;
                Ok(Xfersize::Mix(mix))
            }
            _ => {
                Err(self
                    .error("sizes and their shares come in pairs, as in xfersize=(4k,25,8k,75)"))
            }
        }
    }

    /// `seekpct=`: a word, a share in per cent, or `poisson` with its midpoint after it.
    pub(super) fn seek(&self) -> Result<Seek, Mistake> {
        let mut seek = None;
        for word in self.words()? {
            seek = Some(match (seek_word(&word.to_lowercase()), seek) {
                (Some(seek), _) => seek,
                (None, before) => match (word.parse::<f64>(), before) {
                    (Ok(midpoint), Some(Seek::Poisson(_)))
                        if midpoint > 0.0 && midpoint < 1000.0 =>
                    {
                        Seek::Poisson(midpoint)
                    }
                    (Ok(number), _) => self.seek_number(number)?,
                    _ => return Err(self.no_seek(&word.to_lowercase())),
                },
            });
        }
        seek.ok_or_else(|| self.error("a value must follow"))
    }

    fn no_seek(&self, word: &str) -> Mistake {
        self.error(format_args!(
            "`{word}` is neither a share in per cent nor one of random, sequential, seqnz, eof and \
             poisson"
        ))
    }

    fn seek_number(&self, number: f64) -> Result<Seek, Mistake> {
        let message =
            format_args!("{number} is no share; 0 to 100 per cent would work, and -1 for eof");
        self.check(number == -1.0 || (0.0..=100.0).contains(&number), message)?;
        Ok(match number {
            -1.0 => Seek::Eof,
            number => Seek::Percent(number),
        })
    }

    /// `stride=(4k,64k)`: the shortest and the longest one.
    pub(super) fn stride(&self) -> Result<(u64, u64), Mistake> {
        match *self.numbers(Kind::Number)? {
            [min, max] if min <= max => {
                let (min, max) = (self.as_whole(min)?, self.as_whole(max)?);
                self.check(max > 0, "a stride of 0 goes nowhere")?;
                Ok((min, max))
            }
            _ => Err(self.error("the shortest and the longest stride, as in stride=(4k,64k)")),
        }
    }

    pub(super) fn streams(&self) -> Result<u32, Mistake> {
        let streams = self.threads()?;
        self.check(streams > 1, "at least two streams are expected")?;
        Ok(streams.min(4096))
    }

    /// The `iorate=` of a workload: one number.
    pub(super) fn own_rate(&self) -> Result<f64, Mistake> {
        match *self.numbers(Kind::Rate)? {
            [rate] => {
                let is_rate = rate > 0.0 && rate < LARGEST_RATE;
                self.checked(rate, is_rate, "a rate is above 0 and below 1000000000")
            }
            _ => Err(self.error("of a workload it is one number; a list belongs to the run")),
        }
    }

    pub(super) fn priority(&self) -> Result<u32, Mistake> {
        match u32::try_from(self.whole()?) {
            Ok(priority @ 1..) => Ok(priority),
            _ => Err(self.error("a priority is 1 or more; 1 comes first")),
        }
    }
}

/// Words of seekpct= that may be shortened.
fn seek_word(word: &str) -> Option<Seek> {
    const SHORT: [(&str, Seek); 3] = [
        ("sequential", Seek::Percent(0.0)),
        ("random", Seek::Percent(100.0)),
        ("poisson", Seek::Poisson(3.0)),
    ];
    match word {
        "seqnz" | "sequentialnz" => Some(Seek::SequentialAnywhere),
        "eof" => Some(Seek::Eof),
        _ => {
            let found = SHORT
                .iter()
                .find(|(name, _)| word.len() > 1 && name.starts_with(word));
            found.map(|(_, seek)| *seek)
        }
    }
}

/// Words of distribution= that may be shortened. `None`: the rate changes over time, as iorate= lists
/// it.
const DISTRIBUTIONS: [(&str, Option<Arrivals>); 5] = [
    ("exponential", Some(Arrivals::Exponential)),
    ("uniform", Some(Arrivals::Uniform)),
    ("deterministic", Some(Arrivals::Deterministic)),
    ("variable", None),
    ("spike", None),
];

/// Run definitions.
impl Argument<'_> {
    pub(super) fn above_zero(&self) -> Result<f64, Mistake> {
        let number = self.number()?;
        self.checked(
            number,
            number > 0.0,
            format_args!("{number} is not above 0"),
        )
    }

    /// The `iorate=` of a run: numbers, `max` or `curve`.
    pub(super) fn iorate(&self) -> Result<RequestedRate, Mistake> {
        match self.values(Kind::Rate)? {
            Values::Numbers(numbers) if numbers == [MAX_RATE] => Ok(RequestedRate::Max),
            Values::Numbers(numbers) => {
                match numbers
                    .iter()
                    .find(|rate| **rate == 0.0 || rate.abs() >= LARGEST_RATE)
                {
                    None => Ok(RequestedRate::Rates(numbers)),
                    Some(rate) => {
                        let message = format_args!(
                            "a rate of {rate}; it is above 0 and below 1000000000, or max"
                        );
                        Err(self.error(message))
                    }
                }
            }
            Values::Words(words) => match &*words.join(",") {
                // A curve begins with its maximum anyway.
                "curve" | "curve,max" => Ok(RequestedRate::Curve),
                word if word.eq_ignore_ascii_case("max") => Ok(RequestedRate::Max),
                other => Err(self.error(format_args!(
                    "`{other}` is no rate; a number, max, curve or a list of numbers would work"
                ))),
            },
        }
    }

    pub(super) fn curve(&self) -> Result<Vec<f64>, Mistake> {
        self.each(|arg, point| {
            let point = point.abs().trunc();
            let message =
                format_args!("a point at {point} per cent of the maximum; at least 1 would work");
            arg.checked(point, (1.0..=10_000.0).contains(&point), message)
        })
    }

    /// `distribution=(exp,variable)`: words that may be cut short.
    pub(super) fn set_distribution(&self, rd: &mut Rd) -> Result<(), Mistake> {
        for word in self.names()? {
            let word = word.to_lowercase();
            let found = DISTRIBUTIONS
                .iter()
                .find(|(name, _)| !word.is_empty() && name.starts_with(&word));
            match found {
                Some((_, Some(arrivals))) => rd.options.arrivals = *arrivals,
                Some((_, None)) => rd.variable = true,
                None => {
                    return Err(self.error(format_args!(
                        "`{word}` is none of exponential, uniform, deterministic, variable and \
                         spike"
                    )));
                }
            }
        }
        Ok(())
    }
}

/// Loops of runs.
impl Argument<'_> {
    pub(super) fn sizes(&self) -> Result<Vec<f64>, Mistake> {
        self.each(|arg, size| Ok(arg.whole_sectors(size.trunc())? as f64))
    }

    /// 0 means 1, and the banner shows 0.
    pub(super) fn thread_counts(&self) -> Result<Vec<f64>, Mistake> {
        self.each(|arg, number| {
            let number = number.trunc();
            let message = format_args!("{number} threads; 1 to 32768 would work");
            arg.checked(number, (0.0..=32_768.0).contains(&number), message)
        })
    }

    /// Shares in per cent; with a sign after it, `40%` is -40 to the scanner.
    pub(super) fn shares(&self) -> Result<Vec<f64>, Mistake> {
        self.each(|arg, number| {
            let share = number.abs();
            let message = format_args!("{share} is no share; 0 to 100 would work");
            arg.checked(share, share <= 100.0, message)
        })
    }

    /// Ratios from what is left, in per cent, to three decimals.
    pub(super) fn compressions(&self) -> Result<Vec<f64>, Mistake> {
        self.each(|arg, percent| Ok((arg.ratio_of_rest(percent)? * 1e3).round() / 1e3))
    }

    /// `seekpct=`, `forseekpct=`: numbers and words, words as the numbers that mean the same.
    pub(super) fn seeks(&self, kind: Kind) -> Result<Vec<f64>, Mistake> {
        let words = self.words_of(kind)?;
        words
            .iter()
            .map(
                |word| match (word.parse::<f64>(), seek_word(&word.to_lowercase())) {
                    (Ok(number), _) => self.seek_number(number).map(Seek::number),
                    (_, Some(seek)) => Ok(seek.number()),
                    _ => Err(self.no_seek(word)),
                },
            )
            .collect()
    }
}

impl Rd {
    /// A loop that is given again takes its new place.
    pub(super) fn put_loop(&mut self, kind: LoopKind, values: Vec<f64>) {
        self.loops.retain(|(known, _)| *known != kind);
        self.loops.push((kind, values));
    }
}

#[cfg(test)]
mod tests {
    use super::{Buckets, edges};

    #[track_caller]
    fn check(words: &str, expected: Result<&[u64], &str>) {
        let words: Vec<&str> = words.split(',').collect();
        match (edges(&words), expected) {
            (Ok(edges), Ok(expected)) => assert_eq!(edges, expected, "{words:?}"),
            (Err(message), Err(part)) => assert!(message.contains(part), "{message}"),
            (edges, _) => panic!("{words:?}: {edges:?}"),
        }
    }

    #[test]
    fn edges_are_microseconds_and_steps_are_written_out() {
        check("20,40u,1m,2s", Ok(&[20, 40, 1000, 2_000_000]));
        check("10,10,40,1m", Ok(&[10, 20, 30, 40, 1000]));
        check("1m,500,2m", Ok(&[1000, 1500, 2000]));
        check("20,soon", Err("`soon` is no time"));
        check("0,20", Err("cannot end at 0"));
        check("20,10", Err("is a step"));
        check("1,1,1000", Err("more than 64 buckets"));
        check("99999999999999999999s", Err("is no time"));
    }

    /// The list of Vdbench's guide.
    #[test]
    fn the_default_goes_from_20_us_to_2_s() {
        let list = "20,40,60,80,100,200,400,600,800,1m,2m,4m,6m,8m,10m,20m,40m,60m,80m,100m,200m,\
                    400m,600m,800m,1s,2s";
        check(list, Ok(&Buckets::default().edges));
    }
}
