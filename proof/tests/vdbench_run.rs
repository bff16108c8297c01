//! Parameter files of Vdbench, run on files and on models, and the reports that they leave.

use blocklab_proof::{Lab, Printed};

/// Runs a parameter file called `parm`; reports go to `out`.
fn vdbench(lab: &Lab, file: &str, more: &[&str]) -> Printed {
    lab.write("parm", file);
    let args = ["vdbench", "-f", "parm", "-o", "out"];
    lab.blocklab(args.iter().chain(more).copied())
}

fn text(ran: &Printed) -> String {
    format!("{}{}", ran.out, ran.err)
}

/// The figures of a row: all words behind the label.
fn row(text: &str, label: &str, n: usize) -> Vec<f64> {
    let rows = text
        .lines()
        .filter(|line| line.split_whitespace().nth(1) == Some(label));
    let mut rows = rows.skip(n);
    let row = rows
        .next()
        .unwrap_or_else(|| panic!("no row {label} #{n} in\n{text}"));
    row.split_whitespace()
        .skip(2)
        .map(|word| word.parse().expect(word))
        .collect()
}

/// In virtual time: a maximum, then points that hold their rate, and the observed skew is kept.
#[test]
fn a_curve_on_a_model_holds_its_rates() {
    let lab = Lab::new();
    let file = "sd=sd1,lun=sim:local@i3.xlarge\n\
                wd=wd1,sd=sd1,rdpct=100,skew=75\nwd=wd2,sd=sd1,rdpct=0,skew=25,xfersize=8k\n\
                rd=rd1,wd=wd*,iorate=curve,curve=(20,50),elapsed=10,warmup=2,interval=2,threads=16\n";
    let output = vdbench(&lab, file, &[]);
    let words = text(&output);
    assert!(output.code == Some(0), "{words}");
    assert!(
        words.contains("RD=rd1; I/O rate: Controlled curve; elapsed=10 warmup=2;"),
        "{words}"
    );
    let maximum = row(&words, "avg_2-6", 0)[0];
    for (n, percent) in [(1, 20.0), (2, 50.0)] {
        let figures = row(&words, "avg_2-6", n);
        let wanted = (maximum.trunc() * percent / 100.0 / 100.0).ceil() * 100.0;
        assert!(
            (figures[0] / wanted - 1.0).abs() < 0.01,
            "{wanted} asked: {figures:?}"
        );
        assert!((figures[3] - 75.0).abs() < 1.0, "reads: {figures:?}");
    }
    assert!(
        words.contains("Vdbench execution completed successfully. Output directory:"),
        "{words}"
    );
    assert!(
        words.contains("Curve rd1") && words.contains("; 1.00 ms is "),
        "{words}"
    );
    let out = lab.path().join("out");
    for name in [
        "summary",
        "totals",
        "flatfile",
        "histogram",
        "skew",
        "status",
        "logfile",
        "parmfile",
        "parmscan",
        "errorlog",
        "localhost",
        "localhost-0",
        "localhost-0.stdout",
        "config",
        "sd1",
        "sd1.histogram",
        "wd1",
        "wd1.histogram",
    ] {
        let path = out.join(format!("{name}.html"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|_| panic!("{name} is missing"));
        assert!(text.starts_with("<title>Vdbench "), "{name}: {text}");
    }
    let flat = std::fs::read_to_string(out.join("flatfile.html")).expect("it is there");
    check_flat_file(&flat);
    check_histogram(&out.join("histogram.html"));
    check_status(&out.join("status.html"));
    let imported = lab.blocklab(["import", "vdbench", "out"]);
    assert_eq!(imported.code, Some(0), "{}", imported.err);
    let averages = flat
        .lines()
        .filter(|line| line.contains(" avg_2-6 "))
        .count();
    assert_eq!(averages, 3, "{flat}");
    assert!(
        flat.contains(" rd1_(20%) ") && flat.contains(" 9999977 "),
        "{flat}"
    );
}

/// Its header names 34 columns, and every row has this many.
fn check_flat_file(flat: &str) {
    let rows = || {
        let rows = flat.lines().map(|row| row.split_whitespace().collect());
        rows.filter(|row: &Vec<&str>| {
            let first = row.first();
            first.is_some_and(|word| !word.starts_with(['*', '<']))
        })
    };
    let header = rows().next().expect("there is a header");
    assert_eq!(
        (header[0], header[4], header[5]),
        ("tod", "reqrate", "rate")
    );
    assert!(rows().all(|row| row.len() == 34), "{flat}");
    assert!(rows().any(|row| row[3].starts_with("avg_")), "{flat}");
    for row in rows().skip(1) {
        for (name, word) in header.iter().zip(&row).skip(4) {
            let sound = *word == "n/a" || word.parse::<f64>().is_ok() || *name == "version";
            assert!(sound, "{name}: {word}");
        }
    }
}

/// Shares of the buckets add up, and the last of them is at a hundred.
fn check_histogram(path: &std::path::Path) {
    let text = std::fs::read_to_string(path).expect("it is there");
    let (_, reads) = text.split_once("Reads:").expect("it has reads");
    let (reads, _) = reads.split_once("Writes:").expect("it has writes");
    let rows = reads.lines().filter_map(|row| {
        let words: Vec<&str> = row.split_whitespace().collect();
        let at = words.iter().position(|word| *word == "<")?;
        let number = |place: usize| words.get(at + place)?.parse::<f64>().ok();
        Some((number(3)?, number(4)?))
    });
    let rows: Vec<(f64, f64)> = rows.collect();
    assert!(rows.len() > 2, "{reads}");
    let shares: f64 = rows.iter().map(|(share, _)| share).sum();
    assert!((shares - 100.0).abs() < 0.1, "{shares}: {reads}");
    let last = rows[rows.len() - 1].1;
    assert!((last - 100.0).abs() < 0.1, "{reads}");
}

/// Events with tabs between their parts, from the first to the last.
fn check_status(path: &std::path::Path) {
    let text = std::fs::read_to_string(path).expect("it is there");
    let events: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split('\t').nth(1))
        .collect();
    assert_eq!(events.first(), Some(&"Starting slaves"), "{text}");
    assert_eq!(events.last(), Some(&"Vdbench complete"), "{text}");
    let count = |event: &str| events.iter().filter(|one| **one == event).count();
    assert_eq!(
        (count("Starting"), count("Workload done")),
        (3, 3),
        "{text}"
    );
}

