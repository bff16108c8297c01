use blocklab_workload::publication::System;

use super::super::error::Complaint;
use super::super::value::Value;
use super::{missing, text_or_empty};

pub(super) fn systems(sections: Vec<Value<'_>>) -> Result<Vec<System>, Complaint> {
    let mut systems: Vec<System> = Vec::new();
    for section in sections {
        let [name, address, because, measured, passes] =
            section.fields(["name", "address", "because", "measured", "passes"])?;
        let name = name.ok_or_else(|| missing(section, "a name", "name = \"i3.xlarge\""))?;
        let place = name;
        let name = name.name()?;
        if systems.iter().any(|it| it.name == name) {
            return Err(place.complaint(format!("two systems are called `{name}`")));
        }
        let address = address
            .ok_or_else(|| missing(section, "an address", "address = \"local@i3.xlarge\""))?
            .name()?;
        let passes = passes.map(|value| match value.count()? {
            0 => Err(value.complaint("at least one pass is needed")),
            passes => Ok(passes),
        });
        systems.push(System {
            name,
            address,
            because: text_or_empty(because)?,
            measured: measured.map(Value::flag).transpose()?.unwrap_or(true),
            passes: passes.transpose()?,
        });
    }
    Ok(systems)
}
