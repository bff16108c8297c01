//! In: the names of a plan's targets. Out: the targets, checked, permitted by the guard, and created
//! if needed.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::{fs, io};

use blocklab_catalog::Catalog;
use blocklab_driver::{Backing, Reopen, TargetFile};
use blocklab_host::guard::Refusal;
use blocklab_host::{FactsByMount, Handle, NewPath, facts_of, target_facts};
use blocklab_record::{BlockDevice, Note, Origin, TargetFacts, TargetKind};
use blocklab_units::Bytes;
use blocklab_workload::{Address, Target};
use blocklab_workload::{Job, Plan, Spread};

use crate::Error;
use crate::models::{self, Counted, Models};
use crate::opened_target::{Missing, OpenedTarget, TargetContext};
use crate::scratch::Scratch;
use crate::target_forecast::TargetForecast;

/// What all jobs of a plan together need of one target.
#[derive(Debug, Clone, Copy, Default)]
struct Needs {
    reads: bool,
    writes: bool,
    /// Jobs create, look up or remove its name, which must be that of a file.
    of_names: bool,
    /// Jobs create, look up or remove its name, which must be that of a directory.
    of_directories: bool,
    /// Jobs create its name.
    makes: bool,
    /// Jobs open the file.
    opens: bool,
    /// Bytes that a file must have that is created for it.
    size: Bytes,
}

/// All targets of a plan, by their names.
#[derive(Debug, Default)]
pub(crate) struct OpenedTargets {
    targets: HashMap<String, OpenedTarget>,
    order: Vec<String>,
    /// Notes on settings that were approximated.
    pub(crate) notes: Vec<Note>,
}

/// Size of a scratch file if neither the user nor a job gives one: CrystalDiskMark's.
pub(crate) const DEFAULT_SIZE: Bytes = Bytes::GIB;
/// A multiple of the blocks that operations with O_DIRECT need on any disk.
const DIRECT_BLOCK: u64 = 4096;

impl OpenedTargets {
    /// Checks every target first, and creates files only when all checks pass. `None` if a signal
    /// interrupts the creation of a file.
    pub(crate) fn prepare(
        plan: &Plan,
        context: &TargetContext<'_>,
        progress: &mut dyn FnMut(&Path, Bytes, Bytes),
    ) -> Result<Option<Self>, Error> {
        let (targets, notes) = look_up_all(plan, context)?;
        let mut opened_targets = Self {
            notes,
            ..Self::default()
        };
        for LookedUp { text, needs, kind } in targets {
            let Some(target) = kind.open(needs, context, progress)? else {
                return Ok(None);
            };
            opened_targets.order.push(text.clone());
            opened_targets.targets.insert(text, target);
        }
        Ok(Some(opened_targets))
    }

    /// Makes the same checks and returns what would be opened or created; creates nothing.
    pub(crate) fn foresee(
        plan: &Plan,
        context: &TargetContext<'_>,
    ) -> Result<Vec<TargetForecast>, Error> {
        let (targets, _) = look_up_all(plan, context)?;
        targets
            .into_iter()
            .map(|target| target.kind.foresee(target.needs))
            .collect()
    }

    /// The files of a job.
    pub(crate) fn files(&self, job: &Job, default: &[String]) -> Vec<TargetFile> {
        let texts = texts(job, default);
        let files = texts.iter().filter_map(|text| self.targets.get(text));
        files.map(|target| target.file.clone()).collect()
    }

    /// Facts of all targets, in the order in which the plan names them. `typed`: those that the user named.
    pub(crate) fn facts(&self, typed: &[String]) -> Vec<TargetFacts> {
        // A plan may name many thousands of targets.
        let typed: HashSet<&String> = typed.iter().collect();
        let targets = self.order.iter().filter_map(|text| {
            Some(TargetFacts {
                address: typed.contains(text).then(|| text.clone()),
                ..self.targets.get(text)?.facts.clone()
            })
        });
        targets.collect()
    }

