//! Texts of the programs, shortened, and what comes out of them.

use blocklab_record::{Record, Statistic};
use blocklab_workload::Direction;
use proptest::prelude::*;

use super::*;

fn source(name: &str, text: &str) -> Source {
    Source {
        name: name.to_owned(),
        text: text.to_owned(),
    }
}

fn reads(tool: Tool, text: &str) -> Vec<Record> {
    let sources = [source("it", text)];
    import(tool, &sources).unwrap_or_else(|error| panic!("{error}"))
}

/// The only run of a text.
fn read(tool: Tool, text: &str) -> Record {
    only(reads(tool, text))
}

fn only(mut all: Vec<Record>) -> Record {
    assert_eq!(all.len(), 1, "one run");
    all.remove(0)
}

#[track_caller]
fn near(found: f64, wanted: f64) {
    assert!(
        (found - wanted).abs() <= wanted.abs() / 100.0,
        "{found} for {wanted}"
    );
}

const DISKSPD_TEXT: &str = include_str!("../../diskspd/src/golden/text-2.2.txt");
const DISKSPD_OLD: &str = include_str!("../../diskspd/src/golden/text-2.0.21a.txt");
const DISKSPD_XML: &str = include_str!("../../diskspd/src/golden/result.xml");

/// Two threads on a drive, as 2.0.21a prints it on Windows, line ends included.
const WINDOWS: &str = "\r
Input parameters:\r
\r
\ttimespan:   1\r
\t-------------\r
\tduration: 30s\r
\twarm up time: 5s\r
\tmeasuring latency\r
\tpath: 'E:\\my (old) data.dat'\r
\t\tthink time: 0ms\r
\t\tburst size: 0\r
\t\tsoftware cache disabled\r
\t\thardware write cache disabled, writethrough on\r
\t\tperforming mix test (read/write ratio: 70/30)\r
\t\tblock size: 8192\r
\t\tusing random I/O (alignment: 8192)\r
\t\tnumber of outstanding I/O operations: 4\r
\t\tthreads per file: 2\r
System information:\r
\tcomputer name: BENCH\r
\tstart time: 2019/11/05 10:20:30 UTC\r
\r
Results for timespan 1:\r
*******************************************************************************\r
actual test time:\t30.00s\r
thread count:\t\t2\r
proc count:\t\t4\r
\r
CPU |  Usage |  User  |  Kernel |  Idle\r
-------------------------------------------\r
   0|  12.00%|   2.00%|   10.00%|  88.00%\r
avg.|  12.00%|   2.00%|   10.00%|  88.00%\r
\r
Read IO\r
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file\r
-----------------------------------------------------------------------------\r
     0 |         8192000 |         1000 |       0.26 |      33.33 |    1.000 |     0.100 | E:\\my (old) data.dat (20GiB)\r
     1 |        24576000 |         3000 |       0.78 |     100.00 |    2.000 |     0.100 | E:\\my (old) data.dat (20GiB)\r
-----------------------------------------------------------------------------\r
total:          32768000 |         4000 |       1.04 |     133.33 |    1.750 |     0.444\r
\r
Write IO\r
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file\r
-----------------------------------------------------------------------------\r
     0 |         8192000 |         1000 |       0.26 |      33.33 |    4.000 |     0.000 | E:\\my (old) data.dat (20GiB)\r
     1 |               0 |            0 |       0.00 |       0.00 |    0.000 |       N/A | E:\\my (old) data.dat (20GiB)\r
\r
total:\r
  %-ile |  Read (ms) | Write (ms) | Total (ms)\r
----------------------------------------------\r
    min |      0.500 |      3.900 |      0.500\r
   25th |      1.000 |      4.000 |      1.000\r
   50th |      2.000 |      4.000 |      2.000\r
   99th |      2.100 |      4.100 |      4.000\r
3-nines |      2.500 |      4.200 |      4.100\r
    max |      3.000 |      4.300 |      4.300\r
";

/// Another target next to the one above, with its own percentiles.
fn two_targets(title: &str, total: &str) -> String {
    let row = "     1 |        24576000 |         3000 |       0.78 |     100.00 |    2.000 |     \
               0.100 | E:\\my (old) data.dat (20GiB)\r\n";
    let other = row.replace("E:\\my (old) data.dat", "F:\\other.dat");
    let text = WINDOWS.replace(row, &format!("{row}{other}"));
    let (head, table) = text.split_once("total:\r\n  %-ile").expect("a table");
    let table = format!("  %-ile{table}");
    let faster = table.replace("2.000 |      4.000", "1.500 |        N/A");
    format!(
        "{head}{title}E:\\my (old) data.dat\r\n{table}\r\n{title}F:\\other.dat\r\n{faster}\r\n\
         {total}\r\n{table}"
    )
}

#[test]
fn percentiles_of_each_target_are_its_own() {
    for (title, total) in [
        ("", "total:"),
        ("Latency distribution: ", "Total latency distribution:"),
    ] {
        let record = read(Tool::DiskSpd, &two_targets(title, total));
        let [first, second] = &record.measurements[0].jobs[..] else {
            panic!("two targets");
        };
        let median =
            |job: &blocklab_record::JobResult| job.directions[&Direction::Read].service.p50_ns;
        near(median(first) as f64, 2e6);
        near(median(second) as f64, 1.5e6);
        assert_eq!(second.directions[&Direction::Read].ios, 3000);
    }
}

#[test]
fn runs_appended_to_one_file_keep_their_own_settings() {
    let first = format!("\nCommand Line: diskspd -b8K first\n{WINDOWS}");
    let second = WINDOWS
        .replace("block size: 8192", "block size: 65536")
        .replace("threads per file: 2", "threads per file: 3");
    let text = format!("{first}\nCommand Line: diskspd -b64K second\n{second}");
    let record = read(Tool::DiskSpd, &text);
    let jobs: Vec<_> = record.measurements.iter().map(|m| &m.jobs[0]).collect();
    let sizes: Vec<_> = jobs
        .iter()
        .map(|job| (job.block_size_name(), job.threads))
        .collect();
    assert_eq!(sizes, [("8 KiB".to_owned(), 2), ("64 KiB".to_owned(), 3)]);
    assert_eq!(record.requested.description, "2 runs in one text");
    let notes: Vec<_> = record.notes.iter().map(|note| &*note.text).collect();
    assert!(
        notes.contains(&"timespan-2: diskspd -b64K second"),
        "{notes:?}"
    );
    let cut = &text[..text.len() - 1300];
    let refused = import(Tool::DiskSpd, &[source("it", cut)]).expect_err("cut off");
    assert!(refused.to_string().contains("timespan 2"), "{refused}");
}

