//! What the constants of the classes rest on: cells of published studies, against the closed form
//! with the limits that were documented at their dates. None is fitted to a single cell.

#![allow(dead_code, reason = "each test uses a part of the drive")]
mod drive;

use blocklab_device::class::Class;
use blocklab_device::{Cap, Covers, DeviceSpec, Load, Origin, Rate, predict};
use blocklab_units::{Bytes, Nanos};
use drive::{cap, device, volume};

/// Relative errors of the predicted rates after a warm-up of 5 s, in per cent, sorted.
fn errors(spec: &DeviceSpec, cells: &[(Load, f64)]) -> Vec<f64> {
    let error = |(load, published): &(Load, f64)| {
        let predicted = predict(spec, *load).expect("sound");
        let iops = predicted.iops_mean(Nanos::from_secs(5), Nanos::from_secs(35));
        (iops / published - 1.0).abs() * 100.0
    };
    let mut all: Vec<_> = cells.iter().map(error).collect();
    all.sort_by(f64::total_cmp);
    all
}

#[track_caller]
fn check(spec: &DeviceSpec, cells: &[(Load, f64)], median: f64, worst: f64) {
    let errors = errors(spec, cells);
    let (seen, most) = (errors[errors.len() / 2], errors[errors.len() - 1]);
    assert!(seen <= median && most <= worst, "{errors:.1?}");
}

fn load(read_percent: u8, kib: u64, streams: u32, in_flight: u32) -> Load {
    Load {
        read_percent,
        block: Bytes(kib << 10),
        streams,
        in_flight,
    }
}

const KIB: [u64; 5] = [4, 8, 16, 64, 128];

/// The fifteen cells of a disk in r5d-vs-gp3: one thread, four threads, one sequential stream.
fn diskspd(random: [f64; 5], threads: [f64; 5], stream: [f64; 5]) -> Vec<(Load, f64)> {
    let rows = [(random, 0, 2), (threads, 0, 16), (stream, 1, 2)];
    let cells = rows.into_iter().flat_map(|(iops, streams, in_flight)| {
        let cells = KIB.into_iter().zip(iops);
        cells.map(move |(kib, iops)| (load(50, kib, streams, in_flight), iops))
    });
    cells.collect()
}

fn with_bucket(rate: Rate, covers: Covers) -> Cap {
    Cap {
        covers,
        bucket: Nanos::from_secs(1),
        ..cap(rate)
    }
}

fn gp3(iops: f64, mibps: f64) -> DeviceSpec {
    let mut gp3 = volume(100, drive::gp3());
    gp3.accounting = drive::SSD;
    gp3.caps = vec![
        with_bucket(Rate::Iops(iops), Covers::All),
        with_bucket(Rate::MibPerS(mibps), Covers::All),
        // r5d.xlarge, inside its half hour.
        with_bucket(Rate::MbPerS(593.75), Covers::All),
    ];
    device(vec![gp3])
}

#[test]
fn gp3_of_3000_iops() {
    let cells = diskspd(
        [3059.37, 3002.42, 3004.9, 2003.22, 1001.61],
        [2999.81, 2999.79, 2999.81, 2003.22, 1001.58],
        [3000.07, 3016.38, 3019.92, 2003.25, 1001.61],
    );
    check(&gp3(3000.0, 125.0), &cells, 0.2, 4.0);
}

#[test]
fn gp3_of_16000_iops() {
    let cells = diskspd(
        [3286.25, 3202.38, 3288.39, 2677.25, 2257.34],
        [16002.61, 16002.78, 16002.68, 9137.01, 4568.66],
        [3391.92, 3301.65, 3090.63, 2197.46, 1893.26],
    );
    check(&gp3(16_000.0, 1000.0), &cells, 1.5, 9.0);
}

#[test]
fn local_nvme_of_r5d() {
    let mut local = volume(139, Class::R5dNvme.service());
    local.caps = vec![
        with_bucket(Rate::Iops(59_000.0), Covers::Reads),
        with_bucket(Rate::Iops(29_000.0), Covers::Writes),
        with_bucket(Rate::MibPerS(128.0), Covers::Writes),
    ];
    let cells = diskspd(
        [37757.47, 31901.53, 16297.93, 4088.04, 2050.92],
        [58016.45, 32675.14, 16355.5, 4088.09, 2041.2],
        [25395.64, 22213.38, 16655.15, 4078.68, 2048.15],
    );
    check(&device(vec![local]), &cells, 0.5, 4.0);
}

