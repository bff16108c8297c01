//! Data validation: what it adds to the jobs of a plan.

use std::sync::Arc;

use blocklab_record::{Note, NoteLevel};
use blocklab_units::Bytes;
use blocklab_verify::KeyMap;
use blocklab_workload::{
    BlockSizes, Case, Job, Journal, KeyPlan, Mix, Pattern, Pooled, Stop, Validation as Check,
    Workload,
};

use super::Script;
use super::data_errors::DataErrors;
use super::defs::{Sd, Seek, Wd, Xfersize};
use super::error_limits::limit_errors;
use super::mistake::Mistake;
use super::prepared::{Planned, Prepared, Terms};
use super::rates::PlannedJob;
use super::run::{Loops, Run, Use};

/// The run that reads all that an earlier run wrote.
pub const RECOVERY: &str = "journal_recovery";
/// Reads in flight of a recovery, and bytes of one of them at most.
const RECOVERY_THREADS: u32 = 8;
const RECOVERY_BLOCK: u64 = 128 << 10;

/// The keys of a storage definition, and where its journal is.
#[derive(Debug, Clone)]
pub struct Watched {
    /// Made once, and kept through all runs.
    pub keys: Arc<KeyMap>,
    /// If one is kept.
    pub journal: Option<Journal>,
}

/// By storage definition: how its keys are made; nothing of one that no run uses. The smallest
/// operation of all runs is the block that has a key.
///
/// # Errors
/// Sizes, ranges and alignments that cut blocks.
pub fn key_plans(
    prepared: &Prepared,
    script: &Script,
    terms: &Terms,
) -> Result<Vec<Option<KeyPlan>>, Mistake> {
    let of = |(index, sd): (usize, &Sd)| {
        let jobs: Vec<&Job> = jobs_on(prepared, index).collect();
        let Some(block) = jobs.iter().map(|job| job.sizes.smallest().0).min() else {
            return Ok(None);
        };
        let block = whole_blocks(block, &jobs)
            .map_err(|message| Mistake::new(&sd.place, format!("sd={}", sd.name), message))?;
        let ratio = script.general.compratio.unwrap_or(1.0);
        Ok(Some(KeyPlan {
            name: sd.name.clone(),
            block,
            compress_percent: ((1.0 - 1.0 / ratio) * 100.0).round() as u8,
            times: terms.validation.times,
        }))
    };
    script.sds.iter().enumerate().map(of).collect()
}

/// Jobs that a workload asks for.
fn jobs_on(prepared: &Prepared, sd: usize) -> impl Iterator<Item = &Job> {
    let cases = prepared.plan.cases.iter().zip(&prepared.runs);
    cases.flat_map(move |(case, planned)| {
        let jobs = case.workload.jobs.iter().zip(&planned.planned_jobs);
        jobs.filter(move |(_, planned_job)| planned_job.sd == sd && !planned_job.wd.is_empty())
            .map(|(job, _)| job)
    })
}

/// The block, if all jobs work on whole ones.
fn whole_blocks(block: u64, jobs: &[&Job]) -> Result<u64, String> {
    if !block.is_multiple_of(512) {
        return Err(format!(
            "data validation needs sizes that are multiples of 512, and {block} is none"
        ));
    }
    for job in jobs {
        let sizes = job.sizes.read.0.iter().chain(&job.sizes.write.0);
        let mut sizes = sizes.map(|(size, _)| size.0);
        if let Some(odd) = sizes.find(|size| size % block != 0) {
            return Err(format!(
                "data validation needs sizes that are multiples of the smallest one, and {odd} is \
                 none of {block}"
            ));
        }
        let stride = match job.pattern {
            Pattern::Strided { stride } => stride.0,
            _ => 0,
        };
        let align = job.align.map_or(0, |[align, ..]| align.0);
        for (what, bytes) in [
            ("offset= and range=", job.region.offset.0),
            ("stride=", stride),
            ("align=", align),
        ] {
            if bytes % block != 0 {
                return Err(format!(
                    "data validation needs {what} in multiples of the smallest size, and {bytes} \
                     is none of {block}"
                ));
            }
        }
    }
    Ok(block)
}

