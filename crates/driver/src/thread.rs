//! What one thread does: gears up, waits at the gate, drives its worker, says how it ended.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use blocklab_record::{Note, NoteLevel, Stopped};
use blocklab_units::Nanos;
use blocklab_workload::{CallFlags, ContentMaker, Direction, Engine, Job, Priority, Seal};

use super::TargetFile;
use super::credentials;
use super::drop_cache::DropCache;
use super::entry::{Entry, emulated};
use super::gate::{Gate, Order};
use super::real::{BufferFiller, DataCheck, Grouping, Keys, drive};
use super::usage::ThreadUsage;
use crate::Error;
use crate::journal::{Journalled, OpenJournal};
use blocklab_targets::Buffers;
use blocklab_targets::Clock;
use blocklab_targets::{
    Call, Inline, LibaioTarget, MmapCall, ModelTarget, NameCall, NamesCall, NullCall, OpenFile,
    PosixTarget, SpaceCall, SpliceCall, SyncCall, Target, UringTarget, open,
};
use blocklab_worker::PoolJobParts;
use blocklab_worker::Stopper;
use blocklab_worker::{Driven, Load};
use blocklab_worker::{Failure, Recorder};
use blocklab_worker::{Parts, Shared};

/// As preadv2 wants them.
fn bits(flags: CallFlags) -> libc::c_int {
    /// From Linux 6.14 on.
    const RWF_DONTCACHE: libc::c_int = 0x80;
    let asked = [
        (flags.hipri, libc::RWF_HIPRI),
        (flags.nowait, libc::RWF_NOWAIT),
        (flags.uncached, RWF_DONTCACHE),
    ];
    let bits = asked.iter().filter(|(asked, _)| *asked);
    bits.fold(0, |all, (_, bit)| all | bit)
}

/// What a thread tells before the gate: whether something was done differently, or why it cannot.
pub(super) type Ready = Result<Option<Note>, Error>;

/// What one thread is to do.
pub(super) struct ThreadSpec {
    pub(super) number: usize,
    pub(super) thread: u32,
    pub(super) job: Job,
    pub(super) seed: u64,
    pub(super) files: Vec<TargetFile>,
    pub(super) entry: Entry,
    /// Of an emulated device: how long to watch the clock before a completion.
    pub(super) watch: Nanos,
    pub(super) clock: Clock,
    pub(super) recorder: Arc<Recorder>,
    pub(super) stopper: Arc<Stopper>,
    pub(super) shared: Arc<Shared>,
    /// Where writes are noted, if they are.
    pub(super) journal: Option<Arc<OpenJournal>>,
    /// The jobs of a pool; none of a job by itself.
    pub(super) pool_jobs: Vec<PoolJobParts>,
}

/// Everything a thread needs, readied before the gate.
struct ThreadState {
    worker: Load,
    target: AnyTarget,
    filler: BufferFiller,
    note: Option<Note>,
}

enum AnyTarget {
    Null(Inline<NullCall>),
    Model(ModelTarget),
    Sync(Inline<SyncCall>),
    Libaio(LibaioTarget),
    Uring(Box<UringTarget>),
    Mmap(Inline<MmapCall>),
    Posix(PosixTarget),
    Splice(Inline<SpliceCall>),
    Space(Inline<SpaceCall>),
    Names(Inline<NamesCall>),
    Journalled(Journalled),
}

impl AnyTarget {
    fn boxed(self) -> Box<dyn Target> {
        match self {
            Self::Null(target) => Box::new(target),
            Self::Model(target) => Box::new(target),
            Self::Sync(target) => Box::new(target),
            Self::Libaio(target) => Box::new(target),
            Self::Uring(target) => target,
            Self::Mmap(target) => Box::new(target),
            Self::Posix(target) => Box::new(target),
            Self::Splice(target) => Box::new(target),
            Self::Space(target) => Box::new(target),
            Self::Names(target) => Box::new(target),
            Self::Journalled(target) => Box::new(target),
        }
    }
}

