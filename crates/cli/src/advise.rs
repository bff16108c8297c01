//! `blocklab advise`: finds the cheapest volumes and machine that meet a need.
//!
//! ```text
//!   arguments ──▶ question ──▶ search for finalists ─────▶ advice, printed
//!                                 │          ▲
//!                                 ▼          │
//!                              simulated, judged by the gate
//! ```

mod measured;
mod question;
mod recorded;
mod simulated;

use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};
use blocklab_advice::{
    Advice, Finalist, Market, Migration, Need, Question, Simulated, advise as advice, migration,
    promised,
};
use blocklab_catalog::{Catalog, HOURS_PER_MONTH, Host, Resolved, resolve, resolve_text};
use blocklab_console::{listen, place, status, terminal};
use blocklab_report::document::Form;
use blocklab_report::live::Screen;
use blocklab_report::{advice as form, fields, views};
use blocklab_runner::{Guard, Setting};
use blocklab_store::Store;
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{Address, Offer};

use crate::answer;
use crate::chosen;
use crate::trace::fit::Load;
use blocklab_args::{AdviseArgs, Output, TraceInput};
use measured::DerivedNeed;
use recorded::Recorded;

/// Finds the cheapest offer that meets a need, and prints it.
pub fn advise(args: &AdviseArgs, store: &Store) -> Result<ExitCode> {
    if args.trace.is_empty() && args.read.is_given() {
        bail!(TraceInput::NEEDS_A_TRACE);
    }
    let catalog = place::load_catalog()?;
    let recorded = (!args.trace.is_empty()).then(|| Recorded {
        load: Load {
            files: &args.trace,
            read: &args.read,
        },
        tolerated: args.max_wait,
    });
    let migrated = args
        .migrate
        .as_deref()
        .map(|text| resolved_in_use(text, &catalog));
    let current = migrated.transpose()?;
    let derived = derived_need(args, store, recorded.as_ref(), current.as_ref())?;
    let in_use = current.as_ref().and_then(|current| match &current.address {
        Address::Sold(offer) => Some(offer),
        Address::File(_) => None,
    });
    let mut question = question::question(args, derived, in_use, &catalog)?;
    keep_machine(&mut question, in_use);
    if let Some(machine) = &question.only
        && !args.vendor.is_empty()
        && host_in_use(&question, in_use, &catalog).is_none()
    {
        bail!(
            "--vendor: {} has no {machine}, to which the volume of --migrate is attached: leave out --vendor, \
             or the machine",
            args.vendor.join(", ")
        );
    }
    if question.machine.is_none() && (args.previous || args.instance_discount.is_some()) {
        bail!(
            "--previous and --instance-discount are about machines, and the need is that of a volume \
             alone: add --vcpu, --memory, --arch or --instance"
        );
    }
    let Some(answer) = answered(args, &question, recorded.as_ref(), store, &catalog)? else {
        return Ok(ExitCode::from(status::INTERRUPTED));
    };
    let answer = Advice {
        migration: match &current {
            Some(current) => {
                let current = in_named_region(current, &question, &catalog)?;
                Some(replacements(&question, &current, in_use, &catalog)?)
            }
            None => None,
        },
        ..answer
    };
    print(args, &answer)?;
    Ok(ExitCode::SUCCESS)
}

fn print(args: &AdviseArgs, answer: &Advice) -> Result<()> {
    if args.form.output() == Output::Document(Form::Html) {
        return terminal::print_styled(blocklab_page::advice(answer));
    }
    let fields = fields! {
        advice_format: 1,
        #[serde(flatten)]
        advice: form::advice(answer),
    };
    answer::print(args.form, &fields, || views::advice(answer))
}

fn market<'c>(catalog: &'c Catalog, question: &Question) -> Result<Market<'c>> {
    Market::new(catalog, question).map_err(|wrong| anyhow!("{wrong}"))
}

/// What could take the place of the volume in use.
fn replacements(
    question: &Question,
    current: &Resolved,
    in_use: Option<&Offer>,
    catalog: &Catalog,
) -> Result<Migration> {
    let mut found = migration(&market(catalog, question)?, question, current);
    // The discount is on the machine in use as well, whose list price is in its costs.
    let host = host_in_use(question, in_use, catalog);
    if let (Some(total), Some(hourly)) = (&mut found.per_month, host.and_then(|host| host.per_hour))
    {
        *total -= hourly * HOURS_PER_MONTH * question.discount;
    }
    let now = found.per_month;
    found.moves.retain(|one| {
        // The volume in use itself, which its address may spell otherwise than the search does.
        let prices = one.per_month.zip(now);
        let saves_nothing = prices.is_some_and(|(then, now)| (then - now).abs() < 0.005);
        !saves_nothing || !one.worse.is_empty() || !one.better.is_empty()
    });
    Ok(found)
}

/// The machine to which the volume in use is attached; `None`: to none, or no seller has it.
fn host_in_use(question: &Question, in_use: Option<&Offer>, catalog: &Catalog) -> Option<Host> {
    let name = in_use?.instance.as_deref()?;
    let mut sellers = question.sellers.iter();
    sellers.find_map(|seller| catalog.host(&seller.vendor, &seller.region, name))
}

