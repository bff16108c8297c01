//! `ioengine`: who calls the kernel, and how. `workload` has the table of all engines; this module has
//! the ones with options that no other engine takes, as `--enghelp` lists them.

use blocklab_units::Nanos;
use blocklab_workload::{CallFlags, Engine, Job, Think, UringOptions};

use super::fault::Fault;
use super::number::LONGEST;
use super::options::Options;
use super::pattern;
use super::spec::Spec;

/// An engine with options that no other one takes.
struct OwnOptions {
    engine: &'static str,
    /// Makes the engine from the options.
    make: fn(&Options) -> Engine,
    /// The names of these options, separated by blanks.
    names: &'static str,
}

#[rustfmt::skip]
const OWN_OPTIONS: [OwnOptions; 7] = [
    OwnOptions { engine: "pvsync2", make: pvsync2, names: "hipri hipri_percentage uncached nowait" },
    OwnOptions { engine: "libaio", make: |_| Engine::Libaio, names: "userspace_reap cmdprio_percentage cmdprio_class cmdprio cmdprio_bssplit nowait" },
    OwnOptions { engine: "io_uring", make: io_uring,
        names: "hipri cmdprio_percentage cmdprio_class cmdprio cmdprio_bssplit fixedbufs \
                registerfiles sqthread_poll sqthread_poll_cpu nonvectored uncached nowait force_async" },
    OwnOptions { engine: "filestat", make: |_| Engine::FileStat, names: "stat_type" },
    OwnOptions { engine: "mmap", make: |_| Engine::Mmap, names: "thp" },
    OwnOptions { engine: "cpuio", make: |options| Engine::Cpuio(chunk(options)), names: "cpuload cpuchunks cpumode exit_on_io_done" },
    OwnOptions { engine: "exec", make: |_| Engine::Exec, names: "program arguments grace_time std_redirect" },
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

fn own_options(engine: &str) -> Option<&'static OwnOptions> {
    OWN_OPTIONS.iter().find(|own| own.engine == engine)
}

/// The names of the engines, each with the names of its own options, separated by blanks.
pub fn engines() -> impl Iterator<Item = (&'static str, &'static str)> {
    Engine::ALL
        .iter()
        .map(|(name, _)| (*name, own_options(name).map_or("", |own| own.names)))
}

/// An engine that fio has and blocklab lacks.
struct Absent {
    name: &'static str,
    /// Whether Debian's fio has it.
    in_debian: bool,
    /// The names of the options that only it has, separated by blanks.
    own: &'static str,
    /// What to use in its place.
    instead: &'static str,
}

const DEVICE: &str = "io_uring on the block device that the kernel makes of it";
const URING: &str = "io_uring";
const MMAP: &str = "mmap, or io_uring with direct=1";
const NETWORK: &str = "another program: no network is measured here";
const FILES: &str = "io_uring on a file of a file system that is mounted from there";

