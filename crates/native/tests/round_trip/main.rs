//! A plan written as text is the same plan again, whatever it holds.

mod ending;
mod finer;
mod job;
mod values;

use blocklab_native::{parse, render};
use blocklab_workload::{Aggregate, Case, Order, PauseBefore, Plan, Workload};
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
    }
}
