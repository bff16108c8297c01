//! The command line as its users meet it: what is kept, what is said, which code comes back.

use std::collections::BTreeMap;
use std::io::Read;
use std::process::Stdio;

use blocklab_proof::sample::record;
use blocklab_proof::{Lab, good, json};

const FIRST: &str = "20261120-190142-k3f";
const SECOND: &str = "20261121-080000-012";
const BROKEN: &str = "20261122-080000-012";

/// A lab with two runs.
fn lab() -> Lab {
    let lab = Lab::new();
    lab.keep(&record(FIRST, "2026-11-20T19:01:42Z"));
    lab.keep(&record(SECOND, "2026-11-21T08:00:00Z"));
    lab
}

#[test]
fn mistakes_say_what_would_work() {
    let lab = lab();
    lab.refused(["show", "zzz"], &["`zzz`", "blocklab list", "latest"]);
    lab.refused(["show", "2026112"], &["fits 2 runs", FIRST, SECOND]);
    lab.refused(["report", "latest", "zzz"], &["`zzz`"]);
    lab.refused(["export", "latest"], &["which format?", "--format", "csv"]);
    lab.refused(["export", "latest", "-o", "x.txt"], &["x.txt", "--format"]);
    lab.refused(["convert", "-", "--to", "native"], &["--from fio"]);
    lab.refused(
        ["export", "latest", "--format", "xml"],
        &["json, csv, parquet"],
    );
    lab.refused(
        ["export", "latest", "--format", "json", "--series"],
        &["csv or parquet"],
    );
    lab.refused(["rm"], &["RUN"]);
    lab.refused(["run", "--size", "lots"], &["a size such as"]);
    lab.refused(["lst"], &["'list'"]);
    // Swapped letters were too far from the command for a suggestion.
    lab.refused(["rnu"], &["`blocklab run`"]);
    // A command of another one was "similar" to itself: 'advise'.
    lab.refused(["trace", "advise"], &["there is `blocklab advise`"]);
    lab.refused(["fit"], &["there is `blocklab trace fit`"]);
    // An endless file was read until the memory was full.
    lab.refused(
        [
            "k8s",
            "expect",
            "--size",
            "1Gi",
            "--class-json",
            "/dev/zero",
        ],
        &["/dev/zero", "16 MiB"],
    );
    lab.refused(
        ["report", "latest", "--html", "/nowhere/at/all.html"],
        &["/nowhere/at/all.html", "No such file"],
    );
    let sim = ["run", "-q", "-t", "sim:gp3:1TiB"];
    lab.refused(
        sim.into_iter().chain(["--size", "10"]),
        &["--size", "10 B", "smaller than one block", "1 MiB"],
    );
    lab.refused(sim.into_iter().chain(["--repeat", "0"]), &["at least 1"]);
    lab.refused(["run", "quik"], &["did you mean quick?"]);
    lab.refused(["run", "--example", "quik"], &["did you mean quick?"]);
    assert_eq!(lab.store().list().runs.len(), 2, "nothing was run");
}

#[test]
fn an_empty_store_is_no_mistake_until_a_run_is_requested() {
    let lab = Lab::new();
    assert!(good(lab.blocklab(["list"])).contains("`blocklab run` makes one"));
    let nothing = json(&good(lab.blocklab(["list", "--json"])));
    assert_eq!(nothing["runs"].as_array().map(Vec::len), Some(0));
    lab.refused(["show"], &["no runs", "blocklab run"]);
    assert!(!lab.store().root().exists(), "reading makes no folders");
}

#[test]
fn runs_are_listed_for_people_and_for_programs() {
    let lab = lab();
    let text = good(lab.blocklab(["list"]));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[0].starts_with("RUN "), "{text}");
    assert!(
        lines[1].starts_with(SECOND) && lines[2].starts_with(FIRST),
        "the newest first: {text}"
    );
    let column = lines[0].find("NAME").expect("a column");
    assert!(
        lines[1..]
            .iter()
            .all(|line| line[column..].starts_with("quick")),
        "{text}"
    );

    let runs = json(&good(lab.blocklab(["list", "--json"])));
    let newest = &runs["runs"][0];
    assert_eq!(newest["id"], SECOND);
    assert_eq!(newest["status"], "complete");
    assert_eq!(newest["measurements"], 2);
    let shown = json(&good(lab.blocklab(["show", SECOND, "--json"])));
    let mut rates: BTreeMap<&str, f64> = BTreeMap::new();
    for row in shown["rows"].as_array().expect("rows") {
        let case = row["case"].as_str().expect("the name of a case");
        *rates.entry(case).or_default() += row["iops"]["value"].as_f64().expect("a rate");
    }
    assert_eq!(
        newest["fastest"]["iops"].as_f64(),
        rates.into_values().reduce(f64::max),
        "one run has one figure in both commands"
    );
}

