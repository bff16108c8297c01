//! Every keyword, one row each: its section, what is done with it, what it means.

/// Where a keyword may stand, in the order in which sections come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    General,
    Host,
    Storage,
    Workload,
    Run,
}

impl Section {
    pub(super) const ALL: [Self; 5] = [
        Self::General,
        Self::Host,
        Self::Storage,
        Self::Workload,
        Self::Run,
    ];

    pub(super) const fn name(self) -> &'static str {
        [
            "general",
            "host (hd)",
            "storage (sd)",
            "workload (wd)",
            "run (rd)",
        ][self as usize]
    }
}

/// What is done with a keyword. A keyword that is done differently carries how it differs, and the
/// others have no place for that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Support {
    /// As in the original: a test holds what that was seen to do (`proof/data/exact/vdbench.txt`).
    Exact,
    /// As the original's manual says; nothing that it was seen to do is compared.
    Documented,
    /// Nearly, with this difference.
    Near(&'static str),
    /// Has no effect here, for this reason; a Note tells the user so.
    Ignored(&'static str),
    /// Refused for this reason.
    Refused(&'static str),
}

impl Support {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Documented => "as documented",
            Self::Near(_) => "near",
            Self::Ignored(_) => "ignored, with a note",
            Self::Refused(_) => "refused",
        }
    }

    /// How it differs from the original.
    pub(super) const fn difference(self) -> &'static str {
        match self {
            Self::Exact | Self::Documented => "",
            Self::Near(difference) | Self::Ignored(difference) | Self::Refused(difference) => {
                difference
            }
        }
    }
}

/// One keyword in one section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Keyword {
    pub(super) section: Section,
    pub(super) name: &'static str,
    pub(super) meaning: &'static str,
    pub(super) support: Support,
}

macro_rules! rows {
    ($($section:ident $name:literal $meaning:literal $support:ident $(($difference:literal))?)*) => {
        &[$(Keyword {
            section: Section::$section,
            name: $name,
            meaning: $meaning,
            support: Support::$support $(($difference))?,
        }),*]
    };
}

