//! A controller of volumes in memory.

use std::sync::Arc;

use blocklab_device::{
    Cap, Credit, Device, DeviceSpec, Direction, InstanceSpec, Latency, Layout, Origin, Rate,
    Service, Spread, VolumeSpec,
};
use blocklab_record::ControlAction;
use blocklab_targets::Clock;
use blocklab_units::{Bytes, Nanos};

use super::*;
use crate::{Backing, Failure, Instance, MemoryLimit, Settled, Volume, VolumeSetup};

fn credit() -> Credit {
    Credit {
        name: "burst credits".to_owned(),
        baseline: Rate::Iops(100.0),
        burst: Rate::Iops(3000.0),
        capacity: 1e6,
        initial_share: 1.0,
        full_again: None,
        origin: Origin::Given,
    }
}

fn spec(iops: f64, bursts: bool) -> VolumeSpec {
    let latency = Latency {
        base: Nanos::from_millis(1),
        per_kib_ns: 0.0,
        origin: Origin::Given,
    };
    VolumeSpec {
        caps: vec![Cap::new("IOPS", Rate::Iops(iops), Origin::Given)],
        credits: if bursts { vec![credit()] } else { Vec::new() },
        service: Some(Service::even(latency, Spread::NONE)),
        ..VolumeSpec::new("test", Bytes(1 << 30))
    }
}

/// Two volumes without an instance, the second one a local disk.
fn controller(bursts: bool) -> (Controller, Vec<Arc<Volume>>) {
    controller_on(None, bursts)
}

/// The same two volumes on an instance.
fn controller_on(instance: Option<InstanceSpec>, bursts: bool) -> (Controller, Vec<Arc<Volume>>) {
    let spec_of = DeviceSpec {
        layout: Layout::Joined,
        instance,
        ..DeviceSpec::new("two", vec![spec(1000.0, bursts); 2])
    };
    let clock = Clock::start();
    let instance = Instance::new(Device::new(&spec_of, 1).expect("sound"), clock);
    let memory = MemoryLimit::new(Bytes(64 << 20));
    let volume = |index: usize| {
        Volume::new(VolumeSetup {
            name: ["a", "b"][index].to_owned(),
            size: Bytes(1 << 20),
            read_only: false,
            backing: Backing::Memory(Arc::clone(&memory)),
            model: Some((Arc::clone(&instance), index)),
            clock,
        })
    };
    let volumes = vec![volume(0), volume(1)];
    let controlled = volumes
        .iter()
        .enumerate()
        .map(|(index, volume)| Controlled {
            volume: Arc::clone(volume),
            is_local: index == 1,
        });
    // 4,000 IOPS only for the first one.
    let modify = move |index, settings: &Settings| {
        let iops = settings.iter().rev().find(|(key, _)| key == "iops");
        match (iops.map_or("1000", |(_, value)| value), index) {
            ("1000", _) => Ok(spec(1000.0, bursts)),
            ("2000", _) => Ok(spec(2000.0, bursts)),
            ("4000", 0) => Ok(spec(4000.0, bursts)),
            _ => Err("not sold".to_owned()),
        }
    };
    let controller = Controller::new(controlled.collect(), 1, clock.now(), Box::new(modify));
    (controller, volumes)
}

/// A write that is settled at the model's moment.
fn write(volume: &Volume, byte: u8) -> Result<(), Failure> {
    let mut ticket = volume.admit(Direction::Write, 0, 4096);
    let own = volume.write(&ticket, 0, &[byte; 4096]);
    let due = ticket.due;
    match volume.settle(&mut ticket, due, own) {
        Settled::Done(result) => result,
        Settled::Later => panic!("no stall"),
    }
}

fn first_byte(volume: &Volume) -> u8 {
    let mut bytes = Vec::new();
    volume.read(0, 1, &mut bytes).expect("in memory");
    bytes[0]
}

