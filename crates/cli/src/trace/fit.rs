//! `blocklab trace fit`: which volumes would have carried a recorded load.
//!
//! ```text
//!   first pass    limits of all volumes        ──▶ fits for certain, does not for certain, or may
//!   second pass   models of the volumes        ──▶ waits, the limits that caused them, from when to when
//!   more passes   models with more provisioned ──▶ the smallest provision that would carry it
//!
//!   one thread reads ──blocks of operations──▶ the others share the volumes
//! ```

mod load;
mod provision;
mod rates;
mod shown;

use anyhow::{Context, Result, bail};
use blocklab_catalog::{Catalog, describe, resolve_text};
use blocklab_console::place;
use blocklab_device::DeviceSpec;
use blocklab_report::fields;
use blocklab_sizing::{Bound, Bounds, Gates, Outcome, Replay};
use blocklab_units::Nanos;
use serde::Serialize;

use crate::answer;
use crate::catalog::{is_volume, unusable};
use blocklab_args::TraceFitArgs;
pub use load::Load;

/// Up to this product of operations and volumes, all volumes are simulated; above it, only those whose
/// bounds leave the answer open.
pub const FEW_SIMULATED: u64 = 200_000_000;

/// A volume of `--on`.
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
    /// From a moment on, operations wait too long, most of that for burst credits that are spent.
    FitsUntil,
    /// Some operations wait too long.
    DoesNotFit,
    /// Some operations lie beyond the end of the volume.
    TooSmall,
}

/// The answer about a volume.
#[derive(Debug, Clone, Serialize)]
struct Answer {
    address: String,
    verdict: Verdict,
    usd_per_month: Option<f64>,
    currency: &'static str,
    /// Lower bound of the longest wait, computed from the limits without a simulation; `null` for
    /// several volumes that share the load.
    wait_least_ns: Option<u64>,
    /// Upper bound of the longest wait.
    wait_most_ns: Option<u64>,
    /// The limit that holds operations back longest by itself; `null` where none does.
    bound_by: Option<BoundBy>,
    /// What the simulation shows; `null` where the bounds were enough.
    outcome: Option<Outcome>,
    capacity_bytes: u64,
    /// The smallest provision that would carry the load; `null` where it fits, or none was found.
    smallest: Option<Smallest>,
    /// Why no provision was found; `null` where none was searched for.
    none_because: Option<String>,
    assumptions: Vec<String>,
}

