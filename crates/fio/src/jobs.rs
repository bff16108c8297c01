//! From sections to jobs: a job inherits from the global sections before it, and each value is read by
//! the kind of its option.

use super::engine;
use super::files;
use super::options::{Kind, Options, find, hint, is_of_engines};
use super::priority;
use super::source::{Section, Setting, unset_words};
use super::spec::{Given, Spec};
use super::value::{Share, Value, behind_blanks, dropped, nonzero};
use blocklab_syntax::{Mistake, Place};

/// All jobs of a command line, and what was given for all of them.
#[derive(Debug, Clone, Default)]
pub struct Resolved {
    /// In order.
    pub specs: Vec<Spec>,
    /// The options of the global sections, for the report.
    pub globals: Vec<(String, String)>,
}

/// The jobs of these sections. `only`: names of the sections that are run; empty: all.
///
/// # Errors
/// Unknown options, values of another kind, and names of sections that do not exist.
pub fn resolve(sections: &[Section], only: &[String]) -> Result<Resolved, Mistake> {
    let mut resolved = Resolved::default();
    let mut common = Spec::global();
    for section in sections {
        if section.begins_anew {
            common = Spec::global();
            resolved.globals.clear();
        }
        if section.is_global() {
            apply(&mut common, &section.settings)?;
            // It is reported as an option; it does not name the jobs, which have their sections' names.
            common.given.remove("name");
            resolved.globals.append(&mut common.own);
            continue;
        }
        if !section.is_chosen(only) {
            continue;
        }
        let mut spec = Spec {
            name: section.name.clone(),
            section: section.name.clone(),
            at: section.at.clone(),
            ..common.clone()
        };
        apply(&mut spec, &section.settings)?;
        spec.options = spec.typed_options();
        zones_to_bytes(&mut spec.options);
        if let Some(name) = &spec.options.name {
            spec.name.clone_from(name);
        }
        resolved.specs.push(spec);
    }
    for name in only {
        if !sections.iter().any(|section| section.name == *name) {
            let jobs = sections.iter().filter(|section| !section.is_global());
            let known: Vec<&str> = jobs.map(|section| &*section.name).collect();
            let known = known.join(", ");
            let message = format!("there is no section `{name}`; there are {known}");
            return Err(Mistake::here(&Place::COMMAND_LINE, message));
        }
    }
    // As in fio, `exitall` of one job makes the end of any job end the others.
    let exits = resolved.specs.iter().any(|spec| spec.options.exitall);
    for spec in &mut resolved.specs {
        spec.options.exitall = exits;
    }
    Ok(resolved)
}

/// Converts sizes and offsets that are given as numbers of zones to bytes. Without zones, a size is as
/// if it were not given, and an offset is 0.
fn zones_to_bytes(options: &mut Options) {
    let has_zones = options.zonemode != "none";
    let zone = nonzero(options.zonesize).filter(|_| has_zones);
    options.size = options.size.and_then(|size| size.with_zones_as_bytes(zone));
    options.io_size = options
        .io_size
        .and_then(|size| size.with_zones_as_bytes(zone));
    for share in [
        &mut options.offset,
        &mut options.offset_increment,
        &mut options.zoneskip,
    ] {
        *share = share.with_zones_as_bytes(zone).unwrap_or_default();
    }
}

/// Sets the options of a section in a job.
fn apply(spec: &mut Spec, settings: &[Setting]) -> Result<(), Mistake> {
    for setting in in_reading_order(settings) {
        check_engine_option(spec, settings, setting)?;
        add_setting(spec, setting)?;
        // The stonewall between two files is on the line of the section itself, and is not reported.
        if setting.at.file.is_some() && setting.at == spec.at {
            continue;
        }
        let value = setting.value.clone().unwrap_or_default();
        let name = find(&setting.key).map_or(&*setting.key, |option| option.name);
        spec.own.push((name.to_owned(), value));
    }
    Ok(())
}

/// Refuses an option of some engines where the job has another one. In a job file, an `ioengine` of the
/// same section counts even if it follows the option; on the command line it must come before.
fn check_engine_option(
    spec: &Spec,
    settings: &[Setting],
    setting: &Setting,
) -> Result<(), Mistake> {
    if !priority::OF_OPERATIONS.contains(&&*setting.key) {
        return Ok(());
    }
    let engine = settings
        .iter()
        .rfind(|other| other.key == "ioengine" && other.at.file.is_some())
        .and_then(|setting| setting.value.clone())
        .unwrap_or_else(|| spec.typed_options().ioengine);
    if priority::ENGINES.contains(&&*engine) || engine::absent(&engine).is_some() {
        return Ok(());
    }
    let value = setting.value.as_deref().unwrap_or_default();
    let why = format!(
        "Bad option <{}={value}>: it belongs to the engines {}, and ioengine is {engine} here",
        setting.key,
        priority::ENGINES.join(" and "),
    );
    Err(Mistake::here(&setting.at, why))
}

