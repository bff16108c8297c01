//! Real time: the model makes up for stalls of the machine.

use blocklab_device::DeviceSpec;
use blocklab_units::Nanos;

/// A limiter without a bucket never makes up for time in which the client's thread, or ours, did not
/// run: with two busy processors it loses a fifth of its rate. A bucket of 20 ms makes up for stalls
/// of that length, and raises the rate of the first second by at most 2 %.
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
