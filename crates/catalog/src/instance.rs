//! EC2 instance types: what each grants to its volumes, and the disks that it has itself.

use blocklab_device::{Limit, LimitUnit, Origin};
use blocklab_workload::Date;

use crate::catalog::Catalog;
use crate::embedded::{DOCUMENTED, LAUNCHES, LOCAL_MEASURED, SNAPSHOTS, STORES, Section};
use crate::figure::{Figure, InForce, Statement, holds};
use crate::table::{Row, Table};

/// What is known of an instance type on a day.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Instance {
    pub(crate) name: String,
    pub(crate) vcpus: Option<u32>,
    pub(crate) memory_mib: Option<u64>,
    /// The most, 10^9 bits a second.
    pub(crate) network_gbps: Option<f64>,
    /// Built on the vendor's Nitro system, bare metal included.
    pub(crate) nitro: bool,
    pub(crate) ebs: Option<Ebs>,
    pub(crate) attachments: Option<Figure>,
    pub(crate) store: Option<Store>,
}

/// What the instance grants to all its EBS volumes together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ebs {
    pub(crate) base_mb: Figure,
    pub(crate) max_mb: Figure,
    pub(crate) base_iops: Figure,
    pub(crate) max_iops: Figure,
}

/// The instance's own disks. Rates are those of all disks together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Store {
    pub(crate) disks: u32,
    pub(crate) disk_gb: f64,
    /// `ssd` or `hdd`.
    pub(crate) kind: String,
    pub(crate) nvme: bool,
    pub(crate) shape: Origin,
    pub(crate) read_iops: Option<Figure>,
    pub(crate) write_iops: Option<Figure>,
    /// 10^6 B/s.
    pub(crate) read_mb: Option<Figure>,
    /// 10^6 B/s. No document gives any.
    pub(crate) write_mb: Option<Figure>,
}

