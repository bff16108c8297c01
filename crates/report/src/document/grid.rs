//! Writes tables for a terminal. A narrow terminal changes the layout, but no figure is left out.

use std::borrow::Cow;
use std::iter::repeat_n;
use std::ops::Range;

use blocklab_units::{Ink, Style, unbroken_words, width, wrapped};

use super::Table;

/// Blanks between two columns.
const GAP: usize = 2;
/// A column of words wraps where it has at least this much room.
const LEAST_WORDS: usize = 20;

/// The rows of a table as lines with aligned columns. `right` says which columns are flush right,
/// `room` how many terminal columns there are. If the lines do not fit, gaps shrink to `least`; if
/// that does not help, the first cell of each row gets a line of its own above the others. If not
/// even that helps, a last column of words wraps, or follows below each row where next to the others
/// there is no room for it; rows that do not fit in any way keep the usual gaps, and the terminal wraps
/// them.
pub fn lines<R: AsRef<[String]>>(
    rows: &[R],
    right: impl Fn(usize) -> bool,
    room: usize,
    least: usize,
) -> Vec<String> {
    painted(rows, right, room, least, |_, _, text| text.into()).collect()
}

/// As [`lines`], one by one. `paint` colours a cell, given its row and column; widths are those of
/// the plain texts.
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
    let last = columns.saturating_sub(1);
    let fitting = layout(&widths, last, least, room);
    let wraps = fitting.is_none() && last > 0 && !right(last);
    let (mut from, mut gap) = fitting.unwrap_or((1, GAP));
    // Where the last column begins, if it has to wrap.
    let mut begin = widths[from.min(last)..last].iter().sum::<usize>() + gap * last;
    let is_below = wraps && begin + LEAST_WORDS > room;
    if is_below {
        (from, gap) = layout(&widths[..last], last - 1, least, room).unwrap_or((1, GAP));
        begin = 2 * GAP;
    }
    rows.iter().enumerate().map(move |(at, row)| {
        let (above, cells) = row.as_ref().split_at(from);
        let mut line = above.concat();
        if !line.is_empty() {
            line.push('\n');
        }
        // Cells below a name are indented by a gap.
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
            if wraps && column == last {
                let mut margin = blanks;
                if is_below && !cell.is_empty() {
                    line.truncate(line.trim_end().len());
                    line.push('\n');
                    margin = begin;
                }
                let room = room.saturating_sub(begin).max(LEAST_WORDS);
                for piece in wrapped(unbroken_words(cell), room) {
                    line.extend(repeat_n(' ', margin));
                    line.push_str(&paint(at, column, &piece));
                    line.push('\n');
                    margin = begin;
                }
                continue;
            }
            line.extend(repeat_n(' ', blanks + before));
            line.push_str(&paint(at, column, cell));
            blanks = behind + gap;
        }
        // Cells at the end may be empty; the indent stays, so that the line is not empty.
        line.truncate(line.trim_end().len().max(first));
        line
    })
}

/// How many cells of a row go above it, and the gap between the others: the layout that is easiest to
/// read comes first. `gaps`: how many gaps there are.
fn layout(widths: &[usize], gaps: usize, least: usize, room: usize) -> Option<(usize, usize)> {
    let layouts = [(0, GAP), (0, least), (1, GAP), (1, least)];
    layouts
        .into_iter()
        .find(|(from, gap)| widths.iter().skip(*from).sum::<usize>() + gap * gaps <= room)
}

/// The terminal columns that a margin leaves; unlimited where the output is not a terminal.
pub fn room(style: Style, margin: usize) -> usize {
    style.width.map_or(usize::MAX, |width| {
        usize::from(width).saturating_sub(margin)
    })
}

/// Indents every line of a text by this many blanks.
pub fn indented(text: &str, margin: usize) -> String {
    let mut indented = String::with_capacity(text.len() + margin + 1);
    for line in text.lines() {
        indented.extend(repeat_n(' ', margin));
        indented.push_str(line);
        indented.push('\n');
    }
    indented
}

/// A table with a margin. A title wraps where it is wider than the figures of its column and wider than
/// `title`. Columns that do not fit next to the others follow in a block below, where the names of the
/// rows are repeated.
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
        // Titles are rows like the others, so that they align with them.
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

