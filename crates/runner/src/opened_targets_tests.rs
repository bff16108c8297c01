//! Regions, addresses and space of the targets that a run opens.

use blocklab_record::FileSystem;

use super::*;

/// A step near 2^64 (DiskSpd's `-T`) overflowed, and the run panicked.
#[test]
fn a_region_that_cannot_be_counted_is_larger_than_every_target() {
    let mut job = Job {
        threads: 4,
        ..Job::new("a")
    };
    job.region.spread = Spread::Increment(Bytes(u64::MAX));
    assert_eq!(extent(&job), Bytes(u64::MAX));
}

/// The story: only the region of the first thread was checked before the run. That of the fourth one
/// ended beyond its target, and the case had begun when its job refused it.
#[test]
fn the_region_of_the_last_thread_counts() {
    let mut job = Job {
        threads: 4,
        ..Job::new("a")
    };
    job.region.spread = Spread::Increment(Bytes(256));
    assert_eq!(last_end(&job, Bytes(512)), Bytes(512 + 3 * 256));
}

/// The story: where the region of the last thread began beyond its target, a smaller size was to help,
/// and where one of 2 TiB did in a target of 1 TiB, a smaller offset alone.
#[test]
fn what_to_reduce_is_what_helps() {
    let check = |[offset, step, size]: [u64; 3], expected: &str| {
        let mut job = Job {
            threads: 4,
            ..Job::new("a")
        };
        job.region.offset = Bytes(offset);
        job.region.spread = Spread::Increment(Bytes(step));
        assert_eq!(to_reduce(&job, Bytes(size), Bytes(1000)), expected);
    };
    check([0, 0, 2000], "size");
    check([0, 300, 200], "size");
    check([2000, 0, 500], "offset");
    check([0, 400, 500], "offset_increment");
    check([2000, 0, 2000], "offset and size");
    check([0, 400, 2000], "offset, offset_increment and size");
}

/// The story: only regions with a size were checked. One that began at 900 GiB of 100 GiB passed
/// --dry-run, and its run was cut off with "the region of 0 bytes".
#[test]
fn a_region_that_begins_beyond_its_target_is_refused() {
    let refused = |offset: u64, step: u64| {
        let mut job = Job::new("a");
        job.threads = 4;
        job.region.offset = Bytes(offset);
        job.region.spread = Spread::Increment(Bytes(step));
        let checked = check_region(&job, "volume", Bytes(1000));
        checked.err().map(|error| error.to_string())
    };
    assert_eq!((refused(0, 0), refused(999, 0)), (None, None));
    let begins = "volume has 1000 B, and the load of `a` begins at 1000 B: a smaller offset";
    for (offset, step, words) in [
        (1000, 0, begins),
        (0, 400, "a smaller offset_increment would work"),
        (
            1000,
            400,
            "a smaller offset and offset_increment would work",
        ),
    ] {
        let error = refused(offset, step).expect("a thread has nothing");
        assert!(error.contains(words), "{error}");
    }
}

/// The story: a job named its own target, and the user another one for the jobs that name none, or one
/// target twice. The addresses went to the targets by their places, so a gp2 volume was shown as gp3,
/// and a repetition of the run left it out.
#[test]
fn only_what_the_user_named_has_his_address() {
    let order = ["own", "a", "b"].map(str::to_owned);
    let targets = order.iter().map(|text| {
        let file = TargetFile::file(text.into(), 0, false);
        (
            text.clone(),
            OpenedTarget::new(file, TargetFacts::default()),
        )
    });
    let opened = OpenedTargets {
        targets: targets.collect(),
        order: order.to_vec(),
        notes: Vec::new(),
    };
    let facts = opened.facts(&["a", "a", "b"].map(str::to_owned));
    let addresses: Vec<_> = facts.iter().map(|facts| facts.address.as_deref()).collect();
    assert_eq!(addresses, [None, Some("a"), Some("b")]);
}

/// The error for a scratch file of 1 MiB on a file system of this size.
fn error_for(size_bytes: Bytes, free_bytes: Bytes) -> Option<String> {
    let file_system = FileSystem {
        size_bytes,
        free_bytes,
        ..FileSystem::default()
    };
    let facts = TargetFacts {
        file_system: Some(file_system),
        ..TargetFacts::default()
    };
    let checked = check_space(Path::new("d"), Bytes::MIB, &facts);
    checked.err().map(|error| error.to_string())
}

/// A FUSE file system that does not report its size counted as full, and what would work was
/// "a smaller one: --size 1MiB" where 1 MiB had been requested.
#[test]
fn a_file_system_without_a_size_is_not_a_full_one() {
    assert_eq!(error_for(Bytes::ZERO, Bytes::ZERO), None);
    let full = error_for(Bytes::MIB, Bytes::ZERO).expect("full");
    assert!(full.ends_with("or name another directory"), "{full}");
}
