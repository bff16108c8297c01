//! The page as text: whole, closed to the network, the same every time, with or without a script.

#[path = "../../report/tests/sample/mod.rs"]
mod sample;

use blocklab_compare::compare::{Margins, compare};
use blocklab_compare::expect::{Compared, Diagnosis};
use blocklab_compare::study::{Judged, Verdict};
use blocklab_findings::Assessment;
use blocklab_record::{Environment, Fleet, FleetHost, Origin, Record, Status};
use blocklab_report::document::Form;
use blocklab_report::views;
use blocklab_report::words::facts;
use blocklab_units::Style;
use blocklab_workload::Direction;

/// The page of one run.
fn page_of(record: &Record, assessment: &Assessment) -> String {
    blocklab_page::runs(&[(record, assessment)])
}

/// Where this first stands in a page.
#[track_caller]
fn place_of(text: &str, page: &str) -> usize {
    let place = page.find(text);
    place.unwrap_or_else(|| panic!("{text} is missing"))
}

#[test]
fn the_same_records_give_the_same_bytes() {
    let (record, assessment) = sample::run("7f3a2c", 1.0);
    let (other, better) = sample::run("91be04c", 1.31);
    let records = [(&record, &assessment), (&other, &better)];
    assert_eq!(blocklab_page::runs(&records), blocklab_page::runs(&records));
}

#[test]
fn nothing_is_fetched_and_the_file_stays_small() {
    let (record, assessment) = sample::run("7f3a2c", 1.0);
    let page = page_of(&record, &assessment);
    assert!(page.contains("default-src 'none'; style-src 'unsafe-inline'"));
    // The only addresses are the names of namespaces, which no browser fetches.
    let addresses = page.match_indices("http").map(|(at, _)| &page[at..]);
    for address in addresses.filter(|text| text.starts_with("http:") || text.starts_with("https:"))
    {
        assert!(
            address.starts_with("http://www.w3.org/2000/svg"),
            "{}",
            &address[..60]
        );
    }
    assert!(page.len() < 240_000, "{} bytes", page.len());
}

#[test]
fn the_script_stays_below_a_hundred_kilobytes() {
    let bytes = blocklab_page::script().len();
    assert!(bytes <= 100_000, "{bytes} bytes");
}

#[test]
fn a_long_run_of_many_cases_stays_below_two_megabytes() {
    let (mut record, mut assessment) = sample::run("7f3a2c", 1.0);
    let rows = assessment.rows.clone();
    let measurements = record.measurements.clone();
    for copy in 0..30 {
        for row in &rows {
            let mut row = row.clone();
            row.case = format!("{}-{copy}", row.case);
            assessment.rows.push(row);
        }
    }
    let hour = measurements[0].series.iter().cycle().take(3600).copied();
    for (index, measurement) in measurements.iter().enumerate() {
        let mut measurement = measurement.clone();
        measurement.case = format!("{}-{index}", measurement.case);
        measurement.series = hour.clone().collect();
        record.measurements.push(measurement);
    }
    let page = page_of(&record, &assessment);
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
}

/// The story: a study of 23 systems opened with 23 heads, said the same sentence 23 times, and was
/// 64,000 pixels high.
#[test]
fn of_many_systems_a_table_stands_first_and_nothing_is_said_twice() {
    let all = sample::many(9);
    let all: Vec<_> = all.iter().map(|(record, it)| (record, it)).collect();
    let page = blocklab_page::runs(&all);
    let at = |text| place_of(text, &page);
    // Runs that are no systems of a study are not called so.
    assert!(at("9 runs, the best figure of each") < at("id=\"findings\""));
    assert!(!page.contains(" systems<"));
    for (record, assessment) in &all {
        assert!(page.contains(&format!("<code>{}</code>", record.id)));
        let finding = &assessment.findings[0].statement;
        assert_eq!(page.matches(finding.as_str()).count(), 1, "{finding}");
    }
    assert_eq!(page.matches("class=\"copyable workload\"").count(), 1);
}

