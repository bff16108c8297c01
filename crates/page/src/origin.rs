//! Where the numbers come from: the machine, the targets, the workload.

use blocklab_record::{
    BlockDevice, DeviceHealth, Origin, Record, TargetFacts, TargetKind, grouped,
};
use blocklab_units::{Bytes, count};
use blocklab_workload::Direction;
use maud::{Markup, html};

use super::model;
use super::side::{self, Side, alike, whose};
use blocklab_report::words::facts;

pub type Facts = Vec<(&'static str, String)>;

/// A simulated run gives the same figures on every machine.
fn has_one(side: &Side<'_>) -> bool {
    side.record.origin != Origin::Simulated
}

/// Whether the figures of any Record depend on a machine.
pub fn has_machine(sides: &[Side<'_>]) -> bool {
    sides.iter().any(has_one)
}

/// Environment and targets; the modelled ones have a section of their own.
pub fn machine(sides: &[Side<'_>]) -> Markup {
    let is_real = |it: &&TargetFacts| it.kind != TargetKind::Model;
    let modelled = sides
        .iter()
        .flat_map(|side| &side.record.targets)
        .all(|record| !is_real(&record));
    let title = if modelled && model::any(sides) {
        "The machine"
    } else {
        "Machine and target"
    };
    html! {
        @if has_machine(sides) {
            section id="machine" {
                h2 { (title) }
                @for side in sides.iter().filter(|side| has_one(side)) {
                    (side.title())
                    div class="columns" {
                        (list("Machine", environment(side.record)))
                        @for group in grouped(&side.record.targets).filter(|grouped| is_real(&&grouped[0])) {
                            @let target = &group[0];
                            (list("Target", target_facts(group)))
                            @for device in &target.devices {
                                (list(&format!("Device {}", device.name), device_facts(device)))
                            }
                        }
                    }
                }
            }
        }
    }
}

pub fn list(title: &str, facts: Facts) -> Markup {
    html! {
        div class="card facts" {
            h3 { (title) }
            dl {
                @for (name, value) in facts {
                    div { dt { (name) } dd { (value) } }
                }
            }
        }
    }
}

/// Only the facts that are known.
pub fn known(facts: Vec<(&'static str, Option<String>)>) -> Facts {
    facts
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.filter(|text| !text.is_empty())?)))
        .collect()
}

fn size(bytes: Bytes) -> Option<String> {
    (bytes.0 > 0).then(|| bytes.to_string())
}

fn environment(record: &Record) -> Facts {
    let environment = &record.environment;
    let processor = &environment.processor;
    known(vec![
        ("Instance", environment.instance.clone()),
        ("Processor", Some(processor.model.clone())),
        ("Processors", Some(processor.count.to_string())),
        ("Governor", processor.governor.clone()),
        (
            "Frequency",
            processor
                .frequency_mhz
                .map(|mhz| format!("{mhz} MHz at the start")),
        ),
        ("Hypervisor", processor.hypervisor.clone()),
        ("Memory", size(environment.memory_bytes)),
        ("System", Some(environment.os.clone())),
        ("Kernel", Some(environment.kernel.clone())),
        ("Clock source", Some(environment.clocksource.clone())),
    ])
}

/// Facts of a target, or of many that are alike.
fn target_facts(group: &[TargetFacts]) -> Facts {
    let target = &group[0];
    let last = group.last().filter(|_| group.len() > 1);
    let others = last.map(|last| format!("{} more, through {}", group.len() - 1, last.path));
    let fs = target.file_system.as_ref();
    let [offsets, memory] = [target.direct_offset_align, target.direct_memory_align]
        .map(|align| align.map(|bytes| Bytes(u64::from(bytes)).to_string()));
    known(vec![
        ("Path", Some(target.path.clone())),
        ("Others", others),
        ("Kind", Some(facts::target_kind(target.kind).to_owned())),
        ("Size", size(target.size_bytes)),
        ("File system", fs.map(|fs| fs.kind.clone())),
        ("Mounted on", fs.map(|fs| fs.mount_point.clone())),
        ("Options", fs.map(|fs| fs.options.replace(',', ", "))),
        ("Capacity", fs.and_then(|fs| size(fs.size_bytes))),
        ("Free", fs.and_then(|fs| size(fs.free_bytes))),
        ("O_DIRECT offsets", offsets),
        ("O_DIRECT memory", memory),
    ])
}

fn device_facts(device: &BlockDevice) -> Facts {
    let kind = match facts::rotates(device) {
        Some(true) => ", rotational",
        Some(false) => ", not rotational",
        None => "",
    };
    let (logical, physical) = (device.logical_block_bytes, device.physical_block_bytes);
    let queue = device.queue_requests.map(|n| format!("{n} requests"));
    let discard = size(device.discard_max_bytes).map(|text| format!("up to {text}"));
    let mut all = known(vec![
        ("Model", device.model.clone()),
        ("Serial", device.serial.clone()),
        ("Firmware", device.firmware.clone()),
        ("Cloud", device.cloud.as_deref().map(facts::cloud)),
        ("Capacity", size(device.size_bytes)),
        ("Transport", Some(format!("{}{kind}", device.transport))),
        ("Scheduler", device.scheduler.clone()),
        ("Queue", queue),
        (
            "Blocks",
            Some(format!("{logical} logical, {physical} physical")),
        ),
        ("Read-ahead", size(device.read_ahead_bytes)),
        ("Write cache", device.write_cache.clone()),
        ("Discard", discard),
    ]);
    if let Some(health) = &device.health {
        all.extend(health_facts(health));
    }
    all
}

fn health_facts(of: &DeviceHealth) -> Facts {
    let number = |n: u64| count(n as f64);
    let warned = (of.critical_warning > 0).then(|| facts::device_warnings(of.critical_warning));
    known(vec![
        (
            "Temperature",
            of.temperature_celsius
                .map(|temperature_celsiu| format!("{temperature_celsiu} °C at the start")),
        ),
        (
            "Wear",
            of.wear_percent
                .map(|wear_percent| format!("{wear_percent} % of its rated writes used")),
        ),
        (
            "Spare blocks",
            of.spare_percent
                .map(|spare_percent| format!("{spare_percent} % left")),
        ),
        (
            "Written",
            of.written_bytes
                .map(|written_bytes| Bytes(written_bytes).to_string()),
        ),
        (
            "Powered",
            of.power_on_hours
                .map(|power_on_hour| format!("{} h", number(power_on_hour))),
        ),
        ("Media errors", of.media_errors.map(number)),
        ("It warns", warned),
    ])
}

/// A plan of more lines than this would fill sheet after sheet, and nobody types it in.
const PAPER_LINES: usize = 200;

/// The exact workload, to run it again.
pub fn workload(sides: &[Side<'_>]) -> Markup {
    html! {
        section id="workload" {
            h2 { "Repeat it" }
            @if side::many(sides) { (plans(sides)) }
            @for side in sides.iter().filter(|_| !side::many(sides)) {
                @let file = file(&side.record.requested.name);
                (side.title())
                p class="lead" {
                    "This is the plan that ran: sizes, times and seed as they were in force, "
                    "every default spelled out. Saved as " code { (file) } ", it is all that the "
                    "command needs to repeat the run exactly, unless its first lines name settings "
                    "that a study cannot say. "
                    code { "blocklab run --again " (side.record.id) } " repeats those, too, where "
                    "the record is stored."
                }
                @let plan = &side.record.requested.native;
                @let lines = plan.lines().count();
                @let is_long = lines > PAPER_LINES;
                div class="card flush" {
                    (copyable(&command(side.record, &file), "command"))
                    div class=[is_long.then_some("no-print")] { (copyable(plan, "workload")) }
                }
                @if is_long {
                    p class="hint paper-only" {
                        "Not printed: the plan, " (count(lines as f64)) " lines. The page on a screen has it."
                    }
                }
                @if let Some(text) = permission(side.record) { p class="hint" { (text) } }
            }
        }
    }
}

/// Every plan once, with the commands of the runs that followed it. Those of a study have its name
/// in place of their own.
fn plans(sides: &[Side<'_>]) -> Markup {
    let name = |side: &Side<'_>| {
        let own = &side.record.requested.name;
        side.part
            .map_or_else(|| own.clone(), |(study, _)| study.to_owned())
    };
    let named = |side: &Side<'_>| {
        let line = |name: &str| format!("name = \"{name}\"");
        let native = &side.record.requested.native;
        native.replacen(&line(&side.record.requested.name), &line(&name(side)), 1)
    };
    let plans = alike(sides.iter().map(|side| (named(side), side)));
    html! {
        @for (plan, members) in &plans {
            @let commands = members.iter().map(|side| command(side.record, &file(&name(side))));
            details class="infos long" {
                summary { "The plan" (whose(members, sides.len())) }
                div class="card flush" {
                    (copyable(&commands.collect::<Vec<_>>().join("\n"), "command"))
                    (copyable(plan, "workload"))
                }
            }
        }
    }
}
fn copyable(text: &str, what: &str) -> Markup {
    html! {
        div class={ "copyable " (what) } {
            pre tabindex="0" { code { (text) } }
            button type="button" class="copy needs-script no-print" aria-label=(format!("Copy the {what}")) {
                "Copy"
            }
        }
    }
}

/// What a plan is saved as.
fn file(name: &str) -> String {
    format!("{}.toml", file_stem(name))
}

/// The command that runs a plan again.
fn command(record: &Record, file: &str) -> String {
    // A plan whose jobs all name their targets needs no others.
    let is_named = record.requested.plan.as_ref().is_some_and(|plan| {
        let mut jobs = plan.cases.iter().flat_map(|case| &case.workload.jobs);
        jobs.all(|job| !job.targets.is_empty())
    });
    let targets = record.targets.iter().filter(|_| !is_named);
    let targets: String = targets
        .map(|target| format!(" --target {}", quoted(&address(target))))
        .collect();
    format!("blocklab run {file}{targets}")
}

/// The permission that the command lacks, and should not have by itself.
fn permission(record: &Record) -> Option<&'static str> {
    let jobs = record.measurements.iter().flat_map(|m| &m.jobs);
    let mut directions = jobs.flat_map(|job| job.directions.keys());
    let wrote = directions.any(|direction| [Direction::Write, Direction::Trim].contains(direction));
    let kept = [TargetKind::BlockDevice, TargetKind::File];
    let kept = record
        .targets
        .iter()
        .any(|target| kept.contains(&target.kind));
    (wrote && kept).then_some(
        "The run wrote to its target. Where that holds data, the command is refused until \
         --destroy-data names it.",
    )
}

