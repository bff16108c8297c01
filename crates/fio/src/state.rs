//! The file in which a verifying job leaves how far its writes came, in fio's layout of version 3.
//!
//! ```text
//!   version 8 | length of the rest 8 | CRC-32C of the rest, not inverted 8
//!   completions 8 | depth 4 | files 4 | writes 8 | thread 8 | generator 56 | name 64
//!   then for each completion: file 8 | offset 8
//! ```
//!
//! Numbers are little endian. The first words of the generator hold the seed and how many of the
//! writes a flush made durable: fio's own generator is another one, and so are its offsets.

use blocklab_workload::Job;

use super::context::PlanContext;

const VERSION: u64 = 3;
/// Bytes before the rest: version, length and checksum.
const HEAD: usize = 24;
/// Bytes of the rest before the completions.
const FIXED: usize = 152;
/// Bytes of the name, its last one a zero.
const NAME: usize = 64;

/// How far the writes of one clone came.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct State {
    /// Which clone of the whole command line it is, from 0.
    pub thread: u64,
    /// The job's name; its first 63 bytes are kept.
    pub name: String,
    /// Operations in flight.
    pub depth: u32,
    /// Files of the clone.
    pub files: u32,
    /// Writes that were issued.
    pub writes: u64,
    /// The seed of their offsets.
    pub seed: u64,
    /// Writes, from the first on, that had completed before the last flush that succeeded.
    pub durable: u64,
    /// The last writes that completed: file and first byte.
    pub recent: Vec<(u64, u64)>,
}

impl State {
    /// The bytes of the file.
    pub fn encode(&self) -> Vec<u8> {
        let mut rest = Vec::with_capacity(FIXED + 16 * self.recent.len());
        rest.extend((self.recent.len() as u64).to_le_bytes());
        rest.extend(self.depth.to_le_bytes());
        rest.extend(self.files.to_le_bytes());
        rest.extend(self.writes.to_le_bytes());
        rest.extend(self.thread.to_le_bytes());
        rest.extend(0u64.to_le_bytes());
        rest.extend(self.seed.to_le_bytes());
        rest.extend(self.durable.to_le_bytes());
        rest.resize(FIXED - NAME, 0);
        let name = self.name.as_bytes();
        rest.extend(&name[..name.len().min(NAME - 1)]);
        rest.resize(FIXED, 0);
        for (file, offset) in &self.recent {
            rest.extend(file.to_le_bytes());
            rest.extend(offset.to_le_bytes());
        }
        let mut bytes = Vec::with_capacity(HEAD + rest.len());
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((rest.len() as u64).to_le_bytes());
        bytes.extend(u64::from(checksum(&rest)).to_le_bytes());
        bytes.extend(rest);
        bytes
    }

    /// What the file holds.
    ///
    /// # Errors
    /// What is wrong with it, for people.
    pub fn decode(bytes: &[u8]) -> Result<Self, String> {
        let head = bytes.get(..HEAD).ok_or("it ends within its header")?;
        let rest = &bytes[HEAD..];
        let version = number(head, 0);
        if version != VERSION {
            return Err(format!("its version is {version}, not {VERSION}"));
        }
        if number(head, 8) != rest.len() as u64 || rest.len() < FIXED {
            return Err(format!(
                "it is cut: {} bytes follow the header, which tells of {}",
                rest.len(),
                number(head, 8)
            ));
        }
        if number(head, 16) != u64::from(checksum(rest)) {
            return Err("its checksum does not match: it is damaged".to_owned());
        }
        let (fixed, recent) = rest.split_at(FIXED);
        if number(fixed, 0).checked_mul(16) != Some(recent.len() as u64) {
            return Err("it does not hold the completions that it tells of".to_owned());
        }
        let name = &fixed[FIXED - NAME..];
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(NAME);
        Ok(Self {
            thread: number(fixed, 24),
            name: String::from_utf8_lossy(&name[..end]).into_owned(),
            // The lower 32 bits of what begins there.
            depth: number(fixed, 8) as u32,
            files: number(fixed, 12) as u32,
            writes: number(fixed, 16),
            seed: number(fixed, 40),
            durable: number(fixed, 48),
            recent: recent
                .chunks_exact(16)
                .map(|pair| (number(pair, 0), number(pair, 8)))
                .collect(),
        })
    }
}

/// The CRC as fio computes it: not inverted at the end.
fn checksum(bytes: &[u8]) -> u32 {
    !crc32c::crc32c(bytes)
}

/// The number of eight bytes from `at` on, or of as many as there are.
fn number(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    let end = (at + 8).min(bytes.len());
    word[..end - at].copy_from_slice(&bytes[at..end]);
    u64::from_le_bytes(word)
}

