//! In: several sources in order of time: a file for each processor, or for each hour. Out: one source
//! in order of time.

use crate::operation::Names;
use crate::{Clock, Operation, Source, TraceError};

/// Sources as one.
pub struct Merged<'a> {
    sources: Vec<Box<dyn Source + 'a>>,
    /// The next operation of each.
    heads: Vec<Option<Operation>>,
    is_begun: bool,
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

    fn begin(&mut self) -> Result<(), TraceError> {
        self.is_begun = true;
        for source in &mut self.sources {
            self.heads.push(source.next()?);
        }
        // Files without an operation count no time.
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
        let sources = self.sources.iter();
        sources
            .map(|source| source.clock())
            .next()
            .unwrap_or_default()
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
