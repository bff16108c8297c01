//! What is not done as it is said: noted, or refused.

use blocklab_record::NoteLevel;

use super::Maker;
use crate::mistake::Mistake;
use crate::number::{Scale, amount};
use crate::options::{Support, find};
use crate::pattern;
use crate::spec::Spec;
use crate::value::Share;

/// In which mapped files are flushed.
const PAGE: u64 = 4096;

impl Maker<'_> {
    /// Notes what is not exact; refuses what cannot be done.
    pub(super) fn judge(&mut self, spec: &Spec) -> Result<(), Mistake> {
        self.judge_together(spec)?;
        for (name, words) in &spec.dropped {
            self.note(NoteLevel::Approximated, name, words);
        }
        for name in spec.values.names() {
            let Some(option) = find(name) else { continue };
            if is_off(spec, name, option.default) {
                continue;
            }
            match option.support {
                // Where it is not, whoever carries it out says so.
                Support::Exact | Support::Documented | Support::Mostly => {}
                Support::Nearly => self.note(NoteLevel::Approximated, name, option.here),
                Support::Ignored => self.note(NoteLevel::Ignored, name, option.here),
                Support::Refused => {
                    let message = format!("it is not done here: {}", option.here);
                    return Err(spec.mistake(name, message));
                }
            }
        }
        Ok(())
    }

    /// Values that make no sense together, or on this machine.
    fn judge_together(&mut self, spec: &Spec) -> Result<(), Mistake> {
        let values = &spec.values;
        if values.flag("zonesize") && matches!(values.text("zonemode"), None | Some("none")) {
            let wrong = "--zonemode=none and --zonesize are not compatible; \
                         zonemode=strided works zone by zone";
            return Err(spec.mistake("zonesize", wrong));
        }
        if let Some(memory) = values.text("mem") {
            const KNOWN: [&str; 6] = ["malloc", "shm", "shmhuge", "mmap", "mmaphuge", "mmapshared"];
            let word = memory.split(':').next().unwrap_or_default();
            if !KNOWN.contains(&word) {
                let wrong = format!("`{word}` is none of {}", KNOWN.join(", "));
                return Err(spec.mistake("mem", wrong));
            }
        }
        if values.text("cgroup").is_some() && self.terms.control_groups.is_none() {
            let text = "no block I/O controller of control groups of version 1 is mounted: the \
                        job runs outside of any, as with fio 3.33";
            self.note(NoteLevel::Ignored, "cgroup", text);
        }
        let stores = values.flag("direct") || values.flag("fsync") || values.flag("fdatasync");
        let smallest = pattern::block_sizes(spec)?.smallest().0;
        if values.text("ioengine") == Some("mmap") && stores && !smallest.is_multiple_of(PAGE) {
            let wrong = format!("mmap options dictate a minimum block size of {PAGE} bytes");
            return Err(spec.mistake("bs", wrong));
        }
        let shifts = pattern::shifts_blocks(spec, &pattern::block_sizes(spec)?);
        if shifts && pattern::way(spec)?.random && !values.flag("norandommap") {
            let words = "Any use of blockalign= turns off randommap";
            self.remarks.push(words.to_owned());
        }
        if values.flag("bs_unaligned") && values.flag("direct") {
            self.remarks
                .push("bs_unaligned may not work with raw io".to_owned());
        }
        if values.flag("time_based") && values.time("runtime").unwrap_or(0) == 0 {
            let words = "time_based requires a runtime/timeout setting";
            self.remarks.push(words.to_owned());
        }
        Ok(())
    }
}

/// Whether the option was given what it has anyway.
fn is_off(spec: &Spec, name: &str, default: &str) -> bool {
    let values = &spec.values;
    if let Some(number) = values.number(name) {
        let default = amount(default, Scale::default()).unwrap_or(0);
        return number == default;
    }
    if let Some(text) = values.text(name) {
        return text == default;
    }
    values.time(name) == Some(0) || values.share(name) == Some(Share::Bytes(0))
}
