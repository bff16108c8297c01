//! What addresses mean, how they are shown, and what is said of texts that are none.

use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(text: &str, expected: &str) {
    let address = Address::parse(text).expect(text);
    assert_eq!(address.to_string(), expected, "{text}");
    assert_eq!(expected.parse(), Ok(address), "{text}");
}

#[test]
fn addresses_as_people_write_them() {
    check("local@i3.xlarge", "local@i3.xlarge");
    check(
        "gp3:1TiB,iops=6000,throughput=125@r5d.xlarge",
        "gp3:1TiB,iops=6000,throughput=125@r5d.xlarge",
    );
    check("30xgp2:1TB@i3.metal", "30xgp2:1TB@i3.metal");
    check(
        "st1:10TB,as-of=2016-04-19@m4.10xlarge",
        "st1:10TB,as-of=2016-04-19@m4.10xlarge",
    );
    check(" 30 x gp2 : 1024 GiB @ i3.metal ", "30xgp2:1TiB@i3.metal");
    check(
        "4×io1, iops = 20_000, size = 500GiB",
        "4xio1:500GiB,iops=20000",
    );
    check("gp3,throughput=250MiB/s", "gp3,throughput=250MiB/s");
    check("gp3,throughput=250 MB/s", "gp3,throughput=250MB/s");
    check("azure/Premium_LRS:P30", "azure/Premium_LRS:P30");
    check("rds:gp3:200GiB@db.t4g.micro", "rds/gp3:200GiB@db.t4g.micro");
    check("gp2:1TiB,credits=100%", "gp2:1TiB,credits=full");
    check(
        "azure/P30,cache=ReadOnly,hits=100%",
        "azure/P30,cache=readonly,hits=100%",
    );
    check(
        "gp2:1TiB,instance-credits=0%,credits=50%",
        "gp2:1TiB,credits=50%,instance-credits=0%",
    );
    check("gp2", "gp2");
    check("1000xgp2", "1000xgp2");
    check(
        "local@i3.xlarge,as-of=2017-02-27",
        "local,as-of=2017-02-27@i3.xlarge",
    );
    check("x2gd.large", "x2gd.large");
    check("azure/PremiumV2_LRS:1TiB", "azure/PremiumV2_LRS:1TiB");
    check(
        "standard:1TiB,profile=./mine.toml",
        "standard:1TiB,profile=./mine.toml",
    );
    check("gp2,as-of=2018-12", "gp2,as-of=2018-12-01");
}

#[test]
fn a_path_is_a_device_file() {
    for path in [
        "./my-device.toml",
        "../x",
        "/etc/d,e@f.toml",
        "disk.toml",
        "~/d",
    ] {
        assert_eq!(Address::parse(path), Ok(Address::File(path.to_owned())));
    }
}

#[track_caller]
fn refuse(text: &str, expected: &str) {
    let error = Address::parse(text).expect_err(text);
    assert_eq!(error.to_string(), expected);
}

