use std::io;
use std::path::PathBuf;

use crate::address::pointed;
use crate::refusal::Refusal;
use crate::{Address, AddressError, Part};

/// Why there is no such device.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text follows no grammar.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// Such a thing cannot be bought, and this is what can.
    #[error("{}", pointed(address, Address::place(address, *part), message))]
    Refused {
        /// What was asked for.
        address: String,
        /// The part that is wrong.
        part: Part,
        /// Why, and what would be possible.
        message: String,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {source}; nothing was changed", path.display())]
    Unwritable {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A device file is wrong.
    #[error("{}{mistake}", path.display())]
    DeviceFile {
        /// Which.
        path: PathBuf,
        /// Where and why.
        mistake: crate::device_file::Mistake,
    },
    /// The user's own catalog was damaged.
    #[error(
        "{}: line {line}: {problem}; it is made by `blocklab catalog import`: remove it and import again",
        path.display()
    )]
    UserCatalog {
        /// Which.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// What the user wrote into the catalog cannot be used.
    #[error("{}: line {line}: {problem}", path.display())]
    OwnCatalog {
        /// Which.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A file to import holds nothing that can be used.
    #[error("{}: {problem}; nothing was changed", path.display())]
    Import {
        /// Which.
        path: PathBuf,
        /// Why, and what can be imported.
        problem: String,
    },
}

impl Error {
    pub(crate) fn refused(address: &Address, refusal: Refusal) -> Self {
        Self::Refused {
            address: address.to_string(),
            part: refusal.part,
            message: refusal.message,
        }
    }
}
