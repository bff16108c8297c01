//! Parsers of foreign bytes on mutations of real texts: none panics, and what is accepted holds
//! what `blocklab_proof::fuzz` asserts. The inputs are the same in every run.

use std::collections::BTreeSet;
use std::fs;

use blocklab_proof::fuzz::corpus::corpus;
use blocklab_proof::fuzz::hunt::hunt;
use blocklab_proof::fuzz::{TARGETS, Target};
use blocklab_proof::root;

/// Mutations of each target.
const MUTATIONS: u32 = 400;

#[track_caller]
fn check(name: &str, target: Target) {
    if let Some(input) = hunt(name, target, &corpus(name), MUTATIONS) {
        let shown = String::from_utf8_lossy(&input);
        panic!(
            "{name} panics on {} bytes:\n{shown}\n{input:?}",
            input.len()
        );
    }
}

/// A test each, so that they run side by side.
macro_rules! hunts {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            check(stringify!($name), blocklab_proof::fuzz::$name);
        })*

        const HUNTED: &[&str] = &[$(stringify!($name)),*];
    };
}

hunts! {
    address catalog device_toml diskspd fio_blktrace fio_iolog fio_job fio_line fio_log fio_state
    import journal native nbd need record results signatures spool trace_biosnoop trace_blkparse
    trace_own trace_perf trace_rates trace_table trace_vscsi trace_xperf vdbench words
}

/// A parser without a hunt, or a shell that calls another function, would never be noticed.
#[test]
fn every_target_is_hunted_and_has_its_shell() {
    let named: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    assert_eq!(named, HUNTED);
    let folder = root().join("fuzz/fuzz_targets");
    let files = fs::read_dir(&folder).expect("a folder").flatten();
    let shells: BTreeSet<String> = files
        .map(|file| file.file_name().to_string_lossy().into_owned())
        .collect();
    let wanted: BTreeSet<String> = named.iter().map(|name| format!("{name}.rs")).collect();
    assert_eq!(shells, wanted);
    let guide = fs::read_to_string(root().join("fuzz/README.md")).expect("a guide");
    for name in named {
        assert!(
            guide.contains(&format!("`{name}`")),
            "README.md lacks {name}"
        );
        let shell = fs::read_to_string(folder.join(format!("{name}.rs"))).expect("a shell");
        let call = format!("blocklab_proof::fuzz::{name}(bytes)");
        assert!(shell.contains(&call), "{name}: {shell}");
    }
}

/// A parser that takes a number of more than 32 bits for a length, and one that fails on a byte
/// that no text holds.
fn canary_of_numbers(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let numbers = text.lines().filter_map(|line| line.split_once("size="));
    for (_, number) in numbers {
        let length = number.parse::<u64>().unwrap_or(0);
        assert!(u32::try_from(length).is_ok(), "planted");
    }
}

fn canary_of_bytes(bytes: &[u8]) {
    let opens = bytes.starts_with(b"MAP");
    assert!(!opens || bytes.get(3) != Some(&0xff), "planted");
}

/// The hunt itself: with the means by which the parsers are tried, it finds what was planted. It
/// finds nothing where nothing is.
#[test]
fn a_planted_flaw_is_found() {
    let job = b"[job]\nname=a\nsize=4096\nrw=read\n".to_vec();
    let map = b"MAP\x01\0\0\0\x02rest of a map".to_vec();
    let found = hunt(
        "numbers",
        canary_of_numbers,
        std::slice::from_ref(&job),
        MUTATIONS,
    );
    assert!(found.is_some(), "a number beyond 32 bits");
    let found = hunt(
        "bytes",
        canary_of_bytes,
        std::slice::from_ref(&map),
        MUTATIONS,
    );
    assert!(found.is_some(), "a byte of 255 in the fourth place");
    assert_eq!(hunt("nothing", |_| (), &[job, map], MUTATIONS), None);
}
