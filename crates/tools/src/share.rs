//! In: the share of one host in a load of another tool. Out: its run on this host.
//!
//! A file of its own: it knows all tools, and what they hand to each other across hosts knows none.

use anyhow::{Result, bail};
use blocklab_record::Record;
use blocklab_runner::{HostSetting, Observer};

use crate::{fio, vdbench};

/// The share of one host: looks at everything, asks whether all hosts may go on, and runs it.
///
/// # Errors
/// What is refused on this host, and what fails before the first measurement.
pub fn run_share(
    tool: &str,
    text: &str,
    host: &HostSetting<'_>,
    permitted: &mut dyn FnMut() -> bool,
    observer: &mut dyn Observer,
) -> Result<Option<Record>> {
    match tool {
        "fio" => fio::share::run(text, host, permitted, observer),
        "vdbench" => vdbench::share::run(text, host, permitted, observer),
        other => bail!("there is no language {other} here: install the same version on all hosts"),
    }
}
