//! A command line as a profile: options first, then targets.

use blocklab_record::{Note, NoteLevel};
use blocklab_syntax::{Mistake, option::Support};

use super::options::{Draft, OPTIONS, Opt, find};
use super::paths::template;
use super::spec::{Cache, Profile, Target};
use super::validate::validate;

/// What a command line requests.
#[derive(Debug, Clone, PartialEq)]
pub enum Requested {
    /// `-?`.
    Usage,
    /// `-ye`: set an event and quit.
    Event(String),
    /// `-X`: the profile is in a file.
    Xml(Overrides),
    /// A profile.
    Load(Profile),
}

/// What may accompany `-X`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overrides {
    /// The file.
    pub path: String,
    /// In place of `*1`, `*2`, ….
    pub targets: Vec<String>,
    /// The options, as they were typed.
    pub options: Vec<String>,
    /// `-Rp`.
    pub profile_only: bool,
}

/// A command line and what was understood differently.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// What is requested.
    pub requested: Requested,
    /// What was understood differently, by option.
    pub notes: Vec<Note>,
}

/// Reads the arguments after the program's name.
///
/// # Errors
/// [`Mistake`]: an unknown option, a value that it does not take, options that exclude each other,
/// options after targets, no target.
pub fn parse(arguments: &[String]) -> Result<Parsed, Mistake> {
    let arguments: Vec<String> = arguments
        .iter()
        .map(|argument| hyphened(argument))
        .collect();
    let options: Vec<&String> = arguments
        .iter()
        .take_while(|argument| is_option(argument))
        .collect();
    let targets = &arguments[options.len()..];
    let mut draft = Draft::default();
    let mut notes = Vec::new();
    // Sizes may count blocks, so the block size is read first.
    let (block, others): (Vec<&String>, Vec<&String>) = options
        .iter()
        .partition(|argument| argument.starts_with("-b"));
    for argument in block {
        apply(&mut draft, argument)?;
    }
    for argument in others {
        let option = apply(&mut draft, argument)?;
        notes.extend(note(option, argument));
    }
    if let Some(late) = targets.iter().find(|target| is_option(target)) {
        let wrong = "options come before the targets, and this one stands behind one";
        return Err(Mistake::new(late.as_str(), wrong));
    }
    let requested = requested(draft, targets, &options)?;
    Ok(Parsed { requested, notes })
}

fn is_option(argument: &str) -> bool {
    argument.starts_with('-') && argument.len() > 1
}

/// `/b4K` as `-b4K`, as on Windows. Paths begin with a slash here too, so only a single word that reads
/// as an option is one: `./b4K` and `/b4K/x` are paths. So is `/home`, although `-home` would be read
/// as `-h`: an option without a value must be the whole word.
fn hyphened(argument: &str) -> String {
    let word = argument
        .strip_prefix('/')
        .filter(|word| !word.contains('/'));
    let option = word.map(|word| format!("-{word}"));
    let option = option.filter(|option| {
        apply(&mut Draft::default(), option).is_ok_and(|row| {
            let takes_value = row.value.form != row.name;
            takes_value || option == row.name
        })
    });
    option.unwrap_or_else(|| argument.to_owned())
}

/// Sets the option of an argument in the draft.
fn apply(draft: &mut Draft, argument: &str) -> Result<&'static Opt, Mistake> {
    let Some(option) = find(argument) else {
        let known = OPTIONS.iter().map(|option| option.name);
        let near = blocklab_units::nearest(argument, known).filter(|_| argument.len() > 2);
        let hint = near.map_or(String::new(), |near| format!("did you mean {near}? "));
        let wrong = format!("there is no such option; {hint}-? prints all");
        return Err(Mistake::new(argument, wrong));
    };
    (option.value.set)(draft, option.name, &argument[option.name.len()..])?;
    Ok(option)
}

/// The Note on an option that changes nothing. Options that are approximated in some forms get theirs
/// when the plan is made.
fn note(option: &Opt, argument: &str) -> Option<Note> {
    // These are in the profile, so the plan notes them, wherever the profile comes from.
    let noted_later = ["-l", "-x"].contains(&option.name);
    let is_ignored = option.support == Support::Ignored && !noted_later;
    is_ignored.then(|| Note::new(NoteLevel::Ignored, argument, option.here))
}

/// What the whole command line requests, once all its options are in the draft.
fn requested(draft: Draft, targets: &[String], options: &[&String]) -> Result<Requested, Mistake> {
    if draft.usage {
        return Ok(Requested::Usage);
    }
    if let Some(event) = draft.event {
        return Ok(Requested::Event(event));
    }
    check_exclusive(options)?;
    if draft.xml.is_some() {
        return overrides(draft, targets, options).map(Requested::Xml);
    }
    if targets.is_empty() {
        let wrong = "at least one is wanted behind the options: a file, a directory, a device";
        return Err(Mistake::new("targets", wrong));
    }
    if draft.span.round_robin && draft.span.disable_affinity {
        let wrong = "it excludes -a: one of the two can hold";
        return Err(Mistake::new("-n", wrong));
    }
    let profile = profile(draft, targets);
    validate(&profile)?;
    Ok(Requested::Load(profile))
}

