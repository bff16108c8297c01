//! In: a run and words. Out: the tags of the run: words by which people choose runs, kept next to
//! the record as the note is.

use std::path::Path;

use crate::find::FindError;
use crate::listing::{self, Listed, folder_name};
use crate::note::{self, TAGS};
use crate::store::{Store, StoreError, io_error};

/// Most characters of a tag, which is a word that people type.
const LONGEST: usize = 64;

/// Whether a word can be a tag: letters, digits, `-`, `_` and `.`, so that no terminal, page or
/// shell makes more of it.
pub fn is_tag(word: &str) -> bool {
    (1..=LONGEST).contains(&word.len())
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

impl Store {
    /// The tags of a run of this store, sorted.
    pub fn tags(&self, run: &Listed) -> Vec<String> {
        tags_in(&self.root().join(folder_name(&run.id, run.partial)))
    }

    /// Gives tags to the run that `spec` names, and takes others from it. The record stays as it is.
    /// Returns its id and its tags now.
    ///
    /// # Errors
    /// As [`Store::annotate`]; [`StoreError::BadTag`], [`StoreError::LongTags`].
    pub fn tag(
        &self,
        spec: &str,
        add: &[String],
        remove: &[String],
    ) -> Result<(String, Vec<String>), StoreError> {
        if let Some(word) = add.iter().chain(remove).find(|word| !is_tag(word)) {
            return Err(StoreError::BadTag(word.clone()));
        }
        let stored = self.load_to_change(spec)?;
        let folder = stored.file.parent().unwrap_or(Path::new("."));
        // Held from reading to writing: of two commands at once, the later one would write the tags
        // without that of the other.
        let _turn = note::take_turn(folder).map_err(io_error("open", folder))?;
        let mut tags = tags_in(folder);
        tags.retain(|tag| !remove.contains(tag));
        tags.extend(add.iter().cloned());
        tags.sort();
        tags.dedup();
        let text = tags.join("\n");
        if text.len() as u64 >= note::LONGEST {
            return Err(StoreError::LongTags(text.len()));
        }
        let done = if text.is_empty() {
            note::delete(folder, TAGS)
        } else {
            note::replace(folder, TAGS, &text)
        };
        done.map_err(io_error("write", &folder.join(TAGS.name)))?;
        Ok((stored.record.id, tags))
    }

    /// The id of the newest finished run that has the tag.
    pub(crate) fn newest_of_tag(&self, tag: &str) -> Result<String, StoreError> {
        let root = self.root();
        let folders = listing::folders(root).map_err(io_error("read", root))?;
        let newest_first = folders.into_iter().rev();
        for folder in newest_first.filter(|folder| !folder.partial) {
            let tags = tags_in(&root.join(&folder.id));
            if tags.iter().any(|known| known == tag) {
                return Ok(folder.id);
            }
        }
        let untagged = FindError::Untagged {
            tag: tag.to_owned(),
            root: root.to_path_buf(),
        };
        Err(untagged.into())
    }
}

/// The tags in the folder of a run, sorted. Lines that are no tags, which another program wrote, are
/// left out.
fn tags_in(folder: &Path) -> Vec<String> {
    let text = note::read(folder, TAGS).unwrap_or_default();
    let words = text.lines().filter(|line| is_tag(line));
    let mut tags: Vec<String> = words.map(str::to_owned).collect();
    tags.sort();
    tags
}
