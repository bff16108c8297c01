//! The sections on where the figures come from: the machine and its targets, and the workload.

use blocklab_record::{
    BlockDevice, DeviceHealth, Origin, Record, TargetFacts, TargetKind, grouped,
};
use blocklab_units::{Bytes, count};
use blocklab_workload::Direction;
use maud::{Markup, html};

use super::model;
use super::side::{self, Side, by_key, names_unless_all};
use blocklab_report::words::facts;

/// Facts by name, in the order in which they are shown.
pub type Facts = Vec<(&'static str, String)>;

/// Whether the figures of a run depend on its machine, of which something is known: a simulation
/// gives the same ones on any, and another program may have reported nothing.
fn depends_on_machine(side: &Side<'_>) -> bool {
    let record = side.record;
    let is_known = !environment(record).is_empty() || record.targets.iter().any(is_real);
    record.origin != Origin::Simulated && is_known
}

/// Whether the figures of any run depend on its machine.
pub fn has_machine(sides: &[Side<'_>]) -> bool {
    sides.iter().any(depends_on_machine)
}

fn is_real(target: &TargetFacts) -> bool {
    target.kind != TargetKind::Model
}

/// The section on machine and targets. Modelled targets have a section of their own.
pub fn machine(sides: &[Side<'_>]) -> Markup {
    let modelled = sides
        .iter()
        .flat_map(|side| &side.record.targets)
        .all(|target| !is_real(target));
    let title = if modelled && model::any(sides) {
        "The machine"
    } else {
        "Machine and target"
    };
    html! {
        @if has_machine(sides) {
            section id="machine" {
                h2 { (title) }
                @for side in sides.iter().filter(|side| depends_on_machine(side)) {
                    (side.title())
                    div class="columns" {
                        @let machine = environment(side.record);
                        @if !machine.is_empty() { (list("Machine", machine)) }
                        @for group in grouped(&side.record.targets).filter(|group| is_real(&group[0])) {
                            (list("Target", target_facts(group)))
                        }
                        @for device in distinct_devices(&side.record.targets) {
                            (list(&format!("Device {}", device.name), device_facts(device)))
                        }
                    }
                }
            }
        }
    }
}

/// The devices below the targets. Several files often lie on one device, which has one card.
fn distinct_devices(targets: &[TargetFacts]) -> Vec<&BlockDevice> {
    let mut distinct: Vec<&BlockDevice> = Vec::new();
    for device in targets.iter().flat_map(|target| &target.devices) {
        if !distinct.contains(&device) {
            distinct.push(device);
        }
    }
    distinct
}

/// A card of facts.
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

/// Leaves out the facts that are not known or empty.
pub fn known_facts(facts: Vec<(&'static str, Option<String>)>) -> Facts {
    facts
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.filter(|text| !text.is_empty())?)))
        .collect()
}

/// A size; `None` if it is 0: it is unknown, or the device has nothing of the kind.
fn size(bytes: Bytes) -> Option<String> {
    (bytes.0 > 0).then(|| bytes.to_string())
}

/// The facts about a machine.
fn environment(record: &Record) -> Facts {
    let environment = &record.environment;
    let processor = &environment.processor;
    known_facts(vec![
        ("Instance", environment.instance.clone()),
        ("Processor", Some(processor.model.clone())),
        (
            "Processors",
            (processor.count > 0).then(|| processor.count.to_string()),
        ),
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

/// The facts about a target, or about several alike.
fn target_facts(group: &[TargetFacts]) -> Facts {
    let target = &group[0];
    let last = group.last().filter(|_| group.len() > 1);
    let others = last.map(|last| format!("{} more, through {}", group.len() - 1, last.path));
    let fs = target.file_system.as_ref();
    let [offsets, memory] = [target.direct_offset_align, target.direct_memory_align]
        .map(|align| align.map(|bytes| Bytes(u64::from(bytes)).to_string()));
    known_facts(vec![
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

/// The facts about a block device.
fn device_facts(device: &BlockDevice) -> Facts {
    let kind = match facts::rotates(device) {
        Some(true) => ", rotational",
        Some(false) => ", not rotational",
        None => "",
    };
    let (logical, physical) = (device.logical_block_bytes, device.physical_block_bytes);
    let queue = device.queue_requests.map(|n| format!("{n} requests"));
    let discard = size(device.discard_max_bytes).map(|text| format!("up to {text}"));
    let mut all = known_facts(vec![
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

/// The facts about the health of a disk, as far as it reports them.
fn health_facts(health: &DeviceHealth) -> Facts {
    let number = |n: u64| count(n as f64);
    let warned =
        (health.critical_warning > 0).then(|| facts::device_warnings(health.critical_warning));
    known_facts(vec![
        (
            "Temperature",
            health
                .temperature_celsius
                .map(|celsius| format!("{celsius} °C at the start")),
        ),
        (
            "Wear",
            health
                .wear_percent
                .map(|percent| format!("{percent} % of its rated writes used")),
        ),
        (
            "Spare blocks",
            health
                .spare_percent
                .map(|percent| format!("{percent} % left")),
        ),
        (
            "Written",
            health.written_bytes.map(|bytes| Bytes(bytes).to_string()),
        ),
        (
            "Powered",
            health
                .power_on_hours
                .map(|hours| format!("{} h", number(hours))),
        ),
        ("Media errors", health.media_errors.map(number)),
        ("It warns", warned),
    ])
}

/// A plan of more lines than this is not printed: it would fill many sheets, and cannot be copied
/// from them.
const PAPER_LINES: usize = 200;

/// The section with the plan and the command that run the workload again.
pub fn workload(sides: &[Side<'_>]) -> Markup {
    html! {
        section id="workload" {
            h2 { "Repeat it" }
            @if side::shown_together(sides) { (plans(sides)) }
            @for side in sides.iter().filter(|_| !side::shown_together(sides)) {
                (side.title())
                @if side.record.requested.native.is_empty() { (without_plan()) }
                @else { (plan_of(side.record)) }
            }
        }
    }
}

/// What an imported run shows instead of a plan.
fn without_plan() -> Markup {
    html! {
        p class="lead" { "Another program measured this, and its results hold no plan to run again." }
    }
}

/// The plan of a run with the command that runs it again.
fn plan_of(record: &Record) -> Markup {
    let file = file(&record.requested.name);
    let plan = &record.requested.native;
    let lines = plan.lines().count();
    let is_long = lines > PAPER_LINES;
    html! {
        p class="lead" {
            "This is the plan that ran: sizes, times and seed as they were in force, "
            "every default spelled out. Saved as " code { (file) } ", it is all that the "
            "command needs to repeat the run exactly, unless its first lines name settings "
            "that a study cannot say. "
            // The record of a fleet does not name the targets of one machine.
            @if record.fleet.is_none() {
                code { "blocklab run --again " (record.id) } " repeats those, too, where "
                "the record is stored."
            }
        }
        div class="card flush" {
            (copyable(&command(record, &file), "command"))
            div class=[is_long.then_some("no-print")] { (copyable(plan, "workload")) }
        }
        @if is_long {
            p class="hint paper-only" {
                "Not printed: the plan, " (count(lines as f64)) " lines. The page on a screen has it."
            }
        }
        @if let Some(text) = permission(record) { p class="hint" { (text) } }
    }
}

/// Every plan once, with the commands of its runs. The plans of a study differ only in their names,
/// so that they get the name of the study and count as one.
fn plans(sides: &[Side<'_>]) -> Markup {
    let name = |side: &Side<'_>| {
        let own = &side.record.requested.name;
        side.part
            .map_or_else(|| own.clone(), |part| part.study.to_owned())
    };
    // The plan with that name in its `name` line.
    let renamed = |side: &Side<'_>| {
        let line = |name: &str| format!("name = \"{name}\"");
        let native = &side.record.requested.native;
        native.replacen(&line(&side.record.requested.name), &line(&name(side)), 1)
    };
    let (known, unknown): (Vec<_>, Vec<_>) = sides
        .iter()
        .partition(|side| !side.record.requested.native.is_empty());
    let plans = by_key(known.into_iter().map(|side| (renamed(side), side)));
    html! {
        @if !unknown.is_empty() { (without_plan()) (names_unless_all(&unknown, sides.len())) }
        @for (plan, members) in &plans {
            @let commands = members.iter().map(|side| command(side.record, &file(&name(side))));
            details class="infos long" {
                summary { "The plan" (names_unless_all(members, sides.len())) }
                div class="card flush" {
                    (copyable(&commands.collect::<Vec<_>>().join("\n"), "command"))
                    (copyable(plan, "workload"))
                }
            }
        }
    }
}

/// A text with a button that copies it. `what`: its name and class.
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

/// The file name for a plan.
fn file(name: &str) -> String {
    format!("{}.toml", file_stem(name))
}

/// The command that runs a plan again, on all hosts of a fleet.
fn command(record: &Record, file: &str) -> String {
    // A plan whose jobs all name their targets needs none in the command.
    let is_named = record.requested.plan.as_ref().is_some_and(|plan| {
        let mut jobs = plan.jobs();
        jobs.all(|job| !job.targets.is_empty())
    });
    let targets = record.targets.iter().filter(|_| !is_named);
    let targets: String = targets
        .map(|target| format!(" --target {}", quoted(&address(target))))
        .collect();
    let Some(fleet) = &record.fleet else {
        return format!("blocklab run {file}{targets}");
    };
    // `h1#2` is the second share of the load on `h1`.
    let hosts = fleet.hosts.iter().map(|host| &*host.name);
    let machines = hosts.map(|host| host.split_once('#').map_or(host, |(machine, _)| machine));
    let machines = machines.collect::<Vec<_>>().join(",");
    format!(
        "blocklab fleet run {file} --hosts {}{targets}",
        quoted(&machines)
    )
}

/// The permission that a run which writes needs. The command does not have it: a reader must decide
/// on it.
fn permission(record: &Record) -> Option<&'static str> {
    let jobs = record.jobs();
    let mut directions = jobs.flat_map(|job| job.directions.keys());
    let wrote = directions.any(|direction| [Direction::Write, Direction::Trim].contains(direction));
    // A scratch file is made for the run, and holds no data.
    let may_hold_data = record
        .targets
        .iter()
        .any(|target| [TargetKind::BlockDevice, TargetKind::File].contains(&target.kind));
    (wrote && may_hold_data).then_some(
        "The run wrote to its target. Where that holds data, the command is refused until \
         --destroy-data names it.",
    )
}

/// The target as the user typed it. If that was not kept, its path; for a scratch file, the folder
/// of it.
fn address(target: &TargetFacts) -> String {
    match (&target.address, target.kind, target.path.rsplit_once('/')) {
        (Some(address), ..) => address.clone(),
        (None, TargetKind::Scratch, Some(("", _))) => "/".to_owned(),
        (None, TargetKind::Scratch, Some((folder, _))) => folder.to_owned(),
        (None, TargetKind::Scratch, None) => ".".to_owned(),
        _ => target.path.clone(),
    }
}

/// A text quoted for a POSIX shell, if it needs quotes.
fn quoted(text: &str) -> String {
    let mut letters = text.chars();
    let is_plain = letters.all(|c| c.is_ascii_alphanumeric() || "/._-:=,@+%".contains(c));
    if !text.is_empty() && is_plain {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The last part of a name, with every letter replaced that is not safe in a file name everywhere.
fn file_stem(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    let stem = last.replace(
        |c: char| !(c.is_alphanumeric() || c == '-' || c == '_'),
        "-",
    );
    // The name of a study may be that of its file, `load.toml`.
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

    /// The story: a job file of fio with four files had four equal cards of the one disk below them.
    #[test]
    fn a_device_of_several_files_has_one_card() {
        let on = |name: &str| TargetFacts {
            devices: vec![BlockDevice {
                name: name.to_owned(),
                ..BlockDevice::default()
            }],
            ..TargetFacts::default()
        };
        let targets = [on("vda"), on("vda"), on("vdb"), on("vda")];
        let names = distinct_devices(&targets)
            .into_iter()
            .map(|device| &*device.name);
        assert_eq!(names.collect::<Vec<_>>(), ["vda", "vdb"]);
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
