//! In: a command line of fio, DiskSpd, Vdbench or CrystalDiskMark.
//! Out: its run, kept; the outputs and the exit code that the tool itself would leave.
//! Never: a second engine, a second report.

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

/// Programs whose languages are spoken: a link of such a name behaves as that command.
pub const NAMES: [&str; 3] = ["diskspd", "fio", "vdbench"];
