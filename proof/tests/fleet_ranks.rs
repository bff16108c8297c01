//! Fleets with real ranks: Open MPI between network namespaces, clocks that are shifted, a rank that is
//! killed, a link that is cut.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use blocklab_proof::{Lab, json, root};
use serde_json::Value;

/// The rank program, built once where an MPI is installed; else the reason why it is not.
fn rank_program() -> &'static Result<PathBuf, String> {
    static PROGRAM: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        for tool in ["mpicc", "mpirun"] {
            if Command::new(tool).arg("--version").output().is_err() {
                return Err(format!("{tool} of Open MPI is not installed"));
            }
        }
        let line = "build --quiet -p blocklab-rank --features mpi";
        let mut build = Command::new(env!("CARGO"));
        build.current_dir(root()).args(line.split(' '));
        if !cfg!(debug_assertions) {
            build.arg("--release");
        }
        let output = build.output().expect("cargo starts");
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        if words.contains("libclang") {
            return Err(
                "libclang is not installed, which building the rank program needs".to_owned(),
            );
        }
        assert!(
            output.status.success(),
            "the rank program does not build:\n{words}"
        );
        let test = std::env::current_exe().expect("this test has a path");
        let deps = test.parent().expect("a test lies in a folder");
        Ok(deps.with_file_name("blocklab-rank"))
    })
}

/// Whether ranks can be started; a test that cannot says why.
fn can_run() -> bool {
    match rank_program() {
        Ok(_) => true,
        Err(why) => {
            println!("skipped: {why}");
            false
        }
    }
}

fn script(path: &Path, text: &str) {
    fs::write(path, text).expect("a script");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("executable");
}

fn works(program: &str, line: &str) -> bool {
    let output = Command::new(program).args(line.split(' ')).output();
    output.is_ok_and(|output| output.status.success())
}

/// Four hosts of their own in network namespaces, on one bridge; gone with the value.
struct Rack {
    lab: Lab,
    name: String,
    subnet: String,
}

impl Rack {
    const HOSTS: usize = 4;

    /// `None`: this machine cannot have namespaces, which is said.
    fn new(number: u32) -> Option<Self> {
        let id = std::process::id() * 4 + number;
        let rack = Self {
            lab: Lab::new(),
            name: format!("bl{}", id % 100_000),
            subnet: format!("10.{}.{}", 64 + id / 250 % 64, id % 250),
        };
        if !rack.set_up() {
            println!("skipped: network namespaces, which root can make where the kernel has them");
            return None;
        }
        let agent = format!(
            "#!/bin/sh\n\
             while [ \"$1\" = -o ]; do shift 2; done\n\
             number=${{1##*.}}; shift\n\
             exec ip netns exec {}h$number unshare --uts sh -c \"hostname h$number; $*\"\n",
            rack.name
        );
        script(&rack.agent(), &agent);
        Some(rack)
    }

    fn set_up(&self) -> bool {
        let Self { name, subnet, .. } = self;
        let mut lines = vec![
            format!("link add {name}b type bridge"),
            format!("addr add {subnet}.254/24 dev {name}b"),
            format!("link set {name}b up"),
        ];
        for host in 1..=Self::HOSTS {
            lines.extend([
                format!("netns add {name}h{host}"),
                format!("link add {name}v{host} type veth peer name eth0 netns {name}h{host}"),
                format!("link set {name}v{host} master {name}b"),
                format!("link set {name}v{host} up"),
                format!("-n {name}h{host} addr add {subnet}.{host}/24 dev eth0"),
                format!("-n {name}h{host} link set eth0 up"),
                format!("-n {name}h{host} link set lo up"),
            ]);
        }
        lines.iter().all(|line| works("ip", line))
    }

    /// Until every host has kept a second of its run.
    fn await_frames(&self) {
        let has_frame = |folder: &Path| {
            let spool = fs::read_to_string(folder.join("spool.ndjson")).unwrap_or_default();
            spool.contains("\"frame\"")
        };
        loop {
            let runs = fs::read_dir(self.lab.store().root()).into_iter().flatten();
            let folders = runs.flatten().map(|entry| entry.path());
            if folders.filter(|folder| has_frame(folder)).count() == Self::HOSTS {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }

    fn agent(&self) -> PathBuf {
        self.lab.path().join("agent")
    }

    fn host(&self, number: usize) -> String {
        format!("{}.{number}", self.subnet)
    }

    /// A fleet on all hosts, on its way.
    fn start(&self, runtime: &str) -> Fleet {
        let hosts: Vec<String> = (1..=Self::HOSTS).map(|number| self.host(number)).collect();
        let mut command = self.lab.command();
        let line = format!(
            "fleet run --rw randread --target null --repeat 1 --runtime {runtime} --json --hosts {}",
            hosts.join(",")
        );
        let child = command
            .args(line.split(' '))
            .env("OMPI_MCA_plm_rsh_agent", self.agent())
            .env("OMPI_MCA_btl_tcp_if_include", "eth0")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        Fleet { child }
    }
}

impl Drop for Rack {
    fn drop(&mut self) {
        for host in 1..=Self::HOSTS {
            let name = format!("{}h{host}", self.name);
            // A daemon behind a cut link is out of its launcher's reach, and would stay for ever.
            let left = Command::new("ip").args(["netns", "pids", &name]).output();
            let left = left.map(|output| output.stdout).unwrap_or_default();
            for pid in String::from_utf8_lossy(&left).lines() {
                works("kill", &format!("-KILL {pid}"));
            }
            works("ip", &format!("netns del {name}"));
        }
        works("ip", &format!("link del {}b", self.name));
    }
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
    let end = rack.start("1s").when_begun(|| ());
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
    let end = rack.start("60s").when_begun(|| {
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
    let end = rack.start("60s").when_begun(|| {
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
