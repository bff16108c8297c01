use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const TIB: u64 = 1 << 40;

/// A device of zeros, with these bytes at these places.
fn device<'a>(
    size: u64,
    patches: &[(u64, &'a [u8])],
) -> impl FnMut(u64, &mut [u8]) -> io::Result<()> + use<'a> {
    let bytes: BTreeMap<u64, u8> = patches
        .iter()
        .flat_map(|(offset, bytes)| (*offset..).zip(bytes.iter().copied()))
        .collect();
    move |offset, buffer| {
        let end = offset + buffer.len() as u64;
        assert!(end <= size, "requested bytes {offset} to {end} of {size}");
        buffer.fill(0);
        for (place, byte) in bytes.range(offset..end) {
            buffer[(place - offset) as usize] = *byte;
        }
        Ok(())
    }
}

#[track_caller]
fn check(size: u64, patches: &[(u64, &[u8])], expected: &[(Kind, u64)]) {
    let found = probe(device(size, patches), size).unwrap();
    let found: Vec<_> = found.iter().map(|mark| (mark.kind, mark.offset)).collect();
    assert_eq!(found, expected);
}

#[test]
fn nothing_stands_on_a_blank_device() {
    for size in [0, 1, 511, 512, 4096, 65536, MIB, TIB + 512] {
        check(size, &[], &[]);
    }
}

#[test]
fn partition_tables_at_both_ends_and_of_both_block_sizes() {
    let mbr: &[(u64, &[u8])] = &[(446 + 4, &[0x83]), (510, &[0x55, 0xaa])];
    check(MIB, mbr, &[(Kind::Mbr, 0)]);
    check(MIB, &[(510, &[0x55, 0xaa])], &[(Kind::BootSector, 0)]);
    check(MIB, &[(512, b"EFI PART")], &[(Kind::Gpt, 512)]);
    check(MIB, &[(4096, b"EFI PART")], &[(Kind::Gpt, 4096)]);
    check(MIB, &[(MIB - 512, b"EFI PART")], &[(Kind::Gpt, MIB - 512)]);
    check(
        TIB,
        &[(TIB - 4096, b"EFI PART")],
        &[(Kind::Gpt, TIB - 4096)],
    );
}

#[test]
fn the_table_that_protects_a_gpt_is_a_part_of_it() {
    let patches: &[(u64, &[u8])] = &[(446 + 4, &[0xee]), (510, &[0x55, 0xaa]), (512, b"EFI PART")];
    check(MIB, patches, &[(Kind::Gpt, 512)]);
    // Without a GPT the entry is a table like any other.
    check(MIB, &patches[..2], &[(Kind::Mbr, 0)]);
}

#[test]
fn the_features_distinguish_the_ext_family() {
    let magic = (1024 + 56, &[0x53, 0xef][..]);
    check(MIB, &[magic], &[(Kind::Ext2, 1024)]);
    check(MIB, &[magic, (1024 + 92, &[4])], &[(Kind::Ext3, 1024)]);
    check(MIB, &[magic, (1024 + 96, &[0x42])], &[(Kind::Ext4, 1024)]);
    check(MIB, &[magic, (1024 + 101, &[4])], &[(Kind::Ext4, 1024)]);
    check(
        MIB,
        &[magic, (1024 + 96, &[8])],
        &[(Kind::ExtJournal, 1024)],
    );
}

#[test]
fn boot_sectors_with_a_name_are_recognised_by_it() {
    let end = (510, &[0x55, 0xaa][..]);
    check(MIB, &[(3, b"NTFS    "), end], &[(Kind::Ntfs, 0)]);
    check(MIB, &[(3, b"EXFAT   "), end], &[(Kind::Exfat, 0)]);
    check(MIB, &[(3, b"-FVE-FS-"), end], &[(Kind::BitLocker, 0)]);
    check(MIB, &[(54, b"FAT16   "), end], &[(Kind::Vfat, 0)]);
    check(MIB, &[(82, b"FAT32   "), end], &[(Kind::Vfat, 0)]);
    let parameters = [0, 2, 8, 1, 0, 2, 0, 2, 0, 0, 0xf8];
    check(
        MIB,
        &[(0, &[0xeb, 0x3c, 0x90]), (11, &parameters), end],
        &[(Kind::Vfat, 0)],
    );
}

#[test]
fn mirrors_count_when_the_first_mark_is_gone() {
    check(
        TIB,
        &[(64 * MIB + 64, b"_BHRfS_M")],
        &[(Kind::Btrfs, 64 * MIB)],
    );
    check(
        MIB,
        &[(5 * KIB, &[0x10, 0x20, 0xf5, 0xf2])],
        &[(Kind::F2fs, 5 * KIB)],
    );
    check(
        MIB,
        &[(MIB - 512 + 3, b"NTFS    ")],
        &[(Kind::Ntfs, MIB - 512)],
    );
    check(
        8 * MIB,
        &[(16 * KIB, b"SKUL\xba\xbe")],
        &[(Kind::Luks, 16 * KIB)],
    );
    check(
        8 * MIB,
        &[(4 * MIB, b"SKUL\xba\xbe")],
        &[(Kind::Luks, 4 * MIB)],
    );
}