/// Checks the options as they were typed: which exclude each other, and which may be given once. The
/// parsed profile could not show it, because in it a later option has replaced an earlier one.
fn check_exclusive(options: &[&String]) -> Result<(), Mistake> {
    let random = named(options, &["-r"]);
    let percent = named(options, &["-rs"]);
    let sequential = named(options, &["-s", "-si"]);
    // `-frst` gives hints, `-f1G` a size.
    let mut limits = named(options, &["-f"]);
    limits.retain(|option| option.contains(|c: char| c.is_ascii_digit()));
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
            let wrong = format!("it excludes the length of {bounds}: both set where the load ends");
            Err(Mistake::new(*limit, wrong))
        }
        _ => Ok(()),
    }
}

/// The options that these rows of the table read.
fn named<'a>(options: &[&'a String], names: &[&str]) -> Vec<&'a str> {
    options
        .iter()
        .map(|option| option.as_str())
        .filter(|option| find(option).is_some_and(|row| names.contains(&row.name)))
        .collect()
}

fn twice(first: &str, second: &str) -> Mistake {
    let wrong = format!("{first} stands before it, and only one of them can hold: remove one");
    Mistake::new(second, wrong)
}

/// With `-X`: the profile, and what the command line sets in it.
fn overrides(draft: Draft, targets: &[String], options: &[&String]) -> Result<Overrides, Mistake> {
    const ALLOWED: [&str; 7] = ["-X", "-d", "-W", "-C", "-R", "-v", "-z"];
    let refused = options
        .iter()
        .find(|option| find(option).is_none_or(|row| !ALLOWED.contains(&row.name)));
    if let Some(other) = refused {
        let wrong =
            "with -X, only -d, -W, -C, -R, -v and -z are allowed: the rest is in the profile";
        return Err(Mistake::new(other.as_str(), wrong));
    }
    Ok(Overrides {
        path: draft.xml.unwrap_or_default(),
        targets: targets.to_vec(),
        options: options.iter().copied().cloned().collect(),
        profile_only: draft.profile.profile_only,
    })
}

impl Overrides {
    /// Replaces settings of the profile by those of the command line.
    pub(super) fn apply(&self, mut profile: Profile) -> Result<Profile, Mistake> {
        let mut used = vec![false; self.targets.len()];
        let mut spans = std::mem::take(&mut profile.timespans);
        let mut draft = Draft {
            profile,
            ..Draft::default()
        };
        // The setters of options work on a draft, which has one time span: each one is lent to it.
        for span in &mut spans {
            std::mem::swap(span, &mut draft.span);
            for option in &self.options {
                apply(&mut draft, option)?;
            }
            std::mem::swap(span, &mut draft.span);
            for target in &mut span.targets {
                self.fill_template(target, &mut used)?;
            }
        }
        if let Some(index) = used.iter().position(|used| !used) {
            let number = index + 1;
            let wrong = format!("no <Path> of the profile is *{number}, so nothing would use it");
            return Err(Mistake::new(self.targets[index].clone(), wrong));
        }
        Ok(Profile {
            timespans: spans,
            profile_only: self.profile_only,
            ..draft.profile
        })
    }

    /// `*1` means the first target of the command line.
    fn fill_template(&self, target: &mut Target, used: &mut [bool]) -> Result<(), Mistake> {
        let Some(number) = template(&target.path)? else {
            return Ok(());
        };
        match self.targets.get(number - 1) {
            Some(path) => {
                target.path.clone_from(path);
                used[number - 1] = true;
            }
            None if self.profile_only && self.targets.is_empty() => {}
            None => {
                let wrong =
                    "the template is not filled: a target for it must stand behind the options";
                return Err(Mistake::new(target.path.clone(), wrong));
            }
        }
        Ok(())
    }
}

/// A profile of one time span, in which every target has the same options.
fn profile(draft: Draft, targets: &[String]) -> Profile {
    let is_random = draft.random || draft.random_align.is_some();
    let all_or_none = if is_random { 100 } else { 0 };
    let target = Target {
        cache: draft.cache.unwrap_or(Cache::Cached),
        random_ratio: draft.random_ratio.unwrap_or(all_or_none),
        align: draft.random_align.or(draft.stride),
        ..draft.target
    };
    let mut span = draft.span;
    span.targets = targets
        .iter()
        .map(|path| Target {
            path: path.clone(),
            ..target.clone()
        })
        .collect();
    Profile {
        timespans: vec![span],
        ..draft.profile
    }
}

#[cfg(test)]
mod tests {
    use super::hyphened;

    /// The story: a target `/home` was read as `-h`, because what follows the letter of an option
    /// without a value is ignored, and the command said that a target was wanted. So were `/nvme`,
    /// `/local`, `/pool` and `/Lustre`.
    #[test]
    fn a_slash_makes_an_option_of_what_is_nothing_else() {
        for (option, expected) in [
            ("/b4K", "-b4K"),
            ("/h", "-h"),
            ("/L", "-L"),
            ("/ag0,0,1", "-ag0,0,1"),
            ("/Zr", "-Zr"),
            ("/?", "-?"),
        ] {
            assert_eq!(hyphened(option), expected);
        }
        let targets = [
            "/home", "/nvme", "/local", "/pool", "/Lustre", "/xfs", "/data", "/tmp", "//b4K", "/",
        ];
        for target in targets {
            assert_eq!(hyphened(target), target);
        }
    }
}
