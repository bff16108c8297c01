use blocklab_units::{Ink, Style, width};

/// What stands in a table: a title a column, and named rows of as many cells.
pub struct Cells {
    pub titles: Vec<String>,
    pub rows: Vec<(String, Vec<String>)>,
}

/// Between two columns.
const GAP: usize = 2;

/// A table under a margin. Titles wider than their column go over several lines, but no column is
/// narrower than `title`. Columns that do not fit beside the others follow in a block below, with
/// the names again: no figure is left out.
pub fn blocks(cells: &Cells, margin: usize, title: usize, style: Style) -> String {
    let name = cells.rows.iter().map(|(name, _)| width(name)).max();
    let name = name.unwrap_or_default();
    let heads: Vec<Head> = (0..cells.titles.len())
        .map(|column| Head::of(cells, column, title))
        .collect();
    let room = style.columns().saturating_sub(margin + name);
    let mut out = String::new();
    for block in fitting(&heads, room) {
        out.push_str(&titles(&heads[block.clone()], margin + name, style));
        for (label, row) in &cells.rows {
            let widths = heads[block.clone()].iter().map(|head| head.width);
            let figures = aligned(&row[block.clone()], widths);
            let line = format!("{}{}{figures}", " ".repeat(margin), padded(label, name));
            out.push_str(line.trim_end());
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
    fn of(cells: &Cells, column: usize, least: usize) -> Self {
        let figures = cells.rows.iter().map(|(_, row)| width(&row[column]));
        let title = &cells.titles[column];
        let words = title.split_whitespace().map(width);
        let room = figures.chain(words).max().unwrap_or_default().max(least);
        let lines = wrapped(title, room);
        let used = lines.iter().map(|line| width(line));
        let figures = cells.rows.iter().map(|(_, row)| width(&row[column]));
        Self {
            width: used.chain(figures).max().unwrap_or_default(),
            lines,
        }
    }
}

fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Runs of columns that fit into the room, at least one each.
fn fitting(heads: &[Head], room: usize) -> Vec<std::ops::Range<usize>> {
    let mut blocks: Vec<std::ops::Range<usize>> = Vec::new();
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

/// The lines of the titles, the last ones level.
fn titles(heads: &[Head], margin: usize, style: Style) -> String {
    let height = heads.iter().map(|head| head.lines.len()).max();
    let height = height.unwrap_or_default();
    let line = |at: usize| {
        let parts = heads.iter().map(|head| {
            let above = height - head.lines.len();
            at.checked_sub(above).map_or("", |line| &head.lines[line])
        });
        let parts: Vec<String> = parts.map(str::to_owned).collect();
        let text = aligned(&parts, heads.iter().map(|head| head.width));
        let text = format!("{}{text}", " ".repeat(margin));
        format!("{}\n", style.paint(Ink::Dim, text.trim_end()))
    };
    (0..height).map(line).collect()
}

/// Cells to the right of their columns.
pub fn aligned(row: &[String], widths: impl Iterator<Item = usize>) -> String {
    spaced(row, widths, GAP)
}

/// As [`aligned`], with a gap of so many blanks.
pub fn spaced(row: &[String], widths: impl Iterator<Item = usize>, gap: usize) -> String {
    let mut out = String::new();
    for (cell, column) in row.iter().zip(widths) {
        out.push_str(&" ".repeat(gap + column - width(cell)));
        out.push_str(cell);
    }
    out
}

/// The text with blanks behind it.
pub fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_beside_goes_below() {
        let text = |words: [&str; 3]| words.map(str::to_owned).to_vec();
        let cells = Cells {
            titles: text(["IOPS", "mean latency of all", "left"]),
            rows: vec![
                ("deep".to_owned(), text(["12,000", "1.20 ms", "7"])),
                ("flat".to_owned(), text(["900", "", "12"])),
            ],
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
        assert_eq!(blocks(&cells, 4, 10, style(80)), wide);
        let narrow = "                        mean
                  latency of
            IOPS         all
    deep  12,000     1.20 ms
    flat     900
          left
    deep     7
    flat    12
";
        assert_eq!(blocks(&cells, 4, 10, style(32)), narrow);
    }
}
