//! Requests of the kernel to a file system's server, and the replies, as bytes (FUSE protocol 7).
//!
//! ```text
//!   request: len opcode unique node uid gid pid … │ what the opcode needs │ data or a name
//!   reply:   len error unique                     │ what the opcode gives
//! ```
//!
//! Numbers are in the order of the machine. The layout is that of the kernel's `uapi/linux/fuse.h`,
//! whose protocol part may be used under the BSD licence.

/// Bytes of the header of a request.
const HEADER: usize = 40;
/// Bytes of the header of a reply.
pub(super) const REPLY_HEADER: usize = 16;
/// Where the data of a write begins in its request.
const WRITE_DATA: usize = HEADER + 40;
/// Most bytes of a read or a write.
pub(super) const MOST_DATA: usize = 1 << 20;
/// The kernel refuses to read requests into less than its largest one.
pub(super) const REQUEST_BUFFER: usize = MOST_DATA + 4096;

/// The folder's number.
pub(super) const ROOT: u64 = 1;

mod opcode {
    pub const LOOKUP: u32 = 1;
    pub const FORGET: u32 = 2;
    pub const GETATTR: u32 = 3;
    pub const SETATTR: u32 = 4;
    pub const OPEN: u32 = 14;
    pub const READ: u32 = 15;
    pub const WRITE: u32 = 16;
    pub const STATFS: u32 = 17;
    pub const RELEASE: u32 = 18;
    pub const FSYNC: u32 = 20;
    pub const INIT: u32 = 26;
    pub const OPENDIR: u32 = 27;
    pub const READDIR: u32 = 28;
    pub const RELEASEDIR: u32 = 29;
    pub const FSYNCDIR: u32 = 30;
    pub const DESTROY: u32 = 38;
    pub const BATCH_FORGET: u32 = 42;
    pub const FALLOCATE: u32 = 43;
}

/// Flags of INIT.
mod offer {
    /// Reads of one file may be sent together.
    pub const ASYNC_READ: u32 = 1 << 0;
    /// Writes of more than a page.
    pub const BIG_WRITES: u32 = 1 << 5;
    /// Asynchronous direct I/O is sent as such.
    pub const ASYNC_DIO: u32 = 1 << 15;
    /// `max_pages` counts.
    pub const MAX_PAGES: u32 = 1 << 22;
}

/// Flags of OPEN.
mod open {
    /// No page cache.
    pub const DIRECT_IO: u32 = 1 << 0;
    /// What was cached stays (nothing is).
    pub const KEEP_CACHE: u32 = 1 << 1;
    /// Writes of one file may be sent together.
    pub const PARALLEL_DIRECT_WRITES: u32 = 1 << 6;
}

/// Flags of SETATTR.
mod set {
    pub const MODE: u32 = 1 << 0;
    pub const UID: u32 = 1 << 1;
    pub const GID: u32 = 1 << 2;
    pub const SIZE: u32 = 1 << 3;
    /// It comes from `ftruncate`, and neither from `truncate` nor from `open`.
    pub const HANDLE: u32 = 1 << 6;
}

/// A request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Request<'a> {
    Init {
        minor: u32,
        readahead: u32,
        flags: u32,
    },
    Lookup {
        folder: u64,
        name: &'a [u8],
    },
    /// Takes no reply.
    Forget,
    Attributes {
        node: u64,
    },
    Change {
        node: u64,
        change: Change,
    },
    Open {
        node: u64,
    },
    Close,
    OpenFolder,
    CloseFolder,
    List {
        offset: u64,
        len: u32,
    },
    /// For the volume of a file.
    Io {
        node: u64,
        io: Io<'a>,
    },
    Space,
    /// The mount is gone.
    Destroy,
    /// Not known here.
    Unknown,
}

/// A request that the model of a volume answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Io<'a> {
    Read {
        offset: u64,
        len: u32,
    },
    Write {
        offset: u64,
        data: &'a [u8],
        /// The file was opened so that each write is durable.
        forced: bool,
    },
    Sync,
    Allocate {
        offset: u64,
        len: u64,
        mode: i32,
    },
}

/// The change that SETATTR requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// Another size.
    Size(u64),
    /// A file that is emptied as it is opened; devices ignore that.
    Emptied,
    /// Another owner or mode.
    Rights,
    /// Times.
    Nothing,
}