#[test]
fn xml_documents_behind_each_other_are_all_read() {
    let text = format!("WARNING: no privilege\n{DISKSPD_XML}\n{DISKSPD_XML}");
    let record = read(Tool::DiskSpd, &text);
    let cases: Vec<_> = record.measurements.iter().map(|m| &*m.case).collect();
    assert_eq!(cases, ["timespan-1", "timespan-2"]);
    let cut = &text[..text.len() - 100];
    assert!(import(Tool::DiskSpd, &[source("it", cut)]).is_err());
}

const CDM_3: &str = "\
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
fn diskspd_on_windows() {
    let record = read(Tool::DiskSpd, WINDOWS);
    assert_eq!(record.tool, "DiskSpd 2.0");
    assert_eq!(record.started_at, "2019-11-05T10:20:30Z");
    assert_eq!(record.targets[0].path, "E:\\my (old) data.dat");
    assert_eq!(record.targets[0].size_bytes.0, 20 << 30);
    let [measurement] = &record.measurements[..] else {
        panic!("one time span");
    };
    assert_eq!(measurement.cpu.machine_busy_percent, 12);
    let [job] = &measurement.jobs[..] else {
        panic!("one target");
    };
    assert_eq!(job.mix_name(), "70 % read, 30 % write");
    assert_eq!(
        (&*job.block_size_name(), &*job.pattern_name()),
        ("8 KiB", "random")
    );
    assert_eq!((job.threads, job.depth), (2, 4));
    assert_eq!(job.direct, Some(true));
    let (read, write) = (
        &job.directions[&Direction::Read],
        &job.directions[&Direction::Write],
    );
    assert_eq!((read.ios, read.bytes, write.ios), (4000, 32_768_000, 1000));
    near(read.service.mean_ns, 1_750_000.0);
    near(read.service.stddev_ns, 444_410.0);
    near(read.service.p50_ns as f64, 2e6);
    near(read.service.p99_ns as f64, 2.1e6);
    assert_eq!(read.service.max_ns, 3_000_000);
    near(job.iops(), 5000.0 / 30.0);
}

#[test]
fn what_we_print_as_diskspd_is_read_again() {
    for text in [DISKSPD_TEXT, DISKSPD_OLD, DISKSPD_XML] {
        let record = read(Tool::DiskSpd, text);
        let job = &record.measurements[0].jobs[0];
        assert_eq!(job.directions[&Direction::Read].ios, 1000, "{text}");
        assert_eq!(job.directions[&Direction::Write].ios, 1000);
        near(job.directions[&Direction::Read].service.mean_ns, 250_000.0);
    }
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
        let names: std::collections::BTreeSet<_> =
            record.measurements.iter().map(|it| &it.case).collect();
        assert_eq!(names.len(), record.measurements.len(), "{names:?}");
    }
    let lines = "CrystalDiskMark 5.1.2 x64 (C) 2007-2016 hiyohiyo\n\
        \x20  Sequential Read (Q= 32,T= 1) :   129.554 MB/s\n\
        \x20Random Write 4KiB (Q= 32,T= 1) :    12.590 MB/s [  3073.7 IOPS]\n\
        \x20        Sequential Read (T= 1) :   100.000 MB/s\n\
        \x20 Test : 16384 MiB [D: 0.0% (0.1/1000.0 GiB)] (x3)  [Interval=5 sec]\n\
        \x20 Date : 2016/04/21 8:03:09\n";
    let record = read(Tool::Cdm, lines);
    let jobs: Vec<_> = record.measurements.iter().map(|it| &it.jobs[0]).collect();
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

const VDBENCH: &str = "<title>Vdbench out/flatfile.html</title><pre>\n\
* tod: time of day\n\
           tod timestamp Run Interval reqrate rate MB/sec bytes/io read% resp read_resp write_resp resp_max resp_std xfersize threads rdpct rhpct whpct seekpct lunsize version\n\
  16:09:10.032 11/20/2026-16:09:10-UTC rd1_(10%) 1 2700 2600 10.1 4096 50 0.2 0.1 0.3 4 0.3 4096 8 50 0 0 100 1 50407\n\
  16:09:12.030 11/20/2026-16:09:12-UTC rd1_(10%) 2 2700 2700 10.5 4096 50 0.2 0.1 0.3 4 0.3 4096 8 50 0 0 100 1 50407\n\
  16:09:12.040 11/20/2026-16:09:12-UTC rd1_(10%) avg_2-2 2700 2700 10.5 4096 50 0.2 0.1 0.3 4 0.3 4096 8 50 0 0 100 1 50407\n";

const VDBENCH_HISTOGRAM: &str = "<a name=\"_1\"></a><i><b>16:09:08.000 Starting RD=rd1_(10%); I/O rate: 2700; elapsed=4</b></i>\n\
Reads:\n      min(ms) <    max(ms)        count   %%    cum%%\n\
\x20       0.000 <      0.200         2000  74.1    74.1\n\
\x20       0.200 <      0.400          700  25.9   100.0\n\
Writes:\n\
\x20       0.200 <      0.400         2700 100.0   100.0\n";

