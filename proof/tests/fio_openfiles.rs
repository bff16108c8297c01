//! Jobs of fio with more files than are open at a time.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use blocklab_proof::{Lab, fio_is_there, good, json, strace_is_there};

/// A job with `openfiles=100` and 3,000 files ended with "Too many open files" where fio runs it: all
/// its files were kept open. Root may raise the hard limit, so it is a user without that right.
#[test]
fn a_job_of_more_files_than_descriptors_runs() {
    let without = "setpriv --bounding-set=-sys_resource --inh-caps=-sys_resource";
    let lab = Lab::new();
    if lab.shell(&format!("{without} true")).code != Some(0) {
        println!("skipped: there is no setpriv that takes a right away");
        return;
    }
    let run = |options: &str| {
        lab.shell(&format!(
            "mkdir -p files && ulimit -n 1024 && {without} blocklab fio --no-save --name=a \
             --directory=files --nrfiles=3000 --filesize=8k --bs=4k --rw=randwrite {options} \
             --output-format=json"
        ))
    };
    let refused = run("");
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    assert!(
        refused.err.contains("(fio: `openfiles`)"),
        "{}",
        refused.err
    );
    let job = &json(&good(run("--openfiles=100")))["jobs"][0];
    assert_eq!(job["write"]["total_ios"], 6000);
    assert_eq!(job["error"], 0);
}

/// The operations of the job in the trace that it writes.
fn operations(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("t")).expect("a trace");
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    let lines = lines.map(|(_, operation)| operation.to_owned());
    let moves = |line: &String| line.contains(" read ") || line.contains(" write ");
    lines.filter(moves).collect()
}

/// Runs fio or ours on the same job, in a folder of its own.
fn traced(mut command: Command, folder: &Path, words: &str) -> Vec<String> {
    fs::create_dir(folder).expect("a new folder");
    command.current_dir(folder).args(["--name=a", "--bs=4k"]);
    command.args(words.split(' ')).arg("--write_iolog=t");
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{words}: {output:?}");
    operations(folder)
}

/// The story: the order was that of all files in turn, whatever `openfiles` said. fio works on this many
/// of them until a pass is through with one.
#[test]
fn the_files_take_turns_as_with_fio() {
    if !fio_is_there() {
        return;
    }
    let lab = Lab::new();
    for (number, words) in [
        "--rw=read --nrfiles=6 --openfiles=2 --size=96k",
        "--rw=read --nrfiles=6 --openfiles=4 --size=96k",
        "--rw=write --nrfiles=5 --openfiles=1 --size=80k",
        "--rw=write --nrfiles=5 --openfiles=0 --size=80k",
        "--rw=write --nrfiles=3 --openfiles=9 --size=48k",
        "--rw=read --filename=a:b:c:d --openfiles=3 --size=80k",
        "--rw=read --nrfiles=5 --openfiles=2 --size=80k --loops=2",
        "--rw=read --nrfiles=5 --openfiles=2 --size=80k --file_service_type=roundrobin:3",
        "--rw=read --nrfiles=5 --openfiles=2 --size=80k --file_service_type=sequential",
        "--rw=write --nrfiles=5 --openfiles=2 --size=80k --ioengine=mmap",
    ]
    .into_iter()
    .enumerate()
    {
        let folder = |who: &str| lab.path().join(format!("{who}-{number}"));
        let theirs = traced(Command::new("fio"), &folder("fio"), words);
        let mut command = lab.command();
        command.args(["fio", "--no-save"]);
        let ours = traced(command, &folder("ours"), words);
        assert_eq!(ours, theirs, "{words}");
    }
}

