//! A statement that one case can make, or many together: its figures become ranges.

use blocklab_units::{Nanos, count, latency, rate};

/// A sentence without its subject, with `{}` where figures and names stand.
#[derive(Debug, Clone)]
pub(crate) struct Says {
    text: &'static str,
    slots: Vec<Slot>,
    /// A clause that follows where one case speaks alone: it would not survive a range.
    alone: Option<(&'static str, Vec<Slot>)>,
    /// How bad it is: of several cases, the worst is named.
    badness: Option<f64>,
}

/// What stands in a place of the sentence.
#[derive(Debug, Clone)]
pub(crate) enum Slot {
    /// Many cases: from the least to the most.
    Range(f64, fn(f64) -> String),
    /// Many cases: all of them together.
    Sum(f64),
    /// Many cases: each different one once.
    Word(String),
    /// Only cases in which it is the same are joined: a limit, with its unit, or what the others
    /// are held against. Figures of different limits have no range.
    Fixed(String),
}

/// A sentence; `slots` in the order of its `{}`.
pub(crate) fn says(text: &'static str, slots: impl Into<Vec<Slot>>) -> Says {
    Says {
        text,
        slots: slots.into(),
        alone: None,
        badness: None,
    }
}

impl Says {
    pub(crate) fn alone(mut self, text: &'static str, slots: impl Into<Vec<Slot>>) -> Self {
        self.alone = Some((text, slots.into()));
        self
    }

    /// How bad it is, on any scale that the cases of one rule share.
    pub(crate) const fn graded(mut self, badness: f64) -> Self {
        self.badness = Some(badness);
        self
    }

    /// The sentence before its figures, and what is fixed in it: what several cases must share to
    /// be one statement.
    pub(crate) fn kind(&self) -> (&'static str, Vec<String>) {
        let fixed = self.slots.iter().filter_map(|slot| match slot {
            Slot::Fixed(text) => Some(text.clone()),
            _ => None,
        });
        (self.text, fixed.collect())
    }
}

/// Place of the worst of several; `None` where one speaks alone or none is worse than the others.
pub(crate) fn worst(all: &[&Says]) -> Option<usize> {
    let grades: Vec<f64> = all.iter().filter_map(|one| one.badness).collect();
    let least = grades.iter().copied().reduce(f64::min)?;
    let (place, most) = grades
        .iter()
        .copied()
        .enumerate()
        .max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    (grades.len() == all.len() && most > least).then_some(place)
}

/// What several cases say, in the words of the first; they share its text.
pub(crate) fn together(all: &[&Says]) -> String {
    let Some(first) = all.first() else {
        return String::new();
    };
    let filled = |index: usize| {
        let slots: Vec<&Slot> = all.iter().filter_map(|one| one.slots.get(index)).collect();
        joined(&slots)
    };
    let figures = (0..first.slots.len()).map(filled).collect();
    let mut sentence = fill(first.text, figures);
    if let ([_], Some((text, slots))) = (all, &first.alone) {
        let figures = slots.iter().map(|slot| joined(&[slot])).collect();
        sentence.push_str(&fill(text, figures));
    }
    sentence
}

fn fill(text: &str, figures: Vec<String>) -> String {
    let mut figures = figures.into_iter();
    let mut parts = text.split("{}");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        filled.push_str(&figures.next().unwrap_or_default());
        filled.push_str(part);
    }
    filled
}

fn joined(slots: &[&Slot]) -> String {
    match slots.first() {
        None => String::new(),
        Some(Slot::Sum(_)) => count(slots.iter().map(|slot| slot.value()).sum()),
        Some(Slot::Range(_, show)) => {
            let values = || slots.iter().map(|slot| slot.value());
            let (least, most) = (values().reduce(f64::min), values().reduce(f64::max));
            range(
                &show(least.unwrap_or_default()),
                &show(most.unwrap_or_default()),
            )
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
            listed(&words, "or")
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

/// `a`, `a or b`, `a, b or c`.
pub(crate) fn listed(words: &[&str], joint: &str) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [all @ .., last] => format!("{} {joint} {last}", all.join(", ")),
    }
}

impl Slot {
    const fn value(&self) -> f64 {
        match self {
            Self::Range(value, _) | Self::Sum(value) => *value,
            Self::Word(_) | Self::Fixed(_) => 0.0,
        }
    }
}

/// `97 %`
pub(crate) fn percent(value: f64) -> Slot {
    Slot::Range(value, |value| format!("{value:.0} %"))
}

/// `1,234`
pub(crate) fn number(value: f64) -> Slot {
    Slot::Range(value, count)
}

/// `87.4`, `1,234`
pub(crate) fn speed(value: f64) -> Slot {
    Slot::Range(value, rate)
}

/// `12.3 µs`
pub(crate) fn delay(ns: f64) -> Slot {
    Slot::Range(ns, latency)
}

/// `6.0 s`, `3 min`: a length of time that somebody chose, not one that was measured.
pub(crate) fn time(time: Nanos) -> Slot {
    Slot::Range(time.0 as f64, |ns| match ns {
        ns if ns < 120e9 => format!("{:.1} s", ns / 1e9),
        ns => Nanos(ns as u64).to_string(),
    })
}

/// What several cases must have in common to be told together.
pub(crate) fn fixed(text: impl Into<String>) -> Slot {
    Slot::Fixed(text.into())
}

/// A name.
pub(crate) fn word(text: impl Into<String>) -> Slot {
    Slot::Word(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(all: &[Says], expected: &str) {
        let all: Vec<&Says> = all.iter().collect();
        assert_eq!(together(&all), expected);
    }

    #[test]
    fn figures_of_several_cases_are_a_range() {
        let busy = |value| says("it was {} busy", [percent(value)]);
        check(&[busy(97.0)], "it was 97 % busy");
        check(&[busy(97.0), busy(96.0)], "it was 96 to 97 % busy");
        check(&[busy(97.2), busy(96.9)], "it was 97 % busy");
        let took = |ns| says("took {} each", [delay(ns)]);
        check(&[took(950e3), took(1.2e6)], "took 950 µs to 1.20 ms each");
    }

    #[test]
    fn sums_add_up_and_names_are_listed_once() {
        let lost = |engine, n| says("{} lost {} of them", [word(engine), Slot::Sum(n)]);
        let all = [lost("mmap", 3.0), lost("psync", 2000.0), lost("mmap", 1.0)];
        check(&all, "mmap or psync lost 2,004 of them");
    }

    #[test]
    fn one_case_tells_more() {
        let fell = |to| says("it fell by {}", [percent(40.0)]).alone(": to {}", [speed(to)]);
        check(&[fell(300.0)], "it fell by 40 %: to 300");
        check(&[fell(300.0), fell(200.0)], "it fell by 40 %");
    }
}