#[test]
fn vdbench_with_and_without_its_histogram() {
    let flat = source("out/flatfile.html", VDBENCH);
    let record = only(import(Tool::Vdbench, std::slice::from_ref(&flat)).expect("sound"));
    let job = &record.measurements[0].jobs[0];
    assert_eq!(record.measurements[0].case, "rd1_(10%)");
    assert_eq!(record.tool, "Vdbench 50407");
    assert_eq!(record.started_at, "2026-11-20T16:09:10Z");
    assert_eq!(job.requested_iops, Some(2700.0));
    // One interval of two seconds.
    assert_eq!(job.elapsed_ns, 2_000_000_000);
    near(job.iops(), 2700.0);
    near(job.directions[&Direction::Write].service.mean_ns, 300_000.0);
    assert_eq!(record.measurements[0].series.len(), 2);
    assert!(record.measurements[0].series[0].ramp);
    let histogram = source("out/histogram.html", VDBENCH_HISTOGRAM);
    let record = only(import(Tool::Vdbench, &[flat, histogram]).expect("sound"));
    let read = &record.measurements[0].jobs[0].directions[&Direction::Read].service;
    near(read.p50_ns as f64, 200_000.0);
    near(read.p90_ns as f64, 400_000.0);
}

/// Two runs of one name, as `iorate=(100,200)` or `forthreads=(1,8)` leave them.
const VDBENCH_LOOPS: &str = "<pre>\n\
tod timestamp Run Interval reqrate rate MB/sec bytes/io read% resp xfersize threads rdpct seekpct\n\
07:22:29.084 n/a rd1 1 100 90 0.3 4096 100 0.2 4096 8 100 100\n\
07:22:30.047 n/a rd1 2 100 100 0.4 4096 100 0.2 4096 8 100 100\n\
07:22:31.047 n/a rd1 3 100 100 0.4 4096 100 0.2 4096 8 100 100\n\
07:22:31.050 n/a rd1 avg_2-3 100 100 0.4 4096 100 0.2 4096 8 100 100\n\
07:22:33.084 n/a rd1 1 200 180 0.3 4096 100 0.4 4096 8 100 100\n\
07:22:34.047 n/a rd1 2 200 200 0.8 4096 100 0.4 4096 8 100 100\n\
07:22:35.047 n/a rd1 3 200 200 0.8 4096 100 0.4 4096 8 100 100\n\
07:22:35.050 n/a rd1 avg_2-3 200 200 0.8 4096 100 0.4 4096 8 100 100\n";

fn vdbench_summary(first: &str, second: &str) -> String {
    format!(
        "<pre>\nVdbench summary report, created 07:22:26 Dec 03 2016 PST\n\n\
         <i><b>07:22:28.002 Starting RD=rd1; I/O rate: 100; elapsed=3; For loops: {first}</b></i>\n\
         <i><b>07:22:32.002 Starting RD=rd1; I/O rate: 200; elapsed=3; For loops: {second}</b></i>\n"
    )
}

const VDBENCH_LOOPS_HISTOGRAM: &str = "\
<i><b>07:22:28.002 Starting RD=rd1; I/O rate: 100; elapsed=3; For loops: iorate=100</b></i>\n\
Reads:\n      0.100 <      0.200          200  100.0   100.0\n\
<i><b>07:22:32.002 Starting RD=rd1; I/O rate: 200; elapsed=3; For loops: iorate=200</b></i>\n\
Reads:\n      0.200 <      0.400          400  100.0   100.0\n";

fn vdbench(files: &[(&str, &str)]) -> Record {
    let sources: Vec<Source> = files
        .iter()
        .map(|(name, text)| source(name, text))
        .collect();
    only(import(Tool::Vdbench, &sources).expect("sound"))
}

/// Somebody requested 100 and for 200 operations a second in one run definition and got "150
/// IOPS ± 247 %": loops give many runs one name, and runs of one name were passes of one case.
#[test]
fn each_loop_of_vdbench_is_a_case_of_its_own() {
    let summary = vdbench_summary("iorate=100 threads=8", "iorate=200 threads=8");
    let files = [
        ("o/flatfile.html", VDBENCH_LOOPS),
        ("o/histogram.html", VDBENCH_LOOPS_HISTOGRAM),
        ("o/summary.html", &summary),
    ];
    let record = vdbench(&files);
    let [first, second] = &record.measurements[..] else {
        panic!("two runs");
    };
    assert_eq!(first.case, "rd1 iorate=100 threads=8");
    assert_eq!(second.case, "rd1 iorate=200 threads=8");
    assert_eq!(
        (first.pass, second.pass, record.requested.passes),
        (1, 1, 1)
    );
    let pairs = [("iorate", "200"), ("threads", "8")];
    let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(second.settings, pairs);
    near(first.jobs[0].iops(), 100.0);
    near(second.jobs[0].iops(), 200.0);
    // The histogram of the second run was never read.
    let median = |at: usize| {
        record.measurements[at].jobs[0].directions[&Direction::Read]
            .service
            .p50_ns
    };
    near(median(0) as f64, 200_000.0);
    near(median(1) as f64, 400_000.0);
    assert_eq!(record.started_at, "2016-12-03T07:22:26Z");
    let local = |note: &&blocklab_record::Note| note.text.contains("local time");
    assert!(
        record.notes.iter().any(|note| local(&note)),
        "{:?}",
        record.notes
    );
}

/// A run that is simply repeated, as `-l` does, is a pass of the same case.
#[test]
fn the_same_loops_again_are_another_pass() {
    let summary = vdbench_summary("None", "None");
    let record = vdbench(&[
        ("o/flatfile.html", VDBENCH_LOOPS),
        ("o/summary.html", &summary),
    ]);
    let passes: Vec<_> = record
        .measurements
        .iter()
        .map(|m| (&*m.case, m.pass))
        .collect();
    assert_eq!(passes, [("rd1", 1), ("rd1", 2)]);
    assert_eq!(record.requested.passes, 2);
}

#[test]
fn without_a_summary_runs_of_one_name_stay_separate() {
    let record = vdbench(&[("o/flatfile.html", VDBENCH_LOOPS)]);
    let cases: Vec<_> = record
        .measurements
        .iter()
        .map(|m| (&*m.case, m.pass))
        .collect();
    assert_eq!(cases, [("rd1 reqrate=100", 1), ("rd1 reqrate=200", 1)]);
    let same = VDBENCH_LOOPS.replace(" 200 ", " 100 ");
    let record = vdbench(&[("o/flatfile.html", &same)]);
    let cases: Vec<_> = record
        .measurements
        .iter()
        .map(|m| (&*m.case, m.pass))
        .collect();
    assert_eq!(cases, [("rd1", 1), ("rd1 (2)", 1)]);
}

