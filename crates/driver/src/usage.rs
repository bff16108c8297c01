//! In: the kernel's counters. Out: the use of processors by this process, a thread and the machine
//! between two moments.

use std::fs;

use blocklab_record::{Cpu, ThreadUse};
use blocklab_targets::thread_cpu_ns;

/// What this process has used so far; zeros in virtual time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Used {
    pub(crate) cpu_ns: u64,
    pub(crate) uring_workers: u32,
}

/// Counters at one moment.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    cpu: Cpu,
    machine_busy: u64,
    machine_total: u64,
}

impl Usage {
    pub(crate) fn now() -> Self {
        let (machine_busy, machine_total) = machine_ticks();
        Self {
            cpu: used(libc::RUSAGE_SELF),
            machine_busy,
            machine_total,
        }
    }

    /// What was used since `earlier`.
    pub(crate) fn since(&self, earlier: &Self) -> Cpu {
        let busy = self.machine_busy.saturating_sub(earlier.machine_busy);
        let total = self.machine_total.saturating_sub(earlier.machine_total);
        Cpu {
            // A run may be shorter than a tick of the kernel's counters.
            machine_busy_percent: (busy * 100 / total.max(1)) as u32,
            ..difference(&self.cpu, &earlier.cpu)
        }
    }
}

/// The processor time and the events between two readings.
fn difference(now: &Cpu, then: &Cpu) -> Cpu {
    Cpu {
        user_ns: now.user_ns - then.user_ns,
        system_ns: now.system_ns - then.system_ns,
        voluntary_switches: now.voluntary_switches - then.voluntary_switches,
        involuntary_switches: now.involuntary_switches - then.involuntary_switches,
        minor_faults: now.minor_faults - then.minor_faults,
        major_faults: now.major_faults - then.major_faults,
        ..Cpu::default()
    }
}

/// Processor time of this process so far, kernel workers included.
pub(crate) fn process_cpu_ns() -> u64 {
    let cpu = used(libc::RUSAGE_SELF);
    cpu.user_ns + cpu.system_ns
}

/// What the calling thread has used so far, and at which moment of its own processor clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThreadUsage {
    cpu: Cpu,
    precise_ns: u64,
}

impl ThreadUsage {
    pub(crate) fn now() -> Self {
        Self {
            cpu: used(libc::RUSAGE_THREAD),
            precise_ns: thread_cpu_ns(),
        }
    }

    /// What was used since `earlier`, over a running time of `running_ns`.
    ///
    /// The kernel splits a thread's time into user and system by sampling at its ticks, so both
    /// are scaled to the sum, which it knows to the nanosecond.
    pub(crate) fn since(&self, earlier: &Self, running_ns: u64) -> ThreadUse {
        let used = difference(&self.cpu, &earlier.cpu);
        let total = self.precise_ns - earlier.precise_ns;
        let share = used.user_ns as f64 / (used.user_ns + used.system_ns).max(1) as f64;
        let user_ns = (total as f64 * share) as u64;
        ThreadUse {
            running_ns,
            user_ns,
            system_ns: total - user_ns,
            voluntary_switches: used.voluntary_switches,
            involuntary_switches: used.involuntary_switches,
            minor_faults: used.minor_faults,
            major_faults: used.major_faults,
        }
    }
}

/// What a process or thread has used so far, as `getrusage` names it.
fn used(by: libc::c_int) -> Cpu {
    // SAFETY: all-zero is a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel fills the structure.
    unsafe { libc::getrusage(by, &raw mut usage) };
    Cpu {
        user_ns: nanos(usage.ru_utime),
        system_ns: nanos(usage.ru_stime),
        voluntary_switches: usage.ru_nvcsw as u64,
        involuntary_switches: usage.ru_nivcsw as u64,
        minor_faults: usage.ru_minflt as u64,
        major_faults: usage.ru_majflt as u64,
        ..Cpu::default()
    }
}

const fn nanos(time: libc::timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000
}

/// Busy and total ticks of all processors, from the first line of /proc/stat.
fn machine_ticks() -> (u64, u64) {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let line = text.lines().next().unwrap_or_default();
    let ticks: Vec<u64> = line
        .split_whitespace()
        .skip(1)
        .filter_map(|t| t.parse().ok())
        .collect();
    // user nice system idle iowait irq softirq steal; guest time is inside user.
    let total: u64 = ticks.iter().take(8).sum();
    let idle: u64 = ticks.iter().skip(3).take(2).sum();
    (total - idle, total)
}

/// Threads that io_uring made because it could not carry out operations without blocking.
pub(crate) fn uring_workers() -> u32 {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else {
        return 0;
    };
    tasks
        .flatten()
        .filter(|task| {
            fs::read(task.path().join("comm")).is_ok_and(|name| name.starts_with(b"iou-wrk"))
        })
        .count() as u32
}

/// Threads of this process, by one small file.
pub(crate) fn thread_count() -> u32 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The command name may hold blanks; the fields after its closing parenthesis do not.
    let fields = text.rsplit(')').next().unwrap_or_default();
    // proc(5): `num_threads` is field 20, and the first one after the name is field 3.
    fields
        .split_whitespace()
        .nth(17)
        .and_then(|count| count.parse().ok())
        .unwrap_or(0)
}
