//! What curves show: peak, knee, and where a millisecond is passed.

use blocklab_analysis::study;
use blocklab_record::Record;

use crate::shown;

/// A line for each curve of a Record; empty where it has none.
#[must_use]
pub fn curves(record: &Record) -> String {
    let Some(plot) = study::curves(record) else {
        return String::new();
    };
    let lines = plot.lines.iter().map(|line| shown::line(&plot, line));
    let lines: String = lines.map(|line| format!("  {line}\n")).collect();
    format!("{}\n{lines}", plot.title)
}
