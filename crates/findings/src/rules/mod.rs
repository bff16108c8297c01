//! One file a family, one function a rule, each with a test that makes it speak and one that
//! keeps it silent.

mod cache;
mod caps;
mod container;
mod depth;
pub(crate) mod episode;
mod failures;
mod fleet;
mod goal;
pub(crate) mod group;
mod job_latency;
mod length;
pub(crate) mod limits;
mod observed;
mod outside;
mod pacing;
mod passes;
pub(crate) mod processor;
pub(crate) mod rate;
mod replay;
mod series;
mod sibling;
mod slices;
mod sound;
mod submission;
mod tail;
mod volume;

use std::cmp::Reverse;

pub(crate) use slices::uncut;

use crate::view::Cases;
use crate::{Confidence, Finding, Severity};

type Rule = fn(&Cases<'_>) -> Vec<Finding>;

/// In the order in which findings of the same severity are shown: what spoils a figure comes
/// before what explains it.
const RULES: [Rule; 67] = [
    failures::accounting,
    observed::injected_faults,
    failures::failed,
    failures::interrupted,
    failures::failed_operations,
    failures::stalled,
    failures::unanswered,
    failures::damaged_histogram,
    cache::page_cache_reads,
    cache::page_cache_writes,
    cache::not_from_device,
    cache::buffered_loop,
    cache::fuse_server,
    cache::memory_target,
    cache::not_direct,
    container::engine_replaced,
    container::layered_file_system,
    container::throttled,
    container::memory_limit,
    fleet::hosts_lost,
    fleet::common_window,
    fleet::straggler,
    fleet::tail_of_one,
    fleet::unsynchronised,
    fleet::hosts_differ,
    outside::stood_still,
    outside::disk_shared,
    processor::cpu_limit,
    processor::machine_busy,
    processor::overhead,
    processor::uring_workers,
    processor::clock,
    observed::late_replies,
    observed::changed,
    rate::rate_missed,
    goal::not_steady,
    goal::latency_target,
    replay::late,
    replay::changed,
    replay::unordered,
    replay::faithful,
    submission::useless_depth,
    depth::littles_law,
    submission::batched,
    passes::outlier_pass,
    passes::drift_over_passes,
    passes::scatter,
    episode::standstill,
    episode::slow_episode,
    tail::heavy_tail,
    limits::credits_used_up,
    series::level_fell,
    series::level_rose,
    series::drift_within,
    limits::above_limit,
    length::too_short,
    length::few_samples,
    limits::at_limit,
    group::group_limit,
    volume::volume_statistics,
    observed::bound_by,
    observed::never_bound,
    caps::byte_cap,
    caps::iops_cap,
    pacing::paced,
    depth::over_driven,
    depth::latency_bound,
];

/// What every rule finds, most severe first, then in the order of the rules; and what is established,
/// where no rule doubts a figure.
pub(crate) fn judge(cases: &Cases<'_>) -> Vec<Finding> {
    let mut findings: Vec<_> = RULES.iter().flat_map(|rule| rule(cases)).collect();
    drop_needless_guesses(&mut findings);
    if findings
        .iter()
        .all(|finding| finding.severity <= Severity::Info)
    {
        findings.extend(sound::established(cases));
    }
    // Stable: within a severity, the order of the rules stays.
    findings.sort_by_key(|finding| Reverse(finding.severity));
    findings
}

/// Removes "latency may be the limit" if another finding is known for each of its cases: next to a level
/// that fell, or a limit for which operations waited, the guess would be a second cause.
pub fn drop_needless_guesses(findings: &mut Vec<Finding>) {
    let known: Vec<Finding> = findings
        .iter()
        .filter(|finding| !is_guess(finding) && finding.severity > Severity::Good)
        .cloned()
        .collect();
    findings.retain(|guess| {
        !is_guess(guess)
            || !guess.subject.iter().all(|case| {
                let mut about = known.iter();
                about.any(|finding| finding.subject.is_empty() || finding.subject.contains(case))
            })
    });
}

fn is_guess(finding: &Finding) -> bool {
    finding.rule == "latency-bound" && finding.confidence == Confidence::Low
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    /// The users of `diskspd` and `fio` were told to use a longer `--runtime`, which neither has: what a rule
    /// advises is about a run of any tool, so an option stands with the command that has it.
    #[test]
    fn options_stand_with_their_command() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rules");
        for file in fs::read_dir(folder).expect("the rules").flatten() {
            let text = fs::read_to_string(file.path()).expect("source");
            let rules = text.split("#[cfg(test)]").next().unwrap_or_default();
            for line in rules.lines().filter(|line| !line.trim().starts_with("//")) {
                for (at, _) in line.match_indices(" --") {
                    let is_quoted = line[..at].matches('`').count() % 2 == 1;
                    assert!(is_quoted, "{}: {line}", file.path().display());
                }
            }
        }
    }
}
