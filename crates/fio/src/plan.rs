//! From jobs to a plan: each clone is a job of one thread; what stands between two stonewalls is a
//! case.

mod clone;
mod judge;

use blocklab_record::{Note, NoteLevel};
use blocklab_workload::{Case, Job, Plan, Workload};

use super::credentials::{self, ControlGroup};
use super::files::{self, Files, Planned};
use super::iolog;
use super::jobs::Resolved;
use super::load::load;
use super::logs::LogRule;
use super::mistake::Mistake;
use super::number::{Scale, amount};
use super::pattern;
use super::spec::Spec;
use super::state;
use super::terms::Terms;
use super::turns::Turns;
use super::verify::leaves_no_time;

pub use clone::CloneFacts;

/// A command line as a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// What is run: a case for each stretch between stonewalls.
    pub plan: Plan,
    /// What is done differently.
    pub notes: Vec<Note>,
    /// What is odd in the jobs, for standard error.
    pub remarks: Vec<String>,
    /// What stands before the results, where people read them.
    pub forewords: Vec<String>,
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

/// What is run for these jobs.
///
/// # Errors
/// Values that make no sense together, and what is refused.
pub fn prepare(resolved: &Resolved, name: &str, terms: &Terms<'_>) -> Result<Prepared, Mistake> {
    let mut maker = Maker::new(terms);
    for (index, spec) in resolved.specs.iter().enumerate() {
        maker.add(spec, index)?;
    }
    let plan = Plan::once(name, "Jobs of fio.", maker.cases);
    Ok(Prepared {
        plan,
        notes: maker.notes,
        remarks: maker.remarks,
        forewords: maker.forewords,
        clones: maker.clones,
        files: maker.files.list,
        directories: maker.directories,
        control_groups: maker.control_groups,
        globals: resolved.globals.clone(),
    })
}

const PASSED_OVER: &str = "a `wait` without a fourth word is passed over, as by fio 3.33";

/// Of one job.
const MOST_FILES: i64 = 1_000_000;

struct Maker<'a> {
    terms: &'a Terms<'a>,
    cases: Vec<Case>,
    clones: Vec<CloneFacts>,
    files: Files,
    directories: Vec<String>,
    control_groups: Vec<ControlGroup>,
    notes: Vec<Note>,
    remarks: Vec<String>,
    forewords: Vec<String>,
    group: u32,
    turns: Turns,
}

impl<'a> Maker<'a> {
    fn new(terms: &'a Terms<'a>) -> Self {
        Self {
            terms,
            cases: Vec::new(),
            clones: Vec::new(),
            files: Files::default(),
            directories: Vec::new(),
            control_groups: Vec::new(),
            notes: Vec::new(),
            remarks: Vec::new(),
            forewords: Vec::new(),
            group: 0,
            turns: Turns::default(),
        }
    }

    fn add(&mut self, spec: &Spec, index: usize) -> Result<(), Mistake> {
        self.judge(spec)?;
        let way = pattern::way(spec)?;
        self.begin(spec)?;
        self.directories.extend(files::directories(spec));
        let group = credentials::control_group(spec, self.terms);
        let known = |group: &ControlGroup| self.control_groups.contains(group);
        self.control_groups
            .extend(group.filter(|group| !known(group)));
        let count = spec.values.number("numjobs").unwrap_or(1).max(1);
        if count > 4096 {
            return Err(spec.mistake("numjobs", format!("{count} is more than 4096")));
        }
        let files = spec.values.number("nrfiles").unwrap_or(1).max(1);
        if files.saturating_mul(count) > MOST_FILES {
            let wrong = format!("{files} files of {count} clones are more than {MOST_FILES}");
            return Err(spec.mistake("nrfiles", wrong));
        }
        for number in 0..count as u32 {
            let writer = self.writer(spec, number);
            let awaits = writer.is_some();
            let trace = match (iolog::read(spec, number, self.terms), writer) {
                (Err(_), Some(writer)) => Some(iolog::stand_in(writer)),
                (read, _) => read?,
            };
            let ground = match &trace {
                Some(trace) => iolog::ground(spec, trace, self.terms)?,
                None => files::ground(spec, way, number, self.terms, &self.files)?,
            };
            let unique = self.clones.len();
            let name = format!("{}.{unique}", spec.name);
            let mut job = load(spec, way, &ground, &name, number, self.terms)?;
            if let Some(trace) = trace {
                if trace.passed_over > 0 {
                    self.note(NoteLevel::Ignored, "read_iolog", PASSED_OVER);
                }
                iolog::apply(spec, &mut job, trace);
            }
            // A job that reads back another's writes draws the same places, whatever its name.
            job.rng_label = job.verify.is_some().then(|| unique.to_string());
            job.log = LogRule::of(spec, &job).kept();
            let state = state::path(self.terms.aux, &spec.name, unique);
            if job.verify.is_some() && number == 0 && !way.reads && leaves_no_time(spec, way) {
                let words = "verification read phase will never start because write phase uses \
                             all of runtime";
                self.forewords.push(words.to_owned());
            }
            let is_unfit = self.is_unfit(spec, &mut job, &state);
            job.check().map_err(|invalid| {
                Mistake::new(&spec.at, format!("job {}: {invalid}", spec.name))
            })?;
            let saves = job.verify.is_some() && job.writes();
            let saves = saves && spec.values.number("verify_state_save") != Some(0);
            self.clones.push(CloneFacts {
                state: saves.then_some(state),
                awaits_trace: awaits,
                is_unfit,
                ..self.facts(spec, way, &job, index)
            });
            for file in ground.planned {
                self.files.add(file);
            }
            if let Some(case) = self.cases.last_mut() {
                case.workload.jobs.push(job);
            }
        }
        Ok(())
    }

