//! Run definitions.

use super::defs::{Arrivals, AskedRate, LoopKind, Rd};
use super::known::Known;
use super::mistake::Mistake;
use super::read_general::{ratio, sectors};
use super::read_workload::{seek, seek_number};
use super::value::{MAX_RATE, Values};

pub(super) fn set(rd: &mut Rd, known: &Known<'_>) -> Result<(), Mistake> {
    match known.name {
        "wd" if rd.wds.is_empty() => rd.wds = known.words(),
        "wd" => {
            return Err(known.wrong("a run names its workloads once, as in wd=(wd1,wd2)"));
        }
        "sd" => rd.sds = Some(known.words()),
        "iorate" => rd.iorate = Some(iorate(known)?),
        "curve" => rd.curve = Some(curve(known)?),
        "stopcurve" => rd.stopcurve = Some(known.number()?),
        "elapsed" => rd.elapsed = seconds(known)?,
        "interval" => rd.interval = seconds(known)?,
        "warmup" => rd.warmup = seconds(known)?,
        "pause" => rd.pause = seconds(known)?,
        "maxdata" => rd.maxdata.all = Some(above_zero(known)?),
        "maxdataread" => rd.maxdata.read = Some(above_zero(known)?),
        "maxdatawritten" => rd.maxdata.written = Some(above_zero(known)?),
        "distribution" => distribution(rd, known)?,
        "openflags" => rd.openflags = Some(known.openflags()?),
        "startcmd" | "start_cmd" => rd.startcmd = known.commands(),
        "endcmd" | "end_cmd" => rd.endcmd = known.commands(),
        name => {
            let name = name.strip_prefix("for").unwrap_or(name);
            let (kind, values) = looped(name, known)?;
            put_loop(rd, kind, values);
        }
    }
    Ok(())
}

/// A loop asked for again takes its new place.
fn put_loop(rd: &mut Rd, kind: LoopKind, values: Vec<f64>) {
    rd.loops.retain(|(known, _)| *known != kind);
    rd.loops.push((kind, values));
}

fn seconds(known: &Known<'_>) -> Result<u64, Mistake> {
    match known.whole()? {
        seconds if seconds < 100_000_000 => Ok(seconds),
        seconds => Err(known.wrong(format!("{seconds} seconds are more than three years"))),
    }
}

fn above_zero(known: &Known<'_>) -> Result<f64, Mistake> {
    match known.number()? {
        number if number > 0.0 => Ok(number),
        number => Err(known.wrong(format!("{number} is not above 0"))),
    }
}

fn iorate(known: &Known<'_>) -> Result<AskedRate, Mistake> {
    match &known.values {
        Values::Numbers(numbers) if *numbers == [MAX_RATE] => Ok(AskedRate::Max),
        Values::Numbers(numbers) => {
            if let Some(wrong) = numbers
                .iter()
                .find(|rate| **rate == 0.0 || rate.abs() >= 1e9)
            {
                return Err(known.wrong(format!("a rate of {wrong}; it is above 0, or max")));
            }
            Ok(AskedRate::Rates(numbers.clone()))
        }
        Values::Words(words) => match &*words.iter().map(String::as_str).collect::<Vec<_>>() {
            // A curve begins with its maximum anyway.
            ["curve"] | ["curve", "max"] => Ok(AskedRate::Curve),
            [word] if word.eq_ignore_ascii_case("max") => Ok(AskedRate::Max),
            other => Err(known.wrong(format!(
                "`{}` is no rate; a number, max, curve or a list of numbers would work",
                other.join(",")
            ))),
        },
    }
}

fn curve(known: &Known<'_>) -> Result<Vec<f64>, Mistake> {
    let points: Vec<f64> = known
        .numbers()?
        .iter()
        .map(|point| point.abs().trunc())
        .collect();
    match points
        .iter()
        .find(|point| !(1.0..=10_000.0).contains(*point))
    {
        None => Ok(points),
        Some(point) => Err(known.wrong(format!(
            "a point at {point} per cent of the maximum; at least 1 would work"
        ))),
    }
}

fn distribution(rd: &mut Rd, known: &Known<'_>) -> Result<(), Mistake> {
    for word in known.words() {
        let word = word.to_lowercase();
        let is = |name: &str| !word.is_empty() && name.starts_with(&word);
        if is("exponential") {
            rd.arrivals = Arrivals::Exponential;
        } else if is("uniform") {
            rd.arrivals = Arrivals::Uniform;
        } else if is("deterministic") {
            rd.arrivals = Arrivals::Deterministic;
        } else if is("variable") {
            rd.variable = Some(false);
        } else if is("spike") {
            rd.variable = Some(true);
        } else {
            return Err(known.wrong(format!(
                "`{word}` is none of exponential, uniform, deterministic, variable and spike"
            )));
        }
    }
    Ok(())
}

/// What a loop changes, and through which values.
fn looped(name: &str, known: &Known<'_>) -> Result<(LoopKind, Vec<f64>), Mistake> {
    if name == "seekpct" {
        return Ok((LoopKind::Seekpct, seeks(known)?));
    }
    let numbers = known.numbers()?;
    if numbers.is_empty() {
        return Err(known.wrong("no value is left in the list"));
    }
    let share = |number: &f64| match number.abs() {
        share if share <= 100.0 => Ok(share),
        share => Err(known.wrong(format!("{share} is no share; 0 to 100 would work"))),
    };
    let each = |of: &dyn Fn(&f64) -> Result<f64, Mistake>| {
        numbers
            .iter()
            .map(of)
            .collect::<Result<Vec<f64>, Mistake>>()
    };
    Ok(match name {
        "xfersize" => {
            let whole = |number: &f64| sectors(known, known.as_whole(number.trunc())?);
            (
                LoopKind::Xfersize,
                each(&|number| Ok(whole(number)? as f64))?,
            )
        }
        "threads" => (LoopKind::Threads, each(&|number| threads(known, *number))?),
        "rdpct" => (LoopKind::Rdpct, each(&share)?),
        "rhpct" => (LoopKind::Rhpct, each(&share)?),
        "whpct" => (LoopKind::Whpct, each(&share)?),
        "hitarea" => (
            LoopKind::Hitarea,
            each(&|number| Ok(known.as_whole(*number)? as f64))?,
        ),
        "compratio" => (LoopKind::Comp, each(&|number| ratio(known, *number))?),
        _ => {
            let of_percent = |number: &f64| ratio(known, (1e5 / number).round() / 1e3);
            (LoopKind::Comp, each(&of_percent)?)
        }
    })
}

/// 0 means 1, and the banner says 0.
fn threads(known: &Known<'_>, number: f64) -> Result<f64, Mistake> {
    match number.trunc() {
        number if (0.0..=32_768.0).contains(&number) => Ok(number),
        number => Err(known.wrong(format!("{number} threads; 1 to 32768 would work"))),
    }
}

fn seeks(known: &Known<'_>) -> Result<Vec<f64>, Mistake> {
    let words = known.words();
    let of_word = |word: &String| match word.parse::<f64>() {
        Ok(number) => seek_number(known, number).map(|seek| seek.number()),
        Err(_) => match &**word {
            "eof" => Ok(-1.0),
            word if word.len() > 1 && "sequential".starts_with(word) => Ok(0.0),
            word if word.len() > 1 && "random".starts_with(word) => Ok(100.0),
            _ => seek(known).map(|seek| seek.number()),
        },
    };
    words.iter().map(of_word).collect()
}
