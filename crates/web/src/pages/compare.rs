//! Runs compared with the oldest of them, as the command `compare` does.

use blocklab_compare::compare::{Margins, compare as compare_records};
use blocklab_findings::{Assessment, assess};
use blocklab_page as page;
use blocklab_record::Record;
use blocklab_report::json;

use super::{Page, PageError};
use crate::layout::{query_text, run_navigation};
use crate::stored_runs::StoredRuns;

/// Most runs on a page; with more, its tables and charts can no longer be read.
const MAX_RUNS: usize = 16;

/// The ids of the runs that a query names, each once, the oldest first.
///
/// `run=A&run=B` is what the form sends, `runs=A,B` is shorter to type; both may be mixed.
///
/// # Errors
/// [`PageError`] unless there are at least 2 and at most 16.
pub fn ids(query: &[(String, String)]) -> Result<Vec<String>, PageError> {
    let named = query
        .iter()
        .filter(|(key, _)| key == "run" || key == "runs");
    let ids = named.flat_map(|(_, ids)| ids.split(',').map(str::trim));
    let mut ids: Vec<String> = ids.filter(|id| !id.is_empty()).map(str::to_owned).collect();
    // An id begins with the time at which its run started.
    ids.sort();
    ids.dedup();
    match ids.len() {
        0 | 1 => Err(PageError::invalid("Tick two runs or more to compare them.")),
        many if many > MAX_RUNS => Err(PageError::invalid(format!(
            "{many} runs are too many for a page: tick {MAX_RUNS} or fewer, or use `blocklab compare`."
        ))),
        _ => Ok(ids),
    }
}

/// The page of a comparison of runs with the first of them.
///
/// # Errors
/// [`PageError`] when one of the runs cannot be read.
pub fn compare(runs: &StoredRuns, ids: &[String]) -> Result<Page, PageError> {
    let records = ids
        .iter()
        .map(|id| runs.load(id))
        .collect::<Result<Vec<Record>, _>>()?;
    let all: Vec<&Record> = records.iter().collect();
    let comparison = compare_records(&all, 0, Margins::default());
    let judged: Vec<Assessment> = records.iter().map(assess).collect();
    let pairs: Vec<(&Record, &Assessment)> = records.iter().zip(&judged).collect();
    let joined = query_text(&ids.join(","));
    let more = [(format!("/compare.json?runs={joined}"), "JSON")];
    Ok(Page {
        html: page::comparison(&pairs, &comparison, Some(&run_navigation(&more))),
        json: json::comparison(&all, &comparison, None),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: `runs=A, B`, typed by hand, had no run " B".
    #[test]
    fn blanks_between_ids_do_not_count() {
        let query = [("runs".to_owned(), "B, A ,".to_owned())];
        assert_eq!(ids(&query).expect("two ids"), ["A", "B"]);
    }
}
