//! In: text. Out: the same text wrapped to a width and in colours, for terminals and for files.
//! Colour and width are handed in, so that a page can be made without a terminal.

/// Whether text has colours, and how wide it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Style {
    /// ANSI colours; only where the reader is a terminal.
    pub color: bool,
    /// Width in columns; `None`: 80.
    pub width: Option<u16>,
}

/// Colours by meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// Headings.
    Bold,
    /// Secondary text.
    Dim,
    /// A warning.
    Yellow,
    /// An error, or a result that must not be used.
    Red,
    /// An explanation.
    Blue,
    /// A good result.
    Green,
}

const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const YELLOW: &str = "\x1b[33m";
const RED: &str = "\x1b[31m";
const BLUE: &str = "\x1b[34m";
const GREEN: &str = "\x1b[32m";
const PLAIN: &str = "\x1b[0m";

/// The colour sequence with which a text begins, and the rest of it: for callers that let only our
/// own sequences through to the terminal.
pub fn after_ink(text: &str) -> Option<(&'static str, &str)> {
    [BOLD, DIM, YELLOW, RED, BLUE, GREEN, PLAIN]
        .into_iter()
        .find_map(|code| Some((code, text.strip_prefix(code)?)))
}

impl Style {
    /// The width, 80 where it is not known.
    pub fn columns(self) -> usize {
        usize::from(self.width.unwrap_or(80))
    }

    /// The text in this ink, or plain where the style has no colours.
    pub fn paint(self, ink: Ink, text: &str) -> String {
        if !self.color || text.is_empty() {
            return text.to_owned();
        }
        let code = match ink {
            Ink::Bold => BOLD,
            Ink::Dim => DIM,
            Ink::Yellow => YELLOW,
            Ink::Red => RED,
            Ink::Blue => BLUE,
            Ink::Green => GREEN,
        };
        format!("{code}{text}{PLAIN}")
    }

    /// The text broken at blanks into lines that fit next to a margin of `indent` columns. A number
    /// stays with its unit. A word longer than a line gets a line of its own and is not cut, so that
    /// paths can be copied.
    pub fn wrap(self, text: &str, indent: usize) -> Vec<String> {
        // Less room than 20 columns would break at every word.
        let room = self.columns().saturating_sub(indent).max(20);
        wrapped(unbroken_words(text), room)
    }

    /// The beginning of the text, cut to one line next to a margin, and ` …`. The cut is at the end of
    /// a clause where one ends in the second half of the line. A colon ends none where it is the first
    /// mark: before it is only what the text is about.
    pub fn cut(self, text: &str, indent: usize) -> String {
        let lines = self.wrap(text, indent + 2);
        let first = lines.first().map_or("", String::as_str);
        // The comma of a number such as 16,000 ends no clause.
        let ends = [", ", ": ", "; "].map(|end| first.rfind(end));
        let at_the_end = first.ends_with([',', ':', ';']).then(|| first.len() - 1);
        let subject = first
            .find([',', ':', ';'])
            .filter(|at| first[*at..].starts_with(':'));
        let clause = at_the_end
            .or(ends.into_iter().flatten().max())
            .filter(|at| *at > first.len() / 2 && subject != Some(*at));
        format!("{} …", &first[..clause.unwrap_or(first.len())])
    }

    /// The text wrapped next to a margin, dim.
    pub fn aside(self, indent: usize, text: &str) -> String {
        let margin = " ".repeat(indent);
        self.wrap(text, indent)
            .iter()
            .map(|line| format!("{margin}{}\n", self.paint(Ink::Dim, line)))
            .collect()
    }

    /// `head` in this ink, then the text wrapped to its right from column `indent` on.
    pub fn hang(self, ink: Ink, head: &str, indent: usize, text: &str) -> String {
        let mut out = String::new();
        for (index, line) in self.wrap(text, indent).iter().enumerate() {
            let head = if index == 0 { head } else { "" };
            out.push_str(&self.paint(ink, head));
            out.push_str(&" ".repeat(indent.saturating_sub(width(head))));
            out.push_str(line);
            out.push('\n');
        }
        out
    }
}