/// The story: a page of five runs of which one alone had trimmed was a panic: of a single figure
/// there is no best and worst with others between them.
#[test]
fn of_many_systems_one_alone_may_have_a_direction() {
    let mut all = sample::many(5);
    let direction = &mut all[3].1.rows[0].directions[0];
    direction.direction = Direction::Trim;
    let all: Vec<_> = all.iter().map(|(record, it)| (record, it)).collect();
    let page = blocklab_page::runs(&all);
    assert_eq!(page.matches("<h2>Trim rate</h2>").count(), 1);
}

/// The story: a page gave the mean in flight too low, because the ramp, of which no latencies are
/// kept, counted as time without operations.
#[test]
fn the_ramp_does_not_lower_the_mean_in_flight() {
    let mut record = sample::run("7f3a2c", 1.0).0;
    let without = facts::mean_in_flight(&record).by_latency;
    for pass in &mut record.measurements {
        pass.elapsed_ns *= 2;
    }
    assert!(without.is_some());
    assert_eq!(facts::mean_in_flight(&record).by_latency, without);
}

/// The story: what a study of two systems found stood below two heads, two alarms and a page of
/// notes, 3,800 pixels down.
#[test]
fn a_study_opens_with_its_answer_its_first_chart_and_its_conclusions() {
    let mut all = sample::many(2);
    for ((record, _), system) in all.iter_mut().zip(["EBS", "NVMe"]) {
        record.requested.name = format!("i3-metal: {system}");
        record.requested.system = Some(system.to_owned());
    }
    let mut outcome = sample::outcome();
    outcome.conclusions.push(Judged {
        text: "NVMe is faster.".to_owned(),
        verdict: Verdict::Confirmed,
        by_published: None,
        reasons: vec!["peak, IOPS: twice".to_owned()],
        because: String::new(),
    });
    let ids: Vec<String> = all.iter().map(|(record, _)| record.id.clone()).collect();
    let all: Vec<_> = all.iter().map(|(record, it)| (record, it)).collect();
    let page = blocklab_page::study(&all, &outcome);
    let at = |text| place_of(text, &page);
    assert!(!page.contains("class=\"opening\""), "no head for each");
    assert!(at("What was concluded") < at("2 systems, the best figure of each"));
    assert!(
        at("card study-chart") < at("What was concluded"),
        "the first chart"
    );
    let cited = format!(
        "study i3-metal, 2 runs from {} to {}, measured",
        ids[0], ids[1]
    );
    assert!(page.contains(&cited), "{cited}");
}

/// Of a load that never waits both latencies are one curve, which is written once.
#[test]
fn a_curve_is_not_written_twice() {
    let (record, mut assessment) = sample::run("7f3a2c", 1.0);
    sample::pace(&mut assessment);
    let page = |it: &Assessment| page_of(&record, it);
    assert!(!page(&assessment).contains("\"response\":\"same\""));
    let direction = &mut assessment.rows[0].directions[0];
    direction.response_bins.clone_from(&direction.bins);
    direction.response_curve.clone_from(&direction.curve);
    assert!(page(&assessment).contains("\"response\":\"same\""));
}

/// What a device does not tell is not shown, and never as 0.
#[test]
fn a_device_tells_how_it_is_or_nothing() {
    let (mut record, assessment) = sample::run("7f3a2c", 1.0);
    let page = page_of(&record, &assessment);
    for text in [
        "GDC5602Q",
        "41 °C at the start",
        "3 % of its rated writes",
        "2900 MHz",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("Media errors") && !page.contains("It warns"));
    let device = &mut record.targets[0].devices[0];
    device.health.as_mut().expect("told").critical_warning = 0b1010;
    let page = page_of(&record, &assessment);
    assert!(page.contains("its temperature is out of bounds, it takes no more writes"));
    record.targets[0].devices[0].health = None;
    let page = page_of(&record, &assessment);
    assert!(!page.contains("Temperature") && !page.contains("Wear"));
}