    /// Whether the state file that a job should go on from cannot be read. As with fio, the others
    /// are run.
    fn is_unfit(&mut self, spec: &Spec, job: &mut Job, state: &str) -> bool {
        if !spec.values.flag("verify_state_load") || job.verify.is_none() {
            return false;
        }
        let loaded = state::load(job, self.seed(), state, self.terms);
        if let Err(why) = &loaded {
            let name = &spec.name;
            let remark = format!("job {name} is not run: verify_state_load: {state}: {why}");
            self.remarks.push(remark);
        }
        loaded.is_err()
    }

    /// The job of an earlier case that writes the trace which this clone reads.
    fn writer(&self, spec: &Spec, number: u32) -> Option<&Job> {
        let path = iolog::path(spec, number)?;
        let (_, earlier) = self.cases.split_last()?;
        let mut clones = self
            .clones
            .iter()
            .filter(|clone| clone.case < earlier.len());
        let clone = clones.find(|clone| clone.logs.trace.as_deref() == Some(path))?;
        let mut jobs = earlier[clone.case].workload.jobs.iter();
        jobs.find(|job| job.name == clone.job)
    }

    /// Of the case at hand.
    fn seed(&self) -> u64 {
        self.cases.last().map_or(0, |case| case.workload.seed)
    }

    /// A new group or a new case, where the job asks for it.
    fn begin(&mut self, spec: &Spec) -> Result<(), Mistake> {
        let turn = self.turns.next(spec, &self.clones)?;
        self.group = turn.group;
        for (option, text) in turn.notes {
            self.note(NoteLevel::Approximated, option, text);
        }
        let seed = seed(spec, self.terms.seed);
        if turn.walled {
            let number = self.cases.len() + 1;
            self.cases.push(Case {
                name: format!("{number}-{}", spec.name),
                settings: Vec::new(),
                workload: Workload {
                    seed,
                    jobs: Vec::new(),
                },
            });
        } else if self
            .cases
            .last()
            .is_some_and(|case| case.workload.seed != seed)
        {
            let text = "jobs that run together draw from one seed: that of the first";
            self.note(NoteLevel::Approximated, "randseed", text);
        }
        Ok(())
    }

    fn note(&mut self, level: NoteLevel, subject: &str, text: &str) {
        let note = Note {
            level,
            subject: subject.to_owned(),
            text: text.to_owned(),
        };
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// `randseed` before `allrandrepeat` before `randrepeat`.
fn seed(spec: &Spec, chance: u64) -> u64 {
    let given = spec.values.text("randseed");
    if let Some(Ok(seed)) = given.map(|text| amount(text, Scale::default())) {
        return seed as u64;
    }
    let repeats = match spec.values.number("allrandrepeat") {
        Some(all) if all != 0 => true,
        _ => spec.values.number("randrepeat") != Some(0),
    };
    if repeats { 0x89 } else { chance }
}
