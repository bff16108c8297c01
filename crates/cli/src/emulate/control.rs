//! The controller of a server: commands from its socket and from `--at`, and changes of a volume.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use blocklab_catalog::{Catalog, resolve};
use blocklab_console::terminal;
use blocklab_device::VolumeSpec;
use blocklab_emulator::Volume;
use blocklab_emulator::control::{
    Command, ControlSocket, Controlled, Controller, Modify, Settings,
};
use blocklab_emulator::nbd::{self, Access, Listener};
use blocklab_record::ControlEvent;
use blocklab_units::Nanos;
use blocklab_workload::Address;
use blocklab_workload::address::ByteRate;

use super::Model;
use super::addresses::in_one_line;
use blocklab_args::EmulateArgs;

/// Keys of an address that a provider changes while a volume is in use.
const KEYS: [&str; 2] = ["iops", "throughput"];

/// A controller, its socket, and the commands of `--at`.
pub(super) struct Control {
    controller: Arc<Controller>,
    _socket: Option<ControlSocket>,
    /// The commands that are left, in reverse order of time, so that the next one can be popped.
    planned: Vec<(Nanos, Command)>,
    began: Nanos,
}

/// Opens the socket of `--control`. Commands are accepted later, by [`Control::listen`].
pub(super) fn listener(args: &EmulateArgs) -> Result<Option<Listener>> {
    let Some(text) = &args.control else {
        return Ok(None);
    };
    let address: nbd::Address = text.parse()?;
    if matches!(address, nbd::Address::Tcp(_)) {
        bail!("other users could reach --control {text}; write unix:PATH");
    }
    Ok(Some(Listener::new(&address, Access::Local)?))
}

/// The commands of `--at`, in reverse order of time.
pub(super) fn planned(args: &EmulateArgs) -> Result<Vec<(Nanos, Command)>> {
    let mut planned: Vec<(Nanos, Command)> = Vec::new();
    for pair in args.at.chunks(2) {
        let [at, line] = pair else {
            bail!("--at needs a time and a command");
        };
        let at: Nanos = at.parse().map_err(|error| anyhow!("--at: {error}"))?;
        let command = line
            .parse()
            .map_err(|error| anyhow!("--at {at}: {error}"))?;
        planned.push((at, command));
    }
    // The sort is stable: commands of the same time must run in the order in which they were written.
    planned.reverse();
    planned.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    Ok(planned)
}

impl Control {
    /// Checks all planned commands before anything is served.
    pub(super) fn new(
        model: &Model,
        volumes: &[Arc<Volume>],
        planned: Vec<(Nanos, Command)>,
        began: Nanos,
    ) -> Result<Self> {
        let controlled = volumes
            .iter()
            .enumerate()
            .map(|(index, volume)| Controlled {
                volume: Arc::clone(volume),
                is_local: model.is_local(index),
            });
        let modify = modify(model)?;
        let controller = Arc::new(Controller::new(
            controlled.collect(),
            model.seed,
            began,
            modify,
        ));
        let commands = planned.iter().rev();
        let in_order: Vec<_> = commands.map(|(_, command)| command.clone()).collect();
        controller
            .check(&in_order)
            .map_err(|why| anyhow!("--at: {why}"))?;
        Ok(Self {
            _socket: None,
            controller,
            planned,
            began,
        })
    }

    /// Starts to accept commands on the socket.
    pub(super) fn listen(&mut self, listener: Option<Listener>) -> Result<()> {
        let socket =
            listener.map(|listener| ControlSocket::start(listener, Arc::clone(&self.controller)));
        self._socket = socket.transpose().context("cannot take commands")?;
        Ok(())
    }

    /// Runs the commands that are due.
    pub(super) fn run_due(&mut self, now: Nanos) {
        while let Some((_, command)) = self.planned.pop_if(|(at, _)| self.began + *at <= now) {
            if let Err(why) = self.controller.run(&command) {
                terminal::warn(&format!("--at: {}: {why}", command.text));
            }
        }
    }

