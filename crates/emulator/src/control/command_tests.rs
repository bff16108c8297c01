//! Commands as people write them, and what is wrong with those that are no commands.

use super::*;

#[track_caller]
fn order(line: &str) -> Order {
    let command: Result<Command, _> = line.parse();
    command
        .map(|command| command.order)
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn faults_as_people_write_them() {
    let inject = |kind, percents, range, seconds: Option<u64>| Order::Inject {
        kind,
        percents,
        range,
        lasts: seconds.map(Nanos::from_secs),
    };
    let io = FaultKind::Error(Failure::Io);
    assert_eq!(order("fault error 1%"), inject(io, [1.0; 4], None, None));
    assert_eq!(
        order("fault error 0.5 --on=read --range 1GiB.. --errno ENOSPC --for 10s"),
        inject(
            FaultKind::Error(Failure::NoSpace),
            [0.5, 0.0, 0.0, 0.0],
            Some(1 << 30..u64::MAX),
            Some(10)
        )
    );
    let slow = FaultKind::Latency(Nanos::from_millis(20));
    assert_eq!(
        order("latency +20ms 5% --on write"),
        inject(slow, [0.0, 5.0, 5.0, 5.0], None, None)
    );
    assert_eq!(
        order("fault stall 5s"),
        inject(FaultKind::Stall, [100.0; 4], None, Some(5))
    );
    assert_eq!(
        order("fault aws:ebs:pause-volume-io 5s"),
        order("fault stall 5s")
    );
    assert_eq!(order("fault power-cut --torn"), Order::PowerCut(Loss::Torn));
    assert_eq!(order("credits 25%"), Order::Credits(0.25));
    let pairs = [("iops", "16000"), ("throughput", "500MiB")]
        .map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(
        order("set iops=16000 throughput=500MiB"),
        Order::Set(pairs.into())
    );
}

#[test]
fn a_mistake_is_reported_with_what_would_work() {
    let check = |line: &str, words: &str| {
        let error = line.parse::<Command>().expect_err(line).to_string();
        assert!(error.contains(words), "{line}: {error}");
        assert!(!error.contains('\n'), "one line: {error}");
    };
    check("", "[subcommands: status, set, credits, fault,");
    check("fault", "[subcommands: error, latency,");
    check("fault stal 5s", "a similar subcommand exists: 'stall'");
    check("fault set iops=1", "unrecognized subcommand 'set'");
    check(
        "fault stall",
        "were not provided: <TIME>; Usage: fault stall <TIME>",
    );
    check("fault error 101%", "at most 100%");
    check("fault error NaN", "is no share");
    // The story: `credits +5%` did not add 5 %, it left no more.
    check("credits +5%", "is no share");
    check("fault error +5%", "is no share");
    check("fault error 0%", "a share of 0 hits nothing");
    check("fault error 1% --torn", "unexpected argument '--torn'");
    check("fault error 1% 2%", "unexpected argument '2%'");
    check("fault error 1% --range 2GiB..1GiB", "holds nothing");
    check("fault error 1% --errno ENOENT", "values: EIO, ENOSPC");
    check("fault latency +0ms", "does nothing");
    check("fault template fast", "values: sustained-latency");
    check("fault bitflip 0", "0 is not in 1..=1000");
    check("set iops", "no KEY=VALUE");
    check("status --volume 'two logs", "a quote (') is not closed");
}

/// A volume of the run `--name "two logs"` could not be named: its name was taken for two words.
#[test]
fn what_is_kept_of_a_command_can_be_given_again() {
    for (line, text) in [
        (
            "fault detach --volume 'two logs1'",
            "fault detach --volume \"two logs1\"",
        ),
        (
            r#"status --volume 6'" drive'1"#,
            r#"status --volume "6"'"'" drive1""#,
        ),
        ("  stall   5s", "fault stall 5s"),
        ("fault error 1% --on read", "fault error 1% --on read"),
        (
            "latency --for=1min +2ms --volume b",
            "fault latency +2ms --for 1min --volume b",
        ),
        ("power-cut --torn", "fault power-cut --torn"),
        // The server took the name for an option, and refused it.
        ("status --volume=-x", "status --volume -x"),
    ] {
        let command: Command = line.parse().expect("sound");
        assert_eq!(command.text, text);
        let again: Command = command.text.parse().expect("sound");
        assert_eq!(again, command);
    }
}
