//! The catalog as people use it: by the program's own words and exit codes.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn blocklab(home: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_blocklab"));
    command
        .env("XDG_DATA_HOME", home)
        .arg("catalog")
        .args(arguments);
    command.output().expect("it starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// "What do I get for gp3 with 6,000 IOPS on r5d.xlarge, and what does it cost in Tokyo?"
#[test]
fn the_sheet_of_a_volume_on_an_instance() {
    let home = tempfile::tempdir().expect("a folder");
    let address = "gp3:1TiB,iops=6000,region=ap-northeast-1@r5d.xlarge";
    let sheet = text(&blocklab(home.path(), &["show", address]).stdout);
    for words in [
        "read, write    4 KiB  6,000   23.4  gp3: volume IOPS",
        "read, write   64 KiB  2,000    125  gp3: volume throughput",
        "r5d.xlarge: EBS throughput  593.75  MB/s  30 min  143.75  MB/s  within 24 h",
        // The story: a bucket of 810,000,000,000 bytes.
        "  810  GB  ",
        "x 0.096 USD per GiB-month",
        "x 0.348 USD per hour",
        "EC2 user guide",
    ] {
        assert!(sheet.contains(words), "{words}:\n{sheet}");
    }
    let data = json(&blocklab(home.path(), &["show", "--json", address]));
    // 1,024 GiB x .096 + 3,000 IOPS x .006 + 730 h x .348
    let month = data["usd_per_month"].as_f64().expect("a sum");
    assert!((month - (98.304 + 18.0 + 254.04)).abs() < 1e-9, "{month}");
    for price in data["prices"].as_array().expect("prices") {
        assert!(
            price["source"]
                .as_str()
                .is_some_and(|source| !source.is_empty())
        );
        assert!(price["date"].as_str().is_some_and(|date| date.len() == 10));
    }
}

#[test]
fn a_burst_and_what_remains() {
    let home = tempfile::tempdir().expect("a folder");
    let sheet = text(&blocklab(home.path(), &["show", "gp2:100GiB"]).stdout);
    assert!(
        sheet.contains("gp2: burst credits  3,000  IOPS  33 min 20 s   300  IOPS"),
        "{sheet}"
    );
    assert!(sheet.contains("after 33 min 20 s: 300 IOPS"), "{sheet}");
}

#[test]
fn a_type_without_a_contract_is_not_predicted() {
    let home = tempfile::tempdir().expect("a folder");
    let sheet = json(&blocklab(home.path(), &["show", "--json", "standard"]));
    assert_eq!(sheet["reaches"], Value::Array(Vec::new()));
    assert!(
        sheet["notes"][0]
            .as_str()
            .is_some_and(|note| note.contains("no prediction is made"))
    );
    let sheet = json(&blocklab(
        home.path(),
        &["show", "--json", "standard,profile=average"],
    ));
    assert_eq!(sheet["reaches"][0]["phases"][0]["iops"], 100.0);
}

/// An instance was looked at by attaching a volume and leaving out the sentences that named it. So
/// `show c3.large` did not say that no document gives its EBS limits, `show g6.24xlarge` of a day
/// before its first document did not say so, and a refusal pointed at a volume that nobody typed.
#[test]
fn an_instance_is_shown_by_itself() {
    let home = tempfile::tempdir().expect("a folder");
    let notes_of = |address: &str, key: &str| -> Vec<String> {
        let sheet = json(&blocklab(home.path(), &["show", "--json", address]));
        serde_json::from_value(sheet[key].clone()).expect("sentences")
    };
    let unknown = "no document gives the EBS limits of c3.large".to_owned();
    assert!(notes_of("c3.large", "notes").contains(&unknown));
    assert!(
        !notes_of("r5d.large", "notes")
            .iter()
            .any(|note| note.contains("EBS limits"))
    );
    let early = notes_of("g6.24xlarge,as-of=2021-03-01", "assumed");
    let since = |text: &String| text.starts_with("g6.24xlarge: EBS IOPS 120,000 IOPS");
    assert!(early.iter().any(since), "{early:?}");
    for (address, words) in [
        (
            "im4gn.16xlarge,as-of=2021-03-01",
            "\nim4gn.16xlarge,as-of=2021-03-01\n               ^^",
        ),
        (
            "m5.large,iops=3000",
            "m5.large is an instance type and takes no IOPS: gp3:1TiB@m5.large",
        ),
        ("3xm5.large", "takes no count"),
        ("m5.large:1TiB", "takes no size"),
        ("m5.large,throughput=200", "takes no throughput"),
    ] {
        let output = blocklab(home.path(), &["show", address]);
        assert_eq!(output.status.code(), Some(2), "{address}");
        assert!(
            text(&output.stderr).contains(words),
            "{address}: {output:?}"
        );
    }
}

#[test]
fn mistakes_are_pointed_at() {
    let home = tempfile::tempdir().expect("a folder");
    let output = blocklab(home.path(), &["show", "gp3:10GiB,iops=6000@r5d.xlarge"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        text(&output.stderr),
        "error: cannot use this address:\n\
         gp3:10GiB,iops=6000@r5d.xlarge\n          \
         ^^^^^^^^^ gp3 of 10 GiB allows at most 5,000 IOPS; 500 per GiB, 80,000 at most (today)\n"
    );
    let output = blocklab(home.path(), &["list", "--family", "i33"]);
    assert!(
        text(&output.stderr).contains("did you mean i3?"),
        "{output:?}"
    );
}

/// A device file is shown like anything that is sold.
#[test]
fn a_device_described_by_hand() {
    let home = tempfile::tempdir().expect("a folder");
    let path = home.path().join("disk.toml");
    fs::write(
        &path,
        "[[volume]]\nkind = \"mine\"\ncapacity = \"1TiB\"\n[[volume.cap]]\nname = \"IOPS\"\n\
         rate = \"777 IOPS\"\n[volume.service]\nread = { base = \"1ms\" }\nwrite = { base = \"1ms\" }\n",
    )
    .expect("written");
    let path = path.to_str().expect("text");
    let sheet = text(&blocklab(home.path(), &["show", path]).stdout);
    assert!(sheet.contains("777"), "{sheet}");
    fs::write(path, "[[volume]]\ncapacty = \"1TiB\"\n").expect("written");
    let output = blocklab(home.path(), &["show", path]);
    let printed = text(&output.stderr);
    assert!(
        printed.contains("disk.toml:2:1: unknown key `capacty`; did you mean `capacity`?"),
        "{printed}"
    );
}

/// What is shown of each type lies in `sheets/`, and changes only on purpose:
/// `BLESS=1 cargo test -p blocklab --test catalog every_type` rewrites it.
#[test]
fn every_type_is_what_it_was() {
    let home = tempfile::tempdir().expect("a folder");
    for address in [
        "gp2:100GiB,as-of=2026-10-01",
        "gp3:1TiB,iops=6000,throughput=500,as-of=2026-10-01@r5d.xlarge",
        "io1:1TiB,iops=40000,as-of=2026-10-01@m4.10xlarge",
        "io2:1TiB,iops=6000,as-of=2026-10-01@r5b.2xlarge",
        "io2-block-express:1TiB,iops=6000,as-of=2026-10-01",
        "st1:2TiB,as-of=2026-10-01",
        "sc1:2TiB,as-of=2026-10-01",
        "standard:100GiB,profile=average,as-of=2026-10-01",
    ] {
        let name = address.split(':').next().unwrap_or_default();
        let path = format!("{}/tests/sheets/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let shown = text(&blocklab(home.path(), &["show", "--json", address]).stdout);
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, &shown).expect("written");
        }
        let kept = fs::read_to_string(&path).expect(&path);
        assert_eq!(shown, kept, "{address}");
    }
}

/// A volume type that only the user's own file knows is shown and simulated: 5 IOPS per GiB with a
/// burst of 6,000, and 300 MiB/s that were paid for.
#[test]
fn a_volume_type_without_a_line_of_code() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path().join("blocklab/catalog");
    fs::create_dir_all(&folder).expect("a folder");
    let fixture = "../catalog/tests/own-types/own.txt";
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join(fixture);
    fs::copy(fixture, folder.join("own.txt")).expect("copied");
    let address = "xv9:512GiB,throughput=300";
    let sheet = text(&blocklab(home.path(), &["show", address]).stdout);
    assert!(
        sheet.contains("xv9: burst credits  6,000  IOPS  20 min  2,560  IOPS"),
        "{sheet}"
    );
    let target = format!("sim:{address}");
    let quick = ["run", "quick", "--runtime", "10s", "--seed", "7", "--json"];
    let run = Command::new(env!("CARGO_BIN_EXE_blocklab"))
        .env("XDG_DATA_HOME", home.path())
        .args(quick)
        .args(["-q", "--no-save", "--target", &target])
        .output();
    let result = json(&run.expect("it starts"));
    let of_case = |case: &str, figure: &str| {
        let rows = result["rows"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["case"] == case).expect(case);
        row[figure]["value"].as_f64().expect(figure)
    };
    let burst = of_case("rand4k-q32-read", "iops");
    assert!((burst - 6000.0).abs() < 60.0, "{burst}");
    let mib_per_s = of_case("seq1m-q8-read", "bytes_per_s") / 1_048_576.0;
    assert!((mib_per_s - 300.0).abs() < 3.0, "{mib_per_s}");
    // 400 µs and 4 KiB of 1.5 µs each, from the file.
    let alone = of_case("rand4k-q1-read", "iops");
    assert!((alone - 1e6 / 406.0).abs() < 25.0, "{alone}");
}

