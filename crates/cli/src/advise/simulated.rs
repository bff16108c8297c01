//! In: a finalist and a need. Out: whether simulated runs of the need on it meet the need, with burst
//! buckets full and empty.
//!
//! Under a steady load, a bucket goes through the states between full and empty, and a fuller one never
//! gives less. So the two ends are enough. They run like `blocklab run --target sim:`, and are judged
//! like `--fail-on`.

use anyhow::Result;
use blocklab_advice::{Finalist, LARGE, Need, Simulated, Start, Verdict};
use blocklab_compare::gate::{
    Answer, Bound, Condition, Evidence, Figure, LoadCondition, Loads, answer,
};
use blocklab_findings::assess;
use blocklab_record::{PERCENTILES, Record, Status};
use blocklab_runner::{Finished, Prepared, Request, Setting, Study};
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{BlockSizes, Case, Job, Mix, Pace, Pattern, Plan, Rate};

/// Passes of each load; the gate judges by their spread.
const PASSES: u32 = 3;

/// Operations of a load in all passes: they give a 99th percentile to a per cent or two.
const OPERATIONS: f64 = 150_000.0;

/// Limits of the length of a pass in seconds.
const SHORTEST: f64 = 1.0;
const LONGEST: f64 = 200.0;

/// Share of the needed rate that a pass must deliver. It is below 1 because a pass ends with its slowest
/// operation; finalists have limits of at least the whole rate.
const DELIVERED: f64 = 0.99;

/// The prefix of the names of cases with random operations.
const RANDOM: &str = "random";

/// Simulates a finalist; `None`: a signal interrupted it.
///
/// # Errors
/// Not for a device that cannot be simulated: its result tells why.
pub fn simulated(
    finalist: &Finalist,
    need: &Need,
    setting: Setting<'_>,
) -> Result<Option<Vec<Simulated>>> {
    let plan = plan(need);
    if plan.cases.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let mut all = Vec::new();
    for start in finalist.starts(need) {
        match simulate_on(&finalist.address_at(*start), *start, need, &plan, setting)? {
            Some(simulated) => all.push(simulated),
            None => return Ok(None),
        }
    }
    Ok(Some(all))
}

/// Simulates the plan on one address; `None`: a signal interrupted it.
fn simulate_on(
    address: &str,
    start: Start,
    need: &Need,
    plan: &Plan,
    setting: Setting<'_>,
) -> Result<Option<Simulated>> {
    let target = format!("sim:{address}");
    let request = Request {
        id: Some("advice".to_owned()),
        ..Request::once(Study::of_plan(plan.clone()), vec![target])
    };
    let bare = Simulated {
        address: address.to_owned(),
        start,
        verdict: Verdict::NotSimulated,
        why: Vec::new(),
        p99_ns: None,
        simulated_ns: 0,
        operations: 0,
    };
    // A simulation takes seconds, so that only its name is shown.
    let finished = Prepared::new(&request, setting).and_then(|prepared| prepared.run(&mut ()));
    Ok(match finished {
        Ok(Finished::Run(record)) if record.status != Status::Interrupted => {
            Some(judged(&record, need, bare))
        }
        Ok(_) => None,
        Err(error) => Some(Simulated {
            why: vec![error.to_string()],
            ..bare
        }),
    })
}

