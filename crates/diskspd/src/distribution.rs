//! `-rd`: shares of the operations over shares or stretches of the target.

use super::spec::Distribution;
use blocklab_syntax::Mistake;
use blocklab_syntax::number::{number, size_above_zero};

const OPTION: &str = "-rd";

/// `pct90/10:5/20`, `abs90/10G:5/20G`.
pub fn parse(text: &str, block: u64) -> Result<Distribution, Mistake> {
    let absolute = text.starts_with("abs");
    let Some(ranges) = text.strip_prefix("pct").or(text.strip_prefix("abs")) else {
        let wrong = format!("`{text}` begins with neither pct nor abs: -rdpct90/10 would work");
        return Err(Mistake::new(OPTION, wrong));
    };
    let mut list = Vec::new();
    for range in ranges.split(':') {
        let Some((io, width)) = range.split_once('/') else {
            let wrong = format!("`{range}` is no pair of shares such as 90/10");
            return Err(Mistake::new(OPTION, wrong));
        };
        let io = number(OPTION, io, 0..=100)?;
        let width = if absolute {
            size_above_zero(OPTION, width, Some(block))?
        } else {
            number(OPTION, width, 1..=100)?.into()
        };
        list.push((io, width));
    }
    let distribution = Distribution { absolute, list };
    check(&distribution, block)?;
    Ok(distribution)
}

/// The shares of the operations and of the target add up to 100 at most; a stretch holds a block.
pub fn check(distribution: &Distribution, block: u64) -> Result<(), Mistake> {
    let Distribution { absolute, ref list } = *distribution;
    let io: u32 = list.iter().fold(0, |sum, (io, _)| sum.saturating_add(*io));
    let widths = list.iter().map(|(_, width)| *width);
    let width: u64 = widths.clone().fold(0, u64::saturating_add);
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
    } else if let Some(width) = small.next() {
        format!("a stretch of {width} bytes holds no block of {block}")
    } else {
        return Ok(());
    };
    Err(Mistake::new(OPTION, wrong))
}

/// Zones over the whole extent of `len` bytes (needed where widths are in bytes): (per cent of
/// the operations, per cent of the extent). What is left of the operations goes to what is left
/// of the extent.
pub fn zones(distribution: &Distribution, len: Option<u64>) -> Result<Vec<(f64, f64)>, Mistake> {
    let Some(whole) = (if distribution.absolute {
        len
    } else {
        Some(100)
    }) else {
        let hint = "widths in bytes need the size of the target, which is not known here: add -c or \
                    -f";
        return Err(Mistake::new(OPTION, hint));
    };
    let mut zones: Vec<(u32, u64)> = Vec::new();
    let mut used = 0;
    for (io, width) in &distribution.list {
        let left = whole - used;
        let width = if *width == 0 { left } else { left.min(*width) };
        if width > 0 {
            zones.push((*io, width));
        }
        used += width;
    }
    let used_io: u32 = zones.iter().map(|(io, _)| io).sum();
    if used < whole {
        zones.push((100 - used_io.min(100), whole - used));
    }
    shares(&zones, whole)
}

/// Each stretch (share of the operations as given, width) as per cent of all operations and per cent of
/// `whole`. Where the target is too short for all stretches, those that it holds share all operations.
fn shares(zones: &[(u32, u64)], whole: u64) -> Result<Vec<(f64, f64)>, Mistake> {
    let sum: u32 = zones.iter().map(|(io, _)| io).sum();
    if sum == 0 {
        let wrong = "the target is too short: no operation goes anywhere";
        return Err(Mistake::new(OPTION, wrong));
    }
    Ok(zones
        .iter()
        .map(|(io, width)| {
            let of_operations = f64::from(*io) * 100.0 / f64::from(sum);
            (of_operations, *width as f64 * 100.0 / whole as f64)
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_zones(text: &str, len: Option<u64>, expected: &[(f64, f64)]) {
        let distribution = parse(text, 4096).expect(text);
        assert_eq!(zones(&distribution, len).expect(text), expected);
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
            list: vec![(80, gib), (20, 0)],
        };
        let found = zones(&rest, Some(4 * gib)).expect("sound");
        assert_eq!(found, [(80.0, 25.0), (20.0, 75.0)]);
        assert!(zones(&parse("abs90/10G", 4096).unwrap(), None).is_err());
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
