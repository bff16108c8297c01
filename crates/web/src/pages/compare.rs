//! Runs held against the oldest of them, as `compare` does.

use blocklab_compare::compare::{Margins, compare as hold};
use blocklab_findings::{Assessment, assess};
use blocklab_page as page;
use blocklab_record::Record;
use blocklab_report::json;

use super::{NoPage, Page};
use crate::layout::{above_run, query_text};
use crate::shelf::Shelf;

/// More runs are no page that somebody reads.
const MOST: usize = 16;

/// The ids that an address names, each once, the oldest first.
///
/// # Errors
/// [`NoPage`] unless there are two or a few.
pub fn ids(query: &[(String, String)]) -> Result<Vec<String>, NoPage> {
    let named = query
        .iter()
        .filter(|(key, _)| key == "run" || key == "runs");
    let ids = named.flat_map(|(_, ids)| ids.split(','));
    let mut ids: Vec<String> = ids.filter(|id| !id.is_empty()).map(str::to_owned).collect();
    ids.sort();
    ids.dedup();
    match ids.len() {
        0 | 1 => Err(NoPage::invalid("Tick two runs or more to compare them.")),
        many if many > MOST => Err(NoPage::invalid(format!(
            "{many} runs are too many for a page: tick {MOST} or fewer, or use `blocklab compare`."
        ))),
        _ => Ok(ids),
    }
}

/// The page of a comparison.
///
/// # Errors
/// [`NoPage`] when one of them cannot be read.
pub fn compare(shelf: &Shelf, ids: &[String]) -> Result<Page, NoPage> {
    let records = ids
        .iter()
        .map(|id| shelf.load(id))
        .collect::<Result<Vec<Record>, _>>()?;
    let all: Vec<&Record> = records.iter().collect();
    let comparison = hold(&all, 0, Margins::default());
    let judged: Vec<Assessment> = records.iter().map(assess).collect();
    let pairs: Vec<(&Record, &Assessment)> = records.iter().zip(&judged).collect();
    let runs = query_text(&ids.join(","));
    let more = [(format!("/compare.json?runs={runs}"), "JSON")];
    Ok(Page {
        html: page::comparison_among_others(&pairs, &comparison, &above_run(&more)),
        json: json::comparison(&all, &comparison, None),
    })
}
