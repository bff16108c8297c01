//! Local disks by class: what open measurements support, and what is assumed where there is none.

use blocklab_units::{Bytes, Nanos};

use crate::{Latency, Operation, Origin, Programs, Saturation, Service, Spread, Tail};

/// A kind of disk that an instance has of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Local NVMe of I3.
    I3Nvme,
    /// Local SATA SSD of I2.
    I2Sata,
    /// Local NVMe of R5d, and of its generation without a measurement of their own.
    R5dNvme,
    /// Nitro SSD of Im4gn.
    Im4gnNvme,
    /// Nitro SSD of Is4gen, and of its generation and later ones (I4i, I4g, I7i, I8g).
    NitroSsd,
    /// Nitro NVMe of I3en.
    I3enNvme,
    /// Any other local NVMe or SSD.
    LocalSsd,
}

impl Class {
    /// How long the medium takes. The physical maximum of a local disk is for the caller to add
    /// ([`Service::saturating_at`]): it is a matter of the size, not of the class.
    pub fn service(self) -> Service {
        match self {
            Self::I3Nvme => i3_nvme(),
            Self::I2Sata => i2_sata(),
            Self::R5dNvme => r5d_nvme(),
            Self::Im4gnNvme => nitro(im4gn_spread()),
            Self::NitroSsd => nitro(nitro_spread()),
            Self::I3enNvme => i3en_nvme(),
            Self::LocalSsd => local_ssd(),
        }
    }
}

const R5D_STUDY: &str =
    "r5d.xlarge, DiskSpd, one thread and two in flight, 4 to 128 KiB (study r5d-vs-gp3)";
const I3_STUDY: &str = "i2.xlarge and i3.xlarge, fio, one job, 4 KiB (study i3-vs-i2)";
const I3EN_SURFACE: &str = "i3en.3xlarge, reads of 512 B alongside writes of 128 KiB (ScyllaDB, diskplorer): fitted on half of 132 cells; on the others p50 is off by 12 % in the median, p95 by 14 %";
const I3_SURFACE: &str = "i3.2xlarge, reads of 512 B alongside writes of 128 KiB (ScyllaDB, diskplorer): fitted on half of 123 cells; on the others p50 is off by 20 % in the median, p95 by 34 %";
const IM4GN_STUDY: &str = "im4gn.large, fio, one read of 128 KiB at a time (study im4gn)";
const IS4GEN: &str = "is4gen.8xlarge, fio, 64 jobs of depth 1 on four disks, 4 KiB: reads 171 µs, writes 100 µs in the mean (alexandernicholson/disk-io, 2023)";
const NO_SIZE: &str =
    "4 KiB was measured, other sizes were not: 2.4 µs/KiB as on the local NVMe of R5d";

/// Microseconds at 4 KiB, with the slope of R5d's disk on either side of it.
fn at_4_kib(micros: f64, evidence: &str) -> Latency {
    Latency {
        base: micros_as_nanos(micros - 4.0 * 2.4),
        per_kib_ns: 2_400.0,
        origin: Origin::measured(&format!("{evidence}; {NO_SIZE} (assumed)")),
    }
}

fn line(base_micros: f64, micros_per_kib: f64, origin: Origin) -> Latency {
    Latency {
        base: micros_as_nanos(base_micros),
        per_kib_ns: micros_per_kib * 1e3,
        origin,
    }
}

fn programs(micros: u64, page: u64, evidence: &str) -> Programs {
    Programs {
        time: Nanos(micros * 1000),
        page: Bytes(page),
        origin: Origin::measured(evidence),
    }
}

fn micros_as_nanos(micros: f64) -> Nanos {
    Nanos((micros * 1e3 + 0.5) as u64)
}

/// Scatter of local NVMe: i3.2xlarge read p50 99 µs, p95 119 µs, hence ln(119 / 99) / 1.645.
fn nvme_spread(origin: Origin) -> Spread {
    Spread {
        sigma: 0.11,
        tail: None,
        origin,
    }
}

