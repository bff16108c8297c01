//! `blocklab trace`: a real trace from the file to answers.

use std::fs;

use blocklab_proof::{Lab, good, json, root};

/// An hour of a shared server, with its notice; the figures are those that an independent count gives.
fn recorded() -> String {
    let path = root().join("proof/corpus/traces/windows-shared-server.load.gz");
    path.display().to_string()
}

#[test]
fn a_recorded_hour_is_what_it_was() {
    let lab = Lab::new();
    let shown = good(lab.blocklab(["trace", "show", &recorded()]));
    // A long path of the file breaks the first line elsewhere.
    assert!(shown.split_whitespace().any(|word| word == "3,597.1"));
    for words in [
        "mean         0.4 IOPS",
        "working set  1.0 MiB touched",
        "rewritten    81 %",
        "sequential   58 %",
        "unaligned    10 %",
        "write  1,371  100 %  5.1 MiB        4    4    8",
        "0.1 s     40 ",
        "1 s        5 ",
        "not known: the trace has no completions",
    ] {
        assert!(shown.contains(words), "{words}:\n{shown}");
    }
}

#[test]
fn an_imported_trace_is_small_and_the_same() {
    let lab = Lab::new();
    let source = recorded();
    let words = ["trace", "import", &source, "-o", "hour.trace", "--json"];
    let imported = json(&good(lab.blocklab(words)));
    let count = imported["operations"].as_u64().expect("a count");
    assert!(
        imported["bytes"].as_u64().expect("bytes") <= 8 * count,
        "{imported}"
    );
    let figures = |file: &str| {
        let mut shown = json(&good(lab.blocklab(["trace", "show", file, "--json"])));
        shown["name"] = "".into();
        shown
    };
    assert_eq!(figures(&source), figures("hour.trace"));
    for form in ["markdown", "html"] {
        let page = good(lab.blocklab(["trace", "show", "hour.trace", "--format", form]));
        assert!(page.contains("1,371 operations"), "{page}");
    }
    // A part of it, counted from its beginning.
    let words = "trace show hour.trace --from 10min --until 20min --json".split(' ');
    let part = json(&good(lab.blocklab(words)));
    assert!(
        part["duration_ns"].as_u64() < Some(600_000_000_000),
        "{part}"
    );
    assert!(part["operations"].as_u64() < Some(400), "{part}");
}

/// The story: `trace import a.trace -o a.trace` wrote over the trace that it read, and ended with 0 and half
/// of the operations.
#[test]
fn a_trace_is_not_imported_into_itself() {
    let lab = Lab::new();
    good(lab.blocklab(["trace", "import", &recorded(), "-o", "hour.trace"]));
    let path = lab.path().join("hour.trace");
    let before = fs::read(&path).expect("the trace");
    let words = ["trace", "import", "hour.trace", "-o", "./hour.trace"];
    lab.refused(words, &["hour.trace would be overwritten while it is read"]);
    assert!(fs::read(&path).expect("the trace") == before);
}

/// Cut off in the middle, it gives what it holds, and says so.
#[test]
fn a_recording_that_was_cut_off_is_read() {
    let lab = Lab::new();
    good(lab.blocklab(["trace", "import", &recorded(), "-o", "hour.trace"]));
    let path = lab.path().join("hour.trace");
    let bytes = fs::read(&path).expect("the trace");
    fs::write(&path, &bytes[..bytes.len() - 5]).expect("cut");
    let shown = good(lab.blocklab(["trace", "show", "hour.trace"]));
    assert!(shown.contains("the recording was cut off"), "{shown}");
}

