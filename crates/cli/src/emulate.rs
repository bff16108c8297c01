//! `blocklab emulate`: serves a modelled volume to other programs.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use blocklab_catalog::Resolved;
use blocklab_console::status::FAILED;
use blocklab_console::terminal::{self, LastingOutput};
use blocklab_console::{chance, listen, place};
use blocklab_device::{Accounting, Device, DeviceSpec, LimitName};
use blocklab_emulator::nbd::Listener;
use blocklab_emulator::nbd::handshake::Export;
use blocklab_emulator::{
    Backing, Instance, MemoryLimit, Sampler, ServiceFacts, Volume, VolumeSetup, divide_buckets,
    forgive_stalls, open_file,
};
use blocklab_findings::assess;
use blocklab_record::{
    Measurement, Note, NoteLevel, Origin, Record, Requested, TargetFacts, TargetKind,
};
use blocklab_report::document::Form;
use blocklab_report::observed::{self, Now};
use blocklab_report::views;
use blocklab_results::keeping::{self, Keeping};
use blocklab_store::Store;
use blocklab_targets::Clock;
use blocklab_units::{Bytes, Nanos, SECTOR, Style};
use blocklab_workload::Address;
use jiff::Timestamp;

use blocklab_args::EmulateArgs;

mod addresses;
mod control;
mod seen_so_far;
mod served;

use control::Control;
use seen_so_far::SeenSoFar;
use served::{Served, protocol};

/// Serves until a signal comes, and stores what clients did as a run.
pub fn emulate(args: &EmulateArgs, store: &Store) -> Result<ExitCode> {
    keeping::try_out(store, args.no_save)?;
    let stopped = listen()?;
    let model = Model::resolve(args)?;
    let (listener, planned) = (control::listener(args)?, control::planned(args)?);
    let volumes = model.volumes(args)?;
    let mut watch = Watch::new(args, &model, &volumes);
    let mut control = Control::new(&model, &volumes, planned, watch.began)?;
    let commands = listener.as_ref().and_then(Listener::path);
    let mut served = Served::start(args, &model.text, &volumes, commands, |index, volume| {
        model.export(index, volume)
    })?;
    let started = Timestamp::now();
    let id = store.new_id(started, chance()?);
    let size = Bytes(volumes.iter().map(|volume| volume.size()).sum());
    let mut record = model.record(args, size, served.addresses(), id, started);
    let mut so_far = SeenSoFar::new((!args.no_save).then_some(store));
    control.listen(listener)?;
    while !stopped.load(Ordering::Relaxed) {
        std::thread::sleep(control.time_to_next(model.clock.now(), POLL_INTERVAL));
        control.run_due(model.clock.now());
        if watch.sample_if_due(&served) && so_far.is_due(model.clock.now()) {
            record.measurements = watch.measurements(served.visits(), &control);
            so_far.keep(&record);
        }
    }
    let is_free = served.stop();
    watch.close();
    let synced = volumes.iter().try_for_each(|volume| volume.sync());
    record.measurements = watch.measurements(served.visits(), &control);
    record.finished_at = in_seconds(Timestamp::now());
    // Ends the thread that writes the spool, before the run is stored and the spool removed.
    drop(so_far);
    let kept = end(args, store, &mut record, &mut watch.output);
    synced.context("the backing file cannot be synced")?;
    let is_well = is_free && kept && watch.output.is_well;
    Ok(if is_well { 0 } else { FAILED }.into())
}

/// How often a signal is looked for.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// What is served: a modelled device, or `null`, which delays nothing.
struct Model {
    text: String,
    resolved: Option<Resolved>,
    /// The address of each volume.
    addresses: Vec<Address>,
    instance: Option<Arc<Instance>>,
    clock: Clock,
    seed: u64,
    /// The number by which burst buckets were divided (`--speed`).
    speed: Option<f64>,
    /// Whether limiters got a small bucket that the address does not give them.
    forgives: bool,
}

