//! The evidence of a finding as a table: a row for each case, a column for each quantity.

use blocklab_findings::{Evidence, Finding};

use crate::words::facts;

/// The evidence of a finding, in the order in which it was given.
#[derive(Default)]
pub struct Grid<'a> {
    /// Figures that are the same in all rows, and so in none of them: `limit 125 MiB/s`.
    shared: Vec<String>,
    /// Names of the quantities, a column each.
    pub titles: Vec<&'a str>,
    /// For each row its case, `None` for figures of the whole run, and a cell for each title;
    /// `None`: it has no such figure.
    pub rows: Vec<(Option<&'a str>, Vec<Option<String>>)>,
}

impl<'a> Grid<'a> {
    /// The table of a finding.
    pub fn new(finding: &'a Finding) -> Self {
        let mut grid = Self::default();
        for evidence in &finding.evidence {
            grid.put(evidence);
        }
        let columns = grid.titles.len();
        for (_, cells) in &mut grid.rows {
            cells.resize(columns, None);
        }
        grid.move_shared_out();
        grid
    }

    /// Moves the columns that have the same figure in all rows out of the table.
    fn move_shared_out(&mut self) {
        // From the last column on, so that removing one does not shift those that follow.
        for column in (0..self.titles.len()).rev() {
            let figure = |row: &(_, Vec<Option<String>>)| row.1[column].clone();
            let first = self.rows.first().and_then(figure);
            let is_same = self.rows.iter().all(|row| figure(row) == first);
            if let Some(figure) = first.filter(|_| is_same) {
                let title = self.titles.remove(column);
                self.shared.insert(0, format!("{title} {figure}"));
                for (_, cells) in &mut self.rows {
                    cells.remove(column);
                }
            }
        }
    }

    /// Whether any row is about a single case.
    pub fn names_cases(&self) -> bool {
        self.rows.iter().any(|(case, _)| case.is_some())
    }

    /// The line with the shared figures; may be empty. Of a single row it has all figures.
    pub fn line(&self) -> String {
        let figures = self.shared.join(" · ");
        if self.rows.len() > 1 && !figures.is_empty() {
            format!("In every case: {figures}")
        } else {
            figures
        }
    }

    /// The cases of the finding, if neither its statement nor the rows name them; else empty.
    pub fn other_cases(&self, finding: &Finding, all_cases: usize) -> String {
        let cases = facts::unnamed(finding, all_cases);
        if self.titles.is_empty() || !cases.iter().all(|case| self.has_row(case)) {
            cases.join(", ")
        } else {
            String::new()
        }
    }

    fn has_row(&self, case: &str) -> bool {
        self.rows.iter().any(|(name, _)| *name == Some(case))
    }

    /// Adds a figure, and the row and column that it needs.
    fn put(&mut self, evidence: &'a Evidence) {
        let case = evidence.case.as_deref();
        let title = evidence.name.as_str();
        let row = place(
            &mut self.rows,
            |(known, _)| *known == case,
            || (case, Vec::new()),
        );
        let cells = &mut self.rows[row].1;
        // A second figure of one name, such as a drift in per cent after one in time, has its own column.
        let free = (0..self.titles.len())
            .filter(|column| self.titles[*column] == title)
            .find(|column| cells.get(*column).is_none_or(Option::is_none));
        let column = free.unwrap_or(self.titles.len());
        if column == self.titles.len() {
            self.titles.push(title);
        }
        cells.resize(cells.len().max(column + 1), None);
        cells[column] = Some(facts::quantity(evidence.value, evidence.unit));
    }
}

/// The index of an element in a list. One that is missing is added at the end.
pub fn place<T>(list: &mut Vec<T>, is: impl Fn(&T) -> bool, new: impl FnOnce() -> T) -> usize {
    list.iter().position(is).unwrap_or_else(|| {
        list.push(new());
        list.len() - 1
    })
}

#[cfg(test)]
mod tests {
    use blocklab_findings::{Confidence, Severity};

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
        let grid = Grid::new(&finding);
        assert_eq!(grid.titles, ["gone", "left"]);
        let text = |n: &str| Some(n.to_owned());
        let rows = [
            (Some("a"), vec![text("1"), None]),
            (Some("b"), vec![text("3"), text("2")]),
        ];
        assert_eq!(grid.rows, rows);
        assert!(grid.names_cases());
    }

    /// The story: each of 290 rows had the one limit of all.
    #[test]
    fn what_all_rows_share_stands_beside_them() {
        let figures = |case, rate| [("rate", Some(case), rate), ("limit", Some(case), 125.0)];
        let all = [figures("a", 125.0), figures("b", 126.0)].concat();
        let of_two = finding(&all);
        let grid = Grid::new(&of_two);
        assert_eq!(grid.line(), "In every case: limit 125");
        assert_eq!(grid.titles, ["rate"]);
        assert_eq!(grid.rows[1], (Some("b"), vec![Some("126".to_owned())]));
        let of_one = finding(&all[..2]);
        let grid = Grid::new(&of_one);
        assert_eq!(grid.line(), "rate 125 · limit 125");
    }

    /// The story: of a replay's drift in time and in per cent, only the latter was shown.
    #[test]
    fn two_figures_of_one_name_are_both_shown() {
        let drifts =
            |case, ns, percent| [("drift", Some(case), ns), ("drift", Some(case), percent)];
        let one = finding(&drifts("a", 500.0, 2.0));
        assert_eq!(Grid::new(&one).line(), "drift 500 · drift 2");
        let two = finding(&[drifts("a", 500.0, 2.0), drifts("b", 600.0, 3.0)].concat());
        let grid = Grid::new(&two);
        assert_eq!(grid.titles, ["drift", "drift"]);
        let cells = ["600", "3"].map(|text| Some(text.to_owned()));
        assert_eq!(grid.rows[1], (Some("b"), cells.to_vec()));
    }

    #[test]
    fn figures_of_the_run_have_no_case() {
        let finding = finding(&[("errors", None, 7.0)]);
        let grid = Grid::new(&finding);
        assert!(!grid.names_cases() && grid.rows.len() == 1);
        assert_eq!(Grid::new(&self::finding(&[])).line(), "");
    }
}
