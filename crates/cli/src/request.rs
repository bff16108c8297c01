//! In: the arguments of `blocklab run`.
//! Out: a [`Request`] whose study has passed its checks; the text that `--example` prints.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;

use anyhow::{Context, Result, anyhow, bail};
use blocklab_compare::gate::{LoadCondition, check_cases};
use blocklab_console::{chance, place};
use blocklab_host::{LARGEST_SCRIPT, read_at_most, read_input};
use blocklab_native::{self as native, Overrides, studies};
use blocklab_record::Record;
use blocklab_runner::{Missing, Request, Study, Until, planned_run};
use blocklab_store::Store;
use blocklab_units::{Nanos, agreeing, did_you_mean, plural};
use blocklab_workload::publication::Publication;
use blocklab_workload::{Address, Job, Plan, Target, is_case_of};

use crate::again;
use crate::catalog::is_volume;
use crate::chosen;
use crate::load;
use crate::trace;
use blocklab_args::{LoadArgs, RunArgs, TraceInput};

/// Turns the arguments into a request. The `conditions` must be about cases that the study has.
pub fn request(args: &RunArgs, conditions: &[LoadCondition], store: &Store) -> Result<Request> {
    let mut loaded = load_study(args, store)?;
    // Several systems may be measured on the same target.
    if loaded.study.publication.systems.is_empty() {
        refuse_twice(&args.target)?;
    }
    // Before some are chosen: one file of gates serves a study also where a part of it is run.
    let cases = loaded.study.plan.cases.iter();
    check_cases(conditions, cases.map(|case| &*case.name))?;
    let until = args.repeat_until.map(|percent| Until {
        percent,
        limit: args.repeat_for,
    });
    let overrides = apply_overrides(args, &mut loaded, until)?;
    if loaded.study.publication.systems.is_empty() {
        refuse_unused(args, &loaded)?;
    }
    let Loaded { study, targets, .. } = loaded;
    let mut request = Request {
        overrides,
        targets: if args.target.is_empty() {
            targets
        } else {
            args.target.clone()
        },
        systems: args.system.clone(),
        earlier: Vec::new(),
        missing: Missing::scratch_if(args.create),
        until,
        start_at: args.start_at,
        is_resumable: !args.no_save,
        is_fresh: args.fresh,
        ..Request::once(study, Vec::new())
    };
    for run in &args.with_run {
        let earlier = earlier_run(&request.study, run, store)?;
        request.earlier.push(earlier);
    }
    // Last, as `earlier_run` names the study in its errors by the name that it has in its file.
    if let Some(name) = &args.name {
        request.study.plan.name.clone_from(name);
    }
    Ok(request)
}

/// Refuses a target that is named twice: it is one target all the same, and the record names it once, from
/// which `--again` would draw other operations.
fn refuse_twice(targets: &[String]) -> Result<()> {
    let mut named = HashSet::new();
    for target in targets {
        // A file, directory or device has several names.
        let place = match Target::parse(target) {
            Ok(Target::Path(path)) => fs::canonicalize(path).ok(),
            _ => None,
        };
        if !named.insert(place.unwrap_or_else(|| target.into())) {
            let instead = match Target::parse(target) {
                Ok(Target::Sim(Address::Sold(_)) | Target::Emu(Address::Sold(_))) => {
                    "volume=a and volume=b in the addresses make two volumes, and `2x` before the \
                     address makes one target of two"
                }
                _ => "more threads or a larger depth put more load on it",
            };
            bail!("--target {target} is given twice: name each target once; {instead}");
        }
    }
    Ok(())
}

/// Refuses targets that no job would take, because each names its own: the run would be one of those.
fn refuse_unused(args: &RunArgs, loaded: &Loaded) -> Result<()> {
    let (name, plan) = (&loaded.name, &loaded.study.plan);
    if let Some(target) = args.target.first()
        && name_their_targets(plan)
    {
        let instead = if args.again.is_some() {
            "change the study or script that it ran from"
        } else {
            "remove `targets` from the jobs that are to take it"
        };
        bail!(
            "every job of {name} names its own targets, so --target {target} would have no effect: leave \
             it out, or {instead}"
        );
    }
    Ok(())
}

/// Whether all jobs name their own targets. A plan without a job is refused elsewhere, for what left it
/// empty.
fn name_their_targets(plan: &Plan) -> bool {
    let mut targets = plan.jobs().map(|job| &job.targets).peekable();
    targets.peek().is_some() && targets.all(|own| !own.is_empty())
}

