//! Answers that stay: five needs with the prices of a day, as a search by another program gave them.

use std::path::Path;
use std::sync::LazyLock;

use blocklab_advice::{
    Advice, Choice, Finalist, Market, Need, Question, Reason, Seller, Simulated, Start, Verdict,
    Wanted, advise, migration, promised,
};
use blocklab_catalog::{Catalog, Hosts, resolve_text};
use blocklab_units::{Bytes, Nanos};

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/frozen"));
    Catalog::load(folder).expect("prices")
});

fn question(need: &str, (vcpus, gib): (u32, u64)) -> Question {
    Question {
        need: need.parse().expect("a need"),
        sellers: vec![Seller {
            vendor: "aws".to_owned(),
            region: "us-east-1".to_owned(),
            is_named: false,
        }],
        machine: Some(Hosts {
            vcpus,
            memory: Bytes(gib << 30),
            ..Hosts::default()
        }),
        own: None,
        volumes: 1..=28,
        durable: true,
        horizon: Nanos::from_secs(86_400),
        discount: 0.0,
        only: None,
        at_least: false,
        remarks: Vec::new(),
    }
}

#[track_caller]
fn check(need: &str, machine: (u32, u64), address: &str, per_month: f64) {
    let question = question(need, machine);
    let market = Market::new(&CATALOG, &question).expect("machines");
    let best = market.cheapest(&question).expect("something carries it");
    assert_eq!(best.candidate.address(), address);
    let price = best.candidate.per_month.expect("a price");
    assert!((price - per_month).abs() < 0.5, "{address}: {price}");
    // One volume is among the numbers that were tried.
    let alone = market.cheapest(&question.without_striping());
    assert!(alone.is_none_or(|one| one.candidate.per_month >= best.candidate.per_month));
}

/// The advice on a question whose answers are not simulated.
fn advised(question: &Question) -> Advice {
    let market = Market::new(&CATALOG, question).expect("a machine");
    let mut judge = |_: &_, _: &_| Ok::<_, ()>(Vec::new());
    advise(&market, question, &mut judge).expect("nothing fails")
}

#[test]
fn the_cheapest_volumes_carry_five_needs() {
    // Of equal prices the fewest volumes: one, two and four of gp3 would cost the same.
    let one = "gp3:500GiB@c6g.xlarge";
    check("500GiB,3000iops,125MiB/s", (2, 8), one, 139.0);
    // Two include what one has to buy.
    let two = "2xgp3:500GiB@r5b.xlarge";
    check("1000GiB,6000iops,250MiB/s", (4, 32), two, 298.0);
    let eight = "8xgp3:250GiB@m8gb.2xlarge";
    check("2000GiB,20000iops,800MiB/s", (8, 32), eight, 585.0);
    let twenty = "20xgp3:500GiB@m8gb.4xlarge";
    check("10000GiB,60000iops,2000MiB/s", (16, 64), twenty, 1650.0);
    // st1 would need 10 TiB for 400 MiB/s that last.
    let no_hard_disk = "4xgp3:1000GiB@c8gb.xlarge";
    check("4000GiB,500iops,400MiB/s", (2, 8), no_hard_disk, 493.0);
}

/// The story: r5.xlarge is of a previous generation by now, and whoever has one was told that nothing
/// carries anything on it.
#[test]
fn a_machine_that_one_has_may_be_old() {
    let mut question = question("140GiB,6000iops,125MiB/s", (4, 32));
    question.own = Some("r5.xlarge".to_owned());
    question.volumes = 1..=1;
    let advice = advised(&question);
    let own = advice.chosen.last().expect("the own machine");
    assert_eq!(own.choice, Choice::OnOwnMachine);
    let address = own.address().expect("something carries it");
    assert_eq!(address, "gp3:140GiB,iops=6000@r5.xlarge");
}

