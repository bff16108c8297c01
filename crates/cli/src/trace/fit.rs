//! `blocklab trace fit`: which volumes would have carried a recorded load.
//!
//! ```text
//!   first pass    limits of all addresses      ──▶ fits for certain, does not for certain, or may
//!   second pass   models of the addresses      ──▶ waits, who held operations back, from when to when
//!   more passes   models with more provisioned ──▶ the smallest provision that would carry it
//!
//!   one thread reads ──blocks of operations──▶ the others share the addresses
//! ```

mod load;
mod provision;
mod rates;
mod shown;

use anyhow::{Context, Result, anyhow, bail};
use blocklab_catalog::{Catalog, describe, resolve_text};
use blocklab_console::place;
use blocklab_device::DeviceSpec;
use blocklab_sizing::{Bound, Bounds, Gates, Outcome, Replay};
use blocklab_units::{Bytes, Nanos};
use serde::Serialize;

use crate::answer;
use blocklab_args::TraceFitArgs;
pub use load::Load;

/// Operations times models that are played in one pass without being asked twice.
const PLAYED_AT_ONCE: u64 = 200_000_000;

/// A volume that was asked about.
pub struct Candidate {
    pub address: String,
    pub spec: DeviceSpec,
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
    /// How long an operation waits at least, in closed form; `null` where volumes share the load.
    wait_least_ns: Option<u64>,
    /// How long it waits at most.
    wait_most_ns: Option<u64>,
    /// The limit that holds operations back longest by itself; `null` where none does.
    bound_by: Option<BoundBy>,
    /// What its model did; `null` where the closed form was enough.
    outcome: Option<Outcome>,
    capacity_bytes: u64,
    /// The smallest provision that would carry the load; `null` where it fits, or none was found.
    smallest: Option<Smallest>,
    /// Why there is none.
    none_because: Option<String>,
    assumptions: Vec<String>,
}

/// A limit that holds operations back.
#[derive(Debug, Clone, Serialize)]
struct BoundBy {
    limit: String,
    is_credit: bool,
    /// Since when more came than it let pass.
    from_ns: u64,
    /// When the operation came that waited longest.
    at_ns: u64,
    wait_ns: u64,
}

impl From<&Bound> for BoundBy {
    fn from(bound: &Bound) -> Self {
        Self {
            limit: bound.limit.clone(),
            is_credit: bound.is_credit,
            from_ns: bound.least.from.0,
            at_ns: bound.least.at.0,
            wait_ns: bound.least.wait.0,
        }
    }
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
    if let Some(table) = super::rates::table(&args.files, &args.read)? {
        return rates::fit(args, &table, candidates);
    }
    let load = Load {
        files: &args.files,
        read: &args.read,
    };
    let (mut fit, begins) = answered(args, &load, candidates, &catalog)?;
    fit.began_at = begins.and_then(super::opened::rfc_3339);
    answer::print(args.form, ("trace_fit_format", 1), &fit, || {
        shown::document(&fit, begins)
    })
}

pub fn candidate(address: &str, catalog: &Catalog) -> Result<Candidate> {
    let text = address.strip_prefix("sim:").unwrap_or(address);
    let resolved = resolve_text(text, catalog)
        .map_err(|error| anyhow!("cannot use this address:\n{error}"))?;
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
    let shared = load::shared(candidates.iter().map(|candidate| &candidate.spec));
    let gates = shared.iter().map(|specs| Gates::new(specs.iter().copied()));
    let read = load.given_to(gates.collect(), Gates::add)?;
    let (operations, end) = (read.operations, read.end);
    let name = load.name();
    if operations == 0 {
        bail!("{name}: no operations in it");
    }
    let bounds: Vec<Option<Bounds>> = candidates
        .iter()
        .map(|candidate| {
            let mut gates = read.takers.iter();
            gates.find_map(|gates| gates.bounds(&candidate.spec))
        })
        .collect();
    let play_all = operations * candidates.len() as u64 <= PLAYED_AT_ONCE;
    // In a long trace, only the devices are played whose bounds leave the answer open.
    let near = bounds.iter().map(|bounds| match bounds {
        Some(bounds) if !play_all => bounds.least <= tolerated && bounds.most > tolerated,
        _ => true,
    });
    let near: Vec<bool> = near.collect();
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
        remarks: read.remarks,
    };
    Ok((fit, read.begins))
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
    let replays = replays.collect::<Result<Vec<_>>>()?;
    let played = load.given_to(replays, Replay::add)?.takers;
    Ok(played.into_iter().map(Replay::end).collect())
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
        None if bounds.is_none_or(|bounds| bounds.most <= tolerated) => Verdict::Fits,
        None => Verdict::DoesNotFit,
    };
    Answer {
        address: candidate.address,
        verdict,
        usd_per_month: candidate.usd_per_month,
        currency: candidate.currency,
        wait_least_ns: bounds.map(|bounds| bounds.least.0),
        wait_most_ns: bounds.map(|bounds| bounds.most.0),
        bound_by: bounds
            .and_then(|bounds| bounds.limits.first())
            .filter(|bound| bound.least.wait > Nanos::ZERO)
            .map(BoundBy::from),
        outcome,
        capacity_bytes: Bytes(capacity).0,
        smallest: None,
        none_because: None,
        assumptions: candidate.assumptions,
    }
}
