//! Options of our own among those of DiskSpd: all begin with two hyphens.

use blocklab_diskspd::{Layout, Mapping, Mistake};
use blocklab_units::Bytes;

/// Our own options, and what is left for the dialect.
#[derive(Debug, Default)]
pub struct House {
    pub mappings: Vec<Mapping>,
    pub destroy: Vec<String>,
    pub layout: Layout,
    pub size: Option<Bytes>,
    pub read_only: bool,
    pub no_save: bool,
    pub quiet: bool,
    pub help: bool,
    pub rest: Vec<String>,
}

impl House {
    /// Takes out what is ours: `--name=value` or `--name value`.
    pub fn split(arguments: &[String]) -> Result<Self, Mistake> {
        let mut house = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let Some(option) = argument.strip_prefix("--") else {
                house.rest.push(argument.clone());
                continue;
            };
            let (name, given) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (option, None),
            };
            if house.flag(name) {
                continue;
            }
            let value = given.or_else(|| arguments.next().cloned());
            house.set(name, value)?;
        }
        Ok(house)
    }

    fn flag(&mut self, name: &str) -> bool {
        let flag = match name {
            "read-only" => &mut self.read_only,
            "no-save" => &mut self.no_save,
            "quiet" => &mut self.quiet,
            "help" => &mut self.help,
            _ => return false,
        };
        *flag = true;
        true
    }

    fn set(&mut self, name: &str, value: Option<String>) -> Result<(), Mistake> {
        const KNOWN: &str = "--map, --destroy-data, --diskspd-layout, --size, --read-only, \
                             --no-save, --quiet and --help";
        let mistake = |message: String| Mistake {
            about: format!("--{name}"),
            message,
        };
        if !["map", "destroy-data", "diskspd-layout", "size"].contains(&name) {
            return Err(mistake(format!(
                "there is no such option; ours are {KNOWN}"
            )));
        }
        let value = value.ok_or_else(|| mistake("a value must follow".to_owned()))?;
        match name {
            "map" => self.mappings.push(value.parse()?),
            "destroy-data" => self.destroy.push(value),
            "diskspd-layout" => {
                self.layout = match &*value {
                    "2.2" => Layout::V2_2,
                    "2.0.21a" => Layout::V2_0_21a,
                    _ => return Err(mistake(format!("`{value}` is neither 2.2 nor 2.0.21a"))),
                };
            }
            _ => {
                let size: Bytes = value.parse().map_err(|error| mistake(format!("{error}")))?;
                self.size = Some(Bytes(size.0.max(1).next_multiple_of(4096)));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> Result<House, Mistake> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        House::split(&words)
    }

    #[test]
    fn ours_are_taken_out_wherever_they_stand() {
        let house = split(r"--map E:\=/data/ -b4K --quiet -r --size=64MiB E:\x --destroy-data=sdb");
        let house = house.expect("a sound line");
        assert_eq!(house.rest, ["-b4K", "-r", r"E:\x"]);
        assert_eq!(house.mappings.len(), 1);
        assert_eq!(house.destroy, ["sdb"]);
        assert_eq!(house.size, Some(Bytes(64 << 20)));
        assert!(house.quiet && !house.no_save);
    }

    #[test]
    fn mistakes_say_what_there_is() {
        for (line, words) in [
            ("--mapp x", "ours are --map"),
            ("--map x", "FROM=TO"),
            ("-b4K --size", "a value must follow"),
            ("--size lots", "--size"),
            ("--diskspd-layout 3", "neither 2.2 nor 2.0.21a"),
        ] {
            let mistake = split(line).expect_err(line).to_string();
            assert!(mistake.contains(words), "{line}: {mistake}");
        }
    }
}