/// st1 of 2 TiB has 80 MiB/s for ever and 2 TiB of credits, by measurements 2^30 / 10^9 times as much of
/// both. At 500 MiB/s they last an hour and a half: they count over an hour and not over a day, and
/// the answer says when they end.
#[test]
fn credits_count_over_the_horizon() {
    let over = |hours: u64| {
        let mut question = question("2TiB,500MiB/s", (8, 32));
        question.volumes = 1..=1;
        question.horizon = Nanos::from_secs(hours * 3600);
        question.need.lasts = Some(question.horizon);
        let market = Market::new(&CATALOG, &question).expect("machines");
        market.cheapest(&question).expect("something carries it")
    };
    let hour = over(1);
    assert_eq!(hour.candidate.kind, "st1");
    let lasts: Vec<f64> = hour.courses.iter().filter_map(|one| one.lasts_s).collect();
    let least = lasts.iter().copied().fold(f64::INFINITY, f64::min);
    let measured = Bytes::GIB.as_f64() / 1e9;
    let [credits, baseline] = [2_097_152.0 * measured, 80.0 * measured];
    assert!(
        (least - credits / (500.0 - baseline)).abs() < 1.0,
        "{lasts:?}"
    );
    assert!((hour.courses[0].share_at_last - baseline / 500.0).abs() < 1e-6);
    let day = over(24);
    assert_eq!(day.candidate.kind, "gp3");
    assert!(!day.courses.is_empty());
    assert!(day.courses.iter().all(|one| one.lasts_s.is_none()));
}

/// A simulation of a finalist that ended with this verdict.
fn simulated(finalist: &Finalist, start: Start, verdict: Verdict) -> Simulated {
    Simulated {
        address: finalist.candidate.address(),
        start,
        verdict,
        why: Vec::new(),
        p99_ns: None,
        simulated_ns: 0,
        operations: 0,
    }
}

/// The advice on disks of a machine with two processors, when the first `failing` simulations fail.
fn advice_on_disks(failing: usize) -> Advice {
    advice_where(|number| number <= failing)
}

/// The advice on disks of a machine with two processors, when simulations of these numbers, counted from 1,
/// fail.
fn advice_where(fails: impl Fn(usize) -> bool) -> Advice {
    // The p99 is shorter than that of any volume.
    let mut question = question("100GiB,8000iops,p99=200us", (2, 0));
    question.durable = false;
    question.own = Some("m9gd.large".to_owned());
    let market = Market::new(&CATALOG, &question).expect("machines");
    let mut tried = 0;
    let mut judge = |finalist: &Finalist, _: &Need| {
        tried += 1;
        let verdict = if fails(tried) {
            Verdict::Fails
        } else {
            Verdict::Carries
        };
        Ok::<_, ()>(vec![simulated(finalist, Start::Full, verdict)])
    };
    advise(&market, &question, &mut judge).expect("nothing fails")
}

/// The story: the disks of all machines were taken for the same volumes, so when those of two machines
/// had failed in their simulation, those of no other machine were simulated: "nothing carries".
#[test]
fn the_disks_of_every_machine_are_simulated() {
    let advice = advice_on_disks(3);
    let best = &advice.chosen[0];
    let finalist = best.finalist.as_ref().expect("the fourth machine");
    assert!(finalist.candidate.is_lost_at_stop);
    assert_eq!(best.passed_over.len(), 3);
}

/// The story: what was cheaper than the answer and had failed in its simulation was shown as refused for
/// burst credits and for the generation of its machine as well.
#[test]
fn what_failed_in_its_simulation_is_refused_for_that_alone() {
    let advice = advice_on_disks(1);
    let failed = &advice.chosen[0].passed_over[0].address;
    let others = advice.refused.iter().filter(|one| one.address == *failed);
    let reasons: Vec<&Reason> = others.map(|one| &one.reason).collect();
    assert!(
        matches!(reasons[..], [Reason::Simulation { .. }]),
        "{reasons:?}"
    );
}

