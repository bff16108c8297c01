//! A plan as JSON: what of it is no plain data, and how that is written.
//!
//! ```text
//!   seed              "1311768467463790320"        a text: JSON readers lose low bits of numbers
//!   fill, patterns    "deadbeef"                   two hexadecimal digits a byte
//!   targets           {"first": "f.0", "last": "f.999"} for names that end in the next number each
//!   replay            a trace's path, checksum and changes: the operations are read again
//!   most_errors       the limit and its counter:   jobs with the same counter count together
//! ```

/// The number of the JSON of a plan. A change of meaning or shape, defaults and the words of a
/// choice included, needs a new one, and a golden file of the old one under `golden/`.
pub const PLAN_FORMAT: u32 = 2;

/// A number as text.
pub(crate) mod text {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(number: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(number)
    }

    pub(crate) fn deserialize<'de, T, D>(from: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
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
        read(&text).ok_or_else(|| D::Error::custom("no pairs of hexadecimal digits"))
    }

    pub(super) fn shown(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub(super) fn read(text: &str) -> Option<Vec<u8>> {
        let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
        let pair = |pair: &[u8]| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?);
        text.as_bytes().chunks(2).map(pair).collect()
    }
}

/// Bytes that may be there, and are shared.
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
        let bytes = super::hex::read(&text);
        let bytes = bytes.ok_or_else(|| D::Error::custom("no pairs of hexadecimal digits"))?;
        Ok(Some(bytes.into()))
    }
}

/// A value that may be there, and is shared.
pub(crate) mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<T, S>(value: &Option<Arc<T>>, to: S) -> Result<S::Ok, S::Error>
    where
        T: Serialize + ?Sized,
        S: Serializer,
    {
        value.as_deref().serialize(to)
    }

    pub(crate) fn deserialize<'de, T, D>(from: D) -> Result<Option<Arc<T>>, D::Error>
    where
        T: ?Sized,
        Box<T>: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        Ok(Option::<Box<T>>::deserialize(from)?.map(Arc::from))
    }
}
