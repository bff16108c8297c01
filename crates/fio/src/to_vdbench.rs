//! Jobs of fio as a parameter file of Vdbench, where that can say it.

use blocklab_units::Bytes;
use blocklab_workload::{Access, Content, Durability, Job, Pattern, SizeMix};

use super::convert::{Stretch, bytes, each, whole_seconds};
use super::plan::Prepared;
use blocklab_syntax::Mistake;

const HEAD: &str = "* Vdbench never touches the first block of a storage.\n";

/// One file: storage, a workload and a run for each stretch between stonewalls.
///
/// # Errors
/// What Vdbench cannot say, and of which job.
pub fn to_vdbench(prepared: &Prepared) -> Result<String, Mistake> {
    let mut storage: Vec<String> = Vec::new();
    let mut workloads = String::new();
    let mut runs = String::new();
    let mut number = 0;
    each(prepared, "Vdbench", |stretch| {
        number += 1;
        let names = storage_of(stretch, &mut storage)?;
        workloads.push_str(&format!(
            "wd=wd{number},sd={},{}\n",
            list(&names),
            workload(stretch.job)?
        ));
        runs.push_str(&format!("rd=rd{number},wd=wd{number},{}\n", run(stretch)?));
        Ok(String::new())
    })?;
    let definitions = storage.iter().enumerate();
    let definitions = definitions.map(|(index, facts)| format!("sd=sd{},{facts}\n", index + 1));
    Ok(format!(
        "{HEAD}{}{workloads}{runs}",
        definitions.collect::<String>()
    ))
}

/// The names of the storage of a stretch; equal ones are defined once.
fn storage_of(stretch: &Stretch<'_>, known: &mut Vec<String>) -> Result<Vec<String>, String> {
    let flags = flags(stretch.job);
    let mut names = Vec::new();
    for path in &stretch.targets {
        if path.contains([' ', ',']) {
            return Err(format!("`{path}`: its names have no blanks and no commas"));
        }
        let mut facts = format!("lun={path}");
        if let Some(size) = stretch.job.region.size {
            let end = stretch.job.region.offset + size;
            facts.push_str(&format!(",size={}", small(end)));
        }
        facts.push_str(&flags);
        let place = known.iter().position(|other| *other == facts);
        let place = place.unwrap_or_else(|| {
            known.push(facts);
            known.len() - 1
        });
        names.push(format!("sd{}", place + 1));
    }
    Ok(names)
}

fn list(names: &[String]) -> String {
    match names {
        [only] => only.clone(),
        _ => format!("({})", names.join(",")),
    }
}

fn flags(job: &Job) -> String {
    let mut flags = Vec::new();
    if job.access != Access::Buffered {
        flags.push("o_direct");
    }
    match job.durability {
        Durability::None => {}
        Durability::Dsync => flags.push("o_dsync"),
        Durability::Sync => flags.push("o_sync"),
    }
    match flags[..] {
        [] => String::new(),
        [only] => format!(",openflags={only}"),
        _ => format!(",openflags=({})", flags.join(",")),
    }
}

fn workload(job: &Job) -> Result<String, String> {
    let seek = match &job.pattern {
        Pattern::Sequential => "0".to_owned(),
        // Vdbench knows no permutation: it draws each offset by itself.
        Pattern::Random { .. } => "100".to_owned(),
        Pattern::PercentRandom(percent) => percent.to_string(),
        _ => return Err("its distribution".to_owned()),
    };
    match job.content {
        Content::Random | Content::Fresh => {}
        _ => return Err("its zeros, or its compressible or repeated content".to_owned()),
    }
    let mut text = format!(
        "xfersize={},rdpct={},seekpct={seek}",
        sizes(job)?,
        job.mix.read
    );
    if job.region.offset > Bytes::ZERO {
        let (from, size) = (job.region.offset, job.region.size);
        let to = from + size.ok_or("an offset without a size")?;
        text.push_str(&format!(",range=({},{})", small(from), small(to)));
    }
    Ok(text)
}

fn sizes(job: &Job) -> Result<String, String> {
    let mixes = match (job.mix.read, job.mix.write) {
        (_, 0) => &job.sizes.read,
        (0, _) => &job.sizes.write,
        _ if job.sizes.read == job.sizes.write => &job.sizes.read,
        _ => return Err("its reads and writes are of different sizes".to_owned()),
    };
    let SizeMix(sizes) = mixes;
    if let [(only, _)] = sizes[..] {
        return Ok(small(only));
    }
    let all: u32 = sizes.iter().map(|(_, weight)| weight).sum();
    if all != 100 {
        return Err("the shares of its block sizes are no whole per cent".to_owned());
    }
    let pairs = sizes
        .iter()
        .map(|(size, share)| format!("{},{share}", small(*size)));
    Ok(format!("({})", pairs.collect::<Vec<_>>().join(",")))
}

fn run(stretch: &Stretch<'_>) -> Result<String, String> {
    stretch.refuse_rarities()?;
    let (rate, arrivals) = match stretch.iops(stretch.job.sizes.largest())? {
        None => ("max".to_owned(), ""),
        Some((iops, poisson)) => {
            let all = iops * stretch.clones as f64;
            let arrivals = if poisson {
                ""
            } else {
                ",distribution=deterministic"
            };
            (format!("{all:.0}"), arrivals)
        }
    };
    let warmup = match whole_seconds(stretch.job.ramp) {
        0 => String::new(),
        seconds => format!(",warmup={seconds}"),
    };
    let threads = stretch.clones_a_target() as u32 * stretch.job.effective_depth();
    // Of one interval nothing would be counted.
    let elapsed = stretch.seconds()?.max(2);
    Ok(format!(
        "iorate={rate},elapsed={elapsed},interval=1{warmup},threads={threads}{arrivals}"
    ))
}

/// As Vdbench writes sizes.
fn small(size: Bytes) -> String {
    bytes(size).to_lowercase()
}
