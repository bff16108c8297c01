use std::io::{self, PipeReader, PipeWriter, pipe};
use std::os::fd::AsRawFd;

use blocklab_workload::{Direction, Io};

use crate::OpenFile;
use crate::buffers::BufferAddresses;
use crate::flush_trim::{errno, flush_file, trim};
use crate::inline::CarryOut;

/// Moves data through a pipe: splice between pipe and file, vmsplice and read between pipe and
/// buffer.
pub struct SpliceCall {
    files: Vec<OpenFile>,
    buffers: BufferAddresses,
    reader: PipeReader,
    writer: PipeWriter,
}

impl SpliceCall {
    /// # Errors
    /// When the process has no file numbers left for a pipe.
    pub fn new(files: Vec<OpenFile>, buffers: BufferAddresses) -> io::Result<Self> {
        let (reader, writer) = pipe()?;
        // A larger pipe means fewer calls; the default of 64 KiB works too.
        // SAFETY: no memory is passed.
        unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_SETPIPE_SZ, 1 << 20) };
        Ok(Self {
            files,
            buffers,
            reader,
            writer,
        })
    }

    /// Moves at most `len` bytes through the pipe; how many, 0 at the end, or a negated errno.
    fn read_some(&self, fd: i32, buffer: *mut u8, len: usize, offset: u64) -> isize {
        let mut at = offset as libc::loff_t;
        // SAFETY: `at` lives through the call.
        let piped = unsafe {
            let to = self.writer.as_raw_fd();
            libc::splice(fd, &raw mut at, to, std::ptr::null_mut(), len, 0)
        };
        if piped <= 0 {
            return if piped < 0 { -(errno() as isize) } else { 0 };
        }
        let mut moved = 0;
        while moved < piped {
            // SAFETY: the buffer holds at least `len` bytes, and `piped` is at most that.
            let read = unsafe {
                let place = buffer.add(moved as usize).cast();
                libc::read(self.reader.as_raw_fd(), place, (piped - moved) as usize)
            };
            if read <= 0 {
                return -(errno() as isize);
            }
            moved += read;
        }
        moved
    }

    fn write_some(&self, fd: i32, buffer: *mut u8, len: usize, offset: u64) -> isize {
        let piece = libc::iovec {
            iov_base: buffer.cast(),
            iov_len: len,
        };
        // SAFETY: the pages stay untouched until the pipe is empty again, below.
        let piped = unsafe { libc::vmsplice(self.writer.as_raw_fd(), &raw const piece, 1, 0) };
        if piped < 0 {
            return -(errno() as isize);
        }
        let mut moved = 0;
        while moved < piped {
            let mut at = offset as libc::loff_t + moved as libc::loff_t;
            // SAFETY: `at` lives through the call.
            let written = unsafe {
                let from = self.reader.as_raw_fd();
                let left = (piped - moved) as usize;
                libc::splice(from, std::ptr::null_mut(), fd, &raw mut at, left, 0)
            };
            if written <= 0 {
                let error = errno();
                self.drain((piped - moved) as usize);
                return -(error as isize);
            }
            moved += written;
        }
        moved
    }

    /// Empties the pipe of what the file did not take.
    fn drain(&self, mut left: usize) {
        let mut waste = [0u8; 4096];
        while left > 0 {
            let len = left.min(waste.len());
            // SAFETY: at most as many bytes as `waste` holds.
            let read =
                unsafe { libc::read(self.reader.as_raw_fd(), waste.as_mut_ptr().cast(), len) };
            if read <= 0 {
                return;
            }
            left -= read as usize;
        }
    }

    fn transfer(&self, fd: i32, io: &Io) -> i32 {
        let buffer = self.buffers.of(io.slot.index());
        let len = io.len as usize;
        let mut moved = 0;
        while moved < len {
            // SAFETY: still inside the buffer.
            let place = unsafe { buffer.add(moved) };
            let at = io.offset + moved as u64;
            let some = match io.direction {
                Direction::Read => self.read_some(fd, place, len - moved, at),
                _ => self.write_some(fd, place, len - moved, at),
            };
            match some {
                0 => break,
                failed if failed < 0 => return failed as i32,
                more => moved += more as usize,
            }
        }
        moved as i32
    }
}

impl CarryOut for SpliceCall {
    fn carry_out(&self, io: &Io) -> i32 {
        let file = &self.files[io.file as usize];
        let fd = file.file.as_raw_fd();
        match io.direction {
            Direction::Read | Direction::Write => self.transfer(fd, io),
            Direction::Trim => trim(file, io.offset, io.len),
            Direction::Sync => flush_file(fd, io.sync),
        }
    }
}