/// What the user typed; where that was not kept, what leads to the target: of a scratch file, its
/// folder.
fn address(target: &TargetFacts) -> String {
    match (&target.address, target.kind, target.path.rsplit_once('/')) {
        (Some(address), ..) => address.clone(),
        (None, TargetKind::Scratch, Some(("", _))) => "/".to_owned(),
        (None, TargetKind::Scratch, Some((folder, _))) => folder.to_owned(),
        (None, TargetKind::Scratch, None) => ".".to_owned(),
        _ => target.path.clone(),
    }
}

/// As a POSIX shell reads it back.
fn quoted(text: &str) -> String {
    let mut letters = text.chars();
    let is_plain = letters.all(|c| c.is_ascii_alphanumeric() || "/._-:=,@+%".contains(c));
    if !text.is_empty() && is_plain {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A name that is safe as a file name everywhere.
fn file_stem(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    let stem = last.replace(
        |c: char| !(c.is_alphanumeric() || c == '-' || c == '_'),
        "-",
    );
    match stem.trim_end_matches("-toml").trim_matches('-') {
        "" => "workload".to_owned(),
        stem => stem.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_read_back_what_was_quoted() {
        for (text, expected) in [
            ("/data", "/data"),
            (
                "sim:gp3:1TiB,iops=6000@r5d.xlarge",
                "sim:gp3:1TiB,iops=6000@r5d.xlarge",
            ),
            ("/my disk", "'/my disk'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(text), expected);
        }
    }

    /// The story: `--target /nonexistent` was measured, and the page repeated it with
    /// `--target .`: another disk.
    #[test]
    fn a_target_is_repeated_as_it_was_typed() {
        let of = |kind, path: &str, asked: Option<&str>| {
            let target = TargetFacts {
                kind,
                path: path.to_owned(),
                address: asked.map(str::to_owned),
                ..TargetFacts::default()
            };
            address(&target)
        };
        let scratch = TargetKind::Scratch;
        assert_eq!(
            of(scratch, "/nonexistent", Some("/nonexistent")),
            "/nonexistent"
        );
        assert_eq!(of(scratch, "/.blocklab-1.scratch", None), "/");
        assert_eq!(of(scratch, "/data/.blocklab-1.scratch", None), "/data");
        assert_eq!(of(scratch, ".blocklab-1.scratch", None), ".");
        assert_eq!(
            of(TargetKind::BlockDevice, "/dev/dm-0", Some("/dev/mapper/a")),
            "/dev/mapper/a"
        );
    }

    #[test]
    fn names_become_file_names() {
        for (name, expected) in [
            ("quick", "quick"),
            ("my/study.toml", "study"),
            ("a b", "a-b"),
            ("...", "workload"),
        ] {
            assert_eq!(file_stem(name), expected);
        }
    }
}
