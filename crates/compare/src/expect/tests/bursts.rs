//! Credits that lasted for a part of a load, or that some passes found and others did not.

use super::*;

/// 50 minutes on 100 GiB of gp2 gave 3,000 IOPS while the credits lasted and 300 afterwards, as
/// documented, and the burst was called missed, because the mean of both is 2,100.
#[test]
fn a_burst_that_ended_was_delivered_while_it_lasted() {
    let mut record = record(&[Sketch {
        seconds: 3000,
        ..case(4, 2100.0)
    }]);
    for measurement in &mut record.measurements {
        for (second, slice) in measurement.series.iter_mut().enumerate() {
            slice.read.ios = if second < 2000 { 3000 } else { 300 };
        }
    }
    let compared = against(&record, "gp2:100GiB")
        .expected
        .expect("a comparison");
    let mut limits = compared.limits.iter();
    let mut delivered = |name: &str| {
        let found = limits
            .find(|limit| limit.limit.ends_with(name))
            .expect("a limit");
        (found.state, found.delivered.map(f64::round))
    };
    assert_eq!(delivered("(baseline)"), (State::Met, Some(300.0)));
    assert_eq!(delivered("(burst)"), (State::Met, Some(3000.0)));
}

/// The story: two minutes on 100 GiB of gp2 whose credits lasted for 100 s of them: "Missed: burst
/// credits (burst), 2,525 of 3,000 IOPS", unless the address had `credits=5%`.
#[test]
fn a_burst_that_began_with_few_credits_was_delivered_while_it_lasted() {
    let mut record = record(&[Sketch {
        seconds: 120,
        ..case(4, 2550.0)
    }]);
    let fill = |record: &mut Record, after: u64| {
        for measurement in &mut record.measurements {
            for (second, slice) in measurement.series.iter_mut().enumerate() {
                slice.read.ios = match second {
                    0..100 => 3000,
                    100 => 1650,
                    _ => after,
                };
            }
        }
    };
    record.measurements.truncate(1);
    record.origin = Origin::Simulated;
    fill(&mut record, 300);
    let found = against(&record, "gp2:100GiB");
    let finding = rule(&found, "credits-not-full").expect("few credits");
    let words = "the burst lasted 100.0 s, and with full credits it lasts 33 min 20 s of this \
                 load: about 5 % of the credits were left at its beginning";
    assert!(finding.statement.contains(words), "{finding:?}");
    for silent in ["below-documented-limit", "documented-burst"] {
        assert!(rule(&found, silent).is_none(), "{silent}");
    }
    let compared = found.expected.expect("a comparison");
    assert_eq!(compared.cases[0].why, Why::AsExpected);
    for (name, value) in [("(baseline)", 300.0), ("(burst)", 3000.0)] {
        let limit = (compared.limits.iter())
            .find(|limit| limit.limit.ends_with(name))
            .expect("a limit");
        let delivered = limit.delivered.map(f64::round);
        assert_eq!((limit.state, delivered), (State::Met, Some(value)));
    }
    // What it falls to is not what the type has without credits.
    fill(&mut record, 900);
    assert_eq!(why(&record, "gp2:100GiB"), Why::Below);
}

/// Passes of a second: the first spent the bucket, 5,970 IOPS, and the second had 3,000. Their mean
/// was called below the 3,000 that are documented.
#[test]
fn a_bucket_that_one_pass_found_full_is_as_expected() {
    let short = Sketch {
        seconds: 1,
        iops: vec![5970.0, 3000.0],
        ..case(4, 0.0)
    };
    assert_eq!(why(&record(&[short]), "gp3:100GiB"), Why::AsExpected);
}

/// Three passes of 20 minutes on 100 GiB of gp2: burst, both, and baseline. Their mean was "60 % of
/// what is documented as burst credits", with the advice to look at what else uses the volume.
#[test]
fn passes_that_used_a_burst_up_are_as_expected() {
    for (iops, expected) in [
        ([3000.0, 2100.0, 300.0], Why::AsExpected),
        ([1800.0, 1800.0, 1800.0], Why::Below),
        ([3000.0, 2100.0, 1500.0], Why::Below),
    ] {
        let mut passes = case(4, 0.0);
        (passes.seconds, passes.iops) = (1200, iops.to_vec());
        assert_eq!(why(&record(&[passes]), "gp2:100GiB"), expected, "{iops:?}");
    }
}
