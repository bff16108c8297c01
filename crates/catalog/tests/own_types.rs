//! A volume type without a line of code: `own-types/own.txt` describes one that nobody sells, and
//! the catalog knows it as it knows its own.

use std::fs;
use std::path::{Path, PathBuf};

use blocklab_catalog::import::{ImportFile, import};
use blocklab_catalog::{Catalog, Per, Resolved, describe, resolve};
use blocklab_device::{Accounting, Origin, Rate};
use blocklab_units::Bytes;
use blocklab_workload::Address;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/own-types")
}

fn catalog() -> Catalog {
    Catalog::load(&folder()).unwrap_or_else(|error| panic!("{error}"))
}

fn found(text: &str) -> Resolved {
    let address = Address::parse(text).expect("an address");
    resolve(&address, &catalog()).unwrap_or_else(|error| panic!("{text}:\n{error}"))
}

#[track_caller]
fn refuse(text: &str, words: &str) {
    let address = Address::parse(text).expect("an address");
    let told = resolve(&address, &catalog()).expect_err(text).to_string();
    assert!(told.contains(words), "{text}:\n{told}");
}

/// 5 IOPS per GiB, at least 150; half a bucket of credits to begin with.
#[test]
fn its_limits_follow_the_rules_that_it_names() {
    let spec = found("xv9:512GiB").spec;
    let volume = &spec.volumes[0];
    let unit = Bytes(512 << 10);
    assert_eq!(volume.accounting, Accounting::Merged { unit });
    let credit = &volume.credits[0];
    assert_eq!(credit.baseline, Rate::Iops(2560.0));
    assert_eq!(credit.burst, Rate::Iops(6000.0));
    assert_eq!((credit.capacity, credit.initial_share), (8_256_000.0, 0.5));
    let source = "guide of a vendor that does not exist, for tests";
    assert_eq!(credit.origin, Origin::documented(source, "2026-01-01"));
    assert_eq!(volume.caps.len(), 1, "{:?}", volume.caps);
    assert_eq!(volume.caps[0].rate, Rate::MibPerS(200.0));
    let service = volume.service.as_ref().expect("latencies");
    assert_eq!(
        (service.read.base.0, service.read.per_kib_ns),
        (400_000, 1500.0)
    );
    assert_eq!(service.spread.sigma, 0.2);
    // Tails are a table of their own: files of users with the old columns are still read.
    assert_eq!(service.spread.tail, None);
    let gp3 = found("gp3:1TiB").spec.volumes[0].service.clone();
    assert!(gp3.is_some_and(|service| service.spread.tail.is_some()));

    let iops = |text: &str| found(text).spec.volumes[0].caps[0].rate;
    assert_eq!(iops("xv9:8TiB"), Rate::Iops(20_000.0), "the cap of today");
    let early = "xv9:8TiB,as-of=2026-05-31";
    assert_eq!(iops(early), Rate::Iops(10_000.0), "the cap of that day");
    let small = &found("xv9:10GiB").spec.volumes[0].credits[0];
    assert_eq!(small.baseline, Rate::Iops(150.0), "the floor");
}

/// The story: the throughput that comes with a volume was cut to whole MiB/s, and the unit of its
/// operations to whole KiB, so that one of 512 B was none.
#[test]
fn fractions_of_its_figures_count() {
    let own = fs::read_to_string(folder().join("own.txt")).expect("a file of the tests");
    let own = own.replace("base_throughput,200,", "base_throughput,62.5,");
    let own = own.replace("merged,512,", "merged,0.5,");
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fractions");
    fs::create_dir_all(&place).expect("a folder");
    fs::write(place.join("own.txt"), own).expect("a file");
    let catalog = Catalog::load(&place).unwrap_or_else(|error| panic!("{error}"));
    let address = Address::parse("xv9:512GiB").expect("an address");
    let found = resolve(&address, &catalog).unwrap_or_else(|error| panic!("{error}"));
    let volume = &found.spec.volumes[0];
    assert_eq!(volume.caps[0].rate, Rate::MibPerS(62.5));
    assert_eq!(volume.accounting, Accounting::Merged { unit: Bytes(512) });
}

