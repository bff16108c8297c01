use jiff::Timestamp;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Count,
    Figure,
    Flag,
    Moment,
}

/// One field; `None` where there is nothing to say.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Text(Option<String>),
    Count(Option<u64>),
    Figure(Option<f64>),
    Flag(Option<bool>),
    Moment(Option<Timestamp>),
}

impl Cell {
    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Text(_) => Kind::Text,
            Self::Count(_) => Kind::Count,
            Self::Figure(_) => Kind::Figure,
            Self::Flag(_) => Kind::Flag,
            Self::Moment(_) => Kind::Moment,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: Kind,
}

/// Rows of equal shape, each in the order of the columns.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Table {
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<Cell>>,
}

/// Named cells: a row before its names become the head.
pub(super) type Named = Vec<(String, Cell)>;

impl Table {
    /// `shape` gives the head, also when there are no rows. All rows must have its names in its
    /// order, since all are made by one function.
    pub(super) fn new(shape: &Named, rows: Vec<Named>) -> Self {
        let column = |(name, cell): &(String, Cell)| Column {
            name: name.clone(),
            kind: cell.kind(),
        };
        let columns: Vec<Column> = shape.iter().map(column).collect();
        for row in &rows {
            assert!(row.iter().map(column).eq(columns.iter().cloned()));
        }
        let cells = |row: Named| row.into_iter().map(|(_, cell)| cell).collect();
        Self {
            columns,
            rows: rows.into_iter().map(cells).collect(),
        }
    }
}

/// A cell as a CSV field: plain numbers in full precision, nothing for what is not there.
///
/// A spreadsheet takes a text that begins as a formula for one, and runs it: a quote before it
/// makes it a text. A text that is a number is none.
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