/// Words in lines of at most `room` columns; a longer word gets a line of its own.
pub fn wrapped(words: impl IntoIterator<Item = String>, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(&word) <= room => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

/// The words of a text, of which each number is one together with its unit: `5 GiB`, `4 h 17 min`.
pub fn unbroken_words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match words.last_mut() {
            Some(number) if is_number(number) && is_unit(word) => {
                number.push(' ');
                number.push_str(word);
            }
            _ => {
                words.push(word.to_owned());
                continue;
            }
        }
        // A time of two units is one quantity.
        if let [.., longer, shorter] = &words[..]
            && LONGER_AND_SHORTER.iter().any(|[long, short]| {
                longer.starts_with(|c: char| c.is_ascii_digit())
                    && longer.ends_with(*long)
                    && is_in_unit(shorter, short)
            })
        {
            let both = format!("{longer} {shorter}");
            words.truncate(words.len() - 2);
            words.push(both);
        }
    }
    words
}

/// Endings of a time of two units.
const LONGER_AND_SHORTER: [[&str; 2]; 2] = [[" h", "min"], [" min", "s"]];

/// Whether a word begins with a digit and has no unit yet.
fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) && !word.contains(' ')
}

fn is_unit(word: &str) -> bool {
    let units = [
        "ns", "µs", "ms", "s", "min", "h", "B", "KiB", "MiB", "GiB", "TiB", "kB", "MB", "GB", "TB",
        "%", "IOPS", "KiB/s", "MiB/s", "GiB/s", "kB/s", "MB/s", "GB/s", "USD",
    ];
    units.contains(&without_mark(word))
}

/// Whether a number with its unit is in this one.
fn is_in_unit(quantity: &str, unit: &str) -> bool {
    quantity
        .rsplit_once(' ')
        .map(|(_, last)| without_mark(last))
        == Some(unit)
}

/// Without the punctuation behind a unit.
fn without_mark(word: &str) -> &str {
    word.trim_end_matches([',', '.', ';', ':', ')'])
}

/// Width of a text in columns: every character that we print takes one.
pub fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_hangs_under_its_head() {
        let style = Style {
            color: false,
            width: Some(30),
        };
        assert_eq!(
            style.hang(Ink::Dim, "note", 6, "one two three four 5 GiB, six seven"),
            "note  one two three four\n      5 GiB, six seven\n"
        );
        // The story: "a full bucket lasts 4 / h 17 min".
        assert_eq!(
            style.wrap("a full bucket lasts 4 h 17 min, then 300 IOPS", 6),
            ["a full bucket lasts", "4 h 17 min, then", "300 IOPS"]
        );
        // The story: "buckets full, 60.0 / s: carried".
        assert_eq!(
            style.wrap("with those buckets full, 60.0 s: carried", 0),
            ["with those buckets full,", "60.0 s: carried"]
        );
        for (line, cut) in [
            ("one two three four, five six", "one two three four …"),
            ("In 4 cases, the gp3: 3,000", "In 4 cases, the gp3 …"),
            // The story: "as that of one of 16 …", where it is one of 16,000.
            ("as that of 16,000 and more", "as that of 16,000 and …"),
            // The story: `a and b …` was all that was left of a finding on two cases.
            (
                "case-one and two: slow ones, six",
                "case-one and two: slow …",
            ),
        ] {
            assert_eq!(style.cut(line, 6), cut);
        }
    }

    /// A terminal of unknown width has 80 columns, and a margin of whatever width leaves room for a few
    /// words: one in a line could not be read.
    #[test]
    fn a_line_has_eighty_columns_and_twenty_next_to_a_wide_margin() {
        let text = "word ".repeat(40);
        for (indent, longest) in [(0, 79), (40, 39), (70, 19)] {
            let lines = Style::default().wrap(&text, indent);
            assert_eq!(lines.iter().map(String::len).max(), Some(longest));
        }
    }

    #[test]
    fn colour_only_when_asked() {
        let plain = Style::default();
        let colored = Style {
            color: true,
            ..plain
        };
        assert_eq!(plain.paint(Ink::Red, "x"), "x");
        assert_eq!(colored.paint(Ink::Red, "x"), "\x1b[31mx\x1b[0m");
    }
}
