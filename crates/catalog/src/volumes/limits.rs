//! What the tables say of one type of volume on one day, and what may be bought within it.

use blocklab_device::{Limit, LimitUnit};
use blocklab_units::{Bytes, count};
use blocklab_workload::{Date, Offer, address::Part};

use crate::Catalog;
use crate::embedded::Section;
use crate::error::Refusal;
use crate::figure::{Figure, Statement, holds, unit};
use crate::remarks::no_size;
use crate::table::Row;

/// Whose limits are looked for.
#[derive(Clone, Copy)]
pub(super) struct LimitsOf<'k> {
    pub(super) name: &'k str,
    /// The type whose rows hold.
    pub(super) limits_as: &'k str,
    /// Whether its limits are known from its launch on.
    pub(super) is_dated: bool,
}

/// The documented limits of one type on one day.
pub(super) struct Limits<'k> {
    catalog: &'k Catalog,
    pub(super) kind: &'k str,
    rows: Vec<LimitRow>,
    as_of: Option<Date>,
    /// The size for which they are wanted; `None`: any.
    gib: Option<f64>,
}

/// A row of the tables.
struct LimitRow {
    name: String,
    statement: Statement,
    unit: LimitUnit,
    /// The size from which on it holds.
    gib_from: f64,
}

/// A size in which the vendor sells a type: any other one is rounded up to the next of them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tier {
    pub(crate) name: String,
    pub(crate) gib: u64,
}

impl<'k> Limits<'k> {
    /// The limits of a type on a day; of a database engine if the type has several.
    ///
    /// # Errors
    /// When the type was not yet sold on that day.
    pub(super) fn find(
        catalog: &'k Catalog,
        kind: LimitsOf<'k>,
        as_of: Option<Date>,
        engine: Option<&str>,
    ) -> Result<Self, Refusal> {
        let rows: Vec<_> = catalog
            .rows_of(Section::VolumeLimits, kind.limits_as)
            .filter(|row| is_for_engine(row.text("engine"), engine))
            .filter_map(|row| limit_row(&row))
            .collect();
        let name = kind.name;
        let launch = catalog.sold_since(name);
        let first = launch.or_else(|| rows.iter().map(|row| row.statement.from).min());
        match (first, as_of) {
            // What the archives of other vendors do not reach back to is no launch.
            (Some(first), Some(day)) if day < first && (launch.is_some() || kind.is_dated) => {
                let message = format!("{name} is sold since {first}; {day} is earlier");
                Err(Refusal::new(Part::Key("as-of"), message))
            }
            _ => Ok(Self {
                catalog,
                kind: name,
                rows,
                as_of,
                gib: None,
            }),
        }
    }

    /// The newest limits of a type; where they depend on the engine, of the one that is assumed.
    ///
    /// # Errors
    /// As [`Limits::find`].
    pub(super) fn newest(catalog: &'k Catalog, kind: LimitsOf<'k>) -> Result<Self, Refusal> {
        let engines = Self::engines(catalog, kind);
        let engine = engines.first().and_then(|known| known.split('|').next());
        Self::find(catalog, kind, None, engine)
    }

