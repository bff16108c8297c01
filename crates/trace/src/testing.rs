//! In: lists of operations. Out: sources of them, for tests.

use blocklab_units::Nanos;
use blocklab_workload::Direction;

use crate::character::{Character, Characterizer};
use crate::{Clock, Operation, Source, TraceError};

/// A read of 4 KiB at the beginning, at this microsecond.
pub(crate) fn at(us: u64) -> Operation {
    Operation::new(Nanos(us * 1000), Direction::Read, 0, 4096)
}

/// A list as a source.
pub(crate) struct Listed {
    operations: std::vec::IntoIter<Operation>,
    targets: Vec<String>,
}

impl Listed {
    pub(crate) fn new(operations: Vec<Operation>) -> Self {
        Self {
            operations: operations.into_iter(),
            targets: vec!["disk".to_owned()],
        }
    }
}

impl Source for Listed {
    fn next(&mut self) -> Result<Option<Operation>, TraceError> {
        Ok(self.operations.next())
    }

    fn targets(&self) -> &[String] {
        &self.targets
    }

    fn clock(&self) -> Clock {
        Clock::Recording
    }

    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The statistics of the operations of one disk.
pub(crate) fn character(operations: &[Operation]) -> Character {
    let mut all = Characterizer::new(true);
    operations.iter().for_each(|operation| all.add(operation));
    all.end(&["disk".to_owned()], Vec::new())
}

/// All operations of a source.
#[track_caller]
pub(crate) fn all(source: &mut dyn Source) -> Vec<Operation> {
    let mut found = Vec::new();
    while let Some(operation) = source.next().expect("a sound trace") {
        found.push(operation);
    }
    found
}

/// The error of a source.
#[track_caller]
pub(crate) fn fault(source: &mut dyn Source) -> String {
    loop {
        match source.next() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the trace is sound"),
            Err(error) => return error.to_string(),
        }
    }
}
