//! What Debian's fio prints becomes a run with the same figures.

mod stand;

use blocklab_record::Record;
use blocklab_workload::Direction;
use serde_json::Value;
use stand::{Stand, tool};

/// What fio prints of a few thousand operations on a file of its own.
fn printed(stand: &Stand, output: &[&str]) -> Option<String> {
    let file = format!("--filename={}", stand.disk().join("data").display());
    let job = [
        "--name=probe",
        "--size=8m",
        "--rw=randrw",
        "--rwmixread=70",
        "--bs=4k",
        "--ioengine=psync",
        &file,
    ];
    let all: Vec<&str> = job.iter().chain(output).copied().collect();
    tool("fio", &all)
}

fn imported(stand: &Stand, text: &str) -> Record {
    stand.lab.write("result", text);
    let run = stand.lab.blocklab(["import", "fio", "result"]);
    assert_eq!((run.code, &*run.err), (Some(0), ""), "{text}");
    stand.latest()
}

#[test]
fn the_json_of_fio() {
    let stand = Stand::new();
    for format in ["--output-format=json", "--output-format=json+"] {
        let Some(text) = printed(&stand, &[format]) else {
            return;
        };
        let begin = text.find('{').expect("a document");
        let document: Value = serde_json::from_str(&text[begin..]).expect("JSON");
        let record = imported(&stand, &text);
        let job = &record.measurements[0].jobs[0];
        assert_eq!(job.mix_name(), "70 % read, 30 % write");
        for (direction, found) in &job.directions {
            let theirs = &document["jobs"][0][direction.name()];
            assert_eq!(Some(found.ios), theirs["total_ios"].as_u64());
            assert_eq!(Some(found.bytes), theirs["io_bytes"].as_u64());
            let clat = &theirs["clat_ns"];
            assert_eq!(Some(found.service.mean_ns), clat["mean"].as_f64());
            assert_eq!(Some(found.service.max_ns), clat["max"].as_u64());
            let p99 = clat["percentile"]["99.000000"].as_f64().expect("p99");
            let off = found.service.p99_ns as f64 / p99 - 1.0;
            // A bucket of theirs and half a bucket of ours.
            assert!(off.abs() < 0.04, "{} for {p99}", found.service.p99_ns);
        }
        assert_eq!(job.directions.len(), 2);
    }
}

#[test]
fn the_terse_output_of_fio() {
    let stand = Stand::new();
    for version in 2..=5 {
        let version = format!("--terse-version={version}");
        let Some(text) = printed(&stand, &["--output-format=terse", &version]) else {
            return;
        };
        let record = imported(&stand, &text);
        let job = &record.measurements[0].jobs[0];
        let (read, write) = (
            &job.directions[&Direction::Read],
            &job.directions[&Direction::Write],
        );
        assert_eq!(read.bytes + write.bytes, 8 << 20, "{text}");
        assert!(read.bytes > write.bytes, "{text}");
        assert_eq!(job.name, "probe");
    }
}

/// The runs that an import says it kept.
fn runs(stand: &Stand, files: &[&str]) -> Vec<Record> {
    let words = stand
        .lab
        .blocklab(["import", "fio"].iter().chain(files).copied());
    assert_eq!((words.code, &*words.err), (Some(0), ""), "{files:?}");
    assert!(
        !words.out.contains("above the queue depth"),
        "{}",
        words.out
    );
    let args = ["import", "fio", "--json"].iter().chain(files).copied();
    let found = blocklab_proof::json(&stand.lab.blocklab(args).out);
    let ids = found["runs"].as_array().expect("ids").clone();
    let load = |id: Value| stand.lab.store().load(id.as_str().expect("an id"));
    ids.into_iter()
        .map(|id| load(id).expect("a kept run").record)
        .collect()
}