/// A limit that holds operations back.
#[derive(Debug, Clone, Serialize)]
struct BoundBy {
    limit: String,
    is_credit: bool,
    /// Since when more arrived than the limit let pass.
    from_ns: u64,
    /// When the operation arrived that waited longest.
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

/// What a volume must carry.
#[derive(Debug, Clone, Copy)]
struct Demand {
    operations: u64,
    /// End of the last byte of any operation.
    end_bytes: u64,
    /// The longest time that an operation may wait.
    tolerated: Nanos,
}

/// Judges every volume of `--on`, and prints the verdicts.
pub fn fit(args: &TraceFitArgs) -> Result<()> {
    if args.files.iter().any(|file| file.as_os_str() == "-") {
        bail!(
            "a trace is read several times here, and standard input only once: write it to a file \
             first (`blocklab trace import - -o night.trace`)"
        );
    }
    let catalog = place::load_catalog()?;
    for file in args.files.iter().filter(|file| !file.exists()) {
        let text = file.display().to_string();
        if is_volume(&text) {
            bail!("{text} is a volume and not a file: each volume has an --on of its own");
        }
    }
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
    let (fit, begins) = judge_all(args, &load, candidates, &catalog)?;
    let fields = fields! {
        trace_fit_format: 1,
        #[serde(flatten)]
        fit: &fit,
    };
    answer::print(args.form, &fields, || shown::document(&fit, begins))
}

/// Looks an address up in the catalog: the model of the volume, and its price if one is known.
pub fn candidate(address: &str, catalog: &Catalog) -> Result<Candidate> {
    let text = address.strip_prefix("sim:").unwrap_or(address);
    let mut resolved = resolve_text(text, catalog).map_err(unusable)?;
    // An operation that fails would count as a quick one, and no limit holds back one that stalls.
    if !std::mem::take(&mut resolved.spec.faults).is_empty() {
        let left_out = format!("{text}: its faults are left out");
        resolved.assumptions.push(left_out);
    }
    let sheet = describe(text, catalog).ok();
    Ok(Candidate {
        address: text.to_owned(),
        usd_per_month: sheet.as_ref().and_then(|sheet| sheet.usd_per_month),
        currency: sheet.map_or("USD", |sheet| sheet.currency),
        assumptions: resolved.assumptions,
        spec: resolved.spec,
    })
}

/// Judges all candidates. Returns the answers, and when the recording began, in ns since 1970.
fn judge_all(
    args: &TraceFitArgs,
    load: &Load<'_>,
    candidates: Vec<Candidate>,
    catalog: &Catalog,
) -> Result<(Fit, Option<u64>)> {
    let tolerated = args.max_wait;
    // One `Gates` for each thread: within it, volumes with the same limit share the computation.
    let parts = load::in_parts(candidates.iter().map(|candidate| &candidate.spec));
    let gates = parts.iter().map(|specs| Gates::new(specs.iter().copied()));
    let read = load.feed(gates.collect(), Gates::add)?;
    let demand = Demand {
        operations: read.operations,
        end_bytes: read.end,
        tolerated,
    };
    let bounds: Vec<Option<Bounds>> = candidates
        .iter()
        .map(|candidate| {
            let mut gates = read.consumers.iter();
            gates.find_map(|gates| gates.bounds(&candidate.spec))
        })
        .collect();
    let simulate_all = demand.operations * candidates.len() as u64 <= FEW_SIMULATED;
    // Several volumes that share the load, and one behind a cache, have no bounds: they are simulated.
    let is_open = bounds.iter().map(|bounds| match bounds {
        Some(bounds) if !simulate_all => bounds.least <= tolerated && bounds.most > tolerated,
        _ => true,
    });
    let is_open: Vec<bool> = is_open.collect();
    let simulated = candidates.iter().zip(&is_open).filter(|(_, open)| **open);
    let specs: Vec<&DeviceSpec> = simulated.map(|(candidate, _)| &candidate.spec).collect();
    let mut outcomes = simulate(load, &specs, tolerated)?.into_iter();
    let mut answers = Vec::new();
    for ((candidate, bounds), is_open) in candidates.into_iter().zip(bounds).zip(is_open) {
        // There is one outcome for each open candidate, in their order.
        let outcome = if is_open { outcomes.next() } else { None };
        let answer = judge(candidate, bounds.as_ref(), outcome, demand);
        answers.push(match (answer.verdict, args.no_search) {
            (Verdict::Fits, _) | (_, true) => answer,
            _ => provision::searched(answer, load, demand, catalog)?,
        });
    }
    let fit = Fit {
        name: load.name(),
        began_at: read.begins.and_then(super::opened::rfc_3339),
        operations: demand.operations,
        end_bytes: demand.end_bytes,
        tolerated_wait_ns: tolerated.0,
        answers,
        remarks: read.remarks,
    };
    Ok((fit, read.begins))
}

/// Simulates the load on each device, all of them in one pass over the files.
pub fn simulate(load: &Load<'_>, specs: &[&DeviceSpec], tolerated: Nanos) -> Result<Vec<Outcome>> {
    if specs.is_empty() {
        return Ok(Vec::new());
    }
    let replays = specs.iter().map(|spec| {
        let replay = Replay::new(spec, tolerated);
        replay.with_context(|| format!("cannot simulate {}", spec.name))
    });
    let replays = replays.collect::<Result<Vec<_>>>()?;
    let replays = load.feed(replays, Replay::add)?.consumers;
    Ok(replays.into_iter().map(Replay::end).collect())
}

/// Times of a trace are shown in whole seconds.
const SECOND: u64 = 1_000_000_000;

/// The answer about a volume. `bounds`: of its longest wait, `None` where there are none; `outcome`: of
/// its simulation, `None` where the bounds were enough.
fn judge(
    candidate: Candidate,
    bounds: Option<&Bounds>,
    outcome: Option<Outcome>,
    demand: Demand,
) -> Answer {
    let capacity = candidate.spec.capacity();
    let tolerated = demand.tolerated;
    let verdict = match &outcome {
        _ if demand.end_bytes > capacity.0 => Verdict::TooSmall,
        Some(outcome) if outcome.wait_max_ns <= tolerated.0 => Verdict::Fits,
        // `held` begins with the limit for which all operations together waited longest. Where credits were
        // spent from the beginning, there is no time until which it fits.
        Some(outcome)
            if outcome.held.first().is_some_and(|held| held.is_credit)
                && outcome.first_late_ns.is_some_and(|first| first >= SECOND) =>
        {
            Verdict::FitsUntil
        }
        Some(_) => Verdict::DoesNotFit,
        // Not simulated: one of the bounds decides. A volume without bounds is always simulated.
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
        capacity_bytes: capacity.0,
        smallest: None,
        none_because: None,
        assumptions: candidate.assumptions,
    }
}