impl ThreadSpec {
    pub(super) fn serve(
        mut self,
        gate: &Gate,
        ready: &Sender<Ready>,
        ends: &Sender<(usize, Stopped)>,
    ) {
        pin(&self.job, self.thread);
        let unmoved = prefer(&self.job);
        sharpen_timers();
        let credentials = credentials::take(&self.job);
        let mut state = match credentials.and_then(|()| self.prepare()) {
            Ok(state) => state,
            Err(error) => {
                let _ = ready.send(Err(error));
                return;
            }
        };
        let _ = ready.send(Ok(state.note.take().or(unmoved)));
        let Order::Begin(start) = gate.wait() else {
            return;
        };
        state.worker.begin(start);
        let begun = self.clock.now();
        self.recorder.first_issue.set(begun.0);
        let before = ThreadUsage::now();
        if let Err(error) = state.drive(self.grouping()) {
            self.interface_failed(&error, start);
        }
        let running = self.clock.now().since(begun);
        let used = ThreadUsage::now().since(&before, running.0);
        self.recorder.has_used(used);
        state.worker.leave(&self.recorder);
        let stopped = state.worker.stopped();
        let members = state.worker.members();
        drop(state);
        for member in 0..members {
            let _ = ends.send((self.number + member, stopped));
        }
    }

    fn grouping(&self) -> Grouping {
        Grouping {
            submit: match self.job.batch.submit {
                0 => (self.job.effective_depth() / 4).clamp(1, 16),
                submit => submit,
            },
            complete: self.job.batch.complete.min(self.job.effective_depth()),
            measure_submit: self.job.submit_latency && self.job.engine.is_asynchronous(),
        }
    }

    /// The submitting or waiting call itself failed: recorded as one failure of the job.
    fn interface_failed(&self, error: &io::Error, start: Nanos) {
        self.recorder.fail(Failure {
            errno: error.raw_os_error().unwrap_or(libc::EIO),
            direction: Direction::Read,
            count: 1,
            first_at: self.clock.now().since(start),
            first_offset: 0,
        });
        self.recorder.issued.add(1);
        self.stopper.request(Stopped::Error);
    }

    fn prepare(&mut self) -> Result<ThreadState, Error> {
        let pool_jobs = std::mem::take(&mut self.pool_jobs);
        let job = &self.job;
        let depth = job.effective_depth();
        let (mut buffers, slots) = Buffers::new(depth, job.sizes.largest().0 as usize)
            .map_err(|source| self.engine_error(source, "; a smaller depth or block would work"))?;
        let mut content = ContentMaker::of(job, self.seed, self.thread);
        if job.mix.write > 0 {
            for slot in &slots {
                content.prepare(buffers.bytes_mut(slot, job.sizes.write.largest().0 as usize));
            }
        }
        let sizes: Vec<u64> = self.files.iter().map(|file| file.size).collect();
        let parts = Parts {
            thread: self.thread,
            seed: self.seed,
            sizes: &sizes,
            slots,
            recorder: Arc::clone(&self.recorder),
            stopper: Arc::clone(&self.stopper),
            shared: &self.shared,
        };
        let worker = Load::new(job, pool_jobs, parts).map_err(|invalid| Error::Job {
            job: job.name.clone(),
            invalid,
        })?;
        let (target, note) = self.target(&buffers)?;
        // The model and the null engine keep no data: there is nothing to compare.
        let keeps = !matches!(
            target,
            AnyTarget::Null(_) | AnyTarget::Model(_) | AnyTarget::Space(_) | AnyTarget::Names(_)
        );
        let target = match self.journal.take() {
            Some(journal) => AnyTarget::Journalled(Journalled::new(target.boxed(), journal, depth)),
            None => target,
        };
        let seal = self.recognition().filter(|_| keeps).map(Box::new);
        let forgets = job.drop_cache_every.filter(|_| keeps && !self.entry.direct);
        let drop_cache = forgets.map(|every| Box::new(DropCache::new(&self.files, every.0)));
        Ok(ThreadState {
            worker,
            target,
            filler: BufferFiller {
                buffers,
                content,
                seal,
                drop_cache,
            },
            note,
        })
    }

