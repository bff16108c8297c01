//! In: the parts of a plan that are not plain data. Out: their form in JSON, and back:
//!
//! ```text
//!   seed              "1311768467463790320"        a string: JSON readers lose low bits of numbers
//!   fill, patterns    "deadbeef"                   two hexadecimal digits a byte
//!   targets           {"first": "f.0", "last": "f.999"} for names that end in consecutive numbers
//!   replay            a trace's path, checksum and changes: the operations are read again
//!   most_errors       the limit and its counter:   jobs with the same counter count together
//! ```

/// Version of a plan's JSON. A change of meaning or shape, of a default or of the words of a choice
/// needs a new one, and a golden file of the old one under `golden/`.
pub const PLAN_FORMAT: u32 = 2;

/// A number as text.
pub(crate) mod text {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(number: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(number)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// Bytes as pairs of hexadecimal digits.
pub(crate) mod hex {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&shown(bytes))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(from)?;
        read(&text).ok_or_else(|| D::Error::custom("not pairs of hexadecimal digits"))
    }

    pub(super) fn shown(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub(super) fn read(text: &str) -> Option<Vec<u8>> {
        text.as_bytes()
            .chunks(2)
            .map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?))
            .collect()
    }

    fn digit(byte: u8) -> Option<u8> {
        char::from(byte).to_digit(16).map(|digit| digit as u8)
    }
}

/// Optional, shared bytes.
pub(crate) mod shared_hex {
    use std::sync::Arc;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(
        bytes: &Option<Arc<[u8]>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        bytes.as_deref().map(super::hex::shown).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Arc<[u8]>>, D::Error> {
        let Some(text) = Option::<String>::deserialize(from)? else {
            return Ok(None);
        };
        super::hex::read(&text)
            .map(|bytes| Some(bytes.into()))
            .ok_or_else(|| D::Error::custom("not pairs of hexadecimal digits"))
    }
}
