//! Seventeen shapes of files, each with every line or key removed, doubled and changed: a figure
//! that comes out is one that the file states, or the file is refused.

use blocklab_record::{Record, Statistic};
use blocklab_workload::Direction;

use crate::cdm_tests::CDM_3;
use crate::diskspd_tests::{DISKSPD_OLD, DISKSPD_TEXT, DISKSPD_XML, WINDOWS};
use crate::fio::json_tests::{GROUPED, SIDE, document, entry};
use crate::fio::terse_tests::terse;
use crate::fio::text_tests::{TEXT_2, TEXT_3};
use crate::tests::source;
use crate::vdbench_tests::{VDBENCH, VDBENCH_LOOPS};
use crate::{Tool, import};

/// Name of the file and its text.
fn shapes() -> [(Tool, &'static str, String); 17] {
    let json = document(&[entry(GROUPED, SIDE)]);
    let mixed = json.replace("\"read\"", "\"mixed\"");
    let old = json
        .replace("\"total_ios\": 10000,", "")
        .replace("clat_ns", "clat");
    let all = json.replace("\"g\"", "\"All clients\"");
    use Tool::{Cdm, DiskSpd, Fio, Vdbench};
    let [v5, v6, v8] = [
        include_str!("../../cdm/src/golden/v5.txt"),
        include_str!("../../cdm/src/golden/v6.txt"),
        include_str!("../../cdm/src/golden/v8.txt"),
    ];
    [
        (DiskSpd, "a", DISKSPD_TEXT.to_owned()),
        (DiskSpd, "a", DISKSPD_OLD.to_owned()),
        (DiskSpd, "a", WINDOWS.to_owned()),
        (DiskSpd, "a", DISKSPD_XML.to_owned()),
        (Cdm, "a", CDM_3.to_owned()),
        (Cdm, "a", v5.to_owned()),
        (Cdm, "a", v6.to_owned()),
        (Cdm, "a", v8.to_owned()),
        (Fio, "a", json),
        (Fio, "a", mixed),
        (Fio, "a", old),
        (Fio, "a", all),
        (Fio, "a", terse("a", 40_000, 1000, 10_000)),
        (Fio, "a", TEXT_2.to_owned()),
        (Fio, "a", TEXT_3.to_owned()),
        (Vdbench, "flatfile.html", VDBENCH.to_owned()),
        (Vdbench, "flatfile.html", VDBENCH_LOOPS.to_owned()),
    ]
}

fn read(tool: Tool, name: &str, text: &str) -> Result<Vec<Record>, String> {
    let found = import(tool, &[source(name, text)]);
    found.map_err(|error| error.to_string())
}

/// Rates and latencies of every job and direction: IOPS, bytes a second, mean, p99.
fn figures(records: &[Record]) -> Vec<[Option<f64>; 4]> {
    let mut all = Vec::new();
    let measurements = records.iter().flat_map(|record| &record.measurements);
    for job in measurements.flat_map(|measurement| &measurement.jobs) {
        let seconds = job.elapsed_ns as f64 / 1e9;
        for (direction, result) in &job.directions {
            let moved = *direction != Direction::Sync;
            let known =
                |statistic, value| (!result.service.unknown.has(statistic)).then_some(value);
            all.push([
                moved.then_some(result.ios as f64 / seconds),
                moved.then_some(result.bytes as f64 / seconds),
                known(Statistic::Mean, result.service.mean_ns),
                known(Statistic::P99, result.service.p99_ns as f64),
            ]);
        }
    }
    all
}

fn is_near(left: f64, right: f64) -> bool {
    (left - right).abs() <= right.abs() * 0.03 + 1e-9
}

/// The figures that are none of the file's: whose are not known is no fault.
fn invented(found: &[Record], known: &[[Option<f64>; 4]]) -> Vec<[Option<f64>; 4]> {
    let mut all = figures(found);
    all.retain(|row| {
        let is_stated = |one: &[Option<f64>; 4]| {
            // What was beside it may be gone.
            let mut pairs = row.iter().zip(one);
            pairs.all(|pair| match pair {
                (Some(mine), Some(its)) => is_near(*mine, *its),
                _ => true,
            })
        };
        !known.iter().any(is_stated)
    });
    all
}

/// The parts of a text that can lack: its lines, or the keys of a JSON, or the fields of a row.
fn parts(text: &str) -> Vec<&str> {
    if text.contains("fio version") {
        text.split_inclusive(',').collect()
    } else {
        text.split_inclusive('\n').collect()
    }
}

#[test]
fn no_figure_comes_from_what_a_file_does_not_state() {
    let mut faults = Vec::new();
    for (tool, name, text) in shapes() {
        let whole = read(tool, name, &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let known = figures(&whole);
        assert!(!known.is_empty(), "{text}");
        let parts = parts(&text);
        for at in 0..parts.len() {
            let without = [&parts[..at], &parts[at + 1..]].concat().concat();
            let twice = [&parts[..=at], &parts[at..]].concat().concat();
            for (what, changed) in [("without", without), ("twice", twice)] {
                let mut found = read(tool, name, &changed).unwrap_or_default();
                // It says so: the text has the sum of its threads, too.
                found.retain(|record| {
                    !record
                        .notes
                        .iter()
                        .any(|note| note.text.contains("total: row"))
                });
                for figures in invented(&found, &known) {
                    faults.push(format!("{tool:?} {what} {:?}: {figures:?}", parts[at]));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

const CONTRADICTS: &str = "contradicts itself";

/// What is changed in a text, and the words of its refusal. `line` is a terse one.
fn contradictions(line: &str) -> [(Tool, &str, &str, &str, &str); 10] {
    use Tool::{Cdm, Fio, Vdbench};
    let cdm = include_str!("../../cdm/src/golden/v8.txt");
    let no_row = "no row of a report";
    let no_depths = "nothing tells how often";
    [
        (Cdm, cdm, " MB/s [", " GB/s [", no_row),
        (Cdm, CDM_3, " MB/s [", " KB/s [", no_row),
        (Cdm, CDM_3, "0.410 MB/s", "410.0 MB/s", CONTRADICTS),
        (Fio, TEXT_3, "(391MiB/", "(391GiB/", CONTRADICTS),
        (Fio, TEXT_3, "/10001msec)", "/10msec)", CONTRADICTS),
        (Fio, TEXT_3, "  IO depths ", "  depths ", no_depths),
        (Fio, line, ";4000;1000;", ";4;1000;", CONTRADICTS),
        (Vdbench, VDBENCH, " 10.5 4096 ", " 10.5 4 ", CONTRADICTS),
        (Vdbench, VDBENCH, " read% ", " share ", "without `read%`"),
        (Vdbench, VDBENCH, " bytes/io ", " b ", "without `bytes/io`"),
    ]
}

/// Another unit, or a figure that another one contradicts.
#[test]
fn a_changed_unit_is_the_files_figure_or_a_contradiction() {
    let line = terse("a", 40_000, 1000, 10_000);
    for (tool, text, from, to, words) in contradictions(&line) {
        assert!(text.contains(from), "{from}");
        let name = if tool == Tool::Vdbench {
            "flatfile.html"
        } else {
            "a"
        };
        let error = read(tool, name, &text.replace(from, to)).expect_err(to);
        assert!(error.contains(words), "{to}: {error}");
    }
}

#[test]
fn a_time_has_the_unit_that_the_file_gives_it() {
    let text = TEXT_3.replace("clat (usec): min=50", "clat (msec): min=50");
    let found = read(Tool::Fio, "a", &text).expect("a result");
    let [_, _, mean, _] = figures(&found)[0];
    assert!(is_near(mean.expect("a mean"), 714.03e6), "{mean:?}");
}

/// Vdbench writes `n/a` where its hosts differ: the run was "A result of Vdbench n/a".
#[test]
fn a_version_that_is_not_known_is_none() {
    let text = VDBENCH.replace(" 50407\n", " n/a\n");
    let found = read(Tool::Vdbench, "flatfile.html", &text).expect("a result");
    assert_eq!(found[0].tool, "Vdbench");
}
