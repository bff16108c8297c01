//! Jobs of fio as command lines of DiskSpd, where those can say it.

use blocklab_units::Bytes;
use blocklab_workload::{Access, BlockSizes, Content, Durability, Job, Pattern};

use super::convert::{Stretch, bytes, each, whole_seconds};
use super::plan::Prepared;
use blocklab_syntax::Mistake;

/// One command line for each stretch between stonewalls.
///
/// # Errors
/// What DiskSpd cannot say, and of which job.
pub fn to_diskspd(prepared: &Prepared) -> Result<String, Mistake> {
    each(prepared, "DiskSpd", line)
}

fn line(stretch: &Stretch<'_>) -> Result<String, String> {
    let job = stretch.job;
    stretch.refuse_rarities()?;
    let block = block(&job.sizes, job)?;
    let mut words = vec![
        "diskspd".to_owned(),
        format!("-b{}", bytes(block)),
        format!("-d{}", stretch.seconds()?),
        format!("-W{}", whole_seconds(job.ramp)),
        format!("-o{}", job.effective_depth()),
        format!("-t{}", stretch.clones_a_target()),
    ];
    words.extend(pattern(job)?);
    if job.mix.write > 0 {
        words.push(format!("-w{}", job.mix.write));
    }
    words.extend(cache(job)?);
    words.extend(content(job)?);
    words.extend(pace(stretch, block)?);
    if job.region.offset > Bytes::ZERO {
        words.push(format!("-B{}", bytes(job.region.offset)));
    }
    if let Some(size) = job.region.size {
        words.push(format!("-c{}", bytes(job.region.offset + size)));
    }
    words.push("-L".to_owned());
    let quoted = stretch.targets.iter().map(|path| {
        if path.contains(' ') {
            format!("\"{path}\"")
        } else {
            path.clone()
        }
    });
    words.extend(quoted);
    Ok(words.join(" "))
}

fn block(sizes: &BlockSizes, job: &Job) -> Result<Bytes, String> {
    let used: Vec<_> = [(&sizes.read, job.mix.read), (&sizes.write, job.mix.write)]
        .into_iter()
        .filter(|(_, share)| *share > 0)
        .flat_map(|(mix, _)| &mix.0)
        .map(|(size, _)| *size)
        .collect();
    match used.first() {
        Some(first) if used.iter().all(|size| size == first) => Ok(*first),
        _ => Err("its blocks are of several sizes".to_owned()),
    }
}

fn pattern(job: &Job) -> Result<Vec<String>, String> {
    Ok(match &job.pattern {
        Pattern::Sequential => Vec::new(),
        Pattern::Strided { stride } => vec![format!("-s{}", bytes(*stride))],
        // DiskSpd knows no permutation: it draws each offset by itself.
        Pattern::Random { .. } => vec!["-r".to_owned()],
        Pattern::PercentRandom(percent) => vec!["-r".to_owned(), format!("-rs{percent}")],
        Pattern::Zones(zones) => {
            let zones = zones
                .iter()
                .map(|zone| format!("{:.0}/{:.0}", zone.access_percent, zone.space_percent));
            vec![
                "-r".to_owned(),
                format!("-rdpct{}", zones.collect::<Vec<_>>().join(":")),
            ]
        }
        _ => return Err("its distribution; zoned would work".to_owned()),
    })
}

fn cache(job: &Job) -> Result<Option<String>, String> {
    Ok(match (job.access, job.durability) {
        (Access::Buffered, Durability::None) => None,
        (Access::Buffered, _) => Some("-Sw".to_owned()),
        (_, Durability::None) => Some("-Su".to_owned()),
        _ => Some("-Sh".to_owned()),
    })
}

fn content(job: &Job) -> Result<Option<String>, String> {
    match job.content {
        Content::Zero => Ok(Some("-Z".to_owned())),
        Content::Random => Ok(Some("-Z1M".to_owned())),
        Content::Fresh => Ok(Some("-Zr".to_owned())),
        Content::Window { size } => Ok(Some(format!("-Z{}", size.0))),
        Content::Shaped { .. } | Content::Repeating { .. } => {
            Err("its compressible or repeated content".to_owned())
        }
        Content::Same => Err("its content, which is the same in every write".to_owned()),
    }
}

/// `-g` holds for each thread.
fn pace(stretch: &Stretch<'_>, block: Bytes) -> Result<Option<String>, String> {
    match stretch.iops(block)? {
        None => Ok(None),
        Some((_, true)) => Err("its arrivals at random".to_owned()),
        Some((iops, false)) => Ok(Some(format!("-g{iops:.0}i"))),
    }
}
