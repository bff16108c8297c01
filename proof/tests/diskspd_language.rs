//! Command lines and XML profiles of DiskSpd: what they mean here, and what is refused and why.
//! `BLESS=1` rewrites the expected workloads; read the difference before it is kept.

use std::sync::Arc;

use blocklab_diskspd::{
    Inputs, MapFlush, Mapping, Overrides, Parsed, Prepared, Profile, Requested, parse, prepare,
    profile_xml, read_xml,
};
use blocklab_workload::{Access, Content, Durability, Job, Pace, Pattern, Plan, Rate, Spread};
use proptest::prelude::*;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn inputs() -> Inputs {
    let map = |text: &str| text.parse::<Mapping>().expect("a mapping");
    Inputs {
        mappings: vec![map(r"E:\=/data/"), map("#1=/dev/nvme1n1")],
        size: None,
        sources: vec![("source.bin".to_owned(), Arc::from(*b"data"))],
        sizes: vec![("there.dat".to_owned(), blocklab_units::Bytes(40 << 30))],
        processors: (0..8).collect(),
    }
}

fn load(line: &str) -> Result<(Profile, Prepared, Vec<String>), String> {
    let Parsed { requested, notes } = parse(&words(line)).map_err(|mistake| mistake.to_string())?;
    let Requested::Load(profile) = requested else {
        return Err(format!("{requested:?}"));
    };
    let profile = profile.with_clock_seed(4711);
    let prepared = prepare(&profile, &inputs()).map_err(|mistake| mistake.to_string())?;
    let notes = notes.iter().chain(&prepared.notes);
    let subjects = notes.map(|note| note.subject.clone()).collect();
    Ok((profile, prepared, subjects))
}

fn pattern(job: &Job) -> String {
    match &job.pattern {
        Pattern::Sequential => "seq".to_owned(),
        Pattern::Strided { stride } => format!("stride {}", stride.0),
        Pattern::Random { .. } => "random".to_owned(),
        Pattern::PercentRandom(percent) => format!("{percent}% random"),
        Pattern::Zones(zones) => {
            let zone =
                |z: &blocklab_workload::Zone| format!("{}/{}", z.access_percent, z.space_percent);
            format!(
                "zones {}",
                zones.iter().map(zone).collect::<Vec<_>>().join(":")
            )
        }
        other => format!("{other:?}"),
    }
}

/// A job in a line, with what differs from the commonest.
fn described(job: &Job) -> String {
    let access = match job.access {
        Access::Buffered => "buffered",
        _ => "direct",
    };
    let mut text = format!(
        "{} {} {} w{} x{} {access} @{}+{} {}+{}s",
        job.engine.name(),
        pattern(job),
        job.sizes.largest().0,
        job.mix.write,
        job.depth,
        job.region.offset.0,
        job.region
            .size
            .map_or("end".to_owned(), |size| size.0.to_string()),
        job.ramp.0 / 1_000_000_000,
        job.stop.runtime.map_or(0, |time| time.0 / 1_000_000_000),
    );
    let content = match job.content {
        Content::Random => "",
        Content::Zero => " zero",
        Content::Fresh => " fresh",
        Content::Shaped { .. } | Content::Repeating { .. } => " shaped",
        Content::Same => " same",
        Content::Window { size } => &format!(" out of {}", size.0),
    };
    text.push_str(content);
    if let Some(runs) = job.runs {
        let step = runs
            .step
            .map_or(String::new(), |step| format!(" by {}", step.0));
        text.push_str(&format!(" {}% follow{step}", runs.follow_percent));
    }
    if job.fill.is_some() {
        text.push_str(" filled");
    }
    if let Some([align, ..]) = job.align {
        text.push_str(&format!(" aligned {}", align.0));
    }
    if job.region.spread == Spread::Shared {
        text.push_str(" shared");
    }
    if job.cool_down.0 > 0 {
        text.push_str(&format!(" cooling {}s", job.cool_down.0 / 1_000_000_000));
    }
    if let Some(io) = job.priority.io {
        text.push_str(&format!(" class {} level {}", io.class, io.level));
    }
    if job.durability == Durability::Dsync {
        text.push_str(" dsync");
    }
    text.push_str(&slowed(job));
    if !job.pin.is_empty() {
        text.push_str(&format!(" on {:?}", job.pin));
    }
    if job.flush.fsync_every > 0 {
        text.push_str(" flushed");
    }
    if let Some(pool) = &job.pool {
        let weight = pool
            .share
            .map_or(String::new(), |share| format!(" weight {}", share.weight));
        text.push_str(&format!(" {} of {}{weight}", pool.pool, pool.depth));
    }
    text.push_str(&format!(" {}", job.targets.join(" ")));
    text
}

