//! In: the signal that ended the measuring process. Out: the message about it: the likely cause, and
//! what is kept of the run.

use blocklab_host::MemoryKills;
use rustix::process::{Resource, getrlimit};

use crate::signals::ENDING;

/// The message; `None` for a signal with which users end a run. `before`: the counters when the process
/// began; `kept`: the id of the run with what was measured, if any was stored.
pub fn words(signal: i32, before: MemoryKills, kept: Option<&str>) -> Option<String> {
    if ENDING.contains(&signal) {
        return None;
    }
    let cause = match getrlimit(Resource::As).current {
        Some(limit) if signal == libc::SIGABRT => refused_memory(limit),
        _ => cause(signal, before, MemoryKills::now()).to_owned(),
    };
    Some(format!(
        "the process that measured was killed by signal {signal}{cause}. {}",
        what_is_kept(kept)
    ))
}

/// A sentence about what is stored of a run that could not end in an orderly way.
pub fn what_is_kept(kept: Option<&str>) -> String {
    match kept {
        Some(id) => format!("What was measured until then is kept: blocklab show {id}"),
        None => "Nothing is kept of this run".to_owned(),
    }
}

/// The cause if the process may map only this many bytes: beyond them the system refuses memory, and the
/// standard library then prints how much was requested, and aborts.
fn refused_memory(limit: u64) -> String {
    // In the unit that the shell takes.
    format!(
        " (SIGABRT): `ulimit -v` allows it {} KiB of memory, which were probably used up; a higher limit, \
         fewer threads or a lower depth would work",
        limit >> 10
    )
}

/// The name of the signal, and what it most likely means.
fn cause(signal: i32, before: MemoryKills, now: MemoryKills) -> &'static str {
    match signal {
        libc::SIGKILL if before.group < now.group => {
            " (SIGKILL): the control group has used up its memory (oom_kill rose); a higher limit, \
             fewer threads or a lower depth would work"
        }
        libc::SIGKILL if before.machine < now.machine => {
            " (SIGKILL): the machine ran out of memory (oom_kill in /proc/vmstat rose); fewer \
             threads or a lower depth would work"
        }
        libc::SIGKILL => {
            " (SIGKILL): by a user or another program; the kernel's counters show no lack of memory"
        }
        libc::SIGXFSZ => " (SIGXFSZ): a file became larger than `ulimit -f` allows",
        libc::SIGXCPU => " (SIGXCPU): it used more processor time than `ulimit -t` allows",
        libc::SIGBUS => {
            " (SIGBUS): memory that was mapped from a file is gone, as when the file is truncated \
             or the disk fails"
        }
        libc::SIGSEGV | libc::SIGABRT | libc::SIGILL | libc::SIGFPE => {
            ": this is a bug in blocklab; please report it"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: under `ulimit -v 40000`, a run ended in "this is a bug in blocklab; please report it".
    #[test]
    fn memory_that_the_system_refuses_is_no_bug() {
        let words = refused_memory(40_000 << 10);
        assert!(words.contains("`ulimit -v` allows it 40000 KiB"), "{words}");
        assert!(!words.contains("bug"), "{words}");
    }

    #[test]
    fn the_cause_is_the_likely_one() {
        let kills = |group, machine| MemoryKills { group, machine };
        for (signal, before, now, words) in [
            (
                9,
                kills(Some(0), Some(0)),
                kills(Some(1), Some(1)),
                "control group",
            ),
            (
                9,
                kills(Some(0), Some(0)),
                kills(Some(0), Some(1)),
                "machine ran out",
            ),
            (9, kills(None, None), kills(None, None), "by a user"),
            (25, kills(None, None), kills(None, None), "ulimit -f"),
            (11, kills(None, None), kills(None, None), "bug in blocklab"),
        ] {
            let message = cause(signal, before, now);
            assert!(message.contains(words), "{signal}: {message}");
        }
        // A user who presses Ctrl-C needs no explanation.
        assert_eq!(words(libc::SIGINT, MemoryKills::default(), None), None);
    }
}
