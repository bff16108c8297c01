//! In: the last interval of a volume that is being served. Out: a line for people, an object for
//! programs.

use blocklab_device::{CreditBalance, LimitName};
use blocklab_record::{Interval, IntervalDirection};

use blocklab_units::{Bytes, Nanos, count, plural, rate, significant, width};
use serde_json::json;

use crate::words::facts::moved_figures;

/// The state of a volume after an interval.
#[derive(Debug)]
pub struct Now<'a> {
    /// Its name.
    pub volume: &'a str,
    /// Time since the start.
    pub elapsed: Nanos,
    /// The interval.
    pub slice: &'a Interval,
    /// Requests that have no reply yet.
    pub in_flight: u32,
    /// Clients that are connected.
    pub clients: usize,
    /// Its burst buckets.
    pub balances: Vec<Balance>,
    /// The limits that requests waited for, each with the share of the interval; the longest wait
    /// first.
    pub waits: Vec<(LimitName, f64)>,
}

/// A burst bucket.
#[derive(Debug, Clone, PartialEq)]
pub struct Balance {
    /// Its state now.
    pub now: CreditBalance,
    /// How long it lasts if the load stays as in the last interval; `None`: it does not run out.
    pub lasts: Option<Nanos>,
}

/// A bucket that lasts longer than this many seconds does not run out: what it seems to lose is a
/// rounding error of the model.
pub(crate) const LONGEST_S: f64 = 1e6;

/// The buckets, and how long each lasts. `before`: what each held at the beginning of the last
/// interval, in the same order.
pub fn lasts(before: &[f64], now: &[CreditBalance], interval: Nanos) -> Vec<Balance> {
    let balances = now.iter().enumerate().map(|(index, now)| {
        let spent = before.get(index).map_or(0.0, |before| before - now.left);
        let seconds = now.left / spent * interval.as_secs_f64();
        Balance {
            now: now.clone(),
            lasts: (spent > 0.0 && seconds < LONGEST_S).then(|| Nanos::from_secs_f64(seconds)),
        }
    });
    balances.collect()
}

/// For each limit, the share of the last interval in which requests waited for it, the largest first.
/// `before` and `now` are the total waits at its beginning and at its end.
pub fn wait_shares(
    before: &[(LimitName, Nanos)],
    now: &[(LimitName, Nanos)],
    interval: Nanos,
) -> Vec<(LimitName, f64)> {
    let mut shares = Vec::new();
    for (limit, waited) in now {
        let known = before.iter().find(|(known, _)| known == limit);
        let earlier = known.map_or(Nanos::ZERO, |(_, waited)| *waited);
        let waited = waited.since(earlier).as_secs_f64();
        let share = (waited / interval.as_secs_f64()).min(1.0);
        if share > 0.0 {
            shares.push((limit.clone(), share));
        }
    }
    shares.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    shares
}

/// The first message: what is served, and where.
pub fn opening(what: &str, size: Bytes, uris: &[&str]) -> String {
    let uris: String = uris.iter().map(|uri| format!("\n  {uri}")).collect();
    format!("Serving {what} ({size}) until Ctrl-C:{uris}")
}

/// The state as one line, or as several if it does not fit into this many terminal columns.
pub fn lines(now: &Now<'_>, columns: usize) -> Vec<String> {
    let mut parts = vec![format!("{} {}", now.volume, duration(now.elapsed))];
    parts.extend(moved_figures(now.slice, " "));
    // A single part means that no direction moved anything.
    match (parts.len(), now.clients) {
        (1, 0) => parts.push("no client".to_owned()),
        (1, _) => parts.push("idle".to_owned()),
        _ => parts.push(format!("in flight {}", now.in_flight)),
    }
    if let Some((limit, share)) = now.waits.first() {
        parts.push(format!("{limit} {:.0} %", share * 100.0));
    }
    for balance in &now.balances {
        let left = credits(&balance.now);
        parts.push(match balance.lasts {
            Some(lasts) => format!("{left}, {} left", duration(lasts)),
            None => left,
        });
    }
    // The last column stays free, since a full line would move the cursor to the next one.
    let room = columns.saturating_sub(1);
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if width(line) + 3 + width(&part) <= room => {
                line.push_str(" | ");
                line.push_str(&part);
            }
            None => lines.push(part),
            Some(_) => lines.push(format!("  {part}")),
        }
    }
    lines
        .into_iter()
        .map(|line| line.chars().take(room).collect())
        .collect()
}

