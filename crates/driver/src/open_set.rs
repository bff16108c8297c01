//! In: operations on more files than may be open at a time. Out: the same operations on a target of
//! few places, in which the files take turns.

use std::collections::VecDeque;
use std::io;

use blocklab_targets::{OpenFile, Target};
use blocklab_units::Nanos;
use blocklab_workload::{Completion, Io};

/// Opens the files of a job by their number.
pub(crate) type Opener = Box<dyn FnMut(usize) -> io::Result<OpenFile>>;

/// Keeps as many files open as the target below has places. A file that is not open takes the place
/// of the least recently used one without operations in flight:
///
/// ```text
///   operation on file 7 ──▶ place 2 ──▶ the target, which knows places only
///                  none? ──▶ close the file of the oldest idle place, open file 7 there
///             none idle? ──▶ the operation waits, and all after it, until a completion frees a place
/// ```
///
/// Waiting operations stay in order, so that an operation on a file that has to be opened is not
/// overtaken for ever by those on open files. A file that cannot be opened ends the job: the place
/// stays empty, and nothing more is passed on.
pub(crate) struct OpenSet {
    inner: Box<dyn Target>,
    opener: Opener,
    /// Where each file is open.
    place_of: Vec<Option<usize>>,
    places: Vec<Place>,
    /// Counts the operations.
    moment: u64,
    /// What fills a place while it is empty.
    vacant: Option<OpenFile>,
    held: VecDeque<Io>,
    /// The place that the operation in each slot went to.
    went_to: Vec<usize>,
    in_flight: usize,
    failure: Option<io::Error>,
    back: Vec<Completion>,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    file: usize,
    in_flight: u32,
    /// When it was used last.
    used: u64,
}

impl OpenSet {
    /// The first `most` of `files` files are open in `inner`, at places of their number.
    ///
    /// # Errors
    /// When there is no descriptor left.
    pub(crate) fn new(
        inner: Box<dyn Target>,
        opener: Opener,
        most: usize,
        files: usize,
        depth: u32,
    ) -> io::Result<Self> {
        Ok(Self {
            inner,
            opener,
            place_of: (0..files)
                .map(|file| (file < most).then_some(file))
                .collect(),
            places: (0..most)
                .map(|file| Place {
                    file,
                    in_flight: 0,
                    used: 0,
                })
                .collect(),
            moment: 0,
            vacant: Some(OpenFile::vacant()?),
            held: VecDeque::with_capacity(depth as usize),
            went_to: vec![0; depth as usize],
            in_flight: 0,
            failure: None,
            back: Vec::with_capacity(depth as usize),
        })
    }

    /// Passes an operation on. Returns false, and keeps nothing, if its file has no place.
    fn hand_on(&mut self, io: &Io) -> bool {
        let file = io.file as usize;
        let Some(place) = self.place_of[file].or_else(|| self.place_for(file)) else {
            return false;
        };
        self.moment += 1;
        let used = &mut self.places[place];
        (used.in_flight, used.used) = (used.in_flight + 1, self.moment);
        self.went_to[io.slot.index()] = place;
        self.in_flight += 1;
        self.inner.submit(&Io {
            file: place as u32,
            ..io.handed_on()
        });
        true
    }

    /// A place in which the file is open now; `None` if no place is idle, or after a failure.
    fn place_for(&mut self, file: usize) -> Option<usize> {
        if self.failure.is_some() {
            return None;
        }
        let places = self.places.iter().enumerate();
        let idle = places.filter(|(_, place)| place.in_flight == 0);
        let (place, _) = idle.min_by_key(|(_, place)| place.used)?;
        match self.open(file, place) {
            Ok(()) => Some(place),
            Err(error) => {
                self.failure = Some(error);
                None
            }
        }
    }

    /// Closes the file in a place, and only then opens the other one there, so that there is never one
    /// too many open.
    fn open(&mut self, file: usize, place: usize) -> io::Result<()> {
        let vacant = self.vacant.take().map_or_else(OpenFile::vacant, Ok)?;
        // Also if what follows fails: the old file is not there any more.
        self.place_of[self.places[place].file] = None;
        drop(self.inner.exchange(place, vacant)?);
        let opened = (self.opener)(file)?;
        self.vacant = Some(self.inner.exchange(place, opened)?);
        self.places[place].file = file;
        self.place_of[file] = Some(place);
        Ok(())
    }

    /// Passes on the waiting operations that have a place now.
    ///
    /// # Errors
    /// Those of the target below, and why a file could not be opened since the last call.
    fn release(&mut self) -> io::Result<()> {
        let before = self.held.len();
        while let Some(io) = self.held.pop_front() {
            if !self.hand_on(&io) {
                self.held.push_front(io);
                break;
            }
        }
        if self.held.len() < before {
            self.inner.flush()?;
        }
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Takes what the target below gives back. Returns whether that was anything.
    fn collect(
        &mut self,
        at_least: usize,
        until: Option<Nanos>,
        done: &mut Vec<Completion>,
    ) -> io::Result<bool> {
        self.inner.wait(at_least, until, &mut self.back)?;
        for completion in &self.back {
            let place = self.went_to[completion.slot.index()];
            self.places[place].in_flight -= 1;
        }
        self.in_flight -= self.back.len();
        let came = !self.back.is_empty();
        done.append(&mut self.back);
        Ok(came)
    }
}

impl Target for OpenSet {
    fn submit(&mut self, io: &Io) {
        if !self.held.is_empty() || !self.hand_on(io) {
            self.held.push_back(io.handed_on());
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.release()?;
        self.inner.flush()
    }

    fn wait(
        &mut self,
        at_least: usize,
        until: Option<Nanos>,
        done: &mut Vec<Completion>,
    ) -> io::Result<()> {
        self.release()?;
        loop {
            // Each completion may free the place that the first waiting operation needs, so one is
            // waited for even if the caller has enough.
            let waits = usize::from(!self.held.is_empty());
            let missing = at_least.saturating_sub(done.len()).max(waits);
            let came = self.collect(missing.min(self.in_flight), until, done)?;
            self.release()?;
            if !came || done.len() >= at_least {
                return Ok(());
            }
        }
    }

    fn now(&self) -> Nanos {
        self.inner.now()
    }

    fn note(&self) -> Option<&'static str> {
        self.inner.note()
    }
}

#[cfg(test)]
#[path = "open_set_tests.rs"]
mod tests;