#[test]
fn volumes_are_told_apart_by_what_they_would_have_done() {
    let lab = Lab::new();
    let trace = recorded();
    let words = [
        "trace",
        "fit",
        &trace,
        "--on",
        "gp3:10GiB",
        "--on",
        "gp3:1GiB",
        "--on",
        "io2:4GiB,iops=100",
        "--max-wait",
        "5ms",
        "--json",
    ];
    let fit = json(&good(lab.blocklab(words)));
    let answers = fit["answers"].as_array().expect("answers");
    let verdicts: Vec<_> = answers
        .iter()
        .map(|answer| answer["verdict"].as_str())
        .collect();
    assert_eq!(
        verdicts,
        [Some("fits"), Some("too_small"), Some("fits")],
        "{fit}"
    );
    assert_eq!(answers[1]["smallest"]["address"], "gp3:4GiB", "{fit}");
    let shown = good(lab.blocklab(["trace", "fit", &trace, "--on", "st1:125GiB", "--no-search"]));
    assert!(shown.contains("st1:125GiB"), "{shown}");
    // The story: sentences about what is assumed were lines of 130 columns below wrapped ones.
    let assumed = shown.lines().filter(|line| line.starts_with("  - "));
    let widest = assumed.map(|line| line.chars().count()).max();
    assert!(widest.is_some_and(|widest| widest <= 80), "{shown}");
}

/// The story: a device on which every operation stalls for ever carried a load, at a p99 of 584 years.
#[test]
fn a_device_is_judged_without_its_faults() {
    let lab = Lab::new();
    lab.write(
        "stalled.toml",
        "[[volume]]\ncapacity = \"1TiB\"\n[[volume.cap]]\nname = \"operations\"\nrate = \"3000 IOPS\"\n\
         [volume.service]\nread = { base = \"600us\" }\nwrite = { base = \"600us\" }\n\
         [[fault]]\nfrom = \"0s\"\nuntil = \"never\"\nstate = \"stall\"\n",
    );
    let fit = ["trace", "fit", &recorded(), "--on", "./stalled.toml"];
    let shown = good(lab.blocklab(fit));
    assert!(shown.contains("its faults are left out"), "{shown}");
    assert!(!shown.contains("18446744074"), "{shown}");
}

#[test]
fn mistakes_are_reported_with_what_would_work() {
    let lab = Lab::new();
    let two = "1,R,0,512,1577900000000000\n2,W,0,512,1577900000000010\n";
    lab.write("two.csv", two);
    lab.write("bad.csv", format!("{two}2,W,x,512,1577900000000020\n"));
    lab.write("words.txt", "one two\n");
    for (words, answer) in [
        (
            &["trace", "show", "bad.csv"][..],
            "bad.csv: line 3: the offset `x` is not a whole number",
        ),
        (&["trace", "show", "words.txt"], "--columns time=1:us"),
        (&["trace", "show", "/dev/zero"], "it is a device"),
        (
            &["trace", "show", "two.csv", "--device", "7"],
            "the trace has 1, 2",
        ),
        (
            &["trace", "show", "two.csv", "--input", "alibba"],
            "there are blocklab, iolog",
        ),
        (
            &["trace", "show", "two.csv", "--from", "2s", "--until", "1s"],
            "is not before",
        ),
        (
            &["trace", "fit", "two.csv", "--on", "gp3:1GiB"],
            "name one with --device",
        ),
        (
            &[
                "trace", "fit", "two.csv", "--on", "gp9:1GiB", "--device", "1",
            ],
            "gp9",
        ),
        (&["trace", "import", "bad.csv", "-o", "out.trace"], "line 3"),
        (
            &["trace", "record", "two.csv", "-o", "out.trace"],
            "two.csv is no block device",
        ),
    ] {
        lab.refused(words.iter().copied(), &[answer]);
    }
    assert!(
        !lab.path().join("out.trace").exists(),
        "half a trace is no trace"
    );
}

