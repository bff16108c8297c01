//! From fio's jobs to a plan: each of the `numjobs` clones becomes a job of one thread, and all jobs
//! between two stonewalls become one case.

mod check;
mod clone;

use blocklab_record::{Note, NoteLevel};
use blocklab_units::Bytes;
use blocklab_workload::{Case, Job, Plan, SizedRamp, Target};

use super::context::{ControlGroup, PlanContext, control_group};
use super::fault::{Fault, Unfit};
use super::files::{self, Files, Planned};
use super::groups::Groups;
use super::jobs::Resolved;
use super::load::{self, load};
use super::logs::LogRule;
use super::number::{Scale, amount};
use super::options::Options;
use super::pattern::{self, ReadWrite};
use super::replay;
use super::spec::Spec;
use super::state;
use super::value::nonzero;
use super::verify::{self, leaves_no_time};
use blocklab_syntax::Mistake;

pub use clone::CloneFacts;

/// A command line as a plan.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prepared {
    /// What is run: a case for each stretch between stonewalls.
    pub plan: Plan,
    /// Options that are carried out differently than by fio.
    pub notes: Vec<Note>,
    /// Remarks on unusual settings, as fio prints them on standard error.
    pub remarks: Vec<String>,
    /// Why jobs cannot begin, a line for each clone. As with fio, the others are run.
    pub unfit: Vec<Mistake>,
    /// Lines that the normal output prints before the results.
    pub preamble: Vec<String>,
    /// The clones, in the order of the plan's jobs.
    pub clones: Vec<CloneFacts>,
    /// Files that must be there before the run.
    pub files: Vec<Planned>,
    /// Directories that must be there.
    pub directories: Vec<String>,
    /// Control groups that must be there.
    pub control_groups: Vec<ControlGroup>,
    /// Options of the global sections, as given.
    pub globals: Vec<(String, String)>,
}

impl Prepared {
    /// The jobs of all cases, in order: one a clone.
    pub fn jobs(&self) -> impl Iterator<Item = &Job> {
        self.plan.jobs()
    }

    /// All jobs, where all can begin.
    ///
    /// # Errors
    /// Why the first of the others cannot.
    pub fn whole(mut self) -> Result<Self, Mistake> {
        if self.unfit.is_empty() {
            Ok(self)
        } else {
            Err(self.unfit.swap_remove(0))
        }
    }

    /// The clones that cannot begin, or whose files could not be made.
    pub fn failed(&self) -> impl Iterator<Item = &CloneFacts> {
        self.clones.iter().filter(|clone| clone.failed.is_some())
    }

    /// The clones of the case of this index.
    pub fn clones_of(&self, case: usize) -> impl Iterator<Item = &CloneFacts> {
        self.clones.iter().filter(move |clone| clone.case == case)
    }
}

/// What is run for these jobs.
///
/// # Errors
/// Values that make no sense together, and what is refused.
pub fn prepare(
    resolved: &Resolved,
    name: &str,
    context: &PlanContext<'_>,
) -> Result<Prepared, Mistake> {
    let mut builder = PlanBuilder {
        context,
        prepared: Prepared {
            plan: Plan::once(name, "Jobs of fio.", Vec::new()),
            globals: resolved.globals.clone(),
            ..Prepared::default()
        },
        files: Files::default(),
        group: 0,
        groups: Groups::default(),
    };
    for (index, spec) in resolved.specs.iter().enumerate() {
        builder.add(spec, index)?;
    }
    builder.prepared.files = builder.files.list;
    Ok(builder.prepared)
}

const PASSED_OVER: &str = "a `wait` without a fourth word is passed over, as by fio 3.33";

/// The most clones and files of one job: a slip in their number shall not fill the memory.
const MOST_CLONES: u64 = 4096;
const MOST_FILES: u64 = 1_000_000;

struct PlanBuilder<'a> {
    context: &'a PlanContext<'a>,
    prepared: Prepared,
    files: Files,
    group: u32,
    groups: Groups,
}

