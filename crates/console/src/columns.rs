//! Tables of plain text.

/// Rows as lines: two blanks between columns, none at the end of a line. The columns in `right`
/// are set flush right.
pub fn aligned<const N: usize>(rows: &[[String; N]], right: &[usize]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate();
        let cells = cells.map(|(column, (cell, width))| match right.contains(&column) {
            true => format!("{cell:>width$}"),
            false => format!("{cell:<width$}"),
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_below_each_other() {
        let row = |name: &str, value: &str| [name.to_owned(), value.to_owned()];
        let rows = [row("NAME", "N"), row("a", "1"), row("bb", "1,000")];
        assert_eq!(
            aligned(&rows, &[1]),
            "NAME      N\na         1\nbb    1,000\n"
        );
    }
}
