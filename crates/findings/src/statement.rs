//! A statement on one case, or on many together: its figures become ranges.

use blocklab_units::{Nanos, agreeing, count, latency, plural, rate, significant, stated};

/// What fills one `{}` of the sentence.
#[derive(Debug, Clone)]
pub enum Slot {
    /// Several cases show the least and the most: `96 to 97 %`.
    Range(f64, fn(f64) -> String),
    /// Several cases show the sum, with the words that agree with it: `1 operation was`.
    Sum {
        /// What is added up.
        number: f64,
        /// The words behind a sum of 1.
        one: String,
        /// The words behind any other sum.
        many: String,
    },
    /// Several cases list each different word once.
    Word(String),
    /// Only cases with the same text are joined: a limit, with its unit, or what the others are compared
    /// with. Figures of different limits have no range.
    Fixed(String),
}

/// A list in a sentence has at most this many entries.
const WORDS: usize = 4;

/// The sentence on several cases: `cases` are the slots of each, in the order of the `{}`.
pub fn sentence(text: &str, cases: &[&[Slot]]) -> String {
    let mut parts = text.split("{}");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for (index, part) in parts.enumerate() {
        let slots: Vec<&Slot> = cases.iter().filter_map(|case| case.get(index)).collect();
        filled.push_str(&joined(&slots));
        filled.push_str(part);
    }
    filled
}

/// One text for the same slot of several cases: sums are added, ranges span all values, and words
/// are listed once each.
fn joined(slots: &[&Slot]) -> String {
    match slots.first() {
        None => String::new(),
        Some(Slot::Sum { one, many, .. }) => {
            let sum: f64 = slots.iter().map(|slot| slot.value()).sum();
            format!("{} {}", count(sum), agreeing(sum as usize, one, many))
        }
        Some(Slot::Range(_, show)) => {
            let values = slots.iter().map(|slot| slot.value());
            let least = values.clone().reduce(f64::min).unwrap_or_default();
            let most = values.reduce(f64::max).unwrap_or_default();
            range(&show(least), &show(most))
        }
        Some(Slot::Word(_)) => {
            let mut words: Vec<&str> = Vec::new();
            for slot in slots {
                if let Slot::Word(word) = slot
                    && !words.contains(&&**word)
                {
                    words.push(word);
                }
            }
            few(&words)
        }
        Some(Slot::Fixed(text)) => text.clone(),
    }
}

/// `97 %`, `96 to 97 %`, `950 µs to 1.20 ms`.
fn range(least: &str, most: &str) -> String {
    if least == most {
        return most.to_owned();
    }
    match (least.rsplit_once(' '), most.rsplit_once(' ')) {
        (Some((number, unit)), Some((_, same))) if unit == same => format!("{number} to {most}"),
        _ => format!("{least} to {most}"),
    }
}

/// The first words of a long list, and the number of the others: `a, b, c or 17 others`.
fn few(words: &[&str]) -> String {
    if words.len() <= WORDS {
        return listed(words, "or");
    }
    let (shown, rest) = words.split_at(WORDS - 1);
    listed(&[shown, &[&*plural(rest.len(), "other")]].concat(), "or")
}

/// `a`, `a or b`, `a, b or c`.
pub fn listed(words: &[&str], joint: &str) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [all @ .., last] => format!("{} {joint} {last}", all.join(", ")),
    }
}

impl Slot {
    const fn value(&self) -> f64 {
        match self {
            Self::Range(value, _) | Self::Sum { number: value, .. } => *value,
            Self::Word(_) | Self::Fixed(_) => 0.0,
        }
    }
}

/// `97 %`
pub fn percent(value: f64) -> Slot {
    Slot::Range(value, |value| format!("{} %", count(value)))
}

/// `1,234`; below 1, as the rate of very large operations, `0.26`
pub fn number(value: f64) -> Slot {
    Slot::Range(value, |value| {
        if value < 1.0 {
            significant(value, 2)
        } else {
            count(value)
        }
    })
}

