//! Options of our own among those of Vdbench: all begin with two hyphens.

use anyhow::{Context, Result, bail};

/// Stands where the original names its owner.
pub const WRITTEN_BY: &str = concat!(
    "Written by blocklab ",
    env!("CARGO_PKG_VERSION"),
    " in the layout of Vdbench 5.04.07"
);

/// Our own options, and what is left for the dialect.
#[derive(Debug, Default)]
pub struct House {
    pub destroy: Vec<String>,
    pub no_save: bool,
    pub quiet: bool,
    pub seed: Option<u64>,
    pub help: bool,
    pub rest: Vec<String>,
}

impl House {
    /// Takes out what is ours: `--name=value` or `--name value`.
    pub fn split(arguments: &[String]) -> Result<Self> {
        let mut house = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let Some(option) = argument.strip_prefix("--") else {
                house.rest.push(argument.clone());
                continue;
            };
            match option.split_once('=').unwrap_or((option, "")) {
                ("no-save", _) => house.no_save = true,
                ("quiet", _) => house.quiet = true,
                ("help", _) => house.help = true,
                ("seed", "") => house.seed = Some(whole(arguments.next().map(String::as_str))?),
                ("seed", text) => house.seed = Some(whole(Some(text))?),
                ("destroy-data", "") => match arguments.next() {
                    Some(name) => house.destroy.push(name.clone()),
                    None => bail!("--destroy-data: the name of a device or file must follow"),
                },
                ("destroy-data", name) => house.destroy.push(name.to_owned()),
                (name, _) => bail!(
                    "--{name}: there is no such option; ours are --destroy-data, --no-save, \
                     --quiet, --seed and --help"
                ),
            }
        }
        Ok(house)
    }
}

fn whole(text: Option<&str>) -> Result<u64> {
    let number = text.and_then(|text| text.parse().ok());
    number.with_context(|| "--seed: a whole number must follow, such as --seed 42")
}
