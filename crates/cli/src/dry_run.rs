//! `blocklab run --dry-run`: what a run would write, how long it would take, and what it would cost.

use std::slice;

use anyhow::Result;
use blocklab_catalog::Catalog;
use blocklab_catalog::unit_price::{Bought, price};
use blocklab_record::TargetKind;
use blocklab_report::document::{Document, Entry, Part};
use blocklab_report::{fields, words::facts};
use blocklab_runner::{Forecast, Prepared, Request, Setting, Until, Written};
use blocklab_store::Store;
use blocklab_units::{Bytes, Ink, Nanos, agreeing, plural, significant};
use blocklab_workload::{Plan, Target};
use serde::Serialize;

use crate::answer;
use blocklab_args::FormArgs;

/// Width of the names at the left.
const INDENT: usize = 10;

/// An example rate in bytes a second, to show what a load without a rate would write.
const FOR_SCALE: Bytes = Bytes(1_000_000_000);

/// What would happen on one system of a study, or on the only one.
struct OneSystem<'a> {
    /// Its name, in a study of several.
    name: Option<&'a str>,
    plan: &'a Plan,
    forecast: Forecast,
    /// The price of renting the modelled volume for the time of the run; `None` if none is known.
    cost: Option<Cost>,
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
    for ((name, plan), forecast) in plans.zip(prepared.forecasts()?) {
        systems.push(OneSystem {
            cost: cost(&forecast, setting.catalog),
            name,
            plan,
            forecast,
        });
    }
    let each = systems.iter().map(|system| system.fields(request.until));
    let each: Vec<_> = each.collect();
    let fields = fields! { dry_run_format: 1, systems: &each };
    answer::print(form, &fields, || document(request, &systems, setting.store))
}

/// What renting the modelled volumes for the time of the run costs; `None`: no target is modelled, or a
/// price is not known.
fn cost(found: &Forecast, catalog: &Catalog) -> Option<Cost> {
    let mut bought = Vec::new();
    for forecast in &found.targets {
        let target = Target::parse(&forecast.facts.path).ok()?;
        let Some(address) = target.address() else {
            continue;
        };
        bought.push(Bought::find(&address.to_string(), None, catalog).ok()?);
    }
    if bought.is_empty() {
        return None;
    }
    let priced = price("", &bought, None);
    let per_hour = priced.usd_per_hour?;
    Some(Cost {
        amount: per_hour * found.time.as_secs_f64() / 3600.0,
        currency: priced.money,
        per_hour,
        regions: priced.regions,
    })
}

