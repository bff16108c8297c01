//! `ioengine`: who calls the kernel, and how.

use blocklab_workload::{CallFlags, Engine, UringOptions};

use super::mistake::Mistake;
use super::spec::Spec;

const NAMES: [&str; 16] = [
    "sync",
    "psync",
    "vsync",
    "pvsync",
    "pvsync2",
    "libaio",
    "io_uring",
    "posixaio",
    "mmap",
    "splice",
    "null",
    "falloc",
    "ftruncate",
    "filecreate",
    "filestat",
    "filedelete",
];

/// Of an engine that is not there: so, and which one would do.
pub(super) fn absent(name: &str) -> Option<String> {
    if NAMES.contains(&name) {
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
    Ok(match name {
        "sync" => Engine::Sync,
        "psync" => Engine::Psync,
        "vsync" => Engine::Vsync,
        "pvsync" => Engine::Pvsync,
        "posixaio" => Engine::PosixAio,
        "splice" => Engine::Splice,
        "falloc" => Engine::Falloc,
        "ftruncate" => Engine::Ftruncate,
        "filecreate" => Engine::FileCreate,
        "filestat" => Engine::FileStat,
        "filedelete" => Engine::FileDelete,
        "pvsync2" => Engine::Pvsync2(CallFlags {
            hipri: spec.values.flag("hipri"),
            nowait: spec.values.flag("nowait"),
            uncached: spec.values.flag("uncached"),
        }),
        "libaio" => Engine::Libaio,
        "io_uring" => Engine::IoUring(UringOptions {
            sqpoll: spec.values.flag("sqthread_poll"),
            iopoll: spec.values.flag("hipri"),
            fixed_buffers: spec.values.flag("fixedbufs"),
            fixed_files: spec.values.flag("registerfiles"),
        }),
        "mmap" => Engine::Mmap,
        "null" => Engine::Null,
        other => {
            let wrong = absent(other).unwrap_or_default();
            return Err(spec.mistake("ioengine", wrong));
        }
    })
}
