//! `blocklab catalog`: lists, explains and imports offers of volumes and instances.

use std::fmt::Display;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use blocklab_catalog::import::{ImportFile, Imported, import};
use blocklab_catalog::{Catalog, Filter, Sheet, currency_of, describe, describe_load};
use blocklab_units::{agreeing, count, did_you_mean};
use blocklab_workload::Date;

use crate::answer;
use blocklab_args::{
    CatalogArgs, CatalogCommand, CatalogImportArgs, CatalogListArgs, CatalogShowArgs, Output,
};
use blocklab_console::{place, terminal};
use blocklab_report::document::Document;
use blocklab_report::{fields, views};

/// Runs the subcommand.
pub fn run(args: &CatalogArgs) -> Result<()> {
    match &args.command {
        CatalogCommand::List(args) => list(args),
        CatalogCommand::Show(args) => show(args),
        CatalogCommand::Import(args) => import_files(args),
    }
}

/// Shows the addresses that can be shown, and then an error that names all others.
fn show(args: &CatalogShowArgs) -> Result<()> {
    let catalog = place::load_catalog()?;
    let described = args.addresses.iter().map(|address| match &args.load {
        Some(load) => describe_load(address, load, &catalog),
        None => describe(address, &catalog),
    });
    let (sheets, refused): (Vec<_>, Vec<_>) = described.partition(Result::is_ok);
    let sheets: Vec<Sheet> = sheets.into_iter().flatten().collect();
    if !sheets.is_empty() {
        terminal::print_styled(printed(&sheets, args.form.output())?)?;
    }
    let refused = refused.into_iter().filter_map(Result::err);
    let refused: Vec<String> = refused.map(|error| readable(error).to_string()).collect();
    if refused.is_empty() {
        return Ok(());
    }
    bail!(refused.join("\n"))
}

/// Whether the address of a volume was written where a study or a trace is expected.
pub fn is_volume(text: &str) -> bool {
    let kind = text.split([':', ',', '@']).next().unwrap_or_default();
    place::load_catalog().is_ok_and(|catalog| {
        catalog
            .volume_types()
            .iter()
            .any(|volume_type| volume_type == kind)
    })
}

/// The text of sheets; in JSON as one object after another.
fn printed(sheets: &[Sheet], output: Output) -> Result<String> {
    let Output::Document(form) = output else {
        return sheets.iter().map(json).collect();
    };
    let names = sheets.iter().map(|sheet| sheet.address.as_str());
    let whole = Document {
        name: names.collect::<Vec<_>>().join(", "),
        parts: sheets
            .iter()
            .flat_map(|sheet| views::sheet(sheet).parts)
            .collect(),
    };
    Ok(whole.print(form))
}

/// The sheet of an address, as a document and as JSON.
pub fn shown(address: &str) -> Result<(Document, String)> {
    let sheet = describe(address, &place::load_catalog()?).map_err(readable)?;
    Ok((views::sheet(&sheet), json(&sheet)?))
}

fn json(sheet: &Sheet) -> Result<String> {
    answer::json(&fields! {
        catalog_show_format: 1,
        #[serde(flatten)]
        sheet: sheet,
    })
}

/// An address that cannot be used. The reason begins on a line of its own: a mark below the address
/// points at the wrong part of it.
pub fn unusable(why: impl Display) -> anyhow::Error {
    anyhow!("cannot use this address:\n{why}")
}

/// An error for the user; one of several lines is about an address.
fn readable(error: blocklab_catalog::Error) -> anyhow::Error {
    let text = error.to_string();
    if text.contains('\n') {
        unusable(text)
    } else {
        error.into()
    }
}