#[test]
fn one_case_and_five_hundred_are_pages() {
    let (record, mut assessment) = sample::run("7f3a2c", 1.0);
    sample::pace(&mut assessment);
    let row = assessment.rows[0].clone();
    for cases in [1, 28, 500] {
        assessment.rows.clear();
        for case in 0..cases {
            let mut row = row.clone();
            row.case = format!("rand{case}-read");
            assessment.rows.push(row);
        }
        let page = page_of(&record, &assessment);
        assert!(page.len() < 2_000_000, "{cases}: {} bytes", page.len());
        assert_eq!(page.matches("<th scope=\"row\" title=").count(), cases);
    }
}

/// The story: of a run in which every operation failed, the page had a heading and an empty frame for
/// each chart, and links to them.
#[test]
fn a_run_without_figures_has_no_charts() {
    let (mut record, mut assessment) = sample::run("7f3a2c", 1.0);
    let page = page_of(&record, &assessment);
    let charts = ["suite", "latency", "time", "numbers"];
    assert!(
        charts
            .iter()
            .all(|chart| page.contains(&format!("id=\"{chart}\"")))
    );
    assessment.rows.clear();
    let failed = page_of(&record, &assessment);
    record.measurements.clear();
    assessment.findings.clear();
    let empty = page_of(&record, &assessment);
    for (page, chart) in [&failed, &empty]
        .into_iter()
        .flat_map(|page| charts.map(|chart| (page, chart)))
    {
        assert!(!page.contains(&format!("id=\"{chart}\"")), "{chart}");
        assert!(!page.contains(&format!("href=\"#{chart}\"")), "{chart}");
    }
    assert!(empty.contains("Machine and target"));
}

/// The story: the evidence of both runs had the same name, on the page for those who hear it, and as
/// a file for those who saved it.
#[test]
fn no_two_tables_of_a_comparison_have_the_same_name() {
    let all: Vec<_> = [("7f3a2c", 1.0), ("91be04c", 1.31), ("91be04d", 0.7)]
        .into_iter()
        .map(|(id, factor)| sample::run(id, factor))
        .map(|(mut record, assessment)| {
            sample::model(&mut record, Origin::Simulated);
            sample::fail(&mut record);
            (record, assessment)
        })
        .collect();
    let records: Vec<_> = all.iter().map(|(record, _)| record).collect();
    let comparison = compare(&records, 0, Margins::default());
    let all: Vec<_> = all.iter().map(|(record, it)| (record, it)).collect();
    let page = blocklab_page::comparison(&all, &comparison, None);
    let regions = page.split("role=\"region\" aria-label=\"").skip(1);
    let mut names: Vec<&str> = regions
        .filter_map(|region| region.split('"').next())
        .collect();
    let number = names.len();
    assert!(number > 10, "{names:?}");
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), number, "{names:?}");
}

/// The story: of 290 cases a finding named four, and the names of the others stood nowhere.
#[test]
fn every_case_of_a_finding_has_its_name_somewhere() {
    let (record, mut assessment) = sample::run("7f3a2c", 1.0);
    let names: Vec<String> = (1..=6).map(|depth| format!("depth-{depth}")).collect();
    let mut finding = assessment.findings.remove(0);
    finding.statement = "In 6 of 8 cases, 2 to 64 in flight deliver no more than 1.".to_owned();
    finding.subject.clone_from(&names);
    assessment.findings = vec![finding];
    let page = page_of(&record, &assessment);
    let plain = Form::Text(Style::default());
    let terminal = views::evidence(&record, &assessment).print(plain);
    let markdown = views::summary(&record, &assessment, Some("")).print(Form::Markdown);
    for shown in [page, terminal, markdown] {
        for name in &names {
            assert!(shown.contains(name), "{name} in {shown}");
        }
    }
}

/// The data of the page, the data of a chart, and the script itself.
const SCRIPTS: usize = 3;

/// What a browser shows that runs none: the elements are left out with their content.
fn without_scripts(page: &str) -> String {
    let mut parts = page.split("<script");
    let first = parts.next().expect("a part");
    let after = parts.map(|part| part.split_once("</script>").expect("an end").1);
    std::iter::once(first).chain(after).collect()
}

