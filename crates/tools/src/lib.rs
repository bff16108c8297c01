//! In: a command line of fio, DiskSpd, Vdbench or CrystalDiskMark.
//! Out: the stored run, and the output, files and exit code that the tool itself would give.
//! Never: measures with an engine of its own, or lays out blocklab's own reports.

pub mod args;
pub mod cdm;
pub mod diskspd;
pub mod fio;
pub mod hosts;
mod own_options;
mod processors;
pub mod share;
pub mod tool_run;
pub mod vdbench;

/// Tools that blocklab imitates: a link to the program with such a name behaves as that command.
pub const NAMES: [&str; 3] = ["diskspd", "fio", "vdbench"];