/// Prints the instance types that fit the filters.
fn list(args: &CatalogListArgs) -> Result<()> {
    let catalog = place::load_catalog()?;
    let vendor = args.vendor.as_deref();
    let sellers = catalog.sellers_of_machines();
    // The catalog finds a vendor by the beginning of its addresses; AWS has none.
    let prefix = vendor.map_or(String::new(), |vendor| format!("{vendor}/"));
    let usual = catalog.usual_region(&prefix);
    if usual.is_empty() {
        let vendor = vendor.unwrap_or_default();
        bail!(
            "--vendor: no vendor {vendor}; those with machines are {}",
            sellers.join(", ")
        );
    }
    let region = args.region.clone().unwrap_or(usual);
    let filter = Filter {
        // The first seller is the one whose machines are listed without a name.
        vendor: args.vendor.clone().filter(|vendor| sellers[0] != *vendor),
        family: args.family.clone(),
        has_local: args.has_local,
        min_ebs_iops: args.min_ebs_iops,
        region: region.clone(),
    };
    let known = catalog.known_region(&prefix, &region);
    known.map_err(|problem| anyhow!("--region: {problem}"))?;
    let listed = catalog.list(&filter);
    if listed.is_empty() && args.form.output() != Output::Json {
        explain_nothing(&catalog, &filter)?;
    }
    let fields = fields! { catalog_list_format: 1, types: &listed };
    answer::print(args.form, &fields, || {
        views::machines(&listed, currency_of(&region), filter.vendor.is_some())
    })
}

/// The error where no type fits: a family that does not exist, or filters that exclude everything.
fn explain_nothing(catalog: &Catalog, filter: &Filter) -> Result<()> {
    let families = catalog.families();
    match &filter.family {
        Some(family) if filter.vendor.is_none() && !families.contains(family) => {
            let names = families.iter().map(String::as_str);
            let hint = did_you_mean(family, names, || families.join(", "));
            bail!("no family {family}: {hint}")
        }
        _ => bail!("no instance type matches these filters"),
    }
}

/// Merges files into the user's own catalog, all of them or none, and prints what changed.
fn import_files(args: &CatalogImportArgs) -> Result<()> {
    let folder = place::catalog()
        .context("cannot find your catalog: neither XDG_DATA_HOME nor HOME is set")?;
    let date = args.date.as_deref().map(str::parse::<Date>);
    let given = date.transpose().context("--date")?;
    let mut files = Vec::new();
    for path in &args.files {
        files.push(ImportFile {
            path: path.clone(),
            date: given.map_or_else(|| written(path), Ok)?,
        });
    }
    let mut done = import(&files, &folder)?;
    for file in &mut done {
        file.date_assumed &= given.is_none();
    }
    terminal::print(if args.json {
        answer::json(&fields! { catalog_import_format: 1, files: &done })?
    } else {
        done.iter().map(summary).collect()
    })
}

/// The day on which a file was last written (UTC).
fn written(path: &Path) -> Result<Date> {
    let moment = fs::metadata(path)
        .and_then(|facts| facts.modified())
        .with_context(|| format!("cannot read {}", path.display()))?;
    let day = jiff::Timestamp::try_from(moment)?
        .strftime("%Y-%m-%d")
        .to_string();
    day.parse::<Date>()
        .with_context(|| format!("{} has an impossible date: add --date", path.display()))
}

/// Most changes that are listed; `--json` lists all.
const SHOWN: usize = 40;

/// The text about an imported file.
fn summary(done: &Imported) -> String {
    let assumed = if done.date_assumed {
        " (assumed: the file names no day)"
    } else {
        ""
    };
    let mut text = format!("{}: {} of {}{assumed}\n", done.path, done.kind, done.date);
    let changed = done.changed.iter().map(|change| ("~", change));
    let added = done.added.iter().map(|change| ("+", change));
    for (sign, change) in changed.chain(added).take(SHOWN) {
        text.push_str(&match &change.old {
            Some(old) => format!("  {sign} {}: {old} -> {}\n", change.what, change.new),
            None => format!("  {sign} {}: {}\n", change.what, change.new),
        });
    }
    let more = (done.changed.len() + done.added.len()).saturating_sub(SHOWN);
    if more > 0 {
        text.push_str(&format!("  … and {more} more (--json shows all)\n"));
    }
    text.push_str(&format!(
        "  {} changed, {} added, {} unchanged; {} {} not used here\n",
        count(done.changed.len() as f64),
        count(done.added.len() as f64),
        count(done.unchanged as f64),
        count(done.skipped as f64),
        agreeing(done.skipped, "entry", "entries")
    ));
    text
}
