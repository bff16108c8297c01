//! The results, in every requested form.

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
    /// When jobs began, for those that report it.
    pub starts: BTreeMap<String, u64>,
}

impl<'a> Out<'a> {
    /// Opens it: a file that cannot be written is reported before anything runs.
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

    /// What stands before the results, where people read them.
    pub fn begin(&mut self, prepared: &Prepared) -> Result<()> {
        if self.general.formats.contains(&Format::Normal) {
            self.put(&dialect::header(prepared))?;
        }
        Ok(())
    }

    /// A word to people, where they read along.
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

    /// Text before the results, in any format.
    pub fn put(&mut self, text: &str) -> Result<()> {
        match &mut self.to {
            None => terminal::print(text),
            Some(file) => match file.write_all(text.as_bytes()) {
                // A reader that has gone away has what it wanted.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                other => other.context("cannot write the results"),
            },
        }
    }

    /// The results.
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
        self.print_forms(&|format| match format {
            Format::Normal => dialect::normal(measurements, prepared, &moment),
            Format::Terse => dialect::terse(measurements, prepared, version),
            Format::Json => dialect::json(measurements, prepared, &moment, false),
            Format::JsonPlus => dialect::json(measurements, prepared, &moment, true),
        })
    }

    /// The results of several hosts.
    pub fn end_of_clients(&mut self, clients: &[ClientResult<'_>], elapsed: Nanos) -> Result<()> {
        let moment = moment(elapsed);
        let version = self.general.terse_version;
        self.print_forms(&|format| match format {
            Format::Normal => dialect::normal_of_clients(clients, &moment),
            Format::Terse => clients
                .iter()
                .map(|client| dialect::terse(client.measurements, client.prepared, version))
                .collect(),
            Format::Json => dialect::json_of_clients(clients, &moment, false),
            Format::JsonPlus => dialect::json_of_clients(clients, &moment, true),
        })
    }

    /// Prints in every format that is requested.
    fn print_forms(&mut self, print: &dyn Fn(Format) -> String) -> Result<()> {
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

fn moment(elapsed: Nanos) -> Moment {
    let now = Zoned::now();
    Moment {
        unix_ms: u64::try_from(now.timestamp().as_millisecond()).unwrap_or(0),
        text: now.strftime("%a %b %e %H:%M:%S %Y").to_string(),
        pid: process::id(),
        elapsed_s: elapsed.0 / 1_000_000_000 + 1,
        ..Moment::default()
    }
}
