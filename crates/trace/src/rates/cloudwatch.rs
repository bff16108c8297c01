//! In: the output of `aws cloudwatch get-metric-statistics` or `get-metric-data`, or a graph that
//! CloudWatch's console saved as CSV. Out: its figures per second.
//!
//! EBS reports counts, whose sum over a period must be divided by its length. RDS reports rates per
//! second, of which the mean is right. (The mean of an EBS count is one over reports of the
//! hypervisor, and tells no rate.)

use std::collections::HashMap;
use std::slice;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::SECOND;
use crate::csv::{Separator, split};

use super::{Metric, Sample, Samples, WantedRates, figure, interval_length};

/// A metric that CloudWatch has.
#[derive(Clone, Copy)]
struct Known {
    name: &'static str,
    metric: Metric,
    /// Whether its values are sums over their period, and not means.
    is_sum: bool,
}

impl Known {
    /// The statistic from which its rate follows.
    const fn statistic(self) -> &'static str {
        if self.is_sum { "Sum" } else { "Average" }
    }
}

const fn summed(name: &'static str, metric: Metric) -> Known {
    Known {
        name,
        metric,
        is_sum: true,
    }
}

const fn averaged(name: &'static str, metric: Metric) -> Known {
    Known {
        name,
        metric,
        is_sum: false,
    }
}

/// The known metrics.
const METRICS: [Known; 16] = [
    summed("VolumeReadOps", Metric::Reads),
    summed("VolumeWriteOps", Metric::Writes),
    summed("VolumeReadBytes", Metric::ReadBytes),
    summed("VolumeWriteBytes", Metric::WriteBytes),
    averaged("VolumeQueueLength", Metric::QueueLength),
    summed("EBSReadOps", Metric::Reads),
    summed("EBSWriteOps", Metric::Writes),
    summed("EBSReadBytes", Metric::ReadBytes),
    summed("EBSWriteBytes", Metric::WriteBytes),
    averaged("EBSIOBalance%", Metric::Balance),
    averaged("EBSByteBalance%", Metric::Balance),
    averaged("BurstBalance", Metric::Balance),
    averaged("ReadIOPS", Metric::Reads),
    averaged("WriteIOPS", Metric::Writes),
    averaged("ReadThroughput", Metric::ReadBytes),
    averaged("WriteThroughput", Metric::WriteBytes),
];

pub(super) fn is_known(text: &str) -> bool {
    let is_answer = text.trim_start().starts_with('{')
        && (text.contains("\"MetricDataResults\"") || text.contains("\"Datapoints\""));
    is_answer
        || text
            .lines()
            .take(8)
            .any(|line| line.starts_with(FULL_LABEL))
}

/// How the row of a graph saved as CSV begins that says what is in each column.
const FULL_LABEL: &str = "Full label,";

/// The values of a metric.
struct Series {
    /// The label, which may name the volume, too.
    label: String,
    known: Known,
    points: Vec<Point>,
}

/// A value of a metric.
struct Point {
    /// The beginning of its period, in ns since 1970.
    from_ns: u64,
    value: f64,
}

/// Reads the JSON of `get-metric-data` or `get-metric-statistics`, or a graph saved as CSV.
pub(super) fn read(text: &str, wanted: WantedRates<'_>) -> Result<Samples, String> {
    if let Some(device) = wanted.device {
        return Err(format!(
            "CloudWatch's figures are of the volume that was asked for, and --device {device} chooses \
             none: ask for that volume, and leave out --device"
        ));
    }
    let mut remarks = Vec::new();
    let series = if text.trim_start().starts_with('{') {
        answer(text, &mut remarks)?
    } else {
        graph(text, &mut remarks)?
    };
    refuse_several_volumes(&series)?;
    let length_ns = interval_length(smallest_gap(&series), wanted.every_ns)?;
    let Some(period) = length_ns else {
        return Err(
            "fewer than two periods: how long one is, is not in it: add --every 60s".to_owned(),
        );
    };
    for one in series.iter().filter(|one| one.known.is_sum) {
        // Values may be missing, or the metric was asked for with a longer period than the others.
        if let Some(gap) = smallest_gap(slice::from_ref(one)).filter(|gap| *gap > period) {
            remarks.push(format!(
                "`{}` has values {} s apart or more, and its counts are taken as those of {} s, the \
                 period of the table",
                one.label,
                gap / SECOND,
                period / SECOND
            ));
        }
    }
    let seconds = period as f64 / SECOND as f64;
    let mut all = Vec::new();
    for Series { known, points, .. } in series {
        all.extend(points.into_iter().map(|point| Sample {
            from_ns: point.from_ns,
            metric: known.metric,
            value: if known.is_sum {
                point.value / seconds
            } else {
                point.value
            },
        }));
    }
    Ok(Samples {
        all,
        length_ns,
        has_dates: true,
        remarks,
    })
}

