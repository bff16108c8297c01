//! In: the files of a trace, and consumers of its operations. Out: the consumers after the last one.
//!
//! One thread reads and unpacks. The consumers are divided among as many other threads as the machine
//! has processors; each consumer sees all operations in order.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use anyhow::Result;
use blocklab_trace::{Operation, Source};

use super::super::opened::{self, Devices, Opened};
use blocklab_args::TraceInput;

/// Operations that are sent to a thread at once: its channel is used once for all of them.
const BLOCK: usize = 16_384;
/// Blocks that may wait for a slow thread before the reader waits as well, which bounds the memory.
const WAITING: usize = 4;

/// A load that can be read again and again.
pub struct Load<'a> {
    pub files: &'a [PathBuf],
    pub read: &'a TraceInput,
}

/// The consumers of a load, and what is known at its end.
pub(super) struct Read<T> {
    pub(super) consumers: Vec<T>,
    pub(super) operations: u64,
    /// End of the last byte of any operation.
    pub(super) end: u64,
    pub(super) begins: Option<u64>,
    pub(super) remarks: Vec<String>,
}

/// Divides items into as many parts as there are processors; some may be empty.
pub(super) fn in_parts<T>(items: impl Iterator<Item = T>) -> Vec<Vec<T>> {
    let count = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let mut parts: Vec<Vec<T>> = (0..count).map(|_| Vec::new()).collect();
    for (index, item) in items.enumerate() {
        parts[index % count].push(item);
    }
    parts
}

impl Load<'_> {
    /// The names of its files.
    pub fn name(&self) -> String {
        opened::names(self.files)
    }

    /// Calls `take` with every operation, on this thread. A trace without operations is an error.
    pub fn each(&self, mut take: impl FnMut(&Operation)) -> Result<()> {
        let mut opened = opened::open(self.files, self.read, Devices::One)?;
        let mut is_empty = true;
        while let Some(operation) = opened.source.next().map_err(|error| opened.named(error))? {
            take(&operation);
            is_empty = false;
        }
        if is_empty {
            return Err(opened.empty());
        }
        Ok(())
    }

    /// Passes every operation to every consumer. A trace without operations is an error.
    pub(super) fn feed<T: Send>(
        &self,
        consumers: Vec<T>,
        add: fn(&mut T, &Operation),
    ) -> Result<Read<T>> {
        let mut opened = opened::open(self.files, self.read, Devices::One)?;
        // Numbered, because the parts do not keep the order that the caller expects back.
        let parts = in_parts(consumers.into_iter().enumerate());
        let (mut consumers, operations, end) = thread::scope(|scope| {
            let workers = parts.into_iter().filter(|part| !part.is_empty());
            let (senders, workers): (Vec<_>, Vec<_>) = workers
                .map(|part| {
                    let (sender, blocks) = sync_channel(WAITING);
                    (sender, scope.spawn(move || receive(part, &blocks, add)))
                })
                .unzip();
            let read = send(&mut opened, &senders);
            // The workers end when their channels are closed, also after an error of the reader.
            drop(senders);
            let consumers = workers.into_iter().flat_map(|worker| {
                let part = worker.join();
                part.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            let consumers: Vec<(usize, T)> = consumers.collect();
            read.map(|(operations, end)| (consumers, operations, end))
        })?;
        if operations == 0 {
            return Err(opened.empty());
        }
        consumers.sort_by_key(|(index, _)| *index);
        Ok(Read {
            consumers: consumers
                .into_iter()
                .map(|(_, consumer)| consumer)
                .collect(),
            operations,
            end,
            begins: opened.source.begins(),
            remarks: opened.source.remarks(),
        })
    }
}

type Block = Arc<Vec<Operation>>;

/// Gives every block to every consumer of a thread, until the channel is closed.
fn receive<T>(
    mut part: Vec<(usize, T)>,
    blocks: &Receiver<Block>,
    add: fn(&mut T, &Operation),
) -> Vec<(usize, T)> {
    for block in blocks {
        for (_, consumer) in &mut part {
            block.iter().for_each(|operation| add(consumer, operation));
        }
    }
    part
}

/// Reads all operations. Returns their number, and the end of the last byte of any.
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
            // Fails only if the thread has panicked, which `join` passes on.
            let _ = sender.send(Arc::clone(&block));
        }
    }
}
