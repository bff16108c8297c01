//! One pass of a job over its files: how many bytes it moves, and when another one begins.

use blocklab_units::Bytes;
use blocklab_workload::{Job, Pattern, SizeDraw};

use super::files::WorkingSet;
use super::options::Options;
use super::pattern::{ReadWrite, keeps_a_map, largest_block, smallest_block};
use super::spec::Spec;
use super::value::{Share, nonzero};
use super::verify;

/// One pass of a clone over its files.
pub(super) struct Pass<'a> {
    options: &'a Options,
    rw: ReadWrite,
    working_set: &'a WorkingSet,
    job: &'a Job,
}

impl<'a> Pass<'a> {
    /// The pass of a job over its files. It depends on the settings of `job` that decide which blocks are
    /// moved: the pattern, the sizes, how they are drawn and aligned, the mix, and whether a trim comes first.
    pub(super) const fn new(
        spec: &'a Spec,
        rw: ReadWrite,
        working_set: &'a WorkingSet,
        job: &'a Job,
    ) -> Self {
        Self {
            options: &spec.options,
            rw,
            working_set,
            job,
        }
    }

    /// Operations for each block that counts: a block that is trimmed and then written takes two, and
    /// only the write counts.
    pub(super) fn operations_per_block(&self) -> u64 {
        1 + u64::from(self.job.trim_first)
    }

    /// Whether it writes nothing, and reads back what it would have written.
    pub(super) fn only_reads_back(&self) -> bool {
        self.options.verify_only && self.rw.writes
    }

    /// Bytes after which the job is done, or begins anew, and how often it moves them.
    ///
    /// ```text
    ///  io_size                                  bytes                   how often
    ///  none                                     a pass, or its limit    loops
    ///  several passes of a verifying job        a pass                  these passes, or loops
    ///  more than the files hold, with loops     a pass                  until all are moved, or loops
    ///  one pass of a verifying job              a pass                  loops
    ///  any other                                io_size, no short pass  loops
    /// ```
    pub(super) fn amount(&self) -> (u64, u64) {
        let (whole, loops) = (self.whole_pass(), self.loops());
        let (counted, passes) = match self.requested() {
            None => (
                self.working_set.pass_limit.unwrap_or(whole).min(whole),
                loops,
            ),
            Some(bytes) => {
                let moved = self.without_short_pass(bytes, whole);
                let meets_the_end = whole > 0 && bytes > whole && !self.meets_no_end();
                match self.verifying_passes(bytes, whole) {
                    Some(passes @ 2..) => (whole, loops.max(passes)),
                    _ if loops > 1 && meets_the_end => (whole, loops.max(moved.div_ceil(whole))),
                    Some(_) => (whole, loops),
                    None => (moved, loops),
                }
            }
        };
        if self.job.trim_first {
            // The last trim has its write, too.
            let block = largest_block(&self.job.sizes, self.rw);
            let whole_blocks = counted.div_ceil(block).saturating_mul(block);
            return (
                whole_blocks.saturating_mul(self.operations_per_block()),
                passes,
            );
        }
        (counted, passes)
    }

    /// The bytes that are moved where this many are requested. As in fio, a pass that would have to move
    /// less than the largest block of any direction is not begun.
    fn without_short_pass(&self, bytes: u64, whole: u64) -> u64 {
        let meets_the_end = !self.meets_no_end() && self.options.zonemode == "none";
        let by_passes = matches!(
            self.job.pattern,
            Pattern::Sequential | Pattern::Random { .. }
        );
        match bytes.checked_rem(whole) {
            Some(stub)
                if meets_the_end
                    && by_passes
                    && bytes > whole
                    && stub < self.job.sizes.largest().0 =>
            {
                bytes - stub
            }
            _ => bytes,
        }
    }

    /// What is appended to has no second pass: its end is where the first one left it.
    fn loops(&self) -> u64 {
        if self.options.file_append {
            1
        } else {
            self.options.loops.max(1)
        }
    }

    /// How often a verifying job goes through its files to move this many bytes. `None`: it counts
    /// bytes instead, as one does that writes at random without a map, where no pass has an end.
    fn verifying_passes(&self, bytes: u64, whole: u64) -> Option<u64> {
        let keeps_a_map = keeps_a_map(self.options, self.rw, &self.job.sizes);
        if self.rw.writes && self.rw.random && !keeps_a_map {
            return None;
        }
        verify::passes(self.options, self.rw, bytes, whole)
    }

