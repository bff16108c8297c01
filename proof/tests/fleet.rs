//! Hosts that begin together, and their runs as one.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};
use std::time::{Duration, SystemTime};

use blocklab_proof::{Lab, good, json};
use jiff::Timestamp;

/// A moment soon enough to wait for, and late enough for a busy machine to be ready.
fn soon() -> String {
    let soon = SystemTime::now() + Duration::from_secs(4);
    let soon = Timestamp::try_from(soon).expect("a moment");
    soon.to_string()
}

/// The story: the hosts of a simulation had no skews, and the page said that the skews are by clocks that
/// nothing keeps in step.
#[test]
fn simulated_hosts_have_no_clocks() {
    let lab = Lab::new();
    for name in ["h1", "h2"] {
        let line =
            format!("run -q --rw randread --runtime 1s --name {name} -t sim:gp3:1TiB@m5.large");
        good(lab.blocklab(line.split(' ')));
    }
    let text = good(lab.blocklab("merge h1 h2".split(' ')));
    assert!(text.contains("2 hosts that ran together"), "{text}");
    assert!(
        !text.contains("clock") && !text.contains("common window"),
        "{text}"
    );
}

#[test]
fn hosts_begin_at_one_moment_and_are_merged() {
    let lab = Lab::new();
    // The program is built by its first call, which may take minutes.
    good(lab.blocklab(["--version"]));
    let moment = soon();
    let hosts: Vec<Child> = ["h1", "h2", "h3"]
        .iter()
        .map(|name| {
            let line = format!(
                "run -q --rw randread --target null --runtime 300ms --repeat 2 --name {name} \
                 --start-at {moment}"
            );
            let mut command = lab.command();
            let command = command.args(line.split(' ')).stdout(Stdio::null());
            command.spawn().expect("it starts")
        })
        .collect();
    for mut host in hosts {
        assert!(host.wait().expect("it ends").success());
    }
    let rack = json(&good(
        lab.blocklab("merge h1 h2 h3 --name rack --json".split(' ')),
    ));
    let fleet = &rack["fleet"];
    assert_eq!(fleet["hosts"].as_array().map(Vec::len), Some(3), "{fleet}");
    let passes = fleet["passes"].as_array().expect("passes");
    assert_eq!(passes.len(), 2, "{fleet}");
    for pass in passes {
        assert!(
            pass["start_skew_ns"].is_u64() && pass["iops"].is_f64(),
            "{pass}"
        );
    }
    let hosts = fleet["rows"].as_array().expect("rows").iter();
    let sum: f64 = hosts.filter_map(|row| row["iops"]["value"].as_f64()).sum();
    let all = rack["rows"][0]["iops"]["value"].as_f64().expect("a rate");
    assert!(
        (sum - all).abs() < all * 1e-9,
        "rates are added: {sum} and {all}"
    );
    // No run begins before its moment, on a machine however slow.
    let one = json(&good(lab.blocklab(["export", "h1", "--format", "json"])));
    let begun = one["measurements"][0]["started_unix_us"]
        .as_i64()
        .expect("a moment");
    let moment: Timestamp = moment.parse().expect("as it was given");
    assert!(begun >= moment.as_microsecond() - 1, "{begun} and {moment}");
    let shown = good(lab.blocklab(["show", "rack"]));
    assert!(shown.contains("3 hosts that ran together"), "{shown}");
    lab.refused(["merge", "h1", "h1"], &[]);
    lab.refused(["run", "-q", "--again", "rack"], &[]);
}

#[test]
fn a_moment_that_is_over_is_refused() {
    let lab = Lab::new();
    let line = "run -q --rw randread --target null --start-at 2020-01-01T00:00:00Z";
    lab.refused(line.split(' '), &["give a later moment"]);
    let line = "run i3-vs-i2 -q --start-at 2099-01-01T00:00:00Z";
    lab.refused(line.split(' '), &[]);
}

/// A scontrol that failed gave no nodes, and the error was "there is no host: name them with --hosts",
/// without its own words.
#[test]
fn the_words_of_a_scontrol_that_fails_are_shown() {
    let lab = Lab::new();
    let script = "#!/bin/sh\necho 'slurm_load: Unable to contact slurm controller' >&2\nexit 1\n";
    lab.write("scontrol", script);
    let executable = Permissions::from_mode(0o755);
    fs::set_permissions(lab.path().join("scontrol"), executable).expect("ours");
    let mut command = lab.command();
    command.args("fleet run --slurm --rw randread --target null".split(' '));
    command
        .env("SLURM_JOB_NODELIST", "n[1-2]")
        .env("PATH", lab.path());
    let refused = command.output().expect("it starts");
    assert_eq!(refused.status.code(), Some(2));
    let error = String::from_utf8_lossy(&refused.stderr);
    assert!(error.contains("Unable to contact"), "{error}");
    assert!(!error.contains("there is no host"), "{error}");
}

/// The story: runs one after the other, of one pass and of three, were merged into three passes, two
/// of them with the rate of one host, "in which all had" that rate.
#[test]
fn a_pass_of_one_host_is_no_figure_of_two() {
    let lab = Lab::new();
    for (name, passes) in [("a", "1"), ("b", "3")] {
        let line = "run -q --rw randread --target null --runtime 100ms --ramp 0s --repeat";
        good(lab.blocklab(line.split(' ').chain([passes, "--name", name])));
    }
    let merged = good(lab.blocklab("merge a b".split(' ')));
    for pass in [2, 3] {
        let note = format!("pass {pass} was measured by 1 of 2 hosts");
        assert!(merged.contains(&note), "{merged}");
    }
    assert!(merged.contains("together for 0"), "{merged}");
    assert!(!merged.contains("in which all had"), "{merged}");
    let record = lab.store().load("latest").expect("the merged run").record;
    assert_eq!(record.measurements.len(), 1);
}

/// The story: a merge with the run of a host that was killed ended with 130, as if the merge had been
/// interrupted.
#[test]
fn a_merge_of_a_run_that_was_interrupted_is_not_interrupted() {
    let lab = Lab::new();
    let run = "run -q --rw randread --target null --runtime 50ms --repeat 1 --name";
    for name in ["h1", "h2"] {
        good(lab.blocklab(run.split(' ').chain([name])));
    }
    let mut killed = lab.store().load("h2").expect("kept").record;
    killed.id = "20260101-000000-abc".to_owned();
    killed.status = blocklab_record::Status::Interrupted;
    lab.keep(&killed);
    let merged = lab.blocklab(["merge", "h1", &killed.id, "--name", "rack"]);
    assert_eq!(merged.code, Some(3), "{}", merged.err);
    good(lab.blocklab(["show", "rack"]));
}
