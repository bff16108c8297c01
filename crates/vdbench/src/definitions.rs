//! What the sections define, while they are read.

use blocklab_record::Note;

use super::defs::{General, Rd, RunOptions, Sd, Wd};
use super::error::{Mistake, Place, Subject};
use super::scan::Parameter;
use super::value::{Argument, matches_pattern};

pub(super) struct Definitions<'a> {
    pub(super) general: General,
    pub(super) hosts: Hosts<'a>,
    pub(super) sds: List<Sd>,
    pub(super) wds: List<Wd>,
    pub(super) rds: List<Rd>,
    /// Whether the run definition that is being read has named its workloads.
    has_workloads: bool,
    pub(super) notes: Vec<Note>,
}

/// Definitions of one kind.
#[derive(Default)]
pub(super) struct List<T> {
    pub(super) all: Vec<T>,
    /// The values that `sd=default` (`wd=default`, `rd=default`) sets for those that follow.
    pub(super) default: T,
    /// Whether keywords are now those of the default.
    in_default: bool,
}

impl<T: Clone> List<T> {
    /// The definition to which keywords go.
    pub(super) fn current(&mut self) -> &mut T {
        match self.all.last_mut() {
            Some(last) if !self.in_default => last,
            _ => &mut self.default,
        }
    }

    fn begin(&mut self, name: &str, named: impl FnOnce(T) -> T) {
        self.in_default = name == "default";
        if !self.in_default {
            self.all.push(named(self.default.clone()));
        }
    }
}

impl<'a> Definitions<'a> {
    pub(super) fn new(is_here: &'a dyn Fn(&str) -> bool) -> Self {
        Self {
            general: General::default(),
            hosts: Hosts {
                is_here,
                defined: Vec::new(),
                is_default: false,
                default: None,
            },
            sds: List::default(),
            wds: List::default(),
            rds: List::default(),
            has_workloads: false,
            notes: Vec::new(),
        }
    }

    pub(super) fn begin_storage(&mut self, arg: &Argument<'_>) -> Result<(), Mistake> {
        let (name, place) = name_and_place(arg)?;
        let message = "the name `concat` is taken; another one would work";
        arg.check(name != "concat", message)?;
        self.sds.begin(&name.clone(), |sd| Sd { place, name, ..sd });
        Ok(())
    }

    pub(super) fn begin_workload(&mut self, arg: &Argument<'_>) -> Result<(), Mistake> {
        let (name, place) = name_and_place(arg)?;
        unique(arg, &name, self.wds.all.iter().map(|wd| &*wd.name))?;
        self.wds.begin(&name.clone(), |wd| Wd { place, name, ..wd });
        Ok(())
    }

    pub(super) fn begin_run(&mut self, arg: &Argument<'_>) -> Result<(), Mistake> {
        let (name, place) = name_and_place(arg)?;
        unique(arg, &name, self.rds.all.iter().map(|rd| &*rd.name))?;
        self.has_workloads = false;
        self.rds.begin(&name.clone(), |rd| Rd { place, name, ..rd });
        Ok(())
    }

    pub(super) fn set_lun(&mut self, arg: &Argument<'_>) -> Result<(), Mistake> {
        let message = "sd=default cannot have a lun; each sd has its own";
        arg.check(self.sds.current().name != "default", message)?;
        // In the original, each further pair of host= and lun= is the lun on other hosts.
        let message = "an sd has one lun here; for the lun of another host, an sd of its own with \
                       host= would work";
        arg.check(self.sds.current().lun.is_empty(), message)?;
        self.sds.current().lun = arg.word()?;
        Ok(())
    }

    pub(super) fn set_storage_hosts(&mut self, arg: &Argument<'_>) -> Result<(), Mistake> {
        self.sds.current().hosts = self.hosts.named(arg)?;
        Ok(())
    }

    pub(super) fn set_workload_hosts(&mut self, arg: &Argument<'_>) -> Result<(), Mistake> {
        self.wds.current().hosts = self.hosts.named(arg)?;
        Ok(())
    }

