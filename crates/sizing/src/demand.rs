//! In: operations. Out: the least rates of a volume's limits at which none of them waits too long.
//!
//! A limit of a provider saves up a little of its rate, and how much of that a load finds depends on
//! all that came before. So the [`Envelope`] gives two bounds, of a limit that saves nothing and of one
//! that has all of its bucket each time, and the model of the limit decides between them.

use blocklab_device::{Accounting, Cap, DeviceSpec, Rate, Service, VolumeSpec};
use blocklab_trace::Operation;
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::Direction;

use crate::Envelope;

/// What the operations of a load ask for. Those that move nothing ask for nothing.
#[derive(Debug, Default)]
pub struct Demand {
    operations: Envelope,
    bytes: Envelope,
    /// Operations.
    pub count: u64,
    /// Those of them that read.
    pub reads: u64,
    /// The bytes that are transferred.
    pub moved: u64,
    /// End of the last byte.
    pub end: u64,
}

/// Rates of a volume.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Operations a second.
    pub iops: f64,
    /// Bytes a second.
    pub bytes_per_s: f64,
}

/// Operations are counted as most vendors count them: one for each 256 KiB begun.
const COUNTED: Accounting = Accounting::Split {
    unit: Bytes(256 << 10),
};

/// A bisection ends when its bounds are this near each other, as a ratio.
const NEAR: f64 = 1.005;
/// Rates that carry the load each alone are raised together by this factor until both in a row do ...
const RAISE: f64 = 1.05;
/// ... at most this often, to twice the rates: each alone waits at most as long as is tolerated.
const RAISES: usize = 15;

impl Demand {
    /// Counts an operation, which does not come before the one before it.
    pub fn add(&mut self, operation: &Operation) {
        if operation.len == 0 {
            return;
        }
        // A trim is one operation of any length, and transfers nothing.
        let (ops, len) = match operation.direction {
            Direction::Trim => (1, 0),
            _ => {
                let charge = COUNTED.charge(f64::from(operation.len), false);
                (charge.ops as u64, u64::from(operation.len))
            }
        };
        self.operations.add(operation.at, ops);
        self.bytes.add(operation.at, len);
        self.count += 1;
        self.reads += u64::from(operation.direction == Direction::Read);
        self.moved += len;
        self.end = self.end.max(operation.end());
    }

    /// Merges what was counted, so that questions are answered at once.
    #[must_use]
    pub fn consolidated(self) -> Self {
        Self {
            operations: self.operations.consolidated(),
            bytes: self.bytes.consolidated(),
            ..self
        }
    }

    /// The least rates at which no operation waits longer than `tolerated`, where limits save nothing up.
    pub fn rates_without_savings(&self, tolerated: Nanos) -> Rates {
        Rates {
            iops: self.operations.least_rate(tolerated, Nanos::ZERO),
            bytes_per_s: self.bytes.least_rate(tolerated, Nanos::ZERO),
        }
    }

    /// The least rates at which no operation waits longer than `tolerated`. The limits save up as `like`
    /// does; only its rate is replaced. `longest_waits` plays the load on each of the volumes that it is
    /// given, and gives the longest wait on each, in their order.
    ///
    /// # Errors
    /// Those of `longest_waits`.
    pub fn rates<E>(
        &self,
        tolerated: Nanos,
        like: &Cap,
        mut longest_waits: impl FnMut(&[DeviceSpec]) -> Result<Vec<Nanos>, E>,
    ) -> Result<Rates, E> {
        let mut high = self.rates_without_savings(tolerated);
        let mut low = Rates {
            iops: self.operations.least_rate(tolerated, like.bucket),
            bytes_per_s: self.bytes.least_rate(tolerated, like.bucket),
        };
        while high.iops > low.iops * NEAR || high.bytes_per_s > low.bytes_per_s * NEAR {
            // The geometric mean, because rates span many orders of magnitude.
            let middle = Rates {
                iops: (low.iops * high.iops).sqrt(),
                bytes_per_s: (low.bytes_per_s * high.bytes_per_s).sqrt(),
            };
            let [iops, bytes] = middle.caps(like);
            let alone = [iops, bytes].map(|cap| limited(vec![cap], COUNTED));
            let waits = longest_waits(&alone)?;
            if waits[0] > tolerated {
                low.iops = middle.iops;
            } else {
                high.iops = middle.iops;
            }
            if waits[1] > tolerated {
                low.bytes_per_s = middle.bytes_per_s;
            } else {
                high.bytes_per_s = middle.bytes_per_s;
            }
        }
        // The bisection had each limit on a volume of its own. On one volume, their waits add up.
        for _ in 0..RAISES {
            let both = limited(high.caps(like).into(), COUNTED);
            if longest_waits(&[both])?[0] <= tolerated {
                break;
            }
            high.iops *= RAISE;
            high.bytes_per_s *= RAISE;
        }
        Ok(high)
    }
}