#[rustfmt::skip]
pub(super) const KEYWORDS: &[Keyword] = rows! {
    General "abort_failed_skew" "end where a share is missed by so many per cent" Ignored("the run goes on; the skew report shows the differences")
    General "auxreport" "reports of a Java class" Ignored("Java is not run")
    General "compratio" "what is written compresses so well" Near("by zeros behind noise in each 4 KiB")
    General "compression" "compratio, in per cent" Near("by zeros behind noise in each 4 KiB")
    General "compressionseed" "seed of the data pattern" Ignored("the seed of the run decides")
    General "concatenatesds" "one device made of all storage definitions" Near("random workloads only, and without data validation, data_errors=remove, ranges, strides, streams, hit areas and storage that is opened in different ways; each storage definition does its part of the operations, by its size, and none is drawn by lot")
    General "create_anchors" "make the directories of file systems" Ignored("file system workloads are not run")
    General "data_errors" "what a failed operation or a wrong block leads to: n of them end all (50), remove or (remove,n) ends the use of that sd, stop and a \"command\" end all at the first one" Near("a command finds $lun, $lba, $size and $output in its environment, runs when the run has ended, and $size is empty of a failed operation")
    General "dataerrors" "as data_errors" Near("as data_errors")
    General "debug" "switches of the original's own code" Ignored("that code is not here")
    General "dedupratio" "what is written repeats itself so often" Near("in units of 4 KiB, by 64 repeated blocks")
    General "dedupunit" "size of what repeats" Ignored("blocks of 4 KiB repeat")
    General "dedupsets" "how many different repeated blocks" Ignored("64 blocks repeat")
    General "deduphotsets" "uneven use of the sets" Ignored("all are used evenly")
    General "dedupflipflop" "changing duplicates on rewriting" Ignored("duplicates do not change")
    General "startcmd" "a shell command before all runs, with cons, sum or log: where its output goes" Near("a command that fails ends everything; a copy of its output goes to the log in any case")
    General "start_cmd" "as startcmd" Near("as startcmd")
    General "endcmd" "a shell command after all runs" Near("as startcmd")
    General "end_cmd" "as endcmd" Near("as startcmd")
    General "formatsds" "yes: format all files again; no: never" Documented
    General "formatxfersize" "block size of SD_format (128k)" Documented
    General "fwd_thread_adjust" "rounding of threads of file system workloads" Ignored("file system workloads are not run")
    General "heartbeat_error" "of hosts that do not answer" Ignored("one host runs")
    General "histogram" "upper edges of its buckets (default,50,100u,1m,2s), without a unit in microseconds; a number that is not above the one before is a step; suppress leaves empty ends out" Near("an operation within 0.8 % of an edge may be counted on its other side; a list of another name than default is refused")
    General "ios_per_jvm" "operations a second that one JVM makes" Ignored("Java is not run")
    General "journal" "yes, recover, only, ignore_pending, maponly, noflush as -j -jr -jro -jri -jm -jn" Near("journals of the original cannot be read; a directory for all journals is taken, too")
    General "loop" "all runs again: a number of times, or for so long (60s, 5m, 1h)" Documented
    General "messagescan" "reading the system's log" Ignored("it is not read")
    General "misc" "switches of the original's own code" Ignored("that code is not here")
    General "monitor" "a file whose change ends the run" Ignored("Ctrl-C ends it")
    General "pattern" "what is written" Ignored("noise is written")
    General "pattern_buffer" "memory for it" Ignored("Java is not run")
    General "port" "how hosts reach each other" Ignored("one host runs")
    General "psrset" "processor sets of Solaris" Ignored("Linux has none")
    General "report" "which reports are written" Ignored("all are")
    General "report_run_totals" "totals over all runs" Ignored("they are not made")
    General "showlba" "every offset in a file" Ignored("it is not written")
    General "swat" "reports for another program" Refused("the original dropped it, too")
    General "timeout" "of hosts that do not answer" Ignored("one host runs")
    General "unix2windows" "paths for Windows" Ignored("Linux has others")
    General "validate" "data validation: yes, no, or read_after_write, no_preread, time, as -v -vr -vw -vt" Near("reads that validation adds enter all figures as reads")
    Host "hd" "a name for a host, or default" Near("localhost, 127.0.0.1 or a name of this machine; one such definition")
    Host "system" "its address" Near("an address or a name of this machine")
    Host "vdbench" "where the original lies there" Ignored("it is not needed")
    Host "shell" "how it is reached" Ignored("this machine needs none")
    Host "user" "who reaches it" Ignored("this machine needs none")
    Host "jvms" "how many JVMs run there" Ignored("Java is not run")
    Host "clients" "so many hosts that stand for others" Refused("one host runs")
    Host "mount" "mount it for the run" Refused("nothing is mounted")
    Storage "sd" "its name, or default" Documented
    Storage "lun" "a file or a device" Near("what holds data is written to only with --destroy-data; sim:ADDRESS and emu:ADDRESS are models")
    Storage "host" "which hosts use it" Near("the one that runs")
    Storage "hd" "as host" Near("the one that runs")
    Storage "count" "(start,n): so many of them, numbered" Documented
    Storage "size" "bytes; of a file that is made, its size" Documented
    Storage "threads" "operations in flight (8), shared by its workloads" Documented
    Storage "hitarea" "bytes at the beginning that hits go to (1m)" Documented
    Storage "offset" "added to every offset" Documented
    Storage "align" "offsets are multiples of it" Documented
    Storage "openflags" "o_direct, directio, o_sync, o_dsync, o_rsync, fsync" Near("fsync at the end has no effect; numbers are refused")
    Storage "range" "(low,high) in per cent or bytes" Near("a range beyond 100 per cent ends at the end")
    Storage "journal" "directory of its journal" Near("journals of the original cannot be read")
    Storage "replay" "traces" Refused("they are not run")
    Storage "streams" "sequential streams" Refused("it belongs to the workload")
    Storage "resetlun" "SCSI resets" Ignored("none are sent")
    Storage "resetbus" "SCSI resets" Ignored("none are sent")
    Storage "kstat" "statistics of Solaris" Ignored("Linux has others")
    Storage "instance" "statistics of Solaris" Ignored("Linux has others")
    Storage "dedupratio" "as in general, of this one" Near("in units of 4 KiB, by 64 repeated blocks")
    Storage "dedupunit" "as in general" Ignored("blocks of 4 KiB repeat")
    Storage "dedupsets" "as in general" Ignored("64 blocks repeat")
    Storage "deduphotsets" "as in general" Ignored("all are used evenly")
    Storage "dedupflipflop" "as in general" Ignored("duplicates do not change")
    Workload "wd" "its name, or default" Documented
    Workload "sd" "which storage: names, sd*, (sd1-sd9)" Documented
    Workload "skew" "its share of the rate, in per cent" Documented
    Workload "xfersize" "size (4k), mix (4k,10,8k,90), or (min,max,align)" Near("of more than 1,024 sizes between min and max, some are left out")
    Workload "rdpct" "reads, in per cent (100)" Documented
    Workload "readpct" "as rdpct" Documented
    Workload "wrpct" "writes, in per cent" Documented
    Workload "writepct" "as wrpct" Documented
    Workload "rhpct" "share of the reads that go to the hit area" Documented
    Workload "whpct" "share of the writes that go to the hit area" Documented
    Workload "range" "(low,high) in per cent or bytes" Near("a range beyond 100 per cent ends at the end")
    Workload "hotband" "(low,high): a range of which some blocks are used more" Near("80 per cent of the operations go to 20 per cent of its blocks")
    Workload "seekpct" "random share (100), random, sequential, sequentialnz or seqnz, eof, poisson" Near("sequentialnz begins at the start of the range; poisson draws parts of the range by Poisson's law")
    Workload "stride" "(min,max): how far the next operation is" Near("of different ones the mean")
    Workload "streams" "so many sequential streams, each in its part" Documented
    Workload "iorate" "a rate of its own, besides the run's" Documented
    Workload "priority" "who is served first" Near("of fixed rates before the rest")
    Workload "threads" "threads of a concatenation" Near("8 where neither these nor those of the run are given")
    Workload "host" "which hosts run it" Near("the one that runs")
    Workload "hd" "as host" Near("the one that runs")
    Workload "openflags" "as of sd" Near("fsync at the end has no effect; numbers are refused")
    Workload "user" "a Java class" Refused("Java is not run")
    Run "rd" "its name, or default" Documented
    Run "wd" "which workloads: names, wd*" Documented
    Run "sd" "which storage instead; single, range, setsofN: a run for each" Documented
    Run "iorate" "a number, max, curve, a list; n%: of the run before" Documented
    Run "curve" "points in per cent (10,50,70,80,90,100)" Exact
    Run "stopcurve" "end of a curve above so many ms" Documented
    Run "elapsed" "counted seconds (30)" Documented
    Run "interval" "seconds of a report line (1)" Documented
    Run "warmup" "seconds before the counted ones" Documented
    Run "pause" "seconds after it" Documented
    Run "maxdata" "end after so many bytes, below 100 so many times the size" Near("each device its share")
    Run "maxdataread" "maxdata, of reads" Near("each device its share; counted are reads and writes")
    Run "maxdatawritten" "maxdata, of writes" Near("each device its share; counted are reads and writes")
    Run "distribution" "exponential, uniform, deterministic, variable, spike" Near("variable and spike take turns through the rates")
    Run "openflags" "as of sd" Near("fsync at the end has no effect; numbers are refused")
    Run "replay" "traces" Refused("they are not run")
    Run "startcmd" "a shell command before it" Near("as in general")
    Run "start_cmd" "as startcmd" Near("as in general")
    Run "endcmd" "a shell command after it" Near("as in general")
    Run "end_cmd" "as endcmd" Near("as in general")
    Run "format" "of file system workloads" Ignored("file system workloads are not run")
    Run "forxfersize" "a run for each" Documented
    Run "forthreads" "a run for each" Documented
    Run "forrdpct" "a run for each" Documented
    Run "forrhpct" "a run for each" Documented
    Run "forwhpct" "a run for each" Documented
    Run "forseekpct" "a run for each" Near("sequentialnz and poisson are taken as sequential and random")
    Run "forhitarea" "a run for each" Documented
    Run "forcompratio" "a run for each" Near("by zeros behind noise in each 4 KiB")
    Run "forcompression" "a run for each" Near("by zeros behind noise in each 4 KiB")
    Run "xfersize" "as forxfersize" Documented
    Run "threads" "as forthreads" Documented
    Run "rdpct" "as forrdpct" Documented
    Run "rhpct" "as forrhpct" Documented
    Run "whpct" "as forwhpct" Documented
    Run "seekpct" "as forseekpct" Near("as forseekpct")
    Run "hitarea" "as forhitarea" Documented
    Run "compratio" "as forcompratio" Near("as forcompratio")
    Run "compression" "as forcompression" Near("as forcompression")
};