#[track_caller]
fn done(controller: &Controller, line: &str) -> Answer {
    let answer = controller.answer(line);
    assert_eq!(answer.error, None, "{line}");
    answer
}

#[track_caller]
fn refused(controller: &Controller, line: &str, words: &str) {
    let error = controller.answer(line).error.expect(line);
    assert!(error.contains(words), "{line}: {error}");
}

#[test]
fn a_power_cut_takes_what_nobody_flushed_and_fails_all_until_it_is_attached() {
    let (controller, volumes) = controller(false);
    write(&volumes[0], 7).expect("room");
    let answer = done(&controller, "fault power-cut --volume a");
    assert_eq!(answer.lost_pages, Some(1));
    assert!(!answer.volumes[0].attached && volumes[1].is_attached());
    assert_eq!(write(&volumes[0], 8), Err(Failure::Detached));
    refused(&controller, "fault power-cut --volume a", "gone already");
    done(&controller, "fault attach");
    assert_eq!(first_byte(&volumes[0]), 0);
    // The story: "a, b is there" was the answer for both, and then "each of a, b are".
    let error = controller.answer("fault attach").error;
    let error = error.expect("neither is gone");
    assert!(error.starts_with("a, b are attached"), "{error}");
    refused(&controller, "fault attach --volume a", "a is attached");
    let events = controller.events_of(0);
    let kinds: Vec<_> = events
        .iter()
        .map(|event| (event.action, event.hits))
        .collect();
    assert_eq!(
        kinds,
        [(ControlAction::PowerCut, 1), (ControlAction::Attach, 0)]
    );
    assert_eq!(events[0].until_ns, Some(events[1].at_ns));
    assert_eq!(
        controller.events_of(1).len(),
        1,
        "the cut was of the other one"
    );
}

/// A fault on both volumes that was ended on one of them was over in the Record of the other one,
/// where it went on.
#[test]
fn what_ends_on_one_volume_goes_on_on_the_others() {
    let (controller, _) = controller(false);
    done(&controller, "fault error 1%");
    done(&controller, "fault clear 1 --volume a");
    done(&controller, "fault detach");
    done(&controller, "fault attach --volume a");
    let ended = |index| {
        let events = controller.events_of(index);
        let of_faults = events.iter().filter(|event| event.action.is_fault());
        of_faults
            .map(|event| event.until_ns.is_some())
            .collect::<Vec<_>>()
    };
    assert_eq!(ended(0), [true, true]);
    assert_eq!(ended(1), [false, false]);
}

#[test]
fn a_stopped_instance_empties_its_own_disks_and_keeps_volumes() {
    let (controller, volumes) = controller(false);
    for volume in &volumes {
        write(volume, 7).expect("room");
    }
    refused(
        &controller,
        "fault stop --volume a",
        "unexpected argument '--volume'",
    );
    done(&controller, "fault stop");
    assert_eq!(write(&volumes[0], 8), Err(Failure::Detached));
    done(&controller, "fault attach");
    assert_eq!([first_byte(&volumes[0]), first_byte(&volumes[1])], [7, 0]);
}

/// Volumes of this size, each over one of the backings, and their controller.
fn over(backings: [Backing; 2], size: Bytes, is_local: bool) -> ([Arc<Volume>; 2], Controller) {
    let volumes = backings.map(|backing| {
        Volume::new(VolumeSetup {
            backing,
            ..VolumeSetup::in_memory(size)
        })
    });
    let controlled = volumes.each_ref().map(|volume| Controlled {
        volume: Arc::clone(volume),
        is_local,
    });
    let began = volumes[0].clock().now();
    let modify = Box::new(|_, _: &Settings| Err("not sold".to_owned()));
    let controller = Controller::new(controlled.into(), 1, began, modify);
    (volumes, controller)
}

