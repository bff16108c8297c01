//! What the storage definitions name: how large it is, and whether it must be written first.

use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use anyhow::Result;
use blocklab_catalog::{Address, resolve};
use blocklab_device::Device;
use blocklab_dialect::vdbench::{Script, Sd};
use blocklab_host::{guard, target_facts};

use super::{about, context};

/// Sizes of all storage definitions, and which of them are written first.
#[derive(Debug, Default)]
pub struct Luns {
    pub sizes: Vec<u64>,
    pub format: Vec<usize>,
}

/// Looks at every lun that a run uses, and makes files that are missing. Those may be overwritten.
pub fn look(script: &Script, destroy: &mut Vec<String>, keep: bool) -> Result<Luns> {
    let used = |index: usize| {
        let uses = script.runs.iter().flat_map(|run| &run.uses);
        uses.flat_map(|one| &one.sds).any(|sd| *sd == index)
    };
    let mut luns = Luns::default();
    for (index, sd) in script.sds.iter().enumerate() {
        if !used(index) {
            luns.sizes.push(sd.size);
            continue;
        }
        let there = size_of(sd)?;
        let size = if sd.size > 0 { sd.size } else { there.bytes };
        if size == 0 {
            return Err(about(
                sd,
                format!("{} has no content, and size= names none", sd.lun),
            ));
        }
        if !there.is_file && size > there.bytes {
            let message = format!(
                "size={size} is more than the {} bytes of {}",
                there.bytes, sd.lun
            );
            return Err(about(sd, message));
        }
        let short = there.is_file && there.bytes < size;
        let again = script.general.formatsds == Some(true) && there.is_file;
        if (short || again) && script.general.formatsds != Some(false) && !keep {
            luns.format.push(index);
        }
        if short {
            make(sd, size, there.bytes, destroy)?;
        }
        luns.sizes.push(size);
    }
    Ok(luns)
}

struct There {
    bytes: u64,
    is_file: bool,
}

fn size_of(sd: &Sd) -> Result<There> {
    let model = sd
        .lun
        .strip_prefix("sim:")
        .or_else(|| sd.lun.strip_prefix("emu:"));
    if let Some(address) = model {
        let bytes = capacity(address).map_err(|message| about(sd, message))?;
        return Ok(There {
            bytes,
            is_file: false,
        });
    }
    let path = Path::new(&sd.lun);
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Err(about(
            sd,
            format!("{} is a directory; a file in it would work", sd.lun),
        )),
        Ok(metadata) if metadata.file_type().is_block_device() => Ok(There {
            bytes: target_facts(path)?.size_bytes.0,
            is_file: false,
        }),
        Ok(metadata) => Ok(There {
            bytes: metadata.len(),
            is_file: true,
        }),
        Err(error) if error.kind() == ErrorKind::NotFound && !sd.lun.starts_with("/dev/") => {
            Ok(There {
                bytes: 0,
                is_file: true,
            })
        }
        Err(error) => Err(about(sd, format!("cannot use {}: {error}", sd.lun))),
    }
}

fn capacity(address: &str) -> Result<u64, String> {
    let catalog = crate::catalog::load().map_err(|error| error.to_string())?;
    let parsed = Address::parse(address).map_err(|error| error.to_string())?;
    let resolved = resolve(&parsed, &catalog).map_err(|error| error.to_string())?;
    let device = Device::new(&resolved.spec, 0).map_err(|error| error.to_string())?;
    Ok(device.capacity().0)
}

/// A new file is ours and may be overwritten; of one with content the user must have said so.
fn make(sd: &Sd, size: u64, there: u64, destroy: &mut Vec<String>) -> Result<()> {
    let path = Path::new(&sd.lun);
    if there > 0 {
        guard::may_write(path, destroy)?;
    }
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path);
    let made = file.and_then(|file| file.set_len(size));
    context(made, "make the file", path)?;
    if there == 0 {
        guard::claim(path);
    }
    destroy.push(sd.lun.clone());
    Ok(())
}
