//! Links in a row, and which of them an operation has to pass.
//!
//! ```text
//!   links   [ all ] [ reads ] [ writes ]
//!   read      0  ──▶  1                           routes are made once, so that an operation
//!   write     0  ───────────────▶ 2               does not ask limiters that do not count it
//!   flush
//! ```

use blocklab_units::Nanos;

use super::credit::Burst;
use super::meter::MeterUse;
use super::{ChargedIo, Link, Stage, WhichMeter};
use crate::Direction;

/// Links with their state, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chain {
    links: Vec<Link>,
    /// By direction: the links that count it.
    routes: [Box<[u8]>; 4],
}

/// A route names a link by a byte.
pub(crate) const MOST_LINKS: usize = 1 << u8::BITS;

const DIRECTIONS: [Direction; 4] = [
    Direction::Read,
    Direction::Write,
    Direction::Trim,
    Direction::Flush,
];

impl Chain {
    /// # Panics
    /// With more than [`MOST_LINKS`] links: no specification that was checked has that many.
    pub(crate) fn new(links: Vec<Link>) -> Self {
        assert!(
            links.len() <= MOST_LINKS,
            "a chain of more than {MOST_LINKS} links"
        );
        let routes = DIRECTIONS.map(|direction| {
            let all = links.iter().enumerate();
            let concerned = all.filter(|(_, link)| link.concerns(direction));
            concerned.map(|(index, _)| index as u8).collect()
        });
        Self { links, routes }
    }

    /// When an operation that arrives `now` has passed all links: a fold over them. `on_wait` is
    /// called with each wait.
    #[inline(always)]
    pub(crate) fn explain(
        &mut self,
        now: Nanos,
        charged_io: &ChargedIo,
        on_wait: &mut impl FnMut(usize, WhichMeter, Nanos, Nanos),
    ) -> Nanos {
        let mut at = now;
        for link in &self.routes[charged_io.io.direction as usize] {
            let link = usize::from(*link);
            let left = self.links[link].explain(at, charged_io, &mut |meter, from, until| {
                if until > from {
                    on_wait(link, meter, from, until);
                }
            });
            debug_assert!(
                left >= at,
                "link {link} lets go at {left} what came at {at}"
            );
            at = left;
        }
        at
    }

    #[cfg(test)]
    pub(crate) fn admit(&mut self, now: Nanos, charged_io: &ChargedIo) -> Nanos {
        self.explain(now, charged_io, &mut |_, _, _, _| ())
    }

    pub(crate) fn links(&self) -> &[Link] {
        &self.links
    }

    /// What a meter of a link has counted, to correct it; `None`: there is no such meter.
    pub(crate) fn use_mut(&mut self, link: usize, meter: WhichMeter) -> Option<&mut MeterUse> {
        match self.links.get_mut(link)? {
            Link::Limiter(limiter) => limiter.use_mut(meter),
            Link::Burst(burst) => Some(burst.use_mut(meter)),
        }
    }

    /// Each limiter and bucket takes over the state of its counterpart in the chain of the volume as it
    /// was before; without one it begins as new.
    pub(crate) fn go_on_from(&mut self, before: &Self, now: Nanos) {
        let bursts = before.links.iter().filter_map(|link| match link {
            Link::Burst(burst) => Some(burst),
            Link::Limiter(_) => None,
        });
        // Buckets have no name here. A volume that is modified keeps its kind, and with it the same buckets
        // in the same order.
        for (new, old) in self.bursts().zip(bursts) {
            new.go_on_from(old, now);
        }
        for link in &mut self.links {
            let Link::Limiter(new) = link else { continue };
            let counterpart = before.links.iter().find_map(|link| match link {
                Link::Limiter(old) if new.is_like(old) => Some(old),
                _ => None,
            });
            if let Some(old) = counterpart {
                new.go_on_from(old, now);
            }
        }
    }

    pub(crate) fn bursts(&mut self) -> impl Iterator<Item = &mut Burst> {
        self.links.iter_mut().filter_map(|link| match link {
            Link::Burst(burst) => Some(burst),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::{Counts, limiter::Limiter};
    use crate::{Cap, Covers, Origin, Rate};
    use Direction::{Flush, Read, Trim, Write};

    fn limiter(covers: Covers) -> Link {
        let cap = Cap {
            covers,
            ..Cap::new("operations", Rate::Iops(1000.0), Origin::Given)
        };
        Link::Limiter(Limiter::new(&cap, Counts::Operations))
    }

    /// Starts of operations that all arrive at 0.
    #[track_caller]
    fn check(covers: Covers, directions: &[Direction], starts: &[u64]) {
        let mut chain = Chain::new(vec![limiter(covers)]);
        let got: Vec<_> = directions
            .iter()
            .map(|direction| chain.admit(Nanos(0), &ChargedIo::plain(*direction, 4096)).0)
            .collect();
        assert_eq!(got, starts);
    }

    #[test]
    fn a_write_budget_lets_reads_pass() {
        check(
            Covers::Writes,
            &[Write, Read, Write, Trim],
            &[0, 0, 1_000_000, 2_000_000],
        );
        check(
            Covers::Reads,
            &[Read, Write, Trim, Read],
            &[0, 0, 0, 1_000_000],
        );
    }

    #[test]
    fn a_flush_is_counted_by_nobody() {
        check(Covers::All, &[Write, Flush, Write], &[0, 0, 1_000_000]);
    }
}
