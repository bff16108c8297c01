//! In: the runs of a multi-system study, and the offer of the catalog behind each system.
//! Out: its tables, charts and conclusions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use blocklab_catalog::{Catalog, Listed, Resolved, resolve_text};
use blocklab_compare::gate::Gate;
use blocklab_compare::study::{Outcome, SystemOutcome, outcome};
use blocklab_console::place::shell_word;
use blocklab_findings::{Assessment, assess};
use blocklab_record::{Origin, Record};
use blocklab_report::document::Document;
use blocklab_report::{json, views};
use blocklab_runner::Study;
use blocklab_store::Store;
use blocklab_workload::Address;
use blocklab_workload::publication::System;

use crate::{Conclusion, Wanted, conclude, gate};

/// The volume or instance of the catalog that a system's address names.
pub(crate) struct Offer {
    resolved: Resolved,
    /// What the vendor's lists say of its instance type; `None` when it has none or is not listed.
    listed: Option<Listed>,
}

/// Looks up the offer of each system and gives them by the system's name.
///
/// # Errors
/// When an address is malformed or names nothing in the catalog.
pub(crate) fn offers(systems: &[System], catalog: &Catalog) -> Result<BTreeMap<String, Offer>> {
    let mut all = BTreeMap::new();
    for system in systems {
        let wrong = |error: String| anyhow!("cannot model the system {}:\n{error}", system.name);
        let address = Address::parse(&system.address).map_err(|error| wrong(error.to_string()))?;
        let resolved = resolve_text(&system.address, catalog);
        let offer = Offer {
            resolved: resolved.map_err(|error| wrong(error.to_string()))?,
            listed: listed(&address, catalog),
        };
        all.insert(system.name.clone(), offer);
    }
    Ok(all)
}

fn listed(address: &Address, catalog: &Catalog) -> Option<Listed> {
    let Address::Sold(offer) = address else {
        return None;
    };
    catalog.listed(offer.instance.as_deref()?, offer.as_of)
}

/// Prints the result of a study, stores the runs that this command has measured, judges all of them
/// and gives the exit code. `earlier` are stored runs that are used instead of measuring a system again;
/// each run has the name of its system.
pub(crate) fn conclude_study(
    study: &Study,
    wanted: &Wanted,
    earlier: &[(String, Record)],
    mut measured: Vec<(String, Record)>,
    offers: &BTreeMap<String, Offer>,
    store: &Store,
) -> Result<u8> {
    // The ids must be final before they are printed.
    if wanted.is_kept {
        for (_, record) in &mut measured {
            store.settle(record);
        }
    }
    // The gate and the tables borrow the records, and storing changes them: it gets copies.
    let mut fresh: Vec<Record> = measured.iter().map(|(_, record)| record.clone()).collect();
    let all: Vec<&(String, Record)> = earlier.iter().chain(&measured).collect();
    let assessed: Vec<Assessment> = all.iter().map(|(_, record)| assess(record)).collect();
    let systems = study.publication.systems.iter().map(|system| {
        let place = all.iter().position(|(name, _)| *name == system.name);
        let offer = offers.get(&system.name);
        SystemOutcome {
            system,
            run: place.map(|place| (&all[place].1, &assessed[place])),
            bought: offer.map(|offer| &offer.resolved),
            listed: offer.and_then(|offer| offer.listed.as_ref()),
        }
    });
    let systems: Vec<SystemOutcome<'_>> = systems.collect();
    let in_order: Vec<_> = systems.iter().filter_map(|system| system.run).collect();
    let mut end = StudyEnd {
        gate: gate::of_runs(&wanted.conditions, &in_order),
        outcome: outcome(&study.publication, &systems),
        fresh: &mut fresh,
        runs: in_order,
        study,
        store,
    };
    conclude(&mut end, wanted, store)
}

/// The result of a multi-system study.
struct StudyEnd<'a> {
    study: &'a Study,
    outcome: Outcome,
    /// The runs of all systems, in the order in which the study lists the systems.
    runs: Vec<(&'a Record, &'a Assessment)>,
    /// Copies of those that this command has measured, which are to be stored.
    fresh: &'a mut [Record],
    gate: Option<Gate>,
    store: &'a Store,
}

impl Conclusion for StudyEnd<'_> {
    fn page(&self) -> String {
        blocklab_page::study(&self.runs, &self.outcome)
    }

    fn document(&self, store: Option<&str>) -> Document {
        let plan = &self.study.plan;
        let (name, about) = (&plan.name, &plan.description);
        views::study(name, about, &self.outcome, &self.runs, store)
    }

    fn json(&self) -> (&'static str, String) {
        let plan = &self.study.plan;
        let gate = self.gate.as_ref();
        let result = json::study(&plan.name, &plan.description, &self.outcome, gate);
        ("study", result)
    }

    fn runs(&mut self) -> Vec<&mut Record> {
        self.fresh.iter_mut().collect()
    }

    /// Next to the first run that was not simulated, else next to the first.
    fn usual_page(&self, kept: Option<&Path>, is_well: bool) -> Option<PathBuf> {
        // The runs are in a replacement store, and the page belongs there with them.
        if let Some(other) = kept.filter(|_| !is_well) {
            return Some(Store::study_page(other));
        }
        let mut runs = self.runs.iter().map(|(record, _)| record);
        let real = runs
            .clone()
            .find(|record| record.origin != Origin::Simulated);
        // With `--no-save`, the folder is there only if the run was stored by an earlier command.
        let folder = self.store.root().join(&real.or(runs.next())?.id);
        folder.is_dir().then(|| Store::study_page(&folder))
    }

    fn again(&self) -> (String, String) {
        let runs = self.runs.iter();
        let with: String = runs.map(|(run, _)| format!(" --with {}", run.id)).collect();
        let study = shell_word(&self.study.name);
        let again = format!("blocklab run {study}{with}");
        (again.clone(), again)
    }

    fn gate(&self) -> Option<&Gate> {
        self.gate.as_ref()
    }

    fn judged(&self) -> Vec<&Record> {
        self.runs.iter().map(|(record, _)| *record).collect()
    }
}
