//! `--crctest`, `--memcpytest`, `--cpuclock-test`: how fast this machine reckons and copies, and
//! whether its counter can be trusted.

mod copies;
mod counter;
mod hashes;
mod sums;

use std::time::{Duration, Instant};

use anyhow::Result;
use blocklab_fio::{General, Trial};

use blocklab_console::{status, terminal};

/// How long each thing is measured.
const SPAN: Duration = Duration::from_millis(200);

/// Does what was asked for. The exit code, or nothing where nothing was.
pub fn asked(general: &General) -> Result<Option<u8>> {
    Ok(match &general.trial {
        None => None,
        Some(Trial::Checksums(names)) => Some(sums::run(names)?),
        Some(Trial::Copies(names)) => Some(copies::run(names)?),
        Some(Trial::Counter) => Some(counter::run()?),
    })
}

/// Which of `known` the names ask for; nothing, and they are told, where it is none of them, or
/// their list is asked for.
fn chosen<'k>(names: &str, known: &[&'k str], kind: &str) -> Result<Option<Vec<&'k str>>> {
    if names.is_empty() {
        return Ok(Some(known.to_vec()));
    }
    let words: Vec<&str> = names.split(',').collect();
    let unknown = words.iter().find(|word| !known.contains(word));
    if unknown.is_none() {
        let named = known.iter().filter(|name| words.contains(name));
        return Ok(Some(named.copied().collect()));
    }
    if let Some(word) = unknown.filter(|word| **word != "list") {
        terminal::tell(&format!("fio: unknown {kind} `{word}`. Available:"));
    }
    terminal::print(known.join("\n") + "\n")?;
    Ok(None)
}

/// As fio ends where it only lists.
const LISTED: u8 = status::FAILED;

/// MiB a second, of calls that each go over `bytes`.
fn speed(bytes: usize, mut call: impl FnMut()) -> f64 {
    let begun = now();
    let mut calls = 0_u64;
    loop {
        // Looking at the clock costs as much as copying a few bytes.
        let often = (1 << 20) / bytes.max(1) + 1;
        (0..often).for_each(|_| call());
        calls += often as u64;
        let passed = begun.elapsed();
        if passed >= SPAN {
            return (calls * bytes as u64) as f64 / (1 << 20) as f64 / passed.as_secs_f64();
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "what is measured is this machine itself, not a load"
)]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 3] = ["md5", "crc7", "fnv"];

    #[test]
    fn names_choose_in_the_order_of_the_list() {
        let chosen = |names| chosen(names, &KNOWN, "hash").expect("it can print");
        assert_eq!(chosen(""), Some(KNOWN.to_vec()));
        assert_eq!(chosen("fnv,md5"), Some(vec!["md5", "fnv"]));
        assert_eq!(chosen("list"), None);
        assert_eq!(chosen("md5,bogus"), None);
    }
}
