//! Data validation of Vdbench's parameter files, with storage that changes behind its back.

use blocklab_proof::{Lab, Printed, send};
use blocklab_record::ErrorKind;

/// Formats 64 blocks, writes each again, and reads them all; `meddle` is a shell command between
/// the two.
fn validate(lab: &Lab, meddle: &str, more: &str, args: &[&str]) -> Printed {
    lab.write("meddle.sh", meddle);
    let lun = lab.path().join("lun");
    let lun = lun.display();
    let run = "seekpct=eof,iorate=max,elapsed=2,interval=1,threads=2";
    let file = format!(
        "{more}sd=sd1,lun={lun},size=256k\nwd=wd1,sd=sd1\n\
         rd=write,wd=wd1,rdpct=0,{run},startcmd=\"cp lun old\"\n\
         rd=read,wd=wd1,rdpct=100,{run},startcmd=\"sh meddle.sh\"\n"
    );
    lab.write("parm", file);
    let words = ["vdbench", "-f", "parm", "-o", "out"];
    lab.blocklab(words.iter().chain(args).copied())
}

fn log(lab: &Lab) -> String {
    lab.read("out/errorlog.html")
}

#[test]
fn healthy_storage_validates() {
    let lab = Lab::new();
    for args in [&["-v"][..], &["-vr"], &["-vw"], &["-vt"]] {
        let _ = std::fs::remove_file(lab.path().join("lun"));
        let ran = validate(&lab, "true", "", args);
        assert_eq!(ran.code, Some(0), "{args:?}: {}{}", ran.out, ran.err);
        assert!(!log(&lab).contains("error:"), "{}", log(&lab));
    }
}

