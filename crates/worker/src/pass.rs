//! How many bytes one pass over the targets is.

use blocklab_workload::{Extent, Invalid, Job, TargetOrder};

/// Bytes of one pass of a thread over targets of these sizes.
///
/// # Errors
/// [`Invalid`] when the job's region does not fit one of them.
pub(crate) fn pass(job: &Job, thread: u32, sizes: &[u64]) -> Result<u64, Invalid> {
    let block = job.least_room().0;
    let mine = |index: &usize| match job.target_order {
        TargetOrder::PerThread => thread as usize % sizes.len() == *index,
        _ => true,
    };
    let mut pass = 0;
    for index in (0..sizes.len()).filter(mine) {
        let extent = Extent::of(job.region, sizes[index], (thread, job.threads), block)?;
        pass += extent.len / block * block;
    }
    Ok(pass)
}
