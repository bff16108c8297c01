//! In: the moment at which a run starts, and a random number. Out: its id; and whether a text is one.
//!
//! A file of its own: an id is a format that folders, users and links rely on.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Digits and letters in their ASCII order, without those that look like others (i, l, o, u).
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The id of a run that starts at `now`.
///
/// ```text
///  20261120-190142-k3f
///  date     time   |└┴─ ten bits of `salt`
///  UTC             └─── the 32nd part of that second
/// ```
///
/// Ids sort by their start, to 1/32 s. Two runs in the same moment differ by chance only, so the
/// store looks whether the id is taken.
pub(crate) fn compose(now: Timestamp, salt: u64) -> String {
    let time = now.to_zoned(TimeZone::UTC);
    let part = i64::from(time.subsec_nanosecond()) * 32 / 1_000_000_000;
    let mut id = time.strftime("%Y%m%d-%H%M%S-").to_string();
    for digit in [part as u64, salt >> 5, salt] {
        id.push(char::from(ALPHABET[(digit & 31) as usize]));
    }
    assert!(is_id(&id), "{now} gives the id `{id}`, which is none");
    id
}

/// Whether a text has the form of the ids that the store gives to runs.
pub fn is_id(text: &str) -> bool {
    let mut bytes = text.bytes().enumerate();
    text.len() == 19
        && bytes.all(|(at, byte)| match at {
            0..8 | 9..15 => byte.is_ascii_digit(),
            8 | 15 => byte == b'-',
            _ => ALPHABET.contains(&byte),
        })
}

/// The id that a run of the same moment with the next salt has.
pub(crate) fn next(id: &str) -> String {
    assert!(is_id(id), "`{id}` has no next one");
    let (moment, salt) = id.split_at(id.len().saturating_sub(2));
    let mut number = 0;
    for digit in salt.bytes() {
        let value = ALPHABET.iter().position(|known| *known == digit);
        number = number << 5 | value.unwrap_or(0);
    }
    number += 1;
    let mut next = moment.to_owned();
    for digit in [number >> 5, number] {
        next.push(char::from(ALPHABET[digit & 31]));
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_id_is_of_the_same_moment() {
        assert_eq!(next("20261120-190142-k00"), "20261120-190142-k01");
        assert_eq!(next("20261120-190142-k0z"), "20261120-190142-k10");
        assert_eq!(next("20261120-190142-kzz"), "20261120-190142-k00");
    }

    #[track_caller]
    fn check(now: &str, salt: u64, id: &str) {
        assert_eq!(compose(now.parse().expect("a time"), salt), id);
    }

    #[test]
    fn the_parts_of_an_id() {
        check("2026-11-20T19:01:42Z", 0, "20261120-190142-000");
        check("2026-11-20T19:01:42Z", 33, "20261120-190142-011");
        check("2026-11-20T20:01:42.5+01:00", 1023, "20261120-190142-gzz");
        check(
            "2026-01-02T03:04:05.999999999Z",
            u64::MAX,
            "20260102-030405-zzz",
        );
    }

    #[test]
    fn other_names_are_no_ids() {
        assert!(is_id("20261120-190142-k3f"));
        for text in [
            "",
            "zoe",
            "20261120-190142-k3",
            "20261120-190142-k3ff",
            "20261120-190142-k3l",
            "20261120-190142-K3F",
            "20261120/190142-k3f",
            "../20261120-190142-",
            "20261120-190142-é3",
        ] {
            assert!(!is_id(text), "{text}");
        }
    }

    #[test]
    fn ids_sort_by_time_whatever_the_salt() {
        let times = [
            "2025-12-31T23:59:59.9Z",
            "2026-01-01T00:00:00Z",
            "2026-01-01T00:00:00.04Z",
            "2026-01-01T00:00:01Z",
            "2026-10-01T00:00:00Z",
        ];
        let salts = [900, 3, 700, 1, 0];
        let ids: Vec<String> = times
            .iter()
            .zip(salts)
            .map(|(time, salt)| compose(time.parse().expect("a time"), salt))
            .collect();
        assert!(ids.is_sorted(), "{ids:?}");
    }
}