/// Whether a Record meets the need.
fn judged(record: &Record, need: &Need, bare: Simulated) -> Simulated {
    let cases: Vec<&str> = plan_cases(record);
    let conditions: Vec<LoadCondition> = cases
        .iter()
        .flat_map(|case| conditions(case, need))
        .collect();
    let gate = answer(
        &conditions,
        Evidence {
            runs: &[(record, &[])],
            ..Evidence::default()
        },
    );
    let checks = gate.iter().flat_map(|gate| &gate.checks);
    let all = checks.flat_map(|check| &check.judged);
    let failed = all.filter(|judged| judged.answer != Answer::Pass);
    let why: Vec<String> = failed
        .map(|judged| format!("{}: {}", judged.subject, judged.why))
        .collect();
    let rows = assess(record).rows;
    let random = rows.iter().filter(|row| row.case.starts_with(RANDOM));
    let directions = random.flat_map(|row| &row.directions);
    let p99 = directions.map(|direction| {
        let response = direction.response_ns.as_ref();
        let percentiles = response.map_or(&direction.service_ns, |response| &response.percentiles);
        percentiles.at("p99") as f64
    });
    let jobs = record.jobs();
    Simulated {
        verdict: if why.is_empty() {
            Verdict::Carries
        } else {
            Verdict::Fails
        },
        why,
        p99_ns: p99.reduce(f64::max),
        simulated_ns: jobs.clone().map(|job| job.elapsed_ns).sum(),
        operations: jobs.map(|job| job.accounting.completed).sum(),
        ..bare
    }
}

/// The names of the cases, each once: the passes of a case follow each other.
fn plan_cases(record: &Record) -> Vec<&str> {
    let mut cases: Vec<&str> = record
        .measurements
        .iter()
        .map(|one| one.case.as_str())
        .collect();
    cases.dedup();
    cases
}

/// The conditions under which a load fails: a figure above or below a bound.
fn conditions(case: &str, need: &Need) -> Vec<LoadCondition> {
    let mut bounds = Vec::new();
    if case.starts_with(RANDOM) {
        bounds.push(below(Figure::Iops, need.iops * DELIVERED));
        let known = PERCENTILES.iter().find(|known| known.title == "p99");
        if let (Some(p99), Some(known)) = (need.p99, known) {
            bounds.push(Bound {
                figure: Figure::Percentile(known),
                is_above: true,
                value: p99.0 as f64,
            });
        }
    } else {
        bounds.push(below(Figure::MbPerS, need.bytes_per_s / 1e6 * DELIVERED));
    }
    let conditions = bounds.into_iter().map(|bound| LoadCondition {
        condition: Condition::Beyond(bound),
        loads: Loads {
            case: Some(case.to_owned()),
            ..Loads::default()
        },
    });
    conditions.collect()
}

/// The bound that a figure breaks if it is less than this.
const fn below(figure: Figure, value: f64) -> Bound {
    Bound {
        figure,
        is_above: false,
        value,
    }
}

/// The loads of a need at its rates, evenly paced, whatever the device does.
fn plan(need: &Need) -> Plan {
    let mut cases = Vec::new();
    if need.iops > 0.0 {
        for load in need.random() {
            let name = format!("{RANDOM}-{}", load.read_percent);
            let pace = Pace::OpenFixed(Rate::Iops(need.iops));
            let job = job(&name, load.read_percent, need.block, need.iops);
            cases.push(case(name, Job { pace, ..job }));
        }
    }
    if need.bytes_per_s > 0.0 {
        for load in need.streams() {
            let name = format!("large-{}", load.read_percent);
            let per_second = need.bytes_per_s / LARGE.as_f64();
            let job = job(&name, load.read_percent, LARGE, per_second);
            let job = Job {
                pace: Pace::OpenFixed(Rate::Bytes(need.bytes_per_s)),
                pattern: Pattern::Sequential,
                ..job
            };
            cases.push(case(name, job));
        }
    }
    Plan {
        passes: PASSES,
        ..Plan::once("advice", "", cases)
    }
}

/// Depth of a load, high enough that its pace never waits for a completion.
const IN_FLIGHT: u32 = 1024;

/// A job of random operations that is long enough for its percentiles. `per_second`: its rate in
/// operations.
fn job(name: &str, read_percent: u8, block: Bytes, per_second: f64) -> Job {
    let seconds = OPERATIONS / f64::from(PASSES) / per_second;
    let mut job = Job::new(name);
    job.mix = Mix::reads(read_percent);
    job.sizes = BlockSizes::fixed(block);
    job.depth = IN_FLIGHT;
    job.stop.runtime = Some(Nanos::from_secs_f64(seconds.clamp(SHORTEST, LONGEST)));
    job
}

fn case(name: String, job: Job) -> Case {
    Case::new(name, 1, vec![job])
}
