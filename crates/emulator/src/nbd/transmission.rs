//! The second part of a connection: requests and replies.
//!
//! ```text
//!   request  │ magic 4 │ flags 2 │ command 2 │ cookie 8 │ offset 8 │ length 4 │ data of a write …
//!   simple   │ magic 4 │ error 4 │ cookie 8 │ data of a read …
//!   chunk    │ magic 4 │ flags 2 │ type 2 │ cookie 8 │ length 4 │ payload …
//! ```
//!
//! Bytes in, bytes out.

use super::handshake::Session;
use super::numbers::{
    ALLOCATION_ID, MAX_BLOCK, REQUEST_MAGIC, SIMPLE_REPLY_MAGIC, STRUCTURED_REPLY_MAGIC, chunk,
    command, command_flag as flag, error_number, extent,
};
use crate::{Extent, Failure};

/// Bytes of a request without data.
pub const REQUEST: usize = 28;
/// Most bytes of a refused write that are read and dropped, so that the connection can go on. A
/// request that announces more ends it.
pub const MOST_DROPPED: u64 = 2 * MAX_BLOCK as u64;
/// Extents in one reply: a client sends another request for the rest.
pub const MOST_EXTENTS: usize = 512;

/// A request as it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Flags of the command.
    pub flags: u16,
    /// Number of the command.
    pub command: u16,
    /// Given back with the reply.
    pub cookie: u64,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
}

/// A request that can be served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Data to the client.
    Read,
    /// Data from the client.
    Write {
        /// Durable when it is done.
        fua: bool,
    },
    /// All that was written is durable when it is done.
    Flush,
    /// The range need not be kept.
    Trim {
        /// Durable when it is done.
        fua: bool,
    },
    /// The range becomes zero.
    Zero {
        /// It goes on using its room.
        keep: bool,
        /// Durable when it is done.
        fua: bool,
    },
    /// The range will be read soon.
    Cache,
    /// What of the range is there.
    Status {
        /// One extent is enough.
        one: bool,
    },
    /// The client goes.
    Disconnect,
}

impl Command {
    /// Whether its data has to be durable on completion.
    pub const fn is_forced(self) -> bool {
        matches!(
            self,
            Self::Write { fua: true } | Self::Trim { fua: true } | Self::Zero { fua: true, .. }
        )
    }
}

/// The magic number is wrong: what follows cannot be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadMagic;

impl Request {
    /// Reads the head of a request.
    ///
    /// # Errors
    /// [`BadMagic`].
    pub fn parse(bytes: &[u8; REQUEST]) -> Result<Self, BadMagic> {
        let [m0, m1, m2, m3, f0, f1, c0, c1, rest @ ..] = *bytes;
        if u32::from_be_bytes([m0, m1, m2, m3]) != REQUEST_MAGIC {
            return Err(BadMagic);
        }
        let [k0, k1, k2, k3, k4, k5, k6, k7, rest @ ..] = rest;
        let [o0, o1, o2, o3, o4, o5, o6, o7, l0, l1, l2, l3] = rest;
        Ok(Self {
            flags: u16::from_be_bytes([f0, f1]),
            command: u16::from_be_bytes([c0, c1]),
            cookie: u64::from_be_bytes([k0, k1, k2, k3, k4, k5, k6, k7]),
            offset: u64::from_be_bytes([o0, o1, o2, o3, o4, o5, o6, o7]),
            len: u32::from_be_bytes([l0, l1, l2, l3]),
        })
    }

    /// Bytes of data that follow the request, also where it is refused.
    pub const fn data_len(&self) -> u32 {
        match self.command {
            command::WRITE => self.len,
            _ => 0,
        }
    }

    /// The command to carry out on a volume of `size` bytes.
    ///
    /// # Errors
    /// Why it is refused: the connection goes on.
    pub fn check(&self, session: Session, size: u64, read_only: bool) -> Result<Command, Failure> {
        let (found, allowed) = self.command_and_allowed_flags(session)?;
        if self.flags & !allowed != 0 {
            return Err(Failure::Invalid);
        }
        let writes = matches!(
            found,
            Command::Write { .. } | Command::Trim { .. } | Command::Zero { .. }
        );
        if writes && read_only {
            return Err(Failure::ReadOnly);
        }
        let moves = matches!(found, Command::Read | Command::Write { .. });
        if moves && self.len > MAX_BLOCK {
            return Err(Failure::Invalid);
        }
        let end = self.offset.checked_add(self.len.into());
        let is_inside = end.is_some_and(|end| end <= size);
        match found {
            Command::Flush | Command::Disconnect => Ok(found),
            _ if is_inside => Ok(found),
            // As the protocol asks: no space for what would be written behind the end, and everything
            // else there is invalid.
            Command::Write { .. } | Command::Zero { .. } => Err(Failure::NoSpace),
            _ => Err(Failure::Invalid),
        }
    }

    fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// The command, and the flags that it may carry. The protocol permits FUA with every command, also
    /// where it changes nothing.
    fn command_and_allowed_flags(&self, session: Session) -> Result<(Command, u16), Failure> {
        let fua = self.has(flag::FUA);
        Ok(match self.command {
            command::READ if session.structured => (Command::Read, flag::DF | flag::FUA),
            command::READ => (Command::Read, flag::FUA),
            command::WRITE => (Command::Write { fua }, flag::FUA),
            // There is no reply that could refuse it, so no flag makes it invalid.
            command::DISCONNECT => (Command::Disconnect, u16::MAX),
            command::FLUSH => (Command::Flush, flag::FUA),
            command::TRIM => (Command::Trim { fua }, flag::FUA),
            command::CACHE => (Command::Cache, flag::FUA),
            command::WRITE_ZEROES => {
                let keep = self.has(flag::NO_HOLE);
                // Room that is kept is written like data, so it is no faster than a write.
                if keep && self.has(flag::FAST_ZERO) {
                    return Err(Failure::Unsupported);
                }
                let allowed = flag::FUA | flag::NO_HOLE | flag::FAST_ZERO;
                (Command::Zero { keep, fua }, allowed)
            }
            command::BLOCK_STATUS if session.allocation && self.len > 0 => {
                let one = self.has(flag::REQ_ONE);
                (Command::Status { one }, flag::REQ_ONE | flag::FUA)
            }
            _ => return Err(Failure::Invalid),
        })
    }
}

/// Appends a reply without data.
pub fn put_reply(out: &mut Vec<u8>, structured: bool, cookie: u64, result: Result<(), Failure>) {
    match (structured, result) {
        (true, Ok(())) => chunk_header(out, chunk::NONE, cookie, 0),
        (true, Err(failure)) => {
            // The error and the length of a text, of which there is none.
            chunk_header(out, chunk::ERROR, cookie, 4 + 2);
            out.extend_from_slice(&error_number(failure).to_be_bytes());
            out.extend_from_slice(&[0; 2]);
        }
        (false, result) => simple(out, cookie, result.err().map_or(0, error_number)),
    }
}

/// Appends what comes before the data of a read.
pub fn put_data_header(out: &mut Vec<u8>, structured: bool, cookie: u64, offset: u64, len: u32) {
    if structured {
        chunk_header(out, chunk::OFFSET_DATA, cookie, len + 8);
        out.extend_from_slice(&offset.to_be_bytes());
    } else {
        simple(out, cookie, 0)
    }
}

/// Appends a reply with extents, which are of a range that a request can name and so less than 4 GiB.
pub fn put_extents(out: &mut Vec<u8>, cookie: u64, extents: &[Extent]) {
    chunk_header(
        out,
        chunk::BLOCK_STATUS,
        cookie,
        4 + 8 * extents.len() as u32,
    );
    out.extend_from_slice(&ALLOCATION_ID.to_be_bytes());
    for found in extents {
        let state = if found.is_hole {
            extent::HOLE | extent::ZERO
        } else {
            0
        };
        out.extend_from_slice(&(found.len as u32).to_be_bytes());
        out.extend_from_slice(&state.to_be_bytes());
    }
}

fn simple(out: &mut Vec<u8>, cookie: u64, error: u32) {
    let mut reply = [0; 16];
    reply[..4].copy_from_slice(&SIMPLE_REPLY_MAGIC.to_be_bytes());
    reply[4..8].copy_from_slice(&error.to_be_bytes());
    reply[8..].copy_from_slice(&cookie.to_be_bytes());
    out.extend_from_slice(&reply);
}

