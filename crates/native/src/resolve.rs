//! From the study as written to its plan: jobs inherit keys from the levels above them, and each
//! combination of the swept values becomes a case.

use std::collections::BTreeMap;
use std::ops::Range;

use blocklab_record::{Note, NoteLevel};
use blocklab_units::Nanos;
use blocklab_workload::publication::{Family, Publication, Share};
use blocklab_workload::{Case, Job, Pace, Rate, Workload, swept_part};

use super::assemble::{Fate, Fates, assemble};
use super::keys::Need;
use super::raw::{Axis, Entry, Raw, RawCase};
use super::value::Value;
use super::{CaseTrace, Parsed};
use blocklab_syntax::toml_tree::{Complaint, line_of};

/// A sweep that makes more is a slip: no one waits for it.
pub const MOST_CASES: usize = 10_000;

/// Resolves a study; of what it shows, only its sweeps and shares. `text` is its source, for the names
/// of swept values; `fallback_name` is used where it has no name.
pub(super) fn resolve(raw: &Raw<'_>, text: &str, fallback_name: &str) -> Result<Parsed, Complaint> {
    let mut resolver = Resolver {
        raw,
        text,
        fates: BTreeMap::new(),
        names: BTreeMap::new(),
    };
    refuse_too_many(raw)?;
    let seed_given = gives_every_seed(raw)?;
    let mut cases: Vec<Case> = Vec::new();
    let (mut families, mut shares, mut traces) = (Vec::new(), Vec::new(), Vec::new());
    for case in &raw.cases {
        let first = cases.len();
        traces.extend(case_trace(raw, case, text)?);
        resolver.add_combinations(case, &mut cases)?;
        resolver.add_shares(case, first, &mut cases, &mut shares)?;
        let made = cases[first..].iter();
        families.push(Family {
            name: case.head.name.clone(),
            cases: made
                .map(|made| (made.settings.clone(), made.name.clone()))
                .collect(),
        });
    }
    let notes = resolver.notes()?;
    let mut plan = raw.study.plan.clone();
    plan.cases = cases;
    if plan.name.is_empty() {
        fallback_name.clone_into(&mut plan.name);
    }
    Ok(Parsed {
        plan,
        notes,
        seed_given,
        engine_given: raw.chooses_engine(),
        traces,
        publication: Publication {
            families,
            shares,
            ..Publication::default()
        },
    })
}

/// Whether a key of a job says something about a replay; [defaults] may hold others for other cases.
fn fits_trace(entry: &Entry<'_>) -> bool {
    let of_engine = matches!(entry.key.need, Need::With("engine", _));
    of_engine || ["targets", "engine", "access"].contains(&entry.key.name)
}

/// The recorded load that a case replays. Such a case must not have keys that describe operations: the
/// trace decides them.
fn case_trace(
    raw: &Raw<'_>,
    case: &RawCase<'_>,
    text: &str,
) -> Result<Option<CaseTrace>, Complaint> {
    let Some(wanted) = case.head.trace.clone() else {
        return Ok(None);
    };
    let refused = |place: Range<usize>, what: String| {
        Err(Complaint::new(place, what).hint("a case of its own can have it: [[case]]"))
    };
    if let Some(entry) = case.entries.iter().find(|entry| !fits_trace(entry)) {
        let what = format!(
            "`{}` has no effect in a case that replays a `trace`",
            entry.key.name
        );
        return refused(entry.place.clone(), what);
    }
    if let Some(axis) = axes_of(raw, case).first() {
        let what = format!(
            "`{}` is swept, and the case `{}` replays a `trace`",
            axis.key.name, case.head.name
        );
        return refused(axis.place.clone(), what);
    }
    if !case.jobs.is_empty() || !case.head.rate_percent.is_empty() {
        let what = "a case that replays a `trace` has no jobs and no `rate_percent`".to_owned();
        return refused(case.place.clone(), what);
    }
    Ok(Some(CaseTrace {
        case: case.head.name.clone(),
        line: line_of(text, case.place.start),
        wanted,
    }))
}

/// The axes of a case: the study's, unless the case has its own of that name, then its own.
fn axes_of<'r>(raw: &'r Raw<'r>, case: &'r RawCase<'r>) -> Vec<&'r Axis<'r>> {
    let own: Vec<&str> = case.axes.iter().map(|axis| axis.key.name).collect();
    let shared = raw.axes.iter().filter(|axis| !own.contains(&axis.key.name));
    shared.chain(&case.axes).collect()
}

