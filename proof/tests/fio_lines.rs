//! Beside Debian's fio: command lines and several job files, and the lines that people read.

use std::fs;
use std::path::Path;
use std::process::Command;

use blocklab_proof::{Lab, fio_is_there};

/// The exit code, and what comes before the results and opens each of them, numbers left out.
fn lines(mut command: Command, folder: &Path, files: &[(&str, &str)], line: &str) -> Vec<String> {
    fs::create_dir_all(folder).expect("a new folder");
    for (name, text) in files {
        fs::write(folder.join(name), text).expect("it is written");
    }
    let output = command
        .args(line.split(' '))
        .current_dir(folder)
        .output()
        .expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let wanted = |line: &&str| {
        [
            "(g=",
            "note:",
            "Starting",
            "jobs=",
            "latency   :",
            "fio version",
            "bins",
            "IOPS=",
            "iops  ",
            "job options",
        ]
        .iter()
        .any(|part| line.contains(part))
    };
    let mut printed: Vec<String> = text.lines().filter(wanted).map(without_figures).collect();
    printed.insert(0, format!("exit {:?}", output.status.code()));
    printed
}

/// Of results only what opens them stays: the rest is time.
fn without_figures(line: &str) -> String {
    let opening = [": pid=", ": IOPS=", ": min="].iter().find_map(|end| {
        line.split(end)
            .next()
            .filter(|text| text.len() < line.len())
    });
    opening.unwrap_or(line).to_owned()
}

#[test]
fn lines_are_those_of_fio() {
    if !fio_is_there() {
        return;
    }
    let first = ("first.fio", "[global]\nsize=32k\nbs=8k\nrw=write\n[a]\n");
    let third = ("third.fio", "[global]\nsize=8k\n[c]\n");
    let second = ("second.fio", "[b]\nsize=16k\n");
    let cases: [(&[(&str, &str)], &str); 10] = [
        (
            &[],
            "--name=a --rw=readwrite --size=64k --bs=4k,8k --bs_is_seq_rand=1",
        ),
        (
            &[],
            "--name=a --size=64k --ioengine=sync --iodepth=4 --name=b --size=64k --iodepth=2",
        ),
        (
            &[],
            "--name=a --size=64k --name=b --size=64k --group_reporting",
        ),
        (&[], "--name=a --size=64k --output-format=json,json+"),
        (&[], "--name=a --size=64k --ioengine=io_uring --iodepth=5"),
        (&[], "--name=a --size=4kb --bs=1kb --kb_base=1000"),
        (
            &[],
            "--name=a --size=4k --ioengine=null --time_based --runtime=1 --gtod_reduce=1",
        ),
        (&[first, second], "first.fio second.fio"),
        (&[first, third], "first.fio third.fio --output-format=json"),
        (&[first, second], "--size=64k first.fio --name=c --rw=read"),
    ];
    let lab = Lab::new();
    for (index, (files, line)) in cases.into_iter().enumerate() {
        let folder = |who: &str| lab.path().join(format!("{index}-{who}"));
        let theirs = lines(Command::new("fio"), &folder("fio"), files, line);
        let mut command = lab.command();
        command.arg("fio");
        let ours = lines(command, &folder("ours"), files, line);
        assert_eq!(ours, theirs, "{line}");
    }
}
