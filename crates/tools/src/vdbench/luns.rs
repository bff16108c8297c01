//! What the storage definitions name: how large it is, and whether it must be written first.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use anyhow::Result;
use blocklab_catalog::{Address, resolve};
use blocklab_device::Device;
use blocklab_host::guard::{Guard, mark};
use blocklab_host::{Handle, facts_of};
use blocklab_vdbench::{Script, Sd};

use super::{about, context};

/// Sizes of all storage definitions, and which of them are written first.
#[derive(Debug, Default)]
pub struct Luns {
    pub sizes: Vec<u64>,
    pub format: Vec<usize>,
}

/// Looks at every lun that a run uses, and makes files that are missing. Those may be overwritten.
pub fn look(script: &Script, guard: &Guard, keep: bool) -> Result<Luns> {
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
        let there = look_at(sd, guard)?;
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
            make(sd, size, there.bytes, guard)?;
        }
        luns.sizes.push(size);
    }
    Ok(luns)
}

struct There {
    bytes: u64,
    is_file: bool,
}

fn look_at(sd: &Sd, guard: &Guard) -> Result<There> {
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
    match guard.open(path) {
        Ok(handle) => there(sd, &handle),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let new = guard.new_path(path);
            new.map_err(|refusal| about(sd, refusal.to_string()))?;
            Ok(There {
                bytes: 0,
                is_file: true,
            })
        }
        Err(error) => Err(about(sd, format!("cannot use {}: {error}", sd.lun))),
    }
}

fn there(sd: &Sd, handle: &Handle) -> Result<There> {
    let kind = handle.metadata()?.file_type();
    let unfit = match () {
        () if kind.is_dir() => "a directory; a file in it would work",
        () if kind.is_fifo() => "a pipe, which stores nothing; a file or a device would work",
        () if kind.is_socket() => "a socket, which stores nothing; a file or a device would work",
        () => {
            return Ok(There {
                bytes: facts_of(handle)?.size_bytes.0,
                is_file: kind.is_file(),
            });
        }
    };
    Err(about(sd, format!("{} is {unfit}", sd.lun)))
}

fn capacity(address: &str) -> Result<u64, String> {
    let catalog = blocklab_console::place::load_catalog().map_err(|error| error.to_string())?;
    let parsed = Address::parse(address).map_err(|error| error.to_string())?;
    let resolved = resolve(&parsed, &catalog).map_err(|error| error.to_string())?;
    let device = Device::new(&resolved.spec, 0).map_err(|error| error.to_string())?;
    Ok(device.capacity().0)
}

/// A new file is ours and may be overwritten; of one with content the user must have said so.
fn make(sd: &Sd, size: u64, there: u64, guard: &Guard) -> Result<()> {
    let path = Path::new(&sd.lun);
    let handle = match guard.open(path) {
        Ok(handle) => {
            guard.may_write(&handle)?;
            handle
        }
        Err(_) => context(guard.new_path(path)?.create(0o666), "make the file", path)?,
    };
    let sized = |file: File| -> io::Result<()> { file.set_len(size) };
    let made = handle.reopen(File::options().write(true)).and_then(sized);
    context(made, "make the file", path)?;
    if there == 0 {
        mark(&handle);
    }
    guard.adopt(&handle)?;
    Ok(())
}
