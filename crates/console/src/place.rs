//! In: options and environment variables. Out: the user's store, guard and catalog. Also the random
//! seed from the kernel.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use blocklab_catalog::Catalog;
use blocklab_host::Memory;
use blocklab_host::guard::Guard;
use blocklab_store::Store;
pub use blocklab_units::shell_word;

use crate::terminal;

/// The user's store: `--store`, else `$BLOCKLAB_STORE`, else
/// `$XDG_DATA_HOME/blocklab/runs`, else `~/.local/share/blocklab/runs`.
pub fn store(given: Option<PathBuf>) -> Result<Store> {
    let root = given.or_else(|| root(from_environment));
    root.map(Store::open).context(
        "cannot find the store of runs: none of BLOCKLAB_STORE, XDG_DATA_HOME and HOME is set, and the \
         system knows no home directory of this user; name a directory with --store DIR",
    )
}

/// ` --store DIR`, to be appended to a command in a message; empty if the command finds this store
/// without it.
pub fn store_option(store: &Store) -> String {
    if root(from_environment).is_some_and(|usual| usual == store.root()) {
        return String::new();
    }
    let path = store.root().display().to_string();
    format!(" --store {}", shell_word(&path))
}

/// The guard that decides what a command may write to. It remembers in the store what runs wrote to
/// devices.
pub fn guard(names: &[String], store: &Store) -> Guard {
    Guard::new(names).with_memory(memory(store), terminal::warn)
}

/// The memory of the guard. Its name begins with a dot, so that the store does not take it for a run.
pub fn memory(store: &Store) -> Memory {
    Memory::at(store.root().join(".devices"))
}

/// The embedded figures of volumes and instances, and the user's own, which take precedence. A folder
/// that this user may not enter is not his: `runuser` and `sudo` can leave `HOME` as it was, so that it
/// names the home directory of root.
///
/// # Errors
/// If one of the user's files cannot be read, or contains an error.
pub fn load_catalog() -> Result<Catalog> {
    match catalog().filter(|folder| !is_closed(folder)) {
        Some(folder) => Ok(Catalog::load(&folder)?),
        None => Ok(Catalog::embedded()),
    }
}

/// Whether this user may not enter a folder, or one on the way there.
fn is_closed(folder: &Path) -> bool {
    let inside = fs::metadata(folder.join("."));
    inside.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
}

/// The folder of the user's own catalog: `$XDG_DATA_HOME/blocklab/catalog`, else
/// `~/.local/share/blocklab/catalog`; none when neither variable is set.
pub fn catalog() -> Option<PathBuf> {
    data(from_environment).map(|data| data.join("blocklab/catalog"))
}

/// The value of a variable. Services, cron jobs and containers often start programs without `HOME`;
/// then the user database gives the home directory, as it does to a shell.
fn from_environment(name: &str) -> Option<OsString> {
    if name == "HOME" {
        env::home_dir().map(PathBuf::into_os_string)
    } else {
        env::var_os(name)
    }
}

/// The user's data directory. A relative XDG_DATA_HOME is ignored, as its specification demands.
fn data(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    path(&variable, "XDG_DATA_HOME")
        .filter(|path| path.is_absolute())
        .or_else(|| path(&variable, "HOME").map(|home| home.join(".local/share")))
}

/// The root of the store without `--store`.
fn root(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    path(&variable, "BLOCKLAB_STORE")
        .or_else(|| data(&variable).map(|data| data.join("blocklab/runs")))
}

/// The path in a variable; `None` for an empty one.
fn path(variable: impl Fn(&str) -> Option<OsString>, name: &str) -> Option<PathBuf> {
    variable(name)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

/// 64 random bits from the kernel: the only randomness of the program that is not from a seed.
///
/// # Errors
/// If the kernel gives none.
pub fn chance() -> Result<u64> {
    getrandom::u64().context("the kernel gives no random numbers")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(variables: &[(&str, &str)], expected: Option<&str>) {
        let variable = |name: &str| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| OsString::from(value))
        };
        assert_eq!(root(variable), expected.map(PathBuf::from), "{variables:?}");
    }

    #[test]
    fn the_nearest_answer_counts() {
        let (home, xdg) = (("HOME", "/home/a"), ("XDG_DATA_HOME", "/x"));
        check(&[home], Some("/home/a/.local/share/blocklab/runs"));
        check(&[home, xdg], Some("/x/blocklab/runs"));
        check(&[home, xdg, ("BLOCKLAB_STORE", "runs")], Some("runs"));
        check(
            &[home, ("XDG_DATA_HOME", "relative")],
            Some("/home/a/.local/share/blocklab/runs"),
        );
        check(&[("BLOCKLAB_STORE", ""), ("HOME", "")], None);
    }
}
