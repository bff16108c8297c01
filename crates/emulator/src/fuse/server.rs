//! A mount that is served, with its block devices.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use super::artifacts::Artifacts;
use super::block_device::{self, BlockDevice, BlockError};
use super::folder::Folder;
use super::mount::{self, MountError, MountPoint};
use super::session::Session;
use crate::{Spin, Volume};

/// Why volumes cannot be served so.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The folder.
    #[error(transparent)]
    Mount(#[from] MountError),
    /// The block device.
    #[error(transparent)]
    Block(#[from] BlockError),
    /// Another resource.
    #[error("the mount cannot be served: {0}")]
    System(#[from] io::Error),
}

/// Volumes as files, at work. What it made is undone by its [`Artifacts`].
#[derive(Debug)]
pub struct FuseServer {
    folder: Arc<Folder>,
    at: PathBuf,
    devices: Vec<PathBuf>,
    threads: Vec<JoinHandle<()>>,
}

/// How often it is checked whether the threads have ended after their mount: for 2 s in all.
const END_POLLS: usize = 1000;
/// The time between two of these checks.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// More than these would only wait for the kernel's one list of requests.
const MOST_THREADS: usize = 4;

impl FuseServer {
    /// Serves each volume as a file, `volume` or `volume1` and so on, in an empty folder; without
    /// one, in a folder of its own. With `block`, each becomes a block device.
    ///
    /// # Errors
    /// When the folder or the machine does not allow it; nothing is left behind.
    ///
    /// # Panics
    /// Without a volume.
    pub fn start(
        volumes: &[Arc<Volume>],
        at: Option<&Path>,
        block: bool,
        spin: Spin,
        artifacts: &mut Artifacts,
    ) -> Result<Self, ServeError> {
        assert!(!volumes.is_empty(), "a server without a volume");
        if block {
            block_device::may_make()?;
        }
        let place = match at {
            Some(at) => MountPoint::new(at)?,
            None => MountPoint::new(&artifacts.own_folder()?)?,
        };
        let folder = Arc::new(Folder::new(volumes));
        let read_only = volumes.iter().all(|volume| volume.is_read_only());
        artifacts.mounts(&place.path)?;
        let device = place.mount(artifacts.source(), read_only)?;
        let mut server = Self {
            folder: Arc::clone(&folder),
            at: place.path,
            devices: Vec::new(),
            threads: Vec::new(),
        };
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let others = 1..processors.clamp(2, MOST_THREADS);
        // Without the right to open the device there is one thread.
        let others: Vec<_> = others
            .map_while(|_| mount::clone_device(&device).ok())
            .collect();
        let mut session = Session::new(device, &folder, spin)?;
        // The kernel sends no other request before this one has its answer.
        session.begin()?;
        server.spawn(session)?;
        for device in others {
            server.spawn(Session::new(device, &folder, spin)?)?;
        }
        if block {
            server.make_devices(artifacts)?;
        }
        Ok(server)
    }

    fn spawn(&mut self, session: Session) -> io::Result<()> {
        let name = format!("fuse {}", self.threads.len());
        let thread = Builder::new().name(name).spawn(move || {
            // It ends with the mount: the kernel reports errors to the users.
            let _ = session.run();
        })?;
        self.threads.push(thread);
        Ok(())
    }

    fn make_devices(&mut self, artifacts: &mut Artifacts) -> Result<(), ServeError> {
        for (name, volume) in self.folder.names().zip(self.folder.volumes()) {
            let device = BlockDevice::new(&self.at.join(name), volume.is_read_only())?;
            artifacts.made_device(&device)?;
            self.devices.push(device.path());
        }
        Ok(())
    }

    /// The files that are served.
    pub fn files(&self) -> Vec<PathBuf> {
        self.folder.names().map(|name| self.at.join(name)).collect()
    }

    /// The block devices, in the order of the volumes.
    pub fn devices(&self) -> &[PathBuf] {
        &self.devices
    }

    /// How often a file is open now; a block device counts once.
    pub fn clients(&self) -> u64 {
        self.folder.open()
    }

    /// How often a file was opened so far; a block device counts once.
    pub fn visits(&self) -> u64 {
        self.folder.opened()
    }

    /// When the mount is gone, waits until all requests in flight are settled. Where only root can
    /// end the connection to the kernel, it lasts as long as a program has a file open: it is not
    /// waited for, and ends with this process.
    pub fn join(self) {
        for _ in 0..END_POLLS {
            if self.threads.iter().all(JoinHandle::is_finished) {
                return;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}
