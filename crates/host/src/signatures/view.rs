//! Reads of a device or image that is probed: one large read for the start, small ones elsewhere.

use std::io;

/// How much of the start is read at once: it holds nearly all marks.
const HEAD: u64 = 128 << 10;

/// Reads a device through its owner's eyes; what lies beyond the end is simply not there.
pub(super) struct View<'a> {
    read: &'a mut dyn FnMut(u64, &mut [u8]) -> io::Result<()>,
    size: u64,
    head: Vec<u8>,
}

impl<'a> View<'a> {
    pub(super) fn new(
        read: &'a mut dyn FnMut(u64, &mut [u8]) -> io::Result<()>,
        size: u64,
    ) -> io::Result<Self> {
        let mut head = vec![0; size.min(HEAD) as usize];
        if !head.is_empty() {
            read(0, &mut head)?;
        }
        Ok(Self { read, size, head })
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// `length` bytes at `offset`, or nothing where the device ends before them.
    pub(super) fn bytes(&mut self, offset: u64, length: usize) -> io::Result<Option<Vec<u8>>> {
        let end = offset.checked_add(length as u64);
        let Some(end) = end.filter(|end| *end <= self.size) else {
            return Ok(None);
        };
        if end <= self.head.len() as u64 {
            return Ok(Some(self.head[offset as usize..end as usize].to_vec()));
        }
        let mut buffer = vec![0; length];
        (self.read)(offset, &mut buffer)?;
        Ok(Some(buffer))
    }

    /// `N` bytes at `offset`.
    pub(super) fn array<const N: usize>(&mut self, offset: u64) -> io::Result<Option<[u8; N]>> {
        let bytes = self.bytes(offset, N)?;
        Ok(bytes.map(|bytes| bytes.try_into().expect("as many bytes as requested")))
    }

    /// Whether exactly these bytes are at `offset`.
    pub(super) fn has(&mut self, offset: u64, mark: &[u8]) -> io::Result<bool> {
        Ok(self.bytes(offset, mark.len())?.as_deref() == Some(mark))
    }
}
