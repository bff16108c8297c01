//! Tables of rates (of iostat, sar or CloudWatch): recognizing their files, reading and showing them.

use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, bail};
use blocklab_host::{LARGEST_REPORT, read_input};
use blocklab_report::{fields, views};
use blocklab_trace::rates::{RateTable, WantedRates, is_rate_table, read_rates};

use crate::answer;
use blocklab_args::{FormArgs, TraceInput};

/// The table in these files; `None`: they are recorded operations.
pub fn table(files: &[PathBuf], read: &TraceInput) -> Result<Option<RateTable>> {
    // Both describe the format of recorded operations, so the user says what the files are.
    if read.input.is_some() || read.columns.is_some() {
        return Ok(None);
    }
    let mut texts = Vec::new();
    for file in files {
        // Looking at the first bytes of a pipe would take them from the reader of operations. Reading
        // reports a missing file that is named after a table.
        let is_missing = !texts.is_empty() && !file.exists();
        let is_plain = file.as_os_str() != "-" && (file.is_file() || is_missing);
        if !is_plain {
            return Ok(None);
        }
        let name = file.display().to_string();
        let first = super::opened::first_bytes(file);
        if !is_rate_table(&first.with_context(|| format!("cannot read {name}"))?) {
            if !texts.is_empty() {
                bail!("{name} is no table of rates, and the files before it are: they do not mix");
            }
            return Ok(None);
        }
        let bytes =
            read_input(file, LARGEST_REPORT).with_context(|| format!("cannot read {name}"))?;
        texts.push((name, String::from_utf8_lossy(&bytes).into_owned()));
    }
    let wanted = WantedRates {
        device: read.device.as_deref(),
        every_ns: read.every.map(|every| every.0),
    };
    let mut table = read_rates(&texts, wanted).map_err(|why| anyhow!("{why}"))?;
    let from = read.from.map_or(0, |from| from.0);
    let until = read.until.map_or(u64::MAX, |until| until.0);
    table
        .intervals
        .retain(|interval| (from..until).contains(&interval.from_ns));
    if table.intervals.is_empty() {
        bail!("no interval lies between --from and --until");
    }
    Ok(Some(table))
}

/// Prints a table.
pub fn show(files: &[PathBuf], table: &RateTable, form: FormArgs) -> Result<()> {
    let name = super::opened::names(files);
    let fields = fields! {
        trace_rates_format: 1,
        name: &name,
        began_at: table.begins_ns.and_then(super::opened::rfc_3339),
        #[serde(flatten)]
        table: table,
    };
    answer::print(form, &fields, || views::rates(&name, table))
}
