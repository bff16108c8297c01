//! Extended attributes that hold a text.

use std::ffi::CStr;
use std::path::Path;

use rustix::fs::{XattrFlags, getxattr, setxattr};

/// The attribute of what `path` leads to; `None` where it has none, or none that is a short text.
pub fn xattr(path: &Path, name: &CStr) -> Option<String> {
    let mut text = [0; 128];
    let len = getxattr(path, name, &mut text).ok()?;
    Some(std::str::from_utf8(&text[..len]).ok()?.to_owned())
}

/// Sets the attribute of what `path` leads to, where the file system keeps such attributes.
pub fn set_xattr(path: &Path, name: &CStr, text: &str) {
    let _ = setxattr(path, name, text.as_bytes(), XattrFlags::empty());
}
