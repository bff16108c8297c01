//! Files that a user names as scripts, reports or traces, read whole.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use blocklab_units::Bytes;

/// More than any script.
pub const LARGEST_SCRIPT: Bytes = Bytes(64 << 20);
/// More than any report, and a trace of 30 million operations.
pub const LARGEST_REPORT: Bytes = Bytes(1 << 30);

/// Reads a file that holds at most `most` bytes.
///
/// # Errors
/// When it cannot be read, when it is larger, and when it is a block device: a script is easily mixed
/// up with the disk that it is for, and a disk would fill the memory.
pub fn read_input(path: &Path, most: Bytes) -> io::Result<Vec<u8>> {
    if fs::metadata(path)?.file_type().is_block_device() {
        return Err(io::Error::other("it is a block device, not a file of text"));
    }
    read_at_most(File::open(path)?, most)
}

/// Reads a stream that holds at most `most` bytes.
///
/// # Errors
/// When it cannot be read, or is longer.
pub fn read_at_most(from: impl Read, most: Bytes) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most.0 + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most.0 {
        Err(io::Error::other(format!("it is larger than {most}")))
    } else {
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `blocklab run /dev/zero`, a study mixed up with a target, took all memory of the machine.
    #[test]
    fn an_endless_file_is_not_read_to_its_end() {
        let endless = read_input(Path::new("/dev/zero"), Bytes(4096));
        assert_eq!(
            endless.expect_err("endless").to_string(),
            "it is larger than 4 KiB"
        );
        assert_eq!(
            read_at_most(&[7; 4096][..], Bytes(4096))
                .expect("all")
                .len(),
            4096
        );
    }
}
