//! `-O`: threads whose operations in flight are shared by all their targets.

use blocklab_workload::{Engine, Pooled, Share, UringOptions};

use super::super::spec::{Target, TimeSpan};
use super::{Paired, Planner};
use blocklab_syntax::Mistake;

impl Planner<'_> {
    /// The jobs of threads under `-O`: the targets of a thread share its operations in flight, evenly or by
    /// their weights.
    pub(super) fn pooled(&self, span: &TimeSpan, paths: &[String]) -> Result<Vec<Paired>, Mistake> {
        check_shared_threads(span)?;
        let mut paired = Vec::new();
        for thread in 0..span.thread_count {
            let weights = weights(span, thread);
            let even = weights.windows(2).all(|pair| pair[0].1 == pair[1].1);
            // A single target shares with none.
            let is_shared = weights.len() > 1;
            for (index, weight) in &weights {
                let target = Target {
                    requests: span.request_count,
                    ..span.targets[*index].clone()
                };
                let (pair, mut jobs) =
                    self.pair(span, &target, &paths[*index], *index, thread, thread)?;
                let share = (!even).then_some(Share {
                    group: thread,
                    weight: *weight,
                });
                for job in jobs.iter_mut().filter(|_| is_shared) {
                    job.pool = Some(Pooled {
                        share,
                        ..Pooled::new(&format!("thread{thread}"), span.request_count)
                    });
                    // With -O1, `pair` has chosen psync; the targets of a thread share one ring at any depth.
                    if !matches!(job.engine, Engine::Mmap) {
                        job.engine = Engine::IoUring(UringOptions::default());
                    }
                }
                paired.push((pair, jobs));
            }
        }
        Ok(paired)
    }
}

/// Refuses targets of common threads that are opened in different ways or have a cool-down.
fn check_shared_threads(span: &TimeSpan) -> Result<(), Mistake> {
    let mut opened = span
        .targets
        .iter()
        .map(|target| (target.cache, target.write_through, target.mapped));
    let first = opened.next();
    if !opened.all(|other| Some(other) == first) {
        let wrong = "targets with different caches cannot share threads here; RequestCount by \
                     target would work";
        return Err(Mistake::new("-O", wrong));
    }
    if span.cooldown > 0 && span.targets.len() > 1 {
        let wrong = "it cannot be combined with -O on several targets here; -o would work";
        return Err(Mistake::new("-C", wrong));
    }
    Ok(())
}

/// The indices of the targets of a common thread, each with its weight: its share of the operations.
fn weights(span: &TimeSpan, thread: u32) -> Vec<(usize, f64)> {
    let mut weights = Vec::new();
    for (index, target) in span.targets.iter().enumerate() {
        let listed = &target.threads_of_pool;
        let own = listed.iter().find(|(number, _)| *number == thread);
        let weight = match own {
            Some((_, own)) if *own > 0 => *own,
            // A target that lists threads is worked on by these alone.
            None if !listed.is_empty() => continue,
            // A weight of 0 in the list means the usual one.
            _ => target.weight,
        };
        weights.push((index, f64::from(weight)));
    }
    weights
}