    pub(super) fn set_workloads(&mut self, arg: &Argument<'_>) -> Result<(), Mistake> {
        let message = "a run names its workloads once, as in wd=(wd1,wd2)";
        arg.check(!self.has_workloads, message)?;
        self.has_workloads = true;
        self.rds.current().wds = arg.names()?;
        Ok(())
    }

    /// Adds commands to those that a run has already, from its own definition or from `rd=default`. In
    /// `rd=default` they replace those before them, as in the original.
    pub(super) fn add_commands(
        &mut self,
        arg: &Argument<'_>,
        list_of: fn(&mut RunOptions) -> &mut Vec<String>,
    ) -> Result<(), Mistake> {
        let is_default = self.rds.in_default;
        let commands = list_of(&mut self.rds.current().options);
        if is_default {
            commands.clear();
        }
        commands.extend(arg.words()?);
        Ok(())
    }

    /// Expands `count=`, and refuses definitions that lack something.
    pub(super) fn finish(&mut self) -> Result<(), Mistake> {
        if let Some(wd) = self.wds.all.iter().find(|wd| wd.threads.is_some()) {
            let message = "threads= of a workload are those of a concatenation: \
                           concatenatesds=yes, or threads= of the sd would work";
            wd.check(self.general.concatenate, message)?;
        }
        self.sds.all = expand_counts(&self.sds.all);
        let mut names = std::collections::BTreeSet::new();
        for sd in &self.sds.all {
            sd.check(!sd.lun.is_empty(), "it has no lun=; each sd needs one")?;
            let is_new = names.insert(&sd.name);
            sd.check(is_new, "there are two storage definitions of this name")?;
        }
        Ok(())
    }
}

/// The name of a definition, and where it is written.
fn name_and_place(arg: &Argument<'_>) -> Result<(String, Place), Mistake> {
    Ok((arg.single_name()?, arg.parameter.place.clone()))
}

fn unique<'n>(
    arg: &Argument<'_>,
    name: &str,
    mut known: impl Iterator<Item = &'n str>,
) -> Result<(), Mistake> {
    let is_new = !known.any(|known| known == name);
    let message = format_args!("there are two definitions of the name {name}");
    arg.check(is_new, message)
}

/// Storage definitions with `count=` expanded: as in the original, after the others.
fn expand_counts(sds: &[Sd]) -> Vec<Sd> {
    let mut plain: Vec<Sd> = sds
        .iter()
        .filter(|sd| sd.count.is_none())
        .cloned()
        .collect();
    for sd in sds {
        let Some((start, count)) = sd.count else {
            continue;
        };
        plain.extend((start..start + count as i64).map(|number| Sd {
            name: numbered_name(&sd.name, number),
            lun: if sd.lun.is_empty() {
                String::new()
            } else {
                numbered_name(&sd.lun, number)
            },
            count: None,
            ..sd.clone()
        }));
    }
    plain
}

/// A name with a number: in place of `%03d` or `*` in it, else after it.
fn numbered_name(text: &str, number: i64) -> String {
    if let Some(at) = text.find('%') {
        let rest = &text[at + 1..];
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        if rest[digits.len()..].starts_with('d') {
            // A longer name than 64 characters was not meant.
            let width = digits.parse().unwrap_or(0).min(64);
            let shown = if digits.starts_with('0') {
                format!("{number:0width$}")
            } else {
                format!("{number:width$}")
            };
            return format!("{}{shown}{}", &text[..at], &rest[digits.len() + 1..]);
        }
    }
    if text.contains('*') {
        text.replace('*', &number.to_string())
    } else {
        format!("{text}{number}")
    }
}

/// A host that runs a part of the load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// As the parameters and the reports call it.
    pub name: String,
    /// How it is reached.
    pub address: String,
}