/// `fault stop` ended at the first disk that could not be emptied: the volumes before it were detached,
/// those after it were not, and the Record knew nothing of it.
#[test]
fn a_backing_that_fails_keeps_no_volume_attached_and_is_kept_as_an_event() {
    let disk = tempfile::NamedTempFile::new().expect("a file");
    let only_read = std::fs::File::open(disk.path()).expect("there");
    let memory = MemoryLimit::new(Bytes(1 << 20));
    let backings = [Backing::File(Arc::new(only_read)), Backing::Memory(memory)];
    let (volumes, controller) = over(backings, Bytes(1 << 20), true);
    refused(
        &controller,
        "fault stop",
        "the backing of v cannot be written to",
    );
    assert!(volumes.iter().all(|volume| !volume.is_attached()));
    for index in 0..2 {
        let events = controller.events_of(index);
        assert_eq!(events[0].action, ControlAction::Stop);
    }
}

/// The story: `fault bitflip` on two volumes ended at the second one, whose backing cannot be written.
/// The bit of the first one stayed changed, and no record knew of it.
#[test]
fn bits_that_were_flipped_before_a_failure_are_an_event() {
    let disk = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(disk.path(), [7; 8192]).expect("room");
    let only_read = std::fs::File::open(disk.path()).expect("there");
    let memory = MemoryLimit::new(Bytes(1 << 20));
    let backings = [Backing::Memory(memory), Backing::File(Arc::new(only_read))];
    let (volumes, controller) = over(backings, Bytes(8192), false);
    write(&volumes[0], 0).expect("room");
    refused(
        &controller,
        "fault bitflip 1",
        "the backing of v cannot be changed; 1 bit was flipped all the same",
    );
    let hits = [0, 1].map(|index| controller.events_of(index)[0].hits);
    assert_eq!(hits, [1, 0]);
}

/// A fault on bytes that no volume has was taken, and hit nothing; to flip bits of them, the answer was to
/// write first.
#[test]
fn a_range_beyond_the_end_is_refused() {
    let (controller, _) = controller(false);
    let words = "a, b end before the range, which begins at 1 MiB";
    refused(&controller, "fault error 1% --range 1MiB..", words);
    refused(&controller, "fault bitflip 1 --range 1MiB..2MiB", words);
    done(&controller, "fault error 1% --range 1023KiB..2MiB");
}

#[test]
fn errors_are_counted_where_they_hit() {
    let (controller, volumes) = controller(false);
    done(&controller, "fault error 100% --on write --volume b");
    assert_eq!(write(&volumes[0], 1), Ok(()));
    assert_eq!(write(&volumes[1], 1), Err(Failure::Io));
    let fault = &done(&controller, "fault list --volume b").volumes[0].faults[0];
    assert_eq!((fault.number, fault.hits, fault.until_s), (1, 1, None));
    refused(&controller, "fault clear 2", "`fault list`");
    done(&controller, "fault clear 1");
    assert_eq!(write(&volumes[1], 1), Ok(()));
    assert_eq!(controller.events_of(1)[0].hits, 1, "also when it is over");
    refused(&controller, "status --volume c", "what is served: a, b");
}

/// Seconds between the first and the last of a thousand reads that arrive together.
fn span_of_thousand(volume: &Volume) -> f64 {
    let due: Vec<_> = (0..1000)
        .map(|_| {
            let ticket = volume.admit(Direction::Read, 0, 4096);
            let due = ticket.due;
            volume.abandon(ticket);
            due
        })
        .collect();
    due[999].since(due[0]).as_secs_f64()
}

/// `set iops=4000` was refused for the second volume; the next `set` of another key on the first
/// one alone gave it the 4,000 IOPS too.
#[test]
fn settings_that_one_volume_refuses_change_none() {
    let (controller, volumes) = controller(false);
    refused(&controller, "set iops=4000", "not sold");
    done(&controller, "set throughput=1 --volume a");
    let span = span_of_thousand(&volumes[0]);
    assert!((0.99..1.0).contains(&span), "{span}");
    done(&controller, "set iops=2000 --volume a");
    done(&controller, "set throughput=2 --volume a");
    let span = span_of_thousand(&volumes[0]);
    assert!((0.49..0.5).contains(&span), "another key leaves it: {span}");
}