    /// `io_size`.
    fn requested(&self) -> Option<u64> {
        match self.options.io_size? {
            Share::Bytes(bytes) => nonzero(bytes),
            share => Some(share.bytes_of(self.working_set.space)),
        }
    }

    /// A job that begins anew opens its files anew, and `invalidate` then drops what the page cache
    /// holds of them. One that draws its places for a time, and keeps no map of them, never comes
    /// to an end of its files, and drops them once.
    pub(super) fn drop_cache_every(&self) -> Option<Bytes> {
        let goes_on = self.options.time_based && self.rw.random && self.meets_no_end();
        self.restarts_after()
            .filter(|_| self.options.invalidate && !goes_on)
    }

    /// Bytes after which the job begins anew, where it does.
    pub(super) fn restarts_after(&self) -> Option<Bytes> {
        let (bytes, passes) = self.amount();
        let again = self.options.time_based || passes > 1;
        (again && bytes > 0).then_some(Bytes(bytes))
    }

    /// Whether a pass is over when its map is full, after fewer bytes than the files hold: blocks
    /// that are no multiples of the smallest leave a part of a piece untouched.
    pub(super) fn ends_with_its_map(&self) -> bool {
        let Some(piece) = self.job.piece() else {
            return false;
        };
        let sizes = [
            &self.job.sizes.read,
            &self.job.sizes.write,
            &self.job.sizes.trim,
        ];
        let mut all = sizes.iter().flat_map(|mix| &mix.0);
        let is_uneven = self.job.size_draw == SizeDraw::AnyByte
            || all.any(|(size, _)| !size.0.is_multiple_of(piece.0));
        is_uneven && self.requested().is_none() && self.working_set.pass_limit.is_none()
    }

    /// Whether a pass is over at the end of files whose length only their making shows.
    pub(super) fn ends_with_its_files(&self) -> bool {
        self.working_set.is_cut_short && self.requested().is_none()
    }

    /// Bytes of a pass over all files: what of one is no whole block is left out, where blocks are of
    /// one size, or where each is hit once. A job that meets no end moves a whole block for it.
    fn whole_pass(&self) -> u64 {
        let piece = self.job.piece().map(|piece| piece.0);
        let block = largest_block(&self.job.sizes, self.rw);
        let files = self.working_set.targets.len() as u64;
        if let Some(writes) = self
            .job
            .pattern
            .writes_to_precondition(self.working_set.bytes_per_target() / block)
        {
            return writes.saturating_mul(block).saturating_mul(files);
        }
        if self.goes_by_zones() {
            return self.until_a_zone_is_cut(block);
        }
        let Some(size) = self.working_set.size else {
            let space = self.working_set.space;
            if let ([_], Some(blocks)) = (
                &self.working_set.targets[..],
                self.blocks_until_the_end(space, block),
            ) {
                return (blocks * block).min(space);
            }
            if piece.is_none() && self.meets_no_end() {
                return space;
            }
            let block = piece.unwrap_or(block);
            return space / block * block;
        };
        if let Some(piece) = piece {
            return ((size / piece).max(1) * piece).saturating_mul(files);
        }
        if self.options.bssplit.is_some() || self.options.bsrange.is_some() {
            return self.whole_with_several_sizes(size).saturating_mul(files);
        }
        // The bytes may end it before the end of a file is met.
        let bytes = size.saturating_mul(files);
        match self.blocks_until_the_end(size, block) {
            Some(blocks) => (blocks * block).saturating_mul(files).min(bytes),
            None if self.meets_no_end() => bytes,
            // Of a part that ends within its last block, the bytes of the part count.
            None => ((size / block).max(1) * block)
                .saturating_mul(files)
                .min(self.working_set.space.max(block)),
        }
    }

    /// What a pass moves of a file of this many bytes, in blocks of several sizes: all but a rest that
    /// holds none of the smallest. With `bs_unaligned` the others are no multiples of that, and the pass
    /// is over when less than the smallest is left.
    fn whole_with_several_sizes(&self, size: u64) -> u64 {
        let smallest = smallest_block(&self.job.sizes, self.rw);
        if !self.options.bs_unaligned {
            (size / smallest).max(1) * smallest
        } else if self.meets_no_end() {
            size
        } else {
            (size + 1).saturating_sub(smallest).max(1)
        }
    }

