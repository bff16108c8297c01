use std::io::{PipeReader, PipeWriter, pipe};
use std::os::fd::OwnedFd;

use blocklab_workload::Request;

use super::*;

const DEPTH: u32 = 4;
const LEN: usize = 4096;

/// Reads from an empty pipe: the kernel holds them until it is written to.
struct Hanging {
    target: UringTarget,
    buffers: Buffers,
    reader: PipeReader,
    writer: PipeWriter,
}

/// Every way in which a ring takes its operations; none where the machine forbids rings.
fn ways() -> Vec<UringOptions> {
    if let Err(error) = is_available() {
        println!("skipped: io_uring, which this machine does not offer ({error})");
        return Vec::new();
    }
    let plain = UringOptions {
        fixed_buffers: false,
        fixed_files: false,
        ..UringOptions::default()
    };
    let polled = UringOptions {
        sqpoll: true,
        ..UringOptions::default()
    };
    vec![UringOptions::default(), plain, polled]
}

impl Hanging {
    /// With half of the reads handed over, and half of them staged.
    fn new(options: UringOptions) -> Self {
        let (buffers, slots) = Buffers::new(DEPTH, LEN).unwrap();
        let (reader, writer) = pipe().unwrap();
        let file = OpenFile {
            file: OwnedFd::from(reader.try_clone().unwrap()).into(),
            is_block: false,
            size: 0,
        };
        let clock = Clock::start();
        let mut target =
            UringTarget::new(clock, DEPTH, options, [0; 4], vec![file], &buffers).unwrap();
        for (number, slot) in slots.into_iter().enumerate() {
            let request = Request {
                target: 0,
                direction: Direction::Read,
                // As of a file without positions.
                offset: u64::MAX,
                len: LEN as u32,
            };
            target.submit(&Io::new(slot, &request));
            if number == 1 {
                target.flush().unwrap();
            }
        }
        Self {
            target,
            buffers,
            reader,
            writer,
        }
    }
}

/// An error of the ring ended a job whose operations were in flight. Its target was dropped, then
/// its buffers, and nobody waited for the kernel: the ring was registered with the thread and lived
/// on, so that a read which came back later wrote to an address where by then something else lay.
#[test]
fn a_dropped_ring_leaves_nobody_who_reads() {
    for options in ways() {
        let Hanging {
            target,
            buffers,
            reader,
            writer,
        } = Hanging::new(options);
        assert!(target.in_flight > 0, "{options:?}: the pipe is empty");
        drop((target, reader));
        assert_eq!(buffers.addresses().holders(), 2, "{options:?}: both ours");
        assert!(has_lost_its_readers(&writer), "{options:?}");
    }
}

/// Trims are carried out as they are submitted. When one came back while reads were staged, a wait with
/// a moment slept until a read or the moment came, so the trim counted as slow as the reads.
#[test]
fn a_wait_returns_at_once_with_what_came_back_inline() {
    for options in ways() {
        let mut hanging = Hanging::new(options);
        let target = &mut hanging.target;
        target.inline.push(Completion::new(0, 0));
        let begun = target.clock.now();
        let until = begun.saturating_add(Nanos::from_millis(10_000));
        let mut done = Vec::new();
        target.wait(1, Some(until), &mut done).unwrap();
        assert_eq!(done.len(), 1, "{options:?}: the pipe is empty");
        assert_eq!(target.staged, 0, "{options:?}: the reads are submitted");
        let waited = target.clock.now().since(begun);
        assert!(
            waited < Nanos::from_millis(5_000),
            "{options:?}: {waited:?}"
        );
    }
}

/// Waits until the kernel has freed a ring, which happens soon after it is closed.
fn has_lost_its_readers(writer: &PipeWriter) -> bool {
    let mut poll = libc::pollfd {
        fd: writer.as_raw_fd(),
        events: 0,
        revents: 0,
    };
    // SAFETY: one structure, which lives through the call.
    let came = unsafe { libc::poll(&raw mut poll, 1, 10_000) };
    came == 1 && poll.revents & libc::POLLERR != 0
}

/// A drain takes the operations back, and each of them is counted.
#[test]
fn a_drain_takes_back_what_was_submitted() {
    for options in ways() {
        let mut hanging = Hanging::new(options);
        let target = &mut hanging.target;
        assert!(target.in_flight >= 2, "{options:?}");
        target.drain().unwrap();
        assert_eq!(target.in_flight, 0, "{options:?}");
        // What was not handed over never will be, but by the thread that polls.
        assert_eq!(target.staged, if options.sqpoll { 0 } else { 2 });
    }
}

#[test]
fn the_memory_outlives_a_ring_that_is_dropped_after_its_buffers() {
    for options in ways() {
        let Hanging {
            target, buffers, ..
        } = Hanging::new(options);
        let addresses = buffers.addresses();
        drop(buffers);
        assert_eq!(addresses.holders(), 2, "{options:?}: the target and we");
        drop(target);
        assert_eq!(addresses.holders(), 1, "{options:?}");
    }
}

/// A ring answers the thread that made it, and any other gets an error of the ring itself with its
/// operations in flight. Nobody can wait for those, so what they write to must stay for ever.
#[test]
fn a_ring_that_fails_leaves_the_memory_of_what_was_in_flight() {
    struct OtherThread(UringTarget);
    // SAFETY: nothing of it is thread-local but the ring, and that the kernel refuses the other
    // thread is what is tried here.
    unsafe impl Send for OtherThread {}
    // A thread of the kernel that polls takes operations of everybody.
    for options in ways().into_iter().filter(|options| !options.sqpoll) {
        let hanging = Hanging::new(options);
        let addresses = hanging.buffers.addresses();
        let moved = OtherThread(hanging.target);
        let other = std::thread::spawn(move || {
            let mut moved = moved;
            let all = &mut moved;
            all.0.wait(1, None, &mut Vec::new()).is_err()
        });
        assert!(
            other.join().unwrap(),
            "{options:?}: the ring serves everybody"
        );
        drop(hanging.buffers);
        assert_eq!(addresses.holders(), 2, "{options:?}: we alone");
    }
}
