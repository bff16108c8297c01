//! The first part of a connection: the choice of an export and of protocol features.
//!
//! ```text
//!   server  NBDMAGIC IHAVEOPT flags          IHAVEOPT-reply …            reply: info, ack
//!   client                   flags   option ───────▶ option … ─────▶ GO ─▶ transmission
//! ```
//!
//! Bytes in, bytes out; it never waits and holds no more than one option.

use super::numbers::{
    ALLOCATION, ALLOCATION_ID, FIXED_NEWSTYLE, MAGIC, MAX_BLOCK, NO_ZEROES, OPTION_MAGIC,
    OPTION_REPLY_MAGIC, PREFERRED_BLOCK, info, option, reply, transmission_flag as flag,
};

/// A volume as clients see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// Its name; the first one can also be requested by the empty name.
    pub name: String,
    /// For people.
    pub description: String,
    /// Bytes.
    pub size: u64,
    /// Writes fail.
    pub read_only: bool,
    /// A spinning medium.
    pub rotational: bool,
}

/// The negotiated export and features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session {
    /// Index of the export.
    pub export: usize,
    /// Replies are structured where the protocol has them so.
    pub structured: bool,
    /// `base:allocation` was negotiated.
    pub allocation: bool,
}

/// The result of parsing the bytes so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// More are needed.
    More,
    /// This many were used; there may be more in the buffer.
    Used(usize),
    /// This many were used; when the reply is sent, TLS begins. Further bytes arrived in clear text and
    /// cannot be trusted.
    StartTls(usize),
    /// This many were used; requests follow.
    Enter(usize, Session),
    /// The connection ends when the reply is sent.
    Close,
}

/// Most bytes of the data of an option: a name and some queries.
const MOST_OPTION_DATA: usize = 8 << 10;
/// Options of one handshake, in addition to one for each export that a client lists.
const MOST_OPTIONS: usize = 32;
/// The most bytes of a text on the wire.
const LONGEST_NAME: usize = 4096;
/// Zeros behind the reply to `EXPORT_NAME`, which a client can waive by its flags.
const ZEROES: usize = 124;
/// Bytes of the client's flags.
const CLIENT_FLAGS: usize = 4;
/// Bytes of an option before its data.
const OPTION_HEADER: usize = 16;

/// Whether the connection is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Privacy {
    /// Without certificates everything is in clear text.
    Never,
    /// The server reveals nothing before TLS begins.
    Required,
    /// It has begun.
    Begun,
}

/// The state of one handshake.
#[derive(Debug)]
pub struct Handshake<'a> {
    exports: &'a [Export],
    privacy: Privacy,
    /// Whether the client wants the zeros behind the oldest reply; `None`: its flags have not come.
    zeroes: Option<bool>,
    structured: bool,
    /// The export for which `base:allocation` was negotiated.
    allocation_of: Option<usize>,
    /// How many options have come.
    options: usize,
}

/// The first bytes of the server.
pub fn greeting() -> [u8; 18] {
    let mut bytes = [0; 18];
    bytes[..8].copy_from_slice(MAGIC);
    bytes[8..16].copy_from_slice(OPTION_MAGIC);
    bytes[16..].copy_from_slice(&(FIXED_NEWSTYLE | NO_ZEROES).to_be_bytes());
    bytes
}

impl<'a> Handshake<'a> {
    /// A client can choose one of these exports, of which there is at least one.
    pub const fn new(exports: &'a [Export], privacy: Privacy) -> Self {
        Self {
            exports,
            privacy,
            zeroes: None,
            structured: false,
            allocation_of: None,
            options: 0,
        }
    }

    /// Parses bytes of the client, and appends the reply.
    pub fn step(&mut self, input: &[u8], out: &mut Vec<u8>) -> Step {
        if self.zeroes.is_none() {
            return self.client_flags(input);
        }
        let Some((header, rest)) = input.split_at_checked(OPTION_HEADER) else {
            // A wrong prefix of the magic number is wrong already.
            let known = input.len().min(OPTION_MAGIC.len());
            return if input[..known] == OPTION_MAGIC[..known] {
                Step::More
            } else {
                Step::Close
            };
        };
        let mut fields = Fields(header);
        let magic = fields.bytes(8);
        let (Some(number), Some(len)) = (fields.u32(), fields.u32()) else {
            return Step::Close;
        };
        if magic != Some(OPTION_MAGIC) || len as usize > MOST_OPTION_DATA {
            return Step::Close;
        }
        let Some(data) = rest.get(..len as usize) else {
            return Step::More;
        };
        self.options += 1;
        if self.options > MOST_OPTIONS + self.exports.len() {
            return Step::Close;
        }
        self.option(number, data, OPTION_HEADER + data.len(), out)
    }

