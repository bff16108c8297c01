//! The live screen: shows the intervals of a run on stderr while it lasts.

mod panel;

use std::io::{self, Write};

use blocklab_device::CreditBalance;
use blocklab_record::{Interval, Measurement};
use blocklab_units::{Bytes, Nanos, latency, visible};
use blocklab_workload::Direction;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::words::facts::{fine_rate, mb_per_s, moved_figures, per_second};
use panel::Panel;

/// What is shown while a run lasts.
///
/// On a terminal it is a block of lines that is redrawn; a terminal of at least 80 by 24 also shows
/// the last minutes. Elsewhere it is one line for each finished measurement. It starts no thread,
/// and the time comes from the caller.
pub struct Screen {
    view: View,
    total: Nanos,
    /// The name of the measurement under way, and which pass it is.
    current: Option<String>,
}

enum View {
    Silent,
    Lines(Box<dyn Write + Send>),
    Block(Box<Block>),
}

/// The lines on a terminal, from the top.
struct Block {
    overall: ProgressBar,
    what: ProgressBar,
    figures: ProgressBar,
    /// The rates of the hosts, if there are several.
    hosts: ProgressBar,
    /// The last minutes, if the terminal has room for them.
    panel: Option<(Panel, Vec<ProgressBar>)>,
}

/// The size of a terminal, in columns and lines, from which on it shows the last minutes.
const ROOM: (u16, u16) = (80, 24);

/// A terminal that claims more columns is a program and no screen. The block would be padded to
/// that width, which makes megabytes per second.
const WIDEST: u16 = 1000;

/// Steps of the overall bar.
const STEPS: u64 = 1000;

impl Screen {
    /// `enabled`: whether anything is shown. `terminal`: columns and lines of stderr; `None`: it is
    /// not a terminal. `total`: the planned time of the whole run; zero: unknown.
    pub fn new(enabled: bool, terminal: Option<(u16, u16)>, total: Nanos) -> Self {
        let view = match (enabled, terminal) {
            (false, _) => View::Silent,
            (true, None) => View::Lines(Box::new(io::stderr())),
            (true, Some((columns, _))) if columns > WIDEST => View::Lines(Box::new(io::stderr())),
            (true, Some((columns, lines))) => {
                let has_room = columns >= ROOM.0 && lines >= ROOM.1;
                View::Block(Box::new(Block::new(ProgressDrawTarget::stderr(), has_room)))
            }
        };
        Self {
            view,
            total,
            current: None,
        }
    }

    /// A screen that writes one line for each finished measurement.
    pub fn lines(out: Box<dyn Write + Send>) -> Self {
        Self {
            view: View::Lines(out),
            ..Self::new(false, None, Nanos::ZERO)
        }
    }

    /// A step of the preparation begins: `laying out 1 GiB`.
    pub fn phase(&mut self, label: &str) {
        self.close(None);
        if let View::Block(block) = &mut self.view {
            block.what.set_message(visible(label).into_owned());
            block.begin("");
        }
    }

    /// Progress of the step, in bytes.
    pub fn progress(&mut self, done: u64, total: u64) {
        if let View::Block(block) = &self.view {
            let share = 100 * u128::from(done) / u128::from(total.max(1));
            let text = format!("{} of {} ({share} %)", Bytes(done), Bytes(total));
            block.figures.set_message(text);
        }
    }

    /// A measurement begins; `case_index` and `pass` count from 1. Pass 0 warms the target up, and enters
    /// no figure.
    pub fn case(&mut self, name: &str, pass: u32, passes: u32, case_index: usize, cases: usize) {
        self.close(None);
        let name = &*visible(name);
        let (long, short) = match pass {
            0 => ("warm-up pass".to_owned(), "warm-up pass".to_owned()),
            pass => (
                format!("pass {pass} of {passes}"),
                format!("pass {pass}/{passes}"),
            ),
        };
        if let View::Block(block) = &mut self.view {
            let text = format!("{name}   case {case_index} of {cases}, {long}");
            block.what.set_message(text);
            block.begin("starting");
        }
        self.current = Some(format!("{name} {short}"));
    }

