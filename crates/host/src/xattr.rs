//! Extended attributes that hold a text.

use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The attribute of what `path` leads to; `None` where it has none, or none that is a short text.
pub fn xattr(path: &Path, name: &CStr) -> Option<String> {
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    let mut text = [0; 128];
    // SAFETY: both names end in a zero byte, and the length is that of the buffer.
    let len = unsafe {
        libc::getxattr(
            path.as_ptr(),
            name.as_ptr(),
            text.as_mut_ptr().cast(),
            text.len(),
        )
    };
    let text = text.get(..usize::try_from(len).ok()?)?;
    Some(std::str::from_utf8(text).ok()?.to_owned())
}

/// Sets the attribute of what `path` leads to, where the file system keeps such attributes.
pub fn set_xattr(path: &Path, name: &CStr, text: &str) {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else {
        return;
    };
    // SAFETY: both names end in a zero byte, and the length is that of the text.
    unsafe {
        libc::setxattr(
            path.as_ptr(),
            name.as_ptr(),
            text.as_ptr().cast(),
            text.len(),
            0,
        )
    };
}
