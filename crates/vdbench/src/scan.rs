//! Lines to parameters: `keyword=value[,keyword=value…]`.

use blocklab_record::{Note, NoteLevel};

use super::error::{Mistake, Place, Subject};
use super::lines::Line;

/// One `keyword=value`, the value as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parameter {
    pub(super) place: Place,
    /// In lower case, as written: it may be abbreviated.
    pub(super) keyword: String,
    /// Behind the first `=`, quotes taken off.
    pub(super) raw: Vec<Piece>,
}

/// A character of a value, and whether it was in quotes, which make commas and such part of a word.
pub(super) type Piece = (char, bool);

impl Parameter {
    pub(super) fn text(&self) -> String {
        text(&self.raw)
    }

    /// Whether its value has `$host` or `!host` in it, for the name of a host.
    pub(super) fn names_host(&self) -> bool {
        (0..self.raw.len()).any(|at| begins_host(&self.raw[at..]))
    }

    /// The parameter with this name in place of `$host` and `!host`.
    pub(super) fn with_host(&self, name: &str) -> Self {
        let mut raw = Vec::new();
        let mut rest = &self.raw[..];
        while let Some((first, others)) = rest.split_first() {
            if begins_host(rest) {
                // As if in quotes: a hyphen in the name of a host makes no range.
                raw.extend(name.chars().map(|letter| (letter, true)));
                rest = &rest[HOST.len()..];
            } else {
                raw.push(*first);
                rest = others;
            }
        }
        Self {
            raw,
            ..self.clone()
        }
    }
}

/// What stands for the name of a host; `!host` does, too.
const HOST: &str = "$host";

fn begins_host(pieces: &[Piece]) -> bool {
    let word = text(&pieces[..pieces.len().min(HOST.len())]);
    word == HOST || word == "!host"
}

impl Subject for Parameter {
    fn subject(&self) -> (&Place, String) {
        (&self.place, format!("{}=", self.keyword))
    }
}

fn text(pieces: &[Piece]) -> String {
    pieces.iter().map(|(letter, _)| letter).collect()
}

/// All parameters of the files, in order.
pub(super) struct Scanned {
    pub(super) parameters: Vec<Parameter>,
    /// On run definitions that the command line does not reach.
    pub(super) notes: Vec<Note>,
}

/// Takes the lines apart. `extra`, the parameters of the command line, is put after each run
/// definition that is on one line; as in the original, one over several lines stays as it is.
pub(super) fn scan(lines: &[Line], extra: Option<&str>) -> Result<Scanned, Mistake> {
    let mut scanned = Scanned {
        parameters: Vec::new(),
        notes: Vec::new(),
    };
    let mut lines = lines.iter();
    while let Some(line) = lines.next() {
        let mut joined = Joined::default();
        joined.add(&line.text, &line.place)?;
        if let Some(extra) = extra
            && begins_run(&line.text)
        {
            if joined.is_continued() {
                let place = &line.place;
                let text = format!(
                    "{place}: a run definition that goes over several lines stays as it is"
                );
                Note::new(NoteLevel::Ignored, format!("+ {extra}"), text)
                    .add_to(&mut scanned.notes);
            } else {
                joined.pieces.push((',', false));
                joined.add(extra, &line.place)?;
            }
        }
        while joined.is_continued() {
            let Some(next) = lines.next() else { break };
            joined.add(&next.text, &next.place)?;
        }
        joined.split(&mut scanned.parameters)?;
    }
    Ok(scanned)
}

fn begins_run(line: &str) -> bool {
    line.get(..3)
        .is_some_and(|word| word.eq_ignore_ascii_case("rd="))
}

/// A line with the lines that continue it.
#[derive(Default)]
struct Joined {
    pieces: Vec<Piece>,
    /// Where each of the joined lines begins: the index of its first piece.
    places: Vec<(usize, Place)>,
}

