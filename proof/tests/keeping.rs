//! No run is lost: what cannot be kept is told before the first pass, and what fails later is
//! printed, kept elsewhere, and told.

mod stand;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use blocklab_proof::{Lab, Printed, good};
use blocklab_store::Store;
use blocklab_workload::Direction;
use stand::kernel::Mount;
use stand::running::{Ended, PATIENCE, Running};
use stand::text;

const PARAMETERS: &str = "\
startcmd=\"sh break.sh\"
sd=a,lun=null,size=1m
wd=w,sd=a
rd=r,wd=w,elapsed=2,interval=1,iorate=9
";

const JOB: &str = "\
[a]
rw=read
size=4k
filename=null
exec_prerun=sh break.sh
";

/// A lab with a store, a parameter file and a job file. Their runs begin with a command that puts
/// a file in the place of the store, or does what is requested in place of that.
fn lab(meanwhile: &str) -> Lab {
    let lab = Lab::new();
    for (name, content) in [("p", PARAMETERS), ("j.fio", JOB), ("break.sh", meanwhile)] {
        lab.write(name, content);
    }
    fs::create_dir(lab.path().join("tmp")).expect("a folder");
    lab
}

const BREAKS: &str = "rm -rf runs; touch runs";

fn said(lab: &Lab, store: &str, line: &str) -> Printed {
    let mut command = lab.command();
    command
        .env("BLOCKLAB_STORE", store)
        .env("TMPDIR", lab.path().join("tmp"))
        .args(line.split(' '));
    let output = command.output().expect("it starts");
    Printed {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("text"),
        err: String::from_utf8(output.stderr).expect("text"),
    }
}

/// The story: a study ran for an hour, and then its store turned out to be a file, full, or not
/// writable: exit code 2, and not a word of the result.
#[test]
fn a_store_that_cannot_be_written_is_reported_before_the_first_pass() {
    let lab = lab("touch begun");
    let full = Mount::memory("512k");
    let full = full.as_ref().map(|mount| mount.path().join("runs"));
    for store in ["/proc/x", "p"]
        .into_iter()
        .chain(full.as_deref().map(text))
    {
        for line in [
            "run --target null --runtime 10ms --quiet",
            "run j.fio --quiet",
            "run i3-vs-i2 --quiet",
            "fio j.fio",
            "diskspd -d1 -W0 null",
            "cdm --target null --measure 10ms --interval 0 --loops 1 --quiet",
            "vdbench -f p",
            "import cdm p",
        ] {
            let said = said(&lab, store, line);
            assert_eq!(
                (said.code, &*said.out),
                (Some(2), ""),
                "{line}: {}",
                said.err
            );
            for word in ["BLOCKLAB_STORE", "--store DIR", store] {
                assert!(said.err.contains(word), "{line}: {}", said.err);
            }
            assert!(!said.err.contains("already"), "{line}: {}", said.err);
        }
    }
    assert!(!lab.path().join("begun").exists() && !lab.path().join("output").exists());
}

/// The story: where neither the store nor the directory for temporary files had room for a run, an empty
/// `blocklab-…` stayed in the latter.
#[test]
fn where_nothing_can_be_stored_nothing_is_left() {
    let lab = Lab::new();
    // Room for what is tried before the run, and not for the record of a hundred loads.
    let (Some(store), Some(other)) = (Mount::memory("1500k"), Mount::memory("1500k")) else {
        println!("skipped: file systems in memory, which only root can mount");
        return;
    };
    let line = "run calibrate --target sim:gp3:1TiB --quiet --store";
    let mut command = lab.command();
    command.args(line.split(' ')).arg(store.path());
    command
        .env("TMPDIR", other.path())
        .current_dir(other.path());
    let ended = command.output().expect("it starts");
    let words = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{words}");
    assert!(words.contains("it is not stored"), "{words}");
    let left = fs::read_dir(other.path()).expect("a folder");
    assert_eq!(left.count(), 0, "{words}");
}

/// The story: `--html` to a place that is not there was found when everything was measured.
#[test]
fn a_page_that_cannot_be_written_is_reported_before_the_first_pass() {
    let lab = lab("touch begun");
    for (html, why) in [("no/x.html", "No such file"), (".", "directory")] {
        let line = format!("run j.fio --quiet --html {html}");
        let said = said(&lab, "runs", &line);
        assert_eq!((said.code, &*said.out), (Some(2), ""), "{}", said.err);
        assert!(
            said.err.contains(html) && said.err.contains(why),
            "{}",
            said.err
        );
    }
    let said = said(&lab, "runs", "cdm --target null --quiet --output no/x.txt");
    assert_eq!((said.code, &*said.out), (Some(2), ""), "{}", said.err);
    assert!(!lab.path().join("begun").exists());
}

