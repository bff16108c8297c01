//! A volume type as the tables describe it: by which kinds of rule it is limited and charged, and
//! how long it takes. The code knows the kinds of rule, the tables know the types.

use blocklab_device::{Accounting, Latency, Origin, Service, Spread, Tail};
use blocklab_units::{Bytes, Nanos};

use super::limits::{Limits, LimitsOf, Tier};
use crate::Catalog;
use crate::embedded::Section;
use crate::price::Per;
use crate::table::{Row, Table};

/// What decides the operations a second of a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IopsRule {
    /// This many per GiB between a floor and a cap, with burst credits where the tables have some.
    BySize,
    /// Some come with the volume, more are sold.
    Included,
    /// All are sold.
    Provisioned,
    /// This many for the size that it is sold in, more in a burst.
    ByTier,
    /// This many per GiB of all volumes of the type on a machine, reads and writes apart.
    BySum,
    /// The same for all sizes.
    Fixed,
    /// They follow the bytes that are sold.
    ByThroughput,
    /// No rate is promised.
    BestEffort,
    /// Only bytes are limited.
    None,
}

/// What decides the bytes a second of a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThroughputRule {
    /// The same for all sizes from a step on.
    Fixed,
    /// Some comes with the volume, more is sold.
    Included,
    /// It follows the operations.
    ByIops,
    /// This many MiB/s per TiB, with burst credits.
    BySize,
    /// A rate for the size that it is sold in, more in a burst.
    ByTier,
    /// A rate per GiB of all volumes of the type on a machine.
    BySum,
    /// All of it is sold.
    Provisioned,
    /// Only operations are limited.
    None,
}

/// For which amounts a price holds: those above `above` up to `up_to`; `None`: up to any.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct PriceStep {
    pub(crate) above: f64,
    pub(crate) up_to: Option<f64>,
}

const IOPS_RULES: [(&str, IopsRule, &[&str]); 9] = [
    (
        "by-size",
        IopsRule::BySize,
        &["baseline_iops_per_gib", "min_iops", "max_iops"],
    ),
    (
        "included",
        IopsRule::Included,
        &["base_iops", "max_iops", "max_iops_per_gib"],
    ),
    (
        "provisioned",
        IopsRule::Provisioned,
        &["min_iops", "max_iops", "max_iops_per_gib"],
    ),
    (
        "best-effort",
        IopsRule::BestEffort,
        &[
            "iops_average",
            "low_iops",
            "high_iops",
            "low_throughput",
            "high_throughput",
        ],
    ),
    ("by-tier", IopsRule::ByTier, &["iops"]),
    (
        "by-sum",
        IopsRule::BySum,
        &[
            "read_iops_per_gib",
            "write_iops_per_gib",
            "base_iops_per_vm",
        ],
    ),
    ("fixed", IopsRule::Fixed, &["max_iops"]),
    ("by-throughput", IopsRule::ByThroughput, &["iops_per_mibps"]),
    ("none", IopsRule::None, &[]),
];

const THROUGHPUT_RULES: [(&str, ThroughputRule, &[&str]); 8] = [
    ("fixed", ThroughputRule::Fixed, &["max_throughput"]),
    (
        "included",
        ThroughputRule::Included,
        &["base_throughput", "max_throughput"],
    ),
    ("by-iops", ThroughputRule::ByIops, &["max_throughput"]),
    (
        "by-size",
        ThroughputRule::BySize,
        &[
            "base_mibps_per_tib",
            "burst_mibps_per_tib",
            "bucket",
            "max_throughput",
        ],
    ),
    ("by-tier", ThroughputRule::ByTier, &["throughput"]),
    (
        "by-sum",
        ThroughputRule::BySum,
        &["throughput_per_gib", "base_throughput_per_vm"],
    ),
    (
        "provisioned",
        ThroughputRule::Provisioned,
        &["min_throughput", "max_throughput"],
    ),
    ("none", ThroughputRule::None, &[]),
];

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kind {
    pub(crate) name: String,
    pub(crate) iops: IopsRule,
    pub(crate) throughput: ThroughputRule,
    pub(crate) accounting: Accounting,
    pub(crate) service: Service,
    /// The type whose prices hold.
    pub(crate) priced_as: String,
    /// The vendor's default for a volume that is changed to this type.
    pub(crate) default_iops: Option<u64>,
    /// Where the second and later steps of the price of an IOPS begin.
    pub(crate) iops_tiers: Vec<f64>,
    /// What the message about a refused key names instead: `io2 is provisioned`.
    pub(crate) instead: String,
    /// The type whose limits hold.
    pub(crate) limits_as: String,
    /// What its machine calls the disks among which it is counted; of several names with `|` between
    /// them, the first of which the machine has limits.
    pub(crate) group: String,
    /// It cannot be read through a cache of the host.
    pub(crate) is_uncached: bool,
    /// What is assumed of it, where its limits are not all.
    pub(crate) assumes: String,
    /// Why nothing can be said of it on a machine. Empty: something can.
    pub(crate) refused: String,
    /// Whether its limits are known from its launch on, so that an earlier day is refused. Those of AWS
    /// are, whose types have no vendor in their name.
    pub(crate) is_dated: bool,
}

