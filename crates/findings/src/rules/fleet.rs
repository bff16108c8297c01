//! What only several hosts together can show: one that holds the others' figures down, clocks that
//! do not agree, machines that differ.

use std::collections::{BTreeMap, BTreeSet};

use blocklab_record::{Environment, FleetPass, Record};
use blocklab_stats::{Histogram, median};
use blocklab_workload::Direction;

use crate::fleet::{host_rows, run_of_host};
use crate::hit::{critical, info, opening, per_case, per_run, warning};
use crate::rows::summed;
use crate::statement::{delay, listed, percent as share_of, word};
use crate::view::Cases;
use crate::{Confidence, Finding};

/// Less of the measured time than this, in per cent, and the sum is no figure of all hosts at once.
const TOGETHER_PERCENT: f64 = 90.0;
/// A host this far below the median, by the modified z-score of Iglewicz and Hoaglin (1993), is
/// another kind of host.
const FAR: f64 = 3.5;
/// A quarter of a normal distribution lies beyond 0.6745 standard deviations, which is where the median
/// distance from the median is: with it the score counts standard deviations.
const QUARTER: f64 = 0.6745;
/// Nearer to the median than this share, no host holds anything back, however alike the others are.
const NEAR: f64 = 0.9;
/// Fewer hosts have no median from which one could stand out.
const FEW: usize = 3;
/// The tail is one host's where it falls to this share without it.
const TAIL: f64 = 0.7;

/// The hosts ran together for less than the whole time.
pub(super) fn common_window(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Start the hosts at one moment (`run --start-at`), with clocks that are kept in \
                  step, and give all of them the same time.";
    per_case(cases, "common-window", Some(advice), |case| {
        let passes = cases.record.fleet.as_ref()?.whole_passes(case.name);
        let shares = passes.filter_map(|pass: &FleetPass| pass.window_percent);
        let least = shares.reduce(f64::min)?;
        (least < TOGETHER_PERCENT).then(|| {
            warning(
                "all hosts were measured together for only {} of the time, so the sum of their \
                 rates is no rate that they had at once",
                [share_of(least)],
            )
            .graded(-least)
            .with("common window", least, "%")
        })
    })
}

/// Hosts took part and left nothing, or less than the others.
pub(super) fn hosts_lost(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Look at the host and its network. A run that it kept is added with `blocklab merge`: \
                  name the runs of all hosts.";
    per_run("hosts-lost", Some(advice), || {
        let fleet = cases.record.fleet.as_ref()?;
        let names: Vec<&str> = fleet.lost.iter().map(|host| host.name.as_str()).collect();
        let all = fleet.lost.len() + fleet.hosts.len();
        let hit = critical(
            "The run lost {} of {} hosts ({}): the sums lack their share, and the others were stopped",
            [
                word(fleet.lost.len().to_string()),
                word(all.to_string()),
                word(listed(&names, "and")),
            ],
        );
        (!names.is_empty()).then(|| hit.with("hosts lost", names.len() as f64, ""))
    })
}

/// The clock of a host is not synchronised: the reported skews may be wrong.
pub(super) fn unsynchronised(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Run chrony or another NTP client on every host.";
    per_run("clock-unsynchronised", Some(advice), || {
        let fleet = cases.record.fleet.as_ref()?;
        let loose = fleet.hosts.iter().filter(|host| {
            let quality = host.environment.clock_quality;
            quality.is_some_and(|quality| !quality.is_synchronised)
        });
        let names: Vec<&str> = loose.map(|host| host.name.as_str()).collect();
        // Where the clocks were compared, their own times do not matter.
        let is_compared = fleet.hosts.iter().any(|host| host.clock.is_some());
        let has_skew = fleet.passes.iter().any(|pass| pass.start_skew_ns.is_some());
        let hit = info(
            "The clock of {} is not kept in step with others, so skews and the common window are only \
             as right as it happens to be",
            [word(listed(&names, "and"))],
        );
        (!names.is_empty() && !is_compared && has_skew).then_some(hit)
    })
}

/// The rules that name what holds a run back, the surest first.
const LIMITS: [&str; 9] = [
    "credits-used-up",
    "at-limit",
    "group-limit",
    "volume-statistics",
    "quota-throttled",
    "cpu-limit",
    "byte-cap",
    "iops-cap",
    "latency-bound",
];

