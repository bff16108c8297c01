//! In: messages of hosts, the time, the user's request to stop. Out: messages to hosts, and lines for the
//! launcher.
//!
//! It is a state machine without a clock or a network. A host that is silent for too long is lost. The
//! load makes no sense without it, so the other hosts are stopped and send what they have measured.

use blocklab_record::HostClock;
use blocklab_workload::PLAN_FORMAT;

use crate::clock::Now;
use crate::message::{FromHost, Hello, Line, ToHost};
use crate::offset::{Pings, Sample};
use crate::plan::{FleetPlan, VERSION};

/// After this silence in ns, a host is lost. Each sends something at least once a second.
const SILENCE_NS: i64 = 5_000_000_000;
/// The same until all hosts are connected, because programs may be loaded over a network.
const FIRST_MESSAGE_NS: i64 = 10_000_000_000;
/// Time in ns that hosts get to end after a stop. The driver gives up operations sooner than that.
const ENDING_NS: i64 = 6_000_000_000;
/// A preparation without progress for this long, in ns, is reported to the user, again and again.
const STILL_NS: i64 = 8_000_000_000;
/// Time in ns from the message that sets the start until the start; longer than any message takes.
const AHEAD_NS: i64 = 250_000_000;

/// What the caller must do.
#[derive(Debug, Clone, PartialEq)]
pub enum Order {
    /// Send a message to the host of this rank.
    Send(usize, ToHost),
    /// Write a line for the launcher.
    Report(Line),
    /// End this rank. `false`: hosts are lost, so it must not wait for all ranks.
    Leave(bool),
}

/// What the coordinator waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// That every host has connected.
    Meeting,
    /// That every host has checked its targets.
    Checking,
    /// That every host is ready to begin.
    Preparing,
    /// Answers to pings from the host of this rank; `true`: after the run.
    Comparing(usize, bool),
    /// That every run is over.
    Running,
    /// That every host has ended after a stop.
    Stopping,
    /// Nothing more.
    Over,
}

/// What is known of a host.
#[derive(Debug, Default)]
struct Host {
    /// Its name, once it has connected.
    name: Option<String>,
    /// When its last message came.
    last_message_ns: i64,
    /// When its preparation last made progress.
    last_progress_ns: i64,
    /// Whether its targets may be used, once it has checked them.
    verdict: Option<Result<(), String>>,
    is_ready: bool,
    has_ended: bool,
    is_lost: bool,
    /// The pings before the run.
    before: Pings,
    /// The pings after the run.
    after: Pings,
    /// When the last ping was sent.
    pinged_ns: i64,
    clock: Option<HostClock>,
}

/// The coordinator, which rank 0 has in addition to its own part of the load.
#[derive(Debug)]
pub struct Coordinator {
    plan: FleetPlan,
    /// The hosts by their rank.
    hosts: Vec<Host>,
    phase: Phase,
    /// When the phase began.
    since_ns: i64,
    /// When late hosts were last named.
    named_ns: i64,
    /// What the caller has not fetched yet.
    orders: Vec<Order>,
}

impl Coordinator {
    /// A coordinator of `ranks` hosts, which have not connected yet.
    pub fn new(plan: FleetPlan, ranks: usize, now: Now) -> Self {
        let hosts = (0..ranks).map(|_| Host {
            last_message_ns: now.monotonic_ns,
            ..Host::default()
        });
        Self {
            plan,
            hosts: hosts.collect(),
            phase: Phase::Meeting,
            since_ns: now.monotonic_ns,
            named_ns: now.monotonic_ns,
            orders: Vec::new(),
        }
    }

    /// Whether answers to pings are timed, so that the caller must not sleep.
    pub const fn is_timing(&self) -> bool {
        matches!(self.phase, Phase::Comparing(..))
    }

    /// What the caller must do, since the last call.
    pub fn orders(&mut self) -> Vec<Order> {
        std::mem::take(&mut self.orders)
    }