/// The story: a replay of recorded arrivals was called closed, its response latency was left out with
/// one operation in flight, and a finding named that operation as the limit.
#[test]
fn a_replay_is_open_and_counts_from_the_recorded_moments() {
    let lab = Lab::new();
    let trace = recorded();
    let run = |words: &[&str]| {
        let all = ["run", "--trace", &trace, "--quiet"].into_iter();
        good(lab.blocklab(all.chain(words.iter().copied())))
    };
    run(&["--target", "sim:gp3:10GiB", "--name", "open"]);
    let record = json(&good(lab.blocklab(["export", "open", "--format", "json"])));
    let job = &record["measurements"][0]["jobs"][0];
    assert_eq!(job["pace"], "recorded", "{job}");
    let write = &job["directions"]["write"];
    assert_eq!(write["ios"], 1371, "{write}");
    assert!(write["response"]["mean_ns"].is_number(), "{write}");
    let fidelity = &job["fidelity"];
    assert_eq!(fidelity["due"], 1371, "{fidelity}");
    assert_eq!(fidelity["issued"], 1371, "{fidelity}");
    let timing = &fidelity["timing"];
    for exact in ["drift_ns", "rate_error_max_iops", "waited_for_room"] {
        assert_eq!(timing[exact].as_f64(), Some(0.0), "{exact}: {fidelity}");
    }
    assert_eq!(timing["late"]["max_ns"], 0, "{fidelity}");
    // One in flight on a volume that the bursts overrun.
    let late = run(&[
        "--target",
        "sim:sc1:125GiB",
        "--max-in-flight",
        "1",
        "--format",
        "json",
    ]);
    assert!(late.contains("replay-late"), "{late}");
    assert!(!late.contains("one operation in flight"), "{late}");
    lab.refused(
        ["run", "--trace", &trace, "--target", "sim:gp3:1GiB"],
        &["the trace reaches 3"],
    );
    for way in ["--wrap", "--scale", "--compact"] {
        let moved = run(&["--target", "sim:gp3:1GiB", way]);
        assert!(moved.contains("were moved into the target"), "{moved}");
    }
    for option in ["--from", "--every"] {
        let unused = lab.blocklab(["run", "--target", "null", option, "1s"]);
        assert!(unused.err.contains("are about a --trace"), "{unused:?}");
        assert!(unused.err.contains(option), "{unused:?}");
        // `run --device /dev/sdb` was told nothing else.
        assert!(unused.err.contains("; --target names what"), "{unused:?}");
    }
    // It had no effect here, and nothing said so.
    lab.refused(
        ["trace", "show", &trace, "--every", "1s"],
        &["--every is about a table of rates"],
    );
}

/// Two reads, each issued when the one before was done: on a slower volume the second comes later.
#[test]
fn a_program_that_waits_is_stretched_by_a_slower_volume() {
    let lab = Lab::new();
    let table = "at,op,offset,bytes,took\n0,R,0,4096,100\n110,R,8192,4096,100\n220,R,0,4096,100\n";
    lab.write("waits.csv", table);
    let columns = "time=at:us,op=op,offset=offset,length=bytes,latency=took:us";
    let run = |pace: &str, name: &str| {
        let words = [
            "run",
            "--trace",
            "waits.csv",
            "--columns",
            columns,
            "--as",
            pace,
        ];
        let target = [
            "--target",
            "sim:gp3:1GiB",
            "--quiet",
            "--name",
            name,
            "--copies",
            "2",
        ];
        good(lab.blocklab(words.into_iter().chain(target)));
        let record = json(&good(lab.blocklab(["export", name, "--format", "json"])));
        let job = &record["measurements"][0]["jobs"][0];
        assert_eq!(job["fidelity"]["due"], 6, "{job}");
        let span = job["fidelity"]["timing"]["span_ns"].as_u64();
        span.expect("a span") - 37_000_000_000
    };
    assert_eq!(run("open", "open"), 220_000);
    assert!(run("dependent", "waits") > 500_000);
    let words = "run --target sim:gp3:10GiB --as dependent --trace".split(' ');
    let trace = recorded();
    lab.refused(
        words.chain([trace.as_str()]),
        &["the trace has no completions"],
    );
}

