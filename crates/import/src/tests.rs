//! What holds of all readers, and what their tests share.

use blocklab_record::Record;
use proptest::prelude::*;

use super::*;
use crate::diskspd_tests::{DISKSPD_XML, WINDOWS};
use crate::fio::json_tests::{GROUPED, SIDE, document, entry};
use crate::fio::terse_tests::terse;
use crate::fio::text_tests::{TEXT_2, TEXT_3};
use crate::vdbench_tests::{VDBENCH, VDBENCH_HISTOGRAM, VDBENCH_LOOPS, vdbench};

pub(crate) fn source(name: &str, text: &str) -> Source {
    Source {
        name: name.to_owned(),
        text: text.to_owned(),
    }
}

pub(crate) fn reads(tool: Tool, text: &str) -> Vec<Record> {
    let sources = [source("it", text)];
    import(tool, &sources).unwrap_or_else(|error| panic!("{error}"))
}

/// The only run of a text.
pub(crate) fn read(tool: Tool, text: &str) -> Record {
    only(reads(tool, text))
}

pub(crate) fn only(mut all: Vec<Record>) -> Record {
    assert_eq!(all.len(), 1, "one run");
    all.remove(0)
}

#[track_caller]
pub(crate) fn near(found: f64, wanted: f64) {
    assert!(
        (found - wanted).abs() <= wanted.abs() / 100.0,
        "{found} for {wanted}"
    );
}

/// The story: a compressed log of fio was to be saved as UTF-8.
#[test]
fn a_compressed_log_is_to_be_inflated() {
    let error = decode("x_bw.1.log.fz", vec![0x78, 0x9c, 0xff]).expect_err("no text");
    assert!(error.to_string().contains("--inflate-log"), "{error}");
    let error = decode("x.txt", vec![0x78, 0x9c, 0xff]).expect_err("no text");
    assert!(error.to_string().contains("save the report"), "{error}");
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
    assert!(decode("it", vec![0xff, 0xfe, b'a', 0]).is_ok_and(|decode| decode.text == "a"));
    assert!(decode("it", vec![0x80, 0x81]).is_err());
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
