//! In: the text of an address. Out: what it names: a volume or instance that can be bought, or the
//! file of a device; or an error that points at the wrong part.

use std::fmt;
use std::num::NonZeroU32;
use std::ops::Range;
use std::str::FromStr;

use blocklab_units::{Bytes, nearest};

use crate::Date;

pub use crate::date::NotADate;

/// Something with limits: a vendor's offer, or a device described in a file.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "a run has a handful of addresses, and nearly all are of something sold"
)]
pub enum Address {
    /// `[N x ] [VENDOR/]VOLUME [: SIZE] [, key=value …] [@ [VENDOR/]MACHINE]`.
    Sold(Offer),
    /// `./my-device.toml`: the path as the user wrote it.
    File(String),
}

/// A vendor's offer, as an address names it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Offer {
    /// Number of volumes; `None`: one volume, or all local disks.
    pub count: Option<NonZeroU32>,
    /// `gp3`, `local`, `azure/PremiumV2_LRS`.
    pub volume: String,
    /// Size of each volume.
    pub size: Option<Bytes>,
    /// A size that the vendor has a name for, in the place of `size`: `P30`.
    pub size_name: Option<String>,
    /// Provisioned, of each volume.
    pub iops: Option<u64>,
    /// Provisioned, of each volume, in the unit in which the vendor sells it.
    pub throughput: Option<u64>,
    /// The unit that was written after it; `None`: the vendor's.
    pub throughput_unit: Option<ByteRate>,
    /// What the burst buckets of the volumes hold at first, in per cent; `None`: what the vendor
    /// gives to a new one.
    pub credits: Option<u8>,
    /// The same of the machine.
    pub instance_credits: Option<u8>,
    /// Which limits hold for it, where a vendor lets its buyers choose: `on-demand`, `plus`.
    pub performance: Option<String>,
    /// How the machine reaches its volumes, where it has two ways: `scsi`, `nvme`.
    pub interface: Option<String>,
    /// The cache of the host in front of it: `none`, `readonly`, `readwrite`.
    pub cache: Option<String>,
    /// Reads that this cache holds, in per cent.
    pub hits: Option<u8>,
    /// The program that a managed service runs, where its storage depends on it: `oracle`.
    pub engine: Option<String>,
    /// The day whose limits and prices apply; `None`: the newest.
    pub as_of: Option<Date>,
    /// The region whose price list applies.
    pub region: Option<String>,
    /// What to use for limits that the vendor does not promise: `average`, or a device file.
    pub profile: Option<String>,
    /// `i3.xlarge`, `azure/Standard_D4s_v3`.
    pub instance: Option<String>,
    /// The machine of that type, if a run has several.
    pub host: Option<String>,
    /// The volume of that kind, if a run has several.
    pub volume_name: Option<String>,
}

/// A unit of throughput.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteRate {
    /// 2^20 bytes a second.
    MibPerS,
    /// 10^6 bytes a second.
    MbPerS,
}

impl ByteRate {
    /// As it is written.
    pub const fn text(self) -> &'static str {
        match self {
            Self::MibPerS => "MiB/s",
            Self::MbPerS => "MB/s",
        }
    }
}

impl Offer {
    /// The keys that it names, in the order of [`KEYS`].
    pub fn keys(&self) -> impl Iterator<Item = &'static str> {
        let named = KEYS.iter().filter(|key| (key.get)(self).is_some());
        named.map(|key| key.name)
    }

    /// The profile, if it is a name; one with a `/` or a `.` is the path of a device file.
    pub fn named_profile(&self) -> Option<&str> {
        let profile = self.profile.as_deref();
        profile.filter(|profile| !profile.contains(['/', '.']))
    }

    /// Whether the host's cache answers some reads and misses others, so that reads have two
    /// latencies far apart.
    pub fn has_hits_and_misses(&self) -> bool {
        self.hits.is_some_and(|percent| (1..100).contains(&percent))
    }
}

/// A part of an address at which a message can point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// `30x`.
    Count,
    /// `gp2`.
    Volume,
    /// `1TB`.
    Size,
    /// `iops=6000`, by its key.
    Key(&'static str),
    /// `i3.metal`.
    Instance,
}

/// One key of an address.
struct Key {
    /// As it is written.
    name: &'static str,
    set: fn(&mut Offer, &str) -> Result<(), String>,
    get: fn(&Offer) -> Option<String>,
}

