//! What is judged.

/// The rules that are judged, and what each label rests on. `sound` says only that nothing else was
/// said, and `price-audit` repeats an arithmetic that has exact tests of its own.
pub const RULES: [(&str, &str); 71] = [
    ("accounting", "operations that are missing in the census"),
    ("failed", "a run that ended by a failure"),
    ("interrupted", "a run that a signal ended"),
    ("failed-operations", "a device that fails a share of them"),
    ("stalled", "operations that were given up"),
    ("unanswered", "operations in flight at a signal"),
    ("damaged-histogram", "a histogram with other bytes"),
    ("page-cache", "buffered, and a device that moved a part"),
    ("not-from-device", "direct, and a device that moved a part"),
    ("buffered-loop", "a loop device over a buffered file"),
    ("fuse-server", "a file of a FUSE server"),
    ("memory-target", "a file system in memory"),
    ("not-direct", "direct access that was not to be had"),
    ("stood-still", "a program that was stopped"),
    ("disk-shared", "a disk that moved more than the load"),
    ("cpu-limit", "a thread that was always busy"),
    ("machine-busy", "processors that others kept busy"),
    ("injected-faults", "a fault at a served volume"),
    ("changed-under-way", "other rates of a served volume"),
    (
        "late-replies",
        "replies so late that the machine makes the median or the tail",
    ),
    (
        "overhead",
        "an own cost of a tenth of each operation and more",
    ),
    ("uring-workers", "operations that went to worker threads"),
    ("clock", "a clock that errs by more than 100 ppm"),
    ("rate-missed", "a rate above what the device can do"),
    ("useless-depth", "a depth asked of an engine that has none"),
    ("littles-law", "latencies that do not fill the time"),
    ("outlier-pass", "one pass of five on a slower device"),
    (
        "drift-over-passes",
        "every pass on a slower device than the last",
    ),
    ("scatter", "passes on devices of different speed"),
    ("standstill", "a device that answers nothing for 1.5 to 4 s"),
    (
        "slow-episode",
        "a device that is slower for 2 to 4 s, or for 0.5 to 1.5 s again and again",
    ),
    (
        "heavy-tail",
        "a share of operations takes 25 to 100 times as long",
    ),
    (
        "level-fell",
        "a bucket that the run empties, of a real disk",
    ),
    (
        "credits-used-up",
        "a bucket that the run empties, of a model",
    ),
    ("level-rose", "a fault that ends"),
    ("drift-within", "a device that becomes slower step by step"),
    ("above-limit", "seconds on a rested volume"),
    ("too-short", "less than ten seconds of a real disk"),
    ("few-samples", "less than a thousand operations"),
    ("at-limit", "enough is in flight for twice the limit"),
    ("volume-statistics", "the volume's own statistics"),
    ("bound-by", "operations of a served volume that waited"),
    ("never-bound", "a served volume where none waited"),
    ("byte-cap", "a byte limit, at four sizes"),
    ("iops-cap", "an IOPS limit, at two sizes"),
    (
        "limiter-pacing",
        "a limiter that lets one operation pass at a time",
    ),
    ("over-driven", "several depths beyond a limit"),
    (
        "latency-bound",
        "a model that no limit holds back, or a few in flight below every limit",
    ),
    (
        "setting-not-in-effect",
        "a volume of the type's default, sold as more",
    ),
    (
        "other-volume-type",
        "a volume of another type than was sold",
    ),
    (
        "quicker-than-published",
        "a tenth of the latency of its type",
    ),
    (
        "slower-than-published",
        "three times the latency of its type and more",
    ),
    (
        "slower-than-model",
        "six times the latency of its model and more, where none is published",
    ),
    ("missing-members", "one to three of four volumes"),
    ("other-volume-size", "a smaller gp2 than was sold"),
    ("other-instance-size", "a smaller instance than was sold"),
    ("above-every-limit", "a volume of more than was sold"),
    (
        "below-documented-limit",
        "a volume of 60 to 85 % of what was sold",
    ),
    ("best-effort", "a type that comes without a contract"),
    (
        "at-documented-limit",
        "a volume of what was sold, without its limits",
    ),
    ("documented-burst", "a bucket that the run does not empty"),
    (
        "burst-used-up",
        "the baseline, of a volume that has a burst",
    ),
    (
        "bucket-amortised",
        "seconds on a rested volume, compared with documents",
    ),
    ("separate-budgets", "half writes, at the limit of writes"),
    (
        "instance-binds-the-sum",
        "volumes that together exceed their instance",
    ),
    (
        "hdd-random-credit",
        "random operations below 1 MiB on st1 or sc1",
    ),
    ("under-delivery", "a volume of 94 to 96 % of what was sold"),
    (
        "limit-of-another-date",
        "the limits of 2017, compared with those of today",
    ),
    (
        "physical-not-contractual",
        "a disk as quick as those of a larger size",
    ),
    ("unit-slip", "an eighth of the bytes that were sold"),
    (
        "more-than-the-limit-takes",
        "a deep queue at a documented limit",
    ),
];
