//! The window of `blocklab cdm`: big numbers that fill in, drawn on stderr.

use std::io::{self, Write};

use blocklab_record::Interval;
use blocklab_units::{Bytes, visible};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The window: a row for each test, a column each for reads, writes and mixes.
///
/// On a terminal it shows numbers three lines high, redrawn while they change. Without one, one line a
/// finished test. Never starts a thread.
pub struct Window {
    view: View,
    titles: Vec<String>,
    labels: Vec<[String; 2]>,
    /// MB/s by row, then column.
    cells: Vec<Vec<Option<f64>>>,
    at: Option<(usize, usize)>,
}

enum View {
    Silent,
    Lines(Box<dyn Write + Send>),
    Block {
        _group: MultiProgress,
        lines: Vec<ProgressBar>,
    },
}

/// Lines of a row: three of the number, one between.
const PITCH: usize = 4;
const LABEL: usize = 8;
const COLUMN: usize = 24;

impl Window {
    /// `enabled`: nothing is shown otherwise. `is_terminal`: whether stderr is one. `labels`: the
    /// two words of each test, `SEQ1M` and `Q8T1`. `titles`: the columns.
    pub fn new(
        enabled: bool,
        is_terminal: bool,
        labels: Vec<[String; 2]>,
        titles: Vec<String>,
    ) -> Self {
        let view = match (enabled, is_terminal) {
            (false, _) => View::Silent,
            (true, false) => View::Lines(Box::new(io::stderr())),
            (true, true) => block(ProgressDrawTarget::stderr(), 2 + PITCH * labels.len()),
        };
        let window = Self {
            view,
            cells: vec![vec![None; titles.len()]; labels.len()],
            titles,
            labels,
            at: None,
        };
        window.draw();
        window
    }

    /// A step of the preparation: `laying out 1 GiB`, done and total bytes.
    pub fn laying_out(&self, what: &str, done: u64, total: u64) {
        let share = 100 * u128::from(done) / u128::from(total.max(1));
        self.print(&format!(
            "{}: {} of {} ({share} %)",
            visible(what),
            Bytes(done),
            Bytes(total)
        ));
    }

    /// A pass of a test begins, which is called `what`: `pass 2 of 5`.
    pub fn begins(&mut self, row: usize, column: usize, what: &str) {
        if self.at != Some((row, column)) {
            self.close();
        }
        self.at = Some((row, column));
        let [kind, queue] = &self.labels[row];
        self.print(&format!("{kind} {queue} {}, {what}", self.titles[column]));
        self.draw();
    }

    /// What a slice of the pass under way delivered; shown until a pass has ended.
    pub fn interval(&self, interval: &Interval) {
        let bytes = interval.read.bytes + interval.write.bytes + interval.trim.bytes;
        let speed = bytes as f64 * 1e3 / interval.length_ns.max(1) as f64;
        if let Some((row, column)) = self.at {
            self.draw_row(row, Some((column, speed)));
        }
    }

    /// What the test's passes have come to so far, in MB/s.
    pub fn settle(&mut self, row: usize, column: usize, mb_per_s: Option<f64>) {
        self.cells[row][column] = mb_per_s;
        self.draw_row(row, None);
    }

    /// The run is over: the window disappears, the last line is written.
    pub fn finished(&mut self) {
        self.close();
        if let View::Block { lines, .. } = &self.view {
            lines.iter().for_each(ProgressBar::finish_and_clear);
        }
    }

    /// Writes the line of the test that was under way, where lines are written.
    fn close(&mut self) {
        let Some((row, column)) = self.at.take() else {
            return;
        };
        let ([kind, queue], title) = (&self.labels[row], &self.titles[column]);
        let figure = match self.cells[row][column] {
            Some(speed) => format!("{speed:.3} MB/s"),
            None => "nothing measured".to_owned(),
        };
        if let View::Lines(out) = &mut self.view {
            // A closed pipe is no reason to lose the run.
            let _ = writeln!(out, "{kind} {queue} {title}: {figure}");
            let _ = out.flush();
        }
    }

    fn print(&self, words: &str) {
        if let View::Block { lines, .. } = &self.view {
            lines[0].set_message(words.to_owned());
        }
    }

    fn draw(&self) {
        if let View::Block { lines, .. } = &self.view {
            lines[1].set_message(heading(&self.titles));
        }
        (0..self.labels.len()).for_each(|row| self.draw_row(row, None));
    }

    fn draw_row(&self, row: usize, live: Option<(usize, f64)>) {
        let View::Block { lines, .. } = &self.view else {
            return;
        };
        let mut cells = self.cells[row].clone();
        if let Some((column, speed)) = live {
            cells[column] = cells[column].or(Some(speed));
        }
        let is_current = self.at.is_some_and(|(at, _)| at == row);
        let text = row_text(&self.labels[row], &cells, is_current);
        for (line, text) in lines[2 + row * PITCH..].iter().zip(text) {
            line.set_message(text);
        }
    }
}

