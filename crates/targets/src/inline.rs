//! Engines that carry an operation out at once, made a target with completions.

use std::io;

use blocklab_units::Nanos;
use blocklab_workload::{Completion, Io};

use super::{OpenFile, Target};
use crate::clock::{Clock, sleep_until};

/// Something that carries out an operation at once.
pub trait CarryOut {
    /// Carries out an operation on one of these files. Returns its result as [`Completion::result`] has
    /// it.
    fn carry_out(&self, io: &Io, files: &[OpenFile]) -> i32;

    /// A file is about to take the place of another one.
    ///
    /// # Errors
    /// As [`Target::exchange`].
    fn prepare(&mut self, _place: usize, _file: &OpenFile) -> io::Result<()> {
        Ok(())
    }
}

/// No device: every operation completes at once. What remains is our own cost.
pub struct NullCall;

impl CarryOut for NullCall {
    #[inline]
    fn carry_out(&self, io: &Io, _: &[OpenFile]) -> i32 {
        io.whole_result()
    }
}

/// No device: every operation keeps the processor busy for a time.
pub struct BurnCall {
    clock: Clock,
    chunk: Nanos,
}

impl BurnCall {
    /// Chunks of this length by the run's clock.
    pub const fn new(clock: Clock, chunk: Nanos) -> Self {
        Self { clock, chunk }
    }
}

impl CarryOut for BurnCall {
    fn carry_out(&self, io: &Io, _: &[OpenFile]) -> i32 {
        let end = self.clock.now().saturating_add(self.chunk);
        while self.clock.now() < end {
            std::hint::spin_loop();
        }
        io.whole_result()
    }
}

/// A target without a queue: the submitting call is the operation.
pub struct Inline<C> {
    clock: Clock,
    call: C,
    files: Vec<OpenFile>,
    done: Vec<Completion>,
}

impl<C: CarryOut> Inline<C> {
    /// Carries out operations on these files with `call`, at most `depth` of them staged.
    pub fn new(clock: Clock, call: C, files: Vec<OpenFile>, depth: u32) -> Self {
        Self {
            clock,
            call,
            files,
            done: Vec::with_capacity(depth as usize),
        }
    }
}

impl<C: CarryOut> Target for Inline<C> {
    fn exchange(&mut self, place: usize, file: OpenFile) -> io::Result<OpenFile> {
        self.call.prepare(place, &file)?;
        Ok(std::mem::replace(&mut self.files[place], file))
    }

    #[inline]
    fn submit(&mut self, io: &Io) {
        let result = self.call.carry_out(io, &self.files);
        debug_assert!(
            i64::from(result) <= i64::from(io.len),
            "{result} bytes moved of {}",
            io.len
        );
        self.done.push(io.returned(result));
    }

    #[inline]
    fn wait(
        &mut self,
        _at_least: usize,
        until: Option<Nanos>,
        done: &mut Vec<Completion>,
    ) -> io::Result<()> {
        if self.done.is_empty() {
            sleep_until(self.now(), until);
        }
        // Instead of a copy. Completions that the caller had kept come back with the next call.
        std::mem::swap(&mut self.done, done);
        Ok(())
    }

    #[inline]
    fn now(&self) -> Nanos {
        self.clock.now()
    }
}
