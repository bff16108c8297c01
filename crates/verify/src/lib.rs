//! In: how a job verifies its data; the buffer of a write; the block that a read should find.
//! Out: buffers marked with headers, patterns, checksums or keys; miscompares.
//! Never: the language of the request; a file, a clock.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod block_header;
mod data_check;
mod digest;
mod key_map;
mod miscompare;
mod saved_keys;
mod sector;

pub use block_header::{BlockHeaders, ExpectedBlock, Generation, MAGIC};
pub use data_check::DataCheck;
pub use key_map::{KeyMap, Settled, Taken, Wrongs, saved_name};
pub use miscompare::{Good, Miscompare, MiscompareKind, WrongBlock};
pub use saved_keys::{JournalFault, JournalWriter, MapState, Pending, SavedKeys};
pub use sector::{WrongKind, WrongSector};