/// The limit that holds a host back in a case, in the words of a finding of its own run.
fn own_limit(record: &Record, host: &str, case: &str) -> Option<String> {
    let own = run_of_host(record, host)?;
    let rows = summed(&own);
    let cases = Cases::new(&own, &rows);
    let findings = super::judge(&cases);
    let found = LIMITS.iter().find_map(|rule| {
        findings.iter().find(|finding| {
            let subject = &finding.subject;
            finding.rule == *rule && (subject.is_empty() || subject.iter().any(|of| of == case))
        })
    });
    found.map(|finding| {
        let statement = finding.statement.trim_end_matches('.');
        // The sentence around it names its cases already.
        let names: Vec<&str> = finding.subject.iter().map(String::as_str).collect();
        let of_cases = statement.strip_prefix(&opening(&names, cases.list.len()));
        of_cases.unwrap_or(statement).trim_start().to_owned()
    })
}

/// Whether all hosts have jobs of the same kind in a case, so that their rates can be compared with
/// each other: the parts of a parameter file of Vdbench need not be alike.
fn is_one_load(record: &Record, case: &str) -> bool {
    let passes = record.measurements.iter();
    let mut of_case = passes.filter(|pass| pass.case == case);
    of_case.all(|pass| {
        let mut hosts: BTreeMap<Option<&str>, Vec<_>> = BTreeMap::new();
        for job in &pass.jobs {
            let kind = (&job.pattern, &job.block_sizes, &job.mix, job.requested_iops);
            let size = (job.threads, job.depth);
            hosts
                .entry(job.host.as_deref())
                .or_default()
                .push((kind, size));
        }
        let mut kinds = hosts.into_values();
        let first = kinds.next();
        kinds.all(|kind| Some(kind) == first)
    })
}

/// One host delivers far less than the others.
pub(super) fn straggler(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Look at the run of that host by itself: `blocklab diagnose` names its limit.";
    per_case(cases, "straggler", Some(advice), |case| {
        if !is_one_load(cases.record, case.name) {
            return None;
        }
        let hosts = host_rows(cases.record, case.name);
        let rates: Vec<f64> = hosts
            .iter()
            .map(|host| host.row.iops_with_syncs())
            .collect();
        let usual = median(&rates);
        let away: Vec<f64> = rates.iter().map(|rate| (rate - usual).abs()).collect();
        let spread = median(&away);
        let by_rate = hosts.iter().zip(rates);
        let (slowest, rate) = by_rate.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
        // Medians instead of mean and deviation: in a few hosts the straggler itself would widen those.
        let is_far = QUARTER * (usual - rate) > FAR * spread;
        (hosts.len() >= FEW && rate < usual * NEAR && is_far).then(|| {
            let limit = own_limit(cases.record, &slowest.host, case.name);
            warning(
                "{} delivers {} of what the hosts deliver in the median; {}",
                [
                    word(slowest.host.clone()),
                    share_of(rate / usual * 100.0),
                    word(limit.map_or("no limit of it is named".to_owned(), |limit| {
                        format!("its own limit: {limit}")
                    })),
                ],
            )
            .graded(-rate / usual)
            .with("its rate", rate, "IOPS")
            .with("median of the hosts", usual, "IOPS")
        })
    })
}

/// The tail of all is the tail of one host.
pub(super) fn tail_of_one(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Look at the run of that host by itself: `blocklab diagnose` names what its slow \
                  operations have in common.";
    per_case(cases, "tail-of-one-host", Some(advice), |case| {
        let hosts = latencies(cases.record, case.name)?;
        if hosts.len() < FEW || !is_one_load(cases.record, case.name) {
            return None;
        }
        let mut all = Histogram::new();
        for latencies in hosts.values() {
            all.merge(latencies);
        }
        let of_all = p99(&all)?;
        let without = hosts
            .iter()
            .filter_map(|(host, latencies)| Some((*host, p99(&all.since(latencies))?)));
        // The host without which the most of the tail is gone.
        let (host, rest) = without.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
        (rest < of_all * TAIL).then(|| {
            warning(
                "p99 of all hosts is that of {}: without it {} instead of {}",
                [word(host), delay(rest), delay(of_all)],
            )
            .confidence(Confidence::Medium)
            .graded(of_all / rest)
            .with("p99 of all hosts", of_all, "ns")
            .with("p99 without it", rest, "ns")
        })
    })
}

