//! What is said of a run while it lasts, where no terminal shows it.

mod sample;

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use blocklab_report::live::Screen;
use blocklab_units::{Nanos, latency, rate};
use blocklab_workload::Direction;

/// A writer whose text the test keeps.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn one_line_a_measurement() {
    let (record, _) = sample::run("7f3a2c", 1.0);
    let measurement = &record.measurements[0];
    let seen = Shared::default();
    let mut screen = Screen::lines(Box::new(seen.clone()));
    screen.phase("laying out 1 GiB");
    screen.progress(1 << 29, 1 << 30);
    // The story: a pass that enters no figure was "pass 0/3".
    screen.case("rnd4k-q1-read", 0, 3, 1, 8);
    screen.case("rnd4k-q1-read", 1, 3, 1, 8);
    screen.interval(&measurement.series[0], Nanos::from_secs(1));
    screen.measured(measurement);
    screen.case("rnd4k-q1-read", 2, 3, 1, 8);
    screen.finished();
    screen.finished();
    let job = &measurement.jobs[0];
    let expected = format!(
        "rnd4k-q1-read warm-up pass: cut off\n\
         rnd4k-q1-read pass 1/3: {} MB/s, {} IOPS, mean {}\n\
         rnd4k-q1-read pass 2/3: cut off\n",
        rate(job.bytes_per_s() / 1e6),
        rate(job.iops()),
        latency(job.directions[&Direction::Read].service.mean_ns),
    );
    let seen = String::from_utf8(seen.0.lock().expect("no panic").clone());
    assert_eq!(seen.expect("text"), expected);
}
