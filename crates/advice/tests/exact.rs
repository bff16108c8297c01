//! The search compared with trying everything: a vendor that sells so little that each configuration
//! can be resolved, priced and predicted as any address is.

use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::LazyLock;

use blocklab_advice::{
    Advice, Finalist, LARGE, Market, Need, Question, Reason, Seller, Wanted, advise,
};
use blocklab_catalog::{Catalog, Hosts, Resolved, resolve, resolve_text};
use blocklab_device::{DeviceSpec, Load, predict};
use blocklab_random::Stream;
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{Address, Offer};

const SEED: u64 = 20_261_127;
const MOST: u32 = 4;

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/toy"))
}

static CATALOG: LazyLock<Catalog> =
    LazyLock::new(|| Catalog::load(folder()).expect("the toy vendor"));

fn question(need: Need, machine: Option<Hosts>) -> Question {
    Question {
        need,
        sellers: vec![Seller {
            vendor: "toy".to_owned(),
            region: "here".to_owned(),
            is_named: false,
        }],
        machine,
        own: None,
        volumes: 1..=MOST,
        durable: true,
        horizon: Nanos::from_secs(86_400),
        discount: 0.0,
        only: None,
        at_least: false,
        remarks: Vec::new(),
    }
}

fn asked(catalog: &Catalog, question: &Question) -> Advice {
    let market = Market::new(catalog, question).expect("machines");
    let mut judge = |_: &_, _: &_| Ok::<_, ()>(Vec::new());
    advise(&market, question, &mut judge).expect("nothing fails")
}

fn cheapest(catalog: &Catalog, question: &Question) -> Option<Finalist> {
    let market = Market::new(catalog, question).expect("machines");
    market.cheapest(question)
}

/// What the cheapest costs; infinite where nothing carries it.
fn price(catalog: &Catalog, question: &Question) -> f64 {
    let best = cheapest(catalog, question).and_then(|best| best.candidate.per_month);
    best.unwrap_or(f64::INFINITY)
}

/// One of everything that can be bought.
struct Bought {
    address: String,
    spec: DeviceSpec,
    per_month: f64,
}

/// Everything that is sold, on every machine and alone, the cheapest first.
static ALL: LazyLock<[Vec<Bought>; 2]> = LazyLock::new(|| {
    let machines = ["m1", "m2", "m3", "m4", "m5"].map(|name| Some(format!("toy/{name}")));
    [everything(&[None]), everything(&machines)]
});

fn everything(machines: &[Option<String>]) -> Vec<Bought> {
    let mut all = Vec::new();
    for offer in offers() {
        for machine in machines {
            let offer = Offer {
                instance: machine.clone(),
                ..offer.clone()
            };
            let resolved = resolve(&Address::Sold(offer), &CATALOG);
            all.extend(resolved.ok().and_then(bought));
        }
    }
    assert!(all.len() > 900, "{}", all.len());
    all.sort_by(|a, b| a.per_month.total_cmp(&b.per_month));
    all
}

fn bought(resolved: Resolved) -> Option<Bought> {
    Some(Bought {
        address: resolved.address.to_string(),
        per_month: resolved.per_month()?,
        spec: resolved.spec,
    })
}

/// Every size, every provisioned figure, every number of volumes; what is not sold is refused later.
fn offers() -> Vec<Offer> {
    let with_none = |figures: RangeInclusive<u64>| {
        std::iter::once(None)
            .chain(figures.map(Some))
            .collect::<Vec<_>>()
    };
    let mut all = Vec::new();
    for (kind, most_iops, most_throughput) in [
        ("toy/given", 12, 6),
        ("toy/sold", 12, 0),
        ("toy/sized", 0, 0),
        ("toy/tiers", 0, 0),
    ] {
        for gib in 1..=8 {
            for iops in with_none(1..=most_iops) {
                for throughput in with_none(1..=most_throughput) {
                    all.extend((1..=MOST).map(|count| Offer {
                        count: NonZeroU32::new(count),
                        volume: kind.to_owned(),
                        size: Some(Bytes(gib << 30)),
                        iops,
                        throughput,
                        ..Offer::default()
                    }));
                }
            }
        }
    }
    all
}

