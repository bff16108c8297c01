//! The help texts of the command.

use anyhow::{Result, anyhow};
use blocklab_fio::{
    DEBUG_WORDS, General, Kind, Opt, Section, VERSION, engines, find_option, general_options,
    in_reading_order, option_hint, options,
};

use blocklab_console::place::shell_word;
use blocklab_console::terminal;

/// The answer to `--cpuclock-test`.
const CLOCK: &str = "cs: not tested: times are those of the kernel's clock (CLOCK_MONOTONIC), \
                     not of the processor's counter\n";

/// The answer to `--version`, `--help`, `--cmdhelp`, `--enghelp` and their like, where one of them was given.
pub fn requested(general: &General) -> Result<Option<String>> {
    if general.version {
        return Ok(Some(format!("{VERSION}\n")));
    }
    if general.help {
        return Ok(Some(usage()));
    }
    if let Some(name) = &general.command_help {
        return command_help(name).map(Some);
    }
    if let Some(name) = &general.engine_help {
        return engine_help(name).map(Some);
    }
    if general.clock_test {
        return Ok(Some(CLOCK.to_owned()));
    }
    if general
        .debug
        .iter()
        .any(|word| word == "?" || word == "help")
    {
        return Ok(Some(format!("fio: dumping debug options:{DEBUG_WORDS}\n")));
    }
    Ok(None)
}

