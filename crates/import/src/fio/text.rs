//! fio's normal text, of versions 2 and 3.
//!
//! ```text
//! a: (g=0): rw=randread, bs=(R) 4096B-4096B, …, ioengine=libaio, iodepth=4      the request
//! a: (groupid=0, jobs=2): err= 0: pid=9: Mon Jan  1 00:00:00 2024               a result
//!   read: IOPS=100, BW=400KiB/s (410kB/s)(4000KiB/10000msec)                    version 3
//!   read : io=4000.0KB, bw=409600B/s, iops=100, runt= 10000msec                 version 2
//!     clat (usec): min=2, max=9824, avg=714.03, stdev=1424.65
//!     clat percentiles (usec):
//!      |  1.00th=[    3],  5.00th=[    4], …
//!      issued rwts: total=1000,0,0,0 short=0,0,0,0 dropped=0,0,0,0
//! Run status group 0 (all jobs):                                                the end
//! ```

mod block;

use super::request::Options;
use super::{ALL_CLIENTS, name_single_job_cases};
use crate::not_a_result_at;
use crate::record::Found;
use crate::runs::{Printed, Runs};
use block::{Block, bytes, head};
use blocklab_syntax::Mistake;

const REQUEST: &str = ": (g=";

pub(super) fn is_text(text: &str) -> bool {
    text.lines().any(|line| head(line).is_some())
}

/// All results of a text: those of several runs after each other, and the states of one under
/// `--status-interval`.
pub(super) fn read(text: &str) -> Result<Vec<Found>, Mistake> {
    let mut reader = Reader::default();
    for (index, line) in text.lines().enumerate() {
        reader.read_line(line.trim(), index + 1)?;
    }
    reader.end_result()?;
    Ok(reader.runs.all())
}

#[derive(Default)]
struct Reader {
    runs: Runs,
    /// The version of fio that printed what comes.
    tool: Option<String>,
    requests: Vec<Request>,
    /// The result of one moment.
    blocks: Vec<Block>,
    /// What follows belongs to another result.
    is_over: bool,
}

/// What was requested of a job.
struct Request {
    name: String,
    group: String,
    options: Options,
}

impl Reader {
    fn read_line(&mut self, line: &str, at: usize) -> Result<(), Mistake> {
        // First, because the name of a job may look like a request.
        if let Some(mut block) = head(line) {
            if block.name == ALL_CLIENTS && !self.blocks.is_empty() {
                self.is_over = true;
                return Ok(());
            }
            if self.is_over && !self.blocks.is_empty() {
                self.end_result()?;
            }
            self.is_over = false;
            block.line = at;
            self.blocks.push(block);
        } else if let Some(request) = request(line) {
            if !self.blocks.is_empty() {
                self.end_result()?;
            }
            if self.is_over {
                self.requests.clear();
                self.tool = None;
                self.is_over = false;
            }
            self.requests.push(request);
        } else if is_version(line) {
            self.tool = Some(line.replacen("fio-", "fio ", 1));
        } else if line.starts_with("Run status group") {
            self.is_over = true;
        } else if let Some(block) = self.blocks.last_mut().filter(|_| !self.is_over) {
            let read = block.read_line(line);
            read.map_err(|message| not_a_result_at(at, message))?;
        }
        Ok(())
    }

    /// The blocks so far are one result.
    fn end_result(&mut self) -> Result<(), Mistake> {
        self.is_over = true;
        let blocks = std::mem::take(&mut self.blocks);
        let Some(first) = blocks.first() else {
            return Ok(());
        };
        let line = first.line;
        let moment = moment(&first.date);
        let processes: Vec<_> = blocks.iter().map(|block| &*block.process).collect();
        let process = moment.is_none().then(|| processes.join(" "));
        let mut found = Found {
            tool: self.tool.clone().unwrap_or_else(|| "fio".to_owned()),
            started_at: moment.map(|moment| moment.to_string()).unwrap_or_default(),
            ..Found::default()
        };
        if moment.is_some() {
            found.note("the time of the run is that machine's local time, when it was printed");
        }
        found.note(
            "fio's text rounds: bytes and latencies are only as exact as they are printed; targets, \
             O_DIRECT and the share of reads are not in it",
        );
        for block in &blocks {
            let options = self.options(block, &blocks);
            let job = block
                .job(options, &mut found)
                .map_err(|message| not_a_result_at(block.line, message))?;
            found.add_job(format!("group-{}", block.group), job);
        }
        name_single_job_cases(&mut found.cases);
        let printed = Printed {
            found: found.checked().map_err(|mistake| Mistake {
                place: Some(blocklab_syntax::Place { file: None, line }),
                ..mistake
            })?,
            process,
            at_ms: moment.map(|moment| moment.as_millisecond() as f64),
            ..Printed::default()
        };
        self.runs.add(printed);
        Ok(())
    }

