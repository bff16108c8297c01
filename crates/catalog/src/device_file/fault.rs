//! In: a `[[fault]]`, which has a key for each thing that can happen. Out: a device's fault, which
//! is one of them; and back.
//!
//! All other tables of a device file have the same fields as the part of the device that they describe.

use blocklab_device::{FaultKind, FaultSpec};
use blocklab_syntax::toml_tree::Read;
use blocklab_units::Nanos;

use super::table::{Fields, Row, Shape, Table, Writer};

/// As it is written: one of the last three is there.
#[derive(Clone, PartialEq)]
pub(super) struct WrittenFault {
    pub from: Nanos,
    pub until: Nanos,
    pub volume: Option<usize>,
    pub state: Option<FaultKind>,
    pub latency: Option<FaultKind>,
    pub error: Option<FaultKind>,
}

/// [`FaultKind::Latency`] as it is written.
pub(super) enum AddedLatency {}
/// [`FaultKind::Error`] as it is written.
pub(super) enum InjectedError {}

impl Table for FaultSpec {
    type Of = Self;
    const PATH: &'static str = WrittenFault::PATH;
    const MEANING: &'static str = WrittenFault::MEANING;
    const SHAPE: Shape = WrittenFault::SHAPE;

    fn rows() -> Vec<Row> {
        WrittenFault::rows()
    }

    fn read(fields: &Fields<'_>) -> Read<Self> {
        let fault = <WrittenFault as Table>::read(fields)?;
        let given = [fault.state, fault.latency, fault.error];
        match <[FaultKind; 1]>::try_from(given.into_iter().flatten().collect::<Vec<_>>()) {
            Ok([kind]) => Ok(Self {
                from: fault.from,
                until: fault.until,
                volume: fault.volume,
                kind,
            }),
            Err(_) => {
                let wrong = "a fault has exactly one of state, latency and error";
                Err(fields.complaint(wrong))
            }
        }
    }

    fn write(event: &Self, out: &mut Writer) {
        let (mut state, mut latency, mut error) = (None, None, None);
        let place = match event.kind {
            FaultKind::Stall | FaultKind::Detach => &mut state,
            FaultKind::Latency { .. } => &mut latency,
            FaultKind::Error { .. } => &mut error,
        };
        *place = Some(event.kind.clone());
        let written = WrittenFault {
            from: event.from,
            until: event.until,
            volume: event.volume,
            state,
            latency,
            error,
        };
        WrittenFault::write(&written, out);
    }
}
