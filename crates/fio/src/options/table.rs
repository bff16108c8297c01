//! Every option of fio 3.33, one row each: names, kind, default, support, what it asks for, what is
//! done here, and the field of [`Options`] that it sets, with its type.
//!
//! The text on what is done here is empty exactly where the support is exact: then a case of
//! `proof/data/exact/fio.txt` compares the option with fio. A row that claims exact, documented or
//! mostly has a field, or nothing compiles; so it is with a field that no code reads.

use blocklab_syntax::option::Support;
use blocklab_units::Nanos;

use super::find;
use crate::option::Kind::{
    Bool, Flag, Floats, FloatsTo, Int, Micros, Name, Names, Ranges as OfRanges, Seconds,
    Share as OfShare, Size, Sizes as OfSizes, Text, Word as OneOf,
};
use crate::option::{Opt, Since, Taken};
use crate::value::{OptionType, Ranges, Share, Sizes, Value, Word};

const MAX: i64 = i64::MAX;
/// To the kernel, the number after it means that the user or the group stays.
const LARGEST_ID: i64 = u32::MAX as i64 - 1;

macro_rules! options {
    ($($chapter:literal {
        $($($since:ident)? $name:literal $($alias:literal)*, $kind:expr, $default:literal, $support:ident,
          $meaning:literal, $here:literal $(, $field:ident: $type:ty)?;)*
    })*) => {
        pub(super) static TABLE: &[Opt] = &[$($(Opt {
            name: $name,
            aliases: &[$($alias),*],
            value: Taken { kind: $kind, since: since!($($since)?) },
            default: $default,
            support: Support::$support,
            meaning: $meaning,
            here: $here,
            chapter: $chapter,
        },)*)*];

        /// The options of a job, with their types.
        #[derive(Debug, Clone)]
        pub(crate) struct Options {
            $($($(#[doc = $meaning] pub(crate) $field: $type,)?)*)*
        }

        impl Options {
            /// The options as they were given, with the table's defaults for the others.
            pub(crate) fn new<'v>(given: impl Fn(&str) -> Option<&'v Value>) -> Self {
                Self {
                    $($($($field: OptionType::from_given(find($name).expect($name), given($name)),)?)*)*
                }
            }
        }

        $($(has_field!($support $($field)?);)*)*
    };
}

/// `later` stands before the options that fio 3.33 has not got yet.
macro_rules! since {
    () => {
        Since::Spoken
    };
    (later) => {
        Since::Later
    };
}

/// What is approximated, ignored or refused may have no field: nothing is done with it.
macro_rules! has_field {
    ($support:ident $field:ident) => {};
    (Nearly) => {};
    (Ignored) => {};
    (Refused) => {};
}

options! {
    "Job" {
        "description", Text, "-", Exact, "A text that is printed with the results.", "", description: Option<String>;
        "name", Text, "-", Exact, "The name of the job.", "", name: Option<String>;
        "wait_for", Text, "-", Mostly, "Begin when all clones of that job have ended.", "where others run alongside that one, the job begins when these have ended, too, and so do those behind it without a `wait_for` of their own", wait_for: Option<String>;
        "numjobs", Int(1, MAX), "1", Exact, "Clones of the job.", "", numjobs: u64;
        "thread", Flag, "-", Ignored, "Threads in place of processes.", "every clone is a thread of one process", thread: bool;
        "threads", Text, "-", Ignored, "A word that old job files have for `thread`.", "every clone is a thread of one process";
        "stonewall" "wait_for_previous", Flag, "-", Exact, "Begin when all jobs before have ended.", "", stonewall: bool;
        "new_group", Flag, "-", Exact, "Begin another group in the report.", "", new_group: bool;
        "group_reporting", Flag, "-", Exact, "Report a group as one.", "", group_reporting: bool;
        later "job_start_clock_id", Int(0, 2147483647), "0", Documented, "The clock of `job_start` in JSON, by its number.", "that key is there where an option of a later fio is given", job_start_clock_id: u32;
        "stats", Bool, "1", Nearly, "Keep statistics of the job.", "the job is run and counted, and left out of the output", stats: bool;
        "exitall", Flag, "-", Mostly, "End all jobs of the group when one ends.", "with `new_group`, jobs of other groups that run at the same time end, too; a job that waits for one of its group (`wait_for`) runs, where fio ends it before it begins", exitall: bool;
        "exit_what", OneOf("group stonewall all"), "group", Mostly, "What `exitall` ends.", "with `exitall_on_error`, `all` does not end what follows", exit_what: Word;
        "exitall_on_error", Flag, "-", Mostly, "End all jobs of the group when one fails.", "see `exitall`", exitall_on_error: bool;
        "exec_prerun", Text, "-", Mostly, "A command before the job.", "a device that the run writes to is claimed meanwhile, so a command that would write to it is refused", exec_prerun: Option<String>;
        "exec_postrun", Text, "-", Exact, "A command after the job.", "", exec_postrun: Option<String>;
        "profile", Text, "-", Refused, "A built-in load.", "write its jobs out in a job file";
    }
    "Files" {
        "filename", Names, "-", Exact, "Files, devices or models, with `:` between them; `\\:` is a colon.", "", filename: Vec<String>;
        "directory", Text, "-", Exact, "Where files are made; several with `:` between them are given out to the clones in turn.", "", directory: Option<String>;
        "filename_format", Text, "$jobname.$jobnum.$filenum", Mostly, "How files are called.", "clones that have the same files by it all work on them; in fio 3.33 all clones but the first move nothing", filename_format: String;
        "unique_filename", Bool, "1", Nearly, "Add the client's address to the name.", "with `--client` the host as it is named there begins the names that are made up; fio has the address from which the client connects", unique_filename: bool;
        "opendir", Names, "-", Exact, "All files below this directory.", "", opendir: Vec<String>;
        "lockfile", OneOf("none exclusive readwrite"), "none", Nearly, "Lock the file for each operation.", "operations are not locked against each other: where jobs share a file they may be under way at once";
        "nrfiles" "nr_files", Int(0, MAX), "1", Nearly, "Files of the job.", "0 files are one; with fio the job then does nothing", nrfiles: u64;
        "openfiles", Int(0, MAX), "-", Mostly, "How many of them are open at a time.", "the limit holds while the job verifies, too, where fio opens all files; a file that is gone or another one when it is opened again ends the job, where fio makes a new one, or writes to what is there; with a gap (`rw=write:8k`), runs, zones or a skewed `file_service_type` the files take turns as without a limit; the check before the run holds up to 128 files besides", openfiles: Option<u64>;
        "file_service_type", Text, "roundrobin", Mostly, "In which order the files take turns.", "zipf, pareto and normal prefer the same file as fio, or without a centre the first one, by other shares", file_service_type: String;
        "size", OfShare, "-", Mostly, "Bytes that the job's files have in all.", "a job that has no size and names nothing that exists is a mistake, and nothing runs; fio runs the others and fails it", size: Option<Share>;
        "io_size" "io_limit", OfShare, "-", Mostly, "Bytes that the job moves.", "as in a later fio, a job that goes straight through its files writes all of them before it verifies; up to 3.41, fio with `verify` writes the files once", io_size: Option<Share>;
        "filesize", OfRanges(1), "-", Nearly, "Size of each file, or from which range it is drawn.", "of a range, new files get sizes evenly spread over it, others than with fio; null, models and files that are longer have its middle", filesize: Option<Ranges>;
        "fill_device" "fill_fs", Bool, "0", Mostly, "Write until there is no more space.", "files that are only written have more length than there is room, and what was not written of it is cut off after the run; a job that reads and writes goes once through the files that fill the file system, where fio's fails at their end; without `size` a job that only writes at random is a mistake, for fio one that fails", fill_device: bool;
        "file_append", Bool, "0", Mostly, "Begin at the end of the file.", "a sequential job that is `time_based` or has a larger `io_size` begins again where it began; in fio 3.33 it is over after one pass; files that are not equally long fail the job", file_append: bool;
        "offset" "fileoffset", OfShare, "0", Mostly, "Where the job's part of the file begins.", "a share of files that are not equally long, in fio another offset in each of them, fails the job", offset: Share;
        "offset_increment", OfShare, "0", Mostly, "How much later each clone's part begins.", "see `offset`", offset_increment: Share;
        "offset_align", Size, "0", Exact, "What `offset` in per cent is rounded up to.", "", offset_align: u64;
        "number_ios", Int(0, MAX), "0", Exact, "End after this many operations.", "", number_ios: u64;
        "fallocate", OneOf("none native posix keep truncate 0 1"), "native", Nearly, "How space is set aside for a file that will be written.", "`none` gives it its length without space for the run, and cuts off after it what was not written at its end, where in fio it grows; all others set the space aside", fallocate: Word;
        later "filetype", OneOf("none file block char"), "none", Ignored, "The kind of the files, so that they need not be examined.", "each file is examined once";
        "create_serialize", Bool, "1", Ignored, "Make files one after the other.", "they always are";
        "create_fsync", Bool, "1", Ignored, "Flush a file when it is made.", "it always is";
        "create_on_open", Bool, "0", Ignored, "Make files when they are opened.", "files are made before the run, with their length and, unless `fallocate=none`, their space; in fio they grow as they are written";
        "create_only", Bool, "0", Mostly, "Make the files and end.", "where no other job runs, no device is reported among the results", create_only: bool;
        "allow_file_create", Bool, "1", Exact, "Whether files may be made.", "", allow_file_create: bool;
        "allow_mounted_write", Bool, "0", Ignored, "Write to a mounted device.", "a device in use is refused for writing";
        "pre_read", Bool, "0", Documented, "Read the files before the run.", "what the page cache holds then is the kernel's choice, so it is not compared", pre_read: bool;
        "unlink", Bool, "0", Exact, "Remove the files after the run.", "", unlink: bool;
        "unlink_each_loop", Bool, "0", Ignored, "Remove the files between two passes.", "they stay: a pass writes over what the one before it left; fio makes them anew where they are written, and fails where they are read";
        "overwrite", Bool, "0", Exact, "Write the files before the run, so that it overwrites.", "", overwrite: bool;
        "invalidate", Bool, "1", Exact, "Drop the file's cached pages before each pass.", "", invalidate: bool;
        "fadvise_hint", OneOf("0 1 random sequential noreuse"), "1", Exact, "Advise the kernel of the pattern.", "", fadvise_hint: Word;
        "write_hint", OneOf("none short medium long extreme"), "-", Mostly, "Advise the device of the expected lifetime of the data.", "with `direct`, too, the hint is of the inode; fio 3.33 requests one for the open file, which newer kernels refuse", write_hint: Word;
    }
    "Pattern" {
        "rw" "readwrite", Text, "read", Mostly, "The kinds of operation, and `:N` or `:BYTES` for runs and strides.", "trims of regular files punch holes, which fio fails on; a sequential job with a gap begins again at the file's start until all bytes are moved", rw: String;
        "bs" "blocksize", OfSizes(1), "4096", Mostly, "Block sizes of reads, writes and trims.", "where reads and writes have different sizes, a random job with a map leaves other pieces out than fio, and hits others twice", bs: Sizes;
        "ba" "blockalign", OfSizes(1), "-", Exact, "What random offsets are multiples of.", "", ba: Sizes;
        "bsrange" "blocksize_range", OfRanges(0), "-", Documented, "A range of block sizes.", "fio draws by another generator, so single sizes are not compared", bsrange: Option<Ranges>;
        "bssplit", Text, "-", Documented, "Block sizes with their shares.", "fio draws by another generator, so single sizes are not compared", bssplit: Option<String>;
        "bs_unaligned" "blocksize_unaligned", Flag, "-", Documented, "Take sizes of `bsrange` and `bssplit` that are no multiples of the smallest.", "fio draws by another generator, so single sizes are not compared", bs_unaligned: bool;
        "bs_is_seq_rand", Bool, "0", Nearly, "The two sizes are of sequential and random operations.", "the size of the pattern, for all operations of the job; refused where `percentage_random` or `rw=rand…:N` mixes the two", bs_is_seq_rand: bool;
        "randrepeat", Bool, "1", Documented, "The same offsets in every run.", "fio draws by another generator, so offsets are not compared with those of fio", randrepeat: Option<bool>;
        "allrandrepeat", Bool, "1", Documented, "The same of everything in every run.", "0 without `randrepeat` draws anew, as in later fio; in fio 3.33 the offsets are the same then", allrandrepeat: Option<bool>;
        "randseed", Text, "0x89", Mostly, "The seed.", "the same seed gives the same requests again, and not those of fio", randseed: Option<String>;
        "norandommap", Flag, "-", Exact, "Draw offsets without a map of what was hit.", "", norandommap: bool;
        "softrandommap", Bool, "0", Ignored, "Go on without a map where there is no memory for it.", "blocks of one size need none; of others it takes a bit for each smallest block, and more than 4 GiB are refused";
        "random_generator", OneOf("tausworthe lfsr tausworthe64"), "tausworthe", Nearly, "How random numbers are made; each draws another sequence.", "all are one generator with a period beyond 2^64, so that no file has more blocks than it draws; `lfsr` hits every block once, whatever `norandommap` says", random_generator: Word;
        "random_distribution", Text, "random", Mostly, "How random offsets are spread.", "`normal` has the deviation that was asked, of which a block beyond the middle is found less often; fio draws a wider one of a small deviation, and a narrower one of a large", random_distribution: String;
        later "random_sequence_stride", Bool, "0", Documented, "With `random_distribution=sequence`, the blocks move on by the length of the list each time.", "fio 3.33 does not know it, so no case compares it", random_sequence_stride: bool;
        later "sprandom", Bool, "0", Documented, "Bring an SSD into the steady state of random writes in one pass over its whole flash.", "fio 3.33 does not know it, so no case compares it", sprandom: bool;
        later "spr_op", Floats, "0.15", Documented, "sprandom: the over-provisioning of the device, as a share of what it reports.", "see `sprandom`", spr_op: Vec<f64>;
        later "spr_num_regions", Int(2, 4294967295), "100", Documented, "sprandom: in how many parts the flash is seen.", "see `sprandom`", spr_num_regions: u32;
        later "spr_cs", Size, "0", Nearly, "sprandom: size of the device's cache, which must not absorb what is written again.", "a region must be larger; blocks are written again anywhere in the next one", spr_cs: u64;
        "percentage_random", Text, "100", Nearly, "Share of a random pattern that is random, by direction.", "below 100 in any direction, places are drawn without a map of those that were hit", percentage_random: String;
        "rw_sequencer", OneOf("sequential identical"), "sequential", Exact, "What `rw=…:N` does between random offsets.", "", rw_sequencer: Word;
        "rwmixread", Int(0, 100), "50", Exact, "Share of the reads.", "", rwmixread: u32;
        "rwmixwrite", Int(0, 100), "50", Exact, "Share of the writes.", "", rwmixwrite: Option<u32>;
        "zonemode", OneOf("none strided zbd"), "none", Nearly, "Work zone by zone.", "`strided` works as in fio; `zbd` is refused: zoned devices are not driven as such", zonemode: Word;
        "zonesize", Size, "0", Mostly, "Bytes worked on in a zone.", "random jobs leave out a zone that the end of the file cuts; in fio they end when they draw a place beyond; where a block of a sequential job would reach beyond the end of a zone into the next one, the zone ends before it, and in fio after it", zonesize: u64;
        "zonecapacity", Size, "0", Ignored, "Usable bytes of a zone.", "it belongs to zonemode=zbd, which is refused";
        "zonerange", Size, "0", Exact, "Size of a zone.", "", zonerange: u64;
        "zoneskip", OfShare, "0", Exact, "Bytes between zones.", "", zoneskip: Share;
        "read_beyond_wp", Bool, "0", Ignored, "Read what was not written.", "it belongs to zonemode=zbd, which is refused";
        "max_open_zones", Int(0, 4096), "0", Ignored, "Zones open at a time.", "it belongs to zonemode=zbd, which is refused";
        "job_max_open_zones", Int(0, 4096), "0", Ignored, "The same of one job.", "it belongs to zonemode=zbd, which is refused";
        "ignore_zone_limits", Bool, "0", Ignored, "Overstep what the device allows.", "it belongs to zonemode=zbd, which is refused";
        "write_zone_remainder", Bool, "0", Ignored, "Fill the rest of a zone with a shorter write.", "it belongs to zonemode=zbd, which is refused";
        "recover_zbd_write_error", Bool, "0", Ignored, "Go on after a write that failed within a zone.", "it belongs to zonemode=zbd, which is refused";
        "zone_reset_threshold", FloatsTo(1), "-", Ignored, "When zones are reset.", "it belongs to zonemode=zbd, which is refused";
        "zone_reset_frequency", FloatsTo(1), "-", Ignored, "How often zones are reset.", "it belongs to zonemode=zbd, which is refused";
    }
    "Engine" {
        "ioengine", Text, "psync", Mostly, "The interface to the kernel.", "`filecreate` and `filedelete` are refused under `--readonly`", ioengine: String;
        later "fdp", Bool, "0", Refused, "Place data by the device's flexible data placement.", "it belongs to the engines io_uring_cmd and xnvme; no other one passes a place on";
        later "dataplacement" "data_placement", OneOf("none fdp streams"), "none", Refused, "How the device is told what belongs together.", "it belongs to the engines io_uring_cmd and xnvme; no other one passes a place on";
        later "plid_select" "fdp_pli_select", OneOf("random roundrobin scheme"), "random", Ignored, "Which of the places is taken.", "it belongs to `dataplacement`, which is refused";
        later "plids" "fdp_pli", Text, "-", Ignored, "The places.", "it belongs to `dataplacement`, which is refused";
        later "dp_scheme", Text, "-", Ignored, "A file that gives each part of the device a place.", "it belongs to `dataplacement`, which is refused";
        "iodepth", Int(1, MAX), "1", Mostly, "Operations in flight of each clone.", "without `iodepth_batch`, `iodepth_batch_complete_min` or `iodepth_batch_complete_max` completions are taken all at once and handed over again in batches, so fewer are in flight for moments than fio keeps", iodepth: u32;
        "iodepth_batch" "iodepth_batch_submit", Int(0, MAX), "1", Documented, "Operations handed over in one call.", "which operation a call hands over depends on what has completed, so it is not compared", iodepth_batch: Option<u32>;
        "iodepth_batch_complete_min" "iodepth_batch_complete", Int(0, MAX), "1", Documented, "Completions that a wait is for.", "how many completions a call takes depends on the device, so it is not compared", iodepth_batch_complete_min: Option<u32>;
        "iodepth_batch_complete_max", Int(0, MAX), "-", Documented, "Most completions taken at once.", "more may be fetched by a call, and are kept back", iodepth_batch_complete_max: Option<u32>;
        "iodepth_low", Int(0, MAX), "-", Documented, "Fill the queue again from there.", "the depth from moment to moment depends on the device, so it is not compared", iodepth_low: u32;
        "serialize_overlap", Bool, "0", Documented, "Never two operations on the same block.", "the order of operations in flight depends on the device, so it is not compared", serialize_overlap: bool;
        "io_submit_mode", OneOf("inline offload"), "inline", Nearly, "Hand operations to other threads.", "operations are submitted by the job's own thread; `rate_process=poisson` counts latency from the arrival in any case";
        "direct", Bool, "0", Exact, "O_DIRECT.", "", direct: bool;
        "buffered", Bool, "1", Exact, "The contrary of `direct`.", "", buffered: bool;
        "atomic", Bool, "0", Mostly, "Write each block as a whole or not at all; with `direct=1`.", "by RWF_ATOMIC of Linux 6.11, as in a later fio: it fails with EOPNOTSUPP where it is not supported, and engines other than pvsync2, libaio and io_uring are refused; fio 3.33 requests what no Linux has", atomic: bool;
        "sync", OneOf("none 0 sync 1 dsync"), "none", Exact, "O_SYNC or O_DSYNC.", "", sync: Word;
        "fsync", Int(0, MAX), "0", Mostly, "An fsync after this many writes.", "the flush after the last write of a job is made and counted; under io_uring and posixaio fio issues more of them", fsync: u32;
        "fdatasync", Int(0, MAX), "0", Mostly, "An fdatasync after this many writes.", "the flush after the last write of a job is made; beside `fsync`, they and `sync_file_range` are counted in `sync` of the JSON, where fio counts those of `fsync` alone", fdatasync: u32;
        later "end_syncfs", Bool, "0", Nearly, "Flush the file system at the end.", "the files of the job are flushed, as by `end_fsync`", end_syncfs: bool;
        "end_fsync", Bool, "0", Exact, "An fsync at the end.", "", end_fsync: bool;
        "fsync_on_close", Bool, "0", Nearly, "An fsync when a file is closed.", "as `end_fsync`", fsync_on_close: bool;
        "write_barrier", Int(0, MAX), "0", Ignored, "A barrier after this many writes.", "no engine has them, those of fio neither";
        "sync_file_range", Text, "-", Exact, "Flush what was written, part by part.", "", sync_file_range: Option<String>;
        "mem" "iomem", Text, "malloc", Ignored, "Where buffers lie.", "buffers are anonymous memory, aligned to the page", mem: String;
        "iomem_align" "mem_align", Size, "-", Ignored, "How buffers are aligned.", "buffers are aligned to the page";
        "hugepage-size", Size, "2097152", Ignored, "Size of a huge page.", "no huge pages are requested";
        "lockmem", Size, "0", Ignored, "Lock memory, so that less is free.", "a control group would limit it";
    }
    "Options of single engines" {
        "cpuload", Int(0, 100), "-", Nearly, "cpuio: share of the time spent computing.", "a chunk is a read of no bytes with a pause behind it, and other engines' jobs do not end it", cpuload: Option<u32>;
        "cpuchunks", Micros, "50000", Nearly, "cpuio: length of one period of computing.", "see `cpuload`", cpuchunks: Nanos;
        "cpumode", OneOf("noop qsort"), "noop", Ignored, "cpuio: how that time is spent.", "a loop that looks at the clock";
        "exit_on_io_done", Bool, "0", Ignored, "cpuio: end when all jobs that move bytes have ended.", "it ends by its runtime; `exitall` in the other jobs ends it with the first of them";
        "program", Text, "-", Mostly, "exec: the program that runs alongside the jobs.", "without `runtime` the job is a mistake: fio never ends it", program: Option<String>;
        "arguments", Text, "-", Exact, "exec: its arguments; `%r` is the runtime in seconds, `%n` the name of the job.", "", arguments: Option<String>;
        "grace_time", Int(0, 86400), "1", Documented, "exec: seconds that it has to end when its time is over.", "what a program does when it is ended is its own, so it is not compared", grace_time: u32;
        "std_redirect", Bool, "1", Exact, "exec: its output goes into `JOB.stdout` and `JOB.stderr`.", "", std_redirect: bool;
        "userspace_reap", Flag, "-", Ignored, "libaio: take completions without a system call.", "they are taken as is fastest";
        "hipri", Flag, "-", Mostly, "Poll for completions.", "where the device cannot, the operations that fail are not counted; by fio they are", hipri: bool;
        "hipri_percentage", Int(0, 100), "100", Nearly, "pvsync2: poll for a share of the operations.", "`hipri` polls for all of them";
        "nowait", Bool, "0", Exact, "pvsync2, libaio, io_uring: RWF_NOWAIT.", "", nowait: bool;
        "uncached", Bool, "0", Nearly, "pvsync2: leave nothing in the page cache.", "by RWF_DONTCACHE, from Linux 6.14 on; fio 3.33 passes a flag that no Linux took", uncached: bool;
        "fixedbufs", Flag, "-", Exact, "io_uring: register the buffers.", "", fixedbufs: bool;
        "registerfiles", Flag, "-", Exact, "io_uring: register the files.", "", registerfiles: bool;
        "sqthread_poll", Flag, "-", Exact, "io_uring: a kernel thread takes the submissions.", "", sqthread_poll: bool;
        "sqthread_poll_cpu", Int(0, MAX), "-", Ignored, "On which processor it runs.", "the kernel chooses the processor";
        "nonvectored", Bool, "0", Ignored, "io_uring: plain reads and writes.", "they always are";
        "force_async", Int(0, MAX), "0", Ignored, "io_uring: hand one of this many operations to a worker.", "the kernel decides what it hands to a worker";
        "cmd_type", Text, "-", Refused, "Kind of a passed-through command.", "io_uring_cmd is not spoken";
        "cmdprio_percentage", Text, "0", Mostly, "libaio, io_uring: share of the operations, in per cent, that carry a priority of their own.", "what reads to verify keeps the priority of its thread", cmdprio_percentage: String;
        "cmdprio_class", Text, "-", Documented, "Class of that priority; real time without it.", "compared are the class and level in the results", cmdprio_class: String;
        later "cmdprio_hint", Int(0, 1023), "-", Ignored, "Hint of that priority.", "no hint is given";
        later "md_per_io_size", Size, "0", Refused, "io_uring, io_uring_cmd: bytes of metadata with each block.", "operations carry no metadata";
        later "num_range", Int(1, 256), "1", Refused, "io_uring_cmd: ranges of one trim.", "an operation trims one range";
        "cmdprio", Text, "0", Mostly, "Level of that priority.", "a mistake in it ends the run; fio runs the other jobs", cmdprio: String;
        "cmdprio_bssplit", Text, "-", Mostly, "That share by block size, each with a class and a level of its own where they are given.", "parts that are no numbers, or too many, are a mistake; fio drops them", cmdprio_bssplit: Option<String>;
        "thp", Int(0, 1), "0", Ignored, "mmap: huge pages.", "no huge pages are requested";
        "stat_type", OneOf("stat lstat statx"), "stat", Ignored, "filestat: which call.", "`stat`";
    }
    "Time and rate" {
        "runtime" "timeout", Seconds, "0", Exact, "The longest time of the job.", "", runtime: Nanos;
        "time_based", Flag, "-", Exact, "Go on until that time is over.", "", time_based: bool;
        "ramp_time", Seconds, "-", Mostly, "Load before the measured time.", "what is moved in it is not part of `size`; in fio it is, and after it fio 3.33 leaves out as many pauses of `thinktime` as it had", ramp_time: Nanos;
        later "ramp_size", Size, "0", Mostly, "Load before the measured time, by what is moved; with `group_reporting` by all jobs of the group.", "what is moved in it is not part of `size`", ramp_size: u64;
        "startdelay", Text, "0", Nearly, "Begin so much later.", "of a range, clones get delays evenly spread over it; in a study that `convert` makes, it counts from the begin of its case", startdelay: String;
        "loops", Int(0, MAX), "1", Mostly, "Passes of the job.", "jobs that verify what they read are repeated, too", loops: u64;
        "rate", OfSizes(0), "-", Exact, "Most bytes a second.", "", rate: Sizes;
        "rate_min" "ratemin", OfSizes(0), "-", Mostly, "End where it is slower than that.", "judged where an operation completes; under `thinktime` fio judges when the pause is over", rate_min: Sizes;
        "rate_iops", OfSizes(0), "-", Exact, "Most operations a second.", "", rate_iops: Sizes;
        "rate_iops_min", OfSizes(0), "-", Mostly, "End where it is slower than that.", "see `rate_min`", rate_iops_min: Sizes;
        "rate_process", OneOf("linear poisson"), "linear", Documented, "How operations under a rate arrive.", "the moments are drawn by another generator, so they are not compared", rate_process: Word;
        "rate_cycle" "ratecycle", Int(0, MAX), "1000", Mostly, "Over what time rates are held, in ms.", "see `rate_min`", rate_cycle: u32;
        "rate_ignore_thinktime", Bool, "0", Documented, "Do not make up for pauses.", "how many operations that leaves is the clock's and is not compared", rate_ignore_thinktime: bool;
        "thinktime", Micros, "0", Exact, "A pause between operations.", "", thinktime: Nanos;
        later "thinkcycles", Int(0, MAX), "0", Refused, "Compute for this many cycles between operations.", "thinktime= with thinktime_spin= does the same by time";
        "thinktime_spin", Micros, "0", Documented, "Part of the pause that burns processor time.", "how much processor time that takes depends on the machine, so it is not compared", thinktime_spin: Nanos;
        "thinktime_blocks", Int(0, MAX), "1", Mostly, "Operations between pauses.", "with a queue depth, operations that complete together count together, in fio one after the other: a pause may come some operations earlier", thinktime_blocks: Option<u32>;
        "thinktime_blocks_type", OneOf("complete issue"), "complete", Mostly, "Whether they are counted when issued.", "see `thinktime_blocks`", thinktime_blocks_type: Word;
        "thinktime_iotime", Seconds, "0", Exact, "Time between pauses.", "", thinktime_iotime: Nanos;
        "max_latency", Micros, "0", Mostly, "An operation that takes longer ends the job.", "the operation that was too slow is not counted among those that were moved; by fio it is", max_latency: Nanos;
        "latency_target", Micros, "-", Mostly, "Find the depth that keeps this latency.", "the last window, which alone is reported without `latency_run`, begins at once: what is in flight then counts in it, and a window that misses the target is not followed by another", latency_target: Nanos;
        "latency_window", Micros, "-", Documented, "For how long it must be kept.", "the depth that is found is the machine's and is not compared", latency_window: Nanos;
        "latency_percentile", FloatsTo(100), "100", Documented, "Which share must keep it.", "the depth that is found is the machine's and is not compared", latency_percentile: Vec<f64>;
        "latency_run", Bool, "0", Documented, "Go on when it is found.", "the depth that is found is the machine's and is not compared", latency_run: bool;
        "steadystate" "ss", Text, "-", Nearly, "End when the figures are steady.", "a slope is judged over 3 s at least: a line through two points always fits", steadystate: Option<String>;
        "steadystate_duration" "ss_dur", Seconds, "0", Exact, "Over what time.", "", steadystate_duration: Nanos;
        "steadystate_ramp_time" "ss_ramp", Seconds, "0", Documented, "What is not judged at the beginning.", "when a job was steady depends on the machine, so it is not compared", steadystate_ramp_time: Nanos;
        later "steadystate_check_interval" "ss_interval", Seconds, "1s", Documented, "Time between two values of the window.", "fio 3.33 does not know it, so no case compares it", steadystate_check_interval: Nanos;
        "flow_id", Int(0, 4294967295), "0", Mostly, "Jobs that keep a ratio.", "see `flow`", flow_id: u32;
        "flow", Int(-1000, 1000), "0", Mostly, "The job's part of that ratio.", "the job that is ahead looks again after a while, so jobs without a rate do less than in fio, in the same proportion", flow: u32;
        "flow_watermark", Text, "-", Ignored, "A word that old job files have.", "fio 3.33 does nothing with it either";
        "flow_sleep", Int(0, 4294967), "0", Mostly, "The pause of who is ahead.", "see `flow`", flow_sleep: u32;
    }
    "Content" {
        "zero_buffers", Flag, "-", Exact, "Write zeros.", "", zero_buffers: bool;
        "refill_buffers", Flag, "-", Exact, "New content for every write.", "", refill_buffers: bool;
        "scramble_buffers", Bool, "1", Mostly, "Change a few bytes for every write.", "the bytes change once in each 4 KiB, in fio once in each 512 bytes: what is found to be the same in smaller pieces differs", scramble_buffers: bool;
        "buffer_pattern", Text, "-", Exact, "Write this pattern.", "", buffer_pattern: Option<String>;
        "buffer_compress_percentage", Int(0, 100), "-", Mostly, "How much of the content compresses away.", "zeros fill the part of a chunk that compresses away; fio repeats a piece of the random part, so pieces smaller than 4 KiB differ, and at 0 per cent all blocks", buffer_compress_percentage: u32;
        "buffer_compress_chunk", Size, "512", Exact, "In what units.", "", buffer_compress_chunk: Option<u64>;
        "dedupe_percentage", Int(0, 100), "-", Exact, "How much of the content is there already.", "", dedupe_percentage: u32;
        "dedupe_mode", OneOf("repeat working_set"), "repeat", Nearly, "What is repeated.", "`working_set` is a fixed set of 64 blocks", dedupe_mode: Word;
        "dedupe_working_set_percentage", Int(0, 100), "5", Nearly, "Size of that set.", "from a fixed set of 64 blocks";
        "dedupe_global", Bool, "0", Nearly, "One set for all jobs.", "the set of `working_set` is always common, and what `repeat` repeats is always the job's own";
    }
    "Verify and trim" {
        "verify", Text, "0", Mostly, "Check what was written.", "of `sha256` and `sha512` only the headers are checked in blocks of fio 3.33, which leaves no digest of the data", verify: Option<String>;
        "do_verify", Bool, "1", Exact, "Whether to read it back.", "", do_verify: bool;
        "verify_only", Flag, "-", Mostly, "Only read it back.", "the writes that it stands for are counted without latencies", verify_only: bool;
        "verify_interval", Int(80, MAX), "-", Mostly, "Bytes under one header.", "of a `bssplit` whose sizes are no multiples of the smallest, fio has smaller pieces: data of one tool is not verified by the other", verify_interval: u64;
        "verify_offset", Int(40, MAX), "-", Mostly, "Where the header lies.", "what stands at the beginning of a block may be the header of an earlier write", verify_offset: u64;
        "verify_pattern", Text, "-", Exact, "What is written and expected.", "", verify_pattern: Option<String>;
        later "verify_pattern_interval", Size, "0", Documented, "The pattern begins anew after this many bytes, and `%o` is the offset of that place.", "fio 3.33 does not know it, so no case compares it", verify_pattern_interval: u64;
        later "verify_write_sequence", Bool, "1", Documented, "Whether a block must hold the write that is expected there, by its number.", "fio 3.33 does not know it, so no case compares it", verify_write_sequence: bool;
        later "verify_header_seed", Bool, "1", Documented, "Whether a block must hold the write that is expected there, by its seed.", "fio 3.33 does not know it, so no case compares it; what the job itself wrote is compared by default, what an earlier run wrote where this is 1, by the seed of that run; seed and number are compared together, so a block is not compared with its write only where both are off; headers that fio wrote are compared by their number", verify_header_seed: Option<bool>;
        "verify_fatal", Bool, "0", Documented, "End at the first mismatch.", "how many blocks are still read after a mismatch depends on what is in flight, so it is not compared", verify_fatal: bool;
        "verify_dump", Bool, "0", Nearly, "Leave flawed blocks in files.", "what was read is left in FILE.OFFSET.received; the expected data is reported only for patterns, in the message", verify_dump: bool;
        "verify_async", Int(0, MAX), "0", Ignored, "Threads that check.", "the thread that reads a block checks it";
        "verify_async_cpus", Text, "-", Ignored, "Their processors.", "the thread that reads a block checks it";
        "verifysort", Bool, "1", Ignored, "Check in order of the offsets.", "blocks are checked in the order in which the job reads them";
        "verifysort_nr", Int(0, MAX), "-", Ignored, "How many are brought into order at a time.", "blocks are checked in the order in which the job reads them";
        "verify_backlog", Int(0, MAX), "-", Mostly, "Check after this many writes.", "a block that is written again while it waits to be checked is read for each of these writes, in fio once", verify_backlog: u64;
        "verify_backlog_batch", Int(0, MAX), "-", Documented, "How many are checked then.", "the order of writes and reads depends on what has completed, so it is not compared", verify_backlog_batch: u64;
        "verify_state_load", Bool, "0", Exact, "Verify no more than the state file of an earlier run covers.", "", verify_state_load: bool;
        "verify_state_save", Bool, "1", Exact, "Leave a state file that records how far the writes came.", "", verify_state_save: bool;
        later "verify_policy", OneOf("completed fsynced"), "completed", Documented, "Which writes of a saved state are checked: all, or those that a flush made durable.", "fio 3.33 does not know it, so no case compares it", verify_policy: Word;
        "experimental_verify", Bool, "-", Ignored, "Replay the requests to check them.", "requests are always replayed";
        "trim_percentage", Int(0, 100), "0", Nearly, "Share of the written blocks that are trimmed before they are checked, with `trim_backlog`.", "in jobs that write without trimming, too: fio 3.33 itself ends with a broken assertion there", trim_percentage: u32;
        "trim_verify_zero", Bool, "1", Documented, "Whether they must be zeros then.", "no device whose trimmed blocks are not zeros was available for a comparison", trim_verify_zero: bool;
        "trim_backlog", Int(0, MAX), "-", Documented, "Trim each time that this many writes wait to be checked.", "the order of trims and reads depends on what has completed, so it is not compared", trim_backlog: u64;
        "trim_backlog_batch", Int(0, MAX), "-", Nearly, "How many then.", "this many: fio 3.33 trims all that were chosen", trim_backlog_batch: u64;
    }
    "Errors" {
        "continue_on_error", Text, "none", Exact, "Go on after failures.", "", continue_on_error: String;
        "ignore_error", Text, "-", Documented, "Errors that are none.", "no case has an error that it lets pass", ignore_error: Option<String>;
        "error_dump", Bool, "0", Ignored, "Print each error.", "they are counted by kind in the record";
    }
    "Logs and traces" {
        "per_job_logs", Bool, "1", Exact, "Each clone has its own logs.", "", per_job_logs: bool;
        "write_bw_log", Name, "-", Mostly, "Leave a log of the throughput.", "where its folder is missing nothing runs; fio runs, and has no log", write_bw_log: Option<String>;
        "write_lat_log", Name, "-", Mostly, "Leave logs of the three latencies.", "see `write_bw_log`", write_lat_log: Option<String>;
        "write_iops_log", Name, "-", Mostly, "Leave a log of operations a second.", "see `write_bw_log`", write_iops_log: Option<String>;
        "write_hist_log", Name, "-", Mostly, "Leave a log of completion latency histograms.", "see `write_bw_log`", write_hist_log: Option<String>;
        "log_entries", Int(1024, 1048576), "1024", Ignored, "Room for this many entries at first.", "room is made as it is needed";
        "log_avg_msec", Int(0, MAX), "0", Exact, "One line for each span of this many milliseconds.", "", log_avg_msec: u32;
        "log_hist_msec", Int(0, MAX), "0", Exact, "A histogram for each span of this many milliseconds.", "", log_hist_msec: u32;
        "log_hist_coarseness", Int(0, 10), "0", Exact, "Put buckets together, two by two, this many times.", "", log_hist_coarseness: u32;
        "log_max_value", Bool, "0", Documented, "Log the largest value of a span, not the mean.", "latencies are the machine's, so they are not compared", log_max_value: bool;
        later "log_window_value", OneOf("avg max both 0 1"), "avg", Documented, "Which latency of a span is logged: the mean, the largest, or one behind the other.", "fio 3.33 does not know it, so no case compares it; compressed logs hold the mean alone of `both`", log_window_value: Word;
        "log_offset", Bool, "0", Exact, "Log the offset of each operation.", "", log_offset: bool;
        later "log_issue_time", Bool, "0", Documented, "With `log_offset`, one more column: when the operation was issued, in ns since the log began; 0 in logs of other than submission and completion latency.", "fio 3.33 has no such column, so no case compares it; compressed logs are without it", log_issue_time: bool;
        "log_prio", Bool, "0", Exact, "Log the whole priority.", "", log_prio: bool;
        "log_compression", Int(1024, 536870912), "-", Nearly, "Compress logs in chunks of this size while the job runs.", "they are compressed when the job has ended, where `log_store_compressed` leaves them so", log_compression: u64;
        "log_compression_cpus", Text, "-", Ignored, "Processors that compress logs.", "the job's own time is over when they are";
        "log_store_compressed", Bool, "0", Nearly, "Leave the logs compressed, for `--inflate-log`.", "histograms are left as text: in those of fio stand addresses in place of counts", log_store_compressed: bool;
        "log_unix_epoch", Bool, "0", Exact, "Log times since 1970.", "", log_unix_epoch: bool;
        "log_alternate_epoch", Bool, "0", Exact, "Log times of another clock.", "", log_alternate_epoch: bool;
        "log_alternate_epoch_clock_id", Int(0, MAX), "0", Exact, "Which clock, by its number.", "", log_alternate_epoch_clock_id: u32;
        "bwavgtime", Int(0, MAX), "500", Exact, "Time of a sample of the throughput, in ms.", "", bwavgtime: u32;
        "iopsavgtime", Int(0, MAX), "500", Exact, "Time of a sample of the operations, in ms.", "", iopsavgtime: u32;
        "write_iolog", Text, "-", Nearly, "Leave a trace of the operations.", "in version 3, behind what the file holds; what failed, what was issued in the ramp and flushes of `sync_file_range` are not in it; flushes of a job with `fsync` and `fdatasync` are all `sync`", write_iolog: Option<String>;
        "read_iolog", Text, "-", Mostly, "Replay a trace of version 2 or 3, or of blktrace; several with `:` between them are given out to the clones.", "`wait` in version 2 counts from the job's own start, in fio 3.33 from that of the first job", read_iolog: Option<String>;
        "read_iolog_chunked", Bool, "0", Ignored, "Read the trace bit by bit.", "it is read at once";
        "replay_no_stall", Bool, "0", Exact, "Replay without waiting for the moments of the trace.", "", replay_no_stall: bool;
        "replay_redirect", Text, "-", Exact, "Replay all on this file or device.", "", replay_redirect: Option<String>;
        "replay_scale", Int(0, MAX), "1", Exact, "Divide offsets by it.", "", replay_scale: u64;
        "replay_align", Size, "-", Exact, "Round offsets down to multiples of it.", "", replay_align: u64;
        "replay_time_scale", Int(1, MAX), "100", Exact, "Replay at this share of the speed, in per cent.", "", replay_time_scale: u32;
        "replay_skip", Text, "-", Nearly, "Leave out read, write, trim or sync.", "in every trace; fio 3.33 itself does so in those of blktrace only", replay_skip: String;
        "merge_blktrace_file", Text, "-", Refused, "Merge traces into this file.", "traces of blktrace are replayed, but not merged: one job for each, at the same time, replays several";
        "merge_blktrace_scalars", Floats, "-", Refused, "Stretch each.", "see `merge_blktrace_file`";
        "merge_blktrace_iters", Floats, "-", Refused, "Repeat each.", "see `merge_blktrace_file`";
    }
    "Machine" {
        "cpumask", Int(0, MAX), "-", Exact, "Processors, as bits.", "", cpumask: Option<u64>;
        "cpus_allowed", Text, "-", Exact, "Processors, as a list.", "", cpus_allowed: Option<String>;
        "cpus_allowed_policy", OneOf("shared split"), "-", Nearly, "Whether each clone has one of its own.", "each clone is bound to one processor of the list, in turn";
        "numa_cpu_nodes", Text, "-", Documented, "Processors of these nodes.", "the machine that is tested on has one node", numa_cpu_nodes: Option<String>;
        "numa_mem_policy", Text, "-", Ignored, "Where memory lies.", "memory lies where the thread runs";
        "nice", Int(-20, 19), "0", Exact, "Rank among processes.", "", nice: i64;
        "prio", Int(0, 7), "-", Exact, "Rank of the I/O.", "", prio: Option<i64>;
        "prioclass", Int(0, 3), "-", Exact, "Class of the I/O.", "", prioclass: Option<i64>;
        later "priohint", Int(0, 1023), "-", Ignored, "Hint of the I/O priority.", "no hint is given";
        later "comm", Text, "-", Ignored, "What the process is called.", "threads are called after their job";
        "ioscheduler", Text, "-", Ignored, "Scheduler of the device.", "write its name to /sys/block/DEVICE/queue/scheduler";
        "clocksource", OneOf("gettimeofday clock_gettime cpu"), "-", Ignored, "The clock.", "the processor's counter is used where it is steady";
        "gtod_reduce", Bool, "0", Ignored, "Read the clock less often.", "the clock is read once a batch; latencies are kept", gtod_reduce: bool;
        "gtod_cpu", Int(0, MAX), "-", Ignored, "A processor that only reads the clock.", "reading it costs a few nanoseconds";
        "disable_lat", Bool, "0", Exact, "Leave out total latency.", "", disable_lat: Option<bool>;
        "disable_clat", Bool, "0", Exact, "Leave out completion latency.", "", disable_clat: Option<bool>;
        "disable_slat", Bool, "0", Exact, "Leave out submission latency.", "", disable_slat: Option<bool>;
        "disable_bw_measurement" "disable_bw", Bool, "0", Mostly, "Leave out samples of the throughput.", "those of single operations are left out of its log; as with fio 3.33 itself, those of the results are printed all the same", disable_bw_measurement: Option<bool>;
        "cgroup", Text, "-", Documented, "Run in this control group of version 1, below the block I/O controller.", "what the kernel gives to the group depends on its other groups, so it is not compared", cgroup: Option<String>;
        "cgroup_nodelete", Bool, "0", Documented, "Keep that group.", "what the kernel gives to the group depends on its other groups, so it is not compared", cgroup_nodelete: bool;
        "cgroup_weight", Int(100, 1000), "-", Documented, "Weight of that group, where the kernel has `blkio.weight`.", "what the kernel gives to the group depends on its other groups, so it is not compared", cgroup_weight: Option<u32>;
        "uid", Int(0, LARGEST_ID), "-", Documented, "Run as this user, where that is permitted.", "what that user may open depends on the machine, so it is not compared", uid: Option<u32>;
        "gid", Int(0, LARGEST_ID), "-", Documented, "Run as this group, where that is permitted.", "what that group may open depends on the machine, so it is not compared", gid: Option<u32>;
    }
    "Report" {
        "clat_percentiles", Bool, "1", Exact, "Percentiles of completion latency.", "", clat_percentiles: bool;
        "lat_percentiles", Bool, "0", Exact, "Percentiles of total latency.", "", lat_percentiles: bool;
        "slat_percentiles", Bool, "0", Exact, "Percentiles of submission latency.", "", slat_percentiles: bool;
        "percentile_list", FloatsTo(100), "1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99", Exact, "Which ones; a 0 ends the list.", "", percentile_list: Vec<f64>;
        "block_error_percentiles", Bool, "0", Ignored, "Errors of trims by block.", "errors are counted by kind";
        "significant_figures", Int(1, 10), "4", Documented, "Digits of the normal output.", "figures of the normal output are those of the run, so they are not compared", significant_figures: u32;
        "unified_rw_reporting", OneOf("none mixed both 0 1 2"), "none", Exact, "Directions as one.", "", unified_rw_reporting: Word;
        "disk_util", Bool, "1", Exact, "What the block devices did.", "", disk_util: bool;
        "kb_base", OneOf("1024 1000"), "1024", Exact, "Whether k is 1024 or 1000.", "", kb_base: Word;
        "unit_base", OneOf("0 8 1"), "-", Exact, "Bytes or bits in the normal output.", "", unit_base: Word;
    }
}
