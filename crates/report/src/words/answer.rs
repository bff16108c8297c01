//! In: the result of a run, a comparison, a diagnosis, a study or a history.
//! Out: the one sentence with which every form of it begins: the same words in text, on a page and
//! in JSON.

use blocklab_compare::compare::{Against, Comparison, Verdict};
use blocklab_compare::expect::{Compared, Diagnosis, LimitCheck, State};
use blocklab_compare::history::{AgainstHistory, History, SeriesVerdict};
use blocklab_compare::study::{self, Outcome};
use blocklab_findings::{Assessment, CaseRate, Finding, Row, Severity};
use blocklab_record::{Origin, Record};
use blocklab_units::{Ink, count, plural, significant, stated};

use crate::words::delivered::row_name;
use crate::words::{facts, shown, versus};

/// Whether an answer is good or bad news; decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Nothing speaks against it.
    Good,
    /// Neither good nor bad.
    Plain,
    /// To be used with caution.
    Doubt,
    /// Not to be used, slower, or less than was promised.
    Bad,
}

impl Tone {
    /// That of a load's verdict in a history.
    pub const fn of_series(verdict: SeriesVerdict) -> Self {
        match verdict {
            SeriesVerdict::Regressed => Self::Bad,
            SeriesVerdict::Improved => Self::Good,
            SeriesVerdict::Suspected => Self::Doubt,
            SeriesVerdict::NoChangeShown | SeriesVerdict::NotComparable => Self::Plain,
        }
    }

    /// Its class in the style of a page.
    pub const fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Plain => "plain",
            Self::Doubt => "doubt",
            Self::Bad => "bad",
        }
    }

    /// Its colour on a terminal.
    pub const fn ink(self) -> Ink {
        match self {
            Self::Good => Ink::Green,
            Self::Plain => Ink::Bold,
            Self::Doubt => Ink::Yellow,
            Self::Bad => Ink::Red,
        }
    }
}

/// A sentence without its full stop, and its tone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Its tone.
    pub tone: Tone,
    /// `Usable with caution: 68,498 IOPS at most; other programs used the disk in 7 of 8 cases`.
    pub text: String,
}

impl Answer {
    fn new(tone: Tone, text: impl Into<String>) -> Self {
        Self {
            tone,
            text: text.into(),
        }
    }
}

/// The most parts of a kind that a sentence names.
const NAMED: usize = 2;

/// Whether the figures of a run can be used, its largest figure, and what doubts them.
pub fn run(record: &Record, assessment: &Assessment) -> Answer {
    if let Some(ending) = facts::ending(record) {
        return Answer::new(Tone::Bad, ending.trim_end_matches('.'));
    }
    let findings = &assessment.findings;
    let cases = assessment.rows.len();
    let most = largest(assessment);
    let usable = match record.origin {
        Origin::Measured | Origin::Imported => ["Usable", "Usable with caution"],
        Origin::Simulated => ["Predicted", "Predicted, with caution"],
        Origin::Emulated => ["Paced by a model", "Paced by a model, with caution"],
    };
    if !assessment.directions().any(|(_, moved)| moved.ios > 0) && findings.is_empty() {
        return Answer::new(Tone::Doubt, "Nothing was measured");
    }
    let critical = doubts(findings, Severity::Critical, cases);
    let warning = doubts(findings, Severity::Warning, cases);
    match (critical, warning) {
        (Some(why), _) => Answer::new(Tone::Bad, format!("Do not use: {why}; {most}")),
        (None, Some(why)) => Answer::new(Tone::Doubt, format!("{}: {most}; {why}", usable[1])),
        (None, None) => Answer::new(
            Tone::Good,
            format!("{}: {most}; {}", usable[0], sound(findings)),
        ),
    }
}

