//! In: a table of a device file, or a part of a device. Out: the one from the other, by the rows of
//! its keys.
//!
//! Reading, writing and the guide go through the same rows, which the schema lists.

use std::fmt::Write;
use std::ops::Range;

use blocklab_syntax::toml_tree::{Complaint, Read, Value};
use blocklab_units::nearest;

/// How a value is written in a device file. Several forms may be of one type, as of a number.
pub(super) trait Form {
    /// The type of the value.
    type Of;
    /// What the guide calls it; a table has its heading instead.
    const KIND: &'static str = "";
    /// The quantity of a value.
    fn read(value: Value<'_>) -> Read<Self::Of>;
    /// Writes the key and its value.
    fn put(value: &Self::Of, name: &'static str, out: &mut Writer);
    /// The table that it is.
    fn table() -> Option<TableInfo> {
        None
    }
}

impl<T: Form> Form for Option<T> {
    type Of = Option<T::Of>;
    const KIND: &'static str = T::KIND;

    fn read(value: Value<'_>) -> Read<Self::Of> {
        T::read(value).map(Some)
    }

    fn put(value: &Self::Of, name: &'static str, out: &mut Writer) {
        if let Some(value) = value {
            T::put(value, name, out);
        }
    }

    fn table() -> Option<TableInfo> {
        T::table()
    }
}

/// A part of a device that is a table of the file.
pub(super) trait Table: Sized {
    type Of: Clone + PartialEq;
    /// Its heading where the guide shows it first: `volume.cap`.
    const PATH: &'static str;
    const MEANING: &'static str;
    const SHAPE: Shape;
    /// Its keys.
    fn rows() -> Vec<Row>;
    fn read(fields: &Fields<'_>) -> Read<Self::Of>;
    fn write(value: &Self::Of, out: &mut Writer);
}

/// How a table is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Under its own heading.
    Section,
    /// The same, and equal ones that follow each other once, with their number.
    Counted,
    /// On one line, within its parent.
    Inline,
}

/// The key for how many there are of it.
pub(super) const COUNT: &str = "count";

/// A key in the guide.
pub(super) struct Row {
    pub name: &'static str,
    pub kind: &'static str,
    pub when_absent: &'static str,
    pub meaning: &'static str,
    pub table: Option<TableInfo>,
}

impl Row {
    pub fn new<T: Form>(
        name: &'static str,
        when_absent: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self {
            name,
            kind: T::KIND,
            when_absent,
            meaning,
            table: T::table(),
        }
    }
}

/// What the guide says of a table.
pub(super) struct TableInfo {
    pub path: &'static str,
    pub meaning: &'static str,
    pub rows: fn() -> Vec<Row>,
    pub is_list: bool,
}

const fn info<T: Table>(is_list: bool) -> Option<TableInfo> {
    Some(TableInfo {
        path: T::PATH,
        meaning: T::MEANING,
        rows: T::rows,
        is_list,
    })
}

/// The keys that are given in a table.
pub(super) struct Fields<'v> {
    table: Value<'v>,
    /// What it is called where a key is missing.
    owner: &'static str,
    entries: Vec<(&'v str, Range<usize>, Value<'v>)>,
}

impl<'v> Fields<'v> {
    /// The entries of a table, once all of its keys are known ones.
    fn new<T: Table>(table: Value<'v>) -> Read<Self> {
        let rows = T::rows();
        let known: Vec<&str> = rows.iter().map(|row| row.name).collect();
        let entries = table.entries()?;
        let mut names = entries.iter();
        if let Some((name, span, _)) = names.find(|(name, ..)| !known.contains(name)) {
            let hint = match nearest(name, known.iter().copied()) {
                Some(guess) => format!("did you mean `{guess}`?"),
                None => format!("here may stand {}", known.join(", ")),
            };
            let wrong = format!("unknown key `{name}`; {hint}");
            return Err(Complaint::new(span.clone(), wrong));
        }
        let owner = match T::PATH {
            "" => "a device",
            _ => "this table",
        };
        Ok(Self {
            table,
            owner,
            entries,
        })
    }

