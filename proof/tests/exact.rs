//! "Exact" is a claim: a row of a table has the word only where a case shows it. How the cases of fio
//! compare is in `fio_differential.rs`; what the other tools were seen to do is in tests.

use std::collections::BTreeSet;

use blocklab_proof::shown;

/// The rows of a page that have a cell which says `exact`: the words of their heading, where the
/// page has several tables, and their name.
fn exact(page: &str) -> BTreeSet<String> {
    let mut heading = "";
    let mut rows = BTreeSet::new();
    for line in page.lines() {
        heading = line.strip_prefix("## ").unwrap_or(heading);
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        // The table that counts the levels has the word in its heading, and no names.
        if cells.contains(&"exact")
            && let Some(name) = cells[1].split('`').nth(1)
        {
            let row = format!("{} {name}", heading.to_lowercase());
            rows.insert(row.trim().to_owned());
        }
    }
    rows
}

#[track_caller]
fn check(tool: &str, page: &str) {
    let cases = shown::cases(tool);
    let named: BTreeSet<String> = cases.keys().cloned().collect();
    assert_eq!(
        exact(page),
        named,
        "{tool}: rows called exact, and those with cases"
    );
    for (row, cases) in &cases {
        assert!(!cases.is_empty(), "{row} has no case");
        let option = row.split(' ').next_back().expect("a name");
        for case in cases {
            let body = shown::body(case).unwrap_or_else(|why| panic!("{row}: {why}"));
            assert!(body.contains("assert"), "{case} compares nothing");
            assert!(body.contains(option), "{case} does not mention {option}");
        }
    }
}

/// DiskSpd and Vdbench do not run here. Their rows were called exact because our own tests of our
/// own reading of the manuals passed.
#[test]
fn rows_of_tools_that_do_not_run_here_are_exact_where_a_test_holds_what_they_did() {
    check("diskspd", &blocklab_diskspd::reference());
    check("vdbench", &blocklab_vdbench::reference());
}

/// A gate that lets everything pass is none.
#[test]
fn a_row_without_a_case_is_seen() {
    let page =
        "## Run\n| `a` | what | exact | |\n| `b` | what | near | exact |\n| `c` | so | ours |\n";
    let expected = BTreeSet::from(["run a".to_owned(), "run b".to_owned()]);
    assert_eq!(exact(page), expected);
    assert!(shown::body("proof/tests/exact.rs::no_such_test").is_err());
    assert!(shown::body("proof/tests/no_such_file.rs::a").is_err());
    let own = shown::body("proof/tests/exact.rs::a_row_without_a_case_is_seen");
    assert!(own.is_ok_and(|body| body.contains("no_such_test")));
}
