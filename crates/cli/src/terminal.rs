//! Words to the user: standard output, colours, files by name.

use std::ffi::OsStr;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::{env, fs};

use anyhow::Context;
use blocklab_report::text::Style;

/// Prints to standard output. A reader that has gone away (`| head`) is no error: it has what it
/// wanted.
pub fn print(bytes: impl AsRef<[u8]>) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let written = out.write_all(bytes.as_ref()).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to the standard output"),
    }
}

/// Writes a file, or standard output when it is called `-`.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> anyhow::Result<()> {
    if path.as_os_str() == "-" {
        return print(bytes);
    }
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

/// How text on standard output may look: colours and width only where it is a terminal, and no
/// colours when NO_COLOR is set.
pub fn style() -> Style {
    let terminal = io::stdout().is_terminal();
    Style {
        color: terminal && colors_wanted(),
        width: if terminal { columns() } else { None },
    }
}

/// Tells standard error what went wrong.
pub fn complain(error: &anyhow::Error) {
    let head = match io::stderr().is_terminal() && colors_wanted() {
        true => "\x1b[1;31merror:\x1b[0m",
        false => "error:",
    };
    // Nobody is left to tell when standard error is closed.
    let _ = writeln!(io::stderr(), "{head} {error:#}");
}

/// Tells standard error something that did not stop us.
pub fn warn(text: &str) {
    let _ = writeln!(io::stderr(), "warning: {text}");
}

/// <https://no-color.org>: any value but an empty one; and terminals without colours.
fn colors_wanted() -> bool {
    let unset = |value: Option<_>| value.is_none_or(|value: std::ffi::OsString| value.is_empty());
    unset(env::var_os("NO_COLOR")) && env::var_os("TERM").as_deref() != Some(OsStr::new("dumb"))
}

/// Says something on standard error, beside a result that others will read.
pub fn tell(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// The width of the terminal on standard output, where the kernel knows it.
fn columns() -> Option<u16> {
    let mut size = libc::winsize {
        ws_row: 0,
        ws_col: 0,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    // SAFETY: TIOCGWINSZ writes one winsize, and `size` is one that lives through the call.
    let answer = unsafe { libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &raw mut size) };
    (answer == 0 && size.ws_col > 0).then_some(size.ws_col)
}
