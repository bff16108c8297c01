//! Sound records of sketched cases.

#[path = "../../record/tests/sketch/mod.rs"]
mod sketch;
pub(crate) use sketch::{Sketch, record};

impl Sketch {
    pub(crate) fn named(case: &str) -> Self {
        Self {
            case: case.to_owned(),
            ..Self::default()
        }
    }
}
