//! A user brings newer figures: files in the vendors' forms, small samples of which lie in
//! `samples/`.

use std::fs;
use std::path::{Path, PathBuf};

use blocklab_catalog::import::{ImportFile, Imported, import, read};
use blocklab_catalog::{Catalog, System, describe, resolve};
use blocklab_device::Rate;
use blocklab_workload::{Address, Date};
use proptest::prelude::*;

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/samples")
        .join(name)
}

fn file(path: PathBuf) -> ImportFile {
    ImportFile {
        path,
        date: day("2026-11-20"),
    }
}

fn day(text: &str) -> Date {
    text.parse().expect("a day")
}

fn bring(name: &str, folder: &Path) -> Imported {
    let done = import(&[file(sample(name))], folder);
    done.unwrap_or_else(|error| panic!("{error}")).remove(0)
}

fn told(changes: &[blocklab_catalog::import::Change]) -> Vec<String> {
    let line = |change: &blocklab_catalog::import::Change| match &change.old {
        Some(old) => format!("{}: {old} -> {}", change.what, change.new),
        None => format!("{}: {}", change.what, change.new),
    };
    changes.iter().map(line).collect()
}

/// The vendor doubles the burst of r5d.xlarge and sells a new type. Addresses of today know it,
/// addresses of an earlier day do not.
#[test]
fn newer_limits_of_instances() {
    let folder = tempfile::tempdir().expect("a folder");
    let done = bring("describe-instance-types.json", folder.path());
    assert_eq!(done.kind, "DescribeInstanceTypes");
    assert_eq!((done.date, done.date_assumed), (day("2026-11-20"), true));
    assert_eq!(
        told(&done.changed),
        [
            "r5d.xlarge: EBS maximum IOPS: 18750 -> 24000",
            "r5d.xlarge: EBS maximum MB/s: 593.75 -> 750",
        ]
    );
    assert_eq!(done.added.len(), 5, "{:?}", done.added);
    assert!(
        done.added
            .iter()
            .all(|change| change.what.starts_with("z9.huge: "))
    );
    assert_eq!((done.unchanged, done.skipped), (5, 1));

    let catalog = Catalog::load(folder.path()).expect("sound");
    let burst = |text: &str| {
        let address = Address::parse(text).expect("an address");
        let spec = resolve(&address, &catalog).expect("known").spec;
        spec.instance.expect("limits").credits[0].burst
    };
    assert_eq!(burst("gp3@r5d.xlarge"), Rate::Iops(24_000.0));
    assert_eq!(
        burst("gp3@r5d.xlarge,as-of=2026-11-19"),
        Rate::Iops(18_750.0)
    );
    let sheet = describe("z9.huge", &catalog).expect("a new type");
    assert!(
        sheet.limits.iter().any(|limit| limit.value == 400_000.0),
        "{sheet:?}"
    );
    // What the file does not tell of a known type is still known.
    assert!(describe("local@r5d.xlarge", &catalog).is_ok_and(|sheet| !sheet.reaches.is_empty()));
    let again = bring("describe-instance-types.json", folder.path());
    assert_eq!(
        (again.added.len(), again.changed.len(), again.unchanged),
        (0, 0, 12)
    );
}

#[test]
fn newer_prices_of_a_price_list() {
    let folder = tempfile::tempdir().expect("a folder");
    let done = bring("price-list.json", folder.path());
    assert_eq!((done.date, done.date_assumed), (day("2026-11-18"), false));
    assert_eq!(
        told(&done.changed),
        [
            "r5d.xlarge, ap-northeast-1, Linux: USD/hour: 0.348 -> 0.34",
            "gp3, ap-northeast-1: USD/GiB-month: 0.096 -> 0.09",
        ]
    );
    assert_eq!(told(&done.added), [""; 0]);
    // Windows, gp3 IOPS and throughput, the second step of io2, standard I/O.
    assert_eq!(done.unchanged, 5);
    assert_eq!(done.skipped, 3, "dedicated, with SQL Server, a snapshot");
    let catalog = Catalog::load(folder.path()).expect("sound");
    let hour = |as_of: Option<&str>| {
        let price = catalog.hour_of(
            "r5d.xlarge",
            System::Linux,
            "ap-northeast-1",
            as_of.map(day),
        );
        price.expect("a price").usd
    };
    assert_eq!(hour(None), 0.34);
    assert_eq!(hour(Some("2026-11-17")), 0.348);
}