impl Model {
    /// Resolves the addresses, and gives the device the changes that the options ask for.
    fn resolve(args: &EmulateArgs) -> Result<Self> {
        let clock = Clock::start();
        let seed = args.seed.unwrap_or(1);
        if args.addresses == ["null"] && args.on.is_none() {
            if args.speed.is_some() {
                bail!("--speed divides burst buckets, and `null` has none")
            }
            return Ok(Self {
                text: "null".to_owned(),
                resolved: None,
                addresses: Vec::new(),
                instance: None,
                clock,
                seed,
                speed: None,
                forgives: false,
            });
        }
        let (mut resolved, addresses) = addresses::resolved(args)?;
        if let Some(factor) = args.speed {
            if !divide_buckets(&mut resolved.spec, factor) {
                bail!(
                    "--speed divides burst buckets, and {} has none",
                    resolved.spec.name
                )
            }
            resolved.limits = resolved.spec.limits();
        }
        let forgives = forgive_stalls(&mut resolved.spec);
        let device = Device::new(&resolved.spec, seed).map_err(|error| anyhow!("{error}"))?;
        Ok(Self {
            text: match &args.addresses[..] {
                [one] if args.on.is_none() => one.clone(),
                _ => resolved.spec.name.clone(),
            },
            addresses,
            instance: Some(Instance::new(device, clock)),
            resolved: Some(resolved),
            clock,
            seed,
            speed: args.speed,
            forgives,
        })
    }

    fn spec(&self) -> Option<&DeviceSpec> {
        self.resolved.as_ref().map(|resolved| &resolved.spec)
    }

    /// Whether a volume is a local disk of the instance.
    fn is_local(&self, index: usize) -> bool {
        self.addresses.get(index).is_some_and(addresses::is_local)
    }

    fn count(&self) -> usize {
        self.spec().map_or(1, |spec| spec.volumes.len())
    }

    /// The size of a volume that clients see.
    fn size(&self, args: &EmulateArgs, index: usize) -> Result<Bytes> {
        let whole = self.spec().map(|spec| spec.volumes[index].capacity);
        let size = match (args.size, whole) {
            (Some(size), Some(whole)) if size > whole => bail!(
                "--size {size} is more than {} has ({whole}): put the larger size into the address",
                self.text
            ),
            (Some(size), _) => size,
            (None, Some(whole)) => Bytes(whole.0 / SECTOR * SECTOR),
            (None, None) => {
                bail!("`null` has no size of its own; add --size, such as --size 10GiB")
            }
        };
        if size.0 == 0 || size.0 % SECTOR != 0 {
            bail!("--size {size} must be one or more whole sectors of {SECTOR} bytes");
        }
        Ok(size)
    }

    /// The volumes that are served, each with the place where its data is kept.
    fn volumes(&self, args: &EmulateArgs) -> Result<Vec<Arc<Volume>>> {
        if args.memory_limit.is_some() && args.backing != MEMORY {
            bail!("--memory-limit bounds data in memory: leave it out, or --backing")
        }
        let memory = MemoryLimit::new(args.memory_limit.unwrap_or_else(default_memory));
        let mut volumes = Vec::new();
        for index in 0..self.count() {
            let size = self.size(args, index)?;
            let model = self.instance.as_ref();
            volumes.push(Volume::new(VolumeSetup {
                name: self.name(args, index),
                size,
                read_only: args.read_only,
                backing: backing(args, &memory, index, size)?,
                model: model.map(|instance| (Arc::clone(instance), index)),
                clock: self.clock,
            }));
        }
        Ok(volumes)
    }

    fn name(&self, args: &EmulateArgs, index: usize) -> String {
        let number = index + 1;
        match (&args.name, self.count()) {
            (Some(name), 1) => name.clone(),
            (Some(name), _) => format!("{name}{number}"),
            (None, 1) => "volume".to_owned(),
            (None, _) => number.to_string(),
        }
    }

    /// What NBD clients are told about a volume.
    fn export(&self, index: usize, volume: &Volume) -> Export {
        let spec = self.spec().map(|spec| &spec.volumes[index]);
        Export {
            name: volume.name().to_owned(),
            description: match self.addresses.get(index) {
                Some(address) => address.to_string(),
                None => self.text.clone(),
            },
            size: volume.size(),
            read_only: volume.is_read_only(),
            // Only hard disks are accounted in whole units.
            rotational: spec
                .is_some_and(|spec| matches!(spec.accounting, Accounting::WholeUnits { .. })),
        }
    }

