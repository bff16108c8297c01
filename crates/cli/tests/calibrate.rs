//! A known device, measured by the built-in study in virtual time, comes out of `calibrate` again.

use std::path::Path;
use std::process::Command;

use blocklab_catalog::device_file;
use blocklab_device::{Covers, DeviceSpec};
use blocklab_record::{JobResult, Record};

/// Two limiters with a second of bucket each, as EBS has them; sequential operations are merged.
const GP3: &str = r#"
[[volume]]
kind = "gp3"
capacity = "100GiB"
accounting = "merged 256KiB"
[[volume.cap]]
name = "volume operations"
rate = "3000 IOPS"
bucket = "1s"
[[volume.cap]]
name = "volume throughput"
rate = "125 MiB/s"
bucket = "1s"
[volume.service]
read = { base = "600us", per_kib = "2.2us" }
write = { base = "600us", per_kib = "2.2us" }
stream_read = { base = "580us", per_kib = "4.06us" }
stream_write = { base = "580us", per_kib = "4.06us" }
spread = { sigma = 0.295 }
"#;

/// A medium of its own maximum in each direction, and a prefetch.
const NVME: &str = r#"
[[volume]]
kind = "nvme"
capacity = "500GiB"
[volume.service]
read = { base = "80us", per_kib = "2.4us" }
write = { base = "20us", per_kib = "1.2us" }
stream_read = { base = "30us", per_kib = "2.4us" }
spread = { sigma = 0.11 }
saturation = { read_iops = 200000, write_iops = 120000 }
"#;

/// One operation at a time, and a seek where it does not continue the last one.
const HDD: &str = r#"
[[volume]]
kind = "hdd"
capacity = "2TiB"
[volume.service]
read = { base = "8ms", per_kib = "6.5us" }
write = { base = "6ms", per_kib = "6.5us" }
stream_read = { base = "100us", per_kib = "6.5us" }
stream_write = { base = "100us", per_kib = "6.5us" }
spread = { sigma = 0.3 }
saturation = { read_iops = 130, write_iops = 170 }
"#;

/// A budget for each direction and one for the bytes of both; now and then a slow one.
const BUDGETS: &str = r#"
[[volume]]
kind = "local"
capacity = "150GB"
[[volume.cap]]
name = "read operations"
covers = "reads"
rate = "59000 IOPS"
[[volume.cap]]
name = "write operations"
covers = "writes"
rate = "29000 IOPS"
[[volume.cap]]
name = "bytes"
rate = "250 MB/s"
[volume.service]
read = { base = "43us", per_kib = "2.4us" }
write = { base = "43us", per_kib = "2.4us" }
spread = { sigma = 0.11, tail = { share = 0.002, factor = 20, sigma = 0.3 } }
"#;

/// A place of its own for the program.
struct Bench(tempfile::TempDir);

impl Bench {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Exit status, standard output, standard error.
    fn says(&self, line: &str) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blocklab"));
        command
            .current_dir(self.path())
            .env("BLOCKLAB_STORE", self.path().join("runs"))
            // The user's own catalog would change figures.
            .env("XDG_DATA_HOME", self.path().join("data"));
        let run = command.args(line.split(' ')).output().expect("it starts");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (run.status.code(), text(run.stdout), text(run.stderr))
    }

    #[track_caller]
    fn does(&self, line: &str) -> String {
        let (code, out, error) = self.says(line);
        assert_eq!(code, Some(0), "{line}: {out}{error}");
        out
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).expect("written");
    }

    fn measure(&self, device: &str, runtime: &str) -> Record {
        self.does(&format!(
            "run calibrate --seed 7 --quiet --runtime {runtime} --target sim:./{device}"
        ));
        Record::from_json(&self.does("export latest --format json")).expect("a record")
    }

    fn calibrated(&self, device: &str, runtime: &str) -> (Record, DeviceSpec) {
        let first = self.measure(device, runtime);
        let run = self.does("calibrate latest --allow-simulated -o fitted.toml");
        for words in [
            "read latency",
            "random write\n    4 KiB q1 ",
            "Fit: good",
            "Not known\n",
            "--target sim:./fitted.toml\n",
        ] {
            assert!(run.contains(words), "{words}: {run}");
        }
        let widest = run.lines().map(|line| line.chars().count()).max();
        assert!(widest < Some(140), "{run}");
        let text = std::fs::read_to_string(self.path().join("fitted.toml")).expect("the device");
        (
            first,
            device_file::parse(&text, "fitted.toml").expect("a device file"),
        )
    }
}

fn p50(job: &JobResult) -> f64 {
    let all = job.directions.values();
    all.map(|it| it.service.p50_ns as f64).fold(0.0, f64::max)
}

