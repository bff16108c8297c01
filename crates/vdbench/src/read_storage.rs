//! Storage definitions.

use super::defs::Sd;
use super::known::Known;
use super::mistake::Mistake;
use super::read_general::ratio;

pub(super) fn set(sd: &mut Sd, known: &Known<'_>) -> Result<(), Mistake> {
    match known.name {
        "lun" if sd.name == "default" => {
            return Err(known.wrong("sd=default cannot have a lun; each sd has its own"));
        }
        "lun" => sd.lun = known.word(),
        "count" => sd.count = Some(count(known)?),
        "size" => sd.size = shared(known)?,
        "threads" => sd.threads = known.threads()?,
        "hitarea" => sd.hitarea = known.whole()?,
        "offset" => sd.offset = multiple(known)?,
        "align" => sd.align = multiple(known)?,
        "openflags" => sd.openflags = known.openflags()?,
        "range" => sd.range = Some(known.range()?),
        "journal" => sd.journal = Some(known.word()),
        "dedupratio" => sd.dedupratio = Some(ratio(known, known.number()?)?),
        _ => {}
    }
    Ok(())
}

/// `size=10g`, or `size=(10g,4)`: a quarter of it.
fn shared(known: &Known<'_>) -> Result<u64, Mistake> {
    let size = known.whole()?;
    let by = match known.numbers()?.get(1) {
        Some(by) => known.as_whole(*by)?.max(1),
        None => 1,
    };
    match size / by {
        0 => Err(known.wrong("a size of 0 holds no block")),
        size => Ok(size),
    }
}

fn multiple(known: &Known<'_>) -> Result<u64, Mistake> {
    let bytes = known.whole()?;
    match bytes % 512 {
        0 => Ok(bytes),
        _ => Err(known.wrong(format!("{bytes} is no multiple of 512"))),
    }
}

fn count(known: &Known<'_>) -> Result<(i64, u64), Mistake> {
    match known.numbers()? {
        [start, n] if *n >= 1.0 && *n <= 10_000.0 && start.abs() < 1e9 => {
            Ok((*start as i64, *n as u64))
        }
        _ => Err(known.wrong("a first number and how many are expected, as in count=(1,8)")),
    }
}

/// Writes `count=` out and looks at what each definition lacks.
pub(super) fn finish(sds: &mut Vec<Sd>) -> Result<(), Mistake> {
    // As in the original: written-out ones come behind the others.
    let (counted, mut plain): (Vec<Sd>, Vec<Sd>) = std::mem::take(sds)
        .into_iter()
        .partition(|sd| sd.count.is_some());
    for sd in &counted {
        let (start, n) = sd.count.unwrap_or((0, 0));
        let name = |text: &str, index: u64| counting(text, start + index as i64);
        plain.extend((0..n).map(|index| Sd {
            name: name(&sd.name, index),
            lun: if sd.lun.is_empty() {
                String::new()
            } else {
                name(&sd.lun, index)
            },
            count: None,
            ..sd.clone()
        }));
    }
    let mut names = std::collections::BTreeSet::new();
    for sd in &plain {
        let about = format!("sd={}", sd.name);
        if sd.lun.is_empty() {
            return Err(Mistake::new(
                &sd.place,
                about,
                "it has no lun=; each sd needs one",
            ));
        }
        if !names.insert(sd.name.clone()) {
            return Err(Mistake::new(
                &sd.place,
                about,
                "there are two storage definitions of this name",
            ));
        }
    }
    *sds = plain;
    Ok(())
}

/// `%03d` and `*` in a name are replaced, else the number comes behind it.
fn counting(text: &str, number: i64) -> String {
    if let Some(at) = text.find('%') {
        let rest = &text[at + 1..];
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        if rest[digits.len()..].starts_with('d') {
            let (width, zeros): (usize, bool) =
                (digits.parse().unwrap_or(0).min(64), digits.starts_with('0'));
            let shown = match zeros {
                true => format!("{number:0width$}"),
                false => format!("{number:width$}"),
            };
            return format!("{}{shown}{}", &text[..at], &rest[digits.len() + 1..]);
        }
    }
    match text.contains('*') {
        true => text.replace('*', &number.to_string()),
        false => format!("{text}{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::counting;

    #[test]
    fn names_are_counted() {
        assert_eq!(counting("sd", 7), "sd7");
        assert_eq!(counting("/dev/nvme*n1", 7), "/dev/nvme7n1");
        assert_eq!(counting("sd%03d", 7), "sd007");
        assert_eq!(counting("a%db", 12), "a12b");
        assert_eq!(counting("100%", 1), "100%1");
    }
}
