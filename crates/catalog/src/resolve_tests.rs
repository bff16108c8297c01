use blocklab_device::{Cap, Load, Rate, predict};
use blocklab_units::Bytes;
use blocklab_workload::{Address, Date};

use crate::{Catalog, Error, RemarkKind, Resolved, resolve, resolve_text};

fn found(text: &str) -> Resolved {
    let address = Address::parse(text).expect(text);
    resolve(&address, &Catalog::embedded()).unwrap_or_else(|error| panic!("{text}:\n{error}"))
}

fn refusal(text: &str) -> String {
    let address = match Address::parse(text) {
        Ok(address) => address,
        Err(error) => return error.to_string(),
    };
    match resolve(&address, &Catalog::embedded()) {
        Err(error @ Error::Refused { .. }) => error.to_string(),
        other => panic!("{text}: {other:?}"),
    }
}

#[track_caller]
fn refuse(text: &str, words: &str) {
    let message = refusal(text);
    assert!(message.contains(words), "{text}:\n{message}");
    let lines = message.lines().count();
    assert!(lines == 2 && message.contains('^'), "{message}");
}

/// The rates of the first volume, in the order of its caps and credits: value, unit.
fn rates(text: &str) -> Vec<(f64, &'static str)> {
    let volume = &found(text).spec.volumes[0];
    let both = |rate: Rate| (rate.value(), rate.unit().text());
    let caps = volume.caps.iter().map(|cap| both(cap.rate));
    let credits = volume
        .credits
        .iter()
        .flat_map(|c| [both(c.baseline), both(c.burst)]);
    caps.chain(credits).collect()
}