/// What `--at 1h` had no volume, bucket or rate for was a warning after an hour.
#[test]
fn commands_of_a_later_moment_are_checked_and_not_carried_out() {
    let (controller, volumes) = controller(false);
    let check = |lines: &[&str]| {
        let commands: Vec<Command> = lines.iter().map(|line| line.parse().expect(line)).collect();
        controller.check(&commands)
    };
    for (line, words) in [
        ("fault stall 5s --volume c", "no volume `c`"),
        ("credits drain", "no burst bucket"),
        ("set iops=3", "not sold"),
    ] {
        let error = check(&["status", line]).expect_err(line);
        assert!(error.contains(line) && error.contains(words), "{error}");
    }
    // The first one makes the second one possible, or not.
    check(&[
        "set iops=4000 --volume a",
        "set throughput=1",
        "fault attach",
    ])
    .expect("sold");
    assert_eq!(controller.events_of(0), []);
    assert!(span_of_thousand(&volumes[0]) > 0.9, "nothing was set");
}

#[test]
fn rates_and_credits_change_where_there_are_any() {
    let (rates, volumes) = controller(false);
    refused(&rates, "credits drain", "no burst bucket");
    refused(&rates, "set iops=3", "not sold");
    assert_eq!(rates.events_of(0), [], "nothing was done");
    done(&rates, "set iops=2000");
    let span = span_of_thousand(&volumes[0]);
    assert!((0.49..0.5).contains(&span), "{span}");
    let (bursting, _) = controller(true);
    let left = |line| done(&bursting, line).volumes[0].balances[0].left;
    assert!(left("credits drain --volume a") < 1e5);
    assert!((4.9e5..6e5).contains(&left("credits 50% --volume a")));
    assert_eq!(left("credits fill"), 1e6);
}

/// `status` showed the buckets of m5.large, and `credits drain --volume a` said that the instance of `a`
/// had none; for a later moment, it was not refused before.
#[test]
fn buckets_of_the_instance_are_set_for_all_of_its_volumes() {
    let instance = InstanceSpec {
        credits: vec![credit()],
        ..InstanceSpec::new("small")
    };
    let (controller, _) = controller_on(Some(instance), false);
    let drain = "credits drain --volume a";
    let words = "a has no burst bucket of its own; `credits` without `--volume`";
    refused(&controller, drain, words);
    let command: Command = drain.parse().expect("a command");
    let error = controller.check(&[command]).expect_err(drain);
    assert!(error.contains(words), "{error}");
    let drained = done(&controller, "credits drain");
    assert!(drained.volumes[0].balances[0].left < 1e5);
}

/// Two volumes of 1,000 IOPS each on an instance of 1,500: together they get what it grants.
#[test]
fn volumes_share_what_their_instance_grants() {
    let instance = InstanceSpec {
        caps: vec![Cap::new("IOPS", Rate::Iops(1500.0), Origin::Given)],
        ..InstanceSpec::new("small")
    };
    let span = |instance| {
        let spec_of = DeviceSpec {
            layout: Layout::Joined,
            instance,
            ..DeviceSpec::new("two", vec![spec(1000.0, false); 2])
        };
        let clock = Clock::start();
        let instance = Instance::new(Device::new(&spec_of, 1).expect("sound"), clock);
        let volumes = [0, 1].map(|index| {
            Volume::new(VolumeSetup {
                name: index.to_string(),
                size: Bytes(1 << 20),
                read_only: false,
                backing: Backing::Memory(MemoryLimit::new(Bytes(0))),
                model: Some((Arc::clone(&instance), index)),
                clock,
            })
        });
        let due: Vec<_> = (0..1500)
            .map(|nth| {
                let volume = &volumes[nth % 2];
                let ticket = volume.admit(Direction::Read, 0, 4096);
                let due = ticket.due;
                volume.abandon(ticket);
                due
            })
            .collect();
        due[1499].since(due[0]).as_secs_f64()
    };
    let (alone, shared) = (span(None), span(Some(instance)));
    assert!((0.74..0.76).contains(&alone), "{alone}");
    assert!((0.99..1.01).contains(&shared), "{shared}");
}