/// A burst after rest was taken for a need of its own rate, as if limits saved nothing up: the volume that
/// `trace fit` found carrying the load was called too small, and one of several times its price advised.
#[test]
fn the_cheapest_of_a_trace_is_one_that_fits_it() {
    let lab = Lab::new();
    let burst = (0..2500_u64).map(|index| (60_000_000 + index, index));
    let steady = (0..1000_u64).map(|index| (index * 60_000, index));
    let lines = steady.chain(burst).map(|(at_us, index)| {
        // Scattered, so that no volume merges them.
        let offset = index * 7919 % 2500 * 65_536;
        format!("{at_us},W,{offset},4096\n")
    });
    let table: String = ["at,op,offset,bytes\n".to_owned()]
        .into_iter()
        .chain(lines)
        .collect();
    fs::write(lab.path().join("burst.csv"), table).expect("written");
    let read = [
        "burst.csv",
        "--columns",
        "time=at:us,op=op,offset=offset,length=bytes",
        "--json",
    ];
    let fit = ["trace", "fit"].into_iter().chain(read);
    let fit = fit.chain(["--on", "gp3:1GiB"]);
    let fit = json(&good(lab.blocklab(fit)));
    assert_eq!(fit["answers"][0]["verdict"], "fits", "{fit}");
    let advise = ["advise", "--trace"].into_iter().chain(read);
    let advice = json(&good(lab.blocklab(advise)));
    assert_eq!(
        advice["chosen"][0]["per_month"], fit["answers"][0]["usd_per_month"],
        "{advice}"
    );
    // The rates are found to half a per cent each, and the size is that of every operation.
    assert_eq!(advice["need"]["block_bytes"], 4096, "{advice}");
}

/// The smallest provision was 182 MiB/s, as rates were searched to 0.3 %; 181 carried the load as well.
#[test]
fn a_smaller_provision_does_not_carry_the_load() {
    let lab = Lab::new();
    for mib in [200, 300, 350] {
        let lines = (0..mib).map(|index| format!("0,W,{},1048576\n", index << 20));
        let table: String = ["at,op,offset,bytes\n".to_owned()]
            .into_iter()
            .chain(lines)
            .collect();
        fs::write(lab.path().join("copy.csv"), table).expect("written");
        let answer = |address: &str| {
            let fit = json(&good(lab.blocklab([
                "trace",
                "fit",
                "copy.csv",
                "--columns",
                "time=at:us,op=op,offset=offset,length=bytes",
                "--on",
                address,
                "--json",
            ])));
            fit["answers"][0].clone()
        };
        let smallest = answer("gp3:20GiB")["smallest"]["address"].clone();
        let smallest = smallest.as_str().expect("an address");
        let (kind, rate) = smallest.split_once(",throughput=").expect("a throughput");
        let rate: u64 = rate.parse().expect("a number");
        let smaller = answer(&format!("{kind},throughput={}", rate - 1));
        assert_eq!(smaller["verdict"], "does_not_fit", "{smallest}");
    }
}

