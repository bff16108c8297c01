//! The device model in real time, shared by the volumes of an instance.

use std::sync::{Arc, Mutex, MutexGuard};

use blocklab_device::{Answer, CreditBalance, Device, Invalid, Io, LimitName, VolumeSpec, Wait};
use blocklab_targets::Clock;
use blocklab_units::{Bytes, Nanos};

/// A device whose volumes are served one by one and share the limits of the instance.
#[derive(Debug)]
pub struct Instance {
    clock: Clock,
    shared: Mutex<Shared>,
}

#[derive(Debug)]
struct Shared {
    device: Device,
    /// When the last operation arrived.
    last: Nanos,
    /// By volume, and by the device's number of a limit.
    waits: Vec<Vec<Waits>>,
}

/// The time in which at least one operation waited for a limit.
#[derive(Debug, Clone, Copy, Default)]
struct Waits {
    sum: Nanos,
    /// The end of the last wait in the sum.
    until: Nanos,
}

impl Waits {
    /// Operations come in order of time, so time before the end of the last wait is counted already.
    fn add(&mut self, wait: Wait) {
        self.sum = self.sum + wait.until.since(wait.from.max(self.until));
        self.until = self.until.max(wait.until);
    }

    /// The part of the sum that lies before `now`. Waits that are still to come are taken for one
    /// without gaps: while operations are in flight, this can be too little.
    fn up_to(self, now: Nanos) -> Nanos {
        self.sum.since(self.until.since(now))
    }
}

impl Instance {
    /// The device begins rested, at moment zero of the clock. Its volumes have to lie one behind the
    /// other ([`blocklab_device::Layout::Joined`]): only so each has a place of its own.
    pub fn new(device: Device, clock: Clock) -> Arc<Self> {
        let volumes = (0..).take_while(|volume| device.span(*volume).is_some());
        let shared = Shared {
            waits: volumes
                .map(|volume| vec![Waits::default(); end_of_limits(&device, volume)])
                .collect(),
            device,
            last: Nanos::ZERO,
        };
        Arc::new(Self {
            clock,
            shared: Mutex::new(shared),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().expect("no panic under this lock")
    }

    /// The device, and a moment that is not before the last arrival.
    fn lock_now(&self) -> (MutexGuard<'_, Shared>, Nanos) {
        let shared = self.lock();
        let now = self.clock.now().max(shared.last);
        (shared, now)
    }

    /// An operation on a volume arrives: the moment, and the model's answer.
    #[inline]
    pub(crate) fn admit(&self, volume: usize, io: Io) -> (Nanos, Answer) {
        let mut shared = self.lock();
        let Shared {
            device,
            last,
            waits,
        } = &mut *shared;
        // Read under the lock: arrivals come in order of time, whoever brings them.
        let now = self.clock.now().max(*last);
        *last = now;
        let waits = &mut waits[volume];
        let answer = device.explain(now, io, &mut |wait| waits[wait.limit].add(wait));
        (now, answer)
    }

    /// For how long at least one operation on a volume has waited for each limit; only limits that
    /// made one wait.
    pub fn waited(&self, volume: usize) -> Vec<(LimitName, Nanos)> {
        let (shared, now) = self.lock_now();
        let waits = shared.waits.get(volume);
        let limits = shared.device.waits_of(volume).into_iter();
        let waited = limits.filter_map(|(limit, name)| {
            let waited = waits?.get(limit)?.up_to(now);
            (waited > Nanos::ZERO).then_some((name, waited))
        });
        waited.collect()
    }

    /// First byte and length of a volume, from 0; `None`: there is no such volume.
    pub(crate) fn span(&self, volume: usize) -> Option<(u64, Bytes)> {
        self.lock().device.span(volume)
    }

    /// What is left now in the burst buckets of a volume and of the instance.
    pub fn balances(&self, volume: usize) -> Vec<CreditBalance> {
        let (shared, now) = self.lock_now();
        shared.device.balances_of(volume, now)
    }

    /// Whether a volume has burst buckets of its own, apart from those of the instance.
    pub(crate) fn has_own_credits(&self, volume: usize) -> bool {
        !self.lock().device.spec().volumes[volume].credits.is_empty()
    }

    /// The burst buckets of a volume, or those that all share (`None`), hold this share from now on.
    pub(crate) fn set_credits(&self, volume: Option<usize>, share: f64) {
        let (mut shared, now) = self.lock_now();
        shared.device.set_credits(volume, now, share);
    }

    /// A volume becomes another one of its size; what is in flight stays as it was.
    pub(crate) fn modify(&self, volume: usize, to: VolumeSpec) -> Result<(), Invalid> {
        let (mut shared, now) = self.lock_now();
        shared.device.modify(volume, now, to)?;
        let limits = end_of_limits(&shared.device, volume);
        let waits = &mut shared.waits[volume];
        waits.resize(limits.max(waits.len()), Waits::default());
        Ok(())
    }

    /// The clock of all arrivals.
    pub(crate) const fn clock(&self) -> Clock {
        self.clock
    }
}

/// One more than the greatest number of a limit for which an operation on a volume can wait.
fn end_of_limits(device: &Device, volume: usize) -> usize {
    let limits = device.waits_of(volume);
    let numbers = limits.iter().map(|(limit, _)| limit + 1);
    numbers.max().unwrap_or(0)
}
