//! Options of a command line that exclude each other or may stand once. A profile does not show it
//! any more: there, the later one has simply replaced the earlier one.

use super::options::find;
use blocklab_syntax::Mistake;

/// Checks the options as they were typed.
///
/// # Errors
/// The first two options that cannot stand together.
pub(super) fn check(options: &[&String]) -> Result<(), Mistake> {
    let random = named(options, &["-r"]);
    let percent = named(options, &["-rs"]);
    let sequential = named(options, &["-s", "-si"]);
    let limits: Vec<&str> = named(options, &["-f"])
        .into_iter()
        .filter(|option| !is_hint(option))
        .collect();
    let bounds = named(options, &["-B"]);
    let profiles = named(options, &["-X"]);
    for repeated in [&random, &sequential, &bounds, &limits, &profiles] {
        if let [first, second, ..] = repeated[..] {
            return Err(twice(first, second));
        }
    }
    // -rs100 means the same as -r, so that another share may follow it.
    if let Some(at) = percent.iter().position(|option| *option != "-rs100")
        && let Some(second) = percent.get(at + 1)
    {
        return Err(twice(percent[at], second));
    }
    if let (Some(option), Some(_)) = (sequential.first(), random.first().or(percent.first())) {
        let wrong = "it excludes -r and -rs: offsets are sequential or random; with -rs, the \
                     alignment is that of -r";
        return Err(Mistake::new(*option, wrong));
    }
    match (bounds.first(), limits.first()) {
        (Some(bounds), Some(limit)) if bounds.contains(':') => {
            let wrong = format!("it excludes the length of {bounds}: both say where the load ends");
            Err(Mistake::new(*limit, wrong))
        }
        _ => Ok(()),
    }
}

/// The options that these rows of the table read.
fn named<'a>(options: &[&'a String], names: &[&str]) -> Vec<&'a str> {
    let is_named = |option: &str| find(option).is_some_and(|row| names.contains(&row.name));
    let all = options.iter().map(|option| option.as_str());
    all.filter(|option| is_named(option)).collect()
}

/// `-frst` gives hints, `-f1G` a size.
fn is_hint(option: &str) -> bool {
    !option.contains(|c: char| c.is_ascii_digit())
}

fn twice(first: &str, second: &str) -> Mistake {
    let wrong = format!("{first} stands before it, and only one of them can hold: remove one");
    Mistake::new(second, wrong)
}
