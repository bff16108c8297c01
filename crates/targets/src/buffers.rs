//! The memory that operations read into and write from.
//!
//! The kernel writes into it by address, regardless of its owner in Rust. Three things together
//! keep that sound:
//!
//! 1. **Who may look.** Bytes are reached through a [`Slot`] alone, and a slot goes with its
//!    operation to the target and comes back with the completion.
//! 2. **How long the memory is there.** Every target that names a buffer to the kernel holds a
//!    [`BufferAddresses`], and the memory stays mapped until the last of them is gone, in any
//!    order targets and [`Buffers`] are dropped.
//! 3. **When a target may go.** Before it lets go of its share, it waits for what is in flight. One
//!    that cannot wait, as its interface fails, never lets go: the memory is lost then, and nothing
//!    is written to where something else lies.

use std::io;
use std::ptr::NonNull;
use std::rc::Rc;

use blocklab_workload::Slot;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Buffers of equal size in one mapping, each aligned to [`ALIGNMENT`].
#[derive(Debug)]
pub struct Buffers {
    addresses: BufferAddresses,
}

/// Where the buffers lie, for a target that names them to the kernel. The memory is there as long
/// as this value is.
#[derive(Debug, Clone)]
pub struct BufferAddresses {
    base: NonNull<u8>,
    stride: usize,
    count: usize,
    memory: Rc<Mapping>,
}

/// Memory that goes back to the kernel when nothing holds it any more.
#[derive(Debug)]
struct Mapping {
    base: NonNull<u8>,
    len: usize,
}

/// What direct I/O needs of memory is the block of the device, which has 4 KiB at most, whatever the size
/// of a page: with pages of 64 KiB, buffers of 4 KiB share one.
const ALIGNMENT: usize = 4096;

impl Buffers {
    /// `count` buffers of at least `size` bytes, and a slot for each.
    ///
    /// # Errors
    /// When the memory cannot be had.
    pub fn new(count: u32, size: usize) -> io::Result<(Self, Vec<Slot>)> {
        let stride = size.max(1).next_multiple_of(ALIGNMENT);
        let len = stride
            .checked_mul(count as usize)
            .ok_or(io::ErrorKind::OutOfMemory)?;
        let (anywhere, protection) = (std::ptr::null_mut(), ProtFlags::READ | ProtFlags::WRITE);
        // SAFETY: a new anonymous mapping at an address of the kernel's choice.
        let base = unsafe { mmap_anonymous(anywhere, len, protection, MapFlags::PRIVATE) }?;
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        let memory = Rc::new(Mapping { base, len });
        // Last in, first out: the buffer used last is the one still in the cache.
        let slots = (0..count).rev().map(Slot::returned).collect();
        Ok((
            Self {
                addresses: BufferAddresses {
                    base,
                    stride,
                    count: count as usize,
                    memory,
                },
            },
            slots,
        ))
    }

    /// The first `len` bytes of a slot's buffer.
    ///
    /// # Panics
    /// When `len` is more than the buffer holds.
    #[inline]
    pub fn bytes_mut(&mut self, slot: &Slot, len: usize) -> &mut [u8] {
        let addresses = &self.addresses;
        assert!(
            slot.index() < addresses.count && len <= addresses.stride,
            "buffer {} of {}, {len} bytes of {}",
            slot.index(),
            addresses.count,
            addresses.stride
        );
        // SAFETY: inside the mapping by the check above; the slot shows that nothing else, the
        // kernel included, uses these bytes.
        unsafe { std::slice::from_raw_parts_mut(addresses.start_of(slot.index()), len) }
    }

    /// A share in the memory, for a target.
    pub fn addresses(&self) -> BufferAddresses {
        self.addresses.clone()
    }
}

impl BufferAddresses {
    /// Where the buffer of the slot of this index begins.
    #[inline]
    pub fn start_of(&self, index: usize) -> *mut u8 {
        debug_assert!(
            index < self.count,
            "slot {index}, and there are {} buffers",
            self.count
        );
        // SAFETY: the callers' indices are those of slots, so the result is inside the mapping.
        unsafe { self.base.as_ptr().add(index * self.stride) }
    }

    /// How many there are.
    #[inline]
    pub(crate) const fn count(&self) -> usize {
        self.count
    }

    /// Keeps the memory for ever: the kernel may write into it at a time that nothing can wait for.
    pub(crate) fn never_free(&self) {
        std::mem::forget(Rc::clone(&self.memory));
    }

    /// How many hold the memory.
    #[cfg(test)]
    pub(crate) fn holders(&self) -> usize {
        Rc::strong_count(&self.memory)
    }

    /// The whole mapping as pieces of at most 1 GiB, which is what io_uring can register, and how many
    /// buffers each piece holds.
    pub(crate) fn pieces(&self) -> (Vec<libc::iovec>, usize) {
        let per_piece = ((1 << 30) / self.stride).clamp(1, self.count.max(1));
        let pieces = (0..self.count).step_by(per_piece).map(|first| libc::iovec {
            iov_base: self.start_of(first).cast(),
            iov_len: per_piece.min(self.count - first) * self.stride,
        });
        (pieces.collect(), per_piece)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `Buffers::new`, and the last one who could name it to
        // the kernel is gone, after all of its operations (see above).
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_and_do_not_overlap() {
        let (mut buffers, slots) = Buffers::new(3, 5000).unwrap();
        for slot in &slots {
            let bytes = buffers.bytes_mut(slot, 5000);
            assert_eq!(bytes.as_ptr() as usize % ALIGNMENT, 0);
            bytes.fill(slot.index() as u8 + 1);
        }
        for slot in &slots {
            let expected = slot.index() as u8 + 1;
            assert!(
                buffers
                    .bytes_mut(slot, 5000)
                    .iter()
                    .all(|byte| *byte == expected)
            );
        }
    }

    #[test]
    fn pieces_cover_everything() {
        let (buffers, _) = Buffers::new(5, 512 << 20).unwrap();
        let (pieces, per_piece) = buffers.addresses().pieces();
        assert_eq!(per_piece, 2);
        assert_eq!(
            pieces.iter().map(|piece| piece.iov_len).sum::<usize>(),
            5 * (512 << 20)
        );
    }
}
