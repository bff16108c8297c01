//! What a run leaves is all that is ever needed: its page, its words and its load come again.

use blocklab_proof::{Lab, good};
use blocklab_record::{Note, NoteLevel, Record};

/// Two passes of two short cases, with no device: nothing here depends on the machine's speed.
const STUDY: &str = r#"
name = "brief"
passes = 2
[defaults]
engine = "null"
size = "64MiB"
runtime = "20ms"
ramp = "0s"
[[case]]
name = "random"
pattern = "random"
block_size = "4KiB"
depth = 4
[[case]]
name = "mixed"
mix = { read = 70, write = 30 }
pattern = "sequential"
block_size = "64KiB"
"#;

fn lab() -> Lab {
    let lab = Lab::new();
    lab.write("brief.toml", STUDY);
    lab
}

#[track_caller]
fn run(lab: &Lab, args: &[&str]) -> String {
    let always = ["run", "brief.toml", "--target", "null", "--quiet"];
    let ran = lab.blocklab(always.iter().chain(args).copied());
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    ran.out
}

fn latest(lab: &Lab) -> Record {
    lab.store().load("latest").expect("a kept run").record
}

#[test]
fn the_words_and_the_page_of_a_run_come_again_byte_by_byte() {
    let lab = lab();
    let ran = run(&lab, &["--html", "first.html"]);
    let shown = lab.blocklab(["show", "latest"]).out;
    assert!(
        ran.starts_with(&shown),
        "run said\n{ran}\nshow says\n{shown}"
    );
    let first = lab.read("first.html");
    let again = lab.blocklab(["report", "latest", "--html", "-"]).out;
    assert!(first == again, "the page made again differs");
}

#[test]
fn a_kept_run_balances_and_reports_what_was_requested() {
    let lab = lab();
    run(&lab, &["--seed", "7"]);
    let record = latest(&lab);
    assert_eq!(
        (
            record.requested.name.as_str(),
            record.requested.seed.as_str()
        ),
        ("brief", "7")
    );
    assert_eq!(record.measurements.len(), 4);
    for job in record.jobs() {
        assert!(job.accounting.balances(), "{:?}", job.accounting);
        assert!(job.accounting.completed > 0, "{}", job.name);
    }
}

/// The record holds the workload as text, too, for people: saved and run, it asks for the same.
#[test]
fn the_load_of_a_run_can_be_requested_again() {
    let lab = lab();
    run(&lab, &[]);
    let first = latest(&lab);
    lab.write("brief.toml", &first.requested.native);
    run(&lab, &[]);
    let second = latest(&lab);
    assert_ne!(first.id, second.id);
    assert_eq!(first.requested.seed, second.requested.seed);
    assert_eq!(first.requested.native, second.requested.native);
}

/// What the load did, without what the simulation itself cost.
#[track_caller]
fn same_figures(first: &Record, second: &Record) {
    assert_ne!(first.id, second.id);
    assert_eq!(first.requested, second.requested);
    assert_eq!(first.measurements.len(), second.measurements.len());
    for (one, other) in first.measurements.iter().zip(&second.measurements) {
        assert_eq!((&one.case, one.pass), (&other.case, other.pass));
        assert!(one.jobs.iter().any(|job| job.accounting.completed > 0));
        assert_eq!(one.jobs, other.jobs, "{}", one.case);
    }
}

#[track_caller]
fn again(lab: &Lab, args: &[&str]) -> Record {
    let always = ["run", "--again", "latest", "--quiet"];
    let ran = lab.blocklab(always.iter().chain(args).copied());
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    latest(lab)
}