/// The study that the arguments name, before anything is overridden.
fn load_study(args: &RunArgs, store: &Store) -> Result<Loaded> {
    if args.replay.trace.is_empty() && args.replay.read.is_given() {
        bail!(
            "{}; --target names what is measured",
            TraceInput::NEEDS_A_TRACE
        );
    }
    match &args.again {
        Some(run) => from_run(run, args, store),
        None if !args.load.rw.is_empty() => from_flags(&args.load),
        None if !args.replay.trace.is_empty() => from_trace(args),
        None => from_text(args.study(), args),
    }
}

/// Changes a study by the arguments and checks the result. Returns the overrides as given.
fn apply_overrides(args: &RunArgs, loaded: &mut Loaded, until: Option<Until>) -> Result<Overrides> {
    let Loaded { name, study, .. } = loaded;
    let systems = &study.publication.systems;
    if systems.is_empty() && args.fresh {
        bail!(
            "{name} has no systems, so that each run of it begins anew: leave out --fresh, which restarts \
             an interrupted study of several systems"
        );
    }
    if systems.is_empty() && !args.with_run.is_empty() {
        bail!(
            "{name} has no systems, for one of which an earlier run could stand: leave out --with, which \
             works only for studies of several systems, such as i3-vs-i2"
        );
    }
    if !systems.is_empty() && args.start_at.is_some() {
        bail!(
            "the study {name} runs its systems one after the other: --start-at works only for studies without systems"
        );
    }
    if !systems.is_empty() && (!args.case.is_empty() || until.is_some()) {
        bail!(
            "the study {name} compares systems by all its cases and passes: --case and --repeat-until \
             work only for studies without systems"
        );
    }
    keep_cases(&mut study.plan, &args.case)?;
    let overrides = Overrides {
        runtime: args.runtime,
        ramp: args.ramp,
        passes: args.repeat.map(Into::into),
        seed: args.seed,
        size: args.size,
        read_only: args.read_only,
    };
    // A drawn seed is not part of the returned overrides: an interrupted run is found again by them. It has
    // 32 bits only, so that it is short to type.
    let seed = match args.seed {
        None if !loaded.seed_given => Some(chance()? & 0xffff_ffff),
        seed => seed,
    };
    let applied = Overrides { seed, ..overrides };
    study.notes.extend(native::apply(&mut study.plan, &applied));
    if let Some(until) = until {
        study.plan.passes = study.plan.passes.max(Until::LEAST_PASSES);
        study.notes.push(until.note());
    }
    // The parser has checked the study as written; an override can break a rule again.
    for job in study.plan.jobs() {
        job.check()
            .map_err(|invalid| anyhow!("{name}: job `{}`: {invalid}", job.name))?;
        has_room(args, name, job)?;
    }
    fits_the_clock(args, name, study)?;
    Ok(overrides)
}

/// An earlier run and the system of the study that it measured: the one named before `=`, else the one
/// that its record names.
fn earlier_run(study: &Study, text: &str, store: &Store) -> Result<(String, Record)> {
    if let Some((name, run)) = text.split_once('=')
        && study.system(name).is_ok()
    {
        return Ok((name.to_owned(), chosen::record(run, store)?));
    }
    let record = chosen::record(text, store)?;
    match record.requested.system.clone() {
        Some(name) if study.system(&name).is_ok() => Ok((name, record)),
        _ => bail!(
            "the run {} ({}) names no system of {}; choose one with --with NAME={}",
            record.id,
            record.requested.name,
            study.plan.name,
            place::shell_word(text)
        ),
    }
}

/// The target where none is named: a scratch file in the current directory.
const HERE: &str = ".";

/// A study as it was read.
struct Loaded {
    /// What it is called in an error.
    name: String,
    seed_given: bool,
    study: Study,
    /// Targets of the jobs that name none.
    targets: Vec<String>,
}

/// The load that `--rw` and its flags describe.
fn from_flags(flags: &LoadArgs) -> Result<Loaded> {
    let plan = load::plan(flags)?;
    Ok(Loaded {
        name: plan.name.clone(),
        seed_given: false,
        study: Study {
            name: plan.name.clone(),
            source: native::render(&plan),
            plan,
            notes: flags
                .bs
                .iter()
                .copied()
                .filter_map(load::binary_hint)
                .collect(),
            publication: Publication::default(),
            may_replace_engine: flags.engine.is_none(),
        },
        targets: vec![HERE.to_owned()],
    })
}

/// The recorded load of `--trace`.
fn from_trace(args: &RunArgs) -> Result<Loaded> {
    let targets = match &args.target[..] {
        [] => vec![HERE.to_owned()],
        targets => targets.to_vec(),
    };
    let planned = trace::replay::plan(&args.replay, &targets)?;
    Ok(Loaded {
        name: "--trace".to_owned(),
        seed_given: false,
        study: Study {
            notes: planned.notes,
            may_replace_engine: true,
            ..Study::of_plan(planned.plan)
        },
        targets,
    })
}