/// The service latencies of all that each host read, wrote and trimmed in a case; `None`: a histogram
/// cannot be read.
fn latencies<'a>(record: &'a Record, case: &str) -> Option<BTreeMap<&'a str, Histogram>> {
    let mut hosts: BTreeMap<&str, Histogram> = BTreeMap::new();
    let all = record.measurements.iter();
    let passes = all.filter(|pass| pass.case == case && pass.pass > 0);
    for job in passes.flat_map(|pass| &pass.jobs) {
        let Some(host) = &job.host else { continue };
        let of_host = hosts.entry(host).or_default();
        let moved = job.directions.iter();
        for (_, result) in moved.filter(|(direction, _)| **direction != Direction::Sync) {
            of_host.merge(&result.service.histogram().ok()?);
        }
    }
    Some(hosts)
}

fn p99(latencies: &Histogram) -> Option<f64> {
    (latencies.count() > 0).then(|| latencies.quantile(0.99) as f64)
}

/// Something of a machine, as text.
type Fact = fn(&Environment) -> String;

/// Hosts that are not alike.
pub(super) fn hosts_differ(cases: &Cases<'_>) -> Vec<Finding> {
    let facts: [(&str, Fact); 6] = [
        ("kernel", |host| host.kernel.clone()),
        ("system", |host| host.os.clone()),
        ("processor", |host| host.processor.model.clone()),
        ("number of processors", |host| {
            host.processor.count.to_string()
        }),
        ("memory", |host| host.memory_bytes.to_string()),
        ("instance type", |host| {
            host.instance.clone().unwrap_or_default()
        }),
    ];
    per_run("hosts-differ", None, || {
        let fleet = cases.record.fleet.as_ref()?;
        let differing = facts.into_iter().filter_map(|(name, fact)| {
            let values = fleet.hosts.iter().map(|host| fact(&host.environment));
            // An empty text means unknown, which is no difference.
            let known: BTreeSet<String> = values.filter(|value| !value.is_empty()).collect();
            let known: Vec<String> = known.into_iter().collect();
            (known.len() > 1).then(|| format!("{name} ({})", known.join(", ")))
        });
        let differing: Vec<String> = differing.collect();
        let hit = info("The hosts differ: {}", [word(differing.join("; "))]);
        (!differing.is_empty()).then_some(hit)
    })
}

#[cfg(test)]
mod tests {
    use blocklab_record::{ClockQuality, HostRun, Record, merge, merge_parts};

    use crate::testing::{Sketch, record, silent, the};

    fn host(name: &str, iops: f64, latency_ns: f64) -> Record {
        let mut run = record(&[Sketch {
            iops: vec![iops; 3],
            latency_ns: Some(latency_ns),
            ..Sketch::default()
        }]);
        run.id = name.to_owned();
        run.environment.host_name = Some(name.to_owned());
        for measurement in &mut run.measurements {
            measurement.started_unix_us = Some(1_800_000_000_000_000);
        }
        run
    }

    fn fleet(hosts: &[Record]) -> Record {
        let runs: Vec<HostRun> = hosts.iter().cloned().map(HostRun::unnamed).collect();
        merge(&runs, &[]).expect("one load")
    }

    fn alike() -> Vec<Record> {
        ["a", "b", "c", "d"]
            .map(|name| host(name, 10_000.0, 1e6))
            .to_vec()
    }

    #[test]
    fn a_host_that_is_far_below_the_others() {
        let mut hosts = alike();
        hosts[1] = host("b", 9_900.0, 1e6);
        silent(&fleet(&hosts), "straggler");
        hosts[2] = host("c", 6_000.0, 1e6);
        let found = the(&fleet(&hosts), "straggler");
        assert!(
            found.statement.contains("c delivers 60 %"),
            "{}",
            found.statement
        );
        assert!(
            found.statement.contains("no limit of it is named"),
            "{}",
            found.statement
        );
    }

