//! In: the keys of a storage and its writes. Out: the two files that carry them to the next run, as
//! bytes, and back.
//!
//! ```text
//!   map      header 512 | keys, one byte a block, filled up to 512s | trailer 512
//!   journal  records of 512, each with up to 59 entries of 8
//!
//!   header   "BLKEYMAP" | generation 8 | name 8 | block 8 | blocks 8 | how it ended 1 | … | check 4
//!   trailer  "BLKEYEND" | generation 8 | …                    | check of the keys 4 | check 4
//!   record   "BLKEYJNL" | generation 8 | number 8 | entries 8 | 59 × 8 |             | check 4
//!   entry    done 1 bit | key 7 bits | block 56 bits
//! ```
//!
//! Numbers are big endian; a check is the CRC-32C of everything before it. A write has an
//! entry before it begins, and another one if it succeeds. A journal of an older generation than the
//! map is obsolete: the map already contains its writes.

use std::collections::BTreeMap;

/// The highest key.
pub const LAST_KEY: u8 = 126;

/// A write that was in flight when its run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pending {
    /// The key of the block before the write; 0 if unknown.
    pub before: u8,
    /// The key of the write.
    pub after: u8,
}

const RECORD: usize = 512;
const CHECK: usize = RECORD - 4;
const MAP: &[u8; 8] = b"BLKEYMAP";
const END: &[u8; 8] = b"BLKEYEND";
const JOURNAL: &[u8; 8] = b"BLKEYJNL";
const ENTRIES: usize = 59;
const FIRST_ENTRY: usize = 32;
const DONE: u8 = 0x80;

/// The state of the run that wrote a map, by its number in the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapState {
    /// The run has ended, and the map is complete.
    Closed = 1,
    /// The run is going on or was killed; the journal has the writes since the map.
    Journalled,
    /// The run is going on or was killed, and no journal has its writes.
    Open,
}

/// The keys of a storage as a file holds them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedKeys {
    /// Goes up with every map.
    pub generation: u64,
    /// First eight bytes of the storage's name, padded with zeros.
    pub name: [u8; 8],
    /// Bytes that share one key.
    pub block: u64,
    /// The key of each block; 0 if unknown.
    pub keys: Vec<u8>,
    /// The state of the run that wrote them.
    pub state: MapState,
}

/// Why a file of an earlier run cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JournalFault {
    /// The file ends too early.
    #[error("it is truncated: {len} bytes of at least {needed}")]
    Truncated {
        /// Length of the file.
        len: usize,
        /// Length that it should have at least.
        needed: u64,
    },
    /// Bytes that this program did not write, or that have changed.
    #[error("it is damaged at byte {at}: {what}")]
    Damaged {
        /// The byte.
        at: usize,
        /// What is wrong there.
        what: &'static str,
    },
    /// A journal that does not belong to the map.
    #[error("it belongs to another map: its generation is {journal}, that of the map {map}")]
    OtherMap {
        /// The generation of the journal.
        journal: u64,
        /// The generation of the map.
        map: u64,
    },
    /// A map of a killed run that had no journal.
    #[error(
        "the run that wrote it was killed, and with -jm its writes are not in a journal; only a \
         run that ends leaves a usable map"
    )]
    NotClosed,
}

