//! Every keyword, one row each: its section, its meaning, what is done with it and what sets it; and
//! the page that is made of the rows.

use std::collections::BTreeSet;

use super::definitions::Definitions;
use super::defs::LoopKind;
use super::error::{Mistake, Subject};
use super::scan::Parameter;
use super::setters::add_words;
use super::value::{Argument, Kind};
use blocklab_syntax::option::{Opt, Support};

/// Where a keyword may be used, in the order in which sections come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    General,
    Host,
    Storage,
    Workload,
    Run,
}

impl Section {
    const ALL: [Self; 5] = [
        Self::General,
        Self::Host,
        Self::Storage,
        Self::Workload,
        Self::Run,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::General => "general",
            Self::Host => "host (hd)",
            Self::Storage => "storage (sd)",
            Self::Workload => "workload (wd)",
            Self::Run => "run (rd)",
        }
    }
}

/// Puts a value where it belongs in the definition that is being read.
pub(super) type Setter = fn(&mut Definitions<'_>, &Argument<'_>) -> Result<(), Mistake>;

/// The section of a keyword; an accepted one also has what sets it.
#[derive(Debug)]
pub(super) struct InSection {
    pub(super) section: Section,
    pub(super) set: Option<Setter>,
}

/// One keyword in one section.
pub(super) type Keyword = Opt<InSection>;

/// `Section "name" "meaning" Support("difference") => what sets it`. A row whose keyword is
/// accepted and that lacks the last part does not compile.
macro_rules! rows {
    (|$all:ident, $arg:ident| $(
        $section:ident $name:literal $meaning:literal
        $support:ident $(($here:literal))? $(=> $set:expr)?
    )*) => {
        &[$({
            has_setter!($support $($set)?);
            Keyword {
                chapter: Section::$section.name(),
                name: $name,
                aliases: &[],
                value: InSection {
                    section: Section::$section,
                    set: setter!($(|$all, $arg| $set)?),
                },
                default: "",
                meaning: $meaning,
                support: Support::$support,
                here: concat!($($here)?),
            }
        }),*]
    };
}

macro_rules! setter {
    () => {
        None
    };
    (|$all:ident, $arg:ident| $set:expr) => {
        Some(|$all, $arg| {
            $set;
            Ok(())
        })
    };
}

/// What is ignored or refused has no setter, and all else has one.
macro_rules! has_setter {
    (Ignored) => {};
    (Refused) => {};
    (Exact $set:expr) => {};
    (Documented $set:expr) => {};
    (Mostly $set:expr) => {};
    (Nearly $set:expr) => {};
}

