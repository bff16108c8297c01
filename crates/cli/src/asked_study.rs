//! The study that a command line asks for.

use std::fs;
use std::io::{self, Read};

use anyhow::{Context, Result, anyhow};
use blocklab_console::chance;
use blocklab_native::{self as native, studies};
use blocklab_publication::Publication;
use blocklab_record::Note;
use blocklab_store::Store;
use blocklab_units::{Nanos, nearest};
use blocklab_workload::{Case, Job, Plan};

use crate::again;
use crate::args::RunArgs;

/// A study as it is to be run.
pub struct Study {
    /// Its text, as it was written; the id of the run that it repeats.
    pub source: String,
    /// The load, with what the command line says over it.
    pub plan: Plan,
    /// What was made of the text.
    pub notes: Vec<Note>,
    /// What it shows besides.
    pub publication: Publication,
    /// Whether it comes with the program.
    pub built_in: bool,
    /// Targets of the jobs that name none.
    pub targets: Vec<String>,
}

/// The study that the arguments name, with what they say over it.
pub fn study(args: &RunArgs, store: &Store) -> Result<Study> {
    let mut read = match &args.again {
        Some(run) => of_run(run, args, store)?,
        None => of_text(&args.study)?,
    };
    if !args.target.is_empty() {
        read.study.targets.clone_from(&args.target);
    }
    let seed = match (args.seed, read.seed_given) {
        (None, false) => Some(chance()? & 0xffff_ffff),
        (seed, _) => seed,
    };
    let Loaded {
        name, mut study, ..
    } = read;
    let overrides = native::Overrides {
        runtime: args.runtime,
        passes: args.repeat.map(Into::into),
        seed,
        size: args.size,
        read_only: args.read_only,
    };
    let notes = native::apply(&mut study.plan, &overrides);
    study.notes.extend(notes);
    for job in study.plan.cases.iter().flat_map(|case| &case.workload.jobs) {
        job.check()
            .map_err(|invalid| anyhow!("{name}: job `{}`: {invalid}", job.name))?;
        has_room(args, &name, job)?;
    }
    Ok(study)
}

/// A study as it was read.
struct Loaded {
    /// What it is called in an error.
    name: String,
    seed_given: bool,
    study: Study,
}

fn of_text(asked: &str) -> Result<Loaded> {
    let (source, name, built_in) = source(asked)?;
    let parsed = native::parse(&source, &name).map_err(|error| anyhow!("{error}"))?;
    Ok(Loaded {
        name,
        seed_given: parsed.seed_given,
        study: Study {
            source,
            plan: parsed.plan,
            notes: parsed.notes,
            publication: parsed.publication,
            built_in,
            targets: vec![".".to_owned()],
        },
    })
}

fn of_run(run: &str, args: &RunArgs, store: &Store) -> Result<Loaded> {
    let again = again::of(run, args, store)?;
    Ok(Loaded {
        name: again.id.clone(),
        seed_given: true,
        study: Study {
            source: again.id,
            plan: again.plan,
            notes: Vec::new(),
            publication: Publication::default(),
            built_in: false,
            targets: again.targets,
        },
    })
}

/// A region without a single block cannot be worked on; it is better said before anything runs.
fn has_room(args: &RunArgs, name: &str, job: &Job) -> Result<()> {
    let (Some(size), block) = (job.region.size, job.least_room()) else {
        return Ok(());
    };
    if size >= block {
        return Ok(());
    }
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
            .with_context(|| format!("no built-in study is called {name}; {}", meant(name))),
    }
}

/// The text of a study. A file comes before a built-in study of the same name only when it is
/// named as a path.
fn source(study: &str) -> Result<(String, String, bool)> {
    if let Some(text) = studies::builtin(study) {
        return Ok((text.to_owned(), study.to_owned(), true));
    }
    if study == "-" {
        let mut text = String::new();
        io::stdin()
            .read_to_string(&mut text)
            .context("cannot read the standard input")?;
        return Ok((text, "standard input".to_owned(), false));
    }
    let text = fs::read_to_string(study).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => anyhow!(
            "there is no file {study} and no built-in study of that name; {}",
            meant(study)
        ),
        _ => anyhow!("cannot read the study {study}: {error}"),
    })?;
    Ok((text, study.to_owned(), false))
}

/// The built-in study that was meant, or all there are.
fn meant(name: &str) -> String {
    match nearest(name, studies::builtin_names()) {
        Some(near) => format!("did you mean {near}?"),
        None => {
            let known = studies::builtin_names().collect::<Vec<_>>().join(", ");
            format!("these are: {known}")
        }
    }
}

/// Planned time of one pass: that of its longest job.
pub fn planned(case: &Case) -> Nanos {
    let jobs = case.workload.jobs.iter();
    let times = jobs.map(|job| job.ramp + job.stop.runtime.unwrap_or_default());
    times.max().unwrap_or_default()
}
