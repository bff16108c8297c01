//! The end of a command that has run something.
//!
//! ```text
//!   result ──▶ printed ──▶ runs stored ──▶ page, JUnit file ──▶ where they are ──▶ gate ──▶ exit code
//! ```
//!
//! No step stops the ones behind it: a run that cannot be stored has been printed by then, and a
//! result that cannot be printed is stored all the same.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use blocklab_compare::gate::{Gate, LoadCondition};
use blocklab_console::status::{FAILED, INCOMPLETE, INTERRUPTED};
use blocklab_console::{place, terminal};
use blocklab_record::{Record, Status};
use blocklab_report::document::{Document, Form};
use blocklab_report::junit::Answered;
use blocklab_report::{json as report, views};
use blocklab_store::Store;

use crate::gate;
use crate::keeping::{self, Keeping};
use crate::output::{self, Over, is_same_file};

/// How a result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// As JSON.
    Json,
    /// As a document in this form.
    Document(Form),
}

/// The options for the output of a command that runs something.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The format of the result on standard output.
    pub output: Output,
    /// Whether JSON is a line for the result, then one for each Record it was made from.
    pub in_lines: bool,
    /// The file of the HTML page; `-`: standard output; `None`: the usual file next to the Record.
    pub page: Option<PathBuf>,
    /// The file for the gate's answers as JUnit XML.
    pub junit: Option<PathBuf>,
    /// Which existing files the page and the JUnit file may replace.
    pub over: Over,
    /// Whether runs are stored.
    pub is_kept: bool,
    /// Whether progress is hidden.
    pub is_quiet: bool,
    /// The conditions of the gate.
    pub conditions: Vec<LoadCondition>,
    /// Whether an undecided gate gives another exit code than success.
    pub is_strict: bool,
}

impl Wanted {
    /// Tries the store and the files, so that a mistake in their names is reported before hours of
    /// measuring.
    ///
    /// # Errors
    /// When the store or one of the files cannot be written.
    pub fn try_out(&self, store: &Store) -> Result<()> {
        keeping::try_out(store, !self.is_kept)?;
        if let (Some(page), Some(junit)) = (&self.page, &self.junit)
            && is_same_file(page, junit)
        {
            bail!("--html and --junit name one file: {}", page.display());
        }
        let mut files = self.page.iter().chain(&self.junit);
        files.try_for_each(|path| output::try_out(path, self.over))
    }

    /// Whether the page goes to standard output.
    fn prints_page(&self) -> bool {
        self.page.as_deref() == Some(Path::new("-")) || self.output == Output::Document(Form::Html)
    }

    /// The format of the document on standard output, to which further lines may be added; `None` when
    /// a page or JSON is there, which they would break.
    fn document_form(&self) -> Option<Form> {
        match self.output {
            Output::Document(form) => Some(form).filter(|_| !self.prints_page()),
            Output::Json => None,
        }
    }

    /// The file of the page, if one is written; `usual` is the one next to the Record.
    fn page_path(&self, usual: Option<PathBuf>) -> Option<PathBuf> {
        match self.page.as_deref() {
            Some(path) if path == Path::new("-") => None,
            Some(path) => Some(path.to_owned()),
            None => usual,
        }
    }
}

/// The result of a command in all the forms in which it is printed or written.
pub trait Conclusion {
    /// The HTML page.
    fn page(&self) -> String;

    /// The result for people. `store`: what a command that shows a run of it needs in addition, such as
    /// ` --store DIR`; `None`: the runs are not stored.
    fn document(&self, store: Option<&str>) -> Document;