/// What keeps a job below the rate that it could have.
fn slowed(job: &Job) -> String {
    let mut text = String::new();
    if let Pace::Capped(rate) = job.pace {
        text.push_str(&match rate {
            Rate::Iops(iops) => format!(" {iops} IOPS"),
            Rate::Bytes(bytes) => format!(" {bytes} B/s"),
        });
    }
    if let Some(think) = job.think {
        text.push_str(&format!(
            " burst {} pause {}ms",
            think.every,
            think.pause.0 / 1_000_000
        ));
    }
    text
}

/// Jobs in order; what several in a row have in common comes once, with their number.
fn workload(prepared: &Prepared) -> String {
    let mut lines: Vec<(String, u32)> = Vec::new();
    for case in &prepared.plan.cases {
        for job in &case.workload.jobs {
            let text = described(job);
            match lines.last_mut() {
                Some((known, number)) if *known == text => *number += 1,
                _ => lines.push((text, 1)),
            }
        }
    }
    let seed = prepared.plan.cases[0].workload.seed;
    let shown = lines
        .iter()
        .map(|(text, number)| format!("    {number} × {text}\n"));
    let shown: String = shown.collect();
    if seed == 0 {
        shown
    } else {
        format!("{shown}    seed {seed}\n")
    }
}

#[test]
fn accepted_lines_mean_what_is_written_here() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/diskspd_language/accepted.txt"
    );
    let kept = std::fs::read_to_string(path).expect("the list of command lines");
    let mut fresh = String::new();
    let mut number = 0;
    for line in kept.lines().filter(|line| !line.starts_with(' ')) {
        fresh.push_str(&format!("{line}\n"));
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        number += 1;
        let (_, prepared, notes) = load(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        fresh.push_str(&workload(&prepared));
        let notes: Vec<&String> = notes.iter().filter(|note| *note != "-ag").collect();
        if !notes.is_empty() {
            let notes: Vec<&str> = notes.iter().map(|note| note.as_str()).collect();
            fresh.push_str(&format!("    notes {}\n", notes.join(" ")));
        }
        for case in &prepared.plan.cases {
            for job in &case.workload.jobs {
                job.check()
                    .unwrap_or_else(|invalid| panic!("{line}: {invalid}"));
            }
        }
        let json = serde_json::to_string(&prepared.plan).expect(line);
        let again: Plan = serde_json::from_str(&json).expect(line);
        assert_eq!(again, prepared.plan, "{line}");
    }
    assert!(number >= 80, "{number} command lines");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &fresh).expect("the list can be written");
    }
    assert!(
        kept == fresh,
        "tests/diskspd_language/accepted.txt is stale: BLESS=1, and read the difference"
    );
}

/// A script whose author had left an old `-s8K` next to `-r` ran random load without a word, where
/// DiskSpd stops with status 3. All that its own tests of the command line reject is rejected here.
#[test]
fn rejected_lines_say_why() {
    let list = include_str!("diskspd_language/rejected.txt");
    let lines: Vec<&str> = list.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(lines.len() >= 70, "{}", lines.len());
    for line in lines {
        let (line, expected) = line.split_once(" => ").expect(line);
        let error = load(line).expect_err(line);
        assert!(error.contains(expected), "{line}: {error}");
    }
}

