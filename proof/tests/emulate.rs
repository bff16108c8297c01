//! `blocklab emulate` from start to Record: a client writes and reads, a signal ends it, and the run
//! tells what was done. The client is written here, so that no other program is needed.

mod stand;

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

use blocklab_proof::{Lab, good, json};
use blocklab_workload::Direction;
use stand::serving::Served;

fn serve(lab: &Lab, arguments: &str) -> Served {
    Served::start(lab, &arguments.split(' ').collect::<Vec<_>>())
}

#[track_caller]
fn end(served: Served) {
    assert_eq!(served.end(), Some(0), "a signal is how it ends");
}

fn connect(path: &Path) -> UnixStream {
    let mut socket = UnixStream::connect(path).expect("it listens");
    socket.write_all(&3u32.to_be_bytes()).expect("flags");
    socket
        .write_all(b"IHAVEOPT\0\0\0\x01\0\0\0\0")
        .expect("the export without a name");
    // Greeting, size, flags.
    socket.read_exact(&mut [0; 18 + 10]).expect("served");
    socket
}

/// Sends a request, and gives the data of its reply.
fn ask(socket: &mut UnixStream, command: u16, offset: u64, data: &[u8], read: u32) -> Vec<u8> {
    let len = if read > 0 { read } else { data.len() as u32 };
    let mut request = 0x2560_9513u32.to_be_bytes().to_vec();
    request.extend_from_slice(&[0, 0]);
    request.extend_from_slice(&command.to_be_bytes());
    request.extend_from_slice(&[1; 8]);
    request.extend_from_slice(&offset.to_be_bytes());
    request.extend_from_slice(&len.to_be_bytes());
    request.extend_from_slice(data);
    socket.write_all(&request).expect("sent");
    let mut reply = vec![0; 16 + read as usize];
    socket.read_exact(&mut reply).expect("answered");
    assert_eq!(reply[4..8], [0; 4], "no error");
    reply.split_off(16)
}

const READ: u16 = 0;
const WRITE: u16 = 1;
const FLUSH: u16 = 3;

#[test]
fn what_a_program_did_to_a_served_volume_is_kept_and_diagnosed() {
    let lab = Lab::new();
    let server = serve(&lab, "gp2:1GiB --nbd unix:s --name db");
    let mut socket = connect(&lab.path().join("s"));
    for block in 0..4 {
        ask(&mut socket, WRITE, block * 4096, &[7; 4096], 0);
    }
    ask(&mut socket, FLUSH, 0, &[], 0);
    assert_eq!(ask(&mut socket, READ, 8192, &[], 4096), [7; 4096]);
    drop(socket);
    end(server);
    assert!(!lab.path().join("s").exists(), "the socket is gone");

    let record = lab.store().load("db").expect("found by its name").record;
    let measurement = &record.measurements[0];
    let load = measurement.observed.as_ref().expect("a served volume");
    assert_eq!((&*measurement.case, load.clients), ("db", 1));
    let ios = |direction| measurement.jobs[0].directions[&direction].ios;
    let done = [Direction::Write, Direction::Read, Direction::Sync].map(ios);
    assert_eq!(done, [4, 1, 1]);
    assert_eq!(load.directions[&Direction::Write].sequential_percent, 75.0);
    assert!(load.lateness.is_some(), "replies were timed");
    assert_eq!(load.balances.len(), 1, "{:?}", load.balances);
    let printed = json(&good(lab.blocklab(["diagnose", "db", "--json"])));
    // The story: the first sentence of a diagnosis did not say what held the programs back.
    let verdict = printed["verdict"].as_str().expect("a sentence");
    assert!(verdict.contains("no limit of the volume"), "{printed}");
}

/// What `emulate-ctl` says, as JSON.
fn control(lab: &Lab, command: &str) -> serde_json::Value {
    let words = ["emulate-ctl", "unix:c", "--json"].into_iter();
    json(&good(lab.blocklab(words.chain(command.split(' ')))))
}

