//! Which of several dated statements holds on a day.

use std::cmp::Reverse;

use blocklab_device::{Limit, LimitKind, LimitName, LimitUnit, Origin};
use blocklab_workload::Date;

/// How the source of an assumed figure begins: the rest is the reason.
const ASSUMED: &str = "assumed: ";

/// A number, its unit and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    pub(crate) value: f64,
    pub(crate) unit: LimitUnit,
    pub(crate) origin: Origin,
}

impl Figure {
    /// The figure as a bound of what may be bought from `owner`.
    pub(crate) fn bound(self, owner: &str, what: impl Into<String>) -> Limit {
        Limit {
            name: LimitName {
                owner: owner.to_owned(),
                volumes: None,
                kind: LimitKind::Bound { what: what.into() },
            },
            value: self.value,
            unit: self.unit,
            origin: self.origin,
        }
    }
}

/// A unit of the tables as it is shown.
pub(crate) fn unit(text: &str) -> Option<LimitUnit> {
    let known = LimitUnit::ALL.into_iter().find(|unit| unit.text() == text);
    known.or((text == "TiB per TiB").then_some(LimitUnit::TibPerTib))
}

/// A source stated this from one day to another, both included.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Statement {
    pub(crate) value: f64,
    pub(crate) from: Date,
    pub(crate) to: Date,
    /// The date as the source gives it: a day, a month, or from one day to another.
    pub(crate) dated: String,
    pub(crate) source: String,
}

impl Statement {
    /// A value that a source states for these days, both included.
    pub(crate) fn over(from: Date, to: Date, value: f64, source: &str) -> Self {
        Self {
            value,
            from,
            to,
            dated: if from == to {
                from.to_string()
            } else {
                format!("{from}..{to}")
            },
            source: source.to_owned(),
        }
    }
}

/// The statement that holds on a day, and how sure that is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InForce {
    /// What the source stated on that day, or last before it.
    pub(crate) statement: Statement,
    /// It was stated only later: the first that is known.
    pub(crate) is_later: bool,
}

/// What holds on `day` (`None`: today): what was stated on that day; else the last before it; else
/// the first after it. Where sources disagree about one day, the younger statement counts, then
/// the one that held longer, then the smaller value.
pub(crate) fn holds(statements: &[Statement], day: Option<Date>) -> Option<InForce> {
    let day = day.unwrap_or(Date::MAX);
    // The bits of positive numbers have the order of the numbers, which a key needs and `f64` lacks.
    let now = statements
        .iter()
        .filter(|s| s.from <= day && day <= s.to)
        .max_by_key(|s| (s.from, s.to, Reverse(s.value.to_bits())));
    let before = statements
        .iter()
        .filter(|s| s.to < day)
        .max_by_key(|s| (s.to, s.from, Reverse(s.value.to_bits())));
    let after = statements
        .iter()
        .filter(|s| s.from > day)
        .min_by_key(|s| (s.from, s.value.to_bits()));
    let known = now.or(before);
    Some(InForce {
        is_later: known.is_none(),
        statement: known.or(after)?.clone(),
    })
}

impl InForce {
    /// The value with the origin that its statement gives.
    pub(crate) fn figure(&self, unit: LimitUnit) -> Figure {
        let statement = &self.statement;
        let origin = if let Some(because) = statement.source.strip_prefix(ASSUMED) {
            Origin::assumed(because)
        } else if self.is_later {
            Origin::assumed(&format!(
                "first documented on {}: {}",
                statement.from, statement.source
            ))
        } else {
            Origin::documented(&statement.source, &statement.dated)
        };
        Figure {
            value: statement.value,
            unit,
            origin,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Date {
        text.parse().expect("a day")
    }

    /// i3.xlarge, writes of the instance store.
    fn story() -> Vec<Statement> {
        let stated = |value, from, to| Statement {
            value,
            from: day(from),
            to: day(to),
            dated: from.into(),
            source: "guide".into(),
        };
        vec![
            stated(18_750.0, "2017-02", "2017-02"),
            stated(70_000.0, "2018-02-02", "2022-08-15"),
            stated(71_000.0, "2023-03-07", "2023-05-11"),
        ]
    }

    #[track_caller]
    fn check(on: Option<&str>, value: f64, known: bool) {
        let story = story();
        let holds = holds(&story, on.map(day)).expect("something holds");
        assert_eq!(holds.statement.value, value, "{on:?}");
        assert_eq!(!holds.is_later, known, "{on:?}");
        assert_eq!(holds.figure(LimitUnit::Iops).origin.is_assumed(), !known);
    }

    #[test]
    fn the_day_decides() {
        check(Some("2016-01-01"), 18_750.0, false);
        check(Some("2017-02-01"), 18_750.0, true);
        check(Some("2018-02-01"), 18_750.0, true);
        check(Some("2018-02-02"), 70_000.0, true);
        check(Some("2022-08-15"), 70_000.0, true);
        check(Some("2023-01-19"), 70_000.0, true);
        check(Some("2023-03-07"), 71_000.0, true);
        check(None, 71_000.0, true);
        assert_eq!(holds(&[], None), None);
    }
}
