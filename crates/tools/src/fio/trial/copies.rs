//! `--memcpytest`: the speed of copying, by size and by way.

use std::hint::black_box;
use std::ptr;

use anyhow::Result;

use super::{LISTED, chosen, speed};
use blocklab_console::{status, terminal};

const SIZES: [usize; 11] = [
    8, 16, 96, 128, 256, 512, 2048, 8192, 131_072, 262_144, 524_288,
];

type Copy = fn(&mut [u8], &[u8]);

const WAYS: [(&str, Copy); 4] = [
    ("memcpy", |to, from| to.copy_from_slice(from)),
    ("memmove", moved),
    ("simple", simple),
    ("hybrid", hybrid),
];

pub(super) fn run(names: &str) -> Result<u8> {
    let known = WAYS.map(|(name, _)| name);
    let Some(chosen) = chosen(names, &known, "memcpy type")? else {
        return Ok(LISTED);
    };
    let from: Vec<u8> = (0..SIZES[SIZES.len() - 1]).map(|n| n as u8).collect();
    let mut to = vec![0; from.len()];
    for (name, copy) in WAYS.iter().filter(|(name, _)| chosen.contains(name)) {
        terminal::print(format!("{name}\n"))?;
        for size in SIZES {
            let mib = speed(size, || {
                copy(black_box(&mut to[..size]), black_box(&from[..size]));
            });
            terminal::print(format!("\t{size} bytes:\t{mib:8.2} MiB/sec\n"))?;
        }
    }
    Ok(status::DONE)
}

/// As where the two might overlap.
fn moved(to: &mut [u8], from: &[u8]) {
    let count = to.len().min(from.len());
    // SAFETY: both are at least `count` bytes long.
    unsafe { ptr::copy(from.as_ptr(), to.as_mut_ptr(), count) };
}

/// Byte by byte.
fn simple(to: &mut [u8], from: &[u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        // SAFETY: it is a byte of a slice. Volatile, for the compiler would make a memcpy of this.
        unsafe { ptr::write_volatile(to, *from) };
    }
}

/// Eight bytes at a time, and the rest byte by byte.
fn hybrid(to: &mut [u8], from: &[u8]) {
    let ((to, to_rest), (from, from_rest)) = (to.as_chunks_mut::<8>(), from.as_chunks::<8>());
    for (to, from) in to.iter_mut().zip(from) {
        // SAFETY: eight bytes have no padding and any value. Volatile, as above.
        unsafe { ptr::write_volatile(to, *from) };
    }
    simple(to_rest, from_rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_copies() {
        let from: Vec<u8> = (0..203).collect();
        for (name, copy) in WAYS {
            for size in [0, 1, 7, 8, 9, 203] {
                let mut to = vec![0xff; 203];
                copy(&mut to[..size], &from[..size]);
                assert_eq!(to[..size], from[..size], "{name} {size}");
                assert!(to[size..].iter().all(|byte| *byte == 0xff), "{name} {size}");
            }
        }
    }
}