/// The story: after a year the list was 2,000 lines long, and began with the oldest.
#[test]
fn the_newest_runs_are_a_choice() {
    let lab = lab();
    let ids = |more: &[&str]| -> Vec<String> {
        let words = ["list", "--json"].into_iter().chain(more.iter().copied());
        let found = json(&good(lab.blocklab(words)));
        let runs = found["runs"].as_array().expect("runs").iter();
        runs.filter_map(|run| run["id"].as_str().map(str::to_owned))
            .collect()
    };
    assert_eq!(ids(&[]), [SECOND, FIRST]);
    assert_eq!(ids(&["--reverse"]), [FIRST, SECOND]);
    assert_eq!(ids(&["--limit", "1"]), [SECOND]);
    assert_eq!(ids(&["--limit", "1", "--reverse"]), [SECOND]);
    lab.refused(["list", "--limit", "0"], &["at least 1"]);
}

/// The story: a run was killed before it had measured anything, and from then on every `list`
/// warned of a missing record.json.
#[test]
fn the_empty_place_of_a_killed_run_is_no_warning() {
    let lab = lab();
    let stale = lab.store().root().join("20301231-000000-zzz.partial");
    std::fs::create_dir(&stale).expect("a folder");
    assert_eq!(good(lab.blocklab(["list"])).lines().count(), 3);
    let latest = json(&good(lab.blocklab(["show", "latest", "--json"])));
    assert_eq!(
        latest["id"], SECOND,
        "nothing can be shown of the empty one"
    );
}

/// The story: `import --help` told to type `--name before` and then `compare before latest`, which
/// answered that there is no such run.
#[test]
fn a_run_is_found_by_its_name() {
    let lab = Lab::new();
    let named = |id: &str, name: &str| {
        let mut run = record(id, "2026-11-20T19:01:42Z");
        run.requested.name = name.to_owned();
        lab.keep(&run);
    };
    named(FIRST, "before");
    named(SECOND, "after");
    let found = json(&good(
        lab.blocklab(["compare", "before", "latest", "--json"]),
    ));
    assert_eq!(found["runs"][0]["id"], FIRST);
    assert_eq!(found["runs"][1]["id"], SECOND);

    named("20261120-200000-abc", "before");
    let shown = lab.blocklab(["show", "before", "--json"]);
    let told = "`before` is 20261120-200000-abc, the newest of 2 runs of that name";
    assert!(shown.err.contains(told), "{}", shown.err);
    let newest = json(&shown.out);
    assert_eq!(newest["id"], "20261120-200000-abc", "for who only reads");
    lab.refused(
        ["rm", "before"],
        &["2 runs", FIRST, "20261120-200000-abc", "give the id"],
    );
    // The end of one run's id and the name of another: neither is taken for the other.
    named("20261120-210000-xyz", "abc");
    lab.refused(
        ["rm", "abc"],
        &["20261120-200000-abc", "20261120-210000-xyz"],
    );
    assert_eq!(
        good(lab.blocklab(["list"])).lines().count(),
        5,
        "nothing is gone"
    );
    lab.refused(["run", "--name", "latest"], &["always the last run"]);
}

/// The story: `blocklab run /dev/sdb` read the whole disk into memory, looking for a study in it.
#[test]
fn a_target_in_the_place_of_the_study_is_refused_with_what_was_meant() {
    let lab = lab();
    for target in ["/", "sim:gp3:1TiB"] {
        let hint = format!("blocklab run --target {target}");
        lab.refused(["run", target], &["not a study", &hint]);
    }
    lab.refused(["run", "gp3:1TiB"], &["--target sim:gp3:1TiB"]);
    lab.refused(["run", "/dev/zero"], &["larger than 64 MiB"]);
    lab.refused(["import", "fio", "/dev/zero"], &["larger than 1 GiB"]);
}

