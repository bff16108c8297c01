//! What stands in the wrong section, or nowhere.

use super::check;

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
  = `passes` is set once for the study: above the first [section]
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
  = `depth` is a key of a job: it stands below [defaults], [[case]] or [matrix]
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

/// The story: where only one of two cases was in double brackets, the advice was to keep one of them, or to
/// sweep the values of a job's key.
#[test]
fn single_brackets_for_one_of_two_cases() {
    check(
        r#"[case]
name = "a"
[[case]]
name = "b"
"#,
        r#"study.toml:3:3: `case` is given twice in this place
  |
3 | [[case]]
  |   ^^^^
  = keep one of the two; a section that can be repeated has double brackets each time: [[case]]
"#,
    );
}

/// The story: to a second `[defaults]`, which cannot be repeated, the advice was to write `[[defaults]]`.
#[test]
fn a_section_that_cannot_be_repeated_gets_no_double_brackets() {
    check(
        r#"[defaults]
depth = 4
[defaults]
bs = "4k"
"#,
        r#"study.toml:3:2: `defaults` is given twice in this place
  |
3 | [defaults]
  |  ^^^^^^^^
  = keep one of the two; only a section that can be repeated has double brackets, each time
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

/// Keys whose only purpose was to carry a setting of another tool are gone.
#[test]
fn what_only_another_language_has_is_named_there() {
    check(
        r#"[[case]]
name = "a"
run_same = true
"#,
        r#"study.toml:3:1: unknown key `run_same` in [[case]]
  |
3 | run_same = true
  | ^^^^^^^^
  = only the fio language has this: rw_sequencer
"#,
    );
    check(
        r#"[[case]]
name = "a"
verify = { checksum = "md5", trimmed_zero = true }
"#,
        r#"study.toml:3:30: verify: unknown key `trimmed_zero`
  |
3 | verify = { checksum = "md5", trimmed_zero = true }
  |                              ^^^^^^^^^^^^
  = only the fio language has this: trim_verify_zero
  = allowed: crc32c, xxhash, crc7, crc16, crc32, crc64, md5, sha1, sha256, sha512, sha3-224, sha3-256, sha3-384, sha3-512, header, or a table, or "none"
  = example: verify = "crc32c"
"#,
    );
}
