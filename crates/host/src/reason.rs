use std::fmt;
use std::path::PathBuf;

use blocklab_units::Bytes;

use crate::signatures::Kind;

/// Why something is not written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// What the reason is about: the target, or a part or user of it.
    pub subject: PathBuf,
    /// What is the matter with it.
    pub cause: Cause,
}

/// What is the matter with a device or file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// A file system on it is mounted.
    Mounted {
        /// `ext4`.
        kind: String,
        /// Where, at least once.
        points: Vec<PathBuf>,
    },
    /// Belongs to a mounted file system of several devices that is not mounted where we see it.
    InPool(String),
    /// In use as swap.
    Swap,
    /// Another device is made of it.
    Held {
        /// Which.
        by: PathBuf,
        /// Its name for people: `vg-root`.
        alias: Option<String>,
    },
    /// A loop device shows it as a disk.
    Backs(PathBuf),
    /// Opened exclusively by the kernel or another program; these programs have it open.
    Claimed(Vec<String>),
    /// Divided, into these.
    Partitions(Vec<String>),
    /// Something left its mark.
    Signature {
        /// Who.
        kind: Kind,
        /// Where, in bytes from the start.
        offset: u64,
    },
    /// Data that no known mark explains.
    UnknownData {
        /// Where samples found the first of it, in bytes from the start.
        offset: u64,
    },
    /// This user may not look at it.
    Forbidden,
    /// It cannot be read, so its content is unknown; the text is the system's.
    Unreadable(String),
    /// A regular file that has data.
    Content(Bytes),
    /// A file that blocklab made, with other data than a run left there.
    Changed(Bytes),
    /// The device refuses writes.
    ReadOnly,
    /// No medium, or a size of 0.
    NoCapacity,
    /// A character device other than `/dev/null` and `/dev/zero`.
    CharDevice,
    /// A pipe or a socket, as the text names it.
    NotStorage(&'static str),
    /// A file or folder of the kernel's, not of a disk; the text is the file system.
    Kernels(String),
    /// A name in `/dev` that no device has.
    NoSuchDevice,
    /// A link that leads nowhere.
    DanglingLink,
    /// The path cannot be followed; the text is the system's.
    Unreachable(String),
}

impl Cause {
    /// Whether naming the target lifts it: a name gives up content, and nothing that is in use.
    #[must_use]
    pub const fn can_be_lifted(&self) -> bool {
        matches!(
            self,
            Self::Partitions(_)
                | Self::Signature { .. }
                | Self::UnknownData { .. }
                | Self::Forbidden
                | Self::Unreadable(_)
                | Self::Content(_)
                | Self::Changed(_)
        )
    }

    /// Whether somebody else uses it now.
    #[must_use]
    pub const fn is_use(&self) -> bool {
        matches!(
            self,
            Self::Mounted { .. }
                | Self::InPool(_)
                | Self::Swap
                | Self::Held { .. }
                | Self::Backs(_)
                | Self::Claimed(_)
        )
    }

    /// Whether reading makes sense nevertheless.
    #[must_use]
    pub const fn can_be_read(&self) -> bool {
        self.can_be_lifted() || self.is_use() || matches!(self, Self::ReadOnly | Self::CharDevice)
    }
}

impl Reason {
    /// What would end the use in this reason.
    pub(crate) fn how_it_ends(&self) -> Option<String> {
        let subject = self.subject.display();
        match &self.cause {
            Cause::Mounted { points, .. } => points
                .first()
                .map(|point| format!("umount {}", point.display())),
            Cause::InPool(pool) => Some(format!("unmount the {pool}")),
            Cause::Swap => Some(format!("swapoff {subject}")),
            Cause::Held { by, .. } => Some(format!("take it out of {}", by.display())),
            Cause::Backs(device) => Some(format!("losetup -d {}", device.display())),
            Cause::Claimed(_) => Some("let the program that has it end".to_owned()),
            _ => None,
        }
    }
}

/// A statement without a full stop: `/dev/sda1 is in use as swap`.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.subject.display(), self.cause)
    }
}

