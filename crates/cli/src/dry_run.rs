//! `blocklab run --dry-run`: what a run would write, how long it would take, and what it would cost.

use anyhow::Result;
use blocklab_catalog::Catalog;
use blocklab_catalog::unit_price::{Bought, Priced, price};
use blocklab_record::TargetKind;
use blocklab_report::document::{Document, Entry, Part};
use blocklab_report::views;
use blocklab_runner::{Forecast, Prepared, Request, Setting, TargetForecast};
use blocklab_store::Store;
use blocklab_units::{Bytes, Ink, Nanos, plural, significant};
use blocklab_workload::{Plan, Target};
use serde::Serialize;

use crate::answer;
use blocklab_args::FormArgs;

/// Width of the names at the left.
const INDENT: usize = 10;

/// An example rate in bytes a second, to show what a load without a rate would write.
const FOR_SCALE: Bytes = Bytes(1_000_000_000);

/// What would happen on one system of a study, or on the only one.
#[derive(Serialize)]
struct SystemForecast {
    /// The system, in a study of several.
    system: Option<String>,
    cases: usize,
    passes: u32,
    targets: Vec<TargetLine>,
    /// Upper bound; `null` if only time ends a load and no limit of the target is known.
    written_bytes: Option<u64>,
    /// The part of it by loads that end after an amount or have a rate.
    bounded_bytes: u64,
    /// Time in which loads write as fast as the target can.
    unbounded_s: f64,
    /// Without laying out files; virtual time for simulated targets.
    duration_s: f64,
    /// Measurements that end after an amount and have no rate: their time is not in `duration_s`.
    untimed_measurements: usize,
    /// Passes that may be added, which write and take more; `null` without `--repeat-until`.
    added_passes: Option<AddedPasses>,
    /// The price of renting the modelled volume for that time; `null` if none is known.
    cost: Option<Cost>,
    #[serde(skip)]
    lines: Vec<(&'static str, String)>,
}

#[derive(Serialize)]
struct AddedPasses {
    /// Half width of the interval of every rate at which no more are added.
    until_percent: f64,
    /// Measured time after which none begins.
    begin_within_s: f64,
}

#[derive(Serialize)]
struct TargetLine {
    path: String,
    kind: TargetKind,
    size_bytes: u64,
    /// Written before the first pass.
    laid_out_bytes: u64,
    is_written: bool,
}

#[derive(Serialize)]
struct Cost {
    amount: f64,
    currency: &'static str,
    per_hour: f64,
    regions: Vec<String>,
}

/// Prints what a request would do. Nothing is created, measured or changed.
pub fn print(request: &Request, setting: Setting<'_>, form: FormArgs) -> Result<()> {
    let prepared = Prepared::new(request, setting)?;
    let plans = prepared.plans().into_iter();
    let mut systems = Vec::new();
    for ((system, plan), found) in plans.zip(prepared.forecasts()?) {
        let system = system.map(str::to_owned);
        systems.push(SystemForecast {
            added_passes: request.until.map(|until| AddedPasses {
                until_percent: until.percent,
                begin_within_s: until.limit.as_secs_f64(),
            }),
            ..forecast_of(system, plan, found, setting.catalog)
        });
    }
    let fields = answer::one_field("systems", &systems);
    answer::print(form, ("dry_run_format", 1), &fields, || {
        document(request, &systems, setting.store)
    })
}

/// `system`: its name in a study of several.
fn forecast_of(
    system: Option<String>,
    plan: &Plan,
    found: Forecast,
    catalog: &Catalog,
) -> SystemForecast {
    let facts = found.targets.iter().map(|target| target.facts.clone());
    let lines = facts
        .flat_map(|facts| views::target_lines(&[facts]))
        .collect();
    // Several targets share what a load writes; each takes at most what its own limit allows.
    let written: Vec<_> = found
        .targets
        .iter()
        .filter(|target| target.is_written)
        .collect();
    let limits: Option<f64> = written.iter().map(|target| target.write_bytes_per_s).sum();
    let unbounded = found.writes.unbounded;
    let by_time = match (unbounded, limits) {
        (Nanos::ZERO, _) => Some(0),
        (_, Some(limit)) => Some((limit * unbounded.as_secs_f64()) as u64),
        (_, None) => None,
    };
    let laid_out: u64 = found.targets.iter().map(|target| target.laid_out.0).sum();
    SystemForecast {
        system,
        cases: plan.cases.len(),
        passes: plan.rounds(),
        written_bytes: by_time.map(|bytes| bytes + found.writes.bytes.0 + laid_out),
        bounded_bytes: found.writes.bytes.0,
        unbounded_s: unbounded.as_secs_f64(),
        duration_s: found.time.as_secs_f64(),
        untimed_measurements: found.untimed,
        added_passes: None,
        cost: cost(&found, catalog),
        targets: found.targets.into_iter().map(target).collect(),
        lines,
    }
}

fn target(forecast: TargetForecast) -> TargetLine {
    TargetLine {
        path: forecast.facts.path,
        kind: forecast.facts.kind,
        size_bytes: forecast.facts.size_bytes.0,
        laid_out_bytes: forecast.laid_out.0,
        is_written: forecast.is_written,
    }
}

/// What renting the modelled volumes for the time of the run costs.
fn cost(found: &Forecast, catalog: &Catalog) -> Option<Cost> {
    let mut bought = Vec::new();
    for forecast in &found.targets {
        let target = Target::parse(&forecast.facts.path).ok()?;
        let address = target.address()?.to_string();
        bought.push(Bought::find(&address, None, catalog).ok()?);
    }
    if bought.is_empty() {
        return None;
    }
    let Priced {
        usd_per_hour,
        money,
        regions,
        ..
    } = price("", &bought, None);
    Some(Cost {
        amount: usd_per_hour? * found.time.as_secs_f64() / 3600.0,
        currency: money,
        per_hour: usd_per_hour?,
        regions,
    })
}

/// What would happen on each system, and where the runs would be kept.
fn document(request: &Request, systems: &[SystemForecast], store: &Store) -> Document {
    let name = format!("{}: what a run would do", request.study.plan.name);
    let mut parts = vec![Part::Heading(name.clone())];
    let of_systems = systems.iter().map(|one| Part::Entries(one.entries()));
    parts.extend(of_systems);
    if let (Some(until), Some(Part::Entries(last))) = (request.until, parts.last_mut()) {
        let more = format!(
            "passes are added until the rates are known, which write and take more; none begins \
             after {} of measured time",
            until.limit
        );
        last.push(Entry::new(Ink::Dim, "then", INDENT, more));
    }
    let kept = if request.is_resumable {
        store.root().display().to_string()
    } else {
        "nowhere (--no-save)".to_owned()
    };
    let closing = "Nothing was measured or changed. Without --dry-run, the same command does it.";
    parts.push(Part::Entries(vec![Entry::new(
        Ink::Dim,
        "kept in",
        INDENT,
        kept,
    )]));
    parts.push(Part::Prose(closing.to_owned()));
    Document { name, parts }
}

impl SystemForecast {
    /// The lines about this system: its targets, what is written, how long it takes and what it
    /// costs.
    fn entries(&self) -> Vec<Entry> {
        let system = self.system.iter();
        let mut all: Vec<Entry> = system
            .map(|name| Entry::new(Ink::Bold, "system", INDENT, name))
            .collect();
        let lines = self.lines.iter().cloned();
        let sentences = [("writes", self.writes()), ("takes", self.takes())];
        let cost = self.cost.iter().map(|cost| ("costs", cost.text()));
        let lines = lines.chain(sentences).chain(cost);
        all.extend(lines.map(|(name, text)| Entry::new(Ink::Dim, name, INDENT, text)));
        all
    }

