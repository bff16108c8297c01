//! Reads records of a known size from a binary file.

use std::io::Read;

use crate::TraceError;

/// Fills a buffer, and gives the number of bytes: fewer only at the end of the input.
pub(crate) fn fill(input: &mut impl Read, buffer: &mut [u8]) -> Result<usize, TraceError> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(why) if why.kind() == std::io::ErrorKind::Interrupted => {}
            Err(why) => return Err(TraceError::read(&why)),
        }
    }
    Ok(filled)
}