/// One sector of block 5 is overwritten: found at the next read, told with all that is known,
/// kept in the record, and the program fails.
#[test]
fn a_changed_sector_is_found() {
    let lab = Lab::new();
    let meddle = "printf wrong | dd of=lun bs=512 seek=43 conv=notrunc";
    let ran = validate(&lab, meddle, "", &["-vt"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    for text in [log(&lab), ran.out] {
        for words in [
            "block at byte 0x5000 (20480), 4096 bytes; found by rd=read",
            "key expected: 2",
            "1 of 8 sectors are wrong:",
            "lba 0x5600: no valid sector header",
            "last written well: ",
            " by rd=write",
        ] {
            assert!(text.contains(words), "{words} is not in\n{text}");
        }
    }
    let record = lab.store().load("latest").expect("the run was kept").record;
    let jobs = record.jobs();
    let errors: Vec<_> = jobs.flat_map(|job| &job.errors).collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(
        (errors[0].kind, errors[0].first_offset),
        (ErrorKind::Verify, 0x5000)
    );
    let verified = record.measurements[2].jobs[0].verified.expect("counted");
    assert_eq!((verified.blocks, verified.miscompared), (63, 1));
    assert!(
        record
            .failure
            .expect("it failed")
            .contains("1 block came back wrong")
    );
}

/// An old copy of a block, as a storage returns it that lost a write.
#[test]
fn an_old_block_is_found() {
    let lab = Lab::new();
    let meddle = "dd if=old of=lun bs=4096 skip=9 seek=9 count=1 conv=notrunc";
    let ran = validate(&lab, meddle, "", &["-v"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    for words in [
        "block at byte 0x9000",
        "key expected: 2",
        "8 of 8 sectors are wrong:",
        "lba 0x9000: another write of this place; found key 1, lba 0x9000, sd sd1, written ",
        "not kept; -vt keeps it",
    ] {
        assert!(ran.out.contains(words), "{words} is not in\n{}", ran.out);
    }
}

/// A block at another's place, as after a misdirected write; the first one ends the run.
#[test]
fn a_block_of_another_place_is_found() {
    let lab = Lab::new();
    let meddle = "dd if=lun of=lun bs=4096 skip=9 seek=20 count=4 conv=notrunc";
    let ran = validate(&lab, meddle, "data_errors=1\n", &["-v"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let words = "written for another place; found key 2, lba 0x9000, sd sd1";
    assert!(ran.out.contains(words), "{}", ran.out);
    let printed = ran.out.matches("Data validation error").count();
    assert!(
        (1..=2).contains(&printed),
        "two reads were in flight: {printed}"
    );
}

#[test]
fn what_keeps_no_data_is_not_validated() {
    let lab = Lab::new();
    let file = "sd=sd1,lun=sim:local@i3.xlarge\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=max\n";
    lab.write("parm", file);
    let ran = lab.blocklab(["vdbench", "-f", "parm", "-o", "out", "-v"]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    let words = "parm:1: sd=sd1: sim:local@i3.xlarge is a model";
    assert!(ran.err.contains(words), "{}", ran.err);
}

/// A file of 1 MiB that is written at random for `seconds`, with a journal next to it.
fn journalled(lab: &Lab, seconds: u32) {
    let lun = lab.path().join("lun");
    let file = format!(
        "sd=sd1,lun={},size=1m\nwd=wd1,sd=sd1,rdpct=20,xfersize=(4k,50,8k,50)\n\
         rd=rd1,wd=wd1,iorate=max,elapsed={seconds},interval=1,threads=4\n",
        lun.display()
    );
    lab.write("parm", file);
}

fn again(lab: &Lab, option: &str) -> Printed {
    let destroy = lab.path().join("lun").display().to_string();
    let words = [
        "vdbench",
        "-f",
        "parm",
        "-o",
        "out",
        option,
        "--destroy-data",
    ];
    lab.blocklab(words.into_iter().chain([&*destroy]))
}

/// Starts a journalled run and kills it as soon as its journal shows that it is in the middle.
fn kill_in_the_middle(lab: &Lab) {
    let mut run = lab
        .command()
        .args(["vdbench", "-f", "parm", "-o", "out", "-j"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("it starts");
    let journal = lab.path().join("out/sd1.jnl");
    let status = lab.path().join("out/status.html");
    let limit = std::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        let is_long = std::fs::metadata(&journal).is_ok_and(|file| file.len() > 100 * 512);
        let events = std::fs::read_to_string(&status).unwrap_or_default();
        if is_long && events.contains("rd=rd1") {
            break;
        }
        assert!(std::time::Instant::now() < limit, "no journal was written");
        assert!(
            run.try_wait().expect("it can be asked").is_none(),
            "it ended"
        );
        std::thread::yield_now();
    }
    // Its first process only waits for the one that works.
    let children = format!("/proc/{0}/task/{0}/children", run.id());
    let worker = std::fs::read_to_string(children).expect("it has a child");
    send("KILL", worker.trim());
    assert_eq!(run.wait().expect("it ends").code(), Some(128 + 9));
}

/// Killed, recovered without a word of complaint, recovered again, and then run on.
#[test]
fn a_killed_run_is_recovered() {
    let lab = Lab::new();
    journalled(&lab, 60);
    kill_in_the_middle(&lab);
    for _ in 0..2 {
        let ran = again(&lab, "-jro");
        assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
        assert!(
            ran.out.contains("Starting RD=journal_recovery"),
            "{}",
            ran.out
        );
        assert!(ran.out.contains("sd=sd1: of "), "{}", ran.out);
        assert!(!ran.out.contains("RD=rd1"), "{}", ran.out);
    }
    journalled(&lab, 2);
    let ran = again(&lab, "-jr");
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("Starting RD=rd1"), "{}", ran.out);
    // That run has ended: its map says all, and nothing was in flight.
    let ran = again(&lab, "-jro");
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(
        ran.out.contains("of 0 writes that were in flight"),
        "{}",
        ran.out
    );
}

/// A block that is put back after the kill is found by the recovery.
#[test]
fn a_lost_write_is_found_after_a_kill() {
    let lab = Lab::new();
    journalled(&lab, 60);
    kill_in_the_middle(&lab);
    let path = lab.path().join("lun");
    let mut bytes = std::fs::read(&path).expect("it is there");
    bytes[0x8000..0xc000].fill(0);
    std::fs::write(&path, bytes).expect("it can be written");
    let ran = again(&lab, "-jr");
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    for words in [
        "block at byte 0x9000",
        "only zeros",
        "found by rd=journal_recovery",
    ] {
        assert!(ran.out.contains(words), "{words} is not in\n{}", ran.out);
    }
    assert!(!ran.out.contains("Starting RD=rd1"), "{}", ran.out);
}

/// The story: the recovery of a file that was gone, such as one of a disk that was not mounted, made an empty
/// one and reported all its blocks as wrong.
#[test]
fn a_file_that_is_gone_is_not_recovered() {
    let lab = Lab::new();
    journalled(&lab, 2);
    let ran = again(&lab, "-j");
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let lun = lab.path().join("lun");
    std::fs::remove_file(&lun).expect("it is there");
    let ran = again(&lab, "-jr");
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("lun does not exist"), "{}", ran.err);
    assert!(!lun.exists());
}

#[test]
fn journals_that_cannot_be_used_are_reported() {
    let lab = Lab::new();
    journalled(&lab, 60);
    let ran = again(&lab, "-jr");
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(
        ran.err.contains("out/sd1.map cannot be used: No such file"),
        "{}",
        ran.err
    );
    kill_in_the_middle(&lab);
    let journal = lab.path().join("out/sd1.jnl");
    let whole = std::fs::read(&journal).expect("it is there");
    let check = |bytes: &[u8], words: &str| {
        std::fs::write(&journal, bytes).expect("it can be written");
        let ran = again(&lab, "-jro");
        assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
        assert!(ran.err.contains(words), "{}", ran.err);
    };
    check(
        &whole[..5000],
        "it is truncated: 5000 bytes of at least 5120",
    );
    let mut changed = whole.clone();
    changed[3 * 512 + 40] ^= 1;
    check(
        &changed,
        "it is damaged at byte 1536: a record that does not match its checksum",
    );
}
