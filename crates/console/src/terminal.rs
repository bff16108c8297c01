//! In: text for the user. Out: standard output and standard error, with colours where they are
//! wanted.
//!
//! Names of jobs, folders and devices, and Records from other machines, may contain any characters. So
//! all text for people passes through here, and no control sequence reaches the terminal except the
//! colours that blocklab itself uses.

use std::borrow::Cow;
use std::env;
use std::ffi::OsStr;
use std::io::{self, ErrorKind, IsTerminal, Write};

use anyhow::Context;
use blocklab_units::{Style, after_ink, visible_lines};
use blocklab_workload::errno;

/// Prints text to standard output. A reader that closes the pipe early (`| head`) is not an error.
pub fn print(text: impl AsRef<str>) -> anyhow::Result<()> {
    put(visible_lines(text.as_ref()).as_bytes())
}

/// Prints text that was made in the [`style`] of standard output.
pub fn print_styled(text: impl AsRef<str>) -> anyhow::Result<()> {
    put(shown(text.as_ref(), style().color).as_bytes())
}

/// Prints data for another program unchanged; a terminal gets it as text with escapes.
pub fn print_data(bytes: impl AsRef<[u8]>) -> anyhow::Result<()> {
    if io::stdout().is_terminal() {
        print(String::from_utf8_lossy(bytes.as_ref()))
    } else {
        put(bytes.as_ref())
    }
}

/// Standard output of a command that has more to do than to print. Its first failure is reported,
/// and then nothing more is printed.
#[derive(Debug)]
pub struct LastingOutput {
    /// Whether everything was printed.
    pub is_well: bool,
}

impl Default for LastingOutput {
    fn default() -> Self {
        Self { is_well: true }
    }
}

impl LastingOutput {
    /// Prints text as [`print_styled`] does.
    pub fn print(&mut self, text: impl AsRef<str>) {
        if self.is_well
            && let Err(error) = print_styled(text)
        {
            complain(&error);
            self.is_well = false;
        }
    }
}

/// Standard output for data that another program reads: [`print_data`] in pieces.
pub struct Data;

impl Write for Data {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if io::stdout().is_terminal() {
            let text = String::from_utf8_lossy(bytes);
            write_out(visible_lines(&text).as_bytes())?;
        } else {
            write_out(bytes)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_out(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush())
}

fn put(bytes: &[u8]) -> anyhow::Result<()> {
    written(write_out(bytes))
}

/// What became of writing to standard output. A closed pipe is no error: with `| head`, the reader has got
/// enough.
pub fn written(outcome: io::Result<()>) -> anyhow::Result<()> {
    match outcome {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to the standard output"),
    }
}

/// The text with escapes for all control sequences, except blocklab's colours if `colors` allows them.
fn shown(text: &str, colors: bool) -> Cow<'_, str> {
    if !colors || !text.contains('\x1b') {
        return visible_lines(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\x1b') {
        shown.push_str(&visible_lines(&rest[..at]));
        let (sequence, after) = match after_ink(&rest[at..]) {
            Some((ink, after)) => (Cow::Borrowed(ink), after),
            None => (visible_lines("\x1b"), &rest[at + 1..]),
        };
        shown.push_str(&sequence);
        rest = after;
    }
    shown.push_str(&visible_lines(rest));
    shown.into()
}

/// Columns and lines of standard error, 0 if the terminal does not report them; `None` if it is no
/// terminal, or one on which no line can be drawn again.
pub fn size() -> Option<(u16, u16)> {
    let size = terminal_size::terminal_size_of(io::stderr());
    let known = size.map_or((0, 0), |(width, height)| (width.0, height.0));
    let can_redraw = env::var_os("TERM").is_some_and(|term| term != "dumb");
    (io::stderr().is_terminal() && can_redraw).then_some(known)
}

/// Most columns that are used, whatever the terminal reports.
const WIDEST: u16 = 1000;

/// Colours and width for text on standard output: only if it is a terminal, and no colours if
/// NO_COLOR is set.
pub fn style() -> Style {
    Style {
        color: io::stdout().is_terminal() && colors_wanted(),
        width: terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0.min(WIDEST)),
    }
}

/// Prints an error to standard error.
pub fn complain(error: &anyhow::Error) {
    let head = if io::stderr().is_terminal() && colors_wanted() {
        "\x1b[1;31merror:\x1b[0m"
    } else {
        "error:"
    };
    let text = format!("{error:#}");
    let remedy = error.root_cause().downcast_ref().map_or("", errno::remedy);
    // If standard error is closed, there is no place left for a message.
    let _ = writeln!(io::stderr(), "{head} {}{remedy}", visible_lines(&text));
}

/// Prints a warning to standard error.
pub fn warn(text: &str) {
    let _ = writeln!(io::stderr(), "warning: {}", visible_lines(text));
}

/// Whether neither NO_COLOR (<https://no-color.org>, any value but an empty one) nor a terminal
/// without colours forbids them.
fn colors_wanted() -> bool {
    env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && env::var_os("TERM").as_deref() != Some(OsStr::new("dumb"))
}

/// Prints a message to standard error, so that standard output has only the result.
pub fn inform(text: &str) {
    let _ = writeln!(io::stderr(), "{}", visible_lines(text));
}

#[cfg(test)]
mod tests {
    use blocklab_units::Style;

    use super::shown;

    /// The story: the name of a study in somebody's record set the title of the terminal, and hid
    /// what followed it.
    #[test]
    fn only_our_own_colours_reach_the_terminal() {
        let text = "\x1b[1mHEAD\x1b[0m a\x1b]0;evil\x07 \x1b[8m\u{202e}b\n";
        assert_eq!(
            shown(text, true),
            "\x1b[1mHEAD\x1b[0m a\\u001b]0;evil\\u0007 \\u001b[8m\\u202eb\n"
        );
        assert!(!shown(text, false).contains('\x1b'));
        let style = Style::default();
        assert_eq!(shown("plain\n", style.color), "plain\n");
    }
}
