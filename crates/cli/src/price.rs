//! `blocklab price`: runs and addresses, and what a delivered unit of each costs.

use anyhow::{Context, Result, bail};
use blocklab_catalog::Catalog;
use blocklab_catalog::unit_price::{Bought, By, Priced, Unit, price as priced, sort};
use blocklab_findings::{assess, best_output};
use blocklab_record::Record;
use blocklab_report::json;
use blocklab_report::price::prices;
use blocklab_store::Store;
use blocklab_units::count;
use blocklab_workload::{Address, Date, Target};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::catalog::unusable;
use crate::{chosen, offers};
use blocklab_args::{Output, PriceArgs, PriceBy};
use blocklab_console::terminal;

/// Prints what runs and addresses cost, cheapest first.
pub fn price(args: &PriceArgs, store: &Store) -> Result<()> {
    let catalog = blocklab_console::place::load_catalog()?;
    if let Some(need) = &args.need {
        if args.region.is_some() {
            bail!(
                "--need compares vendors, and each names its regions in its own way: choose with \
                 --place where they are, such as virginia"
            );
        }
        return offers::offers(args, need, &catalog);
    }
    let mut all = Vec::new();
    for what in &args.what {
        all.push(if is_address(what, &catalog) {
            priced(what, &[find(what, args, &catalog)?], None)
        } else {
            priced_run(args, store, what, &catalog)?
        });
    }
    for (place, one) in all.iter().enumerate() {
        if all[..place].iter().any(|other| other.name == one.name) {
            bail!("{} is named more than once: name each once", one.name);
        }
    }
    if args.bought_as.is_some() && !has_run(&all) {
        bail!("--as says what a run was measured on, and here are addresses alone: leave it out");
    }
    if let Some(unknown) = unpriced(&all) {
        bail!(unknown);
    }
    let by = match args.by {
        PriceBy::Iops => By::Iops,
        PriceBy::Throughput => By::Throughput,
        PriceBy::Capacity => By::Capacity,
    };
    all.iter_mut().for_each(note_bills_by_use);
    sort(&mut all, by);
    let currency = args.currency.as_ref();
    let today = today();
    terminal::print_styled(match args.form.output() {
        Output::Json => json::prices(&all, by, currency, today),
        Output::Document(form) => prices(&all, by, currency, today).print(form),
    })
}

/// Adds that the prices by unit hold no bill for a burst that the delivered rate needs: it depends on how
/// long that rate lasts.
fn note_bills_by_use(priced: &mut Priced) {
    let rate = priced.units.iter().find(|price| price.unit == Unit::Iops);
    let Some(delivered) = rate.map(|price| price.delivered) else {
        return;
    };
    for cost in &priced.costs {
        if let Some(above) = cost.above.filter(|above| delivered > above.iops) {
            priced.notes.push(format!(
                "the prices by unit are without {}, which is billed for what lies above {} IOPS and may \
                 be the larger part: `blocklab catalog show ADDRESS --load {:.0}iops,4KiB` has the bill of a \
                 month at that rate",
                cost.what,
                count(above.iops),
                delivered
            ));
        }
    }
}

/// Today's date in UTC.
fn today() -> Date {
    let day = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let (year, month) = (day.year().unsigned_abs(), day.month().unsigned_abs());
    let day = Date::new(year, month, day.day().unsigned_abs());
    day.expect("Linux keeps no time before 1970")
}

/// What the table writes before the id of a run; an address has nothing before it.
const RUN: &str = "run ";

fn has_run(all: &[Priced]) -> bool {
    all.iter().any(|offer| offer.name.starts_with(RUN))
}

/// The error where no offer has a price: a table of dashes would be no answer.
fn unpriced(all: &[Priced]) -> Option<String> {
    // Addresses alone are not refused: the notes below their table name the list without a price.
    let mut offers = all.iter();
    if !has_run(all) || offers.any(|offer| offer.usd_per_month.is_some() || !offer.costs.is_empty())
    {
        return None;
    }
    let names: Vec<&str> = all.iter().map(|offer| &*offer.name).collect();
    let what = all.iter().flat_map(|offer| &offer.addresses);
    let what: Vec<&str> = what.map(|what| &**what).collect();
    Some(format!(
        "no price is known for {} ({}): a device described by hand, or one that no list holds, has none; \
         name the volume you bought, such as --as gp3:1TiB@r5d.xlarge",
        names.join(", "),
        what.join(", ")
    ))
}

/// Whether a word names something that can be bought, and not a run. A path is the folder of a run
/// unless it ends with `.toml`, as the description of a device does.
pub fn is_address(text: &str, catalog: &Catalog) -> bool {
    match text.parse() {
        Ok(Address::File(path)) => path.ends_with(".toml"),
        Ok(Address::Sold(offer)) => {
            // Runs may be called `nightly/2`, too.
            let vendor = text.split_once('/').map(|(vendor, _)| vendor.to_owned());
            text.contains([':', '@', ',', '='])
                || vendor.is_some_and(|vendor| catalog.vendor_names().contains(&vendor))
                || catalog.volume_types().contains(&offer.volume)
                || catalog
                    .instance_types()
                    .iter()
                    .any(|known| *known == offer.volume)
        }
        // A mistyped address: its parser explains what is wrong, while "no such run" would mislead.
        Err(_) => text.contains([':', '@', ',', '=']),
    }
}

fn find(text: &str, args: &PriceArgs, catalog: &Catalog) -> Result<Bought> {
    Bought::find(text, args.region.as_deref(), catalog).map_err(unusable)
}

/// What a delivered unit of a run costs, by the addresses that it is priced as.
fn priced_run(args: &PriceArgs, store: &Store, run: &str, catalog: &Catalog) -> Result<Priced> {
    let record = chosen::record(run, store).with_context(|| {
        format!("`{run}` is neither an address that the catalog knows nor a run")
    })?;
    let bought = addresses(&record, args.bought_as.as_deref())?;
    let bought: Result<Vec<Bought>> = bought
        .iter()
        .map(|address| find(address, args, catalog))
        .collect();
    let output = best_output(&assess(&record).rows, record.origin.name());
    let name = format!("{RUN}{}", record.id);
    Ok(priced(&name, &bought?, Some(&output)))
}

/// The addresses that a run is priced as: the one that the user names, else those of its simulated
/// targets.
pub fn addresses(record: &Record, bought_as: Option<&str>) -> Result<Vec<String>> {
    if let Some(address) = bought_as {
        return Ok(vec![address.to_owned()]);
    }
    let mut own = Vec::new();
    for target in &record.targets {
        own.extend(
            Target::parse(&target.path)?
                .address()
                .map(ToString::to_string),
        );
    }
    // An address of each target, or a part of the price would be missing.
    if own.is_empty() || own.len() < record.targets.len() {
        bail!(
            "the record of run {} names no volume for each target: add what you bought, such as --as \
             gp3:1TiB@r5d.xlarge",
            record.id
        );
    }
    Ok(own)
}
