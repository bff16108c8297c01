//! In: the files of a trace, and what takes its operations in. Out: the same after the last operation.
//!
//! One thread reads and unpacks; the takers are shared by as many others as the machine has
//! processors for, each of which sees all operations in order.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use anyhow::Result;
use blocklab_trace::{Operation, Source};

use super::super::opened::{self, Opened};
use blocklab_args::TraceInput;

/// Operations that go from thread to thread at once, and blocks that may wait for a slow one.
const BLOCK: usize = 16_384;
const WAITING: usize = 4;

/// A load that can be read again and again.
pub struct Load<'a> {
    pub files: &'a [PathBuf],
    pub read: &'a TraceInput,
}

/// What has read a load, and what is known at its end.
pub(super) struct Read<T> {
    pub(super) takers: Vec<T>,
    pub(super) operations: u64,
    /// End of the last byte of any operation.
    pub(super) end: u64,
    pub(super) begins: Option<u64>,
    pub(super) remarks: Vec<String>,
}

/// Threads for the takers, besides the one that reads.
fn threads() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Items in as many parts as there are threads.
pub(super) fn shared<T>(items: impl Iterator<Item = T>) -> Vec<Vec<T>> {
    let mut parts: Vec<Vec<T>> = (0..threads()).map(|_| Vec::new()).collect();
    let count = parts.len();
    for (index, item) in items.enumerate() {
        parts[index % count].push(item);
    }
    parts
}

impl Load<'_> {
    /// The names of its files.
    pub fn name(&self) -> String {
        let names = self.files.iter().map(|file| file.display().to_string());
        names.collect::<Vec<_>>().join(", ")
    }

    /// Calls `take` with every operation, on this thread.
    pub fn each(&self, mut take: impl FnMut(&Operation)) -> Result<()> {
        let mut opened = opened::open(self.files, self.read, true)?;
        while let Some(operation) = opened.source.next().map_err(|error| opened.named(error))? {
            take(&operation);
        }
        Ok(())
    }

    /// Passes every operation to every taker.
    pub(super) fn given_to<T: Send>(
        &self,
        takers: Vec<T>,
        take: fn(&mut T, &Operation),
    ) -> Result<Read<T>> {
        let mut opened = opened::open(self.files, self.read, true)?;
        let parts = shared(takers.into_iter().enumerate());
        let (mut takers, operations, end) = thread::scope(|scope| {
            let workers = parts.into_iter().filter(|part| !part.is_empty());
            let (senders, workers): (Vec<_>, Vec<_>) = workers
                .map(|part| {
                    let (sender, blocks) = sync_channel(WAITING);
                    (sender, scope.spawn(move || taken(part, &blocks, take)))
                })
                .unzip();
            let read = send(&mut opened, &senders);
            drop(senders);
            let takers = workers.into_iter().flat_map(|worker| {
                let taken = worker.join();
                taken.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            let takers: Vec<(usize, T)> = takers.collect();
            read.map(|(operations, end)| (takers, operations, end))
        })?;
        takers.sort_by_key(|(index, _)| *index);
        Ok(Read {
            takers: takers.into_iter().map(|(_, taker)| taker).collect(),
            operations,
            end,
            begins: opened.source.begins(),
            remarks: opened.source.remarks(),
        })
    }
}

type Block = Arc<Vec<Operation>>;

fn taken<T>(
    mut part: Vec<(usize, T)>,
    blocks: &Receiver<Block>,
    take: fn(&mut T, &Operation),
) -> Vec<(usize, T)> {
    for block in blocks {
        for (_, taker) in &mut part {
            block.iter().for_each(|operation| take(taker, operation));
        }
    }
    part
}

/// Reads all operations. Gives their number, and the end of the last byte of any.
fn send(opened: &mut Opened, senders: &[SyncSender<Block>]) -> Result<(u64, u64)> {
    let (mut operations, mut end) = (0, 0);
    loop {
        let mut block = Vec::with_capacity(BLOCK);
        while block.len() < BLOCK
            && let Some(operation) = opened.source.next().map_err(|error| opened.named(error))?
        {
            end = end.max(operation.end());
            block.push(operation);
        }
        if block.is_empty() {
            return Ok((operations, end));
        }
        operations += block.len() as u64;
        let block = Arc::new(block);
        for sender in senders {
            // A thread that has panicked takes nothing more, and says so when it is joined.
            let _ = sender.send(Arc::clone(&block));
        }
    }
}
