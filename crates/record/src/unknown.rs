//! Figures that are unknown, since another program printed a mean and no percentiles, say. In memory
//! such a figure is 0 and is listed in the [`Unknown`] of its owner; in JSON it is `null`.

/// A figure that may be unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    /// The least.
    Min,
    /// The most.
    Max,
    /// The mean.
    Mean,
    /// The standard deviation.
    Stddev,
    /// The median.
    P50,
    /// The 90th percentile.
    P90,
    /// The 99th percentile.
    P99,
    /// The 99.9th percentile.
    P999,
    /// The 99.99th percentile.
    P9999,
    /// The bytes moved.
    Bytes,
    /// How busy the machine was.
    MachineBusy,
    /// What the process that issued the load used.
    Process,
}

/// The figures of an owner that are not known. Our own runs have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Unknown(u16);

impl Unknown {
    /// Whether a figure is not known.
    pub const fn has(self, statistic: Statistic) -> bool {
        self.0 & (1 << statistic as u16) != 0
    }

    /// What is unknown here or there.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl FromIterator<Statistic> for Unknown {
    fn from_iter<I: IntoIterator<Item = Statistic>>(statistics: I) -> Self {
        let bits = statistics
            .into_iter()
            .map(|statistic| 1 << statistic as u16);
        Self(bits.fold(0, |all, bit: u16| all | bit))
    }
}

/// A struct with an [`Unknown`], and its JSON: fields that are always known, those that are `null`
/// where their statistic is unknown, and again some that are always known.
macro_rules! stored {
    ($(#[$about:meta])* pub struct $owner:ident, stored as $form:ident {
        $($(#[$before_doc:meta])* pub $before:ident: $before_type:ty,)*
        [$($(#[$doc:meta])* pub $field:ident: $type:ty = $statistic:ident,)*]
        $($(#[$after_doc:meta])* pub $after:ident: $after_type:ty,)*
    }) => {
        $(#[$about])*
        pub struct $owner {
            $($(#[$before_doc])* pub $before: $before_type,)*
            $($(#[$doc])* pub $field: $type,)*
            $($(#[$after_doc])* pub $after: $after_type,)*
            /// What another program did not report; its fields mean nothing.
            pub unknown: $crate::Unknown,
        }

        #[derive(serde::Serialize, serde::Deserialize)]
        pub(crate) struct $form {
            $($before: $before_type,)*
            $($field: Option<$type>,)*
            $($after: $after_type,)*
        }

        impl From<$owner> for $form {
            fn from(owner: $owner) -> Self {
                Self {
                    $($field: (!owner.unknown.has($crate::Statistic::$statistic))
                        .then_some(owner.$field),)*
                    $($before: owner.$before,)*
                    $($after: owner.$after,)*
                }
            }
        }

        impl From<$form> for $owner {
            fn from(form: $form) -> Self {
                let statistics = [
                    $((form.$field.is_none(), $crate::Statistic::$statistic),)*
                ];
                Self {
                    $($before: form.$before,)*
                    $($field: form.$field.unwrap_or_default(),)*
                    $($after: form.$after,)*
                    unknown: statistics
                        .into_iter()
                        .filter_map(|(is_unknown, statistic)| is_unknown.then_some(statistic))
                        .collect(),
                }
            }
        }
    };
}

pub(crate) use stored;

/// A count that is never 0 where it is known: 0 is `null` in JSON.
pub(crate) mod zero_is_null {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(count: &u32, serializer: S) -> Result<S::Ok, S::Error> {
        (*count > 0).then_some(*count).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
        Ok(Option::<u32>::deserialize(from)?.unwrap_or_default())
    }
}