/// Names come from files of others.
#[test]
fn names_are_no_markup() {
    let (mut record, mut assessment) = sample::run("7f3a2c", 1.0);
    let name = "</script><script>alert(1)</script><img src=x onerror=alert(1)>";
    for text in [
        &mut record.requested.name,
        &mut record.requested.native,
        &mut record.targets[0].path,
        &mut record.measurements[0].case,
        &mut assessment.rows[0].case,
        &mut assessment.findings[0].statement,
    ] {
        *text = name.to_owned();
    }
    record.note = Some(name.to_owned());
    let page = page_of(&record, &assessment);
    assert!(!page.contains("<script>alert"));
    assert!(!page.contains("<img") && page.contains("&lt;img"));
    assert_eq!(page.matches("</script>").count(), SCRIPTS);
}

#[test]
fn a_sweep_is_a_table_too() {
    let (record, mut assessment) = sample::run("7f3a2c", 1.0);
    sample::sweep(&mut assessment);
    let page = page_of(&record, &assessment);
    assert!(page.contains("IOPS: block size by depth"));
    let moved = &assessment.rows[6].directions[0];
    let cell = format!(
        "<td class=\"number\">{}</td>",
        blocklab_units::rate(moved.iops.value)
    );
    let sweeps = page.split("id=\"sweeps\"").nth(1).expect("a section");
    assert!(sweeps.contains(&cell));
}

#[test]
fn every_number_stands_in_the_page_without_a_script() {
    let (record, assessment) = sample::run("7f3a2c", 1.0);
    let page = page_of(&record, &assessment);
    let body = without_scripts(&page);
    for row in &assessment.rows {
        let direction = &row.directions[0];
        for text in [
            row.case.clone(),
            blocklab_units::rate(direction.iops.value),
            blocklab_units::latency(direction.service_ns.at("p99") as f64),
        ] {
            assert!(body.contains(&format!(">{text}<")), "{text}");
        }
    }
    for text in [
        "mq-deadline",
        "nvme1n1",
        "rw, relatime",
        "61 ns per operation",
        "0.4 ppm",
    ] {
        let text = text.replace("mq-deadline", "none");
        assert!(body.contains(&text), "{text}");
    }
    assert!(body.contains("blocklab run quick.toml --target /data"));
}

#[test]
fn the_answer_and_one_chart_come_before_the_findings_which_name_a_case_once() {
    let (record, assessment) = sample::run("7f3a2c", 1.0);
    let page = page_of(&record, &assessment);
    let at = |text| place_of(text, &page);
    assert!(at("class=\"answer doubt\"") < at("id=\"suite\""));
    assert!(at("id=\"suite\"") < at("id=\"findings\""));
    assert!(at("2 more observations") < at("id=\"latency\""));
    // Named in its sentence, so not beside it; counted in its sentence, so listed beside it.
    let chip = |case: &str| format!("<span class=\"case\">{case}</span>");
    assert!(!page.contains(&chip("rnd4k-q32-read")));
    assert!(page.contains(&chip("rnd4k-q32-write")));
}

#[test]
fn nothing_wrong_stands_in_the_verdict_and_nowhere_else() {
    let (record, mut assessment) = sample::run("7f3a2c", 1.0);
    assessment.findings = vec![sample::good()];
    let page = page_of(&record, &assessment);
    assert_eq!(
        page.matches("the 3 passes of each agree within 4 %")
            .count(),
        1
    );
    assert!(page.contains("answer good"));
    assert!(!page.contains("id=\"findings\""));
}

#[test]
fn figures_that_the_data_does_not_support_look_like_it() {
    let (record, mut assessment) = sample::run("7f3a2c", 1.0);
    let weak = |page: &str| page.matches("class=\"weak\"").count();
    let before = weak(&page_of(&record, &assessment));
    let direction = &mut assessment.rows[4].directions[0];
    direction.ios = 500;
    let p99 = format!(
        ">~{}<",
        blocklab_units::latency(direction.service_ns.at("p99") as f64)
    );
    let page = page_of(&record, &assessment);
    assert!(page.contains(&p99));
    assert_eq!(weak(&page), before + 3, "p99, p99.9 and p99.99");
}

