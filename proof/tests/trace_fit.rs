//! `blocklab trace fit`: what a volume holds, and which larger one carries a load.

use blocklab_proof::{Lab, good, json, root};

/// The story: a volume that was too small for a trace had a longest wait of 0 ns.
#[test]
fn a_volume_that_is_too_small_has_no_wait() {
    let lab = Lab::new();
    let trace = root().join("proof/corpus/traces/windows-shared-server.load.gz");
    let trace = trace.to_str().expect("a path");
    let fit = good(lab.blocklab(["trace", "fit", trace, "--on", "gp3:1GiB"]));
    let row = fit.lines().find(|line| line.starts_with("gp3:1GiB"));
    let cells: Vec<&str> = row.expect("a row").split_whitespace().collect();
    assert_eq!(cells[1..4], ["-", "-", "-"], "{fit}");
}

/// The story: a stripe of 1 GiB and 9 GiB, of which RAID 0 uses 2 GiB, counted as 10 GiB. A trace up to
/// 4 GiB "fit" it, and of 4,000 operations a second of a table, twice its limit, a fifth was played and
/// "fit".
#[test]
fn a_stripe_has_as_much_as_its_smallest_volume_allows() {
    let lab = Lab::new();
    let volume = |size: &str| {
        format!(
            "[[volume]]\ncapacity = \"{size}\"\n[[volume.cap]]\nname = \"IOPS\"\nrate = \"1000 IOPS\"\n\
             [volume.service]\nread = {{ base = \"500us\" }}\nwrite = {{ base = \"500us\" }}\n"
        )
    };
    let uneven = volume("1GiB") + &volume("9GiB");
    lab.write("uneven.toml", format!("name = \"uneven\"\n{uneven}"));
    lab.write("two.csv", "1,R,0,512,1\n1,R,4294967296,512,2\n");
    let fit = |words: [&str; 3]| {
        let fixed = ["trace", "fit", "--json"];
        let words = fixed.into_iter().chain(words);
        let words = words.chain(["--on", "./uneven.toml"]);
        json(&good(lab.blocklab(words)))["answers"][0].clone()
    };
    let columns = "--columns=device=1,op=2,offset=3:bytes,length=4:bytes,time=5:us";
    let answer = fit(["two.csv", columns, "--no-search"]);
    assert_eq!(answer["verdict"], "too_small", "{answer}");
    assert_eq!(answer["capacity_bytes"], 2u64 << 30, "{answer}");

    let head = "Linux 5.10 (host)  11/28/2026  _x86_64_  (2 CPU)\n";
    let report =
        "\nDevice  tps  kB_read/s  kB_wrtn/s  kB_read  kB_wrtn\nsda  4000  16000  0  160000  0\n";
    lab.write("table.txt", format!("{head}{report}{report}"));
    let answer = fit(["table.txt", "--every", "10s"]);
    assert_eq!(answer["even"]["beyond_bytes"], serde_json::Value::Null);
    assert_eq!(answer["verdict"], "does_not_fit", "{answer}");
    // The story: its format was not known here, and its columns were to be described.
    for command in [
        &["trace", "model", "table.txt", "--every", "10s"][..],
        &["trace", "import", "table.txt", "-o", "a.trace"],
        &["advise", "--trace", "table.txt"],
    ] {
        let words = ["a table of rates, not of operations"];
        lab.refused(command.iter().copied(), &words);
    }
}

/// The story: a volume whose credits were spent before a trace began "fits until 00:00:00 (credits)".
#[test]
fn a_volume_without_credits_fits_until_no_time() {
    let lab = Lab::new();
    let operations: Vec<String> = (0..8000_u64)
        .map(|index| {
            let offset = index * 7919 % 100_000 * 4096;
            format!("{},R,{offset},4096\n", index * 2500)
        })
        .collect();
    lab.write("steady.csv", operations.concat());
    let columns = "--columns=time=1:us,op=2,offset=3,length=4";
    let spent = "gp2:10GiB,credits=0%";
    let words = [
        "trace",
        "fit",
        "steady.csv",
        columns,
        "--no-search",
        "--json",
    ];
    let words = words
        .into_iter()
        .chain(["--on", spent, "--on", "gp2:10GiB"]);
    let fit = json(&good(lab.blocklab(words)));
    let verdicts = [0, 1].map(|place| fit["answers"][place]["verdict"].clone());
    assert_eq!(verdicts, ["does_not_fit", "fits"], "{fit}");
}

/// The story: for `--on gp2`, whose rate grows with its size, "no provision found: its rates are not for sale
/// by themselves", and for `gp2:1TiB`, the same volume, a larger one was found.
#[test]
fn a_volume_without_a_size_is_made_larger() {
    let lab = Lab::new();
    let mut table = "time,op,offset,length\n".to_owned();
    for index in 0..20_000_u64 {
        // Random reads, 5,000 a second.
        let offset = index * 7919 % 2500 * 65_536;
        table.push_str(&format!("{},R,{offset},4096\n", index * 200));
    }
    lab.write("table.csv", table);
    let columns = "time=time:us,op=op,offset=offset:bytes,length=length:bytes";
    let fit = |address: &str| {
        let line = [
            "trace",
            "fit",
            "table.csv",
            "--columns",
            columns,
            "--json",
            "--on",
        ];
        json(&good(lab.blocklab(line.into_iter().chain([address]))))["answers"][0].clone()
    };
    for address in ["gp2", "gp2:1TiB"] {
        let smallest = fit(address)["smallest"]["address"].clone();
        let smallest = smallest.as_str().expect("a larger one").to_owned();
        assert!(smallest.starts_with("gp2:"), "{smallest}");
        assert_eq!(fit(&smallest)["verdict"], "fits", "{smallest}");
    }
    let named = fit("azure/P10")["none_because"].clone();
    assert!(named.to_string().contains("name them with --on"), "{named}");
}

/// The story: `--on gp3:1TiB gp2:1TiB` took the second volume for another file, and then said that only
/// `trace fit` reads the table of rates before it.
#[test]
fn a_volume_among_the_files_is_called_one() {
    let lab = Lab::new();
    let report = "Device  tps  kB_read/s  kB_wrtn/s  kB_read  kB_wrtn\nsda  4  16  0  160  0\n";
    lab.write("table.txt", format!("Linux 5.10 (h)\n\n{report}\n{report}"));
    let fit = ["trace", "fit", "table.txt"];
    lab.refused(
        fit.into_iter().chain(["--on", "gp3:1TiB", "gp2:1TiB"]),
        &["gp2:1TiB is a volume and not a file", "--on of its own"],
    );
    // The second has signs that addresses have.
    for missing in ["missing.txt", "a=1,b:2.csv"] {
        lab.refused(
            fit.into_iter().chain([missing, "--on", "gp3:1TiB"]),
            &[&*format!("cannot read {missing}")],
        );
    }
    // The first bytes of a pipe behind a table were looked at, so that the table in it lacked them.
    let piped = lab.shell("cat table.txt | blocklab trace fit table.txt /dev/stdin --on gp3:1TiB");
    assert!(piped.err.contains("from a file"), "{piped:?}");
}
