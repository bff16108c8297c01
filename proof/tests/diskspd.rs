//! DiskSpd's command lines and profiles through the program, most of them in virtual time.

mod stand;

use blocklab_record::Record;
use blocklab_workload::Direction;
use stand::Stand;

const MAP: &str = r"E:\=sim:gp3:1TiB@r5d.xlarge";

/// What a command line prints; what is noted next to it is no concern here.
fn printed(stand: &Stand, line: &[&str]) -> String {
    let all: Vec<&str> = ["diskspd", "--quiet"].iter().chain(line).copied().collect();
    let ran = stand.lab.blocklab(all);
    assert_eq!(ran.code, Some(0), "{line:?}: {}", ran.err);
    ran.out
}

/// Code, and what is complained of.
#[track_caller]
fn refused(stand: &Stand, line: &[&str], code: i32, words: &str) {
    let all: Vec<&str> = ["diskspd"].iter().chain(line).copied().collect();
    let ran = stand.lab.blocklab(all);
    assert_eq!(ran.code, Some(code), "{line:?}: {}", ran.err);
    assert!(ran.err.contains(words), "{line:?}: {}", ran.err);
}

/// Operations and bytes by direction, of all targets.
fn moved(record: &Record) -> [(u64, u64); 2] {
    let jobs = record.jobs();
    let mut sums = [(0, 0); 2];
    for job in jobs {
        for (sum, way) in sums.iter_mut().zip([Direction::Read, Direction::Write]) {
            if let Some(found) = job.directions.get(&way) {
                *sum = (sum.0 + found.ios, sum.1 + found.bytes);
            }
        }
    }
    sums
}

#[test]
fn a_published_study_runs_on_a_model_as_it_is() {
    let stand = Stand::new();
    for how in [
        ["-o2", "-t1", "-r"],
        ["-o4", "-t4", "-r"],
        ["-o2", "-t1", "-s"],
    ] {
        for block in ["-b4K", "-b8K", "-b16K", "-b64K", "-b128K"] {
            let line = [block, "-d30", "-Sh", "-w50", "-L", "-Z1G", "-c20G"];
            let line: Vec<&str> = ["--map", MAP, "--no-save"]
                .into_iter()
                .chain(line)
                .chain(how)
                .chain([r"E:\dummy.dat"])
                .collect();
            let text = printed(&stand, &line);
            assert!(text.contains("actual test time:\t30.0"), "{text}");
            assert!(text.contains(r"E:\dummy.dat (20GiB)"), "{text}");
        }
    }
}

#[test]
fn what_is_printed_is_imported_with_the_same_figures() {
    let stand = Stand::new();
    let line = [
        "--map", MAP, "-b8K", "-r", "-w30", "-o8", "-t2", "-L", "-D", "-d5", "-c1G",
    ];
    for layout in [
        &["-Rtext"][..],
        &["-Rxml"],
        &["--diskspd-layout", "2.0.21a"],
    ] {
        let all: Vec<&str> = layout.iter().chain(&line).copied().collect();
        let all: Vec<&str> = all.into_iter().chain([r"E:\a.dat"]).collect();
        let text = printed(&stand, &all);
        let own = stand.latest();
        // As PowerShell's `>` writes it.
        let wide = text.replace('\n', "\r\n");
        let wide = wide.encode_utf16().flat_map(u16::to_le_bytes);
        let bytes: Vec<u8> = [0xff, 0xfe].into_iter().chain(wide).collect();
        stand.lab.write("result", bytes);
        let ran = stand.lab.blocklab(["import", "diskspd", "result"]);
        assert_eq!((ran.code, &*ran.err), (Some(0), ""), "{text}");
        let imported = stand.latest();
        assert_eq!(moved(&imported), moved(&own), "{layout:?}");
        let p99 = |record: &Record| {
            let job = &record.measurements[0].jobs[0];
            job.directions[&Direction::Read].service.p99_ns as f64
        };
        // Two threads on the same model wait alike.
        let off = p99(&imported) / p99(&own) - 1.0;
        assert!(off.abs() < 0.05, "{layout:?}: {off}");
    }
}

