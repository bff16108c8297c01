use std::collections::BTreeMap;
use std::io;
use std::path::Path;

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

/// This machine is called `bench` and has two addresses.
fn is_here(name: &str) -> bool {
    ["localhost", "127.0.0.1", "bench", "10.0.0.7"].contains(&name)
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn parsed(text: &str, arguments: &str) -> Result<ParameterFile, Mistake> {
    let command = command(&words(&format!("-f p {arguments}")))?;
    parse(&command, &files(&[("p", text.to_owned())]), &is_here)
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
            if in_answer {
                answer.push(line.to_owned())
            } else {
                file.push_str(&format!("{line}\n"))
            }
        }
    }
    cases
}

/// The arguments in a title: from its first word that can be one.
fn arguments(title: &str) -> String {
    let all: Vec<&str> = title.split(' ').collect();
    let first = all
        .iter()
        .position(|word| word.starts_with(['-', '+']) || word.contains('='))
        .unwrap_or(all.len());
    all[first..].join(" ")
}

#[test]
fn parameter_files_mean_their_runs() {
    let cases = cases(include_str!("corpus.txt"));
    assert!(cases.len() >= 60, "{}", cases.len());
    for (title, file, expected) in cases {
        let runs = match parsed(&file, &arguments(&title)) {
            Ok(parameters) => parameters
                .runs
                .iter()
                .map(|run| run.simulated().replace("Simulating ", ""))
                .collect(),
            Err(error) => vec![format!("! {}", error.about)],
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
        let error = parsed(&file, "").expect_err(&title).to_string();
        assert!(error.starts_with(&expected[0]), "{title}: {error}");
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
    let parameters = parse(&command, &files(&found), &is_here).unwrap();
    assert_eq!(parameters.sds.len(), 2);
    let circle = [
        ("dir/p", main),
        ("dir/luns", luns),
        ("dir/more.vdb", "include=luns".to_owned()),
    ];
    let error = parse(&command, &files(&circle), &is_here)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("dir/more.vdb:1") && error.contains("circle"),
        "{error}"
    );
    let missing = [("dir/p", "include=nothing".to_owned())];
    let error = parse(&command, &files(&missing), &is_here)
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("dir/p:1: include=: cannot read nothing"),
        "{error}"
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
    assert_eq!(
        parse(&command, &files(&parts), &is_here)
            .unwrap()
            .runs
            .len(),
        1
    );
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
        ("-f p -e 0", "from 1 to 1000000000"),
        ("compare a b", "blocklab compare"),
        ("-tf", "file system"),
        // The story: `-s` and `-r`, in a wrong form, were no option, in a message that lists both.
        ("-f p -s -r", "the name of a run must follow"),
        ("-f p -s now", "nothing may follow it"),
    ] {
        let error = command(&words(line)).expect_err(line).to_string();
        assert!(error.contains(message), "{line}: {error}");
    }
    let unused = parsed("sd=sd1,lun=a\n", "size=2g").unwrap_err().to_string();
    assert!(unused.contains("no parameter file uses $size"), "{unused}");
}

/// The guide's own list lost every number without a unit: one bucket from 0 to 1 ms was left, and
/// nothing was noted.
#[test]
fn numbers_without_a_unit_are_microseconds_in_histograms() {
    let list = "histogram=(default,20,40,60,80,100,200,400,600,800,1m,2m)";
    let run = "sd=sd1,lun=a\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=5\n";
    let parameters = parsed(&format!("{list}\n{run}"), "").unwrap();
    assert_eq!(
        parameters.general.histogram.edges,
        [20, 40, 60, 80, 100, 200, 400, 600, 800, 1000, 2000]
    );
    // As files for Vdbench before 5.04.06 have it.
    let quoted = parsed(&format!("histogram=(default,\"20,40u,1m\")\n{run}"), "").unwrap();
    assert_eq!(quoted.general.histogram.edges, [20, 40, 1000]);
    let plain = parsed(run, "").unwrap();
    assert_eq!(plain.general.histogram, defs::Buckets::default());
}

