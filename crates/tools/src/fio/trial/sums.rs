//! `--crctest`: the speed of the checksums.

use std::hint::black_box;

use anyhow::Result;
use blocklab_workload::Checksum;

use super::hashes::{fnv, jenkins, murmur3};
use super::{LISTED, chosen, speed};
use blocklab_console::{status, terminal};

/// Bytes over which each call goes, as with fio.
const CHUNK: usize = 128 << 10;

type Sum = fn(&[u8]);

fn sealed(checksum: Checksum, bytes: &[u8]) {
    black_box(checksum.of(&[bytes]));
}

fn hashed(hash: u64) {
    black_box(hash);
}

const SUMS: [(&str, Sum); 17] = [
    ("md5", |bytes| sealed(Checksum::Md5, bytes)),
    ("crc64", |bytes| sealed(Checksum::Crc64, bytes)),
    ("crc32", |bytes| sealed(Checksum::Crc32, bytes)),
    ("crc32c", |bytes| sealed(Checksum::Crc32c, bytes)),
    ("crc16", |bytes| sealed(Checksum::Crc16, bytes)),
    ("crc7", |bytes| sealed(Checksum::Crc7, bytes)),
    ("sha1", |bytes| sealed(Checksum::Sha1, bytes)),
    ("sha256", |bytes| sealed(Checksum::Sha256, bytes)),
    ("sha512", |bytes| sealed(Checksum::Sha512, bytes)),
    ("xxhash", |bytes| sealed(Checksum::Xxhash, bytes)),
    ("murmur3", |bytes| hashed(murmur3(bytes, 0x8989).into())),
    ("jhash", |bytes| hashed(jenkins(bytes, 0x8989).into())),
    ("fnv", |bytes| hashed(fnv(bytes))),
    ("sha3-224", |bytes| sealed(Checksum::Sha3_224, bytes)),
    ("sha3-256", |bytes| sealed(Checksum::Sha3_256, bytes)),
    ("sha3-384", |bytes| sealed(Checksum::Sha3_384, bytes)),
    ("sha3-512", |bytes| sealed(Checksum::Sha3_512, bytes)),
];

pub(super) fn run(names: &str) -> Result<u8> {
    let known = SUMS.map(|(name, _)| name);
    let Some(chosen) = chosen(names, &known, "hash")? else {
        return Ok(LISTED);
    };
    // Every byte is another one than its neighbours.
    let bytes: Vec<u8> = (0..CHUNK as u32).map(|n| ((n * 167) >> 3) as u8).collect();
    for (name, sum) in SUMS.iter().filter(|(name, _)| chosen.contains(name)) {
        let mib = speed(CHUNK, || sum(black_box(&bytes)));
        terminal::print(line(name, mib))?;
    }
    Ok(status::DONE)
}

/// The speeds stand below each other.
fn line(name: &str, mib: f64) -> String {
    let tabs = if name.len() < 7 { "\t\t" } else { "\t" };
    format!("{name}:{tabs}{mib:8.2} MiB/sec\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_fio() {
        assert_eq!(line("md5", 154.28), "md5:\t\t  154.28 MiB/sec\n");
        assert_eq!(line("murmur3", 1080.1), "murmur3:\t 1080.10 MiB/sec\n");
    }
}
