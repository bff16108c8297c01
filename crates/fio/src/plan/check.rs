//! Options that are not carried out to the letter: either a note says so, or the job is refused.

use blocklab_record::NoteLevel;
use blocklab_units::Nanos;
use blocklab_workload::BlockSizes;

use super::PlanBuilder;
use crate::engine::is_diskless;
use crate::load::MOST_DEPTH;
use crate::options::{Options, Support};
use crate::pattern::{self, ReadWrite};
use crate::priority;
use crate::source::unset_words;
use crate::spec::{Given, Spec};
use crate::value::{Share, Sizes, Value};
use crate::verify;
use blocklab_syntax::Mistake;

impl PlanBuilder<'_> {
    /// Notes what is not exact; refuses what cannot be done.
    pub(super) fn check(&mut self, spec: &Spec) -> Result<(), Mistake> {
        self.check_together(spec)?;
        for (name, words) in &spec.dropped {
            self.note(NoteLevel::Approximated, name, words);
        }
        for given in spec.given.values() {
            self.remark_unset(given);
            let (name, option) = (given.option.name, given.option);
            if given.value.is_off(option) {
                continue;
            }
            match option.support {
                // A single case that differs is noted where the option is carried out.
                Support::Exact | Support::Documented | Support::Mostly | Support::Ours => {}
                Support::Nearly => self.note(NoteLevel::Approximated, name, option.here),
                Support::Ignored => self.note(NoteLevel::Ignored, name, option.here),
                // With --parse-only nothing is run, and nothing need be refused.
                Support::Refused if self.context.only_parsed => {}
                Support::Refused => {
                    let message = format!("it is not done here: {}", option.here);
                    return Err(spec.mistake(name, message));
                }
            }
        }
        Ok(())
    }

    /// fio takes a variable that is not set for nothing and does not mention it.
    fn remark_unset(&mut self, given: &Given) {
        let Some(unset) = unset_words(&given.unset) else {
            return;
        };
        let remark = format!("{}: {unset} in {}=", given.at, given.option.name);
        // An option of [global] is one of each job.
        if !self.prepared.remarks.contains(&remark) {
            self.prepared.remarks.push(remark);
        }
    }

    /// Values that make no sense together, or on this machine.
    fn check_together(&mut self, spec: &Spec) -> Result<(), Mistake> {
        let options = &spec.options;
        if options.zonesize > 0 && options.zonemode == "none" {
            let wrong = "--zonemode=none and --zonesize are not compatible; \
                         zonemode=strided works zone by zone";
            return Err(spec.mistake("zonesize", wrong));
        }
        if is_given(options.rate) && is_given(options.rate_iops) {
            return Err(spec.mistake("rate", "rate and rate_iops are mutually exclusive"));
        }
        check_min_rates(spec)?;
        if matches!(options.io_size, Some(Share::Percent(percent)) if percent > 100.0) {
            let wrong = "io_size values greater than 100% aren't supported";
            return Err(spec.mistake("io_size", wrong));
        }
        check_memory(spec)?;
        let align = options.replay_align;
        if spec.value("replay_align").is_some() && !align.is_power_of_two() {
            return Err(spec.mistake("replay_align", format!("{align} is no power of two")));
        }
        let sizes = pattern::block_sizes(spec)?;
        let smallest = sizes.smallest().0;
        if let Some(Share::Bytes(bytes @ 1..)) = options.size
            && bytes < smallest
            && !is_diskless(options)
        {
            let wrong = format!(
                "size too small, must not be less than minimum block size: {bytes} < {smallest}"
            );
            return Err(spec.mistake("size", wrong));
        }
        let rw = pattern::read_write(spec)?;
        self.note_single_cases(spec, &sizes, rw);
        self.remark_unusual(options, &sizes, rw);
        Ok(())
    }

    /// Notes where an option differs from fio in a single case.
    fn note_single_cases(&mut self, spec: &Spec, sizes: &BlockSizes, rw: ReadWrite) {
        let options = &spec.options;
        if options.cgroup.is_some() && self.context.control_groups.is_none() {
            let text = "no block I/O controller of control groups of version 1 is mounted: the \
                        job runs outside of any, as with fio 3.33";
            self.note(NoteLevel::Ignored, "cgroup", text);
        }
        if priority::has_hint(options) {
            let text =
                "the hint after class and level is not passed to the kernel, as with fio 3.33";
            self.note(NoteLevel::Ignored, "cmdprio_bssplit", text);
        }
        if options.iodepth > MOST_DEPTH {
            let text = format!("at most {MOST_DEPTH} operations are in flight");
            self.note(NoteLevel::Approximated, "iodepth", &text);
        }
        if rw.trims && rw.writes && sizes.trim != sizes.write {
            let text = "each block is trimmed with the size of its write; the sizes of trims are \
                        not used";
            self.note(NoteLevel::Approximated, "rw", text);
        }
        if rw.gap > 0 && pattern::smallest_block(sizes, rw) < pattern::largest_block(sizes, rw) {
            let text = "with blocks of several sizes, fio 3.33 counts the gap from the end of each \
                        block and ends at the end of the file; here blocks begin as far apart as \
                        if all were the largest, again and again until all bytes are moved";
            self.note(NoteLevel::Approximated, "rw", text);
        }
        for (option, is_given) in [
            ("zero_buffers", options.zero_buffers),
            ("buffer_pattern", options.buffer_pattern.is_some()),
            ("dedupe_percentage", options.dedupe_percentage > 0),
        ] {
            if is_given && rw.writes && verify::fills_at_random(options) {
                let text = "it decides what is written behind the headers; fio 3.33 writes random \
                            bytes where it verifies";
                self.note(NoteLevel::Approximated, option, text);
            }
        }
        let fills_alike = options.zero_buffers || options.buffer_pattern.is_some();
        let scrambles = spec.value("scramble_buffers") == Some(&Value::Number(1));
        if rw.writes && scrambles && fills_alike && !options.refill_buffers {
            let text = "no byte of zero_buffers or of a buffer_pattern is changed";
            self.note(NoteLevel::Ignored, "scramble_buffers", text);
        }
    }

    /// Remarks on unusual settings that fio prints, too.
    fn remark_unusual(&mut self, options: &Options, sizes: &BlockSizes, rw: ReadWrite) {
        let shifts = pattern::shifts_blocks(options, sizes);
        let has_no_map = shifts && rw.random || options.norandommap;
        if has_no_map && !options.norandommap {
            let words = "Any use of blockalign= turns off randommap";
            self.prepared.remarks.push(words.to_owned());
        }
        if has_no_map && verify::method(options).is_some() && sizes.smallest() != sizes.largest() {
            let words = "norandommap given for variable block sizes, verify limited";
            self.prepared.remarks.push(words.to_owned());
        }
        if options.bs_unaligned && options.direct {
            self.prepared
                .remarks
                .push("bs_unaligned may not work with raw io".to_owned());
        }
        if options.time_based && options.runtime == Nanos::ZERO {
            let words = "time_based requires a runtime/timeout setting";
            self.prepared.remarks.push(words.to_owned());
        }
    }
}