/// The largest rate: `68,498 IOPS at most`, with the largest throughput if another case has it. A
/// single case has both: `68,498 IOPS, 281 MB/s`. The rate of a case is that of all its directions
/// together.
fn largest(assessment: &Assessment) -> String {
    let cases: Vec<CaseRate<'_>> = assessment.rows.iter().filter_map(Row::rate).collect();
    let fastest = cases.iter().max_by(|a, b| a.iops.total_cmp(&b.iops));
    let widest = cases
        .iter()
        .max_by(|a, b| a.bytes_per_s.total_cmp(&b.bytes_per_s));
    let (Some(fastest), Some(widest)) = (fastest, widest) else {
        return "nothing was measured".to_owned();
    };
    let iops = facts::iops(fastest.iops);
    let mbps = facts::mb_per_s(widest.bytes_per_s);
    if cases.len() == 1 {
        format!("{iops} IOPS, {mbps} MB/s")
    } else if fastest.case == widest.case {
        format!("{iops} IOPS at most")
    } else {
        format!("{iops} IOPS and {mbps} MB/s at most")
    }
}

/// What speaks for the figures: the first clause of the finding that says so.
fn sound(findings: &[Finding]) -> String {
    let known = facts::good(findings).map(|finding| finding.statement.as_str());
    let first = known.and_then(|statement| statement.split([';', '.']).next());
    first.map_or_else(|| "no finding doubts a figure".to_owned(), in_a_sentence)
}

/// A text with its first letter in lower case, so that it can follow a semicolon.
fn in_a_sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_lowercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// The findings of this severity, in a few words: `other programs used the disk in 7 of 8 cases,
/// and 1 more warning`; `None` without one.
fn doubts(findings: &[Finding], severity: Severity, cases: usize) -> Option<String> {
    let mut rules: Vec<(&str, Vec<&str>)> = Vec::new();
    for finding in findings
        .iter()
        .filter(|finding| finding.severity == severity)
    {
        let subject = finding.subject.iter().map(String::as_str);
        match rules.iter_mut().find(|(rule, _)| *rule == finding.rule) {
            Some((_, known)) => known.extend(subject),
            None => rules.push((finding.rule, subject.collect())),
        }
    }
    for (_, known) in &mut rules {
        known.sort_unstable();
        known.dedup();
    }
    // The finding on the most cases is named. One without cases is about the whole run.
    rules.sort_by_key(|(_, known)| {
        std::cmp::Reverse(match known.len() {
            0 => usize::MAX,
            some => some,
        })
    });
    let (rule, known) = rules.first()?;
    let place = match &known[..] {
        [] => String::new(),
        [one] if cases > 1 => format!(" in {one}"),
        [_, _] if cases == 2 => " in both cases".to_owned(),
        all if cases > 1 && all.len() == cases => format!(" in all {cases} cases"),
        _ if cases > 1 => format!(" in {} of {cases} cases", known.len()),
        _ => String::new(),
    };
    let word = if severity == Severity::Critical {
        "critical finding"
    } else {
        "warning"
    };
    let more = match rules.len() - 1 {
        0 => String::new(),
        n => format!(", and {}", plural(n, &format!("more {word}"))),
    };
    Some(format!("{}{place}{more}", phrase(rule)))
}

/// What a rule found, in a few words. The names of most rules are such words already.
fn phrase(rule: &str) -> String {
    let known = match rule {
        "disk-shared" => "other programs used the disk",
        "machine-busy" => "other programs used the processor",
        "page-cache" => "memory answered in place of the device",
        "cpu-limit" => "the processor was the limit",
        "few-samples" => "too few operations for the slow tail",
        "too-short" => "measured too briefly",
        "outlier-pass" => "one pass differs from the others",
        "scatter" => "the passes scatter",
        "drift-over-passes" => "the passes drift",
        "drift-within" => "the rate drifts within passes",
        "failed-operations" => "operations failed",
        "not-direct" => "not measured past the page cache",
        "not-from-device" => "not answered by the device",
        "rate-missed" => "the requested rate was not reached",
        "not-steady" => "the requested steady state was not reached",
        "latency-target" => "the requested latency was not kept",
        "unanswered" => "operations were not answered",
        "slow-episode" => "an episode of slow operations",
        "quota-throttled" => "a processor quota held the run back",
        "setting-not-in-effect" => "a setting that was bought is not in effect",
        "below-documented-limit" => "less than a documented limit allows",
        "memory-target" => "the target lies in memory",
        "littles-law" => "time went by outside the measured latency",
        "useless-depth" => "depth has no effect with this engine",
        "above-limit" => "more than a limit allows",
        "quicker-than-published" => "quicker than anything published",
        "slower-than-published" => "slower than anything published",
        "slower-than-model" => "far slower than the model of its type",
        name => return name.replace('-', " "),
    };
    known.to_owned()
}

