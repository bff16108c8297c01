//! In: an advice. Out: its form for programs; the words for people are a view.

use blocklab_advice::{Advice, Chosen, Finalist, Simulated};
use serde::Serialize;

use crate::{fields, views};

/// An advice as programs read it.
pub fn advice(advice: &Advice) -> impl Serialize + use<'_> {
    let need = &advice.question.need;
    let sellers = advice.question.sellers.iter();
    let neighbours = advice.neighbours.iter();
    let lacking = advice.lacking.iter();
    fields! {
        verdict: views::advice_verdict(advice),
        need: fields! {
            capacity_bytes: need.capacity.0,
            iops: need.iops,
            bytes_per_s: need.bytes_per_s,
            block_bytes: need.block.0,
            read_percent: need.read_percent,
            p99_ns: need.p99.map(|p99| p99.0),
            burst_lasts_ns: need.lasts.map(|lasts| lasts.0),
            // The need was taken from what was delivered; more may have been asked for.
            is_at_least: advice.question.at_least,
        },
        sellers: sellers
            .map(|seller| fields! { vendor: &seller.vendor, region: &seller.region })
            .collect::<Vec<_>>(),
        chosen: advice.chosen.iter().map(chosen).collect::<Vec<_>>(),
        neighbours: neighbours
            .map(|(finalist, simulated)| configuration(finalist, simulated))
            .collect::<Vec<_>>(),
        refused: &advice.refused,
        lacking: lacking
            .map(|(volume_type, lacks)| fields! { volume_type: volume_type, lacks: lacks })
            .collect::<Vec<_>>(),
        unpriced: &advice.unpriced,
        more: &advice.more,
        front: &advice.front,
        beside: &advice.beside,
        impossible: &advice.impossible,
        migration: &advice.migration,
        remarks: &advice.question.remarks,
    }
}

/// The answer under some terms: a configuration, or why there is none.
fn chosen(chosen: &Chosen) -> impl Serialize + use<'_> {
    let finalist = chosen.finalist.as_ref();
    fields! {
        choice: chosen.choice,
        why_not: &chosen.why_not,
        #[serde(flatten)]
        configuration: finalist.map(|finalist| configuration(finalist, &chosen.simulated)),
    }
}

/// A configuration with everything that it rests on.
fn configuration<'a>(
    finalist: &'a Finalist,
    simulated: &'a [Simulated],
) -> impl Serialize + use<'a> {
    let candidate = &finalist.candidate;
    let resolved = &finalist.resolved;
    let assumed = resolved
        .assumptions
        .iter()
        .chain(&resolved.cost_assumptions);
    fields! {
        address: candidate.address(),
        volume_type: &candidate.kind,
        machine: &candidate.machine,
        volumes: candidate.volumes,
        per_month: candidate.per_month,
        volumes_per_month: candidate.volumes_per_month,
        currency: candidate.currency,
        bounds: &finalist.bounds,
        courses: &finalist.courses,
        prices: finalist.paid().collect::<Vec<_>>(),
        rests_on: finalist.rests_on.iter().map(|premise| &premise.text).collect::<Vec<_>>(),
        assumptions: assumed.collect::<Vec<_>>(),
        is_lost_at_stop: candidate.is_lost_at_stop,
        simulated: simulated,
    }
}
