//! In: something that carries messages between ranks. Out: the part of one rank, to its end.
//!
//! ```text
//!   this thread    messages, the user's stop, signals      never waits longer than a moment
//!   its member     the run itself                          may hang in the kernel
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
use crate::member::{Command, Member, Told};
use crate::message::{FromHost, Hello, Line, ToHost};
use crate::plan::{FleetPlan, VERSION};

/// What a message is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// From the coordinator to a host.
    Order,
    /// From a host to the coordinator.
    Word,
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

/// Carries messages between ranks, and never waits.
pub trait Wire {
    /// The number of this rank, from 0.
    fn rank(&self) -> usize;
    /// How many ranks there are.
    fn size(&self) -> usize;
    /// Sends a message, which may still be under way afterwards.
    fn send(&mut self, to: usize, kind: Kind, bytes: Vec<u8>);
    /// The next message that has come.
    fn receive(&mut self) -> Option<Envelope>;
    /// Whether everything that was sent has left.
    fn is_idle(&mut self) -> bool;
}

/// Between two looks for messages. Short enough for a live view, long enough to cost nothing.
const PAUSE: Duration = Duration::from_millis(5);
/// Both sides say that they are there.
const BEAT: i64 = 1_000_000_000;
/// A host that hears nothing from the coordinator for so long is cut off.
const CUT_OFF: i64 = 8_000_000_000;
/// How long the last messages may take.
const LAST_WORDS: i64 = 2_000_000_000;

/// Plays the part of this rank. Whether all ended in order, so that everybody can be waited for.
///
/// # Errors
/// When rank 0 gets no plan on its standard input.
pub fn serve(wire: &mut dyn Wire, name: &str, tools: &'static dyn ForeignTools) -> Result<bool> {
    // Two flags: what a signal sets ends the run even when this thread hangs in a message, and the
    // coordinator ends it without a signal.
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
    let (told, from_member) = channel();
    let mut part = Part {
        wire,
        tools,
        coordinator,
        stops,
        told,
        from_member,
        to_member: None,
        signalled,
        interrupted,
        heard_ns: clocks().monotonic_ns,
        beat_ns: 0,
        is_spinning: false,
        has_member: false,
        ending: None,
    };
    part.word(&FromHost::Hello(Hello {
        name: name.to_owned(),
        version: VERSION.to_owned(),
        plan_format: blocklab_workload::PLAN_FORMAT,
    }));
    loop {
        if let Some(plan) = part.look() {
            part.begin(plan)?;
        }
        if let Some(is_whole) = part.is_over() {
            return Ok(is_whole);
        }
        if !part.is_timing() {
            thread::sleep(PAUSE);
        }
    }
}

/// A thread that reads standard input to its end: any line, and the end itself, mean stop.
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

struct Part<'a> {
    wire: &'a mut dyn Wire,
    tools: &'static dyn ForeignTools,
    coordinator: Option<Coordinator>,
    stops: Option<Receiver<()>>,
    told: Sender<Told>,
    from_member: Receiver<Told>,
    to_member: Option<Sender<Command>>,
    /// By a signal: the launcher ends all ranks, and each keeps what it has.
    signalled: Arc<AtomicBool>,
    /// Ends the run of this host.
    interrupted: Arc<AtomicBool>,
    heard_ns: i64,
    beat_ns: i64,
    is_spinning: bool,
    has_member: bool,
    /// Since when it is over, and whether in order.
    ending: Option<(i64, bool)>,
}

