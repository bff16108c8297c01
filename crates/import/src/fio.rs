//! fio's results, whatever their form.

mod json;
#[cfg(test)]
pub(crate) mod json_tests;
pub(crate) mod log;
#[cfg(test)]
pub(crate) mod log_tests;
mod request;
mod terse;
#[cfg(test)]
pub(crate) mod terse_tests;
mod text;
#[cfg(test)]
pub(crate) mod text_tests;

use super::figures::Figures;
use super::record::{Case, Found, Job};
use super::{Source, named, not_a_result};
use blocklab_syntax::Mistake;

/// How fio's client names the sum over all hosts. Next to their own results it would count all twice.
const ALL_CLIENTS: &str = "All clients";

type Reader = fn(&str) -> Result<Vec<Found>, Mistake>;

/// Results, each for itself; but logs together are one.
pub(super) fn read(sources: &[Source]) -> Result<Vec<Found>, Mistake> {
    let mut all = Vec::new();
    let mut logs = Vec::new();
    for source in sources {
        // An output may be called as a log is.
        if log::Name::parse(&source.name).is_some() && forms(&source.text).next().is_none() {
            logs.push(source);
        } else {
            all.extend(printed(&source.text).map_err(|wrong| named(wrong, &source.name))?);
        }
    }
    if !logs.is_empty() {
        all.push(log::read(&logs)?);
    }
    Ok(all)
}

/// The forms that a text holds, the most exact one first.
fn forms(text: &str) -> impl Iterator<Item = (&'static str, Reader)> {
    let forms: [(&str, bool, Reader); 3] = [
        ("JSON", json::is_json(text), json::read),
        ("terse lines", terse::is_terse(text), terse::read),
        ("normal text", text::is_text(text), text::read),
    ];
    let there = forms.into_iter().filter(|(_, is_there, _)| *is_there);
    there.map(|(form, _, reader)| (form, reader))
}

/// fio can print a result in several forms at once: the most exact one is read.
fn printed(text: &str) -> Result<Vec<Found>, Mistake> {
    let mut there = forms(text);
    let Some((form, reader)) = there.next() else {
        return Err(not_a_result(
            "neither JSON nor terse output of fio, nor its normal text, nor a log that is called \
             as fio calls it: NAME_bw.1.log, NAME_iops.1.log, NAME_clat.1.log, NAME_lat.1.log",
        ));
    };
    let found = reader(text)?;
    for (other, reader) in there {
        let others = reader(text)?;
        // The normal text leaves out jobs that failed at once, and old terse lines leave out trims.
        if count(&others, |_| true) != count(&found, |_| true)
            && count(&others, has_moved) != count(&found, has_moved)
        {
            return Err(not_a_result(format!(
                "it holds results as {form} and others as {other}: put them into files of their own"
            )));
        }
    }
    Ok(found)
}

fn count(runs: &[Found], is_counted: fn(&Job) -> bool) -> usize {
    let cases = runs.iter().flat_map(|run| &run.cases);
    let jobs = cases.flat_map(|case| &case.jobs);
    jobs.filter(|job| is_counted(job)).count()
}

fn has_moved(job: &Job) -> bool {
    job.directions().iter().any(|figures| figures.ios > 0)
}

/// The number of the error that ended a job; `None` for 0, where none did. Of a job that goes on after errors
/// (`continue_on_error`), fio gives the first of these as its error: `went_on_after`.
fn ended_by(error: i64, went_on_after: Option<i64>) -> Option<i32> {
    let number = i32::try_from(error).ok()?;
    (number != 0 && went_on_after != Some(error)).then_some(number)
}

/// A group of one job is called as its job, where that is unique.
fn name_single_job_cases(cases: &mut [Case]) {
    for at in 0..cases.len() {
        let [job] = &cases[at].jobs[..] else { continue };
        let name = job.name.clone();
        if !cases.iter().any(|case| case.name == name) {
            cases[at].name = name;
        }
    }
}

/// Refuses a rate that is not the amount divided by the time; `what` holds the names of the three. The
/// tolerance is for old versions, which print whole operations a second, and for times in whole ms.
fn check_agreement(what: [&str; 3], rate: f64, amount: f64, seconds: f64) -> Result<(), String> {
    let worked_out = amount / seconds;
    let tolerance = worked_out * (0.01 + 1.5e-3 / seconds) + 1.0;
    if (rate - worked_out).abs() <= tolerance {
        Ok(())
    } else {
        let [rate_name, amount_name, time_name] = what;
        Err(format!(
            "`{rate_name}` says {rate}, and `{amount_name}` by `{time_name}` {worked_out:.1}: the result \
                 contradicts itself"
        ))
    }
}

impl Job {
    /// Takes figures of reads and writes together, each as its share of the mixture.
    pub fn divide(&mut self, both: Figures, found: &mut Found) {
        let reads = self.read_percent.unwrap_or(50);
        if !matches!(reads, 0 | 100) {
            found.note(&format!(
                "the file counts reads and writes together (unified_rw_reporting): {reads} % of \
                 them are taken for reads, and each has the latencies of both"
            ));
        }
        let share = f64::from(reads) / 100.0;
        self.read = both.part(share);
        self.write = Figures {
            ios: both.ios.saturating_sub(self.read.ios),
            bytes: both.bytes.saturating_sub(self.read.bytes),
            ..both.part(1.0 - share)
        };
    }
}