#[test]
fn virtual_disks_are_not_said_to_rotate() {
    let (mut record, assessment) = sample::run("7f3a2c", 1.0);
    let device = &mut record.targets[0].devices[0];
    device.rotational = true;
    let says_so = |record: &_| page_of(record, &assessment).contains("rotational");
    assert!(says_so(&record));
    record.targets[0].devices[0].transport = "virtio".to_owned();
    assert!(!says_so(&record));
}

#[test]
fn a_failed_run_says_so_and_lists_its_errors() {
    let (mut record, assessment) = sample::run("7f3a2c", 1.0);
    sample::fail(&mut record);
    let page = page_of(&record, &assessment);
    assert!(page.contains("The run failed: the device no longer answers."));
    assert!(page.contains("EIO"));
}

#[test]
fn a_simulated_run_is_not_shown_as_if_measured() {
    let (mut record, assessment) = sample::run("7f3a2c", 1.0);
    let measured = page_of(&record, &assessment);
    assert!(!measured.contains("id=\"model\"") && measured.contains("CPU per op"));
    sample::model(&mut record, Origin::Simulated);
    let page = page_of(&record, &assessment);
    for text in [
        "<span class=\"badge simulated\">simulated</span>",
        "Predicted by the device model, not measured.",
        "id=\"model\"",
        "5,400,000 operations",
        "a guide, chapter 3",
        "<td class=\"date\">2024-08-02</td>",
        "<span class=\"badge assumed\">assumed</span> gp2: read latency 1000 µs: nobody",
        "--target sim:gp2:100GiB@m5.large",
    ] {
        assert!(page.contains(text), "{text}");
    }
    // Nothing of the machine that happened to compute it.
    for text in [
        "id=\"machine\"",
        "CPU per op",
        "Blocklab's overhead",
        "O_DIRECT",
    ] {
        assert!(!page.contains(text), "{text}");
    }
}

#[test]
fn an_emulated_run_tells_of_the_model_and_of_the_machine() {
    let (mut record, assessment) = sample::run("7f3a2c", 1.0);
    sample::model(&mut record, Origin::Emulated);
    let page = page_of(&record, &assessment);
    for text in [
        "Paced by the device model in real time",
        "id=\"model\"",
        "The machine",
        "CPU per op",
        "Blocklab's overhead",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("Machine and target"));
}

#[test]
fn a_simulated_run_beside_a_measured_one_is_told_apart() {
    let (mut record, assessment) = sample::run("7f3a2c", 1.0);
    sample::model(&mut record, Origin::Simulated);
    let (other, better) = sample::run("91be04c", 1.31);
    let page = blocklab_page::runs(&[(&record, &assessment), (&other, &better)]);
    assert!(page.contains("quick 7f3a2c (simulated)"));
    assert!(page.contains("id=\"machine\"") && page.contains("id=\"model\""));
}

/// The story: on paper the tables of two runs ran over the edge; that their type is smaller there was
/// only ever seen by eye.
#[test]
fn on_paper_the_wide_tables_of_a_comparison_have_the_smaller_type() {
    let (record, assessment) = sample::run("7f3a2c", 1.0);
    let (other, better) = sample::run("91be04c", 1.31);
    let comparison = compare(&[&record, &other], 0, Margins::default());
    let all = [(&record, &assessment), (&other, &better)];
    let page = blocklab_page::comparison(&all, &comparison, None);
    let points = |selector: &str| -> f64 {
        let all = page.split("@media print").skip(1);
        let mut rules = all.filter_map(|rules| rules.split(selector).nth(1));
        let rule = rules.next().expect("a rule for paper");
        let (_, size) = rule.split_once("font-size:").expect("a size");
        let (size, _) = size.split_once("pt").expect("in points");
        size.trim().parse().expect("a number")
    };
    assert!(page.contains("<table class=\"numbers sortable wide\">"));
    let (body, plain, wide) = (
        points("body {"),
        points("table.numbers,"),
        points("table.numbers.wide,"),
    );
    assert!(wide < plain && plain < body, "{wide}, {plain}, {body}");
    let alone = blocklab_page::runs(&all[..1]);
    assert!(!alone.contains("<table class=\"numbers sortable wide\">"));
}