fn chunk_header(out: &mut Vec<u8>, kind: u16, cookie: u64, len: u32) {
    let mut header = [0; 20];
    header[..4].copy_from_slice(&STRUCTURED_REPLY_MAGIC.to_be_bytes());
    header[4..6].copy_from_slice(&chunk::DONE.to_be_bytes());
    header[6..8].copy_from_slice(&kind.to_be_bytes());
    header[8..16].copy_from_slice(&cookie.to_be_bytes());
    header[16..].copy_from_slice(&len.to_be_bytes());
    out.extend_from_slice(&header);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SESSION: Session = Session {
        export: 0,
        structured: true,
        allocation: true,
    };
    const SIZE: u64 = 1 << 30;

    fn request(command: u16, flags: u16, offset: u64, len: u32) -> Request {
        Request {
            flags,
            command,
            cookie: 7,
            offset,
            len,
        }
    }

    #[track_caller]
    fn check(request: Request, expected: Result<Command, Failure>) {
        assert_eq!(request.check(SESSION, SIZE, false), expected);
    }

    use Failure::{Invalid, NoSpace, ReadOnly, Unsupported};

    #[test]
    fn what_lies_beyond_the_end_is_refused_by_its_kind() {
        check(request(command::READ, 0, SIZE - 1, 1), Ok(Command::Read));
        check(request(command::READ, 0, SIZE, 1), Err(Invalid));
        check(request(command::READ, 0, u64::MAX, 2), Err(Invalid));
        check(request(command::WRITE, 0, SIZE - 1, 2), Err(NoSpace));
        check(
            request(command::WRITE_ZEROES, 0, SIZE, u32::MAX),
            Err(NoSpace),
        );
        check(request(command::TRIM, 0, SIZE, 4096), Err(Invalid));
        check(request(command::FLUSH, 0, u64::MAX, 1), Ok(Command::Flush));
    }

    #[test]
    fn commands_and_flags_that_are_not_known_are_refused() {
        check(request(8, 0, 0, 1), Err(Invalid));
        check(request(command::WRITE, flag::DF, 0, 1), Err(Invalid));
        check(request(command::READ, 1 << 15, 0, 1), Err(Invalid));
        check(request(command::BLOCK_STATUS, 0, 0, 0), Err(Invalid));
        check(request(command::READ, 0, 0, MAX_BLOCK + 1), Err(Invalid));
        let fast_and_kept = flag::FAST_ZERO | flag::NO_HOLE;
        check(
            request(command::WRITE_ZEROES, fast_and_kept, 0, 1),
            Err(Unsupported),
        );
        let plain = Session {
            structured: false,
            allocation: false,
            ..SESSION
        };
        for request in [
            request(command::READ, flag::DF, 0, 1),
            request(command::BLOCK_STATUS, 0, 0, 1),
        ] {
            assert_eq!(request.check(plain, SIZE, false), Err(Invalid));
        }
    }

    #[test]
    fn a_volume_to_read_takes_no_write() {
        for command in [command::WRITE, command::TRIM, command::WRITE_ZEROES] {
            let request = request(command, 0, 0, 512);
            assert_eq!(request.check(SESSION, SIZE, true), Err(ReadOnly));
        }
    }

    proptest! {
        #[test]
        fn a_request_is_read_as_it_was_written(
            flags: u16, command: u16, cookie: u64, offset: u64, len: u32,
        ) {
            let mut bytes = [0; REQUEST];
            bytes[..4].copy_from_slice(&REQUEST_MAGIC.to_be_bytes());
            bytes[4..6].copy_from_slice(&flags.to_be_bytes());
            bytes[6..8].copy_from_slice(&command.to_be_bytes());
            bytes[8..16].copy_from_slice(&cookie.to_be_bytes());
            bytes[16..24].copy_from_slice(&offset.to_be_bytes());
            bytes[24..].copy_from_slice(&len.to_be_bytes());
            let request = Request::parse(&bytes).expect("the magic is right");
            prop_assert_eq!(request, Request { flags, command, cookie, offset, len });
            // What is found sound lies within the volume.
            if let Ok(found) = request.check(SESSION, SIZE, false)
                && !matches!(found, Command::Flush | Command::Disconnect)
            {
                prop_assert!(offset.checked_add(len.into()).is_some_and(|end| end <= SIZE));
            }
            bytes[0] ^= 1;
            prop_assert_eq!(Request::parse(&bytes), Err(BadMagic));
        }
    }
}
