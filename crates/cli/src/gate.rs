//! `--fail-on`: the exit status that ends a pipeline.

use blocklab_analysis::gate::{Answer, Condition, Gate, percent};
use blocklab_report::text;

use blocklab_console::status::{DONE, NOT_PASSED, UNDECIDED};
use blocklab_console::terminal;

/// What the answer is worth to a shell.
pub fn status(gate: Option<&Gate>, strict: bool) -> u8 {
    match gate.map(|gate| gate.answer) {
        Some(Answer::Fail) => NOT_PASSED,
        Some(Answer::Undecided) if strict => UNDECIDED,
        _ => DONE,
    }
}

/// The answer as the last lines of a text; nothing without a condition.
pub fn words(gate: Option<&Gate>) -> String {
    gate.map_or_else(String::new, |gate| {
        format!("\n{}", text::gate(gate, terminal::style()))
    })
}

/// The answer on standard error, where standard output holds a page.
pub fn aside(gate: Option<&Gate>) {
    if gate.is_some() {
        terminal::tell(words(gate).trim());
    }
}

/// Conditions that `compare` knows.
pub fn of_compare(text: &str) -> Result<Condition, String> {
    match parsed(text)? {
        Condition::Missed => Err("compare knows slower, slower:5% and warning; \
             `blocklab diagnose --expect ADDRESS --fail-on missed` looks for missed limits"
            .to_owned()),
        other => Ok(other),
    }
}

/// Conditions that `diagnose` knows.
pub fn of_diagnose(text: &str) -> Result<Condition, String> {
    match parsed(text)? {
        Condition::Slower { .. } => Err("diagnose knows missed and warning; \
             `blocklab compare RUN RUN --fail-on slower` compares two runs"
            .to_owned()),
        other => Ok(other),
    }
}

/// Conditions that `run` knows.
pub fn of_run(text: &str) -> Result<Condition, String> {
    match parsed(text)? {
        Condition::Warning => Ok(Condition::Warning),
        _ => Err(
            "run knows warning; `blocklab compare RUN RUN --fail-on slower` and `blocklab \
             diagnose RUN --expect ADDRESS --fail-on missed` judge a run that is kept"
                .to_owned(),
        ),
    }
}

fn parsed(text: &str) -> Result<Condition, String> {
    text.parse().map_err(|error| format!("{error}"))
}

/// `2%`, from 0 to below 100.
pub fn share(text: &str) -> Result<f64, String> {
    percent(text).ok_or_else(|| format!("`{text}` is no share such as 2%"))
}