#[rustfmt::skip]
pub(super) const KEYWORDS: &[Keyword] = rows! { |all, arg|
    General "abort_failed_skew" "end where a share is missed by this many per cent" Ignored("the run goes on; the skew report shows the differences")
    General "auxreport" "reports of a Java class" Ignored("Java is not run")
    General "compratio" "what is written compresses so well" Nearly("by zeros behind noise in each 4 KiB") => all.general.compratio = Some(arg.ratio(arg.number()?)?)
    General "compression" "compratio, in per cent" Nearly("by zeros behind noise in each 4 KiB") => all.general.compratio = Some(arg.ratio_of_rest(arg.number()?)?)
    General "compressionseed" "seed of the data pattern" Ignored("the seed of the run decides")
    General "concatenatesds" "one device made of all storage definitions" Mostly("random workloads only, and without data validation, data_errors=remove, ranges, strides, streams, hit areas and storage that is opened in different ways; each storage definition does its part of the operations, by its size, and none is drawn by lot") => all.general.concatenate = arg.yes()?
    General "create_anchors" "make the directories of file systems" Ignored("file system workloads are not run")
    General "data_errors" "what a failed operation or a wrong block leads to: n or (n,seconds) of them end all (50), remove or (remove,seconds) ends the use of that sd, stop and a \"command\" end all at the first one" Mostly("a command finds $lun, $lba, $size and $output in its environment, runs when the run has ended, and $size is empty of a failed operation; the seconds have no effect") => all.general.data_errors = arg.data_errors()?
    General "dataerrors" "as data_errors" Mostly("as data_errors") => all.general.data_errors = arg.data_errors()?
    General "debug" "switches of the original's own code" Ignored("that code is not here")
    General "dedupratio" "what is written repeats itself so often" Nearly("in units of 4 KiB, by 64 repeated blocks") => all.general.dedupratio = Some(arg.ratio(arg.number()?)?)
    General "dedupunit" "size of what repeats" Ignored("blocks of 4 KiB repeat")
    General "dedupsets" "how many different repeated blocks" Ignored("64 blocks repeat")
    General "deduphotsets" "uneven use of the sets" Ignored("all are used evenly")
    General "dedupflipflop" "changing duplicates on rewriting" Ignored("duplicates do not change")
    General "startcmd" "a shell command before all runs, with cons, sum or log: where its output goes" Mostly("a command that fails ends everything; a copy of its output goes to the log in any case") => all.general.startcmd.extend(arg.words()?)
    General "start_cmd" "as startcmd" Mostly("as startcmd") => all.general.startcmd.extend(arg.words()?)
    General "endcmd" "a shell command after all runs" Mostly("as startcmd") => all.general.endcmd.extend(arg.words()?)
    General "end_cmd" "as endcmd" Mostly("as startcmd") => all.general.endcmd.extend(arg.words()?)
    General "formatsds" "yes: format all files again; no: never" Documented => all.general.formatsds = Some(arg.yes()?)
    General "formatxfersize" "block size of SD_format (128k)" Documented => all.general.formatxfersize = Some(arg.sectors(arg.whole()?)?)
    General "fwd_thread_adjust" "rounding of threads of file system workloads" Ignored("file system workloads are not run")
    General "heartbeat_error" "of hosts that do not answer" Ignored("mpirun has limits of its own")
    General "histogram" "upper edges of its buckets (default,50,100u,1m,2s), without a unit in microseconds; a number that is not above the one before is a step; suppress leaves empty ends out" Mostly("an operation within 0.8 % of an edge may be counted on its other side; a list of another name than default is refused") => all.general.histogram = arg.buckets()?
    General "ios_per_jvm" "operations a second that one JVM makes" Ignored("Java is not run")
    General "journal" "yes, recover, only, ignore_pending, maponly, noflush as -j -jr -jro -jri -jm -jn" Mostly("journals of the original cannot be read; a directory for all journals is taken, too") => add_words(&mut all.general.journal, arg.journal()?)
    General "loop" "all runs again: a number of times, or for so long (60s, 5m, 1h)" Documented => all.general.repeat = Some(arg.repeat()?)
    General "messagescan" "reading the system's log" Ignored("it is not read")
    General "misc" "switches of the original's own code" Ignored("that code is not here")
    General "monitor" "a file whose change ends the run" Ignored("Ctrl-C ends it")
    General "pattern" "what is written" Ignored("noise is written")
    General "pattern_buffer" "memory for it" Ignored("Java is not run")
    General "port" "how hosts reach each other" Ignored("mpirun has limits of its own")
    General "psrset" "processor sets of Solaris" Ignored("Linux has none")
    General "report" "which reports are written" Ignored("all are")
    General "report_run_totals" "totals over all runs" Ignored("they are not made")
    General "showlba" "every offset in a file" Ignored("it is not written")
    General "swat" "reports for another program" Refused("the original dropped it, too")
    General "timeout" "of hosts that do not answer" Ignored("mpirun has limits of its own")
    General "unix2windows" "paths for Windows" Ignored("Linux has others")
    General "validate" "data validation: yes, no, or read_after_write, no_preread, time, as -v -vr -vw -vt" Mostly("reads that validation adds enter all figures as reads") => add_words(&mut all.general.validate, arg.names()?)
    Host "hd" "a name for a host, or default" Mostly("one that is this machine runs here; several, and others, are started by mpirun") => all.hosts.begin(arg)?
    Host "system" "its address" Documented => all.hosts.set_address(arg)?
    Host "vdbench" "where the original lies there" Ignored("blocklab-rank is wanted there, at the same path as here")
    Host "shell" "how it is reached" Ignored("mpirun reaches hosts by ssh, or by what OMPI_MCA_plm_rsh_agent names")
    Host "user" "who reaches it" Ignored("mpirun takes the user of the launcher, or of ssh's own configuration")
    Host "jvms" "how many JVMs run there" Ignored("Java is not run")
    Host "clients" "this many hosts that stand for others" Refused("each host is named by an hd of its own")
    Host "mount" "mount it for the run" Refused("nothing is mounted")
    Storage "sd" "its name, or default" Documented => all.begin_storage(arg)?
    Storage "lun" "a file or a device" Mostly("what holds data is written to only with --destroy-data; sim:ADDRESS and emu:ADDRESS are models") => all.set_lun(arg)?
    Storage "host" "which hosts use it; * or nothing: all" Mostly("its lun is the same on all of them") => all.set_storage_hosts(arg)?
    Storage "hd" "as host" Mostly("as host") => all.set_storage_hosts(arg)?
    Storage "count" "(start,n): this many of them, numbered" Documented => all.sds.current().count = Some(arg.count()?)
    Storage "size" "bytes; of a file that is made, its size" Documented => all.sds.current().size = arg.shared_size()?
    Storage "threads" "operations in flight (8), shared by its workloads" Documented => all.sds.current().threads = arg.shared_threads()?
    Storage "hitarea" "bytes at the beginning that hits go to (1m)" Documented => all.sds.current().hitarea = arg.whole()?
    Storage "offset" "added to every offset" Documented => all.sds.current().offset = arg.multiple()?
    Storage "align" "offsets are multiples of it" Documented => all.sds.current().align = arg.multiple()?
    Storage "openflags" "o_direct, directio, o_sync, o_dsync, o_rsync, fsync" Mostly("fsync at the end has no effect; numbers are refused") => all.sds.current().openflags = arg.openflags()?
    Storage "range" "(low,high) in per cent or bytes" Mostly("a range beyond 100 per cent ends at the end") => all.sds.current().range = Some(arg.range()?)
    Storage "journal" "directory of its journal" Mostly("journals of the original cannot be read") => all.sds.current().journal = Some(arg.word()?)
    Storage "replay" "traces" Refused("they are not run")
    Storage "streams" "sequential streams" Refused("it belongs to the workload")
    Storage "resetlun" "SCSI resets" Ignored("none are sent")
    Storage "resetbus" "SCSI resets" Ignored("none are sent")
    Storage "kstat" "statistics of Solaris" Ignored("Linux has others")
    Storage "instance" "statistics of Solaris" Ignored("Linux has others")
    Storage "dedupratio" "as in general, of this one" Nearly("in units of 4 KiB, by 64 repeated blocks") => all.sds.current().dedupratio = Some(arg.ratio(arg.number()?)?)
    Storage "dedupunit" "as in general" Ignored("blocks of 4 KiB repeat")
    Storage "dedupsets" "as in general" Ignored("64 blocks repeat")
    Storage "deduphotsets" "as in general" Ignored("all are used evenly")
    Storage "dedupflipflop" "as in general" Ignored("duplicates do not change")
    Workload "wd" "its name, or default" Documented => all.begin_workload(arg)?
    Workload "sd" "which storage: names, sd*, (sd1-sd9)" Documented => all.wds.current().sds = Some(arg.names()?)
    Workload "skew" "its share of the rate, in per cent" Documented => all.wds.current().skew = arg.percent()?
    Workload "xfersize" "size (4k), mix (4k,10,8k,90), or (min,max,align)" Mostly("of more than 1,024 sizes between min and max, some are left out") => all.wds.current().xfersize = arg.xfersize()?
    Workload "rdpct" "reads, in per cent (100)" Documented => all.wds.current().rdpct = arg.percent()?.trunc()
    Workload "readpct" "as rdpct" Documented => all.wds.current().rdpct = arg.percent()?.trunc()
    Workload "wrpct" "writes, in per cent" Documented => all.wds.current().rdpct = 100.0 - arg.percent()?.trunc()
    Workload "writepct" "as wrpct" Documented => all.wds.current().rdpct = 100.0 - arg.percent()?.trunc()
    Workload "rhpct" "share of the reads that go to the hit area" Documented => all.wds.current().rhpct = arg.percent()?
    Workload "whpct" "share of the writes that go to the hit area" Documented => all.wds.current().whpct = arg.percent()?
    Workload "range" "(low,high) in per cent or bytes" Mostly("a range beyond 100 per cent ends at the end") => { let wd = all.wds.current(); (wd.range, wd.hotband) = (Some(arg.range()?), false) }
    Workload "hotband" "(low,high): a range of which some blocks are used more" Mostly("Vdbench's curve by zones that double from 16 KiB on, and writes begin where reads do") => { let wd = all.wds.current(); (wd.range, wd.hotband) = (Some(arg.range()?), true) }
    Workload "seekpct" "random share (100), random, sequential, sequentialnz or seqnz, eof, poisson" Mostly("sequentialnz begins at the start of the range; poisson draws parts of the range by Poisson's law; a share is rounded to a whole per cent") => all.wds.current().seek = arg.seek()?
    Workload "stride" "(min,max): how many bytes a seek skips" Mostly("of strides, block sizes and blocks between two seeks that differ, the mean is used") => all.wds.current().stride = Some(arg.stride()?)
    Workload "streams" "this many sequential streams, each in its part" Documented => all.wds.current().streams = arg.streams()?
    Workload "iorate" "a rate of its own, in addition to the run's" Documented => all.wds.current().iorate = arg.own_rate()?
    Workload "priority" "who is served first" Nearly("of fixed rates before the rest") => all.wds.current().priority = Some(arg.priority()?)
    Workload "threads" "threads of a concatenation" Mostly("8 where neither these nor those of the run are given") => all.wds.current().threads = Some(arg.threads_up_to(4096)?)
    Workload "host" "which hosts run it; * or nothing: all that use its storage" Documented => all.set_workload_hosts(arg)?
    Workload "hd" "as host" Documented => all.set_workload_hosts(arg)?
    Workload "openflags" "as of sd" Mostly("fsync at the end has no effect; numbers are refused") => all.wds.current().openflags = Some(arg.openflags()?)
    Workload "user" "a Java class" Refused("Java is not run")
    Run "rd" "its name, or default" Documented => all.begin_run(arg)?
    Run "wd" "which workloads: names, wd*" Documented => all.set_workloads(arg)?
    Run "sd" "which storage instead; single, range, setsofN: a run for each" Documented => all.rds.current().sds = Some(arg.names()?)
    Run "iorate" "a number, max, curve, a list; n%: of the run before" Documented => all.rds.current().iorate = Some(arg.iorate()?)
    Run "curve" "points in per cent (10,50,70,80,90,100)" Exact => all.rds.current().curve = Some(arg.curve()?)
    Run "stopcurve" "end of a curve above this many ms" Documented => all.rds.current().options.stopcurve = Some(arg.number()?)
    Run "elapsed" "counted seconds (30)" Documented => all.rds.current().options.elapsed = Some(arg.seconds()?)
    Run "interval" "seconds of a report line (1)" Documented => all.rds.current().options.interval = arg.seconds()?
    Run "warmup" "seconds before the counted ones" Documented => all.rds.current().options.warmup = arg.seconds()?
    Run "pause" "seconds before the next run" Documented => all.rds.current().options.pause = arg.seconds()?
    Run "maxdata" "end after this many bytes, below 100 this many times the size" Nearly("each device its share") => all.rds.current().options.maxdata.all = Some(arg.above_zero()?)
    Run "maxdataread" "maxdata, of reads" Nearly("each device its share; counted are reads and writes") => all.rds.current().options.maxdata.read = Some(arg.above_zero()?)
    Run "maxdatawritten" "maxdata, of writes" Nearly("each device its share; counted are reads and writes") => all.rds.current().options.maxdata.written = Some(arg.above_zero()?)
    Run "distribution" "exponential, uniform, deterministic, variable, spike" Mostly("variable and spike take turns through the rates") => arg.set_distribution(all.rds.current())?
    Run "openflags" "as of sd" Mostly("fsync at the end has no effect; numbers are refused") => all.rds.current().options.openflags = Some(arg.openflags()?)
    Run "replay" "traces" Refused("they are not run")
    Run "startcmd" "a shell command before it" Mostly("as in general") => all.add_commands(arg, |options| &mut options.startcmd)?
    Run "start_cmd" "as startcmd" Mostly("as in general") => all.add_commands(arg, |options| &mut options.startcmd)?
    Run "endcmd" "a shell command after it" Mostly("as in general") => all.add_commands(arg, |options| &mut options.endcmd)?
    Run "end_cmd" "as endcmd" Mostly("as in general") => all.add_commands(arg, |options| &mut options.endcmd)?
    Run "format" "of file system workloads" Ignored("file system workloads are not run")
    Run "forxfersize" "a run for each" Documented => all.rds.current().put_loop(LoopKind::Xfersize, arg.sizes()?)
    Run "forthreads" "a run for each" Documented => all.rds.current().put_loop(LoopKind::Threads, arg.thread_counts()?)
    Run "forrdpct" "a run for each" Mostly("a share is rounded to a whole per cent") => all.rds.current().put_loop(LoopKind::Rdpct, arg.shares()?)
    Run "forrhpct" "a run for each" Documented => all.rds.current().put_loop(LoopKind::Rhpct, arg.shares()?)
    Run "forwhpct" "a run for each" Documented => all.rds.current().put_loop(LoopKind::Whpct, arg.shares()?)
    Run "forseekpct" "a run for each" Mostly("sequentialnz and poisson are taken as sequential and random; a share is rounded to a whole per cent") => all.rds.current().put_loop(LoopKind::Seekpct, arg.seeks(Kind::Number)?)
    Run "forhitarea" "a run for each" Documented => all.rds.current().put_loop(LoopKind::Hitarea, arg.each(|arg, bytes| Ok(arg.as_whole(bytes)? as f64))?)
    Run "forcompratio" "a run for each" Nearly("by zeros behind noise in each 4 KiB") => all.rds.current().put_loop(LoopKind::Comp, arg.each(Argument::ratio)?)
    Run "forcompression" "a run for each" Nearly("by zeros behind noise in each 4 KiB") => all.rds.current().put_loop(LoopKind::Comp, arg.compressions()?)
    Run "xfersize" "as forxfersize" Documented => all.rds.current().put_loop(LoopKind::Xfersize, arg.sizes()?)
    Run "threads" "as forthreads" Documented => all.rds.current().put_loop(LoopKind::Threads, arg.thread_counts()?)
    Run "rdpct" "as forrdpct" Mostly("as forrdpct") => all.rds.current().put_loop(LoopKind::Rdpct, arg.shares()?)
    Run "rhpct" "as forrhpct" Documented => all.rds.current().put_loop(LoopKind::Rhpct, arg.shares()?)
    Run "whpct" "as forwhpct" Documented => all.rds.current().put_loop(LoopKind::Whpct, arg.shares()?)
    Run "seekpct" "as forseekpct" Mostly("as forseekpct") => all.rds.current().put_loop(LoopKind::Seekpct, arg.seeks(Kind::Word)?)
    Run "hitarea" "as forhitarea" Documented => all.rds.current().put_loop(LoopKind::Hitarea, arg.each(|arg, bytes| Ok(arg.as_whole(bytes)? as f64))?)
    Run "compratio" "as forcompratio" Nearly("as forcompratio") => all.rds.current().put_loop(LoopKind::Comp, arg.each(Argument::ratio)?)
    Run "compression" "as forcompression" Nearly("as forcompression") => all.rds.current().put_loop(LoopKind::Comp, arg.compressions()?)
};

