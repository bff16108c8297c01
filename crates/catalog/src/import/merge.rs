//! New rows among the old ones, and what is new about them.

use std::collections::BTreeMap;

use blocklab_workload::Date;

use super::{Change, Found, Hour, ImportFile, Imported, InstanceRow, VolumePrice};
use crate::Catalog;
use crate::embedded::Section;
use crate::price_list::lists;
use crate::table::line;
use crate::user::User;

/// Puts what was found above the embedded figures.
///
/// # Errors
/// When a row cannot be kept.
pub(super) fn merge(
    catalog: &mut Catalog,
    found: &Found,
    file: &ImportFile,
) -> Result<Imported, String> {
    let date = found.date.unwrap_or(file.date);
    let word = match found.kind {
        "DescribeInstanceTypes" => "describe",
        "an AWS price list" => "price-list",
        _ => "ec2instances",
    };
    let key = format!("{word}-{date}");
    let mut report = Imported {
        path: file.path.display().to_string(),
        kind: found.kind,
        date,
        date_assumed: found.date.is_none(),
        added: Vec::new(),
        changed: Vec::new(),
        unchanged: 0,
        skipped: found.skipped,
    };
    compare_instances(catalog, &found.instances, date, &mut report);
    compare_hours(catalog, &found.hours, date, &mut report);
    compare_volumes(catalog, &found.volumes, date, &mut report);
    let name = file.path.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name.chars().filter(|c| !c.is_control()).collect();
    let source = [
        key.clone(),
        format!("{} ({name}), imported", found.kind),
        date.to_string(),
        String::new(),
    ];
    put_rows(catalog, Section::Sources, &[source.to_vec()], 1);
    put_instances(catalog, &found.instances, &key);
    put_hours(catalog, &found.hours, date, &key);
    put_volumes(catalog, &found.volumes, date, &key);
    // What cannot be loaded again must not be kept.
    let again = User::parse(&catalog.user.render());
    again.map_err(|(_, problem)| format!("a row of it cannot be kept: {problem}"))?;
    Ok(report)
}

/// Reports how instance types differ from what is known of that day.
fn compare_instances(catalog: &Catalog, found: &[InstanceRow], date: Date, report: &mut Imported) {
    for row in found {
        let known = catalog.instance(&row.name, Some(date));
        let ebs = known.as_ref().and_then(|known| known.ebs.as_ref());
        let [base_iops, max_iops, base_mb, max_mb] = ebs.map_or_else(Default::default, |ebs| {
            [&ebs.base_iops, &ebs.max_iops, &ebs.base_mb, &ebs.max_mb]
                .map(|figure| Some(figure.value.to_string()))
        });
        let store = known.as_ref().and_then(|known| known.store.as_ref());
        let vcpus = known.as_ref().and_then(|known| known.vcpus);
        let figures = [
            ("vCPUs", vcpus.map(|n| n.to_string()), "vcpu"),
            ("EBS baseline IOPS", base_iops, "ebs_base_iops"),
            ("EBS maximum IOPS", max_iops, "ebs_max_iops"),
            ("EBS baseline MB/s", base_mb, "ebs_base_MBps"),
            ("EBS maximum MB/s", max_mb, "ebs_max_MBps"),
            ("own disks", store.map(|s| s.disks.to_string()), "disks"),
            (
                "own disks, GB each",
                store.map(|s| s.disk_gb.to_string()),
                "disk_gb",
            ),
        ];
        for (what, old, column) in figures {
            report.note(format!("{}: {what}", row.name), old, row.cell(column));
        }
    }
}

/// Reports how prices by the hour differ from what is known of that day. Assumed prices are not
/// known.
fn compare_hours(catalog: &Catalog, found: &[Hour], date: Date, report: &mut Imported) {
    for hour in found {
        let known = catalog
            .hour_of(&hour.name, hour.system, &hour.region, Some(date))
            .filter(|price| price.evidence.is_listed());
        let system = hour.system.name();
        let what = format!("{}, {}, {system}: USD/hour", hour.name, hour.region);
        report.note(
            what,
            known.map(|price| price.usd.to_string()),
            &hour.usd.to_string(),
        );
    }
}

/// Reports how prices of volumes differ from what is known of that day. Assumed prices are not
/// known.
fn compare_volumes(catalog: &Catalog, found: &[VolumePrice], date: Date, report: &mut Imported) {
    for volume in found {
        let known = catalog
            .volume_prices_of(&volume.kind, &volume.region, Some(date))
            .into_iter()
            .find(|price| {
                price.per == volume.per && price.above == volume.above && price.evidence.is_listed()
            });
        let mut what = format!(
            "{}, {}: USD/{}",
            volume.kind,
            volume.region,
            volume.per.text()
        );
        if volume.above > 0.0 {
            what = format!("{what} above {}", volume.above);
        }
        report.note(
            what,
            known.map(|price| price.usd.to_string()),
            &volume.usd.to_string(),
        );
    }
}

