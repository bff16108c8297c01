//! What an EBS volume tells of itself: a page of statistics behind an NVMe command.
//!
//! The page is the vendor's log page D0h: a number that tells it from others, then counters of 64
//! bits since the volume was attached (Amazon's documentation of EBS detailed performance
//! statistics; their order as in the vendor's tools for Linux).

use std::fs::File;
use std::os::fd::AsRawFd;

use blocklab_record::Exceeded;

use crate::roots::Roots;

const MODEL: &str = "Amazon Elastic Block Store";
const PAGE: usize = 4096;
const MAGIC: u32 = 0x3c23_b510;
/// Before these counters: the number, four bytes of nothing, six counters of operations, bytes and
/// times.
const EXCEEDED_AT: usize = 8 + 6 * 8;

/// The counters of a volume since it was attached, by the kernel name of its device or of a
/// partition on it. Nothing where the device is none, or does not tell.
pub(crate) fn exceeded(roots: &Roots, name: &str) -> Option<Exceeded> {
    let disk = disk(name)?;
    let model = roots.text(format!("/sys/class/block/{disk}/device/model"))?;
    if model.trim() != MODEL {
        return None;
    }
    let mut page = [0; PAGE];
    read_page(&File::open(format!("/dev/{disk}")).ok()?, &mut page).ok()?;
    parse(&page)
}

/// `nvme1n1` of `nvme1n1p2`.
fn disk(name: &str) -> Option<&str> {
    let rest = name.strip_prefix("nvme")?;
    Some(match rest.find('p') {
        Some(at) => &name[..at + "nvme".len()],
        None => name,
    })
}

fn parse(page: &[u8; PAGE]) -> Option<Exceeded> {
    if page[..4] != MAGIC.to_le_bytes() {
        return None;
    }
    let counter = |index: usize| {
        let at = EXCEEDED_AT + 8 * index;
        let bytes: [u8; 8] = page[at..at + 8].try_into().expect("eight bytes");
        u64::from_le_bytes(bytes)
    };
    Some(Exceeded {
        volume_iops_us: counter(0),
        volume_throughput_us: counter(1),
        instance_iops_us: counter(2),
        instance_throughput_us: counter(3),
    })
}

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

fn read_page(device: &File, page: &mut [u8; PAGE]) -> std::io::Result<()> {
    const GET_LOG_PAGE: u8 = 0x02;
    const LOG: u32 = 0xd0;
    /// _IOWR('N', 0x41, struct nvme_admin_cmd)
    const ADMIN: libc::c_ulong = 0xc048_4e41;
    let words = (PAGE / 4 - 1) as u32;
    let mut command = AdminCommand {
        opcode: GET_LOG_PAGE,
        namespace: 1,
        address: page.as_mut_ptr() as u64,
        data_len: PAGE as u32,
        words_10_15: [LOG | words << 16, 0, 0, 0, 0, 0],
        ..AdminCommand::default()
    };
    // SAFETY: the descriptor is open as long as `device` lives; the command has the kernel's
    // layout, and names the page and its length, into which nothing else writes meanwhile.
    match unsafe { libc::ioctl(device.as_raw_fd(), ADMIN, &raw mut command) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_a_volume_at_its_limits() {
        let mut page = [0; PAGE];
        page[..4].copy_from_slice(&MAGIC.to_le_bytes());
        for (index, value) in [100u64, 200, 409_600, 819_200, 11, 22, 5, 6, 7, 8, 3]
            .iter()
            .enumerate()
        {
            let at = 8 + 8 * index;
            page[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        let told = Exceeded {
            volume_iops_us: 5,
            volume_throughput_us: 6,
            instance_iops_us: 7,
            instance_throughput_us: 8,
        };
        assert_eq!(parse(&page), Some(told));
        page[0] ^= 1;
        assert_eq!(parse(&page), None, "another vendor's page");
    }

    #[test]
    fn the_command_has_the_kernels_size() {
        assert_eq!(size_of::<AdminCommand>(), 72);
    }

    #[test]
    fn disks_of_partitions() {
        for (name, wanted) in [
            ("nvme1n1", Some("nvme1n1")),
            ("nvme12n1p3", Some("nvme12n1")),
            ("sda1", None),
            ("vda", None),
        ] {
            assert_eq!(disk(name), wanted);
        }
    }

    #[test]
    fn a_device_that_is_no_volume_tells_nothing() {
        assert_eq!(exceeded(&Roots::real(), "nvme999n1"), None);
        assert_eq!(exceeded(&Roots::real(), "loop0"), None);
    }
}