#[test]
fn mistakes_are_pointed_at() {
    refuse(
        "gp3:1TiB,iopz=6000@r5d.xlarge",
        "gp3:1TiB,iopz=6000@r5d.xlarge\n         ^^^^ unknown key `iopz`; did you mean `iops`?",
    );
    refuse(
        "gp2:100@m4.large",
        "gp2:100@m4.large\n    ^^^ `100` needs a unit: 100GiB is what vendors count, 100GB is \
             10^9 bytes each",
    );
    refuse(
        "gp2:lots",
        "gp2:lots\n    ^^^^ `lots` is not a size such as 4096, 64KiB, 1.5GiB or 10GB (k, M, G are binary)",
    );
    refuse("0xgp2", "0xgp2\n^ the number of volumes must be 1 to 1000");
    // A zero too many would make a device of a billion volumes.
    refuse(
        "1001xgp2",
        "1001xgp2\n^^^^ the number of volumes must be 1 to 1000",
    );
    refuse(
        "gp3,iops=many",
        "gp3,iops=many\n         ^^^^ `many` is not a whole number above zero",
    );
    refuse(
        "gp3,iops=99999999999999999999",
        "gp3,iops=99999999999999999999\n         ^^^^^^^^^^^^^^^^^^^^ `99999999999999999999` is too large",
    );
    refuse(
        "gp3,iops=00",
        "gp3,iops=00\n         ^^ `00` is not a whole number above zero",
    );
    refuse(
        "gp3,iops=3000,iops=4000",
        "gp3,iops=3000,iops=4000\n              ^^^^ `iops` is given twice",
    );
    refuse(
        "gp2:1TiB,as-of=yesterday",
        "gp2:1TiB,as-of=yesterday\n               ^^^^^^^^^ `yesterday` is not a day such as \
             2018-12-03, a month such as 2018-12 or a year such as 2018",
    );
    refuse(
        "gp2@",
        "gp2@\n    ^ an instance type is missing, such as i3.xlarge",
    );
    refuse(
        "gp2,credits=half",
        "gp2,credits=half\n            ^^^^ `half` is no share of a bucket such as 0%, 50% or full",
    );
    // The story: it was "no share of a bucket", which a cache does not have.
    refuse(
        "gp2,hits=80",
        "gp2,hits=80\n         ^^ `80` is no share of reads such as 80%",
    );
    refuse("", "\n^ an address is missing, such as gp3:1TiB@r5d.xlarge");
    // Fuzzing: keys after the instance let an `@` into a value.
    refuse(
        "gp2@a.b,region=x@y",
        "gp2@a.b,region=x@y\n               ^^^ `x@y` cannot contain `@`",
    );
    refuse(
        "gp2 gp3",
        "gp2 gp3\n   ^ the name of a volume type cannot contain ` `",
    );
    refuse(
        "größe",
        "größe\n  ^ the name of a volume type cannot contain `ö`",
    );
}

#[test]
fn parts_are_found_again() {
    let text = "30xgp2:1TB,iops=5@i3.metal";
    let part = |part| &text[Address::place(text, part)];
    assert_eq!(part(Part::Count), "30");
    assert_eq!(part(Part::Volume), "gp2");
    assert_eq!(part(Part::Size), "1TB");
    assert_eq!(part(Part::Key("iops")), "iops=5");
    assert_eq!(part(Part::Instance), "i3.metal");
    assert_eq!(part(Part::Key("region")), text);
}

fn offers() -> impl Strategy<Value = Offer> {
    let date = (1970u16..3000, 1u8..=12, 1u8..=28);
    let date = date.prop_map(|(y, m, d)| Date::new(y, m, d).expect("a day"));
    let numbers = (
        proptest::option::of(1u32..=MOST_VOLUMES),
        proptest::option::of(1u64..1 << 50),
        proptest::option::of(1u64..),
        proptest::option::of(1u64..),
    );
    let words = (
        "[a-wyz][a-z0-9.]{0,9}",
        proptest::option::of("[a-z0-9-]{1,9}"),
        proptest::option::of("[a-z0-9.-]{1,9}"),
    );
    let names = (
        proptest::option::of("[a-z0-9-]{1,9}"),
        proptest::option::of("[a-z0-9-]{1,9}"),
    );
    let parts = (numbers, words, names, proptest::option::of(date));
    parts.prop_map(
        |(numbers, (volume, region, instance), (host, volume_name), as_of)| {
            let (count, size, iops, throughput) = numbers;
            Offer {
                count: count.and_then(NonZeroU32::new),
                volume,
                size: size.map(Bytes),
                iops,
                throughput,
                as_of,
                region,
                host,
                volume_name,
                instance,
                ..Offer::default()
            }
        },
    )
}

proptest! {
    #[test]
    fn what_is_shown_reads_back(offer in offers()) {
        let address = Address::Sold(offer);
        prop_assume!(!Address::is_path(&address.to_string()));
        prop_assert_eq!(Address::parse(&address.to_string()), Ok(address));
    }

    #[test]
    fn no_text_is_a_panic(text in "\\PC{0,40}") {
        match Address::parse(&text) {
            Ok(address) => prop_assert_eq!(Address::parse(&address.to_string()), Ok(address)),
            Err(error) => {
                prop_assert!(text.get(error.at.clone()).is_some());
                prop_assert!(error.to_string().contains(&error.message));
            }
        }
    }
}
