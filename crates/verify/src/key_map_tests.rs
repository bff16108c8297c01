//! Stories of a map of keys: of blocks in use, stale blocks, and writes of a run that was killed.

use super::*;
use crate::sector::WrongKind;

fn plan(times: bool) -> KeyPlan {
    KeyPlan {
        name: "sd1".to_owned(),
        block: 1024,
        compress_percent: 0,
        times,
    }
}

fn map() -> KeyMap {
    let map = KeyMap::new(&plan(true), 8192, Arc::default());
    map.begin_run("rd1");
    map
}

/// Writes blocks as a job would, and returns the bytes.
fn write(map: &KeyMap, offset: u64, len: u64, micros: u64) -> Vec<u8> {
    let mut bytes = vec![0; len as usize];
    map.claim(offset, len).expect("it is free");
    map.fill(&mut bytes, offset, micros);
    map.written(offset, len, micros);
    map.release(offset, len);
    bytes
}

fn read(map: &KeyMap, bytes: &[u8], offset: u64) -> Vec<WrongBlock> {
    map.claim(offset, bytes.len() as u64).expect("it is free");
    let wrong = map.compare(bytes, offset, 9);
    map.release(offset, bytes.len() as u64);
    wrong
}

#[test]
fn blocks_in_use_are_taken_and_wrong_ones_stay_so() {
    let map = map();
    assert_eq!(map.claim(1024, 2048), Ok(false));
    assert_eq!(map.claim(2048, 1024), Err(Taken::Busy));
    assert_eq!(map.claim(3072, 1024), Ok(false));
    map.release(1024, 2048);
    write(&map, 1024, 2048, 1);
    assert_eq!(read(&map, &[0; 1024], 1024).len(), 1);
    assert_eq!(map.claim(1024, 1024), Err(Taken::Bad));
    assert_eq!(map.wrongs(), 1);
}

/// An old copy put back: found with both keys and the last good operation of the block.
#[test]
fn a_stale_block_is_found_with_its_history() {
    let map = map();
    let old = write(&map, 1024, 2048, 5);
    let new = write(&map, 2048, 1024, 6);
    assert!(read(&map, &new, 2048).is_empty());
    let wrong = read(&map, &old, 1024);
    assert_eq!(wrong.len(), 1, "the first of the two blocks is as it was");
    let wrong = &wrong[0];
    assert_eq!((wrong.offset, wrong.expected_key), (2048, 2));
    assert_eq!(wrong.sectors[0].kind, WrongKind::Stale);
    assert_eq!(
        (wrong.sectors[0].found_key, wrong.sectors[0].found_micros),
        (1, 5)
    );
    let (good, run) = wrong.good.as_ref().expect("times are kept");
    assert_eq!((good.micros, good.wrote, &**run), (9, false, "rd1"));
    assert_eq!(
        wrong.to_string(),
        "block at 0x800 of sd1: 2 of 2 sectors are wrong; the first, at 0x800: another write \
         of this place; key 2 expected, 1 found"
    );
}

#[test]
fn keys_begin_again_after_the_last_one() {
    let map = map();
    for _ in 0..u32::from(LAST_KEY) {
        write(&map, 0, 1024, 1);
    }
    assert_eq!(map.coming(0, 1024), [(0, 1)]);
}

#[test]
fn a_failed_write_leaves_an_unknown_block() {
    let map = map();
    write(&map, 0, 1024, 1);
    map.claim(0, 1024).expect("it is free");
    map.lost(0, 1024);
    map.release(0, 1024);
    assert!(read(&map, &[0; 1024], 0).is_empty());
    assert_eq!(map.claim(0, 1024), Ok(false), "its key is not known");
}

/// Before, after, torn, and neither.
#[test]
fn a_write_in_flight_may_be_there_or_not() {
    let sectors = Sectors::new("sd1", 0);
    let bytes = |first: u8, second: u8| {
        let mut bytes = vec![0; 1024];
        sectors.write(&mut bytes[..512], 1024, first, 0);
        sectors.write(&mut bytes[512..], 1536, second, 0);
        bytes
    };
    for (before, found, settled, wrong) in [
        (
            4,
            bytes(5, 5),
            Settled {
                arrived: 1,
                ..Settled::default()
            },
            0,
        ),
        (
            4,
            bytes(4, 4),
            Settled {
                absent: 1,
                ..Settled::default()
            },
            0,
        ),
        (
            4,
            bytes(5, 4),
            Settled {
                torn: 1,
                ..Settled::default()
            },
            0,
        ),
        (
            0,
            bytes(9, 9),
            Settled {
                unknown: 1,
                ..Settled::default()
            },
            0,
        ),
        (4, bytes(3, 5), Settled::default(), 1),
    ] {
        let pending = BTreeMap::from([(1, Pending { before, after: 5 })]);
        let map = KeyMap::known(&plan(false), vec![0; 8], pending, Arc::default());
        assert_eq!(read(&map, &found, 1024).len(), wrong);
        assert_eq!(map.settled(), settled);
    }
}

/// The story: a write was in flight when its run ended and never arrived, and one byte of the content
/// from before it was changed. The report called the sector one of another write, with the key that it
/// expected, because each sector was compared with the write in flight alone.
#[test]
fn damage_of_the_content_before_a_write_in_flight_is_changed_data() {
    let mut bytes = vec![0; 1024];
    Sectors::new("sd1", 0).write(&mut bytes, 1024, 3, 0);
    bytes[512 + 40] ^= 1;
    let pending = BTreeMap::from([(
        1,
        Pending {
            before: 3,
            after: 4,
        },
    )]);
    let map = KeyMap::known(&plan(false), vec![0; 8], pending, Arc::default());
    let wrong = read(&map, &bytes, 1024);
    assert_eq!(wrong[0].sectors.len(), 1);
    assert_eq!(wrong[0].sectors[0].kind, WrongKind::Data(40));
    assert_eq!((wrong[0].expected_key, wrong[0].or_key), (3, Some(4)));
}
