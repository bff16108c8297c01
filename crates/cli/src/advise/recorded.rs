//! In: a trace. Out: the lowest rates at which no operation waits too long, and how it performs on a
//! finalist. The calculation and the simulation are those of `trace fit`.

use anyhow::{Result, bail};
use blocklab_advice::{Finalist, Need, Simulated, Start, Verdict};
use blocklab_catalog::{Catalog, cap, resolve_text};
use blocklab_device::{DeviceSpec, Origin, Rate};
use blocklab_sizing::{Demand, Outcome};
use blocklab_units::{Bytes, Nanos, SECTOR};

use super::measured::DerivedNeed;
use crate::catalog::unusable;
use crate::trace::fit::{FEW_SIMULATED, Load, simulate};

/// A trace, and how long its operations may wait.
pub struct Recorded<'a> {
    pub load: Load<'a>,
    pub tolerated: Nanos,
}

/// How often a trace is played to find its least rates: two limits a step, in some ten steps.
const PLAYED: u64 = 20;

impl Recorded<'_> {
    /// The lowest rates at which no operation waits too long for a limit without burst credits.
    pub fn need(&self) -> Result<DerivedNeed> {
        let mut demand = Demand::default();
        self.load.each(|operation| demand.add(operation))?;
        let demand = demand.consolidated();
        if demand.count == 0 {
            bail!(
                "{}: no read, write or trim in it, so there is no need to find a volume for",
                self.load.name()
            );
        }
        let is_short = demand.count * PLAYED <= FEW_SIMULATED;
        let rates = if is_short {
            let template = cap("limit", Rate::Iops(1.0), &Origin::Given);
            demand.rates(self.tolerated, &template, |specs| self.longest_waits(specs))?
        } else {
            demand.rates_without_savings(self.tolerated)
        };
        // Volumes are sold in whole GiB.
        let mut need = Need::new(Bytes(demand.end.next_multiple_of(Bytes::GIB.0)));
        need.iops = rates.iops.ceil();
        need.bytes_per_s = rates.bytes_per_s.ceil();
        // The highest rate is often that of small operations. With their mean size it would need more
        // bytes a second than the load. Both rates are known to a per cent, so 2 % are no difference.
        let mean = demand.moved as f64 / demand.count as f64;
        let densest = need.bytes_per_s / need.iops;
        let block = if densest < mean * 0.98 { densest } else { mean };
        need.block = Bytes((block as u64 / SECTOR).max(1) * SECTOR);
        need.read_percent = Some((100 * demand.reads / demand.count) as u8);
        Ok(DerivedNeed {
            need,
            lower_bound: None,
            remarks: vec![self.remark(demand.count, is_short)],
        })
    }

    /// How the need was found.
    fn remark(&self, count: u64, is_short: bool) -> String {
        let waits = match count {
            1 => "its operation does not wait".to_owned(),
            _ => format!(
                "none of its {} operations waits",
                blocklab_units::count(count as f64)
            ),
        };
        let limit = if is_short {
            "a limit, which saves up to a second of its rate"
        } else {
            "a limit that saves nothing up (the trace is too long to play limits that do)"
        };
        format!(
            "The need is that of {}: the least rates at which {waits} longer than {} for {limit}, and \
             the end of its last byte.",
            self.load.name(),
            self.tolerated
        )
    }

    /// The longest wait of any operation on each of these volumes.
    fn longest_waits(&self, specs: &[DeviceSpec]) -> Result<Vec<Nanos>> {
        let specs: Vec<&DeviceSpec> = specs.iter().collect();
        let outcomes = simulate(&self.load, &specs, self.tolerated)?;
        let waits = outcomes.iter().map(|outcome| Nanos(outcome.wait_max_ns));
        Ok(waits.collect())
    }

    /// Simulates the trace on a finalist, with burst buckets empty and full.
    pub fn simulated(
        &self,
        finalist: &Finalist,
        need: &Need,
        catalog: &Catalog,
    ) -> Result<Vec<Simulated>> {
        let starts = finalist.starts(need);
        let addresses: Vec<String> = starts
            .iter()
            .map(|start| finalist.address_at(*start))
            .collect();
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