/// A user's mistake, with an error of one line.
#[track_caller]
fn refused_in_a_line(lab: &Lab, arguments: &[&str], words: &str) {
    let ran = lab.blocklab(arguments.iter().copied());
    assert_eq!(ran.code, Some(2), "{arguments:?}: {}", ran.err);
    assert!(ran.err.contains(words), "{arguments:?}: {}", ran.err);
    // A value that no option takes is followed by the way to the help.
    let (line, _) = ran.err.split_once("\n\nFor more").unwrap_or((&ran.err, ""));
    assert_eq!(line.lines().count(), 1, "{arguments:?}: {}", ran.err);
}

#[test]
fn a_power_cut_takes_what_was_not_flushed_and_the_record_names_it() {
    let lab = Lab::new();
    let arguments = "gp3:10GiB --nbd unix:s --control unix:c --name db";
    let server = serve(&lab, arguments);
    let mut socket = connect(&lab.path().join("s"));
    ask(&mut socket, WRITE, 0, &[1; 4096], 0);
    ask(&mut socket, FLUSH, 0, &[], 0);
    ask(&mut socket, WRITE, 0, &[2; 4096], 0);
    let cut = control(&lab, "fault power-cut");
    assert_eq!(
        (&cut["lost_pages"], &cut["volumes"][0]["attached"]),
        (&1.into(), &false.into())
    );
    control(&lab, "fault attach");
    assert_eq!(ask(&mut socket, READ, 0, &[], 4096), [1; 4096]);
    control(&lab, "set iops=4000");
    refused_in_a_line(
        &lab,
        &["emulate-ctl", "unix:c", "credits", "drain"],
        "no burst bucket",
    );
    end(server);
    assert!(!lab.path().join("c").exists(), "the socket is gone");

    let record = lab.store().load("db").expect("found by its name").record;
    let load = record.measurements[0].observed.as_ref().expect("served");
    let commands: Vec<_> = load
        .events
        .iter()
        .map(|event| (&*event.command, event.hits))
        .collect();
    assert_eq!(
        commands,
        [
            ("fault power-cut", 1),
            ("fault attach", 0),
            ("set iops=4000", 0)
        ]
    );
    let printed = json(&good(lab.blocklab(["diagnose", "db", "--json"]))).to_string();
    assert!(
        printed.contains("injected on purpose: `fault power-cut`"),
        "{printed}"
    );
    assert!(printed.contains("`set iops=4000`"), "{printed}");
}

