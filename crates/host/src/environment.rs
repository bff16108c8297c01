//! What a record holds of the machine that it was measured on: kernel, system, processor, memory,
//! instance type.

use blocklab_record::{ClockQuality, Environment, Processor};
use blocklab_units::Bytes;

use crate::cgroup;
use crate::roots::Roots;

/// The machine as it is now. What it does not report is left empty; nothing fails.
pub fn environment() -> Environment {
    let mut found = read(&Roots::real());
    // The firmware's text names the cloud; the processor only names the hypervisor.
    if found.processor.hypervisor.is_none() {
        found.processor.hypervisor = hypervisor_from_cpuid();
    }
    found.clock_quality = clock_quality();
    found
}

/// How good the kernel's time of day is; `None` where it does not report that.
fn clock_quality() -> Option<ClockQuality> {
    // SAFETY: a timex of zeros asks for nothing to be changed (its modes are 0).
    let mut found: libc::timex = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a timex of this function, which adjtimex fills.
    let state = unsafe { libc::adjtimex(&raw mut found) };
    (state >= 0).then(|| ClockQuality {
        is_synchronised: found.status & libc::STA_UNSYNC == 0,
        max_error_ns: u64::try_from(found.maxerror).unwrap_or_default() * 1000,
    })
}

/// What files of the kernel and of the firmware report.
fn read(roots: &Roots) -> Environment {
    let text = |path: &str| roots.text(path).unwrap_or_default();
    let clocksource = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    Environment {
        kernel: text("/proc/sys/kernel/osrelease"),
        os: os_name(&text("/etc/os-release")),
        processor: processor(roots),
        memory_bytes: memory(&text("/proc/meminfo")),
        instance: instance(roots),
        clocksource: text(clocksource),
        processor_quota: cgroup::processor_quota(roots),
        memory_limit_bytes: cgroup::memory_limit(roots),
        device_limits: cgroup::device_limits(roots),
        host_name: roots.text("/proc/sys/kernel/hostname"),
        // The kernel has a call for it, and no file.
        clock_quality: None,
    }
}

/// The processors that this process may use.
fn processor(roots: &Roots) -> Processor {
    let cpuinfo = roots.whole("/proc/cpuinfo").unwrap_or_default();
    Processor {
        model: model(&cpuinfo),
        count: allowed_count(&roots.whole("/proc/self/status").unwrap_or_default()),
        governor: roots.text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        frequency_mhz: roots
            .number::<u32>("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq")
            .map(|khz| khz / 1000),
        hypervisor: hypervisor(roots),
    }
}

/// The value of `key` in lines of the form `key : value`, if there is such a line.
fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim())
    })
}

/// `PRETTY_NAME` of os-release, without its quotes.
fn os_name(text: &str) -> String {
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="));
    value
        .unwrap_or_default()
        .trim()
        .trim_matches(['"', '\''])
        .to_owned()
}

fn memory(meminfo: &str) -> Bytes {
    let kib = field(meminfo, "MemTotal")
        .and_then(|value| value.strip_suffix("kB")?.trim().parse::<u64>().ok());
    Bytes(kib.unwrap_or(0) << 10)
}

/// x86 names its model; ARM reports two numbers, of which those of the clouds' server cores are known.
fn model(cpuinfo: &str) -> String {
    if let Some(name) = field(cpuinfo, "model name") {
        return name.to_owned();
    }
    let (Some(maker), Some(part)) = (
        field(cpuinfo, "CPU implementer"),
        field(cpuinfo, "CPU part"),
    ) else {
        return field(cpuinfo, "Processor").unwrap_or_default().to_owned();
    };
    match (maker, part) {
        ("0x41", "0xd08") => "ARM Cortex-A72".to_owned(),
        ("0x41", "0xd0c") => "ARM Neoverse-N1".to_owned(),
        ("0x41", "0xd40") => "ARM Neoverse-V1".to_owned(),
        ("0x41", "0xd49") => "ARM Neoverse-N2".to_owned(),
        ("0x41", "0xd4f") => "ARM Neoverse-V2".to_owned(),
        _ => format!("ARM implementer {maker} part {part}"),
    }
}

/// Processors in the affinity mask, as `/proc/self/status` lists them: `0-3,8`.
fn allowed_count(status: &str) -> u32 {
    let list = field(status, "Cpus_allowed_list").unwrap_or_default();
    let ranges = list.split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        last.checked_sub(first)?.checked_add(1)
    });
    ranges.sum()
}

/// The hypervisor, by the vendor text of the firmware.
const VENDORS: [(&str, &str); 6] = [
    ("Amazon EC2", "Amazon Nitro"),
    ("Google", "Google KVM"),
    ("Microsoft Corporation", "Microsoft Hyper-V"),
    ("VMware, Inc.", "VMware"),
    ("QEMU", "QEMU"),
    ("Xen", "Xen"),
];

/// The hypervisor that the machine runs on; `None` where neither kernel nor firmware names one.
fn hypervisor(roots: &Roots) -> Option<String> {
    if let Some(kind) = roots.text("/sys/hypervisor/type") {
        return Some(if kind == "xen" {
            "Xen".to_owned()
        } else {
            kind
        });
    }
    // A metal instance has the vendor's firmware too, but its processors do not see a hypervisor.
    let product = roots.text("/sys/class/dmi/id/product_name");
    if product.is_some_and(|name| name.contains(".metal")) {
        return None;
    }
    let vendor = roots.text("/sys/class/dmi/id/sys_vendor")?;
    let known = VENDORS.iter().find(|(text, _)| *text == vendor);
    known.map(|(_, name)| (*name).to_owned())
}

