//! Blocklab as DiskSpd: a command line in, the sums of its text out.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::process::{Sample, measure};

/// Runs a command line without a warm-up: all operations of the process are counted.
pub fn run(program: &Path, line: &str) -> Result<Sample> {
    let mut command = Command::new(program);
    command.args(["diskspd", "--no-save", "--quiet"]);
    command.args(line.split_whitespace());
    let (text, mut sample) = measure(command)?;
    // The first sum is that of all operations.
    let sum = text.lines().find_map(|row| row.strip_prefix("total:"));
    let mut columns = sum.context("there is no sum")?.split('|').skip(1);
    let mut number = || -> Result<f64> {
        let column = columns.next().context("a column is missing")?;
        Ok(column.trim().parse()?)
    };
    sample.ios = number()?;
    let _mib_per_s = number()?;
    sample.iops = number()?;
    Ok(sample)
}
