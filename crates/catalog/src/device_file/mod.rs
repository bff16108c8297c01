//! A device described by hand, in TOML: limits, credits, latencies, faults.
//!
//! Reading, writing and `docs/device.md` are derived from the rows in `schema.rs`.

mod fault;
mod form;
mod guide;
mod schema;
mod table;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use blocklab_device::DeviceSpec;
use blocklab_syntax::toml_tree::{self, Value};

pub use guide::guide;

use crate::Error;
use table::Form;

/// Reads a device from a file, and sees to it that it can work.
///
/// # Errors
/// When the file cannot be read, or describes a device that cannot exist.
pub fn load(path: &Path) -> Result<DeviceSpec, Error> {
    let text = text_of(path).map_err(|cause| Error::Unreadable {
        path: path.to_owned(),
        cause,
    })?;
    let spec = parse(&text, &path.to_string_lossy()).map_err(Error::DeviceFile)?;
    match spec.check() {
        Ok(()) => Ok(spec),
        Err(why) => Err(Error::Device {
            path: path.to_owned(),
            why,
        }),
    }
}

/// Reads a device. `file_name` is used in the diagnostics.
///
/// # Errors
/// The first mistake: where, what, and what would work.
pub fn parse(text: &str, file_name: &str) -> Result<DeviceSpec, toml_tree::Error> {
    toml_tree::parse(text, "keep one of the two")
        .and_then(|document| <DeviceSpec as Form>::read(Value(&document)))
        .map_err(|complaint| toml_tree::Error::new(file_name, text, complaint))
}

/// Writes a device so that [`parse`] gives the same one.
pub fn render(spec: &DeviceSpec) -> String {
    table::body::<DeviceSpec>(spec, String::new())
}

/// More than any description holds: a disk named in its place would fill the memory.
const LARGEST: u64 = 16 << 20;

/// The text of a file, unless it is too large to be a device.
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
