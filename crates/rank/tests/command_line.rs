//! What the rank program says to those who start it by hand.

use std::process::{Command, Output};

fn rank(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_blocklab-rank"));
    command.args(words).output().expect("the program starts")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn it_names_its_version_as_the_launcher_reads_it() {
    let said = rank(&["--version"]);
    assert_eq!(said.status.code(), Some(0));
    assert_eq!(out(&said), format!("{} rank\n", blocklab_fleet::VERSION));
}

#[test]
fn words_that_it_does_not_know_are_a_mistake() {
    for (words, expected) in [
        (&["--help"][..], 0),
        (&["--hosts", "a,b"], 2),
        (&["--collect"], 2),
    ] {
        let said = rank(words);
        assert_eq!(said.status.code(), Some(expected), "{words:?}");
        assert!(out(&said).contains("blocklab-rank --version"), "{words:?}");
    }
}
