//! Options of blocklab among those of DiskSpd: all begin with two hyphens, and DiskSpd's with one.

use blocklab_diskspd::{Layout, Mapping, Mistake};
use blocklab_units::Bytes;

use crate::own_options::{self, UnwantedValue};

/// Options of blocklab, and what is left for DiskSpd's parser.
#[derive(Debug, Default)]
pub struct OwnOptions {
    /// `--map`: paths here for paths of Windows.
    pub mappings: Vec<Mapping>,
    /// `--destroy-data`: devices and files that may be overwritten.
    pub destroy: Vec<String>,
    /// `--diskspd-layout`: the version whose text output is imitated.
    pub layout: Layout,
    /// `--size`: the size of targets for which the command line names none.
    pub size: Option<Bytes>,
    pub read_only: bool,
    pub no_save: bool,
    pub quiet: bool,
    pub help: bool,
    /// Everything else, in its order.
    pub rest: Vec<String>,
}

impl From<UnwantedValue> for Mistake {
    fn from(unwanted: UnwantedValue) -> Self {
        Self::new(format!("--{}", unwanted.name), unwanted.reason())
    }
}

impl OwnOptions {
    /// Takes the options of blocklab out of the arguments.
    ///
    /// # Errors
    /// When an option with two hyphens is unknown, or its value is missing or invalid.
    pub fn split(arguments: &[String]) -> Result<Self, Mistake> {
        let mut own = Self::default();
        let rest = own_options::split(arguments, |name, value| -> Result<bool, Mistake> {
            match name {
                "read-only" => own.read_only = true,
                "no-save" => own.no_save = true,
                "quiet" => own.quiet = true,
                "help" => own.help = true,
                _ => own.set(name, value)?,
            }
            Ok(true)
        })?;
        Ok(Self { rest, ..own })
    }

    /// Sets an option that takes a value. `value` gives it, and uses up the next argument for that.
    fn set(
        &mut self,
        name: &str,
        value: &mut dyn FnMut() -> Option<String>,
    ) -> Result<(), Mistake> {
        let mistake = |message: String| Mistake::new(format!("--{name}"), message);
        let mut value = || value().ok_or_else(|| mistake("a value must follow".to_owned()));
        match name {
            "map" => self.mappings.push(value()?.parse()?),
            "destroy-data" => self.destroy.push(value()?),
            "diskspd-layout" => {
                self.layout = match &*value()? {
                    "2.2" => Layout::V2_2,
                    "2.0.21a" => Layout::V2_0_21a,
                    other => return Err(mistake(format!("`{other}` is neither 2.2 nor 2.0.21a"))),
                };
            }
            "size" => {
                let size: Bytes = value()?
                    .parse()
                    .map_err(|error| mistake(format!("{error}")))?;
                // Whole sectors, at least one: direct I/O could not reach the rest.
                self.size = Some(Bytes(size.0.max(1).next_multiple_of(4096)));
            }
            _ => {
                let known = "--map, --destroy-data, --diskspd-layout, --size, --read-only, \
                             --no-save, --quiet and --help";
                return Err(mistake(format!(
                    "there is no such option; ours are {known}"
                )));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> Result<OwnOptions, Mistake> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        OwnOptions::split(&words)
    }

    #[test]
    fn ours_are_taken_out_wherever_they_stand() {
        let own = split(r"--map E:\=/data/ -b4K --quiet -r --size=64MiB E:\x --destroy-data=sdb");
        let own = own.expect("a sound line");
        assert_eq!(own.rest, ["-b4K", "-r", r"E:\x"]);
        assert_eq!(own.mappings.len(), 1);
        assert_eq!(own.destroy, ["sdb"]);
        assert_eq!(own.size, Some(Bytes(64 << 20)));
        assert!(own.quiet && !own.no_save);
    }

    #[test]
    fn mistakes_say_what_there_is() {
        for (line, words) in [
            ("--mapp x", "ours are --map"),
            ("--map x", "FROM=TO"),
            ("-b4K --size", "a value must follow"),
            ("--size lots", "--size"),
            ("--diskspd-layout 3", "neither 2.2 nor 2.0.21a"),
            ("--quiet=no -b4K", "--quiet: it takes no value"),
        ] {
            let mistake = split(line).expect_err(line).to_string();
            assert!(mistake.contains(words), "{line}: {mistake}");
        }
    }
}