/// `hd=`: this machine under any name, or several hosts.
pub(super) struct Hosts<'a> {
    /// Whether a name or an address is this machine's.
    is_here: &'a dyn Fn(&str) -> bool,
    /// Each that was defined, with the address that was given.
    defined: Vec<(String, Option<String>)>,
    /// Parameters of `hd=default` come now.
    is_default: bool,
    /// The address of those that give none, from `hd=default`.
    default: Option<String>,
}

impl Hosts<'_> {
    /// The name that reports carry where this machine alone runs.
    pub(super) fn label(&self) -> &str {
        self.defined.first().map_or("localhost", |(name, _)| name)
    }

    /// The name that takes the place of `$host` in `parameter`.
    ///
    /// # Errors
    /// Where several hosts are defined: the original makes a definition for each of them.
    pub(super) fn only_name(&self, parameter: &Parameter) -> Result<&str, Mistake> {
        let message = "with several hosts $host is not replaced; a definition with host= for each \
                       of them would work";
        parameter.checked(self.label(), self.defined.len() < 2, message)
    }

    /// The hosts of a load that other machines run, too; none where this one runs alone.
    pub(super) fn several(&self) -> Vec<Host> {
        let hosts = self.defined.iter().map(|(name, address)| Host {
            name: name.clone(),
            address: match (address, &self.default) {
                (Some(own), _) => own.clone(),
                (None, Some(default)) => default.clone(),
                (None, None) => name.clone(),
            },
        });
        let hosts: Vec<Host> = hosts.collect();
        match &hosts[..] {
            [] => Vec::new(),
            [only] if (self.is_here)(&only.address) => Vec::new(),
            _ => hosts,
        }
    }

    /// `hd=NAME`. The name is the address, too, unless `system=` follows.
    pub(super) fn begin(&mut self, arg: &Argument<'_>) -> Result<(), Mistake> {
        let name = arg.word()?;
        self.is_default = name == "default";
        if !self.is_default {
            unique(arg, &name, self.defined.iter().map(|(name, _)| &**name))?;
            self.defined.push((name, None));
        }
        Ok(())
    }

    /// `system=ADDRESS` of the definition that began last.
    pub(super) fn set_address(&mut self, arg: &Argument<'_>) -> Result<(), Mistake> {
        let address = arg.single_name()?;
        match self.defined.last_mut() {
            Some((_, own)) if !self.is_default => *own = Some(address),
            _ => self.default = Some(address),
        }
        Ok(())
    }

    /// `host=` of a storage or workload definition: names of hosts, where a `*` at the end matches anything;
    /// none: all of them.
    pub(super) fn named(&self, arg: &Argument<'_>) -> Result<Vec<String>, Mistake> {
        let words = arg.words()?;
        if words.iter().any(|word| word == "*" || word == "default") {
            return Ok(Vec::new());
        }
        let is_one = self.defined.len() < 2;
        let mut names = Vec::new();
        for word in &words {
            let defined = self.defined.iter().map(|(name, _)| name);
            let mut found: Vec<String> = defined
                .filter(|name| matches_pattern(word, name) && !names.contains(*name))
                .cloned()
                .collect();
            let is_this_host = is_one && word == "localhost";
            if found.is_empty() && !names.contains(word) && !is_this_host {
                return Err(arg.parameter.error(format_args!(
                    "there is no hd={word}; hosts are defined before storage: hd={word},system=ADDRESS"
                )));
            }
            names.append(&mut found);
        }
        Ok(if is_one { Vec::new() } else { names })
    }
}

#[cfg(test)]
mod tests {
    use super::numbered_name;

    #[test]
    fn names_are_counted() {
        assert_eq!(numbered_name("sd", 7), "sd7");
        assert_eq!(numbered_name("/dev/nvme*n1", 7), "/dev/nvme7n1");
        assert_eq!(numbered_name("sd%03d", 7), "sd007");
        assert_eq!(numbered_name("a%db", 12), "a12b");
        assert_eq!(numbered_name("100%", 1), "100%1");
    }
}