/// Whether the text gives every seed; if not, all are drawn.
///
/// # Errors
/// When only some cases have a seed: one is drawn for the whole study, and would replace theirs.
fn gives_every_seed(raw: &Raw<'_>) -> Result<bool, Complaint> {
    let mut cases = raw.cases.iter();
    if raw.study.seed.is_some() || cases.all(|case| case.head.seed.is_some()) {
        return Ok(true);
    }
    match raw.cases.iter().find(|case| case.head.seed.is_some()) {
        None => Ok(false),
        Some(case) => {
            let wrong = "this case has a seed, and others have none";
            Err(Complaint::new(case.place.clone(), wrong)
                .hint("add a seed of the study, above the first [section]: seed = 42"))
        }
    }
}

/// Counts the cases before any is made: a sweep with one axis too many would fill the memory.
fn refuse_too_many(raw: &Raw<'_>) -> Result<(), Complaint> {
    let mut total = 0_usize;
    for case in &raw.cases {
        let axes = axes_of(raw, case);
        let combinations = axes.iter().fold(1_usize, |product, axis| {
            product.saturating_mul(axis.values.len())
        });
        // Each of them comes once more for every share of its full rate.
        let times = 1 + case.head.rate_percent.len();
        total = total.saturating_add(combinations.saturating_mul(times));
        if total > MOST_CASES {
            let place = axes.first().map_or(&case.place, |axis| &axis.place);
            let wrong =
                format!("the sweep makes at least {total} cases, and {MOST_CASES} are allowed");
            return Err(Complaint::new(place.clone(), wrong).hint(
                "each axis multiplies the number of cases: sweep fewer values, or split the study",
            ));
        }
    }
    Ok(())
}

struct Resolver<'r> {
    raw: &'r Raw<'r>,
    text: &'r str,
    /// What became of each entry that is inherited, by the place of its key.
    fates: BTreeMap<usize, Inherited<'r>>,
    /// Names of cases, and the place of the case that made each.
    names: BTreeMap<String, usize>,
}

/// An entry and what became of it in all the jobs that could take it.
struct Inherited<'r> {
    entry: Entry<'r>,
    used: bool,
    replaced: bool,
    unfit: Option<String>,
}

impl<'r> Resolver<'r> {
    /// Adds a case for every combination of the axes of `case`, the first axis slowest.
    fn add_combinations(
        &mut self,
        case: &'r RawCase<'r>,
        cases: &mut Vec<Case>,
    ) -> Result<(), Complaint> {
        let axes = axes_of(self.raw, case);
        let combinations: usize = axes.iter().map(|axis| axis.values.len()).product();
        for number in 0..combinations {
            // The digits of a number whose base changes from axis to axis, the last one first.
            let mut rest = number;
            let mut chosen: Vec<Entry<'r>> = axes
                .iter()
                .rev()
                .map(|axis| {
                    let node = axis.values[rest % axis.values.len()];
                    rest /= axis.values.len();
                    let (key, place) = (axis.key, axis.place.clone());
                    Entry { key, place, node }
                })
                .collect();
            chosen.reverse();
            cases.push(self.case(case, &chosen)?);
        }
        Ok(())
    }

    /// Adds the cases of `rate_percent` after each case from `first_case` on: the same load at shares of
    /// the rate that the case will reach. Their rates are placeholders until then.
    fn add_shares(
        &mut self,
        raw: &'r RawCase<'r>,
        first_case: usize,
        cases: &mut Vec<Case>,
        shares: &mut Vec<Share>,
    ) -> Result<(), Complaint> {
        // Taken out and put back, so that the shares of each case come right after it.
        let full = cases.split_off(first_case);
        for case in full {
            let paced = case
                .workload
                .jobs
                .iter()
                .any(|job| job.pace != Pace::Closed);
            if paced && !raw.head.rate_percent.is_empty() {
                let wrong = "`rate_percent` is a share of the full rate, and the case has a rate";
                return Err(Complaint::new(raw.place.clone(), wrong));
            }
            cases.push(case.clone());
            for percent in &raw.head.rate_percent {
                let paced = at_share(&case, *percent, raw.head.rate_ramp);
                self.claim(&paced.name, raw, &[])?;
                shares.push(Share {
                    case: paced.name.clone(),
                    of: case.name.clone(),
                    percent: *percent,
                });
                cases.push(paced);
            }
        }
        Ok(())
    }

