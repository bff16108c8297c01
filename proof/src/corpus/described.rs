//! Disks of no vendor, described by hand: other latencies and other scatter than the catalog's, and
//! faults.

use super::Scenario;
use super::scenarios::{against, job, plain};

/// A disk of this many microseconds, whose latencies scatter so, with limiters and faults.
pub(super) fn disk(base_us: u32, spread: &str, limiters: &str, faults: &str) -> String {
    format!(
        "name = \"disk\"\n[[volume]]\nkind = \"disk\"\ncapacity = \"100GiB\"\n{limiters}\n\
         [volume.service]\nread = {{ base = \"{base_us}us\" }}\nwrite = {{ base = \"{base_us}us\" }}\n\
         spread = {{ {spread} }}\n{faults}\n"
    )
}

/// Scatter of none, of a cloud disk and of a bad one.
pub(super) const SCATTERS: [&str; 3] = ["sigma = 0.05", "sigma = 0.3", "sigma = 0.6"];

pub(super) fn slower(from: f64, until: f64, added_us: u32) -> String {
    format!(
        "[[fault]]\nfrom = \"{}ms\"\nuntil = \"{}ms\"\n\
         latency = {{ added = \"{added_us}us\", read_percent = 100, write_percent = 100 }}\n",
        from * 1e3,
        until * 1e3
    )
}

pub(super) fn all() -> Vec<Scenario> {
    let families = [
        pauses(),
        episodes(),
        tails(),
        nothing_wrong(),
        levels(),
        failures(),
        rates(),
        passes(),
        limited(),
        rested(),
    ];
    let mut all = families.concat();
    all.iter_mut().for_each(bound_by_latency);
    all
}

/// Where nothing limits the disk and nothing paces the load, latency alone binds.
fn bound_by_latency(scenario: &mut Scenario) {
    let is_limited = ["[[volume.cap]]", "[[volume.credit]]"]
        .iter()
        .any(|limiter| scenario.device.contains(limiter));
    let is_free = !is_limited && !scenario.blind && !scenario.job.contains("rate_iops");
    if is_free && !scenario.labels.contains(&"latency-bound") {
        scenario.labels.push("latency-bound");
    }
}

/// Of a disk that something is the matter with.
fn sick(device: String, depth: u32, label: &'static str) -> Scenario {
    Scenario {
        healthy: false,
        ..plain(device, job(4, depth), &[label])
    }
}

fn pauses() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (base, from, length) in [
        (100, 6000, 1500),
        (100, 7300, 3000),
        (600, 5500, 2000),
        (600, 9100, 4000),
        (2500, 8000, 3000),
        (8000, 7700, 2500),
    ] {
        for depth in [1, 16] {
            let faults = format!(
                "[[fault]]\nfrom = \"{from}ms\"\nuntil = \"{}ms\"\nstate = \"stall\"\n",
                from + length
            );
            let device = disk(base, SCATTERS[1], "", &faults);
            all.push(sick(device, depth, "standstill"));
        }
    }
    all
}

fn episodes() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (base, from, length, added) in [
        (100, 6.0, 4.0, 400),
        (100, 7.4, 2.4, 20_000),
        (600, 8.0, 4.0, 20_000),
        (600, 5.5, 3.0, 900),
        (2500, 9.0, 2.2, 5000),
        (8000, 6.7, 4.1, 12_000),
    ] {
        for (depth, scatter) in [(1, SCATTERS[0]), (1, SCATTERS[2]), (16, SCATTERS[1])] {
            let device = disk(base, scatter, "", &slower(from, from + length, added));
            all.push(sick(device, depth, "slow-episode"));
        }
    }
    // They come again and again: a neighbour that is noisy.
    for (length, period) in [(0.5, 3.0), (1.0, 3.0), (1.5, 3.0), (1.0, 2.0), (1.5, 4.0)] {
        for (base, added, depth) in [
            (100, 400, 4),
            (500, 2000, 1),
            (500, 2000, 4),
            (2500, 5000, 16),
        ] {
            let begins = |number: u32| 4.0 + period * f64::from(number);
            let all_begin = (0..8).map(begins).filter(|from| from + length < 14.0);
            let faults: String = all_begin
                .map(|from| slower(from, from + length, added))
                .collect();
            let device = disk(base, SCATTERS[1], "", &faults);
            all.push(sick(device, depth, "slow-episode"));
        }
    }
    all
}

fn tails() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (share, factor) in [(0.02, 60), (0.015, 25), (0.005, 100), (0.03, 40)] {
        for (base, depth) in [(100, 1), (600, 1), (600, 16), (2500, 16)] {
            let spread = format!(
                "sigma = 0.3, tail = {{ share = {share}, factor = {factor}, sigma = 0.3 }}"
            );
            let device = disk(base, &spread, "", "");
            all.push(sick(device, depth, "heavy-tail"));
        }
    }
    all
}

/// Noise, and tails that are none: what must not be told of.
fn nothing_wrong() -> Vec<Scenario> {
    let mut all = Vec::new();
    let mild = "sigma = 0.3, tail = { share = 0.02, factor = 3, sigma = 0.3 }";
    let rare = "sigma = 0.4, tail = { share = 0.003, factor = 15, sigma = 0.5 }";
    for spread in SCATTERS.into_iter().chain(["sigma = 0.9", mild, rare]) {
        for base in [100, 600, 2500] {
            for depth in [1, 16] {
                all.push(plain(disk(base, spread, "", ""), job(4, depth), &[]));
            }
        }
    }
    all
}

