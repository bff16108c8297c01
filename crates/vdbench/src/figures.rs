//! Figures of a stretch of a run, as reports show them.

use blocklab_record::Served;

/// Shares of all processors of the machine, in per cent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cpu {
    /// In user mode.
    pub user: f64,
    /// In the kernel.
    pub kernel: f64,
    /// Idle while I/O was waited for.
    pub wait: f64,
    /// Idle.
    pub idle: f64,
}

impl Cpu {
    /// User and kernel.
    pub fn used(&self) -> f64 {
        self.user + self.kernel
    }

    /// The mean of two stretches; this one is `part` of their time, from 0 to 1.
    fn mean(self, part: f64, other: Self) -> Self {
        let rest = 1.0 - part;
        Self {
            user: self.user * part + other.user * rest,
            kernel: self.kernel * part + other.kernel * rest,
            wait: self.wait * part + other.wait * rest,
            idle: self.idle * part + other.idle * rest,
        }
    }
}

/// A stretch of a run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Figures {
    /// How long it was.
    pub seconds: f64,
    /// Reads.
    pub read: Served,
    /// Writes.
    pub write: Served,
    /// The machine; `None` where no processor did the work.
    pub cpu: Option<Cpu>,
}

impl Figures {
    /// Both directions.
    pub fn both(&self) -> Served {
        self.read.plus(self.write)
    }

    /// Operations a second.
    pub fn rate(&self) -> f64 {
        self.both().ios as f64 / self.length()
    }

    /// MiB a second.
    pub fn mib(&self) -> f64 {
        self.both().bytes as f64 / self.length() / 1_048_576.0
    }

    /// Bytes of an operation.
    pub fn bytes_per_io(&self) -> f64 {
        let both = self.both();
        both.bytes as f64 / both.ios.max(1) as f64
    }

    /// Reads in per cent.
    pub fn read_percent(&self) -> f64 {
        self.read.ios as f64 * 100.0 / self.both().ios.max(1) as f64
    }

    /// Operations in flight: by Little's law, latencies over time.
    pub fn depth(&self) -> f64 {
        self.both().sum_ns / 1e9 / self.length()
    }

    /// Two stretches as one.
    pub fn plus(self, other: Self) -> Self {
        let seconds = self.seconds + other.seconds;
        let part = self.seconds / seconds.max(1e-9);
        Self {
            seconds,
            read: self.read.plus(other.read),
            write: self.write.plus(other.write),
            cpu: match (self.cpu, other.cpu) {
                (Some(mine), Some(theirs)) => Some(mine.mean(part, theirs)),
                (mine, theirs) => mine.or(theirs),
            },
        }
    }

    fn length(&self) -> f64 {
        self.seconds.max(1e-9)
    }
}
