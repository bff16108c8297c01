//! Which files a clone works on, how long they are, and how much it moves.

use std::collections::HashMap;

use blocklab_units::Bytes;
use blocklab_workload::{Engine, Target};

use super::context::PlanContext;
use super::engine;
use super::fault::Fault;
use super::number::evenly_spread;
use super::options::Options;
use super::pattern::{self, ReadWrite};
use super::spec::Spec;
use super::value::{Share, nonzero};
use blocklab_syntax::Mistake;

/// How a file gets the length that its jobs need, from the least to the most thorough way: of a file
/// that several jobs share, the last of theirs holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layout {
    /// A name that the job itself makes.
    Name,
    /// A directory.
    Directory,
    /// Longer than there is room: what is not written is cut off after the run.
    Filled,
    /// Length only, and what is not written at its end is cut off after the run.
    Grown,
    /// Length only: what is not written holds no space.
    Length,
    /// Space is set aside, nothing is written.
    Space,
    /// Written with what its job writes.
    Written,
    /// The same, until the file system is full.
    WrittenUntilFull,
}

/// A file that must be there, and as long as this, before the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// Where.
    pub path: String,
    /// Its least length.
    pub length: Bytes,
    /// How it is made, or made longer.
    pub layout: Layout,
    /// Whether a job opens it, and does not only work on its name.
    pub is_opened: bool,
    /// Whether it is removed after the run.
    pub unlink: bool,
    /// Whether jobs write behind what it holds, which lengthens it and makes no file.
    pub is_appended: bool,
    /// The length of a filled file before it was made longer. It is cut to that after the run,
    /// unless it was written.
    pub cut_to: Option<Bytes>,
}

/// The files that must be there, each once.
#[derive(Default)]
pub(super) struct Files {
    /// In the order in which they were named first.
    pub list: Vec<Planned>,
    index: HashMap<String, usize>,
}

impl Files {
    /// The length that the jobs before plan for it.
    fn length(&self, path: &str) -> Option<u64> {
        let at = self.index.get(path)?;
        Some(self.list[*at].length.0)
    }

    /// Adds a file. Several jobs may share it: then the largest length and the most thorough layout hold.
    pub(super) fn add(&mut self, file: Planned) {
        let Some(at) = self.index.get(&file.path) else {
            self.index.insert(file.path.clone(), self.list.len());
            self.list.push(file);
            return;
        };
        let known = &mut self.list[*at];
        known.length = known.length.max(file.length);
        known.layout = known.layout.max(file.layout);
        known.is_opened |= file.is_opened;
        known.unlink |= file.unlink;
        known.is_appended |= file.is_appended;
    }
}

/// The kernel has signed offsets.
const LARGEST_OFFSET: u64 = i64::MAX as u64;

/// The files of a clone, and the part of each that it works on.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct WorkingSet {
    /// Targets, as the engine names them.
    pub targets: Vec<String>,
    pub offset: u64,
    /// The size of the part of each target; `None`: to its end.
    pub size: Option<u64>,
    /// Bytes of these parts of all targets together.
    pub space: u64,
    /// The most bytes of a pass: `size`, where `filesize` says how long the files are.
    pub pass_limit: Option<u64>,
    /// Whether the files are filled until there is no more space, so that they are shorter than
    /// `space`, and only their making shows by how much.
    pub is_cut_short: bool,
    /// The length of the shortest target when the job begins, where it may be beyond the end of the
    /// parts.
    pub shortest: Option<u64>,
    /// Whether each part is shorter than the smallest block, so that there is nothing to move.
    pub holds_no_block: bool,
    /// Files that must be made.
    pub planned: Vec<Planned>,
}

impl WorkingSet {
    /// Whether the parts of all targets are known to be equally long.
    pub(super) const fn has_equal_parts(&self) -> bool {
        self.size.is_some() || self.targets.len() == 1
    }

    /// Bytes of each target.
    pub(super) fn bytes_per_target(&self) -> u64 {
        self.size
            .unwrap_or(self.space / self.targets.len().max(1) as u64)
    }
}

