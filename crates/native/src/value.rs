//! What only a study's values have: processors as `taskset` writes them, and small tables whose
//! unknown keys may be another language's.
//!
//! What values of every TOML file have in common is in [`blocklab_syntax::toml_tree`].

use blocklab_syntax::number::processor_list;
use blocklab_syntax::toml_tree::Complaint;
pub(super) use blocklab_syntax::toml_tree::{Node, Value, Word};

use super::left_out::foreign_field;

/// Binds the values of a small table to the names of its keys.
macro_rules! fields {
    ($table:expr; $($name:ident),+) => {
        let [$($name),+] = $crate::value::optional($table, [$(stringify!($name)),+])?;
    };
}

pub(super) use fields;

/// The values of a small table with exactly these keys, each optional; see [`fields`].
pub(super) fn optional<'v, const N: usize>(
    table: Value<'v>,
    names: [&'static str; N],
) -> Result<[Option<Value<'v>>; N], Complaint> {
    table.fields(names, foreign_field)
}

/// Processors: a list of numbers, or a text of numbers and ranges.
pub(super) fn processors(value: Value<'_>) -> Result<Vec<u32>, Complaint> {
    match value.text() {
        Ok(text) => processor_list(text).ok_or_else(|| {
            value.complaint(format!(
                "`{text}` is not a list of processors such as 0-3,7"
            ))
        }),
        Err(_) => value.list()?.into_iter().map(Value::count).collect(),
    }
}
