//! In: the bytes of a file. Out: its text, also where Windows wrote it: UTF-8 and UTF-16 with and
//! without a byte order mark.

/// UTF-8 or UTF-16 of either byte order as text. UTF-16 is recognised by its byte order mark, which
/// PowerShell's `>` writes, or by zeros in every other byte of the first four. `None` for other
/// encodings.
pub fn text(bytes: Vec<u8>) -> Option<String> {
    match utf16_of(&bytes) {
        Some(text) => text,
        None => String::from_utf8(without_mark(bytes)).ok(),
    }
}

/// As [`text`], for a log that other programs write into too: an invalid byte becomes U+FFFD.
pub fn text_of_log(bytes: Vec<u8>) -> String {
    // UTF-16 of a log has a zero in each character of ASCII; without one in the beginning, the bytes
    // of a mark are just invalid UTF-8.
    if bytes.iter().take(64).any(|byte| *byte == 0)
        && let Some(Some(text)) = utf16_of(&bytes)
    {
        return text;
    }
    String::from_utf8(without_mark(bytes))
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn without_mark(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.starts_with(&[0xef, 0xbb, 0xbf]) {
        bytes.drain(..3);
    }
    bytes
}

/// `None` if the bytes are not UTF-16, `Some(None)` if they are invalid UTF-16.
fn utf16_of(bytes: &[u8]) -> Option<Option<String>> {
    match bytes {
        [0xff, 0xfe, rest @ ..] => Some(utf16(rest, u16::from_le_bytes)),
        [0xfe, 0xff, rest @ ..] => Some(utf16(rest, u16::from_be_bytes)),
        [first, 0, second, 0, ..] if *first != 0 && *second != 0 => {
            Some(utf16(bytes, u16::from_le_bytes))
        }
        [0, first, 0, second, ..] if *first != 0 && *second != 0 => {
            Some(utf16(bytes, u16::from_be_bytes))
        }
        _ => None,
    }
}

/// An odd byte at the end is dropped: the file is truncated, and the parsers report what is missing.
fn utf16(bytes: &[u8], parse: fn([u8; 2]) -> u16) -> Option<String> {
    let pairs = bytes.chunks_exact(2);
    let units: Vec<u16> = pairs.map(|pair| parse([pair[0], pair[1]])).collect();
    String::from_utf16(&units).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(order).collect()
    }

    #[test]
    fn what_windows_writes_is_read() {
        let words = "Prüfung\r\n";
        let little = wide(words, u16::to_le_bytes);
        let big = wide(words, u16::to_be_bytes);
        for bytes in [
            words.as_bytes().to_vec(),
            [&[0xef, 0xbb, 0xbf], words.as_bytes()].concat(),
            [&[0xff, 0xfe], &little[..]].concat(),
            [&[0xfe, 0xff], &big[..]].concat(),
            little,
            big,
        ] {
            assert_eq!(text(bytes.clone()).as_deref(), Some(words), "{bytes:?}");
            assert_eq!(text_of_log(bytes), words);
        }
    }

    #[test]
    fn other_encodings_are_no_text() {
        assert_eq!(text(b"Pr\xfcfung".to_vec()), None);
        assert_eq!(text(vec![0xff, 0xfe, 0x00, 0xd8]), None);
        assert_eq!(text(Vec::new()).as_deref(), Some(""));
    }

    /// A stray byte at the end of `kubectl logs` made a log of many runs "neither UTF-8 nor UTF-16".
    #[test]
    fn a_stray_byte_in_a_log_is_one_letter() {
        for (bytes, shown) in [
            (&b"a\nb\xff\xfe"[..], "a\nb\u{fffd}\u{fffd}"),
            (b"\xff\xfea\nb", "\u{fffd}\u{fffd}a\nb"),
            (b"a\x00b", "a\0b"),
        ] {
            assert_eq!(text_of_log(bytes.to_vec()), shown);
        }
    }
}
