//! In: the task of a host, and commands. Out: the run of this host in its store, and messages about it.
//!
//! It has a thread of its own. The rank's main thread carries messages meanwhile, and still answers
//! when this one hangs in the kernel.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};

use anyhow::{Context, Result};
use blocklab_console::{place, terminal};
use blocklab_record::Record;
use blocklab_results::Spooling;
use blocklab_runner::{Event, Finished, HostSetting, Observer, Prepared, Questions, Setting};
use blocklab_store::Store;
use blocklab_units::Nanos;

use crate::clock::clocks;
use crate::foreign::ForeignTools;
use crate::message::{FromHost, Line};
use crate::plan::{FleetPlan, ForeignLoad, HostTask};

/// What the thread is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    /// All hosts have passed their checks: lay out targets.
    Prepare,
    /// Begin at this moment of the monotonic clock, in ns.
    Start(i64),
}

/// A message that the thread sends.
#[derive(Debug)]
pub(crate) enum MemberMessage {
    /// To the coordinator.
    Report(FromHost),
    /// To the launcher.
    Line(Box<Line>),
}

/// The part of one host in the load.
pub(crate) struct Member {
    /// The plan with this host alone.
    plan: FleetPlan,
    commands: Receiver<Command>,
    messages: Sender<MemberMessage>,
    /// Ends the run when it is set.
    interrupted: Arc<AtomicBool>,
    tools: &'static dyn ForeignTools,
}

impl Member {
    pub(crate) fn new(
        plan: FleetPlan,
        commands: Receiver<Command>,
        messages: Sender<MemberMessage>,
        interrupted: Arc<AtomicBool>,
        tools: &'static dyn ForeignTools,
    ) -> Self {
        Self {
            plan,
            commands,
            messages,
            interrupted,
            tools,
        }
    }

    /// Does everything, from the first check to the last message.
    pub(crate) fn work(self) {
        let task = self.plan.hosts[0].clone();
        let measured = self.measure(&task);
        let end =
            measured.and_then(|record| record.context("stopped before anything was measured"));
        let has_run = end.is_ok();
        let host = task.name;
        self.line(match end {
            Ok(record) => Line::Run {
                host,
                record: Box::new(record),
            },
            Err(error) => Line::NoRun {
                host,
                why: format!("{error:#}"),
            },
        });
        self.report(FromHost::Ended { has_run });
    }

    fn report(&self, report: FromHost) {
        // The main thread, which receives it, outlives this one.
        let _ = self.messages.send(MemberMessage::Report(report));
    }

    fn line(&self, line: Line) {
        let _ = self.messages.send(MemberMessage::Line(Box::new(line)));
    }

    /// Checks everything, reports the result, and measures when all hosts have passed. `None`: it was
    /// stopped before anything was measured.
    fn measure(&self, task: &HostTask) -> Result<Option<Record>> {
        let refused = |error: anyhow::Error| {
            self.report(FromHost::Checked(Err(format!("{error:#}"))));
            error
        };
        let store = place::store(task.store.clone()).map_err(refused)?;
        if let Some(load) = &task.foreign {
            return self.measure_foreign(load, task, &store);
        }
        let guard = place::guard(&task.destroy_data, &store).on_host(&task.name);
        let catalog = place::load_catalog().map_err(refused)?;
        let request = self.plan.load.request(task);
        let setting = Setting {
            store: &store,
            guard: &guard,
            catalog: &catalog,
            interrupted: &self.interrupted,
        };
        let prepared = Prepared::new(&request, setting)
            .map_err(anyhow::Error::from)
            .map_err(refused)?;
        // Makes all checks of a run without writing anything.
        prepared
            .forecasts()
            .map_err(anyhow::Error::from)
            .map_err(refused)?;
        store
            .try_out()
            .context("it cannot keep its run")
            .map_err(refused)?;
        self.report(FromHost::Checked(Ok(())));
        let Ok(Command::Prepare) = self.commands.recv() else {
            return Ok(None);
        };
        let mut view = self.view(task, &store);
        let finished = prepared.run(&mut view);
        // Dropping the view waits until the spool is written; storing the run removes the spool.
        drop(view);
        let Finished::Run(record) = finished? else {
            return Ok(None);
        };
        Ok(self.keep(*record, &store))
    }