/// Most files of the job that are open at a time in a trace of system calls. `O_PATH` only holds a
/// place.
fn most_open(calls: &str) -> usize {
    let mut open = BTreeSet::new();
    let mut most = 0;
    for line in calls.lines() {
        let Some((_, call)) = line.split_once(' ') else {
            continue;
        };
        let call = call.trim_start();
        if let Some(closed) = call.strip_prefix("close(") {
            open.remove(closed.split(')').next().unwrap_or_default());
        } else if call.starts_with("openat(") && !call.contains("O_PATH") {
            let is_of_job = call.contains("a.0.") || call.contains("/proc/self/fd/");
            if let Some((_, number)) = call.rsplit_once("= ").filter(|_| is_of_job) {
                open.insert(number.to_owned());
                most = most.max(open.len());
            }
        }
    }
    most
}

/// Each engine opened all files of its job.
#[test]
fn no_engine_has_more_files_open() {
    if !strace_is_there() {
        return;
    }
    let lab = Lab::new();
    let files = "--name=a --nrfiles=8 --filesize=32k";
    good(lab.shell(&format!("blocklab fio --no-save --create_only=1 {files}")));
    for engine in ["psync", "libaio", "io_uring", "mmap", "posixaio"] {
        for rw in ["randread", "randrw", "write --verify=crc32c"] {
            let said = lab.shell(&format!(
                "strace -f -o calls -e trace=openat,close blocklab fio --no-save {files} \
                 --ioengine={engine} --iodepth=8 --openfiles=3 --rw={rw} --output-format=json"
            ));
            if engine == "io_uring" && said.code != Some(0) {
                println!(
                    "skipped: io_uring, which this machine does not offer: {}",
                    said.err
                );
                break;
            }
            let out = json(&good(said));
            let job = &out["jobs"][0];
            let moved = ["read", "write"].map(|way| job[way]["total_ios"].as_u64());
            assert!(moved.iter().flatten().sum::<u64>() >= 64, "{engine} {rw}");
            let calls = lab.read("calls");
            assert_eq!(most_open(&calls), 3, "{engine} {rw}");
        }
    }
}

/// A file that the check did not hold, as there are many, and that is not open when a link to another
/// file is put in its place: the job ends there, and the other file stays as it is.
#[test]
fn a_file_that_is_swapped_before_it_is_opened_ends_the_job() {
    let lab = Lab::new();
    let files = "--name=a --nrfiles=300 --filesize=4k";
    good(lab.shell(&format!("blocklab fio --no-save --create_only=1 {files}")));
    let other = lab.path().join("other");
    fs::write(&other, vec![7; 4096]).expect("a file");
    for engine in ["psync", "mmap", "libaio"] {
        let said = lab.shell(&format!(
            "blocklab fio --no-save {files} --openfiles=2 --rw=write --ioengine={engine} --iodepth=4 \
             --exec_prerun='ln -sf other a.0.290' --output-format=json"
        ));
        assert_eq!(said.code, Some(1), "{engine}: {}", said.err);
        let words = "a.0.290 (for writes): the name leads to another file than when the run began";
        assert!(said.err.contains(words), "{engine}: {}", said.err);
        // The command is reported first.
        let begin = said.out.find('{').expect("JSON");
        let written = json(&said.out[begin..])["jobs"][0]["write"]["total_ios"].as_u64();
        assert!(
            written.is_some_and(|count| (280..=290).contains(&count)),
            "{written:?}"
        );
        assert_eq!(
            fs::read(&other).expect("it is there"),
            vec![7; 4096],
            "{engine}"
        );
        fs::remove_file(lab.path().join("a.0.290")).expect("a link");
        lab.write("a.0.290", vec![0; 4096]);
    }
}

/// fio says so, too: a ring keeps what is registered.
#[test]
fn registered_files_are_all_open() {
    let lab = Lab::new();
    let words = "--name=a --ioengine=io_uring --registerfiles --nrfiles=4 --openfiles=2 --size=64k";
    let said = lab.shell(&format!("blocklab fio --no-save {words}"));
    assert_eq!(said.code, Some(1), "{}", said.out);
    assert!(said.err.contains("openfiles"), "{}", said.err);
}
