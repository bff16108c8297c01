//! A document as a tree of elements.
//!
//! No document type is read and no entity but XML's own five is known, so no text can grow.

use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event};

use crate::Mistake;

/// Deeper nesting than any profile has.
const DEEPEST: usize = 16;
/// More elements than any sane profile has.
const MOST: usize = 100_000;

/// An element: its name, attributes, text, and what it holds.
#[derive(Debug, Default)]
pub struct Element {
    /// Its name, without a namespace.
    pub name: String,
    /// In order.
    pub attributes: Vec<(String, String)>,
    /// What stands in it outside its children.
    pub text: String,
    /// What it holds, in order.
    pub children: Vec<Element>,
}

impl Element {
    /// The first child of this name.
    pub fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    /// The text of the first child of this name, without blanks around it.
    pub fn text_of(&self, name: &str) -> Option<&str> {
        self.child(name).map(|child| child.text.trim())
    }

    /// All children of this name.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The text of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| &**value)
    }

    /// The value of a child that holds a Boolean, if there is one.
    ///
    /// # Errors
    /// [`Mistake`] where it holds neither true nor false.
    pub fn flag(&self, name: &str) -> Result<Option<bool>, Mistake> {
        match self.text_of(name) {
            None => Ok(None),
            Some("true" | "1") => Ok(Some(true)),
            Some("false" | "0") => Ok(Some(false)),
            Some(other) => {
                let wrong = format!("`{other}` is neither true nor false");
                Err(Mistake::new(name, wrong))
            }
        }
    }

    /// A whole number; an empty element counts as none, as templates leave them.
    ///
    /// # Errors
    /// [`Mistake`] where it is none.
    pub fn number<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, Mistake> {
        let Some(text) = self.text_of(name).filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        let wrong = || Mistake::new(name, format!("`{text}` is no whole number that fits here"));
        text.parse().map(Some).map_err(|_| wrong())
    }
}

/// Reads a document into its root element.
///
/// # Errors
/// [`Mistake`] with the line: no XML, an entity or a document type that is not read, or more
/// elements than any profile has.
pub fn document(text: &str) -> Result<Element, Mistake> {
    let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}'));
    // The elements that are open; the outermost stands for the document.
    let mut open = vec![Element::default()];
    let mut seen = 0;
    loop {
        let event = reader.read_event();
        let at = reader.buffer_position() as usize;
        let wrong = |message: &str| {
            let before = &text[..text.floor_char_boundary(at)];
            let line = before.matches('\n').count() + 1;
            Mistake::new(format!("XML, line {line}"), message)
        };
        let event = event.map_err(|error| wrong(&error.to_string()))?;
        let ends = matches!(event, Event::Empty(_) | Event::End(_));
        match event {
            Event::Start(start) | Event::Empty(start) => {
                seen += 1;
                if open.len() > DEEPEST || seen > MOST {
                    return Err(wrong("more elements than any profile has"));
                }
                open.push(element(&start)?);
            }
            Event::End(_) if open.len() == 1 => {
                return Err(wrong("an element is closed that is not open"));
            }
            Event::Text(part) => add(&mut open, &part),
            Event::CData(part) => add(&mut open, &part),
            Event::GeneralRef(name) => match (name.resolve_char_ref(), resolve_xml_entity(&name)) {
                (Ok(Some(character)), _) => add(&mut open, character.encode_utf8(&mut [0; 4])),
                (_, Some(text)) => add(&mut open, text),
                _ => return Err(wrong("only XML's own five entities are known")),
            },
            Event::DocType(_) => {
                return Err(wrong("a document type is not read: remove the <!DOCTYPE>"));
            }
            Event::Eof => return Err(wrong("the text ends before its root element does")),
            _ => {}
        }
        if ends {
            let done = open.pop().expect("an element");
            match &mut open[..] {
                [_] => return Ok(done),
                [.., parent] => parent.children.push(done),
                [] => unreachable!("the document stays"),
            }
        }
    }
}

fn add(open: &mut [Element], text: &str) {
    if let Some(current) = open.last_mut() {
        current.text.push_str(text);
    }
}

fn element(start: &BytesStart<'_>) -> Result<Element, Mistake> {
    let name = start.local_name().as_ref().to_owned();
    let mut attributes = Vec::new();
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| Mistake::new(&*name, error.to_string()))?;
        let key = attribute.key.as_ref().to_owned();
        attributes.push((key, attribute.value.into_owned()));
    }
    Ok(Element {
        name,
        attributes,
        ..Element::default()
    })
}
