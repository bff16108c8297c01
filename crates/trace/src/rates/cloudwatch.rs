//! In: the output of `aws cloudwatch get-metric-statistics` or `get-metric-data`. Out: its figures per
//! second.
//!
//! EBS reports counts, whose sum over a period must be divided by its length. RDS reports rates per
//! second, of which the mean is right. (The mean of an EBS count is one over reports of the
//! hypervisor, and tells no rate.)

use jiff::Timestamp;
use serde_json::Value;

use super::{Metric, SECOND, Sample, Samples, WantedRates, figure, gap};

/// The known metrics, and whether each is a sum over its period.
const METRICS: [(&str, Metric, bool); 16] = [
    ("VolumeReadOps", Metric::Reads, true),
    ("VolumeWriteOps", Metric::Writes, true),
    ("VolumeReadBytes", Metric::ReadBytes, true),
    ("VolumeWriteBytes", Metric::WriteBytes, true),
    ("VolumeQueueLength", Metric::QueueLength, false),
    ("EBSReadOps", Metric::Reads, true),
    ("EBSWriteOps", Metric::Writes, true),
    ("EBSReadBytes", Metric::ReadBytes, true),
    ("EBSWriteBytes", Metric::WriteBytes, true),
    ("EBSIOBalance%", Metric::Balance, false),
    ("EBSByteBalance%", Metric::Balance, false),
    ("BurstBalance", Metric::Balance, false),
    ("ReadIOPS", Metric::Reads, false),
    ("WriteIOPS", Metric::Writes, false),
    ("ReadThroughput", Metric::ReadBytes, false),
    ("WriteThroughput", Metric::WriteBytes, false),
];

pub(super) fn is_known(text: &str) -> bool {
    text.trim_start().starts_with('{')
        && (text.contains("\"MetricDataResults\"") || text.contains("\"Datapoints\""))
}

/// A metric, whether it is a sum over its period, and its values with the beginnings of their periods
/// in ns since 1970.
type Series = (Metric, bool, Vec<(u64, f64)>);

/// Reads the JSON of `get-metric-data` or `get-metric-statistics`.
pub(super) fn read(text: &str, wanted: WantedRates<'_>) -> Result<Samples, String> {
    let json: Value = serde_json::from_str(text).map_err(|why| format!("no sound JSON: {why}"))?;
    let mut remarks = Vec::new();
    let series = match json.get("MetricDataResults").and_then(Value::as_array) {
        Some(results) => data(results, &mut remarks)?,
        None => statistics(&json)?,
    };
    let moments = series.iter().flat_map(|(_, _, points)| points);
    let length_ns = gap(moments.map(|(at, _)| *at).collect()).or(wanted.every_ns);
    let Some(period) = length_ns else {
        return Err("a single period: how long it is, is not in it: add --every 60s".to_owned());
    };
    let seconds = period as f64 / SECOND as f64;
    let mut all = Vec::new();
    for (metric, is_sum, points) in series {
        all.extend(points.into_iter().map(|(from_ns, value)| Sample {
            from_ns,
            metric,
            value: if is_sum { value / seconds } else { value },
        }));
    }
    Ok(Samples {
        all,
        length_ns,
        has_dates: true,
        remarks,
    })
}

/// The metric that a label contains: users may have added to it.
fn metric(label: &str) -> Option<(Metric, bool)> {
    let mut known = METRICS.iter();
    let found = known.find(|(name, ..)| label.contains(name));
    found.map(|(_, metric, is_sum)| (*metric, *is_sum))
}

/// Reads the output of `get-metric-data`: for each metric an array of times and one of values.
fn data(results: &[Value], remarks: &mut Vec<String>) -> Result<Vec<Series>, String> {
    let mut series = Vec::new();
    for result in results {
        let word = |name: &str| result.get(name).and_then(Value::as_str).unwrap_or_default();
        let label = word("Label");
        let Some((metric, is_sum)) = metric(label).or_else(|| metric(word("Id"))) else {
            remarks.push(format!("`{label}` is no metric of rates and is left out"));
            continue;
        };
        if word("StatusCode") == "PartialData" {
            remarks.push(format!("`{label}` goes on in further pages of the answer"));
        }
        let [moments, values] =
            ["Timestamps", "Values"].map(|name| result.get(name).and_then(Value::as_array));
        let (Some(moments), Some(values)) = (moments, values) else {
            return Err(format!("`{label}` has no Timestamps or no Values"));
        };
        let points = moments
            .iter()
            .zip(values)
            .map(|(at, value)| point(at, value));
        series.push((metric, is_sum, points.collect::<Result<_, _>>()?));
        if is_sum {
            let remark =
                "counts are taken as sums of their period (--stat Sum), as EBS reports them";
            if !remarks.iter().any(|known| known == remark) {
                remarks.push(remark.to_owned());
            }
        }
    }
    Ok(series)
}

