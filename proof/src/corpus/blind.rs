//! Disks of which only the figures are known, as of a real one: limits that show in siblings, and
//! limits that are compared with what was sold.

use super::Scenario;
use super::described::{SCATTERS, disk};
use super::scenarios::{against, job, plain};

fn cap(rate: &str, bucket_ms: u32) -> String {
    format!("[[volume.cap]]\nname = \"cap\"\nrate = \"{rate}\"\nbucket = \"{bucket_ms}ms\"\n")
}

fn blind(scenario: Scenario) -> Scenario {
    Scenario {
        blind: true,
        ..scenario
    }
}

pub(super) fn all() -> Vec<Scenario> {
    let families = [
        siblings(),
        lengths(),
        sold(),
        another_than_sold(),
        published(),
        kinds(),
        paced(),
        depth_without_effect(),
    ];
    families.concat().into_iter().map(blind).collect()
}

/// Cases that differ in one key.
fn cases(all: &[(u32, u32)]) -> String {
    let case = |(kib, depth): &(u32, u32)| {
        format!("[[case]]\nname = \"{kib}k-{depth}\"\n{}", job(*kib, *depth))
    };
    all.iter().map(case).collect()
}

fn siblings() -> Vec<Scenario> {
    let mut all = Vec::new();
    for mbps in [100, 250, 600] {
        let device = disk(300, SCATTERS[1], &cap(&format!("{mbps} MB/s"), 0), "");
        let sizes = cases(&[(64, 32), (128, 32), (256, 32), (512, 32)]);
        all.push(plain(device, sizes, &["byte-cap"]));
    }
    for iops in [2000, 7500, 20_000] {
        let device = disk(300, SCATTERS[1], &cap(&format!("{iops} IOPS"), 0), "");
        let sizes = cases(&[(4, 32), (16, 32)]);
        all.push(plain(device.clone(), sizes, &["iops-cap"]));
        let depths = cases(&[(4, 16), (4, 64), (4, 256)]);
        all.push(plain(device, depths, &["over-driven"]));
    }
    for base in [100, 600, 2500] {
        let depths = cases(&[(4, 1), (4, 4), (4, 16)]);
        let device = disk(base, SCATTERS[1], "", "");
        all.push(plain(device, depths, &["latency-bound"]));
    }
    all
}

/// Too little of it, on a disk that nothing is the matter with.
fn lengths() -> Vec<Scenario> {
    let short = |seconds: u32, base: u32, labels: &[&'static str], healthy: bool| {
        let job = job(4, 4)
            .replace("12s", &format!("{seconds}s"))
            .replace("ramp = \"3s\"\n", "");
        Scenario {
            healthy,
            ..plain(disk(base, SCATTERS[1], "", ""), job, labels)
        }
    };
    let mut all = vec![
        short(2, 100, &["too-short"], false),
        short(4, 600, &["too-short"], false),
        short(8, 600, &["too-short"], true),
    ];
    for base in [50_000, 100_000, 200_000] {
        all.push(short(12, base, &["few-samples"], true));
    }
    all
}

const HOST: &str = "m5.24xlarge";

/// A volume that delivers a share of what was sold, and does not report that.
fn sold() -> Vec<Scenario> {
    let mut all = Vec::new();
    for iops in [5000_u32, 8000, 12_000] {
        for (percent, rule) in [
            (100, "at-documented-limit"),
            (94, "under-delivery"),
            (96, "under-delivery"),
            (65, "below-documented-limit"),
            (84, "below-documented-limit"),
            (130, "above-every-limit"),
        ] {
            let device = disk(
                500,
                SCATTERS[1],
                &cap(&format!("{} IOPS", iops * percent / 100), 0),
                "",
            );
            let bought = format!("gp3:1TiB,iops={iops},throughput=700@{HOST}");
            let mut labels = vec![rule];
            if percent == 100 {
                labels.push("more-than-the-limit-takes");
            }
            all.push(Scenario {
                healthy: percent == 100,
                ..against(device, bought, job(4, 64), &labels)
            });
        }
    }
    all
}

