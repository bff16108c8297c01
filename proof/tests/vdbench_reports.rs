//! The files that a parameter file of Vdbench leaves, line by line, against those of 5.04.07:
//! figures are of the run, all else is literal.

use blocklab_proof::{Lab, good};

const FILE: &str = "sd=sd1,lun=sim:local@i3.xlarge\nsd=sd2,lun=sim:local@i3.xlarge\n\
                    wd=wd1,sd=sd1,rdpct=100,skew=75\nwd=wd2,sd=sd2,rdpct=0\n\
                    rd=rd1,wd=wd*,iorate=(1000,2000),elapsed=3,interval=1\n";

/// Runs `file`; its reports go to `out`.
fn run(lab: &Lab, file: &str) {
    lab.write("parm", file);
    let ran = lab.blocklab(["vdbench", "-f", "parm", "-o", "out"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
}

fn report(lab: &Lab, name: &str) -> String {
    lab.read(format!("out/{name}"))
}

/// Each digit as 9, so that lines of different runs can be compared.
fn shape(text: &str) -> String {
    let digit = |letter: char| if letter.is_ascii_digit() { '9' } else { letter };
    text.chars().map(digit).collect()
}

/// The summary lacked its two head lines and the link to the status, its title carried an absolute
/// path, and links were elsewhere.
#[test]
fn a_summary_begins_as_that_of_the_original() {
    let lab = Lab::new();
    run(&lab, FILE);
    let summary = report(&lab, "summary.html");
    let lines: Vec<&str> = summary.lines().collect();
    assert_eq!(lines[0], "<title>Vdbench out/summary.html</title><pre>");
    assert!(lines[1].starts_with("Written by blocklab "), "{}", lines[1]);
    assert!(!summary.contains("Oracle"), "{summary}");
    let created = lines[2].strip_prefix("Vdbench summary report, created ");
    let created = created.unwrap_or_else(|| panic!("{}", lines[2]));
    assert!(created.ends_with(" UTC)"), "{created}");
    assert_eq!(shape(&created[..9]), "99:99:99 ", "{created}");
    let rest = lines[3..26].join("\n");
    assert_eq!(
        rest,
        "\n\
         Link to logfile:                 <A HREF=\"logfile.html\">logfile</A>\n\
         Run totals:                      <A HREF=\"totals.html\">totals</A>\n\
         Vdbench status:                  <A HREF=\"status.html\">status</A>\n\
         Copy of input parameter files:   <A HREF=\"parmfile.html\">parmfile</A>\n\
         Copy of parameter scan detail:   <A HREF=\"parmscan.html\">parmscan</A>\n\
         Link to errorlog:                <A HREF=\"errorlog.html\">errorlog</A>\n\
         Link to flatfile:                <A HREF=\"flatfile.html\">flatfile</A>\n\
         \n\
         Link to HOST reports:            <A HREF=\"localhost.html\">localhost</A>\n\
         Link to response time histogram: <A HREF=\"histogram.html\">histogram</A>\n\
         Link to workload skew report:    <A HREF=\"skew.html\">skew</A>\n\
         Link to SD reports:              <A HREF=\"sd1.html\">sd1</A>      \
         <A HREF=\"sd2.html\">sd2</A>     \n\
         \n\
         Link to workload report:         <A HREF=\"wd1.html\">wd1</A>\n\
         Link to workload report:         <A HREF=\"wd2.html\">wd2</A>\n\
         \n\
         Link to Run Definitions:         <A HREF=\"#_0\">rd1 For loops: iorate=1000</A>\n\
         \u{20}                                               <A HREF=\"#_1\">iorate=2000</A>\n\
         \n\
         Link to config output:           <A HREF=\"config.html\">config</A>\n\
         \n"
    );
    assert!(
        lines[26].starts_with("<a name=\"_0\"></a><i><b>"),
        "{}",
        lines[26]
    );
    let banner = "Starting RD=rd9; I/O rate: 9999; elapsed=9; For loops: iorate=9999</b></i>";
    assert!(shape(lines[26]).ends_with(banner), "{}", lines[26]);
    assert_eq!(&lines[27..29], ["", ""]);
    assert!(lines[29].ends_with("    interval        i/o   MB/sec   bytes   read     resp     read    write     read    write     resp  queue "));
    assert!(lines[30].ends_with("    rate  1024**2     i/o    pct     time     resp     resp      max      max   stddev  depth "));
    let end = lines[lines.len() - 1];
    assert!(
        end.ends_with(" Vdbench execution completed successfully"),
        "{end}"
    );
}

/// The story: parameters from a pipe were read once for the runs and again for their copy, which was empty.
#[test]
fn parameters_from_a_pipe_are_copied() {
    let lab = Lab::new();
    let sd = "sd=sd1,lun=sim:gp3:10GiB";
    let rd = "rd=rd1,wd=wd1,iorate=100,elapsed=2,interval=1";
    lab.write("parm", format!("{sd}\nwd=wd1,sd=sd1\n{rd}\n"));
    good(lab.shell("cat parm | blocklab vdbench --no-save --quiet -f /dev/stdin -o out"));
    assert!(lab.read("out/parmfile.html").contains(rd));
}

/// The head of the columns was before each run, and the title was missing.
#[test]
fn totals_have_their_column_head_once() {
    let lab = Lab::new();
    run(&lab, FILE);
    let totals = report(&lab, "totals.html");
    let begin =
        "<title>Vdbench out/totals.html</title><pre>\nRun totals\n\n\nLink to Run Definitions: ";
    assert!(totals.starts_with(begin), "{totals}");
    assert_eq!(totals.matches("interval        i/o").count(), 1, "{totals}");
    let runs: Vec<&str> = totals.split("<a name=").skip(1).collect();
    let first: Vec<&str> = runs[0].lines().collect();
    assert_eq!(first.len(), 7, "{totals}");
    assert!(first[5].contains(" avg_2-3 "), "{totals}");
    let second: Vec<&str> = runs[1].lines().collect();
    assert_eq!(second.len(), 3, "{totals}");
    assert!(
        second[1].is_empty() && second[2].contains(" avg_2-3 "),
        "{totals}"
    );
}

/// Skew had another table, without times, depth and total. Each line has the time before it.
#[test]
fn the_skew_report_has_the_tables_of_the_original() {
    let lab = Lab::new();
    run(&lab, FILE);
    let skew = report(&lab, "skew.html");
    assert!(
        skew.starts_with("<title>Vdbench out/skew.html</title><pre>\nWorkload skew report\n\n")
    );
    let rows = |first: &str| {
        let rows = skew
            .lines()
            .filter(move |line| line.split(' ').nth(1) == Some(first));
        rows.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(rows("SD:").len(), 2, "{skew}");
    assert_eq!(rows("WD:").len(), 2, "{skew}");
    assert_eq!(rows("Total").len(), 4, "{skew}");
    let head = "SD:                 rate  1024**2     i/o    pct     time     resp     resp      max   stddev depth ";
    assert!(rows("SD:")[0].ends_with(head), "{skew}");
    let row = &rows("wd1")[0];
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(shape(cells[0]), "99:99:99.999", "{row}");
    assert_eq!((cells.len() >= 14, cells[12]), (true, "75.00%"), "{row}");
    assert_eq!(row.find("75.00%"), Some(13 + 14 + 86 + 4), "{row}");
}

/// A monitor that waits for `(pid  N) connected to master N` waited for ever, and fields ended at a
/// tab without the blank before it.
#[test]
fn the_status_tells_of_processes() {
    let lab = Lab::new();
    run(&lab, FILE);
    let status = report(&lab, "status.html");
    let begin = "<title>Vdbench out/status.html</title><pre>\n* Vdbench status\n\n* ";
    assert!(status.starts_with(begin), "{status}");
    let events: Vec<&str> = status.lines().filter(|line| line.contains('\t')).collect();
    let event = |index: usize| events[index].split_once(" \t").unwrap_or_default();
    assert_eq!(event(0).1, "Starting slaves");
    assert_eq!(
        shape(event(0).0.rsplit_once('-').unwrap_or_default().0),
        "99/99/9999-99:99:99"
    );
    let slave = event(1).1;
    let pid = slave.rsplit(' ').next().unwrap_or_default();
    assert_eq!(
        slave,
        format!("Slave localhost-0 (pid {pid:>6}) connected to master {pid}")
    );
    assert_eq!(event(5).1, "Starting\trd=rd1\tFor loops: iorate=1000");
}

/// Formatting carried the workload's own size, share of reads and seeks.
#[test]
fn rows_of_formatting_carry_their_own_figures() {
    let lab = Lab::new();
    let file = "sd=sd1,lun=lun,size=4m\nwd=wd1,sd=sd1,rdpct=70,xfersize=8k\n\
                rd=rd1,wd=wd1,iorate=100,elapsed=2,interval=1\n";
    run(&lab, file);
    let flat = report(&lab, "flatfile.html");
    let cells = |run: &str, label: &str| -> Vec<String> {
        let mut rows = flat.lines().filter(|row| row.contains(&format!(" {run} ")));
        let row = rows
            .find(|row| row.contains(&format!(" {label} ")))
            .unwrap_or_default();
        let cells = row.split_whitespace().map(str::to_owned);
        // xfersize threads rdpct rhpct whpct seekpct, then version compratio dedupratio.
        let cells: Vec<String> = cells.collect();
        [&cells[18..24], &cells[25..28]].concat()
    };
    let format = ["131072", "2", "0", "0", "0", "n/a", "n/a", "1", "n/a"];
    assert_eq!(cells("SD_format", "1"), format, "{flat}");
    let own = ["8192", "8", "70", "0", "0", "100", "n/a", "1", "n/a"];
    assert_eq!(cells("rd1", "avg_2-2"), own, "{flat}");
    assert!(flat.contains(" rd1  avg_2-2 100 "), "{flat}");
}

/// `parseflat` was refused, and scripts that call it behind a run ended there.
#[test]
fn columns_of_a_flat_file_become_a_table() {
    let lab = Lab::new();
    run(&lab, FILE);
    let line = "vdbench parseflat -i out -o flat.csv -c Run reqrate threads -a";
    let ran = lab.blocklab(line.split(' '));
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(
        ran.out.ends_with(" ParseFlat completed successfully.\n"),
        "{}",
        ran.out
    );
    let expected = "Run,reqrate,threads\nrd1,1000,8\nrd1,2000,8\n";
    assert_eq!(lab.read("flat.csv"), expected);
    let ran = lab.blocklab(["vdbench", "parse", "-i", "out/flatfile.html", "-c", "all"]);
    let header = ran.out.lines().next().unwrap_or_default();
    assert!(
        header.starts_with("tod,timestamp,Run,Interval,"),
        "{header}"
    );
}

/// With `hd=h1` the reports of the host are called so.
#[test]
fn reports_carry_the_name_of_the_host() {
    let lab = Lab::new();
    run(&lab, &format!("hd=h1,system=localhost\n{FILE}"));
    assert!(report(&lab, "h1.html").contains("\nHost summary report(s) for host=h1\n"));
    assert!(report(&lab, "h1-0.html").contains(" avg_2-3 "));
    assert!(report(&lab, "status.html").contains("Slave h1-0 (pid "));
}

/// `histogram=` with numbers of which most have no unit, end to end.
#[test]
fn a_histogram_has_the_buckets_that_were_requested() {
    let lab = Lab::new();
    let list = "histogram=(default,20,40,60,80,100,200,400,600,800,1m,2m)";
    run(&lab, &format!("{list}\n{FILE}"));
    let text = report(&lab, "histogram.html");
    assert!(text.contains("<pre>\nTotal response time histogram.\n\n\nLink to Run Definitions: "));
    let (_, reads) = text.split_once("\nReads:\n").expect("there are reads");
    let edges: Vec<&str> = reads
        .lines()
        .skip(2)
        .take_while(|line| !line.is_empty())
        .map(|line| line[..23].trim())
        .collect();
    assert_eq!(
        edges,
        [
            "0.000 <       0.020",
            "0.020 <       0.040",
            "0.040 <       0.060",
            "0.060 <       0.080",
            "0.080 <       0.100",
            "0.100 <       0.200",
            "0.200 <       0.400",
            "0.400 <       0.600",
            "0.600 <       0.800",
            "0.800 <       1.000",
            "1.000 <       2.000",
            "2.000 <         max",
        ]
    );
}

/// `avg_2-3` showed a longest response of 2.07 ms below an interval with 2.08 ms, and `sd1.html`
/// showed 2.08 ms again: intervals knew their maxima to a bucket of the histogram, the average knew
/// them exactly.
#[test]
fn an_average_has_the_maximum_of_its_intervals() {
    let lab = Lab::new();
    lab.write("parm", FILE);
    let ran = lab.blocklab(["vdbench", "-f", "parm", "-o", "out", "--seed", "1"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let flat = report(&lab, "flatfile.html");
    let rows: Vec<Vec<&str>> = flat
        .lines()
        .filter(|row| row.contains(" rd1 "))
        .map(|row| row.split_whitespace().collect())
        .collect();
    assert_eq!(rows.len(), 8, "{flat}");
    // resp_max, read_max and write_max.
    for run in rows.chunks(4) {
        for column in 12..15 {
            let max = |row: &[&str]| row[column].parse::<f64>().expect("a number");
            let highest = max(&run[1]).max(max(&run[2]));
            assert_eq!(highest, max(&run[3]), "column {column}: {flat}");
            assert!(max(&run[0]) > 0.0, "column {column}: {flat}");
        }
    }
    // sd1 is only read, so its longest read is that of the whole.
    let read_max = |name: &str| {
        let text = report(&lab, name);
        let mut averages = text.lines().filter(|row| row.contains(" avg_2-3 "));
        let row = averages.next_back().unwrap_or_default().to_owned();
        row.split_whitespace().nth(9).map(str::to_owned)
    };
    assert_eq!(read_max("sd1.html"), read_max("summary.html"));
    assert_eq!(read_max("wd1.html"), read_max("summary.html"));
}
