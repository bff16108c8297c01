//! Compressed logs of blocklab and of Debian's fio: either prints what the other one left.

use blocklab_proof::{Lab, fio, fio_is_there, good};

/// The words that make one of the two leave compressed logs of 64 reads and writes.
const JOB: [&str; 9] = [
    "--name=a",
    "--rw=randrw",
    "--size=256k",
    "--bs=4k",
    "--ioengine=psync",
    "--log_offset=1",
    "--log_compression=1024",
    "--log_store_compressed=1",
    "--write_lat_log=a",
];

/// Both readers print the same of a log, and all of it.
fn check(lab: &Lab) {
    for log in ["a_lat.1.log.fz", "a_clat.1.log.fz"] {
        let option = format!("--inflate-log={log}");
        let theirs = fio(lab, &[&option]);
        assert_eq!(theirs.lines().count(), 64, "{log}: {theirs}");
        let fields = theirs.lines().map(|line| line.split(", ").count());
        assert!(fields.clone().all(|count| count == 6), "{log}: {theirs}");
        assert_eq!(good(lab.blocklab(["fio", &option])), theirs, "{log}");
    }
}

#[test]
fn what_fio_compressed_is_printed_as_fio_prints_it() {
    if fio_is_there() {
        let lab = Lab::new();
        fio(&lab, &JOB);
        check(&lab);
    }
}

#[test]
fn what_we_compress_is_printed_by_fio() {
    if fio_is_there() {
        let lab = Lab::new();
        good(lab.blocklab(["fio", "--no-save"].into_iter().chain(JOB)));
        check(&lab);
    }
}

/// The story: a log for which the disk had no room took all other logs, traces, state files and reports
/// of miscompares with it, and only the one was reported.
#[test]
fn a_log_without_room_takes_no_other_file_with_it() {
    let lab = Lab::new();
    std::os::unix::fs::symlink("/dev/full", lab.path().join("full_bw.1.log")).expect("a link");
    let jobs = ["--name=a", "--rw=write", "--size=64k", "--ioengine=psync"];
    let files = [
        "--write_bw_log=full",
        "--write_lat_log=a",
        "--write_iolog=t",
    ];
    let run = lab.blocklab(["fio", "--no-save"].into_iter().chain(jobs).chain(files));
    let told = run.err;
    assert!(
        told.contains("cannot write the log full_bw.1.log"),
        "{told}"
    );
    for (file, lines) in [("a_lat.1.log", 16), ("a_clat.1.log", 16), ("t", 20)] {
        let text = std::fs::read_to_string(lab.path().join(file)).expect("a file");
        assert_eq!(text.lines().count(), lines, "{file}: {text}");
    }
}
