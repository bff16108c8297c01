//! A plan written as text is the same plan again, whatever it holds.

mod ending;
mod finer;
mod job;
mod values;

use blocklab_native::{left_out, parse, render};
use blocklab_units::Bytes;
use blocklab_workload::{
    Aggregate, Case, Checksum, Content, Job, Order, PauseBefore, Plan, Pooled, Runs, Verify, When,
    Workload,
};
use proptest::collection::vec;
use proptest::prelude::*;

use job::any_job;
use values::{name, time};

/// Names that are unique in their list.
fn number_names<'n>(names: impl Iterator<Item = &'n mut String>) {
    for (index, name) in names.enumerate() {
        name.push_str(&format!("-{index}"));
    }
}

prop_compose! {
    fn case()(
        name in name(),
        settings in vec((any::<String>(), any::<String>()), 0..3),
        seed in prop_oneof![Just(7_u64), any::<u64>()],
        mut jobs in vec(any_job(), 1..3),
        bears_name in any::<bool>(),
    ) -> Case {
        number_names(jobs.iter_mut().map(|job| &mut job.name));
        if bears_name {
            jobs[0].name = name.clone();
        }
        Case { name, settings, workload: Workload { seed, jobs } }
    }
}

prop_compose! {
    fn plan()(
        name in name(),
        description in any::<String>(),
        mut cases in vec(case(), 1..4),
        same_seed in any::<bool>(),
        passes in 1..=100_000_u32,
        discard in 0..=1000_u32,
        by_case in any::<bool>(),
        aggregate in 0..3_usize,
        grouped in any::<bool>(),
        pause in time(),
    ) -> Plan {
        number_names(cases.iter_mut().map(|case| &mut case.name));
        for case in cases.iter_mut().filter(|_| same_seed) {
            case.workload.seed = 7;
        }
        Plan {
            name,
            description,
            cases,
            passes,
            discard,
            aggregate: [Aggregate::Mean, Aggregate::Median, Aggregate::Best][aggregate],
            order: if grouped { Order::Grouped } else { Order::Interleaved },
            pause,
            pause_before: if by_case { PauseBefore::Case } else { PauseBefore::Measurement },
            system: None,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_rendered_parses_to_the_same(plan in plan()) {
        let text = render(&plan);
        let parsed = parse(&text, "rendered.toml");
        let parsed = parsed.map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(&parsed.plan, &plan, "{}", text);
        prop_assert!(parsed.seed_given);
        prop_assert!(parsed.notes.is_empty());
        prop_assert!(left_out(&plan).is_empty());
    }
}

/// What other languages brought stood in keys that nobody wrote by hand. It has none now; a text
/// without a word on it would look like the same load.
#[test]
fn what_has_no_key_is_named() {
    let check = |edit: fn(&mut Job), expected: &str| {
        let mut job = Job::new("a");
        edit(&mut job);
        let workload = Workload {
            seed: 1,
            jobs: vec![job],
        };
        let case = Case {
            name: "case".to_owned(),
            settings: Vec::new(),
            workload,
        };
        let plan = Plan::once("plan", "", vec![case]);
        assert_eq!(left_out(&plan), [("a".to_owned(), expected.to_owned())]);
        let text = render(&plan);
        assert!(text.contains(&format!("#   a: {expected}\n")), "{text}");
        parse(&text, "a text that leaves something out").expect("is a study still");
    };
    check(
        |job| job.runs = Some(Runs::default()),
        "several operations for each offset (fio: rw_sequencer)",
    );
    check(
        |job| job.content = Content::Window { size: Bytes(4096) },
        "parts of one buffer as content (DiskSpd: -Z)",
    );
    check(
        |job| job.pool = Some(Pooled::new("one", 8)),
        "operations in flight that jobs share (Vdbench: threads)",
    );
    check(
        |job| {
            job.verify = Some(Verify {
                when: When::OnlyPlaces,
                ..Verify::new(Checksum::Crc32c)
            });
        },
        "reading back what any job wrote (fio: verify_only)",
    );
}

/// Jobs of one name in two cases, each with two settings without a key: the list repeated itself for each
/// case, since only neighbours were compared.
#[test]
fn what_several_cases_lack_is_named_once() {
    let mut job = Job::new("a");
    job.content = Content::Window { size: Bytes(4096) };
    job.pool = Some(Pooled::new("one", 8));
    let cases = ["first", "second"].map(|name| Case::new(name, 1, vec![job.clone()]));
    let left_out = left_out(&Plan::once("plan", "", cases.to_vec()));
    assert_eq!(left_out.len(), 2, "{left_out:?}");
}
