//! In: operations with their buffers.
//! Out: completions with their buffers, from every engine there is; the clock.
//! Never: what is measured, a histogram, a report.

mod buffers;
mod clock;
mod engines;
mod files;
mod flush_trim;
mod inline;
mod libaio;
mod mmap;
mod model;
mod paced;
mod posix;
mod space;
mod splice;
mod sync;
mod uring;

use std::io;

use blocklab_units::Nanos;
use blocklab_workload::{Completion, Io};

pub use buffers::{BufferAddresses, Buffers};
pub use clock::{Clock, precise_timers, thread_cpu_ns};
pub use engines::{EngineSetup, hint};
pub use files::{OpenFile, Opening, open, probe_direct};
pub use libaio::is_available as libaio_is_available;
pub use model::{Model, device_io, kernel_result};
pub use paced::{BUSY_WAIT, ModelTarget};
pub use uring::is_available as io_uring_is_available;

/// Something that takes operations and gives them back.
pub trait Target {
    /// Takes an operation and the right to its buffer, which comes back in the [`Completion`]
    /// ([`Io::returned`]). It may be carried out at once, staged until [`Target::flush`], or staged
    /// until [`Target::wait`].
    ///
    /// Takes it by reference: the worker has just written the operation field by field, and a processor that
    /// reads it in larger pieces, to move it, waits for all of them. That was 40 % of the time of
    /// an operation of the null target.
    fn submit(&mut self, io: &Io);

    /// Submits everything staged to the kernel, without waiting; a target that stages nothing has
    /// nothing to do.
    ///
    /// # Errors
    /// When the interface itself fails; the failure of an operation is a [`Completion`].
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Submits everything staged and appends what came back: returns with at least
    /// `at_least` completions, or when `until` has come, or when a signal arrived. With
    /// `at_least` 0 it waits for the moment, or for the first completion if that is earlier.
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

    /// Puts a file in the place of another one that nothing is in flight on, and gives that back.
    /// Operations name files by their place. A target that works on no files, as the null target and
    /// models, has none in that place, and gives back the new one.
    ///
    /// # Errors
    /// Where the engine cannot work on it.
    fn exchange(&mut self, _place: usize, file: OpenFile) -> io::Result<OpenFile> {
        Ok(file)
    }

    /// What the kernel did not do as requested, where the operations go on without it.
    fn note(&self) -> Option<&'static str> {
        None
    }
}

/// Takes a target of any type.
pub trait TargetVisitor {
    /// What the visitor makes of the target.
    type Output;

    /// Takes it.
    fn visit<T: Target + 'static>(self, target: T) -> Self::Output;
}