#[test]
fn the_name_of_a_file_tells_the_format() {
    let lab = lab();
    good(lab.blocklab(["export", "latest", "-o", "x.csv"]));
    let csv = lab.read("x.csv");
    assert!(
        csv.lines().count() > 1 && csv.contains("block_size"),
        "{csv}"
    );
    good(lab.blocklab(["export", "latest", "-o", "y.JSON"]));
    let whole = lab.read("y.JSON");
    assert_eq!(json(&whole)["id"], SECOND);
    // What is requested counts more than the name.
    good(lab.blocklab(["export", "latest", "-o", "z.csv", "-f", "json"]));
    let whole = lab.read("z.csv");
    assert_eq!(json(&whole)["id"], SECOND);
}

/// Four cases that write are one note, and not four.
#[test]
fn what_is_true_of_many_cases_is_noted_once() {
    let lab = Lab::new();
    let words = "run -q --read-only -t sim:gp3:1TiB --runtime 1s".split(' ');
    let text = good(lab.blocklab(words));
    let notes = text.matches("left out: it writes").count();
    assert_eq!(notes, 1, "{text}");
    assert!(text.contains("and 2 more"), "{text}");
}

/// A job file that is read from a pipe, or is called otherwise.
#[test]
fn a_job_file_needs_no_name() {
    use std::io::Write;
    let lab = Lab::new();
    let job = "[a]\nfilename=f\nsize=1m\nrw=randread\n";
    lab.write("jobs.ini", job);
    let named = good(lab.blocklab(["convert", "jobs.ini", "--from", "fio", "--to", "native"]));
    assert!(named.contains("pattern = \"random-once\""), "{named}");
    let mut piped = lab.command();
    piped.args(["convert", "-", "--from", "fio", "--to", "native"]);
    piped.stdin(std::process::Stdio::piped());
    piped.stdout(std::process::Stdio::piped());
    let mut child = piped.spawn().expect("it starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(job.as_bytes()).expect("read");
    drop(pipe);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("pattern = \"random-once\""));
}

#[test]
fn a_damaged_run_is_a_warning_and_hides_no_other() {
    let lab = lab();
    let broken = lab.store().root().join(BROKEN);
    std::fs::create_dir(&broken).expect("a folder");
    std::fs::write(broken.join("record.json"), "nonsense").expect("a file");
    let ran = lab.blocklab(["list"]);
    assert_eq!((ran.code, ran.out.lines().count()), (Some(0), 3));
    assert!(
        ran.err.starts_with("warning: ") && ran.err.contains(BROKEN),
        "{}",
        ran.err
    );
    assert!(good(lab.blocklab(["rm", BROKEN])).contains(BROKEN));
    assert_eq!(lab.blocklab(["list"]).err, "");
}

#[test]
fn a_killed_run_is_listed_as_unfinished() {
    let lab = Lab::new();
    let run = record(FIRST, "2026-11-20T19:01:42Z");
    lab.store().begin(&run).expect("kept");
    assert!(good(lab.blocklab(["list"])).contains("unfinished"));
    assert!(good(lab.blocklab(["show"])).contains("mixed"));
}

#[test]
fn a_run_is_shown_the_same_every_time() {
    let lab = lab();
    let first = good(lab.blocklab(["show", "k3f"]));
    assert!(first.contains("mixed") && first.contains("IOPS"), "{first}");
    assert!(!first.contains('\x1b'), "no colours where no terminal is");
    assert_eq!(good(lab.blocklab(["show", FIRST])), first);
    let folder = lab.store().root().join(FIRST);
    let folder = folder.to_str().expect("text");
    assert_eq!(good(lab.blocklab(["show", folder])), first);

    let shown = json(&good(lab.blocklab(["show", "k3f", "--json"])));
    assert_eq!(shown["id"], FIRST);
    assert_eq!(
        good(lab.blocklab(["show"])),
        good(lab.blocklab(["show", "latest"]))
    );
}