/// The origin of the scatter of the disks on which it was measured.
fn measured_spread() -> Origin {
    Origin::measured(
        "i3.2xlarge and i3en.3xlarge at low load (ScyllaDB, diskplorer); beyond p95 the lognormal is assumed",
    )
}

/// The origin of the scatter of other disks.
fn assumed_spread() -> Origin {
    Origin::assumed("scatter of the local NVMe of I3 and I3en at low load")
}

/// Reads of 4 KiB took 96 µs (study i3-vs-i2) and those of 512 B 99 µs (diskplorer): the size costs
/// little, and 2 GB/s, which the disk is documented with, are 0.51 µs/KiB.
fn i3_nvme() -> Service {
    let per_kib = 0.51;
    let evidence = format!("{I3_STUDY}; 0.51 µs/KiB as the documented 2 GB/s of a disk (assumed)");
    let read = line(96.0 - 4.0 * per_kib, per_kib, Origin::measured(&evidence));
    let stream = "one stream, read ahead; each operation of another stream pushes it out with a probability of 0.33 (2 jobs)";
    let streams =
        Origin::measured("i3.xlarge, fio, 4 KiB, 8 and 16 sequential streams (study i3-vs-i2)");
    Service {
        write: at_4_kib(43.0, I3_STUDY),
        stream_read: Some(at_4_kib(35.0, &format!("{I3_STUDY}: {stream}"))),
        interleaved_read: Some(line(102.0 - 4.0 * per_kib, per_kib, streams)),
        programs: Some(programs(1830, 69 << 10, I3_SURFACE)),
        ..Service::even(read, nvme_spread(measured_spread()))
    }
}

/// Several sequential streams were slower than random operations at every number of jobs from 2
/// to 128: reads by 1.16 to 1.25, writes by 1.15 to 1.32.
fn i2_sata() -> Service {
    let (read, write) = (184.0, 124.0);
    let streams = format!("{I3_STUDY}; 2 to 128 interleaved streams against random");
    Service {
        interleaved_read: Some(at_4_kib(read * 1.2, &streams)),
        interleaved_write: Some(at_4_kib(write * 1.25, &streams)),
        write: at_4_kib(write, I3_STUDY),
        ..Service::even(at_4_kib(read, I3_STUDY), nvme_spread(assumed_spread()))
    }
}

/// Sequential with one thread was 1.45 times slower (4 and 8 KiB; larger ones are at the limiter).
fn r5d_nvme() -> Service {
    let origin = Origin::measured(&format!("{R5D_STUDY}: one sequential stream"));
    let stream = line(43.0 * 1.45, 2.4 * 1.45, origin);
    let random = line(43.0, 2.4, Origin::measured(R5D_STUDY));
    Service {
        stream_read: Some(stream.clone()),
        stream_write: Some(stream),
        ..Service::even(random, nvme_spread(assumed_spread()))
    }
}

/// Before its limiter paces them, 2.83 % of the reads of im4gn took 204 to 250 µs. Their 35th percentile
/// is the published first one of all, 211 µs, and the mean of a lognormal lies a little above: 214 µs
/// for 128 KiB. Reads of 4 KiB took 171 µs on is4gen, the other family of these disks, and that is
/// the other end of the line. Writes there took 100 µs, and no other size was measured.
fn nitro(spread: Spread) -> Service {
    let per_kib = (214.0 - 171.0) / 124.0;
    let reads = Origin::measured(&format!("{IS4GEN}; 214 µs for 128 KiB: {IM4GN_STUDY}"));
    let writes = Origin::measured(&format!("{IS4GEN}; other sizes as reads (assumed)"));
    Service {
        write: line(100.0 - 4.0 * per_kib, per_kib, writes),
        ..Service::even(line(171.0 - 4.0 * per_kib, per_kib, reads), spread)
    }
}

/// One scatter for both directions, between reads (p95 1.25, p99 1.47 and p99.9 1.98 times the
/// median) and writes (1.61, 2.11 and 3.40 times).
fn nitro_spread() -> Spread {
    Spread {
        sigma: 0.2,
        tail: Some(Tail {
            share: 0.003,
            factor: 2.0,
            sigma: 0.35,
        }),
        origin: Origin::measured(&format!(
            "{IS4GEN}: p95, p99 and p99.9, between reads and writes"
        )),
    }
}

