//! In: the share of one host in a load of another tool, as text. Out: its run on this host.

use anyhow::{Result, bail};
use blocklab_record::Record;
use blocklab_runner::{HostSetting, Observer};

use crate::{fio, vdbench};

/// Checks the share of this host, asks with `permitted` whether all hosts may go on, and runs it;
/// `None` if they may not, or a signal came before the first measurement.
///
/// # Errors
/// When something is refused on this host, or fails before the first measurement.
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