#[test]
fn data_errors_in_all_their_forms() {
    let requested = |line: &str| {
        let run = "sd=sd1,lun=a\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=5\n";
        parsed(&format!("{line}\n{run}"), "")
            .unwrap()
            .general
            .data_errors
    };
    let errors = |most, command: Option<&str>, remove| defs::DataErrors {
        most,
        command: command.map(str::to_owned),
        remove,
    };
    for (line, expected) in [
        ("data_errors=5", errors(5, None, false)),
        ("data_errors=0", errors(1, None, false)),
        ("dataerrors=5", errors(5, None, false)),
        ("data_errors=stop", errors(1, None, false)),
        ("data_errors=remove", errors(1, None, true)),
        ("dataerrors=remove_device", errors(1, None, true)),
        // Seven seconds and a minute, which have no effect.
        ("data_errors=(remove,7)", errors(1, None, true)),
        ("data_errors=(5,60)", errors(5, None, false)),
        (
            "data_errors=\"sh report.sh $lun $lba\"",
            errors(1, Some("sh report.sh $lun $lba"), false),
        ),
    ] {
        assert_eq!(requested(line), expected, "{line}");
    }
    assert_eq!(requested("messagescan=no"), errors(50, None, false));
}

/// A page that called a keyword exact while a note of a run with it stated a difference.
#[test]
fn what_a_note_tells_of_differs_on_the_page() {
    let text = "dedupratio=2\nsd=sd1,lun=a,size=1g,openflags=fsync\n\
                wd=default,sd=sd1,skew=0\nwd=wd1,xfersize=(512,1m,512),range=(50,150)\n\
                wd=wd2,stride=(4k,16k)\nwd=wd3,hotband=(10,20)\nwd=wd4,seekpct=sequentialnz\n\
                wd=wd5,seekpct=(poisson,3)\nrd=rd1,wd=*,iorate=5,forcompratio=(1,2)\n";
    let parameters = parsed(text, "").unwrap();
    let inputs = Inputs {
        sizes: vec![1 << 30],
        validation: Validation {
            validate: true,
            ..Validation::default()
        },
        ..Inputs::default()
    };
    let mut prepared = prepare(&parameters, &inputs).unwrap();
    validate(&mut prepared, &parameters, &inputs, &[None]);
    let mut found = 0;
    for note in &prepared.notes {
        let word = note.subject.split(['=', ' ']).next().unwrap_or_default();
        let rows = keywords::KEYWORDS
            .iter()
            .filter(|row| row.name == word)
            .filter(|row| match row.value.section {
                keywords::Section::Storage => note.subject.contains(" of sd="),
                keywords::Section::Workload => note.subject.contains(" of wd="),
                _ => !note.subject.contains(" of "),
            });
        for row in rows {
            found += 1;
            assert!(!row.here.is_empty(), "{}: {}", note.subject, note.text);
        }
    }
    assert!(found >= 9, "{:?}", prepared.notes);
}

/// The story: `seekpct=0.3` ran sequentially, and nothing said so.
#[test]
fn a_rounded_share_of_random_operations_is_noted() {
    let all = [
        ("0", false),
        ("0.3", true),
        ("50", false),
        ("99.7", true),
        ("100", false),
    ];
    for (share, is_noted) in all {
        let text = format!(
            "sd=sd1,lun=a,size=1g\nwd=wd1,sd=sd1,seekpct={share}\nrd=rd1,wd=wd1,iorate=5\n"
        );
        let inputs = Inputs {
            sizes: vec![1 << 30],
            ..Inputs::default()
        };
        let prepared = prepare(&parsed(&text, "").expect(share), &inputs).expect(share);
        let mut notes = prepared.notes.iter();
        let found = notes.any(|note| note.subject == "seekpct of wd=wd1");
        assert_eq!(found, is_noted, "{share}: {:?}", prepared.notes);
    }
}

/// `maxdataread=1m` ended a run after a megabyte of reads and writes, and `compratio=2` or
/// `distribution=variable` were approximated, and the run had no note of it: only the page knew.
#[test]
fn what_is_approximated_is_noted() {
    let text = "compratio=2\nsd=sd1,lun=a,dedupratio=2\nwd=wd1,sd=sd1\n\
                rd=rd1,wd=wd1,iorate=(5,1),maxdataread=1m,distribution=variable,elapsed=2\n";
    let inputs = Inputs {
        sizes: vec![1 << 30],
        ..Inputs::default()
    };
    let prepared = prepare(&parsed(text, "").unwrap(), &inputs).unwrap();
    let subjects: Vec<&str> = prepared.notes.iter().map(|note| &*note.subject).collect();
    let expected = [
        "compratio=2",
        "dedupratio=2",
        "maxdataread=1m",
        "distribution=variable of rd=rd1",
    ];
    assert_eq!(subjects, expected);
    let approximated = blocklab_record::NoteLevel::Approximated;
    assert!(prepared.notes.iter().all(|note| note.level == approximated));
}

