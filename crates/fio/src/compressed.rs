//! Compressed logs (`FILE_lat.1.log.fz`): zlib streams, one after the other and nothing between
//! them, each of whole samples with little-endian numbers.
//!
//! ```text
//!    0 u64  ms                      16 u32  direction; bit 31: an offset follows,
//!    8 u64  value                           bit 30: the whole priority is printed
//!   24 u64  block                   20 u16  priority, as ioprio_set takes it
//!  [32 u64  offset]
//! ```

use std::fmt;
use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::bufread::{GzDecoder, ZlibDecoder};
use flate2::write::ZlibEncoder;

/// Uncompressed bytes of a chunk where a job gives no size.
pub const CHUNK: usize = 64 << 10;

const WITH_OFFSET: u32 = 1 << 31;
const WHOLE_PRIORITY: u32 = 1 << 30;
/// Bytes of a sample without an offset.
const PLAIN: usize = 32;
/// The beginning of a stream of gzip, which fio inflates as well.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// One line of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Its moment.
    pub ms: u64,
    /// What was measured.
    pub value: u64,
    /// The largest value of a span, where that is printed, too; a compressed log has no room for it.
    pub largest: Option<u64>,
    /// The direction by its number.
    pub direction: u32,
    /// Bytes of the operation; 0 of a span.
    pub block: u64,
    /// First byte, where it is logged.
    pub offset: Option<u64>,
    /// Class and level.
    pub priority: u16,
    /// Whether both are printed.
    pub whole_priority: bool,
    /// When the operation was issued, where that is printed; a compressed log has no room for it.
    pub issued_ns: Option<u64>,
}

impl Sample {
    fn put(&self, to: &mut Vec<u8>) {
        let mut word = self.direction;
        if self.offset.is_some() {
            word |= WITH_OFFSET;
        }
        if self.whole_priority {
            word |= WHOLE_PRIORITY;
        }
        to.extend(self.ms.to_le_bytes());
        to.extend(self.value.to_le_bytes());
        to.extend(word.to_le_bytes());
        to.extend(self.priority.to_le_bytes());
        to.extend([0; 2]);
        to.extend(self.block.to_le_bytes());
        to.extend(self.offset.into_iter().flat_map(u64::to_le_bytes));
    }

    /// The first sample, and the bytes after it; `None` where the sample is cut off.
    fn take(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (head, rest) = bytes.split_first_chunk::<PLAIN>()?;
        let number = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().unwrap_or([0; 8]));
        // Direction and flags are the lower half of this number; the priority begins the upper one.
        let (word, priority) = (number(16) as u32, (number(16) >> 32) as u16);
        let (offset, rest) = match word & WITH_OFFSET {
            0 => (None, rest),
            _ => {
                let (offset, rest) = rest.split_first_chunk()?;
                (Some(u64::from_le_bytes(*offset)), rest)
            }
        };
        let sample = Self {
            ms: number(0),
            value: number(8),
            largest: None,
            direction: word & !(WITH_OFFSET | WHOLE_PRIORITY),
            block: number(24),
            offset,
            priority,
            whole_priority: word & WHOLE_PRIORITY != 0,
            issued_ns: None,
        };
        Some((sample, rest))
    }
}

/// The line, without its end.
impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            ms,
            value,
            direction,
            block,
            ..
        } = self;
        write!(f, "{ms}, {value}")?;
        if let Some(largest) = self.largest {
            write!(f, ", {largest}")?;
        }
        write!(f, ", {direction}, {block}")?;
        if let Some(offset) = self.offset {
            write!(f, ", {offset}")?;
        }
        if self.whole_priority {
            write!(f, ", {:#06x}", self.priority)?
        } else {
            // Without log_prio: whether the class, in the upper three bits, is real time.
            write!(f, ", {}", u8::from(self.priority >> 13 == 1))?
        }
        match self.issued_ns {
            Some(issued) => write!(f, ", {issued}"),
            None => Ok(()),
        }
    }
}

/// Writes samples as a compressed log.
#[derive(Debug)]
pub struct Packer<W> {
    to: W,
    chunk: usize,
    waiting: Vec<u8>,
}

impl<W: Write> Packer<W> {
    /// A writer with chunks of this many bytes.
    pub fn new(to: W, chunk: usize) -> Self {
        Self {
            to,
            chunk,
            waiting: Vec::new(),
        }
    }