impl Imported {
    /// Counts a figure as unchanged, added or changed. An empty one is not in the file and counts
    /// as none of them.
    fn note(&mut self, what: String, old: Option<String>, new: &str) {
        if new.is_empty() {
            return;
        }
        let new = new.to_owned();
        match old {
            Some(old) if is_same(&old, &new) => self.unchanged += 1,
            None => self.added.push(Change {
                what,
                old: None,
                new,
            }),
            old => self.changed.push(Change { what, old, new }),
        }
    }
}

/// Puts rows into a table of the user's in place of those whose name and source are the same, sorted
/// by name. `named_by`: how many leading cells name a row. A source is its own.
fn put_rows(catalog: &mut Catalog, section: Section, rows: &[Vec<String>], named_by: usize) {
    let table = catalog.user.text_mut(section);
    let mut kept: BTreeMap<(String, &str), String> = BTreeMap::new();
    let old: Vec<_> = table.lines().skip(1).map(crate::table::cells).collect();
    for cells in old.iter().chain(rows) {
        let source = match section {
            Section::Sources => "",
            _ => cells.last().map_or("", String::as_str),
        };
        let name = cells[..named_by.min(cells.len())].join(",");
        kept.insert((name, source), line(cells));
    }
    let body: String = kept.into_values().map(|line| line + "\n").collect();
    *table = format!("{}\n{body}", section.head());
}

/// Puts instance types into the table of the user; `key` is that of their source.
fn put_instances(catalog: &mut Catalog, rows: &[InstanceRow], key: &str) {
    if rows.is_empty() {
        return;
    }
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| instance_cells(catalog, row, key))
        .collect();
    put_rows(catalog, Section::Instances, &rows, 1);
}

/// Whether two texts are the same figure: `0.10` and `.1` are.
fn is_same(old: &str, new: &str) -> bool {
    match (old.parse::<f64>(), new.parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() <= 1e-9 * b.abs(),
        _ => old == new,
    }
}

/// The cells of a row. What the file does not have is taken over from what is known: a list
/// without attachments does not mean that there are none.
fn instance_cells(catalog: &Catalog, row: &InstanceRow, key: &str) -> Vec<String> {
    let known = catalog.instance_rows(&row.name).into_iter().next();
    let cells = Section::Instances.head().split(',').map(|column| {
        let fresh = match column {
            "type" => row.name.as_str(),
            "source" => key,
            _ => row.cell(column),
        };
        // Limits that a file does not give stay unknown in its row: they would otherwise be dated
        // anew.
        let is_limit =
            column.starts_with("ebs_") && column != "ebs_nvme" && column != "ebs_optimized";
        match &known {
            Some(known) if fresh.is_empty() && !is_limit => known.text(column).to_owned(),
            _ => fresh.to_owned(),
        }
    });
    cells.collect()
}

/// Puts the prices of volumes among those that the user's catalog has already.
fn put_volumes(catalog: &mut Catalog, prices: &[VolumePrice], date: Date, source: &str) {
    if prices.is_empty() {
        return;
    }
    let rows = prices.iter().map(|price| {
        let up_to = price.up_to.map_or(String::new(), |up_to| up_to.to_string());
        vec![
            price.region.clone(),
            price.kind.clone(),
            price.per.key().to_owned(),
            price.above.to_string(),
            up_to,
            price.usd.to_string(),
            date.to_string(),
            String::new(),
            source.to_owned(),
        ]
    });
    put_rows(catalog, Section::VolumePrices, &rows.collect::<Vec<_>>(), 4);
}

/// By region, day and source: of each type the cells for Linux, Windows and a surcharge.
type PriceLists = BTreeMap<(String, String, String), BTreeMap<String, [String; 3]>>;

/// Sets the hourly prices among those that the user's catalog has already. `source` is the key of the
/// import in the section of sources.
fn put_hours(catalog: &mut Catalog, hours: &[Hour], date: Date, source: &str) {
    let mut kept: PriceLists = BTreeMap::new();
    for list in lists(catalog.user.text(Section::OnDemand)) {
        let name = (
            list.regions.to_owned(),
            list.date.to_string(),
            list.source.to_owned(),
        );
        let rows = kept.entry(name).or_default();
        for line in list.rows.lines() {
            let mut cells = line.split(',').map(str::to_owned);
            let name = cells.next().unwrap_or_default();
            let prices = std::array::from_fn(|_| cells.next().unwrap_or_default());
            rows.insert(name, prices);
        }
    }
    for hour in hours {
        let list = (hour.region.clone(), date.to_string(), source.to_owned());
        let row = kept
            .entry(list)
            .or_default()
            .entry(hour.name.clone())
            .or_default();
        row[hour.system as usize] = hour.usd.to_string();
    }
    let mut text = String::new();
    for ((region, date, source), rows) in kept {
        text.push_str(&format!("@ {region} {date} {source}\n"));
        for (name, cells) in rows {
            // Cells without a price at the end of a line are left out, as in the embedded lists.
            let line = format!("{name},{}", cells.join(","));
            text.push_str(line.trim_end_matches(','));
            text.push('\n');
        }
    }
    *catalog.user.text_mut(Section::OnDemand) = text;
}