/// The files of clone `number`.
pub(super) fn working_set(
    spec: &Spec,
    rw: ReadWrite,
    number: u32,
    context: &PlanContext<'_>,
    made: &Files,
) -> Result<WorkingSet, Fault> {
    let paths = paths(spec, number, context)?;
    let count = paths.len() as u64;
    // All files are made before the first job begins.
    let sizes = paths
        .iter()
        .map(|path| (context.size_of)(path).max(made.length(path)));
    let sizes: Vec<Option<u64>> = sizes.collect();
    let existing = total(sizes.iter().copied().flatten());
    let mut offset = offset(spec, number, &sizes)?;
    if spec.options.file_append {
        offset = end_of(spec, offset, common_length(spec, "file_append", &sizes)?)?;
    }
    let room = room_to_fill(&spec.options, &paths, context);
    let in_range = lengths_in_range(spec, number, &paths, &sizes, offset)?;
    let is_cut_short = in_range.is_none();
    let until_full = filled_to_read(spec, rw, count, room)?.map(|length| vec![length; paths.len()]);
    if let Some(lengths) = in_range.or(until_full) {
        let mut planned = planned(&spec.options, rw, &paths, &lengths);
        for file in planned.iter_mut().filter(|_| is_cut_short) {
            file.layout = Layout::WrittenUntilFull;
        }
        return Ok(WorkingSet {
            pass_limit: pass_limit(&spec.options).filter(|_| !is_cut_short),
            space: total(lengths.iter().map(|length| length.saturating_sub(offset))),
            targets: paths,
            offset,
            is_cut_short,
            planned,
            ..WorkingSet::default()
        });
    }
    let size = match filled(spec, rw, room)? {
        Some(size) => Some(size),
        None => size_of_each(spec, &paths, existing, offset)?,
    };
    let Some(size) = size.filter(|size| *size > 0) else {
        return up_to_their_end(spec, rw, paths, &sizes, offset);
    };
    let space = size.saturating_mul(count);
    check_space(spec, space)?;
    let end = end_of(spec, offset, size)?;
    let lengths = vec![end; paths.len()];
    let planned = planned(&spec.options, rw, &paths, &lengths);
    let shortest = sizes.iter().map(|size| size.unwrap_or(0).max(end)).min();
    let longest_part = shortest.map_or(size, |shortest| shortest - offset);
    Ok(WorkingSet {
        pass_limit: pass_limit(&spec.options),
        space,
        shortest,
        holds_no_block: size < least_block(spec, rw)?,
        targets: paths,
        offset,
        size: Some(whole_blocks(spec, rw, size, longest_part)?),
        planned,
        ..WorkingSet::default()
    })
}

/// The bytes that a job moves of a part of `size` bytes: a sequential job of one direction moves its last
/// block whole, if all targets reach so far: each has `longest` bytes behind the part's begin.
fn whole_blocks(spec: &Spec, rw: ReadWrite, size: u64, longest: u64) -> Result<u64, Mistake> {
    let sizes = pattern::block_sizes(spec)?;
    let block = pattern::largest_block(&sizes, rw);
    let is_sequential = !rw.random && rw.gap == 0 && !(rw.reads && rw.writes);
    let has_one_size = pattern::smallest_block(&sizes, rw) == block;
    let is_whole_file = spec.options.zonemode == "none";
    let may_go_on = is_sequential && has_one_size && is_whole_file;
    if !may_go_on || spec.has_share_of_size || size < block {
        return Ok(size);
    }
    let rounded = size.checked_next_multiple_of(block);
    Ok(rounded.filter(|bytes| *bytes <= longest).unwrap_or(size))
}

/// Fails a job whose targets hold less than its smallest block together.
fn check_space(spec: &Spec, space: u64) -> Result<(), Fault> {
    let smallest = pattern::block_sizes(spec)?.smallest().0;
    if space >= smallest || engine::is_diskless(&spec.options) {
        return Ok(());
    }
    let wrong = format!("blocksize is larger than data set range: {space} bytes < {smallest}");
    Err(Fault::one_job(0, spec.mistake("bs", wrong)))
}

