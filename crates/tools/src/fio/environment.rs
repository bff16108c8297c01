//! What planning a job file needs to know of the machine: texts, variables, files and devices.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::{env, fs, io};

use anyhow::{Context, Result, anyhow};
use blocklab_fio::{PlanContext, Prepared, Reader, Resolved, prepare as plan};
use blocklab_host::{
    LARGEST_REPORT, LARGEST_SCRIPT, environment, mounts, read_at_most, read_input, target_facts,
};

use blocklab_syntax::number::processor_list;
use rustix::fs::statvfs;
use serde::{Deserialize, Serialize};

use crate::tool_run::seed;

/// Reads job files, their includes and environment variables, and remembers what it read. Another host
/// gets that memory, so that it plans the same jobs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Texts {
    files: BTreeMap<String, String>,
    includes: BTreeMap<String, String>,
    variables: RefCell<BTreeMap<String, String>>,
    /// Whether this was received from another host, so that variables of this one must not be read.
    is_received: bool,
}

impl Texts {
    /// A copy to send to another host.
    pub fn for_another_host(&self) -> Self {
        Self {
            is_received: true,
            ..self.clone()
        }
    }

    /// The text of a job file; `-` is the standard input.
    pub fn text(&mut self, path: &str) -> Result<String> {
        if let Some(known) = self.files.get(path) {
            return Ok(known.clone());
        }
        let bytes = match path {
            "-" => read_at_most(io::stdin().lock(), LARGEST_SCRIPT),
            path => read_input(path.as_ref(), LARGEST_SCRIPT),
        }
        .with_context(|| format!("unable to open '{path}' job file"))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| anyhow!("{path} is no text: a job file is expected"))?;
        self.files.insert(path.to_owned(), text.clone());
        Ok(text)
    }
}

impl Reader for Texts {
    fn include(&mut self, path: &str) -> Result<String, String> {
        if let Some(known) = self.includes.get(path) {
            return Ok(known.clone());
        }
        let bytes = read_input(path.as_ref(), LARGEST_SCRIPT).map_err(|error| error.to_string())?;
        let text = String::from_utf8(bytes).map_err(|error| error.to_string())?;
        self.includes.insert(path.to_owned(), text.clone());
        Ok(text)
    }

    /// Fio's own variables describe the machine on which the jobs run; others are those of the
    /// environment in which the command was typed; texts from another host bring them along.
    fn variable(&self, name: &str) -> Option<String> {
        match name {
            "$pagesize" => Some(page_size().to_string()),
            "$ncpus" => Some(configured_processors().to_string()),
            "$mb_memory" => Some((environment().memory_bytes.0 >> 20).to_string()),
            name if self.is_received => self.variables.borrow().get(name).cloned(),
            name => {
                let value = env::var(name).ok()?;
                let mut known = self.variables.borrow_mut();
                known.insert(name.to_owned(), value.clone());
                Some(value)
            }
        }
    }
}

/// Whether the sizes of files and devices must be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// They are looked up: the jobs will run here.
    Looked,
    /// A target that does not exist is assumed to: the jobs are only parsed here.
    Supposed,
}

/// Plans the jobs on this machine. `aux` is the directory of state files; `client` the name of this
/// host in a run of several.
pub fn prepare(
    resolved: &Resolved,
    name: &str,
    aux: Option<&str>,
    client: Option<&str>,
    presence: Presence,
) -> Result<Prepared> {
    let supposed = (presence == Presence::Supposed).then_some(SUPPOSED);
    let control_groups = control_groups();
    let context = PlanContext {
        size_of: &|path| size_of(path).or(supposed),
        is_device: &is_device,
        room_at: &|path| room_at(Path::new(path)),
        files_below: &|directory| files_below(Path::new(directory)),
        processors: configured_processors(),
        device_of: &device_of,
        control_groups: control_groups.as_deref(),
        node_processors: &node_processors,
        bytes_of: &|path| {
            read_input(path.as_ref(), LARGEST_REPORT).map_err(|error| error.to_string())
        },
        aux,
        client,
        only_parsed: presence == Presence::Supposed,
        seed: seed(None)?,
    };
    let mut prepared = plan(resolved, name, &context)?;
    for group in &mut prepared.control_groups {
        // A group that exists already is not removed after the run.
        group.keep |= Path::new(&group.path).exists();
    }
    Ok(prepared)
}

