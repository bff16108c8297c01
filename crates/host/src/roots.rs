//! The only reader of `/proc` and `/sys`, so that a test can lay out another machine in a folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where the kernel's small files are: `/`, or a tree that a test has laid out.
#[derive(Debug, Clone)]
pub(crate) struct Roots {
    base: Option<PathBuf>,
}

impl Roots {
    /// This machine.
    pub(crate) fn real() -> Self {
        Self { base: None }
    }

    /// The tree below `base` instead of `/`.
    #[cfg(test)]
    pub(crate) fn at(base: &Path) -> Self {
        Self {
            base: Some(base.to_owned()),
        }
    }

    /// Whether devices can be requested, and not only files.
    pub(crate) fn is_real(&self) -> bool {
        self.base.is_none()
    }

    /// The place of `path` in this tree. On the real machine a relative path stays one.
    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        match &self.base {
            Some(base) => base.join(path.strip_prefix("/").unwrap_or(path)),
            None => path.to_owned(),
        }
    }

    /// The bytes of a file; nothing where it is absent.
    pub(crate) fn bytes(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        fs::read(self.path(path)).ok()
    }

    /// The whole file; nothing where it is absent. A byte that is no UTF-8, such as one in the path of a
    /// mount, is written as the kernel writes a blank there: `\374`.
    pub(crate) fn whole(&self, path: impl AsRef<Path>) -> Option<String> {
        let bytes = self.bytes(path)?;
        let mut text = String::new();
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            for byte in chunk.invalid() {
                text.push_str(&format!("\\{byte:03o}"));
            }
        }
        Some(text)
    }

    /// A one-line file without blanks around it; nothing where it is absent or empty.
    pub(crate) fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        let whole = self.whole(path)?;
        let text = whole.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// A one-line file that holds a number; nothing where it is absent or holds something else.
    pub(crate) fn number<T: FromStr>(&self, path: impl AsRef<Path>) -> Option<T> {
        self.text(path)?.parse().ok()
    }

    /// The names in a directory, sorted; none where there is no such directory.
    pub(crate) fn names(&self, path: impl AsRef<Path>) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path(path)) else {
            return Vec::new();
        };
        let names = entries.flatten().map(|entry| entry.file_name());
        let mut names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
        names.sort();
        names
    }
}