/// What an abbreviation stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    One(Keyword),
    /// Names of all that it could be.
    Several(Vec<&'static str>),
    Nothing {
        /// A name that was perhaps meant.
        near: Option<&'static str>,
        /// Another section that has it.
        elsewhere: Option<Section>,
    },
}

/// Where the original decides what an abbreviation of two keywords means.
const SHORT: &[(&str, &str)] = &[
    ("co", "compratio"),
    ("com", "compratio"),
    ("comp", "compratio"),
    ("compr", "compratio"),
    ("forc", "forcompratio"),
    ("forco", "forcompratio"),
    ("forcom", "forcompratio"),
    ("forcomp", "forcompratio"),
    ("forcompr", "forcompratio"),
    ("di", "distribution"),
    ("forr", "forrdpct"),
    ("maxd", "maxdata"),
];

/// The keyword of a section that a word abbreviates. `sd`, `wd` and `rd` are never abbreviations.
pub(super) fn find(section: Section, word: &str) -> Found {
    let here = || KEYWORDS.iter().filter(|row| row.section == section);
    if let Some(row) = here().find(|row| row.name == word) {
        return Found::One(*row);
    }
    let short = SHORT.iter().find(|(short, _)| *short == word);
    let short = short.and_then(|(_, name)| here().find(|row| row.name == *name));
    if let Some(row) = short {
        return Found::One(*row);
    }
    let names: Vec<&Keyword> = here().filter(|row| row.name.starts_with(word)).collect();
    let same = |row: &&Keyword| row.name.replace('_', "") == names[0].name.replace('_', "");
    match names[..] {
        [row] => Found::One(*row),
        [row, ..] if names.iter().all(same) => Found::One(*row),
        [] => Found::Nothing {
            near: blocklab_units::nearest(word, here().map(|row| row.name)),
            elsewhere: KEYWORDS
                .iter()
                .find(|row| row.name == word)
                .map(|row| row.section),
        },
        _ => Found::Several(names.iter().map(|row| row.name).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(section: Section, word: &str, expected: &str) {
        match find(section, word) {
            Found::One(row) => assert_eq!(row.name, expected, "{word}"),
            other => panic!("{word}: {other:?}"),
        }
    }

    /// The page called `hd` exact, and its text said "only this host"; `openflags` was exact, and
    /// fsync had no effect. A difference has a column of its own now, which an exact row lacks, and
    /// what stands in the meaning must tell of none.
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
        for row in KEYWORDS {
            let Keyword {
                name,
                meaning,
                support,
                ..
            } = row;
            let difference = support.difference();
            match support {
                Support::Exact | Support::Documented => {
                    let words = DIFFERS.iter().find(|words| meaning.contains(**words));
                    assert_eq!(words, None, "{name} does not differ: {meaning}");
                }
                _ => assert!(!difference.is_empty(), "{name}: a difference must be told"),
            }
        }
    }

    /// What is said of another row must hold of this one: `as forseekpct` is near where that is.
    #[test]
    fn rows_that_refer_to_another_one_have_its_support() {
        for row in KEYWORDS {
            let Some(name) = row.meaning.strip_prefix("as ") else {
                continue;
            };
            let own = KEYWORDS
                .iter()
                .find(|it| it.section == row.section && it.name == name);
            let Some(other) = own else { continue };
            assert_eq!(
                row.support.name(),
                other.support.name(),
                "{} is as {name}",
                row.name
            );
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
        assert!(matches!(find(Section::Run, "st"), Found::Several(_)));
        check(Section::Workload, "xf", "xfersize");
        check(Section::Storage, "th", "threads");
    }
}
