//! The message about a process that was killed while it measured.

use std::fs;

/// How often the kernel has killed a process for want of memory, until now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryKills {
    /// Kills in the control group of this process; `None`: unknown.
    group: Option<u64>,
    /// In the whole machine.
    machine: Option<u64>,
}

impl MemoryKills {
    /// Looks.
    pub fn now() -> Self {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let (groups, mounts) = (text("/proc/self/cgroup"), text("/proc/mounts"));
        let counters = counters(&groups, &mounts);
        Self {
            group: counters.iter().find_map(|path| count(&text(path))),
            machine: count(&text("/proc/vmstat")),
        }
    }
}

/// The files that may hold the counter of this process's group: of version 1, of version 2, and
/// where the group's path is that of another name space, of the root that is mounted.
fn counters(groups: &str, mounts: &str) -> Vec<String> {
    let mut files = Vec::new();
    for mount in mounts.lines() {
        let words: Vec<&str> = mount.split(' ').collect();
        let &[_, point, kind, options, ..] = &words[..] else {
            continue;
        };
        let (file, of_group): (&str, fn(&str) -> Option<&str>) = match kind {
            "cgroup" if options.split(',').any(|it| it == "memory") => {
                ("memory.oom_control", |line| {
                    let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
                    let has_memory = controllers.split(',').any(|it| it == "memory");
                    has_memory.then_some(path)
                })
            }
            "cgroup2" => ("memory.events", |line| line.strip_prefix("0::")),
            _ => continue,
        };
        let path = groups.lines().find_map(of_group).unwrap_or_default();
        files.push(format!("{point}{}/{file}", path.trim_end_matches('/')));
        files.push(format!("{point}/{file}"));
    }
    files
}

fn count(text: &str) -> Option<u64> {
    let line = |line: &str| line.strip_prefix("oom_kill ")?.trim().parse().ok();
    text.lines().find_map(line)
}

/// The message; `None` for a signal by which the user ended it himself. `kept`: the id of the
/// run that holds what was measured.
pub fn words(signal: i32, before: MemoryKills, kept: Option<&str>) -> Option<String> {
    if [libc::SIGINT, libc::SIGTERM, libc::SIGHUP].contains(&signal) {
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
    fn the_counter_of_the_group_is_found() {
        let v1 = "cgroup /sys/fs/cgroup/memory cgroup rw,nosuid,memory 0 0\n";
        let v2 = "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        let groups = "4:memory:/box/a\n1:cpu,cpuacct:/x\n0::/b\n";
        assert_eq!(
            counters(groups, &format!("{v1}proc /proc proc rw 0 0\n{v2}")),
            [
                "/sys/fs/cgroup/memory/box/a/memory.oom_control",
                "/sys/fs/cgroup/memory/memory.oom_control",
                "/sys/fs/cgroup/unified/b/memory.events",
                "/sys/fs/cgroup/unified/memory.events",
            ]
        );
        assert_eq!(counters("", ""), [""; 0]);
        let text = "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n";
        assert_eq!(count(text), Some(3));
        assert_eq!(
            count("low 0\noom 1\noom_kill 1\noom_group_kill 0\n"),
            Some(1)
        );
        assert_eq!(count(""), None);
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