/// A run that was stopped has an announcement and no average.
#[test]
fn a_stopped_run_takes_nothing_from_the_others() {
    let summary = vdbench_summary("iorate=100", "iorate=200");
    let stopped = "<b>07:22:36.002 Starting RD=rd1; I/O rate: 300; For loops: iorate=300</b>\n";
    let summary = format!("{summary}{stopped}");
    let record = vdbench(&[
        ("o/flatfile.html", VDBENCH_LOOPS),
        ("o/summary.html", &summary),
    ]);
    let cases: Vec<_> = record.measurements.iter().map(|m| &*m.case).collect();
    assert_eq!(cases, ["rd1 iorate=100", "rd1 iorate=200"]);
}

/// All directories of before 5.04.07 were dated 1970: their rows have no date, but summary.html has.
#[test]
fn the_date_of_a_vdbench_run_stands_in_its_summary() {
    for (head, expected) in [
        (
            "Vdbench summary report, created 23:04:10 Apr 03 2019 ICT (16:04:10 Apr 03 2019 UTC)\n",
            "2019-04-03T16:04:10Z",
        ),
        (
            "Dec 03, 2016  interval        i/o   MB/sec   bytes\n",
            "2016-12-03T07:22:29Z",
        ),
    ] {
        let record = vdbench(&[("flatfile.html", VDBENCH_LOOPS), ("summary.html", head)]);
        assert_eq!(record.started_at, expected, "{head}");
    }
}

/// `avg_2-60` counts 59 intervals, so that is the time, and the operations are those of it; what
/// comes before the first counted interval is warm-up.
#[test]
fn the_time_of_a_vdbench_run_is_that_of_its_average() {
    let head = "tod Run Interval reqrate rate MB/sec bytes/io read% resp\n";
    let row = |n: u32| {
        format!(
            "07:{:02}:{:02}.02 rd1 {n} 999988 2180 17 8192 100 14\n",
            n / 60,
            n % 60
        )
    };
    let rows: String = (1..=60).map(row).collect();
    let text = format!("{head}{rows}07:01:00.05 rd1 avg_4-60 999988 2180.0678 17 8192 100 14\n");
    let record = vdbench(&[("flatfile.html", &text)]);
    let job = &record.measurements[0].jobs[0];
    assert_eq!(job.elapsed_ns, 57_000_000_000);
    assert_eq!(job.directions[&Direction::Read].ios, 124_264);
    let ramp = record.measurements[0]
        .series
        .iter()
        .filter(|it| it.ramp)
        .count();
    assert_eq!(ramp, 3);
}

/// A text whose total is 2,242,082 operations and whose threads add up to 5,000 was imported with
/// 5,000, without a word.
#[test]
fn a_total_that_its_threads_contradict_is_noted() {
    assert!(
        !read(Tool::DiskSpd, WINDOWS)
            .notes
            .iter()
            .any(|it| it.text.contains("total: row"))
    );
    let row = "     1 |               0 |            0 |       0.00 |       0.00 |    0.000 |       N/A | E:\\my (old) data.dat (20GiB)\r\n";
    assert!(WINDOWS.contains(row));
    let total = "total:        18367135744 |      2242082 |    583.87 |   74735.4\r\n";
    let record = read(
        Tool::DiskSpd,
        &WINDOWS.replace(row, &format!("{row}{total}")),
    );
    let job = &record.measurements[0].jobs[0];
    assert_eq!(job.directions[&Direction::Write].ios, 1000);
    let note = record
        .notes
        .iter()
        .find(|note| note.text.contains("total: row"));
    let text = &note.expect("a note").text;
    for words in ["Write IO", "2242082", "1000", "the threads count"] {
        assert!(text.contains(words), "{text}");
    }
}

/// `-Suw` stood on the command line, and the import showed "buffered", because the text had no block
/// of parameters.
#[test]
fn a_command_line_holds_what_parameters_lack() {
    let (_, rest) = WINDOWS.split_once("Input parameters:").expect("a block");
    let (_, rest) = rest.split_once("System information:").expect("a block");
    let bare = |command: &str| format!("{command}System information:{rest}");
    let line = r#"Command Line: "C:\my tools\diskspd.exe" -b8K -Suw -o4 -t2 -r -w30 -L "E:\my (old) data.dat""#;
    let record = read(Tool::DiskSpd, &bare(&format!("\n{line}\r\n\r\n")));
    let job = &record.measurements[0].jobs[0];
    assert_eq!(
        (job.access_name(), job.durability.name()),
        ("direct", "dsync")
    );
    assert_eq!(
        (&*job.block_size_name(), &*job.pattern_name()),
        ("8 KiB", "random")
    );
    assert_eq!((job.threads, job.depth), (2, 4));
    let record = read(Tool::DiskSpd, &bare(""));
    assert_eq!(record.measurements[0].jobs[0].depth, 0);
}

/// A spreadsheet read "p99 = 0 ns" of reports without percentiles, and every run of Vdbench was
/// O_DIRECT with one operation in flight.
#[test]
fn what_a_text_does_not_tell_is_null() {
    let json = |record: &Record| serde_json::to_value(record).expect("JSON");
    let cdm = json(&read(
        Tool::Cdm,
        include_str!("../../cdm/src/golden/v8.txt"),
    ));
    let service = &cdm["measurements"][0]["jobs"][0]["directions"]["read"]["service"];
    for name in [
        "min_ns",
        "max_ns",
        "stddev_ns",
        "p50_ns",
        "p99_ns",
        "p9999_ns",
    ] {
        assert!(service[name].is_null(), "{name}: {service}");
    }
    assert!(service["mean_ns"].is_number(), "{service}");
    assert!(cdm["measurements"][0]["cpu"]["machine_busy_percent"].is_null());

    let rows = VDBENCH_LOOPS.replace(" 4096 8 100 100\n", " n/a n/a n/a n/a\n");
    let vdbench = json(&vdbench(&[("flatfile.html", &rows)]));
    let job = &vdbench["measurements"][0]["jobs"][0];
    for name in [
        "direct",
        "threads",
        "depth",
        "effective_depth",
        "pattern",
        "access",
    ] {
        assert!(job[name].is_null(), "{name}: {job}");
    }
    let slice = &vdbench["measurements"][0]["series"][0]["read"];
    assert!(
        slice["p99_ns"].is_null() && slice["mean_ns"].is_number(),
        "{slice}"
    );
    let again = Record::from_json(&vdbench.to_string()).expect("a record");
    assert_eq!(json(&again), vdbench);
}

