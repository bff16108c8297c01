use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

/// Files by name.
fn files(files: &[(&str, String)]) -> impl Fn(&Path) -> io::Result<String> {
    let files: BTreeMap<String, String> = files
        .iter()
        .map(|(name, text)| ((*name).to_owned(), text.clone()))
        .collect();
    move |path: &Path| {
        let found = files.get(&*path.to_string_lossy());
        found
            .cloned()
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn parsed(text: &str, arguments: &str) -> Result<Script, Mistake> {
    let command = command(&words(&format!("-f p {arguments}")))?;
    parse(&command, &files(&[("p", text.to_owned())]))
}

/// (title, file, expected) of a corpus.
fn cases(corpus: &str) -> Vec<(String, String, Vec<String>)> {
    let body = corpus.lines().skip_while(|line| !line.starts_with("== "));
    let mut cases: Vec<(String, String, Vec<String>)> = Vec::new();
    let mut in_answer = false;
    for line in body {
        if let Some(title) = line.strip_prefix("== ") {
            cases.push((title.to_owned(), String::new(), Vec::new()));
            in_answer = false;
        } else if line == "--" {
            in_answer = true;
        } else if let Some((_, file, answer)) = cases.last_mut() {
            match in_answer {
                true => answer.push(line.to_owned()),
                false => file.push_str(&format!("{line}\n")),
            }
        }
    }
    cases
}

/// The arguments in a title: from its first word that can be one.
fn arguments(title: &str) -> String {
    let is_one = |word: &&str| word.starts_with(['-', '+']) || word.contains('=');
    let all: Vec<&str> = title.split(' ').collect();
    let first = all.iter().position(is_one).unwrap_or(all.len());
    all[first..].join(" ")
}

#[test]
fn parameter_files_mean_their_runs() {
    let cases = cases(include_str!("corpus.txt"));
    assert!(cases.len() >= 60, "{}", cases.len());
    for (title, file, expected) in cases {
        let runs = match parsed(&file, &arguments(&title)) {
            Ok(script) => script
                .runs
                .iter()
                .map(|run| run.simulated().replace("Simulating ", ""))
                .collect(),
            Err(mistake) => vec![format!("! {}", mistake.about)],
        };
        let runs: Vec<String> = runs;
        assert_eq!(runs, expected, "{title}\n{file}");
    }
}

#[test]
fn mistakes_are_refused_with_their_place() {
    let cases = cases(include_str!("refusals.txt"));
    assert!(cases.len() >= 30, "{}", cases.len());
    for (title, file, expected) in cases {
        let mistake = parsed(&file, "").expect_err(&title).to_string();
        assert!(mistake.starts_with(&expected[0]), "{title}: {mistake}");
    }
}

#[test]
fn files_are_included_and_circles_are_seen() {
    let main = "include=luns\nwd=wd1,sd=sd*\nrd=rd1,wd=wd1,iorate=5\n".to_owned();
    let luns = "sd=sd1,lun=a\ninclude=more.vdb\n".to_owned();
    let more = "sd=sd2,lun=b\n".to_owned();
    let found = [
        ("dir/p", main.clone()),
        ("dir/luns", luns.clone()),
        ("dir/more.vdb", more),
    ];
    let command = command(&words("-f dir/p")).unwrap();
    let script = parse(&command, &files(&found)).unwrap();
    assert_eq!(script.sds.len(), 2);
    let circle = [
        ("dir/p", main),
        ("dir/luns", luns),
        ("dir/more.vdb", "include=luns".to_owned()),
    ];
    let mistake = parse(&command, &files(&circle)).unwrap_err().to_string();
    assert!(
        mistake.contains("dir/more.vdb:1") && mistake.contains("circle"),
        "{mistake}"
    );
    let missing = [("dir/p", "include=nothing".to_owned())];
    let mistake = parse(&command, &files(&missing)).unwrap_err().to_string();
    assert!(
        mistake.starts_with("dir/p:1: include=: cannot read nothing"),
        "{mistake}"
    );
}

#[test]
fn several_files_are_one() {
    let parts = [
        ("a", "sd=sd1,lun=x\n".to_owned()),
        ("b", "wd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=5\n".to_owned()),
    ];
    let command = command(&words("-f a b -o out -s")).unwrap();
    assert_eq!(command.output.as_deref(), Some("out"));
    assert!(command.simulate);
    assert_eq!(parse(&command, &files(&parts)).unwrap().runs.len(), 1);
}

#[test]
fn the_command_line_is_the_originals() {
    let one = command(&words("-fp -o dir+ -e5 -i 1 -w 2 -vr -jro -m 4 size=2g")).unwrap();
    assert_eq!(one.files, ["p"]);
    assert_eq!((one.elapsed, one.interval, one.warmup), (5, 1, 2));
    assert!(one.validation.read_after_write && one.validation.recover_only);
    assert_eq!(one.ignored, ["-m4"]);
    assert_eq!(one.variables, [("size".to_owned(), "2g".to_owned())]);
    assert_eq!(one.output.as_deref(), Some("dir+"));
    assert!(command(&words("-t")).unwrap().quick_test);
    for (line, message) in [
        ("", "no parameter file"),
        ("-x", "there is no such option"),
        ("-f p -e soon", "no number of seconds"),
        ("compare a b", "blocklab compare"),
        ("-tf", "file system"),
    ] {
        let mistake = command(&words(line)).expect_err(line).to_string();
        assert!(mistake.contains(message), "{line}: {mistake}");
    }
    let unused = parsed("sd=sd1,lun=a\n", "size=2g").unwrap_err().to_string();
    assert!(unused.contains("no parameter file uses $size"), "{unused}");
}

/// Nothing is dropped in silence.
#[test]
fn what_has_no_effect_is_noted() {
    let text = "port=5000\nsd=sd1,lun=a\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=5\n";
    let script = parsed(text, "").unwrap();
    assert_eq!(script.notes.len(), 1);
    assert_eq!(script.notes[0].subject, "port=5000");
}

#[test]
fn a_thousand_devices_are_read_at_once() {
    let mut text: String = (1..=1000)
        .map(|n| format!("sd=sd{n},lun=/dev/disk/by-id/wwn-0x{n:016x},openflags=o_direct\n"))
        .collect();
    text.push_str("wd=wd1,sd=sd*,xfersize=4k,rdpct=70\n");
    text.push_str("rd=rd1,wd=wd1,iorate=curve,forthreads=(1-64,d),elapsed=10\n");
    let begin = Instant::now();
    let script = parsed(&text, "").unwrap();
    assert_eq!(script.runs.len(), 49);
    assert_eq!(script.runs[0].uses[0].sds.len(), 1000);
    assert!(
        begin.elapsed() < Duration::from_secs(5),
        "{:?}",
        begin.elapsed()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_text_is_fatal(text in "\\PC{0,200}") {
        let _ = parsed(&text, "");
    }

    /// Words of the language in any order reach deeper than noise does.
    #[test]
    fn no_sequence_of_words_is_fatal(
        words in proptest::collection::vec(
            prop::sample::select(vec![
                "sd=sd1", "lun=a", "sd=default", "wd=wd1", "wd=default", "sd=sd*", "rd=rd1",
                "rd=default", "wd=*", "iorate=max", "iorate=curve", "iorate=(1-9,2)", "elapsed=4",
                "interval=0", "curve=(1,200)", "forthreads=(1-8,d)", "xfersize=(4k,50,8k,50)",
                "xfersize=(1k,8k,512)", "skew=50", "count=(1,3)", "size=1g", "range=(1,2)",
                "seekpct=(poisson,2)", "sd=single", "sd=setsof2", "sd=range", "hd=localhost",
                "stride=(1,2)", "compratio=2", "iorate=(5,1)", "distribution=variable", "(", ")",
                "forseekpct=(-1)", "sd=(sd1-sd3)", "\n", "\n", ",", ",", ",", " ", "eof", "=", "\"",
            ]),
            0..40,
        )
    ) {
        for text in [words.concat(), words.join(",")] {
            let Ok(script) = parsed(&text, "") else { continue };
            for run in script.runs.iter().take(1000) {
                prop_assert!(run.simulated().starts_with("Simulating RD="));
            }
        }
    }

    #[test]
    fn no_command_line_is_fatal(line in "[-+fosewivjtlr=a-z0-9 ]{0,40}") {
        let _ = command(&words(&line));
    }
}