/// The story: the disk of the store went away while a run lasted. The result is printed first,
/// whatever its form; then the run is kept in another place, which is reported.
#[test]
fn a_run_whose_store_fails_is_printed_and_kept_in_another_place() {
    for (line, result) in [
        ("run j.fio --quiet", "IOPS"),
        ("run j.fio --quiet --json", "\"summary_format\""),
        ("fio j.fio", "READ: bw="),
        ("fio j.fio --output-format=json", "\"fio version\""),
        ("vdbench -f p", "avg_2"),
    ] {
        let lab = lab(BREAKS);
        let said = said(&lab, "runs", line);
        assert!(said.out.contains(result), "{line}: {}", said.out);
        assert_eq!(said.code, Some(1), "{line}: {}", said.err);
        assert!(said.err.contains("the run cannot be kept"), "{}", said.err);
        let folders = fs::read_dir(lab.path().join("tmp")).expect("a folder");
        let folders: Vec<PathBuf> = folders.flatten().map(|folder| folder.path()).collect();
        let [folder] = &folders[..] else {
            panic!("{line}: {folders:?}: {}", said.err);
        };
        let stored = Store::open(folder).load("latest").expect("kept there");
        let printed = format!("--store {} show {}", text(folder), stored.record.id);
        assert!(said.err.contains(&printed), "{line}: {}", said.err);
        assert!(!stored.record.measurements.is_empty(), "{line}");
        let runs = fs::read_to_string(lab.path().join("runs"));
        assert_eq!(runs.expect("a file"), "", "{line}");
    }
}

/// The story: when the page could not be written at the end, the table was not printed either.
#[test]
fn a_page_that_fails_at_the_end_costs_nothing_else() {
    let lab = lab("mkdir pages/x.html");
    fs::create_dir(lab.path().join("pages")).expect("a folder");
    let printed = said(&lab, "runs", "run j.fio --quiet --html pages/x.html");
    assert!(printed.out.contains("IOPS"), "{}", printed.out);
    assert_eq!(printed.code, Some(1), "{}", printed.err);
    let id = lab.store().load("latest").expect("kept").record.id;
    let again = format!("blocklab report {id} --html");
    assert!(printed.err.contains(&again), "{}", printed.err);
    // Without a run that is kept, the page itself goes elsewhere.
    fs::remove_dir(lab.path().join("pages/x.html")).expect("removed");
    let line = "run j.fio --quiet --no-save --html pages/x.html";
    let printed = said(&lab, "runs", line);
    assert_eq!(printed.code, Some(1), "{}", printed.err);
    let page = printed
        .err
        .lines()
        .find_map(|line| line.split_once("the page is in "));
    let page = fs::read_to_string(page.expect("told").1).expect("a page");
    assert!(page.starts_with("<!DOCTYPE html>"));
}

/// The story: the disk behind `blocklab run > result.txt` was full. The run was kept, the command
/// ended with 2 as if nothing had been measured, and did not say where the result was.
#[test]
fn a_result_that_cannot_be_printed_is_reported_with_where_it_is() {
    let lab = lab("true");
    let line = "run --target null --runtime 10ms --repeat 1".split(' ');
    let full = fs::File::options().write(true).open("/dev/full");
    let mut command = lab.command();
    command.args(line).stdout(full.expect("/dev/full"));
    let said = command.output().expect("it starts");
    let words = String::from_utf8_lossy(&said.stderr);
    assert_eq!(said.status.code(), Some(1), "{words}");
    let id = lab.store().load("latest").expect("kept").record.id;
    assert!(words.contains(&format!("blocklab show {id}")), "{words}");
}