    /// Of a straggler it said only by how much it is slower, and its run had to be looked for by hand.
    #[test]
    fn a_straggler_is_named_with_what_holds_it_back() {
        let mut hosts = alike();
        hosts[2] = host("c", 6_000.0, 1e6);
        for measurement in &mut hosts[2].measurements {
            measurement.throttled_ns = Some(measurement.elapsed_ns);
        }
        let found = the(&fleet(&hosts), "straggler");
        assert!(
            found.statement.contains("its own limit:")
                && found.statement.contains("processor quota"),
            "{}",
            found.statement
        );
    }

    /// The story: of a limit in several cases, the sentence named them twice: "one and two: c delivers
    /// 60 % …; its own limit: one and two: …".
    #[test]
    fn the_limit_of_a_straggler_does_not_name_the_cases_again() {
        let mut hosts = alike();
        hosts[2] = host("c", 6_000.0, 1e6);
        for host in &mut hosts {
            let mut second = host.measurements.clone();
            for measurement in &mut second {
                measurement.case = "second".to_owned();
            }
            host.measurements.extend(second);
        }
        for measurement in &mut hosts[2].measurements {
            measurement.throttled_ns = Some(measurement.elapsed_ns);
        }
        let statement = the(&fleet(&hosts), "straggler").statement;
        let limit = "its own limit: the container's processor quota";
        assert!(statement.contains(limit), "{statement}");
    }

    /// Hosts with parts of their own deliver what their parts ask for.
    #[test]
    fn hosts_that_do_something_else_are_no_stragglers() {
        let mut hosts = alike();
        hosts[2] = host("c", 6_000.0, 1e6);
        for job in hosts[2]
            .measurements
            .iter_mut()
            .flat_map(|pass| &mut pass.jobs)
        {
            job.depth += 1;
        }
        let runs: Vec<HostRun> = hosts.iter().cloned().map(HostRun::unnamed).collect();
        let parts = merge_parts(&runs, &[]).expect("parts of one load");
        silent(&parts, "straggler");
    }

    #[test]
    fn a_tail_that_is_one_hosts() {
        silent(&fleet(&alike()), "tail-of-one-host");
        let mut hosts = alike();
        hosts[3] = host("d", 10_000.0, 5e6);
        let found = the(&fleet(&hosts), "tail-of-one-host");
        assert!(found.statement.contains("that of d"), "{}", found.statement);
    }

    #[test]
    fn hosts_that_were_not_together() {
        silent(&fleet(&alike()), "common-window");
        let late = |us: u64| {
            let mut hosts = alike();
            for measurement in &mut hosts[0].measurements {
                measurement.started_unix_us = measurement.started_unix_us.map(|at| at + us);
            }
            fleet(&hosts)
        };
        silent(&late(900_000), "common-window");
        the(&late(1_100_000), "common-window");
    }

    /// The story: hosts that began a discarded pass apart, and the others together, "were measured together
    /// for only 50 % of the time".
    #[test]
    fn a_discarded_pass_need_not_be_together() {
        let mut hosts = alike();
        for host in &mut hosts {
            host.measurements[0].pass = 0;
        }
        let first = &mut hosts[0].measurements[0];
        first.started_unix_us = first.started_unix_us.map(|at| at + 5_000_000);
        silent(&fleet(&hosts), "common-window");
        for host in &mut hosts {
            host.measurements[0].pass = 1;
        }
        the(&fleet(&hosts), "common-window");
    }

    #[test]
    fn clocks_and_machines() {
        let mut hosts = alike();
        silent(&fleet(&hosts), "clock-unsynchronised");
        silent(&fleet(&hosts), "hosts-differ");
        hosts[1].environment.kernel = "6.1.0-18".to_owned();
        hosts[2].environment.kernel = "6.1.0-21".to_owned();
        hosts[0].environment.clock_quality = Some(ClockQuality {
            is_synchronised: false,
            max_error_ns: 16_000_000_000,
        });
        let found = the(&fleet(&hosts), "hosts-differ");
        assert!(
            found.statement.contains("6.1.0-18, 6.1.0-21"),
            "{}",
            found.statement
        );
        the(&fleet(&hosts), "clock-unsynchronised");
    }
}
