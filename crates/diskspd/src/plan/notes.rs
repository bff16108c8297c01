//! What is done differently from what a profile asks for.

use blocklab_record::{Note, NoteLevel};
use blocklab_units::Bytes;

use super::super::spec::{Buffers, Cache, Target, TimeSpan};
use super::{Maker, window};

/// Something that a profile may ask for and that is done differently here.
struct Difference {
    applies: fn(&TimeSpan, &Target) -> bool,
    level: NoteLevel,
    /// The option, as a command line says it.
    subject: &'static str,
    text: &'static str,
}

static DIFFERENCES: [Difference; 12] = [
    Difference {
        applies: |span, _| !span.disable_affinity && span.affinity.is_empty() && !span.round_robin,
        level: NoteLevel::Approximated,
        subject: "-ag",
        text: "threads are not bound to processors by default; -ag, or a list such as -a0,1, binds \
               them",
    },
    Difference {
        applies: |span, _| {
            span.thread_count > 0 && span.request_count == 0 && span.targets.len() > 1
        },
        level: NoteLevel::Approximated,
        subject: "-F",
        text: "each pair of thread and target is a thread of its own",
    },
    Difference {
        applies: |span, _| span.request_count > 0 && span.targets.len() > 1,
        level: NoteLevel::Approximated,
        subject: "-O",
        text: "the targets of a thread take turns by their weights; none is drawn by lot",
    },
    Difference {
        applies: |_, target| target.parallel && target.requests > 1,
        level: NoteLevel::Approximated,
        subject: "-p",
        text: "each operation in flight is a thread of its own, all from the same offset",
    },
    Difference {
        applies: |_, target| target.cache == Cache::NotLocal,
        level: NoteLevel::Approximated,
        subject: "-Sr",
        text: "O_DIRECT: the local cache is bypassed",
    },
    Difference {
        applies: |_, target| target.map_flush.is_some(),
        level: NoteLevel::Approximated,
        subject: "-N",
        text: "msync after each write",
    },
    Difference {
        applies: |_, target| target.mapped && target.write_through,
        level: NoteLevel::Approximated,
        subject: "-Smw",
        text: "mapped memory has no write-through here: msync after each write",
    },
    Difference {
        applies: |_, target| target.think_ms > 0,
        level: NoteLevel::Approximated,
        subject: "-j",
        text: "the pause begins when the burst has come back",
    },
    Difference {
        applies: |_, target| target.hints != [false; 3],
        level: NoteLevel::Approximated,
        subject: "-f",
        text: "the hints are replaced by the advice that fits the pattern",
    },
    Difference {
        applies: |span, _| span.completion_routines,
        level: NoteLevel::Ignored,
        subject: "-x",
        text: "completion routines and completion ports are both io_uring here",
    },
    Difference {
        applies: |_, target| target.priority < 3,
        level: NoteLevel::Approximated,
        subject: "-I",
        text: "very low is the idle class of the block layer, low the last of its best effort; \
               most devices ignore both",
    },
    Difference {
        applies: |_, target| target.large_pages,
        level: NoteLevel::Ignored,
        subject: "-l",
        text: "the kernel decides (transparent huge pages)",
    },
];

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
        for difference in &DIFFERENCES {
            if (difference.applies)(span, target) {
                self.note(
                    difference.level,
                    difference.subject,
                    difference.text.to_owned(),
                );
            }
        }
        let made = Bytes(target.file_size);
        let other = self.terms.size.filter(|size| *size != made);
        if let (Some(size), true) = (other, target.file_size > 0) {
            let text = format!("files are made with {size}, as --size says, in place of {made}");
            self.note(NoteLevel::Approximated, "-c", text);
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

#[cfg(test)]
mod tests {
    use super::super::super::options::find;
    use super::*;

    /// The page called -j and -O exact, though a run of them noted in what it differs. What the plan
    /// notes of an option and what the table says of it are one thing: nobody who chose an option
    /// because the page tells of no difference finds a note about one afterwards.
    #[test]
    fn what_the_plan_notes_stands_in_the_table() {
        for difference in &DIFFERENCES {
            let row = find(difference.subject).expect(difference.subject);
            assert_eq!(
                row.level,
                Some(difference.level),
                "{}: {}",
                difference.subject,
                difference.text
            );
        }
    }
}