/// The story: the simulation of a neighbour in price, with full buckets alone as burst credits counted,
/// was taken for that of the same volume in the answer without burst credits.
#[test]
fn an_answer_without_burst_credits_is_simulated_with_empty_buckets_as_well() {
    // sc1 carries it by its credits, the next in price is st1, and st1 carries it for ever.
    let mut question = question("6TiB,240MB/s", (0, 0));
    question.machine = None;
    question.volumes = 1..=1;
    question.horizon = Nanos::from_secs(600);
    question.need.lasts = Some(question.horizon);
    let market = Market::new(&CATALOG, &question).expect("sellers");
    let mut judge = |finalist: &Finalist, need: &Need| {
        let starts = finalist.starts(need).iter();
        let each = starts.map(|start| simulated(finalist, *start, Verdict::Carries));
        Ok::<_, ()>(each.collect())
    };
    let advice = advise(&market, &question, &mut judge).expect("nothing fails");
    let mut chosen = advice.chosen.iter();
    let steady = chosen.find(|one| one.choice == Choice::WithoutBurst);
    let steady = steady.expect("st1");
    assert_eq!(steady.address().as_deref(), Some("st1:6TiB"));
    let starts: Vec<Start> = steady.simulated.iter().map(|one| one.start).collect();
    assert_eq!(starts, [Start::Empty, Start::Full]);
}

/// The story: 10,000 IOPS for ten minutes, which a t3.large gives by its burst credits, were named as too
/// much by themselves where only the capacity was.
#[test]
fn what_burst_credits_carry_is_not_too_much_by_itself() {
    let mut question = question("1000TiB,10000iops", (0, 0));
    question.only = Some("t3.large".to_owned());
    question.volumes = 1..=1;
    question.horizon = Nanos::from_secs(600);
    question.need.lasts = Some(question.horizon);
    let advice = advised(&question);
    let impossible = advice.impossible.expect("no volume is as large");
    assert_eq!(impossible.alone, [Wanted::Capacity]);
}

/// The story: where burst credits counted, the rate of the burst was shown as that of the baseline: "sc1:
/// throughput credits (baseline), 94.4 MB/s of 208.2 MB/s", of which 31 are the baseline.
#[test]
fn a_burst_that_counts_is_named_as_a_burst() {
    let mut need: Need = "2TiB,90MiB/s".parse().expect("a need");
    let resolved = resolve_text("sc1:2367GiB", &CATALOG).expect("a volume");
    let limits = |need: &Need| -> Vec<String> {
        let margins = need.margins(&resolved.spec).into_iter();
        margins
            .filter_map(|margin| margin.limit.map(|limit| limit.to_string()))
            .collect()
    };
    assert!(limits(&need).contains(&"sc1: throughput credits (baseline)".to_owned()));
    need.lasts = Some(Nanos::from_secs(12 * 3600));
    let counted = limits(&need);
    assert!(
        counted.contains(&"sc1: throughput credits (burst)".to_owned()),
        "{counted:?}"
    );
    assert!(!counted.contains(&"sc1: throughput credits (baseline)".to_owned()));
}

/// The story: with up to eight volumes, those of a few types in every number were all that one search
/// keeps, so the answer lacked st1, which it named for one volume.
#[test]
fn a_migration_names_each_type_for_any_number_of_volumes() {
    let current = resolve_text("gp2:100GiB@m5.xlarge", &CATALOG).expect("a volume");
    let mut question = question("100GiB", (0, 0));
    question.need = promised(&current, question.need);
    question.only = Some("m5.xlarge".to_owned());
    question.machine = Some(Hosts {
        previous: true,
        ..Hosts::default()
    });
    question.volumes = 1..=8;
    let market = Market::new(&CATALOG, &question).expect("the machine");
    let moves = migration(&market, &question, &current).moves;
    let mut addresses = moves.iter().map(|one| &one.address);
    assert!(addresses.any(|one| one.contains("st1:")), "{moves:?}");
}