/// The path of the state file of clone `thread`; `aux` is the directory of such files.
pub(super) fn path(aux: Option<&str>, name: &str, thread: usize) -> String {
    let file = format!("local-{}-{thread}-verify.state", name.replace('/', "."));
    match aux {
        Some(aux) => format!("{}/{file}", aux.trim_end_matches('/')),
        None => file,
    }
}

/// Makes the job check no more than what an earlier run had written, or had made durable.
pub(super) fn limit_checks(
    job: &mut Job,
    seed: u64,
    only_durable: bool,
    path: &str,
    context: &PlanContext<'_>,
) -> Result<(), String> {
    let bytes = (context.bytes_of)(path)?;
    let state = State::decode(&bytes).map_err(|why| format!("no state file: {why}"))?;
    if !job.pattern.is_sequential() && state.seed != seed {
        let why = "the run that left it drew other offsets: it had another seed, or was of fio \
                   itself";
        return Err(why.to_owned());
    }
    let counted = if only_durable {
        state.durable
    } else {
        state.writes
    };
    if job.writes() {
        if let Some(verify) = &mut job.verify {
            verify.first = Some(counted);
        }
        return Ok(());
    }
    if counted == 0 {
        // Nothing of what is read need be there.
        job.verify = None;
    }
    // A job without operations cannot run, so at least one is read.
    let most = job.stop.ios.unwrap_or(u64::MAX);
    job.stop.ios = Some(most.min(counted.max(1)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn state() -> State {
        State {
            thread: 1,
            name: "abc".to_owned(),
            depth: 4,
            files: 1,
            writes: 16,
            seed: 0x89,
            durable: 12,
            recent: vec![(0, 61440), (0, 57344)],
        }
    }

    #[test]
    fn what_was_written_is_read() {
        let bytes = state().encode();
        assert_eq!(bytes.len(), HEAD + FIXED + 32);
        assert_eq!(State::decode(&bytes), Ok(state()));
    }

    /// What fio 3.33 leaves of `--name=a --rw=write --size=4k --verify=crc32c`.
    #[test]
    fn a_file_of_fio_is_read() {
        let mut bytes = vec![0; HEAD + FIXED + 16];
        for (at, byte) in [
            (0, 3),
            (8, 168),
            (24, 1),
            (32, 1),
            (36, 1),
            (40, 1),
            (112, b'a'),
        ] {
            bytes[at] = byte;
        }
        let check = checksum(&bytes[HEAD..]).to_le_bytes();
        bytes[16..20].copy_from_slice(&check);
        let state = State::decode(&bytes).expect("a sound file");
        assert_eq!((state.name.as_str(), state.writes), ("a", 1));
        assert_eq!(state.recent, [(0, 0)]);
    }

    /// A job that was ended before its first write left a state of none, and what should verify it read
    /// a block and called it flawed.
    #[test]
    fn nothing_is_verified_where_nothing_was_written() {
        let text = "[a]\nrw=read\nsize=64k\nverify=md5\nverify_state_load=1\n";
        let prepared = crate::tests::planned(text).expect("a plan");
        let job = &prepared.plan.cases[0].workload.jobs[0];
        assert_eq!((&job.verify, job.stop.ios), (&None, Some(1)));
    }

    /// Without `verify`, a missing file was passed over; with fio 3.33, the job fails.
    #[test]
    fn a_job_that_verifies_nothing_needs_its_state_file() {
        let with = |name: &str| {
            let text = format!("[{name}]\nrw=read\nsize=64k\nverify_state_load=1\n");
            crate::tests::planned(&text).expect("a plan").unfit.len()
        };
        assert_eq!(with("a"), 0, "its file is there");
        assert_eq!(with("b"), 1);
    }

    #[test]
    fn damage_is_reported() {
        let sound = state().encode();
        for (bytes, words) in [
            (&sound[..10], "ends within its header"),
            (&sound[..100], "is cut"),
            (&[b' '; 300][..], "its version"),
        ] {
            let error = State::decode(bytes).expect_err(words);
            assert!(error.contains(words), "{error}");
        }
        let mut flipped = sound;
        flipped[60] ^= 1;
        let error = State::decode(&flipped).expect_err("damaged");
        assert!(error.contains("checksum"), "{error}");
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_read(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = State::decode(&bytes);
        }

        /// Also where the checksum is right.
        #[test]
        fn any_sound_bytes_can_be_read(mut rest in proptest::collection::vec(any::<u8>(), 152..400)) {
            rest[0] %= 16;
            rest[1..8].fill(0);
            let mut bytes = [VERSION.to_le_bytes(), (rest.len() as u64).to_le_bytes(),
                u64::from(checksum(&rest)).to_le_bytes()].concat();
            bytes.extend(rest);
            let _ = State::decode(&bytes);
        }
    }
}