    /// Whether the figures are measured, emulated or simulated. Simulated targets are in virtual
    /// time, so one of them makes the whole run simulated.
    pub(crate) fn origin(&self) -> Origin {
        let mut origin = Origin::Measured;
        for target in self.targets.values() {
            match target.file.backing {
                Backing::Simulated(_) => return Origin::Simulated,
                Backing::Emulated(_) => origin = Origin::Emulated,
                _ => {}
            }
        }
        origin
    }

    /// What the devices of modelled targets have counted so far.
    pub(crate) fn counted(&self) -> Vec<Counted> {
        let targets = self.order.iter().enumerate();
        let counted = targets.map(|(place, text)| Counted::read(place, self.targets.get(text)?));
        counted.flatten().collect()
    }

    /// The block devices below the targets.
    pub(crate) fn devices(&self) -> DeviceNames {
        let targets = self.targets.values();
        let parts = targets.map(|target| split_at_loop_file(&target.facts.devices));
        let (below, backing): (Vec<_>, Vec<_>) = parts.unzip();
        DeviceNames {
            own: names(below.concat()),
            behind_loops: names(backing.concat()),
        }
    }
}

/// Names of block devices below targets.
pub(crate) struct DeviceNames {
    pub(crate) own: Vec<String>,
    /// Those below the file of a loop device. They are counted separately, because everything else on
    /// this machine uses them, too.
    pub(crate) behind_loops: Vec<String>,
}

/// Splits the devices below a target into those that only this target uses, and those below the file
/// of a loop device. Devices are listed from the top down, so loop devices come first.
fn split_at_loop_file(devices: &[BlockDevice]) -> (&[BlockDevice], &[BlockDevice]) {
    let loops = devices
        .iter()
        .take_while(|device| device.transport == "loop")
        .count();
    match loops {
        0 => (devices, &[]),
        loops => devices.split_at(loops),
    }
}

fn names(devices: Vec<BlockDevice>) -> Vec<String> {
    let names: BTreeSet<String> = devices.into_iter().map(|device| device.name).collect();
    names.into_iter().collect()
}

/// Whether the job runs on the null target.
pub(crate) fn is_null(job: &Job, default: &[String]) -> bool {
    texts(job, default)
        .iter()
        .any(|text| Target::parse(text) == Ok(Target::Null))
}

/// The names of a job's targets: its own, or those of the request.
fn texts<'a>(job: &'a Job, default: &'a [String]) -> &'a [String] {
    if job.targets.is_empty() {
        default
    } else {
        &job.targets
    }
}

/// All targets of a plan in the order in which it names them, each once, with what its jobs need.
fn needs_by_target(plan: &Plan, default: &[String]) -> Vec<(String, Needs)> {
    let mut needs_by_target: Vec<(String, Needs)> = Vec::new();
    let mut index: HashMap<&str, usize> = HashMap::new();
    for job in plan.jobs() {
        for text in texts(job, default) {
            let at = *index.entry(text).or_insert_with(|| {
                needs_by_target.push((text.clone(), Needs::default()));
                needs_by_target.len() - 1
            });
            let needs = &mut needs_by_target[at].1;
            needs.reads |= job.reads() && job.engine.needs_target();
            needs.writes |= job.changes() && job.engine.needs_target();
            needs.of_directories |= job.engine.is_of_directories();
            needs.of_names |= job.engine.is_of_names();
            needs.makes |= job.engine.makes_names();
            needs.opens |= job.engine.opens_files();
            needs.size = needs.size.max(extent(job));
        }
    }
    needs_by_target
}

/// The end of a job's region in its target, in blocks of [`DIRECT_BLOCK`].
fn extent(job: &Job) -> Bytes {
    let end = last_end(job, job.region.size.unwrap_or(DEFAULT_SIZE)).0;
    Bytes(end.checked_next_multiple_of(DIRECT_BLOCK).unwrap_or(end))
}

/// Where the region of this size ends in its target, or that of the last thread if each has one.
fn last_end(job: &Job, size: Bytes) -> Bytes {
    let region = job.region;
    let further = match region.spread {
        // Each thread begins one step behind the one before it.
        Spread::Increment(step) => step.0.saturating_mul((job.threads - 1).into()),
        _ => 0,
    };
    // A size that cannot be counted is larger than every target, and is refused as that.
    let end = region.offset.0.saturating_add(size.0);
    Bytes(end.saturating_add(further))
}

