//! Data validation: what it adds to the jobs of a plan.

use std::sync::Arc;

use blocklab_record::{Note, NoteLevel};
use blocklab_units::Bytes;
use blocklab_verify::KeyMap;
use blocklab_workload::{
    BlockSizes, Case, Job, Journal, KeyPlan, Mix, Pattern, Validation as Check,
};

use super::ParameterFile;
use super::defs::Sd;
use super::error::{Mistake, Subject};
use super::plan::{Inputs, Planned, Prepared, limit_errors, own_case, own_job, own_run, own_use};
use super::run::Run;

/// The run that reads all that an earlier run wrote.
pub const RECOVERY: &str = "journal_recovery";
/// Reads in flight of a recovery, and bytes of one of them at most.
const RECOVERY_THREADS: u32 = 8;
const RECOVERY_BLOCK: u64 = 128 << 10;

/// The keys of a storage definition, and where its journal is.
#[derive(Debug, Clone)]
pub struct Validated {
    /// Made once, and kept through all runs.
    pub keys: Arc<KeyMap>,
    /// If one is kept.
    pub journal: Option<Journal>,
}

/// How the keys of each storage definition are made; empty for one that no run uses. The smallest
/// operation of all runs is the block that has a key.
///
/// # Errors
/// Sizes, ranges and alignments that cut blocks.
pub fn key_plans(
    prepared: &Prepared,
    file: &ParameterFile,
    inputs: &Inputs,
) -> Result<Vec<Option<KeyPlan>>, Mistake> {
    file.sds
        .iter()
        .enumerate()
        .map(|(index, sd)| {
            let jobs = jobs_on(prepared, index);
            let Some(block) = jobs.iter().map(|job| job.sizes.smallest().0).min() else {
                return Ok(None);
            };
            check_blocks(sd, block, &jobs)?;
            let ratio = file.general.compratio.unwrap_or(1.0);
            Ok(Some(KeyPlan {
                name: sd.name.clone(),
                block,
                compress_percent: ((1.0 - 1.0 / ratio) * 100.0).round() as u8,
                times: inputs.validation.times,
            }))
        })
        .collect()
}

/// Jobs that a workload requests.
fn jobs_on(prepared: &Prepared, sd: usize) -> Vec<&Job> {
    let cases = prepared.plan.cases.iter().zip(&prepared.runs);
    let pairs = cases.flat_map(|(case, run)| case.workload.jobs.iter().zip(&run.planned_jobs));
    let own = pairs.filter(|(_, planned)| planned.sd == sd && !planned.wd.is_empty());
    own.map(|(job, _)| job).collect()
}

/// Checks that all jobs work on whole blocks.
fn check_blocks(sd: &Sd, block: u64, jobs: &[&Job]) -> Result<(), Mistake> {
    let message =
        format_args!("data validation needs sizes that are multiples of 512, and {block} is none");
    sd.check(block.is_multiple_of(512), message)?;
    for job in jobs {
        for (size, _) in job.sizes.read.0.iter().chain(&job.sizes.write.0) {
            let message = format_args!(
                "data validation needs sizes that are multiples of the smallest one, and {size} is \
                 none of {block}",
                size = size.0
            );
            sd.check(size.0 % block == 0, message)?;
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
            let message = format_args!(
                "data validation needs {what} in multiples of the smallest size, and {bytes} is \
                 none of {block}"
            );
            sd.check(bytes % block == 0, message)?;
        }
    }
    Ok(())
}

/// Adds data validation to every job of a plan, and with `recover` the run that comes before all
/// others. `validated` has an entry for each storage definition.
pub fn validate(
    prepared: &mut Prepared,
    file: &ParameterFile,
    inputs: &Inputs,
    validated: &[Option<Validated>],
) {
    let requested = inputs.validation;
    // The runs are dropped here, and the recovery that is inserted below is all that is left.
    if requested.recover_only {
        prepared.plan.cases.clear();
        prepared.runs.clear();
    }
    for (case, planned) in prepared.plan.cases.iter_mut().zip(&prepared.runs) {
        for (job, planned_job) in case.workload.jobs.iter_mut().zip(&planned.planned_jobs) {
            let Some(validated) = &validated[planned_job.sd] else {
                continue;
            };
            // Only the job that formats the storage belongs to no workload.
            if planned_job.wd.is_empty() {
                format_whole_blocks(job, validated.keys.block(), inputs.sizes[planned_job.sd]);
            }
            attach(job, validated, validated.journal.clone(), file, inputs);
        }
    }
    if requested.recover {
        let (planned, case) = recovery(file, inputs, validated);
        prepared.runs.insert(0, planned);
        prepared.plan.cases.insert(0, case);
        // Again: the recovery's errors count towards the limit of the whole plan, whose counters its
        // jobs do not have yet.
        limit_errors(file, &mut prepared.plan.cases, &prepared.runs);
    }
    prepared.notes.extend(notes(file, inputs));
}