/// `gp2: burst credits 5,397,000 operations (99.9 %)`, or an amount in GiB. Providers show the
/// share, whatever unit they count in.
pub fn credits(balance: &CreditBalance) -> String {
    let amount = amount_left(balance.left, balance.unit.text());
    let percent = match balance.left / balance.capacity * 100.0 {
        few if few > 0.0 && few < 0.1 => "<0.1".to_owned(),
        share => significant(share, 3),
    };
    format!("{} {amount} ({percent} %)", balance.name)
}

/// What is left in a bucket, in GiB if its unit is bytes: `754.4 GiB`. Without a unit, which spools of
/// earlier builds do not have, the number alone.
pub fn amount_left(left: f64, unit: &str) -> String {
    match unit {
        "bytes" => format!("{} GiB", rate(left / GIB)),
        "operations" => plural(left.round() as usize, "operation"),
        _ => count(left),
    }
}

const GIB: f64 = (1u64 << 30) as f64;

/// `45 s`, `28 min`, `3.2 h`.
fn duration(time: Nanos) -> String {
    match time.as_secs_f64() {
        seconds if seconds < 120.0 => format!("{seconds:.0} s"),
        seconds if seconds < 7200.0 => format!("{:.0} min", seconds / 60.0),
        seconds => format!("{:.1} h", seconds / 3600.0),
    }
}

/// The block device of a volume, as an object on one line.
pub fn device_json(volume: &str, device: &str) -> String {
    let object = json!({"observed_format": 1, "volume": volume, "device": device});
    format!("{object}\n")
}

/// The state as an object on one line.
pub fn json_line(now: &Now<'_>) -> String {
    let seconds = now.slice.length_ns.max(1) as f64 / 1e9;
    let direction = |direction: IntervalDirection| {
        // Without an operation there is no latency, and a 0 would look like one.
        let known = |value: u64| (direction.ios > 0).then_some(value);
        json!({
            "iops": direction.ios as f64 / seconds,
            "bytes_per_s": direction.bytes as f64 / seconds,
            "p50_ns": known(direction.p50_ns),
            "p99_ns": known(direction.p99_ns),
            "max_ns": known(direction.max_ns),
        })
    };
    let waits = now
        .waits
        .iter()
        .map(|(limit, share)| json!({"limit": limit.to_string(), "share": share}));
    let balances = now.balances.iter().map(|balance| {
        json!({
            "name": balance.now.name,
            "left": balance.now.left,
            "capacity": balance.now.capacity,
            "unit": balance.now.unit,
            "lasts_s": balance.lasts.map(|lasts| lasts.as_secs_f64()),
        })
    });
    let object = json!({
        "observed_format": 1,
        "volume": now.volume,
        "elapsed_s": now.elapsed.as_secs_f64(),
        "read": direction(now.slice.read),
        "write": direction(now.slice.write),
        "trim": direction(now.slice.trim),
        "in_flight": now.in_flight,
        "clients": now.clients,
        "waits": waits.collect::<Vec<_>>(),
        "balances": balances.collect::<Vec<_>>(),
    });
    format!("{object}\n")
}

#[cfg(test)]
mod tests {
    use blocklab_device::{Covers, CreditUnit, LimitKind};

    use super::*;

    fn limit() -> LimitName {
        LimitName {
            owner: "gp3".to_owned(),
            volumes: Some(1),
            kind: LimitKind::Rate {
                limiter: "volume IOPS".to_owned(),
                covers: Covers::All,
            },
        }
    }

