//! In: a line of the index. Out: its parts, or that it is damaged.
//!
//! ```text
//!  VERSION ID SECONDS NANOSECONDS BYTES FRONT TEXT ⇥ {"name":"quick", …} ⇥ {"loads":[…]}
//!          │  └──────────┬──────────┘     │    │     └──── FRONT ───────┘   └── TEXT ───┘
//!          run      of its record         └─ bytes of the two parts
//! ```
//!
//! A line that was cut short, or that another one was written into, has other lengths than it
//! names. By them a reader also finds the next line without looking at each byte of this one.

use blocklab_units::visible;
use std::borrow::Cow;

use crate::listing::{Folder, Stamp};

/// No key is longer, whatever version it names.
const LONGEST_KEY: usize = 256;

/// The parts of a line.
pub(super) struct Line<'l> {
    pub(super) id: &'l str,
    /// Of the record from which it was derived.
    pub(super) stamp: Stamp,
    /// What every list needs.
    pub(super) front: &'l str,
    /// What is read run by run. No list reads it, so that it may be no UTF-8 yet.
    pub(super) text: &'l [u8],
}

/// The line of a run, with its end.
pub(super) fn write(version: &str, folder: &Folder, front: &str, text: &str) -> String {
    let (seconds, nanoseconds) = folder.stamp.modified;
    let bytes = folder.stamp.bytes;
    let (front_bytes, text_bytes) = (front.len(), text.len());
    let id = &folder.id;
    format!(
        "{version} {id} {seconds} {nanoseconds} {bytes} {front_bytes} {text_bytes}\t{front}\t{text}\n"
    )
}

/// The first line of these bytes, with its end; `None` unless it is whole and of the lengths that it names.
pub(super) fn first(bytes: &[u8]) -> Option<&[u8]> {
    let tab = bytes.iter().take(LONGEST_KEY).position(is_tab)?;
    let key = str::from_utf8(&bytes[..tab]).ok()?;
    if key.contains('\n') {
        // That of the next line: this one has none.
        return None;
    }
    let mut lengths = key.rsplitn(3, ' ');
    let text: usize = lengths.next()?.parse().ok()?;
    let front: usize = lengths.next()?.parse().ok()?;
    let parts = front.checked_add(text)?.checked_add("\t\t\n".len())?;
    let line = bytes.get(..tab.checked_add(parts)?)?;
    line.ends_with(b"\n").then_some(line)
}

/// The parts of a line of this version; `None`: another version, cut short, or no line at all.
pub(super) fn read<'l>(version: &str, line: &'l [u8]) -> Option<Line<'l>> {
    let line = line.strip_suffix(b"\n")?;
    let parts = line.strip_prefix(version.as_bytes())?.strip_prefix(b" ")?;
    let (key, parts) = parts.split_at(parts.iter().position(is_tab)?);
    let mut fields = str::from_utf8(key).ok()?.split(' ');
    let id = fields.next()?;
    let modified = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    let bytes = fields.next()?.parse().ok()?;
    let front_bytes: usize = fields.next()?.parse().ok()?;
    let text_bytes: usize = fields.next()?.parse().ok()?;
    let (front, text) = parts[1..].split_at_checked(front_bytes)?;
    let text = text.strip_prefix(b"\t")?;
    let front = str::from_utf8(front).ok()?;
    (text.len() == text_bytes && is_visible(front)).then_some(Line {
        id,
        stamp: Stamp { modified, bytes },
        front,
        text,
    })
}

const fn is_tab(byte: &u8) -> bool {
    *byte == b'\t'
}

/// Whether a terminal may show every text in this JSON: those of our own lines are so before they
/// are written, but a copied store may bring the lines of somebody else.
pub(super) fn is_visible(json: &str) -> bool {
    // A list looks at megabytes of such texts, nearly all of them plain. Without an early end, the compiler
    // makes instructions that compare many bytes at once.
    let is_plain = (json.bytes()).fold(true, |is_plain, byte| {
        is_plain & matches!(byte, b' '..=b'~') & (byte != b'\\')
    });
    if is_plain {
        return true;
    }
    let mut escapes = json.split('\\').skip(1);
    // Two backslashes leave an empty part between them, and the next one is plain text.
    while let Some(escaped) = escapes.next() {
        if escaped.is_empty() && escapes.next().is_some() {
            continue;
        }
        if !escaped.starts_with('"') {
            return false;
        }
    }
    matches!(visible(json), Cow::Borrowed(_))
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
        assert_eq!(
            first(&[text.as_bytes(), b"more"].concat()),
            Some(text.as_bytes())
        );
        let line = read("1", text.as_bytes()).expect("a line");
        assert_eq!(line.id, folder().id);
        assert_eq!(line.stamp, folder().stamp);
        assert_eq!(
            (line.front, line.text),
            (r#"{"name":"a \"b\" \\c"}"#, &b"[1,2]"[..])
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
            // A reader that goes by lengths ends where the line ends, or does not know.
            prop_assert!(first(cut.as_bytes()).is_none());
            prop_assert!(first(both.as_bytes()).is_none_or(|line| line == both.as_bytes()));
        }

        #[test]
        fn any_bytes_are_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = (first(&bytes), read("1", &bytes));
        }
    }
}