/// `--help`.
pub fn usage() -> String {
    const OURS: [(&str, &str); 2] = [
        (
            "--destroy-data=NAME",
            "Allow overwriting this device, whatever it holds",
        ),
        ("--no-save", "Do not keep the run"),
    ];
    let ours = OURS.map(|(option, what)| (option.to_owned(), what));
    let rows: String = general_options()
        .chain(ours)
        .map(|(option, what)| format!("  {option:<23} {what}\n"))
        .collect();
    format!(
        "{VERSION}\nfio [options] [job options] <job file(s)>\n{rows}\
         Options of jobs follow --name=JOB. Run by blocklab {}.\n\n\
         Examples:\n  \
         blocklab fio --name=a --filename=test.dat --size=16m --rw=randrw --bs=8k --fsync=16\n  \
         blocklab fio --name=a --filename=sim:gp3:1TiB --rw=randread --iodepth=8 --runtime=5 --time_based\n  \
         printf '[a]\\nfilename=test.dat\\nsize=16m\\nrw=randread\\n' > job.fio\n  \
         blocklab fio job.fio --output-format=json --output=result.json\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// `--cmdhelp`: all options with a line each, or one in detail.
fn command_help(name: &str) -> Result<String> {
    if name.is_empty() || name == "all" {
        return Ok(options().iter().map(help_line).collect());
    }
    let Some(option) = find_option(name) else {
        terminal::inform(&format!("No such command: {name}{}", option_hint(name)));
        return Ok(String::new());
    };
    Ok(described(option))
}

fn help_line(option: &Opt) -> String {
    format!("{:<24}: {}\n", option.name, option.meaning)
}

/// An option in detail, in the layout of `fio --cmdhelp=OPTION`.
fn described(option: &Opt) -> String {
    let mut rows = vec![(option.name, option.meaning.to_owned())];
    for alias in option.aliases {
        rows.push(("alias", (*alias).to_owned()));
    }
    let (kind, range) = kind(option.value.kind);
    let default = match option.default {
        "-" => "no default",
        default => default,
    };
    rows.extend([("type", kind.to_owned()), ("default", default.to_owned())]);
    rows.extend(range.map(|range| ("range", range)));
    if let Kind::Word(choices) = option.value.kind {
        rows.push(("valid values", choices.replace(' ', ", ")));
    }
    rows.push(("here", option.support_text()));
    rows.iter()
        .map(|(label, value)| format!("{label:>20}: {value}\n"))
        .collect()
}

/// The type and the range of an option's value, in fio's words.
fn kind(kind: Kind) -> (&'static str, Option<String>) {
    match kind {
        Kind::Text | Kind::Names | Kind::Name | Kind::Word(_) => ("string (opt=bla)", None),
        Kind::Flag => ("empty or boolean value ([0|1])", None),
        Kind::Bool => ("boolean value (opt=1)", Some("min=0, max=1".to_owned())),
        Kind::Int(low, high) => {
            // Fio prints -1 for a value without an upper limit.
            let high = if high == i64::MAX { -1 } else { high };
            (
                "integer value (opt=100)",
                Some(format!("min={low}, max={high}")),
            )
        }
        Kind::Size | Kind::Share | Kind::Sizes(_) => {
            ("string with possible k/m/g postfix (opt=4k)", None)
        }
        Kind::Ranges(_) => ("one to three ranges (opt=1k-4k[,4k-8k[,1k-8k]])", None),
        Kind::Floats | Kind::FloatsTo(_) => (
            "list of floating point values separated by ':' (opt=5.9:7.8)",
            None,
        ),
        Kind::Seconds | Kind::Micros => ("string with time postfix (opt=10s)", None),
    }
}

/// `--enghelp`: all engines, the options of one, or one option in detail.
fn engine_help(name: &str) -> Result<String> {
    if name.is_empty() {
        let names = engines().map(|(name, _)| format!("\t{name}\n"));
        return Ok(format!(
            "Available IO engines:\n{}",
            names.collect::<String>()
        ));
    }
    let (engine, option) = name
        .split_once(',')
        .map_or((name, None), |(e, o)| (e, Some(o)));
    let (_, own) = engines()
        .find(|(known, _)| *known == engine)
        .ok_or_else(|| {
            let names: Vec<&str> = engines().map(|(name, _)| name).collect();
            anyhow!(
                "engine {engine} is not there; there are {}",
                names.join(", ")
            )
        })?;
    if let Some(option) = option {
        return command_help(option);
    }
    if own.is_empty() {
        return Ok(format!("IO engine {engine} has no options\n"));
    }
    let options = own.split_whitespace().filter_map(find_option);
    Ok(options.map(help_line).collect())
}

/// `--showcmd`: the jobs as a command line, global options first.
pub fn command_line(sections: &[Section]) -> String {
    let mut text = String::from("fio");
    for section in sections {
        // A command line is read as it stands: `kb_base` must come before the sizes that it scales,
        // and `directory` before the names in it.
        let words: String = in_reading_order(&section.settings)
            .into_iter()
            .filter(|setting| setting.key != "name")
            .map(|setting| match &setting.value {
                Some(value) => format!(" --{}={}", setting.key, quoted(value)),
                None => format!(" --{}", setting.key),
            })
            .collect();
        if !section.is_global() {
            text.push_str(&format!(" --name={}", quoted(&section.name)));
        }
        text.push_str(&words);
    }
    text.push('\n');
    text
}

/// A value as a word of the shell: blanks alone are in double quotes, as fio prints them.
fn quoted(value: &str) -> String {
    if value.contains(|sign: char| "\"'$`\\;&|<>()*?[#~".contains(sign)) {
        shell_word(value)
    } else if value.contains(' ') {
        format!("\"{value}\"")
    } else {
        value.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use blocklab_fio::{Reader, parse_jobs};

    use super::*;

    struct NoFiles;

    impl Reader for NoFiles {
        fn include(&mut self, path: &str) -> Result<String, String> {
            Err(path.to_owned())
        }

        fn variable(&self, _: &str) -> Option<String> {
            None
        }
    }

    #[test]
    fn names_of_files_end_the_options_of_a_job() {
        let text = "[global]\nfilename=f\nbs=4k\n[a]\nfilename=g\nrw=read\n";
        let sections = parse_jobs("j", text, &mut NoFiles).expect("two sections");
        let expected = "fio --bs=4k --filename=f --name=a --rw=read --filename=g\n";
        assert_eq!(command_line(&sections), expected);
    }

    /// A job file is read in another order than it is written in. `kb_base` was printed where it
    /// stood, and as a command line applied to the options behind it alone; fio prints it first.
    #[test]
    fn options_have_the_order_in_which_they_are_read() {
        let text =
            "[a]\nsize=64k\nuserspace_reap\nkb_base=1000\nfilename_format=z\nioengine=libaio\n";
        let sections = parse_jobs("j", text, &mut NoFiles).expect("a section");
        let expected = "fio --name=a --kb_base=1000 --size=64k --ioengine=libaio \
                        --filename_format=z --userspace_reap\n";
        assert_eq!(command_line(&sections), expected);
    }

    /// The story: the name of a job with a blank and a command with quotes were printed as they are. The shell
    /// took them for other words.
    #[test]
    fn what_the_shell_would_change_is_quoted() {
        let text = "[a b]\ndescription=one two\nexec_prerun=echo \"hi\" && date\n";
        let sections = parse_jobs("j", text, &mut NoFiles).expect("a section");
        let words = "--name=\"a b\" --description=\"one two\" --exec_prerun='echo \"hi\" && date'";
        assert_eq!(command_line(&sections), format!("fio {words}\n"));
    }
}