/// On a file that is made first: 34 columns, block 0 untouched, and both runs counted.
#[test]
fn a_missing_file_is_formatted_and_block_0_is_left_alone() {
    let lab = Lab::new();
    let lun = lab.path().join("lun");
    let file = format!(
        "sd=sd1,lun={},size=8m\nwd=wd1,sd=sd1,rdpct=0\n\
         rd=rd1,wd=wd1,iorate=200,elapsed=2,interval=1,threads=2\n",
        lun.display()
    );
    let output = vdbench(&lab, &file, &[]);
    let words = text(&output);
    assert!(output.code == Some(0), "{words}");
    assert!(
        words.contains("RD=SD_format; I/O rate: Uncontrolled MAX; elapsed=(none); For loops: threads=2 iorate=max"),
        "{words}"
    );
    let bytes = std::fs::read(&lun).expect("the file stays");
    assert_eq!(bytes.len(), 8 << 20);
    assert!(
        bytes[..4096].iter().all(|byte| *byte == 0),
        "block 0 was written"
    );
    assert!(
        bytes[128 << 10..7 << 20]
            .chunks(4096)
            .all(|block| block.iter().any(|byte| *byte != 0))
    );
}

#[test]
fn mistakes_end_with_status_2() {
    let lab = Lab::new();
    for (file, words) in [
        (
            "sd=sd1,lun=a,size=1g\nwd=wd1,sd=sd1,xfersise=4k\n",
            "parm:2: xfersise=",
        ),
        (
            "sd=sd1,lun=/nowhere/x\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=max\n",
            "/nowhere/x",
        ),
        (
            "sd=sd1,lun=sim:gp9:1TiB@r5d.xlarge\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=max\n",
            "gp9",
        ),
    ] {
        let output = vdbench(&lab, file, &[]);
        let ran = text(&output);
        assert_eq!(output.code, Some(2), "{ran}");
        assert!(ran.contains(words), "{ran}");
    }
}

#[test]
fn the_study_of_i3_metal_is_understood() {
    let lab = Lab::new();
    let study = concat!(env!("CARGO_MANIFEST_DIR"), "/../studies/i3-metal.vdb");
    let file = std::fs::read_to_string(study).expect("the study is there");
    let arguments = ["-s", "lun=sim:30xgp2:1TB@i3.metal", "devices=30"];
    let output = vdbench(&lab, &file, &arguments);
    let words = text(&output);
    assert!(output.code == Some(0), "{words}");
    let runs = words
        .lines()
        .filter(|line| line.contains("Simulating RD="))
        .count();
    assert_eq!(runs, 13 * 13, "{words}");
    assert!(
        words.contains("RD=rand_read_4k_(120%); I/O rate: 12000;"),
        "{words}"
    );
}

