//! `blocklab trace fit`: which volumes would have carried a recorded load.
//!
//! ```text
//!   first pass    envelopes of all addresses   ──▶ fits for certain, or may not
//!   second pass   models of the addresses      ──▶ waits, who held operations back, from when to when
//!   more passes   models with more provisioned ──▶ the smallest provision that would carry it
//! ```

mod provision;
mod shown;

use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, bail};
use blocklab_catalog::{Catalog, describe, resolve_text};
use blocklab_console::place;
use blocklab_device::DeviceSpec;
use blocklab_sizing::{Bounds, Envelopes, Outcome, Replay};
use blocklab_trace::{Operation, Source};
use blocklab_units::{Bytes, Nanos};
use serde::Serialize;

use super::opened;
use crate::answer;
use crate::args::{TraceFitArgs, TraceInput};

/// Operations times models that are played in one pass without being asked twice.
const PLAYED_AT_ONCE: u64 = 200_000_000;

/// A load that can be read again and again.
pub struct Load<'a> {
    pub files: &'a [PathBuf],
    pub read: &'a TraceInput,
}

impl Load<'_> {
    /// The names of its files.
    pub fn name(&self) -> String {
        let names = self.files.iter().map(|file| file.display().to_string());
        names.collect::<Vec<_>>().join(", ")
    }

    /// Gives every operation. What the reader knows at the end: the beginning, and its remarks.
    pub fn each(&self, mut take: impl FnMut(&Operation)) -> Result<(Option<u64>, Vec<String>)> {
        let mut opened = opened::open(self.files, self.read, true)?;
        while let Some(operation) = opened.source.next().map_err(|error| opened.named(error))? {
            take(&operation);
        }
        Ok((opened.source.begins(), opened.source.remarks()))
    }
}

/// A volume that was asked about.
struct Candidate {
    address: String,
    spec: DeviceSpec,
    usd_per_month: Option<f64>,
    currency: &'static str,
    assumptions: Vec<String>,
}

/// Whether a volume would have carried the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    /// No operation waits too long.
    Fits,
    /// Until its credits are spent.
    FitsUntil,
    /// Some operations wait too long.
    DoesNotFit,
    /// The load reaches beyond its end.
    TooSmall,
}

/// The answer about a volume.
#[derive(Debug, Clone, Serialize)]
struct Answer {
    address: String,
    verdict: Verdict,
    usd_per_month: Option<f64>,
    currency: &'static str,
    /// What an operation waits at most, in closed form; `null` where volumes share the load.
    wait_bound_ns: Option<u64>,
    /// What its model did; `null` where the closed form was enough.
    outcome: Option<Outcome>,
    capacity_bytes: u64,
    /// The smallest provision that would carry the load; `null` where it fits, or none was found.
    smallest: Option<Smallest>,
    /// Why there is none.
    none_because: Option<String>,
    assumptions: Vec<String>,
}

/// A volume with enough provisioned.
#[derive(Debug, Clone, Serialize)]
struct Smallest {
    address: String,
    usd_per_month: Option<f64>,
    currency: &'static str,
    wait_max_ns: u64,
}

#[derive(Serialize)]
struct Fit {
    name: String,
    began_at: Option<String>,
    operations: u64,
    end_bytes: u64,
    tolerated_wait_ns: u64,
    answers: Vec<Answer>,
    remarks: Vec<String>,
}

/// Answers for every address, and prints the answers.
pub fn fit(args: &TraceFitArgs) -> Result<()> {
    if args.files.iter().any(|file| file.as_os_str() == "-") {
        bail!(
            "a trace is read several times here, and standard input only once: write it to a file \
             first (`blocklab trace import - -o night.trace`)"
        );
    }
    let catalog = place::load_catalog()?;
    let mut candidates = Vec::new();
    for address in &args.on {
        candidates.push(candidate(address, &catalog)?);
    }
    let load = Load {
        files: &args.files,
        read: &args.read,
    };
    let (mut fit, begins) = answered(args, &load, candidates, &catalog)?;
    fit.began_at = begins.and_then(super::show::rfc_3339);
    answer::print(args.form, ("trace_fit_format", 1), &fit, || {
        shown::document(&fit, begins)
    })
}

