//! The engine mmap: memory copies, with SIGBUS turned into an error.

use std::cell::Cell;
use std::io;
use std::ptr::NonNull;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering, compiler_fence};

use blocklab_workload::{Direction, Io};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::OpenFile;
use crate::buffers::BufferAddresses;
use crate::flush_trim::{flush_file, trim};
use crate::inline::CarryOut;

/// Copies from and to a shared mapping of each file.
///
/// A device error or a file that shrinks arrives as SIGBUS in the middle of the copy. The handler
/// puts a zero page under the faulting address, so that the copy ends, and notes the fault; the
/// operation then fails with EIO, and the file is mapped anew over that page.
pub struct MmapCall {
    maps: Vec<Map>,
    /// For reading, and for writing where the job writes.
    protection: ProtFlags,
    buffers: BufferAddresses,
}

struct Map {
    start: NonNull<u8>,
    len: usize,
}

impl Map {
    const NONE: Self = Self {
        start: NonNull::dangling(),
        len: 0,
    };
}

impl Drop for Map {
    fn drop(&mut self) {
        if self.len == 0 {
            return;
        }
        // SAFETY: exactly the mapping made in `map`.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}

impl MmapCall {
    /// # Errors
    /// When a file cannot be mapped: empty, or of a kind without mappings.
    pub fn new(files: &[OpenFile], write: bool, buffers: BufferAddresses) -> io::Result<Self> {
        install_handler();
        let mut protection = ProtFlags::READ;
        protection.set(ProtFlags::WRITE, write);
        let maps = files
            .iter()
            .map(|file| map(file, protection))
            .collect::<io::Result<_>>()?;
        Ok(Self {
            maps,
            protection,
            buffers,
        })
    }

    /// Copies between the buffer of a slot and the mapping of its file. Returns the bytes, or a negated
    /// errno.
    fn copy(&self, io: &Io, file: &OpenFile) -> i32 {
        let map = &self.maps[io.file as usize];
        let (offset, len) = (io.offset as usize, io.len as usize);
        if offset + len > map.len {
            return -libc::EINVAL;
        }
        GUARD.set(Guard {
            start: map.start.as_ptr() as usize,
            len: map.len,
            faulted: false,
        });
        // The handler runs in the midst of the copy, which the compiler cannot know: without the two
        // fences it may move what the handler reads and writes to the other side of it.
        compiler_fence(Ordering::SeqCst);
        // SAFETY: both ranges lie inside their mappings (checked above; slots are), and they are
        // different mappings. A page without backing is replaced by the SIGBUS handler.
        unsafe {
            let stored = map.start.as_ptr().add(offset);
            let buffer = self.buffers.start_of(io.slot.index());
            let (from, to) = match io.direction {
                Direction::Read => (stored.cast_const(), buffer),
                _ => (buffer.cast_const(), stored),
            };
            std::ptr::copy_nonoverlapping(from, to, len);
        }
        compiler_fence(Ordering::SeqCst);
        if !GUARD.replace(Guard::NONE).faulted {
            return io.len as i32;
        }
        // Over the page of zeros, of which the next operation would take the zeros for data.
        let (start, fd) = (map.start.as_ptr().cast(), &file.file);
        let flags = MapFlags::SHARED | MapFlags::FIXED;
        // SAFETY: exactly the mapping made in `map`, in which no copy is under way.
        let restored = unsafe { mmap(start, map.len, self.protection, flags, fd, 0) };
        restored.map_or_else(|error| -error.raw_os_error(), |_| -libc::EIO)
    }
}

impl CarryOut for MmapCall {
    fn prepare(&mut self, place: usize, file: &OpenFile) -> io::Result<()> {
        self.maps[place] = match file.size {
            // Closed: no operation lies within it.
            0 => Map::NONE,
            _ => map(file, self.protection)?,
        };
        Ok(())
    }

    fn carry_out(&self, io: &Io, files: &[OpenFile]) -> i32 {
        let file = &files[io.file as usize];
        match io.direction {
            Direction::Trim => trim(file, io.offset, io.len),
            Direction::Sync => flush_file(&file.file, io),
            Direction::Read | Direction::Write => self.copy(io, file),
        }
    }
}

/// Maps a whole file.
fn map(file: &OpenFile, protection: ProtFlags) -> io::Result<Map> {
    let len = file.size as usize;
    let (anywhere, fd) = (std::ptr::null_mut(), &file.file);
    // SAFETY: a new mapping at an address of the kernel's choice.
    let start = unsafe { mmap(anywhere, len, protection, MapFlags::SHARED, fd, 0) }?;
    let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::InvalidInput)?;
    Ok(Map { start, len })
}

/// The range that the running copy may fault in.
#[derive(Debug, Clone, Copy)]
struct Guard {
    start: usize,
    len: usize,
    faulted: bool,
}

impl Guard {
    const NONE: Self = Self {
        start: 0,
        len: 0,
        faulted: false,
    };
}

thread_local! {
    /// `const` initialisation and no destructor: reading it in a signal handler is one load.
    static GUARD: Cell<Guard> = const { Cell::new(Guard::NONE) };
}

/// The bytes of a page of this system, known before the handler is installed. Some arm64 kernels have
/// pages of 16 or 64 KiB.
static PAGE: AtomicUsize = AtomicUsize::new(4096);

/// Installs [`on_bus_error`] for the process, once.
fn install_handler() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the structure is fully set; the handler only makes async-signal-safe calls.
        unsafe {
            PAGE.store(
                libc::sysconf(libc::_SC_PAGESIZE) as usize,
                Ordering::Relaxed,
            );
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_bus_error as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO;
            libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut());
        }
    });
}