/// The statement without its subject: `is in use as swap`.
impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mounted { kind, points } => {
                write!(
                    f,
                    "holds a mounted {kind} file system (on {})",
                    list(points)
                )
            }
            Self::InPool(pool) => write!(f, "belongs to a mounted {pool}"),
            Self::Swap => f.write_str("is in use as swap"),
            Self::Held { by, alias: None } => write!(f, "is a part of {}", by.display()),
            Self::Held {
                by,
                alias: Some(alias),
            } => write!(f, "is a part of {} ({alias})", by.display()),
            Self::Backs(device) => {
                write!(f, "is the backing of the loop device {}", device.display())
            }
            Self::Claimed(users) if users.is_empty() => {
                f.write_str("is in exclusive use by the kernel or by another program")
            }
            Self::Claimed(users) => {
                write!(f, "is in exclusive use; {} has it open", users.join(", "))
            }
            Self::Partitions(names) => write!(f, "has partitions ({})", names.join(", ")),
            Self::Signature { kind, offset } => write!(f, "holds {kind} (mark at byte {offset})"),
            Self::UnknownData { offset } => write!(
                f,
                "holds data of an unknown kind (the first was found at byte {offset})"
            ),
            Self::Forbidden => {
                f.write_str("cannot be read by this user, so what is on it is unknown")
            }
            Self::Unreadable(error) => write!(f, "cannot be read to see what is on it ({error})"),
            Self::Content(size) => write!(f, "is a file with content ({size})"),
            Self::Changed(size) => write!(
                f,
                "is a file that blocklab made ({size}), but not as a run left it: one was killed, \
                 or other data was copied over it"
            ),
            Self::ReadOnly => f.write_str("is read-only"),
            Self::NoCapacity => f.write_str("has no capacity (no medium, or not set up)"),
            Self::CharDevice => f.write_str(
                "is a character device, of which only /dev/null and /dev/zero are written to",
            ),
            Self::NotStorage(what) => write!(f, "is {what}, which stores nothing"),
            Self::Kernels(kind) => write!(f, "belongs to the kernel ({kind}), not to a disk"),
            Self::NoSuchDevice => f.write_str("does not exist, and /dev is no place for files"),
            Self::DanglingLink => f.write_str("is a link that leads nowhere"),
            Self::Unreachable(error) => write!(f, "cannot be reached ({error})"),
        }
    }
}

/// `/a, /b, /c and 4 more places`.
fn list(points: &[PathBuf]) -> String {
    const SHOWN: usize = 3;
    let shown = points.iter().take(SHOWN);
    let mut text = shown
        .map(|point| point.display().to_string())
        .collect::<Vec<_>>()
        .join(", ");
    if points.len() > SHOWN {
        text.push_str(&format!(" and {} more places", points.len() - SHOWN));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(cause: Cause, expected: &str) {
        let subject = PathBuf::from("/dev/sda");
        assert_eq!(Reason { subject, cause }.to_string(), expected);
    }

    #[test]
    fn reasons_in_plain_words() {
        let points = |n: usize| (0..n).map(|i| PathBuf::from(format!("/m{i}"))).collect();
        let mounted = |kind: &str, n| Cause::Mounted {
            kind: kind.into(),
            points: points(n),
        };
        check(
            mounted("ext4", 1),
            "/dev/sda holds a mounted ext4 file system (on /m0)",
        );
        check(
            mounted("btrfs", 5),
            "/dev/sda holds a mounted btrfs file system (on /m0, /m1, /m2 and 2 more places)",
        );
        check(
            Cause::Signature {
                kind: Kind::Lvm2,
                offset: 512,
            },
            "/dev/sda holds an LVM2 physical volume (mark at byte 512)",
        );
        check(
            Cause::Held {
                by: "/dev/dm-0".into(),
                alias: Some("vg-root".into()),
            },
            "/dev/sda is a part of /dev/dm-0 (vg-root)",
        );
        check(
            Cause::Content(Bytes(1 << 30)),
            "/dev/sda is a file with content (1 GiB)",
        );
    }
}
