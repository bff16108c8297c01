//! In: requests for memory. Out: the memory of the system's allocator, and a note of what it refused
//! that another process can read.
//!
//! A file of its own: when the system refuses memory, the standard library aborts the process, which
//! looks like a fault of the program. The note shows its parent the difference.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use blocklab_units::Bytes;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};

/// The system's allocator, which notes what it refuses.
struct NotingAllocator;

#[global_allocator]
static ALLOCATOR: NotingAllocator = NotingAllocator;

/// The size of the last request that was refused, in bytes; 0: none. It lies in memory that a process
/// shares with its children; null until [`RefusedMemory::shared`] made it.
static REFUSED: AtomicPtr<AtomicU64> = AtomicPtr::new(ptr::null_mut());

/// Notes a refusal. It allocates nothing.
fn noted(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() {
        // SAFETY: the pointer is null, or that of a mapping that is never removed.
        if let Some(refused) = unsafe { REFUSED.load(Ordering::Relaxed).as_ref() } {
            refused.store(bytes as u64, Ordering::Relaxed);
        }
    }
    memory
}

// SAFETY: every call goes to the system's allocator as it is.
unsafe impl GlobalAlloc for NotingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        noted(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        noted(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        noted(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// What this process and its children were refused.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RefusedMemory;

impl RefusedMemory {
    /// From here on, what children are refused can be read in this process. Must be called before the
    /// fork. Where no memory can be shared, nothing is noted.
    pub(crate) fn shared() -> Self {
        // SAFETY: a new mapping, wherever the kernel places it.
        let page = unsafe {
            mmap_anonymous(
                ptr::null_mut(),
                size_of::<AtomicU64>(),
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
            )
        };
        if let Ok(page) = page {
            REFUSED.store(page.cast(), Ordering::Relaxed);
        }
        Self
    }

    /// The last request that was refused; `None` if none was.
    pub(crate) fn last(self) -> Option<Bytes> {
        // SAFETY: the pointer is null, or that of a mapping that is never removed.
        let refused = unsafe { REFUSED.load(Ordering::Relaxed).as_ref()? };
        let bytes = refused.load(Ordering::Relaxed);
        (bytes > 0).then_some(Bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_noted() {
        let refused = RefusedMemory::shared();
        let more_than_any_machine_has = 1 << 60;
        let mut bytes = Vec::<u8>::new();
        assert!(bytes.try_reserve_exact(more_than_any_machine_has).is_err());
        assert_eq!(
            refused.last(),
            Some(Bytes(more_than_any_machine_has as u64))
        );
    }
}
