//! In: a Record. Out: its table: a row for each direction of a job, or for each interval, and the head.
//!
//! A file of its own: which columns there are and what each holds; how they are printed is not.

use blocklab_record::{
    Cpu, DirectionResult, Interval, IntervalDirection, JobResult, KnownAccounting, Latency,
    Measurement, Origin, PERCENTILES, Percentile, Record, Statistic,
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
    let line = |measurement: Option<&Measurement>, own: Named| {
        let mut line = head(record, measurement);
        line.extend(own);
        line.extend(settings(&axes, measurement));
        line.push(text("note", record.note.as_ref()));
        line
    };
    let all: Vec<Named> = record
        .measurements
        .iter()
        .flat_map(|measurement| {
            let own = match rows {
                Rows::Figures => figures(record.origin, measurement),
                Rows::Series => series(measurement),
            };
            own.into_iter().map(move |own| (measurement, own))
        })
        .map(|(measurement, own)| line(Some(measurement), own))
        .collect();
    let nothing = match rows {
        Rows::Figures => figure(None, None, None, None),
        Rows::Series => slice(None, true),
    };
    Table::new(line(None, nothing), all)
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

fn settings(axes: &[String], measurement: Option<&Measurement>) -> Named {
    let value = |axis: &String| {
        let mut settings = measurement?.settings.iter();
        settings.find(|(name, _)| name == axis).map(|(_, v)| v)
    };
    let cell = |axis| text(&format!("setting_{axis}"), value(axis));
    axes.iter().map(cell).collect()
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
        text("target", Some(&targets.join(" "))),
        text("origin", word(&record.origin).as_ref()),
        text("run_status", word(&record.status).as_ref()),
        text("case", measurement.map(|m| &m.case)),
        count("pass", measurement.map(|m| m.pass.into())),
    ]
}

fn figures(origin: Origin, measurement: &Measurement) -> Vec<Named> {
    let mut rows = Vec::new();
    for job in &measurement.jobs {
        let census = Some(job.accounting.known(origin));
        let row = |direction| figure(Some(measurement), Some(job), census, direction);
        for (direction, result) in &job.directions {
            rows.push(row(Some((direction, result))));
        }
        if job.directions.is_empty() {
            rows.push(row(None));
        }
    }
    rows
}

fn figure(
    measurement: Option<&Measurement>,
    job: Option<&JobResult>,
    known: Option<KnownAccounting>,
    direction: Option<(&Direction, &DirectionResult)>,
) -> Named {
    let mut row = requested(job);
    row.push(name("direction", direction.map(|(it, _)| it.name())));
    let result = direction.map(|(_, result)| result);
    row.extend(totals(job, result));
    row.extend(latency("service", result.map(|r| &r.service)));
    row.extend(latency(
        "response",
        result.and_then(|r| r.response.as_ref()),
    ));
    row.extend(latency("submit", result.and_then(|r| r.submit.as_ref())));
    row.extend(census(job, known));
    row.extend(process(measurement));
    row
}

fn requested(job: Option<&JobResult>) -> Named {
    vec![
        text("job", job.map(|j| &j.name)),
        text("engine", job.map(|j| j.engine.to_string()).as_ref()),
        text("pattern", job.map(JobResult::pattern_name).as_ref()),
        text("block_size", job.map(JobResult::block_size_name).as_ref()),
        count("block_bytes", job.and_then(JobResult::block_bytes)),
        text("mix", job.map(JobResult::mix_name).as_ref()),
        name("access", job.map(JobResult::access_name)),
        name("durability", job.map(|j| j.durability.name())),
        name("pace", job.map(|j| j.pace.name())),
        count("threads", known(job.map(|j| j.threads))),
        count("depth", known(job.map(|j| j.depth))),
        count("effective_depth", known(job.map(|j| j.effective_depth))),
        ("direct".into(), Cell::Flag(job.and_then(|j| j.direct))),
        real("requested_iops", job.and_then(|j| j.requested_iops)),
        real(
            "requested_bytes_per_s",
            job.and_then(|j| j.requested_bytes_per_s),
        ),
        text("stopped", job.and_then(|j| word(&j.stopped)).as_ref()),
    ]
}

/// 0 stands for a count that another program did not report.
fn known(count: Option<u32>) -> Option<u64> {
    count.filter(|count| *count > 0).map(u64::from)
}

fn totals(job: Option<&JobResult>, direction: Option<&DirectionResult>) -> Named {
    let per_second = |what: fn(&DirectionResult) -> u64| {
        let seconds = job?.elapsed_ns.max(1) as f64 / 1e9;
        Some(what(direction?) as f64 / seconds)
    };
    vec![
        count("measured_ns", job.map(|j| j.elapsed_ns)),
        count("ios", direction.map(|d| d.ios)),
        count("bytes", direction.map(|d| d.bytes)),
        real("iops", per_second(|d| d.ios)),
        real("bytes_per_s", per_second(|d| d.bytes)),
    ]
}

