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
    std::fs::write(stand.lab.path().join("result"), text).expect("written");
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
