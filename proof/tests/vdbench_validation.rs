//! Data validation of Vdbench's parameter files, with storage that changes behind its back.

use blocklab_proof::{Lab, Said};

/// Formats 64 blocks, writes each again, and reads them all; `meddle` is a shell command between
/// the two.
fn validate(lab: &Lab, meddle: &str, more: &str, args: &[&str]) -> Said {
    std::fs::write(lab.path().join("meddle.sh"), meddle).expect("a file can be written");
    let lun = lab.path().join("lun");
    let lun = lun.display();
    let run = "seekpct=eof,iorate=max,elapsed=2,interval=1,threads=2";
    let file = format!(
        "{more}sd=sd1,lun={lun},size=256k\nwd=wd1,sd=sd1\n\
         rd=write,wd=wd1,rdpct=0,{run},startcmd=\"cp lun old\"\n\
         rd=read,wd=wd1,rdpct=100,{run},startcmd=\"sh meddle.sh\"\n"
    );
    std::fs::write(lab.path().join("parm"), file).expect("a file can be written");
    let words = ["vdbench", "-f", "parm", "-o", "out"];
    lab.blocklab(words.iter().chain(args).copied())
}

fn log(lab: &Lab) -> String {
    let path = lab.path().join("out/errorlog.html");
    std::fs::read_to_string(path).expect("it is there")
}

#[test]
fn healthy_storage_validates() {
    let lab = Lab::new();
    for args in [&["-v"][..], &["-vr"], &["-vw"], &["-vt"]] {
        let _ = std::fs::remove_file(lab.path().join("lun"));
        let said = validate(&lab, "true", "", args);
        assert_eq!(said.code, Some(0), "{args:?}: {}{}", said.out, said.err);
        assert!(!log(&lab).contains("error:"), "{}", log(&lab));
    }
}

/// One sector of block 5 is overwritten: found at the next read, told with all that is known,
/// kept in the record, and the program fails.
#[test]
fn a_changed_sector_is_found() {
    let lab = Lab::new();
    let meddle = "printf wrong | dd of=lun bs=512 seek=43 conv=notrunc";
    let said = validate(&lab, meddle, "", &["-vt"]);
    assert_eq!(said.code, Some(1), "{}{}", said.out, said.err);
    for text in [log(&lab), said.out] {
        for words in [
            "block at byte 0x5000 (20480), 4096 bytes; found by rd=read",
            "key expected: 2",
            "1 of 8 sectors are wrong:",
            "lba 0x5600: no head of a written sector",
            "last written well: ",
            " by rd=write",
        ] {
            assert!(text.contains(words), "{words} is not in\n{text}");
        }
    }
    let record = lab.store().load("latest").expect("the run was kept").record;
    let jobs = record.measurements.iter().flat_map(|it| &it.jobs);
    let errors: Vec<_> = jobs.flat_map(|job| &job.errors).collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(
        (&*errors[0].kind, errors[0].first_offset),
        ("verify", 0x5000)
    );
    let verified = record.measurements[2].jobs[0].verified.expect("counted");
    assert_eq!((verified.blocks, verified.flawed), (63, 1));
    assert!(
        record
            .failure
            .expect("it failed")
            .contains("1 blocks came back wrong")
    );
}

/// An old copy of a block, as a storage returns it that lost a write.
#[test]
fn an_old_block_is_found() {
    let lab = Lab::new();
    let meddle = "dd if=old of=lun bs=4096 skip=9 seek=9 count=1 conv=notrunc";
    let said = validate(&lab, meddle, "", &["-v"]);
    assert_eq!(said.code, Some(1), "{}{}", said.out, said.err);
    for words in [
        "block at byte 0x9000",
        "key expected: 2",
        "8 of 8 sectors are wrong:",
        "lba 0x9000: another write of this place; found key 1, lba 0x9000, sd sd1, written ",
        "not kept; -vt keeps it",
    ] {
        assert!(said.out.contains(words), "{words} is not in\n{}", said.out);
    }
}

/// A block at another's place, as after a misdirected write; the first one ends the run.
#[test]
fn a_block_of_another_place_is_found() {
    let lab = Lab::new();
    let meddle = "dd if=lun of=lun bs=4096 skip=9 seek=20 count=4 conv=notrunc";
    let said = validate(&lab, meddle, "data_errors=1\n", &["-v"]);
    assert_eq!(said.code, Some(1), "{}{}", said.out, said.err);
    let words = "written for another place; found key 2, lba 0x9000, sd sd1";
    assert!(said.out.contains(words), "{}", said.out);
    let told = said.out.matches("Data validation error").count();
    assert!((1..=2).contains(&told), "two reads were in flight: {told}");
}

#[test]
fn what_keeps_no_data_is_not_validated() {
    let lab = Lab::new();
    let file = "sd=sd1,lun=sim:local@i3.xlarge\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=max\n";
    std::fs::write(lab.path().join("parm"), file).expect("a file can be written");
    let said = lab.blocklab(["vdbench", "-f", "parm", "-o", "out", "-v"]);
    assert_eq!(said.code, Some(2), "{}{}", said.out, said.err);
    assert!(
        said.err
            .contains("parm:1: sd=sd1: sim:local@i3.xlarge is a model"),
        "{}",
        said.err
    );
}
