//! Real texts to begin from: what the repository holds, and small files that our own writers make.

use std::fs;
use std::path::Path;

use blocklab_catalog::{Catalog, device_file, resolve};
use blocklab_fio::State;
use blocklab_verify::{JournalWriter, MapState, SavedKeys};
use blocklab_workload::Address;

use crate::root;

const ADDRESSES: [&str; 8] = [
    "gp3:1TiB,iops=3000,throughput=125@r5d.xlarge",
    "2xst1:2TiB@m5.2xlarge",
    "local@i3.xlarge",
    "io2:100GiB,iops=20000,as-of=2026-01-01,region=eu-west-1@r5b.8xlarge",
    "azure/PremiumV2_LRS:1TiB@azure/Standard_D4s_v3",
    "gp2:100GiB",
    "m5.large",
    "/dev/nvme1n1",
];

const NEEDS: [&str; 5] = [
    "1TiB,10000iops,300MB/s",
    "capacity=2TiB,iops=20000,throughput=800MiB/s,block=16KiB,read=70,p99=5ms",
    "500 GiB, 6_000 IOPS, read=100%",
    "100GB,p99=0.7ms,iops=1e3,block=512B",
    "4TiB,throughput=0.5GiB/s,read=0",
];

const LINES: [&str; 4] = [
    "--name=a --filename=f --rw=randrw --bs=4k,8k --size=1m --iodepth=4 --ioengine=libaio",
    "--section=a --output-format=json+,terse --terse-version=5 --eta=never --name=b --rw=trim",
    "--client=host --name=a --rate=1m,2m --zone_mode=strided --client=10.0.0.1,8765 --name=b",
    "--runtime=10s --time_based --name=a --ioengine=splice --trigger-timeout=3 --name=b --rwmixread=30",
];

const WORDS: [&str; 3] = [
    "slower:5%\nmissed\nwarning\np99>2ms\niops<3000\nmean>1.5us\n",
    "time=Timestamp:us,offset=Offset:sectors,length=Size,op=Type\n2026-11-20\n4KiB\n1.5 h\n\
     3000iops,16KiB,70%\nfail reads 10% --for 5s\nspeed 2\n",
    "fail-on = [\"slower\"]\n[[gate]]\ncase = \"rand*\"\ndirection = \"read\"\nfail-on = [\"p99>1ms\"]\n",
];

/// The inputs from which the fuzzing of a target begins, by the name of the target.
///
/// # Panics
/// When a file of the repository cannot be read, or there is no such target.
#[must_use]
pub fn corpus(target: &str) -> Vec<Vec<u8>> {
    match target {
        "address" => ADDRESSES.map(|text| text.as_bytes().to_vec()).to_vec(),
        "catalog" => {
            let mut all = files("crates/catalog/tests/own-types", &["txt"]);
            all.extend(files("crates/catalog/tests/own-vendor", &["txt"]));
            all
        }
        "device_toml" => devices(),
        "diskspd" => {
            let mut all = lines("proof/tests/diskspd_language/accepted.txt");
            all.extend(files("crates/diskspd/src/golden", &["xml"]));
            all
        }
        "fio_blktrace" => files("proof/corpus/fio-traces", &["bin"]),
        "fio_iolog" => files("proof/corpus/fio-traces", &["log"]),
        "fio_job" => files("proof/corpus/fio", &["fio"]),
        "fio_line" => LINES.map(|text| text.as_bytes().to_vec()).to_vec(),
        "fio_log" => files("crates/fio/src/golden", &["fz"]),
        "fio_state" => vec![state().encode()],
        "import" => files("crates/catalog/tests/samples", &["json"]),
        "journal" => vec![journal()],
        "native" => {
            let mut all = files("studies", &["toml"]);
            all.extend(files("crates/native/src", &["toml"]));
            all
        }
        "nbd" => vec![client(0), client(1)],
        "need" => NEEDS.map(|text| text.as_bytes().to_vec()).to_vec(),
        "record" => files("crates/record/golden/v2", &["json"]),
        "spool" => files("crates/store/golden", &["ndjson"]),
        "results" => {
            let mut all = files("crates/diskspd/src/golden", &["txt", "xml"]);
            all.extend(files("crates/cdm/src/golden", &["txt"]));
            // Of fio 3.33 and of our own Vdbench.
            let all_ends = ["html", "json", "log", "terse", "txt"];
            all.extend(files("proof/corpus/results", &all_ends));
            all
        }
        "signatures" => vec![image()],
        "trace_biosnoop" => files("proof/corpus/traces", &["biosnoop"]),
        "trace_blkparse" => files("proof/corpus/traces", &["blkparse"]),
        "trace_own" => {
            let mut all = files("proof/corpus/traces", &["trace"]);
            all.extend(files("proof/corpus/fio-traces", &["bin", "log"]));
            all
        }
        "trace_perf" => files("proof/corpus/traces", &["perf"]),
        "trace_rates" => files("proof/corpus/traces", &["iostat", "sar", "json"]),
        "trace_table" => files("proof/corpus/traces", &["csv", "load"]),
        "trace_vscsi" => vec![vscsi()],
        "trace_xperf" => files("proof/corpus/traces", &["xperf"]),
        "vdbench" => scripts(),
        "words" => WORDS.map(|text| text.as_bytes().to_vec()).to_vec(),
        other => panic!("no corpus for {other}"),
    }
}

