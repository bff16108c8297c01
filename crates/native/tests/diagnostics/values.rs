//! Keys and values that are none.

use super::check;

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
  = that is called `depth` here: Operations in flight per thread; only io_uring, libaio, posixaio and null have more than one.
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
  = texts are written in quotes: block_size = "4KiB"
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
  = allowed: sync, psync, vsync, pvsync, pvsync2, libaio, io_uring, posixaio, mmap, splice, falloc, ftruncate, filecreate, filestat, filedelete, dircreate, dirstat, dirdelete, null, cpuio, exec
  = example: engine = "io_uring"
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
  = allowed: a time, or "none" with `stop_bytes`, `stop_ios` or `loops`
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
        r#"study.toml:4:1: `depth` is given twice in this place
  |
4 | depth = 4
  | ^^^^^
  = keep one of the two; to run both values of a job's key, sweep it in [matrix]
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