/// Runs fio on a file of the stand; nothing where it is missing.
fn fio(stand: &Stand, job: &str) -> Option<String> {
    let file = format!("--filename={}", stand.disk().join("data").display());
    let always = ["--size=4m", "--bs=4k", &file, "--name=probe"];
    let own_name = job.starts_with("--name=");
    let always = always.into_iter().take(if own_name { 3 } else { 4 });
    let all: Vec<&str> = always.chain(job.split(' ')).collect();
    tool("fio", &all)
}

/// Every file of `numjobs=N --group_reporting` was judged as one thread's, hundreds of per cent above
/// its depth: "Do not compare".
#[test]
fn groups_and_paces_are_known() {
    let stand = Stand::new();
    for (job, threads) in [
        (
            "--rw=randread --ioengine=libaio --iodepth=16 --numjobs=8 --group_reporting",
            8,
        ),
        (
            "--rw=randread --ioengine=psync --numjobs=4 --group_reporting",
            4,
        ),
        (
            "--rw=read --rate_iops=2000 --ioengine=libaio --iodepth=4",
            1,
        ),
        ("--rw=read --thinktime=100", 1),
    ] {
        let Some(text) = fio(&stand, &format!("{job} --output-format=json")) else {
            return;
        };
        let own =
            format!("fio --name=probe --size=4m --bs=4k --filename=own {job} --output-format=json");
        let own = stand.lab.blocklab(own.split(' '));
        for text in [text, own.out] {
            stand.lab.write("result", text);
            let run = &runs(&stand, &["result"])[0];
            assert_eq!(run.measurements[0].jobs[0].threads, threads, "{job}");
            let words = stand.lab.blocklab(["show", &run.id, "--findings"]).out;
            let is_paced = job.contains("rate") || job.contains("think");
            assert!(!(is_paced && words.contains("Do not compare")), "{words}");
        }
    }
}

/// Another key than `read` and `write` left "nothing was measured", with exit code 0.
#[test]
fn nothing_of_a_result_vanishes() {
    let stand = Stand::new();
    let way = |stand: &Stand, job: &str, direction| {
        let text = fio(stand, job)?;
        stand.lab.write("result", text);
        let mut found = runs(stand, &["result"]);
        found[0].measurements[0].jobs[0]
            .directions
            .remove(&direction)
    };
    for form in ["--output-format=json", "--output-format=normal"] {
        let job = format!("--rw=randrw --unified_rw_reporting=1 {form}");
        let Some(writes) = way(&stand, &job, Direction::Write) else {
            return;
        };
        assert!(writes.ios > 400, "{writes:?}");
        let job = format!("--rw=write --ioengine=sync --fdatasync=8 {form}");
        let flushes = way(&stand, &job, Direction::Sync).expect("flushes");
        assert!((127..=129).contains(&flushes.ios), "{flushes:?}");
        let job = format!("--rw=read --lat_percentiles=1 --clat_percentiles=0 {form}");
        let reads = way(&stand, &job, Direction::Read).expect("reads");
        assert!(reads.service.p99_ns >= reads.service.p50_ns && reads.service.p50_ns > 0);
    }
}

/// Of results in one file, all but the last were dropped, or they were added up.
#[test]
fn results_behind_each_other_are_runs() {
    let stand = Stand::new();
    for form in ["json", "terse", "normal"] {
        let texts: Option<Vec<String>> = ["a --rw=read", "b --rw=randread", "c --rw=write"]
            .iter()
            .map(|job| {
                fio(
                    &stand,
                    &format!("--name={job} --bs=64k --size=2m --output-format={form}"),
                )
            })
            .collect();
        let Some(texts) = texts else { return };
        stand.lab.write("all", texts.concat());
        let found = runs(&stand, &["all"]);
        assert_eq!(found.len(), 3, "{form}");
        if form == "json" {
            let array = format!("[{}]", texts.join(","));
            stand.lab.write("all", array);
            assert_eq!(runs(&stand, &["all"]).len(), found.len());
        }
    }
}

