//! Which jobs run at the same time: walls between them, jobs that wait for another one, and what
//! the end of one means for the others.

use super::spec::Spec;
use blocklab_syntax::Mistake;

/// The group and case of a job.
#[derive(Debug, Default)]
pub(super) struct Membership {
    /// From 0, at each `stonewall` and `new_group` one more.
    pub(super) group: u32,
    /// Whether a case begins with it: all jobs before it have ended by then.
    pub(super) begins_case: bool,
    /// Options that are not honoured to the letter, and in words why.
    pub(super) notes: Vec<(&'static str, &'static str)>,
}

/// The jobs of one command line, as they take their turns.
#[derive(Debug, Default)]
pub(super) struct Groups {
    group: u32,
    /// The jobs so far, each with how many walls stand before it.
    begun: Vec<(String, u32)>,
    walls: u32,
    /// The job that the jobs of the current case wait for.
    awaited: Option<String>,
    /// Whether the end of one job of the current case ends its group.
    ends: bool,
    /// Whether the current case has jobs of several groups.
    groups: bool,
}

const WAITS: &str = "the job begins when all have ended that ran beside the one it waits for";
const BEHIND: &str = "the job runs beside one that waits, and waits with it";
const GROUPS: &str = "jobs of other groups that run at the same time are ended, too";
const ON_ERROR: &str = "a failure ends the jobs that run at the same time; what follows still runs";

impl Groups {
    /// The case and group of this job, after the jobs before it.
    pub(super) fn next(&mut self, spec: &Spec) -> Result<Membership, Mistake> {
        let options = &spec.options;
        let is_first = self.begun.is_empty();
        let mut membership = Membership::default();
        let newly_grouped = options.stonewall || options.new_group;
        self.group += u32::from(newly_grouped && !is_first);
        membership.group = self.group;
        let awaited = self.awaited(spec)?;
        // A plan runs case after case: to wait for one job is to wait for all that run beside it, and
        // a job that follows such a one waits too, whether it wanted to or not.
        if options.stonewall || is_first {
            membership.begins_case = true;
            self.awaited = None;
        } else if let Some(name) = awaited {
            if self.running().any(|other| other != name) {
                membership.notes.push(("wait_for", WAITS));
            }
            membership.begins_case = true;
            self.awaited = Some(name.to_owned());
        } else if self.awaited.is_some() && options.wait_for != self.awaited {
            membership.notes.push(("wait_for", BEHIND));
        }
        if membership.begins_case {
            self.walls += 1;
            (self.ends, self.groups) = (false, false);
        } else {
            self.groups |= options.new_group;
        }
        self.check_ends(spec, &mut membership);
        self.begun.push((spec.name.clone(), self.walls));
        Ok(membership)
    }

    /// The names of the jobs that run in the current case.
    fn running(&self) -> impl Iterator<Item = &str> {
        let last = self.begun.iter().filter(|(_, walls)| *walls == self.walls);
        last.map(|(name, _)| &**name)
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
        self.ends |= (options.exitall || on_error) && what == "group";
        if self.ends && self.groups {
            membership.notes.push(("exitall", GROUPS));
        }
        if on_error && !options.exitall && what == "all" {
            membership.notes.push(("exit_what", ON_ERROR));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::planned;

    /// By job, which stretch it runs in; and what is noted.
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
        let told: Vec<&str> = prepared.notes.iter().map(|note| &*note.subject).collect();
        assert_eq!(told, notes, "{text}");
    }

    #[test]
    fn whoever_waits_for_all_that_runs_is_no_approximation() {
        check(&["", "wait_for=a"], &[0, 1], &[]);
        check(&["", "wait_for=a", "wait_for=a"], &[0, 1, 1], &[]);
        check(&["", "wait_for=a", "wait_for=b"], &[0, 1, 2], &[]);
        check(&["numjobs=2", "wait_for=a"], &[0, 0, 1], &[]);
        // What has ended is not waited for.
        check(&["", "stonewall", "wait_for=a"], &[0, 1, 1], &[]);
    }

    #[test]
    fn whoever_waits_for_one_of_several_is_one() {
        check(&["", "", "wait_for=a"], &[0, 0, 1], &["wait_for"]);
        check(&["", "wait_for=a", ""], &[0, 1, 1], &["wait_for"]);
        check(&["", "wait_for=a", "stonewall"], &[0, 1, 2], &[]);
    }

    #[test]
    fn an_end_is_that_of_a_group() {
        check(&["exitall", ""], &[0, 0], &[]);
        check(&["exitall", "new_group"], &[0, 0], &["exitall"]);
        check(&["exitall\nexit_what=stonewall", "new_group"], &[0, 0], &[]);
        check(&["exitall_on_error\nexit_what=all"], &[0], &["exit_what"]);
    }
}
