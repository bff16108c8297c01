//! Fleets without a network: hosts are a list of messages, and time is a number.

use super::*;
use crate::plan::tests::of_three_hosts;

const SECOND: i64 = 1_000_000_000;

fn at(seconds: f64) -> Now {
    let ns = (seconds * 1e9) as i64;
    Now {
        monotonic_ns: ns,
        unix_ns: ns + 1_700_000_000 * SECOND,
    }
}

fn hello(rank: usize, version: &str) -> FromHost {
    FromHost::Hello(Hello {
        name: format!("h{}", rank + 1),
        version: version.to_owned(),
        plan_format: PLAN_FORMAT,
    })
}

/// A coordinator of three hosts, and what it has ordered so far.
struct Fleet {
    coordinator: Coordinator,
    orders: Vec<Order>,
}

impl Fleet {
    fn new() -> Self {
        let plan = of_three_hosts(Vec::new());
        Self {
            coordinator: Coordinator::new(plan, 3, at(0.0)),
            orders: Vec::new(),
        }
    }

    fn receive(&mut self, rank: usize, message: FromHost, seconds: f64) {
        self.coordinator.receive(rank, message, at(seconds));
        self.orders.extend(self.coordinator.orders());
    }

    fn receive_from_all(&mut self, message: &FromHost, seconds: f64) {
        for rank in 0..3 {
            self.receive(rank, message.clone(), seconds);
        }
    }

    fn tick(&mut self, seconds: f64) {
        self.coordinator.tick(at(seconds));
        self.orders.extend(self.coordinator.orders());
    }

    fn meet(&mut self, versions: [&str; 3]) {
        for (rank, version) in versions.into_iter().enumerate() {
            self.receive(rank, hello(rank, version), 1.0);
        }
    }

    /// Up to the start; the clocks of the others are so far ahead.
    fn start(&mut self, ahead: [i64; 2]) {
        self.meet([VERSION; 3]);
        self.receive_from_all(&FromHost::Checked(Ok(())), 2.0);
        self.receive_from_all(&FromHost::Ready, 3.0);
        self.compare(ahead, 3.0);
    }

    /// Answers each ping after 20 µs on the way there and 10 µs back.
    fn compare(&mut self, ahead: [i64; 2], from: f64) {
        let mut now = from;
        let mut answered = 0;
        loop {
            let ping = self.pings().nth(answered);
            let Some((rank, number)) = ping else { break };
            answered += 1;
            self.coordinator.ping_sent(rank, at(now));
            let there = at(now + 20e-6);
            let pong = FromHost::Pong {
                number,
                monotonic_ns: there.monotonic_ns + ahead[rank - 1],
                unix_ns: there.unix_ns + ahead[rank - 1],
            };
            now += 30e-6;
            self.receive(rank, pong, now);
        }
    }

    fn pings(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        self.orders.iter().filter_map(|order| match order {
            Order::Send(rank, ToHost::Ping(number)) => Some((*rank, *number)),
            _ => None,
        })
    }

    fn lines(&self) -> Vec<&Line> {
        let lines = self.orders.iter().filter_map(|order| match order {
            Order::Report(line) => Some(line),
            _ => None,
        });
        lines.collect()
    }

    fn lost(&self) -> Vec<&str> {
        let lost = self.lines().into_iter().filter_map(|line| match line {
            Line::Lost { host, .. } => Some(&**host),
            _ => None,
        });
        lost.collect()
    }

    fn sent(&self, to: usize, message: &ToHost) -> bool {
        let sent = Order::Send(to, message.clone());
        self.orders.contains(&sent)
    }

    fn left(&self) -> Option<bool> {
        self.orders.iter().find_map(|order| match order {
            Order::Leave(is_whole) => Some(*is_whole),
            _ => None,
        })
    }
}

#[test]
fn every_host_begins_at_one_moment_of_its_own_clock() {
    let mut fleet = Fleet::new();
    let ahead = [10 * SECOND, -10 * SECOND];
    fleet.start(ahead);
    let starts: Vec<i64> = fleet
        .orders
        .iter()
        .filter_map(|order| match order {
            Order::Send(_, ToHost::Start(at)) => Some(*at),
            _ => None,
        })
        .collect();
    assert_eq!(starts.len(), 3);
    // 20 µs there and 10 µs back: half of the difference is all that the offset is off by.
    assert_eq!(starts[1] - starts[0] - ahead[0], 5_000);
    assert_eq!(starts[2] - starts[0] - ahead[1], 5_000);
    fleet.receive_from_all(&FromHost::Ended { has_run: true }, 9.0);
    fleet.compare(ahead, 9.0);
    assert_eq!(fleet.left(), Some(true));
    let clocks = fleet.lines().into_iter().filter_map(|line| match line {
        Line::Clock { host, clock } => Some((host, clock)),
        _ => None,
    });
    let clocks: Vec<_> = clocks.collect();
    assert_eq!(
        clocks.len(),
        4,
        "told at the start and at the end; the first host is the measure"
    );
    let (host, clock) = clocks[2];
    assert_eq!(host, "h2");
    assert_eq!(clock.before.round_trip_ns, 30_000);
    assert_eq!(clock.before.monotonic_offset_ns, "10000005000");
    assert!(clock.after.is_some());
}

