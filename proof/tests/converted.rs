//! Job files of fio as studies in the native format.

use blocklab_proof::{Lab, good, strace_is_there};

/// The native format named nothing that it lacks.
#[test]
fn a_ramp_by_bytes_is_refused_by_name() {
    let lab = Lab::new();
    let jobs = "[a]\nfilename=/data/one\nsize=1g\nruntime=30\ntime_based\nramp_size=1g\n";
    lab.write("jobs.fio", jobs);
    lab.refused(["convert", "jobs.fio"], &["ramp by bytes"]);
}

/// The story: `fio job.fio` laid out its file, and the study that `convert` made of the same job refused
/// it, "a file with content". What one command of blocklab has made, another one may overwrite.
#[test]
fn a_converted_study_runs_where_its_job_file_ran() {
    let lab = Lab::new();
    let jobs = "[a]\nrw=randrw\nsize=256k\nbs=4k\n";
    lab.write("job.fio", jobs);
    good(lab.blocklab(["fio", "job.fio"]));
    let study = good(lab.blocklab(["convert", "job.fio", "--to", "native"]));
    lab.write("s.toml", study);
    good(lab.blocklab(["run", "s.toml", "-q"]));
    // And twice, in either language.
    good(lab.blocklab(["fio", "job.fio"]));
    good(lab.blocklab(["run", "s.toml", "-q"]));
    lab.write("a.0.0", vec![7; 1 << 18]);
    let said = lab.blocklab(["run", "s.toml", "-q"]);
    assert!(said.err.contains("not as a run left it"), "{}", said.err);
}

/// The story: a job of reads and writes with `fsync=8` was not converted, for want of a key.
#[test]
fn a_converted_study_flushes_as_often_as_its_job() {
    if !strace_is_there() {
        return;
    }
    let lab = Lab::new();
    let counts = |command: &str| {
        let kinds = "trace=fsync,fdatasync,sync_file_range";
        let traced = format!("strace -f -qq -e {kinds} -o calls blocklab {command}");
        let ran = lab.shell(&traced);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let calls = lab.read("calls");
        ["fsync(", "fdatasync(", "sync_file_range("].map(|name| calls.matches(name).count())
    };
    for (options, least) in [
        ("rw=write\nfsync=8", [32, 0, 0]),
        ("rw=rw\nfsync=8", [16, 0, 0]),
        ("rw=rw\nfdatasync=4", [0, 32, 0]),
        ("rw=write\nsync_file_range=wait_before,write:8", [0, 0, 31]),
    ] {
        let text = format!("[a]\nfilename=f\nsize=1m\nbs=4k\n{options}\n");
        lab.write("job.fio", text);
        let study = good(lab.blocklab(["convert", "job.fio", "--to", "native"]));
        lab.write("s.toml", study);
        // Laying the file out is flushed, too.
        good(lab.blocklab(["fio", "--no-save", "job.fio"]));
        let of_job = counts("fio --no-save job.fio");
        assert_eq!(counts("run s.toml -q --no-save"), of_job, "{options}");
        let reaches = of_job
            .iter()
            .zip(least)
            .all(|(found, least)| *found >= least);
        assert!(reaches, "{options}: {of_job:?}");
    }
}

/// The story: `run job.fio --repeat 5 --seed 3 --start-at …` ran the file once, at once and from fio's own
/// seed, without a word, and `--name` was lost.
#[test]
fn options_that_a_job_file_cannot_follow_are_refused() {
    let lab = Lab::new();
    lab.write("job.fio", "[a]\nioengine=null\nrw=read\nsize=1m\n");
    for option in [
        "--repeat 5",
        "--seed 3",
        "--start-at 2099-01-01T00:00:00Z",
        "--system x",
        "--fresh",
        "--create",
        "--dry-run",
        "--list",
    ] {
        let line = format!("run job.fio {option}");
        lab.refused(
            line.split(' '),
            &["works for studies only: `blocklab convert job.fio"],
        );
    }
    good(lab.blocklab("run -q job.fio --name night".split(' ')));
    assert!(lab.store().load("night").is_ok(), "found by its name");
}

/// The story: a variable that is not set counts as empty, which only a run of `fio` reported; `run`,
/// `convert` and `--parse-only` did so in silence.
#[test]
fn a_variable_that_is_not_set_is_named_by_every_command() {
    let lab = Lab::new();
    let text = "[a]\nfilename=sim:gp3:1TiB\nrw=read\nsize=1m\nruntime=1${NOPE}\n";
    lab.write("unset.fio", text);
    for line in [
        "fio --no-save unset.fio",
        "fio --parse-only unset.fio",
        "run --no-save --quiet unset.fio",
        "convert unset.fio",
    ] {
        let ran = lab.blocklab(line.split(' '));
        assert_eq!(ran.code, Some(0), "{line}: {}", ran.err);
        let named = ran.err.contains("${NOPE} is not set");
        assert!(named, "{line}: {}", ran.err);
    }
}

/// The story: a job whose trace could not be replayed, or whose file was gone by then, was left out of a run
/// that ended with 0.
#[test]
fn a_run_without_one_of_its_jobs_failed() {
    let lab = Lab::new();
    for after in ["echo junk >trace", "mv late.fio gone.fio"] {
        let text = format!(
            "[w]\nfilename=f\nsize=64k\nrw=write\nwrite_iolog=trace\nexec_postrun={after}\n\
             [r]\nstonewall\nfilename=f\nsize=64k\nread_iolog=trace\n\
             [s]\nstonewall\nfilename=f\nsize=64k\nrw=read\n"
        );
        lab.write("late.fio", text);
        let ran = lab.blocklab("run --no-save late.fio".split(' '));
        assert_eq!(ran.code, Some(1), "{after}: {}", ran.err);
        assert!(
            ran.out.contains("job r.1 did not begin:"),
            "{after}: {}",
            ran.out
        );
        std::fs::remove_file(lab.path().join("trace")).expect("it was written");
    }
}

/// The story: a job file with `--json-lines` had no line for its measurements, only those at the end.
#[test]
fn each_measurement_of_a_job_file_has_a_line() {
    let lab = Lab::new();
    let text =
        "[a]\nioengine=null\nrw=read\nsize=1m\n[b]\nstonewall\nioengine=null\nrw=read\nsize=1m\n";
    lab.write("job.fio", text);
    let lines = good(lab.blocklab("run -q --no-save --json-lines job.fio".split(' ')));
    let of_measurements = lines.matches(r#""kind": "measurement""#);
    assert_eq!(of_measurements.count(), 2, "{lines}");
}