/// The keywords that file system workloads have to themselves, by where they are used. The first of them
/// ends the reading of a file ([`super::read`]), so none has a row above.
#[rustfmt::skip]
const OF_FILE_SYSTEMS: [(&str, &[&str]); 3] = [
    ("fsd", &["fsd", "anchor", "count", "depth", "distribution", "files", "journal", "openflags", "shared", "sizes", "totalsize", "width", "workingsetsize"]),
    ("fwd", &["fwd", "fsd", "fileio", "fileselect", "host", "openflags", "operation", "rdpct", "skew", "stopafter", "threads", "xfersize"]),
    ("rd", &["fwd", "fwdrate", "operations", "foroperations", "fordepth", "forfiles", "forsizes", "fortotal", "forwidth", "forworkingsetsize"]),
];

/// Why a keyword of theirs that is among the others has no effect.
const NO_FILE_SYSTEMS: &str = "file system workloads are not run";

/// Where the original decides what an abbreviation of two keywords means; and `host` opens a host
/// definition as `hd` does.
const SHORT: [(&str, &[&str]); 6] = [
    ("compratio", &["co", "com", "comp", "compr"]),
    (
        "forcompratio",
        &["forc", "forco", "forcom", "forcomp", "forcompr"],
    ),
    ("distribution", &["di"]),
    ("forrdpct", &["forr"]),
    ("maxdata", &["maxd"]),
    ("hd", &["host"]),
];

