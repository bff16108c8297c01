//! What an option of fio takes, and when fio has it.

/// What an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any text; its meaning is checked where it is used.
    Text,
    /// Names of files, which add up where they are given again.
    Names,
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
    /// Bytes of reads, writes and trims: up to three numbers, none below this one.
    Sizes(u64),
    /// Up to three ranges of bytes, no end of which is below this number.
    Ranges(u64),
    /// Numbers with `:` between them.
    Floats,
    /// Numbers from 0 to this one with `:` between them.
    FloatsTo(u32),
    /// A time; bare numbers are seconds.
    Seconds,
    /// A time; bare numbers are microseconds.
    Micros,
    /// One of these words.
    Word(&'static str),
}

/// Which fio has an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// The one whose language is spoken: 3.33.
    Spoken,
    /// A later one.
    Later,
}

/// How the value of an option is read, and which fio has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// How it is read.
    pub kind: Kind,
    /// Which fio has it.
    pub since: Since,
}

/// One option. Where it differs from fio, [`here`](Opt::here) says how, what is not compared with
/// fio, or what would work in its place.
pub type Opt = blocklab_syntax::option::Opt<Taken>;

/// Whether only some engines have it.
pub fn is_of_engines(option: &Opt) -> bool {
    option.chapter == "Options of single engines"
}
