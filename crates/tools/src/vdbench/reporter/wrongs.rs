//! Blocks that came back wrong, told while a run goes on.

use anyhow::Result;
use blocklab_vdbench::{RECOVERY, settled_text, wrong_text};

use super::super::commands::ErrorPlace;
use super::super::times;
use super::Reporter;
use blocklab_console::terminal;

impl Reporter<'_> {
    /// Wrong blocks since the last call, on the console and in the error log.
    pub(super) fn tell_wrong_blocks(&mut self) -> Result<()> {
        let mut text = String::new();
        for (index, watched) in self.watched.iter().enumerate() {
            let Some(watched) = watched else { continue };
            let lun = &self.script.sds[index].lun;
            for block in watched.keys.wrong_blocks(self.told[index]) {
                text.push_str(&wrong_text(&block, lun, &times::at_micros));
                self.first_error.get_or_insert_with(|| ErrorPlace {
                    lun: lun.clone(),
                    lba: block.offset,
                    size: Some(u64::from(block.len)),
                });
                self.told[index] += 1;
            }
        }
        if text.is_empty() {
            return Ok(());
        }
        terminal::print(&text)?;
        self.folder.append("errorlog", &text)
    }

    /// After wrong blocks no further run begins.
    pub(super) fn has_wrong_blocks(&self) -> bool {
        let mut keys = self.watched.iter().flatten().map(|watched| &watched.keys);
        keys.next().is_some_and(|keys| keys.wrongs() > 0)
    }

    /// After a recovery: what became of writes in flight.
    pub(super) fn tell_settled(&self) -> Result<()> {
        if self.planned().run.name != RECOVERY {
            return Ok(());
        }
        let mut text = String::new();
        for watched in self.watched.iter().flatten() {
            text.push_str(&settled_text(watched.keys.name(), watched.keys.settled()));
        }
        terminal::print(&text)?;
        self.folder.append("logfile", &text)
    }
}
