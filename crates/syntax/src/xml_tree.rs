//! In: an XML document as text. Out: the tree of its elements.
//!
//! Document types are refused and only XML's own five entities are known, so the memory of the tree
//! grows with the text and not with what entities would expand to.

use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::attributes::AttrError;
use quick_xml::events::{BytesStart, Event};

use crate::Mistake;

/// Elements open at once, at most; a profile inside a result has nine.
const MAX_DEPTH: usize = 16;
/// Elements in a document, at most: a bound for the memory of hostile ones, about 0.1 KiB an element.
/// The result of a day with an interval each second (`-D`) for each of 32 threads has 2.9 million.
const MAX_ELEMENTS: usize = 4_000_000;

/// An element: its name, attributes, text and children.
#[derive(Debug, Default)]
pub struct Element {
    /// Its name, without a namespace.
    pub name: String,
    /// Name and value of each attribute, in order; the value as it is written, with its entities.
    pub attributes: Vec<(String, String)>,
    /// Its text outside its children.
    pub text: String,
    /// The elements in it, in order.
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

    /// The whole number in a child. An empty child counts as absent, because templates have such.
    ///
    /// # Errors
    /// [`Mistake`] where the text is not a number of this type.
    pub fn number<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, Mistake> {
        let Some(text) = self.text_of(name).filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        text.parse().map(Some).map_err(|_| {
            let message = format!("`{text}` is not a whole number in the range of this element");
            Mistake::new(name, message)
        })
    }
}

/// Reads a document into its root element.
///
/// # Errors
/// [`Mistake`] with the line: not XML, an unknown entity, a document type, a second root element, or
/// more elements than any profile or result has.
pub fn document(text: &str) -> Result<Element, Mistake> {
    let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}'));
    // The elements that are open. The outermost is the document, whose child is the root element.
    let mut open = vec![Element::default()];
    let mut elements = 0;
    loop {
        let read = reader.read_event();
        let at = reader.buffer_position() as usize;
        let event = read.map_err(|error| wrong_at(text, at, &error.to_string()))?;
        // `<a/>` is one event, which both opens an element below and closes it at the end.
        let ends = matches!(event, Event::Empty(_) | Event::End(_));
        match event {
            Event::Start(start) | Event::Empty(start) => {
                elements += 1;
                if open.len() > MAX_DEPTH || elements > MAX_ELEMENTS {
                    return Err(wrong_at(text, at, "more elements than any profile has"));
                }
                if let [Element { children, .. }] = &open[..]
                    && !children.is_empty()
                {
                    let message = "a second document follows the end of the first: one is read";
                    return Err(wrong_at(text, at, message));
                }
                let element = element(&start);
                open.push(element.map_err(|error| wrong_at(text, at, &error.to_string()))?);
            }
            Event::End(_) if open.len() == 1 => {
                let message = "this closes an element that is not open";
                return Err(wrong_at(text, at, message));
            }
            Event::Text(part) => add(&mut open, &part),
            Event::CData(part) => add(&mut open, &part),
            Event::GeneralRef(name) => match (name.resolve_char_ref(), resolve_xml_entity(&name)) {
                (Ok(Some(character)), _) => add(&mut open, character.encode_utf8(&mut [0; 4])),
                (_, Some(character)) => add(&mut open, character),
                _ => {
                    let message = "only XML's own five entities are known";
                    return Err(wrong_at(text, at, message));
                }
            },
            Event::DocType(_) => {
                let message = "document types are not supported: remove the <!DOCTYPE>";
                return Err(wrong_at(text, at, message));
            }
            Event::Eof => {
                let root = match &mut open[..] {
                    [document] => document.children.pop(),
                    _ => None,
                };
                let message = "the text ends before its root element does";
                return root.ok_or_else(|| wrong_at(text, at, message));
            }
            _ => {}
        }
        if ends {
            // The document itself never ends: an `End` without an open element is refused above.
            let ended = open.pop().expect("an open element");
            let parent = open.last_mut().expect("the document");
            parent.children.push(ended);
        }
    }
}

/// A mistake in the line with this byte.
fn wrong_at(text: &str, at: usize, message: &str) -> Mistake {
    let before = &text[..text.floor_char_boundary(at)];
    let line = before.matches('\n').count() + 1;
    Mistake::new(format!("XML, line {line}"), message)
}

/// Adds text to the innermost open element.
fn add(open: &mut [Element], text: &str) {
    if let Some(current) = open.last_mut() {
        current.text.push_str(text);
    }
}

/// The element that a tag opens, without text and children.
fn element(start: &BytesStart<'_>) -> Result<Element, AttrError> {
    let name = start.local_name().as_ref().to_owned();
    let mut attributes = Vec::new();
    for attribute in start.attributes() {
        let attribute = attribute?;
        let key = attribute.key.as_ref().to_owned();
        attributes.push((key, attribute.value.into_owned()));
    }
    Ok(Element {
        name,
        attributes,
        ..Element::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: the result of an hour with an interval each second for each of 32 threads was
    /// written by `blocklab diskspd` and refused by `blocklab import`: "more elements than any profile
    /// has".
    #[test]
    fn a_long_result_is_read() {
        let series = "<Bucket SampleMillisecond=\"1000\"/>".repeat(33 * 3600);
        let root = document(&format!("<Iops>{series}</Iops>")).expect("sound");
        assert_eq!(root.all("Bucket").count(), 33 * 3600);
    }

    /// The story: an attribute that is there twice was reported without its line.
    #[test]
    fn a_wrong_attribute_has_a_line() {
        let error = document("<Iops>\n<Bucket Read='1' Read='2'/></Iops>").expect_err("twice");
        let text = error.to_string();
        assert!(text.starts_with("XML, line 2: "), "{text}");
    }

    /// The story: of two profiles in one file, the second was dropped and nothing said so.
    #[test]
    fn a_second_document_is_refused() {
        let two = "<?xml version='1.0'?>\n<Profile/>\n<!-- kept -->\n<Profile/>\n";
        let error = document(two).expect_err("two documents").to_string();
        assert!(
            error.starts_with("XML, line 4: a second document"),
            "{error}"
        );
        let one = document("<!-- a -->\n<Profile><A>1</A></Profile>\n<!-- b -->\n");
        assert_eq!(one.expect("sound").text_of("A"), Some("1"));
    }
}
