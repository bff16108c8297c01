//! In: something that carries messages between ranks. Out: the work of one rank, from start to end.
//!
//! ```text
//!   this thread      messages, the user's stop, signals    never waits longer than a moment
//!   member thread    the run itself                        may hang in the kernel
//! ```

use std::io::{BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use blocklab_console::listen;

use crate::clock::{Now, clocks};
use crate::coordinator::{Coordinator, Order};
use crate::foreign::ForeignTools;
use crate::member::{Command, Member, MemberMessage};
use crate::message::{FromHost, Hello, Line, ToHost};
use crate::plan::{FleetPlan, VERSION};

/// What a message is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// From the coordinator to a host.
    Order,
    /// From a host to the coordinator.
    Report,
    /// From a host to the launcher: the coordinator does not read it.
    Line,
}

/// A message that came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// The rank that sent it.
    pub from: usize,
    /// What it is for.
    pub kind: Kind,
    /// JSON.
    pub bytes: Vec<u8>,
}

/// Carries messages between ranks. No method blocks.
pub trait Wire {
    /// The number of this rank, from 0.
    fn rank(&self) -> usize;
    /// How many ranks there are.
    fn size(&self) -> usize;
    /// Begins to send a message.
    fn send(&mut self, to: usize, kind: Kind, bytes: Vec<u8>);
    /// The next message that has come; `None`: there is none.
    fn receive(&mut self) -> Option<Envelope>;
    /// Whether all messages have been sent.
    fn is_idle(&mut self) -> bool;
}

/// Pause between two looks for messages: short enough for a live view, long enough to cost nothing.
const PAUSE: Duration = Duration::from_millis(5);
/// Time in ns between two signs of life.
const ALIVE_EVERY_NS: i64 = 1_000_000_000;
/// After this silence of the coordinator, in ns, a host ends its run by itself.
const CUT_OFF_NS: i64 = 8_000_000_000;
/// Longest time in ns for sending the last messages.
const LAST_SENDS_NS: i64 = 2_000_000_000;

/// Does the work of this rank. True, if all ranks have ended in order, so that they can be waited for.
///
/// # Errors
/// When rank 0 gets no plan on its standard input, or a thread cannot be started.
pub fn serve(wire: &mut dyn Wire, name: &str, tools: &'static dyn ForeignTools) -> Result<bool> {
    // Both flags are set by a signal; the coordinator's stop sets only `interrupted`. So the run ends
    // after a signal even if this thread is stuck in sending a message, and this thread can tell the
    // two reasons apart.
    let (signalled, interrupted) = (listen()?, listen()?);
    let (stops, coordinator) = if wire.rank() == 0 {
        let mut first = String::new();
        std::io::stdin()
            .read_line(&mut first)
            .context("rank 0 gets its plan on standard input")?;
        let plan: FleetPlan =
            serde_json::from_str(&first).context("what rank 0 got is no plan of a fleet")?;
        let coordinator = Coordinator::new(plan, wire.size(), clocks());
        (Some(await_stop()?), Some(coordinator))
    } else {
        (None, None)
    };
    let (member_sender, from_member) = channel();
    let mut part = Part {
        wire,
        tools,
        coordinator,
        stops,
        member_sender,
        from_member,
        to_member: None,
        signalled,
        interrupted,
        last_message_ns: clocks().monotonic_ns,
        looked_ns: clocks().monotonic_ns,
        beat_ns: 0,
        is_spinning: false,
        has_member: false,
        ending: None,
    };
    part.report(&FromHost::Hello(Hello {
        name: name.to_owned(),
        version: VERSION.to_owned(),
        plan_format: blocklab_workload::PLAN_FORMAT,
    }));
    loop {
        part.notice_pause(clocks().monotonic_ns);
        if let Some(plan) = part.receive_all() {
            part.start_member(plan)?;
        }
        if let Some(is_whole) = part.is_over() {
            return Ok(is_whole);
        }
        if !part.is_timing() {
            thread::sleep(PAUSE);
        }
    }
}

