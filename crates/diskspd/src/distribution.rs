//! `-rd`: shares of the operations over shares or stretches of the target.

use blocklab_syntax::Mistake;
use blocklab_syntax::number::{number, size_above_zero};
use blocklab_workload::Zone;

use super::spec::{Distribution, IoRange};

const OPTION: &str = "-rd";

/// `pct90/10:5/20`, `abs90/10G:5/20G`.
pub fn parse(text: &str, block: u64) -> Result<Distribution, Mistake> {
    let absolute = text.starts_with("abs");
    let Some(written) = text.strip_prefix("pct").or(text.strip_prefix("abs")) else {
        let wrong = format!("`{text}` begins with neither pct nor abs: -rdpct90/10 would work");
        return Err(Mistake::new(OPTION, wrong));
    };
    let mut ranges = Vec::new();
    for range in written.split(':') {
        let Some((io, width)) = range.split_once('/') else {
            let wrong = format!("`{range}` is no pair of shares such as 90/10");
            return Err(Mistake::new(OPTION, wrong));
        };
        let io_percent = number(OPTION, io, 0..=100)?;
        let width = if absolute {
            size_above_zero(OPTION, width, Some(block))?
        } else {
            number(OPTION, width, 1..=100)?.into()
        };
        ranges.push(IoRange { io_percent, width });
    }
    let distribution = Distribution { absolute, ranges };
    check(&distribution, block)?;
    Ok(distribution)
}

/// Checks that the shares of the operations and of the target add up to 100 at most, that each
/// range in bytes holds a block, and that none but the last of these is the rest.
///
/// # Errors
/// [`Mistake`] about `-rd`, from wherever the distribution comes.
pub fn check(distribution: &Distribution, block: u64) -> Result<(), Mistake> {
    let absolute = distribution.absolute;
    let shares = distribution.ranges.iter().map(|range| range.io_percent);
    let io = shares.fold(0, u32::saturating_add);
    let widths = distribution.ranges.iter().map(|range| range.width);
    let width: u64 = widths.clone().fold(0, u64::saturating_add);
    let mut widths_before_rest = widths.clone().rev().skip(usize::from(absolute));
    let mut small = widths.filter(|width| absolute && *width > 0 && *width < block);
    let wrong = if io > 100 {
        format!("the shares of the operations add up to {io} %: at most 100")
    } else if io == 0 {
        "no operation goes anywhere".to_owned()
    } else if !absolute && width > 100 {
        format!("the shares of the target add up to {width} %: at most 100")
    } else if !absolute && width == 100 && io < 100 {
        let left = 100 - io;
        format!("{left} % of the operations have no place left to go")
    } else if widths_before_rest.any(|width| width == 0) {
        "a width of 0 is the rest of the target, which only the last range in bytes can be"
            .to_owned()
    } else if let Some(width) = small.next() {
        format!("a stretch of {width} bytes holds no block of {block}")
    } else {
        return Ok(());
    };
    Err(Mistake::new(OPTION, wrong))
}

/// Zones over the whole extent of `len` bytes. What the ranges leave of the operations goes to what
/// they leave of the extent.
///
/// # Errors
/// [`Mistake`] where widths are in bytes and `len` is not known, or is too short for any range with
/// operations.
pub fn zones(distribution: &Distribution, len: Option<u64>) -> Result<Vec<Zone>, Mistake> {
    let whole = if distribution.absolute {
        len
    } else {
        Some(100)
    };
    let whole = whole.ok_or_else(|| {
        let hint = "widths in bytes need the size of the target, which is not known here: add -c or \
                    -f";
        Mistake::new(OPTION, hint)
    })?;
    let mut ranges: Vec<IoRange> = Vec::new();
    let mut used = 0;
    for range in &distribution.ranges {
        let left = whole - used;
        let width = match range.width {
            0 => left,
            width => left.min(width),
        };
        if width > 0 {
            ranges.push(IoRange { width, ..*range });
        }
        used += width;
    }
    if used < whole {
        let used_percent: u32 = ranges.iter().map(|range| range.io_percent).sum();
        ranges.push(IoRange {
            io_percent: 100_u32.saturating_sub(used_percent),
            width: whole - used,
        });
    }
    shared(&ranges, whole)
}

