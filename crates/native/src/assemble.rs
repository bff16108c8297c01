//! One job from the levels that it inherits from.

use std::ops::Range;

use blocklab_workload::{Job, Pace};

use super::keys::{self, Key, Need};
use super::raw::Entry;
use blocklab_syntax::toml_tree::Complaint;

/// What became of an entry in one job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fate {
    Used,
    /// A more specific level sets it again, at this place.
    Replaced(Range<usize>),
    /// It is a detail of a choice that was not made; why.
    Unfit(String),
}

/// The entries of one job with what became of them.
pub(super) type Fates<'a> = Vec<(Entry<'a>, Fate)>;

/// Builds a job from its levels, the most specific first. `place` is where an error points that no
/// key is the cause of. What became of each entry is added to `fates`.
pub(super) fn assemble<'a>(
    name: &str,
    place: &Range<usize>,
    levels: &[&[Entry<'a>]],
    fates: &mut Fates<'a>,
) -> Result<Job, Complaint> {
    let mut job = Job::new(name);
    let mut used: Vec<Entry<'a>> = Vec::new();
    for entry in choose(levels, fates)? {
        if let Some(why) = misfit(&job, entry.key) {
            fates.push((entry, Fate::Unfit(why)));
            continue;
        }
        entry.key.read(&mut job, entry.value())?;
        fates.push((entry.clone(), Fate::Used));
        used.push(entry);
    }
    check_complete(&job, &used)?;
    settle_end(&mut job, &used)?;
    job.check().map_err(|invalid| {
        let culprit = culprit(&used, invalid.field);
        let place = culprit.map_or(place.clone(), |entry| entry.value().span());
        Complaint::new(place, invalid.message)
    })?;
    Ok(job)
}

/// The most specific entry of each group of keys, in the order of the table.
fn choose<'a>(levels: &[&[Entry<'a>]], fates: &mut Fates<'a>) -> Result<Vec<Entry<'a>>, Complaint> {
    let mut chosen: Vec<(usize, Entry<'a>)> = Vec::new();
    for (level, entries) in levels.iter().enumerate() {
        for entry in *entries {
            let earlier = chosen
                .iter()
                .find(|(_, earlier)| keys::same_group(earlier.key, entry.key));
            match earlier {
                None => chosen.push((level, entry.clone())),
                Some((same, earlier)) if *same == level => {
                    let (one, two) = (earlier.key.name, entry.key.name);
                    let wrong = format!("`{two}` and `{one}` exclude each other");
                    return Err(Complaint::new(entry.place.clone(), wrong)
                        .hint("both set the same thing: keep one"));
                }
                Some((_, earlier)) => {
                    fates.push((entry.clone(), Fate::Replaced(earlier.place.clone())));
                }
            }
        }
    }
    // A key that belongs to a choice (`need`) must be read after that choice, see `misfit`.
    chosen.sort_by_key(|(_, entry)| keys::rank(entry.key));
    Ok(chosen.into_iter().map(|(_, entry)| entry).collect())
}

/// Why a key cannot apply to the job so far. The key that it needs comes before it in the table.
fn misfit(job: &Job, key: &Key<Job>) -> Option<String> {
    let needed = key.need.needed_key()?;
    let shown = shown(job, needed);
    if key.need.is_met(shown.as_deref()) {
        return None;
    }
    let condition = key.need.condition()?;
    Some(match shown {
        Some(value) => format!("it belongs to {condition}, and `{needed}` is {value}"),
        None => format!("it belongs to `{needed}`, which is not given"),
    })
}

/// The value of a key of the job, as the format writes it.
fn shown(job: &Job, name: &str) -> Option<String> {
    (keys::job_key(name)?.show)(job)
}

/// Refuses a choice without the detail that it needs, such as `pattern = "zipf"` without `theta`.
fn check_complete(job: &Job, used: &[Entry<'_>]) -> Result<(), Complaint> {
    for key in keys::job_keys() {
        let Need::Completes(needed, value) = key.need else {
            continue;
        };
        let met = key.need.is_met(shown(job, needed).as_deref());
        if !met || find(used, key.name).is_some() {
            continue;
        }
        let place = find(used, needed).map_or(0..0, |entry| entry.value().span());
        let wrong = format!("{needed} = \"{value}\" needs `{}`", key.name);
        return Err(key.with_advice(Complaint::new(place, wrong).hint(key.meaning)));
    }
    Ok(())
}

/// Checks the pace, and decides whether the default runtime holds.
fn settle_end(job: &mut Job, used: &[Entry<'_>]) -> Result<(), Complaint> {
    if let Some(entry) = find(used, "arrivals") {
        let is_open = entry.value().text().is_ok_and(|word| word != "closed");
        if matches!(job.pace, Pace::Closed) && is_open {
            let wrong = "arrivals of an open loop need a rate";
            return Err(Complaint::new(entry.value().span(), wrong)
                .hint("add rate_iops = 3000 or rate_bytes = \"100MB\""));
        }
        if matches!(job.pace, Pace::ByDirection { .. }) && !is_open {
            let wrong = "rates by direction are schedules: operations arrive at them";
            return Err(Complaint::new(entry.value().span(), wrong)
                .hint("arrivals = \"fixed\" or \"poisson\" would work, or one rate for all"));
        }
    }
    if find(used, "runtime").is_some() {
        return Ok(());
    }
    // A job that ends by itself has no runtime, unless it was given one.
    let bounded = job.stop.bytes.is_some() || job.stop.loops.is_some() || job.stop.ios.is_some();
    if bounded {
        job.stop.runtime = None;
    } else if let Some(entry) = find(used, "steady").filter(|_| job.stop.steady.is_some()) {
        let wrong = "a wait for the steady state needs `runtime`: the longest that it may take";
        return Err(Complaint::new(entry.value().span(), wrong).hint("example: runtime = \"1h\""));
    }
    Ok(())
}

/// The entry that breaks a rule about a field of the job, which a small table or several keys can set;
/// `None` where it is not known.
fn culprit<'u, 'a>(used: &'u [Entry<'a>], field: &str) -> Option<&'u Entry<'a>> {
    let keys: &[&str] = match field {
        "verify_interval" | "verify_backlog" => &["verify"],
        "window_range" => &["window"],
        "priority" => &["nice", "io_priority"],
        "sample_every" => &["sample_bandwidth", "sample_iops"],
        _ => &[field],
    };
    let mut set = keys.iter().filter_map(|key| find(used, key));
    // Where several are set, the rule does not tell which of them breaks it.
    set.next().filter(|_| set.next().is_none())
}

/// The entry of this key, or of this group of keys.
fn find<'u, 'a>(used: &'u [Entry<'a>], name: &str) -> Option<&'u Entry<'a>> {
    let named = used.iter().find(|entry| entry.key.name == name);
    named.or_else(|| used.iter().find(|entry| entry.key.group == Some(name)))
}
