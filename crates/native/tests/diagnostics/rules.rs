//! Keys that do not go together.

use super::check;

#[test]
fn a_choice_without_its_detail() {
    check(
        r#"[[case]]
name = "a"
pattern = "strided"
"#,
        r#"study.toml:3:11: pattern = "strided" needs `stride`
  |
3 | pattern = "strided"
  |           ^^^^^^^^^
  = Distance between the starts of two operations.
  = allowed: a size above 0
  = example: stride = "1MiB"
"#,
    );
}

#[test]
fn a_detail_without_its_choice() {
    check(
        r#"[[case]]
name = "a"
pattern = "random"
stride = "1MiB"
"#,
        r#"study.toml:4:1: `stride` has no effect: it belongs to pattern = "strided", and `pattern` is "random"
  |
4 | stride = "1MiB"
  | ^^^^^^
"#,
    );
}

#[test]
fn shares_that_do_not_add_up() {
    check(
        r#"[[case]]
name = "a"
mix = { read = 70, write = 40 }
"#,
        r#"study.toml:3:7: read, write and trim shares must add up to 100
  |
3 | mix = { read = 70, write = 40 }
  |       ^^^^^^^^^^^^^^^^^^^^^^^^^
"#,
    );
}

#[test]
fn two_rates() {
    check(
        r#"[[case]]
name = "a"
rate_iops = 3
rate_bytes = "1MB"
"#,
        r#"study.toml:4:1: `rate_bytes` and `rate_iops` exclude each other
  |
4 | rate_bytes = "1MB"
  | ^^^^^^^^^^
  = both set the same thing: keep one
"#,
    );
}

#[test]
fn arrivals_without_a_rate() {
    check(
        r#"[[case]]
name = "a"
arrivals = "poisson"
"#,
        r#"study.toml:3:12: arrivals of an open loop need a rate
  |
3 | arrivals = "poisson"
  |            ^^^^^^^^^
  = add rate_iops = 3000 or rate_bytes = "100MB"
"#,
    );
}

#[test]
fn a_broken_rule_of_the_job() {
    check(
        r#"[[case]]
name = "a"
depth = 0
"#,
        r#"study.toml:3:9: depth must be 1 to 32768
  |
3 | depth = 0
  |         ^
"#,
    );
}

/// The error was at the name of the case.
#[test]
fn a_broken_rule_about_a_field_of_a_table() {
    check(
        r#"[[case]]
name = "a"
window = { bytes = "1MiB", range = "1" }
"#,
        r#"study.toml:3:10: a window must hold the largest block, and its bytes must be above 0
  |
3 | window = { bytes = "1MiB", range = "1" }
  |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
"#,
    );
}

/// The error was at `sample_bandwidth`, as the first key that the rule is about.
#[test]
fn a_rule_of_two_keys_that_are_both_set() {
    check(
        r#"[[case]]
name = "a"
sample_bandwidth = "1s"
sample_iops = "1us"
"#,
        r#"study.toml:2:8: the interval of samples must be at least 1 ms
  |
2 | name = "a"
  |        ^^^
"#,
    );
}

#[test]
fn a_steady_state_without_a_longest_wait() {
    check(
        r#"[[case]]
name = "a"
steady = "snia"
"#,
        r#"study.toml:3:10: a wait for the steady state needs `runtime`: the longest that it may take
  |
3 | steady = "snia"
  |          ^^^^^^
  = example: runtime = "1h"
"#,
    );
}

#[test]
fn a_job_without_end() {
    check(
        r#"[[case]]
name = "a"
runtime = "none"
"#,
        r#"study.toml:3:11: one of runtime, stop_bytes or loops must be given, else the job never ends
  |
3 | runtime = "none"
  |           ^^^^^^
"#,
    );
}

#[test]
fn a_detail_of_nothing() {
    check(
        r#"[[case]]
name = "a"
think_every = 3
"#,
        r#"study.toml:3:1: `think_every` has no effect: it belongs to `think`, which is not given
  |
3 | think_every = 3
  | ^^^^^^^^^^^
"#,
    );
}
