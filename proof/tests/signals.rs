//! Runs that are ended from outside keep what they measured and leave nothing behind.

mod stand;

use std::fs;
use std::process::Command;
use std::time::Duration;

use blocklab_record::{Record, Status, Stopped};
use blocklab_workload::Direction;
use serde_json::Value;
use stand::kernel::{Loop, Mount};
use stand::running::{Ended, Running};
use stand::{MIB, Stand, assert_sound, short_then_long, text, tool};

/// Short passes without end: a signal comes at any moment of one.
const ENDLESS: &str = r#"
    name = "endless"
    passes = 100000
    [defaults]
    engine = "psync"
    size = "4MiB"
    runtime = "20ms"
    [[case]]
    name = "mixed"
    mix = { read = 50, write = 50 }
    threads = 4
"#;

fn start(stand: &Stand, study: &str, target: &str) -> Running {
    let mut command = stand.lab.command();
    command.args(["run", stand.study(study), "--target", target]);
    Running::start(command)
}

/// The design promises two seconds; a loaded machine may take longer, a hang takes for ever.
#[track_caller]
fn assert_prompt(ended: &Ended, how: &str) {
    println!("{how}: ended after {:?}", ended.took);
    assert!(ended.took < Duration::from_secs(10), "{how}");
}

/// The run is kept, whole, as interrupted.
#[track_caller]
fn assert_kept(stand: &Stand) -> Record {
    let kept = stand.lab.store().load("latest").expect("a kept run");
    assert_eq!(kept.record.status, Status::Interrupted);
    assert!(!kept.partial, "it ended before it could be kept");
    assert_sound(&kept.record);
    kept.record
}

/// It ended in an orderly way, and soon: the run is kept, and nothing is left on the disk.
#[track_caller]
fn assert_interrupted(stand: &Stand, ended: Ended, how: &str) -> Record {
    assert_prompt(&ended, how);
    assert_eq!(ended.status.code(), Some(130), "{how}");
    let words = ended.last_words();
    assert!(!words.contains("panicked"), "{how}: {words}");
    assert!(stand.left().is_empty(), "{how}: {:?}", stand.left());
    assert_kept(stand)
}

#[test]
fn a_signal_keeps_what_was_measured() {
    for signal in ["INT", "TERM", "HUP"] {
        let how = format!("SIG{signal}");
        let stand = Stand::new();
        let mut command = stand.lab.command();
        command.args(["run", stand.study(ENDLESS), "--target", stand.disk_text()]);
        let mut running = Running::start(heeding(signal, &command));
        running.await_measurement();
        running.await_measurement();
        let ended = running.end_by(signal, false);
        let record = assert_interrupted(&stand, ended, &how);
        assert!(record.measurements.len() >= 2, "{how}");
        assert!(record.requested.passes > record.measurements.len() as u32);
        let run = stand.lab.blocklab(["show", "latest"]);
        assert!(run.out.contains("interrupted"), "{how}: {}", run.out);
    }
}

/// `timeout`, `systemctl stop` and a terminal that closes signal every process of a command, some
/// of them twice. The process that measures got its own signal and those that its parent passed
/// on, took the second one for "end at once", and the run was lost without a word.
#[test]
fn a_signal_to_all_processes_of_a_command_is_one_signal() {
    let stand = Stand::new();
    let mut running = start(&stand, ENDLESS, stand.disk_text());
    running.await_measurement();
    running.await_measurement();
    running.signal("TERM", false);
    let ended = running.end_by("TERM", true);
    let record = assert_interrupted(&stand, ended, "SIGTERM to all");
    assert!(record.measurements.len() >= 2);
}

/// A command that a shell starts with `signal` ignored, as `nohup` does with HUP, and `&` with INT.
fn ignoring(signal: &str, command: &Command) -> Command {
    let script = format!("trap '' {signal}; exec \"$@\"");
    started_by("sh", &["-c", &script, "sh"], command)
}

