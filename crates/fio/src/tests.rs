//! From text to plan: what job files mean.

use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{Access, Content, Engine, Job, Mix, Pace, Pattern, Rate};

use super::*;

mod names;

struct NoFiles;

impl Reader for NoFiles {
    fn include(&mut self, path: &str) -> Result<String, String> {
        match path {
            "common.fio" => Ok("bs=8k\n".to_owned()),
            "sections.fio" => Ok("[b]\nbs=8k\n".to_owned()),
            "itself.fio" => Ok("include itself.fio\n".to_owned()),
            _ => Err("there is none".to_owned()),
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        match name {
            "SIZE" => Some("2m".to_owned()),
            "$ncpus" => Some("4".to_owned()),
            _ => None,
        }
    }
}

pub(super) fn planned(text: &str) -> Result<Prepared, Mistake> {
    read(text, false)
}

fn read(text: &str, only_parsed: bool) -> Result<Prepared, Mistake> {
    let sections = parse_jobs("job.fio", text, &mut NoFiles)?;
    let resolved = resolve(&sections, &[])?;
    let context = PlanContext {
        size_of: &|path| match path {
            "/dev/there" => Some(1 << 30),
            "/full/empty" => Some(0),
            _ => None,
        },
        is_device: &|path| path == "/dev/there",
        room_at: &|_| Some(1 << 20),
        files_below: &|directory| match directory {
            "/full" => ["/dev/there", "/full/empty"].map(str::to_owned).into(),
            _ => Vec::new(),
        },
        processors: 8,
        device_of: &|major, minor| format!("/dev/{major}-{minor}"),
        control_groups: None,
        node_processors: &|node| vec![2 * node, 2 * node + 1],
        bytes_of: &|path| match path {
            "write.log" => Ok(trace("/dev/shm/x", "write")),
            "read.log" => Ok(trace("none", "read")),
            "two.log" => {
                Ok([trace("x", "read"), b"y add\ny open\ny read 0 4096\n".into()].concat())
            }
            "local-a-0-verify.state" => Ok(State::default().encode()),
            _ => Err("there is none".to_owned()),
        },
        aux: None,
        client: None,
        only_parsed,
        seed: 7,
    };
    prepare(&resolved, "job", &context)
}

fn trace(path: &str, operation: &str) -> Vec<u8> {
    format!("fio version 2 iolog\n{path} add\n{path} open\n{path} {operation} 0 4096\n").into()
}

fn jobs(text: &str) -> Vec<Job> {
    let prepared = planned(text).unwrap_or_else(|mistake| panic!("{text}\n{mistake}"));
    let cases = prepared.plan.cases.into_iter();
    cases.flat_map(|case| case.workload.jobs).collect()
}

#[track_caller]
fn job(options: &str) -> Job {
    let text = format!("[a]\n{}\n", options.replace(' ', "\n"));
    let mut jobs = jobs(&text);
    assert_eq!(jobs.len(), 1, "{options}");
    jobs.remove(0)
}

#[track_caller]
fn refused(text: &str, words: &str) {
    let whole = planned(text).and_then(Prepared::whole);
    let mistake = whole.expect_err(text).to_string();
    assert!(mistake.contains(words), "{text}\n{mistake}");
}

#[test]
fn without_options_it_is_a_buffered_sequential_read_of_4_kib() {
    let job = job("size=1m");
    assert_eq!(job.engine, Engine::Psync);
    assert_eq!(job.access, Access::Buffered);
    assert_eq!(job.pattern, Pattern::Sequential);
    assert_eq!(job.mix, Mix::READ);
    assert_eq!(job.sizes.largest(), Bytes(4096));
    assert_eq!(job.stop.bytes, Some(Bytes::MIB));
    assert_eq!(job.targets, ["a.0.0"]);
}

#[test]
fn globals_hold_for_the_jobs_after_them() {
    let all = jobs("[global]\nbs=8k\nsize=1m\n[a]\n[global]\nbs=16k\n[b]\nsize=2m\n[c]\n");
    let sizes: Vec<u64> = all.iter().map(|job| job.sizes.largest().0).collect();
    assert_eq!(sizes, [8192, 16384, 16384]);
    let bytes: Vec<u64> = all
        .iter()
        .filter_map(|job| job.stop.bytes)
        .map(|b| b.0)
        .collect();
    assert_eq!(bytes, [1 << 20, 2 << 20, 1 << 20]);
}

#[test]
fn includes_variables_and_arithmetic_are_resolved() {
    let text = "[global]\ninclude common.fio\n[a] ; first\nsize=${SIZE} # so big\n\
                [b]\nsize=2*$ncpus*1k\n";
    let all = jobs(text);
    assert_eq!(all[0].sizes.largest(), Bytes(8192));
    assert_eq!(all[0].stop.bytes, Some(Bytes(2 << 20)));
    assert_eq!(all[1].stop.bytes, Some(Bytes(8192)));
}

/// The story: an `include` before the first section was taken, and one of a file with sections, where
/// fio refuses the first and leaves the second out.
#[test]
fn an_include_stands_in_a_section_and_holds_options() {
    refused(
        "include common.fio\n[a]\nsize=1m\n",
        "job.fio:1: option <include common.fio> outside of [] job section",
    );
    refused(
        "[a]\nsize=1m\ninclude sections.fio\n",
        "sections.fio:1: section [b] is in an included file",
    );
}

/// The story: a script went through all mixes of a job that verifies, and at 100 % of reads each of them
/// was compared with headers that nobody had written. fio checks the reads of a job of both directions
/// only where the job has written before.
#[test]
fn a_mix_without_writes_has_nothing_to_verify() {
    let verifies = |options: &str| job(options).verify.is_some();
    assert!(!verifies("size=64k rw=randrw rwmixread=100 verify=md5"));
    assert!(verifies("size=64k rw=randrw rwmixread=99 verify=md5"));
    assert!(verifies("size=64k rw=randread verify=md5"));
}

/// The story: of 300 KiB over a file of 256 KiB in blocks of 64 KiB, fio moves 262,144 bytes, for it
/// begins no further pass for less than the largest block of any direction; here it was 327,680. And
/// sizes of any byte went on from the file's beginning, 1,004,095 bytes of 1,000,000.
#[test]
fn no_further_pass_is_begun_for_less_than_a_block() {
    let bytes = |options: &str| job(options).stop.bytes.map(|bytes| bytes.0);
    for (options, expected) in [
        ("size=256k io_size=300k bs=64k", 262_144),
        ("size=256k io_size=300k bs=64k rw=randread", 262_144),
        ("size=256k io_size=300k bs=16k", 307_200),
        ("size=256k io_size=300k bs=16k,64k", 262_144),
        ("size=256k io_size=300k bssplit=4k/50:64k/50", 262_144),
        ("size=100k io_size=300k bs=16k", 294_912),
        ("size=100k io_size=300k bs=16k loops=2", 294_912),
        ("size=256k io_size=4k bs=64k", 4096),
        // These meet no end.
        (
            "size=256k io_size=300k bs=64k rw=randread norandommap",
            307_200,
        ),
        ("size=256k io_size=300k bs=64k rw=rw", 307_200),
        ("size=256k io_size=300k bs=64k rw=read:8k", 307_200),
        ("size=256k io_size=300k bs=64k rw=read:-64k", 307_200),
        (
            "size=256k io_size=300k bs=64k rw=randread percentage_random=50",
            307_200,
        ),
        // Less than 4,096 bytes may be left.
        ("size=1000000 bsrange=4k-16k bs_unaligned", 995_905),
        (
            "size=1000000 bssplit=8k/50:12k/50 bs_unaligned rw=write",
            991_809,
        ),
    ] {
        assert_eq!(bytes(options), Some(expected), "{options}");
    }
}

/// The story: a job that keeps few of its files open and lets the kernel poll ran, where fio refuses
/// it: what is polled is registered, and registered files stay open.
#[test]
fn files_that_are_polled_are_registered() {
    refused(
        "[a]\nsize=1m\nioengine=io_uring\nsqthread_poll=1\nnrfiles=4\nopenfiles=2\n",
        "openfiles: a kernel thread that polls (sqthread_poll) takes registered files",
    );
}

#[test]
fn clones_have_files_and_parts_of_their_own() {
    let all = jobs("[a]\nsize=64k\nnumjobs=2\noffset_increment=16k\nnrfiles=2\ndirectory=/x:/y\n");
    assert_eq!(all[0].targets, ["/x/a.0.0", "/x/a.0.1"]);
    assert_eq!(all[1].targets, ["/y/a.1.0", "/y/a.1.1"]);
    assert_eq!(all[1].region.offset, Bytes(16 << 10));
    assert_eq!(all[1].region.size, Some(Bytes(32 << 10)));
}

#[test]
fn a_stonewall_begins_a_case_and_both_walls_a_group() {
    let text = "[global]\nsize=1m\n[a]\n[b]\nnew_group\n[c]\nstonewall\n[d]\n";
    let prepared = planned(text).expect("a sound file");
    let groups: Vec<(usize, u32)> = prepared
        .clones
        .iter()
        .map(|clone| (clone.case, clone.group))
        .collect();
    assert_eq!(groups, [(0, 0), (0, 1), (1, 2), (1, 2)]);
}

#[test]
fn time_based_jobs_end_by_time_alone() {
    let timed = job("size=1m runtime=2m time_based");
    assert_eq!(timed.stop.runtime, Some(Nanos::from_secs(120)));
    assert_eq!(timed.stop.bytes, None);
    let either = job("size=1m runtime=10");
    assert_eq!(either.stop.runtime, Some(Nanos::from_secs(10)));
    assert_eq!(either.stop.bytes, Some(Bytes::MIB));
}

#[test]
fn a_pass_is_of_whole_blocks() {
    assert_eq!(job("size=10k").stop.bytes, Some(Bytes(8192)));
    assert_eq!(job("size=10k rw=randread").stop.bytes, Some(Bytes(8192)));
    let free = job("size=10k rw=randread norandommap");
    // The third block is begun and whole.
    assert_eq!(free.stop.bytes, Some(Bytes(10 << 10)));
    let lfsr = job("size=10k rw=randread norandommap random_generator=lfsr");
    assert_eq!(lfsr.stop.bytes, Some(Bytes(8192)));
    assert_eq!(job("size=64k nrfiles=3").stop.bytes, Some(Bytes(61440)));
    assert_eq!(job("size=64k loops=3").stop.bytes, Some(Bytes(196_608)));
}

#[test]
fn gaps_end_at_the_end_or_lead_to_the_beginning() {
    let blocks = |text| job(text).stop.bytes.unwrap().0 >> 10;
    // The next one would begin at 127.5 MiB and end beyond.
    assert_eq!(blocks("rw=read:512k bs=1m size=128m"), 85 << 10);
    assert_eq!(blocks("rw=read:512k bs=1m size=128m loops=2"), 170 << 10);
    // The last one ends with the file.
    assert_eq!(blocks("rw=read:4k bs=4k size=20k"), 12);
    // The next one would begin beyond, and begins anew instead, until all bytes are moved.
    assert_eq!(blocks("rw=read:4k bs=4k size=13k"), 13);
    assert_eq!(blocks("rw=write:4k bs=4k size=1m"), 1024);
    assert_eq!(
        blocks("rw=read:512k bs=1m size=128m io_size=256m"),
        256 << 10
    );
}

#[test]
fn what_stands_behind_a_number_is_dropped_and_noted() {
    let text = "[a]\nsize=64k)\nrw=randread\nbsrange=512/25:1k:25:4k/25\n";
    let prepared = planned(text).expect("fio takes it");
    let sizes = &prepared.plan.cases[0].workload.jobs[0].sizes.read;
    assert_eq!(sizes.smallest(), Bytes(512));
    assert_eq!(sizes.largest(), Bytes(1024));
    let noted = |subject| prepared.notes.iter().any(|note| note.subject == subject);
    assert!(noted("size") && noted("bsrange"));
}

#[test]
fn a_device_is_worked_on_whole() {
    let whole = job("filename=/dev/there");
    assert_eq!(whole.region.size, None);
    assert_eq!(whole.stop.bytes, Some(Bytes::GIB));
    let half = job("filename=/dev/there size=50%");
    assert_eq!(half.region.size, Some(Bytes(512 << 20)));
    refused("[a]\nfilename=/dev/missing\n", "you need to specify size=");
}

#[test]
fn models_are_names_to_the_end() {
    let model = job("filename=sim:gp3:1TiB@r5d.xlarge runtime=30 time_based");
    assert_eq!(model.targets, ["sim:gp3:1TiB@r5d.xlarge"]);
}

#[test]
fn sizes_patterns_and_paces() {
    let split = job("size=1m rw=randread bssplit=4k/60:8k/40");
    assert_eq!(split.sizes.read.0, [(Bytes(4096), 60), (Bytes(8192), 40)]);
    let by_way = job("size=1m rw=randrw bs=4k,8k");
    assert_eq!(by_way.sizes.write.largest(), Bytes(8192));
    let zipf = job("size=1m rw=randread random_distribution=zipf:1.2");
    assert_eq!(zipf.pattern, Pattern::Zipf { theta: 1.2 });
    let strided = job("size=1m rw=read:4k");
    assert_eq!(
        strided.pattern,
        Pattern::Strided {
            stride: Bytes(8192)
        }
    );
    let capped = job("size=1m rw=rw rate=1m");
    let rate = Some(Rate::Bytes(1_048_576.0));
    let rates = [rate, rate, None];
    assert_eq!(
        capped.pace,
        Pace::ByDirection {
            rates,
            poisson: false
        }
    );
    assert_eq!(job("size=1m rw=write zero_buffers").content, Content::Zero);
    assert_eq!(
        job("size=1m thinktime=10ms").think.map(|t| t.pause),
        Some(Nanos::from_millis(10))
    );
    assert_eq!(job("size=1m cpus_allowed=1-3").pin, [1]);
}

#[test]
fn mistakes_say_where_and_what_would_work() {
    for (text, words) in [
        ("[a]\nsize=1m\nfoo=1\n", "job.fio:3: Bad option <foo=1>"),
        ("[a]\nsize=1m\niodepht=4\n", "did you mean iodepth?"),
        ("[a]\nsize=4x\n", "job.fio:2: failed parsing size=4x"),
        (
            "[a]\nsize=1m\nrw=readx\n",
            "job.fio:3: job a: rw: `readx` is none of read",
        ),
        ("size=1m\n", "outside of [] job section"),
        ("[a\n", "lacks its `]`"),
        (
            "[a]\nsize=${NOPE}\n",
            "job.fio:2: failed parsing size=: ${NOPE} is not set; option size requires an argument",
        ),
        (
            "[a]\nsize=1m\nrw=${WORD}x${SIZE}\n",
            "job.fio:3: job a: rw: `x2m` is none of",
        ),
        ("[a]\nsize=1m\nrw=${WORD}x${SIZE}\n", "; ${WORD} is not set"),
        ("[a]\ninclude itself.fio\n", "include itself"),
        ("[a]\ninclude nowhere.fio\n", "cannot include nowhere.fio"),
        ("[a]\nsize=1m\ndirect=2\n", "out of range: 0 to 1"),
        ("[a]\nsize=1m\nioengine=rbd\n", "engine rbd is not there"),
        (
            "[a]\nsize=1m\nrandom_distribution=zoned:50/50:40/50\nrw=randread\n",
            "not to 100",
        ),
        // fio refuses it, too; here it held within 0.01 %, which hardly any device is.
        ("[a]\nsize=1m\nss=iops\n", "as in `iops:2%`"),
        // Nothing is ever as steady as these.
        ("[a]\nsize=1m\nss=iops:nan%\n", "no number from 0 on"),
        ("[a]\nsize=1m\nss=bw:-5\n", "no number from 0 on"),
        ("[a]\n", "you need to specify size="),
    ] {
        refused(text, words);
    }
}

/// The story: of `bssplit=8k/50:12k/50`, fio 3.33 makes blocks of 8 KiB alone, for it cuts all sizes to
/// multiples of the smallest; here half of the blocks had 12 KiB. And where `size` was no multiple, a
/// sequential job read more than it, from the beginning again.
#[test]
fn sizes_of_a_split_are_multiples_of_the_smallest() {
    let sizes = |options: &str| {
        let job = job(options);
        let sizes: Vec<u64> = job.sizes.read.0.iter().map(|(size, _)| size.0).collect();
        (sizes, job.stop.bytes.map(|bytes| bytes.0))
    };
    let cut = sizes("size=1000000 bssplit=8k/50:12k/50");
    assert_eq!(cut, (vec![8192, 8192], Some(999_424)));
    let odd = sizes("size=1000000 bssplit=3000/50:7000/50");
    assert_eq!(odd, (vec![3000, 6000], Some(999_000)));
    let range = sizes("size=1000000 bsrange=4k-12k");
    assert_eq!(range, (vec![4096, 12288], Some(999_424)));
    let any = sizes("size=1000000 bssplit=8k/50:12k/50 bs_unaligned");
    assert_eq!(any, (vec![8192, 12288], Some(991_809)));
}

/// The story: with `kb_base=1000`, `bs=4k` was 4,000 bytes and a `bssplit` of `1k` and `7k` had 1,024
/// and 7,168, so that a job read beyond its `size`. fio has one `k` for all of a job.
#[test]
fn k_is_the_same_in_texts_of_several_sizes() {
    let split = job("kb_base=1000 size=100k bssplit=1k/50:7k/50");

    let sizes = [(Bytes(1000), 50), (Bytes(7000), 50)];
    assert_eq!(split.sizes.read.0, sizes);
    let strided = job("bs=4k rw=read:8k size=100k kb_base=1000");
    let stride = Bytes(12_000);
    assert_eq!(strided.pattern, Pattern::Strided { stride });
    let zoned = job(
        "kb_base=1000 size=100k rw=randread norandommap random_distribution=zoned_abs:60/25k:40/75k",
    );
    let Pattern::Zones(zones) = zoned.pattern else {
        panic!("{:?}", zoned.pattern)
    };
    assert_eq!(zones[0].space_percent, 25.0);
}

#[test]
fn what_is_not_exact_is_noted_once() {
    let text = "[global]\nsize=1m\nthread\nclocksource=cpu\n[a]\n[b]\n";
    let prepared = planned(text).expect("a sound file");
    let subjects: Vec<&str> = prepared.notes.iter().map(|note| &*note.subject).collect();
    assert_eq!(subjects, ["clocksource", "thread"]);
    let harmless = planned("[a]\nsize=1m\nthread=0\nnice=0\nfallocate=native\n");
    assert_eq!(harmless.expect("a sound file").notes, []);
}

#[test]
fn a_later_name_for_the_largest_of_a_span() {
    let window = |options: &str| {
        let prepared = planned(&format!("[a]\nsize=1m\nlog_avg_msec=10\n{options}\n"));
        prepared.expect(options).clones[0].logs.window
    };
    for (options, expected) in [
        ("", WindowValue::Mean),
        ("log_window_value=avg", WindowValue::Mean),
        ("log_window_value=max", WindowValue::Largest),
        ("log_max_value=1", WindowValue::Largest),
        ("log_window_value=both", WindowValue::Both),
    ] {
        assert_eq!(window(options), expected, "{options}");
    }
    refused(
        "[a]\nsize=1m\nlog_window_value=most\n",
        "none of avg, max, both",
    );
}

#[test]
fn sections_can_be_chosen() {
    let sections = parse_jobs("j", "[global]\nsize=1m\n[a]\n[b]\n", &mut NoFiles).expect("sound");
    let only = resolve(&sections, &["b".to_owned()]).expect("there is b");
    assert_eq!(only.specs.len(), 1);
    assert_eq!(only.specs[0].name, "b");
    let missing = resolve(&sections, &["c".to_owned()]).expect_err("there is no c");
    assert!(missing.to_string().contains("there are a, b"), "{missing}");
    // `--showcmd` printed all jobs, whichever were chosen.
    let only = ["b".to_owned()];
    let chosen = sections.iter().filter(|section| section.is_chosen(&only));
    let names: Vec<&str> = chosen.map(|section| &*section.name).collect();
    assert_eq!(names, ["global", "b"]);
}

#[track_caller]
fn command(line: &str) -> Command {
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    parse_command(&words).unwrap_or_else(|mistake| panic!("{line}: {mistake}"))
}

#[test]
fn a_command_line_is_jobs_and_files() {
    let line = "--bs=8k --name=a --size=1m --name b --rw=write job.fio --output-format=json,normal";
    let command = command(line);
    assert_eq!(command.general.formats, [Format::Json, Format::Normal]);
    let names: Vec<String> = command
        .inputs
        .iter()
        .map(|input| match input {
            Input::Job(section) => section.name.clone(),
            Input::File(path) => path.clone(),
        })
        .collect();
    assert_eq!(names, ["global", "a", "b", "job.fio"]);
}

/// What stands before all clients is of each of them; what follows a client is of that one, and of those
/// right before it.
#[test]
fn clients_have_jobs_of_their_own() {
    let names = |inputs: &[Input]| -> Vec<String> {
        let name = |input: &Input| match input {
            Input::Job(section) => section.name.clone(),
            Input::File(path) => path.clone(),
        };
        inputs.iter().map(name).collect()
    };
    let read =
        command("all.fio --client=h0 a.fio --client=h1 --client=h2 own.fio --rw=read --name=b");
    assert!(read.inputs.is_empty());
    let clients: Vec<_> = read
        .clients
        .iter()
        .map(|client| (client.host.as_str(), names(&client.inputs)))
        .collect();
    let all = |rest: &[&str]| -> Vec<String> {
        let names = [&["all.fio"], rest].concat();
        names.into_iter().map(str::to_owned).collect()
    };
    let own = all(&["own.fio", "global", "b"]);
    let expected = [("h0", all(&["a.fio"])), ("h1", own.clone()), ("h2", own)];
    assert_eq!(clients, expected);
}

#[test]
fn options_may_be_shortened_and_mistaken() {
    assert!(command("--parse").general.parse_only);
    for (line, words) in [
        ("--output-formt=json", "did you mean --output-format?"),
        ("--output-format=xml", "none of normal, terse"),
        ("--terse-version=9", "2, 3, 4 or 5"),
        ("--server", "blocklab fleet run"),
        ("--section", "requires an argument"),
        ("--minimal=1", "doesn't allow an argument"),
        ("--crctest", "it measures the processor, not storage"),
        ("--memcpytest=list", "--memcpytest is not supported"),
        ("--profile=tiobench", "write its jobs out in a job file"),
    ] {
        let words_of = [line.to_owned()];
        let mistake = parse_command(&words_of).expect_err(line).to_string();
        assert!(mistake.contains(words), "{line}: {mistake}");
    }
}

/// A `name` in `[global]` named every job, and programs that tell jobs by their names saw one.
#[test]
fn a_name_for_all_names_no_job() {
    let text = "[global]\nname=g\nsize=1m\n[a]\n[b]\nname=c\n";
    let prepared = planned(text).expect("sound jobs");
    let names: Vec<&str> = prepared.clones.iter().map(|clone| &*clone.name).collect();
    assert_eq!(names, ["a", "c"]);
    let told = ("name".to_owned(), "g".to_owned());
    assert!(prepared.globals.contains(&told), "{:?}", prepared.globals);
}

/// A variable that is not set was a mistake; fio leaves nothing in its place, and 13 of its own
/// examples are read that way.
#[test]
fn a_variable_that_is_not_set_leaves_nothing() {
    assert_eq!(job("size=1m filename=x${UNSET}y").targets, ["xy"]);
    refused("[a]\nsize=1m\nbs=${UNSET}\n", "requires an argument");
    refused("[a]\nsize=1m\nthread=${UNSET}\n", "requires an argument");
}

/// `allrandrepeat=0` alone changed nothing: `randrepeat` was on all the same.
#[test]
fn either_of_two_options_repeats_what_was_drawn() {
    let seed = |options: &str| {
        let prepared = planned(&format!("[a]\nsize=1m\n{options}\n")).expect(options);
        prepared.plan.cases[0].workload.seed
    };
    for repeated in [
        "",
        "allrandrepeat=1",
        "randrepeat=1",
        "allrandrepeat=0\nrandrepeat=1",
        "randrepeat=0\nallrandrepeat=1",
    ] {
        assert_eq!(seed(repeated), 0x89, "{repeated}");
    }
    // The seed of chance.
    for drawn in ["allrandrepeat=0", "randrepeat=0"] {
        assert_eq!(seed(drawn), 7, "{drawn}");
    }
}

/// `verify_header_seed=1` was ignored: without `verify_write_sequence`, any write of its place was
/// what a block had to hold.
#[test]
fn a_block_may_hold_any_write_where_neither_seed_nor_number_is_compared() {
    let any_write = |options: &str| {
        let job = job(&format!(
            "size=1m verify=md5 verify_write_sequence=0 {options}"
        ));
        job.verify.expect("it verifies").any_write
    };
    for compared in [
        "rw=randwrite",
        "rw=read verify_header_seed=1",
        "rw=write:4k verify_header_seed=1",
    ] {
        assert!(!any_write(compared), "{compared}");
    }
    for any in [
        "rw=randwrite verify_header_seed=0",
        "rw=randwrite norandommap",
        "rw=write verify_backlog=8",
        "rw=write:4k",
        "rw=read",
    ] {
        assert!(any_write(any), "{any}");
    }
}

/// An SSD is filled as often as its flash is larger than what it reports, and no more.
#[test]
fn sprandom_writes_the_whole_flash_once() {
    let given = "rw=randwrite sprandom=1 size=400m";
    let filled = job(given);
    let Pattern::Preconditioning { regions, .. } = filled.pattern else {
        panic!("{:?}", filled.pattern);
    };
    assert_eq!(regions, 100);
    // As later fio, counted in its own trace.
    assert_eq!(filled.stop.bytes, Some(Bytes(117_760 * 4096)));
    let half = job(&format!("{given} spr_op=0.5 spr_num_regions=10"));
    assert_eq!(half.stop.bytes, Some(Bytes(153_600 * 4096)));
    for (more, words) in [
        ("rw=write", "rw=randwrite"),
        ("rw=randrw", "rw=randwrite"),
        ("norandommap=0", "norandommap=1"),
        ("random_generator=tausworthe", "random_generator=lfsr"),
        ("bsrange=4k-8k", "one size"),
        ("spr_op=1.5", "between 0 and 1"),
        ("spr_cs=8m", "spr_num_regions"),
    ] {
        refused(
            &format!("[a]\n{}\n{more}\n", given.replace(' ', "\n")),
            words,
        );
    }
}

/// `ss_ramp=500` made a job of ten seconds run for 510, and left its figures out.
#[test]
fn the_ramp_of_a_steady_state_is_no_ramp_of_the_job() {
    let job = job("size=1m runtime=10 time_based ss=iops:10% ss_dur=5 ss_ramp=500 ramp_time=2");
    assert_eq!(job.ramp, Nanos::from_secs(2));
    assert_eq!(job.stop.steady_after, Nanos::from_secs(500));
}

/// The page cache was dropped each time that as many bytes were moved as the file has, and the job
/// was 15 to 30 times slower than under fio.
#[test]
fn what_draws_without_a_map_for_a_time_drops_the_cache_once() {
    let every = |options: &str| job(options).drop_cache_every;
    let timed = "size=1m time_based runtime=2";
    assert_eq!(every(&format!("{timed} rw=randread norandommap")), None);
    assert_eq!(every(&format!("{timed} rw=randread")), Some(Bytes::MIB));
    assert_eq!(every(&format!("{timed} rw=read")), Some(Bytes::MIB));
    let loops = "size=1m loops=3 rw=randread norandommap";
    assert_eq!(every(loops), Some(Bytes::MIB));
}

/// It was refused, as a window that is longer than the region.
#[test]
fn a_zone_may_reach_beyond_the_file() {
    let job = job("size=1m zonemode=strided zonesize=4m");
    let window = job.window.expect("zones");
    assert_eq!((window.bytes, window.range), (Bytes(4 << 20), Bytes::MIB));
}

/// A job by zones went around at the end of its file until it had moved `size`; fio ends it in the
/// zone that the end cuts.
#[test]
fn a_pass_by_zones_ends_in_the_zone_that_the_end_cuts() {
    let bytes = |options: &str| {
        let zones = "size=1m zonemode=strided zonerange=128k zoneskip=200k";
        job(&format!("{zones} {options}")).stop.bytes
    };
    assert_eq!(bytes("zonesize=96k"), Some(Bytes(328 << 10)));
    assert_eq!(bytes("zonesize=90k bs=8k"), Some(Bytes(328 << 10)));
    assert_eq!(bytes("zonesize=256k"), Some(Bytes(808 << 10)));
    // What it would do in the last zone lies before the end.
    assert_eq!(bytes("zonesize=32k"), Some(Bytes::MIB));
    assert_eq!(bytes("zonesize=96k rw=rw"), Some(Bytes::MIB));
    assert_eq!(bytes("zonesize=96k loops=2"), Some(Bytes(656 << 10)));
}

#[test]
fn engines_that_are_not_here_are_read_and_not_opened() {
    for (engine, option) in [
        ("net", "hostname=localhost"),
        ("sg", "readfua=1"),
        ("rbd", "rbdname=a"),
        ("io_uring_cmd", "cmd_type=nvme"),
    ] {
        let text = format!("[a]\nsize=1m\n{option}\nioengine={engine}\n");
        assert!(read(&text, true).is_ok(), "{text}");
        refused(&text, engine);
        // On a command line these options were unrecognized.
        let given = command(&format!("--name=a --ioengine={engine} --{option}"));
        assert!(matches!(&given.inputs[..], [Input::Job(section)] if section.settings.len() >= 2));
    }
    assert!(read("[a]\nsize=1m\nioengine=bogus\n", true).is_err());
    let other = read("[a]\nsize=1m\nioengine=sg\nhostname=h\n", true);
    let other = other.expect_err("an option of net").to_string();
    assert!(other.contains("hostname"), "{other}");
}

/// Without any of the three our own grouping stays; with one of them all are as in fio.
#[test]
fn who_groups_operations_gets_what_fio_does() {
    let batch = |options: &str| {
        let job = job(&format!("size=1m ioengine=libaio iodepth=32 {options}"));
        let batch = job.batch;
        (batch.submit, batch.complete, batch.take)
    };
    assert_eq!(batch(""), (0, 1, 0));
    assert_eq!(batch("iodepth_batch=1"), (1, 1, 1));
    assert_eq!(batch("iodepth_batch=0"), (32, 1, 1));
    assert_eq!(batch("iodepth_batch_complete_min=8"), (1, 8, 8));
    assert_eq!(batch("iodepth_batch_complete_max=16"), (1, 1, 16));
    let all = "iodepth_batch=4 iodepth_batch_complete_min=2 iodepth_batch_complete_max=99";
    assert_eq!(batch(all), (4, 2, 99));
}

/// `loops` and the bytes beyond the files were multiplied; and a job that writes its file from end to
/// end and verifies it wrote the file once where `io_size` asked for more, as fio did up to 3.41. A
/// later fio writes all of `io_size` and then reads each block once, as its manual says.
#[test]
fn loops_and_further_bytes_of_a_verifying_job_are_not_multiplied() {
    let bytes = |options: &str| {
        let job = job(&format!("size=256k rw=write verify=crc32c {options}"));
        job.stop.bytes.map(|bytes| bytes.0 >> 18)
    };
    for (options, passes) in [
        ("io_size=700k loops=2", 3),
        ("io_size=1m", 4),
        ("io_size=1m do_verify=0", 4),
        ("io_size=1m verify_only", 4),
        ("io_size=1m loops=2", 4),
        ("io_size=1m loops=5", 5),
        ("io_size=2m loops=3", 8),
    ] {
        assert_eq!(bytes(options), Some(passes), "{options}");
    }
}

/// The clones of a group go through a ramp by bytes together. One that moves no bytes would never
/// be over.
#[test]
fn a_ramp_by_bytes_is_that_of_the_group() {
    let ramps = |options: &str| {
        let text = format!("[a]\nnumjobs=2\nsize=1m\nramp_size=64k\n{options}\n[b]\nsize=1m\n");
        let prepared = planned(&text).expect("sound jobs");
        let jobs = prepared.plan.cases[0].workload.jobs.iter();
        let ramps = jobs.map(|job| job.sized_ramp.map(|ramp| (ramp.bytes.0, ramp.group)));
        ramps.collect::<Vec<_>>()
    };
    let alone = Some((65_536, None));
    assert_eq!(ramps(""), [alone, alone, None]);
    let together = Some((65_536, Some(0)));
    assert_eq!(ramps("group_reporting"), [together, together, None]);
    assert_eq!(ramps("ioengine=cpuio\ncpuload=50\nruntime=1"), [None; 3]);
}

/// They were not compared, and the run went at the lower rate.
#[test]
fn a_rate_is_given_in_bytes_or_in_operations() {
    refused(
        "[a]\nsize=1m\nrate=,1m\nrate_iops=100\n",
        "mutually exclusive",
    );
}

/// A job that verifies what it reads ran once, whatever `loops` said.
#[test]
fn what_is_read_to_verify_is_read_again() {
    let job = job("size=1m rw=read verify=crc32c loops=3");
    assert_eq!(job.stop.bytes, Some(Bytes(3 << 20)));
}

#[test]
fn a_description_keeps_its_quotation_marks() {
    let prepared = planned("[a]\nsize=1m\ndescription=\"two words\"\n").expect("a sound job");
    let told = prepared.clones[0].style.description.as_deref();
    assert_eq!(told, Some("\"two words\""));
}

/// The story: the number was that of all loops, and ended jobs that were to run for a time.
#[test]
fn a_number_of_operations_is_that_of_each_loop() {
    assert_eq!(job("size=1m number_ios=17 loops=3").stop.ios, Some(51));
    let timed = job("size=1m number_ios=17 time_based runtime=1");
    assert_eq!(timed.stop.ios, None);
}

/// The story: the centre was dropped without a word.
#[test]
fn a_centre_is_heeded_or_refused() {
    let centred = job("size=1m rw=randread random_distribution=zipf:1.2:0.25");
    assert_eq!(centred.center, Some(0.25));
    let files = job("size=1m nrfiles=4 file_service_type=gauss:20:0.9");
    assert_eq!(files.target_center, Some(0.9));
    refused(
        "[a]\nsize=1m\nrandom_distribution=pareto:0.2:x\n",
        "centre `x`",
    );
}

/// The story: `roundrobin:nan` was a turn of no operation, refused by the name of a key that is not fio's.
#[test]
fn a_turn_is_a_number() {
    for number in ["nan", "inf", "-inf", "x"] {
        let text = format!("[a]\nsize=1m\nfile_service_type=roundrobin:{number}\n");
        refused(&text, "no number follows");
    }
    assert_eq!(job("size=1m file_service_type=roundrobin:8").target_turn, 8);
}
