//! What is done differently from what a profile requests.

use blocklab_record::{Note, NoteLevel};
use blocklab_units::Bytes;

use super::super::options::{find, level};
use super::super::spec::{Buffers, Cache, Target, TimeSpan};
use super::{Planner, window};

/// An option, whether a profile requests what is done differently of it, and how that differs;
/// empty: as in the table of options. The level is always that of the table, so that a user who
/// chose an option for its row finds no other level in the note about it.
type Difference = (&'static str, fn(&TimeSpan, &Target) -> bool, &'static str);

#[rustfmt::skip]
const DIFFERENCES: [Difference; 12] = [
    ("-ag", |span, _| !span.disable_affinity && span.affinity.is_empty() && !span.round_robin,
        "threads are not bound to processors by default; -ag, or a list such as -a0,1, binds them"),
    ("-F", |span, _| span.thread_count > 0 && span.request_count == 0 && span.targets.len() > 1,
        "each pair of thread and target is a thread of its own"),
    ("-O", |span, _| span.request_count > 0 && span.targets.len() > 1, ""),
    ("-p", |_, target| target.parallel && target.requests > 1, ""),
    ("-Sr", |_, target| target.cache == Cache::NotLocal, "O_DIRECT: the local cache is bypassed"),
    ("-N", |_, target| target.map_flush.is_some(), "msync after each write"),
    ("-Smw", |_, target| target.mapped && target.write_through,
        "mapped memory has no write-through here: msync after each write"),
    ("-j", |_, target| target.think_ms > 0, ""),
    ("-f", |_, target| target.hints != [false; 3],
        "the hints are replaced by the advice that fits the pattern"),
    ("-x", |span, _| span.completion_routines,
        "completion routines and completion ports are both io_uring here"),
    ("-I", |_, target| target.priority < 3, ""),
    ("-l", |_, target| target.large_pages, ""),
];

impl Planner<'_> {
    pub(super) fn note(&mut self, level: NoteLevel, subject: &str, text: impl Into<String>) {
        Note::new(level, subject, text).add_to(&mut self.prepared.notes);
    }

    /// What is done differently from what this target requests.
    pub(super) fn note_differences(&mut self, span: &TimeSpan, target: &Target) {
        let requested = DIFFERENCES
            .iter()
            .filter(|(_, applies, _)| applies(span, target));
        for (subject, _, text) in requested {
            let row = find(subject).expect("a row of the table");
            let level = level(row.support).expect("a row that differs");
            let text = if text.is_empty() { row.here } else { text };
            self.note(level, subject, text);
        }
        let requested = Bytes(target.file_size);
        let given = self.inputs.size.filter(|size| *size != requested);
        if let (Some(size), true) = (given, target.file_size > 0) {
            let text = format!("files are made with {size} (--size) instead of {requested}");
            self.note(NoteLevel::Approximated, "-c", text);
        }
        let text = match (&target.buffers, window(target)) {
            (Buffers::Source { .. }, None) => {
                "random bytes of which no two blocks are equal stand in for a buffer of more than \
                 16 MiB"
            }
            (Buffers::Source { size, .. }, Some(used)) if used < Bytes(*size) => {
                "of a buffer out of a file, the first GiB is used"
            }
            _ => return,
        };
        if target.write_ratio > 0 {
            self.note(NoteLevel::Approximated, "-Z", text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Inputs, prepare};
    use super::*;
    use crate::spec::Profile;

    /// The story: of `-Z2G,FILE` only the first GiB was used, without a word.
    #[test]
    fn a_buffer_that_is_used_in_part_is_noted() {
        let target = Target {
            write_ratio: 50,
            buffers: Buffers::Source {
                size: 2 << 30,
                file: Some("data".to_owned()),
            },
            ..Target::default()
        };
        let span = TimeSpan {
            targets: vec![target],
            ..TimeSpan::default()
        };
        let profile = Profile {
            timespans: vec![span],
            ..Profile::default()
        };
        let inputs = Inputs {
            sources: vec![("data".to_owned(), [1][..].into())],
            ..Inputs::default()
        };
        let notes = prepare(&profile, &inputs).expect("sound").notes;
        assert!(notes.iter().any(|note| note.text.contains("first GiB")));
    }

    /// The page called -j and -O exact, though a run of them noted in what it differs. What the plan
    /// notes of an option has the level of the table, and each has a row that differs.
    #[test]
    fn what_the_plan_notes_stands_in_the_table() {
        for (subject, ..) in &DIFFERENCES {
            let row = find(subject).expect(subject);
            assert!(level(row.support).is_some(), "{subject}");
        }
    }
}
