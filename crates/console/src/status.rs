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

/// The exit status of two results of one command: the more severe one, and [`DONE`] only if both are done.
/// Of two failures, the more severe one has the lower number.
#[must_use]
pub const fn graver(one: u8, other: u8) -> u8 {
    match (one, other) {
        (DONE, status) | (status, DONE) => status,
        (one, other) if one < other => one,
        (_, other) => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: a fleet on one, two and four hosts ended with 0 although a run of it broke what
    /// `--fail-on` asked.
    #[test]
    fn no_later_result_hides_a_failure() {
        assert_eq!(graver(DONE, DONE), DONE);
        assert_eq!(graver(NOT_PASSED, DONE), NOT_PASSED);
        assert_eq!(graver(UNDECIDED, NOT_PASSED), NOT_PASSED);
        assert_eq!(graver(NOT_PASSED, UNDECIDED), NOT_PASSED);
        assert_eq!(graver(FAILED, NOT_PASSED), FAILED);
    }
}