/// Adds data validation to every job of a plan, and with `recover` the run that comes before all
/// others. `watched` has an entry for each storage definition.
pub fn validate(
    prepared: &mut Prepared,
    script: &Script,
    terms: &Terms,
    watched: &[Option<Watched>],
) {
    let asked = terms.validation;
    if asked.recover_only {
        prepared.plan.cases.clear();
        prepared.runs.clear();
    }
    for (case, planned) in prepared.plan.cases.iter_mut().zip(&prepared.runs) {
        for (job, planned_job) in case.workload.jobs.iter_mut().zip(&planned.planned_jobs) {
            let Some(watched) = &watched[planned_job.sd] else {
                continue;
            };
            if planned_job.wd.is_empty() {
                format_whole_blocks(job, watched.keys.block(), terms.sizes[planned_job.sd]);
            }
            attach(job, watched, watched.journal.clone(), script, terms);
        }
    }
    if asked.recover {
        let (planned, case) = recovery(script, terms, watched);
        prepared.runs.insert(0, planned);
        prepared.plan.cases.insert(0, case);
        limit_errors(script, &mut prepared.plan.cases, &prepared.runs);
    }
    prepared.notes.extend(notes(script, terms));
}

fn attach(
    job: &mut Job,
    watched: &Watched,
    journal: Option<Journal>,
    script: &Script,
    terms: &Terms,
) {
    let asked = terms.validation;
    if let Some(pooled) = &mut job.pool {
        pooled.validation = Some(Check {
            keys: watched.keys.plan().clone(),
            read_before_write: !asked.no_preread,
            read_after_write: asked.read_after_write,
            journal,
            most_wrong: most_wrong(&script.general.data_errors),
        });
    }
}

/// With `remove` each storage definition counts for itself.
fn most_wrong(asked: &DataErrors) -> u64 {
    match asked.remove {
        true => u64::MAX,
        false => u64::from(asked.most),
    }
}

/// Formatting begins with a whole block and writes whole ones.
fn format_whole_blocks(job: &mut Job, block: u64, end: u64) {
    let begin = job.region.offset.0.next_multiple_of(block);
    let size = (job.sizes.largest().0 / block * block).max(block);
    job.sizes = BlockSizes::fixed(Bytes(size));
    job.region.offset = Bytes(begin);
    job.region.size = Some(Bytes(end.saturating_sub(begin) / size * size));
}

/// Reads every block once. It keeps no journal of its own: until it is over, the old one is all
/// that is known.
fn recovery(script: &Script, terms: &Terms, watched: &[Option<Watched>]) -> (Planned, Case) {
    let mut jobs = Vec::new();
    let mut planned_jobs = Vec::new();
    let mut uses = Vec::new();
    for (index, sd) in script.sds.iter().enumerate() {
        let Some(watched) = &watched[index] else {
            continue;
        };
        let block = watched.keys.block();
        let mut job = super::plan::storage_job(&format!("recovery/{}", sd.name), sd, sd.openflags);
        job.mix = Mix::READ;
        job.pattern = Pattern::Sequential;
        // The rest behind the last whole read must not be left out.
        let whole = terms.sizes[index] / block * block - block;
        let largest = (RECOVERY_BLOCK / block).max(1);
        let read = (1..=largest)
            .rev()
            .find(|n| whole.is_multiple_of(n * block));
        job.sizes = BlockSizes::fixed(Bytes(read.unwrap_or(1) * block));
        job.region.offset = Bytes(block);
        job.region.size = Some(Bytes(whole));
        job.stop = Stop {
            loops: Some(1),
            ..Stop::default()
        };
        job.depth = RECOVERY_THREADS;
        job.pool = Some(Pooled::new(&sd.name, RECOVERY_THREADS));
        attach(&mut job, watched, None, script, terms);
        uses.push(recovery_use(index, job.sizes.largest().0));
        jobs.push(job);
        planned_jobs.push(PlannedJob {
            wd: String::new(),
            sd: index,
            skew: 100.0,
            fixed: None,
        });
    }
    for planned_job in &mut planned_jobs {
        planned_job.skew /= jobs.len().max(1) as f64;
    }
    let planned = Planned {
        run: Run {
            uses,
            ..recovery_run(script)
        },
        case: RECOVERY.to_owned(),
        planned_jobs,
    };
    let case = Case {
        name: RECOVERY.to_owned(),
        settings: Vec::new(),
        workload: Workload {
            seed: terms.seed,
            jobs,
        },
    };
    (planned, case)
}

/// What a recovery does to a storage definition, for those who report it.
fn recovery_use(sd: usize, block: u64) -> Use {
    let wd = Wd {
        name: RECOVERY.to_owned(),
        xfersize: Xfersize::Fixed(block),
        seek: Seek::Eof,
        ..Wd::default()
    };
    Use {
        wd,
        sds: vec![sd],
        hitarea: None,
    }
}

/// The run that comes before all others when a journal is read.
///
/// # Panics
/// Never: a script has at least one run.
#[must_use]
pub fn recovery_run(script: &Script) -> Run {
    Run {
        loops: Loops::default(),
        threads: Some(RECOVERY_THREADS),
        ..super::plan::own_run(RECOVERY, &script.runs[0], Vec::new())
    }
}

