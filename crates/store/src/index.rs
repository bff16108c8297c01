//! In: the folders of a store. Out: what is derived from the Record of each run, read from one file of
//! lines where the run has not changed since its line was written.
//!
//! A file of its own: the index is only a cache. A run without a line, or with one of an earlier state, is
//! derived from its Record again; without a place to write, all runs are.

use std::path::PathBuf;

use blocklab_record::{Record, Status};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::each;
use crate::find::Found;
use crate::listing::{self, Damaged, Folder, Listed};
use crate::store::{Store, load_found};

mod line;
mod lines;

use lines::{Batch, Kept, Known, Lines};

/// What is derived from a Record and remembered of it.
#[derive(Debug)]
pub struct Derivation<H> {
    /// One word. It must change whenever `derive` gives something else for the same Record.
    pub version: &'static str,
    /// Gives the head, which every list needs, and a text in one line that is read run by run.
    pub derive: fn(&Record) -> (H, String),
}

/// The runs of a store and what is derived from them.
#[derive(Debug)]
pub struct Index<H> {
    /// The oldest first.
    pub runs: Vec<Indexed<H>>,
    /// What was left out of `runs`.
    pub damaged: Vec<Damaged>,
    root: PathBuf,
    derive: fn(&Record) -> (H, String),
    lines: Lines,
}

/// A run and what is derived from it.
#[derive(Debug)]
pub struct Indexed<H> {
    /// As it is listed.
    pub run: Listed,
    /// What every list needs; `None` where the Record cannot be read whole.
    pub head: Option<H>,
    text: Text,
}

/// Where the derived text of a run is.
#[derive(Debug)]
enum Text {
    /// In the file of the index.
    Kept(Kept),
    /// In memory, because it could not be written.
    Held(String),
    /// Nowhere: the Record cannot be read whole.
    Missing,
}

/// The first part of a line: what every list needs.
#[derive(Serialize, Deserialize)]
struct Front<H> {
    started_at: String,
    name: String,
    study: String,
    targets: Vec<String>,
    status: Status,
    measurements: usize,
    head: H,
}

/// This many runs are derived between two writes: a command that is killed leaves what it had.
const BATCH: usize = 256;

impl Store {
    /// All runs with what is derived from them. Never fails: what cannot be read is listed
    /// separately, and what cannot be remembered is derived every time.
    pub fn index<H>(&self, derivation: &Derivation<H>) -> Index<H>
    where
        H: Serialize + DeserializeOwned + Send,
    {
        let root = self.root();
        let mut damaged = Vec::new();
        let listing::Folders {
            runs: folders,
            others,
        } = listing::folders_or(root, &mut damaged);
        let mut lines = Lines::open(root, derivation.version);
        let mut found: Vec<Option<Indexed<H>>> =
            each(&lines.read(&folders), |known| remembered(known.as_ref()?));
        lines.compact(
            folders.len(),
            found.iter_mut().flatten().filter_map(Indexed::kept),
        );
        let missing: Vec<usize> = (0..folders.len())
            .filter(|at| found[*at].is_none())
            .collect();
        for batch in missing.chunks(BATCH) {
            let derived = each(batch, |place| {
                listing::read_again(root, &folders[*place], |folder| {
                    derived(self, folder, derivation)
                })
            });
            let mut fresh = Vec::new();
            for (place, derived) in batch.iter().zip(derived) {
                match derived {
                    Some(Ok(run)) => fresh.push((*place, run)),
                    Some(Err(why)) => damaged.push(why),
                    None => {}
                }
            }
            remember(&mut lines, &folders, &mut fresh);
            for (place, run) in fresh {
                found[place] = Some(run);
            }
        }
        damaged.extend(listing::renamed(root, &others));
        Index {
            runs: found.into_iter().flatten().collect(),
            damaged,
            root: root.to_path_buf(),
            derive: derivation.derive,
            lines,
        }
    }
}

impl<H> Index<H> {
    /// The derived text of a run of this index, as `parse` understands it. A text that is not
    /// understood is derived again; `None` where the Record cannot be read.
    pub fn text<T>(&self, run: &Indexed<H>, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        let known = match &run.text {
            Text::Kept(kept) => self.lines.text(kept),
            Text::Held(text) => Some(text.clone()),
            Text::Missing => None,
        };
        known.and_then(|text| parse(&text)).or_else(|| {
            let found = Found::of_run(&self.root, &run.run.id, run.run.partial);
            let stored = load_found(found).ok()?;
            let (_, text) = (self.derive)(&stored.record);
            parse(&text)
        })
    }
}

impl<H> Indexed<H> {
    /// The line of the run in the file; `None` if it has none.
    fn kept(&mut self) -> Option<&mut Kept> {
        match &mut self.text {
            Text::Kept(kept) => Some(kept),
            Text::Held(_) | Text::Missing => None,
        }
    }
}

/// The run of a line, unless another version of blocklab wrote its front otherwise.
fn remembered<H: DeserializeOwned>(known: &Known) -> Option<Indexed<H>> {
    let front: Front<H> = serde_json::from_str(&known.front).ok()?;
    Some(Indexed {
        run: Listed {
            id: known.id.clone(),
            started_at: front.started_at,
            name: front.name,
            study: front.study,
            targets: front.targets,
            status: front.status,
            partial: false,
            measurements: front.measurements,
        },
        head: Some(front.head),
        text: Text::Kept(known.kept),
    })
}

/// Reads a run and derives what its line has. If only the head of its Record can be read, the run is
/// listed without that.
fn derived<H>(
    store: &Store,
    folder: &Folder,
    derivation: &Derivation<H>,
) -> Result<Indexed<H>, Damaged> {
    let root = store.root();
    let found = Found::of_run(root, &folder.id, folder.partial);
    let Ok(stored) = load_found(found) else {
        return Ok(Indexed {
            run: listing::listed(root, folder)?,
            head: None,
            text: Text::Missing,
        });
    };
    let (head, text) = (derivation.derive)(&stored.record);
    Ok(Indexed {
        run: Listed::from_record(&folder.id, folder.partial, &stored.record),
        head: Some(head),
        text: Text::Held(text),
    })
}

/// Writes the lines of finished runs, and holds on to the texts only where that fails.
fn remember<H: Serialize>(
    lines: &mut Lines,
    folders: &[Folder],
    fresh: &mut [(usize, Indexed<H>)],
) {
    let mut batch = Batch::default();
    for (at, (place, indexed)) in fresh.iter().enumerate() {
        let folder = &folders[*place];
        if let (Some(front), Text::Held(text), false) =
            (front(indexed), &indexed.text, folder.partial)
        {
            batch.add(at, &lines.line(folder, &front, text), text.len());
        }
    }
    for (at, kept) in lines.append(&batch) {
        fresh[at].1.text = Text::Kept(kept);
    }
}

/// The front of the line of a run; `None` if its Record cannot be read whole.
fn front<H: Serialize>(indexed: &Indexed<H>) -> Option<String> {
    let run = indexed.run.clone();
    let front = Front {
        started_at: run.started_at,
        name: run.name,
        study: run.study,
        targets: run.targets,
        status: run.status,
        measurements: run.measurements,
        head: indexed.head.as_ref()?,
    };
    serde_json::to_string(&front).ok()
}
