//! The printed results, to the letter. `BLESS=1` rewrites them; read the difference.

use blocklab_record::Served;
use blocklab_workload::{Engine, Job, Pace, Rate};

use super::*;

#[path = "../../record/tests/sample/mod.rs"]
mod sample;
use sample::{measurement, record_of};

fn bucket(second: u64, ios: u64) -> Bucket {
    let served = Served {
        ios,
        sum_ns: ios as f64 * 250_000.0,
        sum_squares: ios as f64 * 250_000_f64.powi(2),
        min_ns: 250_000,
        max_ns: 250_000,
        ..Served::default()
    };
    Bucket {
        end_ns: second * 1_000_000_000,
        length_ns: 1_000_000_000,
        jobs: vec![[served; 2]],
    }
}

fn processor(id: u32, user: f64) -> Processor {
    let usage = Usage {
        user,
        kernel: 10.0,
        idle: 90.0 - user,
    };
    Processor {
        id,
        usage,
        ..Processor::default()
    }
}

/// The load of a sound command line.
#[track_caller]
fn profile(line: &str) -> Profile {
    let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
    match parse(&arguments).expect(line).requested {
        Requested::Load(profile) => profile,
        other => panic!("{line}: {other:?}"),
    }
}

/// One thread, 1,000 reads and 1,000 writes in a second; two threads of one core.
fn printed(line: &str, layout: Layout) -> (String, String) {
    let profile = profile(line);
    let prepared = prepare(&profile, &Inputs::default()).expect(line);
    let measurement = measurement(&prepared.plan.cases[0], 1, 2000, 250_000.0);
    let system = System {
        computer: "bench".to_owned(),
        command_line: format!("diskspd {line}"),
        processors: vec![vec![processor(0, 30.0), processor(1, 5.0)]],
        buckets: vec![vec![bucket(1, 900), bucket(2, 1100)]],
    };
    let record = record_of(vec![measurement]);
    (
        text(&record, &profile, &prepared, &system, layout),
        xml(&record, &profile, &prepared, &system),
    )
}

#[track_caller]
fn check(file: &str, printed: &str) {
    let path = format!("{}/src/golden/{file}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, printed).expect("the file can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == printed, "{file} is stale:\n{printed}");
}

const LINE: &str = "-b4K -d30 -r -w50 -L -D -Sh -Z1M -c1G dummy.dat";

#[test]
fn the_text_of_2_2() {
    check("text-2.2.txt", &printed(LINE, Layout::V2_2).0);
}

#[test]
fn the_text_of_2_0_21a() {
    check("text-2.0.21a.txt", &printed(LINE, Layout::V2_0_21a).0);
}

#[test]
fn the_text_without_latency() {
    check(
        "text-plain.txt",
        &printed("-d30 -w50 dummy.dat", Layout::V2_2).0,
    );
}

/// The story: scripts count the lines from the end, in the layout of 2.0.21a with two threads `[-9]`
/// for the 99th percentile, `[-22]` for the sum of the writes and `[-30]` for that of the reads. An
/// empty line behind the last one shifted all of them.
#[test]
fn lines_are_counted_from_the_end() {
    let (text, _) = printed("-d30 -w50 -L -t2 dummy.dat", Layout::V2_0_21a);
    let lines: Vec<&str> = text.lines().rev().collect();
    for (from_end, word) in [(1, "max |"), (9, "99th |"), (22, "total:"), (30, "total:")] {
        let line = lines[from_end - 1];
        assert!(line.contains(word), "{from_end}: {line}");
    }
}

