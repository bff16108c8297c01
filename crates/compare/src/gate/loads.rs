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

/// Whether a name matches a pattern in which `*` stands for any text.
pub fn fits(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(name) = name.strip_prefix(head) else {
        return false;
    };
    // The star may stand for nothing, and for all that is left.
    let mut starts = name
        .char_indices()
        .map(|(start, _)| start)
        .chain([name.len()]);
    starts.any(|start| fits(rest, &name[start..]))
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
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }
}
