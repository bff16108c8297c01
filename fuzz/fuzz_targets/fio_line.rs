//! Tells cargo-fuzz what to call; what must hold stands in `proof/src/fuzz.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| blocklab_proof::fuzz::fio_line(bytes));