    fn operations(left: f64) -> CreditBalance {
        CreditBalance {
            name: "gp2: burst credits".to_owned(),
            left,
            capacity: 5.4e6,
            unit: CreditUnit::Operations,
        }
    }

    /// The bucket of an st1 was shown as a bare number of thirteen digits, and then as 1,100 GiB for
    /// 1 TiB of credits without a word on how much of the bucket that is.
    #[test]
    fn credits_have_their_unit_and_their_share() {
        let bytes = CreditBalance {
            capacity: 3.0 * GIB,
            unit: CreditUnit::Bytes,
            ..operations(1.5 * GIB)
        };
        assert_eq!(credits(&bytes), "gp2: burst credits 1.5 GiB (50 %)");
        assert!(credits(&operations(5.4e6)).ends_with("5,400,000 operations (100 %)"));
        assert!(credits(&operations(0.0)).ends_with("0 operations (0 %)"));
        // The story: a drained bucket had "0 operations (0.000000165 %) left".
        assert!(credits(&operations(13.0)).ends_with("13 operations (<0.1 %)"));
        // The story: the live page said "EBS throughput: 809,999,991,821 left", of bytes.
        assert_eq!(amount_left(810e9, "bytes"), "754 GiB");
        assert_eq!(
            amount_left(22_949_999.0, "operations"),
            "22,949,999 operations"
        );
        assert_eq!(amount_left(22_949_999.0, ""), "22,949,999");
    }

    /// The story: under a load at the baseline, a bucket that lost a millionth of an operation by
    /// rounding had "5124095.6 h left".
    #[test]
    fn a_rounding_error_empties_no_bucket() {
        let second = Nanos::from_secs(1);
        let all = lasts(
            &[5e6 + 1e-6, 5e6 + 100.0],
            &[operations(5e6), operations(5e6)],
            second,
        );
        let expected = [None, Some(Nanos::from_secs(50_000))];
        assert_eq!([all[0].lasts, all[1].lasts], expected);
    }

    fn slice() -> Interval {
        Interval {
            end_ns: 61_000_000_000,
            length_ns: 1_000_000_000,
            read: IntervalDirection {
                ios: 3000,
                bytes: 3000 << 12,
                p50_ns: 2_670_000,
                p99_ns: 2_710_000,
                ..IntervalDirection::default()
            },
            ..Interval::default()
        }
    }

    #[test]
    fn a_line_tells_the_load_what_it_waits_for_and_when_credits_end() {
        let slice = slice();
        let second = Nanos::from_secs(1);
        let now = Now {
            volume: "db",
            elapsed: Nanos::from_secs(61),
            slice: &slice,
            in_flight: 8,
            clients: 1,
            balances: lasts(&[5.4e6], &[operations(5.397e6)], second),
            waits: wait_shares(&[], &[(limit(), Nanos::from_millis(900))], second),
        };
        assert_eq!(
            lines(&now, 200),
            [
                "db 61 s | read 3,000 IOPS 12.3 MB/s p50 2.67 ms p99 2.71 ms | in flight 8 | \
                 gp3: volume IOPS 90 % | gp2: burst credits 5,397,000 operations (99.9 %), 30 min left"
            ]
        );
        assert_eq!(
            lines(&now, 80),
            [
                "db 61 s | read 3,000 IOPS 12.3 MB/s p50 2.67 ms p99 2.71 ms | in flight 8",
                "  gp3: volume IOPS 90 %",
                "  gp2: burst credits 5,397,000 operations (99.9 %), 30 min left"
            ]
        );
        assert_eq!(lines(&now, 10)[1], "  read 3,");
        let object: serde_json::Value = serde_json::from_str(&json_line(&now)).expect("JSON");
        assert_eq!(object["read"]["iops"], 3000.0);
        assert_eq!(object["write"]["p50_ns"], serde_json::Value::Null);
        assert_eq!(object["waits"][0]["share"], 0.9);
    }
}
