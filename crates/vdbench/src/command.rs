//! The command line of Vdbench.

use super::defs::Repeat;
use super::error::{Mistake, Place};
use super::setters::repeat;
use super::value::LONGEST_S;

/// Data validation, as requested with -v and -j.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Validation {
    /// -v: what was written is checked when it is next read or written.
    pub validate: bool,
    /// -vr: it is read again at once.
    pub read_after_write: bool,
    /// -vw: it is not read before it is written again.
    pub no_preread: bool,
    /// -vt: the times of good writes are kept.
    pub times: bool,
    /// -j: every write is noted in a journal.
    pub journal: bool,
    /// -jr: first the journal of an earlier run is read and all of it checked.
    pub recover: bool,
    /// -jro: and nothing else is done.
    pub recover_only: bool,
    /// -jri: writes that were in flight are not checked.
    pub ignore_pending: bool,
    /// -jm: only the map is kept.
    pub map_only: bool,
    /// -jn: the journal is not flushed at every write.
    pub no_flush: bool,
}

impl Validation {
    /// What follows a -v.
    pub fn add_v(&mut self, letters: &str) {
        self.validate = true;
        self.read_after_write |= letters.contains(['r', '2']);
        self.no_preread |= letters.contains('w');
        self.times |= letters.contains('t');
    }

    /// What follows a -j.
    pub fn add_j(&mut self, letters: &str) {
        self.validate = true;
        self.journal = true;
        self.recover |= letters.contains(['r', 'o', 'i']);
        self.recover_only |= letters.contains('o');
        self.ignore_pending |= letters.contains('i');
        self.map_only |= letters.contains('m');
        self.no_flush |= letters.contains('n');
        self.times |= letters.contains('t');
        self.read_after_write |= letters.contains('2');
    }

    /// The words of `journal=` in the general section, each as the letters of -j that mean the same. Any
    /// other word is the directory, which is returned.
    pub fn add_journal_words(&mut self, words: &[String]) -> Option<String> {
        let mut directory = None;
        for word in words {
            let letters = match word.as_str() {
                "no" => continue,
                "recover" => "r",
                "only" => "ro",
                "ignore_pending" => "ri",
                "maponly" => "m",
                "noflush" => "n",
                "time" => "t",
                "yes" | "y" => "",
                _ => {
                    directory = Some(word.clone());
                    ""
                }
            };
            self.add_j(letters);
        }
        directory
    }

    /// The words of `validate=`.
    pub fn add_words(&mut self, words: &[String]) {
        for word in words {
            self.add_v(match word.as_str() {
                "no" | "n" => continue,
                "read_after_write" | "read" => "r",
                "no_preread" => "w",
                "time" => "t",
                _ => "",
            });
        }
    }
}

/// What the command line requests.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Command {
    /// Parameter files, in order.
    pub files: Vec<String>,
    /// `name=value`, for `$name` in the files.
    pub variables: Vec<(String, String)>,
    /// Where reports go.
    pub output: Option<String>,
    /// Only print what would be run.
    pub simulate: bool,
    /// Seconds instead of every elapsed=; 0: as written.
    pub elapsed: u64,
    /// Seconds instead of every interval=; 0: as written.
    pub interval: u64,
    /// Seconds instead of every warmup=; 0: as written.
    pub warmup: u64,
    /// Data validation.
    pub validation: Validation,
    /// How often all runs are repeated; `None`: not at all.
    pub repeat: Option<Repeat>,
    /// The built-in test of five seconds.
    pub quick_test: bool,
    /// Begin with this run.
    pub restart: Option<String>,
    /// Put after every run definition.
    pub extra: Option<String>,
    /// The words, each option with its value joined to it, for the log.
    pub scanned: Vec<String>,
    /// Options that have no meaning here.
    pub ignored: Vec<String>,
    /// Show the usage.
    pub help: bool,
}

/// Reads the arguments of the command line.
///
/// # Errors
/// [`Mistake`] for what the original refuses.
pub fn command(arguments: &[String]) -> Result<Command, Mistake> {
    let mut command = Command::default();
    // Words after a `+` are parameters for the end of the parameter file, not options.
    let plus = arguments.iter().position(|word| word.starts_with('+'));
    let (own, behind) = arguments.split_at(plus.unwrap_or(arguments.len()));
    if !behind.is_empty() {
        command.extra = Some(extra(behind)?);
    }
    if let Some(first) = own.first() {
        refuse_other_programs(first)?;
    }
    command.scanned = joined(own);
    // Whether a word without a hyphen is one more parameter file.
    let mut files_go_on = false;
    for word in command.scanned.clone() {
        if let Some((name, value)) = word.split_once('=').filter(|_| !word.starts_with('-')) {
            command.variables.push((name.to_owned(), value.to_owned()));
            files_go_on = true;
        } else if files_go_on && !word.starts_with('-') {
            command.files.push(word);
        } else {
            files_go_on = option(&mut command, &word)?;
        }
    }
    if command.files.is_empty() && !command.quick_test && !command.help {
        return refused(
            "-f",
            "no parameter file is named; -f FILE would work, and -t for a test",
        );
    }
    Ok(command)
}

