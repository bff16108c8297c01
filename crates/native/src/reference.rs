//! The reference page of the format and the tail of the example, from the option table.

use blocklab_workload::Job;

use super::keys::{self, CASE, Case, Key, Need, STUDY, Study};

/// `docs/native.md`: the text of `reference.md`, and a table for each kind of key.
pub fn reference() -> String {
    let mut page = String::from(include_str!("reference.md"));
    page.push_str("\n## Keys of the study\n\nThey come before the first section.\n\n");
    page.push_str(&table(STUDY, &Study::default()));
    page.push_str("\n## Keys of a case\n\n");
    page.push_str(&table(CASE, &Case::default()));
    page.push_str(
        "\n## Keys of a job\n\nThey belong in `[defaults]`, `[[case]]` or `[[case.job]]`; as lists \
         of values in `[matrix]` or `[case.matrix]`.\n",
    );
    for section in &keys::JOB {
        page.push_str(&format!("\n### {}\n\n", section.title));
        page.push_str(&table(section.keys, &Job::new("")));
    }
    page
}

/// The part of the example that shows every key of a job, commented out.
#[cfg(test)]
fn every_key() -> String {
    let plain = Job::new("");
    let mut text = String::new();
    for section in &keys::JOB {
        text.push_str(&format!("\n# {}\n", section.title));
        let width = section.keys.iter().map(|key| key.line().len()).max();
        for key in section.keys {
            let default = match key.need {
                Need::Completes(..) => default(key, &plain),
                _ => format!("default: {}", default(key, &plain)),
            };
            let aside = match key.need.condition() {
                Some(condition) => format!("with {condition}; {default}"),
                None => default,
            };
            let (line, width) = (key.line(), width.unwrap_or(0));
            text.push_str(&format!("#   {line:width$}  # {aside}\n"));
        }
    }
    text
}

fn table<T>(keys: &[Key<T>], plain: &T) -> String {
    let mut text = String::from("| key | takes | default | meaning |\n|---|---|---|---|\n");
    for key in keys {
        text.push_str(&format!(
            "| `{}` | {} | {} | {} |\n",
            key.name,
            takes(key),
            code(&default(key, plain)),
            meaning(key)
        ));
    }
    text
}

fn takes<T>(key: &Key<T>) -> String {
    let allowed = match key.allowed.text() {
        Some(allowed) => format!("{}: {allowed}", key.kind),
        None => key.kind.to_owned(),
    };
    format!("{allowed}<br>`{}`", key.line())
}

fn meaning<T>(key: &Key<T>) -> String {
    match key.need.condition() {
        Some(condition) => format!("With `{condition}`. {}", key.meaning),
        None => key.meaning.to_owned(),
    }
}

/// What holds where the key is not given.
fn default<T>(key: &Key<T>, plain: &T) -> String {
    match (key.default, key.need) {
        (Some(words), _) => words.to_owned(),
        (None, Need::Completes(..)) => "must be given".to_owned(),
        (None, _) => (key.show)(plain).unwrap_or_else(|| "none".to_owned()),
    }
}

/// Values look like values, sentences like sentences.
fn code(default: &str) -> String {
    if default.contains(' ') || default == "none" || default == "anywhere" {
        default.to_owned()
    } else {
        format!("`{default}`")
    }
}

#[cfg(test)]
#[path = "reference_tests.rs"]
mod tests;
