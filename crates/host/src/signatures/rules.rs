//! Formats that a table of bytes cannot describe: several fields decide, or the place depends on the
//! size of the device.

use std::io;

use super::view::View;
use super::{Kind, Signature};

/// What needs more than bytes at a fixed place.
pub(super) fn find(view: &mut View<'_>, found: &mut Vec<Signature>) -> io::Result<()> {
    found.extend(ext(view)?);
    found.extend(nilfs(view)?);
    found.extend(md_at_end(view)?);
    found.extend(drbd(view)?);
    found.extend(zfs(view)?);
    // Last, because it depends on the marks that were found before.
    let boot = boot_sector(view, found)?;
    found.extend(boot);
    Ok(())
}

fn le16(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn le32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The superblock of the ext family is 1 KiB from the start. The features show which one:
///
/// ```text
/// 56 magic 0xEF53   92 compatible   96 incompatible   100 compatible when read only
/// ```
fn ext(view: &mut View<'_>) -> io::Result<Option<Signature>> {
    const BASE: u64 = 1024;
    const HAS_JOURNAL: u32 = 0x4;
    const JOURNAL_DEVICE: u32 = 0x8;
    // What ext3 knows; anything beyond makes it ext4.
    const INCOMPATIBLE_3: u32 = 0x2 | 0x4 | 0x10;
    const READ_ONLY_3: u32 = 0x1 | 0x2 | 0x4;
    let Some(block) = view.array::<104>(BASE)? else {
        return Ok(None);
    };
    if le16(&block, 56) != 0xef53 {
        return Ok(None);
    }
    let (compatible, incompatible, read_only) =
        (le32(&block, 92), le32(&block, 96), le32(&block, 100));
    let kind = if incompatible & JOURNAL_DEVICE != 0 {
        Kind::ExtJournal
    } else if incompatible & !INCOMPATIBLE_3 != 0 || read_only & !READ_ONLY_3 != 0 {
        Kind::Ext4
    } else if compatible & HAS_JOURNAL != 0 {
        Kind::Ext3
    } else {
        Kind::Ext2
    };
    Ok(Some(Signature { kind, offset: BASE }))
}

/// The superblock at 1 KiB, and its copy in the last but one block of 4 KiB.
fn nilfs(view: &mut View<'_>) -> io::Result<Option<Signature>> {
    let copy = (view.size() >> 12).saturating_sub(1) << 12;
    for offset in [1024, copy] {
        if view.has(offset + 6, &[0x34, 0x34])? {
            let kind = Kind::Nilfs2;
            return Ok(Some(Signature { kind, offset }));
        }
    }
    Ok(None)
}

/// Linux RAID 0.90: the last whole 64 KiB block, in the byte order of the machine that wrote it.
/// 1.0: 8 KiB before the end, rounded down to 4 KiB.
fn md_at_end(view: &mut View<'_>) -> io::Result<Option<Signature>> {
    const MAGIC: u32 = 0xa92b_4efc;
    const BLOCK: u64 = 64 << 10;
    let kind = Kind::MdRaid;
    let blocks = view.size() / BLOCK;
    if let Some(offset) = blocks.checked_sub(1).map(|block| block * BLOCK) {
        let magic = view.array::<4>(offset)?;
        if magic == Some(MAGIC.to_le_bytes()) || magic == Some(MAGIC.to_be_bytes()) {
            return Ok(Some(Signature { kind, offset }));
        }
    }
    let sectors = (view.size() / 512).checked_sub(16);
    let Some(offset) = sectors.map(|sector| (sector & !7) * 512) else {
        return Ok(None);
    };
    let mut mark = [0, 0, 0, 0, 1, 0, 0, 0];
    mark[..4].copy_from_slice(&MAGIC.to_le_bytes());
    let found = view.has(offset, &mark)?;
    Ok(found.then_some(Signature { kind, offset }))
}

/// Internal metadata in the last 4 KiB block: version 8 has its magic at 60, version 9 at 36.
fn drbd(view: &mut View<'_>) -> io::Result<Option<Signature>> {
    const MARKS: [(u64, [u8; 4]); 3] = [
        (60, [0x83, 0x74, 0x02, 0x6b]),
        (60, [0x83, 0x74, 0x02, 0x6c]),
        (36, [0x83, 0x74, 0x02, 0x6d]),
    ];
    let Some(offset) = (view.size() >> 12).checked_sub(1).map(|block| block << 12) else {
        return Ok(None);
    };
    for (distance, mark) in MARKS {
        if view.has(offset + distance, &mark)? {
            let kind = Kind::Drbd;
            return Ok(Some(Signature { kind, offset }));
        }
    }
    Ok(None)
}

/// Four labels of 256 KiB, two at each end of the whole 256 KiB blocks:
///
/// ```text
/// 0        16 KiB         128 KiB              256 KiB
/// | blank  | names, values |  uberblocks, 1 KiB or more each |
///                         ^ 40 bytes before: magic of the checksum
/// ```
fn zfs(view: &mut View<'_>) -> io::Result<Option<Signature>> {
    const LABEL: u64 = 256 << 10;
    let end = view.size() / LABEL * LABEL;
    let at_end = [2, 1].map(|labels| end.checked_sub(labels * LABEL));
    let labels = [Some(0), Some(LABEL)].into_iter().chain(at_end).flatten();
    for offset in labels {
        if zfs_label(view, offset)? {
            let kind = Kind::Zfs;
            return Ok(Some(Signature { kind, offset }));
        }
    }
    Ok(None)
}

/// Whether a label begins at this offset.
fn zfs_label(view: &mut View<'_>, label: u64) -> io::Result<bool> {
    const HALF: u64 = 128 << 10;
    const CHECKSUM: u64 = 0x0210_da7a_b10c_7a11;
    const UBERBLOCK: u64 = 0x00ba_b10c;
    let checksum = view.array::<8>(label + HALF - 40)?;
    if checksum.is_some_and(|magic| in_either_order(CHECKSUM).contains(&magic)) {
        return Ok(true);
    }
    let Some(ring) = view.bytes(label + HALF, HALF as usize)? else {
        return Ok(false);
    };
    let magics = in_either_order(UBERBLOCK);
    let mut slots = ring.chunks_exact(1024);
    Ok(slots.any(|slot| magics.iter().any(|magic| slot.starts_with(magic))))
}

/// ZFS writes in the byte order of the machine that writes.
fn in_either_order(value: u64) -> [[u8; 8]; 2] {
    [value.to_le_bytes(), value.to_be_bytes()]
}

/// The first sector: a FAT file system, with or without 55 AA at its end; with it, also an MBR or
/// code that starts a machine. NTFS, exFAT and their kin carry the same two bytes and have been named
/// already; the table that only protects a GPT is left to the GPT.
fn boot_sector(view: &mut View<'_>, found: &[Signature]) -> io::Result<Option<Signature>> {
    let Some(sector) = view.array::<512>(0)? else {
        return Ok(None);
    };
    let named = [Kind::Ntfs, Kind::Exfat, Kind::Refs, Kind::BitLocker];
    if found.iter().any(|mark| named.contains(&mark.kind)) {
        return Ok(None);
    }
    let has_gpt = found.iter().any(|mark| mark.kind == Kind::Gpt);
    let has_55_aa = sector[510..] == [0x55, 0xaa];
    let kind = if is_fat(&sector, has_55_aa) {
        Kind::Vfat
    } else if !has_55_aa || (has_gpt && protects_gpt(&sector)) {
        return Ok(None);
    } else if partition_types(&sector).any(|kind| kind != 0) {
        Kind::Mbr
    } else {
        Kind::BootSector
    };
    Ok(Some(Signature { kind, offset: 0 }))
}

/// The types in the four entries of an MBR.
fn partition_types(sector: &[u8; 512]) -> impl Iterator<Item = u8> + '_ {
    (0..4).map(|entry| sector[446 + entry * 16 + 4])
}

fn protects_gpt(sector: &[u8; 512]) -> bool {
    partition_types(sector).all(|kind| kind == 0 || kind == 0xee)
}

/// The name of the type, which is no proof for the standard and always there; or, with 55 AA, a
/// sane parameter block.
fn is_fat(sector: &[u8; 512], has_55_aa: bool) -> bool {
    let named = &sector[54..57] == b"FAT" || &sector[82..87] == b"FAT32";
    let jumps = matches!(sector[0], 0xeb | 0xe9);
    let bytes = le16(sector, 11);
    let sane_bytes = bytes.is_power_of_two() && (512..=4096).contains(&bytes);
    let clusters = sector[13].is_power_of_two();
    let reserved = le16(sector, 14) > 0;
    let tables = matches!(sector[16], 1 | 2);
    let media = sector[21] == 0xf0 || sector[21] >= 0xf8;
    let sane = jumps && sane_bytes && clusters && reserved && tables && media;
    (named && (has_55_aa || sane)) || (has_55_aa && sane)
}
