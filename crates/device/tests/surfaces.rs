//! Reads alongside writes on local NVMe against published surfaces: the constants of `Programs` were
//! fitted on the cells with an even number, and the others judge.

#![allow(dead_code, reason = "each test uses a part of the drive")]
mod drive;

use blocklab_device::class::Class;
use blocklab_device::{Device, Direction, Io, Origin, Service};
use blocklab_random::Stream;
use blocklab_units::Nanos;
use drive::{device, volume};

const WRITE: u32 = 128 << 10;
const READS: usize = 6000;

struct Cell {
    write_bytes_per_s: f64,
    read_iops: f64,
    /// Milliseconds; `None`: beyond the colour scale.
    p50: Option<f64>,
    p95: Option<f64>,
}

fn cells(of: &str) -> Vec<Cell> {
    let lines = include_str!("surfaces.csv").lines().skip(2);
    let cells = lines.map(|line| line.split(',').collect::<Vec<_>>());
    let own = cells.filter(|cells| cells[0] == of);
    let number = |text: &str| text.parse::<f64>().expect("a number");
    own.map(|cells| Cell {
        write_bytes_per_s: number(cells[1]),
        read_iops: number(cells[2]),
        p50: (cells[5] != "p50").then(|| number(cells[3])),
        p95: cells[5].is_empty().then(|| number(cells[4])),
    })
    .collect()
}

/// p50 and p95 of reads in milliseconds, both loads arriving at random.
fn simulate(service: &Service, cell: &Cell) -> (f64, f64) {
    let spec = volume(1024, service.clone());
    let mut device = Device::new(&device(vec![spec]), 1).expect("sound");
    let mut chance = Stream::new(3, "surface", 0);
    let writes_per_s = cell.write_bytes_per_s / f64::from(WRITE);
    let mut next = |per_s: f64| chance.exponential() * 1e9 / per_s.max(1e-9);
    let (mut read_at, mut write_at) = (next(cell.read_iops), next(writes_per_s));
    let mut places = Stream::new(4, "surface", 1);
    let mut seen = Vec::new();
    while seen.len() < READS {
        let read = read_at < write_at;
        let now = Nanos(if read { read_at } else { write_at } as u64);
        let (direction, len) = if read {
            (Direction::Read, 512)
        } else {
            (Direction::Write, WRITE)
        };
        let offset = places.below(1 << 20) * u64::from(WRITE);
        let answer = device.admit(
            now,
            Io {
                direction,
                offset,
                len,
            },
        );
        if read {
            seen.push(answer.at.since(now).0);
            read_at += next(cell.read_iops);
        } else {
            write_at += next(writes_per_s)
        }
    }
    seen.drain(..READS / 5);
    seen.sort_unstable();
    let at = |share: f64| seen[(seen.len() as f64 * share) as usize] as f64 / 1e6;
    (at(0.5), at(0.95))
}

/// Median of the errors of p50 and p95, in per cent, over the cells that judge.
fn errors(of: &str, service: &Service) -> (f64, f64) {
    let (mut p50, mut p95) = (Vec::new(), Vec::new());
    let judging = cells(of).into_iter().skip(1).step_by(2);
    for cell in judging.filter(|cell| cell.read_iops > 0.0) {
        let seen = simulate(service, &cell);
        p50.extend(cell.p50.map(|p50| (seen.0 / p50 - 1.0).abs() * 100.0));
        p95.extend(cell.p95.map(|p95| (seen.1 / p95 - 1.0).abs() * 100.0));
    }
    let median = |mut errors: Vec<f64>| {
        assert!(errors.len() > 30, "{}", errors.len());
        errors.sort_by(f64::total_cmp);
        errors[errors.len() / 2]
    };
    (median(p50), median(p95))
}

#[test]
fn reads_of_i3en_beside_writes() {
    let service = Class::I3enNvme.service();
    let service = service.saturating_at(275_000.0, 1e6, Origin::Given);
    let (p50, p95) = errors("i3en.3xlarge", &service);
    assert!(p50 < 20.0 && p95 < 40.0, "p50 {p50:.1} %, p95 {p95:.1} %");
}

/// A read that waited for a program kept no other read waiting, and programs held all channels alike:
/// p50 was off by 43 % in the median.
#[test]
fn reads_of_i3_beside_writes() {
    let service = Class::I3Nvme.service();
    let service = service.saturating_at(412_500.0, 412_500.0, Origin::Given);
    let (p50, p95) = errors("i3.2xlarge", &service);
    assert!(p50 < 20.0 && p95 < 40.0, "p50 {p50:.1} %, p95 {p95:.1} %");
}
