//! Bytes of a file as text, in the encodings that Windows writes.

/// UTF-8 with or without its mark, or UTF-16 of either order: with its mark, as PowerShell's `>`
/// writes it, or without one where every other byte of the beginning is zero. Nothing for other
/// encodings.
pub fn text(bytes: &[u8]) -> Option<String> {
    match bytes {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [first, 0, second, 0, ..] if *first != 0 && *second != 0 => {
            utf16(bytes, u16::from_le_bytes)
        }
        [0, first, 0, second, ..] if *first != 0 && *second != 0 => {
            utf16(bytes, u16::from_be_bytes)
        }
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8(rest.to_vec()).ok(),
        _ => String::from_utf8(bytes.to_vec()).ok(),
    }
}

/// Half a character at the end is one that was cut off: the parsers report what is missing.
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
            assert_eq!(text(&bytes).as_deref(), Some(words), "{bytes:?}");
        }
    }

    #[test]
    fn other_encodings_are_no_text() {
        assert_eq!(text(b"Pr\xfcfung"), None);
        assert_eq!(text(&[0xff, 0xfe, 0x00, 0xd8]), None);
        assert_eq!(text(b"").as_deref(), Some(""));
    }
}
