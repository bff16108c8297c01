use blocklab_device::{
    Accounting, Cap, Covers, Credit, DeviceSpec, Fault, FaultKind, FaultSpec, HostCache,
    InstanceSpec, Latency, Layout, Network, Origin, Rate, Saturation, Service, Spread, Tail,
    VolumeSpec,
};
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::Address;
use proptest::option::of;
use proptest::prelude::*;

use super::guide::EXAMPLE;
use super::{guide, parse, render};
use crate::{Catalog, resolve};
use blocklab_syntax::toml_tree::Error;

fn read(text: &str) -> Result<DeviceSpec, Error> {
    parse(text, "d.toml")
}

#[test]
fn the_example_of_the_guide() {
    let spec = read(EXAMPLE).expect("sound");
    spec.check().expect("it can work");
    let volume = &spec.volumes[0];
    assert_eq!(volume.capacity, Bytes(1 << 40));
    assert_eq!(
        volume.accounting,
        Accounting::Merged {
            unit: Bytes(256 << 10)
        }
    );
    assert_eq!(volume.caps[0].rate, Rate::MibPerS(250.0));
    assert_eq!(volume.caps[0].origin, Origin::Given);
    assert_eq!(volume.credits[0].capacity, 5_400_000.0);
    let service = volume.service.as_ref().expect("a service");
    assert_eq!(service.read.base, Nanos(600_000));
    assert_eq!(
        service.read.origin,
        Origin::measured("fio, one job, 2026-11-20")
    );
    assert_eq!(spec.faults[0].until, Nanos::from_secs(20));
    assert_eq!(read(&render(&spec)), Ok(spec));
}

/// The story: a capacity of 2.5 TiB was read as 2 · 1.5 TiB.
#[test]
fn a_size_may_have_a_fraction() {
    for (size, bytes) in [
        ("2.5TiB", 5 << 39),
        ("0.5 KiB", 512),
        ("9007199254740993", (1 << 53) + 1),
    ] {
        let spec = read(&format!("[[volume]]\ncapacity = \"{size}\"\n")).expect(size);
        assert_eq!(spec.volumes[0].capacity, Bytes(bytes), "{size}");
    }
}

#[track_caller]
fn refuse(text: &str, expected: &str) {
    assert_eq!(read(text).expect_err(text).to_string(), expected);
}

#[test]
fn mistakes_are_pointed_at() {
    refuse(
        "[[volume]]\ncapacity = \"1TiB\"\nacounting = \"plain\"\n",
        "d.toml:3:1: unknown key `acounting`; did you mean `accounting`?\n  |\n3 | acounting = \"plain\"\n  | ^^^^^^^^^",
    );
    refuse(
        "[[volume]]\ncapacity = \"much\"\n",
        "d.toml:2:12: `much` is not a size such as 4096, 64KiB, 1.5GiB or 10GB (k, M, G are binary)\n  |\n2 | \
         capacity = \"much\"\n  |            ^^^^^^",
    );
    let short = |text: &str, words: &str| {
        let message = read(text).expect_err(text).to_string();
        assert!(message.contains(words), "{message}");
    };
    short("", "a device needs `volume`");
    short("[[volume]]\n", "this table needs `capacity`: usable bytes");
    short(
        "volume = 7",
        "a table is wanted here, and this is a whole number",
    );
    short(
        "[[volume]]\ncapacity = 7",
        "a size such as \"256KiB\" is wanted here, and this is a whole number",
    );
    short(
        "[[volume]]\ncapacity = 1TiB",
        "texts are written in quotes: capacity = \"1TiB\"",
    );
    short(
        "[[volume]]\ncapacity = \"1TiB\"\ncount = 0",
        "1 to 1000 volumes are allowed",
    );
    short(
        "[[volume]]\ncapacity = \"1TiB\"\ncount = 1001",
        "1 to 1000 volumes are allowed",
    );
    short(
        "[[volume]]\ncapacity = \"1TiB\"\n[[volume.cap]]\nname = \"x\"\nrate = \"7\"",
        "not a rate such as",
    );
    short(
        "[[volume]]\ncapacity = \"1TiB\"\n[[volume.cap]]\nname = \"x\"\nrate = \"7 IOPS\"\norigin = \"me\"",
        "no origin",
    );
    short(
        "[[volume]]\ncapacity = \"1TiB\"\n[[fault]]\nfrom = \"0s\"\nuntil = \"never\"",
        "exactly one of",
    );
    short("layout = \"stripd\"", "is not a layout");
    short("a = = b", ":1:5");
}

