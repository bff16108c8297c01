//! `aws ec2 describe-instance-types`: `{"InstanceTypes": [{"InstanceType": "i3.xlarge", …}]}`.

use serde_json::Value;

use super::{Found, InstanceRow, counted, flag, is_type, number, text, words};

#[derive(serde::Deserialize)]
pub(super) struct Answer {
    #[serde(rename = "InstanceTypes")]
    pub(super) types: Vec<Value>,
}

pub(super) fn read(types: &[Value]) -> Found {
    let rows: Vec<InstanceRow> = types.iter().filter_map(row).collect();
    Found {
        kind: "DescribeInstanceTypes",
        skipped: types.len() - rows.len(),
        instances: rows,
        ..Found::default()
    }
}

/// The row of an instance type; `None` for an entry without a name or processors.
fn row(item: &Value) -> Option<InstanceRow> {
    let name = text(&item["InstanceType"]);
    let vcpus = counted(&item["VCpuInfo"]["DefaultVCpus"]);
    if !is_type(&name) || vcpus.is_empty() {
        return None;
    }
    let (ebs, limits) = (&item["EbsInfo"], &item["EbsInfo"]["EbsOptimizedInfo"]);
    let store = &item["InstanceStorageInfo"];
    let (disk, card) = (&store["Disks"][0], &item["NetworkInfo"]["NetworkCards"][0]);
    Some(InstanceRow {
        name,
        cells: vec![
            ("vcpu", vcpus),
            ("memory_mib", number(&item["MemoryInfo"]["SizeInMiB"])),
            ("hypervisor", plain(&item["Hypervisor"])),
            ("metal", flag(&item["BareMetal"])),
            ("current", flag(&item["CurrentGeneration"])),
            (
                "arch",
                words(&item["ProcessorInfo"]["SupportedArchitectures"]),
            ),
            ("ebs_optimized", support(&ebs["EbsOptimizedSupport"])),
            ("ebs_nvme", support(&ebs["NvmeSupport"])),
            ("ebs_base_mbps", number(&limits["BaselineBandwidthInMbps"])),
            ("ebs_max_mbps", number(&limits["MaximumBandwidthInMbps"])),
            ("ebs_base_MBps", number(&limits["BaselineThroughputInMBps"])),
            ("ebs_max_MBps", number(&limits["MaximumThroughputInMBps"])),
            ("ebs_base_iops", number(&limits["BaselineIops"])),
            ("ebs_max_iops", number(&limits["MaximumIops"])),
            ("attachments", counted(&ebs["MaximumEbsAttachments"])),
            ("net_base_gbps", number(&card["BaselineBandwidthInGbps"])),
            ("net_peak_gbps", number(&card["PeakBandwidthInGbps"])),
            ("disks", counted(&disk["Count"])),
            ("disk_gb", number(&disk["SizeInGB"])),
            ("disk_kind", plain(&disk["Type"])),
            ("disk_nvme", support(&store["NvmeSupport"])),
        ],
    })
}

/// A word without anything that would break a row.
fn plain(value: &Value) -> String {
    let word = text(value);
    let sound = word.chars().all(|c| c.is_ascii_alphanumeric());
    if sound { word } else { String::new() }
}

/// The vendor's words in the short form of the tables.
fn support(value: &Value) -> String {
    let short = match value.as_str() {
        Some("default") => "def",
        Some("supported") => "yes",
        Some("unsupported") => "no",
        Some("required") => "req",
        _ => "",
    };
    short.to_owned()
}
