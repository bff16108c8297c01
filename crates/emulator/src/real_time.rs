//! What a model forgives in real time.

use blocklab_device::DeviceSpec;
use blocklab_units::Nanos;

/// A limiter without a bucket loses for ever what a client did not ask for while its thread, or
/// ours, did not run: with two busy processors, a fifth of the rate. So long a stall is made up for;
/// it costs at most 2 % more than the rate in the first second.
const FORGIVEN: Nanos = Nanos::from_millis(20);

/// Gives every limiter at least a bucket of 20 ms of its rate. Whether one had less.
pub fn forgive_stalls(spec: &mut DeviceSpec) -> bool {
    let volumes = spec.volumes.iter_mut().flat_map(|volume| &mut volume.caps);
    let instance = spec.instance.iter_mut().flat_map(|it| &mut it.caps);
    let mut strict = volumes.chain(instance).filter(|cap| cap.bucket < FORGIVEN);
    let mut found = false;
    for cap in &mut strict {
        cap.bucket = FORGIVEN;
        found = true;
    }
    found
}
