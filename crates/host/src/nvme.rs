//! Log pages of NVMe devices.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// `struct nvme_admin_cmd` of <linux/nvme_ioctl.h>.
#[repr(C)]
#[derive(Default)]
struct AdminCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    words_2_3: [u32; 2],
    metadata: u64,
    address: u64,
    metadata_len: u32,
    data_len: u32,
    words_10_15: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

/// Reads the log page of this number; `namespace`: all ones for the whole controller.
///
/// # Errors
/// The errors of `ioctl`: missing rights, and a device that is no NVMe.
pub(crate) fn log_page(device: &File, log: u8, namespace: u32, page: &mut [u8]) -> io::Result<()> {
    const GET_LOG_PAGE: u8 = 0x02;
    /// _IOWR('N', 0x41, struct nvme_admin_cmd)
    const ADMIN: libc::c_ulong = 0xc048_4e41;
    // Words of four bytes, counted from 0.
    let words = (page.len() / 4 - 1) as u32;
    let mut command = AdminCommand {
        opcode: GET_LOG_PAGE,
        namespace,
        address: page.as_mut_ptr() as u64,
        data_len: page.len() as u32,
        words_10_15: [u32::from(log) | words << 16, 0, 0, 0, 0, 0],
        ..AdminCommand::default()
    };
    // SAFETY: the descriptor is open as long as `device` lives; the command has the kernel's
    // layout, and names the page and its length, into which nothing else writes meanwhile.
    match unsafe { libc::ioctl(device.as_raw_fd(), ADMIN, &raw mut command) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_has_the_kernels_size() {
        assert_eq!(size_of::<AdminCommand>(), 72);
    }
}
