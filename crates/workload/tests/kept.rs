//! A plan as JSON: what was ever written can still be read, and means the same.

use std::fs;
use std::path::Path;

use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{
    Access, Advice, Aggregate, BlockSizes, Case, Checksum, Content, Credentials, Direction,
    Durability, EndsOthers, Engine, ErrorPolicy, Flow, Hits, IoPriority, Job, LatencyTarget,
    Lifetime, Limit, Log, Measure, MinRate, MostErrors, MovingWindow, Order, PLAN_FORMAT, Pace,
    Pattern, PatternPart, PauseBefore, Plan, Pooled, PriorityShare, Rate, Replay, Replayed, Runs,
    Share, SizeDraw, SizeMix, Spread, Steady, SteadyVariable, TargetOrder, Think, ThinkStyle,
    TraceChanges, TraceFile, Trims, Verify, When, Workload, Zone,
};

/// Jobs that differ in one choice.
fn each<T>(of: impl IntoIterator<Item = T>, put: impl Fn(&mut Job, T)) -> Vec<Job> {
    let job = |value| {
        let mut job = Job::new("choice");
        put(&mut job, value);
        job
    };
    of.into_iter().map(job).collect()
}

fn places() -> Vec<Job> {
    let zone = Zone {
        access_percent: 100.0,
        space_percent: 0.1,
    };
    let patterns = [
        Pattern::Sequential,
        Pattern::Strided { stride: Bytes(1) },
        Pattern::Backward { back: Bytes(1) },
        Pattern::PercentRandom(30),
        Pattern::Zipf { theta: 1.1 },
        Pattern::Pareto { h: 0.2 },
        Pattern::Normal {
            deviation_percent: 1.5,
        },
        Pattern::Zones(vec![zone]),
        Pattern::Listed {
            blocks: vec![2, 0],
            moves_on: true,
        },
        Pattern::Preconditioning {
            over_provisioning: 0.15,
            regions: 100,
        },
    ];
    let orders = [
        TargetOrder::Random,
        TargetOrder::PerThread,
        TargetOrder::OneByOne,
        TargetOrder::Zipf { theta: 1.1 },
        TargetOrder::Pareto { h: 0.2 },
        TargetOrder::Normal {
            deviation_percent: 20.0,
        },
    ];
    let spreads = [
        Spread::Same,
        Spread::Sliced,
        Spread::Shared,
        Spread::Increment(Bytes(4096)),
    ];
    let draws = [SizeDraw::Multiples, SizeDraw::AnyByte];
    [
        each(patterns, |job, pattern| job.pattern = pattern),
        each(orders, |job, order| job.target_order = order),
        each(spreads, |job, spread| job.region.spread = spread),
        each(draws, |job, draw| job.size_draw = draw),
    ]
    .concat()
}

fn ways() -> Vec<Job> {
    let engines = [
        Engine::Sync,
        Engine::Psync,
        Engine::Vsync,
        Engine::Pvsync,
        Engine::Pvsync2(Default::default()),
        Engine::Libaio,
        Engine::PosixAio,
        Engine::Splice,
        Engine::Falloc,
        Engine::Ftruncate,
        Engine::FileCreate,
        Engine::FileStat,
        Engine::FileDelete,
        Engine::DirCreate,
        Engine::DirStat,
        Engine::DirDelete,
        Engine::Exec,
        Engine::Mmap,
        Engine::Null,
    ];
    let lifetimes = [
        Lifetime::None,
        Lifetime::Short,
        Lifetime::Medium,
        Lifetime::Long,
        Lifetime::Extreme,
    ];
    let advice = [Advice::None, Advice::Random, Advice::Sequential];
    let accesses = [Access::Buffered, Access::Direct];
    let durabilities = [Durability::Dsync, Durability::Sync];
    [
        each(engines, |job, engine| job.engine = engine),
        each(lifetimes, |job, it| job.hints.lifetime = Some(it)),
        each(advice, |job, advice| job.hints.advice = advice),
        each(accesses, |job, access| job.access = access),
        each(durabilities, |job, it| job.durability = it),
    ]
    .concat()
}

fn moments() -> Vec<Job> {
    let rates = [Some(Rate::Iops(0.1)), Some(Rate::Bytes(1e9)), None];
    let poisson = true;
    let paces = [
        Pace::Capped(Rate::Iops(1.0)),
        Pace::OpenFixed(Rate::Iops(1.0)),
        Pace::OpenPoisson(Rate::Bytes(1.0)),
        Pace::ByDirection { rates, poisson },
    ];
    let round = Nanos::from_secs(1);
    let variable = SteadyVariable::Bandwidth;
    let steady = [
        Steady::Snia {
            variable: SteadyVariable::Iops,
            round,
        },
        Steady::Slope {
            variable,
            round,
            rounds: 3,
            limit: Limit::Percent(0.1),
        },
        Steady::Deviation {
            variable: SteadyVariable::Latency,
            round,
            rounds: 1,
            limit: Limit::Absolute(7.0),
        },
    ];
    let ends = [EndsOthers::OnError, EndsOthers::Always];
    [
        each(paces, |job, pace| job.pace = pace),
        each(steady, |job, steady| job.stop.steady = Some(steady)),
        each(ends, |job, ends| job.ends_others = ends),
        each([ErrorPolicy::Continue], |job, it| job.on_error = it),
    ]
    .concat()
}

