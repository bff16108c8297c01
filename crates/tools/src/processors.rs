//! How busy each processor of the machine was, from the kernel's counters.

use std::fs;

use blocklab_diskspd::{Processor, Usage};

/// Ticks of each processor since the machine's start: its number, then user, kernel and idle.
#[derive(Debug, Clone, Default)]
pub struct Ticks(Vec<(u32, [u64; 3])>);

impl Ticks {
    /// The current counters; empty if the kernel does not report them.
    pub fn now() -> Self {
        Self::read(&fs::read_to_string("/proc/stat").unwrap_or_default())
    }

    fn read(stat: &str) -> Self {
        // The first line, `cpu ` without a number, is the sum of all.
        let lines = stat.lines().filter(|line| !line.starts_with("cpu "));
        let processors = lines.filter_map(|line| {
            let mut words = line.strip_prefix("cpu")?.split_ascii_whitespace();
            let number = words.next()?.parse().ok()?;
            let [user, kernel, wait, idle] = kinds(words);
            Some((number, [user, kernel, wait + idle]))
        });
        Self(processors.collect())
    }

    /// Numbers of the processors.
    pub fn numbers(&self) -> Vec<u32> {
        self.0.iter().map(|(number, _)| *number).collect()
    }

    /// The use of each processor since `earlier`. One that was not there then is left out.
    pub fn since(&self, earlier: &Self) -> Vec<Processor> {
        let used = self.0.iter().filter_map(|(number, ticks)| {
            let (_, before) = earlier.0.iter().find(|(known, _)| known == number)?;
            Some(processor(*number, *ticks, *before))
        });
        used.collect()
    }
}

/// The ticks of a line of /proc/stat as user, kernel, waiting for I/O and idle. Its columns are user, nice,
/// system, idle, iowait, irq, softirq, steal: proc(5).
pub fn kinds<'w>(columns: impl Iterator<Item = &'w str>) -> [u64; 4] {
    let mut ticks = [0; 8];
    for (column, word) in ticks.iter_mut().zip(columns) {
        *column = word.parse().unwrap_or(0);
    }
    let [user, nice, system, idle, wait, irq, softirq, steal] = ticks;
    [user + nice, system + irq + softirq + steal, wait, idle]
}

/// The use of a processor between two readings, in per cent.
fn processor(id: u32, ticks: [u64; 3], before: [u64; 3]) -> Processor {
    let [user, kernel, idle] =
        [0, 1, 2].map(|kind| ticks[kind].saturating_sub(before[kind]) as f64);
    // Two readings within one tick show no difference, and 0 must not be a divisor.
    let all = (user + kernel + idle).max(1.0);
    Processor {
        id,
        core: topology(id, "core_id"),
        socket: topology(id, "physical_package_id"),
        node: node(id),
        usage: Usage {
            user: user * 100.0 / all,
            kernel: kernel * 100.0 / all,
            idle: 100.0 - (user + kernel) * 100.0 / all,
        },
    }
}

/// A number from the processor's topology folder; 0 if the kernel gives none.
fn topology(id: u32, name: &str) -> u32 {
    let path = format!("/sys/devices/system/cpu/cpu{id}/topology/{name}");
    let text = fs::read_to_string(path).unwrap_or_default();
    text.trim().parse().unwrap_or(0)
}

/// The memory node of a processor, from the link `node0` or such in its folder; 0 without one.
fn node(id: u32) -> u32 {
    let folder = fs::read_dir(format!("/sys/devices/system/cpu/cpu{id}"));
    let mut names = folder.into_iter().flatten().filter_map(Result::ok);
    let node = names.find_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        name.strip_prefix("node")?.parse().ok()
    });
    node.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_come_from_the_difference() {
        let before = Ticks::read("cpu  9 9 9 9\ncpu0 100 0 50 850 0 0 0 0\nintr 1\n");
        let after = Ticks::read("cpu  9 9 9 9\ncpu0 120 0 60 900 10 5 5 0\nintr 1\n");
        let usage = after.since(&before)[0].usage;
        assert_eq!((usage.user, usage.kernel, usage.idle), (20.0, 20.0, 60.0));
        assert!(Ticks::read("").since(&before).is_empty());
    }
}
