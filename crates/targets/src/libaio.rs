//! The engine libaio: kernel native asynchronous I/O, its ring read without a system call.

use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use blocklab_units::Nanos;
use blocklab_workload::{Completion, Direction, Io, SyncKind};

use crate::buffers::BufferAddresses;
use crate::clock::{Clock, sleep_until, timespec};
use crate::flush_trim::carry_out_inline;
use crate::{OpenFile, Target};

/// Kernel native asynchronous I/O by its five system calls.
///
/// Completions are read from the ring that the kernel maps into the process; the system call is
/// made only when the ring holds too few.
pub struct LibaioTarget {
    clock: Clock,
    context: Context,
    /// RWF flags by direction.
    flags: [libc::c_int; 4],
    files: Vec<OpenFile>,
    buffers: BufferAddresses,
    /// One control block a slot: the kernel reads it during io_submit only.
    blocks: Vec<ControlBlock>,
    staged: Vec<*mut ControlBlock>,
    in_flight: usize,
    /// Where the kernel puts what a system call waits for: one event a slot.
    events: Vec<Event>,
    /// Trims, which are carried out at once.
    inline: Vec<Completion>,
}

/// `struct iocb` of linux/aio_abi.h on little-endian machines.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct ControlBlock {
    data: u64,
    key: u32,
    rw_flags: u32,
    opcode: u16,
    priority: u16,
    fd: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_fd: u32,
}

/// `struct io_event`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Event {
    data: u64,
    block: u64,
    result: i64,
    result2: i64,
}

/// The head of the ring that the context address points to (fs/aio.c, `struct aio_ring`).
#[repr(C)]
struct Ring {
    id: u32,
    entries: u32,
    head: AtomicU32,
    tail: AtomicU32,
    magic: u32,
    compat_features: u32,
    incompat_features: u32,
    header_len: u32,
}

const RING_MAGIC: u32 = 0xa10a_10a1;
const OP_READ: u16 = 0;
const OP_WRITE: u16 = 1;
const OP_FSYNC: u16 = 2;
const OP_FDATASYNC: u16 = 3;
/// The block has a priority (IOCB_FLAG_IOPRIO).
const WITH_PRIORITY: u32 = 1 << 1;

/// Whether the kernel gives this process a context.
///
/// # Errors
/// Why it does not.
pub fn is_available() -> io::Result<()> {
    Context::new(1).map(drop)
}

/// The kernel's context: an address that is also the ring.
struct Context(NonNull<Ring>);

impl Context {
    fn new(depth: u32) -> io::Result<Self> {
        let mut context: usize = 0;
        // SAFETY: the kernel stores one word at the pointer.
        let result = unsafe { libc::syscall(libc::SYS_io_setup, depth, &raw mut context) };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        NonNull::new(context as *mut Ring)
            .map(Self)
            .ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    fn address(&self) -> usize {
        self.0.as_ptr() as usize
    }

    /// Takes what the ring holds. `None` where the kernel's ring is not the known one.
    fn reap(&self, mut take: impl FnMut(&Event)) -> Option<usize> {
        // SAFETY: the kernel keeps the ring mapped as long as the context lives.
        let ring = unsafe { self.0.as_ref() };
        if ring.magic != RING_MAGIC || ring.incompat_features != 0 {
            return None;
        }
        // Only this thread moves the head. Acquire: the kernel has written the events before the tail.
        let (mut head, tail) = (
            ring.head.load(Ordering::Relaxed),
            ring.tail.load(Ordering::Acquire),
        );
        let mut taken = 0;
        while head != tail {
            // SAFETY: `entries` events follow the header; `head` is below `entries`.
            let event = unsafe {
                let events = self
                    .0
                    .as_ptr()
                    .byte_add(ring.header_len as usize)
                    .cast::<Event>();
                &*events.add(head as usize)
            };
            take(event);
            taken += 1;
            head = if head + 1 == ring.entries {
                0
            } else {
                head + 1
            };
        }
        // Release: the events have been read before the kernel may overwrite them.
        ring.head.store(head, Ordering::Release);
        Some(taken)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: destroys our own context; it waits for what is in flight.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.address()) };
    }
}

impl LibaioTarget {
    /// # Errors
    /// EAGAIN when the machine's limit of asynchronous operations (fs.aio-max-nr) is reached.
    pub fn new(
        clock: Clock,
        depth: u32,
        flags: [libc::c_int; 4],
        files: Vec<OpenFile>,
        buffers: BufferAddresses,
    ) -> io::Result<Self> {
        Ok(Self {
            clock,
            context: Context::new(depth)?,
            flags,
            files,
            buffers,
            blocks: vec![ControlBlock::default(); depth as usize],
            staged: Vec::with_capacity(depth as usize),
            in_flight: 0,
            events: vec![Event::default(); depth as usize],
            inline: Vec::new(),
        })
    }

    fn reap(&mut self, done: &mut Vec<Completion>) -> Option<usize> {
        let taken = self.context.reap(|event| done.push(completion(event)))?;
        debug_assert!(taken <= self.in_flight, "more came back than went out");
        self.in_flight -= taken;
        Some(taken)
    }

