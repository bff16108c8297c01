//! The command lines of the four tools, as data.

mod cdm;
mod diskspd;
mod fio;
mod vdbench;

pub use cdm::{CdmArgs, CdmProfile};
pub use diskspd::DiskspdArgs;
pub use fio::FioArgs;
pub use vdbench::VdbenchArgs;
