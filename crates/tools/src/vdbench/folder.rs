//! The output directory and the files in it.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::context;
use super::times;
use blocklab_results::output::{self, Over};

/// The output directory.
#[derive(Debug)]
pub struct Folder {
    pub path: PathBuf,
    /// Whether it was created by this command.
    pub is_new: bool,
}

impl Folder {
    /// Creates the directory for the value of `-o`. `DIR` is reused after its old reports are removed;
    /// `DIR+` gets the next free number as a suffix, and `DIR.tod` the date and time.
    pub fn make(name: &str) -> Result<Self> {
        let path = match (name.strip_suffix('+'), name.strip_suffix(".tod")) {
            (Some(stem), _) => numbered(stem)?,
            (_, Some(stem)) => {
                let now = jiff::Zoned::now().strftime("%y%m%d.%H%M%S").to_string();
                PathBuf::from(format!("{stem}.{now}"))
            }
            _ => PathBuf::from(name),
        };
        let is_new = !path.exists();
        context(fs::create_dir_all(&path), "make the directory", &path)?;
        let folder = Self {
            is_new,
            path: context(fs::canonicalize(&path), "find", &path)?,
        };
        folder.clear()?;
        let errors = format!("Vdbench error log, created {}\n{ERRORS}", times::created());
        folder.create("errorlog", &errors)?;
        folder.create("logfile", "")?;
        folder.create("status", STATUS)?;
        Ok(folder)
    }

    /// Removes old reports. Other files stay, and so do reports that a user has renamed.
    fn clear(&self) -> Result<()> {
        let entries = context(fs::read_dir(&self.path), "read the directory", &self.path)?;
        for entry in entries.flatten() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_file()) && is_report(&path) {
                context(fs::remove_file(&path), "remove", &path)?;
            }
        }
        Ok(())
    }

    /// The path of a report.
    fn file(&self, name: &str) -> PathBuf {
        // The name of a definition may contain a slash.
        self.path.join(format!("{}.html", name.replace('/', "_")))
    }

    /// Creates a report that begins with its title.
    pub fn create(&self, name: &str, text: &str) -> Result<()> {
        let path = self.file(name);
        let title = format!("{TITLE}{}</title><pre>\n", title(&path));
        remove_old(&path)?;
        output::write(&path, title + text, Over::Files)
    }

    /// Creates an empty file without a title.
    pub fn create_plain(&self, name: &str) -> Result<()> {
        let path = self.path.join(name);
        remove_old(&path)?;
        output::create(&path, Over::Files).map(drop)
    }

    /// Adds text at the end of a report.
    pub fn append(&self, name: &str, text: &str) -> Result<()> {
        let path = self.file(name);
        let written = output::append(&path)?.write_all(text.as_bytes());
        context(written, "write", &path)
    }

    /// Adds a line to the status file, which monitoring scripts read: time, event, and the name and
    /// loops of a run.
    pub fn status(&self, event: &str, run: Option<(&str, &str)>) -> Result<()> {
        let run = run.map_or(String::new(), |(name, loops)| {
            format!("\trd={name}\t{loops}")
        });
        let stamp = times::now().stamp;
        self.append("status", &format!("{stamp} \t{event}{run}\n"))
    }

    /// Copies the parameter files as they were read, and lists the lines with parameters.
    pub fn copy_parameters(
        &self,
        files: &[String],
        read: &dyn Fn(&Path) -> io::Result<String>,
    ) -> Result<()> {
        let mut text = String::new();
        for file in files {
            let path = Path::new(file);
            text.push_str(&format!("\n* Contents of parameter file: {file}\n\n"));
            text.push_str(&context(read(path), "read", path)?);
        }
        self.create("parmfile", &text)?;
        let mut scanned = String::new();
        for line in text.lines() {
            let is_comment = line.starts_with(['*', '#', '/']);
            if line.contains('=') && !is_comment {
                scanned.push_str(&format!("line: {line}\n"));
            }
        }
        self.create("parmscan", &scanned)
    }
}

/// Removes a file before a new one of its name is created, as Vdbench does. Writing into it would
/// change the file that a link leads to, or a copy that is a hard link.
fn remove_old(path: &Path) -> Result<()> {
    if fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        context(fs::remove_file(path), "remove", path)
    } else {
        Ok(())
    }
}

/// How the title of each report begins.
const TITLE: &str = "<title>Vdbench ";

/// Whether a file is a report under its own name: the title at its beginning ends with that name.
fn is_report(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(8192).read_to_end(&mut head));
    let head = String::from_utf8_lossy(&head);
    let written = head
        .strip_prefix(TITLE)
        .and_then(|rest| rest.split_once("</title>"))
        .and_then(|(title, _)| Path::new(title).file_name());
    read.is_ok()
        && path
            .extension()
            .is_some_and(|extension| extension == "html")
        && written == path.file_name()
}

const STATUS: &str = "* Vdbench status\n\n* A line for each event: time, event, and of a run its name and \
                      its loops, with tabs between them.\n\n";
const ERRORS: &str = "Failed operations and wrong blocks follow; nothing follows where there are \
                      none.\n\n";

/// The end of a report's title: the last two parts of its path, directory and file.
fn title(path: &Path) -> String {
    let mut names = path.iter().rev().take(2).map(|name| name.to_string_lossy());
    let (file, directory) = (names.next(), names.next());
    let (directory, file) = (directory.unwrap_or_default(), file.unwrap_or_default());
    format!("{directory}/{file}").replace(char::is_control, "?")
}

/// The first path `STEM001` to `STEM999` that does not exist.
fn numbered(stem: &str) -> Result<PathBuf> {
    let mut paths = (1..=999).map(|number| PathBuf::from(format!("{stem}{number:03}")));
    match paths.find(|path| !path.exists()) {
        Some(path) => Ok(path),
        None => bail!("{stem}001 to {stem}999 are there already; another name for -o would work"),
    }
}
