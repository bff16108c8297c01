use std::path::Path;

use blocklab_vdbench::{Command, parse, prepare};

use super::*;

/// After a run that failed at its start `avg_0-0` showed the longest times of the run before: the
/// last measurement of the record was taken for its own.
#[test]
fn a_run_that_did_not_start_shows_no_figures_of_the_run_before() {
    let file = "sd=sd1,lun=lun,size=4m\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=200,elapsed=2\n";
    let command = Command {
        files: vec!["parm".to_owned()],
        ..Command::default()
    };
    let script = parse(&command, &|_| Ok(file.to_owned()), &|_| false).expect(file);
    let inputs = Inputs {
        sizes: vec![4 << 20],
        ..Inputs::default()
    };
    let prepared = prepare(&script, &inputs).expect(file);
    let place = tempfile::tempdir().expect("a directory can be made");
    let out = place.path().join("out");
    let folder = Folder::make(&out.to_string_lossy()).expect("it can be written");
    let store = Store::open(place.path().join("runs"));
    let options = OwnOptions {
        no_save: true,
        ..OwnOptions::default()
    };
    let golden = include_str!("../../../../record/golden/v2/everything.json");
    let mut record = Record::from_json(golden).expect("a golden record");
    record.failure = Some("the device is gone".to_owned());
    let before = record.measurements.len();
    assert!(before > 0, "the run before must have figures");

    let mut reporter = Reporter::new(
        &script,
        &prepared,
        &inputs,
        &folder,
        &store,
        &options,
        &[None],
    )
    .expect("its files can be made");
    let mut case = prepared.plan.cases[0].clone();
    assert!(reporter.adapt(&mut case, &record));
    reporter.begins();
    reporter.ended(&record);
    assert!(reporter.trouble.is_none(), "{:?}", reporter.trouble);

    let text = |name: &str| std::fs::read_to_string(Path::new(&out).join(name)).expect(name);
    assert!(
        !text("totals.html").contains(" avg_"),
        "{}",
        text("totals.html")
    );
    assert!(
        !text("flatfile.html").contains(" avg_"),
        "{}",
        text("flatfile.html")
    );
    let reported = " rd=rd1 did not start: the device is gone\n";
    assert!(
        text("errorlog.html").ends_with(reported),
        "{}",
        text("errorlog.html")
    );
}
