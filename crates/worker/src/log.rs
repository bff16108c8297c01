//! In: completed operations. Out: a log of them one by one, or of their sums over short spans.

use blocklab_stats::Histogram;
use blocklab_units::Nanos;
use blocklab_workload::{Direction, Log};

/// One operation. Moments count from the start of the measured time of its job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogEntry {
    /// When it was issued; 0 if that was during the ramp.
    pub begin: Nanos,
    /// When it completed.
    pub end: Nanos,
    /// From issue to completion.
    pub service: Nanos,
    /// The part of it that the submitting call took; 0 if that is not measured.
    pub submit: Nanos,
    /// Its direction.
    pub direction: Direction,
    /// Index of the target in the job's list.
    pub target: u32,
    /// Bytes.
    pub len: u32,
    /// First byte.
    pub offset: u64,
    /// Its I/O priority in the kernel's encoding; 0 means that of its thread.
    pub priority: u16,
}

/// The operations of one direction that completed within a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogSpan {
    /// End of the span, since the job's measured time began.
    pub end: Nanos,
    /// Its length; shorter where the job ended in it.
    pub length: Nanos,
    /// Direction.
    pub direction: Direction,
    /// Their number.
    pub operations: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Sum of their service latencies.
    pub service_sum: Nanos,
    /// The longest service latency.
    pub service_max: Nanos,
    /// Sum of their submitting calls.
    pub submit_sum: Nanos,
    /// The longest submitting call.
    pub submit_max: Nanos,
    /// The longest time from the return of the submitting call to completion.
    pub completion_max: Nanos,
}

impl LogSpan {
    /// Sum of the times from the return of the submitting call to completion.
    pub fn completion_sum(&self) -> Nanos {
        self.service_sum.since(self.submit_sum)
    }
}

/// The log of one thread of a job.
#[derive(Debug, Clone, Default)]
pub struct JobLog {
    /// In the order of completion.
    pub entries: Vec<LogEntry>,
    /// The spans in the order of time, without those in which nothing completed.
    pub spans: Vec<LogSpan>,
    /// End of the span, direction, and completion latencies (service latencies if submission is not
    /// measured separately).
    pub histograms: Vec<(Nanos, Direction, Histogram)>,
}

/// A log in the making.
#[derive(Debug)]
pub struct LogBook {
    rule: Log,
    log: JobLog,
    span: [Option<LogSpan>; 4],
    span_begin: Nanos,
    histogram: [Option<Histogram>; 4],
    histogram_begin: Nanos,
}

impl LogBook {
    pub(crate) fn new(rule: Log) -> Self {
        Self {
            rule,
            log: JobLog::default(),
            span: [None; 4],
            span_begin: Nanos::ZERO,
            histogram: [const { None }; 4],
            histogram_begin: Nanos::ZERO,
        }
    }

    /// Adds an operation to every log that the job keeps.
    pub(crate) fn write(&mut self, entry: LogEntry) {
        if self.rule.entries {
            self.log.entries.push(entry);
        }
        if let Some(length) = self.rule.average {
            self.average(entry, length);
        }
        if let Some(length) = self.rule.histogram {
            self.count(entry, length);
        }
    }

    /// Counts an operation in the span of its direction. Spans that ended before it are closed
    /// first.
    fn average(&mut self, entry: LogEntry, length: Nanos) {
        let passed = entry.end.since(self.span_begin).0 / length.0;
        if passed > 0 {
            // Only the current span has operations: those that passed since then are left out.
            self.close_span(self.span_begin.saturating_add(length));
            self.span_begin = self.span_begin.saturating_add(Nanos(passed * length.0));
        }
        // End and length are set when the span is closed.
        let span = self.span[entry.direction as usize].get_or_insert(LogSpan {
            end: Nanos::ZERO,
            length,
            direction: entry.direction,
            operations: 0,
            bytes: 0,
            service_sum: Nanos::ZERO,
            service_max: Nanos::ZERO,
            submit_sum: Nanos::ZERO,
            submit_max: Nanos::ZERO,
            completion_max: Nanos::ZERO,
        });
        span.operations += 1;
        span.bytes += u64::from(entry.len);
        span.service_sum = span.service_sum.saturating_add(entry.service);
        span.service_max = span.service_max.max(entry.service);
        span.submit_sum = span.submit_sum.saturating_add(entry.submit);
        span.submit_max = span.submit_max.max(entry.submit);
        let completion = entry.service.since(entry.submit);
        span.completion_max = span.completion_max.max(completion);
    }