#[test]
fn a_report_can_be_made_again_and_is_the_same() {
    let lab = lab();
    let ran = good(lab.blocklab(["report", "latest"]));
    let name = format!("blocklab-report-{SECOND}.html");
    assert_eq!(ran.trim_end(), name);
    let page = lab.read(&name);
    assert!(page.contains("<html") && page.contains(SECOND));
    assert_eq!(good(lab.blocklab(["report", "012", "--html", "-"])), page);

    good(lab.blocklab(["report", "k3f", "012", "--html", "both.html"]));
    let both = lab.read("both.html");
    assert!(both.contains(FIRST) && both.contains(SECOND));
}

#[test]
fn figures_leave_in_three_formats() {
    let lab = lab();
    let record = json(&good(lab.blocklab(["export", "k3f", "--format", "json"])));
    assert_eq!(record["id"], FIRST);
    let csv = good(lab.blocklab(["export", "k3f", "-f", "csv"]));
    assert_eq!(csv.lines().count(), 1 + 6);
    let series = good(lab.blocklab(["export", "k3f", "-f", "csv", "--series", "-o", "s.csv"]));
    assert_eq!(series, "");
    let series = lab.read("s.csv");
    assert_eq!(series.lines().count(), 1 + 4);
    good(lab.blocklab(["export", "k3f", "-f", "parquet", "-o", "t.parquet"]));
    let parquet = std::fs::read(lab.path().join("t.parquet")).expect("the file");
    assert!(parquet.starts_with(b"PAR1"));
}

#[test]
fn removing_reports_what_is_gone_and_spares_the_rest() {
    let lab = lab();
    let other = self::lab();
    let theirs = other.store().root().join(FIRST);
    lab.refused(
        ["rm", theirs.to_str().expect("text")],
        &["only runs of the store"],
    );
    assert!(theirs.exists());
    let ran = good(lab.blocklab(["rm", "k3f"]));
    assert!(ran.starts_with("removed ") && ran.contains(FIRST), "{ran}");
    assert_eq!(good(lab.blocklab(["list"])).lines().count(), 2);
    lab.refused(["show", "k3f"], &["no run"]);
}

/// The story: `rm latest latest` removed two runs, `rm GOOD nosuch` removed the first of them, and
/// in a home directory that was taken for the store `rm` removed whole trees.
#[test]
fn removing_is_all_or_nothing_and_of_runs_only() {
    let lab = lab();
    let runs = || good(lab.blocklab(["list"])).lines().count() - 1;
    let ran = good(lab.blocklab(["rm", "latest", "--dry-run"]));
    assert!(ran.starts_with("would remove ") && ran.contains(SECOND));
    assert_eq!(runs(), 2);
    lab.refused(["rm", "latest", "nosuch"], &["`nosuch`"]);
    assert_eq!(runs(), 2);
    let notes = lab.store().root().join(SECOND).join("notes.txt");
    std::fs::write(&notes, "mine").expect("a file");
    let ran = good(lab.blocklab(["rm", "latest", "latest"]));
    assert!(ran.contains("the folder stays") && ran.contains("notes.txt"));
    assert_eq!((runs(), notes.exists()), (1, true));

    let home = lab.path().join("home");
    std::fs::create_dir_all(home.join("zoe/docs")).expect("a tree");
    let home = home.to_str().expect("text");
    for spec in ["latest", "zo", "zoe", &format!("{home}/zoe")] {
        lab.refused(["--store", home, "rm", spec], &[]);
    }
    assert!(lab.path().join("home/zoe/docs").exists());
}