#[test]
fn bits_change_where_something_was_written_and_the_same_ones_from_the_same_seed() {
    let flip = || {
        let (controller, volumes) = controller(false);
        refused(&controller, "fault bitflip 1", "write first");
        write(&volumes[0], 0).expect("room");
        let flipped = done(&controller, "fault bitflip 1 --volume a").flipped;
        let mut bytes = Vec::new();
        volumes[0].read(0, 4096, &mut bytes).expect("in memory");
        let changed: Vec<_> = (0u64..)
            .zip(&bytes)
            .filter(|(_, byte)| byte.count_ones() == 1)
            .map(|(at, _)| ("a".to_owned(), at))
            .collect();
        assert_eq!(changed, flipped);
        flipped
    };
    assert_eq!(flip(), flip());
}

#[test]
fn a_template_is_a_course_of_latencies() {
    let (controller, _) = controller(false);
    let volumes = done(
        &controller,
        "fault template intermittent-latency --volume a",
    )
    .volumes;
    let faults = &volumes[0].faults;
    let spans: Vec<_> = faults
        .iter()
        .map(|fault| (fault.until_s.unwrap_or(0.0) - fault.from_s).round())
        .collect();
    assert_eq!(spans, [60.0, 120.0, 120.0]);
    assert_eq!((faults[2].from_s - faults[0].from_s).round(), 780.0);
}

#[test]
fn lines_over_a_socket_and_clients_that_are_none() {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::os::unix::net::UnixStream;

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("control");
    let address = crate::nbd::Address::Unix(path.clone());
    let listener = crate::nbd::Listener::new(&address, crate::nbd::Access::Local).expect("free");
    let socket = ControlSocket::start(listener, Arc::new(controller(false).0)).expect("threads");
    let silent: Vec<_> = (0..40).map(|_| UnixStream::connect(&path)).collect();
    drop(silent);
    let mut client = loop {
        // Until those that hung up have left.
        let mut client = BufReader::new(UnixStream::connect(&path).expect("it listens"));
        let sent = client.get_mut().write_all(b"status\nfault \x1b[31m\n");
        let mut first = String::new();
        let answered = client.read_line(&mut first);
        if sent.is_ok() && answered.is_ok() && first.contains("volumes") {
            break client;
        }
        assert!(first.is_empty() || first.contains("16 clients are connected"));
    };
    let mut lines = String::new();
    client.read_line(&mut lines).expect("another answer");
    assert!(!lines.contains('\x1b'), "{lines}");
    assert!(lines.contains("unrecognized subcommand"), "{lines}");
    // The client that is answered leaves room for fifteen: as many of those that hung up may still be
    // there, so that the next one is refused.
    let rest = loop {
        let mut endless = UnixStream::connect(&path).expect("it listens");
        // As much as it takes.
        let _ = endless.write_all(&[b'x'; 1 << 16]);
        let mut rest = Vec::new();
        let _ = endless.read_to_end(&mut rest);
        let rest = String::from_utf8(rest).expect("text");
        if !rest.contains("16 clients are connected") {
            break rest;
        }
    };
    assert!(
        rest.contains("a line of text of at most 4096 bytes"),
        "{rest}"
    );
    let answer = loop {
        let (answer, line) = ask(&path, "fault detach").expect("it listens");
        if !line.contains("16 clients are connected") {
            break answer;
        }
    };
    assert!(answer.volumes.iter().all(|volume| !volume.attached));
    drop(socket);
    assert!(!path.exists());
}
