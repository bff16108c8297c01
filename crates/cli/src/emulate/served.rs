//! The servers of volumes: NBD sockets, files and block devices.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use blocklab_console::{place, terminal};
use blocklab_emulator::fuse::{Artifacts, FuseServer, Holder, Leftover};
use blocklab_emulator::nbd::handshake::Export;
use blocklab_emulator::nbd::{self, Access, Limits, Listener, Server, Tls};
use blocklab_emulator::{Spin, Volume};
use blocklab_report::observed;
use blocklab_units::Bytes;

use blocklab_args::{EmulateArgs, SpinArg};

/// All servers of a run.
pub(super) struct Served {
    nbd: Option<Server>,
    files: Option<FuseServer>,
    artifacts: Option<Artifacts>,
    visits: u64,
    addresses: String,
}

impl Served {
    /// Opens all sockets, files and block devices that the arguments ask for. `what`: the served
    /// device in words. `commands`: the socket of `--control`. `export`: what NBD clients are told
    /// about the volume of this index.
    pub(super) fn start(
        args: &EmulateArgs,
        what: &str,
        volumes: &[Arc<Volume>],
        commands: Option<&Path>,
        export: impl Fn(usize, &Volume) -> Export,
    ) -> Result<Self> {
        let spin = match args.spin {
            SpinArg::Auto => Spin::Auto,
            SpinArg::On => Spin::On,
            SpinArg::Off => Spin::Off,
        };
        let folder = args.tls_certificates.as_deref();
        let tls = folder.map(Tls::from_folder).transpose()?;
        let mut artifacts = begin_artifacts(args)?;
        let listeners = listen(args)?;
        let files = match (&mut artifacts, serves_files(args)) {
            (Some(artifacts), true) => {
                let folder = args.fuse.as_deref();
                let server = FuseServer::start(volumes, folder, args.block, spin, artifacts);
                Some(server?)
            }
            _ => None,
        };
        if let Some(artifacts) = &mut artifacts {
            let sockets = listeners.iter().filter_map(Listener::path);
            for path in sockets.chain(commands) {
                // The list lets the next server remove the socket if this one is killed. Without it, a
                // server that listens at the same path removes it.
                let _ = artifacts.listens_at(path);
            }
        }
        let mut places: Vec<_> = listeners
            .iter()
            .map(|listener| listener.uri().to_owned())
            .collect();
        places.extend(files.iter().flat_map(|file| shown(args, file)));
        let addresses = addresses(args, &listeners, files.as_ref());
        let nbd = if listeners.is_empty() {
            None
        } else {
            let numbered = volumes.iter().enumerate();
            let served =
                numbered.map(|(place, volume)| (Arc::clone(volume), export(place, volume)));
            let limits = Limits::default();
            let server = Server::start(served.collect(), listeners, limits, spin, tls);
            Some(server.context("cannot start the server")?)
        };
        announce(args, what, volumes, &places, files.as_ref())?;
        Ok(Self {
            addresses,
            nbd,
            files,
            artifacts,
            visits: 0,
        })
    }

    /// Number of clients that are connected or have a file open.
    pub(super) fn clients(&self) -> usize {
        let nbd = self.nbd.as_ref().map_or(0, Server::clients);
        let files = self.files.as_ref().map_or(0, |files| files.clients());
        nbd + files as usize
    }

    /// The addresses at which clients find the volumes.
    pub(super) fn addresses(&self) -> &str {
        &self.addresses
    }

    /// Number of clients that were served; known once everything is stopped.
    pub(super) const fn visits(&self) -> u64 {
        self.visits
    }

    /// Stops all servers. False, if a volume was still in use.
    pub(super) fn stop(&mut self) -> bool {
        if let Some(nbd) = &mut self.nbd {
            nbd.stop();
            self.visits += nbd.visits();
        }
        let is_free = self.artifacts.as_mut().is_none_or(release);
        if let Some(files) = self.files.take() {
            self.visits += files.visits();
            files.join();
        }
        is_free
    }
}

const fn serves_files(args: &EmulateArgs) -> bool {
    args.fuse.is_some() || args.block
}

/// The addresses as requested, and the block devices that were created. Port 0 requests any, and the
/// listener knows which one it got.
fn addresses(args: &EmulateArgs, listeners: &[Listener], files: Option<&FuseServer>) -> String {
    let requested = args.nbd.iter().zip(listeners);
    let nbd = requested.map(|(text, listener)| {
        if text.ends_with(":0") {
            listener.uri().to_owned()
        } else {
            text.clone()
        }
    });
    let folder = args.fuse.iter().map(PathBuf::as_path);
    let devices = files.map_or(&[][..], FuseServer::devices);
    let paths = folder.chain(devices.iter().map(PathBuf::as_path));
    let all: Vec<_> = nbd
        .chain(paths.map(|path| path.display().to_string()))
        .collect();
    all.join(", ")
}

