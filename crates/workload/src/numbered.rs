//! In: names that end in consecutive numbers. Out: the first and the last of them, and back: a job of
//! fio may have tens of thousands of files.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// Fewer names are written one by one.
const MANY: usize = 16;

/// More names are a mistake or an attack: no job has that many files.
const MOST: u64 = 10_000_000;

/// The text before the number at the end of a name, and that number.
fn split(name: &str) -> Option<(&str, u64)> {
    let text = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &name[text.len()..];
    let is_plain = digits == "0" || !digits.starts_with('0');
    Some((text, digits.parse().ok().filter(|_| is_plain)?))
}

/// How many of the first `items` can be written as a run: those that have consecutive names and of
/// which `alike` says that they differ in nothing else; 1 if those are only a few.
pub fn run_len<T>(items: &[T], name: impl Fn(&T) -> &str, alike: impl Fn(&T, &T) -> bool) -> usize {
    let Some((text, number)) = items.first().and_then(|first| split(name(first))) else {
        return 1.min(items.len());
    };
    let len = items
        .iter()
        .zip(number..=u64::MAX)
        .take_while(|(item, number)| {
            split(name(item)) == Some((text, *number)) && alike(&items[0], item)
        })
        .count();
    if len < MANY { 1 } else { len }
}

/// The names from the first through the last.
///
/// # Errors
/// If they are not the first and the last of such names.
pub fn expand(first: &str, last: &str) -> Result<impl Iterator<Item = String>, String> {
    let ((text, from), (_, to)) = split(first)
        .zip(split(last))
        .filter(|((text, from), (other, to))| text == other && from <= to && to - from < MOST)
        .ok_or_else(|| format!("`{last}` does not continue the numbers of `{first}`"))?;
    let text = text.to_owned();
    Ok((from..=to).map(move |number| format!("{text}{number}")))
}

/// One name, or many.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Entry {
    One(String),
    Run { first: String, last: String },
}

/// Writes consecutive names as the first and the last of them.
pub(crate) fn serialize<S: Serializer>(names: &[String], to: S) -> Result<S::Ok, S::Error> {
    let mut entries = Vec::new();
    let mut rest = names;
    while let [first, ..] = rest {
        let consecutive = run_len(rest, |name| name, |_, _| true);
        let (run, others) = rest.split_at(consecutive);
        rest = others;
        let first = first.clone();
        entries.push(match run {
            [.., last] if run.len() > 1 => Entry::Run {
                first,
                last: last.clone(),
            },
            _ => Entry::One(first),
        });
    }
    entries.serialize(to)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let mut names = Vec::new();
    for entry in Vec::deserialize(from)? {
        match entry {
            Entry::One(name) => names.push(name),
            Entry::Run { first, last } => {
                names.extend(expand(&first, &last).map_err(D::Error::custom)?)
            }
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use crate::Job;

    fn again(targets: Vec<String>) -> serde_json::Value {
        let job = Job {
            targets,
            ..Job::default()
        };
        let json = serde_json::to_value(&job).expect("JSON");
        assert_eq!(
            serde_json::from_value::<Job>(json.clone()).expect("a job"),
            job
        );
        json["targets"].clone()
    }

    /// The 32,000 names of a job of fio stood three times in its record, one by one.
    #[test]
    fn many_names_are_written_as_the_first_and_the_last() {
        let mut names: Vec<String> = (7..2000).map(|number| format!("d/x.0.{number}")).collect();
        names.extend(["other", "d/x.007", "d/x.008", "9"].map(str::to_owned));
        let written = again(names);
        let expected = serde_json::json!([
            {"first": "d/x.0.7", "last": "d/x.0.1999"}, "other", "d/x.007", "d/x.008", "9"
        ]);
        assert_eq!(written, expected);
        let leading = (10..40).map(|number| format!("d/0{number}")).collect();
        assert_eq!(again(leading).as_array().map(Vec::len), Some(30));
    }

    /// Who reads a record finds a dozen files by their names.
    #[test]
    fn fifteen_names_are_written_one_by_one() {
        let entries = |count: u64| {
            let names = (0..count).map(|number| format!("f.{number}")).collect();
            again(names).as_array().map(Vec::len)
        };
        assert_eq!([entries(15), entries(16)], [Some(15), Some(1)]);
    }

    /// The story: the number after the largest one was sought too, which overflowed.
    #[test]
    fn the_largest_number_ends_a_name_like_any_other() {
        let name = format!("f.{}", u64::MAX);
        assert_eq!(again(vec![name.clone()]), serde_json::json!([name]));
    }

    /// The names are made as they are read: a record of two names can ask for any number of them.
    #[test]
    fn ten_million_names_are_the_most() {
        assert!(super::expand("f.1", "f.10000000").is_ok());
        assert!(super::expand("f.1", "f.10000001").is_err());
    }

    #[test]
    fn a_first_and_a_last_that_do_not_belong_together_are_refused() {
        for (first, last) in [
            ("a1", "b2"),
            ("a2", "a1"),
            ("a", "a2"),
            ("a0", "a99999999999"),
        ] {
            assert!(super::expand(first, last).is_err(), "{first} {last}");
        }
    }
}
