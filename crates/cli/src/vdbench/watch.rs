//! Data validation: the keys of all storage, kept through all runs.

use std::sync::Arc;

use anyhow::Result;
use blocklab_dialect::vdbench::{Prepared, Script, Sd, Terms, Validation, Watched, key_plans};
use blocklab_record::{Record, Status};
use blocklab_workload::{KeyMap, KeyPlan, Wrongs};

use super::about;

/// What the command line and the parameter files ask for together.
pub fn asked(of_command: Validation, script: &Script) -> Validation {
    let mut validation = of_command;
    if let Some(words) = &script.general.validate {
        validation.of_words(words);
    }
    if let Some(words) = &script.general.journal {
        validation.of_j(words);
    }
    validation
}

/// The keys of every storage definition; none where nothing is validated.
pub fn watch(script: &Script, prepared: &Prepared, terms: &Terms) -> Result<Vec<Option<Watched>>> {
    if !terms.validation.validate {
        return Ok(script.sds.iter().map(|_| None).collect());
    }
    if terms.validation.journal {
        anyhow::bail!("journals (-j, journal=) are not kept here yet; -v validates without one");
    }
    let wrongs = Arc::new(Wrongs::default());
    let plans = key_plans(prepared, script, terms)?;
    let sizes = terms.sizes.iter().zip(&script.sds);
    let pairs = plans.into_iter().zip(sizes);
    pairs
        .map(|(plan, (size, sd))| {
            plan.map(|plan| watch_one(sd, &plan, *size, &wrongs))
                .transpose()
        })
        .collect()
}

fn watch_one(sd: &Sd, plan: &KeyPlan, size: u64, wrongs: &Arc<Wrongs>) -> Result<Watched> {
    if sd.lun.starts_with("sim:") || sd.lun.starts_with("emu:") {
        return Err(about(
            sd,
            format!(
                "{} is a model and keeps no data, so none can be validated; a file or a device \
                 would work",
                sd.lun
            ),
        ));
    }
    Ok(Watched {
        keys: Arc::new(KeyMap::new(plan, size, Arc::clone(wrongs))),
        journal: None,
    })
}

/// A run with wrong blocks has failed, even where it went on to its end.
pub fn judge(record: &mut Record, watched: &[Option<Watched>]) {
    let mut keys = watched.iter().flatten().map(|watched| &watched.keys);
    let wrong = keys.next().map_or(0, |keys| keys.wrongs());
    if wrong > 0 {
        record.failure = Some(format!("data validation: {wrong} blocks came back wrong"));
        if record.status == Status::Complete {
            record.status = Status::Failed;
        }
    }
}
