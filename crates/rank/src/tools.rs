//! In: a load in the language of another tool. Out: its run on this host, by the crate of the tools.
//!
//! A file of its own: the only place of this program that knows that there are other languages.

use anyhow::Result;
use blocklab_fleet::{ForeignLoad, ForeignTools};
use blocklab_record::Record;
use blocklab_runner::{HostSetting, Observer};
use blocklab_tools::share::run_share;

/// All tools whose languages are spoken.
pub struct Tools;

impl ForeignTools for Tools {
    fn run(
        &self,
        load: &ForeignLoad,
        host: &HostSetting<'_>,
        permitted: &mut dyn FnMut() -> bool,
        observer: &mut dyn Observer,
    ) -> Result<Option<Record>> {
        run_share(&load.tool, &load.text, host, permitted, observer)
    }
}
