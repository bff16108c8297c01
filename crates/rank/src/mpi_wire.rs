//! In: messages for other ranks. Out: the messages of other ranks, by MPI.
//!
//! The only place that knows MPI: a dozen of its calls, so that another library, or the common binary
//! interface that MPI 5 defines, can take its place. No call waits for another rank, except for the
//! body of a message whose head has come.

use std::process;

use crate::tools::Tools;
use anyhow::{Context, Result};
use blocklab_fleet::{Envelope, Kind, Wire, serve};
use mpi::point_to_point::MatchedReceiveVec;
use mpi::request::{Request, StaticScope};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Destination, Source};
use mpi::{Tag, Threading};

/// Initialises MPI and plays the part of this rank to its end.
///
/// # Errors
/// When MPI cannot be initialised, or this is rank 0 without a plan.
pub fn play(name: &str) -> Result<()> {
    // Threads measure, and only this one calls MPI. The level that MPI grants instead makes no
    // difference: a library for one thread works, too, as long as only one calls it.
    let (universe, _) = mpi::initialize_with_threading(Threading::Funneled)
        .context("MPI was initialised before")?;
    let mut wire = MpiWire {
        world: universe.world(),
        outgoing: Vec::new(),
    };
    let is_whole = serve(&mut wire, name, &Tools)?;
    if !is_whole {
        // To finalise would wait for ranks that are gone. The launcher ends all of them.
        leave();
    }
    // Finalises MPI, which waits for all ranks.
    drop(universe);
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "MPI would be finalised on every other way out, and wait for ranks that are gone"
)]
fn leave() -> ! {
    process::exit(1)
}

/// A message on its way.
struct Outgoing {
    request: Request<'static, [u8], StaticScope>,
    /// What MPI reads until the request is complete.
    bytes: *mut [u8],
}

struct MpiWire {
    world: SimpleCommunicator,
    outgoing: Vec<Outgoing>,
}

impl MpiWire {
    /// Frees the messages that have left.
    fn settle(&mut self) {
        for Outgoing { request, bytes } in std::mem::take(&mut self.outgoing) {
            match request.test() {
                // SAFETY: it was a box when it was sent, and MPI is done with it.
                Ok(_) => drop(unsafe { Box::from_raw(bytes) }),
                Err(request) => self.outgoing.push(Outgoing { request, bytes }),
            }
        }
    }
}

impl Wire for MpiWire {
    fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    fn size(&self) -> usize {
        self.world.size() as usize
    }

    fn send(&mut self, to: usize, kind: Kind, bytes: Vec<u8>) {
        let bytes = Box::into_raw(bytes.into_boxed_slice());
        // SAFETY: nothing else refers to the box, and it is freed only when the request is complete.
        let lent: &'static [u8] = unsafe { &*bytes };
        let process = self.world.process_at_rank(to as mpi::Rank);
        let request = process.immediate_send_with_tag(StaticScope, lent, tag(kind));
        self.outgoing.push(Outgoing { request, bytes });
    }

    fn receive(&mut self) -> Option<Envelope> {
        self.settle();
        let (message, status) = self.world.any_process().immediate_matched_probe()?;
        let (from, kind) = (status.source_rank() as usize, kind(status.tag()));
        let (bytes, _) = (message, status).matched_receive_vec::<u8>();
        Some(Envelope { from, kind, bytes })
    }

    fn is_idle(&mut self) -> bool {
        self.settle();
        self.outgoing.is_empty()
    }
}

impl Drop for MpiWire {
    /// What has not left by now never will, and MPI may still read it.
    fn drop(&mut self) {
        for outgoing in std::mem::take(&mut self.outgoing) {
            std::mem::forget(outgoing.request);
        }
    }
}

const fn tag(kind: Kind) -> Tag {
    match kind {
        Kind::Order => 1,
        Kind::Report => 2,
        Kind::Line => 3,
    }
}

const fn kind(tag: Tag) -> Kind {
    match tag {
        1 => Kind::Order,
        2 => Kind::Report,
        _ => Kind::Line,
    }
}
