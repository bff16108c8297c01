//! In: the signal that ended the measuring process. Out: the message about it: the likely cause, and
//! what is kept of the run.

use std::borrow::Cow;

use blocklab_host::MemoryKills;
use blocklab_units::Bytes;
use rustix::process::{Resource, getrlimit};

use crate::memory::RefusedMemory;
use crate::signals::ENDING;

/// What was known of the memory when the process began.
#[derive(Debug, Clone, Copy)]
pub struct Before {
    /// The counters of the kernel.
    pub kills: MemoryKills,
    /// What the process is refused from then on.
    pub refused: RefusedMemory,
}

/// The message; `None` for a signal with which users end a run. `kept`: the id of the run with what was
/// measured, if any was stored.
pub fn words(signal: i32, before: Before, kept: Option<&str>) -> Option<String> {
    if ENDING.contains(&signal) {
        return None;
    }
    Some(format!(
        "the process that measured was killed by signal {signal}{}. {}",
        match before.refused.last() {
            Some(bytes) if signal == libc::SIGABRT => Cow::from(refused(bytes, address_space())),
            _ => Cow::from(cause(signal, before.kills, MemoryKills::now())),
        },
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

/// The limit of the memory that this process may map; `None`: there is none.
fn address_space() -> Option<Bytes> {
    getrlimit(Resource::As).current.map(Bytes)
}

/// The cause, where the system refused the process memory, upon which the standard library aborts it.
fn refused(bytes: Bytes, limit: Option<Bytes>) -> String {
    let why = match limit {
        // In the unit that the shell takes.
        Some(limit) => format!(
            "`ulimit -v` allows {} KiB in all; a higher limit",
            limit.0 >> 10
        ),
        None => "the machine has too little of it; a free one".to_owned(),
    };
    format!(
        " (SIGABRT): the system refused it {bytes} of memory: {why}, fewer threads or a lower depth would \
         work"
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
        let limited = refused(Bytes(96 << 10), Some(Bytes(40_000 << 10)));
        assert!(limited.contains("refused it 96 KiB of memory"), "{limited}");
        assert!(
            limited.contains("`ulimit -v` allows 40000 KiB"),
            "{limited}"
        );
        assert!(refused(Bytes(1), None).contains("too little of it"));
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
        // Somebody's Ctrl-C needs no explanation.
        let before = Before {
            kills: MemoryKills::default(),
            refused: RefusedMemory::shared(),
        };
        assert_eq!(words(libc::SIGINT, before, None), None);
    }
}
