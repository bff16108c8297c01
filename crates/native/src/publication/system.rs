use blocklab_publication::System;

use super::super::error::Complaint;
use super::super::value::Value;
use super::{missing, text_or_empty};

const KEYS: [&str; 6] = [
    "name", "address", "because", "measured", "passes", "devices",
];

pub(super) fn systems(sections: Vec<Value<'_>>) -> Result<Vec<System>, Complaint> {
    let mut systems: Vec<System> = Vec::new();
    for section in sections {
        let [name, address, because, measured, passes, devices] = section.fields(KEYS)?;
        let name = name.ok_or_else(|| missing(section, "a name", "name = \"i3.xlarge\""))?;
        let place = name;
        let name = name.name()?;
        if systems.iter().any(|it| it.name == name) {
            return Err(place.complaint(format!("two systems are called `{name}`")));
        }
        let address = address
            .ok_or_else(|| missing(section, "an address", "address = \"local@i3.xlarge\""))?
            .name()?;
        let at_least_one = |value: Value<'_>| match value.count()? {
            0 => Err(value.complaint("at least one is needed")),
            count => Ok(count),
        };
        systems.push(System {
            name,
            address,
            because: text_or_empty(because)?,
            measured: measured.map(Value::flag).transpose()?.unwrap_or(true),
            passes: passes.map(at_least_one).transpose()?,
            devices: devices.map(at_least_one).transpose()?.unwrap_or(1),
        });
    }
    Ok(systems)
}