/// What the catalog resolves can be written down, changed by hand and read again.
#[test]
fn sold_devices_as_files() {
    let catalog = Catalog::embedded();
    for text in [
        "30xgp2:1TB@i3.metal",
        "gp3:1TiB,iops=6000@r5d.xlarge",
        "st1:10TB,as-of=2016-04-19@m4.10xlarge",
        "local,as-of=2017-02-27@i3.xlarge",
        "local@r5d.xlarge",
        "standard",
    ] {
        let address = Address::parse(text).expect("an address");
        let spec = resolve(&address, &catalog).expect("known").spec;
        let file = render(&spec);
        assert_eq!(read(&file).as_ref(), Ok(&spec), "{text}:\n{file}");
        assert!(
            file.lines().count() < 60,
            "thirty volumes are one table:\n{file}"
        );
    }
}

/// `docs/device.md` is derived: `BLESS=1 cargo test` rewrites it.
#[test]
fn the_guide_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/device.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, guide()).expect("written");
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        kept == guide(),
        "docs/device.md is stale: BLESS=1 cargo test -p blocklab-catalog rewrites it"
    );
}

fn origins() -> BoxedStrategy<Origin> {
    let text = "\\PC{0,12}";
    prop_oneof![
        Just(Origin::Given),
        text.prop_map(|by| Origin::Measured { by }),
        text.prop_map(|because| Origin::Assumed { because }),
        (text, text).prop_map(|(source, date)| Origin::Documented { source, date }),
    ]
    .boxed()
}

fn rates() -> BoxedStrategy<Rate> {
    let number = || 0.001f64..1e9;
    prop_oneof![
        number().prop_map(Rate::Iops),
        number().prop_map(Rate::MibPerS),
        number().prop_map(Rate::MbPerS),
    ]
    .boxed()
}

fn times() -> BoxedStrategy<Nanos> {
    prop_oneof![
        any::<u64>().prop_map(Nanos),
        (0u64..90_000).prop_map(Nanos::from_millis)
    ]
    .boxed()
}

fn caps() -> BoxedStrategy<Cap> {
    let covers = prop_oneof![Just(Covers::All), Just(Covers::Reads), Just(Covers::Writes)];
    (
        "\\PC{1,9}",
        covers,
        rates(),
        times(),
        0.001..1.0,
        of(rates()),
        origins(),
    )
        .prop_map(|(name, covers, rate, bucket, share, peak, origin)| Cap {
            name,
            covers,
            rate,
            bucket,
            refill_share: share,
            peak,
            origin,
        })
        .boxed()
}

fn credits() -> BoxedStrategy<Credit> {
    (
        "\\PC{1,9}",
        rates(),
        rates(),
        1.0f64..1e15,
        0.0f64..=1.0,
        of(times()),
        origins(),
    )
        .prop_map(
            |(name, baseline, burst, capacity, initial_share, full_again, origin)| Credit {
                name,
                baseline,
                burst,
                capacity,
                initial_share,
                full_again,
                origin,
            },
        )
        .boxed()
}

fn latencies() -> BoxedStrategy<Latency> {
    (times(), 0.0f64..1e6, origins())
        .prop_map(|(base, per_kib_ns, origin)| Latency {
            base,
            per_kib_ns,
            origin,
        })
        .boxed()
}

fn services() -> BoxedStrategy<Service> {
    let tail = (0.0f64..1.0, 1.0f64..99.0, 0.0f64..3.0);
    let tail = of(tail.prop_map(|(share, factor, sigma)| Tail {
        share,
        factor,
        sigma,
    }));
    let spread = (0.0f64..2.0, tail, origins());
    let spread = spread.prop_map(|(sigma, tail, origin)| Spread {
        sigma,
        tail,
        origin,
    });
    let saturation = of((1.0f64..1e7, 1.0f64..1e7, origins()).prop_map(
        |(read_iops, write_iops, origin)| Saturation {
            read_iops,
            write_iops,
            origin,
        },
    ));
    let main = (latencies(), latencies(), spread, saturation);
    let others = (
        of(latencies()),
        of(latencies()),
        of(latencies()),
        of(latencies()),
    );
    (main, others)
        .prop_map(|((read, write, spread, saturation), others)| Service {
            read,
            write,
            stream_read: others.0,
            stream_write: others.1,
            interleaved_read: others.2,
            interleaved_write: others.3,
            spread,
            saturation,
            programs: None,
        })
        .boxed()
}