#[test]
fn an_old_run_says_assumed_once() {
    let record = sample::described();
    let assessment = Assessment {
        rows: Vec::new(),
        findings: Vec::new(),
        ..sample::run("7f3a2c", 1.0).1
    };
    let runs = [(&record, &assessment); 5];
    for page in [blocklab_page::runs(&runs[..1]), blocklab_page::runs(&runs)] {
        let words: Vec<_> = page.split_whitespace().collect();
        let page = words.join(" ");
        assert!(page.contains("6000 IOPS: as gp3"), "{page}");
        assert!(!page.contains(": assumed: as gp3"), "{page}");
    }
}

/// The story: under a history of simulated runs, in which −0.03 % was a regression, stood that a change
/// is shown from 2 % on. Runs of one seed have no noise, so the 2 % are not about them.
#[test]
fn simulated_runs_are_said_to_be_compared_exactly() {
    let mut runs = sample::history_runs();
    let exactly = "Simulated runs are compared exactly";
    let page_of = |runs: &[_]| blocklab_page::history(&blocklab_compare::history::history(runs));
    assert!(!page_of(&runs).contains(exactly));
    for run in &mut runs {
        run.digest.origin = Origin::Simulated;
    }
    assert!(page_of(&runs).contains(exactly));
    let history = blocklab_compare::history::history(&runs);
    let text = views::history(&history).print(Form::Text(Style::default()));
    assert!(text.contains("compared exactly"), "{text}");
}

/// Without a script, every run of a load stands in a table, and names of others are text.
#[test]
fn a_history_is_a_table_without_a_script() {
    let mut runs = sample::history_runs();
    for run in &mut runs {
        run.digest.study = "<img src=x onerror=alert(1)>".to_owned();
    }
    let history = blocklab_compare::history::history(&runs);
    let page = blocklab_page::history(&history);
    assert_eq!(page, blocklab_page::history(&history));
    let tables = page.matches("<tbody>").count();
    assert_eq!(page.matches("<th scope=\"row\">").count(), 28 * tables);
    assert!(
        tables > 0 && page.contains("left out: interrupted"),
        "{page}"
    );
    assert!(
        !page.contains("<img") && page.contains("&lt;img src=x"),
        "{page}"
    );
}

/// The story: of runs too few for a chart, the page explained how to read one and how to zoom it.
#[test]
fn a_history_without_a_chart_explains_none() {
    let words = "double-click to return";
    let runs = sample::history_runs();
    let page = |runs: &[_]| blocklab_page::history(&blocklab_compare::history::history(runs));
    assert!(page(&runs).contains(words));
    let few = page(&runs[..2]);
    assert!(
        !few.contains(words) && few.contains("not comparable"),
        "{few}"
    );
}

/// The story: the reads of a mixed load stood at two thirds of a limit that holds for reads and writes
/// together, as if the volume had not reached it.
#[test]
fn the_limits_of_all_directions_are_not_drawn_beside_one() {
    let (mut record, mut assessment) = sample::run("7f3a2c", 1.0);
    sample::model(&mut record, Origin::Simulated);
    sample::sweep(&mut assessment);
    let words = "a mixed load show none";
    let page = blocklab_page::runs(&[(&record, &assessment)]);
    assert!(!page.contains(words) && page.contains("\"quantity\":\"iops\""));
    for row in &mut assessment.rows {
        let mut write = row.directions[0].clone();
        write.direction = Direction::Write;
        row.directions.push(write);
    }
    let page = blocklab_page::runs(&[(&record, &assessment)]);
    let sweeps = page.split_once("id=\"sweeps\"").expect("sweeps").1;
    let sweeps = &sweeps[..sweeps.find("</section>").expect("its end")];
    assert!(sweeps.contains(words) && !sweeps.contains("\"quantity\":\"iops\""));
}

