//! The table of marks that are the same bytes at a fixed place, and the search for them.

use std::io;

use super::view::View;
use super::{Kind, Signature};

/// Where a mark is.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// This many bytes from the start.
    Start(u64),
    /// This many bytes before the end.
    End(u64),
}

use Place::{End, Start};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Marks that are the same bytes at a fixed place: kind, base of the structure, distance of the
/// mark from the base, bytes. Sorted as the kinds are; the numbers come from the formats' own
/// documents (the UEFI specification, the kernel's on-disk headers).
#[rustfmt::skip]
const MARKS: &[(Kind, Place, u64, &[u8])] = &[
    // The header is in logical block 1, its copy in the last block.
    (Kind::Gpt, Start(512), 0, b"EFI PART"),
    (Kind::Gpt, Start(4 * KIB), 0, b"EFI PART"),
    (Kind::Gpt, End(512), 0, b"EFI PART"),
    (Kind::Gpt, End(4 * KIB), 0, b"EFI PART"),
    (Kind::Apm, Start(512), 0, b"PM\0\0"),
    (Kind::Apm, Start(4 * KIB), 0, b"PM\0\0"),
    (Kind::Bsd, Start(512), 0, &[0x57, 0x45, 0x56, 0x82]),
    (Kind::Bsd, Start(64), 0, &[0x57, 0x45, 0x56, 0x82]),
    (Kind::Sun, Start(0), 508, &[0xda, 0xbe]),
    (Kind::Xfs, Start(0), 0, b"XFSB"),
    // The superblock and its two mirrors.
    (Kind::Btrfs, Start(64 * KIB), 64, b"_BHRfS_M"),
    (Kind::Btrfs, Start(64 * MIB), 64, b"_BHRfS_M"),
    (Kind::Btrfs, Start(256 * GIB), 64, b"_BHRfS_M"),
    (Kind::F2fs, Start(KIB), 0, &[0x10, 0x20, 0xf5, 0xf2]),
    (Kind::F2fs, Start(5 * KIB), 0, &[0x10, 0x20, 0xf5, 0xf2]),
    // The boot sector, and its copy in the last sector.
    (Kind::Ntfs, Start(0), 3, b"NTFS    "),
    (Kind::Ntfs, End(512), 3, b"NTFS    "),
    (Kind::Refs, Start(0), 3, b"ReFS\0\0\0\0"),
    (Kind::Exfat, Start(0), 3, b"EXFAT   "),
    (Kind::Iso9660, Start(32 * KIB), 1, b"CD001"),
    (Kind::Udf, Start(32 * KIB), 1, b"BEA01"),
    (Kind::Udf, Start(34 * KIB), 1, b"NSR02"),
    (Kind::Udf, Start(34 * KIB), 1, b"NSR03"),
    (Kind::Squashfs, Start(0), 0, b"hsqs"),
    (Kind::Squashfs, Start(0), 0, b"sqsh"),
    (Kind::Erofs, Start(KIB), 0, &[0xe2, 0xe1, 0xf5, 0xe0]),
    (Kind::Cramfs, Start(0), 0, &[0x45, 0x3d, 0xcd, 0x28]),
    (Kind::Cramfs, Start(512), 0, &[0x45, 0x3d, 0xcd, 0x28]),
    (Kind::Romfs, Start(0), 0, b"-rom1fs-"),
    (Kind::Zonefs, Start(0), 0, b"SFOZ"),
    (Kind::Jfs, Start(32 * KIB), 0, b"JFS1"),
    (Kind::Reiserfs, Start(64 * KIB), 52, b"ReIsEr"),
    (Kind::Reiserfs, Start(8 * KIB), 52, b"ReIsEr"),
    (Kind::Reiserfs, Start(64 * KIB), 0, b"ReIsEr4"),
    // Block 2, for any block size.
    (Kind::Ocfs2, Start(KIB), 0, b"OCFSV2"),
    (Kind::Ocfs2, Start(2 * KIB), 0, b"OCFSV2"),
    (Kind::Ocfs2, Start(4 * KIB), 0, b"OCFSV2"),
    (Kind::Ocfs2, Start(8 * KIB), 0, b"OCFSV2"),
    (Kind::Gfs2, Start(64 * KIB), 0, &[0x01, 0x16, 0x19, 0x70]),
    (Kind::Ufs, Start(64 * KIB), 1372, &[0x19, 0x01, 0x54, 0x19]),
    (Kind::Ufs, Start(64 * KIB), 1372, &[0x19, 0x54, 0x01, 0x19]),
    (Kind::Ufs, Start(8 * KIB), 1372, &[0x54, 0x19, 0x01, 0x00]),
    (Kind::Ufs, Start(8 * KIB), 1372, &[0x00, 0x01, 0x19, 0x54]),
    // The volume header with its version, and its copy in the last but one sector.
    (Kind::HfsPlus, Start(KIB), 0, b"H+\0\x04"),
    (Kind::HfsPlus, Start(KIB), 0, b"HX\0\x05"),
    (Kind::HfsPlus, End(KIB), 0, b"H+\0\x04"),
    (Kind::HfsPlus, End(KIB), 0, b"HX\0\x05"),
    (Kind::Hfs, Start(KIB), 0, b"BD"),
    (Kind::Apfs, Start(0), 32, b"NXSB"),
    (Kind::Vmfs, Start(MIB), 0, &[0x0d, 0xd0, 0x01, 0xc0]),
    (Kind::Vmfs, Start(2 * MIB), 0, &[0x5e, 0xf1, 0xab, 0x2f]),
    (Kind::Bcachefs, Start(4 * KIB), 24, &[0xc6, 0x85, 0x73, 0xf6, 0x66, 0xce, 0x90, 0xa9,
                                           0xd9, 0x6a, 0x60, 0xcf, 0x80, 0x3d, 0xf7, 0xef]),
    (Kind::Bcache, Start(4 * KIB), 24, &[0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca,
                                         0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba, 0x6d, 0x81]),
    (Kind::LvmSnapshot, Start(0), 0, b"SnAp"),
    // Linux RAID 1.1 and 1.2; 1.0 and 0.90 are near the end and need arithmetic.
    (Kind::MdRaid, Start(0), 0, &[0xfc, 0x4e, 0x2b, 0xa9, 1, 0, 0, 0]),
    (Kind::MdRaid, Start(4 * KIB), 0, &[0xfc, 0x4e, 0x2b, 0xa9, 1, 0, 0, 0]),
    (Kind::FirmwareRaid, End(KIB), 0, b"Intel Raid ISM Cfg Sig. "),
    (Kind::FirmwareRaid, End(8 * KIB), 0, b"Intel Raid ISM Cfg Sig. "),
    (Kind::FirmwareRaid, End(512), 0, &[0xde, 0x11, 0xde, 0x11]),
    (Kind::Luks, Start(0), 0, b"LUKS\xba\xbe"),
    (Kind::BitLocker, Start(0), 3, b"-FVE-FS-"),
    (Kind::Integrity, Start(0), 0, b"integrt\0"),
    (Kind::Verity, Start(0), 0, b"verity\0\0"),
    (Kind::Bluestore, Start(0), 0, b"bluestore block device"),
    (Kind::Stratis, Start(512), 4, b"!Stra0tis\x86\xff\x02^\x41rh"),
    (Kind::Stratis, Start(9 * 512), 4, b"!Stra0tis\x86\xff\x02^\x41rh"),
    (Kind::Vdo, Start(0), 0, b"dmvdo001"),
    (Kind::OracleAsm, Start(0), 32, b"ORCLDISK"),
];

