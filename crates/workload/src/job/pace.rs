use blocklab_units::Nanos;

/// Operations or bytes per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// Operations per second.
    Iops(f64),
    /// Bytes per second.
    Bytes(f64),
}

/// When operations begin. Rates hold for the whole job: its threads share them evenly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// The next begins when one ends: the depth is always full.
    Closed,
    /// As closed, but never faster than this; what is missed is not made up for.
    Capped(Rate),
    /// Arrivals at even distances, whatever the target does. Latency counts from the arrival.
    OpenFixed(Rate),
    /// Arrivals as a Poisson process of this mean rate. Latency counts from the arrival.
    OpenPoisson(Rate),
}

/// A pause of `pause` after every `every` operations of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Think {
    /// How long.
    pub pause: Nanos,
    /// After how many operations, at least 1.
    pub every: u32,
}
