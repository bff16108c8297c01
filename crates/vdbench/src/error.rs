//! What a mistake in a parameter file can be about.

use std::fmt::Display;

pub use blocklab_syntax::{Mistake, Place};

/// What an error can be about: a parameter or a definition.
pub trait Subject {
    /// Where it is written, and its name: `iorate=`, `rd=rd1`.
    fn subject(&self) -> (&Place, String);

    /// An error about it.
    fn error(&self, message: impl Display) -> Mistake {
        let (place, about) = self.subject();
        Mistake::new(about, message.to_string()).at(place)
    }

    /// An error about it unless something holds.
    ///
    /// # Errors
    /// Where it does not hold.
    fn check(&self, holds: bool, message: impl Display) -> Result<(), Mistake> {
        self.checked((), holds, message)
    }

    /// A value if something holds, else an error about it.
    ///
    /// # Errors
    /// Where it does not hold.
    fn checked<T>(&self, value: T, holds: bool, message: impl Display) -> Result<T, Mistake> {
        if holds {
            Ok(value)
        } else {
            Err(self.error(message))
        }
    }
}
