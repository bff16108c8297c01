//! In: a plan. Out: how every host has ended, with progress shown meanwhile. No process is left running.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use blocklab_console::terminal;

use crate::collect::collect_from;
use crate::launch::{Gone, Launched, Launcher, LauncherOutput, machine};
use crate::live::Live;
use crate::message::Line;
use crate::plan::FleetPlan;
use crate::watch::{Outcome, Watch};

/// After this silence, rank 0 is lost; it prints something at least once a second.
const SILENCE: Duration = Duration::from_secs(8);
/// The same until its first line, because programs may be loaded over a network.
const FIRST_MESSAGE: Duration = Duration::from_secs(20);
/// This process looks for output every 100 ms: more than this between two looks means that it was
/// stopped.
const STANDSTILL: Duration = Duration::from_secs(1);
/// Time for all ranks to end by themselves.
const ENDING: Duration = Duration::from_secs(3);

/// The settings of a launch.
#[derive(Debug)]
pub struct Launching<'a> {
    /// The program that starts the ranks.
    pub launcher: Launcher,
    /// The rank program on every host.
    pub program: String,
    /// Whether the live view is drawn.
    pub is_shown: bool,
    /// Set by a signal handler.
    pub interrupted: &'a AtomicBool,
}

impl Launching<'_> {
    /// Runs the plan to its end. The stored runs of hosts that could not send theirs are read from them
    /// afterwards. `observe` gets every message of rank 0 when it comes.
    ///
    /// # Errors
    /// When the launcher cannot be started.
    pub fn run(&self, plan: &FleetPlan, observe: &mut dyn FnMut(&Line)) -> Result<Outcome> {
        let mut live = Live::new(self.is_shown, plan);
        let mut watch = self.follow(plan, &mut live, observe)?;
        live.finished();
        if watch.is_started && watch.is_incomplete() {
            self.collect(plan, &mut watch);
        }
        Ok(watch.outcome())
    }

    /// Runs one launch until no more output comes.
    fn follow(
        &self,
        plan: &FleetPlan,
        live: &mut Live,
        observe: &mut dyn FnMut(&Line),
    ) -> Result<Watch> {
        let names = plan.hosts.iter().map(|host| host.name.clone());
        let mut watch = Watch::new(names.collect());
        let started = self.launcher.start(&self.program, plan);
        let mut launched = started.with_context(|| match self.launcher {
            Launcher::Mpirun => "cannot start mpirun: Debian's package openmpi-bin has it",
            Launcher::Srun => "cannot start srun",
        })?;
        // Text of the launcher is kept: if hosts are lost, it may show why.
        let mut texts: Vec<String> = Vec::new();
        let mut last_message_at = Instant::now();
        let mut looked_at = last_message_at;
        let mut is_stopped = false;
        let mut has_begun = false;
        let mut silent = None;
        loop {
            match launched.next_output(Duration::from_millis(100)) {
                Ok(Some(LauncherOutput::Message(line))) => {
                    last_message_at = Instant::now();
                    has_begun = true;
                    live.show(&line);
                    observe(&line);
                    watch.take(*line);
                }
                Ok(Some(LauncherOutput::Text(text))) => texts.push(text),
                Ok(None) => {}
                Err(Gone) => break,
            }
            // While Ctrl-Z stops this process, none of its threads reads a message.
            let pause = looked_at.elapsed();
            looked_at = Instant::now();
            if pause > STANDSTILL {
                last_message_at += pause;
            }
            if self.interrupted.load(Ordering::Relaxed) && !is_stopped {
                is_stopped = true;
                launched.stop();
            }
            let limit = if has_begun { SILENCE } else { FIRST_MESSAGE };
            let is_silent = last_message_at.elapsed() > limit;
            // All messages come from rank 0. What went wrong before its first is in the launcher's text.
            if is_silent && has_begun {
                let why = format!("no word for {} s", limit.as_secs());
                silent = Some((plan.hosts[0].name.clone(), why));
            }
            if watch.is_over || is_silent {
                break;
            }
        }
        self.end(plan, launched, &mut watch, &texts, silent);
        Ok(watch)
    }

    /// Ends what is still running. For hosts of which nothing is known, the launcher's text is searched
    /// for a reason. `silent`: the host of rank 0 and why it is lost, if its silence is why this ends.
    fn end(
        &self,
        plan: &FleetPlan,
        launched: Launched,
        watch: &mut Watch,
        texts: &[String],
        silent: Option<(String, String)>,
    ) {
        let is_in_order = watch.is_over && !watch.is_incomplete();
        // When something went wrong, waiting helps no more: ranks that are alive store their run on
        // SIGTERM.
        launched.end(if is_in_order { ENDING } else { Duration::ZERO });
        if watch.is_over {
            return;
        }
        let gone = watch.missing();
        let mut known = Vec::new();
        for (rank, task) in plan.hosts.iter().enumerate() {
            if gone.contains(&task.name)
                && let Some(why) = why_gone(rank, &task.name, texts)
            {
                known.push((task.name.clone(), why));
            }
        }
        if known.is_empty() {
            known.extend(silent.filter(|(host, _)| gone.contains(host)));
        }
        for (host, why) in &known {
            terminal::warn(&format!("{host} is lost: {why}"));
            watch.lose(host.clone(), why.clone());
        }
        let others = match known.first() {
            Some((first, _)) => format!("it was ended because {first} was lost"),
            None => "it told nothing more".to_owned(),
        };
        // Without a reason for any host, the user gets the whole text.
        if known.is_empty() {
            for line in texts.iter().filter(|line| is_telling(line)) {
                terminal::inform(line);
            }
        }
        for host in watch.missing() {
            watch.lose(host, others.clone());
        }
    }

    /// Reads the stored runs of hosts that have sent none and still answer.
    fn collect(&self, plan: &FleetPlan, watch: &mut Watch) {
        // With Slurm there is no agent, such as ssh, that reaches a single node.
        if self.launcher == Launcher::Srun {
            return;
        }
        let names = watch.without_run();
        let tasks = plan.hosts.iter().filter(|host| names.contains(&host.name));
        let tasks: Vec<_> = tasks.collect();
        for (host, record) in collect_from(&self.program, &tasks) {
            watch.collected(host, record);
        }
    }
}