    /// Reads the flags of the client; unknown ones end the connection, as the protocol demands.
    fn client_flags(&mut self, input: &[u8]) -> Step {
        let Some(flags) = Fields(input).u32() else {
            return Step::More;
        };
        let known = u32::from(FIXED_NEWSTYLE | NO_ZEROES);
        if flags & !known != 0 {
            return Step::Close;
        }
        self.zeroes = Some(flags & u32::from(NO_ZEROES) == 0);
        Step::Used(CLIENT_FLAGS)
    }

    /// Answers one option of the client, whose bytes are `used` in all.
    fn option(&mut self, number: u32, data: &[u8], used: usize, out: &mut Vec<u8>) -> Step {
        let answered = match number {
            option::STARTTLS => match self.start_tls(data) {
                Ok(()) => {
                    answer(out, number, reply::ACK, &[]);
                    return Step::StartTls(used);
                }
                Err(kind) => Err(kind),
            },
            // EXPORT_NAME has no error reply.
            option::EXPORT_NAME if self.privacy == Privacy::Required => return Step::Close,
            option::ABORT => {
                answer(out, number, reply::ACK, &[]);
                return Step::Close;
            }
            _ if self.privacy == Privacy::Required => Err(reply::ERR_TLS_REQD),
            option::EXPORT_NAME => return self.export_name(data, used, out),
            option::INFO => self.info(number, data, out).map(drop),
            option::GO => match self.info(number, data, out) {
                Ok(export) => return Step::Enter(used, self.session(export)),
                Err(kind) => Err(kind),
            },
            option::LIST => self.list(data, out),
            option::STRUCTURED_REPLY => self.structured_reply(data, out),
            option::LIST_META_CONTEXT | option::SET_META_CONTEXT => {
                self.meta_context(number, data, out)
            }
            _ => Err(reply::ERR_UNSUP),
        };
        if let Err(kind) = answered {
            answer(out, number, kind, &[]);
        }
        Step::Used(used)
    }

    /// Features negotiated in clear text may be forged: they are reset.
    fn start_tls(&mut self, data: &[u8]) -> Result<(), ErrorReply> {
        match self.privacy {
            Privacy::Never => return Err(reply::ERR_UNSUP),
            Privacy::Required if data.is_empty() => self.privacy = Privacy::Begun,
            _ => return Err(reply::ERR_INVALID),
        }
        self.structured = false;
        self.allocation_of = None;
        Ok(())
    }

    /// The index of the export of this name.
    fn find(&self, name: &str) -> Option<usize> {
        let mut exports = self.exports.iter();
        match name {
            "" => Some(0),
            name => exports.position(|export| export.name == name),
        }
    }

    fn session(&self, export: usize) -> Session {
        Session {
            export,
            structured: self.structured,
            allocation: self.allocation_of == Some(export),
        }
    }

    /// The transmission flags of an export: what a client may send.
    fn flags(&self, export: usize) -> u16 {
        let Export {
            read_only,
            rotational,
            ..
        } = self.exports[export];
        let mut flags = flag::HAS_FLAGS | flag::SEND_FLUSH | flag::SEND_FUA;
        flags |= flag::SEND_TRIM | flag::SEND_WRITE_ZEROES | flag::SEND_FAST_ZERO;
        flags |= flag::SEND_CACHE | flag::CAN_MULTI_CONN;
        for (holds, more) in [
            (read_only, flag::READ_ONLY),
            (rotational, flag::ROTATIONAL),
            (self.structured, flag::SEND_DF),
        ] {
            flags |= if holds { more } else { 0 };
        }
        flags
    }

    /// The oldest option: its reply is the size and flags, and it has no error reply.
    fn export_name(&self, data: &[u8], used: usize, out: &mut Vec<u8>) -> Step {
        let name = std::str::from_utf8(data).ok();
        let Some(export) = name.and_then(|name| self.find(name)) else {
            return Step::Close;
        };
        out.extend_from_slice(&self.exports[export].size.to_be_bytes());
        out.extend_from_slice(&self.flags(export).to_be_bytes());
        if self.zeroes == Some(true) {
            out.extend_from_slice(&[0; ZEROES]);
        }
        Step::Enter(used, self.session(export))
    }

