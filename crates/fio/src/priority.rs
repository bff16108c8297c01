//! `prio`, `cmdprio` and related options: the I/O priority of a job and of its operations.
//!
//! ```text
//!   cmdprio_percentage=20,50        of reads, of writes; class and level are in cmdprio_class
//!   cmdprio_class=1  cmdprio=0      and cmdprio, by direction as well
//!   cmdprio_bssplit=4k/20:64k/50    of operations of these sizes, with that class and level
//!   cmdprio_bssplit=4k/20/2/7       with a class and level of their own
//! ```

use blocklab_units::Bytes;
use blocklab_workload::{Direction, Engine, IoPriority, Priority, PriorityShare};

use super::number::{Scale, amount};
use super::options::Options;
use super::spec::Spec;
use blocklab_syntax::Mistake;

/// Options of engines that give each operation a priority of its own.
pub(super) const OF_OPERATIONS: [&str; 4] = [
    "cmdprio_percentage",
    "cmdprio_class",
    "cmdprio",
    "cmdprio_bssplit",
];

/// The engines that take them.
pub(super) const ENGINES: [&str; 2] = ["libaio", "io_uring"];

/// Best effort is what a level without a class belongs to.
const BEST_EFFORT: i64 = 2;

/// The priority of the job's threads.
pub(super) fn priority(options: &Options) -> Priority {
    let is_given = options.prioclass.is_some() || options.prio.is_some();
    Priority {
        nice: options.nice.clamp(-20, 19) as i32,
        io: is_given
            .then(|| io_priority(options.prioclass.unwrap_or(0), options.prio.unwrap_or(0))),
    }
}

/// Beyond its bounds a number counts as the bound.
fn io_priority(class: i64, level: i64) -> IoPriority {
    let class = if class == 0 { BEST_EFFORT } else { class };
    IoPriority {
        class: class.clamp(1, 3) as u8,
        level: level.clamp(0, 7) as u8,
    }
}

/// Priorities of single operations: which share of them has which.
pub(super) fn shares(spec: &Spec, engine: Engine) -> Result<Vec<PriorityShare>, Mistake> {
    if !matches!(engine, Engine::Libaio | Engine::IoUring(_)) {
        // Options of another engine, from a global section.
        return Ok(Vec::new());
    }
    let options = &spec.options;
    let numbers =
        |name, text, range| by_direction(text, range).map_err(|why| spec.mistake(name, why));
    let percentages = numbers(
        "cmdprio_percentage",
        &options.cmdprio_percentage,
        (i64::MIN, 100),
    )?
    .map(|percent| match percent.unwrap_or(0) {
        // A negative percentage means all operations, as with fio.
        ..0 => 100,
        percent => percent as u8,
    });
    let classes = numbers("cmdprio_class", &options.cmdprio_class, (1, 3))?;
    let levels = numbers("cmdprio", &options.cmdprio, (0, 7))?;
    let otherwise =
        [0, 1].map(|index| io_priority(classes[index].unwrap_or(1), levels[index].unwrap_or(0)));
    let sizes = &options.cmdprio_bssplit;
    if sizes.is_some() && percentages != [0, 0] {
        let wrong = "cmdprio_percentage and cmdprio_bssplit exclude each other";
        return Err(spec.mistake("cmdprio_bssplit", wrong));
    }
    let mut shares = Vec::new();
    for (index, direction) in [Direction::Read, Direction::Write].into_iter().enumerate() {
        if percentages[index] > 0 {
            shares.push(PriorityShare {
                direction,
                size: None,
                percent: percentages[index],
                priority: otherwise[index],
            });
        }
        let text = sizes
            .as_deref()
            .map_or("", |text| direction_part(text, index));
        let of_sizes = by_size(text, options.scale(), direction, otherwise[index]);
        shares.extend(of_sizes.map_err(|why| spec.mistake("cmdprio_bssplit", why))?);
    }
    Ok(shares)
}

/// The part of a list with commas that is for this direction; a single part is for all.
fn direction_part(text: &str, index: usize) -> &str {
    if text.contains(',') {
        text.split(',').nth(index).unwrap_or_default()
    } else {
        text
    }
}

/// Numbers of reads and writes.
fn by_direction(text: &str, (low, high): (i64, i64)) -> Result<[Option<i64>; 2], String> {
    let mut values = [None; 2];
    for (index, value) in values.iter_mut().enumerate() {
        let part = direction_part(text, index).trim();
        if part.is_empty() {
            continue;
        }
        let number = amount(part, Scale::default())?;
        if number < low || number > high {
            let low = low.max(0);
            return Err(format!("`{number}` is out of range: {low} to {high}"));
        }
        *value = Some(number);
    }
    Ok(values)
}

