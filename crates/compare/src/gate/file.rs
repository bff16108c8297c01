//! In: the text of a file of gates, in TOML. Out: the conditions in it, and the loads that each is about.

use std::fmt;

use blocklab_workload::Direction;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{Condition, LoadCondition, Loads};

/// A file of conditions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Gates {
    /// Conditions for all loads.
    #[serde(default, deserialize_with = "conditions")]
    fail_on: Vec<Condition>,
    #[serde(default)]
    gate: Vec<OfLoads>,
}

/// Conditions of some loads.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfLoads {
    case: Option<String>,
    direction: Option<Direction>,
    #[serde(deserialize_with = "conditions")]
    fail_on: Vec<Condition>,
}

/// What is wrong with a file, or with a list in it, that has no condition.
const NO_CONDITION: &str = "it has no condition, such as fail_on = [\"p99>5ms\"]";

/// Reads a list of conditions, or a single one as a list of one.
fn conditions<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Condition>, D::Error> {
    struct Conditions;

    impl<'de> Visitor<'de> for Conditions {
        type Value = Vec<Condition>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a condition such as \"p99>5ms\", or a list of them")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
            let condition = text.parse().map_err(E::custom)?;
            Ok(vec![condition])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut conditions = Vec::new();
            while let Some(Written(condition)) = list.next_element()? {
                conditions.push(condition);
            }
            // A gate without a condition passes any run.
            if conditions.is_empty() {
                return Err(A::Error::custom(NO_CONDITION));
            }
            Ok(conditions)
        }
    }

    deserializer.deserialize_any(Conditions)
}

/// A condition as people write it.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Written(Condition);

impl TryFrom<String> for Written {
    type Error = super::NoCondition;

    fn try_from(text: String) -> Result<Self, super::NoCondition> {
        text.parse().map(Self)
    }
}

/// The conditions in the text of a file of gates: those of all loads first.
///
/// # Errors
/// What is wrong with it and where; also where it has no condition at all.
pub fn conditions_in(text: &str) -> Result<Vec<LoadCondition>, String> {
    let gates: Gates = toml::from_str(text).map_err(|error| error.to_string())?;
    let mut conditions: Vec<LoadCondition> =
        gates.fail_on.into_iter().map(LoadCondition::from).collect();
    for of_loads in gates.gate {
        let loads = Loads {
            case: of_loads.case,
            direction: of_loads.direction,
        };
        conditions.extend(of_loads.fail_on.into_iter().map(|condition| LoadCondition {
            condition,
            loads: loads.clone(),
        }));
    }
    if conditions.is_empty() {
        return Err(NO_CONDITION.to_owned());
    }
    Ok(conditions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let conditions = conditions_in(text).expect(text);
        let written: Vec<String> = conditions
            .iter()
            .map(|one| one.condition.to_string())
            .collect();
        assert_eq!(written, expected, "{text}");
    }

    /// The story: `fail_on = "slower:5%"` ended in "invalid type: string, expected a sequence".
    #[test]
    fn a_single_condition_needs_no_brackets() {
        check("fail_on = \"slower:5%\"", &["slower:5%"]);
        check(
            "fail_on = [\"slower:5%\", \"missed\"]",
            &["slower:5%", "missed"],
        );
        check("[[gate]]\ncase = \"a*\"\nfail_on = \"missed\"", &["missed"]);
    }

    #[test]
    fn what_is_no_condition_is_refused_with_what_is_one() {
        for (text, expected) in [
            ("", "it has no condition, such as"),
            ("fail_on = []", "it has no condition, such as"),
            ("fail_on = 5", "expected a condition such as"),
            ("fail_on = \"fast\"", "fast"),
            ("fail_on = [\"fast\"]", "fast"),
            ("[[gate]]\ncase = \"a\"", "fail_on"),
            // The story: beside another condition, the empty one passed without a word.
            (
                "fail_on = \"missed\"\n[[gate]]\ncase = \"a\"\nfail_on = []",
                "it has no condition, such as",
            ),
            ("failon = \"missed\"", "fail_on"),
        ] {
            let why = conditions_in(text).expect_err(text);
            assert!(why.contains(expected), "{text}: {why}");
        }
    }
}
