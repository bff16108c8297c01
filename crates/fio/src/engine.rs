//! `ioengine`: who calls the kernel, and how. `workload` has the table of all engines; this module has
//! the ones with options that no other engine takes, as `--enghelp` lists them.

use blocklab_units::Nanos;
use blocklab_workload::{CallFlags, Engine, Job, Think, UringOptions};

use super::fault::Fault;
use super::options::Options;
use super::spec::Spec;

/// The options that an engine has to itself: how they make it, and their names.
type Row = (
    &'static str,
    fn(&Options) -> Engine,
    &'static [&'static str],
);

#[rustfmt::skip]
const OWN_OPTIONS: [Row; 7] = [
    ("pvsync2", pvsync2, &["hipri", "hipri_percentage", "uncached", "nowait"]),
    ("libaio", |_| Engine::Libaio, &["userspace_reap", "cmdprio_percentage", "cmdprio_class", "cmdprio", "cmdprio_bssplit", "nowait"]),
    ("io_uring", io_uring, &["hipri", "cmdprio_percentage", "cmdprio_class", "cmdprio", "cmdprio_bssplit", "fixedbufs", "registerfiles", "sqthread_poll", "sqthread_poll_cpu", "nonvectored", "uncached", "nowait", "force_async"]),
    ("filestat", |_| Engine::FileStat, &["stat_type"]),
    ("mmap", |_| Engine::Mmap, &["thp"]),
    ("cpuio", |options| Engine::Cpuio(chunk(options)), &["cpuload", "cpuchunks", "cpumode", "exit_on_io_done"]),
    ("exec", |_| Engine::Exec, &["program", "arguments", "grace_time", "std_redirect"]),
];

const fn pvsync2(options: &Options) -> Engine {
    Engine::Pvsync2(CallFlags {
        hipri: options.hipri,
        nowait: options.nowait,
        uncached: options.uncached,
    })
}

const fn io_uring(options: &Options) -> Engine {
    Engine::IoUring(UringOptions {
        sqpoll: options.sqthread_poll,
        iopoll: options.hipri,
        fixed_buffers: options.fixedbufs,
        // A thread of the kernel that polls takes registered files alone, as fio has it.
        fixed_files: options.registerfiles || options.sqthread_poll,
    })
}

fn own_options(name: &str) -> Option<&'static Row> {
    OWN_OPTIONS.iter().find(|(known, ..)| *known == name)
}

/// The names of the engines, each with the names of its own options.
pub fn engines() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    Engine::ALL.iter().map(|(name, _)| {
        let own = own_options(name).map_or(&[][..], |(_, _, names)| names);
        (*name, own)
    })
}

/// An engine that fio has and blocklab lacks.
struct Absent {
    name: &'static str,
    /// The options that it has to itself.
    own: &'static [&'static str],
    /// What would do in its place.
    instead: &'static str,
}

const DEVICE: &str = "io_uring on the block device that the kernel makes of it";
const URING: &str = "io_uring";
const MMAP: &str = "mmap, or io_uring with direct=1";
const NETWORK: &str = "another program: no network is measured here";
const FILES: &str = "io_uring on a file of a file system that is mounted from there";

