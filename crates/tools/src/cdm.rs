//! `blocklab cdm`: CrystalDiskMark's tests and report.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use blocklab_cdm::{self as cdm, Choices, Prepared, Profile, RunFacts, Settings, Version};
use blocklab_record::Record;
use blocklab_runner::{Missing, Request};
use blocklab_store::Store;

use crate::args::{CdmArgs, CdmProfile};
use crate::tool_run::{exit_code, live_view, run_tool, seed, tool_request, with_keeping};
use blocklab_console::{listen, place, status, supervisor, terminal};
use blocklab_results::output::{self, Over};
use blocklab_results::{keep, keeping};

/// Measures, prints the report and stores the run.
pub fn run(args: &CdmArgs, store: &Store) -> Result<ExitCode> {
    supervisor::supervise(|| measure(args, store), |_| status::MISTAKE)
}

fn measure(args: &CdmArgs, store: &Store) -> Result<u8> {
    let Prepared {
        plan,
        notes,
        settings,
    } = cdm::prepare(&choices(args)?)?;
    // Mistakes in the names of the store and the file are reported before anything is measured.
    keeping::try_out(store, args.no_save)?;
    if let Some(path) = &args.output {
        if args.json && path == Path::new("-") {
            bail!("--json prints to standard output, and --output - the report: name a file");
        }
        output::try_out(path, Over::Files)?;
    }
    let mut view = live_view(!args.quiet, &plan, (!args.no_save).then_some(store));
    let guard = place::guard(&args.destroy_data, store);
    let request = Request {
        targets: vec![args.target.clone().unwrap_or_else(|| ".".to_owned())],
        ..tool_request(plan, notes, Missing::scratch_if(args.create))
    };
    let outcome = run_tool(&request, &guard, &*listen()?, store, &mut view);
    view.finished();
    let Some(mut record) = outcome? else {
        return Ok(status::INTERRUPTED);
    };
    let is_well = print_and_keep(args, store, &mut record, &settings);
    Ok(with_keeping(exit_code(&record), is_well))
}

/// The options as CrystalDiskMark's settings.
fn choices(args: &CdmArgs) -> Result<Choices> {
    Ok(Choices {
        version: Version::numbered(args.cdm_version).expect("clap allows 5 to 9"),
        profile: match args.profile {
            CdmProfile::Default => Profile::Default,
            CdmProfile::Peak => Profile::Peak,
            CdmProfile::Real => Profile::Real,
            CdmProfile::Nvme => Profile::Nvme,
            CdmProfile::Flash => Profile::Flash,
            CdmProfile::Demo => Profile::Demo,
        },
        size: args.size,
        loops: args.loops,
        measure: args.measure,
        interval: args.interval,
        mix: args.mix,
        read_only: args.read_only,
        zero_fill: args.zero_fill,
        average: args.average,
        seed: seed(args.seed)?,
    })
}

/// Prints the report and then stores the run, in this order, so that the result of a run that cannot be
/// stored was printed. False, when either fails.
fn print_and_keep(args: &CdmArgs, store: &Store, record: &mut Record, settings: &Settings) -> bool {
    if !args.no_save {
        store.settle(record);
    }
    let printed = print(args, record, settings);
    if let Err(error) = &printed {
        terminal::complain(error);
    }
    let is_kept = args.no_save || keep(record, store);
    // These lines go to standard error, so that the report can be pasted as it is.
    record.failure.iter().for_each(|text| terminal::warn(text));
    if is_kept && !args.no_save && !args.quiet {
        let option = place::store_option(store);
        terminal::inform(&format!("\nMore    blocklab show {}{option}", record.id));
    }
    printed.is_ok() && is_kept
}

/// Prints the report or JSON, and writes the report to the file of `--output`.
fn print(args: &CdmArgs, record: &Record, settings: &Settings) -> Result<()> {
    let facts = RunFacts {
        admin: rustix::process::geteuid().is_root(),
        arch: std::env::consts::ARCH.to_owned(),
        comment: args.comment.clone(),
    };
    let report = cdm::report(record, settings, &facts);
    // JSON is printed in any case; the report only if it goes to no file.
    let mut printed = match (args.json, &args.output) {
        (true, _) => cdm::json(record, settings),
        (false, Some(_)) => String::new(),
        (false, None) => report.clone(),
    };
    if args.all_passes {
        printed.push_str(&format!("\n{}", cdm::all_passes(record, settings)));
    }
    if args.crlf && !args.json {
        printed = with_crlf(&printed);
    }
    if let Some(path) = &args.output {
        // CrystalDiskMark writes CR LF into files.
        let is_file = path != Path::new("-");
        let report = if is_file || args.crlf {
            with_crlf(&report)
        } else {
            report
        };
        output::write(path, report, Over::Files)?;
    }
    terminal::print(printed)
}

/// A text with the line ends of Windows.
fn with_crlf(text: &str) -> String {
    text.replace('\n', "\r\n")
}