/// The keyword of a section that a word abbreviates. `sd`, `wd` and `rd` are never abbreviations.
///
/// # Errors
/// A word that may mean several keywords, or none.
pub(super) fn find(section: Section, parameter: &Parameter) -> Result<&'static Keyword, Mistake> {
    let word = &*parameter.keyword;
    let here = KEYWORDS.iter().filter(|row| row.value.section == section);
    let short = SHORT.iter().find(|(_, short)| short.contains(&word));
    let exact = here.clone().find(|row| row.name == word).or_else(|| {
        let (name, _) = short?;
        here.clone().find(|row| row.name == *name)
    });
    if let Some(row) = exact {
        return Ok(row);
    }
    let rows: Vec<&'static Keyword> = here.filter(|row| row.name.starts_with(word)).collect();
    // Names that differ in their underscores alone are one keyword.
    let names: BTreeSet<String> = rows.iter().map(|row| row.name.replace('_', "")).collect();
    match rows[..] {
        [row, ..] if names.len() == 1 => Ok(row),
        [] => Err(parameter.error(unknown(section, word))),
        _ => {
            let names: Vec<&str> = rows.iter().map(|row| row.name).collect();
            let names = names.join(" or ");
            let message = format_args!("it may stand for {names}; write more letters");
            Err(parameter.error(message))
        }
    }
}

