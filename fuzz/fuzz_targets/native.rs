//! Any text: the parser of the native format never panics, an error lies within the text, and
//! what parses is the same after it was written and read again.
#![no_main]

use blocklab_native::{parse, render};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match parse(text, "fuzz.toml") {
        Err(error) => {
            assert!(error.line() <= text.split('\n').count(), "{error}");
            assert!(!error.to_string().is_empty());
        }
        Ok(parsed) => {
            let written = render(&parsed.plan);
            let again = parse(&written, "written.toml").unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(again.plan, parsed.plan, "{written}");
        }
    }
});