/// The story: where /proc was not mounted, `rm` told that it had removed a run and removed nothing,
/// and an existing report was "not there".
#[test]
fn without_proc_a_run_is_removed_and_a_file_is_refused_with_the_reason() {
    let lab = lab("true");
    let line = "run --quiet --target null --runtime 10ms --repeat 1";
    good(lab.blocklab(line.split(' ')));
    lab.write("page.html", "mine");
    let script = "mount -t tmpfs none /proc || exit 99; \"$0\" report latest --html page.html; \
                  \"$0\" rm latest";
    let mut alone = Command::new("unshare");
    alone.args(["-rm", "sh", "-c", script]);
    alone.arg(lab.command().get_program());
    alone.env("BLOCKLAB_STORE", lab.store().root());
    let Ok(output) = alone.current_dir(lab.path()).output() else {
        println!("skipped: unshare is not installed");
        return;
    };
    let words = String::from_utf8_lossy(&output.stderr);
    if output.status.code() != Some(0) && (words.contains("unshare") || words.contains("mount:")) {
        println!("skipped: {words}");
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{words}");
    assert!(words.contains("/proc is not mounted"), "{words}");
    let runs = lab.store().list().runs;
    assert!(runs.is_empty(), "{runs:?}");
}

/// How a run of many short passes ended whose worker process was killed when some were kept.
fn killed_after_a_pass(lab: &Lab, options: &[&str]) -> Ended {
    let study = "\
        name = \"endless\"\npasses = 1000\n[[case]]\nname = \"a\"\nengine = \"null\"\n\
        targets = [\"null\"]\nruntime = \"20ms\"\n";
    lab.write("s.toml", study);
    let mut command = lab.command();
    command.args(["run", "s.toml"]).args(options);
    let mut running = Running::start(command);
    // Of the second, so that the first is surely kept.
    running.await_measurement();
    running.await_measurement();
    running.end_worker_by("KILL")
}

/// The story: a worker process was killed, and the command ended with 137 and not a word: neither
/// by whom, nor that the measurements until then were kept.
#[test]
fn a_killed_worker_is_reported_with_what_is_kept() {
    let lab = Lab::new();
    let ended = killed_after_a_pass(&lab, &[]);
    assert_eq!(ended.status.code(), Some(137));
    let words = ended.last_words();
    let stored = lab.store().load("latest").expect("kept");
    assert!(stored.partial && !stored.record.measurements.is_empty());
    let printed = format!("is kept: blocklab show {}", stored.record.id);
    assert!(
        words.contains("signal 9 (SIGKILL)") && words.contains(&printed),
        "{words}"
    );
    good(lab.blocklab(["show", &stored.record.id]));
}

/// The story: the run was kept in the folder that `--store` named, and the command that the message
/// gave to show it looked for it in the usual one.
#[test]
fn where_a_killed_run_is_kept_is_in_the_command_that_shows_it() {
    let lab = Lab::new();
    let ended = killed_after_a_pass(&lab, &["--store", "elsewhere"]);
    let words = ended.last_words();
    let (_, shows) = words.split_once("is kept: blocklab ").expect("a command");
    good(lab.blocklab(shows.split_whitespace()));
}

/// The story: a run that was killed in the fourth second of a pass of six left nothing.
#[test]
fn a_run_that_is_killed_in_its_first_pass_is_a_run() {
    let lab = Lab::new();
    let study = "\
        name = \"endless\"\n[[case]]\nname = \"a\"\nengine = \"null\"\n\
        targets = [\"null\"]\nruntime = \"1h\"\n";
    lab.write("s.toml", study);
    let mut command = lab.command();
    command.args(["run", "s.toml"]);
    let running = Running::start(command);
    let seconds = || {
        let record = lab.store().load("latest").ok()?.record;
        Some(record.measurements.first()?.series.len())
    };
    let until = std::time::Instant::now() + PATIENCE;
    while seconds().is_none_or(|seconds| seconds < 2) {
        assert!(std::time::Instant::now() < until, "no second was kept");
        std::thread::yield_now();
    }
    let ended = running.end_worker_by("KILL");
    assert_eq!(ended.status.code(), Some(137));
    let words = ended.last_words();
    assert!(words.contains("is kept: blocklab show"), "{words}");
    let record = lab.store().load("latest").expect("kept").record;
    let measured = &record.measurements[0];
    // The totals are read after the slice is cut, while the operations go on.
    let kept: u64 = measured.series.iter().map(|slice| slice.read.ios).sum();
    assert!(kept > 0 && kept <= measured.jobs[0].directions[&Direction::Read].ios);
    let lengths = measured.series.iter().map(|slice| slice.length_ns);
    let covered = measured.series.last().expect("two seconds").end_ns;
    assert_eq!(lengths.sum::<u64>(), covered, "no second is left out");
    let open = measured.elapsed_ns - covered;
    assert!(open < 1_000_000_000, "up to the last second: {open} ns");
    assert!(good(lab.blocklab(["list"])).contains("unfinished"));
    assert!(good(lab.blocklab(["show"])).contains("killed before its end"));
    good(lab.blocklab(["report", "latest", "--html", "page.html"]));
    assert!(good(lab.blocklab(["export", "latest", "--format", "csv"])).contains("interrupted"));
    good(lab.blocklab(["rm", "latest"]));
}

/// The story: under `ulimit -f` the first write beyond it killed the program with SIGXFSZ: exit
/// code 153, no word, and the half-made scratch file stayed.
#[test]
fn the_limit_of_file_sizes_is_reported_and_leaves_nothing() {
    let lab = Lab::new();
    let disk = lab.path().join("disk");
    fs::create_dir(&disk).expect("a folder");
    let mut shell = std::process::Command::new("sh");
    shell.current_dir(lab.path());
    let mut command = lab.command();
    command.args(["run", "--quiet", "--target", "disk", "--size", "16MiB"]);
    let program = Path::new(command.get_program());
    let words: Vec<&str> = command
        .get_args()
        .filter_map(|word| word.to_str())
        .collect();
    // In blocks of 512 bytes: 4 MiB.
    let line = format!("ulimit -f 8192; exec {} {}", text(program), words.join(" "));
    let output = shell.env("BLOCKLAB_STORE", "runs").args(["-c", &line]);
    let output = output.output().expect("a shell");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(
        error.contains("File too large") && error.contains("ulimit -f"),
        "{error}"
    );
    assert_eq!(fs::read_dir(&disk).expect("the folder").count(), 0);
}

/// The story: root measured with a umask of 077, and to everybody else `list` said "No runs in … yet".
#[test]
fn a_run_that_may_not_be_read_is_not_hidden() {
    const RIGHTS: &str = "-dac_override,-dac_read_search";
    let without = format!("setpriv --bounding-set={RIGHTS} --inh-caps={RIGHTS}");
    let lab = Lab::new();
    if lab.shell(&format!("{without} true")).code != Some(0) {
        println!("skipped: there is no setpriv that takes a right away");
        return;
    }
    let id = "20261120-190142-k3f";
    let folder = lab.path().join("runs").join(id);
    fs::create_dir_all(&folder).expect("a folder");
    good(lab.shell(&format!("chmod 000 runs/{id}")));
    let listed = lab.shell(&format!("{without} blocklab list"));
    let shown = lab.shell(&format!("{without} blocklab show latest"));
    good(lab.shell(&format!("chmod 755 runs/{id}")));
    assert!(listed.err.contains("Permission denied"), "{}", listed.err);
    assert!(!listed.out.contains("No runs"), "{}", listed.out);
    assert_eq!(shown.code, Some(2), "{}", shown.out);
    assert!(shown.err.contains("Permission denied"), "{}", shown.err);
}

/// Format 1 is of builds before the first release. A run of it is refused by every command that
/// reads runs, with what would work, and hides no other run.
#[test]
fn a_run_of_an_older_format_is_refused_by_its_number() {
    let lab = Lab::new();
    let golden = blocklab_proof::root().join("crates/record/golden/v2/described.json");
    let text = fs::read_to_string(golden).expect("a golden record");
    let text = text.replacen("\"format\": 2", "\"format\": 1", 1);
    let id = "20260101-000000-k3f";
    let folder = lab.path().join("runs").join(id);
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("record.json"), &text).expect("written");
    lab.write("old.json", &text);
    let words = "format 1 is older than this version reads (from 2 on); repeat the run";
    for line in [
        vec!["show", id],
        vec!["compare", id, id],
        vec!["diagnose", id],
        vec!["export", id, "--format", "json"],
        vec!["report", id, "--html", "page.html"],
        vec!["import", "record", "old.json"],
    ] {
        lab.refused(line.iter().copied(), &[words]);
    }
    let listed = lab.blocklab(["list"]);
    assert!(listed.err.contains(words), "{}", listed.err);
}