/// Reads the JSON of either command.
fn answer(text: &str, remarks: &mut Vec<String>) -> Result<Vec<Series>, String> {
    let json: Value = serde_json::from_str(text).map_err(|why| format!("no sound JSON: {why}"))?;
    match json.get("MetricDataResults").and_then(Value::as_array) {
        Some(results) => data(results, remarks),
        None => statistics(&json),
    }
}

/// Reads a graph that the console saved as CSV: five rows about its metrics, such as
/// `Full label,us-east-1:AWS/EBS VolumeId:vol-1 VolumeReadOps Sum 60`, and then a row for each time, with
/// an empty cell where a metric has no value.
fn graph(text: &str, remarks: &mut Vec<String>) -> Result<Vec<Series>, String> {
    let mut columns: Vec<Option<Series>> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let mut places = Vec::new();
        split(line.as_bytes(), Separator::Char(b','), &mut places);
        let mut cells = places
            .into_iter()
            .map(|(from, to)| &line[from as usize..to as usize]);
        match cells.next().unwrap_or_default() {
            "Full label" => {
                let labels = cells.map(|label| column(label, remarks));
                columns = labels.collect::<Result<_, _>>()?;
            }
            "StatusCode" if cells.any(|status| status != "Complete") => {
                remarks.push("the graph does not have all values of its metrics".to_owned());
            }
            "" | "Id" | "StatusCode" | "Messages" | "Label" => {}
            at => {
                let from_ns = console_time(at).ok_or_else(|| {
                    format!("line {number}: `{at}` is no time such as 2026/11/27 10:00:00")
                })?;
                let filled = columns
                    .iter_mut()
                    .zip(cells)
                    .filter(|(_, cell)| !cell.is_empty());
                for (series, cell) in filled {
                    let value = cell.parse().ok().and_then(figure).ok_or_else(|| {
                        format!("line {number}: `{cell}` is not a number that a rate can have")
                    })?;
                    if let Some(series) = series {
                        series.points.push(Point { from_ns, value });
                    }
                }
            }
        }
    }
    Ok(columns.into_iter().flatten().collect())
}

/// The column of a graph by its full label, which ends with the metric, its statistic and its period;
/// `None`: its metric is no rate.
fn column(label: &str, remarks: &mut Vec<String>) -> Result<Option<Series>, String> {
    let Some(known) = metric(label) else {
        remarks.push(format!("`{label}` is no metric of rates and is left out"));
        return Ok(None);
    };
    let (wanted, name) = (known.statistic(), known.name);
    if label.split(' ').rev().nth(1) != Some(wanted) {
        return Err(format!(
            "`{label}` does not have the statistic {wanted}: choose it for {name} in the console, and \
             save the graph again"
        ));
    }
    Ok(Some(Series {
        label: label.to_owned(),
        known,
        points: Vec::new(),
    }))
}

/// A time of the console in ns since 1970, taken as UTC: it does not say its time zone.
fn console_time(text: &str) -> Option<u64> {
    let civil = DateTime::strptime("%Y/%m/%d %H:%M:%S", text).ok()?;
    let moment = civil.to_zoned(TimeZone::UTC).ok()?.timestamp();
    u64::try_from(moment.as_nanosecond()).ok()
}

