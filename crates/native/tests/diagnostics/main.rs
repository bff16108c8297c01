//! The messages for typical mistakes, word by word.

mod rules;
mod sections;
mod sweeps;
mod values;

use blocklab_native::parse;

#[track_caller]
fn check(text: &str, expected: &str) {
    let error = parse(text, "study.toml").expect_err("is a mistake");
    assert_eq!(format!("{error}\n"), expected, "\n{error}");
}