    /// The time until the next planned command, at most `most`.
    pub(super) fn time_to_next(&self, now: Nanos, most: Duration) -> Duration {
        let next = self
            .planned
            .last()
            .map(|(at, _)| (self.began + *at).since(now));
        next.map_or(most, |next| most.min(next.into()))
    }

    pub(super) fn events_of(&self, index: usize) -> Vec<ControlEvent> {
        self.controller.events_of(index)
    }
}

/// The function that changes provisioned rates. The changed volume has another address, which is looked
/// up in the catalog, so that only rates that are sold are accepted.
fn modify(model: &Model) -> Result<Box<Modify>> {
    if model.resolved.is_none() {
        return Ok(Box::new(|_, _| {
            Err("`null` has no rates that could be set; faults work".to_owned())
        }));
    }
    let catalog = blocklab_console::place::load_catalog()?;
    let (addresses, speed) = (model.addresses.clone(), model.speed);
    Ok(Box::new(move |index, settings| {
        changed(&addresses[index], settings, &catalog, speed)
    }))
}

/// The volume of an address after `set iops=… throughput=…`. `speed`: the number by which burst
/// buckets are divided.
fn changed(
    address: &Address,
    settings: &Settings,
    catalog: &Catalog,
    speed: Option<f64>,
) -> Result<VolumeSpec, String> {
    let Address::Sold(offer) = address else {
        return Err("a device file has no rates that are sold; change the file".to_owned());
    };
    let mut offer = offer.clone();
    for (key, value) in settings {
        let (digits, unit) = match &**key {
            "throughput" => digits_and_unit(value),
            _ => (&**value, None),
        };
        let number: u64 = digits.parse().map_err(|_| {
            format!("{key}={value} is not a whole number; write for example iops=16000 throughput=500MiB")
        })?;
        match &**key {
            "iops" => offer.iops = Some(number),
            // The catalog refuses a unit in which the volume is not sold.
            "throughput" => (offer.throughput, offer.throughput_unit) = (Some(number), unit),
            other => {
                let keys = KEYS.join(" and ");
                return Err(format!("`{other}` cannot be set; {keys} can"));
            }
        }
    }
    let mut resolved =
        resolve(&Address::Sold(offer), catalog).map_err(|error| in_one_line(error).to_string())?;
    if let Some(factor) = speed {
        // Without burst buckets there is nothing to divide.
        let _ = blocklab_emulator::divide_buckets(&mut resolved.spec, factor);
    }
    blocklab_emulator::forgive_stalls(&mut resolved.spec);
    Ok(resolved.spec.volumes.swap_remove(0))
}

/// A throughput without its unit, such as `500` of `500MiB`; `None`: no unit is written.
fn digits_and_unit(value: &str) -> (&str, Option<ByteRate>) {
    let amount = value.strip_suffix("/s").unwrap_or(value);
    if let Some(digits) = amount.strip_suffix("MiB") {
        (digits, Some(ByteRate::MibPerS))
    } else if let Some(digits) = amount.strip_suffix("MB") {
        (digits, Some(ByteRate::MbPerS))
    } else {
        (value, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: for a volume of Azure, which is sold by MB/s, `set throughput=500MiB` set 500 MB/s, and
    /// `set iops=6000MiB` was taken for 6,000 IOPS.
    #[test]
    fn a_throughput_has_the_unit_in_which_the_volume_is_sold() {
        let catalog = Catalog::embedded();
        let set = |address: &str, key: &str, value: &str| {
            let address: Address = address.parse().expect(address);
            let settings = [(key.to_owned(), value.to_owned())];
            changed(&address, &settings, &catalog, None).map(|_| ())
        };
        let azure = "azure/PremiumV2_LRS:1TiB,iops=5000,throughput=200";
        for value in ["250", "250MB", "250MB/s"] {
            assert_eq!(set(azure, "throughput", value), Ok(()), "{value}");
        }
        let why = set(azure, "throughput", "250MiB").expect_err("another unit");
        assert!(why.contains("is sold by MB/s"), "{why}");
        assert_eq!(set("gp3:1TiB", "throughput", "250MiB/s"), Ok(()));
        assert!(set("gp3:1TiB", "iops", "6000MiB").is_err());
    }
}