/// A request with the number by which it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Message<'a> {
    pub(super) unique: u64,
    pub(super) request: Request<'a>,
}

/// Reads fields one behind the other.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn u32(&mut self) -> Option<u32> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_ne_bytes(*field))
    }

    fn u64(&mut self) -> Option<u64> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_ne_bytes(*field))
    }

    /// The bytes up to a zero byte; `None` without one.
    fn name(&self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|byte| *byte == 0)?;
        Some(&self.0[..end])
    }
}

impl<'a> Message<'a> {
    /// `None`: no request of this protocol.
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut header = Fields(bytes.get(..HEADER)?);
        let (len, opcode) = (header.u32()?, header.u32()?);
        let (unique, node) = (header.u64()?, header.u64()?);
        let bytes = bytes.get(..len as usize)?;
        let request = parse_body(opcode, node, bytes)?;
        Some(Self { unique, request })
    }
}

/// The request of an opcode; `None` if its body is too short.
fn parse_body(opcode: u32, node: u64, bytes: &[u8]) -> Option<Request<'_>> {
    let mut body = Fields(bytes.get(HEADER..)?);
    let io = |io| Request::Io { node, io };
    Some(match opcode {
        opcode::INIT => {
            let _major = body.u32()?;
            Request::Init {
                minor: body.u32()?,
                readahead: body.u32()?,
                flags: body.u32()?,
            }
        }
        opcode::LOOKUP => Request::Lookup {
            folder: node,
            name: body.name()?,
        },
        opcode::FORGET | opcode::BATCH_FORGET => Request::Forget,
        opcode::GETATTR => Request::Attributes { node },
        opcode::SETATTR => {
            let (valid, _padding) = (body.u32()?, body.u32()?);
            let (_handle, size) = (body.u64()?, body.u64()?);
            let change = change(valid, size);
            Request::Change { node, change }
        }
        opcode::OPEN => Request::Open { node },
        opcode::RELEASE => Request::Close,
        opcode::OPENDIR => Request::OpenFolder,
        opcode::RELEASEDIR | opcode::FSYNCDIR => Request::CloseFolder,
        opcode::READ | opcode::READDIR => {
            let (_handle, offset, len) = (body.u64()?, body.u64()?, body.u32()?);
            match opcode {
                opcode::READ => io(Io::Read { offset, len }),
                _ => Request::List { offset, len },
            }
        }
        opcode::WRITE => {
            let (_handle, offset, len) = (body.u64()?, body.u64()?, body.u32()?);
            let (_how, _lock_owner, opened) = (body.u32()?, body.u64()?, body.u32()?);
            let data = bytes.get(WRITE_DATA..)?.get(..len as usize)?;
            let forced = opened & libc::O_DSYNC as u32 != 0;
            io(Io::Write {
                offset,
                data,
                forced,
            })
        }
        opcode::FSYNC => io(Io::Sync),
        opcode::FALLOCATE => {
            let (_handle, offset, len) = (body.u64()?, body.u64()?, body.u64()?);
            let mode = body.u32()? as i32;
            io(Io::Allocate { offset, len, mode })
        }
        opcode::STATFS => Request::Space,
        opcode::DESTROY => Request::Destroy,
        _ => Request::Unknown,
    })
}

/// What a SETATTR request changes; `valid` has a bit for each attribute.
const fn change(valid: u32, size: u64) -> Change {
    if valid & (set::MODE | set::UID | set::GID) != 0 {
        return Change::Rights;
    }
    match (valid & set::SIZE != 0, valid & set::HANDLE != 0) {
        (true, false) if size == 0 => Change::Emptied,
        (true, _) => Change::Size(size),
        (false, _) => Change::Nothing,
    }
}

/// A buffer in which one reply after the other is made.
#[derive(Debug, Default)]
pub(super) struct Reply(Vec<u8>);

impl Reply {
    /// The place for what the opcode gives.
    pub(super) fn begin(&mut self) -> &mut Vec<u8> {
        self.0.clear();
        self.0.resize(REPLY_HEADER, 0);
        &mut self.0
    }

    /// Completes the header: everything put into the buffer is the reply.
    pub(super) fn done(&mut self, unique: u64) -> &[u8] {
        self.end(unique, 0)
    }

