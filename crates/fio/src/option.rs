//! What a row of the option table says: how an option is written, what it takes, how well it is
//! honoured.

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
#[derive(Debug)]
pub struct Opt {
    /// As fio's manual writes it.
    pub name: &'static str,
    /// Other names of it.
    pub aliases: &'static [&'static str],
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
    /// Its name and its aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// Whether only some engines have it.
    #[must_use]
    pub fn is_of_engines(&self) -> bool {
        self.chapter == OF_ENGINES
    }

    /// Whether fio 3.33 has not got it yet.
    #[must_use]
    pub fn is_later(&self) -> bool {
        self.here.starts_with("of a later fio")
    }

    /// Whether it may be given without a value.
    #[must_use]
    pub const fn stands_alone(&self) -> bool {
        matches!(self.kind, Kind::Flag)
    }

    /// How well it is honoured, in words.
    #[must_use]
    pub fn honoured(&self) -> String {
        let word = match self.support {
            Support::Exact => return "exact".to_owned(),
            Support::Documented => "as documented",
            Support::Mostly => "differs",
            Support::Nearly => "approximated",
            Support::Ignored => "ignored",
            Support::Refused => "refused",
        };
        format!("{word}: {}", self.here)
    }
}

/// The chapter of what only some engines have.
const OF_ENGINES: &str = "Options of single engines";
