//! Reports of CrystalDiskMark and KDiskMark, and what comes out of them.

use blocklab_workload::Direction;

use crate::tests::{near, read, reads, source};
use crate::{Tool, import};

pub(crate) const CDM_3: &str = "\
-----------------------------------------------------------------------
CrystalDiskMark 3.0.2 x64 (C) 2007-2013 hiyohiyo
                           Crystal Dew World : http://crystalmark.info/
-----------------------------------------------------------------------
* MB/s = 1,000,000 byte/s [SATA/300 = 300,000,000 byte/s]

           Sequential Read :   101.500 MB/s
          Sequential Write :    99.250 MB/s
         Random Read 512KB :    41.943 MB/s
        Random Write 512KB :    52.429 MB/s
    Random Read 4KB (QD=1) :     0.410 MB/s [   100.0 IOPS]
   Random Write 4KB (QD=1) :     0.819 MB/s [   200.0 IOPS]
   Random Read 4KB (QD=32) :     1.638 MB/s [   400.0 IOPS]
  Random Write 4KB (QD=32) :     1.229 MB/s [   300.0 IOPS]

  Test : 1000 MB [G: 9.0% (16.2/180.1 GB)] (x5)
  Date : 2013/04/02 3:04:05
    OS : Windows 8  [6.2 Build 9200] (x64)
";

#[test]
fn the_oldest_reports_and_those_of_the_look_alike() {
    let record = read(Tool::Cdm, CDM_3);
    let cases: Vec<_> = record.measurements.iter().map(|m| &*m.case).collect();
    assert_eq!(
        cases,
        [
            "sequential-1MiB-q1t1-read",
            "sequential-1MiB-q1t1-write",
            "random-512KiB-q1t1-read",
            "random-512KiB-q1t1-write",
            "random-4KiB-q1t1-read",
            "random-4KiB-q1t1-write",
            "random-4KiB-q32t1-read",
            "random-4KiB-q32t1-write",
        ]
    );
    near(record.measurements[2].jobs[0].iops(), 80.0);
    near(record.measurements[6].jobs[0].iops(), 400.0);

    let look_alike = "\
                     KDiskMark (3.1.4): https://github.com/JonMagon/KDiskMark
--------------------------------------------------------------------------------
* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]

[Read]
Sequential   1 MiB (Q=  8, T= 1):  1024.000 MB/s [   1000.0 IOPS] < 8000.00 us>
    Random   4 KiB (Q= 32, T= 1):    40.000 MB/s [  10000.0 IOPS] < 3200.00 us>

Profile: Default
   Test: 1 GiB (x5) [Interval: 5 sec]
   Date: 2023-02-03 14:15:16
";
    let record = read(Tool::Cdm, look_alike);
    assert_eq!(record.tool, "KDiskMark 3.1.4");
    let [sequential, random] = &record.measurements[..] else {
        panic!("two rows");
    };
    assert_eq!(random.case, "random-4KiB-q32t1-read");
    near(sequential.jobs[0].bytes_per_s(), 1_048_576_000.0);
    near(
        random.jobs[0].directions[&Direction::Read].service.mean_ns,
        3.2e6,
    );
}