/// Sums of a period, as EBS reports them: ten minutes at 1,000 IOPS take 8 % of a gp2 volume's
/// credits, and its balance says the same.
#[test]
fn rates_of_cloudwatch_are_answered_by_two_figures() {
    let lab = Lab::new();
    let metric = |label: &str, statistic: &str, value: fn(u32) -> f64| {
        let point = |minute: u32| {
            let moment = format!("2026-11-27T{:02}:{:02}:00Z", 2 + minute / 60, minute % 60);
            serde_json::json!({"Timestamp": moment, statistic: value(minute)})
        };
        let points: Vec<_> = (0..20).map(point).collect();
        let answer = serde_json::json!({"Label": label, "Datapoints": points});
        let file = format!("{label}.json");
        lab.write(&file, answer.to_string());
        file
    };
    let writes = metric("VolumeWriteOps", "Sum", |minute| {
        if (5..15).contains(&minute) {
            60_000.0
        } else {
            600.0
        }
    });
    let balance = metric("BurstBalance", "Average", |minute| {
        100.0 - f64::from(minute.clamp(4, 14) - 4) * 0.78
    });
    let shown = json(&good(
        lab.blocklab(["trace", "show", &writes, &balance, "--json"]),
    ));
    assert_eq!(shown["intervals"][5]["iops"], 1000.0, "{shown}");
    let files = ["trace", "fit", &writes, &balance, "--json"].into_iter();
    let volumes = ["gp2:100GiB", "io2:100GiB,iops=1500", "sc1:125GiB"];
    let volumes = volumes.into_iter().flat_map(|volume| ["--on", volume]);
    let fit = json(&good(lab.blocklab(files.chain(volumes))));
    let answers = fit["answers"].as_array().expect("answers");
    let verdicts: Vec<_> = answers
        .iter()
        .map(|answer| answer["verdict"].as_str())
        .collect();
    let expected = [Some("fits"), Some("fits_if_even"), Some("does_not_fit")];
    assert_eq!(verdicts, expected, "{fit}");
    let balance = &answers[0]["balance"];
    let lowest = balance["model_min_percent"].as_f64().expect("credits");
    assert!((91.0..93.0).contains(&lowest), "{balance}");
    lab.refused(["trace", "show", &writes, "Cargo.toml"], &[]);
}

/// The figures of a model, by name: of the trace and of the model.
fn figure(modelled: &serde_json::Value, name: &str) -> (f64, f64) {
    let mut figures = modelled["figures"].as_array().expect("figures").iter();
    let found = figures.find(|figure| figure["figure"] == name);
    let found = found.unwrap_or_else(|| panic!("{name}: {modelled}"));
    let side = |side: &str| found[side].as_f64().expect("a figure");
    (side("trace"), side("model"))
}

/// A study stands for the trace as far as it says it does, and runs.
#[test]
fn a_model_is_a_study_that_says_how_far_it_is_from_the_trace() {
    let lab = Lab::new();
    let trace = recorded();
    let modelled = json(&good(lab.blocklab(["trace", "model", &trace, "--json"])));
    let near = |name: &str, tolerance: f64| {
        let (trace, model) = figure(&modelled, name);
        let bound = tolerance * trace.max(1.0);
        assert!(
            (trace - model).abs() <= bound,
            "{name}: {trace} and {model}"
        );
    };
    assert_eq!(figure(&modelled, "operations").0, 1371.0);
    near("operations", 0.1);
    near("mean IOPS", 0.1);
    near("writes, %", 0.0);
    near("size p50, KiB", 0.0);
    // Among so few pages, many operations begin where another one ended by chance.
    near("sequential, %", 0.35);
    near("working set, MiB", 0.5);
    near("rewritten, %", 0.25);
    let text = good(lab.blocklab(["trace", "model", &trace]));
    assert_eq!(modelled["study"], text.as_str());
    assert!(text.contains("# What a study cannot say:"), "{text}");
    lab.write("model.toml", &text);
    let words = "run model.toml --quiet --name model --target".split(' ');
    good(lab.blocklab(words.chain(["sim:gp3:10GiB"])));
    let record = json(&good(lab.blocklab(["export", "model", "--format", "json"])));
    let jobs = record["measurements"][0]["jobs"].as_array().expect("jobs");
    let issued: u64 = jobs
        .iter()
        .filter_map(|job| job["directions"]["write"]["ios"].as_u64())
        .sum();
    assert_eq!(issued as f64, figure(&modelled, "operations").1, "{text}");
}