    /// How many blocks of one direction, with gaps between them, a pass over a file has: it is over when
    /// the next block would begin at the end or reach beyond it. `None` for other patterns, and where
    /// a gap reaches beyond the end, or back to where the block began: it leads to the beginning again.
    ///
    /// A gap that ends beyond the part, in a file that is longer, ends the pass. fio 3.33 compares
    /// the bytes from the part's begin with the length of the whole file, and so does this.
    fn blocks_until_the_end(&self, size: u64, block: u64) -> Option<u64> {
        let rw = self.rw;
        if rw.random || rw.gap == 0 || (rw.reads && rw.writes) {
            return None;
        }
        if rw.gap < 0 {
            let overlap = rw.gap.unsigned_abs();
            let stride = block.checked_sub(overlap).and_then(nonzero)?;
            return Some(size.checked_sub(block)? / stride + 1);
        }
        let gap = rw.gap.unsigned_abs();
        let stride = block.saturating_add(gap);
        let blocks = size.checked_sub(block)? / stride + 1;
        let begin = blocks.saturating_mul(stride);
        let offset = self.working_set.offset;
        let file_end = self.working_set.shortest;
        let file_end = file_end.unwrap_or(offset.saturating_add(size));
        let last_end = offset.saturating_add(begin).saturating_sub(gap);
        (begin < file_end || last_end >= file_end).then_some(blocks)
    }

    /// Whether both reads and writes occur: a share of 0 or 100 per cent leaves one of them.
    const fn mixes(&self) -> bool {
        self.job.mix.read > 0 && self.job.mix.write > 0
    }

    /// Whether the job goes through one file zone by zone, in one direction.
    fn goes_by_zones(&self) -> bool {
        let (options, rw) = (self.options, self.rw);
        let directions = [rw.reads, rw.writes, rw.trims]
            .into_iter()
            .filter(|is_wanted| *is_wanted);
        let goes_straight = !rw.random && rw.gap == 0 && directions.count() == 1;
        let has_zones = options.zonemode == "strided" && options.zonesize > 0;
        has_zones && goes_straight && self.working_set.targets.len() == 1
    }

    /// Bytes of a job that goes through one file zone by zone: those of the file, or fewer where the
    /// file's end cuts a zone. Where all of the last zone's bytes lie before the end, the zones begin
    /// again.
    fn until_a_zone_is_cut(&self, block: u64) -> u64 {
        let options = self.options;
        let size = self.working_set.bytes_per_target();
        let range = nonzero(options.zonerange).unwrap_or(options.zonesize);
        let skip = options.zoneskip.bytes_of(0);
        let step = range.saturating_add(skip);
        let each = options.zonesize.div_ceil(block) * block;
        let zones = size.saturating_sub(1) / step;
        let (moved, room) = (zones.saturating_mul(each), size - zones * step);
        if room < range.min(each) && moved < size {
            size.min(moved + room / block * block)
        } else {
            size
        }
    }

