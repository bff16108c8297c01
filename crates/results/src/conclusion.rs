//! The end of a command that has run something.
//!
//! ```text
//!   result ──▶ printed ──▶ runs kept ──▶ page, answers written ──▶ where both are ──▶ gate ──▶ exit code
//! ```
//!
//! In this order, so that a run that cannot be kept is seen, and a result that cannot be printed is
//! kept.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use blocklab_compare::gate::{Asked, Gate};
use blocklab_console::status::{FAILED, INCOMPLETE, INTERRUPTED};
use blocklab_console::{place, terminal};
use blocklab_record::{Record, Status};
use blocklab_report::document::{self, Document};
use blocklab_report::junit::Answered;
use blocklab_report::{json as report, views};
use blocklab_store::Store;

use crate::gate;
use crate::keeping::{self, Keeping};
use crate::output::{self, Over};

/// In which form a result goes to standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// For people.
    Words(document::Form),
    /// One object.
    Json,
    /// A line for the result, and one for each record that it rests on.
    JsonLines,
}

/// How the user wants the end of a run.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The form of the result.
    pub form: Form,
    /// Where the page goes instead of beside the run; `-`: to standard output.
    pub page: Option<PathBuf>,
    /// Where the answers to the conditions go as JUnit XML.
    pub junit: Option<PathBuf>,
    /// What the page and the answers may be written over.
    pub over: Over,
    /// Whether runs are kept.
    pub is_kept: bool,
    /// Whether no progress is shown.
    pub is_quiet: bool,
    /// What the runs are judged by.
    pub conditions: Vec<Asked>,
    /// Whether an undecided gate has an exit code of its own.
    pub is_strict: bool,
}

impl Wanted {
    /// Finds out before anything is measured whether the end can be as it is wanted.
    ///
    /// # Errors
    /// When runs cannot be kept, or a file not written.
    pub fn try_out(&self, store: &Store) -> Result<()> {
        keeping::try_out(store, !self.is_kept)?;
        if let (Some(page), Some(junit)) = (&self.page, &self.junit)
            && page == junit
        {
            bail!("--html and --junit name one file: {}", page.display());
        }
        let mut files = self.page.iter().chain(&self.junit);
        files.try_for_each(|path| output::try_out(path, self.over))
    }

    /// Whether the page goes to standard output.
    fn prints_page(&self) -> bool {
        self.page.as_deref() == Some(Path::new("-"))
            || self.form == Form::Words(document::Form::Html)
    }

    /// The form of the result where words follow it.
    fn words(&self) -> Option<document::Form> {
        match self.form {
            Form::Words(form) => Some(form).filter(|_| !self.prints_page()),
            Form::Json | Form::JsonLines => None,
        }
    }

    /// The file of the page, where `usual` is the one beside the run.
    fn page_path(&self, usual: Option<PathBuf>) -> Option<PathBuf> {
        match self.page.as_deref() {
            Some(path) if path == Path::new("-") => None,
            Some(path) => Some(path.to_owned()),
            None => usual,
        }
    }
}

/// What a command has come to.
pub trait Conclusion {
    /// The page.
    fn page(&self) -> String;

    /// The result for people.
    fn document(&self) -> Document;

