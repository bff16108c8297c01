//! In: what is known of reads and of writes. Out: a device of the model.

use blocklab_device::{
    Accounting, Cap, Covers, DeviceSpec, Latency, Origin, Programs, Rate, Saturation, Service,
    Spread, VolumeSpec, predict,
};
use blocklab_units::{Bytes, Nanos, count};

use super::burst::Burst;
use super::cells::{Load, Start, pattern};
use super::line::Line;
use super::plateau::Level;
use super::scatter::LatencyDistribution;

/// Where physical maxima are stated.
const STATED_AT: u64 = 4096;
/// As many channels as the model can have: more than any queue fills.
const UNSEEN: f64 = 65_536.0;
/// The model takes physical maxima from one operation a second to this many.
const MOST_IOPS: f64 = 1e9;

/// What is known of a direction under one candidate.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DirectionFit {
    pub random: Line,
    /// Caps hold back every random cell of depth 1, so that `random` is assumed below them.
    pub is_bound: bool,
    /// One sequential stream; `None`: not measured, or as random.
    pub stream: Option<Line>,
    pub iops: Option<Level>,
    pub bytes: Option<Level>,
    /// Operations that the medium works on at a time.
    pub channels: Option<f64>,
}

/// Both directions and what they share.
pub(super) struct Draft<'a> {
    pub read: &'a DirectionFit,
    pub write: &'a DirectionFit,
    pub accounting: Accounting,
    pub scatter: &'a LatencyDistribution,
    /// One cap on operations for reads and writes together.
    pub shares_iops: bool,
    /// One cap on bytes for reads and writes together.
    pub shares_bytes: bool,
    /// How long a program holds a channel of the reads, and what it writes; `None`: reads do not
    /// wait behind writes.
    pub programs: Option<(Nanos, Bytes)>,
    /// What shows which buckets and peaks the caps have.
    pub starts: &'a [Start],
    pub provenance: Provenance<'a>,
}

/// The measurements on which the figures of a draft rest.
pub(super) struct Provenance<'a> {
    /// `run ab12`.
    pub runs: &'a str,
    /// Whether a direction was measured, reads first; else it is as the other one.
    pub measured: [bool; 2],
    /// The number of cells that the scatter of latencies rests on.
    pub scatter_cells: usize,
}

/// A device whose reads and writes are both like this, for predictions.
pub(super) fn trial_of_one(fit: &DirectionFit, accounting: Accounting) -> DeviceSpec {
    let scatter = LatencyDistribution::default();
    let draft = Draft {
        read: fit,
        write: fit,
        accounting,
        scatter: &scatter,
        shares_iops: true,
        shares_bytes: true,
        programs: None,
        starts: &[],
        provenance: Provenance {
            runs: "",
            measured: [true; 2],
            scatter_cells: 0,
        },
    };
    draft.trial()
}

