//! Mistakes that refuse a whole command line, and those that only fail one of its jobs.

use blocklab_syntax::Mistake;
use blocklab_workload::errno;

/// Why a clone cannot be planned.
#[derive(Debug)]
pub(super) enum Fault {
    /// The text is wrong, or requests something that is refused: nothing is run.
    WholeCommand(Mistake),
    /// This job cannot begin, and the others are run without it, as by fio.
    OneJob(Unfit),
}

/// Why a job cannot begin.
#[derive(Debug)]
pub(super) struct Unfit {
    /// The job's error in the results. fio has none, 0, for some.
    pub number: i32,
    pub why: Mistake,
}

impl Fault {
    /// What the job requests does not exist, or makes no sense, on this machine.
    pub(super) const fn invalid(why: Mistake) -> Self {
        Self::one_job(errno::EINVAL, why)
    }

    pub(super) const fn one_job(number: i32, why: Mistake) -> Self {
        Self::OneJob(Unfit { number, why })
    }
}

impl From<Mistake> for Fault {
    fn from(mistake: Mistake) -> Self {
        Self::WholeCommand(mistake)
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::planned;

    /// A mapped file in blocks of less than a page, more than there is of a file, or a zone without a block
    /// refused the other jobs of the file, too; with fio 3.33 they run.
    #[test]
    fn a_job_that_cannot_begin_leaves_the_others_alone() {
        for options in [
            "ioengine=mmap\nfsync=1\nbs=1k",
            "size=300%",
            "zonemode=strided\nzonesize=3k",
        ] {
            let text = format!("[a]\nsize=1m\n{options}\n[b]\nsize=1m\n");
            let prepared = planned(&text).expect("b runs");
            assert_eq!(prepared.unfit.len(), 1, "{options}");
        }
    }

    /// The story: `offset=50%` of two devices of different sizes was half of their mean in both, so that one
    /// was read from another place than with fio 3.33, and the smaller one not at all. With
    /// `file_append`, the shorter one of two files was written behind the end of the longer one.
    #[test]
    fn no_place_is_relative_to_unequal_files() {
        #[track_caller]
        fn why(options: &str) -> String {
            let prepared = planned(&format!("[a]\nfilename={options}\n")).expect("a plan");
            let unfit = prepared.unfit.first();
            unfit.map(ToString::to_string).unwrap_or_default()
        }
        for share in [
            "offset=50%",
            "offset=4k\noffset_increment=25%",
            "file_append=1\nsize=1m",
        ] {
            let words = why(&format!("/dev/there:/full/empty\n{share}"));
            assert!(words.contains("not equally long"), "{share}: {words}");
            assert_eq!(why(&format!("/dev/there\n{share}")), "");
        }
        assert_eq!(why("new:other\nsize=1m\noffset=50%"), "");
    }

    /// Of two files, the one that ended before the offset was left out in silence. With fio 3.33 the job
    /// fails.
    #[test]
    fn no_file_may_end_before_the_offset() {
        let prepared =
            planned("[a]\nfilename=/dev/there:/full/empty\noffset=4k\n").expect("a plan");
        let why = prepared.unfit[0].to_string();
        assert!(why.contains("a file ends before 4096"), "{why}");
    }
}
