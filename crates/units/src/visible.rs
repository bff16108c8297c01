//! In: text from outside, such as names of files and output of other programs. Out: the same text
//! with escapes for everything that would control the terminal.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with every character that controls a terminal, or that changes how others are read, as
/// an escape: `\u001b`. Line ends and tabs are escaped too, so that a name stays on its line.
///
/// The escapes are JSON's, so in JSON they mean the same characters.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// As [`visible`], but line ends and tabs stay.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    // A carriage return without a line feed would let the rest overwrite the line.
    escaped(text, |rest| {
        rest.starts_with(['\n', '\t']) || rest.starts_with("\r\n")
    })
}

/// Escapes hidden characters, except where `stays` accepts the text that begins with one.
fn escaped(text: &str, stays: impl Fn(&str) -> bool) -> Cow<'_, str> {
    let mut hidden = text
        .char_indices()
        .filter(|(at, character)| is_hidden(*character) && !stays(&text[*at..]))
        .peekable();
    if hidden.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let (mut shown, mut copied) = (String::with_capacity(text.len()), 0);
    for (at, character) in hidden {
        shown.push_str(&text[copied..at]);
        // JSON's escapes are units of UTF-16: some characters take two.
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing to a String cannot fail.
            let _ = write!(shown, "\\u{unit:04x}");
        }
        copied = at + character.len_utf8();
    }
    shown.push_str(&text[copied..]);
    Cow::Owned(shown)
}

/// Control characters (C0, DEL, C1) and those of Unicode that format: directions, joiners, marks
/// that show nothing, tags, line separators.
fn is_hidden(character: char) -> bool {
    match character {
        // First, as nearly all are: a text of megabytes passes here.
        ' '..='~' => false,
        '\u{ad}'
        | '\u{600}'..='\u{605}'
        | '\u{61c}'
        | '\u{6dd}'
        | '\u{70f}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{110bd}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e007f}' => true,
        other => other.is_control(),
    }
}

/// A word as it must be typed in a shell: in quotes, if it has other characters than letters, digits
/// and a few signs.
pub fn shell_word(word: &str) -> String {
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "/._-+=:@%".contains(sign);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        for (text, expected) in [
            ("rand4k, µs, 日本 – ok", "rand4k, µs, 日本 – ok"),
            ("\x1b[31mred\x1b[0m", "\\u001b[31mred\\u001b[0m"),
            ("\x1b]0;title\x07", "\\u001b]0;title\\u0007"),
            ("\u{9b}8m\u{7f}", "\\u009b8m\\u007f"),
            ("a\u{202e}fdp.exe\u{2066}", "a\\u202efdp.exe\\u2066"),
            ("\u{e0041}\u{feff}", "\\udb40\\udc41\\ufeff"),
        ] {
            assert_eq!(visible(text), expected);
            assert_eq!(visible_lines(text), expected);
        }
    }

    #[test]
    fn lines_stay_where_they_are_wanted() {
        assert_eq!(visible("a\nb\tc"), "a\\u000ab\\u0009c");
        assert_eq!(visible_lines("a\nb\tc\r\nd"), "a\nb\tc\r\nd");
        assert_eq!(visible_lines("real\rfake"), "real\\u000dfake");
    }
}
