//! The health of a device: its temperature and its wear, where it reports them.
//!
//! The kernel shows the temperature in hwmon (for NVMe devices, and for ATA disks with the module
//! `drivetemp`). Wear is in the SMART log page of NVMe (02h of the NVM Express base specification,
//! 2.0, figure 207), which takes the right to open the device.

use std::fs::{self, File};
use std::os::unix::fs::OpenOptionsExt;

use blocklab_record::DeviceHealth;

use crate::nvme;
use crate::roots::Roots;

const PAGE: usize = 512;
const SMART: u8 = 0x02;
const WHOLE_CONTROLLER: u32 = u32::MAX;

/// The health of a disk, or of the disk below a partition; `None` where it reports nothing.
pub(crate) fn health(roots: &Roots, name: &str) -> Option<DeviceHealth> {
    let folder = format!("/sys/class/block/{name}");
    // A partition lies in the folder of its disk.
    let disk = if roots.path(format!("{folder}/partition")).exists() {
        disk_of(roots, &folder)?
    } else {
        name.to_owned()
    };
    let mut found = if roots.is_real() {
        smart(&disk).unwrap_or_default()
    } else {
        DeviceHealth::default()
    };
    let measured = temperature(roots, &format!("/sys/class/block/{disk}/device"));
    found.temperature_celsius = measured.or(found.temperature_celsius);
    (found != DeviceHealth::default()).then_some(found)
}

fn disk_of(roots: &Roots, folder: &str) -> Option<String> {
    let own = fs::canonicalize(roots.path(folder)).ok()?;
    Some(own.parent()?.file_name()?.to_str()?.to_owned())
}

/// The first sensor, in thousandths of a degree; for NVMe it is the composite temperature. Kernels before
/// 5.18 have one more folder in between.
fn temperature(roots: &Roots, device: &str) -> Option<i32> {
    let folders = [device.to_owned(), format!("{device}/hwmon")];
    let measured = folders.iter().find_map(|folder| {
        let mut names = roots.names(folder).into_iter();
        names.find_map(|name| {
            name.strip_prefix("hwmon")
                .filter(|number| !number.is_empty())?;
            roots.number::<i32>(format!("{folder}/{name}/temp1_input"))
        })
    });
    measured.map(|thousandths| (thousandths + 500).div_euclid(1000))
}

/// The health that an NVMe device reports; `None` for any other, and without the right to open it.
fn smart(disk: &str) -> Option<DeviceHealth> {
    if !disk.starts_with("nvme") {
        return None;
    }
    let device = File::options()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(format!("/dev/{disk}"))
        .ok()?;
    let mut page = [0; PAGE];
    nvme::log_page(&device, SMART, WHOLE_CONTROLLER, &mut page).ok()?;
    Some(parse(&page))
}

/// Volumes of clouds answer with zeros: they have neither a temperature nor wear.
fn parse(page: &[u8; PAGE]) -> DeviceHealth {
    if page.iter().all(|byte| *byte == 0) {
        return DeviceHealth::default();
    }
    let kelvin = i32::from(u16::from_le_bytes([page[1], page[2]]));
    let reports_wear = page[3] > 0 || page[5] > 0;
    DeviceHealth {
        temperature_celsius: (kelvin > 0).then_some(kelvin - 273),
        spare_percent: reports_wear.then_some(page[3]),
        wear_percent: reports_wear.then_some(page[5]),
        // In thousands of 512 bytes.
        written_bytes: counter(page, 48)
            .and_then(|units| units.checked_mul(512_000))
            .filter(|bytes| *bytes > 0),
        power_on_hours: counter(page, 128).filter(|hours| *hours > 0),
        media_errors: counter(page, 160).filter(|_| reports_wear),
        critical_warning: page[0],
    }
}

/// Counters have 128 bits; no device reaches more than 64 of them.
fn counter(page: &[u8; PAGE], at: usize) -> Option<u64> {
    let bytes: [u8; 16] = page[at..at + 16].try_into().expect("sixteen bytes");
    u64::try_from(u128::from_le_bytes(bytes)).ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Roots) {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        }
        let roots = Roots::at(folder.path());
        (folder, roots)
    }

    #[track_caller]
    fn check(files: &[(&str, &str)], name: &str, expected: Option<i32>) {
        let (_folder, roots) = tree(files);
        let found = health(&roots, name).and_then(|health| health.temperature_celsius);
        assert_eq!(found, expected, "{name}");
    }

    /// As sysfs of Linux 6.1 and 5.10 shows an NVMe device, and 6.1 an ATA disk with drivetemp.
    #[test]
    fn the_temperature_stands_in_hwmon() {
        let of = "sys/class/block/nvme0n1/device/hwmon1/temp1_input";
        check(&[(of, "38850\n")], "nvme0n1", Some(39));
        let of = "sys/class/block/nvme0n1/device/hwmon/hwmon3/temp1_input";
        check(&[(of, "41000\n")], "nvme0n1", Some(41));
        let of = "sys/class/block/sda/device/hwmon/hwmon2/temp1_input";
        check(&[(of, "-1500\n")], "sda", Some(-1));
    }

    #[test]
    fn a_missing_temperature_is_none_and_not_0() {
        check(&[("sys/class/block/vda/size", "1")], "vda", None);
        let of = "sys/class/block/sda/device/hwmon/hwmon2/temp1_input";
        check(&[(of, "\n")], "sda", None);
        check(&[], "nvme9n9", None);
        assert_eq!(parse(&[0; PAGE]), DeviceHealth::default());
        assert!(!Path::new("/dev/nvme999n1").exists());
        assert_eq!(smart("nvme999n1"), None);
        assert_eq!(smart("sda"), None);
    }

    /// The page as `nvme smart-log` shows it: 0 critical warnings, 311 K, 100 % spare, 3 % used,
    /// 1,234,567 units written, 8,760 hours, no media error.
    #[test]
    fn the_smart_page_has_the_wear() {
        let mut page = [0; PAGE];
        page[1..3].copy_from_slice(&311_u16.to_le_bytes());
        page[3..6].copy_from_slice(&[100, 10, 3]);
        page[48..56].copy_from_slice(&1_234_567_u64.to_le_bytes());
        page[128..136].copy_from_slice(&8_760_u64.to_le_bytes());
        let expected = DeviceHealth {
            temperature_celsius: Some(38),
            spare_percent: Some(100),
            wear_percent: Some(3),
            written_bytes: Some(632_098_304_000),
            power_on_hours: Some(8_760),
            media_errors: Some(0),
            critical_warning: 0,
        };
        assert_eq!(parse(&page), expected);
        page[48..64].fill(0xff);
        assert_eq!(parse(&page).written_bytes, None, "beyond every device");
    }
}
