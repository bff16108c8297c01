//! One function a parser of foreign bytes. Whatever the bytes are, it must not panic: neither by
//! the parser nor by an assertion of this file.
//!
//! The targets in `fuzz/` are shells around these functions, for long hunts with cargo-fuzz. The
//! test `fuzz` runs each of them on mutations of what the repository holds, the same ones every
//! time.

pub mod corpus;
pub mod hunt;

use std::fs;
use std::io;
use std::path::Path;
use std::sync::LazyLock;

use blocklab_advice::Need;
use blocklab_catalog::{Catalog, Filter, SteadyLoad, describe, device_file, resolve_text};
use blocklab_compare::gate::{Bound, Condition, conditions_in};
use blocklab_device::DeviceSpec;
use blocklab_diskspd::{self as diskspd_language, Overrides, Profile, Requested};
use blocklab_emulator::control as emulator_control;
use blocklab_emulator::nbd::handshake::{Export, Handshake, Privacy, Session, Step};
use blocklab_emulator::nbd::transmission::{Command, REQUEST, Request};
use blocklab_fio::{self as fio_language, State};
use blocklab_host::signatures::{probe, probe_bytes};
use blocklab_import::{Source, Tool, decode};
use blocklab_record::{Latency, Record};
use blocklab_store::spool::Progress;
use blocklab_trace::completions::CompletionText;
use blocklab_trace::csv::{Columns, PRESETS};
use blocklab_trace::format::Format;
use blocklab_trace::kernel_text::KernelText;
use blocklab_trace::rates::{WantedRates, is_rate_table, read_rates};
use blocklab_trace::{Moment, blktrace, iolog};
use blocklab_units::{Bytes, Nanos};
use blocklab_vdbench as vdbench_language;
use blocklab_verify::SavedKeys;
use blocklab_workload::{Address, Date};

/// What a target is: it panics where something is wrong.
pub type Target = fn(&[u8]);

/// By the names of the files in `fuzz/fuzz_targets`.
pub const TARGETS: [(&str, Target); 29] = [
    ("address", address),
    ("catalog", catalog),
    ("device_toml", device_toml),
    ("diskspd", diskspd),
    ("fio_blktrace", fio_blktrace),
    ("fio_iolog", fio_iolog),
    ("fio_job", fio_job),
    ("fio_line", fio_line),
    ("fio_log", fio_log),
    ("fio_state", fio_state),
    ("import", import),
    ("journal", journal),
    ("native", native),
    ("nbd", nbd),
    ("need", need),
    ("record", record),
    ("results", results),
    ("signatures", signatures),
    ("spool", spool),
    ("trace_biosnoop", trace_biosnoop),
    ("trace_blkparse", trace_blkparse),
    ("trace_own", trace_own),
    ("trace_perf", trace_perf),
    ("trace_rates", trace_rates),
    ("trace_table", trace_table),
    ("trace_vscsi", trace_vscsi),
    ("trace_xperf", trace_xperf),
    ("vdbench", vdbench),
    ("words", words),
];

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// What a client of NBD sends, from its first byte: no more is used than there is, the reply stays
/// within bounds, and a request that is found sound lies within the volume.
pub fn nbd(bytes: &[u8]) {
    const SIZE: u64 = 1 << 40;
    let export = |name: &str| Export {
        name: name.to_owned(),
        description: "a volume".to_owned(),
        size: SIZE,
        read_only: false,
        rotational: false,
    };
    let exports = [export("data"), export("log")];
    let mut handshake = Handshake::new(&exports, Privacy::Never);
    let (mut rest, mut reply) = (bytes, Vec::new());
    let session = loop {
        match handshake.step(rest, &mut reply) {
            Step::Used(used) | Step::StartTls(used) => {
                rest = rest.get(used..).expect("no more than there is");
            }
            Step::Enter(used, session) => {
                rest = rest.get(used..).expect("no more than there is");
                break session;
            }
            Step::More | Step::Close => return assert!(reply.len() < 1 << 20),
        }
    };
    requests(rest, session, SIZE);
}

fn requests(mut rest: &[u8], session: Session, size: u64) {
    while let Some(bytes) = rest.first_chunk::<REQUEST>() {
        let Ok(request) = Request::parse(bytes) else {
            return;
        };
        let end = request.offset.checked_add(request.len.into());
        match request.check(session, size, false) {
            Ok(Command::Disconnect) => return,
            Ok(Command::Flush) | Err(_) => {}
            Ok(_) => assert!(end.is_some_and(|end| end <= size), "{request:?}"),
        }
        let used = REQUEST + request.data_len() as usize;
        rest = rest.get(used..).unwrap_or_default();
    }
}