/// Drops all cases but those of these names. A name that no case has means all cases that begin with it and
/// a hyphen, as those of a matrix do.
fn keep_cases(plan: &mut Plan, names: &[String]) -> Result<()> {
    let known: Vec<&str> = plan.cases.iter().map(|case| &*case.name).collect();
    for name in names {
        if !known.iter().any(|case| is_case_of(case, name)) {
            let hint = did_you_mean(name, known.iter().copied(), || {
                format!("its cases are: {}", known.join(", "))
            });
            bail!("the study {} has no case {name}; {hint}", plan.name);
        }
    }
    if !names.is_empty() {
        let is_case = |name: &String| plan.cases.iter().any(|case| case.name == *name);
        let (exact, begun): (Vec<&String>, Vec<&String>) =
            names.iter().partition(|name| is_case(name));
        plan.cases.retain(|case| {
            exact.contains(&&case.name) || begun.iter().any(|name| is_case_of(&case.name, name))
        });
    }
    Ok(())
}

/// A study from its file, or a built-in one.
fn from_text(name_or_path: &str, args: &RunArgs) -> Result<Loaded> {
    let (source, name, built_in) = source(name_or_path)?;
    let mut parsed = native::parse(&source, &name).map_err(|error| anyhow!("{error}"))?;
    // Only systems that are measured need a target from the command line; the others are simulated, and
    // without a system the jobs run here.
    let mut systems = parsed.publication.systems.iter();
    let has_systems = systems.any(|system| system.measured);
    let here = (!has_systems).then(|| HERE.to_owned());
    if !parsed.traces.is_empty() {
        let here: Vec<String> = here.iter().cloned().collect();
        let targets = if args.target.is_empty() {
            &here
        } else {
            &args.target
        };
        if has_systems || args.size.is_some() || args.runtime.or(args.ramp).is_some() {
            bail!(
                "{name}: a case that replays a trace takes its size and its time from it, on one target: \
                 --size, --runtime, --ramp and [[system]] do not go with it"
            );
        }
        let notes = trace::replay::put_into(&mut parsed.plan, &parsed.traces, targets);
        parsed.notes.extend(notes.with_context(|| name.clone())?);
    }
    Ok(Loaded {
        targets: here.into_iter().collect(),
        seed_given: parsed.seed_given,
        study: Study {
            name: name.clone(),
            source,
            plan: parsed.plan,
            notes: parsed.notes,
            publication: parsed.publication,
            // The engine in a user's file is a decision; in a built-in study it is a default.
            may_replace_engine: built_in || !parsed.engine_given,
        },
        name,
    })
}

/// The plan of a stored run, for `--again`.
fn from_run(run: &str, args: &RunArgs, store: &Store) -> Result<Loaded> {
    let again = again::load(run, args, store)?;
    Ok(Loaded {
        name: again.id.clone(),
        seed_given: true,
        study: Study {
            source: again.id,
            ..Study::of_plan(again.plan)
        },
        targets: again.targets,
    })
}

/// The longest planned time. A clock counts nanoseconds from the start of the run in 64 bits; the other
/// half of its range is left for what takes longer than planned.
const CLOCK: Nanos = Nanos(u64::MAX / 2);

/// Refuses times that add up to more than [`CLOCK`], and names the place of the longest.
fn fits_the_clock(args: &RunArgs, name: &str, study: &Study) -> Result<()> {
    let plan = &study.plan;
    if planned_run(plan) <= CLOCK {
        return Ok(());
    }
    let jobs = plan.jobs();
    let times = [
        ("pause", Some(plan.pause)),
        ("ramp", jobs.clone().map(|job| job.ramp).max()),
        ("runtime", jobs.filter_map(|job| job.stop.runtime).max()),
    ];
    let longest = times.into_iter().max_by_key(|(_, time)| *time);
    let (key, time) = longest.expect("of three times one is the longest");
    let place = match (key, args.runtime, args.ramp) {
        ("runtime", Some(_), _) | ("ramp", _, Some(_)) => {
            format!("--{key} {}", time.unwrap_or_default())
        }
        _ => native::place_of(key, name, &study.source),
    };
    let measurements = plan.rounds() as usize * plan.cases.len();
    Err(anyhow!(
        "{place}: {} with this time {} up to more than 292 years, the longest time that blocklab's clock holds; shorter times \
         or fewer passes would work",
        plural(measurements, "measurement"),
        agreeing(measurements, "adds", "add")
    ))
}

