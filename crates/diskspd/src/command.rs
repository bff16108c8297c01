//! A command line as a profile: options first, then targets.

use blocklab_record::{Note, NoteLevel};

use super::conflicts;
use super::draft::Draft;
use super::options::{Opt, find};
use super::spec::{Cache, Format, Profile, Target};
use super::validate::validate;
use blocklab_syntax::Mistake;

/// What a command line asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// `-?`.
    Usage,
    /// `-ye`: set an event and quit.
    Event(String),
    /// `-X`: the profile stands in a file.
    Xml(Overrides),
    /// A profile.
    Load(Profile),
}

/// What may be said beside `-X`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overrides {
    /// The file.
    pub path: String,
    /// In place of `*1`, `*2`, ….
    pub targets: Vec<String>,
    /// `-d`.
    pub duration: Option<u32>,
    /// `-W`.
    pub warmup: Option<u32>,
    /// `-C`.
    pub cooldown: Option<u32>,
    /// `-z`: without a number, from the clock.
    pub seed: Option<Option<u32>>,
    /// `-R`.
    pub format: Option<Format>,
    /// `-v`.
    pub verbose: bool,
    /// `-Rp`.
    pub profile_only: bool,
}

/// A command line and what was understood differently.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// What is asked for.
    pub asked: Asked,
    /// What was understood differently, by option.
    pub notes: Vec<Note>,
}

/// Reads the arguments behind the program's name.
///
/// # Errors
/// [`Mistake`]: an unknown option, a value that it does not take, options that exclude each other,
/// options behind targets, no target.
pub fn parse(arguments: &[String]) -> Result<Parsed, Mistake> {
    let arguments: Vec<String> = arguments.iter().map(|it| hyphened(it)).collect();
    let is_option = |argument: &&String| argument.starts_with('-') && argument.len() > 1;
    let options: Vec<&String> = arguments.iter().take_while(is_option).collect();
    let targets = &arguments[options.len()..];
    let mut draft = Draft::default();
    let mut notes = Vec::new();
    // Sizes may count blocks, so the block size comes first, wherever it stands.
    let is_block = |argument: &&&String| argument.starts_with("-b");
    for argument in options.iter().filter(is_block) {
        apply(&mut draft, argument)?;
    }
    for argument in options.iter().filter(|argument| !is_block(argument)) {
        let option = apply(&mut draft, argument)?;
        notes.extend(note(option, argument));
    }
    if let Some(late) = targets.iter().find(is_option) {
        let wrong = "options come before the targets, and this one stands behind one";
        return Err(Mistake::new(late.as_str(), wrong));
    }
    let asked = asked(draft, targets, &options)?;
    Ok(Parsed { asked, notes })
}

/// `/b4K` as `-b4K`, as on Windows. Paths begin with a slash here, so only what stands alone and
/// reads as an option is one: `./b4K` and `/b4K/x` are paths.
fn hyphened(argument: &str) -> String {
    let word = argument
        .strip_prefix('/')
        .filter(|word| !word.contains('/'));
    let option = word.map(|word| format!("-{word}"));
    let read = option.filter(|option| apply(&mut Draft::default(), option).is_ok());
    read.unwrap_or_else(|| argument.to_owned())
}

fn apply(draft: &mut Draft, argument: &str) -> Result<&'static Opt, Mistake> {
    let Some(option) = find(argument) else {
        let known = super::options::all().map(|option| option.name);
        let hint = match blocklab_units::nearest(argument, known) {
            Some(near) if argument.len() > 2 => format!("did you mean {near}? "),
            _ => String::new(),
        };
        let wrong = format!("there is no such option; {hint}-? prints all");
        return Err(Mistake::new(argument, wrong));
    };
    (option.set)(draft, &argument[option.name.len()..])?;
    Ok(option)
}

/// What the row of the table says of an option that is honoured differently. Options that are
/// only nearly honoured in some forms tell it themselves when the plan is made.
fn note(option: &Opt, argument: &str) -> Option<Note> {
    let level = option.level.filter(|level| *level == NoteLevel::Ignored)?;
    // These stand in the profile, so the plan tells of them, wherever the profile comes from.
    let told_later = ["-C", "-I", "-l", "-x"].contains(&option.name);
    (!told_later).then(|| Note {
        level,
        subject: argument.to_owned(),
        text: option.here.to_owned(),
    })
}

fn asked(draft: Draft, targets: &[String], options: &[&String]) -> Result<Asked, Mistake> {
    if draft.usage {
        return Ok(Asked::Usage);
    }
    if let Some(event) = draft.event {
        return Ok(Asked::Event(event));
    }
    conflicts::check(options)?;
    if draft.xml.is_some() {
        return overrides(draft, targets, options).map(Asked::Xml);
    }
    if targets.is_empty() {
        let wrong = "at least one is wanted behind the options: a file, a directory, a device";
        return Err(Mistake::new("targets", wrong));
    }
    if draft.span.round_robin && draft.span.disable_affinity {
        return Err(Mistake::new(
            "-n",
            "it excludes -a: one of the two can hold",
        ));
    }
    let profile = profile(draft, targets);
    validate(&profile)?;
    Ok(Asked::Load(profile))
}

fn overrides(draft: Draft, targets: &[String], options: &[&String]) -> Result<Overrides, Mistake> {
    const BESIDE: [&str; 7] = ["-X", "-d", "-W", "-C", "-R", "-v", "-z"];
    let other = options.iter().find(|argument| {
        let allowed = find(argument).is_some_and(|option| BESIDE.contains(&option.name));
        !allowed
    });
    if let Some(other) = other {
        let wrong =
            "beside -X only -d, -W, -C, -R, -v and -z may stand: the rest is in the profile";
        return Err(Mistake::new(other.as_str(), wrong));
    }
    let given = |name| draft.given.contains(&name);
    let said = |name: &str| options.iter().any(|option| option.starts_with(name));
    Ok(Overrides {
        path: draft.xml.unwrap_or_default(),
        targets: targets.to_vec(),
        duration: given("-d").then_some(draft.span.duration),
        warmup: given("-W").then_some(draft.span.warmup),
        cooldown: said("-C").then_some(draft.span.cooldown),
        seed: given("-z").then_some(draft.span.seed),
        format: draft.format,
        verbose: draft.verbose,
        profile_only: draft.profile_only,
    })
}

fn profile(draft: Draft, targets: &[String]) -> Profile {
    let Draft {
        mut span,
        mut target,
        ..
    } = draft;
    target.cache = draft.cache.unwrap_or(Cache::Cached);
    target.random_ratio = match (
        draft.random_ratio,
        draft.random || draft.random_align.is_some(),
    ) {
        (Some(ratio), _) => ratio,
        (None, true) => 100,
        (None, false) => 0,
    };
    target.align = draft.random_align.or(draft.stride);
    let with_path = |path: &String| Target {
        path: path.clone(),
        ..target.clone()
    };
    span.targets = targets.iter().map(with_path).collect();
    Profile {
        timespans: vec![span],
        format: draft.format.unwrap_or(Format::Text),
        progress: draft.progress,
        verbose: draft.verbose,
        profile_only: draft.profile_only,
        unheeded: Vec::new(),
    }
}
