//! What options with a value of more than one part take.

use super::draft::Draft;
use super::number::{number, size};
use super::spec::{Buffers, Cache, Format, Throughput};
use blocklab_syntax::Mistake;

const ANY: u32 = u32::MAX;

pub(super) fn affinity(draft: &mut Draft, rest: &str) -> Result<(), Mistake> {
    if rest == "g" || rest.is_empty() {
        draft.span.round_robin = true;
        return Ok(());
    }
    if rest
        .rsplit(',')
        .next()
        .is_some_and(|last| last.starts_with('g'))
    {
        let wrong =
            format!("`{rest}` ends with a group and names no processor of it; -ag0,0,1 names two");
        return Err(Mistake::new("-a", wrong));
    }
    let mut group = 0;
    for part in rest.split(',') {
        match part.strip_prefix('g') {
            Some(number_text) => group = number("-a", number_text, 0, 0xffff)? as u16,
            None => draft
                .span
                .affinity
                .push((group, number("-a", part, 0, 255)?)),
        }
    }
    match draft.span.affinity.iter().find(|(group, _)| *group > 0) {
        Some((group, _)) => Err(Mistake::new(
            "-a",
            format!("there is no processor group {group}: Linux has one, 0, for all processors"),
        )),
        None => Ok(()),
    }
}

pub(super) fn bounds(draft: &mut Draft, rest: &str) -> Result<(), Mistake> {
    let (base, length) = match rest.split_once(':') {
        Some((base, length)) => (base, Some(length)),
        None => (rest, None),
    };
    draft.target.base = draft.size("-B", base)?;
    if let Some(length) = length {
        let length = draft.some_size("-B", length)?;
        draft.target.max_file_size = draft
            .target
            .base
            .checked_add(length)
            .ok_or_else(|| Mistake::new("-B", "the end lies beyond 2^64"))?;
    }
    Ok(())
}

pub(super) fn limit_or_hints(draft: &mut Draft, rest: &str) -> Result<(), Mistake> {
    if rest.starts_with(|c: char| c.is_ascii_digit()) {
        draft.target.max_file_size = draft.some_size("-f", rest)?;
        return Ok(());
    }
    let wrong = || {
        Mistake::new(
            "-f",
            format!("`{rest}` is neither a size nor hints out of r, s and t"),
        )
    };
    if rest.is_empty() {
        return Err(wrong());
    }
    for hint in rest.chars() {
        let index = "srt".find(hint).ok_or_else(wrong)?;
        draft.target.hints[index] = true;
    }
    Ok(())
}

pub(super) fn throughput(draft: &mut Draft, rest: &str) -> Result<(), Mistake> {
    draft.target.throughput = Some(match rest.strip_suffix('i') {
        Some(iops) => Throughput::Iops(number("-g", iops, 1, ANY)?),
        None => Throughput::BytesPerMs(number("-g", rest, 1, ANY)?),
    });
    Ok(())
}

/// Plain `-S` is `-Su`. Flags may be combined, but each thing be said once.
pub(super) fn caching(draft: &mut Draft, rest: &str) -> Result<(), Mistake> {
    let flags = if rest.is_empty() { "u" } else { rest };
    for flag in flags.chars() {
        let (cache, through) = match flag {
            'b' => (Some(Cache::Cached), false),
            'u' => (Some(Cache::None), false),
            'r' => (Some(Cache::NotLocal), false),
            'h' => (Some(Cache::None), true),
            'w' => (None, true),
            'm' => (None, false),
            _ => {
                return Err(Mistake::new(
                    "-S",
                    format!("`{flag}` is none of b, h, m, r, u and w"),
                ));
            }
        };
        let twice = |what| Mistake::new("-S", format!("`{flag}` says again, or against, {what}"));
        if cache.is_some() && draft.cache.is_some() {
            return Err(twice("what an earlier flag says of the cache"));
        }
        if through && draft.target.write_through {
            return Err(twice("that writes go through"));
        }
        if flag == 'm' && draft.target.mapped {
            return Err(twice("that memory is mapped"));
        }
        draft.cache = draft.cache.or(cache);
        draft.target.write_through |= through;
        draft.target.mapped |= flag == 'm';
    }
    Ok(())
}

pub(super) fn results(draft: &mut Draft, rest: &str) -> Result<(), Mistake> {
    let (only, word) = match rest.strip_prefix('p') {
        Some(word) => (true, word),
        None => (false, rest),
    };
    draft.profile_only |= only;
    draft.format = Some(match word {
        "" if only => Format::Text,
        "text" => Format::Text,
        "xml" => Format::Xml,
        _ => {
            return Err(Mistake::new(
                "-R",
                format!("`{rest}` is none of text, xml, ptext and pxml"),
            ));
        }
    });
    Ok(())
}

pub(super) fn tracing(_: &mut Draft, rest: &str) -> Result<(), Mistake> {
    const KNOWN: [&str; 12] = [
        "q",
        "c",
        "s",
        "p",
        "PROCESS",
        "THREAD",
        "IMAGE_LOAD",
        "DISK_IO",
        "MEMORY_PAGE_FAULTS",
        "MEMORY_HARD_FAULTS",
        "NETWORK",
        "REGISTRY",
    ];
    match KNOWN.contains(&rest) {
        true => Ok(()),
        false => Err(Mistake::new(
            "-e",
            format!("`{rest}` is none of {}", KNOWN.join(", ")),
        )),
    }
}

pub(super) fn event(option: &str, rest: &str) -> Result<(), Mistake> {
    match rest {
        "" => Err(Mistake::new(option, "the name of an event must follow it")),
        _ => Ok(()),
    }
}

pub(super) fn buffers(draft: &mut Draft, rest: &str) -> Result<(), Mistake> {
    if rest.is_empty() {
        draft.target.buffers = Buffers::Zero;
        return Ok(());
    }
    let (bytes, file) = match rest.split_once(',') {
        Some((_, "")) => {
            return Err(Mistake::new(
                "-Z",
                "the name of a file must follow the comma",
            ));
        }
        Some((bytes, file)) => (bytes, Some(file.to_owned())),
        None => (rest, None),
    };
    let size = size("-Z", bytes, Some(draft.target.block))?;
    draft.target.buffers = Buffers::Source { size, file };
    Ok(())
}
