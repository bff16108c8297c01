//! Sweeps.

use super::check;

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

/// Each case had the setting twice, with two values, and a table took it for both.
#[test]
fn a_setting_by_hand_of_what_is_swept() {
    check(
        r#"[[case]]
name = "a"
settings = [["depth", "1"]]
[matrix]
depth = [1, 2]
"#,
        r#"study.toml:5:1: `depth` is swept, and `settings` has it, too
  |
5 | depth = [1, 2]
  | ^^^^^
  = a sweep fills in its settings: remove it from `settings`
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

/// The story: the other case was said to come from line 2, which is the line of this one.
#[test]
fn a_share_written_twice() {
    check(
        r#"[[case]]
name = "a"
rate_percent = [50, 50.0]
"#,
        r#"study.toml:2:8: two cases are called `a-rate_percent50`
  |
2 | name = "a"
  |        ^^^
  = two values of `rate_percent`: write each value once
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
