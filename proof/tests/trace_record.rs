//! `trace record` of a device that a test loads with operations that it knows.

mod stand;

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use blocklab_proof::{Lab, good, json, send};
use stand::kernel::Loop;

/// Nothing beside the kernel reads or writes a loop device of our own but what probes new devices,
/// which reads its beginning and its end: so writes are counted, and reads from its middle.
#[test]
fn what_a_device_was_asked_to_do_is_in_the_trace() {
    let Some(disk) = Loop::attach(64 << 20, &[]) else {
        return;
    };
    let lab = Lab::new();
    let mut recording = lab.command();
    recording.args(["trace", "record", disk.path(), "--for", "10min"]);
    recording.args(["-o", "own.trace"]);
    recording.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut recording = recording.spawn().expect("it starts");
    let mut said = BufReader::new(recording.stderr.take().expect("a pipe"));
    let mut line = String::new();
    said.read_line(&mut line).expect("text");
    if line.contains("tracefs") && !line.starts_with("recording") {
        println!("skipped: {line}");
        recording.wait().expect("it ends");
        return;
    }
    assert!(line.starts_with("recording"), "{line}");
    dd(&[
        "if=/dev/zero",
        &format!("of={}", disk.path()),
        "bs=64k",
        "count=16",
        "seek=256",
        "oflag=direct",
    ]);
    dd(&[
        &format!("if={}", disk.path()),
        "of=/dev/null",
        "bs=4k",
        "count=100",
        "skip=8192",
        "iflag=direct",
    ]);
    send("INT", &recording.id().to_string());
    let ended = recording.wait().expect("it ends");
    let mut rest = String::new();
    said.read_to_string(&mut rest).expect("text");
    assert!(ended.success(), "{rest}");
    let shown = json(&good(
        lab.blocklab("trace show own.trace --json".split(' ')),
    ));
    let mix = |direction: &str| {
        let mut mixes = shown["directions"].as_array().expect("a list").iter();
        let found = mixes.find(|mix| mix["direction"] == direction);
        found
            .unwrap_or_else(|| panic!("{direction}: {shown}"))
            .clone()
    };
    let writes = mix("write");
    assert_eq!(writes["operations"], 16, "{shown}");
    assert_eq!(writes["bytes"], 1 << 20, "{shown}");
    assert_eq!(writes["sizes"]["p50_bytes"], 65_536, "{shown}");
    assert_eq!(shown["written_set_bytes"], 1 << 20, "{shown}");
    assert!(mix("read")["operations"].as_u64() >= Some(100), "{shown}");
    assert!(
        shown["end_bytes"].as_u64() >= Some((8192 + 100) * 4096),
        "{shown}"
    );
    let flight = &shown["in_flight"];
    assert_eq!(
        flight["known_percent"], 100.0,
        "every completion is there: {shown}"
    );
}

/// The story: a recording that filled its disk ended in "error: No space left on device", which did
/// not say where.
#[test]
fn a_full_disk_is_named() {
    let Some(disk) = Loop::attach(1 << 20, &[]) else {
        return;
    };
    let line = ["--for", "10ms", "-o", "/dev/full"];
    let ran = Lab::new().blocklab(["trace", "record", disk.path()].into_iter().chain(line));
    if ran.err.contains("tracefs") {
        println!("skipped: {}", ran.err);
        return;
    }
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    let words = [
        "the recording broke off",
        "/dev/full",
        "No space left on device",
    ];
    assert!(
        words.iter().all(|word| ran.err.contains(word)),
        "{}",
        ran.err
    );
}

/// The story: a recording that found no more room removed all of what it had recorded before.
#[test]
fn what_came_before_a_recording_broke_off_is_kept() {
    let Some(disk) = Loop::attach(64 << 20, &[]) else {
        return;
    };
    let (lab, disk) = (Lab::new(), disk.path());
    // Room for 160 KiB, and operations until that is full.
    let ran = lab.shell(&format!(
        "(ulimit -f 320; blocklab trace record {disk} --for 10min -o own.trace; echo > ended) &\n\
         while [ ! -e ended ]; do dd if={disk} of=/dev/null bs=512 count=20000 iflag=direct; done"
    ));
    if ran.err.contains("tracefs") {
        println!("skipped: {}", ran.err);
        return;
    }
    let words = "the recording broke off, and own.trace has what was written until then";
    assert!(ran.err.contains(words), "{}", ran.err);
    let shown = json(&good(
        lab.blocklab("trace show own.trace --json".split(' ')),
    ));
    assert!(shown["operations"].as_u64() >= Some(32_768), "{shown}");
    assert!(shown["remarks"].to_string().contains("cut off"), "{shown}");
}

/// The story: `-o -`, which prints to other commands, made a file called `-`.
#[test]
fn a_recording_is_not_printed() {
    let line = ["trace", "record", "/dev/sda", "-o", "-"];
    Lab::new().refused(line, &["goes to a file"]);
}

fn dd(words: &[&str]) {
    let output = Command::new("dd").args(words).output().expect("dd starts");
    assert!(output.status.success(), "{words:?}: {output:?}");
}
