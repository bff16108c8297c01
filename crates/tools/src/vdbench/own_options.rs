//! Options of blocklab among those of Vdbench: all begin with two hyphens.

use anyhow::{Context, Result, bail};

/// Stands where the original names its owner.
pub const WRITTEN_BY: &str = concat!(
    "Written by blocklab ",
    env!("CARGO_PKG_VERSION"),
    " in the layout of Vdbench 5.04.07"
);

/// Options of blocklab, and what is left for Vdbench.
#[derive(Debug, Default)]
pub struct OwnOptions {
    pub destroy: Vec<String>,
    pub no_save: bool,
    pub quiet: bool,
    pub seed: Option<u64>,
    pub help: bool,
    pub rest: Vec<String>,
}

impl OwnOptions {
    /// Takes them out: `--name=value` or `--name value`.
    pub fn split(arguments: &[String]) -> Result<Self> {
        let mut own = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let Some(option) = argument.strip_prefix("--") else {
                own.rest.push(argument.clone());
                continue;
            };
            let (name, text) = option.split_once('=').unwrap_or((option, ""));
            let mut value = || match text {
                "" => arguments.next().cloned(),
                text => Some(text.to_owned()),
            };
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
        }
        Ok(own)
    }
}