/// Ten streams were refused where storage has the usual eight threads, and hits moved the streams away
/// from the front. Vdbench raises the threads and ignores the hits.
#[test]
fn streams_have_as_many_threads_each_and_no_hits() {
    let text = "sd=sd1,lun=a\nwd=wd1,sd=sd1,xfersize=1m,seekpct=0,streams=10,rhpct=50\n\
                rd=rd1,wd=wd1,iorate=max\n";
    let inputs = Inputs {
        sizes: vec![1 << 30],
        ..Inputs::default()
    };
    let prepared = prepare(&parsed(text, "").unwrap(), &inputs).unwrap();
    let jobs = &prepared.plan.cases[0].workload.jobs;
    assert_eq!(jobs.len(), 10);
    assert!(jobs.iter().all(|job| job.depth == 1));
    assert_eq!(jobs[0].region.offset.0, 1 << 20);
    let hits = jobs.iter().filter_map(|job| job.pool.as_ref()?.hits);
    assert_eq!(hits.count(), 0);
    assert_eq!(subjects_of_notes(text), ["streams of wd=wd1"; 2]);
}

/// Each job had an even part of `maxdata=`. The workload of large blocks had done its part first, and
/// those of small blocks went on without it: the load was not the mix any more.
#[test]
fn maxdata_is_divided_as_the_load_is() {
    let text = |skews: [&str; 2], rate: &str| {
        format!(
            "sd=sd1,lun=a\nwd=wd1,sd=sd1,xfersize=4k{}\nwd=wd2,sd=sd1,xfersize=(8k,50,24k,50){}\n\
             rd=rd1,wd=wd*,{rate},maxdata=880m,elapsed=2\n",
            skews[0], skews[1]
        )
    };
    let skews = [",skew=60", ",skew=40"];
    let parts = |text: String| {
        let inputs = Inputs {
            sizes: vec![1 << 30],
            ..Inputs::default()
        };
        let prepared = prepare(&parsed(&text, "").unwrap(), &inputs).unwrap();
        let jobs = &prepared.plan.cases[0].workload.jobs;
        let bytes = jobs.iter().map(|job| job.stop.bytes.unwrap().0 >> 20);
        bytes.collect::<Vec<u64>>()
    };
    // 60 % of 4 KiB and 40 % of 16 KiB.
    assert_eq!(parts(text(skews, "iorate=max")), [240, 640]);
    assert_eq!(parts(text(skews, "iorate=100")), [240, 640]);
    assert_eq!(parts(text([""; 2], "iorate=max")), [176, 704]);
    // Nothing is known of the maximum beside a rate of a workload.
    let rates = [",iorate=10,priority=1", ",priority=2"];
    assert_eq!(parts(text(rates, "iorate=max")), [440, 440]);
}

/// A range of one name asked for that of every number there is where its number is the largest: the
/// program ended for want of memory.
#[test]
fn a_range_of_one_name_ends_at_the_largest_number() {
    let text =
        "sd=sd4294967295,lun=a\nwd=wd1,sd=(sd4294967295-sd4294967295)\nrd=rd1,wd=wd1,iorate=5\n";
    assert_eq!(subjects_of_notes(text), Vec::<String>::new());
}

/// What the notes of a parameter file are about.
fn subjects_of_notes(text: &str) -> Vec<String> {
    let inputs = Inputs {
        sizes: vec![1 << 30],
        ..Inputs::default()
    };
    let prepared = prepare(&parsed(text, "").unwrap(), &inputs).unwrap();
    let notes = prepared.notes.into_iter();
    notes.map(|note| note.subject).collect()
}

/// The first run of all with `iorate=50%` did one operation a second, without a word.
#[test]
fn a_share_of_no_run_is_noted() {
    let subjects = |rates: &str| {
        subjects_of_notes(&format!(
            "sd=sd1,lun=a\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate={rates}\n"
        ))
    };
    assert_eq!(subjects("50%"), ["iorate=n% of rd=rd1"]);
    assert!(subjects("(100,50%)").is_empty());
    assert!(subjects("curve").is_empty());
}

