//! What jobs of fio ask of the kernel, seen from outside: how many operations a call hands over, and
//! whose data is written over where the environment gives it up.

mod stand;

use blocklab_proof::{Lab, Printed, fio_is_there, good, json};
use stand::kernel::Loop;
use stand::{MIB, tool};

/// How many operations each call of `program` handed over to io_uring; nothing where it cannot be
/// asked, which is reported.
fn handed_over(lab: &Lab, program: &str, options: &str) -> Option<Vec<u32>> {
    let job = "--name=a --filename=f --size=256k --rw=randread --ioengine=io_uring --iodepth=8";
    let trace = "strace -f -qq -e trace=io_uring_enter -o calls";
    let ran = lab.shell(&format!("{trace} {program} {job} {options}"));
    if ran.code != Some(0) {
        println!("skipped: {program} with io_uring under strace: {}", ran.err);
        return None;
    }
    let calls = lab.read("calls");
    let arguments = calls.lines().filter_map(|line| line.split_once("enter("));
    let submitted = arguments.filter_map(|(_, words)| words.split(", ").nth(1)?.parse().ok());
    Some(submitted.filter(|count| *count > 0).collect())
}

/// `iodepth_batch` was a wish: however it was set, a quarter of the depth was handed over in a call.
#[test]
fn a_call_hands_over_what_iodepth_batch_sets() {
    if tool("strace", &["-V"]).is_none() {
        return;
    }
    let lab = Lab::new();
    let by_eight =
        "--iodepth_batch=8 --iodepth_batch_complete_min=8 --iodepth_batch_complete_max=8";
    for (options, expected) in [("--iodepth_batch=1", vec![1; 64]), (by_eight, vec![8; 8])] {
        let Some(ours) = handed_over(&lab, "blocklab fio --no-save", options) else {
            return;
        };
        assert_eq!(ours, expected, "{options}");
        if fio_is_there() {
            let theirs = handed_over(&lab, "fio", options);
            assert!(theirs.is_none_or(|theirs| theirs == ours), "{options}");
        }
    }
}

/// A job of 1 MiB on `device`, where the disk is also called `by-id/wwn-own` and the environment
/// gives up `name`. Nobody else sees that name.
fn job(lab: &Lab, device: &Loop, name: &str, options: &str) -> Printed {
    let device = device.path();
    let run = format!(
        "BLOCKLAB_FIO_DESTROY_DATA={name} blocklab fio --no-save --name=a --filename={device} \
         --size=1m {options}"
    );
    lab.shell(&format!(
        "unshare --mount sh -c 'made=; [ -d /dev/disk ] || {{ mkdir /dev/disk; made=1; }}; \
         mount -t tmpfs none /dev/disk; mkdir /dev/disk/by-id; \
         ln -s {device} /dev/disk/by-id/wwn-own; {run}; code=$?; \
         umount /dev/disk; [ -z \"$made\" ] || rmdir /dev/disk; exit $code'"
    ))
}

/// Scripts that run again on a used disk had no way but to name it in each command; a name that may
/// be another disk tomorrow gives up nothing.
#[test]
fn the_environment_gives_up_the_disk_that_it_names_and_reports_that() {
    let Some(device) = Loop::attach(8 * MIB, &[]) else {
        return;
    };
    let has_tools = tool("mkfs.ext4", &["-q", device.path()]).is_some();
    if !has_tools || tool("unshare", &["--mount", "true"]).is_none() {
        return;
    }
    let lab = Lab::new();
    let before = device.bytes();
    let another = job(&lab, &device, "wwn-other", "--rw=write");
    assert_ne!(another.code, Some(0), "{}", another.out);
    assert!(
        another.err.contains("holds an ext4 file system"),
        "{}",
        another.err
    );
    let passing = job(&lab, &device, device.name(), "--rw=write");
    assert_ne!(passing.code, Some(0), "{}", passing.out);
    assert!(
        passing.err.contains("may be another disk"),
        "{}",
        passing.err
    );
    let warning = "BLOCKLAB_FIO_DESTROY_DATA gives up all data on wwn-own";
    let reading = job(&lab, &device, "wwn-own", "--rw=read");
    assert_eq!(reading.code, Some(0), "{}", reading.err);
    assert!(!reading.out.contains(warning), "{}", reading.out);
    assert!(device.bytes() == before, "nobody was allowed to write yet");

    let writing = job(&lab, &device, "wwn-own", "--rw=write");
    assert_eq!(writing.code, Some(0), "{}", writing.err);
    assert!(writing.out.contains(warning), "{}", writing.out);
    let after = device.bytes();
    let block = |bytes: &[u8], at: usize| bytes[at << 12..(at + 1) << 12].to_vec();
    let same = (0..256).filter(|at| block(&before, *at) == block(&after, *at));
    assert_eq!(same.count(), 0, "all of the first MiB is written");
    assert!(before[1 << 20..] == after[1 << 20..], "and nothing else");

    let as_json = job(&lab, &device, "wwn-own", "--rw=write --output-format=json");
    assert_eq!(as_json.code, Some(0), "{}", as_json.err);
    assert!(as_json.err.contains(warning), "{}", as_json.err);
    assert_eq!(json(&as_json.out)["jobs"][0]["write"]["io_bytes"], MIB);
}

/// Later fio reports sectors, too, and no test compared them with what a job moved.
#[test]
fn disk_util_counts_sectors_where_an_option_of_later_fio_is_given() {
    let Some(device) = Loop::attach(8 * MIB, &[]) else {
        return;
    };
    let lab = Lab::new();
    let disk = |more: &str| {
        let line = format!(
            "blocklab fio --no-save --name=a --filename={} --size=1m --bs=64k --rw=read \
             --ioengine=psync --direct=1 --output-format=json {more}",
            device.path()
        );
        json(&good(lab.shell(&line)))["disk_util"][0].clone()
    };
    assert!(disk("")["read_sectors"].is_null());
    let used = disk("--job_start_clock_id=1");
    // Others may look at the device meanwhile.
    assert!(used["read_sectors"].as_u64() >= Some(2048), "{used}");
    assert_eq!(used["write_sectors"], 0, "{used}");
}