/// The offer that `--migrate` names: a volume in use.
fn resolved_in_use(text: &str, catalog: &Catalog) -> Result<Resolved> {
    let text = text.strip_prefix("sim:").unwrap_or(text);
    let resolved = resolve_text(text, catalog);
    let resolved =
        resolved.map_err(|error| anyhow!("--migrate: cannot use this address:\n{error}"))?;
    match &resolved.address {
        Address::Sold(_) => Ok(resolved),
        Address::File(_) => bail!("--migrate: a device that is described by hand is not sold"),
    }
}

/// The volume in use with the prices of the region that `--region` or `--place` names for its vendor: at
/// those of another one, it would save something by itself. Its own address may have the region.
fn in_named_region(current: &Resolved, question: &Question, catalog: &Catalog) -> Result<Resolved> {
    let Address::Sold(offer) = &current.address else {
        return Ok(current.clone());
    };
    let vendor = question::vendor_of(offer, catalog);
    let named = question
        .sellers
        .iter()
        .find(|seller| seller.is_named && seller.vendor == vendor)
        .filter(|_| offer.region.is_none());
    let Some(seller) = named else {
        return Ok(current.clone());
    };
    let address = Address::Sold(Offer {
        region: Some(seller.region.clone()),
        ..offer.clone()
    });
    resolve(&address, catalog)
        .map_err(|error| anyhow!("--migrate: cannot use this address:\n{error}"))
}

/// The need of a stored run, a trace or a volume in use; `--need` replaces parts of it.
fn derived_need(
    args: &AdviseArgs,
    store: &Store,
    recorded: Option<&Recorded<'_>>,
    current: Option<&Resolved>,
) -> Result<DerivedNeed> {
    let mut derived = match (&args.run, recorded, current) {
        (Some(run), ..) => measured::need(&chosen::record(run, store)?)?,
        (_, Some(recorded), _) => recorded.need()?,
        _ => DerivedNeed {
            need: Need::new(Bytes::ZERO),
            lower_bound: None,
            remarks: Vec::new(),
        },
    };
    if let Some(text) = &args.need {
        let with = |need: Need| need.with(text).map_err(|error| anyhow!("--need: {error}"));
        // A rate that the user gives is known; one that was measured may be only a lower bound.
        let given = with(Need::new(Bytes::ZERO))?;
        let names_a_rate = given.iops > 0.0 || given.bytes_per_s > 0.0;
        derived.need = with(derived.need)?;
        let was_measured = args.run.is_some() || recorded.is_some();
        if names_a_rate && was_measured {
            derived.lower_bound = None;
            let replaced = format!("--need {text} takes the place of what was measured.");
            derived.remarks.push(replaced);
        }
    }
    derived.remarks.extend(derived.lower_bound.clone());
    if let Some(current) = current {
        let names_rates = derived.need.iops > 0.0 || derived.need.bytes_per_s > 0.0;
        derived.need = promised(current, derived.need);
        if !names_rates {
            derived.remarks.push(format!(
                "The need is all that {} promises for ever: --need iops=… asks for what is used of it.",
                current.address
            ));
        }
    }
    if derived.need.capacity == Bytes::ZERO {
        bail!("--need: the size is missing: write it first, such as 1TiB,10000iops,300MB/s");
    }
    Ok(derived)
}

/// Restricts the search to the machine to which the volume in use is attached.
fn keep_machine(question: &mut Question, in_use: Option<&Offer>) {
    if let Some(machine) = in_use.and_then(|offer| offer.instance.as_ref()) {
        question.only = Some(machine.clone());
        question.machine = Some(blocklab_catalog::Hosts {
            previous: true,
            ..blocklab_catalog::Hosts::default()
        });
    }
}

/// The advice; `None`: a signal interrupted it.
fn answered(
    args: &AdviseArgs,
    question: &Question,
    recorded: Option<&Recorded<'_>>,
    store: &Store,
    catalog: &Catalog,
) -> Result<Option<Advice>> {
    let market = market(catalog, question)?;
    let setting = Setting {
        store,
        guard: &Guard::default(),
        catalog,
        interrupted: &*listen()?,
    };
    // Shown on a terminal only, and on no other standard error.
    let mut screen = Screen::new(true, terminal::size(), Nanos::ZERO);
    let mut judge =
        |finalist: &Finalist, need: &Need| -> std::result::Result<Vec<Simulated>, Stop> {
            screen.phase(&format!("simulating {}", finalist.resolved.address));
            let simulated = match recorded {
                // Without a simulation, the limits alone decide.
                _ if args.no_simulation => Ok(Some(Vec::new())),
                Some(recorded) => recorded.simulated(finalist, need, catalog).map(Some),
                None => simulated::simulated(finalist, need, setting),
            };
            simulated.map_err(Stop::Failed)?.ok_or(Stop::Interrupted)
        };
    let advised = advice(&market, question, &mut judge);
    screen.finished();
    match advised {
        Err(Stop::Interrupted) => Ok(None),
        Err(Stop::Failed(error)) => Err(error),
        Ok(answer) => Ok(Some(answer)),
    }
}

/// Why there is no advice.
enum Stop {
    /// A signal ended a simulation.
    Interrupted,
    /// A simulation could not begin.
    Failed(anyhow::Error),
}
