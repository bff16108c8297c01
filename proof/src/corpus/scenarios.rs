//! Devices that are sold, family by family. A limit and a latency are what documents and published
//! measurements say: 0.60 ms + 2.2 us/KiB for gp3.

use super::Scenario;

/// Large enough to bind nothing.
const HOST: &str = "m5.24xlarge";

pub(super) fn job(kib: u32, depth: u32) -> String {
    let times = "engine = \"io_uring\"\nramp = \"3s\"\nruntime = \"12s\"";
    format!("{times}\nblock_size = \"{kib}KiB\"\ndepth = {depth}\n")
}

pub(super) fn plain(device: String, job: String, labels: &[&'static str]) -> Scenario {
    Scenario {
        device,
        job,
        expected: None,
        labels: labels.to_vec(),
        healthy: true,
        blind: false,
        besides: None,
        recorded: None,
    }
}

pub(super) fn against(
    device: String,
    expected: String,
    job: String,
    labels: &[&'static str],
) -> Scenario {
    Scenario {
        expected: Some(expected),
        healthy: false,
        ..plain(device, job, labels)
    }
}

fn gp3(iops: u32) -> String {
    format!("gp3:1TiB,iops={iops},throughput=700@{HOST}")
}

/// All scenarios with a known device that is compared with what was sold.
pub(super) fn sold() -> Vec<Scenario> {
    let families = [
        healthy_at_limits(),
        healthy_latency(),
        healthy_as_bought(),
        rates(),
        depth_without_effect(),
        settings(),
        deliveries(),
        bursts(),
        hard_disks(),
        sums(),
        dates(),
        budgets(),
        rested(),
    ];
    families.concat()
}

fn healthy_at_limits() -> Vec<Scenario> {
    let mut all = Vec::new();
    for iops in [3000, 4000, 6000, 8000, 10_000, 12_000, 16_000] {
        for kib in [4, 16] {
            all.push(plain(gp3(iops), job(kib, 256), &["at-limit"]));
        }
    }
    for mibps in [125, 250, 500, 1000] {
        let device = format!("gp3:1TiB,iops=16000,throughput={mibps}@{HOST}");
        for kib in [256, 1024] {
            all.push(plain(device.clone(), job(kib, 128), &["at-limit"]));
        }
    }
    for gib in [1000, 2000, 3000, 5000] {
        let device = format!("gp2:{gib}GiB@{HOST}");
        all.push(plain(device, job(4, 128), &["at-limit"]));
    }
    for iops in [2000, 8000, 20_000] {
        let device = format!("io2:1TiB,iops={iops}@{HOST}");
        all.push(plain(device, job(4, 256), &["at-limit"]));
    }
    all
}

/// A few in flight, far below what was bought.
fn healthy_latency() -> Vec<Scenario> {
    let mut all = Vec::new();
    for iops in [6000, 8000, 10_000, 12_000, 16_000] {
        for kib in [4, 8, 16] {
            all.push(plain(gp3(iops), job(kib, 1), &["latency-bound"]));
        }
    }
    for depth in [2, 4] {
        all.push(plain(gp3(16_000), job(4, depth), &["latency-bound"]));
    }
    for depth in [1, 2, 3, 4, 6, 8, 12, 16] {
        let device = "io2:4TiB,iops=64000@r5b.24xlarge".to_owned();
        all.push(plain(device, job(16, depth), &["latency-bound"]));
    }
    all
}

/// Operations that are requested at a rate, below the limit and beyond it.
fn rates() -> Vec<Scenario> {
    let mut all = Vec::new();
    for iops in [3000, 12_000] {
        for arrivals in ["closed", "fixed", "poisson"] {
            for (percent, labels) in [
                (50, &[][..]),
                (96, &[]),
                (150, &["rate-missed", "at-limit"]),
            ] {
                let rate = iops * percent / 100;
                let keys = format!("rate_iops = {rate}\narrivals = \"{arrivals}\"\n");
                all.push(Scenario {
                    healthy: percent < 100,
                    ..plain(gp3(iops), job(4, 64) + &keys, labels)
                });
            }
        }
    }
    all
}

/// What was bought is delivered.
fn healthy_as_bought() -> Vec<Scenario> {
    let own = |iops: u32| {
        let same = against(gp3(iops), gp3(iops), job(4, 256), &["at-limit"]);
        Scenario {
            healthy: true,
            ..same
        }
    };
    let sizes = [3000, 4000, 5000, 6000, 8000, 10_000, 12_000, 14_000, 16_000];
    sizes.into_iter().map(own).collect()
}

fn depth_without_effect() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (engine, depth) in [("sync", 4), ("psync", 16), ("pvsync2", 64)] {
        let text = job(4, depth).replace("io_uring", engine);
        let labels = ["useless-depth", "latency-bound"];
        all.push(Scenario {
            healthy: false,
            ..plain(gp3(16_000), text, &labels)
        });
    }
    all
}

/// Paid for, and never switched on.
fn settings() -> Vec<Scenario> {
    let device = || format!("gp3:1TiB@{HOST}");
    let sold = |iops: u32| format!("gp3:1TiB,iops={iops}@{HOST}");
    let mut all = Vec::new();
    for (iops, kib) in [(4000, 4), (6000, 8), (10_000, 4), (16_000, 8)] {
        let labels = ["at-limit", "setting-not-in-effect"];
        all.push(against(device(), sold(iops), job(kib, 64), &labels));
    }
    all
}

/// A volume that delivers another share of what was sold.
fn deliveries() -> Vec<Scenario> {
    let sold = [6000_u32, 12_000];
    let mut all = Vec::new();
    for iops in sold {
        for (percent, rule) in [
            (94, "under-delivery"),
            (96, "under-delivery"),
            (65, "below-documented-limit"),
            (75, "below-documented-limit"),
            (85, "below-documented-limit"),
            (130, "above-every-limit"),
        ] {
            let device = gp3(iops * percent / 100);
            all.push(against(device, gp3(iops), job(4, 256), &["at-limit", rule]));
        }
    }
    all
}

fn bursts() -> Vec<Scenario> {
    let small = [50_u32, 150, 300, 500];
    let burst = |gib: u32| {
        let device = format!("gp2:{gib}GiB@{HOST}");
        let labels = ["at-limit", "documented-burst"];
        let same = against(device.clone(), device, job(4, 64), &labels);
        Scenario {
            healthy: true,
            ..same
        }
    };
    small.into_iter().map(burst).collect()
}

fn hard_disks() -> Vec<Scenario> {
    let mut all = Vec::new();
    for kind in ["st1", "sc1"] {
        for (gib, kib) in [(500, 4), (1000, 16), (2000, 64)] {
            let device = format!("{kind}:{gib}GiB@{HOST}");
            let labels = [
                "at-limit",
                "hdd-random-credit",
                "documented-burst",
                "few-samples",
            ];
            // 40 a second, for 12 s.
            let few = kind == "sc1" && gib == 500;
            let labels = if few { &labels[..] } else { &labels[..3] };
            let same = against(device.clone(), device, job(kib, 32), labels);
            all.push(Scenario {
                healthy: true,
                ..same
            });
        }
    }
    all
}

/// The instance has no burst here, so that one limit binds for ever.
fn sums() -> Vec<Scenario> {
    let sum = |count: u32| {
        let device = format!("{count}xgp3:1TiB,iops=16000@m5.8xlarge");
        let labels = ["at-limit", "instance-binds-the-sum"];
        let same = against(device.clone(), device, job(4, 256), &labels);
        Scenario {
            healthy: true,
            ..same
        }
    };
    [3, 4, 6, 8, 10].into_iter().map(sum).collect()
}

fn dates() -> Vec<Scenario> {
    let old = |size: &str| {
        let device = format!("local,as-of=2017-02-27@i3.{size}");
        let text = job(4, 32) + "mix = \"write\"\n";
        let labels = ["at-limit", "limit-of-another-date"];
        against(device, format!("local@i3.{size}"), text, &labels)
    };
    ["large", "xlarge", "2xlarge"]
        .into_iter()
        .map(old)
        .collect()
}

/// Two and four seconds on a rested volume, which has saved up one of its rate.
fn rested() -> Vec<Scenario> {
    let mut all = Vec::new();
    for iops in [3000, 12_000] {
        let text = job(4, 256).replace("ramp = \"3s\"\n", "");
        for seconds in [2, 4] {
            let text = text.replace("12s", &format!("{seconds}s"));
            let device = gp3(iops);
            all.push(Scenario {
                healthy: false,
                ..plain(device.clone(), text.clone(), &["above-limit"])
            });
            all.push(against(
                device.clone(),
                device,
                text,
                &["above-limit", "bucket-amortised"],
            ));
        }
    }
    all
}

fn budgets() -> Vec<Scenario> {
    let half = |size: &str| {
        let device = format!("local,as-of=2021-01-01@r5d.{size}");
        let text = job(4, 64) + "read_percent = 50\n";
        let labels = ["at-limit", "separate-budgets"];
        let same = against(device.clone(), device, text, &labels);
        Scenario {
            healthy: true,
            ..same
        }
    };
    ["large", "xlarge", "2xlarge"]
        .into_iter()
        .map(half)
        .collect()
}