#[test]
fn a_note_is_shown_everywhere_and_obeyed_nowhere() {
    let lab = lab();
    let ran = good(lab.blocklab(["note", "k3f"]));
    assert!(ran.contains("has no note"), "{ran}");
    let text = "firmware 3.1\u{1b}[2J, <b>after fill</b>";
    good(lab.blocklab(["note", "k3f", text]));
    for words in [
        vec!["note", "k3f"],
        vec!["show", "k3f"],
        vec!["show", "k3f", "--format", "markdown"],
        vec!["show", "k3f", "--json"],
        vec!["export", "k3f", "-f", "csv"],
        vec!["export", "k3f", "-f", "json"],
        vec!["report", "k3f", "--html", "-"],
    ] {
        let ran = good(lab.blocklab(words.iter().copied()));
        assert!(ran.contains("firmware 3.1"), "{words:?} of\n{ran}");
        let is_data = words[0] == "export";
        assert!(is_data || !ran.contains('\u{1b}'), "{words:?}");
        assert!(words[0] != "report" || !ran.contains("<b>after fill"));
    }
    lab.refused(["note", "k3f", " "], &["--delete"]);
    // The story: the tag was given before the note was refused, and a tag that was given and taken stayed.
    lab.refused(["note", "k3f", " ", "--tag", "half"], &["--delete"]);
    let long = "x".repeat(16 << 10);
    lab.refused(["note", "k3f", &long, "--tag", "half"], &["16384 bytes"]);
    lab.refused(["show", "tag:half"], &["has the tag"]);
    lab.refused(
        ["note", "k3f", "--tag", "a", "--untag", "a"],
        &["both name a"],
    );
    lab.refused(["note", "nosuch", "x"], &["no run"]);
    lab.refused(["note", "k3f", "x", "--delete"], &["cannot be used with"]);
    // The second time, "deleted the note of" was false.
    for _ in 0..2 {
        let done = good(lab.blocklab(["note", "k3f", "--delete"]));
        assert!(done.starts_with("no note is left with "), "{done}");
    }
    assert!(!good(lab.blocklab(["show", "k3f"])).contains("firmware"));
}

#[test]
fn the_store_is_where_the_user_chooses() {
    let lab = lab();
    let other = Lab::new();
    let root = lab.store().root().to_path_buf();
    let root = root.to_str().expect("text");
    assert!(good(other.blocklab(["list", "--store", root])).contains(FIRST));
}

/// The story: in a service that starts without HOME, even what needs no store was refused. As in a
/// shell, the user database then tells the home directory.
#[test]
fn a_user_without_home_has_the_directory_of_the_user_database() {
    let other = Lab::new();
    let id = good(other.shell("id -u"));
    let accounts = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let is_known = accounts
        .lines()
        .any(|line| line.split(':').nth(2) == Some(id.trim()));
    for home in [None, Some("")] {
        let mut homeless = other.command();
        homeless.env_remove("BLOCKLAB_STORE").env_remove("HOME");
        homeless.envs(home.map(|home| ("HOME", home)));
        let output = homeless.args(["price", "gp3:1TiB"]).output();
        let output = output.expect("it starts");
        let words = String::from_utf8_lossy(&output.stderr);
        if is_known {
            assert_eq!(output.status.code(), Some(0), "{words}");
        } else if !output.status.success() {
            assert!(words.contains("--store DIR"), "{words}");
        }
    }
}

/// The story: a store that was a file, or of another user, was listed as if there were no runs.
#[test]
fn a_store_that_cannot_be_read_is_not_an_empty_one() {
    let lab = Lab::new();
    lab.write("runs", "");
    for command in ["list", "history"] {
        lab.refused([command], &["cannot read", "runs: Not a directory"]);
    }
    lab.refused(["list", "--json"], &["cannot read"]);
}

/// The story: in a store without runs, `history` said that none fits, and that `list` shows what is there.
#[test]
fn a_history_of_nothing_says_what_makes_a_run() {
    Lab::new().refused(["history"], &["no runs in", "`blocklab run` makes one"]);
}

/// The story: on a terminal without a cursor, as that of an editor, a run printed nothing until its end.
#[test]
fn a_terminal_without_a_cursor_gets_a_line_a_pass() {
    let run =
        "blocklab run --rw randread --target null --runtime 10ms --ramp 0s --repeat 2 --no-save";
    let ran = Lab::new().shell(&format!("TERM=dumb script -qec '{run}' /dev/null"));
    // The shell's own code where it finds no such program.
    if ran.code == Some(127) {
        println!("skipped: there is no `script` here");
        return;
    }
    assert!(ran.out.contains("pass 2/2: "), "{}{}", ran.out, ran.err);
}

