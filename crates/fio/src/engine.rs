//! `ioengine`: who calls the kernel, and how. The engines are a table of `workload`; here stand those
//! that have options to themselves, as `--enghelp` lists them.

use blocklab_units::Nanos;
use blocklab_workload::{CallFlags, Engine, Think, UringOptions};

use super::mistake::Mistake;
use super::options::Options;
use super::spec::Spec;

/// The options that an engine has to itself: how they make it, and their names.
type Row = (
    &'static str,
    fn(&Options) -> Engine,
    &'static [&'static str],
);

#[rustfmt::skip]
const OWN_OPTIONS: [Row; 5] = [
    ("pvsync2", pvsync2, &["hipri", "hipri_percentage", "uncached", "nowait"]),
    ("libaio", |_| Engine::Libaio, &["userspace_reap"]),
    ("io_uring", io_uring, &["hipri", "fixedbufs", "registerfiles", "sqthread_poll", "nonvectored"]),
    ("mmap", |_| Engine::Mmap, &["thp"]),
    ("cpuio", |options| Engine::Cpuio(chunk(options)), &["cpuload", "cpuchunks"]),
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
        fixed_files: options.registerfiles,
    })
}

fn own_options(name: &str) -> Option<&'static Row> {
    OWN_OPTIONS.iter().find(|(known, ..)| *known == name)
}

/// The names of the engines, each with the names of its own options.
pub fn engines() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    let own = |name| own_options(name).map_or(&[][..], |(_, _, names)| names);
    Engine::ALL.iter().map(move |(name, _)| (*name, own(*name)))
}

/// Of an engine that is not there: so, and which one would do.
pub(super) fn absent(name: &str) -> Option<String> {
    if Engine::named(name).is_some() {
        return None;
    }
    let instead = match name {
        "netsplice" => "splice",
        "solarisaio" | "windowsaio" | "io_uring_cmd" => "io_uring",
        "nbd" => "io_uring on the device of `nbd-client`",
        "rbd" | "rados" | "gfapi" | "gfapi_async" | "libiscsi" | "sg" => {
            "io_uring on the block device that the kernel makes of it"
        }
        _ => "sync, psync, pvsync2, libaio, io_uring, mmap or null",
    };
    Some(format!("engine {name} is not there; use {instead}"))
}

/// The engine of a job.
pub(super) fn engine(spec: &Spec) -> Result<Engine, Mistake> {
    let name = &*spec.options.ioengine;
    let Some(usual) = Engine::named(name) else {
        return Err(spec.mistake("ioengine", absent(name).unwrap_or_default()));
    };
    if is_diskless(&spec.options) && load(&spec.options).is_none() {
        let missing = "cpuio needs cpuload=, the share of the time that is burnt";
        return Err(spec.mistake("ioengine", missing));
    }
    Ok(own_options(name).map_or(usual, |(_, made, _)| made(&spec.options)))
}

/// Whether it needs no files, nor their size.
pub(super) fn is_diskless(options: &Options) -> bool {
    matches!(Engine::named(&options.ioengine), Some(Engine::Cpuio(_)))
}

/// The pause after each chunk that is burnt, so that the asked share of the time is.
pub(super) fn pause(options: &Options) -> Option<Think> {
    let load = load(options).filter(|load| is_diskless(options) && *load < 100)?;
    Some(Think {
        pause: Nanos(chunk(options).0 * (100 - load) / load),
        every: 1,
    })
}

fn load(options: &Options) -> Option<u64> {
    let load = options.cpuload.filter(|load| *load > 0)?;
    Some(load.min(100).into())
}

fn chunk(options: &Options) -> Nanos {
    options.cpuchunks.max(Nanos(1000))
}