/// IOPS within 5 % and p50 within 10 % in nine of ten cells.
#[track_caller]
fn check_agreement(first: &Record, again: &Record) {
    let pairs = || first.measurements.iter().zip(&again.measurements);
    let off = |a: f64, b: f64| (b / a - 1.0).abs();
    let iops = pairs().filter(|(a, b)| off(a.jobs[0].iops(), b.jobs[0].iops()) > 0.05);
    let medians = pairs().filter(|(a, b)| off(p50(&a.jobs[0]), p50(&b.jobs[0])) > 0.10);
    let names = |cells: Vec<(&_, &_)>| -> Vec<String> {
        let name = |(it, _): &(&blocklab_record::Measurement, &_)| it.case.clone();
        cells.iter().map(name).collect()
    };
    let (iops, medians) = (names(iops.collect()), names(medians.collect()));
    let allowed = first.measurements.len() / 10;
    assert!(first.measurements.len() > 100, "the study is whole");
    assert!(iops.len() <= allowed, "IOPS differ: {iops:#?}");
    assert!(medians.len() <= allowed, "medians differ: {medians:#?}");
}

/// Caps as (covers, operations or bytes a second), maxima of the medium; all within 2 %.
#[track_caller]
fn check(device: &str, runtime: &str, caps: &[(Covers, f64)], maxima: Option<[f64; 2]>) {
    let bench = Bench::new();
    bench.write("known.toml", device);
    let (first, fitted) = bench.calibrated("known.toml", runtime);
    let volume = &fitted.volumes[0];
    let near = |value: f64, known: f64| {
        assert!(
            (value / known - 1.0).abs() <= 0.02,
            "{value} for {known}: {fitted:#?}"
        );
    };
    let found = volume
        .caps
        .iter()
        .map(|cap| (cap.covers, cap.rate.per_second()));
    let found: Vec<(Covers, f64)> = found.collect();
    assert_eq!(found.len(), caps.len(), "{found:?}");
    for ((covers, value), (known_covers, known)) in found.iter().zip(caps) {
        assert_eq!(covers, known_covers, "{found:?}");
        near(*value, *known);
    }
    let most = volume
        .service
        .as_ref()
        .and_then(|service| service.saturation.as_ref());
    assert_eq!(most.is_some(), maxima.is_some(), "{most:?}");
    if let (Some(most), Some([reads, writes])) = (most, maxima) {
        near(most.read_iops, reads);
        near(most.write_iops, writes);
    }
    check_agreement(&first, &bench.measure("fitted.toml", runtime));
}

#[test]
fn a_cloud_volume_with_two_limiters() {
    let caps = [(Covers::All, 3000.0), (Covers::All, 125.0 * 1_048_576.0)];
    check(GP3, "2s", &caps, None);
}

#[test]
fn a_drive_that_saturates() {
    check(NVME, "2s", &[], Some([200_000.0, 120_000.0]));
}

#[test]
fn a_disk_that_seeks() {
    check(HDD, "20s", &[], Some([130.0, 170.0]));
}

#[test]
fn a_budget_for_each_direction() {
    let caps = [
        (Covers::Reads, 59_000.0),
        (Covers::Writes, 29_000.0),
        (Covers::All, 250e6),
    ];
    check(BUDGETS, "500ms", &caps, None);
}

#[test]
fn a_run_that_cannot_be_fitted_is_refused_with_what_to_measure() {
    let bench = Bench::new();
    bench.write("known.toml", GP3);
    bench.does("run quick --quiet --runtime 100ms --target sim:./known.toml");
    for (line, words) in [
        (
            "calibrate latest",
            &["was simulated", "--allow-simulated"][..],
        ),
        (
            "calibrate latest --allow-simulated",
            &[
                "only one block size (4 KiB)",
                "64KiB",
                "blocklab run calibrate --target",
            ],
        ),
        ("calibrate nonesuch", &["nonesuch"]),
        ("calibrate", &["RUN"]),
    ] {
        let (code, out, error) = bench.says(line);
        assert_eq!(code, Some(2), "{line}: {out}");
        for word in words {
            assert!(error.contains(word), "{line}: {error}");
        }
    }
}

#[test]
fn a_file_that_exists_is_kept_and_figures_come_as_json() {
    let bench = Bench::new();
    bench.write("known.toml", GP3);
    bench.does("run calibrate --quiet --runtime 200ms --read-only --target sim:./known.toml");
    bench.write("mine.toml", "precious");
    let line = "calibrate latest --allow-simulated -o mine.toml";
    let (code, _, error) = bench.says(line);
    assert_eq!(code, Some(2));
    assert!(
        error.contains("mine.toml: it exists, and blocklab did not write it"),
        "{error}"
    );
    let kept = || std::fs::read_to_string(bench.path().join("mine.toml")).expect("text");
    assert_eq!(kept(), "precious");
    let run = bench.does(&format!("{line} --force --json"));
    let run: serde_json::Value = serde_json::from_str(&run).expect("JSON");
    assert_eq!(run["residuals"]["cells"].as_array().map(Vec::len), Some(50));
    assert!(
        run["calibration"]["unknown"][0]
            .as_str()
            .is_some_and(|as_str| as_str.contains("writes were not measured"))
    );
    assert!(kept().starts_with("# Made by `blocklab calibrate"));
    assert!(kept().contains("assumed: not measured: as the other direction"));
}
