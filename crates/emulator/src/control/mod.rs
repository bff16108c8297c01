//! What is done to served volumes on purpose, while they are served.
//!
//! ```text
//!   line ──▶ command (by clap, as in the client) ────────────▶ controller ──▶ volumes, instance
//!                                                                 │
//!   JSON ◀── answer ◀─────────────────────────────────────────────┴──▶ events, for the Record
//! ```

mod answer;
mod command;
mod controller;
mod socket;
mod templates;
#[cfg(test)]
mod tests;

pub use answer::{Answer, FaultState, VolumeState};
pub use command::{BadCommand, Command};
pub use controller::{Controlled, Controller, Modify, Settings};
pub use socket::{ControlSocket, ask};