/// The protocol that clients use.
pub(super) const fn protocol(args: &EmulateArgs) -> &'static str {
    match (args.nbd.is_empty(), args.block) {
        (false, _) => "nbd",
        (true, true) => "loop",
        (true, false) => "fuse",
    }
}

/// Opens the list of mounts and devices, and first removes what killed servers have left. A server that
/// has only sockets can do without the list.
fn begin_artifacts(args: &EmulateArgs) -> Result<Option<Artifacts>> {
    let (artifacts, found) = match Artifacts::new() {
        Ok(begun) => begun,
        Err(_) if !serves_files(args) => return Ok(None),
        Err(error) => {
            return Err(error).context("cannot note what is mounted, to remove it later");
        }
    };
    for leftover in found {
        let text = match leftover {
            Leftover::Undone(path) => {
                format!(
                    "{} was left by a killed server; it is removed now.",
                    path.display()
                )
            }
            Leftover::Held(holder) => format!(
                "A killed server left a volume that is in use: {}. It only returns errors.",
                words(&holder)
            ),
        };
        terminal::inform(&text);
    }
    Ok(Some(artifacts))
}

/// Opens the sockets of `--nbd`. Beyond this machine, TLS is needed or the user's word that none
/// is.
fn listen(args: &EmulateArgs) -> Result<Vec<Listener>> {
    let access = match (&args.tls_certificates, args.insecure) {
        (Some(_), _) => Access::Tls,
        (None, true) => Access::Insecure,
        (None, false) => Access::Local,
    };
    let mut listeners = Vec::new();
    for text in &args.nbd {
        let address: nbd::Address = text.parse()?;
        listeners.push(Listener::new(&address, access)?);
    }
    Ok(listeners)
}

/// The paths to print: the files, if `--fuse` requests them, and the block devices.
fn shown(args: &EmulateArgs, files: &FuseServer) -> Vec<String> {
    let own = if args.fuse.is_some() {
        files.files()
    } else {
        Vec::new()
    };
    let all = own.iter().chain(files.devices());
    all.map(|path| path.display().to_string()).collect()
}

/// Says on standard error what is served where, and prints the names of block devices for scripts.
/// `what`: the served device in words.
fn announce(
    args: &EmulateArgs,
    what: &str,
    volumes: &[Arc<Volume>],
    places: &[String],
    files: Option<&FuseServer>,
) -> Result<()> {
    if !args.quiet {
        let places: Vec<_> = places.iter().map(String::as_str).collect();
        let size = volumes.iter().map(|volume| volume.size()).sum();
        terminal::inform(&observed::opening(what, Bytes(size), &places));
    }
    let devices = files.map_or(&[][..], FuseServer::devices);
    for (device, volume) in devices.iter().zip(volumes) {
        terminal::print(if args.json {
            observed::device_json(volume.name(), &device.display().to_string())
        } else {
            format!("{}\n", device.display())
        })?;
    }
    Ok(())
}

/// How long users of a volume get to stop before they are cut off.
const GRACE: Duration = Duration::from_secs(10);
/// How often it is looked whether they have stopped.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Unmounts and detaches everything; false, if users had to be cut off.
fn release(artifacts: &mut Artifacts) -> bool {
    let until = Instant::now() + GRACE;
    let mut reported = Vec::new();
    loop {
        let holders = artifacts.undo();
        if holders.is_empty() {
            return true;
        }
        if Instant::now() > until {
            break;
        }
        for holder in holders {
            if !reported.contains(&holder) {
                terminal::inform(&format!(
                    "Still in use: {}. In {:.0} s its users get errors.",
                    words(&holder),
                    until
                        .saturating_duration_since(Instant::now())
                        .as_secs_f64()
                ));
                reported.push(holder);
            }
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    for holder in artifacts.undo_by_force() {
        terminal::inform(&format!("Cut off: {}.", words(&holder)));
    }
    false
}

/// What uses a served volume, and how to end that.
fn words(holder: &Holder) -> String {
    match holder {
        Holder::FileSystem { device, at } => {
            let at = place::shell_word(&at.display().to_string());
            format!("{} is mounted (umount {at})", device.display())
        }
        Holder::Program { path, name, pid } => {
            format!("{} is open in {name} (process {pid})", path.display())
        }
        Holder::Unknown { path } => format!("{} is in use", path.display()),
    }
}