/// Every key, in the order in which addresses are shown.
const KEYS: [Key; 15] = [
    Key {
        name: "iops",
        set: |offer, value| number(value).map(|n| offer.iops = Some(n)),
        get: |offer| offer.iops.map(|n| n.to_string()),
    },
    Key {
        name: "throughput",
        set: |offer, value| {
            let units = [ByteRate::MibPerS, ByteRate::MbPerS];
            let unit = units.into_iter().find(|unit| value.ends_with(unit.text()));
            let digits = value.len() - unit.map_or(0, |unit| unit.text().len());
            offer.throughput = Some(number(value[..digits].trim_end())?);
            offer.throughput_unit = unit;
            Ok(())
        },
        get: |offer| {
            let unit = offer.throughput_unit.map_or("", ByteRate::text);
            offer.throughput.map(|n| format!("{n}{unit}"))
        },
    },
    Key {
        name: "credits",
        set: |offer, value| share(value).map(|share| offer.credits = Some(share)),
        get: |offer| offer.credits.map(shown_share),
    },
    Key {
        name: "instance-credits",
        set: |offer, value| share(value).map(|share| offer.instance_credits = Some(share)),
        get: |offer| offer.instance_credits.map(shown_share),
    },
    Key {
        name: "performance",
        set: |offer, value| word(value).map(|w| offer.performance = Some(w)),
        get: |offer| offer.performance.clone(),
    },
    Key {
        name: "interface",
        set: |offer, value| word(value).map(|w| offer.interface = Some(w.to_ascii_lowercase())),
        get: |offer| offer.interface.clone(),
    },
    Key {
        name: "cache",
        set: |offer, value| word(value).map(|w| offer.cache = Some(w.to_ascii_lowercase())),
        get: |offer| offer.cache.clone(),
    },
    Key {
        name: "hits",
        set: |offer, value| {
            let hits =
                share(value).map_err(|_| format!("`{value}` is no share of reads such as 80%"));
            hits.map(|hits| offer.hits = Some(hits))
        },
        get: |offer| offer.hits.map(|percent| format!("{percent}%")),
    },
    Key {
        name: "engine",
        set: |offer, value| word(value).map(|w| offer.engine = Some(w.to_ascii_lowercase())),
        get: |offer| offer.engine.clone(),
    },
    Key {
        name: "as-of",
        set: |offer, value| {
            let date = value.parse().map_err(|e: NotADate| e.to_string())?;
            offer.as_of = Some(date);
            Ok(())
        },
        get: |offer| offer.as_of.map(|date| date.to_string()),
    },
    Key {
        name: "region",
        set: |offer, value| word(value).map(|w| offer.region = Some(w)),
        get: |offer| offer.region.clone(),
    },
    Key {
        name: "profile",
        set: |offer, value| word(value).map(|w| offer.profile = Some(w)),
        get: |offer| offer.profile.clone(),
    },
    Key {
        name: "host",
        set: |offer, value| word(value).map(|w| offer.host = Some(w)),
        get: |offer| offer.host.clone(),
    },
    Key {
        name: "volume",
        set: |offer, value| word(value).map(|w| offer.volume_name = Some(w)),
        get: |offer| offer.volume_name.clone(),
    },
    // Read only: an address is shown with its size after the colon, so that it has one spelling.
    Key {
        name: "size",
        set: |offer, value| size(value).map(|bytes| offer.size = Some(bytes)),
        get: |_| None,
    },
];

fn number(value: &str) -> Result<u64, String> {
    let digits: String = value.chars().filter(|c| *c != '_').collect();
    let is_number = digits.bytes().any(|b| b != b'0') && digits.bytes().all(|b| b.is_ascii_digit());
    if !is_number {
        return Err(format!("`{value}` is not a whole number above zero"));
    }
    // What are digits alone can only be too many of them.
    let parsed = digits.parse();
    parsed.map_err(|_| format!("`{value}` is too large"))
}

/// A share of a bucket in per cent.
fn share(value: &str) -> Result<u8, String> {
    if value == "full" {
        return Ok(100);
    }
    let digits = value.strip_suffix('%').unwrap_or_default();
    let percent = digits.parse().ok().filter(|percent| *percent <= 100);
    percent.ok_or_else(|| format!("`{value}` is no share of a bucket such as 0%, 50% or full"))
}

fn shown_share(percent: u8) -> String {
    match percent {
        100 => "full".to_owned(),
        less => format!("{less}%"),
    }
}

