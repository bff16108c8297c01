//! In: the lines of rank 0. Out: what became of each host.
//!
//! A file of its own: what the launcher knows is a matter of lines, whoever launched the ranks.

use std::collections::BTreeMap;

use blocklab_record::{HostClock, HostRun, LostHost, Record, Status};

use crate::message::Line;

/// How the share of a host ended.
#[derive(Debug, Clone, PartialEq)]
pub enum HostEnd {
    /// With a run.
    Run(Box<Record>),
    /// With none: why.
    Nothing(String),
    /// It refused before anything was written.
    Refused(String),
    /// It is gone: what is known of it.
    Lost(String),
}

/// Collects what rank 0 tells.
#[derive(Debug, Clone, Default)]
pub struct Watch {
    hosts: Vec<String>,
    ends: BTreeMap<String, HostEnd>,
    clocks: BTreeMap<String, HostClock>,
    /// Whether the hosts were let go.
    pub is_started: bool,
    /// Whether rank 0 has told everything.
    pub is_over: bool,
    /// Whether a host was lost whose run was read afterwards.
    is_broken: bool,
}

/// What a launch came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// The hosts that left a run.
    pub runs: Vec<HostRun>,
    /// The hosts that left no run, or were lost.
    pub lost: Vec<LostHost>,
    /// The hosts that refused: nothing was written anywhere.
    pub refused: Vec<LostHost>,
    /// Whether a host was lost, or failed, be its run here or not.
    pub is_incomplete: bool,
}

impl Watch {
    /// A watch over these hosts.
    pub fn new(hosts: Vec<String>) -> Self {
        Self {
            hosts,
            ..Self::default()
        }
    }

    /// Takes a line in.
    pub fn take(&mut self, line: Line) {
        match line {
            Line::Run { host, record } => {
                self.ends.insert(host, HostEnd::Run(record));
            }
            Line::NoRun { host, why } => {
                self.ends.entry(host).or_insert(HostEnd::Nothing(why));
            }
            Line::Refused { host, why } => {
                self.ends.insert(host, HostEnd::Refused(why));
            }
            Line::Lost { host, why } => self.lose(host, why),
            Line::Clock { host, clock } => {
                self.clocks.insert(host, clock);
            }
            Line::Started { .. } => self.is_started = true,
            Line::End => self.is_over = true,
            _ => {}
        }
    }

    /// A host is gone; what it has told before stays.
    pub fn lose(&mut self, host: String, why: String) {
        let is_told = matches!(self.ends.get(&host), Some(HostEnd::Run(_)));
        if !is_told {
            self.ends.insert(host, HostEnd::Lost(why));
        }
    }

    /// The hosts of which nothing is known.
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

    /// Whether a host ended otherwise than with a run.
    pub fn is_incomplete(&self) -> bool {
        !self.without_run().is_empty()
    }

    /// Adds the run of a host that could not tell it; why that was stays known.
    pub fn collected(&mut self, host: String, mut record: Record) {
        if let Some(HostEnd::Lost(why) | HostEnd::Nothing(why)) = self.ends.get(&host) {
            record.failure.get_or_insert_with(|| why.clone());
            self.is_broken = true;
        }
        self.ends.insert(host, HostEnd::Run(Box::new(record)));
    }

    /// What became of all hosts, in the order in which they were named.
    pub fn outcome(mut self) -> Outcome {
        let mut outcome = Outcome {
            is_incomplete: self.is_broken,
            ..Outcome::default()
        };
        for name in self.hosts {
            let told = self.ends.remove(&name);
            match told.unwrap_or_else(|| HostEnd::Lost("it told nothing".to_owned())) {
                HostEnd::Run(record) => {
                    outcome.is_incomplete |= record.status == Status::Failed;
                    outcome.runs.push(HostRun {
                        clock: self.clocks.remove(&name),
                        name: Some(name),
                        record: *record,
                    });
                }
                HostEnd::Refused(why) => outcome.refused.push(LostHost { name, why }),
                HostEnd::Nothing(why) | HostEnd::Lost(why) => {
                    outcome.lost.push(LostHost { name, why });
                }
            }
        }
        outcome
    }
}
