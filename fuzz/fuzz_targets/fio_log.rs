//! No compressed log crashes the reader, and what it prints before a mistake ends with a whole line.
#![no_main]

use blocklab_fio::inflate;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut text = Vec::new();
    // Whether it could be read is the reader's to say.
    let _ = inflate(bytes, &mut text);
    assert!(text.is_empty() || text.ends_with(b"\n"));
});