/// The story: `--arch ARM64` ended in "no machine has 0 vCPUs and 0 B of memory together".
#[test]
fn an_unknown_architecture_is_refused_with_those_that_there_are() {
    let mut question = question("1TiB", (0, 0));
    question.machine = Some(Hosts {
        arch: Some("ARM64".to_owned()),
        ..Hosts::default()
    });
    let refused = Market::new(&CATALOG, &question).map(|_| ());
    let why = refused.expect_err("no such machine").to_string();
    assert!(why.contains("architecture ARM64; there are arm64"), "{why}");
}

/// The story: why nothing on the own machine carries a need was told without the simulation that its disks
/// had failed, so that other volumes seemed to be all there is.
#[test]
fn a_failed_simulation_is_a_reason_against_the_own_machine() {
    let advice = advice_on_disks(usize::MAX);
    let own = advice.chosen.last().expect("the own machine");
    let why = own.why_not.as_deref().expect("a reason");
    assert!(why.starts_with("local@m9gd.large: its simulation"), "{why}");
}

/// The story: a vendor whose limits no document gives was answered with "Too much by itself: capacity".
#[test]
fn what_no_document_describes_makes_no_need_too_much() {
    let mut question = question("1TiB", (0, 0));
    question.machine = None;
    question.volumes = 1..=1;
    question.sellers[0].vendor = "hcloud".to_owned();
    question.sellers[0].region = String::new();
    let advice = advised(&question);
    assert_eq!(advice.impossible, None);
    assert_eq!(advice.lacking.len(), 1, "{:?}", advice.lacking);
}

/// The story: what had failed in its simulation was advised for a tenth more of the need, and JSON had
/// less than nothing as its additional price.
#[test]
fn a_tenth_more_costs_no_less() {
    let advice = advice_on_disks(3);
    let added: Vec<f64> = advice
        .more
        .iter()
        .filter_map(|one| one.added_per_month)
        .collect();
    assert!(
        !added.is_empty() && added.iter().all(|added| *added >= 0.0),
        "{added:?}"
    );
}

/// The story: t2.medium is listed as `i386|x86_64`, which was compared with the architectures of others as
/// a text. No machine but nine old ones had it, and nothing carried a need on one like it.
#[test]
fn a_machine_of_two_architectures_is_like_those_of_either() {
    let only = |arch: &str| Hosts {
        arch: Some(arch.to_owned()),
        ..Hosts::default()
    };
    let names = |wanted: &Hosts| {
        let hosts = CATALOG.hosts("aws", "us-east-1", wanted).into_iter();
        hosts.map(|host| host.name).collect::<Vec<String>>()
    };
    let of_both = names(&only("i386|x86_64"));
    for name in ["t2.medium", "m7i.large"] {
        assert!(of_both.iter().any(|one| one == name), "{name}");
    }
    assert!(!of_both.iter().any(|one| one == "m7g.large"));
    assert!(names(&only("x86_64")).iter().any(|one| one == "t2.medium"));
}

/// The story: what had failed in its simulation was shown as quick enough in the front of price and latency.
#[test]
fn what_failed_in_its_simulation_is_not_enough() {
    let advice = advice_on_disks(3);
    let price = advice.chosen[0].price();
    assert!(advice.front.iter().any(|point| point.per_month < price));
    let mut enough = advice.front.iter().filter(|point| point.is_enough);
    assert!(
        enough.all(|point| point.per_month >= price),
        "{:?}",
        advice.front
    );
}

/// The story: a neighbour in price that failed in its simulation was shown beside the front as enough.
#[test]
fn a_neighbour_that_failed_is_not_beside_the_front() {
    let advice = advice_where(|number| number > 1);
    assert_eq!(advice.neighbours.len(), 2);
    assert_eq!(advice.beside, []);
}

/// The story: no more were counted than a search keeps, so 24 was the number of all that has a burst.
#[test]
fn all_that_is_refused_is_counted() {
    let mut question = question("100GiB,40000iops", (2, 0));
    question.volumes = 1..=1;
    let advice = advised(&question);
    let mut refused = advice.refused.iter();
    let burst = refused.find(|one| one.reason == Reason::Burst);
    let count = burst.expect("machines with credits").count;
    assert!(count > 100, "{count}");
}