fn volumes() -> BoxedStrategy<VolumeSpec> {
    let unit = any::<u64>().prop_map(Bytes);
    let accounting = prop_oneof![
        Just(Accounting::Plain),
        unit.clone().prop_map(|unit| Accounting::Merged { unit }),
        unit.clone().prop_map(|unit| Accounting::Split { unit }),
        unit.clone()
            .prop_map(|unit| Accounting::WholeUnits { unit }),
    ];
    let network =
        (times(), origins()).prop_map(|(round_trip, origin)| Network { round_trip, origin });
    let lists = (
        prop::collection::vec(caps(), 0..3),
        prop::collection::vec(credits(), 0..3),
    );
    let parts = (
        "\\PC{0,9}",
        unit,
        accounting,
        lists,
        of(services()),
        of(network),
        of(any::<u32>()),
    );
    parts
        .prop_map(
            |(kind, capacity, accounting, (caps, credits), service, network, queue_depth)| {
                VolumeSpec {
                    kind,
                    capacity,
                    accounting,
                    caps,
                    credits,
                    service,
                    network,
                    queue_depth,
                }
            },
        )
        .boxed()
}

fn faults() -> BoxedStrategy<FaultSpec> {
    let percent = || 0.0f64..=100.0;
    let fault = prop_oneof![Just(Fault::Io), Just(Fault::Full), Just(Fault::Detached)];
    let kind = prop_oneof![
        Just(FaultKind::Stall),
        Just(FaultKind::Detach),
        (times(), percent(), percent()).prop_map(|(added, read_percent, write_percent)| {
            FaultKind::Latency {
                added,
                read_percent,
                write_percent,
            }
        }),
        (fault, percent(), percent()).prop_map(|(fault, read_percent, write_percent)| {
            FaultKind::Error {
                fault,
                read_percent,
                write_percent,
            }
        }),
    ];
    let volume = of(0usize..9);
    (times(), times(), volume, kind)
        .prop_map(|(from, until, volume, kind)| FaultSpec {
            from,
            until,
            volume,
            kind,
        })
        .boxed()
}

fn caches() -> BoxedStrategy<HostCache> {
    let parts = (
        prop::collection::vec(caps(), 0..3),
        prop::collection::vec(credits(), 0..3),
        0.0f64..=1.0,
        of(any::<u64>().prop_map(Bytes)),
        latencies(),
    );
    parts
        .prop_map(
            |(caps, credits, hit_share, writes_back, latency)| HostCache {
                caps,
                credits,
                hit_share,
                writes_back,
                latency,
            },
        )
        .boxed()
}

fn specs() -> BoxedStrategy<DeviceSpec> {
    let layout = prop_oneof![
        Just(Layout::Joined),
        any::<u64>().prop_map(|block| Layout::Striped {
            block: Bytes(block)
        }),
    ];
    let volumes = prop::collection::vec((volumes(), 1usize..4), 1..3);
    let instance = (
        "\\PC{0,9}",
        prop::collection::vec(caps(), 0..3),
        prop::collection::vec(credits(), 0..3),
        of(caches()),
    );
    let instance = of(
        instance.prop_map(|(name, caps, credits, cache)| InstanceSpec {
            name,
            caps,
            credits,
            cache,
        }),
    );
    let parts = (
        "\\PC{0,20}",
        volumes,
        layout,
        instance,
        prop::collection::vec(faults(), 0..3),
    );
    parts
        .prop_map(|(name, volumes, layout, instance, faults)| DeviceSpec {
            name,
            volumes: volumes
                .into_iter()
                .flat_map(|(volume, n)| vec![volume; n])
                .collect(),
            layout,
            instance,
            faults,
        })
        .boxed()
}

proptest! {
    #[test]
    fn what_is_written_reads_back(spec in specs()) {
        let text = render(&spec);
        prop_assert_eq!(read(&text), Ok(spec), "{}", text);
    }

    #[test]
    fn no_text_is_a_panic(text in "\\PC{0,60}", lines in prop::collection::vec("[a-z\\[\\].={}\" ]{0,16}", 0..6)) {
        let _ = read(&text);
        let _ = read(&lines.join("\n"));
    }
}
