//! An operation, as the host sends it to a device: what every stage takes.

use blocklab_units::Nanos;

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Data comes from the device.
    Read,
    /// Data goes to the device.
    Write,
    /// A range is given back. Metered as one write operation that moves no bytes.
    Trim,
    /// What was written is made durable. Takes the time of an empty write; no limiter counts it.
    Flush,
}

/// One operation as the host sends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Io {
    /// Read, write, trim or flush.
    pub direction: Direction,
    /// First byte, counted from the start of the device; `offset + len` must not pass the
    /// capacity.
    pub offset: u64,
    /// Bytes; 0 for a flush.
    pub len: u32,
}

impl Io {
    /// The bytes that it moves: a trim has a length and moves none.
    pub const fn moved(self) -> u64 {
        match self.direction {
            Direction::Read | Direction::Write => self.len as u64,
            Direction::Trim | Direction::Flush => 0,
        }
    }
}

/// How an operation fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The device gives an input/output error (`EIO`).
    Io,
    /// The device is full (`ENOSPC`).
    Full,
    /// The device is gone (`ENODEV`).
    Detached,
}

/// What becomes of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// When it leaves the device: at or after its arrival.
    pub at: Nanos,
    /// Whether it succeeded.
    pub result: Result<(), Fault>,
}
