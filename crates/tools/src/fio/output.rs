//! Prints the results in every requested format.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process;

use anyhow::{Context, Result};
use blocklab_fio::{self as dialect, ClientResult, Format, General, Idleness, Moment, Prepared};
use blocklab_record::Measurement;
use blocklab_units::Nanos;
use jiff::Zoned;

use blocklab_console::terminal;
use blocklab_results::output::{self, Over};

/// Where the results go: standard output or a file.
pub struct Out<'a> {
    general: &'a General,
    /// `None`: standard output.
    to: Option<File>,
    /// What `--idle-prof` found.
    pub idleness: Option<Idleness>,
    /// When jobs began, by their names, for those that report it: in ms of the clock that they name.
    pub starts: BTreeMap<String, u64>,
}

impl<'a> Out<'a> {
    /// Opens the file of `--output`, if it is given. This comes before anything runs, so that a file
    /// that cannot be written is reported early.
    pub fn open(general: &'a General) -> Result<Self> {
        let path = general.output.as_ref();
        let to = path.map(|path| output::create(Path::new(path), Over::Files));
        Ok(Self {
            general,
            to: to.transpose().context("--output")?,
            idleness: None,
            starts: BTreeMap::new(),
        })
    }

    /// Prints the list of jobs before the results, if the normal format is requested.
    pub fn begin(&mut self, prepared: &Prepared) -> Result<()> {
        self.print(&dialect::header(prepared))
    }

    /// Prints a line for people, if the normal format is requested; it would break the others.
    pub fn print(&mut self, line: &str) -> Result<()> {
        if self.general.formats.contains(&Format::Normal) {
            self.put(line)
        } else {
            Ok(())
        }
    }

    /// Prints an important line: on standard output, unless a program reads the results there.
    pub fn warn(&mut self, line: &str) -> Result<()> {
        if self.to.is_some() || self.general.formats.contains(&Format::Normal) {
            return terminal::print(line);
        }
        terminal::inform(line.trim_end());
        Ok(())
    }

    /// Writes text, whatever formats are requested.
    pub fn put(&mut self, text: &str) -> Result<()> {
        match &mut self.to {
            None => terminal::print(text),
            Some(file) => match file.write_all(text.as_bytes()) {
                // A closed pipe is no failure: with `| head`, the reader has got what it wanted.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                other => other.context("cannot write the results"),
            },
        }
    }

    /// Prints the results.
    pub fn end(
        &mut self,
        measurements: &[Measurement],
        prepared: &Prepared,
        elapsed: Nanos,
    ) -> Result<()> {
        let moment = Moment {
            idleness: self.idleness.clone(),
            starts: self.starts.clone(),
            ..moment(elapsed)
        };
        let version = self.general.terse_version;
        self.print_formats(&|format| match format {
            Format::Normal => dialect::normal(measurements, prepared, &moment),
            Format::Terse => dialect::terse(measurements, prepared, version),
            Format::Json => dialect::json(measurements, prepared, &moment, false),
            Format::JsonPlus => dialect::json(measurements, prepared, &moment, true),
        })
    }

    /// Prints the results of several hosts.
    pub fn end_of_clients(&mut self, clients: &[ClientResult<'_>], elapsed: Nanos) -> Result<()> {
        let moment = moment(elapsed);
        let version = self.general.terse_version;
        self.print_formats(&|format| match format {
            Format::Normal => dialect::normal_of_clients(clients, &moment),
            Format::Terse => clients
                .iter()
                .map(|client| dialect::terse(client.measurements, client.prepared, version))
                .collect(),
            Format::Json => dialect::json_of_clients(clients, &moment, false),
            Format::JsonPlus => dialect::json_of_clients(clients, &moment, true),
        })
    }

    /// Prints in every requested format, in the order in which fio prints them.
    fn print_formats(&mut self, print: &dyn Fn(Format) -> String) -> Result<()> {
        const ORDER: [Format; 4] = [
            Format::Terse,
            Format::Json,
            Format::JsonPlus,
            Format::Normal,
        ];
        for format in ORDER {
            let formats = &self.general.formats;
            // `json+` contains all of `json`.
            let repeats = format == Format::Json && formats.contains(&Format::JsonPlus);
            if formats.contains(&format) && !repeats {
                self.put(&print(format))?;
            }
        }
        Ok(())
    }
}

/// What a report says of the moment at which it is printed.
fn moment(elapsed: Nanos) -> Moment {
    let now = Zoned::now();
    Moment {
        unix_ms: u64::try_from(now.timestamp().as_millisecond()).unwrap_or(0),
        text: now.strftime("%a %b %e %H:%M:%S %Y").to_string(),
        pid: process::id(),
        // As in fio, a second that is begun counts as a whole one.
        elapsed_s: elapsed.0 / 1_000_000_000 + 1,
        ..Moment::default()
    }
}