/// The keys of a job whose region of this size ends beyond a target of `has`: with smaller values of them
/// it would fit.
fn to_reduce(job: &Job, size: Bytes, has: Bytes) -> &'static str {
    let offset = job.region.offset.0;
    // Where the region of the last thread begins, and how far that is from the first one's.
    let begin = last_end(job, Bytes::ZERO).0;
    let further = begin - offset;
    if begin < has.0 {
        "size"
    } else if further.saturating_add(size.0) <= has.0 {
        "offset"
    } else if offset.saturating_add(size.0) <= has.0 {
        "offset_increment"
    } else if further == 0 {
        "offset and size"
    } else {
        "offset, offset_increment and size"
    }
}

/// Looks up every target of a plan, before anything is created.
fn look_up_all(
    plan: &Plan,
    context: &TargetContext<'_>,
) -> Result<(Vec<LookedUp>, Vec<Note>), Error> {
    let mut known = FactsByMount::default();
    let needed = needs_by_target(plan, context.targets);
    let texts = needed.iter().map(|(text, _)| &**text);
    let mut models = Models::new(texts, context.catalog, context.seed);
    let mut found = Vec::new();
    for (text, needs) in needed {
        // A plan may name many thousands of targets.
        if context.interrupted.load(Relaxed) {
            return Err(Error::Interrupted);
        }
        let kind = Kind::look_up(&text, needs, context, &mut known, &mut models)?;
        found.push(LookedUp { text, needs, kind });
    }
    check_regions(plan, context, &found)?;
    let mut notes = models.notes;
    notes.extend(models::named_twice(plan, context.targets));
    Ok((found, notes))
}

/// Refuses a region that ends beyond its target before anything runs. Plans of fio are not checked,
/// because fio fails such a job and runs the others.
fn check_regions(
    plan: &Plan,
    context: &TargetContext<'_>,
    found: &[LookedUp],
) -> Result<(), Error> {
    // Only fio's plans have this setting.
    if context.missing == Missing::ScratchOrName {
        return Ok(());
    }
    // A plan may have a thousand jobs on a thousand targets each.
    let found: HashMap<&str, &Kind> = found
        .iter()
        .map(|known| (&*known.text, &known.kind))
        .collect();
    for job in plan.jobs().filter(|job| job.engine.needs_target()) {
        for text in texts(job, context.targets) {
            // A file that is still to be created gets the size that the jobs need.
            let Some(Kind::Ready(target)) = found.get(&**text) else {
                continue;
            };
            // The size of a device without an end, such as /dev/zero, is what the job requests.
            check_region(job, text, Bytes(target.file.size))?;
        }
    }
    Ok(())
}

/// Refuses the region of a job that ends, or only begins, beyond a target of `has`.
fn check_region(job: &Job, target: &str, has: Bytes) -> Result<(), Error> {
    let begin = last_end(job, Bytes::ZERO);
    let (extent, to_reduce) = match job.region.size {
        Some(size) if last_end(job, size) > has => {
            let extent = format!("reaches to {}", last_end(job, size));
            (extent, to_reduce(job, size, has))
        }
        // Without a size, it reaches to the end of its target.
        None if begin > Bytes::ZERO && begin >= has => {
            let to_reduce = if begin.0 - job.region.offset.0 < has.0 {
                "offset"
            } else if job.region.offset < has {
                "offset_increment"
            } else {
                "offset and offset_increment"
            };
            (format!("begins at {begin}"), to_reduce)
        }
        _ => return Ok(()),
    };
    Err(Error::BeyondEnd {
        target: target.to_owned(),
        has,
        job: job.name.clone(),
        extent,
        to_reduce,
    })
}

/// A target before it is opened.
struct LookedUp {
    /// Its name in the plan.
    text: String,
    /// What the jobs need of it.
    needs: Needs,
    kind: Kind,
}