/// The files of a folder that end so, in the order of their names.
fn files(folder: &str, ends: &[&str]) -> Vec<Vec<u8>> {
    let folder = root().join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    let fits = |path: &Path| {
        path.extension()
            .is_some_and(|extension| ends.iter().any(|end| extension == *end))
    };
    paths.retain(|path| fits(path));
    paths.sort();
    let read = |path: &std::path::PathBuf| fs::read(path).expect("a file of the repository");
    paths.iter().map(read).collect()
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect("a file of the repository")
}

/// The lines of a file that are no comments and not indented.
fn lines(path: &str) -> Vec<Vec<u8>> {
    let text = text(path);
    let lines = text.lines().filter(|line| !line.starts_with([' ', '#']));
    lines.map(|line| line.as_bytes().to_vec()).collect()
}

/// The models that addresses stand for, as device files.
fn devices() -> Vec<Vec<u8>> {
    let catalog = Catalog::embedded();
    let spec = |text: &&str| {
        let address = Address::parse(text).ok()?;
        let resolved = resolve(&address, &catalog).ok()?;
        Some(device_file::render(&resolved.spec).into_bytes())
    };
    ADDRESSES.iter().filter_map(spec).collect()
}

/// Records of vscsiStats, version 1.
fn vscsi() -> Vec<u8> {
    let record = |number: u32| {
        let mut record = Vec::new();
        [number, 4096, 1]
            .iter()
            .for_each(|field| record.extend(field.to_le_bytes()));
        [0x2a_u16, 0x0100]
            .iter()
            .for_each(|field| record.extend(field.to_le_bytes()));
        let (block, moment) = (u64::from(number) * 8, u64::from(number) * 1000);
        [block, moment]
            .iter()
            .for_each(|field| record.extend(field.to_le_bytes()));
        record
    };
    (0..10).flat_map(record).collect()
}

/// The arguments of Vdbench, a line, and after them the parameter file.
fn scripts() -> Vec<Vec<u8>> {
    let cases = text("crates/vdbench/src/corpus.txt");
    let case = |case: &str| {
        let (_, rest) = case.split_once('\n')?;
        let script = rest.split("\n--").next()?;
        Some(format!("\n{script}\n").into_bytes())
    };
    let mut all: Vec<_> = cases.split("\n== ").skip(1).filter_map(case).collect();
    all.push(format!("-s\n{}", text("studies/i3-metal.vdb")).into_bytes());
    all
}

fn state() -> State {
    State {
        thread: 1,
        name: "verified".to_owned(),
        depth: 4,
        files: 2,
        writes: 1000,
        seed: 0x89,
        durable: 0,
        recent: vec![(0, 4096), (1, 8192)],
    }
}

fn journal() -> Vec<u8> {
    let saved = SavedKeys {
        generation: 7,
        name: *b"sd1\0\0\0\0\0",
        block: 4096,
        keys: (0..700).map(|n| (n % 120) as u8).collect(),
        state: MapState::Journalled,
    };
    let map = saved.to_bytes();
    let mut writer = JournalWriter::new(7);
    let mut bytes = (map.len() as u32).to_le_bytes().to_vec();
    bytes.extend(map);
    for block in 1..=100 {
        writer.begins(block, 50);
        bytes.extend(writer.records());
        if block != 3 {
            writer.ended(block, 50);
        }
    }
    bytes.extend(writer.records());
    bytes
}

/// Marks of a partition table, of XFS, ext4 and LVM in one image.
fn image() -> Vec<u8> {
    let mut image = vec![0; 8192];
    for (at, mark) in [
        (0, &b"XFSB"[..]),
        (510, &b"\x55\xaa"[..]),
        (512, &b"EFI PART"[..]),
        (512 + 24, &b"LABELONE"[..]),
        (1024 + 56, &b"\x53\xef"[..]),
    ] {
        image[at..at + mark.len()].copy_from_slice(mark);
    }
    image
}

/// A client of NBD: its flags, the options that libnbd sends, a write, a read and its leave; or one
/// that only names its export.
fn client(kind: usize) -> Vec<u8> {
    let option = |number: u32, data: &[u8]| {
        let head = [&b"IHAVEOPT"[..], &number.to_be_bytes()].concat();
        [&head[..], &(data.len() as u32).to_be_bytes(), data].concat()
    };
    let request = |command: u16, len: u32| {
        let magic = 0x2560_9513u32.to_be_bytes();
        let head = [&magic[..], &[0, 0], &command.to_be_bytes(), &[7; 8]].concat();
        [&head[..], &4096u64.to_be_bytes(), &len.to_be_bytes()].concat()
    };
    let context = b"\0\0\0\x04data\0\0\0\x01\0\0\0\x0fbase:allocation";
    let options = match kind {
        0 => [
            option(8, b""),
            option(3, b""),
            option(10, context),
            option(7, b"\0\0\0\x04data\0\x01\0\x03"),
        ]
        .concat(),
        _ => option(1, b"log"),
    };
    let write = [&request(1, 5)[..], b"bytes"].concat();
    let rest = [write, request(0, 4096), request(7, 4096), request(2, 0)].concat();
    [&3u32.to_be_bytes()[..], &options, &rest].concat()
}