/// On EC2 the instance type is in the product name (Nitro and metal); on the older Xen
/// instances the product is `HVM domU`, which is no type.
fn instance(roots: &Roots) -> Option<String> {
    let vendor = roots.text("/sys/class/dmi/id/sys_vendor")?;
    let product = roots.text("/sys/class/dmi/id/product_name")?;
    (vendor == "Amazon EC2" && product.contains('.')).then_some(product)
}

/// The hypervisor by its signature in CPUID leaf 0x4000_0000; `None` without one.
#[cfg(target_arch = "x86_64")]
fn hypervisor_from_cpuid() -> Option<String> {
    use std::arch::x86_64::__cpuid;
    const PRESENT: u32 = 1 << 31;
    if __cpuid(1).ecx & PRESENT == 0 {
        return None;
    }
    let leaf = __cpuid(0x4000_0000);
    let bytes = [leaf.ebx, leaf.ecx, leaf.edx]
        .map(u32::to_le_bytes)
        .concat();
    Some(hypervisor_name(
        String::from_utf8_lossy(&bytes).trim_matches(['\0', ' ']),
    ))
}

#[cfg(not(target_arch = "x86_64"))]
fn hypervisor_from_cpuid() -> Option<String> {
    None
}

/// The name of the hypervisor with this signature.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
fn hypervisor_name(signature: &str) -> String {
    let name = match signature {
        "KVMKVMKVM" => "KVM",
        "Microsoft Hv" => "Microsoft Hyper-V",
        "VMwareVMware" => "VMware",
        "XenVMMXenVMM" => "Xen",
        "TCGTCGTCGTCG" => "QEMU without KVM",
        "bhyve bhyve" => "bhyve",
        "" => "unnamed",
        other => other,
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn lay(base: &Path, files: &[(&str, &str)]) -> Roots {
        let roots = Roots::at(base);
        for (name, content) in files {
            let path = roots.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        roots
    }

    #[test]
    fn a_nitro_instance_tells_its_type() {
        let folder = tempfile::tempdir().unwrap();
        let roots = lay(
            folder.path(),
            &[
                ("/proc/sys/kernel/osrelease", "6.1.0-18-cloud-amd64\n"),
                (
                    "/etc/os-release",
                    "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n",
                ),
                (
                    "/proc/cpuinfo",
                    "processor\t: 0\nmodel name\t: Intel(R) Xeon(R) Platinum 8259CL\n",
                ),
                (
                    "/proc/self/status",
                    "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-3,8\n",
                ),
                (
                    "/proc/meminfo",
                    "MemTotal:        8000000 kB\nMemFree: 1 kB\n",
                ),
                ("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n"),
                ("/sys/class/dmi/id/product_name", "m5.large\n"),
                (
                    "/sys/devices/system/clocksource/clocksource0/current_clocksource",
                    "tsc\n",
                ),
            ],
        );
        let found = read(&roots);
        assert_eq!(
            found,
            Environment {
                kernel: "6.1.0-18-cloud-amd64".into(),
                os: "Debian GNU/Linux 12 (bookworm)".into(),
                processor: Processor {
                    frequency_mhz: None,
                    model: "Intel(R) Xeon(R) Platinum 8259CL".into(),
                    count: 5,
                    governor: None,
                    hypervisor: Some("Amazon Nitro".into()),
                },
                memory_bytes: Bytes(8_192_000_000),
                instance: Some("m5.large".into()),
                clocksource: "tsc".into(),
                ..Environment::default()
            }
        );
    }

    #[test]
    fn an_older_xen_instance_has_no_type() {
        let folder = tempfile::tempdir().unwrap();
        let roots = lay(
            folder.path(),
            &[
                ("/sys/hypervisor/type", "xen\n"),
                ("/sys/class/dmi/id/sys_vendor", "Xen\n"),
                ("/sys/class/dmi/id/product_name", "HVM domU\n"),
            ],
        );
        assert_eq!(instance(&roots), None);
        assert_eq!(hypervisor(&roots).as_deref(), Some("Xen"));
    }

    #[test]
    fn a_metal_instance_has_a_type_and_no_hypervisor() {
        let folder = tempfile::tempdir().unwrap();
        let roots = lay(
            folder.path(),
            &[
                ("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n"),
                ("/sys/class/dmi/id/product_name", "i3.metal\n"),
            ],
        );
        assert_eq!(instance(&roots).as_deref(), Some("i3.metal"));
        assert_eq!(hypervisor(&roots), None);
    }

    #[test]
    fn arm_cores_get_their_names() {
        let text = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(model(text), "ARM Neoverse-N1");
        let text = "CPU implementer\t: 0x61\nCPU part\t: 0x22\n";
        assert_eq!(model(text), "ARM implementer 0x61 part 0x22");
    }

    #[test]
    fn a_machine_that_tells_nothing_is_no_failure() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(&Roots::at(folder.path())), Environment::default());
    }

    #[test]
    fn this_machine_has_a_kernel_a_processor_and_memory() {
        let found = environment();
        assert!(!found.kernel.is_empty());
        assert!(found.processor.count >= 1);
        assert!(found.memory_bytes > Bytes::MIB);
    }
}
