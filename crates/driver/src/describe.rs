//! Settings of a job as the short texts that a Record keeps beside its figures.

use blocklab_units::Bytes;
use blocklab_workload::{Access, BlockSizes, Durability, Job, Mix, Pace, Pattern, SizeMix};

pub(super) fn pattern(job: &Job) -> String {
    let text = law(&job.pattern);
    match job.runs {
        Some(runs) if runs.follow_percent > 0 => {
            let share = 100 - runs.follow_percent;
            match &*text {
                "random" => format!("{share} % random"),
                _ => format!("{share} % {text}"),
            }
        }
        _ => text,
    }
}

fn law(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Sequential => "sequential".to_owned(),
        Pattern::Strided { stride } => format!("strided by {stride}"),
        Pattern::Backward { back } => format!("backward by {back}"),
        Pattern::Random {
            every_block_once: false,
        } => "random".to_owned(),
        Pattern::Random {
            every_block_once: true,
        } => "random, every block once".to_owned(),
        Pattern::PercentRandom(percent) => format!("{percent} % random"),
        Pattern::Zipf { theta } => format!("zipf {theta}"),
        Pattern::Pareto { h } => format!("pareto {h}"),
        Pattern::Normal { deviation_percent } => format!("normal {deviation_percent} %"),
        Pattern::Zones(zones) => format!("{} zones", zones.len()),
    }
}

pub(super) fn block_size(job: &Job) -> String {
    let BlockSizes { read, write, trim } = &job.sizes;
    let used = [
        (job.mix.read, "read", read),
        (job.mix.write, "write", write),
        (job.mix.trim, "trim", trim),
    ];
    let used: Vec<_> = used.into_iter().filter(|(share, ..)| *share > 0).collect();
    let same = used.windows(2).all(|pair| pair[0].2 == pair[1].2);
    match used.first() {
        Some((_, _, mix)) if same => size_mix(mix),
        _ => {
            let texts = used
                .iter()
                .map(|(_, name, mix)| format!("{name} {}", size_mix(mix)));
            texts.collect::<Vec<_>>().join(", ")
        }
    }
}

fn size_mix(mix: &SizeMix) -> String {
    if let [(size, _)] = mix.0[..] {
        return size.to_string();
    }
    let total: u32 = mix.0.iter().map(|(_, weight)| weight).sum();
    let share = |(size, weight): &(Bytes, u32)| {
        format!(
            "{size} {:.0} %",
            f64::from(*weight) * 100.0 / f64::from(total)
        )
    };
    mix.0.iter().map(share).collect::<Vec<_>>().join(", ")
}

pub(super) fn mix(mix: Mix) -> String {
    let shares = [(mix.read, "read"), (mix.write, "write"), (mix.trim, "trim")];
    if let Some((_, name)) = shares.iter().find(|(share, _)| *share == 100) {
        return (*name).to_owned();
    }
    let used = shares.iter().filter(|(share, _)| *share > 0);
    used.map(|(share, name)| format!("{share} % {name}"))
        .collect::<Vec<_>>()
        .join(", ")
}

pub(super) const fn access(access: Access) -> &'static str {
    match access {
        Access::Buffered => "buffered",
        Access::Direct => "direct",
        Access::DirectIfPossible => "direct_if_possible",
    }
}

pub(super) const fn durability(durability: Durability) -> &'static str {
    match durability {
        Durability::None => "none",
        Durability::Dsync => "dsync",
        Durability::Sync => "sync",
    }
}

pub(super) const fn pace(pace: Pace) -> &'static str {
    match pace {
        Pace::Closed => "closed",
        Pace::Capped(_) => "capped",
        Pace::OpenFixed(_) => "open_fixed",
        Pace::OpenPoisson(_) => "open_poisson",
        Pace::ByDirection { poisson: false, .. } => "open_fixed",
        Pace::ByDirection { poisson: true, .. } => "open_poisson",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixes_read_like_sentences() {
        assert_eq!(mix(Mix::READ), "read");
        assert_eq!(
            mix(Mix {
                read: 70,
                write: 30,
                trim: 0
            }),
            "70 % read, 30 % write"
        );
        let mut job = Job::new("sizes");
        assert_eq!(block_size(&job), "4 KiB");
        job.mix = Mix {
            read: 50,
            write: 50,
            trim: 0,
        };
        job.sizes.write = SizeMix(vec![(Bytes(4096), 3), (Bytes(65536), 1)]);
        assert_eq!(
            block_size(&job),
            "read 4 KiB, write 4 KiB 75 %, 64 KiB 25 %"
        );
    }
}
