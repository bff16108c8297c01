//! Loads of fio and Vdbench on several hosts: what their command lines start, and what they leave.

mod stand;

use std::fs;

use blocklab_proof::rack::{Rack, can_run};
use blocklab_proof::{Lab, json};
use stand::kernel::Loop;

/// What became of a command on these hosts.
fn said(rack: &Rack, words: &[String]) -> (Option<i32>, String, String) {
    let output = rack.command().args(words).output().expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// Two hosts, a job each, and all of it together, as fio's client has them.
#[test]
fn clients_of_fio_report_by_host_and_together() {
    let Some(rack) = can_run().then(|| Rack::new(0)).flatten() else {
        return;
    };
    let job = rack.lab.path().join("job.fio");
    let text = format!(
        "[global]\nioengine=psync\nsize=4m\nbs=16k\ndirectory={}\n[reads]\nrw=randread\nfilename_format=f${{MARK}}.$filenum\n",
        rack.lab.path().display()
    );
    fs::write(&job, text).expect("a job file");
    let hosts = [rack.host(1), rack.host(2)];
    let list = rack.lab.path().join("hosts.list");
    fs::write(&list, format!("{}\n{}\n", hosts[0], hosts[1])).expect("a list of hosts");
    let line = format!(
        "fio --client={} {} --output-format=json",
        list.display(),
        job.display()
    );
    let output = rack
        .command()
        .args(words(&line))
        .env("MARK", "7")
        .output()
        .expect("it starts");
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{out}{err}");
    let report = json(&out);
    let stats = report["client_stats"].as_array().expect("clients");
    let of = |place: usize, key: &str| stats[place][key].as_str().unwrap_or_default().to_owned();
    assert_eq!(stats.len(), 3, "{out}");
    assert_eq!(
        (of(0, "jobname"), of(0, "hostname")),
        ("reads".to_owned(), hosts[0].clone())
    );
    assert_eq!(
        (of(1, "jobname"), of(1, "hostname")),
        ("reads".to_owned(), hosts[1].clone())
    );
    assert_eq!(of(2, "jobname"), "All clients");
    let ios = |place: usize| stats[place]["read"]["total_ios"].as_u64().expect("reads");
    assert_eq!((ios(0), ios(1)), (256, 256));
    assert_eq!(ios(2), 512, "the sum of all");
    // The variable came from here; the files were made there, each under the name of its host.
    for host in &hosts {
        let made = rack.lab.path().join(format!("{host}.f7.0"));
        assert!(made.exists(), "{}", made.display());
    }
    let line = format!(
        "fio --client={} --name=a --rw=read --size=64k --directory={}",
        hosts[0],
        rack.lab.path().display()
    );
    let (code, out, err) = said(&rack, &words(&line));
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(
        out.contains(&format!("<{}> a: (g=0): rw=read", hosts[0])),
        "{out}"
    );
    assert!(!out.contains("All clients"), "one client is no sum: {out}");
}

/// A host that refuses ends it before a byte is written anywhere.
#[test]
fn a_client_that_refuses_ends_all() {
    let Some(rack) = can_run().then(|| Rack::new(1)).flatten() else {
        return;
    };
    let line = format!(
        "fio --client={} --client={} --name=a --rw=write --size=64k --directory=/nowhere/at/all",
        rack.host(1),
        rack.host(2)
    );
    let (code, out, err) = said(&rack, &words(&line));
    // As many as there are clients that failed.
    assert_eq!(code, Some(2), "{out}{err}");
    assert!(err.contains("is not a directory"), "{err}");

    // A device with data stays as it is, whichever host is asked.
    let Some(device) = Loop::attach(1 << 20, &[]) else {
        return;
    };
    fs::write(device.path(), vec![7; 1 << 20]).expect("root writes to devices");
    let line = format!(
        "fio --client={} --client={} --name=a --rw=write --size=64k --filename={}",
        rack.host(1),
        rack.host(2),
        device.path()
    );
    let (code, out, err) = said(&rack, &words(&line));
    assert_eq!(code, Some(2), "{out}{err}");
    assert!(err.contains("--destroy-data"), "{err}");
    assert!(device.bytes().iter().all(|byte| *byte == 7));
}

/// Two hosts with a file each: the summary is of both, and each has a report of its own.
#[test]
fn hosts_of_vdbench_report_together_and_alone() {
    let Some(rack) = can_run().then(|| Rack::new(2)).flatten() else {
        return;
    };
    let folder = rack.lab.path();
    let file = format!(
        "hd=h1,system={}\nhd=h2,system={}\n\
         sd=sd1,lun={2}/a,size=4m,host=h1\nsd=sd2,lun={2}/b,size=4m,host=h2\n\
         wd=wd1,sd=*,xfersize=4k,rdpct=50\nrd=rd1,wd=wd1,iorate=200,elapsed=3,interval=1\n",
        rack.host(1),
        rack.host(2),
        folder.display()
    );
    fs::write(folder.join("parm"), file).expect("a parameter file");
    let out = folder.join("out");
    let line = format!(
        "vdbench -f {} -o {}",
        folder.join("parm").display(),
        out.display()
    );
    let (code, said, err) = said(&rack, &words(&line));
    assert_eq!(code, Some(0), "{said}{err}");
    let report = |name: &str| fs::read_to_string(out.join(format!("{name}.html"))).expect(name);
    let rate = |name: &str| -> f64 {
        let text = report(name);
        let row = text.lines().rev().find(|line| line.contains(" avg_"));
        let row = row.unwrap_or_else(|| panic!("{name}: {text}"));
        let mut cells = row.split_whitespace().skip(2);
        cells
            .next()
            .and_then(|cell| cell.parse().ok())
            .expect("a rate")
    };
    let (all, h1, h2) = (rate("summary"), rate("h1"), rate("h2"));
    // The rates are added; what is asked for is what all do together.
    assert!((all - h1 - h2).abs() < 0.5, "{all} is not {h1} and {h2}");
    assert!(all > 0.0 && h1 > 0.0 && h2 > 0.0, "{all} = {h1} + {h2}");
    for name in ["h1-0", "h2-0", "sd1", "sd2", "wd1", "flatfile", "histogram"] {
        assert!(report(name).contains("rd1") || name == "flatfile", "{name}");
    }
    assert!(report("skew").contains("h2-0"), "{}", report("skew"));
    assert!(report("summary").contains("h1.html"), "links to hosts");
}

/// What needs no engine: what is refused, and with which words.
#[test]
fn what_clients_cannot_do_is_said() {
    let lab = Lab::new();
    for (line, expected) in [
        ("fio --server", "is no server of fio"),
        ("fio --client=h1", "No job(s) defined"),
        ("fio --client=sock:/tmp/a --name=a --size=1m", "no socket"),
        (
            "fio --client=h1 --name=a --size=1m --status-interval=1",
            "does not go with --client",
        ),
    ] {
        let said = lab.blocklab(line.split_whitespace());
        assert_eq!(said.code, Some(1), "{line}: {}{}", said.out, said.err);
        assert!(said.err.contains(expected), "{line}: {}", said.err);
    }
}

/// What a parameter file of several hosts cannot have is refused before any of them is asked.
#[test]
fn what_hosts_of_vdbench_cannot_do_is_said() {
    let lab = Lab::new();
    let hosts = "hd=h1,system=192.0.2.1\nhd=h2,system=192.0.2.2\n";
    let storage = "sd=sd1,lun=/data/a,size=4m\nwd=wd1,sd=*\n";
    let own = "sd=sd1,lun=/data/a,size=4m,host=h1\nwd=wd1,sd=*\n";
    let run = "rd=rd1,wd=wd1,iorate=100,elapsed=4,interval=1\n";
    let curve = "rd=rd1,wd=wd1,iorate=curve,elapsed=4,interval=1\n";
    for (text, expected) in [
        (format!("{hosts}{storage}{curve}"), "iorate=curve"),
        (format!("validate=yes\n{hosts}{storage}{run}"), "validate="),
        (
            format!("concatenatesds=yes\n{hosts}{storage}{run}"),
            "concatenatesds=",
        ),
        (format!("{hosts}{own}{run}"), "no storage for hd=h2"),
        (
            format!("{hosts}sd=sd1,lun=/a,size=4m,host=h3\n"),
            "there is no hd=h3",
        ),
    ] {
        lab.write("parm", &text);
        // Its banner is on standard output already.
        let said = lab.blocklab("vdbench -f parm --quiet".split_whitespace());
        assert_eq!(said.code, Some(2), "{text}: {}{}", said.out, said.err);
        assert!(said.err.contains(expected), "{text}: {}", said.err);
    }
    // The story: these had no effect, so nothing was validated, and all ran once.
    lab.write("parm", format!("{hosts}{storage}{run}"));
    for (option, expected) in [("-v", "validate="), ("-j", "validate="), ("-l3", "loop=")] {
        let said = lab.blocklab(["vdbench", "-f", "parm", "--quiet", option]);
        assert_eq!(said.code, Some(2), "{option}: {}{}", said.out, said.err);
        assert!(said.err.contains(expected), "{option}: {}", said.err);
    }
}