/// The story: the title of a run of three volumes named the first of them alone.
#[test]
fn the_title_says_that_there_are_more_targets() {
    let (mut record, assessment) = sample::run("7f3a2c", 1.0);
    let one = record.targets[0].clone();
    record.targets.extend([one.clone(), one]);
    let page = blocklab_page::runs(&[(&record, &assessment)]);
    let title = page.split_once("<h1").expect("a title").1;
    let title = &title[..title.find("</h1>").expect("its end")];
    assert!(title.ends_with(" and 2 more"), "{title}");
}

/// The story: a tile of two systems took the case that was the best of the first one by a fraction of
/// a per cent, and showed a third of what the second one reached elsewhere.
#[test]
fn a_tile_shows_the_case_that_is_good_for_both_runs() {
    let (record, mut assessment) = sample::run("7f3a2c", 1.0);
    let (other, mut better) = sample::run("91be04c", 1.0);
    let reads = |assessment: &mut Assessment, figures: [f64; 2]| {
        sample::sweep(assessment);
        assessment.rows.truncate(2);
        for (row, iops) in assessment.rows.iter_mut().zip(figures) {
            row.directions[0].iops = sample::estimate(&[iops]);
        }
    };
    reads(&mut assessment, [64_000.0, 63_900.0]);
    reads(&mut better, [950_000.0, 2_800_000.0]);
    let page = blocklab_page::runs(&[(&record, &assessment), (&other, &better)]);
    let tile = page.split_once("Read rate").expect("a tile").1;
    let tile = &tile[..tile.find("Read latency").expect("the next one")];
    assert!(
        tile.contains("63,900") && tile.contains("2,800,000"),
        "{tile}"
    );
}

/// The story: the page of results of fio said that an operation took 0 ns of a processor, on a
/// machine of 0 processors, and led to a model and to a course that it does not have.
#[test]
fn of_an_imported_run_nothing_is_shown_that_is_not_known() {
    let (mut record, mut assessment) = sample::run("7f3a2c", 1.0);
    record.origin = Origin::Imported;
    record.environment = Environment::default();
    record.targets.clear();
    for measurement in &mut record.measurements {
        measurement.series.clear();
    }
    for row in &mut assessment.rows {
        row.cpu_ns_per_io = 0.0;
    }
    let page = page_of(&record, &assessment);
    for text in [
        ">CPU per op<",
        ">Processors<",
        "id=\"machine\"",
        "href=\"#machine\"",
        "href=\"#model\"",
        "href=\"#time\"",
    ] {
        assert!(!page.contains(text), "{text}");
    }
    assert!(page.contains("Measured by another program"));
}

/// The stories: an address of which no document gives a limit had "Figures and sources of the
/// limits" above an empty table, and systems without an assumption had an empty card.
#[test]
fn no_card_is_empty() {
    let (record, assessment) = sample::run("7f3a2c", 1.0);
    let diagnosis = Diagnosis {
        assessment,
        expected: Some(Compared {
            limits: Vec::new(),
            ..sample::missed()
        }),
    };
    let page = blocklab_page::diagnosis(&record, &diagnosis);
    assert!(!page.contains("Figures and sources of the limits"));
    assert!(!page.contains("<tbody></tbody>"));
    let mut runs = sample::many(5);
    for (record, _) in &mut runs {
        sample::model(record, Origin::Simulated);
        record.targets[0].assumptions.clear();
    }
    let runs: Vec<_> = runs.iter().map(|(record, own)| (record, own)).collect();
    let page = blocklab_page::runs(&runs);
    assert!(page.contains("What was assumed, and which limits were in force"));
    assert!(!page.contains("<ul class=\"card assumptions\"></ul>"));
}

/// The story: a finding without figures had the heading "Evidence" above its rule.
#[test]
fn a_finding_without_figures_has_no_evidence() {
    let (record, mut assessment) = sample::run("7f3a2c", 1.0);
    assessment.findings.truncate(1);
    assert!(page_of(&record, &assessment).contains("<summary>Evidence</summary>"));
    assessment.findings[0].evidence.clear();
    let page = page_of(&record, &assessment);
    assert!(page.contains("<summary>Rule</summary>"));
    assert!(!page.contains("<summary>Evidence</summary>"));
}

