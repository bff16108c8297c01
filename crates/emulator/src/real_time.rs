//! Real time: the model makes up for stalls of the machine.

use blocklab_device::DeviceSpec;
use blocklab_units::Nanos;

/// The least bucket of a limiter, in time at its rate. Without one, it never makes up for time in which the
/// thread of the client or of the server did not run: with two busy processors it loses a fifth of its
/// rate. 20 ms make up for stalls of that length, and raise the rate of the first second by at most 2 %.
const FORGIVEN: Nanos = Nanos::from_millis(20);

/// Gives every limiter at least a bucket of 20 ms of its rate. Returns whether one had less.
pub fn forgive_stalls(spec: &mut DeviceSpec) -> bool {
    let volumes = spec.volumes.iter_mut().flat_map(|volume| &mut volume.caps);
    let instance = spec
        .instance
        .iter_mut()
        .flat_map(|instance| &mut instance.caps);
    let mut strict = volumes.chain(instance).filter(|cap| cap.bucket < FORGIVEN);
    let mut found = false;
    for cap in &mut strict {
        cap.bucket = FORGIVEN;
        found = true;
    }
    found
}
