//! In: Records.
//! Out: one folder a run, the same Records again, and tables for other programs.
//! Never: rewrites a finished run, judges one, or trusts an index more than the folders.

mod each;
pub mod export;
mod find;
mod folder;
mod id;
mod index;
mod leftovers;
mod listing;
mod note;
mod plain;
mod removal;
pub mod spool;
mod store;
mod tags;
mod visible;

pub use each::each;
pub use find::FindError;
pub use folder::remove_if_there;
pub use id::is_id;
pub use index::{Derivation, Index, Indexed};
pub use listing::{Damaged, Listed, Listing};
pub use plain::read_plain;
pub use removal::Removal;
pub use store::{Store, StoreError, Stored};
pub use tags::is_tag;
pub use visible::as_visible;
