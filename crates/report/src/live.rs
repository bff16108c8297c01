//! The live screen: a tap on the intervals of a run, drawn on stderr.

mod panel;

use std::io::{self, Write};

use blocklab_record::{Interval, Measurement};
use blocklab_units::{Bytes, Nanos, latency, rate, visible};
use blocklab_workload::Direction;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::words::facts::moved;
use panel::Panel;

/// What is shown while a run lasts.
///
/// On a terminal: a block of three lines, redrawn; on one of 80 by 24 or more also the last minutes.
/// Elsewhere: one line a finished measurement.
/// Never starts a thread; time comes from the caller.
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
    _group: MultiProgress,
    overall: ProgressBar,
    what: ProgressBar,
    figures: ProgressBar,
    /// The rates of several hosts.
    hosts: ProgressBar,
    /// Where there is room.
    panel: Option<(Panel, Vec<ProgressBar>)>,
}

/// Columns and lines from which on the last minutes are shown, too.
const ROOM: (u16, u16) = (80, 24);

/// A terminal that claims more columns is none that somebody sees: the block would be padded to them, with
/// megabytes a second.
const WIDEST: u16 = 1000;

/// Steps of the overall bar.
const STEPS: u64 = 1000;

impl Screen {
    /// `enabled`: nothing is shown otherwise. `terminal`: columns and lines of stderr, where it is
    /// one. `total`: the planned time of the whole run; zero where it is unknown.
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

    /// One line a finished measurement, there.
    pub fn lines(there: Box<dyn Write + Send>) -> Self {
        Self {
            view: View::Lines(there),
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

    /// How far the step is, in bytes.
    pub fn progress(&mut self, done: u64, total: u64) {
        if let View::Block(block) = &self.view {
            let share = 100 * u128::from(done) / u128::from(total.max(1));
            let text = format!("{} of {} ({share} %)", Bytes(done), Bytes(total));
            block.figures.set_message(text);
        }
    }

    /// A measurement begins; `case_index` and `pass` count from 1.
    pub fn case(&mut self, name: &str, pass: u32, passes: u32, case_index: usize, cases: usize) {
        self.close(None);
        let name = &*visible(name);
        if let View::Block(block) = &mut self.view {
            let text = format!("{name}   case {case_index} of {cases}, pass {pass} of {passes}");
            block.what.set_message(text);
            block.begin("starting");
        }
        self.current = Some(format!("{name} pass {pass}/{passes}"));
    }

    /// A slice of the measurement has ended; `elapsed` is the time of the whole run so far.
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

    /// What is left in the burst buckets of the devices that the load goes to, in operations or
    /// bytes.
    pub fn credits(&mut self, left: &[(String, f64)]) {
        if let View::Block(block) = &mut self.view
            && let Some((panel, _)) = &mut block.panel
        {
            panel.credits(left);
        }
    }

    /// Several hosts run it: what each of them does.
    pub fn hosts(&mut self, rates: &str) {
        if let View::Block(block) = &mut self.view {
            block.hosts.set_message(visible(rates).into_owned());
        }
    }

    /// The measurement is over, and has come to this.
    pub fn measured(&mut self, measurement: &Measurement) {
        self.close(Some(measurement));
    }

    /// The run is over: the block disappears, the last line is written.
    pub fn finished(&mut self) {
        self.close(None);
        if let View::Block(block) = &self.view {
            block.clear();
        }
    }

    /// Writes the line of the measurement that was under way, where lines are written.
    fn close(&mut self, measured: Option<&Measurement>) {
        let Some(name) = self.current.take() else {
            return;
        };
        if let View::Lines(out) = &mut self.view {
            let figures = measured
                .and_then(totals)
                .unwrap_or_else(|| "no operation completed".to_owned());
            // A closed pipe is no reason to lose the run.
            let _ = writeln!(out, "{name}: {figures}");
            let _ = out.flush();
        }
    }
}

impl Block {
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
            _group: group,
        }
    }

    /// Something else begins, of which there are no figures yet.
    fn begin(&mut self, word: &'static str) {
        self.figures.set_message(word);
        if let Some((panel, lines)) = &mut self.panel {
            panel.clear();
            for line in lines {
                line.set_message("");
            }
        }
    }

    /// Each line by itself: a line that is merely dropped would be drawn once more.
    fn clear(&self) {
        let more = self.panel.iter().flat_map(|(_, lines)| lines);
        for line in [&self.overall, &self.what, &self.figures, &self.hosts]
            .into_iter()
            .chain(more)
        {
            line.finish_and_clear();
        }
    }

    fn advance(&self, elapsed: Nanos, total: Nanos) {
        if total == Nanos::ZERO {
            self.overall.set_message(format!("{elapsed} so far"));
            return;
        }
        let done = u128::from(STEPS) * u128::from(elapsed.0) / u128::from(total.0);
        self.overall.set_position((done as u64).min(STEPS));
        self.overall.set_message(left(total.since(elapsed)));
    }
}

/// The first line of the panel stands where the figures would.
fn draw(panel: &Panel, first: &ProgressBar, lines: &[ProgressBar]) {
    let mut texts = panel.lines().into_iter();
    for line in [first].into_iter().chain(lines) {
        line.set_message(texts.next().unwrap_or_default());
    }
}

/// `about 1 min 20 s left`, in whole seconds.
fn left(time: Nanos) -> String {
    let seconds = time.0.div_ceil(1_000_000_000);
    match (seconds / 60, seconds % 60) {
        (0, 0) => "nearly done".to_owned(),
        (0, s) => format!("about {s} s left"),
        (m, s) if m < 60 => format!("about {m} min {s:02} s left"),
        (m, _) => format!("about {} h {:02} min left", m / 60, m % 60),
    }
}

/// Current rates and latencies; directions side by side.
fn figures(interval: &Interval) -> String {
    let shown = moved(interval, "  ");
    let ramp = if interval.ramp { "ramp  " } else { "" };
    if shown.is_empty() {
        return format!("{ramp}no operation completed");
    }
    format!("{ramp}{}", shown.join("   "))
}

/// Rates and latency of all jobs and directions; nothing without an operation.
fn totals(measurement: &Measurement) -> Option<String> {
    let jobs = &measurement.jobs;
    let seconds = jobs.iter().map(|job| job.elapsed_ns).max()?.max(1) as f64 / 1e9;
    let moved = jobs.iter().flat_map(|job| &job.directions);
    let moved: Vec<_> = moved
        .filter(|(name, _)| **name != Direction::Sync)
        .collect();
    let ios: u64 = moved.iter().map(|(_, it)| it.ios).sum();
    let bytes: u64 = moved.iter().map(|(_, it)| it.bytes).sum();
    let latencies = moved
        .iter()
        .map(|(_, it)| it.service.mean_ns * it.ios as f64);
    (ios > 0).then(|| {
        format!(
            "{} MB/s, {} IOPS, mean {}",
            rate(bytes as f64 / 1e6 / seconds),
            rate(ios as f64 / seconds),
            latency(latencies.sum::<f64>() / ios as f64),
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
            assert_eq!(left(Nanos(nanos)), expected);
        }
    }
}