/// People simulate to learn how long their runs take; that line was missing, and then had a pause after
/// the last run. The directory is named where it is made, as the original does.
#[test]
fn a_simulation_ends_with_the_number_of_runs_and_their_time() {
    let lab = Lab::new();
    let file = "sd=sd1,lun=a,size=1g\nwd=wd1,sd=sd1\n\
                rd=rd1,wd=wd1,iorate=(100,200),elapsed=2h,warmup=60,interval=10,pause=5\n";
    let words = text(&vdbench(&lab, file, &["-s"]));
    let end = " Total amount of Run Definitions: 2; total elapsed time 04:02:05\n";
    assert!(words.contains(end), "{words}");
    let out = lab.path().join("out").canonicalize().expect("it is there");
    let made = format!(" Created output directory '{}'\n", out.display());
    assert!(words.contains(&made), "{words}");
    let again = text(&vdbench(&lab, file, &["-s"]));
    assert!(!again.contains("Created output directory"), "{again}");
    // The run that reads a journal comes first, and it is a run.
    let words = text(&vdbench(&lab, file, &["-s", "-jr"]));
    let runs: Vec<&str> = words
        .lines()
        .filter(|line| line.contains("Simulating RD="))
        .collect();
    assert_eq!(runs.len(), 3, "{words}");
    let first = "RD=journal_recovery; I/O rate: Uncontrolled MAX; elapsed=(none); For loops: None";
    assert!(runs[0].ends_with(first), "{words}");
    assert!(
        words.contains("Run Definitions: 3; total elapsed time 04:02:05"),
        "{words}"
    );
}

/// Generated files often begin with a host definition. All of them were refused but `localhost`.
#[test]
fn this_host_runs_by_any_of_its_names() {
    let lab = Lab::new();
    let own = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("Linux tells it");
    let own = own.trim();
    let run = "sd=sd1,lun=sim:local@i3.xlarge,host=*\nwd=wd1,sd=sd1\n\
               rd=rd1,wd=wd1,iorate=100,elapsed=2,interval=1\n";
    for host in [
        "hd=h1,system=localhost".to_owned(),
        "hd=h1,system=127.0.0.1".to_owned(),
        format!("hd=h1,system={own}"),
        format!("hd={own}"),
        "hd=default,shell=ssh,user=me\nhd=localhost".to_owned(),
    ] {
        let output = vdbench(&lab, &format!("{host}\n{run}"), &["-s"]);
        assert_eq!(output.code, Some(0), "{host}: {}", text(&output));
    }
    // Of the addresses that documentation may use; no machine has them. What would run is shown all
    // the same: nobody is asked.
    let output = vdbench(&lab, &format!("hd=h1,system=192.0.2.1\n{run}"), &["-s"]);
    assert_eq!(output.code, Some(0), "{}", text(&output));
}

/// The story: two runs of one rate delivered 88.33 and 88.33 of the 100 that were requested, and
/// `-l` gave them again, because every run drew the same arrivals. What repeats its draws looks
/// steadier than it is, and no number of repetitions averages them out.
#[test]
fn equal_runs_draw_arrivals_of_their_own() {
    let file = "sd=sd1,lun=sim:local@i3.xlarge\nwd=wd1,sd=sd1,rdpct=100\n\
                rd=default,wd=wd1,iorate=100,elapsed=10,interval=5,threads=8\nrd=rd1\nrd=rd2\n";
    let lab = Lab::new();
    let rates = |more: &[&str], rows: usize| -> Vec<f64> {
        let output = vdbench(&lab, file, more);
        let words = text(&output);
        assert!(output.code == Some(0), "{words}");
        let all = (0..rows).map(|n| row(&words, "avg_2-2", n)[0]);
        all.collect()
    };
    let given = rates(&["--no-save", "--seed", "42"], 2);
    assert_ne!(given[0], given[1], "two runs with the same arrivals");
    assert_eq!(given, rates(&["--no-save", "--seed=42"], 2), "one seed");
    let other = rates(&["--no-save", "--seed=43"], 2);
    assert_ne!(given[0], other[0], "another seed, the same arrivals");
    let wrong = vdbench(&lab, file, &["--seed", "soon"]);
    assert_eq!(wrong.code, Some(2), "{}", text(&wrong));
}

/// Each repetition of `loop=` is kept as a run of its own, with its own seed.
#[test]
fn a_repetition_keeps_the_seed_that_it_drew_from() {
    let lab = Lab::new();
    let file = "loop=2\nsd=sd1,lun=sim:local@i3.xlarge\nwd=wd1,sd=sd1,rdpct=100\n\
                rd=rd1,wd=wd1,iorate=100,elapsed=2,interval=1\n";
    let output = vdbench(&lab, file, &["--seed", "42"]);
    assert!(output.code == Some(0), "{}", text(&output));
    let listed = lab.store().list().runs;
    let runs = listed.iter().map(|run| lab.store().load(&run.id));
    let seeds: Vec<String> = runs
        .map(|run| run.expect("it is kept").record.requested.seed)
        .collect();
    // The story: each round began all reports anew, so that those of the first one were lost.
    let report = |name: &str| lab.read(format!("out/{name}.html"));
    for name in ["summary", "sd1", "wd1"] {
        let banners = report(name).matches("Starting RD=rd1").count();
        assert_eq!(banners, 2, "{name}: {}", report(name));
    }
    assert_eq!(report("summary").matches("name=\"_1\"").count(), 1);
    assert_eq!(report("totals").matches("interval").count(), 1);
    assert_eq!(seeds.len(), 2);
    assert!(
        seeds.contains(&"42".to_owned()) && seeds[0] != seeds[1],
        "{seeds:?}"
    );
}