/// The story: `seekpct=.1`, which public files have for nearly sequential, was 0, and 99.9 was 100,
/// without a word.
#[test]
fn shares_that_are_rounded_are_noted() {
    let subjects = |wd: &str, rd: &str| {
        subjects_of_notes(&format!(
            "sd=sd1,lun=a\nwd=wd1,sd=sd1{wd}\nrd=rd1,wd=wd1,iorate=5{rd}\n"
        ))
    };
    assert_eq!(subjects(",seekpct=.1", ""), ["seekpct of wd=wd1"]);
    assert_eq!(subjects("", ",forseekpct=(99.9,50)"), ["seekpct of wd=wd1"]);
    assert_eq!(subjects("", ",forrdpct=33.3"), ["forrdpct of wd=wd1"]);
    assert!(subjects(",seekpct=50,rdpct=70.5", ",forrdpct=(0,100)").is_empty());
}

/// With `skew=100` on one of two workloads, the other one did nothing, without a word. It is not refused,
/// because Vdbench gives it a share of 0 and runs.
#[test]
fn a_workload_without_a_share_is_noted() {
    let subjects = |skew: &str| {
        subjects_of_notes(&format!(
            "sd=sd1,lun=a\nwd=wd1,sd=sd1,skew={skew}\nwd=wd2,sd=sd1\nrd=rd1,wd=*,iorate=5\n"
        ))
    };
    assert_eq!(subjects("100"), ["skew of wd=wd2"]);
    assert!(subjects("99").is_empty());
}

/// The story: with distribution=variable, a workload with a rate of its own got its share of the
/// run's rates, which is none, and did nothing.
#[test]
fn a_rate_of_its_own_takes_no_turns() {
    let text = "sd=sd1,lun=a\nwd=wd1,sd=sd1,iorate=100,priority=1\nwd=wd2,sd=sd1,priority=2\n\
                rd=rd1,wd=*,iorate=(200,2,500,3),distribution=variable\n";
    let inputs = Inputs {
        sizes: vec![1 << 30],
        ..Inputs::default()
    };
    let prepared = prepare(&parsed(text, "").unwrap(), &inputs).unwrap();
    let jobs = &prepared.plan.cases[0].workload.jobs;
    let bursts: Vec<_> = jobs
        .iter()
        .map(|job| job.pool.as_ref().expect("pooled").bursts.clone())
        .collect();
    assert_eq!(bursts, [vec![], vec![(200.0, 2.0), (500.0, 3.0)]]);
    let iops = |rate| blocklab_workload::Pace::OpenPoisson(blocklab_workload::Rate::Iops(rate));
    assert_eq!(jobs[0].pace, iops(100.0));
}

/// `+ elapsed=8` did not reach a run definition over several lines, as in the original, and nothing
/// said so.
#[test]
fn what_the_command_line_does_not_reach_is_noted() {
    let text = "sd=sd1,lun=a\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,\niorate=5\nrd=rd2,wd=wd1,iorate=5\n";
    let parameters = parsed(text, "+ elapsed=8").unwrap();
    let elapsed: Vec<_> = parameters
        .runs
        .iter()
        .map(|run| run.options.elapsed)
        .collect();
    assert_eq!(elapsed, [Some(30), Some(8)]);
    let [note] = &parameters.notes[..] else {
        panic!("{:?}", parameters.notes);
    };
    assert_eq!(note.subject, "+ elapsed=8");
    assert!(note.text.starts_with("p:3: "), "{}", note.text);
}

/// The story: `lun=/data/$host` was a file called `$host`. With several hosts the original makes a
/// definition for each.
#[test]
fn the_name_of_the_host_takes_its_place() {
    let text = |hosts: &str| {
        format!(
            "{hosts}sd=sd1,lun=/data/$host.dat\nsd=sd2,lun=(\"!host\")\nwd=wd1,sd=sd*\n\
             rd=rd1,wd=wd1,iorate=5\n"
        )
    };
    let luns = |hosts: &str| -> Vec<String> {
        let sds = parsed(&text(hosts), "").unwrap().sds;
        sds.into_iter().map(|sd| sd.lun).collect()
    };
    assert_eq!(luns(""), ["/data/localhost.dat", "localhost"]);
    assert_eq!(luns("hd=a-1,system=bench\n"), ["/data/a-1.dat", "a-1"]);
    let several = parsed(&text("hd=a\nhd=b\n"), "").unwrap_err().to_string();
    assert!(several.contains("with several hosts $host"), "{several}");
}