    /// The case of one combination of a sweep. `chosen`: the entries that the sweep sets.
    fn case(&mut self, case: &'r RawCase<'r>, chosen: &[Entry<'r>]) -> Result<Case, Complaint> {
        let swept: Vec<(String, String)> = chosen
            .iter()
            .map(|entry| (entry.key.name.to_owned(), self.setting(entry.value())))
            .collect();
        for (axis, _) in &case.head.settings {
            if let Some(entry) = chosen.iter().find(|entry| entry.key.name == axis) {
                let wrong = format!("`{axis}` is swept, and `settings` has it, too");
                return Err(Complaint::new(entry.place.clone(), wrong)
                    .hint("a sweep fills in its settings: remove it from `settings`"));
            }
        }
        let name = swept_name(&case.head.name, &swept);
        self.claim(&name, case, chosen)?;
        let jobs = self.jobs(case, chosen, &name).map_err(|complaint| {
            if chosen.is_empty() {
                complaint
            } else {
                complaint.hint(format!("in the case `{name}`"))
            }
        })?;
        let seed = case.head.seed.or(self.raw.study.seed).unwrap_or(0);
        let mut settings = case.head.settings.clone();
        settings.extend(swept);
        Ok(Case {
            name,
            settings,
            workload: Workload { seed, jobs },
        })
    }

    /// The jobs of a case with the values of a sweep. `chosen`: the entries that the sweep sets.
    fn jobs(
        &mut self,
        case: &'r RawCase<'r>,
        chosen: &[Entry<'r>],
        name: &str,
    ) -> Result<Vec<Job>, Complaint> {
        let defaults = &self.raw.defaults[..];
        let case_level = &case.entries[..];
        let mut fates = Vec::new();
        let mut jobs: Vec<Job> = Vec::new();
        // Without [[case.job]] the case is itself the job, and its keys are the most specific ones. With
        // jobs they are defaults for all of them, and the values of a sweep go before them.
        if case.jobs.is_empty() {
            let fitting: Vec<Entry<'r>>;
            let mut shared = defaults;
            if case.head.trace.is_some() {
                let entries = defaults.iter().filter(|entry| fits_trace(entry));
                fitting = entries.cloned().collect();
                shared = &fitting;
            }
            let layers = [case_level, chosen, shared];
            jobs.push(assemble(name, &case.place, &layers, &mut fates)?);
        }
        for job in &case.jobs {
            if jobs.iter().any(|earlier| earlier.name == job.name) {
                let wrong = format!("the case has two jobs called `{}`", job.name);
                return Err(Complaint::new(job.place.clone(), wrong));
            }
            let layers = [&job.entries[..], chosen, case_level, defaults];
            jobs.push(assemble(&job.name, &job.place, &layers, &mut fates)?);
        }
        for entry in chosen {
            self.check_has_effect(entry, &fates)?;
        }
        self.add_fates(fates, chosen);
        Ok(jobs)
    }

    /// A value of a sweep that changes nothing would be measured for nothing.
    fn check_has_effect(&self, axis: &Entry<'r>, fates: &Fates<'r>) -> Result<(), Complaint> {
        let mut of_axis = fates
            .iter()
            .filter(|(entry, _)| entry.place == axis.place)
            .map(|(_, fate)| fate);
        let Some(fate) = of_axis.clone().next() else {
            return Ok(());
        };
        if of_axis.any(|fate| *fate == Fate::Used) {
            return Ok(());
        }
        let name = axis.key.name;
        Err(match fate {
            Fate::Unfit(why) => Complaint::new(
                axis.value().span(),
                format!("`{name}` is swept, and changes nothing here: {why}"),
            ),
            Fate::Replaced(by) => Complaint::new(
                by.clone(),
                format!(
                    "`{name}` is swept by the matrix in line {}, and the case fixes it",
                    line_of(self.text, axis.place.start)
                ),
            )
            .hint(format!(
                "remove one of the two, or give the case its own [case.matrix] with {name} = [{}]",
                axis.key.example
            )),
            Fate::Used => unreachable!("was returned above"),
        })
    }

    /// Adds what became of the entries in the jobs of one case. Those of an axis were checked already.
    fn add_fates(&mut self, fates: Fates<'r>, chosen: &[Entry<'r>]) {
        for (entry, fate) in fates {
            if chosen.iter().any(|axis| axis.place == entry.place) {
                continue;
            }
            let at = self.fates.entry(entry.place.start);
            let inherited = at.or_insert_with(|| Inherited {
                entry,
                used: false,
                replaced: false,
                unfit: None,
            });
            match fate {
                Fate::Used => inherited.used = true,
                Fate::Replaced(_) => inherited.replaced = true,
                Fate::Unfit(why) => inherited.unfit = Some(why),
            }
        }
    }

    /// Keys that fit nowhere are mistakes; keys that are replaced everywhere are worth a note.
    fn notes(&self) -> Result<Vec<Note>, Complaint> {
        let mut notes = Vec::new();
        for inherited in self.fates.values() {
            let Inherited { entry, unfit, .. } = inherited;
            if inherited.used {
                continue;
            }
            // Replaced in some jobs and unfit in all others, it is a default that no job needed.
            if let (false, Some(why)) = (inherited.replaced, unfit) {
                let wrong = format!("`{}` has no effect: {why}", entry.key.name);
                return Err(Complaint::new(entry.place.clone(), wrong));
            }
            let (name, line) = (entry.key.name, line_of(self.text, entry.place.start));
            let text = format!(
                "`{name}` in line {line} has no effect: every job that could take it sets it anew"
            );
            notes.push(Note::new(NoteLevel::Ignored, name, text));
        }
        Ok(notes)
    }

    /// Takes the name for this case; an error if another one has it.
    fn claim(
        &mut self,
        name: &str,
        case: &RawCase<'_>,
        chosen: &[Entry<'_>],
    ) -> Result<(), Complaint> {
        let Some(first) = self.names.insert(name.to_owned(), case.place.start) else {
            return Ok(());
        };
        let wrong = format!("two cases are called `{name}`");
        if first == case.place.start {
            return Err(match chosen.last() {
                Some(axis) => Complaint::new(axis.value().span(), wrong)
                    .hint("two combinations of the sweep: write each value once"),
                // Without values of a sweep, a case makes others for its shares alone.
                None => Complaint::new(case.place.clone(), wrong)
                    .hint("two values of `rate_percent`: write each value once"),
            });
        }
        Err(Complaint::new(case.place.clone(), wrong).hint(format!(
            "the other one comes from line {}",
            line_of(self.text, first)
        )))
    }

    /// A swept value as people read it: a text without its quotes, else as it is written.
    fn setting(&self, value: Value<'_>) -> String {
        if let Ok(text) = value.text() {
            return text.to_owned();
        }
        let span: Range<usize> = value.span();
        let written = self.text.get(span).unwrap_or_default();
        written.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// The case at `percent` of the rate that `case` will reach.
fn at_share(case: &Case, percent: f64, ramp: Option<Nanos>) -> Case {
    let mut paced = case.clone();
    let setting = ("rate_percent".to_owned(), percent.to_string());
    paced.name = swept_name(&case.name, std::slice::from_ref(&setting));
    paced.settings.push(setting);
    let has_one_job = paced.workload.jobs.len() == 1;
    for job in &mut paced.workload.jobs {
        // A placeholder: the rate is set when the full case has been measured.
        job.pace = Pace::OpenPoisson(Rate::Iops(1.0));
        job.ramp = ramp.unwrap_or(job.ramp);
        // A case without [[case.job]] has one job, of the same name. One of several jobs keeps its own,
        // as another one may have the new name.
        if has_one_job && job.name == case.name {
            job.name.clone_from(&paced.name);
        }
    }
    paced
}

/// The name of a case of a sweep: `rand4k` and depth 4 make `rand4k-depth4`.
pub fn swept_name(name: &str, swept: &[(String, String)]) -> String {
    let parts = swept.iter().map(swept_part);
    std::iter::once(name.to_owned()).chain(parts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(swept: &[(&str, &str)], expected: &str) {
        let owned = |(axis, value): &(&str, &str)| ((*axis).to_owned(), (*value).to_owned());
        let swept: Vec<_> = swept.iter().map(owned).collect();
        assert_eq!(swept_name("rand4k", &swept), expected);
    }

    #[test]
    fn names_tell_the_settings() {
        check(&[], "rand4k");
        check(&[("depth", "4")], "rand4k-depth4");
        // It was `nice5`, as that of 5, and a sweep of both was refused.
        check(&[("nice", "-5")], "rand4k-nice-5");
        check(
            &[("block_size", "4KiB"), ("engine", "io_uring")],
            "rand4k-block_size4KiB-engine-io_uring",
        );
        check(
            &[("mix", "{ read = 70, write = 30 }")],
            "rand4k-mix-read-70-write-30",
        );
    }
}