/// Reads the output of `get-metric-statistics`: one metric, with its points in any order.
fn statistics(json: &Value) -> Result<Vec<Series>, String> {
    let label = json
        .get("Label")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let (metric, is_sum) = metric(label).ok_or_else(|| {
        let names: Vec<&str> = METRICS.iter().map(|(name, ..)| *name).collect();
        format!(
            "`{label}` is no metric of rates; there are {}",
            names.join(", ")
        )
    })?;
    let statistic = if is_sum { "Sum" } else { "Average" };
    let found = json.get("Datapoints").and_then(Value::as_array);
    let mut points = Vec::new();
    for found in found.ok_or("no Datapoints in it")? {
        let value = found.get(statistic).ok_or_else(|| {
            format!("{label} has no {statistic}: ask for it with --statistics {statistic}")
        })?;
        points.push(point(
            found.get("Timestamp").unwrap_or(&Value::Null),
            value,
        )?);
    }
    Ok(vec![(metric, is_sum, points)])
}

/// A time in ns since 1970, and its value.
fn point(at: &Value, value: &Value) -> Result<(u64, f64), String> {
    // Older versions of the command print times as seconds since 1970.
    let nanos = match at {
        Value::String(text) => {
            let moment: Timestamp = text.parse().map_err(|_| {
                format!("the Timestamp `{text}` is not such as 2026-11-27T10:00:00Z")
            })?;
            u64::try_from(moment.as_nanosecond()).ok()
        }
        Value::Number(number) => number
            .as_f64()
            .filter(|seconds| (0.0..1e10).contains(seconds))
            .map(|seconds| (seconds * 1e9) as u64),
        _ => None,
    };
    let nanos = nanos.ok_or_else(|| format!("the Timestamp {at} is no moment since 1970"))?;
    let value = value.as_f64().and_then(figure);
    Ok((
        nanos,
        value.ok_or("a value is not a number that a rate can have")?,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::{RateTable, read_rates};
    use super::*;

    fn table(texts: &[&str]) -> Result<RateTable, String> {
        let named: Vec<(String, String)> = texts
            .iter()
            .map(|text| ("answer.json".to_owned(), (*text).to_owned()))
            .collect();
        read_rates(&named, WantedRates::default())
    }

    /// EBS reports sums of a period: 18,000 writes of a minute are 300 a second.
    #[test]
    fn sums_of_ebs_are_divided_by_their_period_and_means_of_rds_are_not() {
        let writes = r#"{"Label": "VolumeWriteOps", "Datapoints": [
            {"Timestamp": "2026-11-27T10:01:00+00:00", "Sum": 18000.0, "Unit": "Count"},
            {"Timestamp": "2026-11-27T10:00:00Z", "Sum": 6000.0, "Unit": "Count"}]}"#;
        let balance = r#"{"Label": "BurstBalance", "Datapoints": [
            {"Timestamp": "2026-11-27T10:00:00Z", "Average": 99.5, "Unit": "Percent"},
            {"Timestamp": "2026-11-27T10:01:00Z", "Average": 98.0, "Unit": "Percent"}]}"#;
        let found = table(&[writes, balance]).expect("a sound answer");
        assert_eq!(found.interval_ns, 60 * SECOND);
        assert_eq!(found.begins_ns, Some(1_795_773_600 * SECOND));
        let rates: Vec<_> = found
            .intervals
            .iter()
            .map(|slot| (slot.iops, slot.balance_percent))
            .collect();
        assert_eq!(
            rates,
            [(Some(100.0), Some(99.5)), (Some(300.0), Some(98.0))]
        );
        let rds = r#"{"MetricDataResults": [
            {"Id": "w", "Label": "db1 WriteIOPS", "StatusCode": "Complete",
             "Timestamps": ["2026-11-27T10:00:00Z", "2026-11-27T10:05:00Z"], "Values": [250, 20]},
            {"Id": "c", "Label": "CPUUtilization", "Timestamps": [], "Values": []}]}"#;
        let found = table(&[rds]).expect("a sound answer");
        assert_eq!(found.interval_ns, 300 * SECOND);
        assert_eq!(found.intervals[0].write_iops, Some(250.0));
        assert!(found.remarks[0].contains("CPUUtilization"), "{found:?}");
    }

    #[test]
    fn what_cannot_be_a_rate_is_refused_with_what_would_work() {
        let refused = |text: &str| table(&[text]).expect_err(text);
        let mean = r#"{"Label": "VolumeReadOps", "Datapoints": [
            {"Timestamp": "2026-11-27T10:00:00Z", "Average": 4.0}]}"#;
        assert!(refused(mean).contains("--statistics Sum"));
        let one = mean.replace("Average", "Sum");
        assert!(refused(&one).contains("--every"));
        assert!(refused(&one.replace("2026-11-27T10", "yesterday")).contains("yesterday"));
        assert!(refused(&one.replace("VolumeReadOps", "CPUUtilization")).contains("VolumeReadOps"));
        assert!(refused(r#"{"Datapoints": ["#).contains("no sound JSON"));
        assert!(refused(r#"{"MetricDataResults": []}"#).contains("--every"));
    }
}
