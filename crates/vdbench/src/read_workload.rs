//! Workload definitions.

use super::defs::{Seek, Wd, Xfersize};
use super::known::Known;
use super::mistake::Mistake;
use super::read_general::sectors;
use super::value::Values;

pub(super) fn set(wd: &mut Wd, known: &Known<'_>) -> Result<(), Mistake> {
    match known.name {
        "sd" => wd.sds = Some(known.words()),
        "skew" => wd.skew = percent(known)?,
        "xfersize" => wd.xfersize = xfersize(known)?,
        "rdpct" | "readpct" => wd.rdpct = percent(known)?.trunc(),
        "wrpct" | "writepct" => wd.rdpct = 100.0 - percent(known)?.trunc(),
        "rhpct" => wd.rhpct = percent(known)?,
        "whpct" => wd.whpct = percent(known)?,
        "range" => (wd.range, wd.hotband) = (Some(known.range()?), false),
        "hotband" => (wd.range, wd.hotband) = (Some(known.range()?), true),
        "seekpct" => wd.seek = seek(known)?,
        "stride" => wd.stride = Some(stride(known)?),
        "streams" => wd.streams = streams(known)?,
        "threads" => wd.threads = Some(threads(known)?),
        "iorate" => wd.iorate = rate(known)?,
        "priority" => wd.priority = Some(priority(known)?),
        "openflags" => wd.openflags = Some(known.openflags()?),
        _ => {}
    }
    Ok(())
}

fn threads(known: &Known<'_>) -> Result<u32, Mistake> {
    match known.whole()? {
        threads @ 1..=4096 => Ok(threads as u32),
        other => Err(known.wrong(format!("{other} threads; 1 to 4096 would work"))),
    }
}

pub(super) fn percent(known: &Known<'_>) -> Result<f64, Mistake> {
    let number = known.number()?;
    // `skew=40%` is -40 to the scanner.
    let number = match known.parameter.text().ends_with('%') {
        true => -number,
        false => number,
    };
    match (0.0..=100.0).contains(&number) {
        true => Ok(number),
        false => Err(known.wrong(format!(
            "{number} is no share; 0 to 100 per cent would work"
        ))),
    }
}

fn xfersize(known: &Known<'_>) -> Result<Xfersize, Mistake> {
    let numbers = known.numbers()?;
    let bytes = |number: f64| {
        known
            .as_whole(number)
            .and_then(|bytes| sectors(known, bytes))
    };
    match *numbers {
        [size] => bytes(size).map(Xfersize::Fixed),
        [min, max, align] => {
            let (min, max, align) = (known.as_whole(min)?, bytes(max)?, known.as_whole(align)?);
            if min >= max {
                return Err(known.wrong(format!(
                    "(min,max,align): the largest size {max} is not above the smallest {min}"
                )));
            }
            if align == 0 || !align.is_multiple_of(512) {
                return Err(known.wrong(format!("(min,max,align): {align} is no multiple of 512")));
            }
            Ok(Xfersize::Between(min.max(align), max, align))
        }
        _ if numbers.len() % 2 == 0 => {
            let pairs = numbers.chunks(2);
            let mix = pairs.map(|pair| Ok((bytes(pair[0])?, pair[1])));
            let mix: Vec<(u64, f64)> = mix.collect::<Result<_, Mistake>>()?;
            let total: f64 = mix.iter().map(|(_, share)| share).sum();
            if total.round() != 100.0 || mix.iter().any(|(_, share)| *share < 0.0) {
                return Err(known.wrong(format!(
                    "the shares of the sizes add up to {total}, not to 100"
                )));
            }
            Ok(Xfersize::Mix(mix))
        }
        _ => Err(known.wrong("sizes and their shares come in pairs, as in xfersize=(4k,25,8k,75)")),
    }
}

pub(super) fn seek(known: &Known<'_>) -> Result<Seek, Mistake> {
    let mut seek = None;
    for word in known.words() {
        seek = Some(match (&*word.to_lowercase(), seek) {
            ("seqnz" | "sequentialnz", _) => Seek::SequentialAnywhere,
            ("eof", _) => Seek::Eof,
            (word, _) if word.len() > 1 && "sequential".starts_with(word) => Seek::Percent(0.0),
            (word, _) if word.len() > 1 && "random".starts_with(word) => Seek::Percent(100.0),
            (word, _) if word.len() > 1 && "poisson".starts_with(word) => Seek::Poisson(3.0),
            (word, before) => match (word.parse::<f64>(), before) {
                (Ok(middle), Some(Seek::Poisson(_))) if middle > 0.0 && middle < 1000.0 => {
                    Seek::Poisson(middle)
                }
                (Ok(number), _) => seek_number(known, number)?,
                _ => {
                    return Err(known.wrong(format!(
                        "`{word}` is neither a share in per cent nor one of random, sequential, \
                         seqnz, eof and poisson"
                    )));
                }
            },
        });
    }
    seek.ok_or_else(|| known.wrong("a value must follow"))
}

pub(super) fn seek_number(known: &Known<'_>, number: f64) -> Result<Seek, Mistake> {
    match number {
        -1.0 => Ok(Seek::Eof),
        number if (0.0..=100.0).contains(&number) => Ok(Seek::Percent(number)),
        number => Err(known.wrong(format!(
            "{number} is no share; 0 to 100 per cent would work, and -1 for eof"
        ))),
    }
}

fn stride(known: &Known<'_>) -> Result<(u64, u64), Mistake> {
    match (known.numbers()?, &known.values) {
        ([min, max], Values::Numbers(_)) if min <= max => {
            let (min, max) = (known.as_whole(*min)?, known.as_whole(*max)?);
            match max {
                0 => Err(known.wrong("a stride of 0 goes nowhere")),
                _ => Ok((min, max)),
            }
        }
        _ => Err(known.wrong("the shortest and the longest stride, as in stride=(4k,64k)")),
    }
}

fn streams(known: &Known<'_>) -> Result<u32, Mistake> {
    match known.threads()? {
        1 => Err(known.wrong("at least two streams are expected")),
        streams => Ok(streams.min(4096)),
    }
}

fn rate(known: &Known<'_>) -> Result<f64, Mistake> {
    match known.numbers()? {
        [rate] if *rate > 0.0 && *rate < 1e9 => Ok(*rate),
        [_] => Err(known.wrong("a rate is above 0")),
        _ => Err(known.wrong("of a workload it is one number; a list belongs to the run")),
    }
}

fn priority(known: &Known<'_>) -> Result<u32, Mistake> {
    match u32::try_from(known.whole()?) {
        Ok(priority @ 1..) => Ok(priority),
        _ => Err(known.wrong("a priority is 1 or more; 1 comes first")),
    }
}