/// In the order in which fio reads the settings of a job file's section: what scales other options
/// first, names of files late, and options of engines last, when the engine is known.
pub fn in_reading_order(settings: &[Setting]) -> Vec<&Setting> {
    const FIRST: [&str; 4] = ["cpus_allowed_policy", "lockfile", "unit_base", "kb_base"];
    const LAST: [&str; 2] = ["filename", "filename_format"];
    let mut ordered: Vec<&Setting> = settings.iter().collect();
    ordered.sort_by_key(|setting| match &*setting.key {
        _ if setting.at.file.is_none() => 1,
        key if FIRST.contains(&key) => 0,
        key if LAST.contains(&key) => 2,
        key if find(key).map_or_else(|| engine::is_of_absent(key), is_of_engines) => 3,
        _ => 1,
    });
    ordered
}

fn add_setting(spec: &mut Spec, setting: &Setting) -> Result<(), Mistake> {
    let Setting {
        key,
        value,
        unset,
        at,
    } = setting;
    let text = value.as_deref().unwrap_or_default();
    let Some(option) = find(key) else {
        return unknown_option(spec, setting);
    };
    // `kb_base`, which says what `k` means, applies to the options after it.
    let scale = spec.typed_options().scale();
    let unreadable = |why: String| {
        let why = match unset_words(unset) {
            Some(unset) => format!("{unset}; {why}"),
            None => why,
        };
        Mistake::here(at, format!("failed parsing {key}={text}: {why}"))
    };
    let text = behind_blanks(option, text).map_err(unreadable)?;
    if option.value.kind == Kind::Name && text.is_empty() && at.file.is_none() {
        // A name may be left out in a job file alone: on the command line, what follows is the name.
        return Err(unreadable(format!("option {key} requires an argument")));
    }
    let mut read = Value::read(option, value.as_ref().map(|_| text), scale).map_err(unreadable)?;
    if let Value::Names(names) = &mut read
        && option.name == "filename"
    {
        // A `directory` that is given later does not apply to these names.
        *names = files::named(names, &spec.typed_options());
    }
    if let Value::Text(name) = &mut read
        && option.name == "ioengine"
        && engine::is_alias_of_libaio(name)
    {
        "libaio".clone_into(name);
    }
    spec.has_share_of_size |= option.name == "size"
        && matches!(read, Value::Share(Share::Bytes(_)))
        && matches!(spec.value("size"), Some(Value::Share(Share::Percent(_))));
    let value = match spec.value(option.name) {
        Some(old) => joined(option.name, read, old),
        None => read,
    };
    spec.dropped
        .extend(dropped(option, text).map(|words| (option.name, words)));
    for replaced in replaced_by(option.name, &value) {
        spec.given.remove(replaced);
    }
    let given = Given {
        option,
        at: at.clone(),
        value,
        unset: unset.clone(),
    };
    spec.given.insert(option.name, given);
    if option.name == "nrfiles" {
        keep_first_files(spec);
    }
    Ok(())
}

/// The options that set the same thing as this one: what is given last holds.
fn replaced_by(option: &str, value: &Value) -> &'static [&'static str] {
    match option {
        "direct" => &["buffered"],
        "buffered" => &["direct"],
        "rwmixread" => &["rwmixwrite"],
        "rwmixwrite" => &["rwmixread"],
        "cpumask" => &["cpus_allowed"],
        "cpus_allowed" => &["cpumask"],
        "gtod_reduce" if *value != Value::Number(0) => &[
            "disable_lat",
            "disable_clat",
            "disable_slat",
            "disable_bw_measurement",
        ],
        _ => &[],
    }
}

/// An option that no table has: refused, unless it is one of an engine that is not available here.
fn unknown_option(spec: &Spec, setting: &Setting) -> Result<(), Mistake> {
    let Setting { key, value, at, .. } = setting;
    let engine = spec.typed_options().ioengine;
    if engine::is_option_of_absent(&engine, key) {
        // The engine itself is refused when it would be opened.
        return Ok(());
    }
    let written = match value {
        Some(value) => format!("{key}={value}"),
        None => key.clone(),
    };
    // An unknown option may be one of an engine that is not available here.
    let why = match engine::absent(&engine) {
        Some(absent) => format!("<{written}>: {absent}"),
        None => format!("Bad option <{written}>{}", hint(key)),
    };
    Err(Mistake::here(at, why))
}

/// Keeps as many of the files that `filename` has named as a later `nrfiles` says. Given before the names, it
/// has no effect, as in fio.
fn keep_first_files(spec: &mut Spec) {
    let most = spec.typed_options().nrfiles;
    if let (1.., Some(given)) = (most, spec.given.get_mut("filename"))
        && let Value::Names(names) = &mut given.value
    {
        names.truncate(most.try_into().unwrap_or(usize::MAX));
    }
}

/// What two values of an option mean together. In fio a share outlives bytes that are
/// given after it: an `offset` remains that share, and a `size` is that share of the bytes.
fn joined(option: &str, new: Value, old: &Value) -> Value {
    match (option, &new, old) {
        ("size", Value::Share(Share::Bytes(bytes)), Value::Share(old @ Share::Percent(_))) => {
            Value::Share(Share::Bytes(old.bytes_of(*bytes)))
        }
        (
            "offset" | "offset_increment",
            Value::Share(Share::Bytes(_)),
            Value::Share(Share::Percent(_)),
        ) => old.clone(),
        // A log without a name in a job keeps the one of `[global]`.
        (
            "write_bw_log" | "write_lat_log" | "write_iops_log" | "write_hist_log",
            Value::Text(name),
            _,
        ) if name.is_empty() => old.clone(),
        _ => new.over(old),
    }
}
