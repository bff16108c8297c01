//! Any text: reading a record and its histograms never panics, and what is read comes back the
//! same when it was written and read again.
#![no_main]

use blocklab_record::{Latency, Record};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(record) = Record::from_json(text) else {
        return;
    };
    let written = record.to_json();
    let again = Record::from_json(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
    assert_eq!(again.to_json(), written);
    let jobs = record.measurements.iter().flat_map(|m| &m.jobs);
    for job in jobs {
        assert!(job.iops() >= 0.0 && job.bytes_per_s() >= 0.0);
        for direction in job.directions.values() {
            let further = [&direction.response, &direction.submit];
            read(&direction.service);
            further.into_iter().flatten().for_each(read);
        }
    }
});

/// What was made of a damaged text is a histogram like any other.
fn read(latency: &Latency) {
    let Ok(histogram) = latency.histogram() else {
        return;
    };
    let quantiles = histogram.quantiles(&[0.0, 0.5, 0.99, 1.0]);
    assert!(quantiles.is_sorted(), "{quantiles:?}");
    assert_eq!(histogram.count() == 0, histogram.bins().next().is_none());
}
