//! `blocklab advise` compared with trying everything that is sold, by what the command line prints
//! alone: `catalog list --json` has the machines, `catalog show --json` what each volume on each of
//! them reaches and costs, and `run --target sim:` whether the winner carries the need. A file of its
//! own: no code of the search takes part, nor of the catalog. The last test is about the need of a run.
//!
//! What is tried is not cut by the rules that the search uses:
//!
//! - Of a type, every size and every provisioned figure is a candidate at which some rule of the
//!   vendor just holds, and one step less of each. A price grows with each figure, so the cheapest
//!   that is enough is among them; one step less shows that nothing below it is.
//! - Volumes that carry the need neither by themselves nor on the machine that grants most carry it on no
//!   machine: io2 is another type on newer ones.
//! - A pair costs what its parts cost, so pairs are tried from the cheapest one up to the first that
//!   carries the need.

use std::collections::BTreeMap;

use blocklab_proof::{Lab, Printed, good, json};
use blocklab_random::Stream;
use serde_json::Value;

const SEED: u64 = 20_261_127;

/// Needs that are drawn, and their seed: `BLOCKLAB_NEEDS=200 BLOCKLAB_SEED=1` draws others.
const NEEDS: u64 = 12;

const HOURS: f64 = 730.0;

/// Addresses that are shown at once.
const BATCH: usize = 250;

/// The cheapest of a type and a number that are tried on machines: one, and others that show that a
/// machine treats them alike.
const OF_A_TYPE: usize = 2;

/// Sizes of operations that `catalog show` shows, in KiB.
const BLOCKS: [u64; 3] = [4, 16, 64];

#[derive(Debug)]
struct Need {
    gib: u64,
    iops: u64,
    kib: u64,
    mib_per_s: u64,
    /// `None`: whichever direction is slower.
    read: Option<u64>,
    vcpus: u64,
    memory_gib: u64,
    volumes: u64,
}

impl Need {
    fn drawn(chance: &mut Stream) -> Self {
        let reads = [None, Some(100), Some(0), Some(70)];
        let small = chance.next_u64().is_multiple_of(2);
        let (gib, iops, mib) = if small {
            (800, 4_000, 150)
        } else {
            (6_000, 60_000, 1_500)
        };
        Self {
            gib: 1 + chance.next_u64() % gib,
            iops: 1 + chance.next_u64() % iops,
            kib: one_of(chance, &BLOCKS),
            mib_per_s: chance.next_u64() % 2 * (1 + chance.next_u64() % mib),
            read: one_of(chance, &reads),
            vcpus: one_of(chance, &[1, 2, 4, 16]),
            memory_gib: one_of(chance, &[1, 8, 32]),
            volumes: one_of(chance, &[1, 1, 2, 4]),
        }
    }

    fn text(&self) -> String {
        let read = self.read.map(|read| format!(",read={read}"));
        format!(
            "capacity={}GiB,iops={},block={}KiB,throughput={}MiB/s{}",
            self.gib,
            self.iops,
            self.kib,
            self.mib_per_s,
            read.unwrap_or_default()
        )
    }

    /// Whether what `catalog show` says an address reaches for ever is enough. The operations of a mix
    /// share one budget on every type that is tried, so both directions must reach them.
    fn is_met(&self, sheet: &Value) -> bool {
        let reaches = || {
            list(&sheet["reaches"]).filter(|reach| match self.read {
                Some(100) => reach["direction"] == "read",
                Some(0) => reach["direction"] == "write",
                _ => true,
            })
        };
        let least = |block: u64, pattern: &str| {
            let rates = reaches()
                .filter(|reach| reach["block_bytes"] == block && reach["pattern"] == pattern)
                .map(last_iops);
            rates.reduce(f64::min)
        };
        // Only disks that seek are shown in order too.
        let large = least(1 << 20, "sequential").or_else(|| least(1 << 20, "random"));
        is_enough(least(self.kib << 10, "random"), self.iops) && is_enough(large, self.mib_per_s)
    }

