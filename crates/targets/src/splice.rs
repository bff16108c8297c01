//! The engine splice: data moves through a pipe.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, pipe};

use blocklab_workload::{Direction, Io};
use rustix::io::Errno;
use rustix::pipe::{IoSliceRaw, SpliceFlags, fcntl_setpipe_size, splice, vmsplice};

use crate::OpenFile;
use crate::buffers::BufferAddresses;
use crate::flush_trim::{flush_file, result, trim};
use crate::inline::CarryOut;

/// Moves data through a pipe: splice between pipe and file, vmsplice and read between pipe and
/// buffer.
pub struct SpliceCall {
    buffers: BufferAddresses,
    reader: PipeReader,
    writer: PipeWriter,
}

impl SpliceCall {
    /// # Errors
    /// When the process has no file numbers left for a pipe.
    pub fn new(buffers: BufferAddresses) -> io::Result<Self> {
        let (reader, writer) = pipe()?;
        // A larger pipe means fewer calls; the default of 64 KiB works too.
        let _ = fcntl_setpipe_size(&writer, 1 << 20);
        Ok(Self {
            buffers,
            reader,
            writer,
        })
    }

    /// Moves at most the bytes of `into` through the pipe; how many, 0 at the end.
    fn read_some(&self, file: &File, into: &mut [u8], mut at: u64) -> Result<usize, Errno> {
        let (from, len) = (Some(&mut at), into.len());
        let piped = splice(file, from, &self.writer, None, len, SpliceFlags::empty())?;
        let mut moved = 0;
        while moved < piped {
            moved += rustix::io::read(&self.reader, &mut into[moved..piped])?;
        }
        Ok(moved)
    }

    /// Writes through the pipe; returns how many bytes were moved.
    fn write_some(&self, file: &File, from: &[u8], at: u64) -> Result<usize, Errno> {
        let (piece, flags) = (IoSliceRaw::from_slice(from), SpliceFlags::empty());
        // SAFETY: the pages stay untouched until the pipe is empty again, below.
        let piped = unsafe { vmsplice(&self.writer, &[piece], flags) }?;
        let mut moved = 0;
        while moved < piped {
            let (mut at, left) = (at + moved as u64, piped - moved);
            match splice(&self.reader, None, file, Some(&mut at), left, flags) {
                Ok(written @ 1..) => moved += written,
                refused => {
                    self.drain(left);
                    return refused;
                }
            }
        }
        Ok(moved)
    }

    /// Empties the pipe of what the file did not take.
    fn drain(&self, mut left: usize) {
        let mut waste = [0u8; 4096];
        while left > 0 {
            let len = left.min(waste.len());
            match rustix::io::read(&self.reader, &mut waste[..len]) {
                Ok(read @ 1..) => left -= read,
                _ => return,
            }
        }
    }

    /// Carries out a read or write in as many pieces as the pipe needs.
    fn transfer(&self, file: &File, io: &Io) -> Result<u32, Errno> {
        let buffer = self.buffers.start_of(io.slot.index());
        // SAFETY: it holds at least `len` bytes, which only this thread uses during the call.
        let bytes = unsafe { std::slice::from_raw_parts_mut(buffer, io.len as usize) };
        let mut moved = 0;
        while moved < bytes.len() {
            let (rest, at) = (&mut bytes[moved..], io.offset + moved as u64);
            let some = match io.direction {
                Direction::Read => self.read_some(file, rest, at)?,
                _ => self.write_some(file, rest, at)?,
            };
            if some == 0 {
                break;
            }
            moved += some;
        }
        Ok(moved as u32)
    }
}

impl CarryOut for SpliceCall {
    fn carry_out(&self, io: &Io, files: &[OpenFile]) -> i32 {
        let file = &files[io.file as usize];
        match io.direction {
            Direction::Read | Direction::Write => result(self.transfer(&file.file, io)),
            Direction::Trim => trim(file, io.offset, io.len),
            Direction::Sync => flush_file(&file.file, io),
        }
    }
}