/// Refuses a region that is smaller than one block of the job.
fn has_room(args: &RunArgs, name: &str, job: &Job) -> Result<()> {
    let block = job.least_room();
    let Some(size) = job.region.size.filter(|size| *size < block) else {
        return Ok(());
    };
    let (whose, way_out) = match args.size {
        Some(_) => ("--size", "give that size or more"),
        None => (name, "make `size` larger"),
    };
    Err(anyhow!(
        "{whose}: a size of {size} is smaller than one block of `{}`, which is {block}: {way_out}, \
         or run a study with smaller blocks",
        job.name
    ))
}

/// The text of a built-in study; without a name the commented one.
pub fn example(study: &str) -> Result<&'static str> {
    match study {
        "" => Ok(native::EXAMPLE),
        name => studies::builtin(name)
            .with_context(|| format!("no built-in study is called {name}; {}", study_hint(name))),
    }
}

/// The text of a study, its name in errors, and whether it is built in. A file comes before a built-in
/// study of the same name only when it is named as a path.
fn source(study: &str) -> Result<(String, String, bool)> {
    if let Some(text) = studies::builtin(study) {
        return Ok((text.to_owned(), study.to_owned(), true));
    }
    if study == "-" {
        let bytes = read_at_most(io::stdin().lock(), LARGEST_SCRIPT);
        let text = bytes
            .and_then(text_of)
            .context("cannot read the standard input")?;
        return Ok((text, "standard input".to_owned(), false));
    }
    let read = read_input(study.as_ref(), LARGEST_SCRIPT).and_then(text_of);
    let text = read.map_err(|error| match error.kind() {
        _ if is_target(study) => anyhow!(
            "{study} is a target, not a study; to measure it: blocklab run --target {}",
            place::shell_word(study)
        ),
        _ if is_volume(study) => anyhow!(
            "{study} is a volume, not a study; to simulate it: blocklab run --target {}",
            place::shell_word(&format!("sim:{study}"))
        ),
        io::ErrorKind::NotFound => anyhow!(
            "{study} is neither a file nor a built-in study; {}",
            if study.contains('/') {
                "--target names a device or directory to measure".to_owned()
            } else {
                study_hint(study)
            }
        ),
        _ => anyhow!("cannot read the study {study}: {error}"),
    })?;
    Ok((text, study.to_owned(), false))
}

fn text_of(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes)
        .map_err(|_| io::Error::other("it is no text in UTF-8: save it as UTF-8"))
}

/// Whether a target was written where a study is expected: a disk, a directory, a model.
fn is_target(text: &str) -> bool {
    let kind = fs::metadata(text).map(|metadata| metadata.file_type());
    !Target::is_path(text) || kind.is_ok_and(|kind| kind.is_dir() || kind.is_block_device())
}

/// The built-in study that was meant, or all there are.
fn study_hint(name: &str) -> String {
    did_you_mean(name, studies::builtin_names(), || {
        let known: Vec<_> = studies::builtin_names().collect();
        format!("the built-in ones are: {}", known.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use blocklab_workload::Case;

    use super::*;

    /// The story: a study whose jobs all named their targets ran on those with --target, too, without a word.
    #[test]
    fn a_target_that_no_job_takes_is_refused() {
        let own = |name: &str, targets: &[&str]| Job {
            targets: targets.iter().map(|text| (*text).to_owned()).collect(),
            ..Job::new(name)
        };
        let take_none = |jobs: Vec<Job>| {
            name_their_targets(&Plan::once("p", "", vec![Case::new("c", 0, jobs)]))
        };
        assert!(take_none(vec![own("a", &["/one"])]));
        assert!(!take_none(vec![own("a", &["/one"]), own("b", &[])]));
        assert!(!take_none(Vec::new()), "a plan without a job");
    }

    /// The story: of the cases `a` and `a-b`, the first could not run alone.
    #[test]
    fn a_case_of_its_own_name_runs_alone() {
        let kept = |names: &[&str]| {
            let cases =
                ["a", "a-b", "m-1", "m-2"].map(|name| Case::new(name, 0, vec![Job::new("j")]));
            let mut plan = Plan::once("p", "", cases.to_vec());
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            keep_cases(&mut plan, &names).expect("known");
            plan.cases
                .into_iter()
                .map(|case| case.name)
                .collect::<Vec<_>>()
        };
        assert_eq!(kept(&["a"]), ["a"]);
        assert_eq!(kept(&["m"]), ["m-1", "m-2"]);
        assert_eq!(kept(&["a-b", "m-2"]), ["a-b", "m-2"]);
    }
}
