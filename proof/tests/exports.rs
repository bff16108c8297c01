//! What leaves a machine: a forecast before the run, lines of JSON while it lasts, a record that
//! names nobody.

use std::collections::BTreeSet;
use std::process::Command;

use blocklab_proof::{Lab, good, json, root};
use serde_json::Value;

/// A load that takes no time.
const LOAD: &str = "run -q --case rand4k-q1-read --repeat 2 --runtime 1s --seed 7 \
                    --target sim:gp3:1TiB,iops=6000@r5d.xlarge";

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split_whitespace()
}

#[test]
fn a_dry_run_reports_and_leaves_nothing() {
    let lab = Lab::new();
    let load = "run -q --rw write --bs 64k --runtime 100ms --size 8MiB --target . --json";
    let printed = json(&good(lab.blocklab(words(&format!("{load} --dry-run")))));
    let here: Vec<_> = std::fs::read_dir(lab.path()).unwrap().collect();
    assert!(here.is_empty(), "{here:?}");
    let target = &printed["systems"][0]["targets"][0];
    assert_eq!(target["laid_out_bytes"], 8 << 20);
    assert_eq!(printed["systems"][0]["duration_s"], 3.3);
    assert_eq!(printed["systems"][0]["written_bytes"], Value::Null);
    assert_eq!(printed["systems"][0]["added_passes"], Value::Null);
    // Only the words for people said that passes may be added.
    let until = format!("{load} --dry-run --repeat-until 2%");
    let until = json(&good(lab.blocklab(words(&until))));
    let added = &until["systems"][0]["added_passes"];
    assert_eq!(
        (&added["until_percent"], &added["begin_within_s"]),
        (&2.0.into(), &600.0.into())
    );
    // What it says of the target is what the run then has.
    let ran = json(&good(lab.blocklab(words(load))));
    assert_eq!(ran["targets"][0]["size_bytes"], target["size_bytes"]);
    assert_eq!(ran["targets"][0]["path"], target["path"]);
}

/// The ramp of a load with an amount and a rate was left out: 2 s at 100 IOPS.
#[test]
fn a_dry_run_counts_the_ramp_of_a_load_with_a_rate() {
    let lab = Lab::new();
    let study = "name = \"a\"\npasses = 1\n[[case]]\nname = \"amount\"\nmix = \"write\"\n\
                 block_size = \"64KiB\"\nsize = \"64MiB\"\nstop_bytes = \"16MiB\"\n\
                 rate_iops = 100\nramp = \"2s\"\n";
    lab.write("a.toml", study);
    let printed = lab.blocklab(words("run a.toml -t sim:gp3:1TiB --dry-run --json"));
    let bounded = &json(&good(printed))["systems"][0]["bounded_bytes"];
    assert_eq!(*bounded, (16 << 20) + 200 * (64 << 10));
}

