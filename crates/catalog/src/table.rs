//! Figures kept as text: rows of comma-separated cells below one row of names.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::{LazyLock, Mutex};

/// Rows below their names. Lines that begin with `#` are comments.
#[derive(Clone, Copy)]
pub(crate) struct Table<'t> {
    names: &'t str,
    body: &'t str,
    index: Option<&'static Index>,
}

/// The lines of a table by their first cell.
type Index = HashMap<&'static str, Vec<&'static str>>;

/// The indices of the tables that the program carries, by the addresses of their texts. A search for the
/// cheapest of all asks for rows thousands of times; a table is indexed when it is first asked.
static INDICES: LazyLock<Mutex<HashMap<usize, &'static Index>>> = LazyLock::new(Mutex::default);

pub(crate) struct Row<'t> {
    names: &'t str,
    cells: Vec<String>,
}

impl<'t> Table<'t> {
    /// Reads the head of a table. Lines that begin with `#` come before it.
    pub(crate) fn new(text: &'t str) -> Self {
        let mut rest = text;
        loop {
            let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
            if !line.starts_with('#') {
                return Self {
                    names: line,
                    body: after,
                    index: None,
                };
            }
            rest = after;
        }
    }

    /// A table that the program carries.
    pub(crate) fn embedded(text: &'static str) -> Self {
        let table = Table::new(text);
        let mut known = INDICES
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let index = known.entry(text.as_ptr() as usize).or_insert_with(|| {
            let mut index = Index::new();
            for line in table.lines() {
                let key = line.split(',').next().unwrap_or_default();
                index.entry(key).or_default().push(line);
            }
            Box::leak(Box::new(index))
        });
        Self {
            index: Some(*index),
            ..table
        }
    }

    pub(crate) fn rows(self) -> impl Iterator<Item = Row<'t>> {
        self.lines().map(move |line| self.row(line))
    }

    /// The rows whose first cell is `key`. Only these are parsed, which keeps a look into
    /// thousands of rows far below a millisecond.
    pub(crate) fn rows_of(self, key: &str) -> impl Iterator<Item = Row<'t>> {
        let lines: Vec<&'t str> = match self.index {
            Some(index) => index.get(key).cloned().unwrap_or_default(),
            None => self.lines().filter(|line| is_of(line, key)).collect(),
        };
        lines.into_iter().map(move |line| self.row(line))
    }

    /// The first cell of every row, each once where equal ones follow each other.
    pub(crate) fn keys(self) -> Vec<&'t str> {
        let lines = self.lines();
        let mut keys: Vec<_> = lines.filter_map(|line| line.split(',').next()).collect();
        keys.dedup();
        keys
    }

    fn lines(self) -> impl Iterator<Item = &'t str> {
        let lines = self.body.lines();
        lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
    }

    fn row(self, line: &str) -> Row<'t> {
        Row {
            names: self.names,
            cells: cells(line),
        }
    }
}

fn is_of(line: &str, key: &str) -> bool {
    let rest = line.strip_prefix(key);
    rest.is_some_and(|rest| rest.starts_with(','))
}

/// The cells of a line; quotes are needed only around commas and quotes.
pub(crate) fn cells(line: &str) -> Vec<String> {
    if !line.contains('"') {
        return line.split(',').map(str::to_owned).collect();
    }
    // A reader of the csv crate takes longer to build than all lines of a table to read.
    let mut found = vec![String::new()];
    let (mut is_quoted, mut chars) = (false, line.chars().peekable());
    while let Some(character) = chars.next() {
        let cell = found.len() - 1;
        match (character, is_quoted) {
            ('"', true) if chars.peek() == Some(&'"') => {
                chars.next();
                found[cell].push('"');
            }
            ('"', _) => is_quoted = !is_quoted,
            (',', false) => found.push(String::new()),
            (other, _) => found[cell].push(other),
        }
    }
    found
}

/// A line of CSV; cells with a comma or a quote are quoted.
pub(crate) fn line(cells: &[String]) -> String {
    let quoted = cells.iter().map(|cell| {
        if cell.contains([',', '"']) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell.clone()
        }
    });
    quoted.collect::<Vec<_>>().join(",")
}

impl Row<'_> {
    /// The text below a name; empty where the row has none.
    pub(crate) fn text(&self, name: &str) -> &str {
        let place = self.names.split(',').position(|known| known == name);
        let cell = place.and_then(|place| self.cells.get(place));
        cell.map_or("", String::as_str)
    }

    /// What the column of a name holds, where it holds something that can be read.
    pub(crate) fn get<T: FromStr>(&self, name: &str) -> Option<T> {
        self.text(name).parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_their_first_cell() {
        let table = Table::new("# why\nname,size,note\na,1,\nab,2,\"x, y\"\n# no\na,3,z\n");
        let sizes = |key| {
            table
                .rows_of(key)
                .map(|row| row.get("size"))
                .collect::<Vec<_>>()
        };
        assert_eq!(sizes("a"), [Some(1u32), Some(3)]);
        assert_eq!(sizes("ab"), [Some(2)]);
        assert_eq!(sizes(""), []);
        assert_eq!(table.keys(), ["a", "ab", "a"]);
        let notes: Vec<_> = table
            .rows()
            .map(|row| row.text("note").to_owned())
            .collect();
        assert_eq!(notes, ["", "x, y", "z"]);
    }

    #[test]
    fn a_line_reads_back() {
        let row = ["a".to_owned(), "x, \"y\"".to_owned(), String::new()];
        assert_eq!(cells(&line(&row)), row);
    }
}
