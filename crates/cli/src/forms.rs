//! The envelopes of JSON that the program itself puts together: an object with a version in it, so
//! that fields can be added and nobody has to guess what they read.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Serialize;

/// A key and its number. Fields are added without a new number; a change of meaning needs one.
pub type Form = (&'static str, u32);

/// Of `list`.
pub const LIST: Form = ("list_format", 1);
/// Of `devices`.
pub const DEVICES: Form = ("devices_format", 1);
/// Of `catalog list`.
pub const CATALOG_LIST: Form = ("catalog_list_format", 1);
/// Of `catalog show`.
pub const CATALOG_SHOW: Form = ("catalog_show_format", 1);
/// Of `catalog import`.
pub const CATALOG_IMPORT: Form = ("catalog_import_format", 1);
/// Of `import`.
pub const IMPORT: Form = ("import_format", 1);
/// Of `calibrate`.
pub const CALIBRATION: Form = ("calibration_format", 1);

#[derive(Serialize)]
struct Envelope<'a, T> {
    #[serde(flatten)]
    version: BTreeMap<&'static str, u32>,
    #[serde(flatten)]
    fields: &'a T,
}

/// The fields of a form that has one.
pub fn only<'a, T>(key: &'static str, value: &'a T) -> BTreeMap<&'static str, &'a T> {
    BTreeMap::from([(key, value)])
}

/// One JSON object, indented, the version first, with a newline at the end.
pub fn json(form: Form, fields: &impl Serialize) -> Result<String> {
    let whole = Envelope {
        version: BTreeMap::from([form]),
        fields,
    };
    Ok(serde_json::to_string_pretty(&whole)? + "\n")
}