/// Bursts every ten seconds, a busy minute, reads and writes, hot pages: what a study can say.
#[test]
fn a_model_has_phases_bursts_and_hot_places() {
    let lab = Lab::new();
    let mut table = String::from("at,op,offset,bytes\n");
    let mut place: u64 = 1;
    for second in 0..600_u64 {
        let count = match second {
            300..360 => 400,
            _ if second % 10 == 0 => 120,
            _ => 4,
        };
        for index in 0..count {
            place = place
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let drawn = place >> 33;
            let page = if !drawn.is_multiple_of(4) {
                drawn % 100
            } else {
                drawn % 100_000
            };
            let op = if drawn % 10 < 7 { "W" } else { "R" };
            let at = second * 1_000_000 + index * 1000;
            table.push_str(&format!("{at},{op},{},4096\n", page * 4096));
        }
    }
    lab.write("made.csv", table);
    let columns = "time=at:us,op=op,offset=offset,length=bytes";
    let words = ["trace", "model", "made.csv", "--columns", columns, "--json"];
    let modelled = json(&good(lab.blocklab(words)));
    let text = modelled["study"].as_str().expect("a text");
    assert!(text.contains("think_every = 1"), "{text}");
    assert!(text.contains("start_delay = \"300000ms\""), "{text}");
    for (name, tolerance) in [
        ("operations", 0.05),
        ("reads, %", 0.1),
        ("busiest 60 s, IOPS", 0.1),
        ("dispersion at 60 s", 0.3),
        ("working set, MiB", 0.3),
        ("rewritten, %", 0.1),
    ] {
        let (trace, model) = figure(&modelled, name);
        let ratio = model / trace;
        assert!(
            (ratio - 1.0).abs() <= tolerance,
            "{name}: {trace}, {model}\n{text}"
        );
    }
}

#[test]
fn a_model_refuses_what_it_cannot_read_twice() {
    let lab = Lab::new();
    lab.write("empty.csv", "");
    lab.refused(["trace", "model", "-"], &["only once"]);
    lab.refused(["trace", "model", "empty.csv", "--input", "msr"], &[]);
    let far = "0,W,0,4096\n100000000000000,W,0,4096\n";
    lab.write("far.csv", far);
    let columns = "time=1:us,op=2,offset=3,length=4";
    lab.refused(
        ["trace", "model", "far.csv", "--columns", columns],
        &["--from and --until"],
    );
}

/// The page carries its pictures, and JSON what they are drawn from.
#[test]
fn a_page_has_pictures_and_volumes_beside_the_load() {
    let lab = Lab::new();
    let trace = recorded();
    let show = |form: &str| {
        let words = ["trace", "show", &trace, "--on", "gp3:10GiB", "--on"];
        good(lab.blocklab(words.into_iter().chain(["st1:125GiB", "--format", form])))
    };
    let shown = json(&show("json"));
    let map = &shown["map"];
    let sum = |of: &str| -> u64 {
        let slots = map[of].as_array().expect("slots").iter();
        let cells = slots.flat_map(|slot| slot.as_array().expect("cells"));
        cells.filter_map(serde_json::Value::as_u64).sum()
    };
    assert_eq!((sum("sizes"), sum("places")), (1371, 1371), "{map}");
    let arrivals = &shown["arrivals"];
    let windows = arrivals["windows"].as_array().expect("windows");
    assert_eq!(windows[0]["window_ns"], 10_000_000, "{arrivals}");
    // A bucket of a second, and 3,000 operations a second.
    let passed = arrivals["volumes"][0]["operations"][0].as_f64();
    assert!(passed > Some(30.0), "{arrivals}");
    assert!(arrivals["volumes"][1]["bytes"][0].as_f64() > Some(0.0));
    let page = show("html");
    for words in [
        "Rate over time",
        "Sizes over time",
        "Places over time",
        "Arrivals against volumes",
        "1,371 operations",
        "gp3:10GiB",
    ] {
        assert!(page.contains(words), "{words}");
    }
    // The name of SVG is the only address in it.
    let loads = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!loads.contains("http://") && !loads.contains("https://"));
    let text = show("text");
    assert!(
        text.contains("Arrivals") && text.contains("st1:125GiB"),
        "{text}"
    );
    lab.refused(["trace", "show", &trace, "--on", "gp9:1GiB"], &[]);
}

