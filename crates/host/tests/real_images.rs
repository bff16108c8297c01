//! Images made by the real tools carry the marks that we look for. A tool that is not installed,
//! or that cannot work here, is reported and left out.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};

use blocklab_host::signatures::{Kind, probe};

const MIB: u64 = 1 << 20;

/// Names of what is found on an image.
fn kinds(image: &Path) -> Vec<&'static str> {
    let file = File::open(image).unwrap();
    let size = file.metadata().unwrap().len();
    let found = probe(|offset, buffer| file.read_exact_at(buffer, offset), size).unwrap();
    let mut names: Vec<_> = found.iter().map(|mark| mark.kind.name()).collect();
    names.dedup();
    names
}

/// Runs `command` on a blank image, `{}` being its path, and looks at what is there then.
#[track_caller]
fn check(command: &str, size: u64, expected: &[Kind]) {
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("image");
    File::create(&image).unwrap().set_len(size).unwrap();
    assert_eq!(kinds(&image), [""; 0]);
    let path = image.to_str().unwrap();
    std::fs::write(folder.path().join("key"), "a long enough passphrase").unwrap();
    let key = folder.path().join("key");
    let command = command
        .replace("{}", path)
        .replace("{key}", key.to_str().unwrap());
    let shell = Command::new("sh")
        .args(["-c", &command])
        .env("PATH", "/usr/sbin:/sbin:/usr/bin:/bin")
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    if !shell.status.success() {
        let error = String::from_utf8_lossy(&shell.stderr);
        let tool = command.split(' ').next().unwrap_or_default();
        eprintln!("skipped: {tool} does not work here: {}", error.trim());
        return;
    }
    let expected: Vec<_> = expected.iter().map(|kind| kind.name()).collect();
    assert_eq!(kinds(&image), expected, "{command}");
}

#[test]
fn file_systems_of_linux() {
    check("mkfs.ext4 -q -F {}", 64 * MIB, &[Kind::Ext4]);
    check("mkfs.ext4 -q -F -b 1024 {}", 16 * MIB, &[Kind::Ext4]);
    check("mkfs.ext3 -q -F {}", 64 * MIB, &[Kind::Ext3]);
    check("mkfs.ext2 -q -F {}", 64 * MIB, &[Kind::Ext2]);
    check(
        "mke2fs -q -F -O journal_dev {}",
        64 * MIB,
        &[Kind::ExtJournal],
    );
    check("mkfs.xfs -q {}", 512 * MIB, &[Kind::Xfs]);
    check("mkfs.xfs -q -s size=4096 {}", 512 * MIB, &[Kind::Xfs]);
    check("mkfs.btrfs -q {}", 256 * MIB, &[Kind::Btrfs]);
    check("mkfs.f2fs -q {}", 128 * MIB, &[Kind::F2fs]);
    check("mkfs.nilfs2 -q {}", 256 * MIB, &[Kind::Nilfs2]);
    check("mkfs.jfs -q {}", 64 * MIB, &[Kind::Jfs]);
    check("mkfs.reiserfs -q -ff {}", 128 * MIB, &[Kind::Reiserfs]);
}

#[test]
fn file_systems_of_others() {
    check("mkfs.vfat {}", 4 * MIB, &[Kind::Vfat]);
    check("mkfs.vfat -F 32 {}", 64 * MIB, &[Kind::Vfat]);
    check("mkfs.vfat -S 4096 {}", 64 * MIB, &[Kind::Vfat]);
    check("mkfs.exfat {}", 64 * MIB, &[Kind::Exfat]);
    check("mkfs.ntfs -q -F -f {}", 16 * MIB, &[Kind::Ntfs]);
    check("mkudffs {}", 64 * MIB, &[Kind::Udf]);
}

#[test]
fn images_that_are_only_read() {
    let some = "mkdir files && echo text > files/text && ";
    check(
        &format!("{some} genisoimage -quiet -o {{}} files"),
        0,
        &[Kind::Iso9660],
    );
    check(
        &format!("{some} mksquashfs files {{}} -noappend -quiet"),
        0,
        &[Kind::Squashfs],
    );
    check(&format!("{some} mkfs.erofs {{}} files"), 0, &[Kind::Erofs]);
}

#[test]
fn swap_of_every_page_size() {
    check("mkswap {}", 16 * MIB, &[Kind::Swap]);
    for page in [8192, 16384, 65536] {
        check(&format!("mkswap -p {page} {{}}"), 16 * MIB, &[Kind::Swap]);
    }
}

#[test]
fn partition_tables() {
    check("echo ,, | sfdisk -q --label dos {}", 16 * MIB, &[Kind::Mbr]);
    check("echo ,, | sfdisk -q --label gpt {}", 16 * MIB, &[Kind::Gpt]);
    check("echo ,, | sfdisk -q --label sun {}", 64 * MIB, &[Kind::Sun]);
    check("parted -s {} mklabel mac", 16 * MIB, &[Kind::Apm]);
    check("parted -s {} mklabel bsd", 16 * MIB, &[Kind::Bsd]);
    // The copy at the end betrays a table whose beginning was overwritten.
    check(
        "echo ,, | sfdisk -q --label gpt {} && \
         dd if=/dev/zero of={} bs=64k count=1 conv=notrunc",
        16 * MIB,
        &[Kind::Gpt],
    );
}

#[test]
fn containers() {
    let format = "cryptsetup luksFormat -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000";
    check(
        &format!("{format} --type luks1 {{}} {{key}}"),
        32 * MIB,
        &[Kind::Luks],
    );
    check(
        &format!("{format} --type luks2 {{}} {{key}}"),
        32 * MIB,
        &[Kind::Luks],
    );
    check("make-bcache -B {}", 32 * MIB, &[Kind::Bcache]);
}

#[test]
fn what_wipefs_wipes_is_blank_again() {
    // For btrfs, the tool leaves the mirror at 64 MiB, from which the file system can be restored.
    for make in ["mkfs.ext4 -q -F {}", "mkfs.vfat {}", "mkswap {}"] {
        check(&format!("{make} && wipefs -a -q {{}}"), 64 * MIB, &[]);
    }
}