    /// Whether no end of the files is met before all bytes are moved: places are drawn without a
    /// map, or read in runs, two directions go through them side by side, or a gap leads back or to the beginning again.
    fn meets_no_end(&self) -> bool {
        let (options, rw) = (self.options, self.rw);
        let draws_freely = rw.random
            && (!keeps_a_map(options, rw, &self.job.sizes)
                || !options.random_distribution.starts_with("random"));
        // A run hits blocks again, so the map is not full when the bytes are moved.
        let reads_in_runs =
            rw.random && rw.reads && !rw.writes && rw.run.is_some_and(|length| length > 1);
        let has_order = !rw.random
            || matches!(
                self.job.pattern,
                Pattern::Sequential | Pattern::PercentRandom(_)
            );
        let block = largest_block(&self.job.sizes, rw);
        let goes_back = rw.gap < 0 && rw.gap.unsigned_abs() >= block;
        draws_freely || reads_in_runs || has_order && (rw.gap > 0 || goes_back || self.mixes())
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::planned;

    /// The bytes after which the job with these options ends.
    fn bytes(options: &str) -> u64 {
        let text = format!("[a]\nioengine=null\n{options}\n");
        let prepared = planned(&text).unwrap_or_else(|mistake| panic!("{text}\n{mistake}"));
        prepared.plan.cases[0].workload.jobs[0]
            .stop
            .bytes
            .unwrap()
            .0
    }

    /// Files of 8,000 PiB, three of them, have more than 2^64 bytes: the plan panicked with overflow
    /// checks, and without them the job ended early.
    #[test]
    fn a_pass_of_any_length_can_be_planned() {
        let files = "filesize=8000p\nnrfiles=3\nbs=1m\nrw";
        for options in ["=write", "=rw", "=randread\nbsrange=1m-2m", "=write:4k"] {
            assert_eq!(bytes(&format!("{files}{options}")), u64::MAX, "{options}");
        }
    }

    /// A gap that leads back, and zones that begin again, meet no end of the file: a pass was a block
    /// shorter than by fio 3.33, which moves as many bytes as the file has, and ends the last block.
    #[test]
    fn a_pass_that_meets_no_end_moves_all_bytes() {
        for (options, expected) in [
            ("rw=read:-4k\nsize=63000", 63_000),
            ("rw=read:-8k\nsize=63000\nnrfiles=3", 63_000),
            // Forward by 8 KiB a block: the bytes are moved before the end is met.
            ("rw=read:-8k\nsize=50k\nbs=16k", 51_200),
            // Forward by 15 KiB: the fourth block would end beyond the file.
            ("rw=read:-1k\nsize=50k\nbs=16k", 49_152),
            ("rw=rw\nsize=63000\nloops=3", 189_000),
            // One direction alone meets the end.
            ("rw=rw\nrwmixread=100\nsize=63000", 61_440),
            ("rw=rw\nrwmixwrite=100\nsize=63000", 61_440),
            ("rw=randread:4\nsize=63000\nnrfiles=3", 63_000),
            ("rw=randread:4\nsize=63000\nloops=3", 189_000),
            ("rw=randread\nnorandommap\nsize=63000\nloops=3", 189_000),
            ("rw=randrw\npercentage_random=100,0\nsize=63000", 63_000),
            (
                "rw=read\nsize=64k\nbs=5000\nzonemode=strided\nzonesize=16k",
                65_536,
            ),
            (
                "rw=read\nsize=63000\nbs=3k\nzonemode=strided\nzonesize=16k",
                63_000,
            ),
        ] {
            assert_eq!(bytes(options), expected, "{options}");
        }
    }

    /// A gap that led beyond the job's part of a longer file, as of a device, led back to its begin,
    /// and the job moved twice what it moves with fio 3.33.
    #[test]
    fn a_gap_beyond_the_part_of_a_longer_file_ends_the_pass() {
        assert_eq!(bytes("rw=write:4k\nsize=512k"), 512 << 10);
        assert_eq!(bytes("rw=write:4k\nsize=512k\noffset=16k"), 256 << 10);
        let device = "filename=/dev/there\nrw=read:4k";
        assert_eq!(bytes(&format!("{device}\nsize=256k")), 128 << 10);
        assert_eq!(bytes(device), 1 << 30);
        assert_eq!(bytes(&format!("{device}\noffset=512m")), 256 << 20);
    }

    /// A job that goes straight through a part of a device left out its last block where only a part
    /// of it belongs to the job; fio 3.33 reads it whole.
    #[test]
    fn the_last_block_of_a_part_is_whole_where_the_file_goes_on() {
        let device = "filename=/dev/there\nrw=read";
        // The job ends with the operation that moves the last of these bytes.
        assert_eq!(bytes(&format!("{device}\nsize=50k")), 50 << 10);
        assert_eq!(bytes(&format!("{device}\nsize=50k\nloops=2")), 100 << 10);
        assert_eq!(
            bytes(&format!("{device}\nfilesize=50k\noffset=4k")),
            46 << 10
        );
        assert_eq!(bytes("rw=read\nsize=50k"), 48 << 10);
    }

    /// A pass over 20 KiB ended after two trims of 16 KiB and one write: the size of trims, which
    /// are those of the writes in this job, decided what of the file is left over.
    #[test]
    fn a_pass_that_trims_before_it_writes_ends_with_a_write() {
        let text = "rw=trimwrite\nsize=20k\nbssplit=,8k/50:16k/50,4k";
        assert_eq!(bytes(text), 2 * (16 << 10));
        assert_eq!(
            bytes("rw=trimwrite\nsize=64k\nio_size=30000"),
            2 * (32 << 10)
        );
    }
}