#[track_caller]
fn check(text: &str, expected: &[(f64, &'static str)]) {
    let rates = rates(text);
    let near = |((a, of_a), (b, of_b)): (&(f64, &str), &(f64, &str))| {
        of_a == of_b && (a - b).abs() <= 5e-4 * b
    };
    let same = rates.len() == expected.len() && rates.iter().zip(expected).all(near);
    assert!(same, "{text}: {rates:?}, not {expected:?}");
}

/// EC2 user guide, 2018-02-02 and 2023-05-11; the boundary is 2018-12-03.
#[test]
fn gp2_by_size_and_day() {
    check(
        "gp2:1GiB",
        &[(128.0, "MiB/s"), (100.0, "IOPS"), (3000.0, "IOPS")],
    );
    check(
        "gp2:100GiB",
        &[(128.0, "MiB/s"), (300.0, "IOPS"), (3000.0, "IOPS")],
    );
    check(
        "gp2:170GiB",
        &[(128.0, "MiB/s"), (510.0, "IOPS"), (3000.0, "IOPS")],
    );
    check(
        "gp2:334GiB",
        &[(250.0, "MiB/s"), (1002.0, "IOPS"), (3000.0, "IOPS")],
    );
    check(
        "gp2:999GiB",
        &[(250.0, "MiB/s"), (2997.0, "IOPS"), (3000.0, "IOPS")],
    );
    check("gp2:1000GiB", &[(3000.0, "IOPS"), (250.0, "MiB/s")]);
    check("gp2:16TiB", &[(16_000.0, "IOPS"), (250.0, "MiB/s")]);
    check(
        "gp2:16TiB,as-of=2018-12-03",
        &[(16_000.0, "IOPS"), (250.0, "MiB/s")],
    );
    check(
        "gp2:16TiB,as-of=2018-12-02",
        &[(10_000.0, "IOPS"), (147.52, "MiB/s")],
    );
    check(
        "gp2:4TiB,as-of=2015-03-01",
        &[(10_000.0, "IOPS"), (147.52, "MiB/s")],
    );
    check(
        "gp2:1TiB,as-of=2015-02-28",
        &[(3000.0, "IOPS"), (160.0, "MiB/s")],
    );
}

/// "3,000 included"; 80,000 and 2,000 since September 2025.
#[test]
fn gp3_by_setting_and_day() {
    check("gp3", &[(3000.0, "IOPS"), (125.0, "MiB/s")]);
    check(
        "gp3:1TiB,iops=6000,throughput=125@r5d.xlarge",
        &[(6000.0, "IOPS"), (125.0, "MiB/s")],
    );
    check(
        "gp3:1TiB,iops=16000,throughput=1000,as-of=2025-08-31",
        &[(16_000.0, "IOPS"), (1000.0, "MiB/s")],
    );
    check(
        "gp3:1TiB,iops=80000,throughput=2000,as-of=2025-09-01",
        &[(80_000.0, "IOPS"), (2000.0, "MiB/s")],
    );
    check("gp3:64TiB,iops=3001", &[(3001.0, "IOPS"), (125.0, "MiB/s")]);
    refuse(
        "gp3:10GiB,iops=6000",
        "gp3 of 10 GiB allows at most 5,000 IOPS; 500 per GiB",
    );
    refuse(
        "gp3:1TiB,iops=16001,as-of=2025-08-31",
        "16,000 at most (on 2025-08-31)",
    );
    refuse("gp3:1TiB,iops=80001", "80,000 at most (today)");
    refuse("gp3:1TiB,iops=2999", "gp3 includes 3,000 IOPS");
    refuse("gp3:1TiB,throughput=124", "gp3 includes 125 MiB/s");
    refuse(
        "gp3:1TiB,throughput=751",
        "gp3 with 3,000 IOPS allows at most 750 MiB/s; 0.25 per IOPS",
    );
    refuse(
        "gp3:1TiB,iops=16000,throughput=1001,as-of=2021-01-01",
        "1,000 at most",
    );
    refuse(
        "gp3:17TiB,as-of=2025-08-31",
        "1 GiB to 16 TiB (on 2025-08-31)",
    );
    refuse(
        "gp3,as-of=2020-11-30",
        "gp3 is sold since 2020-12-01; 2020-11-30 is earlier",
    );
}

/// 256 KiB/s per IOPS up to 500 MiB/s, 16 KiB/s above 32,000 IOPS (EC2 user guide, 2023-05-11).
#[test]
fn provisioned_iops() {
    check("io1:1TiB,iops=1000", &[(1000.0, "IOPS"), (250.0, "MiB/s")]);
    check(
        "io1:1TiB,iops=32000",
        &[(32_000.0, "IOPS"), (500.0, "MiB/s")],
    );
    check(
        "io1:2TiB,iops=48000@r5d.24xlarge",
        &[(48_000.0, "IOPS"), (750.0, "MiB/s")],
    );
    check(
        "io1:2TiB,iops=64000",
        &[(64_000.0, "IOPS"), (1000.0, "MiB/s")],
    );
    check(
        "io1:1TiB,iops=20000,as-of=2016-04-19",
        &[(20_000.0, "IOPS"), (320.0, "MiB/s")],
    );
    check(
        "io1:1TiB,iops=32000,as-of=2017-12-06",
        &[(32_000.0, "IOPS"), (500.0, "MiB/s")],
    );
    let not_nitro = [
        (64_000.0, "IOPS"),
        (1000.0, "MiB/s"),
        (32_000.0, "IOPS"),
        (500.0, "MiB/s"),
    ];
    check("io1:2TiB,iops=64000@m4.16xlarge", &not_nitro);
    check(
        "io2:1TiB,iops=64000,as-of=2021-01-01",
        &[(64_000.0, "IOPS"), (1000.0, "MiB/s")],
    );
    check(
        "io2:1TiB,iops=100000",
        &[(100_000.0, "IOPS"), (4000.0, "MiB/s")],
    );
    check(
        "io2:1TiB,iops=10000@r5b.xlarge",
        &[(10_000.0, "IOPS"), (2560.0, "MiB/s")],
    );
    check(
        "io2-block-express:256GiB,iops=256000",
        &[(256_000.0, "IOPS"), (4000.0, "MiB/s")],
    );
    refuse(
        "io1:100GiB",
        "io1 is sold by provisioned IOPS: iops=100 to 5000 at 100 GiB",
    );
    refuse("io1:100GiB,iops=5001", "at most 5,000 IOPS; 50 per GiB");
    refuse("io1:1TiB,iops=20001,as-of=2017-12-05", "20,000 at most");
    refuse("io1:3GiB,iops=100", "4 GiB to 16 TiB");
    refuse("io1:1TiB,iops=99", "io1 starts at 100 IOPS");
    refuse("io1:1TiB,iops=1000,throughput=500", "follows from its IOPS");
    refuse(
        "io2:1TiB,iops=100000@m4.16xlarge",
        "does not run io2 on Block Express: up to 16 TiB",
    );
    // The instance was named as the reason where the day is.
    refuse(
        "io2:1TiB,iops=100000,as-of=2021-01-01@r5b.24xlarge",
        "does not run io2 on Block Express before 2021-07-01: up to 16 TiB",
    );
    refuse(
        "io2:1TiB,iops=1000,as-of=2020-07-31",
        "io2 is sold since 2020-08-01",
    );
}

/// The tables of the user guide, 0.5 to 16 TiB, in the unit that study ebs-hdd found.
#[test]
fn hard_disks_by_size() {
    const UNIT: f64 = 1_073_741_824.0 / 1e9;
    let check = |text: &str, documented: &[(f64, &'static str)]| {
        let scaled = documented.iter().map(|(rate, unit)| (rate * UNIT, *unit));
        check(text, &scaled.collect::<Vec<_>>());
    };
    let st1 = |size: &str, base: f64, burst: f64| {
        let ops = (500.0, "IOPS");
        let rates = [ops, (base, "MiB/s"), (burst, "MiB/s")];
        check(&format!("st1:{size}"), &rates);
    };
    st1("512GiB", 20.0, 125.0);
    st1("1TiB", 40.0, 250.0);
    st1("2TiB", 80.0, 500.0);
    st1("12TiB", 480.0, 500.0);
    check("st1:12800GiB", &[(500.0, "MiB/s"), (500.0, "IOPS")]);
    check(
        "st1:10TB,as-of=2016-04-19@m4.10xlarge",
        &[(500.0, "IOPS"), (390.625, "MiB/s"), (500.0, "MiB/s")],
    );
    check(
        "sc1:1TiB",
        &[(250.0, "IOPS"), (12.0, "MiB/s"), (80.0, "MiB/s")],
    );
    check(
        "sc1:16TiB",
        &[(250.0, "IOPS"), (192.0, "MiB/s"), (250.0, "MiB/s")],
    );
    let bucket = found("st1:2TiB").spec.volumes[0].credits[0].capacity;
    let full_scan = (2u64 << 40) as f64 * UNIT;
    assert!((bucket / full_scan - 1.0).abs() < 1e-9, "{bucket}");
    check(
        "st1:125GiB,as-of=2020",
        &[
            (500.0, "IOPS"),
            (40.0 * 125.0 / 1024.0, "MiB/s"),
            (250.0 * 125.0 / 1024.0, "MiB/s"),
        ],
    );
    refuse("st1:499GiB,as-of=2019-12-31", "500 GiB to 16 TiB");
    refuse("st1:124GiB", "125 GiB to 16 TiB");
    refuse(
        "sc1:1TiB,iops=100",
        "sc1 has no provisioned iops: 12 MiB/s per TiB, 80 in bursts",
    );
    refuse("st1:1TiB,as-of=2016-04-18", "st1 is sold since 2016-04-19");
}

/// 1 TB in the vendor's console is 1,000 GiB: 30 of them are 90,000 IOPS, and the instance binds.
#[test]
fn thirty_volumes_on_one_instance() {
    let address = "30xgp2:1TB,as-of=2018-09-24@i3.metal";
    check(address, &[(3000.0, "IOPS"), (147.52, "MiB/s")]);
    let resolved = found(address);
    assert_eq!(resolved.spec.volumes.len(), 30);
    assert_eq!(resolved.spec.volumes[0].capacity, Bytes(1000 << 30));
    let instance = resolved.spec.instance.expect("limits of the instance");
    let rates: Vec<_> = instance.caps.iter().map(|cap| cap.rate).collect();
    assert_eq!(rates, [Rate::Iops(64_000.0), Rate::MbPerS(1137.5)]);
    assert!(
        resolved
            .assumptions
            .iter()
            .any(|a| a.contains("1TB is read as 1,000 GiB"))
    );
    refuse("50xgp2:1TiB@m4.large", "takes at most");
}

/// An instance that bursts: 143.75 MB/s, and 593.75 for half an hour.
#[test]
fn an_instance_that_bursts() {
    let instance = found("gp3:1TiB@r5d.xlarge").spec.instance.expect("limits");
    assert!(instance.caps.is_empty());
    let [iops, bytes] = instance.credits.as_slice() else {
        panic!("{instance:?}");
    };
    assert_eq!(
        (iops.baseline, iops.burst),
        (Rate::Iops(6000.0), Rate::Iops(18_750.0))
    );
    assert_eq!(
        (bytes.baseline, bytes.burst),
        (Rate::MbPerS(143.75), Rate::MbPerS(593.75))
    );
    assert_eq!(iops.capacity, 12_750.0 * 1800.0);
    assert_eq!(bytes.capacity, 450e6 * 1800.0);
}

#[test]
fn local_disks() {
    let local = |text: &str, reads: f64, writes: f64, read_mb: f64, write_mb: f64| {
        let iops = [(reads, "IOPS"), (writes, "IOPS")];
        check(
            text,
            &[iops[0], iops[1], (read_mb, "MB/s"), (write_mb, "MB/s")],
        );
    };
    let r5d = [
        (59_000.0, "IOPS"),
        (29_000.0, "IOPS"),
        (260.65, "MB/s"),
        (134.217, "MB/s"),
    ];
    check("local@r5d.xlarge", &r5d);
    local(
        "local@im4gn.large,as-of=2021-12-01",
        31_250.0,
        25_000.0,
        250.0,
        126.86,
    );
    local("local@is4gen.xlarge", 125_000.0, 100_000.0, 1152.75, 508.89);
    local(
        "local@i3.xlarge,as-of=2017-02-27",
        206_250.0,
        18_750.0,
        1185.11,
        423.62,
    );
    let metal = found("local,as-of=2018-09-24@i3.metal").spec;
    assert_eq!(metal.volumes.len(), 8);
    assert_eq!(metal.volumes[0].caps[0].rate, Rate::Iops(412_500.0));
    assert_eq!(metal.volumes[0].caps[1].rate, Rate::Iops(175_000.0));
    assert_eq!(found("2xlocal@i3.metal").spec.volumes.len(), 2);
    let i2 = found("local@i2.xlarge,as-of=2017-02-27")
        .spec
        .volumes
        .remove(0);
    let rates: Vec<_> = i2.caps.iter().map(|cap| cap.rate).collect();
    let own = [Rate::MbPerS(507.338_935), Rate::MbPerS(483.141_731)];
    assert_eq!(rates, own, "its operations the disk limits itself");
    let most = i2
        .service
        .and_then(|service| service.saturation)
        .expect("a physical maximum");
    assert_eq!(
        (most.read_iops, most.write_iops),
        (45_625.0, 39_375.0 * 1.086)
    );
    check("local@d2.xlarge", &[]);
}

/// No document describes I7i: what was measured makes it a device. Four of its disks were measured
/// together.
#[test]
fn disks_that_were_only_measured() {
    let rates = [
        (300_483.0, "IOPS"),
        (165_128.0, "IOPS"),
        (2133.35, "MB/s"),
        (1662.37, "MB/s"),
    ];
    check("local@i7i.2xlarge", &rates);
    let largest = found("local@i7i.24xlarge").spec.volumes;
    let rates = largest.iter().map(|volume| volume.caps[0].rate.value());
    let reads: f64 = rates.sum();
    assert!((reads - 2_647_697.0).abs() < 1.0, "{reads}");
    let measured = |cap: &Cap| cap.origin.how() == "measured";
    assert!(largest[0].caps.iter().all(measured));
}

/// Rows of `local-measured.csv` have the figures of one disk or of all. Taken for the other, a disk
/// would do several times what the single disk of its family does for every GB.
#[test]
fn no_disk_is_twice_the_single_one_of_its_family() {
    use crate::instance::{Store, family};
    let catalog = Catalog::embedded();
    let types = catalog.instance_types();
    let store = |name| Some((name, catalog.instance(name, None)?.store?));
    let stores = types.into_iter().filter_map(store);
    let known = stores.filter(|(_, store)| store.write_mb.is_some());
    let measured: Vec<(&str, Store)> = known.collect();
    assert!(measured.len() > 130, "{}", measured.len());
    let per_gb = |store: &Store| {
        let write = store.write_mb.as_ref().expect("measured").value;
        write / f64::from(store.disks) / store.disk_gb
    };
    for (name, store) in &measured {
        let own = family(name);
        let same = measured.iter().filter(|(other, _)| family(other) == own);
        let single = same.filter(|(_, other)| other.disks == 1);
        let most = single.map(|(_, other)| per_gb(other)).fold(0.0, f64::max);
        assert!(most == 0.0 || per_gb(store) < 2.0 * most, "{name}");
    }
}

/// Study i3-metal: 3.84 GB/s of writes on eight disks where 180,000 IOPS each are documented.
#[test]
fn disks_of_i3_that_are_full() {
    let writes = |text: &str| found(text).spec.volumes[0].caps[3].clone();
    let full = writes("local,profile=filled@i3.metal");
    assert_eq!(full.rate, Rate::MbPerS(475.0));
    assert_eq!(full.origin.how(), "measured");
    let half = writes("local,profile=filled@i3.xlarge");
    assert_eq!(half.rate, Rate::MbPerS(237.5));
    assert!(half.origin.is_assumed());
    refuse(
        "local,profile=fulled@i3.metal",
        "the disks of i3 have the profile filled",
    );
    refuse("local,profile=filled@i3en.large", "have no profile");
    refuse("gp3,profile=filled", "no filled of gp3 is documented");
}

/// `local,as-of=2016-01-01@i3.xlarge` was simulated: I3 was first sold a year later.
#[test]
fn instances_before_they_were_sold() {
    refuse(
        "local,as-of=2016-01-01@i3.xlarge",
        "i3.xlarge is sold since 2017-02-01; 2016-01-01 is earlier",
    );
    refuse("gp2:1TiB,as-of=2018-04-30@i3.metal", "since 2018-05-01");
    let early = found("gp2:1TiB,as-of=2015-01-01@c4.large").assumptions;
    let noted = early.concat().contains("first documented on 20");
    assert!(noted, "{early:?}");
}

/// `as-of=2030-01-01` was accepted without a word.
#[test]
fn days_to_come_are_noted() {
    let notes = found("gp2:1TiB,as-of=2030-01-01").cost_notes;
    let noted = |notes: &[String]| notes.iter().any(|note| note.contains("newest source"));
    assert!(noted(&notes), "{notes:?}");
    assert!(!noted(&found("gp2:1TiB,as-of=2026-01-01").cost_notes));
}

/// A bill of 73.73 USD was shown for gp3 in a region whose list has no price of the volume.
#[test]
fn a_part_without_a_price_has_no_sum() {
    let catalog = Catalog::embedded();
    let sheet = |text| crate::describe(text, &catalog).expect(text);
    let partly = sheet("gp3:1TiB,region=ap-south-2@m5.large");
    assert_eq!(partly.usd_per_month, None);
    assert!(!partly.costs.is_empty() && partly.ratios.is_empty());
    assert!(sheet("gp3:1TiB@m5.large").usd_per_month.is_some());
}

#[test]
fn names_are_guessed() {
    refuse("gp4:1TiB", "did you mean gp2?");
    refuse("gp3:1TiB@r5d.xlrage", "did you mean r5d.xlarge?");
    refuse(
        "gp3:1TiB@r5d",
        "r5d comes as r5d.large, r5d.xlarge, r5d.2xlarge",
    );
    // The story: `r5d.medium` was to be an `a1.medium`.
    refuse(
        "gp3:1TiB@r5d.medium",
        "; r5d comes as r5d.large, r5d.xlarge",
    );
    refuse("gp3:1TiB,iops=6,000", "write the number without it");
    refuse("i3.xlarge:1TiB", "local@i3.xlarge names its own disks");
    // A mistyped instance type was answered with the list of volume types.
    refuse("r5d.xlarg", "did you mean r5d.xlarge?");
    refuse("local", "local@i3.xlarge");
    refuse("local@m4.large", "has no disks of its own");
    refuse("9xlocal@i3.metal", "has 8 disks of its own");
    refuse("local:1TiB@i3.metal", "take no size");
    refuse("gp3,region=us-eats-1", "did you mean us-east-1?");
    // The story: types of another vendor without its name were answered with the types of AWS, and so was
    // a family of machines.
    refuse("pd-ssd:1TiB", "did you mean gcp/pd-ssd?");
    refuse("i3", "as a machine it comes as i3.large, i3.xlarge");
    refuse("gp3,region=virginia", "regions are named as in us-east-1");
    refuse("azure/Premiun:1TiB", "no volume type");
    refuse(
        "gp3:1TiB@azure/Standard_A5",
        "gp3 cannot be attached to azure/Standard_A5",
    );
    refuse("standard:1TiB,profile=avg", "there is average");
    // `catalog list --vendor hcloud`, which was to show them, is refused.
    refuse(
        "hcloud/block:10GiB@hcloud/cx11",
        "no machine of hcloud is in the catalog",
    );
    refuse("azur/P30", "the vendors are aws, azure, gcp, rds");
    refuse("rds:gp3", "rds/gp3 names a type of it");
}

/// Every type that the catalog lists is a device, and either predicts or reports why not.
#[test]
fn everything_on_the_list_resolves() {
    let catalog = Catalog::embedded();
    let load = Load::random(100, Bytes(4096), 64);
    let mut silent = 0;
    let local: Vec<String> = catalog
        .instance_types()
        .iter()
        .map(|name| format!("local@{name}"))
        .collect();
    let attached = catalog.instance_types();
    let attached = attached.iter().map(|name| format!("gp3:1TiB@{name}"));
    for text in attached.chain(local) {
        let address = Address::parse(&text).expect("an address");
        match resolve(&address, &catalog) {
            Ok(resolved) => match predict(&resolved.spec, load) {
                Ok(prediction) => assert!(prediction.sustained().iops > 0.0, "{text}"),
                Err(_) => {
                    silent += 1;
                    assert!(
                        resolved
                            .notes
                            .iter()
                            .any(|note| note.kind == RemarkKind::NoPrediction),
                        "{text}"
                    );
                }
            },
            Err(error) => assert!(
                error.to_string().contains("no disks of its own"),
                "{text}: {error}"
            ),
        }
    }
    assert!(silent < 500, "{silent}");
}

#[test]
fn everything_of_other_vendors_resolves() {
    let catalog = Catalog::embedded();
    let types = catalog
        .volume_types()
        .into_iter()
        .filter(|name| name.contains('/'));
    assert_eq!(types.clone().count(), 34);
    let machines = catalog.machines();
    assert_eq!(machines.len(), 1109);
    let volume = |machine: &str| match machine.split_once('/') {
        Some(("azure", _)) => format!("azure/PremiumV2_LRS:1TiB@{machine}"),
        _ => format!("gcp/pd-balanced:1TiB@{machine}"),
    };
    let attached = machines.iter().map(|machine| volume(machine));
    let local = machines.iter().map(|machine| format!("local@{machine}"));
    // Every third machine: the rows of all are alike.
    let on_machines = attached.chain(local).step_by(3);
    for text in types.chain(on_machines) {
        let address = Address::parse(&text).expect("an address");
        match resolve(&address, &catalog) {
            Ok(resolved) => resolved.spec.check().expect("it can work"),
            Err(error) => {
                let error = error.to_string();
                let known = [
                    "has no disk of its own",
                    "is sold by provisioned",
                    "Aurora documents no limits",
                ];
                assert!(
                    known.iter().any(|why| error.contains(why)),
                    "{text}: {error}"
                );
            }
        }
    }
}

/// A rule without its figures would be a volume of 0 IOPS.
#[test]
fn every_embedded_type_is_whole() {
    let catalog = Catalog::embedded();
    catalog.check_types().expect("every rule has its figures");
    let types = catalog.kinds();
    let names: Vec<&str> = types.iter().map(|kind| kind.name.as_str()).collect();
    let texts = crate::embedded::Section::VolumeLimits.embedded().iter();
    let mut limited: Vec<&str> = texts
        .flat_map(|text| crate::table::Table::new(text).keys())
        .collect();
    limited.retain(|key| *key != "instance");
    limited.extend(
        types
            .iter()
            .filter(|kind| kind.limits_as != kind.name)
            .map(|kind| kind.name.as_str()),
    );
    limited.sort_unstable();
    limited.dedup();
    assert_eq!(names, limited, "types, and those that have limits");
}

/// On the first and the last day of every limit, every type is a device or not yet sold.
#[test]
fn every_boundary_of_every_limit() {
    let catalog = Catalog::embedded();
    let mut days: Vec<Date> = Vec::new();
    let limits = crate::embedded::Section::VolumeLimits.embedded()[0];
    for row in crate::table::Table::new(limits).rows() {
        for day in [row.get::<Date>("from"), row.get::<Date>("to")]
            .into_iter()
            .flatten()
        {
            days.extend([day, day.day_before()]);
        }
    }
    days.sort_unstable();
    days.dedup();
    assert!(days.len() > 20, "{days:?}");
    for day in days {
        for kind in [
            "gp2:500GiB",
            "gp3",
            "io1:500GiB,iops=500",
            "io2:500GiB,iops=500",
            "st1",
            "sc1",
            "standard",
        ] {
            let text = format!("{},as-of={day}", kind);
            let address = Address::parse(&text).expect("an address");
            match resolve(&address, &catalog) {
                Ok(resolved) => resolved.spec.check().expect("it can work"),
                Err(error) => assert!(
                    error.to_string().contains("is sold since"),
                    "{text}: {error}"
                ),
            }
        }
    }
}

/// `gp3:1PiB` was refused as `gp3:1024TiB`, which nobody had typed.
#[test]
fn what_was_typed_is_shown() {
    for text in ["gp3:1PiB", "GP3:1tib,iops=400", "gp3:1024GiB,iops=400000"] {
        let error = resolve_text(text, &Catalog::embedded()).expect_err("a refusal");
        assert_eq!(error.to_string().lines().next(), Some(text));
    }
}

/// "io1 is sold since 2015-03-01": the day of a limit was taken for that of the launch.
#[test]
fn a_launch_is_no_change_of_a_limit() {
    let caps = |text: &str| found(text).spec.volumes[0].caps.clone();
    assert_eq!(
        caps("io1:200GiB,iops=1000,as-of=2012-09")[0].rate,
        Rate::Iops(1000.0)
    );
    assert_eq!(
        caps("io1:200GiB,iops=4000,as-of=2014-01-01")[0].rate,
        Rate::Iops(4000.0)
    );
    refuse("io1:200GiB,iops=2000,as-of=2012-09", "at most 1,000 IOPS");
    refuse(
        "io1:200GiB,iops=100,as-of=2012-07-30",
        "sold since 2012-07-31",
    );
    refuse("io1:2TiB,iops=1000,as-of=2013-01-01", "4 GiB to 1 TiB");
    // What nobody documented for those years is assumed, and said to be.
    let early = found("io1:200GiB,iops=1000,as-of=2012-09")
        .assumptions
        .concat();
    assert!(early.contains("first documented on 2015-03-01"), "{early}");
}

/// 312 of 592 types with disks of their own had no IOPS of them.
#[test]
fn newer_families_have_disks_with_a_source() {
    let read = |text: &str| {
        let found = found(text);
        let cap = found.spec.volumes[0].caps[0].clone();
        (
            cap.rate.value() * found.spec.volumes.len() as f64,
            cap.origin,
        )
    };
    let (iops, origin) = read("local@m8id.96xlarge");
    assert_eq!((iops, origin.how()), (6_439_992.0, "documented"));
    let (iops, origin) = read("local@c7gd.large");
    assert_eq!((iops, origin.how()), (33_542.0, "assumed"));
    // Quoted from the guide, and the same disks elsewhere.
    let (iops, origin) = read("local@m9gd.16xlarge");
    assert_eq!((iops, origin.how()), (1_395_331.0, "documented"));
    for same in ["c9gd.16xlarge", "r9gd.16xlarge"] {
        let (iops, origin) = read(&format!("local@{same}"));
        assert_eq!((iops, origin.how()), (1_395_331.0, "assumed"), "{same}");
    }
    let (iops, origin) = read("local@r8idn.metal-96xl");
    assert_eq!((iops, origin.how()), (6_439_992.0, "assumed"));
    let (iops, _) = read("local@hi1.4xlarge");
    assert_eq!(iops, 120_000.0);
    // No document gives those of hard disks, and 57,600 of m1.large is an error of one edition.
    for hdd in [
        "d3.xlarge",
        "d3en.xlarge",
        "d2.xlarge",
        "h1.2xlarge",
        "m1.large",
    ] {
        let found = found(&format!("local@{hdd}"));
        let silent = found
            .notes
            .iter()
            .any(|note| note.kind == RemarkKind::NoPrediction);
        assert!(silent && found.spec.volumes[0].caps.is_empty(), "{hdd}");
    }
}