/// Whether a text in the place of a size is a name, as vendors give them: letters, then digits.
fn is_size_name(text: &str) -> bool {
    let digits = text.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let has_both = digits.len() < text.len() && !digits.is_empty();
    has_both && digits.bytes().all(|b| b.is_ascii_digit())
}

fn word(value: &str) -> Result<String, String> {
    match value {
        "" => Err("nothing follows the `=`".to_owned()),
        // `@` would begin the instance when the address is read again.
        value if value.contains('@') => Err(format!("`{value}` cannot contain `@`")),
        value => Ok(value.to_owned()),
    }
}

/// A size of a volume. It needs a unit, since vendors count in GiB and users often mean GB.
fn size(text: &str) -> Result<Bytes, String> {
    if text.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return Err(format!(
            "`{text}` needs a unit: {text}GiB is what vendors count, {text}GB is 10^9 bytes each"
        ));
    }
    let bytes = text.parse::<Bytes>().map_err(|e| e.to_string())?;
    match bytes {
        Bytes::ZERO => Err("a volume must be larger than 0 bytes".to_owned()),
        sound => Ok(sound),
    }
}

/// A text that is not an address: the text, a line that points at the mistake, and what is wrong.
///
/// ```text
/// gp3:1TiB,iopz=6000@r5d.xlarge
///          ^^^^ unknown key `iopz`; did you mean `iops`?
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", pointed(text, at.clone(), message))]
pub struct AddressError {
    /// What was written.
    pub text: String,
    /// The range of bytes with the mistake.
    pub at: Range<usize>,
    /// Why it is wrong, and what would work.
    pub message: String,
}

/// `text`, with the message below the range of bytes that it is about.
pub fn pointed(text: &str, at: Range<usize>, message: &str) -> String {
    let text_line: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let blanks = " ".repeat(characters(text, 0..at.start));
    let carets = "^".repeat(characters(text, at).max(1));
    format!("{text_line}\n{blanks}{carets} {message}")
}

fn characters(text: &str, range: Range<usize>) -> usize {
    text.get(range).map_or(0, |part| part.chars().count())
}

impl Address {
    /// Reads an address.
    ///
    /// # Errors
    /// When the text does not follow the grammar; the error names the place. Whether such a volume
    /// exists is the catalog's business.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        Parser::new(text).address()
    }

    /// The place of a part in `text`, so that a message can point at it. All of the text if it has no
    /// such part.
    pub fn place(text: &str, part: Part) -> Range<usize> {
        let mut parser = Parser::new(text);
        // Parts before a mistake are found all the same.
        let _ = parser.address();
        let found = parser.found_parts.iter().find(|(known, _)| *known == part);
        found.map_or(0..text.len(), |(_, place)| place.clone())
    }

    /// Whether the text is a path and not the name of an offer.
    fn is_path(text: &str) -> bool {
        let starts = ["./", "../", "/", "~/"]
            .iter()
            .any(|start| text.starts_with(start));
        starts || text.ends_with(".toml") && !text.contains('=')
    }
}

impl FromStr for Address {
    type Err = AddressError;
    fn from_str(text: &str) -> Result<Self, AddressError> {
        Self::parse(text)
    }
}

/// In the shortest spelling that reads back as the same address.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sold(offer) => offer.fmt(f),
            Self::File(path) => f.write_str(path),
        }
    }
}

impl fmt::Display for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(count) = self.count {
            write!(f, "{count}x")?;
        }
        f.write_str(&self.volume)?;
        match (self.size, &self.size_name) {
            (Some(size), _) => write!(f, ":{}", exact(size))?,
            (None, Some(name)) => write!(f, ":{name}")?,
            (None, None) => {}
        }
        for key in &KEYS {
            if let Some(value) = (key.get)(self) {
                write!(f, ",{}={value}", key.name)?;
            }
        }
        match &self.instance {
            Some(instance) => write!(f, "@{instance}"),
            None => Ok(()),
        }
    }
}

/// `1TiB`, `1TB`, `1536GiB`: the largest unit that holds the size in whole numbers, so that
/// nothing is lost.
pub fn exact(size: Bytes) -> String {
    const UNITS: [(&str, u64); 7] = [
        ("TiB", 1 << 40),
        ("TB", 1_000_000_000_000),
        ("GiB", 1 << 30),
        ("GB", 1_000_000_000),
        ("MiB", 1 << 20),
        ("KiB", 1 << 10),
        ("B", 1),
    ];
    let whole = UNITS.iter().find(|(_, unit)| size.0.is_multiple_of(*unit));
    whole.map_or_else(String::new, |(name, unit)| {
        format!("{}{name}", size.0 / unit)
    })
}

