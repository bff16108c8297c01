//! Fleets with real ranks: Open MPI between network namespaces, clocks that are shifted, a rank that is
//! killed, a link that is cut.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};

use blocklab_proof::rack::{Rack, can_run, rank_program, script, works};
use blocklab_proof::{Lab, json};
use serde_json::Value;

/// A fleet on all hosts, on its way.
fn start(rack: &Rack, runtime: &str) -> Fleet {
    let hosts: Vec<String> = (1..=Rack::HOSTS).map(|number| rack.host(number)).collect();
    let line = format!(
        "fleet run --rw randread --target null --repeat 1 --runtime {runtime} --json --hosts {}",
        hosts.join(",")
    );
    let child = rack
        .command()
        .args(line.split(' '))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    Fleet { child }
}

/// A launch that runs.
struct Fleet {
    child: Child,
}

/// How it ended.
struct End {
    code: Option<i32>,
    words: String,
    summary: String,
}

impl Fleet {
    /// Does something once all hosts have begun, and waits for the end.
    fn when_begun(mut self, act: impl FnOnce()) -> End {
        let mut lines = BufReader::new(self.child.stderr.take().expect("piped"));
        let mut words = String::new();
        while !words.contains("all hosts begin together") {
            let read = lines.read_line(&mut words).expect("words");
            assert!(read > 0, "it ended before it began:\n{words}");
        }
        act();
        lines.read_to_string(&mut words).expect("words");
        let mut summary = String::new();
        let mut out = self.child.stdout.take().expect("piped");
        out.read_to_string(&mut summary).expect("a summary");
        End {
            code: self.child.wait().expect("it ends").code(),
            words,
            summary,
        }
    }
}

/// The processes whose command line has both words.
fn processes(program: &str, word: &str) -> Vec<u32> {
    let all = fs::read_dir("/proc").expect("processes").flatten();
    let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_one = |number: &u32| {
        let line = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        let mut words = line.split(|byte| *byte == 0);
        let first = words.next().unwrap_or_default();
        first.ends_with(program.as_bytes()) && words.any(|found| found == word.as_bytes())
    };
    numbers.filter(is_one).collect()
}

fn hosts_of(summary: &Value) -> &Vec<Value> {
    summary["fleet"]["hosts"].as_array().expect("hosts")
}

#[test]
fn four_hosts_begin_together() {
    let Some(rack) = can_run().then(|| Rack::new(0)).flatten() else {
        return;
    };
    let end = start(&rack, "1s").when_begun(|| ());
    assert_eq!(end.code, Some(0), "{}", end.words);
    let summary = json(&end.summary);
    assert_eq!(hosts_of(&summary).len(), 4, "{}", end.words);
    assert_eq!(summary["status"], "complete");
    let pass = &summary["fleet"]["passes"][0];
    let skew = pass["start_skew_ns"].as_u64().expect("a skew");
    println!("start skew of four hosts: {} µs", skew / 1000);
    // Two milliseconds where processors are free; what is tested is that they waited for each other.
    assert!(skew < 200_000_000, "{pass}");
    for host in &hosts_of(&summary)[1..] {
        let offset = host["clock"]["before"]["offset_ns"].as_i64();
        assert!(offset.is_some_and(|ns| ns.abs() < 10_000_000), "{host}");
    }
    assert!(end.words.contains("(4 of 4)"), "{}", end.words);
}