/// Checks that no two series have different values of one metric at one time.
fn refuse_several_volumes(series: &[Series]) -> Result<(), String> {
    let mut seen: HashMap<(Metric, u64), (f64, &str)> = HashMap::new();
    for Series {
        label,
        known,
        points,
    } in series
    {
        // A volume can have several credit balances.
        for point in points.iter().filter(|_| known.metric != Metric::Balance) {
            let place = (known.metric, point.from_ns);
            let (value, other) = *seen.entry(place).or_insert((point.value, label));
            if value != point.value {
                return Err(format!(
                    "`{other}` and `{label}` have different values of the same time: they are of several \
                     volumes or statistics; ask for those of one"
                ));
            }
        }
    }
    Ok(())
}

/// The smallest distance between two times. CloudWatch's are multiples of the period, so this is the
/// period even if most values are missing.
fn smallest_gap(series: &[Series]) -> Option<u64> {
    let points = series.iter().flat_map(|one| &one.points);
    let mut moments: Vec<u64> = points.map(|point| point.from_ns).collect();
    moments.sort_unstable();
    moments.dedup();
    let gaps = moments.windows(2).map(|pair| pair[1] - pair[0]);
    gaps.min()
}

/// The metric of which the name is a word of a label: users may have added others, and a metric such as
/// `ReadIOPSLocalStorage` is another one.
fn metric(label: &str) -> Option<Known> {
    let mut words = label.split(|letter: char| !letter.is_alphanumeric() && letter != '%');
    words.find_map(|word| METRICS.into_iter().find(|known| known.name == word))
}