    /// Notes that a line of a host was passed on to the launcher: a sign of life and of progress.
    pub fn line_passed(&mut self, rank: usize, now: Now) {
        self.hosts[rank].last_message_ns = now.monotonic_ns;
        self.hosts[rank].last_progress_ns = now.monotonic_ns;
    }

    /// Takes a message of a host.
    pub fn receive(&mut self, rank: usize, message: FromHost, now: Now) {
        self.hosts[rank].last_message_ns = now.monotonic_ns;
        match message {
            FromHost::Alive => {}
            FromHost::Hello(hello) => self.meet(rank, hello, now),
            FromHost::Checked(verdict) => {
                self.hosts[rank].verdict = Some(verdict);
                self.when_checked(now);
            }
            FromHost::Ready => {
                self.hosts[rank].is_ready = true;
                self.report(Line::Ready(self.name(rank)));
                self.when_ready(now);
            }
            FromHost::Pong {
                number,
                monotonic_ns,
                unix_ns,
            } => self.pong(rank, number, monotonic_ns, unix_ns, now),
            FromHost::Ended { has_run } => self.ended(rank, has_run, now),
        }
    }

    /// This process did not run for `ns`. It could take no message meanwhile, so that time is no silence of
    /// the hosts.
    pub fn stood_still(&mut self, ns: i64) {
        for host in &mut self.hosts {
            host.last_message_ns += ns;
            host.last_progress_ns += ns;
        }
        self.since_ns += ns;
        self.named_ns += ns;
    }

    /// Checks which hosts are silent or late. To be called often.
    pub fn tick(&mut self, now: Now) {
        let limit = match self.phase {
            Phase::Meeting => FIRST_MESSAGE_NS,
            _ => SILENCE_NS,
        };
        // Rank 0 is this process.
        for rank in 1..self.hosts.len() {
            let host = &self.hosts[rank];
            let silent = now.monotonic_ns - host.last_message_ns;
            if !host.is_lost && !self.is_over() && silent > limit {
                let why = format!("no word for {} s", silent / 1_000_000_000);
                self.lose(rank, why, now);
            }
        }
        let waited = now.monotonic_ns - self.since_ns;
        match self.phase {
            Phase::Preparing => self.watch_preparation(waited, now),
            Phase::Stopping if waited > ENDING_NS => {
                for rank in 0..self.hosts.len() {
                    if !self.hosts[rank].has_ended && !self.hosts[rank].is_lost {
                        self.lose(rank, "it did not end when it was told to".to_owned(), now);
                    }
                }
            }
            _ => {}
        }
    }

    /// The user has requested a stop. After the run there is nothing to stop.
    pub fn stop(&mut self, now: Now) {
        let is_after = matches!(
            self.phase,
            Phase::Comparing(_, true) | Phase::Stopping | Phase::Over
        );
        if !is_after {
            self.stop_all(now);
        }
    }

    fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    fn enter(&mut self, phase: Phase, now: Now) {
        self.phase = phase;
        self.since_ns = now.monotonic_ns;
        self.named_ns = now.monotonic_ns;
    }

    fn report(&mut self, line: Line) {
        self.orders.push(Order::Report(line));
    }

    fn send_all(&mut self, message: &ToHost) {
        for (rank, host) in self.hosts.iter().enumerate() {
            if !host.is_lost {
                self.orders.push(Order::Send(rank, message.clone()));
            }
        }
    }

    fn name(&self, rank: usize) -> String {
        let known = self.hosts[rank].name.clone();
        known.unwrap_or_else(|| match self.plan.hosts.get(rank) {
            Some(task) => task.name.clone(),
            None => format!("rank {rank}"),
        })
    }