/// What a target is.
enum Kind {
    Ready(Box<OpenedTarget>),
    /// A file to create in a directory, and its path.
    ToMake(Handle, PathBuf),
}

impl Kind {
    /// What a target is by its name: null, a model, or what is at a path. `known`: facts of mounts
    /// that were read before; `models`: the devices that were opened before.
    fn look_up(
        text: &str,
        needs: Needs,
        context: &TargetContext<'_>,
        known: &mut FactsByMount,
        models: &mut Models,
    ) -> Result<Self, Error> {
        if Target::parse(text) == Ok(Target::Null) {
            return Ok(Self::ready(null_target(needs)));
        }
        if let Some(model) = models.open(text, context.catalog)? {
            return Ok(Self::ready(model));
        }
        Self::at_path(PathBuf::from(text), needs, context, known)
    }

    /// What is at a path: a file, a device, a directory, or nothing yet.
    fn at_path(
        path: PathBuf,
        needs: Needs,
        context: &TargetContext<'_>,
        known: &mut FactsByMount,
    ) -> Result<Self, Error> {
        // A shortcut: most of the names that jobs create do not exist yet.
        let is_name = context.missing == Missing::ScratchOrName && needs.makes && !needs.opens;
        if is_name && is_free(&path) {
            let new = context.guard.free_path(&path);
            return to_make(path, new, needs, context);
        }
        // Targets that are only names are not held open: there may be more of them than descriptors.
        let opened = match (needs.opens, needs.of_directories) {
            (true, _) => context.guard.open(&path),
            (false, true) => Handle::open_directory(&path),
            (false, false) => Handle::open(&path),
        };
        let handle = match opened {
            Ok(handle) => handle,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let new = context.guard.new_path(&path);
                return to_make(path, new, needs, context);
            }
            Err(error) => return Err(unusable(&path, error)),
        };
        let kind = handle.kind();
        if needs.of_names && !kind.is_file() && !(needs.of_directories && kind.is_dir()) {
            let message = "engines that create, look up or remove names support only files";
            return Err(unusable(&path, invalid_input(message)));
        }
        if kind.is_dir() && !needs.of_directories {
            context.guard.may_write(&handle)?;
            let path = handle.path().join("blocklab.scratch");
            return Ok(Self::ToMake(handle, path));
        }
        if let Some(why) = what_is_missing(&handle, needs, context) {
            return Err(unusable(&path, invalid_input(&why)));
        }
        if needs.writes {
            context.guard.may_write(&handle)?;
        }
        let facts = known
            .facts_of(&handle)
            .map_err(|cause| unusable(&path, cause))?;
        let is_empty = facts.kind == TargetKind::File && facts.size_bytes == Bytes::ZERO;
        if is_empty && !needs.of_names {
            return Err(Error::Empty(path));
        }
        let reopen = if !needs.opens {
            Reopen::Name
        } else if context.guard.holds(&path) {
            // The guard holds as many files as there are descriptors to spare.
            Reopen::Held(handle.file())
        } else {
            Reopen::Identity {
                id: handle.identity(),
                born: handle.born(),
            }
        };
        Ok(Self::ready(existing_target(path, facts, needs, reopen)))
    }

    fn ready(target: OpenedTarget) -> Self {
        Self::Ready(Box::new(target))
    }

    /// The target, which is created now if it is a file to make; `None` if a signal interrupts
    /// that.
    fn open(
        self,
        needs: Needs,
        context: &TargetContext<'_>,
        progress: &mut dyn FnMut(&Path, Bytes, Bytes),
    ) -> Result<Option<OpenedTarget>, Error> {
        match self {
            Self::Ready(target) => Ok(Some(*target)),
            Self::ToMake(directory, path) => make(&directory, &path, needs, context, progress),
        }
    }

    fn foresee(self, needs: Needs) -> Result<TargetForecast, Error> {
        match self {
            Self::Ready(target) => {
                let model = match &target.file.backing {
                    Backing::Simulated(model) | Backing::Emulated(model) => {
                        Some(model.lock().device.spec().clone())
                    }
                    _ => None,
                };
                Ok(TargetForecast::new(target.facts, model, needs.writes))
            }
            Self::ToMake(directory, path) => {
                let facts = room_for(&directory, &path, needs.size)?;
                Ok(TargetForecast::made(facts, &path, needs.size))
            }
        }
    }
}