    fn close_span(&mut self, end: Nanos) {
        for span in self.span.iter_mut().filter_map(Option::take) {
            self.log.spans.push(LogSpan {
                end,
                length: end.since(self.span_begin),
                ..span
            });
        }
    }

    /// Counts the completion latency of an operation in the histogram of its span.
    fn count(&mut self, entry: LogEntry, length: Nanos) {
        let passed = entry.end.since(self.histogram_begin).0 / length.0;
        if passed > 0 {
            self.close_histogram(self.histogram_begin.saturating_add(length));
            self.histogram_begin = self
                .histogram_begin
                .saturating_add(Nanos(passed * length.0));
        }
        let histogram = &mut self.histogram[entry.direction as usize];
        histogram
            .get_or_insert_with(Histogram::new)
            .record(entry.service.since(entry.submit).0);
    }

    fn close_histogram(&mut self, end: Nanos) {
        for direction in Direction::ALL {
            if let Some(histogram) = self.histogram[direction as usize].take() {
                self.log.histograms.push((end, direction, histogram));
            }
        }
    }

    /// Closes the last spans at the `end` of the job and returns the log.
    pub fn finish(&mut self, end: Nanos) -> JobLog {
        // A thread that was given up may have logged an operation after `end` was read.
        self.close_span(last_end(self.span_begin, self.rule.average, end));
        self.close_histogram(last_end(self.histogram_begin, self.rule.histogram, end));
        std::mem::take(&mut self.log)
    }
}

/// Where a span that began at `begin` ends if the job ends at `job_end`: after its length, or earlier
/// with the job.
fn last_end(begin: Nanos, length: Option<Nanos>, job_end: Nanos) -> Nanos {
    let whole = begin.saturating_add(length.unwrap_or(Nanos::ZERO));
    job_end.clamp(begin, whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(end_ms: u64, service_us: u64) -> LogEntry {
        let end = Nanos::from_millis(end_ms);
        LogEntry {
            begin: Nanos(end.0 - service_us * 1000),
            end,
            service: Nanos(service_us * 1000),
            submit: Nanos(500),
            direction: Direction::Read,
            target: 0,
            len: 4096,
            offset: 0,
            priority: 0,
        }
    }

    #[test]
    fn spans_hold_what_came_back_in_them() {
        let mut book = LogBook::new(Log {
            entries: true,
            average: Some(Nanos::from_millis(100)),
            histogram: Some(Nanos::from_millis(200)),
        });
        for (end, service) in [(10, 100), (99, 300), (150, 50), (410, 20)] {
            book.write(entry(end, service));
        }
        let log = book.finish(Nanos::from_millis(450));
        assert_eq!(log.entries.len(), 4);
        let spans: Vec<(u64, u64, u64, u64)> = log
            .spans
            .iter()
            .map(|span| {
                (
                    span.end.0 / 1_000_000,
                    span.operations,
                    span.service_sum.0,
                    span.service_max.0,
                )
            })
            .collect();
        let expected = [
            (100, 2, 400_000, 300_000),
            (200, 1, 50_000, 50_000),
            (450, 1, 20_000, 20_000),
        ];
        assert_eq!(spans, expected);
        assert_eq!(log.spans[2].length, Nanos::from_millis(50));
        let counts: Vec<u64> = log.histograms.iter().map(|(_, _, h)| h.count()).collect();
        assert_eq!(counts, [3, 1]);
        let mut stalled = LogBook::new(Log {
            average: Some(Nanos::from_millis(100)),
            ..Log::default()
        });
        stalled.write(entry(410, 20));
        let log = stalled.finish(Nanos::from_millis(900));
        let ends = log.spans.iter().map(|span| (span.end, span.length));
        let expected = (Nanos::from_millis(500), Nanos::from_millis(100));
        assert!(
            ends.eq([expected]),
            "the span before the stall is a whole one"
        );
    }
}
