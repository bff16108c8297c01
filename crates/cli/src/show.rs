use anyhow::Result;
use blocklab_analysis::Assessment;
use blocklab_record::Record;
use blocklab_report::{json, text};
use blocklab_store::Store;
use blocklab_units::Style;

use crate::args::ShowArgs;
use blocklab_console::terminal;

/// Prints the result of a run again.
pub fn show(args: &ShowArgs, store: &Store) -> Result<()> {
    let record = store.load(&args.run)?.record;
    let assessment = blocklab_analysis::assess(&record);
    let style = terminal::style();
    terminal::print_styled(match (args.json, args.findings) {
        (true, _) => json::summary(&record, &assessment, None),
        (false, true) => evidence(&record, &assessment, style),
        (false, false) => text::summary(&record, &assessment, style),
    })
}

/// All that is said of a run, and all that a model of it rests on.
fn evidence(record: &Record, assessment: &Assessment, style: Style) -> String {
    let findings = match text::findings(assessment, style) {
        none if none.is_empty() => "no findings\n".to_owned(),
        some => some,
    };
    match text::model(record, style) {
        none if none.is_empty() => findings,
        model => format!("{findings}\n{model}"),
    }
}
