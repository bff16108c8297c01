//! In: the word by which a user means a run, and the folders of a store. Out: the one run, or why
//! there is none.
//!
//! A file of its own: every command that takes a RUN understands it the same way.

use std::path::{Path, PathBuf};

use crate::folder::PARTIAL;
use crate::listing::{Folder, folder_name};

/// The prefix by which a text names the newest run that has a tag: `tag:baseline`.
pub(crate) const TAG_PREFIX: &str = "tag:";

/// Why a text names no single run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// Nothing fits.
    #[error(
        "no run `{spec}` in {}: give an id from `blocklab list`, a unique beginning of one, \
         its last part, its name, `tag:` and a tag, the path of a run, or `latest`",
        root.display()
    )]
    Unknown {
        /// The text.
        spec: String,
        /// Where.
        root: PathBuf,
    },
    /// The store in this folder holds nothing yet.
    #[error("there are no runs in {} yet: `blocklab run` makes one", .0.display())]
    Empty(PathBuf),
    /// No run has the tag.
    #[error(
        "no run in {} has the tag `{}`; `blocklab note RUN --tag TAG` gives one",
        root.display(), tag.escape_debug()
    )]
    Untagged {
        /// The tag.
        tag: String,
        /// Where.
        root: PathBuf,
    },
    /// More than one fits.
    #[error("`{spec}` fits {} runs: {}; give the id of one", ids.len(), some(ids))]
    Ambiguous {
        /// The text.
        spec: String,
        /// All that fit, sorted.
        ids: Vec<String>,
    },
}

/// The first ids, and how many more there are.
fn some(ids: &[String]) -> String {
    const SHOWN: usize = 8;
    match ids.len() {
        0..=SHOWN => ids.join(", "),
        more => format!("{} and {} more", ids[..SHOWN].join(", "), more - SHOWN),
    }
}

/// What a name of several runs means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The newest of them, for those who only read.
    Newest,
    /// No run, for those who change or remove it.
    None,
}

/// A run that a text names.
pub(crate) struct Found {
    /// Its folder, or the record itself when that was named by its path.
    pub(crate) path: PathBuf,
    /// It has no finished record.
    pub(crate) partial: bool,
    /// How many runs have the name by which it was found; it is the newest of them. 1 if it was found
    /// by something else.
    pub(crate) runs_of_name: usize,
}

impl Found {
    /// The run of that id in the store, which is there.
    pub(crate) fn of_run(root: &Path, id: &str, partial: bool) -> Self {
        Self {
            path: root.join(folder_name(id, partial)),
            partial,
            runs_of_name: 1,
        }
    }
}

/// The run that `spec` names among `folders`, which are sorted, the oldest first. `name` reads the name of
/// a run.
///
/// A whole id is always that run. A part of an id and a name count alike, so a text that is a part of one
/// run's id and the name of another run is refused, and no run is taken for the other.
pub(crate) fn find(
    root: &Path,
    folders: &[Folder],
    spec: &str,
    choice: Choice,
    name: impl Fn(&Folder) -> Option<String>,
) -> Result<Found, FindError> {
    if spec == "latest" {
        return match folders.last() {
            Some(newest) => Ok(found(root, newest, 1)),
            None => Err(FindError::Empty(root.to_path_buf())),
        };
    }
    if let Some(exact) = folders.iter().find(|folder| folder.id == spec) {
        return Ok(found(root, exact, 1));
    }
    let mut fitting = Vec::new();
    let mut all_named = true;
    // The empty text, as of a variable that is not set, begins every id and names no run.
    let candidates = if spec.is_empty() { &[] } else { folders };
    for folder in candidates {
        let is_named = name(folder).as_deref() == Some(spec);
        if is_named || is_part(spec, &folder.id) {
            fitting.push(folder);
            all_named &= is_named;
        }
    }
    match fitting[..] {
        [one] => Ok(found(root, one, 1)),
        [.., newest] if all_named && choice == Choice::Newest => {
            Ok(found(root, newest, fitting.len()))
        }
        [] => by_path(spec).ok_or_else(|| FindError::Unknown {
            spec: spec.to_owned(),
            root: root.to_path_buf(),
        }),
        _ => Err(FindError::Ambiguous {
            spec: spec.to_owned(),
            ids: fitting.iter().map(|folder| folder.id.clone()).collect(),
        }),
    }
}

fn found(root: &Path, folder: &Folder, runs_of_name: usize) -> Found {
    Found {
        runs_of_name,
        ..Found::of_run(root, &folder.id, folder.partial)
    }
}

