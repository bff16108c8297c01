//! No trace crashes the reader, and what it reads is written and read again alike.
#![no_main]

use blocklab_fio::iolog::{Traced, parse, render};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(trace) = parse("trace.log", text) else {
        return;
    };
    let operations = trace.operations.iter().filter(|op| op.len > 0);
    let traced = operations.map(|op| Traced {
        at: op.at,
        file: &trace.files[op.target as usize],
        direction: op.direction,
        offset: op.offset,
        len: op.len,
    });
    parse("trace.log", &render(&trace.files, traced)).expect("our own trace is sound");
});
