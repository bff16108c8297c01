//! `blocklab price`: figures that can be computed again by hand.

use blocklab_proof::sample::record;
use blocklab_proof::{Lab, good, json, root};
use serde_json::Value;

/// US dollars for one of these.
fn per(priced: &Value, unit: &str) -> f64 {
    let units = priced["units"].as_array().expect("units");
    let found = units.iter().find(|found| found["unit"] == unit);
    found.expect(unit)["usd"].as_f64().expect("a price")
}

/// The study of 2017: an i3.xlarge in Tokyo at .366 USD an hour, 206,250 reads a second.
#[test]
fn a_million_iops_for_an_hour_to_the_cent() {
    let lab = Lab::new();
    let address = "local,as-of=2017-02-27@i3.xlarge";
    let ran = good(lab.blocklab(["price", address, "--region", "ap-northeast-1", "--json"]));
    let found = &json(&ran)["priced"][0];
    let usd = per(found, "million_iops_hour");
    assert!((usd - 0.366 / 0.206_25).abs() < 1e-9, "{usd}");
    assert_eq!(found["regions"][0], "ap-northeast-1");
    assert_eq!(found["dates"][0].as_str().map(str::len), Some(10));
}

/// The story: an IOPS of a disk of Azure that bursts on demand cost 0.04 USD a month, by a bill of 913 USD for
/// 25,600 of them; what is billed for those above 7,500 comes to 28,540 USD more.
#[test]
fn a_bill_by_use_that_the_rate_needs_is_named() {
    let lab = Lab::new();
    let notes = |address: &str| {
        let priced = json(&good(lab.blocklab(["price", address, "--json"])));
        priced["priced"][0]["notes"].to_string()
    };
    let burst = notes("azure/P40,performance=on-demand@azure/Standard_D16s_v5");
    assert!(
        burst.contains("above 7,500 IOPS") && burst.contains("--load 25600iops,4KiB"),
        "{burst}"
    );
    let plain = notes("azure/P40@azure/Standard_D16s_v5");
    assert!(!plain.contains("billed"), "{plain}");
}

/// The story: the price of a run of a device that was described by hand was a table of dashes, and
/// the command ended with 0.
#[test]
fn what_has_no_price_is_reported() {
    let lab = Lab::new();
    let mut run = record("20261120-190142-k3f", "2026-11-20T19:01:42Z");
    run.targets[0].path = "sim:./mine.toml".to_owned();
    let page = std::fs::read_to_string(root().join("docs/device.md")).expect("the page");
    let mine = page
        .split("```toml")
        .nth(1)
        .and_then(|nth| nth.split("```").next());
    lab.write("mine.toml", mine.expect("a device"));
    lab.keep(&run);
    lab.refused(["price", "latest"], &["no price is known"]);
    let printed = good(lab.blocklab(["price", "latest", "--as", "gp3:1TiB@r5d.xlarge"]));
    assert!(printed.contains("gp3:1TiB@r5d.xlarge"), "{printed}");
}

#[test]
fn the_unit_that_is_requested_decides_the_order() {
    let lab = Lab::new();
    // Cheap to keep data on, and dear by the operation; and the other way round.
    let (large, fast) = ("sc1:16TiB@m5.large", "gp3:100GiB@m5.large");
    let first = |by: &str| {
        let ran = good(lab.blocklab(["price", large, fast, "--by", by, "--json"]));
        json(&ran)["priced"][0]["name"]
            .as_str()
            .expect("a name")
            .to_owned()
    };
    assert_eq!(first("capacity"), large);
    assert_eq!(first("iops"), fast);
}

#[test]
fn money_comes_with_region_day_source_and_inputs() {
    let lab = Lab::new();
    let address = "gp3:1TiB,iops=6000@r5d.xlarge";
    let text = good(lab.blocklab(["price", address, "--currency", "EUR=0.5"]));
    for words in [
        "1 USD = 0.5 EUR, as you gave it",
        "prices of us-east-1, lists of ",
        "gp3 provisioned IOPS: 3,000 x 0.005 USD per IOPS-month = 7.50 EUR",
        "EUR a month / 6,000 IOPS",
        "no region is given: prices of us-east-1 are assumed",
        "[1] us-east-1, 20",
    ] {
        assert!(text.contains(words), "{words}:\n{text}");
    }
}

