//! `ioengine`: who calls the kernel, and how.

use blocklab_workload::{CallFlags, Engine, UringOptions};

use super::mistake::Mistake;
use super::spec::Spec;

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
    let name = spec.values.text("ioengine").unwrap_or("psync");
    let flag = |option| spec.values.flag(option);
    Ok(match Engine::named(name) {
        Some(Engine::Pvsync2(_)) => Engine::Pvsync2(CallFlags {
            hipri: flag("hipri"),
            nowait: flag("nowait"),
            uncached: flag("uncached"),
        }),
        Some(Engine::IoUring(_)) => Engine::IoUring(UringOptions {
            sqpoll: flag("sqthread_poll"),
            iopoll: flag("hipri"),
            fixed_buffers: flag("fixedbufs"),
            fixed_files: flag("registerfiles"),
        }),
        Some(other) => other,
        None => {
            let wrong = absent(name).unwrap_or_default();
            return Err(spec.mistake("ioengine", wrong));
        }
    })
}