/// A format was called random, with the workload's block and mixture.
#[test]
fn a_format_is_no_workload() {
    let text = VDBENCH_LOOPS
        .replace("rd1", "SD_format")
        .replace("0.4 4096 100", "0.4 131072 0");
    let record = vdbench(&[("flatfile.html", &text)]);
    let job = &record.measurements[0].jobs[0];
    assert_eq!(
        (
            &*job.pattern_name(),
            &*job.block_size_name(),
            &*job.mix_name()
        ),
        ("sequential", "128 KiB", "write")
    );
}

#[test]
fn other_texts_are_refused_with_what_would_work() {
    let end = DISKSPD_XML.find("<CpuUtilization>").expect("it is there");
    let cut = &DISKSPD_XML[..end];
    let bomb = "<!DOCTYPE a [<!ENTITY b \"bb\">]><Results>&b;</Results>";
    for (tool, text, words) in [
        (Tool::DiskSpd, "hello", "not DiskSpd's text"),
        (Tool::DiskSpd, "Results for timespan 1:\n", "cut off"),
        (Tool::DiskSpd, cut, "ends before"),
        (Tool::DiskSpd, bomb, "document type"),
        (Tool::DiskSpd, "<Profile></Profile>", "<Results>"),
        (Tool::Cdm, "hello", "with its head"),
        (Tool::Cdm, "CrystalDiskMark 8.0.4 x64\n", "cut off"),
        (Tool::Fio, "hello", "neither JSON nor terse"),
        (Tool::Fio, "{\n \"jobs\" : [", "whole?"),
        (Tool::Fio, "{}", "fio version"),
        (
            Tool::Fio,
            "{\"fio version\":\"fio-3.33\",\"jobs\":[]}",
            "no result",
        ),
        (Tool::Fio, "3;fio-3.33;a;0;0;1;2", "cut off"),
        (Tool::Vdbench, "hello", "tod"),
        (Tool::Vdbench, "tod Run Interval\n1 2 3\n", "no `avg_` row"),
    ] {
        let error = import(tool, &[source("it.txt", text)])
            .expect_err(text)
            .to_string();
        assert!(error.starts_with("it.txt"), "{error}");
        assert!(error.contains(words), "{text}: {error}");
    }
    assert!(decode("it", &[0xff, 0xfe, b'a', 0]).is_ok_and(|it| it.text == "a"));
    assert!(decode("it", &[0x80, 0x81]).is_err());
}

#[test]
fn old_fio_counts_in_microseconds_and_kib() {
    let text = r#"fio: some warning
{
  "fio version" : "fio-2.1.5",
  "jobs" : [ {
    "jobname" : "a", "groupid" : 0, "error" : 0,
    "read" : { "io_bytes" : 4000, "bw" : 400, "iops" : 100.0, "runtime" : 10000,
      "total_ios" : 1000,
      "clat" : { "min" : 10, "max" : 900, "mean" : 100.0, "stddev" : 5.0,
        "percentile" : { "50.000000" : 99, "99.000000" : 200, "0.00" : 0 } } },
    "write" : { "io_bytes" : 0, "runtime" : 0, "total_ios" : 0 }
  } ]
}
"#;
    let record = read(Tool::Fio, text);
    let job = &record.measurements[0].jobs[0];
    assert_eq!(record.measurements[0].case, "a");
    near(job.iops(), 100.0);
    near(job.bytes_per_s(), 409_600.0);
    let service = &job.directions[&Direction::Read].service;
    near(service.mean_ns, 100_000.0);
    near(service.p50_ns as f64, 99_000.0);
    near(service.p99_ns as f64, 200_000.0);
    // The story: such a result, of a job at depth 32, was shown as 4 KiB sequential reads
    // by psync, one in flight, and a finding doubted its latencies for that.
    assert_eq!(
        (
            &*job.engine.to_string(),
            &*job.pattern_name(),
            &*job.block_size_name()
        ),
        ("fio", "unknown", "unknown")
    );
    assert_eq!((job.depth, job.effective_depth, job.threads), (0, 0, 0));
    assert_eq!((job.direct, &*job.mix_name()), (None, "read"));
}

/// The story: a job under `gtod_reduce` measures no latency, and fio prints zeros of it. They were
/// exported as a latency of 0 ns, and a finding took them for time between operations.
#[test]
fn zeros_of_no_sample_are_no_latency() {
    let text = r#"{ "fio version" : "fio-3.33", "jobs" : [ {
  "jobname" : "a", "job options" : { "rw" : "randread", "gtod_reduce" : "1" },
  "read" : { "io_bytes" : 4096000, "bw_bytes" : 409600, "runtime" : 10000, "total_ios" : 1000,
    "clat_ns" : { "min" : 0, "max" : 0, "mean" : 0.0, "stddev" : 0.0, "N" : 0 },
    "lat_ns" : { "min" : 0, "max" : 0, "mean" : 0.0, "stddev" : 0.0, "N" : 0 } } } ] }"#;
    let record = read(Tool::Fio, text);
    let service = &record.measurements[0].jobs[0].directions[&Direction::Read].service;
    for of in [Statistic::Mean, Statistic::Min, Statistic::Max] {
        assert!(service.unknown.has(of), "{of:?}");
    }
}

/// One entry of fio's JSON: job options and what moved.
fn entry(options: &str, sides: &str) -> String {
    format!("{{\"jobname\": \"g\", \"groupid\": 0, \"job options\": {{{options}}}, {sides}}}")
}

fn document(entries: &[String]) -> String {
    let entries = entries.join(",\n");
    format!("{{\n\"fio version\": \"fio-3.33\", \"jobs\": [{entries}]}}\n")
}