/// Addresses: what is read is shown so that it reads back as the same, a mistake lies within the
/// text, and whatever is requested is a device or a refusal.
pub fn address(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    match Address::parse(text) {
        Ok(Address::File(_)) => (),
        Ok(address) => {
            let shown = address.to_string();
            let again = Address::parse(&shown).expect("what is shown reads back");
            assert_eq!(address, again, "{shown}");
            // A profile names a file, and fuzzing reads none.
            if !shown.contains("profile=") {
                let _ = describe(text, &Catalog::embedded());
            }
        }
        Err(error) => {
            assert!(text.get(error.at.clone()).is_some());
            let _ = error.to_string();
        }
    }
}

/// A catalog of the user's own: whatever its figures are, each name in it is described or refused.
pub fn catalog(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let home = tempfile::tempdir().expect("a folder");
    fs::write(home.path().join("own.txt"), text).expect("written");
    let catalog = match Catalog::load(home.path()) {
        Ok(catalog) => catalog,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let mut names: Vec<&str> = text
        .lines()
        .filter_map(|line| Some(line.split_once(',')?.0))
        .collect();
    names.dedup();
    for name in names.into_iter().take(20) {
        for address in [
            name.to_owned(),
            format!("{name}:100GiB"),
            format!("{name}:10TiB,iops=20000,throughput=900@m5.large"),
            format!("gp3:1TiB@{name}"),
            format!("local@{name}"),
        ] {
            if let Err(error) = describe(&address, &catalog) {
                assert!(!error.to_string().is_empty(), "{address}");
            }
        }
    }
    catalog.list(&Filter::default());
}

/// The small languages of options, each line by itself: what is read is shown so that it reads back.
/// The whole text is a file of gates.
pub fn words(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    for line in text.lines() {
        if let Ok(condition) = line.parse::<Condition>() {
            let shown = condition.to_string();
            shown
                .parse::<Condition>()
                .expect("what is shown reads back");
        }
        if let Ok(date) = line.parse::<Date>() {
            assert_eq!(date.to_string().parse(), Ok(date));
        }
        if let Err(error) = line.parse::<SteadyLoad>() {
            assert!(!error.to_string().is_empty());
        }
        if let Err(error) = line.parse::<emulator_control::Command>() {
            assert!(!error.to_string().is_empty());
        }
        let _ = (line.parse::<Bytes>(), line.parse::<Nanos>());
        let _ = line.parse::<Bound>();
        let _ = Columns::parse(line);
    }
    let _ = conditions_in(text);
}

/// Needs: what is read lies within its bounds and is the same when it is read on top of itself, and
/// every limit of a volume is compared with it.
pub fn need(bytes: &[u8]) {
    static VOLUME: LazyLock<DeviceSpec> = LazyLock::new(|| {
        let resolved = resolve_text("gp2:1TiB@m5.large", &Catalog::embedded());
        resolved.expect("an address").spec
    });
    let Some(text) = text(bytes) else { return };
    let need = match text.parse::<Need>() {
        Ok(need) => need,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    assert!(need.capacity.0 > 0 && (512..=16 << 20).contains(&need.block.0));
    assert!(need.iops >= 0.0 && need.iops.is_finite() && need.bytes_per_s >= 0.0);
    assert!(need.read_percent.is_none_or(|percent| percent <= 100));
    assert!(need.p99.is_none_or(|p99| p99.0 > 0));
    assert_eq!(need.with(text).as_ref(), Ok(&need), "{text}");
    assert!(!need.to_string().is_empty());
    for margin in need.margins(&VOLUME) {
        assert!(
            !margin.used().is_nan() && margin.needs.is_finite(),
            "{margin:?}"
        );
    }
}

/// Device files: what is read is written so that it reads back as the same device.
pub fn device_toml(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    match device_file::parse(text, "device.toml") {
        Ok(spec) => {
            let written = device_file::render(&spec);
            assert_eq!(
                device_file::parse(&written, "written.toml"),
                Ok(spec),
                "{written}"
            );
        }
        Err(mistake) => {
            let _ = mistake.to_string();
        }
    }
}

/// Any words as a command line of DiskSpd, any text as an XML profile: what is accepted can be
/// prepared, and it is written as XML and read again.
pub fn diskspd(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    if let Ok(parsed) = diskspd_language::parse(&words)
        && let Requested::Load(profile) = parsed.requested
    {
        attempt(&profile);
    }
    if let Ok(profile) = diskspd_language::read_xml(text, &Overrides::default()) {
        attempt(&profile);
    }
}

fn attempt(profile: &Profile) {
    // A thousand threads on a thousand targets are no news.
    let jobs = profile.timespans.iter().flat_map(|span| &span.targets);
    if jobs.map(|target| u64::from(target.threads)).sum::<u64>() > 1000 {
        return;
    }
    let _ = diskspd_language::prepare(profile, &diskspd_language::Inputs::default());
    let overrides = Overrides {
        profile_only: profile.profile_only,
        ..Overrides::default()
    };
    let xml = diskspd_language::profile_xml(profile);
    diskspd_language::read_xml(&xml, &overrides).expect("what is written can be read");
}

/// Binary traces of blktrace: each operation is on a file that the trace names, in their order.
pub fn fio_blktrace(bytes: &[u8]) {
    let read = blktrace::parse(bytes, &|major, minor| format!("/dev/{major}-{minor}"));
    let Ok(trace) = read else { return };
    let named = |target: u32| (target as usize) < trace.files.len();
    assert!(
        trace
            .operations
            .iter()
            .all(|operation| named(operation.target))
    );
    assert!(trace.operations.is_sorted_by_key(|operation| operation.at));
}

/// A trace as a stream: each operation is on a device that the trace names, in order of time.
fn stream(format: &Format, bytes: &[u8]) {
    for moment in [Moment::Issue, Moment::Queue] {
        let Ok(mut source) = format.open(bytes, moment) else {
            return;
        };
        let mut last = None;
        while let Ok(Some(operation)) = source.next() {
            assert!(Some(operation.at) >= last, "{operation:?}");
            assert!((operation.target as usize) < source.targets().len());
            assert!(operation.offset.checked_add(operation.len.into()).is_some());
            last = Some(operation.at);
        }
        source.remarks();
    }
}

/// The text of biosnoop.
pub fn trace_biosnoop(bytes: &[u8]) {
    stream(&Format::Completions(CompletionText::Biosnoop), bytes);
}

/// The text of blkparse.
pub fn trace_blkparse(bytes: &[u8]) {
    stream(&Format::Kernel(KernelText::Blkparse), bytes);
}

/// The own format, and blktrace and iolog as streams.
pub fn trace_own(bytes: &[u8]) {
    stream(&Format::Own, bytes);
    stream(&Format::Blktrace, bytes);
    stream(&Format::Iolog, bytes);
}

/// The text of `perf script` and tracefs.
pub fn trace_perf(bytes: &[u8]) {
    stream(&Format::Kernel(KernelText::Events), bytes);
}

/// Tables of rates of iostat, sar and CloudWatch.
pub fn trace_rates(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let wanted = WantedRates {
        device: None,
        every_ns: Some(1_000_000_000),
    };
    let _ = is_rate_table(bytes);
    if let Ok(table) = read_rates(&[("rates".to_owned(), text)], wanted) {
        assert!(!table.intervals.is_empty(), "{table:?}");
    }
}

/// Tables of every public set, and what is detected.
pub fn trace_table(bytes: &[u8]) {
    for preset in &PRESETS {
        stream(&Format::Table(preset.columns()), bytes);
    }
    if let Ok(format) = Format::detect(bytes) {
        stream(&format, bytes);
    }
}

/// Binary traces of vscsiStats, both versions.
pub fn trace_vscsi(bytes: &[u8]) {
    stream(&Format::Vscsi(1), bytes);
    stream(&Format::Vscsi(2), bytes);
}

/// The text of xperf.
pub fn trace_xperf(bytes: &[u8]) {
    stream(&Format::Completions(CompletionText::Xperf), bytes);
}

/// Traces of fio: what is read is written and read again.
pub fn fio_iolog(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let Ok(trace) = iolog::parse(text) else {
        return;
    };
    let operations = trace.operations.iter().filter(|op| op.len > 0);
    let traced = operations.map(|op| iolog::Traced {
        at: op.at,
        file: &trace.files[op.target as usize],
        action: op.direction.name(),
        offset: op.offset,
        len: op.len,
    });
    let written = iolog::render(&trace.files, traced);
    iolog::parse(&written).expect("our own trace is sound");
}

struct Outside;

impl fio_language::Reader for Outside {
    fn include(&mut self, _: &str) -> Result<String, String> {
        Ok("[global]\nsize=1m\n".to_owned())
    }

    fn variable(&self, name: &str) -> Option<String> {
        Some(name.to_owned())
    }
}

/// Job files of fio: whatever is planned can be run.
pub fn fio_job(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let Ok(sections) = fio_language::parse_jobs("job.fio", text, &mut Outside) else {
        return;
    };
    // Clones by the thousand are sound, and slow.
    if text.contains("numjobs") || text.contains("nrfiles") || text.contains("nr_files") {
        return;
    }
    let Ok(resolved) = fio_language::resolve(&sections, &[]) else {
        return;
    };
    check_jobs(&resolved);
}

/// Any words as a command line of fio: whatever is planned can be run.
pub fn fio_line(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    let Ok(command) = fio_language::parse_command(&words) else {
        return;
    };
    if text.contains("numjobs") || text.contains("nrfiles") || text.contains("nr_files") {
        return;
    }
    let sections: Vec<_> = command
        .inputs
        .into_iter()
        .filter_map(|input| match input {
            fio_language::Input::Job(section) => Some(section),
            fio_language::Input::File(_) => None,
        })
        .collect();
    if let Ok(resolved) = fio_language::resolve(&sections, &[]) {
        check_jobs(&resolved);
    }
}

fn check_jobs(resolved: &fio_language::Resolved) {
    let context = fio_language::PlanContext {
        size_of: &|_| Some(1 << 20),
        is_device: &|_| false,
        room_at: &|_| Some(1 << 20),
        files_below: &|_| Vec::new(),
        processors: 8,
        client: None,
        only_parsed: false,
        node_processors: &|node| vec![node],
        bytes_of: &|_| Ok(b"held".to_vec()),
        device_of: &|major, minor| format!("/dev/{major}-{minor}"),
        control_groups: Some("/cgroup"),
        aux: None,
        seed: 1,
    };
    if let Ok(prepared) = fio_language::prepare(resolved, "job", &context) {
        for job in prepared.plan.jobs() {
            job.check().expect("what is planned can be run");
        }
    }
}

/// Compressed logs of fio: what is printed before a mistake ends with a whole line.
pub fn fio_log(bytes: &[u8]) {
    let mut text = Vec::new();
    // Whether it could be read is the reader's to say.
    let _ = fio_language::inflate(bytes, &mut text);
    assert!(text.is_empty() || text.ends_with(b"\n"));
}

/// State files of fio: what is read is written and read again alike.
pub fn fio_state(bytes: &[u8]) {
    if let Ok(state) = State::decode(bytes) {
        assert_eq!(State::decode(&state.encode()), Ok(state));
    }
}

/// Vendors' figures: what is imported can be kept and loaded again.
pub fn import(bytes: &[u8]) {
    if let Err(why) = blocklab_catalog::import::read(bytes) {
        assert!(!why.contains("cannot be kept"), "{why}");
    }
}

/// The map and the journal of a validated storage: what is accepted names only blocks that there
/// are. The first four bytes, the lowest first, tell how long the map is.
pub fn journal(bytes: &[u8]) {
    let Some((length, files)) = bytes.split_first_chunk::<4>() else {
        return;
    };
    let length = (u32::from_le_bytes(*length) as usize).min(files.len());
    let (map, journal) = files.split_at(length);
    if let Ok(mut saved) = SavedKeys::from_bytes(map)
        && let Ok(pending) = saved.replay(journal)
    {
        assert!(pending.keys().all(|block| *block < saved.keys.len()));
    }
}

/// Studies in the native format: an error lies within the text, and what parses is the same after
/// it was written and read again.
pub fn native(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    match blocklab_native::parse(text, "fuzz.toml") {
        Err(error) => {
            assert!(error.line() <= text.split('\n').count(), "{error}");
            assert!(!error.to_string().is_empty());
        }
        Ok(parsed) => {
            let written = blocklab_native::render(&parsed.plan);
            let again = blocklab_native::parse(&written, "written.toml");
            let again = again.unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(again.plan, parsed.plan, "{written}");
        }
    }
}

/// Stored runs: what is read comes back the same when it was written and read again.
pub fn record(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let Ok(record) = Record::from_json(text) else {
        return;
    };
    let written = record.to_json();
    let again = Record::from_json(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
    assert_eq!(again.to_json(), written);
    for job in record.jobs() {
        assert!(job.iops() >= 0.0 && job.bytes_per_s() >= 0.0);
        for direction in job.directions.values() {
            let further = [&direction.response, &direction.submit];
            distribution(&direction.service);
            further.into_iter().flatten().for_each(distribution);
        }
    }
}

/// What runs without an end leave: whatever the lines hold, what is read of them is a record.
pub fn spool(bytes: &[u8]) {
    if let Ok(read) = Progress::read(bytes) {
        let record = read.into_record("killed").expect("it has a head");
        self::record(record.to_json().as_bytes());
    }
}

/// What was made of a damaged text is a histogram like any other.
fn distribution(latency: &Latency) {
    let Ok(histogram) = latency.histogram() else {
        return;
    };
    let quantiles = histogram.quantiles(&[0.0, 0.5, 0.99, 1.0]);
    assert!(quantiles.is_sorted(), "{quantiles:?}");
    assert_eq!(histogram.count() == 0, histogram.bins().next().is_none());
}

/// Results of other programs: a Record that can be kept, or a refusal.
pub fn results(bytes: &[u8]) {
    let Ok(source) = decode("flatfile.html", bytes.to_vec()) else {
        return;
    };
    let histogram = Source {
        name: "histogram.html".to_owned(),
        ..source.clone()
    };
    for tool in [Tool::DiskSpd, Tool::Cdm, Tool::Fio, Tool::Vdbench] {
        let sources = [source.clone(), histogram.clone()];
        for record in blocklab_import::import(tool, &sources).unwrap_or_default() {
            Record::from_json(&record.to_json()).expect("what is kept can be read");
        }
    }
    // The names of logs tell what is in them.
    for name in [
        "job_bw.1.log",
        "job_iops.1.log",
        "job_lat.1.log",
        "job_clat_hist.1.log",
    ] {
        let log = Source {
            name: name.to_owned(),
            ..source.clone()
        };
        for record in blocklab_import::import(Tool::Fio, &[log]).unwrap_or_default() {
            Record::from_json(&record.to_json()).expect("what is kept can be read");
        }
    }
}

/// Disks are far larger than what is tried here: its bytes are put at both ends of one.
const LARGE: u64 = 1 << 40;

/// Any image: looking for marks never asks for bytes beyond the end, and finds marks within the
/// image only.
pub fn signatures(image: &[u8]) {
    let length = image.len() as u64;
    let found = probe_bytes(image);
    assert!(found.iter().all(|mark| mark.offset < length), "{found:?}");

    let read = |offset: u64, buffer: &mut [u8]| {
        assert!(offset + buffer.len() as u64 <= LARGE);
        buffer.fill(0);
        lay_over(buffer, offset, image, 0);
        lay_over(buffer, offset, image, LARGE - length);
        Ok(())
    };
    let found = probe(read, LARGE).expect("every byte can be read");
    assert!(found.iter().all(|mark| mark.offset < LARGE), "{found:?}");
}

/// Copies into the buffer, which begins at `offset`, what it shares with `image`, which begins at `place`.
fn lay_over(buffer: &mut [u8], offset: u64, image: &[u8], place: u64) {
    let from = offset.max(place);
    let to = (offset + buffer.len() as u64).min(place + image.len() as u64);
    if from < to {
        let range = |start| (from - start) as usize..(to - start) as usize;
        buffer[range(offset)].copy_from_slice(&image[range(place)]);
    }
}

/// Any words in the first line as arguments of Vdbench, the other lines as its parameter file: what
/// is accepted can be told as a simulation.
pub fn vdbench(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let (line, file) = text.split_once('\n').unwrap_or(("", text));
    let mut words: Vec<String> = vec!["-f".to_owned(), "p".to_owned()];
    words.extend(line.split_whitespace().map(str::to_owned));
    let read = |path: &Path| match path.to_str() {
        Some("p") => Ok(file.to_owned()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    if let Ok(command) = vdbench_language::command(&words)
        && let Ok(script) = vdbench_language::parse(&command, &read, &|_| false)
    {
        for run in script.runs.iter().take(1000) {
            assert!(run.simulated().starts_with("Simulating RD="));
        }
    }
}
