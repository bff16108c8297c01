//! By whatever command and shape of the load: a run that a limit holds back names it, one that its
//! latency holds back says so, and one that gets what it asked for names nothing.

use blocklab_proof::{Lab, good, json};

const GP3: &str = "gp3: volume IOPS";
const LATENCY: &str = "latency is the limit";

/// The statements of the newest run, but for the one that all is well.
fn statements(lab: &Lab) -> Vec<String> {
    let shown = json(&good(lab.blocklab(["show", "latest", "--json"])));
    let findings = shown["findings"].as_array().expect("findings").iter();
    let told = findings.filter(|finding| finding["rule"] != "sound");
    told.map(|told| told["statement"].as_str().expect("a statement").to_owned())
        .collect()
}

fn run(arguments: &[&str]) -> Vec<String> {
    let lab = Lab::new();
    let ran = lab.blocklab(arguments.iter().copied());
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    statements(&lab)
}

#[track_caller]
fn names(arguments: &[&str], wanted: &str) {
    let said = run(arguments);
    assert!(
        said.iter().any(|words| words.contains(wanted)),
        "{wanted}: {said:#?}"
    );
}

fn native<'a>(targets: &[&'a str], load: &'a str) -> Vec<&'a str> {
    let mut all = vec!["run", "--repeat", "1", "-q", "--seed", "1"];
    for target in targets {
        all.extend(["--target", target]);
    }
    all.extend(load.split_whitespace());
    all
}

/// The story: with two targets no limit was named, although each was exactly at its own.
#[test]
fn every_one_of_several_targets_names_its_limit() {
    let two = ["sim:gp3:500GiB", "sim:gp3:1TiB"];
    let wanted = "3,000 IOPS is the limit of each of 2 targets, documented for gp3: volume IOPS";
    names(
        &native(&two, "--rw randread --depth 64 --runtime 30s"),
        wanted,
    );
    let diskspd = ["diskspd", "-b4K", "-d30", "-o32", "-t2", "-r", "-Sh"];
    names(&[&diskspd[..], &two[..]].concat(), GP3);
    let job = |name, target| {
        [
            "--rw=randread",
            "--iodepth=64",
            "--ioengine=libaio",
            "--direct=1",
            "--time_based",
        ]
        .map(str::to_owned)
        .into_iter()
        .chain([format!("--filename={target}"), "--runtime=30".to_owned()])
        .fold(vec![format!("--name={name}")], |mut all, flag| {
            all.push(flag);
            all
        })
    };
    let jobs = [vec!["fio".to_owned()], job("a", two[0]), job("b", two[1])].concat();
    names(&jobs.iter().map(String::as_str).collect::<Vec<_>>(), GP3);
}

/// The story: two volumes on one instance passed together what it does not let pass, silently.
#[test]
fn volumes_of_one_instance_share_it_unless_their_hosts_differ() {
    let volume = |keys: &str| format!("sim:gp3:1TiB,iops=6000,throughput=500{keys}@m5.4xlarge");
    let load = "--rw randread --bs 256k --depth 64 --runtime 30s";
    let said = |a: &str, b: &str| run(&native(&[&volume(a), &volume(b)], load)).join("\n");
    let shared = said(",volume=a", ",volume=b");
    assert!(
        shared
            .contains("593.75 MB/s is the limit of 2 targets together, documented for m5.4xlarge"),
        "{shared}"
    );
    let apart = said(",host=a", ",host=b");
    assert!(
        apart.contains("500 MiB/s is the limit of each of 2 targets")
            && !apart.contains("m5.4xlarge"),
        "{apart}"
    );
}

/// One volume by two spellings is one volume, and a note says how to make two.
#[test]
fn the_same_address_twice_is_one_volume() {
    let lab = Lab::new();
    let targets = ["sim:gp3:1TiB", "sim:gp3:1024GiB"];
    good(lab.blocklab(native(&targets, "--rw randread --depth 64 --runtime 30s")));
    let shown = json(&good(lab.blocklab(["show", "latest", "--json"])));
    let notes = shown["notes"].to_string();
    assert!(
        notes.contains("are one volume; volume=a and volume=b"),
        "{notes}"
    );
    let iops = shown["rows"][0]["iops"]["value"].as_f64().expect("a rate");
    assert!(iops < 3100.0, "{iops}");
}

/// The story: a load with a rate that ran into a limit was told to go deeper; fio's was called good.
#[test]
fn a_rate_names_the_limit_that_it_ran_into_and_none_when_it_was_met() {
    let fio = |rate: &str| {
        let rate = format!("--rate_iops={rate}");
        let flags = "--name=a --filename=sim:gp3:1TiB@m5.4xlarge --rw=randread --iodepth=64 \
                     --runtime=30 --time_based --ioengine=libaio --direct=1";
        run(&[vec!["fio", &rate], flags.split_whitespace().collect()].concat())
    };
    for (rate, delivered) in [("20000", "20,000 IOPS were requested"), ("1500,1500", "")] {
        let said = fio(rate).join("\n");
        assert_eq!(said.contains(GP3), !delivered.is_empty(), "{rate}: {said}");
        assert!(said.contains(delivered), "{rate}: {said}");
    }
    assert_eq!(fio("2900"), Vec::<String>::new());
    let diskspd = |rate| {
        let flags = ["diskspd", "-b4K", "-d30", "-o32", "-t4", rate, "-r", "-Sh"];
        run(&[&flags[..], &["sim:gp3:1TiB@m5.4xlarge"]].concat()).join("\n")
    };
    assert!(diskspd("-g2000i").contains(GP3));
    assert!(!diskspd("-g700i").contains("limit"));
}

/// The story: 16 in flight gave half of what an io2 was bought for, and the run was good.
#[test]
fn below_the_limit_latency_is_named_with_what_would_reach_it() {
    let io2 = "sim:io2:4TiB,iops=64000@r5b.24xlarge";
    for depth in ["1", "2", "16"] {
        let load = format!("--rw randread --bs 16k --runtime 10s --depth {depth}");
        names(&native(&[io2], &load), LATENCY);
        names(&native(&[io2], &load), "in flight to reach 64,000 IOPS");
    }
}

/// The story: a burst that ended twice was not told at all, and one that ended once without the
/// name of its limit.
#[test]
fn credits_that_end_are_named_with_their_moment() {
    let volume = "sim:gp3:1TiB,iops=8000,throughput=500@m5.large";
    let load = "--rw read --bs 256k --depth 32 --runtime 30h";
    let said = run(&native(&[volume], load)).join("\n");
    assert!(
        said.contains("m5.large: EBS throughput (baseline)") && said.contains("2 times in all"),
        "{said}"
    );
    let minute = run(&native(
        &["sim:gp2:100GiB"],
        "--rw randread --depth 32 --runtime 60s",
    ));
    assert!(!minute.join("\n").contains("used up"), "{minute:?}");
}
