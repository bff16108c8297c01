//! In: a plan. Out: running ranks on its hosts, and the output of rank 0.
//!
//! Ranks are started by what the site has: `mpirun` with ssh (or with what `OMPI_MCA_plm_rsh_agent`
//! names), or `srun`. No server has to listen on the hosts. The plan is sent through standard input,
//! because arguments can be seen in lists of processes.

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::net::UdpSocket;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use blocklab_console::place::shell_word;
use rustix::process::{Pid, Signal, geteuid, kill_process_group};

use crate::message::Line;
use crate::plan::{FleetPlan, VERSION};
use crate::rank::host_name;

/// The program that starts the ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Launcher {
    /// `mpirun` of Open MPI.
    Mpirun,
    /// `srun` in an allocation of Slurm.
    Srun,
}

/// A host on which the rank program cannot be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreachable {
    /// The host.
    pub host: String,
    /// The message of its agent.
    pub why: String,
}

/// Arguments of ssh: a host that does not answer is reported within seconds, and no password is asked for.
const SSH_ARGUMENTS: &str = "-o BatchMode=yes -o ConnectTimeout=5";

/// Settings of Open MPI, except those that the environment already sets.
const SETTINGS: [(&str, &str); 8] = [
    ("plm_rsh_args", SSH_ARGUMENTS),
    // Every host is started from this machine: hosts may not be able to log in to each other.
    ("plm_rsh_no_tree_spawn", "1"),
    // A broken connection is noticed after 11 s: later than by the coordinator, which can still end
    // everything in order.
    ("oob_tcp_keepalive_time", "8"),
    ("oob_tcp_keepalive_intvl", "1"),
    ("oob_tcp_keepalive_probes", "3"),
    // Ranks that must end get the time to store their runs.
    ("odls_base_sigkill_timeout", "2"),
    // A waiting rank must not take processor time from the load.
    ("mpi_yield_when_idle", "1"),
    // The load uses the processors as it would without a fleet.
    ("hwloc_base_binding_policy", "none"),
];

/// Time between SIGTERM and SIGKILL, in which ranks store their runs.
const GRACE: Duration = Duration::from_millis(2500);

/// Most characters that are shown of what another program answers where a version was expected.
const MOST_OF_VERSION: usize = 60;

/// How long a host may take to answer its agent.
const PROBE: Duration = Duration::from_secs(8);

impl Launcher {
    /// Starts a rank on each host of the plan, and sends the plan to rank 0.
    ///
    /// # Errors
    /// When the launcher cannot be started.
    pub fn start(&self, program: &str, plan: &FleetPlan) -> io::Result<Launched> {
        let mut command = match self {
            Self::Mpirun => mpirun(program, plan),
            Self::Srun => srun(program, plan),
        };
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // In a group of their own, the ranks do not get a Ctrl-C: this process ends them in order.
            .process_group(0)
            .spawn()?;
        let (sender, outputs) = channel();
        let stdout = child.stdout.take().expect("it is piped");
        let stderr = child.stderr.take().expect("it is piped");
        let second_sender = sender.clone();
        reader(move || read_stdout(stdout, &sender))?;
        reader(move || read_stderr(stderr, &second_sender))?;
        let mut stdin = child.stdin.take();
        if let Some(stdin) = &mut stdin {
            let text = serde_json::to_string(plan).expect("a plan is plain data");
            // A launcher that has already ended shows why on its output.
            let _ = writeln!(stdin, "{text}").and_then(|()| stdin.flush());
        }
        Ok(Launched {
            child,
            stdin,
            outputs,
        })
    }
}

/// The command with one application context for each host, so that ranks have the order of the plan.
fn mpirun(program: &str, plan: &FleetPlan) -> Command {
    let mut command = Command::new("mpirun");
    for (name, value) in SETTINGS {
        let variable = format!("OMPI_MCA_{name}");
        if env::var_os(&variable).is_none() {
            command.env(variable, value);
        }
    }
    // Several hosts of a plan may be the same machine.
    command.arg("--oversubscribe");
    if geteuid().is_root() {
        command.arg("--allow-run-as-root");
    }
    for (place, host) in plan.hosts.iter().enumerate() {
        if place > 0 {
            command.arg(":");
        }
        command.args(["-np", "1", "--host", machine(&host.name)]);
        command.args([program, "--as", &host.name]);
    }
    command
}

/// The command with one task on each node; only the first one gets standard input.
fn srun(program: &str, plan: &FleetPlan) -> Command {
    let mut command = Command::new("srun");
    let count = plan.hosts.len().to_string();
    let names: Vec<&str> = plan.hosts.iter().map(|host| machine(&host.name)).collect();
    command.args(["--ntasks", &count, "--ntasks-per-node=1", "--nodes", &count]);
    command.args(["--nodelist", &names.join(",")]);
    command.args(["--input=0", "--output=0", "--error=all", "--mpi=pmix"]);
    command.args(["--kill-on-bad-exit=1", "--wait=10", "--cpu-bind=none"]);
    command.arg(program);
    command
}

