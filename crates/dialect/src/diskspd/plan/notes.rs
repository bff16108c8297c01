//! What is done differently from what a profile asks for.

use blocklab_record::{Note, NoteLevel};
use blocklab_units::Bytes;

use super::super::spec::{Buffers, Cache, Target, TimeSpan};
use super::{Maker, window};

impl Maker<'_> {
    pub(super) fn note(&mut self, level: NoteLevel, subject: &str, text: String) {
        let note = Note {
            level,
            subject: subject.to_owned(),
            text,
        };
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// What is done differently from what this target asks for.
    pub(super) fn tell(&mut self, span: &TimeSpan, target: &Target) {
        use NoteLevel::{Approximated, Ignored};
        let told: [(bool, NoteLevel, &str, &str); 12] = [
            (
                !span.disable_affinity && span.affinity.is_empty() && !span.round_robin,
                Ignored,
                "-ag",
                "threads are not bound to processors by default; -ag said out loud, or -a0,1, would \
                 bind them",
            ),
            (
                span.thread_count > 0 && span.request_count == 0 && span.targets.len() > 1,
                Approximated,
                "-F",
                "each pair of thread and target is a thread of its own",
            ),
            (
                span.request_count > 0 && span.targets.len() > 1,
                Approximated,
                "-O",
                "the targets of a thread take turns by their weights; none is drawn by lot",
            ),
            (
                target.parallel && target.requests > 1,
                Approximated,
                "-p",
                "each operation in flight is a thread of its own, all from the same offset",
            ),
            (
                target.cache == Cache::NotLocal,
                Approximated,
                "-Sr",
                "O_DIRECT: the local cache is bypassed",
            ),
            (
                target.map_flush.is_some(),
                Approximated,
                "-N",
                "msync after each write",
            ),
            (
                target.mapped && target.write_through,
                Approximated,
                "-Smw",
                "mapped memory has no write-through here: msync after each write",
            ),
            (
                target.think_ms > 0,
                Approximated,
                "-j",
                "the pause begins when the burst has come back",
            ),
            (
                target.hints != [false; 3],
                Approximated,
                "-f",
                "the hints are replaced by the advice that fits the pattern",
            ),
            (
                span.completion_routines,
                Ignored,
                "-x",
                "completion routines and completion ports are both io_uring here",
            ),
            (
                target.priority < 3,
                Approximated,
                "-I",
                "very low is the idle class of the block layer, low the last of its best effort; \
                 most devices ignore both",
            ),
            (
                target.large_pages,
                Ignored,
                "-l",
                "the kernel decides (transparent huge pages)",
            ),
        ];
        for (applies, level, subject, text) in told {
            if applies {
                self.note(level, subject, text.to_owned());
            }
        }
        let made = Bytes(target.file_size);
        let other = self.terms.size.filter(|size| *size != made);
        if let (Some(size), true) = (other, target.file_size > 0) {
            let text = format!("files are made with {size}, as --size says, in place of {made}");
            self.note(Approximated, "-c", text);
        }
        if target.write_ratio > 0 {
            self.tell_content(target);
        }
    }

    fn tell_content(&mut self, target: &Target) {
        let large = matches!(&target.buffers, Buffers::Source { .. }) && window(target).is_none();
        if large {
            let text = "random bytes of which no two blocks are equal stand in for a buffer of \
                        more than 16 MiB";
            self.note(NoteLevel::Approximated, "-Z", text.to_owned());
        }
    }
}
