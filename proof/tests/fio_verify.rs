//! What either of blocklab and Debian's fio wrote for verification, the other one checks; and a
//! damaged byte is found by both.

use std::fs;
use std::process::Command;

use blocklab_proof::{Lab, fio_is_there};

/// Digests that both hold in the same form, and the header alone.
const BOTH: [&str; 13] = [
    "crc32c", "crc32", "crc16", "crc7", "crc64", "md5", "sha1", "sha3-224", "sha3-256", "sha3-384",
    "sha3-512", "xxhash", "meta",
];

/// Ways to lay out headers.
const WAYS: [&[&str]; 3] = [
    &["--verify_pattern=0xaabb"],
    &["--verify_interval=1k"],
    &["--verify_offset=256"],
];

/// Without `verify`, a pattern has a header before it.
const NONE: &str = "no digest";

#[derive(Clone, Copy, PartialEq, Debug)]
enum Who {
    Fio,
    Ours,
}

impl Who {
    fn ends(self, lab: &Lab, words: &[&str], kind: &str, way: &[&str]) -> bool {
        let mut command = match self {
            Self::Fio => {
                let mut command = Command::new("fio");
                command.current_dir(lab.path());
                command
            }
            Self::Ours => {
                let mut command = lab.command();
                command.args(["fio", "--no-save"]);
                command
            }
        };
        command.args(["--name=a", "--filename=f", "--size=64k", "--bs=4k"]);
        if kind != NONE {
            command.arg(format!("--verify={kind}"));
        }
        command.args(way).args(words);
        command.output().expect("it starts").status.success()
    }
}

#[track_caller]
fn check(writer: Who, reader: Who, kind: &str, way: &[&str]) {
    let lab = Lab::new();
    let at = format!("{kind} {way:?}: written by {writer:?}, read by {reader:?}");
    let write = ["--rw=write", "--do_verify=0"];
    assert!(writer.ends(&lab, &write, kind, way), "{at}");
    assert!(reader.ends(&lab, &["--rw=read"], kind, way), "{at}");
    let again = ["--rw=write", "--verify_only"];
    assert!(reader.ends(&lab, &again, kind, way), "{at}, again");
    let path = lab.path().join("f");
    let mut bytes = fs::read(&path).expect("it was written");
    // Of a header, or behind it, as the kind can see it.
    let damaged = if kind == "meta" { 16_384 + 4 } else { 20_000 };
    bytes[damaged] ^= 1;
    fs::write(&path, bytes).expect("it can be written");
    assert!(
        !reader.ends(&lab, &["--rw=read"], kind, way),
        "{at}, damaged"
    );
}

/// Every kind of digest, and every way with one of them.
fn all(writer: Who, reader: Who) {
    for kind in BOTH {
        check(writer, reader, kind, &[]);
    }
    for way in WAYS {
        check(writer, reader, "crc32c", way);
    }
    check(writer, reader, NONE, &["--verify_pattern=0xaabb"]);
    // In each interval blocklab had another offset, and the pattern from its begin.
    let way = ["--verify_pattern=\"a\"%o", "--verify_interval=1k"];
    check(writer, reader, NONE, &way);
}

#[test]
fn blocklab_checks_what_fio_wrote() {
    if fio_is_there() {
        let _ = Lab::new().blocklab(["--version"]);
        all(Who::Fio, Who::Ours);
    }
}

#[test]
fn fio_checks_what_blocklab_wrote() {
    if fio_is_there() {
        let _ = Lab::new().blocklab(["--version"]);
        all(Who::Ours, Who::Fio);
    }
}

/// Jobs with other names, in one command line and in two, read back what one wrote; where places
/// are drawn freely, the second command must draw the same.
#[test]
fn what_another_job_wrote_is_read_back_by_its_place() {
    let whos = if fio_is_there() {
        vec![Who::Ours, Who::Fio]
    } else {
        vec![Who::Ours]
    };
    for who in whos {
        let lab = Lab::new();
        let both = [
            "--rw=randwrite",
            "--name=b",
            "--filename=f",
            "--size=64k",
            "--stonewall",
            "--verify=md5",
            "--rw=randwrite",
            "--verify_only",
        ];
        assert!(who.ends(&lab, &both, "md5", &[]), "{who:?}");
        let lab = Lab::new();
        let write = ["--rw=randwrite", "--norandommap", "--do_verify=0"];
        assert!(who.ends(&lab, &write, "crc32c", &[]), "{who:?}");
        let read = [
            "--rw=randwrite",
            "--norandommap",
            "--verify_only",
            "--name=c",
        ];
        let settings = ["--filename=f", "--size=64k", "--verify=crc32c"];
        let mut command = match who {
            Who::Fio => Command::new("fio"),
            Who::Ours => lab.command(),
        };
        if who == Who::Ours {
            command.args(["fio", "--no-save"]);
        }
        let command = command.current_dir(lab.path());
        let command = command.args(read.iter().rev()).args(settings);
        let output = command.output().expect("it starts");
        assert!(output.status.success(), "{who:?}: {output:?}");
    }
}

/// fio leaves no digest of the data for these: its headers are checked, and our own digests.
#[test]
fn digests_that_fio_has_not_are_our_own() {
    for kind in ["sha256", "sha512"] {
        check(Who::Ours, Who::Ours, kind, &[]);
        if fio_is_there() {
            let lab = Lab::new();
            let write = ["--rw=write", "--do_verify=0"];
            assert!(Who::Fio.ends(&lab, &write, kind, &[]), "{kind}");
            assert!(Who::Ours.ends(&lab, &["--rw=read"], kind, &[]), "{kind}");
        }
    }
}

/// The story: the headers of sequential writes were the same under any seed, so a file of an earlier run
/// passed for what the last one had written, also with `verify_header_seed=1`.
#[test]
fn a_file_of_another_seed_is_stale() {
    for rw in ["write", "randwrite", "rw"] {
        let lab = Lab::new();
        let fio = |more: &str| {
            let job = format!(
                "fio --name=a --filename=v --size=256k --bs=4k --rw={rw} --ioengine=psync --verify=crc32c \
                 {more}"
            );
            lab.blocklab(job.split_whitespace()).code
        };
        assert_eq!(fio("--randseed=1 --do_verify=0"), Some(0));
        let compared = "--verify_only=1 --verify_header_seed=1";
        assert_eq!(
            fio(&format!("--randseed=1 {compared}")),
            Some(0),
            "{rw}: its own"
        );
        assert_ne!(
            fio(&format!("--randseed=2 {compared}")),
            Some(0),
            "{rw}: stale"
        );
        // As fio 3.33, which has no such option.
        assert_eq!(
            fio("--randseed=2 --verify_only=1"),
            Some(0),
            "{rw}: by default"
        );
        assert_eq!(fio("--randseed=2"), Some(0), "{rw}: written anew");
    }
}
