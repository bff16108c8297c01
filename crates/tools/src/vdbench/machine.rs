//! Facts of this machine: its names and addresses, and the use of its processors.

use std::fs;
use std::net::{IpAddr, UdpSocket};

use blocklab_vdbench::Cpu;

use crate::processors::kinds;

/// Whether a name or an address is that of this machine. No name server is queried.
pub fn is_here(name: &str) -> bool {
    if name.eq_ignore_ascii_case("localhost") {
        return true;
    }
    match name.parse::<IpAddr>() {
        // A socket can be bound only to an address of this machine. 0.0.0.0 can be bound, too, but
        // names no host.
        Ok(address) => !address.is_unspecified() && UdpSocket::bind((address, 0)).is_ok(),
        Err(_) => {
            let own = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
            is_name_of(name, own.trim())
        }
    }
}

/// Whether `name` is the full name of this host, `own`, or the part before its first dot.
fn is_name_of(name: &str, own: &str) -> bool {
    let short = own.split('.').next().unwrap_or_default();
    [own, short]
        .iter()
        .any(|own| !own.is_empty() && name.eq_ignore_ascii_case(own))
}

/// The use of all processors together.
#[derive(Debug, Default)]
pub struct Processors {
    /// The kernel's counters when they were last read.
    last: [u64; 4],
}

impl Processors {
    /// How much of their time went to each kind of work since the last call, in per cent; with the first call,
    /// since the machine's start.
    pub fn since_last(&mut self) -> Cpu {
        let now = read(&fs::read_to_string("/proc/stat").unwrap_or_default());
        let spent = [0, 1, 2, 3].map(|kind| now[kind].saturating_sub(self.last[kind]) as f64);
        self.last = now;
        let all = spent.iter().sum::<f64>().max(1.0);
        let [user, kernel, wait, idle] = spent.map(|ticks| ticks * 100.0 / all);
        Cpu {
            user,
            kernel,
            wait,
            idle,
        }
    }
}

/// The counters of all processors together, from the first line of /proc/stat.
fn read(stat: &str) -> [u64; 4] {
    let line = stat.lines().next().unwrap_or_default();
    kinds(line.split_ascii_whitespace().skip(1))
}

#[cfg(test)]
mod tests {
    use super::{is_here, is_name_of, read};

    #[test]
    fn this_machine_has_several_names() {
        assert!(is_here("localhost") && is_here("127.0.0.1"));
        // An address reserved for documentation; no machine has it.
        assert!(!is_here("192.0.2.1") && !is_here("0.0.0.0") && !is_here(""));
        assert!(is_name_of("bench7", "bench7.example.org"));
        assert!(is_name_of("Bench7.example.org", "bench7.example.org"));
        assert!(!is_name_of("bench", "bench7.example.org") && !is_name_of("", ""));
    }

    #[test]
    fn the_first_line_is_read() {
        assert_eq!(
            read("cpu  10 1 20 300 40 2 3 4\ncpu0 1 1 1 1\n"),
            [11, 29, 40, 300]
        );
        assert_eq!(read(""), [0; 4]);
    }
}