/// The story: a record from a stranger, a job file and a mistyped word carried sequences that set
/// the title of the terminal, hid text and reversed names, and every command printed them.
#[test]
fn nothing_that_a_terminal_obeys_is_printed() {
    let lab = Lab::new();
    let evil = "a\u{1b}]0;title\u{7}\u{1b}[31mb\u{9b}8m\u{202e}c\nerror: lost";
    let mut run = record(FIRST, "2026-11-20T19:01:42Z");
    run.requested.name = evil.into();
    run.failure = Some(evil.into());
    run.targets[0].path = evil.into();
    run.measurements[0].jobs[0].name = evil.into();
    lab.keep(&run);
    let renamed = lab.store().root().join("x\u{1b}[31m");
    std::fs::create_dir(&renamed).expect("a folder");
    let text = run.to_json();
    std::fs::write(renamed.join("record.json"), text).expect("written");
    lab.write("j.fio", "[a]\nrw=read\n\u{1b}]0;x\u{7}foo=1\n");
    let name = format!("--name={}", evil.replace('\n', " "));
    let fio = [
        "fio",
        "--no-save",
        "--rw=read",
        "--size=4k",
        "--filename=null",
        &name,
    ];
    let fio_json = [&fio[..], &["--output-format=json"]].concat();
    for args in [
        &["list"][..],
        &["list", "--json"],
        &["show", "latest"],
        &["show", "latest", "--findings"],
        &["show", "latest", "--json"],
        &["diagnose", "latest"],
        &["compare", "latest", "latest"],
        &["report", "latest", "--html", "-"],
        &["show", "\u{1b}[31mx"],
        &["run", "\u{1b}[31mx"],
        &["fio", "j.fio"],
        &["vdbench", "\u{1b}[31mx"],
        &["diskspd", "-\u{1b}[31mx"],
        &fio,
        &fio_json,
    ] {
        let ran = lab.blocklab(args.iter().copied());
        let ran = format!("{}{}", ran.out, ran.err);
        let obeyed = |c: char| c.is_control() && c != '\n' && c != '\t' || c == '\u{202e}';
        assert!(!ran.contains(obeyed), "{args:?}: {ran:?}");
        assert!(!ran.contains("\nerror: lost"), "{args:?}: {ran}");
        assert!(ran.len() > 20, "{args:?}: {ran}");
    }
    // Other programs get what is stored; spreadsheets, no formula.
    let exported = good(lab.blocklab(["export", "latest", "-f", "json"]));
    assert_eq!(exported, run.to_json());
    run.id = SECOND.into();
    run.requested.name = "=cmd|' /C calc'!A0".into();
    lab.keep(&run);
    let table = good(lab.blocklab(["export", SECOND, "-f", "csv"]));
    assert!(
        table.contains(",'=cmd|") && !table.contains(",=cmd"),
        "{table}"
    );
}