/// The smallest block that an operation of the job needs room for; 0 of an engine that moves none.
fn least_block(spec: &Spec, rw: ReadWrite) -> Result<u64, Mistake> {
    let engine = Engine::named(&spec.options.ioengine).unwrap_or(Engine::Null);
    if engine.makes_names() || engine::is_diskless(&spec.options) {
        return Ok(0);
    }
    Ok(pattern::smallest_block(&pattern::block_sizes(spec)?, rw))
}

/// The targets of a job to which nothing gives a size, up to their ends. `sizes`: bytes that each of
/// them has. As in fio, those that hold no block behind the offset are left alone.
fn up_to_their_end(
    spec: &Spec,
    rw: ReadWrite,
    mut paths: Vec<String>,
    sizes: &[Option<u64>],
    offset: u64,
) -> Result<WorkingSet, Fault> {
    let needs_size =
        !engine::is_diskless(&spec.options) && !paths.iter().all(|path| Target::is_model(path));
    if needs_size && total(sizes.iter().copied().flatten()) == 0 {
        let why = Mistake::here(&spec.at, unsized_words(spec, &paths));
        return Err(Fault::invalid(why));
    }
    if needs_size && sizes.iter().flatten().any(|size| *size < offset) {
        let wrong = format!("you need to specify valid offset=: a file ends before {offset}");
        return Err(Fault::one_job(0, spec.mistake("offset", wrong)));
    }
    let parts = sizes
        .iter()
        .map(|size| size.map(|size| size.saturating_sub(offset)));
    let mut parts: Vec<Option<u64>> = parts.collect();
    if needs_size {
        check_space(spec, total(parts.iter().copied().flatten()))?;
    }
    let block = least_block(spec, rw)?;
    let holds_block = |part: &Option<u64>| part.is_none_or(|part| !needs_size || part >= block);
    let holds_no_block = !parts.iter().any(holds_block);
    if !holds_no_block {
        let mut held = parts.iter().map(holds_block);
        paths.retain(|_| held.next().unwrap_or(true));
        parts.retain(holds_block);
    }
    Ok(WorkingSet {
        space: total(parts.into_iter().flatten()),
        targets: paths,
        offset,
        holds_no_block,
        ..WorkingSet::default()
    })
}

/// The sum of all; more than is counted is as much as is counted.
fn total(bytes: impl Iterator<Item = u64>) -> u64 {
    bytes.fold(0, u64::saturating_add)
}

/// The most bytes of a pass over files of a given size, where `size` is given, too.
fn pass_limit(options: &Options) -> Option<u64> {
    match (options.filesize, options.size) {
        (Some(_), Some(Share::Bytes(bytes))) => nonzero(bytes),
        _ => None,
    }
}

/// The lengths of new files whose size is a range: multiples of the smallest block, spread over it.
/// A longer file that exists is used up to the length that its part of the range gives.
fn lengths_in_range(
    spec: &Spec,
    number: u32,
    paths: &[String],
    sizes: &[Option<u64>],
    offset: u64,
) -> Result<Option<Vec<u64>>, Mistake> {
    let options = &spec.options;
    let Some([(low, high), ..]) = options.filesize else {
        return Ok(None);
    };
    let block = pattern::block_sizes(spec)?.smallest().0.max(1);
    let (fewest_blocks, most_blocks) = (low.max(offset + 1).div_ceil(block), high / block);
    let is_shared = matches!(options.size, Some(Share::Percent(_)));
    let is_longer = (sizes.iter().flatten()).any(|size| *size > most_blocks * block);
    let opens_files = Engine::named(&options.ioengine).is_some_and(Engine::opens_files);
    let has_no_files = !opens_files
        || engine::is_diskless(options)
        || paths.iter().any(|path| Target::is_model(path));
    if fewest_blocks >= most_blocks || is_shared || is_longer || has_no_files {
        return Ok(None);
    }
    // Counted from 1: number 0 of the spread would always be the shortest length.
    let first = u64::from(number) * paths.len() as u64 + 1;
    let files = first..first + paths.len() as u64;
    let choices = most_blocks - fewest_blocks + 1;
    let lengths =
        files.map(|file| (fewest_blocks + (evenly_spread(file) * choices as f64) as u64) * block);
    Ok(Some(lengths.collect()))
}

