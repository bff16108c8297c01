//! Rates that fit another volume or instance than the one that was bought.

use super::*;

/// gp2 of 100 GiB was compared with gp3 of 6,000 IOPS: the settings were called not in effect, with
/// high confidence, and the record named gp2 all the time.
#[test]
fn another_type_than_was_bought() {
    let name = "other-volume-type";
    let bought = "gp3:2TiB,iops=16000@m5.24xlarge";
    let finding = speaks(
        case(4, 6144.0),
        bought,
        name,
        "as a volume of type gp2 delivers",
    );
    assert_eq!(finding.severity, Severity::Warning);
    // Without settings, gp3 gives as much as gp2 of 1 TiB within 2.5 %: the setting is likelier.
    let default = "gp3:1TiB,iops=6000@m5.24xlarge";
    silent(case(4, 3000.0), default, name);
    speaks(
        case(4, 3000.0),
        default,
        "setting-not-in-effect",
        "not in effect",
    );

    let mut recorded = record(&[case(4, 3000.0)]);
    recorded.targets[0].limits = resolved("gp2:100GiB").spec.limits();
    let found = against(&recorded, "gp3:100GiB,iops=6000");
    let finding = rule(&found, name).expect("the rule speaks");
    assert_eq!(finding.confidence, blocklab_findings::Confidence::High);
    assert!(
        finding.statement.contains("type gp2"),
        "{}",
        finding.statement
    );
    assert_eq!(rule(&found, "setting-not-in-effect"), None);
}

/// The story: half of four gp3 volumes of 500 GiB has the rate of four of gp2. The record of a simulation
/// of gp3 named its type, and "another type of volume: gp2" explained it.
#[test]
fn a_record_of_what_was_bought_is_of_nothing_else() {
    let bought = "4xgp3:500GiB@m5.24xlarge";
    let mut half = record(&[case(4, 6000.0)]);
    assert_eq!(why(&half, bought), Why::OtherType("gp2".to_owned()));
    half.targets[0].limits = resolved("2xgp3:500GiB@m5.24xlarge").spec.limits();
    assert_eq!(why(&half, bought), Why::FewerVolumes(2));
}

/// m5.large compared with m5.24xlarge: "57 % of gp3 volume IOPS", and no word that 593.75 MB/s is
/// what the small sizes let pass.
#[test]
fn another_instance_than_was_bought() {
    let name = "other-instance-size";
    let bought = "gp3:1TiB,iops=16000,throughput=1000@m5.24xlarge";
    let at = |mb: f64| case(128, mb * 1e6 / 131_072.0);
    let finding = speaks(
        at(593.75),
        bought,
        name,
        "as m5.2xlarge, m5.4xlarge, m5.large or m5.xlarge",
    );
    assert_eq!(finding.severity, Severity::Warning);
    silent(at(500.0), bought, name);
    silent(at(1048.0), bought, name);
}