/// Handles SIGBUS, which a mapping raises where its file cannot be read: puts a page of zeros there
/// and notes it, so that the operation fails and not the process.
extern "C" fn on_bus_error(_: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let page_size = PAGE.load(Ordering::Relaxed);
    // SAFETY: the kernel passes a valid siginfo to SA_SIGINFO handlers; mmap over one page of our
    // own mapping is a plain system call; sigaction and raise are async-signal-safe.
    unsafe {
        let address = (*info).si_addr() as usize;
        let guard = GUARD.get();
        if address.wrapping_sub(guard.start) < guard.len {
            let page = page_of(address, page_size) as *mut libc::c_void;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            if libc::mmap(page, page_size, protection, flags, -1, 0) != libc::MAP_FAILED {
                GUARD.set(Guard {
                    faulted: true,
                    ..guard
                });
                return;
            }
        }
        // Not ours: die of it as without a handler.
        libc::signal(libc::SIGBUS, libc::SIG_DFL);
        libc::raise(libc::SIGBUS);
    }
}

/// Where the page of an address begins.
const fn page_of(address: usize, page_size: usize) -> usize {
    address & !(page_size - 1)
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use blocklab_workload::Request;

    use super::*;
    use crate::buffers::Buffers;

    /// The story: with pages of 64 KiB a device error ended the process, as the zeros were to begin in the
    /// middle of a page.
    #[test]
    fn the_page_is_one_of_the_system() {
        assert_eq!(page_of(0x12_9fff, 0x1000), 0x12_9000);
        assert_eq!(page_of(0x12_9fff, 0x1_0000), 0x12_0000);
    }

    /// The story: the zero page of one failed read stayed in the place of the file. Every later read of
    /// it succeeded with zeros, and every later write was lost, on a device that had failed.
    #[test]
    fn a_page_that_cannot_be_read_fails_every_time_until_it_can() {
        install_handler();
        let page = PAGE.load(Ordering::Relaxed) as u64;
        let file = tempfile::tempfile().expect("a file");
        file.set_len(2 * page).expect("two pages");
        let files = [OpenFile {
            file: file.try_clone().expect("a descriptor"),
            is_block: false,
            size: 2 * page,
        }];
        let (buffers, mut slots) = Buffers::new(1, page as usize).expect("a buffer");
        let call = MmapCall::new(&files, false, buffers.addresses()).expect("a mapping");
        let request = Request {
            target: 0,
            direction: Direction::Read,
            len: page as u32,
            offset: page,
        };
        let io = Io::new(slots.pop().expect("a slot"), &request);
        let read_after = |pages: u64, file: &File| {
            file.set_len(pages * page).expect("another length");
            call.carry_out(&io, &files)
        };
        let results = [1, 1, 2].map(|pages| read_after(pages, &file));
        assert_eq!(results, [-libc::EIO, -libc::EIO, page as i32]);
    }
}