impl SavedKeys {
    /// As a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; RECORD];
        bytes[..8].copy_from_slice(MAP);
        put(&mut bytes, 8, self.generation);
        bytes[16..24].copy_from_slice(&self.name);
        put(&mut bytes, 24, self.block);
        put(&mut bytes, 32, self.keys.len() as u64);
        bytes[40] = self.state as u8;
        seal(&mut bytes);
        bytes.extend_from_slice(&self.keys);
        bytes.resize(bytes.len().next_multiple_of(RECORD), 0);
        let mut trailer = vec![0; RECORD];
        trailer[..8].copy_from_slice(END);
        put(&mut trailer, 8, self.generation);
        let check = crc32c::crc32c(&self.keys);
        trailer[CHECK - 4..CHECK].copy_from_slice(&check.to_be_bytes());
        seal(&mut trailer);
        bytes.extend_from_slice(&trailer);
        bytes
    }

    /// From a file.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, JournalFault> {
        let len = bytes.len();
        let header = bytes.get(..RECORD).ok_or(JournalFault::Truncated {
            len,
            needed: 2 * RECORD as u64,
        })?;
        check(header, MAP, 0)?;
        let blocks = number(header, 32);
        let records = blocks.div_ceil(RECORD as u64).saturating_add(2);
        let needed = records.saturating_mul(RECORD as u64);
        if (len as u64) < needed {
            return Err(JournalFault::Truncated { len, needed });
        }
        // Both are at most the length of the file, so they fit into a usize.
        let (blocks, needed) = (blocks as usize, needed as usize);
        if bytes.len() > needed {
            return Err(damaged(needed, "more bytes than the header states"));
        }
        let keys = &bytes[RECORD..RECORD + blocks];
        let trailer = &bytes[needed - RECORD..needed];
        check(trailer, END, needed - RECORD)?;
        if number(trailer, 8) != number(header, 8) {
            let at = needed - RECORD + 8;
            return Err(damaged(at, "a trailer of another generation"));
        }
        if crc32c::crc32c(keys).to_be_bytes() != trailer[CHECK - 4..CHECK] {
            return Err(damaged(RECORD, "the keys do not match their checksum"));
        }
        // The key after the last one marks a block that came back wrong.
        if let Some(at) = keys.iter().position(|key| *key > LAST_KEY + 1) {
            return Err(damaged(RECORD + at, "a key above 127"));
        }
        let block = number(header, 24);
        if block == 0 || !block.is_multiple_of(512) {
            return Err(damaged(24, "a block size that is not a multiple of 512"));
        }
        let states = [MapState::Closed, MapState::Journalled, MapState::Open];
        let state = states.into_iter().find(|state| *state as u8 == header[40]);
        Ok(Self {
            generation: number(header, 8),
            name: number(header, 16).to_be_bytes(),
            block,
            keys: keys.to_vec(),
            state: state.ok_or(damaged(40, "an unknown state of the run"))?,
        })
    }

    /// Replays a journal on the map. Returns the writes that were in flight at its end.
    ///
    /// # Errors
    /// What is wrong with the journal, and where.
    pub fn replay(&mut self, journal: &[u8]) -> Result<BTreeMap<usize, Pending>, JournalFault> {
        let mut pending = BTreeMap::new();
        if self.state == MapState::Open {
            return Err(JournalFault::NotClosed);
        }
        for (index, record) in journal.chunks(RECORD).enumerate() {
            let at = index * RECORD;
            // Only the last one can be shorter.
            if record.len() < RECORD {
                return Err(JournalFault::Truncated {
                    len: journal.len(),
                    needed: (at + RECORD) as u64,
                });
            }
            check(record, JOURNAL, at)?;
            let generation = number(record, 8);
            if generation > self.generation {
                return Err(JournalFault::OtherMap {
                    journal: generation,
                    map: self.generation,
                });
            }
            if number(record, 16) != index as u64 {
                return Err(damaged(at + 16, "a record is missing before this one"));
            }
            // The map was written later and has these writes. The records behind are still checked.
            if generation < self.generation || self.state == MapState::Closed {
                continue;
            }
            let entries = number(record, 24);
            if entries > ENTRIES as u64 {
                return Err(damaged(at + 24, "more entries than fit into a record"));
            }
            for entry in 0..entries as usize {
                let place = FIRST_ENTRY + entry * 8;
                self.apply(number(record, place), &mut pending)
                    .map_err(|what| damaged(at + place, what))?;
            }
        }
        Ok(pending)
    }

    /// Applies one entry of a journal to the keys of its map. `pending` has the writes that have begun
    /// and not ended.
    fn apply(
        &mut self,
        entry: u64,
        pending: &mut BTreeMap<usize, Pending>,
    ) -> Result<(), &'static str> {
        // The highest byte has the flag and the key, the other seven have the block.
        let [flag_and_key, ..] = entry.to_be_bytes();
        let (is_done, key) = (flag_and_key & DONE > 0, flag_and_key & !DONE);
        let block = (entry & (u64::MAX >> 8)) as usize;
        if block >= self.keys.len() {
            return Err("a block beyond the end of the storage");
        }
        if !(1..=LAST_KEY).contains(&key) {
            return Err("a key outside 1 to 126");
        }
        if is_done {
            let begun = pending.remove(&block);
            if begun.is_none_or(|begun| begun.after != key) {
                return Err("the end of a write that never began");
            }
            self.keys[block] = key;
            return Ok(());
        }
        // Only a write that failed has no end when the next one begins, and it may have left the old
        // data, its own or a part of both. A key above the last one marks a block that came back wrong.
        let is_known = !pending.contains_key(&block) && self.keys[block] <= LAST_KEY;
        let before = if is_known { self.keys[block] } else { 0 };
        pending.insert(block, Pending { before, after: key });
        Ok(())
    }
}