    /// The same for a load in the language of another tool, which has rules of its own for checking
    /// and laying out targets.
    fn measure_foreign(
        &self,
        load: &ForeignLoad,
        task: &HostTask,
        store: &Store,
    ) -> Result<Option<Record>> {
        let host = HostSetting {
            name: &task.name,
            run: &task.run,
            destroy_data: &task.destroy_data,
            store,
            interrupted: &self.interrupted,
        };
        let mut is_permitted = false;
        let mut view = self.view(task, store);
        let record = self.tools.run(
            load,
            &host,
            &mut || {
                is_permitted = true;
                self.report(FromHost::Checked(Ok(())));
                matches!(self.commands.recv(), Ok(Command::Prepare))
            },
            &mut view,
        );
        drop(view);
        match record {
            // Without a verdict before, the coordinator still waits for one.
            Err(error) if !is_permitted => {
                self.report(FromHost::Checked(Err(format!("{error:#}"))));
                Err(error)
            }
            record => Ok(record?.and_then(|record| self.keep(record, store))),
        }
    }

    fn view<'a>(&'a self, task: &'a HostTask, store: &'a Store) -> HostView<'a> {
        HostView {
            member: self,
            host: &task.name,
            is_followed: task.foreign.as_ref().is_some_and(|load| load.is_followed),
            spooling: Spooling::new(Some(store)),
            sent_ns: 0,
        }
    }

    /// Stores the run on this host. If that fails, it is sent all the same. `None` if it has no
    /// measurement.
    fn keep(&self, mut record: Record, store: &Store) -> Option<Record> {
        if record.measurements.is_empty() {
            return None;
        }
        if let Err(error) = store.keep(&mut record) {
            let text = format!("the run cannot be kept on this host: {error}");
            terminal::warn(&text);
        }
        Some(record)
    }
}

/// The observer of the run: it sends messages about it and writes the spool.
struct HostView<'a> {
    member: &'a Member,
    host: &'a str,
    /// Whether each interval and measurement is sent when it ends.
    is_followed: bool,
    spooling: Spooling,
    /// When the progress of a layout was last sent.
    sent_ns: i64,
}

/// Least time in ns between two messages about a layout, which makes progress with every megabyte.
const BETWEEN_STEPS: i64 = 500_000_000;

impl Observer for HostView<'_> {
    fn event(&mut self, event: Event<'_>) {
        self.spooling.event(event);
        let host = self.host.to_owned();
        match event {
            Event::LayingOut { path, done, total } => {
                let now = clocks().monotonic_ns;
                if now - self.sent_ns > BETWEEN_STEPS {
                    self.sent_ns = now;
                    self.member.line(Line::LayingOut {
                        host,
                        path: path.display().to_string(),
                        done: done.0,
                        total: total.0,
                    });
                }
            }
            Event::Begins { case, pass, .. } => self.member.line(Line::Begins {
                host,
                case: case.name.clone(),
                pass,
            }),
            Event::Slice(slice) if self.is_followed => self.member.line(Line::Slice {
                host,
                interval: slice.clone(),
            }),
            Event::Ended(record) if self.is_followed => {
                if let Some(measurement) = record.measurements.last() {
                    self.member.line(Line::Measured {
                        host,
                        measurement: Box::new(measurement.clone()),
                    });
                }
            }
            Event::Interval {
                interval, elapsed, ..
            } => self.member.line(Line::Frame {
                host,
                elapsed_ns: elapsed.0,
                interval: Box::new(*interval),
            }),
            _ => {}
        }
    }
}

impl Questions for HostView<'_> {
    fn keeps_frames(&self) -> bool {
        self.spooling.is_kept()
    }

    /// Reports that everything is laid out, and waits until the coordinator sets the start. Returns how far
    /// that is ahead; `None`: the run is stopped.
    fn start_in(&mut self) -> Option<Nanos> {
        self.member.report(FromHost::Ready);
        match self.member.commands.recv() {
            Ok(Command::Start(at)) => {
                // A start that has passed already means at once.
                let ahead = at.saturating_sub(clocks().monotonic_ns);
                Some(Nanos(u64::try_from(ahead).unwrap_or_default()))
            }
            // The main thread has closed the channel, because the coordinator has sent a stop; and without a
            // start, nothing may begin.
            Err(_) | Ok(Command::Prepare) => {
                self.member.interrupted.store(true, Ordering::Relaxed);
                None
            }
        }
    }
}