/// How the runs compare with the baseline.
pub fn comparison(comparison: &Comparison) -> Answer {
    let each = comparison.against.iter();
    let mut parts: Vec<(Tone, String)> = each
        .map(|against| one_against(comparison, against))
        .collect();
    // The worst news sets the colour.
    let tone = [Tone::Bad, Tone::Doubt, Tone::Good]
        .into_iter()
        .find(|tone| parts.iter().any(|(known, _)| known == tone));
    // One run more than are named takes no more room than the words "and 1 more run".
    let more = parts.len().saturating_sub(NAMED + 1);
    if more > 0 {
        parts.truncate(NAMED);
    }
    let mut texts: Vec<String> = parts.into_iter().map(|(_, text)| text).collect();
    if more > 0 {
        texts.push(format!("and {} more runs", more + 1));
    }
    Answer::new(tone.unwrap_or(Tone::Plain), texts.join("; "))
}

/// A run compared with the baseline: `B is slower in 4 of 8 loads (×0.50), faster in 2 (×1.95)`.
fn one_against(comparison: &Comparison, against: &Against) -> (Tone, String) {
    let name = versus::letter(against.run);
    let all = against.pairs.len();
    let loads = plural(all, "load");
    if all == 0 {
        let text = match versus::completed_nothing(comparison, against) {
            Some(text) => text,
            None => format!("{name} has no load in common with the baseline"),
        };
        return (Tone::Doubt, text);
    }
    if against.count(Verdict::Unknown) == all {
        let text = format!("{name} cannot be judged: a single pass has no scatter ({loads})");
        return (Tone::Doubt, text);
    }
    let changed = [(Verdict::Slower, Tone::Bad), (Verdict::Faster, Tone::Good)]
        .into_iter()
        .filter(|(verdict, _)| against.count(*verdict) > 0);
    let mut tone = Tone::Plain;
    let mut parts: Vec<String> = Vec::new();
    for (verdict, tone_of_verdict) in changed {
        // The first part sets the tone, as slower comes before faster, and names the number of
        // loads.
        let mut of = String::new();
        if parts.is_empty() {
            tone = tone_of_verdict;
            of = format!(" of {loads}");
        }
        let speed = against
            .mean_speed(verdict)
            .map_or_else(String::new, |speed| format!(" (×{})", short(speed)));
        parts.push(format!(
            "{} in {}{of}{speed}",
            versus::verdict(verdict),
            against.count(verdict)
        ));
    }
    if parts.is_empty() {
        return (
            Tone::Plain,
            match against.count(Verdict::Negligible) {
                0 => format!("{name} shows no difference in {loads}"),
                _ => format!("{name} shows no difference that matters in {loads}"),
            },
        );
    }
    (tone, format!("{name} is {}", parts.join(", ")))
}

/// A factor with two decimals below 10, a small one with two significant digits: `0.50`, `1.95`, `14`,
/// `0.00021`.
fn short(speed: f64) -> String {
    match speed {
        s if s > 0.0 && s < 0.01 => significant(s, 2),
        s if s < 9.995 => format!("{s:.2}"),
        s => count(s),
    }
}