/// The message on a word that is no keyword of a section.
fn unknown(section: Section, word: &str) -> String {
    let message = format!("there is no such keyword in the {} section", section.name());
    if let Some(row) = KEYWORDS.iter().find(|row| row.name == word) {
        let other = row.value.section;
        let place = if other < section { "before" } else { "behind" };
        let other = other.name();
        return format!("{message}; it belongs to the {other} section, which stands {place} it");
    }
    let here = KEYWORDS.iter().filter(|row| row.value.section == section);
    match blocklab_units::nearest(word, here.map(|row| row.name)) {
        Some(near) => format!("{message}; perhaps {near}="),
        None => message,
    }
}

/// What can be typed.
pub const fn usage() -> &'static str {
    include_str!("usage.txt")
}

/// `docs/dialects/vdbench.md`.
pub fn reference() -> String {
    let mut page = String::from(include_str!("reference.md"));
    page.push_str(&format!("\n## Command line\n\n```\n{}```\n", usage()));
    page.push_str(&counts());
    for section in Section::ALL {
        page.push_str(&format!("\n## {}\n\n", section.name()));
        page.push_str("| keyword | meaning | here |\n|---|---|---|\n");
        for row in KEYWORDS.iter().filter(|row| row.value.section == section) {
            page.push_str(&row.line(&format!("`{}`", row.name), None));
        }
    }
    page
}

