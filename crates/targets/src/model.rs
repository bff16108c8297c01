//! A modelled device as a target.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use blocklab_device::{
    Answer, CreditBalance, Device, Direction as DeviceDirection, Fault, Io as DeviceIo,
};
use blocklab_units::Nanos;
use blocklab_workload::Direction;

use crate::clock::Clock;
use blocklab_workload::Io;

/// A device of the model, shared by all threads and jobs that work on it.
///
/// It lives as long as the run: a second measurement finds the burst credits that the first one
/// left, as on a real volume.
#[derive(Clone)]
pub struct Model {
    shared: Arc<Mutex<Shared>>,
}

/// A device, and when the last operation came to it.
pub struct Shared {
    pub device: Device,
    /// The last arrival: none may be earlier.
    last: Nanos,
}

impl Model {
    /// The device begins rested, at moment zero of the run's clock.
    pub fn new(device: Device) -> Self {
        let shared = Shared {
            device,
            last: Nanos::ZERO,
        };
        Self {
            shared: Arc::new(Mutex::new(shared)),
        }
    }

    /// Locks the model, for one thread or for a short while.
    pub fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().expect("no panic under this lock")
    }

    /// An operation arrives in real time: its moment, and the device's answer.
    pub(crate) fn arrive(&self, clock: &Clock, io: &Io) -> (Nanos, Answer) {
        let mut shared = self.lock();
        // Read under the lock: arrivals come in order of time, whoever brings them.
        let at = clock.now().max(shared.last);
        shared.last = at;
        let answer = shared.device.admit(at, device_io(io));
        (at, answer)
    }

    /// What was left in its burst buckets when the last operation arrived.
    pub fn credits(&self) -> Vec<CreditBalance> {
        let shared = self.lock();
        shared.device.balances(shared.last)
    }

    /// The same device, not only an equal one.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").finish_non_exhaustive()
    }
}

/// An operation of a worker in the device's terms.
#[inline]
pub fn device_io(io: &Io) -> DeviceIo {
    let direction = match io.direction {
        Direction::Read => DeviceDirection::Read,
        Direction::Write => DeviceDirection::Write,
        Direction::Trim => DeviceDirection::Trim,
        Direction::Sync => DeviceDirection::Flush,
    };
    DeviceIo {
        direction,
        offset: io.offset,
        len: io.len,
    }
}

/// The device's answer to an operation as the kernel would give it: bytes, or a negated errno.
#[inline]
pub const fn kernel_result(answer: Answer, io: &Io) -> i32 {
    match answer.result {
        Ok(()) => io.whole_result(),
        Err(fault) => failure(fault),
    }
}

#[cold]
const fn failure(fault: Fault) -> i32 {
    -match fault {
        Fault::Io => libc::EIO,
        Fault::Full => libc::ENOSPC,
        Fault::Detached => libc::ENODEV,
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use blocklab_device::{Cap, DeviceSpec, Latency, Origin, Rate, Service, Spread, VolumeSpec};
    use blocklab_units::Bytes;
    use blocklab_workload::{Slot, SyncKind};

    use super::*;

    fn read(offset: u64) -> Io {
        Io {
            slot: Slot::returned(0),
            direction: Direction::Read,
            sync: SyncKind::Whole,
            file: 0,
            len: 4096,
            offset,
            priority: 0,
        }
    }

    /// The arrivals of several threads in real time, answered once more in virtual time, leave at the
    /// same moments: what the machine adds is lateness alone.
    #[test]
    fn a_real_time_run_can_be_replayed_in_virtual_time() {
        let latency = Latency {
            base: Nanos(600_000),
            per_kib_ns: 2_200.0,
            origin: Origin::Given,
        };
        let spread = Spread {
            sigma: 0.3,
            tail: None,
            origin: Origin::Given,
        };
        let volume = VolumeSpec {
            caps: vec![Cap::new("operations", Rate::Iops(20_000.0), Origin::Given)],
            service: Some(Service::even(latency, spread)),
            ..VolumeSpec::new("test", Bytes(1 << 40))
        };
        let spec = DeviceSpec::new("test", vec![volume]);
        let model = Model::new(Device::new(&spec, 1).expect("a device"));
        let clock = Clock::start();
        let arrivals = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for thread in 0..4 {
                let (model, clock, arrivals) = (&model, &clock, &arrivals);
                scope.spawn(move || {
                    for block in 0..500 {
                        let offset = (4 * block + thread) * 4096;
                        // Under the lock, the list has the order in which the device was asked.
                        let mut arrivals = arrivals.lock().expect("no panic under this lock");
                        arrivals.push((model.arrive(clock, &read(offset)), offset));
                    }
                });
            }
        });
        let mut again = Device::new(&spec, 1).expect("a device");
        for ((at, answer), offset) in arrivals.into_inner().expect("all have ended") {
            assert_eq!(again.admit(at, device_io(&read(offset))), answer);
        }
    }
}