/// Whether there is nothing at a path, not even a dangling link.
fn is_free(path: &Path) -> bool {
    let found = fs::symlink_metadata(path);
    found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Why a load cannot run on what was opened: it has no offsets, or nothing to read.
fn what_is_missing(handle: &Handle, needs: Needs, context: &TargetContext<'_>) -> Option<String> {
    // A positioned read or write of a pipe fails with ESPIPE, and a read of a terminal waits for a key.
    if let Some(what) = handle.stream() {
        let words = format!("it is {what}; a directory, a file or a block device would work");
        return Some(words);
    }
    // Only plans of fio have this setting. Fio runs such a job, and fails it.
    let is_fio = context.missing == Missing::ScratchOrName;
    let has_nothing = needs.reads && handle.is_dev_null() && !is_fio;
    has_nothing.then(|| {
        "it has nothing to read; /dev/zero has, and the target `null` measures blocklab itself"
            .to_owned()
    })
}

/// What is done about a path where nothing is: create a file, leave it to the jobs, or refuse the run.
/// `new`: whether the guard allows a file there, and in which directory.
fn to_make(
    path: PathBuf,
    new: Result<NewPath, Refusal>,
    needs: Needs,
    context: &TargetContext<'_>,
) -> Result<Kind, Error> {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    // Checked even if no file may be created, so that a mistyped device is reported as one.
    let new = match new {
        Err(_) if !parent.is_dir() => return Err(missing(path, &parent, context.catalog)),
        new => new?,
    };
    match context.missing {
        Missing::ScratchOrName if needs.makes && !needs.opens => {
            Ok(Kind::ready(name_target(path, needs)))
        }
        Missing::Scratch | Missing::ScratchOrName => {
            Ok(Kind::ToMake(new.directory().clone(), path))
        }
        Missing::Refused => Err(missing(path, &parent, context.catalog)),
    }
}

/// The error for a target that does not exist. The usual reason is a missing mount, so it names the
/// nearest existing directory and its file system. Another reason is an address without `sim:`.
fn missing(path: PathBuf, parent: &Path, catalog: &Catalog) -> Error {
    if is_sold(&path, catalog) {
        let text = path.display().to_string();
        let message = format!(
            "this is the address of a volume, not a path: sim:{text} simulates the volume, \
             emu:{text} paces it in real time"
        );
        return Error::Address { text, message };
    }
    let nearest = parent
        .ancestors()
        .find(|directory| directory.is_dir())
        .unwrap_or(Path::new("."));
    let remedy = if nearest == parent {
        format!(
            "To measure {} with a file that is made there and removed after the run, add --create",
            nearest.display()
        )
    } else {
        format!(
            "To measure {}: `--target {}` (--create makes files, not directories).",
            nearest.display(),
            blocklab_units::shell_word(&nearest.display().to_string())
        )
    };
    let facts = target_facts(nearest).ok();
    let file_system = facts.and_then(|facts| facts.file_system);
    Error::Missing {
        nearest: nearest.to_owned(),
        file_system: file_system.map(|file_system| {
            format!(
                "{} mounted on {}",
                file_system.kind, file_system.mount_point
            )
        }),
        remedy,
        path,
    }
}

/// Whether the path reads as an address of a volume that the catalog knows.
fn is_sold(path: &Path, catalog: &Catalog) -> bool {
    let address = path.to_str().and_then(|text| text.parse().ok());
    matches!(address, Some(Address::Sold(offer)) if catalog.volume_types().contains(&offer.volume))
}

/// The null target, as large as the jobs need it.
fn null_target(needs: Needs) -> OpenedTarget {
    let facts = TargetFacts {
        path: Target::Null.to_string(),
        kind: TargetKind::Null,
        size_bytes: needs.size,
        ..TargetFacts::default()
    };
    let file = TargetFile::file(Target::Null.to_string().into(), needs.size.0, true);
    OpenedTarget::new(file, facts)
}

/// A target at a path where something is.
fn existing_target(
    path: PathBuf,
    facts: TargetFacts,
    needs: Needs,
    reopen: Reopen,
) -> OpenedTarget {
    let size = match facts.kind {
        // A character device has no size.
        TargetKind::CharDevice => needs.size,
        // Engines that only use names touch no content, so it may be of any length.
        _ if needs.of_names => needs.size.max(facts.size_bytes),
        _ => facts.size_bytes,
    };
    let file = TargetFile {
        reopen,
        ..TargetFile::file(path, size.0, needs.writes)
    };
    OpenedTarget::new(file, facts)
}

/// A name that the jobs create themselves; nothing is there yet.
fn name_target(path: PathBuf, needs: Needs) -> OpenedTarget {
    let facts = TargetFacts {
        path: path.display().to_string(),
        kind: TargetKind::File,
        ..TargetFacts::default()
    };
    OpenedTarget::new(TargetFile::file(path, needs.size.0, true), facts)
}

/// Creates a scratch file and lays it out; `None` if a signal interrupts that.
fn make(
    directory: &Handle,
    path: &Path,
    needs: Needs,
    context: &TargetContext<'_>,
    progress: &mut dyn FnMut(&Path, Bytes, Bytes),
) -> Result<Option<OpenedTarget>, Error> {
    let mut facts = room_for(directory, path, needs.size)?;
    progress(path, Bytes::ZERO, needs.size);
    let made = Scratch::make(
        directory,
        path,
        needs.size,
        context.seed,
        context.interrupted,
        |done| progress(path, done, needs.size),
    )?;
    let Some(scratch) = made else { return Ok(None) };
    let own = facts_of(scratch.handle()).map_err(|cause| unusable(directory.path(), cause))?;
    // Most facts are those of the directory: the file has no path by which its mount could be found.
    // Only the file itself reports its alignment for direct I/O.
    facts.path = path.display().to_string();
    facts.kind = TargetKind::Scratch;
    facts.size_bytes = needs.size;
    facts.direct_memory_align = own.direct_memory_align;
    facts.direct_offset_align = own.direct_offset_align;
    let file = TargetFile {
        reopen: Reopen::Held(scratch.file()),
        ..TargetFile::file(path.to_owned(), needs.size.0, true)
    };
    Ok(Some(OpenedTarget {
        scratch: Some(scratch),
        ..OpenedTarget::new(file, facts)
    }))
}

fn unusable(path: &Path, cause: io::Error) -> Error {
    Error::Unusable {
        path: path.display().to_string(),
        cause,
    }
}

fn invalid_input(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message.to_owned())
}