#[test]
fn a_profile_fills_its_templates_and_keeps_its_weights() {
    let stand = Stand::new();
    let profile = "<Profile><TimeSpans><TimeSpan><Duration>5</Duration><Warmup>1</Warmup>\
        <ThreadCount>2</ThreadCount><RequestCount>16</RequestCount><Targets>\
        <Target><Path>*1</Path><BlockSize>4096</BlockSize><Random>4096</Random>\
        <FileSize>1073741824</FileSize><Weight>3</Weight></Target>\
        <Target><Path>*2</Path><BlockSize>8192</BlockSize><Random>8192</Random>\
        <FileSize>1073741824</FileSize></Target></Targets></TimeSpan></TimeSpans></Profile>";
    stand.lab.write("p.xml", profile);
    let models = ["sim:gp3:1TiB@r5d.xlarge", "sim:gp2:1TiB@r5d.xlarge"];
    printed(&stand, &["-Xp.xml", models[0], models[1]]);
    let record = stand.latest();
    let jobs = &record.measurements[0].jobs;
    assert_eq!(jobs.len(), 4);
    for pair in jobs.chunks(2) {
        let [three, one] =
            [0, 1].map(|job: usize| pair[job].directions[&Direction::Read].ios as f64);
        assert!((three / one - 3.0).abs() < 0.05, "{three} to {one}");
    }
    refused(&stand, &["-Xp.xml", models[0]], 3, "not filled");
    refused(&stand, &["-Xnone.xml"], 3, "cannot be read");
    refused(&stand, &["-Xp.xml", "-b4K", models[0]], 3, "with -X, only");
}

#[test]
fn files_and_limits_are_taken_as_they_are_there() {
    let stand = Stand::new();
    let file = stand.disk().join("f.dat");
    let name = file.to_str().expect("UTF-8");
    // Not every file system keeps the mark by which a file of ours is known.
    let ours = format!("--destroy-data={name}");
    let short = ["-b4K", "-d1", "-W0", "-w100", "-o1"];
    let run = |size: &'static str| {
        let line: Vec<&str> = short.into_iter().chain([&*ours, size, name]).collect();
        printed(&stand, &line)
    };
    assert!(run("-c1M").contains("(1MiB)"));
    // Too small now: made anew. A limit beyond its end is none.
    assert!(run("-c2M").contains("(2MiB)"));
    assert!(run("-f1G").contains("(2MiB)"));
    std::fs::write(&file, b"somebody's").expect("written");
    let line: Vec<&str> = short.into_iter().chain(["-c1M", name]).collect();
    refused(&stand, &line, 1, "-c asks for 1 MiB");
    assert_eq!(std::fs::read(&file).expect("read"), b"somebody's");
}

/// The story: with `--read-only`, `-c` made a file and filled it all the same.
#[test]
fn a_read_only_run_makes_no_file() {
    let stand = Stand::new();
    let line = "--no-save --read-only -c64K -b4K -d1 -W0 new.dat";
    let line: Vec<&str> = line.split(' ').collect();
    refused(&stand, &line, 1, "--read-only forbids");
    assert!(!stand.lab.path().join("new.dat").exists());
    // Without `-c`, the error recommended it.
    let line = "--no-save --read-only -b4K -d1 -W0 new.dat";
    let line: Vec<&str> = line.split(' ').collect();
    refused(&stand, &line, 1, "--read-only forbids to make it");
}

#[test]
fn mistakes_end_with_three() {
    let stand = Stand::new();
    let ran = stand.lab.blocklab(["diskspd"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.out.starts_with("Usage: diskspd"), "{}", ran.out);
    refused(&stand, &["-a255", "null"], 3, "there is no processor 255");
    refused(&stand, &["-F2", "-t2", "null"], 3, "it excludes -t");
    refused(&stand, &[r"E:\x.dat"], 3, "--map");
}

/// The story: an option copied from a page, `–b8K` with a dash, was taken for a target, and the
/// answer was about a file that nobody had named.
#[test]
fn a_dash_that_is_no_hyphen_is_named_in_every_language() {
    let lab = blocklab_proof::Lab::new();
    for (tool, option) in [
        ("diskspd", "–b8K"),
        ("fio", "—name=a"),
        ("vdbench", "−f"),
        ("run", "–x"),
    ] {
        lab.refused([tool, option, "x"], &["a dash that is no hyphen"]);
    }
}
