//! Loop devices of a real machine whose reads the kernel throttled, recorded once: a limit that no
//! model made. The kernel lets a tenth of a second's worth pass at once and holds the rest, so
//! latencies are either short or about 100 ms. `proof/data/throttled/README.md` tells how they
//! were made.

use super::Scenario;
use super::scenarios::{against, plain};

/// Large enough to bind nothing.
const HOST: &str = "m5.24xlarge";

macro_rules! recorded {
    ($($name:literal),* $(,)?) => {
        const RECORDS: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("../../data/throttled/", $name, ".json"))),)*
        ];
    };
}

recorded!(
    "bytes",
    "depths",
    "fell-2500-900",
    "fell-4000-1500",
    "iops-134",
    "iops-2000",
    "iops-268",
    "iops-2850",
    "iops-3000",
    "iops-3600",
    "iops-4000",
    "iops-4500",
    "iops-6000",
    "iops-8000",
    "mibps-16",
    "mibps-62",
    "rose-1500-4000",
    "sizes",
    "stall-3000",
    "stall-6000",
);

/// While these were recorded other programs kept both processors busy.
const BUSY: [&str; 11] = [
    "fell-2500-900",
    "fell-4000-1500",
    "iops-2000",
    "iops-2850",
    "iops-4000",
    "iops-6000",
    "iops-8000",
    "rose-1500-4000",
    "sizes",
    "stall-3000",
    "stall-6000",
];

fn recorded(name: &'static str, scenario: Scenario) -> Scenario {
    let mut all = RECORDS.iter();
    let (_, text) = all.find(|(of, _)| *of == name).expect("a record");
    let mut scenario = scenario;
    if BUSY.contains(&name) {
        scenario.labels.push("machine-busy");
        scenario.healthy = false;
    }
    Scenario {
        device: format!("a throttled loop device, {name}"),
        job: String::new(),
        recorded: Some(text),
        ..scenario
    }
}

/// Of a device that nothing is expected of.
fn alone(name: &'static str, labels: &[&'static str]) -> Scenario {
    let sick = labels.contains(&"heavy-tail");
    recorded(
        name,
        Scenario {
            healthy: !sick,
            ..plain(String::new(), String::new(), labels)
        },
    )
}

fn held(name: &'static str, bought: &str, labels: &[&'static str]) -> Scenario {
    recorded(
        name,
        against(String::new(), bought.to_owned(), String::new(), labels),
    )
}

pub(super) fn all() -> Vec<Scenario> {
    [
        limits(),
        events(),
        delivered(),
        otherwise(),
        bursts(),
        sums(),
    ]
    .concat()
}

fn limits() -> Vec<Scenario> {
    vec![
        alone("bytes", &["byte-cap"]),
        alone("sizes", &["iops-cap"]),
        alone("depths", &["over-driven"]),
        alone("iops-3000", &[]),
        alone("iops-3600", &[]),
        alone("iops-4500", &[]),
    ]
}

/// The throttle was changed while the load ran. With few in flight, what waits for the next tenth
/// of a second is a heavy tail.
fn events() -> Vec<Scenario> {
    vec![
        alone("fell-4000-1500", &["level-fell", "heavy-tail"]),
        alone("fell-2500-900", &["level-fell", "heavy-tail"]),
        alone("rose-1500-4000", &["level-rose", "heavy-tail"]),
        alone("stall-3000", &["standstill", "heavy-tail"]),
        alone("stall-6000", &["standstill", "heavy-tail"]),
    ]
}

const MET: [&str; 2] = ["at-documented-limit", "more-than-the-limit-takes"];

fn delivered() -> Vec<Scenario> {
    let gp3 = |iops: u32| format!("gp3:1TiB,iops={iops}@{HOST}");
    vec![
        held("iops-3000", &gp3(3000), &MET),
        held("iops-4000", &gp3(4000), &MET),
        held("iops-4500", &gp3(4500), &MET),
        held("iops-6000", &gp3(6000), &MET),
        held("iops-8000", &gp3(8000), &MET),
        held("iops-2850", &gp3(3000), &["under-delivery"]),
        held("iops-2000", &gp3(3000), &["below-documented-limit"]),
        held("iops-6000", &gp3(8000), &["below-documented-limit"]),
        held("iops-8000", &gp3(10_000), &["below-documented-limit"]),
        held("iops-8000", &gp3(6000), &["above-every-limit"]),
        held("iops-6000", &gp3(4500), &["above-every-limit"]),
    ]
}

fn otherwise() -> Vec<Scenario> {
    let gp3 = |settings: &str| format!("gp3:1TiB,{settings}@{HOST}");
    let dormant = &["setting-not-in-effect"][..];
    vec![
        held("iops-3000", &gp3("iops=4000"), dormant),
        held("iops-3000", &gp3("iops=6000"), dormant),
        held("iops-3000", &gp3("iops=12000"), dormant),
        held(
            "iops-4500",
            "gp3:1500GiB,iops=16000@m5.24xlarge",
            &["other-volume-type"],
        ),
        held(
            "mibps-62",
            &gp3("iops=16000,throughput=500"),
            &["unit-slip"],
        ),
        held(
            "mibps-16",
            &gp3("iops=16000,throughput=125"),
            &["unit-slip"],
        ),
    ]
}

fn bursts() -> Vec<Scenario> {
    let burst = |more: &[&'static str]| [&MET[..], &["documented-burst"], more].concat();
    let hard = &["hdd-random-credit"][..];
    let spent = ["burst-used-up", "more-than-the-limit-takes"];
    vec![
        held("iops-3000", &format!("gp2:100GiB@{HOST}"), &burst(&[])),
        held("iops-3000", &format!("gp2:400GiB@{HOST}"), &burst(&[])),
        held("iops-268", &format!("st1:1000GiB@{HOST}"), &burst(hard)),
        held("iops-134", &format!("st1:500GiB@{HOST}"), &burst(hard)),
        held("iops-134", &format!("sc1:1550GiB@{HOST}"), &burst(hard)),
        held("iops-268", &format!("gp2:87GiB@{HOST}"), &spent),
        held("iops-134", &format!("gp2:43GiB@{HOST}"), &spent),
        held("iops-2000", &format!("gp2:666GiB@{HOST}"), &spent),
        held("iops-2850", &format!("gp2:950GiB@{HOST}"), &spent),
    ]
}

fn sums() -> Vec<Scenario> {
    let labels = [&MET[..], &["instance-binds-the-sum"]].concat();
    vec![
        held("iops-3600", "2xgp3:1TiB@m4.large", &labels),
        held("iops-6000", "3xgp3:1TiB@m4.xlarge", &labels),
        held("iops-8000", "4xgp3:1TiB@m4.2xlarge", &labels),
    ]
}
