//! Plans against the facts, reports against the texts that people paste.

use blocklab_record::Record;
use blocklab_units::{Bytes, Nanos};

use super::figures::rows;
use super::*;

#[path = "../../record/tests/sample/mod.rs"]
mod sample;
use sample::{measurement, record_of};

fn choices(version: Version) -> Choices {
    Choices {
        version,
        profile: Profile::Default,
        size: Bytes::GIB,
        loops: None,
        measure: None,
        interval: None,
        mix: None,
        read_only: false,
        zero_fill: false,
        average: false,
        seed: 1,
    }
}

#[track_caller]
fn check_cases(choices: &Choices, expected: &str) {
    let plan = prepare(choices).expect("sound choices").plan;
    let case = |case: &Case| {
        let job = &case.workload.jobs[0];
        let kind = match job.pattern {
            Pattern::Sequential => "seq",
            _ => "rnd",
        };
        format!(
            "{kind} {} {}x{} {}r",
            job.sizes.largest(),
            job.threads,
            job.depth,
            job.mix.read
        )
    };
    let cases: Vec<String> = plan.cases.iter().map(case).collect();
    assert_eq!(cases.join(", "), expected);
}

#[test]
fn all_reads_come_first_then_all_writes_then_the_mixes() {
    check_cases(
        &choices(Version::V9),
        "seq 1 MiB 1x8 100r, seq 1 MiB 1x1 100r, rnd 4 KiB 1x32 100r, rnd 4 KiB 1x1 100r, \
         seq 1 MiB 1x8 0r, seq 1 MiB 1x1 0r, rnd 4 KiB 1x32 0r, rnd 4 KiB 1x1 0r",
    );
    let nvme = Choices {
        profile: Profile::Nvme,
        mix: Some(70),
        ..choices(Version::V8)
    };
    check_cases(
        &nvme,
        "seq 1 MiB 1x8 100r, seq 128 KiB 1x32 100r, rnd 4 KiB 16x32 100r, rnd 4 KiB 1x1 100r, \
         seq 1 MiB 1x8 0r, seq 128 KiB 1x32 0r, rnd 4 KiB 16x32 0r, rnd 4 KiB 1x1 0r, \
         seq 1 MiB 1x8 70r, seq 128 KiB 1x32 70r, rnd 4 KiB 16x32 70r, rnd 4 KiB 1x1 70r",
    );
}

#[test]
fn old_versions_have_tests_of_their_own() {
    let reads = |version| Choices {
        read_only: true,
        ..choices(version)
    };
    check_cases(
        &reads(Version::V5),
        "seq 128 KiB 1x32 100r, rnd 4 KiB 1x32 100r, seq 1 MiB 1x1 100r, rnd 4 KiB 1x1 100r",
    );
    check_cases(
        &reads(Version::V6),
        "seq 128 KiB 1x32 100r, rnd 4 KiB 8x8 100r, rnd 4 KiB 1x32 100r, rnd 4 KiB 1x1 100r",
    );
}

#[test]
fn a_pass_is_thrown_away_and_the_interval_stands_between_tests() {
    let plan = prepare(&choices(Version::V9)).unwrap().plan;
    assert_eq!((plan.discard, plan.passes), (1, 3));
    assert_eq!(plan.pause, Nanos::from_secs(5));
    assert_eq!(plan.pause_before, PauseBefore::Case);
    let first: Vec<_> = plan.steps().take(5).collect();
    assert_eq!(first, [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0)]);
    assert_eq!(prepare(&choices(Version::V8)).unwrap().plan.passes, 5);
    let kdiskmark = Choices {
        average: true,
        ..choices(Version::V8)
    };
    let plan = prepare(&kdiskmark).unwrap().plan;
    assert_eq!((plan.discard, plan.aggregate), (0, Aggregate::Mean));
    let flash = Choices {
        profile: Profile::Flash,
        ..choices(Version::V9)
    };
    let settings = prepare(&flash).unwrap().settings;
    assert_eq!(
        (settings.measure, settings.interval),
        (Nanos::from_secs(1), Nanos::from_secs(30))
    );
}

#[track_caller]
fn refused(version: Version, words: &str, change: impl FnOnce(&mut Choices)) {
    let mut choices = choices(version);
    change(&mut choices);
    let mistake = prepare(&choices).expect_err("a mistake").to_string();
    assert!(mistake.contains(words), "{mistake}");
}