/// fio's logs were refused: "neither JSON nor terse output of fio, nor its normal text".
#[test]
fn the_logs_of_fio() {
    let stand = Stand::new();
    let prefix = stand.disk().join("x").display().to_string();
    let logs =
        format!("--write_bw_log={prefix} --write_iops_log={prefix} --write_lat_log={prefix}");
    for (job, counts_each) in [
        ("--log_offset=1 --log_prio=1", true),
        ("--numjobs=2 --group_reporting", true),
        // On a machine that stalls, fio ends a window late and states a rate that is not the one of its time.
        (
            "--log_avg_msec=50 --time_based --runtime=1 --rate_iops=1000",
            false,
        ),
    ] {
        let Some(text) = fio(
            &stand,
            &format!("--rw=randrw {logs} {job} --output-format=json"),
        ) else {
            return;
        };
        let begin = text.find('{').expect("a document");
        let document: Value = serde_json::from_str(&text[begin..]).expect("JSON");
        let names = stand
            .left()
            .into_iter()
            .filter(|path| path.extension().is_some_and(|end| end == "log"));
        let names: Vec<String> = names.map(|path| path.display().to_string()).collect();
        let names: Vec<&str> = names.iter().map(|name| &**name).collect();
        let found = runs(&stand, &names);
        assert_eq!(found.len(), 1, "{names:?}");
        let measurement = &found[0].measurements[0];
        for direction in [Direction::Read, Direction::Write] {
            let theirs = &document["jobs"][0][direction.name()];
            let ways = measurement
                .jobs
                .iter()
                .filter_map(|job| job.directions.get(&direction));
            let (mut ios, mut bytes, mut ns) = (0.0, 0.0, 0.0);
            for way in ways {
                ios += way.ios as f64;
                bytes += way.bytes as f64;
                ns += way.service.mean_ns * way.ios as f64;
            }
            assert!(ios > 0.0 && bytes > 0.0 && ns > 0.0, "{job}");
            if counts_each {
                let latency = theirs["clat_ns"]["mean"].as_f64().expect("a figure");
                assert_eq!(Some(ios), theirs["total_ios"].as_f64(), "{job}");
                assert_eq!(Some(bytes), theirs["io_bytes"].as_f64(), "{job}");
                assert!((ns / ios - latency).abs() <= latency * 0.03, "{job}");
            }
        }
        for name in names {
            std::fs::remove_file(name).expect("a log");
        }
    }
}

/// The colours and line ends of a foreign record reached the terminal and a CSV, and a stray byte at
/// the end of a log lost all its runs.
#[test]
fn records_of_others_are_text() {
    let stand = Stand::new();
    let golden = include_str!("../../crates/record/golden/v2/everything.json");
    let mut record: Value = serde_json::from_str(golden).expect("a golden record");
    record["requested"]["name"] = "a\u{1b}[31m\nb".into();
    record["requested"]["description"] = "\u{1b}[31mred".into();
    let line = format!("{{\"line_format\": 1, \"kind\": \"record\", \"record\": {record}}}\n");
    let torn = format!("{}\n", &line[..line.len() / 2]);
    let write = |bytes: &[u8]| stand.lab.write("log", bytes);
    write(&[line.as_bytes(), b"\xff\xfe"].concat());
    let run = stand.lab.blocklab(["import", "record", "log"]);
    assert_eq!((run.code, &*run.err), (Some(0), ""));
    assert!(!run.out.contains("\u{1b}[31mred"), "{}", run.out);
    let csv = stand
        .lab
        .blocklab(["export", "latest", "--format", "csv"])
        .out;
    assert!(
        !csv.contains('\u{1b}') && csv.contains(r"a\u001b[31m\u000ab"),
        "{csv}"
    );
    write(&[torn.as_bytes(), line.as_bytes()].concat());
    let run = stand.lab.blocklab(["import", "record", "log"]);
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(
        run.err.contains("log:1: the line of a run is damaged"),
        "{}",
        run.err
    );
}
