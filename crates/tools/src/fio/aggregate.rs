//! `--bandwidth-log`: the throughput of all jobs together, a file for each direction.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use anyhow::Result;
use blocklab_fio::mean_speed;
use blocklab_record::Interval;
use blocklab_units::Nanos;

use crate::output::{self, Over};

const FILES: [&str; 3] = ["agg-read_bw.log", "agg-write_bw.log", "agg-trim_bw.log"];

/// The three files.
pub struct Aggregate([File; 3]);

impl Aggregate {
    /// In the current folder, as fio.
    pub fn open() -> Result<Self> {
        let open = |path| output::create(Path::new(path), Over::Files);
        let [read, write, trim] = FILES.map(open);
        Ok(Self([read?, write?, trim?]))
    }

    /// A line in each for what was moved in the interval that ends now.
    pub fn add(&mut self, interval: &Interval, elapsed: Nanos) -> io::Result<()> {
        let flows = [&interval.read, &interval.write, &interval.trim];
        for (direction, (file, flow)) in self.0.iter_mut().zip(flows).enumerate() {
            let speed = mean_speed(flow.bytes, Nanos(interval.length_ns));
            let ms = elapsed.0 / 1_000_000;
            writeln!(file, "{ms}, {speed}, {direction}, 0, 0")?;
        }
        Ok(())
    }
}
