//! In: several sources, each in order of time, such as a file for each processor or hour. Out: one
//! source in order of time.

use blocklab_units::Nanos;

use crate::operation::Names;
use crate::{Clock, Operation, Source, TraceError};

/// Several sources as one.
pub struct Merged<'a> {
    parts: Vec<Part<'a>>,
    /// When the earliest recording began, in ns since 1970, if that is known.
    begins: Option<u64>,
    /// The clock of all sources.
    clock: Clock,
    /// Whether the first operation of each source was read.
    is_begun: bool,
    /// The devices of all sources, which number them differently.
    names: Names,
}

/// One of the sources.
struct Part<'a> {
    /// The name of its file, for errors.
    name: String,
    source: Box<dyn Source + 'a>,
    /// How much later its recording began than the earliest one.
    shift: Nanos,
    /// Its next operation, with times counted from the beginning of the earliest recording.
    head: Option<Operation>,
}

impl Part<'_> {
    /// Takes the next operation, and reads the one after it.
    fn take(&mut self) -> Result<Option<Operation>, TraceError> {
        let next = self.source.next();
        let next = next.map_err(|why| TraceError::Ask(format!("{}: {why}", self.name)))?;
        let next = next.map(|operation| operation.later(self.shift));
        Ok(std::mem::replace(&mut self.head, next))
    }
}

impl<'a> Merged<'a> {
    /// Merges sources that are in order of time, each with the name of its file.
    pub fn new(sources: Vec<(String, Box<dyn Source + 'a>)>) -> Self {
        let parts = sources.into_iter().map(|(name, source)| Part {
            name,
            source,
            shift: Nanos::ZERO,
            head: None,
        });
        Self {
            parts: parts.collect(),
            begins: None,
            clock: Clock::default(),
            is_begun: false,
            names: Names::default(),
        }
    }

    /// Reads the first operation of each source, and finds out how their times compare.
    fn begin(&mut self) -> Result<(), TraceError> {
        self.is_begun = true;
        for part in &mut self.parts {
            part.take()?;
        }
        // A source without an operation has no times to compare.
        let filled = self.parts.iter_mut().filter(|part| part.head.is_some());
        let mut filled: Vec<&mut Part<'_>> = filled.collect();
        let is_comparable = filled.windows(2).all(|pair| {
            let (one, other) = (&pair[0].source, &pair[1].source);
            one.clock() == other.clock() && one.begins().is_some() == other.begins().is_some()
        });
        if !is_comparable {
            return Err(TraceError::Ask(
                "the files count time from different moments, so they cannot be merged: import each \
                 by itself"
                    .to_owned(),
            ));
        }
        self.clock = filled
            .first()
            .map(|part| part.source.clock())
            .unwrap_or_default();
        self.begins = filled.iter().filter_map(|part| part.source.begins()).min();
        for part in &mut filled {
            let later = part.source.begins().zip(self.begins);
            part.shift = Nanos(later.map_or(0, |(begins, earliest)| begins - earliest));
            part.head = part.head.map(|head| head.later(part.shift));
        }
        Ok(())
    }
}

impl Source for Merged<'_> {
    fn next(&mut self) -> Result<Option<Operation>, TraceError> {
        if !self.is_begun {
            self.begin()?;
        }
        // Of operations at the same time, the one of the first source comes first.
        let first = self
            .parts
            .iter_mut()
            .filter(|part| part.head.is_some())
            .min_by_key(|part| part.head.map(|head| head.at));
        let Some(part) = first else {
            return Ok(None);
        };
        let Some(mut operation) = part.take()? else {
            return Ok(None);
        };
        if let Some(name) = part.source.targets().get(operation.target as usize) {
            operation.target = self.names.number(name).map_err(TraceError::Ask)?;
        }
        Ok(Some(operation))
    }

    fn targets(&self) -> &[String] {
        self.names.all()
    }

    fn clock(&self) -> Clock {
        self.clock
    }

    fn begins(&self) -> Option<u64> {
        self.begins
    }

    fn remarks(&self) -> Vec<String> {
        let remarks = self.parts.iter().flat_map(|part| part.source.remarks());
        remarks.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::iolog::Iolog;
    use crate::stored::{Reader, Writer};
    use crate::testing::{all, at, fault};

    /// A recording that began at this second, with an operation after each of these.
    fn recorded(begins_s: Option<u64>, seconds: &[u64]) -> (String, Box<dyn Source>) {
        let begins = begins_s.map(|second| second * 1_000_000_000);
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, begins).expect("memory");
        for second in seconds {
            let targets = ["disk".to_owned()];
            writer
                .add(at(second * 1_000_000), &targets)
                .expect("memory");
        }
        writer.end().expect("memory");
        let reader = Reader::new(std::io::Cursor::new(file));
        ("a.trace".to_owned(), Box::new(reader.expect("own file")))
    }

    /// The story: the recordings of two hours were laid over each other, because each counts its times from
    /// its own beginning.
    #[test]
    fn recordings_of_two_hours_follow_each_other() {
        let sources = vec![recorded(Some(7200), &[1, 2]), recorded(Some(3600), &[0, 5])];
        let mut merged = Merged::new(sources);
        let moments = all(&mut merged);
        let seconds: Vec<u64> = moments.iter().map(|op| op.at.0 / 1_000_000_000).collect();
        assert_eq!(seconds, [0, 5, 3601, 3602]);
        assert_eq!(merged.begins(), Some(3600 * 1_000_000_000));
        let undated = vec![recorded(None, &[1]), recorded(None, &[0])];
        assert_eq!(all(&mut Merged::new(undated)).len(), 2);
        let mixed = vec![recorded(None, &[1]), recorded(Some(3600), &[0])];
        assert!(fault(&mut Merged::new(mixed)).contains("different moments"));
    }

    /// The story: of several files, an error named a line and all files.
    #[test]
    fn an_error_names_its_file() {
        let iolog = |name: &str, text: &'static str| -> (String, Box<dyn Source>) {
            (name.to_owned(), Box::new(Iolog::new(text.as_bytes())))
        };
        let sources = vec![
            iolog("a", "fio version 3 iolog\n0 f add\n0 f read 0 512\n"),
            iolog(
                "b",
                "fio version 3 iolog\n0 f add\n0 f read 0 512\n5 f reed 0 512\n",
            ),
        ];
        let error = fault(&mut Merged::new(sources));
        assert!(error.starts_with("b: line 4: "), "{error}");
    }
}
