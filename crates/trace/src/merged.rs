//! In: several sources, each in order of time, such as a file for each processor or hour. Out: one
//! source in order of time.

use crate::operation::Names;
use crate::{Clock, Operation, Source, TraceError};

/// Several sources as one.
pub struct Merged<'a> {
    sources: Vec<Box<dyn Source + 'a>>,
    /// The next operation of each source.
    heads: Vec<Option<Operation>>,
    /// Whether `heads` was filled.
    is_begun: bool,
    /// The devices of all sources, which number them differently.
    names: Names,
}

impl<'a> Merged<'a> {
    /// Merges sources that are in order of time.
    pub fn new(sources: Vec<Box<dyn Source + 'a>>) -> Self {
        Self {
            heads: Vec::new(),
            sources,
            is_begun: false,
            names: Names::default(),
        }
    }

    /// Reads the first operation of each source, and checks that their times can be compared.
    fn begin(&mut self) -> Result<(), TraceError> {
        self.is_begun = true;
        for source in &mut self.sources {
            self.heads.push(source.next()?);
        }
        // A source without an operation has no times to compare.
        let pairs = self.sources.iter().zip(&self.heads);
        let mut clocks = pairs
            .filter(|(_, head)| head.is_some())
            .map(|(source, _)| source.clock());
        let first = clocks.next();
        if clocks.any(|clock| Some(clock) != first) {
            return Err(TraceError::Ask(
                "the files count time from different moments, so they cannot be merged: import each \
                 by itself"
                    .to_owned(),
            ));
        }
        Ok(())
    }
}

impl Source for Merged<'_> {
    fn next(&mut self) -> Result<Option<Operation>, TraceError> {
        if !self.is_begun {
            self.begin()?;
        }
        let heads = self.heads.iter().enumerate();
        // Of operations at the same time, the one of the first source comes first.
        let first = heads
            .filter_map(|(index, head)| head.map(|head| (head.at, index)))
            .min();
        let Some((_, index)) = first else {
            return Ok(None);
        };
        let source = &mut self.sources[index];
        let Some(mut operation) = self.heads[index].take() else {
            return Ok(None);
        };
        self.heads[index] = source.next()?;
        if let Some(name) = source.targets().get(operation.target as usize) {
            operation.target = self.names.number(name).map_err(TraceError::Ask)?;
        }
        Ok(Some(operation))
    }

    fn targets(&self) -> &[String] {
        self.names.all()
    }

    fn clock(&self) -> Clock {
        // `begin` has checked that all sources have the same.
        let first = self.sources.first();
        first.map(|source| source.clock()).unwrap_or_default()
    }

    fn begins(&self) -> Option<u64> {
        self.sources
            .iter()
            .filter_map(|source| source.begins())
            .min()
    }

    fn remarks(&self) -> Vec<String> {
        let remarks = self.sources.iter().flat_map(|source| source.remarks());
        remarks.collect()
    }
}