#[test]
fn nothing_is_prepared_before_every_host_has_agreed() {
    let mut fleet = Fleet::new();
    fleet.meet([VERSION; 3]);
    fleet.receive(0, FromHost::Checked(Ok(())), 2.0);
    let why = "sdb holds an ext4 file system".to_owned();
    fleet.receive(2, FromHost::Checked(Err(why.clone())), 2.0);
    assert_eq!(
        fleet.left(),
        None,
        "the third may have something to say, too"
    );
    fleet.receive(1, FromHost::Checked(Ok(())), 3.0);
    let refused = Line::Refused {
        host: "h3".to_owned(),
        why,
    };
    assert!(fleet.lines().contains(&&refused), "{:?}", fleet.lines());
    assert!(!fleet.orders.contains(&Order::Send(0, ToHost::Prepare)));
    assert_eq!(fleet.left(), Some(true));
}

#[test]
fn another_version_is_refused_and_named() {
    let mut fleet = Fleet::new();
    fleet.meet([VERSION, "blocklab 9.9.9", VERSION]);
    fleet.receive(0, FromHost::Checked(Ok(())), 2.0);
    fleet.receive(2, FromHost::Checked(Ok(())), 2.0);
    let lines = fleet.lines();
    let refused = lines.into_iter().find_map(|line| match line {
        Line::Refused { host, why } => Some((host, why)),
        _ => None,
    });
    let (host, why) = refused.expect("a refusal");
    assert!(host == "h2" && why.contains("9.9.9"), "{host}: {why}");
}

#[test]
fn a_host_that_never_speaks_is_named_within_eleven_seconds() {
    let mut fleet = Fleet::new();
    for rank in [0, 1] {
        fleet.receive(rank, FromHost::Alive, 9.0);
    }
    fleet.tick(9.9);
    assert_eq!(fleet.lost(), Vec::<&str>::new());
    fleet.tick(10.1);
    assert_eq!(fleet.lost(), ["h3"]);
}

/// The story: the machine of the first host stood still for six seconds, as it does for a snapshot. The
/// first host then named all others, which had gone on, as lost, and stopped them.
#[test]
fn a_pause_of_the_first_host_is_no_silence_of_the_others() {
    let mut fleet = Fleet::new();
    fleet.start([0, 0]);
    fleet.tick(4.0);
    fleet.coordinator.stood_still(6 * SECOND);
    fleet.tick(10.0);
    assert_eq!(fleet.lost(), Vec::<&str>::new());
    fleet.tick(14.9);
    assert_eq!(fleet.lost(), ["h2", "h3"]);
}

#[test]
fn preparation_has_a_deadline_that_names_who_is_late() {
    let mut fleet = Fleet::new();
    fleet.meet([VERSION; 3]);
    fleet.receive_from_all(&FromHost::Checked(Ok(())), 2.0);
    fleet.receive(0, FromHost::Ready, 3.0);
    fleet.receive(2, FromHost::Ready, 3.0);
    let mut seconds = 3.0;
    while fleet.left().is_none() && seconds < 40.0 {
        seconds += 1.0;
        fleet.receive_from_all(&FromHost::Alive, seconds);
        fleet.tick(seconds);
        if seconds == 12.0 {
            let waiting = Line::Waiting(vec!["h2".to_owned()]);
            assert!(fleet.lines().contains(&&waiting), "{:?}", fleet.lines());
        }
        if !fleet.lost().is_empty() {
            let ended = FromHost::Ended { has_run: false };
            fleet.receive(0, ended.clone(), seconds);
            fleet.receive(2, ended, seconds);
        }
    }
    assert_eq!(fleet.lost(), ["h2"]);
    assert!(fleet.sent(0, &ToHost::Stop) && fleet.sent(2, &ToHost::Stop));
    assert_eq!(fleet.left(), Some(false));
}