    /// A host has connected: it gets its task, and all are checked once the last one has connected.
    fn meet(&mut self, rank: usize, hello: Hello, now: Now) {
        let task = if hello.version != VERSION || hello.plan_format != PLAN_FORMAT {
            Err(format!(
                "it has {} with loads of form {}, and rank 0 has {VERSION} with form {PLAN_FORMAT}: \
                 install the same version on all hosts",
                hello.version, hello.plan_format
            ))
        } else {
            let task = self
                .plan
                .hosts
                .iter()
                .position(|task| task.name == hello.name);
            task.ok_or_else(|| "the plan has no task for a host of this name".to_owned())
        };
        self.hosts[rank].name = Some(hello.name);
        match task {
            Ok(task) => {
                let of_host = Box::new(self.plan.of_host(task));
                self.orders.push(Order::Send(rank, ToHost::Task(of_host)));
            }
            // Without a task it checks nothing, so this verdict stays; and it never reports an end.
            Err(why) => {
                self.hosts[rank].verdict = Some(Err(why.clone()));
                let host = self.name(rank);
                self.report(Line::NoRun { host, why });
                self.ended(rank, false, now);
            }
        }
        if self.phase == Phase::Meeting && self.hosts.iter().all(|host| host.name.is_some()) {
            self.report(Line::Connected);
            self.enter(Phase::Checking, now);
            self.when_checked(now);
        }
    }

    /// Goes on once all hosts have checked their targets. One refusal ends everything before anything
    /// is written.
    fn when_checked(&mut self, now: Now) {
        let all = self.hosts.iter().all(|host| host.verdict.is_some());
        if self.phase != Phase::Checking || !all {
            return;
        }
        let mut is_refused = false;
        for rank in 0..self.hosts.len() {
            if let Some(Err(why)) = self.hosts[rank].verdict.clone() {
                let host = self.name(rank);
                self.report(Line::Refused { host, why });
                is_refused = true;
            }
        }
        if is_refused {
            self.leave(now);
            return;
        }
        self.report(Line::Checked);
        for host in &mut self.hosts {
            host.last_progress_ns = now.monotonic_ns;
        }
        self.send_all(&ToHost::Prepare);
        self.enter(Phase::Preparing, now);
    }

    /// While hosts prepare: names those that make no progress, and gives up those that are not ready at
    /// the deadline.
    fn watch_preparation(&mut self, waited: i64, now: Now) {
        let mut late: Vec<usize> = (0..self.hosts.len()).collect();
        late.retain(|rank| !self.hosts[*rank].is_ready && !self.hosts[*rank].is_lost);
        let within = self.plan.prepare_within;
        if waited.unsigned_abs() > within.0 {
            for rank in late {
                let why = format!("not ready within {within}");
                self.lose(rank, why, now);
            }
        } else if now.monotonic_ns - self.named_ns > STILL_NS {
            late.retain(|rank| now.monotonic_ns - self.hosts[*rank].last_progress_ns > STILL_NS);
            let names: Vec<String> = late.iter().map(|rank| self.name(*rank)).collect();
            if !names.is_empty() {
                self.report(Line::Waiting(names));
                self.named_ns = now.monotonic_ns;
            }
        }
    }

    /// Begins to compare clocks once all hosts are ready. Rank 0 is the reference, so it starts at 1.
    fn when_ready(&mut self, now: Now) {
        if self.phase == Phase::Preparing && self.hosts.iter().all(|host| host.is_ready) {
            self.compare(1, false, now);
        }
    }

    /// Compares the clock of the next host, from `rank` on; after the last one, the load starts or the
    /// fleet ends.
    fn compare(&mut self, rank: usize, is_after: bool, now: Now) {
        let next = (rank..self.hosts.len()).find(|rank| !self.hosts[*rank].is_lost);
        match next {
            Some(rank) => {
                self.enter(Phase::Comparing(rank, is_after), now);
                self.orders.push(Order::Send(rank, ToHost::Spin));
                self.ping(rank, 1, now);
            }
            None if is_after => self.leave(now),
            None => self.start(now),
        }
    }

    fn ping(&mut self, rank: usize, number: u32, now: Now) {
        self.hosts[rank].pinged_ns = now.monotonic_ns;
        self.orders.push(Order::Send(rank, ToHost::Ping(number)));
    }

    /// Corrects when a ping was sent: encoding the message takes time that is not part of its way.
    pub fn ping_sent(&mut self, rank: usize, now: Now) {
        self.hosts[rank].pinged_ns = now.monotonic_ns;
    }