    /// The volumes that may be bought: the figures at which a rule of the vendor just holds.
    fn volumes(&self) -> Vec<String> {
        let mut all = Vec::new();
        for count in 1..=self.volumes {
            let gib = self.gib.div_ceil(count);
            let mib = self.mib_per_s.max((self.iops * self.kib).div_ceil(1024));
            let mib = mib.div_ceil(count);
            // A large operation counts as one of each 256 KiB.
            let iops = self.iops.div_ceil(count).max(4 * mib).max(100);
            let times = if count == 1 {
                String::new()
            } else {
                format!("{count}x")
            };
            let random = self.iops.div_ceil(count);
            for (kind, sizes) in [
                ("gp2", vec![gib, iops.div_ceil(3), 170, 171, 334]),
                // A random operation of any size costs a hard disk 1 MiB.
                ("st1", vec![gib, at_rate(random.max(mib), 40), 125]),
                ("sc1", vec![gib, at_rate(random.max(mib), 12), 125]),
            ] {
                let sizes = with_one_less(&sizes)
                    .into_iter()
                    .filter(|size| *size >= gib);
                all.extend(sizes.map(|size| format!("{times}{kind}:{size}GiB")));
            }
            for (kind, per_gib, least) in [
                ("gp3", 500, 1),
                ("io1", 50, 4),
                ("io2", 1000, 4),
                ("io2", 500, 4),
            ] {
                let rates = if kind == "gp3" {
                    vec![iops]
                } else {
                    let by_bytes = (mib as f64 / 0.256).ceil() as u64;
                    vec![iops, by_bytes, 64 * mib, 32_000, 32_001]
                };
                for rate in with_one_less(&rates)
                    .into_iter()
                    .filter(|rate| *rate >= random)
                {
                    let sizes = with_one_less(&[gib, rate.div_ceil(per_gib), least]);
                    for size in sizes.into_iter().filter(|size| *size >= gib) {
                        let volume = format!("{times}{kind}:{size}GiB,iops={rate}");
                        if kind == "gp3" {
                            let bytes = with_one_less(&[mib]).into_iter().filter(|one| *one > 125);
                            all.extend(
                                bytes
                                    .clone()
                                    .map(|mib| format!("{times}gp3:{size}GiB,throughput={mib}")),
                            );
                            all.extend(bytes.map(|mib| format!("{volume},throughput={mib}")));
                            all.push(format!("{times}gp3:{size}GiB"));
                        }
                        all.push(volume);
                    }
                }
            }
        }
        all.sort();
        all.dedup();
        all
    }
}

fn one_of<T: Copy>(chance: &mut Stream, all: &[T]) -> T {
    all[(chance.next_u64() % all.len() as u64) as usize]
}

/// The size in GiB at which a hard disk sustains this many MiB/s, of which each 1,024 x 10^9 bytes bring
/// `each`.
fn at_rate(mib: u64, each: u64) -> u64 {
    (mib * 1024 * 1_000_000_000).div_ceil(each << 30)
}

