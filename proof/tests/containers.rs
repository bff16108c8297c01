//! What a container forbids: calls of the kernel that answer EPERM, as under the usual seccomp
//! profiles. strace answers in the kernel's place.

use std::path::Path;

use blocklab_proof::{Lab, Printed, json};

const STUDY: &str = "name = \"small\"\npasses = 1\n[defaults]\nsize = \"4MiB\"\nstop_ios = 64\n\
                     [[case]]\nname = \"one\"\n[[case]]\nname = \"deep\"\ndepth = 4\n";

/// What the command says with these calls forbidden; nothing where strace cannot do that here.
fn forbidden(lab: &Lab, calls: &[&str], study: &str) -> Option<Printed> {
    if lab.shell("strace -f -e trace=none true").code != Some(0) {
        println!("skipped: strace cannot follow a program here");
        return None;
    }
    lab.write("small.toml", study);
    let forbid = |call: &&str| format!("-e inject={call}:error=EPERM ");
    let forbidding: String = calls.iter().map(forbid).collect();
    let calls = calls.join(",");
    Some(lab.shell(&format!(
        "strace -f -q -e trace={calls} -o /dev/null {forbidding} \
         blocklab run small.toml --target . --json"
    )))
}

/// `libaio` of `libaio, 4 KiB random read, depth 1, 1 thread`.
fn engines(out: &str) -> Vec<String> {
    let value = json(out);
    let rows = value["rows"].as_array().expect("rows");
    let engine = |row: &serde_json::Value| {
        let what = row["what"].as_str().expect("what a row is of");
        what.split(',').next().unwrap_or_default().to_owned()
    };
    rows.iter().map(engine).collect()
}

/// A control group with a fifth of a processor; nothing where none can be made.
struct Group(std::path::PathBuf);

impl Group {
    fn of_a_fifth() -> Option<Self> {
        let name = format!("blocklab-proof-{}", std::process::id());
        let v1 = Path::new("/sys/fs/cgroup/cpu").join(&name);
        let v2 = Path::new("/sys/fs/cgroup").join(&name);
        let quotas = [
            (v1, "cpu.cfs_quota_us", "20000"),
            (v2, "cpu.max", "20000 100000"),
        ];
        quotas.into_iter().find_map(|(folder, file, quota)| {
            std::fs::create_dir(&folder).ok()?;
            let group = Self(folder);
            let set = std::fs::OpenOptions::new()
                .write(true)
                .open(group.0.join(file));
            use std::io::Write;
            set.ok()?.write_all(quota.as_bytes()).ok()?;
            Some(group)
        })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// In a container with half a processor, the volume was called slow.
#[test]
fn a_quota_that_holds_us_back_is_a_finding() {
    let lab = Lab::new();
    let Some(group) = Group::of_a_fifth() else {
        println!("skipped: no control group of processors can be made here");
        return;
    };
    let said = lab.shell(&format!(
        "echo $$ > {}/cgroup.procs && exec blocklab run --rw randread --repeat 2 --runtime 1s \
         --target null --json --no-save",
        group.0.display(),
    ));
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    let out = said.out;
    assert!(out.contains("quota-throttled"), "{out}");
    assert_eq!(json(&out)["environment"]["processor_quota"], 0.2);
}

/// A study of one's own that named no engine was refused in every container that forbids
/// io_uring, though any engine would have served.
#[test]
fn a_study_without_an_engine_runs_where_io_uring_is_forbidden() {
    let lab = Lab::new();
    let Some(said) = forbidden(&lab, &["io_uring_setup"], STUDY) else {
        return;
    };
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    let out = said.out;
    assert_eq!(engines(&out), ["libaio", "libaio"]);
    assert!(out.contains("engine-replaced"), "{out}");
}

/// Filters that are older than statx answer EPERM to it: no folder could be measured there.
#[test]
fn a_filter_without_statx_is_no_error() {
    let lab = Lab::new();
    let Some(said) = forbidden(&lab, &["statx", "io_uring_setup"], STUDY) else {
        return;
    };
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    let out = said.out;
    assert!(json(&out)["targets"][0]["file_system"].is_object(), "{out}");
}

#[test]
fn deep_loads_keep_their_depth_where_libaio_is_forbidden() {
    let lab = Lab::new();
    let calls = ["io_uring_setup", "io_setup"];
    let Some(said) = forbidden(&lab, &calls, STUDY) else {
        return;
    };
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    let out = said.out;
    assert_eq!(engines(&out), ["psync", "posixaio"]);
    let deep = &json(&out)["rows"][1]["what"];
    assert!(
        deep.as_str().is_some_and(|what| what.contains("depth 4")),
        "{deep}"
    );
}

#[test]
fn an_engine_that_is_named_is_not_replaced() {
    let lab = Lab::new();
    let named = STUDY.replace("[defaults]", "[defaults]\nengine = \"io_uring\"");
    let Some(said) = forbidden(&lab, &["io_uring_setup"], &named) else {
        return;
    };
    assert_eq!(said.code, Some(2), "{}{}", said.out, said.err);
    assert!(said.err.contains("libaio"), "{}", said.err);
}