#[test]
fn it_is_sold_and_refused_in_words() {
    let sold = found("xv9:512GiB,throughput=300@r5d.xlarge").spec;
    assert_eq!(sold.volumes[0].caps[0].rate, Rate::MibPerS(300.0));
    assert!(
        sold.instance
            .is_some_and(|instance| instance.name == "r5d.xlarge")
    );
    refuse(
        "xv9:100GiB,throughput=300",
        "xv9 with 500 IOPS allows at most 250 MiB/s; 0.5 per IOPS, 1,500 at most (today)",
    );
    refuse(
        "xv9:512GiB,throughput=100",
        "xv9 includes 200 MiB/s; throughput= is for more",
    );
    refuse(
        "xv9:512GiB,iops=9000",
        "xv9 has no provisioned iops: 5 IOPS per GiB, so 512 GiB give 2,560; io2 is provisioned",
    );
    refuse(
        "xv9:64TiB",
        "xv9 comes in sizes of 10 GiB to 32 TiB (today)",
    );
    refuse("xv9,as-of=2025-12-31", "xv9 is sold since 2026-01-01");
    // The others speak of it too.
    refuse(
        "io1:1TiB,iops=6000,throughput=300",
        "only gp3 and xv9 sell it",
    );
}

#[test]
fn it_is_listed_and_priced() {
    let catalog = catalog();
    assert!(catalog.volume_types().contains(&"xv9".to_owned()));
    refuse("nothing-like-it", "st1, standard, xv9");
    refuse("xv8", "did you mean xv9?");
    let sheet = describe("xv9:512GiB,throughput=300", &catalog).expect("a sheet");
    // 512 GiB x .09 + (300 - 200) MiB/s x .03
    let month = sheet.usd_per_month.expect("a sum");
    assert!((month - (46.08 + 3.0)).abs() < 1e-9, "{month}");
    // 4,128,000 credits, spent at 6,000 - 2,560 a second.
    assert_eq!(sheet.bursts[0].lasts_s, 1200.0);
    let tokyo = found("xv9:512GiB,throughput=300,region=ap-northeast-1");
    assert_eq!(tokyo.costs.len(), 1, "{:?}", tokyo.costs);
    let note = "no price of xv9 throughput in ap-northeast-1 is known";
    let notes = &tokyo.cost_notes;
    assert!(notes.contains(&note.to_owned()), "{notes:?}");
}

/// What a user wrote stays as it is when something is imported, and a price list with the type in
/// it is understood: what comes with the volume is free there too.
#[test]
fn an_import_knows_it_and_leaves_it_alone() {
    let home = tempfile::tempdir().expect("a folder");
    let own = home.path().join("own.txt");
    let written = fs::read_to_string(folder().join("own.txt")).expect("the fixture");
    fs::write(&own, &written).expect("written");
    let list = home.path().join("list.json");
    let product = r#"{"product": {"productFamily": "Provisioned Throughput", "attributes":
        {"regionCode": "us-east-1", "volumeApiName": "xv9",
         "usagetype": "EBS:VolumeP-Throughput.xv9"}},
        "terms": {"OnDemand": {"T": {"priceDimensions": {"R":
            {"unit": "GiBps-mo", "pricePerUnit": {"USD": "40.96"}}}}}},
        "publicationDate": "2026-11-18T00:00:00Z"}"#;
    fs::write(&list, format!("{{\"PriceList\": [{product}]}}")).expect("written");
    let date = "2026-11-20".parse().expect("a day");
    import(&[ImportFile { path: list, date }], home.path())
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(fs::read_to_string(&own).expect("it is there"), written);
    let catalog = Catalog::load(home.path()).expect("sound");
    let prices = catalog.volume_prices_of("xv9", "us-east-1", None);
    let of_bytes = prices.iter().find(|price| price.per == Per::MibpsMonth);
    let of_bytes = of_bytes.expect("a price of throughput");
    assert_eq!((of_bytes.usd, of_bytes.above), (0.04, 200.0));
    assert_eq!(of_bytes.date.to_string(), "2026-11-18");
}

/// The catalog of the fixture with one of its rows replaced.
fn catalog_with(row: &str, rows: &str) -> Catalog {
    let home = tempfile::tempdir().expect("a folder");
    let written = fs::read_to_string(folder().join("own.txt")).expect("the fixture");
    let text = written.replace(row, rows);
    assert_ne!(text, written, "{row}");
    fs::write(home.path().join("own.txt"), text).expect("written");
    Catalog::load(home.path()).expect("sound")
}