#[test]
fn swap_headers_stand_at_the_end_of_a_page_of_any_size() {
    for page in [4, 8, 16, 32, 64] {
        let place = page * KIB - 10;
        check(MIB, &[(place, b"SWAPSPACE2")], &[(Kind::Swap, place)]);
    }
    check(MIB, &[(4086, b"S1SUSPEND\0")], &[(Kind::Swap, 4086)]);
}

#[test]
fn arrays_of_every_version() {
    let version_1 = [0xfc, 0x4e, 0x2b, 0xa9, 1, 0, 0, 0];
    check(MIB, &[(0, &version_1)], &[(Kind::MdRaid, 0)]);
    check(MIB, &[(4096, &version_1)], &[(Kind::MdRaid, 4096)]);
    let near_end = MIB - 8 * KIB;
    check(MIB, &[(near_end, &version_1)], &[(Kind::MdRaid, near_end)]);
    // If a device is no multiple of 64 KiB, the last whole block counts.
    let old = [0xfc, 0x4e, 0x2b, 0xa9];
    let block = MIB - 64 * KIB;
    check(MIB + 512, &[(block, &old)], &[(Kind::MdRaid, block)]);
    let other_order = [0xa9, 0x2b, 0x4e, 0xfc];
    check(MIB, &[(block, &other_order)], &[(Kind::MdRaid, block)]);
    let intel = b"Intel Raid ISM Cfg Sig. ";
    check(
        MIB,
        &[(MIB - KIB, intel)],
        &[(Kind::FirmwareRaid, MIB - KIB)],
    );
}

#[test]
fn a_pool_member_shows_in_any_of_its_four_labels() {
    let uberblock = 0x00ba_b10c_u64;
    let size = 8 * MIB + 4096;
    for (label, slot) in [
        (0, 0),
        (256 * KIB, 127),
        (8 * MIB - 512 * KIB, 3),
        (8 * MIB - 256 * KIB, 8),
    ] {
        for bytes in [uberblock.to_le_bytes(), uberblock.to_be_bytes()] {
            let place = label + 128 * KIB + slot * KIB;
            check(size, &[(place, &bytes)], &[(Kind::Zfs, label)]);
        }
    }
    let checksum = 0x0210_da7a_b10c_7a11_u64.to_le_bytes();
    check(size, &[(128 * KIB - 40, &checksum)], &[(Kind::Zfs, 0)]);
}

#[test]
fn volume_managers_and_containers() {
    check(MIB, &[(512, b"LABELONE")], &[(Kind::Lvm2, 512)]);
    check(MIB, &[(1536, b"LABELONE")], &[(Kind::Lvm2, 1536)]);
    check(MIB, &[(0, b"LUKS\xba\xbe\0\x01")], &[(Kind::Luks, 0)]);
    check(
        MIB,
        &[(0, b"bluestore block device\n")],
        &[(Kind::Bluestore, 0)],
    );
    check(MIB, &[(32, b"NXSB")], &[(Kind::Apfs, 0)]);
    check(MIB, &[(1024, b"H+\0\x04")], &[(Kind::HfsPlus, 1024)]);
    check(
        MIB,
        &[(MIB - 1024, b"HX\0\x05")],
        &[(Kind::HfsPlus, MIB - 1024)],
    );
    let bcache = b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81";
    check(MIB, &[(4096 + 24, bcache)], &[(Kind::Bcache, 4096)]);
    let replica = [0x83, 0x74, 0x02, 0x6b];
    check(
        MIB,
        &[(MIB - 4096 + 60, &replica)],
        &[(Kind::Drbd, MIB - 4096)],
    );
}

#[test]
fn several_marks_are_all_reported_in_the_order_of_their_places() {
    check(
        MIB,
        &[(0, b"XFSB"), (4086, b"SWAPSPACE2"), (32769, b"CD001")],
        &[(Kind::Xfs, 0), (Kind::Swap, 4086), (Kind::Iso9660, 32768)],
    );
}

#[test]
fn an_error_of_the_device_is_handed_on() {
    let broken = |_: u64, _: &mut [u8]| Err(io::Error::other("bad sector"));
    assert_eq!(probe(broken, MIB).unwrap_err().to_string(), "bad sector");
}

proptest! {
    #[test]
    fn no_image_is_too_odd(image in proptest::collection::vec(any::<u8>(), 0..20_000)) {
        let _ = probe_bytes(&image);
    }

    /// A device may end in the middle of anything.
    #[test]
    fn no_device_is_too_short(size in 0..9 * MIB, places in proptest::collection::vec(any::<u8>(), 64)) {
        let patches = [(0, places.as_slice()), (1024, &places), (4096, &places), (65536, &places)];
        let _ = probe(device(size, &patches), size).unwrap();
    }

    /// A mark that is written is found, regardless of what surrounds it.
    #[test]
    fn noise_hides_no_mark(mut image in proptest::collection::vec(any::<u8>(), 70_000..80_000)) {
        image[1024 + 56..1024 + 58].copy_from_slice(&[0x53, 0xef]);
        image[512..520].copy_from_slice(b"LABELONE");
        let found = probe_bytes(&image);
        prop_assert!(found.iter().any(|mark| mark.offset == 1024 && mark.kind.name().starts_with("ext")));
        prop_assert!(found.iter().any(|mark| mark.kind == Kind::Lvm2));
    }
}
