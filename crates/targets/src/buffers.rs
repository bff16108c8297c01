//! The memory that operations read into and write from.

use std::io;
use std::ptr::NonNull;

use blocklab_workload::Slot;

/// Page-aligned buffers of equal size in one mapping.
#[derive(Debug)]
pub struct Buffers {
    base: NonNull<u8>,
    stride: usize,
    count: usize,
}

// SAFETY: the mapping is plain memory that this value owns alone.
unsafe impl Send for Buffers {}

const PAGE: usize = 4096;

impl Buffers {
    /// `count` buffers of at least `size` bytes, and a slot for each.
    ///
    /// # Errors
    /// When the memory cannot be had.
    pub fn new(count: u32, size: usize) -> io::Result<(Self, Vec<Slot>)> {
        let stride = size.max(1).next_multiple_of(PAGE);
        let len = stride
            .checked_mul(count as usize)
            .ok_or(io::ErrorKind::OutOfMemory)?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new anonymous mapping at an address of the kernel's choice.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), len, protection, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        // Last in, first out: the buffer used last is the one still in the cache.
        let slots = (0..count).rev().map(Slot::returned).collect();
        Ok((
            Self {
                base,
                stride,
                count: count as usize,
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
        assert!(slot.index() < self.count && len <= self.stride);
        // SAFETY: inside the mapping by the line above; the slot shows that nobody else,
        // the kernel included, uses these bytes.
        unsafe { std::slice::from_raw_parts_mut(self.address(slot.index()), len) }
    }

    /// Where a buffer begins.
    #[inline]
    #[must_use]
    pub const fn address(&self, index: usize) -> *mut u8 {
        // SAFETY: the callers' indices are those of slots, so the result is inside the mapping.
        unsafe { self.base.as_ptr().add(index * self.stride) }
    }

    /// Distance between two buffers, in bytes.
    #[must_use]
    pub const fn stride(&self) -> usize {
        self.stride
    }

    /// The whole mapping as pieces of at most 1 GiB, which is what io_uring can register.
    pub(crate) fn pieces(&self) -> (Vec<libc::iovec>, usize) {
        let per_piece = ((1 << 30) / self.stride).clamp(1, self.count.max(1));
        let pieces = (0..self.count).step_by(per_piece).map(|first| libc::iovec {
            iov_base: self.address(first).cast(),
            iov_len: per_piece.min(self.count - first) * self.stride,
        });
        (pieces.collect(), per_piece)
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `new`; targets are dropped before their buffers.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.stride * self.count) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_and_apart() {
        let (mut buffers, slots) = Buffers::new(3, 5000).unwrap();
        for slot in &slots {
            let bytes = buffers.bytes_mut(slot, 5000);
            assert_eq!(bytes.as_ptr() as usize % PAGE, 0);
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
        let (pieces, per_piece) = buffers.pieces();
        assert_eq!(per_piece, 2);
        assert_eq!(
            pieces.iter().map(|piece| piece.iov_len).sum::<usize>(),
            5 * (512 << 20)
        );
    }
}
