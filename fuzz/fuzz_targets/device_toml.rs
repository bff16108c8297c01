//! No text crashes the reader of device files; what it reads is written so that it reads back as
//! the same device.
#![no_main]

use blocklab_catalog::device_file::{parse, render};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match parse(text) {
        Ok(spec) => {
            let written = render(&spec);
            assert_eq!(parse(&written), Ok(spec), "{written}");
        }
        Err(mistake) => {
            let _ = mistake.to_string();
        }
    }
});
