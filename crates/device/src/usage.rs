//! What a device has counted since it was made: the load that came, what each limit counted of it,
//! and for how long each limit held operations back. The model knows this, so it need not be inferred
//! from rates.

use blocklab_units::Nanos;

use crate::LimitName;
use crate::stage::Link;
use crate::stage::chain::Chain;
use crate::stage::meter::MeterUse;

/// What came to a device, and what became of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DeviceUse {
    /// Operations.
    pub ios: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// The times from arrival to answer of all operations together, in nanoseconds.
    pub in_device_ns: u64,
    /// Each limit that counts operations or holds them back. Equal volumes have one entry together.
    pub limits: Vec<LimitUse>,
}

/// How much passed a limit, and how long operations waited for it.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitUse {
    /// Which one.
    pub limit: LimitName,
    /// Operations or bytes that it counted, as it counts them.
    pub units: u64,
    /// Of each of the equal volumes that have it, what it counted there; one entry for an instance.
    pub by_volume: Vec<u64>,
    /// The waits of all operations for it together, in nanoseconds.
    pub waited_ns: u64,
    /// When a bucket of credits ran empty, so that this baseline was left: the first 64 times.
    pub emptied: Vec<Nanos>,
}

impl DeviceUse {
    /// What came after an earlier look at the same device.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        // A volume that was modified counts from zero again, so a limit may be below its earlier count.
        let limits = self.limits.iter().map(|limit| {
            let mut before = earlier
                .limits
                .iter()
                .filter(|known| known.limit == limit.limit);
            limit.since(before.next())
        });
        Self {
            ios: self.ios - earlier.ios,
            bytes: self.bytes - earlier.bytes,
            in_device_ns: self.in_device_ns - earlier.in_device_ns,
            limits: limits.collect(),
        }
    }

    /// Adds a limit, to that of an equal volume where there is one.
    pub(crate) fn add(&mut self, limit: LimitName, counted: MeterUse, emptied: &[Nanos]) {
        match self.limits.iter_mut().find(|known| known.limit == limit) {
            Some(known) => {
                known.units += counted.units;
                known.by_volume.push(counted.units);
                // Each of them stops at the largest number, as in `MeterUse`.
                known.waited_ns = known.waited_ns.saturating_add(counted.waited_ns);
                // Equal volumes under one load run empty together, so the moments of one are enough.
                if known.emptied.is_empty() {
                    known.emptied = emptied.to_vec();
                }
            }
            None => self.limits.push(LimitUse {
                limit,
                units: counted.units,
                by_volume: vec![counted.units],
                waited_ns: counted.waited_ns,
                emptied: emptied.to_vec(),
            }),
        }
    }
}

impl LimitUse {
    /// What was used after `earlier`; everything without it.
    fn since(&self, earlier: Option<&Self>) -> Self {
        let (units, waited_ns, known) = earlier.map_or((0, 0, 0), |earlier| {
            (earlier.units, earlier.waited_ns, earlier.emptied.len())
        });
        let by_volume = self.by_volume.iter().enumerate().map(|(volume, units)| {
            let before = earlier.and_then(|earlier| earlier.by_volume.get(volume));
            units.saturating_sub(before.copied().unwrap_or(0))
        });
        Self {
            limit: self.limit.clone(),
            units: self.units.saturating_sub(units),
            by_volume: by_volume.collect(),
            waited_ns: self.waited_ns.saturating_sub(waited_ns),
            emptied: self.emptied.get(known..).unwrap_or_default().to_vec(),
        }
    }
}

/// What the two meters of each link of a chain have counted, and when its bucket ran empty.
pub(crate) fn counted(chain: &Chain) -> impl Iterator<Item = ([MeterUse; 2], &[Nanos])> {
    chain.links().iter().map(|link| match link {
        Link::Limiter(limiter) => (limiter.use_so_far(), &[][..]),
        Link::Burst(burst) => (burst.use_so_far(), burst.emptied()),
    })
}