/// Gives a job what it needs to check the keys of its blocks.
fn attach(
    job: &mut Job,
    validated: &Validated,
    journal: Option<Journal>,
    file: &ParameterFile,
    inputs: &Inputs,
) {
    let errors = &file.general.data_errors;
    if let Some(pooled) = &mut job.pool {
        pooled.validation = Some(Check {
            keys: validated.keys.plan().clone(),
            read_before_write: !inputs.validation.no_preread,
            read_after_write: inputs.validation.read_after_write,
            journal,
            // With `remove` each storage definition counts for itself.
            most_wrong: if errors.remove {
                u64::MAX
            } else {
                u64::from(errors.most)
            },
        });
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

/// Reads every block that may have been written once. It keeps no journal of its own: until it is over, the old one is all
/// that is known.
fn recovery(
    file: &ParameterFile,
    inputs: &Inputs,
    validated: &[Option<Validated>],
) -> (Planned, Case) {
    let mut jobs = Vec::new();
    let mut uses = Vec::new();
    for (index, sd) in file.sds.iter().enumerate() {
        let Some(validated) = &validated[index] else {
            continue;
        };
        let block = validated.keys.block();
        let mut job = own_job("recovery", sd, Mix::READ, RECOVERY_THREADS);
        // Block 0 is never written. Others remain: smaller storage was refused with the workloads.
        let bytes = inputs.sizes[index] / block * block - block;
        // The most blocks a read that leave no rest after the last whole read.
        let mut counts = (1..=(RECOVERY_BLOCK / block).max(1)).rev();
        let blocks = counts.find(|blocks| bytes.is_multiple_of(blocks * block));
        job.sizes = BlockSizes::fixed(Bytes(blocks.unwrap_or(1) * block));
        job.region.offset = Bytes(block);
        job.region.size = Some(Bytes(bytes));
        attach(&mut job, validated, None, file, inputs);
        let size = job.sizes.largest().0;
        uses.push(own_use(RECOVERY, size, Mix::READ, vec![index]));
        jobs.push((index, job));
    }
    let run = Run {
        uses,
        ..recovery_run()
    };
    own_case(run, inputs.seed, jobs)
}

/// The run that comes before all others when a journal is read.
pub fn recovery_run() -> Run {
    own_run(RECOVERY, RECOVERY_THREADS, Vec::new())
}

/// Notes on what is different with data validation.
fn notes(file: &ParameterFile, inputs: &Inputs) -> Vec<Note> {
    let requested = inputs.validation;
    let dedup = file.sds.iter().any(|sd| sd.dedupratio.is_some());
    let notes = [
        (
            !requested.no_preread || requested.read_after_write,
            "data validation",
            "its own reads, before or after writes, enter all figures as reads",
        ),
        (
            dedup || file.general.dedupratio.is_some(),
            "dedupratio",
            "with data validation every sector carries its own place, so none is alike",
        ),
        (
            file.runs.iter().any(|run| run.compratio.is_some()),
            "forcompratio",
            "with data validation the ratio of the general section holds for all runs",
        ),
    ]
    .into_iter()
    .filter(|(is_so, ..)| *is_so);
    let notes = notes.map(|(_, subject, text)| Note::new(NoteLevel::Approximated, subject, text));
    notes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Command, Validation, parse, prepare};

    fn is_here(name: &str) -> bool {
        name == "localhost"
    }

    fn file(text: &str) -> ParameterFile {
        let command = Command {
            files: vec!["parm".to_owned()],
            ..Command::default()
        };
        parse(&command, &|_| Ok(text.to_owned()), &is_here).expect(text)
    }

    fn inputs(validation: Validation) -> Inputs {
        Inputs {
            sizes: vec![1 << 20],
            format: vec![0],
            seed: 1,
            validation,
        }
    }

    #[track_caller]
    fn check(text: &str, expected: Result<u64, &str>) {
        let (file, inputs) = (file(text), inputs(Validation::default()));
        let prepared = prepare(&file, &inputs).expect(text);
        match (key_plans(&prepared, &file, &inputs), expected) {
            (Ok(plans), Ok(block)) => assert_eq!(plans[0].as_ref().expect("used").block, block),
            (Err(error), Err(words)) => {
                assert!(error.to_string().contains(words), "{error}");
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
        let requested = Validation {
            validate: true,
            recover: true,
            ..Validation::default()
        };
        let (file, inputs) = (file(text), inputs(requested));
        let mut prepared = prepare(&file, &inputs).expect(text);
        let plans = key_plans(&prepared, &file, &inputs).expect(text);
        let plan = plans[0].clone().expect("sd1 is used");
        let keys = Arc::new(KeyMap::new(&plan, 1 << 20, Arc::default()));
        let validated = [Some(Validated {
            keys,
            journal: None,
        })];
        validate(&mut prepared, &file, &inputs, &validated);
        let jobs: Vec<&Job> = prepared
            .plan
            .cases
            .iter()
            .map(|case| &case.workload.jobs[0])
            .collect();
        let names: Vec<&str> = prepared.runs.iter().map(|run| &*run.run.name).collect();
        assert_eq!(names, [RECOVERY, crate::plan::FORMAT, "rd1"]);
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
