//! What people are told about typical mistakes, word by word.

use blocklab_dialect::native::parse;

#[track_caller]
fn check(text: &str, expected: &str) {
    let error = parse(text, "study.toml").expect_err("is a mistake");
    assert_eq!(format!("{error}\n"), expected, "\n{error}");
}

#[test]
fn a_slip_in_a_key() {
    check(
        r#"name = "x"

[[case]]
name = "rand4k"
dept = 32
"#,
        r#"study.toml:5:1: unknown key `dept` in [[case]]
  |
5 | dept = 32
  | ^^^^
  = did you mean `depth`?
"#,
    );
}

#[test]
fn a_key_of_another_tool() {
    check(
        r#"[[case]]
name = "a"
iodepth = 32
"#,
        r#"study.toml:3:1: unknown key `iodepth` in [[case]]
  |
3 | iodepth = 32
  | ^^^^^^^
  = that is called `depth` here: Operations in flight per thread; sync, psync, pvsync2 and mmap have one.
  = allowed: 1 to 32768
  = example: depth = 32
"#,
    );
}

#[test]
fn a_number_in_quotes() {
    check(
        r#"[[case]]
name = "a"
depth = "32"
"#,
        r#"study.toml:3:9: depth: a whole number is wanted here, and this is a text
  |
3 | depth = "32"
  |         ^^^^
  = allowed: 1 to 32768
  = example: depth = 32
"#,
    );
}

#[test]
fn a_size_without_quotes() {
    check(
        r#"[[case]]
name = "a"
block_size = 4KiB
"#,
        r#"study.toml:3:14: a text without quotes
  |
3 | block_size = 4KiB
  |              ^^^^
  = texts stand in quotes: block_size = "4KiB"
"#,
    );
}

#[test]
fn a_size_that_is_none() {
    check(
        r#"[[case]]
name = "a"
block_size = "4Kb/s"
"#,
        r#"study.toml:3:14: block_size: `4Kb/s` is not a size such as 4096, 64KiB, 1.5GiB or 10GB (k, M, G are binary)
  |
3 | block_size = "4Kb/s"
  |              ^^^^^^^
  = allowed: "4KiB", [["4KiB", 60], ["64KiB", 40]], { read = "4KiB", write = "64KiB" }; at most 1 GiB
  = example: block_size = "64KiB"
"#,
    );
}

#[test]
fn a_slip_in_a_word() {
    check(
        r#"[[case]]
name = "a"
engine = "iouring"
"#,
        r#"study.toml:3:10: engine: `iouring` is not known here
  |
3 | engine = "iouring"
  |          ^^^^^^^^^
  = did you mean `io_uring`?
  = allowed: sync, psync, vsync, pvsync, pvsync2, libaio, io_uring, posixaio, mmap, splice, falloc, ftruncate, filecreate, filestat, filedelete, null
  = example: engine = "io_uring"
"#,
    );
}

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
  = Distance between the beginnings of two operations.
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
fn a_key_of_the_study_below_a_section() {
    check(
        r#"[defaults]
depth = 4
passes = 3
[[case]]
name = "a"
"#,
        r#"study.toml:3:1: unknown key `passes` in [defaults]
  |
3 | passes = 3
  | ^^^^^^
  = `passes` is said once for the study: above the first [section]
"#,
    );
}

#[test]
fn a_key_of_a_job_above_the_sections() {
    check(
        r#"depth = 4
[[case]]
name = "a"
"#,
        r#"study.toml:1:1: unknown key `depth`
  |
1 | depth = 4
  | ^^^^^
  = `depth` says what a job does: it stands below [defaults], [[case]] or [matrix]
"#,
    );
}

