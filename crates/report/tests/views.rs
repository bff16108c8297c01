//! What a person sees at the end of a run, letter by letter.

mod sample;

use blocklab_compare::expect::Diagnosis;
use blocklab_compare::history;
use blocklab_compare::study::Outcome;
use blocklab_findings::{Assessment, Estimate, ResponseNs, Row, RowDirection, Severity};
use blocklab_record::{Origin, Percentiles, Record, Statistic, Status};
use blocklab_report::document::{Column, Document, Form, Part};
use blocklab_report::{views, words};
use blocklab_stats::Histogram;
use blocklab_units::Style;
use blocklab_workload::Direction;

/// A figure with half of its interval, from three passes.
fn figure(value: f64, half: f64) -> Estimate {
    Estimate {
        value,
        low: Some(value - half),
        high: Some(value + half),
        passes: 3,
        ..sample::estimate(&[value])
    }
}

/// IOPS, half of their interval, bytes an operation; mean, p50, p99, p99.9 in ns.
fn direction(name: Direction, rate: [f64; 3], latency: [u64; 4]) -> RowDirection {
    let [iops, half, block] = rate;
    let [mean, p50, p99, p999] = latency;
    RowDirection {
        iops: figure(iops, half),
        bytes_per_s: figure(iops * block, half * block),
        mean_ns: figure(mean as f64, 0.0),
        service_ns: brief([p50, p99, p999]),
        ios: 1_000_000,
        ..sample::direction(name, &Histogram::new())
    }
}

/// The percentiles of short tables; the others are 0.
fn brief(values: [u64; 3]) -> Percentiles {
    let mut values = values.into_iter();
    Percentiles::each(|it| {
        if it.brief {
            values.next().expect("three brief percentiles")
        } else {
            0
        }
    })
}

fn response(percentiles: [u64; 3], max: u64) -> ResponseNs {
    ResponseNs {
        percentiles: brief(percentiles),
        max,
    }
}

fn row(case: &str, directions: Vec<RowDirection>) -> Row {
    Row {
        case: case.to_owned(),
        settings: Vec::new(),
        what: String::new(),
        only_job: None,
        directions,
        errors: 0,
        cpu_ns_per_io: 0.0,
    }
}

/// The study `quick` with round numbers.
fn quick() -> (Record, Assessment) {
    let mib = 1_048_576.0;
    let one = |case, name, rate, latency| row(case, vec![direction(name, rate, latency)]);
    #[rustfmt::skip]
    let rows = vec![
        one("seq1m-q8-read", Direction::Read, [3_065.2, 12.3, mib], [2_610_000, 2_590_000, 3_070_000, 4_020_000]),
        one("seq1m-q8-write", Direction::Write, [1_912.0, 133.8, mib], [4_180_000, 4_050_000, 7_400_000, 81_300_000]),
        one("seq128k-q32-read", Direction::Read, [24_710.0, 98.8, mib / 8.0], [1_295_000, 1_280_000, 1_610_000, 2_020_000]),
        one("seq128k-q32-write", Direction::Write, [15_240.0, 30.5, mib / 8.0], [2_099_000, 1_990_000, 3_700_000, 35_100_000]),
        one("rnd4k-q32-read", Direction::Read, [1_281_400.0, 25_628.0, 4096.0], [113_400, 110_000, 171_000, 254_000]),
        one("rnd4k-q32-write", Direction::Write, [198_300.0, 6_940.0, 4096.0], [161_000, 149_000, 330_000, 4_880_000]),
        one("rnd4k-q1-read", Direction::Read, [11_830.0, 59.2, 4096.0], [84_200, 82_900, 121_000, 189_000]),
        one("rnd4k-q1-write", Direction::Write, [87.4, 10.5, 4096.0], [11_400_000, 9_810_000, 38_100_000, 350_000_000]),
    ];
    let assessment = Assessment {
        rows,
        findings: sample::findings(),
        quantile_error_percent: Some(0.78),
    };
    (sample::empty("7f3a2c"), assessment)
}

/// Parts as a terminal shows them.
fn shown(parts: Vec<Part>) -> String {
    in_style(parts, Style::default())
}

fn in_style(parts: Vec<Part>, style: Style) -> String {
    let name = String::new();
    Document { name, parts }.print(Form::Text(style))
}

fn printed(document: &Document) -> String {
    document.print(Form::Text(Style::default()))
}

