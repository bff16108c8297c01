use std::path::Path;

use blocklab_vdbench::{Command, parse, prepare};

use super::*;

/// Calls `work` with the reporter of a parameter file, and with its output directory.
fn with_reporter(text: &str, work: impl FnOnce(&mut Reporter<'_>, &Path)) {
    let command = Command {
        files: vec!["parm".to_owned()],
        ..Command::default()
    };
    let file = parse(&command, &|_| Ok(text.to_owned()), &|_| false).expect(text);
    let inputs = Inputs {
        sizes: vec![4 << 20; file.sds.len()],
        ..Inputs::default()
    };
    let prepared = prepare(&file, &inputs).expect(text);
    let place = tempfile::tempdir().expect("a directory can be made");
    let out = place.path().join("out");
    let folder = Folder::make(&out.to_string_lossy()).expect("it can be written");
    let store = Store::open(place.path().join("runs"));
    let options = OwnOptions {
        no_save: true,
        ..OwnOptions::default()
    };
    let validated: Vec<_> = file.sds.iter().map(|_| None).collect();
    let mut reporter = Reporter::new(
        &file, &prepared, &inputs, &folder, &store, &options, &validated,
    );
    reporter.begin_round(0).expect("its files can be made");
    work(&mut reporter, &out);
}

/// After a run that failed at its start `avg_0-0` showed the longest times of the run before: the
/// last measurement of the record was taken for its own.
#[test]
fn a_run_that_did_not_start_shows_no_figures_of_the_run_before() {
    let file = "sd=sd1,lun=lun,size=4m\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=200,elapsed=2\n";
    let golden = include_str!("../../../../record/golden/v2/everything.json");
    let mut record = Record::from_json(golden).expect("a golden record");
    record.failure = Some("the device is gone".to_owned());
    let before = record.measurements.len();
    assert!(before > 0, "the run before must have figures");

    with_reporter(file, |reporter, out| {
        let mut case = reporter.prepared.plan.cases[0].clone();
        assert!(reporter.adapt(&mut case, &record));
        reporter.begins();
        reporter.ended(&record);
        assert!(reporter.trouble.is_none(), "{:?}", reporter.trouble);

        let text = |name: &str| std::fs::read_to_string(out.join(name)).expect(name);
        for name in ["totals.html", "flatfile.html"] {
            assert!(!text(name).contains(" avg_"), "{}", text(name));
        }
        let reported = " rd=rd1 did not start: the device is gone\n";
        let errors = text("errorlog.html");
        assert!(errors.ends_with(reported), "{errors}");
    });
}

/// The story: the report of `sd=summary` was written over the summary, and a storage definition and a
/// workload of one name shared a file.
#[test]
fn a_definition_with_the_name_of_a_report_has_one_of_its_own() {
    let file = "sd=summary,lun=/data/a,size=4m\nwd=totals,sd=summary\nwd=summary,sd=summary\n\
                rd=rd1,wd=*,iorate=200,elapsed=4,interval=1\n";
    with_reporter(file, |_, out| {
        let text = |name: &str| std::fs::read_to_string(out.join(name)).expect(name);
        let summary = text("summary.html");
        assert!(summary.contains("Vdbench summary report"), "{summary}");
        assert!(
            summary.contains("<A HREF=\"sd_summary.html\">summary</A>"),
            "{summary}"
        );
        assert!(text("totals.html").contains("Run totals"));
        assert!(text("sd_summary.html").contains("SD report for sd=summary"));
        for (name, about) in [("wd_totals", "wd=totals"), ("wd_summary", "wd=summary")] {
            let report = text(&format!("{name}.html"));
            assert!(report.contains(&format!("Workload Report for {about}")));
            assert!(report.contains(&format!("{name}.histogram.html")));
        }
    });
}

/// The columns of a host whose name was the longest in the skew report began behind those of the others:
/// the name of the launching machine, which is not in it, counted instead.
#[test]
fn the_skew_report_has_room_for_the_names_of_hosts() {
    let file = "hd=first-of-two-hosts,system=10.0.0.1\nhd=h2,system=10.0.0.2\n\
                sd=sd1,lun=/data/a,size=4m,host=first-of-two-hosts\n\
                sd=sd2,lun=/data/b,size=4m,host=h2\n\
                wd=wd1,sd=*\nrd=rd1,wd=wd1,iorate=200,elapsed=4,interval=1\n";
    with_reporter(file, |reporter, _| {
        assert_eq!(reporter.shares().width, "first-of-two-hosts-0".len());
    });
}
