//! The output directory and the files in it.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::context;
use super::times;

/// Where reports go.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    is_new: bool,
}

impl Folder {
    /// `DIR` is reused, its reports removed; `DIR+` takes the next free number, `DIR.tod` the
    /// time of day.
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
        folder.create("errorlog", "")?;
        folder.create("logfile", "")?;
        folder.create("status", STATUS)?;
        Ok(folder)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it was made for this run.
    pub const fn is_new(&self) -> bool {
        self.is_new
    }

    /// Only what a run writes is removed.
    fn clear(&self) -> Result<()> {
        let entries = context(fs::read_dir(&self.path), "read the directory", &self.path)?;
        for entry in entries.flatten() {
            let path = entry.path();
            if path
                .extension()
                .is_some_and(|extension| extension == "html")
            {
                context(fs::remove_file(&path), "remove", &path)?;
            }
        }
        Ok(())
    }

    fn file(&self, name: &str) -> PathBuf {
        // A name of a definition may hold a slash.
        self.path.join(format!("{}.html", name.replace('/', "_")))
    }

    /// A new file with its title.
    pub fn create(&self, name: &str, text: &str) -> Result<()> {
        let path = self.file(name);
        let title = format!("<title>Vdbench {}</title><pre>\n", path.display());
        context(fs::write(&path, title + text), "write", &path)
    }

    /// More text at the end of a file.
    pub fn append(&self, name: &str, text: &str) -> Result<()> {
        let path = self.file(name);
        let file = OpenOptions::new().append(true).create(true).open(&path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        context(written, "write", &path)
    }

    /// A line for monitors: time, event, and of a run its name and loops.
    pub fn status(&self, event: &str, run: Option<(&str, &str)>) -> Result<()> {
        let run = run.map_or(String::new(), |(name, loops)| {
            format!("\trd={name}\t{loops}")
        });
        self.append("status", &format!("{}\t{event}{run}\n", times::now().stamp))
    }

    /// What was read, as it was read.
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
        let scanned: String = text
            .lines()
            .filter(|line| line.contains('=') && !line.starts_with(['*', '#', '/']))
            .map(|line| format!("line: {line}\n"))
            .collect();
        self.create("parmscan", &scanned)
    }
}

const STATUS: &str = "* A line for each event: time, event, and of a run its name and its loops, \
                      with tabs between them.\n";

fn numbered(stem: &str) -> Result<PathBuf> {
    for number in 1..=999 {
        let path = PathBuf::from(format!("{stem}{number:03}"));
        if !path.exists() {
            return Ok(path);
        }
    }
    bail!("{stem}001 to {stem}999 are there already; another name for -o would work")
}