/// The name of the machine: without the suffix `#2` of a host that is named a second time.
pub fn machine(host: &str) -> &str {
    host.split_once('#').map_or(host, |(machine, _)| machine)
}

/// Checks on all hosts at the same time whether the rank program is installed in this version, and
/// gives the hosts where it is not.
pub fn probe(program: &str, hosts: &[String]) -> Vec<Unreachable> {
    let mut machines: Vec<&str> = hosts.iter().map(|host| machine(host)).collect();
    machines.sort_unstable();
    machines.dedup();
    thread::scope(|scope| {
        let probes = machines.into_iter().map(|host| {
            let probe = scope.spawn(move || probe_one(program, host));
            (host, probe)
        });
        let probes: Vec<_> = probes.collect();
        let found = probes.into_iter().filter_map(|(host, probe)| {
            let reached = probe
                .join()
                .unwrap_or_else(|_| Err("its probe failed".to_owned()));
            let host = host.to_owned();
            reached.err().map(|why| Unreachable { host, why })
        });
        found.collect()
    })
}

/// Checks that a host can be reached and runs the same version.
fn probe_one(program: &str, host: &str) -> Result<(), String> {
    let output = run_there(program, host, &["--version".to_owned()], PROBE)?;
    let version = String::from_utf8_lossy(&output.stdout);
    let wanted = format!("{VERSION} rank");
    if output.status.success() && version.trim() == wanted {
        return Ok(());
    }
    if output.status.success() {
        let line = version.trim().lines().next().unwrap_or_default();
        let found: String = line.chars().take(MOST_OF_VERSION).collect();
        return Err(format!(
            "it has `{found}`, and this is `{wanted}`: install the same version on all hosts"
        ));
    }
    // The last line of ssh or a shell usually has the reason.
    let words = String::from_utf8_lossy(&output.stderr);
    let last = words.lines().rev().find(|line| !line.trim().is_empty());
    Err(match last {
        Some(last) => last.trim().to_owned(),
        None => format!("{program} does not run there ({})", output.status),
    })
}

/// Runs the rank program on one host, without MPI.
///
/// # Errors
/// When it cannot be started, or does not end in time.
pub(crate) fn run_there(
    program: &str,
    host: &str,
    arguments: &[String],
    limit: Duration,
) -> Result<Output, String> {
    let machine = machine(host);
    let mut command = if is_here(machine) {
        let mut command = Command::new(program);
        command.args(arguments);
        command
    } else {
        let (agent, of_agent) = agent();
        let mut command = Command::new(agent);
        command.args(of_agent).arg(machine);
        // On the host a shell parses the words, so they are quoted.
        command.arg(shell_word(program));
        command.args(arguments.iter().map(|argument| shell_word(argument)));
        command
    };
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let child = command
        .spawn()
        .map_err(|error| format!("cannot start {:?}: {error}", command.get_program()))?;
    output_within(child, limit)
}

/// Whether a name is that of this machine. A socket can be bound only to an address of the machine
/// itself.
fn is_here(host: &str) -> bool {
    host_name() == host || UdpSocket::bind((host, 0)).is_ok()
}

/// The program that starts others on a host, with its arguments: that of Open MPI's setting, or ssh.
fn agent() -> (String, Vec<String>) {
    let agent = env::var("OMPI_MCA_plm_rsh_agent").unwrap_or_else(|_| "ssh".to_owned());
    let arguments = env::var("OMPI_MCA_plm_rsh_args").unwrap_or_else(|_| SSH_ARGUMENTS.to_owned());
    // Several agents may be named, separated by colons; the first one is used.
    let first = agent.split(':').next().unwrap_or("ssh").trim();
    let mut words = first.split_whitespace().map(str::to_owned);
    let program = words.next().unwrap_or_else(|| "ssh".to_owned());
    let mut rest: Vec<String> = words.collect();
    rest.extend(arguments.split_whitespace().map(str::to_owned));
    (program, rest)
}

/// Waits for a process and gives its output. If it does not end in time, its whole process group is
/// killed.
fn output_within(child: Child, limit: Duration) -> Result<Output, String> {
    let group = child.id();
    let (sender, receiver) = channel();
    // Its output may be larger than a pipe holds, so it is read while it runs.
    reader(move || drop(sender.send(child.wait_with_output())))
        .map_err(|error| error.to_string())?;
    match receiver.recv_timeout(limit) {
        Ok(output) => output.map_err(|error| error.to_string()),
        Err(_) => {
            end_group(group, Signal::KILL);
            Err(format!("no answer within {} s", limit.as_secs()))
        }
    }
}

