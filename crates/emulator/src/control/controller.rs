//! Commands are carried out here, one at a time, and every one that changes something is kept.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

use blocklab_device::{Direction, VolumeSpec};
use blocklab_record::{ControlAction, ControlEvent};
use blocklab_targets::Clock;
use blocklab_units::{Bytes, Nanos, agreeing, plural, visible};

use super::answer::{Answer, CONTROL_FORMAT, FaultState, VolumeState};
use super::command::{Command, Order};
use super::templates::Template;
use crate::{Fault, FaultKind, Instance, Volume};

/// What the volume of an index becomes with these settings, of which the last one of a key counts; or
/// why that is not sold.
pub type Modify = dyn Fn(usize, &Settings) -> Result<VolumeSpec, String> + Send + Sync;

/// Keys and values that `set` changed.
pub type Settings = [(String, String)];

/// A volume that is controlled.
#[derive(Debug)]
pub struct Controlled {
    /// The volume.
    pub volume: Arc<Volume>,
    /// Whether it is a disk of the instance, which a stop empties.
    pub is_local: bool,
}

/// A command that was carried out.
#[derive(Debug)]
struct Event {
    at: Nanos,
    action: ControlAction,
    command: String,
    /// The number of the faults that it injected.
    fault: Option<u64>,
    effects: Vec<Effect>,
}

impl Event {
    fn new(command: &Command, selected: &[usize], at: Nanos) -> Self {
        Self {
            at,
            // Any will do: an event without an action is not kept.
            action: command.action.unwrap_or(ControlAction::Clear),
            command: visible(&command.text).into_owned(),
            fault: None,
            effects: selected.iter().map(|index| Effect::new(*index)).collect(),
        }
    }

    /// It ends on these volumes, as far as it still lasts there.
    fn end_on(&mut self, volumes: &[usize], now: Nanos) {
        for effect in &mut self.effects {
            let lasts = effect.until.is_none_or(|until| until > now);
            if lasts && volumes.contains(&effect.volume) {
                effect.until = Some(now);
            }
        }
    }
}

/// What a command did to one volume.
#[derive(Debug)]
struct Effect {
    /// Index of the volume.
    volume: usize,
    /// When it was over there; `None`: it lasts, or was over at once.
    until: Option<Nanos>,
    /// Pages that a power cut changed, or bits that were flipped. Faults count what they hit
    /// themselves.
    hits: u64,
}

impl Effect {
    /// Nothing yet.
    const fn new(volume: usize) -> Self {
        Self {
            volume,
            until: None,
            hits: 0,
        }
    }
}

/// Carries out commands.
pub struct Controller {
    volumes: Vec<Controlled>,
    seed: u64,
    clock: Clock,
    began: Nanos,
    modify: Box<Modify>,
    history: Mutex<History>,
}

/// What was done in the run so far.
#[derive(Debug)]
struct History {
    events: Vec<Event>,
    /// For each volume, the keys and values that were set, the latest last.
    settings: Vec<Vec<(String, String)>>,
}

/// A volume of an instance with other settings.
struct Modified<'a> {
    instance: &'a Instance,
    volume: usize,
    spec: VolumeSpec,
}

/// The answer to `set` for a volume without a model.
const NO_MODEL: &str = "`null` has no rates that could be set; faults work";

/// A run keeps no more: each stays in memory and in the Record.
const MOST_EVENTS: usize = 10_000;

impl Controller {
    /// For the volumes of one run. `began`: its start on their clock, which all of them share.
    ///
    /// # Panics
    /// Without a volume.
    pub fn new(volumes: Vec<Controlled>, seed: u64, began: Nanos, modify: Box<Modify>) -> Self {
        let clock = volumes[0].volume.clock();
        let history = History {
            events: Vec::new(),
            settings: vec![Vec::new(); volumes.len()],
        };
        Self {
            volumes,
            seed,
            clock,
            began,
            modify,
            history: Mutex::new(history),
        }
    }

    fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().expect("no panic under this lock")
    }

    /// Whether commands can be carried out one after the other, as far as that can be known before:
    /// what is in flight, written or detached by then is not.
    ///
    /// # Errors
    /// Why the first one cannot, and what would work.
    pub fn check(&self, commands: &[Command]) -> Result<(), String> {
        let mut settings = self.history().settings.clone();
        commands.iter().try_for_each(|command| {
            self.check_one(command, &mut settings)
                .map_err(|why| format!("{}: {why}", visible(&command.text)))
        })
    }

    /// Checks one command against the settings that those before it make.
    fn check_one(
        &self,
        command: &Command,
        settings: &mut [Vec<(String, String)>],
    ) -> Result<(), String> {
        let selected = self.selected(command)?;
        self.check_range(&selected, &command.order)?;
        match &command.order {
            Order::Set(pairs) => self.modified(&selected, pairs, settings).map(drop),
            Order::Credits(_) => self.check_credits(&selected, command),
            _ => Ok(()),
        }
    }

    /// Reads a command, carries it out, and answers.
    pub fn answer(&self, line: &str) -> Answer {
        let command: Result<Command, _> = line.parse();
        let command = command.map_err(|error| visible(&error.to_string()).into_owned());
        let done = command.and_then(|command| self.run(&command));
        done.map_or_else(|why| self.refuse(why), |answer| self.stamp(answer))
    }

    /// The answer to what is not carried out.
    pub(super) fn refuse(&self, why: String) -> Answer {
        self.stamp(Answer {
            error: Some(why),
            ..Answer::default()
        })
    }

    fn stamp(&self, answer: Answer) -> Answer {
        Answer {
            control_format: CONTROL_FORMAT,
            at_s: self.clock.now().since(self.began).as_secs_f64(),
            ..answer
        }
    }

    /// Carries a command out.
    ///
    /// # Errors
    /// When these volumes cannot do it: what would work.
    pub fn run(&self, command: &Command) -> Result<Answer, String> {
        let selected = self.selected(command)?;
        self.check_range(&selected, &command.order)?;
        let mut history = self.history();
        let History { events, settings } = &mut *history;
        if command.action.is_some() && events.len() >= MOST_EVENTS {
            return Err(format!(
                "{MOST_EVENTS} commands were carried out, and a run keeps no more"
            ));
        }
        let now = self.clock.now();
        let mut event = Event::new(command, &selected, now);
        let number = events.len() as u64 + 1;
        let mut answer = Answer::default();
        // The outcome of what is kept as an event even where it failed on one of the volumes.
        let mut done = Ok(());
        match &command.order {
            Order::Status => {}
            Order::Set(pairs) => self.set(&selected, pairs, settings)?,
            Order::Credits(share) => self.credits(&selected, command, *share)?,
            Order::Inject {
                kind,
                percents,
                range,
                lasts,
            } => {
                let fault = Fault {
                    number,
                    from: now,
                    until: lasts.map_or(Nanos::MAX, |lasts| now.saturating_add(lasts)),
                    kind: *kind,
                    percents: *percents,
                    range: range.clone(),
                };
                self.inject(&mut event, number, &[fault]);
            }
            Order::Template(template) => {
                self.inject(&mut event, number, &template_faults(template, now, number));
            }
            Order::Clear(which) => self.clear(&selected, now, *which, events)?,
            Order::Attach => self.attach(&selected, now, events)?,
            Order::Bitflip { count, range } => {
                (answer.flipped, done) = self.flip(&mut event, *count, range, number);
                // Nothing has happened, so there is no event.
                if answer.flipped.is_empty() {
                    return done.map(|()| answer);
                }
            }
            order @ (Order::Detach | Order::PowerCut(_) | Order::Stop) => {
                self.check_attached(&selected)?;
                done = self.take_away(&mut event, order, number);
                let lost = event.effects.iter().map(|effect| effect.hits).sum();
                answer.lost_pages = matches!(order, Order::PowerCut(_)).then_some(lost);
            }
        }
        if command.action.is_some() {
            events.push(event);
        }
        done?;
        answer.volumes = selected
            .iter()
            .map(|index| self.state(*index, events))
            .collect();
        Ok(answer)
    }

    /// The volumes that a command is for.
    fn selected(&self, command: &Command) -> Result<Vec<usize>, String> {
        let Some(name) = &command.volume else {
            return Ok((0..self.volumes.len()).collect());
        };
        let served = self.volumes.iter().map(|volume| volume.volume.name());
        let names: Vec<_> = served.collect();
        let index = names.iter().position(|known| known == name);
        index.map(|index| vec![index]).ok_or_else(|| {
            format!(
                "there is no volume `{}`; what is served: {}",
                visible(name),
                names.join(", ")
            )
        })
    }

    /// Refuses a range that none of the selected volumes reaches.
    fn check_range(&self, selected: &[usize], order: &Order) -> Result<(), String> {
        let (Order::Inject {
            range: Some(range), ..
        }
        | Order::Bitflip { range, .. }) = order
        else {
            return Ok(());
        };
        let mut sizes = selected.iter().map(|index| self.volume(*index).size());
        if sizes.any(|size| range.start < size) {
            return Ok(());
        }
        Err(format!(
            "{} {} before the range, which begins at {}",
            self.names_of(selected),
            agreeing(selected.len(), "ends", "end"),
            Bytes(range.start)
        ))
    }

    fn volume(&self, index: usize) -> &Volume {
        &self.volumes[index].volume
    }

    /// Each command draws anew, and each volume for itself.
    const fn seed_of(&self, number: u64, index: usize) -> u64 {
        let command = self.seed.wrapping_add(number << 16);
        command.wrapping_add(index as u64)
    }

    /// The volumes as the subject of a sentence, whose verb agrees with how many they are.
    fn names_of(&self, selected: &[usize]) -> String {
        let names = selected.iter().map(|index| self.volume(*index).name());
        names.collect::<Vec<_>>().join(", ")
    }

    /// Changes the settings of the selected volumes.
    fn set(
        &self,
        selected: &[usize],
        pairs: &Settings,
        settings: &mut [Vec<(String, String)>],
    ) -> Result<(), String> {
        for modified in self.modified(selected, pairs, settings)? {
            let done = modified.instance.modify(modified.volume, modified.spec);
            done.map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// What the volumes become. If one of them is refused, all keep the settings that they have.
    fn modified(
        &self,
        selected: &[usize],
        pairs: &Settings,
        settings: &mut [Vec<(String, String)>],
    ) -> Result<Vec<Modified<'_>>, String> {
        let all: Vec<_> = selected
            .iter()
            .map(|index| [&settings[*index][..], pairs].concat())
            .collect();
        let mut modified = Vec::new();
        for (index, pairs) in selected.iter().zip(&all) {
            let spec = (self.modify)(*index, pairs)?;
            let (instance, volume) = self.volume(*index).model().ok_or(NO_MODEL)?;
            modified.push(Modified {
                instance,
                volume,
                spec,
            });
        }
        for (index, pairs) in selected.iter().zip(all) {
            settings[*index] = pairs;
        }
        Ok(modified)
    }

    /// Sets the burst buckets of the selected volumes, and of their instance, to `share` (0 to 1) of
    /// what they hold.
    fn credits(&self, selected: &[usize], command: &Command, share: f64) -> Result<(), String> {
        self.check_credits(selected, command)?;
        for (nth, index) in selected.iter().enumerate() {
            let Some((instance, part)) = self.volume(*index).model() else {
                continue;
            };
            instance.set_credits(Some(part), share);
            // The buckets of the instance are those of all its volumes: a command for one volume leaves
            // them, and a command for all sets them once.
            if nth == 0 && command.volume.is_none() {
                instance.set_credits(None, share);
            }
        }
        Ok(())
    }

    /// Refuses a command that would set no burst bucket.
    fn check_credits(&self, selected: &[usize], command: &Command) -> Result<(), String> {
        let (mut is_any_own, mut is_any) = (false, false);
        for index in selected {
            if let Some((instance, part)) = self.volume(*index).model() {
                is_any_own |= instance.has_own_credits(part);
                is_any |= !instance.balances(part).is_empty();
            }
        }
        if is_any_own || (is_any && command.volume.is_none()) {
            return Ok(());
        }
        let names = self.names_of(selected);
        Err(if is_any {
            // The command names its volume, so it is for this one alone.
            format!(
                "{names} has no burst bucket of its own; `credits` without `--volume` sets those of \
                 the instance"
            )
        } else {
            let have = agreeing(selected.len(), "has", "have");
            format!("{names} {have} no burst bucket to drain or fill, nor has the instance")
        })
    }

    /// Injects faults, which have this number, into the volumes of an event.
    fn inject(&self, event: &mut Event, number: u64, faults: &[Fault]) {
        let until = faults.iter().map(|fault| fault.until).max();
        event.fault = Some(number);
        for effect in &mut event.effects {
            effect.until = until.filter(|until| *until < Nanos::MAX);
            for fault in faults {
                // A chance of its own for each volume.
                let seed = self.seed.wrapping_add(effect.volume as u64);
                self.volume(effect.volume).inject(fault.clone(), seed);
            }
        }
    }

    /// Ends the fault of this number, or all faults, on the selected volumes.
    fn clear(
        &self,
        selected: &[usize],
        now: Nanos,
        number: Option<u64>,
        events: &mut [Event],
    ) -> Result<(), String> {
        let lasting: Vec<u64> = selected
            .iter()
            .flat_map(|index| self.volume(*index).faults_now())
            .map(|(fault, _)| fault.number)
            .collect();
        if let Some(number) = number.filter(|number| !lasting.contains(number)) {
            return Err(format!(
                "no fault of the number {number} lasts; `fault list` shows those that do"
            ));
        }
        for index in selected {
            self.volume(*index).clear(number);
        }
        for event in events {
            let ended = event.fault.filter(|fault| lasting.contains(fault));
            if ended.is_some_and(|fault| number.is_none_or(|number| number == fault)) {
                event.end_on(selected, now);
            }
        }
        Ok(())
    }

    /// Refuses to take away volumes that are all gone already.
    fn check_attached(&self, selected: &[usize]) -> Result<(), String> {
        let mut selected = selected.iter();
        if selected.any(|index| self.volume(*index).is_attached()) {
            Ok(())
        } else {
            Err("it is gone already; `fault attach` brings it back".to_owned())
        }
    }

    /// Detaches the volumes of an event, as the order says, and counts the pages that each has lost.
    /// All are detached, also where the backing of one fails; the error names the first one.
    fn take_away(&self, event: &mut Event, order: &Order, number: u64) -> Result<(), String> {
        let mut done = Ok(());
        for effect in &mut event.effects {
            let volume = self.volume(effect.volume);
            let (lost, outcome) = match order {
                Order::PowerCut(loss) => {
                    volume.cut_power(*loss, self.seed_of(number, effect.volume))
                }
                Order::Stop if self.volumes[effect.volume].is_local => (0, volume.wipe()),
                // Also at a stop: what is not local stays as it is.
                _ => {
                    volume.detach();
                    (0, Ok(()))
                }
            };
            effect.hits = lost;
            if outcome.is_err() {
                let why = format!("the backing of {} cannot be written to", volume.name());
                done = done.and(Err(why));
            }
        }
        done
    }

    /// Attaches the selected volumes that are gone, and ends the events that took them away.
    fn attach(&self, selected: &[usize], now: Nanos, events: &mut [Event]) -> Result<(), String> {
        let selection = selected.iter().copied();
        let gone: Vec<usize> = selection
            .filter(|index| !self.volume(*index).is_attached())
            .collect();
        if gone.is_empty() {
            return Err(format!(
                "{} {} attached; `fault detach`, `fault power-cut` and `fault stop` end that",
                self.names_of(selected),
                agreeing(selected.len(), "is", "are")
            ));
        }
        for index in &gone {
            self.volume(*index).attach();
        }
        for event in events {
            let takes_away = matches!(
                event.action,
                ControlAction::Detach | ControlAction::PowerCut | ControlAction::Stop
            );
            if takes_away {
                event.end_on(&gone, now);
            }
        }
        Ok(())
    }

    /// Flips bits of the volumes of an event. Returns the volume and the offset of each flipped byte,
    /// and why some or all could not be flipped.
    fn flip(
        &self,
        event: &mut Event,
        count: u64,
        range: &Range<u64>,
        number: u64,
    ) -> (Vec<(String, u64)>, Result<(), String>) {
        let (mut flipped, mut done) = (Vec::new(), Ok(()));
        for effect in &mut event.effects {
            let volume = self.volume(effect.volume);
            let range = range.start.min(volume.size())..range.end.min(volume.size());
            let seed = self.seed_of(number, effect.volume);
            let (bytes, outcome) = volume.flip_bits(count, range, seed);
            if outcome.is_err() {
                let why = format!("the backing of {} cannot be changed", volume.name());
                done = done.and(Err(why));
            }
            effect.hits = bytes.len() as u64;
            flipped.extend(bytes.into_iter().map(|at| (volume.name().to_owned(), at)));
        }
        if flipped.is_empty() {
            let nothing = "nothing was written there, so no bit can change; write first";
            done = done.and(Err(nothing.to_owned()));
        } else {
            let bits = flipped.len();
            let verb = agreeing(bits, "was", "were");
            done = done.map_err(|why| {
                format!("{why}; {} {verb} flipped all the same", plural(bits, "bit"))
            });
        }
        (flipped, done)
    }

    /// A volume as it is now, for the answer to a command.
    fn state(&self, index: usize, events: &[Event]) -> VolumeState {
        let volume = self.volume(index);
        let observed = volume.observed();
        let faults = volume
            .faults_now()
            .into_iter()
            .map(|(fault, hits)| FaultState {
                number: fault.number,
                command: events
                    .get((fault.number - 1) as usize)
                    .map_or_else(String::new, |event| event.command.clone()),
                from_s: fault.from.since(self.began).as_secs_f64(),
                until_s: (fault.until < Nanos::MAX)
                    .then(|| fault.until.since(self.began).as_secs_f64()),
                hits,
            });
        let balances = volume
            .model()
            .map(|(instance, part)| instance.balances(part));
        VolumeState {
            name: volume.name().to_owned(),
            size_bytes: volume.size(),
            attached: volume.is_attached(),
            in_flight: volume.in_flight(),
            reads: observed.direction(Direction::Read).ios,
            writes: observed.direction(Direction::Write).ios,
            failed: observed
                .counters()
                .iter()
                .map(|counter| counter.failed)
                .sum(),
            balances: balances.unwrap_or_default(),
            faults: faults.collect(),
        }
    }

    /// What was done to a volume, for the Record.
    pub fn events_of(&self, index: usize) -> Vec<ControlEvent> {
        let volume = self.volume(index);
        let history = self.history();
        let events = history.events.iter().filter_map(|event| {
            let effect = event.effects.iter().find(|effect| effect.volume == index)?;
            Some(ControlEvent {
                at_ns: event.at.since(self.began).0,
                action: event.action,
                command: event.command.clone(),
                until_ns: effect.until.map(|until| until.since(self.began).0),
                hits: event
                    .fault
                    .map_or(effect.hits, |number| volume.hits(number)),
            })
        });
        events.collect()
    }
}

/// The faults of a template that begins now, one for each step that adds latency; a step without is a
/// pause.
fn template_faults(template: &Template, now: Nanos, number: u64) -> Vec<Fault> {
    let writes = template.write_percent;
    let mut from = now;
    let mut faults = Vec::new();
    for (added_ms, seconds) in template.steps {
        let until = from.saturating_add(Nanos::from_secs(*seconds));
        if *added_ms > 0 {
            faults.push(Fault {
                number,
                from,
                until,
                kind: FaultKind::Latency(Nanos::from_millis(*added_ms)),
                percents: [template.read_percent, writes, writes, writes],
                range: None,
            });
        }
        from = until;
    }
    faults
}