#[rustfmt::skip]
const ABSENT: [Absent; 31] = [
    Absent { name: "net", in_debian: true, own: OF_NET, instead: NETWORK },
    Absent { name: "netsplice", in_debian: true, own: OF_NET, instead: "splice on a file" },
    Absent { name: "rdma", in_debian: true, own: "hostname bindname port verb", instead: NETWORK },
    Absent { name: "sg", in_debian: true, own: "readfua writefua sg_write_mode stream_id", instead: DEVICE },
    Absent { name: "e4defrag", in_debian: true, own: "donorname inplace", instead: "the program e4defrag" },
    Absent { name: "io_uring_cmd", in_debian: true, own: OF_PASS_THROUGH, instead: URING },
    Absent { name: "rbd", in_debian: true, own: "clustername rbdname pool clientname busy_poll rbd_encryption_format rbd_encryption_passphrase", instead: DEVICE },
    Absent { name: "rados", in_debian: true, own: "clustername pool clientname conf busy_poll touch_objects", instead: DEVICE },
    Absent { name: "gfapi", in_debian: true, own: OF_GLUSTER, instead: FILES },
    Absent { name: "gfapi_async", in_debian: true, own: OF_GLUSTER, instead: FILES },
    Absent { name: "libhdfs", in_debian: false, own: "namenode hostname port hdfsdirectory chunk_size single_instance hdfs_use_direct", instead: FILES },
    Absent { name: "dfs", in_debian: false, own: "pool cont chunk_size object_class svcl", instead: FILES },
    Absent { name: "nfs", in_debian: false, own: "nfs_url", instead: FILES },
    Absent { name: "ime_psync", in_debian: false, own: "", instead: FILES },
    Absent { name: "ime_psyncv", in_debian: false, own: "", instead: FILES },
    Absent { name: "ime_aio", in_debian: false, own: "", instead: FILES },
    Absent { name: "http", in_debian: false, own: OF_HTTP, instead: FILES },
    Absent { name: "libiscsi", in_debian: false, own: "initiator", instead: DEVICE },
    Absent { name: "nbd", in_debian: true, own: "uri", instead: "io_uring on the device of `nbd-client`" },
    Absent { name: "mtd", in_debian: true, own: "skip_bad", instead: "io_uring on /dev/mtdblockN" },
    Absent { name: "libzbc", in_debian: false, own: "", instead: DEVICE },
    Absent { name: "libblkio", in_debian: false, own: OF_BLKIO, instead: URING },
    Absent { name: "xnvme", in_debian: false, own: OF_XNVME, instead: URING },
    Absent { name: "libpmem", in_debian: true, own: "", instead: MMAP },
    Absent { name: "dev-dax", in_debian: true, own: "", instead: MMAP },
    Absent { name: "pmemblk", in_debian: true, own: "", instead: MMAP },
    Absent { name: "page_fault", in_debian: false, own: "", instead: "mmap on a file" },
    Absent { name: "cpp_null", in_debian: false, own: "", instead: "null" },
    Absent { name: "guasi", in_debian: false, own: "", instead: URING },
    Absent { name: "solarisaio", in_debian: false, own: "", instead: URING },
    Absent { name: "windowsaio", in_debian: false, own: "", instead: URING },
];

const OF_NET: &str = "hostname port protocol proto nodelay listen pingpong interface ttl window_size \
    mss";
const OF_GLUSTER: &str = "volume brick single-instance";
const OF_PASS_THROUGH: &str = "pi_act pi_chk apptag apptag_mask write_mode verify_mode deac";
const OF_HTTP: &str = "https http_host http_user http_pass http_s3_key http_s3_keyid http_s3_region \
    http_s3_security_token http_s3_sse_customer_key http_s3_sse_customer_algorithm \
    http_s3_storage_class http_swift_auth_token http_mode http_verbose \
    http_object_mode";
const OF_BLKIO: &str = "libblkio_driver libblkio_path libblkio_pre_connect_props libblkio_num_entries \
    libblkio_queue_size libblkio_pre_start_props libblkio_vectored \
    libblkio_write_zeroes_on_trim libblkio_wait_mode \
    libblkio_force_enable_completion_eventfd";
const OF_XNVME: &str = "xnvme_be xnvme_async xnvme_sync xnvme_admin xnvme_dev_nsid xnvme_dev_subnqn \
    xnvme_mem xnvme_iovec";

impl Absent {
    /// Whether an option is one of those that only this engine has.
    fn has(&self, option: &str) -> bool {
        self.own.split_whitespace().any(|own| own == option)
    }
}

fn known_absent(name: &str) -> Option<&'static Absent> {
    ABSENT.iter().find(|absent| absent.name == name)
}

/// Whether an option is one that only this engine has, and the engine is not available here.
pub(super) fn is_option_of_absent(engine: &str, option: &str) -> bool {
    known_absent(engine).is_some_and(|absent| absent.has(option))
}

/// Whether an option is one that only engines have which are not available here.
pub(super) fn is_of_absent(option: &str) -> bool {
    ABSENT.iter().any(|absent| absent.has(option))
}

/// Whether fio opens libaio by this name: `aio` and `linuxaio`, whatever follows.
pub(super) fn is_alias_of_libaio(name: &str) -> bool {
    name.starts_with("aio") || name.starts_with("linuxaio")
}

/// Why an engine of fio is not available here, and which one would do; `None` for any other name.
pub(super) fn absent(name: &str) -> Option<String> {
    if Engine::named(name).is_some() {
        return None;
    }
    let instead = known_absent(name).map_or("one of --enghelp", |absent| absent.instead);
    Some(format!("engine {name} is not there; use {instead}"))
}

