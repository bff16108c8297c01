//! Targets that differ in the number at the end of their paths alone, as one.

use blocklab_workload::numbered;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::TargetFacts;

/// The facts of the first target, and the path of the last one where there are more.
#[derive(Serialize, Deserialize)]
struct Entry {
    #[serde(flatten)]
    facts: TargetFacts,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last: Option<String>,
}

/// The targets in groups of many that differ in the number at the end of their paths alone; the
/// others by themselves.
pub fn grouped(mut targets: &[TargetFacts]) -> impl Iterator<Item = &[TargetFacts]> {
    std::iter::from_fn(move || {
        let len = numbered::run_len(targets, |target| &target.path, TargetFacts::is_like);
        let (group, rest) = targets.split_at(len);
        targets = rest;
        (len > 0).then_some(group)
    })
}

pub(crate) fn serialize<S: Serializer>(targets: &[TargetFacts], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(grouped(targets).map(|group| Entry {
        facts: group[0].clone(),
        last: (group.len() > 1).then(|| group[group.len() - 1].path.clone()),
    }))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<TargetFacts>, D::Error> {
    let mut targets = Vec::new();
    for Entry { facts, last } in Vec::deserialize(from)? {
        let Some(last) = last else {
            targets.push(facts);
            continue;
        };
        let paths = numbered::expand(&facts.path, &last).map_err(D::Error::custom)?;
        targets.extend(paths.map(|path| TargetFacts {
            path,
            ..facts.clone()
        }));
    }
    Ok(targets)
}

#[cfg(test)]
mod tests {
    use blocklab_units::Bytes;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(transparent)]
    struct Targets(#[serde(with = "super")] Vec<TargetFacts>);

    /// 32,000 files of a job of fio made a record of 9.5 MB.
    #[test]
    fn many_targets_that_are_alike_are_one_entry() {
        let target = |path: String, size| TargetFacts {
            path,
            size_bytes: Bytes(size),
            ..TargetFacts::default()
        };
        let named = |number: u64| target(format!("d/x.0.{number}"), 4096 + number / 1000);
        let targets = Targets(
            (0..1500)
                .map(named)
                .chain([target("other".into(), 1)])
                .collect(),
        );
        let json = serde_json::to_value(&targets).expect("JSON");
        let entries = json.as_array().expect("a list");
        let ends = |entry: &serde_json::Value| (entry["path"].clone(), entry["last"].clone());
        let expected = serde_json::json!([
            ["d/x.0.0", "d/x.0.999"],
            ["d/x.0.1000", "d/x.0.1499"],
            ["other", null]
        ]);
        let found: Vec<_> = entries.iter().map(ends).collect();
        assert_eq!(serde_json::json!(found), expected);
        assert_eq!(
            serde_json::from_value::<Targets>(json).expect("targets"),
            targets
        );
    }
}