    /// `at most 4.2 GB by loads with a given amount or rate; for 20.0 s, as much as the target
    /// takes: …`
    fn writes(&self) -> String {
        let laid_out: u64 = self
            .targets
            .iter()
            .map(|target| target.laid_out_bytes)
            .sum();
        let mut parts = Vec::new();
        if laid_out > 0 {
            let made = format!(
                "{} to fill the scratch file, which is removed at the end",
                Bytes(laid_out)
            );
            parts.push(made);
        }
        if self.bounded_bytes > 0 {
            parts.push(format!(
                "at most {} by loads with a given amount or rate",
                amount(self.bounded_bytes as f64)
            ));
        }
        let time = Nanos::from_secs_f64(self.unbounded_s);
        match self.written_bytes {
            _ if self.unbounded_s == 0.0 => {}
            Some(all) => {
                let by_time = all - laid_out - self.bounded_bytes;
                parts.push(format!(
                    "for {time}, at most {} under the limits of the model",
                    amount(by_time as f64)
                ));
            }
            None => parts.push(format!(
                "for {time}, as much as the target takes: {} at 1 GB/s{}",
                amount(self.unbounded_s * FOR_SCALE.as_f64()),
                self.times_over()
            )),
        }
        if parts.is_empty() {
            "nothing".to_owned()
        } else {
            parts.join("; ")
        }
    }

    /// How often that would fill the devices; vendors state endurance in such full writes.
    fn times_over(&self) -> String {
        let size: u64 = self.targets.iter().map(|target| target.size_bytes).sum();
        let mut targets = self.targets.iter();
        if targets.all(|target| target.kind == TargetKind::BlockDevice) && size > 0 {
            let times = self.unbounded_s * FOR_SCALE.as_f64() / size as f64;
            format!(", {times:.2} times its size")
        } else {
            String::new()
        }
    }

    /// `1 min 20 s of virtual time (8 cases, 3 passes)`.
    fn takes(&self) -> String {
        let time = Nanos::from_secs_f64(self.duration_s);
        let simulated = self
            .targets
            .iter()
            .any(|target| Target::is_simulated(&target.path));
        let what = if simulated { " of virtual time" } else { "" };
        let untimed = match self.untimed_measurements {
            0 => String::new(),
            some => format!(", and {some} measurements that last until their amount is done"),
        };
        let filling = if self.targets.iter().any(|target| target.laid_out_bytes > 0) {
            ", without filling the file"
        } else {
            ""
        };
        format!(
            "{time}{what}{filling} ({}, {}){untimed}",
            plural(self.cases, "case"),
            plural(self.passes as usize, "pass")
        )
    }
}

impl Cost {
    fn text(&self) -> String {
        let amount = match self.amount {
            ..0.005 if self.amount > 0.0 => "less than 0.01".to_owned(),
            amount => format!("{amount:.2}"),
        };
        format!(
            "{amount} {} for this time on the real volume, at {:.3} {} an hour ({})",
            self.currency,
            self.per_hour,
            self.currency,
            self.regions.join(", ")
        )
    }
}

/// Bytes with three digits in a fitting unit: a small load writes 16.4 MB, not 0 GB.
fn amount(bytes: f64) -> String {
    let (unit, name) = match bytes {
        ..1e6 => (1e3, "kB"),
        ..1e9 => (1e6, "MB"),
        _ => (1e9, "GB"),
    };
    format!("{} {name}", significant(bytes / unit, 3))
}
