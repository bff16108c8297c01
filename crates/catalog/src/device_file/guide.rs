//! The guide to device files, derived from the schema.

use std::fmt::Write;

use blocklab_device::DeviceSpec;

use super::table::{Form, TableInfo};

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
    if let Some(top) = DeviceSpec::table() {
        section("The top of the file", &top, &mut out, &mut Vec::new());
    }
    out
}

/// A table, then the tables in it, each once.
fn section(title: &str, table: &TableInfo, out: &mut String, shown: &mut Vec<&'static str>) {
    shown.push(table.path);
    let _ = write!(out, "\n## {title}\n\n{}\n\n", table.meaning);
    out.push_str("| key | value | when absent | meaning |\n|---|---|---|---|\n");
    let rows = (table.rows)();
    for row in &rows {
        let kind = row.table.as_ref().map_or(row.kind.to_owned(), |table| {
            let what = if table.is_list { "tables" } else { "table" };
            format!("{what} {}", heading(table))
        });
        let (name, absent, meaning) = (row.name, row.when_absent, row.meaning);
        let _ = writeln!(out, "| `{name}` | {kind} | {absent} | {meaning} |");
    }
    for table in rows.into_iter().filter_map(|row| row.table) {
        if !shown.contains(&table.path) {
            section(&heading(&table), &table, out, shown);
        }
    }
}

fn heading(table: &TableInfo) -> String {
    if table.is_list {
        format!("`[[{}]]`", table.path)
    } else {
        format!("`[{}]`", table.path)
    }
}
