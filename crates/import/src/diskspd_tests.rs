//! DiskSpd: texts and XML, shortened, and what comes out of them.

use blocklab_workload::Direction;

use crate::tests::{near, read, source};
use crate::{Tool, import};

pub(crate) const DISKSPD_TEXT: &str = include_str!("../../diskspd/src/golden/text-2.2.txt");

pub(crate) const DISKSPD_OLD: &str = include_str!("../../diskspd/src/golden/text-2.0.21a.txt");

pub(crate) const DISKSPD_XML: &str = include_str!("../../diskspd/src/golden/result.xml");

/// Two threads on a drive, as 2.0.21a prints it on Windows, line ends included.
pub(crate) const WINDOWS: &str = "\r
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
pub(crate) fn two_targets(title: &str, total: &str) -> String {
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

/// The story: a machine with `proc count: 4` had one processor, as the text of 2.0 has no `cpu count:`.
#[test]
fn the_processors_of_an_old_text_are_counted() {
    let record = read(Tool::DiskSpd, WINDOWS);
    assert_eq!(record.environment.processor.count, 4);
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

/// A text whose total is 2,242,082 operations and whose threads add up to 5,000 was imported with
/// 5,000, without a word.
#[test]
fn a_total_that_its_threads_contradict_is_noted() {
    assert!(
        !read(Tool::DiskSpd, WINDOWS)
            .notes
            .iter()
            .any(|note| note.text.contains("total: row"))
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

/// `-Suw` was on the command line, and the import showed "buffered", because the text had no block
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
    // The story: a run with `-F4 -O2` had one thread, and eight operations in flight where a finding expected
    // two.
    let pool = line.replace("-o4 -t2", "-F3 -O5");
    let record = read(Tool::DiskSpd, &bare(&format!("\n{pool}\r\n\r\n")));
    let job = &record.measurements[0].jobs[0];
    assert_eq!((job.threads, job.depth), (3, 5));
    let record = read(Tool::DiskSpd, &bare(""));
    assert_eq!(record.measurements[0].jobs[0].depth, 0);
}
