//! Reads `/proc/self/mountinfo`, with the kernel's escapes undone.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use serde::Serialize;

use crate::roots::Roots;

/// What is mounted where this process sees it.
pub(crate) const MOUNTS: &str = "/proc/self/mountinfo";

/// One line of mountinfo.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Mount {
    /// `ext4`.
    pub kind: String,
    /// Where it is mounted.
    #[serde(rename = "mount_point")]
    pub point: PathBuf,
    /// Options of the mount, then those of the file system that the mount does not repeat.
    pub options: String,
    /// As `statx` numbers it.
    #[serde(skip)]
    pub id: u64,
    /// Major and minor number of the file system's device; major 0 for those without one device.
    #[serde(skip)]
    pub number: String,
    /// A device, several separated by colons, or any text.
    #[serde(skip)]
    pub source: String,
}

/// What is mounted where, in the order in which it was.
pub fn mounts() -> Vec<Mount> {
    parse_mounts(&Roots::real().whole(MOUNTS).unwrap_or_default())
}

impl Mount {
    /// Every device that the line mentions: the source, and devices in options (an external
    /// log, a second device).
    pub(crate) fn device_paths(&self) -> impl Iterator<Item = &str> {
        let options = self.options.split(',');
        let values = options.filter_map(|option| option.split_once('=').map(|(_, value)| value));
        let devices = values.filter(|value| value.starts_with("/dev/"));
        let local = Some(self.source.as_str()).filter(|source| source.starts_with('/'));
        let sources = local.into_iter().flat_map(|source| source.split(':'));
        sources.chain(devices)
    }
}

/// Reads `/proc/self/mountinfo`; lines of another shape are passed over.
pub(crate) fn parse_mounts(text: &str) -> Vec<Mount> {
    text.lines().filter_map(parse_mount).collect()
}

/// `27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard`: the optional fields before
/// the dash vary in number.
fn parse_mount(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ');
    let mut right = right.split(' ');
    let id = left.next()?.parse().ok()?;
    let number = left.nth(1)?.to_owned();
    let point = path(left.nth(1)?);
    let options = left.next()?;
    Some(Mount {
        id,
        number,
        point,
        kind: right.next()?.to_owned(),
        source: path(right.next()?).to_string_lossy().into_owned(),
        options: join_options(options, &text_of(right.next().unwrap_or_default())),
    })
}

/// A file system that is writable can be mounted read-only: then `ro` is the truth for users of
/// the mount, and the file system's `rw` is dropped.
fn join_options(mount: &str, file_system: &str) -> String {
    let mut all: Vec<&str> = mount.split(',').collect();
    let read_only = all.contains(&"ro");
    for option in file_system.split(',') {
        let contradicts = read_only && option == "rw";
        if !option.is_empty() && !contradicts && !all.contains(&option) {
            all.push(option);
        }
    }
    all.join(",")
}

/// Reads `/proc/swaps`: the paths of devices and files in use as swap.
pub(crate) fn parse_swaps(text: &str) -> Vec<PathBuf> {
    let lines = text.lines().skip(1);
    lines
        .filter_map(|line| line.split_whitespace().next())
        .map(path)
        .collect()
}

fn path(escaped: &str) -> PathBuf {
    PathBuf::from(OsString::from_vec(unescape(escaped)))
}

fn text_of(escaped: &str) -> String {
    String::from_utf8_lossy(&unescape(escaped)).into_owned()
}

/// The kernel writes blanks, tabs, newlines and backslashes as three octal digits: `\040`.
fn unescape(text: &str) -> Vec<u8> {
    let mut rest = text.as_bytes();
    let mut out = Vec::with_capacity(rest.len());
    while let [first, tail @ ..] = rest {
        match (first, octal(tail)) {
            (b'\\', Some(byte)) => {
                out.push(byte);
                rest = &tail[3..];
            }
            _ => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    out
}

fn octal(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits.get(..3)?).ok()?;
    u8::from_str_radix(digits, 8).ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_line_with_and_without_optional_fields() {
        let text = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n\
                    99 27 8:17 /sub /mnt/my\\040disk ro,noatime shared:7 master:2 - xfs /dev/sdb1 rw,logdev=/dev/sdc1\n\
                    nonsense\n";
        let mounts = parse_mounts(text);
        assert_eq!(mounts.len(), 2);
        assert_eq!(mounts[0].id, 27);
        assert_eq!(mounts[0].number, "254:0");
        assert_eq!(mounts[0].kind, "ext4");
        assert_eq!(mounts[0].options, "rw,relatime,discard");
        assert_eq!(mounts[1].point, Path::new("/mnt/my disk"));
        assert_eq!(mounts[1].options, "ro,noatime,logdev=/dev/sdc1");
        let devices: Vec<_> = mounts[1].device_paths().collect();
        assert_eq!(devices, ["/dev/sdb1", "/dev/sdc1"]);
    }

    #[test]
    fn several_sources_are_several_devices() {
        let line = "30 1 0:40 / /data rw - bcachefs /dev/sdb:/dev/sdc rw\n";
        let mounts = parse_mounts(line);
        let devices: Vec<_> = mounts[0].device_paths().collect();
        assert_eq!(devices, ["/dev/sdb", "/dev/sdc"]);
    }

    #[test]
    fn a_remote_source_is_no_device() {
        let line = "30 1 0:40 / /data rw - nfs4 host:/dev/sda rw,addr=10.0.0.1\n";
        assert_eq!(parse_mounts(line)[0].device_paths().count(), 0);
    }

    #[test]
    fn swaps_by_path() {
        let text = "Filename\tType\tSize\tUsed\tPriority\n\
                    /dev/sda2  partition 1 0 -2\n/var/my\\040swap  file 1 0 -3\n";
        let swaps = parse_swaps(text);
        assert_eq!(swaps, [Path::new("/dev/sda2"), Path::new("/var/my swap")]);
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_too_odd(text in ".*") {
            let _ = parse_mounts(&text);
            let _ = parse_swaps(&text);
        }
    }
}
