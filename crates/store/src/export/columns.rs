//! In: a Record. Out: its table: a row for each direction of a job, or for each interval, and the head.
//!
//! A file of its own: which columns there are and what each holds; how they are printed is not.

use blocklab_record::{
    DirectionResult, Interval, IntervalDirection, JobResult, KnownAccounting, Latency, Measurement,
    Origin, PERCENTILES, Record, Statistic,
};
use blocklab_workload::Direction;
use serde::Serialize;

use super::Rows;
use super::table::{Cell, Named, Table};

/// The table of a Record.
///
/// The head comes from one more row, which is empty, so that a Record without measurements has
/// the same columns as any other.
pub(super) fn table(record: &Record, rows: Rows) -> Table {
    let axes = axes(record);
    let mut lines = Vec::new();
    for measurement in &record.measurements {
        let own = match rows {
            Rows::Figures => figures(record.origin, measurement),
            Rows::Series => series(measurement),
        };
        for row in own {
            lines.push(line(record, &axes, Some(measurement), row));
        }
    }
    let empty = match rows {
        Rows::Figures => figure(None, None, None, None),
        Rows::Series => slice(None, true),
    };
    Table::new(line(record, &axes, None, empty), lines)
}

/// A whole line: what all rows of the record have around the cells of this one.
fn line(record: &Record, axes: &[String], measurement: Option<&Measurement>, row: Named) -> Named {
    let mut line = head(record, measurement);
    line.extend(row);
    line.extend(settings(axes, measurement));
    line.push(text("note", record.note.as_ref()));
    line
}

/// The names that any measurement's sweep has set, in the order in which they occur.
fn axes(record: &Record) -> Vec<String> {
    let mut axes = Vec::new();
    for (name, _) in record.measurements.iter().flat_map(|m| &m.settings) {
        if !axes.contains(name) {
            axes.push(name.clone());
        }
    }
    axes
}

/// The values that the sweep has set, one for each axis.
fn settings(axes: &[String], measurement: Option<&Measurement>) -> Named {
    let mut cells = Vec::new();
    for axis in axes {
        let mut settings = measurement.iter().flat_map(|measured| &measured.settings);
        let value = settings.find(|(name, _)| name == axis);
        cells.push(text(
            &format!("setting_{axis}"),
            value.map(|(_, value)| value),
        ));
    }
    cells
}

/// The first columns of both tables.
fn head(record: &Record, measurement: Option<&Measurement>) -> Named {
    let targets: Vec<&str> = record.targets.iter().map(|t| t.path.as_str()).collect();
    vec![
        text("run", Some(&record.id)),
        (
            "run_started_at".into(),
            Cell::Moment(record.started_at.parse().ok()),
        ),
        text("study", Some(&record.requested.name)),
        text("target", Some(targets.join(" "))),
        text("origin", word(&record.origin)),
        text("run_status", word(&record.status)),
        text("case", measurement.map(|m| &m.case)),
        count("pass", measurement.map(|m| m.pass.into())),
    ]
}

/// A row for each direction of each job. A job that completed nothing has one without a direction,
/// so that its failure is not lost.
fn figures(origin: Origin, measurement: &Measurement) -> Vec<Named> {
    let mut rows = Vec::new();
    for job in &measurement.jobs {
        let counts = Some(job.accounting.known(origin));
        for (direction, result) in &job.directions {
            let direction = Some((direction, &**result));
            rows.push(figure(Some(measurement), Some(job), counts, direction));
        }
        if job.directions.is_empty() {
            rows.push(figure(Some(measurement), Some(job), counts, None));
        }
    }
    rows
}

/// One row; every argument is `None` in the row from which the head is made.
fn figure(
    measurement: Option<&Measurement>,
    job: Option<&JobResult>,
    counts: Option<KnownAccounting>,
    direction: Option<(&Direction, &DirectionResult)>,
) -> Named {
    let mut row = requested(job);
    let (direction, result) = direction.unzip();
    row.push(text(
        "direction",
        direction.map(|direction| direction.name()),
    ));
    row.extend(totals(job, result));
    row.extend(latency("service", result.map(|r| &r.service)));
    row.extend(latency(
        "response",
        result.and_then(|r| r.response.as_ref()),
    ));
    row.extend(latency("submit", result.and_then(|r| r.submit.as_ref())));
    row.extend(accounting(job, counts));
    row.extend(process(measurement));
    row
}

