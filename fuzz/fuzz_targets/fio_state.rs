//! No state file crashes the reader, and what it reads is written and read again alike.
#![no_main]

use blocklab_fio::State;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(state) = State::decode(bytes) {
        assert_eq!(State::decode(&state.encode()), Ok(state));
    }
});
