//! No binary trace crashes the reader, and each operation is on a file that it names.
#![no_main]

use blocklab_fio::blktrace::parse;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(trace) = parse(bytes, &|major, minor| format!("/dev/{major}-{minor}")) {
        let named = |target: u32| (target as usize) < trace.files.len();
        assert!(trace.operations.iter().all(|operation| named(operation.target)));
        assert!(trace.operations.is_sorted_by_key(|operation| operation.at));
    }
});