/// The shares in a list of `cmdprio_bssplit` for one direction: its entries up to the first empty one, as
/// with fio, without those of 0 per cent. `otherwise`: the priority of an entry that names none.
fn by_size(
    text: &str,
    scale: Scale,
    direction: Direction,
    otherwise: IoPriority,
) -> Result<Vec<PriorityShare>, String> {
    let mut shares: Vec<PriorityShare> = Vec::new();
    for part in text.split(':').map(str::trim) {
        if part.is_empty() {
            break;
        }
        let (size, percent, priority) = entry(part, scale)?;
        shares.push(PriorityShare {
            direction,
            size: Some(size),
            percent,
            priority: priority.unwrap_or(otherwise),
        });
        let same = shares.iter().filter(|share| share.size == Some(size));
        let sum: u32 = same.map(|share| u32::from(share.percent)).sum();
        if sum > 100 {
            let bytes = size.0;
            return Err(format!(
                "the shares of blocks of {bytes} bytes add up to {sum}, above 100"
            ));
        }
    }
    shares.retain(|share| share.percent > 0);
    Ok(shares)
}

/// Whether a part of `cmdprio_bssplit` has a hint.
pub(super) fn has_hint(options: &Options) -> bool {
    let text = options.cmdprio_bssplit.as_deref().unwrap_or_default();
    text.split([',', ':'])
        .any(|part| part.split('/').count() > 4)
}

/// `4k/20`, `4k/20/2/7` or `4k/20/2/7/1`.
fn entry(text: &str, scale: Scale) -> Result<(Bytes, u8, Option<IoPriority>), String> {
    let mut fields: Vec<&str> = text.split('/').map(str::trim).collect();
    while fields.len() > 1 && fields.last().is_some_and(|field| field.is_empty()) {
        fields.pop();
    }
    let size = amount(fields[0], scale)?;
    if size <= 0 {
        return Err(format!("`{text}`: a block has at least 1 byte"));
    }
    let number = |field: &str| {
        let number = field.parse::<i64>();
        number.map_err(|_| format!("`{field}` in `{text}` is no number"))
    };
    let (percent, priority) = match fields[1..] {
        [] => (0, None),
        [share] => (number(share)?, None),
        [share, class, level] => {
            let priority = io_priority(number(class)?, number(level)?);
            (number(share)?, Some(priority))
        }
        // The hint is not passed to the kernel, as with fio 3.33; a note reports that.
        [share, class, level, hint] => {
            number(hint)?;
            let priority = io_priority(number(class)?, number(level)?);
            (number(share)?, Some(priority))
        }
        _ => {
            return Err(format!(
                "`{text}` is none of SIZE/PERCENT, SIZE/PERCENT/CLASS/LEVEL and \
                 SIZE/PERCENT/CLASS/LEVEL/HINT"
            ));
        }
    };
    Ok((Bytes(size as u64), percent.clamp(0, 100) as u8, priority))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: IoPriority = IoPriority { class: 1, level: 0 };

    /// Size, per cent, class and level of each.
    fn read(text: &str) -> Result<Vec<(u64, u8, u8, u8)>, String> {
        let shares = by_size(text, Scale::default(), Direction::Read, FIRST)?.into_iter();
        let told = shares.map(|share| {
            let size = share.size.map_or(0, |size| size.0);
            let IoPriority { class, level } = share.priority;
            (size, share.percent, class, level)
        });
        Ok(told.collect())
    }

    #[test]
    fn shares_by_size_have_two_forms() {
        for (text, expected) in [
            ("4k/20", &[(4096, 20, 1, 0)][..]),
            (
                "4k/20/2/7:64k/50",
                &[(4096, 20, 2, 7), (65_536, 50, 1, 0)][..],
            ),
            ("4k/10/2/0/1", &[(4096, 10, 2, 0)]),
            ("4k/25/3/1:4k/75/1/0", &[(4096, 25, 3, 1), (4096, 75, 1, 0)]),
            ("4k/150", &[(4096, 100, 1, 0)]),
            ("4k/50/0/9", &[(4096, 50, 2, 7)]),
            ("4k/50//", &[(4096, 50, 1, 0)]),
            ("4k:8k/:16k/0", &[]),
            (":4k/50", &[]),
            ("", &[]),
        ] {
            assert_eq!(read(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_share_is_a_mistake() {
        for text in [
            "/60",
            "k/50",
            "4k/x",
            "4k/50/1",
            "4k/50/1/",
            "4k/50/1/0/x",
            "4k/50/1/0/1/2",
            "4k/60/1/2:4k/60/2/3",
            "4k/60:8k/90:4k/60",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
