//! The formats that can be recognised, with the names that `blkid` gives them.

use std::fmt;

use serde::{Serialize, Serializer};

macro_rules! kinds {
    ($($variant:ident, $name:literal, $phrase:literal;)*) => {
        /// What leaves marks on devices.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "the phrase of each row describes it")]
        pub enum Kind {
            $($variant,)*
        }

        impl Kind {
            /// Short, stable, for JSON and narrow columns: `ext4`, `lvm2`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The kind as the end of a sentence: `an ext4 file system`.
            pub const fn phrase(self) -> &'static str {
                match self { $(Self::$variant => $phrase,)* }
            }
        }
    };
}

kinds! {
    Gpt, "gpt", "a GPT partition table";
    Mbr, "mbr", "an MBR partition table";
    BootSector, "boot-sector", "a boot sector";
    Apm, "apple-map", "an Apple partition map";
    Bsd, "bsd-label", "a BSD disk label";
    Sun, "sun-label", "a Sun disk label";
    Ext2, "ext2", "an ext2 file system";
    Ext3, "ext3", "an ext3 file system";
    Ext4, "ext4", "an ext4 file system";
    ExtJournal, "ext-journal", "an external ext journal";
    Xfs, "xfs", "an XFS file system";
    Btrfs, "btrfs", "a btrfs file system";
    F2fs, "f2fs", "an F2FS file system";
    Ntfs, "ntfs", "an NTFS file system";
    Refs, "refs", "an ReFS file system";
    Exfat, "exfat", "an exFAT file system";
    Vfat, "vfat", "a FAT file system";
    Iso9660, "iso9660", "an ISO 9660 file system";
    Udf, "udf", "a UDF file system";
    Squashfs, "squashfs", "a SquashFS file system";
    Erofs, "erofs", "an EROFS file system";
    Cramfs, "cramfs", "a cramfs file system";
    Romfs, "romfs", "a romfs file system";
    Zonefs, "zonefs", "a zonefs file system";
    Jfs, "jfs", "a JFS file system";
    Nilfs2, "nilfs2", "a NILFS2 file system";
    Reiserfs, "reiserfs", "a ReiserFS file system";
    Ocfs2, "ocfs2", "an OCFS2 file system";
    Gfs2, "gfs2", "a GFS2 file system";
    Ufs, "ufs", "a UFS file system";
    Hfs, "hfs", "an HFS file system";
    HfsPlus, "hfsplus", "an HFS+ file system";
    Apfs, "apfs", "an APFS container";
    Vmfs, "vmfs", "a VMFS file system";
    Bcachefs, "bcachefs", "a bcachefs file system";
    Swap, "swap", "a swap area";
    Lvm2, "lvm2", "an LVM2 physical volume";
    LvmSnapshot, "lvm-snapshot", "a device-mapper snapshot store";
    MdRaid, "mdraid", "a member of a Linux RAID array";
    FirmwareRaid, "firmware-raid", "a member of a firmware RAID array";
    Zfs, "zfs", "a member of a ZFS pool";
    Bcache, "bcache", "a bcache device";
    Luks, "luks", "a LUKS encrypted volume";
    BitLocker, "bitlocker", "a BitLocker encrypted volume";
    Integrity, "dm-integrity", "a dm-integrity volume";
    Verity, "dm-verity", "a dm-verity hash area";
    Bluestore, "bluestore", "a Ceph BlueStore device";
    Drbd, "drbd", "a DRBD replica";
    Stratis, "stratis", "a member of a Stratis pool";
    Vdo, "vdo", "a VDO volume";
    OracleAsm, "oracle-asm", "an Oracle ASM disk";
}

impl Kind {
    /// Whether it divides a disk rather than holding data: normal around a partition.
    pub const fn is_partition_table(self) -> bool {
        matches!(
            self,
            Self::Gpt | Self::Mbr | Self::BootSector | Self::Apm | Self::Bsd | Self::Sun
        )
    }
}

/// The phrase.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.phrase())
    }
}

/// The name.
impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
