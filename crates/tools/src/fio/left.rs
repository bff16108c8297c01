//! What jobs leave besides their results: logs, state files, and words about flawed blocks.

use std::path::Path;

use anyhow::Result;
use blocklab_driver::Outcome;
use blocklab_fio::{CloneFacts, Flawed, State};
use blocklab_worker::{JobLog, KeptMiscompare, Progress};
use blocklab_workload::{Case, Job};

use super::logs;
use crate::output::{self, Over};
use blocklab_console::terminal;

/// Leaves what the clones of this case are to leave. `epochs_ms`: what the logs of all clones
/// count from.
pub fn leave(
    clones: &[(usize, &CloneFacts)],
    case: &Case,
    outcome: &Outcome,
    epochs_ms: &[u64],
) -> Result<()> {
    for (number, clone) in clones {
        let job = case.workload.jobs.iter().find(|job| job.name == clone.job);
        let Some(job) = job else { continue };
        if clone.logs.is_on() {
            let log = outcome.logs.iter().find(|(name, _)| *name == clone.job);
            let nothing = JobLog::default();
            let log = log.map_or(&nothing, |(_, log)| log);
            logs::write(clone, number + 1, log, epochs_ms[*number])?;
            if let Some(path) = &clone.logs.trace {
                logs::trace(path, job, log)?;
            }
        }
        let flawed = outcome.flawed.iter().filter(|(job, _)| *job == clone.job);
        for (_, block) in flawed {
            tell(clone, job, block)?;
        }
        let progress = outcome.progress.iter().find(|(name, _)| *name == clone.job);
        if let (Some(path), Some((_, progress))) = (&clone.state, progress) {
            let state = state(*number, clone, job, progress, case.workload.seed);
            output::write(Path::new(path), state.encode(), Over::Files)?;
        }
    }
    Ok(())
}

fn tell(clone: &CloneFacts, job: &Job, block: &KeptMiscompare) -> Result<()> {
    let flawed = Flawed {
        verify: &clone.verify,
        file: job
            .targets
            .get(block.target as usize)
            .map_or("", |path| path),
        flaw: &block.miscompare,
        offset: block.offset,
        bytes: &block.bytes,
    };
    terminal::tell(&flawed.words());
    if clone.dumps && !block.bytes.is_empty() {
        let path = flawed.dump();
        output::write(Path::new(&path), &block.bytes, Over::Files)?;
        terminal::tell(&format!("       received data dumped as {path}"));
    }
    Ok(())
}

fn state(number: usize, clone: &CloneFacts, job: &Job, progress: &Progress, seed: u64) -> State {
    let recent = progress.recent.iter().zip(0..);
    State {
        thread: number as u64,
        name: clone.name.clone(),
        depth: job.depth,
        files: job.targets.len() as u32,
        writes: progress.writes,
        seed,
        recent: recent
            .flat_map(|(offsets, file)| offsets.iter().map(move |offset| (file, *offset)))
            .collect(),
    }
}
