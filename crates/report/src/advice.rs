//! In: an advice. Out: its form for programs. A file of its own: the words for people are a view.

use blocklab_advice::{
    Advice, Bound, Choice, Chosen, Course, Finalist, Impossible, Migration, More, Point, Refused,
    Simulated,
};
use blocklab_catalog::Price;
use serde::Serialize;

/// An advice as programs read it.
#[derive(Debug, Serialize)]
pub struct AdviceForm<'a> {
    verdict: String,
    need: NeedForm,
    sellers: Vec<SellerForm<'a>>,
    chosen: Vec<ChosenForm<'a>>,
    neighbours: Vec<ConfigurationForm<'a>>,
    refused: &'a [Refused],
    lacking: Vec<LackForm<'a>>,
    unpriced: &'a [String],
    more: &'a [More],
    front: &'a [Point],
    beside: &'a [Point],
    impossible: Option<&'a Impossible>,
    migration: Option<&'a Migration>,
    remarks: &'a [String],
}

#[derive(Debug, Serialize)]
struct NeedForm {
    capacity_bytes: u64,
    iops: f64,
    bytes_per_s: f64,
    block_bytes: u64,
    read_percent: Option<u8>,
    p99_ns: Option<u64>,
    burst_lasts_ns: Option<u64>,
    /// It is what was delivered, and more may have been asked for.
    is_at_least: bool,
}

#[derive(Debug, Serialize)]
struct SellerForm<'a> {
    vendor: &'a str,
    region: &'a str,
}

#[derive(Debug, Serialize)]
struct LackForm<'a> {
    volume_type: &'a str,
    lacks: &'a str,
}

/// A configuration under some terms.
#[derive(Debug, Serialize)]
struct ChosenForm<'a> {
    choice: Choice,
    why_not: Option<&'a str>,
    #[serde(flatten)]
    configuration: Option<ConfigurationForm<'a>>,
}

#[derive(Debug, Serialize)]
struct ConfigurationForm<'a> {
    address: String,
    volume_type: &'a str,
    machine: Option<&'a str>,
    volumes: u32,
    per_month: Option<f64>,
    volumes_per_month: Option<f64>,
    currency: &'a str,
    bounds: &'a [Bound],
    courses: &'a [Course],
    prices: Vec<&'a Price>,
    rests_on: &'a [String],
    assumptions: Vec<&'a str>,
    is_lost_at_stop: bool,
    simulated: &'a [Simulated],
}

/// An advice as programs read it.
pub fn advice(advice: &Advice) -> AdviceForm<'_> {
    let need = &advice.question.need;
    let sellers = advice.question.sellers.iter();
    let lacking = advice.lacking.iter();
    AdviceForm {
        verdict: crate::views::advice_verdict(advice),
        need: NeedForm {
            capacity_bytes: need.capacity.0,
            iops: need.iops,
            bytes_per_s: need.bytes_per_s,
            block_bytes: need.block.0,
            read_percent: need.read_percent,
            p99_ns: need.p99.map(|p99| p99.0),
            burst_lasts_ns: need.lasts.map(|lasts| lasts.0),
            is_at_least: advice.question.at_least,
        },
        sellers: sellers
            .map(|seller| SellerForm {
                vendor: &seller.vendor,
                region: &seller.region,
            })
            .collect(),
        chosen: advice.chosen.iter().map(chosen).collect(),
        neighbours: advice
            .neighbours
            .iter()
            .map(|(finalist, simulated)| configuration(finalist, simulated))
            .collect(),
        refused: &advice.refused,
        lacking: lacking
            .map(|(volume_type, lacks)| LackForm { volume_type, lacks })
            .collect(),
        unpriced: &advice.unpriced,
        more: &advice.more,
        front: &advice.front,
        beside: &advice.beside,
        impossible: advice.impossible.as_ref(),
        migration: advice.migration.as_ref(),
        remarks: &advice.question.remarks,
    }
}

fn chosen(chosen: &Chosen) -> ChosenForm<'_> {
    let finalist = chosen.finalist.as_ref();
    ChosenForm {
        choice: chosen.choice,
        why_not: chosen.why_not.as_deref(),
        configuration: finalist.map(|one| configuration(one, &chosen.simulated)),
    }
}

fn configuration<'a>(finalist: &'a Finalist, simulated: &'a [Simulated]) -> ConfigurationForm<'a> {
    let candidate = &finalist.candidate;
    let resolved = &finalist.resolved;
    let assumed = resolved
        .assumptions
        .iter()
        .chain(&resolved.cost_assumptions);
    ConfigurationForm {
        address: candidate.address(),
        volume_type: &candidate.kind,
        machine: candidate.machine.as_deref(),
        volumes: candidate.volumes,
        per_month: candidate.per_month,
        volumes_per_month: candidate.volumes_per_month,
        currency: candidate.currency,
        bounds: &finalist.bounds,
        courses: &finalist.courses,
        prices: finalist.paid().collect(),
        rests_on: &finalist.rests_on,
        assumptions: assumed.map(String::as_str).collect(),
        is_lost_at_stop: candidate.is_lost_at_stop,
        simulated,
    }
}