    /// How what is written is recognised, if it is.
    fn recognition(&self) -> Option<DataCheck> {
        let job = &self.job;
        let pooled = job.pool.as_ref();
        if let Some(validation) = pooled.and_then(|pooled| pooled.validation.as_ref()) {
            return Some(DataCheck::Keys(Keys {
                map: Arc::clone(&validation.keys),
                clock: self.clock,
                epoch_micros: self.shared.epoch_micros,
            }));
        }
        let verify = job.verify.as_ref()?;
        Some(DataCheck::Seal(Seal::new(verify, self.seed)))
    }

    fn target(&self, buffers: &Buffers) -> Result<(AnyTarget, Option<Note>), Error> {
        let depth = self.job.effective_depth();
        if let Some(models) = emulated(&self.job, &self.files)? {
            let target = ModelTarget::new(self.clock, models, depth, self.watch);
            return Ok((AnyTarget::Model(target), None));
        }
        let addresses = buffers.addresses();
        let hint = engine_hint(self.job.engine);
        let fail = |source| self.engine_error(source, hint);
        let sync = |call| {
            let call = SyncCall::new(call, self.open_files()?, buffers.addresses());
            Ok(AnyTarget::Sync(Inline::new(self.clock, call, depth)))
        };
        let target = match self.job.engine {
            Engine::Null => AnyTarget::Null(Inline::new(self.clock, NullCall, depth)),
            Engine::Sync => sync(Call::Seek)?,
            Engine::Psync => sync(Call::Positioned)?,
            Engine::Vsync => sync(Call::SeekVectored)?,
            Engine::Pvsync => sync(Call::PlainVectored)?,
            Engine::Pvsync2(flags) => sync(Call::Vectored(bits(flags)))?,
            Engine::Libaio => {
                let files = self.open_files()?;
                let target = LibaioTarget::new(self.clock, depth, files, addresses);
                AnyTarget::Libaio(target.map_err(fail)?)
            }
            Engine::Mmap => {
                let writes = self.job.writes();
                let call = MmapCall::new(self.open_files()?, writes, addresses);
                AnyTarget::Mmap(Inline::new(self.clock, call.map_err(fail)?, depth))
            }
            Engine::PosixAio => {
                let files = self.open_files()?;
                AnyTarget::Posix(PosixTarget::new(self.clock, depth, files, addresses))
            }
            Engine::Splice => {
                let call = SpliceCall::new(self.open_files()?, addresses);
                AnyTarget::Splice(Inline::new(self.clock, call.map_err(fail)?, depth))
            }
            Engine::Falloc | Engine::Ftruncate => {
                let truncates = self.job.engine == Engine::Ftruncate;
                let call = SpaceCall::new(self.open_files()?, truncates);
                AnyTarget::Space(Inline::new(self.clock, call, depth))
            }
            Engine::FileCreate => self.names(NameCall::Create, depth)?,
            Engine::FileStat => self.names(NameCall::Stat, depth)?,
            Engine::FileDelete => self.names(NameCall::Delete, depth)?,
            Engine::IoUring(options) => {
                let files = self.open_files()?;
                let target = UringTarget::new(self.clock, depth, options, files, buffers);
                let target = target.map_err(fail)?;
                let note = (options.fixed_buffers && !target.has_fixed_buffers())
                    .then(|| unregistered_note(&self.job));
                return Ok((AnyTarget::Uring(Box::new(target)), note));
            }
        };
        Ok((target, None))
    }

    fn names(&self, call: NameCall, depth: u32) -> Result<AnyTarget, Error> {
        let paths = self.files.iter().map(|file| file.path.as_path());
        let call = NamesCall::new(call, paths).map_err(|error| self.engine_error(error, ""))?;
        Ok(AnyTarget::Names(Inline::new(self.clock, call, depth)))
    }

    fn open_files(&self) -> Result<Vec<OpenFile>, Error> {
        let random = !self.job.pattern.is_sequential();
        self.files
            .iter()
            .map(|file| {
                let opening = self.entry.opening(&self.job, file);
                let opened = open(&file.open_path(), opening, file.size)
                    .map_err(|source| self.entry.cannot_open(&self.job, file, source))?;
                let told = opened.hint(self.job.hints, random, self.entry.direct);
                told.map_err(|error| self.engine_error(error, LIFETIME))?;
                Ok(opened)
            })
            .collect()
    }