/// A load with an amount and a rate took 0 s, and one that moves more than its region was counted
/// up to the size of the region: an eighth of what it then wrote.
#[test]
fn a_dry_run_knows_how_much_a_load_with_an_amount_writes_and_how_long_that_takes() {
    let lab = Lab::new();
    let common = "pattern = \"random\"\nblock_size = \"4KiB\"\nsize = \"1MiB\"\n";
    for (case, bytes, seconds) in [
        (
            "mix = \"write\"\nthreads = 2\nstop_bytes = \"8MiB\"\nrate_iops = 1000",
            16 << 20,
            4.096,
        ),
        (
            "mix = \"write\"\nthreads = 2\nstop_ios = 1000\nrate_bytes = \"4MiB\"",
            8_192_000,
            1.953_125,
        ),
        (
            "mix = \"write\"\nloops = 8\nrate_iops = 1000\nramp = \"1s\"",
            (8 << 20) + (1000 << 12),
            3.048,
        ),
        (
            "read_percent = 50\nstop_ios = 3000\nrate_iops = { read = 500, write = 500 }",
            3000 << 12,
            3.0,
        ),
        (
            "mix = \"write\"\nstop_bytes = \"8MiB\"\nrate_iops = 1000\nruntime = \"1s\"",
            1000 << 12,
            1.0,
        ),
    ] {
        let study = format!("name = \"a\"\npasses = 1\n[[case]]\nname = \"a\"\n{common}{case}\n");
        lab.write("a.toml", study);
        let forecast = lab.blocklab(words("run a.toml -t sim:gp3:1TiB --dry-run --json"));
        let forecast = &json(&good(forecast))["systems"][0];
        assert_eq!(forecast["bounded_bytes"], bytes, "{case}");
        assert_eq!(forecast["duration_s"], seconds, "{case}");
        assert_eq!(forecast["untimed_measurements"], 0, "{case}");
        // The run does as much, and takes as long.
        let ran = json(&good(
            lab.blocklab(words("run a.toml -q -t sim:gp3:1TiB --json")),
        ));
        let rows = ran["rows"].as_array().expect("rows");
        let writes = rows
            .iter()
            .find(|row| row["direction"] == "write")
            .expect("writes");
        let figure = |name: &str| writes[name]["value"].as_f64().expect("a figure");
        let written = writes["ios"].as_f64().expect("a count") * 4096.0;
        assert!(
            written > 0.0 && written <= f64::from(bytes),
            "{case}: {written} of {bytes}"
        );
        let took = written / figure("bytes_per_s");
        assert!(
            (took / seconds - 1.0).abs() < 0.5,
            "{case}: {took} s of {seconds}"
        );
    }
}

/// The story: `null` beside a volume that is sold took the price of the run away.
#[test]
fn a_target_without_a_model_leaves_the_price_of_the_others() {
    let lab = Lab::new();
    let line = "run --rw randread --runtime 1s -t sim:gp3:1TiB -t null --dry-run --json";
    let printed = json(&good(lab.blocklab(words(line))));
    assert!(!printed["systems"][0]["cost"].is_null(), "{printed}");
}

/// The story: eight cases of 136 years in five passes are more nanoseconds than 64 bits hold, and the
/// forecast panicked. What no clock holds is refused, and what one just holds has a forecast. A time
/// that alone is too long was "not a time".
#[test]
fn a_run_that_never_ends_has_no_forecast_and_a_long_one_has() {
    let lab = Lab::new();
    let years = |passes: &str, seconds: u64| {
        let line = "run -t sim:gp3:1TiB --case rand4k-q1-read --dry-run --json --repeat";
        let seconds = format!("{seconds}s");
        lab.blocklab(line.split(' ').chain([passes, "--runtime", &*seconds]))
    };
    for (passes, seconds, words) in [
        ("1", 1 << 34, "`17179869184s` is longer than 292 years"),
        (
            "5",
            1 << 33,
            "--runtime 2386092 h 56 min: 5 measurements with this time add up to more than 292 years",
        ),
    ] {
        let endless = years(passes, seconds);
        assert_eq!(endless.code, Some(2), "{}", endless.out);
        assert!(endless.err.contains(words), "{}", endless.err);
    }
    let forecast = &json(&good(years("1", 1 << 33)))["systems"][0];
    let duration = forecast["duration_s"].as_f64().expect("a duration");
    assert!(duration > (1_u64 << 33) as f64, "{duration}");
}