#[test]
fn sata_of_i2_on_its_way_to_its_maximum() {
    let service = Class::I2Sata.service();
    // The largest sibling's figures by its number of disks; of writes 1.086 of them.
    let service = service.saturating_at(45_625.0, 42_760.0, Origin::Given);
    let spec = device(vec![volume(745, service)]);
    let jobs = [1, 2, 4, 8, 16, 32, 64, 128];
    let cells = |reads, streams: fn(u32) -> u32, iops: [f64; 8]| -> Vec<_> {
        let cells = jobs.into_iter().zip(iops);
        cells
            .map(|(jobs, iops)| (load(reads, 4, streams(jobs), jobs), iops))
            .collect()
    };
    let random = |_| 0;
    let reads = [
        5439.4, 9780.0, 16099.6, 26403.2, 37554.4, 44384.4, 45394.4, 45142.8,
    ];
    check(&spec, &cells(100, random, reads), 5.0, 13.0);
    let writes = [
        8091.4, 14003.0, 23147.4, 33653.4, 41419.2, 42895.8, 42668.2, 42769.2,
    ];
    check(&spec, &cells(0, random, writes), 9.0, 13.0);
    // One stream alone is not described: 184 µs against 145 µs.
    let streams = |jobs| jobs;
    let sequential = [8100.6, 13829.4, 21621.8, 30078.0, 36089.2, 37190.0, 38237.4];
    check(
        &spec,
        &cells(100, streams, with_first(sequential))[1..],
        6.0,
        13.0,
    );
    let sequential = [
        12192.0, 18136.0, 26260.4, 31288.6, 33777.0, 33653.2, 35289.4,
    ];
    check(
        &spec,
        &cells(0, streams, with_first(sequential))[1..],
        9.0,
        13.0,
    );
}

fn with_first(rest: [f64; 7]) -> [f64; 8] {
    let mut all = [1.0; 8];
    all[1..].copy_from_slice(&rest);
    all
}

#[test]
fn nvme_of_i3_below_its_cap() {
    let service = Class::I3Nvme.service();
    // Half of the disk: i3.2xlarge has all of it, with 412,500 reads.
    let service = service.saturating_at(412_500.0, 150_000.0, Origin::Given);
    let mut disk = volume(884, service);
    disk.caps = vec![with_bucket(Rate::Iops(206_250.0), Covers::Reads)];
    let random = [
        (1, 10428.4),
        (2, 20425.0),
        (4, 39708.4),
        (8, 74461.2),
        (16, 130_996.4),
        (64, 214_318.2),
        (128, 209_299.4),
    ];
    let cells = random.map(|(jobs, iops)| (load(100, 4, 0, jobs), iops));
    check(&device(vec![disk]), &cells, 2.0, 5.0);
}

#[test]
fn nitro_ssd_of_im4gn_is_paced() {
    let mut disk = volume(872, Class::Im4gnNvme.service());
    disk.caps = vec![with_bucket(Rate::MbPerS(250.0), Covers::Reads)];
    let predicted = predict(&device(vec![disk]), load(100, 128, 0, 1)).expect("sound");
    let iops = predicted.iops_mean(Nanos::ZERO, Nanos::from_secs(60));
    assert!((iops / 1946.0 - 1.0).abs() < 0.01, "{iops}");
    let paced = predicted.sustained().latency_mean.0 as f64 / 1e3;
    assert!((paced - 524.3).abs() < 0.1, "{paced} µs");
}

/// Reads and writes of these disks took 113 µs both, where 171 and 100 µs were published: 52 % too many
/// reads a second. The line of reads still passes through the 214 µs of the other study at 128 KiB.
#[test]
fn nitro_ssds_write_faster_than_they_read() {
    for class in [Class::Im4gnNvme, Class::NitroSsd] {
        let service = class.service();
        let micros = |line: &blocklab_device::Latency, kib: f64| {
            line.base.0 as f64 / 1e3 + line.per_kib_ns / 1e3 * kib
        };
        assert!((micros(&service.read, 4.0) - 171.0).abs() < 0.01);
        assert!((micros(&service.read, 128.0) - 214.0).abs() < 0.01);
        assert!((micros(&service.write, 4.0) - 100.0).abs() < 0.01);
    }
    let disks = vec![volume(7500, Class::NitroSsd.service()); 4];
    check(
        &device(disks),
        &[(load(100, 4, 0, 64), 371_000.0)],
        2.0,
        2.0,
    );
}

/// Two streams of i3.xlarge kept two thirds of what reading ahead gains and four a fifth; the model
/// took it as lost at once, and was 41 % too low with two.
#[test]
fn streams_of_i3_push_out_what_was_read_ahead_for_others() {
    let service = Class::I3Nvme.service();
    let service = service.saturating_at(1.75 * 206_250.0, 1.75 * 206_250.0, Origin::Given);
    let spec = device(vec![volume(884, service)]);
    let published = [
        (1, 28_809.8, 2.0),
        (2, 35_748.0, 1.0),
        (4, 45_165.6, 8.0),
        (8, 69_657.0, 3.0),
        (16, 123_816.0, 3.0),
    ];
    for (jobs, iops, percent) in published {
        let load = load(100, 4, jobs, jobs);
        let seen = drive::closed_loop(&spec, load, 4);
        let predicted = predict(&spec, load).expect("sound").sustained().iops;
        let seen = seen.iops(1, 4);
        let off = |of: f64, from: f64| (of / from - 1.0).abs() * 100.0;
        assert!(off(seen, iops) < percent, "{jobs}: {seen:.0}, not {iops}");
        assert!(
            off(predicted, seen) < 5.0,
            "{jobs}: {predicted:.0}, {seen:.0}"
        );
    }
}
