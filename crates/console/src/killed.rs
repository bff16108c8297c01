//! The message about a process that was killed while it measured.

use blocklab_host::MemoryKills;

use crate::signals::ENDING;

/// The message; `None` for a signal by which the user ended it himself. `kept`: the id of the
/// run that holds what was measured.
pub fn words(signal: i32, before: MemoryKills, kept: Option<&str>) -> Option<String> {
    if ENDING.contains(&signal) {
        return None;
    }
    Some(format!(
        "the process that measured was killed by signal {signal}{}. {}",
        cause(signal, before, MemoryKills::now()),
        what_is_kept(kept)
    ))
}

/// What is left of a run that could not end in an orderly way.
pub fn what_is_kept(kept: Option<&str>) -> String {
    match kept {
        Some(id) => format!("What was measured until then is kept: blocklab show {id}"),
        None => "Nothing is kept of it".to_owned(),
    }
}

/// The name of the signal, and what it most likely means.
fn cause(signal: i32, before: MemoryKills, now: MemoryKills) -> &'static str {
    let rose = |of: fn(&MemoryKills) -> Option<u64>| of(&before) < of(&now);
    match signal {
        libc::SIGKILL if rose(|kills| kills.group) => {
            " (SIGKILL): the control group has used up its memory (oom_kill rose); a higher limit, \
             fewer threads or a lower depth would work"
        }
        libc::SIGKILL if rose(|kills| kills.machine) => {
            " (SIGKILL): the machine ran out of memory (oom_kill in /proc/vmstat rose); fewer \
             threads or a lower depth would work"
        }
        libc::SIGKILL => {
            " (SIGKILL): by somebody, or by another program; not for want of memory, as far as \
             the kernel's counters show"
        }
        libc::SIGXFSZ => " (SIGXFSZ): a file became larger than `ulimit -f` allows",
        libc::SIGXCPU => " (SIGXCPU): it used more processor time than `ulimit -t` allows",
        libc::SIGBUS => {
            " (SIGBUS): memory was lost under it, as when a file is cut or a disk fails"
        }
        libc::SIGSEGV | libc::SIGABRT | libc::SIGILL | libc::SIGFPE => {
            ": this is a fault of blocklab, which is worth a report"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            (9, kills(None, None), kills(None, None), "by somebody"),
            (25, kills(None, None), kills(None, None), "ulimit -f"),
            (
                11,
                kills(None, None),
                kills(None, None),
                "fault of blocklab",
            ),
        ] {
            let message = cause(signal, before, now);
            assert!(message.contains(words), "{signal}: {message}");
        }
        // Somebody's Ctrl-C needs no explanation.
        assert_eq!(words(libc::SIGINT, MemoryKills::default(), None), None);
    }
}
