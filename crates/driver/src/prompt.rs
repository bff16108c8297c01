//! In: a thread that must act at an agreed moment. Out: real-time scheduling for it until then.
//!
//! On a machine whose processors are busy, an ordinary thread gets one some milliseconds after it
//! wakes; a real-time thread gets it at once. This lasts until the start only, so it has no effect on
//! what is measured.

/// Real-time scheduling of the current thread, for as long as the value lives. Without the right to it
/// (root has it, and users with `ulimit -r`) the thread stays an ordinary one.
pub(crate) struct Prompt {
    is_granted: bool,
}

impl Prompt {
    /// Asks for it.
    pub(crate) fn ask() -> Self {
        Self {
            is_granted: schedule(libc::SCHED_FIFO, 1),
        }
    }

    /// Whether the kernel has granted it.
    pub(crate) const fn is_granted(&self) -> bool {
        self.is_granted
    }
}

impl Drop for Prompt {
    fn drop(&mut self) {
        if self.is_granted {
            // It was an ordinary thread before; its nice value is still there.
            schedule(libc::SCHED_OTHER, 0);
        }
    }
}

fn schedule(policy: libc::c_int, priority: libc::c_int) -> bool {
    let parameters = libc::sched_param {
        sched_priority: priority,
    };
    // SAFETY: 0 is the calling thread, and the parameters live during the call.
    unsafe {
        libc::sched_setscheduler(0, policy | libc::SCHED_RESET_ON_FORK, &raw const parameters) == 0
    }
}