    /// The result as JSON, and what a line of it is called.
    fn json(&self) -> (&'static str, String);

    /// The runs that this command has made.
    fn runs(&mut self) -> Vec<&mut Record>;

    /// Where the page is kept beside a run: that in this folder, else of the last run that is kept.
    fn usual_page(&self, kept: Option<&Path>, is_well: bool) -> Option<PathBuf>;

    /// The command that shows the result again from what is kept, and the one that makes the page.
    fn again(&self) -> (String, String);

    /// The answer to the conditions that the user set.
    fn gate(&self) -> Option<&Gate>;

    /// The runs that were judged, in the order in which the gate counts them.
    fn judged(&self) -> Vec<&Record>;
}

/// Prints the result, keeps the runs, writes the page and answers the gate. The exit code.
///
/// # Errors
/// When the last words cannot be printed.
pub fn conclude(of: &mut dyn Conclusion, wanted: &Wanted, store: &Store) -> Result<u8> {
    let page = of.page();
    let mut keeping = Keeping::new(store);
    let printed = print(of, wanted, &page);
    let is_printed = printed.is_ok();
    let mut folder = None;
    if wanted.is_kept {
        for record in of.runs() {
            folder = keeping.keep(record).or(folder);
        }
    }
    // What cannot be printed is kept all the same.
    let is_kept = wanted.is_kept && keeping.is_well;
    keeping.reported(printed);
    let (show, page_again) = of.again();
    let place = place::store_option(store);
    let (show, page_again) = (show + &place, page_again + &place);
    let usual = of.usual_page(folder.as_deref(), is_kept);
    let path = wanted.page_path(usual).filter(|path| {
        let again = Some(&*page_again).filter(|_| is_kept);
        keeping.page(path, &page, wanted.over, again)
    });
    if let Some(gate) = of.gate() {
        let answered = Answered {
            runs: of.judged(),
            gate,
        };
        keeping.reported(gate::write(
            wanted.junit.as_deref(),
            &[answered],
            wanted.over,
        ));
    }
    let closing = closing(path.as_deref(), Some(&*show).filter(|_| is_kept));
    if !is_printed {
        // Somebody who sees no result still learns where it is.
        terminal::inform(&closing);
        gate::aside(of.gate());
    } else if let Some(form) = wanted.words() {
        if matches!(form, document::Form::Text(_)) {
            terminal::print(closing)?;
        } else if !wanted.is_quiet {
            // Only the result itself belongs into an issue or a message.
            terminal::inform(closing.trim());
        }
        terminal::print_styled(gate::words(of.gate(), form))?;
    } else if wanted.prints_page() {
        gate::aside(of.gate());
    }
    Ok(exit_code(of, wanted, keeping.is_well))
}

/// Prints the page where it goes to standard output, else the result.
fn print(of: &mut dyn Conclusion, wanted: &Wanted, page: &str) -> Result<()> {
    if wanted.prints_page() {
        terminal::print_data(page)?;
        if matches!(wanted.form, Form::Words(_)) {
            return Ok(());
        }
    }
    let text = match wanted.form {
        Form::Words(form) => of.document().print(form),
        Form::Json => of.json().1,
        Form::JsonLines => {
            let (kind, result) = of.json();
            let mut lines = report::line(kind, &result);
            for record in of.runs() {
                lines.push_str(&report::line("record", &record.to_json()));
            }
            lines
        }
    };
    terminal::print_styled(text)
}

/// The last words: where the page is, and the command that shows the result again.
fn closing(page: Option<&Path>, again: Option<&str>) -> String {
    let page = page.map(|page| format!("Report  {}\n", page.display()));
    let again = again.map(|again| format!("Again   {again}\n"));
    ["\n".to_owned()]
        .into_iter()
        .chain(page)
        .chain(again)
        .collect()
}

fn exit_code(of: &mut dyn Conclusion, wanted: &Wanted, is_well: bool) -> u8 {
    let ends: Vec<Status> = of.runs().iter().map(|record| record.status).collect();
    if ends.contains(&Status::Interrupted) {
        INTERRUPTED
    } else if ends.contains(&Status::Incomplete) {
        INCOMPLETE
    } else if ends.contains(&Status::Failed) || !is_well {
        FAILED
    } else {
        gate::status(of.gate(), wanted.is_strict)
    }
}

/// A run whose result was printed by whoever speaks another tool's language: keeps it and its page.
/// Whether both are where they belong.
pub fn keep(record: &mut Record, store: &Store) -> bool {
    let mut keeping = Keeping::new(store);
    if let Some(folder) = keeping.keep(record) {
        let assessment = blocklab_findings::assess(record);
        let page = blocklab_page::runs(&[(record, &assessment)]);
        let again = page_again(record);
        let again = Some(&*again).filter(|_| keeping.is_well);
        keeping.page(&Store::page(&folder), &page, Over::Ours, again);
    }
    keeping.is_well
}

fn page_again(record: &Record) -> String {
    format!("blocklab report {} --html FILE", record.id)
}

/// One run.
pub struct Run<'a> {
    /// What it left.
    pub record: &'a mut Record,
    /// What it came to.
    pub assessment: blocklab_findings::Assessment,
    /// The answer to the conditions that the user set.
    pub gate: Option<Gate>,
}

impl Conclusion for Run<'_> {
    fn page(&self) -> String {
        blocklab_page::runs(&[(&*self.record, &self.assessment)])
    }

    fn document(&self) -> Document {
        views::summary(self.record, &self.assessment)
    }

    fn json(&self) -> (&'static str, String) {
        let result = report::summary(self.record, &self.assessment, self.gate.as_ref());
        ("summary", result)
    }

    fn runs(&mut self) -> Vec<&mut Record> {
        vec![self.record]
    }

    fn usual_page(&self, kept: Option<&Path>, _: bool) -> Option<PathBuf> {
        kept.map(Store::page)
    }

    fn again(&self) -> (String, String) {
        let show = format!("blocklab show {}", self.record.id);
        (show, page_again(self.record))
    }

    fn gate(&self) -> Option<&Gate> {
        self.gate.as_ref()
    }

    fn judged(&self) -> Vec<&Record> {
        vec![self.record]
    }
}
