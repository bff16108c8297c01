//! What an instance grants to all its volumes together.
//!
//! ```text
//!   volume 1 ┐
//!   volume 2 ├─▶ bytes ─▶ operations ─▶        limits of the sum, in 10^6 bytes
//!   volume 3 ┘
//! ```
//!
//! EC2 user guide (EBS optimisation), 2023-05-11, in our words: some sizes can hold their maximum
//! for 30 minutes at least once every 24 hours, then fall back to their baseline. Such a size has
//! a bucket of (maximum - baseline) · 30 min, filled at the latest 24 hours after it was last
//! full. That a rested instance also earns back what it does not use of its baseline is assumed.
//!
//! Bytes are those on the wire: a random 4 KiB operation on st1 costs the volume 1 MiB, and the
//! instance 4 KiB.

use std::sync::{Arc, Mutex, MutexGuard};

use blocklab_units::Nanos;

use super::chain::Chain;
use super::{ChargedIo, Counts, WhichMeter, limiters};
use crate::{Cap, Credit, InstanceSpec, Origin, Rate};

/// How long a burstable instance can hold its maximum from a full bucket.
const BURST_LASTS: Nanos = Nanos::from_secs(30 * 60);
/// The time within which an empty bucket is promised to be full again.
const FULL_AGAIN: Nanos = Nanos::from_secs(24 * 3600);

impl Credit {
    /// The burst of an instance: `maximum` for 30 minutes at least once every 24 hours.
    pub fn half_hour(name: &str, baseline: Rate, maximum: Rate, origin: Origin) -> Self {
        let above = maximum.per_second() - baseline.per_second();
        Self {
            name: name.to_owned(),
            baseline,
            burst: maximum,
            capacity: above * BURST_LASTS.as_secs_f64(),
            initial_share: 1.0,
            full_again: Some(FULL_AGAIN),
            origin,
        }
    }
}

pub(crate) fn chain(spec: Option<&InstanceSpec>) -> Chain {
    Chain::new(spec.map_or(Vec::new(), |spec| {
        limiters(&spec.caps, &spec.credits, Counts::MovedBytes)
    }))
}

/// The limiters of its cache.
pub(crate) fn cached(spec: Option<&InstanceSpec>) -> Chain {
    let cache = spec.and_then(|spec| spec.cache.as_ref());
    Chain::new(cache.map_or(Vec::new(), |cache| {
        limiters(&cache.caps, &cache.credits, Counts::MovedBytes)
    }))
}

/// What decides the limiters of its cache; `None` without a cache.
fn cache_limits(spec: &InstanceSpec) -> Option<(&[Cap], &[Credit])> {
    let cache = spec.cache.as_ref()?;
    Some((cache.caps.as_slice(), cache.credits.as_slice()))
}

/// An instance to which several devices are attached: its limits hold for all of them together.
#[derive(Debug, Clone)]
pub struct SharedInstance {
    spec: InstanceSpec,
    chain: Arc<Mutex<Chain>>,
    cached: Arc<Mutex<Chain>>,
}

impl SharedInstance {
    /// A rested instance.
    pub fn new(spec: &InstanceSpec) -> Self {
        Self {
            spec: spec.clone(),
            chain: Arc::new(Mutex::new(chain(Some(spec)))),
            cached: Arc::new(Mutex::new(cached(Some(spec)))),
        }
    }

    /// The same machine for volumes that are reached in another way, with or without its cache: shares
    /// the limiters that are equal in both. `None` when the machine itself has others.
    pub fn share_limiters_with(&self, spec: &InstanceSpec) -> Option<Self> {
        let own = &self.spec;
        if (&own.name, &own.caps, &own.credits) != (&spec.name, &spec.caps, &spec.credits) {
            return None;
        }
        let mut other = Self::new(spec);
        other.chain = Arc::clone(&self.chain);
        if self.has_cache_limits_of(spec) {
            other.cached = Arc::clone(&self.cached);
        }
        Some(other)
    }