/// A command that heeds `signal`, also where the tests themselves run under `nohup`. No shell can do
/// that: it cannot trap what was ignored when it began.
fn heeding(signal: &str, command: &Command) -> Command {
    let option = format!("--default-signal={signal}");
    started_by("env", &[&option], command)
}

/// A command behind a program that sets something up and becomes it.
fn started_by(program: &str, arguments: &[&str], command: &Command) -> Command {
    let mut starter = Command::new(program);
    starter.args(arguments).arg(command.get_program());
    starter.args(command.get_args());
    for (name, value) in command.get_envs() {
        starter.env(name, value.unwrap_or_default());
    }
    if let Some(folder) = command.get_current_dir() {
        starter.current_dir(folder);
    }
    starter
}

/// `nohup blocklab run &` ended when its user logged out: blocklab's own handler took the place of the
/// disposition that nohup had set.
#[test]
fn a_run_under_nohup_outlives_its_terminal() {
    let stand = Stand::new();
    let mut command = stand.lab.command();
    command.args(["run", stand.study(ENDLESS), "--target", stand.disk_text()]);
    let mut running = Running::start(ignoring("HUP", &command));
    running.await_measurement();
    running.signal("HUP", true);
    for _ in 0..4 {
        running.await_measurement();
    }
    let ended = running.end_by("INT", false);
    assert_interrupted(&stand, ended, "SIGINT after SIGHUP");
}

/// The story: a program that ignores SIGCHLD, as some that start services do, started a run, and its worker
/// was killed. The kernel had kept no exit status of it, so the command ended with 0 and not a word.
#[test]
fn a_killed_worker_is_no_success_where_sigchld_is_ignored() {
    let stand = Stand::new();
    let mut command = stand.lab.command();
    command.args(["run", stand.study(ENDLESS), "--target", stand.disk_text()]);
    let mut running = Running::start(started_by("env", &["--ignore-signal=CHLD"], &command));
    running.await_measurement();
    let ended = running.end_worker_by("KILL");
    assert_eq!(ended.status.code(), Some(137));
    let words = ended.last_words();
    assert!(words.contains("signal 9 (SIGKILL)"), "{words}");
}

/// A script started a server with `&`, where the shell ignores SIGINT, and neither Ctrl-C nor `kill -INT`
/// ended it.
#[test]
fn a_server_in_the_background_ends_by_an_interrupt() {
    for signal in ["INT", "TERM"] {
        let stand = Stand::new();
        let mut command = stand.lab.command();
        command.args(["serve", "--port", "0"]);
        let mut running = Running::start(ignoring("INT", &command));
        running.await_words("Ctrl-C ends it");
        let ended = running.end_by(signal, false);
        assert_prompt(&ended, signal);
    }
}

/// Threads that sleep until the next arrival, an hour ahead.
#[test]
fn threads_that_wait_for_their_next_operation_are_woken() {
    let study = short_then_long(
        "engine = \"psync\"\nthreads = 128\nrate_iops = 0.03\narrivals = \"fixed\"",
    );
    end_second_case(&study, None, 128);
}

/// 4096 operations in flight on a volume that does a few hundred a second: the last one would come
/// back many seconds later.
#[test]
fn a_slow_target_is_not_waited_for() {
    let study = short_then_long("threads = 128\ndepth = 32\nmix = \"read\"\npattern = \"random\"");
    end_second_case(&study, Some("emu:sc1:500GiB"), 128);
}