/// A case of a study replays what `run --trace` replays, with the same figures.
#[test]
fn a_study_replays_a_trace_as_the_command_line_does() {
    let lab = Lab::new();
    fs::copy(recorded(), lab.path().join("hour.load.gz")).expect("a copy");
    let study = "[defaults]\npattern = \"random\"\ndepth = 8\n\n[[case]]\nname = \"hour\"\n\
                 trace = { file = \"hour.load.gz\", speed = 200, until = \"30min\" }\n\n\
                 [[case]]\nname = \"plain\"\nruntime = \"1s\"\n";
    lab.write("night.toml", study);
    let volume = ["--quiet", "--target", "sim:gp3:10GiB", "--name"];
    let run = |words: &[&str], name: &str| {
        let words = ["run"].into_iter().chain(words.iter().copied());
        good(lab.blocklab(words.chain(volume).chain([name])));
        json(&good(lab.blocklab(["export", name, "--format", "json"])))
    };
    let ours = run(&["night.toml"], "ours");
    let line = [
        "--trace",
        "hour.load.gz",
        "--speed",
        "200",
        "--until",
        "30min",
    ];
    let theirs = run(&line, "theirs");
    let job = |record: &serde_json::Value| record["measurements"][0]["jobs"][0].clone();
    let (ours, theirs) = (job(&ours), job(&theirs));
    assert_eq!(ours["name"], "hour");
    assert_eq!(ours["pace"], "recorded");
    assert_eq!(ours["fidelity"], theirs["fidelity"]);
    assert_eq!(
        ours["directions"]["write"]["ios"],
        theirs["directions"]["write"]["ios"]
    );
    for (case, answer) in [
        ("trace = \"none.trace\"", "line 2: the case `a`"),
        (
            "trace = \"hour.load.gz\"\npattern = \"zipf\"",
            "`pattern` has no effect",
        ),
        ("trace = { speed = 10 }", "no `file` is named"),
        ("trace = { file = \"x\", sped = 10 }", "unknown key `sped`"),
        (
            "trace = { file = \"x\", as = \"slow\" }",
            "open, dependent, fast",
        ),
        (
            "trace = { file = \"x\", from = \"2s\", until = \"1s\" }",
            "is not after",
        ),
        (
            "trace = \"x\"\nrate_percent = [50]",
            "has no jobs and no `rate_percent`",
        ),
        (
            "trace = \"x\"\n[case.matrix]\ndepth = [1, 2]",
            "`depth` is swept",
        ),
        (
            "trace = \"hour.load.gz\"\ntargets = [\"/a\", \"/b\"]",
            "replayed on one target",
        ),
    ] {
        let text = format!("[[case]]\nname = \"a\"\n{case}\n");
        lab.write("bad.toml", text);
        lab.refused(["run", "bad.toml", "--target", "sim:gp3:10GiB"], &[answer]);
    }
}