    /// The error number is the reply.
    pub(super) fn failed(&mut self, unique: u64, number: i32) -> &[u8] {
        self.begin();
        self.end(unique, -number)
    }

    fn end(&mut self, unique: u64, error: i32) -> &[u8] {
        let len = self.0.len() as u32;
        self.0[..4].copy_from_slice(&len.to_ne_bytes());
        self.0[4..8].copy_from_slice(&error.to_ne_bytes());
        self.0[8..REPLY_HEADER].copy_from_slice(&unique.to_ne_bytes());
        &self.0
    }
}

/// Attributes of the folder or of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Attributes {
    pub(super) node: u64,
    pub(super) size: u64,
    pub(super) mode: u32,
    pub(super) uid: u32,
    pub(super) gid: u32,
}

/// They never change, so the kernel need not ask again: seconds.
const VALID: u64 = 3600;

fn put(out: &mut Vec<u8>, numbers: &[u32]) {
    for number in numbers {
        out.extend_from_slice(&number.to_ne_bytes());
    }
}

fn put_long(out: &mut Vec<u8>, numbers: &[u64]) {
    for number in numbers {
        out.extend_from_slice(&number.to_ne_bytes());
    }
}

impl Attributes {
    /// `struct fuse_attr`: times are zero.
    fn put(&self, out: &mut Vec<u8>) {
        let blocks = self.size.div_ceil(512);
        put_long(out, &[self.node, self.size, blocks, 0, 0, 0]);
        let (links, device, block) = (1, 0, 4096);
        put(out, &[0, 0, 0, self.mode, links, self.uid, self.gid]);
        put(out, &[device, block, 0]);
    }

    /// The reply to a lookup.
    pub(super) fn entry(&self, out: &mut Vec<u8>) {
        put_long(out, &[self.node, 0, VALID, VALID]);
        put(out, &[0, 0]);
        self.put(out);
    }

    /// The reply to GETATTR and SETATTR.
    pub(super) fn attributes(&self, out: &mut Vec<u8>) {
        put_long(out, &[VALID]);
        put(out, &[0, 0]);
        self.put(out);
    }
}

/// Requests that the kernel may have in flight for all that reads ahead or is asynchronous; its own
/// choice of 12 would be the queue depth of the volume.
const MOST_IN_FLIGHT: u16 = 512;

/// The reply to INIT.
pub(super) fn init(out: &mut Vec<u8>, minor: u32, readahead: u32, flags: u32) {
    let wanted = offer::ASYNC_READ | offer::BIG_WRITES | offer::ASYNC_DIO | offer::MAX_PAGES;
    // Nothing of later minor versions is used.
    let (major, minor) = (7, minor.min(31));
    put(out, &[major, minor, readahead, flags & wanted]);
    let congested = MOST_IN_FLIGHT / 4 * 3;
    let both = [MOST_IN_FLIGHT.to_ne_bytes(), congested.to_ne_bytes()];
    out.extend_from_slice(&both.concat());
    let granularity = 1;
    put(out, &[MOST_DATA as u32, granularity]);
    // SAFETY: only a number is asked for.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    let pages = (MOST_DATA / page) as u16;
    out.extend_from_slice(&[pages.to_ne_bytes(), [0; 2]].concat());
    // Further flags, stacking, and what is reserved.
    out.extend_from_slice(&[0; 32]);
}

/// The reply to OPEN of a volume.
pub(super) fn opened(out: &mut Vec<u8>) {
    opened_as(
        out,
        open::DIRECT_IO | open::KEEP_CACHE | open::PARALLEL_DIRECT_WRITES,
    );
}

/// The reply to OPENDIR.
pub(super) fn folder_opened(out: &mut Vec<u8>) {
    opened_as(out, 0);
}

fn opened_as(out: &mut Vec<u8>, flags: u32) {
    let handle = 0;
    put_long(out, &[handle]);
    put(out, &[flags, 0]);
}

/// The reply to a write of `len` bytes.
pub(super) fn written(out: &mut Vec<u8>, len: u32) {
    put(out, &[len, 0]);
}