/// The story: of `validate=yes,validate=read_after_write` the last one alone counted, and of two
/// commands, or those of `rd=default` and of a run, the first ones were never run.
#[test]
fn what_is_given_again_is_added() {
    let text = "validate=yes,validate=read_after_write,validate=time\njournal=yes,journal=noflush\n\
                startcmd=(one,cons),start_cmd=two\nendcmd=three,endcmd=four\n\
                sd=sd1,lun=a\nwd=wd1,sd=sd1\n\
                rd=default,iorate=5,startcmd=replaced\nrd=default,startcmd=common\n\
                rd=rd1,wd=wd1,startcmd=own,endcmd=(last,sum),endcmd=more\nrd=rd2,wd=wd1\n";
    let parameters = parsed(text, "").unwrap();
    let general = &parameters.general;
    assert_eq!(general.validate, ["yes", "read_after_write", "time"]);
    assert_eq!(general.journal, ["yes", "noflush"]);
    assert_eq!(general.startcmd, ["one", "cons", "two"]);
    assert_eq!(general.endcmd, ["three", "four"]);
    let options: Vec<_> = parameters.runs.iter().map(|run| &run.options).collect();
    assert_eq!(options[0].startcmd, ["common", "own"]);
    assert_eq!(options[0].endcmd, ["last", "sum", "more"]);
    assert_eq!(options[1].startcmd, ["common"]);
    assert!(options[1].endcmd.is_empty());
}

/// The story: a file that was included had `validate=yes`, and a later `validate=no`, which turned it off,
/// was added to it: the run validated all the same.
#[test]
fn no_validation_replaces_what_was_requested_before() {
    let added = |lines: &str| {
        let text = format!("{lines}\nsd=sd1,lun=a\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=5\n");
        let general = parsed(&text, "").unwrap().general;
        (general.validate.join(" "), general.journal.join(" "))
    };
    let (validate, journal) = added("validate=yes\njournal=yes\nvalidate=no\njournal=no");
    assert_eq!((&*validate, &*journal), ("no", "no"));
    let (validate, journal) = added("validate=no\njournal=no\nvalidate=yes\njournal=noflush");
    assert_eq!((&*validate, &*journal), ("no yes", "no noflush"));
}

/// The story: `host=hd*`, as the original takes it, named a host that was not there.
#[test]
fn hosts_are_named_by_a_pattern() {
    let hosts = |words: &str| {
        let text = format!(
            "hd=a1,system=bench\nhd=a2\nhd=b\nsd=sd1,lun=x\nwd=wd1,sd=sd1,host={words}\n\
             rd=rd1,wd=wd1,iorate=5\n"
        );
        parsed(&text, "").map(|parameters| parameters.runs[0].uses[0].wd.hosts.clone())
    };
    assert_eq!(hosts("a*").unwrap(), ["a1", "a2"]);
    assert_eq!(hosts("(b,a*,a1)").unwrap(), ["b", "a1", "a2"]);
    let unknown = hosts("c*").unwrap_err().to_string();
    assert!(unknown.contains("there is no hd=c*"), "{unknown}");
}

/// Nothing is dropped in silence.
#[test]
fn what_has_no_effect_is_noted() {
    let text = "port=5000\nsd=sd1,lun=a\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=5\n";
    let parameters = parsed(text, "").unwrap();
    assert_eq!(parameters.notes.len(), 1);
    assert_eq!(parameters.notes[0].subject, "port=5000");
}

#[test]
fn a_thousand_devices_are_read() {
    let mut text: String = (1..=1000)
        .map(|n| format!("sd=sd{n},lun=/dev/disk/by-id/wwn-0x{n:016x},openflags=o_direct\n"))
        .collect();
    text.push_str("wd=wd1,sd=sd*,xfersize=4k,rdpct=70\n");
    text.push_str("rd=rd1,wd=wd1,iorate=curve,forthreads=(1-64,d),elapsed=10\n");
    let parameters = parsed(&text, "").unwrap();
    assert_eq!(parameters.runs.len(), 49);
    assert_eq!(parameters.runs[0].uses[0].sds.len(), 1000);
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
            let Ok(parameters) = parsed(&text, "") else { continue };
            for run in parameters.runs.iter().take(1000) {
                prop_assert!(run.simulated().starts_with("Simulating RD="));
            }
        }
    }

    #[test]
    fn no_command_line_is_fatal(line in "[-+fosewivjtlr=a-z0-9 ]{0,40}") {
        let _ = command(&words(&line));
    }
}

