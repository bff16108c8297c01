//! Commands as people write them: one table from which they are read and explained.

use blocklab_record::ControlAction;
use blocklab_units::{Bytes, Nanos, did_you_mean};

use super::templates::{TEMPLATES, Template};
use crate::{Failure, FaultKind, Loss};

/// One command.
#[derive(Debug)]
pub struct Row {
    /// Its name; of a fault, behind the word `fault`.
    pub name: &'static str,
    /// Another one.
    pub also: Option<&'static str>,
    /// Whether the word `fault` may precede it.
    pub is_fault: bool,
    /// What follows, as help shows it.
    pub arguments: &'static str,
    /// What may follow that.
    pub flags: &'static [&'static str],
    /// What it does.
    pub meaning: &'static str,
    /// Under which name the Record keeps it; `None`: nothing is changed.
    pub action: Option<ControlAction>,
    read: fn(&Words) -> Result<Order, String>,
}

/// Something that may follow a command.
#[derive(Debug)]
pub struct FlagRow {
    /// With its dashes.
    pub name: &'static str,
    /// Its value, as help shows it; empty: it has none.
    pub value: &'static str,
    /// What it does.
    pub meaning: &'static str,
}

/// All flags.
pub const FLAGS: [FlagRow; 6] = [
    FlagRow {
        name: "--on",
        value: "read|write",
        meaning: "only reads, or only writes, trims and flushes",
    },
    FlagRow {
        name: "--range",
        value: "A..B",
        meaning: "only operations that touch these bytes, such as 1GiB..2GiB",
    },
    FlagRow {
        name: "--errno",
        value: "NAME",
        meaning: "EIO (the default), ENOSPC, EPERM or ESHUTDOWN",
    },
    FlagRow {
        name: "--for",
        value: "TIME",
        meaning: "end it after TIME (default: at `fault clear`)",
    },
    FlagRow {
        name: "--torn",
        value: "",
        meaning: "lose each sector of 512 bytes by chance, separately",
    },
    FlagRow {
        name: "--volume",
        value: "NAME",
        meaning: "only this one of several volumes",
    },
];

const SCOPE: &[&str] = &["--on", "--range", "--for", "--volume"];
const ONE: &[&str] = &["--volume"];

/// A row without another name.
const fn row(
    (name, is_fault): (&'static str, bool),
    arguments: &'static str,
    flags: &'static [&'static str],
    action: Option<ControlAction>,
    meaning: &'static str,
    read: fn(&Words) -> Result<Order, String>,
) -> Row {
    Row {
        name,
        also: None,
        is_fault,
        arguments,
        flags,
        meaning,
        action,
        read,
    }
}