/// A forecast that is too low would be worse than none.
#[test]
fn a_run_writes_no_more_than_its_forecast() {
    let lab = Lab::new();
    for (load, measured_s) in [
        (
            "run -q --rw write --bs 1M --depth 8 --runtime 2s --seed 1 --target sim:gp3:1TiB --json",
            2.0,
        ),
        (
            "run -q --rw randrw --bs 4k --depth 64 --runtime 2s --seed 1 --target sim:st1:2TiB --json",
            2.0,
        ),
        // The story: the second that a volume saves up was not in the forecast, which the ramp hid: three
        // passes of 500 MiB were announced, and wrote half as much again.
        (
            "run -q --rw write --bs 1M --depth 24 --runtime 1s --ramp 0 --seed 1 \
             --target sim:io2:100GiB,iops=5000 --json",
            1.0,
        ),
    ] {
        let printed = json(&good(lab.blocklab(words(&format!("{load} --dry-run")))));
        let most = printed["systems"][0]["written_bytes"]
            .as_f64()
            .expect("a bound");
        let ran = json(&good(lab.blocklab(words(load))));
        let rows = ran["rows"].as_array().expect("rows").iter();
        let writes = rows.filter(|row| row["direction"] == "write");
        // Three passes; the ramp is not in the figure.
        let written: f64 = writes
            .map(|row| row["bytes_per_s"]["value"].as_f64().unwrap() * 3.0 * measured_s)
            .sum();
        assert!(
            written > 0.0 && written <= most,
            "{load}: {written} of {most}"
        );
    }
    // The story: only limits in bytes counted, and 120 MB were announced as at most 2.75 GB.
    let load =
        "run -q --rw randwrite --runtime 5s --seed 1 --target sim:gp3:100GiB --json --dry-run";
    let printed = json(&good(lab.blocklab(words(load))));
    let most = printed["systems"][0]["written_bytes"]
        .as_f64()
        .expect("a bound");
    // 3,000 IOPS of 4 KiB for three times 6 s, and what is saved up.
    assert!((221e6..240e6).contains(&most), "{most}");
}

#[test]
fn a_dry_run_refuses_what_the_run_would_refuse() {
    let lab = Lab::new();
    lab.write("mine", "precious");
    for (target, run) in [
        ("mine", "a file with content"),
        ("nowhere/x", "does not exist"),
        ("sim:gp9:1TiB", "gp9"),
    ] {
        lab.refused(["run", "--dry-run", "--target", target], &[run]);
    }
}

