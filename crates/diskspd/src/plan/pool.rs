//! `-O`: threads whose operations in flight are shared by all their targets.

use blocklab_workload::{Engine, Job, Pooled, Share, UringOptions};

use super::super::spec::{Target, TimeSpan};
use super::{Maker, Pair};
use blocklab_syntax::Mistake;

impl Maker<'_> {
    /// Under `-O` the targets of a thread share its operations in flight.
    pub(super) fn pooled(
        &mut self,
        span: &TimeSpan,
        paths: &[String],
    ) -> Result<(Vec<Job>, Vec<Pair>), Mistake> {
        common_ground(span)?;
        let (mut jobs, mut pairs) = (Vec::new(), Vec::new());
        for thread in 0..span.thread_count {
            let own: Vec<(usize, f64)> = weights(span, thread);
            let even = own.windows(2).all(|pair| pair[0].1 == pair[1].1);
            for (index, weight) in &own {
                let target = Target {
                    requests: span.request_count,
                    ..span.targets[*index].clone()
                };
                let name = format!("thread{thread}-target{index}");
                let path = &paths[*index];
                let numbers = (thread, thread);
                let made = self.jobs(span, &target, path, &name, numbers)?;
                pairs.push(Pair {
                    thread,
                    target: *index,
                    path: path.clone(),
                    file_size: self.made(&target).unwrap_or(0),
                    jobs: vec![name],
                });
                // A target alone has nobody to share with.
                let pool = (own.len() > 1).then(|| Pooled {
                    share: (!even).then_some(Share {
                        group: thread,
                        weight: *weight,
                    }),
                    ..Pooled::new(&format!("thread{thread}"), span.request_count)
                });
                jobs.extend(made.into_iter().map(|job| match &pool {
                    Some(pool) => Job {
                        pool: Some(pool.clone()),
                        engine: match job.engine {
                            Engine::Mmap => Engine::Mmap,
                            _ => Engine::IoUring(UringOptions::default()),
                        },
                        ..job
                    },
                    None => job,
                }));
            }
        }
        Ok((jobs, pairs))
    }
}

/// What the targets of common threads must have in common.
fn common_ground(span: &TimeSpan) -> Result<(), Mistake> {
    let opened = |target: &Target| (target.cache, target.write_through, target.mapped);
    let first = opened(&span.targets[0]);
    if !span.targets.iter().all(|target| opened(target) == first) {
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

/// The targets of a common thread, and their shares of its operations.
fn weights(span: &TimeSpan, thread: u32) -> Vec<(usize, f64)> {
    let weight = |target: &Target| match &target.threads_of_pool[..] {
        [] => Some(target.weight),
        listed => {
            let (_, own) = listed.iter().find(|(number, _)| *number == thread)?;
            Some(if *own > 0 { *own } else { target.weight })
        }
    };
    let all = span.targets.iter().enumerate();
    all.filter_map(|(index, target)| Some((index, f64::from(weight(target)?))))
        .collect()
}
