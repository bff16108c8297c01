//! The profile as XML.

use super::sheet::Sheet;
use super::spec::{
    Buffers, Cache, Distribution, Format, MapFlush, Profile, Target, Throughput, TimeSpan,
};

/// The profile alone, as `-Rpxml` prints it.
#[must_use]
pub fn profile_xml(profile: &Profile) -> String {
    let mut sheet = Sheet::default();
    profile_of(&mut sheet, profile);
    sheet.text
}

pub(super) fn profile_of(sheet: &mut Sheet, profile: &Profile) {
    sheet.nest("Profile", |sheet| {
        sheet.leaf("Progress", profile.progress);
        sheet.leaf(
            "ResultFormat",
            if profile.format == Format::Xml {
                "xml"
            } else {
                "text"
            },
        );
        sheet.leaf("Verbose", profile.verbose);
        sheet.nest("TimeSpans", |sheet| {
            profile
                .timespans
                .iter()
                .for_each(|span| span_of(sheet, span));
        });
    });
}

fn span_of(sheet: &mut Sheet, span: &TimeSpan) {
    sheet.nest("TimeSpan", |sheet| {
        sheet.leaf("CompletionRoutines", span.completion_routines);
        sheet.leaf("MeasureLatency", span.measure_latency);
        sheet.leaf("CalculateIopsStdDev", span.iops_std_dev);
        sheet.leaf("DisableAffinity", span.disable_affinity);
        sheet.leaf("Duration", span.duration);
        sheet.leaf("Warmup", span.warmup);
        sheet.leaf("Cooldown", span.cooldown);
        sheet.leaf("ThreadCount", span.thread_count);
        sheet.leaf("RequestCount", span.request_count);
        sheet.leaf("IoBucketDuration", span.bucket_ms);
        sheet.leaf("RandSeed", span.seed.unwrap_or(0));
        if span.random_write_data {
            sheet.leaf("RandomWriteData", true);
        }
        if !span.affinity.is_empty() {
            sheet.nest("Affinity", |sheet| {
                for (group, cpu) in &span.affinity {
                    let line =
                        format!("<AffinityGroupAssignment Group=\"{group}\" Processor=\"{cpu}\"/>");
                    sheet.line(&line);
                }
            });
        }
        sheet.nest("Targets", |sheet| {
            for target in &span.targets {
                sheet.nest("Target", |sheet| target_of(sheet, target));
            }
        });
    });
}

fn target_of(sheet: &mut Sheet, target: &Target) {
    sheet.leaf("Path", &target.path);
    sheet.leaf("BlockSize", target.block);
    sheet.leaf("BaseFileOffset", target.base);
    sheet.leaf("SequentialScan", target.hints[0]);
    sheet.leaf("RandomAccess", target.hints[1]);
    sheet.leaf("TemporaryFile", target.hints[2]);
    sheet.leaf("UseLargePages", target.large_pages);
    match target.cache {
        Cache::Cached => {}
        Cache::None => sheet.leaf("DisableOSCache", true),
        Cache::NotLocal => sheet.leaf("DisableLocalCache", true),
    }
    if target.write_through {
        sheet.leaf("WriteThrough", true);
    }
    if target.mapped {
        sheet.leaf("MemoryMappedIo", true);
    }
    if let Some(flush) = target.map_flush {
        let mode = match flush {
            MapFlush::View => "ViewOfFile",
            MapFlush::NonVolatile => "NonVolatileMemory",
            MapFlush::NonVolatileNoDrain => "NonVolatileMemoryNoDrain",
        };
        sheet.leaf("FlushType", mode);
    }
    sheet.nest("WriteBufferContent", |sheet| contents(sheet, target));
    sheet.leaf("ParallelAsyncIO", target.parallel);
    if target.burst > 0 {
        sheet.leaf("BurstSize", target.burst);
        sheet.leaf("ThinkTime", target.think_ms);
    }
    if target.file_size > 0 {
        sheet.leaf("FileSize", target.file_size);
    }
    pattern(sheet, target);
    sheet.leaf("ThreadStride", target.thread_stride);
    sheet.leaf("MaxFileSize", target.max_file_size);
    sheet.leaf("RequestCount", target.requests);
    sheet.leaf("WriteRatio", target.write_ratio);
    match target.throughput {
        Some(Throughput::Iops(iops)) => {
            sheet.line(&format!("<Throughput unit=\"IOPS\">{iops}</Throughput>"))
        }
        Some(Throughput::BytesPerMs(bytes)) => sheet.leaf("Throughput", bytes),
        None => sheet.leaf("Throughput", 0),
    }
    sheet.leaf("ThreadsPerFile", target.threads);
    sheet.leaf("IOPriority", target.priority);
    sheet.leaf("Weight", target.weight);
    if !target.threads_of_pool.is_empty() {
        sheet.nest("ThreadTargets", |sheet| {
            for (thread, weight) in &target.threads_of_pool {
                sheet.nest("ThreadTarget", |sheet| {
                    sheet.leaf("Thread", thread);
                    if *weight > 0 {
                        sheet.leaf("Weight", weight);
                    }
                });
            }
        });
    }
}

fn contents(sheet: &mut Sheet, target: &Target) {
    match &target.buffers {
        Buffers::Zero => sheet.leaf("Pattern", "zero"),
        Buffers::Pattern => sheet.leaf("Pattern", "sequential"),
        Buffers::Source { size, file } => {
            sheet.leaf("Pattern", "random");
            sheet.nest("RandomDataSource", |sheet| {
                sheet.leaf("SizeInBytes", size);
                if let Some(file) = file {
                    sheet.leaf("FilePath", file);
                }
            });
        }
    }
}

fn pattern(sheet: &mut Sheet, target: &Target) {
    match target.random_ratio {
        0 => {
            sheet.leaf("StrideSize", target.step());
            sheet.leaf("InterlockedSequential", target.interlocked);
        }
        ratio => {
            sheet.leaf("Random", target.step());
            if ratio < 100 {
                sheet.leaf("RandomRatio", ratio);
            }
        }
    }
    if let Some(distribution) = &target.distribution {
        let (name, list) = match distribution {
            Distribution::Percent(list) => ("Percent", list),
            Distribution::Absolute(list) => ("Absolute", list),
        };
        sheet.nest("Distribution", |sheet| {
            sheet.nest(name, |sheet| {
                for (io, width) in list {
                    sheet.line(&format!("<Range IO=\"{io}\">{width}</Range>"));
                }
            });
        });
    }
}
