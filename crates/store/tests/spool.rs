//! What a run leaves while it lasts, and what is read of it when it has no end.

mod sample;

use std::fs::{self, File};
use std::path::PathBuf;

use blocklab_record::{Interval, IntervalDirection, Measurement, Record, Status, Stopped};
use blocklab_store::spool::{Begun, Frame, Progress, SpoolError};
use blocklab_store::{Store, StoreError};
use blocklab_workload::Direction;
use proptest::prelude::*;
use sample::record;

const ID: &str = "20261120-190142-k3f";
const STARTED: &str = "2026-11-20T19:01:42Z";

struct Lab {
    store: Store,
    _folder: tempfile::TempDir,
}

impl Lab {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        Self {
            store: Store::open(folder.path().join("runs")),
            _folder: folder,
        }
    }

    fn file(&self) -> PathBuf {
        self.store.root().join(format!("{ID}.partial/spool.ndjson"))
    }

    fn load(&self) -> Record {
        self.store.load(ID).expect("it is read").record
    }
}

fn whole() -> Record {
    record(ID, STARTED)
}

fn before_the_first_pass() -> Record {
    Record {
        measurements: Vec::new(),
        ..whole()
    }
}

fn begun() -> Begun {
    Begun {
        case: "mixed".to_owned(),
        pass: 1,
        step: 0,
        steps: 2,
        planned_ns: Some(6_000_000_000),
    }
}

fn slice(second: u64) -> Interval {
    Interval {
        end_ns: second * 1_000_000_000,
        length_ns: 1_000_000_000,
        read: IntervalDirection {
            ios: 100 * second,
            ..IntervalDirection::default()
        },
        ..Interval::default()
    }
}

/// The frame of a second, as a run of the sample has it.
fn frame(second: u64) -> Frame {
    let so_far = Measurement {
        series: Vec::new(),
        started_unix_us: Some(1_795_201_302_000_000),
        elapsed_ns: second * 1_000_000_000,
        ..whole().measurements[0].clone()
    };
    Frame {
        number: second,
        elapsed_ns: second * 1_000_000_000,
        in_flight: 32,
        slices: vec![slice(second)],
        credits: Vec::new(),
        so_far: Some(Box::new(so_far)),
    }
}

/// The story: a run was killed at the fourth second of a pass of six, and left nothing.
#[test]
fn a_run_that_is_killed_in_a_pass_leaves_it_up_to_the_last_second() {
    let lab = Lab::new();
    let mut spool = lab.store.begin(&before_the_first_pass()).expect("begun");
    spool.begins(&begun()).expect("written");
    assert_eq!(lab.load().measurements, []);
    for second in 1..=4 {
        spool.frame(&frame(second)).expect("written");
    }
    let running = lab.load();
    assert_eq!(running.failure.as_deref(), Some("the run is still running"));
    drop(spool);

    let stored = lab.store.load("latest").expect("it is read");
    assert!(stored.partial);
    let killed = stored.record;
    assert_eq!(killed.status, Status::Interrupted);
    assert_eq!(
        killed.failure.as_deref(),
        Some("the run was killed before its end")
    );
    assert_eq!(killed.finished_at, "2026-11-20T19:01:46Z");
    let [pass] = &killed.measurements[..] else {
        panic!("{} passes", killed.measurements.len());
    };
    assert_eq!(pass.series, [1, 2, 3, 4].map(slice));
    assert_eq!(
        pass.jobs[0].directions,
        whole().measurements[0].jobs[0].directions
    );
    assert!(
        pass.jobs
            .iter()
            .all(|job| job.stopped == Stopped::Interrupted)
    );
    let listed = lab.store.list().runs.pop().expect("it is listed");
    assert_eq!((listed.partial, listed.measurements), (true, 1));
}

/// The story: `rm latest` took a run away that was still measuring; its end then failed, as its spool
/// was gone, and hours of measurements with it.
#[test]
fn a_run_that_is_running_is_not_removed() {
    let lab = Lab::new();
    let spool = lab.store.begin(&before_the_first_pass()).expect("begun");
    let refused = lab.store.removals(&["latest"]).expect_err("it is running");
    assert!(matches!(refused, StoreError::Running { .. }), "{refused}");
    drop(spool);
    let killed = lab.store.removals(&["latest"]).expect("it was killed");
    assert_eq!(lab.store.remove(&killed[0]).ok(), Some(true));
}

/// The story: `list --json` and `show` said "interrupted" of a run that went on, so that a script began
/// it again on the same disk.
#[test]
fn a_run_that_goes_on_is_running() {
    let lab = Lab::new();
    let spool = lab.store.begin(&whole()).expect("begun");
    let status = || {
        let listed = lab.store.list().runs.pop().expect("it is listed");
        assert_eq!(lab.load().status, listed.status);
        listed.status
    };
    assert_eq!(status(), Status::Running);
    // What is exported could be kept in another store, where nothing goes on.
    let unchanged = lab.store.load_unchanged(ID).expect("it is read");
    assert_eq!(unchanged.record.status, Status::Interrupted);
    drop(spool);
    assert_eq!(status(), Status::Interrupted);
}