fn data() -> Vec<Job> {
    use Checksum::{
        Crc7, Crc16, Crc32, Crc32c, Crc64, Header, Md5, Null, Pattern, PatternHeader, Sha1,
        Sha3_224, Sha3_256, Sha3_384, Sha3_512, Sha256, Sha512, Xxhash,
    };
    let sums = [
        Crc7,
        Crc16,
        Crc32,
        Crc32c,
        Crc64,
        Xxhash,
        Md5,
        Sha1,
        Sha256,
        Sha512,
        Sha3_224,
        Sha3_256,
        Sha3_384,
        Sha3_512,
        Header,
        Pattern,
        PatternHeader,
        Null,
    ];
    let whens = [
        When::Never,
        When::Only,
        When::OnlyPlaces,
        When::Backlog { every: 8, batch: 2 },
    ];
    let whens = whens.map(|when| Verify {
        when,
        ..Verify::new(Crc32c)
    });
    let contents = [
        Content::Zero,
        Content::Same,
        Content::Fresh,
        Content::Window { size: Bytes(512) },
        Content::Shaped {
            compress_percent: 1,
            dedupe_percent: 2,
        },
        Content::Repeating {
            compress_percent: 1,
            repeat_percent: 2,
        },
    ];
    [
        each(sums, |job, it| job.verify = Some(Verify::new(it))),
        each(whens, |job, verify| job.verify = Some(verify)),
        each(contents, |job, content| job.content = content),
    ]
    .concat()
}

/// A job with a value wherever there may be none.
fn everything() -> Job {
    let mut job = Job::new("everything");
    job.rng_label = Some("first".to_owned());
    job.targets = vec!["sim:gp3:1TiB@r5d.xlarge".to_owned()];
    job.pin = vec![0, 7];
    job.priority.io = Some(IoPriority { class: 1, level: 7 });
    job.priority_shares = vec![PriorityShare {
        direction: Direction::Read,
        size: Some(Bytes(4096)),
        percent: 10,
        priority: IoPriority { class: 2, level: 0 },
    }];
    job.credentials = Credentials {
        user: Some(1),
        group: Some(2),
        control_group: Some("/sys/fs/cgroup/a".to_owned()),
    };
    job.region.size = Some(Bytes(1 << 40));
    job.sizes = BlockSizes {
        read: SizeMix(vec![(Bytes(4096), 60), (Bytes(65536), 40)]),
        ..BlockSizes::fixed(Bytes(8192))
    };
    job.align = Some([Bytes(512), Bytes(1024), Bytes(2048)]);
    job.runs = Some(Runs {
        step: Some(Bytes(8192)),
        ..Runs::default()
    });
    job.window = Some(MovingWindow {
        bytes: Bytes(1),
        range: Bytes(2),
        skip: Bytes(3),
    });
    job.fill = Some([0xde, 0xad, 0, 1].into());
    pace_everything(&mut job);
    job.stop.bytes = Some(Bytes(1));
    job.stop.ios = Some(2);
    job.stop.loops = Some(3);
    job.pool = Some(pool(0));
    job.verify = Some(Verify {
        interval: Some(Bytes(4096)),
        pattern: Some([PatternPart::Bytes(vec![1, 254]), PatternPart::Offset].into()),
        pass: Some(Bytes(1)),
        first: Some(9),
        trims: Some(Trims {
            percent: 1,
            every: 2,
            batch: 3,
        }),
        ..Verify::new(Checksum::Md5)
    });
    job.on_error = ErrorPolicy::ContinueOn {
        read: true,
        write: false,
        verify: true,
    };
    job.drop_cache_every = Some(Bytes(1));
    job.max_latency = Some(Nanos(1));
    job.ignored_errors = Direction::ALL.map(|direction| (direction, 5)).to_vec();
    job.measure = Measure::ALL;
    job.log = Some(Log {
        entries: true,
        average: Some(Nanos(1)),
        histogram: Some(Nanos(2)),
    });
    job
}

/// The settings for when operations begin.
fn pace_everything(job: &mut Job) {
    job.min_rate = Some(MinRate {
        rates: [Some(Rate::Iops(10.0)), None, None],
        cycle: Nanos::from_secs(1),
        settle: Nanos(7),
    });
    job.flow = Some(Flow {
        group: 1,
        weight: 2,
        pause: Nanos(3),
    });
    job.latency_target = Some(LatencyTarget {
        limit: Nanos(1),
        window: Nanos(2),
        percentile: 99.9,
        go_on: true,
    });
    job.think = Some(Think {
        pause: Nanos(1),
        every: 2,
    });
    job.think_style = ThinkStyle {
        spin: Nanos(1),
        on_completion: true,
        work: Some(Nanos(2)),
        shifts_schedule: true,
    };
}