/// Two time spans, the first on two targets, of which one has hot ranges.
const TWO_SPANS: &str = "<Profile><Verbose>true</Verbose><TimeSpans>\
    <TimeSpan><MeasureLatency>true</MeasureLatency><Targets>\
    <Target><Path>a.dat</Path><BlockSize>4096</BlockSize><FileSize>1073741824</FileSize>\
    <Random>4096</Random><ThreadsPerFile>4</ThreadsPerFile>\
    <Distribution><Percent><Range IO=\"90\">10</Range><Range IO=\"0\">10</Range>\
    <Range IO=\"5\">20</Range></Percent></Distribution></Target>\
    <Target><Path>*1</Path><MaxFileSize>2048000</MaxFileSize></Target></Targets></TimeSpan>\
    <TimeSpan><RandomWriteData>true</RandomWriteData><ThreadCount>2</ThreadCount>\
    <RequestCount>8</RequestCount><Targets><Target><Path>a.dat</Path>\
    <WriteRatio>100</WriteRatio></Target></Targets></TimeSpan></TimeSpans></Profile>";

#[test]
fn the_text_of_several_time_spans() {
    let overrides = Overrides {
        targets: vec!["b.dat".to_owned()],
        ..Overrides::default()
    };
    let profile = read_xml(TWO_SPANS, &overrides).expect("a sound profile");
    let prepared = prepare(&profile, &Inputs::default()).expect("a plan");
    let cases = prepared.plan.cases.iter();
    let measurements = cases.map(|case| measurement(case, 1, 2000, 250_000.0));
    let record = record_of(measurements.collect());
    let system = System {
        computer: "bench".to_owned(),
        command_line: "diskspd -Xtwo.xml b.dat".to_owned(),
        ..System::default()
    };
    for (file, layout) in [
        ("text-spans-2.2.txt", Layout::V2_2),
        ("text-spans-2.0.21a.txt", Layout::V2_0_21a),
    ] {
        check(file, &text(&record, &profile, &prepared, &system, layout));
    }
    let notes: Vec<&str> = prepared.notes.iter().map(|note| &*note.subject).collect();
    assert!(notes.contains(&"Verbose"), "{notes:?}");
}

/// Scripts take the command line and the processors out of the text, `-Rptext` included.
#[test]
fn the_head_tells_the_command_line_and_the_processors_by_group() {
    let text = profile_text(&profile("-a0,1 x.dat"), "diskspd -a0,1 x.dat", Layout::V2_2);
    let head = "\nCommand Line: diskspd -a0,1 x.dat\n\nInput parameters:\n\n";
    assert!(text.starts_with(head), "{text}");
    let affinity = "\tadvanced affinity round robin (group/core): 0/0, 0/1\n";
    assert!(text.contains(affinity), "{text}");
}

/// The jobs that are planned for a command line.
#[track_caller]
fn jobs(line: &str) -> Vec<Job> {
    let prepared = prepare(&profile(line), &Inputs::default()).expect(line);
    prepared.plan.cases[0].workload.jobs.clone()
}

/// The story: under `-p` each operation in flight is a job, and each had the rate and the bursts of
/// all: `-p -o4 -g100i` made 400 operations a second. With `-Sm` none of them mapped the memory.
#[test]
fn parallel_operations_share_the_rate_and_the_bursts() {
    for (line, expected) in [
        (
            "-p -o4 -g100i x.dat",
            vec![Pace::Capped(Rate::Iops(25.0)); 4],
        ),
        (
            "-p -o4 -g400 x.dat",
            vec![Pace::Capped(Rate::Bytes(1e5)); 4],
        ),
        ("-p -o4 x.dat", vec![Pace::Closed; 4]),
    ] {
        let paces: Vec<Pace> = jobs(line).iter().map(|job| job.pace).collect();
        assert_eq!(paces, expected, "{line}");
    }
    let bursts = |line: &str| -> Vec<u32> {
        let thinks = jobs(line).into_iter().filter_map(|job| job.think);
        thinks.map(|think| think.every).collect()
    };
    assert_eq!(bursts("-p -o4 -i10 -j5 x.dat"), [3, 3, 2, 2]);
    assert_eq!(bursts("-p -o4 -i2 -j5 x.dat"), [1, 1]);
    for (line, engine) in [
        ("-p -o4 x.dat", Engine::Psync),
        ("-p -o4 -Sm x.dat", Engine::Mmap),
    ] {
        let jobs = jobs(line);
        assert!(jobs.iter().all(|job| job.engine == engine), "{line}");
        assert!(jobs.iter().all(|job| job.depth == 1), "{line}");
    }
}