    fn engine_error(&self, source: io::Error, hint: &str) -> Error {
        Error::Engine {
            job: self.job.name.clone(),
            engine: self.job.engine.name(),
            cause: source,
            hint: hint.to_owned(),
        }
    }
}

const LIFETIME: &str = "the kernel takes no lifetime of written data here; leave out `lifetime` \
                        (fio: `write_hint`)";

impl ThreadState {
    fn drive(&mut self, grouping: Grouping) -> io::Result<()> {
        let (target, filler) = (&mut self.target, &mut self.filler);
        match &mut self.worker {
            Load::One(worker) => target.drive(&mut **worker, filler, grouping),
            Load::Pool(pool) => target.drive(&mut **pool, filler, grouping),
        }
    }
}

impl AnyTarget {
    fn drive<L: Driven>(
        &mut self,
        load: &mut L,
        filler: &mut BufferFiller,
        grouping: Grouping,
    ) -> io::Result<()> {
        match self {
            Self::Null(target) => drive(load, target, filler, grouping),
            Self::Model(target) => drive(load, target, filler, grouping),
            Self::Sync(target) => drive(load, target, filler, grouping),
            Self::Libaio(target) => drive(load, target, filler, grouping),
            Self::Uring(target) => drive(load, &mut **target, filler, grouping),
            Self::Mmap(target) => drive(load, target, filler, grouping),
            Self::Posix(target) => drive(load, target, filler, grouping),
            Self::Splice(target) => drive(load, target, filler, grouping),
            Self::Space(target) => drive(load, target, filler, grouping),
            Self::Names(target) => drive(load, target, filler, grouping),
            Self::Journalled(target) => drive(load, target, filler, grouping),
        }
    }
}

fn engine_hint(engine: Engine) -> &'static str {
    match engine {
        Engine::IoUring(_) => {
            "; where a container or kernel.io_uring_disabled forbids it, engine = \"libaio\" or \
             \"psync\" would work"
        }
        Engine::Libaio => "; fs.aio-max-nr may be used up: fewer jobs or less depth would work",
        Engine::Mmap => "; only files and block devices with content can be mapped",
        _ => "",
    }
}

fn unregistered_note(job: &Job) -> Note {
    Note {
        level: NoteLevel::Approximated,
        subject: job.name.clone(),
        text: "fixed_buffers: the kernel did not register the buffers (RLIMIT_MEMLOCK?); they are pinned anew \
               for every operation"
            .to_owned(),
    }
}

/// Puts the calling thread on its processor; a number that the machine lacks leaves it anywhere.
fn pin(job: &Job, thread: u32) {
    if job.pin.is_empty() {
        return;
    }
    let cpu = job.pin[thread as usize % job.pin.len()] as usize;
    // SAFETY: an all-zero set is valid and empty; CPU_SET checks its bound.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if cpu < libc::CPU_SETSIZE as usize {
            libc::CPU_SET(cpu, &mut set);
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
        }
    }
}

/// Gives the calling thread its priorities; tells what the kernel refused.
fn prefer(job: &Job) -> Option<Note> {
    const WHO_PROCESS: libc::c_int = 1;
    let Priority { nice, io } = job.priority;
    // SAFETY: only numbers are passed; 0 names the calling thread.
    let failed = unsafe {
        // It is added to the rank that the program was started with, as nice(2) does.
        let own = libc::getpriority(libc::PRIO_PROCESS, 0);
        let nice = nice != 0 && libc::setpriority(libc::PRIO_PROCESS, 0, own + nice) != 0;
        let io = io.is_some_and(|io| {
            let value = libc::c_int::from(io.encoded());
            libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, value) != 0
        });
        nice || io
    };
    failed.then(|| Note {
        level: NoteLevel::Ignored,
        subject: format!("priority of job {}", job.name),
        text: format!(
            "the kernel refused it ({}); its threads ran as others do",
            io::Error::last_os_error()
        ),
    })
}

/// The kernel may round this thread's timers by 50 microseconds unless told otherwise.
fn sharpen_timers() {
    // SAFETY: sets a number of the calling thread.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}