/// Reads the output of `get-metric-data`: for each metric an array of times and one of values.
fn data(results: &[Value], remarks: &mut Vec<String>) -> Result<Vec<Series>, String> {
    let mut series = Vec::new();
    for result in results {
        let word = |name: &str| result.get(name).and_then(Value::as_str).unwrap_or_default();
        let label = word("Label");
        let Some(known) = metric(label).or_else(|| metric(word("Id"))) else {
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
        series.push(Series {
            label: label.to_owned(),
            known,
            points: points.collect::<Result<_, _>>()?,
        });
        if known.is_sum {
            let remark =
                "counts are taken as sums of their period (--stat Sum), as EBS reports them";
            if !remarks.iter().any(|other| other == remark) {
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
    let known = metric(label).ok_or_else(|| {
        let names: Vec<&str> = METRICS.iter().map(|known| known.name).collect();
        format!(
            "`{label}` is no metric of rates; there are {}",
            names.join(", ")
        )
    })?;
    let statistic = known.statistic();
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
    Ok(vec![Series {
        label: label.to_owned(),
        known,
        points,
    }])
}

/// The point of a time and a value.
fn point(at: &Value, value: &Value) -> Result<Point, String> {
    // Older versions of the command print times as seconds since 1970.
    let from_ns = match at {
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
    let from_ns = from_ns.ok_or_else(|| format!("the Timestamp {at} is no moment since 1970"))?;
    let value = value.as_f64().and_then(figure);
    Ok(Point {
        from_ns,
        value: value.ok_or("a value is not a number that a rate can have")?,
    })
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
        // The rates of an instance's own disk were taken for those of its volume.
        let local = rds.replace("WriteIOPS", "WriteIOPSLocalStorage");
        assert!(table(&[&local]).is_err(), "no metric that is known");
    }

    /// Writes of 300 s beside reads of 60 s were five times as many, without a word.
    #[test]
    fn a_metric_with_a_longer_period_is_remarked() {
        let answer = |writes: &str| {
            format!(
                r#"{{"MetricDataResults": [
                {{"Label": "VolumeReadOps", "Values": [60, 60],
                 "Timestamps": ["2026-11-27T10:00:00Z", "2026-11-27T10:01:00Z"]}},
                {{"Label": "VolumeWriteOps", "Values": [300, 300],
                 "Timestamps": ["2026-11-27T10:00:00Z", "2026-11-27T{writes}Z"]}}]}}"#
            )
        };
        let remarked = |writes| {
            let found = table(&[&answer(writes)]).expect("a sound answer");
            let words = "`VolumeWriteOps` has values 300 s apart";
            found.remarks.iter().any(|remark| remark.contains(words))
        };
        assert!(remarked("10:05:00") && !remarked("10:01:00"));
    }

    /// The story: of the same metric of two volumes, the last one was shown as that of the volume.
    #[test]
    fn figures_of_two_volumes_are_refused() {
        let one = r#"{"Label": "vol-1 VolumeReadOps", "Datapoints": [
            {"Timestamp": "2026-11-27T10:01:00Z", "Sum": 60.0},
            {"Timestamp": "2026-11-27T10:00:00Z", "Sum": 60.0}]}"#;
        let other = one.replace("vol-1", "vol-2").replace(" 60.0", " 70.0");
        let files = table(&[one, &other]).expect_err("two volumes");
        assert!(files.contains("are of several volumes"), "{files}");
        assert!(table(&[one, one]).is_ok());
        let answer = |values: &str| {
            let series = |id, values| {
                format!(
                    r#"{{"Id": "{id}", "Label": "{id} VolumeReadOps", "Values": [{values}],
                    "Timestamps": ["2026-11-27T10:00:00Z", "2026-11-27T10:01:00Z"]}}"#
                )
            };
            let both = [series("vol-1", "60, 60"), series("vol-2", values)];
            table(&[&format!(r#"{{"MetricDataResults": [{}]}}"#, both.join(","))])
        };
        let refused = answer("60, 70").expect_err("two volumes");
        assert!(
            refused.contains("`vol-1 VolumeReadOps` and `vol-2 VolumeReadOps`"),
            "{refused}"
        );
    }

    /// The story: whoever has no command line saves the graph of the console, and its CSV was refused as "no
    /// known format".
    #[test]
    fn a_graph_of_the_console_is_read() {
        let graph = "Id,m1,m2,m3\nStatusCode,Complete,Complete,Complete\nMessages,,,\n\
            Full label,us-east-1:AWS/EBS VolumeId:vol-1 VolumeReadOps Sum 60,\
            us-east-1:AWS/EBS VolumeId:vol-1 BurstBalance Average 60,\"sum(m1, m2)\"\n\
            Label,VolumeReadOps,BurstBalance,both\n\
            2026/11/27 10:00:00,6000,99.5,1\n2026/11/27 10:01:00,18000,,2\n";
        assert!(super::super::is_rate_table(graph.as_bytes()));
        let found = table(&[graph]).expect("a sound graph");
        assert_eq!(found.begins_ns, Some(1_795_773_600 * SECOND));
        let rates: Vec<_> = found
            .intervals
            .iter()
            .map(|slot| (slot.read_iops, slot.balance_percent))
            .collect();
        assert_eq!(rates, [(Some(100.0), Some(99.5)), (Some(300.0), None)]);
        assert!(found.remarks[0].contains("`sum(m1, m2)`"), "{found:?}");
        // The console shows means of counts unless another statistic is chosen.
        let means = table(&[&graph.replace("Ops Sum", "Ops Average")]).expect_err("means");
        assert!(means.contains("the statistic Sum"), "{means}");
        let odd = table(&[&graph.replace("2026/11/27 10:01", "yesterday")]).expect_err("no time");
        assert!(odd.contains("line 7: `yesterday:00`"), "{odd}");
    }

    /// The story: `--every 0s` was a division by zero.
    #[test]
    fn a_period_of_no_length_is_none() {
        let one = r#"{"Label": "VolumeReadOps", "Datapoints": [
            {"Timestamp": "2026-11-27T10:00:00Z", "Sum": 60.0}]}"#;
        let wanted = WantedRates {
            device: None,
            every_ns: Some(0),
        };
        let refused = read_rates(&[("x".to_owned(), one.to_owned())], wanted);
        assert!(refused.expect_err("no length").contains("--every"));
    }

    /// The story: --device had no effect on what CloudWatch prints, so the figures of another volume were
    /// shown as those of the one that was named.
    #[test]
    fn a_device_is_not_chosen_from_figures_of_a_volume() {
        let one = r#"{"Label": "VolumeReadOps", "Datapoints": [
            {"Timestamp": "2026-11-27T10:01:00Z", "Sum": 60.0},
            {"Timestamp": "2026-11-27T10:00:00Z", "Sum": 60.0}]}"#;
        let wanted = WantedRates {
            device: Some("vol-2"),
            every_ns: None,
        };
        let refused = read_rates(&[("x".to_owned(), one.to_owned())], wanted);
        assert!(refused.expect_err("no choice").contains("--device vol-2"));
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
