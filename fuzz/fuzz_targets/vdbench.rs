//! Any text as a parameter file, any words as arguments: no panic, and what is accepted can be
//! told as a simulation.
#![no_main]

use std::io;
use std::path::Path;

use blocklab_vdbench::{command, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (line, file) = text.split_once('\n').unwrap_or(("", text));
    let mut words: Vec<String> = vec!["-f".to_owned(), "p".to_owned()];
    words.extend(line.split_whitespace().map(str::to_owned));
    let read = |path: &Path| match path.to_str() {
        Some("p") => Ok(file.to_owned()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    if let Ok(command) = command(&words)
        && let Ok(script) = parse(&command, &read, &|_| false)
    {
        for run in script.runs.iter().take(1000) {
            assert!(run.simulated().starts_with("Simulating RD="));
        }
    }
});
