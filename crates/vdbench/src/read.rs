//! Parameters to definitions, section by section.

use blocklab_record::{Note, NoteLevel};

use super::definitions::Definitions;
use super::error::{Mistake, Subject};
use super::keywords::{Section, find};
use super::scan::Parameter;
use super::value::Argument;
use blocklab_syntax::option::Support;

/// Reads everything. `is_here` decides of a name or an address whether it is this machine's.
pub(super) fn definitions<'a>(
    parameters: &[Parameter],
    is_here: &'a dyn Fn(&str) -> bool,
) -> Result<Definitions<'a>, Mistake> {
    let mut all = Definitions::new(is_here);
    let mut section = Section::General;
    for parameter in parameters {
        section = section_of(section, parameter)?;
        let is_of_host = matches!(section, Section::Storage | Section::Workload);
        if is_of_host && parameter.names_host() {
            let named = parameter.with_host(all.hosts.only_name(parameter)?);
            read(section, &named, &mut all)?;
        } else {
            read(section, parameter, &mut all)?;
        }
    }
    all.finish()?;
    Ok(all)
}

fn read(section: Section, parameter: &Parameter, all: &mut Definitions<'_>) -> Result<(), Mistake> {
    let row = find(section, parameter)?;
    let (name, here) = (row.name, row.here);
    if let Some(set) = row.value.set {
        set(all, &Argument { parameter, name })?;
    }
    let (level, text) = match row.support {
        Support::Nearly => (NoteLevel::Approximated, here.to_owned()),
        Support::Ignored => (NoteLevel::Ignored, format!("has no effect here: {here}")),
        Support::Refused => return Err(parameter.error(format_args!("{name} is not run: {here}"))),
        _ => return Ok(()),
    };
    let subject = format!("{name}={}", parameter.text());
    Note::new(level, subject, text).add_to(&mut all.notes);
    Ok(())
}

/// The section of a parameter that follows one of `now`: it may open the next one.
fn section_of(now: Section, parameter: &Parameter) -> Result<Section, Mistake> {
    Ok(match &*parameter.keyword {
        "fsd" | "fwd" => {
            return Err(parameter.error(
                "file system workloads (fsd, fwd) are not run: blocklab measures block storage \
                     and no file system; a load on one large file is lun=FILE of an sd",
            ));
        }
        "rg" => return Err(parameter.error("replay of traces is not run")),
        "host" | "hd" if now <= Section::Host => Section::Host,
        "sd" if now < Section::Workload => Section::Storage,
        "wd" if now < Section::Run => Section::Workload,
        "rd" => Section::Run,
        "hd" if now > Section::Workload => {
            return Err(parameter.error(format_args!(
                "it comes too late, among the {} definitions; the order is general, hd, sd, wd, rd",
                now.name()
            )));
        }
        _ => now,
    })
}