/// What was requested of a job.
fn requested(job: Option<&JobResult>) -> Named {
    vec![
        text("job", job.map(|j| &j.name)),
        text("engine", job.map(|j| j.engine.to_string())),
        text("pattern", job.map(JobResult::pattern_name)),
        text("block_size", job.map(JobResult::block_size_name)),
        count("block_bytes", job.and_then(JobResult::block_bytes)),
        text("mix", job.map(JobResult::mix_name)),
        text("access", job.map(JobResult::access_name)),
        text("durability", job.map(|j| j.durability.name())),
        text("pace", job.map(|j| j.pace.name())),
        count("threads", reported(job.map(|j| j.threads))),
        count("depth", reported(job.map(|j| j.depth))),
        count("effective_depth", reported(job.map(|j| j.effective_depth))),
        ("direct".into(), Cell::Flag(job.and_then(|j| j.direct))),
        real("requested_iops", job.and_then(|j| j.requested_iops)),
        real(
            "requested_bytes_per_s",
            job.and_then(|j| j.requested_bytes_per_s),
        ),
        text("stopped", job.and_then(|j| word(&j.stopped))),
    ]
}

/// A count as a cell has it; 0, which means that another program did not report it, becomes an empty one.
fn reported(count: Option<u32>) -> Option<u64> {
    count.filter(|count| *count > 0).map(u64::from)
}

/// The operations and bytes of a direction, and their rates.
fn totals(job: Option<&JobResult>, direction: Option<&DirectionResult>) -> Named {
    let elapsed_ns = job.map(|job| job.elapsed_ns);
    let ios = direction.map(|direction| direction.ios);
    let bytes = direction.map(|direction| direction.bytes);
    vec![
        count("measured_ns", elapsed_ns),
        count("ios", ios),
        count("bytes", bytes),
        real("iops", per_second(ios, elapsed_ns)),
        real("bytes_per_s", per_second(bytes, elapsed_ns)),
    ]
}

fn per_second(amount: Option<u64>, length_ns: Option<u64>) -> Option<f64> {
    Some(amount? as f64 / (length_ns?.max(1) as f64 / 1e9))
}

/// The statistics of a latency, in columns that begin with `which`.
fn latency(which: &str, latency: Option<&Latency>) -> Named {
    let ns = |statistic: &str| format!("{which}_ns_{statistic}");
    let known = |what| latency.filter(|latency| !latency.unknown.has(what));
    let mut row = vec![
        count(&ns("min"), known(Statistic::Min).map(|l| l.min_ns)),
        real(&ns("mean"), known(Statistic::Mean).map(|l| l.mean_ns)),
        real(&ns("stddev"), known(Statistic::Stddev).map(|l| l.stddev_ns)),
    ];
    for percentile in &PERCENTILES {
        let value = latency.and_then(|l| l.percentile(percentile));
        row.push(count(&ns(percentile.name), value));
    }
    row.push(count(&ns("max"), known(Statistic::Max).map(|l| l.max_ns)));
    row.push(text(
        &format!("{which}_histogram_hdr"),
        known(Statistic::P50).map(|l| &l.histogram_hdr),
    ));
    row
}

/// The count of a job's operations.
fn accounting(job: Option<&JobResult>, counts: Option<KnownAccounting>) -> Named {
    let oldest_in_flight_ns = counts.and_then(|a| a.oldest_in_flight_ns);
    vec![
        count("job_issued", counts.and_then(|a| a.issued)),
        count("job_completed", counts.map(|a| a.completed)),
        count(
            "job_completed_in_ramp",
            counts.and_then(|a| a.completed_in_ramp),
        ),
        count("job_failed", counts.and_then(|a| a.failed)),
        count("job_in_flight", counts.and_then(|a| a.in_flight)),
        count("job_oldest_in_flight_ns", oldest_in_flight_ns),
        count("job_overdue", counts.and_then(|a| a.overdue)),
        text("job_errors", job.map(errors)),
    ]
}

/// `EIO write 3; short read 1`.
fn errors(job: &JobResult) -> String {
    let errors = job.errors.iter();
    let texts: Vec<String> = errors
        .map(|error| format!("{} {} {}", error.kind, error.direction, error.count))
        .collect();
    texts.join("; ")
}

