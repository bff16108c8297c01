//! What is done to served volumes on purpose, while they are served.
//!
//! ```text
//!   line ──▶ command (a table: what there is, what it takes) ──▶ controller ──▶ volumes, instance
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
pub use command::{BadCommand, Command, FLAGS, FlagRow, ROWS, Row};
pub use controller::{Controlled, Controller, Modify, Settings};
pub use socket::{ControlSocket, ask};
pub use templates::{TEMPLATES, Template};
