//! The columns of a run's table: one list for text and HTML.

use blocklab_findings::{ResponseNs, RowDirection};
use blocklab_record::{PERCENTILES, Percentile, Statistic};
use blocklab_units::{count, latency, rate};

use crate::words::facts;

/// A column: its title and the text of a cell.
pub struct Column {
    /// Stands over it.
    pub title: &'static str,
    /// What it shows of a row.
    pub text: Box<dyn Fn(&RowDirection) -> String>,
    /// The quantile (0 to 1) that it shows: too few operations may stand behind it.
    pub quantile: Option<f64>,
    /// Whether it stands in the short table as well.
    pub is_brief: bool,
}

fn column(title: &'static str, text: impl Fn(&RowDirection) -> String + 'static) -> Column {
    Column {
        title,
        text: Box::new(text),
        quantile: None,
        is_brief: true,
    }
}

/// The shortest or the longest latency; a dash where it is not known.
fn extreme(title: &'static str, statistic: Statistic, ns: fn(&RowDirection) -> u64) -> Column {
    let text = move |direction: &RowDirection| {
        if direction.unknown.has(statistic) {
            "–".to_owned()
        } else {
            latency(ns(direction) as f64)
        }
    };
    Column {
        is_brief: false,
        ..column(title, text)
    }
}

/// The figure with its interval, the service latency, the operations.
pub fn service() -> Vec<Column> {
    let mut all = vec![
        column("MB/s", |d| rate(d.bytes_per_s.value / 1e6)),
        column("IOPS", |d| rate(d.iops.value)),
        column("±", |d| facts::plus_minus(&d.iops)),
        column("mean", facts::mean),
        extreme("min", Statistic::Min, |d| d.min_ns),
    ];
    all.extend(PERCENTILES.iter().map(|percentile| Column {
        quantile: Some(percentile.share),
        is_brief: percentile.brief,
        ..column(percentile.title, |d| {
            facts::quantile(d, percentile.share, d.service_ns.at(percentile.name))
        })
    }));
    all.push(extreme("max", Statistic::Max, |d| d.max_ns));
    all.push(Column {
        is_brief: false,
        ..column("operations", |d| count(d.ios as f64))
    });
    all
}

/// The response latency, where there is one.
pub fn response() -> Vec<Column> {
    let percentiles = PERCENTILES.iter().map(Some);
    percentiles.chain([None]).map(response_column).collect()
}

/// A percentile of it, or its maximum.
fn response_column(of: Option<&'static Percentile>) -> Column {
    let ns =
        move |all: ResponseNs| of.map_or(all.max, |percentile| all.percentiles.at(percentile.name));
    Column {
        is_brief: of.is_none_or(|percentile| percentile.brief),
        ..column(
            of.map_or("max", |percentile| percentile.title),
            move |d| match (d.response_ns, of) {
                (None, _) => "–".to_owned(),
                (Some(all), Some(it)) => facts::quantile(d, it.share, ns(all)),
                (Some(all), None) => latency(ns(all) as f64),
            },
        )
    }
}
