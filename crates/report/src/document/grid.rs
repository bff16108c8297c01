//! The one writer of tables for a terminal. It knows how wide the terminal is, and leaves no figure
//! out on a narrow one.

use std::borrow::Cow;
use std::iter::repeat_n;
use std::ops::Range;

use blocklab_units::{Ink, Style, width, wrapped};

use super::Table;

/// Between two columns.
pub const GAP: usize = 2;

/// Lines under each other, one a row: cells of the columns that are `right` end level, the others
/// begin so. Where they do not fit into `room`, the gaps shrink, though to no less than `least`;
/// where that does not help, the first cell stands on a line of its own above the others.
/// What fits in no way keeps its gaps.
pub fn lines<R: AsRef<[String]>>(
    rows: &[R],
    right: impl Fn(usize) -> bool,
    room: usize,
    least: usize,
) -> Vec<String> {
    painted(rows, right, room, least, |_, _, text| text.into()).collect()
}

/// The same, one by one; `paint` colours a cell by its row and its column.
pub fn painted<R: AsRef<[String]>>(
    rows: &[R],
    right: impl Fn(usize) -> bool,
    room: usize,
    least: usize,
    paint: impl for<'t> Fn(usize, usize, &'t str) -> Cow<'t, str>,
) -> impl Iterator<Item = String> {
    let columns = rows.iter().map(|row| row.as_ref().len()).max().unwrap_or(0);
    let mut widths = vec![0; columns];
    for row in rows {
        for (widest, cell) in widths.iter_mut().zip(row.as_ref()) {
            *widest = width(cell).max(*widest);
        }
    }
    let ways = [(0, GAP), (0, least), (1, GAP), (1, least)];
    let fitting = ways.into_iter().find(|(from, gap)| {
        widths[*from..].iter().sum::<usize>() + gap * columns.saturating_sub(1) <= room
    });
    let (from, gap) = fitting.unwrap_or((1, GAP));
    rows.iter().enumerate().map(move |(at, row)| {
        let (above, cells) = row.as_ref().split_at(from);
        let mut line = above.concat();
        if !line.is_empty() {
            line.push('\n');
        }
        // Where the first cell has a line of its own, the others follow behind a gap.
        let mut blanks = if from > 0 { gap } else { 0 };
        let first = line.len() + blanks;
        for (column, cell) in cells.iter().enumerate() {
            let column = from + column;
            let missing = widths[column] - width(cell);
            let (before, behind) = if right(column) {
                (missing, 0)
            } else {
                (0, missing)
            };
            line.extend(repeat_n(' ', blanks + before));
            line.push_str(&paint(at, column, cell));
            blanks = behind + gap;
        }
        line.truncate(line.trim_end().len().max(first));
        line
    })
}

/// Columns next to a margin; no bound where no terminal is the reader.
pub fn room(style: Style, margin: usize) -> usize {
    style.width.map_or(usize::MAX, |width| {
        usize::from(width).saturating_sub(margin)
    })
}

/// Every line of a text behind this many blanks.
pub fn indented(text: &str, margin: usize) -> String {
    let mut indented = String::with_capacity(text.len() + margin + 1);
    for line in text.lines() {
        indented.extend(repeat_n(' ', margin));
        indented.push_str(line);
        indented.push('\n');
    }
    indented
}

/// A table under a margin. Titles wider than their column go over several lines, but no column is
/// narrower than `title`. Columns that do not fit next to the others follow in a block below, with
/// the names again.
pub fn blocks(table: &Table, margin: usize, title: usize, style: Style) -> String {
    let names = table.rows.iter().map(|row| width(&row.cells[0]));
    let room = style
        .columns()
        .saturating_sub(margin + names.max().unwrap_or(0));
    let heads: Vec<Head> = (1..table.columns.len())
        .map(|column| Head::new(table, column, title))
        .collect();
    let mut out = String::new();
    for block in fitting(&heads, room) {
        let heads = &heads[block.clone()];
        let height = heads.iter().map(|head| head.lines.len()).max().unwrap_or(0);
        let mut rows: Vec<Vec<String>> = (0..height).map(|at| titles(heads, at, height)).collect();
        rows.extend(table.rows.iter().map(|row| {
            let (name, figures) = row.cells.split_at(1);
            [name, &figures[block.clone()]].concat()
        }));
        for (at, line) in lines(&rows, |column| column > 0, usize::MAX, GAP)
            .iter()
            .enumerate()
        {
            let line = format!("{}{line}", " ".repeat(margin));
            let line = if at < height {
                style.paint(Ink::Dim, &line)
            } else {
                line
            };
            out.push_str(&line);
            out.push('\n');
        }
    }
    out
}

/// A title in the lines that it takes, and the width of its column.
struct Head {
    lines: Vec<String>,
    width: usize,
}

impl Head {
    fn new(table: &Table, column: usize, least: usize) -> Self {
        let figures = table
            .rows
            .iter()
            .map(|row| width(&row.cells[column]))
            .max()
            .unwrap_or(0);
        let title = &table.columns[column].title;
        let room = title.split_whitespace().map(width).chain([figures, least]);
        let words = title.split_whitespace().map(str::to_owned);
        let lines = wrapped(words, room.max().unwrap_or(0));
        let used = lines.iter().map(|line| width(line));
        Self {
            width: used.chain([figures]).max().unwrap_or(0),
            lines,
        }
    }
}

/// Runs of columns that fit into the room, at least one each.
fn fitting(heads: &[Head], room: usize) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut used = 0;
    for (index, head) in heads.iter().enumerate() {
        used += GAP + head.width;
        match blocks.last_mut() {
            Some(block) if used <= room => block.end = index + 1,
            _ => {
                blocks.push(index..index + 1);
                used = GAP + head.width;
            }
        }
    }
    blocks
}

/// A line of the titles, with nothing above the names; the last lines are level.
fn titles(heads: &[Head], at: usize, height: usize) -> Vec<String> {
    let parts = heads.iter().map(|head| {
        let line = at.checked_sub(height - head.lines.len());
        line.map_or_else(String::new, |line| head.lines[line].clone())
    });
    [String::new()].into_iter().chain(parts).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Column, Row};
    use super::*;

    #[test]
    fn what_does_not_fit_beside_goes_below() {
        let table = Table {
            columns: Column::named("", ["IOPS", "mean latency of all", "left"]),
            rows: vec![
                Row::from(["deep", "12,000", "1.20 ms", "7"]),
                Row::from(["flat", "900", "", "12"]),
            ],
            ..Table::wide(0)
        };
        let style = |width| Style {
            color: false,
            width: Some(width),
        };
        let wide = "                        mean
                  latency of
            IOPS         all  left
    deep  12,000     1.20 ms     7
    flat     900                12
";
        assert_eq!(blocks(&table, 4, 10, style(80)), wide);
        let narrow = "                        mean
                  latency of
            IOPS         all
    deep  12,000     1.20 ms
    flat     900
          left
    deep     7
    flat    12
";
        assert_eq!(blocks(&table, 4, 10, style(32)), narrow);
    }
}