/// Buffers are allocated the same way for every word, but fio refuses one that it does not know.
fn check_memory(spec: &Spec) -> Result<(), Mistake> {
    const KNOWN: [&str; 6] = ["malloc", "shm", "shmhuge", "mmap", "mmaphuge", "mmapshared"];
    let word = spec.options.mem.split(':').next().unwrap_or_default();
    if KNOWN.contains(&word) {
        return Ok(());
    }
    let wrong = format!("`{word}` is none of {}", KNOWN.join(", "));
    Err(spec.mistake("mem", wrong))
}

/// Whether there is a rate for any direction.
fn is_given(rates: Sizes) -> bool {
    rates.iter().any(|rate| *rate > 0)
}

/// A minimum rate must not exceed the rate that throttles the job.
fn check_min_rates(spec: &Spec) -> Result<(), Mistake> {
    let options = &spec.options;
    if is_given(options.rate_min) && is_given(options.rate_iops_min) {
        let wrong = "rate_min and rate_iops_min are mutually exclusive";
        return Err(spec.mistake("rate_min", wrong));
    }
    let limits = [
        ("rate_min", options.rate_min, "rate", options.rate),
        (
            "rate_iops_min",
            options.rate_iops_min,
            "rate_iops",
            options.rate_iops,
        ),
    ];
    for (least_name, least, most_name, most) in limits {
        let mut pairs = least.into_iter().zip(most);
        if let Some((least, most)) = pairs.find(|(least, most)| *most > 0 && least > most) {
            let wrong = format!(
                "minimum rate exceeds rate: {least} is above {most_name}={most}, so the job \
                 would end for being too slow; a smaller {least_name} would work"
            );
            return Err(spec.mistake(least_name, wrong));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::tests::planned;

    /// A queue deeper than the largest ring was cut, trims of their own size had that of the writes,
    /// and zeros stayed zeros in spite of `scramble_buffers=1`, all without a word.
    #[test]
    fn single_cases_that_differ_are_noted() {
        #[track_caller]
        fn check(options: &str, noted: Option<&str>) {
            let text = format!("[a]\nioengine=null\nsize=64k\n{options}\n");
            let notes = planned(&text).expect(options).notes;
            let subject = notes.first().map(|note| &*note.subject);
            assert_eq!(subject, noted, "{options}");
        }
        check("iodepth=32768", None);
        check("iodepth=32769", Some("iodepth"));
        check("rw=trimwrite\nbs=4k,16k", None);
        check("rw=trimwrite\nbs=4k,16k,4k", Some("rw"));
        // Another load went without a word where blocks of several sizes have gaps.
        check("rw=write:4k\nbs=4k,8k", None);
        check("rw=write:4k\nbssplit=4k/50:8k/50", Some("rw"));
        check("rw=rw:4k\nbs=4k,8k", Some("rw"));
        // Backward, both tools count from the end of each block.
        check("rw=read:-16k\nbssplit=4k/50:8k/50", None);
        let zeros = "rw=write\nzero_buffers";
        check(zeros, None);
        check(
            &format!("{zeros}\nscramble_buffers=1"),
            Some("scramble_buffers"),
        );
        check("rw=write\nscramble_buffers=1", None);
        check(&format!("{zeros}\nverify=crc32c"), Some("zero_buffers"));
        check("rw=write\nverify=crc32c", None);
    }
}
