//! Parameters to definitions, section by section.

use std::cmp::Ordering;

use blocklab_record::{Note, NoteLevel};

use super::defs::{General, Rd, Sd, Wd};
use super::hosts::Hosts;
use super::keywords::{Found, Keyword, Section, Support, find};
use super::known::Known;
use super::mistake::Mistake;
use super::parameter::Parameter;
use super::{read_general, read_run, read_storage, read_workload};

/// All definitions of a script, as written.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    pub(super) general: General,
    pub(super) sds: Vec<Sd>,
    pub(super) wds: Vec<Wd>,
    /// The last `wd=default`: of runs that name storage and no workload.
    pub(super) wd_default: Wd,
    pub(super) rds: Vec<Rd>,
    pub(super) hosts: Hosts,
    pub(super) notes: Vec<Note>,
}

/// Where the reading stands.
enum CurrentSection {
    General,
    Host,
    Storage(Storing),
    Workload(Option<usize>),
    Run(Option<usize>),
}

/// A storage definition, or their default.
enum Storing {
    Default,
    One(usize),
}

/// Reads everything.
pub(super) fn definitions(
    parameters: &[Parameter],
    is_here: &dyn Fn(&str) -> bool,
) -> Result<Definitions, Mistake> {
    let mut all = Definitions::default();
    let (mut sd_default, mut wd_default, mut rd_default) =
        (Sd::default(), Wd::default(), Rd::default());
    let mut current = CurrentSection::General;
    for parameter in parameters {
        if let Some(next) = begins(
            &current,
            parameter,
            &mut all,
            (&sd_default, &wd_default, &rd_default),
            is_here,
        )? {
            current = next;
            continue;
        }
        let section = section(&current);
        let Some(known) = known(section, parameter, &mut all.notes)? else {
            continue;
        };
        match &current {
            CurrentSection::General => read_general::set(&mut all.general, &known)?,
            CurrentSection::Host => all.hosts.system(&known, is_here)?,
            CurrentSection::Storage(_) | CurrentSection::Workload(_) if is_host(known.name) => {
                all.hosts.check(&known)?;
            }
            CurrentSection::Storage(Storing::Default) => {
                read_storage::set(&mut sd_default, &known)?
            }
            CurrentSection::Storage(Storing::One(at)) => {
                read_storage::set(&mut all.sds[*at], &known)?
            }
            CurrentSection::Workload(None) => read_workload::set(&mut wd_default, &known)?,
            CurrentSection::Workload(Some(at)) => read_workload::set(&mut all.wds[*at], &known)?,
            CurrentSection::Run(None) => read_run::set(&mut rd_default, &known)?,
            CurrentSection::Run(Some(at)) => read_run::set(&mut all.rds[*at], &known)?,
        }
    }
    if let Some(wd) = all.wds.iter().find(|wd| wd.threads.is_some())
        && !all.general.concatenate
    {
        return Err(Mistake::new(
            &wd.place,
            format!("wd={}", wd.name),
            "threads= of a workload are those of a concatenation: concatenatesds=yes, or threads= \
             of the sd would work",
        ));
    }
    all.wd_default = wd_default;
    read_storage::finish(&mut all.sds)?;
    Ok(all)
}

const fn section(current: &CurrentSection) -> Section {
    match current {
        CurrentSection::General => Section::General,
        CurrentSection::Host => Section::Host,
        CurrentSection::Storage(_) => Section::Storage,
        CurrentSection::Workload(_) => Section::Workload,
        CurrentSection::Run(_) => Section::Run,
    }
}

/// Whether a parameter begins a definition, and which one.
fn begins(
    current: &CurrentSection,
    parameter: &Parameter,
    all: &mut Definitions,
    (sd, wd, rd): (&Sd, &Wd, &Rd),
    is_here: &dyn Fn(&str) -> bool,
) -> Result<Option<CurrentSection>, Mistake> {
    let Some(wanted) = opened_section(section(current), parameter)? else {
        return Ok(None);
    };
    if wanted > Section::Host {
        all.hosts.finish()?;
    }
    let name = parameter.values(wanted_keyword(wanted))?;
    let name = name.word().unwrap_or_default().to_owned();
    let is_default = name == "default";
    let place = parameter.place.clone();
    Ok(Some(match wanted {
        Section::General => return Ok(None),
        Section::Host => {
            all.hosts.begin(parameter, &name, is_here)?;
            CurrentSection::Host
        }
        Section::Storage if is_default => CurrentSection::Storage(Storing::Default),
        Section::Storage => {
            if name == "concat" {
                return Err(parameter.wrong("the name `concat` is taken; another one would work"));
            }
            all.sds.push(Sd {
                place,
                name,
                ..sd.clone()
            });
            CurrentSection::Storage(Storing::One(all.sds.len() - 1))
        }
        Section::Workload if is_default => CurrentSection::Workload(None),
        Section::Workload => {
            unique(parameter, &name, all.wds.iter().map(|wd| &*wd.name))?;
            all.wds.push(Wd {
                place,
                name,
                ..wd.clone()
            });
            CurrentSection::Workload(Some(all.wds.len() - 1))
        }
        Section::Run if is_default => CurrentSection::Run(None),
        Section::Run => {
            unique(parameter, &name, all.rds.iter().map(|rd| &*rd.name))?;
            all.rds.push(Rd {
                place,
                name,
                ..rd.clone()
            });
            CurrentSection::Run(Some(all.rds.len() - 1))
        }
    }))
}

