//! Any bytes as the map and the journal of a validated storage: no panic, and what is accepted
//! names only blocks that there are.
#![no_main]

use blocklab_workload::SavedKeys;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|files: (&[u8], &[u8])| {
    let (map, journal) = files;
    if let Ok(mut saved) = SavedKeys::from_bytes(map)
        && let Ok(pending) = saved.replay(journal)
    {
        assert!(pending.keys().all(|block| *block < saved.keys.len()));
    }
});
