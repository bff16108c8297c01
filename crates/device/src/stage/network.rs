//! The network to the volume, if its time is not already part of the medium's.
//!
//! ```text
//!   host ──── half ───▶ volume ──── half ───▶ host
//! ```

use blocklab_units::Nanos;

use super::{ChargedIo, Meters, Stage};

/// One way.
#[derive(Debug, Clone)]
pub(crate) struct NetworkDelay {
    pub time: Nanos,
}

impl Stage for NetworkDelay {
    #[inline]
    fn explain(
        &mut self,
        now: Nanos,
        _: &ChargedIo,
        _: &mut impl FnMut(Meters, Nanos, Nanos),
    ) -> Nanos {
        now.saturating_add(self.time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Direction;

    #[test]
    fn half_a_millisecond_each_way() {
        let passage = ChargedIo::plain(Direction::Read, 4096);
        let mut network = NetworkDelay {
            time: Nanos(500_000),
        };
        assert_eq!(network.admit(Nanos(100), &passage), Nanos(500_100));
    }
}