/// The error of a job whose engine cannot begin, where the engine has none of its own.
const UNABLE: i32 = 1;

/// The engine of a job. With `only_parsed`, it will not be opened, so one that is not available here is
/// accepted.
///
/// # Errors
/// For the whole command line, where Debian's fio does not know the engine either; else for this job.
pub(super) fn engine(spec: &Spec, only_parsed: bool) -> Result<Engine, Fault> {
    let name = &*spec.options.ioengine;
    let Some(usual) = Engine::named(name) else {
        let known = known_absent(name);
        if known.is_some() && only_parsed {
            return Ok(Engine::Null);
        }
        let why = spec.mistake("ioengine", absent(name).unwrap_or_default());
        // Debian's fio stops reading at an engine that it cannot load.
        return Err(if known.is_some_and(|known| known.in_debian) {
            Fault::one_job(UNABLE, why)
        } else {
            Fault::WholeCommand(why)
        });
    };
    if let Some(missing) = missing(&spec.options, usual) {
        return Err(Fault::invalid(spec.mistake("ioengine", missing)));
    }
    let options = &spec.options;
    let stores = options.direct || options.fsync > 0 || options.fdatasync > 0;
    let smallest = pattern::block_sizes(spec)?.smallest().0;
    // With these options msync(2) is called, which works on whole pages.
    if usual == Engine::Mmap && stores && !smallest.is_multiple_of(4096) {
        let wrong = "mmap options dictate a minimum block size of 4096 bytes";
        return Err(Fault::one_job(UNABLE, spec.mistake("bs", wrong)));
    }
    Ok(own_options(name).map_or(usual, |own| (own.make)(&spec.options)))
}

/// What is missing for an engine that works without files; `None`: nothing is.
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

/// Whether the engine of a job needs no files, nor their size.
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
            Nanos(chunk(options).0.saturating_mul(100 - load) / load).min(LONGEST)
        }
        _ => return None,
    };
    Some(Think { pause, every: 1 })
}

/// The share of the time that cpuio burns, in per cent; `None` where it is not given.
fn load(options: &Options) -> Option<u64> {
    let load = options.cpuload.filter(|load| *load > 0)?;
    Some(load.min(100).into())
}

/// How long cpuio burns between two pauses, at least a microsecond.
fn chunk(options: &Options) -> Nanos {
    options.cpuchunks.max(Nanos(1000))
}

/// The time of a job that only computes and has none: scripts let it burn until they kill it.
pub(super) fn endless(options: &Options) -> Option<Nanos> {
    let engine = Engine::named(&options.ioengine);
    matches!(engine, Some(Engine::Cpuio(_))).then_some(Nanos::from_secs(10 * 365 * 24 * 3600))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::planned;

    /// A chunk or a time of years passed 2^64 ns: the plan panicked with overflow checks, and without
    /// them the pause was any other.
    #[test]
    fn pauses_and_ends_of_any_length_can_be_planned() {
        let burns =
            planned("[a]\nioengine=cpuio\ncpuload=1\ncpuchunks=9999999999999999\nruntime=1\n");
        let think = burns.unwrap().plan.cases[0].workload.jobs[0].think;
        assert_eq!(think.map(|think| think.pause), Some(LONGEST));
        let text = "[a]\nioengine=exec\nprogram=x\nramp_time=1\nruntime=99999999999999\n";
        let program = planned(text).unwrap().clones[0].program.clone().unwrap();
        assert_eq!(program.limit, LONGEST + Nanos::from_secs(1));
    }

    /// `ioengine=aio` was refused, although fio opens libaio by that name.
    #[test]
    fn libaio_has_further_names() {
        for name in ["aio", "linuxaio", "libaio"] {
            let text = format!("[a]\nsize=1m\niodepth=4\nioengine={name}\ncmdprio_percentage=50\n");
            let prepared = planned(&text).unwrap();
            assert_eq!(
                prepared.plan.cases[0].workload.jobs[0].engine,
                Engine::Libaio
            );
        }
    }

    /// A `size` in `[global]` gave the job that only computes a file of that size, which fio does not make.
    #[test]
    fn what_only_computes_makes_no_file() {
        let prepared = planned("[a]\nioengine=cpuio\ncpuload=50\nruntime=1\nsize=64k\n").unwrap();
        assert_eq!(prepared.files, []);
    }
}