    /// The engines on which some limits of the type depend, in the order of the tables: the first is assumed
    /// where an address names none. Engines that share their limits are one text, with `|` between them.
    pub(super) fn engines(catalog: &Catalog, kind: LimitsOf<'_>) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for row in catalog.rows_of(Section::VolumeLimits, kind.limits_as) {
            let engine = row.text("engine");
            if !engine.is_empty() && found.iter().all(|known| known != engine) {
                found.push(engine.to_owned());
            }
        }
        found
    }

    /// The limits for a size.
    pub(super) fn at(self, gib: f64) -> Self {
        Self {
            gib: Some(gib),
            ..self
        }
    }

    /// The value on that day; where only later ones are known, the first of them, as an assumption.
    pub(super) fn get(&self, limit: &str) -> Option<Figure> {
        let begins = self.begins(limit)?;
        let of_limit = self.rows.iter().filter(|row| row.name == limit);
        let rows: Vec<&LimitRow> = of_limit.filter(|row| row.gib_from == begins).collect();
        let statements: Vec<Statement> = rows.iter().map(|row| row.statement.clone()).collect();
        let mut held = holds(&statements, self.as_of)?;
        let row = rows.iter().find(|row| row.statement == held.statement)?;
        held.statement.source = self.catalog.source(&held.statement.source).text;
        Some(held.figure(row.unit))
    }

    /// The smallest size of the row that applies to this size.
    pub(super) fn begins(&self, limit: &str) -> Option<f64> {
        let gib = self.gib.unwrap_or(f64::INFINITY);
        let sizes = self.sizes_of(limit);
        sizes.filter(|from| *from <= gib).reduce(f64::max)
    }

    /// The smallest size that has a limit.
    pub(super) fn first_size(&self, limit: &str) -> Option<f64> {
        self.sizes_of(limit).reduce(f64::min)
    }

    fn sizes_of(&self, limit: &str) -> impl Iterator<Item = f64> {
        let rows = self.rows.iter().filter(move |row| row.name == limit);
        rows.map(|row| row.gib_from)
    }

    /// The value on that day, and nothing where the rule came later.
    pub(super) fn in_force(&self, limit: &str) -> Option<Figure> {
        self.get(limit).filter(|figure| !figure.origin.is_assumed())
    }

    /// A limit that the rules of the type need: the check of all types sees to it.
    pub(super) fn need(&self, limit: &str) -> Figure {
        match self.get(limit) {
            Some(figure) => figure,
            None => unreachable!("{} has no {limit}", self.kind),
        }
    }

    pub(super) fn value(&self, limit: &str) -> f64 {
        self.need(limit).value
    }

    /// The numbers and names of the limits `{before}N{after}`, the smallest number first.
    pub(super) fn numbered(&self, before: &str, after: &str) -> Vec<(f64, &str)> {
        let numbered = self.rows.iter().filter_map(|row| {
            let number = row.name.strip_prefix(before)?.strip_suffix(after)?;
            Some((number.parse().ok()?, row.name.as_str()))
        });
        let mut found: Vec<(f64, &str)> = numbered.collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        found.dedup();
        found
    }

    /// All limits in force, in the words of the table.
    pub(super) fn all(&self) -> Vec<Limit> {
        let mut names: Vec<&String> = Vec::new();
        for row in &self.rows {
            if !names.contains(&&row.name) {
                names.push(&row.name);
            }
        }
        // Where it is sold in sizes, the figures of smaller ones say nothing of this one.
        let size = self.begins("iops");
        let held = names.into_iter().filter(|name| {
            let begins = self.begins(name);
            begins.is_none_or(|from| from == 0.0 || size.is_none_or(|size| from == size))
        });
        let known = held.filter_map(|name| {
            let figure = self.get(name).filter(|figure| figure.value > 0.0)?;
            Some(figure.bound(self.kind, in_words(name)))
        });
        known.collect()
    }

    /// The size for which they are wanted.
    pub(super) fn gib(&self) -> f64 {
        self.gib.unwrap_or_default()
    }

    pub(super) fn day(&self) -> String {
        self.as_of
            .map_or_else(|| "today".to_owned(), |day| format!("on {day}"))
    }

    /// The size in GiB, rounded up to one that is sold; what was assumed or rounded is added to
    /// `assumptions`.
    pub(super) fn size(
        &self,
        offer: &Offer,
        tiers: &[Tier],
        assumptions: &mut Vec<String>,
    ) -> Result<u64, Refusal> {
        let (min, max) = (self.value("size_min") as u64, self.value("size_max") as u64);
        if let Some(name) = &offer.size_name {
            return self.tier(name, tiers).map(|tier| tier.gib);
        }
        let Some(size) = offer.size else {
            let assumed = 1024.clamp(min, max);
            assumptions.push(no_size(Bytes(assumed << 30)));
            return Ok(assumed);
        };
        let (gib, remark) = vendor_gib(size);
        assumptions.extend(remark);
        if (min..=max).contains(&gib) {
            let Some(tier) = tiers.iter().find(|tier| tier.gib >= gib) else {
                return Ok(gib);
            };
            if tier.gib > gib {
                assumptions.push(format!(
                    "{gib} GiB perform and cost as {}, the next size that is sold, of {} GiB",
                    tier.name, tier.gib
                ));
            }
            return Ok(tier.gib);
        }
        let [min, max] = [min, max].map(whole_size);
        let (kind, day) = (self.kind, self.day());
        let message = format!("{kind} comes in sizes of {min} to {max} ({day})");
        Err(Refusal::new(Part::Size, message))
    }

    /// The size of this name; without regard to case.
    fn tier<'s>(&self, name: &str, tiers: &'s [Tier]) -> Result<&'s Tier, Refusal> {
        let found = tiers
            .iter()
            .find(|tier| tier.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            let known: Vec<&str> = tiers.iter().map(|tier| tier.name.as_str()).collect();
            let message = match known.as_slice() {
                [] => format!("{} has no size called {name}: give it in GiB", self.kind),
                known => format!("{} comes as {}", self.kind, known.join(", ")),
            };
            Refusal::new(Part::Size, message)
        })
    }

    /// Provisioned operations: between the least and the most that the size allows. Where the least is
    /// `included`, it is what a volume has without any.
    pub(super) fn iops(
        &self,
        included: bool,
        offer: &Offer,
        gib: f64,
        least: f64,
        most: &Figure,
    ) -> Result<u64, Refusal> {
        let kind = self.kind;
        let needed = self.get("min_iops_per_gib").map(|per| gib * per.value);
        let least = least.max(needed.unwrap_or(0.0).ceil());
        let per_gib = self.value("max_iops_per_gib");
        // The least can be had at every size.
        let by_size = (gib * per_gib).max(least);
        let allowed = most.value.min(by_size);
        let wanted = match offer.iops {
            Some(wanted) => wanted,
            None if included => return Ok(least as u64),
            None => {
                let message = format!(
                    "{kind} is sold by provisioned IOPS: iops={} to {} at {gib} GiB",
                    least as u64, allowed as u64
                );
                return Err(Refusal::new(Part::Volume, message));
            }
        };
        if (wanted as f64) < least {
            let least = count(least);
            let message = if included {
                format!("{kind} includes {least} IOPS; iops= is for more")
            } else if needed.is_some() {
                format!("{kind} of {gib} GiB starts at {least} IOPS")
            } else {
                format!("{kind} starts at {least} IOPS")
            };
            return Err(Refusal::new(Part::Key("iops"), message));
        }
        if wanted as f64 > allowed {
            let [allowed, per_gib, most] = [allowed, per_gib, most.value].map(count);
            let message = format!(
                "{kind} of {gib} GiB allows at most {allowed} IOPS; {per_gib} per GiB, {most} at \
                 most ({})",
                self.day()
            );
            return Err(Refusal::new(Part::Key("iops"), message));
        }
        Ok(wanted)
    }
}

