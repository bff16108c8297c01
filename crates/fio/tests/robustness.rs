//! Whatever text comes as a job file or command line: no panic, and a plan that holds its rules.

use std::io::Write;

use blocklab_fio::{
    PlanContext, Reader, inflate, options, parse_command, parse_jobs, prepare, resolve,
};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use proptest::prelude::*;

struct Outside;

impl Reader for Outside {
    fn include(&mut self, _: &str) -> Result<String, String> {
        Ok("[global]\nsize=1m\n".to_owned())
    }

    fn variable(&self, name: &str) -> Option<String> {
        Some(name.to_owned())
    }
}

fn survive(text: &str) {
    let Ok(sections) = parse_jobs("job.fio", text, &mut Outside) else {
        return;
    };
    let Ok(resolved) = resolve(&sections, &[]) else {
        return;
    };
    let context = PlanContext {
        size_of: &|_| Some(1 << 20),
        is_device: &|_| false,
        room_at: &|_| Some(1 << 20),
        files_below: &|_| Vec::new(),
        processors: 8,
        device_of: &|major, minor| format!("/dev/{major}-{minor}"),
        control_groups: None,
        node_processors: &|node| vec![node],
        bytes_of: &|_| Err("there is none".to_owned()),
        aux: None,
        client: None,
        only_parsed: false,
        seed: 1,
    };
    if let Ok(prepared) = prepare(&resolved, "job", &context) {
        for job in prepared.plan.jobs() {
            job.check().expect("what is planned can be run");
        }
    }
}

/// Values near the edges of what options take, the largest number that is read among them.
const VALUES: [&str; 26] = [
    "0",
    "1",
    "-1",
    "4k",
    "1m",
    "50%",
    "1:2",
    "4k,8k",
    "4k-8k",
    "4k/50:8k/50",
    "zipf:1.2",
    "zoned:60/10:40/90",
    "randrw",
    "read:8k",
    "libaio",
    "10s",
    "(1+1)",
    "99999999999999999999",
    "9000000000000000000",
    "8000p,8000p",
    "1e",
    "0x",
    "iops:5%",
    "a:b",
    "",
    "é",
];

fn lines() -> impl Strategy<Value = String> {
    let names: Vec<&'static str> = options().iter().map(|option| option.name).collect();
    let line = (
        proptest::sample::select(names),
        proptest::sample::select(VALUES.to_vec()),
    );
    proptest::collection::vec(line, 0..6).prop_map(|lines| {
        let lines = lines
            .iter()
            .map(|(name, value)| format!("{name}={value}\n"));
        format!("[a]\nsize=1m\n{}", lines.collect::<String>())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_is_survived(text in "\\PC{0,120}(\n\\PC{0,40}){0,5}") {
        survive(&text);
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let _ = parse_command(&words);
    }

    /// Bytes as they come, and bytes that are sound streams of anything.
    #[test]
    fn any_compressed_log_is_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut text = Vec::new();
        let _ = inflate(&bytes, &mut text);
        let mut stream = ZlibEncoder::new(Vec::new(), Compression::fast());
        stream.write_all(&bytes).expect("memory takes it");
        let stream = stream.finish().expect("memory takes it");
        prop_assert!(inflate(&stream, &mut text).expect("a sound stream"));
        prop_assert!(text.is_empty() || text.ends_with(b"\n"));
    }

    #[test]
    fn any_options_are_survived(text in lines()) {
        survive(&text);
    }
}
