//! `--inflate-log`: the text of a compressed log.

use std::fs;
use std::io::{self, BufWriter, Write};

use anyhow::{Context, Result};
use blocklab_fio::{Unreadable, inflate};

use blocklab_console::{status, terminal};

/// As fio: a log that is not compressed as it should be.
const FOREIGN: u8 = 253;

/// Prints it, and returns the exit code.
pub fn print(path: &str) -> Result<u8> {
    let log = fs::read(path).with_context(|| format!("--inflate-log: cannot read {path}"))?;
    let mut out = BufWriter::new(terminal::Data);
    let read = inflate(&log, &mut out);
    let read = match out.flush() {
        Ok(()) => read,
        Err(error) => Err(error.into()),
    };
    match read {
        Ok(true) => Ok(status::DONE),
        Ok(false) => {
            terminal::warn(&format!("{path} is cut off: what it holds was printed"));
            Ok(status::DONE)
        }
        // A reader that has gone away has what it wanted.
        Err(Unreadable::Unwritten(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            Ok(status::DONE)
        }
        Err(error) => {
            terminal::tell(&format!("fio: {path}: {error}"));
            Ok(match error {
                Unreadable::Foreign(_) => FOREIGN,
                _ => status::FAILED,
            })
        }
    }
}