/// Makes the records of a journal.
#[derive(Debug)]
pub struct JournalWriter {
    generation: u64,
    number: u64,
    entries: Vec<u64>,
}

impl JournalWriter {
    /// A journal that continues the map of this generation.
    pub const fn new(generation: u64) -> Self {
        Self {
            generation,
            number: 0,
            entries: Vec::new(),
        }
    }

    /// Adds the entry of a write that is about to begin.
    pub fn begins(&mut self, block: u64, key: u8) {
        self.entries.push(u64::from(key) << 56 | block);
    }

    /// Adds the entry of a write that succeeded.
    pub fn ended(&mut self, block: u64, key: u8) {
        self.entries.push(u64::from(key | DONE) << 56 | block);
    }

    /// Records of all entries since the last call, to be appended to the file.
    pub fn records(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for entries in self.entries.chunks(ENTRIES) {
            let mut record = vec![0; RECORD];
            record[..8].copy_from_slice(JOURNAL);
            put(&mut record, 8, self.generation);
            put(&mut record, 16, self.number);
            put(&mut record, 24, entries.len() as u64);
            for (index, entry) in entries.iter().enumerate() {
                put(&mut record, FIRST_ENTRY + index * 8, *entry);
            }
            seal(&mut record);
            bytes.extend_from_slice(&record);
            self.number += 1;
        }
        self.entries.clear();
        bytes
    }
}

fn put(bytes: &mut [u8], at: usize, number: u64) {
    bytes[at..at + 8].copy_from_slice(&number.to_be_bytes());
}

/// Eight bytes, big endian.
pub(crate) fn number(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_be_bytes(word)
}

/// Writes the check at the end of a record over all before it.
fn seal(record: &mut [u8]) {
    let check = crc32c::crc32c(&record[..CHECK]);
    record[CHECK..RECORD].copy_from_slice(&check.to_be_bytes());
}

/// Checks the magic number and the checksum of the record at byte `at`.
fn check(record: &[u8], magic: &[u8; 8], at: usize) -> Result<(), JournalFault> {
    if record[..8] != *magic {
        return Err(damaged(at, "not a record of this program"));
    }
    if crc32c::crc32c(&record[..CHECK]).to_be_bytes() == record[CHECK..RECORD] {
        Ok(())
    } else {
        Err(damaged(at, "a record that does not match its checksum"))
    }
}