/// Starts a thread that waits on standard input. Any line, or its end, is a request to stop.
fn await_stop() -> Result<Receiver<()>> {
    let (sender, receiver) = channel();
    thread::Builder::new()
        .name("launcher".to_owned())
        .spawn(move || {
            let mut line = String::new();
            let _ = std::io::stdin().lock().read_line(&mut line);
            let _ = sender.send(());
        })
        .context("cannot start a thread")?;
    Ok(receiver)
}

/// The state of a rank.
struct Part<'a> {
    wire: &'a mut dyn Wire,
    tools: &'static dyn ForeignTools,
    /// Only on rank 0.
    coordinator: Option<Coordinator>,
    /// The user's requests to stop; only on rank 0.
    stops: Option<Receiver<()>>,
    /// Given to the member, to send messages.
    member_sender: Sender<MemberMessage>,
    from_member: Receiver<MemberMessage>,
    to_member: Option<Sender<Command>>,
    /// Set by a signal: the launcher ends all ranks, and each stores what it has.
    signalled: Arc<AtomicBool>,
    /// Ends the run of this host when it is set.
    interrupted: Arc<AtomicBool>,
    /// When the coordinator's last message came.
    last_message_ns: i64,
    /// When messages were last looked for.
    looked_ns: i64,
    /// When the last sign of life was sent.
    beat_ns: i64,
    /// Whether pings are to be answered without a pause.
    is_spinning: bool,
    /// Whether the member has started and not reported its end yet.
    has_member: bool,
    /// When the work ended, and whether all ranks can be waited for.
    ending: Option<(i64, bool)>,
}

