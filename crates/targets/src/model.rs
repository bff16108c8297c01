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

/// A device and, where one is kept, the log of its operations.
pub struct Shared {
    pub device: Device,
    /// The last arrival: none may be earlier.
    last: Nanos,
    log: Option<Vec<Arrival>>,
}

/// One operation as an emulated device saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// When it came.
    pub at: Nanos,
    /// The operation.
    pub io: DeviceIo,
    /// The result that the operation got.
    pub answer: Answer,
}

impl Model {
    /// The device begins rested, at moment zero of the run's clock.
    pub fn new(device: Device) -> Self {
        let shared = Shared {
            device,
            last: Nanos::ZERO,
            log: None,
        };
        Self {
            shared: Arc::new(Mutex::new(shared)),
        }
    }

    /// Keeps every arrival from now on, for a replay.
    pub fn keep_log(&self) {
        self.lock().log = Some(Vec::new());
    }

    /// The arrivals that were logged.
    pub fn log(&self) -> Vec<Arrival> {
        self.lock().log.clone().unwrap_or_default()
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
        let io = device_io(io);
        let answer = shared.device.admit(at, io);
        if let Some(log) = &mut shared.log {
            log.push(Arrival { at, io, answer });
        }
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

/// The device's answer as the kernel would give it: bytes, or a negated errno.
#[inline]
pub const fn kernel_result(answer: Answer, len: u32) -> i32 {
    match answer.result {
        Ok(()) => len as i32,
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
