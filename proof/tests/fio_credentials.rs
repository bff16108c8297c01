//! Jobs of fio that run as another user, or in a control group: what root alone can try.

mod stand;

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

use blocklab_proof::{Lab, Printed, good};

use stand::is_root;

/// Nobody, as most systems number it.
const NOBODY: u32 = 65_534;

fn read_as(lab: &Lab, user: u32) -> Printed {
    let user = format!("--uid={user}");
    let words = ["--name=a", "--filename=f", "--rw=read", "--size=64k"];
    let words = ["fio", "--no-save"].into_iter().chain(words);
    lab.blocklab(words.chain([&*user]))
}

#[test]
fn a_job_opens_its_files_as_the_user_that_it_names() {
    if !is_root("becoming another user") {
        return;
    }
    let lab = Lab::new();
    let open = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    open(lab.path(), 0o755).expect("it is ours");
    let file = lab.path().join("f");
    fs::write(&file, vec![0; 64 << 10]).expect("a file");
    open(&file, 0o600).expect("it is ours");
    let refused = read_as(&lab, NOBODY);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.err.contains("Permission denied"), "{refused:?}");
    chown(&file, Some(NOBODY), None).expect("root may");
    good(read_as(&lab, NOBODY));
}

/// The folder of the block I/O controller, where it is of version 1.
const CONTROLLER: &str = "/sys/fs/cgroup/blkio";

#[test]
fn a_control_group_is_there_while_the_job_runs() {
    if !is_root("control groups") || !Path::new(CONTROLLER).join("tasks").exists() {
        println!("skipped: no control groups of version 1 to be had");
        return;
    }
    let lab = Lab::new();
    let name = format!("blocklab-{}", std::process::id());
    let folder = Path::new(CONTROLLER).join(&name);
    let group = format!("--cgroup={name}");
    let look = format!("--exec_prerun=ls -d {}", folder.display());
    let job = ["fio", "--no-save", "--name=a", "--rw=read", "--size=64k"];
    good(lab.blocklab(job.into_iter().chain([&*group, &*look])));
    let seen = lab.read("a.prerun.txt");
    assert_eq!(seen.trim(), folder.display().to_string());
    assert!(!folder.exists(), "it is removed");
    good(lab.blocklab(job.into_iter().chain([&*group, "--cgroup_nodelete=1"])));
    assert!(folder.exists(), "it stays");
    good(lab.blocklab(job.into_iter().chain([&*group])));
    assert!(folder.exists(), "it was there before");
    fs::remove_dir(&folder).expect("nobody is in it");
}
