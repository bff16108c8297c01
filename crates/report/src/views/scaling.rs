//! In: how the rates of cases grow with the number of hosts. Out: each curve as rows of a table,
//! and where its growth ends.

use blocklab_compare::scaling::Scaling;
use blocklab_units::{count, plural, significant};

use crate::document::{Column, Document, Entry, Group, Layout, MARGIN, Part, Row};

/// The document of the scaling of each case.
pub fn scaling(name: &str, cases: &[(String, Scaling)]) -> Document {
    let rows = cases.iter().flat_map(|(case, scaling)| rows(case, scaling));
    let columns = ["hosts", "IOPS", "a host", "of the line"].map(Column::figure);
    let table = Part::whole_table(Layout::Narrow { margin: MARGIN }, columns, rows);
    let answers = cases
        .iter()
        .map(|(case, scaling)| Entry::aside(MARGIN, format!("{case}: {}", answer(scaling))));
    let legend = "Of the line: what this is of the rate that the fewest hosts would have, times \
                  the hosts. A step that adds less than a quarter of that is flat.";
    let mut entries: Vec<Entry> = answers.collect();
    entries.push(Entry::aside(MARGIN, legend));
    Document {
        name: name.to_owned(),
        parts: vec![Part::section(
            "How the rate grows with the hosts",
            vec![table, Part::Entries(entries)],
        )],
    }
}

/// A row for each number of hosts, under the name of the case.
fn rows(case: &str, scaling: &Scaling) -> Vec<Row> {
    let rows = scaling.points.iter().map(|point| {
        Row::from(vec![
            point.hosts.to_string(),
            count(point.iops),
            count(point.iops / f64::from(point.hosts)),
            format!("{} %", significant(scaling.efficiency(*point), 2)),
        ])
    });
    let mut rows: Vec<Row> = rows.collect();
    if let Some(first) = rows.first_mut() {
        first.group = Some(Group::titled(case));
    }
    rows
}

/// Where the growth ends, and what that means.
pub fn answer(scaling: &Scaling) -> String {
    let most = scaling.points.last().map_or(0, |point| point.hosts);
    match scaling.knee {
        Some(knee) => {
            let hosts = significant(knee.hosts, 2);
            let noun = if hosts == "1" { "host" } else { "hosts" };
            format!(
                "flat at {} IOPS from {hosts} {noun} on: a limit that the hosts share, such as the \
                 volume, its network or its server",
                count(knee.cap_iops)
            )
        }
        None => format!(
            "each host adds to it up to {}: no limit that they share was reached",
            plural(most as usize, "host")
        ),
    }
}

#[cfg(test)]
mod tests {
    use blocklab_compare::scaling::Point;
    use blocklab_units::Style;

    use super::*;
    use crate::document::Form;

    #[test]
    fn the_curve_names_its_knee() {
        let points = [(1, 1000.0), (2, 2000.0), (4, 2900.0), (8, 3100.0)];
        let points = points.map(|(hosts, iops)| Point { hosts, iops });
        let scaling = Scaling::new(points.to_vec()).expect("a curve");
        let text = super::scaling("rack", &[("seq".to_owned(), scaling)]);
        let text = text.print(Form::Text(Style::default()));
        assert!(
            text.contains("flat at 3,000 IOPS from 3 hosts on"),
            "{text}"
        );
        assert!(text.contains("39 %"), "{text}");
    }

    /// The story: a volume that one host fills was "flat at 1,000 IOPS from 1 hosts on".
    #[test]
    fn one_host_fills_a_volume_in_the_singular() {
        let points = [1, 2].map(|hosts| Point {
            hosts,
            iops: 1000.0,
        });
        let scaling = Scaling::new(points.to_vec()).expect("a curve");
        let text = answer(&scaling);
        assert!(
            text.starts_with("flat at 1,000 IOPS from 1 host on"),
            "{text}"
        );
    }
}