#[rustfmt::skip]
const ABSENT: [Absent; 31] = [
    Absent { name: "net", own: OF_NET, instead: NETWORK },
    Absent { name: "netsplice", own: OF_NET, instead: "splice on a file" },
    Absent { name: "rdma", own: &["hostname", "bindname", "port", "verb"], instead: NETWORK },
    Absent { name: "sg", own: &["readfua", "writefua", "sg_write_mode", "stream_id"], instead: DEVICE },
    Absent { name: "e4defrag", own: &["donorname", "inplace"], instead: "the program e4defrag" },
    Absent { name: "io_uring_cmd", own: OF_PASS_THROUGH, instead: URING },
    Absent { name: "rbd", own: &["clustername", "rbdname", "pool", "clientname", "busy_poll", "rbd_encryption_format", "rbd_encryption_passphrase"], instead: DEVICE },
    Absent { name: "rados", own: &["clustername", "pool", "clientname", "conf", "busy_poll", "touch_objects"], instead: DEVICE },
    Absent { name: "gfapi", own: OF_GLUSTER, instead: FILES },
    Absent { name: "gfapi_async", own: OF_GLUSTER, instead: FILES },
    Absent { name: "libhdfs", own: &["namenode", "hostname", "port", "hdfsdirectory", "chunk_size", "single_instance", "hdfs_use_direct"], instead: FILES },
    Absent { name: "dfs", own: &["pool", "cont", "chunk_size", "object_class", "svcl"], instead: FILES },
    Absent { name: "nfs", own: &["nfs_url"], instead: FILES },
    Absent { name: "ime_psync", own: &[], instead: FILES },
    Absent { name: "ime_psyncv", own: &[], instead: FILES },
    Absent { name: "ime_aio", own: &[], instead: FILES },
    Absent { name: "http", own: OF_HTTP, instead: FILES },
    Absent { name: "libiscsi", own: &["initiator"], instead: DEVICE },
    Absent { name: "nbd", own: &["uri"], instead: "io_uring on the device of `nbd-client`" },
    Absent { name: "mtd", own: &["skip_bad"], instead: "io_uring on /dev/mtdblockN" },
    Absent { name: "libzbc", own: &[], instead: DEVICE },
    Absent { name: "libblkio", own: OF_BLKIO, instead: URING },
    Absent { name: "xnvme", own: OF_XNVME, instead: URING },
    Absent { name: "libpmem", own: &[], instead: MMAP },
    Absent { name: "dev-dax", own: &[], instead: MMAP },
    Absent { name: "pmemblk", own: &[], instead: MMAP },
    Absent { name: "page_fault", own: &[], instead: "mmap on a file" },
    Absent { name: "cpp_null", own: &[], instead: "null" },
    Absent { name: "guasi", own: &[], instead: URING },
    Absent { name: "solarisaio", own: &[], instead: URING },
    Absent { name: "windowsaio", own: &[], instead: URING },
];

const OF_NET: &[&str] = &[
    "hostname",
    "port",
    "protocol",
    "proto",
    "nodelay",
    "listen",
    "pingpong",
    "interface",
    "ttl",
    "window_size",
    "mss",
];
const OF_GLUSTER: &[&str] = &["volume", "brick", "single-instance"];
const OF_PASS_THROUGH: &[&str] = &[
    "pi_act",
    "pi_chk",
    "apptag",
    "apptag_mask",
    "write_mode",
    "verify_mode",
    "deac",
];
const OF_HTTP: &[&str] = &[
    "https",
    "http_host",
    "http_user",
    "http_pass",
    "http_s3_key",
    "http_s3_keyid",
    "http_s3_region",
    "http_s3_security_token",
    "http_s3_sse_customer_key",
    "http_s3_sse_customer_algorithm",
    "http_s3_storage_class",
    "http_swift_auth_token",
    "http_mode",
    "http_verbose",
    "http_object_mode",
];
const OF_BLKIO: &[&str] = &[
    "libblkio_driver",
    "libblkio_path",
    "libblkio_pre_connect_props",
    "libblkio_num_entries",
    "libblkio_queue_size",
    "libblkio_pre_start_props",
    "libblkio_vectored",
    "libblkio_write_zeroes_on_trim",
    "libblkio_wait_mode",
    "libblkio_force_enable_completion_eventfd",
];
const OF_XNVME: &[&str] = &[
    "xnvme_be",
    "xnvme_async",
    "xnvme_sync",
    "xnvme_admin",
    "xnvme_dev_nsid",
    "xnvme_dev_subnqn",
    "xnvme_mem",
    "xnvme_iovec",
];

fn known_absent(name: &str) -> Option<&'static Absent> {
    ABSENT.iter().find(|absent| absent.name == name)
}

/// Whether an option is one that this engine, which is not there, has to itself.
pub(super) fn is_option_of_absent(engine: &str, option: &str) -> bool {
    known_absent(engine).is_some_and(|absent| absent.own.contains(&option))
}

/// The same, of any of them.
pub(super) fn is_of_absent(option: &str) -> bool {
    ABSENT.iter().any(|absent| absent.own.contains(&option))
}

/// Why an engine of fio is not available here, and which one would do; `None` for any other name.
pub(super) fn absent(name: &str) -> Option<String> {
    if Engine::named(name).is_some() {
        return None;
    }
    let usual = "sync, psync, pvsync2, libaio, io_uring, mmap or null";
    let instead = known_absent(name).map_or(usual, |absent| absent.instead);
    Some(format!("engine {name} is not there; use {instead}"))
}