impl Part<'_> {
    /// The member is not waited for: one that hangs in the kernel ends with the process.
    fn begin(&mut self, plan: FleetPlan) -> Result<()> {
        let (to_member, commands) = channel();
        let interrupted = Arc::clone(&self.interrupted);
        let member = Member::new(plan, commands, self.told.clone(), interrupted, self.tools);
        self.to_member = Some(to_member);
        self.has_member = true;
        let spawned = thread::Builder::new()
            .name("member".to_owned())
            .spawn(move || member.work());
        spawned.context("cannot start a thread").map(drop)
    }

    fn is_timing(&self) -> bool {
        let leads = self.coordinator.as_ref();
        self.is_spinning || leads.is_some_and(Coordinator::is_timing)
    }

    /// Everything that has come since the last look. The plan, where that is among it.
    fn look(&mut self) -> Option<FleetPlan> {
        let mut plan = None;
        while let Some(envelope) = self.wire.receive() {
            let now = clocks();
            match envelope.kind {
                Kind::Order => plan = self.obey(&envelope.bytes, now).or(plan),
                Kind::Word => self.hear(&envelope, now),
                Kind::Line => self.pass(&envelope, now),
            }
            self.carry_out();
        }
        while let Ok(told) = self.from_member.try_recv() {
            match told {
                Told::Word(word) => {
                    self.has_member &= !matches!(word, FromHost::Ended(_));
                    self.word(&word);
                }
                Told::Line(line) => {
                    let text = line.to_text().into_bytes();
                    self.wire.send(0, Kind::Line, text);
                }
            }
        }
        self.beat(clocks());
        plan
    }

    fn word(&mut self, word: &FromHost) {
        let bytes = serde_json::to_vec(word).expect("words are plain data");
        self.wire.send(0, Kind::Word, bytes);
    }

    /// An order of the coordinator.
    fn obey(&mut self, bytes: &[u8], now: Now) -> Option<FleetPlan> {
        self.heard_ns = now.monotonic_ns;
        match serde_json::from_slice(bytes).ok()? {
            ToHost::Task(plan) => return Some(*plan),
            ToHost::Prepare => self.command(Command::Prepare),
            ToHost::Start(at) => self.command(Command::Start(at)),
            ToHost::Spin => self.is_spinning = true,
            ToHost::Rest => self.is_spinning = false,
            ToHost::Ping(number) => {
                let now = clocks();
                self.word(&FromHost::Pong {
                    number,
                    monotonic_ns: now.monotonic_ns,
                    unix_ns: now.unix_ns,
                });
            }
            ToHost::Stop => self.stop(),
            ToHost::Leave => {
                self.stop();
                self.ending.get_or_insert((now.monotonic_ns, true));
            }
            ToHost::Alive => {}
        }
        None
    }

    fn command(&self, command: Command) {
        if let Some(member) = &self.to_member {
            // A member that is gone has told why.
            let _ = member.send(command);
        }
    }

    fn stop(&mut self) {
        self.interrupted.store(true, Ordering::Relaxed);
        self.is_spinning = false;
        // Who waits for a command learns that none comes.
        self.to_member = None;
    }

    /// A word of a host to the coordinator.
    fn hear(&mut self, envelope: &Envelope, now: Now) {
        let word = serde_json::from_slice(&envelope.bytes);
        if let (Some(coordinator), Ok(word)) = (&mut self.coordinator, word) {
            coordinator.hear(envelope.from, word, now);
        }
    }

    fn pass(&mut self, envelope: &Envelope, now: Now) {
        if let Some(coordinator) = &mut self.coordinator {
            coordinator.passed(envelope.from, now);
            print(&envelope.bytes);
        }
    }

    fn carry_out(&mut self) {
        let Some(coordinator) = &mut self.coordinator else {
            return;
        };
        for order in coordinator.orders() {
            match order {
                Order::Send(rank, word) => {
                    let bytes = serde_json::to_vec(&word).expect("orders are plain data");
                    if matches!(word, ToHost::Ping(_)) {
                        coordinator.is_sent(rank, clocks());
                    }
                    self.wire.send(rank, Kind::Order, bytes);
                }
                Order::Tell(line) => print(line.to_text().as_bytes()),
                Order::Leave(is_whole) => {
                    self.ending = Some((clocks().monotonic_ns, is_whole));
                }
            }
        }
    }

    /// Says that this rank is there, and looks who else is.
    fn beat(&mut self, now: Now) {
        if let Some(coordinator) = &mut self.coordinator {
            let stops = self.stops.as_ref();
            if stops.is_some_and(|stops| stops.try_recv().is_ok()) {
                coordinator.stop(now);
            }
            coordinator.tick(now);
            self.carry_out();
        }
        if now.monotonic_ns - self.beat_ns < BEAT {
            return;
        }
        self.beat_ns = now.monotonic_ns;
        self.word(&FromHost::Alive);
        if self.coordinator.is_some() {
            print(Line::Alive.to_text().as_bytes());
            let alive = serde_json::to_vec(&ToHost::Alive).expect("orders are plain data");
            for rank in 1..self.wire.size() {
                self.wire.send(rank, Kind::Order, alive.clone());
            }
        }
    }

    /// `None` while this rank has work to do. When it may end: whether all ranks end together, or
    /// this one without waiting for the others.
    fn is_over(&mut self) -> Option<bool> {
        let now = clocks().monotonic_ns;
        if let Some((since, is_whole)) = self.ending {
            let is_late = now - since > LAST_WORDS;
            let is_told = !self.has_member && self.wire.is_idle();
            return (is_told || is_late).then_some(is_whole && is_told);
        }
        let is_cut_off = self.coordinator.is_none() && now - self.heard_ns > CUT_OFF;
        if is_cut_off || self.signalled.load(Ordering::Relaxed) {
            self.stop();
            self.ending = Some((now, false));
        }
        None
    }
}

/// A line for the launcher. Nobody reads it when that is gone, and then the input has ended, too.
fn print(line: &[u8]) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(line).and_then(|()| out.write_all(b"\n"));
    let _ = out.flush();
}

/// The name of this machine.
pub fn host_name() -> String {
    let own = std::fs::read_to_string("/proc/sys/kernel/hostname");
    own.map_or_else(|_| "localhost".to_owned(), |own| own.trim().to_owned())
}