    /// Replies with the name and description of each export.
    fn list(&self, data: &[u8], out: &mut Vec<u8>) -> Result<(), ErrorReply> {
        Fields(data).end().ok_or(reply::ERR_INVALID)?;
        for export in self.exports {
            let len = (export.name.len() as u32).to_be_bytes();
            let parts = [&len, export.name.as_bytes(), export.description.as_bytes()];
            answer(out, option::LIST, reply::SERVER, &parts);
        }
        answer(out, option::LIST, reply::ACK, &[]);
        Ok(())
    }

    fn structured_reply(&mut self, data: &[u8], out: &mut Vec<u8>) -> Result<(), ErrorReply> {
        Fields(data).end().ok_or(reply::ERR_INVALID)?;
        self.structured = true;
        answer(out, option::STRUCTURED_REPLY, reply::ACK, &[]);
        Ok(())
    }

    /// Replies with the facts of an export, and with the name and description if requested.
    fn info(&self, number: u32, data: &[u8], out: &mut Vec<u8>) -> Result<usize, ErrorReply> {
        let (name, wanted) = info_request(data).ok_or(reply::ERR_INVALID)?;
        let place = self.find(name).ok_or(reply::ERR_UNKNOWN)?;
        let export = &self.exports[place];
        let (size, flags) = (export.size.to_be_bytes(), self.flags(place).to_be_bytes());
        // The least, the preferred and the largest block.
        let sizes = [1, PREFERRED_BLOCK, MAX_BLOCK].map(u32::to_be_bytes);
        let mut facts = vec![
            (info::EXPORT, [&size[..], &flags].concat()),
            (info::BLOCK_SIZE, sizes.concat()),
        ];
        if wanted.contains(&info::NAME) {
            facts.push((info::NAME, export.name.as_bytes().to_vec()));
        }
        if wanted.contains(&info::DESCRIPTION) {
            facts.push((info::DESCRIPTION, export.description.as_bytes().to_vec()));
        }
        for (kind, fact) in facts {
            answer(out, number, reply::INFO, &[&kind.to_be_bytes(), &fact]);
        }
        answer(out, number, reply::ACK, &[]);
        Ok(place)
    }

    /// Answers the request to list or to choose metadata contexts, of which there is one.
    fn meta_context(
        &mut self,
        number: u32,
        data: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), ErrorReply> {
        let is_set = number == option::SET_META_CONTEXT;
        if is_set {
            // A second request replaces the first one, even if it is invalid.
            self.allocation_of = None;
        }
        let parsed = meta_request(data).filter(|_| self.structured);
        let (name, queries) = parsed.ok_or(reply::ERR_INVALID)?;
        let export = self.find(name).ok_or(reply::ERR_UNKNOWN)?;
        let lists_all = !is_set && queries.is_empty();
        let is_asked = queries.contains(&ALLOCATION) || !is_set && queries.contains(&"base:");
        if lists_all || is_asked {
            // The number is unused in a list.
            let id = if is_set { ALLOCATION_ID } else { 0 }.to_be_bytes();
            let parts = [&id, ALLOCATION.as_bytes()];
            answer(out, number, reply::META_CONTEXT, &parts);
            if is_set {
                self.allocation_of = Some(export);
            }
        }
        answer(out, number, reply::ACK, &[]);
        Ok(())
    }
}