/// How many keywords have which level, section by section; those of file system workloads apart.
fn counts() -> String {
    const LEVELS: [(&str, Support); 6] = [
        ("exact", Support::Exact),
        ("as documented", Support::Documented),
        ("differs", Support::Mostly),
        ("approximated", Support::Nearly),
        ("ignored", Support::Ignored),
        ("refused", Support::Refused),
    ];
    let words = LEVELS.map(|(word, _)| format!(" {word} |")).concat();
    let mut text = format!("\n## How many keywords\n\n| section |{words}\n");
    text.push_str(&format!("|---|{}\n", "---|".repeat(LEVELS.len())));
    for section in Section::ALL {
        let counts = LEVELS.map(|(_, level)| {
            let rows = KEYWORDS.iter().filter(|row| row.value.section == section);
            rows.filter(|row| row.support == level && row.here != NO_FILE_SYSTEMS)
                .count()
        });
        text.push_str(&line(section.name(), counts));
    }
    let counts = LEVELS.map(|(_, level)| {
        let rows = KEYWORDS.iter().filter(|row| row.support == level);
        let with_row = rows.filter(|row| row.here == NO_FILE_SYSTEMS).count();
        let without_row = OF_FILE_SYSTEMS.iter().map(|(_, names)| names.len()).sum();
        with_row
            + if level == Support::Refused {
                without_row
            } else {
                0
            }
    });
    text.push_str(&line("file system workloads (fsd, fwd)", counts));
    text.push_str("\nThose of file system workloads that are refused:\n\n");
    for (place, names) in OF_FILE_SYSTEMS {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        text.push_str(&format!("- {place}: {}\n", names.join(", ")));
    }
    text
}

