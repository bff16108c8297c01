//! Twenty fleets by seed: one slow host, a limit that hosts share, healthy ones. What is wrong is
//! named, and nothing else.

use blocklab_compare::scaling::{Point, Scaling};
use blocklab_findings::assess;
use blocklab_proof::{Lab, good};
use blocklab_record::{HostRun, Record, merge};

const HOSTS: u64 = 4;
const FLEETS: u64 = 20;

/// What one host measures on a volume of this many IOPS, in virtual time.
fn host(lab: &Lab, name: &str, iops: u64, seed: u64) -> HostRun {
    let line = format!(
        "run -q --no-save --rw randread --bs 16k --depth 16 --runtime 4s --repeat 2 --json-lines --seed {seed} \
         --target sim:gp3:200GiB,iops={iops},throughput=500"
    );
    let lines = good(lab.blocklab(line.split_whitespace()));
    let record = lines.lines().rev().find_map(record_of);
    HostRun {
        name: Some(name.to_owned()),
        clock: None,
        record: record.expect("the record is the last line"),
    }
}

fn record_of(line: &str) -> Option<Record> {
    let value: serde_json::Value = serde_json::from_str(line).ok()?;
    let record = value.get("record")?;
    Record::from_json(&record.to_string()).ok()
}

/// Four hosts with these rates, and the findings of fleets that they lead to.
fn findings(lab: &Lab, seed: u64, iops: impl Fn(u64) -> u64) -> (Record, Vec<String>) {
    let hosts = (0..HOSTS).map(|number| {
        let name = format!("h{number}");
        host(lab, &name, iops(number), seed * HOSTS + number)
    });
    let runs: Vec<HostRun> = hosts.collect();
    let merged = merge(&runs, &[]).expect("one load");
    let of_fleet = [
        "straggler",
        "tail-of-one-host",
        "common-window",
        "hosts-differ",
        "hosts-lost",
    ];
    let found = assess(&merged).findings.into_iter();
    let found = found.filter(|finding| of_fleet.contains(&finding.rule));
    let words = found.map(|finding| format!("{}: {}", finding.rule, finding.statement));
    (merged, words.collect())
}

fn rate(record: &Record) -> f64 {
    let rows = assess(record).rows;
    let directions = rows.iter().flat_map(|row| &row.directions);
    directions.map(|direction| direction.iops.value).sum()
}

#[test]
fn fleets_are_named_by_what_is_wrong_with_them() {
    let lab = Lab::new();
    let mut wrong = Vec::new();
    for seed in 0..FLEETS {
        let usual = 4000 + seed * 150;
        let odd = seed * 7 % HOSTS;
        let (expected, found) = match seed % 3 {
            0 => (None, findings(&lab, seed, |_| usual).1),
            1 => {
                let slow = usual * (40 + seed) / 100;
                let of = |number| {
                    if number == odd {
                        slow.max(3000)
                    } else {
                        2 * usual
                    }
                };
                (Some(format!("h{odd} delivers")), findings(&lab, seed, of).1)
            }
            // What all hosts share gives each of them its part: no host is to blame.
            _ => {
                let cap = usual * 3;
                let (record, found) = findings(&lab, seed, |_| (cap / HOSTS).max(3000));
                let one = host(&lab, "h0", cap.min(16_000), seed).record;
                let points = [(1, &one), (4, &record)].map(|(hosts, record)| Point {
                    hosts,
                    iops: rate(record),
                });
                let scaling = Scaling::new(points.to_vec()).expect("two points");
                if scaling.knee.is_none() {
                    wrong.push(format!("fleet {seed}: no knee: {scaling:?}"));
                }
                (None, found)
            }
        };
        let is_right = match &expected {
            None => found.is_empty(),
            // The volume's own limit is in the sentence on the host that has it.
            Some(words) => {
                found.len() == 1 && found[0].contains(words) && found[0].contains("its own limit: ")
            }
        };
        if !is_right {
            wrong.push(format!(
                "fleet {seed}: expected {expected:?}, found {found:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
