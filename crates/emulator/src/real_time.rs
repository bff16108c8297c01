//! Real time: the model makes up for stalls of the machine, and bursts pass faster.

use blocklab_device::{DeviceSpec, FORGIVEN_STALL};
use blocklab_units::Nanos;

/// Gives every limiter at least a bucket of [`FORGIVEN_STALL`] of its rate, which makes up for time in which
/// the thread of the client or of the server did not run. Returns whether one had less.
pub fn forgive_stalls(spec: &mut DeviceSpec) -> bool {
    let volumes = spec.volumes.iter_mut().flat_map(|volume| &mut volume.caps);
    let instance = spec.instance.iter_mut().flat_map(|instance| {
        let cache = instance.cache.iter_mut();
        let of_cache = cache.flat_map(|cache| &mut cache.caps);
        instance.caps.iter_mut().chain(of_cache)
    });
    let caps = volumes.chain(instance);
    let mut found = false;
    for cap in caps.filter(|cap| cap.bucket < FORGIVEN_STALL) {
        cap.bucket = FORGIVEN_STALL;
        found = true;
    }
    found
}

/// Divides all burst buckets, and the time in which they are full again, by a factor. Returns whether
/// there is one.
pub fn divide_buckets(spec: &mut DeviceSpec, factor: f64) -> bool {
    let volumes = spec.volumes.iter_mut();
    let volumes = volumes.flat_map(|volume| &mut volume.credits);
    let instance = spec.instance.iter_mut().flat_map(|instance| {
        let cache = instance.cache.iter_mut();
        let of_cache = cache.flat_map(|cache| &mut cache.credits);
        instance.credits.iter_mut().chain(of_cache)
    });
    let mut found = false;
    for credit in volumes.chain(instance) {
        credit.capacity /= factor;
        credit.full_again = credit
            .full_again
            .map(|time| Nanos::from_secs_f64(time.as_secs_f64() / factor));
        found = true;
    }
    found
}

#[cfg(test)]
mod tests {
    use blocklab_device::{
        Cap, Credit, HostCache, InstanceSpec, Latency, Origin, Rate, VolumeSpec,
    };
    use blocklab_units::Bytes;

    use super::*;

    /// The story: `--speed 60` left the burst buckets of a host's cache as they were, and limiters of a
    /// cache lost what a stall of the machine took.
    #[test]
    fn the_cache_of_a_host_has_limiters_and_buckets_too() {
        let (low, high) = (Rate::Iops(100.0), Rate::Iops(200.0));
        let cache = HostCache {
            caps: vec![Cap::new("cached IOPS", low, Origin::Given)],
            credits: vec![Credit::half_hour("cached IOPS", low, high, Origin::Given)],
            hit_share: 0.5,
            writes_back: None,
            latency: Latency {
                base: Nanos(1000),
                per_kib_ns: 0.0,
                origin: Origin::Given,
            },
        };
        let instance = InstanceSpec {
            cache: Some(cache),
            ..InstanceSpec::new("machine")
        };
        let mut spec = DeviceSpec {
            instance: Some(instance),
            ..DeviceSpec::new("device", vec![VolumeSpec::new("volume", Bytes::GIB)])
        };
        assert!(divide_buckets(&mut spec, 60.0));
        assert!(forgive_stalls(&mut spec));
        let cache = spec.instance.and_then(|instance| instance.cache);
        let cache = cache.expect("it is still there");
        assert_eq!(cache.credits[0].capacity, 100.0 * 1800.0 / 60.0);
        assert_eq!(cache.caps[0].bucket, FORGIVEN_STALL);
    }
}
