//! The page of a run: the same that the command `report` writes, with the navigation bar above it.

use blocklab_findings::assess;
use blocklab_page as page;
use blocklab_record::Record;
use blocklab_report::json;

use super::Page;
use crate::layout::{query_text, run_navigation};

/// The page of a finished run.
pub fn run(record: &Record) -> Page {
    let assessment = assess(record);
    let study = record.requested.study();
    let target = record.targets.first().map_or("", |target| &target.path);
    let same = format!(
        "/?study={}&target={}",
        query_text(study),
        query_text(target)
    );
    let more = [
        (same, "Runs of this study here"),
        (format!("/run/{}.json", record.id), "JSON"),
    ];
    Page {
        html: page::run_among_others(record, &assessment, &run_navigation(&more)),
        json: json::summary(record, &assessment, None),
    }
}
