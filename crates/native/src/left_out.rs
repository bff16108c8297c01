//! Settings of a job for which the native format has no key. They come from other languages, and only
//! the plan's JSON keeps them.

use std::collections::BTreeSet;

use blocklab_workload::Job;
use serde_json::Value;

/// A setting without a key.
struct Row {
    /// What the key was called before, or a field of a table: `verify.pass`.
    was: &'static str,
    /// Its path in the JSON of a job.
    field: &'static str,
    what: &'static str,
    language: &'static str,
    option: &'static str,
}

macro_rules! rows {
    ($($was:literal $field:literal $what:literal $language:literal $option:literal)*) => {
        &[$(Row { was: $was, field: $field, what: $what, language: $language, option: $option }),*]
    };
}

const ROWS: &[Row] = rows! {
    "cpuchunks" "engine.cpuio" "how long cpuio burns at a time" "fio" "cpuchunks"
    "run_length" "runs" "several operations for each offset" "fio" "rw_sequencer"
    "run_same" "runs.same" "several operations for each offset" "fio" "rw_sequencer"
    "run_follow" "runs.follow_percent" "runs of random length" "DiskSpd" "-rs"
    "run_step" "runs.step" "the distance in a run" "DiskSpd" "-rs"
    "run_one_way" "runs.one_way" "runs in one direction" "DiskSpd" "-rs"
    "draws" "rng_label" "random draws of another job" "fio" "verify"
    "target_turn" "target_turn" "several operations on a target in turn" "fio" "file_service_type"
    "center" "center" "where a skewed pattern has its centre" "fio" "random_distribution"
    "open_targets" "open_targets" "how many targets are open at a time" "fio" "openfiles"
    "target_center" "target_center" "which target a skewed order prefers" "fio" "file_service_type"
    "align" "align" "alignments by direction" "fio" "blockalign"
    "random_percent" "random_percent" "random shares by direction" "fio" "percentage_random"
    "pattern.listed" "pattern.listed" "blocks in the order of a list" "fio" "random_distribution"
    "content.window" "content.window" "parts of one buffer as content" "DiskSpd" "-Z"
    "content.repeat" "content.repeating" "writes that repeat as a whole" "fio" "dedupe_percentage"
    "think_spin" "think_style.spin" "pauses that burn the processor" "fio" "thinktime_spin"
    "think_on_completion" "think_style.on_completion" "pauses counted by completions" "fio" "thinktime_blocks_type"
    "think_work" "think_style.work" "pauses after a time of work" "fio" "thinktime_iotime"
    "think_shifts_schedule" "think_style.shifts_schedule" "pauses that hold the schedule of a rate up" "fio" "rate_ignore_thinktime"
    "operation_flags" "operation_flags" "writes that are whole or not there, and operations that do not wait" "fio" "atomic"
    "io_priority_shares" "priority_shares" "priorities of single operations" "fio" "cmdprio_percentage"
    "standing" "credentials" "user, group and cgroup of the threads" "fio" "uid"
    "replay" "replay" "a trace" "fio" "read_iolog"
    "log" "log" "logs of single operations" "fio" "write_lat_log"
    "sized_ramp" "sized_ramp" "a ramp by bytes" "fio" "ramp_size"
    "pool" "pool" "operations in flight that jobs share" "Vdbench" "threads"
    "verify.offset" "verify.offset" "where in its interval a header stands" "fio" "verify_offset"
    "verify.pattern" "verify.pattern" "a pattern that is verified" "fio" "verify_pattern"
    "verify.pattern_interval" "verify.pattern_interval" "a pattern that begins anew within a block" "fio" "verify_pattern_interval"
    "verify.any_write" "verify.any_write" "blocks that several jobs write and verify" "fio" "verify_write_sequence"
    "verify.same_seed" "verify.same_seed" "blocks of an earlier run with the same seed" "fio" "verify_header_seed"
    "verify.pass" "verify.pass" "reading back after each pass" "fio" "do_verify"
    "verify.in_time" "verify.in_time" "reading back within the runtime" "fio" "runtime"
    "verify.keep" "verify.keep" "flawed blocks that are kept" "fio" "verify_dump"
    "verify.first" "verify.first" "the first writes alone are verified" "fio" "verify_state_load"
    "verify.trimmed_zero" "verify.trimmed_zero" "trimmed ranges that read as zeros" "fio" "trim_verify_zero"
    "verify.trims" "verify.trims" "trims of what was written" "fio" "trim_percentage"
    "verify.checksum" "verify.checksum" "a checksum of patterns, or none" "fio" "verify"
    "verify.when" "verify.when" "reading back what any job wrote" "fio" "verify_only"
};

/// What an unknown key is called where it is known.
pub(super) fn foreign_key(name: &str) -> Option<String> {
    find(|row| row.was == name || row.option == name)
}

/// The same of a field of a small table.
pub(super) fn foreign_field(name: &str) -> Option<String> {
    find(|row| {
        row.was
            .split_once('.')
            .is_some_and(|(_, field)| field == name)
    })
}

fn find(is_meant: impl Fn(&Row) -> bool) -> Option<String> {
    let row = ROWS.iter().find(|row| is_meant(row))?;
    let (language, option) = (row.language, row.option);
    Some(format!("only the {language} language has this: {option}"))
}

pub(super) fn json(job: &Job) -> Value {
    serde_json::to_value(job).unwrap_or_default()
}

/// The paths at which two values differ.
pub(super) fn differences(path: &str, one: &Value, other: &Value, found: &mut BTreeSet<String>) {
    match (one, other) {
        _ if one == other => {}
        // A job's JSON leaves out settings that it does not have. Deeper objects are only compared
        // field by field if both have the same fields; otherwise they are different choices.
        (Value::Object(one), Value::Object(other))
            if path.is_empty() || one.keys().eq(other.keys()) =>
        {
            for key in one.keys().chain(other.keys()) {
                let dot = if path.is_empty() { "" } else { "." };
                let [one, other] = [one, other].map(|plan| plan.get(key).unwrap_or(&Value::Null));
                differences(&format!("{path}{dot}{key}"), one, other, found);
            }
        }
        // A choice: its name is the key of its only field.
        (Value::Object(choice), _) if choice.len() == 1 => {
            found.extend(choice.keys().map(|name| format!("{path}.{name}")));
        }
        _ => {
            found.insert(path.to_owned());
        }
    }
}

/// A field in words, with its name in the language that has it.
pub(super) fn in_words(field: &str) -> String {
    // The row of the field itself, or of the nearest one that it is a part of.
    let rows = ROWS.iter().filter(|row| {
        let rest = field.strip_prefix(row.field);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    });
    match rows.max_by_key(|row| row.field.len()) {
        Some(row) => format!("{} ({}: {})", row.what, row.language, row.option),
        None => field.to_owned(),
    }
}
