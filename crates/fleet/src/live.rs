//! In: the messages of rank 0. Out: one view of all hosts while they run.
//!
//! A terminal shows the sum of all hosts in the same way as a run of one host, and a line with the rate
//! of each host. Without a terminal, each event is printed as a line.

use std::collections::BTreeMap;

use blocklab_console::terminal;
use blocklab_record::{Interval, IntervalDirection};
use blocklab_report::live::Screen;
use blocklab_runner::{pause_between, planned_run};
use blocklab_units::{Nanos, count, plural};
use blocklab_workload::Plan;

use crate::message::Line;
use crate::plan::FleetPlan;

/// The view of a running fleet.
pub(crate) struct Live {
    screen: Screen,
    /// Whether anything is shown but warnings.
    is_shown: bool,
    is_terminal: bool,
    load: Plan,
    /// The case that began last.
    case: Option<String>,
    hosts: Vec<String>,
    /// Number of hosts that are ready.
    ready: usize,
    /// The current measurement of the first host, which is shown for all of them.
    step: Option<String>,
    /// The last interval of each host.
    latest: BTreeMap<String, Interval>,
    /// Time of the measurements before the current one.
    ended_steps: Nanos,
    /// Time of the current measurement so far, on the host that is furthest.
    this_step: Nanos,
}

impl Live {
    pub(crate) fn new(is_shown: bool, plan: &FleetPlan) -> Self {
        let load = &plan.load.plan;
        let size = terminal::size();
        Self {
            screen: Screen::new(is_shown && size.is_some(), size, planned_run(load)),
            is_shown,
            is_terminal: size.is_some(),
            load: load.clone(),
            case: None,
            hosts: plan.hosts.iter().map(|host| host.name.clone()).collect(),
            ready: 0,
            step: None,
            latest: BTreeMap::new(),
            ended_steps: Nanos::ZERO,
            this_step: Nanos::ZERO,
        }
    }

    /// Shows a message.
    pub(crate) fn show(&mut self, line: &Line) {
        match line {
            Line::Connected => {
                let hosts = plural(self.hosts.len(), "host");
                self.say(&format!("connected: {hosts}"));
            }
            Line::Checked => self.say("all targets are permitted; nothing was written yet"),
            Line::Ready(host) => {
                self.ready += 1;
                self.say(&format!(
                    "{host} is ready ({} of {})",
                    self.ready,
                    self.hosts.len()
                ));
            }
            Line::LayingOut {
                host,
                path,
                done,
                total,
            } => self.laying_out(&format!("{host}: laying out {path}"), *done, *total),
            Line::Waiting(hosts) => self.say(&format!(
                "{} is not ready, and has not moved for some seconds",
                hosts.join(", ")
            )),
            Line::Started => self.say("all hosts begin together"),
            Line::Lost { host, why } => {
                self.warn(&format!("{host} is lost: {why}; the others are stopped"))
            }
            Line::Begins { host, case, pass } if self.hosts.first() == Some(host) => {
                self.begins(case, *pass)
            }
            Line::Frame {
                host,
                interval,
                elapsed_ns,
            } => self.frame(host, interval, Nanos(*elapsed_ns)),
            _ => {}
        }
    }

    /// Ends the view and clears the screen.
    pub(crate) fn finished(&mut self) {
        self.report_step();
        self.screen.finished();
    }

    /// Shows an event: on the terminal's status line, or as a line of text.
    fn say(&mut self, text: &str) {
        if self.is_terminal {
            self.screen.phase(text);
        } else if self.is_shown {
            terminal::inform(text);
        }
    }

    /// Prints a warning, also when nothing else is shown.
    fn warn(&mut self, text: &str) {
        self.screen.finished();
        terminal::warn(text);
    }

    fn laying_out(&mut self, text: &str, done: u64, total: u64) {
        if self.is_terminal {
            self.screen.phase(text);
            self.screen.progress(done, total);
        }
    }

    /// Shows that a pass begins, after a line about the one before.
    fn begins(&mut self, case: &str, pass: u32) {
        self.report_step();
        let latest = self.case.replace(case.to_owned());
        let pause = latest.map(|latest| pause_between(&self.load, &latest, case));
        self.ended_steps = self.ended_steps + self.this_step + pause.unwrap_or_default();
        self.this_step = Nanos::ZERO;
        self.latest.clear();
        let Plan { cases, passes, .. } = &self.load;
        // Hosts run only cases of the plan, so the case is always found.
        let index = cases.iter().position(|known| known.name == case);
        let number = index.unwrap_or(0) + 1;
        let passes = *passes;
        self.screen.case(case, pass, passes, number, cases.len());
        self.step = Some(format!("{case} pass {pass}/{passes}"));
    }

    /// Keeps the latest interval of a host.
    fn frame(&mut self, host: &str, interval: &Interval, elapsed: Nanos) {
        self.latest.insert(host.to_owned(), *interval);
        self.this_step = self.this_step.max(elapsed);
        // Drawn once a second, when the first host reports, and not for each host.
        if self.hosts.first().is_some_and(|first| first == host) {
            let sum = sum(self.latest.values());
            self.screen.hosts(&self.rates());
            self.screen
                .interval(&sum, self.ended_steps + self.this_step);
        }
    }

    /// The hosts with their rates, in one line.
    fn rates(&self) -> String {
        let latest = self.latest.iter();
        let rates = latest.map(|(host, interval)| format!("{host} {}", count(iops(interval))));
        rates.collect::<Vec<_>>().join("   ")
    }

    /// Without a terminal, prints the rates in the last second of the measurement that has ended.
    fn report_step(&mut self) {
        let Some(step) = self.step.take() else {
            return;
        };
        if self.is_shown && !self.is_terminal && !self.latest.is_empty() {
            let all: f64 = self.latest.values().map(iops).sum();
            let text = format!("{step}: at its end {} IOPS   {}", count(all), self.rates());
            terminal::inform(&text);
        }
    }
}

fn iops(interval: &Interval) -> f64 {
    let ios = interval.read.ios + interval.write.ios + interval.trim.ios;
    ios as f64 / (interval.length_ns.max(1) as f64 / 1e9)
}

/// The sum of all hosts. Percentiles cannot be merged, so they are those of the slowest host.
fn sum<'a>(all: impl Iterator<Item = &'a Interval>) -> Interval {
    let mut sum = Interval::default();
    for one in all {
        sum.length_ns = sum.length_ns.max(one.length_ns);
        sum.ramp |= one.ramp;
        for (to, from) in [
            (&mut sum.read, one.read),
            (&mut sum.write, one.write),
            (&mut sum.trim, one.trim),
        ] {
            *to = IntervalDirection {
                ios: to.ios + from.ios,
                bytes: to.bytes + from.bytes,
                mean_ns: to.mean_ns.max(from.mean_ns),
                p50_ns: to.p50_ns.max(from.p50_ns),
                p99_ns: to.p99_ns.max(from.p99_ns),
                max_ns: to.max_ns.max(from.max_ns),
                ..from
            };
        }
    }
    sum
}
