//! A job file as written: sections of settings, each with its place.

use std::sync::Arc;

use super::number::{Scale, with_arithmetic};
use blocklab_syntax::{Mistake, Place};

/// One option as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The option's name or alias.
    pub key: String,
    /// The text after `=`, with variables replaced; `None` without a `=`.
    pub value: Option<String>,
    /// Variables of the value that are not set; each left nothing.
    pub unset: Vec<String>,
    /// Where.
    pub at: Place,
}

/// `[name]` and what follows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Without brackets. What begins with `global` is no job, but what the jobs after it begin
    /// with.
    pub name: String,
    /// In the order in which they were given.
    pub settings: Vec<Setting>,
    /// Where it begins.
    pub at: Place,
    /// Whether it is the first of a job file: the global sections of the files before it do not hold for
    /// it.
    pub begins_anew: bool,
}

impl Section {
    /// A section without settings.
    pub(super) const fn new(name: String, at: Place) -> Self {
        Self {
            name,
            settings: Vec::new(),
            at,
            begins_anew: false,
        }
    }

    /// Whether it holds for the jobs after it.
    pub fn is_global(&self) -> bool {
        self.name.starts_with("global")
    }

    /// Whether it counts where `only` jobs of these names are run; without names, all are.
    pub fn is_chosen(&self, only: &[String]) -> bool {
        self.is_global() || only.is_empty() || only.contains(&self.name)
    }
}

/// What a job file may ask the outside for.
pub trait Reader {
    /// The text of an included file.
    ///
    /// # Errors
    /// The reason why there is none, for people.
    fn include(&mut self, path: &str) -> Result<String, String>;
    /// A variable of the environment, or the value of one of fio's keywords: `$pagesize` in
    /// bytes, `$mb_memory` in MiB, `$ncpus`.
    fn variable(&self, name: &str) -> Option<String>;
}

/// Files that include each other may be nested as deep as this.
const DEEPEST: usize = 16;

/// The sections of a job file, includes and variables resolved.
///
/// # Errors
/// [`Mistake`] with the line.
pub fn parse(name: &str, text: &str, reader: &mut dyn Reader) -> Result<Vec<Section>, Mistake> {
    let mut sections = Vec::new();
    read(name, text, reader, &mut sections, 0)?;
    Ok(sections)
}

/// Adds the sections and settings of a text to `sections`. `depth`: how many files include this
/// one.
fn read(
    name: &str,
    text: &str,
    reader: &mut dyn Reader,
    sections: &mut Vec<Section>,
    depth: usize,
) -> Result<(), Mistake> {
    let file: Arc<str> = name.into();
    for (number, line) in text.lines().enumerate() {
        let at = Place {
            file: Some(Arc::clone(&file)),
            line: number + 1,
        };
        let line = without_comment(line).trim();
        if line.is_empty() {
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            let Some((section, _)) = rest.split_once(']') else {
                return Err(Mistake::here(&at, "the section's name lacks its `]`"));
            };
            // Options after it would belong to the new section instead of the including one.
            if depth > 0 {
                let message = format!(
                    "section [{section}] is in an included file, which may hold options alone: fio \
                     leaves such a file out"
                );
                return Err(Mistake::here(&at, message));
            }
            sections.push(Section::new(section.trim().to_owned(), at));
            continue;
        }
        if let Some(path) = line.strip_prefix("include ").map(str::trim) {
            // An included file holds options alone, and options need a section to belong to.
            if sections.is_empty() {
                let message = format!(
                    "option <{line}> outside of [] job section; after [global] it would work"
                );
                return Err(Mistake::here(&at, message));
            }
            if depth == DEEPEST {
                let message =
                    format!("`include {path}` is nested too deep: does it include itself?");
                return Err(Mistake::here(&at, message));
            }
            let included = reader.include(path);
            let text = included
                .map_err(|why| Mistake::here(&at, format!("cannot include {path}: {why}")))?;
            read(path, &text, reader, sections, depth + 1)?;
            continue;
        }
        let setting = setting(line, at, &*reader)?;
        let Some(section) = sections.last_mut() else {
            let message = format!("option <{line}> outside of [] job section");
            return Err(Mistake::here(&setting.at, message));
        };
        section.settings.push(setting);
    }
    Ok(())
}

/// `;` and `#` begin a comment anywhere in a line.
fn without_comment(line: &str) -> &str {
    line.split([';', '#']).next().unwrap_or_default()
}

/// A line `key=value` or `key`, with the variables in its value replaced.
fn setting(line: &str, at: Place, reader: &dyn Reader) -> Result<Setting, Mistake> {
    let (key, value) = match line.split_once('=') {
        Some((key, value)) => (key, Some(value)),
        None => (line, None),
    };
    let mut unset = Vec::new();
    let value = value
        // What a blank in front of it means depends on the option.
        .map(|value| expand(value.trim_end(), reader, &mut unset))
        .transpose()
        .map_err(|message| Mistake::here(&at, message))?;
    Ok(Setting {
        key: key.trim().to_owned(),
        value,
        unset,
        at,
    })
}

/// `${NAME} is not set`, for an option with such variables.
pub(super) fn unset_words(unset: &[String]) -> Option<String> {
    let names: Vec<String> = unset.iter().map(|name| format!("${{{name}}}")).collect();
    match &names[..] {
        [] => None,
        [name] => Some(format!("{name} is not set")),
        several => Some(format!("{} are not set", several.join(" and "))),
    }
}

/// Puts in the variables of the environment: `${NAME}`. Adds those that are not set to `unset`.
fn expand(value: &str, reader: &dyn Reader, unset: &mut Vec<String>) -> Result<String, String> {
    let mut text = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, behind)) = after.split_once('}') else {
            return Err(format!("`${{{after}` lacks its `}}`"));
        };
        text.push_str(before);
        match reader.variable(name) {
            Some(value) => text.push_str(&value),
            // It leaves nothing, as with fio.
            None => unset.push(name.to_owned()),
        }
        rest = behind;
    }
    text.push_str(rest);
    for keyword in ["$pagesize", "$mb_memory", "$ncpus"] {
        if text.contains(keyword) {
            let value = reader.variable(keyword).unwrap_or_default();
            text = text.replace(keyword, &value);
            // A result of arithmetic is put in as a number.
            if let Ok(number) = with_arithmetic(&text, Scale::default()) {
                text = number.to_string();
            }
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use crate::tests::planned;

    /// The story: a name with a variable that was mistyped made a file of another name, in silence as
    /// with fio.
    #[test]
    fn a_variable_that_is_not_set_is_remarked_where_it_counts_as_empty() {
        let text = "[global]\nfilename=x${NOPE}${ORE}y\nsize=${SIZE}\n[a]\n[b]\n";
        let prepared = planned(text).expect("it runs, as with fio");
        let words = "job.fio:2: ${NOPE} and ${ORE} are not set in filename=";
        assert_eq!(prepared.remarks, [words]);
        assert_eq!(prepared.files[0].path, "xy");
    }
}
