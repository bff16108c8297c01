//! In: the events of several hosts, each about its part of a run. Out: the events of the whole run, as
//! if one machine had run all of it.
//!
//! So the reports are written by the same code as for one host. Hosts may be ahead of each other; an
//! event of the whole comes when all hosts have sent their part.

use std::collections::{BTreeMap, VecDeque};

use blocklab_record::{IntervalData, JobResult, Measurement, Served};
use blocklab_vdbench::{PlannedJob, Prepared};

use crate::hosts::HostEvent;

/// An event of the run on all hosts.
#[derive(Debug, Clone, PartialEq)]
pub enum Gathered {
    /// The run of this index begins: the first host has begun it.
    Begins(usize),
    /// An interval has ended on all hosts.
    Slice(IntervalData),
    /// It has ended on all hosts.
    Measured(Box<Measurement>),
}

/// Puts the parts together.
pub struct Gathering<'a> {
    prepared: &'a Prepared,
    /// For each host, the events that belong to a later run than the current one.
    waiting: Vec<VecDeque<HostEvent>>,
    /// Index of the current run.
    current: usize,
    /// Whether a host has begun it.
    has_begun: bool,
    /// Its intervals by number, each with the parts that have come.
    slices: BTreeMap<u32, Vec<Option<IntervalData>>>,
    /// The measurement of each host that has ended it.
    measured: Vec<Option<Box<Measurement>>>,
}

impl<'a> Gathering<'a> {
    pub fn new(prepared: &'a Prepared, hosts: usize) -> Self {
        Self {
            prepared,
            waiting: (0..hosts).map(|_| VecDeque::new()).collect(),
            current: 0,
            has_begun: false,
            slices: BTreeMap::new(),
            measured: vec![None; hosts],
        }
    }

    /// Takes an event of a host and gives the events of the whole run that it completes.
    pub fn take(&mut self, host: usize, event: HostEvent) -> Vec<Gathered> {
        self.waiting[host].push_back(event);
        let mut whole = Vec::new();
        while self.advance(&mut whole) {}
        whole
    }

    /// Processes the waiting events of the current run. True, if that has ended and a next one may have
    /// events waiting.
    fn advance(&mut self, whole: &mut Vec<Gathered>) -> bool {
        let hosts = self.waiting.len();
        for host in 0..hosts {
            // What a host sends after its measurement belongs to the next run.
            while self.measured[host].is_none()
                && let Some(part) = self.waiting[host].pop_front()
            {
                match part {
                    HostEvent::Begins if !self.has_begun => {
                        self.has_begun = true;
                        whole.push(Gathered::Begins(self.current));
                    }
                    HostEvent::Begins => {}
                    HostEvent::Slice(slice) => {
                        let of_all = self.slices.entry(slice.number);
                        of_all.or_insert_with(|| vec![None; hosts])[host] = Some(slice);
                    }
                    HostEvent::Measured(measurement) => self.measured[host] = Some(measurement),
                }
            }
        }
        let is_over = self.measured.iter().all(Option::is_some);
        // Once all hosts have ended the run, the parts that are missing will not come any more.
        while let Some(entry) = self.slices.first_entry()
            && (is_over || entry.get().iter().all(Option::is_some))
        {
            let parts = entry.remove();
            whole.push(Gathered::Slice(self.slice(parts)));
        }
        if is_over {
            let parts = std::mem::replace(&mut self.measured, vec![None; hosts]);
            let parts: Vec<Measurement> = parts.into_iter().flatten().map(|part| *part).collect();
            whole.push(Gathered::Measured(Box::new(self.measurement(parts))));
            self.current += 1;
            self.has_begun = false;
        }
        is_over && self.current < self.prepared.runs.len()
    }

