//! Which jobs run at the same time: `stonewall`, `wait_for`, and what the end of one job means for the
//! others.

use super::spec::Spec;
use blocklab_syntax::Mistake;

/// The group and case of a job.
#[derive(Debug, Default)]
pub(super) struct Membership {
    /// From 0, at each `stonewall` and `new_group` one more.
    pub(super) group: u32,
    /// Whether a case begins with it: all jobs before it have ended by then.
    pub(super) begins_case: bool,
    /// Options that are only approximated, each with a note on how.
    pub(super) notes: Vec<(&'static str, &'static str)>,
}

/// The jobs of one command line, as they take their turns.
#[derive(Debug, Default)]
pub(super) struct Groups {
    group: u32,
    /// The names of the jobs so far, each with the number of its case, from 1.
    begun: Vec<(String, u32)>,
    /// Number of the current case, from 1.
    case: u32,
    /// The job that the jobs of the current case wait for.
    awaited: Option<String>,
    /// Whether the end of one job of the current case ends its group.
    ends_group: bool,
    /// Whether the current case has jobs of several groups.
    has_several_groups: bool,
}

/// Notes on options, where jobs begin or end otherwise than with fio.
const WAITS_FOR_CASE: &str =
    "the job begins when all have ended that ran beside the one it waits for";
const WAITS_ALONGSIDE: &str = "the job runs beside one that waits, and waits with it";
const ENDS_OTHER_GROUPS: &str = "jobs of other groups that run at the same time are ended, too";
const ENDS_CASE_ONLY: &str =
    "a failure ends the jobs that run at the same time; what follows still runs";

impl Groups {
    /// Adds a job after the ones before it, and gives its case and group.
    pub(super) fn add(&mut self, spec: &Spec) -> Result<Membership, Mistake> {
        let options = &spec.options;
        let is_first = self.begun.is_empty();
        let mut membership = Membership::default();
        let newly_grouped = options.stonewall || options.new_group;
        self.group += u32::from(newly_grouped && !is_first);
        membership.group = self.group;
        let awaited = self.awaited(spec)?;
        // A plan runs case after case, so a job that waits for one job waits for all that run alongside
        // it, and the jobs after it in the file wait, too.
        if options.stonewall || is_first {
            membership.begins_case = true;
            self.awaited = None;
        } else if let Some(name) = awaited {
            if self.running().any(|other| other != name) {
                membership.notes.push(("wait_for", WAITS_FOR_CASE));
            }
            membership.begins_case = true;
            self.awaited = Some(name.to_owned());
        } else if self.awaited.is_some() && options.wait_for != self.awaited {
            membership.notes.push(("wait_for", WAITS_ALONGSIDE));
        }
        if membership.begins_case {
            self.case += 1;
            self.ends_group = false;
            self.has_several_groups = false;
        } else {
            self.has_several_groups |= options.new_group;
        }
        self.check_ends(spec, &mut membership);
        self.begun.push((spec.name.clone(), self.case));
        Ok(membership)
    }

    /// The names of the jobs that run in the current case.
    fn running(&self) -> impl Iterator<Item = &str> {
        let current = self.begun.iter().filter(|(_, case)| *case == self.case);
        current.map(|(name, _)| &**name)
    }

    /// The job that this one waits for; `None` where that belongs to an earlier case and has ended.
    fn awaited<'s>(&self, spec: &'s Spec) -> Result<Option<&'s str>, Mistake> {
        let Some(name) = spec.options.wait_for.as_deref() else {
            return Ok(None);
        };
        if !self.begun.iter().any(|(begun, _)| begun == name) {
            return Err(spec.mistake("wait_for", format!("waitee job {name} unknown")));
        }
        Ok(self.running().any(|begun| begun == name).then_some(name))
    }

    /// Notes where the end of this job would end others than with fio.
    fn check_ends(&mut self, spec: &Spec, membership: &mut Membership) {
        let options = &spec.options;
        let on_error = options.exitall_on_error;
        let what = options.exit_what;
        self.ends_group |= (options.exitall || on_error) && what == "group";
        if self.ends_group && self.has_several_groups {
            membership.notes.push(("exitall", ENDS_OTHER_GROUPS));
        }
        if on_error && !options.exitall && what == "all" {
            membership.notes.push(("exit_what", ENDS_CASE_ONLY));
        }
    }
}

#[cfg(test)]
mod tests {
    use blocklab_workload::EndsOthers;

    use crate::tests::planned;

    /// `cases`: the index of each job's case. `notes`: the options that have a note.
    #[track_caller]
    fn check(jobs: &[&str], cases: &[usize], notes: &[&str]) {
        let sections = jobs.iter().zip('a'..);
        let sections = sections.map(|(lines, name)| format!("[{name}]\n{lines}\n"));
        let text = format!(
            "[global]\nioengine=null\nsize=4k\n{}",
            sections.collect::<String>()
        );
        let prepared = planned(&text).expect("sound jobs");
        let found: Vec<usize> = prepared.clones.iter().map(|clone| clone.case).collect();
        assert_eq!(found, cases, "{text}");
        let noted: Vec<&str> = prepared.notes.iter().map(|note| &*note.subject).collect();
        assert_eq!(noted, notes, "{text}");
    }

    #[test]
    fn waiting_for_all_that_runs_is_exact() {
        check(&["", "wait_for=a"], &[0, 1], &[]);
        check(&["", "wait_for=a", "wait_for=a"], &[0, 1, 1], &[]);
        check(&["", "wait_for=a", "wait_for=b"], &[0, 1, 2], &[]);
        check(&["numjobs=2", "wait_for=a"], &[0, 0, 1], &[]);
        // What has ended is not waited for.
        check(&["", "stonewall", "wait_for=a"], &[0, 1, 1], &[]);
    }

    #[test]
    fn waiting_for_one_of_several_is_noted() {
        check(&["", "", "wait_for=a"], &[0, 0, 1], &["wait_for"]);
        check(&["", "wait_for=a", ""], &[0, 1, 1], &["wait_for"]);
        check(&["", "wait_for=a", "stonewall"], &[0, 1, 2], &[]);
    }

    #[test]
    fn an_end_beyond_the_group_is_noted() {
        check(&["exitall", ""], &[0, 0], &[]);
        check(&["exitall", "new_group"], &[0, 0], &["exitall"]);
        let stonewall = "exitall\nexit_what=stonewall";
        check(&[stonewall, "new_group\nexit_what=stonewall"], &[0, 0], &[]);
        check(&["exitall_on_error\nexit_what=all"], &[0], &["exit_what"]);
    }

    /// A job with `exitall` ended the others, but one without it that ended before let it go on: a run of
    /// 1 s with fio 3.33 took 3 s. In fio, the option of one job holds for all.
    #[test]
    fn exitall_of_one_job_is_that_of_all() {
        let text = "[global]\nioengine=null\nsize=4k\n[a]\nexitall\n[b]\n[c]\nstonewall\n";
        let prepared = planned(text).expect("sound jobs");
        let mut jobs = prepared.jobs();
        assert!(jobs.all(|job| job.ends_others == EndsOthers::Always));
    }
}