struct Parser<'t> {
    text: &'t str,
    /// The parts found so far, in order, for messages that point at one of them.
    found_parts: Vec<(Part, Range<usize>)>,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            found_parts: Vec::new(),
        }
    }

    /// The path of a device file, or a volume that is sold.
    fn address(&mut self) -> Result<Address, AddressError> {
        let all = self.trimmed(0..self.text.len());
        if all.is_empty() {
            return Err(self.wrong(all, "an address is missing, such as gp3:1TiB@r5d.xlarge"));
        }
        if Address::is_path(&self.text[all.clone()]) {
            self.found_parts.push((Part::Volume, all.clone()));
            return Ok(Address::File(self.text[all].to_owned()));
        }
        self.offer(all).map(Address::Sold)
    }

    /// `[COUNTx]VOLUME[:SIZE][,KEY=VALUE…][@INSTANCE[,KEY=VALUE…]]`.
    fn offer(&mut self, all: Range<usize>) -> Result<Offer, AddressError> {
        let mut offer = Offer::default();
        let at = self.text[all.clone()].find('@').map(|at| all.start + at);
        let mut pieces = self
            .split(all.start..at.unwrap_or(all.end), ',')
            .into_iter();
        let head = pieces.next().unwrap_or_default();
        let mut pairs: Vec<_> = pieces.collect();
        if let Some(at) = at {
            // Keys may follow the instance too: local@i3.xlarge,as-of=2017-02-27.
            let mut behind = self.split(at + 1..all.end, ',').into_iter();
            offer.instance = Some(self.instance(behind.next().unwrap_or_default())?);
            pairs.extend(behind);
        }
        self.head(head, &mut offer)?;
        for pair in pairs {
            self.pair(pair, &mut offer)?;
        }
        Ok(offer)
    }

    fn instance(&mut self, range: Range<usize>) -> Result<String, AddressError> {
        let range = self.trimmed(range);
        self.found_parts.push((Part::Instance, range.clone()));
        self.name(range, "an instance type", "i3.xlarge")
    }

    /// Reads `[N x ] [VENDOR/]VOLUME [: SIZE]` into the offer. A colon after the vendor is read as
    /// a slash if a size follows: `rds:gp3:200GiB`.
    fn head(&mut self, range: Range<usize>, offer: &mut Offer) -> Result<(), AddressError> {
        let mut volume = range.clone();
        if let Some(colon) = self.text[range.clone()].rfind(':') {
            volume.end = range.start + colon;
            let place = self.trimmed(volume.end + 1..range.end);
            self.found_parts.push((Part::Size, place.clone()));
            self.size(place, offer)?;
        }
        let (count, volume) = self.count(volume)?;
        offer.count = count;
        self.found_parts.push((Part::Volume, volume.clone()));
        let vendor = self.text[volume.clone()].find(':');
        let Some(colon) = vendor.map(|colon| volume.start + colon) else {
            offer.volume = self.name(volume, "a volume type", "gp3")?;
            return Ok(());
        };
        let vendor = self.name(self.trimmed(volume.start..colon), "a vendor", "rds")?;
        let kind = self.trimmed(colon + 1..volume.end);
        offer.volume = format!("{vendor}/{}", self.name(kind, "a volume type", "gp3")?);
        Ok(())
    }

    /// What follows the colon: this many bytes, or the name of a size.
    fn size(&self, place: Range<usize>, offer: &mut Offer) -> Result<(), AddressError> {
        match &self.text[place.clone()] {
            "" => Err(self.wrong(place, "a size is missing after the colon, such as 100GiB")),
            name if is_size_name(name) => {
                offer.size_name = Some(name.to_owned());
                Ok(())
            }
            text => {
                let size = size(text).map_err(|message| self.wrong(place, &message))?;
                offer.size = Some(size);
                Ok(())
            }
        }
    }

    /// Takes `30x` or `30 x` off the front, if it is there.
    fn count(
        &mut self,
        range: Range<usize>,
    ) -> Result<(Option<NonZeroU32>, Range<usize>), AddressError> {
        let range = self.trimmed(range);
        let text = &self.text[range.clone()];
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let after = text[digits..].trim_start();
        let Some(rest) = after.strip_prefix(['x', '×']).filter(|_| digits > 0) else {
            return Ok((None, range));
        };
        let place = range.start..range.start + digits;
        self.found_parts.push((Part::Count, place.clone()));
        let count = text[..digits]
            .parse()
            .ok()
            .filter(|n: &NonZeroU32| n.get() <= MOST_VOLUMES);
        if count.is_none() {
            let message = format!("the number of volumes must be 1 to {MOST_VOLUMES}");
            return Err(self.wrong(place, &message));
        }
        Ok((count, self.trimmed(range.end - rest.len()..range.end)))
    }

    /// Reads a `key=value` and sets it in the offer.
    fn pair(&mut self, range: Range<usize>, offer: &mut Offer) -> Result<(), AddressError> {
        let text = &self.text[range.clone()];
        let Some(equals) = text.find('=') else {
            let message = match text {
                "" => "a key=value is missing after the comma".to_owned(),
                digits if self.is_cut_off(digits) => format!(
                    "a comma begins the next key: write the number without it, or as 6_000 \
                     (`{digits}` is taken for a key)"
                ),
                text => format!("`{text}` is not a key=value; {}", known_keys()),
            };
            return Err(self.wrong(range, &message));
        };
        let name = self.trimmed(range.start..range.start + equals);
        let value = self.trimmed(range.start + equals + 1..range.end);
        let Some(key) = KEYS.iter().find(|key| key.name == &self.text[name.clone()]) else {
            return Err(self.unknown_key(name));
        };
        let part = match key.name {
            "size" => Part::Size,
            other => Part::Key(other),
        };
        if self.found_parts.iter().any(|(known, _)| *known == part) {
            let message = format!("`{}` is given twice", key.name);
            return Err(self.wrong(name, &message));
        }
        self.found_parts.push((part, range));
        (key.set)(offer, &self.text[value.clone()]).map_err(|message| self.wrong(value, &message))
    }

    /// Whether the text is the rest of a number that a thousands separator has cut in two.
    fn is_cut_off(&self, text: &str) -> bool {
        let is_group = text.len() == 3 && text.bytes().all(|b| b.is_ascii_digit());
        is_group
            && self.found_parts.last().is_some_and(|(_, place)| {
                self.text[place.clone()].ends_with(|c: char| c.is_ascii_digit())
            })
    }

    fn unknown_key(&self, place: Range<usize>) -> AddressError {
        let name = &self.text[place.clone()];
        let guess = nearest(name, KEYS.iter().map(|key| key.name));
        let hint = guess.map_or_else(known_keys, |guess| format!("did you mean `{guess}`?"));
        let message = format!("unknown key `{name}`; {hint}");
        self.wrong(place, &message)
    }

    /// A name of letters, digits and `. - _ /`. An error names `what` is missing, with an example.
    fn name(&self, range: Range<usize>, what: &str, example: &str) -> Result<String, AddressError> {
        let text = &self.text[range.clone()];
        let strange = text
            .char_indices()
            .find(|(_, c)| !(c.is_ascii_alphanumeric() || ".-_/".contains(*c)));
        if let Some((at, strange)) = strange {
            let place = range.start + at..range.start + at + strange.len_utf8();
            let message = format!("the name of {what} cannot contain `{strange}`");
            return Err(self.wrong(place, &message));
        }
        match text {
            "" => Err(self.wrong(range, &format!("{what} is missing, such as {example}"))),
            text => Ok(text.to_owned()),
        }
    }

    fn trimmed(&self, range: Range<usize>) -> Range<usize> {
        let text = &self.text[range.clone()];
        let start = range.start + (text.len() - text.trim_start().len());
        start..start + text.trim().len()
    }

    /// The ranges between separators, without blanks around them.
    fn split(&self, range: Range<usize>, at: char) -> Vec<Range<usize>> {
        let mut start = range.start;
        self.text[range]
            .split(at)
            .map(|piece| {
                let place = start..start + piece.len();
                start = place.end + at.len_utf8();
                self.trimmed(place)
            })
            .collect()
    }

    fn wrong(&self, at: Range<usize>, message: &str) -> AddressError {
        AddressError {
            text: self.text.to_owned(),
            at,
            message: message.to_owned(),
        }
    }
}

/// More than any instance takes. Without a limit, a typing error would make a device of a billion
/// volumes.
const MOST_VOLUMES: u32 = 1000;

fn known_keys() -> String {
    let names: Vec<_> = KEYS.iter().map(|key| key.name).collect();
    format!("the keys are {}", names.join(", "))
}

#[cfg(test)]
mod tests;