/// The ranges, which cover `whole`, as zones. Where the target is too short for all ranges that were
/// requested, those that it holds share all operations.
fn shared(ranges: &[IoRange], whole: u64) -> Result<Vec<Zone>, Mistake> {
    let sum: u32 = ranges.iter().map(|range| range.io_percent).sum();
    if sum == 0 {
        let wrong = "the target is too short: no operation goes anywhere";
        return Err(Mistake::new(OPTION, wrong));
    }
    let zones = ranges.iter().map(|range| Zone {
        access_percent: f64::from(range.io_percent) * 100.0 / f64::from(sum),
        space_percent: range.width as f64 * 100.0 / whole as f64,
    });
    Ok(zones.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Per cent of the operations and of the extent of each zone.
    fn percents(distribution: &Distribution, len: Option<u64>) -> Vec<(f64, f64)> {
        let zones = zones(distribution, len).expect("zones").into_iter();
        zones
            .map(|zone| (zone.access_percent, zone.space_percent))
            .collect()
    }

    #[track_caller]
    fn check_zones(text: &str, len: Option<u64>, expected: &[(f64, f64)]) {
        let distribution = parse(text, 4096).expect(text);
        assert_eq!(percents(&distribution, len), expected);
    }

    #[test]
    fn what_is_left_goes_to_the_rest() {
        check_zones(
            "pct90/10:0/10:5/20",
            None,
            &[(90.0, 10.0), (0.0, 10.0), (5.0, 20.0), (5.0, 60.0)],
        );
        check_zones("pct100/10", None, &[(100.0, 10.0), (0.0, 90.0)]);
        check_zones("pct50/50:50/50", None, &[(50.0, 50.0), (50.0, 50.0)]);
    }

    #[test]
    fn stretches_in_bytes_are_cut_to_the_target() {
        let gib = 1_u64 << 30;
        check_zones(
            "abs90/10G:0/10G:5/20G",
            Some(80 * gib),
            &[(90.0, 12.5), (0.0, 12.5), (5.0, 25.0), (5.0, 50.0)],
        );
        check_zones(
            "abs90/10G:0/10G:5/20G",
            Some(20 * gib),
            &[(100.0, 50.0), (0.0, 50.0)],
        );
        // A width of 0 is the rest; only a profile in XML can hold one.
        let rest = Distribution {
            absolute: true,
            ranges: vec![
                IoRange {
                    io_percent: 80,
                    width: gib,
                },
                IoRange {
                    io_percent: 20,
                    width: 0,
                },
            ],
        };
        let found = percents(&rest, Some(4 * gib));
        assert_eq!(found, [(80.0, 25.0), (20.0, 75.0)]);
        assert!(zones(&parse("abs90/10G", 4096).unwrap(), None).is_err());
        // Ranges behind the rest got nothing, and the profile showed per cent of it as bytes.
        for absolute in [true, false] {
            let mut early = rest.clone();
            early.absolute = absolute;
            early.ranges.reverse();
            assert!(check(&early, 4096).is_err(), "{absolute}");
        }
        assert_eq!(check(&rest, 4096), Ok(()));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "90/10",
            "pct",
            "pct90",
            "pct90/",
            "pct60/10:60/10",
            "pct10/60:10/60",
            "pct0/10",
            "pct10/0",
            "pct90/100",
            "abs90/100",
            "abs80/1G:20/0",
            "zipf1.2",
            "pct101/1",
        ] {
            assert!(parse(text, 4096).is_err(), "{text}");
        }
    }
}