/// The line of the launcher's text about the end of a host: it has the number of its rank, or the name of
/// its machine where it has none, and a word for an end.
fn why_gone(rank: usize, host: &str, texts: &[String]) -> Option<String> {
    const ENDS: [&str; 6] = ["exited", "signal", "Killed", "daemon", "lost", "timed out"];
    let machine = machine(host);
    let line = texts.iter().find(|line| {
        let mut names = line.split(|sign: char| !sign.is_alphanumeric() && !".-_".contains(sign));
        let is_about_host = match rank_in(line) {
            Some(number) => number == rank,
            None => names.any(|word| word.trim_end_matches('.') == machine),
        };
        is_about_host && ENDS.iter().any(|end| line.contains(end))
    })?;
    Some(line.trim().trim_end_matches('.').to_owned())
}

/// The rank that a line of mpirun is about; ranks have the order of the plan. The name of the machine in
/// that line does not identify a host: a plan may name a machine twice, or call it `localhost`, which
/// mpirun does not print.
fn rank_in(line: &str) -> Option<usize> {
    let (_, rest) = line.split_once("process rank ")?;
    let number = rest.split(|sign: char| !sign.is_ascii_digit()).next()?;
    number.parse().ok()
}

/// Whether a line of the launcher has text, and is not part of a frame around it.
fn is_telling(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with("---") && !line.starts_with("===")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rank: usize, host: &str, line: &str, expected: bool) {
        let texts = [
            "Message:    connect() to h3:1024 failed".to_owned(),
            line.to_owned(),
        ];
        let why = why_gone(rank, host, &texts);
        assert_eq!(why.is_some(), expected, "{host}: {why:?}");
    }

    #[test]
    fn a_launcher_says_whose_end_it_saw() {
        let killed =
            "mpirun noticed that process rank 2 with PID 1 on node h3 exited on signal 9 (Killed).";
        check(2, "h3", killed, true);
        check(0, "h1", killed, false);
        check(2, "h3", "srun: error: h3: task 2: Killed", true);
        check(0, "h33", "srun: error: h3: task 2: Killed", false);
        check(2, "h3", "nothing of interest", false);
        check(2, "h3", "Remote daemon: [[1862,0],3] on node h3", true);
    }

    /// The story: of three shares on one machine the second was killed, and the first was named as lost, too;
    /// of three on `localhost` none was.
    #[test]
    fn of_several_shares_on_one_machine_the_right_one_is_named() {
        let killed =
            "mpirun noticed that process rank 1 with PID 0 on node vm exited on signal 9 (Killed).";
        check(0, "vm", killed, false);
        check(1, "vm#2", killed, true);
        check(2, "vm#3", killed, false);
        check(1, "localhost#2", killed, true);
    }
}
