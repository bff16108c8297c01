//! The tests of each version and profile.

use blocklab_units::{Bytes, Nanos};

/// The version of CrystalDiskMark whose tests and report are imitated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// 5.1 and 5.2.
    V5,
    /// 6.0.
    V6,
    /// 7 and 8.
    V8,
    /// 9.
    V9,
}

impl Version {
    /// The major number, as the user names it; 7 has the tests and the report of 8.
    pub const fn numbered(number: u32) -> Option<Self> {
        Some(match number {
            5 => Self::V5,
            6 => Self::V6,
            7 | 8 => Self::V8,
            9 => Self::V9,
            _ => return None,
        })
    }

    /// The release whose tests and report are imitated.
    pub const fn release(self) -> &'static str {
        match self {
            Self::V5 => "5.1.2",
            Self::V6 => "6.0.2",
            Self::V8 => "8.0.4",
            Self::V9 => "9.0.1",
        }
    }

    /// Whether it has profiles, mixed tests and latencies.
    pub(super) const fn has_profiles(self) -> bool {
        matches!(self, Self::V8 | Self::V9)
    }

    /// Passes that count by default.
    pub(super) const fn loops(self) -> u32 {
        if matches!(self, Self::V9) { 3 } else { 5 }
    }
}

/// Which tests are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Deep and shallow, sequential and random.
    Default,
    /// Only the deep queues.
    Peak,
    /// Only one operation at a time.
    Real,
    /// The default for drives with many queues.
    Nvme,
    /// The default, shorter and with long rests.
    Flash,
    /// One sequential test.
    Demo,
}

impl Profile {
    /// Its name in the report: the settings for NVMe and flash memory are no profiles there.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Default | Self::Nvme | Self::Flash => "Default",
            Self::Peak => "Peak",
            Self::Real => "Real",
            Self::Demo => "Demo",
        }
    }

    /// The time of a pass, and the rest between two tests.
    pub(super) const fn times(self) -> (Nanos, Nanos) {
        match self {
            Self::Flash => (Nanos::from_secs(1), Nanos::from_secs(30)),
            _ => (Nanos::from_secs(5), Nanos::from_secs(5)),
        }
    }
}

/// One test: a row of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Test {
    /// Random offsets instead of sequential ones.
    pub random: bool,
    /// Block size.
    pub block: Bytes,
    /// Operations in flight per thread.
    pub queues: u32,
    /// Threads.
    pub threads: u32,
}

impl Test {
    const fn new(random: bool, kib: u64, queues: u32, threads: u32) -> Self {
        Self {
            random,
            block: Bytes(kib << 10),
            queues,
            threads,
        }
    }

    /// `SEQ1M`, `RND4K`.
    pub fn kind(&self) -> String {
        let (number, unit) = self.size();
        let unit = unit.chars().next().unwrap_or('B');
        format!("{}{number}{unit}", self.word())
    }

    /// `Q8T1`.
    pub fn queue(&self) -> String {
        format!("Q{}T{}", self.queues, self.threads)
    }

    /// `SEQ`, `RND`.
    pub const fn word(&self) -> &'static str {
        if self.random { "RND" } else { "SEQ" }
    }

    /// The block size as a whole number of a unit: `(1, "MiB")`.
    pub const fn size(&self) -> (u64, &'static str) {
        match self.block.0 {
            bytes if bytes.is_multiple_of(1 << 20) => (bytes >> 20, "MiB"),
            bytes => (bytes >> 10, "KiB"),
        }
    }
}

/// The tests, in the order of the window; `None` where the version has no such profile.
pub fn tests(version: Version, profile: Profile) -> Option<Vec<Test>> {
    let seq1m_q8 = Test::new(false, 1024, 8, 1);
    let seq1m_q1 = Test::new(false, 1024, 1, 1);
    let seq128k_q32 = Test::new(false, 128, 32, 1);
    let rnd4k_q32 = Test::new(true, 4, 32, 1);
    let rnd4k_q1 = Test::new(true, 4, 1, 1);
    let rnd4k_q8t8 = Test::new(true, 4, 8, 8);
    let rnd4k_q32t16 = Test::new(true, 4, 32, 16);
    Some(match (version, profile) {
        (Version::V5, Profile::Default) => vec![seq128k_q32, rnd4k_q32, seq1m_q1, rnd4k_q1],
        (Version::V6, Profile::Default) => vec![seq128k_q32, rnd4k_q8t8, rnd4k_q32, rnd4k_q1],
        (Version::V5 | Version::V6, _) => return None,
        (_, Profile::Default | Profile::Flash) => vec![seq1m_q8, seq1m_q1, rnd4k_q32, rnd4k_q1],
        (_, Profile::Nvme) => vec![seq1m_q8, seq128k_q32, rnd4k_q32t16, rnd4k_q1],
        (_, Profile::Peak) => vec![seq1m_q8, rnd4k_q32],
        (_, Profile::Real) => vec![seq1m_q1, rnd4k_q1],
        (_, Profile::Demo) => vec![seq1m_q8],
    })
}
