//! What was published of the latency of a type: between which figures one is nothing unusual.

use blocklab_device::{DeviceSpec, Latency, Service};
use blocklab_units::Nanos;

use crate::embedded::PUBLISHED;
use crate::table::{Row, Table};

/// From this many times the outermost publication on, a figure is far from all of them: two
/// publications on one type are that far apart.
const FAR: f64 = 1.5;

/// How many times the latency of its model a healthy device may take where none is published.
pub const TIMES_UNKNOWN: f64 = 2.0;

/// The publications on one type, of small operations that no limit holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedLatency {
    /// The quickest one.
    pub from: Nanos,
    /// The slowest one.
    pub to: Nanos,
    /// Anything quicker is another device, or a cache.
    pub least: Nanos,
    /// Anything slower is not a healthy device.
    pub most: Nanos,
    /// The type they were published for, where that is another one.
    pub of: String,
}

impl PublishedLatency {
    /// What was published on a type of volume, by the name that a [`blocklab_device::VolumeSpec`]
    /// has; `None`: nothing.
    #[must_use]
    pub fn of_type(kind: &str) -> Option<Self> {
        let rows: Vec<Row<'_>> = Table::embedded(PUBLISHED).rows_of(kind).collect();
        if let Some(other) = rows.iter().find(|row| row.text("bound") == "as") {
            return Self::of_type(other.text("as"));
        }
        let (mut known, mut least) = (Vec::new(), None);
        for row in &rows {
            let us = row.get::<f64>("us");
            match row.text("bound") {
                "measured" | "designed" => known.extend(us),
                "least" => least = least.or(us),
                _ => {}
            }
        }
        let to = known.iter().copied().reduce(f64::max)?;
        let from = least.or_else(|| known.iter().copied().reduce(f64::min))?;
        let [from_ns, to_ns, least_ns, most_ns] = [from, to, least.unwrap_or(from / FAR), to * FAR]
            .map(|us| Nanos((us * 1e3 + 0.5) as u64));
        Some(Self {
            from: from_ns,
            to: to_ns,
            least: least_ns,
            most: most_ns,
            of: kind.to_owned(),
        })
    }

    /// The device as the quickest of its type. What a byte takes is left out: one study alone
    /// measured it, and the quickest one need not be the same.
    #[must_use]
    pub fn quickest(&self, spec: &DeviceSpec) -> DeviceSpec {
        changed(spec, |latency| {
            latency.base = self.least.min(latency.base);
            latency.per_kib_ns = 0.0;
        })
    }

    /// The same two where nothing is published: limits alone bind the quickest, and the slowest takes
    /// [`TIMES_UNKNOWN`] times what the model has.
    #[must_use]
    pub fn unknown(spec: &DeviceSpec) -> (DeviceSpec, DeviceSpec) {
        let quickest = changed(spec, |latency| {
            (latency.base, latency.per_kib_ns) = (Nanos(1000), 0.0);
        });
        let slowest = changed(spec, |latency| {
            latency.base = Nanos((latency.base.0 as f64 * TIMES_UNKNOWN) as u64);
            latency.per_kib_ns *= TIMES_UNKNOWN;
        });
        (quickest, slowest)
    }

    /// The device as the slowest of its type.
    #[must_use]
    pub fn slowest(&self, spec: &DeviceSpec) -> DeviceSpec {
        changed(spec, |latency| {
            let times = self.most.0 as f64 / latency.base.0.max(1) as f64;
            latency.base = self.most.max(latency.base);
            latency.per_kib_ns *= times.max(1.0);
        })
    }
}

/// The device with all latencies changed.
fn changed(spec: &DeviceSpec, change: impl Fn(&mut Latency)) -> DeviceSpec {
    let mut spec = spec.clone();
    let services = spec
        .volumes
        .iter_mut()
        .filter_map(|volume| volume.service.as_mut());
    services.flat_map(latencies).for_each(change);
    spec
}

/// The latencies of a service, of each kind of operation that it knows.
fn latencies(service: &mut Service) -> impl Iterator<Item = &mut Latency> {
    let always = [&mut service.read, &mut service.write];
    let streams = [
        &mut service.stream_read,
        &mut service.stream_write,
        &mut service.interleaved_read,
        &mut service.interleaved_write,
    ];
    always.into_iter().chain(streams.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_names_its_type_and_its_source() {
        for row in Table::embedded(PUBLISHED).rows() {
            let kind = row.text("type");
            assert!(PublishedLatency::of_type(kind).is_some(), "{kind}");
            let sourced = !row.text("source").is_empty() && !row.text("date").is_empty();
            assert!(sourced || row.text("bound") == "as", "{kind}");
        }
    }

    /// A gp3 of 440 µs was accused of being quicker than documents allow, because the one
    /// measurement that the model rests on, 600 µs, was taken for a ceiling.
    #[test]
    fn what_was_published_lies_between() {
        let gp3 = PublishedLatency::of_type("gp3").expect("published");
        assert_eq!((gp3.from, gp3.to), (Nanos(440_000), Nanos(600_000)));
        assert!(gp3.least < Nanos(300_000) && gp3.most == Nanos(900_000));
        assert_eq!(PublishedLatency::of_type("st1"), None);
        let io2 = PublishedLatency::of_type("io2").expect("as Block Express");
        assert_eq!(io2.of, "io2-block-express");
    }
}
