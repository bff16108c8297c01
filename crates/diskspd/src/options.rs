//! The option table: one option, one row. Reading a command line and `docs/dialects/diskspd.md`
//! are derived from it.

mod early;
mod late;
mod ours;

use blocklab_record::NoteLevel;

use super::draft::Draft;
use blocklab_syntax::Mistake;

/// One option.
pub(super) struct Opt {
    /// What it begins with; the longest match counts.
    pub name: &'static str,
    /// As the manual writes it.
    pub form: &'static str,
    /// Without it.
    pub default: &'static str,
    /// One sentence.
    pub meaning: &'static str,
    /// How well it is honoured; nothing: as the manual and the published source say. No run of the
    /// original is compared, so no row is called exact.
    pub level: Option<NoteLevel>,
    /// What is done here, where that differs.
    pub here: &'static str,
    /// Takes what follows the name.
    pub set: fn(&mut Draft, &str) -> Result<(), Mistake>,
}

const ROW: Opt = Opt {
    name: "",
    form: "",
    default: "–",
    meaning: "",
    level: None,
    here: "",
    set: |_, _| Ok(()),
};

const IGNORED: Option<NoteLevel> = Some(NoteLevel::Ignored);
const NEARLY: Option<NoteLevel> = Some(NoteLevel::Approximated);
const ANY: u32 = u32::MAX;

/// The row of an argument: that with the longest name with which it begins.
pub(super) fn find(argument: &str) -> Option<&'static Opt> {
    let fitting = all().filter(|opt| argument.starts_with(opt.name));
    fitting.max_by_key(|opt| opt.name.len())
}

/// An option that takes nothing.
fn bare(option: &str, rest: &str) -> Result<(), Mistake> {
    match rest {
        "" => Ok(()),
        _ => Err(Mistake::new(
            option,
            format!("it takes nothing, and `{rest}` follows it"),
        )),
    }
}

/// Every row, in the order of the manual; ours come last.
pub(super) fn all() -> impl Iterator<Item = &'static Opt> {
    early::EARLY.iter().chain(&late::LATE).chain(&ours::OURS)
}
