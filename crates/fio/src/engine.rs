//! `ioengine`: who calls the kernel, and how. One row an engine: its name, what it is of a job, and
//! its own options, as `--enghelp` lists them.

use blocklab_workload::{CallFlags, Engine, UringOptions};

use super::jobs::Spec;
use super::mistake::Mistake;
use super::options::Options;

/// The options that an engine has to itself: how they make it, and their names.
type Row = (
    &'static str,
    fn(&Options) -> Engine,
    &'static [&'static str],
);

#[rustfmt::skip]
const OWN_OPTIONS: [Row; 4] = [
    ("pvsync2", pvsync2, &["hipri", "hipri_percentage", "uncached", "nowait"]),
    ("libaio", |_| Engine::Libaio, &["userspace_reap"]),
    ("io_uring", io_uring, &["hipri", "fixedbufs", "registerfiles", "sqthread_poll", "nonvectored"]),
    ("mmap", |_| Engine::Mmap, &["thp"]),
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
    Ok(own_options(name).map_or(usual, |(_, made, _)| made(&spec.options)))
}
