//! In: the messages of rank 0. Out: how each host has ended. It does not depend on how the ranks were
//! launched.

use std::collections::BTreeMap;

use blocklab_record::{HostClock, HostRun, LostHost, Record, Status};

use crate::message::Line;

/// How a host has ended.
#[derive(Debug, Clone, PartialEq)]
enum HostEnd {
    /// With a run.
    Run(Box<Record>),
    /// It refused its task, for this reason, before anything was written.
    Refused(String),
    /// Without a run, or lost; what is known about why.
    Lost(String),
}

/// Collects the messages of rank 0.
#[derive(Debug, Clone, Default)]
pub struct Watch {
    hosts: Vec<String>,
    ends: BTreeMap<String, HostEnd>,
    clocks: BTreeMap<String, HostClock>,
    /// Whether the load was started.
    pub is_started: bool,
    /// Whether rank 0 has sent its last message.
    pub is_over: bool,
    /// Whether a run was read from a host afterwards, because the host had not sent it.
    has_collected: bool,
}

/// The result of a launch.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// The hosts with a run.
    pub runs: Vec<HostRun>,
    /// The hosts without a run.
    pub lost: Vec<LostHost>,
    /// The hosts that refused, so that nothing was written on any host.
    pub refused: Vec<LostHost>,
    /// Whether a host was lost or failed, even if its run is here.
    pub is_incomplete: bool,
}

impl Watch {
    /// Nothing is known yet of these hosts.
    pub fn new(hosts: Vec<String>) -> Self {
        Self {
            hosts,
            ..Self::default()
        }
    }

    /// Updates what is known of the hosts by a message of rank 0.
    pub fn take(&mut self, line: Line) {
        match line {
            Line::Run { host, record } => {
                self.ends.insert(host, HostEnd::Run(record));
            }
            Line::NoRun { host, why } => {
                // An end that is known already is the cause of it.
                self.ends.entry(host).or_insert(HostEnd::Lost(why));
            }
            Line::Refused { host, why } => {
                self.ends.insert(host, HostEnd::Refused(why));
            }
            Line::Lost { host, why } => self.lose(host, why),
            Line::Clock { host, clock } => {
                self.clocks.insert(host, clock);
            }
            Line::Started => self.is_started = true,
            Line::End => self.is_over = true,
            // The others report progress to the live view, or are signs of life.
            _ => {}
        }
    }

    /// Notes that a host is lost. If its run is already here, it is kept.
    pub fn lose(&mut self, host: String, why: String) {
        let has_run = matches!(self.ends.get(&host), Some(HostEnd::Run(_)));
        if !has_run {
            self.ends.insert(host, HostEnd::Lost(why));
        }
    }

    /// The hosts whose end is not known.
    pub fn missing(&self) -> Vec<String> {
        let hosts = self.hosts.iter();
        let missing = hosts.filter(|host| !self.ends.contains_key(*host));
        missing.cloned().collect()
    }

    /// The hosts whose run is not here.
    pub fn without_run(&self) -> Vec<String> {
        let hosts = self.hosts.iter();
        let missing = hosts.filter(|host| !matches!(self.ends.get(*host), Some(HostEnd::Run(_))));
        missing.cloned().collect()
    }

    /// Whether a host has not ended with a run.
    pub fn is_incomplete(&self) -> bool {
        !self.without_run().is_empty()
    }

    /// Adds a run that was read from a host afterwards. Why the host had not sent it becomes the run's
    /// failure.
    pub fn collected(&mut self, host: String, mut record: Record) {
        if let Some(HostEnd::Lost(why)) = self.ends.get(&host) {
            record.failure.get_or_insert_with(|| why.clone());
            self.has_collected = true;
        }
        self.ends.insert(host, HostEnd::Run(Box::new(record)));
    }

    /// How all hosts have ended, in the order in which the user named them.
    pub fn outcome(mut self) -> Outcome {
        let mut outcome = Outcome {
            is_incomplete: self.has_collected,
            ..Outcome::default()
        };
        for name in self.hosts {
            let end = self.ends.remove(&name);
            match end.unwrap_or_else(|| HostEnd::Lost("it told nothing".to_owned())) {
                HostEnd::Run(record) => {
                    outcome.is_incomplete |= record.status == Status::Failed;
                    outcome.runs.push(HostRun {
                        clock: self.clocks.remove(&name),
                        name: Some(name),
                        record: *record,
                    });
                }
                HostEnd::Refused(why) => outcome.refused.push(LostHost { name, why }),
                HostEnd::Lost(why) => outcome.lost.push(LostHost { name, why }),
            }
        }
        outcome
    }
}