/// A paced operation ends 524 µs after the one before it began, each at its own latency: what is
/// seen scatters by that of two. p5 and p95 of all, 498 and 540 µs, are 2.01 deviations below the
/// mean of the paced and 1.63 above it: 11.5 µs, and 11.5 / 214 / sqrt(2) of the disk's latency.
fn im4gn_spread() -> Spread {
    Spread {
        sigma: 0.038,
        tail: None,
        origin: Origin::measured(&format!(
            "{IM4GN_STUDY}: p5 498 µs and p95 540 µs around a pace of 524 µs; the lognormal is assumed"
        )),
    }
}

fn i3en_nvme() -> Service {
    let origin = Origin::measured(
        "i3en.3xlarge, random reads of 512 B: p50 138 µs (ScyllaDB, diskplorer); writes and 2.4 µs/KiB assumed",
    );
    Service {
        programs: Some(programs(300, 12 << 10, I3EN_SURFACE)),
        ..Service::even(line(138.0, 2.4, origin), nvme_spread(measured_spread()))
    }
}

fn local_ssd() -> Service {
    let because =
        "no measurement of this disk is known: 43 µs + 2.4 µs/KiB as the local NVMe of R5d";
    Service::even(
        line(43.0, 2.4, Origin::assumed(because)),
        nvme_spread(assumed_spread()),
    )
}

impl Service {
    /// Reads take as long as writes, in whatever order they come.
    pub fn even(latency: Latency, spread: Spread) -> Self {
        Self {
            read: latency.clone(),
            write: latency,
            stream_read: None,
            stream_write: None,
            interleaved_read: None,
            interleaved_write: None,
            spread,
            saturation: None,
            programs: None,
        }
    }

    /// A medium that always takes this time.
    pub fn constant(time: Nanos) -> Self {
        let latency = Latency {
            base: time,
            per_kib_ns: 0.0,
            origin: Origin::Given,
        };
        Self::even(latency, Spread::NONE)
    }

    /// The service with a physical maximum.
    #[must_use]
    pub fn saturating_at(mut self, read_iops: f64, write_iops: f64, origin: Origin) -> Self {
        self.saturation = Some(Saturation {
            read_iops,
            write_iops,
            origin,
        });
        self
    }

    /// What all of its figures rest on.
    pub fn origins_mut(&mut self) -> impl Iterator<Item = &mut Origin> {
        let in_order = [
            &mut self.stream_read,
            &mut self.stream_write,
            &mut self.interleaved_read,
            &mut self.interleaved_write,
        ];
        let latencies = in_order
            .into_iter()
            .flatten()
            .chain([&mut self.read, &mut self.write]);
        let others = [
            Some(&mut self.spread.origin),
            self.saturation
                .as_mut()
                .map(|saturation| &mut saturation.origin),
            self.programs.as_mut().map(|program| &mut program.origin),
        ];
        latencies
            .map(|latency| &mut latency.origin)
            .chain(others.into_iter().flatten())
    }

    /// Whether an operation's time depends on the ones before it.
    pub(crate) const fn depends_on_order(&self) -> bool {
        self.stream_read.is_some()
            || self.stream_write.is_some()
            || self.interleaved_read.is_some()
            || self.interleaved_write.is_some()
    }

    /// The latencies that are given, each with the operations that take it.
    pub(crate) fn latencies(&self) -> impl Iterator<Item = (Operation, &Latency)> {
        let all = [
            (Operation::Read, Some(&self.read)),
            (Operation::Write, Some(&self.write)),
            (Operation::SequentialRead, self.stream_read.as_ref()),
            (Operation::SequentialWrite, self.stream_write.as_ref()),
            (Operation::InterleavedRead, self.interleaved_read.as_ref()),
            (Operation::InterleavedWrite, self.interleaved_write.as_ref()),
        ];
        all.into_iter()
            .filter_map(|(operation, latency)| Some((operation, latency?)))
    }
}