/// The title of a column, wrapped into lines, and the width of the column.
struct Head {
    lines: Vec<String>,
    width: usize,
}

impl Head {
    /// The title of the column with this index. A title no wider than `unwrapped` does not wrap.
    fn new(table: &Table, column: usize, unwrapped: usize) -> Self {
        let widest_figure = table
            .rows
            .iter()
            .map(|row| width(&row.cells[column]))
            .max()
            .unwrap_or(0);
        let title = &table.columns[column].title;
        // A word is never broken, so the longest one is a lower bound.
        let word_widths = title.split_whitespace().map(width);
        let room = word_widths.chain([widest_figure, unwrapped]);
        let words = title.split_whitespace().map(str::to_owned);
        let lines = wrapped(words, room.max().unwrap_or(0));
        let used = lines.iter().map(|line| width(line));
        Self {
            width: used.chain([widest_figure]).max().unwrap_or(0),
            lines,
        }
    }
}

/// Splits the columns into blocks that fit into the room; each block has at least one.
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

/// One line of the titles, with an empty cell above the names. Titles of fewer lines begin lower,
/// so that all end on the same line.
fn titles(heads: &[Head], at: usize, height: usize) -> Vec<String> {
    let parts = heads.iter().map(|head| {
        let line = at.checked_sub(height - head.lines.len());
        line.map_or_else(String::new, |line| head.lines[line].clone())
    });
    [String::new()].into_iter().chain(parts).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Column, Layout, Row};
    use super::*;

    /// The story: "as expected, bound by gp2: burst credits (burst)" made the rows of a diagnosis six
    /// columns wider than a terminal of 80.
    #[test]
    fn words_at_the_end_wrap_where_nothing_else_helps() {
        let rows = [
            ["case", "IOPS", "it is"],
            [
                "rand-4k-read",
                "2,525",
                "as expected, bound by gp2: burst credits",
            ],
            ["short", "3,000", "as expected"],
        ];
        let rows = rows.map(|row| row.map(str::to_owned));
        let laid_out = |room| lines(&rows, |column| column == 1, room, 1).join("\n");
        let narrow = "case
   IOPS  it is
rand-4k-read
  2,525  as expected, bound by
         gp2: burst credits
short
  3,000  as expected";
        assert_eq!(laid_out(31), narrow);
        for line in laid_out(31).lines() {
            assert!(width(line) <= 31, "{line}");
        }
        assert!(laid_out(60).contains("2,525 as expected, bound by gp2: burst credits"));
    }

    /// Names and words alone: the words begin below the name, and wrap there.
    #[test]
    fn words_next_to_a_name_wrap_below_it() {
        let rows = [[
            "a long name of a row",
            "as expected, bound by gp2: burst credits",
        ]];
        let rows = rows.map(|row| row.map(str::to_owned));
        let narrow = "a long name of a row\n  as expected, bound by\n  gp2: burst credits";
        assert_eq!(lines(&rows, |_| false, 24, 1).join("\n"), narrow);
    }

    /// The story: what follows a burst began in column 64, and made the rows of `catalog show` 139 columns
    /// wide on a terminal of 80.
    #[test]
    fn words_without_room_follow_below_the_row() {
        let rows = [
            ["case", "IOPS", "then"],
            ["rand-4k-read", "10,000", "after 1 h 35 min: 6,000 IOPS"],
            ["short", "3,000", ""],
        ];
        let rows = rows.map(|row| row.map(str::to_owned));
        let narrow = "case            IOPS
    then
rand-4k-read  10,000
    after 1 h 35 min:
    6,000 IOPS
short          3,000";
        assert_eq!(lines(&rows, |column| column == 1, 24, 1).join("\n"), narrow);
    }

    #[test]
    fn what_does_not_fit_beside_goes_below() {
        let table = Table {
            columns: Column::named("", ["IOPS", "mean latency of all", "left"]),
            rows: vec![
                Row::from(["deep", "12,000", "1.20 ms", "7"]),
                Row::from(["flat", "900", "", "12"]),
            ],
            layout: Layout::Fitted { margin: 0 },
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