fn candidate(address: &str, catalog: &Catalog) -> Result<Candidate> {
    let text = address.strip_prefix("sim:").unwrap_or(address);
    let resolved = resolve_text(text, catalog);
    let resolved = resolved.map_err(|error| anyhow!("cannot use this address:\n{error}"))?;
    let sheet = describe(text, catalog).ok();
    Ok(Candidate {
        address: text.to_owned(),
        usd_per_month: sheet.as_ref().and_then(|sheet| sheet.usd_per_month),
        currency: sheet.map_or("USD", |sheet| sheet.currency),
        assumptions: resolved.assumptions,
        spec: resolved.spec,
    })
}

fn answered(
    args: &TraceFitArgs,
    load: &Load<'_>,
    candidates: Vec<Candidate>,
    catalog: &Catalog,
) -> Result<(Fit, Option<u64>)> {
    let tolerated = args.max_wait;
    let mut envelopes = Envelopes::new(candidates.iter().map(|candidate| &candidate.spec));
    let (mut operations, mut end) = (0_u64, 0_u64);
    let (begins, remarks) = load.each(|operation| {
        operations += 1;
        end = end.max(operation.end());
        envelopes.add(operation);
    })?;
    let name = load.name();
    if operations == 0 {
        bail!("{name}: no operations in it");
    }
    let envelopes = envelopes.closed();
    let bounds: Vec<Option<Bounds>> = candidates
        .iter()
        .map(|candidate| envelopes.bounds(&candidate.spec))
        .collect();
    let play_all = operations * candidates.len() as u64 <= PLAYED_AT_ONCE;
    let is_near = |bounds: &Option<Bounds>| {
        play_all || bounds.as_ref().is_none_or(|bounds| bounds.wait > tolerated)
    };
    let near: Vec<bool> = bounds.iter().map(is_near).collect();
    let played = candidates.iter().zip(&near).filter(|(_, near)| **near);
    let specs: Vec<&DeviceSpec> = played.map(|(candidate, _)| &candidate.spec).collect();
    let mut outcomes = played_on(load, &specs, tolerated)?.into_iter();
    let mut answers = Vec::new();
    for ((candidate, bounds), near) in candidates.into_iter().zip(bounds).zip(near) {
        let outcome = if near { outcomes.next() } else { None };
        let answer = judged(candidate, bounds.as_ref(), outcome, (end, tolerated));
        answers.push(match (answer.verdict, args.no_search) {
            (Verdict::Fits, _) | (_, true) => answer,
            _ => provision::searched(answer, load, (end, operations, tolerated), catalog)?,
        });
    }
    let fit = Fit {
        name,
        began_at: None,
        operations,
        end_bytes: end,
        tolerated_wait_ns: tolerated.0,
        answers,
        remarks,
    };
    Ok((fit, begins))
}

/// What becomes of the load on each device, all in one pass.
pub fn played_on(load: &Load<'_>, specs: &[&DeviceSpec], tolerated: Nanos) -> Result<Vec<Outcome>> {
    if specs.is_empty() {
        return Ok(Vec::new());
    }
    let replays = specs.iter().map(|spec| {
        let replay = Replay::new(spec, tolerated);
        replay.with_context(|| format!("cannot simulate {}", spec.name))
    });
    let mut replays = replays.collect::<Result<Vec<_>>>()?;
    load.each(|operation| replays.iter_mut().for_each(|replay| replay.add(operation)))?;
    Ok(replays.into_iter().map(Replay::end).collect())
}

fn judged(
    candidate: Candidate,
    bounds: Option<&Bounds>,
    outcome: Option<Outcome>,
    (end, tolerated): (u64, Nanos),
) -> Answer {
    let capacity: u64 = candidate
        .spec
        .volumes
        .iter()
        .map(|volume| volume.capacity.0)
        .sum();
    let verdict = match &outcome {
        _ if end > capacity => Verdict::TooSmall,
        Some(outcome) if outcome.wait_max_ns <= tolerated.0 => Verdict::Fits,
        Some(outcome) if outcome.held.first().is_some_and(|held| held.is_credit) => {
            Verdict::FitsUntil
        }
        Some(_) => Verdict::DoesNotFit,
        None => Verdict::Fits,
    };
    Answer {
        address: candidate.address,
        verdict,
        usd_per_month: candidate.usd_per_month,
        currency: candidate.currency,
        wait_bound_ns: bounds.map(|bounds| bounds.wait.0),
        outcome,
        capacity_bytes: Bytes(capacity).0,
        smallest: None,
        none_because: None,
        assumptions: candidate.assumptions,
    }
}