/// The engines that Debian's fio has and blocklab lacks.
const IN_DEBIAN: [&str; 15] = [
    "net",
    "netsplice",
    "rdma",
    "sg",
    "e4defrag",
    "io_uring_cmd",
    "rbd",
    "rados",
    "gfapi",
    "gfapi_async",
    "nbd",
    "mtd",
    "libpmem",
    "dev-dax",
    "pmemblk",
];

/// Whether Debian's fio, too, has no engine of that name: then it stops reading at it.
fn is_unknown_to_debian(name: &str) -> bool {
    Engine::named(name).is_none() && !IN_DEBIAN.contains(&name)
}

/// The error of a job whose engine cannot begin, where the engine has none of its own.
const UNABLE: i32 = 1;

/// The engine of a job. `only_parsed`: it is not going to be opened. Of an engine that Debian's fio
/// cannot load it reads no further; one that cannot begin ends its own job.
pub(super) fn engine(spec: &Spec, only_parsed: bool) -> Result<Engine, Fault> {
    let name = &*spec.options.ioengine;
    let Some(usual) = Engine::named(name) else {
        return match known_absent(name) {
            Some(_) if only_parsed => Ok(Engine::Null),
            _ => {
                let why = spec.mistake("ioengine", absent(name).unwrap_or_default());
                Err(if is_unknown_to_debian(name) {
                    Fault::OfAll(why)
                } else {
                    Fault::of_job(UNABLE, why)
                })
            }
        };
    };
    if let Some(missing) = missing(&spec.options, usual) {
        return Err(Fault::invalid(spec.mistake("ioengine", missing)));
    }
    Ok(own_options(name).map_or(usual, |(_, made, _)| made(&spec.options)))
}

/// What an engine without files cannot do without, and does not have.
fn missing(options: &Options, engine: Engine) -> Option<&'static str> {
    match engine {
        Engine::Cpuio(_) if load(options).is_none() => {
            Some("cpuio needs cpuload=, the share of the time that is burnt")
        }
        Engine::Exec if options.program.is_none() => Some("exec needs program=, what is to be run"),
        Engine::Exec if options.runtime == Nanos::ZERO => {
            Some("exec needs runtime=, after which its program is ended")
        }
        _ => None,
    }
}

/// Whether it needs no files, nor their size.
pub(super) fn is_diskless(options: &Options) -> bool {
    let engine = Engine::named(&options.ioengine);
    engine.is_some_and(|engine| !engine.counts_bytes())
}

/// A program that runs alongside the jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its path, or its name.
    pub path: String,
    /// The arguments of the program.
    pub arguments: Vec<String>,
    /// When it begins, since the jobs do.
    pub delay: Nanos,
    /// How long it may run.
    pub limit: Nanos,
    /// How long it may take to end after it was requested to.
    pub grace: Nanos,
    /// Whether its output goes into files that are named after the job.
    pub redirects: bool,
}

/// The program that `ioengine=exec` runs.
pub(super) fn program(options: &Options, job: &Job, name: &str) -> Option<Program> {
    let path = options
        .program
        .clone()
        .filter(|_| job.engine == Engine::Exec)?;
    let seconds = (options.runtime.0 / 1_000_000_000).to_string();
    let given = options.arguments.as_deref().unwrap_or_default();
    let arguments = given.replace("%r", &seconds).replace("%n", name);
    Some(Program {
        path,
        // As fio, which knows no quotes.
        arguments: arguments
            .split_ascii_whitespace()
            .map(str::to_owned)
            .collect(),
        delay: job.start_delay,
        limit: job.ramp + options.runtime,
        grace: Nanos::from_secs(options.grace_time.into()),
        redirects: options.std_redirect,
    })
}

/// The pause of an engine without I/O between two looks at the clock.
const IDLE: Nanos = Nanos::from_millis(100);

/// The pause after each chunk that is burnt, so that the requested share of the time is; a job whose
/// program runs alongside it does nothing but wait.
pub(super) fn pause(options: &Options) -> Option<Think> {
    let pause = match Engine::named(&options.ioengine)? {
        Engine::Exec => IDLE,
        Engine::Cpuio(_) => {
            let load = load(options).filter(|load| *load < 100)?;
            Nanos(chunk(options).0 * (100 - load) / load)
        }
        _ => return None,
    };
    Some(Think { pause, every: 1 })
}

fn load(options: &Options) -> Option<u64> {
    let load = options.cpuload.filter(|load| *load > 0)?;
    Some(load.min(100).into())
}

fn chunk(options: &Options) -> Nanos {
    options.cpuchunks.max(Nanos(1000))
}
