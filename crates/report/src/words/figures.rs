//! The columns of a run's table, the same in text and on a page.

use blocklab_findings::{ResponseNs, RowDirection};
use blocklab_record::{PERCENTILES, Percentile, Statistic};
use blocklab_units::{count, latency};

use crate::words::facts;

/// A column of a run's table.
pub struct Column {
    /// Its title.
    pub title: &'static str,
    /// Gives the text of its cell in a row.
    pub text: Box<dyn Fn(&RowDirection) -> String>,
    /// The quantile (0 to 1) that it shows, if any: it may rest on too few operations.
    pub quantile: Option<f64>,
    /// Whether the short table has it, too.
    pub is_brief: bool,
}

/// A column that the short table has, too.
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

/// The columns of rates, service latency and operations.
pub fn service() -> Vec<Column> {
    let mut all = vec![
        column("MB/s", |d| facts::mb_per_s(d.bytes_per_s.value)),
        column("IOPS", |d| facts::fine_rate(d.iops.value)),
        column("±", |d| facts::plus_minus(&d.iops)),
        column("mean", facts::mean),
        extreme("min", Statistic::Min, |d| d.min_ns),
    ];
    all.extend(PERCENTILES.iter().map(|percentile| Column {
        quantile: Some(percentile.share),
        is_brief: percentile.brief,
        ..column(percentile.title, |d| {
            facts::service_percentile(d, percentile.name)
        })
    }));
    all.push(extreme("max", Statistic::Max, |d| d.max_ns));
    all.push(Column {
        is_brief: false,
        ..column("operations", |d| count(d.ios as f64))
    });
    all
}

/// The columns of response latency.
pub fn response() -> Vec<Column> {
    let percentiles = PERCENTILES.iter().map(Some);
    percentiles.chain([None]).map(response_column).collect()
}

/// A percentile of the response latency; `None`: its maximum.
fn response_column(percentile_or_max: Option<&'static Percentile>) -> Column {
    let ns = move |all: ResponseNs| {
        percentile_or_max.map_or(all.max, |percentile| all.percentiles.at(percentile.name))
    };
    Column {
        is_brief: percentile_or_max.is_none_or(|percentile| percentile.brief),
        ..column(
            percentile_or_max.map_or("max", |percentile| percentile.title),
            move |d| match (d.response_ns, percentile_or_max) {
                (None, _) => "–".to_owned(),
                (Some(all), Some(percentile)) => facts::quantile(d, percentile.share, ns(all)),
                (Some(all), None) => latency(ns(all) as f64),
            },
        )
    }
}