/// A dead disk: its writers sleep in the kernel, and nothing ends them until it answers. The process
/// that stayed for them held the output of the command, so that `blocklab run | tee log` did not end
/// before the disk came back; and the case was shown with the figures of the time before it hung.
#[test]
fn a_target_that_hangs_is_left_behind() {
    let Some(device) = Loop::attach(64 * MIB, &[]) else {
        return;
    };
    let made = tool("mkfs.ext4", &["-q", device.path()]);
    let Some(mount) = made.and_then(|_| Mount::new(device.path())) else {
        return;
    };
    let stand = Stand::new();
    let study = short_then_long("engine = \"psync\"\nmix = \"write\"\nthreads = 128");
    let mut running = start(&stand, &study, text(mount.path()));
    running.await_measurement();
    running.await_workers(128);
    running.await_writes(MIB);
    let Some(frozen) = mount.freeze() else {
        return;
    };
    let ended = running.end_by("INT", false);
    assert_prompt(&ended, "128 threads on a dead disk");
    assert_eq!(ended.status.code(), Some(130));
    let left = fs::read_dir(mount.path()).expect("a folder").count();
    assert_eq!(left, 1, "only lost+found");
    // The end of its standard error, while it still waits for the disk.
    let words = ended.last_words();
    drop(frozen);
    assert!(!words.contains("panicked"), "{words}");
    let record = assert_kept(&stand);
    let long = record.jobs().nth(1).expect("the case that was ended");
    println!("{:?} {words}", long.accounting);
    assert_eq!(long.stopped, Stopped::Interrupted);
    assert!(long.accounting.in_flight > 0, "{:?}", long.accounting);
    let oldest = long.accounting.oldest_in_flight_ns.expect("an age");
    assert!(long.directions[&Direction::Write].service.max_ns >= oldest);
    let run = stand.lab.blocklab(["show", "latest"]);
    assert!(
        run.out.contains("operations were not answered for up to"),
        "{}",
        run.out
    );
}

/// Ends `study` in its second case, when that has all its threads.
fn end_second_case(study: &str, target: Option<&str>, threads: usize) {
    let stand = Stand::new();
    let mut running = start(&stand, study, target.unwrap_or(stand.disk_text()));
    assert!(running.await_measurement().starts_with("short "), "{study}");
    running.await_workers(threads);
    let ended = running.end_by("INT", false);
    let record = assert_interrupted(&stand, ended, &format!("{threads} threads"));
    assert_eq!(record.measurements[0].case, "short", "{study}");
    // A case that was ended before its first operation is not measured.
    let Some(long) = record.jobs().nth(1) else {
        return;
    };
    println!("{:?}", long.accounting);
    let ends = [Stopped::Interrupted, Stopped::Stalled];
    assert!(ends.contains(&long.stopped), "{:?}: {study}", long.stopped);
}

/// Nobody can clean up after SIGKILL, so there must be nothing to clean up.
#[test]
fn a_killed_run_leaves_its_measurements_and_nothing_else() {
    let stand = Stand::new();
    let mut running = start(&stand, ENDLESS, stand.disk_text());
    running.await_measurement();
    let ended = running.end_by("KILL", true);
    assert_prompt(&ended, "SIGKILL");
    assert_eq!(ended.status.code(), None);
    ended.last_words();
    assert!(stand.left().is_empty(), "{:?}", stand.left());
    let listed = stand.lab.blocklab(["list", "--json"]);
    let runs: Value = serde_json::from_str(&listed.out).expect("JSON");
    assert_eq!(runs["runs"][0]["partial"], true, "{}", listed.out);
    let measured = runs["runs"][0]["measurements"].as_u64().expect("a number");
    assert!(measured >= 1, "{}", listed.out);
    let list = stand.lab.blocklab(["list"]);
    assert!(list.out.contains("unfinished"), "{}", list.out);
    let show = stand.lab.blocklab(["show", "latest"]);
    assert_eq!(show.code, Some(0), "{}", show.err);
    assert!(show.out.contains("mixed"), "{}", show.out);
}

/// The process that measures does not outlive the one that the user sees.
#[test]
fn a_killed_parent_takes_its_child_along() {
    let stand = Stand::new();
    let mut running = start(&stand, ENDLESS, stand.disk_text());
    running.await_measurement();
    let ended = running.end_by("KILL", false);
    assert_prompt(&ended, "SIGKILL of the parent");
    assert!(!ended.last_words().contains("panicked"));
    assert!(stand.left().is_empty(), "{:?}", stand.left());
    assert_kept(&stand);
}
