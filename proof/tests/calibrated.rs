//! A calibrated model against loads that it was not made from.

use std::thread;

use blocklab_proof::calibrated::{DISKS, Row, errors, row, table};

/// Of every disk, in per cent.
const IOPS_MEDIAN: f64 = 2.0;
const IOPS_MOST: f64 = 15.0;
const MEAN_MOST: f64 = 25.0;

/// The story: models called good were off by up to 27 % in IOPS, because the second that a limiter
/// saves up was lost, and by 501 % in latency, because reads waited behind writes that a limiter of
/// their own held back.
#[test]
fn other_loads_are_predicted_by_the_model() {
    let rows: Vec<Row> = thread::scope(|scope| {
        let started = DISKS.map(|(disk, device)| scope.spawn(move || row(disk, device)));
        let ended = started.into_iter();
        ended
            .map(|ended| ended.join().expect("calibrated"))
            .collect()
    });
    println!("{}", table(&rows));
    for row in &rows {
        let (iops, mean) = (errors(&row.iops), errors(&row.mean));
        assert!(iops.0 <= IOPS_MEDIAN, "{}: {:#?}", row.disk, row.iops);
        assert!(iops.1 <= IOPS_MOST, "{}: {:#?}", row.disk, row.iops);
        assert!(mean.1 <= MEAN_MOST, "{}: {:#?}", row.disk, row.mean);
    }
}
