//! CrystalDiskMark's tests through the program, in virtual time, and its report read again.

mod stand;

use stand::Stand;

const MODEL: [&str; 2] = ["--target", "sim:gp3:1TiB@r5d.xlarge"];

#[test]
fn the_report_is_imported_with_the_figures_that_it_shows() {
    let stand = Stand::new();
    for version in ["9", "8", "6", "5"] {
        let line = ["cdm", "--quiet", "--cdm-version", version, "--loops", "2"];
        let run = stand.lab.blocklab(line.into_iter().chain(MODEL));
        assert_eq!((run.code, &*run.err), (Some(0), ""), "{version}");
        let shown: Vec<f64> = run.out.lines().filter_map(mb_per_s).collect();
        assert_eq!(shown.len(), 8, "{}", run.out);
        stand.lab.write("report", &run.out);
        let run = stand.lab.blocklab(["import", "cdm", "report"]);
        assert_eq!((run.code, &*run.err), (Some(0), ""), "{version}");
        let record = stand.latest();
        let imported = record.measurements.iter().map(|measurement| {
            let bytes: f64 = measurement.jobs.iter().map(|job| job.bytes_per_s()).sum();
            bytes / 1e6
        });
        for (found, shown) in imported.zip(shown) {
            assert!(
                (found - shown).abs() < 0.01,
                "{version}: {found} for {shown}"
            );
        }
    }
}

/// Of a row of the report.
fn mb_per_s(line: &str) -> Option<f64> {
    let (head, _) = line.split_once(" MB/s")?;
    head.rsplit_once(':')?.1.trim().parse().ok()
}

#[test]
fn what_a_version_does_not_have_is_refused() {
    let stand = Stand::new();
    for (line, words) in [
        (["--cdm-version", "5", "--profile", "nvme"], "no profiles"),
        (["--cdm-version", "6", "--mix", "70"], "no mixed tests"),
        (
            ["--cdm-version", "9", "--size", "15MiB"],
            "16 MiB to 64 GiB",
        ),
    ] {
        let all = ["cdm"].into_iter().chain(line).chain(MODEL);
        stand.lab.refused(all, &[words]);
    }
}

/// The story: `--json --output -` printed the report and then JSON, which no reader of JSON takes.
#[test]
fn json_and_a_report_on_standard_output_are_refused() {
    let stand = Stand::new();
    let line = ["cdm", "--json", "--output", "-"].into_iter().chain(MODEL);
    stand.lab.refused(line, &["--output -", "name a file"]);
}

/// The story: with `--quiet`, a run whose writes failed ended with 1, and nothing said why.
#[test]
fn a_quiet_run_that_fails_names_the_reason() {
    let stand = Stand::new();
    // A write beyond a few MiB fails with EFBIG, because the shell limits the size of files.
    let run = stand.lab.shell(
        "truncate -s 16M f; trap '' XFSZ; ulimit -f 8192; blocklab cdm --quiet --profile demo \
         --loops 1 --measure 100ms --interval 0 --size 16MiB --target f --destroy-data f",
    );
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
    assert!(run.err.contains("EFBIG"), "{}", run.err);
}