/// Bytes of each file of a job that goes straight on until its file system is full: more than there
/// is room for. `room`: what [`room_to_fill`] gives.
fn filled(spec: &Spec, rw: ReadWrite, room: Option<u64>) -> Result<Option<u64>, Mistake> {
    let is_sized = spec.options.size.is_some() || spec.options.filesize.is_some();
    let is_straight = !rw.random && rw.writes && !rw.reads;
    let Some(room) = room.filter(|_| is_straight && !is_sized) else {
        return Ok(None);
    };
    let block = pattern::block_sizes(spec)?.largest().0.max(1);
    // A block for the remainder of the division, and one more, so that the last write finds no room.
    Ok(Some((room / block + 2).saturating_mul(block)))
}

/// Bytes of each of `count` files of a job that reads a file system which was filled for it, where
/// there is less room than that; `None`: it is another job, or its files fit. `room`: what
/// [`room_to_fill`] gives.
fn filled_to_read(
    spec: &Spec,
    rw: ReadWrite,
    count: u64,
    room: Option<u64>,
) -> Result<Option<u64>, Mistake> {
    let options = &spec.options;
    let is_by_percent = matches!(options.size, Some(Share::Percent(_) | Share::Zones(_)));
    let Some(room) = room.filter(|_| rw.reads && !is_by_percent) else {
        return Ok(None);
    };
    let requested = match (options.filesize, options.size) {
        (Some([(_, most), ..]), _) => most,
        (None, Some(Share::Bytes(bytes))) => bytes / count,
        (None, _) => u64::MAX,
    };
    let block = pattern::block_sizes(spec)?.largest().0.max(1);
    // More than there is room for, so that the file system is full in the end.
    let length = (room / block + 1).saturating_mul(block);
    Ok((requested > room).then_some(length))
}

/// Bytes that each file of a job with `fill_device` has if all the room of their file system is
/// divided among them; `None`: it is another job, they are no files, or the room is not known.
fn room_to_fill(options: &Options, paths: &[String], context: &PlanContext<'_>) -> Option<u64> {
    let first = paths.first()?;
    if !options.fill_device || !paths.iter().all(|path| can_be_made(options, path)) {
        return None;
    }
    let sizes = paths.iter().filter_map(|path| (context.size_of)(path));
    let existing = sizes.fold(0, u64::saturating_add);
    let room = (context.room_at)(first)?;
    Some(room.saturating_add(existing) / paths.len() as u64)
}

/// What is missing where nothing determines how much there is to work on.
fn unsized_words(spec: &Spec, paths: &[String]) -> String {
    let words = format!("{}: you need to specify size=", spec.name);
    match paths.iter().find(|path| path.starts_with("/dev/")) {
        Some(path) => format!("{words}; {path} is not there, or holds nothing"),
        None => words,
    }
}

