//! Exit statuses, as the help text promises them.

/// Everything was done as requested.
pub const DONE: u8 = 0;
/// The run failed: what was measured is kept.
pub const FAILED: u8 = 1;
/// The request cannot be met as it is written.
pub const MISTAKE: u8 = 2;
/// What `--fail-on` forbids is shown.
pub const NOT_PASSED: u8 = 4;
/// Under `--strict`: what `--fail-on` forbids is neither shown nor excluded.
pub const UNDECIDED: u8 = 5;
/// As a shell counts a program ended by Ctrl-C.
pub const INTERRUPTED: u8 = 130;
