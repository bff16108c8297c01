//! Four hosts on one machine: network namespaces on a bridge, and the rank program that Open MPI starts
//! in them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use crate::Lab;
use crate::lab::built;

/// The rank program, built once where an MPI is installed; else the reason why it is not.
pub fn rank_program() -> &'static Result<PathBuf, String> {
    static PROGRAM: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        for tool in ["mpicc", "mpirun"] {
            if Command::new(tool).arg("--version").output().is_err() {
                return Err(format!("{tool} of Open MPI is not installed"));
            }
        }
        built("blocklab-rank", "--package blocklab-rank --features mpi").map_err(|words| {
            assert!(
                words.contains("libclang"),
                "the rank program does not build:\n{words}"
            );
            "libclang is not installed, which building the rank program needs".to_owned()
        })
    })
}

/// Whether ranks can be started; a test that cannot says why.
pub fn can_run() -> bool {
    match rank_program() {
        Ok(_) => true,
        Err(why) => {
            println!("skipped: {why}");
            false
        }
    }
}

/// An executable file.
pub fn script(path: &Path, text: &str) {
    fs::write(path, text).expect("a script");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("executable");
}

/// Whether a command succeeds.
pub fn works(program: &str, line: &str) -> bool {
    let output = Command::new(program).args(line.split(' ')).output();
    output.is_ok_and(|output| output.status.success())
}

/// Four hosts of their own in network namespaces, on one bridge; gone with the value.
pub struct Rack {
    /// Where its runs are kept.
    pub lab: Lab,
    /// What the names of its namespaces begin with.
    pub name: String,
    subnet: String,
}

impl Rack {
    /// How many hosts it has.
    pub const HOSTS: usize = 4;

    /// `None`: this machine cannot have namespaces, and a line says so.
    pub fn new(number: u32) -> Option<Self> {
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
    pub fn await_frames(&self) {
        let has_frame = |folder: &Path| {
            let spool = fs::read_to_string(folder.join("spool.ndjson")).unwrap_or_default();
            spool.contains("\"frame\"")
        };
        let kept = || {
            let runs = fs::read_dir(self.lab.store().root()).into_iter().flatten();
            let folders = runs.flatten().map(|entry| entry.path());
            folders.filter(|folder| has_frame(folder)).count()
        };
        let began = Instant::now();
        while kept() != Self::HOSTS {
            let waited = began.elapsed();
            assert!(
                waited < Duration::from_secs(60),
                "{} hosts kept a second",
                kept()
            );
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn agent(&self) -> PathBuf {
        self.lab.path().join("agent")
    }

    /// The address of a host, from 1.
    pub fn host(&self, number: usize) -> String {
        format!("{}.{number}", self.subnet)
    }

    /// A command of the program that reaches these hosts.
    pub fn command(&self) -> Command {
        let mut command = self.lab.command();
        command
            .env("OMPI_MCA_plm_rsh_agent", self.agent())
            .env("OMPI_MCA_btl_tcp_if_include", "eth0");
        command
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
