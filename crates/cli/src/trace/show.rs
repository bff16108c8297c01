//! `blocklab trace show`: the character of a recorded load: sizes, mix, order, rates, reuse.

use anyhow::{Result, bail};
use blocklab_console::{place, terminal};
use blocklab_device::DeviceSpec;
use blocklab_page as page;
use blocklab_report::document::{Document, Form};
use blocklab_report::fields;
use blocklab_report::views::{self, LoadAndVolumes, Passing};
use blocklab_sizing::{Arrivals, Quantity, Window, passes};
use blocklab_trace::Source;
use blocklab_trace::character::{Character, Characterizer};

use super::opened::{Devices, Opened};
use super::{fit, opened, rates};
use crate::answer;
use blocklab_args::{Output, TraceShowArgs};

/// Reads the trace once, and prints its character.
pub fn show(args: &TraceShowArgs) -> Result<()> {
    if let Some(table) = rates::table(&args.files, &args.read)? {
        if !args.on.is_empty() {
            bail!("--on needs a trace of operations, and this is a table of rates: `trace fit`");
        }
        return rates::show(&args.files, &table, args.form);
    }
    let volumes = volumes(&args.on)?;
    // What volumes let pass is compared with the load of one device.
    let devices = if volumes.is_empty() {
        Devices::Any
    } else {
        Devices::One
    };
    let mut opened = opened::open(&args.files, &args.read, devices)?;
    let characterizer = Characterizer::new(!args.no_reuse);
    let arrivals = (!volumes.is_empty()).then(Arrivals::default);
    let (character, windows) = read(&mut opened, characterizer, arrivals)?;
    if character.operations == 0 {
        return Err(opened.empty());
    }
    let on_volumes = windows.map(|windows| on_volumes(windows, &volumes));
    let begins = opened.source.begins();
    let document = || document(&opened.name, &character, begins, on_volumes.as_ref());
    if args.form.output() == Output::Document(Form::Html) {
        let page = page::trace(&document(), &character, begins, on_volumes.as_ref());
        return terminal::print(page + "\n");
    }
    let fields = fields! {
        trace_format: 1,
        name: &opened.name,
        // RFC 3339; `null` where the format does not say.
        began_at: begins.and_then(opened::rfc_3339),
        #[serde(flatten)]
        character: &character,
        // What the load asks for in windows of time beside what each volume of `--on` lets pass;
        // `null` without `--on`.
        arrivals: on_volumes.as_ref(),
    };
    answer::print(args.form, &fields, document)
}

/// `begins`: when the recording began, in nanoseconds since 1970, if that is known.
fn document(
    name: &str,
    character: &Character,
    begins: Option<u64>,
    on_volumes: Option<&LoadAndVolumes>,
) -> Document {
    let mut document = views::trace(name, character, begins);
    document.parts.extend(on_volumes.map(views::arrivals));
    document
}

/// The device of each address of `--on`, with the address.
fn volumes(addresses: &[String]) -> Result<Vec<(String, DeviceSpec)>> {
    if addresses.is_empty() {
        return Ok(Vec::new());
    }
    let catalog = place::load_catalog()?;
    let found = addresses.iter().map(|address| {
        let candidate = fit::candidate(address, &catalog)?;
        Ok((candidate.address, candidate.spec))
    });
    found.collect()
}

/// Reads all operations: their character and, with `arrivals`, the most that arrives within windows of
/// several lengths.
fn read(
    opened: &mut Opened,
    mut characterizer: Characterizer,
    mut arrivals: Option<Arrivals>,
) -> Result<(Character, Option<Vec<Window>>)> {
    while let Some(operation) = opened.source.next().map_err(|error| opened.named(error))? {
        characterizer.add(&operation);
        if let Some(arrivals) = &mut arrivals {
            arrivals.add(&operation);
        }
    }
    let character = characterizer.end(opened.source.targets(), opened.source.remarks());
    Ok((character, arrivals.map(Arrivals::windows)))
}

/// For each window, what each volume lets pass within it.
fn on_volumes(windows: Vec<Window>, volumes: &[(String, DeviceSpec)]) -> LoadAndVolumes {
    let volumes = volumes.iter().map(|(address, spec)| {
        let [operations, bytes] = [Quantity::Operations, Quantity::Bytes].map(|quantity| {
            let passed = windows
                .iter()
                .map(|window| passes(spec, quantity, window.window_ns));
            passed.collect()
        });
        Passing {
            address: address.clone(),
            operations,
            bytes,
        }
    });
    LoadAndVolumes {
        volumes: volumes.collect(),
        windows,
    }
}