/// Sizes that a page, and so the header of a swap area, may have.
const PAGES: [u64; 5] = [4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB];

/// Ends of a swap area's header: new, old, and with a suspended system in it.
const SWAP_MARKS: [&[u8]; 6] = [
    b"SWAPSPACE2",
    b"SWAP-SPACE",
    b"S1SUSPEND\0",
    b"S2SUSPEND\0",
    b"ULSUSPEND\0",
    b"LINHIB0001",
];

/// The label may be in any of the first four sectors.
const LVM_SECTORS: [u64; 7] = [0, 512, 1024, 1536, 4 * KIB, 8 * KIB, 12 * KIB];

/// The second header of LUKS 2 may be here, and at each power of two up to the other place: one for
/// every size of the first.
const LUKS_SECOND: (u64, u64) = (16 * KIB, 4 * MIB);

/// Everything that has a fixed place.
pub(super) fn find(view: &mut View<'_>) -> io::Result<Vec<Signature>> {
    let mut found = Vec::new();
    for (kind, place, distance, mark) in MARKS {
        let Some(offset) = resolve(*place, view.size()) else {
            continue;
        };
        if view.has(offset + distance, mark)? {
            found.push(Signature {
                kind: *kind,
                offset,
            });
        }
    }
    for page in PAGES {
        for mark in SWAP_MARKS {
            note_if(view, &mut found, Kind::Swap, page - 10, mark)?;
        }
    }
    for sector in LVM_SECTORS {
        note_if(view, &mut found, Kind::Lvm2, sector, b"LABELONE")?;
    }
    let (first, last) = LUKS_SECOND;
    for offset in (first.ilog2()..=last.ilog2()).map(|bits| 1 << bits) {
        note_if(view, &mut found, Kind::Luks, offset, b"SKUL\xba\xbe")?;
    }
    Ok(found)
}

/// Notes a mark if these bytes are at `offset`.
fn note_if(
    view: &mut View<'_>,
    found: &mut Vec<Signature>,
    kind: Kind,
    offset: u64,
    mark: &[u8],
) -> io::Result<()> {
    if view.has(offset, mark)? {
        found.push(Signature { kind, offset });
    }
    Ok(())
}

fn resolve(place: Place, size: u64) -> Option<u64> {
    match place {
        Start(offset) => Some(offset),
        End(distance) => size.checked_sub(distance),
    }
}