/// The story: of two prices for one instance type, another one was kept each time the list was imported.
#[test]
fn one_list_gives_the_same_prices_each_time() {
    let product = r#"{"productFamily": "Compute Instance", "attributes": {"regionCode": "us-east-1",
        "instanceType": "m5.large", "tenancy": "Shared", "operatingSystem": "Linux"}}"#;
    let priced = |usd: &str| {
        let price = format!(r#"{{"unit": "Hrs", "pricePerUnit": {{"USD": "{usd}"}}}}"#);
        format!(r#"{{"T": {{"priceDimensions": {{"R": {price}}}}}}}"#)
    };
    let list = format!(
        r#"{{"offerCode": "AmazonEC2", "publicationDate": "2026-11-18T00:00:00Z",
        "products": {{"B": {product}, "A": {product}}},
        "terms": {{"OnDemand": {{"B": {}, "A": {}}}}}}}"#,
        priced("0.3"),
        priced("0.2")
    );
    // The order of a map of two changes from one to the next, so a few of them show it.
    for _ in 0..20 {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("list.json");
        fs::write(&path, &list).expect("written");
        let done = import(&[file(path)], folder.path()).expect("an import");
        let changed = told(&done[0].changed);
        assert!(changed[0].ends_with("-> 0.2"), "{changed:?}");
    }
}

/// `aws pricing get-products` gives every product as a text.
#[test]
fn products_one_by_one() {
    let product = r#"{"product":{"productFamily":"Storage","attributes":{"regionCode":"us-east-1","volumeApiName":"gp3","usagetype":"EBS:VolumeUsage.gp3"}},"publicationDate":"2026-11-18T00:00:00Z","terms":{"OnDemand":{"A.B":{"priceDimensions":{"r":{"unit":"GB-Mo","pricePerUnit":{"USD":"0.08"}}}}}}}"#;
    let text = serde_json::json!({"FormatVersion": "aws_v1", "PriceList": [product]});
    assert_eq!(read(text.to_string().as_bytes()), Ok(1));
}

#[test]
fn types_and_prices_of_ec2instances() {
    let folder = tempfile::tempdir().expect("a folder");
    let done = bring("ec2instances.json", folder.path());
    assert_eq!(told(&done.changed), [""; 0]);
    assert!(told(&done.added).contains(&"x9d.large: own disks, GB each: 118".to_owned()));
    assert!(told(&done.added).contains(&"x9d.large, us-east-1, Linux: USD/hour: 0.15".to_owned()));
    assert_eq!((done.unchanged, done.skipped), (8, 1));
}

/// Whatever is wrong with one of the files, the catalog is as it was, to the byte.
#[test]
fn a_bad_file_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    bring("price-list.json", folder.path());
    let kept = folder.path().join("imported.txt");
    let before = fs::read(&kept).expect("kept");
    let whole = fs::read(sample("describe-instance-types.json")).expect("a sample");
    let cases: [(&str, &[u8], &str); 7] = [
        (
            "cut",
            &whole[..whole.len() / 2],
            "no JSON that is known here",
        ),
        ("empty", b"", "no JSON"),
        ("other", b"{\"a\": 1}", "JSON of another kind"),
        ("list", b"[]", "holds no figure"),
        ("number", b"7", "no JSON that is known here"),
        ("types", b"{\"InstanceTypes\": [{}]}", "holds no figure"),
        (
            "rds",
            b"{\"offerCode\":\"AmazonRDS\",\"publicationDate\":\"\",\"products\":{},\"terms\":{}}",
            "price list of AmazonRDS",
        ),
    ];
    for (name, bytes, words) in cases {
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("written");
        // The good file before it is not kept either.
        let files = [file(sample("ec2instances.json")), file(path)];
        let error = import(&files, folder.path()).expect_err(name).to_string();
        assert!(error.contains(words), "{name}: {error}");
        assert!(error.contains("nothing was changed"), "{name}: {error}");
        assert_eq!(fs::read(&kept).expect("kept"), before, "{name}");
    }
}

proptest! {
    /// Samples with some bytes replaced: an error or figures, never a panic.
    #[test]
    fn damaged_files_are_no_panic(
        which in 0usize..3,
        at in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let names = ["describe-instance-types.json", "price-list.json", "ec2instances.json"];
        let mut bytes = fs::read(sample(names[which])).expect("a sample");
        for (index, byte) in at {
            let place = index.index(bytes.len());
            bytes[place] = byte;
        }
        let _ = read(&bytes);
    }
}
