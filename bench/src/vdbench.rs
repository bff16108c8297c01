//! Blocklab as Vdbench: a parameter file in, the rows of its flat file out.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::process::{Sample, measure};

/// Runs a parameter file whose intervals are seconds.
///
/// Operations are those of all intervals, the first one too, which enters no average: processor
/// time is that of the whole process.
pub fn run(program: &Path, parameters: &str) -> Result<Sample> {
    let folder = std::env::temp_dir().join(format!("blocklab-bench-{}", std::process::id()));
    let file = folder.with_extension("vdb");
    std::fs::write(&file, parameters).context("cannot write the parameter file")?;
    let mut command = Command::new(program);
    command.args(["vdbench", "--no-save", "--quiet", "-f"]);
    command.arg(&file).arg("-o").arg(&folder);
    let measured = measure(command);
    let flat = std::fs::read_to_string(folder.join("flatfile.html"));
    let _ = std::fs::remove_file(&file);
    let _ = std::fs::remove_dir_all(&folder);
    let (_, mut sample) = measured?;
    figures(&flat.context("there is no flat file")?, &mut sample);
    Ok(sample)
}

/// Adds up the rows of the intervals and takes the rate of the average.
fn figures(flat: &str, sample: &mut Sample) {
    const INTERVAL: usize = 3;
    const RATE: usize = 5;
    for row in flat.lines() {
        let words: Vec<&str> = row.split_whitespace().collect();
        let (Some(interval), Some(rate)) = (words.get(INTERVAL), words.get(RATE)) else {
            continue;
        };
        let Ok(rate) = rate.parse::<f64>() else {
            continue;
        };
        if interval.starts_with("avg_") {
            sample.iops = rate
        } else {
            sample.ios += rate
        }
    }
}
