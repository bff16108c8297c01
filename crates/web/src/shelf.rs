//! In: the store. Out: its runs, as pages show them; nothing that a link leads elsewhere for.
//!
//! A file of its own: ids come from addresses that anybody can type, and folders from anybody who can
//! write into the store.

use std::fs;

use blocklab_findings::assess;
use blocklab_record::{Interval, Record};
use blocklab_report::words::facts;
use blocklab_store::spool::Follower;
use blocklab_store::{Derivation, Index, Store, StoreError, is_id};
use serde::{Deserialize, Serialize};

/// What the list of runs shows of each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Headline {
    /// `measured`, `simulated`, `emulated`, `imported`.
    pub origin: String,
    /// The machine; empty where it is unknown.
    pub machine: String,
    /// The load with the most operations a second; `None`: nothing was measured.
    pub fastest: Option<Fastest>,
}

/// The load of a run with the most operations a second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fastest {
    /// Its case.
    pub case: String,
    /// Its direction.
    pub direction: String,
    /// The figure of all passes.
    pub iops: f64,
    /// As it went: the rate of all directions of the case in equal parts of its measured time.
    pub course_iops: Vec<f64>,
}

/// Points of a small picture.
const POINTS: usize = 32;

/// How the list is derived from a Record; another version of it has another number.
pub const HEADLINES: Derivation<Headline> = Derivation {
    version: concat!(env!("CARGO_PKG_VERSION"), "/serve-1"),
    derive: |record| (headline(record), String::new()),
};

fn headline(record: &Record) -> Headline {
    let assessment = assess(record);
    let rows = assessment.rows.iter();
    let all = rows.flat_map(|row| row.directions.iter().map(move |moved| (&row.case, moved)));
    let most = all.max_by(|(_, a), (_, b)| a.iops.value.total_cmp(&b.iops.value));
    Headline {
        origin: record.origin.name().to_owned(),
        machine: record.environment.host_name.clone().unwrap_or_default(),
        fastest: most.map(|(case, moved)| Fastest {
            case: case.clone(),
            direction: moved.direction.to_string(),
            iops: moved.iops.value,
            course_iops: course(record, case),
        }),
    }
}

/// The rate of a case over its passes, with at most [`POINTS`] points.
fn course(record: &Record, case: &str) -> Vec<f64> {
    let passes = record.measurements.iter().filter(|pass| pass.case == case);
    let slices: Vec<&Interval> = passes
        .flat_map(|pass| &pass.series)
        .filter(|slice| !slice.ramp && slice.length_ns > 0)
        .collect();
    let share = slices.len().div_ceil(POINTS).max(1);
    let rate = |slices: &[&Interval]| {
        let moved = slices.iter().flat_map(|slice| facts::directions(slice));
        let ios: u64 = moved.map(|moved| moved.ios).sum();
        let length = slices.iter().map(|slice| slice.length_ns).sum();
        facts::per_second(ios, length).round()
    };
    slices.chunks(share).map(rate).collect()
}

/// The runs of a store.
#[derive(Debug, Clone)]
pub struct Shelf {
    store: Store,
}

/// Why there is no page of a run.
#[derive(Debug, thiserror::Error)]
pub enum NoRun {
    /// The text is no id.
    #[error("`{}` is no id of a run; one looks like 20261120-190142-k3f", .0.escape_debug())]
    NoId(String),
    /// Nothing of that id is in the store, or something that a link leads to.
    #[error("no run {0} is in the store")]
    Unknown(String),
    /// It is there and cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Shelf {
    /// The runs of this store.
    pub const fn new(store: Store) -> Self {
        Self { store }
    }

    /// Where they are kept.
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// All runs with their headlines, the oldest first.
    pub fn index(&self) -> Index<Headline> {
        self.store.index(&HEADLINES)
    }

    /// The run of this id.
    ///
    /// # Errors
    /// [`NoRun`].
    pub fn load(&self, id: &str) -> Result<Record, NoRun> {
        let folder = self.folder(id)?;
        Ok(self.store.load(&folder)?.record)
    }

    /// Follows a run that goes on; `None`: it has ended.
    ///
    /// # Errors
    /// [`NoRun`].
    pub fn follow(&self, id: &str) -> Result<Option<Follower>, NoRun> {
        let folder = self.folder(id)?;
        if folder.ends_with(".partial") {
            Ok(Some(self.store.follow(id)?))
        } else {
            Ok(None)
        }
    }

    /// The newest run that goes on.
    pub fn going_on(&self) -> Option<Record> {
        let runs = self
            .index()
            .runs
            .into_iter()
            .rev()
            .map(|indexed| indexed.run);
        let mut partial = runs.filter(|run| run.partial);
        let held = partial.find(|run| self.is_running(&run.id))?;
        self.load(&held.id).ok()
    }

    /// Whether it goes on, as far as the lock of its spool tells.
    pub fn is_running(&self, id: &str) -> bool {
        let follower = self.follow(id).ok().flatten();
        follower.is_some_and(|follower| follower.is_held())
    }

    /// The path of a run's folder, in which and on the way to which nothing is a link.
    fn folder(&self, id: &str) -> Result<String, NoRun> {
        if !is_id(id) {
            return Err(NoRun::NoId(id.to_owned()));
        }
        let root = self.store.root();
        let found = [("", "record.json"), (".partial", "spool.ndjson")]
            .into_iter()
            .find_map(|(end, file)| {
                let folder = root.join(format!("{id}{end}"));
                let is_folder = fs::symlink_metadata(&folder).is_ok_and(|facts| facts.is_dir());
                let is_file =
                    fs::symlink_metadata(folder.join(file)).is_ok_and(|facts| facts.is_file());
                (is_folder && is_file).then(|| folder.to_string_lossy().into_owned())
            });
        found.ok_or_else(|| NoRun::Unknown(id.to_owned()))
    }
}