fn pool(counter: u32) -> Pooled {
    Pooled {
        share: Some(Share {
            group: 1,
            weight: 0.5,
        }),
        hits: Some(Hits {
            read_percent: 1.0,
            write_percent: 2.0,
            offset: 3,
            len: 4,
        }),
        bursts: vec![(100.0, 1.5)],
        most_errors: Some(MostErrors::new(50, counter)),
        ..Pooled::new("one", 32)
    }
}

fn replay(operations: Vec<Replayed>) -> Job {
    let mut job = Job::new("replay");
    let source = TraceFile {
        path: "trace.log".to_owned(),
        sha256: TraceFile::checksum(b"fio version 2 iolog\n"),
        changes: TraceChanges {
            skip: vec![Direction::Trim],
            scale: 1,
            align: 4096,
            speed_percent: 100,
            to_one_target: true,
        },
    };
    let replay = Replay {
        operations,
        keeps_time: true,
        source: Some(source),
        ..Replay::default()
    };
    job.replay = Some(replay.into());
    job
}

fn case(name: &str, jobs: Vec<Job>) -> Case {
    Case {
        name: name.to_owned(),
        settings: vec![("depth".to_owned(), "32".to_owned())],
        workload: Workload {
            seed: u64::MAX - 1,
            jobs,
        },
    }
}

fn plan() -> Plan {
    let cases = vec![
        case("everything", vec![everything()]),
        case("choices", [places(), ways(), moments(), data()].concat()),
        case("replay", vec![replay(Vec::new())]),
    ];
    Plan {
        passes: 3,
        discard: 1,
        aggregate: Aggregate::Median,
        order: Order::Interleaved,
        pause: Nanos::from_secs(5),
        pause_before: PauseBefore::Case,
        ..Plan::once("golden", "Every field and every choice.", cases)
    }
}

/// With BLESS=1, the golden file of a new number is written. One that is there never changes.
#[test]
fn the_json_of_a_plan_changes_only_with_its_number() {
    let name = format!("golden/plan{PLAN_FORMAT}.json");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let written = serde_json::to_string(&plan())
        .expect("JSON")
        .replace("{\"name\"", "\n{\"name\"");
    if std::env::var("BLESS").is_ok_and(|value| value == "1") && !file.exists() {
        fs::write(&file, &written).expect("written");
    }
    let golden = fs::read_to_string(&file).expect("BLESS=1 writes it for a new number");
    assert!(golden == written, "a plan is written otherwise");
    let read: Plan = serde_json::from_str(&golden).expect("a plan");
    assert_eq!(read, plan());
}

/// What was kept under a former number can be repeated.
#[test]
fn plans_of_former_numbers_are_read() {
    for number in 1..PLAN_FORMAT {
        let file = format!("{}/golden/plan{number}.json", env!("CARGO_MANIFEST_DIR"));
        let text = fs::read_to_string(&file).expect(&file);
        let read: Plan = serde_json::from_str(&text).expect(&file);
        assert_eq!(read.name, "golden");
    }
}

/// The operations of a trace would make a Record many times as large as the trace.
#[test]
fn the_operations_of_a_trace_stand_in_its_file_alone() {
    let operation = Replayed::new(Nanos(1), Direction::Read, 0, 4096);
    let job = replay(vec![operation]);
    let value = serde_json::to_value(&job).expect("JSON");
    let again: Job = serde_json::from_value(value).expect("a job");
    assert_eq!(again, replay(Vec::new()));
    assert!(again.check().is_err(), "without operations nothing can run");
}

/// Storage definitions that share a limit end together, and one with a limit of its own does not.
#[test]
fn errors_that_were_counted_together_still_are() {
    let job = |counter| {
        let mut job = Job::new("a");
        job.pool = Some(pool(counter));
        job
    };
    let jobs = || vec![job(0), job(0), job(1)];
    let plan = Plan::once("a", "", vec![case("a", jobs()), case("b", jobs())]);
    let text = serde_json::to_string(&plan).expect("JSON");
    let plan: Plan = serde_json::from_str(&text).expect("a plan");
    let limit = |case: usize, job: usize| {
        let job: &Job = &plan.cases[case].workload.jobs[job];
        let pool = job.pool.as_ref().expect("a pool");
        pool.most_errors.clone().expect("a limit")
    };
    assert!(!limit(0, 0).count(49));
    assert!(!limit(0, 2).count(49));
    assert!(limit(1, 1).count(1), "50 of the first counter");
}

#[test]
fn a_field_that_nobody_knows_is_refused() {
    let mut value = serde_json::to_value(plan()).expect("JSON");
    value["cases"][0]["workload"]["jobs"][0]["depht"] = 32.into();
    let error = serde_json::from_value::<Plan>(value).expect_err("a stranger");
    assert!(error.to_string().contains("depht"), "{error}");
}
