//! Real time: the model makes up for stalls of the machine.

use blocklab_device::{DeviceSpec, FORGIVEN_STALL};

/// Gives every limiter at least a bucket of [`FORGIVEN_STALL`] of its rate, which makes up for time in which
/// the thread of the client or of the server did not run. Returns whether one had less.
pub fn forgive_stalls(spec: &mut DeviceSpec) -> bool {
    let volumes = spec.volumes.iter_mut().flat_map(|volume| &mut volume.caps);
    let instance = spec
        .instance
        .iter_mut()
        .flat_map(|instance| &mut instance.caps);
    let mut strict = volumes
        .chain(instance)
        .filter(|cap| cap.bucket < FORGIVEN_STALL);
    let mut found = false;
    for cap in &mut strict {
        cap.bucket = FORGIVEN_STALL;
        found = true;
    }
    found
}
