use std::fs::File;
use std::io::Read;

use anyhow::{Context, Result};

/// 64 bits from the kernel: the only chance in the house that is not from a seed.
///
/// # Errors
/// Where the kernel gives none.
pub fn chance() -> Result<u64> {
    let mut bytes = [0; 8];
    let source = "/dev/urandom";
    File::open(source)
        .and_then(|mut file| file.read_exact(&mut bytes))
        .with_context(|| format!("cannot read {source}"))?;
    Ok(u64::from_le_bytes(bytes))
}
