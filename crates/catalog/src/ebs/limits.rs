//! What the tables say of one EBS type on one day, and what may be bought within it.

use blocklab_device::{Limit, LimitUnit};
use blocklab_units::{Bytes, count};
use blocklab_workload::{Date, Offer, address::Part};

use crate::Catalog;
use crate::embedded::Section;
use crate::error::Refusal;
use crate::figure::{Figure, Seen, holds, unit};
use crate::table::Row;

/// The documented limits of one type on one day.
pub(super) struct Limits<'k> {
    pub(super) kind: &'k str,
    rows: Vec<(String, Seen, LimitUnit)>,
    as_of: Option<Date>,
}

impl<'k> Limits<'k> {
    /// # Errors
    /// When the type was not yet sold on that day.
    pub(super) fn find(
        catalog: &Catalog,
        kind: &'k str,
        as_of: Option<Date>,
    ) -> Result<Self, Refusal> {
        let rows: Vec<_> = catalog
            .tables(Section::VolumeLimits)
            .flat_map(|table| table.rows_of(kind))
            .filter_map(|row| limit_row(catalog, &row))
            .collect();
        let first = rows.iter().map(|(_, seen, _)| seen.from).min();
        match (first, as_of) {
            (Some(first), Some(day)) if day < first => Err(Refusal::new(
                Part::Key("as-of"),
                format!("{kind} is sold since {first}; {day} is earlier"),
            )),
            _ => Ok(Self { kind, rows, as_of }),
        }
    }

    /// The value on that day; where only later ones are known, the first of them, as an assumption.
    pub(super) fn get(&self, limit: &str) -> Option<Figure> {
        let rows: Vec<_> = self
            .rows
            .iter()
            .filter(|(name, _, _)| name == limit)
            .collect();
        let seen: Vec<Seen> = rows.iter().map(|(_, seen, _)| seen.clone()).collect();
        let held = holds(&seen, self.as_of)?;
        Some(held.figure(rows[0].2))
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
        let numbered = self.rows.iter().filter_map(|(name, ..)| {
            let number = name.strip_prefix(before)?.strip_suffix(after)?;
            Some((number.parse().ok()?, name.as_str()))
        });
        let mut found: Vec<(f64, &str)> = numbered.collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        found.dedup();
        found
    }

    /// All that holds, in the words of the table.
    pub(super) fn all(&self) -> Vec<Limit> {
        let mut names: Vec<&String> = Vec::new();
        for (name, ..) in &self.rows {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let known = names.into_iter().filter_map(|name| {
            let figure = self.get(name).filter(|figure| figure.value > 0.0)?;
            Some(figure.bound(self.kind, spoken(name)))
        });
        known.collect()
    }

    pub(super) fn day(&self) -> String {
        self.as_of
            .map_or_else(|| "today".to_owned(), |day| format!("on {day}"))
    }

    pub(super) fn size(
        &self,
        offer: &Offer,
        assumptions: &mut Vec<String>,
    ) -> Result<u64, Refusal> {
        let (min, max) = (self.value("size_min") as u64, self.value("size_max") as u64);
        let Some(size) = offer.size else {
            let assumed = 1024.clamp(min, max);
            let text = Bytes(assumed << 30);
            assumptions.push(format!("no size is given: {text} is assumed"));
            return Ok(assumed);
        };
        let (gib, remark) = vendor_gib(size);
        assumptions.extend(remark);
        if (min..=max).contains(&gib) {
            return Ok(gib);
        }
        let (min, max) = (Bytes(min << 30), Bytes(max << 30));
        let (kind, day) = (self.kind, self.day());
        let message = format!("{kind} comes in sizes of {min} to {max} ({day})");
        Err(Refusal::new(Part::Size, message))
    }

    /// Provisioned operations: between the least and the most that the size allows. The least is
    /// what nobody has to ask for where it is included.
    pub(super) fn iops(
        &self,
        included: bool,
        offer: &Offer,
        gib: f64,
        least: f64,
        most: &Figure,
    ) -> Result<u64, Refusal> {
        let kind = self.kind;
        let per_gib = self.value("max_iops_per_gib");
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

/// The name of a limit in words: `max IOPS per GiB`.
fn spoken(name: &str) -> String {
    let words = name.split('_').map(|word| match word {
        "iops" => "IOPS".to_owned(),
        "gib" => "GiB".to_owned(),
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

fn limit_row(catalog: &Catalog, row: &Row<'_>) -> Option<(String, Seen, LimitUnit)> {
    let seen = Seen {
        value: row.get("value")?,
        from: row.get("from")?,
        // `to` is the first day on which the value no longer held.
        to: row.get("to").map_or(Date::MAX, |to: Date| to.day_before()),
        dated: row.text("from").to_owned(),
        source: catalog.source(row.text("source")).text,
    };
    let unit = unit(row.text("unit"))?;
    Some((row.text("limit").to_owned(), seen, unit))
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