/// Numbers and texts from the front of some bytes; `None` where they are too short.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let (front, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(front)
    }

    fn u16(&mut self) -> Option<u16> {
        let bytes = self.bytes(2)?;
        bytes.try_into().ok().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        let bytes = self.bytes(4)?;
        bytes.try_into().ok().map(u32::from_be_bytes)
    }

    /// A length in bytes and a text of that length.
    fn text(&mut self) -> Option<&'a str> {
        let len = usize::try_from(self.u32()?).ok()?;
        let bytes = self.bytes(len).filter(|_| len <= LONGEST_NAME)?;
        std::str::from_utf8(bytes).ok()
    }

    fn end(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

/// What `INFO` and `GO` carry: a name, and which information is wanted. `None`: it is malformed.
fn info_request(data: &[u8]) -> Option<(&str, Vec<u16>)> {
    let mut fields = Fields(data);
    let name = fields.text()?;
    let count = fields.u16()?;
    let wanted: Option<Vec<u16>> = (0..count).map(|_| fields.u16()).collect();
    fields.end()?;
    Some((name, wanted?))
}

/// What a request for meta contexts carries: a name, and the queries. `None`: it is malformed.
fn meta_request(data: &[u8]) -> Option<(&str, Vec<&str>)> {
    let mut fields = Fields(data);
    let name = fields.text()?;
    let count = fields.u32()?;
    let queries: Option<Vec<&str>> = (0..count).map(|_| fields.text()).collect();
    fields.end()?;
    Some((name, queries?))
}

/// The type of the reply to an option that is refused: one of `reply::ERR_…`.
type ErrorReply = u32;

/// Appends a reply to an option.
fn answer(out: &mut Vec<u8>, option: u32, kind: u32, data: &[&[u8]]) {
    let len: usize = data.iter().map(|part| part.len()).sum();
    out.extend_from_slice(&OPTION_REPLY_MAGIC.to_be_bytes());
    out.extend_from_slice(&option.to_be_bytes());
    out.extend_from_slice(&kind.to_be_bytes());
    out.extend_from_slice(&(len as u32).to_be_bytes());
    for part in data {
        out.extend_from_slice(part);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn exports() -> Vec<Export> {
        let export = |name: &str, rotational| Export {
            name: name.to_owned(),
            description: format!("the volume {name}"),
            size: 1 << 30,
            read_only: false,
            rotational,
        };
        vec![export("data", false), export("log", true)]
    }

    fn option_bytes(number: u32, data: &[u8]) -> Vec<u8> {
        let len = (data.len() as u32).to_be_bytes();
        [OPTION_MAGIC, &number.to_be_bytes()[..], &len, data].concat()
    }

    fn named(name: &str, rest: &[u8]) -> Vec<u8> {
        [
            &(name.len() as u32).to_be_bytes()[..],
            name.as_bytes(),
            rest,
        ]
        .concat()
    }

    /// Flags and options; the last step, and the kinds of the replies.
    fn talk(flags: u32, options: &[(u32, Vec<u8>)]) -> (Step, Vec<u32>) {
        let exports = exports();
        let mut handshake = Handshake::new(&exports, Privacy::Never);
        let mut out = Vec::new();
        let mut step = handshake.step(&flags.to_be_bytes(), &mut out);
        for (number, data) in options {
            step = handshake.step(&option_bytes(*number, data), &mut out);
        }
        let mut kinds = Vec::new();
        let mut fields = Fields(&out);
        while fields.bytes(12).is_some() {
            kinds.push(fields.u32().expect("a kind"));
            let len = fields.u32().expect("a length");
            fields.bytes(len as usize).expect("the data");
        }
        (step, kinds)
    }

    const GO: u32 = option::GO;

    #[test]
    fn go_enters_the_export_of_that_name_and_the_first_has_no_name() {
        for (name, export) in [("", 0), ("data", 0), ("log", 1)] {
            let (step, kinds) = talk(3, &[(GO, named(name, &[0, 0]))]);
            let session = Session {
                export,
                structured: false,
                allocation: false,
            };
            assert_eq!(step, Step::Enter(22 + name.len(), session));
            assert_eq!(kinds, [reply::INFO, reply::INFO, reply::ACK]);
        }
        let (step, kinds) = talk(3, &[(GO, named("logs", &[0, 0]))]);
        assert_eq!(
            (step, &kinds[..]),
            (Step::Used(26), &[reply::ERR_UNKNOWN][..])
        );
    }

    #[test]
    fn unknown_options_are_refused_and_the_talk_goes_on() {
        let tls_and_extended = [(5, vec![]), (11, vec![]), (99, vec![1, 2, 3])];
        let (step, kinds) = talk(1, &tls_and_extended);
        assert_eq!(step, Step::Used(19));
        assert_eq!(kinds, [reply::ERR_UNSUP; 3]);
    }

    /// Features negotiated before TLS could be forged, so they are reset; and exports stay hidden.
    #[test]
    fn with_certificates_nothing_is_revealed_or_kept_before_tls() {
        let exports = exports();
        let mut handshake = Handshake::new(&exports, Privacy::Required);
        let mut out = Vec::new();
        handshake.step(&3u32.to_be_bytes(), &mut out);
        let mut ask = |number, data: &[u8]| {
            let mut out = Vec::new();
            let step = handshake.step(&option_bytes(number, data), &mut out);
            let kind = out.get(12..16).map(|kind| kind.try_into().expect("four"));
            (step, kind.map(u32::from_be_bytes))
        };
        let required = Some(reply::ERR_TLS_REQD);
        for number in [option::LIST, option::STRUCTURED_REPLY, option::INFO, 99] {
            assert_eq!(ask(number, &[]), (Step::Used(16), required));
        }
        let go = named("data", &[0, 0]);
        assert_eq!(ask(GO, &go), (Step::Used(26), required));
        assert_eq!(ask(option::STARTTLS, &[0]).1, Some(reply::ERR_INVALID));
        let begun = (Step::StartTls(16), Some(reply::ACK));
        assert_eq!(ask(option::STARTTLS, &[]), begun);
        assert_eq!(ask(option::STARTTLS, &[]).1, Some(reply::ERR_INVALID));
        assert!(matches!(ask(GO, &go).0, Step::Enter(26, session) if !session.structured));

        let mut handshake = Handshake::new(&exports, Privacy::Required);
        handshake.step(&3u32.to_be_bytes(), &mut out);
        let by_name = option_bytes(option::EXPORT_NAME, b"data");
        assert_eq!(handshake.step(&by_name, &mut out), Step::Close);
    }

    #[test]
    fn the_allocation_needs_structured_replies_and_holds_for_its_export_only() {
        let query = |name: &str| {
            let query = named(ALLOCATION, &[]);
            let rest = [&1u32.to_be_bytes()[..], &query].concat();
            (option::SET_META_CONTEXT, named(name, &rest))
        };
        let (_, kinds) = talk(3, &[query("log")]);
        assert_eq!(kinds, [reply::ERR_INVALID]);
        let structured = (option::STRUCTURED_REPLY, vec![]);
        for (name, allocation) in [("log", true), ("data", false)] {
            let go = (GO, named(name, &[0, 0]));
            let (step, _) = talk(3, &[structured.clone(), query("log"), go]);
            let Step::Enter(_, session) = step else {
                panic!("{step:?}");
            };
            assert_eq!((session.structured, session.allocation), (true, allocation));
        }
    }

    #[test]
    fn an_old_client_gets_its_zeros_unless_it_waives_them() {
        let exports = exports();
        for (flags, len) in [(0u32, 134), (1, 134), (3, 10)] {
            let mut handshake = Handshake::new(&exports, Privacy::Never);
            let mut out = Vec::new();
            handshake.step(&flags.to_be_bytes(), &mut out);
            let step = handshake.step(&option_bytes(option::EXPORT_NAME, b"log"), &mut out);
            assert!(matches!(step, Step::Enter(19, _)), "{step:?}");
            assert_eq!(out.len(), len);
        }
    }

    #[test]
    fn what_cannot_be_understood_ends_the_connection() {
        let exports = exports();
        let check = |bytes: &[u8]| {
            let mut handshake = Handshake::new(&exports, Privacy::Never);
            let mut out = Vec::new();
            handshake.step(&3u32.to_be_bytes(), &mut out);
            assert_eq!(handshake.step(bytes, &mut out), Step::Close, "{bytes:?}");
        };
        check(b"GET / HT");
        check(b"IHAVEOPX");
        check(&[&OPTION_MAGIC[..], &[0, 0, 0, 3, 0, 1, 0, 0]].concat());
        check(&option_bytes(option::EXPORT_NAME, b"nothing"));
        assert_eq!(talk(4, &[]).0, Step::Close);
        let many = vec![(99, Vec::new()); MOST_OPTIONS + 3];
        assert_eq!(talk(3, &many).0, Step::Close);
    }

    proptest! {
        /// Whatever arrives, in whatever pieces: no panic, no more is used than there is, and the
        /// reply stays within bounds.
        #[test]
        fn any_bytes_can_arrive(bytes in prop::collection::vec(any::<u8>(), 0..400), magic: bool) {
            let exports = exports();
            let mut handshake = Handshake::new(&exports, Privacy::Never);
            let mut out = Vec::new();
            handshake.step(&3u32.to_be_bytes(), &mut out);
            let mut input = bytes;
            if magic {
                input.splice(0..0, *OPTION_MAGIC);
                input.splice(8..8, [0, 0, 0, input.get(8).copied().unwrap_or(0) % 12, 0, 0, 0]);
            }
            let mut rest = &input[..];
            while let Step::Used(used) = handshake.step(rest, &mut out) {
                prop_assert!(used <= rest.len() && used >= OPTION_HEADER);
                rest = &rest[used..];
            }
            prop_assert!(out.len() < 64 << 10);
        }
    }
}