/// Whether a text is the beginning of an id, or its part after the last hyphen, in which the ids of runs
/// of the same second differ.
fn is_part(text: &str, id: &str) -> bool {
    let last = id.rsplit('-').next();
    id.starts_with(text) || last == Some(text)
}

/// A run by the path of its folder or of its record; `None` if there is no folder or file at `spec`.
/// Whether it holds a run shows only when it is read.
pub(crate) fn by_path(spec: &str) -> Option<Found> {
    let path = PathBuf::from(spec);
    let folder = if path.is_dir() {
        &*path
    } else if path.is_file() {
        path.parent()?
    } else {
        return None;
    };
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    Some(Found {
        partial: name.ends_with(PARTIAL),
        path,
        runs_of_name: 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listing::Stamp;

    const IDS: [&str; 4] = [
        "20261119-080000-a00",
        "20261120-190142-k3f",
        "20261120-190142-k4f",
        "20261121-000000-k3f",
    ];

    fn folders() -> Vec<Folder> {
        let folder = |id: &&str| Folder {
            id: (*id).to_owned(),
            partial: false,
            stamp: Stamp::default(),
        };
        IDS.iter().map(folder).collect()
    }

    #[track_caller]
    fn check(spec: &str, expected: Result<&str, FindError>) {
        check_choice(spec, Choice::None, expected);
    }

    #[track_caller]
    fn check_choice(spec: &str, choice: Choice, expected: Result<&str, FindError>) {
        let root = Path::new("/store");
        let name = |folder: &Folder| match folder.id.as_str() {
            "20261119-080000-a00" => Some("before".to_owned()),
            "20261121-000000-k3f" => Some("k4f".to_owned()),
            _ => Some("quick".to_owned()),
        };
        let found = find(root, &folders(), spec, choice, name).map(|found| found.path);
        assert_eq!(found, expected.map(|id| root.join(id)), "{spec}");
    }

    fn ambiguous(spec: &str, ids: &[&str]) -> FindError {
        FindError::Ambiguous {
            spec: spec.to_owned(),
            ids: ids.iter().map(|id| (*id).to_owned()).collect(),
        }
    }

    fn unknown(spec: &str) -> FindError {
        FindError::Unknown {
            spec: spec.to_owned(),
            root: PathBuf::from("/store"),
        }
    }

    #[test]
    fn runs_by_id_beginning_and_last_part() {
        check("latest", Ok(IDS[3]));
        check(IDS[1], Ok(IDS[1]));
        check("20261119", Ok(IDS[0]));
        check("20261120-190142-k4", Ok(IDS[2]));
        check("a00", Ok(IDS[0]));
        check("before", Ok(IDS[0]));
        check("quick", Err(ambiguous("quick", &IDS[1..3])));
        check("20261120", Err(ambiguous("20261120", &IDS[1..3])));
        check("k3f", Err(ambiguous("k3f", &[IDS[1], IDS[3]])));
        check("zzz", Err(unknown("zzz")));
        check("", Err(unknown("")));
        check("/nowhere/at/all", Err(unknown("/nowhere/at/all")));
    }

    /// The story: the recipe that names its runs `before` and `after` worked once in a store, and then
    /// ended in "fits 2 runs". Who reads means the newest; a part of an id stays ambiguous.
    #[test]
    fn a_name_means_its_newest_run_for_those_who_read() {
        check_choice("quick", Choice::Newest, Ok(IDS[2]));
        check("quick", Err(ambiguous("quick", &IDS[1..3])));
        let both = [IDS[2], IDS[3]];
        check_choice("k4f", Choice::Newest, Err(ambiguous("k4f", &both)));
        let part = Err(ambiguous("20261120", &IDS[1..3]));
        check_choice("20261120", Choice::Newest, part);
    }

    /// The story: somebody named a run `k4f`, and `rm k4f` removed another one, whose id happened
    /// to end so.
    #[test]
    fn a_name_that_is_a_part_of_another_id_is_refused() {
        check("k4f", Err(ambiguous("k4f", &[IDS[2], IDS[3]])));
        check(IDS[2], Ok(IDS[2]));
    }

    #[test]
    fn an_ambiguous_text_lists_a_few_and_counts_the_rest() {
        let ids: Vec<String> = (0..10).map(|n| format!("r{n}")).collect();
        let text = FindError::Ambiguous {
            spec: "r".into(),
            ids,
        }
        .to_string();
        assert_eq!(
            text,
            "`r` fits 10 runs: r0, r1, r2, r3, r4, r5, r6, r7 and 2 more; give the id of one"
        );
    }
}