/// Bytes worked on in each file, where the job sets it. `existing`: those that all files have by now.
fn size_of_each(
    spec: &Spec,
    paths: &[String],
    existing: u64,
    offset: u64,
) -> Result<Option<u64>, Fault> {
    let count = paths.len() as u64;
    if let Some([(low, high), ..]) = spec.options.filesize {
        let length = u64::midpoint(low, high);
        return match spec.options.size {
            Some(Share::Percent(percent)) => {
                let whole = percentage_of(spec, length, percent)?;
                Ok(Some(whole.min(length.saturating_sub(offset))))
            }
            _ if offset >= length => {
                let wrong = format!("a file of {length} bytes ends before offset {offset}");
                Err(Fault::one_job(0, spec.mistake("filesize", wrong)))
            }
            _ => Ok(Some(length - offset)),
        };
    }
    Ok(match spec.options.size {
        // `size` is that of all files together, while a per cent is of each.
        Some(Share::Bytes(bytes)) => Some(bytes / count),
        Some(Share::Percent(percent)) => {
            if percent > 100.0 {
                let wrong = format!("{percent}% is more than there is");
                return Err(Fault::invalid(spec.mistake("size", wrong)));
            }
            let whole = existing / count;
            let part = percentage_of(spec, whole, percent)?;
            if part == 0 && whole > 0 && percent > 0.0 {
                let wrong = format!(
                    "blocksize is larger than data set range: {percent}% of {whole} bytes holds no \
                     whole block"
                );
                return Err(Fault::one_job(0, spec.mistake("size", wrong)));
            }
            Some(part.min(whole.saturating_sub(offset)))
        }
        Some(Share::Zones(_)) | None => None,
    })
}

/// A percentage of `whole` bytes in multiples of the smallest block; 100 per cent are exactly all.
fn percentage_of(spec: &Spec, whole: u64, percent: f64) -> Result<u64, Mistake> {
    if percent == 100.0 {
        return Ok(whole);
    }
    let block = pattern::block_sizes(spec)?.smallest().0.max(1);
    Ok((whole as f64 * percent / 100.0) as u64 / block * block)
}

/// The end of `len` bytes from `offset` on. A file can have no byte beyond the largest offset of the
/// kernel: fio's call that would make the file so long fails there, and only this job with it.
fn end_of(spec: &Spec, offset: u64, len: u64) -> Result<u64, Fault> {
    let end = offset.saturating_add(len);
    if end <= LARGEST_OFFSET {
        return Ok(end);
    }
    let option = ["offset_increment", "offset"]
        .into_iter()
        .find(|option| spec.given.contains_key(*option))
        .unwrap_or("size");
    let wrong =
        format!("the region would end beyond {LARGEST_OFFSET} bytes, the largest offset of a file");
    Err(Fault::invalid(spec.mistake(option, wrong)))
}

/// Where the part of clone `number` begins in files of these sizes. A share of them is rounded up to
/// `offset_align`, or to the smallest block.
fn offset(spec: &Spec, number: u32, sizes: &[Option<u64>]) -> Result<u64, Fault> {
    let options = &spec.options;
    let shares = [options.offset, options.offset_increment];
    if let [Share::Bytes(first), Share::Bytes(step)] = shares {
        return end_of(spec, first, step.saturating_mul(number.into()));
    }
    let size = common_length(spec, "offset", sizes)?;
    let [first, step] = shares.map(|share| share.bytes_of(size));
    let offset = end_of(spec, first, step.saturating_mul(number.into()))?;
    let align = match nonzero(options.offset_align) {
        Some(align) => align,
        None => pattern::block_sizes(spec)?.smallest().0.max(1),
    };
    Ok(offset
        .checked_next_multiple_of(align)
        .unwrap_or(offset)
        .min(LARGEST_OFFSET))
}

/// The length that these files have in common: in files of different lengths the option would give
/// different offsets, and a job has one.
fn common_length(spec: &Spec, option: &str, sizes: &[Option<u64>]) -> Result<u64, Fault> {
    if sizes.windows(2).any(|pair| pair[0] != pair[1]) {
        let wrong = "it is another offset in each of these files, which are not equally long: a \
                     job for each would work";
        return Err(Fault::invalid(spec.mistake(option, wrong)));
    }
    Ok(sizes.first().copied().flatten().unwrap_or(0))
}