/// The story: a pipe in the place of a record made `list` wait for ever, and every command that looks for a
/// run by its name with it.
#[test]
fn a_pipe_in_a_store_holds_no_reader() {
    let lab = Lab::new();
    drop(lab.store.begin(&whole()).expect("begun"));
    let root = lab.store.root();
    // The run of the spool seems to have ended, and a folder that somebody renamed seems to hold one.
    let ended = root.join(ID);
    fs::rename(root.join(format!("{ID}.partial")), &ended).expect("renamed");
    fs::create_dir(root.join("renamed")).expect("made");
    for folder in [ended.clone(), root.join("renamed")] {
        let pipe = folder.join("record.json");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, pipe, mode).expect("made");
    }
    let listing = lab.store.list();
    assert_eq!(listing.runs, []);
    let why = &listing.damaged[0].why;
    assert!(why.contains("a pipe or a device"), "{why}");
    let path = root.join("renamed");
    let refused = lab.store.load(path.to_str().expect("text"));
    let why = refused.expect_err("it holds no record").to_string();
    assert!(why.contains("a pipe or a device"), "{why}");

    // The spool of a run, which `rm` and the live page look at, too.
    let partial = root.join(format!("{ID}.partial"));
    fs::rename(root.join("renamed"), &partial).expect("renamed");
    fs::rename(partial.join("record.json"), partial.join("spool.ndjson")).expect("renamed");
    let mut follower = lab.store.follow(ID).expect("an id");
    assert!(follower.look().is_err() && !follower.is_held());
}

#[test]
fn passes_that_have_ended_are_whole_and_the_end_takes_the_spool_away() {
    let lab = Lab::new();
    let mut spool = lab.store.begin(&before_the_first_pass()).expect("begun");
    for measured in &whole().measurements {
        spool.begins(&begun()).expect("written");
        spool.frame(&frame(1)).expect("written");
        spool.measured(measured).expect("written");
    }
    let mut failed = before_the_first_pass();
    failed.failure = Some("the disk is gone".to_owned());
    spool.head(&failed).expect("written");
    let read = lab.load();
    assert_eq!(read.measurements, whole().measurements);
    assert_eq!(read.failure.as_deref(), Some("the disk is gone"));
    lab.store.save(&whole()).expect("kept");
    assert!(!lab.file().exists());
    assert_eq!(lab.load(), whole());
}

/// A kill tears the last line, a power cut leaves zeros, somebody appends a word: all that is whole
/// counts.
#[test]
fn torn_and_foreign_lines_hide_no_other() {
    let lab = Lab::new();
    let mut spool = lab.store.begin(&before_the_first_pass()).expect("begun");
    spool.begins(&begun()).expect("written");
    spool.frame(&frame(1)).expect("written");
    drop(spool);
    let lines = fs::read(lab.file()).expect("the file");
    for tail in [
        &b"{\"frame\":{\"number\":2,\"elap"[..],
        &[0; 4096],
        b"\xff\xfe\n",
        b"{\"frame\":{\"number\":-1}}\n{\"unknown\":1}\nnull\n[]\n",
    ] {
        fs::write(lab.file(), [&lines[..], tail].concat()).expect("written");
        assert_eq!(lab.load().measurements.len(), 1, "{tail:?}");
    }
    let torn = lines.len() - 10;
    fs::write(lab.file(), &lines[..torn]).expect("written");
    assert_eq!(lab.load().measurements.len(), 0, "its only frame is torn");
}

#[test]
fn a_newer_format_is_refused_by_its_number() {
    let lab = Lab::new();
    drop(lab.store.begin(&before_the_first_pass()).expect("begun"));
    let text = fs::read_to_string(lab.file()).expect("the file");
    let newer = text.replace("\"spool_format\":1", "\"spool_format\":9");
    fs::write(lab.file(), newer).expect("written");
    let refused = lab.store.load(ID).expect_err("it is newer");
    assert!(
        matches!(
            refused,
            StoreError::BadSpool {
                why: SpoolError::Newer(9),
                ..
            }
        ),
        "{refused}"
    );
    assert!(
        refused.to_string().contains("a newer blocklab can"),
        "{refused}"
    );
    assert_eq!(lab.store.list().damaged.len(), 1);
    fs::write(lab.file(), "nonsense\n").expect("written");
    let refused = lab.store.load(ID).expect_err("it names no run");
    assert!(
        refused.to_string().contains("no line of it names a run"),
        "{refused}"
    );
}