pub(super) fn refused<T>(word: &str, message: impl Into<String>) -> Result<T, Mistake> {
    Err(Mistake::new(word, message).at(&Place::COMMAND_LINE))
}

/// Refuses the names of the original's other programs, and says what replaces them.
fn refuse_other_programs(word: &str) -> Result<(), Mistake> {
    let instead = match word {
        "compare" => "`blocklab compare RUN RUN` compares two runs",
        "sds" => "`blocklab devices` lists what there is",
        "print" | "printjournal" | "showlba" | "edit" | "jstack" | "jmap" | "rsh" | "csim"
        | "dsim" | "dvpost" => "it is not made here",
        _ => return Ok(()),
    };
    refused(word, instead)
}

/// Everything after a plus goes after run definitions.
fn extra(words: &[String]) -> Result<String, Mistake> {
    let text = words.join(" ")[1..].trim().to_owned();
    if text.contains(' ') || text.is_empty() {
        refused(
            "+",
            "keywords without blanks must follow, as in + iorate=max,elapsed=5",
        )
    } else {
        Ok(text)
    }
}

/// The words with each value joined to its option: `-o dir` becomes `-odir`. Only the first word after
/// an option belongs to it.
fn joined(words: &[String]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    // Whether the last option has its value already.
    let mut took = false;
    for word in words {
        // `-fparm` and `-oout` have their values; letters of others, as in `-vr`, may be followed by
        // one.
        let takes_value = out.last().is_some_and(|last| {
            last.starts_with('-')
                && !(last.len() > 2 && (last.starts_with("-f") || last.starts_with("-o")))
        });
        if word.starts_with('-') || took || !takes_value || word.contains('=') {
            out.push(word.clone());
            took = false;
        } else if let Some(last) = out.last_mut() {
            last.push_str(word);
            took = true;
        }
    }
    out
}

/// Sets one option; true where the words after it may be further parameter files.
fn option(command: &mut Command, word: &str) -> Result<bool, Mistake> {
    if matches!(word, "-h" | "-help" | "--help" | "-?") {
        command.help = true;
        return Ok(false);
    }
    let letters: Vec<char> = word.chars().take(2).collect();
    let ['-', letter] = letters[..] else {
        return refused(
            word,
            "an option is expected; -f FILE, -o DIR, -s, -e SECONDS would work",
        );
    };
    let rest = &word[1 + letter.len_utf8()..];
    match letter {
        'f' if rest.is_empty() => return refused("-f", "a file name must follow"),
        'f' => {
            command.files.push(rest.to_owned());
            return Ok(true);
        }
        'o' if rest.is_empty() => return refused("-o", "a directory must follow"),
        'o' => command.output = Some(rest.to_owned()),
        's' if !rest.is_empty() => return refused("-s", "nothing may follow it"),
        's' => command.simulate = true,
        'e' => command.elapsed = seconds("-e", rest)?,
        'i' | 'I' => command.interval = seconds("-i", rest)?,
        'w' => command.warmup = seconds("-w", rest)?,
        'v' => command.validation.add_v(rest),
        'j' => command.validation.add_j(rest),
        't' if rest.starts_with('f') => {
            return refused("-tf", "file system workloads are not run; -t tests raw I/O");
        }
        't' => command.quick_test = true,
        'l' => command.repeat = Some(loops(rest)?),
        'r' if rest.is_empty() => return refused("-r", "the name of a run must follow"),
        'r' => command.restart = Some(rest.to_owned()),
        // Number of JVMs, debugging, ports, kstat of Solaris, cleaning of file systems: none of it is here.
        'm' | 'd' | 'p' | 'k' | 'c' => command.ignored.push(word.to_owned()),
        _ => {
            return refused(
                word,
                "there is no such option; -f -o -s -e -i -w -v -j -t -l -r are known",
            );
        }
    }
    Ok(false)
}

fn seconds(option: &str, text: &str) -> Result<u64, Mistake> {
    match text.parse() {
        Ok(seconds @ 1..=LONGEST_S) => Ok(seconds),
        _ => {
            let wrong = format!("`{text}` is no number of seconds from 1 to {LONGEST_S}");
            refused(option, wrong)
        }
    }
}

/// The value of `-l`: how long or how often all runs are repeated; without a value, endlessly.
fn loops(text: &str) -> Result<Repeat, Mistake> {
    if text.is_empty() {
        return Ok(Repeat::Endless);
    }
    // Behind -l a bare number is seconds.
    match repeat(text) {
        Some(Repeat::Times(seconds)) => Ok(Repeat::Seconds(seconds)),
        Some(repeat) => Ok(repeat),
        None => refused(
            "-l",
            format!("`{text}` is no duration; 60s, 5m or 1h would work"),
        ),
    }
}