/// The device has other figures than what was sold: as another type, size, setting or unit would have;
/// or, healthy, where the seller promises none.
fn another_than_sold() -> Vec<Scenario> {
    let limited = |rate: &str, bought: &str, kib: u32, labels: &[&'static str]| {
        let device = disk(500, SCATTERS[1], &cap(rate, 0), "");
        against(device, bought.to_owned(), job(kib, 64), labels)
    };
    let mut all = Vec::new();
    for (gib, iops) in [(1500, 4500), (2000, 6000), (3000, 9000), (4000, 12_000)] {
        let bought = format!("gp3:{gib}GiB,iops=16000@{HOST}");
        let rate = format!("{iops} IOPS");
        all.push(limited(&rate, &bought, 4, &["other-volume-type"]));
    }
    for iops in [4000, 6000, 10_000, 16_000] {
        let bought = format!("gp3:1TiB,iops={iops}@{HOST}");
        all.push(limited("3000 IOPS", &bought, 4, &["setting-not-in-effect"]));
    }
    for (family, mb) in [
        ("m5", 593.75),
        ("r5", 593.75),
        ("c5", 593.75),
        ("m5", 850.0),
    ] {
        let bought = format!("gp3:1TiB,iops=16000,throughput=1000@{family}.24xlarge");
        let rate = format!("{mb} MB/s");
        all.push(limited(&rate, &bought, 256, &["other-instance-size"]));
    }
    for mibps in [125, 250, 500] {
        let bought = format!("gp3:1TiB,iops=16000,throughput={mibps}@{HOST}");
        let rate = format!("{} MiB/s", f64::from(mibps) / 8.0);
        all.push(limited(&rate, &bought, 128, &["unit-slip"]));
    }
    for gib in [100, 500, 1000] {
        let bought = format!("standard:{gib}GiB");
        all.push(Scenario {
            healthy: true,
            ..limited("90 IOPS", &bought, 4, &["best-effort"])
        });
    }
    for (size, iops) in [("large", 150_000), ("large", 300_000), ("xlarge", 260_000)] {
        let device = disk(80, SCATTERS[1], &cap(&format!("{iops} IOPS"), 0), "");
        let bought = format!("local@i3.{size}");
        let job = job(4, 256).replace("12s", "10s").replace("3s", "1s");
        all.push(Scenario {
            healthy: true,
            ..against(device, bought, job, &["physical-not-contractual"])
        });
    }
    all
}

/// Latencies within and beyond what was published of a type, and volumes or a size that are missing.
fn published() -> Vec<Scenario> {
    let answering = |us: u32, rate: &str, bought: &str, depth: u32, labels: &[&'static str]| {
        let device = disk(us, SCATTERS[1], &cap(rate, 0), "");
        Scenario {
            healthy: labels == ["latency-bound"],
            ..against(device, bought.to_owned(), job(4, depth), labels)
        }
    };
    let mut all = Vec::new();
    for (bought, iops, latencies) in [
        ("gp3:1TiB,iops=16000", 16_000, [340, 440, 520, 600, 750]),
        ("gp2:4TiB", 12_000, [380, 440, 600, 800, 950]),
        ("io1:1TiB,iops=16000", 16_000, [350, 450, 550, 700, 900]),
        ("io2:1TiB,iops=16000", 16_000, [280, 320, 360, 420, 500]),
        ("local@i3.2xlarge", 400_000, [60, 80, 100, 120, 150]),
    ] {
        let rate = format!("{iops} IOPS");
        for us in latencies {
            // Four in flight at the quickest of these stay below the limit.
            for depth in [3, 4] {
                all.push(answering(us, &rate, bought, depth, &["latency-bound"]));
            }
        }
        for us in [8, 40] {
            let far = us / if bought.starts_with("local") { 5 } else { 1 };
            let label = "quicker-than-published";
            all.push(answering(
                far.max(2),
                "900000 IOPS",
                bought,
                1,
                &[label, "latency-bound"],
            ));
        }
        for us in [2500, 4000] {
            let label = "slower-than-published";
            all.push(answering(
                us,
                &format!("{iops} IOPS"),
                bought,
                1,
                &[label, "latency-bound"],
            ));
        }
    }
    // Of these no range is published; their models have 600 µs.
    for kind in ["pd-ssd", "pd-balanced"] {
        let bought = format!("gcp/{kind}:1TiB@n2-standard-8");
        let healthy = [300, 600, 1200, 2400].map(|us| (us, &["latency-bound"][..]));
        let slow = [3600, 7200].map(|us| (us, &["slower-than-model", "latency-bound"][..]));
        for (us, labels) in healthy.into_iter().chain(slow) {
            all.push(answering(us, "900000 IOPS", &bought, 1, labels));
        }
    }
    for fewer in [1_u32, 2, 3] {
        let rate = format!("{} IOPS", fewer * 3000);
        let bought = "4xgp3:1TiB@r5b.24xlarge";
        all.push(answering(500, &rate, bought, 256, &["missing-members"]));
    }
    for (gib, of_gib) in [(1500, 4000), (1500, 3000), (2000, 5000)] {
        let bought = format!("gp2:{of_gib}GiB");
        let rate = format!("{} IOPS", gib * 3);
        all.push(answering(500, &rate, &bought, 64, &["other-volume-size"]));
    }
    all
}

