//! `--fail-on`: the conditions that commands know.

use blocklab_compare::gate::{Condition, percent};

/// Conditions that `compare` knows.
pub fn of_compare(text: &str) -> Result<Condition, String> {
    let words = "compare knows slower, slower:5% and warning; `blocklab diagnose --expect ADDRESS \
                 --fail-on missed` looks for missed limits";
    known(
        text,
        |condition| !matches!(condition, Condition::Missed),
        words,
    )
}

/// Conditions that `diagnose` knows.
pub fn of_diagnose(text: &str) -> Result<Condition, String> {
    let words = "diagnose knows missed and warning; `blocklab compare RUN RUN --fail-on slower` \
                 compares two runs";
    known(
        text,
        |condition| !matches!(condition, Condition::Slower { .. }),
        words,
    )
}

/// Conditions that `run` knows.
pub fn of_run(text: &str) -> Result<Condition, String> {
    let words = "run knows warning; `blocklab compare RUN RUN --fail-on slower` and `blocklab \
                 diagnose RUN --expect ADDRESS --fail-on missed` judge a run that is kept";
    known(
        text,
        |condition| matches!(condition, Condition::Warning),
        words,
    )
}

fn known(text: &str, is: fn(&Condition) -> bool, otherwise: &str) -> Result<Condition, String> {
    let condition: Condition = text.parse().map_err(|error| format!("{error}"))?;
    is(&condition)
        .then_some(condition)
        .ok_or(otherwise.to_owned())
}

/// `2%`, from 0 to below 100.
pub fn share(text: &str) -> Result<f64, String> {
    percent(text).ok_or_else(|| format!("`{text}` is not a percentage such as 2%"))
}
