//! General parameters.

use super::buckets::buckets;
use super::data_errors::data_errors;
use super::defs::{General, Repeat};
use super::known::Known;
use super::mistake::Mistake;

pub(super) fn set(general: &mut General, known: &Known<'_>) -> Result<(), Mistake> {
    match known.name {
        "compratio" => general.compratio = Some(ratio(known, known.number()?)?),
        "compression" => general.compratio = Some(ratio(known, 100.0 / known.number()?)?),
        "dedupratio" => general.dedupratio = Some(ratio(known, known.number()?)?),
        "data_errors" | "dataerrors" => general.data_errors = data_errors(known)?,
        "startcmd" | "start_cmd" => general.startcmd = known.commands(),
        "endcmd" | "end_cmd" => general.endcmd = known.commands(),
        "formatsds" => general.formatsds = Some(known.yes()?),
        "formatxfersize" => general.formatxfersize = Some(sectors(known, known.whole()?)?),
        "histogram" => general.histogram = buckets(known)?,
        "loop" => {
            general.repeat = Some(repeat(&known.parameter.text()).ok_or_else(|| {
                known.wrong("a number of times, or a duration such as 60s, 5m or 1h, must follow")
            })?)
        }
        "monitor" => general.monitor = Some(known.word()),
        "abort_failed_skew" => general.abort_failed_skew = Some(known.number()?),
        "validate" => general.validate = Some(known.words().join(",")),
        "journal" => {
            let words = known.words();
            let unknown = words
                .iter()
                .find(|word| !JOURNAL_WORDS.contains(&word.as_str()) && !word.contains(['/', '.']));
            if let Some(word) = unknown {
                return Err(known.wrong(format!(
                    "`{word}` is none of {}, nor a directory with a / in it",
                    JOURNAL_WORDS.join(", ")
                )));
            }
            general.journal = Some(words.join(","));
        }
        "concatenatesds" => general.concatenate = known.yes()?,
        _ => {}
    }
    Ok(())
}

const JOURNAL_WORDS: [&str; 9] = [
    "yes",
    "no",
    "recover",
    "only",
    "ignore_pending",
    "maponly",
    "noflush",
    "time",
    "y",
];

pub(super) fn ratio(known: &Known<'_>, ratio: f64) -> Result<f64, Mistake> {
    match (1.0..=25.0).contains(&ratio) {
        true => Ok(ratio),
        false => Err(known.wrong(format!("a ratio of {ratio}; 1 to 25 would work"))),
    }
}

/// Operations are whole sectors.
pub(super) fn sectors(known: &Known<'_>, bytes: u64) -> Result<u64, Mistake> {
    if bytes == 0 || !bytes.is_multiple_of(512) {
        return Err(known.wrong(format!("{bytes} bytes are no multiple of 512")));
    }
    if bytes > 1 << 30 {
        return Err(known.wrong(format!("{bytes} bytes; at most 1g would work")));
    }
    Ok(bytes)
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