#[test]
fn the_xml_of_2_2() {
    check("result.xml", &printed(LINE, Layout::V2_2).1);
}

/// The story: an option had limits that its element had not. 400 million threads were planned until
/// the memory was full; a rate in MB/s was one in bytes a millisecond; intervals of 0 ms were none.
#[test]
fn elements_have_the_limits_of_their_options() {
    for (element, wrong) in [
        (
            "<ThreadCount>4097</ThreadCount>",
            "4097 is not from 0 to 4096",
        ),
        (
            "<ThreadCount>1</ThreadCount><RequestCount>32769</RequestCount>",
            "32769 is not from 0 to 32768",
        ),
        (
            "<CalculateIopsStdDev>true</CalculateIopsStdDev><IoBucketDuration>0</IoBucketDuration>",
            "IoBucketDuration: it must be above 0",
        ),
        (
            "<Targets><Target><Path>x</Path><Throughput unit=\"MBps\">1</Throughput></Target></Targets>",
            "`MBps` is neither IOPS nor BPMS",
        ),
    ] {
        let target = "<Targets><Target><Path>x</Path></Target></Targets>";
        let text = format!(
            "<Profile><TimeSpans><TimeSpan>{element}{target}</TimeSpan></TimeSpans></Profile>"
        );
        let error = read_xml(&text, &Overrides::default()).expect_err(element);
        assert!(error.to_string().contains(wrong), "{error}");
    }
}

#[test]
fn a_time_span_that_was_not_reached_is_reported() {
    let profile = profile("x.dat");
    let prepared = prepare(&profile, &Inputs::default()).expect("a plan");
    let record = record_of(Vec::new());
    let text = text(
        &record,
        &profile,
        &prepared,
        &System::default(),
        Layout::V2_2,
    );
    assert!(text.contains("No results are displayed"), "{text}");
}

/// The story: the first time span of a profile made a file and the second one used it without a size of
/// its own. The run was refused: the file "does not exist".
#[test]
fn a_later_time_span_uses_the_file_of_an_earlier_one() {
    let target = |size: &str| {
        format!(
            "<TimeSpan><Targets><Target><Path>a.dat</Path><BlockSize>4096</BlockSize>{size}\
             </Target></Targets></TimeSpan>"
        )
    };
    let (sized, unsized_one) = (target("<FileSize>8192</FileSize>"), target(""));
    // Ranges in bytes need a size: that of the earlier time span.
    let ranges = "<Random>4096</Random><Distribution><Absolute>\
        <Range IO=\"90\">4096</Range></Absolute></Distribution>";
    for (spans, existing) in [
        ([&sized, &unsized_one], 0),
        ([&sized, &target(ranges)], 0),
        ([&unsized_one, &sized], 1),
        ([&unsized_one, &unsized_one], 2),
    ] {
        let text = spans.map(String::as_str).concat();
        let text = format!("<Profile><TimeSpans>{text}</TimeSpans></Profile>");
        let profile = read_xml(&text, &Overrides::default()).expect(&text);
        let prepared = prepare(&profile, &Inputs::default()).expect(&text);
        assert_eq!(prepared.existing.len(), existing, "{text}");
    }
}

/// With `-z` the seed is that of the clock, and the result stated 0, which repeats another run.
#[test]
fn a_seed_of_the_clock_is_stated() {
    let profile = profile("-z -r x").with_clock_seed(4711);
    let text = profile_text(&profile, "", Layout::default());
    assert!(text.contains("random seed: 4711\n"), "{text}");
    assert!(profile_xml(&profile).contains("<RandSeed>4711<"));
    let plan = prepare(&profile, &Inputs::default()).expect("a plan").plan;
    assert_eq!(plan.cases[0].workload.seed, 4711);
}
