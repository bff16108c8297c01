//! TOML to a device: every table by its row in the schema.

use std::ops::Range;

use blocklab_device::DeviceSpec;
use blocklab_units::nearest;
use serde_json::{Map, Value, json};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::mistake::Mistake;
use super::schema::{Absent, COUNT, DEVICE, FAULT_KINDS, Key, Kind, Section};
use super::units;

/// Reads a device.
///
/// # Errors
/// The first mistake: where, what, and what would work.
pub fn parse(text: &str) -> Result<DeviceSpec, Mistake> {
    let table = DeTable::parse(text).map_err(|error| {
        let place = error.span().unwrap_or(0..0);
        Mistake::at(text, place, error.message().to_owned())
    })?;
    let reader = Reader { text };
    let place = table.span();
    let value = reader.section(&DEVICE, table.get_ref(), place)?;
    serde_json::from_value(value).map_err(|why| Mistake::whole(why.to_string()))
}

/// What a device file may hold at most, so that a slip is an error and no full memory.
const MOST_VOLUMES: u64 = 1000;

struct Reader<'t> {
    text: &'t str,
}

type Node<'a> = Spanned<DeValue<'a>>;

impl Reader<'_> {
    fn wrong<T>(&self, at: Range<usize>, message: impl Into<String>) -> Result<T, Mistake> {
        Err(Mistake::at(self.text, at, message.into()))
    }

    fn section(
        &self,
        section: &Section,
        table: &DeTable<'_>,
        place: Range<usize>,
    ) -> Result<Value, Mistake> {
        let mut found = Map::new();
        for (name, node) in table {
            let Some(key) = section
                .keys
                .iter()
                .find(|key| key.name == name.get_ref().as_ref())
            else {
                return self.unknown(section, name.get_ref(), name.span());
            };
            found.insert(key.field.to_owned(), self.value(key, node)?);
        }
        for key in section
            .keys
            .iter()
            .filter(|key| !table.contains_key(key.name))
        {
            match key.when_absent {
                Absent::Wrong => return self.missing(section, key, place),
                Absent::Json(json, _) => {
                    let value = serde_json::from_str(json).unwrap_or(Value::Null);
                    found.insert(key.field.to_owned(), value);
                }
                Absent::Default(_) => (),
            }
        }
        match section.path {
            "fault" => self.fault(found, place),
            _ => Ok(Value::Object(found)),
        }
    }

    fn unknown(
        &self,
        section: &Section,
        name: &str,
        place: Range<usize>,
    ) -> Result<Value, Mistake> {
        let known = section.keys.iter().map(|key| key.name);
        let hint = match nearest(name, known.clone()) {
            Some(guess) => format!("did you mean `{guess}`?"),
            None => format!("here may stand {}", known.collect::<Vec<_>>().join(", ")),
        };
        self.wrong(place, format!("unknown key `{name}`; {hint}"))
    }

    fn missing(&self, section: &Section, key: &Key, place: Range<usize>) -> Result<Value, Mistake> {
        let of = match section.path {
            "" => "a device".to_owned(),
            path => format!("[{path}]"),
        };
        let message = format!("{of} needs `{}`: {}", key.name, key.meaning);
        self.wrong(place, message)
    }

    /// A fault's own form has one field for what happens.
    fn fault(&self, mut found: Map<String, Value>, place: Range<usize>) -> Result<Value, Mistake> {
        let kinds: Vec<(&str, Value)> = FAULT_KINDS
            .iter()
            .filter_map(|name| Some((*name, found.remove(*name)?)))
            .collect();
        let kind = match kinds.as_slice() {
            [("state", state)] => state.clone(),
            [(name, value)] => json!({ *name: value }),
            _ => return self.wrong(place, "a fault has exactly one of state, latency and error"),
        };
        found.insert("kind".to_owned(), kind);
        Ok(Value::Object(found))
    }

    fn value(&self, key: &Key, node: &Node<'_>) -> Result<Value, Mistake> {
        match (key.kind, node.get_ref()) {
            (Kind::Table(section), DeValue::Table(table)) => {
                self.section(section, table, node.span())
            }
            (Kind::Tables(section), DeValue::Array(items)) => self.tables(section, items.iter()),
            // One table where several are allowed.
            (Kind::Tables(section), DeValue::Table(_)) => {
                self.tables(section, std::iter::once(node))
            }
            (Kind::Origin, DeValue::Table(table)) => self.documented(table, node.span()),
            (kind, DeValue::String(text)) => {
                let value = from_text(kind, text);
                value.or_else(|message| self.wrong(node.span(), message))
            }
            (kind, number) => from_number(kind, number).map_or_else(
                || {
                    let message = format!("`{}` wants {}", key.name, wanted(kind));
                    self.wrong(node.span(), message)
                },
                Ok,
            ),
        }
    }

    fn tables<'n, 'v: 'n>(
        &self,
        section: &Section,
        items: impl Iterator<Item = &'n Node<'v>>,
    ) -> Result<Value, Mistake> {
        let mut found = Vec::new();
        for item in items {
            let DeValue::Table(table) = item.get_ref() else {
                return self.wrong(item.span(), format!("[[{}]] is a table", section.path));
            };
            let mut value = self.section(section, table, item.span())?;
            let count = value
                .as_object_mut()
                .and_then(|object| object.remove(COUNT)?.as_u64())
                .unwrap_or(1);
            if count == 0 || found.len() as u64 + count > MOST_VOLUMES {
                return self.wrong(
                    item.span(),
                    format!("a device has 1 to {MOST_VOLUMES} volumes"),
                );
            }
            found.extend(std::iter::repeat_n(value, count as usize));
        }
        Ok(Value::Array(found))
    }

    /// `{ documented = "SOURCE", date = "DATE" }`.
    fn documented(&self, table: &DeTable<'_>, place: Range<usize>) -> Result<Value, Mistake> {
        let origin = (text(table, "documented"), text(table, "date"));
        if let ((Some(source), Some(date)), 2) = (origin, table.len()) {
            return Ok(json!({ "documented": { "source": source, "date": date } }));
        }
        // Texts that begin with a blank have this form too.
        for (how, field) in units::ORIGINS {
            if let (Some(why), 1) = (text(table, how), table.len()) {
                return Ok(json!({ how: { field: why } }));
            }
        }
        self.wrong(
            place,
            "an origin is { documented = \"SOURCE\", date = \"DATE\" } or a text",
        )
    }
}