/// Whether a device does what is needed when every bucket is empty, by its prediction under a load
/// that asks for all that it has.
fn carries(spec: &DeviceSpec, need: &Need) -> bool {
    let holds: u64 = spec.volumes.iter().map(|volume| volume.capacity.0).sum();
    let most = |load: Load| {
        let load = Load {
            in_flight: 100_000,
            ..load
        };
        predict(spec, load).expect("a device").sustained().iops
    };
    let mut random = need.random().into_iter();
    let mut large = need.streams().into_iter();
    holds >= need.capacity.0
        && (need.iops == 0.0 || random.all(|load| most(load) >= need.iops * (1.0 - 1e-6)))
        && (need.bytes_per_s == 0.0
            || large.all(|load| most(load) * LARGE.as_f64() >= need.bytes_per_s * (1.0 - 1e-6)))
}

fn one_of<T: Copy>(chance: &mut Stream, all: &[T]) -> T {
    all[(chance.next_u64() % all.len() as u64) as usize]
}

fn need(chance: &mut Stream) -> Need {
    let up_to = |chance: &mut Stream, most: u64| 1 + chance.next_u64() % most;
    let capacity = Bytes(up_to(chance, 20) << 30);
    let is_small = chance.next_u64().is_multiple_of(2);
    let most = if is_small { 12 } else { 45 };
    let mut need = Need::new(capacity);
    if !chance.next_u64().is_multiple_of(4) {
        need.iops = up_to(chance, most) as f64;
    }
    if !chance.next_u64().is_multiple_of(3) {
        need.bytes_per_s = up_to(chance, most) as f64 * 5e5;
    }
    need.block = one_of(
        chance,
        &[4 << 10, 16 << 10, 256 << 10, 384 << 10, 1 << 20].map(Bytes),
    );
    need.read_percent = one_of(chance, &[None, Some(0), Some(30), Some(70), Some(100)]);
    need
}

fn check(machine: Option<Hosts>, all: &[Bought], seed: u64) {
    let mut chance = Stream::new(seed, "needs", 0);
    let mut possible = 0;
    for _ in 0..200 {
        let need = need(&mut chance);
        let tried = all.iter().find(|one| carries(&one.spec, &need));
        let found = cheapest(&CATALOG, &question(need, machine.clone()));
        match (tried, found) {
            (None, None) => (),
            (Some(tried), Some(found)) => {
                possible += 1;
                let price = found.candidate.per_month.expect("a price");
                let address = found.candidate.address();
                let both = format!(
                    "{need:?}: {address} {price}, {} {}",
                    tried.address, tried.per_month
                );
                assert!((price - tried.per_month).abs() < 1e-6, "{both}");
                let again = resolve_text(&address, &CATALOG).expect("an address");
                assert!(carries(&again.spec, &need), "{both}");
                assert!(
                    (again.per_month().expect("a price") - price).abs() < 1e-6,
                    "{both}"
                );
            }
            (tried, found) => panic!(
                "{need:?}: {:?} by trying, {:?} by the search",
                tried.map(|one| &one.address),
                found.map(|one| one.candidate.address())
            ),
        }
    }
    assert!(
        (80..200).contains(&possible),
        "{possible} needs are possible"
    );
}

/// What a limit of a machine refused is refused by the whole device too, and what is impossible is
/// said to be.
#[test]
fn refusals_hold() {
    let mut chance = Stream::new(SEED, "refused", 0);
    let mut refused = 0;
    for _ in 0..8 {
        let need = need(&mut chance);
        let advice = asked(&CATALOG, &question(need, Some(Hosts::default())));
        assert_eq!(
            advice.impossible.is_some(),
            advice.chosen[0].finalist.is_none()
        );
        refused += refusals(&advice, &need);
    }
    assert!(refused > 0, "{refused}");
}

/// The story: gp3 is sold up to 65,536 GiB, and "the nearest that is possible" was 65,533: the search
/// by halves ended before it was there.
#[test]
fn one_step_beyond_the_nearest_nothing_is_possible() {
    let mut chance = Stream::new(SEED, "nearest", 0);
    let mut seen = 0;
    for _ in 0..80 {
        let need = need(&mut chance);
        let question = question(need, None);
        let advice = asked(&CATALOG, &question);
        for nearest in advice.impossible.iter().flat_map(|none| &none.nearest) {
            let with = |value: f64| match nearest.part {
                Wanted::Capacity => Need {
                    capacity: Bytes(value as u64),
                    ..need
                },
                Wanted::Iops => Need {
                    iops: value,
                    ..need
                },
                Wanted::Throughput => Need {
                    bytes_per_s: value,
                    ..need
                },
                Wanted::P99 => panic!("no need of this test has a p99"),
            };
            let step = match nearest.part {
                Wanted::Capacity => Bytes::GIB.as_f64(),
                Wanted::Iops => 1.0,
                Wanted::Throughput | Wanted::P99 => 1e4,
            };
            let is_possible = |need: &Need| ALL[0].iter().any(|one| carries(&one.spec, need));
            let more = with(nearest.possible + step);
            assert!(
                is_possible(&with(nearest.possible)),
                "{need:?}: {nearest:?}"
            );
            assert!(!is_possible(&more), "{need:?}: {nearest:?}");
            seen += 1;
        }
    }
    assert!(seen > 10, "{seen}");
}