#[test]
fn two_cases_of_one_name() {
    check(
        r#"[[case]]
name = "a"
[[case]]
name = "a"
"#,
        r#"study.toml:4:8: two cases are called `a`
  |
4 | name = "a"
  |        ^^^
  = the other one comes from line 2
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
fn a_slip_in_an_inner_table() {
    check(
        r#"[[case]]
name = "a"
mix = { read = 70, writes = 30 }
"#,
        r#"study.toml:3:20: mix: unknown key `writes`
  |
3 | mix = { read = 70, writes = 30 }
  |                    ^^^^^^
  = did you mean `write`?
  = allowed: read, write, trim, or a table whose shares add up to 100
  = example: mix = { read = 70, write = 30 }
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
  = they say the same thing in two ways: keep one
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

#[test]
fn a_negative_number() {
    check(
        r#"[[case]]
name = "a"
depth = -1
"#,
        r#"study.toml:3:9: depth: `-1` cannot be below 0
  |
3 | depth = -1
  |         ^^
  = allowed: 1 to 32768
  = example: depth = 32
"#,
    );
}

#[test]
fn a_case_that_fixes_what_is_swept() {
    check(
        r#"[[case]]
name = "a"
depth = 4
[matrix]
depth = [1, 2]
"#,
        r#"study.toml:3:1: `depth` is swept by the matrix in line 5, and the case fixes it
  |
3 | depth = 4
  | ^^^^^
  = remove one of the two, or give the case its own [case.matrix] with depth = [32]
  = in the case `a-depth1`
"#,
    );
}

#[test]
fn a_sweep_of_a_detail_that_does_not_apply() {
    check(
        r#"[[case]]
name = "a"
engine="libaio"
[matrix]
depth = [1, 2]
sqpoll=[true,false]
"#,
        r#"study.toml:6:9: `sqpoll` is swept, and changes nothing here: it belongs to engine = "io_uring", and `engine` is "libaio"
  |
6 | sqpoll=[true,false]
  |         ^^^^
  = in the case `a-depth1-sqpoll-true`
"#,
    );
}

#[test]
fn a_combination_that_cannot_work() {
    check(
        r#"[[case]]
name = "a"
batch_complete = 8
[matrix]
depth = [16, 4]
"#,
        r#"study.toml:3:18: batch_complete must be at least 1 and at most the depth: a wait for more would never end
  |
3 | batch_complete = 8
  |                  ^
  = in the case `a-depth4`
"#,
    );
}

#[test]
fn a_sweep_of_one_value() {
    check(
        r#"[[case]]
name = "a"
[matrix]
depth = 16
"#,
        r#"study.toml:4:9: `depth` in a matrix needs the list of its values
  |
4 | depth = 16
  |         ^^
  = example: depth = [32]
"#,
    );
}

#[test]
fn a_value_swept_twice() {
    check(
        r#"[[case]]
name = "a"
[matrix]
depth = [1,1]
"#,
        r#"study.toml:4:12: two cases are called `a-depth1`
  |
4 | depth = [1,1]
  |            ^
  = two combinations of the sweep: write each value once
"#,
    );
}

#[test]
fn single_brackets_for_a_case() {
    check(
        r#"[case]
name = "a"
"#,
        r#"study.toml:1:2: `case` is a section that can be repeated
  |
1 | [case]
  |  ^^^^
  = write it in double brackets: [[case]], and [[case.job]] for the jobs of a case
"#,
    );
}

#[test]
fn no_case() {
    check(
        r#"name = "x"
passes = 3
"#,
        r#"study.toml:1:1: the study has no case: nothing to run
  |
1 | name = "x"
  | ^
  = example: [[case]]
  =          name = "rand4k"
"#,
    );
}

#[test]
fn a_case_without_a_name() {
    check(
        r#"[[case]]
depth = 4
pattern="random"
"#,
        r#"study.toml:1:1: a case needs a name
  |
1 | [[case]]
  | ^^^^^^^^
  = example: name = "rand4k-read"
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
fn a_time_that_is_none() {
    check(
        r#"[[case]]
name = "a"
runtime = "2 fortnights"
"#,
        r#"study.toml:3:11: runtime: `2 fortnights` is not a time such as 250ms, 30s, 10min or 24h (a bare number is seconds)
  |
3 | runtime = "2 fortnights"
  |           ^^^^^^^^^^^^^^
  = allowed: a time, or "none" beside `stop_bytes` or `loops`
  = example: runtime = "2s"
"#,
    );
}

#[test]
fn a_key_said_twice() {
    check(
        r#"[[case]]
name = "a"
depth = 3
depth = 4
"#,
        r#"study.toml:4:1: `depth` is said twice in this place
  |
4 | depth = 4
  | ^^^^^
  = keep one of the two; to run both, sweep it in [matrix]
"#,
    );
}

#[test]
fn an_open_quote() {
    check(
        r#"[[case]]
name = "a
depth = 3
"#,
        r#"study.toml:2:10: invalid basic string, expected `"`
  |
2 | name = "a
  |          ^
"#,
    );
}

#[test]
fn a_sweep_without_end() {
    check(
        r#"[[case]]
name = "a"
[matrix]
depth = [1,2,3,4,5,6,7,8,9,10]
threads = [1,2,3,4,5,6,7,8,9,10]
batch_submit = [1,2,3,4,5,6,7,8,9,10]
fsync_every = [1,2,3,4,5,6,7,8,9,10,11]
"#,
        r#"study.toml:4:1: the sweep makes at least 11000 cases, and 10000 are allowed
  |
4 | depth = [1,2,3,4,5,6,7,8,9,10]
  | ^^^^^
  = each axis multiplies the number of cases: sweep fewer values, or split the study
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

#[test]
fn a_seed_for_some_cases_only() {
    check(
        r#"[[case]]
name = "a"
[[case]]
name = "b"
seed = 7
"#,
        r#"study.toml:4:8: this case has a seed, and others have none
  |
4 | name = "b"
  |        ^^^
  = add a seed of the study, above the first [section]: seed = 42
"#,
    );
}
