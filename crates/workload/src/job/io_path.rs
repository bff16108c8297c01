//! The settings of a job's path to the device, as plain data: engine, page cache, durability, hints,
//! batches, user and group.

use blocklab_units::{Nanos, with_defaults};
use serde::{Deserialize, Serialize};

/// Options that only io_uring has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UringOptions {
    /// A kernel thread polls for submissions (IORING_SETUP_SQPOLL), which costs a core.
    pub sqpoll: bool,
    /// Completions are polled for (IORING_SETUP_IOPOLL), which needs O_DIRECT and poll queues.
    pub iopoll: bool,
    /// Register the buffers with the ring, so that pages are pinned once.
    pub fixed_buffers: bool,
    /// Register the files with the ring.
    pub fixed_files: bool,
}

/// The flags of preadv2 and pwritev2 with each call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallFlags {
    /// Poll for completion (RWF_HIPRI).
    pub hipri: bool,
    /// Fail with EAGAIN where the call would block (RWF_NOWAIT).
    pub nowait: bool,
    /// Leave nothing in the page cache (RWF_DONTCACHE); an error before Linux 6.14.
    pub uncached: bool,
}

impl CallFlags {
    /// None of them.
    pub const NONE: Self = Self {
        hipri: false,
        nowait: false,
        uncached: false,
    };
}

/// Flags of single operations of pvsync2, libaio and io_uring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperationFlags {
    /// Fail with EAGAIN where the call would block (RWF_NOWAIT).
    pub nowait: bool,
    /// Write a block as a whole or not at all, also if the power is cut (RWF_ATOMIC); an error
    /// before Linux 6.11, and where the device or the file system cannot do it.
    pub atomic: bool,
}

impl OperationFlags {
    /// Whether there are none.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl UringOptions {
    /// Buffers and files registered, nothing polled.
    pub const USUAL: Self = Self {
        sqpoll: false,
        iopoll: false,
        fixed_buffers: true,
        fixed_files: true,
    };
}

impl Default for UringOptions {
    fn default() -> Self {
        Self::USUAL
    }
}

/// How requests reach the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// lseek, then read or write.
    Sync,
    /// pread and pwrite.
    Psync,
    /// lseek, then readv or writev.
    Vsync,
    /// preadv and pwritev.
    Pvsync,
    /// preadv2 and pwritev2.
    Pvsync2(CallFlags),
    /// Kernel native asynchronous I/O: io_submit and io_getevents.
    Libaio,
    /// io_uring.
    IoUring(UringOptions),
    /// POSIX asynchronous I/O (aio_read, aio_write): threads of the C library.
    PosixAio,
    /// Through a pipe: splice, vmsplice.
    Splice,
    /// fallocate instead of data: a write grows the file, a read keeps its size, a trim punches a
    /// hole.
    Falloc,
    /// ftruncate to the offset of each write.
    Ftruncate,
    /// Each operation creates the next file; nothing is opened before.
    FileCreate,
    /// Each operation is a stat of a file.
    FileStat,
    /// Each operation deletes a file.
    FileDelete,
    /// As [`Engine::FileCreate`], of directories.
    DirCreate,
    /// As [`Engine::FileStat`], of directories.
    DirStat,
    /// As [`Engine::FileDelete`], of directories.
    DirDelete,
    /// Copies from and to a memory mapping.
    Mmap,
    /// No I/O: every request completes at once. Measures our own cost.
    Null,
    /// No I/O: each operation keeps its processor busy for this time and transfers no bytes.
    Cpuio(Nanos),
    /// No I/O: another program runs at the same time as the jobs; the runner starts it.
    Exec,
}

/// The table of engines: variant, usual options, the name that fio gives it. Names, kinds and lists
/// are derived from it.
macro_rules! engines {
    ($($variant:ident $(($usual:expr))? $name:literal;)*) => {
        /// An [`Engine`] without its options.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        pub enum EngineKind {
            $(
                #[doc = concat!("[`Engine::", stringify!($variant), "`].")]
                #[serde(rename = $name)]
                $variant,
            )*
        }

        impl EngineKind {
            /// `sync`, `psync`, `libaio`, `io_uring` and so on: the name that fio gives it.
            pub const fn name(self) -> &'static str {
                [$($name),*][self as usize]
            }
        }

        impl Engine {
            /// Every engine with its usual options, by name.
            pub const ALL: [(&'static str, Self); [$($name),*].len()] =
                [$(($name, Self::$variant $(($usual))?)),*];

            /// Which one it is.
            pub const fn kind(self) -> EngineKind {
                match self {
                    $(Self::$variant { .. } => EngineKind::$variant,)*
                }
            }
        }
    };
}

engines! {
    Sync "sync";
    Psync "psync";
    Vsync "vsync";
    Pvsync "pvsync";
    Pvsync2(CallFlags::NONE) "pvsync2";
    Libaio "libaio";
    IoUring(UringOptions::USUAL) "io_uring";
    PosixAio "posixaio";
    Mmap "mmap";
    Splice "splice";
    Falloc "falloc";
    Ftruncate "ftruncate";
    FileCreate "filecreate";
    FileStat "filestat";
    FileDelete "filedelete";
    DirCreate "dircreate";
    DirStat "dirstat";
    DirDelete "dirdelete";
    Null "null";
    Cpuio(Nanos::from_millis(50)) "cpuio";
    Exec "exec";
}