/// Golden records, with limits of every kind: every command that reads runs reads them.
#[test]
fn golden_runs_are_shown_compared_and_exported() {
    let lab = Lab::new();
    let golden = blocklab_proof::root().join("crates/record/golden/v2");
    let mut ids = Vec::new();
    for name in ["bought.json", "described.json"] {
        let text = fs::read_to_string(golden.join(name)).expect("a golden record");
        let id = blocklab_proof::json(&text)["id"]
            .as_str()
            .map(str::to_owned);
        let id = id.expect("an id");
        let folder = lab.path().join("runs").join(&id);
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("record.json"), text).expect("written");
        ids.push(id);
    }
    let [bought, described] = [&*ids[0], &*ids[1]];
    let listed = good(lab.blocklab(["list"]));
    assert!(listed.contains(bought) && listed.contains(described));
    let shown = blocklab_proof::json(&good(lab.blocklab(["show", described, "--json"])));
    let limits = &shown["targets"][0]["limits"];
    assert_eq!(limits[1]["name"], "3 x 2 x ssd: fast: volume IOPS (peak)");
    assert_eq!(limits[14]["name"], "big: EBS throughput (peak)");
    assert_eq!(
        limits[14]["origin"],
        "documented: guide, chapter 3, 2024-08"
    );
    good(lab.blocklab(["show", bought, "--findings"]));
    good(lab.blocklab(["report", bought, described, "--html", "both.html"]));
    good(lab.blocklab(["compare", bought, described]));
    good(lab.blocklab(["diagnose", bought, "--expect", "2xgp2:100GiB@r5d.xlarge"]));
    good(lab.blocklab(["export", bought, "--format", "csv"]));
    let exported =
        blocklab_proof::json(&good(lab.blocklab(["export", bought, "--format", "json"])));
    assert_eq!(exported["format"], 2);
    let limit = &exported["targets"][0]["limits"][1];
    assert_eq!(
        (&limit["kind"], &limit["volumes"]),
        (&"baseline".into(), &2.into())
    );
}