/// A row that reads well and cannot be used.
#[derive(Debug)]
pub(crate) struct UnsoundRow {
    pub(crate) section: Section,
    pub(crate) name: String,
    pub(crate) why: String,
}

/// The rule of this name in a table of rules; `what` it is for is part of the error.
fn known<T: Copy>(
    what: &str,
    text: &str,
    pairs: &[(&'static str, T, &'static [&'static str])],
) -> Result<T, String> {
    let found = pairs.iter().find(|(name, ..)| *name == text);
    found.map(|(_, rule, _)| *rule).ok_or_else(|| {
        let names: Vec<_> = pairs.iter().map(|(name, ..)| *name).collect();
        format!(
            "`{text}` is no rule for {what}; the rules are {}",
            names.join(", ")
        )
    })
}

impl Kind {
    /// The type that a row describes.
    ///
    /// # Errors
    /// The cell that cannot be understood, and what it may hold.
    fn from_row(catalog: &Catalog, row: &Row<'_>) -> Result<Self, String> {
        let name = row.text("type").to_owned();
        let latency = row.text("latency");
        let own_price = match row.text("priced_as") {
            "" => &name,
            other => other,
        };
        let tiers = row.text("iops_tiers").split('|');
        let tiers = tiers.filter(|tier| !tier.is_empty());
        let iops_tiers: Result<_, _> = tiers.map(|tier| number("iops_tiers", tier)).collect();
        let default_iops = match row.text("default_iops") {
            "" => None,
            text => Some(number("default_iops", text)? as u64),
        };
        Ok(Self {
            iops: known("iops", row.text("iops"), &IOPS_RULES)?,
            throughput: known("throughput", row.text("throughput"), &THROUGHPUT_RULES)?,
            accounting: accounting(row)?,
            service: catalog.latency(latency)?,
            priced_as: own_price.to_owned(),
            default_iops,
            iops_tiers: iops_tiers?,
            instead: row.text("instead").to_owned(),
            limits_as: match row.text("limits_as") {
                "" => name.clone(),
                other => other.to_owned(),
            },
            group: row.text("group").to_owned(),
            is_uncached: row.text("cache") != "yes",
            assumes: row.text("assumes").to_owned(),
            refused: row.text("refused").to_owned(),
            is_dated: !name.contains('/'),
            name,
        })
    }

    /// Whether the user may ask for throughput.
    pub(crate) fn sells_throughput(&self) -> bool {
        matches!(
            self.throughput,
            ThroughputRule::Included | ThroughputRule::Provisioned
        )
    }

    /// By which names its limits are found.
    pub(super) fn limits_of(&self) -> LimitsOf<'_> {
        LimitsOf {
            name: &self.name,
            limits_as: &self.limits_as,
            is_dated: self.is_dated,
        }
    }

    /// Whether nothing is known to limit it.
    pub(crate) fn has_no_limits(&self) -> bool {
        (self.iops, self.throughput) == (IopsRule::None, ThroughputRule::None)
    }

    /// The sizes in which it is sold, the smallest first; none: any.
    pub(crate) fn tiers(&self, catalog: &Catalog) -> Vec<Tier> {
        let rows = catalog.rows_of(Section::VolumeSizes, &self.name);
        let tiers = rows.filter_map(|row| {
            let name = row.text("size").to_owned();
            row.get("gib").map(|gib| Tier { name, gib })
        });
        let mut tiers: Vec<Tier> = tiers.collect();
        tiers.sort_by_key(|tier| tier.gib);
        tiers
    }

    /// The amounts for which a tier of the price list, counted from 1, gives the price.
    pub(crate) fn price_step(&self, catalog: &Catalog, per: Per, tier: usize) -> PriceStep {
        let included = match per {
            Per::IopsMonth if self.iops == IopsRule::Included => "base_iops",
            Per::MibpsMonth if self.throughput == ThroughputRule::Included => "base_throughput",
            Per::IopsMonth if !self.iops_tiers.is_empty() => {
                let begins: Vec<f64> = [&[0.0], &*self.iops_tiers].concat();
                // A tier that the type does not have gets the price of the first.
                let index = if (1..=begins.len()).contains(&tier) {
                    tier - 1
                } else {
                    0
                };
                return PriceStep {
                    above: begins[index],
                    up_to: begins.get(index + 1).copied(),
                };
            }
            _ => return PriceStep::default(),
        };
        let newest = Limits::newest(catalog, self.limits_of()).ok();
        let figure = newest.and_then(|limits| limits.get(included));
        PriceStep {
            above: figure.map_or(0.0, |figure| figure.value),
            up_to: None,
        }
    }

    /// Checks that the tables have what the rules of the type need, for every engine that they name.
    ///
    /// # Errors
    /// A limit that a rule of this type needs and that the tables do not have.
    fn check(&self, catalog: &Catalog) -> Result<(), String> {
        let engines = Limits::engines(catalog, self.limits_of());
        if engines.is_empty() {
            return self.check_limits(catalog, None);
        }
        let mut names = engines.iter().flat_map(|known| known.split('|'));
        names.try_for_each(|name| self.check_limits(catalog, Some(name)))
    }

    /// Whether the tables have every limit that the rules of this type need.
    fn check_limits(&self, catalog: &Catalog, engine: Option<&str>) -> Result<(), String> {
        let limits = Limits::find(catalog, self.limits_of(), None, engine)
            .map_err(|refusal| refusal.message)?;
        let of_iops = IOPS_RULES.iter().find(|(_, rule, _)| *rule == self.iops);
        let of_bytes = THROUGHPUT_RULES
            .iter()
            .find(|(_, rule, _)| *rule == self.throughput);
        let mut needed = vec!["size_min", "size_max"];
        needed.extend(of_iops.iter().flat_map(|(.., names)| *names));
        needed.extend(of_bytes.iter().flat_map(|(.., names)| *names));
        let bursts = limits.get("burst_iops").or(limits.get("burst_throughput"));
        if bursts.is_some() && self.iops == IopsRule::BySize {
            needed.extend(["burst_bucket", "initial_credits"]);
        }
        let has_tiers = self.iops == IopsRule::ByTier || self.throughput == ThroughputRule::ByTier;
        if bursts.is_some() && has_tiers {
            needed.push("burst_seconds");
        }
        if self.throughput == ThroughputRule::ByIops && limits.get("mibps_per_iops").is_none() {
            needed.push("max_kib_per_iops");
        }
        let kind = &self.name;
        // Smaller sizes than the first tier are rounded up to it.
        let first_tier = self.tiers(catalog).first().map(|tier| tier.gib as f64);
        let smallest = first_tier.or(limits.get("size_min").map(|size| size.value));
        for name in needed {
            if limits.get(name).is_none() || limits.first_size(name) > smallest {
                return Err(format!(
                    "{kind} needs the limit {name} in volume-limits, from its smallest size on"
                ));
            }
        }
        if limits.value("size_min") > limits.value("size_max") {
            return Err(format!(
                "{kind} has a size_min above its size_max in volume-limits"
            ));
        }
        Ok(())
    }
}

fn number(column: &str, text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 => Ok(number),
        _ => Err(format!("`{text}` is no number of {column}")),
    }
}

fn cell(column: &str, row: &Row<'_>) -> Result<f64, String> {
    number(column, row.text(column))
}

/// How operations are counted, by the columns `counted` and `unit_kib`.
fn accounting(row: &Row<'_>) -> Result<Accounting, String> {
    let unit = cell("unit_kib", row).map(|kib| Bytes((kib * 1024.0) as u64));
    match row.text("counted") {
        "merged" => Ok(Accounting::Merged { unit: unit? }),
        "split" => Ok(Accounting::Split { unit: unit? }),
        "whole" => Ok(Accounting::WholeUnits { unit: unit? }),
        "each" => Ok(Accounting::Plain),
        other => Err(format!(
            "`{other}` is no way to count; there are merged, split, whole, each"
        )),
    }
}

/// Where a figure comes from, by the columns `evidence`, `why` and `date`.
fn origin(row: &Row<'_>) -> Result<Origin, String> {
    let why = row.text("why");
    match row.text("evidence") {
        "measured" => Ok(Origin::measured(why)),
        "documented" => Ok(Origin::documented(why, row.text("date"))),
        "assumed" => Ok(Origin::assumed(why)),
        other => Err(format!(
            "`{other}` is no evidence; there are measured, documented, assumed"
        )),
    }
}

fn line(row: &Row<'_>) -> Result<Latency, String> {
    Ok(Latency {
        base: Nanos((cell("base_us", row)? * 1e3 + 0.5) as u64),
        per_kib_ns: cell("us_per_kib", row)? * 1e3,
        origin: origin(row)?,
    })
}

fn tail(row: &Row<'_>) -> Result<Tail, String> {
    Ok(Tail {
        share: cell("share", row)?,
        factor: cell("factor", row)?,
        sigma: cell("sigma", row)?,
    })
}

/// The origin of the scatter and of its tail together: assumed where either is assumed.
fn scatter_origin(scatter: &Row<'_>, tail: Option<&Row<'_>>) -> Result<Origin, String> {
    let body = origin(scatter)?;
    let Some(tail) = tail else {
        return Ok(body);
    };
    let why = format!("{}; tail: {}", scatter.text("why"), tail.text("why"));
    Ok(match origin(tail)? {
        of_tail if of_tail.is_assumed() || body.is_assumed() => Origin::assumed(&why),
        Origin::Documented { date, .. } => Origin::documented(&why, &date),
        _ => Origin::measured(&why),
    })
}

impl Catalog {
    pub(crate) fn volume_type_row(&self, name: &str) -> Option<Row<'_>> {
        self.rows_of(Section::VolumeTypes, name).next()
    }

    /// The volume type of this name; `None` if there is none.
    pub(crate) fn volume_type(&self, name: &str) -> Option<Kind> {
        let row = self.volume_type_row(name)?;
        match Kind::from_row(self, &row) {
            Ok(kind) => Some(kind),
            // A user's rows are checked when they are loaded, and the embedded ones by a test.
            Err(why) => unreachable!("{name}: {why}"),
        }
    }

    /// All types, sorted by name.
    pub(crate) fn kinds(&self) -> Vec<Kind> {
        let names = self.keys(Section::VolumeTypes).into_iter();
        names.filter_map(|name| self.volume_type(name)).collect()
    }

    /// Whether every type and every latency is described so that it can be used.
    ///
    /// # Errors
    /// Which row cannot, and why.
    pub(crate) fn check_types(&self) -> Result<(), UnsoundRow> {
        for name in self.tables(Section::VolumeLatencies).flat_map(Table::keys) {
            self.latency(name).map_err(|why| UnsoundRow {
                section: Section::VolumeLatencies,
                name: name.to_owned(),
                why,
            })?;
        }
        for row in self.rows(Section::VolumeTypes) {
            let kind = Kind::from_row(self, &row);
            let sound = kind.and_then(|kind| kind.check(self));
            sound.map_err(|why| UnsoundRow {
                section: Section::VolumeTypes,
                name: row.text("type").to_owned(),
                why,
            })?;
        }
        Ok(())
    }

    /// How long operations take by the rows of that name.
    ///
    /// # Errors
    /// Where no row has that name, or one cannot be understood.
    pub(crate) fn latency(&self, name: &str) -> Result<Service, String> {
        let rows = self.latency_rows(name);
        let parts = ["random", "random-write", "stream", "scatter"];
        let [random, random_write, stream, scatter] = parts.map(|part| {
            let row = rows.iter().find(|row| row.text("part") == part);
            row.ok_or_else(|| format!("volume-latency has no {part} of `{name}`"))
        });
        let random = line(random?)?;
        let random_write = random_write.ok().map(line).transpose()?;
        let stream = stream.ok().map(line).transpose()?;
        let scatter = scatter?;
        let slow = self.tail_row(name);
        let spread = Spread {
            sigma: cell("sigma", scatter)?,
            tail: slow.as_ref().map(tail).transpose()?,
            origin: scatter_origin(scatter, slow.as_ref())?,
        };
        // Writes take as long as reads, and streams as long as random operations, unless rows say
        // otherwise.
        let even = Service::even(random, spread);
        Ok(Service {
            stream_read: stream.clone(),
            stream_write: stream,
            write: random_write.unwrap_or_else(|| even.write.clone()),
            ..even
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An assumed scatter was passed off as documented where its tail is.
    #[test]
    fn what_is_assumed_in_part_is_assumed() {
        let text =
            "latency,evidence,date,why\na,assumed,,a guess\na,documented,2025-01-01,a guide\n";
        let rows: Vec<Row<'_>> = Table::new(text).rows().collect();
        let both = scatter_origin(&rows[0], Some(&rows[1]));
        assert_eq!(both, Ok(Origin::assumed("a guess; tail: a guide")));
    }
}