impl Engine {
    /// The engine of this name, with its usual options.
    pub fn named(name: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, engine)| *engine)
    }

    /// As [`EngineKind::name`].
    pub const fn name(self) -> &'static str {
        self.kind().name()
    }

    /// Whether one thread can have more than one operation in flight.
    pub const fn is_asynchronous(self) -> bool {
        matches!(
            self,
            Self::Libaio | Self::IoUring(_) | Self::PosixAio | Self::Null
        )
    }

    /// Whether it works on names and opens no file.
    pub const fn is_of_names(self) -> bool {
        let of_files = matches!(self, Self::FileCreate | Self::FileStat | Self::FileDelete);
        of_files || self.is_of_directories()
    }

    /// Whether the names are those of directories.
    pub const fn is_of_directories(self) -> bool {
        matches!(self, Self::DirCreate | Self::DirStat | Self::DirDelete)
    }

    /// Whether each of its operations creates a file or directory.
    pub const fn makes_names(self) -> bool {
        matches!(self, Self::FileCreate | Self::DirCreate)
    }

    /// Whether each of its operations removes a file or directory.
    pub const fn removes_names(self) -> bool {
        matches!(self, Self::FileDelete | Self::DirDelete)
    }

    /// Whether it works on a device, a file or a name.
    pub const fn needs_target(self) -> bool {
        !matches!(self, Self::Null | Self::Cpuio(_) | Self::Exec)
    }

    /// Whether its operations have a length.
    pub const fn counts_bytes(self) -> bool {
        !matches!(self, Self::Cpuio(_) | Self::Exec)
    }

    /// Whether it works on open files.
    pub const fn opens_files(self) -> bool {
        self.needs_target() && !self.is_of_names()
    }

    /// Whether what it writes can be read again.
    pub const fn keeps_data(self) -> bool {
        self.opens_files() && !matches!(self, Self::Falloc | Self::Ftruncate)
    }
}

/// Whether operations go through the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Through the page cache.
    Buffered,
    /// O_DIRECT, or the run fails.
    Direct,
    /// O_DIRECT if the file system supports it, else buffered with a Note.
    DirectIfPossible,
}

impl Access {
    /// `buffered`, `direct`, `direct_if_possible`.
    pub const fn name(self) -> &'static str {
        ["buffered", "direct", "direct_if_possible"][self as usize]
    }
}

/// What a completed write promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// Nothing beyond the call.
    #[default]
    None,
    /// O_DSYNC: the data survives a power cut.
    Dsync,
    /// O_SYNC: data and metadata survive it.
    Sync,
}

impl Durability {
    /// `none`, `dsync`, `sync`.
    pub const fn name(self) -> &'static str {
        ["none", "dsync", "sync"][self as usize]
    }
}

/// Hints to the kernel about what will be read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hints {
    /// The order in which files will be read through the page cache (posix_fadvise).
    pub advice: Advice,
    /// How long written data will live (F_SET_RW_HINT); `None`: no hint.
    pub lifetime: Option<Lifetime>,
}

/// In which order a file will be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Advice {
    /// By the pattern of the job.
    #[default]
    ByPattern,
    /// No advice.
    None,
    /// In random order.
    Random,
    /// From the beginning to the end.
    Sequential,
    /// Once: the kernel need not keep what was read.
    NoReuse,
}

/// How long written data will live, in the kernel's words. Devices with separate streams put data of
/// one lifetime together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifetime {
    /// It is not known.
    None,
    /// Short.
    Short,
    /// Longer.
    Medium,
    /// Longer still.
    Long,
    /// Longest.
    Extreme,
}

with_defaults! {
    /// How requests are grouped on their way to and from an asynchronous engine.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Batch {
        /// Most operations that one call submits. 0 chooses a quarter of the depth, 1 to 16: while
        /// one group is prepared, the target works on the others. Submitting a whole queue at once
        /// makes target and host take turns.
        pub submit: u32 = 0,
        /// Fewest completions with which a wait returns; at least 1.
        pub complete: u32 = 1,
        /// Most completions that are handled before the queue is filled again. 0: all that are there.
        #[serde(default, skip_serializing_if = "is_all")]
        pub take: u32 = 0,
        /// Once the depth was reached, nothing is issued until only this many operations are in
        /// flight. 0: the depth is filled up at every opportunity.
        pub low: u32 = 0,
    }
}

const fn is_all(take: &u32) -> bool {
    *take == 0
}

/// User, group and control group of a thread; by default those of the command.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Credentials {
    /// User by number.
    pub user: Option<u32>,
    /// Group by number.
    pub group: Option<u32>,
    /// Directory of a control group of version 1.
    pub control_group: Option<String>,
}