/// The story: `blocklab list | head -1` once ended with a panic in many a program, when the reader
/// had seen enough.
#[test]
fn a_reader_that_leaves_is_no_error() {
    let lab = lab();
    for args in [
        &["list"][..],
        &["show", "k3f"],
        &["export", "k3f", "--format", "json"],
        &["report", "k3f", "--html", "-"],
        &["man"],
        &["completions", "bash"],
        &["help"],
    ] {
        let mut command = lab.command();
        command
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        drop(child.stdout.take());
        let status = child.wait().expect("it ends");
        let mut err = String::new();
        let mut pipe = child.stderr.take().expect("piped");
        pipe.read_to_string(&mut err).expect("text");
        assert_eq!((status.code(), err.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn help_tells_examples_for_every_verb() {
    let lab = Lab::new();
    let top = good(lab.blocklab(["--help"]));
    let (_, commands) = top.split_once("\nCommands:\n").expect("commands");
    let lines = commands.lines().take_while(|line| line.starts_with("  "));
    // Deeper lines go on with a description.
    let verbs = lines.filter_map(|line| line[2..].split(' ').next());
    let verbs: Vec<&str> = verbs.filter(|verb| !["", "help"].contains(verb)).collect();
    assert!(verbs.len() > 25, "{verbs:?}");
    for verb in verbs {
        let help = good(lab.blocklab([verb, "--help"]));
        assert!(
            help.contains(&format!("  blocklab {verb}")),
            "{verb}: {help}"
        );
    }
    assert!(good(lab.blocklab(["--version"])).starts_with("blocklab "));
}

/// The examples of the commands on stored runs do what they say, in a store that has such runs.
#[test]
fn the_examples_of_the_help_run() {
    let lab = Lab::new();
    let gates = "fail_on = [\"warning\"]\n";
    lab.write("gates.toml", gates);
    let run = "run quick --target sim:gp3:1TiB --runtime 100ms --repeat 2 --quiet";
    good(lab.blocklab(run.split(' ')));
    let one = lab.store().load("latest").expect("a run").record;
    for (last, name) in [
        ("k3f", "before"),
        ("012", "old"),
        ("9ab", "new"),
        ("7cd", "newer"),
    ] {
        let mut other = one.clone();
        other.id = format!("20261120-190142-{last}");
        other.requested.name = name.to_owned();
        lab.keep(&other);
        good(lab.blocklab(["note", last, "--tag", "baseline"]));
    }
    let mut run = 0;
    for verb in [
        "show", "report", "export", "compare", "diagnose", "price", "note",
    ] {
        let help = good(lab.blocklab([verb, "--help"]));
        let start = format!("  blocklab {verb}");
        for line in help.lines().filter(|line| line.starts_with(&start)) {
            let typed = line.trim().split("  ").next().expect("a command");
            let typed = typed.split(" | ").next().expect("a command");
            let ran = lab.shell(typed);
            let fine = [Some(0), Some(4), Some(5)].contains(&ran.code);
            assert!(fine, "{typed}: {}", ran.err);
            assert!(!ran.err.contains("panicked"), "{typed}: {}", ran.err);
            run += 1;
        }
    }
    assert!(run > 25, "{run} examples");
}

#[test]
fn every_shell_gets_its_completions() {
    let lab = Lab::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = good(lab.blocklab(["completions", shell]));
        assert!(script.contains("destroy-data"), "{shell}");
    }
    lab.refused(["completions", "dos"], &["bash", "zsh", "fish"]);
}

/// In fish `diagnose --expect gp` offered files alone: the value of an option asks nobody but its
/// option there.
#[test]
fn fish_completes_the_values_of_options() {
    let lab = Lab::new();
    if lab.shell("fish --version").code != Some(0) {
        println!("skipped: no fish is installed");
        return;
    }
    for (line, wanted) in [
        ("diagnose --expect gp", "gp3:"),
        ("run -t sim:gp", "sim:gp3:"),
        ("run i3", "i3-metal"),
    ] {
        let asked = format!(
            "fish --no-config -c \"blocklab completions fish | source; complete -C 'blocklab {line}'\""
        );
        let ran = lab.shell(&asked);
        let offered = ran.out.lines().any(|line| line.starts_with(wanted));
        assert!(offered, "{line}: {}{}", ran.out, ran.err);
    }
}

/// In bash Tab typed a lone `-` after `trace fit`, where a file is expected, and listed options between
/// the commands.
#[test]
fn bash_completes_options_for_who_begins_one() {
    let lab = Lab::new();
    lab.write("night.trace", "");
    let check = |line: &str, wanted: &[&str], unwanted: &[&str]| {
        let asked = format!(
            "bash --norc -c 'source <(blocklab completions bash); COMP_LINE=\"{line}\"; \
             COMP_POINT=${{#COMP_LINE}}; read -ra COMP_WORDS <<< \"$COMP_LINE\"; \
             [[ $COMP_LINE == *\" \" ]] && COMP_WORDS+=(\"\"); \
             COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _blocklab_names blocklab \
             \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD - 1]}}\"; \
             printf \"%s\\n\" \"${{COMPREPLY[@]}}\"' 2> /dev/null"
        );
        let ran = lab.shell(&asked);
        let offers = |word: &&str| ran.out.lines().any(|offered| offered == *word);
        assert!(wanted.iter().all(offers), "{line}: {}", ran.out);
        assert!(!unwanted.iter().any(offers), "{line}: {}", ran.out);
    };
    check("blocklab ", &["run", "list"], &["-h", "--store"]);
    check("blocklab trace fit ", &[], &["-h", "--on"]);
    check("blocklab trace fit --", &["--on"], &[]);
    check("blocklab list ", &["--limit"], &[]);
    check("blocklab run i3", &["i3-metal"], &["--store"]);
    // The story: after an equals sign no value was offered.
    check("blocklab run --rw=randre", &["randread"], &[]);
    check("blocklab run --target=sim:gp", &["gp3:"], &[]);
}
