//! The statistics of an EBS volume, which an NVMe command reads.
//!
//! The page is the vendor's log page D0h: a number that identifies it, then counters of 64
//! bits since the volume was attached (Amazon's documentation of EBS detailed performance
//! statistics; their order as in the vendor's tools for Linux).

use std::fs::File;

use blocklab_record::Exceeded;

use crate::nvme;
use crate::roots::Roots;

const MODEL: &str = "Amazon Elastic Block Store";
const LOG: u8 = 0xd0;
const NAMESPACE: u32 = 1;
const PAGE: usize = 4096;
const MAGIC: u32 = 0x3c23_b510;
/// The number, four unused bytes and six counters of operations, bytes and times come before these
/// counters.
const EXCEEDED_AT: usize = 8 + 6 * 8;

/// The counters of a volume since it was attached, by the kernel name of its device or of a
/// partition on it. `None` where the device is no EBS volume, or does not report them.
pub(crate) fn exceeded(roots: &Roots, name: &str) -> Option<Exceeded> {
    let disk = disk(name)?;
    let model = roots.text(format!("/sys/class/block/{disk}/device/model"))?;
    if model.trim() != MODEL {
        return None;
    }
    let mut page = [0; PAGE];
    let device = File::open(format!("/dev/{disk}")).ok()?;
    nvme::log_page(&device, LOG, NAMESPACE, &mut page).ok()?;
    parse(&page)
}

/// `nvme1n1` of `nvme1n1p2`; `None` for the name of a device that is no NVMe.
fn disk(name: &str) -> Option<&str> {
    let rest = name.strip_prefix("nvme")?;
    Some(match rest.find('p') {
        Some(at) => &name[..at + "nvme".len()],
        None => name,
    })
}

/// The counters in a log page; `None` if it is no page of an EBS volume.
fn parse(page: &[u8; PAGE]) -> Option<Exceeded> {
    if page[..4] != MAGIC.to_le_bytes() {
        return None;
    }
    let (words, _) = page[EXCEEDED_AT..].as_chunks();
    Some(Exceeded {
        volume_iops_us: u64::from_le_bytes(words[0]),
        volume_throughput_us: u64::from_le_bytes(words[1]),
        instance_iops_us: u64::from_le_bytes(words[2]),
        instance_throughput_us: u64::from_le_bytes(words[3]),
    })
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
        let expected = Exceeded {
            volume_iops_us: 5,
            volume_throughput_us: 6,
            instance_iops_us: 7,
            instance_throughput_us: 8,
        };
        assert_eq!(parse(&page), Some(expected));
        page[0] ^= 1;
        assert_eq!(parse(&page), None, "another vendor's page");
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
