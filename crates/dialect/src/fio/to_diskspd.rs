//! Jobs of fio as command lines of DiskSpd, where those can say it.

use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{Access, BlockSizes, Content, Durability, Job, Pace, Pattern, Think};

use super::mistake::{Mistake, Place};
use super::plan::Prepared;

/// One command line for each stretch between stonewalls.
///
/// # Errors
/// What DiskSpd cannot say, and of which job.
pub fn to_diskspd(prepared: &Prepared) -> Result<String, Mistake> {
    let mut text = String::new();
    for (index, case) in prepared.plan.cases.iter().enumerate() {
        let clones: Vec<_> = prepared
            .clones
            .iter()
            .filter(|clone| clone.case == index)
            .collect();
        let specs = clones.iter().map(|clone| clone.spec);
        let (first, job) = match (clones.first(), case.workload.jobs.first()) {
            (Some(first), Some(job)) => (first, job),
            _ => continue,
        };
        let refuse = |why: &str| {
            let message = format!("job {}: DiskSpd cannot say it: {why}", first.name);
            Err(Mistake::new(&Place::COMMAND_LINE, message))
        };
        if specs.clone().any(|spec| spec != first.spec) {
            return refuse("jobs that differ run at the same time; `stonewall` would part them");
        }
        let mut targets: Vec<String> = Vec::new();
        for path in case.workload.jobs.iter().flat_map(|job| &job.targets) {
            if !targets.contains(path) {
                targets.push(path.clone());
            }
        }
        let threads = specs.count();
        match line(job, threads, &targets) {
            Ok(line) => text.push_str(&line),
            Err(why) => return refuse(&why),
        }
        text.push('\n');
    }
    Ok(text)
}

fn line(job: &Job, threads: usize, targets: &[String]) -> Result<String, String> {
    let block = block(&job.sizes, job)?;
    let Some(runtime) = job.stop.runtime else {
        return Err("it ends by bytes; runtime= would end it by time".to_owned());
    };
    let mut words = vec![
        "diskspd".to_owned(),
        format!("-b{}", bytes(block)),
        format!("-d{}", seconds(runtime, 1)),
        format!("-W{}", seconds(job.ramp, 0)),
        format!("-o{}", job.effective_depth()),
    ];
    // Threads with a file each are threads of each file; with one file they share it.
    let a_file = threads / targets.len().clamp(1, threads.max(1));
    words.push(format!("-t{}", a_file.max(1)));
    words.extend(pattern(job)?);
    if job.mix.trim > 0 || job.trim_first {
        return Err("it trims".to_owned());
    }
    if job.mix.write > 0 {
        words.push(format!("-w{}", job.mix.write));
    }
    words.extend(cache(job)?);
    words.extend(content(job)?);
    words.extend(pace(job, block)?);
    if job.region.offset > Bytes::ZERO {
        words.push(format!("-B{}", bytes(job.region.offset)));
    }
    if let Some(size) = job.region.size {
        words.push(format!("-c{}", bytes(job.region.offset + size)));
    }
    words.push("-L".to_owned());
    let quoted = targets.iter().map(|path| match path.contains(' ') {
        true => format!("\"{path}\""),
        false => path.clone(),
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
    if job.runs.is_some() || job.window.is_some() || job.verify.is_some() {
        return Err("its runs, zones or checks of what was written".to_owned());
    }
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
    if job.fill.is_some() {
        return Err("its pattern of bytes".to_owned());
    }
    match job.content {
        Content::Zero => Ok(Some("-Z".to_owned())),
        Content::Random => Ok(Some("-Z1M".to_owned())),
        Content::Fresh => Ok(Some("-Zr".to_owned())),
        Content::Shaped { .. } => Err("its compressible or repeated content".to_owned()),
    }
}

/// `-g` holds for each thread.
fn pace(job: &Job, block: Bytes) -> Result<Option<String>, String> {
    use blocklab_workload::Rate;
    if matches!(job.think, Some(Think { pause, .. }) if pause > Nanos::ZERO) {
        return Err("its pauses; a rate would slow it down".to_owned());
    }
    let rates = match job.pace {
        Pace::Closed => return Ok(None),
        Pace::ByDirection {
            rates,
            poisson: false,
        } => rates,
        _ => return Err("its arrivals at random".to_owned()),
    };
    let iops = rates.into_iter().flatten().map(|rate| match rate {
        Rate::Iops(iops) => iops,
        Rate::Bytes(bytes) => bytes / block.as_f64(),
    });
    Ok(Some(format!("-g{:.0}i", iops.sum::<f64>())))
}

/// In the largest unit that says it exactly.
fn bytes(bytes: Bytes) -> String {
    for (unit, shift) in [("G", 30), ("M", 20), ("K", 10)] {
        if bytes.0 >= 1 << shift && bytes.0.is_multiple_of(1 << shift) {
            return format!("{}{unit}", bytes.0 >> shift);
        }
    }
    bytes.0.to_string()
}

/// Whole ones: DiskSpd knows no others.
fn seconds(time: Nanos, least: u64) -> u64 {
    time.0.div_ceil(1_000_000_000).max(least)
}