    /// Adds a sample.
    ///
    /// # Errors
    /// What writing fails with.
    pub fn put(&mut self, sample: &Sample) -> io::Result<()> {
        sample.put(&mut self.waiting);
        if self.waiting.len() >= self.chunk {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Writes what is still waiting: nothing where there is none, as fio.
    ///
    /// # Errors
    /// What writing fails with.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let mut stream = ZlibEncoder::new(&mut self.to, Compression::default());
        stream.write_all(&self.waiting)?;
        stream.finish()?;
        self.waiting.clear();
        Ok(())
    }
}

/// Why a log could not be read to its end.
#[derive(Debug, thiserror::Error)]
pub enum InflateError {
    /// It holds nothing.
    #[error("short read on reading log")]
    Empty,
    /// A part of it is not compressed as it should be.
    #[error("failed inflating log: -3 (byte {0}: no stream of zlib)")]
    NotCompressed(usize),
    /// The text could not be written.
    #[error("cannot print the log: {0}")]
    Output(#[from] io::Error),
}

/// Writes the text of a compressed log. `Ok(false)`: its last stream is cut off.
///
/// # Errors
/// What is wrong with it; what was read before is written.
pub fn inflate(log: &[u8], to: &mut impl Write) -> Result<bool, InflateError> {
    if log.is_empty() {
        return Err(InflateError::Empty);
    }
    let mut rest = log;
    while !rest.is_empty() {
        let at = log.len() - rest.len();
        let read = if rest.starts_with(&GZIP) {
            stream(GzDecoder::new(&mut rest), to)?
        } else {
            stream(ZlibDecoder::new(&mut rest), to)?
        };
        match read {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && rest.is_empty() => {
                return Ok(false);
            }
            Err(_) => return Err(InflateError::NotCompressed(at)),
        }
    }
    Ok(true)
}

/// The samples of one stream. The inner result is what reading it came to; samples that are not
/// whole at its end are left out, as fio does.
fn stream(mut from: impl Read, to: &mut impl Write) -> io::Result<io::Result<()>> {
    let mut waiting = Vec::new();
    let mut piece = [0; CHUNK];
    loop {
        let count = match from.read(&mut piece) {
            Ok(0) => return Ok(Ok(())),
            Ok(count) => count,
            Err(error) => return Ok(Err(error)),
        };
        waiting.extend_from_slice(&piece[..count]);
        let mut rest = &waiting[..];
        while let Some((sample, behind)) = Sample::take(rest) {
            writeln!(to, "{sample}")?;
            rest = behind;
        }
        let read = waiting.len() - rest.len();
        waiting.drain(..read);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Vec<Sample> {
        let sample = |number: u64| Sample {
            ms: number,
            value: 1_000_000 + number,
            largest: None,
            direction: (number % 3) as u32,
            block: 4096,
            offset: None,
            priority: 0,
            whole_priority: false,
            issued_ns: None,
        };
        (0..100).map(sample).collect()
    }

    fn packed(samples: &[Sample], chunk: usize) -> Vec<u8> {
        let mut packer = Packer::new(Vec::new(), chunk);
        for sample in samples {
            packer.put(sample).expect("memory takes it");
        }
        packer.flush().expect("memory takes it");
        packer.to
    }

    fn text(log: &[u8]) -> (String, Result<bool, InflateError>) {
        let mut text = Vec::new();
        let read = inflate(log, &mut text);
        (String::from_utf8(text).expect("text"), read)
    }

    fn lines(samples: &[Sample]) -> String {
        samples.iter().map(|sample| format!("{sample}\n")).collect()
    }

    #[test]
    fn samples_come_back_in_chunks_of_any_size() {
        for chunk in [1, 32, 1000, CHUNK] {
            let (text, read) = text(&packed(&samples(), chunk));
            assert_eq!(text, lines(&samples()), "{chunk}");
            assert!(matches!(read, Ok(true)), "{chunk}: {read:?}");
        }
    }

    #[test]
    fn offsets_and_priorities_are_read_from_the_sample_itself() {
        let first = Sample {
            offset: Some(8192),
            priority: 0x4003,
            whole_priority: true,
            ..samples()[7]
        };
        let second = Sample {
            priority: 1 << 13 | 2,
            ..samples()[8]
        };
        let (text, _) = text(&packed(&[first, second], CHUNK));
        assert_eq!(
            text,
            "7, 1000007, 1, 4096, 8192, 0x4003\n8, 1000008, 2, 4096, 1\n"
        );
    }

    /// Left by fio 3.33: two clones with `log_offset=1 prioclass=1`, and what it inflates that to.
    #[test]
    fn logs_of_fio_are_read() {
        let log = include_bytes!("golden/clat.log.fz");
        let (text, read) = text(log);
        assert_eq!(text, include_str!("golden/clat.log"));
        assert!(matches!(read, Ok(true)), "{read:?}");
    }

    #[test]
    fn a_log_that_is_cut_off_gives_what_it_holds() {
        let whole = packed(&samples(), 1000);
        let (text, read) = text(&whole[..whole.len() - 5]);
        assert!(lines(&samples()).starts_with(&text), "{text}");
        assert!(text.lines().count() > 60, "{text}");
        assert!(matches!(read, Ok(false)), "{read:?}");
    }

    #[test]
    fn what_is_no_log_is_reported_with_its_place() {
        assert!(matches!(text(b"").1, Err(InflateError::Empty)));
        let mut log = packed(&samples(), CHUNK);
        let at = log.len();
        log.extend(b"garbage");
        let (text, read) = text(&log);
        assert_eq!(text, lines(&samples()));
        assert!(matches!(read, Err(InflateError::NotCompressed(byte)) if byte == at));
    }
}
