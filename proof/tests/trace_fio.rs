//! Traces of Debian's fio read here, and traces of ours replayed by fio: the same operations.

use blocklab_proof::{Lab, fio, fio_is_there, good, json};
use serde_json::Value;

/// Operations and bytes of reads, writes and trims, and the number of flushes.
#[derive(Debug, PartialEq, Eq)]
struct Counted {
    reads: (u64, u64),
    writes: (u64, u64),
    trims: (u64, u64),
    flushes: u64,
}

/// What fio counted in its only job.
fn counted_by_fio(output: &str) -> Counted {
    // Messages may come before the object.
    let start = output.find('{').expect("an object");
    let whole = json(&output[start..]);
    let job = &whole["jobs"][0];
    let number = |of: &Value| of.as_u64().expect("a number");
    let side = |side: &str| {
        (
            number(&job[side]["total_ios"]),
            number(&job[side]["io_bytes"]),
        )
    };
    Counted {
        reads: side("read"),
        writes: side("write"),
        trims: side("trim"),
        flushes: number(&job["sync"]["total_ios"]),
    }
}

/// What `trace show` counted.
fn counted_by_us(lab: &Lab, file: &str) -> Counted {
    let shown = json(&good(lab.blocklab([
        "trace",
        "show",
        file,
        "--no-reuse",
        "--json",
    ])));
    let side = |name: &str| {
        let mut mixes = shown["directions"].as_array().expect("a list").iter();
        let found = mixes.find(|mix| mix["direction"] == name);
        found.map_or((0, 0), |mix| {
            let number = |field: &str| mix[field].as_u64().expect("a number");
            (number("operations"), number("bytes"))
        })
    };
    Counted {
        reads: side("read"),
        writes: side("write"),
        trims: side("trim"),
        flushes: side("sync").0,
    }
}

#[test]
fn what_fio_did_is_read_to_the_operation() {
    if !fio_is_there() {
        return;
    }
    let lab = Lab::new();
    let line = "--name=a --filename=disk --size=4m --rw=randrw --bsrange=4k-64k --ioengine=psync \
                --fsync=16 --write_iolog=log --output-format=json";
    let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
    let theirs = counted_by_fio(&fio(&lab, &words));
    assert!(theirs.reads.0 > 20 && theirs.flushes > 0, "{theirs:?}");
    assert_eq!(counted_by_us(&lab, "log"), theirs);
    good(lab.blocklab(["trace", "import", "log", "-o", "own.trace", "--json"]));
    assert_eq!(counted_by_us(&lab, "own.trace"), theirs);
}

/// A trace of the own format goes through fio's language, whose `write_iolog` makes fio's format of it.
#[test]
fn fio_replays_what_we_write() {
    if !fio_is_there() {
        return;
    }
    let lab = Lab::new();
    let mut table = String::new();
    for index in 0..200_u64 {
        let op = if index % 3 == 0 { "R" } else { "W" };
        let (offset, bytes) = (index * 7919 % 900 * 4096, 4096 * (1 + index % 4));
        table.push_str(&format!("{},{op},{offset},{bytes}\n", index * 100));
    }
    lab.write("made.csv", table);
    let columns = "time=1:us,op=2,offset=3,length=4";
    let words = ["trace", "import", "made.csv", "--columns", columns];
    good(lab.blocklab(words.into_iter().chain(["-o", "own.trace", "--json"])));
    let ours = counted_by_us(&lab, "own.trace");
    assert_eq!(ours.reads.0 + ours.writes.0, 200);
    lab.write("disk", vec![0; 4 << 20]);
    let words = ["fio", "--name=a", "--read_iolog=own.trace"];
    let more = [
        "--replay_redirect=disk",
        "--write_iolog=log",
        "--ioengine=psync",
    ];
    let said = lab.blocklab(words.into_iter().chain(more));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(counted_by_us(&lab, "log"), ours);
    let line = "--name=b --read_iolog=log --ioengine=psync --output-format=json";
    let words: Vec<&str> = line.split(' ').collect();
    assert_eq!(counted_by_fio(&fio(&lab, &words)), ours);
}
