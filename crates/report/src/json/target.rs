use blocklab_device::Limit;
use blocklab_record::{BlockDevice, FileSystem, TargetFacts, TargetKind};
use blocklab_units::Bytes;
use serde::Serialize;

/// A target with its limits in words, as this form has had them from its beginning.
#[derive(Serialize)]
pub struct TargetView<'a> {
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    asked: Option<&'a str>,
    kind: TargetKind,
    size_bytes: Bytes,
    file_system: &'a Option<FileSystem>,
    devices: &'a [BlockDevice],
    direct_memory_align: Option<u32>,
    direct_offset_align: Option<u32>,
    limits: Vec<LimitView>,
    assumptions: &'a [String],
}

#[derive(Serialize)]
struct LimitView {
    name: String,
    value: f64,
    unit: &'static str,
    origin: String,
    bound: bool,
}

pub fn target(of: &TargetFacts) -> TargetView<'_> {
    TargetView {
        path: &of.path,
        asked: of.asked.as_deref(),
        kind: of.kind,
        size_bytes: of.size_bytes,
        file_system: &of.file_system,
        devices: &of.devices,
        direct_memory_align: of.direct_memory_align,
        direct_offset_align: of.direct_offset_align,
        limits: of.limits.iter().map(limit).collect(),
        assumptions: &of.assumptions,
    }
}

fn limit(of: &Limit) -> LimitView {
    LimitView {
        name: of.name.to_string(),
        value: of.value,
        unit: of.unit.text(),
        origin: of.origin.to_string(),
        bound: of.is_bound(),
    }
}