/// The reply to STATFS: all is in use.
pub(super) fn space(out: &mut Vec<u8>, bytes: u64, files: u64) {
    const BLOCK: u32 = 512;
    let blocks = bytes / u64::from(BLOCK);
    put_long(out, &[blocks, 0, 0, files, 0]);
    let longest_name = 255;
    put(out, &[BLOCK, longest_name, BLOCK, 0]);
    put(out, &[0; 6]);
}

/// Appends one name of a folder to the reply to READDIR; `position` is where the listing goes on behind
/// it. Returns false, and appends nothing, if the reply would be longer than `longest_reply`.
pub(super) fn put_name(
    out: &mut Vec<u8>,
    longest_reply: usize,
    node: u64,
    position: u64,
    name: &[u8],
) -> bool {
    // `struct fuse_dirent`: inode and position of 8 bytes, length and kind of 4; entries begin at
    // multiples of 8. The kind is the four bits of the mode that tell it.
    const FIXED: usize = 24;
    let len = (FIXED + name.len()).next_multiple_of(8);
    if out.len() + len > longest_reply {
        return false;
    }
    let end = out.len() + len;
    let kind = match node {
        ROOT => libc::S_IFDIR >> 12,
        _ => libc::S_IFREG >> 12,
    };
    put_long(out, &[node, position]);
    put(out, &[name.len() as u32, kind]);
    out.extend_from_slice(name);
    out.resize(end, 0);
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(opcode: u32, node: u64, body: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        put(&mut bytes, &[(HEADER + body.len()) as u32, opcode]);
        put_long(&mut bytes, &[77, node]);
        put(&mut bytes, &[0; 4]);
        bytes.extend_from_slice(body);
        bytes
    }

    #[test]
    fn a_write_brings_its_data_and_whether_it_is_forced() {
        let mut body = Vec::new();
        put_long(&mut body, &[0, 8192]);
        put(&mut body, &[3, 0]);
        put_long(&mut body, &[0]);
        put(&mut body, &[libc::O_DSYNC as u32, 0]);
        body.extend_from_slice(b"abc");
        let bytes = message(opcode::WRITE, 2, &body);
        let found = Message::parse(&bytes).expect("a request");
        assert_eq!(found.unique, 77);
        let io = Io::Write {
            offset: 8192,
            data: b"abc",
            forced: true,
        };
        assert_eq!(found.request, Request::Io { node: 2, io });
        assert_eq!(Message::parse(&bytes[..bytes.len() - 1]), None, "cut off");
    }

    #[test]
    fn a_file_that_is_emptied_as_it_is_opened_is_no_truncation() {
        assert_eq!(change(set::SIZE, 0), Change::Emptied);
        assert_eq!(change(set::SIZE | set::HANDLE, 0), Change::Size(0));
        assert_eq!(change(set::SIZE, 512), Change::Size(512));
        assert_eq!(change(set::MODE | set::SIZE, 0), Change::Rights);
        assert_eq!(change(1 << 5, 0), Change::Nothing);
    }

    #[test]
    fn replies_have_the_lengths_that_the_kernel_checks() {
        let attributes = Attributes {
            node: 2,
            size: 1,
            mode: 0,
            uid: 0,
            gid: 0,
        };
        let len = |fill: &dyn Fn(&mut Vec<u8>)| {
            let mut out = Vec::new();
            fill(&mut out);
            out.len()
        };
        assert_eq!(len(&|out| attributes.entry(out)), 128);
        assert_eq!(len(&|out| attributes.attributes(out)), 104);
        assert_eq!(len(&|out| init(out, 45, 0, u32::MAX)), 64);
        assert_eq!(len(&opened), 16);
        assert_eq!(len(&|out| space(out, 1 << 30, 1)), 80);
        assert_eq!(len(&|out| written(out, 9)), 8);
        let mut reply = Reply::default();
        assert_eq!(reply.failed(9, libc::EIO).len(), REPLY_HEADER);
    }

    #[test]
    fn a_listing_ends_where_the_room_ends() {
        let mut out = Vec::new();
        assert!(put_name(&mut out, 40, 2, 3, b"volume"));
        assert_eq!(out.len(), 32);
        assert!(!put_name(&mut out, 40, 2, 3, b"volume"));
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_odd(bytes in prop::collection::vec(any::<u8>(), 0..200), opcode in 0u32..60) {
            let _ = Message::parse(&bytes);
            let _ = Message::parse(&message(opcode, 1, &bytes));
        }
    }
}
