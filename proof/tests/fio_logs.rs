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