impl Part<'_> {
    /// Starts the member's thread. It is never joined: if it hangs in the kernel, it ends with the
    /// process.
    fn start_member(&mut self, plan: FleetPlan) -> Result<()> {
        let (to_member, commands) = channel();
        let interrupted = Arc::clone(&self.interrupted);
        let member = Member::new(
            plan,
            commands,
            self.member_sender.clone(),
            interrupted,
            self.tools,
        );
        // After a stop no command comes any more. Without a sender, the member does not wait for one.
        let is_stopped = self.interrupted.load(Ordering::Relaxed);
        self.to_member = (!is_stopped).then_some(to_member);
        self.has_member = true;
        let spawned = thread::Builder::new()
            .name("member".to_owned())
            .spawn(move || member.work());
        spawned.context("cannot start a thread").map(drop)
    }

    /// Whether pings are timed, so that this thread must not sleep.
    fn is_timing(&self) -> bool {
        let leads = self.coordinator.as_ref();
        self.is_spinning || leads.is_some_and(Coordinator::is_timing)
    }

    /// If this process did not run for a while, because its machine or it was stopped, the others were not
    /// silent: it could not receive.
    fn notice_pause(&mut self, now_ns: i64) {
        let pause = now_ns - self.looked_ns;
        self.looked_ns = now_ns;
        if pause > ALIVE_EVERY_NS {
            self.last_message_ns += pause;
            if let Some(coordinator) = &mut self.coordinator {
                coordinator.stood_still(pause);
            }
        }
    }

    /// Handles all messages that have come, and gives the plan if it is one of them.
    fn receive_all(&mut self) -> Option<FleetPlan> {
        let mut plan = None;
        while let Some(envelope) = self.wire.receive() {
            let now = clocks();
            match envelope.kind {
                Kind::Order => plan = self.handle_order(&envelope.bytes, now).or(plan),
                Kind::Report => self.handle_report(&envelope, now),
                Kind::Line => self.print_line_of_host(&envelope, now),
            }
            self.carry_out();
        }
        while let Ok(message) = self.from_member.try_recv() {
            match message {
                MemberMessage::Report(report) => {
                    self.has_member &= !matches!(report, FromHost::Ended { .. });
                    self.report(&report);
                }
                MemberMessage::Line(line) => {
                    let text = line.to_text().into_bytes();
                    self.wire.send(0, Kind::Line, text);
                }
            }
        }
        self.send_signs_of_life(clocks());
        plan
    }

    /// Sends a message to the coordinator.
    fn report(&mut self, report: &FromHost) {
        let bytes = serde_json::to_vec(report).expect("reports are plain data");
        self.wire.send(0, Kind::Report, bytes);
    }

    /// Does what the coordinator's message says. Gives the plan if it is this host's task; `None` for any
    /// other message, and for one that cannot be read, which is ignored.
    fn handle_order(&mut self, bytes: &[u8], now: Now) -> Option<FleetPlan> {
        self.last_message_ns = now.monotonic_ns;
        match serde_json::from_slice(bytes).ok()? {
            ToHost::Task(plan) => return Some(*plan),
            ToHost::Prepare => self.command(Command::Prepare),
            ToHost::Start(at) => self.command(Command::Start(at)),
            ToHost::Spin => self.is_spinning = true,
            ToHost::Rest => self.is_spinning = false,
            ToHost::Ping(number) => {
                // Read again, as close to the answer as possible.
                let now = clocks();
                self.report(&FromHost::Pong {
                    number,
                    monotonic_ns: now.monotonic_ns,
                    unix_ns: now.unix_ns,
                });
            }
            ToHost::Stop => self.stop(),
            ToHost::Leave => {
                self.stop();
                // A rank that has ended by itself before stays one that is not waited for.
                self.ending.get_or_insert((now.monotonic_ns, true));
            }
            ToHost::Alive => {}
        }
        None
    }

    fn command(&self, command: Command) {
        if let Some(member) = &self.to_member {
            // If the member is gone, it has reported why.
            let _ = member.send(command);
        }
    }

    /// Ends the run of this host.
    fn stop(&mut self) {
        self.interrupted.store(true, Ordering::Relaxed);
        self.is_spinning = false;
        // Closing the channel wakes a member that waits for a command.
        self.to_member = None;
    }

    /// On rank 0: passes a host's message to the coordinator.
    fn handle_report(&mut self, envelope: &Envelope, now: Now) {
        let report = serde_json::from_slice(&envelope.bytes);
        if let (Some(coordinator), Ok(report)) = (&mut self.coordinator, report) {
            coordinator.receive(envelope.from, report, now);
        }
    }

    /// On rank 0: passes a host's line on to the launcher.
    fn print_line_of_host(&mut self, envelope: &Envelope, now: Now) {
        if let Some(coordinator) = &mut self.coordinator {
            coordinator.line_passed(envelope.from, now);
            print(&envelope.bytes);
        }
    }

    /// On rank 0: does what the coordinator wants.
    fn carry_out(&mut self) {
        let Some(coordinator) = &mut self.coordinator else {
            return;
        };
        for order in coordinator.orders() {
            match order {
                Order::Send(rank, message) => {
                    let bytes = serde_json::to_vec(&message).expect("orders are plain data");
                    if matches!(message, ToHost::Ping(_)) {
                        coordinator.ping_sent(rank, clocks());
                    }
                    self.wire.send(rank, Kind::Order, bytes);
                }
                Order::Report(line) => print(line.to_text().as_bytes()),
                Order::Leave(is_whole) => {
                    self.ending = Some((clocks().monotonic_ns, is_whole));
                }
            }
        }
    }

    /// Sends signs of life; on rank 0, lets the coordinator check the time and the user's stop.
    fn send_signs_of_life(&mut self, now: Now) {
        if let Some(coordinator) = &mut self.coordinator {
            let stops = self.stops.as_ref();
            if stops.is_some_and(|stops| stops.try_recv().is_ok()) {
                coordinator.stop(now);
            }
            coordinator.tick(now);
            self.carry_out();
        }
        if now.monotonic_ns - self.beat_ns < ALIVE_EVERY_NS {
            return;
        }
        self.beat_ns = now.monotonic_ns;
        self.report(&FromHost::Alive);
        if self.coordinator.is_some() {
            print(Line::Alive.to_text().as_bytes());
            let alive = serde_json::to_vec(&ToHost::Alive).expect("orders are plain data");
            for rank in 1..self.wire.size() {
                self.wire.send(rank, Kind::Order, alive.clone());
            }
        }
    }

    /// `None` while this rank has work to do. Once it may end: whether all ranks can be waited for.
    fn is_over(&mut self) -> Option<bool> {
        let now = clocks().monotonic_ns;
        if let Some((since, is_whole)) = self.ending {
            let is_late = now - since > LAST_SENDS_NS;
            let is_all_sent = !self.has_member && self.wire.is_idle();
            // A member that hangs in the kernel never reports its end, so there is a limit.
            return (is_all_sent || is_late).then_some(is_whole && is_all_sent);
        }
        let is_cut_off = self.coordinator.is_none() && now - self.last_message_ns > CUT_OFF_NS;
        if is_cut_off || self.signalled.load(Ordering::Relaxed) {
            self.stop();
            self.ending = Some((now, false));
        }
        None
    }
}