    /// Sleeps in the kernel for events; a signal or the end of the time gives none.
    fn get_events(
        &mut self,
        at_least: usize,
        until: Option<Nanos>,
        done: &mut Vec<Completion>,
    ) -> io::Result<()> {
        // The pointer below leads to it, so it lives until the call is over.
        let wait = until.map(|moment| timespec(moment.since(self.clock.now())));
        let time = wait.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // With 0 the kernel would return at once, before `until`. It refuses to wait for more than the
        // array holds, which no caller does: an operation has a slot.
        let at_least = at_least.clamp(1, self.events.len());
        // SAFETY: the kernel fills at most `self.events.len()` entries, and reads `time`.
        let got = unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                self.context.address(),
                at_least as libc::c_long,
                self.events.len() as libc::c_long,
                self.events.as_mut_ptr(),
                time,
            )
        };
        if got < 0 {
            let error = io::Error::last_os_error();
            return if error.kind() == io::ErrorKind::Interrupted {
                Ok(())
            } else {
                Err(error)
            };
        }
        let got = got as usize;
        done.extend(self.events[..got].iter().map(completion));
        self.in_flight -= got;
        Ok(())
    }

    /// Fills the control block of an operation, which the next call submits.
    fn stage(&mut self, io: &Io) {
        let index = io.slot.index();
        debug_assert!(
            self.staged.len() + self.in_flight < self.blocks.len(),
            "more operations than control blocks"
        );
        let opcode = match (io.direction, io.sync) {
            (Direction::Read, _) => OP_READ,
            (Direction::Sync, SyncKind::DataOnly) => OP_FDATASYNC,
            (Direction::Sync, _) => OP_FSYNC,
            // Trims have no operation of their own here and were carried out before.
            _ => OP_WRITE,
        };
        // The kernel refuses a flush with a buffer, an offset or a length; it comes without the last two.
        let buffer = match io.direction {
            Direction::Sync => 0,
            _ => self.buffers.start_of(index) as u64,
        };
        self.blocks[index] = ControlBlock {
            data: index as u64,
            rw_flags: self.flags[io.direction as usize] as u32,
            opcode,
            fd: self.files[io.file as usize].file.as_raw_fd() as u32,
            buffer,
            bytes: u64::from(io.len),
            offset: io.offset as i64,
            priority: io.priority,
            flags: if io.priority > 0 { WITH_PRIORITY } else { 0 },
            ..ControlBlock::default()
        };
        self.staged.push(&raw mut self.blocks[index]);
    }

    /// The kernel refused the first staged block: it fails as an operation.
    fn refuse_first(&mut self, error: &io::Error) {
        let block = self.staged.remove(0);
        // SAFETY: staged pointers point into `blocks`, which never moves.
        let index = unsafe { (*block).data } as u32;
        let errno = error.raw_os_error().unwrap_or(libc::EIO);
        self.inline.push(Completion::new(index, -errno));
    }
}

impl Target for LibaioTarget {
    fn exchange(&mut self, place: usize, file: OpenFile) -> io::Result<OpenFile> {
        Ok(std::mem::replace(&mut self.files[place], file))
    }

    #[inline]
    fn submit(&mut self, io: &Io) {
        if let Some(result) = carry_out_inline(io, &self.files) {
            self.inline.push(io.returned(result));
            return;
        }
        self.stage(io);
        // The slot stays with the kernel; its number comes back in the event.
    }

    fn flush(&mut self) -> io::Result<()> {
        /// A wait that a signal ends makes no room, so the number of refusals is not that of operations
        /// in flight. A kernel that refuses this often fails the operation.
        const MOST_REFUSALS: usize = 1_000;
        let mut refusals = 0;
        while !self.staged.is_empty() {
            // SAFETY: every pointer leads to a filled block whose buffer the slot protects.
            let took = unsafe {
                libc::syscall(
                    libc::SYS_io_submit,
                    self.context.address(),
                    self.staged.len() as libc::c_long,
                    self.staged.as_mut_ptr(),
                )
            };
            if took > 0 {
                self.staged.drain(..took as usize);
                self.in_flight += took as usize;
                continue;
            }
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                Some(libc::EINTR) => {}
                // The request queue is full: what is in flight will make room.
                Some(libc::EAGAIN) if self.in_flight > 0 && refusals < MOST_REFUSALS => {
                    refusals += 1;
                    let mut done = Vec::new();
                    self.get_events(1, None, &mut done)?;
                    self.inline.append(&mut done);
                }
                _ => self.refuse_first(&error),
            }
        }
        Ok(())
    }

    fn wait(
        &mut self,
        at_least: usize,
        until: Option<Nanos>,
        done: &mut Vec<Completion>,
    ) -> io::Result<()> {
        self.flush()?;
        done.append(&mut self.inline);
        // Without a system call first. A ring of another layout is read by io_getevents alone.
        let known_ring = self.reap(done).is_some();
        if done.len() >= at_least && !done.is_empty() {
            return Ok(());
        }
        if self.in_flight == 0 {
            sleep_until(self.clock.now(), until);
            return Ok(());
        }
        let missing = at_least.saturating_sub(done.len());
        self.get_events(missing, until, done)?;
        if known_ring {
            self.reap(done);
        }
        Ok(())
    }

    #[inline]
    fn now(&self) -> Nanos {
        self.clock.now()
    }
}

fn completion(event: &Event) -> Completion {
    Completion::new(event.data as u32, event.result as i32)
}