/// What our process and the machine did meanwhile.
fn process(measurement: Option<&Measurement>) -> Named {
    let machine = measurement.filter(|m| !m.cpu.unknown.has(Statistic::MachineBusy));
    let busy = machine.map(|m| m.cpu.machine_busy_percent.into());
    // Nothing is known of the process if another program issued the load, or a simulation.
    let ours = measurement.filter(|m| !m.cpu.unknown.has(Statistic::Process));
    let cpu = ours.map(|m| m.cpu);
    let busiest = cpu.map(|c| c.busiest_thread_percent.into());
    let workers = ours.map(|m| m.uring_workers_max.into());
    // A simulated pass begins at a moment of its virtual time.
    let started = measurement.filter(|m| ours.is_some() || m.model.is_some());
    vec![
        count("measurement_started_ns", started.map(|m| m.started_ns)),
        count("measurement_elapsed_ns", measurement.map(|m| m.elapsed_ns)),
        count("measurement_setup_ns", ours.map(|m| m.setup_ns)),
        count("process_cpu_user_ns", cpu.map(|c| c.user_ns)),
        count("process_cpu_system_ns", cpu.map(|c| c.system_ns)),
        count("voluntary_switches", cpu.map(|c| c.voluntary_switches)),
        count("involuntary_switches", cpu.map(|c| c.involuntary_switches)),
        count("machine_busy_percent", busy),
        count("busiest_thread_percent", busiest),
        count("uring_workers_max", workers),
    ]
}

fn series(measurement: &Measurement) -> Vec<Named> {
    let slices = measurement.series.iter();
    let ours = !measurement.cpu.unknown.has(Statistic::Process);
    slices.map(|interval| slice(Some(interval), ours)).collect()
}

/// `ours`: our process issued the load in real time, so what it used is known.
fn slice(interval: Option<&Interval>, ours: bool) -> Named {
    let mut row = vec![
        count("end_ns", interval.map(|i| i.end_ns)),
        count("length_ns", interval.map(|i| i.length_ns)),
        ("ramp".into(), Cell::Flag(interval.map(|i| i.ramp))),
    ];
    let length = interval.map(|i| i.length_ns);
    row.extend(slice_direction("read", length, interval.map(|i| i.read)));
    row.extend(slice_direction("write", length, interval.map(|i| i.write)));
    row.extend(slice_direction("trim", length, interval.map(|i| i.trim)));
    let interval = interval.filter(|_| ours);
    let workers = interval.map(|i| i.uring_workers.into());
    row.push(count("process_cpu_ns", interval.map(|i| i.cpu_ns)));
    row.push(count("uring_workers", workers));
    row
}

/// What one direction did in a slice of this length in nanoseconds.
fn slice_direction(name: &str, length: Option<u64>, did: Option<IntervalDirection>) -> Named {
    // Without operations there is no latency: the Record's zeros would read as a fast disk.
    let served = did.filter(|d| d.ios > 0);
    let column = |what: &str| format!("{name}_{what}");
    let known = |what| served.filter(|d| !d.unknown.has(what));
    let bytes = did.filter(|d| d.ios == 0 || !d.unknown.has(Statistic::Bytes));
    vec![
        count(&column("ios"), did.map(|d| d.ios)),
        count(&column("bytes"), bytes.map(|d| d.bytes)),
        real(&column("iops"), per_second(did.map(|d| d.ios), length)),
        real(
            &column("bytes_per_s"),
            per_second(bytes.map(|d| d.bytes), length),
        ),
        count(
            &column("service_ns_mean"),
            known(Statistic::Mean).map(|d| d.mean_ns),
        ),
        count(
            &column("service_ns_p50"),
            known(Statistic::P50).map(|d| d.p50_ns),
        ),
        count(
            &column("service_ns_p99"),
            known(Statistic::P99).map(|d| d.p99_ns),
        ),
        count(
            &column("service_ns_max"),
            known(Statistic::Max).map(|d| d.max_ns),
        ),
    ]
}

/// A named cell; here as below, `None` is an empty one.
fn text(name: &str, value: Option<impl Into<String>>) -> (String, Cell) {
    (name.into(), Cell::Text(value.map(Into::into)))
}

fn count(name: &str, value: Option<u64>) -> (String, Cell) {
    (name.into(), Cell::Count(value))
}

fn real(name: &str, value: Option<f64>) -> (String, Cell) {
    (name.into(), Cell::Figure(value))
}

/// The name of a choice in the Record's JSON, so that both exports use the same; every choice has one.
fn word(choice: &impl Serialize) -> Option<String> {
    let value = serde_json::to_value(choice).ok()?;
    value.as_str().map(str::to_owned)
}
