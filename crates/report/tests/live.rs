//! What is said of a run while it lasts, where no terminal shows it.

mod sample;

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use blocklab_findings::assess;
use blocklab_record::Measurement;
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

/// The line of a measurement, after its name.
fn line(measurement: &Measurement) -> String {
    let seen = Shared::default();
    let mut screen = Screen::lines(Box::new(seen.clone()));
    screen.case("a", 1, 1, 1, 1);
    screen.measured(measurement);
    let seen = String::from_utf8(seen.0.lock().expect("no panic").clone());
    let seen = seen.expect("text");
    seen.split_once(": ").expect("a name").1.to_owned()
}

/// The story: "285 MB/s, 5,124 IOPS" of a pass whose table had 149 MB/s and 6,356 IOPS: trimmed bytes
/// counted, and a job of two seconds as one of five. Of a job that only flushed, nothing was said to complete.
#[test]
fn a_line_has_the_rates_of_the_table() {
    let (mut record, _) = sample::run("7f3a2c", 1.0);
    record.measurements.truncate(1);
    let jobs = &mut record.measurements[0].jobs;
    let read = jobs[0].directions[&Direction::Read].clone();
    jobs[0].directions.insert(Direction::Trim, read.clone());
    jobs.push(jobs[0].clone());
    jobs[1].elapsed_ns /= 2;
    let assessment = assess(&record);
    let table = assessment.rows[0].rate().expect("a rate");
    let (mbps, iops) = (rate(table.bytes_per_s / 1e6), rate(table.iops));
    let measurement = &mut record.measurements[0];
    let expected = format!("{mbps} MB/s, {iops} IOPS, ");
    assert!(line(measurement).starts_with(&expected), "{expected}");
    measurement.jobs.truncate(1);
    measurement.jobs[0].directions = [(Direction::Sync, read)].into();
    assert!(line(measurement).contains(" IOPS, "), "flushes alone");
}
