//! No job file crashes the reader, and whatever it plans can be run.
#![no_main]

use blocklab_fio::{Reader, Terms, parse_jobs, prepare, resolve};
use libfuzzer_sys::fuzz_target;

struct Outside;

impl Reader for Outside {
    fn include(&mut self, _: &str) -> Result<String, String> {
        Ok("[global]\nsize=1m\n".to_owned())
    }

    fn variable(&self, name: &str) -> Option<String> {
        Some(name.to_owned())
    }
}

fuzz_target!(|text: &str| {
    let Ok(sections) = parse_jobs("job.fio", text, &mut Outside) else {
        return;
    };
    let Ok(resolved) = resolve(&sections, &[]) else {
        return;
    };
    let terms = Terms {
        size_of: &|_| Some(1 << 20),
        files_below: &|_| Vec::new(),
        processors: 8,
        node_processors: &|node| vec![node],
        bytes_of: &|_| Ok(b"held".to_vec()),
        device_of: &|major, minor| format!("/dev/{major}-{minor}"),
        control_groups: Some("/cgroup"),
        aux: None,
        seed: 1,
    };
    // Clones by the thousand are sound, and slow.
    if text.contains("numjobs") || text.contains("nrfiles") || text.contains("nr_files") {
        return;
    }
    if let Ok(prepared) = prepare(&resolved, "job", &terms) {
        for job in prepared
            .plan
            .cases
            .iter()
            .flat_map(|case| &case.workload.jobs)
        {
            job.check().expect("what is planned can be run");
        }
    }
});
