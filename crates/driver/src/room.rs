//! In: the threads of a run. Out: whether there is memory for them, before the first one starts.
//!
//! A thread that cannot map its signal stack when it begins hangs in the standard library's report of
//! that, and nothing can wait for it or end it. So the memory of all threads is checked first.

use std::ptr::null_mut;

use blocklab_units::Bytes;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use rustix::process::{Resource, getrlimit};

use super::thread_groups::ThreadGroup;
use crate::Error;

/// Enough for the load loop. The default of 2 MiB only costs address space, but 8 GiB of it for 4,096
/// threads.
pub(crate) const STACK: usize = 256 << 10;

/// What a thread maps besides its stack and its buffers: the guard pages, the signal stack (which is
/// larger on processors with wide registers, 12 KiB for AVX-512), the rings and small allocations.
/// Assumed, with room to spare: it counts only where address space is limited.
const OTHER_MAPPINGS: usize = 1 << 20;

/// Checks that all threads have memory to start with, if address space is limited. Then all threads of
/// this process allocate from one heap ([`share_one_heap`]).
///
/// # Errors
/// [`Error::Memory`] when there is no room for them.
pub(crate) fn check_room(groups: &[ThreadGroup]) -> Result<(), Error> {
    let Some(limit) = getrlimit(Resource::As).current else {
        return Ok(());
    };
    share_one_heap();
    let needed = groups.iter().map(needed).fold(0, usize::saturating_add);
    // A mapping of no bytes would be an error.
    if needed == 0 {
        return Ok(());
    }
    let anywhere = null_mut();
    // SAFETY: a new anonymous mapping at an address of the kernel's choice, which nothing uses.
    unsafe { mmap_anonymous(anywhere, needed, ProtFlags::empty(), MapFlags::PRIVATE) }
        // SAFETY: it was mapped just now, with this length.
        .and_then(|reserved| unsafe { munmap(reserved, needed) })
        .map_err(|cause| Error::Memory {
            threads: groups.iter().map(|group| group.job.threads).sum(),
            needed: Bytes(needed as u64).to_string(),
            limit: Bytes(limit).to_string(),
            cause: cause.into(),
        })
}

/// What all threads of a group map.
fn needed(group: &ThreadGroup) -> usize {
    let job = &group.job;
    let buffers =
        (job.effective_depth() as usize).saturating_mul(job.sizes.largest_moved().0 as usize);
    let thread = buffers.saturating_add(STACK + OTHER_MAPPINGS);
    thread.saturating_mul(job.threads as usize)
}

/// Lets all threads allocate from one heap. Otherwise the C library maps 128 MiB for each new thread and
/// cuts them down to 64 MiB; under a limit this takes, for a moment, the room of a thread that is just
/// beginning. The load loop allocates nothing, so one heap is as fast.
fn share_one_heap() {
    #[cfg(target_env = "gnu")]
    // SAFETY: only numbers are passed.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}