/// Assumed size in bytes of a target that is not looked up.
const SUPPOSED: u64 = 1 << 40;

/// Size in bytes of what is at a path; 0 for a directory, `None` if nothing is there.
fn size_of(path: &str) -> Option<u64> {
    let metadata = fs::metadata(path).ok()?;
    if metadata.is_file() {
        return Some(metadata.len());
    }
    if metadata.is_dir() {
        return Some(0);
    }
    target_facts(Path::new(path))
        .ok()
        .map(|facts| facts.size_bytes.0)
}

/// Whether a path is that of a block or character device.
fn is_device(path: &str) -> bool {
    fs::metadata(path).is_ok_and(|metadata| {
        let kind = metadata.file_type();
        kind.is_block_device() || kind.is_char_device()
    })
}

/// Free bytes, including those reserved for root, of the file system on which a path is or would be
/// created; `None` if it does not report them.
fn room_at(path: &Path) -> Option<u64> {
    let found = statvfs(nearest_directory(path)?).ok()?;
    Some(found.f_bfree.saturating_mul(found.f_frsize))
}

/// The nearest existing directory above a path.
pub fn nearest_directory(path: &Path) -> Option<&Path> {
    let mut directories = path.ancestors().skip(1).map(|directory| {
        // Above the first name of a relative path.
        if directory.as_os_str().is_empty() {
            Path::new(".")
        } else {
            directory
        }
    });
    directories.find(|directory| directory.is_dir())
}

/// The regular files in a directory and below it, sorted by name in each directory.
fn files_below(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        // Links are not followed, because one that leads back up would never end.
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_dir() => files.extend(files_below(&path)),
            Ok(metadata) if metadata.is_file() => files.push(path.display().to_string()),
            _ => {}
        }
    }
    files
}

/// The processors of a memory node; empty if there is no such node.
fn node_processors(node: u32) -> Vec<u32> {
    let path = format!("/sys/devices/system/node/node{node}/cpulist");
    let text = fs::read_to_string(path).unwrap_or_default();
    processor_list(text.trim()).unwrap_or_default()
}

/// Bytes of a memory page.
fn page_size() -> i64 {
    // SAFETY: no memory is passed.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) }
}

/// The path of the device with this number: by the kernel's name, or by number if it has none.
fn device_of(major: u32, minor: u32) -> String {
    let link = fs::read_link(format!("/sys/dev/block/{major}:{minor}")).unwrap_or_default();
    let name = link.file_name().map(|name| name.display().to_string());
    format!(
        "/dev/{}",
        name.unwrap_or_else(|| format!("block/{major}:{minor}"))
    )
}

/// Where the block I/O controller of control groups of version 1 is mounted.
fn control_groups() -> Option<String> {
    let found = mounts().into_iter().find(|mount| {
        mount.kind == "cgroup" && mount.options.split(',').any(|option| option == "blkio")
    })?;
    Some(found.point.to_string_lossy().into_owned())
}

/// The number of processors of the machine, also of those on which this process may not run.
fn configured_processors() -> u32 {
    // SAFETY: no memory is passed.
    let count = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
    u32::try_from(count).unwrap_or(1).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: a job with `filename=new/f` had no room for `fill_device`, and its directory was made
    /// although the kernel's own file system, such as `/dev`, was the current directory.
    #[test]
    fn a_new_relative_directory_is_in_the_current_one() {
        for (path, expected) in [
            ("f", "."),
            ("no such directory/f", "."),
            ("no such/directory/f", "."),
            ("src/no such directory/f", "src"),
            ("/no such directory/f", "/"),
        ] {
            assert_eq!(
                nearest_directory(Path::new(path)),
                Some(Path::new(expected))
            );
        }
        assert!(room_at(Path::new("no such directory/f")).is_some());
    }

    /// `numjobs=$ncpus` under `taskset` or a container's quota started fewer jobs than with fio 3.33.
    #[test]
    fn processors_are_those_of_the_machine() {
        let configured = configured_processors().to_string();
        assert_eq!(Texts::default().variable("$ncpus"), Some(configured));
    }
}