/// The files that must be made: all but models and devices.
fn planned(options: &Options, rw: ReadWrite, paths: &[String], lengths: &[u64]) -> Vec<Planned> {
    let engine = Engine::named(&options.ioengine).unwrap_or(Engine::Null);
    let has_content = !engine.makes_names() && !engine.is_of_directories();
    let layout = if engine.makes_names() {
        Layout::Name
    } else if engine.is_of_directories() {
        Layout::Directory
    } else if rw.reads || options.overwrite {
        Layout::Written
    } else if options.fill_device {
        Layout::Filled
    } else if options.fallocate == "none" && engine.keeps_data() {
        Layout::Grown
    } else if options.fallocate == "none" {
        Layout::Length
    } else {
        Layout::Space
    };
    let files = paths
        .iter()
        .zip(lengths)
        .filter(|(path, _)| can_be_made(options, path));
    let planned = files.map(|(path, length)| Planned {
        path: path.clone(),
        length: Bytes(if has_content { *length } else { 0 }),
        layout,
        is_opened: engine.opens_files(),
        unlink: options.unlink,
        is_appended: options.file_append,
        cut_to: None,
    });
    planned.collect()
}

/// Whether a file is made at this path if there is none.
pub(super) fn can_be_made(options: &Options, path: &str) -> bool {
    let in_memory = path.starts_with("/dev/shm/");
    let is_file = !Target::is_model(path) && (in_memory || !path.starts_with("/dev/"));
    is_file && options.ioengine != "null" && !engine::is_diskless(options)
}

/// The targets of clone `number`: those that are named, else one called after its section, else files
/// with generated names.
fn paths(spec: &Spec, number: u32, context: &PlanContext<'_>) -> Result<Vec<String>, Fault> {
    let options = &spec.options;
    let mut paths = Vec::new();
    let is_sized = options.size.is_some() || options.filesize.is_some();
    for directory in &options.opendir {
        let found = (context.files_below)(directory).into_iter();
        // An empty file holds nothing to work on, unless the job makes it longer.
        paths.extend(found.filter(|path| is_sized || (context.size_of)(path) != Some(0)));
    }
    paths.extend_from_slice(&options.filename);
    if let (true, Some(directory)) = (paths.is_empty(), options.opendir.first()) {
        let wrong = format!("there are no files below {directory} that hold anything");
        return Err(Fault::invalid(spec.mistake("opendir", wrong)));
    }
    if paths.is_empty() && is_named_by_its_section(spec, context) {
        paths.push(spec.section.clone());
    }
    if paths.is_empty() {
        let directory = directory(options, number);
        let names = generated(spec, number, context.client).into_iter();
        paths.extend(names.map(|name| within(directory.as_deref(), name)));
    }
    Ok(paths)
}

/// Whether a job without names works on the device that its section is called after, as `[/dev/sda]`.
fn is_named_by_its_section(spec: &Spec, context: &PlanContext<'_>) -> bool {
    let options = &spec.options;
    options.nrfiles <= 1
        && options.directory.is_none()
        && options.read_iolog.is_none()
        && (context.is_device)(&spec.section)
}

/// What `filename` names: in the first of the directories that are given before it, for all clones.
pub(super) fn named(texts: &[String], before: &Options) -> Vec<String> {
    let directory = directory(before, 0);
    let names = texts.iter().flat_map(|text| split(text));
    names
        .map(|name| within(directory.as_deref(), name))
        .collect()
}

fn within(directory: Option<&str>, name: String) -> String {
    match directory {
        _ if Target::is_model(&name) => name,
        // As in fio, a name that begins with a slash is below the directory, too.
        Some(directory) => format!("{directory}/{}", name.trim_start_matches('/')),
        // A plan calls no device at all `null`; here it is the name of a file.
        _ if !Target::is_path(&name) => format!("./{name}"),
        _ => name,
    }
}

/// What `directory` names.
pub(super) fn directories(options: &Options) -> Vec<String> {
    options.directory.as_deref().map(split).unwrap_or_default()
}

/// The directory of clone `number`: several are given out in turn.
fn directory(options: &Options, number: u32) -> Option<String> {
    let list = directories(options);
    let index = number as usize % list.len().max(1);
    let directory = list.into_iter().nth(index)?;
    Some(directory.trim_end_matches('/').to_owned()).filter(|directory| !directory.is_empty())
}