const CONCATENATION: &str = "concatenatesds=yes\nsd=sd1,lun=a,threads=3\nsd=sd2,lun=b,threads=3\n\
                             wd=wd1,sd=sd*,threads=4\nrd=rd1,wd=wd1,iorate=max\n\
                             rd=rd2,wd=wd1,iorate=100\n";

fn of_two_sizes(text: &str) -> Result<Prepared, Mistake> {
    let inputs = Inputs {
        sizes: vec![1 << 30, 3 << 30],
        ..Inputs::default()
    };
    prepare(&parsed(text, "").unwrap(), &inputs)
}

/// A parameter file with concatenatesds=yes was refused, so that nothing of it ran. A device made
/// of 1 and 3 GiB has one set of threads, and gets a quarter and three quarters of what is random.
#[test]
fn one_device_is_made_of_several() {
    let prepared = of_two_sizes(CONCATENATION).unwrap();
    let [max, rate] = &prepared.plan.cases[..] else {
        panic!("{:?}", prepared.plan.cases);
    };
    let pools = |case: &blocklab_workload::Case| -> Vec<_> {
        let jobs = case.workload.jobs.iter();
        let pools = jobs.map(|job| (job.targets[0].clone(), job.pool.clone().unwrap()));
        pools
            .map(|(lun, pool)| (lun, pool.pool, pool.depth, pool.share))
            .collect()
    };
    let share = |weight| Some(blocklab_workload::Share { group: 2, weight });
    let all = "concat/wd1".to_owned();
    assert_eq!(
        pools(max),
        [
            ("a".to_owned(), all.clone(), 4, share(0.25)),
            ("b".to_owned(), all.clone(), 4, share(0.75)),
        ]
    );
    assert_eq!(
        pools(rate),
        [
            ("a".to_owned(), all.clone(), 4, None),
            ("b".to_owned(), all, 4, None),
        ]
    );
    let paces: Vec<_> = rate.workload.jobs.iter().map(|job| job.pace).collect();
    let iops = |rate| blocklab_workload::Pace::OpenPoisson(blocklab_workload::Rate::Iops(rate));
    assert_eq!(paces, [iops(25.0), iops(75.0)]);
}

/// Where the end of one storage definition would be seen, a concatenation is refused and not run
/// as something else.
#[test]
fn a_concatenation_that_is_not_random_is_refused() {
    for (more, word) in [
        ("seekpct=seq", "seekpct="),
        ("seekpct=50", "seekpct="),
        ("seekpct=eof", "seekpct="),
        ("range=(10,20)", "range="),
        ("rhpct=50", "rhpct="),
        ("streams=2", "streams="),
        ("stride=(4k,8k)", "stride="),
    ] {
        let text = CONCATENATION.replace("threads=4", &format!("threads=4,{more}"));
        let error = of_two_sizes(&text).expect_err(more).to_string();
        assert!(error.contains(word), "{more}: {error}");
    }
    // One storage definition is no concatenation.
    let alone = CONCATENATION.replace("sd=sd*,threads=4", "sd=sd1,seekpct=seq");
    let prepared = of_two_sizes(&alone).unwrap();
    let pool = prepared.plan.cases[0].workload.jobs[0]
        .pool
        .clone()
        .unwrap();
    assert_eq!((&*pool.pool, pool.depth), ("sd1", 3));
}

/// With `hitarea=0` no operation was a hit, whatever `rhpct` asked for, without a word.
#[test]
fn hits_need_an_area() {
    let text = "sd=sd1,lun=a,hitarea=0\nwd=wd1,sd=sd1,rhpct=50\nrd=rd1,wd=wd1,iorate=5\n";
    let inputs = Inputs {
        sizes: vec![1 << 30],
        ..Inputs::default()
    };
    let wrong = prepare(&parsed(text, "").unwrap(), &inputs).unwrap_err();
    assert!(wrong.to_string().contains("hit area of 0 bytes"), "{wrong}");
}
