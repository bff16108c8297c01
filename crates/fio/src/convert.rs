//! Jobs of fio in the languages of others: what they have in common.

use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{Job, Pace, Rate, Think};

use super::plan::Prepared;
use blocklab_syntax::{Mistake, Place};

/// What runs between two stonewalls: clones of one job.
pub(super) struct Stretch<'a> {
    /// The first clone.
    pub job: &'a Job,
    /// How many there are.
    pub clones: usize,
    /// What they work on, each once.
    pub targets: Vec<String>,
}

/// Says every stretch in the language of `tool`.
///
/// # Errors
/// What that language cannot say, and of which job.
pub(super) fn each(
    prepared: &Prepared,
    tool: &str,
    mut say: impl FnMut(&Stretch<'_>) -> Result<String, String>,
) -> Result<String, Mistake> {
    let mut text = String::new();
    for (index, case) in prepared.plan.cases.iter().enumerate() {
        let clones: Vec<_> = prepared.clones_of(index).collect();
        let (Some(first), Some(job)) = (clones.first(), case.workload.jobs.first()) else {
            continue;
        };
        let refuse = |why: &str| {
            let message = format!("job {}: {tool} cannot say it: {why}", first.name);
            Mistake::here(&Place::COMMAND_LINE, message)
        };
        if clones.iter().any(|clone| clone.spec != first.spec) {
            let why = "jobs that differ run at the same time; `stonewall` would part them";
            return Err(refuse(why));
        }
        let mut targets: Vec<String> = Vec::new();
        for path in case.workload.jobs.iter().flat_map(|job| &job.targets) {
            if !targets.contains(path) {
                targets.push(path.clone());
            }
        }
        let stretch = Stretch {
            job,
            clones: clones.len(),
            targets,
        };
        text.push_str(&say(&stretch).map_err(|why| refuse(&why))?);
        text.push('\n');
    }
    Ok(text)
}

impl Stretch<'_> {
    /// How long it is measured, in whole seconds: others know no parts of them.
    pub fn seconds(&self) -> Result<u64, String> {
        let runtime = self.job.stop.runtime;
        let runtime = runtime.ok_or("it ends by bytes; runtime= would end it by time")?;
        Ok(whole_seconds(runtime).max(1))
    }

    /// Clones a target: with a file each they are threads of each file, with one they share it.
    pub fn clones_a_target(&self) -> usize {
        let targets = self.targets.len().clamp(1, self.clones.max(1));
        (self.clones / targets).max(1)
    }

    /// Operations a second of one clone, and whether they arrive at random; nothing at full speed.
    pub fn iops(&self, block: Bytes) -> Result<Option<(f64, bool)>, String> {
        if matches!(self.job.think, Some(Think { pause, .. }) if pause > Nanos::ZERO) {
            return Err("its pauses; a rate would slow it down".to_owned());
        }
        let (rates, poisson) = match self.job.pace {
            Pace::Closed => return Ok(None),
            Pace::ByDirection { rates, poisson } => (rates, poisson),
            _ => return Err("its pace".to_owned()),
        };
        let iops = rates.into_iter().flatten().map(|rate| match rate {
            Rate::Iops(iops) => iops,
            Rate::Bytes(bytes) => bytes / block.as_f64(),
        });
        Ok(Some((iops.sum(), poisson)))
    }

    /// What neither of them knows.
    pub fn refuse_rarities(&self) -> Result<(), String> {
        let job = self.job;
        let rare = [
            (job.mix.trim > 0 || job.trim_first, "it trims"),
            (
                job.runs.is_some() || job.window.is_some(),
                "its runs or its zones",
            ),
            (job.verify.is_some(), "its checks of what was written"),
            (job.fill.is_some(), "its pattern of bytes"),
            (job.replay.is_some(), "its trace"),
            (
                job.open_targets.is_some(),
                "that only so many of its files are open at a time",
            ),
            (job.sized_ramp.is_some(), "its ramp by bytes"),
            (
                !job.priority_shares.is_empty(),
                "priorities of single operations",
            ),
        ];
        match rare.iter().find(|(is_so, _)| *is_so) {
            Some((_, why)) => Err((*why).to_owned()),
            None => Ok(()),
        }
    }
}

/// Rounded up.
pub(super) const fn whole_seconds(time: Nanos) -> u64 {
    time.0.div_ceil(1_000_000_000)
}

/// In the largest unit that expresses it exactly: `4K`, `1G`, `1000`.
pub(super) fn bytes(bytes: Bytes) -> String {
    for (unit, shift) in [("G", 30), ("M", 20), ("K", 10)] {
        if bytes.0 >= 1 << shift && bytes.0.is_multiple_of(1 << shift) {
            return format!("{}{unit}", bytes.0 >> shift);
        }
    }
    bytes.0.to_string()
}
