//! Targets: the real things under load, behind one joint.

mod files;
mod inline;
mod libaio;
mod mmap;
mod model;
mod null;
mod posix;
mod sleep;
mod space;
mod splice;
mod sync;
mod trim;
mod uring;

use std::io;

use blocklab_units::Nanos;

use crate::worker::{Completion, Io};

pub(crate) use files::{OpenFile, Opening, open, probe_direct};
pub(crate) use inline::Inline;
pub(crate) use libaio::LibaioTarget;
pub(crate) use mmap::MmapCall;
pub(crate) use model::{ModelTarget, WATCH};
pub(crate) use null::NullCall;
pub(crate) use posix::PosixTarget;
pub(crate) use space::{NameCall, NamesCall, SpaceCall};
pub(crate) use splice::SpliceCall;
pub(crate) use sync::{Call, SyncCall};
pub(crate) use uring::UringTarget;
pub use uring::is_available as io_uring_is_available;

/// Something that takes operations and gives them back.
pub trait Target {
    /// Takes an operation and its buffer. It may be carried out at once, staged until
    /// [`Target::flush`], or staged until [`Target::wait`].
    fn submit(&mut self, io: Io);

    /// Hands everything staged to the kernel, without waiting.
    ///
    /// # Errors
    /// When the interface itself fails; the failure of an operation is a [`Completion`].
    fn flush(&mut self) -> io::Result<()>;

    /// Hands over everything staged and appends what came back: returns with at least
    /// `at_least` completions, or when `until` has come, or when a signal arrived. With
    /// `at_least` 0 it only waits for the moment.
    ///
    /// # Errors
    /// As [`Target::flush`].
    fn wait(
        &mut self,
        at_least: usize,
        until: Option<Nanos>,
        done: &mut Vec<Completion>,
    ) -> io::Result<()>;

    /// The moment on the run's clock.
    fn now(&self) -> Nanos;
}