impl PlanBuilder<'_> {
    /// Adds the clones of a section, each with its job, to the plan.
    fn add(&mut self, spec: &Spec, index: usize) -> Result<(), Mistake> {
        self.check(spec)?;
        let options = &spec.options;
        let rw = pattern::read_write(spec)?;
        self.begin(spec)?;
        self.prepared
            .directories
            .extend(files::directories(options));
        let groups = &mut self.prepared.control_groups;
        if let Some(group) = control_group(options, self.context)
            && !groups.contains(&group)
        {
            groups.push(group);
        }
        let opened_directories = options.opendir.iter();
        let found_files: usize = opened_directories
            .map(|directory| (self.context.files_below)(directory).len())
            .sum();
        if found_files > 0 {
            let words = format!("opendir added {found_files} files");
            self.prepared.preamble.push(words);
        }
        let count = options.numjobs.max(1);
        if count > MOST_CLONES {
            return Err(spec.mistake("numjobs", format!("{count} is more than {MOST_CLONES}")));
        }
        let files = options.nrfiles.max(1);
        if files.saturating_mul(count) > MOST_FILES {
            let wrong = format!("{files} files of {count} clones are more than {MOST_FILES}");
            return Err(spec.mistake("nrfiles", wrong));
        }
        if verify::method(options).is_some() {
            self.warn_of_no_time(options, rw);
        }
        for number in 0..count as u32 {
            // A clone that cannot start fails alone, as in fio; the others still run.
            match self.add_clone(spec, rw, index, number) {
                Err(Fault::OneJob(unfit)) => self.add_unfit(spec, rw, index, unfit)?,
                Err(Fault::WholeCommand(mistake)) => return Err(mistake),
                Ok(()) => {}
            }
        }
        if verify::method(options).is_some() && options.do_verify && rw.writes {
            self.warn_of_several_writers(count as usize);
        }
        Ok(())
    }

    /// The warning of fio that the last `count` clones verify what they write and share a file.
    fn warn_of_several_writers(&mut self, count: usize) {
        let jobs = (self.prepared.plan.cases.last()).map_or(&[][..], |case| &case.workload.jobs);
        let clones = &jobs[jobs.len().saturating_sub(count)..];
        let [first, second, ..] = clones else {
            return;
        };
        let nothing = Target::Null.to_string();
        let mut files = first.targets.iter().filter(|file| **file != nothing);
        if files.any(|file| second.targets.contains(file)) {
            let words = "multiple writers may overwrite blocks that belong to other jobs. This can \
                         cause verification failures.";
            self.prepared.preamble.push(words.to_owned());
        }
    }

    /// The warning of fio that the writes take the whole runtime, so that nothing is read back.
    fn warn_of_no_time(&mut self, options: &Options, rw: ReadWrite) {
        if !rw.reads && leaves_no_time(options, rw) {
            let words = "verification read phase will never start because write phase uses all \
                         of runtime";
            self.prepared.preamble.push(words.to_owned());
        }
    }

    /// Adds the job of clone `number` to the current case, with its files and its facts for the
    /// report.
    fn add_clone(
        &mut self,
        spec: &Spec,
        rw: ReadWrite,
        index: usize,
        number: u32,
    ) -> Result<(), Fault> {
        let writer = self.writer(spec, number);
        let awaits_trace = writer.is_some();
        let (trace, lacks_trace) = match (replay::read(spec, number, self.context), writer) {
            (Err(Fault::OneJob(unfit)), Some(writer)) => {
                (Some(replay::stand_in(writer)), Some(unfit.why))
            }
            (read, _) => (read?, None),
        };
        let working_set = match &trace {
            Some(trace) => replay::working_set(spec, trace, self.context)?,
            None => files::working_set(spec, rw, number, self.context, &self.files)?,
        };
        if working_set.holds_no_block {
            self.remark_no_block(spec);
        }
        let (unique, name) = self.next_name(spec);
        let mut job = load(spec, rw, &working_set, &name, number, self.context)?;
        let ramp_size = nonzero(spec.options.ramp_size).filter(|_| job.engine.counts_bytes());
        job.sized_ramp = ramp_size.map(|bytes| SizedRamp {
            bytes: Bytes(bytes),
            group: spec.options.group_reporting.then_some(self.group),
        });
        if let Some(trace) = trace {
            if trace.passed_over > 0 {
                self.note(NoteLevel::Ignored, "read_iolog", PASSED_OVER);
            }
            replay::apply(&spec.options, &mut job, trace);
        }
        // A job that reads back another's writes draws the same places, whatever its name.
        let shared = job.verify.is_some().then(|| unique.to_string());
        job.rng_label = match spec.options.random_generator {
            "tausworthe" => shared,
            generator => Some(format!("{} {generator}", shared.unwrap_or(name))),
        };
        job.log = LogRule::for_job(spec, &job).kept();
        let state = state::path(self.context.aux, &spec.name, unique);
        self.load_state(spec, &mut job, &state)?;
        job.check()
            .map_err(|invalid| Mistake::here(&spec.at, format!("job {}: {invalid}", spec.name)))?;
        let saves = job.verify.is_some() && job.writes() && spec.options.verify_state_save;
        let mut facts = self.facts(spec, rw, &job, index);
        if !job.engine.needs_target() {
            // No device is opened, but the job has its files' names.
            facts.logs.traced.clone_from(&working_set.targets);
        }
        let facts = CloneFacts {
            state: saves.then_some(state),
            awaits_trace,
            lacks_trace,
            holds_no_block: working_set.holds_no_block,
            ..facts
        };
        self.push(facts, job);
        for file in working_set.planned {
            self.files.add(file);
        }
        Ok(())
    }

    /// Adds a clone and its job to the current case.
    fn push(&mut self, facts: CloneFacts, job: Job) {
        self.prepared.clones.push(facts);
        if let Some(case) = self.prepared.plan.cases.last_mut() {
            case.workload.jobs.push(job);
        }
    }

    /// fio moves nothing then, without a word.
    fn remark_no_block(&mut self, spec: &Spec) {
        let remark = format!(
            "{}: each of its files is shorter than a block, so nothing is moved",
            spec.name
        );
        if !self.prepared.remarks.contains(&remark) {
            self.prepared.remarks.push(remark);
        }
    }

    /// Adds a clone that cannot begin: it only has its place in the results.
    fn add_unfit(
        &mut self,
        spec: &Spec,
        rw: ReadWrite,
        index: usize,
        unfit: Unfit,
    ) -> Result<(), Mistake> {
        let job = load::unfit(spec, rw, &self.next_name(spec).1)?;
        let facts = self.facts(spec, rw, &job, index);
        let facts = CloneFacts {
            failed: Some(unfit.number),
            ..facts
        };
        self.push(facts, job);
        self.prepared.unfit.push(unfit.why);
        Ok(())
    }

    /// The number of the next clone, and the name of its job in the plan.
    fn next_name(&self, spec: &Spec) -> (usize, String) {
        let unique = self.prepared.clones.len();
        (unique, format!("{}.{unique}", spec.name))
    }

    /// Loads the state file from which a job continues, if it requests that.
    fn load_state(&self, spec: &Spec, job: &mut Job, state: &str) -> Result<(), Fault> {
        if !spec.options.verify_state_load {
            return Ok(());
        }
        let only_durable = spec.options.verify_policy == "fsynced";
        let loaded = if job.verify.is_some() {
            state::limit_checks(job, self.seed(), only_durable, state, self.context)
        } else {
            // As in fio, a job that verifies nothing needs the file all the same.
            (self.context.bytes_of)(state).map(|_| ())
        };
        loaded.map_err(|why| {
            let why = spec.mistake("verify_state_load", format!("{state}: {why}"));
            Fault::one_job(0, why)
        })
    }

    /// The job of an earlier case that writes the trace which this clone reads.
    fn writer(&self, spec: &Spec, number: u32) -> Option<&Job> {
        let path = replay::path(&spec.options, number)?;
        let (_, earlier) = self.prepared.plan.cases.split_last()?;
        let mut clones = self
            .prepared
            .clones
            .iter()
            .filter(|clone| clone.case < earlier.len());
        let clone = clones.find(|clone| clone.logs.trace.as_deref() == Some(path))?;
        let mut jobs = earlier[clone.case].workload.jobs.iter();
        jobs.find(|job| job.name == clone.job)
    }

    /// The seed of the current case.
    fn seed(&self) -> u64 {
        let case = self.prepared.plan.cases.last();
        case.map_or(0, |case| case.workload.seed)
    }

    /// Begins a new group or a new case, if the job requests that.
    fn begin(&mut self, spec: &Spec) -> Result<(), Mistake> {
        let membership = self.groups.add(spec)?;
        self.group = membership.group;
        for (option, text) in membership.notes {
            self.note(NoteLevel::Approximated, option, text);
        }
        let seed = seed(spec, self.context.seed)?;
        // A case has one seed, while fio seeds each job: a job that joins a case can only note it.
        if membership.begins_case {
            let cases = &mut self.prepared.plan.cases;
            let name = format!("{}-{}", cases.len() + 1, spec.name);
            cases.push(Case::new(name, seed, Vec::new()));
        } else if self.seed() != seed {
            let text = "jobs that run together draw from one seed: that of the first";
            self.note(NoteLevel::Approximated, "randseed", text);
        }
        Ok(())
    }

    fn note(&mut self, level: NoteLevel, subject: &str, text: &str) {
        Note::new(level, subject, text).add_to(&mut self.prepared.notes);
    }
}