/// The fifteen command lines of the study r5d-vs-gp3.
#[test]
fn a_published_study_runs_as_it_is() {
    let blocks = ["4K", "8K", "16K", "64K", "128K"];
    let lines = ["-o2 -t1 -Sh -r", "-o4 -t4 -Sh -r", "-o2 -t1 -Sh"]
        .into_iter()
        .flat_map(|how| {
            blocks.map(|block| format!(r"-b{block} -d30 {how} -w50 -L -Z1G -c20G E:\dummy.dat"))
        });
    let lines: Vec<String> = lines.collect();
    assert_eq!(lines.len(), 15);
    for line in lines {
        let (profile, prepared, _) = load(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert!(profile.timespans[0].measure_latency);
        assert_eq!(
            prepared.files,
            [(
                "/data/dummy.dat".to_owned(),
                blocklab_units::Bytes(20 << 30)
            )]
        );
        let jobs = &prepared.plan.cases[0].workload.jobs;
        assert_eq!(
            jobs.len(),
            if line.contains("-t4") { 4 } else { 1 },
            "{line}"
        );
        let job = &jobs[0];
        assert_eq!(job.depth, if line.contains("-o4") { 4 } else { 2 });
        assert_eq!(
            matches!(job.pattern, Pattern::Random { .. }),
            line.contains(" -r ")
        );
        assert_eq!((job.mix.write, job.durability), (50, Durability::Dsync));
    }
}

#[test]
fn what_is_written_as_xml_is_read_as_the_same_profile() {
    for line in [
        "-b4K -r x.dat",
        "-b8K -t4 -o32 -r -w30 -Sh -L -D x.dat y.dat",
        "-F4 -O8 -c1G x.dat",
        "-rdpct90/10:0/10:5/20 -r -w100 -Z x.dat",
        "-rdabs90/1G:5/2G -r -f8G x.dat",
        "-si -t4 -g100i x.dat",
        "-T1M -t2 -B1G:2G x.dat",
        "-i8 -j10 -a0,1 -Sm -Nv x.dat",
        "-Z1M,source.bin -Sr -rs30 -r8K x.dat",
        "-Zr -w50 -x -l -I1 -frst -p -o4 x.dat",
    ] {
        let (profile, ..) = load(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        let text = profile_xml(&profile);
        let read = read_xml(&text, &Overrides::default());
        let mut read = read.unwrap_or_else(|error| panic!("{line}: {error}\n{text}"));
        // The stride is spelled out in XML.
        let spans = read.timespans.iter_mut().zip(&profile.timespans);
        for (read, written) in spans {
            for (read, written) in read.targets.iter_mut().zip(&written.targets) {
                read.align = read.align.filter(|align| Some(*align) == written.align);
            }
        }
        assert_eq!(read, profile, "{line}\n{text}");
    }
}

#[track_caller]
fn check_xml(text: &str, expected: &str) {
    let mistake = read_xml(text, &Overrides::default())
        .expect_err(text)
        .to_string();
    assert!(mistake.contains(expected), "{mistake}");
}

fn profile_with(inside: &str) -> String {
    format!(
        "<Profile><TimeSpans><TimeSpan><Targets><Target><Path>x</Path>{inside}</Target></Targets></TimeSpan></TimeSpans></Profile>"
    )
}

#[test]
fn bad_xml_is_refused_with_its_reason() {
    check_xml("", "the text ends before its root element");
    check_xml("no xml at all", "the text ends before its root element");
    check_xml("<Profile>", "the text ends before its root element");
    check_xml("<Profile></Other>", "XML, line 1");
    check_xml("<Job/>", "a <Profile> is wanted");
    check_xml("<Profile/>", "no time span");
    check_xml(
        &profile_with("<BlokSize>1</BlokSize>"),
        "<Target> has no such element",
    );
    check_xml(
        &profile_with("<BlockSize>4K</BlockSize>"),
        "not a whole number",
    );
    check_xml(&profile_with("<BlockSize>0</BlockSize>"), "above 0");
    check_xml(
        &profile_with("<WriteRatio>101</WriteRatio>"),
        "not from 0 to 100",
    );
    check_xml(
        &profile_with("<InterlockedSequential>yes</InterlockedSequential>"),
        "neither true nor false",
    );
    check_xml(
        &profile_with("<Random>4096</Random><ThreadStride>1</ThreadStride>"),
        "excludes -r",
    );
    check_xml(
        &profile_with("<Path>&laugh;</Path>"),
        "only XML's own five entities",
    );
    let bomb = "<!DOCTYPE x [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;\">]><Profile>&b;</Profile>";
    check_xml(bomb, "document types are not supported");
    check_xml(&"<a>".repeat(100_000), "more elements than any profile has");
}

#[test]
fn all_elements_of_the_schema_are_heeded_or_noted() {
    let mapped = profile_with(
        "<MemoryMappedIo>true</MemoryMappedIo><FlushType>NonVolatileMemory</FlushType>",
    );
    let profile = read_xml(&mapped, &Overrides::default()).expect("sound");
    let target = &profile.timespans[0].targets[0];
    assert_eq!(target.map_flush, Some(MapFlush::NonVolatile));
    check_xml(
        &profile_with("<MemoryMappedIo>1</MemoryMappedIo><FlushType>Other</FlushType>"),
        "none of ViewOfFile",
    );
    let tracing = profile_with("").replace(
        "<TimeSpans>",
        "<Progress>100</Progress><Verbose>false</Verbose>\
         <ETW><Process>false</Process><DiskIO>true</DiskIO></ETW><TimeSpans>",
    );
    let profile = read_xml(&tracing, &Overrides::default()).expect("sound");
    let prepared = prepare(&profile, &inputs()).expect("a plan");
    let output: Vec<&str> = prepared.notes.iter().map(|note| &*note.subject).collect();
    assert!(output.starts_with(&["Progress", "ETW"]), "{output:?}");
    let fresh = profile_with("").replace(
        "<Targets>",
        "<RandomWriteData>true</RandomWriteData><Targets>",
    );
    let profile = read_xml(&fresh, &Overrides::default()).expect("sound");
    assert!(profile.timespans[0].random_write_data);
}

#[test]
fn common_threads_share_their_operations_by_weight() {
    let text = "<Profile><TimeSpans><TimeSpan><ThreadCount>2</ThreadCount>\
        <RequestCount>16</RequestCount><Targets>\
        <Target><Path>a</Path><BlockSize>4096</BlockSize><Random>4096</Random>\
        <Weight>3</Weight></Target>\
        <Target><Path>b</Path><WriteRatio>100</WriteRatio><ThreadTargets><ThreadTarget>\
        <Thread>1</Thread><Weight>7</Weight></ThreadTarget></ThreadTargets></Target>\
        </Targets></TimeSpan></TimeSpans></Profile>";
    let profile = read_xml(text, &Overrides::default()).expect("sound");
    let prepared = prepare(&profile, &inputs()).expect("a plan");
    assert_eq!(
        workload(&prepared),
        "    1 × io_uring random 4096 w0 x16 buffered @0+end 5+10s a\n    \
         1 × io_uring random 4096 w0 x16 buffered @0+end 5+10s thread1 of 16 weight 3 a\n    \
         1 × io_uring seq 65536 w100 x16 buffered @0+end 5+10s filled thread1 of 16 weight 7 b\n"
    );
    let written = read_xml(&profile_xml(&profile), &Overrides::default()).expect("sound");
    assert_eq!(written.timespans[0].targets[1].threads_of_pool, [(1, 7)]);
    let wrong = |from: &str, to: &str, expected: &str| {
        let read = read_xml(&text.replace(from, to), &Overrides::default());
        let found = read.and_then(|profile| prepare(&profile, &inputs()));
        let mistake = found.expect_err(to).to_string();
        assert!(mistake.contains(expected), "{to}: {mistake}");
    };
    wrong("<Thread>1<", "<Thread>2<", "there is no such thread");
    wrong("<Weight>3<", "<Weight>0<", "above 0");
    wrong(
        "<RequestCount>16<",
        "<RequestCount>0<",
        "they need the ThreadCount",
    );
    wrong(
        "<Targets><",
        "<Cooldown>5</Cooldown><Targets><",
        "cannot be combined with -O",
    );
    wrong(
        "<Random>",
        "<DisableOSCache>true</DisableOSCache><Random>",
        "different caches",
    );
}

#[test]
fn templates_are_filled_from_the_command_line() {
    let text = profile_with("").replace("<Path>x</Path>", "<Path>*1</Path>");
    let with = |targets: &[&str]| Overrides {
        targets: targets.iter().map(|target| (*target).to_owned()).collect(),
        options: vec!["-d3".to_owned(), "-z7".to_owned()],
        ..Overrides::default()
    };
    let profile = read_xml(&text, &with(&["b"])).expect("filled");
    assert_eq!(profile.timespans[0].targets[0].path, "b");
    assert_eq!(
        (profile.timespans[0].duration, profile.timespans[0].seed),
        (3, Some(7))
    );
    for (path, targets, expected) in [
        ("*2", vec!["a"], "template is not filled"),
        ("*2", vec![], "template is not filled"),
        ("*2", vec!["a", "b"], "no <Path> of the profile is *1"),
        ("x", vec!["a"], "no <Path> of the profile is *1"),
        ("*0", vec!["a"], "a number from 1 on"),
        ("*", vec!["a"], "a number from 1 on"),
        ("*+1", vec!["a"], "a number from 1 on"),
    ] {
        let text = text.replace("<Path>*1</Path>", &format!("<Path>{path}</Path>"));
        let mistake = read_xml(&text, &with(&targets))
            .expect_err(path)
            .to_string();
        assert!(mistake.contains(expected), "{path} {targets:?}: {mistake}");
    }
    let printed = Overrides {
        profile_only: true,
        ..Overrides::default()
    };
    assert!(read_xml(&text, &printed).is_ok());
}

proptest! {
    /// No line panics, and what is accepted can be run and printed.
    #[test]
    fn any_line_is_understood_or_refused(
        line in prop::collection::vec("-[?:aAbBcCdDfFgiIjlLnNoOpPrRsStTvwWxXyzZ][a-zA-Z0-9,/:]{0,8}|x|E:\\\\y|#1", 0..6)
    ) {
        if let Ok((profile, prepared, _)) = load(&line.join(" ")) {
            prop_assert!(!prepared.plan.cases.is_empty());
            prop_assert!(read_xml(&profile_xml(&profile), &Overrides::default()).is_ok());
        }
    }

    #[test]
    fn any_text_is_a_profile_or_a_mistake(text in "\\PC{0,200}|(<[A-Za-z/]{1,9}>|[0-9]{1,9}|&[a-z]{1,4};){0,20}") {
        let _ = read_xml(&text, &Overrides::default());
    }
}
