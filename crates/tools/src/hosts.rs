//! In: a load of another tool for several hosts. Out: what each host left; and on each host, its share.
//!
//! A file of its own: the tools know their languages, and what starts something on many hosts is the
//! business of another crate. Here is what both sides hand to each other.

use anyhow::Result;
use blocklab_record::{Measurement, Record, Served};
use blocklab_runner::{Event, Observer, Questions};
use blocklab_units::Nanos;
use blocklab_workload::{Case, Plan};

/// What one host is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostShare {
    /// As the user named it.
    pub host: String,
    /// What [`crate::share::run_share`] reads there.
    pub text: String,
}

/// A load for several hosts.
#[derive(Debug, Clone, PartialEq)]
pub struct HostsLoad {
    /// Whose language it is.
    pub tool: &'static str,
    /// The cases, as far as they are known here: for the live view.
    pub plan: Plan,
    /// Each host.
    pub shares: Vec<HostShare>,
    /// What may be overwritten: `HOST:NAME`.
    pub destroy_data: Vec<String>,
    /// Whether hosts tell intervals and measurements at once.
    pub is_followed: bool,
    /// Whether the hosts have jobs of their own, which together are one load.
    pub is_parted: bool,
    /// Whether runs are kept.
    pub is_kept: bool,
    /// Whether nothing is shown while it lasts.
    pub is_quiet: bool,
}

/// What a host tells while its share runs.
#[derive(Debug, Clone)]
pub enum HostEvent<'a> {
    /// A measurement of this case begins.
    Begins(&'a str),
    /// An interval has ended.
    Slice {
        /// The case of this share.
        case: &'a str,
        /// From 1.
        number: u32,
        /// When, since the start of the measurement.
        end: Nanos,
        /// How long it was.
        length: Nanos,
        /// Reads and writes of each job of the host.
        jobs: &'a [[Served; 2]],
    },
    /// A measurement has ended.
    Measured(&'a Measurement),
}

/// What became of a load on several hosts.
#[derive(Debug, Clone, PartialEq)]
pub struct HostsEnd {
    /// The run of each host, or why there is none, in the order of the shares.
    pub ends: Vec<Result<Box<Record>, String>>,
    /// Whether hosts refused, so that nothing was written anywhere.
    pub is_refused: bool,
    /// Whether a host was lost, or failed.
    pub is_incomplete: bool,
    /// Whether the user ended it.
    pub is_interrupted: bool,
    /// Whether everything was kept that was to be.
    pub is_kept: bool,
}

/// What starts a load on several hosts.
pub trait ManyHosts {
    /// Runs it to its end. `see` gets what hosts tell, with their places among the shares.
    ///
    /// # Errors
    /// Hosts that cannot be used, and launchers that cannot be started.
    fn run(&self, load: &HostsLoad, see: &mut dyn FnMut(usize, &HostEvent<'_>))
    -> Result<HostsEnd>;
}

/// Two observers of one run: that of the tool, whose answers count, and that of the fleet, which says
/// when to begin and keeps what is measured.
pub struct Joined<'a> {
    /// What the tool wants to see.
    pub tool: &'a mut dyn Observer,
    /// What the fleet wants to see.
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