impl Rates {
    /// A limit of each rate that saves up as `like` does. No device has one of less than 1 a second.
    fn caps(self, like: &Cap) -> [Cap; 2] {
        let [iops, bytes_per_s] = [self.iops, self.bytes_per_s].map(|rate| rate.max(1.0));
        let rates = [Rate::Iops(iops), Rate::MbPerS(bytes_per_s / 1e6)];
        rates.map(|rate| Cap {
            rate,
            ..like.clone()
        })
    }
}

/// A volume that has these limits alone. Its medium always takes the same time, so what an operation
/// waits for is a limit.
pub(crate) fn limited(caps: Vec<Cap>, accounting: Accounting) -> DeviceSpec {
    let volume = VolumeSpec {
        caps,
        accounting,
        service: Some(Service::constant(Nanos(100_000))),
        ..VolumeSpec::new("limited", Bytes(1 << 60))
    };
    DeviceSpec::new("limited", vec![volume])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Replay;
    use blocklab_device::Origin;
    use proptest::prelude::*;

    const TOLERATED: Nanos = Nanos::from_millis(100);

    /// A limit that holds a second of its rate, of which it gets a hundredth of what is unused back.
    fn like() -> Cap {
        Cap {
            bucket: Nanos::from_secs(1),
            refill_share: 0.01,
            ..Cap::new("limit", Rate::Iops(1.0), Origin::Given)
        }
    }

    fn write(at: Nanos, len: u32) -> Operation {
        Operation::new(at, Direction::Write, 0, len)
    }

    fn longest_wait(operations: &[Operation], spec: &DeviceSpec) -> Nanos {
        let mut replay = Replay::new(spec, TOLERATED).expect("a sound device");
        for operation in operations {
            replay.add(operation);
        }
        Nanos(replay.end().wait_max_ns)
    }

    fn demand(operations: &[Operation]) -> Demand {
        let mut demand = Demand::default();
        for operation in operations {
            demand.add(operation);
        }
        demand.consolidated()
    }

    fn rates(operations: &[Operation]) -> Rates {
        let played = demand(operations).rates(TOLERATED, &like(), |specs| {
            let waits = specs.iter().map(|spec| longest_wait(operations, spec));
            Ok::<_, ()>(waits.collect())
        });
        played.expect("no errors")
    }

    /// `advise --trace` asked for rates at which a burst fits into the time that is tolerated, with
    /// nothing saved up: 5,203 IOPS for a database that a gp3 volume of 3,000 had carried, at nine
    /// times the price.
    #[test]
    fn a_burst_after_rest_takes_what_is_saved_up() {
        let burst = |at: u64| (0..1101).map(move |_| write(Nanos::from_secs(at), 4096));
        let one: Vec<Operation> = burst(1).collect();
        assert!(demand(&one).rates_without_savings(TOLERATED).iops > 10_999.0);
        let of_one = rates(&one).iops;
        assert!((995.0..1005.0).contains(&of_one), "{of_one}");
        // Ten seconds later a tenth of the bucket is back, so both bursts share little more than one.
        let two: Vec<Operation> = burst(1).chain(burst(11)).collect();
        let of_two = rates(&two).iops;
        assert!((1_600.0..1_900.0).contains(&of_two), "{of_two}");
    }

    /// The story: an operation or two have time, so that half a one a second is enough, and a device of
    /// such a limit was refused: `advise --trace` failed.
    #[test]
    fn a_single_operation_asks_for_a_device_that_there_can_be() {
        let found = rates(&[write(Nanos::ZERO, 4096)]);
        assert!(found.iops < 1.1 && found.bytes_per_s < 1.1, "{found:?}");
    }

    #[test]
    fn a_trim_asks_for_an_operation_and_no_bytes() {
        let trim = Operation {
            direction: Direction::Trim,
            ..write(Nanos::from_secs(1), 1 << 30)
        };
        let demand = demand(&[write(Nanos::ZERO, 4096), trim]);
        assert_eq!((demand.count, demand.moved, demand.end), (2, 4096, 1 << 30));
        let rates = demand.rates_without_savings(TOLERATED);
        assert!(rates.iops < 1.0 && rates.bytes_per_s < 5000.0, "{rates:?}");
    }

    proptest! {
        #[test]
        fn the_rates_carry_the_load_and_less_does_not(
            steps in proptest::collection::vec((0_u64..400_000_000, 1_u32..400, 1_u32..64), 1..12),
        ) {
            let mut now = Nanos::ZERO;
            let mut operations = Vec::new();
            for (gap, count, blocks) in steps {
                now = now + Nanos(gap);
                operations.extend((0..count).map(|_| write(now, blocks * 4096)));
            }
            let rates = rates(&operations);
            let both = limited(rates.caps(&like()).into(), COUNTED);
            prop_assert!(longest_wait(&operations, &both) <= TOLERATED);
            // A step of the growth and one of the bisection less are too little, unless hardly
            // anything came.
            let less = Rates {
                iops: rates.iops / (RAISE * NEAR * NEAR),
                bytes_per_s: rates.bytes_per_s / (RAISE * NEAR * NEAR),
            };
            let both = limited(less.caps(&like()).into(), COUNTED);
            prop_assert!(rates.iops < 2.0 || longest_wait(&operations, &both) > TOLERATED);
        }
    }
}