/// All commands, in the order of help.
pub const ROWS: [Row; 14] = [
    row(
        ("status", false),
        "",
        ONE,
        None,
        "counters, burst buckets and active faults of the volumes",
        |_| Ok(Order::Status),
    ),
    row(
        ("set", false),
        "iops=N throughput=MiB/s",
        ONE,
        Some(ControlAction::Set),
        "change provisioned rates, within what the provider sells",
        settings,
    ),
    row(
        ("credits", false),
        "drain|fill|PERCENT",
        ONE,
        Some(ControlAction::Credits),
        "set the burst credits of the volumes and of their instance",
        credits,
    ),
    row(
        ("error", true),
        "PERCENT",
        &["--on", "--range", "--errno", "--for", "--volume"],
        Some(ControlAction::Error),
        "fail this share of the operations; failed writes change nothing",
        error,
    ),
    row(
        ("latency", true),
        "+TIME [PERCENT]",
        SCOPE,
        Some(ControlAction::Latency),
        "delay this share of the operations (default: all) by TIME",
        latency,
    ),
    row(
        ("template", true),
        "NAME",
        ONE,
        Some(ControlAction::Latency),
        "play a latency course of the provider's fault service",
        template,
    ),
    Row {
        also: Some("aws:ebs:pause-volume-io"),
        ..row(
            ("stall", true),
            "TIME",
            ONE,
            Some(ControlAction::Stall),
            "answer nothing for TIME",
            stall,
        )
    },
    row(
        ("detach", true),
        "",
        ONE,
        Some(ControlAction::Detach),
        "fail all requests, also those in flight, until `fault attach`; the data stays",
        |_| Ok(Order::Detach),
    ),
    row(
        ("power-cut", true),
        "",
        &["--torn", "--volume"],
        Some(ControlAction::PowerCut),
        "like detach, and unflushed data is lost",
        |words| {
            let torn = words.flag("--torn").is_some();
            Ok(Order::PowerCut(if torn { Loss::Torn } else { Loss::All }))
        },
    ),
    row(
        ("stop", true),
        "",
        &[],
        Some(ControlAction::Stop),
        "stop the instance: like detach, and local disks come back empty",
        |_| Ok(Order::Stop),
    ),
    row(
        ("attach", true),
        "",
        ONE,
        Some(ControlAction::Attach),
        "bring back volumes that were detached, cut off or stopped",
        |_| Ok(Order::Attach),
    ),
    row(
        ("bitflip", true),
        "COUNT",
        &["--range", "--volume"],
        Some(ControlAction::Bitflip),
        "flip COUNT bits of stored data",
        bitflip,
    ),
    row(
        ("list", true),
        "",
        ONE,
        None,
        "list active and future faults",
        |_| Ok(Order::Status),
    ),
    row(
        ("clear", true),
        "[NUMBER]",
        ONE,
        Some(ControlAction::Clear),
        "end all errors, latencies and stalls, or the one with NUMBER",
        clear,
    ),
];

impl Row {
    /// `fault error PERCENT [--on read|write] …`.
    pub fn usage(&self) -> String {
        let mut usage = String::new();
        if self.is_fault {
            usage.push_str("fault ");
        }
        usage.push_str(self.name);
        if !self.arguments.is_empty() {
            usage.push(' ');
            usage.push_str(self.arguments);
        }
        for flag in FLAGS.iter().filter(|flag| self.flags.contains(&flag.name)) {
            usage.push_str(" [");
            usage.push_str(flag.name);
            if !flag.value.is_empty() {
                usage.push(' ');
                usage.push_str(flag.value);
            }
            usage.push(']');
        }
        usage
    }

    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.also == Some(name)
    }
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Order {
    Status,
    Set(Vec<(String, String)>),
    /// A share from 0 to 1.
    Credits(f64),
    Inject {
        kind: FaultKind,
        percents: [f64; 4],
        range: Option<(u64, u64)>,
        lasts: Option<Nanos>,
    },
    Course(&'static Template),
    Detach,
    PowerCut(Loss),
    Stop,
    Attach,
    Bitflip {
        count: u64,
        range: (u64, u64),
    },
    Clear(Option<u64>),
}

/// A command that was understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// As it can be given again.
    pub text: String,
    pub(super) action: Option<ControlAction>,
    pub(super) volume: Option<String>,
    pub(super) order: Order,
}

/// A text that is no command: why, and what would work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadCommand(String);

impl std::str::FromStr for Command {
    type Err = BadCommand;

    fn from_str(line: &str) -> Result<Self, BadCommand> {
        let mut words = line.split_whitespace().peekable();
        let with_prefix = words.next_if_eq(&"fault").is_some();
        let name = words.next().unwrap_or_default();
        let row = find(name, with_prefix).map_err(BadCommand)?;
        let wrong = |why: String| BadCommand(format!("{why}; write `{}`", row.usage()));
        let words = Words::read(row, words).map_err(wrong)?;
        let order = (row.read)(&words).map_err(wrong)?;
        let rest = line.split_whitespace().skip(usize::from(with_prefix) + 1);
        let head = if row.is_fault { "fault " } else { "" };
        let first = std::iter::once(format!("{head}{}", row.name));
        let text: Vec<_> = first.chain(rest.map(str::to_owned)).collect();
        Ok(Self {
            text: text.join(" "),
            action: row.action,
            volume: words.flag("--volume").map(str::to_owned),
            order,
        })
    }
}