fn line<const LEVELS: usize>(name: &str, counts: [usize; LEVELS]) -> String {
    let counts = counts.map(|count| format!(" {count} |"));
    format!("| {name} |{}\n", counts.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(keyword: &str) -> Parameter {
        Parameter {
            place: crate::Place::default(),
            keyword: keyword.to_owned(),
            raw: Vec::new(),
        }
    }

    #[track_caller]
    fn check(section: Section, word: &str, expected: &str) {
        let row = find(section, &parameter(word)).expect(word);
        assert_eq!(row.name, expected, "{word}");
    }

    /// The page called `hd` exact, and its text said "only this host"; `openflags` was exact, and
    /// fsync had no effect. A difference has a column of its own now, which an exact row lacks, and
    /// the meaning must describe none.
    #[test]
    fn an_exact_row_tells_of_no_difference() {
        const DIFFERS: [&str; 12] = [
            "only",
            "here",
            "instead of",
            "no effect",
            "not ",
            "approximat",
            "nearly",
            "mean",
            "left out",
            "ignored",
            "refused",
            "as far as",
        ];
        for Opt {
            name,
            meaning,
            support,
            here,
            ..
        } in KEYWORDS
        {
            match support {
                Support::Exact | Support::Documented => {
                    let words = DIFFERS.iter().find(|words| meaning.contains(**words));
                    assert_eq!(words, None, "{name} does not differ: {meaning}");
                    assert_eq!(*here, "", "{name}");
                }
                _ => assert!(!here.is_empty(), "{name}: the difference is missing"),
            }
        }
    }

    /// A row that refers to another one has its support: `as forseekpct` differs where that does.
    #[test]
    fn rows_that_refer_to_another_one_have_its_support() {
        for row in KEYWORDS {
            let Some(name) = row.meaning.strip_prefix("as ") else {
                continue;
            };
            let own = KEYWORDS
                .iter()
                .find(|other| other.value.section == row.value.section && other.name == name);
            let Some(other) = own else { continue };
            assert_eq!(row.support, other.support, "{} is as {name}", row.name);
        }
    }

    /// The story: a reader of the page could not see how much of Vdbench is missing, for what file
    /// systems need was in no table, and three of their keywords were among those of raw loads.
    #[test]
    fn each_keyword_is_counted_once_and_those_of_file_systems_apart() {
        let counts = counts();
        let numbers = |line: &str| {
            let cells = line.split('|').map(str::trim);
            cells.filter_map(|cell| cell.parse::<usize>().ok()).sum()
        };
        let lines: Vec<usize> = counts.lines().map(numbers).filter(|sum| *sum > 0).collect();
        let refused: usize = OF_FILE_SYSTEMS.iter().map(|(_, names)| names.len()).sum();
        assert_eq!(lines.iter().sum::<usize>(), KEYWORDS.len() + refused);
        assert_eq!(lines.last(), Some(&(refused + 3)));
        // None of them is taken among the others, under the name of another keyword.
        let (_, of_runs) = OF_FILE_SYSTEMS[2];
        for name in of_runs {
            assert!(find(Section::Run, &parameter(name)).is_err(), "{name}");
        }
    }

    #[test]
    fn abbreviations_are_understood() {
        for (word, expected) in [
            ("io", "iorate"),
            ("el", "elapsed"),
            ("in", "interval"),
            ("xf", "xfersize"),
            ("forx", "forxfersize"),
            ("fort", "forthreads"),
            ("forr", "forrdpct"),
            ("rd", "rd"),
            ("th", "threads"),
            ("wa", "warmup"),
            ("en", "endcmd"),
        ] {
            check(Section::Run, word, expected);
        }
        let several = find(Section::Run, &parameter("st"))
            .expect_err("st")
            .to_string();
        assert!(several.contains("may stand for"), "{several}");
        check(Section::Workload, "xf", "xfersize");
        check(Section::Storage, "th", "threads");
    }
}
