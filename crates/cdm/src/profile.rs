//! The tests of each version and profile.

use blocklab_units::Bytes;

/// Whose tests and whose report.
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
    #[must_use]
    pub const fn numbered(number: u32) -> Option<Self> {
        Some(match number {
            5 => Self::V5,
            6 => Self::V6,
            7 | 8 => Self::V8,
            9 => Self::V9,
            _ => return None,
        })
    }

    /// The release whose habits are followed.
    #[must_use]
    pub const fn release(self) -> &'static str {
        match self {
            Self::V5 => "5.1.2",
            Self::V6 => "6.0.2",
            Self::V8 => "8.0.4",
            Self::V9 => "9.0.1",
        }
    }

    /// Whether it has profiles, mixed tests and latencies.
    #[must_use]
    pub const fn has_profiles(self) -> bool {
        matches!(self, Self::V8 | Self::V9)
    }

    /// Passes that count, where nobody says otherwise.
    #[must_use]
    pub const fn loops(self) -> u32 {
        match self {
            Self::V9 => 3,
            _ => 5,
        }
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
    /// As the default, for drives with many queues.
    Nvme,
    /// As the default, shorter, with long rests.
    Flash,
    /// One sequential test.
    Demo,
}

impl Profile {
    /// Its name in the report: the settings for NVMe and flash memory are no profiles there.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Default | Self::Nvme | Self::Flash => "Default",
            Self::Peak => "Peak",
            Self::Real => "Real",
            Self::Demo => "Demo",
        }
    }

    /// Seconds of a pass.
    #[must_use]
    pub const fn measure_secs(self) -> u64 {
        match self {
            Self::Flash => 1,
            _ => 5,
        }
    }

    /// Seconds between two tests.
    #[must_use]
    pub const fn interval_secs(self) -> u64 {
        match self {
            Self::Flash => 30,
            _ => 5,
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
    const fn sequential(kib: u64, queues: u32, threads: u32) -> Self {
        let block = Bytes(kib << 10);
        Self {
            random: false,
            block,
            queues,
            threads,
        }
    }

    const fn random(kib: u64, queues: u32, threads: u32) -> Self {
        let block = Bytes(kib << 10);
        Self {
            random: true,
            block,
            queues,
            threads,
        }
    }

    /// `SEQ1M`, `RND4K`.
    #[must_use]
    pub fn kind(&self) -> String {
        let (number, unit) = self.size();
        let unit = unit.chars().next().unwrap_or('B');
        format!("{}{number}{unit}", self.word())
    }

    /// `Q8T1`.
    #[must_use]
    pub fn queue(&self) -> String {
        format!("Q{}T{}", self.queues, self.threads)
    }

    /// `SEQ`, `RND`.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        if self.random { "RND" } else { "SEQ" }
    }

    /// The block size as a whole number of a unit: `(1, "MiB")`.
    #[must_use]
    pub const fn size(&self) -> (u64, &'static str) {
        match self.block.0 {
            mib if mib % (1 << 20) == 0 => (mib >> 20, "MiB"),
            other => (other >> 10, "KiB"),
        }
    }
}

/// The tests, in the order of the window; `None` where the version has no such profile.
#[must_use]
pub fn tests(version: Version, profile: Profile) -> Option<Vec<Test>> {
    let (seq, rnd) = (Test::sequential, Test::random);
    Some(match (version, profile) {
        (Version::V5, Profile::Default) => vec![
            seq(128, 32, 1),
            rnd(4, 32, 1),
            seq(1024, 1, 1),
            rnd(4, 1, 1),
        ],
        (Version::V6, Profile::Default) => {
            vec![seq(128, 32, 1), rnd(4, 8, 8), rnd(4, 32, 1), rnd(4, 1, 1)]
        }
        (Version::V5 | Version::V6, _) => return None,
        (_, Profile::Default | Profile::Flash) => vec![
            seq(1024, 8, 1),
            seq(1024, 1, 1),
            rnd(4, 32, 1),
            rnd(4, 1, 1),
        ],
        (_, Profile::Nvme) => vec![
            seq(1024, 8, 1),
            seq(128, 32, 1),
            rnd(4, 32, 16),
            rnd(4, 1, 1),
        ],
        (_, Profile::Peak) => vec![seq(1024, 8, 1), rnd(4, 32, 1)],
        (_, Profile::Real) => vec![seq(1024, 1, 1), rnd(4, 1, 1)],
        (_, Profile::Demo) => vec![seq(1024, 8, 1)],
    })
}
