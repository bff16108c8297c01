//! In: a way to read bytes of a device or image, and its size.
//! Out: the marks that partition tables, file systems, volume managers and others left there.
//! Never: a judgement whether the mark still counts. A mark is reported wherever it may be;
//! a false alarm costs its reader one option, a miss would cost data.

mod kind;
mod marks;
mod rules;
mod view;

use std::io;

use serde::Serialize;

pub use kind::Kind;
use view::View;

/// A mark that something left on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Signature {
    /// Who left it.
    pub kind: Kind,
    /// Where the mark's structure begins, in bytes from the start.
    pub offset: u64,
}

/// Looks at every place where a known mark may be: at the start, the mirrors and the end of a
/// device of `size` bytes. `read` fills the whole buffer from the given offset; it is never requested
/// for bytes beyond `size`. In the order of the places; a kind appears as often as its mark does.
///
/// Reads about 1 MiB.
///
/// # Errors
/// The first error of `read`; the content is then unknown.
pub fn probe(
    mut read: impl FnMut(u64, &mut [u8]) -> io::Result<()>,
    size: u64,
) -> io::Result<Vec<Signature>> {
    let mut view = View::new(&mut read, size)?;
    let mut found = marks::find(&mut view)?;
    rules::find(&mut view, &mut found)?;
    found.sort_by_key(|signature| (signature.offset, signature.kind));
    found.dedup();
    Ok(found)
}

/// [`probe`] of a device that holds exactly these bytes.
pub fn probe_bytes(image: &[u8]) -> Vec<Signature> {
    let found = probe(
        |offset, buffer| {
            let range = usize::try_from(offset).ok().and_then(|start| {
                let end = start.checked_add(buffer.len())?;
                image.get(start..end)
            });
            buffer.copy_from_slice(range.ok_or(io::ErrorKind::UnexpectedEof)?);
            Ok(())
        },
        image.len() as u64,
    );
    found.unwrap_or_default()
}

#[cfg(test)]
mod tests;