#[test]
fn cdm_of_all_versions() {
    let newest = read(Tool::Cdm, include_str!("../../cdm/src/golden/v9.txt"));
    assert!(
        newest.tool.starts_with("CrystalDiskMark 9"),
        "{}",
        newest.tool
    );
    for text in [
        include_str!("../../cdm/src/golden/v5.txt"),
        include_str!("../../cdm/src/golden/v6.txt"),
        include_str!("../../cdm/src/golden/v8.txt"),
        include_str!("../../cdm/src/golden/v9.txt"),
    ] {
        let record = read(Tool::Cdm, text);
        assert!(record.measurements.len() >= 8, "{text}");
        let names: std::collections::BTreeSet<_> = record
            .measurements
            .iter()
            .map(|measurement| &measurement.case)
            .collect();
        assert_eq!(names.len(), record.measurements.len(), "{names:?}");
    }
    let lines = "CrystalDiskMark 5.1.2 x64 (C) 2007-2016 hiyohiyo\n\
        \x20  Sequential Read (Q= 32,T= 1) :   129.554 MB/s\n\
        \x20Random Write 4KiB (Q= 32,T= 1) :    12.590 MB/s [  3073.7 IOPS]\n\
        \x20        Sequential Read (T= 1) :   100.000 MB/s\n\
        \x20 Test : 16384 MiB [D: 0.0% (0.1/1000.0 GiB)] (x3)  [Interval=5 sec]\n\
        \x20 Date : 2016/04/21 8:03:09\n";
    let record = read(Tool::Cdm, lines);
    let jobs: Vec<_> = record
        .measurements
        .iter()
        .map(|measurement| &measurement.jobs[0])
        .collect();
    assert_eq!(
        (&*jobs[0].block_size_name(), jobs[0].depth),
        ("128 KiB", 32)
    );
    near(jobs[0].bytes_per_s(), 129_554_000.0);
    assert_eq!(
        (&*jobs[1].mix_name(), &*jobs[1].pattern_name()),
        ("write", "random")
    );
    near(jobs[1].iops(), 3073.7);
    assert_eq!((&*jobs[2].block_size_name(), jobs[2].depth), ("1 MiB", 1));
    assert_eq!(record.started_at, "2016-04-21T08:03:09Z");
    assert_eq!(record.targets[0].size_bytes.0, 16 << 30);
}

/// The story: a report of drive I: (91.6 MB/s) and one of drive D: (491.6 MB/s) in one file became
/// one run of 292 MB/s; 1.1 operations a second became 1.2.
#[test]
fn reports_of_different_drives_are_runs_and_rates_are_those_of_the_file() {
    let slow = CDM_3.replace("0.410 MB/s [   100.0 IOPS]", "0.005 MB/s [     1.1 IOPS]");
    let later = slow
        .replace("3:04:05", "4:04:05")
        .replace("9.0% (16.2/", "12.0% (21.6/");
    let record = read(Tool::Cdm, &slow);
    let rate = record.measurements[4].jobs[0].iops();
    assert!((rate - 1.1).abs() < 1e-6, "{rate}");
    let megabytes = record.measurements[4].jobs[0].bytes_per_s();
    assert!((megabytes / 5000.0 - 1.0).abs() < 0.001, "{megabytes}");
    let record = read(Tool::Cdm, &format!("{slow}\n{later}"));
    assert_eq!(
        (record.requested.passes, record.measurements.len()),
        (2, 16)
    );
    for (from, to) in [
        ("[G: ", "[I: "),
        ("1000 MB", "500 MB"),
        ("3.0.2", "3.0.3"),
        ("/180.1 GB", "/250.0 GB"),
    ] {
        let other = later.replace(from, to);
        let runs = reads(Tool::Cdm, &format!("{slow}\n{other}"));
        assert_eq!(runs.len(), 2, "{to}");
        assert!(runs.iter().all(|run| run.measurements.len() == 8));
    }
}

/// The story: a row whose size cannot be read was taken for one of 128 KiB, as older sequential rows
/// mean where they give none, and 551 MB/s became 4,207 operations a second that were in no report. A
/// rate below 0 became a run in which nothing moved, and a size of 0 a time of NaN seconds.
#[test]
fn a_size_or_rate_that_cannot_be_is_not_guessed() {
    for row in [
        "SEQ    1XiB (Q=  8, T= 1):   551.369 MB/s",
        "SEQ    0MiB (Q=  8, T= 1):   551.369 MB/s",
        "RND         (Q=  8, T= 1):   551.369 MB/s",
        "SEQ    1MiB (Q=  8, T= 1):  -551.369 MB/s",
    ] {
        let text = format!("CrystalDiskMark 8.0.4 x64\n[Read]\n{row}\n");
        let error = import(Tool::Cdm, &[source("it", &text)]).expect_err(row);
        let words = format!("no row of a report: `{row}`");
        assert!(error.to_string().contains(&words), "{error}");
    }
}
