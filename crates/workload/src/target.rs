//! In: the name of a target as the user writes it. Out: the path, the model or the null target.

use std::fmt;

use crate::Address;
use crate::address::AddressError;

/// The target of a load.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// A file, directory or device at this path.
    Path(String),
    /// Nothing: an operation is complete as soon as it is issued.
    Null,
    /// A modelled device in virtual time.
    Sim(Address),
    /// A modelled device in real time.
    Emu(Address),
}

/// The name of the null target.
const NULL: &str = "null";

/// How the names of modelled devices begin.
const SIM: &str = "sim:";
const EMU: &str = "emu:";

impl Target {
    /// How names other than paths can begin, for shell completion.
    pub const BEGINNINGS: [&str; 3] = [SIM, EMU, NULL];

    /// Reads a name. Any text that names neither a model nor the null target is a path.
    ///
    /// # Errors
    /// When the text after `sim:` or `emu:` is not an address; the error shows the address alone.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        if text == NULL {
            Ok(Self::Null)
        } else if let Some(address) = text.strip_prefix(SIM) {
            Address::parse(address).map(Self::Sim)
        } else if let Some(address) = text.strip_prefix(EMU) {
            Address::parse(address).map(Self::Emu)
        } else {
            Ok(Self::Path(text.to_owned()))
        }
    }

    /// Whether a text names a path. One that begins like a model's name does not, even if its address
    /// is wrong.
    pub fn is_path(text: &str) -> bool {
        text != NULL && !Self::is_model(text)
    }

    /// Whether a text begins like a model's name, with a valid address or not.
    pub fn is_model(text: &str) -> bool {
        Self::address_text(text).is_some()
    }

    /// The text of a model's address, as it was written.
    pub fn address_text(text: &str) -> Option<&str> {
        text.strip_prefix(SIM).or_else(|| text.strip_prefix(EMU))
    }

    /// Whether a text names a model in virtual time.
    pub fn is_simulated(text: &str) -> bool {
        text.starts_with(SIM)
    }

    /// The address of a modelled device.
    pub const fn address(&self) -> Option<&Address> {
        match self {
            Self::Sim(address) | Self::Emu(address) => Some(address),
            Self::Path(_) | Self::Null => None,
        }
    }
}

/// As it reads back; an address in its shortest spelling.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => f.write_str(path),
            Self::Null => f.write_str(NULL),
            Self::Sim(address) => write!(f, "{SIM}{address}"),
            Self::Emu(address) => write!(f, "{EMU}{address}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_targets() {
        let gp3 = || Address::parse("gp3:1TiB@r5d.xlarge").expect("an address");
        let path = |text: &str| Target::Path(text.to_owned());
        for (text, target) in [
            ("null", Target::Null),
            ("./null", path("./null")),
            ("/dev/nvme1n1", path("/dev/nvme1n1")),
            ("simple", path("simple")),
            ("sim:gp3:1024GiB@r5d.xlarge", Target::Sim(gp3())),
            ("emu:gp3:1TiB@r5d.xlarge", Target::Emu(gp3())),
        ] {
            assert_eq!(Target::parse(text), Ok(target.clone()), "{text}");
            assert_eq!(Target::parse(&target.to_string()), Ok(target), "{text}");
        }
    }

    /// A mapping to `sim:` of a mistyped volume is still no folder that names can be put below.
    #[test]
    fn a_model_without_an_address_is_no_path() {
        assert!(Target::parse("sim:").is_err());
        assert!(!Target::is_path("sim:gp3,iopz=3"));
        assert!(!Target::is_path("null"));
        assert!(Target::is_path("similar:x"));
    }
}