    /// Takes in the answer of a host to a ping: what its own two clocks showed then.
    fn pong(&mut self, rank: usize, number: u32, theirs_ns: i64, theirs_unix_ns: i64, now: Now) {
        let Phase::Comparing(current, is_after) = self.phase else {
            return;
        };
        let host = &mut self.hosts[rank];
        let pings = if is_after {
            &mut host.after
        } else {
            &mut host.before
        };
        // An answer that is late or out of order cannot be matched to the time of its ping.
        if rank != current || number != pings.answered + 1 {
            return;
        }
        pings.add(Sample {
            sent_ns: host.pinged_ns,
            theirs_ns,
            theirs_unix_ns,
            received_ns: now.monotonic_ns,
        });
        if number < Pings::COUNT {
            self.ping(rank, number + 1, now);
            return;
        }
        let clock = pings.clock(now.unix_ns - now.monotonic_ns);
        match (clock, &mut host.clock) {
            (Some(after), Some(known)) if is_after => known.after = Some(after),
            (Some(before), known) if !is_after => {
                *known = Some(HostClock {
                    before,
                    after: None,
                });
            }
            _ => {}
        }
        self.orders.push(Order::Send(rank, ToHost::Rest));
        self.compare(rank + 1, is_after, now);
    }

    /// Sends the time of the start to all hosts, to each by its own clock.
    fn start(&mut self, now: Now) {
        let moment = now.monotonic_ns + AHEAD_NS;
        for rank in 0..self.hosts.len() {
            let offset = self.hosts[rank].before.offset().unwrap_or_default();
            let message = ToHost::Start(moment + offset);
            self.orders.push(Order::Send(rank, message));
        }
        // Reported already now: if the launch ends early, the clocks as they were before are still known.
        self.report_clocks();
        self.report(Line::Started);
        self.enter(Phase::Running, now);
    }

    /// The run of a host has ended. Without a run before the start, the others must not begin.
    fn ended(&mut self, rank: usize, has_run: bool, now: Now) {
        self.hosts[rank].has_ended = true;
        let before_start = matches!(self.phase, Phase::Preparing | Phase::Comparing(_, false));
        if !has_run && before_start {
            self.stop_all(now);
        }
        self.when_all_ended(now);
    }

    /// Goes on once no host is running any more. Clocks are compared again only if no host is lost.
    fn when_all_ended(&mut self, now: Now) {
        let all = self.hosts.iter().all(|host| host.has_ended || host.is_lost);
        if !all || !matches!(self.phase, Phase::Running | Phase::Stopping) {
            return;
        }
        let has_clocks = self.hosts.iter().any(|host| host.clock.is_some());
        let is_lost = self.hosts.iter().any(|host| host.is_lost);
        if has_clocks && !is_lost {
            self.compare(1, true, now);
        } else {
            self.leave(now);
        }
    }

    /// Gives up a host and stops the others.
    fn lose(&mut self, rank: usize, why: String, now: Now) {
        self.hosts[rank].is_lost = true;
        let host = self.name(rank);
        self.report(Line::Lost { host, why });
        if self.phase == Phase::Stopping {
            self.when_all_ended(now);
        } else {
            self.stop_all(now);
        }
    }

    fn stop_all(&mut self, now: Now) {
        self.send_all(&ToHost::Stop);
        self.enter(Phase::Stopping, now);
        self.when_all_ended(now);
    }

    /// Reports how far the clock of each host is off, once it is known.
    fn report_clocks(&mut self) {
        for rank in 0..self.hosts.len() {
            if let Some(clock) = self.hosts[rank].clock.clone() {
                let host = self.name(rank);
                self.report(Line::Clock { host, clock });
            }
        }
    }

    /// Ends the fleet.
    fn leave(&mut self, now: Now) {
        self.report_clocks();
        self.send_all(&ToHost::Leave);
        self.report(Line::End);
        let is_whole = !self.hosts.iter().any(|host| host.is_lost);
        self.enter(Phase::Over, now);
        self.orders.push(Order::Leave(is_whole));
    }
}

#[cfg(test)]
#[path = "coordinator_tests.rs"]
mod tests;