/// The section that a parameter opens among the definitions of `now`, if any.
fn opened_section(now: Section, parameter: &Parameter) -> Result<Option<Section>, Mistake> {
    let wanted = match &*parameter.keyword {
        "fsd" | "fwd" => {
            return Err(
                parameter.wrong("file system workloads (fsd, fwd) are not run; sd, wd and rd are")
            );
        }
        "rg" => return Err(parameter.wrong("replay of traces is not run")),
        "host" | "hd" if now <= Section::Host => Section::Host,
        "sd" if now < Section::Workload => Section::Storage,
        "wd" if now < Section::Run => Section::Workload,
        "rd" => Section::Run,
        "hd" if now > Section::Workload => return Err(out_of_order(parameter, now)),
        _ => return Ok(None),
    };
    match wanted < now {
        true => Err(out_of_order(parameter, now)),
        false => Ok(Some(wanted)),
    }
}

const fn wanted_keyword(section: Section) -> &'static str {
    match section {
        Section::Host | Section::General => "hd",
        Section::Storage => "sd",
        Section::Workload => "wd",
        Section::Run => "rd",
    }
}

fn out_of_order(parameter: &Parameter, now: Section) -> Mistake {
    parameter.wrong(format!(
        "it comes too late, among the {} definitions; the order is general, hd, sd, wd, rd",
        now.name()
    ))
}

fn unique<'a>(
    parameter: &Parameter,
    name: &str,
    mut known: impl Iterator<Item = &'a str>,
) -> Result<(), Mistake> {
    match known.any(|known| known == name) {
        false => Ok(()),
        true => Err(parameter.wrong(format!("there are two definitions of the name {name}"))),
    }
}

/// The keyword and its values; nothing where it is ignored, with a Note.
fn known<'a>(
    section: Section,
    parameter: &'a Parameter,
    notes: &mut Vec<Note>,
) -> Result<Option<Known<'a>>, Mistake> {
    let row = match find(section, &parameter.keyword) {
        Found::One(row) => row,
        Found::Several(names) => {
            return Err(parameter.wrong(format!(
                "it may stand for {}; more letters would tell",
                names.join(" or ")
            )));
        }
        Found::Nothing { near, elsewhere } => {
            return Err(parameter.wrong(unknown(section, near, elsewhere)));
        }
    };
    match row.support {
        Support::Ignored(_) => {
            let note = ignored(row, parameter);
            if !notes.contains(&note) {
                notes.push(note);
            }
            Ok(None)
        }
        Support::Refused(why) => Err(parameter.wrong(format!("{} is not run: {why}", row.name))),
        _ => Ok(Some(Known {
            parameter,
            name: row.name,
            values: parameter.values(row.name)?,
        })),
    }
}

fn ignored(row: Keyword, parameter: &Parameter) -> Note {
    Note {
        level: NoteLevel::Ignored,
        subject: format!("{}={}", row.name, parameter.text()),
        text: format!("has no effect here: {}", row.support.difference()),
    }
}

fn unknown(section: Section, near: Option<&str>, elsewhere: Option<Section>) -> String {
    let mut words = format!("there is no such keyword in the {} section", section.name());
    if let Some(elsewhere) = elsewhere {
        let place = match (elsewhere as usize).cmp(&(section as usize)) {
            Ordering::Less => ", which stands before it",
            _ => ", which stands behind it",
        };
        let name = elsewhere.name();
        words.push_str(&format!("; it belongs to the {name} section{place}"));
    } else if let Some(near) = near {
        words.push_str(&format!("; perhaps {near}="));
    }
    words
}

/// `host=` of a storage or workload definition.
fn is_host(name: &str) -> bool {
    name == "host" || name == "hd"
}
