//! Any text as the result of another program: a Record that can be kept, or a refusal.
#![no_main]

use blocklab_import::{Source, Tool, decode, import};
use blocklab_record::Record;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(source) = decode("flatfile.html", bytes) else {
        return;
    };
    let histogram = Source {
        name: "histogram.html".to_owned(),
        ..source.clone()
    };
    for tool in [Tool::DiskSpd, Tool::Cdm, Tool::Fio, Tool::Vdbench] {
        if let Ok(record) = import(tool, &[source.clone(), histogram.clone()]) {
            Record::from_json(&record.to_json()).expect("what is kept can be read");
        }
    }
});