const SIDE: &str = r#""read": {"io_bytes": 40960000, "io_kbytes": 40000, "bw_bytes": 4096000, "bw": 4000,
  "iops": 1000.0, "runtime": 10000, "total_ios": 10000,
  "clat_ns": {"min": 10000, "max": 900000, "mean": 100000.0, "stddev": 5.0, "N": 10000,
  "percentile": {"50.000000": 90000, "99.000000": 200000}}}"#;

const GROUPED: &str = r#""rw": "randread", "ioengine": "libaio", "iodepth": "16", "numjobs": "8""#;

/// The story: fio writes an option that was given without a value into no result, so every file of
/// `numjobs=8 --group_reporting` was judged as one thread's, 695 % above its depth.
#[test]
fn one_entry_of_many_clones_is_about_all_of_them() {
    let one = entry(GROUPED, SIDE);
    let job = |text: &str| read(Tool::Fio, text).measurements[0].jobs[0].clone();
    let grouped = job(&document(std::slice::from_ref(&one)));
    assert_eq!((grouped.threads, grouped.depth), (8, 16));
    // Eight entries are eight threads.
    let clones: Vec<String> = (0..8)
        .map(|n| one.replace("100000.0", &format!("10000{n}.0")))
        .collect();
    let all = read(Tool::Fio, &document(&clones));
    let jobs = &all.measurements[0].jobs;
    assert!(jobs.len() == 8 && jobs.iter().all(|job| job.threads == 1));
    // Sixteen threads' time in an entry that names eight: another section is in it, too.
    let merged = one.replace("\"groupid\"", "\"job_runtime\": 160000, \"groupid\"");
    let merged = job(&document(&[merged]));
    assert_eq!((merged.threads, merged.depth, merged.pattern), (0, 0, None));
    let whole = one.replace("\"groupid\"", "\"job_runtime\": 80000, \"groupid\"");
    assert_eq!(job(&document(&[whole])).threads, 8);
}

/// The story: `unified_rw_reporting`, results without `total_ios`, and flushes came out as "nothing
/// was measured" or not at all, with exit code 0.
#[test]
fn what_has_another_key_is_read_all_the_same() {
    let options = r#""rw": "randrw", "rwmixread": "75""#;
    let mixed = document(&[entry(options, &SIDE.replace("\"read\"", "\"mixed\""))]);
    let record = read(Tool::Fio, &mixed);
    let job = &record.measurements[0].jobs[0];
    near(job.iops(), 1000.0);
    let ios = |job: &blocklab_record::JobResult, way| job.directions[&way].ios;
    let (reads, writes) = (ios(job, Direction::Read), ios(job, Direction::Write));
    assert_eq!((reads, writes), (7500, 2500));
    assert!(
        record
            .notes
            .iter()
            .any(|note| note.text.contains("unified_rw_reporting"))
    );

    let old = SIDE.replace("\"total_ios\": 10000,", "");
    let job = &read(Tool::Fio, &document(&[entry("", &old)])).measurements[0].jobs[0];
    assert_eq!(ios(job, Direction::Read), 10_000);

    let sync = r#", "sync": {"total_ios": 0, "lat_ns": {"min": 1, "max": 9000000, "mean": 5e6,
      "stddev": 1.0, "N": 400, "percentile": {"99.000000": 8600000}}}"#;
    let text = document(&[entry("", &format!("{SIDE}{sync}"))]);
    let job = &read(Tool::Fio, &text).measurements[0].jobs[0];
    let sync = &job.directions[&Direction::Sync];
    assert_eq!(sync.ios, 400);
    near(sync.service.p99_ns as f64, 8.6e6);
    near(job.iops(), 1000.0);

    let clat = "\"clat_ns\": {\"min\": 1, \"max\": 9, \"mean\": 5.0, \"N\": 10000}, \"lat_ns\"";
    let lat = SIDE.replace("\"clat_ns\"", clat);
    let job = &read(Tool::Fio, &document(&[entry("", &lat)])).measurements[0].jobs[0];
    let service = &job.directions[&Direction::Read].service;
    near(service.p99_ns as f64, 200_000.0);
    near(service.mean_ns, 100_000.0);

    let sum = document(&[entry("", SIDE).replace("\"g\"", "\"All clients\"")]);
    near(read(Tool::Fio, &sum).measurements[0].jobs[0].iops(), 1000.0);
}

/// The story: without `runtime`, 266 million operations a second were shown where the file says
/// 132,742; without `io_bytes`, 0 MB/s.
#[test]
fn each_key_may_lack_and_no_figure_changes() {
    let fields = [
        "\"io_bytes\": 40960000, \"io_kbytes\": 40000,",
        "\"io_bytes\": 40960000,",
        "\"bw_bytes\": 4096000,",
        "\"bw\": 4000,",
        "\"runtime\": 10000,",
        "\"total_ios\": 10000,",
        "\"iops\": 1000.0,",
    ];
    // The lack of any two of them.
    for first in fields {
        for second in fields {
            let side = SIDE.replace('\n', "").replace("  ", " ");
            let side = side.replace(first, "").replace(second, "");
            let text = document(&[entry("", &side)]);
            match import(Tool::Fio, &[source("it", &text)]) {
                Ok(runs) => {
                    let job = &runs[0].measurements[0].jobs[0];
                    near(job.iops(), 1000.0);
                    near(job.bytes_per_s(), 4_096_000.0);
                }
                Err(error) => assert!(error.to_string().contains("neither"), "{error}"),
            }
        }
    }
    let rates = r#""read": {"iops": 250.4, "bw": 1000}"#;
    let job = &read(Tool::Fio, &document(&[entry("", rates)])).measurements[0].jobs[0];
    near(job.iops(), 250.4);
    near(job.bytes_per_s(), 1_024_000.0);
    // Another unit of a time is a contradiction, and nothing that could be shown.
    for (from, to, words) in [
        (
            "\"runtime\": 10000",
            "\"runtime\": 10",
            "contradicts itself",
        ),
        ("\"iops\": 1000.0", "\"iops\": 1.0", "contradicts itself"),
        (
            "\"bw_bytes\": 4096000",
            "\"bw_bytes\": 4096",
            "`bw_bytes` says 4096",
        ),
        ("\"read\"", "\"reads\"", "none of `read`"),
    ] {
        let text = document(&[entry("", &SIDE.replace(from, to))]);
        let error = import(Tool::Fio, &[source("it", &text)]).expect_err(to);
        assert!(error.to_string().contains(words), "{error}");
    }
    let one = entry("", SIDE);
    let error = import(Tool::Fio, &[source("it", &document(&[one.clone(), one]))]);
    assert!(error.expect_err("doubled").to_string().contains("twice"));
}