/// Prints a line for the launcher. Errors are ignored: if the launcher is gone, standard input has
/// ended, too, which stops everything.
fn print(line: &[u8]) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(line).and_then(|()| out.write_all(b"\n"));
    let _ = out.flush();
}

/// The host name of this machine, or `localhost`.
pub fn host_name() -> String {
    let own = std::fs::read_to_string("/proc/sys/kernel/hostname");
    own.map_or_else(|_| "localhost".to_owned(), |own| own.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{ForeignLoad, HostTask, Load};
    use blocklab_record::Record;
    use blocklab_runner::{HostSetting, Observer};
    use blocklab_units::Nanos;
    use blocklab_workload::Plan;

    /// A wire that carries nothing.
    struct Nowhere;

    impl Wire for Nowhere {
        fn rank(&self) -> usize {
            1
        }
        fn size(&self) -> usize {
            2
        }
        fn send(&mut self, _: usize, _: Kind, _: Vec<u8>) {}
        fn receive(&mut self) -> Option<Envelope> {
            None
        }
        fn is_idle(&mut self) -> bool {
            true
        }
    }

    /// A tool that finds nothing to refuse.
    struct Willing;

    impl ForeignTools for Willing {
        fn run(
            &self,
            _: &ForeignLoad,
            _: &HostSetting<'_>,
            permitted: &mut dyn FnMut() -> bool,
            _: &mut dyn Observer,
        ) -> Result<Option<Record>> {
            assert!(!permitted(), "nobody has permitted it");
            Ok(None)
        }
    }

    fn plan(store: &std::path::Path) -> FleetPlan {
        let load = Load {
            plan: Plan::once("a", "", Vec::new()),
            notes: Vec::new(),
            may_replace_engine: false,
            creates_targets: false,
        };
        let task = HostTask {
            name: "h2".to_owned(),
            run: "r".to_owned(),
            targets: Vec::new(),
            destroy_data: Vec::new(),
            store: Some(store.to_owned()),
            foreign: Some(ForeignLoad {
                tool: "fio".to_owned(),
                text: String::new(),
                is_followed: false,
            }),
        };
        FleetPlan::new(load, vec![task], Nanos::from_secs(20))
    }

    /// The story: a host connected after the user had stopped the launch, waited for a command that could
    /// not come, and was reported as lost.
    #[test]
    fn a_task_that_comes_after_a_stop_ends_at_once() {
        let store = tempfile::tempdir().expect("a directory");
        let (member_sender, from_member) = channel();
        let mut part = Part {
            wire: &mut Nowhere,
            tools: &Willing,
            coordinator: None,
            stops: None,
            member_sender,
            from_member,
            to_member: None,
            signalled: Arc::default(),
            interrupted: Arc::default(),
            last_message_ns: 0,
            looked_ns: 0,
            beat_ns: 0,
            is_spinning: false,
            has_member: false,
            ending: None,
        };
        part.stop();
        part.start_member(plan(store.path())).expect("a thread");
        let mut reports =
            std::iter::from_fn(|| part.from_member.recv_timeout(Duration::from_secs(10)).ok());
        assert!(reports.any(|report| matches!(
            report,
            MemberMessage::Report(FromHost::Ended { has_run: false })
        )));
    }
}