/// The story: a limit that a vendor counted in MiB/s and later in MB/s had the new number with the old
/// unit.
#[test]
fn a_limit_has_the_unit_of_its_own_row() {
    let row = "xv9,max_throughput,1500,MiB/s,2026-01-01,,,xv9-guide";
    let newer = format!("{row}\nxv9,max_throughput,1600,MB/s,2027-01-01,,,xv9-guide");
    let sheet = describe("xv9:512GiB", &catalog_with(row, &newer)).expect("a sheet");
    let most = sheet.limits.iter().find(|limit| limit.value == 1600.0);
    assert_eq!(most.expect("the newer limit").unit, "MB/s");
}

/// The story: a volume that began with more credits than its bucket holds was shown with a burst of that
/// length, and refused where it was simulated.
#[test]
fn a_volume_begins_with_a_full_bucket_at_most() {
    let catalog = catalog_with("initial_credits,4128000,", "initial_credits,9128000,");
    let sheet = describe("xv9:512GiB", &catalog).expect("a sheet");
    // 8,256,000 credits at 6,000 IOPS, of which the baseline earns 2,560.
    assert_eq!(sheet.bursts[0].lasts_s, 2400.0);
}

/// The story: a price was matched with its row by the text of its number, so `0.090` had the remark of
/// another day.
#[test]
fn a_price_has_the_remark_of_its_own_row() {
    let row = "us-east-1,xv9,gib_month,0,,0.09,2026-01-01,,xv9-guide";
    let rows = "us-east-1,xv9,gib_month,0,,0.08,2025-01-01,assumed: a guess,xv9-guide\n\
                us-east-1,xv9,gib_month,0,,0.090,2026-01-01,,xv9-guide";
    let prices = catalog_with(row, rows).volume_prices_of("xv9", "us-east-1", None);
    let storage = prices.iter().find(|price| price.per == Per::GibMonth);
    let storage = storage.expect("a price of storage");
    assert_eq!(storage.usd, 0.09);
    assert!(storage.evidence.is_listed(), "{storage:?}");
}

/// The story: the days on which limits were looked up ended with 2026, whatever the user's own rows said.
#[test]
fn a_limit_that_changes_later_than_all_sources_counts_as_the_newest() {
    let home = tempfile::tempdir().expect("a folder");
    let written = fs::read_to_string(folder().join("own.txt")).expect("the fixture");
    let later = written.replace("2026-06-01", "2031-06-01");
    fs::write(home.path().join("own.txt"), later).expect("written");
    let newest = |catalog: Catalog| catalog.newest_change().expect("a day").to_string();
    assert_eq!(
        newest(Catalog::load(home.path()).expect("sound")),
        "2031-06-01"
    );
    assert!(newest(catalog()).as_str() < "2031");
}

/// The story: limits of one's own for a machine were added to the built-in ones, so that the lower of both
/// held.
#[test]
fn limits_of_a_machine_replace_those_that_are_built_in() {
    let home = tempfile::tempdir().expect("a folder");
    let own = "blocklab catalog 1\n%% sources\nkey,source,date,licence\nmine,notes,2026-11-28,\n\
               %% machine-limits\nmachine,interface,vcpu_from,vcpu_to,group,disks,covers,iops,\
               throughput,unit,burst_iops,burst_throughput,source\n\
               azure/Standard_D8s_v3,,,,uncached,,all,50000,900,MB/s,,,mine\n";
    fs::write(home.path().join("own.txt"), own).expect("written");
    let catalog = Catalog::load(home.path()).expect("sound");
    let address = Address::parse("azure/P60@D8s_v3").expect("an address");
    let found = resolve(&address, &catalog).expect("it is sold");
    let machine = found.spec.instance.expect("a machine");
    let rates: Vec<Rate> = machine.caps.iter().map(|cap| cap.rate).collect();
    assert_eq!(rates, [Rate::Iops(50_000.0), Rate::MbPerS(900.0)]);
    assert_eq!(machine.credits, []);
}