#[test]
fn a_killed_rank_is_named_and_the_others_keep_what_they_have() {
    let Some(rack) = can_run().then(|| Rack::new(1)).flatten() else {
        return;
    };
    let lost = rack.host(3);
    let end = start(&rack, "60s").when_begun(|| {
        rack.await_frames();
        let ranks = processes("blocklab-rank", &lost);
        assert_eq!(ranks.len(), 1, "one rank of {lost}");
        assert!(works("kill", &format!("-9 {}", ranks[0])));
    });
    assert_eq!(end.code, Some(3), "{}", end.words);
    let named = format!("{lost} is lost");
    assert!(end.words.contains(&named), "{}", end.words);
    let summary = json(&end.summary);
    assert_eq!(summary["status"], "incomplete");
    for survivor in [1, 2, 4].map(|number| rack.host(number)) {
        let is_there = hosts_of(&summary)
            .iter()
            .any(|host| host["name"] == *survivor);
        assert!(is_there, "{survivor} kept its run: {}", end.words);
    }
    // The story: the run of a host was read before it had ended. It was in the store for ever as one
    // that "is still running", and beside it the run that the host stored when it ended.
    assert!(!end.summary.contains("still running"), "{}", end.summary);
    let listed = rack.command().args(["list", "--json"]).output();
    let listed = json(&String::from_utf8(listed.expect("it starts").stdout).expect("text"));
    let runs = listed["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), Rack::HOSTS + 1, "{listed}");
    for number in 1..=4 {
        let left = processes("blocklab-rank", &rack.host(number));
        assert!(left.is_empty(), "processes are left: {left:?}");
    }
}

#[test]
fn a_cut_link_is_named_and_ends_the_run() {
    let Some(rack) = can_run().then(|| Rack::new(2)).flatten() else {
        return;
    };
    let cut = rack.host(2);
    let end = start(&rack, "60s").when_begun(|| {
        assert!(works(
            "ip",
            &format!("-n {}h2 link set eth0 down", rack.name)
        ));
    });
    assert_eq!(end.code, Some(3), "{}", end.words);
    assert!(
        end.words.contains(&format!("{cut} is lost: no word")),
        "{}",
        end.words
    );
    let summary = json(&end.summary);
    assert_eq!(summary["status"], "incomplete");
    for survivor in [1, 3, 4].map(|number| rack.host(number)) {
        let is_there = hosts_of(&summary)
            .iter()
            .any(|host| host["name"] == *survivor);
        assert!(is_there, "{survivor} told its run: {}", end.words);
    }
}

/// Every host counts from a start of its own, as machines do that were not started together.
#[test]
fn clocks_that_are_ten_seconds_apart_are_found() {
    if !can_run() {
        return;
    }
    if !works("unshare", "--time --monotonic 1 --fork true") {
        println!("skipped: time namespaces, which root can make where the kernel has them");
        return;
    }
    let lab = Lab::new();
    let program = rank_program().as_ref().expect("it was built");
    let wrapper = lab.path().join("shifted");
    let text = format!(
        "#!/bin/sh\n\
         case \"$2\" in\n\
           *#2) exec unshare --time --monotonic 10 --fork {0} \"$@\" ;;\n\
           *#3) exec unshare --time --monotonic -10 --fork {0} \"$@\" ;;\n\
           *) exec {0} \"$@\" ;;\n\
         esac\n",
        program.display()
    );
    script(&wrapper, &text);
    let line = "fleet run -q --rw randread --target null --repeat 1 --runtime 500ms --json \
                --hosts localhost,localhost,localhost --rank-program";
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let wrapper = wrapper.display().to_string();
    words.push(&wrapper);
    let said = lab.blocklab(words);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let summary = json(&said.out);
    let hosts = hosts_of(&summary);
    for (host, truth) in hosts[1..].iter().zip([10_000_000_000_i64, -10_000_000_000]) {
        let clock = &host["clock"]["before"];
        let found = clock["monotonic_offset_ns"].as_str().expect("an offset");
        let found: i64 = found.parse().expect("a number");
        let half = clock["round_trip_ns"].as_i64().expect("a round trip") / 2;
        println!(
            "shift of {truth} ns: off by {} ns, at most {half}",
            found - truth
        );
        // On a busy machine no round trip may be short: then the bound that is printed holds.
        let bound = half.max(200_000);
        assert!((found - truth).abs() <= bound, "{clock}");
    }
    let pass = &summary["fleet"]["passes"][0];
    let skew = pass["start_skew_ns"].as_u64().expect("a skew");
    assert!(
        skew < 200_000_000,
        "they began together all the same: {pass}"
    );
}
