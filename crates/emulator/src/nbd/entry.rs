//! The handshake on a socket, in clear text and then by TLS if it is required, all of it before one
//! deadline.

use std::io;

use blocklab_units::Nanos;

use super::handshake::{Handshake, Privacy, Session, Step, greeting};
use super::input::{Input, Received};
use super::outbox::Outbox;
use super::service::Service;
use super::wire::Wire;
use crate::wait::{Interest, Waiter};

/// Runs until the client has chosen an export; `None`: the connection ends. `entered` is called when
/// it has chosen.
pub(super) fn handshake_on(
    service: &Service,
    wire: &mut Wire<'_>,
    input: &mut Input,
    outbox: &mut Outbox,
    entered: &dyn Fn(),
) -> io::Result<Option<Session>> {
    let volume = &service.volumes[0];
    let clock = volume.clock();
    let until = clock.now() + service.limits.handshake;
    let mut waiter = Waiter::new()?;
    let privacy = match service.tls {
        None => Privacy::Never,
        Some(_) => Privacy::Required,
    };
    let mut handshake = Handshake::new(&service.exports, privacy);
    outbox.bytes().extend_from_slice(&greeting());
    let mut phase = Phase::Options;
    loop {
        if phase == Phase::Options {
            phase = negotiate(&mut handshake, input, outbox, entered);
        }
        outbox.send(wire, volume)?;
        // A phase ends when its answers are sent: the one that lets TLS begin must go out unencrypted.
        if outbox.is_empty() {
            match (phase, &service.tls) {
                (Phase::Options, _) => {}
                (Phase::StartTls, Some(tls)) => {
                    wire.encrypt(tls)?;
                    phase = Phase::Options;
                }
                (Phase::Enter(session), _) => return Ok(Some(session)),
                (Phase::Close | Phase::StartTls, _) => return Ok(None),
            }
        }
        let left = until.since(clock.now());
        if left == Nanos::ZERO {
            return Ok(None);
        }
        let interest = Interest {
            read: phase == Phase::Options && outbox.has_room(),
            write: !outbox.is_empty(),
        };
        // Bytes that TLS has decrypted and not yet handed out do not make the socket readable.
        let held = interest.read && wire.holds_some();
        let ready = held
            || waiter
                .wait(wire.socket(), interest, Some(left.into()))?
                .read;
        if interest.read && ready && input.receive(wire, false)? == Received::End {
            return Ok(None);
        }
    }
}

/// Answers the options that have come, as far as there is room for the replies.
fn negotiate(
    handshake: &mut Handshake<'_>,
    input: &mut Input,
    outbox: &mut Outbox,
    entered: &dyn Fn(),
) -> Phase {
    while outbox.has_room() {
        match handshake.step(input.unused(), outbox.bytes()) {
            Step::More => break,
            Step::Used(used) => input.use_up(used),
            Step::StartTls(used) => {
                input.use_up(used);
                // A client waits for the answer before it sends more. Bytes that follow in clear
                // text were injected by somebody on the way.
                return if input.is_empty() {
                    Phase::StartTls
                } else {
                    Phase::Close
                };
            }
            Step::Enter(used, session) => {
                input.use_up(used);
                // Before the client gets its reply: from then on no other client takes its place.
                entered();
                return Phase::Enter(session);
            }
            Step::Close => return Phase::Close,
        }
    }
    Phase::Options
}

/// What follows when the replies are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Another option of the client.
    Options,
    /// TLS begins.
    StartTls,
    /// Requests follow.
    Enter(Session),
    /// The connection ends.
    Close,
}