fn end_group(group: u32, signal: Signal) {
    let group = i32::try_from(group).ok().and_then(Pid::from_raw);
    if let Some(group) = group {
        // An error means that the group is already gone.
        let _ = kill_process_group(group, signal);
    }
}

/// A line of output.
#[derive(Debug)]
pub enum LauncherOutput {
    /// A message of rank 0.
    Message(Box<Line>),
    /// Any other text, of a rank or of the launcher.
    Text(String),
}

/// Running ranks.
#[derive(Debug)]
pub struct Launched {
    child: Child,
    stdin: Option<ChildStdin>,
    outputs: Receiver<LauncherOutput>,
}

impl Launched {
    /// Waits up to `within` for the next line of output; `Ok(None)`: none came.
    ///
    /// # Errors
    /// When no more can come.
    pub fn next_output(&self, within: Duration) -> Result<Option<LauncherOutput>, Gone> {
        match self.outputs.recv_timeout(within) {
            Ok(output) => Ok(Some(output)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Gone),
        }
    }

    /// Asks rank 0 to end everything in order, by closing its standard input.
    pub fn stop(&mut self) {
        self.stdin = None;
    }

    /// Waits for the end, and enforces it after `within`: with SIGTERM, and with SIGKILL a moment later.
    /// `None`: not even that has ended the launcher.
    pub fn end(mut self, within: Duration) -> Option<ExitStatus> {
        self.stdin = None;
        let mut signals = [Signal::TERM, Signal::KILL].into_iter();
        let mut signal_at = Instant::now() + within;
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                // Agents that the launcher has started may still be running in its group.
                end_group(self.child.id(), Signal::TERM);
                return Some(status);
            }
            if Instant::now() >= signal_at {
                let signal = signals.next()?;
                end_group(self.child.id(), signal);
                signal_at = Instant::now() + GRACE;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The ranks and their launcher have all closed their output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gone;

/// Starts a thread that reads.
fn reader(read: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().spawn(read).map(drop)
}

/// Reads standard output: messages of rank 0, and text that others print there.
fn read_stdout(from: impl io::Read, to: &Sender<LauncherOutput>) {
    for output in lines(from).filter_map(output) {
        if to.send(output).is_err() {
            return;
        }
    }
}

/// All lines. Others may write in any encoding, such as the banner of an ssh server, and
/// [`BufRead::lines`] ends with the first line that is no UTF-8.
fn lines(from: impl io::Read) -> impl Iterator<Item = String> {
    let lines = BufReader::new(from).split(b'\n').map_while(Result::ok);
    lines.map(|line| String::from_utf8_lossy(&line).trim_end().to_owned())
}

/// What a line of standard output is; `None` for a message that is cut off, because the rank was killed
/// while it wrote: half a record is nothing to show to a user.
fn output(line: String) -> Option<LauncherOutput> {
    match serde_json::from_str(&line) {
        Ok(line) => Some(LauncherOutput::Message(Box::new(line))),
        Err(error) if error.is_eof() && line.starts_with('{') => None,
        Err(_) => Some(LauncherOutput::Text(line)),
    }
}

/// Reads standard error, which has only text.
fn read_stderr(from: impl io::Read, to: &Sender<LauncherOutput>) {
    for line in lines(from) {
        if to.send(LauncherOutput::Text(line)).is_err() {
            return;
        }
    }
}

/// The rank program: the path next to this program, if it is there; else its name, which hosts look up.
pub fn program() -> String {
    let here = env::current_exe().map(|path| path.with_file_name("blocklab-rank"));
    match here {
        Ok(path) if path.exists() => path.display().to_string(),
        _ => "blocklab-rank".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: rank 1 of three was killed, mpirun ended rank 0 while it sent the record of its host,
    /// and half of that record, thousands of letters, stood on the terminal.
    #[test]
    fn half_a_message_is_not_shown() {
        let whole = Line::Refused {
            host: "h1".to_owned(),
            why: "no such device".to_owned(),
        };
        let whole = whole.to_text();
        assert!(matches!(
            output(whole.clone()),
            Some(LauncherOutput::Message(_))
        ));
        for end in 1..whole.len() {
            assert!(
                output(whole[..end].to_owned()).is_none(),
                "{}",
                &whole[..end]
            );
        }
        let words = "mpirun noticed that process rank 1 exited";
        assert!(matches!(
            output(words.to_owned()),
            Some(LauncherOutput::Text(_))
        ));
    }

    /// The story: one letter of another encoding, of the banner of an ssh server, ended the reading of what
    /// the launcher writes, and its pipe was closed.
    #[test]
    fn a_line_that_is_no_text_is_not_the_last() {
        let read: Vec<String> = lines(&b"Zutritt f\xfcr alle\r\nlost\n"[..]).collect();
        assert_eq!(read, ["Zutritt f\u{fffd}r alle", "lost"]);
    }
}