/// The measurement so far in each frame is needed once: a run of a day would leave hundreds of
/// megabytes.
#[test]
fn a_long_run_stays_short() {
    let lab = Lab::new();
    let mut spool = lab.store.begin(&before_the_first_pass()).expect("begun");
    spool.flushes_each = false;
    spool.begins(&begun()).expect("written");
    let mut long = frame(1);
    let job = long.so_far.as_mut().expect("there").jobs[0].clone();
    let jobs = &mut long.so_far.as_mut().expect("there").jobs;
    jobs.resize(40, job);
    let mut longest = 0;
    for second in 1..=1000 {
        spool
            .frame(&Frame {
                number: second,
                slices: vec![slice(second)],
                ..long.clone()
            })
            .expect("written");
        longest = longest.max(fs::metadata(lab.file()).expect("the file").len());
    }
    let written = 1000 * serde_json::to_string(&long).expect("JSON").len() as u64;
    assert!(
        longest < 6 << 20 && written > 4 * longest,
        "{longest} of {written}"
    );
    let pass = lab.load().measurements.pop().expect("a pass");
    assert_eq!((pass.series.len(), pass.jobs.len()), (1000, 40));
    let folder = fs::read_dir(lab.file().parent().expect("a folder"));
    assert_eq!(
        folder.expect("it is there").count(),
        1,
        "nothing is left beside it"
    );
}

#[test]
fn a_view_reads_on_from_where_it_was() {
    let lab = Lab::new();
    let mut follower = lab.store.follow(ID).expect("an id");
    assert!(!follower.look().expect("nothing is there"));
    let mut spool = lab.store.begin(&before_the_first_pass()).expect("begun");
    assert!(follower.look().expect("read"));
    assert!(follower.progress().current().is_none());
    spool.begins(&begun()).expect("written");
    for second in 1..=3 {
        spool.frame(&frame(second)).expect("written");
        assert!(follower.look().expect("read"));
        let current = follower.progress().current().expect("a pass goes on");
        assert_eq!(current.frames.len() as u64, second);
        assert_eq!(
            current.so_far().map(|so_far| so_far.elapsed_ns),
            Some(second * 1_000_000_000)
        );
    }
    // Begun again, as after a resumption: another file.
    drop(lab.store.begin(&whole()).expect("begun"));
    assert!(follower.look().expect("read"));
    let read = follower.progress().record().expect("the run");
    assert_eq!(read.measurements.len(), 2);
    lab.store.save(&whole()).expect("kept");
    assert!(!follower.look().expect("it is gone"));
    assert!(lab.store.follow("../x").is_err());
}

#[test]
fn a_spool_is_a_run_for_rm_and_by_its_path() {
    let lab = Lab::new();
    drop(lab.store.begin(&whole()).expect("begun"));
    for path in [
        lab.file(),
        lab.file().parent().expect("a folder").to_owned(),
    ] {
        let stored = lab.store.load(path.to_str().expect("text")).expect("read");
        assert!(stored.partial);
    }
    let removals = lab.store.removals(&[ID]).expect("found");
    assert!(lab.store.remove(&removals[0]).expect("removed"));
    assert!(File::open(lab.file()).is_err());
}

proptest! {
    /// Whatever the bytes are, reading them ends, and what is read can be written.
    #[test]
    fn any_bytes_are_read_or_refused(
        tail in proptest::collection::vec(any::<u8>(), 0..300),
        cut in 0usize..3000,
    ) {
        let lab = Lab::new();
        let mut spool = lab.store.begin(&before_the_first_pass()).expect("begun");
        spool.begins(&begun()).expect("written");
        spool.frame(&frame(1)).expect("written");
        let mut bytes = fs::read(lab.file()).expect("the file");
        bytes.truncate(cut.min(bytes.len()));
        bytes.extend(tail);
        if let Ok(read) = Progress::read(&bytes[..]) {
            let record = read.into_record("killed").expect("it has a head");
            prop_assert!(Record::from_json(&record.to_json()).is_ok());
        }
    }
}

/// A real run on a modelled gp2 volume that was killed in its fifth second.
#[test]
fn what_this_format_wrote_is_read() {
    let golden = include_bytes!("../golden/killed-in-a-pass.ndjson");
    let read = Progress::read(&golden[..]).expect("it is read");
    assert!(read.is_locked());
    let record = read.into_record("killed").expect("a run");
    let pass = record.measurements.last().expect("a pass");
    assert_eq!(pass.series.len(), 8);
    let counted: u64 = pass.series.iter().map(|slice| slice.read.ios).sum();
    let read = &pass.jobs[0].directions[&Direction::Read];
    assert_eq!((counted, read.ios), (8386, 8386));
}
