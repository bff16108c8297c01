//! The engines: the target that each makes, and what would work where the kernel does not offer it.

use std::io;
use std::path::Path;

use blocklab_workload::{CallFlags, Direction, Engine, OperationFlags};

use crate::TargetVisitor;
use crate::buffers::Buffers;
use crate::clock::Clock;
use crate::files::OpenFile;
use crate::inline::{BurnCall, Inline, NullCall};
use crate::libaio::LibaioTarget;
use crate::mmap::MmapCall;
use crate::posix::PosixTarget;
use crate::space::{NameOperation, NamesCall, SpaceCall};
use crate::splice::SpliceCall;
use crate::sync::{Call, SyncCall};
use crate::uring::UringTarget;

/// What an engine's target is made of.
pub struct EngineSetup<'a> {
    /// By which operations are carried out.
    pub engine: Engine,
    /// The clock of the run.
    pub clock: Clock,
    /// Operations in flight at most.
    pub depth: u32,
    /// The memory of the operations, one buffer for each in flight.
    pub buffers: &'a Buffers,
    /// The files of the targets, opened; empty for an engine that opens none.
    pub files: Vec<OpenFile>,
    /// The paths of the targets, for engines that work on names.
    pub paths: Vec<&'a Path>,
    /// Whether anything is to be written, which a mapping has to allow.
    pub writes: bool,
    /// What operations request of the kernel, such as not to wait.
    pub flags: OperationFlags,
}

impl EngineSetup<'_> {
    /// Makes the target and passes it to a visitor, in which its type is known at compile time.
    ///
    /// # Errors
    /// When the kernel does not offer what the engine needs; [`hint`] suggests what would work.
    pub fn build<V: TargetVisitor>(self, visitor: V) -> io::Result<V::Output> {
        let Self {
            clock,
            depth,
            files,
            writes,
            flags,
            ..
        } = self;
        let memory = self.buffers.addresses();
        macro_rules! inline {
            ($call:expr) => {
                visitor.visit(Inline::new(clock, $call, files, depth))
            };
        }
        let paths = self.paths.iter().copied();
        Ok(match self.engine {
            Engine::Null | Engine::Exec => inline!(NullCall),
            Engine::Cpuio(chunk) => inline!(BurnCall::new(clock, chunk)),
            Engine::Sync => inline!(SyncCall::new(Call::Seek, memory)),
            Engine::Psync => inline!(SyncCall::new(Call::Positioned, memory)),
            Engine::Vsync => inline!(SyncCall::new(Call::SeekVectored, memory)),
            Engine::Pvsync => inline!(SyncCall::new(Call::PlainVectored, memory)),
            Engine::Pvsync2(own) => {
                inline!(SyncCall::new(Call::Vectored(vectored(own, flags)), memory))
            }
            Engine::Mmap => inline!(MmapCall::new(&files, writes, memory)?),
            Engine::Splice => inline!(SpliceCall::new(memory)?),
            Engine::Falloc => inline!(SpaceCall::Allocate),
            Engine::Ftruncate => inline!(SpaceCall::Truncate),
            Engine::FileCreate => inline!(NamesCall::new(NameOperation::Create, paths)?),
            Engine::FileStat | Engine::DirStat => {
                inline!(NamesCall::new(NameOperation::Stat, paths)?)
            }
            Engine::FileDelete => inline!(NamesCall::new(NameOperation::Delete, paths)?),
            Engine::DirCreate => inline!(NamesCall::new(NameOperation::CreateDirectory, paths)?),
            Engine::DirDelete => inline!(NamesCall::new(NameOperation::DeleteDirectory, paths)?),
            Engine::Libaio => visitor.visit(LibaioTarget::new(
                clock,
                depth,
                requested(flags),
                files,
                memory,
            )?),
            Engine::PosixAio => visitor.visit(PosixTarget::new(clock, depth, files, memory)),
            Engine::IoUring(options) => visitor.visit(UringTarget::new(
                clock,
                depth,
                options,
                requested(flags),
                files,
                self.buffers,
            )?),
        })
    }
}

/// The RWF flags of an operation, by direction.
fn requested(flags: OperationFlags) -> [libc::c_int; 4] {
    /// From Linux 6.11 on; of writes only.
    const RWF_ATOMIC: libc::c_int = 0x40;
    Direction::ALL.map(|direction| {
        let nowait = flags.nowait && matches!(direction, Direction::Read | Direction::Write);
        let atomic = flags.atomic && direction == Direction::Write;
        let requested = [(nowait, libc::RWF_NOWAIT), (atomic, RWF_ATOMIC)];
        all_of(&requested)
    })
}

/// The RWF flags of preadv2 and those of pwritev2: the engine's `own`, and those of the direction.
fn vectored(own: CallFlags, flags: OperationFlags) -> [libc::c_int; 2] {
    let own = bits(own);
    let [read, write, ..] = requested(flags);
    [own | read, own | write]
}

/// The RWF flags that the engine pvsync2 sets for every call.
fn bits(flags: CallFlags) -> libc::c_int {
    /// From Linux 6.14 on.
    const RWF_DONTCACHE: libc::c_int = 0x80;
    let requested = [
        (flags.hipri, libc::RWF_HIPRI),
        (flags.nowait, libc::RWF_NOWAIT),
        (flags.uncached, RWF_DONTCACHE),
    ];
    all_of(&requested)
}

fn all_of(requested: &[(bool, libc::c_int)]) -> libc::c_int {
    let bits = requested.iter().filter(|(requested, _)| *requested);
    bits.fold(0, |all, (_, bit)| all | bit)
}

/// What would work where an engine cannot be had: the end of an error's sentence.
pub const fn hint(engine: Engine) -> &'static str {
    match engine {
        Engine::IoUring(_) => {
            "; where a container or kernel.io_uring_disabled forbids it, engine = \"libaio\" or \
             \"psync\" would work"
        }
        Engine::Libaio => "; fs.aio-max-nr may be used up: fewer jobs or less depth would work",
        Engine::Mmap => "; only files and block devices with content can be mapped",
        _ => "",
    }
}
