//! In: a line of the index. Out: its parts, or that it is none of ours.
//!
//! ```text
//!  VERSION ID SECONDS NANOSECONDS BYTES LENGTH ⇥ {"name":"quick", …} ⇥ TEXT
//!          │  └──────────┬──────────┘     │    └─────────┬────────────────┘
//!          run      of its record         └ in bytes ────┘
//! ```
//!
//! A line that was cut short, or that another one was written into, has another length than it
//! names.

use blocklab_units::visible;
use std::borrow::Cow;

use crate::listing::{Folder, Stamp};

/// The parts of a line.
pub(super) struct Line<'l> {
    pub(super) id: &'l str,
    /// Of the record from which it was derived.
    pub(super) stamp: Stamp,
    /// What every list needs.
    pub(super) front: &'l str,
    /// What is read run by run.
    pub(super) text: &'l str,
}

/// The line of a run, with its end.
pub(super) fn write(version: &str, folder: &Folder, front: &str, text: &str) -> String {
    let (seconds, nanoseconds) = folder.stamp.modified;
    let bytes = folder.stamp.bytes;
    let length = front.len() + 1 + text.len();
    let id = &folder.id;
    format!("{version} {id} {seconds} {nanoseconds} {bytes} {length}\t{front}\t{text}\n")
}

/// The parts of a line of this version; `None`: another version, cut short, or no line at all.
pub(super) fn read<'l>(version: &str, line: &'l [u8]) -> Option<Line<'l>> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (key, rest) = line.strip_prefix(version)?.split_once('\t')?;
    let mut fields = key.strip_prefix(' ')?.split(' ');
    let id = fields.next()?;
    let mut number = || fields.next()?.parse::<i64>().ok();
    let modified = (number()?, number()?);
    let bytes = u64::try_from(number()?).ok()?;
    if usize::try_from(number()?).ok()? != rest.len() {
        return None;
    }
    let (front, text) = rest.split_once('\t')?;
    is_visible(front).then_some(Line {
        id,
        stamp: Stamp { modified, bytes },
        front,
        text,
    })
}

/// Whether a terminal may show every text in this JSON: those of our own lines are so before they
/// are written, but a copied store may bring the lines of somebody else.
pub(super) fn is_visible(json: &str) -> bool {
    let mut escapes = json.split('\\').skip(1);
    let is_plain = |escaped: &str| escaped.starts_with('"');
    // Two backslashes leave an empty part between them, and the next one is plain text.
    while let Some(escaped) = escapes.next() {
        if escaped.is_empty() && escapes.next().is_some() {
            continue;
        }
        if !is_plain(escaped) {
            return false;
        }
    }
    json.is_ascii() && !json.bytes().any(|byte| byte.is_ascii_control())
        || matches!(visible(json), Cow::Borrowed(_))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn folder() -> Folder {
        Folder {
            id: "20261120-190142-k3f".to_owned(),
            partial: false,
            stamp: Stamp {
                modified: (1_795_000_000, 7),
                bytes: 12_345,
            },
        }
    }

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let text = write("1", &folder(), r#"{"name":"a \"b\" \\c"}"#, "[1,2]");
        let line = read("1", text.as_bytes()).expect("a line");
        assert_eq!(line.id, folder().id);
        assert_eq!(line.stamp, folder().stamp);
        assert_eq!(
            (line.front, line.text),
            (r#"{"name":"a \"b\" \\c"}"#, "[1,2]")
        );
        assert!(read("2", text.as_bytes()).is_none(), "another version");
    }

    #[test]
    fn what_a_terminal_would_obey_is_no_line_of_ours() {
        for (front, expected) in [
            (r#"{"name":"plain"}"#, true),
            (r#"{"name":"Größe \\ \" ü"}"#, true),
            (r#"{"name":"\u001b[2J"}"#, false),
            (r#"{"name":"\\\u001b"}"#, false),
            (r#"{"name":"\n"}"#, false),
            ("{\"name\":\"\u{1b}[2J\"}", false),
            ("{\"name\":\"\u{202e}\"}", false),
        ] {
            assert_eq!(is_visible(front), expected, "{front:?}");
        }
    }

    proptest! {
        /// Wherever a line is cut, it is none, and neither is it with the whole line that the next
        /// writer put behind the cut.
        #[test]
        fn a_line_that_was_cut_is_none(cut in 1_usize..70) {
            let whole = write("1", &folder(), r#"{"name":"quick"}"#, "[1,2,3]");
            let cut = &whole[..whole.len().saturating_sub(cut).max(1)];
            prop_assert!(read("1", cut.as_bytes()).is_none());
            let both = format!("{cut}{whole}");
            prop_assert!(read("1", both.as_bytes()).is_none());
        }

        #[test]
        fn any_bytes_are_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read("1", &bytes);
        }
    }
}
