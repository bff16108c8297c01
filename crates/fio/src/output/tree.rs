//! JSON in the order and layout in which fio prints it.

use std::fmt::Write;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree {
    Object(Vec<(String, Tree)>),
    Array(Vec<Tree>),
    Int(i64),
    Float(f64),
    Text(String),
}

/// The members of an object, in order.
pub(super) type Members = Vec<(String, Tree)>;

/// Members by name: whatever becomes a tree may be a value.
macro_rules! members {
    ($($name:literal: $value:expr),* $(,)?) => {
        vec![$(($name.to_owned(), $crate::output::tree::Tree::from($value))),*]
    };
}
pub(super) use members;

/// What becomes a tree, one line a type.
macro_rules! from {
    ($($type:ty: |$value:ident| $made:expr;)*) => {
        $(impl From<$type> for Tree {
            fn from($value: $type) -> Self {
                $made
            }
        })*
    };
}

from! {
    u64: |number| Self::Int(number as i64);
    i32: |number| Self::Int(number.into());
    f64: |number| Self::Float(number);
    String: |text| Self::Text(text);
    &String: |text| Self::Text(text.clone());
    &str: |text| Self::Text(text.to_owned());
    Members: |members| Self::Object(members);
    Vec<Self>: |items| Self::Array(items);
}

impl Tree {
    /// The text, indented by two blanks a level, with blanks around the colons.
    pub(super) fn print(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, 0);
        text.push('\n');
        text
    }

    fn write(&self, text: &mut String, depth: usize) {
        match self {
            Self::Int(number) => text.push_str(&number.to_string()),
            // Writing to a text does not fail.
            Self::Float(number) => write!(text, "{number:.6}").unwrap_or(()),
            Self::Text(words) => text.push_str(&quoted(words)),
            Self::Object(members) => {
                list(text, depth, ('{', '}'), members, |text, (key, value)| {
                    text.push_str(&quoted(key));
                    text.push_str(" : ");
                    value.write(text, depth + 1);
                });
            }
            Self::Array(items) => {
                list(text, depth, ('[', ']'), items, |text, item| {
                    item.write(text, depth + 1);
                });
            }
        }
    }
}

fn list<T>(
    text: &mut String,
    depth: usize,
    (open, close): (char, char),
    items: &[T],
    write: impl Fn(&mut String, &T),
) {
    text.push(open);
    for (index, item) in items.iter().enumerate() {
        text.push_str(if index == 0 { "\n" } else { ",\n" });
        text.push_str(&"  ".repeat(depth + 1));
        write(text, item);
    }
    text.push('\n');
    text.push_str(&"  ".repeat(depth));
    text.push(close);
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