    /// Whether its cache has the limiters that this specification gives it; or neither has a cache.
    pub fn has_cache_limits_of(&self, spec: &InstanceSpec) -> bool {
        cache_limits(&self.spec) == cache_limits(spec)
    }

    /// Whether both are one machine, perhaps reached in two ways: see [`Self::share_limiters_with`].
    pub fn is_same_machine(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.chain, &other.chain)
    }

    /// The limiters of its cache.
    pub(crate) fn of_cache(&self) -> Self {
        Self {
            spec: self.spec.clone(),
            chain: Arc::clone(&self.cached),
            cached: Arc::clone(&self.cached),
        }
    }

    /// The specification that it was made of.
    pub const fn spec(&self) -> &InstanceSpec {
        &self.spec
    }
}

/// The limiters of an instance, as a device reaches them.
#[derive(Debug, Clone)]
pub(crate) enum Instance {
    /// No other device is attached to it.
    Own(Chain),
    /// Other devices are.
    Shared(SharedInstance),
}

impl Instance {
    /// When an operation that arrives `now` has passed them, as [`Chain::explain`].
    #[inline(always)]
    pub(crate) fn explain(
        &mut self,
        now: Nanos,
        charged_io: &ChargedIo,
        on_wait: &mut impl FnMut(usize, WhichMeter, Nanos, Nanos),
    ) -> Nanos {
        match self {
            Self::Own(chain) => chain.explain(now, charged_io, on_wait),
            Self::Shared(shared) => shared.explain(now, charged_io, on_wait),
        }
    }

    /// Looks at its limiters.
    pub(crate) fn with<T>(&self, look: impl FnOnce(&Chain) -> T) -> T {
        match self {
            Self::Own(chain) => look(chain),
            Self::Shared(shared) => look(&shared.lock()),
        }
    }

    /// Changes its limiters.
    pub(crate) fn with_mut<T>(&mut self, change: impl FnOnce(&mut Chain) -> T) -> T {
        match self {
            Self::Own(chain) => change(chain),
            Self::Shared(shared) => change(&mut shared.lock()),
        }
    }
}

impl SharedInstance {
    fn lock(&self) -> MutexGuard<'_, Chain> {
        self.chain.lock().expect("no panic under this lock")
    }

    #[inline(never)]
    fn explain(
        &self,
        now: Nanos,
        charged_io: &ChargedIo,
        on_wait: &mut impl FnMut(usize, WhichMeter, Nanos, Nanos),
    ) -> Nanos {
        self.lock().explain(now, charged_io, on_wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::{ChargedIo, Follows};
    use crate::{Direction, Io};

    fn charged_io(moved: u64) -> ChargedIo {
        ChargedIo {
            io: Io {
                direction: Direction::Read,
                offset: 0,
                len: moved as u32,
            },
            ops: 1,
            charged: 1 << 20,
            moved,
            follows: Follows::Nothing,
        }
    }

    #[test]
    fn the_wire_counts_what_was_moved() {
        let cap = Cap::new("EBS throughput", Rate::MbPerS(4.096), Origin::Given);
        let spec = InstanceSpec {
            caps: vec![cap],
            ..InstanceSpec::new("m4.large")
        };
        let mut chain = chain(Some(&spec));
        let starts = [0; 3].map(|_| chain.admit(Nanos(0), &charged_io(4096)).0);
        assert_eq!(starts, [0, 1_000_000, 2_000_000]);
    }

    #[test]
    fn half_an_hour_of_r5d_xlarge() {
        let (base, most) = (Rate::MbPerS(143.75), Rate::MbPerS(593.75));
        let credit = Credit::half_hour("EBS throughput", base, most, Origin::Given);
        assert_eq!(credit.capacity, 810e9);
        assert_eq!(credit.full_again, Some(Nanos::from_secs(86_400)));
    }

    #[test]
    fn no_instance_no_limit() {
        assert_eq!(chain(None).admit(Nanos(7), &charged_io(1)), Nanos(7));
    }
}
