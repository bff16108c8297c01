//! No file crashes the importers, and what one imports can be kept and loaded again.
#![no_main]

use blocklab_catalog::import::read;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(why) = read(bytes) {
        assert!(!why.contains("cannot be kept"), "{why}");
    }
});