/// The generated names of a clone's files. Several clients have names of their own, as they may
/// share a file system.
fn generated(spec: &Spec, number: u32, client: Option<&str>) -> Vec<String> {
    let options = &spec.options;
    let mut format = options
        .filename_format
        .replace("$clientuid", client.unwrap_or_default())
        .replace("$jobname", &spec.section)
        .replace("$jobnum", &number.to_string());
    if let Some(client) = client.filter(|_| options.unique_filename) {
        format = format!("{client}.{format}");
    }
    (0..options.nrfiles.max(1))
        .map(|file| format.replace("$filenum", &file.to_string()))
        .collect()
}

/// At `:`, where it is not escaped. A model's address is one name to its end.
fn split(text: &str) -> Vec<String> {
    if Target::is_model(text) {
        return vec![text.replace("\\:", ":")];
    }
    let mut names = vec![String::new()];
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let Some(name) = names.last_mut() else { break };
        match letter {
            '\\' if letters.peek() == Some(&':') => name.extend(letters.next()),
            ':' => names.push(String::new()),
            other => name.push(other),
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CloneFacts;
    use crate::tests::planned;

    /// The story: a job that reads with `fill_device` was refused, without a `size` as one that names
    /// none, with a size that does not fit because its file could not be laid out. fio fills the file
    /// system and reads what it has written.
    #[test]
    fn a_file_system_is_filled_before_it_is_read() {
        for (options, more) in [
            ("rw=read fill_device=1", ""),
            ("rw=randread fill_device=1", " size=20m"),
            ("rw=rw fill_device=1", " filesize=20m"),
            ("rw=randrw fill_fs=1", ""),
        ] {
            let text = format!("[a]\n{}\n", format!("{options}{more}").replace(' ', "\n"));
            let prepared = planned(&text).unwrap_or_else(|mistake| panic!("{text}\n{mistake}"));
            let [file] = &prepared.files[..] else {
                panic!("{text}: one file")
            };
            assert_eq!(file.layout, Layout::WrittenUntilFull, "{text}");
            assert!(file.length > Bytes(1 << 20), "more than there is room for");
            let job = &prepared.plan.cases[0].workload.jobs[0];
            assert_eq!((job.region.size, job.stop.loops), (None, Some(1)), "{text}");
        }
        let fits = planned("[a]\nrw=read\nfill_device=1\nsize=64k\n").expect("it fits");
        assert_eq!(fits.files[0].layout, Layout::Written);
        assert_eq!(fits.files[0].length, Bytes(64 << 10));
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(split(text), expected, "{text}");
    }

    /// The end of the third clone's region wrapped around, and the clone began on a part that it was not
    /// given (with overflow checks, the plan panicked).
    #[test]
    fn a_region_beyond_the_largest_offset_fails_its_clone_alone() {
        for options in [
            "numjobs=3\noffset_increment=8000p",
            "numjobs=3\noffset_increment=8000p\nioengine=null",
            "numjobs=3\noffset=1000p\noffset_increment=7100p\nfilesize=1m-1g",
        ] {
            let text = format!("[a]\nfilename=x\nsize=1m\n{options}\n");
            let unfit = planned(&text).expect("a plan").unfit;
            let why = unfit.last().map(ToString::to_string).unwrap_or_default();
            assert!(why.contains("offset_increment: the region would"), "{why}");
        }
        let text = "[a]\nfilename=x\nsize=8000p\noffset=8000p\n";
        let unfit = planned(text).expect("a plan").unfit;
        assert!(unfit[0].to_string().contains("offset: the region would"));
    }

    #[test]
    fn names_are_split_at_colons() {
        check("a:b", &["a", "b"]);
        check(r"a\:b:c", &["a:b", "c"]);
        check("sim:gp3:1TiB@r5d.xlarge", &["sim:gp3:1TiB@r5d.xlarge"]);
        check(r"sim\:gp3\:1TiB:b", &["sim:gp3:1TiB", "b"]);
        check(":a::", &["a"]);
    }

    /// One per cent of a file of 100 KiB is no block: the whole file was read, where fio fails. A size in
    /// bytes below a block failed alone, after its file was made; fio then runs no job at all. And a job
    /// behind the end of its file refused them all: it would never end, and a larger size was proposed.
    #[test]
    fn a_size_holds_a_block() {
        for part in [
            "size=0.0001%",
            "offset=1g",
            "offset=100%",
            "offset=1073741000",
        ] {
            let text = format!("[a]\nfilename=/dev/there\n{part}\n");
            let unfit = planned(&text).expect("the others run").unfit;
            let words = unfit[0].to_string();
            assert!(words.contains("blocksize is larger"), "{part}: {words}");
        }
        let small = "[a]\nsize=4095\n[b]\nsize=1m\n";
        let mistake = planned(small).map(|_| ()).unwrap_err().to_string();
        assert!(mistake.contains("4095 < 4096"), "{mistake}");
        assert!(planned("[a]\nsize=4095\nbs=8k,1k\n").is_ok());
    }

    /// A job of several files, each shorter than a block, failed, and so did one that names such a
    /// file besides others. fio leaves these files alone, and ends without an error where there are
    /// no others; of less than a block in all of them it complains before it makes any.
    #[test]
    fn files_without_room_for_a_block_are_left_alone() {
        // With several sizes, a pass of no bytes was one that never ends, which refused the other job.
        for sizes in [
            "bs=64k",
            "bssplit=64k/50:128k/50",
            "bsrange=64k-128k\nrw=randread",
        ] {
            let text = format!("[a]\nsize=65k\n{sizes}\nnrfiles=2\n[b]\nsize=1m\n");
            let prepared = planned(&text).expect("both have files");
            let ran: Vec<bool> = prepared.clones.iter().map(CloneFacts::is_run).collect();
            assert_eq!(ran, [false, true]);
            assert_eq!(prepared.failed().count(), 0);
            assert_eq!(prepared.files.len(), 3);
            let remark = "a: each of its files is shorter than a block, so nothing is moved";
            assert_eq!(prepared.remarks, [remark]);
        }

        let zones = "[a]\nsize=256k\nbs=64k\nnrfiles=7\nzonemode=strided\nzonesize=64k\n";
        let zones = planned(zones).expect("no window is larger than its file");
        assert!(!zones.clones[0].is_run());

        let small = planned("[a]\nfilesize=20k\nbs=64k\nnrfiles=3\n").expect("a plan");
        let why = small.unfit[0].to_string();
        assert!(why.contains("data set range: 61440 bytes < 65536"), "{why}");
        assert!(small.files.is_empty());

        let named = planned("[a]\nfilename=/full/empty:/dev/there\n").expect("a plan");
        let job = &named.plan.cases[0].workload.jobs[0];
        assert_eq!(job.targets, ["/dev/there"]);
        assert_eq!(job.stop.bytes, Some(Bytes(1 << 30)));
    }

    /// An empty file below the directory refused the run, and a directory without files a job that
    /// names others besides, or all other jobs; fio goes on with what there is.
    #[test]
    fn an_opened_directory_adds_the_files_that_hold_something() {
        #[track_caller]
        fn check(options: &str, targets: &[&str]) {
            let prepared = planned(&format!("[a]\n{options}\n")).expect(options);
            assert_eq!(prepared.plan.cases[0].workload.jobs[0].targets, targets);
        }
        check("opendir=/full", &["/dev/there"]);
        check("opendir=/full\nsize=8k", &["/dev/there", "/full/empty"]);
        check("opendir=/none\nfilename=/dev/there", &["/dev/there"]);
        let others = planned("[a]\nopendir=/none\n[b]\nfilename=/dev/there\n").expect("b runs");
        let none = others.unfit[0].to_string();
        assert!(none.contains("no files below /none"), "{none}");
    }
}
