//! In: the name of a public trace collection. Out: what its columns mean.

use blocklab_units::{SECTOR, did_you_mean};

use super::Column::Number;
use super::columns::{Columns, Separator, Words, plain};
use crate::{Clock, SECOND};

/// A public trace collection whose columns are known.
pub struct Preset {
    /// Its name on the command line.
    pub name: &'static str,
    columns: fn() -> Columns,
}

impl Preset {
    /// Its columns.
    pub fn columns(&self) -> Columns {
        (self.columns)()
    }

    /// The collection of this name, in any case.
    ///
    /// # Errors
    /// When there is none; the text has the known names.
    pub fn find(name: &str) -> Result<&'static Self, String> {
        let lower = name.to_ascii_lowercase();
        let found = PRESETS.iter().find(|preset| preset.name == lower);
        found.ok_or_else(|| {
            let names = PRESETS.iter().map(|preset| preset.name);
            let hint = did_you_mean(&lower, names.clone(), || {
                format!("there are {}", names.collect::<Vec<_>>().join(", "))
            });
            format!("no set is called {name}; {hint}")
        })
    }
}

/// From 1601, where Windows begins to count, to 1970, in its units of 100 ns.
const FILETIME_1970: u64 = 116_444_736_000_000_000;

/// The known collections, each below its title and the names of its columns.
pub const PRESETS: [Preset; 6] = [
    // SYSTOR '17: Timestamp,Response,IOType,LUN,Offset,Size
    Preset {
        name: "systor",
        columns: || Columns {
            took: Some((Number(2), SECOND)),
            device: vec![Number(4)],
            ..plain(
                (Number(1), SECOND),
                Number(3),
                (Number(5), 1),
                (Number(6), 1),
            )
        },
    },
    // MSR Cambridge: Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime
    Preset {
        name: "msr",
        columns: || Columns {
            since: FILETIME_1970,
            took: Some((Number(7), 100)),
            device: vec![Number(2), Number(3)],
            ..plain((Number(1), 100), Number(4), (Number(5), 1), (Number(6), 1))
        },
    },
    // FIU: time pid process lba size R/W major minor md5, separated by blanks
    Preset {
        name: "fiu",
        columns: || Columns {
            separator: Separator::Blanks,
            clock: Clock::Unknown,
            device: vec![Number(7), Number(8)],
            ..plain(
                (Number(1), 1),
                Number(6),
                (Number(4), SECTOR),
                (Number(5), SECTOR),
            )
        },
    },
    // Alibaba 2020: device_id,opcode,offset,length,timestamp
    Preset {
        name: "alibaba",
        columns: || Columns {
            device: vec![Number(1)],
            ..plain((Number(5), 1000), Number(2), (Number(3), 1), (Number(4), 1))
        },
    },
    // Tencent CBS 2018: Timestamp,Offset,Size,IOType,VolumeID, whole seconds
    Preset {
        name: "tencent",
        columns: || Columns {
            words: Words::ReadIsZero,
            device: vec![Number(5)],
            spreads: true,
            ..plain(
                (Number(1), SECOND),
                Number(4),
                (Number(2), SECTOR),
                (Number(3), SECTOR),
            )
        },
    },
    // blkreplay's .load: start ; sector ; length ; op
    Preset {
        name: "blkreplay",
        columns: || Columns {
            separator: Separator::Char(b';'),
            clock: Clock::Recording,
            header: Some(true),
            begins_with: Some("start"),
            ..plain(
                (Number(1), SECOND),
                Number(4),
                (Number(2), SECTOR),
                (Number(3), SECTOR),
            )
        },
    },
];