fn levels() -> Vec<Scenario> {
    let mut all = Vec::new();
    // The ramp and some seconds empty the bucket.
    for (baseline, burst, seconds) in [(300, 3000, 9), (500, 2000, 8), (1000, 4000, 10)] {
        let credit = format!(
            "[[volume.credit]]\nname = \"credits\"\nbaseline = \"{baseline} IOPS\"\n\
             burst = \"{burst} IOPS\"\ncapacity = {}\n",
            (burst - baseline) * seconds
        );
        let device = disk(200, SCATTERS[1], &credit, "");
        // The model counts its credits; of a real disk only the fall is seen.
        all.push(sick(device.clone(), 16, "credits-used-up"));
        all.push(Scenario {
            blind: true,
            ..sick(device, 16, "level-fell")
        });
    }
    for (base, until) in [(100, 8.0), (600, 9.0), (2500, 7.5)] {
        let device = disk(base, SCATTERS[1], "", &slower(0.0, until, base * 2));
        for depth in [4, 16] {
            all.push(Scenario {
                healthy: true,
                ..sick(device.clone(), depth, "level-rose")
            });
        }
    }
    for base in [100_u32, 600, 2500] {
        let step = |second: u32| {
            let from = f64::from(second);
            slower(from, from + 1.0, base * (second - 2) / 25)
        };
        let faults: String = (3..15).map(step).collect();
        let device = disk(base, SCATTERS[0], "", &faults);
        all.push(sick(device, 4, "drift-within"));
    }
    all
}

fn failures() -> Vec<Scenario> {
    let mut all = Vec::new();
    for percent in [0.1, 1.0, 20.0] {
        for kind in ["io", "full"] {
            let faults = format!(
                "[[fault]]\nfrom = \"0s\"\nuntil = \"never\"\n\
                 error = {{ fault = \"{kind}\", read_percent = {percent}, write_percent = {percent} }}\n"
            );
            let device = disk(600, SCATTERS[1], "", &faults);
            all.push(Scenario {
                job: job(4, 16) + "on_error = \"continue\"\n",
                ..sick(device, 16, "failed-operations")
            });
        }
    }
    all
}

/// One in flight on a disk of `base` microseconds does a million by `base`.
fn rates() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (base, arrivals) in [
        (600, "fixed"),
        (600, "poisson"),
        (2500, "fixed"),
        (100, "poisson"),
        (250, "closed"),
        (1200, "closed"),
    ] {
        let device = disk(base, SCATTERS[1], "", "");
        let paced = |percent: u32| {
            let rate = 10_000 * percent / base * 4;
            let keys = format!("rate_iops = {rate}\narrivals = \"{arrivals}\"\n");
            job(4, 4) + &keys
        };
        all.push(Scenario {
            healthy: false,
            ..plain(
                device.clone(),
                paced(150),
                &["rate-missed", "latency-bound"],
            )
        });
        all.push(plain(device, paced(30), &[]));
    }
    all
}

/// Passes of 15 s, one after the other.
fn passes() -> Vec<Scenario> {
    let repeated = |passes: u32, faults: &str, label: &'static str| {
        let times = "engine = \"io_uring\"\nramp = \"3s\"\nruntime = \"12s\"\ndepth = 16";
        let job = format!("passes = {passes}\n[[case]]\nname = \"case\"\n{times}\n");
        Scenario {
            job,
            ..sick(disk(600, SCATTERS[0], "", faults), 16, label)
        }
    };
    let pass = |number: u32, added: u32| {
        let from = f64::from(number - 1) * 15.0;
        slower(from, from + 15.0, added)
    };
    let mut all = Vec::new();
    for (number, added) in [(2, 300), (3, 600), (4, 1200)] {
        all.push(repeated(5, &pass(number, added), "outlier-pass"));
    }
    for added in [60, 100, 150] {
        let faults: String = (2..=6)
            .map(|number| pass(number, (number - 1) * added))
            .collect();
        all.push(repeated(6, &faults, "drift-over-passes"));
    }
    for added in [300, 600, 1500] {
        all.push(repeated(2, &pass(2, added), "scatter"));
    }
    all
}

/// Limits of no vendor, which the record carries.
fn limited() -> Vec<Scenario> {
    let mut all = Vec::new();
    for base in [100, 600] {
        for rate in [
            "700 IOPS",
            "2500 IOPS",
            "9000 IOPS",
            "33000 IOPS",
            "60 MB/s",
            "150 MB/s",
            "333 MiB/s",
        ] {
            let kib = if rate.contains("IOPS") { 4 } else { 128 };
            let caps = format!("[[volume.cap]]\nname = \"cap\"\nrate = \"{rate}\"\n");
            for depth in [64, 256] {
                for scatter in SCATTERS {
                    let device = disk(base, scatter, &caps, "");
                    all.push(plain(device, job(kib, depth), &["at-limit"]));
                }
            }
        }
    }
    all
}

/// Two and four seconds on a disk whose limiter has saved up one of its rate.
fn rested() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (base, iops) in [(100, 3000_u32), (300, 6000), (600, 12_000)] {
        let caps =
            format!("[[volume.cap]]\nname = \"cap\"\nrate = \"{iops} IOPS\"\nbucket = \"1s\"\n");
        let device = disk(base, SCATTERS[1], &caps, "");
        for seconds in [2, 4] {
            let text = job(4, 256).replace("ramp = \"3s\"\n", "");
            let text = text.replace("12s", &format!("{seconds}s"));
            all.push(Scenario {
                healthy: false,
                ..plain(device.clone(), text.clone(), &["above-limit"])
            });
            let bought = format!("gp3:1TiB,iops={iops}@m5.24xlarge");
            let labels = [
                "above-limit",
                "bucket-amortised",
                "more-than-the-limit-takes",
            ];
            all.push(against(device.clone(), bought, text, &labels));
        }
    }
    all
}
