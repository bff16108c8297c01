//! Rows of the table: What the original does not have.

use super::{Opt, ROW};
use blocklab_syntax::Mistake;

pub(super) static OURS: [Opt; 7] = [
    Opt {
        name: "--map",
        form: "--map 'E:\\=/data/'",
        meaning: "Ours: what begins with the left side begins with the right side here.",
        set: |_, _| {
            Err(Mistake::new(
                "--map",
                "it takes FROM=TO, such as --map 'E:\\=/data/'",
            ))
        },
        ..ROW
    },
    Opt {
        name: "--destroy-data",
        form: "--destroy-data=NAME",
        meaning: "Ours: allow to overwrite exactly this device or file.",
        set: |_, _| {
            Err(Mistake::new(
                "--destroy-data",
                "it takes a name: --destroy-data=sdb",
            ))
        },
        ..ROW
    },
    Opt {
        name: "--diskspd-layout",
        form: "--diskspd-layout 2.2|2.0.21a",
        default: "2.2",
        meaning: "Ours: the layout of the text.",
        set: |_, _| Err(Mistake::new("--diskspd-layout", "it takes 2.2 or 2.0.21a")),
        ..ROW
    },
    Opt {
        name: "--size",
        form: "--size SIZE",
        meaning: "Ours: the size of files that are made, in place of that of -c.",
        set: |_, _| Err(Mistake::new("--size", "it takes a size: --size 1GiB")),
        ..ROW
    },
    Opt {
        name: "--read-only",
        form: "--read-only",
        meaning: "Ours: nothing is written; -w counts as -w0, with a note.",
        ..ROW
    },
    Opt {
        name: "--no-save",
        form: "--no-save",
        meaning: "Ours: the run is not kept.",
        ..ROW
    },
    Opt {
        name: "--quiet",
        form: "--quiet",
        meaning: "Ours: no progress and no notes on standard error.",
        ..ROW
    },
];