fn block(target: ProgressDrawTarget, lines: usize) -> View {
    let group = MultiProgress::with_draw_target(target);
    let style = ProgressStyle::with_template("{wide_msg}").expect("the template is ours");
    let line = |_| group.add(ProgressBar::new(0).with_style(style.clone()));
    let lines = (0..lines).map(line).collect();
    View::Block {
        lines,
        _group: group,
    }
}

fn heading(titles: &[String]) -> String {
    let title = |title: &String| format!("{:>COLUMN$}", format!("{title} [MB/s]"));
    let columns: String = titles.iter().map(title).collect();
    format!("{:LABEL$}{columns}", "")
}

/// The four lines of a test: its two words at the left, a number in each column.
fn row_text(label: &[String; 2], cells: &[Option<f64>], is_current: bool) -> [String; PITCH] {
    let mark = if is_current { "▸" } else { " " };
    let mut text = [
        format!("{mark}{:<w$}", label[0], w = LABEL - 1),
        format!(" {:<w$}", label[1], w = LABEL - 1),
        " ".repeat(LABEL),
    ];
    for cell in cells {
        let figure = cell.map_or(String::new(), fitting);
        for (line, number) in text.iter_mut().zip(big(&figure)) {
            line.push_str(&format!("{number:>COLUMN$}"));
        }
    }
    let [top, middle, bottom] = text;
    [top, middle, bottom, String::new()]
}

/// As many decimals as leave six figures.
fn fitting(speed: f64) -> String {
    match speed {
        ..10_000.0 => format!("{speed:.2}"),
        ..100_000.0 => format!("{speed:.1}"),
        _ => format!("{speed:.0}"),
    }
}

/// A number in figures of three lines, as on a pocket calculator.
fn big(figure: &str) -> [String; 3] {
    let mut lines = [const { String::new() }; 3];
    for character in figure.chars() {
        let shape = match character.to_digit(10) {
            Some(digit) => DIGITS[digit as usize],
            None => [" ", " ", "."],
        };
        for (line, part) in lines.iter_mut().zip(shape) {
            line.push_str(part);
        }
    }
    lines
}

const DIGITS: [[&str; 3]; 10] = [
    [" _ ", "| |", "|_|"],
    ["   ", "  |", "  |"],
    [" _ ", " _|", "|_ "],
    [" _ ", " _|", " _|"],
    ["   ", "|_|", "  |"],
    [" _ ", "|_ ", " _|"],
    [" _ ", "|_ ", "|_|"],
    [" _ ", "  |", "  |"],
    [" _ ", "|_|", "|_|"],
    [" _ ", "|_|", " _|"],
];

#[cfg(test)]
#[path = "../testing.rs"]
mod testing;

#[cfg(test)]
mod tests {
    use super::testing::Shared;
    use super::*;

    fn labels() -> Vec<[String; 2]> {
        [["SEQ1M", "Q8T1"], ["RND4K", "Q1T1"]]
            .map(|label| label.map(str::to_owned))
            .to_vec()
    }

    #[test]
    fn without_a_terminal_one_line_a_test() {
        let seen = Shared::default();
        let mut window = Window::new(false, false, labels(), vec!["Read".to_owned()]);
        window.view = View::Lines(Box::new(seen.clone()));
        window.laying_out("laying out", 1, 2);
        for pass in ["pass 0", "pass 1"] {
            window.begins(0, 0, pass);
            window.interval(&Interval::default());
            window.settle(0, 0, Some(5024.997));
        }
        window.begins(1, 0, "pass 0");
        window.finished();
        window.finished();
        assert_eq!(
            String::from_utf8(seen.0.lock().unwrap().clone()).unwrap(),
            "SEQ1M Q8T1 Read: 5024.997 MB/s\nRND4K Q1T1 Read: nothing measured\n"
        );
    }

    #[test]
    fn numbers_are_three_lines_high() {
        assert_eq!(
            big("12.80").join("\n"),
            "    _   _  _ \n  | _| |_|| |\n  ||_ .|_||_|"
        );
        let label = &labels()[0];
        let text = row_text(label, &[Some(5024.997), None], true);
        assert!(text[0].starts_with("▸SEQ1M"), "{text:?}");
        assert!(
            text.iter().all(|line| line.chars().count() <= 80),
            "{text:?}"
        );
    }

    #[test]
    fn every_speed_fits_its_column() {
        for (speed, expected) in [
            (0.561, "0.56"),
            (9999.994, "9999.99"),
            (10_000.0, "10000.0"),
            (1_234_567.8, "1234568"),
        ] {
            assert_eq!(fitting(speed), expected);
            assert!(big(expected)[0].len() < COLUMN);
        }
    }
}