    /// An interval of the measurement has ended; `elapsed` is the time of the whole run so far.
    pub fn interval(&mut self, interval: &Interval, elapsed: Nanos) {
        if let View::Block(block) = &mut self.view {
            block.advance(elapsed, self.total);
            match &mut block.panel {
                Some((panel, lines)) => {
                    panel.add(interval, elapsed);
                    draw(panel, &block.figures, lines);
                }
                None => block.figures.set_message(figures(interval)),
            }
        }
    }

    /// What is left in the burst buckets of the targets.
    pub fn credits(&mut self, balances: &[CreditBalance]) {
        if let View::Block(block) = &mut self.view
            && let Some((panel, _)) = &mut block.panel
        {
            panel.credits(balances);
        }
    }

    /// The rates of several hosts, as one line of text.
    pub fn hosts(&mut self, rates: &str) {
        if let View::Block(block) = &mut self.view {
            block.hosts.set_message(visible(rates).into_owned());
        }
    }

    /// The measurement is over.
    pub fn measured(&mut self, measurement: &Measurement) {
        self.close(Some(measurement));
    }

    /// The run is over: the block disappears, or the last line is written.
    pub fn finished(&mut self) {
        self.close(None);
        if let View::Block(block) = &self.view {
            block.clear();
        }
    }

    /// Ends the measurement under way, and writes its line in the form of lines. `measured`: its
    /// result; `None`: it was cut off.
    fn close(&mut self, measured: Option<&Measurement>) {
        let Some(name) = self.current.take() else {
            return;
        };
        if let View::Lines(out) = &mut self.view {
            let figures = match measured {
                Some(measured) => {
                    totals(measured).unwrap_or_else(|| "no operation completed".to_owned())
                }
                None => "cut off".to_owned(),
            };
            // The run must not fail because its output cannot be shown.
            let _ = writeln!(out, "{name}: {figures}");
            let _ = out.flush();
        }
    }
}

impl Block {
    /// `has_room`: whether the terminal has room for the last minutes.
    fn new(target: ProgressDrawTarget, has_room: bool) -> Self {
        let group = MultiProgress::with_draw_target(target);
        let line = |template: &str, length| {
            let style = ProgressStyle::with_template(template)
                .expect("the template is ours")
                .progress_chars("━╸ ");
            group.add(ProgressBar::new(length).with_style(style))
        };
        Self {
            overall: line("{bar:32.blue} {percent:>3} %  {wide_msg}", STEPS),
            what: line("{wide_msg:.bold}", 0),
            figures: line("{wide_msg}", 0),
            hosts: line("{wide_msg}", 0),
            panel: has_room.then(|| {
                let lines = (1..panel::LINES).map(|_| line("{wide_msg}", 0));
                (Panel::default(), lines.collect())
            }),
        }
    }

    /// Another step or measurement begins: clears the figures, and shows a word in their place.
    fn begin(&mut self, word: &'static str) {
        self.figures.set_message(word);
        if let Some((panel, lines)) = &mut self.panel {
            panel.clear();
            for line in lines {
                line.set_message("");
            }
        }
    }

    /// Clears each line by itself, since a line that is only dropped is drawn once more.
    fn clear(&self) {
        let more = self.panel.iter().flat_map(|(_, lines)| lines);
        for line in [&self.overall, &self.what, &self.figures, &self.hosts]
            .into_iter()
            .chain(more)
        {
            line.finish_and_clear();
        }
    }

    /// Moves the overall bar.
    fn advance(&self, elapsed: Nanos, total: Nanos) {
        if total == Nanos::ZERO {
            self.overall.set_message(format!("{elapsed} so far"));
            return;
        }
        let share = elapsed.as_secs_f64() / total.as_secs_f64();
        let done = (share * STEPS as f64) as u64;
        self.overall.set_position(done.min(STEPS));
        self.overall.set_message(time_left(total.since(elapsed)));
    }
}

/// Draws the panel. Its first line takes the place of the figures.
fn draw(panel: &Panel, first: &ProgressBar, lines: &[ProgressBar]) {
    let mut texts = panel.lines().into_iter();
    for line in [first].into_iter().chain(lines) {
        line.set_message(texts.next().unwrap_or_default());
    }
}

