//! The numbers of a Finding in rows and columns: cases down, quantities across.

use blocklab_analysis::{Evidence, Finding};

use crate::facts;

/// Evidence in the order in which it was given.
pub struct Grid<'a> {
    /// Names of the quantities.
    pub titles: Vec<&'a str>,
    /// The case, or nothing for a figure of the whole run; and a cell a title, where it has one.
    pub rows: Vec<(Option<&'a str>, Vec<Option<String>>)>,
}

impl<'a> Grid<'a> {
    /// `None` without evidence.
    pub fn of(finding: &'a Finding) -> Option<Self> {
        let mut grid = Self {
            titles: Vec::new(),
            rows: Vec::new(),
        };
        for evidence in &finding.evidence {
            grid.put(evidence);
        }
        let columns = grid.titles.len();
        for (_, cells) in &mut grid.rows {
            cells.resize(columns, None);
        }
        (columns > 0).then_some(grid)
    }

    /// Whether it names the case of each figure.
    pub fn names_cases(&self) -> bool {
        self.rows.iter().any(|(case, _)| case.is_some())
    }

    fn put(&mut self, evidence: &'a Evidence) {
        let case = evidence.case.as_deref();
        let title = evidence.name.as_str();
        let column = place(&mut self.titles, |known| *known == title, || title);
        let row = place(
            &mut self.rows,
            |(known, _)| *known == case,
            || (case, Vec::new()),
        );
        let cells = &mut self.rows[row].1;
        cells.resize(cells.len().max(column + 1), None);
        cells[column] = Some(facts::quantity(evidence.value, evidence.unit));
    }
}

/// Where it stands; at the end, where it did not stand yet.
pub fn place<T>(list: &mut Vec<T>, is: impl Fn(&T) -> bool, new: impl FnOnce() -> T) -> usize {
    list.iter().position(is).unwrap_or_else(|| {
        list.push(new());
        list.len() - 1
    })
}

#[cfg(test)]
mod tests {
    use blocklab_analysis::{Confidence, Severity};

    use super::*;

    fn finding(evidence: &[(&str, Option<&str>, f64)]) -> Finding {
        let figure = |(name, case, value): &(&str, Option<&str>, f64)| Evidence {
            name: (*name).to_owned(),
            case: case.map(str::to_owned),
            value: *value,
            unit: "",
        };
        Finding {
            rule: "test",
            subject: Vec::new(),
            severity: Severity::Info,
            confidence: Confidence::High,
            statement: String::new(),
            evidence: evidence.iter().map(figure).collect(),
            advice: None,
        }
    }

    #[test]
    fn cases_go_down_and_quantities_across() {
        let finding = finding(&[
            ("gone", Some("a"), 1.0),
            ("left", Some("b"), 2.0),
            ("gone", Some("b"), 3.0),
        ]);
        let grid = Grid::of(&finding).expect("evidence");
        assert_eq!(grid.titles, ["gone", "left"]);
        let text = |n: &str| Some(n.to_owned());
        let rows = [
            (Some("a"), vec![text("1"), None]),
            (Some("b"), vec![text("3"), text("2")]),
        ];
        assert_eq!(grid.rows, rows);
        assert!(grid.names_cases());
    }

    #[test]
    fn figures_of_the_run_have_no_case() {
        let finding = finding(&[("errors", None, 7.0)]);
        let grid = Grid::of(&finding).expect("evidence");
        assert!(!grid.names_cases() && grid.rows.len() == 1);
        assert!(Grid::of(&self::finding(&[])).is_none());
    }
}