/// `i3` of `i3.xlarge`.
pub(crate) fn family(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// Whether an instance type is built on the vendor's Nitro system, as bare metal always is.
pub(crate) fn is_nitro(row: &Row<'_>) -> bool {
    row.text("metal") == "yes" || row.text("hypervisor") == "nitro"
}

impl Catalog {
    /// What was known of an instance type on a day; `None`: it is in no list.
    pub(crate) fn instance(&self, name: &str, as_of: Option<Date>) -> Option<Instance> {
        let rows = self.instance_rows(name);
        let row = rows.first()?;
        let history = History::read(self, name, &rows);
        Some(Instance {
            name: name.to_owned(),
            vcpus: row.get("vcpu"),
            memory_mib: row.get("memory_mib"),
            network_gbps: row.get("net_peak_gbps"),
            nitro: is_nitro(row),
            ebs: history.ebs(as_of),
            attachments: self.attachments(row),
            store: self.store(row, &history, as_of),
        })
    }

    /// The day since which a type is sold, where that is known.
    pub(crate) fn sold_since(&self, name: &str) -> Option<Date> {
        let table = Table::embedded(LAUNCHES);
        let mut rows = table.rows_of(name).chain(table.rows_of(family(name)));
        rows.next()?.get("from")
    }

    /// What lists say of a type, the newest first; at equal dates the user's.
    pub(crate) fn instance_rows(&self, name: &str) -> Vec<Row<'_>> {
        let mut rows: Vec<_> = self.rows_of(Section::Instances, name).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(self.source(row.text("source")).date));
        rows
    }

    /// How many volumes the machine of a row takes, where that is known.
    pub(crate) fn attachments(&self, row: &Row<'_>) -> Option<Figure> {
        Some(Figure {
            value: row.get("attachments")?,
            unit: LimitUnit::Volumes,
            origin: self.origin(row),
        })
    }

    /// The disks of an instance; `None` if it has none. Rates that are not documented are taken
    /// from measurements.
    fn store(&self, row: &Row<'_>, history: &History, as_of: Option<Date>) -> Option<Store> {
        let (name, disks) = (row.text("type"), row.get("disks")?);
        let [read_iops, write_iops, read_mb] = [
            (Metric::StoreReadIops, "read_iops", LimitUnit::Iops),
            (Metric::StoreWriteIops, "write_iops", LimitUnit::Iops),
            (Metric::StoreReadMb, "read_bytes_per_s", LimitUnit::MbPerS),
        ]
        .map(|(metric, column, unit)| match history.at(metric, as_of) {
            Some(held) => Some(held.figure(unit)),
            None => self.measured_store(name, disks, column, unit),
        });
        Some(Store {
            disks,
            disk_gb: row.get("disk_gb")?,
            kind: row.text("disk_kind").to_owned(),
            nvme: matches!(row.text("disk_nvme"), "req" | "yes"),
            shape: self.origin(row),
            read_iops,
            write_iops,
            read_mb,
            write_mb: self.measured_store(name, disks, "write_bytes_per_s", LimitUnit::MbPerS),
        })
    }

    /// What was measured of the disks of a type, all together: of the type itself, else of its
    /// family.
    fn measured_store(
        &self,
        name: &str,
        disks: u32,
        column: &str,
        unit: LimitUnit,
    ) -> Option<Figure> {
        let table = Table::embedded(LOCAL_MEASURED);
        let whole_family = format!("{}.*", family(name));
        let mut rows = table.rows_of(name).chain(table.rows_of(&whole_family));
        let (value, row) = rows.find_map(|row| Some((row.get::<f64>(column)?, row)))?;
        // Most figures are those of one disk.
        let count = match row.text("per") {
            "instance" => 1.0,
            _ => f64::from(disks),
        };
        let scale = if unit == LimitUnit::MbPerS { 1e6 } else { 1.0 };
        let source = self.source(row.text("source")).text;
        Some(Figure {
            value: value * count / scale,
            unit,
            origin: Origin::measured(&source),
        })
    }

    /// The document that a row cites, with its day.
    pub(crate) fn origin(&self, row: &Row<'_>) -> Origin {
        let source = self.source(row.text("source"));
        let date = source.date.map_or(String::new(), |date| date.to_string());
        Origin::documented(&source.text, &date)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Metric {
    BaseMb,
    MaxMb,
    BaseIops,
    MaxIops,
    StoreReadIops,
    StoreWriteIops,
    StoreReadMb,
}

/// Everything that sources stated of one instance type, and when.
struct History {
    statements: Vec<(Metric, Statement)>,
}

impl History {
    /// Collects the statements of all tables about an instance.
    fn read(catalog: &Catalog, name: &str, rows: &[Row<'_>]) -> Self {
        let mut history = Self {
            statements: Vec::new(),
        };
        for row in Table::embedded(DOCUMENTED).rows_of(name) {
            // A statement in doubt is kept in the table, but no device is made of it.
            if row.text("doubt").is_empty() {
                let days = row.get("from").zip(row.get("to"));
                history.add_statements(catalog, &row, days);
            }
        }
        for row in Table::embedded(SNAPSHOTS).rows_of(name) {
            let date = row.get("date");
            history.add_statements(catalog, &row, date.zip(date));
        }
        for row in rows {
            let date = catalog.source(row.text("source")).date;
            history.add_statements(catalog, row, date.zip(date));
        }
        for row in Table::embedded(STORES).rows_of(name) {
            let date = row.get("date");
            let figures = [
                (Metric::StoreReadIops, row.get("read_iops")),
                (Metric::StoreWriteIops, row.get("write_iops")),
                (Metric::StoreReadMb, row.get("read_MBps")),
            ];
            history.add(catalog, &row, date.zip(date), &figures);
        }
        history
    }

    /// What the user guide, or an answer of the vendor's interface, states of limits: a throughput
    /// next to a bandwidth is left out where they agree, and marked `-` where none was stated.
    fn add_statements(&mut self, catalog: &Catalog, row: &Row<'_>, days: Option<(Date, Date)>) {
        let [base_mb, max_mb] = [
            ("ebs_base_MBps", "ebs_base_mbps"),
            ("ebs_max_MBps", "ebs_max_mbps"),
        ]
        .map(|(mb, bits)| match row.text(mb) {
            "-" => None,
            "" => row.get::<f64>(bits).map(|bits| bits / 8.0),
            _ => row.get(mb),
        });
        let figures = [
            (Metric::BaseMb, base_mb),
            (Metric::MaxMb, max_mb),
            (Metric::BaseIops, row.get("ebs_base_iops")),
            (Metric::MaxIops, row.get("ebs_max_iops")),
            (Metric::StoreReadIops, row.get("store_read_iops")),
            (Metric::StoreWriteIops, row.get("store_write_iops")),
        ];
        self.add(catalog, row, days, &figures);
    }

    /// Adds the figures of a row. A row without days says nothing that can be dated, and is left
    /// out.
    fn add(
        &mut self,
        catalog: &Catalog,
        row: &Row<'_>,
        days: Option<(Date, Date)>,
        figures: &[(Metric, Option<f64>)],
    ) {
        let Some((from, to)) = days else { return };
        let source = catalog.source(row.text("source")).text;
        for (metric, value) in figures {
            if let Some(value) = *value {
                let statement = Statement::over(from, to, value, &source);
                self.statements.push((*metric, statement));
            }
        }
    }

    fn at(&self, metric: Metric, as_of: Option<Date>) -> Option<InForce> {
        let of_metric = self.statements.iter().filter(|(known, _)| *known == metric);
        let statements: Vec<Statement> = of_metric.map(|(_, one)| one.clone()).collect();
        holds(&statements, as_of)
    }

    /// The limits on a day; today's without one. `None` if a maximum is not documented.
    fn ebs(&self, as_of: Option<Date>) -> Option<Ebs> {
        let max_mb = self.at(Metric::MaxMb, as_of)?.figure(LimitUnit::MbPerS);
        let max_iops = self.at(Metric::MaxIops, as_of)?.figure(LimitUnit::Iops);
        Some(Ebs {
            base_mb: self.baseline(Metric::BaseMb, &max_mb, as_of, LimitUnit::MbPerS),
            max_mb,
            base_iops: self.baseline(Metric::BaseIops, &max_iops, as_of, LimitUnit::Iops),
            max_iops,
        })
    }

    /// Until 2023 the user guide listed a baseline only for types that burst. So where none is
    /// known for the day, and the first that was stated equals the maximum of its own day, the
    /// type sustains its maximum.
    fn baseline(
        &self,
        metric: Metric,
        max: &Figure,
        as_of: Option<Date>,
        unit: LimitUnit,
    ) -> Figure {
        let Some(base) = self.at(metric, as_of) else {
            return max.clone();
        };
        let ceiling = match metric {
            Metric::BaseMb => Metric::MaxMb,
            _ => Metric::MaxIops,
        };
        let then = self.at(ceiling, Some(base.statement.from));
        let sustained = then.is_some_and(|max| max.statement.value <= base.statement.value);
        if base.is_later && sustained || base.statement.value >= max.value {
            max.clone()
        } else {
            base.figure(unit)
        }
    }
}

/// The limits that held for every instance, in the years when there were such. Without a day, those
/// of today.
pub(crate) fn common_limits(catalog: &Catalog, as_of: Option<Date>) -> Vec<Limit> {
    let day = as_of.unwrap_or(Date::MAX);
    let tables = Section::VolumeLimits.embedded().iter();
    let rows = tables.flat_map(|text| Table::new(text).rows_of("instance"));
    let limits = rows.filter_map(|row| {
        let has_begun = row.get::<Date>("from").is_some_and(|from| from <= day);
        if !has_begun || row.get::<Date>("to").is_some_and(|to| to <= day) {
            return None;
        }
        let (what, unit) = match row.text("unit") {
            "IOPS" => ("most IOPS", LimitUnit::Iops),
            _ => ("most throughput", LimitUnit::MibPerS),
        };
        let source = catalog.source(row.text("source")).text;
        let figure = Figure {
            value: row.get("value")?,
            unit,
            origin: Origin::documented(&source, row.text("from")),
        };
        Some(figure.bound("any instance", what))
    });
    limits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ebs(name: &str, day: Option<&str>) -> Option<Ebs> {
        let day = day.map(|day| day.parse().expect("a day"));
        Catalog::embedded().instance(name, day).expect(name).ebs
    }

    #[track_caller]
    fn check(name: &str, day: Option<&str>, base: (f64, f64), max: (f64, f64)) {
        let ebs = ebs(name, day).expect("EBS limits");
        let got = (ebs.base_mb.value, ebs.base_iops.value);
        assert_eq!(got, base, "{name} {day:?}: baseline");
        let got = (ebs.max_mb.value, ebs.max_iops.value);
        assert_eq!(got, max, "{name} {day:?}: maximum");
    }

    /// The rules in force on the days of the published studies (`rules-in-force.csv`).
    #[test]
    fn limits_of_instances_on_the_days_of_the_studies() {
        let m4 = Some("2016-04-19");
        check("m4.large", m4, (56.25, 3600.0), (56.25, 3600.0));
        check("m4.xlarge", m4, (93.75, 6000.0), (93.75, 6000.0));
        check("m4.2xlarge", m4, (125.0, 8000.0), (125.0, 8000.0));
        check("m4.4xlarge", m4, (250.0, 16_000.0), (250.0, 16_000.0));
        check("m4.10xlarge", m4, (500.0, 32_000.0), (500.0, 32_000.0));
        let i3 = |day, mb, iops| check("i3.metal", day, (mb, iops), (mb, iops));
        i3(Some("2018-06-25"), 1250.0, 64_000.0);
        i3(Some("2018-11-29"), 1250.0, 64_000.0);
        i3(Some("2018-12-06"), 1250.0, 64_000.0);
        i3(Some("2018-12-07"), 1750.0, 65_000.0);
        i3(Some("2020-02-27"), 1750.0, 65_000.0);
        i3(Some("2020-02-28"), 2375.0, 80_000.0);
        i3(None, 2375.0, 80_000.0);
        let r5d = |day, mb| check("r5d.xlarge", day, (mb, 6000.0), (593.75, 18_750.0));
        r5d(Some("2020-12-11"), 143.75);
        r5d(None, 143.75);
        check(
            "r5d.xlarge",
            Some("2019-12-03"),
            (106.25, 6000.0),
            (437.5, 18_750.0),
        );
        check(
            "im4gn.large",
            Some("2021-12-01"),
            (154.375, 5000.0),
            (1187.5, 40_000.0),
        );
        check("im4gn.large", None, (156.25, 5000.0), (1250.0, 40_000.0));
        check(
            "i2.xlarge",
            Some("2017-02-27"),
            (62.5, 4000.0),
            (62.5, 4000.0),
        );
        assert_eq!(ebs("i2.8xlarge", None), None, "no document gives any");
    }

    /// A figure of another day is not passed off as one of this day.
    #[test]
    fn a_day_before_every_document_is_an_assumption() {
        let known = ebs("i3.metal", Some("2018-06-25")).expect("limits");
        assert!(!known.max_mb.origin.is_assumed());
        let guessed = ebs("i3.metal", Some("2018-06-24")).expect("limits");
        assert!(guessed.max_mb.origin.is_assumed());
    }

    #[track_caller]
    fn check_store(name: &str, day: Option<&str>, read: f64, write: f64) {
        let day = day.map(|day| day.parse().expect("a day"));
        let instance = Catalog::embedded().instance(name, day).expect(name);
        let store = instance.store.expect("local disks");
        let value = |figure: Option<Figure>| figure.map(|figure| figure.value);
        assert_eq!(value(store.read_iops), Some(read), "{name} {day:?}: reads");
        assert_eq!(
            value(store.write_iops),
            Some(write),
            "{name} {day:?}: writes"
        );
    }

    /// The edition of 2023-01-19 stated 248,000 and 99,200 for i3.xlarge, and was wrong.
    #[test]
    fn local_disks_on_the_days_of_the_studies() {
        check_store("i2.xlarge", Some("2017-02-27"), 35_000.0, 35_000.0);
        check_store("i3.xlarge", Some("2017-02-27"), 206_250.0, 18_750.0);
        check_store("i3.xlarge", Some("2018-02-01"), 206_250.0, 18_750.0);
        check_store("i3.xlarge", Some("2018-02-02"), 206_250.0, 70_000.0);
        check_store("i3.xlarge", Some("2023-01-19"), 206_250.0, 70_000.0);
        check_store("i3.xlarge", None, 206_250.0, 70_000.0);
        check_store("i3.metal", Some("2018-08-01"), 3_300_000.0, 1_400_000.0);
        check_store("i3.metal", None, 3_300_000.0, 1_400_000.0);
        check_store("r5d.xlarge", Some("2018-08-22"), 58_330.0, 28_330.0);
        check_store("r5d.xlarge", Some("2020-12-11"), 59_000.0, 29_000.0);
        check_store("im4gn.large", Some("2021-12-01"), 31_250.0, 25_000.0);
        check_store("i3en.metal", None, 2_000_000.0, 1_600_000.0);
        check_store("r6id.metal", None, 2_146_664.0, 1_073_336.0);
    }

    #[test]
    fn every_type_has_a_row_that_can_be_read() {
        let catalog = Catalog::embedded();
        let types = catalog.instance_types();
        assert_eq!(types.len(), 1430);
        for name in types {
            let instance = catalog.instance(name, None).expect("a row");
            assert!(
                instance.vcpus.is_some() && instance.memory_mib.is_some(),
                "{name}"
            );
            if let Some(ebs) = instance.ebs {
                assert!(ebs.base_mb.value <= ebs.max_mb.value, "{name}");
                assert!(ebs.base_iops.value <= ebs.max_iops.value, "{name}");
            }
        }
    }
}
