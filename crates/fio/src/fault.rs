//! What ends the run before it begins, and what ends one job of it.

use blocklab_syntax::Mistake;
use blocklab_workload::errno;

/// Why a clone cannot be planned.
#[derive(Debug)]
pub(super) enum Fault {
    /// The text is wrong, or asks for what is refused: nothing is run.
    OfAll(Mistake),
    /// This job cannot begin, and the others are run without it, as by fio.
    OfJob(Unfit),
}

/// Why a job cannot begin.
#[derive(Debug)]
pub(super) struct Unfit {
    /// The job's error in the results. fio has none, 0, for some.
    pub number: i32,
    pub why: Mistake,
}

impl Fault {
    /// What the job asks for is not there, or makes no sense on this machine.
    pub(super) const fn invalid(why: Mistake) -> Self {
        Self::of_job(errno::EINVAL, why)
    }

    pub(super) const fn of_job(number: i32, why: Mistake) -> Self {
        Self::OfJob(Unfit { number, why })
    }
}

impl From<Mistake> for Fault {
    fn from(mistake: Mistake) -> Self {
        Self::OfAll(mistake)
    }
}