    /// A Record without measurements. `size`: that of all volumes, as clients see them; `addresses`: the
    /// addresses at which clients find them.
    fn record(
        &self,
        args: &EmulateArgs,
        size: Bytes,
        addresses: &str,
        id: String,
        started: Timestamp,
    ) -> Record {
        let resolved = self.resolved.as_ref();
        Record {
            id,
            tool: format!("blocklab {}", env!("CARGO_PKG_VERSION")),
            started_at: in_seconds(started),
            finished_at: in_seconds(started),
            origin: Origin::Emulated,
            requested: Requested {
                name: args.name.clone().unwrap_or_else(|| self.text.clone()),
                description: format!("{} served at {}", self.text, addresses),
                seed: self.seed.to_string(),
                aggregate: "mean".to_owned(),
                passes: 1,
                ..Requested::default()
            },
            environment: blocklab_host::environment(),
            targets: vec![TargetFacts {
                path: format!("emu:{}", self.text),
                kind: TargetKind::Model,
                size_bytes: size,
                limits: resolved.map_or(Vec::new(), |found| found.limits.clone()),
                assumptions: resolved.map_or(Vec::new(), |found| found.assumptions.clone()),
                ..TargetFacts::default()
            }],
            notes: self.notes(args),
            ..Record::default()
        }
    }

    /// How the served device differs from the one of the address.
    fn notes(&self, args: &EmulateArgs) -> Vec<Note> {
        let mut notes = Vec::new();
        if let Some(factor) = args.speed {
            let text = format!(
                "burst buckets hold 1/{factor} of what the provider sells, and are full again in \
                 1/{factor} of the time; rates are the provider's"
            );
            notes.push(Note::new(NoteLevel::Approximated, "--speed", text));
        }
        if self.forgives {
            let text = "limiters without a bucket hold 20 ms of their rate, so that a client that \
                        the machine held up loses nothing: up to 2 % more in the first second";
            notes.push(Note::new(NoteLevel::Approximated, "limiters", text));
        }
        notes
    }
}

fn in_seconds(moment: Timestamp) -> String {
    let seconds = moment.round(jiff::Unit::Second);
    seconds.unwrap_or(moment).to_string()
}

/// Half of the machine's memory, or a quarter of the control group's limit if that is less: only a
/// quarter, because for a power cut the old contents of unflushed pages are kept, which can take as much
/// again.
fn default_memory() -> Bytes {
    let found = blocklab_host::environment();
    let half = Bytes(found.memory_bytes.0 / 2);
    let quarter = found.memory_limit_bytes.map(|limit| Bytes(limit.0 / 4));
    quarter.map_or(half, |quarter| quarter.min(half))
}

/// The value of `--backing` that keeps data in memory.
const MEMORY: &str = "memory";

/// Where the data of the volume of this index is kept. All volumes share one limit of memory; of
/// several files, the second one is called `FILE.2`.
fn backing(
    args: &EmulateArgs,
    memory: &Arc<MemoryLimit>,
    index: usize,
    size: Bytes,
) -> Result<Backing> {
    let path = match (&*args.backing, index) {
        (MEMORY, _) => return Ok(Backing::Memory(Arc::clone(memory))),
        (file, 0) => file.to_owned(),
        (file, index) => format!("{file}.{}", index + 1),
    };
    Ok(open_file(Path::new(&path), size, args.read_only)?)
}

/// Samples what clients do, once a second.
struct Watch<'a> {
    args: &'a EmulateArgs,
    model: &'a Model,
    volumes: &'a [Arc<Volume>],
    samplers: Vec<Sampler>,
    /// For each volume, how long operations have waited for each limit.
    waited: Vec<Vec<(LimitName, Nanos)>>,
    began: Nanos,
    /// The end of the current interval.
    next: Nanos,
    /// Whether progress is drawn on the terminal.
    is_drawn: bool,
    drawn_lines: usize,
    output: LastingOutput,
}

/// Time between two samples.
const INTERVAL: Nanos = Nanos::from_secs(1);

impl<'a> Watch<'a> {
    fn new(args: &'a EmulateArgs, model: &'a Model, volumes: &'a [Arc<Volume>]) -> Self {
        let began = model.clock.now();
        let samplers = (0..volumes.len()).map(|index| {
            let instance = model.instance.as_ref();
            let balances = instance.map_or(Vec::new(), |instance| instance.balances(index));
            Sampler::begin(began, balances)
        });
        Self {
            args,
            model,
            volumes,
            samplers: samplers.collect(),
            waited: vec![Vec::new(); volumes.len()],
            began,
            next: began + INTERVAL,
            is_drawn: !args.quiet && !args.json && terminal::size().is_some(),
            drawn_lines: 0,
            output: LastingOutput::default(),
        }
    }

    /// Samples if an interval has ended, and returns whether one has.
    fn sample_if_due(&mut self, served: &Served) -> bool {
        let now = self.model.clock.now();
        if now < self.next {
            return false;
        }
        self.next = end_after(now, self.next);
        self.sample(Some(served.clients()));
        true
    }

