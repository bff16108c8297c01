//! The interface between a tool that has a load for several hosts and the crate that starts it there.
//!
//! The tools know their languages, and `fleet` knows how to reach hosts; neither knows the other. In: a
//! load, with the share of each host as text. Out: the Record of each host.

use anyhow::Result;
use blocklab_record::{IntervalData, Measurement, Record};
use blocklab_runner::{Event, Observer, Questions};
use blocklab_units::Nanos;
use blocklab_workload::{Case, Plan};

/// The part of a load that one host runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostShare {
    /// As the user named it.
    pub host: String,
    /// The jobs, in the form that [`crate::share::run_share`] reads on the host.
    pub text: String,
}

/// A load for several hosts.
#[derive(Debug, Clone, PartialEq)]
pub struct HostsLoad {
    /// The tool whose language the shares are in.
    pub tool: &'static str,
    /// The cases, as far as they are known on this machine; the live view shows them.
    pub plan: Plan,
    /// The shares of all hosts.
    pub shares: Vec<HostShare>,
    /// What may be overwritten, as `HOST:NAME`.
    pub destroy_data: Vec<String>,
    /// Whether hosts send each interval and measurement when it ends, and not only their Record.
    pub is_followed: bool,
    /// Whether the hosts run different jobs of one load, instead of the same jobs.
    pub is_parted: bool,
    /// Whether the runs are stored.
    pub is_kept: bool,
    /// Whether progress is hidden.
    pub is_quiet: bool,
}

/// An event that a host sends while its share runs.
#[derive(Debug, Clone, PartialEq)]
pub enum HostEvent {
    /// A measurement begins.
    Begins,
    /// An interval has ended.
    Slice(IntervalData),
    /// A measurement has ended.
    Measured(Box<Measurement>),
}

/// How a load on several hosts has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct HostsEnd {
    /// The run of each host, or why there is none, in the order of the shares.
    pub ends: Vec<Result<Box<Record>, String>>,
    /// Whether a host refused its share, so that nothing was written on any of them.
    pub is_refused: bool,
    /// Whether a host was lost or failed.
    pub is_incomplete: bool,
    /// Whether the user interrupted it.
    pub is_interrupted: bool,
    /// Whether all runs that were to be stored are.
    pub is_kept: bool,
}

/// Runs loads on several hosts.
pub trait ManyHosts {
    /// Runs a load to its end. `observe` gets the events of hosts, each with the index of its share.
    ///
    /// # Errors
    /// When hosts cannot be used or reached.
    fn run(&self, load: &HostsLoad, observe: &mut dyn FnMut(usize, HostEvent)) -> Result<HostsEnd>;
}

/// Two observers of one run: that of the tool, which decides about cases and intervals, and that of
/// the fleet, which decides when the run begins and passes on what is measured.
pub struct Joined<'a> {
    /// The tool's observer.
    pub tool: &'a mut dyn Observer,
    /// The fleet's observer.
    pub fleet: &'a mut dyn Observer,
}

impl Questions for Joined<'_> {
    fn interval_length(&self) -> Option<Nanos> {
        self.tool.interval_length()
    }

    fn keeps_frames(&self) -> bool {
        self.fleet.keeps_frames()
    }

    fn start_in(&mut self) -> Option<Nanos> {
        self.fleet.start_in()
    }

    fn adapt(&mut self, case: &mut Case, so_far: &Record) -> bool {
        self.tool.adapt(case, so_far)
    }
}

impl Observer for Joined<'_> {
    fn event(&mut self, event: Event<'_>) {
        self.tool.event(event);
        self.fleet.event(event);
    }
}
