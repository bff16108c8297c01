//! What a study means.

use blocklab_native::studies;
use blocklab_native::{EXAMPLE, Overrides, Parsed, apply, parse, render};
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{
    Access, Aggregate, Batch, BlockSizes, CallFlags, Content, Durability, Engine, ErrorPolicy,
    Flush, Job, Limit, Mix, Order, Pace, Pattern, Plan, Rate, Region, SizeMix, Spread, Steady,
    SteadyVariable, Stop, TargetOrder, Think, UringOptions, Zone,
};

#[track_caller]
fn study(text: &str) -> Parsed {
    parse(text, "study.toml").unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn only_job(keys: &str) -> Job {
    let parsed = study(&format!("[[case]]\nname = \"x\"\n{keys}\n"));
    assert_eq!(parsed.notes, []);
    parsed.plan.cases[0].workload.jobs[0].clone()
}

/// These keys make this of a plain job.
#[track_caller]
fn check(keys: &str, change: impl FnOnce(&mut Job)) {
    let mut expected = Job::new("x");
    change(&mut expected);
    assert_eq!(only_job(keys), expected, "{keys}");
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.cases.iter().map(|case| case.name.as_str()).collect()
}

/// Studies and records with the former names of keys are out there.
#[test]
fn former_names_of_keys_are_read() {
    for (former, now, value) in [
        ("positions_apart", "per_direction_position", "true"),
        ("forget_every", "drop_cache_every", "\"1GiB\""),
        ("until_full", "stop_on_enospc", "true"),
        ("least_iops", "min_iops", "{ read = 1000 }"),
        ("least_bytes", "min_bytes", "{ write = \"50MiB\" }"),
    ] {
        let job = |key: &str| only_job(&format!("{key} = {value}"));
        assert_ne!(job(now), Job::new("x"), "{now}");
        assert_eq!(job(former), job(now), "{former}");
    }
    let lifetime = |word: &str| only_job(&format!("lifetime = \"{word}\""));
    assert_eq!(lifetime("unsaid"), lifetime("not-set"));
    assert_ne!(lifetime("not-set"), lifetime("none"));
}

#[test]
fn a_job_without_keys_is_a_plain_job() {
    check("", |_| ());
}

#[test]
fn what_it_goes_to() {
    check("targets = [\"/a\", \"/b\"]", |job| {
        job.targets = vec!["/a".into(), "/b".into()];
    });
    check("targets = \"/a\"", |job| job.targets = vec!["/a".into()]);
    check("target_order = \"per-thread\"", |job| {
        job.target_order = TargetOrder::PerThread;
    });
    check(
        "offset = 4096\nsize = \"1GiB\"\nspread = \"sliced\"",
        |job| {
            job.region = Region {
                offset: Bytes(4096),
                size: Some(Bytes::GIB),
                spread: Spread::Sliced,
            };
        },
    );
    check("offset_increment = \"1MiB\"", |job| {
        job.region.spread = Spread::Increment(Bytes::MIB);
    });
}

#[test]
fn which_road_it_takes() {
    check("engine = \"psync\"", |job| job.engine = Engine::Psync);
    check("sqpoll = true\nfixed_files = false", |job| {
        job.engine = Engine::IoUring(UringOptions {
            sqpoll: true,
            fixed_files: false,
            ..UringOptions::default()
        });
    });
    check("nowait = true\nengine = \"pvsync2\"", |job| {
        job.engine = Engine::Pvsync2(CallFlags {
            nowait: true,
            ..CallFlags::default()
        });
    });
    check("access = \"direct\"\ndurability = \"dsync\"", |job| {
        job.access = Access::Direct;
        job.durability = Durability::Dsync;
    });
    check(
        "threads = 4\ndepth = 32\nbatch_submit = 8\nbatch_complete = 2",
        |job| {
            job.threads = 4;
            job.depth = 32;
            job.batch = Batch {
                submit: 8,
                complete: 2,
                ..Batch::default()
            };
        },
    );
    check("cpus = \"0-2,7\"", |job| job.pin = vec![0, 1, 2, 7]);
    check("cpus = [5, 1]", |job| job.pin = vec![5, 1]);
    check("submit_latency = true", |job| job.submit_latency = true);
}

#[test]
fn where_operations_go() {
    for (keys, pattern) in [
        ("pattern = \"sequential\"", Pattern::Sequential),
        ("pattern = \"random-once\"", Pattern::RANDOM_ONCE),
        (
            "pattern = \"strided\"\nstride = \"64k\"",
            Pattern::Strided {
                stride: Bytes(65536),
            },
        ),
        (
            "pattern = \"percent-random\"\npercent_random = 30",
            Pattern::PercentRandom(30),
        ),
        (
            "pattern = \"zipf\"\ntheta = 1.2",
            Pattern::Zipf { theta: 1.2 },
        ),
        ("pattern = \"pareto\"\nh = 0.8", Pattern::Pareto { h: 0.8 }),
        (
            "pattern = \"normal\"\ndeviation = 15",
            Pattern::Normal {
                deviation_percent: 15.0,
            },
        ),
        (
            "pattern = \"zones\"\nzones = [[80, 20], [20, 80]]",
            Pattern::Zones(vec![
                Zone {
                    access_percent: 80.0,
                    space_percent: 20.0,
                },
                Zone {
                    access_percent: 20.0,
                    space_percent: 80.0,
                },
            ]),
        ),
    ] {
        check(keys, |job| job.pattern = pattern);
    }
}

#[test]
fn what_operations_do_and_how_big_they_are() {
    let seventy = Mix::reads(70);
    check("mix = \"trim\"", |job| job.mix = Mix::TRIM);
    check("mix = { read = 70, write = 30 }", |job| job.mix = seventy);
    check("read_percent = 70", |job| job.mix = seventy);
    check("block_size = \"64KiB\"", |job| {
        job.sizes = BlockSizes::fixed(Bytes(65536));
    });
    let weighted = SizeMix(vec![(Bytes(4096), 60), (Bytes(65536), 40)]);
    check("block_size = [[\"4KiB\", 60], [\"64KiB\", 40]]", |job| {
        job.sizes = BlockSizes {
            read: weighted.clone(),
            write: weighted.clone(),
            trim: weighted.clone(),
        };
    });
    check(
        "block_size = { read = [[\"4KiB\", 60], [\"64KiB\", 40]], write = \"8KiB\" }",
        |job| {
            job.sizes = BlockSizes {
                read: weighted.clone(),
                ..BlockSizes::fixed(Bytes(8192))
            };
        },
    );
    check("content = \"fresh\"", |job| job.content = Content::Fresh);
    check("content = { compress = 50 }", |job| {
        job.content = Content::Shaped {
            compress_percent: 50,
            dedupe_percent: 0,
        };
    });
}

#[test]
fn how_fast_it_goes() {
    for (keys, pace) in [
        ("rate_iops = 3000", Pace::Capped(Rate::Iops(3000.0))),
        ("rate_bytes = \"100MB\"", Pace::Capped(Rate::Bytes(1e8))),
        (
            "rate_bytes = \"64KiB/s\"",
            Pace::Capped(Rate::Bytes(65536.0)),
        ),
        (
            "arrivals = \"fixed\"\nrate_iops = 0.5",
            Pace::OpenFixed(Rate::Iops(0.5)),
        ),
        (
            "rate_bytes = 1000000\narrivals = \"poisson\"",
            Pace::OpenPoisson(Rate::Bytes(1e6)),
        ),
    ] {
        check(keys, |job| job.pace = pace);
    }
    check("think = \"10ms\"\nthink_every = 8", |job| {
        job.think = Some(Think {
            pause: Nanos::from_millis(10),
            every: 8,
        });
    });
}

#[test]
fn when_it_ends() {
    check("runtime = \"2s\"\nramp = 1.5", |job| {
        job.stop.runtime = Some(Nanos::from_secs(2));
        job.ramp = Nanos::from_millis(1500);
    });
    // A job that ends by itself is not cut off by a default.
    check("loops = 2", |job| {
        job.stop = Stop {
            loops: Some(2),
            ..Stop {
                runtime: None,
                ..job.stop
            }
        };
    });
    check("stop_bytes = \"1GiB\"\nruntime = \"1h\"", |job| {
        job.stop.bytes = Some(Bytes::GIB);
        job.stop.runtime = Some(Nanos::from_secs(3600));
    });
    check(
        "steady = \"slope\"\nsteady_variable = \"latency\"\nsteady_round = \"5s\"\n\
         steady_rounds = 7\nsteady_limit_percent = 2.5\nruntime = \"1h\"",
        |job| {
            job.stop.runtime = Some(Nanos::from_secs(3600));
            job.stop.steady = Some(Steady::Slope {
                variable: SteadyVariable::Latency,
                round: Nanos::from_secs(5),
                rounds: 7,
                limit: Limit::Percent(2.5),
            });
        },
    );
}

#[test]
fn flushes_and_failures() {
    check(
        "fsync_every = 4\nfdatasync_every = 2\nfsync_at_end = true\non_error = \"continue\"",
        |job| {
            job.flush = Flush {
                fsync_every: 4,
                fdatasync_every: 2,
                at_end: true,
                ..Flush::default()
            };
            job.on_error = ErrorPolicy::Continue;
        },
    );
}

/// The story: a fio job that flushes after some writes and also reads was not converted, for want of a
/// key.
#[test]
fn flushes_have_all_that_fio_has() {
    check(
        "fsync_every = 8\nflush_after_reads = true\nsync_range_every = 4\n\
         sync_range = [\"wait-before\", \"write\"]",
        |job| {
            job.flush = Flush {
                fsync_every: 8,
                after_reads: true,
                range_every: 4,
                range_flags: 3,
                ..Flush::default()
            };
        },
    );
    check("sync_range_every = 4", |job| {
        job.flush.range_every = 4;
        job.flush.range_flags = 2;
    });
}

#[test]
fn the_study_has_keys_of_its_own() {
    let Parsed {
        plan, seed_given, ..
    } = study(
        "name = \"n\"\ndescription = \"d\"\nseed = 42\npasses = 5\naggregate = \"best\"\n\
         order = \"grouped\"\npause = \"1s\"\n[[case]]\nname = \"a\"\n[[case]]\nname = \"b\"\nseed = 7\n",
    );
    assert_eq!((plan.name.as_str(), plan.description.as_str()), ("n", "d"));
    assert_eq!((plan.passes, plan.aggregate), (5, Aggregate::Best));
    assert_eq!(
        (plan.order, plan.pause),
        (Order::Grouped, Nanos::from_secs(1))
    );
    let seeds: Vec<u64> = plan.cases.iter().map(|case| case.workload.seed).collect();
    assert_eq!(seeds, [42, 7]);
    assert!(seed_given);
}

#[test]
fn a_study_without_a_name_is_called_after_its_file() {
    let parsed = parse("[[case]]\nname = \"a\"\n", "/tmp/deep.toml").unwrap();
    assert_eq!(parsed.plan.name, "deep");
    assert!(!parsed.seed_given);
    assert_eq!(parsed.plan.cases[0].workload.seed, 0);
}

#[test]
fn the_most_specific_place_counts() {
    let parsed = study(
        "[defaults]\ndepth = 4\nrate_iops = 100\nstride = \"1MiB\"\n\
         [[case]]\nname = \"a\"\npattern = \"strided\"\nrate_bytes = \"1MB\"\n\
         [[case]]\nname = \"b\"\ndepth = 8\nrate_iops = \"none\"\n\
         [[case]]\nname = \"c\"\ndepth = 16\n[[case.job]]\nname = \"j\"\n\
         [[case.job]]\nname = \"k\"\ndepth = 32\n",
    );
    let jobs = |case: usize| &parsed.plan.cases[case].workload.jobs;
    assert_eq!(jobs(0)[0].depth, 4);
    assert_eq!(jobs(0)[0].pace, Pace::Capped(Rate::Bytes(1e6)));
    assert_eq!(jobs(0)[0].pattern, Pattern::Strided { stride: Bytes::MIB });
    assert_eq!((jobs(1)[0].depth, jobs(1)[0].pace), (8, Pace::Closed));
    let several: Vec<_> = jobs(2)
        .iter()
        .map(|job| (job.name.as_str(), job.depth))
        .collect();
    assert_eq!(several, [("j", 16), ("k", 32)]);
    assert_eq!(jobs(2)[0].pace, Pace::Capped(Rate::Iops(100.0)));
}

/// The story: a limit of the defaults in operations replaced one of the case in per cent, because the
/// two keys were not known to set the same thing.
#[test]
fn the_limit_of_a_case_counts_before_that_of_the_defaults() {
    let text = "[defaults]\nsteady = \"slope\"\nruntime = \"1h\"\nsteady_limit = 500.0\n\
                [[case]]\nname = \"x\"\nsteady_limit_percent = 2.5\n";
    let job = &study(text).plan.cases[0].workload.jobs[0];
    let Some(Steady::Slope { limit, .. }) = job.stop.steady else {
        panic!("{:?}", job.stop.steady);
    };
    assert_eq!(limit, Limit::Percent(2.5));
}

#[test]
fn a_default_that_no_job_takes_is_noted() {
    let parsed = study("[defaults]\ndepth = 4\n[[case]]\nname = \"a\"\ndepth = 8\n");
    let [note] = &parsed.notes[..] else {
        panic!("one note, not {:?}", parsed.notes)
    };
    assert_eq!(note.subject, "depth");
    assert!(note.text.contains("line 2"), "{}", note.text);
}

#[test]
fn a_sweep_makes_every_combination() {
    let parsed = study(
        "[[case]]\nname = \"a\"\n[[case]]\nname = \"b\"\n[case.matrix]\nengine = [\"psync\"]\n\
         [matrix]\ndepth = [1, 4]\nblock_size = [\"4KiB\", \"64KiB\"]\n",
    );
    assert_eq!(
        names(&parsed.plan),
        [
            "a-depth1-block_size4KiB",
            "a-depth1-block_size64KiB",
            "a-depth4-block_size4KiB",
            "a-depth4-block_size64KiB",
            "b-depth1-block_size4KiB-engine-psync",
            "b-depth1-block_size64KiB-engine-psync",
            "b-depth4-block_size4KiB-engine-psync",
            "b-depth4-block_size64KiB-engine-psync",
        ]
    );
    let last = &parsed.plan.cases[7];
    let settings: Vec<_> = last
        .settings
        .iter()
        .map(|(axis, value)| (axis.as_str(), value.as_str()))
        .collect();
    assert_eq!(
        settings,
        [("depth", "4"), ("block_size", "64KiB"), ("engine", "psync")]
    );
    assert_eq!(last.workload.jobs[0].depth, 4);
    assert_eq!(last.workload.jobs[0].engine, Engine::Psync);
}

/// The story: only the values of a sweep were counted, so that a few lines made more cases than are
/// allowed, each of them with a hundred shares of its rate.
#[test]
fn shares_of_the_full_rate_count_as_cases() {
    let numbers: Vec<String> = (1..=100).map(|number: u32| number.to_string()).collect();
    let list = numbers.join(", ");
    let text =
        format!("[matrix]\ndepth = [{list}]\n[[case]]\nname = \"x\"\nrate_percent = [{list}]\n");
    let told = parse(&text, "study.toml").expect_err("too many cases");
    assert!(
        told.to_string().contains("makes at least 10100 cases"),
        "{told}"
    );
}

/// The story: a job with the name of its case got that of the share, which another job had.
#[test]
fn jobs_of_a_share_keep_their_names() {
    let case = "[[case]]\nname = \"a\"\nrate_percent = [50]\n";
    let jobs = "[[case.job]]\nname = \"a\"\n[[case.job]]\nname = \"a-rate_percent50\"\n";
    let plan = study(&format!("{case}{jobs}")).plan;
    for case in &plan.cases {
        let jobs: Vec<&str> = case.workload.jobs.iter().map(|job| &*job.name).collect();
        assert_eq!(jobs, ["a", "a-rate_percent50"], "{}", case.name);
    }
}

#[test]
fn one_of_several_jobs_may_stand_aside_from_a_sweep() {
    let parsed = study(
        "[matrix]\ndepth = [1, 4]\n[[case]]\nname = \"a\"\n[[case.job]]\nname = \"swept\"\n\
         [[case.job]]\nname = \"fixed\"\ndepth = 2\n",
    );
    let depths = parsed.plan.cases.iter().map(|case| {
        let jobs = &case.workload.jobs;
        (jobs[0].depth, jobs[1].depth)
    });
    assert_eq!(depths.collect::<Vec<_>>(), [(1, 2), (4, 2)]);
}

#[test]
fn the_quick_study_is_what_its_name_says() {
    let parsed = parse(studies::builtin("quick").unwrap(), "quick").unwrap();
    assert_eq!(parsed.notes, []);
    let plan = &parsed.plan;
    assert_eq!(
        names(plan),
        [
            "seq1m-q8-read",
            "seq1m-q8-write",
            "seq128k-q32-read",
            "seq128k-q32-write",
            "rand4k-q32-read",
            "rand4k-q32-write",
            "rand4k-q1-read",
            "rand4k-q1-write",
        ]
    );
    assert_eq!((plan.passes, plan.aggregate), (5, Aggregate::Median));
    let jobs = plan.jobs();
    let once: u64 = jobs
        .map(|job| job.stop.runtime.unwrap().0 + job.ramp.0)
        .sum();
    let all = Nanos(once * u64::from(plan.passes));
    assert!(all < Nanos::from_secs(66), "about a minute: {all}");
}

#[test]
fn built_in_studies_are_found_by_name() {
    assert!(studies::builtin("nonesuch").is_none());
    for name in studies::builtin_names() {
        let text = studies::builtin(name).unwrap();
        let parsed = parse(text, name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(parsed.plan.name, name);
    }
}

#[test]
fn the_command_line_has_the_last_word() {
    let mut plan = study(EXAMPLE).plan;
    let notes = apply(
        &mut plan,
        &Overrides {
            runtime: Some(Nanos::from_secs(1)),
            ramp: Some(Nanos::from_secs(2)),
            passes: Some(9),
            seed: Some(5),
            size: Some(Bytes::MIB),
            read_only: true,
        },
    );
    assert_eq!(plan.passes, 9);
    assert!(!plan.writes());
    assert_eq!(plan.cases.len(), 6);
    let left_out: Vec<&str> = notes.iter().map(|note| note.subject.as_str()).collect();
    assert_eq!(left_out, ["database", "readers-and-a-log"]);
    for case in &plan.cases {
        let job = &case.workload.jobs[0];
        assert_eq!(case.workload.seed, 5);
        assert_eq!(job.stop.runtime, Some(Nanos::from_secs(1)));
        assert_eq!(job.ramp, Nanos::from_secs(2));
        assert_eq!(job.region.size, Some(Bytes::MIB));
    }
}

#[test]
fn nothing_said_changes_nothing() {
    let plan = study(EXAMPLE).plan;
    let mut same = plan.clone();
    assert_eq!(apply(&mut same, &Overrides::default()), []);
    assert_eq!(same, plan);
}

#[test]
fn what_is_common_is_written_once() {
    let plan = study(
        "name = \"n\"\nseed = 1\n[[case]]\nname = \"a\"\n[[case]]\nname = \"b\"\ndepth = 8\n",
    );
    let text = render(&plan.plan);
    let cases = &text[text.find("[[case]]").unwrap()..];
    assert_eq!(
        cases,
        "[[case]]\nname = \"a\"\ndepth = 1\n\n[[case]]\nname = \"b\"\ndepth = 8\n"
    );
    assert!(text.contains("\n[defaults]\ntarget_order = "), "{text}");
    assert!(text.contains("\nblock_size = \"4KiB\"\n"), "{text}");
}