#[test]
fn a_simulated_run_comes_again_with_the_same_figures() {
    let lab = lab();
    let sim = "sim:gp3:1TiB@r5d.xlarge";
    let ran = lab.blocklab(["run", "--target", sim, "--runtime", "1s", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let first = latest(&lab);
    let second = again(&lab, &[]);
    same_figures(&first, &second);
    let other = again(&lab, &["--seed", "12345"]);
    assert_ne!(other.measurements[0].jobs, first.measurements[0].jobs);
}

#[test]
fn a_job_file_of_fio_comes_again_without_the_file() {
    let lab = lab();
    let text = "[a]\nfilename=sim:gp3:1TiB@r5d.xlarge\nrw=randrw\nsize=64m\nruntime=1\n\
                time_based\n";
    lab.write("a.fio", text);
    let ran = lab.blocklab(["fio", "a.fio"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    std::fs::remove_file(lab.path().join("a.fio")).expect("removed");
    let first = latest(&lab);
    same_figures(&first, &again(&lab, &[]));
    // The story: the answer was to remove `targets` from the jobs, which the record of a run cannot.
    lab.refused(
        ["run", "--again", &first.id, "--target", "null"],
        &["or change the study or script that it ran from"],
    );
}

/// Runs of DiskSpd and Vdbench were refused where the native format had no key for a setting of
/// theirs, such as the pool in which all jobs of Vdbench are.
#[test]
fn a_command_line_of_diskspd_comes_again() {
    let lab = lab();
    let line = [
        "diskspd", "-b8K", "-d2", "-W0", "-o4", "-t2", "-rs30", "-w40", "-Rtext",
    ];
    let ran = lab.blocklab(line.into_iter().chain(["sim:gp3:1TiB@r5d.xlarge"]));
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let first = latest(&lab);
    same_figures(&first, &again(&lab, &[]));
}

#[test]
fn a_parameter_file_of_vdbench_comes_again_with_the_rates_that_it_came_to() {
    let lab = lab();
    let file = "sd=sd1,lun=sim:local@i3.xlarge\n\
                wd=wd1,sd=sd1,rdpct=100,skew=75\nwd=wd2,sd=sd1,rdpct=0,skew=25,xfersize=8k\n\
                rd=rd1,wd=wd*,iorate=curve,curve=(20,50),elapsed=4,interval=2,threads=16\n";
    lab.write("parm", file);
    let ran = lab.blocklab(["vdbench", "-f", "parm", "-o", "out"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    std::fs::remove_file(lab.path().join("parm")).expect("removed");
    let first = latest(&lab);
    same_figures(&first, &again(&lab, &[]));
}

/// A trace is kept by its path and its checksum: of another one under the same name the figures
/// would be those of another load.
#[test]
fn a_trace_comes_again_from_its_file_as_long_as_that_is_the_same() {
    let lab = lab();
    let trace = "fio version 2 iolog\nio.dat add\nio.dat open\nio.dat read 0 4096\n\
                 io.dat read 8192 512\nio.dat close\n";
    lab.write("trace", trace);
    let job = "[a]\nread_iolog=trace\nreplay_redirect=sim:gp3:1TiB@r5d.xlarge\n\
               replay_scale=2\n";
    lab.write("a.fio", job);
    let ran = lab.blocklab(["fio", "a.fio"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let first = latest(&lab);
    same_figures(&first, &again(&lab, &[]));
    lab.write("trace", trace.replace("512", "1024"));
    let ran = lab.blocklab(["run", "--again", &first.id]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    let printed = ran.err.contains(&first.id) && ran.err.contains("the trace trace");
    assert!(printed && ran.err.contains("changed since"), "{}", ran.err);
    std::fs::remove_file(lab.path().join("trace")).expect("removed");
    lab.refused(["run", "--again", &first.id], &["cannot read"]);
}

/// Ids of runs of another year.
const OLDER: &str = "20250101-000000-aaa";
const PARTIAL: &str = "20250101-000000-bbb";

/// A run from before plans were kept as JSON: its text is all that there is.
fn without_plan(record: Record, id: &str) -> Record {
    let mut record = record;
    record.id = id.to_owned();
    (record.requested.plan, record.requested.plan_format) = (None, None);
    record
}

#[test]
fn the_text_of_an_older_record_is_read() {
    let lab = lab();
    let sim = "sim:gp3:1TiB@r5d.xlarge";
    let ran = lab.blocklab(["run", "--target", sim, "--runtime", "1s", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let first = latest(&lab);
    lab.keep(&without_plan(first.clone(), OLDER));
    let ran = lab.blocklab(["run", "--again", OLDER, "--quiet"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    same_figures(&first, &latest(&lab));
}

/// An older record of a script that the native format could not say has a note, and of a run on
/// the null target it holds no engine for another one.
#[test]
fn what_an_older_record_does_not_hold_is_refused() {
    let lab = lab();
    run(&lab, &["--seed", "7"]);
    let older = without_plan(latest(&lab), OLDER);
    lab.keep(&older);
    lab.refused(
        ["run", "--again", OLDER, "--target", "."],
        &["names no engine"],
    );
    let mut partial = without_plan(older, PARTIAL);
    partial.notes.push(Note {
        level: NoteLevel::Approximated,
        subject: "again".to_owned(),
        text: "the study kept with this run leaves out settings".to_owned(),
    });
    lab.keep(&partial);
    lab.refused(["run", "--again", PARTIAL], &["run the original script"]);
}

/// A run on null was refused on any other target: its record held the null engine alone.
#[test]
fn a_run_on_null_comes_again_on_a_disk_by_the_engine_that_was_requested() {
    let lab = lab();
    let study = STUDY.replace("engine = \"null\"", "engine = \"psync\"");
    lab.write("brief.toml", study);
    run(&lab, &["--seed", "7"]);
    let first = latest(&lab);
    assert_eq!(again(&lab, &[]).requested, first.requested);
    let other = again(&lab, &["--target", "disk", "--create", "--size", "1MiB"]);
    let jobs = other.jobs();
    let engines: Vec<String> = jobs.map(|job| job.engine.to_string()).collect();
    assert_eq!(engines, ["psync"; 4]);
}

#[test]
fn a_run_that_is_not_to_be_kept_leaves_nothing() {
    let lab = lab();
    run(&lab, &["--no-save"]);
    assert!(!lab.store().root().exists());
    let left = std::fs::read_dir(lab.path()).expect("the folder").count();
    assert_eq!(left, 1, "only the study");
}

/// The story: the name of a file with a line end was kept as it is shown, `./new\\u000aline`, and the
/// repetition looked for a file of that name.
#[test]
fn a_run_on_a_name_with_control_characters_comes_again() {
    let lab = Lab::new();
    for name in ["new\nline", "e\u{1b}[31mx\u{202e}"] {
        let file = std::fs::File::create(lab.path().join(name)).expect("a file");
        file.set_len(1 << 20).expect("a size");
        let line = "run -q --rw randread --runtime 20ms --repeat 1 --target";
        good(lab.blocklab(line.split(' ').chain([name])));
        good(lab.blocklab(["run", "-q", "--again", "latest"]));
    }
}

/// The story: of `--target X --target X`, the record names X once, so that `--again` drew other operations.
#[test]
fn a_target_is_named_once() {
    let lab = Lab::new();
    // The story: to null and to a file as well, the answer was to put `2x` before the address.
    for (target, instead) in [
        ("sim:gp3:1TiB", "volume=a and volume=b"),
        ("null", "more threads"),
        ("x", "more threads"),
    ] {
        let line = format!("run -q --rw randread --runtime 1s -t {target} -t {target}");
        lab.refused(line.split(' '), &["is given twice", instead]);
    }
    // The story: one file by two names counted as two, with twice its size.
    lab.write("file", [0; 4096]);
    let line = "run -q --rw randread --runtime 1s -t file -t ./file";
    lab.refused(line.split(' '), &["--target ./file is given twice"]);
}