#[track_caller]
fn check(shown: &str, expected: &str) {
    assert_eq!(shown, expected, "\n--- shown:\n{shown}");
}

#[test]
fn the_table_of_the_built_in_study_fits_eighty_columns() {
    let (record, assessment) = quick();
    let shown = shown(views::table(&record, &assessment));
    check(
        &shown,
        "                      MB/s       IOPS     mean      p50      p99    p99.9      ±
  seq1m-q8-read      3,214      3,065  2.61 ms  2.59 ms  3.07 ms  4.02 ms  0.4 %
  seq1m-q8-write     2,005      1,912  4.18 ms  4.05 ms  7.40 ms  81.3 ms  7.0 %
  seq128k-q32-read   3,239     24,710  1.29 ms  1.28 ms  1.61 ms  2.02 ms  0.4 %
  seq128k-q32-write  1,998     15,240  2.10 ms  1.99 ms  3.70 ms  35.1 ms  0.2 %
! rnd4k-q32-read     5,249  1,281,400   113 µs   110 µs   171 µs   254 µs  2.0 %
  rnd4k-q32-write      812    198,300   161 µs   149 µs   330 µs  4.88 ms  3.5 %
  rnd4k-q1-read       48.5     11,830  84.2 µs  82.9 µs   121 µs   189 µs  0.5 %
  rnd4k-q1-write       0.4       87.4  11.4 ms  9.81 ms  38.1 ms   350 ms   12 %

  Figures: mean of 3 passes. ± is half the 95 % confidence interval of the IOPS.
  Latency is service time; its percentiles are of all passes and within 0.78 %
  of the truth. MB is 10^6 bytes. ! marks a row that a finding doubts.
",
    );
    for line in shown.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn a_narrow_terminal_gets_every_figure_below_its_name() {
    let (record, mut assessment) = quick();
    assessment.rows.truncate(2);
    let style = Style {
        color: false,
        width: Some(60),
    };
    check(
        &in_style(views::table(&record, &assessment), style),
        "     MB/s   IOPS     mean      p50      p99    p99.9      ±
  seq1m-q8-read
    3,214  3,065  2.61 ms  2.59 ms  3.07 ms  4.02 ms  0.4 %
  seq1m-q8-write
    2,005  1,912  4.18 ms  4.05 ms  7.40 ms  81.3 ms  7.0 %

  Figures: mean of 3 passes. ± is half the 95 % confidence
  interval of the IOPS. Latency is service time; its
  percentiles are of all passes and within 0.78 % of the
  truth. MB is 10^6 bytes.
",
    );
}

#[test]
fn one_pass_has_no_interval_and_a_mixed_case_a_row_a_direction() {
    let (record, mut assessment) = quick();
    let single = |mut direction: RowDirection| {
        direction.iops = sample::estimate(&[direction.iops.value]);
        direction
    };
    assessment.findings.clear();
    assessment.rows = vec![row(
        "oltp",
        vec![
            single(direction(
                Direction::Read,
                [700.0, 0.0, 8192.0],
                [900_000; 4],
            )),
            single(direction(
                Direction::Write,
                [300.0, 0.0, 8192.0],
                [1_900_000; 4],
            )),
        ],
    )];
    check(
        &shown(views::table(&record, &assessment)),
        "              MB/s  IOPS     mean      p50      p99    p99.9  ±
  oltp read    5.7   700   900 µs   900 µs   900 µs   900 µs  –
  oltp write   2.5   300  1.90 ms  1.90 ms  1.90 ms  1.90 ms  –

  Figures: one pass. Latency is service time; its percentiles are of all passes
  and within 0.78 % of the truth. MB is 10^6 bytes.
",
    );
}

#[test]
fn an_open_loop_shows_the_response_as_well() {
    let (record, mut assessment) = quick();
    assessment.findings.clear();
    assessment.rows.truncate(1);
    assessment.rows[0].directions[0].response_ns =
        Some(response([2_600_000, 9_100_000, 80_000_000], 91_000_000));
    check(
        &shown(views::table(&record, &assessment)),
        "                  MB/s   IOPS     mean      p50      p99    p99.9      ±
  seq1m-q8-read  3,214  3,065  2.61 ms  2.59 ms  3.07 ms  4.02 ms  0.4 %

  response latency      p50      p99    p99.9      max
  seq1m-q8-read     2.60 ms  9.10 ms  80.0 ms  91.0 ms

  Figures: mean of 3 passes. ± is half the 95 % confidence interval of the IOPS.
  Latency is service time; its percentiles are of all passes and within 0.78 %
  of the truth. Response latency counts from the moment an operation was due. MB
  is 10^6 bytes.
",
    );
}

#[test]
fn nothing_measured_is_said() {
    let (record, mut assessment) = quick();
    assessment.rows.clear();
    check(
        &shown(views::table(&record, &assessment)),
        "nothing was measured\n",
    );
}

#[test]
fn in_passing_only_what_doubts_a_figure_is_reported_in_full() {
    let (record, assessment) = quick();
    let shown = printed(&views::summary(&record, &assessment, Some("")));
    let from = shown.find("Findings").expect("findings");
    let to = from + shown[from..].find("\n\n").expect("the table below") + 1;
    check(
        &shown[from..to],
        "\
Findings
  warning   rnd4k-q32-read: the processor was the limit, not the target: the
            busiest thread used 97 % of a processor, 2.50 µs an operation.
            → Repeat the case with two threads: `threads = 2`.
  info      In 3 of 8 cases, only 6.0 to 6.1 s were measured …
  info      rnd4k-q1-read and rnd4k-q1-write: latency is the limit …
            `blocklab show 7f3a2c --findings` shows the evidence.
",
    );
}

/// The first line of a load of 70 % reads at 2,000 IOPS said "1,400 IOPS at most".
#[test]
fn a_mixed_case_counts_with_all_its_directions() {
    let (record, mut assessment) = quick();
    assessment.findings = vec![sample::good()];
    let of = |way, iops| direction(way, [iops, 1.0, 4096.0], [1000, 1000, 1000, 1000]);
    let both = vec![of(Direction::Read, 1400.0), of(Direction::Write, 600.0)];
    assessment.rows = vec![row("mixed", both)];
    let shown = printed(&views::summary(&record, &assessment, Some("")));
    assert!(shown.contains(": 2,000 IOPS, 8.2 MB/s;"), "{shown}");
    assessment.rows = vec![row("quiet", vec![of(Direction::Write, 0.42)])];
    let shown = printed(&views::summary(&record, &assessment, Some("")));
    assert!(shown.contains(": 0.4 IOPS, "), "{shown}");
}

/// The story: of operations that waited for up to 51 minutes, p99 and p99.9 were 1,095 s, which is where a
/// histogram ends.
#[test]
fn a_percentile_beyond_the_histogram_is_shown_as_longer() {
    let (record, mut assessment) = quick();
    let late = RowDirection {
        response_ns: Some(response([769_000_000_000, 1 << 40, 1 << 40], 3 << 40)),
        ..direction(Direction::Read, [300.0, 1.0, 4096.0], [1000; 4])
    };
    assessment.rows = vec![row("late", vec![late])];
    let shown = printed(&views::summary(&record, &assessment, Some("")));
    for words in [
        "769 s",
        ">1091 s",
        "> marks a percentile that is longer than a histogram tells.",
    ] {
        assert!(
            shown.replace("\n  ", " ").contains(words),
            "{words}: {shown}"
        );
    }
}

#[test]
fn nothing_wrong_is_said_in_one_sentence() {
    let (record, mut assessment) = quick();
    assessment.findings = vec![sample::good()];
    let shown = printed(&views::summary(&record, &assessment, Some("")));
    assert!(
        shown.contains(
            "
  good      All 8 cases were measured without a failure; the 3 passes of each
            agree within 4 %, and percentiles up to p99.9 are supported in every
            case.
"
        ),
        "{shown}"
    );
}

#[test]
fn all_findings_come_with_evidence_and_advice() {
    let (_, assessment) = quick();
    check(
        &shown(vec![views::findings(&assessment)]),
        "\
Findings
  warning   rnd4k-q32-read: the processor was the limit, not the target: the
            busiest thread used 97 % of a processor, 2.50 µs an operation.
            → Repeat the case with two threads: `threads = 2`.
            busiest thread 97 % · processor time per operation 2.50 µs
            Medium confidence, rule cpu-limit

  info      In 3 of 8 cases, only 6.0 to 6.1 s were measured, so a burst or a
            cache may carry the figures.
            → Use a longer --runtime: at least ten seconds a case.
            In every case: passes 3
                             measured time
            rnd4k-q32-write         6.00 s
            rnd4k-q1-read           6.10 s
            rnd4k-q1-write          6.00 s
            High confidence, rule too-short

  info      rnd4k-q1-read and rnd4k-q1-write: latency is the limit: one in
            flight.
                            operations in
                                   flight
            rnd4k-q1-read            0.98
            rnd4k-q1-write           0.97
            High confidence, rule latency-bound
",
    );
}

#[test]
fn figures_that_the_data_does_not_support_look_like_it() {
    let (record, mut assessment) = quick();
    assessment.findings.clear();
    assessment.rows.truncate(2);
    assessment.rows[1].directions[0].ios = 2_000;
    assessment.rows[1].directions[0].response_ns =
        Some(response([5_000_000, 6_000_000, 7_000_000], 8_000_000));
    check(
        &shown(views::table(&record, &assessment)),
        "                   MB/s   IOPS     mean      p50      p99     p99.9      ±
  seq1m-q8-read   3,214  3,065  2.61 ms  2.59 ms  3.07 ms   4.02 ms  0.4 %
  seq1m-q8-write  2,005  1,912  4.18 ms  4.05 ms  7.40 ms  ~81.3 ms  7.0 %

  response latency      p50      p99     p99.9      max
  seq1m-q8-write    5.00 ms  6.00 ms  ~7.00 ms  8.00 ms

  Figures: mean of 3 passes. ± is half the 95 % confidence interval of the IOPS.
  Latency is service time; its percentiles are of all passes and within 0.78 %
  of the truth. Response latency counts from the moment an operation was due. A
  percentile with ~ has fewer than ten operations beyond it. MB is 10^6 bytes.
",
    );
}

/// DiskSpd was run without `-L`, and the legend below a table of dashes told whose latencies they are.
#[test]
fn latencies_that_are_not_there_are_nobodys() {
    let (mut record, mut assessment) = quick();
    record.tool = "DiskSpd 2.2".to_owned();
    assessment.quantile_error_percent = None;
    let whose = "Latencies are as DiskSpd 2.2 reports them.";
    let legend = |assessment: &_| shown(views::table(&record, assessment)).replace("\n  ", " ");
    assert!(legend(&assessment).contains(whose));
    for row in &mut assessment.rows {
        for direction in &mut row.directions {
            direction.unknown = [
                Statistic::Mean,
                Statistic::P50,
                Statistic::P90,
                Statistic::P99,
                Statistic::P999,
            ]
            .into_iter()
            .collect();
        }
    }
    assert!(!legend(&assessment).contains("Latencies"));
}

#[test]
fn without_findings_there_is_no_heading() {
    let (_, mut assessment) = quick();
    assessment.findings.clear();
    check(&shown(vec![views::findings(&assessment)]), "");
}

/// The story: the first operation that failed was "at offset 11.8 MiB", where nobody finds it.
#[test]
fn the_place_of_an_error_is_exact() {
    let (mut record, assessment) = sample::run("7f3a2c", 1.0);
    sample::fail(&mut record);
    record.measurements[0].jobs[0].errors[0].first_offset = 12_345_856;
    let shown = printed(&views::summary(&record, &assessment, None));
    assert!(shown.contains("offset 12345856 B"), "{shown}");
}

#[test]
fn the_summary_of_a_failed_run_says_so_first_and_counts_the_errors() {
    let (mut record, mut assessment) = sample::run("7f3a2c", 1.0);
    sample::fail(&mut record);
    assessment.rows.clear();
    assessment.findings.clear();
    check(
        &printed(&views::summary(&record, &assessment, Some(""))),
        "\
quick: the eight numbers that people compare, in about a minute

run       7f3a2c · failed · 2025-11-20 14:03:22 UTC
target    /data/blocklab.scratch · scratch file · 1 GiB
on        ext4 on /data · rw,relatime
device    nvme1n1 · Amazon EC2 NVMe Instance Storage · 279.4 GiB · instance
          store · scheduler none
engine    io_uring, O_DIRECT

! The run failed: the device no longer answers. What was measured until then is
  shown.

Notes
  - assumed size: the scratch file is 1 GiB, since none was asked for

Errors
  - seq1m-q8-read: 3 × EIO on read (Input/output error), first after 2.50 s at
    offset 2 MiB

nothing was measured
",
    );
}

#[test]
fn what_was_not_measured_is_not_called_measured() {
    let (mut record, assessment) = sample::run("7f3a2c", 1.0);
    record.origin = Origin::Simulated;
    record.status = Status::Interrupted;
    let shown = printed(&views::summary(&record, &assessment, Some("")));
    assert!(shown.contains("run       7f3a2c · interrupted · 2025-11-20 14:03:22 UTC · simulated"));
    assert!(shown.contains("! The run was interrupted. What was measured until then is shown."));
}

/// The story: "The run was interrupted: the run is still running."
#[test]
fn a_run_that_goes_on_is_not_called_interrupted() {
    let (mut record, assessment) = sample::run("7f3a2c", 1.0);
    record.status = Status::Interrupted;
    record.failure = Some("the run is still running".to_owned());
    let shown = printed(&views::summary(&record, &assessment, Some("")));
    assert!(shown.contains("! The run is still running. What was measured until then is shown."));
}

/// The story: a run that failed on its first operation, or was stopped in its ramp or its warm-up pass, said
/// that what was measured until then is shown, above "nothing was measured".
#[test]
fn a_run_without_figures_shows_none() {
    let (mut record, assessment) = quick();
    record.status = Status::Interrupted;
    let mut warm_up = sample::run("7f3a2c", 1.0).0.measurements.remove(0);
    warm_up.pass = 0;
    for measurements in [Vec::new(), vec![warm_up]] {
        record.measurements = measurements;
        let shown = printed(&views::summary(&record, &assessment, Some("")));
        assert!(shown.contains("! The run was interrupted. Nothing was measured until then."));
    }
}

#[test]
fn colours_come_only_when_asked_for() {
    let (record, assessment) = quick();
    let plain = printed(&views::summary(&record, &assessment, Some("")));
    assert!(!plain.contains('\x1b'));
    let style = Style {
        color: true,
        width: None,
    };
    let colored = views::summary(&record, &assessment, Some("")).print(Form::Text(style));
    assert!(colored.contains("\x1b[33m! \x1b[0m"), "{colored}");
    let mut bare = colored;
    for code in ["0", "1", "2", "31", "32", "33", "34"] {
        bare = bare.replace(&format!("\x1b[{code}m"), "");
    }
    check(&bare, &plain);
}

#[test]
fn a_simulated_run_tells_its_limits_and_assumptions_and_names_no_engine() {
    let (mut record, mut assessment) = sample::run("7f3a2c", 1.0);
    sample::model(&mut record, Origin::Simulated);
    assessment.rows.clear();
    assessment.findings.clear();
    check(
        &printed(&views::summary(&record, &assessment, Some(""))),
        "\
quick: the eight numbers that people compare, in about a minute

run       7f3a2c · complete · 2025-11-20 14:03:22 UTC · simulated
target    sim:gp2:100GiB@m5.large · device model · 100 GiB

The model
  gp2: volume throughput    128 MiB/s
  gp2: burst credits        300 IOPS, in a burst 3,000 IOPS
  m5.large: EBS throughput  81.25 MB/s, in a burst 593.75 MB/s
  assumed: gp2: read latency 1000 µs: nobody measured it
  assumed: gp2: scatter of latencies, sigma 0.3: as that of another type …

nothing was measured
",
    );
}

#[test]
fn all_of_a_model_is_reported_by_source() {
    let (mut record, _) = sample::run("7f3a2c", 1.0);
    check(&shown(views::model(&record)), "");
    sample::model(&mut record, Origin::Simulated);
    check(
        &shown(views::model(&record)),
        "\
The model
  No device took part: the model answered in virtual time, where nothing else
  disturbs. The figures are predictions.

  documented: a guide, chapter 3, 2024-08-02
    gp2: volume throughput               128 MiB/s
    gp2: burst credits (baseline)        300 IOPS
    gp2: burst credits (burst)           3,000 IOPS
    gp2: burst credits (bucket)          5,400,000 operations
    m5.large: EBS throughput (baseline)  81.25 MB/s
    m5.large: EBS throughput (burst)     593.75 MB/s

  assumed: nobody measured it
    gp2: read latency  1,000 µs

  Bounds of what may be bought, which held nothing back here:

  documented: a guide, chapter 3, 2024-08-02
    gp2: max IOPS  16,000 IOPS

  assumed   gp2: read latency 1000 µs: nobody measured it
  assumed   gp2: scatter of latencies, sigma 0.3: as that of another type, which
            is the only one that was ever measured
",
    );
}

/// The story: without an address to compare with, the verdict on the figures had to be put together
/// from the findings, and nothing said who documents the limits.
#[test]
fn a_diagnosis_opens_with_its_verdict_and_ends_with_its_sources() {
    let (mut record, assessment) = quick();
    sample::model(&mut record, Origin::Simulated);
    let diagnosis = Diagnosis {
        assessment,
        expected: None,
    };
    let shown = views::diagnosis(&record, &diagnosis).print(Form::Text(Style::default()));
    let verdict = "Predicted, with caution: ";
    assert!(shown.starts_with(verdict), "{shown}");
    for lines in [
        "
Limits in force
  gp2: volume throughput               128 MiB/s [1]
",
        "
Sources
  [1] documented: a guide, chapter 3, 2024-08-02
  [2] assumed: nobody measured it
",
    ] {
        assert!(shown.contains(lines), "{lines}\n--- shown:\n{shown}");
    }
}

/// The story: the limits of two volumes were one list, which named each limit twice and did not say
/// whose it is.
#[test]
fn limits_of_two_volumes_are_told_apart() {
    let (mut record, assessment) = quick();
    sample::model(&mut record, Origin::Simulated);
    let mut other = record.targets[0].clone();
    other.path = "sim:gp2:1TiB".to_owned();
    record.targets.push(other);
    let diagnosis = Diagnosis {
        assessment,
        expected: None,
    };
    let shown = printed(&views::diagnosis(&record, &diagnosis));
    for title in ["sim:gp2:100GiB@m5.large", "sim:gp2:1TiB"] {
        let title = format!("\nLimits in force on {title}\n  gp2: ");
        assert!(shown.contains(&title), "{title}\n--- shown:\n{shown}");
    }
}

/// The story: "too few passes" in one row made the table so wide that every name went on a line of
/// its own, and the titles left a terminal of 24 lines.
#[test]
fn the_result_of_the_default_run_stands_on_24_lines_whatever_is_marked() {
    let (record, mut assessment) = quick();
    for row in &mut assessment.rows {
        row.directions[0].iops.low = Some(0.0);
        row.directions[0].ios = 2_000;
    }
    assessment.findings[0].subject = assessment.rows.iter().map(|row| row.case.clone()).collect();
    let style = Style {
        color: false,
        width: Some(80),
    };
    let shown = in_style(views::table(&record, &assessment), style);
    let row = "! rnd4k-q1-write       0.4       87.4  11.4 ms  9.81 ms  38.1 ms   ~350 ms  few\n";
    assert!(shown.contains(row), "{shown}");
    assert!(
        shown.contains("few: the interval is wider than the figure; more passes would narrow it."),
        "{shown}"
    );
    // Below it stand the page, the command that shows it again, and the prompt.
    assert!(shown.lines().count() <= 24 - 4, "{shown}");
}

/// The story: an assumption of a run stored before its sentence lost the word was shown as
/// `assumed … assumed: as gp3`.
#[test]
fn an_old_run_says_assumed_once() {
    let record = sample::described();
    let shown = shown(views::model(&record));
    let words: Vec<_> = shown.split_whitespace().collect();
    let shown = words.join(" ");
    assert!(shown.contains("6000 IOPS: as gp3"), "{shown}");
    assert!(!shown.contains(": assumed: as gp3"), "{shown}");
}

/// The story: of three addresses on a page, all tables of one kind had one name for screen readers.
#[test]
fn tables_below_several_headings_have_names_of_their_own() {
    let sheet = |address: &str| {
        let limits = Part::table_section("Limits", [Column::words("")], [["volume IOPS"]]);
        [Part::Heading(address.to_owned()), limits]
    };
    let document = Document {
        name: "Catalog".to_owned(),
        parts: [sheet("gp3:1TiB"), sheet("gp2:1TiB")]
            .into_iter()
            .flatten()
            .collect(),
    };
    let page = document.print(Form::Html);
    for address in ["gp3:1TiB", "gp2:1TiB"] {
        let name = format!("aria-label=\"Limits, {address}\"");
        assert_eq!(page.matches(&name).count(), 1, "{name}");
    }
}

/// The story: a finding on every case was summed up as one on "8 of 8 cases".
#[test]
fn a_finding_on_all_cases_says_all() {
    let (record, mut assessment) = quick();
    let said =
        |assessment: &Assessment| blocklab_report::words::answer::run(&record, assessment).text;
    let finding = &mut assessment.findings[0];
    finding.severity = Severity::Warning;
    finding.subject = assessment.rows.iter().map(|row| row.case.clone()).collect();
    assert!(
        said(&assessment).contains(" in all 8 cases"),
        "{}",
        said(&assessment)
    );
    assessment.findings[0].subject.pop();
    assert!(
        said(&assessment).contains(" in 7 of 8 cases"),
        "{}",
        said(&assessment)
    );
}

/// The story: eight runs of one load were "not comparable: too few runs", without a word that five of
/// them were left out, and of how many are needed.
#[test]
fn a_history_of_few_loads_says_what_they_lack() {
    let runs = sample::history_runs();
    let found = history::history(&runs[..8]);
    assert!(
        words::history::shown(&found).left.is_empty(),
        "seven are enough"
    );
    let is_explained = |found: &_| printed(&views::history(found)).contains("A block a run");
    assert!(is_explained(&found));
    // The story: of many loads it was said "4 no change shown".
    let answer = words::answer::history(&found).text;
    assert_eq!(answer, "2 loads: 2 without a change shown");
    let found = history::history(&runs[..6]);
    // The story: the signs of a chart were explained where there was none.
    assert!(!is_explained(&found));
    let left = words::history::shown(&found).left;
    assert_eq!(left.len(), 2, "{left:?}");
    assert!(
        left[0].ends_with(
            "read has, under the same conditions, 5 of the 6 runs that are needed; 1 more is left \
             out, by hand or as findings doubt it"
        ),
        "{left:?}"
    );
}

/// The story: the critical findings of a study of four systems stood there as warnings.
#[test]
fn a_critical_finding_of_many_systems_is_called_critical() {
    let mut runs = sample::many(4);
    runs[1].1.findings[0].severity = Severity::Critical;
    let runs: Vec<_> = runs.iter().map(|(record, own)| (record, own)).collect();
    let study = views::study("both", "", &sample::outcome(), &runs, None);
    let shown = printed(&study);
    assert_eq!(shown.matches("\n  critical  quick: ").count(), 1, "{shown}");
    assert_eq!(shown.matches("\n  warning   quick: ").count(), 3, "{shown}");
}

/// The story: a run a thousand times slower than those before it had the ratio 0.000, in an interval
/// from 0.000 to 0.000.
#[test]
fn a_far_slower_run_has_figures_in_its_ratio() {
    let mut before = sample::history_runs();
    before.truncate(10);
    let mut slow = before[9].clone();
    let (record, mut assessment) = sample::run("7f3a2c", 0.001);
    assessment.findings.clear();
    assessment.rows.drain(..6);
    slow.digest = history::Digest::new(&record, &assessment);
    let found = history::against_history(&slow, &before[..9], 0.0);
    assert_eq!(found.pairs.len(), 2, "{:?}", found.refused);
    let shown = printed(&views::against_history(&found));
    assert!(shown.contains(" 0.00"), "{shown}");
    assert!(!shown.contains("0.000 "), "{shown}");
}

/// The story: a study of two tables and a chart was "compared in 3 table and charts".
#[test]
fn tables_and_charts_are_counted_apart() {
    let mut outcome = sample::outcome();
    let said = |outcome: &Outcome| words::answer::study(outcome).text;
    assert_eq!(said(&outcome), "0 systems compared in 2 tables and 1 chart");
    outcome.plots.clear();
    assert_eq!(said(&outcome), "0 systems compared in 2 tables");
    outcome.tables.clear();
    assert_eq!(said(&outcome), "0 systems compared");
}

/// The story: of two volumes with an address each, "Met: volume IOPS, 2,997 of 3,000" did not say
/// which.
#[test]
fn a_verdict_names_the_volume_of_several() {
    let (record, assessment) = quick();
    let mut expected = sample::missed();
    expected.limits[0].target = Some("/dev/sdb".to_owned());
    let expected = Some(expected);
    let diagnosis = Diagnosis {
        assessment,
        expected,
    };
    let verdict = words::answer::diagnosis(&record, &diagnosis).text;
    assert!(
        verdict.contains("Missed: volume IOPS on /dev/sdb, 6,000 of 8,000 (75 %)"),
        "{verdict}"
    );
}
