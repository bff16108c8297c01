//! In: a text as a buffered reader. Out: its lines one by one, with their numbers. One buffer is used
//! for all lines.

use std::io::BufRead;

use crate::TraceError;

/// Most bytes of a line. It limits memory for a file that is no text.
const LONGEST_LINE: usize = 64 << 10;

/// Some programs of Windows begin a text in UTF-8 with it.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The lines of a text.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    input: R,
    line: Vec<u8>,
    number: usize,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(input: R) -> Self {
        Self {
            input,
            line: Vec::with_capacity(256),
            number: 0,
        }
    }

    /// The next line without its end, which may be LF or CR LF, and without a byte order mark; `None` at
    /// the end of the text.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, TraceError> {
        self.line.clear();
        self.number += 1;
        loop {
            let chunk = self
                .input
                .fill_buf()
                .map_err(|why| TraceError::read(&why))?;
            if chunk.is_empty() {
                if self.line.is_empty() {
                    return Ok(None);
                }
                break;
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let used = end.unwrap_or(chunk.len());
            if self.line.len() + used > LONGEST_LINE {
                let why = "longer than 64 KiB: no trace has such lines";
                return Err(TraceError::Line(self.number, why.to_owned()));
            }
            self.line.extend_from_slice(&chunk[..used]);
            self.input.consume(used + usize::from(end.is_some()));
            if end.is_some() {
                break;
            }
        }
        if self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        if self.number == 1 && self.line.starts_with(BYTE_ORDER_MARK) {
            self.line.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(Some(&self.line))
    }

    /// The line that was given last.
    pub(crate) fn line(&self) -> &[u8] {
        &self.line
    }

    /// Its number, from 1.
    pub(crate) const fn number(&self) -> usize {
        self.number
    }

    /// An error in this line.
    pub(crate) fn wrong(&self, why: impl Into<String>) -> TraceError {
        TraceError::Line(self.number, why.into())
    }
}

/// The words between blanks.
pub(crate) fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let words = text.split(u8::is_ascii_whitespace);
    words.filter(|word| !word.is_empty())
}

/// At most 60 bytes of a text for an error message; bytes that are no UTF-8 are replaced.
pub(crate) fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(60)]);
    text.trim().to_owned()
}