/// The story: of results that a script had appended to one file or put into an array, all but the
/// last were dropped without a word.
#[test]
fn each_document_of_a_file_is_a_run_or_a_pass() {
    let reads = document(&[entry(GROUPED, SIDE)]);
    let writes = reads
        .replace("randread", "randwrite")
        .replace("\"read\"", "\"write\"");
    let again = reads.replace("\"mean\": 100000.0", "\"mean\": 90000.0");
    for text in [
        format!("fio: a warning\n{reads}{writes}{again}"),
        format!("[{reads},{writes},{again}]"),
        format!("[{reads},{writes},{again}]").replace('\n', " "),
    ] {
        let runs = super::import(Tool::Fio, &[source("it", &text)]).expect(&text);
        let passes: Vec<usize> = runs.iter().map(|run| run.measurements.len()).collect();
        assert_eq!(passes, [2, 1], "{text}");
        assert_eq!(runs[0].requested.passes, 2);
    }
    // Printed every five seconds, of which the last counts.
    let half = reads
        .replace(
            "\"io_bytes\": 40960000, \"io_kbytes\": 40000",
            "\"io_bytes\": 20480000",
        )
        .replace(
            "\"runtime\": 10000, \"total_ios\": 10000",
            "\"runtime\": 5000, \"total_ios\": 5000",
        );
    let record = read(Tool::Fio, &format!("{half}{reads}"));
    assert_eq!(record.measurements.len(), 1);
    assert_eq!(
        record.measurements[0].jobs[0].directions[&Direction::Read].ios,
        10_000
    );
}

/// One terse line of version 3 without counts of disks: KiB, KiB/s, IOPS, ms.
fn terse(name: &str, kib: u32, iops: u32, ms: u32) -> String {
    let latency = ["10", "900", "100.0", "5.0"].join(";");
    let list = (0..20).map(|_| "0%=0").collect::<Vec<_>>().join(";");
    let kib_per_s = kib * 1000 / ms;
    let side =
        format!("{kib};{kib_per_s};{iops};{ms};{latency};{latency};{list};{latency};0;0;0%;0;0");
    let none = "0;".repeat(12) + &list + &";0".repeat(9);
    format!("3;fio-3.33;{name};0;0;{side};{none};0;0;0\n")
}