/// To the unit: `16 TiB`, `32,767 GiB`.
fn whole_size(gib: u64) -> String {
    if gib.is_multiple_of(1024) {
        Bytes(gib << 30).to_string()
    } else {
        format!("{} GiB", count(gib as f64))
    }
}

/// The name that a limit has in the tables, in words: `max_iops_per_gib` is `max IOPS per GiB`;
/// `max_kib_per_iops`, which bounds a throughput by a rate, `max KiB/s per IOPS`; `max_iops_1mib`, of
/// operations of that size, `max IOPS of 1 MiB`; and `max_throughput_le_170gib`, of volumes of at most
/// that size (less or equal), `max throughput up to 170 GiB`.
fn in_words(name: &str) -> String {
    let words = name.split('_').map(|word| match word {
        "iops" => "IOPS".to_owned(),
        "gib" => "GiB".to_owned(),
        "vm" => "machine".to_owned(),
        "tib" => "TiB".to_owned(),
        "mibps" => "MiB/s".to_owned(),
        "kib" => "KiB/s".to_owned(),
        "1mib" => "of 1 MiB".to_owned(),
        "le" => "up to".to_owned(),
        other => match other.strip_suffix("gib") {
            Some(number) => format!("{number} GiB"),
            None => other.to_owned(),
        },
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Whether a row is for this engine: several are joined with `|`, and editions of one begin as it
/// does.
fn is_for_engine(row: &str, engine: Option<&str>) -> bool {
    let engine = engine.unwrap_or_default();
    row.is_empty() || row.split('|').any(|known| engine.starts_with(known))
}

/// The source stays a key: of hundreds of rows only the few that hold have theirs looked up.
fn limit_row(row: &Row<'_>) -> Option<LimitRow> {
    let statement = Statement {
        value: row.get("value")?,
        from: row.get("from")?,
        // `to` is the first day on which the value no longer held.
        to: row.get("to").map_or(Date::MAX, |to: Date| to.day_before()),
        dated: row.text("from").to_owned(),
        source: row.text("source").to_owned(),
    };
    Some(LimitRow {
        name: row.text("limit").to_owned(),
        statement,
        unit: unit(row.text("unit"))?,
        gib_from: row.get("gib_from").unwrap_or(0.0),
    })
}

/// The vendor sells whole GiB and writes GB for them, TB for a thousand: 1 TB is 1,000 GiB. Any
/// other size is rounded up to whole GiB. Says what was done.
pub(super) fn vendor_gib(size: Bytes) -> (u64, Option<String>) {
    const GB: u64 = 1_000_000_000;
    if size.0.is_multiple_of(Bytes::GIB.0) {
        return (size.0 >> 30, None);
    }
    let written = blocklab_workload::address::exact(size);
    if size.0.is_multiple_of(GB) {
        let gib = size.0 / GB;
        let shown = count(gib as f64);
        let text = format!("{written} is read as {shown} GiB, which is what the vendor counts in");
        return (gib, Some(text));
    }
    let gib = size.0.div_ceil(Bytes::GIB.0);
    let text = format!("{written} is rounded up to {gib} GiB: volumes come in whole GiB");
    (gib, Some(text))
}
