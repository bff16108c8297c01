//! "Did you mean": see [`blocklab_units::nearest`].

pub use blocklab_units::nearest;