#[test]
fn several_volumes_of_an_instance_are_exports_of_one_server() {
    let lab = Lab::new();
    let arguments = "gp3:1GiB st1:125GiB --on m5.large --nbd unix:s --control unix:c --name db";
    let server = serve(&lab, arguments);
    let printed = control(&lab, "fault detach --volume db2");
    assert_eq!(
        (&printed["volumes"][0]["name"], &printed["volumes"][1]),
        (&"db2".into(), &().into())
    );
    ask(&mut connect(&lab.path().join("s")), WRITE, 0, &[1; 4096], 0);
    let printed = control(&lab, "status");
    let of = |nth: usize, key: &str| printed["volumes"][nth][key].clone();
    assert_eq!([of(0, "attached"), of(1, "attached")], [true, false]);
    assert_eq!([of(0, "writes"), of(1, "writes")], [1, 0]);
    end(server);
    let record = lab.store().load("db").expect("kept").record;
    let events = record.measurements.iter().map(|measurement| {
        let load = measurement.observed.as_ref().expect("served");
        load.events.len()
    });
    assert_eq!(events.collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn a_write_beyond_the_memory_limit_is_enospc_and_kept_as_such() {
    let lab = Lab::new();
    let arguments = "null --size 1MiB --memory-limit 8KiB --nbd unix:s";
    let server = serve(&lab, arguments);
    let mut socket = connect(&lab.path().join("s"));
    ask(&mut socket, WRITE, 0, &[1; 8192], 0);
    let mut request = 0x2560_9513u32.to_be_bytes().to_vec();
    request.extend_from_slice(&[0, 0, 0, 1]);
    request.extend_from_slice(&[9; 8]);
    request.extend_from_slice(&8192u64.to_be_bytes());
    request.extend_from_slice(&1u32.to_be_bytes());
    request.push(7);
    socket.write_all(&request).expect("sent");
    let mut reply = [0; 16];
    socket.read_exact(&mut reply).expect("answered");
    assert_eq!(reply[4..8], 28u32.to_be_bytes(), "no space");
    end(server);
    let record = lab.store().load("latest").expect("kept").record;
    let errors = &record.measurements[0].jobs[0].errors;
    let printed: Vec<_> = errors
        .iter()
        .map(|error| (error.kind.to_string(), error.count))
        .collect();
    assert_eq!(printed, [("ENOSPC".to_owned(), 1)]);
}

/// The story: `--backing` followed a link that led nowhere and made its target, and a run wrote to the
/// file behind a served volume.
#[test]
fn a_backing_file_is_nobody_elses() {
    let lab = Lab::new();
    std::os::unix::fs::symlink(lab.path().join("nowhere"), lab.path().join("link"))
        .expect("a link");
    let arguments = "null --size 1MiB --backing link --nbd unix:s --no-save";
    lab.refused(
        ["emulate"].into_iter().chain(arguments.split(' ')),
        &["link is a link that leads nowhere"],
    );
    assert!(!lab.path().join("nowhere").exists());
    // The story: a mistyped disk became a file in the memory of `/dev`, as long as the volume.
    let mistyped = "null --size 1MiB --backing /dev/no-such-disk --nbd unix:s --no-save";
    lab.refused(
        ["emulate"].into_iter().chain(mistyped.split(' ')),
        &["/dev is no place for files"],
    );
    assert!(!Path::new("/dev/no-such-disk").exists());
    // The story: one address twice was to get an instance, which would be a limit more.
    let twice = "gp3:1GiB gp3:1GiB --nbd unix:s --no-save";
    lab.refused(
        ["emulate"].into_iter().chain(twice.split(' ')),
        &["write 2xgp3:1GiB"],
    );
    // The story: of a device file, `2x./disk.toml` was suggested, which is another file.
    let files = "./disk.toml ./disk.toml --nbd unix:s --no-save";
    lab.refused(
        ["emulate"].into_iter().chain(files.split(' ')),
        &["such as --on m5.large\n"],
    );

    let arguments = "null --size 1MiB --backing file --nbd unix:s --no-save";
    let server = serve(&lab, arguments);
    for writes in [
        "run -q --rw randwrite --runtime 20ms --repeat 1 --target file",
        "run -q --rw randwrite --runtime 20ms --repeat 1 --target file --destroy-data=file",
        "fio --name=a --filename=file --rw=write --size=1m",
        "diskspd -d1 -w100 -b4K file",
    ] {
        let said = lab.blocklab(writes.split(' '));
        assert_ne!(said.code, Some(0), "{writes}: {}", said.out);
        assert!(
            said.err.contains("is locked by another program"),
            "{writes}: {}",
            said.err
        );
    }
    good(lab.blocklab("run -q --rw randread --runtime 20ms --repeat 1 --target file".split(' ')));
    end(server);
}

#[test]
fn a_backing_file_is_found_again_and_keeps_what_was_written() {
    let lab = Lab::new();
    let arguments = "null --size 1MiB --backing file --nbd unix:s --no-save";
    let socket = lab.path().join("s");
    let server = serve(&lab, arguments);
    ask(&mut connect(&socket), WRITE, 5000, b"kept", 0);
    end(server);
    let mut command = lab.command();
    command.arg("emulate").args(arguments.split(' '));
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut again = command.spawn().expect("it starts");
    let mut line = String::new();
    let mut words = BufReader::new(again.stderr.take().expect("a pipe"));
    words.read_line(&mut line).expect("words");
    if line.contains("that no volume of") {
        // A file system without extended attributes cannot tell our file from another one.
        assert_eq!(again.wait().expect("our child").code(), Some(2));
        return;
    }
    std::thread::spawn(move || words.read_to_end(&mut Vec::new()));
    let server = Served::started(again);
    assert_eq!(ask(&mut connect(&socket), READ, 5000, &[], 4), b"kept");
    end(server);
}

#[test]
fn mistakes_are_refused_in_a_line_with_what_would_work() {
    let lab = Lab::new();
    lab.write("photo.jpg", b"precious");
    let check = |arguments: &str, words: &str| {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        refused_in_a_line(&lab, &[&["emulate"], &arguments[..]].concat(), words);
    };
    check("gp3:1GiB --nbd /tmp/s", "write unix:PATH");
    check("gp3:1GiB@m5.lorge --nbd unix:s", "m5.lorge");
    check("gp3:1GiB,iopz=1 --nbd unix:s", "iops");
    check("sim:gp3:1GiB --nbd unix:s", "write gp3:1GiB");
    check("gp3:1GiB --nbd unix:s --backing no/f", "(no: No such file");
    check("gp3:1GiB --nbd unix:photo.jpg", "is no socket");
    check("gp3:1GiB --nbd 0.0.0.0:0", "--insecure");
    check("null --nbd unix:s", "--size");
    check("gp3:1GiB --size 2GiB --nbd unix:s", "into the address");
    check("gp3:1GiB --speed 60 --nbd unix:s", "has none");
    // These two options had no effect, and nothing said so.
    check("null --size 1MiB --speed 60 --nbd unix:s", "has none");
    check(
        "gp3:1GiB --backing b --memory-limit 1MiB --nbd unix:s",
        "in memory",
    );
    check("gp4:1GiB --nbd unix:s", "no volume type gp4");
    check("gp3:1GiB st1:1TiB --nbd unix:s", "--on m5.large");
    check("gp3:1GiB@m5.large --on m5.xlarge --nbd unix:s", "or --on");
    check("gp3:1GiB local --on i3.large --nbd unix:s", "local disks");
    // The story: local disks, of which there are none, were the reason here, too.
    check(
        "gp3:1GiB gp2:1GiB,instance-credits=50% --on m5.large --nbd unix:s",
        "write the same host",
    );
    // Volumes of two machines were served as if they shared one.
    check(
        "gp3:1GiB gp2:1GiB,host=b --on m5.large --nbd unix:s",
        "write the same host",
    );
    check(
        "gp3:1GiB local --on i3.xlarge --nbd unix:s",
        "in two processes",
    );
    check(
        "gp3:1GiB --nbd unix:s --control localhost:1",
        "write unix:PATH",
    );
    check(
        "gp3:1GiB --nbd unix:s --control unix:photo.jpg",
        "is no socket",
    );
    check("gp3:1GiB --nbd unix:s --at soon status", "a time such as");
    check("gp3:1GiB --nbd unix:s --at -1s status", "a time such as");
    check("gp2:1GiB --nbd unix:s --speed -1", "from 1 to");
    check("gp3:1GiB --nbd unix:no/s", "make it (mkdir)");
    check("gp3:1GiB --nbd unix:s --memory-limit 0", "--read-only");
    check("gp3:1GiB --nbd unix:s --backing=", "the path of a file");
    check("gp3:1GiB --nbd unix:s --at 1s stal", "'stall'");
    check("standard:1GiB --nbd unix:s", "standard");
    let planned = |command: &str, words: &str| {
        let arguments = [
            "emulate", "gp3:1GiB", "--nbd", "unix:s", "--at", "1h", command,
        ];
        refused_in_a_line(&lab, &arguments, words);
    };
    planned("credits drain", "no burst bucket");
    planned("set iops=999999", "allows at most");
    planned("fault stall 5s --volume log", "no volume `log`");
    check(
        "gp3:1GiB --backing photo.jpg --nbd unix:s",
        "name a new file",
    );
    let left = std::fs::read(lab.path().join("photo.jpg")).expect("there");
    assert_eq!(left, b"precious");
}

/// The story: a database ran on a served volume for hours, the kernel killed the server for want of
/// memory, and the store had no run: only the end of a server kept it.
#[test]
fn a_killed_server_leaves_what_was_seen_until_then() {
    let lab = Lab::new();
    let arguments = "null --size 1MiB --nbd unix:s --name db";
    let server = serve(&lab, arguments);
    let mut socket = connect(&lab.path().join("s"));
    ask(&mut socket, WRITE, 0, &[7; 4096], 0);
    let has_write = || {
        let stored = lab.store().load("db").ok()?;
        let jobs = &stored.record.measurements.first()?.jobs;
        let writes = jobs.first()?.directions.get(&Direction::Write)?.ios;
        (writes == 1).then_some(stored.partial)
    };
    let until = std::time::Instant::now() + stand::running::PATIENCE;
    while has_write().is_none() {
        assert!(std::time::Instant::now() < until, "no checkpoint");
        std::thread::yield_now();
    }
    server.kill();
    assert_eq!(
        has_write(),
        Some(true),
        "what was seen is kept as unfinished"
    );
    good(lab.blocklab(["show", "db"]));
}

/// The story: the disk behind the output of a server was full. With `--json`, its clients lost their
/// volume within a second; without, the run was left unfinished.
#[test]
fn a_server_whose_output_fails_serves_on_and_keeps_its_run() {
    for json in [true, false] {
        let lab = Lab::new();
        let full = std::fs::File::options().write(true).open("/dev/full");
        let mut command = lab.command();
        let arguments = "emulate null --size 1MiB --nbd unix:s --name db";
        command.args(arguments.split(' ').chain(json.then_some("--json")));
        command.stdout(full.expect("/dev/full"));
        let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
        let mut words = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let awaited = if json { "cannot write" } else { "Serving" };
        let begun = words.any(|line| line.expect("text").contains(awaited));
        assert!(begun, "it ends without `{awaited}`");
        let mut socket = connect(&lab.path().join("s"));
        ask(&mut socket, WRITE, 0, &[7; 4096], 0);
        drop(socket);
        let mut kill = Command::new("kill");
        let sent = kill.args(["-INT", &child.id().to_string()]).status();
        assert!(sent.expect("kill starts").success(), "it still serves");
        let rest = words.map(|line| line.expect("text")).collect::<Vec<_>>();
        assert_eq!(child.wait().expect("our child").code(), Some(1), "{rest:?}");
        let stored = lab.store().load("db").expect("kept");
        assert!(!stored.partial, "{rest:?}");
        let jobs = &stored.record.measurements[0].jobs;
        assert_eq!(jobs[0].directions[&Direction::Write].ios, 1);
    }
}

/// A server that ends by itself leaves one run, and no checkpoint beside it.
#[test]
fn a_server_that_ends_leaves_no_checkpoint() {
    let lab = Lab::new();
    let arguments = "null --size 1MiB --nbd unix:s --name db";
    let server = serve(&lab, arguments);
    let until = std::time::Instant::now() + stand::running::PATIENCE;
    while lab.store().load("db").is_err() {
        assert!(std::time::Instant::now() < until, "no checkpoint");
        std::thread::yield_now();
    }
    end(server);
    let names = std::fs::read_dir(lab.store().root()).expect("the store");
    let names: Vec<_> = names
        .map(|name| name.expect("an entry").file_name())
        .collect();
    assert_eq!(names.len(), 1, "{names:?}");
    assert!(!lab.store().load("db").expect("kept").partial);
}

/// The story: two volumes of 10 GiB of which clients saw 1 GiB each were recorded as a target of 20 GiB.
#[test]
fn the_record_has_the_size_that_clients_see() {
    let lab = Lab::new();
    let server = serve(&lab, "2xgp3:10GiB --size 1GiB --nbd unix:s --name db");
    end(server);
    let record = lab.store().load("db").expect("found by its name").record;
    assert_eq!(record.targets[0].size_bytes.0, 2 << 30);
}

/// The story: a volume that was served at a port of the system's choice was recorded as "served at
/// 127.0.0.1:0", where nobody finds it.
#[test]
fn the_record_has_the_port_that_was_chosen() {
    let lab = Lab::new();
    end(serve(&lab, "gp3:1GiB --nbd 127.0.0.1:0 --name db"));
    let record = lab.store().load("db").expect("found by its name").record;
    let description = record.requested.description;
    assert!(
        description.contains("served at nbd://127.0.0.1:"),
        "{description}"
    );
    assert!(!description.ends_with(":0"), "{description}");
}
