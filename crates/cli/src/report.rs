use std::path::{Path, PathBuf};

use anyhow::Result;
use blocklab_analysis::{Assessment, assess};
use blocklab_record::Record;
use blocklab_report::html;
use blocklab_store::Store;

use crate::args::ReportArgs;
use blocklab_console::terminal;
use blocklab_tools::output::{self, Over};

/// Makes the page of one or more runs again, and says where it is.
pub fn report(args: &ReportArgs, store: &Store) -> Result<()> {
    if let Some(path) = &args.html {
        output::try_out(path, Over::forced(args.force))?;
    }
    let mut runs = Vec::new();
    for run in &args.runs {
        let record = store.load(run)?.record;
        let assessment = assess(&record);
        runs.push((record, assessment));
    }
    let path = args.html.clone().unwrap_or_else(|| usual_name(&runs));
    let pairs: Vec<(&Record, &Assessment)> = runs.iter().map(|(r, a)| (r, a)).collect();
    output::write(&path, html::page(&pairs), Over::forced(args.force))?;
    match path == Path::new("-") {
        true => Ok(()),
        false => terminal::print(format!("{}\n", path.display())),
    }
}

/// `blocklab-report-ID.html`; of several runs, the first gives the name.
fn usual_name(runs: &[(Record, Assessment)]) -> PathBuf {
    let id = runs.first().map_or("empty", |(record, _)| &record.id);
    let more = match runs.len() {
        0 | 1 => String::new(),
        all => format!("-and-{}-more", all - 1),
    };
    PathBuf::from(format!("blocklab-report-{id}{more}.html"))
}