/// Two recordings of servers (proof/corpus/traces/NOTICE.md), to the digits that a count independent of
/// this program gave of the original files. They are files of version 1 of the own format, too.
#[test]
fn recordings_of_servers_are_what_they_were() {
    let lab = Lab::new();
    let shown = |name: &str| {
        let path = root().join("proof/corpus/traces").join(name);
        let path = path.display().to_string();
        json(&good(lab.blocklab([
            "trace",
            "show",
            &path,
            "--no-reuse",
            "--json",
        ])))
    };
    for (name, expected) in [
        (
            "derived-mysql.trace",
            "80794 3599.9 | 91 % | 22.4 | 31 489 2050 | 25.0 | 4 32 244 | 556.9 55 % | 16 % 10 % | 62 32",
        ),
        (
            "derived-mssql.trace",
            "42976 3062.3 | 94 % | 14.0 | 630 3112 4690 | 77.4 | 32 32 32 | 604.5 40 % | 88 % 38 % | 1962 32443",
        ),
    ] {
        let of = shown(name);
        let number = |value: &serde_json::Value| value.as_f64().expect("a number");
        let mut mixes = of["directions"].as_array().expect("a list").iter();
        let writes = mixes.find(|mix| mix["direction"] == "write").expect("some");
        let [tenth, second, minute] = [0, 1, 2].map(|index| &of["peaks"][index]);
        let kib = |name: &str| number(&of["sizes"][name]) / 1024.0;
        let mib = 1_048_576.0;
        let found = format!(
            "{} {:.1} | {:.0} % | {:.1} | {:.0} {:.0} {:.0} | {:.1} | {} {} {} | {:.1} {:.0} % | \
             {:.0} % {:.0} % | {:.0} {:.0}",
            of["operations"],
            number(&of["duration_ns"]) / 1e9,
            number(&writes["operations_percent"]),
            number(&of["iops_mean"]),
            number(&minute["iops_max"]),
            number(&second["iops_max"]),
            number(&tenth["iops_max"]),
            number(&second["bytes_per_s_max"]) / mib,
            kib("p50_bytes"),
            kib("p90_bytes"),
            kib("max_bytes"),
            number(&of["working_set_bytes"]) / mib,
            number(&of["rewritten_percent"]),
            number(&of["sequential_percent"]),
            number(&of["unaligned_percent"]),
            number(&second["dispersion"]),
            number(&minute["dispersion"]),
        );
        assert_eq!(found, expected, "{name}");
    }
}

/// The story: a part of a trace beyond its end was "no operations in it", as if the file were empty.
#[test]
fn a_part_without_operations_is_no_empty_trace() {
    let lab = Lab::new();
    let trace = recorded();
    for command in [
        vec!["trace", "show", &trace],
        vec!["trace", "model", &trace],
        vec!["trace", "fit", &trace, "--on", "gp3:1GiB"],
        vec!["advise", "--trace", &trace],
    ] {
        let refused = lab.blocklab(command.into_iter().chain(["--from", "2h"]));
        assert_eq!(refused.code, Some(2));
        let words = "--from, --until and --device leave out all of its 1,371 operations";
        assert!(refused.err.contains(words), "{}", refused.err);
    }
}

/// The story: of three flushes and nothing else, `trace show` counted "3 operations in 0.0 s" and of one
/// "1 operations", and `trace model` failed with "unlimited: a volume holds at least 512 B".
#[test]
fn a_trace_of_flushes_alone_has_no_model() {
    let lab = Lab::new();
    let log =
        |lines: &str| format!("fio version 3 iolog\n0 /d add\n0 /d open\n{lines}9 /d close\n");
    lab.write("syncs.log", log("1 /d sync 0 0\n2 /d sync 0 0\n"));
    lab.write("one.log", log("1 /d read 0 4096\n"));
    let refused = lab.blocklab(["trace", "model", "syncs.log"]);
    assert_eq!(refused.code, Some(2));
    assert_eq!(
        refused.err,
        "error: syncs.log: no read, write or trim among its 2 operations, so there is nothing to fit \
         a model from; `blocklab run --trace` replays it as it is\n"
    );
    let shown = good(lab.blocklab(["trace", "show", "one.log"]));
    assert!(
        shown.starts_with("one.log: 1 operation in 0.0 s\n"),
        "{shown}"
    );
    let replayed = good(lab.blocklab(["run", "-q", "--trace", "syncs.log", "-t", "sim:gp3:1GiB"]));
    let words: Vec<&str> = replayed.split_whitespace().collect();
    let replayed = words.join(" ");
    assert!(
        replayed.contains("it has no rate that could repeat."),
        "{replayed}"
    );
}
