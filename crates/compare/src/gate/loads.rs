//! Which loads a condition is about.

use blocklab_workload::Direction;

/// A choice of loads by the name of the case and by the direction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Loads {
    /// The name of a case, in which `*` stands for any text; `None`: all.
    pub case: Option<String>,
    /// `None`: all.
    pub direction: Option<Direction>,
}

impl Loads {
    /// `rand* read`; empty for all loads.
    pub(super) fn text(&self) -> String {
        let direction = self.direction.map(Direction::name);
        let parts = self.case.as_deref().into_iter().chain(direction);
        parts.collect::<Vec<&str>>().join(" ")
    }

    /// Whether it includes a case, in any direction.
    pub fn has_case(&self, name: &str) -> bool {
        let pattern = self.case.as_deref();
        pattern.is_none_or(|pattern| fits(pattern, name))
    }

    /// Whether it includes a direction of a case.
    pub fn has(&self, case: &str, direction: Direction) -> bool {
        let wanted = self.direction;
        self.has_case(case) && wanted.is_none_or(|wanted| wanted == direction)
    }
}

/// Whether a name matches a pattern in which `*` stands for any text. The time grows with the product
/// of both lengths at most: patterns come from web pages, too.
pub fn fits(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let (middle, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
    let between = name
        .strip_prefix(head)
        .and_then(|name| name.strip_suffix(tail));
    let Some(mut name) = between else {
        return false;
    };
    // The first place of a part is the best one: it leaves the most text to the parts after it.
    for part in middle.split('*') {
        let Some((_, after)) = name.split_once(part) else {
            return false;
        };
        name = after;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "ab", true),
            ("*", "", true),
            ("*b*", "abc", true),
            ("a*c", "abc", true),
            ("a*c", "abcd", false),
            ("a*b*c", "axxbyyc", true),
            ("größe*", "größe1", true),
            ("*ß*e", "größe", true),
            // The text of the head is not the text of the tail.
            ("ab*bc", "abc", false),
            ("a*bb*b", "abb", false),
            ("a*bb*b", "abbb", true),
            ("*ab*ab*", "abab", true),
            ("*ab*ab*", "abb", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    /// The story: `/history.json?case=****…b` kept a thread of `blocklab serve` busy for ever, and
    /// 64 such requests made it answer nobody. Each star tried every place for itself, so thirty of
    /// them tried 10^18 combinations.
    #[test]
    fn many_stars_are_no_more_work_than_one() {
        let name = "rand-4KiB-q1-read".repeat(50);
        for part in ["*", "*a", "*rand", "*4KiB*q1"] {
            let stars = part.repeat(40);
            assert!(fits(&format!("{stars}*"), &name), "{stars}");
            assert!(!fits(&format!("{stars}*!*"), &name), "{stars}");
        }
    }
}