/// The story: the whole launch was given up, and what the others had measured with it.
#[test]
fn a_host_that_falls_silent_stops_the_others_which_tell_what_they_have() {
    let mut fleet = Fleet::new();
    fleet.start([0, 0]);
    for seconds in [4.0, 5.0, 6.0, 7.0, 8.0, 9.0] {
        for rank in [0, 1] {
            fleet.coordinator.line_passed(rank, at(seconds));
        }
        fleet.tick(seconds);
    }
    assert_eq!(fleet.lost(), ["h3"], "named after five seconds of silence");
    assert!(fleet.sent(1, &ToHost::Stop));
    fleet.receive(0, FromHost::Ended { has_run: true }, 9.5);
    assert_eq!(fleet.left(), None);
    fleet.receive(1, FromHost::Ended { has_run: true }, 9.6);
    assert_eq!(fleet.left(), Some(false), "nobody waits for h3");
}

#[test]
fn who_does_not_end_is_lost_too() {
    let mut fleet = Fleet::new();
    fleet.start([0, 0]);
    fleet.coordinator.stop(at(4.0));
    fleet.receive(0, FromHost::Ended { has_run: true }, 4.5);
    fleet.receive(1, FromHost::Ended { has_run: true }, 4.5);
    for seconds in [5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 10.5] {
        fleet.receive_from_all(&FromHost::Alive, seconds);
        fleet.tick(seconds);
    }
    assert_eq!(fleet.lost(), ["h3"]);
    assert_eq!(fleet.left(), Some(false));
}

/// A disk that is full ends the preparation of one host: nothing begins anywhere.
#[test]
fn a_host_that_cannot_prepare_ends_it_before_the_start() {
    let mut fleet = Fleet::new();
    fleet.meet([VERSION; 3]);
    fleet.receive_from_all(&FromHost::Checked(Ok(())), 2.0);
    fleet.receive(0, FromHost::Ready, 3.0);
    let full = FromHost::Ended { has_run: false };
    fleet.receive(1, full, 3.0);
    assert!(fleet.sent(0, &ToHost::Stop) && fleet.sent(2, &ToHost::Stop));
    let stopped = FromHost::Ended { has_run: false };
    fleet.receive(0, stopped.clone(), 3.5);
    fleet.receive(2, stopped, 3.5);
    assert_eq!(fleet.left(), Some(true));
    let is_started = |line: &&Line| matches!(line, Line::Started);
    assert!(!fleet.lines().iter().any(is_started));
}

/// The story: a host of another version passed its checks before the last host had connected, and that
/// took the place of its refusal: the load began with two versions.
#[test]
fn another_version_stays_refused_whatever_its_host_says() {
    let mut fleet = Fleet::new();
    fleet.receive(0, hello(0, VERSION), 1.0);
    fleet.receive(1, hello(1, "blocklab 9.9.9"), 1.0);
    let is_task = |order: &Order| matches!(order, Order::Send(1, ToHost::Task(_)));
    if fleet.orders.iter().any(is_task) {
        fleet.receive(1, FromHost::Checked(Ok(())), 2.0);
    }
    fleet.receive(2, hello(2, VERSION), 3.0);
    fleet.receive(0, FromHost::Checked(Ok(())), 3.0);
    fleet.receive(2, FromHost::Checked(Ok(())), 3.0);
    assert!(!fleet.sent(1, &ToHost::Prepare));
    assert_eq!(fleet.left(), Some(true));
}

/// The story: when another host was lost, the end of a host without a task was waited for, and that it
/// did not come took the place of the version.
#[test]
fn a_host_without_a_task_has_nothing_to_end() {
    let mut fleet = Fleet::new();
    fleet.receive(0, hello(0, VERSION), 9.0);
    fleet.receive(1, hello(1, "blocklab 9.9.9"), 9.0);
    fleet.tick(10.1);
    fleet.receive(0, FromHost::Ended { has_run: false }, 10.2);
    assert_eq!(fleet.left(), Some(false));
    assert_eq!(fleet.lost(), ["h3"]);
    let is_named = |line: &&Line| matches!(line, Line::NoRun { why, .. } if why.contains("9.9.9"));
    assert!(fleet.lines().iter().any(is_named), "{:?}", fleet.lines());
}

/// The story: after a stop while clocks were compared again, the host whose clock was known already was
/// asked anew, its answers did not count, and the launch never ended.
#[test]
fn a_stop_after_the_run_does_not_compare_clocks_twice() {
    let mut fleet = Fleet::new();
    fleet.start([0, 0]);
    fleet.receive_from_all(&FromHost::Ended { has_run: true }, 9.0);
    for number in 1..=Pings::COUNT {
        let pong = FromHost::Pong {
            number,
            monotonic_ns: at(9.0).monotonic_ns,
            unix_ns: at(9.0).unix_ns,
        };
        fleet.receive(1, pong, 9.0);
    }
    fleet.coordinator.stop(at(9.0));
    fleet.compare([0, 0], 9.0);
    assert_eq!(fleet.left(), Some(true));
}
