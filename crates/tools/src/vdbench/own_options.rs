//! Options of blocklab among those of Vdbench: all begin with two hyphens.

use anyhow::{Context, Result, bail};

use crate::own_options;

/// The line in place of Vdbench's copyright notice.
pub const WRITTEN_BY: &str = concat!(
    "Written by blocklab ",
    env!("CARGO_PKG_VERSION"),
    " in the layout of Vdbench 5.04.07"
);

/// Options of blocklab, and what is left for Vdbench.
#[derive(Debug, Default)]
pub struct OwnOptions {
    /// `--destroy-data`: devices and files that may be overwritten.
    pub destroy: Vec<String>,
    pub no_save: bool,
    pub quiet: bool,
    pub seed: Option<u64>,
    pub help: bool,
    /// Everything else, in its order.
    pub rest: Vec<String>,
}

impl OwnOptions {
    /// Takes the options of blocklab out of the arguments.
    ///
    /// # Errors
    /// When an option with two hyphens is unknown, or its value is missing or invalid.
    pub fn split(arguments: &[String]) -> Result<Self> {
        let mut own = Self::default();
        let rest = own_options::split(arguments, |name, value| -> Result<bool> {
            match name {
                "no-save" => own.no_save = true,
                "quiet" => own.quiet = true,
                "help" => own.help = true,
                "seed" => {
                    let seed = value().and_then(|text| text.parse().ok());
                    let missing = "--seed: a whole number must follow, such as --seed 42";
                    own.seed = Some(seed.context(missing)?);
                }
                "destroy-data" => {
                    let missing = "--destroy-data: the name of a device or file must follow";
                    own.destroy.push(value().context(missing)?);
                }
                _ => bail!(
                    "--{name}: there is no such option; ours are --destroy-data, --no-save, \
                     --quiet, --seed and --help"
                ),
            }
            Ok(true)
        })?;
        Ok(Self { rest, ..own })
    }
}
