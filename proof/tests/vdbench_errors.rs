//! What failed operations lead to in parameter files of Vdbench: `data_errors=`. Storage fails
//! here because its file is cut short behind the program's back.

use blocklab_proof::{Lab, Printed};

/// Two storage definitions, one workload on each, two runs. The file of the first is cut short
/// when the first run begins.
fn run(lab: &Lab, general: &str, lun: &str) -> Printed {
    let cut = "sh cut.sh";
    let script = format!("truncate -s 4096 '{lun}'\n");
    lab.write("cut.sh", script);
    let file = format!(
        "{general}\nsd=sd1,lun=\"{lun}\",size=4m,threads=2\nsd=sd2,lun=other,size=4m,threads=2\n\
         wd=wd1,sd=sd1\nwd=wd2,sd=sd2\n\
         rd=default,iorate=200,elapsed=2,interval=1\n\
         rd=rd1,wd=wd*,startcmd=\"{cut}\"\nrd=rd2,wd=wd*\n"
    );
    lab.write("parm", file);
    lab.blocklab(["vdbench", "-f", "parm", "-o", "out"])
}

fn report(lab: &Lab, name: &str) -> String {
    lab.read(format!("out/{name}"))
}

/// `data_errors=remove` was refused. A script that leaves a broken disk out and goes on with the
/// others could not run at all.
#[test]
fn storage_that_fails_is_used_no_more_and_the_others_go_on() {
    let lab = Lab::new();
    let ran = run(&lab, "data_errors=remove", "lun");
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let removed = "sd=sd1 had as many errors as data_errors= allows and is used no more";
    assert_eq!(ran.out.matches(removed).count(), 1, "{}", ran.out);
    assert!(report(&lab, "errorlog.html").contains(removed));
    let rows = |name: &str, run: &str| {
        let text = report(&lab, name);
        let (_, rows) = text.split_once(&format!("RD={run};")).unwrap_or_default();
        let rows = rows.split("Starting RD=").next().unwrap_or_default();
        rows.matches(" avg_2-2 ").count()
    };
    assert_eq!((rows("sd2.html", "rd1"), rows("sd2.html", "rd2")), (1, 1));
    assert_eq!(rows("sd1.html", "rd2"), 0, "{}", report(&lab, "sd1.html"));
}

/// Without it, all ends at the nth error, and no further run begins.
#[test]
fn so_many_errors_end_all_runs() {
    let lab = Lab::new();
    let ran = run(&lab, "dataerrors=3", "lun");
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("Starting RD=rd1;"), "{}", ran.out);
    assert!(!ran.out.contains("Starting RD=rd2;"), "{}", ran.out);
    let record = lab.store().load("latest").expect("the run was kept").record;
    let jobs = record.jobs();
    let errors: u64 = jobs
        .flat_map(|job| &job.errors)
        .map(|error| error.count)
        .sum();
    // Two operations were in flight.
    assert!((3..=4).contains(&errors), "{errors} errors");
}

/// A run of which every operation failed ended with `completed successfully` and status 0. The
/// original ends at the 50th error.
#[test]
fn fifty_errors_end_all_runs_where_nothing_else_is_requested() {
    let lab = Lab::new();
    let ran = run(&lab, "messagescan=no", "lun");
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    assert!(!ran.out.contains("Starting RD=rd2;"), "{}", ran.out);
    assert!(!ran.out.contains("completed successfully"), "{}", ran.out);
}

/// The command finds where it was. The name of the file is one that would be a command of its own
/// if it were pasted into the line.
#[test]
fn a_command_gets_the_place_of_the_first_error() {
    let lab = Lab::new();
    let command = "data_errors=\"echo first: $lun at $lba, $size. > $output/told; echo heard\"";
    let ran = run(&lab, command, "lun;touch pwned");
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let printed = lab.read("out/told");
    let lba = printed
        .strip_prefix("first: lun;touch pwned at ")
        .and_then(|rest| rest.strip_suffix(", .\n"));
    let lba = lba.unwrap_or_else(|| panic!("{printed}"));
    let lba: u64 = lba.parse().expect(lba);
    assert!(lba >= 4096 && lba.is_multiple_of(4096), "{lba}");
    assert!(ran.out.contains("\nheard\n"), "{}", ran.out);
    assert!(
        !lab.path().join("pwned").exists(),
        "the name was taken for a command"
    );
    assert!(!ran.out.contains("Starting RD=rd2;"), "{}", ran.out);
}
