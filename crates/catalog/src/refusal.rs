//! An address that follows the grammar and names something that cannot be bought.

use crate::Part;

/// Which part is wrong, why, and what would be possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) part: Part,
    pub(crate) message: String,
}

impl Refusal {
    pub(crate) fn new(part: Part, message: impl Into<String>) -> Self {
        Self {
            part,
            message: message.into(),
        }
    }
}
