//! The words for everything that speaks against writing to a target, and for what would end each.

use std::path::{Path, PathBuf};

use blocklab_units::{Bytes, plural, shell_word};

use crate::signatures::Kind;

/// Why something is not written to: a statement without a full stop, `/dev/sda1 is in use as swap`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} {cause}", subject.display())]
pub struct Reason {
    /// What the reason is about: the target, or a part or user of it.
    pub subject: PathBuf,
    /// Why it is refused.
    pub cause: Cause,
}

/// What is the matter with a device or file: a statement without its subject, `is in use as swap`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// A file system on it is mounted.
    #[error("holds a mounted {kind} file system (on {})", list(points))]
    Mounted {
        /// `ext4`.
        kind: String,
        /// Where, at least once.
        points: Vec<PathBuf>,
    },
    /// Belongs to a mounted file system of several devices that is not mounted where we see it.
    #[error("belongs to a mounted {0}")]
    InPool(String),
    /// In use as swap.
    #[error("is in use as swap")]
    Swap,
    /// Another device is made of it.
    #[error("is a part of {}{}", by.display(), in_brackets(alias.as_ref()))]
    Held {
        /// Which.
        by: PathBuf,
        /// Its name for people: `vg-root`.
        alias: Option<String>,
    },
    /// A loop device shows it as a disk.
    #[error("is the backing of the loop device {}", .0.display())]
    Backs(PathBuf),
    /// Opened exclusively by the kernel or another program; these programs have it open.
    #[error("is in exclusive use{}", by_whom(.0))]
    Claimed(Vec<String>),
    /// Another program holds a lock on it.
    #[error(
        "is locked by another program, which uses it (QEMU, `blocklab emulate --backing` and another run \
         do)"
    )]
    Locked,
    /// Divided, into these.
    #[error("has partitions ({})", .0.join(", "))]
    Partitions(Vec<String>),
    /// Something left its mark.
    #[error("holds {kind} (mark at byte {offset})")]
    Signature {
        /// Who.
        kind: Kind,
        /// Where, in bytes from the start.
        offset: u64,
    },
    /// Data that no known mark explains; the first that samples found is this far from the start.
    #[error("holds data of an unknown kind (the first was found at byte {0})")]
    UnknownData(u64),
    /// This user may not look at it.
    #[error("cannot be read by this user, so what is on it is unknown")]
    Forbidden,
    /// It cannot be read, so its content is unknown; the text is the system's.
    #[error("cannot be read to see what is on it ({0})")]
    Unreadable(String),
    /// A regular file that has data.
    #[error("is a file with content ({0})")]
    Content(Bytes),
    /// A file that blocklab made, with other data than a run left there.
    #[error(
        "is a file that blocklab made ({0}), but not as a run left it: one was killed, or other data \
         was copied over it"
    )]
    Changed(Bytes),
    /// The device refuses writes.
    #[error("is read-only")]
    ReadOnly,
    /// No medium, or a size of 0.
    #[error("has no capacity (no medium, or not set up)")]
    NoCapacity,
    /// A character device other than `/dev/null` and `/dev/zero`.
    #[error("is a character device, of which only /dev/null and /dev/zero are written to")]
    CharDevice,
    /// A pipe or a socket, as the text names it.
    #[error("is {0}, which stores nothing")]
    NotStorage(&'static str),
    /// A file or folder of the kernel's, not of a disk; the text is the file system.
    #[error("belongs to the kernel ({0}), not to a disk")]
    Kernels(String),
    /// A name in `/dev` that no device has.
    #[error("does not exist, and /dev is no place for files")]
    NoSuchDevice,
    /// A link that leads nowhere.
    #[error("is a link that leads nowhere")]
    DanglingLink,
    /// The path cannot be followed; the text is the system's.
    #[error("cannot be reached ({0})")]
    Unreachable(String),
}

impl Cause {
    /// Whether naming the target lifts it: a name gives up content, and nothing that is in use.
    pub const fn can_be_lifted(&self) -> bool {
        matches!(
            self,
            Self::Partitions(_)
                | Self::Signature { .. }
                | Self::UnknownData(_)
                | Self::Forbidden
                | Self::Unreadable(_)
                | Self::Content(_)
                | Self::Changed(_)
        )
    }

    /// Whether somebody else uses it now.
    pub const fn is_use(&self) -> bool {
        matches!(
            self,
            Self::Mounted { .. }
                | Self::InPool(_)
                | Self::Swap
                | Self::Held { .. }
                | Self::Backs(_)
                | Self::Claimed(_)
                | Self::Locked
        )
    }

    /// Whether reading makes sense nevertheless.
    pub const fn can_be_read(&self) -> bool {
        self.can_be_lifted() || self.is_use() || matches!(self, Self::ReadOnly | Self::CharDevice)
    }
}

impl Reason {
    /// What ends the use that is this reason, as a command where there is one; `None` for a reason that is
    /// no use.
    pub(crate) fn how_to_free(&self) -> Option<String> {
        match &self.cause {
            Cause::Mounted { points, .. } => points
                .first()
                .map(|point| format!("umount {}", typed(point))),
            Cause::InPool(pool) => Some(format!("unmount the {pool}")),
            Cause::Swap => Some(format!("swapoff {}", typed(&self.subject))),
            Cause::Held { by, .. } => Some(format!("take it out of {}", by.display())),
            Cause::Backs(device) => Some(format!("losetup -d {}", typed(device))),
            Cause::Claimed(_) => Some("let the program that has it end".to_owned()),
            _ => None,
        }
    }
}

/// A path as it is typed in a shell.
fn typed(path: &Path) -> String {
    shell_word(&path.display().to_string())
}

/// A second name in brackets, to stand behind the kernel's name.
fn in_brackets(alias: Option<&String>) -> String {
    alias.map_or(String::new(), |alias| format!(" ({alias})"))
}

fn by_whom(users: &[String]) -> String {
    match users {
        [] => " by the kernel or by another program".to_owned(),
        users => format!("; {} has it open", users.join(", ")),
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
        text.push_str(&format!(
            " and {}",
            plural(points.len() - SHOWN, "more place")
        ));
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

    /// The story: for a disk that was mounted on `/mnt/my disk`, "umount /mnt/my disk" unmounted two other
    /// places or none. A swap file's path was not quoted either.
    #[test]
    fn a_command_that_frees_a_path_with_a_blank_can_be_typed() {
        let ends = |cause| {
            let subject = PathBuf::from("/srv/swap file");
            Reason { subject, cause }.how_to_free()
        };
        let mounted = Cause::Mounted {
            kind: "ext4".into(),
            points: vec!["/mnt/my disk".into()],
        };
        assert_eq!(ends(mounted).as_deref(), Some("umount '/mnt/my disk'"));
        assert_eq!(
            ends(Cause::Swap).as_deref(),
            Some("swapoff '/srv/swap file'")
        );
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
