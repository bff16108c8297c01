//! What goes wrong with an address, a catalog's file or an import, and how the user is told: the
//! words typed, with a pointer to the wrong part.

use std::io;
use std::path::PathBuf;

use blocklab_workload::address::pointed;
use blocklab_workload::{
    Address, Offer,
    address::{AddressError, Part},
};

/// That an address follows the grammar and names something that cannot be bought: which part is
/// wrong, why, and what would be possible.
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

/// The keys that make sense for anything that an address names.
const GENERAL_KEYS: [&str; 5] = ["as-of", "region", "profile", "host", "volume"];

/// Refuses the first setting of a volume in an address that names none: its size, or a key that is
/// neither general nor among `others`. `message` gets the word for the setting.
pub(crate) fn refuse_settings(
    offer: &Offer,
    others: &[&str],
    message: impl Fn(&str) -> String,
) -> Result<(), Refusal> {
    if offer.size.is_some() || offer.size_name.is_some() {
        return Err(Refusal::new(Part::Size, message("size")));
    }
    let mut keys = offer.keys();
    match keys.find(|key| !GENERAL_KEYS.contains(key) && !others.contains(key)) {
        Some(key) => {
            let word = if key == "iops" { "IOPS" } else { key };
            Err(Refusal::new(Part::Key(key), message(word)))
        }
        None => Ok(()),
    }
}

/// Why there is no such device.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text follows no grammar.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// Such a thing cannot be bought, and this is what can.
    #[error("{}", pointed(address, Address::place(address, *part), message))]
    Refused {
        /// The name that was looked up.
        address: String,
        /// The part that is wrong.
        part: Part,
        /// Why, and what would be possible.
        message: String,
    },
    /// Nothing can be predicted of it.
    #[error("{address}: {why}: nothing can be said of a load")]
    NoPrediction {
        /// What was looked at.
        address: String,
        /// Why.
        why: String,
    },
    /// A file cannot be read.
    // Its cause is part of the message: as a `source` it would be printed twice.
    #[error("cannot read {}: {cause}", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {cause}; nothing was changed", path.display())]
    Unwritable {
        /// Which.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// A device file is wrong.
    #[error(transparent)]
    DeviceFile(blocklab_syntax::toml_tree::Error),
    /// What a device file describes cannot work.
    #[error("{}: {why}", path.display())]
    Device {
        /// Which.
        path: PathBuf,
        /// Why, and what would work.
        why: blocklab_device::Invalid,
    },
    /// What was imported, or what the user wrote into the catalog, cannot be used.
    #[error("{}: line {line}: {problem}", path.display())]
    UserCatalog {
        /// Which file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong with it, and what would work.
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
    /// The error of a text that was typed: the message shows that text and points into it.
    #[must_use]
    pub fn echoing(self, text: &str) -> Self {
        match self {
            Self::Refused { part, message, .. } => Self::Refused {
                address: text.to_owned(),
                part,
                message,
            },
            other => other,
        }
    }

    pub(crate) fn refused(address: &Address, refusal: Refusal) -> Self {
        Self::Refused {
            address: address.to_string(),
            part: refusal.part,
            message: refusal.message,
        }
    }
}