/// The story: two runs side by side ended with "How the run went", and the place of their first error
/// had no unit.
#[test]
fn several_runs_went_and_an_offset_has_its_unit() {
    let (mut record, assessment) = sample::run("7f3a2c", 1.0);
    sample::fail(&mut record);
    let page = page_of(&record, &assessment);
    assert!(page.contains("How the run went") && page.contains("first at byte"));
    let (other, better) = sample::run("91be04c", 1.31);
    let page = blocklab_page::runs(&[(&record, &assessment), (&other, &better)]);
    assert!(page.contains("How the runs went"));
}

/// The story: a table of IOPS and p99 over depth was one chart, in which the microseconds stood on
/// the axis of IOPS.
#[test]
fn lines_of_two_units_have_a_chart_each() {
    let (record, assessment) = sample::run("7f3a2c", 1.0);
    let mut outcome = sample::outcome();
    for row in &mut outcome.tables[0].cells {
        let second = row[1].as_mut().expect("a figure");
        second.unit = "µs".to_owned();
    }
    let page = blocklab_page::study(&[(&record, &assessment)], &outcome);
    for label in ["Rate by depth: IOPS", "Rate by depth: µs"] {
        assert_eq!(
            page.matches(&format!("data-label=\"{label}\"")).count(),
            1,
            "{label}"
        );
    }
}

/// The story: a run that was interrupted in its ramp had "The load" above an empty card.
#[test]
fn a_case_without_an_operation_has_no_bars() {
    let (record, mut assessment) = sample::run("7f3a2c", 1.0);
    assessment.rows.truncate(1);
    assert!(page_of(&record, &assessment).contains("id=\"suite\""));
    assessment.rows[0].directions.clear();
    assert!(!page_of(&record, &assessment).contains("id=\"suite\""));
}

/// The stories: of results of fio, "this is the plan that ran" stood above nothing; and the command
/// of a fleet ran its load on one machine, on targets that no machine has.
#[test]
fn a_plan_is_run_again_where_it_ran_or_not_at_all() {
    let (mut record, assessment) = sample::run("7f3a2c", 1.0);
    record.requested.native.clear();
    let page = page_of(&record, &assessment);
    assert!(page.contains("its results hold no plan to run again"));
    assert!(!page.contains("This is the plan that ran") && !page.contains("blocklab run"));
    let (mut record, assessment) = sample::run("7f3a2c", 1.0);
    record.fleet = Some(Box::new(Fleet {
        hosts: ["h1", "h1#2"].map(host).into(),
        ..Fleet::default()
    }));
    record.targets[0].path = "h1:/data/blocklab.scratch".to_owned();
    let mut other = record.targets[0].clone();
    other.path = "h1#2:/data/blocklab.scratch".to_owned();
    record.targets.push(other);
    let page = page_of(&record, &assessment);
    let command =
        "blocklab fleet run quick.toml --hosts h1,h1 --target h1:/data --target 'h1#2:/data'";
    assert!(page.contains(command), "{command}");
    assert!(!page.contains("blocklab run"));
}

fn host(name: &str) -> FleetHost {
    FleetHost {
        name: name.to_owned(),
        run: "7f3a2c".to_owned(),
        status: Status::Complete,
        failure: None,
        environment: Environment::default(),
        clock: None,
    }
}

/// The story: the page of results of DiskSpd without `-L` had a chart of latencies from 1 to 10 ns
/// without a line, and its script ended there, so that an empty card followed.
#[test]
fn without_latencies_there_is_no_chart_of_them() {
    let (record, mut assessment) = sample::run("7f3a2c", 1.0);
    assert!(page_of(&record, &assessment).contains("href=\"#latency\""));
    for row in &mut assessment.rows {
        row.directions[0].curve.clear();
        row.directions[0].bins.clear();
    }
    let page = page_of(&record, &assessment);
    assert!(!page.contains("#latency") && !page.contains("id=\"latency\""));
}
