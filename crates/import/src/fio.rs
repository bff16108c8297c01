//! fio's results, whatever their form.

mod json;
#[cfg(test)]
pub(crate) mod json_tests;
mod request;
mod terse;
#[cfg(test)]
pub(crate) mod terse_tests;
mod text;
#[cfg(test)]
pub(crate) mod text_tests;

use super::figures::Figures;
use super::not_a_result;
use super::record::{Case, Found, Job};
use blocklab_syntax::Mistake;

type Reader = fn(&str) -> Result<Vec<Found>, Mistake>;

/// fio can print a result in several forms at once: the most exact one is read.
pub(super) fn read(text: &str) -> Result<Vec<Found>, Mistake> {
    let forms: [(&str, bool, Reader); 3] = [
        ("JSON", json::is_json(text), json::read),
        ("terse lines", terse::is_terse(text), terse::read),
        ("normal text", text::is_text(text), text::read),
    ];
    let mut there = forms.into_iter().filter(|(_, is_there, _)| *is_there);
    let Some((form, _, reader)) = there.next() else {
        return Err(not_a_result(
            "neither JSON nor terse output of fio, nor its normal text",
        ));
    };
    let found = reader(text)?;
    for (other, _, reader) in there {
        if jobs(&reader(text)?) != jobs(&found) {
            return Err(not_a_result(format!(
                "it holds results as {form} and others as {other}: put them into files of their own"
            )));
        }
    }
    Ok(found)
}

fn jobs(runs: &[Found]) -> usize {
    let cases = runs.iter().flat_map(|run| &run.cases);
    cases.map(|case| case.jobs.len()).sum()
}

/// A group of one job is called as its job, where that is unique.
fn names(cases: &mut [Case]) {
    for at in 0..cases.len() {
        let [job] = &cases[at].jobs[..] else { continue };
        let name = job.name.clone();
        if !cases.iter().any(|case| case.name == name) {
            cases[at].name = name;
        }
    }
}

/// Old versions print whole operations a second, and times are whole milliseconds.
fn agree(what: [&str; 3], rate: f64, amount: f64, seconds: f64) -> Result<(), String> {
    let worked_out = amount / seconds;
    let tolerance = worked_out * (0.01 + 1.5e-3 / seconds) + 1.0;
    match (rate - worked_out).abs() <= tolerance {
        true => Ok(()),
        false => {
            let [figure, of, time] = what;
            Err(format!(
                "`{figure}` says {rate}, and `{of}` by `{time}` {worked_out:.1}: the result \
                 contradicts itself"
            ))
        }
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
            ios: both.ios - self.read.ios,
            bytes: both.bytes - self.read.bytes,
            ..both.part(1.0 - share)
        };
    }
}
