//! What documents and studies say apart from the limits.

use crate::Catalog;
use crate::embedded::{ACCOUNTING, LATENCIES, RULES};
use crate::table::Table;
use blocklab_units::Bytes;
use blocklab_workload::Offer;

/// A sentence about what an address names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// What it is about, for whoever looks for one.
    pub kind: RemarkKind,
    /// As it is shown.
    pub text: String,
}

/// What a remark is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemarkKind {
    /// Why nothing is predicted.
    NoPrediction,
    /// How reliably the vendor delivers.
    Promise,
    /// Anything else.
    Other,
}

/// What is assumed where an address names no size of its volume.
pub(crate) fn no_size(assumed: Bytes) -> String {
    format!("no size is given: {assumed} is assumed")
}

impl Remark {
    pub(crate) fn no_prediction(text: String) -> Self {
        Self {
            kind: RemarkKind::NoPrediction,
            text,
        }
    }
}

impl From<String> for Remark {
    fn from(text: String) -> Self {
        Self {
            kind: RemarkKind::Other,
            text,
        }
    }
}

/// Remarks on what an address names, and on the type of volume that it runs as.
pub(crate) fn about(offer: &Offer, runs_as: &str) -> Vec<Remark> {
    let promise = promise(&offer.volume).map(|text| Remark {
        kind: RemarkKind::Promise,
        text,
    });
    let latency = documented_latency(runs_as).map(Remark::from);
    let mut remarks: Vec<Remark> = promise.into_iter().chain(latency).collect();
    remarks.extend(of_studies(offer));
    remarks
}

/// The rules that held for a published study of that year, where it was about this.
pub(crate) fn of_studies(offer: &Offer) -> impl Iterator<Item = Remark> {
    rules(offer).into_iter().map(Remark::from)
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
    let rows = Table::embedded(ACCOUNTING).rows();
    let row = rows
        .into_iter()
        .find(|row| row.text("rule") == "consistency promise")?;
    // One cell has all types: `gp2/gp3: …; io1/io2: …`. `io2-block-express` is found as `io2`.
    let mut parts = row.text("value").split("; ");
    let part = parts.find(|part| {
        let kinds = part.split([':', ' ']).next().unwrap_or_default();
        kinds
            .split('/')
            .any(|kind| volume.split('-').next() == Some(kind))
    })?;
    Some(format!("the vendor's promise: {part}"))
}

/// The latency that the vendor documents for a volume type, as a sentence.
fn documented_latency(volume: &str) -> Option<String> {
    let row = Table::embedded(LATENCIES).rows().find(|row| {
        let mut words = row.text("device").split([' ', '/']);
        words.any(|word| word == volume)
    })?;
    let text = Some(row.text("documented")).filter(|text| !text.is_empty())?;
    Some(format!(
        "documented latency of {}: {text}",
        row.text("device")
    ))
}

/// What studies of the year of the offer found about its volume and its instance.
fn rules(offer: &Offer) -> Vec<String> {
    // Without a day the question is about today, and the studies are of the past.
    let Some(day) = offer.as_of else {
        return Vec::new();
    };
    let year = day.to_string()[..4].to_owned();
    let rows = Table::embedded(RULES).rows().filter(|row| {
        let rule = row.text("rule");
        let mut words = rule.split([' ', '/', ',']);
        let instance = offer.instance.as_deref();
        row.text("date").starts_with(&year)
            && (words.any(|word| word == offer.volume)
                || instance.is_some_and(|instance| rule.contains(instance)))
    });
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