fn with_one_less(figures: &[u64]) -> Vec<u64> {
    let mut all: Vec<u64> = figures.iter().flat_map(|one| [*one, one - 1]).collect();
    all.retain(|one| *one > 0);
    all.sort_unstable();
    all.dedup();
    all
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// What nothing is known of is not enough.
fn is_enough(rate: Option<f64>, needed: u64) -> bool {
    rate.is_some_and(|rate| rate >= needed as f64 * (1.0 - 1e-9))
}

/// What is left for ever.
fn last_iops(reach: &Value) -> f64 {
    let phase = list(&reach["phases"]).last();
    phase
        .and_then(|phase| phase["iops"].as_f64())
        .unwrap_or(0.0)
}

/// What `catalog show` prints of some addresses; those that are not sold are left out.
fn shown(lab: &Lab, addresses: &[String]) -> Vec<Value> {
    let mut sheets = Vec::new();
    for batch in addresses.chunks(BATCH) {
        let words = ["catalog", "show", "--json"].into_iter();
        let said: Printed = lab.blocklab(words.chain(batch.iter().map(String::as_str)));
        assert!(said.code == Some(0) || !said.err.is_empty(), "{}", said.err);
        let objects = serde_json::Deserializer::from_str(&said.out).into_iter::<Value>();
        sheets.extend(objects.map(|object| object.expect("JSON")));
    }
    sheets
}

fn address(sheet: &Value) -> &str {
    sheet["address"].as_str().expect("an address")
}

/// A machine of the list, with what a month of it costs.
struct Machine {
    name: String,
    per_month: f64,
    vcpus: u64,
    memory_mib: u64,
    mb_per_s: f64,
}

/// Those whose limits are documented: `catalog show` gives the others the limits of their volumes, and
/// nobody knows what they would really do.
fn machines(lab: &Lab) -> Vec<Machine> {
    let listed = json(&good(lab.blocklab(["catalog", "list", "--json"])));
    let documented = list(&listed["types"])
        .filter(|one| one["ebs_base_iops"].is_f64() && one["ebs_base_mb_per_s"].is_f64());
    let machines = documented.filter_map(|one| {
        Some(Machine {
            name: one["name"].as_str()?.to_owned(),
            per_month: one["usd_per_hour"].as_f64()? * HOURS,
            vcpus: one["vcpus"].as_u64()?,
            memory_mib: one["memory_mib"].as_u64()?,
            mb_per_s: one["ebs_base_mb_per_s"].as_f64()?,
        })
    });
    machines.collect()
}

/// The cheapest that carries a need, by trying; its price is infinite where nothing does.
fn tried(lab: &Lab, need: &Need, machines: &[Machine]) -> (f64, String) {
    let strongest = machines
        .iter()
        .max_by(|a, b| a.mb_per_s.total_cmp(&b.mb_per_s));
    let mut of_type: BTreeMap<(bool, String), Vec<(f64, String)>> = BTreeMap::new();
    for host in [None, strongest] {
        let on = host.map_or_else(String::new, |host| format!("@{}", host.name));
        let volumes = need.volumes();
        let attached: Vec<String> = volumes.iter().map(|one| format!("{one}{on}")).collect();
        for sheet in shown(lab, &attached) {
            let Some(price) = sheet["usd_per_month"].as_f64() else {
                continue;
            };
            if !need.is_met(&sheet) {
                continue;
            }
            let volume = address(&sheet).trim_end_matches(&on).to_owned();
            let kind = volume.split(':').next().expect("a type").to_owned();
            let price = price - host.map_or(0.0, |host| host.per_month);
            let found = of_type.entry((host.is_some(), kind)).or_default();
            found.push((price, volume));
        }
    }
    let mut pairs = Vec::new();
    for volumes in of_type.values_mut() {
        volumes.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (price, volume) in volumes.iter().take(OF_A_TYPE) {
            let wanted = machines.iter().filter(|machine| {
                machine.vcpus >= need.vcpus && machine.memory_mib >= need.memory_gib << 10
            });
            pairs.extend(wanted.map(|machine| {
                (
                    price + machine.per_month,
                    format!("{volume}@{}", machine.name),
                )
            }));
        }
    }
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    for batch in pairs.chunks(BATCH) {
        let addresses: Vec<String> = batch.iter().map(|(_, address)| address.clone()).collect();
        let sheets = shown(lab, &addresses).into_iter();
        let carrying = sheets.filter(|sheet| need.is_met(sheet)).map(|sheet| {
            let price = sheet["usd_per_month"].as_f64().expect("a price");
            (price, address(&sheet).to_owned())
        });
        if let Some(best) = carrying.min_by(|a, b| a.0.total_cmp(&b.0)) {
            return best;
        }
    }
    (f64::INFINITY, "nothing".to_owned())
}

fn advised(lab: &Lab, need: &Need) -> (f64, String) {
    let words = format!(
        "advise --previous --no-simulation --json --vcpu {} --memory {}GiB --volumes 1..{} --need {}",
        need.vcpus,
        need.memory_gib,
        need.volumes,
        need.text()
    );
    let answer = json(&good(lab.blocklab(words.split_whitespace())));
    let best = &answer["chosen"][0];
    let price = best["per_month"].as_f64().unwrap_or(f64::INFINITY);
    (
        price,
        best["address"].as_str().unwrap_or("nothing").to_owned(),
    )
}

/// Runs the random part of a need on an address, and reads from the Record what was delivered.
fn runs(lab: &Lab, need: &Need, address: &str) {
    let reads: Vec<u64> = need.read.map_or_else(|| vec![100, 0], |read| vec![read]);
    for read in reads {
        let kind = match read {
            100 => "randread".to_owned(),
            0 => "randwrite".to_owned(),
            mix => format!("randrw --mix {mix}"),
        };
        let words = format!(
            "run --rw {kind} --bs {}KiB --rate {} --arrivals fixed --runtime 2s \
             --repeat 1 --target sim:{address} --json",
            need.kib, need.iops
        );
        // Progress goes to standard error.
        let ran = lab.blocklab(words.split_whitespace());
        assert_eq!(ran.code, Some(0), "{need:?}: {address}: {}", ran.err);
        let record = json(&ran.out);
        let rates = list(&record["rows"]).filter_map(|row| row["iops"]["value"].as_f64());
        let done: f64 = rates.sum();
        assert!(
            done >= need.iops as f64 * 0.98,
            "{need:?}: {address} delivers {done}"
        );
    }
}

fn drawn(name: &str, usual: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(usual, |text| text.parse().expect("a number"))
}

#[test]
fn the_cheapest_is_what_trying_everything_finds() {
    let lab = Lab::new();
    let machines = machines(&lab);
    assert!(machines.len() > 900, "{}", machines.len());
    let mut chance = Stream::new(drawn("BLOCKLAB_SEED", SEED), "needs", 0);
    let (needs, mut possible) = (drawn("BLOCKLAB_NEEDS", NEEDS), 0);
    let mut wrong = Vec::new();
    for _ in 0..needs {
        let need = Need::drawn(&mut chance);
        let (tried, found) = (tried(&lab, &need, &machines), advised(&lab, &need));
        if tried.0 != found.0 && (tried.0 - found.0).abs() > 0.005 {
            wrong.push(format!(
                "{need:?}: {tried:?} by trying, {found:?} is advised"
            ));
            continue;
        }
        if found.0.is_finite() {
            possible += 1;
            runs(&lab, &need, &found.1);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        possible * 2 > needs,
        "{possible} of {needs} needs are possible"
    );
}

/// Syncs counted as operations that a volume has to provide, and a run at a depth of one was told the rate
/// of an io2 volume as its need, which gp3 carries: one in flight gets a third of it there.
#[test]
fn the_need_of_a_run_is_its_operations_and_their_latency() {
    let lab = Lab::new();
    let run = |line: &str| good(lab.blocklab(line.split_whitespace()));
    run("run -q --rw randwrite --fsync 1 --runtime 2s -t sim:io2:20GiB,iops=9000 --name synced");
    let advice = json(&run("advise --run synced --no-simulation --json"));
    let record = json(&run("show synced --json"));
    let writes = record["rows"][0]["iops"]["value"].as_f64().expect("a rate");
    assert_eq!(
        advice["need"]["iops"].as_f64(),
        Some(writes.floor()),
        "{advice}"
    );
    run("run -q --rw randread --depth 1 --runtime 2s -t sim:io2:20GiB,iops=9000 --name alone");
    let words = run("advise --run alone --no-simulation");
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("Latency bounds its quickest load"),
        "{words}"
    );
    run("run -q --rw randread --depth 64 --runtime 2s -t sim:io2:20GiB,iops=9000 --name deep");
    let words = run("advise --run deep --no-simulation");
    assert!(!words.contains("Latency bounds"), "{words}");
    // A rate that the user names is the need, in whatever way it is written: only `iops` in small letters
    // and `/s` were looked for.
    assert!(words.contains("at least "), "{words}");
    for rate in ["iops=5000", "5000IOPS", "100MB/s"] {
        let named = run(&format!("advise --run deep --need {rate} --no-simulation"));
        assert!(!named.contains("at least "), "{rate}: {named}");
    }
}

/// The story: a log of 3,000 sequential writes of 16 KiB a second needed "49 MB/s" of 1 MiB each, and sc1 was
/// the cheapest that carries it. It did 268 of them: providers merge nothing below 32 KiB.
#[test]
fn small_operations_in_sequence_are_a_need_of_operations() {
    let lab = Lab::new();
    let need = |size: &str| {
        let load =
            format!("run -q --rw write --bs {size} --depth 4 --runtime 5s --name log-{size}");
        good(lab.blocklab(format!("{load} -t sim:gp3:500GiB").split_whitespace()));
        let advise = format!("advise --run log-{size} --no-simulation --json");
        json(&good(lab.blocklab(advise.split_whitespace())))["need"].clone()
    };
    let small = need("16k");
    assert!(small["iops"].as_f64() > Some(2900.0), "{small}");
    assert_eq!(small["block_bytes"].as_u64(), Some(16_384), "{small}");
    let merged = need("32k");
    assert_eq!(merged["iops"].as_f64(), Some(0.0), "{merged}");
}

/// The addresses that an advice moves a volume to, at least one.
#[track_caller]
fn replacements(advice: &Value) -> Vec<String> {
    let address = |one: &Value| one["address"].as_str().map(str::to_owned);
    let found: Vec<String> = list(&advice["migration"]["moves"])
        .filter_map(address)
        .collect();
    assert!(!found.is_empty(), "{advice}");
    found
}

/// The story: the replacements of an Azure disk were searched at AWS, where nothing fits its machine, and
/// a volume of Ireland "saved" 16 USD a month by itself, at the price of Virginia.
#[test]
fn a_volume_in_use_is_replaced_by_its_vendor_in_its_region() {
    let lab = Lab::new();
    let advised = |address: &str| {
        let line = format!("advise --migrate {address} --no-simulation --json");
        json(&good(lab.blocklab(line.split(' '))))
    };
    let azure = replacements(&advised("azure/P30@D8s_v5"));
    assert!(azure[0].starts_with("azure/"), "{azure:?}");
    // The story: `gp3`, which is gp3:1TiB, was to be replaced by gp3:1TiB, and saved 0.00 USD.
    let itself = replacements(&advised("gp3"));
    assert!(!itself.contains(&"gp3:1TiB".to_owned()), "{itself:?}");
    // The story: the discount was on the machine of each replacement and not on that of the volume in use,
    // so that gp2 at 20.48 USD more "saved" 7.55 USD a month.
    let month = |line: &str| {
        advised(line)["migration"]["per_month"]
            .as_f64()
            .expect("a price")
    };
    let (full, paid) = (
        month("gp3:1TiB@m5.large"),
        month("gp3:1TiB@m5.large --instance-discount 40%"),
    );
    assert!(
        (full - paid - 0.4 * 0.096 * 730.0).abs() < 0.01,
        "{full} {paid}"
    );
    let ireland = replacements(&advised("gp3:1TiB,region=eu-west-1@m5.large"));
    let mut addresses = ireland.iter();
    assert!(
        addresses.all(|address| address.contains("region=eu-west-1")),
        "{ireland:?}"
    );
    // The story: where --region named Ireland, and not the address, it did that again.
    let named = replacements(&advised("gp2:500GiB@m5.large --region eu-west-1"));
    let mut addresses = named.iter();
    assert!(
        addresses.all(|address| !address.starts_with("gp2:500GiB")),
        "{named:?}"
    );
}

/// The story: `--vendor aws,aws` listed each volume twice, the first one as the next in price.
#[test]
fn a_vendor_that_is_named_twice_is_searched_once() {
    let lab = Lab::new();
    let advised = |vendors: &str| {
        let line = format!("advise --need 1TiB,3000iops --no-simulation --vendor {vendors}");
        good(lab.blocklab(line.split(' ')))
    };
    assert_eq!(advised("aws,aws"), advised("aws"));
}

/// The story: the answer was that nothing carries the need, "too much by itself: capacity, iops".
#[test]
fn a_vendor_without_the_machine_in_use_is_refused() {
    let line = "advise --migrate gp3:1TiB@m5.large --no-simulation --vendor";
    let lab = Lab::new();
    lab.refused(line.split(' ').chain(["azure"]), &["has no m5.large"]);
    good(lab.blocklab(line.split(' ').chain(["azure,aws"])));
}

/// The story: two options about machines had no effect on a search for a volume alone, and nothing said so.
#[test]
fn options_about_machines_need_one() {
    let lab = Lab::new();
    for option in ["--previous", "--instance-discount=40%"] {
        lab.refused(["advise", "--need", "1TiB", option], &["add --vcpu"]);
    }
}

/// The story: a machine of Azure without its vendor was to be looked up in `catalog list`, which lists the
/// machines of AWS.
#[test]
fn a_machine_that_is_not_known_is_looked_up_where_it_is_listed() {
    let lab = Lab::new();
    for (machine, words) in [
        ("Standard_D4s_v5", "did you mean azure/Standard_D4s_v5?"),
        ("azure/none", "catalog list --vendor azure` shows them"),
        // `--vendor aws or azure` was a part of the command, which takes one vendor.
        (
            "none --vendor azure,hcloud,aws",
            "list --vendor azure` or `blocklab catalog list --vendor aws` shows them",
        ),
        ("none --vendor hcloud", "`catalog list` has none of hcloud"),
    ] {
        let line = format!("advise --need 1TiB --instance {machine}");
        lab.refused(line.split(' '), &[words]);
    }
}

/// The story: `--arch x86_64 --vendor azure` advised a machine with an ARM processor without a word.
#[test]
fn an_architecture_that_no_list_has_is_reported() {
    let lab = Lab::new();
    let advised = |vendor: &str| {
        let line =
            format!("advise --need 1TiB --vcpu 4 --arch x86_64 --vendor {vendor} --no-simulation");
        let words = good(lab.blocklab(line.split_whitespace()));
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let remark = "--arch leaves no machine of azure out";
    assert!(advised("azure").contains(remark));
    assert!(!advised("aws").contains("--arch leaves"));
}