    /// The name of the result's kind in JSON lines, and the result as JSON.
    fn json(&self) -> (&'static str, String);

    /// The runs that this command has measured, in the order in which they are stored.
    fn runs(&mut self) -> Vec<&mut Record>;

    /// The file of the page next to a Record, if there is one. `kept`: the folder of the run that was
    /// stored last; `is_well`: whether all runs are in the store that the user chose.
    fn usual_page(&self, kept: Option<&Path>, is_well: bool) -> Option<PathBuf>;

    /// The command that shows the result again, and the one that writes its page again.
    fn again(&self) -> (String, String);

    /// The gate's answer; `None` when the user set no condition.
    fn gate(&self) -> Option<&Gate>;

    /// The runs that were judged, in the order in which the gate numbers them.
    fn judged(&self) -> Vec<&Record>;
}

/// Prints the result, stores the runs, writes the page and the JUnit file, and gives the exit code.
///
/// What fails here is reported on standard error and counts in the exit code.
///
/// # Errors
/// When the lines after the result cannot be printed.
pub fn conclude(result: &mut dyn Conclusion, wanted: &Wanted, store: &Store) -> Result<u8> {
    let page = result.page();
    let mut keeping = Keeping::new(store);
    let store_option = place::store_option(store);
    let printed = print(result, wanted, &page, &store_option);
    let is_printed = printed.is_ok();
    let mut folder = None;
    if wanted.is_kept {
        for record in result.runs() {
            folder = keeping.keep(record).or(folder);
        }
    }
    // Read before the printing is reported: a result that could not be printed is stored all the same.
    let is_kept = wanted.is_kept && keeping.is_well;
    keeping.report(printed);
    let (show, page_again) = result.again();
    let (show, page_again) = (show + &store_option, page_again + &store_option);
    let usual = result.usual_page(folder.as_deref(), is_kept);
    // `path` stays only if the page is in it: the last lines must not name a file that is not there.
    let path = wanted.page_path(usual).filter(|path| {
        let again = is_kept.then_some(page_again.as_str());
        keeping.write_page(path, &page, wanted.over, again)
    });
    if let Some(gate) = result.gate() {
        let answered = Answered {
            runs: result.judged(),
            gate,
        };
        keeping.report(gate::write(
            wanted.junit.as_deref(),
            &[answered],
            wanted.over,
        ));
    }
    let closing = closing(path.as_deref(), is_kept.then_some(show.as_str()));
    let judged = result.judged();
    let names: Vec<&str> = judged
        .iter()
        .map(|record| record.requested.name.as_str())
        .collect();
    if !is_printed {
        // Standard output failed, so everything else goes to standard error: where the result is, and
        // the gate's answer.
        terminal::inform(&closing);
        gate::print_aside(result.gate(), &names);
    } else if let Some(form) = wanted.document_form() {
        if matches!(form, Form::Text(_)) {
            terminal::print(closing)?;
        } else if !wanted.is_quiet {
            // Markdown is pasted into an issue or a message, where local paths are noise.
            terminal::inform(closing.trim());
        }
        terminal::print_styled(gate::words(result.gate(), &names, form))?;
    } else if wanted.prints_page() {
        // A page does not have the answer; JSON does.
        gate::print_aside(result.gate(), &names);
    }
    Ok(exit_code(result, wanted, keeping.is_well))
}

/// Prints the page or the result, and both when JSON and a page on standard output are asked for.
fn print(
    result: &mut dyn Conclusion,
    wanted: &Wanted,
    page: &str,
    store_option: &str,
) -> Result<()> {
    if wanted.prints_page() {
        terminal::print_data(page)?;
        if matches!(wanted.output, Output::Document(_)) {
            return Ok(());
        }
    }
    let text = match wanted.output {
        Output::Document(form) => {
            let store = wanted.is_kept.then_some(store_option);
            result.document(store).print(form)
        }
        Output::Json if !wanted.in_lines => result.json().1,
        Output::Json => {
            let (kind, json) = result.json();
            let mut lines = report::line(kind, &json);
            for record in result.runs() {
                lines.push_str(&report::line("record", &record.to_json()));
            }
            lines
        }
    };
    terminal::print_styled(text)
}

/// The lines after the result: the file of the page, and the command that shows the result again.
fn closing(page: Option<&Path>, again: Option<&str>) -> String {
    let mut lines = String::from("\n");
    lines.extend(page.map(|page| format!("Report  {}\n", page.display())));
    lines.extend(again.map(|again| format!("Again   {again}\n")));
    lines
}

/// The exit code: the most severe thing that happened to a run comes before the gate's answer, which
/// is worth nothing then.
fn exit_code(result: &mut dyn Conclusion, wanted: &Wanted, is_well: bool) -> u8 {
    let ends: Vec<Status> = result.runs().iter().map(|record| record.status).collect();
    if ends.contains(&Status::Interrupted) {
        INTERRUPTED
    } else if ends.contains(&Status::Incomplete) {
        INCOMPLETE
    } else if ends.contains(&Status::Failed) || !is_well {
        FAILED
    } else {
        gate::status(result.gate(), wanted.is_strict)
    }
}

/// Stores a run and its page. It is for commands that imitate another tool, whose output is already
/// printed in that tool's format. False, when the run or the page is not where it belongs.
pub fn keep(record: &mut Record, store: &Store) -> bool {
    let mut keeping = Keeping::new(store);
    if let Some(folder) = keeping.keep(record) {
        let assessment = blocklab_findings::assess(record);
        let page = blocklab_page::runs(&[(record, &assessment)]);
        let command = page_again(record) + &place::store_option(store);
        let again = keeping.is_well.then_some(command.as_str());
        keeping.write_page(&Store::page(&folder), &page, Over::Ours, again);
    }
    keeping.is_well
}

/// The command that writes the page of a stored run.
fn page_again(record: &Record) -> String {
    format!("blocklab report {} --html FILE", record.id)
}

/// The result of a single run.
pub struct Run<'a> {
    /// What was measured.
    pub record: &'a mut Record,
    /// What was found in it.
    pub assessment: blocklab_findings::Assessment,
    /// The gate's answer; `None` when the user set no condition.
    pub gate: Option<Gate>,
}

impl Conclusion for Run<'_> {
    fn page(&self) -> String {
        blocklab_page::runs(&[(&*self.record, &self.assessment)])
    }

    fn document(&self, store: Option<&str>) -> Document {
        views::summary(self.record, &self.assessment, store)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: `--html ./x --junit x` wrote the page, then the JUnit file over it, and named `./x` as the
    /// report.
    #[test]
    fn two_results_never_share_a_file() {
        let page = Path::new("no-such-report.html");
        for other in ["no-such-report.html", "./no-such-report.html"] {
            assert!(is_same_file(page, Path::new(other)), "{other}");
        }
        assert!(is_same_file(Path::new("-"), Path::new("-")));
        assert!(!is_same_file(page, Path::new("src/no-such-report.html")));
        assert!(is_same_file(
            Path::new("src/../Cargo.toml"),
            Path::new("Cargo.toml")
        ));
    }

    /// The story: a trace that was imported into a hard link of itself was cut off while it was read.
    #[test]
    fn hard_links_are_one_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
        std::fs::write(&one, "").expect("room");
        assert!(!is_same_file(&one, &other));
        std::fs::hard_link(&one, &other).expect("a link");
        assert!(is_same_file(&one, &other));
    }
}