/// `1 operation`, `1,234 operations`
pub fn operations(number: f64) -> Slot {
    Slot::Range(number, |number| plural(number as usize, "operation"))
}

/// A number that is added up over the cases, with the words that agree with it.
pub fn sum(number: f64, one: impl Into<String>, many: impl Into<String>) -> Slot {
    Slot::Sum {
        number,
        one: one.into(),
        many: many.into(),
    }
}

/// `87.4`, `1,234`
pub fn speed(value: f64) -> Slot {
    Slot::Range(value, rate)
}

/// `125 MiB/s`: the figure of a limit.
pub fn in_unit(value: f64, unit: &str) -> Slot {
    fixed(format!("{} {unit}", stated(value)))
}

/// `12.3 µs`
pub fn delay(ns: f64) -> Slot {
    Slot::Range(ns, latency)
}

/// `6.0 s`, `3 min`: a length of time that needs no more than a decimal.
pub fn time(time: Nanos) -> Slot {
    Slot::Range(time.0 as f64, |ns| match ns {
        // A run that was stopped at once.
        ns if ns < 50e6 => latency(ns),
        ns if ns < 120e9 => format!("{:.1} s", ns / 1e9),
        ns => Nanos(ns as u64).to_string(),
    })
}

/// What several cases must have in common to share a finding.
pub fn fixed(text: impl Into<String>) -> Slot {
    Slot::Fixed(text.into())
}

/// What may differ between the cases of a finding.
pub fn word(text: impl Into<String>) -> Slot {
    Slot::Word(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<const N: usize>(text: &str, cases: &[[Slot; N]], expected: &str) {
        let cases: Vec<&[Slot]> = cases.iter().map(|case| &case[..]).collect();
        assert_eq!(sentence(text, &cases), expected);
    }

    #[test]
    fn figures_of_several_cases_are_a_range() {
        let busy = |values: &[f64], expected| {
            let cases: Vec<_> = values.iter().map(|value| [percent(*value)]).collect();
            check("it was {} busy", &cases, expected);
        };
        busy(&[97.0], "it was 97 % busy");
        busy(&[97.0, 96.0], "it was 96 to 97 % busy");
        busy(&[97.2, 96.9], "it was 97 % busy");
        let took = [[delay(950e3)], [delay(1.2e6)]];
        check("took {} each", &took, "took 950 µs to 1.20 ms each");
        for (measured, expected) in [
            (49_000_000, "49.0 ms"),
            (50_000_000, "0.1 s"),
            (6_000_000_000, "6.0 s"),
        ] {
            check("{}", &[[time(Nanos(measured))]], expected);
        }
    }

    /// The story: of operations of 1 GiB, "its 0 IOPS are not the 0 of this address".
    #[test]
    fn a_rate_below_one_is_not_nothing() {
        for (iops, expected) in [(0.267, "0.27"), (0.0, "0"), (1.4, "1"), (3000.2, "3,000")] {
            check("{}", &[[number(iops)]], expected);
        }
    }

    #[test]
    fn sums_add_up_and_names_are_listed_once() {
        let lost = |engine, n| [word(engine), sum(n, "operation", "operations")];
        let all = [lost("mmap", 3.0), lost("psync", 2000.0), lost("mmap", 1.0)];
        check("{} lost {}", &all, "mmap or psync lost 2,004 operations");
    }

    /// The story: of a sweep of 500 cases the findings were 255 kB, as each sentence listed the twenty
    /// cases that the others were compared with.
    #[test]
    fn of_many_names_the_first_are_listed_and_the_others_counted() {
        let names: Vec<_> = (1..=20).map(|n| [word(format!("q{n}"))]).collect();
        check("as {} did", &names[..4], "as q1, q2, q3 or q4 did");
        check("as {} did", &names[..5], "as q1, q2, q3 or 2 others did");
        check("as {} did", &names, "as q1, q2, q3 or 17 others did");
    }
}
