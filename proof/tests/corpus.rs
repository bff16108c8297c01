//! The diagnosis against runs whose cause is known.

use std::fs;

use blocklab_proof::corpus::{judge, page, scenarios, scores};
use blocklab_proof::root;

/// Of every rule: what the user may rely on.
const BAR: f64 = 0.97;

#[test]
fn every_rule_finds_what_was_built_in_and_nothing_else() {
    let scenarios = scenarios();
    assert!(scenarios.len() >= 400, "{} scenarios", scenarios.len());
    let beyond = scenarios
        .iter()
        .filter(|scenario| scenario.is_beyond())
        .count();
    assert!(beyond * 2 >= scenarios.len(), "{beyond} beyond the catalog");
    let verdicts = judge(&scenarios);
    let page = page(&verdicts);
    println!("{page}");
    for (rule, score) in scores(&verdicts) {
        assert!(
            score.right + score.missed >= 3,
            "{rule}: too few runs with it"
        );
        assert!(
            score.precision() >= BAR && score.recall() >= BAR,
            "{rule}: {score:?}"
        );
        let with_it = || {
            scenarios
                .iter()
                .filter(|scenario| scenario.labels.contains(&rule))
        };
        let beyond = with_it().filter(|with_it| with_it.is_beyond()).count();
        assert!(
            beyond * 2 >= with_it().count(),
            "{rule}: {beyond} of {} beyond the catalog",
            with_it().count()
        );
    }
    let alarms: Vec<_> = verdicts
        .iter()
        .filter(|verdict| verdict.is_false_alarm())
        .collect();
    assert!(alarms.is_empty(), "{alarms:#?}");
    let file = root().join("docs/diagnosis.md");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&file, &page).expect("written");
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        kept == page,
        "docs/diagnosis.md is stale: BLESS=1 rewrites it"
    );
}