impl Joined {
    fn add(&mut self, text: &str, place: &Place) -> Result<(), Mistake> {
        self.places.push((self.pieces.len(), place.clone()));
        let (mut pieces, is_open) = unquote(text);
        // The blanks and commas after an open quotation mark, and with them the next parameters, would belong
        // to the value. A mark in the last word of a line does no harm, and Vdbench accepts it.
        let word = &text[text.rfind('"').unwrap_or(0)..];
        if is_open && word.contains([',', ' ', '\t']) {
            return Err(Mistake::new(word, "the quotation mark is not closed").at(place));
        }
        self.pieces.append(&mut pieces);
        Ok(())
    }

    /// Whether it ends in a comma, so that the next line continues it.
    fn is_continued(&self) -> bool {
        matches!(self.pieces.last(), Some((',', false)))
    }

    fn place(&self, index: usize) -> &Place {
        let after = self.places.partition_point(|(begin, _)| *begin <= index);
        &self.places[after.saturating_sub(1)].1
    }

    /// Cuts at the commas outside parentheses.
    fn split(&self, into: &mut Vec<Parameter>) -> Result<(), Mistake> {
        let mut depth = 0_usize;
        let mut begin = 0;
        for (index, piece) in self.pieces.iter().enumerate() {
            match piece {
                ('(', false) => depth += 1,
                (')', false) if depth == 0 => {
                    let message = "a closing parenthesis without an opening one";
                    let word = text(&self.pieces[begin..=index]);
                    return Err(Mistake::new(word, message).at(self.place(index)));
                }
                (')', false) => depth -= 1,
                (',', false) if depth == 0 && !self.is_in_address(begin, index) => {
                    self.push(begin, index, into)?;
                    begin = index + 1;
                }
                _ => {}
            }
        }
        if depth > 0 {
            let message = "the parenthesis is not closed; a list that goes on in the next line \
                           ends in a comma";
            let word = text(&self.pieces[begin..]);
            return Err(Mistake::new(word, message).at(self.place(begin)));
        }
        self.push(begin, self.pieces.len(), into)
    }

    /// Whether a comma belongs to the address of a model, which reaches to its `@`:
    /// `lun=sim:local,as-of=2018-08-01@i3.metal,threads=8`.
    fn is_in_address(&self, begin: usize, comma: usize) -> bool {
        let before = text(&self.pieces[begin..comma]).to_lowercase();
        let is_model = ["lun=sim:", "lun=emu:"]
            .iter()
            .any(|model| before.starts_with(model));
        is_model && !before.contains('@') && self.pieces[comma..].iter().any(|piece| piece.0 == '@')
    }

    /// Adds the parameter that the pieces from `begin` to `end` are.
    fn push(&self, begin: usize, end: usize, into: &mut Vec<Parameter>) -> Result<(), Mistake> {
        let pieces = &self.pieces[begin..end];
        if pieces.is_empty() {
            return Ok(());
        }
        let refused =
            |about: String, message: &str| Err(Mistake::new(about, message).at(self.place(begin)));
        let Some(equals) = pieces.iter().position(|piece| *piece == ('=', false)) else {
            let message = "keyword=value is expected, as in sd=sd1,lun=/dev/sdb";
            return refused(text(pieces), message);
        };
        let keyword = text(&pieces[..equals]);
        if keyword.chars().count() < 2 {
            return refused(format!("{keyword}="), "a keyword has at least two letters");
        }
        let raw = pieces[equals + 1..].to_vec();
        if raw.is_empty() {
            return refused(format!("{keyword}="), "a value must follow");
        }
        into.push(Parameter {
            place: self.place(begin).clone(),
            keyword: keyword.to_lowercase(),
            raw,
        });
        Ok(())
    }
}

/// The characters, each with whether it was in quotes, up to the first blank that is not; and whether
/// the last quotation mark is not closed.
fn unquote(text: &str) -> (Vec<Piece>, bool) {
    let mut pieces = Vec::with_capacity(text.len());
    let mut quoted = false;
    for letter in text.chars() {
        match letter {
            '"' => quoted = !quoted,
            ' ' | '\t' if !quoted => break,
            _ => pieces.push((letter, quoted)),
        }
    }
    (pieces, quoted)
}
