//! Volumes as files of a folder and as block devices, for programs without NBD.
//!
//! ```text
//!   program ─▶ file system ─▶ /dev/loop3 ─▶ DIR/volume ─▶ /dev/fuse ─▶ Session ─▶ Volume
//!   program ─────────(O_DIRECT)────────────▶ DIR/volume
//! ```

mod artifacts;
mod block_device;
mod folder;
mod mount;
mod server;
mod session;
mod wire;

pub use artifacts::{Artifacts, Holder, Leftover};
pub use block_device::BlockError;
pub use mount::MountError;
pub use server::{FuseServer, ServeError};