/// `fault` may be left out where nothing else has the name.
fn find(name: &str, with_prefix: bool) -> Result<&'static Row, String> {
    let mut rows = ROWS.iter().filter(|row| row.is_fault || !with_prefix);
    let names: Vec<_> = rows.clone().map(|row| row.name).collect();
    rows.find(|row| row.is_called(name)).ok_or_else(|| {
        let what = if with_prefix { "fault" } else { "command" };
        if name.is_empty() {
            return format!("a {what} is missing; {}", there_are(&names));
        }
        let hint = did_you_mean(name, names.iter().copied(), || there_are(&names));
        format!("there is no {what} `{name}`; {hint}")
    })
}

fn there_are(names: &[&str]) -> String {
    format!("there are {}", names.join(", "))
}

/// What follows the name.
#[derive(Debug, Default)]
struct Words {
    arguments: Vec<String>,
    flags: Vec<(&'static str, String)>,
}

impl Words {
    fn read<'w>(row: &Row, mut words: impl Iterator<Item = &'w str>) -> Result<Self, String> {
        let mut read = Self::default();
        let most = row.arguments.split_whitespace().count();
        while let Some(word) = words.next() {
            if !word.starts_with("--") {
                read.arguments.push(word.to_owned());
                continue;
            }
            let (name, joined) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (word, None),
            };
            let known = FLAGS.iter().find(|flag| flag.name == name);
            let flag = known.filter(|flag| row.flags.contains(&flag.name));
            let Some(flag) = flag else {
                return Err(format!("`{}` takes no {name}", row.name));
            };
            let value = match (flag.value, joined) {
                ("", None) => "",
                ("", Some(_)) => return Err(format!("{name} takes no value")),
                (_, Some(value)) => value,
                (wanted, None) => words
                    .next()
                    .ok_or_else(|| format!("{name} needs {wanted}"))?,
            };
            if read.flag(name).is_some() {
                return Err(format!("{name} is there twice"));
            }
            read.flags.push((flag.name, value.to_owned()));
        }
        let is_set = row.action == Some(ControlAction::Set);
        match read.arguments.get(most) {
            Some(more) if !is_set => Err(format!("`{more}` is one word too many")),
            _ => Ok(read),
        }
    }

    fn flag(&self, name: &str) -> Option<&str> {
        let mut flags = self.flags.iter();
        let found = flags.find(|(known, _)| *known == name);
        found.map(|(_, value)| value.as_str())
    }

    fn first(&self, wanted: &str) -> Result<&str, String> {
        let first = self.arguments.first();
        first
            .map(String::as_str)
            .ok_or_else(|| format!("{wanted} is missing"))
    }

    /// By direction: reads, and everything else.
    fn percents(&self, percent: f64) -> Result<[f64; 4], String> {
        match self.flag("--on") {
            None => Ok([percent; 4]),
            Some("read") => Ok([percent, 0.0, 0.0, 0.0]),
            Some("write") => Ok([0.0, percent, percent, percent]),
            Some(other) => Err(format!("--on is `read` or `write`, not `{other}`")),
        }
    }

    fn range(&self) -> Result<Option<(u64, u64)>, String> {
        let Some(text) = self.flag("--range") else {
            return Ok(None);
        };
        let wrong = || format!("`{text}` is no range such as 1GiB..2GiB, ..4KiB or 1GiB..");
        let (first, beyond) = text.split_once("..").ok_or_else(wrong)?;
        let bound = |text: &str, open: u64| match text {
            "" => Ok(open),
            text => text
                .parse::<Bytes>()
                .map(|bytes| bytes.0)
                .map_err(|_| wrong()),
        };
        let range = (bound(first, 0)?, bound(beyond, u64::MAX)?);
        if range.0 < range.1 {
            Ok(Some(range))
        } else {
            Err(format!("the range {text} holds nothing"))
        }
    }

    fn inject(&self, kind: FaultKind, percent: f64, lasts: Option<Nanos>) -> Result<Order, String> {
        let for_time = self.flag("--for").map(time).transpose()?;
        Ok(Order::Inject {
            kind,
            percents: self.percents(percent)?,
            range: self.range()?,
            lasts: lasts.or(for_time),
        })
    }
}

