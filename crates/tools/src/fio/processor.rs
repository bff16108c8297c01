//! The processors on which this may run, and threads that stay on one of them.

use std::mem;

/// Those that are ours, by number.
pub fn allowed() -> Vec<usize> {
    // SAFETY: an all-zero set is valid and empty; the kernel fills it, and CPU_ISSET is told
    // numbers within its bounds only.
    unsafe {
        let mut set: libc::cpu_set_t = mem::zeroed();
        libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set);
        let all = 0..libc::CPU_SETSIZE as usize;
        all.filter(|number| libc::CPU_ISSET(*number, &set))
            .collect()
    }
}

/// The calling thread runs on this one and no other.
pub fn stay_on(number: usize) {
    // SAFETY: as above; where it cannot be had, the thread runs anywhere.
    unsafe {
        let mut set: libc::cpu_set_t = mem::zeroed();
        if number < libc::CPU_SETSIZE as usize {
            libc::CPU_SET(number, &mut set);
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
        }
    }
}

/// The calling thread runs only while its processor has nothing else to do.
pub fn run_when_idle() {
    let least = libc::sched_param { sched_priority: 0 };
    // SAFETY: the structure lives through the call; 0 names the calling thread.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const least) };
}
