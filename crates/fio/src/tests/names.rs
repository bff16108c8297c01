//! Which files and devices a job works on, and what scripts in wide use request.

use super::*;

/// `[/dev/sda]` without a name of a file is that device. A file called after it was made in the current
/// directory and measured in its place.
#[test]
fn a_section_may_be_called_after_a_device() {
    let all = jobs("[/dev/there]\nnumjobs=2\nrw=read\n");
    let targets: Vec<&String> = all.iter().flat_map(|job| &job.targets).collect();
    assert_eq!(targets, ["/dev/there", "/dev/there"]);
    assert_eq!(all[0].stop.bytes, Some(Bytes::GIB));
    for (options, expected) in [
        ("filename=f", "f"),
        ("nrfiles=2", "/dev/there.0.0"),
        ("directory=/x", "/x/dev/there.0.0"),
    ] {
        let all = jobs(&format!("[/dev/there]\nsize=1m\n{options}\n"));
        assert_eq!(all[0].targets[0], expected, "{options}");
    }
}

/// The slash became `_`, and files that another job had made were not found.
#[test]
fn a_slash_in_the_name_of_a_job_is_that_of_a_directory() {
    let all = jobs("[a/b]\nsize=64k\nnumjobs=2\ndirectory=/x\n");
    assert_eq!(all[0].targets, ["/x/a/b.0.0"]);
    assert_eq!(all[1].targets, ["/x/a/b.1.0"]);
}

/// With a directory, a name that begins with a slash was that of the device in place of a file.
#[test]
fn a_directory_stands_before_every_name() {
    let all = jobs("[global]\ndirectory=/x\n[a]\nfilename=/dev/there:b\nsize=1m\n");
    assert_eq!(all[0].targets, ["/x/dev/there", "/x/b"]);
    let all = jobs("[global]\nfilename=/dev/there\n[a]\ndirectory=/x\n");
    assert_eq!(all[0].targets, ["/dev/there"]);
}

#[test]
fn verification_without_a_map_is_limited() {
    let limited = "norandommap given for variable block sizes, verify limited";
    for (options, is_limited) in [
        ("bsrange=12k-200k ba=4k", true),
        ("bsrange=4k-16k norandommap", true),
        ("bsrange=4k-16k", false),
        ("bs=4k norandommap", false),
    ] {
        let options = format!("[a]\nsize=1m\nrw=randwrite\nverify=crc32c\n{options}\n");
        let prepared = planned(&options.replace(' ', "\n")).expect(&options);
        let found = prepared.remarks.iter().any(|remark| remark == limited);
        assert_eq!(found, is_limited, "{options}");
    }
}

/// A load of a storage server that is in wide use has shares of 98 in all, and was refused. fio gives
/// what is left to the largest share, the last one of several, and a size with 0 is one without a share.
#[test]
fn shares_of_sizes_need_not_add_up() {
    for (split, expected) in [
        ("4k/40:8k/10:16k/10", [80, 10, 10].as_slice()),
        ("4k/10:8k/30:16k/30:32k/5", &[10, 30, 55, 5]),
        ("4k/0:8k/30:16k/10", &[60, 30, 10]),
        ("4k/33:8k/33:16k/33", &[33, 33, 34]),
        ("4k/90:8k/60:16k/30", &[10, 60, 30]),
        ("8k/60:4k/60", &[60, 40]),
    ] {
        let job = job(&format!("size=1m rw=randread bssplit={split}"));
        let shares: Vec<u32> = job.sizes.read.0.iter().map(|(_, share)| *share).collect();
        assert_eq!(shares, expected, "{split}");
    }
}

/// Scripts burn processor time by `ioengine=cpuio` until they kill it; without a `runtime` it was refused.
#[test]
fn what_only_computes_needs_no_end() {
    let burning = job("ioengine=cpuio cpuload=50");
    assert!(burning.stop.runtime > Some(Nanos::from_secs(1_000_000)));
    refused("[a]\nioengine=null\n", "you need to specify size=");
}

/// A `size` in `[global]` gave the job that only computes a file of that size, which fio does not make.
#[test]
fn what_only_computes_makes_no_file() {
    let prepared = planned("[a]\nioengine=cpuio\ncpuload=50\nruntime=1\nsize=64k\n").unwrap();
    assert_eq!(prepared.files, []);
}

/// The story: of `filename` given several times the last one won, and all files lay in `directory`,
/// wherever it was given. fio adds the names up, and puts them into the first directory that it
/// knows at that moment, for all clones.
#[test]
fn names_of_files_add_up() {
    let several = job("filename=x:y filename=z size=12k");
    assert_eq!(several.targets, ["x", "y", "z"]);
    let text = "[global]\nfilename=g\nsize=8k\n[a]\ndirectory=one:two\nfilename=h\nnumjobs=2\n";
    for job in jobs(text) {
        assert_eq!(job.targets, ["g", "one/h"]);
    }
}

/// `nrfiles` had no effect on files with names. In fio, one that is read after `filename` keeps the first of
/// them; of the options of a section, `filename` is read last.
#[test]
fn fewer_files_than_names_are_the_first_ones() {
    for given in [
        "filename=x:y nrfiles=1 size=12k",
        "nrfiles=1 filename=x:y size=12k",
    ] {
        assert_eq!(job(given).targets, ["x", "y"], "{given}");
    }
    let text = "[global]\nfilename=x:y\nsize=8k\n[a]\nnrfiles=1\n[b]\nnrfiles=3\n";
    let names: Vec<_> = jobs(text).into_iter().map(|job| job.targets).collect();
    assert_eq!(names, [vec!["x"], vec!["x", "y"]]);
}

/// The story: all files of a range had one size, half way between its ends.
#[test]
fn files_of_a_range_have_sizes_of_their_own() {
    let prepared = planned("[a]\nnrfiles=5\nfilesize=16k-128k\nrw=write\n").expect("sound");
    let lengths: Vec<u64> = prepared.files.iter().map(|file| file.length.0).collect();
    let all: u64 = lengths.iter().sum();
    assert!(
        lengths
            .iter()
            .all(|length| (16 << 10..=128 << 10).contains(length))
    );
    assert!(lengths.iter().all(|length| length.is_multiple_of(4096)));
    assert!(lengths.iter().any(|length| *length != lengths[0]));
    assert_eq!(
        prepared.jobs().next().and_then(|job| job.stop.bytes),
        Some(Bytes(all))
    );
    let kept = planned("[a]\nfilename=/dev/there\nfilesize=4k-8k\nrw=randread\n").expect("sound");
    assert!(kept.jobs().all(|job| job.region.size == Some(Bytes(6144))));
}