/// What would happen on each system, and where the runs would be kept.
fn document(request: &Request, systems: &[OneSystem<'_>], store: &Store) -> Document {
    let name = format!("{}: what a run would do", request.study.plan.name);
    let mut parts = vec![Part::Heading(name.clone())];
    let of_systems = systems.iter().map(|one| Part::Entries(one.entries()));
    parts.extend(of_systems);
    if let (Some(until), Some(Part::Entries(last))) = (request.until, parts.last_mut()) {
        let more = format!(
            "passes are added until the rates are known; they take more time and write more; none begins \
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

impl OneSystem<'_> {
    /// As JSON. `until`: when a run that adds passes ends.
    fn fields(&self, until: Option<Until>) -> impl Serialize {
        let Written { bytes, unbounded } = self.forecast.writes;
        let laid_out = self.laid_out();
        let targets = self.forecast.targets.iter().map(|target| {
            fields! {
                path: &target.facts.path,
                kind: target.facts.kind,
                size_bytes: target.facts.size_bytes.0,
                // Written before the first pass.
                laid_out_bytes: target.laid_out.0,
                is_written: target.is_written,
            }
        });
        let added = until.map(|until| {
            fields! {
                // Half width of the interval of every rate at which no more are added.
                until_percent: until.percent,
                // Measured time after which none begins.
                begin_within_s: until.limit.as_secs_f64(),
            }
        });
        fields! {
            // The system, in a study of several.
            system: self.name,
            cases: self.plan.cases.len(),
            passes: self.plan.rounds(),
            targets: targets.collect::<Vec<_>>(),
            // Upper bound; `null` if only time ends a load and no limit of the target is known.
            written_bytes: self.forecast.most_by_time.map(|by_time| {
                by_time.0.saturating_add(bytes.0).saturating_add(laid_out)
            }),
            // The part of it by loads that end after an amount or have a rate.
            bounded_bytes: bytes.0,
            // Time in which loads write as fast as the target can.
            unbounded_s: unbounded.as_secs_f64(),
            // Without laying out files; virtual time for simulated targets.
            duration_s: self.forecast.time.as_secs_f64(),
            // Measurements that end after an amount and have no rate: their time is not in
            // `duration_s`.
            untimed_measurements: self.forecast.untimed,
            // Passes that may be added, which take more time and write more; `null` without `--repeat-until`.
            added_passes: added,
            cost: self.cost.as_ref(),
        }
    }

    /// The bytes with which files are filled before the first pass.
    fn laid_out(&self) -> u64 {
        let targets = self.forecast.targets.iter();
        targets.map(|target| target.laid_out.0).sum()
    }

    /// The lines about this system: its targets, what is written, how long it takes and what it
    /// costs.
    fn entries(&self) -> Vec<Entry> {
        let system = self.name.iter();
        let mut all: Vec<Entry> = system
            .map(|name| Entry::new(Ink::Bold, "system", INDENT, *name))
            .collect();
        let targets = self.forecast.targets.iter();
        let lines = targets.flat_map(|target| facts::target_lines(slice::from_ref(&target.facts)));
        let sentences = [("writes", self.writes()), ("takes", self.takes())];
        let cost = self.cost.iter().map(|cost| ("costs", cost.text()));
        let lines = lines.chain(sentences).chain(cost);
        all.extend(lines.map(|(name, text)| Entry::new(Ink::Dim, name, INDENT, text)));
        all
    }

    /// `at most 4.2 GB by loads with a given amount or rate; for 20.0 s, as much as the target
    /// takes: …`
    fn writes(&self) -> String {
        let Written { bytes, unbounded } = self.forecast.writes;
        let laid_out = self.laid_out();
        let mut parts = Vec::new();
        if laid_out > 0 {
            let made = format!(
                "{} to fill the scratch file, which is removed at the end",
                Bytes(laid_out)
            );
            parts.push(made);
        }
        if bytes > Bytes::ZERO {
            parts.push(format!(
                "at most {} by loads with a given amount or rate",
                amount(bytes.as_f64())
            ));
        }
        match self.forecast.most_by_time {
            _ if unbounded == Nanos::ZERO => {}
            Some(by_time) => parts.push(format!(
                "for {unbounded}, at most {} under the limits of the model",
                amount(by_time.as_f64())
            )),
            None => parts.push(format!(
                "for {unbounded}, as much as the target takes: {} at 1 GB/s{}",
                amount(unbounded.as_secs_f64() * FOR_SCALE.as_f64()),
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
        let mut facts = self.forecast.targets.iter().map(|target| &target.facts);
        let size: u64 = facts.clone().map(|facts| facts.size_bytes.0).sum();
        if facts.all(|facts| facts.kind == TargetKind::BlockDevice) && size > 0 {
            let unbounded = self.forecast.writes.unbounded;
            let times = unbounded.as_secs_f64() * FOR_SCALE.as_f64() / size as f64;
            format!(", {times:.2} times its size")
        } else {
            String::new()
        }
    }

    /// `1 min 20 s of virtual time (8 cases, 3 passes)`.
    fn takes(&self) -> String {
        let mut targets = self.forecast.targets.iter();
        let simulated = targets.any(|target| Target::is_simulated(&target.facts.path));
        let what = if simulated { " of virtual time" } else { "" };
        let untimed = match self.forecast.untimed {
            0 => String::new(),
            some => format!(
                ", and {} that {} until {} amount is done",
                plural(some, "measurement"),
                agreeing(some, "lasts", "last"),
                agreeing(some, "its", "their")
            ),
        };
        let filling = if self.laid_out() > 0 {
            ", without filling the file"
        } else {
            ""
        };
        format!(
            "{}{what}{filling} ({}, {}){untimed}",
            self.forecast.time,
            plural(self.plan.cases.len(), "case"),
            plural(self.plan.rounds() as usize, "pass")
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

/// Bytes with three digits in a fitting unit: a small load writes 16.4 MB, not 0 GB. From 999.5 of a unit
/// on, three digits would be 1,000.
fn amount(bytes: f64) -> String {
    let (unit, name) = match bytes {
        ..999.5e3 => (1e3, "kB"),
        ..999.5e6 => (1e6, "MB"),
        _ => (1e9, "GB"),
    };
    format!("{} {name}", significant(bytes / unit, 3))
}
