//! A device described by hand, in TOML: limits, credits, latencies, faults.
//!
//! `docs/device.md` is derived from the table in `schema.rs`, and so are reading and writing.

mod guide;
mod mistake;
mod read;
mod schema;
mod units;
mod write;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use blocklab_device::DeviceSpec;

pub use guide::guide;
pub use mistake::Mistake;
pub use read::parse;
pub use write::render;

use crate::Error;

/// Reads a device from a file, and sees to it that it can work.
///
/// # Errors
/// When the file cannot be read or the device in it cannot be.
pub fn load(path: &Path) -> Result<DeviceSpec, Error> {
    let text = text_of(path).map_err(|cause| Error::Unreadable {
        path: path.to_owned(),
        cause,
    })?;
    let checked = parse(&text).and_then(|spec| match spec.check() {
        Ok(()) => Ok(spec),
        Err(why) => Err(Mistake::whole(why.to_string())),
    });
    checked.map_err(|mistake| Error::DeviceFile {
        path: path.to_owned(),
        mistake,
    })
}

/// More than any description holds: a disk named in its place would fill the memory.
const LARGEST: u64 = 16 << 20;

fn text_of(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = File::open(path)?
        .take(LARGEST + 1)
        .read_to_string(&mut text)?;
    if read as u64 > LARGEST {
        Err(io::Error::other("it is larger than 16 MiB"))
    } else {
        Ok(text)
    }
}

#[cfg(test)]
mod tests;
