//! Any image: looking for marks never panics, never asks for bytes beyond the end, and finds marks
//! within the image only.
#![no_main]

use blocklab_host::signatures::{probe, probe_bytes};
use libfuzzer_sys::fuzz_target;

/// Disks are far larger than what a fuzzer makes: its bytes stand at both ends of one.
const LARGE: u64 = 1 << 40;

fuzz_target!(|image: &[u8]| {
    let length = image.len() as u64;
    let found = probe_bytes(image);
    assert!(found.iter().all(|mark| mark.offset < length), "{found:?}");

    let read = |offset: u64, buffer: &mut [u8]| {
        assert!(offset + buffer.len() as u64 <= LARGE);
        buffer.fill(0);
        lay_over(buffer, offset, image, 0);
        lay_over(buffer, offset, image, LARGE - length);
        Ok(())
    };
    let found = probe(read, LARGE).expect("every byte can be read");
    assert!(found.iter().all(|mark| mark.offset < LARGE), "{found:?}");
});

/// Copies what `image`, which stands at `place`, has of the bytes from `offset` on.
fn lay_over(buffer: &mut [u8], offset: u64, image: &[u8], place: u64) {
    let from = offset.max(place);
    let to = (offset + buffer.len() as u64).min(place + image.len() as u64);
    if from < to {
        let range = |start| (from - start) as usize..(to - start) as usize;
        buffer[range(offset)].copy_from_slice(&image[range(place)]);
    }
}