/// Kinds of volume, by what they do to the figures.
fn kinds() -> Vec<Scenario> {
    let healthy = |rate: &str, bought: &str, job: String, labels: &[&'static str]| {
        let device = disk(500, SCATTERS[1], &cap(rate, 0), "");
        Scenario {
            healthy: true,
            ..against(device, bought.to_owned(), job, labels)
        }
    };
    let mut all = Vec::new();
    for gib in [50, 100, 200, 300] {
        let labels = [
            "at-documented-limit",
            "documented-burst",
            "more-than-the-limit-takes",
        ];
        let bought = format!("gp2:{gib}GiB@{HOST}");
        all.push(healthy("3000 IOPS", &bought, job(4, 64), &labels));
    }
    for (gib, iops, kind) in [
        (1024, 268, "st1"),
        (1536, 402, "st1"),
        (2048, 172, "sc1"),
        (1536, 129, "sc1"),
    ] {
        let labels = [
            "at-documented-limit",
            "documented-burst",
            "hdd-random-credit",
            "more-than-the-limit-takes",
        ];
        let bought = format!("{kind}:{gib}GiB@{HOST}");
        all.push(healthy(
            &format!("{iops} IOPS"),
            &bought,
            job(16, 64),
            &labels,
        ));
    }
    for (volumes, size, iops) in [
        (4, "m5.8xlarge", 30_000),
        (8, "m5.16xlarge", 60_000),
        (10, "m5.12xlarge", 40_000),
    ] {
        let labels = [
            "at-documented-limit",
            "instance-binds-the-sum",
            "more-than-the-limit-takes",
        ];
        let bought = format!("{volumes}xgp3:1TiB,iops=16000@{size}");
        all.push(healthy(
            &format!("{iops} IOPS"),
            &bought,
            job(4, 256),
            &labels,
        ));
    }
    for (size, iops) in [("large", 9375), ("xlarge", 18_750), ("2xlarge", 37_500)] {
        let bought = format!("local@i3.{size}");
        let writes = job(4, 64) + "mix = \"write\"\n";
        all.push(Scenario {
            healthy: false,
            ..healthy(
                &format!("{iops} IOPS"),
                &bought,
                writes,
                &["limit-of-another-date"],
            )
        });
    }
    for (size, writes) in [("large", 15_000), ("xlarge", 29_000), ("2xlarge", 57_000)] {
        let labels = [
            "at-documented-limit",
            "separate-budgets",
            "more-than-the-limit-takes",
        ];
        let bought = format!("local,as-of=2021-01-01@r5d.{size}");
        let half = job(4, 256) + "read_percent = 50\n";
        all.push(healthy(
            &format!("{} IOPS", writes * 2),
            &bought,
            half,
            &labels,
        ));
    }
    all
}

fn depth_without_effect() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (base, depth) in [(100, 4), (600, 16), (2500, 64)] {
        let device = disk(base, SCATTERS[1], "", "");
        let text = job(4, depth).replace("io_uring", "psync");
        all.push(Scenario {
            healthy: false,
            ..plain(device, text, &["useless-depth", "latency-bound"])
        });
    }
    all
}

/// A limiter that lets one operation of 128 KiB pass at a time, on a disk that pauses now and then:
/// what the limiter saved up meanwhile passes at once.
fn paced() -> Vec<Scenario> {
    let spread = "sigma = 0.05, tail = { share = 0.004, factor = 120, sigma = 0.05 }";
    let mut all = Vec::new();
    for mbps in [120, 250, 400] {
        let device = disk(40, spread, &cap(&format!("{mbps} MB/s"), 50), "");
        let labels = ["limiter-pacing", "latency-bound"];
        all.push(plain(device, job(128, 1), &labels));
    }
    all
}
