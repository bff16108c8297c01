//! In: a load in the language of another tool. Out: its run on this host, by the crate of the tools.
//!
//! A file of its own: the only place of this program that knows that there are other languages.

use anyhow::Result;
use blocklab_fleet::{ForeignHost, ForeignLoad, ForeignTools};
use blocklab_record::Record;
use blocklab_runner::Observer;
use blocklab_tools::hosts::ShareHost;
use blocklab_tools::share::run_share;

/// All tools whose languages are spoken.
pub struct Tools;

impl ForeignTools for Tools {
    fn run(
        &self,
        load: &ForeignLoad,
        host: &ForeignHost<'_>,
        permitted: &mut dyn FnMut() -> bool,
        observer: &mut dyn Observer,
    ) -> Result<Option<Record>> {
        let host = ShareHost {
            name: host.name,
            run: host.run,
            destroy_data: host.destroy_data,
            store: host.store,
            interrupted: host.interrupted,
        };
        run_share(&load.tool, &load.text, &host, permitted, observer)
    }
}
