//! The exit statuses that the help text promises, in one place for all commands.

/// Everything was done as requested.
pub const DONE: u8 = 0;
/// The run failed; what was measured is kept.
pub const FAILED: u8 = 1;
/// Invalid request.
pub const MISTAKE: u8 = 2;
/// Hosts of a fleet were lost: what the others measured is kept.
pub const INCOMPLETE: u8 = 3;
/// The measurement shows what `--fail-on` forbids.
pub const NOT_PASSED: u8 = 4;
/// With `--strict`: the measurement neither shows nor excludes what `--fail-on` forbids.
pub const UNDECIDED: u8 = 5;
/// What a shell reports of a program that Ctrl-C ended.
pub const INTERRUPTED: u8 = 130;