    /// The jobs of the current run on all hosts; none after the last run.
    fn planned(&self) -> &'a [PlannedJob] {
        self.prepared
            .runs
            .get(self.current)
            .map_or(&[], |run| &run.planned_jobs)
    }

    /// Merges the parts of an interval; its jobs are in the order of the whole plan. A host without this
    /// interval did nothing in it.
    fn slice(&self, parts: Vec<Option<IntervalData>>) -> IntervalData {
        let mut whole = IntervalData::default();
        let mut jobs: Vec<VecDeque<[Served; 2]>> = Vec::new();
        for part in parts {
            let Some(part) = part else {
                jobs.push(VecDeque::new());
                continue;
            };
            whole.number = part.number;
            whole.end = whole.end.max(part.end);
            whole.length = whole.length.max(part.length);
            jobs.push(part.jobs.into());
        }
        for planned in self.planned() {
            let next = jobs[planned.host].pop_front();
            whole.jobs.push(next.unwrap_or_default());
        }
        whole
    }

    /// Merges the measurements of all hosts. It lasts as long as the longest; everything else that is
    /// not of a job is that of the first host.
    fn measurement(&self, parts: Vec<Measurement>) -> Measurement {
        let mut whole = Measurement {
            jobs: Vec::new(),
            ..parts[0].clone()
        };
        let mut jobs: Vec<VecDeque<JobResult>> = Vec::new();
        for part in parts {
            whole.elapsed_ns = whole.elapsed_ns.max(part.elapsed_ns);
            jobs.push(part.jobs.into());
        }
        for planned in self.planned() {
            whole.jobs.extend(jobs[planned.host].pop_front());
        }
        whole
    }
}

#[cfg(test)]
mod tests {
    use blocklab_units::Nanos;
    use blocklab_vdbench::{Command, Inputs, ParameterFile, parse, prepare};

    use super::*;

    fn file() -> ParameterFile {
        let text = "hd=h1,system=10.0.0.1\nhd=h2,system=10.0.0.2\n\
                    sd=sd1,lun=/data/a,size=4m,host=h1\nsd=sd2,lun=/data/b,size=4m,host=h2\n\
                    wd=wd1,sd=*\nrd=rd1,wd=wd1,iorate=200,elapsed=4,interval=1\nrd=rd2,wd=wd1,iorate=100,elapsed=4,interval=1\n";
        let command = Command {
            files: vec!["parm".to_owned()],
            ..Command::default()
        };
        parse(&command, &|_| Ok(text.to_owned()), &|_| false).expect(text)
    }

    fn prepared() -> Prepared {
        let inputs = Inputs {
            sizes: vec![4 << 20; 2],
            ..Inputs::default()
        };
        prepare(&file(), &inputs).expect("a sound file")
    }

    /// The first second of a host that read this many times.
    fn first_second(ios: u64) -> HostEvent {
        let read = Served {
            ios,
            ..Served::default()
        };
        HostEvent::Slice(IntervalData {
            number: 1,
            end: Nanos::from_secs(1),
            length: Nanos::from_secs(1),
            jobs: vec![[read, Served::default()]],
        })
    }

    /// Each host has its own storage, and half of the rate of the run.
    #[test]
    fn a_parameter_file_is_parted_over_its_hosts() {
        let whole = prepared();
        assert_eq!(whole.plan.cases[0].workload.jobs.len(), 2);
        for (host, lun) in [(0, "/data/a"), (1, "/data/b")] {
            let own = whole.of_host(host);
            let jobs = &own.plan.cases[0].workload.jobs;
            assert_eq!(jobs.len(), 1);
            assert_eq!(jobs[0].targets, [lun]);
            let pace = format!("{:?}", jobs[0].pace);
            assert!(pace.contains("100"), "half of 200 a second: {pace}");
        }
    }

    /// One host is ahead: what it sends of the next run waits for the other one.
    #[test]
    fn hosts_that_are_ahead_wait() {
        let prepared = prepared();
        let mut gathering = Gathering::new(&prepared, 2);
        assert_eq!(gathering.take(0, HostEvent::Begins), [Gathered::Begins(0)]);
        assert_eq!(gathering.take(0, first_second(10)), []);
        assert_eq!(gathering.take(0, HostEvent::Measured(Box::default())), []);
        assert_eq!(gathering.take(0, HostEvent::Begins), []);
        assert_eq!(gathering.take(1, HostEvent::Begins), []);
        let found = gathering.take(1, first_second(5));
        let [Gathered::Slice(whole)] = &found[..] else {
            panic!("{found:?}");
        };
        assert_eq!(whole.jobs[0][0].ios, 10);
        assert_eq!(whole.jobs[1][0].ios, 5);
        let found = gathering.take(1, HostEvent::Measured(Box::default()));
        let [Gathered::Measured(_), Gathered::Begins(1)] = &found[..] else {
            panic!("{found:?}");
        };
    }
}
