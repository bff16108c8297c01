//! The guide to device files, derived from the schema.

use std::fmt::Write;

use super::schema::{Absent, DEVICE, Key, Kind, Section};

const HEAD: &str = "\
# A device described by hand

A TOML file that can replace any address: `sim:./my-device.toml`, `emu:./my-device.toml`, `blocklab catalog show ./my-device.toml`. `blocklab calibrate` writes such files. This page is derived from the table that reads them.

```toml
";

const REST: &str = "\
```

Sizes are strings such as `\"256KiB\"`; times such as `\"600us\"`, `\"1s\"` or, for something without end, `\"never\"`; rates such as `\"3000 IOPS\"`, `\"125 MiB/s\"` (2^20) or `\"593.75 MB/s\"` (10^6).

Every figure can name its origin: `origin = \"given\"` (the default), `\"measured: WHO AND WHERE\"`, `\"assumed: WHY\"`, or `{ documented = \"SOURCE\", date = \"DATE\" }`. Every result lists the assumed figures.
";

/// The example at the head of the guide; a test reads it.
pub(super) const EXAMPLE: &str = "\
name = \"a volume with a burst\"

[[volume]]
kind = \"my-ssd\"
capacity = \"1TiB\"
accounting = \"merged 256KiB\"

[[volume.cap]]
name = \"volume throughput\"
rate = \"250 MiB/s\"
bucket = \"1s\"

[[volume.credit]]
name = \"burst credits\"
baseline = \"300 IOPS\"
burst = \"3000 IOPS\"
capacity = 5400000

[volume.service]
read = { base = \"600us\", per_kib = \"2.2us\", origin = \"measured: fio, one job, 2026-11-20\" }
write = { base = \"600us\", per_kib = \"2.2us\" }
spread = { sigma = 0.3, origin = \"assumed: as gp3\" }

[[fault]]
from = \"10s\"
until = \"20s\"
latency = { added = \"500ms\", read_percent = 50, write_percent = 100 }
";

/// The text of `docs/device.md`.
pub fn guide() -> String {
    let mut out = format!("{HEAD}{EXAMPLE}{REST}");
    let mut shown: Vec<&'static str> = Vec::new();
    section("The top of the file", &DEVICE, &mut out, &mut shown);
    out
}

/// A table, then the tables in it, each once.
fn section(title: &str, section_: &Section, out: &mut String, shown: &mut Vec<&'static str>) {
    if shown.contains(&section_.path) {
        return;
    }
    shown.push(section_.path);
    let _ = write!(out, "\n## {title}\n\n{}\n\n", section_.meaning);
    out.push_str("| key | value | when absent | meaning |\n|---|---|---|---|\n");
    for key in section_.keys {
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} |",
            key.name,
            value(key.kind),
            absent(key),
            key.meaning
        );
    }
    for key in section_.keys {
        if let Kind::Tables(below) = key.kind {
            section(&format!("`[[{}]]`", below.path), below, out, shown);
        } else if let Kind::Table(below) = key.kind {
            section(&format!("`[{}]`", below.path), below, out, shown);
        }
    }
}

fn value(kind: Kind) -> String {
    match kind {
        Kind::Text => "text".to_owned(),
        Kind::Count => "whole number".to_owned(),
        Kind::Number => "number".to_owned(),
        Kind::Size => "size".to_owned(),
        Kind::Time | Kind::FineTime => "time".to_owned(),
        Kind::Rate => "rate".to_owned(),
        Kind::Bucket => "number or size".to_owned(),
        Kind::Origin => "origin".to_owned(),
        Kind::Layout => "`\"joined\"` or `\"striped SIZE\"`".to_owned(),
        Kind::Accounting => "`\"plain\"`, `\"merged SIZE\"` or `\"whole units SIZE\"`".to_owned(),
        Kind::Word(words) => {
            let words = words.iter().map(|word| format!("`\"{word}\"`"));
            words.collect::<Vec<_>>().join(", ")
        }
        Kind::Table(section) => format!("table `[{}]`", section.path),
        Kind::Tables(section) => format!("tables `[[{}]]`", section.path),
    }
}

fn absent(key: &Key) -> String {
    match key.when_absent {
        Absent::Wrong => "an error".to_owned(),
        Absent::Default("") => "nothing".to_owned(),
        Absent::Default(words) | Absent::Json(_, words) => words.to_owned(),
    }
}
