//! What all processors of the machine did together.

use std::fs;

use blocklab_vdbench::Cpu;

/// The kernel's counters at the last look.
#[derive(Debug, Default)]
pub struct Machine {
    last: [u64; 4],
}

impl Machine {
    /// Shares since the last look.
    pub fn since_last(&mut self) -> Cpu {
        let now = read(&fs::read_to_string("/proc/stat").unwrap_or_default());
        let spent: Vec<f64> = now
            .iter()
            .zip(self.last)
            .map(|(now, last)| now.saturating_sub(last) as f64)
            .collect();
        self.last = now;
        let all = spent.iter().sum::<f64>().max(1.0);
        let share = |kind: usize| spent[kind] * 100.0 / all;
        Cpu {
            user: share(0),
            kernel: share(1),
            wait: share(2),
            idle: share(3),
        }
    }
}

/// User, kernel, waiting, idle: proc(5).
fn read(stat: &str) -> [u64; 4] {
    let line = stat.lines().next().unwrap_or_default();
    let ticks: Vec<u64> = line
        .split_ascii_whitespace()
        .skip(1)
        .map_while(|word| word.parse().ok())
        .collect();
    let of = |column: usize| ticks.get(column).copied().unwrap_or(0);
    [of(0) + of(1), of(2) + of(5) + of(6) + of(7), of(4), of(3)]
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn the_first_line_is_read() {
        assert_eq!(
            read("cpu  10 1 20 300 40 2 3 4\ncpu0 1 1 1 1\n"),
            [11, 29, 40, 300]
        );
        assert_eq!(read(""), [0; 4]);
    }
}