    /// The options of the job that a block is about. `None` if no request of that name was printed, or
    /// if the block sums up several jobs of its group: then it has several threads, and a job of the group
    /// has no block of its own.
    fn options(&self, block: &Block, all: &[Block]) -> Option<&Options> {
        let mut options = None;
        for request in &self.requests {
            if request.group != block.group {
                continue;
            }
            let has_block = all
                .iter()
                .any(|reported| reported.group == request.group && reported.name == request.name);
            if !has_block && block.threads > 1 {
                return None;
            }
            if request.name == block.name {
                options = options.or(Some(&request.options));
            }
        }
        options
    }
}

fn is_version(line: &str) -> bool {
    let version = line.strip_prefix("fio-").or(line.strip_prefix("fio "));
    version
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()) && !rest.contains(' '))
}

/// `j: (g=0): rw=read, bs=(R) 4096B-4096B, (W) …, (T) …, ioengine=psync, iodepth=1`.
fn request(line: &str) -> Option<Request> {
    let (name, rest) = line.rsplit_once(REQUEST)?;
    // fio's client prints `<HOST> ` before it.
    let of_host = name
        .strip_prefix('<')
        .and_then(|rest| rest.split_once("> "));
    let name = of_host.map_or(name, |(_, name)| name);
    let (group, rest) = rest.split_once("): ")?;
    let (sizes, more) = match rest.split_once(", bs=") {
        Some((rw, rest)) => {
            let end = rest.find(", ioengine=").unwrap_or(rest.len());
            (Some((rw, &rest[..end])), &rest[end..])
        }
        None => (None, rest),
    };
    let mut options = Options::new();
    let all = sizes.iter().map(|(rw, _)| *rw).chain(more.split(", "));
    for (key, value) in all.filter_map(|part| part.split_once('=')) {
        options.insert(key.trim().to_owned(), value.trim().to_owned());
    }
    let rw = options.get("rw").cloned().unwrap_or_default();
    let block = sizes.and_then(|(_, sizes)| block_size(sizes, &rw));
    options.insert(
        "bs".to_owned(),
        block.map_or_else(String::new, |bytes| bytes.to_string()),
    );
    Some(Request {
        name: name.to_owned(),
        group: group.to_owned(),
        options,
    })
}

/// The size of all operations: `(R) 4096B-4096B, (W) …`, or `4K-4K/4K-4K/4K-4K`.
fn block_size(text: &str, rw: &str) -> Option<u64> {
    let ranges: Vec<&str> = if text.contains('(') {
        text.split(", ")
            .map(|part| part.split_once(") ").map_or("", |(_, range)| range))
            .collect()
    } else {
        text.split('/').collect()
    };
    let [read, write] = [0, 1].map(|at| {
        let (low, high) = ranges.get(at)?.split_once('-')?;
        // `9.77KiB` is rounded.
        let is_exact = !low.contains('.') || low.contains(".0");
        let size = bytes(low, 1024.0).filter(|_| low == high && is_exact);
        size.map(|size| size as u64)
    });
    match (rw.contains("rw"), rw.contains("write")) {
        (true, _) => read.filter(|_| read == write),
        (false, true) => write,
        (false, false) => read,
    }
}

/// `Mon Jul  3 22:30:33 2023`.
fn moment(date: &str) -> Option<jiff::Timestamp> {
    let date = date.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, date) = date.split_once(' ')?;
    let moment = jiff::civil::DateTime::strptime("%b %d %H:%M:%S %Y", date).ok()?;
    let zoned = moment.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(zoned.timestamp())
}
