//! The engine posixaio: the asynchronous I/O of the C library.

use std::io;
use std::os::fd::AsRawFd;

use blocklab_units::Nanos;
use blocklab_workload::{Completion, Direction, Io, SyncKind};

use crate::buffers::BufferAddresses;
use crate::clock::{Clock, sleep_until, timespec};
use crate::flush_trim::{carry_out_inline, errno};
use crate::{OpenFile, Target};

/// POSIX asynchronous I/O: the C library's threads carry the operations out.
pub struct PosixTarget {
    clock: Clock,
    files: Vec<OpenFile>,
    buffers: BufferAddresses,
    /// By slot. They must not move while the library works on them.
    blocks: Box<[libc::aiocb]>,
    /// Slots that the library works on.
    in_flight: Vec<u32>,
    inline: Vec<Completion>,
}

impl PosixTarget {
    /// Up to `depth` operations in flight on these files.
    pub fn new(clock: Clock, depth: u32, files: Vec<OpenFile>, buffers: BufferAddresses) -> Self {
        Self {
            clock,
            files,
            buffers,
            blocks: (0..depth)
                // SAFETY: all-zero is a valid control block.
                .map(|_| unsafe { std::mem::zeroed::<libc::aiocb>() })
                .collect(),
            in_flight: Vec::with_capacity(depth as usize),
            inline: Vec::new(),
        }
    }

    /// Begins a read, a write or the flush of a whole file, the operations that the C library has.
    /// Returns 0, or -1 with errno set.
    fn begin(&mut self, io: &Io) -> i32 {
        let index = io.slot.index();
        debug_assert!(
            !self.in_flight.contains(&(index as u32)),
            "the library works on slot {index}"
        );
        let block = &mut self.blocks[index];
        // SAFETY: all-zero is a valid control block; nothing is in flight in this slot.
        *block = unsafe { std::mem::zeroed() };
        block.aio_fildes = self.files[io.file as usize].file.as_raw_fd();
        block.aio_offset = io.offset as libc::off_t;
        block.aio_nbytes = io.len as usize;
        block.aio_sigevent.sigev_notify = libc::SIGEV_NONE;
        block.aio_buf = self.buffers.start_of(index).cast();
        // SAFETY: block and buffer stay where they are until the operation has ended.
        unsafe {
            match (io.direction, io.sync) {
                (Direction::Read, _) => libc::aio_read(block),
                (Direction::Sync, SyncKind::DataOnly) => libc::aio_fsync(libc::O_DSYNC, block),
                (Direction::Sync, _) => libc::aio_fsync(libc::O_SYNC, block),
                _ => libc::aio_write(block),
            }
        }
    }

    /// Moves what has ended to `done`.
    fn reap(&mut self, done: &mut Vec<Completion>) {
        let blocks = &mut self.blocks;
        self.in_flight.retain(|slot| {
            let block = &raw mut blocks[*slot as usize];
            // SAFETY: the block was given to the library, and its result is taken once, because a slot
            // that has ended leaves the list.
            let (state, moved) = unsafe {
                match libc::aio_error(block) {
                    libc::EINPROGRESS => return true,
                    state => (state, libc::aio_return(block)),
                }
            };
            // The kernel moves less than 2 GiB at once, so the number of bytes fits.
            let result = if state == 0 { moved as i32 } else { -state };
            done.push(Completion::new(*slot, result));
            false
        });
    }

    /// Sleeps until one of the operations ends, the moment comes, or a signal.
    fn suspend(&self, until: Option<Nanos>) {
        let list: Vec<*const libc::aiocb> = self
            .in_flight
            .iter()
            .map(|slot| &raw const self.blocks[*slot as usize])
            .collect();
        // The pointer below leads to it, so it lives until the call is over.
        let wait = until.map(|moment| timespec(moment.since(self.clock.now())));
        let time = wait.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: every pointer leads to a block that the library knows.
        unsafe { libc::aio_suspend(list.as_ptr(), list.len() as libc::c_int, time) };
    }
}

impl Target for PosixTarget {
    fn exchange(&mut self, place: usize, file: OpenFile) -> io::Result<OpenFile> {
        Ok(std::mem::replace(&mut self.files[place], file))
    }

    fn submit(&mut self, io: &Io) {
        let result = match carry_out_inline(io, &self.files) {
            Some(result) => result,
            None if self.begin(io) == 0 => {
                self.in_flight.push(io.slot.index() as u32);
                return;
            }
            None => -errno(),
        };
        self.inline.push(io.returned(result));
    }

    fn wait(
        &mut self,
        at_least: usize,
        until: Option<Nanos>,
        done: &mut Vec<Completion>,
    ) -> io::Result<()> {
        done.append(&mut self.inline);
        self.reap(done);
        while done.len() < at_least && !self.in_flight.is_empty() {
            let before = done.len();
            self.suspend(until);
            self.reap(done);
            // A signal or the end of the time has ended the wait.
            if done.len() == before {
                return Ok(());
            }
        }
        if done.is_empty() && self.in_flight.is_empty() {
            sleep_until(self.clock.now(), until);
        } else if done.is_empty() && at_least == 0 {
            // A wait for the moment alone ends with a completion as well.
            self.suspend(until);
            self.reap(done);
        }
        Ok(())
    }

    fn now(&self) -> Nanos {
        self.clock.now()
    }
}

impl Drop for PosixTarget {
    /// The library may still be writing into the buffers.
    fn drop(&mut self) {
        let mut done = Vec::new();
        while !self.in_flight.is_empty() {
            self.suspend(None);
            self.reap(&mut done);
        }
    }
}