fn notes(script: &Script, terms: &Terms) -> Vec<Note> {
    let note = |subject: &str, text: &str| Note {
        level: NoteLevel::Approximated,
        subject: subject.to_owned(),
        text: text.to_owned(),
    };
    let asked = terms.validation;
    let mut notes = Vec::new();
    if !asked.no_preread || asked.read_after_write {
        notes.push(note(
            "data validation",
            "its own reads, before or after writes, enter all figures as reads",
        ));
    }
    let dedup = script.sds.iter().any(|sd| sd.dedupratio.is_some());
    if dedup || script.general.dedupratio.is_some() {
        notes.push(note(
            "dedupratio",
            "with data validation every sector carries its own place, so none is alike",
        ));
    }
    if script.runs.iter().any(|run| run.compratio.is_some()) {
        notes.push(note(
            "forcompratio",
            "with data validation the ratio of the general section holds for all runs",
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Command, Validation, parse, prepare};

    fn is_here(name: &str) -> bool {
        name == "localhost"
    }

    fn script(text: &str) -> Script {
        let command = Command {
            files: vec!["parm".to_owned()],
            ..Command::default()
        };
        parse(&command, &|_| Ok(text.to_owned()), &is_here).expect(text)
    }

    fn terms(validation: Validation) -> Terms {
        Terms {
            sizes: vec![1 << 20],
            format: vec![0],
            seed: 1,
            validation,
        }
    }

    #[track_caller]
    fn check(text: &str, expected: Result<u64, &str>) {
        let (script, terms) = (script(text), terms(Validation::default()));
        let prepared = prepare(&script, &terms).expect(text);
        match (key_plans(&prepared, &script, &terms), expected) {
            (Ok(plans), Ok(block)) => assert_eq!(plans[0].as_ref().expect("used").block, block),
            (Err(mistake), Err(words)) => {
                assert!(mistake.to_string().contains(words), "{mistake}");
            }
            (got, expected) => panic!("{text}: {got:?}, not {expected:?}"),
        }
    }

    #[test]
    fn the_smallest_size_is_the_block_that_has_a_key() {
        let file = |wd: &str, sd: &str| {
            format!(
                "sd=sd1,lun=f,size=1m{sd}\nwd=wd1,sd=sd1,{wd}\n\
                 rd=rd1,wd=wd1,iorate=max,elapsed=2,interval=1\n"
            )
        };
        check(&file("xfersize=4k", ""), Ok(4096));
        check(&file("xfersize=(4k,50,64k,50)", ""), Ok(4096));
        check(
            &file("xfersize=(4k,50,6k,50)", ""),
            Err("6144 is none of 4096"),
        );
        check(
            &file("xfersize=4k", ",offset=512"),
            Err("offset= and range="),
        );
        check(&file("xfersize=4k", ",align=1k"), Err("align="));
    }

    /// 24 KiB blocks: 128 KiB are cut to 120, and block 0 is left alone.
    #[test]
    fn formatting_writes_whole_blocks() {
        let text = "sd=sd1,lun=f,size=1m\nwd=wd1,sd=sd1,xfersize=24k,rdpct=0\n\
                    rd=rd1,wd=wd1,iorate=max,elapsed=2,interval=1\n";
        let asked = Validation {
            validate: true,
            recover: true,
            ..Validation::default()
        };
        let (script, terms) = (script(text), terms(asked));
        let mut prepared = prepare(&script, &terms).expect(text);
        let plans = key_plans(&prepared, &script, &terms).expect(text);
        let plan = plans[0].clone().expect("sd1 is used");
        let keys = Arc::new(KeyMap::new(&plan, 1 << 20, Arc::default()));
        let watched = [Some(Watched {
            keys,
            journal: None,
        })];
        validate(&mut prepared, &script, &terms, &watched);
        let jobs: Vec<&Job> = prepared
            .plan
            .cases
            .iter()
            .map(|case| &case.workload.jobs[0])
            .collect();
        let names: Vec<&str> = prepared.runs.iter().map(|run| &*run.run.name).collect();
        assert_eq!(names, [RECOVERY, super::super::FORMAT, "rd1"]);
        let place = |job: &Job| {
            let size = job.region.size.expect("it has one").0;
            (job.region.offset.0, job.sizes.largest().0, size)
        };
        assert_eq!(place(jobs[1]), (24 << 10, 120 << 10, 960 << 10));
        assert_eq!(place(jobs[0]).0, 24 << 10);
        assert_eq!(
            place(jobs[0]).2,
            (1 << 20) / (24 << 10) * (24 << 10) - (24 << 10)
        );
        assert!(jobs.iter().all(|job| {
            let pool = job.pool.as_ref().expect("all are pooled");
            pool.validation.is_some()
        }));
    }
}
