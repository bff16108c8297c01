//! In: an address; figures of vendors, embedded or imported by a user.
//! Out: a device, with limits and prices that hold on that day in that region, and their sources.
//! Never: a number without a source; a figure of a vendor changed by an import.

mod catalog;
mod figure;
mod load;
mod table;
mod user;

mod delivered;
mod instance;
mod local;
mod machine;
mod stand_in;
mod vendor;
mod volumes;

mod cost;
mod draft;
mod price;
mod price_list;
mod published;
mod remarks;

mod embedded;
mod endurance;
mod error;
mod resolve;
#[cfg(test)]
mod resolve_tests;

mod host;
pub mod import;
mod list;
mod sheet;
mod sold;
mod stretch;
pub mod unit_price;

pub mod device_file;

pub use catalog::Catalog;
pub use cost::Cost;
pub use draft::cap;
pub use endurance::{Bucket, Endurance, NotALoad, SteadyLoad};
pub use error::Error;
pub use host::{Host, Hosts};
pub use list::{Filter, Listed};
pub use local::NAME as LOCAL;
pub use price::{Evidence, HOURS_PER_MONTH, Per, Price, System, currency_of};
pub use published::{PublishedLatency, TIMES_UNKNOWN};
pub use remarks::{Remark, RemarkKind};
pub use resolve::{Resolved, resolve, resolve_text};
pub use sheet::{AccessPattern, Burst, Figure, Ratio, Reach, Sheet, describe, describe_load};
pub use sold::{OnMachine, Place, PlaceRegion, Sold};
pub use stretch::Stretch;
pub use volumes::{HostClass, Least};