/// Whether what was bought is delivered; without an expectation, whether the figures can be used, and
/// what held the run back.
pub fn diagnosis(record: &Record, diagnosis: &Diagnosis) -> Answer {
    let mut own = run(record, &diagnosis.assessment);
    let Some(compared) = &diagnosis.expected else {
        if let Some(limit) = held_back(&diagnosis.assessment.findings) {
            own.text = format!("{}; {limit}", own.text);
        }
        return own;
    };
    let delivered = delivered(compared);
    // Figures that must not be used decide nothing, so that comes first.
    if own.tone == Tone::Bad {
        return Answer::new(
            Tone::Bad,
            format!("{}; {}", own.text, in_a_sentence(&delivered.text)),
        );
    }
    delivered
}

/// What held a run back: the first clause of the one finding that says so. Of several, each is about a
/// part of the run.
fn held_back(findings: &[Finding]) -> Option<&str> {
    let rules = ["bound-by", "never-bound", "at-limit", "latency-bound"];
    let mut naming = findings
        .iter()
        .filter(|finding| rules.contains(&finding.rule));
    let only = naming.next().filter(|_| naming.next().is_none())?;
    let clause = only.statement.split("; ").next()?;
    Some(clause.trim_end_matches('.'))
}

/// The limits in the most severe state: `Missed: volume IOPS, 6,000 of 8,000 (75 %)`.
fn delivered(compared: &Compared) -> Answer {
    // The most severe state that occurs is the answer.
    let states = [
        (State::Missed, Tone::Bad, "Missed"),
        (State::Exceeded, Tone::Doubt, "Exceeded"),
        (State::Interrupted, Tone::Doubt, "Interrupted"),
        (State::Undecided, Tone::Doubt, "Undecided"),
        (State::Met, Tone::Good, "Met"),
    ];
    let has = |state| {
        compared
            .limits
            .iter()
            .filter(move |limit| limit.state == state)
    };
    let found = states
        .into_iter()
        .find(|(state, ..)| has(*state).next().is_some());
    let Some((state, tone, word)) = found else {
        let text = match compared.limits.len() {
            0 => format!("No limit of {} is documented", compared.address),
            n => format!(
                "Not tested: no load of this run could reach any of {}",
                plural(n, "limit")
            ),
        };
        return Answer::new(Tone::Doubt, text);
    };
    let all: Vec<&LimitCheck> = has(state).collect();
    let named: Vec<String> = all.iter().take(NAMED).map(|limit| reached(limit)).collect();
    let more = match all.len().saturating_sub(NAMED) {
        0 => String::new(),
        n => format!("; and {n} more"),
    };
    Answer::new(tone, format!("{word}: {}{more}", named.join("; ")))
}

/// A limit and how much of it was delivered: for `gp3: volume IOPS`, `volume IOPS, 6,000 of 8,000
/// (75 %)`, with its target if several have addresses. A unit that the name contains is not repeated.
fn reached(limit: &LimitCheck) -> String {
    let of_product = limit.limit.split_once(": ");
    let name = of_product.map_or(&*limit.limit, |(_product, name)| name);
    let name_and_target = row_name(name, limit.target.as_ref());
    let Some(delivered) = limit.delivered else {
        return format!("{name_and_target}, {} {}", stated(limit.value), limit.unit);
    };
    let unit = if name.contains(limit.unit) {
        String::new()
    } else {
        format!(" {}", limit.unit)
    };
    format!(
        "{name_and_target}, {} of {}{unit} ({} %)",
        facts::fine_rate(delivered),
        stated(limit.value),
        count(delivered / limit.value * 100.0)
    )
}

/// How many conclusions of a study hold; without conclusions, how much it compares.
pub fn study(outcome: &Outcome) -> Answer {
    use study::Verdict::{Confirmed, Contradicted};
    let verdicts = outcome.conclusions.iter().map(|one| one.verdict);
    let has = |wanted| verdicts.clone().any(|verdict| verdict == wanted);
    let all = verdicts.len();
    if all == 0 {
        let systems = outcome
            .systems
            .iter()
            .filter(|system| system.run.is_some())
            .count();
        let tables = plural(outcome.tables.len(), "table");
        let charts = plural(outcome.plots.len(), "chart");
        let places = match (outcome.tables.len(), outcome.plots.len()) {
            (0, 0) => String::new(),
            (_, 0) => format!(" in {tables}"),
            (0, _) => format!(" in {charts}"),
            _ => format!(" in {tables} and {charts}"),
        };
        let text = format!("{} compared{places}", plural(systems, "system"));
        return Answer::new(Tone::Plain, text);
    }
    let tone = match (has(Contradicted), has(Confirmed)) {
        (false, false) => Tone::Plain,
        (false, true) => Tone::Good,
        (true, _) => Tone::Doubt,
    };
    // The first of the counts tells how many conclusions there are: `2 of 3 conclusions confirmed`.
    let of_all = format!(" of {} ", plural(all, "conclusion"));
    Answer::new(tone, shown::tally(outcome).replacen(' ', &of_all, 1))
}