#[test]
fn what_the_original_does_not_have_is_noted() {
    let no_profiles = "6.0.2 has no profiles, only its four tests; --cdm-version 8 or 9";
    refused(Version::V6, no_profiles, |choices| {
        choices.profile = Profile::Nvme
    });
    refused(Version::V5, "5.1.2 has no mixed tests", |choices| {
        choices.mix = Some(70)
    });
    refused(Version::V9, "1 to 99 per cent", |choices| {
        choices.mix = Some(100)
    });
    // The share of writes was computed before the check, below zero.
    refused(Version::V9, "1 to 99 per cent", |choices| {
        choices.mix = Some(101)
    });
    for size in [15 << 20, (65 << 30) + 1] {
        refused(Version::V9, "16 MiB to 64 GiB", |choices| {
            choices.size = Bytes(size)
        });
    }
    // Rounded, the size was called `16.0 MiB`, which is allowed.
    let odd = "in whole MiB, and 16777728 B is not";
    refused(Version::V9, odd, |choices| {
        choices.size = Bytes((16 << 20) + 512)
    });
    refused(Version::V9, "1 to 1000", |choices| choices.loops = Some(0));
    refused(Version::V9, "above 0", |choices| {
        choices.measure = Some(Nanos::ZERO)
    });
}

/// The discarded pass is by far the best; of the others the second is the fastest, and the first
/// has the lowest latency.
fn record(prepared: &Prepared) -> Record {
    let passes = |case: &Case| {
        let pass = |number: u32, ios, ns| measurement(case, number, ios, ns);
        [
            pass(0, 90_000, 1.0),
            pass(1, 1000, 52_300.0),
            pass(2, 4000, 61_250.0),
            pass(3, 2000, 70_000.0),
        ]
    };
    record_of(prepared.plan.cases.iter().flat_map(passes).collect())
}

#[track_caller]
fn check_report(choices: &Choices, expected: &str) {
    let prepared = prepare(choices).unwrap();
    let facts = RunFacts {
        admin: true,
        arch: "x86_64".to_owned(),
        comment: None,
    };
    let text = report(&record(&prepared), &prepared.settings, &facts);
    assert!(text == expected, "{text}");
}

#[test]
fn the_report_of_version_9() {
    let choices = Choices {
        mix: Some(70),
        ..choices(Version::V9)
    };
    check_report(&choices, include_str!("golden/v9.txt"));
}

#[test]
fn the_reports_of_versions_8_6_and_5() {
    check_report(&choices(Version::V8), include_str!("golden/v8.txt"));
    check_report(&choices(Version::V6), include_str!("golden/v6.txt"));
    check_report(&choices(Version::V5), include_str!("golden/v5.txt"));
}

/// The story: `--comment` was printed by the layouts of versions 8 and 9, and dropped in silence by
/// those of 5 and 6, which have a line for it.
#[test]
fn a_comment_is_the_last_line_of_every_layout() {
    for (version, last) in [
        (Version::V5, "\n  my disk\n"),
        (Version::V6, "\n  my disk\n"),
        (Version::V8, "\nComment: my disk\n"),
        (Version::V9, "\nComment: my disk\n"),
    ] {
        let prepared = prepare(&choices(version)).unwrap();
        let facts = RunFacts {
            comment: Some("my\ndisk".to_owned()),
            ..RunFacts::default()
        };
        let text = report(&record(&prepared), &prepared.settings, &facts);
        assert!(text.ends_with(last), "{text}");
    }
}

#[test]
fn speed_and_latency_are_the_best_of_different_passes() {
    let prepared = prepare(&choices(Version::V9)).unwrap();
    let rows = rows(&record(&prepared), &prepared.settings);
    let shown = rows[2].shown.unwrap();
    assert_eq!((shown.mb_per_s, shown.latency_us), (16.384, 52.3));
    assert_eq!(rows[2].iops(), 4000.0);
    assert_eq!(
        rows[2].passes.len(),
        3,
        "the discarded pass is not among them"
    );
}

#[test]
fn kdiskmark_takes_the_mean() {
    let mean = Choices {
        average: true,
        ..choices(Version::V8)
    };
    let prepared = prepare(&mean).unwrap();
    let rows = rows(&record(&prepared), &prepared.settings);
    let shown = rows[2].shown.unwrap();
    assert!((rows[2].iops() - 7000.0 / 3.0).abs() < 1e-9);
    assert!((shown.latency_us - 61.183).abs() < 0.001);
}

#[test]
fn what_the_best_of_hides_is_shown() {
    let prepared = prepare(&Choices {
        read_only: true,
        ..choices(Version::V9)
    })
    .unwrap();
    let text = all_passes(&record(&prepared), &prepared.settings);
    assert_eq!(text, include_str!("golden/all_passes.txt"), "{text}");
}

#[test]
fn an_interrupted_run_shows_zeros_as_the_original() {
    let prepared = prepare(&choices(Version::V9)).unwrap();
    let mut record = record(&prepared);
    record.measurements.truncate(1);
    let text = report(&record, &prepared.settings, &RunFacts::default());
    assert!(
        text.contains(
            "  SEQ    1MiB (Q=  8, T= 1):     0.000 MB/s [      0.0 IOPS] <     0.00 us>"
        )
    );
    assert!(all_passes(&record, &prepared.settings).contains("none"));
    let json: serde_json::Value = serde_json::from_str(&json(&record, &prepared.settings)).unwrap();
    assert!(json["rows"][0]["mb_per_s"].is_null());
}