#[test]
fn a_measured_run_needs_what_it_was_bought_as() {
    let lab = Lab::new();
    let id = "20261120-190142-k3f";
    lab.keep(&record(id, "2026-11-20T19:01:42Z"));
    lab.refused(["price", id], &["--as "]);
    let text = good(lab.blocklab(["price", id, "--as", "gp3:1TiB@r5d.xlarge"]));
    assert!(text.contains("bought as gp3:1TiB@r5d.xlarge") && text.contains("measured: mixed"));
}

#[test]
fn what_is_unknown_is_no_price() {
    let lab = Lab::new();
    let text = good(lab.blocklab(["price", "standard:100GiB"]));
    assert!(
        text.contains("no price of standard storage in us-east-1 is known"),
        "{text}"
    );
    for (args, words) in [
        (&["price", "gp4:1TiB"][..], "did you mean"),
        (
            &["price", "zzz"],
            "neither an address that the catalog knows nor a run",
        ),
        (&["price", "gp3", "--currency", "EUR"], "such as EUR=0.92"),
    ] {
        lab.refused(args.iter().copied(), &[words]);
    }
}

/// The story: `price --need` opened with "What does 1 TiB, 20,000 IOPS", and its amounts of thousands had no
/// comma, unlike those of all other tables.
#[test]
fn an_offer_is_printed_as_other_prices_are() {
    let lab = Lab::new();
    let words = ["price", "--need", "1TiB,20000iops", "--place", "virginia"];
    let text = good(lab.blocklab(words));
    assert!(
        text.starts_with("What carries 1 TiB, 20,000 IOPS\n"),
        "{text}"
    );
    // 1,024 GiB x .125 and 20,000 IOPS x .065 USD.
    let mut lines = text.lines();
    let io2 = lines.find(|line| line.trim_start().starts_with("io2:1TiB,iops=20000"));
    assert!(
        io2.is_some_and(|line| line.contains(" 1,428.00 USD")),
        "{text}"
    );
}

/// The story: `price --need … --region us-east-1 --currency EUR=0.9` showed prices of Ireland in dollars.
#[test]
fn what_has_no_effect_on_a_need_is_refused() {
    let lab = Lab::new();
    for (option, words) in [
        (["--region", "us-east-1"], "choose with --place"),
        (["--currency", "EUR=0.9"], "cannot be used with"),
        (["--by", "capacity"], "cannot be used with"),
        (["--as", "gp3:1TiB"], "cannot be used with"),
    ] {
        let [name, value] = option;
        lab.refused(["price", "--need", "1TiB,20000iops", name, value], &[words]);
    }
    lab.refused(["price", "gp3:1TiB", "--place", "tokyo"], &[]);
    // The story: the price was that of gp3, and `--as` was passed over.
    lab.refused(
        ["price", "gp3:1TiB", "--as", "gp2:1TiB"],
        &["addresses alone"],
    );
}

/// The story: a run that was called `nightly/2` had no price, as a word with a slash was an address.
#[test]
fn a_run_is_priced_by_a_name_with_a_slash() {
    let lab = Lab::new();
    let run = "run -q --rw randread --runtime 1s -t sim:gp3:1TiB --name nightly/2";
    good(lab.blocklab(run.split(' ')));
    assert!(good(lab.blocklab(["price", "nightly/2"])).contains("gp3:1TiB"));
    lab.refused(["price", "azure/P3O"], &["cannot use this address"]);
    // A run or an address twice was two equal rows.
    lab.refused(["price", "gp3:1TiB", "gp3:1TiB"], &["more than once"]);
}

/// The story: a run on `null`, or a merged one of simulated hosts, "was measured on a real disk".
#[test]
fn a_run_without_a_volume_is_not_called_one_of_a_disk() {
    let lab = Lab::new();
    let run = "run -q --rw read --runtime 10ms --ramp 0s --repeat 1 -t null";
    good(lab.blocklab(run.split(' ')));
    lab.refused(["price", "latest"], &["names no volume for each target"]);
}
