//! The key `trace` of a case: which recorded load it replays, and how.
//!
//! The key is no setting of a job. This crate opens no file, so it returns the name and the options of
//! the trace ([`WantedTrace`]), and the caller that runs the study reads it.

use blocklab_units::{Nanos, with_defaults};
use blocklab_workload::{ReplayPace, ReplayPlace};

use super::super::value::{Value, Word, optional};
use super::words::{or, within};
use blocklab_syntax::toml_tree::Complaint;

with_defaults! {
    /// A recorded load instead of a pattern: the choices of `blocklab run --trace`.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct WantedTrace {
        /// The files, which are merged by their times.
        pub files: Vec<String> = Vec::new(),
        /// When operations are issued.
        pub pace: ReplayPace = ReplayPace::Open,
        /// Speed in per cent of the recorded one.
        pub speed_percent: u64 = 100,
        /// How often the load comes.
        pub copies: u32 = 1,
        /// How much later each copy begins than the one before. Servers have peaks at every minute and
        /// every few minutes. 37 s has no divisor in common with a minute, so that the peaks of up to
        /// sixty copies come at different seconds of it.
        pub shift: Nanos = Nanos::from_secs(37),
        /// How it is put into a smaller target.
        pub place: ReplayPlace = ReplayPlace::AsRecorded,
        /// Most operations in flight; `None`: as `--max-in-flight` by default.
        pub max_in_flight: Option<u32> = None,
        /// An operation waits while another one on the same bytes is in flight.
        pub in_order: bool = false,
        /// Trims are issued on a real target, too.
        pub trims: bool = false,
        /// What comes earlier is left out.
        pub from: Option<Nanos> = None,
        /// What comes then or later is left out.
        pub until: Option<Nanos> = None,
        /// Format of the files.
        pub input: Option<String> = None,
        /// Columns of a table.
        pub columns: Option<String> = None,
        /// Only operations of this device.
        pub device: Option<String> = None,
    }
}

const MOMENTS: [Word<ReplayPace>; 3] = [
    ("open", ReplayPace::Open),
    ("dependent", ReplayPace::Dependent),
    ("fast", ReplayPace::Fast),
];

const PLACES: [Word<ReplayPlace>; 4] = [
    ("as-recorded", ReplayPlace::AsRecorded),
    ("wrap", ReplayPlace::Wrap),
    ("scale", ReplayPlace::Scale),
    ("compact", ReplayPlace::Compact),
];

/// What the reference says of the value.
pub const TAKES: &str = "a file, or { file, as (open, dependent, fast), speed (100), copies (1), \
                         shift (\"37s\"), place (as-recorded, wrap, scale, compact), max_in_flight, \
                         in_order, trims, from, until, input, columns, device }; `file` may be a list";

const NAMES: [&str; 14] = [
    "file",
    "as",
    "speed",
    "copies",
    "shift",
    "place",
    "max_in_flight",
    "in_order",
    "trims",
    "from",
    "until",
    "input",
    "columns",
    "device",
];

/// Reads the key `trace`: the name of a file, or a table with it and more settings.
pub fn read(value: Value<'_>) -> Result<WantedTrace, Complaint> {
    if !value.is_table() {
        return Ok(WantedTrace {
            files: vec![file(value)?],
            ..WantedTrace::default()
        });
    }
    let [
        file,
        pace,
        speed,
        copies,
        shift,
        place,
        most,
        in_order,
        trims,
        from,
        until,
        input,
        columns,
        device,
    ] = optional(value, NAMES)?;
    let Some(named) = file else {
        return Err(value.complaint("no `file` is named".to_owned()));
    };
    let files = named.list_or_one().into_iter().map(self::file);
    let plain = WantedTrace::default();
    let wanted = WantedTrace {
        files: files.collect::<Result<_, _>>()?,
        pace: or(pace, |value| value.word(&MOMENTS), plain.pace)?,
        speed_percent: or(speed, |value| within(value, 1..=100_000), 100)?.into(),
        copies: or(copies, |value| within(value, 1..=100_000), 1)?,
        shift: or(shift, Value::time, plain.shift)?,
        place: or(place, |value| value.word(&PLACES), plain.place)?,
        max_in_flight: most.map(|value| within(value, 1..=u32::MAX)).transpose()?,
        in_order: or(in_order, Value::flag, false)?,
        trims: or(trims, Value::flag, false)?,
        from: from.map(Value::time).transpose()?,
        until: until.map(Value::time).transpose()?,
        input: input.map(Value::text).transpose()?.map(str::to_owned),
        columns: columns.map(Value::text).transpose()?.map(str::to_owned),
        device: device.map(Value::text).transpose()?.map(str::to_owned),
    };
    if let (Some(from), Some(until), Some(place)) = (wanted.from, wanted.until, until)
        && from >= until
    {
        return Err(place.complaint(format!("`until` {until} is not after `from` {from}")));
    }
    Ok(wanted)
}

fn file(value: Value<'_>) -> Result<String, Complaint> {
    match value.text()? {
        "" | "-" => Err(value.complaint("a study names the file of its trace".to_owned())),
        path => Ok(path.to_owned()),
    }
}