/// A type that lacks a figure is refused where it is read: it must not become a volume of 0 IOPS.
#[test]
fn what_cannot_be_used_is_reported_with_its_line() {
    let sound = fs::read_to_string(folder().join("own.txt")).expect("the fixture");
    let check = |from: &str, to: &str, line: usize, words: &str| {
        let home = tempfile::tempdir().expect("a folder");
        let text = sound.replace(from, to);
        assert_ne!(text, sound, "{from}");
        fs::write(home.path().join("own.txt"), text).expect("written");
        let error = Catalog::load(home.path()).expect_err(words).to_string();
        let place = format!("own.txt: line {line}: ");
        assert!(error.contains(&place) && error.contains(words), "{error}");
    };
    let types = 12;
    check(
        "by-size,inc",
        "by-luck,inc",
        types,
        "`by-luck` is no rule for iops",
    );
    // A price of `NaN` made a sum of `NaN`.
    let unreadable = "a number, a unit or a day cannot be read";
    check(",0.09,", ",NaN,", 36, unreadable);
    check("gib,5,", "gib,-5,", 16, unreadable);
    check(
        "512,xv9,",
        "512,xv8,",
        types,
        "volume-latency has no random of `xv8`",
    );
    check(
        "merged,512",
        "merged,many",
        types,
        "`many` is no number of unit_kib",
    );
    let floor = "xv9,min_iops,150,IOPS,2026-01-01,,,xv9-guide\n";
    check(
        floor,
        "",
        types,
        "xv9 needs the limit min_iops in volume-limits",
    );
    let bucket = "xv9,burst_bucket,8256000,I/O credits,2026-01-01,,,xv9-guide\n";
    check(bucket, "", types, "xv9 needs the limit burst_bucket");
    // `catalog show xv9`, which assumes a size between the two, ended in a panic.
    check(
        "size_min,10,",
        "size_min,40000,",
        types,
        "a size_min above its size_max",
    );
    check("150,IOPS,", "150,IOPZ,", 17, "a number, a unit or a day");
    check("0.2,assumed", "0.2,guessed", 31, "`guessed` is no evidence");
    check("%% ebs-types", "%% ebs-kinds", 10, "an unknown section");
}

/// The story: `catalog show` of a type that lacked a limit for one of its engines, for its smallest size
/// or for its bursts ended in a panic.
#[test]
fn a_type_has_its_limits_for_every_engine_and_size() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/own-vendor/own.txt");
    let sound = fs::read_to_string(file).expect("a file of the tests");
    let check = |row: &str, rows: &str, limit: &str| {
        let home = tempfile::tempdir().expect("a folder");
        let text = sound.replace(row, rows);
        assert_ne!(text, sound, "{row}");
        fs::write(home.path().join("own.txt"), text).expect("written");
        let error = Catalog::load(home.path()).expect_err(limit).to_string();
        let lacks = format!("needs the limit {limit} in volume-limits");
        assert!(error.contains(&lacks), "{error}");
    };
    let bursts = "acme/tiered,burst_seconds,600,s,2026-02-01,,,acme-guide,,\n";
    check(bursts, "", "burst_seconds");
    let base = "acme/fast,base_iops,1000,IOPS,2026-02-01,,,acme-guide,,";
    let larger = base.replace("acme-guide,,", "acme-guide,6,");
    check(base, &larger, "base_iops");
    let other = "acme/fast,other_iops,1,IOPS,2026-02-01,,,acme-guide,,oracle";
    check(base, &format!("{base}mysql\n{other}"), "base_iops");
}

/// What the tables know, the code must not know again: a name of a type in it would be a rule that
/// no other type can have. Examples in messages are no rules.
#[test]
fn no_source_decides_by_the_name_of_a_type() {
    let types = Catalog::embedded().volume_types();
    let quoted: Vec<_> = types.iter().map(|kind| format!("\"{kind}\"")).collect();
    let named = |line: &str| quoted.iter().any(|kind| line.contains(kind.as_str()));
    let (mut open, mut read) = (vec![sources("catalog"), sources("device")], 0);
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("a folder").flatten();
            open.extend(entries.map(|entry| entry.path()));
            continue;
        }
        let name = path.file_name().expect("a name").to_string_lossy();
        if name.contains("tests") || !name.ends_with(".rs") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a source");
        let code = text
            .split("#[cfg(test)]\nmod tests {")
            .next()
            .unwrap_or_default();
        let example = |line: &str| line.contains("\"a volume type\"");
        // How an address names an instance's own disks is a word of its grammar.
        let local = |line: &str| line.contains("\"local\"");
        let bad = code
            .lines()
            .find(|line| named(line) && !example(line) && !local(line));
        assert_eq!(bad, None, "{}", path.display());
        read += 1;
    }
    assert!(read > 40, "{read} sources are read");
}

fn sources(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(name)
        .join("src")
}