/// The story: `runuser -u postgres -- blocklab run ...` kept root's HOME, and every command that looks up
/// a limit or a price ended with "cannot read /root/.local/share/blocklab/catalog/imported.txt".
#[test]
fn a_catalog_folder_that_this_user_may_not_enter_is_not_his() {
    let home = tempfile::tempdir().expect("a folder");
    let closed = fs::Permissions::from_mode(0o000);
    fs::set_permissions(home.path(), closed).expect("mine");
    let mut command = Command::new(env!("CARGO_BIN_EXE_blocklab"));
    command.env("XDG_DATA_HOME", home.path());
    command.args(["catalog", "show", "gp3:100GiB"]);
    // Root may enter every folder.
    if fs::metadata("/proc/self").expect("a process").uid() == 0 {
        command.uid(65534).gid(65534);
    }
    let Ok(output) = command.output() else {
        println!("skipped: another user may not start the program here");
        return;
    };
    let sheet = text(&output.stdout);
    assert!(sheet.contains("gp3"), "{}", text(&output.stderr));
}

/// What is imported is used from then on, and is kept apart from what the program carries.
#[test]
fn newer_figures() {
    let home = tempfile::tempdir().expect("a folder");
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../catalog/tests/samples");
    let sample = samples.join("describe-instance-types.json");
    let sample = sample.to_str().expect("text");
    let output = blocklab(home.path(), &["import", "--date", "2026-11-20", sample]);
    let printed = text(&output.stdout);
    assert!(
        printed.contains("~ r5d.xlarge: EBS maximum IOPS: 18750 -> 24000"),
        "{printed}"
    );
    assert!(
        printed.contains("2 changed, 5 added, 5 unchanged; 1 entry not used here"),
        "{printed}"
    );
    // The story: the day of `--date` was called assumed.
    assert!(!printed.contains("assumed"), "{printed}");
    assert!(home.path().join("blocklab/catalog/imported.txt").exists());
    let sheet = text(&blocklab(home.path(), &["show", "gp3@r5d.xlarge"]).stdout);
    assert!(sheet.contains("24,000"), "{sheet}");
    let listed = json(&blocklab(
        home.path(),
        &["list", "--json", "--family", "z9"],
    ));
    assert_eq!(listed["types"][0]["ebs_base_iops"], 400_000.0);
    let other = tempfile::tempdir().expect("a folder");
    let output = blocklab(other.path(), &["list", "--family", "z9"]);
    assert_eq!(output.status.code(), Some(2));
}