fn time(text: &str) -> Result<Nanos, String> {
    let time: Nanos = text.parse().map_err(|error| format!("{error}"))?;
    match time {
        Nanos::ZERO => Err("a time of 0 does nothing".to_owned()),
        time => Ok(time),
    }
}

fn percent(text: &str, least: f64) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).parse().ok();
    let sound = number.filter(|share: &f64| (least..=100.0).contains(share) && *share >= 0.0);
    sound.ok_or_else(|| format!("`{text}` is no share such as 1% or 0.1%, at most 100%"))
}

fn settings(words: &Words) -> Result<Order, String> {
    words.first("what to set")?;
    let mut pairs = Vec::new();
    for word in &words.arguments {
        let (key, value) = word
            .split_once('=')
            .ok_or_else(|| format!("`{word}` is no KEY=VALUE"))?;
        pairs.push((key.to_owned(), value.to_owned()));
    }
    Ok(Order::Set(pairs))
}

fn credits(words: &Words) -> Result<Order, String> {
    match words.first("drain, fill or a share")? {
        "drain" => Ok(Order::Credits(0.0)),
        "fill" => Ok(Order::Credits(1.0)),
        share => Ok(Order::Credits(percent(share, 0.0)? / 100.0)),
    }
}

/// Errors that can be injected.
const ERRORS: [(&str, Failure); 4] = [
    ("EIO", Failure::Io),
    ("ENOSPC", Failure::NoSpace),
    ("EPERM", Failure::ReadOnly),
    ("ESHUTDOWN", Failure::Detached),
];

/// The least share that means anything.
const LEAST: f64 = 1e-6;

fn error(words: &Words) -> Result<Order, String> {
    let share = percent(words.first("the share")?, LEAST)?;
    let name = words.flag("--errno").unwrap_or("EIO");
    let known = ERRORS.iter().find(|(known, _)| *known == name);
    let (_, failure) = known.ok_or_else(|| {
        let names = ERRORS.map(|(name, _)| name);
        format!("`{name}` is none of {}", names.join(", "))
    })?;
    words.inject(FaultKind::Error(*failure), share, None)
}

fn latency(words: &Words) -> Result<Order, String> {
    let added = words.first("by how much")?;
    let added = time(added.strip_prefix('+').unwrap_or(added))?;
    let share = match words.arguments.get(1) {
        Some(share) => percent(share, LEAST)?,
        None => 100.0,
    };
    words.inject(FaultKind::Latency(added), share, None)
}

fn template(words: &Words) -> Result<Order, String> {
    let names: Vec<_> = TEMPLATES.iter().map(|template| template.name).collect();
    let name = words
        .first("the name")
        .map_err(|why| format!("{why}: {}", there_are(&names)))?;
    let found = TEMPLATES.iter().find(|template| template.name == name);
    found.map(Order::Course).ok_or_else(|| {
        let hint = did_you_mean(name, names.iter().copied(), || there_are(&names));
        format!("there is no template `{name}`; {hint}")
    })
}

fn stall(words: &Words) -> Result<Order, String> {
    let lasts = time(words.first("for how long")?)?;
    words.inject(FaultKind::Stall, 100.0, Some(lasts))
}

/// The answer lists each flip, so their number is bounded.
const MOST_FLIPS: u64 = 1000;

fn bitflip(words: &Words) -> Result<Order, String> {
    let count = words.first("how many")?;
    let number = count.parse().ok();
    let sound = number.filter(|count| (1..=MOST_FLIPS).contains(count));
    Ok(Order::Bitflip {
        count: sound
            .ok_or_else(|| format!("`{count}` is no whole number from 1 to {MOST_FLIPS}"))?,
        range: words.range()?.unwrap_or((0, u64::MAX)),
    })
}

fn clear(words: &Words) -> Result<Order, String> {
    let Some(text) = words.arguments.first() else {
        return Ok(Order::Clear(None));
    };
    let number = text
        .parse()
        .map_err(|_| format!("`{text}` is no number of a fault"))?;
    Ok(Order::Clear(Some(number)))
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
