//! `-s`: what would be run.

use anyhow::Result;
use blocklab_vdbench::{Run, Script, Validation, recovery_run};

use super::folder::Folder;
use super::times;
use blocklab_console::{status, terminal};

/// Prints the runs, their number and how long they take.
pub fn simulate(script: &Script, validation: Validation, folder: &Folder) -> Result<u8> {
    let recovery = validation.recover.then(|| recovery_run(script));
    let own: &[Run] = if validation.recover_only {
        &[]
    } else {
        &script.runs
    };
    let runs: Vec<&Run> = recovery.iter().chain(own).collect();
    let mut text = String::new();
    for run in &runs {
        text.push_str(&format!("{} {}\n", times::now().clock, run.simulated()));
    }
    text.push_str(&format!("{} {}\n", times::now().clock, total(&runs)));
    for note in &script.notes {
        terminal::tell(&format!("note: {}: {}", note.subject, note.text));
    }
    let end = format!(
        "{} Vdbench simulation completed successfully. Output directory: {} \n\n",
        times::now().clock,
        folder.path().display()
    );
    folder.append("logfile", &text)?;
    terminal::print(text + &end)?;
    Ok(status::DONE)
}

/// Warm-up and pauses count, too: so long somebody waits. Runs without an end do not.
fn total(runs: &[&Run]) -> String {
    let seconds: u64 = runs
        .iter()
        .filter_map(|run| Some(run.elapsed? + run.warmup + run.pause))
        .sum();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!(
        "Total amount of Run Definitions: {}; total elapsed time {hours:02}:{minutes:02}:{:02}",
        runs.len(),
        seconds % 60
    )
}