/// The story: a batch system limited the address space to 300,000 KB, and a run of four threads hung
/// for ever: a thread that began found no room for its signal stack, and the report of that hung. The
/// process stayed after Ctrl-C.
#[test]
fn a_limit_of_the_address_space_is_named_or_has_no_effect() {
    let lab = Lab::new();
    let run = |kilobytes: u32, threads: u32| {
        let mut command = lab.command();
        command.args(["fio", "--no-save", "--name=a", "--rw=read", "--size=64k"]);
        command.args(["--filename=null", &format!("--numjobs={threads}")]);
        let program = Path::new(command.get_program());
        let words: Vec<&str> = command
            .get_args()
            .filter_map(|word| word.to_str())
            .collect();
        let line = format!(
            "ulimit -v {kilobytes}; exec {} {}",
            text(program),
            words.join(" ")
        );
        let mut shell = std::process::Command::new("sh");
        let output = shell.current_dir(lab.path()).args(["-c", &line]).output();
        let output = output.expect("a shell");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), error)
    };
    for kilobytes in [150_000, 250_000, 300_000, 350_000] {
        let (code, error) = run(kilobytes, 4);
        assert_eq!(code, Some(0), "{kilobytes}: {error}");
    }
    let (code, error) = run(300_000, 1_000);
    // As fio ends where it cannot begin.
    assert_eq!(code, Some(1), "{error}");
    assert!(
        error.contains("1000 threads") && error.contains("ulimit -v"),
        "{error}"
    );
}

/// The story: the last line of the findings named no store where `--store` chose another one, so that its
/// command found no run, and with `--no-save` it named a run that was not kept.
#[test]
fn the_command_that_shows_the_evidence_works_as_it_is_printed() {
    let lab = Lab::new();
    let line = "run -q --target sim:gp3:1TiB --rw randread --depth 64 --runtime 10s --repeat 1";
    let run =
        |more: &[&'static str]| good(lab.blocklab(line.split(' ').chain(more.iter().copied())));
    let printed = run(&["--store", "my runs"]);
    let words: Vec<&str> = printed.split_whitespace().collect();
    let words = words.join(" ");
    let (_, rest) = words.split_once("`blocklab show").expect("a command");
    let (rest, _) = rest.split_once("` shows the evidence.").expect("a command");
    let shown = good(lab.shell(&format!("blocklab show{rest}")));
    assert!(shown.contains("rule at-limit"), "{shown}");
    let unkept = run(&["--no-save"]);
    assert!(!unkept.contains("blocklab show"), "{unkept}");
}

/// The story: `--help` and `--version` ended with 0 where nothing of them could be written.
#[test]
fn help_that_cannot_be_printed_is_a_failure() {
    let lab = Lab::new();
    for line in ["--help", "--version", "run --help", "help fio"] {
        let ended = lab.shell(&format!("blocklab {line} > /dev/full"));
        assert_eq!(ended.code, Some(2), "{line}");
        assert!(ended.err.contains("cannot write to the standard output"));
        assert_eq!(lab.shell(&format!("blocklab {line} | true")).code, Some(0));
    }
}
