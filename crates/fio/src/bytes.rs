//! Patterns of bytes: `0xdeadbeef`, `"text"`, `'FILE'`, `-12`, `%o`, any of them in a row.

use blocklab_workload::PatternPart;

/// What a file holds, or why it cannot be read.
pub(super) type Reader<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, String>;

/// As in later fio; fio 3.33 takes 512 bytes. What files hold beyond it is left out.
const LONGEST: usize = 1 << 20;

/// Bytes of the offset that `%o` inserts.
const OFFSET_LEN: usize = 8;

/// The bytes of a pattern without `%o`, at most 1 MiB.
pub(super) fn pattern(text: &str, read: Reader<'_>) -> Result<Vec<u8>, String> {
    match &parts(text, read)?[..] {
        [PatternPart::Bytes(bytes)] => Ok(bytes.clone()),
        _ => Err(wrong(text)),
    }
}

/// The parts of a pattern, at most 1 MiB; `%o` is the offset of the block.
pub(super) fn parts(text: &str, read: Reader<'_>) -> Result<Vec<PatternPart>, String> {
    let mut parts = Vec::new();
    let mut bytes = Vec::new();
    let mut used = 0;
    let mut rest = text.trim();
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix("%o") {
            if !bytes.is_empty() {
                parts.push(PatternPart::Bytes(std::mem::take(&mut bytes)));
            }
            parts.push(PatternPart::Offset);
            used += OFFSET_LEN;
            rest = behind;
            continue;
        }
        let (mut piece, behind) = piece(rest, text, read)?;
        // A file may be of any length, so it is cut; a written pattern that is too long is refused
        // below.
        if rest.starts_with('\'') {
            piece.truncate(LONGEST.saturating_sub(used));
        }
        used += piece.len();
        bytes.append(&mut piece);
        rest = behind;
    }
    if !bytes.is_empty() {
        parts.push(PatternPart::Bytes(bytes));
    }
    match used {
        1..=LONGEST => Ok(parts),
        _ => Err(wrong(text)),
    }
}

/// The bytes of the first piece, and the text after it.
fn piece<'a>(rest: &'a str, all: &str, read: Reader<'_>) -> Result<(Vec<u8>, &'a str), String> {
    for mark in ['"', '\''] {
        let Some(quoted) = rest.strip_prefix(mark) else {
            continue;
        };
        let (text, after) = quoted
            .split_once(mark)
            .ok_or_else(|| format!("`{all}`: a quotation mark is missing"))?;
        // Double quotes enclose text; single quotes the path of a file with the bytes.
        let bytes = match mark {
            '"' => text.as_bytes().to_vec(),
            _ => read(text).map_err(|why| format!("`{text}`: {why}"))?,
        };
        return Ok((bytes, after));
    }
    let found = match rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X")) {
        Some(digits) => hexadecimal(digits),
        None => decimal(rest),
    };
    found.ok_or_else(|| wrong(all))
}

/// How many bytes of the text are digits of this base. The `0` of a `0x` that follows is not one.
fn digits(text: &str, base: u32) -> usize {
    let end = text.find(|c: char| !c.is_digit(base)).unwrap_or(text.len());
    if text[end..].starts_with(['x', 'X']) && text[..end].ends_with('0') {
        end - 1
    } else {
        end
    }
}

/// Bytes from the left; of an odd number of digits the first byte has one.
fn hexadecimal(text: &str) -> Option<(Vec<u8>, &str)> {
    let (digits, behind) = text.split_at(digits(text, 16));
    let (first, pairs) = digits.split_at(digits.len() % 2);
    let pairs = (0..pairs.len()).step_by(2).map(|at| &pairs[at..at + 2]);
    let first = Some(first).filter(|digit| !digit.is_empty());
    let bytes = first.into_iter().chain(pairs);
    let bytes: Vec<u8> = bytes
        .map(|byte| u8::from_str_radix(byte, 16).ok())
        .collect::<Option<_>>()?;
    (!bytes.is_empty()).then_some((bytes, behind))
}

/// A number of 32 bits, low byte first, without the zeros above it.
fn decimal(text: &str) -> Option<(Vec<u8>, &str)> {
    let text = text.trim_start();
    let sign = usize::from(text.starts_with(['-', '+']));
    let (number, behind) = text.split_at(sign + digits(&text[sign..], 10));
    let bytes = number.parse::<i32>().ok()?.to_le_bytes();
    let last = bytes.iter().rposition(|byte| *byte != 0).unwrap_or(0);
    Some((bytes[..=last].to_vec(), behind))
}

fn wrong(text: &str) -> String {
    format!("`{text}` is no pattern: 0xdeadbeef, \"text\", 'FILE' or a number would be one")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str) -> Result<Vec<u8>, String> {
        match path {
            "five" => Ok(b"hello".to_vec()),
            "long" => Ok(vec![7; LONGEST + 1]),
            _ => Err("no such file".to_owned()),
        }
    }

    #[test]
    fn patterns_as_people_write_them() {
        for (text, expected) in [
            ("0xdeadbeef", &[0xde, 0xad, 0xbe, 0xef][..]),
            ("0xfff", &[0x0f, 0xff]),
            ("\"ab\"", b"ab"),
            ("\"a\"0xff\"b\"", b"a\xffb"),
            ("10", &[10]),
            ("0", &[0]),
            ("+5", &[5]),
            ("300", &[0x2c, 1]),
            ("1 2", &[1, 2]),
            ("12-3", &[12, 0xfd, 0xff, 0xff, 0xff]),
            ("120xff13", &[12, 0xff, 0x13]),
            ("0x120x34", &[0x12, 0x34]),
            (
                "\"abcd\"-120xdeadface",
                b"abcd\xf4\xff\xff\xff\xde\xad\xfa\xce",
            ),
            ("0xFf'five'", b"\xffhello"),
        ] {
            assert_eq!(pattern(text, &read).as_deref(), Ok(expected), "{text}");
        }
        assert_eq!(
            pattern("1'long'", &read).map(|bytes| bytes.len()),
            Ok(LONGEST)
        );
        for text in [
            "",
            "0x",
            "abc",
            "\"a",
            "0xgg",
            "99999999999",
            "4294967295",
            "12abc",
            "'none'",
            "%o",
            "-",
        ] {
            assert!(pattern(text, &read).is_err(), "{text}");
        }
    }

    #[test]
    fn an_offset_stands_between_bytes() {
        let bytes = |bytes: &[u8]| PatternPart::Bytes(bytes.to_vec());
        let expected = vec![
            bytes(&[0xff]),
            PatternPart::Offset,
            bytes(b"a%ob\xf4\xff\xff\xff"),
        ];
        assert_eq!(parts("0xff%o\"a%ob\"-12", &read), Ok(expected));
        assert!(parts("'long'%o", &read).is_err());
    }
}