fn refusals(advice: &Advice, need: &Need) -> usize {
    let mut seen = 0;
    for refused in &advice.refused {
        if let Reason::Machine { limit } = &refused.reason {
            let device = resolve_text(&refused.address, &CATALOG).expect("an address");
            assert!(
                !carries(&device.spec, need),
                "{need:?}: {} {limit}",
                refused.address
            );
            seen += 1;
        }
    }
    seen
}

#[test]
fn volumes_alone_cost_what_trying_everything_finds() {
    check(None, &ALL[0], SEED);
}

#[test]
fn volumes_on_machines_cost_what_trying_everything_finds() {
    check(Some(Hosts::default()), &ALL[1], SEED + 1);
}

#[test]
fn more_of_a_need_never_costs_less() {
    let mut chance = Stream::new(SEED, "more", 0);
    let cost = |need: Need| price(&CATALOG, &question(need, Some(Hosts::default())));
    for _ in 0..25 {
        let need = need(&mut chance);
        let before = cost(need);
        for more in [
            Need {
                capacity: Bytes(need.capacity.0 + Bytes::GIB.0),
                ..need
            },
            Need {
                iops: need.iops + 1.0,
                ..need
            },
            Need {
                bytes_per_s: need.bytes_per_s + 4e5,
                ..need
            },
            Need {
                read_percent: None,
                ..need
            },
        ] {
            // A mix may be easier on a machine with budgets of its own for reads and writes than
            // either direction by itself, and never harder.
            assert!(cost(more) >= before - 1e-9, "{need:?} {before}, {more:?}");
        }
    }
}

/// The toy vendor with other rows, in a folder of its own.
fn changed(change: impl Fn(&str) -> String) -> Catalog {
    let text = std::fs::read_to_string(folder().join("own.txt")).expect("the toy vendor");
    let place = tempfile::tempdir().expect("a folder");
    std::fs::write(place.path().join("own.txt"), change(&text)).expect("written");
    Catalog::load(place.path()).expect("a vendor")
}

#[test]
fn a_lower_price_list_never_gives_a_dearer_answer() {
    let lower = changed(|text| {
        text.replace(",0,,1.20,", ",0,,0.90,")
            .replace("toy/m3,0.006", "toy/m3,0.002")
            .replace(",2,,0.70,", ",2,,0.10,")
    });
    let mut chance = Stream::new(SEED, "lower", 0);
    let mut lowered = 0;
    for _ in 0..50 {
        let question = question(need(&mut chance), Some(Hosts::default()));
        let [before, after] = [&CATALOG, &lower].map(|catalog| price(catalog, &question));
        assert!(after <= before, "{:?}", question.need);
        lowered += usize::from(after < before);
    }
    assert!(lowered > 5, "{lowered} became cheaper");
}

#[test]
fn an_offer_that_is_worse_in_all_changes_nothing() {
    let more = changed(|text| {
        text.replace(
            "toy/m5,8,64,4,,,,,,toy",
            "toy/m5,8,64,4,,,,,,toy\ntoy/m0,8,64,4,,,,,,toy",
        )
        .replace(
            "toy/m5,,,,remote,,all,60,40,MB/s,,,toy",
            "toy/m5,,,,remote,,all,60,40,MB/s,,,toy\ntoy/m0,,,,remote,,all,5,3,MB/s,,,toy",
        )
        .replace("toy/m5,0.05", "toy/m5,0.05\ntoy/m0,0.9")
    });
    let mut chance = Stream::new(SEED, "worse", 0);
    for _ in 0..25 {
        let question = question(need(&mut chance), Some(Hosts::default()));
        let address = |catalog| cheapest(catalog, &question).map(|one| one.candidate.address());
        assert_eq!(address(&CATALOG), address(&more), "{:?}", question.need);
    }
}