/// The time that is left, rounded up to seconds: `about 1 min 20 s left`.
fn time_left(time: Nanos) -> String {
    let seconds = time.0.div_ceil(1_000_000_000);
    match (seconds / 60, seconds % 60) {
        (0, 0) => "nearly done".to_owned(),
        (0, s) => format!("about {s} s left"),
        (m, s) if m < 60 => format!("about {m} min {s:02} s left"),
        (m, _) => format!("about {} h {:02} min left", m / 60, m % 60),
    }
}

/// Rates and latencies of an interval, its directions side by side.
fn figures(interval: &Interval) -> String {
    let shown = moved_figures(interval, "  ");
    let ramp = if interval.ramp { "ramp  " } else { "" };
    if shown.is_empty() {
        return format!("{ramp}no operation completed");
    }
    format!("{ramp}{}", shown.join("   "))
}

/// Rates and mean latency of all jobs and directions together; `None` if nothing completed. As in the row of
/// a case, each job has its own time, flushes count where there is nothing else, and the bytes of trims
/// where nothing is transferred.
fn totals(measurement: &Measurement) -> Option<String> {
    use Direction::{Sync, Trim};
    let jobs = measurement.jobs.iter();
    let results = jobs.flat_map(|job| job.directions.iter().map(|one| (job.elapsed_ns, one)));
    let mut moved: Vec<_> = results.filter(|(_, (_, result))| result.ios > 0).collect();
    if moved.iter().any(|(_, (which, _))| **which != Sync) {
        moved.retain(|(_, (which, _))| **which != Sync);
    }
    let transfers_none = moved.iter().all(|(_, (which, _))| **which == Trim);
    let (mut iops, mut bytes_per_s, mut ios, mut latency_sum_ns) = (0.0, 0.0, 0, 0.0);
    for (elapsed_ns, (which, result)) in moved {
        iops += per_second(result.ios, elapsed_ns);
        if transfers_none || *which != Trim {
            bytes_per_s += per_second(result.bytes, elapsed_ns);
        }
        ios += result.ios;
        latency_sum_ns += result.service.mean_ns * result.ios as f64;
    }
    (ios > 0).then(|| {
        format!(
            "{} MB/s, {} IOPS, mean {}",
            mb_per_s(bytes_per_s),
            fine_rate(iops),
            latency(latency_sum_ns / ios as f64),
        )
    })
}

#[cfg(test)]
mod tests {
    use blocklab_record::IntervalDirection;

    use super::*;

    fn second(ios: u64, ramp: bool) -> Interval {
        Interval {
            length_ns: 1_000_000_000,
            ramp,
            read: IntervalDirection {
                ios,
                bytes: ios * 4096,
                mean_ns: 100_000,
                p50_ns: 90_000,
                p99_ns: 250_000,
                max_ns: 300_000,
                ..IntervalDirection::default()
            },
            ..Interval::default()
        }
    }

    /// The story: a terminal that claimed 65,535 columns got 19 MB in a second and a half.
    #[test]
    fn a_terminal_that_nobody_sees_gets_lines() {
        let screen = |columns| Screen::new(true, Some((columns, 24)), Nanos::ZERO);
        assert!(matches!(screen(u16::MAX).view, View::Lines(_)));
        assert!(matches!(screen(300).view, View::Block(_)));
    }

    #[test]
    fn the_current_figures_fit_on_a_line() {
        assert_eq!(
            figures(&second(12_345, false)),
            "read 12,345 IOPS  50.6 MB/s  p50 90.0 µs  p99 250 µs"
        );
        assert_eq!(
            figures(&Interval::default()),
            "no operation completed".to_owned()
        );
    }

    #[test]
    fn time_left_is_said_in_words() {
        for (nanos, expected) in [
            (0, "nearly done"),
            (1, "about 1 s left"),
            (59_000_000_000, "about 59 s left"),
            (80_000_000_000, "about 1 min 20 s left"),
            (7_260_000_000_000, "about 2 h 01 min left"),
        ] {
            assert_eq!(time_left(Nanos(nanos)), expected);
        }
    }
}
