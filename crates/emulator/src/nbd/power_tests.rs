//! A power cut under a client: what was acknowledged and flushed, or forced, is there; of anything
//! else each sector is old or new, and nothing a third thing.

use std::collections::HashMap;

use blocklab_random::Stream;
use blocklab_units::SECTOR;
use proptest::prelude::*;

use super::numbers::{command, command_flag as flag};
use super::tests::Client;
use crate::Loss;

/// Two groups of pages and so two locks, in the middle of which requests begin.
const FIRST: u64 = (1 << 20) - 16 * SECTOR;
const SECTORS: u64 = 32;

/// What the sectors may hold after a cut: the last durable value, and what was sent since.
struct Expected {
    may: Vec<Vec<u64>>,
    /// Cookies of requests without a reply: what it means when one succeeds.
    sent: HashMap<u64, Meaning>,
    made: u64,
}

enum Meaning {
    Nothing,
    /// Forced: this value and later ones only, at these sectors.
    Forced(std::ops::Range<u64>, u64),
    /// All that had been sent before, on one connection: the last value of each sector.
    Flush(Vec<u64>),
}

impl Expected {
    fn new() -> Self {
        Self {
            may: vec![vec![0]; SECTORS as usize],
            sent: HashMap::new(),
            made: 0,
        }
    }

    /// Older values than this one are no longer possible.
    fn settle(&mut self, sector: u64, value: u64) {
        let may = &mut self.may[sector as usize];
        let at = may.iter().position(|possible| *possible == value);
        may.drain(..at.unwrap_or(0));
    }

    fn answered(&mut self, cookie: u64) {
        match self.sent.remove(&cookie).expect("sent") {
            Meaning::Nothing => {}
            Meaning::Forced(sectors, value) => {
                for sector in sectors {
                    self.settle(sector, value);
                }
            }
            Meaning::Flush(values) => {
                for (sector, value) in (0..).zip(values) {
                    self.settle(sector, value);
                }
            }
        }
    }
}

fn sector(value: u64) -> Vec<u8> {
    value.to_be_bytes().repeat(SECTOR as usize / 8)
}

/// Sends one request, drawn by chance.
fn send(client: &mut Client, expected: &mut Expected, chance: &mut Stream) {
    expected.made += 1;
    let cookie = expected.made;
    if chance.below(6) == 0 {
        let now = expected.may.iter().map(|may| may[may.len() - 1]).collect();
        expected.sent.insert(cookie, Meaning::Flush(now));
        client.ask(command::FLUSH, 0, cookie, 0, 0);
        return;
    }
    let from = chance.below(SECTORS);
    let sectors = from..(from + 1 + chance.below(12)).min(SECTORS);
    let forced = chance.below(5) == 0;
    let zeroes = chance.below(5) == 0;
    let value = if zeroes { 0 } else { cookie };
    for sector in sectors.clone() {
        expected.may[sector as usize].push(value);
    }
    let meaning = match (forced, zeroes) {
        // Zeros cannot be told apart, so they are no value.
        (true, false) => Meaning::Forced(sectors.clone(), value),
        _ => Meaning::Nothing,
    };
    expected.sent.insert(cookie, meaning);
    let flags = if forced { flag::FUA } else { 0 };
    let len = (sectors.end - sectors.start) * SECTOR;
    let at = FIRST + sectors.start * SECTOR;
    let command = if zeroes {
        command::WRITE_ZEROES
    } else {
        command::WRITE
    };
    client.ask(command, flags, cookie, at, len as u32);
    if !zeroes {
        client.put(&sector(value).repeat((len / SECTOR) as usize));
    }
}

/// Receives the replies of all requests on their way, and notes what those that succeed mean.
fn receive_all(client: &mut Client, expected: &mut Expected) {
    while !expected.sent.is_empty() {
        match client.reply() {
            (cookie, 0) => expected.answered(cookie),
            (cookie, error) => {
                assert_eq!(error, 108, "gone");
                expected.sent.remove(&cookie);
            }
        }
    }
}

/// Sends requests, cuts the power in the midst of some, and checks what is there: five times over.
fn history(seed: u64, loss: Loss) {
    let mut chance = Stream::new(seed, "history", 0);
    let mut client = Client::entered();
    let mut expected = Expected::new();
    for round in 0..5 {
        for _ in 0..chance.below(8) {
            for _ in 0..=chance.below(6) {
                send(&mut client, &mut expected, &mut chance);
            }
            receive_all(&mut client, &mut expected);
        }
        for _ in 0..chance.below(6) {
            send(&mut client, &mut expected, &mut chance);
        }
        client
            .volume
            .cut_power(loss, seed + round)
            .1
            .expect("in memory");
        receive_all(&mut client, &mut expected);
        client.volume.attach();
        client.ask(command::READ, 0, 0, FIRST, (SECTORS * SECTOR) as u32);
        assert_eq!(client.reply(), (0, 0));
        let bytes = client.get((SECTORS * SECTOR) as usize);
        let found = bytes.chunks(SECTOR as usize);
        for (found, may) in found.zip(&mut expected.may) {
            let value = u64::from_be_bytes(*found.first_chunk().expect("a sector"));
            assert!(found == sector(value), "a sector is whole");
            assert!(
                may.contains(&value),
                "{value} is none of {may:?}, seed {seed}"
            );
            *may = vec![value];
        }
        // Only what may have changed something counts as sent from here on.
        client.ask(command::FLUSH, 0, 0, 0, 0);
        assert_eq!(client.reply(), (0, 0));
    }
    client.leave().expect("a sound client");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_was_flushed_survives_a_power_cut(seed in any::<u32>(), torn in any::<bool>()) {
        history(seed.into(), if torn { Loss::Torn } else { Loss::All });
    }
}