/// The facts of a directory, if a file of this size fits there.
fn room_for(directory: &Handle, path: &Path, size: Bytes) -> Result<TargetFacts, Error> {
    let facts = facts_of(directory).map_err(|cause| unusable(directory.path(), cause))?;
    check_space(path, size, &facts)?;
    Ok(facts)
}

/// Refuses a file that is larger than the free space, and suggests a size that fits.
fn check_space(path: &Path, wanted: Bytes, facts: &TargetFacts) -> Result<(), Error> {
    let Some(file_system) = &facts.file_system else {
        return Ok(());
    };
    let free = file_system.free_bytes;
    // A file system without a size does not report its free space either: creating the file shows
    // whether it fits.
    if wanted <= free || file_system.size_bytes == Bytes::ZERO {
        return Ok(());
    }
    // Half of the free space, in whole MiB: a nearly full file system is slower than usual.
    let remedy = match (free.0 / 2) >> 20 {
        0 => "free some space there, or name another directory".to_owned(),
        mib => format!("a smaller one fits, such as one of {mib} MiB (`run --size {mib}MiB`)"),
    };
    Err(Error::NoSpace {
        path: path.to_owned(),
        wanted,
        free,
        remedy,
    })
}

#[cfg(test)]
#[path = "opened_targets_tests.rs"]
mod tests;