/// The seed of a job: `randseed` if it is given, else a fixed one where `allrandrepeat` or `randrepeat`
/// makes runs repeat each other, else the random one.
fn seed(spec: &Spec, random: u64) -> Result<u64, Mistake> {
    let options = &spec.options;
    if let Some(text) = &options.randseed {
        // Whole numbers are exact; `amount` rounds those beyond 2^53.
        let seed: Result<i64, _> = text.parse();
        let seed = seed.or_else(|_| amount(text, Scale::default()));
        return seed
            .map(|seed| seed as u64)
            .map_err(|why| spec.mistake("randseed", why));
    }
    let (offsets, all) = (options.randrepeat, options.allrandrepeat);
    let repeats = all == Some(true) || offsets.unwrap_or(all.is_none());
    // The same number in every run.
    Ok(if repeats { 0x89 } else { random })
}

#[cfg(test)]
mod tests {
    use crate::tests::planned;

    /// fio warns where clones that verify what they write have a file in common, and this did not.
    #[test]
    fn several_writers_of_a_verified_file_are_warned_of() {
        #[track_caller]
        fn check(options: &str, warns: bool) {
            let text = format!("[a]\nsize=64k\nverify=md5\n{options}\n");
            let preamble = planned(&text).expect(options).preamble;
            let found = preamble
                .iter()
                .any(|words| words.starts_with("multiple writers"));
            assert_eq!(found, warns, "{options}");
        }
        check("rw=write\nnumjobs=2\nfilename=f", true);
        check("rw=randrw\nnumjobs=3\nfilename_format=same", true);
        check("rw=write\nnumjobs=2", false);
        check("rw=write\nfilename=f", false);
        check("rw=read\nnumjobs=2\nfilename=f", false);
        check("rw=write\nnumjobs=2\nfilename=f\ndo_verify=0", false);
    }

    /// A seed that is no number, or too large, was taken for none, without a word; and those beyond
    /// 2^53, as scripts make them of the time in nanoseconds, were rounded.
    #[test]
    fn a_seed_is_read_exactly_or_refused() {
        let seed = |text: &str| {
            let text = format!("[a]\nioengine=null\nsize=4k\nrandseed={text}\n");
            planned(&text).map(|prepared| prepared.plan.cases[0].workload.seed)
        };
        assert_eq!(seed("1732825123456789013"), Ok(1_732_825_123_456_789_013));
        assert_eq!(seed("0x10"), Ok(16));
        for text in ["abc", "18446744073709551615"] {
            let wrong = seed(text).unwrap_err().to_string();
            assert!(wrong.starts_with("job.fio:4: job a: randseed: "), "{wrong}");
        }
    }
}
