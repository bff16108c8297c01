//! The keys of each storage whose data is compared by them.

use std::collections::BTreeMap;
use std::sync::Arc;

use blocklab_verify::KeyMap;
use blocklab_workload::{Job, Validation};

use super::{Tap, TargetFile};

/// By the name of the storage.
pub(crate) struct RunKeys(BTreeMap<String, Arc<KeyMap>>);

impl RunKeys {
    /// Those that the tap has kept from earlier runs; of other storage nothing is known.
    pub(crate) fn of(jobs: &[Job], targets: &[Vec<TargetFile>], tap: &dyn Tap) -> Self {
        let mut keys = BTreeMap::new();
        for (job, files) in jobs.iter().zip(targets) {
            if let Some(Validation { keys: plan, .. }) = job.validation() {
                keys.entry(plan.name.clone()).or_insert_with(|| {
                    let size = files.first().map_or(0, |file| file.size);
                    let new = || Arc::new(KeyMap::new(plan, size, Arc::default()));
                    tap.keys(&plan.name).unwrap_or_else(new)
                });
            }
        }
        Self(keys)
    }

    /// Those of a job, where its data is compared by keys.
    pub(crate) fn of_job(&self, job: &Job) -> Option<Arc<KeyMap>> {
        self.0.get(&job.validation()?.keys.name).map(Arc::clone)
    }
}
