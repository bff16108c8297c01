//! The option table: one option, one line of `options.txt`. Parsing, help and
//! `docs/dialects/fio.md` are derived from it.

use std::sync::OnceLock;

/// How well an option is honoured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// As fio does: a case of `proof/data/exact/fio.txt` compares the two.
    Exact,
    /// As fio's manual says; no case compares the two.
    Documented,
    /// As fio does, except in what `here` says.
    Mostly,
    /// Nearly: a Note says in what it differs.
    Nearly,
    /// Not at all, and harmless: a Note says so.
    Ignored,
    /// A job that asks for it is not run.
    Refused,
}

/// What an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any text; its meaning is checked where it is used.
    Text,
    /// Text that may be left out.
    Name,
    /// Nothing, 0 or 1.
    Flag,
    /// 0 or 1.
    Bool,
    /// A whole number, from and to.
    Int(i64, i64),
    /// Bytes.
    Size,
    /// Bytes, or per cent of the file.
    Share,
    /// Up to three of them: of reads, writes and trims.
    Sizes,
    /// Up to three ranges of bytes.
    Ranges,
    /// Numbers with `:` between them.
    Floats,
    /// Numbers from 0 to 100 with `:` between them.
    Percents,
    /// A time; bare numbers are seconds.
    Seconds,
    /// A time; bare numbers are microseconds.
    Micros,
    /// One of these words.
    Word(&'static str),
}

/// One option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opt {
    /// As fio's manual writes it.
    pub name: &'static str,
    /// Other names of it.
    pub aliases: Vec<&'static str>,
    /// What it takes.
    pub kind: Kind,
    /// Without it; `-`: nothing.
    pub default: &'static str,
    /// How well it is honoured.
    pub support: Support,
    /// What it asks for, in one sentence.
    pub meaning: &'static str,
    /// What is done here where that differs, what is not compared with fio, or what would work in
    /// its place.
    pub here: &'static str,
    /// The heading under which it stands.
    pub chapter: &'static str,
}

impl Opt {
    /// Whether only some engines have it.
    #[must_use]
    pub fn is_of_engines(&self) -> bool {
        self.chapter == OF_ENGINES
    }

    /// Whether it may be given without a value.
    #[must_use]
    pub const fn stands_alone(&self) -> bool {
        matches!(self.kind, Kind::Flag)
    }
}

/// The chapter of what only some engines have.
const OF_ENGINES: &str = "Options of single engines";

/// All options, in the order of the page.
#[must_use]
pub fn options() -> &'static [Opt] {
    static TABLE: OnceLock<Vec<Opt>> = OnceLock::new();
    TABLE.get_or_init(|| table(include_str!("options.txt")))
}

/// The option of this name or alias.
#[must_use]
pub fn find(name: &str) -> Option<&'static Opt> {
    options()
        .iter()
        .find(|option| option.name == name || option.aliases.contains(&name))
}

/// For a name that there is not: the nearest one, as a question.
#[must_use]
pub fn hint(name: &str) -> String {
    let names = options().iter().flat_map(|option| {
        let aliases = option.aliases.iter().copied();
        std::iter::once(option.name).chain(aliases)
    });
    match blocklab_units::nearest(name, names) {
        Some(near) => format!("; did you mean {near}?"),
        None => String::new(),
    }
}

fn table(text: &'static str) -> Vec<Opt> {
    let mut chapter = "";
    let mut rows = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        match line.strip_prefix("= ") {
            Some(title) => chapter = title,
            None => rows.push(row(line, chapter).unwrap_or_else(|| panic!("no option: {line}"))),
        }
    }
    rows
}

fn row(line: &'static str, chapter: &'static str) -> Option<Opt> {
    let mut columns = line.splitn(6, '|').map(str::trim);
    let mut names = columns.next()?.split(' ');
    Some(Opt {
        name: names.next()?,
        aliases: names.collect(),
        kind: kind(columns.next()?)?,
        default: columns.next()?,
        support: match columns.next()? {
            "exact" => Support::Exact,
            "documented" => Support::Documented,
            "mostly" => Support::Mostly,
            "nearly" => Support::Nearly,
            "ignored" => Support::Ignored,
            "refused" => Support::Refused,
            _ => return None,
        },
        meaning: columns.next()?,
        here: columns.next()?,
        chapter,
    })
}

fn kind(text: &'static str) -> Option<Kind> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    Some(match word {
        "text" => Kind::Text,
        "name" => Kind::Name,
        "flag" => Kind::Flag,
        "bool" => Kind::Bool,
        "size" => Kind::Size,
        "share" => Kind::Share,
        "sizes" => Kind::Sizes,
        "ranges" => Kind::Ranges,
        "floats" => Kind::Floats,
        "percents" => Kind::Percents,
        "seconds" => Kind::Seconds,
        "micros" => Kind::Micros,
        "word" => Kind::Word(rest),
        "int" => {
            let (low, high) = rest.split_once(' ')?;
            let high = if high == "-" {
                i64::MAX
            } else {
                high.parse().ok()?
            };
            Kind::Int(low.parse().ok()?, high)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_row_is_sound() {
        let mut seen = HashSet::new();
        for option in options() {
            let is_exact = option.support == Support::Exact;
            assert_eq!(option.here.is_empty(), is_exact, "{}", option.name);
            assert!(option.meaning.ends_with('.'), "{}", option.name);
            assert!(!option.here.ends_with('.'), "{}", option.name);
            for name in std::iter::once(&option.name).chain(&option.aliases) {
                assert!(seen.insert(*name), "{name} stands there twice");
            }
        }
        assert!(
            options().len() > 217,
            "fio 3.33 has 217 options besides those of engines"
        );
    }

    #[test]
    fn names_and_aliases_are_found() {
        assert_eq!(find("blocksize").map(|option| option.name), Some("bs"));
        assert!(find("cmdprio").is_some_and(Opt::is_of_engines));
        assert!(!find("ioengine").is_some_and(Opt::is_of_engines));
        assert_eq!(find("nonsense"), None);
        assert_eq!(hint("ioengin"), "; did you mean ioengine?");
    }
}
