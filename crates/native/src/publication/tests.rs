use blocklab_workload::publication::{Drawn, Figure};

use super::super::{Parsed, parse};

const STUDY: &str = r#"
name = "two"
[[system]]
name = "a"
address = "local@i3.xlarge"
[[system]]
name = "b"
address = "local@i2.xlarge"
because = "for the test"
[defaults]
engine = "psync"
[[case]]
name = "read"
[case.matrix]
threads = [1, 2]
[[case]]
name = "log"
mix = "write"
rate_percent = [50, 120]
[published]
source = "nobody, never"
figures = """
# a remark
system,case,figure,value
a,read-threads1,iops,100
b,,usd_per_hour,1.25
"""
[[table]]
title = "reads"
case = "read"
figure = "iops"
rows = "threads"
columns = "system"
ratio = ["a", "b"]
draw = "lines"
[[table]]
title = "all"
rows = "case"
columns = "figure"
figures = ["iops", "p99.9_us"]
system = "a"
[[curve]]
title = "log"
cases = ["log"]
bound = 1000
[[conclusion]]
text = "a is faster."
checks = [{ systems = "a", over = "b", cases = "read", at = { threads = 2 }, figure = "iops", min = 150 }]
"#;

fn study(text: &str) -> Parsed {
    parse(text, "two.toml").unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn tables_are_settled_down_to_the_cell() {
    let shown = study(STUDY).publication;
    let table = &shown.tables[0];
    assert_eq!(table.rows, ["1", "2"]);
    assert_eq!(table.columns, ["a", "b", "a / b, %"]);
    let cell = table.cells[1][2].as_ref().expect("a cell");
    assert_eq!(cell.case.as_deref(), Some("read-threads2"));
    assert_eq!(cell.over.as_deref(), Some("b"));
    assert_eq!((cell.figure, table.drawn), (Figure::Iops, Drawn::Lines));
    let all = &shown.tables[1];
    let names = [
        "read-threads1",
        "read-threads2",
        "log",
        "log-rate_percent50",
        "log-rate_percent120",
    ];
    assert_eq!(all.rows, names);
    assert_eq!(all.columns, ["IOPS", "p99.9, µs"]);
    assert_eq!(shown.conclusions[0].checks[0].cells.len(), 1);
    assert_eq!(
        shown.published("a", Some("read-threads1"), Figure::Iops),
        Some(100.0)
    );
    assert_eq!(shown.published("b", None, Figure::UsdPerHour), Some(1.25));
}

#[test]
fn a_share_of_the_rate_is_a_case_of_its_own() {
    let parsed = study(STUDY);
    let shares = &parsed.publication.shares;
    assert_eq!(shares.len(), 2);
    assert_eq!((&*shares[1].of, shares[1].percent), ("log", 120.0));
    assert!(
        parsed
            .plan
            .cases
            .iter()
            .any(|case| case.name == shares[1].case)
    );
}

#[track_caller]
fn refused(from: &str, to: &str, words: &[&str]) {
    assert!(STUDY.contains(from));
    let error = parse(&STUDY.replace(from, to), "two.toml").expect_err("a mistake");
    let error = error.to_string();
    assert!(words.iter().all(|word| error.contains(word)), "{error}");
}

#[test]
fn amounts_out_of_bounds_and_empty_lists_are_refused() {
    // A pass without operations, and 8,589,934,590 simulated threads that filled the memory.
    refused(
        "because = \"for the test\"",
        "runtime = \"0s\"",
        &["runtime must be above 0"],
    );
    refused(
        "because = \"for the test\"",
        "devices = 4294967295",
        &["not from 1 to 2048", "threads of every job, 2 here"],
    );
    refused(
        "bound = 1000",
        "x = \"usd_per_hour\"",
        &["a point for each case", "`usd_per_hour`"],
    );
    // Tables and curves without rows or lines were shown as their titles.
    let empty = "this list is empty";
    refused("columns = \"figure\"", "columns = []", &[empty]);
    refused("cases = [\"log\"]", "cases = []", &[empty]);
}

#[test]
fn mistakes_have_a_place_and_a_way_out() {
    refused(
        "ratio = [\"a\", \"b\"]",
        "ratio = [\"a\", \"c\"]",
        &["two.toml:", "no system is called `c`"],
    );
    refused(
        "figure = \"iops\"\nrows",
        "figure = \"ips\"\nrows",
        &["did you mean `iops`"],
    );
    refused(
        "rows = \"threads\"",
        "rows = \"thread\"",
        &["no case has a value for the axis"],
    );
    refused(
        "a,read-threads1,iops,100",
        "a,read,iops,100",
        &["line 3", "no case is called `read`"],
    );
    refused(
        "a,read-threads1,iops,100",
        "a,read-threads1,iops,x",
        &["a number"],
    );
    refused(
        "name = \"b\"",
        "name = \"a\"",
        &["two systems are called `a`"],
    );
    // Those that are no sweep stood there twice.
    let known = "known here: read, log, read-threads1, read-threads2, log-rate_percent50, \
                 log-rate_percent120";
    refused("case = \"read\"", "case = \"zzzzzzzz\"", &[known]);
    refused("min = 150 }", "mean = 150 }", &["unknown key `mean`"]);
    refused(", min = 150 }", " }", &["`min`, `max` or both"]);
    refused(
        "cases = \"read\", at = { threads = 2 }, figure = \"iops\"",
        "cases = \"read-threads1\", figure = \"saturation\"",
        &["`read-threads1` is one case of a sweep", "`saturation`"],
    );
    refused(
        "cases = [\"log\"]\nbound",
        "cases = [\"read-threads1\"]\nbound",
        &["a curve shows the whole"],
    );
    refused(
        "min = 150 }",
        "min = 150, max = 15 }",
        &["`min` is above `max`"],
    );
    refused(
        "b,,usd_per_hour",
        "b,read,usd_per_hour",
        &["line 4", "of no case: `read`"],
    );
    refused(
        "rate_percent = [50, 120]",
        "rate_percent = [0]",
        &["above 0"],
    );
    refused("system = \"a\"\n[[curve", "[[curve", &["of which system?"]);
    refused(
        "[[table]]\ntitle = \"reads\"",
        "[[tables]]\ntitle = \"reads\"",
        &["did you mean `table`"],
    );
}
