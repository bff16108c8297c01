//! In: the text of a study, as people write it.
//! Out: a Plan as meant, Notes on what was understood differently, or an error with a place.
//! Never: a file, a run, an option dropped in silence.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod nearest;
#[cfg(test)]
mod pages;

pub mod cdm;
pub mod diskspd;
pub mod encoding;
pub mod fio;
pub mod import;
pub mod native;
pub mod studies;
pub mod vdbench;
