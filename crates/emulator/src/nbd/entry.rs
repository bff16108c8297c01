//! How a client comes in: the handshake on a socket, in the clear and then by TLS where it is asked
//! for, all of it before one deadline.

use std::io;

use blocklab_units::Nanos;

use super::handshake::{Handshake, Privacy, Session, Step, greeting};
use super::input::{Input, Received};
use super::outbox::Outbox;
use super::service::Service;
use super::wire::Wire;
use crate::wait::{Bell, Interest, wait};

/// Until the client has chosen; `None`: it goes, or has to. `entered` is called when it has.
pub(super) fn shake_hands(
    service: &Service,
    wire: &mut Wire<'_>,
    input: &mut Input,
    outbox: &mut Outbox,
    entered: &dyn Fn(),
) -> io::Result<Option<Session>> {
    let volume = &service.volumes[0];
    let clock = volume.clock();
    let until = clock.now() + service.limits.handshake;
    let bell = Bell::new()?;
    let privacy = match service.tls {
        None => Privacy::Never,
        Some(_) => Privacy::Required,
    };
    let mut handshake = Handshake::new(&service.exports, privacy);
    outbox.bytes().extend_from_slice(&greeting());
    let mut turn = Turn::Talks;
    loop {
        while turn == Turn::Talks && outbox.has_room() {
            match handshake.step(input.unused(), outbox.bytes()) {
                Step::More => break,
                Step::Used(used) => input.use_up(used),
                Step::StartTls(used) => {
                    input.use_up(used);
                    // What follows in the clear was not sent by a client that waits for the
                    // answer: somebody on the way wants it to count as the client's.
                    turn = match input.is_empty() {
                        true => Turn::Encrypts,
                        false => Turn::Closes,
                    };
                }
                Step::Enter(used, session) => {
                    input.use_up(used);
                    // Before the client hears of it: from then on it is no dallier.
                    entered();
                    turn = Turn::Enters(session);
                }
                Step::Close => turn = Turn::Closes,
            }
        }
        outbox.send(wire, volume)?;
        if outbox.is_empty() {
            match (turn, &service.tls) {
                (Turn::Talks, _) => {}
                (Turn::Encrypts, Some(tls)) => {
                    wire.encrypt(tls)?;
                    turn = Turn::Talks;
                }
                (Turn::Enters(session), _) => return Ok(Some(session)),
                (Turn::Closes | Turn::Encrypts, _) => return Ok(None),
            }
        }
        let left = until.since(clock.now());
        if left == Nanos::ZERO {
            return Ok(None);
        }
        let interest = Interest {
            read: turn == Turn::Talks && outbox.has_room(),
            write: !outbox.is_empty(),
        };
        let held = interest.read && wire.holds_some();
        let ready = held || wait(wire.socket(), interest, &bell, Some(left.into()))?.read;
        if interest.read && ready && input.receive(wire, false)? == Received::End {
            return Ok(None);
        }
    }
}

/// Whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// The client's, with another option.
    Talks,
    /// When the answer is sent, TLS begins.
    Encrypts,
    /// When the answer is sent, requests follow.
    Enters(Session),
    /// When the answer is sent, the connection ends.
    Closes,
}