fn text(table: &DeTable<'_>, name: &str) -> Option<String> {
    match table.get(name)?.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        _ => None,
    }
}

fn from_text(kind: Kind, text: &str) -> Result<Value, String> {
    match kind {
        Kind::Text => Ok(json!(text)),
        Kind::Size => units::size(text).map(|bytes| json!(bytes)),
        Kind::Time => units::time(text).map(|nanos| json!(nanos)),
        Kind::FineTime => units::fine_time(text),
        Kind::Rate => units::rate(text),
        Kind::Bucket => units::size(text).map(|bytes| json!(bytes as f64)),
        Kind::Origin => units::origin(text),
        Kind::Layout => units::layout(text),
        Kind::Accounting => units::accounting(text),
        Kind::Word(words) if words.contains(&text) => Ok(json!(text)),
        Kind::Word(words) => {
            let guess = nearest(text, words.iter().copied());
            let hint = guess.map_or_else(
                || words.join(", "),
                |guess| format!("did you mean `{guess}`?"),
            );
            Err(format!("`{text}` is not one of these words; {hint}"))
        }
        other => Err(format!("`{text}`: wanted is {}", wanted(other))),
    }
}

fn from_number(kind: Kind, value: &DeValue<'_>) -> Option<Value> {
    let float = match value {
        DeValue::Integer(number) => number.as_str().parse::<f64>().ok(),
        DeValue::Float(number) => number.as_str().parse().ok(),
        _ => None,
    };
    let float = float.filter(|number: &f64| number.is_finite());
    match (kind, value) {
        (Kind::Count, DeValue::Integer(number)) => number
            .as_str()
            .parse::<u32>()
            .ok()
            .map(|number| json!(number)),
        (Kind::Number | Kind::Bucket, _) => float.map(|number| json!(number)),
        _ => None,
    }
}

fn wanted(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "a text",
        Kind::Count => "a whole number",
        Kind::Number => "a number",
        Kind::Size => "a size such as \"256KiB\"",
        Kind::Time | Kind::FineTime => "a time such as \"600us\"",
        Kind::Rate => "a rate such as \"3000 IOPS\" or \"125 MiB/s\"",
        Kind::Bucket => "a number of operations, or a size such as \"1TiB\"",
        Kind::Origin => "an origin such as \"given\"",
        Kind::Layout => "a layout such as \"striped 256KiB\"",
        Kind::Accounting => "\"plain\", \"merged 256KiB\" or \"whole units 1MiB\"",
        Kind::Word(_) => "one of its words",
        Kind::Table(_) => "a table",
        Kind::Tables(_) => "tables, each headed [[…]]",
    }
}