    /// Samples the last interval, which is shorter, and clears the screen.
    fn close(&mut self) {
        self.draw(&[]);
        self.sample(None);
    }

    /// Samples every volume and shows the samples. `clients`: how many are connected; `None` at the end,
    /// when nothing is shown.
    fn sample(&mut self, clients: Option<usize>) {
        let now = self.model.clock.now();
        let mut lines = Vec::new();
        for (index, volume) in self.volumes.iter().enumerate() {
            let instance = self.model.instance.as_ref();
            let balances = instance.map_or(Vec::new(), |instance| instance.balances(index));
            let waited = instance.map_or(Vec::new(), |instance| instance.waited(index));
            let sampler = &mut self.samplers[index];
            let slice = sampler.slice(now, volume.observed(), balances.clone());
            let before = std::mem::replace(&mut self.waited[index], waited);
            let (Some(clients), true) = (clients, self.is_drawn || self.args.json) else {
                continue;
            };
            let length = Nanos(slice.length_ns);
            let now = Now {
                volume: volume.name(),
                elapsed: Nanos(slice.end_ns),
                slice: &slice,
                in_flight: volume.in_flight(),
                clients,
                balances: observed::lasts(sampler.levels_before(), &balances, length),
                waits: observed::wait_shares(&before, &self.waited[index], length),
            };
            if self.args.json {
                self.output.print(observed::json_line(&now));
            } else {
                // The lines are drawn on standard error.
                let columns = terminal::size().map_or(0, |(columns, _)| columns);
                let style = Style {
                    width: Some(columns).filter(|columns| *columns > 0),
                    ..Style::default()
                };
                lines.extend(observed::lines(&now, style.columns()))
            }
        }
        if self.is_drawn && clients.is_some() {
            self.draw(&lines);
        }
    }

    /// Draws the lines of all volumes over the previous ones.
    fn draw(&mut self, lines: &[String]) {
        /// With more, a small screen would scroll.
        const MOST: usize = 16;
        if !self.is_drawn {
            return;
        }
        let up = match self.drawn_lines {
            0 | 1 => String::new(),
            lines => format!("\x1b[{}A", lines - 1),
        };
        let lines = &lines[..lines.len().min(MOST)];
        eprint!("{up}\r\x1b[J{}", lines.join("\n"));
        self.drawn_lines = lines.len();
    }

    /// The measurement of each volume, up to the end of the last interval.
    fn measurements(&self, clients: u64, control: &Control) -> Vec<Measurement> {
        let mut measurements = Vec::new();
        for (index, volume) in self.volumes.iter().enumerate() {
            measurements.push(self.samplers[index].measurement(ServiceFacts {
                name: volume.name(),
                protocol: protocol(self.args),
                clients,
                speed: self.args.speed,
                in_flight: volume.in_flight(),
                waited: self.waited[index].clone(),
                events: control.events_of(index),
            }));
        }
        measurements
    }
}

/// The end of the interval in which `now` is, if an earlier one ended at `end`. After a standstill of this
/// process, the intervals that have passed are one.
fn end_after(now: Nanos, end: Nanos) -> Nanos {
    let ended = now.since(end).0 / INTERVAL.0 + 1;
    end + Nanos(ended * INTERVAL.0)
}

/// Prints the run and stores it, and returns whether it is kept as requested.
fn end(args: &EmulateArgs, store: &Store, record: &mut Record, output: &mut LastingOutput) -> bool {
    if !args.no_save {
        store.settle(record);
    }
    let option = place::store_option(store);
    if !args.quiet && !args.json {
        let kept = (!args.no_save).then_some(&*option);
        let text = views::summary(record, &assess(record), kept);
        output.print(text.print(Form::Text(terminal::style())));
    }
    let mut keeping = Keeping::new(store);
    if !args.no_save {
        keeping.keep(record);
        if keeping.is_well {
            terminal::inform(&format!("Kept  blocklab diagnose {}{option}", record.id));
        }
    }
    keeping.is_well
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: after ten seconds of Ctrl-Z, each of ten polls ended an interval of 50 ms, whose waits
    /// were shares of a whole second.
    #[test]
    fn after_a_standstill_one_interval_ends() {
        let seconds = Nanos::from_secs_f64;
        assert_eq!(end_after(seconds(1.0), seconds(1.0)), seconds(2.0));
        assert_eq!(end_after(seconds(1.04), seconds(1.0)), seconds(2.0));
        assert_eq!(end_after(seconds(11.3), seconds(1.0)), seconds(12.0));
    }
}
