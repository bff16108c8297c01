//! What documents and studies say apart from the limits.

use crate::embedded::{ACCOUNTING, LATENCIES, RULES};
use crate::table::Table;
use crate::{Catalog, Offer};

/// Remarks on what an address names, and on the type of volume that it runs as.
pub(crate) fn of(offer: &Offer, runs_as: &str) -> Vec<String> {
    let mut remarks: Vec<String> = promise(&offer.volume).into_iter().collect();
    remarks.extend(documented_latency(runs_as));
    remarks.extend(rules(offer));
    remarks
}

/// No source knows the days to come: neither limits nor prices.
pub(crate) fn future(catalog: &Catalog, offer: &Offer) -> Option<String> {
    let (day, newest) = (offer.as_of?, catalog.newest_source()?);
    (day > newest).then(|| {
        format!(
            "{day} lies after the newest source of the catalog, of {newest}: what held then is \
             taken to hold still"
        )
    })
}

/// How reliably the vendor delivers.
fn promise(volume: &str) -> Option<String> {
    let rows = Table::new(ACCOUNTING).rows();
    let row = rows
        .into_iter()
        .find(|row| row.text("rule") == "consistency promise")?;
    let of_volume = |part: &&str| {
        let kinds = part.split([':', ' ']).next().unwrap_or_default();
        kinds
            .split('/')
            .any(|kind| volume.split('-').next() == Some(kind))
    };
    let mut parts = row.text("value").split("; ");
    let part = parts.find(of_volume)?;
    Some(format!("the vendor's promise: {part}"))
}

fn documented_latency(volume: &str) -> Option<String> {
    let of_volume = |device: &str| device.split([' ', '/']).any(|word| word == volume);
    let row = Table::new(LATENCIES)
        .rows()
        .find(|row| of_volume(row.text("device")))?;
    let text = Some(row.text("documented")).filter(|text| !text.is_empty())?;
    Some(format!(
        "documented latency of {}: {text}",
        row.text("device")
    ))
}

/// The rules that held for a published study of that year, where it was about this.
fn rules(offer: &Offer) -> Vec<String> {
    let Some(day) = offer.as_of else {
        return Vec::new();
    };
    let year = day.to_string()[..4].to_owned();
    let about = |rule: &str| {
        let words: Vec<&str> = rule.split([' ', '/', ',']).collect();
        let instance = offer.instance.as_deref().unwrap_or("@");
        words.contains(&offer.volume.as_str()) || rule.contains(instance)
    };
    let rows = Table::new(RULES).rows();
    let rows = rows.filter(|row| row.text("date").starts_with(&year) && about(row.text("rule")));
    let remarks = rows.map(|row| {
        format!(
            "study {} of {}: {}: {} ({})",
            row.text("study"),
            row.text("date"),
            row.text("rule"),
            row.text("value"),
            row.text("evidence")
        )
    });
    remarks.collect()
}
