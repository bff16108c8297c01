//! `blocklab emulate-ctl`: sends a command to a running server.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};
use blocklab_console::{status, terminal};
use blocklab_emulator::control::{Answer, VolumeState, ask};
use blocklab_report::observed::credits;
use blocklab_units::{Bytes, count, plural};

use blocklab_args::EmulateCtlArgs;

/// Sends the command, and shows the answer.
pub fn emulate_ctl(args: &EmulateCtlArgs) -> Result<ExitCode> {
    let given = args.server.strip_prefix("unix:");
    let Some(path) = given.filter(|text| !text.is_empty()) else {
        bail!(
            "`{}` is not a command socket; write unix:PATH, as given to `emulate --control`",
            args.server
        );
    };
    let (answer, line) = ask(Path::new(path), &args.command.text).map_err(|error| {
        let why = match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                "no server takes commands there; start `blocklab emulate ADDRESS --control` with it"
                    .to_owned()
            }
            io::ErrorKind::WouldBlock => "it does not answer".to_owned(),
            _ => error.to_string(),
        };
        anyhow!("{}: {why}", args.server)
    })?;
    match (&answer.error, args.json) {
        (_, true) => terminal::print(line)?,
        (Some(error), false) => return Err(anyhow!("{error}")),
        (None, false) => terminal::print(in_words(&answer))?,
    }
    Ok(match answer.error {
        Some(_) => ExitCode::from(status::MISTAKE),
        None => ExitCode::SUCCESS,
    })
}

/// The answer as lines: the state of each volume, or what a fault has done.
fn in_words(answer: &Answer) -> String {
    let mut lines: Vec<String> = answer.volumes.iter().flat_map(volume).collect();
    if let Some(pages) = answer.lost_pages {
        let bytes = Bytes(pages * 4096);
        lines.push(format!(
            "lost: {} of 4 KiB ({bytes})",
            plural(pages as usize, "page")
        ));
    }
    let flipped = answer.flipped.iter();
    lines.extend(flipped.map(|(volume, at)| format!("{volume}: a bit of byte {at} changed")));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The lines on a volume: its operations, burst credits and injected faults.
fn volume(state: &VolumeState) -> Vec<String> {
    let size = Bytes(state.size_bytes);
    let attached = if state.attached { "" } else { ", detached" };
    let mut lines = vec![format!(
        "{} ({size}){attached}: {}, {}, {} failed, {} in flight",
        state.name,
        plural(state.reads as usize, "read"),
        plural(state.writes as usize, "write"),
        count(state.failed as f64),
        state.in_flight,
    )];
    let balances = state.balances.iter();
    lines.extend(balances.map(|balance| format!("  {} left", credits(balance))));
    for fault in &state.faults {
        let until = match fault.until_s {
            Some(until) => format!("until {until:.1} s"),
            None => "until it is cleared".to_owned(),
        };
        lines.push(format!(
            "  fault {}: {} from {:.1} s {until}, hit {}",
            fault.number,
            fault.command,
            fault.from_s,
            count(fault.hits as f64),
        ));
    }
    lines
}
