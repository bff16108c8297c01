//! Failures as Linux numbers them, for crates that name no kernel.
//!
//! The numbers are those of `asm-generic/errno.h`, which x86-64, ARM and RISC-V share; the targets
//! hold them against the C library's in a test.

/// The medium failed.
pub const EIO: i32 = 5;
/// No space is left.
pub const ENOSPC: i32 = 28;
/// Data that cannot be right.
pub const EILSEQ: i32 = 84;
/// It took too long.
pub const ETIMEDOUT: i32 = 110;
