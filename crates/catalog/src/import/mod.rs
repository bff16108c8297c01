//! Newer figures from files that a user brings: recognised by what they hold, merged into the
//! user's own catalog, all of it or nothing. The embedded figures are never touched.

mod describe;
mod merge;
mod price_list;
mod vantage;

use std::fs;
use std::path::{Path, PathBuf};

use blocklab_workload::Date;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::price::{Per, System};
use crate::{Catalog, Error};

/// Instance types and prices of a file, before they are merged.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Found {
    pub(crate) kind: &'static str,
    /// The day that it names itself, where it does.
    pub(crate) date: Option<Date>,
    pub(crate) instances: Vec<InstanceRow>,
    pub(crate) hours: Vec<Hour>,
    pub(crate) volumes: Vec<VolumePrice>,
    /// How many entries hold nothing of use here.
    pub(crate) skipped: usize,
}

/// The cells of a row of `instances.csv` that a file can fill, by the names of their columns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InstanceRow {
    pub(crate) name: String,
    cells: Vec<(&'static str, String)>,
}

impl InstanceRow {
    /// What a column holds; empty: not given.
    pub(crate) fn cell(&self, column: &str) -> &str {
        let found = self.cells.iter().find(|(name, _)| *name == column);
        found.map_or("", |(_, cell)| cell)
    }
}

/// An hour of an instance type in a region.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Hour {
    pub(crate) region: String,
    pub(crate) name: String,
    pub(crate) system: System,
    pub(crate) usd: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct VolumePrice {
    pub(crate) region: String,
    pub(crate) kind: String,
    pub(crate) per: Per,
    pub(crate) above: f64,
    pub(crate) up_to: Option<f64>,
    pub(crate) usd: f64,
}

impl VolumePrice {
    /// What one price list has one price of.
    fn key(&self) -> (&str, &str, &str, u64) {
        (&self.region, &self.kind, self.per.key(), self.above as u64)
    }
}

/// One figure that an import brought and that was not known so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// `m5.large: EBS baseline IOPS`.
    pub what: String,
    /// As it was known for that day; `None`: not at all.
    pub old: Option<String>,
    /// As it is now.
    pub new: String,
}

/// What an import did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Imported {
    /// The file, as people see its path.
    pub path: String,
    /// What it is.
    pub kind: &'static str,
    /// The day of its figures.
    pub date: Date,
    /// Where the file does not name its day.
    pub date_assumed: bool,
    /// Figures that were not known.
    pub added: Vec<Change>,
    /// Figures that were known otherwise.
    pub changed: Vec<Change>,
    /// How many figures were known as they are.
    pub unchanged: usize,
    /// How many entries of the file hold nothing of use here.
    pub skipped: usize,
}

/// A file to import.
#[derive(Debug, Clone)]
pub struct ImportFile {
    /// Which.
    pub path: PathBuf,
    /// The day of its figures, where it does not name one itself.
    pub date: Date,
}

/// Merges files into the user's catalog in `folder`, all of them or none.
///
/// # Errors
/// When a file cannot be read, is none of the known kinds, or holds nothing of use; when the
/// catalog cannot be written. Nothing is changed then.
pub fn import(files: &[ImportFile], folder: &Path) -> Result<Vec<Imported>, Error> {
    let mut catalog = Catalog::load(folder)?;
    let mut done = Vec::new();
    for file in files {
        let bytes = fs::read(&file.path).map_err(|cause| Error::Unreadable {
            path: file.path.clone(),
            cause,
        })?;
        let imported = recognise(&catalog, &bytes)
            .and_then(|found| merge::merge(&mut catalog, &found, file))
            .map_err(|problem| Error::Import {
                path: file.path.clone(),
                problem,
            })?;
        done.push(imported);
    }
    catalog.user.save(folder)?;
    Ok(done)
}

/// The number of figures that a file adds to the embedded catalog. Nothing is stored: for tests and
/// fuzzing, which have no files.
///
/// # Errors
/// Why it is of no use.
pub fn read(bytes: &[u8]) -> Result<usize, String> {
    let mut catalog = Catalog::embedded();
    let found = recognise(&catalog, bytes)?;
    let file = ImportFile {
        path: PathBuf::from("memory"),
        date: Date::MAX,
    };
    let done = merge::merge(&mut catalog, &found, &file)?;
    Ok(done.added.len() + done.changed.len() + done.unchanged)
}

const KNOWN: &str = "what can be imported is the JSON of `aws ec2 describe-instance-types`, an AWS \
                     price list of AmazonEC2 (JSON), and instances.json of ec2instances.info";

fn parse<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Result<T, String> {
    serde_json::from_slice(bytes)
        .map_err(|why| format!("it is no JSON that is known here ({why}); {KNOWN}"))
}

/// Finds out which kind of file it is, by its keys, and reads it.
fn recognise(catalog: &Catalog, bytes: &[u8]) -> Result<Found, String> {
    let is_list = bytes.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'[');
    let found = if is_list {
        vantage::read(&parse::<Vec<Value>>(bytes)?)
    } else {
        // Names first: a price list is hundreds of megabytes, and its reader takes only a part.
        match parse(bytes)? {
            Names {
                describe: Some(_), ..
            } => {
                let whole: describe::Answer = parse(bytes)?;
                describe::read(&whole.types)
            }
            Names { offer: Some(_), .. } => price_list::read(catalog, parse(bytes)?)?,
            Names {
                products: Some(_), ..
            } => {
                let whole: price_list::Answer = parse(bytes)?;
                price_list::products(catalog, &whole.products)?
            }
            _ => return Err(format!("it is JSON of another kind; {KNOWN}")),
        }
    };
    if found.instances.is_empty() && found.hours.is_empty() && found.volumes.is_empty() {
        Err(format!(
            "it looks like {}, and holds no figure that can be used; {KNOWN}",
            found.kind
        ))
    } else {
        Ok(found)
    }
}

/// The outermost names that distinguish the files.
#[derive(Deserialize)]
struct Names {
    #[serde(rename = "InstanceTypes")]
    describe: Option<IgnoredAny>,
    #[serde(rename = "offerCode")]
    offer: Option<IgnoredAny>,
    #[serde(rename = "PriceList")]
    products: Option<IgnoredAny>,
}

/// A number of a JSON value as text: `6000`, `106.25`; empty for anything else and for zero,
/// which these files write for "none".
fn number(value: &Value) -> String {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    match number {
        Some(number) if number > 0.0 && number.is_finite() => number.to_string(),
        _ => String::new(),
    }
}

/// A number as [`number`] gives it, where only a count makes sense.
fn counted(value: &Value) -> String {
    let text = number(value);
    match text.parse::<u32>() {
        Ok(_) => text,
        Err(_) => String::new(),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// `yes`, `no`; empty for anything else.
fn flag(value: &Value) -> String {
    let word = value
        .as_bool()
        .map(|as_bool| if as_bool { "yes" } else { "no" });
    word.unwrap_or_default().to_owned()
}

/// Words of a list, joined as in the tables; nothing that would break a row.
fn words(list: &Value) -> String {
    let words = list
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    let sound = words.filter(|word| word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
    sound.collect::<Vec<_>>().join("|")
}

/// An instance type's name: a family, a dot, a size, and nothing that would break a row.
fn is_type(name: &str) -> bool {
    name.contains('.')
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || ".-".contains(c))
}

fn is_region(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}