/// How many loads got worse, got better or stayed, by the figure that is judged, and the load that
/// got worse last.
pub fn history(history: &History) -> Answer {
    use SeriesVerdict::{Improved, NoChangeShown, NotComparable, Regressed, Suspected};
    let headlines = history.series.iter().filter(|series| series.is_headline);
    let verdicts = headlines.clone().map(|series| series.verdict);
    let kinds = [Regressed, Improved, Suspected, NoChangeShown, NotComparable];
    let number = verdicts.clone().count();
    if number == 0 {
        let text = "no load: none of the runs completed an operation";
        return Answer::new(Tone::Plain, text.to_owned());
    }
    // The worst news sets the tone.
    let mut news = [Regressed, Suspected, Improved].into_iter();
    let worst = news.find(|kind| verdicts.clone().any(|verdict| verdict == *kind));
    let tone = worst.map_or(Tone::Plain, Tone::of_series);
    let newest = headlines
        .filter(|series| series.verdict == Regressed)
        .filter_map(|series| Some((series.changes.last()?, series)))
        .max_by(|(a, _), (b, _)| a.started_at.cmp(&b.started_at))
        .map_or_else(String::new, |(change, series)| {
            let load = &series.conditions;
            format!("; {} {} since {}", load.case, load.direction, change.run)
        });
    let loads = plural(number, "load");
    let counts = facts::tally(&kinds, verdicts);
    // The other verdicts are said of a number of loads as they are: `4 improved`.
    let counts = counts.replace("no change shown", "without a change shown");
    Answer::new(tone, format!("{loads}: {counts}{newest}"))
}

/// How many loads are slower or faster than their history, and how many cannot be compared.
pub fn against_history(against: &AgainstHistory) -> Answer {
    // A load without a history is refused with its reason, so this run has no load.
    if against.pairs.is_empty() && against.refused.is_empty() {
        let text = "the run completed nothing, so there is nothing to compare";
        return Answer::new(Tone::Doubt, text.to_owned());
    }
    let verdicts = against.pairs.iter().map(|pair| pair.verdict);
    let changed = [(Verdict::Slower, Tone::Bad), (Verdict::Faster, Tone::Good)];
    let tone = changed
        .iter()
        .find(|(verdict, _)| verdicts.clone().any(|known| known == *verdict));
    let kinds = [
        Verdict::Slower,
        Verdict::Faster,
        Verdict::NoDifference,
        Verdict::Negligible,
    ];
    let counts = match facts::tally(&kinds, verdicts.clone()) {
        none if none.is_empty() => "no load has a history".to_owned(),
        counts => format!("{}: {counts}", plural(against.pairs.len(), "load")),
    };
    let refused = match against.refused.len() {
        0 => String::new(),
        refused => format!("; {} not comparable", plural(refused, "load")),
    };
    let tone = tone.map_or(Tone::Plain, |(_, tone)| *tone);
    Answer::new(
        tone,
        format!("against the runs before it, {counts}{refused}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: a disk of 10 IOPS beside one of 100,000 was slower, "×0.00".
    #[test]
    fn a_small_factor_has_figures() {
        let factors = [0.0001049, 0.01, 0.5, 1.954, 13.6].map(short);
        assert_eq!(factors, ["0.0001", "0.01", "0.50", "1.95", "14"]);
    }
}