    /// What is wrong with the table as a whole.
    pub fn complaint(&self, message: impl Into<String>) -> Complaint {
        self.table.complaint(message)
    }

    /// The value of a key, or `absent` where it is not given. Without an `absent` it must be given.
    pub fn get<T: Form>(&self, name: &str, meaning: &str, absent: Option<T::Of>) -> Read<T::Of> {
        let given = self.entries.iter().find(|(key, ..)| *key == name);
        match (given, absent) {
            (Some((.., value)), _) => T::read(*value),
            (None, Some(absent)) => Ok(absent),
            (None, None) => {
                Err(self.complaint(format!("{} needs `{name}`: {meaning}", self.owner)))
            }
        }
    }
}

/// The keys of a table, and the tables below it.
#[derive(Default)]
pub(super) struct Writer {
    path: String,
    pub lines: Vec<(&'static str, String)>,
    below: String,
}

impl Writer {
    fn new<T: Table>(table: &T::Of, path: String) -> Self {
        let mut out = Self {
            path,
            ..Self::default()
        };
        T::write(table, &mut out);
        out
    }

    /// The heading of a table below this one, and that path.
    fn heading(&mut self, name: &str, [open, close]: [&str; 2]) -> String {
        let dot = if self.path.is_empty() { "" } else { "." };
        let path = format!("{}{dot}{name}", self.path);
        let _ = writeln!(self.below, "\n{open}{path}{close}");
        path
    }

    fn pairs(&self) -> impl Iterator<Item = String> {
        self.lines
            .iter()
            .map(|(name, value)| format!("{name} = {value}"))
    }
}

/// The lines of a table. Plain keys come first: in TOML they would otherwise belong to the table
/// before them.
pub(super) fn body<T: Table>(table: &T::Of, path: String) -> String {
    let out = Writer::new::<T>(table, path);
    let plain: String = out.pairs().map(|pair| pair + "\n").collect();
    plain + &out.below
}

impl<T: Table> Form for T {
    type Of = T::Of;

    fn read(value: Value<'_>) -> Read<T::Of> {
        T::read(&Fields::new::<T>(value)?)
    }

    fn put(table: &T::Of, name: &'static str, out: &mut Writer) {
        if T::SHAPE == Shape::Inline {
            let pairs: Vec<_> = Writer::new::<T>(table, String::new()).pairs().collect();
            out.lines
                .push((name, format!("{{ {} }}", pairs.join(", "))));
        } else {
            let path = out.heading(name, ["[", "]"]);
            out.below += &body::<T>(table, path);
        }
    }

    fn table() -> Option<TableInfo> {
        info::<T>(false)
    }
}

/// What a file may hold at most of a table, so that a slip is an error and no full memory.
const MOST: u64 = 1000;

/// A list of tables; a single table is a list of one.
impl<T: Table> Form for Vec<T> {
    type Of = Vec<T::Of>;

    fn read(value: Value<'_>) -> Read<Self::Of> {
        let mut found = Vec::new();
        for item in value.list_or_one() {
            let fields = Fields::new::<T>(item)?;
            let count = fields.get::<u32>(COUNT, "", Some(1))?;
            let total = found.len() as u64 + u64::from(count);
            if count == 0 || total > MOST {
                let what = T::PATH.rsplit('.').next().unwrap_or_default();
                return Err(item.complaint(format!("1 to {MOST} {what}s are allowed")));
            }
            found.resize(total as usize, T::read(&fields)?);
        }
        Ok(found)
    }

    fn put(tables: &Self::Of, name: &'static str, out: &mut Writer) {
        for group in tables.chunk_by(|one, next| T::SHAPE == Shape::Counted && one == next) {
            let path = out.heading(name, ["[[", "]]"]);
            if group.len() > 1 {
                let _ = writeln!(out.below, "{COUNT} = {}", group.len());
            }
            out.below += &body::<T>(&group[0], path);
        }
    }

    fn table() -> Option<TableInfo> {
        info::<T>(true)
    }
}
