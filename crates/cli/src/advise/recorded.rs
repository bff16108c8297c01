//! In: a trace. Out: the lowest rates at which no operation waits too long, and how it performs on a
//! finalist. The calculation and the simulation are those of `trace fit`.

use anyhow::{Result, bail};
use blocklab_advice::{Finalist, Need, Simulated, Start, Verdict};
use blocklab_catalog::{Catalog, resolve_text};
use blocklab_device::Layout;
use blocklab_sizing::{Envelope, Outcome};
use blocklab_units::{Bytes, Nanos, SECTOR};
use blocklab_workload::Direction;

use super::measured::Taken;
use crate::catalog::unusable;
use crate::trace::fit::{Load, simulate};

/// A trace, and how long its operations may wait.
pub struct Recorded<'a> {
    pub load: Load<'a>,
    pub tolerated: Nanos,
}

/// Steps of bisection, enough for any precision.
const STEPS: usize = 50;

impl Recorded<'_> {
    /// The lowest rates at which no operation waits too long for a limit without burst credits.
    pub fn need(&self) -> Result<Taken> {
        // Counted as most vendors count: one operation for each piece that a volume gets.
        let piece = Layout::default().part(Bytes(u64::MAX)).0;
        let (mut ops, mut bytes) = (Envelope::default(), Envelope::default());
        let (mut count, mut reads, mut moved, mut end) = (0_u64, 0_u64, 0_u64, 0_u64);
        self.load.each(|operation| {
            // What moves nothing asks no volume for a size or a rate.
            if operation.len == 0 {
                return;
            }
            let len = u64::from(operation.len);
            ops.add(operation.at, len.div_ceil(piece).max(1));
            bytes.add(operation.at, len);
            count += 1;
            reads += u64::from(operation.direction == Direction::Read);
            moved += len;
            end = end.max(operation.end());
        })?;
        if count == 0 {
            bail!(
                "{}: no read, write or trim in it, so there is no need to find a volume for",
                self.load.name()
            );
        }
        // Volumes are sold in whole GiB.
        let mut need = Need::new(Bytes(end.next_multiple_of(Bytes::GIB.0)));
        need.iops = self.least(&ops.closed()).ceil();
        need.bytes_per_s = self.least(&bytes.closed()).ceil();
        need.block = Bytes((moved / count / SECTOR).max(1) * SECTOR);
        need.read_percent = Some((100 * reads / count) as u8);
        Ok(Taken {
            need,
            at_least: false,
            remarks: vec![format!(
                "The need is that of {}: the least rates at which {} longer than {} for a limit, \
                 and the end of its last byte.",
                self.load.name(),
                match count {
                    1 => "its operation does not wait".to_owned(),
                    _ => format!(
                        "none of its {} operations waits",
                        blocklab_units::count(count as f64)
                    ),
                },
                self.tolerated
            )],
        })
    }

    /// The lowest rate in units a second.
    fn least(&self, envelope: &Envelope) -> f64 {
        let (mut low, mut high) = (0.5, envelope.work() as f64 + 1.0);
        // At `high`, even all work at once waits less than a second. If less than that is tolerated,
        // the bound goes up.
        while envelope.worst(high, 0.0).wait > self.tolerated && high < 1e15 {
            high *= 16.0;
        }
        for _ in 0..STEPS {
            // The geometric mean, because rates span many orders of magnitude.
            let middle = (low * high).sqrt();
            if envelope.worst(middle, 0.0).wait > self.tolerated {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }

    /// Simulates the trace on a finalist, with burst buckets empty and full.
    pub fn played(
        &self,
        finalist: &Finalist,
        need: &Need,
        catalog: &Catalog,
    ) -> Result<Vec<Simulated>> {
        let starts = finalist.starts(need);
        let addresses: Vec<String> = starts.iter().map(|start| finalist.begun(*start)).collect();
        let resolved = addresses
            .iter()
            .map(|address| resolve_text(address, catalog).map_err(unusable));
        let resolved = resolved.collect::<Result<Vec<_>>>()?;
        let specs: Vec<_> = resolved.iter().map(|resolved| &resolved.spec).collect();
        let outcomes = simulate(&self.load, &specs, self.tolerated)?;
        let each = starts.iter().zip(addresses).zip(outcomes);
        let judged =
            each.map(|((start, address), outcome)| self.judged(*start, address, &outcome, need));
        Ok(judged.collect())
    }

    /// Whether an outcome meets the need. It fails by a wait that is too long, by the p99, or by
    /// operations beyond the end.
    fn judged(&self, start: Start, address: String, outcome: &Outcome, need: &Need) -> Simulated {
        let mut why = Vec::new();
        if outcome.wait_max_ns > self.tolerated.0 {
            let held = outcome
                .held
                .first()
                .map_or("a limit", |held| held.limit.as_str());
            why.push(format!(
                "an operation waits {} for {held}",
                Nanos(outcome.wait_max_ns)
            ));
        }
        if let Some(p99) = need.p99.filter(|p99| outcome.latency_p99_ns > p99.0) {
            let found = Nanos(outcome.latency_p99_ns);
            why.push(format!("p99 {found}; {p99} is the bound"));
        }
        if let Some(end) = outcome.beyond_bytes {
            why.push(format!("it reaches {}, beyond the end", Bytes(end)));
        }
        Simulated {
            address,
            start,
            verdict: if why.is_empty() {
                Verdict::Carries
            } else {
                Verdict::Fails
            },
            why,
            p99_ns: Some(outcome.latency_p99_ns as f64),
            simulated_ns: 0,
            operations: outcome.operations,
        }
    }
}
