//! In: a file that a command reads to its end. Out: the same bytes, and on a terminal how far it is,
//! once that takes longer than a second.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use blocklab_units::{Bytes, visible};

use crate::terminal;

/// How long reading goes on before the first line is shown.
const LONG: Duration = Duration::from_secs(1);
/// From one line to the next one.
const EVERY: Duration = Duration::from_millis(200);
/// Moves to the beginning of the terminal's line and clears it.
const CLEARED: &str = "\r\x1b[K";

/// A reader that shows on standard error how much of a file was read, if that is a terminal. The line
/// is cleared at the end of the file, or when the reader is dropped before that.
pub struct ShownReading<R> {
    inner: R,
    progress: Progress,
    /// When the next line is due; `None`: standard error is no terminal, and none is shown.
    next: Option<Instant>,
    is_shown: bool,
}

/// How far a file was read.
struct Progress {
    name: String,
    done: u64,
    /// Its length; `None`: it is not known, as that of a pipe.
    total: Option<u64>,
}

impl Progress {
    /// `reading night.trace: 1.2 GiB of 5 GiB (24 %)`
    fn text(&self) -> String {
        let (name, done) = (visible(&self.name), Bytes(self.done));
        match self.total {
            Some(total) if total > 0 => {
                let share = 100 * u128::from(self.done) / u128::from(total);
                format!("reading {name}: {done} of {} ({share} %)", Bytes(total))
            }
            _ => format!("reading {name}: {done}"),
        }
    }
}

impl<R> ShownReading<R> {
    /// The reader of a file of this name. `total`: its length in bytes, if that is known.
    pub fn new(inner: R, name: String, total: Option<u64>) -> Self {
        Self {
            inner,
            progress: Progress {
                name,
                done: 0,
                total,
            },
            next: terminal::size().is_some().then(|| Instant::now() + LONG),
            is_shown: false,
        }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            // If standard error is closed, nothing is on it.
            let _ = write!(io::stderr(), "{CLEARED}");
        }
    }
}

impl<R: Read> Read for ShownReading<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        if read == 0 && !buffer.is_empty() {
            self.clear();
            return Ok(read);
        }
        self.progress.done += read as u64;
        if let Some(next) = self.next {
            let now = Instant::now();
            if now >= next {
                // If standard error is closed, there is no place left for a message.
                let _ = write!(io::stderr(), "{CLEARED}{}", self.progress.text());
                (self.next, self.is_shown) = (Some(now + EVERY), true);
            }
        }
        Ok(read)
    }
}

impl<R> Drop for ShownReading<R> {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_share_where_the_length_is_known() {
        let progress = |done, total| Progress {
            name: "night\u{7}.trace".to_owned(),
            done,
            total,
        };
        assert_eq!(
            progress(1 << 20, Some(4 << 20)).text(),
            "reading night\\u0007.trace: 1 MiB of 4 MiB (25 %)"
        );
        assert_eq!(
            progress(1 << 20, None).text(),
            "reading night\\u0007.trace: 1 MiB"
        );
        assert_eq!(
            progress(0, Some(0)).text(),
            "reading night\\u0007.trace: 0 B"
        );
    }

    /// The bytes are those of the file, and nothing is shown where standard error is no terminal.
    #[test]
    fn the_bytes_are_those_of_the_file() {
        let bytes = b"0123456789";
        let mut reading = ShownReading::new(&bytes[..], "digits".to_owned(), Some(10));
        let mut read = Vec::new();
        reading.read_to_end(&mut read).expect("memory");
        assert_eq!((read.as_slice(), reading.progress.done), (&bytes[..], 10));
        assert!(reading.next.is_none() || !reading.is_shown);
    }
}
