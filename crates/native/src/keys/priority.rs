//! Priorities of a job's operations, as the format writes them.

use blocklab_workload::{Direction, IoPriority, PriorityShare};

use super::super::error::Complaint;
use super::super::value::{Value, Word};
use super::words::{shown_table, size, spoken};

const CLASSES: [Word<u8>; 3] = [("realtime", 1), ("best-effort", 2), ("idle", 3)];

const DIRECTIONS: [Word<Direction>; 2] = [("read", Direction::Read), ("write", Direction::Write)];

pub(super) fn io_priority(value: Value<'_>) -> Result<IoPriority, Complaint> {
    let [class, level] = value.fields(["class", "level"])?;
    read(value, class, level)
}

fn read(
    table: Value<'_>,
    class: Option<Value<'_>>,
    level: Option<Value<'_>>,
) -> Result<IoPriority, Complaint> {
    let level = level.map_or(Ok(4), Value::count)?;
    Ok(IoPriority {
        class: class.map_or(Ok(2), |class| class.word(&CLASSES))?,
        level: u8::try_from(level)
            .map_err(|_| table.complaint(format!("`{level}` is not a level: 0 to 7")))?,
    })
}

pub(super) fn shown(priority: IoPriority) -> String {
    shown_table(&fields(priority))
}

fn fields(priority: IoPriority) -> [(&'static str, Option<String>); 2] {
    [
        ("class", spoken(&CLASSES, &priority.class)),
        ("level", Some(priority.level.to_string())),
    ]
}

pub(super) fn share(table: Value<'_>) -> Result<PriorityShare, Complaint> {
    let [direction, size, percent, class, level] =
        table.fields(["of", "size", "percent", "class", "level"])?;
    let (Some(direction), Some(percent)) = (direction, percent) else {
        return Err(table.complaint("a share needs `of` and `percent`"));
    };
    Ok(PriorityShare {
        direction: direction.word(&DIRECTIONS)?,
        size: size.map(Value::size).transpose()?,
        percent: percent.percent()?,
        priority: read(table, class, level)?,
    })
}

pub(super) fn shown_share(share: &PriorityShare) -> String {
    let [class, level] = fields(share.priority);
    shown_table(&[
        ("of", spoken(&DIRECTIONS, &share.direction)),
        ("size", share.size.map(size)),
        ("percent", Some(share.percent.to_string())),
        class,
        level,
    ])
}
