//! What surrounds a real disk: a machine, a file system, counters, and no list of limits.

use blocklab_record::{
    BlockDevice, Cpu, DiskUse, FileSystem, Measurement, Origin, Record, TargetKind,
};
use blocklab_workload::Direction;

/// Makes a simulated record that of a real disk: what a program would have seen there.
pub(super) fn around(record: &mut Record) {
    record.origin = Origin::Measured;
    record.environment.processor.count = 4;
    let [target] = &mut *record.targets else {
        panic!("one target");
    };
    target.limits.clear();
    target.kind = TargetKind::Scratch;
    target.path = "/data/scratch".to_owned();
    target.file_system = Some(FileSystem {
        kind: "ext4".to_owned(),
        ..FileSystem::default()
    });
    target.devices = vec![BlockDevice {
        name: "nvme0n1".to_owned(),
        ..BlockDevice::default()
    }];
    record.measurements.iter_mut().for_each(beside);
}

/// What the machine tells of a measurement; what a model counted, no disk tells.
fn beside(pass: &mut Measurement) {
    pass.model = None;
    pass.cpu = Cpu {
        user_ns: pass.elapsed_ns / 10,
        system_ns: pass.elapsed_ns / 10,
        machine_busy_percent: 15,
        busiest_thread_percent: 20,
        ..Cpu::default()
    };
    let moved = |direction: Direction| -> u64 {
        let of_job = |job: &blocklab_record::JobResult| {
            let census = &job.accounting;
            let measured = census.completed - census.completed_in_ramp;
            let bytes = job
                .directions
                .get(&direction)
                .map_or(0, |result| result.bytes);
            (bytes as f64 * census.completed as f64 / measured.max(1) as f64) as u64
        };
        pass.jobs.iter().map(of_job).sum()
    };
    pass.disks = vec![DiskUse {
        name: "nvme0n1".to_owned(),
        read_bytes: moved(Direction::Read),
        write_bytes: moved(Direction::Write),
        ..DiskUse::default()
    }];
}