const fn damaged(at: usize, what: &'static str) -> JournalFault {
    JournalFault::Damaged { at, what }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn saved() -> SavedKeys {
        SavedKeys {
            generation: 7,
            name: *b"sd1\0\0\0\0\0",
            block: 4096,
            keys: (0..700).map(|n| (n % 120) as u8).collect(),
            state: MapState::Journalled,
        }
    }

    /// Blocks 1 to 100 are written once, one after the other; 3 and 5 are in flight at the end, 5
    /// for the second time.
    fn journal() -> Vec<u8> {
        let mut writer = JournalWriter::new(7);
        let mut bytes = Vec::new();
        for block in 1..=100 {
            writer.begins(block, 50);
            bytes.extend(writer.records());
            if block != 3 {
                writer.ended(block, 50);
            }
        }
        writer.begins(5, 51);
        bytes.extend(writer.records());
        bytes
    }

    #[test]
    fn a_journal_goes_on_from_its_map() {
        let mut keys = SavedKeys::from_bytes(&saved().to_bytes()).expect("it is whole");
        assert_eq!(keys, saved());
        let pending = keys.replay(&journal()).expect("it is whole");
        let (before, after) = (3, 50);
        let third = Pending { before, after };
        let (before, after) = (50, 51);
        let fifth = Pending { before, after };
        assert_eq!(pending, BTreeMap::from([(3, third), (5, fifth)]));
        assert_eq!((keys.keys[3], keys.keys[4], keys.keys[101]), (3, 50, 101));
    }

    /// A write failed, the next write of its block began, and the run was killed. The block still had
    /// its old data, and the next run reported it as wrong: the replay took the failed write for one
    /// that had ended, and expected its key.
    #[test]
    fn after_a_failed_write_the_key_is_unknown() {
        let mut writer = JournalWriter::new(7);
        writer.begins(5, 6);
        writer.begins(5, 1);
        let pending = saved().replay(&writer.records()).expect("it is whole");
        let (before, after) = (0, 1);
        assert_eq!(pending, BTreeMap::from([(5, Pending { before, after })]));
    }

    #[test]
    fn a_journal_older_than_its_map_says_nothing() {
        let mut keys = SavedKeys {
            generation: 8,
            ..saved()
        };
        assert_eq!(keys.replay(&journal()), Ok(BTreeMap::new()));
        assert_eq!(keys.keys, saved().keys);
    }

    #[track_caller]
    fn check_fault(map: &[u8], journal: &[u8], expected: &str) {
        let result = SavedKeys::from_bytes(map).and_then(|mut keys| keys.replay(journal));
        let fault = result.expect_err(expected).to_string();
        assert!(fault.contains(expected), "{fault}");
    }

    #[test]
    fn what_is_damaged_is_named() {
        let map = saved().to_bytes();
        check_fault(&[], &[], "truncated: 0 bytes of at least 1024");
        check_fault(&map[..1024], &[], "truncated: 1024 bytes of at least 2048");
        check_fault(
            b"nothing of ours".repeat(40).as_slice(),
            &[],
            "not a record of",
        );
        let mut changed = map.clone();
        changed[600] ^= 1;
        check_fault(&changed, &[], "the keys do not match their checksum");
        let newer = SavedKeys {
            generation: 8,
            ..saved()
        };
        let mut torn = newer.to_bytes();
        torn[RECORD..].copy_from_slice(&map[RECORD..]);
        check_fault(&torn, &[], "byte 1544: a trailer of another generation");
        let whole = journal();
        check_fault(&map, &whole[..700], "truncated: 700 bytes of at least 1024");
        check_fault(&map, &whole[512..], "a record is missing before this one");
        let mut changed = whole.clone();
        changed[512 + 40] ^= 1;
        check_fault(
            &map,
            &changed,
            "damaged at byte 512: a record that does not match its checksum",
        );
        let later = SavedKeys {
            generation: 6,
            ..saved()
        };
        check_fault(
            &later.to_bytes(),
            &whole,
            "generation is 7, that of the map 6",
        );
        let open = SavedKeys {
            state: MapState::Open,
            ..saved()
        };
        check_fault(&open.to_bytes(), &[], "was killed");
    }

    proptest! {
        #[test]
        fn no_bytes_are_fatal(
            map in proptest::collection::vec(any::<u8>(), 0..2000),
            journal in proptest::collection::vec(any::<u8>(), 0..2000),
        ) {
            let _ = SavedKeys::from_bytes(&map);
            let _ = saved().replay(&journal);
        }

        /// Any change in the files is an error, or changes nothing of their meaning.
        #[test]
        fn a_changed_byte_is_seen(at in 0usize..2048, to in any::<u8>()) {
            let mut map = saved().to_bytes();
            let changes = map[at] != to;
            map[at] = to;
            let read = SavedKeys::from_bytes(&map);
            prop_assert!(!changes || read.is_err() || read == Ok(saved()));
        }

        /// Records with true checks and any entries.
        #[test]
        fn no_entries_are_fatal(
            entries in proptest::collection::vec((0u64..800, 0u8..=127, any::<bool>()), 0..200),
        ) {
            let mut writer = JournalWriter::new(7);
            for (block, key, done) in entries {
                if done { writer.ended(block, key) } else { writer.begins(block, key) }
            }
            let _ = saved().replay(&writer.records());
        }
    }
}