fn latency(which: &str, latency: Option<&Latency>) -> Named {
    let ns = |statistic: &str| format!("{which}_ns_{statistic}");
    let known = |what| latency.filter(|latency| !latency.unknown.has(what));
    let whole = |statistic: &str, what, value: fn(&Latency) -> u64| {
        count(&ns(statistic), known(what).map(value))
    };
    let mut row = vec![
        whole("min", Statistic::Min, |l| l.min_ns),
        real(&ns("mean"), known(Statistic::Mean).map(|l| l.mean_ns)),
        real(&ns("stddev"), known(Statistic::Stddev).map(|l| l.stddev_ns)),
    ];
    let percentile = |it: &Percentile| count(&ns(it.name), latency.and_then(|l| l.percentile(it)));
    row.extend(PERCENTILES.iter().map(percentile));
    row.push(whole("max", Statistic::Max, |l| l.max_ns));
    row.push(text(
        &format!("{which}_histogram_hdr"),
        known(Statistic::P50).map(|l| &l.histogram_hdr),
    ));
    row
}

fn census(job: Option<&JobResult>, census: Option<KnownAccounting>) -> Named {
    let of = |figure: fn(KnownAccounting) -> Option<u64>| census.and_then(figure);
    vec![
        count("job_issued", of(|a| a.issued)),
        count("job_completed", of(|a| Some(a.completed))),
        count("job_completed_in_ramp", of(|a| a.completed_in_ramp)),
        count("job_failed", of(|a| a.failed)),
        count("job_in_flight", of(|a| a.in_flight)),
        count("job_oldest_in_flight_ns", of(|a| a.oldest_in_flight_ns)),
        count("job_overdue", of(|a| a.overdue)),
        text("job_errors", job.map(errors).as_ref()),
    ]
}

/// `EIO write 3; short read 1`.
fn errors(job: &JobResult) -> String {
    let error = |e: &blocklab_record::ErrorCount| format!("{} {} {}", e.kind, e.direction, e.count);
    job.errors.iter().map(error).collect::<Vec<_>>().join("; ")
}

fn process(measurement: Option<&Measurement>) -> Named {
    let cpu = measurement.map(|m| m.cpu);
    let busy = cpu.filter(|cpu| !cpu.unknown.has(Statistic::MachineBusy));
    // The process that issued the load was another program's.
    let own = |_: &Cpu| !cpu.is_some_and(|cpu| cpu.unknown.has(Statistic::Process));
    let ours = measurement.filter(|m| own(&m.cpu));
    let cpu = cpu.filter(own);
    let busy = busy.map(|c| c.machine_busy_percent.into());
    let busiest = cpu.map(|c| c.busiest_thread_percent.into());
    let workers = ours.map(|m| m.uring_workers_max.into());
    vec![
        count("measurement_started_ns", ours.map(|m| m.started_ns)),
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

/// `ours`: our process issued the load, so what it used is known.
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

fn slice_direction(name: &str, length: Option<u64>, did: Option<IntervalDirection>) -> Named {
    let per_second = |amount: Option<u64>| {
        let seconds = length?.max(1) as f64 / 1e9;
        Some(amount? as f64 / seconds)
    };
    // Without operations there is no latency: the Record's zeros would read as a fast disk.
    let served = did.filter(|d| d.ios > 0);
    let column = |what: &str| format!("{name}_{what}");
    let ns = |statistic: &str, what, value: fn(IntervalDirection) -> u64| {
        let known = served.filter(|d| !d.unknown.has(what));
        count(&format!("{name}_service_ns_{statistic}"), known.map(value))
    };
    let bytes = did.filter(|d| d.ios == 0 || !d.unknown.has(Statistic::Bytes));
    vec![
        count(&column("ios"), did.map(|d| d.ios)),
        count(&column("bytes"), bytes.map(|d| d.bytes)),
        real(&column("iops"), per_second(did.map(|d| d.ios))),
        real(&column("bytes_per_s"), per_second(bytes.map(|d| d.bytes))),
        ns("mean", Statistic::Mean, |d| d.mean_ns),
        ns("p50", Statistic::P50, |d| d.p50_ns),
        ns("p99", Statistic::P99, |d| d.p99_ns),
        ns("max", Statistic::Max, |d| d.max_ns),
    ]
}

fn text(name: &str, value: Option<&String>) -> (String, Cell) {
    (name.into(), Cell::Text(value.cloned()))
}

fn name(column: &str, value: Option<&str>) -> (String, Cell) {
    (column.into(), Cell::Text(value.map(str::to_owned)))
}

fn count(name: &str, value: Option<u64>) -> (String, Cell) {
    (name.into(), Cell::Count(value))
}

fn real(name: &str, value: Option<f64>) -> (String, Cell) {
    (name.into(), Cell::Figure(value))
}

/// The name of a choice in the Record's JSON, so that both exports use the same.
fn word(choice: &impl Serialize) -> Option<String> {
    let value = serde_json::to_value(choice).ok()?;
    value.as_str().map(str::to_owned)
}
