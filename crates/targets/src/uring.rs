//! The engine io_uring: submission and completion rings, fixed buffers and files.

use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;

use blocklab_units::Nanos;
use blocklab_workload::{Completion, Direction, Io, SyncKind, UringOptions};
use io_uring::types::{CancelBuilder, Fd, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{CompletionQueue, EnterFlags, IoUring, SubmissionQueue, Submitter, opcode, squeue};

use crate::buffers::{BufferAddresses, Buffers};
use crate::clock::{Clock, sleep_until};
use crate::flush_trim::carry_out_inline;
use crate::{OpenFile, Target};

/// io_uring: one ring a thread, submission and wait in one system call.
pub struct UringTarget {
    // These three borrow from `_ring`: they are declared before it, so they drop before it.
    queue: SubmissionQueue<'static>,
    finished: CompletionQueue<'static>,
    submitter: Submitter<'static>,
    _ring: OwnedRing,
    clock: Clock,
    /// RWF flags by direction.
    flags: [i32; 4],
    files: Vec<OpenFile>,
    buffers: BufferAddresses,
    fixed_files: bool,
    /// Whether a thread of the kernel polls the submission queue (SQPOLL).
    polled: bool,
    /// Whether the job asks for registered buffers.
    wants_fixed_buffers: bool,
    /// How many buffers are in each of the registered pieces of memory; 0: none is registered.
    per_piece: usize,
    /// Operations in the queue that were not submitted to the kernel.
    staged: usize,
    in_flight: usize,
    /// Trims, which are carried out at once.
    inline: Vec<Completion>,
}

/// A ring at a fixed address, freed after everything that borrows from it.
struct OwnedRing(NonNull<IoUring>);

impl OwnedRing {
    fn new(ring: IoUring) -> Self {
        Self(NonNull::from(Box::leak(Box::new(ring))))
    }

    /// # Safety
    /// The parts must be dropped before this value.
    unsafe fn split(
        &mut self,
    ) -> (
        Submitter<'static>,
        SubmissionQueue<'static>,
        CompletionQueue<'static>,
    ) {
        // SAFETY: the box is alive until drop, and only these parts use it.
        unsafe { self.0.as_mut() }.split()
    }
}

impl Drop for OwnedRing {
    fn drop(&mut self) {
        // SAFETY: made from a box in `new`; the borrowing parts are gone (field order).
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// Whether this kernel lets this process make a ring.
///
/// # Errors
/// Why not: ENOSYS without io_uring, EPERM where a container or `kernel.io_uring_disabled`
/// forbids it.
pub fn is_available() -> io::Result<()> {
    IoUring::new(2).map(drop)
}

impl UringTarget {
    /// Must be made on the thread that uses it: the ring has a single issuer.
    ///
    /// # Errors
    /// When the ring cannot be made. Buffers that cannot be registered (RLIMIT_MEMLOCK) are used
    /// unregistered; [`Target::note`] reports that.
    pub fn new(
        clock: Clock,
        depth: u32,
        options: UringOptions,
        flags: [i32; 4],
        files: Vec<OpenFile>,
        buffers: &Buffers,
    ) -> io::Result<Self> {
        assert!(
            depth as usize <= buffers.addresses().count(),
            "a depth of {depth} and {} buffers",
            buffers.addresses().count()
        );
        let mut ring = OwnedRing::new(build(depth, options)?);
        // SAFETY: the parts are fields declared before `ring`, so they drop first.
        let (mut submitter, queue, finished) = unsafe { ring.split() };
        let descriptors: Vec<i32> = files.iter().map(|file| file.file.as_raw_fd()).collect();
        let fixed_files = options.fixed_files && submitter.register_files(&descriptors).is_ok();
        let addresses = buffers.addresses();
        let (pieces, per_piece) = addresses.pieces();
        // SAFETY: the target holds the memory, and lets go of it when the ring is done with it.
        let fixed = options.fixed_buffers && unsafe { submitter.register_buffers(&pieces) }.is_ok();
        // An old kernel without it only pays a file look-up a call.
        let _ = submitter.register_ring_fd();
        Ok(Self {
            queue,
            finished,
            submitter,
            _ring: ring,
            clock,
            flags,
            files,
            buffers: addresses,
            fixed_files,
            polled: options.sqpoll,
            wants_fixed_buffers: options.fixed_buffers,
            per_piece: if fixed { per_piece } else { 0 },
            staged: 0,
            in_flight: 0,
            inline: Vec::new(),
        })
    }

    /// The entry of the submission queue for an operation.
    #[inline]
    fn entry(&self, io: &Io) -> squeue::Entry {
        debug_assert!(
            (io.file as usize) < self.files.len(),
            "file {} of {}",
            io.file,
            self.files.len()
        );
        let (fd, flags) = if self.fixed_files {
            (io.file as i32, squeue::Flags::FIXED_FILE)
        } else {
            (
                self.files[io.file as usize].file.as_raw_fd(),
                squeue::Flags::empty(),
            )
        };
        self.operation(io, Fd(fd)).flags(flags)
    }

    /// The same without the flag of a registered file.
    #[inline]
    fn operation(&self, io: &Io, fd: Fd) -> squeue::Entry {
        let index = io.slot.index();
        let buffer = self.buffers.start_of(index);
        // The registered buffer of this slot. Mostly there is one for all, and nothing to divide.
        let piece = if self.per_piece > 1 {
            index / self.per_piece
        } else {
            0
        } as u16;
        let fixed = self.per_piece > 0;
        macro_rules! moves {
            ($operation:expr) => {
                $operation
                    .offset(io.offset)
                    .ioprio(io.priority)
                    .rw_flags(self.flags[io.direction as usize])
                    .build()
            };
        }
        let entry = match io.direction {
            Direction::Sync => {
                let flags = match io.sync {
                    SyncKind::DataOnly => FsyncFlags::DATASYNC,
                    _ => FsyncFlags::empty(),
                };
                opcode::Fsync::new(fd).flags(flags).build()
            }
            Direction::Read if fixed => moves!(opcode::ReadFixed::new(fd, buffer, io.len, piece)),
            Direction::Read => moves!(opcode::Read::new(fd, buffer, io.len)),
            _ if fixed => moves!(opcode::WriteFixed::new(fd, buffer, io.len, piece)),
            _ => moves!(opcode::Write::new(fd, buffer, io.len)),
        };
        entry.user_data(index as u64)
    }

    /// Takes all completions that the ring holds.
    #[inline]
    fn reap(&mut self, done: &mut Vec<Completion>) {
        // The first makes visible what the kernel has added, the second gives the entries back to it.
        self.finished.sync();
        let before = done.len();
        let finished = &mut self.finished;
        done.extend(
            finished.map(|entry| Completion::new(entry.user_data() as u32, entry.result())),
        );
        self.finished.sync();
        let came = &done[before..];
        debug_assert!(
            came.iter()
                .all(|back| back.slot.index() < self.buffers.count()),
            "a completion of no operation"
        );
        debug_assert!(
            came.len() <= self.in_flight,
            "{} came back, and {} were in flight",
            came.len(),
            self.in_flight
        );
        self.in_flight -= came.len();
    }

    /// One io_uring_enter: submits what is staged and waits for `want` completions.
    #[inline]
    fn enter(&mut self, want: usize, until: Option<Nanos>) -> io::Result<()> {
        self.queue.sync();
        let answer = match until {
            None => self.submitter.submit_and_wait(want),
            Some(moment) => {
                let left = moment.since(self.clock.now());
                let time = Timespec::new()
                    .sec(left.0 / 1_000_000_000)
                    .nsec((left.0 % 1_000_000_000) as u32);
                self.submitter
                    .submit_with_args(want, &SubmitArgs::new().timespec(&time))
            }
        };
        self.queue.sync();
        // A polling kernel thread takes everything, and its completions can be seen before the
        // queue's head has moved.
        let waiting = if self.polled { 0 } else { self.queue.len() };
        self.in_flight += self.staged - waiting;
        self.staged = waiting;
        ignore_transient(answer)
    }

    /// Gives up what is in flight and waits until all of it has come back, however long a device
    /// takes that cannot be stopped. What was not submitted to the kernel stays unsubmitted.
    ///
    /// # Errors
    /// When nothing can wait, as the ring itself does not answer.
    fn drain(&mut self) -> io::Result<()> {
        // The thread that polls takes what is staged by itself, also without a call.
        if self.polled {
            self.enter(0, None)?;
        }
        let mut done = Vec::with_capacity(self.in_flight);
        self.reap(&mut done);
        while self.in_flight > 0 {
            // Pipes, sockets and what waits its turn come back at once; a disk does not heed it,
            // and kernels before 6.0 do not know it. The wait is what counts.
            let at_once = Some(Timespec::new());
            let _ = self
                .submitter
                .register_sync_cancel(at_once, CancelBuilder::any());
            self.await_one()?;
            self.reap(&mut done);
        }
        Ok(())
    }

    /// Waits until something has come back, or for a signal.
    fn await_one(&mut self) -> io::Result<()> {
        /// The thread that polls may begin what was staged after the call that gave it up.
        const AGAIN: Nanos = Nanos::from_millis(5);
        if self.polled {
            return self.enter(1, Some(self.clock.now().saturating_add(AGAIN)));
        }
        let flags = EnterFlags::GETEVENTS.bits();
        // SAFETY: nothing is submitted, and no argument is passed.
        ignore_transient(unsafe { self.submitter.enter::<libc::sigset_t>(0, 1, flags, None) })
    }
}

/// Turns errors of io_uring_enter that pass by into success: after a signal, the end of the time and a
/// full completion queue, the caller reaps and goes on.
fn ignore_transient(answer: io::Result<usize>) -> io::Result<()> {
    match answer {
        Ok(_) => Ok(()),
        Err(error) => match error.raw_os_error() {
            Some(libc::EINTR | libc::ETIME | libc::EBUSY | libc::EAGAIN) => Ok(()),
            _ => Err(error),
        },
    }
}

impl Drop for UringTarget {
    /// The kernel may still be writing into the buffers.
    fn drop(&mut self) {
        if self.drain().is_err() {
            self.buffers.never_free();
        }
        // A registered ring outlives its descriptor until the thread ends.
        let _ = self.submitter.unregister_ring_fd();
    }
}

impl Target for UringTarget {
    /// Registered files stay registered, so a job that closes some has none.
    fn exchange(&mut self, place: usize, file: OpenFile) -> io::Result<OpenFile> {
        if self.fixed_files {
            return Err(io::Error::from_raw_os_error(libc::EBUSY));
        }
        Ok(std::mem::replace(&mut self.files[place], file))
    }

    fn note(&self) -> Option<&'static str> {
        (self.wants_fixed_buffers && self.per_piece == 0).then_some(
            "fixed_buffers: the kernel did not register the buffers (RLIMIT_MEMLOCK?); they are \
             pinned anew for every operation",
        )
    }

    #[inline]
    fn submit(&mut self, io: &Io) {
        if let Some(result) = carry_out_inline(io, &self.files) {
            self.inline.push(io.returned(result));
            return;
        }
        debug_assert!(
            self.staged + self.in_flight < self.buffers.count(),
            "more operations than buffers"
        );
        let entry = self.entry(io);
        // SAFETY: the buffer stays valid and untouched until the completion gives the slot back.
        while unsafe { self.queue.push(&entry) }.is_err() {
            // With SQPOLL a completion can be seen before the queue's head has moved on.
            self.queue.sync();
            if self.queue.is_full() {
                let _ = self.submitter.squeue_wait();
            }
        }
        self.staged += 1;
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.staged == 0 {
            Ok(())
        } else {
            self.enter(0, None)
        }
    }

    #[inline]
    fn wait(
        &mut self,
        at_least: usize,
        until: Option<Nanos>,
        done: &mut Vec<Completion>,
    ) -> io::Result<()> {
        done.append(&mut self.inline);
        if self.staged == 0 {
            self.reap(done);
            if done.len() >= at_least && !done.is_empty() {
                return Ok(());
            }
            if self.in_flight == 0 {
                sleep_until(self.clock.now(), until);
                return Ok(());
            }
        }
        let missing = at_least.saturating_sub(done.len());
        // A wait for the moment alone ends with the first completion, too. If some are there already, or
        // there is no moment, the call only submits.
        let want = if done.is_empty() && until.is_some() {
            missing.max(1)
        } else {
            missing
        };
        self.enter(want, until)?;
        self.reap(done);
        // One interrupt often ends many operations, and the first of them wakes us while the
        // kernel is still busy with the others. As long as it reports that more are pending, they
        // are collected first: answering one at a time costs a device that works through its
        // queue in batches an eighth of its rate.
        while self.in_flight > 0 && self.queue.taskrun() {
            self.enter(0, None)?;
            self.reap(done);
        }
        Ok(())
    }

    #[inline]
    fn now(&self) -> Nanos {
        self.clock.now()
    }
}

/// The best ring that this kernel gives: newer flags first, then without them.
fn build(depth: u32, options: UringOptions) -> io::Result<IoUring> {
    // With SQPOLL the queue's head lags behind; twice the depth keeps room.
    let entries = if options.sqpoll {
        depth.saturating_mul(2)
    } else {
        depth
    };
    build_with(KernelFlags::From6_6, entries, options)
        .or_else(|_| build_with(KernelFlags::From6_1, entries, options))
        .or_else(|_| build_with(KernelFlags::All, entries, options))
}

/// The flags of a ring that a kernel knows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum KernelFlags {
    /// Those of every kernel with io_uring, from 5.1 on.
    All,
    /// With DEFER_TASKRUN.
    From6_1,
    /// With NO_SQARRAY as well.
    From6_6,
}

/// A ring with these flags.
fn build_with(flags: KernelFlags, entries: u32, options: UringOptions) -> io::Result<IoUring> {
    let mut builder = IoUring::builder();
    // More entries than the kernel allows become as many as it allows, instead of an error.
    builder.setup_clamp();
    if options.iopoll {
        builder.setup_iopoll();
    }
    if options.sqpoll {
        // The kernel's thread sleeps after a second without work; the next call wakes it.
        builder.setup_sqpoll(1000);
    } else if flags >= KernelFlags::From6_1 {
        builder
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag();
    }
    if flags >= KernelFlags::From6_6 {
        builder.setup_no_sqarray();
    }
    builder.build(entries.next_power_of_two())
}

#[cfg(test)]
#[path = "uring_tests.rs"]
mod tests;
