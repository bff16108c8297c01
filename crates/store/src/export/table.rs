//! In: rows of named fields. Out: a table whose columns hold one type each.
//!
//! A file of its own: both CSV and Parquet are printed from it.

use std::mem::discriminant;

use jiff::Timestamp;

/// One field; `None` is an empty one. A column holds fields of one variant.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Text(Option<String>),
    Count(Option<u64>),
    Figure(Option<f64>),
    Flag(Option<bool>),
    Moment(Option<Timestamp>),
}

#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) name: String,
    /// A field with the variant of all its fields.
    pub(super) like: Cell,
}

/// Rows of equal shape, each in the order of the columns.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<Cell>>,
}

/// Named cells: a row before its names become the head.
pub(super) type Named = Vec<(String, Cell)>;

impl Table {
    /// `shape` is a row whose names become the head, also when there are no rows. All rows must have its
    /// names, in its order, and its variants.
    pub(super) fn new(shape: Named, rows: Vec<Named>) -> Self {
        for row in &rows {
            assert_eq!(row.len(), shape.len());
            for ((name, like), (own, cell)) in shape.iter().zip(row) {
                assert!(name == own && discriminant(like) == discriminant(cell));
            }
        }
        let columns = shape.into_iter();
        let rows = rows.into_iter();
        Self {
            columns: columns.map(|(name, like)| Column { name, like }).collect(),
            rows: rows
                .map(|row| row.into_iter().map(|(_, cell)| cell).collect())
                .collect(),
        }
    }
}

/// A cell as a CSV field: plain numbers in full precision, nothing for what is not there.
///
/// A spreadsheet runs a text that begins like a formula. A quote in front makes it a plain text; a text
/// that is a number needs none.
pub(super) fn text(cell: &Cell) -> String {
    match cell {
        Cell::Text(Some(text)) if is_formula(text) => format!("'{text}"),
        Cell::Text(text) => text.clone().unwrap_or_default(),
        Cell::Count(count) => shown(count.as_ref()),
        Cell::Figure(figure) => shown(figure.as_ref()),
        Cell::Flag(flag) => shown(flag.as_ref()),
        Cell::Moment(moment) => shown(moment.as_ref()),
    }
}

fn shown(value: Option<&impl ToString>) -> String {
    value.map(ToString::to_string).unwrap_or_default()
}

fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) && text.parse::<f64>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: the name of a study in somebody's record was `=cmd|…`, and the spreadsheet that
    /// opened its table ran it.
    #[test]
    fn no_text_is_a_formula() {
        for (given, expected) in [
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
            ("+1+1", "'+1+1"),
            ("-2+3", "'-2+3"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("\r=1", "'\r=1"),
            ("-5", "-5"),
            ("+1.5e3", "+1.5e3"),
            ("rand4k = fast", "rand4k = fast"),
        ] {
            assert_eq!(text(&Cell::Text(Some(given.to_owned()))), expected);
        }
        assert_eq!(text(&Cell::Figure(Some(-5.0))), "-5");
    }
}