impl Draft<'_> {
    pub(super) fn device(&self, name: String, kind: String, capacity: Bytes) -> DeviceSpec {
        let volume = VolumeSpec {
            accounting: self.accounting,
            caps: self.caps(),
            service: Some(self.service()),
            ..VolumeSpec::new(&kind, capacity)
        };
        DeviceSpec::new(&name, vec![volume])
    }

    /// A device for predictions, large enough for all of them.
    pub(super) fn trial(&self) -> DeviceSpec {
        self.device(String::new(), "disk".to_owned(), Bytes(1 << 40))
    }

    /// The caps of operations and of bytes that the levels show.
    fn caps(&self) -> Vec<Cap> {
        let (read, write) = (self.read, self.write);
        let operations = self.pair(
            Quantity::Operations,
            [&read.iops, &write.iops],
            self.shares_iops,
        );
        let bytes = self.pair(
            Quantity::Bytes,
            [&read.bytes, &write.bytes],
            self.shares_bytes,
        );
        [operations, bytes].concat()
    }

    /// The caps of one quantity: one for both directions if `shared`, or one for each that has a level.
    /// `levels` are those of reads and of writes.
    fn pair(&self, quantity: Quantity, levels: [&Option<Level>; 2], shared: bool) -> Vec<Cap> {
        let [reads, writes] = self.provenance.measured;
        if let ([Some(read), Some(write)], true) = (levels, shared) {
            let value = f64::midpoint(read.value, write.value);
            let (read, write) = (shown(read), shown(write));
            let shown = if reads && writes && read != write {
                format!("{read} (reads), {write} (writes)")
            } else {
                read
            };
            return vec![self.cap(quantity, Covers::All, value, &shown, true)];
        }
        let mut caps = Vec::new();
        for (covers, measured, level) in [
            (Covers::Reads, reads, levels[0]),
            (Covers::Writes, writes, levels[1]),
        ] {
            if let Some(level) = level {
                caps.push(self.cap(quantity, covers, level.value, &shown(level), measured));
            }
        }
        caps
    }

    /// The cap of one quantity at `value`, with the burst above it that the starts of the runs show.
    /// `shown` is the level as its origin states it; `measured`: runs have shown it in this direction,
    /// and it is not taken over from the other one.
    fn cap(
        &self,
        quantity: Quantity,
        covers: Covers,
        value: f64,
        shown: &str,
        measured: bool,
    ) -> Cap {
        let origin = self.origin(&format!("flat at {shown}"), measured);
        let limit = quantity.rate(value);
        let burst = Burst::seen_in(self.starts, covers, limit, self.accounting, |load| {
            self.medium(load)
        });
        Cap {
            covers,
            bucket: burst.bucket,
            peak: burst.peak.map(|peak| quantity.rate(peak)),
            ..Cap::new(quantity.name(), limit, origin)
        }
    }

    /// Operations a second without caps.
    pub(super) fn medium(&self, load: Load) -> f64 {
        let volume = VolumeSpec {
            service: Some(self.service()),
            ..VolumeSpec::new("disk", Bytes(1 << 40))
        };
        let predicted = predict(&DeviceSpec::new("", vec![volume]), load.steady());
        predicted.map_or(f64::INFINITY, |predicted| predicted.sustained().iops)
    }

    /// How long the medium takes for an operation, and how many it does at a time.
    fn service(&self) -> Service {
        let [reads, writes] = self.provenance.measured;
        let line = |line: Line, what: &str, measured| Latency {
            base: Nanos(line.base.max(1.0).round() as u64),
            per_kib_ns: rounded(line.per_kib),
            origin: self.origin(&format!("{what} at depth 1, {}", sizes(line)), measured),
        };
        let random = |fit: &DirectionFit, what: &str, measured| {
            let mut latency = line(fit.random, what, measured);
            if fit.is_bound && measured {
                let why = "half of the shortest mean at depth 1: caps hold every size back";
                latency.origin = Origin::assumed(why);
            }
            latency
        };
        let (read, write) = (self.read, self.write);
        let cells = self.provenance.scatter_cells;
        Service {
            read: random(read, "random reads", reads),
            write: random(write, "random writes", writes),
            stream_read: read
                .stream
                .map(|stream| line(stream, "sequential reads", reads)),
            stream_write: write
                .stream
                .map(|stream| line(stream, "sequential writes", writes)),
            interleaved_read: None,
            interleaved_write: None,
            spread: Spread {
                sigma: rounded(self.scatter.sigma),
                tail: self.scatter.tail.clone(),
                origin: self.measured(&format!("histograms of {cells} cells of depth 1")),
            },
            saturation: self.saturation(),
            programs: self.programs.map(|(time, page)| Programs {
                time,
                page,
                origin: self.measured("rates of reads alongside writes"),
            }),
        }
    }

    /// The physical maximum; a direction that was never full gets more channels than any queue
    /// fills.
    fn saturation(&self) -> Option<Saturation> {
        let [read_iops, write_iops] = [self.read, self.write].map(|fit| {
            let channels = fit.channels.unwrap_or(UNSEEN);
            rounded((channels * 1e9 / fit.random.at(STATED_AT)).clamp(1.0, MOST_IOPS))
        });
        let (reads, writes) = (self.read.channels, self.write.channels);
        let seen = [("reads", reads), ("writes", writes)].map(|(what, channels)| match channels {
            Some(channels) => format!("{channels:.1} {what} at a time"),
            None => format!("no maximum of {what} seen"),
        });
        let from = format!("{}: explains the rates by depth", seen.join(", "));
        (reads.is_some() || writes.is_some()).then(|| Saturation {
            read_iops,
            write_iops,
            origin: self.measured(&from),
        })
    }

    /// The origin of a figure that the runs have shown.
    fn measured(&self, from: &str) -> Origin {
        Origin::measured(&format!("{}: {from}", self.provenance.runs))
    }

    /// Where a figure comes from: what the runs have shown, or the other direction.
    fn origin(&self, from: &str, measured: bool) -> Origin {
        if measured {
            self.measured(from)
        } else {
            Origin::assumed("not measured: as the other direction")
        }
    }
}

/// `3 sizes from 4 KiB to 1 MiB`.
fn sizes(line: Line) -> String {
    let smallest = Bytes(line.sizes.smallest);
    match line.sizes.count {
        1 => format!("{smallest} only, so that nothing is known of what a KiB costs"),
        count => format!(
            "{count} sizes from {smallest} to {}",
            Bytes(line.sizes.largest)
        ),
    }
}

/// `random 4 KiB and sequential 4 KiB to 1 MiB`.
fn shown(level: &Level) -> String {
    let mut texts = Vec::new();
    for sequential in [false, true] {
        let plateaus = level.shown_by.iter();
        let of_pattern = plateaus.filter(|plateau| plateau.sequential == sequential);
        let blocks: Vec<Bytes> = of_pattern.map(|plateau| Bytes(plateau.block)).collect();
        let pattern = pattern(sequential);
        match blocks[..] {
            [] => {}
            [one] => texts.push(format!("{pattern} {one}")),
            [first, .., last] => texts.push(format!("{pattern} {first} to {last}")),
        }
    }
    texts.join(" and ")
}

/// What a cap counts.
#[derive(Debug, Clone, Copy)]
enum Quantity {
    Operations,
    Bytes,
}

impl Quantity {
    /// The name of a cap on it.
    const fn name(self) -> &'static str {
        match self {
            Self::Operations => "operations",
            Self::Bytes => "throughput",
        }
    }

    /// A number of operations or bytes a second, as a rate of the model.
    fn rate(self, per_second: f64) -> Rate {
        match self {
            Self::Operations => Rate::Iops(rounded(per_second)),
            Self::Bytes => Rate::MibPerS(rounded(per_second / 1_048_576.0)),
        }
    }
}

/// Four figures: more would claim what no measurement of seconds can show.
pub(super) fn rounded(value: f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let digits = 3 - value.abs().log10().floor() as i32;
    let scale = 10f64.powi(digits);
    (value * scale).round() / scale
}

/// `65,536`.
pub(super) fn channels_unseen() -> String {
    count(UNSEEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_figures() {
        for (value, expected) in [
            (0.0, 0.0),
            (2999.96, 3000.0),
            (0.295_04, 0.295),
            (2_199.7, 2_200.0),
            (123_456.0, 123_500.0),
        ] {
            assert!(
                (rounded(value) - expected).abs() < 1e-9 * expected.max(1.0),
                "{value}"
            );
        }
    }
}