/// The story: lines that followed each other in one file were added up: 10,666 and 1,684 operations
/// a second became 12,351, and the states of one job of 100 became 393.
#[test]
fn terse_lines_are_never_added_up_unless_they_are_of_one_run() {
    let text = terse("a", 40_000, 1000, 10_000) + &terse("b", 80_000, 2000, 10_000);
    let rates: Vec<f64> = reads(Tool::Fio, &text)
        .iter()
        .map(|run| run.measurements[0].jobs[0].iops().round())
        .collect();
    assert_eq!(rates, [1000.0, 2000.0]);
    let states = terse("a", 4000, 1000, 1000) + &terse("a", 8000, 1000, 2000);
    let states = states + &terse("a", 8040, 999, 2012);
    let record = read(Tool::Fio, &states);
    assert_eq!(record.measurements.len(), 1);
    near(record.measurements[0].jobs[0].iops(), 999.0);
    let passes = terse("a", 40_000, 1000, 10_000) + &terse("a", 41_000, 1025, 10_001);
    assert_eq!(read(Tool::Fio, &passes).measurements.len(), 2);
    // The same counts of disks: jobs that ran side by side.
    let disks = ";0".repeat(31) + ";vda;25650;0;0;0;1334;0;1334;64.19%\n";
    let parallel = text.replace('\n', &disks);
    let record = read(Tool::Fio, &parallel);
    assert_eq!(record.measurements[0].jobs.len(), 2);
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

const TEXT_3: &str = "\
g: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=16
...
fio-3.33
Starting 4 processes

g: (groupid=0, jobs=4): err= 0: pid=9029: Wed Nov 25 19:51:48 2026
  read: IOPS=10.0k, BW=39.1MiB/s (41.0MB/s)(391MiB/10001msec)
    slat (usec): min=1, max=3, avg= 2.00, stdev= 0.10
    clat (usec): min=50, max=1993.5k, avg=714.03, stdev=1424.65
     lat (usec): min=52, max=1993.5k, avg=716.03, stdev=1424.65
    clat percentiles (usec):
     |  1.00th=[   60], 50.00th=[  500], 99.00th=[ 4146],
     | 99.99th=[ 9765]
   bw (  KiB/s): min=  433, max=  624, per=97.11%, avg=503.67, stdev=104.74, samples=3
  write: IOPS=2500, BW=9.77MiB/s (10.2MB/s)(97.7MiB/10001msec); 0 zone resets
    clat (nsec): min=500, max=9000, avg=800.00, stdev= 1.00
  lat (usec)   : 4=5.71%, 10=15.60%
  fsync/fdatasync/sync_file_range:
    sync (msec): min=1, max=17, avg= 3.62, stdev= 2.85
    sync percentiles (usec):
     | 50.00th=[ 3785], 99.00th=[12387]
  cpu          : usr=0.00%, sys=2.89%, ctx=1513, majf=0, minf=17
  IO depths    : 1=0.1%, 2=0.1%, 4=0.1%, 8=0.1%, 16=109.6%, 32=0.0%, >=64=0.0%
     issued rwts: total=100100,25020,0,0 short=0,0,0,0 dropped=0,0,0,0

Run status group 0 (all jobs):
   READ: bw=39.1MiB/s (41.0MB/s), 39.1MiB/s-39.1MiB/s (41.0MB/s-41.0MB/s), io=391MiB
";

const TEXT_2: &str = "\
a: (g=0): rw=read, bs=64K-64K/64K-64K/64K-64K, ioengine=sync, iodepth=32
fio-2.1.3
Starting 1 process

a: (groupid=0, jobs=1): err= 0: pid=7491: Wed Mar  3 19:50:22 2016
  read : io=640.0MB, bw=65536KB/s, iops=1024, runt= 10000msec
    clat (usec): min=22 , max=9955 , avg=93.13, stdev=21.16
    clat percentiles (usec):
     |  1.00th=[   86], 99.00th=[  100]
     issued    : total=r=10240/w=0/d=0, short=r=0/w=0/d=0
";

#[test]
fn the_normal_text_of_fio() {
    let record = read(Tool::Fio, TEXT_3);
    assert_eq!(
        (&*record.tool, &*record.started_at),
        ("fio 3.33", "2026-11-25T19:51:48Z")
    );
    let job = &record.measurements[0].jobs[0];
    assert_eq!((job.threads, job.depth, job.direct), (4, 16, None));
    assert_eq!(
        (&*job.block_size_name(), &*job.pattern_name()),
        ("4 KiB", "random")
    );
    let way = |way| &job.directions[&way];
    assert_eq!(
        (way(Direction::Read).ios, way(Direction::Write).ios),
        (100_100, 25_020)
    );
    near(way(Direction::Read).bytes as f64, 391.0 * 1_048_576.0);
    near(way(Direction::Read).service.mean_ns, 714_030.0);
    near(way(Direction::Read).service.p99_ns as f64, 4_146_000.0);
    near(way(Direction::Read).service.max_ns as f64, 1_993_500_000.0);
    near(way(Direction::Write).service.mean_ns, 800.0);
    // 10 % more than what was issued.
    near(way(Direction::Sync).ios as f64, 12_512.0);
    near(way(Direction::Sync).service.p99_ns as f64, 12_387_000.0);
    near(way(Direction::Sync).service.mean_ns, 3_620_000.0);

    let record = read(Tool::Fio, TEXT_2);
    let job = &record.measurements[0].jobs[0];
    assert_eq!((job.threads, job.depth), (1, 1));
    near(job.iops(), 1024.0);
    near(job.bytes_per_s(), 67_108_864.0);
    near(
        job.directions[&Direction::Read].service.p99_ns as f64,
        100_000.0,
    );
}

#[test]
fn texts_behind_each_other_are_runs_passes_or_states() {
    let runs = reads(Tool::Fio, &format!("$ fio a\n{TEXT_3}\n```\n{TEXT_2}"));
    assert_eq!(runs.len(), 2);
    let later = TEXT_3
        .replace("19:51:48", "19:52:48")
        .replace("total=100100", "total=100000");
    assert_eq!(
        read(Tool::Fio, &format!("{TEXT_3}{later}"))
            .requested
            .passes,
        2
    );
    let (request, result) = TEXT_3.split_once("\n\n").expect("a gap");
    let state = result
        .replace("19:51:48", "19:51:43")
        .replace("391MiB/10001msec", "195MiB/5001msec")
        .replace("97.7MiB/10001msec", "48.8MiB/5001msec")
        .replace("total=100100,25020", "total=50050,12510");
    let record = read(Tool::Fio, &format!("{request}\n\n{state}\n{result}"));
    assert_eq!(record.measurements.len(), 1);
    assert_eq!(
        record.measurements[0].jobs[0].directions[&Direction::Read].ios,
        100_100
    );
    // JSON beside a text is the same result, unless there are more of one kind.
    let json = document(&[entry("", SIDE)]);
    assert_eq!(reads(Tool::Fio, &format!("{TEXT_2}{json}")).len(), 1);
    let text = format!("{TEXT_2}{TEXT_3}{json}");
    let error = import(Tool::Fio, &[source("it", &text)]).expect_err("three results");
    assert!(error.to_string().contains("files of their own"), "{error}");
    for (from, to, words) in [
        (
            "issued rwts: total=100100",
            "issued rwts: total=900",
            "contradicts itself",
        ),
        (
            "BW=39.1MiB/s (41.0MB/s)(391MiB/10001msec)",
            "BW=39.1",
            "no line of fio's text",
        ),
        ("avg=714.03", "avg=x", "no line of latencies"),
        ("99.00th=[ 4146]", "99.00th=[ x]", "no percentile"),
    ] {
        let text = TEXT_3.replace(from, to);
        let error = import(Tool::Fio, &[source("it", &text)]).expect_err(to);
        assert!(error.to_string().contains(words), "{error}");
    }
}

proptest! {
    /// A sound text with a few bytes changed, cut and doubled: a Record that can be kept, or a
    /// refusal.
    #[test]
    fn damaged_texts_are_read_or_refused(
        which in 0usize..9,
        cut in 0.0f64..1.0,
        changes in prop::collection::vec((0.0f64..1.0, any::<char>()), 0..8),
    ) {
        let json = document(&[entry(GROUPED, SIDE)]);
        let line = terse("a", 40_000, 1000, 10_000);
        let (tool, text) = [
            (Tool::DiskSpd, WINDOWS),
            (Tool::DiskSpd, DISKSPD_XML),
            (Tool::Cdm, include_str!("../../cdm/src/golden/v8.txt")),
            (Tool::Vdbench, VDBENCH),
            (Tool::Vdbench, VDBENCH_HISTOGRAM),
            (Tool::Fio, TEXT_2),
            (Tool::Fio, TEXT_3),
            (Tool::Fio, &*json),
            (Tool::Fio, &*line),
        ][which];
        let mut letters: Vec<char> = text.chars().collect();
        for (at, letter) in changes {
            let at = (at * letters.len() as f64) as usize;
            letters[at] = letter;
        }
        letters.truncate(((1.0 - cut * cut * cut) * letters.len() as f64) as usize);
        let text: String = letters.into_iter().collect();
        let second = source("histogram.html", &text);
        for record in import(tool, &[source("it", &text), second]).unwrap_or_default() {
            prop_assert!(Record::from_json(&record.to_json()).is_ok());
        }
    }
}
