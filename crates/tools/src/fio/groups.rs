//! The control groups of the jobs: made before the run, and removed after it.

use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Context, Result};
use blocklab_fio::ControlGroup;

use blocklab_console::terminal;

/// Makes what is missing, and gives the weights.
pub fn make(groups: &[ControlGroup]) -> Result<()> {
    for group in groups {
        let path = &group.path;
        match fs::create_dir(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(error).with_context(|| format!("cgroup: cannot make {path}"));
            }
            _ => {}
        }
        if let Some(weight) = group.weight {
            let file = format!("{path}/blkio.weight");
            let written = set(Path::new(&file), weight);
            if written.is_err() {
                remove(groups);
            }
            written.with_context(|| format!("cgroup_weight: cannot write {file}"))?;
        }
    }
    Ok(())
}

/// Without making the file: a kernel that weighs nothing has none.
fn set(file: &Path, weight: u32) -> io::Result<()> {
    let mut open = fs::File::options().write(true).open(file)?;
    io::Write::write_all(&mut open, weight.to_string().as_bytes())
}

/// Removes what need not stay.
pub fn remove(groups: &[ControlGroup]) {
    for group in groups.iter().filter(|group| !group.keep) {
        match fs::remove_dir(&group.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                let path = &group.path;
                terminal::warn(&format!("the control group {path} stays: {error}"));
            }
            _ => {}
        }
    }
}