#[test]
fn a_log_of_lines_becomes_the_same_run_on_another_machine() {
    let (here, there) = (Lab::new(), Lab::new());
    let log = good(here.blocklab(words(&format!("{LOAD} --json-lines"))));
    let kinds: Vec<String> = log
        .lines()
        .map(|line| json(line)["kind"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds, ["measurement", "measurement", "summary", "record"]);
    // As `kubectl logs --prefix` shows it, behind the words of an entry script.
    let prefixed: String = log
        .lines()
        .map(|line| format!("[pod/x/y] {line}\n"))
        .collect();
    std::fs::write(there.path().join("log"), format!("mounted\n{prefixed}")).unwrap();
    good(there.blocklab(["import", "record", "log"]));
    let figures = |lab: &Lab| json(&good(lab.blocklab(["show", "--json"])))["rows"].clone();
    assert_eq!(figures(&here), figures(&there));
}

/// The story: `--anonymous` left out the run's name, and kept it as the case and job of `fio --name=acme`,
/// as rd, wd and sd of Vdbench, and in the text of the study.
#[test]
fn an_anonymous_export_keeps_no_name_of_a_load() {
    let lab = Lab::new();
    let file = |name: &str, text: &str| lab.write(name, text);
    file("acme.dat", &"\0".repeat(1 << 20));
    file(
        "acme.vdb",
        "sd=acmesd,lun=null,size=4m\nwd=acmewd,sd=acmesd,rdpct=100,xfersize=4k\n\
         rd=acmerd,wd=acmewd,iorate=100,elapsed=2,interval=1,threads=4\n",
    );
    file(
        "acme.toml",
        "name = \"acme\"\ndescription = \"of acme\"\n[[case]]\nname = \"acme-case\"\nruntime = \"50ms\"\n\
         ramp = \"0s\"\n",
    );
    for line in [
        "fio --name=acme --ioengine=null --size=1m --rw=read --description=acme",
        "vdbench -f acme.vdb -o acme.out",
        "run acme.toml --target sim:gp3:1TiB -q --repeat 1",
        "run quick --target sim:gp3:1TiB -q --repeat 1 --name acme",
        "run --rw randread --target sim:gp3:1TiB -q --repeat 1 --name acme",
    ] {
        let ran = lab.blocklab(words(line));
        assert_eq!(ran.code, Some(0), "{line}: {}", ran.err);
        for format in [
            "json",
            "csv",
            "csv --series",
            "parquet -o bare.parquet --force",
        ] {
            let export = format!("export latest --anonymous --format {format}");
            let printed = good(lab.blocklab(words(&export)));
            assert!(!printed.contains("acme"), "{line}, {format}: {printed}");
        }
        let bare = std::fs::read(lab.path().join("bare.parquet")).unwrap();
        assert!(
            !bare.windows(4).any(|bytes| bytes == b"acme"),
            "{line}, Parquet"
        );
    }
    let flags = good(lab.blocklab(words("export latest --anonymous --format csv")));
    assert!(flags.contains("rand-4KiB-q1-read"), "{flags}");
}

#[test]
fn an_anonymous_export_is_read_and_names_nobody() {
    let lab = Lab::new();
    let folder = lab.path().join("acme prod");
    std::fs::create_dir(&folder).unwrap();
    let folder = folder.display().to_string();
    good(lab.blocklab([
        "run",
        "-q",
        "--rw",
        "randread",
        "--runtime",
        "50ms",
        "--size",
        "4MiB",
        "--name",
        "acme-x",
        "--target",
        &folder,
    ]));
    good(lab.blocklab(["note", "latest", "for acme"]));
    for format in ["json", "csv"] {
        let bare = good(lab.blocklab(["export", "latest", "--anonymous", "--format", format]));
        assert!(!bare.contains("acme"), "{bare}");
        if format == "json" {
            lab.write("bare.json", &bare);
        }
    }
    let page = good(lab.blocklab(["import", "record", "bare.json"]));
    assert!(page.contains("target1") && !page.contains("acme"), "{page}");
}

/// A load whose conditions pass, fail and stay open.
const JUDGED: &str =
    "run -q --rw randread --bs 8k --depth 4 --runtime 2s --seed 7 --target sim:gp3:1TiB";

/// The file that a CI system would read, compared with what such systems take.
#[track_caller]
fn junit(lab: &Lab, name: &str) -> String {
    let file = lab.path().join(name);
    let schema = root().join("proof/data/junit.xsd");
    let mut check = Command::new("xmllint");
    check.args(["--noout", "--schema"]).args([&schema, &file]);
    match check.output() {
        Ok(checked) => {
            let said = String::from_utf8_lossy(&checked.stderr);
            assert!(checked.status.success(), "{said}");
        }
        Err(_) => println!("skipped: no xmllint here to check JUnit files by their schema"),
    }
    std::fs::read_to_string(file).expect("a file")
}

/// Every answer is a test of its own, and what the passes cannot decide is skipped, not green.
#[test]
fn the_gate_is_a_file_of_tests() {
    let lab = Lab::new();
    let gate = "--fail-on p99>1ms,iops<100,p99>4.1ms --name one --junit gate.xml";
    let ran = lab.blocklab(words(&format!("{JUDGED} --repeat 3 {gate}")));
    assert_eq!(ran.code, Some(4), "{}", ran.err);
    let text = junit(&lab, "gate.xml");
    for part in [
        "<testsuites name=\"blocklab gate\" tests=\"3\" failures=\"1\" errors=\"0\">",
        "<testsuite name=\"one\" tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\" time=\"",
        "p99&gt;1ms: rand-8KiB-q4-read read\">\n      <failure type=\"gate\" message=\"p99 4",
        "name=\"iops&lt;100: rand-8KiB-q4-read\"/>",
        "<skipped message=\"undecided: p99 4",
        " passes would decide\"/>",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    // Written again by the next build, without --force.
    let again = lab.blocklab(words(&format!("{JUDGED} --repeat 1 {gate}")));
    assert_eq!(again.code, Some(0), "{}", again.err);
    let text = junit(&lab, "gate.xml");
    let undecided = "tests=\"3\" failures=\"0\" errors=\"0\" skipped=\"3\"";
    assert!(text.contains(undecided), "one pass decides nothing: {text}");
    // One file for both would be the answers, and the page gone in silence.
    lab.refused(
        words(&format!("{JUDGED} --html gate.xml {gate}")),
        &["name one file"],
    );
}

#[test]
fn each_judged_run_is_a_suite_of_its_own() {
    let lab = Lab::new();
    let mut ids = Vec::new();
    for _ in 0..2 {
        let ran = lab.blocklab(words(&format!("{JUDGED} --repeat 1 --name one --json")));
        ids.push(json(&good(ran))["id"].as_str().expect("an id").to_owned());
    }
    let [older, newer] = &ids[..] else {
        unreachable!("two runs")
    };
    let both = format!("diagnose {newer} {older} --expect gp3:1TiB --fail-on missed");
    good(lab.blocklab(words(&format!("{both} --junit both.xml"))));
    let text = junit(&lab, "both.xml");
    for name in ["one", "one (2)"] {
        let suite = format!("<testsuite name=\"{name}\" ");
        assert!(text.contains(&suite), "{suite}: {text}");
    }
    let change = format!("compare {older} {newer} --fail-on slower --junit change.xml");
    good(lab.blocklab(words(&change)));
    let text = junit(&lab, "change.xml");
    let suites = text.matches("<testsuite ").count();
    assert_eq!(suites, 1, "the baseline is no suite: {text}");
    assert!(text.contains(newer), "{text}");
}

/// No name of a case ends an attribute, and no file is written over that somebody else wrote.
#[test]
fn a_file_of_tests_holds_hostile_names_and_spares_others() {
    let lab = Lab::new();
    let study = "name = \"a&b\"\n[[case]]\nname = \"x\\\"/><evil>&'\"\nruntime = \"1s\"\n";
    lab.write("a.toml", study);
    let line = "run a.toml -q -t sim:gp3:1TiB --repeat 1 --fail-on iops<1,warning --junit gate.xml";
    good(lab.blocklab(words(line)));
    let text = junit(&lab, "gate.xml");
    assert!(!text.contains("<evil>"), "{text}");
    assert!(text.contains("x&quot;/&gt;&lt;evil&gt;&amp;'"), "{text}");
    lab.write("gate.xml", "<project/>");
    for (line, why) in [
        (line, "--force"),
        ("run -q -t null --junit new.xml", "--fail-on"),
        ("run -q -t null --fail-on warning --junit -", "name a file"),
    ] {
        lab.refused(words(line), &[why]);
    }
}

/// A run that broke is an error to a CI system, and no test that was skipped.
#[test]
fn a_run_without_an_end_is_an_error_of_its_suite() {
    let lab = Lab::new();
    good(lab.blocklab(words(&format!("{JUDGED} --repeat 1"))));
    let mut record = lab.store().load("latest").expect("a run").record;
    record.id = "20200101-000000-k3f".to_owned();
    record.status = blocklab_record::Status::Failed;
    lab.keep(&record);
    good(lab.blocklab(words("diagnose 20200101 --fail-on iops<1 --junit gate.xml")));
    let text = junit(&lab, "gate.xml");
    assert!(text.contains("errors=\"1\""), "{text}");
    let error = "<error type=\"run\" message=\"it did not end as planned";
    assert!(text.contains(error), "{text}");
}

/// Names of the families in a text of Prometheus, by its rules: a family has one HELP, then one TYPE,
/// then its samples, and none of these has a time.
fn families(text: &str) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut lines = text.lines().peekable();
    while let Some(help) = lines.next() {
        let (name, words) = help
            .strip_prefix("# HELP ")
            .and_then(|help| help.split_once(' '))
            .unwrap_or_else(|| panic!("a HELP begins a family: {help}"));
        assert!(!words.is_empty() && seen.insert(name.to_owned()), "{help}");
        assert_eq!(lines.next(), Some(&*format!("# TYPE {name} gauge")));
        let mut labels = BTreeSet::new();
        while let Some(sample) = lines.next_if(|line| !line.starts_with('#')) {
            let (own, value) = sample.rsplit_once("} ").expect("labels and a value");
            value
                .parse::<f64>()
                .expect("a number, and no time after it");
            assert!(own.starts_with(&format!("{name}{{study=\"")), "{sample}");
            assert!(
                labels.insert(own.to_owned()),
                "a series comes once: {sample}"
            );
        }
        assert!(!labels.is_empty(), "{name} has no sample");
    }
    seen
}

/// The words of a query that begin as our metrics do.
fn metrics(text: &str) -> BTreeSet<&str> {
    let is_of_name = |sign: char| sign.is_ascii_lowercase() || sign.is_ascii_digit() || sign == '_';
    text.split(|sign| !is_of_name(sign))
        .filter(|word| word.starts_with("blocklab_"))
        .collect()
}

/// The board asks for nothing that the export does not write, and names no data source of its own.
#[test]
fn the_board_of_grafana_asks_for_what_the_export_writes() {
    let lab = Lab::new();
    let study = "name = \"a\\\"b\\\\c\"\npasses = 2\n[[case]]\nname = \"open\"\n\
                 arrivals = \"poisson\"\nrate_iops = 500\nruntime = \"5s\"\n";
    lab.write("a.toml", study);
    good(lab.blocklab(words("run a.toml -q -t sim:gp3:1TiB@m5.xlarge")));
    let text = good(lab.blocklab(words("export latest --format prom")));
    let labels = "study=\"a\\\"b\\\\c\",target=\"sim:gp3:1TiB@m5.xlarge\"";
    assert!(text.contains(labels), "{text}");
    let written = families(&text);
    let boards = std::fs::read_dir(root().join("contrib/grafana")).expect("boards");
    let boards: Vec<_> = boards.map(|board| board.unwrap().path()).collect();
    assert!(!boards.is_empty());
    for path in boards {
        let text = std::fs::read_to_string(&path).unwrap();
        let asked = metrics(&text);
        let known = |name: &&str| written.contains(*name);
        let unknown: Vec<&&str> = asked.iter().filter(|name| !known(name)).collect();
        assert!(
            unknown.is_empty() && asked.len() > 8,
            "{unknown:?} of {asked:?}"
        );
        let board = json(&text);
        assert_eq!(
            board["uid"],
            Value::Null,
            "it would replace a board of that id"
        );
        for panel in board["panels"].as_array().expect("panels") {
            let title = &panel["title"];
            assert_eq!(panel["datasource"]["uid"], "${datasource}", "{title}");
            assert!(panel["targets"][0]["expr"].is_string(), "{title}");
        }
    }
}

/// A sweep of hundreds of cases would fill a Prometheus for weeks.
#[test]
fn a_prometheus_gets_no_more_series_than_it_should_keep() {
    let lab = Lab::new();
    let sizes: Vec<String> = (1..=120).map(|size| (size * 512).to_string()).collect();
    let sizes = sizes.join(",");
    let load = "run -q --rw randread --depth 1,2 --runtime 300ms --repeat 1 --target sim:gp3:1TiB";
    good(lab.blocklab(words(&format!("{load} --bs {sizes}"))));
    let refused = lab.blocklab(words("export latest -o disk.prom"));
    assert_eq!(refused.code, Some(2), "{}", refused.out);
    let why = "more than 2,000 are too many";
    assert!(refused.err.contains(why), "{}", refused.err);
    assert!(!lab.path().join("disk.prom").exists());
    let series = lab.blocklab(words("export latest --format prom --series"));
    assert!(series.err.contains("--format csv"), "{}", series.err);
}
