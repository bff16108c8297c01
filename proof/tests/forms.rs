//! Every view in every form in which people read.

use blocklab_proof::{Lab, good};

/// A volume that is simulated in no time.
const VOLUME: &str = "sim:gp3:500GiB,iops=6000@m5.xlarge";

/// The views, each with words that all its forms hold.
const VIEWS: &[(&str, &str)] = &[
    (
        "run -q --rw randread --runtime 1s --target SIM",
        "rand-4KiB-q1-read",
    ),
    ("run -q --rw randread --dry-run --target SIM", "1 case"),
    ("run --list", "r5d-vs-gp3"),
    ("run calibrate --list", "block_size 16KiB, depth 128"),
    ("run im4gn -q --no-save", "What was concluded"),
    ("show RUN", "rand-4KiB-q1-read"),
    ("show RUN --findings", "gp3: volume IOPS"),
    ("merge RUN OTHER --no-save", "2 hosts that ran together"),
    ("compare RUN OTHER", "rand-4KiB-q1-read"),
    (
        "diagnose RUN --expect gp3:500GiB,iops=6000@m5.xlarge",
        "volume throughput",
    ),
    ("list", "a<b>"),
    ("history --name a<b>", "not comparable"),
    ("compare OTHER --against-history", "rand-4KiB-q1-read"),
    ("price RUN OTHER", "USD"),
    (
        "advise --need 1TiB,5000iops --vcpu 2",
        "Refused although cheaper",
    ),
    ("catalog show gp3:500GiB@m5.xlarge", "volume throughput"),
    ("catalog list", "r5d.xlarge"),
    ("devices", "LOG/PHYS"),
    ("calibrate sweep --allow-simulated", "IOPS"),
];

/// The story: a comparison had a table in Markdown and a run had another, the study had none, and
/// the three printers of a run each left out what another said.
#[test]
fn every_view_has_every_form() {
    let lab = Lab::new();
    for load in [
        "--rw randread --repeat 2 --runtime 1s --name a<b>",
        "--rw randread --repeat 2 --runtime 1s --name other",
        "calibrate --repeat 1 --runtime 300ms --name sweep",
    ] {
        let line = format!("run -q {load} --target {VOLUME}");
        good(lab.blocklab(line.split(' ')));
    }
    for (view, words) in VIEWS {
        let line = view
            .replace("RUN", "a<b>")
            .replace("OTHER", "other")
            .replace("SIM", VOLUME);
        for form in ["text", "markdown", "html"] {
            let whole = format!("{line} --format {form}");
            let shown = good(lab.blocklab(whole.split(' ')));
            let words = match form {
                "text" => (*words).to_owned(),
                "markdown" => words.replace('<', "\\<").replace('>', "\\>"),
                _ => words.replace('<', "&lt;").replace('>', "&gt;"),
            };
            assert!(shown.contains(&words), "{whole}: {shown}");
            assert_eq!(
                form == "html",
                shown.starts_with("<!DOCTYPE html>"),
                "{whole}: {shown}"
            );
            assert_eq!(
                form == "markdown",
                shown.starts_with("### "),
                "{whole}: {shown}"
            );
        }
    }
}

/// The story: `--vendor aws` listed the machines that no vendor lists, and the titles lost the word
/// EBS; an unknown family was refused without the names of those that there are.
#[test]
fn aws_is_listed_by_its_name_as_without_one() {
    let lab = Lab::new();
    for line in ["catalog list --family m5", "catalog list --family zz"] {
        let named = format!("{line} --vendor aws");
        let [alone, named] = [line, named.as_str()].map(|line| lab.blocklab(line.split(' ')));
        assert_eq!((alone.code, alone.out), (named.code, named.out));
        assert_eq!(alone.err, named.err);
    }
}
