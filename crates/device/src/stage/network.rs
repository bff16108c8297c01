//! A road to the volume, if its time is not already part of the medium's.
//!
//! ```text
//!   host ──── half ───▶ volume ──── half ───▶ host
//! ```

use blocklab_units::Nanos;

use super::{Passage, Stage};

/// One way.
#[derive(Debug, Clone)]
pub(crate) struct Road {
    pub time: Nanos,
}

impl Stage for Road {
    #[inline]
    fn admit(&mut self, now: Nanos, _: &Passage) -> Nanos {
        now.saturating_add(self.time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Direction;

    #[test]
    fn half_a_millisecond_each_way() {
        let passage = Passage::plain(Direction::Read, 4096);
        let mut road = Road {
            time: Nanos(500_000),
        };
        assert_eq!(road.admit(Nanos(100), &passage), Nanos(500_100));
    }
}
